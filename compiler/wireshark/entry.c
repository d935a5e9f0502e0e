// SPDX-License-Identifier: Apache-2.0
//
// entry: where Wireshark shall call the dissector.
//
// The parser is followed from its first state with what is known of a packet before it is there:
// that it came from a front panel port, was not resubmitted, and where in the packet each extracted
// field lies. A select on the bytes in which Ethernet, VLAN tags, IPv4, IPv6, UDP or TCP say what
// comes next leads to states that are the program's own: those are entries. What Wireshark knows
// itself is left to it.
#include <inttypes.h>
#include <string.h>

#include "compiler/wireshark/wireshark_impl.h"

#define MAX_STEPS   4096u // states visited, over all ways
#define MAX_DEPTH   48u
#define MAX_ENTRIES 256u
#define MAX_RANGES  64u
#define ETHERNET    14

enum what { UNKNOWN, CONSTANT, FIELD };
struct entry_known { // of a variable, or a value
    enum what what;
    uint64_t value; // CONSTANT, at most 64 bits
    long bit;       // FIELD: where in the packet
};

enum level { LEVEL_ETHERNET, LEVEL_IPV4, LEVEL_IPV6, LEVEL_UDP, LEVEL_TCP };

struct entry {
    const char *table, *range;
    int state;
    struct entry_known *vars;
    const char *reason; // why it cannot be one, or null
};

struct search {
    struct shark *s;
    struct entry entries[MAX_ENTRIES];
    size_t n;
    unsigned steps;
    struct entry_known *vars[MAX_DEPTH + 1]; // of the way that is followed, by depth
};

struct way {
    struct entry_known *vars; // by variable
    long at;                  // bytes; what the chip puts in front is negative
    bool lost;                // the cursor is not known any more
    enum level level;
    long base; // where the level's header begins
};

static uint64_t shark_entry_ones(unsigned n) {
    return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

// ---- what is known of a value ----

static struct entry_known shark_entry_constant(uint64_t v, unsigned width) {
    return (struct entry_known){CONSTANT, v & shark_entry_ones(width), 0};
}

static struct entry_known shark_entry_eval(const struct shark *s, const struct way *w,
                                           const struct ir_expr *e);

static struct entry_known shark_entry_binary(const struct shark *s, const struct way *w,
                                             const struct ir_expr *e) {
    struct entry_known a = shark_entry_eval(s, w, e->a), b = shark_entry_eval(s, w, e->b);
    const struct entry_known unknown = {UNKNOWN, 0, 0};
    if (a.what != CONSTANT || b.what != CONSTANT)
        return unknown;
    switch (e->op) {
    case IR_ADD:
        return shark_entry_constant(a.value + b.value, e->width);
    case IR_SUB:
        return shark_entry_constant(a.value - b.value, e->width);
    case IR_AND:
    case IR_LAND:
        return shark_entry_constant(a.value & b.value, e->width);
    case IR_OR:
    case IR_LOR:
        return shark_entry_constant(a.value | b.value, e->width);
    case IR_EQ:
        return shark_entry_constant(a.value == b.value, 1);
    case IR_NE:
        return shark_entry_constant(a.value != b.value, 1);
    case IR_ULT:
        return shark_entry_constant(a.value < b.value, 1);
    case IR_ULE:
        return shark_entry_constant(a.value <= b.value, 1);
    default:
        return unknown;
    }
}

static struct entry_known shark_entry_eval(const struct shark *s, const struct way *w,
                                           const struct ir_expr *e) {
    const struct entry_known unknown = {UNKNOWN, 0, 0};
    struct entry_known a;
    if (e->width > 64 && e->op != IR_VAR)
        return unknown;
    switch (e->op) {
    case IR_CONST:
        return shark_entry_constant(big_to_u64(e->value), e->width);
    case IR_VAR:
        return w->vars[e->var->id];
    case IR_LOOKAHEAD:
        if (w->lost)
            return unknown;
        return (struct entry_known){FIELD, 0, 8 * w->at + (long)e->lo};
    case IR_SLICE:
        a = shark_entry_eval(s, w, e->a);
        if (a.what == FIELD)
            a.bit += (long)(e->a->width - e->lo - e->width);
        else if (a.what == CONSTANT)
            a = e->a->width <= 64 ? shark_entry_constant(a.value >> e->lo, e->width) : unknown;
        return a;
    case IR_ZEXT:
        a = shark_entry_eval(s, w, e->a);
        return a.what == CONSTANT ? a : unknown;
    case IR_COND:
        a = shark_entry_eval(s, w, e->a);
        return a.what == CONSTANT ? shark_entry_eval(s, w, a.value ? e->b : e->c) : unknown;
    case IR_NOT:
        a = shark_entry_eval(s, w, e->a);
        return a.what == CONSTANT ? shark_entry_constant(~a.value, e->width) : unknown;
    default:
        return e->a && e->b && !e->c ? shark_entry_binary(s, w, e) : unknown;
    }
}

// ---- statements ----

uint64_t shark_in_front(const struct shark *s, const struct ir_var *f) {
    return strcmp(shark_last_name(f->name), "ingress_port") == 0 ? s->ingress_port : 0;
}

static void shark_entry_extract(const struct shark *s, struct way *w, const struct ir_header *h) {
    for (size_t i = 0; i < h->fields.n; i++) {
        const struct ir_var *f = h->fields.v[i];
        struct entry_known *k = &w->vars[f->id];
        *k = (struct entry_known){w->lost ? UNKNOWN : FIELD, 0, 8 * w->at + (long)f->bit_offset};
        if (!w->lost && w->at < 0)
            *k = shark_entry_constant(shark_in_front(s, f), f->width > 64 ? 64 : f->width);
    }
    if (h->valid)
        w->vars[h->valid->id] = shark_entry_constant(1, 1);
    w->at += h->bits / 8;
}

static void follow_block(const struct shark *s, struct way *w, const struct ir_block *b);

static void shark_entry_forget(void *aux, const struct ir_stmt *st) {
    struct way *w = aux;
    if (st->var)
        w->vars[st->var->id].what = UNKNOWN;
    if (st->kind == IR_EXTRACT || st->kind == IR_ADVANCE)
        w->lost = true;
    for (size_t i = 0; st->header && i < st->header->fields.n; i++)
        w->vars[st->header->fields.v[i]->id].what = UNKNOWN;
}

static void shark_entry_follow(const struct shark *s, struct way *w, const struct ir_stmt *st) {
    struct entry_known k;
    switch (st->kind) {
    case IR_ASSIGN:
        w->vars[st->var->id] =
            st->slice ? (struct entry_known){UNKNOWN, 0, 0} : shark_entry_eval(s, w, st->e);
        break;
    case IR_EXTRACT:
        if (st->headers.n == 0) {
            shark_entry_extract(s, w, st->header);
            break;
        }
        k = shark_entry_eval(s, w, st->e);
        if (k.what == CONSTANT && k.value < st->headers.n)
            shark_entry_extract(s, w, st->headers.v[k.value]);
        else
            w->lost = true;
        break;
    case IR_ADVANCE:
        k = shark_entry_eval(s, w, st->e);
        w->lost |= k.what != CONSTANT;
        w->at += k.what == CONSTANT ? (long)(k.value / 8) : 0;
        break;
    case IR_IF:
        k = shark_entry_eval(s, w, st->e);
        if (k.what == CONSTANT) {
            follow_block(s, w, k.value ? st->then_b : st->else_b);
        } else {
            shark_each_stmt(st->then_b, shark_entry_forget, w);
            shark_each_stmt(st->else_b, shark_entry_forget, w);
        }
        break;
    case IR_BLOCK:
        follow_block(s, w, st->then_b);
        break;
    default:
        shark_entry_forget(w, st);
        break;
    }
}

static void follow_block(const struct shark *s, struct way *w, const struct ir_block *b) {
    for (size_t i = 0; b && i < b->stmts.n; i++)
        shark_entry_follow(s, w, b->stmts.v[i]);
}

// ---- entries ----

// "5", "48864-48879", "1,3,5": the values that a set has. Null: too many pieces.
static const char *shark_entry_ranges(struct shark *s, const struct ir_select_key_set *set,
                                      unsigned width) {
    const uint64_t all = shark_entry_ones(width);
    if (set->high)
        return arena_printf(s->a, "%" PRIu64 "-%" PRIu64, big_to_u64(set->value),
                            big_to_u64(set->high));
    uint64_t value = big_to_u64(set->value) & all;
    uint64_t open = ~(set->mask ? big_to_u64(set->mask) : all) & all;
    if (open == 0)
        return arena_printf(s->a, "%" PRIu64, value);
    unsigned low = (unsigned)__builtin_ctzll(~open); // open bits at the end: a range
    uint64_t rest = open & ~shark_entry_ones(low);
    const char *text = "";
    uint64_t part = 0;
    for (unsigned n = 0; n < MAX_RANGES; n++) {
        text = arena_printf(s->a, "%s%s%" PRIu64, text, n ? "," : "", value | part);
        if (low)
            text = arena_printf(s->a, "%s-%" PRIu64, text, value | part | shark_entry_ones(low));
        part = (part - rest) & rest; // the next subset of the bits
        if (part == 0)
            return text;
    }
    return NULL;
}

struct use {
    const struct search *x;
    const struct entry_known *vars;
    const bool *extracted; // by header
    const char *name;      // of a variable that is read and not known
};

static void shark_entry_note_header(void *aux, const struct ir_stmt *st) {
    bool *extracted = aux;
    if (st->kind != IR_EXTRACT)
        return;
    if (st->header)
        extracted[st->header->id] = true;
    for (size_t i = 0; i < st->headers.n; i++)
        extracted[st->headers.v[i]->id] = true;
}

static void shark_entry_note_use(void *aux, const struct ir_expr *e) {
    struct use *u = aux;
    if (e->op != IR_VAR || u->vars[e->var->id].what != FIELD)
        return;
    if (!e->var->header || !u->extracted[e->var->header->id])
        u->name = e->var->name;
}

static void shark_entry_mark(const struct ir_gress *g, int state, bool *seen) {
    if (state < 0 || seen[state])
        return;
    const struct ir_state *st = g->states.v[state];
    seen[state] = true;
    if (st->keys.n == 0)
        shark_entry_mark(g, st->next, seen);
    for (size_t i = 0; i < st->cases.n; i++)
        shark_entry_mark(g, st->cases.v[i].next, seen);
}

// A field before the entry that a state after it reads; null: none.
static const char *needs(const struct search *x, int state, const struct entry_known *vars) {
    const struct ir_gress *g = x->s->g;
    bool *seen = arena_alloc(x->s->a, g->states.n * sizeof *seen);
    bool *extracted = arena_alloc(x->s->a, (g->headers.n + 1) * sizeof *extracted);
    memset(seen, 0, g->states.n * sizeof *seen);
    memset(extracted, 0, (g->headers.n + 1) * sizeof *extracted);
    shark_entry_mark(g, state, seen);
    struct use u = {x, vars, extracted, NULL};
    for (size_t i = 0; i < g->states.n; i++)
        if (seen[i])
            shark_each_stmt(g->states.v[i]->body, shark_entry_note_header, extracted);
    for (size_t i = 0; i < g->states.n; i++)
        if (seen[i])
            shark_each_expr(g->states.v[i], shark_entry_note_use, &u);
    return u.name;
}

static void note_name(void *aux, const struct ir_expr *e) {
    bool *read = aux;
    if (e->op == IR_VAR)
        read[e->var->id] = true;
}

// A variable that states after the entry read, and that has another value on another way to it.
static const char *ambiguous(const struct search *x, const struct entry *e, const struct way *w) {
    const struct ir_gress *g = x->s->g;
    bool *seen = arena_alloc(x->s->a, g->states.n * sizeof *seen);
    bool *read = arena_alloc(x->s->a, (g->vars.n + 1) * sizeof *read);
    memset(seen, 0, g->states.n * sizeof *seen);
    memset(read, 0, (g->vars.n + 1) * sizeof *read);
    shark_entry_mark(g, e->state, seen);
    for (size_t i = 0; i < g->states.n; i++)
        if (seen[i])
            shark_each_expr(g->states.v[i], note_name, read);
    for (size_t i = 0; i < g->vars.n; i++) {
        const struct ir_var *v = g->vars.v[i];
        const struct entry_known *a = &e->vars[v->id], *b = &w->vars[v->id];
        const uint64_t was = a->what == CONSTANT ? a->value : 0;
        const uint64_t is = b->what == CONSTANT ? b->value : 0;
        if (read[v->id] && a->what != FIELD && b->what != FIELD && was != is)
            return v->name;
    }
    return NULL;
}

static void shark_entry_add(struct search *x, const char *table,
                            const struct ir_select_key_set *set, unsigned width, int state,
                            const struct way *w) {
    const char *range = shark_entry_ranges(x->s, set, width);
    if (state < 0 || x->n == MAX_ENTRIES)
        return;
    if (!range)
        range = "?";
    for (size_t i = 0; i < x->n; i++)
        if (x->entries[i].state == state && strcmp(x->entries[i].table, table) == 0 &&
            strcmp(x->entries[i].range, range) == 0) {
            const char *other = ambiguous(x, &x->entries[i], w);
            if (other && !x->entries[i].reason)
                x->entries[i].reason =
                    arena_printf(x->s->a, "%s depends on the path that leads there", other);
            return;
        }
    size_t bytes = (x->s->g->vars.n + 1) * sizeof *w->vars;
    struct entry *e = &x->entries[x->n++];
    *e = (struct entry){.table = table, .range = range, .state = state};
    e->vars = arena_alloc(x->s->a, bytes);
    memcpy(e->vars, w->vars, bytes);
    const char *name = needs(x, state, w->vars);
    if (*range == '?')
        e->reason = "the values are in too many pieces";
    else if (name)
        e->reason = arena_printf(x->s->a, "a later state reads %s", name);
}

// ---- ways ----

static void shark_entry_visit(struct search *x, int state, const struct way *from, unsigned depth);

static bool shark_entry_is_one_of(uint64_t v, const uint64_t *list, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (list[i] == v)
            return true;
    return false;
}
#define ONE_OF(v, ...)                                                                             \
    shark_entry_is_one_of(v, (const uint64_t[]){__VA_ARGS__},                                      \
                          sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

// A case whose key says what comes next.
static void next_header(struct search *x, const struct ir_select_key_set *set, unsigned width,
                        int state, const struct way *w, unsigned depth) {
    struct way on = *w;
    const bool exact =
        !set->high &&
        (big_to_u64(set->mask ? set->mask : big_u64(x->s->a, shark_entry_ones(width))) &
         shark_entry_ones(width)) == shark_entry_ones(width);
    const uint64_t v = exact ? big_to_u64(set->value) : 0;
    on.base = w->at;
    switch (w->level) {
    case LEVEL_ETHERNET:
        on.level = v == 0x800 ? LEVEL_IPV4 : v == 0x86dd ? LEVEL_IPV6 : LEVEL_ETHERNET;
        if (exact && ONE_OF(v, 0x800, 0x86dd, 0x8100, 0x88a8, 0x9100))
            shark_entry_visit(x, state, &on, depth);
        else if (!exact || !ONE_OF(v, 0x806, 0x8035, 0x8847, 0x8848, 0x8863, 0x8864, 0x888e, 0x88cc,
                                   0x88e5, 0x88f7, 0x8906, 0x8915, 0x22eb))
            shark_entry_add(x, "ethertype", set, width, state, &on);
        break;
    case LEVEL_IPV4:
    case LEVEL_IPV6:
        on.level = v == 17 ? LEVEL_UDP : LEVEL_TCP;
        if (exact && ONE_OF(v, 6, 17))
            shark_entry_visit(x, state, &on, depth);
        else if (!exact ||
                 !ONE_OF(v, 0, 1, 2, 4, 41, 43, 44, 47, 50, 51, 58, 59, 60, 89, 103, 112, 132))
            shark_entry_add(x, "ip.proto", set, width, state, &on);
        break;
    case LEVEL_UDP:
        shark_entry_add(x, "udp.port", set, width, state, &on);
        break;
    case LEVEL_TCP:
        shark_entry_add(x, "tcp.port", set, width, state, &on);
        break;
    }
}

// The key that says what comes next, or -1.
static int telling_key(const struct search *x, const struct ir_state *st, const struct way *w) {
    for (size_t i = 0; !w->lost && i < st->keys.n; i++) {
        const unsigned width = st->keys.v[i]->width;
        const struct entry_known k = shark_entry_eval(x->s, w, st->keys.v[i]);
        if (k.what != FIELD)
            continue;
        const long from_base = k.bit - 8 * w->base;
        const bool type = w->level == LEVEL_ETHERNET && width == 16 && k.bit == 8 * w->at - 16 &&
                          (w->at == ETHERNET || (w->base >= ETHERNET && w->at == w->base + 4));
        const bool protocol = (w->level == LEVEL_IPV4 && width == 8 && from_base == 72) ||
                              (w->level == LEVEL_IPV6 && width == 8 && from_base == 48);
        const bool port = (w->level == LEVEL_UDP || w->level == LEVEL_TCP) && width == 16 &&
                          (from_base == 0 || from_base == 16);
        if (type || protocol || port)
            return (int)i;
    }
    return -1;
}

// Whether a case can be met, by the keys that are known.
static bool possible(const struct search *x, const struct ir_state *st, size_t c,
                     const struct way *w, bool *certain) {
    const struct ir_select_case *sc = &st->cases.v[c];
    *certain = true;
    for (size_t i = 0; i < sc->sets.n; i++) {
        const struct ir_select_key_set *set = &sc->sets.v[i];
        const struct entry_known k = shark_entry_eval(x->s, w, st->keys.v[i]);
        const uint64_t all = shark_entry_ones(st->keys.v[i]->width);
        if (set->set || k.what != CONSTANT) {
            *certain = *certain && !set->set && !set->high && set->mask && big_sign(set->mask) == 0;
            continue;
        }
        const uint64_t value = big_to_u64(set->value);
        const uint64_t mask = set->mask ? big_to_u64(set->mask) & all : all;
        if (set->high ? k.value < value || k.value > big_to_u64(set->high)
                      : (k.value & mask) != (value & mask))
            return false;
    }
    return true;
}

static void shark_entry_choose(struct search *x, const struct ir_state *st, struct way *w,
                               unsigned depth) {
    const int key = telling_key(x, st, w);
    for (size_t c = 0; c < st->cases.n; c++) {
        const struct ir_select_case *sc = &st->cases.v[c];
        bool certain;
        if (!possible(x, st, c, w, &certain))
            continue;
        const struct ir_select_key_set *set = key >= 0 && sc->sets.n ? &sc->sets.v[key] : NULL;
        const bool any = !set || set->set || (!set->high && set->mask && big_sign(set->mask) == 0);
        if (!any)
            next_header(x, set, st->keys.v[key]->width, sc->next, w, depth + 1);
        else if (key < 0)
            shark_entry_visit(x, sc->next, w, depth + 1);
        if (certain)
            return;
    }
}

static void shark_entry_visit(struct search *x, int state, const struct way *from, unsigned depth) {
    if (state < 0 || depth > MAX_DEPTH || x->steps++ > MAX_STEPS)
        return;
    const struct ir_state *st = x->s->g->states.v[state];
    const size_t bytes = (x->s->g->vars.n + 1) * sizeof *from->vars;
    struct way w = *from;
    if (!x->vars[depth])
        x->vars[depth] = arena_alloc(x->s->a, bytes);
    w.vars = memcpy(x->vars[depth], from->vars, bytes);
    follow_block(x->s, &w, st->body);
    if (st->keys.n == 0)
        shark_entry_visit(x, st->next, &w, depth + 1);
    else
        shark_entry_choose(x, st, &w, depth);
}

// ---- the port ----

static bool is_port(const struct ir_expr *e) {
    return e->op == IR_VAR && e->var->header && e->var->header->intrinsic &&
           strcmp(shark_last_name(e->var->name), "ingress_port") == 0;
}

void shark_choose_port(struct shark *s) {
    bool asked[512] = {false};
    for (size_t i = 0; i < s->g->states.n; i++) {
        const struct ir_state *st = s->g->states.v[i];
        for (size_t k = 0; k < st->keys.n; k++) {
            if (!is_port(st->keys.v[k]))
                continue;
            for (size_t c = 0; c < st->cases.n; c++) {
                if (st->cases.v[c].sets.n == 0)
                    continue;
                const struct ir_select_key_set *set = &st->cases.v[c].sets.v[k];
                if (set->set)
                    continue;
                const uint64_t v = big_to_u64(set->value) & 511;
                const uint64_t m = set->mask ? big_to_u64(set->mask) & 511 : 511;
                for (uint64_t p = 0; p < 512; p++)
                    if (m &&
                        (set->high ? p >= v && p <= big_to_u64(set->high) : (p & m) == (v & m)))
                        asked[p] = true;
            }
        }
    }
    for (unsigned p = 1; p < 64; p++)
        if (!asked[p]) {
            s->ingress_port = p;
            return;
        }
    s->ingress_port = 1;
}

bool shark_possible(const struct shark *s, const struct ir_state *st, size_t c, bool *certain) {
    const struct ir_select_case *sc = &st->cases.v[c];
    *certain = true;
    for (size_t i = 0; i < sc->sets.n; i++) {
        const struct ir_select_key_set *set = &sc->sets.v[i];
        const struct ir_expr *k = st->keys.v[i];
        const bool known = k->op == IR_VAR && k->var->header && k->var->header->intrinsic &&
                           k->width <= 64 && !set->set;
        if (!known) {
            *certain = *certain && !set->set && !set->high && set->mask && big_sign(set->mask) == 0;
            continue;
        }
        const uint64_t v = shark_in_front(s, k->var), value = big_to_u64(set->value);
        const uint64_t mask =
            (set->mask ? big_to_u64(set->mask) : UINT64_MAX) & shark_entry_ones(k->width);
        if (set->high ? v < value || v > big_to_u64(set->high) : (v & mask) != (value & mask))
            return false;
    }
    return true;
}

// ---- writing ----

static void put_entry(struct shark *s, const struct entry *e, size_t number) {
    const char *name = s->g->states.v[e->state]->name, *vars = "";
    if (e->reason) {
        shark_line(s, "-- %s %s -> %s is no entry: %s", e->table, e->range, name, e->reason);
        return;
    }
    for (size_t i = 0; i < s->g->vars.n; i++) {
        const struct entry_known *k = &e->vars[s->g->vars.v[i]->id];
        if (!s->read[s->g->vars.v[i]->id] || k->what != CONSTANT || k->value == 0)
            continue;
        vars = arena_printf(s->a, "%s%s[%u] = %" PRIu64, vars, *vars ? ", " : "",
                            8 * s->g->vars.v[i]->id, k->value & 0xffffffff);
        if (k->value >> 32)
            vars = arena_printf(s->a, "%s, [%u] = %" PRIu64, vars, 8 * s->g->vars.v[i]->id + 1,
                                k->value >> 32);
    }
    shark_line(s, "local entry%zu = Proto(p.name:lower() .. \".%zu\", TITLE .. \", from %s on\")",
               number, number, name);
    shark_line(s, "entry%zu.dissector = part(%d, {%s})", number, e->state, vars);
    shark_line(s, "DissectorTable.get(\"%s\"):add(\"%s\", entry%zu)", e->table, e->range, number);
}

void shark_entries(struct shark *s) {
    struct search *x = arena_alloc(s->a, sizeof *x);
    memset(x, 0, sizeof *x);
    x->s = s;
    struct way w = {.at = -(long)s->p->ingress_prefix};
    w.vars = arena_alloc(s->a, (s->g->vars.n + 1) * sizeof *w.vars);
    memset(w.vars, 0, (s->g->vars.n + 1) * sizeof *w.vars);
    shark_entry_visit(x, 0, &w, 0);
    size_t good = 0;
    for (size_t i = 0; i < x->n; i++)
        good += !x->entries[i].reason;
    shark_line(s,
               "p.prefs.frames = Pref.bool(\"Show whole frames as the P4 parser takes them\", %s)",
               good ? "false" : "true");
    for (size_t i = 0; i < x->n; i++)
        put_entry(s, &x->entries[i], i + 1);
    if (!good)
        shark_line(s, "-- No EtherType, IP protocol or port leads to states of the program's own.");
}

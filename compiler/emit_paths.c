// SPDX-License-Identifier: Apache-2.0
//
// emit_paths: what is known of a packet by the way it took through the parser.
//
// Once a parser's way is known, so is which headers are there, where they begin, and how long the
// packet is at least. The entry function is therefore printed with the states of the parser unfolded:
// a state that can be reached with different headers in front of it is printed once for each of these
// cases ("node"). Where ways end with the same headers in the same places they meet ("path"), and from
// there on the control and the deparser are printed for this path, with places and validities that
// are constants to the C compiler: headers need no pointers, a header that stays where it is needs no
// test, and homes are cleared where no header was put in their place.
//
// What such a way has no room for (a packet that is too short, no case of a select that matches, a
// state that extracts under a condition or as much as a variable says) starts over in the general
// function. That is allowed because a parser changes nothing but its own packet's variables and homes.
//
// A program with too many ways has only the general function; a large one is printed for the longest
// ways.
#include "compiler/emit_impl.h"

#include <limits.h>

#include "pipeline/abi.h"

#define MAX_NODES  96
#define MAX_PATHS  16
#define MAX_PLACES 64   // headers: bits of a word
#define MAX_ROUNDS 3    // of a loop between states
#define MAX_WEIGHT 6000 // statements, over all paths

struct known {       // of a packet at some point of the parser
    unsigned at;     // bytes behind the first one that the parser sees
    uint16_t *place; // by header: where it begins, plus one; 0: not extracted, or not in place
    bool *valid;     // by header
};
struct emit_node {
    int state;
    struct known in, out;
    // Bytes that all ways from here on need (a way looks ahead behind what it takes); bytes that are
    // known to be there.
    unsigned need, sure;
    bool open;     // being built: reached again without progress
    bool gives_up; // nothing is known behind it
    // by case of its state, or one: a node, or behind them a path; -1: none
    int *next;
};
struct emit_paths {
    VEC(struct emit_node *) nodes;
    VEC(struct known) ends;
    const struct emit_node *here; // whose state is being printed
    bool too_many;
};

// --------------------------------------------------------------------------------------------
// Finding them.

static struct known copy_known(struct emit *e, const struct known *k) {
    size_t n = e->g->headers.n;
    struct known c = {k->at, ARENA_ARRAY(e->a, uint16_t, n + 1), ARENA_ARRAY(e->a, bool, n + 1)};
    for (size_t i = 0; k->place && i < n; i++) {
        c.place[i] = k->place[i];
        c.valid[i] = k->valid[i];
    }
    return c;
}

static bool same_known(const struct emit *e, const struct known *a, const struct known *b) {
    for (size_t i = 0; i < e->g->headers.n; i++)
        if (a->place[i] != b->place[i] || a->valid[i] != b->valid[i])
            return false;
    return a->at == b->at;
}

static bool sets_validity(const struct emit *e, const struct ir_var *v) {
    for (size_t i = 0; v && i < e->g->headers.n; i++)
        if (e->g->headers.v[i]->valid == v)
            return true;
    return false;
}

static struct ir_block block_of(const struct ir_stmt **s) {
    return (struct ir_block){.stmts = {.v = (struct ir_stmt **)s, .n = 1}};
}

struct unclear {
    const struct emit *e;
    bool found;
};

// Statements whose effect on places and validities is not known beforehand.
static void find_unclear(void *aux, const struct ir_stmt *s) {
    struct unclear *u = aux;
    switch (s->kind) {
    case IR_EXTRACT:
    case IR_ADVANCE:
    case IR_SET_VALID:
    case IR_SET_INVALID:
    case IR_RAISE:
    case IR_CSUM_SUBTRACT: // a residual is completed when the parser is done
    case IR_CSUM_GET:
        u->found = true;
        break;
    default:
        u->found |= sets_validity(u->e, s->var) || sets_validity(u->e, s->var2);
    }
}

// False: what is behind the statement is not known.
static bool follow(struct emit *e, struct known *k, const struct ir_stmt *s) {
    switch (s->kind) {
    case IR_EXTRACT:
        if (s->headers.n)
            return false;
        k->place[s->header->id] = emit_home_of(e, s->header)->in_place ? (uint16_t)(k->at + 1) : 0;
        k->valid[s->header->id] = true;
        k->at += s->header->bits / 8;
        break;
    case IR_ADVANCE:
        if (s->e->op != IR_CONST || !big_fits_u64(s->e->value) ||
            big_to_u64(s->e->value) > UINT16_MAX)
            return false;
        k->at += (unsigned)(big_to_u64(s->e->value) / 8);
        break;
    case IR_SET_VALID:
    case IR_SET_INVALID:
        k->valid[s->header->id] = s->kind == IR_SET_VALID;
        break;
    default: {
        struct unclear u = {.e = e};
        const struct ir_block b = block_of(&s);
        emit_walk(&b, find_unclear, NULL, &u);
        return !u.found;
    }
    }
    return k->at < UINT16_MAX;
}

// Bytes that a statement, or one in it, looks at without taking them.
static unsigned look_ahead(const struct ir_stmt *s) {
    unsigned bytes = 0;
    const struct ir_block b = block_of(&s);
    emit_walk(&b, NULL, emit_lookahead_bytes, &bytes);
    return bytes;
}

static int find_path(struct emit *e, struct emit_paths *p, const struct known *k) {
    for (size_t i = 0; i < p->ends.n; i++)
        if (same_known(e, &p->ends.v[i], k))
            return MAX_NODES + (int)i;
    p->too_many |= p->ends.n == MAX_PATHS;
    if (p->too_many)
        return -1;
    VEC_PUSH(e->a, &p->ends, copy_known(e, k));
    return MAX_NODES + (int)p->ends.n - 1;
}

static int build(struct emit *e, struct emit_paths *p, int state, const struct known *k) {
    if (state < 0)
        return find_path(e, p, k);
    unsigned rounds = 0;
    for (size_t i = 0; i < p->nodes.n; i++) {
        const struct emit_node *n = p->nodes.v[i];
        if (n->state == state && same_known(e, &n->in, k))
            return n->open ? -1 : (int)i;
        rounds += n->state == state && n->open;
    }
    if (rounds == MAX_ROUNDS)
        return -1;
    p->too_many |= p->nodes.n == MAX_NODES;
    if (p->too_many)
        return -1;
    int id = (int)p->nodes.n;
    const struct ir_state *st = e->g->states.v[state];
    struct emit_node *n = ARENA_NEW(e->a, struct emit_node);
    *n = (struct emit_node){
        .state = state, .in = copy_known(e, k), .out = copy_known(e, k), .open = true};
    VEC_PUSH(e->a, &p->nodes, n);
    unsigned ahead = 0;
    for (size_t i = 0; st->body && i < st->body->stmts.n && !n->gives_up; i++) {
        unsigned look = n->out.at + look_ahead(st->body->stmts.v[i]);
        ahead = look > ahead ? look : ahead;
        n->gives_up = !follow(e, &n->out, st->body->stmts.v[i]);
    }
    for (size_t i = 0; i < st->keys.n; i++) {
        unsigned look = 0;
        emit_walk_expr(st->keys.v[i], emit_lookahead_bytes, &look);
        ahead = n->out.at + look > ahead ? n->out.at + look : ahead;
    }
    n->next = ARENA_ARRAY(e->a, int, st->cases.n + 1);
    n->need = UINT_MAX;
    for (size_t i = 0; i < st->cases.n + (st->keys.n == 0) && !n->gives_up; i++) {
        n->next[i] = build(e, p, st->keys.n ? st->cases.v[i].next : st->next, &n->out);
        unsigned need =
            n->next[i] < 0 || n->next[i] >= MAX_NODES ? n->out.at : p->nodes.v[n->next[i]]->need;
        n->need = need < n->need ? need : n->need;
    }
    if (n->need == UINT_MAX)
        n->need = n->in.at;
    n->need = ahead > n->need ? ahead : n->need;
    n->open = false;
    return id;
}

// What is there when a node is reached: the least that nodes in front of it have asked for. Nodes come
// before those that they lead to only in part, so it is carried on until nothing changes.
static void find_sure(struct emit *e, struct emit_paths *p, unsigned prefix) {
    for (size_t i = 0; i < p->nodes.n; i++)
        p->nodes.v[i]->sure = i ? UINT_MAX : prefix;
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < p->nodes.n; i++) {
            const struct emit_node *n = p->nodes.v[i];
            const struct ir_state *st = e->g->states.v[n->state];
            unsigned there = n->need > n->sure ? n->need : n->sure;
            for (size_t k = 0; k < st->cases.n + (st->keys.n == 0) && !n->gives_up; k++) {
                int next = n->next[k];
                if (next < 0 || next >= MAX_NODES || p->nodes.v[next]->sure <= there)
                    continue;
                p->nodes.v[next]->sure = there;
                again = true;
            }
        }
    }
}

// --------------------------------------------------------------------------------------------
// How much is printed for each path: statements, those of what is inlined with them.

static unsigned weigh(struct emit *e, const struct ir_block *b);

static unsigned weigh_table(struct emit *e, const struct ir_table *t) {
    const struct emit_table *plan = &emit_plan_of(e)->tables[t->id];
    unsigned all = 2;
    for (size_t i = 0; i < t->entries.n && plan->branches; i++)
        all += 3 + (plan->loops ? 8 : weigh(e, t->entries.v[i]->action->body));
    if (!plan->branches)
        for (size_t i = 0; i < t->actions.n; i++)
            all += 2 + weigh(e, t->actions.v[i].action->body);
    return all + weigh(e, t->default_action->body);
}

static unsigned weigh_stmt(struct emit *e, const struct ir_stmt *s) {
    unsigned all = 1 + weigh(e, s->then_b) + weigh(e, s->else_b);
    for (size_t i = 0; i < s->cases.n; i++)
        all += 1 + weigh(e, s->cases.v[i].body);
    if (s->kind == IR_APPLY)
        all += weigh_table(e, s->table);
    if (s->kind == IR_REG_EXEC && s->regaction)
        all += 2 + weigh(e, s->regaction->body);
    return all;
}

// What becomes a loop over lanes is printed once.
static unsigned weigh(struct emit *e, const struct ir_block *b) {
    unsigned all = 0;
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        const struct ir_expr *guard;
        const struct ir_stmt *apply = emit_application(s, &guard);
        const struct emit_table *t = apply ? &emit_plan_of(e)->tables[apply->table->id] : NULL;
        size_t run = emit_lane_run_length(e, s);
        all += weigh_stmt(e, s);
        if (run)
            i += run - 1;
        else if (t && t->followers && t->loops)
            i += t->followers + (t->followers + 1) * t->n_tail;
    }
    return all;
}

// Leaves the 'n' paths that take most of a packet: what has many headers is what a program is about.
static void keep_longest(struct emit *e, struct emit_paths *p, size_t n) {
    int *kept = ARENA_ARRAY(e->a, int, p->ends.n + 1);
    size_t left = 0;
    for (size_t i = 0; i < p->ends.n; i++) {
        size_t longer = 0;
        for (size_t k = 0; k < p->ends.n; k++)
            longer +=
                p->ends.v[k].at > p->ends.v[i].at || (p->ends.v[k].at == p->ends.v[i].at && k < i);
        kept[i] = longer < n ? MAX_NODES + (int)left++ : -1;
    }
    for (size_t i = 0; i < p->nodes.n; i++) {
        const struct emit_node *node = p->nodes.v[i];
        const struct ir_state *st = e->g->states.v[node->state];
        for (size_t k = 0; k < st->cases.n + (st->keys.n == 0) && !node->gives_up; k++)
            if (node->next[k] >= MAX_NODES)
                node->next[k] = kept[node->next[k] - MAX_NODES];
    }
    for (size_t i = 0; i < p->ends.n; i++)
        if (kept[i] >= 0)
            p->ends.v[kept[i] - MAX_NODES] = p->ends.v[i];
    p->ends.n = left;
}

void emit_plan_paths(struct emit *e) {
    e->paths = NULL;
    const struct ir_gress *g = e->g;
    if (e->checked || g->states.n == 0 || g->headers.n > MAX_PLACES)
        return;
    for (size_t i = 0; i < g->headers.n; i++) {
        const struct emit_header *h = &e->headers[i];
        if ((h->extracted || h->emitted) && !emit_home_of(e, g->headers.v[i])->on_wire)
            return;
    }
    struct emit_paths *p = ARENA_NEW(e->a, struct emit_paths);
    struct known nothing = copy_known(e, &(struct known){0});
    bool known = build(e, p, 0, &nothing) >= 0 && !p->too_many;
    size_t n = MAX_WEIGHT / (weigh(e, g->control) + 1);
    keep_longest(e, p, n ? n - 1 : 0);
    if (!known || p->ends.n == 0)
        return;
    find_sure(e, p, emit_prefix_bytes(e));
    e->paths = p;
}

const char *emit_inline(const struct emit *e) {
    return e->paths ? "SK_INLINE" : "static inline";
}

// --------------------------------------------------------------------------------------------
// Printing.

const char *emit_path_jump(struct emit *e, const struct ir_select_case *c) {
    const struct emit_node *n = e->paths->here;
    const struct ir_state *st = e->g->states.v[n->state];
    int next = n->next[c ? (size_t)(c - st->cases.v) : 0];
    if (next < 0)
        return "goto other;";
    return next < MAX_NODES ? emit_text(e, "goto node_%d;", next)
                            : emit_text(e, "goto path_%d;", next - MAX_NODES);
}

// The name of the pipe's state on path i, from which places of homes are made.
static const char *state_of_path(struct emit *e, size_t i) {
    return emit_text(e, "s_%zu", i);
}

static void places(struct emit *e, const struct known *k, const char *state) {
    for (size_t h = 0; h < e->g->headers.n; h++) {
        const struct ir_header *header = e->g->headers.v[h];
        if (emit_home_is_placed(e, header) && k->place[h])
            emit_line(e, "v->at_h%zu = start + %u; // %s", h, k->place[h] - 1u,
                      emit_comment(e, header->name));
        else if (emit_home_is_placed(e, header))
            emit_line(e, "v->at_h%zu = %s->%c_home.h%zu;", h, state, e->p[2], h);
    }
}

static void node(struct emit *e, size_t i) {
    const struct emit_node *n = e->paths->nodes.v[i];
    const struct ir_state *st = e->g->states.v[n->state];
    emit_line(e, " ");
    emit_line(e, "node_%zu:; // %s, %u bytes behind the start", i, emit_comment(e, st->name),
              n->in.at);
    if (n->gives_up) {
        emit_line(e, "goto other;");
        return;
    }
    if (n->need > n->sure) {
        emit_line(e, "if (__builtin_expect((size_t)(end - start) < %u, 0))", n->need);
        emit_line(e, "    goto other;");
    }
    places(e, &n->in, "s");
    emit_line(e, "p = start + %u;", n->in.at);
    e->paths->here = n;
    emit_state_on_path(e, st);
}

bool emit_paths_go_on(const struct emit *e) {
    return e->paths && e->g->kind == IR_INGRESS && emit_prefix_bytes(e) == SK_INGRESS_PREFIX &&
           e->g->intrinsic[IRI_BYPASS_EGRESS] && e->g->intrinsic[IRI_UCAST_EGRESS_PORT];
}

static void path(struct emit *e, size_t i) {
    const struct known *k = &e->paths->ends.v[i];
    uint64_t there = 0;
    emit_line(e, " ");
    emit_line(e, "path_%zu:;", i);
    // Other paths have these places too, of which C compilers make something to be worked out once for all of them,
    // and kept from there on where no register is left, on those that need none.
    const char *state = state_of_path(e, i);
    emit_line(e, "struct p%u_state *%s = s;", e->pipeline_index, state);
    emit_line(e, "__asm__(\"# path %zu\" : \"+r\"(%s));", i, state);
    places(e, k, state);
    for (size_t h = 0; h < e->g->headers.n; h++) {
        const struct ir_header *header = e->g->headers.v[h];
        if (k->place[h])
            there |= UINT64_C(1) << h;
        if (e->vars[header->valid->id].shared)
            emit_line(e, "%s = %d;", emit_ref(e, header->valid), k->valid[h]);
    }
    emit_line(e,
              "const uint64_t wishes_%zu = %s_rest(s, v, packet, out, SK_PARSER_OK, start + %u, "
              "UINT64_C(0x%llx));",
              i, e->p, k->at, (unsigned long long)there);
    for (size_t h = 0; h < e->g->headers.n; h++) {
        const struct ir_header *header = e->g->headers.v[h];
        const struct emit_home *home = emit_home_of(e, header);
        if (!emit_home_is_placed(e, header) || !home->written || k->place[h])
            continue;
        if (home->in_place)
            emit_line(e, "if (v->wrote_h%zu)", h);
        emit_line(e, "%s%s;", home->in_place ? "    " : "", emit_home_clear(e, state, header));
    }
    if (emit_paths_go_on(e)) {
        emit_open(e, "if (sk_hop_on(packet, out, wishes_%zu, p%u_ingress, v->front, now, &pipe)) {",
                  i, e->pipeline_index);
        emit_line(e, "length = (uint32_t)(v->end - v->front), frame = v->front;");
        if (e->ahead)
            emit_line(e, "ahead = NULL; // that was of the first pass");
        emit_line(e, "goto again;");
        emit_close(e, "}");
    }
    emit_line(e, "return wishes_%zu;", i);
}

void emit_path_entry(struct emit *e) {
    unsigned prefix = emit_prefix_bytes(e);
    emit_line(e, "uint8_t *const start = frame - %u;", prefix);
    emit_line(e, "const uint8_t *const end = frame + length;");
    emit_line(e, "uint8_t *p = start;");
    emit_entry_inputs(e, "length", "now", "ahead");
    for (size_t i = 0; i < e->g->checksums.n; i++)
        emit_line(e, "uint64_t csum%zu = 0; // %s", i, emit_comment(e, e->g->checksums.v[i]->name));
    emit_line(e, "goto node_0;");
    e->in_parser = true;
    e->user = &e->g->states;
    for (size_t i = 0; i < e->paths->nodes.n; i++)
        node(e, i);
    e->in_parser = false;
    e->paths->here = NULL;
    for (size_t i = 0; i < e->paths->ends.n; i++)
        path(e, i);
    emit_line(e, " ");
    emit_line(e, "other:;");
    for (size_t h = 0; h < e->g->headers.n; h++) { // what was copied to its home, or written there
        const struct ir_header *header = e->g->headers.v[h];
        if (emit_home_is_placed(e, header) && !emit_home_of(e, header)->in_place)
            emit_line(e, "%s;", emit_home_clear(e, "s", header));
    }
    if (e->ahead && emit_paths_go_on(e))
        emit_line(e, "out->ahead = ahead;");
    emit_line(e, "return p%u_%s_any(s, packet, out);", e->pipeline_index,
              e->g->kind == IR_INGRESS ? "ingress" : "egress");
}

int emit_path_with(const struct emit *e, const bool *headers) {
    int best = -1;
    for (size_t i = 0; i < e->paths->ends.n; i++) {
        const struct known *k = &e->paths->ends.v[i];
        bool all = true;
        for (size_t h = 0; h < e->g->headers.n; h++)
            all &= !headers[h] || k->place[h] > emit_prefix_bytes(e);
        if (all && (best < 0 || k->at < e->paths->ends.v[best].at))
            best = (int)i;
    }
    return best;
}

unsigned emit_path_places(struct emit *e, int path, const bool *headers) {
    const struct known *k = &e->paths->ends.v[path];
    unsigned need = 0;
    for (size_t h = 0; h < e->g->headers.n; h++) {
        const unsigned end = k->place[h] - 1u + e->g->headers.v[h]->bits / 8;
        if (!headers[h])
            continue;
        emit_line(e, "v->at_h%zu = start + %u; // %s", h, k->place[h] - 1u,
                  emit_comment(e, e->g->headers.v[h]->name));
        need = end > need ? end : need;
    }
    return need;
}

bool emit_on_path(const struct emit *e) {
    return e->paths && e->paths->here;
}

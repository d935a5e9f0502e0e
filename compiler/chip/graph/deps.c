// SPDX-License-Identifier: Apache-2.0
//
// deps: which unit has to wait for which, and the longest chain of them (tna-facts 7.6).
//
// Two units that may both run for a packet depend on each other when both touch a bit and one of
// them writes it. What an earlier write hides is left out when the chain over that write says as
// much.
#include "compiler/chip/graph/graph_impl.h"

#include <string.h>

enum how { BY_MATCH, BY_ACTION, WRITES };
struct touch {
    unsigned unit;
    enum how how;
    struct chip_bits bits;
    uint64_t in; // actions of the unit that do it, as in graph_branch; all ones: the unit itself
};
typedef VEC(struct touch) touch_vec;
struct deps {
    struct graph *g;
    struct arena *a;
    size_t n;
    touch_vec *of; // by variable id
    int *between;  // [to * n + from]: index of the dependency other than control, -1
};

// ---- who touches what ---------------------------------------------------------------------------

static void add_touches(struct deps *d, unsigned unit, uint64_t in, enum how how,
                        const chip_bits_vec *bits) {
    for (size_t i = 0; i < bits->n; i++) {
        struct touch t = {unit, how, bits->v[i], in};
        if (t.bits.var->id >= d->g->n_vars)
            continue;
        touch_vec *of = &d->of[t.bits.var->id];
        // What several actions do to the same bits is one touch.
        struct touch *last = NULL;
        for (size_t k = of->n; k-- > 0 && of->v[k].unit == unit && !last;)
            if (of->v[k].how == how && of->v[k].bits.lo == t.bits.lo &&
                of->v[k].bits.width == t.bits.width)
                last = &of->v[k];
        if (last)
            last->in |= in;
        else
            VEC_PUSH(d->a, of, t);
    }
}

static void action_touches(struct deps *d, unsigned unit, size_t i, const struct chip_action *act) {
    uint64_t in = UINT64_C(1) << (i < 63 ? i : 63);
    for (size_t k = 0; k < act->ops.n; k++)
        if (!act->ops.v[k].dead)
            add_touches(d, unit, in, BY_ACTION, &act->ops.v[k].from);
    for (size_t k = 0; k < act->accesses.n; k++) {
        add_touches(d, unit, in, BY_MATCH, &act->accesses.v[k].index);
        add_touches(d, unit, in, BY_MATCH, &act->accesses.v[k].operands);
    }
    add_touches(d, unit, in, BY_MATCH, &act->hashed);
    add_touches(d, unit, in, WRITES, &act->writes);
}

static void find_touches(struct deps *d) {
    for (unsigned u = 0; u < d->n; u++) {
        const struct chip_unit *cu = &d->g->gress->units.v[u];
        add_touches(d, u, ~UINT64_C(0), BY_MATCH, &cu->key);
        add_touches(d, u, ~UINT64_C(0), BY_MATCH, &cu->gateway);
        for (size_t i = 0; i < cu->actions.n; i++)
            action_touches(d, u, i, &cu->actions.v[i]);
    }
}

static void widen_to_bytes(touch_vec *of) {
    for (size_t i = 0; i < of->n; i++) {
        struct chip_bits *b = &of->v[i].bits;
        unsigned end = (b->lo + b->width + 7) / 8 * 8;
        b->lo = b->lo / 8 * 8;
        b->width = (end < b->var->width ? end : b->var->width) - b->lo;
    }
}

// A metadata field that a hash writes a part of is cut into containers at bytes only. An ALU writes
// a whole container, and who reads one waits for all that is written in it. Others are cut where
// tables write parts of them. Tried with the reference compiler.
static void hashed_parts(struct deps *d) {
    for (unsigned u = 0; u < d->n; u++) {
        const struct chip_unit *cu = &d->g->gress->units.v[u];
        for (size_t i = 0; i < cu->actions.n; i++)
            for (size_t k = 0; k < cu->actions.v[i].ops.n; k++) {
                const struct chip_op *op = &cu->actions.v[i].ops.v[k];
                const struct ir_var *v = op->to.var;
                if (!op->dead && op->stmt->kind == IR_HASH && !v->header &&
                    op->to.width < v->width && v->id < d->g->n_vars)
                    widen_to_bytes(&d->of[v->id]);
            }
    }
}

// ---- dependencies -------------------------------------------------------------------------------

static bool names(const char *annotation, const char *table) {
    static const char word[] = "@ignore_table_dependency(";
    if (strncmp(annotation, word, sizeof word - 1) != 0)
        return false;
    const char *name = annotation + sizeof word - 1;
    name += *name == '"';
    size_t length = strcspn(name, "\")"), all = strlen(table);
    return length > 0 && length <= all && memcmp(table + all - length, name, length) == 0 &&
           (length == all || table[all - length - 1] == '.');
}

static bool graph_deps_ignores(const struct chip_unit *x, const struct chip_unit *y) {
    for (size_t i = 0; x->table && y->table && i < x->table->annotations.n; i++)
        if (names(x->table->annotations.v[i], y->table->name))
            return true;
    return false;
}

static struct loc place_in(const struct chip_unit *u, struct chip_bits bits, bool write) {
    for (size_t i = 0; i < u->actions.n; i++)
        for (size_t k = 0; k < u->actions.v[i].ops.n; k++) {
            const struct chip_op *op = &u->actions.v[i].ops.v[k];
            if (op->dead)
                continue;
            if (write && chip_bits_meet(op->to, bits))
                return op->stmt->at;
            for (size_t n = 0; !write && n < op->from.n; n++)
                if (chip_bits_meet(op->from.v[n], bits))
                    return op->stmt->at;
        }
    return u->at;
}

static const struct chip_bits no_bits;

static void add_dep(struct deps *d, enum chip_dep_kind kind, unsigned from, unsigned to,
                    struct chip_bits bits) {
    struct chip_gress *cg = d->g->gress;
    int *at = &d->between[to * d->n + from];
    struct chip_dep dep = {.kind = kind, .from = from, .to = to, .bits = bits};
    if (from >= to)
        return;
    const struct chip_unit *x = &cg->units.v[from], *y = &cg->units.v[to];
    dep.ignored = bits.var && (graph_deps_ignores(x, y) || graph_deps_ignores(y, x));
    if (*at >= 0 && chip_dep_distance(&cg->deps.v[*at]) >= chip_dep_distance(&dep))
        return;
    if (bits.var) {
        dep.writer = place_in(kind == CHIP_DEP_ANTI ? y : x, bits, true);
        dep.reader = place_in(kind == CHIP_DEP_ANTI ? x : y, bits, kind == CHIP_DEP_OUTPUT);
    }
    if (*at >= 0) {
        cg->deps.v[*at] = dep;
        return;
    }
    *at = (int)cg->deps.n;
    VEC_PUSH(d->a, &cg->deps, dep);
}

static const graph_word *graph_deps_row(const struct deps *d, unsigned unit) {
    return d->g->together + unit * d->g->words;
}

// All that runs before 'w' and together with 'u' runs together with 'w', too.
static bool hides(const struct deps *d, unsigned w, unsigned u) {
    const graph_word *x = graph_deps_row(d, w), *y = graph_deps_row(d, u);
    for (size_t i = 0; i <= w / 64; i++) {
        graph_word missing = y[i] & ~x[i];
        if (i == w / 64)
            missing &= ((graph_word)1 << (w % 64)) - 1;
        if (missing)
            return false;
    }
    return true;
}

// After which actions of unit 'above' a packet may come to 'u'.
static uint64_t ways_to(const struct deps *d, unsigned above, unsigned u, unsigned depth) {
    const struct graph_node *n = &d->g->nodes.v[u], *top = &d->g->nodes.v[above];
    uint64_t set = 0;
    for (size_t i = 0; i < n->parents.n && depth < 1100; i++) {
        struct graph_parent p = n->parents.v[i];
        if (p.unit == above)
            set |= p.branch < top->branches.n ? top->branches.v[p.branch].after : ~UINT64_C(0);
        else if (p.unit > above)
            set |= ways_to(d, above, p.unit, depth + 1);
    }
    return set;
}

// Whether a packet that the first one touches may come to the second one.
static bool may_follow(const struct deps *d, const struct touch *x, const struct touch *y) {
    const struct graph_node *n = &d->g->nodes.v[x->unit];
    uint64_t in = x->in & ~n->ending;
    if (!in)
        return false;
    if (n->branches.n == 0 || x->in == ~UINT64_C(0))
        return true;
    uint64_t ways = ways_to(d, x->unit, y->unit, 0);
    return !ways || (ways & in);
}

static bool graph_deps_covers(struct chip_bits a, struct chip_bits b) {
    return a.lo <= b.lo && a.lo + a.width >= b.lo + b.width;
}

static void depend(struct deps *d, const struct touch *x, const struct touch *y) {
    if (x->how == WRITES)
        add_dep(d,
                y->how == BY_MATCH    ? CHIP_DEP_MATCH
                : y->how == BY_ACTION ? CHIP_DEP_ACTION
                                      : CHIP_DEP_OUTPUT,
                x->unit, y->unit, y->bits);
    else if (y->how == WRITES)
        add_dep(d, CHIP_DEP_ANTI, x->unit, y->unit, x->bits);
}

static void data_deps(struct deps *d) {
    for (unsigned v = 0; v < d->g->n_vars; v++)
        for (size_t j = 1; j < d->of[v].n; j++) {
            const struct touch *y = &d->of[v].v[j];
            for (size_t i = j; i-- > 0;) {
                const struct touch *x = &d->of[v].v[i];
                if (x->unit == y->unit || !graph_has(graph_deps_row(d, y->unit), x->unit) ||
                    !chip_bits_meet(x->bits, y->bits) || !may_follow(d, x, y))
                    continue;
                depend(d, x, y);
                int dep = d->between[y->unit * d->n + x->unit];
                if (x->how == WRITES && graph_deps_covers(x->bits, y->bits) &&
                    hides(d, x->unit, y->unit) && dep >= 0 && !d->g->gress->deps.v[dep].ignored)
                    break;
            }
        }
}

// ---- containers ---------------------------------------------------------------------------------

// Fields of a few bits that the chip's compiler puts into one container. Two tables that write
// different ones of them cannot do so in one stage, for an ALU writes the whole container. Tried
// with the reference compiler: among what goes to the traffic manager and the deparser these (28 of
// 30 programs), and validity bits, eight by eight.
static const enum ir_intrinsic small_fields[] = {IRI_DROP_CTL, IRI_BYPASS_EGRESS, IRI_COPY_TO_CPU,
                                                 IRI_DEFLECT_ON_DROP, IRI_PACKET_COLOR};

typedef VEC(const struct ir_var *) var_vec;

static bool graph_deps_is_written(const struct deps *d, const struct ir_var *v) {
    for (size_t i = 0; v && v->id < d->g->n_vars && i < d->of[v->id].n; i++)
        if (d->of[v->id].v[i].how == WRITES)
            return true;
    return false;
}

static void graph_deps_conflict(struct deps *d, const struct touch *x, const struct touch *y) {
    if (x->how != WRITES || y->how != WRITES || x->unit == y->unit ||
        !graph_has(graph_deps_row(d, x->unit), y->unit))
        return;
    unsigned from = x->unit < y->unit ? x->unit : y->unit;
    unsigned to = x->unit < y->unit ? y->unit : x->unit;
    int dep = d->between[to * d->n + from];
    if (dep < 0)
        add_dep(d, CHIP_DEP_CONFLICT, from, to, y->bits);
    else if (!chip_dep_distance(&d->g->gress->deps.v[dep]))
        add_dep(d, CHIP_DEP_OUTPUT, from, to, y->bits);
}

static void share_container(struct deps *d, const var_vec *c) {
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < i; k++)
            for (size_t x = 0; x < d->of[c->v[i]->id].n; x++)
                for (size_t y = 0; y < d->of[c->v[k]->id].n; y++)
                    graph_deps_conflict(d, &d->of[c->v[i]->id].v[x], &d->of[c->v[k]->id].v[y]);
}

// Adds a field to the container, or begins a new one.
static void graph_deps_pack(struct deps *d, var_vec *c, const struct ir_var *v, unsigned *bits) {
    if (!graph_deps_is_written(d, v))
        return;
    if (*bits + v->width > 8) {
        share_container(d, c);
        c->n = 0;
        *bits = 0;
    }
    VEC_PUSH(d->a, c, v);
    *bits += v->width;
}

// Where a bit of a field stands: its byte in the header, or, of what is no header's, in the
// variable.
static unsigned graph_deps_byte_of(const struct ir_var *v, unsigned bit) {
    return v->header && bit < v->width ? (v->bit_offset + v->width - 1 - bit) / 8 : bit / 8;
}

static bool share_byte(const struct touch *x, const struct touch *y) {
    const struct ir_var *v = x->bits.var, *w = y->bits.var;
    unsigned x1 = graph_deps_byte_of(v, x->bits.lo),
             x2 = graph_deps_byte_of(v, x->bits.lo + x->bits.width - 1);
    unsigned y1 = graph_deps_byte_of(w, y->bits.lo),
             y2 = graph_deps_byte_of(w, y->bits.lo + y->bits.width - 1);
    unsigned xa = x1 < x2 ? x1 : x2, xb = x1 < x2 ? x2 : x1;
    unsigned ya = y1 < y2 ? y1 : y2, yb = y1 < y2 ? y2 : y1;
    return xa <= yb && ya <= xb;
}

// Bits of one byte of a header are in one container. Metadata is cut where tables write parts of
// it.
static void graph_deps_bytes_of(struct deps *d, const struct ir_var *v, const struct ir_var *w) {
    for (size_t i = 0; i < d->of[v->id].n; i++)
        for (size_t k = 0; k < d->of[w->id].n; k++) {
            const struct touch *x = &d->of[v->id].v[i], *y = &d->of[w->id].v[k];
            if (x->how == WRITES && y->how == WRITES && share_byte(x, y) &&
                !chip_bits_meet(x->bits, y->bits))
                graph_deps_conflict(d, x, y);
        }
}

static void bytes_conflict(struct deps *d) {
    const struct ir_gress *ir = d->g->ir;
    for (unsigned i = 0; i < d->g->n_vars; i++)
        if (ir->vars.v[i]->header)
            graph_deps_bytes_of(d, ir->vars.v[i], ir->vars.v[i]);
    for (size_t h = 0; h < ir->headers.n; h++)
        for (size_t i = 1; i < ir->headers.v[h]->fields.n; i++) {
            const struct ir_var *v = ir->headers.v[h]->fields.v[i];
            for (size_t k = i;
                 k-- > 0 &&
                 ir->headers.v[h]->fields.v[k]->bit_offset / 8 + 8 >= v->bit_offset / 8 &&
                 i - k < 8;)
                if (graph_deps_is_written(d, v))
                    graph_deps_bytes_of(d, v, ir->headers.v[h]->fields.v[k]);
        }
}

// What tells the deparser which of a checksum's values to emit are validity bits, of one container.
static void sums_conflict(struct deps *d) {
    for (unsigned to = 0; to < d->n; to++)
        for (unsigned from = 0; d->g->nodes.v[to].is_sum && from < to; from++)
            if (d->g->nodes.v[from].is_sum)
                add_dep(d, CHIP_DEP_CONFLICT, from, to, no_bits);
}

// Of a gress whose nodes are compared in pairs for more than data: what that finds is a matter of a
// stage or two, and of so many nodes it would take longer than all else.
#define PAIRED_NODES 512u

static void container_conflicts(struct deps *d) {
    const struct ir_gress *ir = d->g->ir;
    var_vec small = {0}, valid = {0};
    unsigned small_bits = 0, valid_bits = 0;
    if (d->n > PAIRED_NODES)
        return;
    for (size_t i = 0; i < sizeof small_fields / sizeof *small_fields; i++)
        graph_deps_pack(d, &small, ir->intrinsic[small_fields[i]], &small_bits);
    for (size_t i = 0; i < ir->headers.n; i++)
        graph_deps_pack(d, &valid, ir->headers.v[i]->valid, &valid_bits);
    share_container(d, &small);
    share_container(d, &valid);
    bytes_conflict(d);
    sums_conflict(d);
}

// ---- order without data -------------------------------------------------------------------------

static void control_deps(struct deps *d) {
    for (unsigned u = 0; u < d->n; u++) {
        const struct graph_node *node = &d->g->nodes.v[u];
        for (size_t i = 0; i < node->parents.n; i++) {
            struct chip_dep dep = {
                .kind = CHIP_DEP_CONTROL, .from = node->parents.v[i].unit, .to = u};
            bool again = false;
            for (size_t k = 0; k < i; k++)
                again |= node->parents.v[k].unit == dep.from;
            if (!again && dep.from < u)
                VEC_PUSH(d->a, &d->g->gress->deps, dep);
        }
    }
}

// What comes after something that may end the control does not move before it.
static void exit_deps(struct deps *d) {
    for (unsigned u = 0; u < d->n && d->n <= PAIRED_NODES; u++)
        for (unsigned k = u + 1; d->g->nodes.v[u].ends && k < d->n; k++)
            if (graph_has(graph_deps_row(d, u), k))
                add_dep(d, CHIP_DEP_ANTI, u, k, no_bits);
}

// ---- chains -------------------------------------------------------------------------------------

typedef VEC(unsigned) dep_vec;

static void graph_deps_find_chain(struct deps *d) {
    struct chip_gress *cg = d->g->gress;
    unsigned *level = ARENA_ARRAY(d->a, unsigned, d->n + 1);
    int *by = ARENA_ARRAY(d->a, int, d->n + 1);
    dep_vec *before = ARENA_ARRAY(d->a, dep_vec, d->n + 1);
    unsigned last = 0;
    for (size_t i = 0; i < cg->deps.n; i++)
        VEC_PUSH(d->a, &before[cg->deps.v[i].to], (unsigned)i);
    for (size_t to = 0; to < d->n; to++) {
        by[to] = -1;
        for (size_t i = 0; i < before[to].n; i++) {
            const struct chip_dep *dep = &cg->deps.v[before[to].v[i]];
            unsigned l = level[dep->from] + chip_dep_distance(dep);
            if (l > level[to] || (by[to] < 0 && l > 0)) {
                level[to] = l;
                by[to] = (int)dep->from;
            }
        }
        cg->units.v[to].earliest = level[to];
        if (level[to] > level[last])
            last = (unsigned)to;
    }
    VEC(unsigned) back = {0};
    for (int u = (int)last; u >= 0; u = by[u])
        VEC_PUSH(d->a, &back, (unsigned)u);
    cg->critical_path.n = 0;
    while (back.n > 0)
        VEC_PUSH(d->a, &cg->critical_path, back.v[--back.n]);
}

static void find_excludes(struct graph *g) {
    size_t n = g->gress->units.n;
    bool *x = ARENA_ARRAY(g->a, bool, n *n + 1);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            x[i * n + k] = i != k && !graph_has(g->together + i * g->words, k);
    g->gress->excludes = x;
}

void graph_deps(struct graph *g) {
    struct deps d = {.g = g, .a = g->a, .n = g->gress->units.n};
    g->gress->deps.n = 0;
    d.of = ARENA_ARRAY(g->a, touch_vec, g->n_vars + 1);
    d.between = ARENA_ARRAY(g->a, int, d.n *d.n + 1);
    for (size_t i = 0; i < d.n * d.n; i++)
        d.between[i] = -1;
    find_excludes(g);
    if (d.n == 0)
        return;
    find_touches(&d);
    hashed_parts(&d);
    control_deps(&d);
    data_deps(&d);
    container_conflicts(&d);
    exit_deps(&d);
    graph_deps_find_chain(&d);
}

// SPDX-License-Identifier: Apache-2.0
//
// cells_ahead: cells of registers that a packet's later passes use are fetched in its first one.
//
// A program that may look at a register once in a pass, and has more to do, sends its packet
// around: each pass works on the first elements of the packet, and the parser of the next pass puts
// them after the others. Each pass then waits for a cell that was not fetched before. But where a
// later pass finds it is known as soon as the packet leaves the first one:
//
//     state parse_turned {                            // the packet begins with pair0, pair1, pair2
//         pkt.extract(hdr.pair2);
//         pkt.extract(hdr.pair0);
//         pkt.extract(hdr.pair1);
//     ...
//     now = read.execute((hdr.top.value - hdr.pair0.index)[17:4]);
//
// On this way pair0 is what the pass before called pair1, and what the one before that called
// pair2. So for each access whose index is an expression of fields on the wire as they were at the
// start of the pass, the expression with each of these headers in place of the one that is named
// ("cell ahead") is an index of a later pass. They are fetched where a pass ends that has made some
// header of the expression, which says that the packet goes around, for the first time.
//
// It guesses: that the pass is reached, that headers come in the order of the deparser, and that no
// pass between changes those fields. A wrong guess costs a line of the cache and changes nothing.
#include <string.h>

#include "compiler/ir/build.h"
#include "compiler/ir/effects.h"
#include "compiler/ir/walk.h"
#include "compiler/plan/parse_paths.h"
#include "compiler/plan/plan.h"

#define MAX_TERMS 32 // of an index, when it is an expression of fields

// ---- what the accesses' indices are at the start of the pass ----

struct access {
    const struct ir_register *reg;
    const struct ir_expr *index;
};

struct accesses {
    struct plan *plan;
    VEC(struct access) v;
    unsigned terms; // of the expression that is being made
};

// What is known of each variable. A field on the wire without an entry here is as it came.
struct values {
    const struct ir_expr **v;
    bool *lost;
};

static struct values copy_values(const struct plan *plan, const struct values *of) {
    const size_t n = plan->g->vars.n;
    struct values c = {ARENA_ARRAY(plan->a, const struct ir_expr *, n + 1),
                       ARENA_ARRAY(plan->a, bool, n + 1)};
    for (size_t i = 0; of && i < n; i++) {
        c.v[i] = of->v[i];
        c.lost[i] = of->lost[i];
    }
    return c;
}

static void lose(void *aux, const struct ir_var *v) {
    const struct values *const values = aux;
    values->v[v->id] = NULL;
    values->lost[v->id] = true;
}

static void lose_written(struct values *values, struct ir_stmt *s) {
    const struct ir_block one = {.stmts = {.v = &s, .n = 1}};
    plan_each_written(&one, lose, values);
}

// Null: not known.
static const struct ir_expr *at_start(struct accesses *a, const struct values *values,
                                      const struct ir_expr *x) {
    if (++a->terms > MAX_TERMS)
        return NULL;
    switch (x->op) {
    case IR_CONST:
        return x;
    case IR_VAR:
        if (values->v[x->var->id])
            return values->v[x->var->id];
        return x->var->header && a->plan->vars[x->var->id].on_wire && !values->lost[x->var->id]
                   ? x
                   : NULL;
    case IR_NOT:
    case IR_NEG:
    case IR_ADD:
    case IR_SUB:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
    case IR_SHL:
    case IR_LSHR:
    case IR_CONCAT:
    case IR_SLICE:
    case IR_ZEXT:
        break;
    default:
        return NULL;
    }
    const struct ir_expr *of_a = at_start(a, values, x->a);
    const struct ir_expr *of_b = x->b && of_a ? at_start(a, values, x->b) : NULL;
    if (!of_a || (x->b && !of_b))
        return NULL;
    struct ir_expr *copy = ARENA_NEW(a->plan->a, struct ir_expr);
    *copy = *x;
    copy->a = (struct ir_expr *)of_a;
    copy->b = (struct ir_expr *)of_b;
    return copy;
}

static const struct ir_expr *value_at_start(struct accesses *a, const struct values *values,
                                            const struct ir_expr *x) {
    a->terms = 0;
    return at_start(a, values, x);
}

// No index of the register is outside of it.
static bool is_always_inside(const struct ir_register *r, const struct ir_expr *index) {
    return index->width < 64 && (UINT64_C(1) << index->width) <= r->size;
}

static void note_access(struct accesses *a, const struct values *values, const struct ir_stmt *s) {
    const struct ir_register *r = s->kind == IR_REG_EXEC ? s->regaction->reg : s->reg;
    const struct ir_expr *index = s->e && !r->direct ? value_at_start(a, values, s->e) : NULL;
    const struct access one = {r, index};
    if (index && index->op != IR_CONST && is_always_inside(r, index))
        VEC_PUSH(a->plan->a, &a->v, one);
}

static void accesses_of(struct accesses *a, struct values *values, const struct ir_block *b);

// What is in the block, which may not run.
static void accesses_within(struct accesses *a, const struct values *values,
                            const struct ir_block *b) {
    struct values in = copy_values(a->plan, b ? values : NULL);
    accesses_of(a, &in, b);
}

// An action that always runs, and is not told anything.
static bool always_runs(const struct ir_table *t) {
    return t->keys.n == 0 && t->const_default && t->default_action->params.n == 0;
}

static void accesses_of_stmt(struct accesses *a, struct values *values, struct ir_stmt *s) {
    switch (s->kind) {
    case IR_ASSIGN: {
        const struct ir_expr *value = s->slice ? NULL : value_at_start(a, values, s->e);
        lose_written(values, s);
        values->v[s->var->id] = value;
        return;
    }
    case IR_APPLY:
        if (always_runs(s->table)) {
            accesses_of(a, values, s->table->default_action->body);
            return;
        }
        for (size_t i = 0; i < s->table->actions.n; i++)
            accesses_within(a, values, s->table->actions.v[i].action->body);
        break;
    case IR_REG_EXEC:
    case IR_REG_READ:
    case IR_REG_WRITE:
        note_access(a, values, s);
        break;
    default:
        accesses_within(a, values, s->then_b);
        accesses_within(a, values, s->else_b);
        for (size_t i = 0; i < s->cases.n; i++)
            accesses_within(a, values, s->cases.v[i].body);
    }
    lose_written(values, s);
}

static void accesses_of(struct accesses *a, struct values *values, const struct ir_block *b) {
    for (size_t i = 0; b && i < b->stmts.n; i++)
        accesses_of_stmt(a, values, b->stmts.v[i]);
}

// ---- which headers come to be which ----

// The header that the pass before emitted where 'h' is on this way; null: none of its type.
static const struct ir_header *was(const struct plan *plan, const struct plan_known *k,
                                   const struct ir_header *h) {
    const ir_header_vec emits = plan_emits(plan);
    unsigned at = plan_prefix_bytes(plan);
    for (size_t i = 0; i < emits.n; i++) {
        const struct ir_header *e = emits.v[i];
        if (!k->place[e->id])
            continue;
        if (at + 1 == k->place[h->id])
            return e == h || strcmp(e->type_name, h->type_name) == 0 ? e : NULL;
        at += e->bits / 8;
    }
    return NULL;
}

// On this way headers come in another order than they left.
static bool turns(const struct plan *plan, const struct plan_known *k) {
    const ir_header_vec emits = plan_emits(plan);
    for (size_t i = 0; i < emits.n; i++) {
        const struct ir_header *h = emits.v[i];
        const struct ir_header *before = k->place[h->id] ? was(plan, k, h) : NULL;
        if (before && before != h)
            return true;
    }
    return false;
}

static struct ir_var *cells_ahead_field(const struct ir_header *h, const struct ir_var *f) {
    for (size_t i = 0; i < h->fields.n; i++)
        if (h->fields.v[i]->bit_offset == f->bit_offset && h->fields.v[i]->width == f->width)
            return h->fields.v[i];
    return NULL;
}

// The expression with the names that the pass before had for the headers; null: it had none.
static const struct ir_expr *one_before(const struct plan *plan, const struct plan_known *k,
                                        const struct ir_expr *x) {
    if (x->op == IR_CONST)
        return x;
    struct ir_expr *copy = ARENA_NEW(plan->a, struct ir_expr);
    *copy = *x;
    if (x->op == IR_VAR) {
        const struct ir_header *h = was(plan, k, x->var->header);
        copy->var = h ? cells_ahead_field(h, x->var) : NULL;
        return copy->var ? copy : NULL;
    }
    copy->a = (struct ir_expr *)one_before(plan, k, x->a);
    copy->b = x->b ? (struct ir_expr *)one_before(plan, k, x->b) : NULL;
    return copy->a && (!x->b || copy->b) ? copy : NULL;
}

// ---- the cells ----

// Their cells of one index lie in one line.
static bool lie_together(const struct plan *plan, const struct ir_register *x,
                         const struct ir_register *y) {
    const struct plan_register *a = &plan->registers[x->id], *b = &plan->registers[y->id];
    return x == y || (a->banked && b->banked && a->bank == b->bank) ||
           (a->in_row && b->in_row && a->row == b->row);
}

static void note_headers(void *aux, const struct ir_expr *x) {
    if (x->op == IR_VAR)
        ((bool *)aux)[x->var->header->id] = true;
}

void plan_headers_of(const struct ir_expr *x, bool *headers) {
    ir_walk_expr(x, note_headers, headers);
}

// By end: all headers of the index are there or may be made, and some has to be. Null: at none.
static const bool *may_be_first(const struct plan *plan, const struct ir_expr *index) {
    bool *headers = ARENA_ARRAY(plan->a, bool, plan->g->headers.n + 1),
         *ends = ARENA_ARRAY(plan->a, bool, plan->paths->ends.n + 1);
    struct ir_effects rest = ir_effects_none(plan->a, plan->g);
    bool any = false;
    ir_effects_add_rest(&rest);
    plan_headers_of(index, headers);
    for (size_t i = 0; i < plan->paths->ends.n; i++) {
        const bool *valid = plan->paths->ends.v[i].valid;
        bool some = false, all = true;
        for (size_t h = 0; h < plan->g->headers.n; h++) {
            some |= headers[h] && !valid[h];
            all &= !headers[h] || valid[h] || ir_effects_may_add(&rest, plan->g->headers.v[h]);
        }
        ends[i] = some && all;
        any |= ends[i];
    }
    return any ? ends : NULL;
}

// False: it was there, there are too many, or no pass can be the first one.
static bool add_cell(struct plan *plan, const struct access *a) {
    const bool *at_end = may_be_first(plan, a->index);
    for (size_t i = 0; i < plan->cells_ahead.n; i++)
        if (lie_together(plan, plan->cells_ahead.v[i].reg, a->reg) &&
            ir_same(plan->cells_ahead.v[i].index, a->index))
            return false;
    if (!at_end || plan->cells_ahead.n == PLAN_MAX_CELLS_AHEAD)
        return false;
    const struct plan_cell_ahead one = {a->reg, a->index, at_end};
    VEC_PUSH(plan->a, &plan->cells_ahead, one);
    return true;
}

static void cells_ahead_add(struct plan *plan, const struct plan_known *k, struct access a) {
    while (a.index && add_cell(plan, &a))
        a.index = one_before(plan, k, a.index);
}

// All headers of an index are on the way.
static bool has_headers(const struct plan *plan, const struct plan_known *k,
                        const struct ir_expr *index) {
    bool *headers = ARENA_ARRAY(plan->a, bool, plan->g->headers.n + 1);
    plan_headers_of(index, headers);
    for (size_t h = 0; h < plan->g->headers.n; h++)
        if (headers[h] && !k->place[h])
            return false;
    return true;
}

void plan_cells_ahead(struct plan *plan) {
    const struct plan_paths *p = plan->paths;
    bool any = false;
    for (size_t i = 0; p && i < p->ends.n; i++)
        any |= turns(plan, &p->ends.v[i]);
    if (!any || plan->g->kind != IR_INGRESS)
        return;
    struct accesses a = {.plan = plan};
    struct values values = copy_values(plan, NULL);
    accesses_of(&a, &values, plan->g->control);
    for (size_t i = 0; i < p->ends.n; i++)
        for (size_t k = 0; turns(plan, &p->ends.v[i]) && k < a.v.n; k++)
            if (has_headers(plan, &p->ends.v[i], a.v.v[k].index))
                cells_ahead_add(plan, &p->ends.v[i], a.v.v[k]);
}

// SPDX-License-Identifier: Apache-2.0
//
// sums: tables that the chip's compiler adds after the control, for the deparser's checksums. A
// sum that is updated under a condition is one of two things to emit, and a table of the compiler's
// own says which: it matches on the condition and on the header's validity. A field that a sum adds
// twice has to stand in a second container, into which one more table copies it.
#include "compiler/chip/graph/graph_impl.h"

#define MOST_NESTED 1100u

struct sums {
    struct graph *g;
    graph_sum_vec *out;
};

static struct graph_sum *sum_of(struct sums *s, const struct ir_stmt *t) {
    for (size_t i = 0; i < s->out->n; i++)
        if (s->out->v[i].dest == t->var)
            return &s->out->v[i];
    struct graph_sum one = {.dest = t->var, .stmt = t};
    VEC_PUSH(s->g->a, s->out, one);
    return &s->out->v[s->out->n - 1];
}

static bool reads_twice(const struct ir_stmt *t, size_t i) {
    const struct ir_expr *e = t->csum_args.v[i].e;
    for (size_t k = 0; e->op == IR_VAR && k < i; k++)
        if (ir_same(e, t->csum_args.v[k].e))
            return true;
    return false;
}

// A header is emitted when it is valid: to ask for that alone is no condition.
static bool is_own_validity(const chip_bits_vec *asked, const struct ir_var *dest) {
    return asked->n == 1 && dest->header && asked->v[0].var == dest->header->valid;
}

static void add_sum(struct sums *s, const struct ir_stmt *t, const struct ir_expr *condition) {
    struct graph_sum *sum = sum_of(s, t);
    chip_bits_vec asked = {0};
    if (condition)
        graph_expr_bits(s->g->a, condition, &asked);
    if (!condition || is_own_validity(&asked, t->var))
        sum->always = true;
    for (size_t i = 0; i < asked.n; i++)
        graph_add_bits(s->g->a, &sum->asks, asked.v[i]);
    for (size_t i = 0; i < t->csum_args.n; i++)
        if (reads_twice(t, i))
            graph_expr_bits(s->g->a, t->csum_args.v[i].e, &sum->twice);
}

static void graph_sums_walk(struct sums *s, const struct ir_block *b,
                            const struct ir_expr *condition, unsigned depth) {
    for (size_t i = 0; b && depth < MOST_NESTED && i < b->stmts.n; i++) {
        const struct ir_stmt *t = b->stmts.v[i];
        if (t->kind == IR_CSUM_UPDATE && t->var)
            add_sum(s, t, condition);
        graph_sums_walk(s, t->then_b, t->e, depth + 1);
        graph_sums_walk(s, t->else_b, t->e, depth + 1);
    }
}

graph_sum_vec graph_sums(struct graph *g) {
    graph_sum_vec found = {0};
    struct sums s = {g, &found};
    graph_sums_walk(&s, g->ir->deparser, NULL, 0);
    for (size_t i = 0; i < found.n; i++) {
        const struct ir_header *h = found.v[i].dest->header;
        if (h && h->valid)
            graph_add_bits(g->a, &found.v[i].asks, (struct chip_bits){h->valid, 0, 1});
    }
    return found;
}

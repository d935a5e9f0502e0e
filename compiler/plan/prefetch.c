// SPDX-License-Identifier: Apache-2.0
//
// prefetch: what a burst's packets are going to look up is fetched before the first of them runs.
//
// A packet that waits for a table's entry waits for memory, and with it all after it. So for the
// first large exact table of ingress whose key is fields on the wire, a function is printed that
// takes a burst of packets from a port, forms each one's key from its bytes, and asks for the entry
// that has it. It guesses: that the packet goes the shortest way through the parser on which these
// fields are extracted, and that the program looks them up as they came. What it found is handed to
// the packet's first pass, which compares keys in place of a lookup: a burst's lookups wait for
// memory all at once, and a packet's pass for none. A wrong guess costs the time of a lookup and
// changes nothing.
#include "compiler/ir/walk.h"
#include "compiler/plan/plan.h"

struct key_fields {
    const struct plan *plan;
    bool *headers; // by header
    bool good;
};

static void note_field(void *aux, const struct ir_expr *x) {
    struct key_fields *k = aux;
    if (x->op != IR_VAR)
        return;
    if (x->var->header && k->plan->vars[x->var->id].on_wire)
        k->headers[x->var->header->id] = true;
    else
        k->good = false;
}

static bool in_buckets(const struct plan *plan, const struct ir_table *t) {
    unsigned width = 0;
    for (size_t i = 0; i < t->keys.n; i++) {
        width += t->keys.v[i].expr->width;
        if (t->keys.v[i].match != IR_MATCH_EXACT)
            return false;
    }
    return width > PLAN_MAX_INDEX && !t->proxy && !t->key_masks && !plan->tables[t->id].branches;
}

static struct plan_prefetch guess(const struct plan *plan, const struct ir_table *t) {
    struct key_fields k = {plan, ARENA_ARRAY(plan->a, bool, plan->g->headers.n + 1), true};
    if (!in_buckets(plan, t))
        return (struct plan_prefetch){0};
    for (size_t i = 0; i < t->keys.n; i++)
        ir_walk_expr(t->keys.v[i].expr, note_field, &k);
    const int path = k.good ? plan_path_with(plan, k.headers) : -1;
    return (struct plan_prefetch){path < 0 ? NULL : t, path, k.headers};
}

// The first in the order of the program.
static struct plan_prefetch first_guess(const struct plan *plan, const struct ir_block *b) {
    struct plan_prefetch found = {0};
    for (size_t i = 0; b && i < b->stmts.n && !found.table; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        if (s->kind == IR_APPLY)
            found = guess(plan, s->table);
        if (!found.table)
            found = first_guess(plan, s->then_b);
        if (!found.table)
            found = first_guess(plan, s->else_b);
        for (size_t k = 0; k < s->cases.n && !found.table; k++)
            found = first_guess(plan, s->cases.v[k].body);
    }
    return found;
}

void plan_prefetch(struct plan *plan) {
    if (plan->g->kind == IR_INGRESS && plan->paths)
        plan->prefetch = first_guess(plan, plan->g->control);
}

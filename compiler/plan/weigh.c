// SPDX-License-Identifier: Apache-2.0
//
// weigh: how much C is printed for a block of statements, those of what is inlined with them, in
// statements. It decides how often a control is printed: for ways through the parser
// (parse_paths.c), and for values of a variable (specialise.c).
#include "compiler/ir/effects.h"
#include "compiler/plan/plan.h"

static unsigned weigh_table(const struct plan *plan, const struct ir_table *t,
                            const struct ir_known_match *known) {
    const struct plan_table *planned = &plan->tables[t->id];
    unsigned all = 2;
    for (size_t i = 0; i < t->entries.n && planned->branches; i++)
        if (!known || known->may_match[i])
            all += 3 + (planned->loops ? 8 : plan_weigh(plan, t->entries.v[i]->action->body));
    if (!planned->branches)
        for (size_t i = 0; i < t->actions.n; i++)
            all += 2 + plan_weigh(plan, t->actions.v[i].action->body);
    return all + plan_weigh(plan, t->default_action->body);
}

// Notes weigh nothing: they are no reason to print less.
static unsigned weigh_stmt(const struct plan *plan, const struct ir_stmt *s) {
    unsigned all = (s->kind != IR_NOTE) + plan_weigh(plan, s->then_b) + plan_weigh(plan, s->else_b);
    for (size_t i = 0; i < s->cases.n; i++)
        all += 1 + plan_weigh(plan, s->cases.v[i].body);
    if (s->kind == IR_APPLY)
        all += weigh_table(plan, s->table, s->known);
    if (s->kind == IR_REG_EXEC && s->regaction)
        all += 2 + plan_weigh(plan, s->regaction->body);
    return all;
}

// What becomes a loop over lanes is printed once.
unsigned plan_weigh(const struct plan *plan, const struct ir_block *b) {
    unsigned all = 0;
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        const struct ir_expr *guard;
        const struct ir_stmt *apply = plan_application(s, &guard);
        const struct plan_table *t = apply ? &plan->tables[apply->table->id] : NULL;
        size_t run = plan_lane_run_length(plan, s);
        all += weigh_stmt(plan, s);
        if (run)
            i += run - 1;
        else if (t && t->followers && t->loops)
            i += t->followers + (t->followers + 1) * t->n_tail;
    }
    return all;
}

size_t plan_changed_headers(const struct plan *plan, const struct ir_header **changed,
                            size_t most) {
    const struct ir_gress *g = plan->g;
    struct ir_effects rest = ir_effects_none(plan->a, g);
    size_t n = 0;
    ir_effects_add_rest(&rest);
    for (size_t i = 0; i < g->headers.n; i++) {
        const struct ir_header *h = g->headers.v[i];
        const bool changes = ir_effects_may_add(&rest, h) || ir_effects_may_remove(&rest, h);
        if (!changes || !plan->headers[i].emitted)
            continue;
        if (n < most)
            changed[n] = h;
        n++;
    }
    return n;
}

// Few have a case for each combination, in which all is known.
unsigned plan_weigh_end(const struct plan *plan) {
    const size_t n = plan_changed_headers(plan, NULL, 0);
    return n > PLAN_MAX_CHANGED ? PLAN_CHANGED_WEIGHT * (unsigned)n : 0;
}

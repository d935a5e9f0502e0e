// SPDX-License-Identifier: Apache-2.0
//
// sunk_loops: loops over lanes that run when it is known what becomes of the packet.
//
// Most packets of an aggregation end in the switch, or are resubmitted as they were received: what
// their lanes would write into the packet is of no use to anybody. The tables that decide this
// stand after the lanes. So a fused group of tables whose actions are loops only notes which loop
// it is, in phv, and the loop runs after the deparser's statements: with its results stored into
// the packet where the packet leaves with that header, without them otherwise. What such loops
// write needs no copy of the header either when the packet may be asked for as it was received
// (in_place.c).
//
// That is exact when nothing after the group looks at what the loops write, writes what they look
// at, uses their registers or puts a header of theirs into the packet. It is looked for in groups
// that stand in the control itself, not in an action or under another statement.
//
// Of a run of statements that begins with a table whose entries are branches, what all lanes choose
// alike waits with all that comes after it in the run: the table's hit is counted at once, and the
// rest is done where the packet leaves with a header that it writes, or never.
#include "compiler/ir/effects.h"
#include "compiler/plan/lanes.h"

static bool plan_sunk_loops_does_nothing(const struct plan *plan, const struct ir_table *leader,
                                         size_t position) {
    for (const struct ir_table *t = leader; t; t = plan_next_of_group(plan, t)) {
        const struct ir_block *b = plan_action_at(t, position)->body;
        if ((b && b->stmts.n) || plan->tables[t->id].n_tail)
            return false;
    }
    return true;
}

static bool may_wait(const struct ir_effects *behind, const struct plan_lanes *l, bool *writes) {
    for (size_t i = 0; i < l->registers.n; i++)
        for (unsigned k = 0; k < l->count; k++)
            if (behind->registers[l->registers.v[i].of[k]->id])
                return false;
    for (size_t i = 0; i < l->vars.n; i++) {
        const struct plan_lane_var *t = &l->vars.v[i];
        if (t->written && !t->varies)
            return false;
        if (t->written && t->wire && !plan_lane_field_is_plain(t))
            return false;
        *writes |= t->written && t->wire;
        for (unsigned k = 0; k < (t->varies ? l->count : 1); k++) {
            const struct ir_var *v = t->of[k];
            if (behind->assigned[v->id] || (t->written && behind->reads[v->id]) ||
                (v->header && ir_effects_may_add(behind, v->header)))
                return false;
        }
    }
    return true;
}

// What waits is a function of its own, which has no arrays of phv.
static bool has_arrays(const struct plan_lanes *l) {
    for (size_t i = 0; i < l->vars.n; i++)
        if (l->vars.v[i].array)
            return true;
    return false;
}

// 'i': the group's first statement in the control.
static bool group_may_wait(const struct plan *plan, const struct ir_table *leader, size_t i) {
    const struct plan_table *p = &plan->tables[leader->id];
    const struct ir_block *control = plan->g->control;
    struct ir_effects behind = ir_effects_none(plan->a, plan->g);
    bool writes = false;
    for (i += (p->followers + 1) * (1 + p->n_tail); i < control->stmts.n; i++)
        ir_effects_add_stmt(&behind, control->stmts.v[i]);
    ir_effects_add_block(&behind, plan->g->deparser);
    for (size_t k = 0; k <= leader->entries.n; k++)
        if (p->loops[k] && has_arrays(p->loops[k]))
            return false;
    for (size_t k = 0; k <= leader->entries.n; k++)
        if (p->loops[k] ? !may_wait(&behind, p->loops[k], &writes)
                        : !plan_sunk_loops_does_nothing(plan, leader, k))
            return false;
    return writes;
}

// Fields that nothing but loops that wait writes.
static void only_last(const struct plan *plan, bool *only) {
    const struct ir_gress *g = plan->g;
    struct ir_effects others = ir_effects_none(plan->a, g);
    for (size_t i = 0; i < g->tables.n; i++)
        others.has_table[i] = plan->tables[plan->tables[i].leader].last;
    ir_effects_add_parser(&others);
    ir_effects_add_block(&others, g->control);
    ir_effects_add_block(&others, g->deparser);
    for (size_t i = 0; i < g->vars.n; i++)
        only[i] = g->vars.v[i]->header && !others.assigned[i];
}

// Adds what comes after the run, which is somewhere in the block. False: it is not.
static bool run_behind(struct ir_effects *behind, const struct ir_block *b,
                       const struct plan_lane_run *run) {
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        const bool here = s == run->first;
        if (!here && !run_behind(behind, s->then_b, run) && !run_behind(behind, s->else_b, run))
            continue;
        for (i += here ? run->n_stmts : 1; i < b->stmts.n; i++)
            ir_effects_add_stmt(behind, b->stmts.v[i]);
        return true;
    }
    return false;
}

// All that it writes of the packet is what may wait, and all else is its own.
static bool run_may_wait(const struct plan *plan, const struct plan_lane_run *run) {
    const struct plan_lanes *l = run->lanes;
    const struct ir_table *first = l->stmts[0]->kind == IR_APPLY ? l->stmts[0]->table : NULL;
    struct ir_effects behind = ir_effects_none(plan->a, plan->g);
    bool writes = false;
    if (!first || !plan->tables[first->id].branches || l->registers.n ||
        !run_behind(&behind, plan->g->control, run))
        return false;
    ir_effects_add_block(&behind, plan->g->deparser);
    return may_wait(&behind, l, &writes) && writes;
}

static void sink_runs(struct plan *plan) {
    for (size_t i = 0; i < plan->runs.n; i++)
        plan->runs.v[i].last = run_may_wait(plan, &plan->runs.v[i]);
}

void plan_sunk_loops(struct plan *plan) {
    const struct ir_block *control = plan->g->control;
    bool any = false;
    sink_runs(plan);
    for (size_t i = 0; control && plan->vectorise && i < control->stmts.n; i++) {
        const struct ir_expr *guard;
        const struct ir_stmt *s = plan_application(control->stmts.v[i], &guard);
        struct plan_table *t = s ? &plan->tables[s->table->id] : NULL;
        if (!t || !t->followers || !t->loops)
            continue;
        t->last = group_may_wait(plan, s->table, i);
        any |= t->last;
    }
    if (!any)
        return;
    plan->only_sunk = ARENA_ARRAY(plan->a, bool, plan->g->vars.n + 1);
    only_last(plan, plan->only_sunk);
    plan_in_place(plan); // what is written last needs no copy
}

static void share_loaded(struct plan *plan, const struct plan_lanes *l) {
    for (size_t n = 0; l && n < l->vars.n; n++)
        if (!l->vars.v[n].varies)
            plan->vars[l->vars.v[n].of[0]->id].shared = true;
}

// What the loops load is looked at by a function of its own.
void plan_share_loaded(struct plan *plan) {
    for (size_t i = 0; i < plan->runs.n; i++)
        if (plan->runs.v[i].last)
            share_loaded(plan, plan->runs.v[i].lanes);
    for (size_t i = 0; i < plan->g->tables.n; i++)
        for (size_t k = 0; plan->tables[i].last && k <= plan->g->tables.v[i]->entries.n; k++)
            share_loaded(plan, plan->tables[i].loops[k]);
}

// SPDX-License-Identifier: Apache-2.0
//
// filled_runs: tables of numbers that are looked up one after the other.
//
// A table that has nothing but one number for each key may be filled as a whole, and is then an
// array (stages/table.h). Where a program computes by tables, it applies many of them in a row, and
// all of them are filled or none is, as a rule. So whether they are is asked once for a run of
// them, in place of once for each, and what comes after knows that each has set what it sets. A run
// is statements of a block: applications of such tables, and assignments between them. Tables of a
// run are a group, of which the pipe's state has how many are not filled, and where the numbers of
// each stand.
#include "compiler/ir/walk.h"
#include "compiler/plan/plan.h"

static bool filled_runs_is_exact(const struct ir_table *t) {
    return t->keys.n == 1 && t->keys.v[0].match == IR_MATCH_EXACT &&
           t->keys.v[0].expr->width <= PLAN_MAX_INDEX;
}

const struct ir_action *plan_only_action(const struct ir_table *t) {
    const struct ir_action *only = NULL;
    for (size_t i = 0; i < t->actions.n; i++)
        if (!t->actions.v[i].default_only) {
            if (only)
                return NULL;
            only = t->actions.v[i].action;
        }
    return only;
}

bool plan_may_be_filled(const struct plan *plan, const struct ir_table *t) {
    const struct ir_action *a = plan_only_action(t);
    return !plan->checked && t->size >= PLAN_MIN_FILLED && filled_runs_is_exact(t) && !t->proxy &&
           !t->key_masks && !t->const_entries && !t->direct_counters.n && !t->direct_registers.n &&
           !t->direct_meter && !t->idle_timeout && !t->profile && !t->noted && a &&
           a->params.n == 1 && a->params.v[0].var->width <= 32;
}

bool plan_looks_up(const struct plan *plan, const struct ir_stmt *s) {
    return s->kind == IR_APPLY && !s->hit && !s->action_run && !s->known &&
           plan_may_be_filled(plan, s->table) && !plan->tables[s->table->id].branches &&
           !plan->tables[s->table->id].followers &&
           !ir_block_has(plan_only_action(s->table)->body, IR_EXIT) &&
           !(s->table->default_action && ir_block_has(s->table->default_action->body, IR_EXIT));
}

// The table that a statement applies and nothing more, if it may be in a run; or null.
static const struct ir_table *filled_runs_member(const struct plan *plan, const struct ir_stmt *s) {
    return plan_looks_up(plan, s) && !plan->tables[s->table->id].lane_table ? s->table : NULL;
}

// How many statements from 'i' on are a run, which ends with a table; 'tables' of them are some.
static size_t filled_runs_extent(const struct plan *plan, const struct ir_block *b, size_t i,
                                 size_t *tables) {
    size_t n = 0;
    *tables = 0;
    if (!filled_runs_member(plan, b->stmts.v[i]))
        return 0;
    for (size_t k = i; k < b->stmts.n; k++) {
        const struct ir_stmt *s = b->stmts.v[k];
        const bool member = filled_runs_member(plan, s) != NULL;
        if (!member && (s->kind != IR_ASSIGN || plan_lane_run_at(plan, s)))
            break;
        if (member) {
            n = k - i + 1;
            ++*tables;
        }
    }
    return n;
}

size_t plan_filled_run(const struct plan *plan, const struct ir_block *b, size_t i) {
    size_t tables;
    const size_t n = plan->n_filled_groups ? filled_runs_extent(plan, b, i, &tables) : 0;
    if (n == 0 || tables < PLAN_MIN_FILLED_RUN)
        return 0;
    const unsigned group = plan->tables[b->stmts.v[i]->table->id].filled_group;
    for (size_t k = i; k < i + n; k++)
        if (b->stmts.v[k]->kind == IR_APPLY &&
            plan->tables[b->stmts.v[k]->table->id].filled_group != group)
            return 0;
    return group ? n : 0;
}

// Tables are of the first group that they are found in.
static void filled_runs_group(struct plan *plan, const struct ir_block *b, size_t i, size_t n) {
    for (size_t k = i; k < i + n; k++)
        if (b->stmts.v[k]->kind == IR_APPLY && plan->tables[b->stmts.v[k]->table->id].filled_group)
            return;
    plan->n_filled_groups++;
    for (size_t k = i; k < i + n; k++)
        if (b->stmts.v[k]->kind == IR_APPLY)
            plan->tables[b->stmts.v[k]->table->id].filled_group = plan->n_filled_groups;
}

static void filled_runs_find(struct plan *plan, const struct ir_block *b) {
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        size_t tables;
        const size_t n = filled_runs_extent(plan, b, i, &tables);
        if (n && tables >= PLAN_MIN_FILLED_RUN) {
            filled_runs_group(plan, b, i, n);
            i += n - 1;
            continue;
        }
        filled_runs_find(plan, s->then_b);
        filled_runs_find(plan, s->else_b);
        for (size_t k = 0; k < s->cases.n; k++)
            filled_runs_find(plan, s->cases.v[k].body);
    }
}

void plan_filled_runs(struct plan *plan) {
    if (!plan->checked)
        filled_runs_find(plan, plan->control);
}

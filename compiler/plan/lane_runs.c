// SPDX-License-Identifier: Apache-2.0
//
// lane_runs: where loops over lanes stand (lanes.h finds them): in place of the actions of a fused
// group, or of a run of statements. The registers of a loop are a bank, whose lanes are adjacent
// for one index.
#include "compiler/plan/lanes.h"

#include "compiler/ir/walk.h"

// Makes the registers of one tuple a bank, unless they are one already. False: some are in another.
static bool bank_tuple(struct plan *plan, const struct plan_lane_reg *r, unsigned n, bool make) {
    const struct plan_register *first = &plan->registers[r->of[0]->id];
    for (unsigned i = 0; i < n; i++) {
        struct plan_register *at = &plan->registers[r->of[i]->id];
        if (at->banked != first->banked ||
            (at->banked && (at->bank != first->bank || at->lane != first->lane + i)))
            return false;
    }
    if (first->banked || !make)
        return true;
    for (unsigned i = 0; i < n; i++)
        plan->registers[r->of[i]->id] =
            (struct plan_register){.banked = true, .bank = (unsigned)plan->banks.n, .lane = i};
    struct plan_bank bank = {.shape = r->of[0], .lanes = n, .of_loop = true};
    VEC_PUSH(plan->a, &plan->banks, bank);
    return true;
}

// Variables that are elements of an array from now on, if they are not yet.
static void make_array(struct plan *plan, const struct plan_lane_var *t, unsigned n) {
    if (!t->varies || !t->array || plan->places[t->of[0]->id].array)
        return;
    const struct plan_lane_array array = {t->of, n};
    VEC_PUSH(plan->a, &plan->arrays, array);
    for (unsigned i = 0; i < n; i++)
        plan->places[t->of[i]->id] = (struct plan_place){(unsigned)plan->arrays.n, i};
}

static void make_tables(struct plan *plan, const struct plan_lane_table *t, unsigned n) {
    const struct plan_lane_tables tables = {t->of, n, t->number != NULL};
    VEC_PUSH(plan->a, &plan->lane_tables, tables);
    for (unsigned i = 0; i < n; i++) {
        plan->tables[t->of[i]->id].lane_table = (unsigned)plan->lane_tables.n;
        plan->tables[t->of[i]->id].lane = i;
    }
}

// Gives lanes the places that their registers, variables and tables have as arrays.
static const struct plan_lanes *with_banks(struct plan *plan, const struct plan_lanes *l) {
    for (size_t i = 0; l && i < l->registers.n; i++)
        if (!bank_tuple(plan, &l->registers.v[i], l->count, false))
            return NULL;
    for (size_t i = 0; l && i < l->registers.n; i++)
        bank_tuple(plan, &l->registers.v[i], l->count, true);
    for (size_t i = 0; l && i < l->vars.n; i++)
        make_array(plan, &l->vars.v[i], l->count);
    for (size_t i = 0; l && i < l->tables.n; i++)
        make_tables(plan, &l->tables.v[i], l->count);
    return l;
}

// How often the group's actions and the statements after them name each variable; '*once': the
// actions are of no other tables.
static unsigned *count_inside(const struct plan *plan, const struct ir_table *const *tables,
                              unsigned n, bool *once) {
    const struct ir_gress *g = plan->g;
    unsigned *listed = ARENA_ARRAY(plan->a, unsigned, g->actions.n + 1);
    unsigned *named = ARENA_ARRAY(plan->a, unsigned, g->vars.n + 1);
    for (size_t i = 0; i < g->tables.n; i++)
        for (size_t k = 0; k < g->tables.v[i]->actions.n; k++)
            listed[g->tables.v[i]->actions.v[k].action->id]++;
    *once = true;
    for (unsigned k = 0; k < n; k++) {
        const struct plan_table *t = &plan->tables[tables[k]->id];
        for (size_t i = 0; i < tables[k]->actions.n; i++) {
            const struct ir_action *a = tables[k]->actions.v[i].action;
            bool empty = !a->body || a->body->stmts.n == 0;
            *once &= listed[a->id] == 1 || empty;
            if (!empty)
                plan_count_block(a->body, named);
        }
        for (size_t i = 0; i < t->n_tail; i++)
            plan_count_stmt(t->tail[i], named);
    }
    return named;
}

static void group_loops(struct plan *plan, const unsigned *uses, const struct ir_table *leader) {
    unsigned n = plan->tables[leader->id].followers + 1, k = 0;
    const struct ir_table **tables = ARENA_ARRAY(plan->a, const struct ir_table *, n);
    for (unsigned id = leader->id; k < n; id = plan->tables[id].next)
        tables[k++] = plan->g->tables.v[id];
    struct plan_lane_action *lanes = ARENA_ARRAY(plan->a, struct plan_lane_action, n);
    struct plan_lane_group group = {.uses = uses, .lanes = lanes, .n = n};
    group.inside = count_inside(plan, tables, n, &group.once);
    size_t positions = leader->entries.n + 1;
    const struct plan_lanes **loops = ARENA_ARRAY(plan->a, const struct plan_lanes *, positions);
    for (size_t i = 0; i < positions; i++) {
        for (k = 0; k < n; k++) {
            const struct ir_table *t = tables[k];
            const struct ir_entry *entry = i < t->entries.n ? t->entries.v[i] : NULL;
            lanes[k] = (struct plan_lane_action){
                .action = entry ? entry->action : t->default_action,
                .args = entry ? entry->args.v : t->default_args.v,
                .n_args = entry ? entry->args.n : t->default_args.n,
                .tail = plan->tables[t->id].tail,
                .n_tail = plan->tables[t->id].n_tail,
            };
        }
        loops[i] = with_banks(plan, plan_lanes_of_actions(plan, &group));
    }
    plan->tables[leader->id].loops = loops;
}

struct planner {
    struct plan *plan;
    const unsigned *uses;
    bool once;  // the block that is looked at runs once for a packet at most
    bool plain; // lanes are looked for that go on with what is in arrays by now
};

// The next statement from the i-th on that is a loop's; or the end.
static size_t next_run(const struct plan *plan, const struct ir_block *b, size_t i) {
    while (i < b->stmts.n && !plan_lane_run_at(plan, b->stmts.v[i]))
        i++;
    return i;
}

static void block_runs(struct planner *pl, const struct ir_block *b) {
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const size_t there = plan_lane_run_length(pl->plan, b->stmts.v[i]);
        if (there) {
            i += there - 1;
            continue;
        }
        struct plan_lane_run run = {.first = b->stmts.v[i]};
        const struct plan_lane_place at = {b, i, next_run(pl->plan, b, i), pl->once, pl->plain};
        run.lanes =
            with_banks(pl->plan, plan_lanes_of_block(pl->plan, pl->uses, &at, &run.n_stmts));
        if (!run.lanes)
            continue;
        VEC_PUSH(pl->plan->a, &pl->plan->runs, run);
        i += run.n_stmts - 1;
    }
}

static void runs_inside(void *aux, const struct ir_stmt *s) {
    block_runs(aux, s->then_b);
    block_runs(aux, s->else_b);
    for (size_t i = 0; i < s->cases.n; i++)
        block_runs(aux, s->cases.v[i].body);
}

static void all_runs(struct planner *pl) {
    const struct ir_gress *g = pl->plan->g;
    pl->once = true;
    block_runs(pl, g->control);
    ir_walk(g->control, runs_inside, NULL, pl);
    pl->once = false;
    for (size_t i = 0; i < g->actions.n; i++) {
        block_runs(pl, g->actions.v[i]->body);
        ir_walk(g->actions.v[i]->body, runs_inside, NULL, pl);
    }
}

void plan_lanes(struct plan *plan) {
    if (!plan->vectorise)
        return;
    const struct ir_gress *g = plan->g;
    struct planner pl = {.plan = plan, .uses = plan_count_uses(plan)};
    for (size_t i = 0; i < g->tables.n; i++)
        if (plan->tables[i].followers)
            group_loops(plan, pl.uses, g->tables.v[i]);
    all_runs(&pl);
    pl.plain = plan->arrays.n > 0;
    if (pl.plain)
        all_runs(&pl);
}

const struct plan_lane_run *plan_lane_run_at(const struct plan *plan, const struct ir_stmt *first) {
    for (size_t i = 0; i < plan->runs.n; i++)
        if (plan->runs.v[i].first == first)
            return &plan->runs.v[i];
    return NULL;
}

size_t plan_lane_run_length(const struct plan *plan, const struct ir_stmt *first) {
    const struct plan_lane_run *run = plan_lane_run_at(plan, first);
    return run ? run->n_stmts : 0;
}

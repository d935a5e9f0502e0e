// SPDX-License-Identifier: Apache-2.0
//
// plan: decisions about layout that pay in speed and change no result.
//
// In-network aggregation repeats one operation over many registers at the same index, each on its
// own header field: dozens of equal registers, often behind dozens of equal tables. Two plans bring
// the lanes together, so that the C compiler sees adjacent loads, operations and stores and makes
// vector instructions of them:
//
// - Banks. Registers of the same shape become one array whose cell i holds cell i of all of them,
//   first all first words, then all second words.
// - Fusion. Tables that are applied one after the other, under the same condition if any, with the
//   same keys and the same fixed entries are matched once; the branch then runs each table's action.
//   Assignments may stand behind each application, as a control's results become its arguments: they
//   are run behind the table's action. That is exact when nothing of all this writes a variable of
//   the condition or the keys.
//
// Hits of tables that are branches are counted in the pipe's state, once for a fused group.
#include "compiler/plan/lanes.h"

#include "compiler/ir/build.h"
#include "compiler/ir/effects.h"
#include "compiler/ir/walk.h"

#define MIN_BANK 4

// --------------------------------------------------------------------------------------------
// Banks.

static bool same_shape(const struct ir_register *a, const struct ir_register *b) {
    return !a->direct && !b->direct && a->width == b->width && a->words == b->words &&
           a->size == b->size;
}

static void plan_bank(struct emit *e, struct emit_plan *p, size_t first) {
    const struct ir_gress *g = e->g;
    const struct ir_register *r = g->registers.v[first];
    unsigned lanes = 0;
    for (size_t i = first; i < g->registers.n; i++)
        lanes += !p->registers[i].banked && same_shape(r, g->registers.v[i]);
    if (lanes < MIN_BANK)
        return;
    struct emit_bank bank = {.shape = r, .lanes = lanes};
    unsigned lane = 0;
    for (size_t i = first; i < g->registers.n; i++) {
        if (p->registers[i].banked || !same_shape(r, g->registers.v[i]))
            continue;
        p->registers[i] =
            (struct emit_register){.banked = true, .bank = (unsigned)p->banks.n, .lane = lane};
        lane++;
    }
    VEC_PUSH(e->a, &p->banks, bank);
}

// --------------------------------------------------------------------------------------------
// Which tables are branches.

// A default action that is constant or, without data, the only one there is.
static bool fixed_default(const struct ir_table *t) {
    return t->const_default || (t->actions.n == 1 && t->default_action == t->actions.v[0].action &&
                                t->default_action->params.n == 0);
}

static bool branches_suit(const struct ir_table *t) {
    if (t->profile || t->proxy || t->key_masks)
        return false;
    if (t->keys.n == 0)
        return fixed_default(t);
    if (!t->const_entries || t->entries.n > EMIT_MAX_BRANCHES || t->entries.n == 0 ||
        t->keys.n == 0)
        return false;
    for (size_t i = 0; i < t->keys.n; i++)
        if (emit_is_wide(t->keys.v[i].expr->width))
            return false;
    return true;
}

// --------------------------------------------------------------------------------------------
// Fusion.

static bool same_match(const struct ir_table *a, const struct ir_table *b) {
    if (a->keys.n != b->keys.n || a->entries.n != b->entries.n)
        return false;
    for (size_t i = 0; i < a->keys.n; i++)
        if (a->keys.v[i].match != b->keys.v[i].match ||
            !ir_same(a->keys.v[i].expr, b->keys.v[i].expr))
            return false;
    for (size_t i = 0; i < a->entries.n; i++) {
        const struct ir_entry *x = a->entries.v[i], *y = b->entries.v[i];
        if (x->priority != y->priority)
            return false;
        for (size_t k = 0; k < a->keys.n; k++)
            if (!ir_same_key(&x->keys.v[k], &y->keys.v[k]))
                return false;
    }
    return true;
}

// Does code with these effects change what 'leader' is applied for or matches on, or leave the control?
static bool changes_match(const struct ir_effects *f, const struct ir_table *leader,
                          const struct ir_expr *guard) {
    for (size_t i = 0; i < leader->keys.n; i++)
        if (ir_effects_write_expr(f, leader->keys.v[i].expr))
            return true;
    return ir_effects_write_expr(f, guard) || ir_effects_has(f, IR_EXIT);
}

// Could an action of 't' do that?
static bool disturbs(struct ir_effects *f, const struct ir_table *leader,
                     const struct ir_expr *guard, const struct ir_table *t) {
    ir_effects_clear(f);
    for (size_t i = 0; i < t->actions.n; i++)
        ir_effects_add_action(f, t->actions.v[i].action);
    ir_effects_add_action(f, t->default_action);
    return changes_match(f, leader, guard);
}

static bool fusible(const struct emit_plan *p, const struct ir_stmt *s) {
    return s->kind == IR_APPLY && !s->hit && !s->action_run && p->tables[s->table->id].branches &&
           !p->tables[s->table->id].needs_entry && p->tables[s->table->id].applied == 1 &&
           p->tables[s->table->id].fixed;
}

const struct ir_stmt *emit_application(const struct ir_stmt *s, const struct ir_expr **guard) {
    *guard = s->kind == IR_IF ? s->e : NULL;
    bool one = s->kind == IR_IF && s->then_b && s->then_b->stmts.n == 1 &&
               (!s->else_b || s->else_b->stmts.n == 0);
    if (one)
        s = s->then_b->stmts.v[0];
    return s->kind == IR_APPLY ? s : NULL;
}

static bool tail_disturbs(struct ir_effects *f, const struct ir_table *leader,
                          const struct ir_stmt *const *s, size_t n) {
    ir_effects_clear(f);
    for (size_t i = 0; i < n; i++)
        ir_effects_add_stmt(f, s[i]);
    return changes_match(f, leader, NULL);
}

// How many assignments begin at statement 'i'.
static size_t assignments(const struct ir_block *b, size_t i) {
    size_t n = 0;
    while (i + n < b->stmts.n && b->stmts.v[i + n]->kind == IR_ASSIGN)
        n++;
    return n;
}

struct fuser {
    struct emit_plan *p;
    struct ir_effects effects; // of the code that is looked at
};

// The table that statement 's' applies under 'guard' and that may follow 'leader', or null.
static const struct ir_table *follower(struct fuser *u, const struct ir_table *leader,
                                       const struct ir_expr *guard, const struct ir_stmt *s) {
    const struct ir_expr *own;
    s = emit_application(s, &own);
    return s && fusible(u->p, s) && ir_same(guard, own) && same_match(leader, s->table) &&
                   !disturbs(&u->effects, leader, guard, s->table)
               ? s->table
               : NULL;
}

static void fuse_block(struct fuser *u, const struct ir_block *b);

static void fuse_inside(void *aux, const struct ir_stmt *s) {
    if (s->then_b)
        fuse_block(aux, s->then_b);
    if (s->else_b)
        fuse_block(aux, s->else_b);
    for (size_t i = 0; i < s->cases.n; i++)
        if (s->cases.v[i].body)
            fuse_block(aux, s->cases.v[i].body);
}

static void fuse_block(struct fuser *u, const struct ir_block *b) {
    struct emit_plan *p = u->p;
    for (size_t i = 0; i < b->stmts.n; i++) {
        const struct ir_expr *guard;
        const struct ir_stmt *s = emit_application(b->stmts.v[i], &guard);
        const struct ir_table *next, *last = s ? s->table : NULL;
        if (!s || !fusible(p, s) || disturbs(&u->effects, last, guard, last))
            continue;
        struct emit_table *leader = &p->tables[last->id];
        const struct ir_stmt *const *v = (const struct ir_stmt *const *)b->stmts.v;
        const size_t tail = guard ? 0 : assignments(b, i + 1);
        if (tail_disturbs(&u->effects, last, v + i + 1, tail))
            continue;
        for (size_t k = i + 1 + tail; k < b->stmts.n; k += 1 + tail) {
            next = follower(u, s->table, guard, v[k]);
            if (!next || assignments(b, k + 1) < tail ||
                tail_disturbs(&u->effects, s->table, v + k + 1, tail))
                break;
            p->tables[last->id].next = next->id;
            p->tables[next->id].leader = s->table->id;
            p->tables[next->id].tail = v + k + 1;
            p->tables[next->id].n_tail = tail;
            leader->tail = v + i + 1;
            leader->n_tail = tail;
            leader->followers++;
            last = next;
        }
        i += leader->followers * (1 + tail);
    }
}

static void count_apply(void *aux, const struct ir_stmt *s) {
    struct emit *e = aux;
    if (s->kind == IR_APPLY)
        emit_plan_of(e)->tables[s->table->id].applied++;
}

// --------------------------------------------------------------------------------------------
// Loops.

// Makes the registers of one tuple a bank, unless they are one already. False: some are in another.
static bool bank_tuple(struct emit *e, const struct emit_lane_reg *r, unsigned n, bool make) {
    struct emit_plan *p = emit_plan_of(e);
    const struct emit_register *first = &p->registers[r->of[0]->id];
    for (unsigned i = 0; i < n; i++) {
        struct emit_register *at = &p->registers[r->of[i]->id];
        if (at->banked != first->banked ||
            (at->banked && (at->bank != first->bank || at->lane != first->lane + i)))
            return false;
    }
    if (first->banked || !make)
        return true;
    for (unsigned i = 0; i < n; i++)
        p->registers[r->of[i]->id] =
            (struct emit_register){.banked = true, .bank = (unsigned)p->banks.n, .lane = i};
    struct emit_bank bank = {.shape = r->of[0], .lanes = n};
    VEC_PUSH(e->a, &p->banks, bank);
    return true;
}

static const struct emit_lanes *with_banks(struct emit *e, const struct emit_lanes *l) {
    for (size_t i = 0; l && i < l->registers.n; i++)
        if (!bank_tuple(e, &l->registers.v[i], l->count, false))
            return NULL;
    for (size_t i = 0; l && i < l->registers.n; i++)
        bank_tuple(e, &l->registers.v[i], l->count, true);
    return l;
}

// How often the group's actions and what stands behind them name each variable; '*once': the actions
// are of no other tables.
static unsigned *count_inside(struct emit *e, const struct ir_table *const *tables, unsigned n,
                              bool *once) {
    const struct ir_gress *g = e->g;
    unsigned *listed = ARENA_ARRAY(e->a, unsigned, g->actions.n + 1);
    unsigned *named = ARENA_ARRAY(e->a, unsigned, g->vars.n + 1);
    for (size_t i = 0; i < g->tables.n; i++)
        for (size_t k = 0; k < g->tables.v[i]->actions.n; k++)
            listed[g->tables.v[i]->actions.v[k].action->id]++;
    *once = true;
    for (unsigned k = 0; k < n; k++) {
        const struct emit_table *t = &emit_plan_of(e)->tables[tables[k]->id];
        for (size_t i = 0; i < tables[k]->actions.n; i++) {
            const struct ir_action *a = tables[k]->actions.v[i].action;
            bool empty = !a->body || a->body->stmts.n == 0;
            *once &= listed[a->id] == 1 || empty;
            if (!empty)
                emit_count_block(a->body, named);
        }
        for (size_t i = 0; i < t->n_tail; i++)
            emit_count_stmt(t->tail[i], named);
    }
    return named;
}

static void plan_group(struct emit *e, const unsigned *uses, const struct ir_table *leader) {
    struct emit_plan *p = emit_plan_of(e);
    unsigned n = p->tables[leader->id].followers + 1, k = 0;
    const struct ir_table **tables = ARENA_ARRAY(e->a, const struct ir_table *, n);
    for (unsigned id = leader->id; k < n; id = p->tables[id].next)
        tables[k++] = e->g->tables.v[id];
    struct emit_lane_action *lanes = ARENA_ARRAY(e->a, struct emit_lane_action, n);
    struct emit_lane_group group = {.uses = uses, .lanes = lanes, .n = n};
    group.inside = count_inside(e, tables, n, &group.once);
    size_t positions = leader->entries.n + 1;
    const struct emit_lanes **loops = ARENA_ARRAY(e->a, const struct emit_lanes *, positions);
    for (size_t i = 0; i < positions; i++) {
        for (k = 0; k < n; k++) {
            const struct ir_table *t = tables[k];
            const struct ir_entry *entry = i < t->entries.n ? t->entries.v[i] : NULL;
            lanes[k] = (struct emit_lane_action){
                .action = entry ? entry->action : t->default_action,
                .args = entry ? entry->args.v : t->default_args.v,
                .n_args = entry ? entry->args.n : t->default_args.n,
                .tail = p->tables[t->id].tail,
                .n_tail = p->tables[t->id].n_tail,
            };
        }
        loops[i] = with_banks(e, emit_lanes_of_actions(e, &group));
    }
    p->tables[leader->id].loops = loops;
}

struct planner {
    struct emit *e;
    const unsigned *uses;
    bool once; // the block that is looked at runs once for a packet at most
};

static void plan_runs(struct planner *pl, const struct ir_block *b) {
    struct emit_plan *p = emit_plan_of(pl->e);
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        struct emit_lane_run run = {.first = b->stmts.v[i]};
        run.lanes =
            with_banks(pl->e, emit_lanes_of_block(pl->e, pl->uses, b, i, pl->once, &run.n_stmts));
        if (!run.lanes)
            continue;
        VEC_PUSH(pl->e->a, &p->runs, run);
        i += run.n_stmts - 1;
    }
}

static void plan_inside(void *aux, const struct ir_stmt *s) {
    plan_runs(aux, s->then_b);
    plan_runs(aux, s->else_b);
    for (size_t i = 0; i < s->cases.n; i++)
        plan_runs(aux, s->cases.v[i].body);
}

static void plan_loops(struct emit *e) {
    const struct ir_gress *g = e->g;
    struct planner pl = {e, emit_count_uses(e), true};
    for (size_t i = 0; i < g->tables.n; i++)
        if (emit_plan_of(e)->tables[i].followers)
            plan_group(e, pl.uses, g->tables.v[i]);
    plan_runs(&pl, g->control);
    ir_walk(g->control, plan_inside, NULL, &pl);
    pl.once = false;
    for (size_t i = 0; i < g->actions.n; i++) {
        plan_runs(&pl, g->actions.v[i]->body);
        ir_walk(g->actions.v[i]->body, plan_inside, NULL, &pl);
    }
}

// --------------------------------------------------------------------------------------------

struct emit_plan *emit_plan_of(struct emit *e) {
    return &e->plans[e->g->kind];
}

void emit_make_plan(struct emit *e) {
    const struct ir_gress *g = e->g;
    struct emit_plan *p = emit_plan_of(e);
    *p = (struct emit_plan){
        .registers = ARENA_ARRAY(e->a, struct emit_register, g->registers.n + 1),
        .tables = ARENA_ARRAY(e->a, struct emit_table, g->tables.n + 1),
    };
    emit_plan_homes(e);
    for (size_t i = 0; i < g->tables.n; i++) {
        const struct ir_table *t = g->tables.v[i];
        p->tables[i].branches = !e->checked && branches_suit(t);
        p->tables[i].fixed = fixed_default(t);
        p->tables[i].needs_entry = t->direct_counters.n || t->direct_registers.n || t->direct_meter;
        p->tables[i].leader = p->tables[i].next = (unsigned)i;
    }
    ir_walk(g->control, count_apply, NULL, e);
    struct fuser fuser = {p, ir_effects_none(e->a, g)};
    fuse_block(&fuser, g->control);
    ir_walk(g->control, fuse_inside, NULL, &fuser);
    if (!e->vectorise) {
        if (e->checked) // the scalar build is what speed is compared with: each register lies by itself
            emit_plan_rows(e);
        return;
    }
    plan_loops(e);
    emit_plan_last(e);
    emit_plan_homes(e); // what is written last needs no copy
    for (size_t i = 0; i < g->registers.n; i++)
        if (!g->registers.v[i]->direct && !p->registers[i].banked)
            plan_bank(e, p, i);
    emit_plan_rows(e);
}

const struct emit_lane_run *emit_lane_run_at(struct emit *e, const struct ir_stmt *first) {
    const struct emit_plan *p = emit_plan_of(e);
    for (size_t i = 0; !e->lanes && i < p->runs.n; i++)
        if (p->runs.v[i].first == first)
            return &p->runs.v[i];
    return NULL;
}

size_t emit_lane_run_length(struct emit *e, const struct ir_stmt *first) {
    const struct emit_lane_run *run = emit_lane_run_at(e, first);
    return run ? run->n_stmts : 0;
}

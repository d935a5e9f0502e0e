// SPDX-License-Identifier: Apache-2.0
//
// fusion: entries that become branches, and tables that are matched once.
//
// In-network aggregation repeats one operation over many registers at the same index, each on its
// own header field: dozens of equal registers, often after dozens of equal tables. Tables that are
// applied one after the other, under the same condition if any, with the same keys and the same
// fixed entries are matched once; the branch then runs each table's action. Assignments may follow
// each application, as a control's results become its arguments: they are run after the table's
// action. That is exact when nothing of all this writes a variable of the condition or the keys.
//
// Hits of tables that are branches are counted in the pipe's state, once for a fused group.
#include "compiler/plan/plan.h"

#include "compiler/ir/build.h"
#include "compiler/ir/effects.h"
#include "compiler/ir/walk.h"

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
    if (!t->const_entries || t->entries.n > PLAN_MAX_BRANCHES || t->entries.n == 0 ||
        t->keys.n == 0)
        return false;
    for (size_t i = 0; i < t->keys.n; i++)
        if (plan_is_wide(t->keys.v[i].expr->width))
            return false;
    return true;
}

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

// Does code with these effects change what 'leader' is applied for or matches on, or leave the
// control?
static bool changes_match(const struct ir_effects *f, const struct ir_table *leader,
                          const struct ir_expr *guard) {
    for (size_t i = 0; i < leader->keys.n; i++)
        if (ir_effects_write_expr(f, leader->keys.v[i].expr))
            return true;
    return ir_effects_write_expr(f, guard) || ir_effects_has(f, IR_EXIT);
}

// Could an action of 't' do that?
static bool plan_fusion_disturbs(struct ir_effects *f, const struct ir_table *leader,
                                 const struct ir_expr *guard, const struct ir_table *t) {
    ir_effects_clear(f);
    for (size_t i = 0; i < t->actions.n; i++)
        ir_effects_add_action(f, t->actions.v[i].action);
    ir_effects_add_action(f, t->default_action);
    return changes_match(f, leader, guard);
}

static bool fusible(const struct plan *p, const struct ir_stmt *s) {
    return s->kind == IR_APPLY && !s->hit && !s->action_run && p->tables[s->table->id].branches &&
           !p->tables[s->table->id].needs_entry && p->tables[s->table->id].applied == 1 &&
           p->tables[s->table->id].fixed;
}

const struct ir_stmt *plan_application(const struct ir_stmt *s, const struct ir_expr **guard) {
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
    struct plan *p;
    struct ir_effects effects; // of the code that is looked at
};

// The table that statement 's' applies under 'guard' and that may follow 'leader', or null.
static const struct ir_table *follower(struct fuser *u, const struct ir_table *leader,
                                       const struct ir_expr *guard, const struct ir_stmt *s) {
    const struct ir_expr *own;
    s = plan_application(s, &own);
    return s && fusible(u->p, s) && ir_same(guard, own) && same_match(leader, s->table) &&
                   !plan_fusion_disturbs(&u->effects, leader, guard, s->table)
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
    struct plan *p = u->p;
    for (size_t i = 0; i < b->stmts.n; i++) {
        const struct ir_expr *guard;
        const struct ir_stmt *s = plan_application(b->stmts.v[i], &guard);
        const struct ir_table *next, *last = s ? s->table : NULL;
        if (!s || !fusible(p, s) || plan_fusion_disturbs(&u->effects, last, guard, last))
            continue;
        struct plan_table *leader = &p->tables[last->id];
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
    struct plan *plan = aux;
    if (s->kind == IR_APPLY)
        plan->tables[s->table->id].applied++;
}

void plan_branches(struct plan *plan) {
    const struct ir_gress *g = plan->g;
    plan->tables = ARENA_ARRAY(plan->a, struct plan_table, g->tables.n + 1);
    for (size_t i = 0; i < g->tables.n; i++) {
        const struct ir_table *t = g->tables.v[i];
        plan->tables[i] = (struct plan_table){
            .branches = !plan->checked && branches_suit(t),
            .fixed = fixed_default(t),
            .needs_entry = t->direct_counters.n || t->direct_registers.n || t->direct_meter,
            .leader = (unsigned)i,
            .next = (unsigned)i,
        };
    }
    ir_walk(g->control, count_apply, NULL, plan);
}

void plan_fusion(struct plan *plan) {
    struct fuser fuser = {plan, ir_effects_none(plan->a, plan->g)};
    fuse_block(&fuser, plan->g->control);
    ir_walk(plan->g->control, fuse_inside, NULL, &fuser);
}

const struct ir_table *plan_next_of_group(const struct plan *plan, const struct ir_table *t) {
    const unsigned next = plan->tables[t->id].next;
    return next == t->id ? NULL : plan->g->tables.v[next];
}

const struct ir_action *plan_action_at(const struct ir_table *t, size_t position) {
    return position < t->entries.n ? t->entries.v[position]->action : t->default_action;
}

size_t plan_together(const struct plan *plan, const struct ir_stmt *s) {
    const struct ir_expr *guard;
    const struct ir_stmt *apply = plan_application(s, &guard);
    const struct plan_table *t = apply ? &plan->tables[apply->table->id] : NULL;
    const size_t run = plan_lane_run_length(plan, s);
    if (run)
        return run;
    return t && t->followers ? (t->followers + 1) * (1 + t->n_tail) : 1;
}

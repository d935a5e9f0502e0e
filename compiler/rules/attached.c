// SPDX-License-Identifier: Apache-2.0
//
// attached: what of counters and meters one table can have (tna-facts 6.1).
//
// A table's entry has one address for counters and one for meters, filters and registers. So a
// counter of the table's entries leaves no room for one with an index; several with an index are
// used by the same actions at the same index; and a table with a meter or filter has no register.
#include "compiler/ir/build.h"
#include "compiler/ir/walk.h"
#include "compiler/rules/rules.h"

// An object with an index that an action uses.
struct used {
    const void *thing; // null: none
    const char *name;
    const struct ir_expr *index;
    struct loc at;
};

typedef VEC(struct used) used_vec;

struct attached {
    struct arena *a;
    struct diag *d;
};

struct uses {
    const struct attached *x;
    used_vec counters, meters, registers;
};

static void rules_attached_push(struct uses *u, used_vec *v, const void *thing, const char *name,
                                const struct ir_stmt *s) {
    for (size_t i = 0; i < v->n; i++)
        if (v->v[i].thing == thing)
            return;
    VEC_PUSH(u->x->a, v, ((struct used){thing, name, s->e, s->at}));
}

static void rules_attached_use_stmt(void *ctx, struct ir_stmt *s) {
    struct uses *u = ctx;
    const struct ir_register *r = s->regaction ? s->regaction->reg : s->reg;
    if (s->counter && !s->counter->direct)
        rules_attached_push(u, &u->counters, s->counter, s->counter->name, s);
    if (s->meter && !s->meter->direct)
        rules_attached_push(u, &u->meters, s->meter, s->meter->name, s);
    if (r && !r->direct)
        rules_attached_push(u, &u->registers, r, r->name, s);
}

static struct uses uses_of(const struct attached *x, const struct ir_action *a) {
    struct uses u = {.x = x};
    ir_visit_block(
        &(struct ir_visitor){.ctx = &u, .stmt = rules_attached_use_stmt, .shallow = true}, a->body);
    return u;
}

static const struct used *rules_attached_find(const used_vec *v, const void *thing) {
    for (size_t i = 0; i < v->n; i++)
        if (v->v[i].thing == thing)
            return &v->v[i];
    return NULL;
}

// Are the indices known to be different ones? Those that are computed before the use may be the
// same though they do not look it.
static bool rules_attached_differ(const struct ir_expr *x, const struct ir_expr *y) {
    while (x && x->op == IR_ZEXT)
        x = x->a;
    while (y && y->op == IR_ZEXT)
        y = y->a;
    if (!x || !y)
        return x != y;
    bool plain_x = ir_is_const(x) || (x->op == IR_VAR && x->var->header);
    bool plain_y = ir_is_const(y) || (y->op == IR_VAR && y->var->header);
    return plain_x && plain_y && !ir_same(x, y);
}

// Actions that use the same objects at the same index: 'all' are those of the actions before.
static bool rules_attached_agree(const struct attached *x, const struct ir_table *t,
                                 const struct ir_action *a, const used_vec *mine,
                                 const used_vec *all) {
    for (size_t i = 0; mine->n && i < all->n; i++) {
        const struct used *other = rules_attached_find(mine, all->v[i].thing);
        if (!other) {
            diag_error(
                x->d, mine->v[0].at,
                "action '%s' of table '%s' uses '%s' and not '%s', but another action uses it; a "
                "table has one address for them, so an action that uses one must use all",
                a->name, t->name, mine->v[0].name, all->v[i].name);
            return false;
        }
        if (rules_attached_differ(other->index, mine->v[0].index)) {
            diag_error(x->d, other->at,
                       "action '%s' of table '%s' uses '%s' and '%s' at different indices; a "
                       "table has one address for them",
                       a->name, t->name, mine->v[0].name, other->name);
            return false;
        }
    }
    return true;
}

static bool all_agree(const struct attached *x, const struct ir_table *t, bool meters) {
    used_vec all = {0};
    for (size_t i = 0; i < t->actions.n; i++) {
        struct uses u = uses_of(x, t->actions.v[i].action);
        const used_vec *mine = meters ? &u.meters : &u.counters;
        for (size_t k = 0; k < mine->n; k++)
            if (!rules_attached_find(&all, mine->v[k].thing))
                VEC_PUSH(x->a, &all, mine->v[k]);
    }
    for (size_t i = 0; all.n > 1 && i < t->actions.n; i++) {
        struct uses u = uses_of(x, t->actions.v[i].action);
        if (!rules_attached_agree(x, t, t->actions.v[i].action, meters ? &u.meters : &u.counters,
                                  &all))
            return false;
    }
    return true;
}

static bool mixed(const struct attached *x, const struct ir_table *t, const char *own,
                  const struct used *other) {
    diag_error(x->d, other->at,
               "table '%s' has '%s', and its action uses '%s'; a table has one address for them, "
               "so put one into a table of its own",
               t->name, own, other->name);
    return true;
}

// Says what an action uses besides what the entries of its table have, or besides a meter.
static bool said_mixed(const struct attached *x, const struct ir_table *t,
                       const struct ir_action *a, const struct used *meter) {
    struct uses u = uses_of(x, a);
    if (t->direct_counters.n && u.counters.n)
        return mixed(x, t, t->direct_counters.v[0]->name, &u.counters.v[0]);
    if (t->direct_meter && u.meters.n)
        return mixed(x, t, t->direct_meter->name, &u.meters.v[0]);
    if (t->direct_registers.n && u.meters.n)
        return mixed(x, t, t->direct_registers.v[0]->name, &u.meters.v[0]);
    if ((t->direct_meter || meter->thing) && u.registers.n)
        return mixed(x, t, t->direct_meter ? t->direct_meter->name : meter->name,
                     &u.registers.v[0]);
    return false;
}

static void rules_attached_check_table(const struct attached *x, const struct ir_table *t) {
    struct used meter = {0};
    for (size_t i = 0; i < t->actions.n && !meter.thing; i++) {
        struct uses u = uses_of(x, t->actions.v[i].action);
        if (u.meters.n)
            meter = u.meters.v[0];
    }
    for (size_t i = 0; i < t->actions.n; i++)
        if (said_mixed(x, t, t->actions.v[i].action, &meter))
            return;
    if (all_agree(x, t, false))
        all_agree(x, t, true);
}

void check_attached(struct arena *a, struct diag *d, const struct ir_gress *g) {
    const struct attached x = {a, d};
    for (size_t i = 0; i < g->tables.n; i++)
        rules_attached_check_table(&x, g->tables.v[i]);
}

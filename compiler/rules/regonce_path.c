// SPDX-License-Identifier: Apache-2.0
//
// regonce_path: pairs of accesses in words, with the way from the first to the second.
#include "compiler/rules/regonce_impl.h"

#include <string.h>

const char *access_place(struct arena *a, const struct access *x) {
    if (!x->table)
        return "";
    if (!x->action)
        return x->thing ? arena_printf(a, ", where table '%s' chooses a member", x->table->name)
                        : arena_printf(a, ", where table '%s' is applied", x->table->name);
    return arena_printf(a, ", in action '%s' of table '%s'", x->action->name, x->table->name);
}

static bool same_way(struct way x, struct way y) {
    return x.kind == y.kind && x.stmt == y.stmt && x.index == y.index;
}

static size_t ways_n(const struct way_list *l) {
    return l ? l->n : 0;
}

// The first 'n'.
static const struct way_list *ways_first(const struct way_list *l, size_t n) {
    while (ways_n(l) > n)
        l = l->older;
    return l;
}

// As far as both go.
static bool same_ways(const struct access *x, const struct access *y) {
    const struct way_list *v = ways_first(x->ways, ways_n(y->ways));
    const struct way_list *w = ways_first(y->ways, ways_n(x->ways));
    for (; v != w; v = v->older, w = w->older)
        if (v->way.kind == WAY_ACTION && v->way.stmt != w->way.stmt)
            return false;
    return true;
}

// How many first ways are the same.
static size_t common_ways(const struct access *x, const struct access *y) {
    const struct way_list *v = ways_first(x->ways, ways_n(y->ways));
    const struct way_list *w = ways_first(y->ways, ways_n(x->ways));
    size_t common = ways_n(v);
    for (; v != w; v = v->older, w = w->older)
        if (!same_way(v->way, w->way))
            common = v->n - 1;
    return common;
}

// One pair for the same two places, reached through the same tables.
static bool regonce_path_is_known(const struct check *c, const struct access *first,
                                  const struct access *second) {
    for (size_t i = 0; i < c->firsts.n; i++) {
        const struct access *x = c->firsts.v[i], *y = c->seconds.v[i];
        if (x->stmt == first->stmt && y->stmt == second->stmt && x->table == first->table &&
            y->table == second->table && x->action == first->action &&
            y->action == second->action && same_ways(x, first) && same_ways(y, second))
            return true;
    }
    return false;
}

// ---- steps --------------------------------------------------------------------------------------

#define MAX_VALUES 4u      // of a case, in words
#define MAX_STEPS  100000u // of all pairs together

struct steps {
    struct check *c;
    struct regonce_pair *pair;
    const struct ir_application *within; // of the step before
};

static void regonce_path_step(struct steps *s, struct loc at, const char *text) {
    struct regonce_step x = {.at = at, .text = text};
    VEC_PUSH(s->c->a, &s->pair->steps, x);
}

static bool is_part(const struct ir_application *of, const struct ir_application *x) {
    for (; of; of = of->up)
        if (of == x)
            return true;
    return false;
}

static void regonce_path_enter(struct steps *s, const struct ir_application *x) {
    if (!x || is_part(s->within, x))
        return;
    regonce_path_enter(s, x->up);
    regonce_path_step(s, x->at, "in the control that is applied here");
}

static void into(struct steps *s, const struct ir_stmt *stmt) {
    regonce_path_enter(s, stmt->within);
    s->within = stmt->within;
}

static const char *asked(struct arena *a, const struct ir_stmt *s) {
    return s->text ? s->text : ir_source_text(a, s->e);
}

// The table whose action a switch asks for; null: it asks for something else.
static const struct ir_table *asks_action(const struct check *c, const struct ir_stmt *s) {
    for (size_t i = 0; i < c->applies.n; i++)
        if (s->e->op == IR_VAR && c->applies.v[i]->action_run == s->e->var)
            return c->applies.v[i]->table;
    return NULL;
}

static const char *value_text(struct arena *a, const struct ir_table *t, big value) {
    uint64_t v = big_fits_u64(value) ? big_to_u64(value) : UINT64_MAX;
    if (t && v < t->actions.n)
        return arena_printf(a, "'%s'", t->actions.v[v].action->name);
    return big_str(a, value, 10);
}

static const char *case_text(struct steps *s, const struct way *w) {
    const struct ir_table *t = asks_action(s->c, w->stmt);
    struct arena *a = s->c->a;
    const char *what = t ? arena_printf(a, "the action that table '%s' ran", t->name)
                         : arena_printf(a, "'%s'", asked(a, w->stmt));
    if (w->index >= w->stmt->cases.n)
        return arena_printf(a, "%s matches none of the other cases", what);
    const struct ir_case *k = &w->stmt->cases.v[w->index];
    const char *text = arena_printf(a, "%s is ", what);
    for (size_t i = 0; i < k->values.n && i < MAX_VALUES; i++)
        text = arena_printf(a, "%s%s%s", text, i ? " or " : "", value_text(a, t, k->values.v[i]));
    return k->values.n > MAX_VALUES ? arena_printf(a, "%s or...", text) : text;
}

static struct loc case_place(const struct way *w) {
    if (w->index < w->stmt->cases.n && w->stmt->cases.v[w->index].body->stmts.n > 0)
        return w->stmt->cases.v[w->index].body->stmts.v[0]->at;
    return w->stmt->at;
}

static void regonce_path_choice(struct steps *s, const struct way *w) {
    struct arena *a = s->c->a;
    into(s, w->stmt);
    switch (w->kind) {
    case WAY_TRUE:
    case WAY_FALSE:
        regonce_path_step(s, w->stmt->at,
                          arena_printf(a, "the condition '%s' %s", asked(a, w->stmt),
                                       w->kind == WAY_TRUE ? "holds" : "does not hold"));
        return;
    case WAY_CASE:
        regonce_path_step(s, case_place(w), case_text(s, w));
        return;
    case WAY_ACTION:
        regonce_path_step(s, w->stmt->at,
                          arena_printf(a, "table '%s' runs action '%s'", w->stmt->table->name,
                                       w->stmt->table->actions.v[w->index].action->name));
        return;
    }
}

static void regonce_path_arrive(struct steps *s, const struct access *x, const char *what) {
    into(s, x->stmt);
    regonce_path_step(
        s, x->stmt->at,
        x->profile ? arena_printf(s->c->a, "table '%s' is hit %s", x->table->name, what)
                   : arena_printf(s->c->a, "%s '%s' is accessed %s", x->kind, x->name, what));
}

static void choices(struct steps *s, const struct way_list *l, size_t from) {
    const size_t n = ways_n(l);
    const struct way **ways = ARENA_ARRAY(s->c->a, const struct way *, n + 1);
    for (; l; l = l->older)
        ways[l->n - 1] = &l->way;
    for (size_t i = from; i < n; i++)
        regonce_path_choice(s, ways[i]);
}

// Without its steps.
struct regonce_pair regonce_pair_of(struct arena *a, const struct access *first,
                                    const struct access *second) {
    const size_t common = common_ways(first, second);
    return (struct regonce_pair){
        .kind = second->kind,
        .name = second->name,
        .first = first->stmt,
        .second = second->stmt,
        .first_place = access_place(a, first),
        .second_place = access_place(a, second),
        .straight = common == ways_n(first->ways) && common == ways_n(second->ways),
        .one_action = first->action && first->action == second->action,
    };
}

bool regonce_is_taken(const struct regonce_pair *p) {
    const struct ir_stmt *x = p->first, *y = p->second;
    const bool executes = x->kind == IR_REG_EXEC || y->kind == IR_REG_EXEC;
    const bool accesses = x->kind != IR_APPLY && y->kind != IR_APPLY;
    const bool called_once = x->action_call && x->action_call == y->action_call;
    return executes && accesses && strcmp(p->kind, "register") == 0 && !p->one_action &&
           !called_once;
}

void meet_pair(struct check *c, const struct access *first, const struct access *second) {
    if (c->pairs->more || regonce_path_is_known(c, first, second))
        return;
    const size_t n_first = ways_n(first->ways), n_second = ways_n(second->ways);
    c->n_steps += n_first + n_second;
    if (c->firsts.n == REGONCE_MAX_PAIRS || (c->firsts.n > 0 && c->n_steps > MAX_STEPS)) {
        c->pairs->more = true;
        return;
    }
    VEC_PUSH(c->a, &c->firsts, first);
    VEC_PUSH(c->a, &c->seconds, second);
    struct regonce_pair pair = regonce_pair_of(c->a, first, second);
    struct steps s = {.c = c, .pair = &pair};
    const size_t common = common_ways(first, second);
    choices(&s, first->ways, 0);
    regonce_path_arrive(&s, first, "first");
    choices(&s, second->ways, common);
    regonce_path_arrive(&s, second, "again");
    VEC_PUSH(c->a, &c->pairs->list, pair);
}

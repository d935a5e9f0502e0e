// SPDX-License-Identifier: Apache-2.0
//
// regonce_path: pairs of accesses in words, with the way from the first to the second.
#include "compiler/rules/regonce_impl.h"

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

static bool same_ways(const struct access *x, const struct access *y) {
    for (size_t i = 0; i < x->n_ways && i < y->n_ways; i++)
        if (x->ways[i].kind == WAY_ACTION && x->ways[i].stmt != y->ways[i].stmt)
            return false;
    return true;
}

// One pair for the same two places, reached through the same tables.
static bool is_known(const struct check *c, const struct access *first,
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

#define MAX_VALUES 4u // of a case, in words

struct steps {
    struct check *c;
    struct regonce_pair *pair;
    const struct ir_application *within; // of the step before
};

static void step(struct steps *s, struct loc at, const char *text) {
    struct regonce_step x = {.at = at, .text = text};
    VEC_PUSH(s->c->a, &s->pair->steps, x);
}

static bool is_part(const struct ir_application *of, const struct ir_application *x) {
    for (; of; of = of->up)
        if (of == x)
            return true;
    return false;
}

static void enter(struct steps *s, const struct ir_application *x) {
    if (!x || is_part(s->within, x))
        return;
    enter(s, x->up);
    step(s, x->at, "in the control that is applied here");
}

static void into(struct steps *s, const struct ir_stmt *stmt) {
    enter(s, stmt->within);
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
        return arena_printf(a, "%s is none of the other cases", what);
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

static void choice(struct steps *s, const struct way *w) {
    struct arena *a = s->c->a;
    into(s, w->stmt);
    switch (w->kind) {
    case WAY_TRUE:
    case WAY_FALSE:
        step(s, w->stmt->at,
             arena_printf(a, "the condition '%s' %s", asked(a, w->stmt),
                          w->kind == WAY_TRUE ? "holds" : "does not hold"));
        return;
    case WAY_CASE:
        step(s, case_place(w), case_text(s, w));
        return;
    case WAY_ACTION:
        step(s, w->stmt->at,
             arena_printf(a, "table '%s' runs action '%s'", w->stmt->table->name,
                          w->stmt->table->actions.v[w->index].action->name));
        return;
    }
}

static void arrive(struct steps *s, const struct access *x, const char *what) {
    into(s, x->stmt);
    step(s, x->stmt->at,
         x->profile ? arena_printf(s->c->a, "table '%s' is hit %s", x->table->name, what)
                    : arena_printf(s->c->a, "%s '%s' is accessed %s", x->kind, x->name, what));
}

void meet_pair(struct check *c, const struct access *first, const struct access *second) {
    if (is_known(c, first, second))
        return;
    if (c->firsts.n == REGONCE_MAX_PAIRS) {
        c->pairs->more = true;
        return;
    }
    VEC_PUSH(c->a, &c->firsts, first);
    VEC_PUSH(c->a, &c->seconds, second);
    struct regonce_pair pair = {
        .kind = second->kind,
        .name = second->name,
        .first = first->stmt,
        .second = second->stmt,
        .first_place = access_place(c->a, first),
        .second_place = access_place(c->a, second),
    };
    struct steps s = {.c = c, .pair = &pair};
    size_t common = 0;
    while (common < first->n_ways && common < second->n_ways &&
           same_way(first->ways[common], second->ways[common]))
        common++;
    pair.straight = common == first->n_ways && common == second->n_ways;
    for (size_t i = 0; i < first->n_ways; i++)
        choice(&s, &first->ways[i]);
    arrive(&s, first, "first");
    for (size_t i = common; i < second->n_ways; i++)
        choice(&s, &second->ways[i]);
    arrive(&s, second, "again");
    VEC_PUSH(c->a, &c->pairs->list, pair);
}

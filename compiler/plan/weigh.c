// SPDX-License-Identifier: Apache-2.0
//
// weigh: how much C is printed for a block of statements, those of what is inlined with them, in
// statements. It decides how often a control is printed: for ways through the parser
// (parse_paths.c), and for values of a variable (specialise.c).
#include "compiler/ir/effects.h"
#include "compiler/ir/walk.h"
#include "compiler/plan/plan.h"

// ---- what is written ----

struct each_written {
    void (*fn)(void *aux, const struct ir_var *v);
    void *aux;
};

static void weigh_written(void *aux, const struct ir_stmt *s) {
    const struct each_written *const each = aux;
    ir_each_written(s, each->fn, each->aux);
    if (s->regaction)
        ir_walk(s->regaction->body, weigh_written, NULL, aux);
    if (s->regaction && s->regaction->reg->overflow)
        ir_walk(s->regaction->reg->overflow->body, weigh_written, NULL, aux);
    if (s->regaction && s->regaction->reg->underflow)
        ir_walk(s->regaction->reg->underflow->body, weigh_written, NULL, aux);
    if (!s->table)
        return;
    const struct ir_table *t = s->table;
    for (size_t i = 0; i < t->actions.n; i++)
        ir_walk(t->actions.v[i].action->body, weigh_written, NULL, aux);
    ir_walk(t->default_action->body, weigh_written, NULL, aux);
    for (size_t i = 0; t->profile && i < t->profile->actions.n; i++)
        ir_walk(t->profile->actions.v[i].action->body, weigh_written, NULL, aux);
    ir_walk(t->select, weigh_written, NULL, aux);
}

void plan_each_written(const struct ir_block *b, void (*fn)(void *aux, const struct ir_var *v),
                       void *aux) {
    struct each_written each = {fn, aux};
    ir_walk(b, weigh_written, NULL, &each);
}

// ---- weights ----

struct weigh {
    const struct plan *plan;
    const struct plan_fact *facts; // what is known where the weighing is; null: nothing
};

static void weigh_forget(void *aux, const struct ir_var *v) {
    struct weigh *const w = aux;
    const struct plan_fact *f = w->facts;
    while (f && f->var != v)
        f = f->more;
    if (!f || !f->value)
        return;
    struct plan_fact *nothing = ARENA_NEW(w->plan->a, struct plan_fact);
    *nothing = (struct plan_fact){.var = v, .more = w->facts};
    w->facts = nothing;
}

// What the statements may write is not known after them.
static void weigh_after(struct weigh *w, struct ir_stmt *const *s, size_t n) {
    for (size_t i = 0; i < n && w->facts; i++) {
        const struct ir_block one = {.stmts = {.v = (struct ir_stmt **)s + i, .n = 1}};
        const int known = s[i]->kind == IR_IF ? plan_known(w->facts, s[i]->e) : -1;
        const struct ir_block *b = known == 1 ? s[i]->then_b : known == 0 ? s[i]->else_b : NULL;
        if (b)
            weigh_after(w, b->stmts.v, b->stmts.n);
        else if (known < 0)
            plan_each_written(&one, weigh_forget, w);
    }
}

// What is known before it is known in it; what it changes is forgotten by the caller.
static unsigned weigh_block(struct weigh w, const struct ir_block *b);

static unsigned weigh_table(struct weigh w, const struct ir_table *t,
                            const struct ir_known_match *known) {
    const struct plan_table *planned = &w.plan->tables[t->id];
    unsigned all = 2;
    for (size_t i = 0; i < t->entries.n && planned->branches; i++)
        if ((!known || known->may_match[i]) && plan_may_match(w.plan, w.facts, t, t->entries.v[i]))
            all += 3 + (planned->loops ? 8 : weigh_block(w, t->entries.v[i]->action->body));
    if (!planned->branches)
        for (size_t i = 0; i < t->actions.n; i++)
            all += 2 + weigh_block(w, t->actions.v[i].action->body);
    return all + weigh_block(w, t->default_action->body);
}

// The case that is taken, if that is known; else all of them.
static unsigned weigh_cases(struct weigh w, const struct ir_stmt *s) {
    unsigned all = 0, others = 0;
    for (size_t i = 0; i < s->cases.n; i++) {
        const struct ir_case *c = &s->cases.v[i];
        int taken = c->values.n ? 0 : -1;
        for (size_t k = 0; k < c->values.n && taken != 1; k++) {
            const struct ir_expr value = {.op = IR_CONST, .value = (big)c->values.v[k]};
            const struct ir_expr is = {.op = IR_EQ, .a = s->e, .b = (struct ir_expr *)&value};
            const int one = plan_known(w.facts, &is);
            taken = one != 0 ? one : taken;
        }
        if (taken == 1)
            return 1 + weigh_block(w, c->body);
        if (c->values.n == 0)
            others = 1 + weigh_block(w, c->body);
        else if (taken == -1)
            all += 1 + weigh_block(w, c->body);
    }
    return all + others;
}

// Notes weigh nothing: they are no reason to print less.
static unsigned weigh_stmt(struct weigh w, const struct ir_stmt *s) {
    const int known = s->kind == IR_IF ? plan_known(w.facts, s->e) : -1;
    unsigned all = (s->kind != IR_NOTE) + (known != 0 ? weigh_block(w, s->then_b) : 0) +
                   (known != 1 ? weigh_block(w, s->else_b) : 0) + weigh_cases(w, s);
    if (s->kind == IR_APPLY)
        all += weigh_table(w, s->table, s->known);
    if (s->kind == IR_REG_EXEC && s->regaction)
        all += 2 + weigh_block(w, s->regaction->body);
    return all;
}

// What becomes a loop over lanes is printed once.
static unsigned weigh_block(struct weigh w, const struct ir_block *b) {
    unsigned all = 0;
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        const struct ir_expr *guard;
        const struct ir_stmt *apply = plan_application(s, &guard);
        const struct plan_table *t = apply ? &w.plan->tables[apply->table->id] : NULL;
        size_t run = plan_lane_run_length(w.plan, s), more = 0;
        all += weigh_stmt(w, s);
        if (run)
            more = run - 1;
        else if (t && t->followers && t->loops)
            more = t->followers + (t->followers + 1) * t->n_tail;
        weigh_after(&w, b->stmts.v + i, 1 + more);
        i += more;
    }
    return all;
}

unsigned plan_weigh(const struct plan *plan, const struct ir_block *b) {
    return weigh_block((struct weigh){plan, NULL}, b);
}

unsigned plan_weigh_known(const struct plan *plan, const struct ir_block *b,
                          const struct plan_fact *facts) {
    return weigh_block((struct weigh){plan, facts}, b);
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

// SPDX-License-Identifier: Apache-2.0
//
// specialise: the rest of a control, once for each value of the variable that decides it.
//
// A program says early what a packet is, in a variable of a few values, and asks for that variable in nearly
// all that follows: in the keys of tables whose entries the program has itself, and in conditions. Where the
// variable has been written for the last time, the control is therefore split: what comes behind is printed
// for each value that is asked for, with the entries and branches that the value leaves, and for all other
// values. Each of these rests is a function, in which the next such variable may be found.
//
// Nothing else changes: statements run in their order, each once. Behind a rest stands what ends a packet of
// which nothing leaves (compiler/print/entry.c), so that this is known there, too.
#include "compiler/ir/effects.h"
#include "compiler/plan/plan.h"

#define MIN_USES   3  // places behind the split that ask for the variable
#define MAX_VALUES 10 // of a variable
#define MAX_RESTS  48 // functions of a control
#define MAX_DEPTH  3

static const struct emit_fact *fact_of(const struct emit_fact *facts, const struct ir_expr *x) {
    const struct emit_fact *f = x->op == IR_VAR ? facts : NULL;
    while (f && f->var != x->var)
        f = f->more;
    return f;
}

static bool is_other(const struct emit_fact *f, big value) {
    for (size_t i = 0; i < f->n_other; i++)
        if (big_cmp(f->other[i], value) == 0)
            return true;
    return false;
}

// -1: not known.
static int equals(const struct emit_fact *facts, const struct ir_expr *x, big value) {
    const struct emit_fact *f = fact_of(facts, x);
    if (f && f->value)
        return big_cmp(f->value, value) == 0;
    return f && is_other(f, value) ? 0 : -1;
}

int plan_known(const struct emit_fact *facts, const struct ir_expr *x) {
    int a, b;
    switch (x->op) {
    case IR_VAR:
        return x->width == 1 && fact_of(facts, x) && fact_of(facts, x)->value
                   ? big_sign(fact_of(facts, x)->value) != 0
                   : -1;
    case IR_EQ:
    case IR_NE:
        a = x->b->op == IR_CONST   ? equals(facts, x->a, x->b->value)
            : x->a->op == IR_CONST ? equals(facts, x->b, x->a->value)
                                   : -1;
        return a < 0 || x->op == IR_EQ ? a : !a;
    case IR_LAND:
        a = plan_known(facts, x->a);
        b = plan_known(facts, x->b);
        return a == 0 || b == 0 ? 0 : a == 1 && b == 1 ? 1 : -1;
    case IR_LOR:
        a = plan_known(facts, x->a);
        b = plan_known(facts, x->b);
        return a == 1 || b == 1 ? 1 : a == 0 && b == 0 ? 0 : -1;
    default:
        return -1;
    }
}

static bool is_whole(big mask, unsigned width) {
    for (unsigned i = 0; i < width; i++)
        if (!(big_word(mask, i / 64) >> i % 64 & 1))
            return false;
    return true;
}

// One value of the key, and no other, is in the set.
static bool is_one(const struct ir_key *k, const struct ir_key_value *v) {
    return !v->high && (!v->mask || is_whole(v->mask, k->expr->width));
}

static bool is_any(const struct ir_key_value *v) {
    return !v->high && v->mask && big_sign(v->mask) == 0;
}

int plan_known_match(struct arena *a, const struct emit_fact *facts, const struct ir_key *k,
                     const struct ir_key_value *v) {
    const struct emit_fact *f = fact_of(facts, k->expr);
    if (!f)
        return -1;
    if (!f->value)
        return is_one(k, v) && is_other(f, v->value) ? 0 : -1;
    if (v->high)
        return big_cmp(v->value, f->value) <= 0 && big_cmp(f->value, v->high) <= 0;
    if (!v->mask)
        return big_cmp(f->value, v->value) == 0;
    return big_cmp(big_and(a, f->value, v->mask), big_and(a, v->value, v->mask)) == 0;
}

bool plan_knows_keys(const struct emit_fact *facts, const struct ir_table *t) {
    for (size_t i = 0; i < t->keys.n; i++)
        if (fact_of(facts, t->keys.v[i].expr))
            return true;
    return false;
}

// --------------------------------------------------------------------------------------------
// Who asks for a variable.

struct asked {
    const struct plan *plan;
    const struct emit_fact *facts; // what is known already
    const struct ir_var *var;
    unsigned uses;
    big values[MAX_VALUES + 1];
    size_t n; // MAX_VALUES + 1: too many
};

static void ask(struct asked *q, big value) {
    for (size_t i = 0; i < q->n; i++)
        if (big_cmp(q->values[i], value) == 0)
            return;
    if (q->n <= MAX_VALUES)
        q->values[q->n++] = value;
}

static bool may_match(const struct asked *q, const struct ir_table *t,
                      const struct ir_entry *entry) {
    for (size_t k = 0; k < t->keys.n; k++)
        if (plan_known_match(q->plan->a, q->facts, &t->keys.v[k], &entry->keys.v[k]) == 0)
            return false;
    return true;
}

static void table_asks(struct asked *q, const struct ir_table *t) {
    const struct emit_table *p = &q->plan->tables[t->id];
    bool asks = false;
    if (!p->branches || p->leader != t->id)
        return;
    for (size_t k = 0; k < t->keys.n; k++) {
        if (t->keys.v[k].expr->op != IR_VAR || t->keys.v[k].expr->var != q->var)
            continue;
        for (size_t i = 0; i < t->entries.n; i++) {
            const struct ir_key_value *v = &t->entries.v[i]->keys.v[k];
            if (is_any(v) || !may_match(q, t, t->entries.v[i]))
                continue;
            asks = true;
            if (is_one(&t->keys.v[k], v))
                ask(q, v->value);
        }
    }
    q->uses += asks;
}

static void block_asks(struct asked *q, const struct ir_block *b);

// Does the condition ask for it?
static bool condition_asks(struct asked *q, const struct ir_expr *x) {
    if (!x || plan_known(q->facts, x) >= 0)
        return false;
    if (x->op == IR_LAND || x->op == IR_LOR) {
        const bool a = condition_asks(q, x->a), b = condition_asks(q, x->b);
        return a || b;
    }
    if ((x->op != IR_EQ && x->op != IR_NE) || x->a->op != IR_VAR || x->a->var != q->var ||
        x->b->op != IR_CONST)
        return false;
    ask(q, x->b->value);
    return true;
}

static void stmt_asks(struct asked *q, const struct ir_stmt *s) {
    if (s->kind == IR_IF) {
        const int known = plan_known(q->facts, s->e);
        q->uses += condition_asks(q, s->e);
        if (known != 0)
            block_asks(q, s->then_b);
        if (known != 1)
            block_asks(q, s->else_b);
        return;
    }
    if (s->kind == IR_APPLY)
        table_asks(q, s->table);
    block_asks(q, s->then_b);
    for (size_t i = 0; i < s->cases.n; i++)
        block_asks(q, s->cases.v[i].body);
}

static void block_asks(struct asked *q, const struct ir_block *b) {
    for (size_t i = 0; b && i < b->stmts.n; i++)
        stmt_asks(q, b->stmts.v[i]);
}

// --------------------------------------------------------------------------------------------
// Where to split.

struct split {
    size_t at; // the first statement of the continuations
    struct asked asked;
};

static struct ir_block from(const struct ir_block *b, size_t i) {
    return (struct ir_block){.stmts = {.v = b->stmts.v + i, .n = b->stmts.n - i}};
}

static bool may_decide(const struct emit_fact *facts, const struct ir_var *v) {
    const struct ir_expr x = {.op = IR_VAR, .width = v->width, .var = (struct ir_var *)v};
    return !v->header && v->width <= 64 && v->width >= 2 && !fact_of(facts, &x);
}

// By variable: the statements from 'i' on ask for it often enough. One that they do not read is not looked for.
static const bool *candidates(const struct plan *plan, const struct emit_fact *facts,
                              const struct ir_block *b, size_t i) {
    bool *found = ARENA_ARRAY(plan->a, bool, plan->g->vars.n + 1);
    struct ir_effects f = ir_effects_none(plan->a, plan->g);
    const struct ir_block rest = from(b, i);
    ir_effects_add_block(&f, &rest);
    for (size_t v = 0; v < plan->g->vars.n; v++) {
        struct asked q = {.plan = plan, .facts = facts, .var = plan->g->vars.v[v]};
        if (!f.reads[v] || !may_decide(facts, q.var))
            continue;
        block_asks(&q, &rest);
        found[v] = q.uses >= MIN_USES && q.n > 0;
    }
    return found;
}

// By variable: behind which statement it is no longer written.
static const size_t *written_before(const struct plan *plan, const struct ir_block *b) {
    size_t *last = ARENA_ARRAY(plan->a, size_t, plan->g->vars.n + 1);
    struct ir_effects f = ir_effects_none(plan->a, plan->g);
    for (size_t i = 0; i < b->stmts.n; i++) {
        ir_effects_clear(&f);
        ir_effects_add_stmt(&f, b->stmts.v[i]);
        for (size_t v = 0; v < plan->g->vars.n; v++)
            if (f.writes[v])
                last[v] = i + 1;
    }
    return last;
}

// The first place from statement 'i' on behind which a variable that is no longer written is asked for often
// enough, and the variable that is asked for most there. False: there is none.
static bool find_split(const struct plan *plan, const struct emit_fact *facts,
                       const struct ir_block *b, size_t i, struct split *best) {
    const bool *candidate = candidates(plan, facts, b, i);
    const size_t *last = written_before(plan, b);
    best->asked.uses = 0;
    for (size_t at = i; at < b->stmts.n;
         at += at < b->stmts.n ? plan_together(plan, b->stmts.v[at]) : 0) {
        const struct ir_block rest = from(b, at);
        for (size_t v = 0; v < plan->g->vars.n; v++) {
            struct asked q = {.plan = plan, .facts = facts, .var = plan->g->vars.v[v]};
            if (!candidate[v] || last[v] > at)
                continue;
            block_asks(&q, &rest);
            if (q.uses >= MIN_USES && q.uses > best->asked.uses && q.n > 0 && q.n <= MAX_VALUES)
                *best = (struct split){.at = at, .asked = q};
        }
        if (best->asked.uses)
            return true;
    }
    return false;
}

static const struct emit_split *split_from(struct plan *plan, const struct emit_fact *facts,
                                           size_t first, unsigned depth);

static const struct emit_fact *fact_in(struct plan *plan, const struct emit_fact *facts,
                                       const struct emit_split *s, size_t i) {
    struct emit_fact *f = ARENA_NEW(plan->a, struct emit_fact);
    *f = (struct emit_fact){.var = s->var, .more = facts};
    if (i < s->n) {
        f->value = s->values[i];
        return f;
    }
    f->n_other = s->n;
    f->other = ARENA_ARRAY(plan->a, big, s->n + 1);
    for (size_t k = 0; k < s->n; k++)
        f->other[k] = s->values[k];
    return f;
}

static void add_continuations(struct plan *plan, const struct emit_fact *facts,
                              struct emit_split *s, unsigned depth) {
    s->of = ARENA_ARRAY(plan->a, struct emit_continuation, s->n + 1);
    for (size_t i = 0; i <= s->n; i++) {
        struct emit_continuation *c = &s->of[i];
        const bool splits = depth < MAX_DEPTH && plan->n_continuations < MAX_RESTS;
        c->facts = fact_in(plan, facts, s, i);
        c->id = ++plan->n_continuations;
        c->split = splits ? split_from(plan, c->facts, s->at, depth) : NULL;
    }
}

// The split of the statements from 'first' on, with all in it. Null: none.
static const struct emit_split *split_from(struct plan *plan, const struct emit_fact *facts,
                                           size_t first, unsigned depth) {
    struct split found;
    if (!find_split(plan, facts, plan->g->control, first, &found))
        return NULL;
    const struct asked *q = &found.asked;
    big *values = ARENA_ARRAY(plan->a, big, q->n + 1);
    for (size_t i = 0; i < q->n; i++)
        values[i] = q->values[i];
    struct emit_split *s = ARENA_NEW(plan->a, struct emit_split);
    *s = (struct emit_split){
        .at = found.at, .var = q->var, .uses = q->uses, .n = q->n, .values = values};
    add_continuations(plan, facts, s, depth + 1);
    return s;
}

void plan_specialise(struct plan *plan) {
    if (!plan->checked && plan->g->control)
        plan->split = split_from(plan, NULL, 0, 0);
}

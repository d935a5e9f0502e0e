// SPDX-License-Identifier: Apache-2.0
//
// specialise: the rest of a control, once for each value of the variable that decides it.
//
// A program classifies a packet early, in a variable with a few values. Nearly everything after
// that reads the variable: conditions, and the keys of tables with constant entries. The pass
// therefore splits the control after the last write to the variable. It prints the rest once for
// each value that the program tests, with only the entries and branches that are possible for this
// value, and once for all other values. Each copy is a function, which may in turn be split by
// another such variable.
//
// A program that is large enough without is copied less: with fewer splits within copies, or not at
// all (PLAN_MAX_COPIED).
//
// It is a pass from IR to IR: the control becomes its statements up to the split and a 'switch'
// over the variable, with a copy of the other statements in each case, in which a condition that is
// known is replaced by the branch that is taken, and an application by one that says which entries
// may match (ir_known_match). What does not change is shared with the original, so that what was
// planned of a statement holds for it in every copy; what becomes a loop over lanes is shared as a
// whole. Statements run in their order, each once. The copies are verified with the rest of the IR,
// and the differential tests run them (harness/interp).
//
// The printer makes a function of each copy. The end of a packet that leaves nothing
// (compiler/print/entry.c) is printed after the copy, inside the function, so it is specialised
// too.
#include "compiler/ir/build.h"
#include "compiler/ir/effects.h"
#include "compiler/ir/walk.h"
#include "compiler/plan/plan.h"

static const struct plan_fact *fact_of(const struct plan_fact *facts, const struct ir_expr *x) {
    const struct plan_fact *f = x->op == IR_VAR ? facts : NULL;
    while (f && f->var != x->var)
        f = f->more;
    return f;
}

static bool is_other(const struct plan_fact *f, big value) {
    for (size_t i = 0; i < f->n_other; i++)
        if (big_cmp(f->other[i], value) == 0)
            return true;
    return false;
}

// -1: not known.
static int equals(const struct plan_fact *facts, const struct ir_expr *x, big value) {
    const struct plan_fact *f = fact_of(facts, x);
    if (f && f->value)
        return big_cmp(f->value, value) == 0;
    return f && is_other(f, value) ? 0 : -1;
}

int plan_known(const struct plan_fact *facts, const struct ir_expr *x) {
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

static bool plan_specialise_is_whole(big mask, unsigned width) {
    for (unsigned i = 0; i < width; i++)
        if (!(big_word(mask, i / 64) >> i % 64 & 1))
            return false;
    return true;
}

// One value of the key, and no other, is in the set.
static bool plan_specialise_is_one(const struct ir_key *k, const struct ir_key_value *v) {
    return !v->high && (!v->mask || plan_specialise_is_whole(v->mask, k->expr->width));
}

static bool is_any(const struct ir_key_value *v) {
    return !v->high && v->mask && big_sign(v->mask) == 0;
}

static int plan_known_match(struct arena *a, const struct plan_fact *facts, const struct ir_key *k,
                            const struct ir_key_value *v) {
    const struct plan_fact *f = fact_of(facts, k->expr);
    if (!f)
        return -1;
    if (!f->value)
        return plan_specialise_is_one(k, v) && is_other(f, v->value) ? 0 : -1;
    if (v->high)
        return big_cmp(v->value, f->value) <= 0 && big_cmp(f->value, v->high) <= 0;
    if (!v->mask)
        return big_cmp(f->value, v->value) == 0;
    return big_cmp(big_and(a, f->value, v->mask), big_and(a, v->value, v->mask)) == 0;
}

static bool plan_knows_keys(const struct plan_fact *facts, const struct ir_table *t) {
    for (size_t i = 0; i < t->keys.n; i++)
        if (fact_of(facts, t->keys.v[i].expr))
            return true;
    return false;
}

// --------------------------------------------------------------------------------------------
// Who asks for a variable.

struct asked {
    const struct ir_var *var;
    unsigned uses;
    big values[PLAN_MAX_VALUES + 1];
    size_t n; // PLAN_MAX_VALUES + 1: too many
};

static void plan_specialise_ask(struct asked *q, big value) {
    for (size_t i = 0; i < q->n; i++)
        if (big_cmp(q->values[i], value) == 0)
            return;
    if (q->n <= PLAN_MAX_VALUES)
        q->values[q->n++] = value;
}

bool plan_may_match(const struct plan *plan, const struct plan_fact *facts,
                    const struct ir_table *t, const struct ir_entry *entry) {
    for (size_t k = 0; k < t->keys.n; k++)
        if (plan_known_match(plan->a, facts, &t->keys.v[k], &entry->keys.v[k]) == 0)
            return false;
    return true;
}

// --------------------------------------------------------------------------------------------
// Where to split.

struct split {
    size_t at; // the first statement of the continuations
    struct asked asked;
};

// The last statement of the block that writes a variable, by its id, counted from 1; 0: none does.
struct writes {
    size_t *last;
    size_t at; // of the one that is looked at
};

static void note_var(void *aux, const struct ir_var *v) {
    const struct writes *const w = aux;
    w->last[v->id] = w->at;
}

static bool may_decide(const struct plan_fact *facts, const struct ir_var *v) {
    const struct ir_expr x = {.op = IR_VAR, .width = v->width, .var = (struct ir_var *)v};
    return !v->header && v->width <= 64 && v->width >= 2 && !fact_of(facts, &x);
}

// What a statement of the control, 'at', asks of a variable.
struct use {
    size_t at;
    big value;  // that is asked for, or null
    bool first; // of this variable in a condition or a table: counted in asked.uses
    const struct use *before;
};

struct uses {
    const struct plan *plan;
    const struct plan_fact *facts;
    const struct use **last; // by variable
    size_t *asked_by;        // by variable: the condition or table of its last use
    size_t at, n_asking;
};

static void use_add(struct uses *u, const struct ir_var *v, big value) {
    struct use *x = ARENA_NEW(u->plan->a, struct use);
    *x = (struct use){.at = u->at,
                      .value = value,
                      .first = u->asked_by[v->id] != u->n_asking,
                      .before = u->last[v->id]};
    u->asked_by[v->id] = u->n_asking;
    u->last[v->id] = x;
}

static void uses_of_table(struct uses *u, const struct ir_table *t) {
    const struct plan_table *p = &u->plan->tables[t->id];
    if (!p->branches || p->leader != t->id)
        return;
    u->n_asking++;
    for (size_t k = 0; k < t->keys.n; k++) {
        const struct ir_expr *x = t->keys.v[k].expr;
        if (x->op != IR_VAR || !may_decide(u->facts, x->var))
            continue;
        for (size_t i = 0; i < t->entries.n; i++) {
            const struct ir_key_value *v = &t->entries.v[i]->keys.v[k];
            if (!is_any(v) && plan_may_match(u->plan, u->facts, t, t->entries.v[i]))
                use_add(u, x->var, plan_specialise_is_one(&t->keys.v[k], v) ? v->value : NULL);
        }
    }
}

static void uses_of_condition(struct uses *u, const struct ir_expr *x) {
    if (!x || plan_known(u->facts, x) >= 0)
        return;
    if (x->op == IR_LAND || x->op == IR_LOR) {
        uses_of_condition(u, x->a);
        uses_of_condition(u, x->b);
    } else if ((x->op == IR_EQ || x->op == IR_NE) && x->a->op == IR_VAR && x->b->op == IR_CONST &&
               may_decide(u->facts, x->a->var)) {
        use_add(u, x->a->var, x->b->value);
    }
}

static void uses_of_block(struct uses *u, const struct ir_block *b);

static void uses_of_stmt(struct uses *u, const struct ir_stmt *s) {
    arena_spend(u->plan->a, 10);
    if (s->kind == IR_IF) {
        const int known = plan_known(u->facts, s->e);
        u->n_asking++;
        uses_of_condition(u, s->e);
        const size_t before = u->n_asking;
        if (known != 0)
            uses_of_block(u, s->then_b);
        const size_t then_asking = u->n_asking;
        u->n_asking = before; // no packet asks in both branches: what asks in one counts for both
        if (known != 1)
            uses_of_block(u, s->else_b);
        u->n_asking = then_asking > u->n_asking ? then_asking : u->n_asking;
        return;
    }
    if (s->kind == IR_APPLY)
        uses_of_table(u, s->table);
    uses_of_block(u, s->then_b);
    for (size_t i = 0; i < s->cases.n; i++)
        uses_of_block(u, s->cases.v[i].body);
}

static void uses_of_block(struct uses *u, const struct ir_block *b) {
    for (size_t i = 0; b && i < b->stmts.n; i++)
        uses_of_stmt(u, b->stmts.v[i]);
}

// Where the control can be split for a variable: from 'first', after which it is not written and at
// most PLAN_MAX_VALUES are asked for, up to 'end', after which it is asked for too seldom.
struct places {
    size_t first, end;
};

static struct places places_of(const struct use *u, size_t written) {
    struct asked q = {0};
    struct places p = {.first = written};
    size_t with_value = 0;
    for (; u; u = u->before) {
        q.uses += u->first;
        if (u->value)
            plan_specialise_ask(&q, u->value);
        if (u->value && !with_value)
            with_value = u->at + 1;
        if (q.uses == PLAN_MIN_USES && !p.end)
            p.end = u->at + 1;
        if (q.n > PLAN_MAX_VALUES) {
            p.first = u->at + 1 > written ? u->at + 1 : written;
            break;
        }
    }
    p.end = with_value < p.end ? with_value : p.end;
    return p;
}

static unsigned uses_from(const struct use *u, size_t at) {
    unsigned n = 0;
    for (; u && u->at >= at; u = u->before)
        n += u->first;
    return n;
}

// The values that the statements from 'at' on ask for, in program order.
static void values_from(struct arena *a, const struct use *u, size_t at, struct asked *q) {
    VEC(big) values = {0};
    for (; u && u->at >= at; u = u->before)
        if (u->value)
            VEC_PUSH(a, &values, u->value);
    while (values.n > 0)
        plan_specialise_ask(q, values.v[--values.n]);
}

// By statement: the first place to split at that is not before it.
static size_t *split_places(const struct plan *plan, const struct ir_block *b, size_t first) {
    size_t *next = ARENA_ARRAY(plan->a, size_t, b->stmts.n + 1);
    for (size_t at = first, i = first; at < b->stmts.n;) {
        for (; i <= at; i++)
            next[i] = at;
        at += plan_together(plan, b->stmts.v[at]);
        for (; at >= b->stmts.n && i <= b->stmts.n; i++)
            next[i] = b->stmts.n;
    }
    next[b->stmts.n] = b->stmts.n;
    return next;
}

// Finds the first place from statement 'i' on after which some variable is not written and is asked
// for often enough, and the variable that is asked for most often there. False: there is no such
// place.
static bool find_split(const struct plan *plan, const struct plan_fact *facts,
                       const struct ir_block *b, size_t i, struct split *best) {
    const size_t n_vars = plan->g->vars.n;
    struct uses u = {.plan = plan,
                     .facts = facts,
                     .last = ARENA_ARRAY(plan->a, const struct use *, n_vars + 1),
                     .asked_by = ARENA_ARRAY(plan->a, size_t, n_vars + 1)};
    struct writes w = {.last = ARENA_ARRAY(plan->a, size_t, n_vars + 1)};
    struct places *places = ARENA_ARRAY(plan->a, struct places, n_vars + 1);
    best->at = b->stmts.n;
    for (u.at = i; u.at < b->stmts.n; u.at++) {
        const struct ir_block one = {.stmts = {.v = b->stmts.v + u.at, .n = 1}};
        w.at = u.at + 1;
        plan_each_written(&one, note_var, &w);
        uses_of_stmt(&u, b->stmts.v[u.at]);
    }
    const size_t *next = split_places(plan, b, i);
    for (size_t v = 0; v < n_vars; v++) {
        places[v] = places_of(u.last[v], w.last[v] > i ? w.last[v] : i);
        const size_t at = places[v].first < places[v].end ? next[places[v].first] : b->stmts.n;
        best->at = at < places[v].end && at < best->at ? at : best->at;
    }
    if (best->at == b->stmts.n)
        return false;
    best->asked = (struct asked){0};
    for (size_t v = 0; v < n_vars; v++) {
        const bool here = places[v].first <= best->at && best->at < places[v].end;
        const unsigned uses = here ? uses_from(u.last[v], best->at) : 0;
        if (uses > best->asked.uses)
            best->asked = (struct asked){.var = plan->g->vars.v[v], .uses = uses};
    }
    values_from(plan->a, u.last[best->asked.var->id], best->at, &best->asked);
    return true;
}

static const struct plan_specialisation *
split_from(struct plan *plan, const struct plan_fact *facts, size_t first, unsigned depth);

static const struct plan_fact *fact_in(struct plan *plan, const struct plan_fact *facts,
                                       const struct plan_specialisation *s, size_t i) {
    struct plan_fact *f = ARENA_NEW(plan->a, struct plan_fact);
    *f = (struct plan_fact){.var = s->var, .more = facts};
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

static void add_continuations(struct plan *plan, const struct plan_fact *facts,
                              struct plan_specialisation *s, unsigned depth) {
    s->of = ARENA_ARRAY(plan->a, struct plan_continuation, s->n + 1);
    for (size_t i = 0; i <= s->n; i++) {
        struct plan_continuation *c = &s->of[i];
        const bool splits = depth < plan->max_depth && plan->n_continuations < PLAN_MAX_COPIES;
        c->facts = fact_in(plan, facts, s, i);
        c->id = ++plan->n_continuations;
        c->split = splits ? split_from(plan, c->facts, s->at, depth) : NULL;
    }
}

// The split of the statements from 'first' on, with all in it. Null: none.
static const struct plan_specialisation *
split_from(struct plan *plan, const struct plan_fact *facts, size_t first, unsigned depth) {
    struct split found;
    if (!find_split(plan, facts, plan->g->control, first, &found))
        return NULL;
    const struct asked *q = &found.asked;
    big *values = ARENA_ARRAY(plan->a, big, q->n + 1);
    for (size_t i = 0; i < q->n; i++)
        values[i] = q->values[i];
    struct plan_specialisation *s = ARENA_NEW(plan->a, struct plan_specialisation);
    *s = (struct plan_specialisation){
        .at = found.at, .var = q->var, .uses = q->uses, .n = q->n, .values = values};
    add_continuations(plan, facts, s, depth + 1);
    return s;
}

// --------------------------------------------------------------------------------------------
// The copies.

struct copier {
    struct plan *plan;
    const struct plan_fact *facts; // what is known in this copy; null: nothing
};

static struct ir_block *copy_block(const struct copier *c, const struct ir_block *b);

static struct ir_stmt *plan_specialise_copy_of(const struct copier *c, const struct ir_stmt *s) {
    struct ir_stmt *copy = ARENA_NEW(c->plan->a, struct ir_stmt);
    *copy = *s;
    return copy;
}

// A condition that is known: the branch that is taken, as a statement.
static struct ir_stmt *plan_specialise_copy_known(const struct copier *c, const struct ir_stmt *s,
                                                  bool taken) {
    struct ir_block *b = copy_block(c, taken ? s->then_b : s->else_b);
    if (b && b->stmts.n == 1 && b->stmts.v[0]->kind == IR_APPLY)
        return b->stmts.v[0]; // of a table that may be fused: plan_application() finds it
    struct ir_stmt *copy = ir_stmt_new(c->plan->a, IR_BLOCK, s->at);
    copy->within = s->within;
    copy->then_b = b ? b : ARENA_NEW(c->plan->a, struct ir_block);
    return copy;
}

static struct ir_stmt *copy_apply(const struct copier *c, struct ir_stmt *s) {
    const struct ir_table *t = s->table;
    struct arena *a = c->plan->a;
    if (!c->plan->tables[t->id].branches || !plan_knows_keys(c->facts, t))
        return s;
    bool *may_match = ARENA_ARRAY(a, bool, t->entries.n + 1);
    bool *matches = ARENA_ARRAY(a, bool, t->keys.n + 1);
    for (size_t i = 0; i < t->entries.n; i++)
        may_match[i] = plan_may_match(c->plan, c->facts, t, t->entries.v[i]);
    for (size_t k = 0; k < t->keys.n; k++) {
        const struct plan_fact *f = fact_of(c->facts, t->keys.v[k].expr);
        matches[k] = f && f->value; // entries that another value would match are out
    }
    struct ir_known_match *known = ARENA_NEW(a, struct ir_known_match);
    *known = (struct ir_known_match){may_match, matches};
    s = plan_specialise_copy_of(c, s);
    s->known = known;
    return s;
}

static struct ir_stmt *copy_inside(const struct copier *c, struct ir_stmt *s) {
    struct ir_block *then_b = copy_block(c, s->then_b), *else_b = copy_block(c, s->else_b);
    struct ir_stmt *copy = plan_specialise_copy_of(c, s);
    bool changed = then_b != s->then_b || else_b != s->else_b;
    copy->then_b = then_b;
    copy->else_b = else_b;
    copy->cases.v = ARENA_ARRAY(c->plan->a, struct ir_case, s->cases.n + 1);
    for (size_t i = 0; i < s->cases.n; i++) {
        copy->cases.v[i] = s->cases.v[i];
        copy->cases.v[i].body = copy_block(c, s->cases.v[i].body);
        changed |= copy->cases.v[i].body != s->cases.v[i].body;
    }
    return changed ? copy : s;
}

static struct ir_stmt *copy_stmt(const struct copier *c, struct ir_stmt *s) {
    const int known = s->kind == IR_IF ? plan_known(c->facts, s->e) : -1;
    if (known >= 0)
        return plan_specialise_copy_known(c, s, known);
    if (s->kind == IR_APPLY)
        return copy_apply(c, s);
    return s->then_b || s->else_b || s->cases.n ? copy_inside(c, s) : s;
}

// Appends statements 'from' up to 'to', and says whether one of them is another than it was.
static bool copy_stmts(const struct copier *c, struct ir_block *copy, const struct ir_block *b,
                       size_t from, size_t to) {
    bool changed = false;
    for (size_t i = from, together = 0; i < to; i++) {
        struct ir_stmt *s = b->stmts.v[i];
        if (together == 0)
            together = plan_lane_run_length(c->plan, s);
        if (together > 0)
            together--;
        else if (c->facts)
            s = copy_stmt(c, s);
        changed |= s != b->stmts.v[i];
        ir_push(c->plan->a, copy, s);
    }
    return changed;
}

static struct ir_block *copy_block(const struct copier *c, const struct ir_block *b) {
    if (!b || !c->facts)
        return (struct ir_block *)b;
    struct ir_block *copy = ARENA_NEW(c->plan->a, struct ir_block);
    return copy_stmts(c, copy, b, 0, b->stmts.n) ? copy : (struct ir_block *)b;
}

static struct ir_block *copy_control(const struct copier *c, size_t first,
                                     const struct plan_specialisation *s);

// The choice between the continuations.
static struct ir_stmt *plan_specialise_choice(const struct copier *c,
                                              const struct plan_specialisation *s) {
    struct arena *a = c->plan->a;
    struct ir_stmt *to = ir_stmt_new(a, IR_SWITCH, (struct loc){0});
    to->e = ir_ref(a, (struct ir_var *)s->var);
    for (size_t i = 0; i <= s->n; i++) {
        const struct copier in = {c->plan, s->of[i].facts};
        struct ir_case one = {.body = copy_control(&in, s->at, s->of[i].split)};
        if (i < s->n)
            VEC_PUSH(a, &one.values, s->values[i]);
        s->of[i].body = one.body;
        VEC_PUSH(a, &to->cases, one);
    }
    return to;
}

// The control from its statement 'first' on, up to a split (null: none) and its choice.
static struct ir_block *copy_control(const struct copier *c, size_t first,
                                     const struct plan_specialisation *s) {
    const struct ir_block *control = c->plan->g->control;
    struct ir_block *copy = ARENA_NEW(c->plan->a, struct ir_block);
    copy_stmts(c, copy, control, first, s ? s->at : control->stmts.n);
    if (s)
        ir_push(c->plan->a, copy, plan_specialise_choice(c, s));
    return copy;
}

void plan_specialise(struct plan *plan) {
    const struct copier whole = {.plan = plan};
    if (plan->checked || !plan->g->control)
        return;
    for (plan->max_depth = PLAN_MAX_DEPTH; plan->max_depth > 0; plan->max_depth--) {
        plan->n_continuations = 0;
        plan->split = split_from(plan, NULL, 0, 0);
        if (!plan->split)
            return;
        plan->control = copy_control(&whole, 0, plan->split);
        if (!plan->vectorise || plan_weigh(plan, plan->control) <= PLAN_MAX_COPIED)
            return; // the scalar build is compared with the other one: it is planned alike
    }
    plan->split = NULL;
    plan->control = plan->g->control;
}

struct ir_gress plan_specialised(const struct plan *plan) {
    struct ir_gress g = *plan->g;
    g.control = (struct ir_block *)plan->control;
    return g;
}

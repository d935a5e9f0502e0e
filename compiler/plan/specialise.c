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
#include "compiler/print/emit_impl.h"

#define MIN_USES   3  // places behind the split that ask for the variable
#define MAX_VALUES 10 // of a variable
#define MAX_RESTS  48 // functions of a control
#define MAX_DEPTH  3

// What is known of a variable.
struct emit_fact {
    const struct ir_var *var;
    big value;  // or null: it is none of these
    big *other; // those
    size_t n_other;
    const struct emit_fact *more;
};

static const struct emit_fact *fact_of(const struct emit *e, const struct ir_expr *x) {
    const struct emit_fact *f = x->op == IR_VAR ? e->facts : NULL;
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
static int equals(const struct emit *e, const struct ir_expr *x, big value) {
    const struct emit_fact *f = fact_of(e, x);
    if (f && f->value)
        return big_cmp(f->value, value) == 0;
    return f && is_other(f, value) ? 0 : -1;
}

int emit_known(const struct emit *e, const struct ir_expr *x) {
    int a, b;
    switch (x->op) {
    case IR_VAR:
        return x->width == 1 && fact_of(e, x) && fact_of(e, x)->value
                   ? big_sign(fact_of(e, x)->value) != 0
                   : -1;
    case IR_EQ:
    case IR_NE:
        a = x->b->op == IR_CONST   ? equals(e, x->a, x->b->value)
            : x->a->op == IR_CONST ? equals(e, x->b, x->a->value)
                                   : -1;
        return a < 0 || x->op == IR_EQ ? a : !a;
    case IR_LAND:
        a = emit_known(e, x->a);
        b = emit_known(e, x->b);
        return a == 0 || b == 0 ? 0 : a == 1 && b == 1 ? 1 : -1;
    case IR_LOR:
        a = emit_known(e, x->a);
        b = emit_known(e, x->b);
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

int emit_known_match(struct emit *e, const struct ir_key *k, const struct ir_key_value *v) {
    const struct emit_fact *f = fact_of(e, k->expr);
    if (!f)
        return -1;
    if (!f->value)
        return is_one(k, v) && is_other(f, v->value) ? 0 : -1;
    if (v->high)
        return big_cmp(v->value, f->value) <= 0 && big_cmp(f->value, v->high) <= 0;
    if (!v->mask)
        return big_cmp(f->value, v->value) == 0;
    return big_cmp(big_and(e->a, f->value, v->mask), big_and(e->a, v->value, v->mask)) == 0;
}

bool emit_knows_keys(const struct emit *e, const struct ir_table *t) {
    for (size_t i = 0; i < t->keys.n; i++)
        if (fact_of(e, t->keys.v[i].expr))
            return true;
    return false;
}

// --------------------------------------------------------------------------------------------
// Who asks for a variable.

struct asked {
    struct emit *e;
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

static bool may_match(struct emit *e, const struct ir_table *t, const struct ir_entry *entry) {
    for (size_t k = 0; k < t->keys.n; k++)
        if (emit_known_match(e, &t->keys.v[k], &entry->keys.v[k]) == 0)
            return false;
    return true;
}

static void table_asks(struct asked *q, const struct ir_table *t) {
    const struct emit_table *p = &emit_plan_of(q->e)->tables[t->id];
    bool asks = false;
    if (!p->branches || p->leader != t->id)
        return;
    for (size_t k = 0; k < t->keys.n; k++) {
        if (t->keys.v[k].expr->op != IR_VAR || t->keys.v[k].expr->var != q->var)
            continue;
        for (size_t i = 0; i < t->entries.n; i++) {
            const struct ir_key_value *v = &t->entries.v[i]->keys.v[k];
            if (is_any(v) || !may_match(q->e, t, t->entries.v[i]))
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
    if (!x || emit_known(q->e, x) >= 0)
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
        const int known = emit_known(q->e, s->e);
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
    size_t at; // the first statement of the rests
    struct asked asked;
};

static struct ir_block from(const struct ir_block *b, size_t i) {
    return (struct ir_block){.stmts = {.v = b->stmts.v + i, .n = b->stmts.n - i}};
}

// How many statements of the control belong together with this one: a fused group, a loop.
static size_t together(struct emit *e, const struct ir_stmt *s) {
    const struct ir_expr *guard;
    const struct ir_stmt *apply = emit_application(s, &guard);
    const struct emit_table *t = apply ? &emit_plan_of(e)->tables[apply->table->id] : NULL;
    const size_t run = emit_lane_run_length(e, s);
    if (run)
        return run;
    return t && t->followers ? (t->followers + 1) * (1 + t->n_tail) : 1;
}

static bool may_decide(const struct emit *e, const struct ir_var *v) {
    const struct ir_expr x = {.op = IR_VAR, .width = v->width, .var = (struct ir_var *)v};
    return !v->header && v->width <= 64 && v->width >= 2 && !fact_of(e, &x);
}

// By variable: the statements from 'i' on ask for it often enough. One that they do not read is not looked for.
static const bool *candidates(struct emit *e, const struct ir_block *b, size_t i) {
    bool *found = ARENA_ARRAY(e->a, bool, e->g->vars.n + 1);
    struct ir_effects f = ir_effects_none(e->a, e->g);
    const struct ir_block rest = from(b, i);
    ir_effects_add_block(&f, &rest);
    for (size_t v = 0; v < e->g->vars.n; v++) {
        struct asked q = {.e = e, .var = e->g->vars.v[v]};
        if (!f.reads[v] || !may_decide(e, q.var))
            continue;
        block_asks(&q, &rest);
        found[v] = q.uses >= MIN_USES && q.n > 0;
    }
    return found;
}

// By variable: behind which statement it is no longer written.
static const size_t *written_before(struct emit *e, const struct ir_block *b) {
    size_t *last = ARENA_ARRAY(e->a, size_t, e->g->vars.n + 1);
    struct ir_effects f = ir_effects_none(e->a, e->g);
    for (size_t i = 0; i < b->stmts.n; i++) {
        ir_effects_clear(&f);
        ir_effects_add_stmt(&f, b->stmts.v[i]);
        for (size_t v = 0; v < e->g->vars.n; v++)
            if (f.writes[v])
                last[v] = i + 1;
    }
    return last;
}

// The first place from statement 'i' on behind which a variable that is no longer written is asked for often
// enough, and the variable that is asked for most there. False: there is none.
static bool find_split(struct emit *e, const struct ir_block *b, size_t i, struct split *best) {
    const bool *candidate = candidates(e, b, i);
    const size_t *last = written_before(e, b);
    best->asked.uses = 0;
    for (size_t at = i; at < b->stmts.n; at += at < b->stmts.n ? together(e, b->stmts.v[at]) : 0) {
        const struct ir_block rest = from(b, at);
        for (size_t v = 0; v < e->g->vars.n; v++) {
            struct asked q = {.e = e, .var = e->g->vars.v[v]};
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

// --------------------------------------------------------------------------------------------
// Printing.

static unsigned rest(struct emit *e, const struct ir_block *b, size_t first, unsigned depth,
                     const char *value);

// The statements from 'first' to the split, and the choice between the rests, which are printed.
static void body(struct emit *e, const struct ir_block *b, size_t first, const struct split *s,
                 const unsigned *ids) {
    const struct ir_block head = {
        .stmts = {.v = b->stmts.v + first, .n = (s ? s->at : b->stmts.n) - first}};
    emit_block(e, &head);
    if (s) {
        emit_open(e, "switch (%s) {", emit_ref(e, s->asked.var));
        for (size_t i = 0; i <= s->asked.n; i++) {
            if (i < s->asked.n)
                emit_line(e, "case %s:", emit_const(e, s->asked.values[i], s->asked.var->width));
            else
                emit_line(e, "default:");
            emit_line(e, "    return %s_rest%u(s, v, packet, out, err);", e->p, ids[i]);
        }
        emit_close(e, "}");
    }
    emit_control_end(e);
}

// The rests of a split, each with what is known there.
static void rests(struct emit *e, const struct ir_block *b, const struct split *s, unsigned depth,
                  unsigned *ids) {
    const struct emit_fact *known = e->facts;
    for (size_t i = 0; i <= s->asked.n; i++) {
        struct emit_fact *f = ARENA_NEW(e->a, struct emit_fact);
        *f = (struct emit_fact){.var = s->asked.var, .more = known};
        const char *text = "another value";
        if (i < s->asked.n) {
            f->value = s->asked.values[i];
            text = emit_const(e, f->value, s->asked.var->width);
        } else {
            f->n_other = s->asked.n;
            f->other = ARENA_ARRAY(e->a, big, s->asked.n + 1);
            for (size_t k = 0; k < s->asked.n; k++)
                f->other[k] = s->asked.values[k];
        }
        e->facts = f;
        ids[i] = rest(e, b, s->at, depth + 1,
                      emit_text(e, "%s is %s", emit_comment(e, s->asked.var->name), text));
    }
    e->facts = known;
}

// Prints the function of the statements from 'first' on; its number.
static unsigned rest(struct emit *e, const struct ir_block *b, size_t first, unsigned depth,
                     const char *value) {
    struct split s;
    unsigned ids[MAX_VALUES + 2];
    const bool split = depth < MAX_DEPTH && e->n_rests < MAX_RESTS && find_split(e, b, first, &s);
    const unsigned id = ++e->n_rests;
    if (split)
        rests(e, b, &s, depth, ids);
    emit_line(e, " ");
    emit_line(e, "// where %s", value);
    emit_control_head(e, emit_text(e, "rest%u", id));
    if (e->facts->value) // for the C compiler
        emit_line(e, "%s;",
                  emit_set(e, e->facts->var, emit_const(e, e->facts->value, e->facts->var->width)));
    body(e, b, first, split ? &s : NULL, ids);
    return id;
}

bool emit_splits(struct emit *e) {
    struct split s;
    return !e->checked && e->g->control && find_split(e, e->g->control, 0, &s);
}

void emit_split_control(struct emit *e) {
    struct split s;
    unsigned ids[MAX_VALUES + 2];
    const struct ir_block *b = e->g->control;
    e->user = b;
    e->n_rests = 0;
    find_split(e, b, 0, &s);
    rests(e, b, &s, 0, ids);
    emit_line(e, " ");
    emit_control_head(e, "control");
    body(e, b, 0, &s, ids);
}

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

// The last statement of the block that writes a variable, by its id, counted from 1; 0: none does.
struct writes {
    size_t *last;
    size_t at; // of the one that is looked at
};

static void note_written(void *aux, const struct ir_stmt *s) {
    const struct writes *const w = aux;
    const struct ir_var *const vars[] = {s->var, s->var2, s->hit, s->action_run};
    for (size_t i = 0; i < 4; i++)
        if (vars[i])
            w->last[vars[i]->id] = w->at;
    if (s->regaction)
        emit_walk(s->regaction->body, note_written, NULL, aux);
    if (s->regaction && s->regaction->reg->overflow)
        emit_walk(s->regaction->reg->overflow->body, note_written, NULL, aux);
    if (s->regaction && s->regaction->reg->underflow)
        emit_walk(s->regaction->reg->underflow->body, note_written, NULL, aux);
    if (s->header)
        w->last[s->header->valid->id] = w->at;
    if (!s->table)
        return;
    const struct ir_table *t = s->table;
    for (size_t i = 0; i < t->actions.n; i++)
        emit_walk(t->actions.v[i].action->body, note_written, NULL, aux);
    emit_walk(t->default_action->body, note_written, NULL, aux);
    for (size_t i = 0; t->profile && i < t->profile->actions.n; i++)
        emit_walk(t->profile->actions.v[i].action->body, note_written, NULL, aux);
    emit_walk(t->select, note_written, NULL, aux);
}

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

// ---- the same for all variables at once: a control may be long, and have many of them

// What a statement of the control, 'at', asks of a variable.
struct use {
    size_t at;
    big value;  // that is asked for, or null
    bool first; // of this variable in a condition or a table: counted in asked.uses
    const struct use *before;
};

struct uses {
    struct emit *e;
    const struct use **last; // by variable
    size_t *asked_by;        // by variable: the condition or table of its last use
    size_t at, n_asking;
};

static bool may_decide(const struct emit *e, const struct ir_var *v) {
    const struct ir_expr x = {.op = IR_VAR, .width = v->width, .var = (struct ir_var *)v};
    return !v->header && v->width <= 64 && v->width >= 2 && !fact_of(e, &x);
}

static void use_add(struct uses *u, const struct ir_var *v, big value) {
    struct use *x = ARENA_NEW(u->e->a, struct use);
    *x = (struct use){.at = u->at,
                      .value = value,
                      .first = u->asked_by[v->id] != u->n_asking,
                      .before = u->last[v->id]};
    u->asked_by[v->id] = u->n_asking;
    u->last[v->id] = x;
}

// As table_asks.
static void uses_of_table(struct uses *u, const struct ir_table *t) {
    const struct emit_table *p = &emit_plan_of(u->e)->tables[t->id];
    if (!p->branches || p->leader != t->id)
        return;
    u->n_asking++;
    for (size_t k = 0; k < t->keys.n; k++) {
        const struct ir_expr *x = t->keys.v[k].expr;
        if (x->op != IR_VAR || !may_decide(u->e, x->var))
            continue;
        for (size_t i = 0; i < t->entries.n; i++) {
            const struct ir_key_value *v = &t->entries.v[i]->keys.v[k];
            if (!is_any(v) && may_match(u->e, t, t->entries.v[i]))
                use_add(u, x->var, is_one(&t->keys.v[k], v) ? v->value : NULL);
        }
    }
}

// As condition_asks.
static void uses_of_condition(struct uses *u, const struct ir_expr *x) {
    if (!x || emit_known(u->e, x) >= 0)
        return;
    if (x->op == IR_LAND || x->op == IR_LOR) {
        uses_of_condition(u, x->a);
        uses_of_condition(u, x->b);
    } else if ((x->op == IR_EQ || x->op == IR_NE) && x->a->op == IR_VAR && x->b->op == IR_CONST &&
               may_decide(u->e, x->a->var)) {
        use_add(u, x->a->var, x->b->value);
    }
}

static void uses_of_block(struct uses *u, const struct ir_block *b);

// As stmt_asks.
static void uses_of_stmt(struct uses *u, const struct ir_stmt *s) {
    arena_spend(u->e->a, 10);
    if (s->kind == IR_IF) {
        const int known = emit_known(u->e, s->e);
        u->n_asking++;
        uses_of_condition(u, s->e);
        if (known != 0)
            uses_of_block(u, s->then_b);
        if (known != 1)
            uses_of_block(u, s->else_b);
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

// Where the control can be split for a variable: from 'first' on, where it is written no more and what follows asks
// for at most MAX_VALUES, to 'end', behind which it is asked for too seldom.
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
            ask(&q, u->value);
        if (u->value && !with_value)
            with_value = u->at + 1;
        if (q.uses == MIN_USES && !p.end)
            p.end = u->at + 1;
        if (q.n > MAX_VALUES) {
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

// By statement: the first place to split at that is not before it.
static size_t *split_places(struct emit *e, const struct ir_block *b, size_t first) {
    size_t *next = ARENA_ARRAY(e->a, size_t, b->stmts.n + 1);
    for (size_t at = first, i = first; at < b->stmts.n;) {
        for (; i <= at; i++)
            next[i] = at;
        at += together(e, b->stmts.v[at]);
        for (; at >= b->stmts.n && i <= b->stmts.n; i++)
            next[i] = b->stmts.n;
    }
    next[b->stmts.n] = b->stmts.n;
    return next;
}

// The first place from statement 'i' on behind which a variable that is no longer written is asked for often
// enough, and the variable that is asked for most there. False: there is none.
static bool find_split(struct emit *e, const struct ir_block *b, size_t i, struct split *best) {
    const size_t n_vars = e->g->vars.n;
    struct uses u = {.e = e,
                     .last = ARENA_ARRAY(e->a, const struct use *, n_vars + 1),
                     .asked_by = ARENA_ARRAY(e->a, size_t, n_vars + 1)};
    struct writes w = {.last = ARENA_ARRAY(e->a, size_t, n_vars + 1)};
    struct places *places = ARENA_ARRAY(e->a, struct places, n_vars + 1);
    best->at = b->stmts.n;
    best->asked.uses = 0;
    for (u.at = i; u.at < b->stmts.n; u.at++) {
        const struct ir_block one = {.stmts = {.v = b->stmts.v + u.at, .n = 1}};
        w.at = u.at + 1;
        emit_walk(&one, note_written, NULL, &w);
        uses_of_stmt(&u, b->stmts.v[u.at]);
    }
    const size_t *next = split_places(e, b, i);
    for (size_t v = 0; v < n_vars; v++) {
        places[v] = places_of(u.last[v], w.last[v] > i ? w.last[v] : i);
        const size_t at = places[v].first < places[v].end ? next[places[v].first] : b->stmts.n;
        best->at = at < places[v].end && at < best->at ? at : best->at;
    }
    if (best->at == b->stmts.n)
        return false;
    const struct ir_var *var = NULL;
    for (size_t v = 0, most = 0; v < n_vars; v++) {
        const bool here = places[v].first <= best->at && best->at < places[v].end;
        const size_t uses = here ? uses_from(u.last[v], best->at) : 0;
        var = uses > most ? e->g->vars.v[v] : var;
        most = uses > most ? uses : most;
    }
    const struct ir_block rest = from(b, best->at);
    best->asked = (struct asked){.e = e, .var = var};
    block_asks(&best->asked, &rest);
    return true;
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

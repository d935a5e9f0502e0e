// SPDX-License-Identifier: Apache-2.0
//
// live: statements whose results no one reads are taken out, as the chip's compiler does it.
//
// The walk goes backwards from the end of the control with the set of variables that are still
// read: there, those that the deparser and the architecture read. Ways that meet unite their sets.
// A statement in an action is needed when it is at any of the places that may run it. Variables
// count as a whole: writing a part of one does not end the need for the rest.
#include "compiler/chip/graph/graph_impl.h"

#include <string.h>

#define MAX_NEST 1100u

struct live {
    struct graph *g;
    struct arena *a;
    size_t words;
    graph_word *at_end; // what is read after the control
    // By statement of the simplified control: whether it stays; by the address of 'var' in one that
    // is executed anyway: whether its result is read. A table of pointers, grown as needed.
    const void **kept;
    size_t n_kept, cap;
    unsigned nest;
    bool in_straight_action; // of a table, without conditions
};

// ---- statements that stay -----------------------------------------------------------------------

static size_t graph_live_slot_of(const struct live *l, const void *t) {
    size_t i = ((uintptr_t)t >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    for (i %= l->cap; l->kept[i] && l->kept[i] != t;)
        i = i + 1 == l->cap ? 0 : i + 1;
    return i;
}

static bool graph_live_stays(const struct live *l, const void *t) {
    return l->cap > 0 && l->kept[graph_live_slot_of(l, t)] == t;
}

static void graph_live_grow(struct live *l) {
    const void **old = l->kept;
    size_t n = l->cap;
    l->cap = n ? 2 * n : 256;
    l->kept = ARENA_ARRAY(l->a, const void *, l->cap);
    for (size_t i = 0; i < n; i++)
        if (old[i])
            l->kept[graph_live_slot_of(l, old[i])] = old[i];
}

static void graph_live_keep(struct live *l, const void *t) {
    if (2 * l->n_kept >= l->cap)
        graph_live_grow(l);
    size_t i = graph_live_slot_of(l, t);
    l->n_kept += !l->kept[i];
    l->kept[i] = t;
}

// ---- sets ---------------------------------------------------------------------------------------

static graph_word *set_copy(struct live *l, const graph_word *s) {
    graph_word *n = ARENA_ARRAY(l->a, graph_word, l->words + 1);
    memcpy(n, s, l->words * sizeof *n);
    return n;
}

static void graph_live_read_var(struct live *l, graph_word *s, const struct ir_var *v) {
    if (v && v->id < l->g->n_vars)
        graph_set(s, v->id);
}

static void read_expr(struct live *l, graph_word *s, const struct ir_expr *e) {
    if (!e)
        return;
    if (e->op == IR_VAR)
        graph_live_read_var(l, s, e->var);
    read_expr(l, s, e->a);
    read_expr(l, s, e->b);
    read_expr(l, s, e->c);
}

static bool graph_live_wanted(const struct live *l, const graph_word *s, const struct ir_var *v) {
    return v && v->id < l->g->n_vars && graph_has(s, v->id);
}

static void set_var(const struct live *l, graph_word *s, const struct ir_var *v) {
    if (v && v->id < l->g->n_vars)
        graph_clear(s, v->id);
}

static void read_operands(struct live *l, graph_word *s, const struct ir_stmt *t) {
    read_expr(l, s, t->e);
    read_expr(l, s, t->e2);
    read_expr(l, s, t->e3);
    for (size_t i = 0; i < t->args.n; i++)
        read_expr(l, s, t->args.v[i]);
    for (size_t i = 0; i < t->csum_args.n; i++)
        read_expr(l, s, t->csum_args.v[i].e);
}

struct read_all {
    struct live *l;
    graph_word *s;
};
static void graph_live_read_node(void *ctx, struct ir_expr *e) {
    struct read_all *r = ctx;
    if (e->op == IR_VAR)
        graph_live_read_var(r->l, r->s, e->var);
}
static void graph_live_read_block(struct live *l, graph_word *s, struct ir_block *b) {
    struct read_all r = {l, s};
    const struct ir_visitor v = {.ctx = &r, .expr = graph_live_read_node, .shallow = true};
    ir_visit_block(&v, b);
}

// ---- the walk -----------------------------------------------------------------------------------

static bool graph_live_walk(struct live *l, const struct ir_block *b, graph_word *s);

// Each returns whether anything of the statement stays.
static bool graph_live_walk_if(struct live *l, const struct ir_stmt *t, graph_word *s) {
    graph_word *no = set_copy(l, s);
    bool some = graph_live_walk(l, t->then_b, s);
    some |= graph_live_walk(l, t->else_b, no);
    graph_unite(s, no, l->words);
    if (some)
        read_expr(l, s, t->e);
    return some;
}

static bool graph_live_walk_switch(struct live *l, const struct ir_stmt *t, graph_word *s) {
    graph_word *after = set_copy(l, s);
    bool some = false;
    for (size_t i = 0; i < t->cases.n; i++) {
        graph_word *one = set_copy(l, after);
        some |= graph_live_walk(l, t->cases.v[i].body, one);
        graph_unite(s, one, l->words);
    }
    if (some)
        read_expr(l, s, t->e);
    return some;
}

static void graph_live_walk_apply(struct live *l, const struct ir_stmt *t, graph_word *s) {
    const struct ir_table *tab = t->table;
    graph_word *before = set_copy(l, s);
    for (size_t i = 0; i < tab->actions.n; i++) {
        graph_word *one = set_copy(l, s);
        const struct ir_block *body = l->g->action_bodies[tab->actions.v[i].action->id];
        l->in_straight_action = body && graph_is_straight(body);
        graph_live_walk(l, body, one);
        l->in_straight_action = false;
        graph_unite(before, one, l->words);
    }
    memcpy(s, before, l->words * sizeof *s);
    for (size_t i = 0; i < tab->keys.n; i++)
        read_expr(l, s, tab->keys.v[i].expr);
    graph_live_read_block(l, s, tab->select);
}

static bool is_pure(const struct ir_stmt *t) {
    return t->kind == IR_ASSIGN || t->kind == IR_HASH || t->kind == IR_RANDOM;
}

// What is executed for what it does besides: it stays when nobody reads its result, without one.
static bool live_has_result(const struct ir_stmt *t) {
    return (t->kind == IR_REG_EXEC || t->kind == IR_REG_READ || t->kind == IR_METER_EXEC) && t->var;
}

static bool is_validity(const struct ir_stmt *t) {
    return t->kind == IR_SET_VALID || t->kind == IR_SET_INVALID;
}

static bool graph_live_is_needed(const struct live *l, const struct ir_stmt *t,
                                 const graph_word *s) {
    if (is_validity(t))
        return graph_live_wanted(l, s, t->header->valid);
    return !is_pure(t) || graph_live_wanted(l, s, t->var);
}

static void write_results(struct live *l, const struct ir_stmt *t, graph_word *s) {
    if (live_has_result(t) && graph_live_wanted(l, s, t->var))
        graph_live_keep(l, &t->var);
    if (is_validity(t)) {
        set_var(l, s, t->header->valid);
    } else if (!t->slice) {
        set_var(l, s, t->var);
        set_var(l, s, t->var2);
    }
}

static void read_all_operands(struct live *l, const struct ir_stmt *t, graph_word *s) {
    read_operands(l, s, t);
    if (t->regaction)
        graph_live_read_block(l, s, t->regaction->body);
}

// A hash that is wanted as it is, not only in parts that its own action takes.
static void keep_hash(struct live *l, const struct ir_stmt *t, const graph_word *s) {
    if (t->kind == IR_HASH && graph_live_wanted(l, s, t->var))
        graph_live_keep(l, &t->var);
}

static bool walk_plain(struct live *l, const struct ir_stmt *t, graph_word *s) {
    if (!graph_live_is_needed(l, t, s))
        return false;
    keep_hash(l, t, s);
    write_results(l, t, s);
    read_all_operands(l, t, s);
    return true;
}

static bool graph_live_walk_stmt(struct live *l, const struct ir_stmt *t, graph_word *s) {
    switch (t->kind) {
    case IR_IF:
        return graph_live_walk_if(l, t, s);
    case IR_SWITCH:
        return graph_live_walk_switch(l, t, s);
    case IR_APPLY:
        graph_live_walk_apply(l, t, s);
        return true;
    case IR_EXIT:
        memcpy(s, l->at_end, l->words * sizeof *s);
        return true;
    default:
        return walk_plain(l, t, s);
    }
}

// Of an extern, and a later statement of the action, which ends at 'end', reads it.
static bool graph_live_is_taken(const struct live *l, const struct ir_block *b, size_t i,
                                size_t end) {
    const struct ir_stmt *x = b->stmts.v[i];
    if (!x->var || (x->kind != IR_HASH && x->kind != IR_RANDOM && !live_has_result(x)))
        return false;
    for (size_t k = i + 1; k < end; k++) {
        const struct ir_stmt *t = b->stmts.v[k];
        if (t->kind == IR_ASSIGN && graph_live_stays(l, t) && ir_mentions(t->e, x->var))
            return true;
    }
    return false;
}

// Statements [from, end) are one action: what they read is what was there before all of them
// (parallel.c), but for results of externs.
static bool graph_live_walk_action(struct live *l, const struct ir_block *b, size_t from,
                                   size_t end, graph_word *s) {
    bool some = false;
    for (size_t i = end; i-- > from;) {
        keep_hash(l, b->stmts.v[i], s);
        if (graph_live_is_taken(l, b, i, end))
            graph_live_read_var(l, s, b->stmts.v[i]->var);
        if (graph_live_is_needed(l, b->stmts.v[i], s)) {
            graph_live_keep(l, b->stmts.v[i]);
            write_results(l, b->stmts.v[i], s);
            some = true;
        }
    }
    for (size_t i = from; i < end; i++)
        if (graph_live_stays(l, b->stmts.v[i]))
            read_all_operands(l, b->stmts.v[i], s);
    return some;
}

// Where the action begins that the statement before 'end' is of; 'end' - 1: it is of none, or by
// itself.
static size_t graph_live_begin_of(const struct live *l, const struct ir_block *b, size_t end) {
    size_t from = end - 1;
    const struct ir_stmt *last = b->stmts.v[from];
    if (!graph_is_plain(last) || (!last->action_call && !l->in_straight_action))
        return from;
    while (from > 0 && graph_is_plain(b->stmts.v[from - 1]) &&
           (l->in_straight_action || b->stmts.v[from - 1]->action_call == last->action_call))
        from--;
    return from;
}

static bool graph_live_walk(struct live *l, const struct ir_block *b, graph_word *s) {
    bool some = false;
    if (!b || l->nest >= MAX_NEST)
        return false;
    l->nest++;
    for (size_t end = b->stmts.n, from; end > 0; end = from) {
        from = graph_live_begin_of(l, b, end);
        if (end - from > 1) {
            some |= graph_live_walk_action(l, b, from, end, s);
        } else if (graph_live_walk_stmt(l, b->stmts.v[from], s)) {
            graph_live_keep(l, b->stmts.v[from]);
            some = true;
        }
    }
    l->nest--;
    return some;
}

static void prune(const struct live *l, struct ir_block *b) {
    size_t n = 0;
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        struct ir_stmt *t = b->stmts.v[i];
        if (!graph_live_stays(l, t))
            continue;
        if (t->kind == IR_IF) {
            prune(l, t->then_b);
            prune(l, t->else_b);
        }
        for (size_t k = 0; t->kind == IR_SWITCH && k < t->cases.n; k++)
            prune(l, t->cases.v[k].body);
        if (live_has_result(t) && !graph_live_stays(l, &t->var)) {
            struct ir_stmt *const without = ARENA_NEW(l->a, struct ir_stmt);
            *without = *t;
            without->var = NULL;
            t = without;
        }
        if (t->kind == IR_HASH && !graph_live_stays(l, &t->var)) {
            struct ir_stmt *const in_parts = ARENA_NEW(l->a, struct ir_stmt);
            *in_parts = *t;
            in_parts->idle = true;
            t = in_parts;
        }
        b->stmts.v[n++] = t;
    }
    if (b)
        b->stmts.n = n;
}

// ---- what is read after the control ------------------------------------------------------------

static void emit_reads(void *ctx, struct ir_stmt *t) {
    struct read_all *r = ctx;
    for (size_t i = 0; i < t->csum_args.n; i++)
        if (t->csum_args.v[i].only_if)
            graph_live_read_var(r->l, r->s, t->csum_args.v[i].only_if->valid);
    if (t->kind != IR_EMIT)
        return;
    graph_live_read_var(r->l, r->s, t->header->valid);
    for (size_t i = 0; i < t->header->fields.n; i++)
        graph_live_read_var(r->l, r->s, t->header->fields.v[i]);
}

static bool is_input(enum ir_intrinsic i) {
    return i == IRI_GLOBAL_TSTAMP || i == IRI_GLOBAL_VER || i == IRI_PARSER_ERR;
}

static void graph_live_read_outside(struct live *l, graph_word *s) {
    struct read_all r = {l, s};
    const struct ir_visitor v = {
        .ctx = &r, .expr = graph_live_read_node, .stmt = emit_reads, .shallow = true};
    ir_visit_block(&v, l->g->ir->deparser);
    for (int i = 0; i < IRI_COUNT; i++)
        if (!is_input((enum ir_intrinsic)i))
            graph_live_read_var(l, s, l->g->ir->intrinsic[i]);
}

// A variable is dead when neither what is left of the control nor what comes after it reads it.
struct use {
    struct live *l;
    graph_word *s;
};
static void graph_live_use_stmt(void *ctx, struct ir_stmt *t) {
    struct use *u = ctx;
    if (t->kind == IR_APPLY) {
        for (size_t i = 0; i < t->table->keys.n; i++)
            read_expr(u->l, u->s, t->table->keys.v[i].expr);
        graph_live_read_block(u->l, u->s, t->table->select);
    }
    if (t->regaction)
        graph_live_read_block(u->l, u->s, t->regaction->body);
}

static void find_dead(struct live *l) {
    struct graph *g = l->g;
    graph_word *s = set_copy(l, l->at_end);
    struct use u = {l, s};
    struct read_all r = {l, s};
    const struct ir_visitor stmts = {.ctx = &u, .stmt = graph_live_use_stmt, .shallow = true};
    const struct ir_visitor exprs = {.ctx = &r, .expr = graph_live_read_node, .shallow = true};
    ir_visit_block(&stmts, g->control);
    ir_visit_block(&exprs, g->control);
    for (size_t i = 0; i < g->ir->actions.n; i++) {
        ir_visit_block(&stmts, g->action_bodies[i]);
        ir_visit_block(&exprs, g->action_bodies[i]);
    }
    bool *dead = ARENA_ARRAY(l->a, bool, g->n_vars + 1);
    for (unsigned i = 0; i < g->n_vars; i++)
        dead[i] = !graph_has(s, i);
    g->gress->dead = dead;
}

void graph_live(struct graph *g) {
    struct live l = {.g = g, .a = g->a, .words = graph_words(g->n_vars)};
    l.at_end = ARENA_ARRAY(g->a, graph_word, l.words + 1);
    graph_live_grow(&l);
    graph_live_read_outside(&l, l.at_end);
    g->output = ARENA_ARRAY(g->a, bool, g->n_vars + 1);
    for (unsigned i = 0; i < g->n_vars; i++)
        g->output[i] = graph_has(l.at_end, i);
    graph_live_walk(&l, g->control, set_copy(&l, l.at_end));
    prune(&l, g->control);
    for (size_t i = 0; i < g->ir->actions.n; i++)
        prune(&l, g->action_bodies[i]);
    find_dead(&l);
}

// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/walk.h"

void ir_visit_expr(const struct ir_visitor *v, struct ir_expr *e) {
    if (!e || !v->expr)
        return;
    ir_visit_expr(v, e->a);
    ir_visit_expr(v, e->b);
    ir_visit_expr(v, e->c);
    v->expr(v->ctx, e);
}

static void visit_table(const struct ir_visitor *v, struct ir_table *t) {
    for (size_t i = 0; i < t->keys.n; i++)
        ir_visit_expr(v, t->keys.v[i].expr);
    for (size_t i = 0; i < t->key_defined.n; i++)
        ir_visit_expr(v, t->key_defined.v[i]);
    ir_visit_block(v, t->reports);
    for (size_t i = 0; i < t->actions.n; i++)
        ir_visit_block(v, t->actions.v[i].action->body);
    ir_visit_block(v, t->select);
}

void ir_visit_stmt(const struct ir_visitor *v, struct ir_stmt *s) {
    if (v->stmt)
        v->stmt(v->ctx, s);
    ir_visit_expr(v, s->e);
    ir_visit_expr(v, s->e2);
    ir_visit_expr(v, s->e3);
    for (size_t i = 0; i < s->args.n; i++)
        ir_visit_expr(v, s->args.v[i]);
    for (size_t i = 0; i < s->csum_args.n; i++)
        ir_visit_expr(v, s->csum_args.v[i].e);
    if (s->table && !v->shallow)
        visit_table(v, s->table);
    if (s->regaction && !v->shallow) {
        const struct ir_register *r = s->regaction->reg;
        ir_visit_block(v, s->regaction->body);
        if (s->use && r->overflow)
            ir_visit_block(v, r->overflow->body);
        if (s->use && r->underflow)
            ir_visit_block(v, r->underflow->body);
    }
    ir_visit_block(v, s->then_b);
    ir_visit_block(v, s->else_b);
    for (size_t i = 0; i < s->cases.n; i++)
        ir_visit_block(v, s->cases.v[i].body);
}

void ir_visit_block(const struct ir_visitor *v, struct ir_block *b) {
    if (!b)
        return;
    for (size_t i = 0; i < b->stmts.n; i++)
        ir_visit_stmt(v, b->stmts.v[i]);
}

void ir_written_vars(struct ir_stmt *s, void (*fn)(void *ctx, struct ir_var **var), void *ctx) {
    struct ir_var **slots[] = {&s->var, &s->var2, &s->hit, &s->action_run};
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if (*slots[i])
            fn(ctx, slots[i]);
}

// ---- the same for those who only look ----

struct look {
    ir_on_stmt on_stmt;
    ir_on_expr on_expr;
    void *aux;
};

static void look_at_stmt(void *ctx, struct ir_stmt *s) {
    const struct look *l = ctx;
    l->on_stmt(l->aux, s);
}

static void look_at_expr(void *ctx, struct ir_expr *x) {
    const struct look *l = ctx;
    l->on_expr(l->aux, x);
}

static struct ir_visitor visitor_of(struct look *l) {
    return (struct ir_visitor){
        .ctx = l,
        .stmt = l->on_stmt ? look_at_stmt : NULL,
        .expr = l->on_expr ? look_at_expr : NULL,
        .shallow = true,
    };
}

void ir_walk_expr(const struct ir_expr *x, ir_on_expr on_expr, void *aux) {
    struct look l = {NULL, on_expr, aux};
    const struct ir_visitor v = visitor_of(&l);
    ir_visit_expr(&v, (struct ir_expr *)x);
}

void ir_walk_stmt(const struct ir_stmt *s, ir_on_stmt on_stmt, ir_on_expr on_expr, void *aux) {
    struct look l = {on_stmt, on_expr, aux};
    const struct ir_visitor v = visitor_of(&l);
    ir_visit_stmt(&v, (struct ir_stmt *)s);
}

void ir_walk(const struct ir_block *b, ir_on_stmt on_stmt, ir_on_expr on_expr, void *aux) {
    struct look l = {on_stmt, on_expr, aux};
    const struct ir_visitor v = visitor_of(&l);
    ir_visit_block(&v, (struct ir_block *)b);
}

void ir_walk_gress(const struct ir_gress *g, ir_on_stmt on_stmt, ir_on_expr on_expr, void *aux) {
    ir_walk(g->control, on_stmt, on_expr, aux);
    ir_walk(g->deparser, on_stmt, on_expr, aux);
    for (size_t i = 0; i < g->actions.n; i++)
        ir_walk(g->actions.v[i]->body, on_stmt, on_expr, aux);
    for (size_t i = 0; i < g->regactions.n; i++)
        ir_walk(g->regactions.v[i]->body, on_stmt, on_expr, aux);
    for (size_t i = 0; i < g->tables.n; i++) {
        ir_walk(g->tables.v[i]->select, on_stmt, on_expr, aux);
        for (size_t k = 0; k < g->tables.v[i]->keys.n; k++)
            ir_walk_expr(g->tables.v[i]->keys.v[k].expr, on_expr, aux);
    }
    for (size_t i = 0; i < g->states.n; i++) {
        ir_walk(g->states.v[i]->body, on_stmt, on_expr, aux);
        for (size_t k = 0; k < g->states.v[i]->keys.n; k++)
            ir_walk_expr(g->states.v[i]->keys.v[k], on_expr, aux);
    }
}

bool ir_mentions(const struct ir_expr *x, const struct ir_var *v) {
    return x && ((x->op == IR_VAR && x->var == v) || ir_mentions(x->a, v) || ir_mentions(x->b, v) ||
                 ir_mentions(x->c, v));
}

struct finder {
    enum ir_stmt_kind kind;
    bool found;
};

static void find_kind(void *aux, const struct ir_stmt *s) {
    struct finder *f = aux;
    f->found |= s->kind == f->kind;
}

bool ir_block_has(const struct ir_block *b, enum ir_stmt_kind kind) {
    struct finder f = {.kind = kind};
    ir_walk(b, find_kind, NULL, &f);
    return f.found;
}

struct hash_uses {
    const struct ir_hash *hash;
    const struct ir_var *var; // its result
    size_t mentions, slices;
    unsigned most; // of the slices, the bit after the last
};

static void walk_find_hash(void *aux, const struct ir_stmt *s) {
    struct hash_uses *u = aux;
    if (s->kind == IR_HASH && s->hash == u->hash)
        u->var = s->var;
}

static void walk_hash_use(void *aux, const struct ir_expr *x) {
    struct hash_uses *u = aux;
    u->mentions += x->op == IR_VAR && x->var == u->var;
    if (x->op != IR_SLICE || x->a->op != IR_VAR || x->a->var != u->var)
        return;
    u->slices++;
    u->most = x->lo + x->width > u->most ? x->lo + x->width : u->most;
}

unsigned ir_hash_used_bits(const struct ir_gress *g, const struct ir_hash *h) {
    struct hash_uses u = {.hash = h};
    ir_walk_gress(g, walk_find_hash, NULL, &u);
    bool whole = !u.var || u.var->header;
    for (unsigned i = 0; i < IRI_COUNT; i++)
        whole = whole || g->intrinsic[i] == u.var;
    if (whole)
        return h->width;
    ir_walk_gress(g, NULL, walk_hash_use, &u);
    return u.mentions == u.slices && u.slices ? u.most : h->width;
}

// SPDX-License-Identifier: Apache-2.0
//
// build_stmt: statements.
#include "compiler/syntax/build.h"

stmt_vec *stmts_new(struct parser *p) {
    return ARENA_NEW(p->a, stmt_vec);
}

stmt_vec *stmts_add(struct parser *p, stmt_vec *list, struct stmt *s) {
    VEC_PUSH(p->a, list, s);
    return list;
}

// --------------------------------------------------------------------------------------------
// Depth

static unsigned build_stmt_max_u(unsigned x, unsigned y) {
    return x > y ? x : y;
}

static unsigned stmt_depth(const struct stmt *s) {
    return s ? s->depth : 0;
}

static unsigned stmts_depth(const stmt_vec *list) {
    unsigned depth = 0;
    for (size_t i = 0; list && i < list->n; i++)
        depth = build_stmt_max_u(depth, list->v[i]->depth);
    return depth;
}

// The functions in an instance's initialiser nest statements in a declaration.
static unsigned decl_depth(const struct decl *d) {
    unsigned depth = stmt_depth(d->body);
    for (size_t i = 0; i < d->init_body.n; i++)
        depth = build_stmt_max_u(depth, decl_depth(d->init_body.v[i]) + 1);
    return depth;
}

static struct stmt *stmt_done(struct parser *p, struct stmt *s, unsigned children) {
    s->depth = children + 1;
    if (s->depth <= AST_MAX_DEPTH)
        return s;
    nested_too_deeply(p, s->at);
    return stmt_new(p, s->at, ST_EMPTY);
}

// --------------------------------------------------------------------------------------------

struct stmt *stmt_new(struct parser *p, struct loc at, enum stmt_kind kind) {
    struct stmt *s = ARENA_NEW(p->a, struct stmt);
    s->kind = kind;
    s->at = at;
    s->assign_op = -1;
    s->depth = 1;
    return s;
}

struct stmt *stmt_annotate(struct stmt *s, const annot_vec *annots) {
    if (annots)
        s->annots = *annots;
    return s;
}

struct stmt *stmt_annotate_decl(struct stmt *s, const annot_vec *annots) {
    if (s->decl)
        decl_annotate(s->decl, annots);
    return s;
}

struct stmt *stmt_block(struct parser *p, struct loc at, struct scope_mark mark,
                        const stmt_vec *stmts, const annot_vec *annots) {
    scope_leave(p->scope, mark);
    struct stmt *s = stmt_annotate(stmt_new(p, at, ST_BLOCK), annots);
    s->stmts = *stmts;
    return stmt_done(p, s, stmts_depth(stmts));
}

struct stmt *stmt_decl(struct parser *p, struct loc at, struct decl *d) {
    struct stmt *s = stmt_new(p, at, ST_DECL);
    s->decl = d;
    return stmt_done(p, s, decl_depth(d));
}

struct stmt *stmt_call(struct parser *p, struct loc at, struct expr *e) {
    if (e->kind != EX_CALL) {
        parse_error(p, at, "this statement does nothing; a call or an assignment is expected");
        return stmt_new(p, at, ST_EMPTY);
    }
    struct stmt *s = stmt_new(p, at, ST_CALL);
    s->a = e;
    return s;
}

static bool is_place(const struct expr *e) {
    while (e->kind == EX_MEMBER || e->kind == EX_INDEX || e->kind == EX_SLICE ||
           e->kind == EX_PLUS_SLICE)
        e = e->a;
    return e->kind == EX_NAME || e->kind == EX_THIS || e->kind == EX_TYPENAME;
}

struct stmt *stmt_assign(struct parser *p, struct loc at, int op, struct expr *a, struct expr *b) {
    if (!is_place(a))
        parse_error(p, a->at, "this cannot be assigned to; a variable or a field is expected");
    struct stmt *s = stmt_new(p, at, ST_ASSIGN);
    s->assign_op = op;
    s->a = a;
    s->b = b;
    return s;
}

struct stmt *stmt_return(struct parser *p, struct loc at, struct expr *e) {
    struct stmt *s = stmt_new(p, at, ST_RETURN);
    s->a = e;
    return s;
}

struct stmt *stmt_if(struct parser *p, struct loc at, struct expr *condition, struct stmt *then_s,
                     struct stmt *else_s) {
    struct stmt *s = stmt_new(p, at, ST_IF);
    s->a = condition;
    s->then_s = then_s;
    s->else_s = else_s;
    return stmt_done(p, s, build_stmt_max_u(then_s->depth, stmt_depth(else_s)));
}

// --------------------------------------------------------------------------------------------
// switch: the cases are collected in a statement that becomes the switch.

struct stmt *stmt_switch(struct parser *p, struct loc at, struct expr *e, struct stmt *cases) {
    cases->at = at;
    cases->a = e;
    return stmt_done(p, cases, cases->depth);
}

struct stmt *stmt_switch_add(struct parser *p, struct stmt *cases, struct switch_case *c) {
    VEC_PUSH(p->a, &cases->cases, c);
    cases->depth = build_stmt_max_u(cases->depth, stmt_depth(c->body));
    return cases;
}

struct switch_case *switch_case_of(struct parser *p, struct loc at, struct expr *label,
                                   struct stmt *body) {
    struct switch_case *c = ARENA_NEW(p->a, struct switch_case);
    c->at = at;
    c->label = label;
    c->body = body;
    return c;
}

// --------------------------------------------------------------------------------------------
// Loops

struct stmt *stmt_for(struct parser *p, struct loc at, struct scope_mark mark, const stmt_vec *init,
                      struct expr *condition, const stmt_vec *update, struct stmt *body) {
    scope_leave(p->scope, mark);
    struct stmt *s = stmt_new(p, at, ST_FOR);
    if (init)
        s->init = *init;
    if (update)
        s->update = *update;
    s->a = condition;
    s->body = body;
    return stmt_done(p, s, build_stmt_max_u(stmts_depth(init), body->depth));
}

struct stmt *stmt_forin(struct parser *p, struct loc at, struct scope_mark mark,
                        struct decl *variable, struct expr *collection, struct stmt *body) {
    scope_leave(p->scope, mark);
    struct stmt *s = stmt_new(p, at, ST_FORIN);
    s->decl = variable;
    s->a = collection;
    s->body = body;
    return stmt_done(p, s, body->depth);
}

// --------------------------------------------------------------------------------------------
// Transitions

struct stmt *stmt_transition(struct parser *p, struct loc at, struct name next) {
    struct stmt *s = stmt_new(p, at, ST_TRANSITION);
    s->name = next.text;
    s->name_at = next.at;
    return s;
}

struct stmt *stmt_select(struct parser *p, struct loc at, const expr_vec *keys,
                         struct select *cases) {
    struct stmt *s = stmt_new(p, at, ST_TRANSITION);
    s->select = cases;
    cases->at = at;
    if (keys)
        cases->keys = *keys;
    return s;
}

struct select *select_new(struct parser *p) {
    return ARENA_NEW(p->a, struct select);
}

struct select *select_add(struct parser *p, struct select *s, struct select_case *c) {
    VEC_PUSH(p->a, &s->cases, c);
    return s;
}

struct select_case *select_case_of(struct parser *p, struct loc at, struct expr *keyset,
                                   struct name next) {
    struct select_case *c = ARENA_NEW(p->a, struct select_case);
    c->at = at;
    c->keyset = keyset;
    c->next = next.text;
    c->name_at = next.at;
    return c;
}

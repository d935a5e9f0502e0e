// SPDX-License-Identifier: Apache-2.0
#include "harness/compiler/check/annotations.h"

struct walk {
    const struct diag *d;
    FILE *out;
    unsigned holes;
};

static void hole(struct walk *w, struct loc at, const char *what) {
    fprintf(w->out, "%s:%u:%u: %s\n", diag_path(w->d, at.file), at.line, at.col, what);
    w->holes++;
}

// An inference variable must not outlive the call it was made for.
static bool is_open(const struct type *t) {
    if (!t)
        return false;
    if (t->kind == TY_VAR && !t->decl)
        return true;
    if (t->elem && is_open(t->elem))
        return true;
    for (size_t i = 0; i < t->args.n; i++)
        if (is_open(t->args.v[i]))
            return true;
    return false;
}

static void walk_type(struct walk *w, struct loc at, const struct type *t) {
    if (!t)
        hole(w, at, "no type");
    else if (t->kind == TY_ERROR_TYPE)
        hole(w, at, "poisoned type");
    else if (is_open(t))
        hole(w, at, "open type");
}

static void walk_call(struct walk *w, const struct expr *e) {
    if (e->call == CALL_UNRESOLVED)
        hole(w, e->at, "unresolved call");
    if (e->call != CALL_BUILTIN && !e->decl)
        hole(w, e->at, "call without decl");
    if (e->call == CALL_BUILTIN && e->builtin == BI_NONE)
        hole(w, e->at, "no builtin");
    if (e->call == CALL_CTOR && e->decl && e->decl->kind == D_EXTERN && !e->ctor)
        hole(w, e->at, "no constructor");
    size_t given = 0;
    for (size_t i = 0; i < e->bound.n; i++)
        given += e->bound.v[i] != NULL;
    if (given != e->args.n)
        hole(w, e->at, "an argument is not bound");
    for (size_t i = 0; i < e->inst.n; i++)
        walk_type(w, e->at, e->inst.v[i]);
}

static void walk_expr(struct walk *w, const struct expr *e) {
    if (!e)
        return;
    walk_type(w, e->at, e->type);
    if (e->kind == EX_NAME && !e->decl)
        hole(w, e->at, "name without decl");
    if (e->kind == EX_CALL)
        walk_call(w, e);
    walk_expr(w, e->a);
    walk_expr(w, e->b);
    if (e->kind != EX_MEMBER && e->kind != EX_INDEX)
        walk_expr(w, e->c);
    for (size_t i = 0; i < e->args.n; i++)
        walk_expr(w, e->args.v[i]->value);
}

static void walk_decl(struct walk *w, const struct decl *d);
static void walk_stmt(struct walk *w, const struct stmt *s);

static void walk_select(struct walk *w, const struct select *s) {
    for (size_t i = 0; i < s->keys.n; i++)
        walk_expr(w, s->keys.v[i]);
    for (size_t i = 0; i < s->cases.n; i++)
        walk_expr(w, s->cases.v[i]->keyset);
}

static void walk_stmts(struct walk *w, const stmt_vec *stmts) {
    for (size_t i = 0; i < stmts->n; i++)
        walk_stmt(w, stmts->v[i]);
}

static void walk_stmt(struct walk *w, const struct stmt *s) {
    if (!s)
        return;
    walk_expr(w, s->a);
    walk_expr(w, s->b);
    walk_stmts(w, &s->stmts);
    walk_stmts(w, &s->init);
    walk_stmts(w, &s->update);
    walk_stmt(w, s->then_s);
    walk_stmt(w, s->else_s);
    walk_stmt(w, s->body);
    if (s->decl)
        walk_decl(w, s->decl);
    for (size_t i = 0; i < s->cases.n; i++) {
        walk_expr(w, s->cases.v[i]->label);
        walk_stmt(w, s->cases.v[i]->body);
    }
    if (s->select)
        walk_select(w, s->select);
}

static void walk_table(struct walk *w, const struct table *t) {
    for (size_t i = 0; i < t->keys.n; i++) {
        walk_expr(w, t->keys.v[i]->expr);
        if (!t->keys.v[i]->kind)
            hole(w, t->keys.v[i]->at, "key without match kind");
    }
    for (size_t i = 0; i < t->actions.n; i++) {
        walk_expr(w, t->actions.v[i]->call);
        if (!t->actions.v[i]->action)
            hole(w, t->actions.v[i]->at, "action not resolved");
    }
    walk_expr(w, t->default_action);
    for (size_t i = 0; i < t->entries.n; i++) {
        walk_expr(w, t->entries.v[i]->keyset);
        walk_expr(w, t->entries.v[i]->call);
        walk_expr(w, t->entries.v[i]->priority);
    }
    for (size_t i = 0; i < t->properties.n; i++)
        walk_expr(w, t->properties.v[i]->value);
}

static void walk_decls(struct walk *w, const decl_vec *decls) {
    for (size_t i = 0; i < decls->n; i++)
        if (decls->v[i])
            walk_decl(w, decls->v[i]);
}

static void walk_decl(struct walk *w, const struct decl *d) {
    walk_type(w, d->at, d->type);
    walk_decls(w, &d->params);
    walk_decls(w, &d->ctor_params);
    walk_decls(w, &d->members);
    walk_decls(w, &d->locals);
    walk_decls(w, &d->init_body);
    walk_expr(w, d->init);
    walk_stmt(w, d->body);
    if (d->table)
        walk_table(w, d->table);
    if (d->kind == D_INSTANCE) {
        if (!d->ctor_call)
            hole(w, d->at, "instance without constructor call");
        walk_expr(w, d->ctor_call);
    }
}

unsigned missing_annotations(const struct diag *d, const struct program *p, FILE *out) {
    struct walk w = {.d = d, .out = out};
    walk_decls(&w, &p->decls);
    return w.holes;
}

// SPDX-License-Identifier: Apache-2.0
//
// infer: type variables of one call, and the unification that finds what they stand for.
//
// A generic callee's type parameters become fresh variables (TY_VAR without decl, numbered).
// Unifying the parameters' types with the arguments' binds them; 'settle' replaces them. No
// variable survives its call. Unification only finds bindings: whether an argument really fits its
// parameter is decided afterwards by coerce, which knows the implicit conversions and words the
// message.
#include "compiler/check/check_impl.h"

#include <string.h>

struct type *new_var(struct checker *c) {
    struct type *t = new_type(c, TY_VAR);
    t->width = (unsigned)c->vars.n;
    VEC_PUSH(c->a, &c->vars, NULL);
    return t;
}

static bool is_open(const struct type *t) {
    return t->kind == TY_VAR && !t->decl;
}

struct type *follow(struct checker *c, struct type *t) {
    while (t && is_open(t) && t->width < c->vars.n && c->vars.v[t->width])
        t = c->vars.v[t->width];
    return t;
}

struct type *settle(struct checker *c, struct type *t) {
    t = follow(c, t);
    if (!t || (!t->elem && t->args.n == 0) || !has_vars(c, t))
        return t;
    struct type *copy = ARENA_NEW(c->a, struct type);
    *copy = *t;
    if (t->elem)
        copy->elem = settle(c, t->elem);
    copy->args.v = ARENA_ARRAY(c->a, struct type *, t->args.n);
    copy->args.cap = t->args.n;
    for (size_t i = 0; i < t->args.n; i++)
        copy->args.v[i] = settle(c, t->args.v[i]);
    return copy;
}

// Whether settling would change 't', or a variable in it is still unbound.
bool has_vars(struct checker *c, struct type *t) {
    if (!t)
        return false;
    if (is_open(t))
        return true;
    if (t->elem && has_vars(c, t->elem))
        return true;
    for (size_t i = 0; i < t->args.n; i++)
        if (has_vars(c, t->args.v[i]))
            return true;
    return false;
}

static bool occurs(struct checker *c, unsigned var, struct type *t) {
    t = follow(c, t);
    if (!t)
        return false;
    if (is_open(t))
        return t->width == var;
    if (t->elem && occurs(c, var, t->elem))
        return true;
    for (size_t i = 0; i < t->args.n; i++)
        if (occurs(c, var, t->args.v[i]))
            return true;
    return false;
}

static bool check_infer_bind(struct checker *c, struct type *var, struct type *t) {
    if (t->kind == TY_VOID || t->kind == TY_TYPE || occurs(c, var->width, t))
        return false;
    c->vars.v[var->width] = t;
    return true;
}

static bool unify_all(struct checker *c, const struct type *f, const struct type *a) {
    if (f->args.n != a->args.n)
        return false;
    bool ok = true;
    for (size_t i = 0; i < f->args.n; i++)
        ok = unify(c, f->args.v[i], a->args.v[i]) && ok;
    return ok;
}

// A list expression's tuple against the fields of a struct.
static bool unify_fields(struct checker *c, struct type *f, const struct type *a) {
    bool ok = true;
    for (size_t i = 0; i < a->args.n; i++) {
        const char *name = a->kind == TY_RECORD && i < a->names.n ? a->names.v[i] : NULL;
        if (!name && i < f->decl->members.n)
            name = f->decl->members.v[i]->name;
        struct type *ft = type_field(c->a, f, name, NULL);
        ok = ft && unify(c, ft, a->args.v[i]) && ok;
    }
    return ok;
}

static bool check_infer_is_block(const struct type *t) {
    return t->kind == TY_PARSER || t->kind == TY_CONTROL;
}

static bool has_fields(const struct type *t) {
    return (t->kind == TY_STRUCT || t->kind == TY_HEADER) && t->decl;
}

bool unify(struct checker *c, struct type *formal, struct type *actual) {
    struct type *f = follow(c, formal), *a = follow(c, actual);
    if (!f || !a || f == a)
        return f == a;
    if (is_open(f))
        return is_open(a) && f->width == a->width ? true : check_infer_bind(c, f, a);
    if (is_open(a))
        return check_infer_bind(c, a, f);
    if (f->kind == TY_DONTCARE || a->kind == TY_DONTCARE || f->kind == TY_ERROR_TYPE ||
        a->kind == TY_ERROR_TYPE)
        return true;
    if (has_fields(f) && (a->kind == TY_TUPLE || a->kind == TY_RECORD))
        return unify_fields(c, f, a);
    if (f->kind == TY_LIST && a->kind == TY_TUPLE) {
        for (size_t i = 0; i < a->args.n; i++)
            if (!unify(c, f->elem, a->args.v[i]))
                return false;
        return true;
    }
    if (f->kind != a->kind)
        return a->kind == TY_INT && f->kind == TY_BITS;
    if (check_infer_is_block(f) && f->decl != a->decl)
        return block_fits(c, f, a);
    if (f->elem && a->elem && f->kind != TY_NEWTYPE && f->kind != TY_ENUM)
        return unify(c, f->elem, a->elem) && f->width == a->width;
    if (f->args.n)
        return f->decl == a->decl && unify_all(c, f, a);
    return type_equal(f, a);
}

// ------------------------------------------------------------------------------------------------
// Parsers and controls against the block types of an architecture

static struct type *check_infer_param_type(struct checker *c, const struct type *block,
                                           const struct decl *p) {
    if (block->args.n == 0 || block->args.n != block->decl->tparams.n)
        return p->type;
    return type_subst(c->a, p->type, &block->decl->tparams, block->args.v);
}

// Position in 'actual' where the parameters stop agreeing; its length when they all agree.
// '*missing' is the first required parameter of 'formal' that finds no counterpart.
static size_t agreeing_params(struct checker *c, struct type *formal, struct type *actual,
                              const struct decl **missing) {
    const decl_vec *f = &formal->decl->params, *a = &actual->decl->params;
    size_t j = 0;
    *missing = NULL;
    for (size_t i = 0; i < f->n; i++) {
        const struct decl *want = f->v[i];
        bool agrees = false;
        if (j < a->n && want->dir == a->v[j]->dir) {
            struct type *wt = settle(c, check_infer_param_type(c, formal, want));
            struct type *at = check_infer_param_type(c, actual, a->v[j]);
            // An optional parameter must not bind variables by accident: compare it as it is.
            agrees = is_optional(want) ? type_equal(wt, at) : unify(c, wt, at);
        }
        if (agrees) {
            j++;
        } else if (!is_optional(want) && !want->init) {
            *missing = want;
            break;
        }
    }
    return j;
}

bool block_fits(struct checker *c, struct type *formal, struct type *actual) {
    const struct decl *missing;
    return agreeing_params(c, formal, actual, &missing) == actual->decl->params.n && !missing;
}

void note_misfit(struct checker *c, struct type *formal, struct type *actual) {
    static const char *const dirs[] = {"", "in ", "out ", "inout "};
    const decl_vec *a = &actual->decl->params;
    const struct decl *want;
    size_t j = agreeing_params(c, formal, actual, &want);
    if (!want && j < a->n)
        diag_note(c->d, a->v[j]->at, "'%s' has no parameter '%s%s' at this position",
                  formal->decl->name, dirs[a->v[j]->dir],
                  tn(c, check_infer_param_type(c, actual, a->v[j])));
    else if (want)
        diag_note(c->d, j < a->n ? a->v[j]->at : actual->decl->name_at,
                  "parameter %zu should be '%s%s'", j + 1, dirs[want->dir],
                  tn(c, check_infer_param_type(c, formal, want)));
}

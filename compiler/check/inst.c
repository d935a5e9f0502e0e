// SPDX-License-Identifier: Apache-2.0
//
// inst: instantiations and the implementations of abstract methods they carry (section 11.3).
#include "compiler/check/check_impl.h"

#include <string.h>

// ------------------------------------------------------------------------------------------------
// Where what may be instantiated (appendix on restrictions)

static const char *bad_instance(const struct checker *c, const struct type *t) {
    switch (t->kind) {
    case TY_PACKAGE:
        return c->place == AT_TOP ? NULL : "a package can only be instantiated at the top level";
    case TY_PARSER:
        return c->place == AT_PARSER ? NULL
                                     : "a parser can only be instantiated in a parser or as "
                                       "an argument of a package";
    case TY_CONTROL:
        return c->place == AT_CONTROL ? NULL
                                      : "a control can only be instantiated in a control or "
                                        "as an argument of a package";
    default:
        return NULL;
    }
}

static struct expr *constructor_call(struct checker *c, struct decl *d) {
    struct expr *callee = ARENA_NEW(c->a, struct expr);
    callee->kind = EX_TYPENAME;
    callee->at = d->tref->at;
    callee->tref = d->tref;
    struct expr *call = ARENA_NEW(c->a, struct expr);
    call->kind = EX_CALL;
    call->at = d->tref->at;
    call->a = callee;
    call->args.v = d->args.v;
    call->args.n = d->args.n;
    call->args.cap = d->args.n; // a copy: growing one must not touch the other
    return call;
}

// ------------------------------------------------------------------------------------------------
// Abstract methods

static bool has_abstract(const struct decl *ext) {
    for (size_t i = 0; i < ext->members.n; i++)
        if (ext->members.v[i]->is_abstract)
            return true;
    return false;
}

static struct decl *abstract_named(const struct decl *ext, const char *name) {
    for (size_t i = 0; i < ext->members.n; i++)
        if (ext->members.v[i]->is_abstract && has_name(ext->members.v[i], name))
            return ext->members.v[i];
    return NULL;
}

static struct type *specialized(struct checker *c, const struct type *object, struct type *t) {
    if (object->args.n == 0 || object->args.n != object->decl->tparams.n)
        return t;
    return type_subst(c->a, t, &object->decl->tparams, object->args.v);
}

// @optional parameters of the declaration may be left out from the end.
static bool same_count(const struct decl *abstract, const struct decl *impl) {
    if (impl->params.n > abstract->params.n)
        return false;
    for (size_t i = impl->params.n; i < abstract->params.n; i++)
        if (!is_optional(abstract->params.v[i]))
            return false;
    return true;
}

static void check_against(struct checker *c, const struct type *object, const struct decl *abstract,
                          const struct decl *impl) {
    struct type *result = specialized(c, object, abstract->type);
    if (!same_count(abstract, impl)) {
        diag_error(c->d, impl->name_at, "'%s' has %zu parameters, but its declaration has %zu",
                   impl->name, impl->params.n, abstract->params.n);
        note_declared(c, abstract);
        return;
    }
    if (!type_equal(result, impl->type))
        diag_error(c->d, impl->name_at, "'%s' returns '%s', but its declaration returns '%s'",
                   impl->name, tn(c, impl->type), tn(c, result));
    for (size_t i = 0; i < impl->params.n; i++) {
        const struct decl *want = abstract->params.v[i], *have = impl->params.v[i];
        struct type *wt = specialized(c, object, want->type);
        if (want->dir == have->dir && type_equal(wt, have->type))
            continue;
        static const char *const dirs[] = {"", "in ", "out ", "inout "};
        diag_error(c->d, have->at, "parameter '%s' must be '%s%s', as in the declaration of '%s'",
                   have->name, dirs[want->dir], tn(c, wt), abstract->name);
        note_declared(c, abstract);
    }
}

// A body may use what surrounds the instance: registers, constants, the control's parameters.
static void check_method_body(struct checker *c, struct decl *instance, struct decl *impl) {
    struct checker saved = *c;
    c->place = AT_METHOD;
    c->instance = instance;
    c->routine = impl;
    impl->parent = instance;
    names_push(c);
    declare_tparams(c, impl);
    impl->type = impl->tref ? resolve_type(c, impl->tref) : c->t_void;
    check_params(c, impl, &impl->params, false);
    c->returns = impl->type;
    check_body(c, impl->body);
    if (impl->type->kind != TY_VOID && impl->type->kind != TY_ERROR_TYPE &&
        !always_returns(impl->body))
        diag_error(c->d, impl->name_at, "not every path through '%s' returns a value", impl->name);
    names_pop(c);
    c->place = saved.place;
    c->instance = saved.instance;
    c->routine = saved.routine;
    c->returns = saved.returns;
}

static void check_implementation(struct checker *c, struct decl *instance, struct decl *impl) {
    const struct type *object = instance->type;
    check_method_body(c, instance, impl);
    if (object->kind != TY_EXTERN)
        return;
    const struct decl *abstract = abstract_named(object->decl, impl->name);
    if (abstract) {
        check_against(c, object, abstract, impl);
        return;
    }
    struct guess g = guess_start(c, impl->name);
    for (size_t i = 0; i < object->decl->members.n; i++)
        if (object->decl->members.v[i]->is_abstract)
            guess_try(&g, object->decl->members.v[i]->name);
    if (!has_abstract(object->decl))
        return; // reported
    diag_error(c->d, impl->name_at, "'%s' has no abstract method '%s'%s", object->decl->name,
               impl->name, guess_text(c, &g));
    note_declared(c, object->decl);
}

static bool implements(const struct decl *instance, const char *name) {
    for (size_t i = 0; i < instance->init_body.n; i++)
        if (instance->init_body.v[i]->kind == D_FUNCTION &&
            has_name(instance->init_body.v[i], name))
            return true;
    return false;
}

bool has_abstract_methods(const struct decl *ext) {
    for (size_t i = 0; i < ext->members.n; i++)
        if (ext->members.v[i]->is_abstract && !annot_find(&ext->members.v[i]->annots, "optional"))
            return true;
    return false;
}

static void check_all_implemented(struct checker *c, const struct decl *d) {
    const struct decl *ext = d->type->decl;
    for (size_t i = 0; i < ext->members.n; i++) {
        const struct decl *m = ext->members.v[i];
        if (!m->is_abstract || annot_find(&m->annots, "optional") || implements(d, m->name))
            continue;
        diag_error(c->d, d->name_at, "'%s' must implement the abstract method '%s' of '%s'",
                   d->name, m->name, ext->name);
        note_declared(c, m);
    }
}

static void check_initializer(struct checker *c, struct decl *d) {
    names_push(c);
    for (size_t i = 0; i < d->init_body.n; i++) {
        struct decl *m = d->init_body.v[i];
        if (m->kind != D_FUNCTION)
            check_local_decl(c, m);
        else
            check_implementation(c, d, m);
    }
    names_pop(c);
}

static void check_abstract(struct checker *c, struct decl *d) {
    if (d->type->kind == TY_EXTERN && d->init_body.n && !has_abstract(d->type->decl)) {
        diag_error(c->d, d->name_at, "'%s' has no abstract methods to implement",
                   d->type->decl->name);
        note_declared(c, d->type->decl);
    }
    if (d->type->kind == TY_EXTERN) {
        check_initializer(c, d);
        check_all_implemented(c, d);
    } else if (d->init_body.n) {
        diag_error(c->d, d->name_at, "only an instance of an extern can implement methods");
    }
}

void check_instance(struct checker *c, struct decl *d) {
    d->parent = c->block;
    d->ctor_call = constructor_call(c, d);
    d->ctor_call->type = infer_call(c, d->ctor_call);
    d->type = d->ctor_call->type;
    const char *bad = bad_instance(c, d->type);
    if (bad)
        diag_error(c->d, d->name_at.line ? d->name_at : d->at, "%s", bad);
    if (d->type->kind != TY_ERROR_TYPE)
        check_abstract(c, d);
    declare_name(c, d);
}

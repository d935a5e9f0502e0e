// SPDX-License-Identifier: Apache-2.0
//
// call: what a call calls, and whether it may stand where it stands (section 8.20 and the
// appendix on restrictions). Arguments are matched in args.c.
#include "compiler/check/check_impl.h"

#include <string.h>

// ------------------------------------------------------------------------------------------------
// Where a call may stand

static bool check_call_is_block(const struct type *t) {
    return t->kind == TY_PARSER || t->kind == TY_CONTROL;
}

static const char *place_text(enum place place) {
    switch (place) {
    case AT_TOP:
        return "at the top level";
    case AT_PARSER:
        return "among the declarations of a parser";
    case AT_STATE:
        return "in a parser state";
    case AT_CONTROL:
        return "among the declarations of a control";
    case AT_APPLY:
        return "in the apply block of a control";
    case AT_ACTION:
        return "in an action";
    case AT_FUNCTION:
        return "in a function";
    case AT_METHOD:
        return "in an abstract method";
    case AT_TABLE:
        return "in a table";
    }
    return "here";
}

#define PLACE(p) (1u << (p))

static bool check_place(struct checker *c, const struct expr *e, unsigned allowed,
                        const char *what) {
    if (allowed & PLACE(c->place))
        return true;
    diag_error(c->d, e->at, "%s cannot be called %s", what, place_text(c->place));
    return false;
}

static const unsigned anywhere_at_run_time =
    PLACE(AT_PARSER) | PLACE(AT_STATE) | PLACE(AT_CONTROL) | PLACE(AT_APPLY) | PLACE(AT_ACTION) |
    PLACE(AT_FUNCTION) | PLACE(AT_METHOD) | PLACE(AT_TABLE);

static bool check_recursion(struct checker *c, const struct expr *e, const struct decl *callee) {
    if (callee != c->routine && callee != c->block)
        return true;
    diag_error(c->d, e->at, "'%s' calls itself; P4 has no recursion", callee->name);
    return false;
}

// ------------------------------------------------------------------------------------------------
// Functions and actions

static void set_callee(struct checker *c, struct expr *e, struct decl *d, enum type_kind kind) {
    struct type *t = new_type(c, kind);
    t->decl = d;
    e->a->decl = d;
    e->a->type = t;
    e->decl = d;
}

// Section 19: checked as soon as the argument is known; the value of the call is the argument.
static void static_assertion(struct checker *c, struct expr *e) {
    struct expr *check = e->bound.n ? e->bound.v[0] : NULL;
    const struct expr *message = e->bound.n > 1 ? e->bound.v[1] : NULL;
    if (!check || !check->cval)
        return;
    e->cval = check->cval;
    if (big_sign(check->cval) != 0)
        return;
    if (message && message->kind == EX_STRING)
        diag_error(c->d, e->at, "static assertion failed: %s", message->name);
    else
        diag_error(c->d, e->at, "static assertion failed");
}

static struct type *call_function(struct checker *c, struct expr *e, const decl_vec *candidates) {
    struct signature sig = {.result = c->t_bad};
    struct decl *f = choose_overload(c, e, candidates, sig);
    if (!f)
        return poison(c, e);
    set_callee(c, e, f, TY_FUNCTION);
    e->call = CALL_FUNCTION;
    sig = with_candidate(c, sig, f);
    struct type *t = check_arguments(c, e, &sig);
    bool assertion = !f->body && strcmp(f->name, "static_assert") == 0;
    if (assertion)
        static_assertion(c, e);
    else if (t->kind != TY_EXTERN && // those make objects for the program's instances
             !check_place(c, e, anywhere_at_run_time,
                          f->body ? "a function" : "an extern function"))
        return poison(c, e);
    check_recursion(c, e, f);
    if (!f->body)
        check_core_function(c, e);
    return t;
}

static struct type *call_action(struct checker *c, struct expr *e, struct decl *d) {
    set_callee(c, e, d, TY_ACTION);
    e->call = CALL_ACTION;
    struct signature sig = {.decl = d, .params = &d->params, .result = c->t_void, .name = d->name};
    check_place(c, e, PLACE(AT_APPLY) | PLACE(AT_ACTION), "an action");
    check_recursion(c, e, d);
    return check_arguments(c, e, &sig);
}

static struct type *not_callable(struct checker *c, struct expr *e) {
    diag_error(c->d, e->a->at, "'%s' cannot be called", expr_text(c->a, e->a));
    if (e->a->decl)
        note_declared(c, e->a->decl);
    return poison(c, e);
}

static struct type *open_type_of(struct checker *c, struct expr *e, struct decl *d) {
    struct tref *t = ARENA_NEW(c->a, struct tref);
    t->kind = TR_NAME;
    t->at = e->at;
    t->name = d->name;
    t->absolute = e->absolute;
    return resolve_open_type(c, t);
}

static struct type *call_name(struct checker *c, struct expr *e) {
    decl_vec found = lookup_names(c, e->a->name, e->a->absolute);
    if (found.n == 0) {
        infer(c, e->a); // says that it is not declared
        return poison(c, e);
    }
    struct decl *d = found.v[0];
    e->a->decl = d;
    if (d->kind == D_FUNCTION)
        return call_function(c, e, &found);
    if (d->kind == D_ACTION)
        return call_action(c, e, d);
    if (is_type_decl(d))
        return construct(c, e, open_type_of(c, e->a, d));
    return not_callable(c, e);
}

// ------------------------------------------------------------------------------------------------
// Methods

static decl_vec methods_named(struct checker *c, const struct decl *ext, const char *name) {
    decl_vec found = {0};
    for (size_t i = 0; i < ext->members.n; i++)
        if (!ext->members.v[i]->is_ctor && has_name(ext->members.v[i], name))
            VEC_PUSH(c->a, &found, ext->members.v[i]);
    return found;
}

static struct type *unknown_method(struct checker *c, struct expr *e, const struct type *t) {
    struct guess g = guess_start(c, e->a->name);
    for (size_t i = 0; t->kind == TY_EXTERN && i < t->decl->members.n; i++)
        if (!t->decl->members.v[i]->is_ctor)
            guess_try(&g, t->decl->members.v[i]->name);
    diag_error(c->d, e->a->name_at, "'%s' has no method '%s'%s", tn(c, t), e->a->name,
               guess_text(c, &g));
    if (t->decl)
        note_declared(c, t->decl);
    return poison(c, e);
}

static struct type *call_method(struct checker *c, struct expr *e, struct type *t) {
    decl_vec candidates = methods_named(c, t->decl, e->a->name);
    if (candidates.n == 0)
        return unknown_method(c, e, t);
    struct signature sig = {.result = c->t_bad};
    if (t->args.n && t->args.n == t->decl->tparams.n) {
        sig.outer = &t->decl->tparams;
        sig.outer_args = t->args.v;
    }
    struct decl *m = choose_overload(c, e, &candidates, sig);
    if (!m)
        return poison(c, e);
    set_callee(c, e, m, TY_FUNCTION);
    e->call = CALL_METHOD;
    check_place(c, e, anywhere_at_run_time, "a method");
    if (e->a->a->kind == EX_THIS && c->routine && has_name(c->routine, m->name))
        diag_error(c->d, e->at, "'%s' calls itself; P4 has no recursion", m->name);
    sig = with_candidate(c, sig, m);
    struct type *result = check_arguments(c, e, &sig);
    if (result->kind != TY_ERROR_TYPE)
        check_core_method(c, e);
    return result;
}

// ------------------------------------------------------------------------------------------------
// apply

static bool no_arguments(struct checker *c, struct expr *e) {
    if (e->args.n == 0 && e->targs.n == 0)
        return true;
    diag_error(c->d, e->at, "'%s' takes no arguments", e->a->name);
    return false;
}

static struct type *check_call_apply_table(struct checker *c, struct expr *e, struct type *t) {
    e->a->type = t;
    e->call = CALL_APPLY_TABLE;
    e->decl = t->decl;
    e->a->decl = t->decl;
    no_arguments(c, e);
    check_place(c, e, PLACE(AT_APPLY), "a table");
    struct type *result = new_type(c, TY_APPLY_RESULT);
    result->decl = t->decl;
    return result;
}

// 'inst.apply(...)' and, with inferred type arguments, 'Type.apply(...)' (section 15.1).
static struct type *check_call_apply_block(struct checker *c, struct expr *e, struct type *t,
                                           bool direct) {
    bool parser = t->kind == TY_PARSER;
    e->call = CALL_APPLY_BLOCK;
    set_callee(c, e, t->decl, t->kind);
    check_place(c, e, parser ? PLACE(AT_STATE) : PLACE(AT_APPLY),
                parser ? "a parser" : "a control");
    check_recursion(c, e, t->decl);
    if (direct && t->decl->ctor_params.n)
        diag_error(c->d, e->at, "'%s' has constructor parameters; make an instance of it first",
                   t->decl->name);
    struct signature sig = {
        .decl = t->decl, .params = &t->decl->params, .result = c->t_void, .name = t->decl->name};
    if (t->args.n) {
        sig.outer = &t->decl->tparams;
        sig.outer_args = t->args.v;
    }
    struct type *result = check_arguments(c, e, &sig);
    e->a->a->type = settle(c, e->a->a->type);
    for (size_t i = 0; direct && i < t->args.n; i++)
        VEC_PUSH(c->a, &e->inst, settle(c, t->args.v[i]));
    return result;
}

// ------------------------------------------------------------------------------------------------
// Built-in methods (sections 8.17 to 8.19, 9)

static enum builtin builtin_named(const char *name) {
    static const struct {
        const char *name;
        enum builtin builtin;
    } all[] = {
        {"isValid", BI_IS_VALID},
        {"setValid", BI_SET_VALID},
        {"setInvalid", BI_SET_INVALID},
        {"push_front", BI_PUSH_FRONT},
        {"pop_front", BI_POP_FRONT},
        {"minSizeInBits", BI_MIN_SIZE_BITS},
        {"minSizeInBytes", BI_MIN_SIZE_BYTES},
        {"maxSizeInBits", BI_MAX_SIZE_BITS},
        {"maxSizeInBytes", BI_MAX_SIZE_BYTES},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].builtin;
    return BI_NONE;
}

static bool has_builtin(enum builtin b, const struct type *t) {
    switch (b) {
    case BI_NONE:
        return false;
    case BI_IS_VALID:
        return t->kind == TY_HEADER || t->kind == TY_UNION;
    case BI_SET_VALID:
    case BI_SET_INVALID:
        return t->kind == TY_HEADER;
    case BI_PUSH_FRONT:
    case BI_POP_FRONT:
        return t->kind == TY_STACK && (t->elem->kind == TY_HEADER || t->elem->kind == TY_UNION);
    default:
        return t->kind != TY_VOID;
    }
}

static void check_push_count(struct checker *c, struct expr *e) {
    if (e->args.n != 1 || e->args.v[0]->name) {
        diag_error(c->d, e->at, "'%s' takes one argument, the number of headers", e->a->name);
        return;
    }
    big v = constant_int(c, &e->args.v[0]->value, "the number of headers");
    if (v && (big_sign(v) < 0 || big_bits(v) > 31))
        diag_error(c->d, e->args.v[0]->at, "the number of headers cannot be %s",
                   big_str(c->a, v, 10));
    VEC_PUSH(c->a, &e->bound, e->args.v[0]->value);
}

static struct type *call_builtin(struct checker *c, struct expr *e, const struct type *t) {
    bool changes = e->builtin >= BI_SET_VALID && e->builtin <= BI_POP_FRONT;
    e->call = CALL_BUILTIN;
    e->a->type = c->t_void;
    if (changes && !e->a->a->lvalue)
        diag_error(c->d, e->a->a->at, "'%s' changes '%s', which cannot be written here", e->a->name,
                   expr_text(c->a, e->a->a));
    if (changes)
        note_written(c, e->a->a);
    if (e->builtin == BI_PUSH_FRONT || e->builtin == BI_POP_FRONT)
        check_push_count(c, e);
    else
        no_arguments(c, e);
    if (e->builtin >= BI_MIN_SIZE_BITS) {
        fold_size(c, e, t);
        return c->t_int;
    }
    return e->builtin == BI_IS_VALID ? c->t_bool : c->t_void;
}

static struct type *call_member(struct checker *c, struct expr *e) {
    struct type *t = infer(c, e->a->a);
    if (t->kind == TY_ERROR_TYPE)
        return poison(c, e);
    bool direct = t->kind == TY_TYPE;
    struct type *object = direct ? t->elem : t;
    bool block = check_call_is_block(object);
    e->builtin = builtin_named(e->a->name);
    if (object->kind == TY_EXTERN && !direct)
        return call_method(c, e, object);
    if (object->kind == TY_TABLE && strcmp(e->a->name, "apply") == 0)
        return check_call_apply_table(c, e, object);
    if (block && strcmp(e->a->name, "apply") == 0)
        return check_call_apply_block(c, e, object, direct);
    bool size = e->builtin >= BI_MIN_SIZE_BITS;
    if (has_builtin(e->builtin, object) && (!direct || size))
        return call_builtin(c, e, object);
    return unknown_method(c, e, object);
}

// ------------------------------------------------------------------------------------------------
// Constructors

static decl_vec constructors(struct checker *c, const struct decl *ext) {
    decl_vec found = {0};
    for (size_t i = 0; i < ext->members.n; i++)
        if (ext->members.v[i]->is_ctor)
            VEC_PUSH(c->a, &found, ext->members.v[i]);
    return found;
}

// Type arguments written '_', or those of packages' absent parts, may stay unknown.
static bool close_types(struct checker *c, struct expr *e, struct type *t, bool written) {
    for (size_t i = 0; i < t->args.n; i++) {
        struct type *arg = settle(c, t->args.v[i]);
        if (has_vars(c, arg) && check_call_is_block(t))
            continue; // decided by the place it is passed to
        if (has_vars(c, arg) && !written && t->kind != TY_PACKAGE) {
            diag_error(c->d, e->at, "the type '%s' of '%s' cannot be inferred here; write %s<...>",
                       t->decl->tparams.v[i]->name, t->decl->name, t->decl->name);
            note_declared(c, t->decl);
            return false;
        }
        if (has_vars(c, arg))
            unify(c, arg, c->t_dontcare);
    }
    return true;
}

static bool set_constructor(struct checker *c, struct expr *e, struct type *t,
                            struct signature *sig) {
    sig->name = t->decl->name;
    sig->decl = t->decl;
    switch (t->decl->kind) {
    case D_CONTROL:
    case D_PARSER:
        sig->params = &t->decl->ctor_params;
        return true;
    case D_PACKAGE:
        sig->params = &t->decl->params;
        return true;
    default:
        break;
    }
    decl_vec ctors = constructors(c, t->decl);
    if (t->kind != TY_EXTERN || ctors.n == 0) {
        diag_error(c->d, e->at, "'%s' has no constructor, so it cannot be instantiated",
                   t->decl->name);
        note_declared(c, t->decl);
        return false;
    }
    e->ctor = choose_overload(c, e, &ctors, *sig);
    if (e->ctor)
        *sig = with_candidate(c, *sig, e->ctor);
    return e->ctor != NULL;
}

static bool has_constructor(const struct type *t) {
    return t->kind == TY_EXTERN || t->kind == TY_CONTROL || t->kind == TY_PARSER ||
           t->kind == TY_PACKAGE;
}

struct type *construct(struct checker *c, struct expr *e, struct type *t) {
    if (t->kind == TY_ERROR_TYPE)
        return poison(c, e);
    if (!has_constructor(t)) {
        diag_error(c->d, e->at, "'%s' has no constructor; a value of it is written (%s){...}",
                   tn(c, t), tn(c, t));
        return poison(c, e);
    }
    e->call = CALL_CTOR;
    e->decl = t->decl;
    struct signature sig = {.result = t, .compile_time = true};
    if (t->args.n) {
        sig.outer = &t->decl->tparams;
        sig.outer_args = t->args.v;
    }
    bool written = e->a && e->a->tref && e->a->tref->args.n;
    if (!set_constructor(c, e, t, &sig) || t->decl == c->block) {
        if (t->decl == c->block)
            check_recursion(c, e, t->decl);
        return poison(c, e);
    }
    if (check_arguments(c, e, &sig)->kind == TY_ERROR_TYPE || !close_types(c, e, t, written))
        return poison(c, e);
    t = settle(c, t);
    for (size_t i = 0; i < t->args.n; i++)
        VEC_PUSH(c->a, &e->inst, t->args.v[i]);
    return t;
}

// ------------------------------------------------------------------------------------------------

static struct type *call_typename(struct checker *c, struct expr *e) {
    struct tref *t = e->a->tref;
    if (t->args.n == 0) { // Type<args>(...): the arguments may be on either node
        t->args.v = e->targs.v;
        t->args.n = t->args.cap = e->targs.n;
    }
    e->targs.n = 0;
    struct type *made = construct(c, e, resolve_open_type(c, t));
    e->a->decl = t->decl;
    e->a->type = new_type(c, TY_TYPE);
    e->a->type->elem = made;
    if (t->resolved)
        t->resolved = settle(c, t->resolved);
    return made;
}

struct type *infer_call(struct checker *c, struct expr *e) {
    infer_arguments(c, e);
    switch (e->a->kind) {
    case EX_TYPENAME:
        return call_typename(c, e);
    case EX_NAME:
        return call_name(c, e);
    case EX_MEMBER:
        return call_member(c, e);
    default:
        infer(c, e->a);
        return not_callable(c, e);
    }
}

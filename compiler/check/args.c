// SPDX-License-Identifier: Apache-2.0
//
// args: the arguments of one call against the parameters of one callee (sections 6.8, 8.20).
//
// In order: arguments are put to parameters by position or by name; the callee's type parameters
// become variables and are bound by unifying; each argument is converted to its parameter's type
// and held against its direction.
#include "compiler/check/check_impl.h"

#include <string.h>

void infer_arguments(struct checker *c, struct expr *call) {
    for (size_t i = 0; i < call->args.n; i++) {
        struct expr *value = call->args.v[i]->value;
        if (value->kind == EX_DONTCARE)
            value->type = c->t_dontcare;
        else
            infer(c, value);
    }
}

// ------------------------------------------------------------------------------------------------
// Arguments to parameters

enum arrangement { ARRANGED, TOO_MANY, NO_SUCH_NAME, GIVEN_TWICE, MIXED, MISSING };

static bool may_be_left_out(const struct decl *param) {
    return param->init || is_optional(param);
}

static size_t param_named(const decl_vec *params, const char *name) {
    size_t i = 0;
    while (i < params->n && !has_name(params->v[i], name))
        i++;
    return i;
}

// Fills 'slots' (one per parameter); on failure '*where' is the argument or parameter at fault.
static enum arrangement arrange(const arg_vec *args, const decl_vec *params, struct arg **slots,
                                size_t *where) {
    memset(slots, 0, params->n * sizeof *slots);
    for (size_t i = 0; i < args->n; i++) {
        const char *name = args->v[i]->name;
        *where = i;
        if (!name != !args->v[0]->name)
            return MIXED;
        size_t slot = name ? param_named(params, name) : i;
        if (slot >= params->n)
            return name ? NO_SUCH_NAME : TOO_MANY;
        if (slots[slot])
            return GIVEN_TWICE;
        slots[slot] = args->v[i];
    }
    for (*where = 0; *where < params->n; ++*where)
        if (!slots[*where] && !may_be_left_out(params->v[*where]))
            return MISSING;
    return ARRANGED;
}

static void complain_count(struct checker *c, const struct expr *call,
                           const struct signature *sig) {
    size_t least = 0;
    for (size_t i = 0; i < sig->params->n; i++)
        least += !may_be_left_out(sig->params->v[i]);
    if (least == sig->params->n)
        diag_error(c->d, call->at, "'%s' takes %zu argument%s, but %zu %s given", sig->name, least,
                   least == 1 ? "" : "s", call->args.n, call->args.n == 1 ? "is" : "are");
    else
        diag_error(c->d, call->at, "'%s' takes %zu to %zu arguments, but %zu %s given", sig->name,
                   least, sig->params->n, call->args.n, call->args.n == 1 ? "is" : "are");
}

static void complain_arrangement(struct checker *c, const struct expr *call,
                                 const struct signature *sig, enum arrangement why, size_t where) {
    struct loc at = where < call->args.n ? call->args.v[where]->at : call->at;
    const char *name = where < call->args.n ? call->args.v[where]->name : NULL;
    struct guess g = guess_start(c, name);
    switch (why) {
    case ARRANGED:
        return;
    case TOO_MANY:
        complain_count(c, call, sig);
        break;
    case NO_SUCH_NAME:
        for (size_t i = 0; i < sig->params->n; i++)
            guess_try(&g, sig->params->v[i]->name);
        diag_error(c->d, at, "'%s' has no parameter '%s'%s", sig->name, name, guess_text(c, &g));
        break;
    case GIVEN_TWICE:
        diag_error(c->d, at, "argument '%s' is given twice", name);
        break;
    case MIXED:
        diag_error(c->d, at, "either all arguments are named or none");
        break;
    case MISSING:
        if (call->args.n == 0 || !call->args.v[0]->name)
            complain_count(c, call, sig);
        else
            diag_error(c->d, call->at, "argument '%s' of '%s' is missing",
                       sig->params->v[where]->name, sig->name);
    }
    note_declared(c, sig->decl);
}

// ------------------------------------------------------------------------------------------------
// Type arguments

static struct type *formal_type(struct checker *c, const struct signature *sig,
                                struct type *const *targs, struct type *t) {
    if (!t)
        return c->t_bad;
    if (sig->outer)
        t = type_subst(c->a, t, sig->outer, sig->outer_args);
    if (sig->tparams)
        t = type_subst(c->a, t, sig->tparams, targs);
    return t;
}

static struct type **fresh_targs(struct checker *c, const struct signature *sig) {
    size_t n = sig->tparams ? sig->tparams->n : 0;
    struct type **targs = ARENA_ARRAY(c->a, struct type *, n);
    for (size_t i = 0; i < n; i++)
        targs[i] = new_var(c);
    return targs;
}

static bool explicit_targs(struct checker *c, struct expr *call, const struct signature *sig,
                           struct type **targs) {
    size_t n = sig->tparams ? sig->tparams->n : 0;
    if (call->targs.n && call->targs.n != n) {
        diag_error(c->d, call->at, "'%s' takes %zu type argument%s, but %zu %s given", sig->name, n,
                   n == 1 ? "" : "s", call->targs.n, call->targs.n == 1 ? "is" : "are");
        note_declared(c, sig->decl);
        return false;
    }
    for (size_t i = 0; i < call->targs.n; i++)
        targs[i] = resolve_open_type(c, call->targs.v[i]);
    return true;
}

static bool is_weak(const struct arg *arg) {
    return arg->value->type && arg->value->type->kind == TY_INT;
}

static bool says_type(const struct arg *arg) {
    return arg->value->type && arg->value->kind != EX_DONTCARE;
}

// Literals without width come last: the other arguments may say how wide they are.
static void unify_arguments(struct checker *c, const struct signature *sig, struct arg **slots,
                            struct type *const *targs) {
    for (int weak = 0; weak <= 1; weak++)
        for (size_t i = 0; i < sig->params->n; i++)
            if (slots[i] && says_type(slots[i]) && is_weak(slots[i]) == (weak == 1))
                unify(c, formal_type(c, sig, targs, sig->params->v[i]->type),
                      slots[i]->value->type);
}

static bool check_args_mentions(const struct type *t, const struct decl *tparam) {
    if (!t)
        return false;
    if (t->kind == TY_VAR && t->decl == tparam)
        return true;
    if (t->elem && check_args_mentions(t->elem, tparam))
        return true;
    for (size_t i = 0; i < t->args.n; i++)
        if (check_args_mentions(t->args.v[i], tparam))
            return true;
    return false;
}

// Nothing is known of the type of a parameter that was left out.
static bool only_left_out(const struct signature *sig, struct arg **slots,
                          const struct decl *tparam) {
    for (size_t i = 0; i < sig->params->n; i++)
        if (!slots[i] && check_args_mentions(sig->params->v[i]->type, tparam))
            return true;
    return false;
}

static bool check_inferred(struct checker *c, const struct expr *call, const struct signature *sig,
                           struct arg **slots, struct type **targs) {
    for (size_t i = 0; sig->tparams && i < sig->tparams->n; i++) {
        targs[i] = settle(c, targs[i]);
        if (targs[i]->kind == TY_VOID) {
            diag_error(c->d, call->at, "'void' cannot be a type argument of '%s'", sig->name);
            return false;
        }
        if (!has_vars(c, targs[i]))
            continue;
        bool written = call->targs.n && call->targs.v[i]->kind == TR_DONTCARE;
        if (written || only_left_out(sig, slots, sig->tparams->v[i])) {
            targs[i] = c->t_dontcare;
            continue;
        }
        diag_error(c->d, call->at, "the type '%s' of '%s' cannot be inferred here; write %s<...>()",
                   sig->tparams->v[i]->name, sig->name, sig->name);
        note_declared(c, sig->decl);
        return false;
    }
    return true;
}

// ------------------------------------------------------------------------------------------------
// Directions

static bool check_args_is_object(const struct type *t) {
    return t->kind == TY_EXTERN || t->kind == TY_PARSER || t->kind == TY_CONTROL ||
           t->kind == TY_PACKAGE;
}

// out and inout: written in place, so nothing is converted (section 6.8).
static void check_written(struct checker *c, const struct decl *param, const struct expr *value,
                          struct type *want) {
    if (value->type->kind == TY_ERROR_TYPE || value->kind == EX_DONTCARE)
        return;
    if (!value->lvalue)
        diag_error(c->d, value->at,
                   "argument '%s' is '%s', so it must be something that can be "
                   "written",
                   param->name, param->dir == DIR_OUT ? "out" : "inout");
    else if (!type_equal(value->type, want))
        diag_error(c->d, value->at, "argument '%s' has type '%s', but '%s' is expected here",
                   param->name, tn(c, value->type), tn(c, want));
    note_written(c, value);
}

static bool must_be_known(const struct signature *sig, const struct decl *param) {
    if (sig->compile_time)
        return true;
    bool external =
        sig->decl->kind == D_METHOD || (sig->decl->kind == D_FUNCTION && !sig->decl->body);
    return external && param->dir == DIR_NONE && param->type && !check_args_is_object(param->type);
}

// The control plane gives it, so a target knows it before any packet comes.
static bool is_action_data(const struct expr *e) {
    while (e->kind == EX_CAST || e->kind == EX_MEMBER)
        e = e->a;
    return e->kind == EX_NAME && e->decl && e->decl->kind == D_PARAM && e->decl->dir == DIR_NONE;
}

static bool is_run_time_value(const struct type *t) {
    return is_value_type(t) || t->kind == TY_EXTERN || t->kind == TY_INT || t->kind == TY_STRING ||
           t->kind == TY_LIST || t->kind == TY_RECORD || t->kind == TY_MATCH_KIND ||
           t->kind == TY_DONTCARE;
}

// A type parameter took on 'int': nothing says how many bits are meant.
static bool has_open_width(const struct type *t) {
    if (t->kind == TY_INT)
        return true;
    for (size_t i = 0; t->kind == TY_TUPLE && i < t->args.n; i++)
        if (has_open_width(t->args.v[i]))
            return true;
    return false;
}

static void check_run_time(struct checker *c, const struct decl *param, const struct expr *value) {
    if (value->type->kind == TY_RECORD)
        diag_error(c->d, value->at, "the type of argument '%s' is not known; write (T){...}",
                   param->name);
    else if (value->type->kind == TY_STRING && param->dir != DIR_NONE)
        diag_error(c->d, value->at,
                   "strings exist only at compile time, so argument '%s', which has a direction, "
                   "cannot be one",
                   param->name);
    else if (!is_run_time_value(value->type))
        diag_error(c->d, value->at, "'%s' is not a value, so it cannot be passed as an argument",
                   expr_text(c->a, value));
    else if (param->dir != DIR_OUT && param->type && param->type->kind == TY_VAR &&
             has_open_width(value->type))
        diag_error(c->d, value->at,
                   "the width of a number in argument '%s' is not known; write "
                   "it as 8w...",
                   param->name);
}

static struct expr *check_argument(struct checker *c, const struct signature *sig,
                                   const struct decl *param, struct expr *value,
                                   struct type *want) {
    want = settle(c, want);
    if (param->dir == DIR_OUT || param->dir == DIR_INOUT) {
        check_written(c, param, value, want);
        return value;
    }
    if (value->kind == EX_DONTCARE) {
        if (!is_optional(param))
            diag_error(c->d, value->at, "'_' can only stand for an out argument");
        return value;
    }
    // Register<bit<32>, _>: the index's type is open, and a literal says nothing about it
    if (!sig->compile_time && want->kind == TY_DONTCARE && value->type->kind == TY_INT &&
        has_name(param, "index"))
        want = c->t_bit32;
    if (!sig->compile_time && want->kind == TY_DONTCARE && value->type->kind == TY_INT) {
        diag_error(c->d, value->at, "the type of argument '%s' is not known; write it as 8w...",
                   param->name);
        poison(c, value);
        return value;
    }
    value = coerce(c, value, want, ROLE("argument", param->name));
    if (!sig->compile_time && value->type->kind != TY_ERROR_TYPE)
        check_run_time(c, param, value);
    if (must_be_known(sig, param) && !is_compile_time(value) &&
        (sig->compile_time || !is_action_data(value)))
        diag_error(c->d, value->at, "argument '%s' of '%s' must be known at compile time",
                   param->name, sig->name);
    return value;
}

static bool check_args_names(struct checker *c, const struct expr *call,
                             const struct signature *sig, struct arg **slots) {
    size_t where = 0;
    enum arrangement why = arrange(&call->args, sig->params, slots, &where);
    complain_arrangement(c, call, sig, why, where);
    return why == ARRANGED;
}

struct type *check_arguments(struct checker *c, struct expr *call, const struct signature *sig) {
    struct arg **slots = ARENA_ARRAY(c->a, struct arg *, sig->params->n);
    struct type **targs = fresh_targs(c, sig);
    if (!check_args_names(c, call, sig, slots) || !explicit_targs(c, call, sig, targs))
        return poison(c, call);
    unify_arguments(c, sig, slots, targs);
    if (!check_inferred(c, call, sig, slots, targs))
        return poison(c, call);
    for (size_t i = 0; sig->tparams && i < sig->tparams->n; i++)
        VEC_PUSH(c->a, &call->inst, targs[i]);
    for (size_t i = 0; i < sig->params->n; i++) {
        struct decl *param = sig->params->v[i];
        if (slots[i])
            slots[i]->value = check_argument(c, sig, param, slots[i]->value,
                                             formal_type(c, sig, targs, param->type));
        VEC_PUSH(c->a, &call->bound, slots[i] ? slots[i]->value : NULL);
    }
    return settle(c, formal_type(c, sig, targs, sig->result));
}

// ------------------------------------------------------------------------------------------------
// Overloads

struct signature with_candidate(struct checker *c, struct signature sig, struct decl *d) {
    sig.decl = d;
    sig.name = d->name;
    sig.params = &d->params;
    sig.tparams = d->is_ctor || d->tparams.n == 0 ? NULL : &d->tparams;
    if (!d->is_ctor)
        sig.result = d->type ? d->type : c->t_bad;
    return sig;
}

// Whether the argument types fit, without a trace: bindings made meanwhile are taken back.
static bool types_fit(struct checker *c, const struct expr *call, const struct signature *sig,
                      struct arg **slots) {
    (void)call;
    size_t n = c->vars.n;
    struct type **saved = ARENA_ARRAY(c->a, struct type *, n);
    if (n)
        memcpy(saved, c->vars.v, n * sizeof *saved);
    struct type **targs = fresh_targs(c, sig);
    unify_arguments(c, sig, slots, targs);
    bool fit = true;
    for (size_t i = 0; i < sig->params->n && fit; i++) {
        struct type *want = formal_type(c, sig, targs, sig->params->v[i]->type);
        fit = !slots[i] || convertible(c, slots[i]->value, settle(c, want));
    }
    if (n)
        memcpy(c->vars.v, saved, n * sizeof *saved);
    return fit;
}

struct ranking {
    struct decl *best;
    size_t omitted; // parameters of 'best' without an argument
    bool typed;     // its types fit
    bool tie;
};

static void rank(struct checker *c, const struct expr *call, struct signature sig,
                 struct ranking *r) {
    size_t where = 0;
    struct arg **slots = ARENA_ARRAY(c->a, struct arg *, sig.params->n);
    if (arrange(&call->args, sig.params, slots, &where) != ARRANGED)
        return;
    size_t omitted = sig.params->n - call->args.n;
    bool typed = types_fit(c, call, &sig, slots);
    bool better = !r->best || (typed && !r->typed) || (typed == r->typed && omitted < r->omitted);
    if (better)
        *r = (struct ranking){.best = sig.decl, .omitted = omitted, .typed = typed};
    else if (typed == r->typed && omitted == r->omitted)
        r->tie = true;
}

static struct decl *no_overload(struct checker *c, const struct expr *call,
                                const decl_vec *candidates, const struct signature *sig) {
    if (candidates->n == 1) {
        struct signature one = with_candidate(c, *sig, candidates->v[0]);
        struct arg **slots = ARENA_ARRAY(c->a, struct arg *, one.params->n);
        check_args_names(c, call, &one, slots);
        return NULL;
    }
    diag_error(c->d, call->at, "none of the %zu declarations of '%s' takes these arguments",
               candidates->n, candidates->v[0]->name);
    for (size_t i = 0; i < candidates->n; i++)
        note_declared(c, candidates->v[i]);
    return NULL;
}

struct decl *choose_overload(struct checker *c, struct expr *call, const decl_vec *candidates,
                             struct signature sig) {
    struct ranking r = {0};
    for (size_t i = 0; i < candidates->n; i++)
        rank(c, call, with_candidate(c, sig, candidates->v[i]), &r);
    if (!r.best)
        return no_overload(c, call, candidates, &sig);
    if (!r.tie)
        return r.best;
    diag_error(c->d, call->at, "this call of '%s' is ambiguous; name the arguments",
               candidates->v[0]->name);
    for (size_t i = 0; i < candidates->n; i++)
        note_declared(c, candidates->v[i]);
    return NULL;
}

// SPDX-License-Identifier: Apache-2.0
//
// block: controls and parsers as instances: their constructor parameters, their local
// declarations, and controls applied inside of others.
//
// A control applied in several places has one set of tables and registers, so its parameters are
// the same storage at each: by reference when all applications have the same arguments, otherwise
// storage of its own that every application copies into and out of. Its body is lowered at each.
#include "compiler/lower/lower_impl.h"

#include <string.h>

// ---- instances ----------------------------------------------------------------------------------

static void bind_ctor_params(struct lower *lw, struct object *o, struct expr *ctor) {
    const decl_vec *params = &o->decl->ctor_params;
    for (size_t i = 0; i < params->n; i++) {
        struct decl *p = params->v[i];
        struct expr *arg = bound_arg(ctor, i);
        struct value *v = NULL;
        if (arg)
            v = eval(lw, arg);
        struct env *saved = lw->env;
        lw->env = o->env;
        struct type *t = env_type(lw, p->type);
        if (!v && p->init)
            v = eval(lw, p->init);
        v = v ? convert(lw, v, t, p->at) : value_zero(lw, t, o->at);
        lw->env = saved;
        env_bind(lw, o->env, p, v);
    }
}

void block_new(struct lower *lw, struct object *o, struct expr *ctor) {
    o->env = env_new(lw, lw->gress_env ? lw->gress_env : lw->globals, o->name);
    o->env->owner = o->decl;
    const struct type *t = o->type;
    if (o->decl->tparams.n > 0 && t && t->args.n == o->decl->tparams.n) {
        o->env->tparams = &o->decl->tparams;
        o->env->targs = t->args.v;
    } else if (ctor && o->decl->tparams.n > 0 && ctor->inst.n == o->decl->tparams.n) {
        o->env->tparams = &o->decl->tparams;
        o->env->targs = ctor->inst.v;
    }
    bind_ctor_params(lw, o, ctor);
}

// ---- local declarations -------------------------------------------------------------------------

const char *local_name(struct lower *lw, const char *name) {
    const char *path = lw->env->path ? lw->env->path : "";
    size_t root = lw->pipeline ? strlen(lw->pipeline->name) : 0;
    if (root > 0 && strncmp(path, lw->pipeline->name, root) == 0 && path[root] == '.')
        path += root + 1;
    return arena_printf(lw->a, "%s.%s", path, name);
}

static void declare_instance(struct lower *lw, struct decl *d) {
    struct object *o =
        object_new(lw, d->ctor_call, d, env_name(lw, lw->env, &d->annots, d->name), d->at);
    env_bind(lw, lw->env, d, value_object(lw, o));
}

static void declare_const(struct lower *lw, struct decl *d) {
    struct type *t = env_type(lw, d->type);
    env_bind(lw, lw->env, d, d->init ? eval_as(lw, d->init, t) : value_zero(lw, t, d->at));
}

static void clear_validities(struct lower *lw, const struct value *storage, struct loc at) {
    if (is_intrinsic_struct(storage->type))
        for (size_t i = 0; i < storage->n; i++)
            if (storage->items[i]->kind == VAL_BITS && storage->items[i]->e->op == IR_VAR &&
                storage->items[i]->e->var->valid)
                assign_var(lw, storage->items[i]->e->var->valid, ir_const_u64(lw->a, 1, 0), at);
    for (size_t i = 0; storage->kind == VAL_TUPLE && i < storage->n; i++)
        clear_validities(lw, storage->items[i], at);
}

static void initialise(struct lower *lw, struct decl *d, struct value *storage) {
    storage_invalidate(lw, storage, d->at);
    if (!d->init) {
        clear_validities(lw, storage, d->at);
        return;
    }
    lw->wanted = storage->kind == VAL_BITS && d->init->kind == EX_CALL ? storage->e->var : NULL;
    struct value *v = eval(lw, d->init);
    lw->wanted = NULL;
    assign(lw, storage, convert(lw, v, storage->type, d->at), d->at);
}

static struct value *declare_var(struct lower *lw, struct decl *d) {
    struct value *v = storage_new(lw, env_type(lw, d->type), local_name(lw, d->name), d->name_at);
    env_bind(lw, lw->env, d, v);
    return v;
}

void declare_local(struct lower *lw, struct decl *d) {
    switch (d->kind) {
    case D_VAR: {
        // Not visible to its own initial value.
        struct value *v = declare_var(lw, d);
        initialise(lw, d, v);
        return;
    }
    case D_CONST:
        declare_const(lw, d);
        return;
    case D_INSTANCE:
        declare_instance(lw, d);
        return;
    default:
        lower_unsupported(lw, d->at, "this declaration here");
    }
}

void block_locals(struct lower *lw, struct object *o) {
    struct env *saved = lw->env;
    lw->env = o->env;
    for (size_t i = 0; i < o->decl->locals.n; i++) {
        struct decl *d = o->decl->locals.v[i];
        if (d->kind == D_VAR)
            declare_var(lw, d);
        else if (d->kind == D_CONST)
            declare_const(lw, d);
        else if (d->kind == D_INSTANCE)
            declare_instance(lw, d);
        else if (d->kind == D_VALUE_SET)
            value_set_new(lw, d);
    }
    lw->env = saved;
}

void init_block_locals(struct lower *lw, struct object *o) {
    for (size_t i = 0; i < o->decl->locals.n; i++) {
        struct decl *d = o->decl->locals.v[i];
        struct value *v = d->kind == D_VAR ? env_find(o->env, d) : NULL;
        if (v)
            initialise(lw, d, v);
    }
}

// ---- application --------------------------------------------------------------------------------

static struct object *anonymous_instance(struct lower *lw, struct expr *call, struct decl *d) {
    struct object *o = env_made(lw->env, call);
    if (o)
        return o;
    struct env *home = env_of(lw, NULL);
    for (struct env *env = lw->env; env; env = env->up)
        if (env->owner) {
            home = env;
            break;
        }
    o = ARENA_NEW(lw->a, struct object);
    o->kind = d->kind == D_PARSER ? OBJ_PARSER : OBJ_CONTROL;
    o->decl = d;
    o->type_name = d->name;
    o->type = env_type(lw, d->type);
    o->at = call->at;
    o->name = env_name(lw, home, &d->annots, d->name);
    block_new(lw, o, NULL);
    if (o->kind == OBJ_CONTROL)
        block_locals(lw, o);
    env_make(lw, home, call, o);
    return o;
}

// Whether the argument is a field with a validity of its own, or may be one.
static bool has_validity(struct lower *lw, const struct expr *e) {
    e = strip(e);
    if (e && e->kind == EX_MEMBER)
        return is_intrinsic_struct(env_type(lw, e->a->type));
    const struct value *v = e && e->kind == EX_NAME && e->decl ? env_find(lw->env, e->decl) : NULL;
    return v && v->kind == VAL_BITS && v->e->op == IR_VAR && v->e->var->valid;
}

static enum bind_mode application_mode(struct lower *lw, const struct object *o,
                                       struct sharing *sharing) {
    const struct decl *outside = o->instance ? o->instance->parent : NULL;
    size_t n_params = o->decl->params.n;
    call_vec calls = {0};
    unsigned n = 1;
    sharing->same = ARENA_ARRAY(lw->a, bool, n_params + 1);
    sharing->validity = ARENA_ARRAY(lw->a, bool, n_params + 1);
    sharing->earlier = o->args;
    memset(sharing->same, true, n_params);
    if (outside && outside->body)
        n = scan_applies(lw->a, outside, o->instance, lw->repeated > 0, sharing->same, n_params,
                         &calls);
    for (size_t k = 0; k < calls.n; k++)
        for (size_t i = 0; i < n_params; i++)
            sharing->validity[i] |= has_validity(lw, bound_arg(calls.v[k], i));
    return n <= 1 && lw->repeated == 0 ? BIND_ONCE : BIND_SHARED;
}

static void apply_control(struct lower *lw, struct expr *call, struct object *o) {
    struct sharing sharing;
    enum bind_mode mode = application_mode(lw, o, &sharing);
    struct env *saved = lw->env;
    struct call_args *args = ARENA_NEW(lw->a, struct call_args);
    struct frame f = {0};
    bind_args(lw, args, &o->decl->params, call, o->env, mode, &sharing, false);
    o->args = args;
    begin_body(lw, args, &f, call->at);
    lw->env = o->env;
    lw->repeated += mode == BIND_SHARED;
    struct ir_application *here = ARENA_NEW(lw->a, struct ir_application);
    *here = (struct ir_application){.up = lw->within, .at = call->at};
    lw->within = here;
    init_block_locals(lw, o);
    if (o->decl->body)
        lower_stmt(lw, o->decl->body);
    lw->within = here->up;
    lw->repeated -= mode == BIND_SHARED;
    lw->env = saved;
    end_body(lw, args, &f, mode == BIND_ONCE, call->at);
}

struct value *apply_block(struct lower *lw, struct expr *call) {
    struct expr *what = call->a && call->a->kind == EX_MEMBER ? call->a->a : NULL;
    struct value *none = value_zero(lw, env_type(lw, call->type), call->at);
    struct object *o = NULL;
    if (!what)
        return none;
    if (what->kind == EX_TYPENAME) {
        struct decl *d = what->tref ? what->tref->decl : NULL;
        if (d && (d->kind == D_CONTROL || d->kind == D_PARSER))
            o = anonymous_instance(lw, call, d);
    } else {
        o = object_of(lw, what);
    }
    if (o && o->kind == OBJ_PARSER)
        apply_parser(lw, call, o);
    else if (o && o->kind == OBJ_CONTROL)
        apply_control(lw, call, o);
    else
        lower_unsupported(lw, call->at, "applying this");
    return none;
}

// SPDX-License-Identifier: Apache-2.0
//
// env: environments. One per instance and per inlined call; chains follow the source's
// nesting, not the calls, so a body sees exactly what it could name.
#include "compiler/lower/lower_impl.h"

#include <string.h>

struct env *env_new(struct lower *lw, struct env *up, const char *path) {
    struct env *env = ARENA_NEW(lw->a, struct env);
    env->up = up;
    env->path = path;
    return env;
}

void env_bind(struct lower *lw, struct env *env, const struct decl *d, struct value *v) {
    for (size_t i = 0; i < env->bindings.n; i++)
        if (env->bindings.v[i].decl == d) {
            env->bindings.v[i].value = v;
            return;
        }
    struct binding b = {.decl = d, .value = v};
    VEC_PUSH(lw->a, &env->bindings, b);
}

struct value *env_find(const struct env *env, const struct decl *d) {
    for (; env; env = env->up)
        for (size_t i = env->bindings.n; i-- > 0;)
            if (env->bindings.v[i].decl == d)
                return env->bindings.v[i].value;
    return NULL;
}

void *env_made(const struct env *env, const void *key) {
    for (; env; env = env->up)
        for (size_t i = 0; i < env->made.n; i++)
            if (env->made.v[i].key == key)
                return env->made.v[i].thing;
    return NULL;
}

struct env *env_of(struct lower *lw, const struct decl *owner) {
    for (struct env *env = lw->env; owner && env; env = env->up)
        if (env->owner == owner)
            return env;
    return lw->gress_env;
}

void env_make(struct lower *lw, struct env *env, const void *key, void *thing) {
    struct made m = {.key = key, .thing = thing};
    VEC_PUSH(lw->a, &env->made, m);
}

// ---- types --------------------------------------------------------------------------------------

// A width that depends on a constructor parameter is known here.
static struct type *with_width(struct lower *lw, struct type *t) {
    uint64_t w;
    struct type *known = ARENA_NEW(lw->a, struct type);
    *known = *t;
    known->width_expr = NULL;
    known->width = 1;
    if (!eval_const_u64(lw, t->width_expr, "width", &w))
        return known;
    if (w < 1 || w > LOWER_MAX_WIDTH)
        lower_unsupported(lw, t->width_expr->at, "a width of %llu bits", (unsigned long long)w);
    else
        known->width = (unsigned)w;
    return known;
}

static struct type *with_widths(struct lower *lw, struct type *t, unsigned depth) {
    if (!t || depth > 16)
        return t;
    if (t->width_expr && (t->kind == TY_BITS || t->kind == TY_VARBIT))
        return with_width(lw, t);
    struct type *copy = NULL;
    for (size_t i = 0; i < t->args.n; i++) {
        struct type *arg = with_widths(lw, t->args.v[i], depth + 1);
        if (arg == t->args.v[i])
            continue;
        if (!copy) {
            copy = ARENA_NEW(lw->a, struct type);
            *copy = *t;
            copy->args.v = ARENA_ARRAY(lw->a, struct type *, t->args.n);
            memcpy(copy->args.v, t->args.v, t->args.n * sizeof *t->args.v);
            copy->args.cap = t->args.n;
        }
        copy->args.v[i] = arg;
    }
    return copy ? copy : t;
}

struct type *env_type(struct lower *lw, struct type *t) {
    if (!t)
        return NULL;
    for (const struct env *env = lw->env; env; env = env->up)
        if (env->tparams && env->tparams->n > 0)
            t = type_subst(lw->a, t, env->tparams, env->targs);
    return with_widths(lw, t, 0);
}

const char *env_name(struct lower *lw, const struct env *env, const annot_vec *annots,
                     const char *name) {
    const char *given = annots ? annot_string(annots, "name") : NULL;
    const char *root = lw->pipeline ? lw->pipeline->name : "";
    if (given && given[0] == '.')
        return arena_printf(lw->a, "%s.%s", root, given + 1);
    if (given)
        name = given;
    return arena_printf(lw->a, "%s.%s", env->path && env->path[0] ? env->path : root, name);
}

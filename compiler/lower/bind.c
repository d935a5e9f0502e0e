// SPDX-License-Identifier: Apache-2.0
//
// bind: arguments to parameters.
//
// P4 calls by copy-in and copy-out (section 6.8). Copies of whole header structs at every call
// would bury what a program does, so an argument that is storage is passed by reference where
// nobody can tell. Functions and actions can name variables of the
// block around them, so for them copies are made first and coalesce.c removes those that
// turn out to be invisible.
#include "compiler/lower/lower_impl.h"

// ---- evaluating ---------------------------------------------------------------------------------

static bool gives(const struct decl *p) { // the caller gets something back
    return p->dir == DIR_OUT || p->dir == DIR_INOUT;
}

// The parameters in the order in which their arguments are written, then those without one.
static size_t *written_order(struct lower *lw, const decl_vec *params, const struct expr *call) {
    size_t *order = ARENA_ARRAY(lw->a, size_t, params->n + 1), n = 0;
    for (size_t k = 0; call && k < call->args.n; k++)
        for (size_t i = 0; i < params->n; i++)
            if (bound_arg(call, i) == call->args.v[k]->value)
                order[n++] = i;
    for (size_t i = 0; i < params->n; i++)
        if (!bound_arg(call, i))
            order[n++] = i;
    return order;
}

// Whether an argument written after the one for order[k] has effects.
static bool lower_bind_effects_after(const struct expr *call, const size_t *order, size_t k,
                                     size_t n) {
    while (++k < n)
        if (scan_effects(bound_arg(call, order[k])))
            return true;
    return false;
}

static struct type *lower_bind_param_type(struct lower *lw, const struct decl *p,
                                          struct env *callee) {
    struct env *saved = lw->env;
    lw->env = callee;
    struct type *t = env_type(lw, p->type);
    lw->env = saved;
    return t;
}

static struct value *default_arg(struct lower *lw, const struct decl *p, struct env *callee,
                                 struct type *t) {
    struct env *saved = lw->env;
    lw->env = callee;
    struct value *v = eval_as(lw, p->init, t);
    lw->env = saved;
    return v;
}

// 'later': an argument that is evaluated after this one has effects.
static void evaluate(struct lower *lw, struct bound *b, struct expr *e, bool later,
                     struct env *callee, bool action_data) {
    struct type *t = lower_bind_param_type(lw, b->param, callee);
    if (e && e->kind == EX_DONTCARE)
        e = NULL;
    if (!e) {
        b->data = action_data && b->param->dir == DIR_NONE;
        if (b->param->init && !b->data) // an entry without it has the default: lower_entry.c
            b->in = default_arg(lw, b->param, callee, t);
        return;
    }
    if (!gives(b->param)) {
        b->in = eval_as(lw, e, t);
        if (later)
            b->in = value_snapshot(lw, b->in, e->at);
        return;
    }
    b->outside = eval_lvalue(lw, e);
    if (b->param->dir != DIR_INOUT)
        return;
    b->in = convert(lw, lvalue_read(lw, &b->outside, e->at), t, e->at);
    if (later) { // which may change the place: the value from before is meant
        b->in = value_snapshot(lw, b->in, e->at);
        b->saved = true;
    }
}

// ---- reference or copy --------------------------------------------------------------------------

static struct value *own_storage(const struct bound *b) {
    if (b->outside.n > 0)
        return b->saved ? NULL : lvalue_whole(&b->outside);
    return b->in && value_is_storage(b->in) ? b->in : NULL;
}

static bool lower_bind_touches(const struct bound *b, struct value *v) {
    if (b->in && values_overlap(b->in, v))
        return true;
    for (size_t i = 0; i < b->outside.n; i++)
        if (values_overlap(b->outside.alts[i], v))
            return true;
    return false;
}

// Whether parameters i and k, seen by reference, could be told from copies: they overlap and one
// of them is written.
static bool lower_bind_clash(const struct call_args *args, size_t i, size_t k) {
    const struct bound *x = &args->v.v[i], *y = &args->v.v[k];
    if (i == k || (!gives(x->param) && !gives(y->param)))
        return false;
    struct value *own = own_storage(x);
    return own && lower_bind_touches(y, own);
}

static bool can_refer(const struct call_args *args, size_t i, const bool *same, const bool *refer) {
    if (!own_storage(&args->v.v[i]) || (same && !same[i]))
        return false;
    for (size_t k = 0; k < args->v.n; k++)
        if (refer[k] && lower_bind_clash(args, i, k))
            return false;
    return true;
}

static bool lower_bind_is_aggregate(const struct bound *b) {
    const struct value *own = own_storage(b);
    return own && own->kind != VAL_BITS;
}

// Of parameters that clash one is passed by reference: aggregates first, and of those the ones that
// are written, whose copies would go both ways. The others are copies: those see the values from
// before the call, and their results are written after the body. That is what copying all would do,
// unless a copy's result would be overwritten by a later parameter's.
static void choose_references(const struct call_args *args, const bool *same, bool *refer) {
    for (int rank = 2; rank >= 0; rank--)
        for (size_t i = 0; i < args->v.n; i++) {
            const struct bound *b = &args->v.v[i];
            if ((lower_bind_is_aggregate(b) ? 1 + gives(b->param) : 0) == rank)
                refer[i] = can_refer(args, i, same, refer);
        }
    for (size_t m = 0; m < args->v.n; m++)
        for (size_t n = 0; n < m; n++) {
            const size_t i = args->order[m], k = args->order[n];
            if (refer[i] && !refer[k] && gives(args->v.v[i].param) && gives(args->v.v[k].param) &&
                lower_bind_clash(args, i, k))
                refer[i] = false;
        }
}

static bool binds_directly(const struct bound *b, bool same) {
    if (!b->in || gives(b->param))
        return false;
    if (b->in->kind != VAL_BITS && b->in->kind != VAL_TUPLE && b->in->kind != VAL_HEADER &&
        b->in->kind != VAL_STACK && b->in->kind != VAL_UNION)
        return true;
    return same && value_is_const(b->in);
}

static const char *storage_name(struct lower *lw, const struct env *callee, const char *name) {
    const char *path = callee->path ? callee->path : "";
    size_t root = lw->pipeline ? __builtin_strlen(lw->pipeline->name) + 1 : 0;
    if (__builtin_strlen(path) > root)
        path += root;
    return arena_printf(lw->a, "%s.%s", path, name);
}

// The copy of a field with a validity of its own has one, too; those of metadata have it by their
// type.
static void shadow_validity(struct lower *lw, const struct value *inside,
                            const struct value *outside, bool anywhere) {
    if (inside->kind != VAL_BITS || inside->e->op != IR_VAR || inside->e->var->valid)
        return;
    if (anywhere || (outside && outside->kind == VAL_BITS && outside->e->op == IR_VAR &&
                     outside->e->var->valid))
        inside->e->var->valid = validity_new(lw, inside->e->var);
}

// Nothing goes into an 'out' parameter, but what is not assigned to it stays as it was outside.
static void validity_in(struct lower *lw, const struct value *inside, const struct value *outside,
                        struct loc at) {
    if (inside->kind == VAL_TUPLE && outside->kind == VAL_TUPLE)
        for (size_t i = 0; i < inside->n && i < outside->n; i++)
            validity_in(lw, inside->items[i], outside->items[i], at);
    if (inside->kind == VAL_BITS && inside != outside && outside->kind == VAL_BITS &&
        inside->e->op == IR_VAR && outside->e->op == IR_VAR && outside->e->var->valid &&
        inside->e->var->valid)
        assign_var(lw, inside->e->var->valid, ir_ref(lw->a, outside->e->var->valid), at);
}

static void copy_in(struct lower *lw, struct call_args *args, struct bound *b, struct loc at) {
    struct ir_block *saved = lw->block;
    lw->block = args->before;
    if (b->param->dir == DIR_OUT) {
        storage_invalidate(lw, b->inside, at);
        if (b->copied && own_storage(b))
            validity_in(lw, b->inside, own_storage(b), at);
    } else if (b->in) {
        copy_value(lw, b->inside, b->in, at);
    }
    lw->block = saved;
}

static bool lower_bind_same_place(const struct value *x, const struct value *y) {
    if (x == y)
        return true;
    if (x->kind != y->kind || x->n != y->n || x->header != y->header)
        return false;
    if (x->kind == VAL_BITS)
        return x->e->op == IR_VAR && y->e->op == IR_VAR && x->e->var == y->e->var;
    for (size_t i = 0; i < x->n; i++)
        if (!lower_bind_same_place(x->items[i], y->items[i]))
            return false;
    return x->n > 0;
}

static void bind_one(struct lower *lw, struct call_args *args, size_t i, struct env *callee,
                     bool refer, const struct sharing *sharing, struct loc at) {
    struct bound *b = &args->v.v[i];
    const struct bound *before = sharing && sharing->earlier ? &sharing->earlier->v.v[i] : NULL;
    struct value *own = own_storage(b);
    bool same = !sharing || sharing->same[i];
    if (binds_directly(b, same)) {
        b->inside = b->in;
    } else if (refer && !(before && before->copied)) {
        b->inside = own;
        if (before && !lower_bind_same_place(before->inside, own))
            lower_unsupported(lw, at, "applying this again with other arguments");
        if (b->param->dir == DIR_OUT)
            copy_in(lw, args, b, at);
    } else {
        b->copied = true;
        b->inside = before
                        ? before->inside
                        : storage_new(lw, lower_bind_param_type(lw, b->param, callee),
                                      storage_name(lw, callee, b->param->name), b->param->name_at);
        if (!before)
            shadow_validity(lw, b->inside, own ? own : b->in, sharing && sharing->validity[i]);
        if (!b->data)
            copy_in(lw, args, b, at);
    }
    env_bind(lw, callee, b->param, b->inside);
}

void bind_args(struct lower *lw, struct call_args *args, const decl_vec *params,
               const struct expr *call, struct env *callee, enum bind_mode mode,
               const struct sharing *sharing, bool action_data) {
    *args = (struct call_args){.before = ir_block_new(lw->a)};
    struct loc at = call ? call->at : (struct loc){0};
    args->order = written_order(lw, params, call);
    for (size_t i = 0; i < params->n; i++) {
        struct bound b = {.param = params->v[i]};
        VEC_PUSH(lw->a, &args->v, b);
    }
    for (size_t k = 0; k < params->n; k++) {
        size_t i = args->order[k];
        evaluate(lw, &args->v.v[i], bound_arg(call, i),
                 lower_bind_effects_after(call, args->order, k, params->n), callee, action_data);
    }
    bool *refer = ARENA_ARRAY(lw->a, bool, params->n + 1);
    if (mode == BIND_ONCE || mode == BIND_SHARED)
        choose_references(args, sharing ? sharing->same : NULL, refer);
    for (size_t i = 0; i < params->n; i++)
        bind_one(lw, args, i, callee, refer[i], sharing, at);
}

// ---- around the body ----------------------------------------------------------------------------

void begin_body(struct lower *lw, struct call_args *args, struct frame *f, struct loc at) {
    struct ir_block *copies = ir_block_new(lw->a);
    args->outer = lw->block;
    lw->block = copies;
    for (size_t i = 0; i < args->v.n; i++) {
        struct bound *b = &args->v.v[args->order[i]];
        if (b->copied && b->outside.n > 0)
            lvalue_copy(lw, &b->outside,
                        b->outside.sliced ? b->inside
                                          : convert(lw, b->inside, b->outside.alts[0]->type, at),
                        at);
    }
    for (size_t i = 0; i < copies->stmts.n; i++)
        VEC_PUSH(lw->a, &f->copy_out, copies->stmts.v[i]);
    f->up = lw->frame;
    lw->frame = f;
    args->body = ir_block_new(lw->a);
    lw->block = args->body;
}

void end_body(struct lower *lw, struct call_args *args, struct frame *f, bool coalesce,
              struct loc at) {
    lw->frame = f->up;
    lw->block = args->outer;
    if (coalesce)
        coalesce_copies(lw, args, f);
    for (size_t i = 0; i < args->before->stmts.n; i++)
        put(lw, args->before->stmts.v[i]);
    put_labelled(lw, args->body, f->label, at);
    for (size_t i = 0; i < f->copy_out.n; i++)
        put(lw, f->copy_out.v[i]);
}

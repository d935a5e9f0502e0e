// SPDX-License-Identifier: Apache-2.0
//
// call: calls. Dispatch by what the checker found the callee to be; built-in methods of
// headers and stacks (sections 8.17, 8.18), functions and actions inlined, extern functions.
#include "compiler/lower/lower_impl.h"

#include <string.h>

struct expr *bound_arg(const struct expr *call, size_t i) {
    return call && i < call->bound.n ? call->bound.v[i] : NULL;
}

static struct value *nothing(struct lower *lw, struct expr *e) {
    return value_zero(lw, env_type(lw, e->type), e->at);
}

// ---- built-in methods ---------------------------------------------------------------------------

static void set_validity(struct lower *lw, struct expr *e, bool valid) {
    struct lvalue l = eval_lvalue(lw, e->a->a);
    struct ir_block *outer = lw->block;
    for (size_t k = 0; k < l.n; k++) {
        if (!l.alts[k]->header) {
            lower_unsupported(lw, e->at, "changing the validity of this");
            return;
        }
        struct ir_block *b = lw->block = ir_block_new(lw->a);
        set_header(lw, l.alts[k], valid, e->at);
        lw->block = outer;
        struct ir_expr *is_k = ir_const_u64(lw->a, 1, 1);
        if (l.index)
            is_k = index_is(lw, l.index, k);
        put_if(lw, is_k, b, NULL, e->at);
    }
}

// The next element to extract moves along, within the stack.
static void shift_next(struct lower *lw, struct value *stack, unsigned n, bool push,
                       struct loc at) {
    struct arena *a = lw->a;
    struct ir_expr *next = ir_ref(a, stack->next), *by = ir_const_u64(a, 32, n);
    struct ir_expr *moved =
        push ? ir_binary(a, IR_UMIN, ir_binary(a, IR_ADD, next, by), ir_const_u64(a, 32, stack->n))
             : ir_binary(a, IR_USUB_SAT, next, by);
    assign_var(lw, stack->next, moved, at);
}

// push_front(n): the last n elements are lost, the first n become invalid; pop_front the other way.
static void shift_stack(struct lower *lw, struct expr *e, bool push) {
    struct value *stack = eval(lw, e->a->a);
    uint64_t n;
    if (e->args.n != 1 || !eval_const_u64(lw, e->args.v[0]->value, "number of elements", &n))
        return;
    if (stack->kind != VAL_STACK || !value_is_storage(stack)) {
        lower_unsupported(lw, e->at, "'%s' here", push ? "push_front" : "pop_front");
        return;
    }
    if (n > stack->n)
        n = stack->n;
    for (size_t k = 0; k < stack->n; k++) {
        size_t i = push ? stack->n - 1 - k : k;
        bool inside = push ? i >= n : i + n < stack->n;
        if (inside)
            assign(lw, stack->items[i], stack->items[push ? i - n : i + n], e->at);
        else
            storage_invalidate(lw, stack->items[i], e->at);
    }
    if (lw->place == IN_PARSER_STATE && stack->next)
        shift_next(lw, stack, (unsigned)n, push, e->at);
}

static struct value *lower_call_size_of(struct lower *lw, struct expr *e, const struct type *of,
                                        bool bytes, bool largest) {
    struct type *t = env_type(lw, e->type);
    long bits = of ? type_bits(lw->a, of) : -1;
    if (bits < 0 || (largest && bits > INT32_MAX)) {
        lower_unsupported(lw, e->at, "the size of this");
        return value_zero(lw, t, e->at);
    }
    uint64_t n = bytes ? ((uint64_t)bits + 7) / 8 : (uint64_t)bits;
    return value_const(lw, t, big_u64(lw->a, n), e->at);
}

// The type whose size x.minSizeInBits() asks for; x may be a value or a type.
static const struct type *measured_type(struct lower *lw, struct expr *e) {
    struct type *t = env_type(lw, e->a && e->a->a ? e->a->a->type : NULL);
    return t && t->kind == TY_TYPE ? env_type(lw, t->elem) : t;
}

static struct value *eval_builtin(struct lower *lw, struct expr *e) {
    switch (e->builtin) {
    case BI_IS_VALID: {
        struct value *h = eval(lw, e->a->a);
        if (h->kind == VAL_HEADER || h->kind == VAL_UNION)
            return value_bits(lw, e->type, header_validity(lw, h));
        lower_unsupported(lw, e->at, "the validity of this");
        return nothing(lw, e);
    }
    case BI_SET_VALID:
    case BI_SET_INVALID:
        set_validity(lw, e, e->builtin == BI_SET_VALID);
        return nothing(lw, e);
    case BI_PUSH_FRONT:
    case BI_POP_FRONT:
        shift_stack(lw, e, e->builtin == BI_PUSH_FRONT);
        return nothing(lw, e);
    case BI_MIN_SIZE_BITS:
    case BI_MAX_SIZE_BITS:
        return lower_call_size_of(lw, e, measured_type(lw, e), false,
                                  e->builtin == BI_MAX_SIZE_BITS);
    case BI_MIN_SIZE_BYTES:
    case BI_MAX_SIZE_BYTES:
        return lower_call_size_of(lw, e, measured_type(lw, e), true,
                                  e->builtin == BI_MAX_SIZE_BYTES);
    default:
        lower_unsupported(lw, e->at, "this method");
        return nothing(lw, e);
    }
}

// ---- functions and actions ----------------------------------------------------------------------

static void bind_type_params(struct lower *lw, struct env *env, const struct decl *d,
                             const struct expr *call) {
    if (d->tparams.n == 0 || call->inst.n != d->tparams.n)
        return;
    env->tparams = &d->tparams;
    env->targs = ARENA_ARRAY(lw->a, struct type *, d->tparams.n);
    for (size_t i = 0; i < d->tparams.n; i++)
        env->targs[i] = env_type(lw, call->inst.v[i]);
}

static struct value *inline_body(struct lower *lw, struct expr *call, struct decl *d) {
    struct env *home = env_of(lw, d->parent), *saved = lw->env;
    struct env *env = env_new(lw, home, arena_printf(lw->a, "%s.%s", home->path, d->name));
    struct call_args args;
    struct frame f = {0};
    bind_type_params(lw, env, d, call);
    // Nothing but constants is visible around a function of the top level.
    enum bind_mode mode = d->kind == D_FUNCTION && !d->parent ? BIND_ONCE : BIND_CLOSURE;
    bind_args(lw, &args, &d->params, call, env, mode, NULL, false);
    struct type *t = env_type(lw, call->type);
    if (t && t->kind != TY_VOID)
        f.result = storage_new(lw, t, arena_printf(lw->a, "$%s%u", d->name, lw->temps++), call->at);
    begin_body(lw, &args, &f, call->at);
    lw->env = env;
    note_consumption(lw, d, call->at);
    const unsigned outer = lw->action_call;
    if (d->kind == D_ACTION && outer == 0)
        lw->action_call = ++lw->action_calls;
    if (d->body)
        lower_stmt(lw, d->body);
    lw->action_call = outer;
    lw->env = saved;
    end_body(lw, &args, &f, true, call->at);
    return f.result ? f.result : nothing(lw, call);
}

// ---- extern functions ---------------------------------------------------------------------------

static struct value *min_max(struct lower *lw, struct expr *e, bool want_max) {
    struct type *t = env_type(lw, e->type);
    struct value *x = eval_as(lw, bound_arg(e, 0), t), *y = eval_as(lw, bound_arg(e, 1), t);
    if (x->kind != VAL_BITS || y->kind != VAL_BITS || x->e->width != y->e->width) {
        lower_unsupported(lw, e->at, "'%s' of these operands", want_max ? "max" : "min");
        return nothing(lw, e);
    }
    enum ir_op op =
        is_signed_type(t) ? (want_max ? IR_SMAX : IR_SMIN) : (want_max ? IR_UMAX : IR_UMIN);
    return value_bits(lw, t, ir_binary(lw->a, op, x->e, y->e));
}

// dst = low half of ({src1, src2} >> n)
static struct value *funnel_shift(struct lower *lw, struct expr *e) {
    struct lvalue dst = eval_lvalue(lw, bound_arg(e, 0));
    struct type *t = dst.alts[0]->type;
    struct value *hi = eval_as(lw, bound_arg(e, 1), t), *lo = eval_as(lw, bound_arg(e, 2), t);
    uint64_t n;
    if (!eval_const_u64(lw, bound_arg(e, 3), "shift amount", &n))
        return nothing(lw, e);
    if (hi->kind != VAL_BITS || lo->kind != VAL_BITS || n > lo->e->width ||
        hi->e->width != lo->e->width || 2 * lo->e->width > LOWER_MAX_WIDTH) {
        lower_unsupported(lw, e->at, "this funnel shift");
        return nothing(lw, e);
    }
    struct ir_expr *both = ir_binary(lw->a, IR_CONCAT, hi->e, lo->e);
    lvalue_assign(lw, &dst, value_bits(lw, t, ir_slice(lw->a, both, (unsigned)n, lo->e->width)),
                  e->at);
    return nothing(lw, e);
}

static struct ir_var *own_validity(struct lower *lw, const struct lvalue *l, struct expr *e,
                                   const char *fn) {
    struct value *v = lvalue_whole(l);
    struct ir_var *valid = v && v->kind == VAL_BITS && v->e->var ? v->e->var->valid : NULL;
    if (!valid)
        lower_error(lw, e->at,
                    "'%s' only applies to headers and to intrinsic fields that have a validity of "
                    "their own (ucast_egress_port, mcast_grp_a, mcast_grp_b, digest_type, "
                    "resubmit_type, egress mirror_type)",
                    fn);
    return valid;
}

static struct value *lower_call_invalidate(struct lower *lw, struct expr *e) {
    struct lvalue l = eval_lvalue(lw, bound_arg(e, 0));
    struct value *v = lvalue_whole(&l);
    if (v && v->kind == VAL_HEADER) {
        storage_invalidate(lw, v, e->at);
        return nothing(lw, e);
    }
    struct ir_var *valid = own_validity(lw, &l, e, "invalidate");
    if (valid)
        assign_var(lw, valid, ir_const_u64(lw->a, 1, 0), e->at);
    return nothing(lw, e);
}

static struct value *is_validated(struct lower *lw, struct expr *e) {
    struct lvalue l = eval_lvalue(lw, bound_arg(e, 0));
    struct value *v = lvalue_whole(&l);
    if (v && v->kind == VAL_HEADER)
        return value_bits(lw, e->type, v->valid);
    struct ir_var *valid = own_validity(lw, &l, e, "is_validated");
    return valid ? value_bits(lw, e->type, ir_ref(lw->a, valid)) : nothing(lw, e);
}

static struct value *extern_function(struct lower *lw, struct expr *e) {
    const char *name = e->decl->name;
    struct expr *arg = bound_arg(e, 0);
    if (!place_function(lw, e))
        return nothing(lw, e);
    if (strcmp(name, "max") == 0 || strcmp(name, "min") == 0)
        return min_max(lw, e, name[1] == 'a');
    if (strcmp(name, "funnel_shift_right") == 0)
        return funnel_shift(lw, e);
    if (strcmp(name, "invalidate") == 0)
        return lower_call_invalidate(lw, e);
    if (strcmp(name, "is_validated") == 0)
        return is_validated(lw, e);
    if (strcmp(name, "sizeInBits") == 0 || strcmp(name, "sizeInBytes") == 0)
        return lower_call_size_of(lw, e, arg ? env_type(lw, arg->type) : NULL, name[7] == 'y',
                                  false);
    if (strcmp(name, "port_metadata_unpack") == 0)
        return port_metadata_unpack(lw, e);
    if (strcmp(name, "static_assert") == 0) // the checker has looked at it
        return value_const(lw, e->type, big_u64(lw->a, 1), e->at);
    if (strcmp(name, "verify") == 0) {
        diag_warning(lw->d, e->at, "'verify' does nothing on a Tofino; the check is left out");
        return nothing(lw, e);
    }
    lower_unsupported(lw, e->at, "extern function '%s'", name);
    return nothing(lw, e);
}

// ---- all of them --------------------------------------------------------------------------------

// An extern's method or function looks at its arguments in an order of its own. Where that could be
// told, they are all evaluated before, as they are written (section 6.8).
static void evaluate_early(struct lower *lw, struct expr *e) {
    const decl_vec *params = e->decl ? &e->decl->params : NULL;
    bool later = false;
    for (size_t k = 1; k < e->args.n; k++)
        later |= scan_effects(e->args.v[k]->value);
    if (!params || !later)
        return;
    for (size_t k = 0; k < e->args.n; k++) {
        struct expr *x = e->args.v[k]->value;
        for (size_t i = 0; i < params->n; i++) {
            if (bound_arg(e, i) != x || x->kind == EX_DONTCARE)
                continue;
            struct early v = {.expr = x};
            if (params->v[i]->dir == DIR_OUT || params->v[i]->dir == DIR_INOUT)
                v.place = eval_lvalue(lw, x);
            else
                v.value = value_snapshot(lw, eval(lw, x), x->at);
            VEC_PUSH(lw->a, &lw->early, v);
        }
    }
}

static struct value *extern_call(struct lower *lw, struct expr *e, struct ir_var *wanted) {
    size_t before = lw->early.n;
    evaluate_early(lw, e);
    struct value *v =
        e->call == CALL_METHOD ? extern_method(lw, e, wanted) : extern_function(lw, e);
    lw->early.n = before;
    return v;
}

static struct value *call_inner(struct lower *lw, struct expr *e, struct ir_var *wanted) {
    switch (e->call) {
    case CALL_FUNCTION:
        if (!e->decl)
            break;
        return e->decl->body ? inline_body(lw, e, e->decl) : extern_call(lw, e, NULL);
    case CALL_ACTION:
        return e->decl ? inline_body(lw, e, e->decl) : nothing(lw, e);
    case CALL_METHOD:
        return extern_call(lw, e, wanted);
    case CALL_APPLY_TABLE:
        return apply_table(lw, e, APPLY_PLAIN);
    case CALL_APPLY_BLOCK:
        return apply_block(lw, e);
    case CALL_BUILTIN:
        return eval_builtin(lw, e);
    case CALL_CTOR: {
        const char *name =
            arena_printf(lw->a, "$%s%u", e->decl ? e->decl->name : "object", lw->temps++);
        return value_object(lw, object_new(lw, e, NULL, name, e->at));
    }
    case CALL_UNRESOLVED:
        break;
    }
    lower_unsupported(lw, e->at, "this call");
    return nothing(lw, e);
}

struct value *eval_call(struct lower *lw, struct expr *e) {
    struct ir_var *wanted = lw->wanted;
    bool discard = lw->discard;
    lw->wanted = NULL;
    lw->discard = false;
    struct value *v = call_inner(lw, e, wanted);
    // Nobody looks at what a register action gives: no variable is needed for it.
    struct ir_stmt *last =
        lw->block && lw->block->stmts.n > 0 ? lw->block->stmts.v[lw->block->stmts.n - 1] : NULL;
    if (discard && e->call == CALL_METHOD && last && last->kind == IR_REG_EXEC)
        last->var = NULL;
    return v;
}

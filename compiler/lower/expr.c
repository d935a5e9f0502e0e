// SPDX-License-Identifier: Apache-2.0
//
// expr: expressions, except operators (op.c) and calls (call.c).
#include "compiler/lower/lower_impl.h"

#include <string.h>

// ---- depth --------------------------------------------------------------------------------------

bool spend(struct lower *lw, struct loc at) {
    if (lw->gave_up)
        return false;
    if (++lw->work <= LOWER_MAX_WORK)
        return true;
    lower_limit(lw, at, "the program is too large once its calls and types are expanded");
    return false;
}

bool go_down(struct lower *lw, struct loc at) {
    if (!spend(lw, at))
        return false;
    if (++lw->depth <= LOWER_MAX_DEPTH)
        return true;
    lw->depth--;
    lower_limit(lw, at, "this is nested too deeply (more than %u levels, calls included)",
                LOWER_MAX_DEPTH);
    return false;
}

void go_up(struct lower *lw) {
    lw->depth--;
}

// ---- names --------------------------------------------------------------------------------------

// A constant of the program, evaluated once, where nothing local can be seen.
static struct value *eval_global_const(struct lower *lw, struct decl *d) {
    struct env *saved = lw->env;
    lw->env = lw->globals;
    struct value *v = d->cval   ? value_const(lw, d->type, d->cval, d->at)
                      : d->init ? eval_as(lw, d->init, d->type)
                                : value_zero(lw, d->type, d->at);
    lw->env = saved;
    env_bind(lw, lw->globals, d, v);
    return v;
}

static struct value *eval_global_instance(struct lower *lw, struct decl *d) {
    struct env *saved = lw->env;
    lw->env = lw->globals;
    struct object *o =
        object_new(lw, d->ctor_call, d, env_name(lw, lw->globals, &d->annots, d->name), d->at);
    lw->env = saved;
    struct value *v = value_object(lw, o);
    env_bind(lw, lw->globals, d, v);
    return v;
}

static struct value *lower_expr_enumerator(struct lower *lw, struct expr *e, struct decl *d) {
    struct type *t = env_type(lw, e->type);
    return value_const(lw, t, d->cval ? d->cval : big_u64(lw->a, d->index), e->at);
}

static struct value *eval_decl(struct lower *lw, struct expr *e, struct decl *d) {
    struct value *v = d ? env_find(lw->env, d) : NULL;
    if (!v && d)
        v = env_find(lw->globals, d);
    if (v)
        return v;
    switch (d ? d->kind : D_TYPEVAR) {
    case D_CONST:
        return eval_global_const(lw, d);
    case D_INSTANCE:
        return eval_global_instance(lw, d);
    case D_ENUMERATOR:
        return lower_expr_enumerator(lw, e, d);
    default:
        lower_unsupported(lw, e->at, "using '%s' here", e->name ? e->name : "this");
        return value_zero(lw, env_type(lw, e->type), e->at);
    }
}

// ---- members ------------------------------------------------------------------------------------

struct ir_expr *stack_last_index(struct lower *lw, struct value *stack) {
    return ir_binary(lw->a, IR_SUB, ir_ref(lw->a, stack->next), ir_const_u64(lw->a, 32, 1));
}

static struct value *stack_member(struct lower *lw, struct expr *e, struct value *stack) {
    struct type *t = env_type(lw, e->type);
    if (strcmp(e->name, "size") == 0)
        return value_const(lw, t, big_u64(lw->a, stack->n), e->at);
    if (!stack->next || lw->place != IN_PARSER_STATE) {
        lower_error(lw, e->at, "'%s' of a header stack can only be used in a parser", e->name);
        return value_zero(lw, t, e->at);
    }
    if (strcmp(e->name, "lastIndex") == 0)
        return value_bits(lw, t, stack_last_index(lw, stack));
    if (strcmp(e->name, "next") == 0)
        return eval_index(lw, stack, ir_ref(lw->a, stack->next), e->at);
    return eval_index(lw, stack, stack_last_index(lw, stack), e->at);
}

static bool is_table_apply(const struct expr *e) {
    return e->kind == EX_CALL && e->call == CALL_APPLY_TABLE;
}

static struct value *apply_member(struct lower *lw, struct expr *e) {
    if (strcmp(e->name, "hit") == 0)
        return apply_table(lw, e->a, APPLY_HIT);
    if (strcmp(e->name, "miss") == 0)
        return apply_table(lw, e->a, APPLY_MISS);
    return apply_table(lw, e->a, APPLY_ACTION_RUN);
}

static struct value *eval_member(struct lower *lw, struct expr *e) {
    if (e->decl && e->decl->kind == D_ENUMERATOR)
        return lower_expr_enumerator(lw, e, e->decl);
    if (is_table_apply(e->a))
        return apply_member(lw, e);
    struct value *base = eval(lw, e->a);
    if (base->kind == VAL_STACK)
        return stack_member(lw, e, base);
    struct value *field = value_field(lw, base, e->name);
    if (field)
        return field;
    if (e->a->type && e->a->type->kind != TY_ERROR_TYPE && base->kind != VAL_BITS)
        lower_unsupported(lw, e->at, "member '%s' of this", e->name);
    return value_zero(lw, env_type(lw, e->type), e->at);
}

// ---- indices and slices -------------------------------------------------------------------------

// An element chosen at run time: a chain of comparisons. Out of range gives the last one, which is
// within what section 8.18 leaves undefined.
static struct value *choose_element(struct lower *lw, struct value *base, struct ir_expr *i,
                                    struct loc at) {
    if (i->op != IR_VAR) {
        struct ir_var *t = temp_new(lw, "i", i->width, at);
        t->shown = ir_source_text(lw->a, i);
        assign_var(lw, t, i, at);
        i = ir_ref(lw->a, t);
    }
    struct value *v = base->items[base->n - 1];
    for (size_t k = base->n - 1; k-- > 0;)
        v = value_choose(lw, index_is(lw, i, k), base->items[k], v);
    return v;
}

struct value *eval_index(struct lower *lw, struct value *base, struct ir_expr *i, struct loc at) {
    struct type *elem = plain(base->type)->elem;
    if (base->n == 0)
        return value_zero(lw, elem, at);
    if (!ir_is_const(i))
        return base->n > 256 ? (lower_unsupported(lw, at, "run-time indices into large stacks"),
                                base->items[0])
                             : choose_element(lw, base, i, at);
    if (big_fits_u64(i->value) && big_to_u64(i->value) < base->n)
        return base->items[big_to_u64(i->value)];
    lower_error(lw, at, "index %s is out of range: there are %zu elements",
                big_str(lw->a, i->value, 10), base->n);
    return base->items[0];
}

struct ir_expr *eval_index_bits(struct lower *lw, struct expr *e) {
    struct value *i = eval(lw, e);
    if (i->kind == VAL_INT)
        return big_sign(i->num) < 0 || !big_fits_u64(i->num) ? ir_const_u64(lw->a, 64, UINT64_MAX)
                                                             : ir_const(lw->a, 64, i->num);
    if (i->kind != VAL_BITS)
        return ir_const_u64(lw->a, 32, 0);
    if (is_signed_type(i->type) && i->e->width < 32) // what is below 0 is no element's number
        return ir_resize(lw->a, i->e, 32, true);
    return i->e;
}

static struct value *eval_element(struct lower *lw, struct expr *e) {
    struct value *base = eval(lw, e->a);
    if (scan_effects(e->b))
        base = value_snapshot(lw, base, e->at);
    struct ir_expr *i = eval_index_bits(lw, e->b);
    if (base->kind != VAL_STACK && base->kind != VAL_TUPLE) {
        lower_unsupported(lw, e->at, "indexing this");
        return value_zero(lw, env_type(lw, e->type), e->at);
    }
    return eval_index(lw, base, i, e->b->at);
}

bool slice_bounds(struct lower *lw, struct expr *e, unsigned *lo, unsigned *width) {
    uint64_t first, second;
    if (e->kind == EX_PLUS_SLICE) {
        struct value *at = eval(lw, e->b);
        if (at->kind == VAL_BITS && !ir_is_const(at->e)) {
            lower_error(lw, e->b->at,
                        "a Tofino cannot shift by a run-time distance, so the start of a slice "
                        "must be known at compile time");
            return false;
        }
        if (!eval_const_u64(lw, e->b, "start of a slice", &first) ||
            !eval_const_u64(lw, e->c, "width of a slice", &second))
            return false;
    } else {
        uint64_t high;
        if (!eval_const_u64(lw, e->b, "upper end of a slice", &high) ||
            !eval_const_u64(lw, e->c, "lower end of a slice", &first))
            return false;
        second = high + 1 > first ? high + 1 - first : 0;
    }
    if (first > LOWER_MAX_WIDTH || second < 1 || second > LOWER_MAX_WIDTH) {
        lower_error(lw, e->at, "this slice is outside the value");
        return false;
    }
    *lo = (unsigned)first;
    *width = (unsigned)second;
    return true;
}

// Bits of '[lo +: width]' that lie beyond the value are zero.
static struct value *eval_slice(struct lower *lw, struct expr *e) {
    unsigned lo, width;
    struct type *t = env_type(lw, e->type);
    struct value *v = eval(lw, e->a);
    if (!slice_bounds(lw, e, &lo, &width))
        return value_zero(lw, t, e->at);
    if (v->kind == VAL_INT)
        return value_bits(lw, t,
                          ir_const(lw->a, width, big_slice(lw->a, v->num, lo + width - 1, lo)));
    if (v->kind != VAL_BITS || (e->kind == EX_SLICE && lo + width > v->e->width)) {
        lower_error(lw, e->at, "bits [%u:%u] are outside the value", lo + width - 1, lo);
        return value_zero(lw, t, e->at);
    }
    if (lo >= v->e->width)
        return value_bits(lw, t, ir_const_u64(lw->a, width, 0));
    unsigned inside = lo + width > v->e->width ? v->e->width - lo : width;
    return value_bits(lw, t, ir_resize(lw->a, ir_slice(lw->a, v->e, lo, inside), width, false));
}

// ---- ?: -----------------------------------------------------------------------------------------

// A side with effects of its own is put under an if; without, it stays an expression.
static struct value *eval_cond(struct lower *lw, struct expr *e) {
    struct ir_expr *c = eval_bool(lw, e->a);
    struct type *t = env_type(lw, e->type);
    if (ir_is_const(c))
        return eval_as(lw, ir_is_true(c) ? e->b : e->c, t);
    struct ir_block *outer = lw->block, *then_b = ir_block_new(lw->a);
    struct ir_block *else_b = ir_block_new(lw->a);
    if (scan_effects(e->b) || scan_effects(e->c))
        c = value_snapshot(lw, value_bool(lw, c), e->at)->e;
    lw->block = then_b;
    struct value *x = eval_as(lw, e->b, t);
    lw->block = else_b;
    struct value *y = eval_as(lw, e->c, t);
    lw->block = outer;
    if (then_b->stmts.n == 0 && else_b->stmts.n == 0)
        return value_choose(lw, c, x, y);
    struct value *result = storage_new(lw, t, arena_printf(lw->a, "$c%u", lw->temps++), e->at);
    lw->block = then_b;
    assign(lw, result, x, e->at);
    lw->block = else_b;
    assign(lw, result, y, e->at);
    lw->block = outer;
    put_source_if(lw, c, then_b, else_b, e->at, expr_text(lw->a, e->a));
    return result;
}

// ---- lists --------------------------------------------------------------------------------------

static bool lower_expr_effects_after(const struct expr *e, size_t i) {
    for (size_t k = i + 1; k < e->args.n; k++)
        if (scan_effects(e->args.v[k]->value))
            return true;
    return false;
}

static struct value *eval_item(struct lower *lw, struct expr *list, size_t i, struct type *t) {
    struct expr *e = list->args.v[i]->value;
    struct value *v = t ? eval_as(lw, e, t) : eval(lw, e);
    return lower_expr_effects_after(list, i) ? value_snapshot(lw, v, e->at) : v;
}

static size_t member_index(const struct decl *d, const char *name) {
    for (size_t i = 0; i < d->members.n; i++)
        if (strcmp(d->members.v[i]->name, name) == 0)
            return i;
    return d->members.n;
}

// {x, y} or {f = x} as a struct or header; '...' and members left out are zero.
static struct value *eval_members(struct lower *lw, struct expr *e, struct type *t) {
    struct value *v = value_zero(lw, t, e->at);
    const struct type *u = plain(t);
    if (v->kind == VAL_HEADER)
        v->valid = ir_const_u64(lw->a, 1, 1);
    for (size_t i = 0; i < e->args.n; i++) {
        const struct arg *arg = e->args.v[i];
        if (arg->value->kind == EX_DOTS)
            continue;
        size_t k = arg->name ? member_index(u->decl, arg->name) : i;
        if (k < v->n)
            v->items[k] = eval_item(lw, e, i, v->items[k]->type);
    }
    return v;
}

static struct value *eval_elements(struct lower *lw, struct expr *e, struct type *t) {
    const struct type *u = plain(t);
    struct value *v = value_new(lw, u->kind == TY_STACK ? VAL_STACK : VAL_TUPLE, t);
    bool sized = u->kind == TY_STACK;
    if (sized)
        v = value_zero(lw, t, e->at);
    else
        v->items = ARENA_ARRAY(lw->a, struct value *, e->args.n + 1);
    for (size_t i = 0; i < e->args.n; i++) {
        if (e->args.v[i]->value->kind == EX_DOTS || (sized && i >= v->n))
            continue;
        struct type *want = u->kind == TY_TUPLE ? (i < u->args.n ? u->args.v[i] : NULL) : u->elem;
        struct value *item = eval_item(lw, e, i, want);
        if (sized)
            v->items[i] = item;
        else
            v->items[v->n++] = item;
    }
    return v;
}

static struct value *eval_list(struct lower *lw, struct expr *e) {
    struct type *t = env_type(lw, e->type);
    switch (plain(t)->kind) {
    case TY_STRUCT:
    case TY_HEADER:
        return eval_members(lw, e, t);
    default:
        return eval_elements(lw, e, t);
    }
}

// ---- all of them --------------------------------------------------------------------------------

static struct value *eval_inner(struct lower *lw, struct expr *e) {
    switch (e->kind) {
    case EX_NAME:
        return eval_decl(lw, e, e->decl);
    case EX_MEMBER:
        return eval_member(lw, e);
    case EX_INDEX:
        return eval_element(lw, e);
    case EX_SLICE:
    case EX_PLUS_SLICE:
        return eval_slice(lw, e);
    case EX_CALL:
        return eval_call(lw, e);
    case EX_UNARY:
        return eval_unary(lw, e);
    case EX_BINARY:
        return eval_binary(lw, e);
    case EX_COND:
        return eval_cond(lw, e);
    case EX_CAST:
        return convert(lw, eval(lw, e->a), env_type(lw, e->type), e->at);
    case EX_LIST:
    case EX_STRUCT:
        return eval_list(lw, e);
    case EX_INVALID:
        return value_zero(lw, env_type(lw, e->type), e->at);
    case EX_INT:
    case EX_BOOL:
        return value_const(lw, env_type(lw, e->type), e->value, e->at);
    case EX_STRING: {
        struct value *v = value_new(lw, VAL_STRING, e->type);
        v->text = e->name ? e->name : "";
        return v;
    }
    default:
        lower_unsupported(lw, e->at, "this expression here");
        return value_zero(lw, env_type(lw, e->type), e->at);
    }
}

struct value *eval(struct lower *lw, struct expr *e) {
    for (size_t i = lw->early.n; i-- > 0;)
        if (lw->early.v[i].expr == e && lw->early.v[i].value)
            return lw->early.v[i].value;
    if (!go_down(lw, e->at))
        return value_zero(lw, e->type, e->at);
    struct value *v;
    bool simple = is_scalar_type(e->type) || plain(e->type)->kind == TY_INT;
    if (e->kind != EX_CALL)
        lw->wanted = NULL;
    if (e->cval && simple)
        v = value_const(lw, env_type(lw, e->type), e->cval, e->at);
    else
        v = eval_inner(lw, e);
    go_up(lw);
    return v;
}

struct value *eval_as(struct lower *lw, struct expr *e, struct type *t) {
    struct value *v = eval(lw, e);
    return convert(lw, v, t, e->at);
}

struct ir_expr *eval_bits(struct lower *lw, struct expr *e) {
    struct value *v = eval(lw, e);
    if (v->kind == VAL_BITS && v->e->width == 0)
        return ir_const_u64(lw->a, 1, 0);
    if (v->kind == VAL_BITS)
        return v->e;
    if (v->kind == VAL_INT) {
        unsigned w = big_bits(v->num);
        return ir_const(lw->a, w == 0 ? 1 : w, v->num);
    }
    lower_unsupported(lw, e->at, "this expression as a number");
    return ir_const_u64(lw->a, 1, 0);
}

struct ir_expr *eval_bool(struct lower *lw, struct expr *e) {
    struct ir_expr *x = eval_bits(lw, e);
    return x->width == 1 ? x : ir_slice(lw->a, x, 0, 1);
}

big eval_const(struct lower *lw, struct expr *e, const char *what) {
    struct value *v = eval(lw, e);
    if (v->kind == VAL_INT)
        return v->num;
    if (v->kind == VAL_BITS && ir_is_const(v->e))
        return is_signed_type(v->type) ? big_wrap_s(lw->a, v->e->value, v->e->width) : v->e->value;
    lower_error(lw, e->at, "the %s must be known at compile time", what);
    return NULL;
}

bool eval_const_u64(struct lower *lw, struct expr *e, const char *what, uint64_t *out) {
    big v = eval_const(lw, e, what);
    if (!v)
        return false;
    if (big_sign(v) < 0 || !big_fits_u64(v)) {
        lower_error(lw, e->at, "the %s is %s, which is out of range", what, big_str(lw->a, v, 10));
        return false;
    }
    *out = big_to_u64(v);
    return true;
}

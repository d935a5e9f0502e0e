// SPDX-License-Identifier: Apache-2.0
//
// lvalue: places to assign to (section 6.7).
#include "compiler/lower/lower_impl.h"

#include <string.h>

struct ir_expr *index_is(struct lower *lw, struct ir_expr *index, size_t k) {
    struct ir_expr *number = ir_const_u64(lw->a, index->width, k);
    if (big_to_u64(number->value) != k) // an index of few bits is never that large
        return ir_const_u64(lw->a, 1, 0);
    return ir_binary(lw->a, IR_EQ, index, number);
}

// Whether it is below n.
static struct ir_expr *index_below(struct lower *lw, struct ir_expr *index, size_t n) {
    struct ir_expr *number = ir_const_u64(lw->a, index->width, n);
    if (big_to_u64(number->value) != n)
        return ir_const_u64(lw->a, 1, 1);
    return ir_binary(lw->a, IR_ULT, index, number);
}

static struct lvalue lower_lvalue_single(struct lower *lw, struct value *v) {
    struct lvalue l = {.n = 1, .alts = ARENA_ARRAY(lw->a, struct value *, 1)};
    l.alts[0] = v;
    return l;
}

// An element of a stack: the place is chosen at run time unless the index is a constant.
static struct lvalue element(struct lower *lw, struct value *stack, struct ir_expr *i,
                             struct loc at) {
    if (stack->n == 0 || ir_is_const(i))
        return lower_lvalue_single(lw, eval_index(lw, stack, i, at));
    // The place is decided now, whatever happens to the index later (section 6.8).
    struct ir_var *t = temp_new(lw, "i", i->width, at);
    t->shown = ir_source_text(lw->a, i);
    assign_var(lw, t, i, at);
    return (struct lvalue){.alts = stack->items, .n = stack->n, .index = ir_ref(lw->a, t)};
}

static struct lvalue lower_lvalue_member(struct lower *lw, struct expr *e) {
    struct lvalue l = eval_lvalue(lw, e->a);
    struct value *base = l.alts[0];
    if (base->kind == VAL_STACK && !l.index) {
        if (!base->next || lw->place != IN_PARSER_STATE ||
            (strcmp(e->name, "next") != 0 && strcmp(e->name, "last") != 0))
            return lower_lvalue_single(lw, eval(lw, e));
        struct ir_expr *i =
            strcmp(e->name, "next") == 0 ? ir_ref(lw->a, base->next) : stack_last_index(lw, base);
        return element(lw, base, i, e->at);
    }
    struct value **alts = ARENA_ARRAY(lw->a, struct value *, l.n);
    for (size_t i = 0; i < l.n; i++) {
        alts[i] = value_field(lw, l.alts[i], e->name);
        if (!alts[i]) {
            lower_unsupported(lw, e->at, "assigning to '%s' of this", e->name);
            return lower_lvalue_single(lw, value_zero(lw, env_type(lw, e->type), e->at));
        }
    }
    l.alts = alts;
    return l;
}

#define MAX_PLACES 256u // among which a place is chosen at run time

// Element i of each of the alternatives 'l', of which one is chosen already.
static struct lvalue element_of_each(struct lower *lw, const struct lvalue *l, struct ir_expr *i,
                                     struct loc at) {
    struct lvalue out = *l;
    size_t n = l->alts[0]->n;
    if (n == 0 || n * l->n > MAX_PLACES) {
        lower_limit(lw, at, "a run-time index cannot choose among more than %u places", MAX_PLACES);
        return out;
    }
    out.alts = ARENA_ARRAY(lw->a, struct value *, n * l->n);
    if (ir_is_const(i)) {
        for (size_t k = 0; k < l->n; k++)
            out.alts[k] = eval_index(lw, l->alts[k], i, at);
        return out;
    }
    for (size_t k = 0; k < n * l->n; k++)
        out.alts[k] = l->alts[k / n]->items[k % n];
    out.n = n * l->n;
    // Number k of row r is r * n + k; what is beyond a row's end is nowhere.
    struct arena *a = lw->a;
    struct ir_expr *row = ir_resize(a, l->index, 32, false), *k = ir_resize(a, i, 32, false);
    struct ir_expr *there =
        ir_binary(a, IR_ADD, ir_binary(a, IR_MUL, row, ir_const_u64(a, 32, n)), k);
    struct ir_expr *known =
        ir_binary(a, IR_LAND, index_below(lw, l->index, l->n), index_below(lw, i, n));
    struct ir_var *t = temp_new(lw, "i", 32, at);
    assign_var(lw, t, ir_choose(a, known, there, ir_const_u64(a, 32, UINT32_MAX)), at);
    out.index = ir_ref(a, t);
    return out;
}

static struct lvalue indexed(struct lower *lw, struct expr *e) {
    struct lvalue l = eval_lvalue(lw, e->a);
    struct value *base = l.alts[0];
    struct ir_expr *i = eval_index_bits(lw, e->b);
    if (base->kind != VAL_STACK && base->kind != VAL_TUPLE) {
        lower_unsupported(lw, e->at, "assigning to an element of this");
        return lower_lvalue_single(lw, value_zero(lw, env_type(lw, e->type), e->at));
    }
    if (l.index)
        return element_of_each(lw, &l, i, e->b->at);
    if (base->kind == VAL_TUPLE)
        return lower_lvalue_single(lw, eval_index(lw, base, i, e->b->at));
    return element(lw, base, i, e->b->at);
}

static struct lvalue sliced(struct lower *lw, struct expr *e) {
    struct lvalue l = eval_lvalue(lw, e->a);
    unsigned lo, width;
    if (!slice_bounds(lw, e, &lo, &width))
        return l;
    struct value *v = l.alts[0];
    unsigned whole = l.sliced ? l.width : v->kind == VAL_BITS ? v->e->width : 0;
    if (lo >= whole || (e->kind == EX_SLICE && lo + width > whole)) {
        lower_error(lw, e->at, "bits [%u:%u] are outside the value", lo + width - 1, lo);
        return l;
    }
    l.lo = (l.sliced ? l.lo : 0) + lo;
    l.width = lo + width > whole ? whole - lo : width; // what lies beyond the value is lost
    l.sliced = true;
    return l;
}

struct lvalue eval_lvalue(struct lower *lw, struct expr *e) {
    for (size_t i = lw->early.n; i-- > 0;)
        if (lw->early.v[i].expr == e && !lw->early.v[i].value)
            return lw->early.v[i].place;
    if (!go_down(lw, e->at))
        return lower_lvalue_single(lw, value_zero(lw, e->type, e->at));
    struct lvalue l;
    switch (e->kind) {
    case EX_MEMBER:
        l = lower_lvalue_member(lw, e);
        break;
    case EX_INDEX:
        l = indexed(lw, e);
        break;
    case EX_SLICE:
    case EX_PLUS_SLICE:
        l = sliced(lw, e);
        break;
    case EX_CAST: // an implicit one, between types of one representation
        l = eval_lvalue(lw, e->a);
        break;
    default:
        l = lower_lvalue_single(lw, eval(lw, e));
    }
    go_up(lw);
    return l;
}

struct value *lvalue_whole(const struct lvalue *l) {
    return !l->index && !l->sliced && value_is_storage(l->alts[0]) ? l->alts[0] : NULL;
}

struct value *lvalue_read(struct lower *lw, const struct lvalue *l, struct loc at) {
    struct value *v = l->alts[0];
    if (l->index) {
        v = l->alts[l->n - 1];
        for (size_t k = l->n - 1; k-- > 0;)
            v = value_choose(lw, index_is(lw, l->index, k), l->alts[k], v);
    }
    (void)at;
    if (l->sliced && v->kind == VAL_BITS)
        v = value_bits(lw, v->type, ir_slice(lw->a, v->e, l->lo, l->width));
    return v;
}

static void assign_slice(struct lower *lw, struct value *dst, const struct lvalue *l,
                         struct value *v, struct loc at) {
    if (dst->kind != VAL_BITS || dst->e->op != IR_VAR || v->kind != VAL_BITS)
        return;
    if (l->width == dst->e->width) {
        assign_var(lw, dst->e->var, v->e, at);
        return;
    }
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_ASSIGN, at);
    s->var = dst->e->var;
    s->slice = true;
    s->lo = l->lo;
    s->width = l->width;
    s->e = ir_resize(lw->a, v->e, l->width, false);
    put(lw, s);
    mark_assigned(lw, s->var, at);
}

static void assign_one(struct lower *lw, struct value *dst, const struct lvalue *l, struct value *v,
                       struct loc at) {
    if (l->sliced)
        assign_slice(lw, dst, l, v, at);
    else
        assign(lw, dst, v, at);
}

void lvalue_assign(struct lower *lw, const struct lvalue *l, struct value *v, struct loc at) {
    if (!l->index) {
        assign_one(lw, l->alts[0], l, v, at);
        return;
    }
    v = value_snapshot(lw, v, at);
    struct ir_block *outer = lw->block;
    for (size_t k = 0; k < l->n; k++) {
        struct ir_block *b = ir_block_new(lw->a);
        lw->block = b;
        assign_one(lw, l->alts[k], l, v, at);
        lw->block = outer;
        put_if(lw, index_is(lw, l->index, k), b, NULL, at);
    }
}

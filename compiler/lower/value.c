// SPDX-License-Identifier: Apache-2.0
//
// value: values, storage, and moving the one into the other.
#include "compiler/lower/lower_impl.h"

#include <string.h>

// ---- types --------------------------------------------------------------------------------------

const struct type *plain(const struct type *t) {
    static const struct type nothing = {.kind = TY_ERROR_TYPE};
    if (!t)
        return &nothing;
    const struct type *u = type_underlying(t);
    return u ? u : t;
}

bool is_scalar_type(const struct type *t) {
    switch (plain(t)->kind) {
    case TY_BOOL:
    case TY_BITS:
    case TY_ENUM:
    case TY_ERROR:
    case TY_ERROR_TYPE:
        return true;
    default:
        return false;
    }
}

bool is_signed_type(const struct type *t) {
    const struct type *u = plain(t);
    return u->kind == TY_INT || (u->kind == TY_BITS && u->is_signed);
}

#define ERROR_BITS 16u // of a value of type 'error'

unsigned scalar_width(struct lower *lw, const struct type *t, struct loc at) {
    const struct type *u = plain(t);
    if (u->kind == TY_ERROR)
        return ERROR_BITS;
    if (u->kind == TY_ENUM && u->decl) {
        unsigned w = 1;
        while (w < 32 && (u->decl->members.n > (size_t)1 << w))
            w++;
        return w;
    }
    if (u->kind != TY_BITS)
        return 1;
    if (u->width > LOWER_MAX_WIDTH) {
        lower_unsupported(lw, at, "values of %u bits (at most %u)", u->width, LOWER_MAX_WIDTH);
        return 1;
    }
    return u->width;
}

unsigned extern_width(struct lower *lw, const struct object *o, const struct type *t) {
    unsigned width = scalar_width(lw, t, o->at);
    if (width > 0)
        return width;
    lower_error(lw, o->at, "%s '%s' is of bit<0>, a type without bits", o->type_name, o->name);
    return 1;
}

// ---- making values ------------------------------------------------------------------------------

struct value *value_new(struct lower *lw, enum value_kind kind, struct type *t) {
    struct value *v = ARENA_NEW(lw->a, struct value);
    v->kind = kind;
    v->type = t;
    return v;
}

struct value *value_bits(struct lower *lw, struct type *t, struct ir_expr *e) {
    struct value *v = value_new(lw, VAL_BITS, t);
    v->e = e;
    return v;
}

struct value *value_bool(struct lower *lw, struct ir_expr *e) {
    static struct type bool_type = {.kind = TY_BOOL};
    return value_bits(lw, &bool_type, e);
}

struct value *value_int(struct lower *lw, struct type *t, big n) {
    struct value *v = value_new(lw, VAL_INT, t);
    v->num = n;
    return v;
}

struct value *value_object(struct lower *lw, struct object *o) {
    struct value *v = value_new(lw, VAL_OBJECT, o->type);
    v->object = o;
    return v;
}

struct value *value_const(struct lower *lw, struct type *t, big v, struct loc at) {
    if (plain(t)->kind == TY_INT)
        return value_int(lw, t, v);
    return value_bits(lw, t, ir_const(lw->a, scalar_width(lw, t, at), v));
}

// ---- questions ----------------------------------------------------------------------------------

void value_leaves(struct value *v, leaf_fn *fn, void *ctx) {
    if (v->kind == VAL_TUPLE || v->kind == VAL_HEADER || v->kind == VAL_STACK ||
        v->kind == VAL_UNION) {
        for (size_t i = 0; i < v->n; i++)
            value_leaves(v->items[i], fn, ctx);
        return;
    }
    fn(ctx, v);
}

bool value_is_const(const struct value *v) {
    if (v->kind == VAL_BITS)
        return ir_is_const(v->e);
    for (size_t i = 0; i < v->n; i++)
        if (!value_is_const(v->items[i]))
            return false;
    return !v->valid || ir_is_const(v->valid);
}

bool value_is_storage(const struct value *v) {
    if (v->kind == VAL_BITS)
        return v->e->op == IR_VAR || v->e->width == 0;
    if (v->kind == VAL_HEADER)
        return v->header != NULL;
    if (v->kind != VAL_TUPLE && v->kind != VAL_STACK && v->kind != VAL_UNION)
        return false;
    for (size_t i = 0; i < v->n; i++)
        if (!value_is_storage(v->items[i]))
            return false;
    return true;
}

bool expr_reads(struct ir_expr *e, const struct ir_var *v) {
    if (!e)
        return false;
    return e->var == v || expr_reads(e->a, v) || expr_reads(e->b, v) || expr_reads(e->c, v);
}

static bool exprs_overlap(struct ir_expr *x, struct ir_expr *y) {
    if (!x)
        return false;
    if (x->op == IR_VAR)
        return expr_reads(y, x->var);
    return exprs_overlap(x->a, y) || exprs_overlap(x->b, y) || exprs_overlap(x->c, y);
}

static bool expr_overlaps_value(struct ir_expr *e, struct value *y) {
    if (!e)
        return false;
    if (y->e && exprs_overlap(e, y->e))
        return true;
    if (y->valid && exprs_overlap(e, y->valid))
        return true;
    for (size_t i = 0; i < y->n; i++)
        if (expr_overlaps_value(e, y->items[i]))
            return true;
    return false;
}

bool values_overlap(struct value *x, struct value *y) {
    if (value_is_storage(x) && value_is_storage(y) && x == y)
        return true;
    // Storage trees are disjoint or share a header: compare those before going to the leaves.
    if (x->header && y->header)
        return x->header == y->header;
    if (expr_overlaps_value(x->e, y) || expr_overlaps_value(x->valid, y))
        return true;
    for (size_t i = 0; i < x->n; i++)
        if (values_overlap(x->items[i], y))
            return true;
    return false;
}

struct value *value_field(struct lower *lw, struct value *v, const char *name) {
    const struct type *u = plain(v->type);
    (void)lw;
    if (!u->decl || (u->kind != TY_STRUCT && u->kind != TY_HEADER && u->kind != TY_UNION))
        return NULL;
    for (size_t i = 0; i < u->decl->members.n && i < v->n; i++)
        if (strcmp(u->decl->members.v[i]->name, name) == 0)
            return v->items[i];
    return NULL;
}

struct flat {
    struct lower *lw;
    struct loc at;
    ir_expr_vec out;
};

static void flat_leaf(void *ctx, struct value *leaf) {
    struct flat *f = ctx;
    if (leaf->kind == VAL_BITS && leaf->e->width == 0)
        return; // nothing of it is anywhere
    if (leaf->kind == VAL_BITS)
        VEC_PUSH(f->lw->a, &f->out, leaf->e);
    else if (leaf->kind == VAL_VARBIT)
        lower_error(f->lw, f->at, "a varbit has no fixed width, so it is not allowed here");
    else
        lower_error(f->lw, f->at, "this needs a width: write the number as, say, 8w1");
}

static bool has_union(const struct value *v) {
    bool found = v->kind == VAL_UNION;
    for (size_t i = 0; i < v->n && !found; i++)
        found = has_union(v->items[i]);
    return found;
}

ir_expr_vec value_flat(struct lower *lw, struct value *v, struct loc at) {
    if (has_union(v))
        lower_error(lw, at, "a header union has no fixed width, so it is not allowed here");
    struct flat f = {.lw = lw, .at = at};
    value_leaves(v, flat_leaf, &f);
    return f.out;
}

// ---- snapshots and choices ----------------------------------------------------------------------

static struct ir_expr *snapshot_expr(struct lower *lw, struct ir_expr *e, struct loc at) {
    if (ir_is_const(e))
        return e;
    struct ir_var *t = temp_new(lw, "t", e->width, at);
    t->shown = ir_source_text(lw->a, e);
    assign_var(lw, t, e, at);
    return ir_ref(lw->a, t);
}

struct value *value_snapshot(struct lower *lw, struct value *v, struct loc at) {
    if (value_is_const(v) || v->kind == VAL_OBJECT)
        return v;
    struct value *copy = ARENA_NEW(lw->a, struct value);
    *copy = *v;
    copy->header = copy->rest = NULL;
    copy->in_union = NULL;
    copy->next = NULL;
    copy->place = false;
    if (v->e)
        copy->e = snapshot_expr(lw, v->e, at);
    if (v->valid)
        copy->valid = snapshot_expr(lw, v->valid, at);
    copy->items = ARENA_ARRAY(lw->a, struct value *, v->n + 1);
    for (size_t i = 0; i < v->n; i++)
        copy->items[i] = value_snapshot(lw, v->items[i], at);
    return copy;
}

struct value *value_choose(struct lower *lw, struct ir_expr *c, struct value *x, struct value *y) {
    if (ir_is_const(c))
        return ir_is_true(c) ? x : y;
    if (x->kind != y->kind || x->n != y->n || x == y)
        return x;
    struct value *v = ARENA_NEW(lw->a, struct value);
    *v = *x;
    v->header = v->rest = NULL;
    v->in_union = NULL;
    v->next = NULL;
    v->place = false;
    if (x->e && y->e && x->e->width == y->e->width)
        v->e = ir_choose(lw->a, c, x->e, y->e);
    if (x->valid && y->valid)
        v->valid = ir_choose(lw->a, c, x->valid, y->valid);
    v->items = ARENA_ARRAY(lw->a, struct value *, x->n + 1);
    for (size_t i = 0; i < x->n; i++)
        v->items[i] = value_choose(lw, c, x->items[i], y->items[i]);
    return v;
}

// ---- equality (sections 8.5 to 8.12, 8.17) ------------------------------------------------------

static struct ir_expr *items_equal(struct lower *lw, struct value *x, struct value *y,
                                   struct loc at) {
    struct ir_expr *all = ir_const_u64(lw->a, 1, 1);
    for (size_t i = 0; i < x->n && i < y->n; i++)
        all = ir_binary(lw->a, IR_LAND, all, value_equal(lw, x->items[i], y->items[i], at));
    return all;
}

struct ir_expr *value_equal(struct lower *lw, struct value *x, struct value *y, struct loc at) {
    struct arena *a = lw->a;
    if (x->kind == VAL_INT && y->kind == VAL_INT)
        return ir_const_u64(a, 1, big_cmp(x->num, y->num) == 0);
    if (x->kind == VAL_STRING && y->kind == VAL_STRING)
        return ir_const_u64(a, 1, strcmp(x->text, y->text) == 0);
    if (x->kind == VAL_BITS && y->kind == VAL_BITS && x->e->width == y->e->width)
        return ir_binary(a, IR_EQ, x->e, y->e);
    if (x->kind == VAL_HEADER && y->kind == VAL_HEADER) {
        // Both invalid, or both valid with equal fields.
        struct ir_expr *both = ir_binary(a, IR_LAND, x->valid, y->valid);
        struct ir_expr *none =
            ir_binary(a, IR_LAND, ir_not_bool(a, x->valid), ir_not_bool(a, y->valid));
        return ir_binary(a, IR_LOR, none, ir_binary(a, IR_LAND, both, items_equal(lw, x, y, at)));
    }
    if (x->n > 0 && x->kind == y->kind && x->n == y->n)
        return items_equal(lw, x, y, at);
    lower_unsupported(lw, at, "comparing values of these types");
    return ir_const_u64(a, 1, 0);
}

// ---- assignment ---------------------------------------------------------------------------------

void mark_assigned(struct lower *lw, struct ir_var *v, struct loc at) {
    if (v->valid)
        assign_var(lw, v->valid, ir_const_u64(lw->a, 1, 1), at);
}

// 'dst' has got the value of 'e': assigned by the program, or a copy, which is assigned when the
// original is.
static void take_validity(struct lower *lw, struct ir_var *dst, const struct ir_expr *e,
                          struct loc at) {
    if (dst->valid && lw->copying && e->op == IR_VAR && e->var->valid)
        assign_var(lw, dst->valid, ir_ref(lw->a, e->var->valid), at);
    else
        mark_assigned(lw, dst, at);
}

void assign_var(struct lower *lw, struct ir_var *dst, struct ir_expr *e, struct loc at) {
    if (dst->width != e->width) { // only after an error
        e = ir_resize(lw->a, e, dst->width, false);
    }
    if (e->op == IR_VAR && e->var == dst) // the chip's compiler drops it: nothing is assigned
        return;
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_ASSIGN, at);
    s->var = dst;
    s->e = e;
    s->copy = lw->copying;
    put(lw, s);
    take_validity(lw, dst, e, at);
}

void copy_value(struct lower *lw, struct value *dst, struct value *src, struct loc at) {
    bool outer = lw->copying;
    lw->copying = true;
    assign(lw, dst, src, at);
    lw->copying = outer;
}

void lvalue_copy(struct lower *lw, const struct lvalue *l, struct value *v, struct loc at) {
    bool outer = lw->copying;
    lw->copying = true;
    lvalue_assign(lw, l, v, at);
    lw->copying = outer;
}

static void assign_items(struct lower *lw, struct value *dst, struct value *src, struct loc at) {
    for (size_t i = 0; i < dst->n && i < src->n; i++)
        assign(lw, dst->items[i], src->items[i], at);
}

// Section 8.17: a header takes over the source's validity, and its fields when valid. Validity is
// set first, so that the fields are written to a valid header.
static void assign_header(struct lower *lw, struct value *dst, struct value *src, struct loc at) {
    if (!dst->header || dst->header == src->header)
        return;
    struct ir_block *outer = lw->block;
    struct ir_block *then_b = ir_block_new(lw->a), *else_b = ir_block_new(lw->a);
    lw->block = then_b;
    set_header(lw, dst, true, at);
    assign_items(lw, dst, src, at);
    lw->block = else_b;
    set_header(lw, dst, false, at);
    lw->block = outer;
    put_if(lw, src->valid, then_b, else_b, at);
}

// The source has at most one valid member, and so will the destination: what is done member by
// member needs no look at the others.
static void assign_union(struct lower *lw, struct value *dst, struct value *src, struct loc at) {
    for (size_t i = 0; i < dst->n && i < src->n; i++) {
        struct value member = *dst->items[i];
        member.in_union = NULL;
        assign(lw, &member, src->items[i], at);
    }
}

// Whether copying item by item would read an item already overwritten, as in s = {s.b, s.a}.
static bool overwrites_itself(struct value *dst, struct value *src) {
    if (src->place || value_is_const(src))
        return false;
    for (size_t i = 0; i < dst->n; i++)
        for (size_t j = i + 1; j < src->n; j++)
            if (values_overlap(dst->items[i], src->items[j]))
                return true;
    return false;
}

// A list or struct expression whose items lie in the destination in another order. Storage is
// either the same place or disjoint, except that a built-up list may name parts of it.
void assign(struct lower *lw, struct value *dst, struct value *src, struct loc at) {
    if (dst == src)
        return;
    if (dst->n > 1 && overwrites_itself(dst, src))
        src = value_snapshot(lw, src, at);
    switch (dst->kind) {
    case VAL_BITS:
        if (dst->e->op == IR_VAR && src->kind == VAL_BITS)
            assign_var(lw, dst->e->var, src->e, at);
        return;
    case VAL_HEADER:
        if (src->kind == VAL_HEADER)
            assign_header(lw, dst, src, at);
        return;
    case VAL_UNION:
        if (src->kind == dst->kind)
            assign_union(lw, dst, src, at);
        return;
    case VAL_TUPLE:
    case VAL_STACK:
    case VAL_VARBIT:
        if (src->kind != dst->kind)
            return;
        if (is_intrinsic_struct(dst->type) && is_intrinsic_struct(src->type) && !lw->copying) {
            copy_value(lw, dst, src, at);
            return;
        }
        assign_items(lw, dst, src, at);
        if (dst->next && src->next && lw->place == IN_PARSER_STATE)
            assign_var(lw, dst->next, ir_ref(lw->a, src->next), at);
        return;
    default:
        return;
    }
}

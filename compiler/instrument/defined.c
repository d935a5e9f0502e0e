// SPDX-License-Identifier: Apache-2.0
//
// defined: which bits of an expression are defined, and where an undefined bit of it is used. See
// instrument.h.
#include "compiler/instrument/checked_impl.h"

#include "compiler/ir/build.h"

// --------------------------------------------------------------------------------------------
// Masks of expressions: as wide as the expression, of one bit when it is wide; null: defined.

struct ir_expr *checked_ones(const struct checked *c, unsigned width) {
    const unsigned bits = checked_is_wide(width) ? 1 : width;
    const big one = big_u64(c->a, 1);
    return ir_const(c->a, bits, big_sub(c->a, big_shl(c->a, one, bits), one));
}

static struct ir_expr *zeros(const struct checked *c, unsigned width) {
    return ir_const_u64(c->a, checked_is_wide(width) ? 1 : width, 0);
}

// Deparsers select what to send by fields with validity of their own, without asking whether they
// are set, and send the fields of headers that need not be valid.
static struct ir_expr *readable(const struct checked *c, const struct ir_var *v) {
    struct ir_var *valid = v->header ? v->header->valid : v->valid;
    return valid && !c->in_deparser ? ir_ref(c->a, valid) : NULL;
}

static struct ir_expr *mask_of(const struct checked *c, const struct ir_var *v) {
    return c->mask[v->id] ? ir_ref(c->a, c->mask[v->id]) : NULL;
}

static struct ir_expr *defined_var(const struct checked *c, const struct ir_var *v) {
    struct ir_expr *mask = mask_of(c, v), *valid = readable(c, v);
    if (v->valid && c->in_deparser)
        return NULL;
    if (!valid)
        return mask;
    return ir_choose(c->a, valid, mask ? mask : checked_ones(c, v->width), zeros(c, v->width));
}

// Both are defined, bit by bit; null: always.
static struct ir_expr *both(const struct checked *c, struct ir_expr *x, struct ir_expr *y) {
    return !x ? y : !y ? x : ir_binary(c->a, IR_AND, x, y);
}

static bool is_all(const struct checked *c, const struct ir_expr *mask) {
    return ir_is_const(mask) && ir_same(mask, checked_ones(c, mask->width));
}

struct ir_expr *checked_all_defined(const struct checked *c, struct ir_expr *x) {
    struct ir_expr *d = checked_defined(c, x);
    if (!d || checked_is_wide(x->width) || d->width == 1)
        return d;
    return ir_binary(c->a, IR_EQ, d, checked_ones(c, x->width));
}

static struct ir_expr *defined_slice(const struct checked *c, const struct ir_expr *x) {
    struct ir_expr *d = checked_defined(c, x->a);
    if (!d || checked_is_wide(x->width))
        return d;
    if (checked_is_wide(x->a->width))
        return ir_choose(c->a, d, checked_ones(c, x->width), zeros(c, x->width));
    return ir_slice(c->a, d, x->lo, x->width);
}

static struct ir_expr *defined_concat(const struct checked *c, const struct ir_expr *x) {
    if (checked_is_wide(x->width))
        return both(c, checked_all_defined(c, x->a), checked_all_defined(c, x->b));
    struct ir_expr *a = checked_defined(c, x->a), *b = checked_defined(c, x->b);
    if (!a && !b)
        return NULL;
    return ir_binary(c->a, IR_CONCAT, a ? a : checked_ones(c, x->a->width),
                     b ? b : checked_ones(c, x->b->width));
}

// One side is a constant: a bit that it decides is defined.
static struct ir_expr *defined_by_const(const struct checked *c, const struct ir_expr *x) {
    struct ir_expr *k = ir_is_const(x->a) ? x->a : x->b;
    struct ir_expr *d = checked_defined(c, k == x->a ? x->b : x->a);
    if (!d || checked_is_wide(x->width))
        return d;
    struct ir_expr *decides = x->op == IR_OR ? k : ir_unary(c->a, IR_NOT, k);
    return ir_binary(c->a, IR_OR, d, decides);
}

static struct ir_expr *defined_shift(const struct checked *c, const struct ir_expr *x) {
    struct ir_expr *d = checked_defined(c, x->a);
    const unsigned w = x->width;
    if (!d || !ir_is_const(x->b) || !big_fits_u64(x->b->value) || big_to_u64(x->b->value) >= w)
        return NULL;
    const unsigned by = (unsigned)big_to_u64(x->b->value);
    if (checked_is_wide(w) || by == 0)
        return d;
    if (x->op == IR_SHL) // what comes in is zero
        return ir_binary(c->a, IR_CONCAT, ir_slice(c->a, d, 0, w - by), checked_ones(c, by));
    return ir_binary(c->a, IR_CONCAT, checked_ones(c, by), ir_slice(c->a, d, by, w - by));
}

static struct ir_expr *defined_extension(const struct checked *c, const struct ir_expr *x) {
    if (checked_is_wide(x->width))
        return checked_all_defined(c, x->a);
    struct ir_expr *d = checked_defined(c, x->a);
    if (!d)
        return NULL;
    if (x->op == IR_SEXT)
        return ir_resize(c->a, d, x->width, true);
    return ir_binary(c->a, IR_CONCAT, checked_ones(c, x->width - x->a->width), d);
}

static struct ir_expr *defined_choice(const struct checked *c, const struct ir_expr *x) {
    struct ir_expr *y = checked_defined(c, x->b), *z = checked_defined(c, x->c);
    if (!y && !z)
        return NULL;
    return ir_choose(c->a, x->a, y ? y : checked_ones(c, x->width),
                     z ? z : checked_ones(c, x->width));
}

static struct ir_expr *defined_of(const struct checked *c, struct ir_expr *x) {
    switch (x->op) {
    case IR_VAR:
        return defined_var(c, x->var);
    case IR_NOT:
        return checked_defined(c, x->a);
    case IR_SLICE:
        return defined_slice(c, x);
    case IR_ZEXT:
    case IR_SEXT:
        return defined_extension(c, x);
    case IR_CONCAT:
        return defined_concat(c, x);
    case IR_AND:
    case IR_OR:
        if (ir_is_const(x->a) || ir_is_const(x->b))
            return defined_by_const(c, x);
        return both(c, checked_defined(c, x->a), checked_defined(c, x->b));
    case IR_XOR:
        return both(c, checked_defined(c, x->a), checked_defined(c, x->b));
    case IR_SHL:
    case IR_LSHR:
        return defined_shift(c, x);
    case IR_COND:
        return defined_choice(c, x);
    default: // the result of a use, or a value from outside the program
        return NULL;
    }
}

struct ir_expr *checked_defined(const struct checked *c, struct ir_expr *x) {
    struct ir_expr *d = defined_of(c, x);
    return d && is_all(c, d) ? NULL : d;
}

// --------------------------------------------------------------------------------------------
// Uses.

static struct ir_expr *either(const struct checked *c, struct ir_expr *x, struct ir_expr *y) {
    return !x ? y : !y ? x : ir_binary(c->a, IR_LOR, x, y);
}

static struct ir_expr *used_if(const struct checked *c, struct ir_expr *cond, struct ir_expr *use) {
    return use ? ir_binary(c->a, IR_LAND, cond, use) : NULL;
}

// Null: never.
static struct ir_expr *some_undefined(const struct checked *c, struct ir_expr *x) {
    struct ir_expr *d = checked_all_defined(c, x);
    return d ? ir_not_bool(c->a, d) : NULL;
}

struct ir_expr *checked_used_or_undefined(const struct checked *c, struct ir_expr *x) {
    return x ? either(c, checked_used(c, x), some_undefined(c, x)) : NULL;
}

static struct ir_expr *used_in_choice(const struct checked *c, struct ir_expr *x) {
    struct ir_expr *chosen = either(c, used_if(c, x->a, checked_used(c, x->b)),
                                    used_if(c, ir_not_bool(c->a, x->a), checked_used(c, x->c)));
    return either(c, checked_used_or_undefined(c, x->a), chosen);
}

static struct ir_expr *used_in_both(const struct checked *c, struct ir_expr *x) {
    return either(c, checked_used_or_undefined(c, x->a), checked_used_or_undefined(c, x->b));
}

struct ir_expr *checked_used(const struct checked *c, struct ir_expr *x) {
    switch (x->op) {
    case IR_CONST:
    case IR_VAR:
    case IR_LOOKAHEAD:
        return NULL;
    case IR_NOT:
    case IR_SLICE:
    case IR_ZEXT:
    case IR_SEXT:
        return checked_used(c, x->a);
    case IR_CONCAT:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
        return either(c, checked_used(c, x->a), checked_used(c, x->b));
    case IR_SHL:
    case IR_LSHR:
        return ir_is_const(x->b) ? checked_used(c, x->a) : used_in_both(c, x);
    case IR_COND:
        return used_in_choice(c, x);
    case IR_LAND:
    case IR_LOR: // the second operand counts when it is asked for
        return either(c, checked_used_or_undefined(c, x->a),
                      used_if(c, x->op == IR_LOR ? ir_not_bool(c->a, x->a) : x->a,
                              checked_used_or_undefined(c, x->b)));
    default:
        return used_in_both(c, x);
    }
}

// --------------------------------------------------------------------------------------------
// Whose fault it was.

struct blamed {
    struct ir_stmt *s;
    struct ir_report *report;
};

static void blame(const struct checked *c, const struct blamed *to, struct ir_expr *guard,
                  struct ir_expr *cond, enum ir_violation violation, const struct ir_var *v) {
    const struct ir_blame b = {violation, instrument_shown_name(c->a, v->name)};
    VEC_PUSH(c->a, &to->s->args, guard ? ir_binary(c->a, IR_LAND, guard, cond) : cond);
    VEC_PUSH(c->a, &to->report->blames, b);
}

static void blame_var(const struct checked *c, const struct blamed *to, struct ir_expr *guard,
                      struct ir_expr *x) {
    struct ir_expr *undefined = some_undefined(c, x), *valid = readable(c, x->var);
    if (!undefined)
        return;
    if (valid)
        blame(c, to, guard, ir_not_bool(c->a, valid),
              x->var->header ? IR_VIOLATION_INVALID_HEADER : IR_VIOLATION_NOT_SET, x->var);
    if (!valid || mask_of(c, x->var))
        blame(c, to, guard, undefined, IR_VIOLATION_UNDEFINED, x->var);
}

// The variables of 'x' in order, as far as they are evaluated when 'guard' holds (null: always).
static void blame_all(const struct checked *c, const struct blamed *to, struct ir_expr *guard,
                      struct ir_expr *x) {
    if (!x)
        return;
    if (x->op == IR_VAR) {
        blame_var(c, to, guard, x);
        return;
    }
    blame_all(c, to, guard, x->a);
    if (x->op != IR_COND) {
        blame_all(c, to, guard, x->b);
        return;
    }
    struct ir_expr *no = ir_not_bool(c->a, x->a);
    blame_all(c, to, guard ? ir_binary(c->a, IR_LAND, guard, x->a) : x->a, x->b);
    blame_all(c, to, guard ? ir_binary(c->a, IR_LAND, guard, no) : no, x->c);
}

void checked_report_use(struct checked *c, struct ir_expr *cond, struct ir_expr *x, struct loc at) {
    static const struct ir_blame unknown = {IR_VIOLATION_UNDEFINED, "a value"};
    struct blamed to;
    if (!cond)
        return;
    to.report = checked_report(c, cond, at, &to.s);
    blame_all(c, &to, NULL, x);
    VEC_PUSH(c->a, &to.report->blames, unknown);
}

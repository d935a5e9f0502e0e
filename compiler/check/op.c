// SPDX-License-Identifier: Apache-2.0
//
// op: operators and casts (sections 8.5 to 8.12).
#include "compiler/check/check_impl.h"

#include <string.h>

static bool check_op_is_bad(const struct expr *e) {
    return !e->type || e->type->kind == TY_ERROR_TYPE;
}

static bool check_op_is_number(const struct type *t) {
    return t->kind == TY_BITS || t->kind == TY_INT;
}

// A value, not the name of a type, a function or a block.
static bool is_operand(const struct type *t) {
    return is_value_type(t) || t->kind == TY_INT || t->kind == TY_STRING ||
           t->kind == TY_MATCH_KIND || t->kind == TY_RECORD || t->kind == TY_LIST ||
           t->kind == TY_DONTCARE;
}

static struct type *bad_operand(struct checker *c, struct expr *e, const struct expr *operand) {
    diag_error(c->d, operand->at, "'%s' cannot be applied to a value of type '%s'", op_text(e->op),
               tn(c, operand->type));
    return poison(c, e);
}

// ------------------------------------------------------------------------------------------------
// One type for two operands

// Whether a literal form takes its type from the other side: {1, 2} == s.
static bool takes_type(const struct expr *e) {
    return e->kind == EX_LIST || e->kind == EX_STRUCT || e->kind == EX_INVALID ||
           e->kind == EX_DOTS;
}

static bool both_open(struct expr *a, struct expr *b) {
    return takes_type(a) && takes_type(b);
}

bool unify_operands(struct checker *c, struct expr **a, struct expr **b) {
    if (check_op_is_bad(*a) || check_op_is_bad(*b))
        return false;
    struct role role = ROLE("this operand", NULL);
    struct expr *x = *a, *y = *b;
    if (type_equal(x->type, y->type) && !takes_type(x) && !takes_type(y))
        return is_operand(x->type) && is_operand(y->type);
    if (x->kind == EX_INVALID && y->kind == EX_INVALID)
        return false;
    if (!takes_type(y) && convertible(c, x, y->type)) {
        *a = coerce(c, x, y->type, role);
        return true;
    }
    if (!takes_type(x) && convertible(c, y, x->type)) {
        *b = coerce(c, y, x->type, role);
        return true;
    }
    if (both_open(x, y))
        return type_equal(x->type, y->type);
    // Two different enums, or an enum and an int, meet at their representation.
    struct expr *xb = to_bits(c, x), *yb = to_bits(c, y);
    if ((xb != x || yb != y) && check_op_is_number(xb->type) && check_op_is_number(yb->type)) {
        *a = xb;
        *b = yb;
        return unify_operands(c, a, b);
    }
    return false;
}

// ------------------------------------------------------------------------------------------------
// Unary

static bool unary_allowed(enum op op, const struct type *t) {
    if (op == OP_NOT)
        return t->kind == TY_BOOL;
    if (op == OP_CPL)
        return t->kind == TY_BITS;
    return check_op_is_number(t);
}

struct type *infer_unary(struct checker *c, struct expr *e) {
    infer(c, e->a);
    if (check_op_is_bad(e->a))
        return poison(c, e);
    if (e->op != OP_NOT)
        e->a = to_bits(c, e->a);
    if (!unary_allowed(e->op, e->a->type))
        return bad_operand(c, e, e->a);
    e->type = e->a->type;
    fold_unary(c, e);
    return e->type;
}

// ------------------------------------------------------------------------------------------------
// Binary

static struct type *mismatched(struct checker *c, struct expr *e) {
    diag_error(c->d, e->at, "'%s' cannot combine '%s' and '%s'", op_text(e->op), tn(c, e->a->type),
               tn(c, e->b->type));
    const struct type *x = e->a->type, *y = e->b->type;
    if (x->kind == TY_BITS && y->kind == TY_BITS && !x->width_expr && !y->width_expr)
        diag_note(c->d, e->at, "both sides need one width and sign; cast one of them");
    return poison(c, e);
}

// Section 8.9.2: the amount is unsigned, or a constant that is not negative.
static struct type *shift_type(struct checker *c, struct expr *e) {
    e->a = to_bits(c, e->a);
    e->b = to_bits(c, e->b);
    const struct type *x = e->a->type, *y = e->b->type;
    if (!check_op_is_number(x))
        return bad_operand(c, e, e->a);
    if (!check_op_is_number(y))
        return bad_operand(c, e, e->b);
    if (e->b->cval && big_sign(e->b->cval) < 0) {
        diag_error(c->d, e->b->at, "shift by a negative amount");
        return poison(c, e);
    }
    if (y->kind == TY_BITS && y->is_signed && !e->b->cval) {
        diag_error(c->d, e->b->at, "a shift amount must be unsigned, not '%s'", tn(c, y));
        return poison(c, e);
    }
    if (x->kind == TY_INT && !is_compile_time(e->b)) {
        diag_error(c->d, e->at,
                   "an int without width can only be shifted by a constant; give it a "
                   "width");
        return poison(c, e);
    }
    if (x->kind == TY_BITS && !x->width_expr && x->width > 0 && e->b->cval &&
        big_cmp(e->b->cval, big_u64(c->a, x->width)) >= 0)
        diag_warning(c->d, e->at, "all %u bits of '%s' are shifted out", x->width,
                     expr_text(c->a, e->a));
    return e->a->type;
}

static struct type *concat_type(struct checker *c, struct expr *e) {
    e->a = to_bits(c, e->a);
    e->b = to_bits(c, e->b);
    const struct type *x = e->a->type, *y = e->b->type;
    if (x->kind == TY_STRING && y->kind == TY_STRING)
        return c->t_string;
    if (x->kind == TY_INT || y->kind == TY_INT) {
        const struct expr *open = x->kind == TY_INT ? e->a : e->b;
        diag_error(c->d, open->at, "'++' needs to know the width of this number; write it as 8w%s",
                   open->cval ? big_str(c->a, open->cval, 10) : "...");
        return poison(c, e);
    }
    if (x->kind != TY_BITS)
        return bad_operand(c, e, e->a);
    if (y->kind != TY_BITS)
        return bad_operand(c, e, e->b);
    if ((uint64_t)x->width + y->width > BIG_MAX_BITS) {
        diag_error(c->d, e->at, "the result would have more than %u bits", BIG_MAX_BITS);
        return poison(c, e);
    }
    return bits_type(c, x->width + y->width, x->is_signed);
}

static struct type *logical_type(struct checker *c, struct expr *e) {
    if (e->a->type->kind != TY_BOOL)
        return bad_operand(c, e, e->a);
    if (e->b->type->kind != TY_BOOL)
        return bad_operand(c, e, e->b);
    return c->t_bool;
}

static bool comparable(const struct type *t) {
    return is_operand(t) && t->kind != TY_VAR && t->kind != TY_LIST && t->kind != TY_DONTCARE;
}

static bool is_record(const struct expr *e) {
    return e->kind == EX_STRUCT && e->type->kind == TY_RECORD;
}

static struct type *equality_type(struct checker *c, struct expr *e) {
    if (is_record(e->a) && is_record(e->b)) {
        diag_error(c->d, e->at, "the type of these values is not known; write (T){...}");
        return poison(c, e);
    }
    if (!unify_operands(c, &e->a, &e->b))
        return mismatched(c, e);
    if (!comparable(e->a->type))
        return bad_operand(c, e, e->a);
    return c->t_bool;
}

static struct type *order_type(struct checker *c, struct expr *e) {
    e->a = to_bits(c, e->a);
    e->b = to_bits(c, e->b);
    if (!check_op_is_number(e->a->type))
        return bad_operand(c, e, e->a);
    if (!check_op_is_number(e->b->type))
        return bad_operand(c, e, e->b);
    return unify_operands(c, &e->a, &e->b) ? c->t_bool : mismatched(c, e);
}

static bool arithmetic_allowed(enum op op, const struct type *t) {
    switch (op) {
    case OP_ADD_SAT:
    case OP_SUB_SAT:
        return t->kind == TY_BITS;
    case OP_DIV:
    case OP_MOD:
        return t->kind == TY_INT || !t->is_signed;
    default:
        return true;
    }
}

static bool is_negative(const struct expr *e) {
    return e->type->kind == TY_INT && e->cval && big_sign(e->cval) < 0;
}

static struct type *arithmetic_type(struct checker *c, struct expr *e) {
    bool division = e->op == OP_DIV || e->op == OP_MOD;
    e->a = to_bits(c, e->a);
    e->b = to_bits(c, e->b);
    if (!check_op_is_number(e->a->type))
        return bad_operand(c, e, e->a);
    if (!check_op_is_number(e->b->type))
        return bad_operand(c, e, e->b);
    if (division && (is_negative(e->a) || is_negative(e->b))) {
        diag_error(c->d, e->at, "'%s' is not defined for negative values", op_text(e->op));
        return poison(c, e);
    }
    if (!unify_operands(c, &e->a, &e->b))
        return mismatched(c, e);
    if (!arithmetic_allowed(e->op, e->a->type))
        return bad_operand(c, e, e->a);
    return e->a->type;
}

struct type *binary_type(struct checker *c, struct expr *e) {
    if (check_op_is_bad(e->a) || check_op_is_bad(e->b))
        return poison(c, e);
    switch (e->op) {
    case OP_SHL:
    case OP_SHR:
        return shift_type(c, e);
    case OP_CONCAT:
        return concat_type(c, e);
    case OP_AND:
    case OP_OR:
        return logical_type(c, e);
    case OP_EQ:
    case OP_NE:
        return equality_type(c, e);
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
        return order_type(c, e);
    default:
        return arithmetic_type(c, e);
    }
}

struct type *infer_binary(struct checker *c, struct expr *e) {
    infer(c, e->a);
    infer(c, e->b);
    e->type = binary_type(c, e);
    fold_binary(c, e);
    return e->type;
}

// ------------------------------------------------------------------------------------------------
// Conditional

struct type *infer_cond(struct checker *c, struct expr *e) {
    e->a = check_as(c, e->a, c->t_bool, ROLE("the condition", NULL));
    infer(c, e->b);
    infer(c, e->c);
    if (check_op_is_bad(e->b) || check_op_is_bad(e->c))
        return poison(c, e);
    if (!both_open(e->b, e->c) && !unify_operands(c, &e->b, &e->c)) {
        diag_error(c->d, e->at, "the two values of '?:' have different types, '%s' and '%s'",
                   tn(c, e->b->type), tn(c, e->c->type));
        return poison(c, e);
    }
    if (e->a->cval)
        e->cval = big_sign(e->a->cval) ? e->b->cval : e->c->cval;
    return e->b->type;
}

// ------------------------------------------------------------------------------------------------
// Casts (section 8.12.1)

static bool bits_cast(const struct type *from, const struct type *to) {
    if (to->kind == TY_BOOL)
        return from->width == 1 && !from->is_signed;
    if (to->kind == TY_INT)
        return true;
    if (to->kind != TY_BITS)
        return false;
    return from->is_signed == to->is_signed || from->width == to->width || from->width_expr ||
           to->width_expr;
}

static bool int_cast(const struct expr *e, const struct type *to) {
    if (to->kind == TY_BOOL)
        return e->cval && big_bits(e->cval) <= 1 && big_sign(e->cval) >= 0;
    return to->kind == TY_BITS || to->kind == TY_INT;
}

// Between base types and what is named after them.
static bool cast_allowed(const struct expr *e, const struct type *from, const struct type *to) {
    if (type_equal(from, to))
        return is_value_type(to) || to->kind == TY_INT || to->kind == TY_STRING ||
               to->kind == TY_LIST;
    if (to->kind == TY_NEWTYPE) // only from what it is made of
        return from->kind == TY_INT ? cast_allowed(e, from, to->elem)
                                    : type_equal(type_underlying(from), type_underlying(to));
    if (from->elem && (from->kind == TY_NEWTYPE || from->kind == TY_ENUM))
        return cast_allowed(e, from->elem, to);
    if (to->elem && to->kind == TY_ENUM)
        return cast_allowed(e, from, to->elem);
    if (from->kind == TY_BITS)
        return bits_cast(from, to);
    if (from->kind == TY_INT)
        return int_cast(e, to);
    if (from->kind == TY_BOOL)
        return to->kind == TY_BITS && to->width == 1 && !to->is_signed;
    return false;
}

static bool is_literal_form(const struct expr *e) {
    return takes_type(e) && (e->type->kind == TY_TUPLE || e->type->kind == TY_RECORD ||
                             e->type->kind == TY_DONTCARE);
}

static struct type *cast_literal(struct checker *c, struct expr *e, struct type *to) {
    unify(c, to, e->a->type);
    to = settle(c, to);
    if (e->a->kind == EX_DOTS) {
        diag_error(c->d, e->a->at, "'...' cannot be cast");
        return poison(c, e);
    }
    e->a = coerce(c, e->a, to, ROLE("the value", NULL));
    return e->a->type->kind == TY_ERROR_TYPE ? poison(c, e) : to;
}

struct type *infer_cast(struct checker *c, struct expr *e) {
    struct type *to = resolve_open_type(c, e->tref);
    infer(c, e->a);
    if (to->kind == TY_ERROR_TYPE || check_op_is_bad(e->a))
        return poison(c, e);
    if (is_literal_form(e->a))
        to = cast_literal(c, e, to);
    if (to->kind == TY_ERROR_TYPE || is_literal_form(e->a) || takes_type(e->a))
        return e->tref->resolved = to;
    if (to->kind == TY_VAR || !cast_allowed(e->a, e->a->type, to)) {
        diag_error(c->d, e->at, "a value of type '%s' cannot be cast to '%s'", tn(c, e->a->type),
                   tn(c, to));
        return poison(c, e);
    }
    if (e->a->cval)
        e->cval = fold_to_type(c, e->a->cval, to);
    return to;
}

// SPDX-License-Identifier: Apache-2.0
//
// op: operators and casts. P4's operators are typed; the IR's carry signedness themselves.
#include "compiler/lower/lower_impl.h"

// ---- casts (section 8.11) -----------------------------------------------------------------------

static struct value *convert_int(struct lower *lw, struct value *v, struct type *t, struct loc at) {
    const struct type *u = plain(t);
    if (u->kind == TY_INT || !is_scalar_type(t))
        return v;
    return value_bits(lw, t, ir_const(lw->a, scalar_width(lw, t, at), v->num));
}

static struct value *convert_bits(struct lower *lw, struct value *v, struct type *t,
                                  struct loc at) {
    if (plain(t)->kind == TY_INT) {
        if (!ir_is_const(v->e))
            return v;
        return value_int(lw, t,
                         is_signed_type(v->type) ? big_wrap_s(lw->a, v->e->value, v->e->width)
                                                 : v->e->value);
    }
    if (!is_scalar_type(t))
        return v;
    unsigned w = scalar_width(lw, t, at);
    if (w == v->e->width && v->type == t)
        return v;
    return value_bits(lw, t, ir_resize(lw->a, v->e, w, is_signed_type(v->type)));
}

// A list or struct as the struct, header or stack it is used as (section 8.13, 8.26).
static struct value *convert_items(struct lower *lw, struct value *v, struct type *t,
                                   struct loc at) {
    const struct type *u = plain(t);
    bool wanted =
        u->kind == TY_STRUCT || u->kind == TY_HEADER || u->kind == TY_TUPLE || u->kind == TY_STACK;
    if (!wanted || (v->kind == VAL_HEADER) == (u->kind == TY_HEADER))
        if (!wanted || type_equal(v->type, t) || v->kind == VAL_HEADER)
            return v;
    struct value *out = value_zero(lw, t, at);
    if (out->kind == VAL_HEADER)
        out->valid = v->valid ? v->valid : ir_const_u64(lw->a, 1, 1);
    for (size_t i = 0; i < out->n && i < v->n; i++)
        out->items[i] = convert(lw, v->items[i], out->items[i]->type, at);
    return out;
}

struct value *convert(struct lower *lw, struct value *v, struct type *t, struct loc at) {
    if (!t || plain(t)->kind == TY_ERROR_TYPE)
        return v;
    switch (v->kind) {
    case VAL_INT:
        return convert_int(lw, v, t, at);
    case VAL_BITS:
        return convert_bits(lw, v, t, at);
    case VAL_TUPLE:
    case VAL_HEADER:
    case VAL_STACK:
        return convert_items(lw, v, t, at);
    default:
        return v;
    }
}

// ---- unary --------------------------------------------------------------------------------------

static struct value *unary_int(struct lower *lw, struct expr *e, struct value *x) {
    big v = e->op == OP_NEG   ? big_neg(lw->a, x->num)
            : e->op == OP_CPL ? big_not(lw->a, x->num)
                              : x->num;
    return value_int(lw, x->type, v);
}

struct value *eval_unary(struct lower *lw, struct expr *e) {
    struct type *t = env_type(lw, e->type);
    struct value *x = eval(lw, e->a);
    if (x->kind == VAL_INT)
        return convert(lw, unary_int(lw, e, x), t, e->at);
    if (x->kind != VAL_BITS) {
        lower_unsupported(lw, e->at, "'%s' of this", op_text(e->op));
        return value_zero(lw, t, e->at);
    }
    switch (e->op) {
    case OP_NEG:
        return value_bits(lw, t, ir_unary(lw->a, IR_NEG, x->e));
    case OP_NOT:
        return value_bits(lw, t, ir_not_bool(lw->a, x->e));
    case OP_CPL:
        return value_bits(lw, t, ir_unary(lw->a, IR_NOT, x->e));
    default:
        return x;
    }
}

// ---- binary on compile-time integers ------------------------------------------------------------

static big shift_int(struct lower *lw, enum op op, big x, big n) {
    if (big_sign(n) < 0 || !big_fits_u64(n))
        return NULL;
    return op == OP_SHL ? big_shl(lw->a, x, big_to_u64(n)) : big_shr(lw->a, x, big_to_u64(n));
}

static big binary_int(struct lower *lw, enum op op, big x, big y) {
    switch (op) {
    case OP_ADD:
        return big_add(lw->a, x, y);
    case OP_SUB:
        return big_sub(lw->a, x, y);
    case OP_MUL:
        return big_mul(lw->a, x, y);
    case OP_DIV:
        return big_div(lw->a, x, y);
    case OP_MOD:
        return big_mod(lw->a, x, y);
    case OP_SHL:
    case OP_SHR:
        return shift_int(lw, op, x, y);
    case OP_BAND:
        return big_and(lw->a, x, y);
    case OP_BOR:
        return big_or(lw->a, x, y);
    case OP_BXOR:
        return big_xor(lw->a, x, y);
    default:
        return NULL;
    }
}

static struct value *compare_int(struct lower *lw, enum op op, int c) {
    bool r = op == OP_LT   ? c < 0
             : op == OP_LE ? c <= 0
             : op == OP_GT ? c > 0
             : op == OP_GE ? c >= 0
             : op == OP_EQ ? c == 0
                           : c != 0;
    return value_bool(lw, ir_const_u64(lw->a, 1, r));
}

static bool is_compare(enum op op) {
    return op == OP_LT || op == OP_LE || op == OP_GT || op == OP_GE || op == OP_EQ || op == OP_NE;
}

static struct value *apply_int(struct lower *lw, enum op op, struct value *x, struct value *y,
                               struct type *t, struct loc at) {
    if (is_compare(op))
        return compare_int(lw, op, big_cmp(x->num, y->num));
    big v = binary_int(lw, op, x->num, y->num);
    if (!v) {
        lower_error(lw, at, "the value of this '%s' cannot be computed", op_text(op));
        v = big_u64(lw->a, 0);
    }
    return convert(lw, value_int(lw, x->type, v), t, at);
}

// ---- binary on bits -----------------------------------------------------------------------------

static enum ir_op arithmetic_op(enum op op, bool is_signed) {
    switch (op) {
    case OP_ADD:
        return IR_ADD;
    case OP_SUB:
        return IR_SUB;
    case OP_MUL:
        return IR_MUL;
    case OP_DIV:
        return IR_UDIV;
    case OP_MOD:
        return IR_UMOD;
    case OP_ADD_SAT:
        return is_signed ? IR_SADD_SAT : IR_UADD_SAT;
    case OP_SUB_SAT:
        return is_signed ? IR_SSUB_SAT : IR_USUB_SAT;
    case OP_BAND:
        return IR_AND;
    case OP_BOR:
        return IR_OR;
    default:
        return IR_XOR;
    }
}

static struct ir_expr *compare_bits(struct lower *lw, enum op op, struct ir_expr *x,
                                    struct ir_expr *y, bool is_signed) {
    enum ir_op less = is_signed ? IR_SLT : IR_ULT, less_equal = is_signed ? IR_SLE : IR_ULE;
    switch (op) {
    case OP_LT:
        return ir_binary(lw->a, less, x, y);
    case OP_LE:
        return ir_binary(lw->a, less_equal, x, y);
    case OP_GT:
        return ir_binary(lw->a, less, y, x);
    default:
        return ir_binary(lw->a, less_equal, y, x);
    }
}

static bool lower_op_is_zero(const struct ir_expr *e) {
    return ir_is_const(e) && big_sign(e->value) == 0;
}

struct ir_expr *shift_distance(struct lower *lw, struct ir_expr *n) {
    if (n->width <= 32)
        return n;
    return ir_const_u64(lw->a, 32, big_bits(n->value) > 31 ? UINT32_MAX : big_to_u64(n->value));
}

static struct value *apply_shift(struct lower *lw, enum op op, struct value *x, struct value *y,
                                 struct type *t, struct loc at) {
    struct ir_expr *n;
    if (y->kind == VAL_INT && big_sign(y->num) < 0) {
        lower_error(lw, at, "a shift by %s bits", big_str(lw->a, y->num, 10));
        return x;
    }
    if (y->kind == VAL_INT) // amounts beyond any width shift everything out
        n = ir_const_u64(lw->a, 32, big_bits(y->num) > 31 ? UINT32_MAX : big_to_u64(y->num));
    else
        n = y->e;
    if (lower_op_is_zero(x->e)) // whatever the distance; what its expression does has been done
        return value_bits(lw, t, x->e);
    enum ir_op ir = op == OP_SHL ? IR_SHL : is_signed_type(x->type) ? IR_ASHR : IR_LSHR;
    if (ir_is_const(n))
        return value_bits(lw, t, ir_binary(lw->a, ir, x->e, shift_distance(lw, n)));
    struct ir_expr *e = ir_binary(lw->a, ir, x->e, n);
    note_late(lw, e, at);
    return value_bits(lw, t, e);
}

static struct value *apply_concat(struct lower *lw, struct value *x, struct value *y,
                                  struct type *t, struct loc at) {
    if (x->e->width + y->e->width > LOWER_MAX_WIDTH) {
        lower_unsupported(lw, at, "values of more than %u bits", LOWER_MAX_WIDTH);
        return x;
    }
    return value_bits(lw, t, ir_binary(lw->a, IR_CONCAT, x->e, y->e));
}

// The checker has made the operands agree; a compile-time integer takes the other one's type.
static bool lower_op_agree(struct lower *lw, struct value **x, struct value **y, struct loc at) {
    if ((*x)->kind == VAL_INT && (*y)->kind == VAL_BITS)
        *x = convert(lw, *x, (*y)->type, at);
    if ((*y)->kind == VAL_INT && (*x)->kind == VAL_BITS)
        *y = convert(lw, *y, (*x)->type, at);
    return (*x)->kind == VAL_BITS && (*y)->kind == VAL_BITS && (*x)->e->width == (*y)->e->width;
}

static struct value *lower_op_mismatch(struct lower *lw, enum op op, struct type *t,
                                       struct loc at) {
    lower_unsupported(lw, at, "'%s' of these operands", op_text(op));
    return value_zero(lw, t, at);
}

// The exponent when 'e' is a constant power of two.
static bool lower_op_power_of_two(struct lower *lw, const struct ir_expr *e, unsigned *exponent) {
    if (!ir_is_const(e) || big_sign(e->value) == 0)
        return false;
    *exponent = big_bits(e->value) - 1;
    return big_cmp(e->value, big_shl(lw->a, big_u64(lw->a, 1), *exponent)) == 0;
}

// An ALU adds; a product or quotient by a power of two is a shift (tna-facts 5.1). Null: there is
// nothing for it.
struct ir_expr *product_of_known(struct lower *lw, enum ir_op op, struct ir_expr *x,
                                 struct ir_expr *y) {
    struct arena *a = lw->a;
    struct ir_expr *whole = x, *by = y;
    unsigned w = whole->width, n;
    if (ir_is_const(whole) && (op == IR_MUL || ir_is_const(by))) {
        whole = y;
        by = x;
    }
    if (op == IR_MUL ? lower_op_is_zero(by) : lower_op_is_zero(whole))
        return ir_const_u64(a, w, 0);
    if (ir_is_const(whole) && ir_is_const(by))
        return ir_binary(a, op, x, y);
    if (!lower_op_power_of_two(lw, by, &n))
        return NULL;
    if (op == IR_UMOD)
        return n == 0 ? ir_const_u64(a, w, 0) : ir_resize(a, ir_slice(a, whole, 0, n), w, false);
    return ir_binary(a, op == IR_MUL ? IR_SHL : IR_LSHR, whole, ir_const_u64(a, 32, n));
}

static struct value *apply_product(struct lower *lw, enum ir_op op, struct value *x,
                                   struct value *y, struct type *t, struct loc at) {
    struct ir_expr *e = product_of_known(lw, op, x->e, y->e);
    if (!e) {
        e = ir_binary(lw->a, op, x->e, y->e);
        note_late(lw, e, at);
    }
    return value_bits(lw, t, e);
}

struct value *apply_binary(struct lower *lw, enum op op, struct value *x, struct value *y,
                           struct type *t, struct loc at) {
    bool shift = op == OP_SHL || op == OP_SHR;
    if (x->kind == VAL_INT && y->kind == VAL_INT)
        return apply_int(lw, op, x, y, t, at);
    if (shift && x->kind == VAL_INT)
        x = convert(lw, x, t, at);
    if (shift)
        return x->kind == VAL_BITS && (y->kind == VAL_INT || y->kind == VAL_BITS)
                   ? apply_shift(lw, op, x, y, t, at)
                   : lower_op_mismatch(lw, op, t, at);
    if (op == OP_CONCAT)
        return x->kind == VAL_BITS && y->kind == VAL_BITS ? apply_concat(lw, x, y, t, at)
                                                          : lower_op_mismatch(lw, op, t, at);
    bool same = lower_op_agree(lw, &x, &y, at);
    if (op == OP_EQ || op == OP_NE) {
        struct ir_expr *equal = value_equal(lw, x, y, at);
        return value_bits(lw, t, op == OP_EQ ? equal : ir_not_bool(lw->a, equal));
    }
    if (!same)
        return lower_op_mismatch(lw, op, t, at);
    bool is_signed = is_signed_type(x->type);
    if (is_compare(op))
        return value_bits(lw, t, compare_bits(lw, op, x->e, y->e, is_signed));
    if (is_signed && (op == OP_DIV || op == OP_MOD))
        return lower_op_mismatch(lw, op, t, at);
    if (op == OP_MUL || op == OP_DIV || op == OP_MOD)
        return apply_product(lw, arithmetic_op(op, false), x, y, t, at);
    return value_bits(lw, t, ir_binary(lw->a, arithmetic_op(op, is_signed), x->e, y->e));
}

// ---- && and || (section 8.5.1): the right side only if it is needed -----------------------------

static struct value *eval_logical(struct lower *lw, struct expr *e) {
    bool is_and = e->op == OP_AND;
    struct ir_expr *x = eval_bool(lw, e->a);
    if (is_and ? ir_is_false(x) : ir_is_true(x))
        return value_bool(lw, x);
    struct ir_block *outer = lw->block, *right = ir_block_new(lw->a);
    if (scan_effects(e->b))
        x = value_snapshot(lw, value_bool(lw, x), e->at)->e;
    lw->block = right;
    struct ir_expr *y = eval_bool(lw, e->b);
    lw->block = outer;
    if (right->stmts.n == 0)
        return value_bool(lw, ir_binary(lw->a, is_and ? IR_LAND : IR_LOR, x, y));
    struct ir_var *t = temp_new(lw, "b", 1, e->at);
    assign_var(lw, t, x, e->at);
    lw->block = right;
    assign_var(lw, t, y, e->at);
    lw->block = outer;
    t->shown = expr_text(lw->a, e);
    const char *left = expr_text(lw->a, e->a);
    put_source_if(lw, is_and ? x : ir_not_bool(lw->a, x), right, NULL, e->at,
                  is_and ? left : arena_printf(lw->a, "!(%s)", left));
    return value_bool(lw, ir_ref(lw->a, t));
}

struct value *eval_binary(struct lower *lw, struct expr *e) {
    if (e->op == OP_AND || e->op == OP_OR)
        return eval_logical(lw, e);
    struct value *x = eval(lw, e->a);
    if (scan_effects(e->b))
        x = value_snapshot(lw, x, e->a->at);
    struct value *y = eval(lw, e->b);
    return apply_binary(lw, e->op, x, y, env_type(lw, e->type), e->at);
}

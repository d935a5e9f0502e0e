// SPDX-License-Identifier: Apache-2.0
//
// fold: arithmetic on compile-time values (sections 8.5 to 8.11, 18.1). bit<W> and int<W> wrap to
// their width, int never does. A value is stored as the number it denotes: an int<8> of all ones
// is -1; a bool is 0 or 1.
#include "compiler/check/check_impl.h"

#include <string.h>

bool fold_fits(const struct checker *c, big v, const struct type *t) {
    t = type_underlying(t);
    if (!t || t->kind != TY_BITS || t->width_expr)
        return true;
    big wrapped = t->is_signed ? big_wrap_s(c->a, v, t->width) : big_wrap_u(c->a, v, t->width);
    return big_cmp(v, wrapped) == 0;
}

big fold_to_type(struct checker *c, big v, const struct type *t) {
    t = type_underlying(t);
    if (!v || !t)
        return v;
    if (t->kind == TY_BITS && t->width_expr)
        return NULL;
    if (t->kind == TY_BITS && t->width == 0)
        return big_u64(c->a, 0);
    if (t->kind == TY_BITS)
        return t->is_signed ? big_wrap_s(c->a, v, t->width) : big_wrap_u(c->a, v, t->width);
    return v;
}

// The value held to a saturating operation's range.
static big saturate(struct checker *c, big v, const struct type *t) {
    if (t->kind != TY_BITS || t->width_expr || fold_fits(c, v, t))
        return v;
    big one = big_u64(c->a, 1);
    if (!t->is_signed) {
        if (big_sign(v) < 0)
            return big_u64(c->a, 0);
        return big_sub(c->a, big_shl(c->a, one, t->width), one);
    }
    big limit = big_shl(c->a, one, t->width - 1);
    return big_sign(v) < 0 ? big_neg(c->a, limit) : big_sub(c->a, limit, one);
}

void fold_unary(struct checker *c, struct expr *e) {
    big x = e->a->cval;
    if (!x || !e->type || e->type->kind == TY_ERROR_TYPE)
        return;
    switch (e->op) {
    case OP_NEG:
        e->cval = fold_to_type(c, big_neg(c->a, x), e->type);
        break;
    case OP_NOT:
        e->cval = big_u64(c->a, big_sign(x) == 0);
        break;
    case OP_CPL:
        e->cval = fold_to_type(c, big_not(c->a, x), e->type);
        break;
    default:
        e->cval = x;
    }
}

static big too_large(struct checker *c, const struct expr *e) {
    diag_error(c->d, e->at, "this constant has more than %u bits", BIG_MAX_BITS);
    return NULL;
}

// Section 8.8: division and modulo of int are for values that are not negative.
static big divide(struct checker *c, const struct expr *e, big x, big y) {
    if (big_sign(y) == 0) {
        diag_error(c->d, e->b->at, "division by zero");
        return NULL;
    }
    if (big_sign(x) < 0 || big_sign(y) < 0) {
        diag_error(c->d, e->at, "'%s' is not defined for negative values", op_text(e->op));
        return NULL;
    }
    return e->op == OP_DIV ? big_div(c->a, x, y) : big_mod(c->a, x, y);
}

static big check_fold_shift(struct checker *c, const struct expr *e, big x, big y) {
    if (big_sign(y) < 0)
        return NULL; // reported where operand types are checked
    uint64_t n = big_fits_u64(y) ? big_to_u64(y) : UINT64_MAX;
    if (e->op == OP_SHR)
        return n > BIG_MAX_BITS ? big_i64(c->a, big_sign(x) < 0 ? -1 : 0) : big_shr(c->a, x, n);
    if (e->type->kind == TY_BITS && n >= e->type->width)
        return big_u64(c->a, 0);
    big r = n > BIG_MAX_BITS ? NULL : big_shl(c->a, x, n);
    return r ? r : too_large(c, e);
}

static big concatenate(struct checker *c, const struct expr *e, big x, big y) {
    const struct type *ty = e->b->type;
    if (ty->kind != TY_BITS || ty->width_expr)
        return NULL;
    big low = ty->width ? big_wrap_u(c->a, y, ty->width) : big_u64(c->a, 0);
    big high = big_shl(c->a, x, ty->width);
    return high ? big_or(c->a, high, low) : too_large(c, e);
}

static big check_fold_compare(struct checker *c, enum op op, big x, big y) {
    int order = big_cmp(x, y);
    bool r = false;
    switch (op) {
    case OP_EQ:
        r = order == 0;
        break;
    case OP_NE:
        r = order != 0;
        break;
    case OP_LT:
        r = order < 0;
        break;
    case OP_LE:
        r = order <= 0;
        break;
    case OP_GT:
        r = order > 0;
        break;
    case OP_GE:
        r = order >= 0;
        break;
    default:
        break;
    }
    return big_u64(c->a, r);
}

static big product(struct checker *c, const struct expr *e, big x, big y) {
    big r = big_mul(c->a, x, y);
    return r ? r : too_large(c, e);
}

static big check_fold_arithmetic(struct checker *c, const struct expr *e, big x, big y) {
    switch (e->op) {
    case OP_ADD:
    case OP_ADD_SAT:
        return big_add(c->a, x, y);
    case OP_SUB:
    case OP_SUB_SAT:
        return big_sub(c->a, x, y);
    case OP_MUL:
        return product(c, e, x, y);
    case OP_DIV:
    case OP_MOD:
        return divide(c, e, x, y);
    case OP_SHL:
    case OP_SHR:
        return check_fold_shift(c, e, x, y);
    case OP_BAND:
    case OP_AND:
        return big_and(c->a, x, y);
    case OP_BOR:
    case OP_OR:
        return big_or(c->a, x, y);
    case OP_BXOR:
        return big_xor(c->a, x, y);
    case OP_CONCAT:
        return concatenate(c, e, x, y);
    default:
        return check_fold_compare(c, e->op, x, y);
    }
}

static bool check_fold_is_bad(const struct expr *e) {
    return !e->type || e->type->kind == TY_ERROR_TYPE;
}

void fold_binary(struct checker *c, struct expr *e) {
    // A constant zero divisor is a mistake whatever is divided.
    bool divides = e->op == OP_DIV || e->op == OP_MOD;
    if (divides && e->b->cval && big_sign(e->b->cval) == 0 && !e->a->cval)
        divide(c, e, e->b->cval, e->b->cval);
    if (check_fold_is_bad(e) || check_fold_is_bad(e->a) || check_fold_is_bad(e->b) || !e->a->cval ||
        !e->b->cval)
        return;
    if (e->a->type->kind == TY_STRING)
        return;
    big r = check_fold_arithmetic(c, e, e->a->cval, e->b->cval);
    if (r && (e->op == OP_ADD_SAT || e->op == OP_SUB_SAT))
        r = saturate(c, r, e->type);
    e->cval = r ? fold_to_type(c, r, e->type) : NULL;
    if (e->cval && big_bits(e->cval) > BIG_MAX_BITS)
        e->cval = too_large(c, e);
}

// ------------------------------------------------------------------------------------------------
// Parts of constants

struct expr *constant_aggregate(struct expr *e) {
    for (;;) {
        if (!e)
            return NULL;
        if (e->kind == EX_LIST || e->kind == EX_STRUCT)
            return e;
        if (e->kind == EX_CAST)
            e = e->a;
        else if (e->kind == EX_NAME && e->decl && e->decl->kind == D_CONST)
            e = e->decl->init;
        else if (e->kind == EX_MEMBER || e->kind == EX_INDEX)
            e = e->c; // where fold_member left the part it found
        else
            return NULL;
    }
}

static struct expr *part_named(const struct expr *list, const struct decl *field,
                               const char *name) {
    for (size_t i = 0; i < list->args.n; i++) {
        const struct arg *arg = list->args.v[i];
        bool found = list->kind == EX_STRUCT ? arg->name && strcmp(arg->name, name) == 0
                                             : field && field->index == i;
        if (found)
            return arg->value->kind == EX_DOTS ? NULL : arg->value;
    }
    return NULL;
}

static struct expr *part_at(const struct expr *list, big index) {
    if (!index || !big_fits_u64(index) || big_to_u64(index) >= list->args.n)
        return NULL;
    struct expr *value = list->args.v[big_to_u64(index)]->value;
    return value->kind == EX_DOTS ? NULL : value;
}

// The part's node is kept in 'c', which members and indices do not use otherwise.
void fold_member(struct checker *c, struct expr *e) {
    (void)c;
    const struct expr *list = constant_aggregate(e->a);
    if (!list)
        return;
    struct expr *part =
        e->kind == EX_MEMBER ? part_named(list, e->decl, e->name) : part_at(list, e->b->cval);
    if (!part)
        return;
    e->c = part;
    e->cval = part->cval;
}

// ------------------------------------------------------------------------------------------------
// Sizes (section 9)

static long max_bits(struct checker *c, const struct type *t);

static long max_fields(struct checker *c, const struct type *t) {
    long total = 0;
    for (size_t i = 0; i < t->decl->members.n; i++) {
        struct type *ft = type_field(c->a, t, t->decl->members.v[i]->name, NULL);
        long bits = max_bits(c, ft);
        if (bits < 0)
            return -1;
        if (t->kind != TY_UNION)
            total += bits;
        else if (bits > total)
            total = bits;
    }
    return total;
}

static long max_bits(struct checker *c, const struct type *t) {
    if (!t)
        return -1;
    switch (t->kind) {
    case TY_VARBIT:
        return (long)t->width;
    case TY_STRUCT:
    case TY_HEADER:
    case TY_UNION:
        return max_fields(c, t);
    case TY_STACK: {
        long bits = max_bits(c, t->elem);
        return bits < 0 || t->width_expr ? -1 : bits * (long)t->width;
    }
    default:
        return type_bits(c->a, t);
    }
}

void fold_size(struct checker *c, struct expr *call, const struct type *t) {
    bool most = call->builtin == BI_MAX_SIZE_BITS || call->builtin == BI_MAX_SIZE_BYTES;
    bool bytes = call->builtin == BI_MIN_SIZE_BYTES || call->builtin == BI_MAX_SIZE_BYTES;
    if (t->kind == TY_VAR || t->kind == TY_ERROR_TYPE)
        return; // known once the type parameter is
    long bits = most ? max_bits(c, t) : type_bits(c->a, t);
    if (bits < 0)
        diag_error(c->d, call->at, "values of type '%s' have no size in bits", tn(c, t));
    else
        call->cval = big_u64(c->a, (uint64_t)(bytes ? (bits + 7) / 8 : bits));
}

// SPDX-License-Identifier: Apache-2.0
//
// interp_expr: what an expression is worth. A value of width w is an integer in [0, 2^w).
#include "harness/interp/interp_impl.h"

#include <stdlib.h>

void interp_fail(const char *what, int kind, struct loc at) {
    fprintf(stderr, "interp: %s %d (line %u) has no case in the interpreter: see interp.h\n", what,
            kind, at.line);
    abort();
}

big interp_get(struct run *r, const struct ir_var *v) {
    return r->vars[v->id];
}

void interp_set(struct run *r, const struct ir_var *v, big value) {
    r->vars[v->id] = big_wrap_u(r->a, value, v->width);
}

void interp_set_u64(struct run *r, const struct ir_var *v, uint64_t value) {
    if (v)
        interp_set(r, v, big_u64(r->a, value));
}

uint64_t interp_u64(struct run *r, const struct ir_var *v) {
    return v ? big_to_u64(interp_get(r, v)) : 0;
}

unsigned interp_words(unsigned width) {
    return (width + 63) / 64;
}

big interp_from_words(struct arena *a, const uint64_t *words, unsigned width) {
    big v = big_u64(a, 0);
    for (unsigned i = interp_words(width); i-- > 0;)
        v = big_add(a, big_shl(a, v, 64), big_u64(a, words[i]));
    return v;
}

bool interp_true(struct run *r, const struct ir_expr *x) {
    return big_sign(interp_eval(r, x)) != 0;
}

uint64_t interp_index(struct run *r, const struct ir_expr *x) {
    big v = interp_eval(r, x);
    return big_fits_u64(v) ? big_to_u64(v) : UINT64_MAX;
}

big interp_concat(struct run *r, const struct ir_expr *const *args, size_t n, unsigned *width) {
    big v = big_u64(r->a, 0);
    *width = 0;
    for (size_t i = 0; i < n; i++) {
        v = big_add(r->a, big_shl(r->a, v, args[i]->width), interp_eval(r, args[i]));
        *width += args[i]->width;
    }
    return v;
}

static big power(struct run *r, unsigned n) {
    return big_shl(r->a, big_u64(r->a, 1), n);
}

static big at_most(big v, big limit) {
    return big_cmp(v, limit) > 0 ? limit : v;
}
static big at_least(big v, big limit) {
    return big_cmp(v, limit) < 0 ? limit : v;
}

// A sum or difference of two values of 'width' bits, kept in the range of its type.
static big saturated(struct run *r, const struct ir_expr *x, big a, big b) {
    big one = big_u64(r->a, 1), zero = big_u64(r->a, 0);
    unsigned w = x->width;
    switch (x->op) {
    case IR_UADD_SAT:
        return at_most(big_add(r->a, a, b), big_sub(r->a, power(r, w), one));
    case IR_USUB_SAT:
        return at_least(big_sub(r->a, a, b), zero);
    default: {
        big p = big_wrap_s(r->a, a, w), q = big_wrap_s(r->a, b, w);
        big v = x->op == IR_SADD_SAT ? big_add(r->a, p, q) : big_sub(r->a, p, q);
        big most = big_sub(r->a, power(r, w - 1), one);
        return at_least(at_most(v, most), big_neg(r->a, power(r, w - 1)));
    }
    }
}

static big shifted(struct run *r, const struct ir_expr *x, big a, big amount) {
    uint64_t n = big_fits_u64(amount) ? big_to_u64(amount) : UINT64_MAX;
    if (n > x->width)
        n = x->width;
    switch (x->op) {
    case IR_SHL:
        return big_shl(r->a, a, n);
    case IR_LSHR:
        return big_shr(r->a, a, n);
    default:
        return big_shr(r->a, big_wrap_s(r->a, a, x->width), n);
    }
}

static bool compared(struct run *r, const struct ir_expr *x, big a, big b) {
    unsigned w = x->a->width;
    switch (x->op) {
    case IR_EQ:
        return big_cmp(a, b) == 0;
    case IR_NE:
        return big_cmp(a, b) != 0;
    case IR_ULT:
        return big_cmp(a, b) < 0;
    case IR_ULE:
        return big_cmp(a, b) <= 0;
    case IR_SLT:
        return big_cmp(big_wrap_s(r->a, a, w), big_wrap_s(r->a, b, w)) < 0;
    default:
        return big_cmp(big_wrap_s(r->a, a, w), big_wrap_s(r->a, b, w)) <= 0;
    }
}

static big chosen(struct run *r, const struct ir_expr *x, big a, big b) {
    bool is_signed = x->op == IR_SMIN || x->op == IR_SMAX;
    big p = is_signed ? big_wrap_s(r->a, a, x->width) : a;
    big q = is_signed ? big_wrap_s(r->a, b, x->width) : b;
    bool first = x->op == IR_UMIN || x->op == IR_SMIN ? big_cmp(p, q) <= 0 : big_cmp(p, q) >= 0;
    return first ? a : b;
}

static big binary(struct run *r, const struct ir_expr *x) {
    big a = interp_eval(r, x->a), b = interp_eval(r, x->b);
    switch (x->op) {
    case IR_ADD:
        return big_add(r->a, a, b);
    case IR_SUB:
        return big_sub(r->a, a, b);
    case IR_MUL:
        return big_mul(r->a, a, b);
    case IR_UDIV:
        return big_sign(b) ? big_div(r->a, a, b) : b;
    case IR_UMOD:
        return big_sign(b) ? big_mod(r->a, a, b) : b;
    case IR_UADD_SAT:
    case IR_USUB_SAT:
    case IR_SADD_SAT:
    case IR_SSUB_SAT:
        return saturated(r, x, a, b);
    case IR_AND:
        return big_and(r->a, a, b);
    case IR_OR:
        return big_or(r->a, a, b);
    case IR_XOR:
        return big_xor(r->a, a, b);
    case IR_SHL:
    case IR_LSHR:
    case IR_ASHR:
        return shifted(r, x, a, b);
    case IR_EQ:
    case IR_NE:
    case IR_ULT:
    case IR_ULE:
    case IR_SLT:
    case IR_SLE:
        return big_u64(r->a, compared(r, x, a, b));
    case IR_UMIN:
    case IR_UMAX:
    case IR_SMIN:
    case IR_SMAX:
        return chosen(r, x, a, b);
    case IR_CONCAT:
        return big_or(r->a, big_shl(r->a, a, x->b->width), b);
    default:
        interp_fail("expression operator", (int)x->op, x->at);
    }
}

// Bits behind the parser's cursor; what is not there stops the parser.
static big lookahead(struct run *r, const struct ir_expr *x) {
    uint64_t bit = 8 * r->cursor + x->lo;
    if (!interp_is_there(r, (bit + x->width + 7) / 8, "looking ahead", NULL)) {
        r->parser_err |= SK_PARSER_PARTIAL_HDR;
        r->parser_done = true;
        return big_u64(r->a, 0);
    }
    return interp_packet_bits(r, bit, x->width);
}

static big value(struct run *r, const struct ir_expr *x) {
    switch (x->op) {
    case IR_CONST:
        return x->value;
    case IR_VAR:
        return interp_get(r, x->var);
    case IR_LOOKAHEAD:
        return lookahead(r, x);
    case IR_NOT:
        return big_not(r->a, interp_eval(r, x->a));
    case IR_NEG:
        return big_neg(r->a, interp_eval(r, x->a));
    case IR_SLICE:
        return big_shr(r->a, interp_eval(r, x->a), x->lo);
    case IR_ZEXT:
        return interp_eval(r, x->a);
    case IR_SEXT:
        return big_wrap_s(r->a, interp_eval(r, x->a), x->a->width);
    case IR_COND:
        return interp_eval(r, interp_true(r, x->a) ? x->b : x->c);
    case IR_LAND:
        return big_u64(r->a, interp_true(r, x->a) && interp_true(r, x->b));
    case IR_LOR:
        return big_u64(r->a, interp_true(r, x->a) || interp_true(r, x->b));
    case IR_REG_PARAM:
        return big_u64(r->a, r->st->params[x->param->id]);
    case IR_MATH_UNIT:
        return interp_math_unit(r, x->math, interp_eval(r, x->a));
    default:
        return binary(r, x);
    }
}

big interp_eval(struct run *r, const struct ir_expr *x) {
    return big_wrap_u(r->a, value(r, x), x->width);
}

// SPDX-License-Identifier: Apache-2.0
//
// expr: expressions as Lua. Lua's numbers are doubles (or 64-bit integers in later versions), exact
// to 53 bits: values are computed in pieces of at most 32 bits.
#include <inttypes.h>
#include <string.h>

#include "compiler/wireshark/wireshark_impl.h"

static const char *shark_expr_fail(struct shark *s, const char *what) {
    if (!s->failed)
        s->failed = what;
    return "0";
}

static const char *power(struct shark *s, unsigned n) {
    return arena_printf(s->a, "%" PRIu64, UINT64_C(1) << n);
}

const char *shark_var(struct shark *s, const struct ir_var *v, unsigned k) {
    return arena_printf(s->a, "v[%u]", 8 * v->id + k);
}

// Bits 'pos' to 'pos' + n of a variable, which is kept in pieces of 32.
static const char *var_bits(struct shark *s, const struct ir_var *v, unsigned pos, unsigned n) {
    unsigned k = pos / 32, r = pos % 32, in_piece = v->width - 32 * k;
    if (v->width > 8 * 32)
        return shark_expr_fail(s, "a variable of more than 256 bits");
    if (in_piece > 32)
        in_piece = 32;
    const char *low = shark_var(s, v, k);
    if (r == 0 && n == in_piece)
        return low;
    if (r + n <= 32)
        return arena_printf(s->a, "cut(%s, %u, %u)", low, r, n);
    return arena_printf(s->a, "cut2(%s, %s, %u, %u)", low, shark_var(s, v, k + 1), r, n);
}

static const char *const_bits(struct shark *s, const struct ir_expr *e, unsigned pos, unsigned n) {
    big v = big_wrap_u(s->a, big_shr(s->a, e->value, pos), n);
    return arena_printf(s->a, "%" PRIu64, big_to_u64(v));
}

// After the cursor, in network order.
static const char *shark_expr_lookahead(struct shark *s, const struct ir_expr *e, unsigned pos,
                                        unsigned n) {
    return arena_printf(s->a, "look(w, %u, %u, %u)", e->lo, e->lo + e->width - pos - n, n);
}

static const char *shark_expr_concat(struct shark *s, const struct ir_expr *e, unsigned pos,
                                     unsigned n) {
    unsigned wb = e->b->width;
    if (pos >= wb)
        return shark_bits(s, e->a, pos - wb, n);
    if (pos + n <= wb)
        return shark_bits(s, e->b, pos, n);
    unsigned low = wb - pos;
    return arena_printf(s->a, "(%s + %s * %s)", shark_bits(s, e->b, pos, low),
                        shark_bits(s, e->a, 0, n - low), power(s, low));
}

static const char *extended(struct shark *s, const struct ir_expr *e, unsigned pos, unsigned n) {
    unsigned wa = e->a->width;
    if (pos >= wa)
        return "0";
    return shark_bits(s, e->a, pos, pos + n > wa ? wa - pos : n);
}

// Of operations whose result is computed as a whole.
static const char *shark_expr_part(struct shark *s, const struct ir_expr *e, const char *whole,
                                   unsigned pos, unsigned n) {
    if (e->width > 32)
        return shark_expr_fail(s, "arithmetic on more than 32 bits");
    return pos == 0 && n == e->width ? whole : arena_printf(s->a, "cut(%s, %u, %u)", whole, pos, n);
}

static const char *shark_expr_whole(struct shark *s, const struct ir_expr *e) {
    return e->width > 32 ? shark_expr_fail(s, "arithmetic on more than 32 bits")
                         : shark_bits(s, e, 0, e->width);
}

static const char *signed_value(struct shark *s, const struct ir_expr *e) {
    return arena_printf(s->a, "signed(%s, %u)", shark_expr_whole(s, e), e->width);
}

static const char *shark_expr_compare(struct shark *s, const struct ir_expr *e, const char *op,
                                      bool is_signed) {
    const char *a = is_signed ? signed_value(s, e->a) : shark_expr_whole(s, e->a);
    const char *b = is_signed ? signed_value(s, e->b) : shark_expr_whole(s, e->b);
    return arena_printf(s->a, "%s %s %s", a, op, b);
}

static const char *shark_expr_equal(struct shark *s, const struct ir_expr *e) {
    const char *text = "";
    for (unsigned at = 0; at < e->a->width; at += 32) {
        unsigned n = e->a->width - at < 32 ? e->a->width - at : 32;
        text = arena_printf(s->a, "%s%s%s == %s", text, at ? " and " : "",
                            shark_bits(s, e->a, at, n), shark_bits(s, e->b, at, n));
    }
    return text;
}

const char *shark_condition(struct shark *s, const struct ir_expr *e) {
    switch (e->op) {
    case IR_EQ:
        return arena_printf(s->a, "(%s)", shark_expr_equal(s, e));
    case IR_NE:
        return arena_printf(s->a, "not (%s)", shark_expr_equal(s, e));
    case IR_ULT:
    case IR_SLT:
        return arena_printf(s->a, "(%s)", shark_expr_compare(s, e, "<", e->op == IR_SLT));
    case IR_ULE:
    case IR_SLE:
        return arena_printf(s->a, "(%s)", shark_expr_compare(s, e, "<=", e->op == IR_SLE));
    case IR_LAND:
        return arena_printf(s->a, "(%s and %s)", shark_condition(s, e->a),
                            shark_condition(s, e->b));
    case IR_LOR:
        return arena_printf(s->a, "(%s or %s)", shark_condition(s, e->a), shark_condition(s, e->b));
    case IR_NOT:
        return arena_printf(s->a, "not %s", shark_condition(s, e->a));
    default:
        return arena_printf(s->a, "(%s == 1)", shark_bits(s, e, 0, 1));
    }
}

static const char *shark_expr_arithmetic(struct shark *s, const struct ir_expr *e) {
    const char *a = shark_expr_whole(s, e->a), *b = e->b ? shark_expr_whole(s, e->b) : "0",
               *m = power(s, e->width);
    switch (e->op) {
    case IR_NEG:
        return arena_printf(s->a, "((0 - %s) %% %s)", a, m);
    case IR_ADD:
        return arena_printf(s->a, "((%s + %s) %% %s)", a, b, m);
    case IR_SUB:
        return arena_printf(s->a, "((%s - %s) %% %s)", a, b, m);
    case IR_SHL:
        return arena_printf(s->a, "shl(%s, %s, %u)", a, b, e->width);
    case IR_LSHR:
        return arena_printf(s->a, "shr(%s, %s)", a, b);
    case IR_MUL:
        if (e->width <= 26) // the product is exact
            return arena_printf(s->a, "((%s * %s) %% %s)", a, b, m);
        return shark_expr_fail(s, "a product of more than 26 bits");
    default:
        return shark_expr_fail(s, ir_source_text(s->a, e));
    }
}

const char *shark_bits(struct shark *s, const struct ir_expr *e, unsigned pos, unsigned n) {
    switch (e->op) {
    case IR_CONST:
        return const_bits(s, e, pos, n);
    case IR_VAR:
        return var_bits(s, e->var, pos, n);
    case IR_LOOKAHEAD:
        return shark_expr_lookahead(s, e, pos, n);
    case IR_SLICE:
        return shark_bits(s, e->a, e->lo + pos, n);
    case IR_CONCAT:
        return shark_expr_concat(s, e, pos, n);
    case IR_ZEXT:
        return extended(s, e, pos, n);
    case IR_NOT:
        if (e->width == 1)
            return arena_printf(s->a, "(1 - %s)", shark_bits(s, e->a, 0, 1));
        return arena_printf(s->a, "(%s - 1 - %s)", power(s, n), shark_bits(s, e->a, pos, n));
    case IR_AND:
        return arena_printf(s->a, "band(%s, %s)", shark_bits(s, e->a, pos, n),
                            shark_bits(s, e->b, pos, n));
    case IR_OR:
        return arena_printf(s->a, "bor(%s, %s)", shark_bits(s, e->a, pos, n),
                            shark_bits(s, e->b, pos, n));
    case IR_XOR:
        return arena_printf(s->a, "bxor(%s, %s)", shark_bits(s, e->a, pos, n),
                            shark_bits(s, e->b, pos, n));
    case IR_COND:
        return arena_printf(s->a, "(%s and %s or %s)", shark_condition(s, e->a),
                            shark_bits(s, e->b, pos, n), shark_bits(s, e->c, pos, n));
    default:
        if (ir_is_condition(e->op))
            return arena_printf(s->a, "(%s and 1 or 0)", shark_condition(s, e));
        return shark_expr_part(s, e, shark_expr_arithmetic(s, e), pos, n);
    }
}

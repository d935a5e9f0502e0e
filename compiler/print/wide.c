// SPDX-License-Identifier: Apache-2.0
//
// wide: expressions of more than 128 bits, as calls of stages/wide.h.
//
// Such an expression is a 'const uint64_t *' to its words, least significant first. Each operation
// writes to an unnamed array of its own, which lives as long as the block it stands in.
#include "compiler/print/emit_impl.h"

static const char *emit_wide_room(const struct emit *e, unsigned width) {
    return emit_text(e, "(uint64_t[%u]){0}", (width + 63) / 64);
}

static const char *emit_wide_constant(const struct emit *e, big value, unsigned width) {
    const char *text = "";
    for (unsigned i = 0; i < (width + 63) / 64; i++)
        text = emit_text(e, "%s%sUINT64_C(0x%llx)", text, i ? ", " : "",
                         (unsigned long long)big_word(value, i));
    return emit_text(e, "(const uint64_t[]){%s}", text);
}

static const char *two(const struct emit *e, const struct ir_expr *x, const char *name) {
    return emit_text(e, "sk_wide_%s(%s, %s, %s, %u)", name, emit_wide_room(e, x->width),
                     emit_wide(e, x->a), emit_wide(e, x->b), x->width);
}

static const char *shifted(const struct emit *e, const struct ir_expr *x, const char *name) {
    return emit_text(e, "sk_wide_%s(%s, %s, %s, %u)", name, emit_wide_room(e, x->width),
                     emit_wide(e, x->a), emit_u64(e, x->b), x->width);
}

static const char *resized(const struct emit *e, const struct ir_expr *x, const char *name) {
    return emit_text(e, "sk_wide_%s(%s, %s, %u, %u)", name, emit_wide_room(e, x->width),
                     emit_wide(e, x->a), x->a->width, x->width);
}

static const char *operation(const struct emit *e, const struct ir_expr *x) {
    switch (x->op) {
    case IR_NOT:
    case IR_NEG:
        return emit_text(e, "sk_wide_%s(%s, %s, %u)", x->op == IR_NOT ? "not" : "neg",
                         emit_wide_room(e, x->width), emit_wide(e, x->a), x->width);
    case IR_ADD:
        return two(e, x, "add");
    case IR_SUB:
        return two(e, x, "sub");
    case IR_MUL:
        return two(e, x, "mul");
    case IR_UDIV:
        return two(e, x, "udiv");
    case IR_UMOD:
        return two(e, x, "umod");
    case IR_UADD_SAT:
        return two(e, x, "uadd_sat");
    case IR_USUB_SAT:
        return two(e, x, "usub_sat");
    case IR_SADD_SAT:
        return two(e, x, "sadd_sat");
    case IR_SSUB_SAT:
        return two(e, x, "ssub_sat");
    case IR_AND:
        return two(e, x, "and");
    case IR_OR:
        return two(e, x, "or");
    case IR_XOR:
        return two(e, x, "xor");
    case IR_UMIN:
        return two(e, x, "umin");
    case IR_UMAX:
        return two(e, x, "umax");
    case IR_SMIN:
        return two(e, x, "smin");
    case IR_SMAX:
        return two(e, x, "smax");
    case IR_SHL:
        return shifted(e, x, "shl");
    case IR_LSHR:
        return shifted(e, x, "lshr");
    case IR_ASHR:
        return shifted(e, x, "ashr");
    default:
        DIAG_BUG("wide expression operator %d", (int)x->op);
    }
}

const char *emit_wide_const(const struct emit *e, big value, unsigned width) {
    return emit_wide_constant(e, value, width);
}

const char *emit_wide(const struct emit *e, const struct ir_expr *x) {
    if (x->op == IR_CONST)
        return emit_wide_constant(e, x->value, x->width);
    if (!plan_is_wide(x->width))
        return emit_text(e, "sk_wide_of(%s, %s, %u)", emit_wide_room(e, x->width), emit_expr(e, x),
                         x->width);
    switch (x->op) {
    case IR_VAR:
        return emit_text(e, "sk_wide_load(%s, %s, %u, %u)", emit_wide_room(e, x->width),
                         emit_ref(e, x->var), 8 * plan_bytes(x->width) - x->width, x->width);
    case IR_LOOKAHEAD:
        return emit_text(e, "sk_wide_load(%s, p, %u, %u)", emit_wide_room(e, x->width), x->lo,
                         x->width);
    case IR_SLICE:
        return emit_text(e, "sk_wide_slice(%s, %s, %u, %u, %u)", emit_wide_room(e, x->width),
                         emit_wide(e, x->a), x->a->width, x->lo, x->width);
    case IR_CONCAT:
        return emit_text(e, "sk_wide_concat(%s, %s, %u, %s, %u)", emit_wide_room(e, x->width),
                         emit_wide(e, x->a), x->a->width, emit_wide(e, x->b), x->b->width);
    case IR_ZEXT:
        return resized(e, x, "zext");
    case IR_SEXT:
        return resized(e, x, "sext");
    case IR_COND:
        return emit_text(e, "(%s ? %s : %s)", emit_cond(e, x->a), emit_wide(e, x->b),
                         emit_wide(e, x->c));
    default:
        return operation(e, x);
    }
}

// A comparison of wide values, as a C condition.
const char *emit_wide_compare(const struct emit *e, const struct ir_expr *x) {
    const char *a = emit_wide(e, x->a), *b = emit_wide(e, x->b);
    unsigned w = x->a->width;
    switch (x->op) {
    case IR_EQ:
        return emit_text(e, "sk_wide_eq(%s, %s, %u)", a, b, w);
    case IR_NE:
        return emit_text(e, "!sk_wide_eq(%s, %s, %u)", a, b, w);
    case IR_ULT:
        return emit_text(e, "sk_wide_ult(%s, %s, %u)", a, b, w);
    case IR_ULE: // a <= b is !(b < a)
        return emit_text(e, "!sk_wide_ult(%s, %s, %u)", b, a, w);
    case IR_SLT:
        return emit_text(e, "sk_wide_slt(%s, %s, %u)", a, b, w);
    default:
        return emit_text(e, "!sk_wide_slt(%s, %s, %u)", b, a, w);
    }
}

// SPDX-License-Identifier: Apache-2.0
//
// expr: expressions and assignments.
//
// Every text returned is safe as an operand (parenthesised or a call) and evaluates each
// sub-expression once. Helper functions of stages/bits.h have a suffix by type: 32, none, 128.
#include "compiler/print/lane_loop.h"

const char *emit_ctype(unsigned width) {
    return width <= 32 ? "uint32_t" : width <= 64 ? "uint64_t" : "sk_u128";
}

const char *emit_storage(unsigned width) {
    return width <= 8 ? "uint8_t" : width <= 16 ? "uint16_t" : emit_ctype(width);
}

static const char *emit_expr_suffix(unsigned width) {
    return width <= 32 ? "32" : width <= 64 ? "" : "128";
}

static bool fills_type(unsigned width) {
    return width == 32 || width == 64 || width == 128;
}

static const char *u64_const(const struct emit *e, uint64_t v) {
    return v < 10 ? emit_text(e, "UINT64_C(%u)", (unsigned)v)
                  : emit_text(e, "UINT64_C(0x%llx)", (unsigned long long)v);
}

static const char *words_const(const struct emit *e, uint64_t high, uint64_t low, unsigned width) {
    if (width <= 32)
        return low < 10 ? emit_text(e, "%uu", (unsigned)low) : emit_text(e, "0x%xu", (unsigned)low);
    if (width <= 64)
        return u64_const(e, low);
    return emit_text(e, "sk_u128_of(%s, %s)", u64_const(e, high), u64_const(e, low));
}

const char *emit_const(const struct emit *e, big value, unsigned width) {
    return words_const(e, big_word(value, 1), big_word(value, 0), width);
}

static const char *mask_const(const struct emit *e, unsigned width) {
    uint64_t low = width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    uint64_t high = width <= 64 ? 0 : width >= 128 ? UINT64_MAX : (UINT64_C(1) << (width - 64)) - 1;
    return words_const(e, high, low, width);
}

const char *emit_ones(const struct emit *e, unsigned width) {
    return mask_const(e, width);
}

static const char *masked(const struct emit *e, const char *text, unsigned width) {
    return fills_type(width) ? text : emit_text(e, "(%s & %s)", text, mask_const(e, width));
}

const char *emit_ref(const struct emit *e, const struct ir_var *v) {
    const struct emit_var *i = emit_var_of(e, v);
    return e->in_parser && i->deferred ? i->received : i->ref; // nothing is held yet
}

static const char *cast(const struct emit *e, const char *text, unsigned from, unsigned to) {
    return emit_ctype(from) == emit_ctype(to) ? text : emit_text(e, "(%s)%s", emit_ctype(to), text);
}

// --------------------------------------------------------------------------------------------
// Leaves and changes of width.

static const char *var_value(const struct emit *e, const struct ir_var *v) {
    return v->width <= 16 ? emit_text(e, "(uint32_t)%s", emit_ref(e, v)) : emit_ref(e, v);
}

static const char *emit_expr_bits_of(const struct emit *e, const char *bytes, unsigned offset,
                                     unsigned width) {
    const char *get = width <= 64 ? "sk_bits_get" : "sk_bits_get128";
    const char *text = emit_text(e, "%s(%s, %u, %u)", get, bytes, offset, width);
    return width <= 32 ? emit_text(e, "(uint32_t)%s", text) : text;
}

// Bit offset, in a wide variable's byte array, of the bit above bit lo + width - 1.
static unsigned wide_offset(const struct ir_var *v, unsigned lo, unsigned width) {
    return 8 * plan_bytes(v->width) - lo - width;
}

static const char *slice(const struct emit *e, const struct ir_expr *x) {
    const struct ir_expr *a = x->a;
    if (plan_is_wide(a->width)) {
        if (a->op == IR_VAR)
            return emit_expr_bits_of(e, emit_ref(e, a->var), wide_offset(a->var, x->lo, x->width),
                                     x->width);
        const char *get = emit_text(e, "sk_wide_get%s(%s, %u, %u, %u)", x->width <= 64 ? "" : "128",
                                    emit_wide(e, a), a->width, x->lo, x->width);
        return x->width <= 32 ? emit_text(e, "(uint32_t)%s", get) : get;
    }
    const char *text = emit_expr(e, a);
    if (x->lo)
        text = emit_text(e, "(%s >> %u)", text, x->lo);
    text = cast(e, text, a->width, x->width);
    return x->lo + x->width == a->width ? text : masked(e, text, x->width);
}

static const char *sign_extend(const struct emit *e, const struct ir_expr *x) {
    unsigned from = x->a->width;
    const char *text = cast(e, emit_expr(e, x->a), from, x->width);
    uint64_t low = from <= 64 ? UINT64_C(1) << (from - 1) : 0;
    uint64_t high = from <= 64 ? 0 : UINT64_C(1) << (from - 65);
    const char *sign = words_const(e, high, low, x->width);
    return masked(e, emit_text(e, "((%s ^ %s) - %s)", text, sign, sign), x->width);
}

static const char *emit_expr_concat(const struct emit *e, const struct ir_expr *x) {
    const char *a = cast(e, emit_expr(e, x->a), x->a->width, x->width);
    const char *b = cast(e, emit_expr(e, x->b), x->b->width, x->width);
    return emit_text(e, "(%s << %u | %s)", a, x->b->width, b);
}

// --------------------------------------------------------------------------------------------
// Operators.

static const char *emit_expr_binary(const struct emit *e, const struct ir_expr *x, const char *op,
                                    bool reduce) {
    const char *text = emit_text(e, "(%s %s %s)", emit_expr(e, x->a), op, emit_expr(e, x->b));
    return reduce ? masked(e, text, x->width) : text;
}

static const char *emit_expr_call(const struct emit *e, const struct ir_expr *x, const char *name,
                                  bool width) {
    const char *a = emit_expr(e, x->a), *b = emit_expr(e, x->b);
    if (width)
        return emit_text(e, "%s%s(%s, %s, %u)", name, emit_expr_suffix(x->a->width), a, b,
                         x->a->width);
    return emit_text(e, "%s%s(%s, %s)", name, emit_expr_suffix(x->a->width), a, b);
}

const char *emit_u64(const struct emit *e, const struct ir_expr *x) {
    if (x->op == IR_CONST)
        return u64_const(e, big_fits_u64(x->value) ? big_to_u64(x->value) : UINT64_MAX);
    if (plan_is_wide(x->width))
        return emit_text(e, "sk_wide_saturate64(%s, %u)", emit_wide(e, x), x->width);
    const char *text = emit_expr(e, x);
    if (x->width <= 64)
        return text;
    return emit_text(e, "sk_saturate64(%s)", text);
}

static const char *emit_expr_shift(const struct emit *e, const struct ir_expr *x, const char *name,
                                   const char *op) {
    const char *a = emit_expr(e, x->a);
    if (x->b->op == IR_CONST && op) {
        if (!big_fits_u64(x->b->value) || big_to_u64(x->b->value) >= x->width)
            return words_const(e, 0, 0, x->width);
        const char *text = emit_text(e, "(%s %s %u)", a, op, (unsigned)big_to_u64(x->b->value));
        return x->op == IR_SHL ? masked(e, text, x->width) : text;
    }
    return emit_text(e, "%s%s(%s, %s, %u)", name, emit_expr_suffix(x->width), a, emit_u64(e, x->b),
                     x->width);
}

static const char *emit_expr_not(const struct emit *e, const struct ir_expr *x) {
    const char *a = emit_expr(e, x->a);
    if (x->width == 1)
        return emit_text(e, "(%s ^ 1u)", a);
    return masked(e, emit_text(e, "(~%s)", a), x->width);
}

static const char *emit_expr_compute(const struct emit *e, const struct ir_expr *x) {
    switch (x->op) {
    case IR_NOT:
        return emit_expr_not(e, x);
    case IR_NEG:
        return masked(e, emit_text(e, "(0u - %s)", emit_expr(e, x->a)), x->width);
    case IR_ADD:
        return emit_expr_binary(e, x, "+", true);
    case IR_SUB:
        return emit_expr_binary(e, x, "-", true);
    case IR_MUL:
        return emit_expr_binary(e, x, "*", true);
    case IR_AND:
        return emit_expr_binary(e, x, "&", false);
    case IR_OR:
        return emit_expr_binary(e, x, "|", false);
    case IR_XOR:
        return emit_expr_binary(e, x, "^", false);
    case IR_UDIV:
        return emit_expr_call(e, x, "sk_udiv", false);
    case IR_UMOD:
        return emit_expr_call(e, x, "sk_umod", false);
    case IR_UADD_SAT:
        return emit_expr_call(e, x, "sk_uadd_sat", true);
    case IR_USUB_SAT:
        return emit_expr_call(e, x, "sk_usub_sat", true);
    case IR_SADD_SAT:
        return emit_expr_call(e, x, "sk_sadd_sat", true);
    case IR_SSUB_SAT:
        return emit_expr_call(e, x, "sk_ssub_sat", true);
    case IR_UMIN:
        return emit_expr_call(e, x, "sk_umin", false);
    case IR_UMAX:
        return emit_expr_call(e, x, "sk_umax", false);
    case IR_SMIN:
        return emit_expr_call(e, x, "sk_smin", true);
    case IR_SMAX:
        return emit_expr_call(e, x, "sk_smax", true);
    case IR_SHL:
        return emit_expr_shift(e, x, "sk_shl", "<<");
    case IR_LSHR:
        return emit_expr_shift(e, x, "sk_lshr", ">>");
    case IR_ASHR:
        return emit_expr_shift(e, x, "sk_ashr", NULL);
    default:
        DIAG_BUG("expression operator %d", (int)x->op);
    }
}

const char *emit_expr(const struct emit *e, const struct ir_expr *x) {
    if (plan_is_wide(x->width))
        DIAG_BUG("an expression of %u bits where it cannot stand", x->width);
    if (ir_is_condition(x->op))
        return emit_text(e, "(uint32_t)(%s)", emit_cond(e, x));
    switch (x->op) {
    case IR_CONST: {
        const char *by_lane = e->loop ? emit_lane_const(e, x) : NULL;
        return by_lane ? by_lane : emit_const(e, x->value, x->width);
    }
    case IR_VAR:
        return var_value(e, x->var);
    case IR_LOOKAHEAD:
        return emit_expr_bits_of(e, "p", x->lo, x->width);
    case IR_SLICE:
        return slice(e, x);
    case IR_ZEXT:
        return cast(e, emit_expr(e, x->a), x->a->width, x->width);
    case IR_SEXT:
        return sign_extend(e, x);
    case IR_CONCAT:
        return emit_expr_concat(e, x);
    case IR_REG_PARAM:
        return emit_text(e, "(%s)s->%c_param%u", emit_ctype(x->width), e->p[2], x->param->id);
    case IR_MATH_UNIT:
        return emit_text(e, "sk_math_unit(&%s_math%u, %s, %u)", e->p, x->math->id,
                         emit_expr(e, x->a), x->width);
    case IR_COND:
        return emit_text(e, "(%s ? %s : %s)", emit_cond(e, x->a), emit_expr(e, x->b),
                         emit_expr(e, x->c));
    default:
        return emit_expr_compute(e, x);
    }
}

// Equality of wide values. Of a variable with a variable or a constant it needs no arithmetic.
static const char *wide_equal(const struct emit *e, const struct ir_expr *x) {
    const struct ir_expr *a = x->a, *b = x->b;
    if (a->op == IR_CONST) {
        a = x->b;
        b = x->a;
    }
    if (a->op == IR_VAR && b->op == IR_VAR)
        return emit_text(e, "memcmp(%s, %s, %u) %s 0", emit_ref(e, a->var), emit_ref(e, b->var),
                         plan_bytes(a->width), x->op == IR_EQ ? "==" : "!=");
    if (a->op != IR_VAR || b->op != IR_CONST)
        return emit_wide_compare(e, x);
    const char *text = "";
    for (unsigned i = 0; i < plan_bytes(a->width); i++) {
        uint64_t word = big_word(b->value, (plan_bytes(a->width) - 1 - i) / 8);
        unsigned byte = word >> 8 * ((plan_bytes(a->width) - 1 - i) % 8) & 0xff;
        text = emit_text(e, "%s\\x%02x", text, byte);
    }
    return emit_text(e, "memcmp(%s, \"%s\", %u) %s 0", emit_ref(e, a->var), text,
                     plan_bytes(a->width), x->op == IR_EQ ? "==" : "!=");
}

static const char *emit_expr_compare(const struct emit *e, const struct ir_expr *x,
                                     const char *op) {
    return emit_text(e, "%s %s %s", emit_expr(e, x->a), op, emit_expr(e, x->b));
}

static const char *logical(const struct emit *e, const struct ir_expr *x, const char *op) {
    return emit_text(e, "(%s) %s (%s)", emit_cond(e, x->a), op, emit_cond(e, x->b));
}

const char *emit_cond(const struct emit *e, const struct ir_expr *x) {
    if (x->a && plan_is_wide(x->a->width) && ir_is_condition(x->op))
        return x->op == IR_EQ || x->op == IR_NE ? wide_equal(e, x) : emit_wide_compare(e, x);
    switch (x->op) {
    case IR_EQ:
        return emit_expr_compare(e, x, "==");
    case IR_NE:
        return emit_expr_compare(e, x, "!=");
    case IR_ULT:
        return emit_expr_compare(e, x, "<");
    case IR_ULE:
        return emit_expr_compare(e, x, "<=");
    case IR_SLT:
        return emit_expr_call(e, x, "sk_slt", true);
    case IR_SLE: // a <= b is !(b < a)
        return emit_text(e, "!sk_slt%s(%s, %s, %u)", emit_expr_suffix(x->a->width),
                         emit_expr(e, x->b), emit_expr(e, x->a), x->a->width);
    case IR_LAND:
        return logical(e, x, "&&");
    case IR_LOR:
        return logical(e, x, "||");
    case IR_NOT:
        if (x->width == 1)
            return emit_text(e, "!(%s)", emit_cond(e, x->a));
        return emit_expr(e, x);
    default:
        return emit_expr(e, x);
    }
}

// --------------------------------------------------------------------------------------------
// Bytes and words of an expression.

static void put_chunk(const struct emit *e, const char *bytes, unsigned offset, unsigned width,
                      const char *text) {
    bool whole = offset % 8 == 0 && width % 8 == 0 && width <= 64;
    if (whole)
        emit_line(e, "sk_store_bytes(%s + %u, %u, %s);", bytes, offset / 8, width / 8, text);
    else
        emit_line(e, "%s(%s, %u, %u, %s);", width <= 64 ? "sk_bits_put" : "sk_bits_put128", bytes,
                  offset, width, text);
}

static void put_wide_var(const struct emit *e, const char *bytes, unsigned offset,
                         const struct ir_var *v) {
    if (offset % 8 == 0 && v->width % 8 == 0) {
        emit_line(e, "memcpy(%s + %u, %s, %u);", bytes, offset / 8, emit_ref(e, v), v->width / 8);
        return;
    }
    for (unsigned done = 0; done < v->width;) {
        unsigned n = v->width - done < 64 ? v->width - done : 64;
        unsigned from = wide_offset(v, 0, v->width) + done;
        put_chunk(e, bytes, offset + done, n, emit_expr_bits_of(e, emit_ref(e, v), from, n));
        done += n;
    }
}

static void put_wide_const(const struct emit *e, const char *bytes, unsigned offset, big value,
                           unsigned width) {
    for (unsigned done = 0; done < width;) {
        unsigned n = (width - done) % 64 ? (width - done) % 64 : 64;
        uint64_t word = big_word(value, (width - done - n) / 64);
        put_chunk(e, bytes, offset + done, n, u64_const(e, word));
        done += n;
    }
}

static void put_wide_slice(const struct emit *e, const char *bytes, unsigned offset,
                           const struct ir_expr *x) {
    for (unsigned done = 0; done < x->width;) {
        unsigned n = x->width - done < 64 ? x->width - done : 64;
        unsigned from = wide_offset(x->a->var, x->lo, x->width) + done;
        put_chunk(e, bytes, offset + done, n,
                  emit_expr_bits_of(e, emit_ref(e, x->a->var), from, n));
        done += n;
    }
}

static void put_words(const struct emit *e, const char *bytes, unsigned offset,
                      const struct ir_expr *x) {
    emit_line(e, "sk_wide_store(%s, %u, %u, %s);", bytes, offset, x->width, emit_wide(e, x));
}

void emit_put_bits(const struct emit *e, const char *bytes, unsigned offset,
                   const struct ir_expr *x) {
    if (!plan_is_wide(x->width)) {
        put_chunk(e, bytes, offset, x->width, emit_expr(e, x));
        return;
    }
    switch (x->op) {
    case IR_VAR:
        put_wide_var(e, bytes, offset, x->var);
        break;
    case IR_CONST:
        put_wide_const(e, bytes, offset, x->value, x->width);
        break;
    case IR_CONCAT:
        emit_put_bits(e, bytes, offset, x->a);
        emit_put_bits(e, bytes, offset + x->a->width, x->b);
        break;
    case IR_ZEXT:
        put_wide_const(e, bytes, offset, big_u64(e->a, 0), x->width - x->a->width);
        emit_put_bits(e, bytes, offset + x->width - x->a->width, x->a);
        break;
    case IR_SLICE:
        if (x->a->op == IR_VAR)
            put_wide_slice(e, bytes, offset, x);
        else
            put_words(e, bytes, offset, x);
        break;
    case IR_LOOKAHEAD:
        for (unsigned done = 0; done < x->width;) {
            unsigned n = x->width - done < 64 ? x->width - done : 64;
            put_chunk(e, bytes, offset + done, n, emit_expr_bits_of(e, "p", x->lo + done, n));
            done += n;
        }
        break;
    case IR_COND:
        emit_open(e, "if (%s) {", emit_cond(e, x->a));
        emit_put_bits(e, bytes, offset, x->b);
        emit_close(e, "} else {");
        e->to->indent++;
        emit_put_bits(e, bytes, offset, x->c);
        emit_close(e, "}");
        break;
    default:
        put_words(e, bytes, offset, x);
    }
}

const char *emit_word(const struct emit *e, const struct ir_expr *x, unsigned i) {
    unsigned n = x->width - 64 * i < 64 ? x->width - 64 * i : 64;
    if (x->op == IR_CONST)
        return u64_const(e, big_word(x->value, i));
    if (!plan_is_wide(x->width)) {
        const char *text = emit_expr(e, x);
        return x->width <= 64 ? text
                              : emit_text(e, i ? "(uint64_t)(%s >> 64)" : "(uint64_t)%s", text);
    }
    if (x->op == IR_VAR)
        return emit_expr_bits_of(e, emit_ref(e, x->var), wide_offset(x->var, 64 * i, n), n);
    return emit_text(e, "(%s)[%u]", emit_wide(e, x), i);
}

// --------------------------------------------------------------------------------------------
// Assignments.

static void assign_wide(const struct emit *e, const struct ir_var *v, const struct ir_expr *x) {
    unsigned n = plan_bytes(v->width), offset = 8 * n - v->width;
    if (x->op == IR_VAR && x->var == v)
        return;
    // through a copy: the right side may mention the variable
    unsigned t = e->to->n_temps++;
    emit_open(e, "{");
    emit_line(e, "uint8_t t%u[%u] = {0};", t, n);
    emit_put_bits(e, emit_text(e, "t%u", t), offset, x);
    emit_line(e, "memcpy(%s, t%u, %u);", emit_ref(e, v), t, n);
    emit_close(e, "}");
}

static const char *stored_as(const struct emit *e, const struct ir_var *v) {
    return emit_var_of(e, v)->whole ? emit_ctype(v->width) : emit_storage(v->width);
}

const char *emit_set(const struct emit *e, const struct ir_var *v, const char *value) {
    const struct emit_var *i = emit_var_of(e, v);
    if (i->deferred)
        return emit_text(e, "v->%s = (%s)(%s), v->holds_%s = true", i->name, emit_storage(v->width),
                         value, i->name);
    if (!i->wire)
        return emit_text(e, "%s = (%s)(%s)", i->ref, stored_as(e, v), value);
    if (i->bit == 0 && v->width % 8 == 0 && v->width <= 64)
        return emit_text(e, "sk_store_bytes(%s, %u, %s)", i->wire, v->width / 8, value);
    if (i->word.bytes)
        return emit_text(e, "sk_word_put(%s - %u, %u, %u, %u, %s)", i->wire,
                         v->bit_offset / 8 - i->word.byte, i->word.bytes, i->word.bit, v->width,
                         value);
    return emit_text(e, "%s(%s, %u, %u, %s)", v->width <= 64 ? "sk_bits_put" : "sk_bits_put128",
                     i->wire, i->bit, v->width, value);
}

void emit_assign(const struct emit *e, const struct ir_var *v, const struct ir_expr *x) {
    if (plan_is_wide(v->width))
        assign_wide(e, v, x);
    else if (emit_var_of(e, v)->wire)
        emit_line(e, "%s;", emit_set(e, v, emit_expr(e, x)));
    else if (v->width <= 16 && x->op != IR_CONST)
        emit_line(e, "%s = (%s)%s;", emit_ref(e, v), stored_as(e, v), emit_expr(e, x));
    else
        emit_line(e, "%s = %s;", emit_ref(e, v), emit_expr(e, x));
}

void emit_assign_slice(const struct emit *e, const struct ir_var *v, unsigned lo, unsigned width,
                       const struct ir_expr *x) {
    if (plan_is_wide(v->width)) {
        emit_put_bits(e, emit_ref(e, v), wide_offset(v, lo, width), x);
        return;
    }
    const char *mask =
        emit_text(e, "((%s)%s << %u)", emit_ctype(v->width), mask_const(e, width), lo);
    const char *value = emit_text(e, "(%s & ~%s) | %s << %u", var_value(e, v), mask,
                                  cast(e, emit_expr(e, x), width, v->width), lo);
    emit_line(e, "%s;", emit_set(e, v, value));
}

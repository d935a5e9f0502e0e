// SPDX-License-Identifier: Apache-2.0
//
// pcounter: ParserCounter (tna-facts 4.10): a signed 8-bit variable. What leaves its range
// raises parser error CTR_RANGE.
#include "compiler/lower/lower_impl.h"

#include <string.h>

#define CTR_RANGE    0x0004u // parser error bit (tna-facts 5.2)
#define COUNTER_BITS 8u
#define STACK_DEPTH  4u

static struct value *lower_pcounter_none(struct lower *lw, struct expr *e) {
    return value_zero(lw, env_type(lw, e->type), e->at);
}

// The counter and, on a Tofino 2, the values below it, made when they are first needed.
static struct ir_var *counter_var(struct lower *lw, struct object *o, unsigned depth) {
    if (!o->counters[depth]) {
        size_t root = strlen(lw->pipeline->name) + 1;
        const char *name = strlen(o->name) > root ? o->name + root : o->name;
        if (depth > 0)
            name = arena_printf(lw->a, "%s.$%u", name, depth);
        o->counters[depth] = var_new(lw, name, COUNTER_BITS, true, o->at);
    }
    return o->counters[depth];
}

static struct ir_expr *counter_value(struct lower *lw, struct object *o) {
    return ir_ref(lw->a, counter_var(lw, o, 0));
}

static struct ir_expr *byte_const(struct lower *lw, uint64_t v) {
    return ir_const_u64(lw->a, COUNTER_BITS, v);
}

// Bits 'at' to at + 8 of a header, counted from its first.
static struct ir_expr *lower_pcounter_header_byte(struct lower *lw, const struct ir_header *h,
                                                  unsigned at) {
    struct ir_expr *byte = NULL;
    unsigned from = 0;
    for (size_t i = 0; i < h->fields.n && from < at + COUNTER_BITS; i++) {
        struct ir_var *f = h->fields.v[i];
        const unsigned end = from + f->width, lo = from > at ? from : at,
                       hi = end < at + COUNTER_BITS ? end : at + COUNTER_BITS;
        if (lo < hi) {
            struct ir_expr *part = ir_slice(lw->a, ir_ref(lw->a, f), end - hi, hi - lo);
            byte = byte ? ir_binary(lw->a, IR_CONCAT, byte, part) : part;
        }
        from = end;
    }
    return byte;
}

// The parser loads a byte of the packet: all of that in which a narrower field lies (the vendor's
// parser_counter_9 and _10; a mask takes the rest away).
static struct ir_expr *lower_pcounter_loaded(struct lower *lw, struct ir_expr *x) {
    unsigned at = 0;
    if (x->width >= COUNTER_BITS)
        return x;
    if (x->op == IR_LOOKAHEAD) {
        at = x->lo;
    } else if (x->op == IR_VAR && x->var->header) {
        const struct ir_header *h = x->var->header;
        for (size_t i = 0; i < h->fields.n && h->fields.v[i] != x->var; i++)
            at += h->fields.v[i]->width;
    } else {
        return x;
    }
    const unsigned byte = at / COUNTER_BITS * COUNTER_BITS;
    if (at + x->width > byte + COUNTER_BITS)
        return x;
    return x->op == IR_LOOKAHEAD ? ir_lookahead(lw->a, COUNTER_BITS, byte)
                                 : lower_pcounter_header_byte(lw, x->var->header, byte);
}

// A number of at most 8 bits, whatever zeros are before it.
static struct ir_expr *lower_pcounter_byte_of(struct lower *lw, struct expr *e) {
    struct ir_expr *x = eval_bits(lw, e);
    while (x->op == IR_ZEXT ||
           (x->op == IR_CONCAT && x->a->op == IR_CONST && big_sign(x->a->value) == 0))
        x = x->op == IR_ZEXT ? x->a : x->b;
    if (x->op == IR_CONST && big_bits(x->value) <= COUNTER_BITS)
        return ir_const(lw->a, COUNTER_BITS, x->value);
    x = lower_pcounter_loaded(lw, x);
    if (x->width <= COUNTER_BITS)
        return ir_resize(lw->a, x, COUNTER_BITS, false);
    lower_error(lw, e->at, "a parser counter takes 8 bits; this value has %u", x->width);
    return byte_const(lw, 0);
}

static bool byte_arg(struct lower *lw, struct expr *e, size_t i, const char *what, uint64_t *out) {
    struct expr *arg = bound_arg(e, i);
    if (!arg || !eval_const_u64(lw, arg, what, out))
        return false;
    if (*out <= UINT8_MAX)
        return true;
    lower_error(lw, arg->at, "the %s is %llu; at most 255", what, (unsigned long long)*out);
    return false;
}

static void put_raise(struct lower *lw, struct ir_expr *condition, unsigned error, struct loc at) {
    struct ir_block *outer = lw->block, *b = ir_block_new(lw->a);
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_RAISE, at);
    s->lo = error;
    lw->block = b;
    put(lw, s);
    lw->block = outer;
    put_if(lw, condition, b, NULL, at);
}

// (field rotated right) & mask, plus add; 'max' bounds the field itself.
static struct ir_expr *lower_pcounter_adjusted(struct lower *lw, struct ir_expr *field,
                                               struct expr *e, bool mask_is_number) {
    uint64_t max, rotate, mask, add;
    if (!byte_arg(lw, e, 1, "maximum of a parser counter", &max) ||
        !byte_arg(lw, e, 2, "rotation of a parser counter", &rotate) ||
        !byte_arg(lw, e, 3, "mask of a parser counter", &mask) ||
        !byte_arg(lw, e, 4, "addend of a parser counter", &add))
        return field;
    if (rotate >= COUNTER_BITS)
        lower_error(lw, e->at, "a parser counter rotates by at most 7 bits");
    if (max < UINT8_MAX) {
        field = value_snapshot(lw, value_bits(lw, NULL, field), e->at)->e;
        put_raise(lw, ir_binary(lw->a, IR_ULT, byte_const(lw, max), field), CTR_RANGE, e->at);
    }
    if (mask_is_number && mask < COUNTER_BITS)
        mask = (UINT64_C(2) << mask) - 1;
    if (rotate % COUNTER_BITS) {
        unsigned n = (unsigned)rotate % COUNTER_BITS;
        field = ir_binary(lw->a, IR_CONCAT, ir_slice(lw->a, field, 0, n),
                          ir_slice(lw->a, field, n, COUNTER_BITS - n));
    }
    field = ir_binary(lw->a, IR_AND, field, byte_const(lw, mask));
    return ir_binary(lw->a, IR_ADD, field, byte_const(lw, add));
}

static bool true_arg(struct lower *lw, struct expr *e, size_t i) {
    big v = bound_arg(e, i) ? eval_const(lw, bound_arg(e, i), "'update_with_top'") : NULL;
    return v && big_sign(v) != 0;
}

// set(value), set(field, max, rotate, mask, add); push has the same, and update_with_top.
static void lower_pcounter_load(struct lower *lw, struct object *o, struct expr *e, bool push) {
    if (!bound_arg(e, 0))
        return;
    bool whole = !bound_arg(e, 2);
    if (push && true_arg(lw, e, whole ? 1 : 5)) {
        lower_unsupported(lw, e->at, "'update_with_top' of a parser counter");
        return;
    }
    struct ir_expr *v = lower_pcounter_byte_of(lw, bound_arg(e, 0));
    // the mask is a number of bits on a Tofino 1, where its type has three
    if (!whole)
        v = lower_pcounter_adjusted(lw, v, e, scalar_width(lw, bound_arg(e, 3)->type, e->at) == 3);
    for (unsigned i = push ? STACK_DEPTH : 0; i > 0; i--)
        assign_var(lw, counter_var(lw, o, i), ir_ref(lw->a, counter_var(lw, o, i - 1)), e->at);
    assign_var(lw, counter_var(lw, o, 0), v, e->at);
}

static void pop(struct lower *lw, struct object *o, struct loc at) {
    for (unsigned i = 0; i < STACK_DEPTH; i++)
        assign_var(lw, counter_var(lw, o, i), ir_ref(lw->a, counter_var(lw, o, i + 1)), at);
}

static void lower_pcounter_count(struct lower *lw, struct object *o, struct expr *e,
                                 enum ir_op op) {
    uint64_t n;
    if (byte_arg(lw, e, 0, "step of a parser counter", &n))
        assign_var(lw, counter_var(lw, o, 0),
                   ir_binary(lw->a, op, counter_value(lw, o), byte_const(lw, n)), e->at);
}

struct value *pcounter_method(struct lower *lw, struct object *o, struct expr *e) {
    const char *name = e->a->name;
    if (strcmp(name, "is_zero") == 0)
        return value_bits(lw, env_type(lw, e->type),
                          ir_binary(lw->a, IR_EQ, counter_value(lw, o), byte_const(lw, 0)));
    if (strcmp(name, "is_negative") == 0)
        return value_bits(lw, env_type(lw, e->type),
                          ir_slice(lw->a, counter_value(lw, o), COUNTER_BITS - 1, 1));
    if (strcmp(name, "set") == 0 || strcmp(name, "push") == 0)
        lower_pcounter_load(lw, o, e, name[0] == 'p');
    else if (strcmp(name, "pop") == 0)
        pop(lw, o, e->at);
    else if (strcmp(name, "increment") == 0)
        lower_pcounter_count(lw, o, e, IR_ADD);
    else if (strcmp(name, "decrement") == 0)
        lower_pcounter_count(lw, o, e, IR_SUB);
    else
        lower_unsupported(lw, e->at, "'%s' of a parser counter", name);
    return lower_pcounter_none(lw, e);
}

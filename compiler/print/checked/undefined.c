// SPDX-License-Identifier: Apache-2.0
//
// undefined: which bits of an expression are undefined, and where such a bit is used. See
// checked.h.
#include "compiler/print/checked/checked_impl.h"

#include <string.h>

// --------------------------------------------------------------------------------------------
// Masks of expressions: C text of the expression's type, of a flag when it is wide; null: defined.

// Deparsers select what to send by fields with validity of their own, without asking whether they
// are set, and send the fields of headers that need not be valid.
static bool always_readable(const struct emit *e) {
    return e->user == e->g->deparser;
}

static const char *readable(const struct emit *e, const struct ir_var *v) {
    const struct ir_var *valid = v->header ? v->header->valid : v->valid;
    return valid && !always_readable(e) ? emit_ref(e, valid) : NULL;
}

static const char *undefined_var(const struct emit *e, const struct ir_var *v) {
    const char *type = emit_is_wide(v->width) ? "uint32_t" : emit_ctype(v->width);
    const char *mask =
        emit_var_of(e, v)->masked ? emit_text(e, "(%s)%s", type, emit_mask_of(e, v)) : NULL;
    const char *valid = readable(e, v);
    if (v->valid && always_readable(e))
        return NULL;
    if (!valid)
        return mask;
    return emit_text(e, "(%s ? %s : (%s)%s)", valid, mask ? mask : "0", type,
                     emit_all_undefined(e, v));
}

static const char *either(const struct emit *e, const char *a, const char *b, const char *op) {
    return !a ? b : !b ? a : emit_text(e, "(%s %s %s)", a, op, b);
}

const char *emit_undefined_flag(const struct emit *e, const struct ir_expr *x) {
    const char *u = emit_undefined(e, x);
    return u && !emit_is_wide(x->width) ? emit_text(e, "(%s != 0)", u) : u;
}

static const char *undefined_slice(const struct emit *e, const struct ir_expr *x) {
    const char *u = emit_undefined(e, x->a);
    if (!u || emit_is_wide(x->width))
        return u;
    if (emit_is_wide(x->a->width))
        return emit_text(e, "(%s ? %s : 0)", u, emit_ones(e, x->width));
    return emit_text(e, "((%s)(%s >> %u) & %s)", emit_ctype(x->width), u, x->lo,
                     emit_ones(e, x->width));
}

static const char *undefined_concat(const struct emit *e, const struct ir_expr *x) {
    if (emit_is_wide(x->width))
        return either(e, emit_undefined_flag(e, x->a), emit_undefined_flag(e, x->b), "|");
    const char *a = emit_undefined(e, x->a), *b = emit_undefined(e, x->b),
               *type = emit_ctype(x->width);
    if (a)
        a = emit_text(e, "((%s)%s << %u)", type, a, x->b->width);
    if (b)
        b = emit_text(e, "(%s)%s", type, b);
    return either(e, a, b, "|");
}

// One side is a constant: a bit that it decides is defined.
static const char *undefined_by_const(const struct emit *e, const struct ir_expr *x) {
    const struct ir_expr *c = x->a->op == IR_CONST ? x->a : x->b;
    const char *u = emit_undefined(e, c == x->a ? x->b : x->a);
    if (!u || emit_is_wide(x->width))
        return u;
    return emit_text(e, "(%s & %s%s)", u, x->op == IR_OR ? "~" : "",
                     emit_const(e, c->value, x->width));
}

static const char *undefined_shift(const struct emit *e, const struct ir_expr *x) {
    const char *u = emit_undefined(e, x->a);
    if (!u || x->b->op != IR_CONST || !big_fits_u64(x->b->value) ||
        big_to_u64(x->b->value) >= x->width)
        return NULL;
    if (emit_is_wide(x->width))
        return u;
    return emit_text(e, "((%s)(%s %s %u) & %s)", emit_ctype(x->width), u,
                     x->op == IR_SHL ? "<<" : ">>", (unsigned)big_to_u64(x->b->value),
                     emit_ones(e, x->width));
}

static const char *undefined_extension(const struct emit *e, const struct ir_expr *x) {
    const char *u = emit_undefined(e, x->a);
    if (!u || emit_is_wide(x->width))
        return u ? emit_undefined_flag(e, x->a) : NULL;
    u = emit_text(e, "(%s)%s", emit_ctype(x->width), u);
    if (x->op == IR_ZEXT)
        return u;
    const char *sign = emit_text(e, "((%s)1 << %u)", emit_ctype(x->width), x->a->width - 1);
    return emit_text(e, "(((%s ^ %s) - %s) & %s)", u, sign, sign, emit_ones(e, x->width));
}

const char *emit_undefined(const struct emit *e, const struct ir_expr *x) {
    const char *b, *c;
    switch (x->op) {
    case IR_VAR:
        return undefined_var(e, x->var);
    case IR_NOT:
        return emit_undefined(e, x->a);
    case IR_SLICE:
        return undefined_slice(e, x);
    case IR_ZEXT:
    case IR_SEXT:
        return undefined_extension(e, x);
    case IR_CONCAT:
        return undefined_concat(e, x);
    case IR_AND:
    case IR_OR:
        if (x->a->op == IR_CONST || x->b->op == IR_CONST)
            return undefined_by_const(e, x);
        return either(e, emit_undefined(e, x->a), emit_undefined(e, x->b), "|");
    case IR_XOR:
        return either(e, emit_undefined(e, x->a), emit_undefined(e, x->b), "|");
    case IR_SHL:
    case IR_LSHR:
        return undefined_shift(e, x);
    case IR_COND:
        b = emit_undefined(e, x->b);
        c = emit_undefined(e, x->c);
        return b || c ? emit_text(e, "(%s ? %s : %s)", emit_cond(e, x->a), b ? b : "0", c ? c : "0")
                      : NULL;
    default:
        return NULL;
    }
}

// --------------------------------------------------------------------------------------------
// Uses: a C condition that says whether an undefined bit is used inside of the expression (not:
// whether its result has one); null: never.

const char *emit_used_or_undefined(const struct emit *e, const struct ir_expr *x) {
    return x ? either(e, emit_used(e, x), emit_undefined_flag(e, x), "||") : NULL;
}

static const char *used_if(const struct emit *e, const char *cond, const char *use) {
    return use ? emit_text(e, "(%s && %s)", cond, use) : NULL;
}

const char *emit_used(const struct emit *e, const struct ir_expr *x) {
    const char *cond;
    switch (x->op) {
    case IR_CONST:
    case IR_VAR:
    case IR_LOOKAHEAD:
        return NULL;
    case IR_NOT:
    case IR_SLICE:
    case IR_ZEXT:
    case IR_SEXT:
        return emit_used(e, x->a);
    case IR_CONCAT:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
        return either(e, emit_used(e, x->a), emit_used(e, x->b), "||");
    case IR_SHL:
    case IR_LSHR:
        if (x->b->op == IR_CONST)
            return emit_used(e, x->a);
        return either(e, emit_used_or_undefined(e, x->a), emit_used_or_undefined(e, x->b), "||");
    case IR_COND:
        cond = emit_text(e, "(%s)", emit_cond(e, x->a));
        return either(e, emit_used_or_undefined(e, x->a),
                      either(e, used_if(e, cond, emit_used(e, x->b)),
                             used_if(e, emit_text(e, "!%s", cond), emit_used(e, x->c)), "||"),
                      "||");
    case IR_LAND:
    case IR_LOR:
        cond = emit_text(e, "%s(%s)", x->op == IR_LOR ? "!" : "", emit_cond(e, x->a));
        return either(e, emit_used_or_undefined(e, x->a),
                      used_if(e, cond, emit_used_or_undefined(e, x->b)), "||");
    default:
        return either(e, emit_used_or_undefined(e, x->a), emit_used_or_undefined(e, x->b), "||");
    }
}

// ---- whose fault it was: 3 * number of the name + what is wrong with it, 0: unknown ----

enum { FAULT_UNDEFINED, FAULT_INVALID, FAULT_NOT_SET };

typedef VEC(const char *) name_vec;

static const char *culprit(const struct emit *e, const struct ir_expr *x, name_vec *names);

static const char *culprit_var(const struct emit *e, const struct ir_var *v, name_vec *names) {
    const char *u = undefined_var(e, v), *valid = readable(e, v);
    if (!u)
        return "0";
    VEC_PUSH(e->a, names, emit_shown_name(e, v->name));
    unsigned n = 3 * (unsigned)names->n;
    if (!valid)
        return emit_text(e, "(%s != 0 ? %u : 0)", u, n + FAULT_UNDEFINED);
    return emit_text(e, "(%s != 0 ? %s ? %u : %u : 0)", u, valid, n + FAULT_UNDEFINED,
                     n + (v->header ? FAULT_INVALID : FAULT_NOT_SET));
}

static const char *culprit(const struct emit *e, const struct ir_expr *x, name_vec *names) {
    if (!x)
        return "0";
    if (x->op == IR_VAR)
        return culprit_var(e, x->var, names);
    const char *a = culprit(e, x->a, names), *b = culprit(e, x->b, names);
    const char *c = culprit(e, x->c, names);
    if (x->op == IR_COND)
        b = strcmp(b, "0") == 0 && strcmp(c, "0") == 0
                ? "0"
                : emit_text(e, "(%s ? %s : %s)", emit_cond(e, x->a), b, c);
    if (strcmp(a, "0") == 0)
        return b;
    return strcmp(b, "0") == 0 ? a : emit_text(e, "(%s ?: %s)", a, b);
}

// Reports when 'cond' holds, naming a variable of 'x'.
void emit_report_use(const struct emit *e, const char *cond, const struct ir_expr *x,
                     struct loc at) {
    name_vec names = {0};
    if (!cond)
        return;
    emit_open(e, "if (__builtin_expect(%s, 0)) {", cond);
    emit_place(e, "at", at);
    const char *which = culprit(e, x, &names);
    emit_line(e, "const unsigned which = %s;", which);
    const char *list = emit_string(e, "a value");
    for (size_t i = 0; i < names.n; i++)
        list = emit_text(e, "%s, %s", list, emit_string(e, names.v[i]));
    emit_line(e, "static const char *const names[] = {%s};", list);
    emit_line(e,
              "sk_report(v->packet, %s, which %% 3 == 1 ? SK_VIOLATION_INVALID_HEADER : which %% 3 "
              "== 2 ? SK_VIOLATION_NOT_SET : SK_VIOLATION_UNDEFINED, &at, names[which / 3], 0, "
              "NULL);",
              emit_gress_name(e));
    emit_close(e, "}");
}

// The value matters here, all of it.
void emit_use(const struct emit *e, const struct ir_expr *x) {
    if (x)
        emit_report_use(e, emit_used_or_undefined(e, x), x, e->at);
}

void emit_use_all(const struct emit *e, const ir_expr_vec *args) {
    for (size_t i = 0; i < args->n; i++)
        emit_use(e, args->v[i]);
}

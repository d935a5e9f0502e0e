// SPDX-License-Identifier: Apache-2.0
//
// expr: what one ALU can read and compute.
//
// An ALU has two sides. Its A side reads a word of the memory or a constant, its B side one of the
// two PHV inputs, a constant or, of the low word, the math unit; constants of both sides are one.
// Operators exist in both orders, so what counts is that an instruction has at most one memory
// word, one PHV input and one constant. The chip's compiler lets other pairs through ('value.lo +
// value.hi', 'hdr.a + hdr.b'); its assembler does not, and neither does this.
#include "compiler/chip/salu/salu_impl.h"
#include "compiler/chip/report_add.h"

void salu_refuse(struct salu_action *x, const char *rule, const char *message,
                 const char *suggestion) {
    if (!x->failed)
        chip_violate(x->r, rule, x->at, message, suggestion);
    x->failed = true;
}

const char *salu_name(const struct salu_action *x) {
    return x->ra->name;
}

// Widening with zeros costs nothing: a narrower operand fills the low bits.
static const struct ir_expr *narrow(const struct ir_expr *e) {
    for (;;)
        if (e->op == IR_ZEXT)
            e = e->a;
        else if (e->op == IR_CONCAT && ir_is_const(e->a) && big_sign(e->a->value) == 0)
            e = e->b;
        else
            return e;
}

static bool is_phv_only(struct salu_action *x, const struct ir_expr *e) {
    switch (e->op) {
    case IR_VAR:
        return !salu_var_of(x->vars, e->var);
    case IR_CONST:
        return true;
    case IR_SLICE:
    case IR_ZEXT:
    case IR_SEXT:
        return is_phv_only(x, e->a);
    case IR_CONCAT:
    case IR_XOR:
        return is_phv_only(x, e->a) && is_phv_only(x, e->b);
    case IR_AND:
    case IR_OR:
        return (ir_is_const(e->a) || ir_is_const(e->b)) && is_phv_only(x, e->a) &&
               is_phv_only(x, e->b);
    default:
        return false;
    }
}

static bool read_const(struct salu_action *x, const struct ir_expr *e, struct salu_operand *o) {
    big v = x->ra->reg->is_signed ? big_wrap_s(x->r->arena, e->value, e->width) : e->value;
    o->source = SALU_CONST;
    o->value = big_to_i64(v);
    return true;
}

static bool salu_expr_read_var(struct salu_action *x, const struct ir_expr *e,
                               struct salu_operand *o) {
    const struct salu_var *v = salu_var_of(x->vars, e->var);
    if (!v) {
        o->source = SALU_PHV;
        o->e = e;
        return true;
    }
    if (v->kind == SALU_VALUE) {
        o->source = SALU_MEMORY;
        o->word = v->index;
        return true;
    }
    for (size_t i = 0; i < x->copies.n; i++)
        if (x->copies.v[i] == e->var) {
            *o = x->copied.v[i];
            return true;
        }
    o->source = SALU_HIGH;
    if (v->kind == SALU_LOCAL)
        return true;
    salu_refuse(
        x, "salu-result",
        arena_printf(x->r->arena, "register action '%s' reads its result", salu_name(x)),
        "an ALU's output cannot come back into it: use the expression that computes the result");
    return false;
}

// (a >> 8)[7:0] is a[15:8].
static const struct ir_expr *without_shift(struct salu_action *x, const struct ir_expr *e) {
    const struct ir_expr *a = e->a;
    if (a->op != IR_LSHR || !ir_is_const(a->b) || !big_fits_u64(a->b->value))
        return e;
    uint64_t by = big_to_u64(a->b->value);
    if (by >= a->a->width || e->lo + by + e->width > a->a->width)
        return e;
    const struct ir_expr *s = ir_slice(x->r->arena, a->a, e->lo + (unsigned)by, e->width);
    return s->op == IR_SLICE ? s : e;
}

bool salu_operand(struct salu_action *x, const struct ir_expr *e, struct salu_operand *o) {
    *o = (struct salu_operand){0};
    e = narrow(e);
    switch (e->op) {
    case IR_CONST:
        return read_const(x, e, o);
    case IR_VAR:
        return salu_expr_read_var(x, e, o);
    case IR_REG_PARAM:
        o->source = SALU_PARAM;
        o->param = e->param;
        return true;
    case IR_MATH_UNIT:
        o->source = SALU_MATH;
        o->e = narrow(e->a);
        return true;
    case IR_SLICE:
        e = without_shift(x, e);
        if (e->a->op == IR_VAR && !salu_var_of(x->vars, e->a->var)) {
            o->source = SALU_PHV;
            o->e = e;
            return true;
        }
        return e->lo == 0 && e->a->op == IR_VAR && salu_expr_read_var(x, e->a, o);
    case IR_SEXT:
    case IR_CONCAT:
        if (!is_phv_only(x, e))
            return e->op == IR_SEXT && salu_operand(x, e->a, o);
        o->source = SALU_HASHED;
        o->e = e;
        return true;
    default:
        return false;
    }
}

bool salu_same_operand(const struct salu_operand *a, const struct salu_operand *b) {
    if (a->source != b->source || a->neg != b->neg || a->word != b->word || a->value != b->value ||
        a->param != b->param || !a->mask != !b->mask || (a->mask && big_cmp(a->mask, b->mask) != 0))
        return false;
    return a->e == b->e || (a->e && b->e && ir_same(a->e, b->e));
}

const char *salu_operand_text(struct arena *a, const struct salu_operand *o) {
    switch (o->source) {
    case SALU_MEMORY:
        return o->word ? "the second word's old value" : "the register's old value";
    case SALU_NEW:
        return o->word ? "the second word's new value" : "the register's new value";
    case SALU_PHV:
    case SALU_HASHED:
        return arena_printf(a, "'%s'", ir_source_text(a, o->e));
    case SALU_CONST:
        return arena_printf(a, "%lld", (long long)o->value);
    case SALU_PARAM:
        return arena_printf(a, "'%s'", o->param->name);
    case SALU_MATH:
        return "the math unit";
    case SALU_COMPARE: // a constant is its shifted form
        return o->value > 0 ? arena_printf(a, "%lld", (long long)o->value)
                            : "the result of the comparisons";
    case SALU_HIGH:
        break;
    }
    return "the result of the free ALU";
}

// ---- operators ----------------------------------------------------------------------------------

static void too_complex(struct salu_action *x, const char *why) {
    salu_refuse(x, "salu-operator",
                arena_printf(x->r->arena, "register action '%s': %s", salu_name(x), why),
                "an ALU does one operation on a word of the register and one PHV field or "
                "constant: +, -, |+|, |-|, &, |, ^, ~, min or max; compute the rest in an earlier "
                "table, and pass it in a field");
}

static bool is_operator(enum ir_op op) {
    switch (op) {
    case IR_ADD:
    case IR_SUB:
    case IR_UADD_SAT:
    case IR_USUB_SAT:
    case IR_SADD_SAT:
    case IR_SSUB_SAT:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
    case IR_UMIN:
    case IR_UMAX:
    case IR_SMIN:
    case IR_SMAX:
    case IR_NEG:
        return true;
    default:
        return false;
    }
}

static const char *what_is(const struct ir_expr *e) {
    switch (e->op) {
    case IR_SHL:
    case IR_LSHR:
    case IR_ASHR:
        return "an ALU does not shift";
    case IR_MUL:
    case IR_UDIV:
    case IR_UMOD:
        return "an ALU does not multiply or divide; a MathUnit does, roughly";
    case IR_SLICE:
        return "an ALU does not slice the register's value or a result";
    case IR_CONCAT:
        return "an ALU does not concatenate bits with the register's value";
    case IR_COND:
        return "a conditional expression must be the whole right side of an assignment, or the "
               "last operand";
    default:
        return ir_is_condition(e->op)
                   ? "a comparison can be a condition or the result, but not an operand"
                   : "this is more than one operation";
    }
}

static bool salu_expr_leaf(struct salu_action *x, const struct ir_expr *e, struct salu_operand *o) {
    if (salu_operand(x, e, o))
        return true;
    too_complex(x, what_is(narrow(e)));
    return false;
}

// Subtraction of an unsigned constant is addition of its complement, a large constant, as the
// chip's compiler has it.
static void add_negative(struct salu_action *x, struct salu_instr *in, unsigned width) {
    struct salu_operand *k = &in->operands[1];
    if (in->op != IR_SUB || k->source != SALU_CONST)
        return;
    in->op = IR_ADD;
    if (x->ra->reg->is_signed)
        k->value = -k->value;
    else if (k->value != 0)
        k->value = width >= 64 ? -k->value : (INT64_C(1) << width) - k->value;
}

// One of each source at most.
static bool sides_fit(struct salu_action *x, const struct salu_instr *in) {
    unsigned memory = 0, phv = 0;
    const struct salu_operand *k = NULL;
    for (unsigned i = 0; i < in->n; i++) {
        const struct salu_operand *o = &in->operands[i];
        memory += o->source == SALU_MEMORY;
        phv += o->source == SALU_PHV || o->source == SALU_HASHED || o->source == SALU_MATH;
        if (o->source == SALU_HIGH) {
            salu_refuse(
                x, "salu-local",
                arena_printf(
                    x->r->arena,
                    "register action '%s' computes with a local variable that is itself computed",
                    salu_name(x)),
                "the result of an ALU can be stored or returned, but no other ALU can use it: "
                "compute it in an earlier table");
            return false;
        }
        if (o->source != SALU_CONST && o->source != SALU_PARAM)
            continue;
        if (k && !salu_same_operand(k, o)) {
            too_complex(x, "an ALU has one constant or RegisterParam, not two");
            return false;
        }
        k = o;
    }
    if (memory > 1)
        too_complex(x, "an ALU reads one word of the register, not both");
    else if (phv > 1)
        too_complex(x, "an ALU reads one PHV field (or the math unit), not two");
    return !x->failed;
}

static int complement_of(int op) {
    switch (op & ~(SALU_NOT | SALU_NOT_A | SALU_NOT_B)) {
    case SALU_MOVE:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
        return op ^ SALU_NOT;
    default:
        return -1;
    }
}

static const struct ir_expr *without_not(const struct ir_expr *e, int *op, int flag) {
    const struct ir_expr *n = narrow(e);
    if (n->op != IR_NOT)
        return e;
    *op |= flag;
    return n->a;
}

bool salu_compute(struct salu_action *x, const struct ir_expr *e, struct salu_instr *in) {
    e = narrow(e);
    if (e->op == IR_NOT && !ir_is_condition(e->a->op)) {
        if (!salu_compute(x, e->a, in))
            return false;
        in->op = complement_of(in->op);
        if (in->op < 0)
            too_complex(x, "this is more than one operation");
        return !x->failed;
    }
    if (!is_operator(e->op)) {
        in->op = SALU_MOVE;
        in->n = 1;
        return salu_expr_leaf(x, e, &in->operands[0]) && sides_fit(x, in);
    }
    in->op = (int)e->op;
    if (e->op == IR_NEG) { // 0 - a
        in->op = IR_SUB;
        in->n = 2;
        in->operands[0] = (struct salu_operand){.source = SALU_CONST};
        return salu_expr_leaf(x, e->a, &in->operands[1]) && sides_fit(x, in);
    }
    const struct ir_expr *a = e->a, *b = e->b;
    if (e->op == IR_AND || e->op == IR_OR || e->op == IR_XOR) {
        a = without_not(a, &in->op, SALU_NOT_A);
        b = without_not(b, &in->op, SALU_NOT_B);
    }
    in->n = 2;
    if (!salu_expr_leaf(x, a, &in->operands[0]) || !salu_expr_leaf(x, b, &in->operands[1]))
        return false;
    add_negative(x, in, e->width);
    return sides_fit(x, in);
}

// ---- comparisons --------------------------------------------------------------------------------

static void bad_compare(struct salu_action *x, const char *why) {
    salu_refuse(x, "salu-comparison",
                arena_printf(x->r->arena, "register action '%s': %s", salu_name(x), why),
                "a comparison adds or subtracts one word of the register, one PHV field and one "
                "constant, and compares the sum with 0");
}

struct sum {
    struct salu_operand o[2 * SALU_MAX_OPERANDS];
    unsigned n;
};

static bool add_term(struct salu_action *x, const struct ir_expr *e, bool neg, big mask,
                     struct sum *s) {
    struct salu_operand o;
    e = narrow(e);
    if (e->op == IR_SLICE && e->a->op == IR_VAR && salu_var_of(x->vars, e->a->var)) {
        salu_refuse(
            x, "salu-slice",
            arena_printf(
                x->r->arena,
                "register action '%s' tests only some bits of the register's value in a condition",
                salu_name(x)),
            "an ALU compares whole words: keep those bits in a word or a register of their own");
        return false;
    }
    if (!salu_operand(x, e, &o)) {
        if (!x->failed)
            bad_compare(x, e->op == IR_ADD || e->op == IR_SUB || e->op == IR_NEG
                               ? "a side of a comparison has one + or - at most"
                           : is_operator(e->op) || e->op == IR_NOT
                               ? "a comparison can only add and subtract"
                               : what_is(e));
        return false;
    }
    if (o.source == SALU_CONST && o.value == 0 && !mask)
        return true;
    if (o.source == SALU_HIGH)
        bad_compare(x, "an ALU cannot test a local variable that it computes itself");
    else if (o.source == SALU_MATH)
        bad_compare(x, "the math unit's result can only be stored");
    o.neg = neg;
    o.mask = mask;
    if (o.source == SALU_CONST && neg) {
        o.value = -o.value;
        o.neg = false;
    }
    s->o[s->n++] = o;
    return !x->failed;
}

static bool add_masked(struct salu_action *x, const struct ir_expr *e, bool neg, struct sum *s) {
    const struct ir_expr *mask = ir_is_const(e->b) ? e->b : e->a;
    const struct ir_expr *of = mask == e->b ? e->a : e->b;
    if (!ir_is_const(mask)) {
        bad_compare(x, "a mask in a condition must be a constant");
        return false;
    }
    if (x->r->target == CHIP_TOFINO1) {
        // The chip's compiler lets masks through; its assembler has none for this chip.
        salu_refuse(
            x, "salu-mask",
            arena_printf(x->r->arena, "register action '%s' masks an operand of a comparison",
                         salu_name(x)),
            "comparisons of a Tofino 1 have no masks: use a slice of a PHV field; keep those bits "
            "of the register's value in a word of their own");
        return false;
    }
    return add_term(x, of, neg, mask->value, s);
}

// One side of a comparison.
static bool add_side(struct salu_action *x, const struct ir_expr *e, bool neg, struct sum *s) {
    struct ir_expr k;
    e = narrow(e);
    switch (e->op) {
    case IR_ADD:
        return add_term(x, e->a, neg, NULL, s) && add_term(x, e->b, neg, NULL, s);
    case IR_SUB:
        if (!ir_is_const(e->b) || x->ra->reg->is_signed)
            return add_term(x, e->a, neg, NULL, s) && add_term(x, e->b, !neg, NULL, s);
        k = *e->b; // as add_negative
        k.value = big_wrap_u(x->r->arena, big_neg(x->r->arena, k.value), k.width);
        return add_term(x, e->a, neg, NULL, s) && add_term(x, &k, neg, NULL, s);
    case IR_NEG:
        return add_term(x, e->a, !neg, NULL, s);
    case IR_AND:
        return add_masked(x, e, neg, s);
    default:
        return add_term(x, e, neg, NULL, s);
    }
}

static bool is_unsigned_order(enum ir_op op) {
    return op == IR_ULT || op == IR_ULE;
}

static bool compare_fits(struct salu_action *x, const struct ir_expr *e, const struct sum *s) {
    unsigned memory = 0, phv = 0, constants = 0;
    for (unsigned i = 0; i < s->n; i++) {
        memory += s->o[i].source == SALU_MEMORY;
        phv += s->o[i].source == SALU_PHV || s->o[i].source == SALU_HASHED;
        constants += s->o[i].source == SALU_CONST || s->o[i].source == SALU_PARAM;
        if (x->r->target == CHIP_TOFINO1 && s->o[i].source == SALU_CONST &&
            is_unsigned_order(e->op) && (s->o[i].value > INT_MAX || s->o[i].value < INT_MIN))
            salu_refuse(
                x, "salu-constant",
                arena_printf(x->r->arena,
                             "register action '%s' compares unsigned numbers with %lld; such a "
                             "constant has 32 bits and a sign",
                             salu_name(x),
                             (long long)(s->o[i].value < 0 ? -s->o[i].value : s->o[i].value)),
                "compare with a number below 2^31, or pass the large constant in a PHV field");
    }
    if (memory > 1)
        bad_compare(x, "a comparison reads one word of the register, not both");
    else if (phv > 1)
        bad_compare(x, "a comparison reads one PHV field, not two");
    else if (constants > 1)
        bad_compare(x, "a comparison has one constant or RegisterParam, not two");
    return !x->failed;
}

// ---- conditions ---------------------------------------------------------------------------------

uint64_t salu_outcomes(unsigned i) {
    static const uint64_t runs[SALU_MAX_COMPARES] = {0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc,
                                                     0xf0f0f0f0f0f0f0f0, 0xff00ff00ff00ff00,
                                                     0xffff0000ffff0000, 0xffffffff00000000};
    return runs[i];
}

static bool contrary(enum ir_op a, enum ir_op b, bool *swapped) {
    *swapped = a == IR_ULT || a == IR_ULE || a == IR_SLT || a == IR_SLE;
    return (a == IR_EQ && b == IR_NE) || (a == IR_NE && b == IR_EQ) ||
           (a == IR_ULT && b == IR_ULE) || (a == IR_ULE && b == IR_ULT) ||
           (a == IR_SLT && b == IR_SLE) || (a == IR_SLE && b == IR_SLT);
}

static bool is_contrary(const struct ir_expr *x, const struct ir_expr *y) {
    bool swapped;
    if (!contrary(x->op, y->op, &swapped))
        return false;
    return swapped ? ir_same(x->a, y->b) && ir_same(x->b, y->a)
                   : ir_same(x->a, y->a) && ir_same(x->b, y->b);
}

// Among the comparisons that the action makes anyway?
static bool salu_expr_is_known(const struct salu_action *x, const struct ir_expr *e,
                               uint64_t *holds) {
    for (unsigned i = 0; i < x->n_compared; i++) {
        if (ir_same(x->compared[i], e))
            *holds = salu_outcomes(i);
        else if (is_contrary(x->compared[i], e))
            *holds = ~salu_outcomes(i);
        else
            continue;
        return true;
    }
    return false;
}

static bool new_compare(struct salu_action *x, const struct ir_expr *e, const struct sum *s,
                        uint64_t *holds) {
    struct salu_instr in = {
        .unit = SALU_CMP, .op = (int)e->op, .at = x->at, .predicate = ~UINT64_C(0)};
    *holds = 0;
    if (x->n_compared + x->more_compares == x->r->limits->salu_compares)
        x->excess = x->at;
    if (x->n_compared == SALU_MAX_COMPARES) {
        x->more_compares++;
        return true;
    }
    for (unsigned i = 0; i < s->n && in.n < SALU_MAX_OPERANDS; i++)
        in.operands[in.n++] = s->o[i];
    VEC_PUSH(x->r->arena, &x->instrs, in);
    *holds = salu_outcomes(x->n_compared);
    x->compared[x->n_compared++] = e;
    return true;
}

static bool has_memory(const struct salu_action *x, const struct ir_expr *e) {
    const struct salu_var *v = e->op == IR_VAR ? salu_var_of(x->vars, e->var) : NULL;
    return (v && v->kind == SALU_VALUE) || (e->a && has_memory(x, e->a)) ||
           (e->b && has_memory(x, e->b));
}

// 'value > 5' is '5 < value' here. The side that was written first is not negated, which a constant
// shows: taken for it is the one with the register's value.
static bool is_turned(const struct salu_action *x, const struct ir_expr *e) {
    return e->op != IR_EQ && e->op != IR_NE &&
           (ir_is_const(e->a) || (has_memory(x, e->b) && !has_memory(x, e->a)));
}

static bool salu_expr_ask(struct salu_action *x, const struct ir_expr *e, uint64_t *holds) {
    struct sum s = {.n = 0};
    if (salu_expr_is_known(x, e, holds))
        return true;
    if (ir_is_condition(e->op) && e->op != IR_LAND && e->op != IR_LOR) {
        bool turned = is_turned(x, e);
        if (!add_side(x, turned ? e->b : e->a, false, &s) ||
            !add_side(x, turned ? e->a : e->b, true, &s))
            return false;
    } else if (!add_term(x, e, false, NULL, &s)) {
        return false;
    }
    return compare_fits(x, e, &s) && new_compare(x, e, &s, holds);
}

bool salu_condition(struct salu_action *x, const struct ir_expr *e, uint64_t *holds) {
    uint64_t a, b;
    e = narrow(e);
    switch (e->op) {
    case IR_LAND:
    case IR_LOR:
        if (!salu_condition(x, e->a, &a) || !salu_condition(x, e->b, &b))
            return false;
        *holds = e->op == IR_LAND ? a & b : a | b;
        return true;
    case IR_NOT:
        if (!salu_condition(x, e->a, &a))
            return false;
        *holds = ~a;
        return true;
    case IR_CONST:
        *holds = big_sign(e->value) != 0 ? ~UINT64_C(0) : 0;
        return true;
    default:
        return salu_expr_ask(x, e, holds);
    }
}

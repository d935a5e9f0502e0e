// SPDX-License-Identifier: Apache-2.0
//
// salu: what the body of a register action can call besides operators: RegisterParam,
// MathUnit and this.predicate (tna-facts 4.2, 4.3).
#include "compiler/lower/lower_impl.h"

#include <math.h>
#include <string.h>

static struct type *lower_salu_type_arg(struct lower *lw, const struct object *o) {
    return o->type && o->type->args.n > 0 ? env_type(lw, o->type->args.v[0]) : NULL;
}

static struct value *lower_salu_none(struct lower *lw, struct expr *e) {
    return value_zero(lw, env_type(lw, e->type), e->at);
}

// ---- RegisterParam ------------------------------------------------------------------------------

void reg_param_new(struct lower *lw, struct object *o, struct expr *ctor) {
    struct ir_reg_param *p = ARENA_NEW(lw->a, struct ir_reg_param);
    struct type *t = lower_salu_type_arg(lw, o);
    o->reg_param = p;
    p->name = o->name;
    p->at = o->at;
    p->width = 32;
    if (!t || !is_scalar_type(t)) {
        lower_error(lw, o->at, "a RegisterParam holds one number");
        return;
    }
    p->width = scalar_width(lw, t, o->at);
    p->is_signed = is_signed_type(t);
    if (plain(t)->kind == TY_BOOL || (p->width != 8 && p->width != 16 && p->width != 32))
        lower_error(lw, o->at, "RegisterParam '%s' has %u bits; a stateful ALU takes 8, 16 or 32",
                    o->name, p->width);
    if (!bound_arg(ctor, 0))
        return;
    struct value *v = eval_as(lw, bound_arg(ctor, 0), t);
    if (v->kind != VAL_BITS || !ir_is_const(v->e))
        lower_error(lw, ctor->at,
                    "the initial value of a RegisterParam must be known at compile "
                    "time");
    else
        p->initial = v->e->value;
}

struct value *reg_param_read(struct lower *lw, struct object *o, struct expr *e) {
    struct ir_reg_param *p = o->reg_param;
    struct ir_register *reg =
        lw->salu && lw->salu->regaction ? lw->salu->regaction->reg : lw->written;
    if (p->reg && reg && p->reg != reg) {
        lower_error(lw, e->at,
                    "RegisterParam '%s' is read by actions of register '%s' already; it is in that "
                    "register's stateful ALU, so '%s' needs one of its own",
                    p->name, p->reg->name, reg->name);
        return lower_salu_none(lw, e);
    }
    p->reg = reg;
    return value_bits(lw, env_type(lw, e->type), ir_reg_param_value(lw->a, p));
}

// ---- MathUnit (tna-facts 4.3) -------------------------------------------------------------------

enum math_op { MATH_MUL, MATH_SQR, MATH_SQRT, MATH_DIV, MATH_RSQR, MATH_RSQRT };

static const struct {
    const char *name;
    bool invert;
    int shift;
    double most; // of the function over the mantissas
} math_ops[] = {
    [MATH_MUL] = {"MUL", false, 0, 1.875},
    [MATH_SQR] = {"SQR", false, 1, 3.515625},
    [MATH_SQRT] = {"SQRT", false, -1, 1.36930639376291528364},
    [MATH_DIV] = {"DIV", true, 0, 1.0},
    [MATH_RSQR] = {"RSQR", true, 1, 1.0},
    [MATH_RSQRT] = {"RSQRT", true, -1, 1.41421356237309504880},
};

static double math_function(enum math_op op, double x) {
    switch (op) {
    case MATH_SQR:
        return x * x;
    case MATH_SQRT:
        return sqrt(x);
    case MATH_DIV:
        return 1.0 / x;
    case MATH_RSQR:
        // The chip's compiler computes (1 / x) * x here, so on the chip all mantissas are alike;
        // what runs here gives what runs there.
        return 1.0;
    case MATH_RSQRT:
        return 1.0 / sqrt(x);
    default:
        return x;
    }
}

static bool lower_salu_find_op(struct lower *lw, struct expr *e, enum math_op *op) {
    const struct type *t = plain(e->type);
    big v = eval_const(lw, e, "operation of a MathUnit");
    if (!v || t->kind != TY_ENUM || !big_fits_u64(v) || big_to_u64(v) >= t->decl->members.n)
        return false;
    const char *name = t->decl->members.v[big_to_u64(v)]->name;
    for (size_t i = 0; i < sizeof math_ops / sizeof *math_ops; i++)
        if (strcmp(math_ops[i].name, name) == 0) {
            *op = (enum math_op)i;
            return true;
        }
    return false;
}

static bool positive(struct lower *lw, struct expr *e, const char *what, double *out) {
    uint64_t v;
    if (!eval_const_u64(lw, e, what, &v))
        return false;
    if (v == 0)
        lower_error(lw, e->at, "the %s is 0", what);
    *out = (double)v;
    return v != 0;
}

// MathUnit(op, factor) and MathUnit(op, A, B).
static void math_from_op(struct lower *lw, struct ir_math_unit *m, struct expr *ctor) {
    enum math_op op;
    double factor, divisor = 1.0;
    if (!lower_salu_find_op(lw, bound_arg(ctor, 0), &op) ||
        !positive(lw, bound_arg(ctor, 1), "factor of a MathUnit", &factor) ||
        (bound_arg(ctor, 2) &&
         !positive(lw, bound_arg(ctor, 2), "divisor of a MathUnit", &divisor)))
        return;
    factor /= divisor;
    m->invert = math_ops[op].invert;
    m->shift = math_ops[op].shift;
    double scale = floor(log2(factor * math_ops[op].most)) - 7;
    if (scale > 31 || scale < -32) {
        diag_warning(lw->d, ctor->at, "the scale of this MathUnit is %d; it is limited to -32..31",
                     (int)scale);
        scale = scale > 31 ? 31 : -32;
    }
    m->scale = (int)scale;
    factor *= pow(2.0, -scale);
    for (int i = m->shift >= 0 ? 8 : 4; i < 16; i++) {
        double v = rint(math_function(op, i / 8.0) * factor);
        m->table[i] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
}

static bool small_int(struct lower *lw, struct expr *e, const char *what, int low, int high,
                      int *out) {
    big v = eval_const(lw, e, what);
    if (!v)
        return false;
    bool fits = big_bits(v) <= 8;
    int n = fits ? (int)big_to_u64(big_sign(v) < 0 ? big_neg(lw->a, v) : v) : 0;
    *out = fits && big_sign(v) < 0 ? -n : n;
    if (fits && *out >= low && *out <= high)
        return true;
    lower_error(lw, e->at, "the %s must be %d to %d", what, low, high);
    return false;
}

// MathUnit(invert, shift, scale, {table from entry 15 down}).
static void math_from_table(struct lower *lw, struct ir_math_unit *m, struct expr *ctor) {
    big invert = eval_const(lw, bound_arg(ctor, 0), "inversion of a MathUnit");
    m->invert = invert && big_sign(invert) != 0;
    small_int(lw, bound_arg(ctor, 1), "shift of a MathUnit", -1, 1, &m->shift);
    small_int(lw, bound_arg(ctor, 2), "scale of a MathUnit", -32, 31, &m->scale);
    ir_expr_vec flat = value_flat(lw, eval(lw, bound_arg(ctor, 3)), ctor->at);
    for (size_t i = 0; i < flat.n && i < 16; i++)
        if (ir_is_const(flat.v[i]))
            m->table[15 - i] = (uint8_t)big_to_u64(flat.v[i]->value);
        else
            lower_error(lw, ctor->at, "the table of a MathUnit must be known at compile time");
}

void math_unit_new(struct lower *lw, struct object *o, struct expr *ctor) {
    struct ir_math_unit *m = ARENA_NEW(lw->a, struct ir_math_unit);
    struct type *t = lower_salu_type_arg(lw, o);
    o->math_unit = m;
    m->name = o->name;
    m->at = o->at;
    if (!t || !is_scalar_type(t) || extern_width(lw, o, t) > 32)
        lower_error(lw, o->at, "a MathUnit computes with at most 32 bits");
    else if (is_signed_type(t))
        lower_unsupported(lw, o->at, "a MathUnit of signed numbers");
    if (bound_arg(ctor, 3))
        math_from_table(lw, m, ctor);
    else if (bound_arg(ctor, 1))
        math_from_op(lw, m, ctor);
}

struct value *math_unit_execute(struct lower *lw, struct object *o, struct expr *e) {
    struct type *t = env_type(lw, e->type);
    struct value *x = bound_arg(e, 0) ? eval_as(lw, bound_arg(e, 0), t) : NULL;
    if (!x || x->kind != VAL_BITS || x->e->width > 32)
        return lower_salu_none(lw, e);
    return value_bits(lw, t, ir_math_unit_of(lw->a, o->math_unit, x->e));
}

// ---- this.predicate -----------------------------------------------------------------------------

#define MAX_COMPARES 4

// One bit out of 2^n: the one whose number is made of the comparisons' outcomes, the first lowest.
static struct value *predicate(struct lower *lw, struct expr *e) {
    struct type *t = env_type(lw, e->type);
    if (!is_scalar_type(t)) {
        lower_error(lw, e->at, "a predicate is a number");
        return lower_salu_none(lw, e);
    }
    struct ir_expr *number = NULL;
    for (size_t i = 0; i < MAX_COMPARES; i++) {
        struct ir_expr *c =
            bound_arg(e, i) ? eval_bool(lw, bound_arg(e, i)) : ir_const_u64(lw->a, 1, 0);
        number = number ? ir_binary(lw->a, IR_CONCAT, c, number) : c;
    }
    struct ir_expr *one = ir_const_u64(lw->a, scalar_width(lw, t, e->at), 1);
    return value_bits(lw, t, ir_binary(lw->a, IR_SHL, one, number));
}

struct value *this_method(struct lower *lw, struct expr *e) {
    if (lw->place != IN_REGISTER_BODY)
        lower_error(lw, e->at, "'this.%s' may only be called in a register action", e->a->name);
    else if (strcmp(e->a->name, "predicate") == 0)
        return predicate(lw, e);
    else if (is_min_max(e->a->name))
        return salu_min_max(lw, e);
    else
        lower_unsupported(lw, e->at, "'this.%s' in a register action", e->a->name);
    return lower_salu_none(lw, e);
}

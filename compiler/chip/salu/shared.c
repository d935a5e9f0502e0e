// SPDX-License-Identifier: Apache-2.0
//
// shared: what the actions of one register share (tna-facts 6.2).
//
// The four instructions of a stateful ALU see the same two PHV inputs, the same four rows of
// constants and one math unit, whichever of them a packet runs.
#include <stdlib.h>
#include <string.h>

#include "compiler/chip/salu/salu_impl.h"
#include "compiler/chip/report_add.h"

#define PHV_INPUTS      2u
#define HASH_INPUT_BITS 51u // that the hash matrix brings in, when it brings one
#define LEAST_ALU_BITS  8u

struct input {
    struct chip_bits bits; // of PHV; var null: hashed
    const struct ir_expr *e;
    struct loc at;
};

struct shared {
    struct chip_report *r;
    const struct ir_register *reg;
    VEC(int64_t) constants;
    VEC(const struct ir_reg_param *) params;
    VEC(struct input) inputs;
    struct loc fifth; // what did not find a row
    const struct ir_math_unit *math;
    int64_t power; // given out as the shifted predicate; 0: none
    struct loc power_at;
};

// ---- constants ----------------------------------------------------------------------------------

static void salu_shared_add_constant(struct shared *s, int64_t v, struct loc at) {
    const struct chip_limits *l = s->r->limits;
    if (v >= l->salu_immediate_low && v <= l->salu_immediate_high)
        return;
    for (size_t i = 0; i < s->constants.n; i++)
        if (s->constants.v[i] == v)
            return;
    VEC_PUSH(s->r->arena, &s->constants, v);
    if (s->constants.n + s->params.n == l->salu_constants + 1)
        s->fifth = at;
}

static void add_param(struct shared *s, const struct ir_reg_param *p, struct loc at) {
    for (size_t i = 0; i < s->params.n; i++)
        if (s->params.v[i] == p)
            return;
    VEC_PUSH(s->r->arena, &s->params, p);
    if (s->constants.n + s->params.n == s->r->limits->salu_constants + 1)
        s->fifth = at;
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void check_constants(struct shared *s) {
    struct arena *a = s->r->arena;
    size_t n = s->constants.n + s->params.n;
    if (n <= s->r->limits->salu_constants)
        return;
    const char *list = "";
    qsort(s->constants.v, s->constants.n, sizeof *s->constants.v, by_value);
    for (size_t i = 0; i < s->constants.n && i < 8; i++)
        list = arena_printf(a, "%s%s%lld", list, i ? ", " : "", (long long)s->constants.v[i]);
    for (size_t i = 0; i < s->params.n && i < 8; i++)
        list = arena_printf(a, "%s%s'%s'", list, *list ? ", " : "", s->params.v[i]->name);
    struct chip_violation *v = chip_violate(
        s->r, "salu-constants", s->fifth,
        arena_printf(
            a,
            "the actions of register '%s' use %zu large constants and RegisterParams (%s); the "
            "stateful ALU has rows for %u",
            s->reg->name, n, list, s->r->limits->salu_constants),
        arena_printf(a,
                     "constants from %d to %d need no row, and equal ones share theirs (a "
                     "comparison negates its constant): move others into action data or PHV fields",
                     s->r->limits->salu_immediate_low, s->r->limits->salu_immediate_high));
    v->limit = s->r->limits->salu_constants;
    v->used = n;
}

// ---- PHV inputs ---------------------------------------------------------------------------------

static struct chip_bits salu_shared_bits_of(const struct ir_expr *e) {
    if (e->op == IR_SLICE)
        return (struct chip_bits){.var = e->a->var, .lo = e->lo, .width = e->width};
    return (struct chip_bits){.var = e->var, .lo = 0, .width = e->width};
}

static bool salu_shared_holds(struct chip_bits x, struct chip_bits y) {
    return x.var == y.var && x.lo <= y.lo && y.lo + y.width <= x.lo + x.width;
}

// A field that is part of another one comes in with it.
static void salu_shared_add_input(struct shared *s, const struct salu_operand *o, struct loc at) {
    struct input in = {.e = o->e, .at = at};
    if (!o->e || o->e->op == IR_CONST)
        return;
    if (o->source != SALU_HASHED && (o->e->op == IR_VAR || o->e->op == IR_SLICE))
        in.bits = salu_shared_bits_of(o->e);
    for (size_t i = 0; i < s->inputs.n; i++) {
        struct input *k = &s->inputs.v[i];
        if (in.bits.var ? k->bits.var && salu_shared_holds(k->bits, in.bits) : ir_same(k->e, in.e))
            return;
        if (in.bits.var && k->bits.var && salu_shared_holds(in.bits, k->bits)) {
            *k = in;
            return;
        }
    }
    VEC_PUSH(s->r->arena, &s->inputs, in);
}

static const char *inputs_text(const struct shared *s) {
    const char *list = "";
    for (size_t i = 0; i < s->inputs.n && i < 8; i++)
        list = arena_printf(s->r->arena, "%s%s'%s'", list, i ? ", " : "",
                            ir_source_text(s->r->arena, s->inputs.v[i].e));
    return list;
}

static int wider_first(const void *a, const void *b) {
    const struct input *x = a, *y = b;
    if (!x->bits.var != !y->bits.var) // hashed ones come last
        return !x->bits.var - !y->bits.var;
    return (int)y->e->width - (int)x->e->width;
}

// Whether the hash matrix can bring the inputs in: the ALU's two slots are 'width' bits each, of
// the 51 that it has. A hashed input that is small enough takes the second slot, so that the first
// one stays free.
static bool hash_brings(struct shared *s, unsigned width, unsigned bits) {
    unsigned slot = 0;
    qsort(s->inputs.v, s->inputs.n, sizeof *s->inputs.v, wider_first);
    for (size_t i = 0; i < s->inputs.n; i++, slot++) {
        unsigned w = s->inputs.v[i].e->width;
        if (!s->inputs.v[i].bits.var && width >= 32 && slot == 0 && w + width <= HASH_INPUT_BITS)
            slot = 1;
        if (slot * width + w > HASH_INPUT_BITS)
            return false;
    }
    return bits <= HASH_INPUT_BITS;
}

static void salu_shared_check_inputs(struct shared *s) {
    struct arena *a = s->r->arena;
    unsigned bits = 0;
    bool hashed = false;
    for (size_t i = 0; i < s->inputs.n; i++) {
        bits += s->inputs.v[i].e->width;
        hashed |= !s->inputs.v[i].bits.var;
    }
    if (s->inputs.n > PHV_INPUTS) {
        struct chip_violation *v = chip_violate(
            s->r, "salu-phv-inputs", s->inputs.v[PHV_INPUTS].at,
            arena_printf(a, "the actions of register '%s' read %zu PHV fields (%s)", s->reg->name,
                         s->inputs.n, inputs_text(s)),
            "a stateful ALU has two PHV inputs, the same for all actions of the register: let "
            "earlier tables copy the operands of each action into two common fields");
        v->limit = PHV_INPUTS;
        v->used = s->inputs.n;
    } else if (hashed && s->r->target == CHIP_TOFINO1 && !hash_brings(s, s->reg->width, bits)) {
        struct chip_violation *v = chip_violate(
            s->r, "salu-hash-inputs", s->inputs.v[s->inputs.n - 1].at,
            arena_printf(a,
                         "the actions of register '%s' read more bits through the hash matrix than "
                         "it delivers to a stateful ALU (%s)",
                         s->reg->name, inputs_text(s)),
            "concatenated or sign-extended fields pass through the hash matrix, which then carries "
            "all operands, 51 bits at most: compute them in an earlier table");
        v->limit = HASH_INPUT_BITS;
        v->used =
            bits > HASH_INPUT_BITS ? bits : s->reg->width + s->inputs.v[s->inputs.n - 1].e->width;
    }
}

// ---- widths, math, outputs ----------------------------------------------------------------------

static void check_width(struct shared *s, const struct salu_action *x, const struct salu_operand *o,
                        struct loc at) {
    unsigned width = x->ra->width > LEAST_ALU_BITS ? x->ra->width : LEAST_ALU_BITS;
    if (!o->e || o->e->width <= width)
        return;
    struct chip_violation *v = chip_violate(
        s->r, "salu-width", at,
        arena_printf(s->r->arena, "register action '%s' reads '%s', which has %u bits", x->ra->name,
                     ir_source_text(s->r->arena, o->e), o->e->width),
        arena_printf(s->r->arena,
                     "the ALU works with the register's %u bits: take a slice of the field, or "
                     "make the register wider",
                     width));
    v->limit = width;
    v->used = o->e->width;
}

static void check_math(struct shared *s, const struct salu_action *x) {
    unsigned n = 0;
    for (size_t i = 0; i < x->instrs.n; i++)
        for (unsigned k = 0; k < x->instrs.v[i].n; k++)
            if (x->instrs.v[i].operands[k].source == SALU_MATH && ++n == 2) {
                struct chip_violation *v = chip_violate(
                    s->r, "salu-math-unit", x->instrs.v[i].at,
                    arena_printf(s->r->arena, "register action '%s' uses the math unit twice",
                                 x->ra->name),
                    "one of the ALUs reads it: put both cases into one assignment");
                v->limit = 1;
                v->used = 2;
            }
}

static void check_power(struct shared *s, int64_t power, struct loc at, const char *name) {
    if (s->power != 0 && s->power != power) {
        struct chip_violation *v = chip_violate(
            s->r, "salu-output", at,
            arena_printf(s->r->arena,
                         "register action '%s' returns %lld, and another action returns %lld", name,
                         (long long)power, (long long)s->power),
            "with no ALU free, all constant results of a register are 0 or one power of two, which "
            "is the shifted result of the comparisons; choose the number in a later table");
        v->also = s->power_at;
        v->also_text = "the other constant";
    }
    s->power = power;
    s->power_at = at;
}

static void add_operand(struct shared *s, const struct salu_action *x, const struct salu_operand *o,
                        struct loc at) {
    switch (o->source) {
    case SALU_CONST:
        salu_shared_add_constant(s, o->value, at);
        return;
    case SALU_PARAM:
        add_param(s, o->param, at);
        return;
    case SALU_PHV:
    case SALU_HASHED:
        salu_shared_add_input(s, o, at);
        check_width(s, x, o, at);
        return;
    case SALU_MATH:
        if (o->e->op == IR_VAR && salu_var_of(x->vars, o->e->var))
            return;
        salu_shared_add_input(s, o, at);
        return;
    default:
        return;
    }
}

static void salu_shared_add_action(struct shared *s, const struct salu_action *x) {
    for (size_t i = 0; i < x->instrs.n; i++)
        for (unsigned k = 0; k < x->instrs.v[i].n; k++)
            add_operand(s, x, &x->instrs.v[i].operands[k], x->instrs.v[i].at);
    for (unsigned i = 0; i < SALU_MAX_RESULTS; i++) {
        if (!x->outputs[i].used)
            continue;
        add_operand(s, x, &x->outputs[i].from, x->outputs[i].at);
        if (x->outputs[i].from.source == SALU_COMPARE && x->outputs[i].from.value > 0)
            check_power(s, x->outputs[i].from.value, x->outputs[i].at, x->ra->name);
    }
    check_math(s, x);
}

struct math_search {
    struct shared *s;
    const struct ir_regaction *ra;
    struct loc at;
};

static bool same_math(const struct ir_math_unit *a, const struct ir_math_unit *b) {
    return a->invert == b->invert && a->shift == b->shift && a->scale == b->scale &&
           memcmp(a->table, b->table, sizeof a->table) == 0;
}

static void note_stmt(void *ctx, struct ir_stmt *stmt) {
    ((struct math_search *)ctx)->at = stmt->at;
}

static void note_math(void *ctx, struct ir_expr *e) {
    struct math_search *m = ctx;
    if (e->op != IR_MATH_UNIT)
        return;
    if (m->s->math && !same_math(m->s->math, e->math)) {
        struct chip_violation *v = chip_violate(
            m->s->r, "salu-math-unit", m->at,
            arena_printf(m->s->r->arena, "the actions of register '%s' use MathUnits '%s' and '%s'",
                         m->s->reg->name, m->s->math->name, e->math->name),
            "a stateful ALU has one math unit for all its actions: give the other computation a "
            "register of "
            "its own");
        v->limit = 1;
        v->used = 2;
        return;
    }
    m->s->math = e->math;
}

void salu_share(struct chip_report *r, const struct ir_register *reg,
                const salu_action_vec *actions) {
    struct shared s = {.r = r, .reg = reg};
    for (size_t i = 0; i < actions->n; i++) {
        struct math_search m = {.s = &s, .ra = actions->v[i]->ra, .at = actions->v[i]->ra->at};
        salu_shared_add_action(&s, actions->v[i]);
        ir_visit_block(&(struct ir_visitor){.ctx = &m, .stmt = note_stmt, .expr = note_math},
                       actions->v[i]->ra->body);
    }
    check_constants(&s);
    salu_shared_check_inputs(&s);
}

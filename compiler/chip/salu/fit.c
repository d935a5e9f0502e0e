// SPDX-License-Identifier: Apache-2.0
//
// fit: the ALUs that an action's assignments take.
//
// Each word of the register has two ALUs. Each acts under a predicate over the comparisons; what
// both compute is or'ed, so their predicates exclude each other, except in 'value = (a + b) | (c &
// d)'. Where the register has one word, the second pair of ALUs is free and can compute what is put
// out, or one local variable. The output takes one source in all cases and is 0 where its predicate
// does not hold: an old or a new word, a PHV input, or the comparisons themselves, which with a
// shift give one power of two.
#include "compiler/chip/salu/salu_impl.h"
#include "compiler/chip/report_add.h"

#define ALUS_OF_WORD 2u

static bool is_choice(const struct ir_expr *e) {
    while (e->op == IR_ZEXT)
        e = e->a;
    return e->op == IR_COND;
}

static struct salu_instr *same_instr(struct salu_action *x, const struct salu_instr *in) {
    for (size_t i = 0; i < x->instrs.n; i++) {
        struct salu_instr *k = &x->instrs.v[i];
        bool same = k->unit == in->unit && k->op == in->op && k->word == in->word && k->n == in->n;
        for (unsigned j = 0; same && j < in->n; j++)
            same = salu_same_operand(&k->operands[j], &in->operands[j]);
        if (same)
            return k;
    }
    return NULL;
}

// Of instructions that differ in their predicates only, one is made.
static void add_instr(struct salu_action *x, struct salu_instr in) {
    struct salu_instr *same = same_instr(x, &in);
    if (same)
        same->predicate |= in.predicate;
    else
        VEC_PUSH(x->r->arena, &x->instrs, in);
}

static const char *word_text(const struct salu_action *x, unsigned word) {
    return x->pair ? word ? "the second word" : "the first word" : "the value";
}

// Whether another ALU of the word acts in a case in which this one does.
static const struct salu_instr *in_the_way(const struct salu_action *x, unsigned word,
                                           uint64_t predicate) {
    for (size_t i = 0; predicate != 0 && i < x->instrs.n; i++) {
        const struct salu_instr *k = &x->instrs.v[i];
        if (k->unit == SALU_ALU && k->word == word &&
            (k->predicate == predicate || k->predicate == ~UINT64_C(0) ||
             predicate == ~UINT64_C(0)))
            return k;
    }
    return NULL;
}

static void not_exclusive(struct salu_action *x, const char *what, struct loc before) {
    if (x->failed)
        return;
    x->failed = true;
    struct chip_violation *v = chip_violate(
        x->r, "salu-updates", x->at,
        arena_printf(x->r->arena, "register action '%s' assigns to %s twice in one case",
                     salu_name(x), what),
        "the ALUs work at the same time and see the register as it was: write each case with one "
        "assignment, in branches that exclude each other");
    v->also = before;
    v->also_text = "the assignment before";
}

static bool math_fits(struct salu_action *x, const struct salu_instr *in) {
    for (unsigned i = 0; i < in->n; i++)
        if (in->operands[i].source == SALU_MATH && in->word == 1)
            salu_refuse(
                x, "salu-math-unit",
                arena_printf(x->r->arena,
                             "register action '%s' uses the math unit's result for something other "
                             "than the register's first word",
                             salu_name(x)),
                "assign it to the first word of the register's value, and return that word");
    return !x->failed;
}

static struct salu_instr instr_of(const struct salu_action *x, unsigned word) {
    return (struct salu_instr){
        .unit = SALU_ALU, .word = word, .at = x->at, .predicate = x->predicate};
}

static bool salu_fit_compute(struct salu_action *x, const struct ir_expr *e, unsigned word) {
    struct salu_instr in = instr_of(x, word);
    if (!salu_compute(x, e, &in) || !math_fits(x, &in))
        return false;
    add_instr(x, in);
    return true;
}

// ---- choices in expressions ---------------------------------------------------------------------

static void salu_fit_assign(struct salu_action *x, const struct salu_var *v,
                            const struct ir_expr *e);

static void under(struct salu_action *x, uint64_t holds, const struct salu_var *v,
                  const struct ir_expr *e) {
    uint64_t before = x->predicate;
    x->predicate &= holds;
    salu_fit_assign(x, v, e);
    x->predicate = before;
}

// 'a op (c ? x : y)' is two instructions.
static bool spread_choice(struct salu_action *x, const struct salu_var *v,
                          const struct ir_expr *e) {
    struct arena *a = x->r->arena;
    const struct ir_expr *c = is_choice(e) ? e : e->b;
    while (c && c->op == IR_ZEXT)
        c = c->a;
    if (!c || c->op != IR_COND || ir_is_condition(e->op))
        return false;
    uint64_t holds;
    if (!salu_condition(x, c->a, &holds))
        return true;
    struct ir_expr *yes = c->b, *no = c->c;
    if (!is_choice(e)) {
        yes = ir_binary(a, e->op, e->a, ir_resize(a, yes, e->a->width, false));
        no = ir_binary(a, e->op, e->a, ir_resize(a, no, e->a->width, false));
    }
    under(x, holds, v, yes);
    under(x, ~holds, v, no);
    return true;
}

// ---- words of the register ----------------------------------------------------------------------

static bool is_or_of_operations(const struct ir_expr *e) {
    struct ir_expr *sides[] = {e->a, e->b};
    for (unsigned i = 0; e->op == IR_OR && i < 2; i++)
        switch (sides[i]->op) {
        case IR_ADD:
        case IR_SUB:
        case IR_UADD_SAT:
        case IR_USUB_SAT:
        case IR_SADD_SAT:
        case IR_SSUB_SAT:
        case IR_AND:
        case IR_OR:
        case IR_XOR:
        case IR_NEG:
            return true;
        default:
            break;
        }
    return false;
}

static bool is_truth(const struct ir_expr *e) {
    while (e->op == IR_ZEXT || (e->op == IR_NOT && e->width == 1))
        e = e->a;
    return ir_is_condition(e->op);
}

static void assign_word(struct salu_action *x, const struct salu_var *v, const struct ir_expr *e) {
    const struct salu_instr *other = in_the_way(x, v->index, x->predicate);
    x->written[v->index] = true;
    if (other) {
        not_exclusive(x, word_text(x, v->index), other->at);
        return;
    }
    if (is_or_of_operations(e)) {
        if (salu_fit_compute(x, e->a, v->index))
            salu_fit_compute(x, e->b, v->index);
        return;
    }
    salu_fit_compute(x, e, v->index);
}

// ---- local variables ----------------------------------------------------------------------------

static void assign_local(struct salu_action *x, const struct salu_var *v, const struct ir_expr *e) {
    struct salu_operand o;
    if (v->var->width != x->ra->width) {
        salu_refuse(x, "salu-local",
                    arena_printf(x->r->arena,
                                 "register action '%s' has a local variable of %u bits",
                                 salu_name(x), v->var->width),
                    arena_printf(x->r->arena, "local variables have the register's width, %u bits",
                                 x->ra->width));
        return;
    }
    bool copy = salu_operand(x, e, &o) && (o.source == SALU_MEMORY || o.source == SALU_PARAM);
    for (size_t i = 0; i < x->copies.n; i++)
        if (x->copies.v[i] == v->var && (!copy || !salu_same_operand(&x->copied.v[i], &o)))
            salu_refuse(x, "salu-local",
                        arena_printf(
                            x->r->arena,
                            "a local variable of register action '%s' is assigned different values",
                            salu_name(x)),
                        "write the expression where the variable is used");
    if (x->failed)
        return;
    if (copy && x->high != v->var) {
        VEC_PUSH(x->r->arena, &x->copies, v->var);
        VEC_PUSH(x->r->arena, &x->copied, o);
        return;
    }
    if (x->pair || (x->high && x->high != v->var)) {
        salu_refuse(x, "salu-local",
                    arena_printf(x->r->arena, "register action '%s' computes %s", salu_name(x),
                                 x->pair ? "a local variable" : "two local variables"),
                    x->pair ? "a register of two words uses all ALUs for them: every computed "
                              "value must be stored"
                            : "there is one free ALU: write the expression where it is used");
        return;
    }
    x->high = v->var;
    if (e->op == IR_CONST && big_sign(e->value) == 0)
        return; // it is 0 without an ALU
    const struct salu_instr *other = in_the_way(x, 1, x->predicate);
    if (other)
        not_exclusive(x, "a local variable", other->at);
    else
        salu_fit_compute(x, e, 1);
}

// ---- results ------------------------------------------------------------------------------------

// The second pair of ALUs is there for results.
static bool may_compute_result(const struct salu_action *x) {
    return !x->pair && x->n_locals == 0 &&
           x->ra->width <= (x->r->target == CHIP_TOFINO1 ? 32u : 64u);
}

static bool salu_fit_is_plain(const struct salu_operand *o) {
    return o->source == SALU_MEMORY || o->source == SALU_NEW || o->source == SALU_PHV ||
           o->source == SALU_COMPARE;
}

static void incompatible(struct salu_action *x, unsigned i, const struct salu_operand *o) {
    if (x->failed)
        return;
    x->failed = true;
    struct arena *a = x->r->arena;
    struct chip_violation *v = chip_violate(
        x->r, "salu-output", x->at,
        arena_printf(a, "the result of register action '%s' is %s here and %s elsewhere",
                     salu_name(x), salu_operand_text(a, o),
                     salu_operand_text(a, &x->outputs[i].from)),
        x->pair
            ? "the result has the same source in all cases that set it: return one word in every "
              "case, and choose in a later table"
            : "the result has the same source in all cases that set it: return the same in every "
              "case, or a constant or an old value, between which the free ALU can choose");
    v->also = x->outputs[i].at;
    v->also_text = "the other result";
}

// Lets the free ALU compute 'o'.
static bool by_free_alu(struct salu_action *x, struct salu_operand o, uint64_t predicate) {
    struct salu_instr in = instr_of(x, 1);
    in.op = SALU_MOVE;
    in.n = 1;
    in.operands[0] = o;
    in.predicate = predicate;
    if (!math_fits(x, &in))
        return false;
    add_instr(x, in);
    return true;
}

static void put_out(struct salu_action *x, unsigned i, const struct salu_operand *o) {
    if (!x->outputs[i].used) {
        x->outputs[i].used = true;
        x->outputs[i].from = *o;
        x->outputs[i].predicate = x->predicate;
        x->outputs[i].at = x->at;
    } else if (!salu_same_operand(&x->outputs[i].from, o)) {
        incompatible(x, i, o);
    } else {
        x->outputs[i].predicate |= x->predicate;
    }
}

static const struct salu_operand free_alu = {.source = SALU_NEW, .word = 1};

// A power of two is the predicate, shifted; the shift is the register's, so shared.c compares them.
static void put_constant(struct salu_action *x, unsigned i, const struct salu_operand *o) {
    uint64_t v = (uint64_t)o->value;
    if ((v & (v - 1)) != 0) {
        salu_refuse(x, "salu-output",
                    arena_printf(x->r->arena, "register action '%s' returns %lld", salu_name(x),
                                 (long long)o->value),
                    "with no ALU free, a constant result is 0 or a power of two: return one bit, "
                    "and choose the number in a later table");
        return;
    }
    struct salu_operand p = {.source = SALU_COMPARE, .value = o->value};
    put_out(x, i, &p);
}

// A constant is as wide as the result.
static bool constant_fits(struct salu_action *x, unsigned i) {
    unsigned have = x->ra->width > 8 ? x->ra->width : 8, want = 0;
    for (size_t k = 0; k < x->vars->list.n; k++)
        if (x->vars->list.v[k].kind == SALU_RESULT && x->vars->list.v[k].index == i)
            want = x->vars->list.v[k].var->width;
    if (want <= have)
        return true;
    if (!x->failed) {
        struct chip_violation *v = chip_violate(
            x->r, "salu-width", x->at,
            arena_printf(x->r->arena, "register action '%s' returns a constant of %u bits",
                         salu_name(x), want),
            arena_printf(x->r->arena,
                         "the ALU works with the register's %u bits: make the result that wide",
                         have));
        v->limit = have;
        v->used = want;
    }
    x->failed = true;
    return false;
}

static void put_operand(struct salu_action *x, unsigned i, struct salu_operand o) {
    bool zero = o.source == SALU_CONST && o.value == 0;
    bool plain = salu_fit_is_plain(&o), again = false, spare = may_compute_result(x);
    if (zero)
        return; // what an output is that nobody drives
    if (o.source == SALU_CONST && !constant_fits(x, i))
        return;
    if (x->outputs[i].used) {
        if (plain) {
            again = !salu_same_operand(&x->outputs[i].from, &o);
        } else if (spare && !salu_same_operand(&x->outputs[i].from, &free_alu)) {
            if (!by_free_alu(x, x->outputs[i].from, x->outputs[i].predicate))
                return;
            x->outputs[i].from = free_alu;
        }
    }
    if (!plain || (again && o.source == SALU_MEMORY)) {
        if (spare) {
            if (!by_free_alu(x, o, x->predicate))
                return;
            o = free_alu;
        } else if (o.source == SALU_CONST) {
            put_constant(x, i, &o);
            return;
        } else if (!plain) {
            salu_refuse(x, "salu-output",
                        arena_printf(x->r->arena, "register action '%s' returns %s", salu_name(x),
                                     salu_operand_text(x->r->arena, &o)),
                        "the output takes a word of the register or a PHV field: store this in the "
                        "register, or read it where the result is used");
            return;
        }
    }
    put_out(x, i, &o);
}

static void put_computed(struct salu_action *x, unsigned i, const struct ir_expr *e) {
    if (!may_compute_result(x)) {
        salu_refuse(
            x, x->pair ? "salu-pair" : "salu-output",
            arena_printf(x->r->arena, "register action '%s' computes its result without storing it",
                         salu_name(x)),
            x->pair ? "a register of two words uses all ALUs for them: store the computed value in "
                      "one of the words, and return that word"
                    : "a local variable has taken the free ALU: write its expression where it is "
                      "used");
        return;
    }
    if (salu_fit_compute(x, e, 1))
        put_operand(x, i, free_alu);
}

static bool salu_fit_is_one(const struct ir_expr *e) {
    return e->op == IR_CONST && big_fits_u64(e->value) && big_to_u64(e->value) == 1;
}

// this.predicate(...): 1 << (... c1 ++ c0), the comparisons in their order.
static bool put_predicate(struct salu_action *x, unsigned i, const struct ir_expr *e) {
    const struct ir_expr *args[SALU_MAX_COMPARES];
    unsigned n = 0;
    if (e->op != IR_SHL || !salu_fit_is_one(e->a))
        return false;
    const struct ir_expr *list = e->b;
    for (; list->op == IR_CONCAT && n + 1 < SALU_MAX_COMPARES; list = list->b)
        args[n++] = list->a;
    args[n++] = list;
    for (unsigned k = 0; k < n && !x->failed; k++) {
        const struct ir_expr *one = args[n - 1 - k];
        uint64_t holds;
        if (one->op == IR_CONST)
            continue;
        if (!salu_condition(x, one, &holds))
            return true;
        if (k >= x->n_compared || holds != salu_outcomes(k))
            salu_refuse(x, "salu-output",
                        arena_printf(x->r->arena,
                                     "the predicate of register action '%s' has other comparisons "
                                     "than those before it, or another order of them",
                                     salu_name(x)),
                        "call this.predicate first, with one comparison in each argument");
    }
    if (!x->failed)
        put_operand(x, i, (struct salu_operand){.source = SALU_COMPARE, .value = -1});
    return true;
}

static void put_truth(struct salu_action *x, unsigned i, const struct ir_expr *e) {
    uint64_t holds, before = x->predicate;
    if (!salu_condition(x, e, &holds))
        return;
    x->predicate &= holds;
    put_operand(x, i, (struct salu_operand){.source = SALU_CONST, .value = 1});
    x->predicate = before;
}

static void assign_result(struct salu_action *x, const struct salu_var *v,
                          const struct ir_expr *e) {
    struct salu_operand o;
    while (e->op == IR_ZEXT)
        e = e->a;
    if (v->index >= SALU_MAX_RESULTS || put_predicate(x, v->index, e))
        return;
    if (is_truth(e)) {
        put_truth(x, v->index, e);
        return;
    }
    if (e->op == IR_UDIV || e->op == IR_UMOD) // a Tofino 2's
        return;
    while (e->op == IR_SLICE && e->a->op == IR_VAR && salu_var_of(x->vars, e->a->var))
        e = e->a; // the action data bus takes what part of the word is wanted
    bool is_operand = salu_operand(x, e, &o);
    if (x->failed)
        return;
    if (!is_operand) {
        put_computed(x, v->index, e);
        return;
    }
    if (o.source == SALU_MEMORY && e->op == IR_VAR && x->written[o.word] &&
        salu_var_of(x->vars, e->var)->kind == SALU_VALUE)
        o.source = SALU_NEW;
    if (o.source == SALU_HIGH)
        o = free_alu;
    put_operand(x, v->index, o);
}

// ---- statements ---------------------------------------------------------------------------------

static void salu_fit_assign(struct salu_action *x, const struct salu_var *v,
                            const struct ir_expr *e) {
    if (x->failed || spread_choice(x, v, e))
        return;
    if (v->kind == SALU_RESULT)
        assign_result(x, v, e);
    else if (is_truth(e))
        salu_refuse(x, "salu-operator",
                    arena_printf(x->r->arena,
                                 "register action '%s' stores the result of a comparison",
                                 salu_name(x)),
                    "a comparison is a condition or the result: assign 1 or 0 under an if");
    else if (v->kind == SALU_VALUE)
        assign_word(x, v, e);
    else
        assign_local(x, v, e);
}

// if (a && b) d = x | y; else if (a) d = x; else if (b) d = y; is two ALUs, whose results are
// or'ed.
static bool is_ored(const struct ir_stmt *s, const struct ir_stmt *sides[2]) {
    const struct ir_stmt *all[3] = {s};
    const struct ir_stmt *sets[3];
    for (unsigned i = 0; i < 3; i++) {
        const struct ir_block *other = all[i]->else_b;
        if (all[i]->then_b->stmts.n != 1 || all[i]->then_b->stmts.v[0]->kind != IR_ASSIGN)
            return false;
        sets[i] = all[i]->then_b->stmts.v[0];
        size_t n = other ? other->stmts.n : 0;
        if (i == 2 ? n > 0 : n != 1 || other->stmts.v[0]->kind != IR_IF)
            return false;
        if (i < 2)
            all[i + 1] = other->stmts.v[0];
    }
    sides[0] = all[1];
    sides[1] = all[2];
    return s->e->op == IR_LAND && ir_same(s->e->a, all[1]->e) && ir_same(s->e->b, all[2]->e) &&
           sets[0]->var == sets[1]->var && sets[1]->var == sets[2]->var &&
           sets[0]->e->op == IR_OR && ir_same(sets[0]->e->a, sets[1]->e) &&
           ir_same(sets[0]->e->b, sets[2]->e);
}

static void fit_block(struct salu_action *x, const struct ir_block *b);

static void fit_side(struct salu_action *x, uint64_t holds, const struct ir_block *b) {
    uint64_t before = x->predicate;
    x->predicate &= holds;
    fit_block(x, b);
    x->predicate = before;
}

static void fit_if(struct salu_action *x, const struct ir_stmt *s) {
    const struct ir_stmt *sides[2];
    uint64_t holds;
    if (is_ored(s, sides)) {
        for (unsigned i = 0; i < 2; i++)
            if (salu_condition(x, sides[i]->e, &holds))
                fit_side(x, holds, sides[i]->then_b);
        return;
    }
    if (!salu_condition(x, s->e, &holds))
        return;
    fit_side(x, holds, s->then_b);
    fit_side(x, ~holds, s->else_b);
}

// The chip's compiler has 64 bits in one value, but no operation on them.
static void wide_operation(struct salu_action *x) {
    struct chip_violation *v = chip_violate(
        x->r, "salu-width", x->at,
        arena_printf(x->r->arena, "register action '%s' works on %u bits at once", salu_name(x),
                     x->ra->width),
        "an ALU of a Tofino 1 has 32 bits: make the register's entries a struct of two "
        "fields of 32 bits");
    v->limit = 32;
    v->used = x->ra->width;
}

// A result is assigned once in each case; a 0 to begin with does not count.
static void note_result(struct salu_action *x, const struct salu_var *v, const struct ir_stmt *s) {
    bool first = true;
    for (size_t i = 0; x->predicate != 0 && i < x->results.n; i++) {
        const struct salu_assigned *k = &x->results.v[i];
        if (k->index != v->index)
            continue;
        first = false;
        if (k->predicate == x->predicate || k->predicate == ~UINT64_C(0) ||
            x->predicate == ~UINT64_C(0))
            not_exclusive(x, "the result", k->at);
    }
    if (first && x->predicate == ~UINT64_C(0) && s->e->op == IR_CONST && big_sign(s->e->value) == 0)
        return;
    struct salu_assigned a = {.index = v->index, .predicate = x->predicate, .at = s->at};
    VEC_PUSH(x->r->arena, &x->results, a);
}

static void fit_block(struct salu_action *x, const struct ir_block *b) {
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        x->at = s->at;
        x->failed = false;
        if (s->kind == IR_IF) {
            fit_if(x, s);
            continue;
        }
        const struct salu_var *v = salu_var_of(x->vars, s->var);
        if (x->r->target == CHIP_TOFINO1 && x->ra->width > 32) {
            wide_operation(x);
            continue;
        }
        if (v && v->kind == SALU_RESULT)
            note_result(x, v, s);
        if (s->slice && s->width != s->var->width)
            salu_refuse(
                x, "salu-slice",
                arena_printf(x->r->arena, "register action '%s' assigns to some bits of %s",
                             salu_name(x), v && v->kind == SALU_VALUE ? "the value" : "a variable"),
                "an ALU writes whole words: keep those bits in a word or a register of their own");
        else if (v)
            salu_fit_assign(x, v, s->e);
    }
}

static void count_alus(struct salu_action *x) {
    unsigned used[2] = {0, 0};
    for (size_t i = 0; i < x->instrs.n; i++) {
        const struct salu_instr *in = &x->instrs.v[i];
        if (in->unit != SALU_ALU || ++used[in->word] != ALUS_OF_WORD + 1)
            continue;
        // The chip's compiler writes the third, for which its assembler has no place.
        unsigned n = 0;
        for (size_t k = 0; k < x->instrs.n; k++)
            n += x->instrs.v[k].unit == SALU_ALU && x->instrs.v[k].word == in->word;
        struct chip_violation *v = chip_violate(
            x->r, "salu-updates", in->at,
            in->word == 1 && !x->pair
                ? arena_printf(x->r->arena, "register action '%s' computes its result in %u ways",
                               salu_name(x), n)
                : arena_printf(x->r->arena, "register action '%s' updates %s in %u ways",
                               salu_name(x), word_text(x, in->word), n),
            "each word has two ALUs: write at most two different assignments, in branches that "
            "exclude each other; the same assignment in several cases counts once");
        v->limit = ALUS_OF_WORD;
        v->used = n;
    }
}

static bool count_compares(struct salu_action *x) {
    unsigned n = x->n_compared + x->more_compares;
    if (n <= x->r->limits->salu_compares)
        return true;
    struct chip_violation *v = chip_violate(
        x->r, "salu-comparisons", x->excess,
        arena_printf(x->r->arena, "register action '%s' makes %u different comparisons",
                     salu_name(x), n),
        "a stateful ALU has two (four on a Tofino 2): compare PHV fields with each other and with "
        "constants in an earlier table, and pass the result in a field");
    v->limit = x->r->limits->salu_compares;
    v->used = n;
    return false;
}

static void note_param(void *ctx, struct ir_expr *e) {
    struct salu_action *x = ctx;
    x->n_locals += e->op == IR_REG_PARAM;
}

// Local variables, and those that the chip's compiler makes for RegisterParams in conditions.
static void count_locals(struct salu_action *x, const struct ir_block *b) {
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        const struct salu_var *v = s->kind == IR_ASSIGN ? salu_var_of(x->vars, s->var) : NULL;
        x->n_locals += v && v->kind == SALU_LOCAL;
        if (s->kind == IR_IF)
            ir_visit_expr(&(struct ir_visitor){.ctx = x, .expr = note_param}, s->e);
        count_locals(x, s->then_b);
        count_locals(x, s->else_b);
    }
}

void salu_fit(struct salu_action *x, struct ir_block *body) {
    count_locals(x, body);
    x->predicate = ~UINT64_C(0);
    fit_block(x, body);
    x->at = x->ra->at;
    x->failed = false;
    if (count_compares(x)) // too many cases are a matter of those
        count_alus(x);
}

// SPDX-License-Identifier: Apache-2.0
//
// minmax: min8, max8, min16 and max16 of a Tofino 2's stateful ALU (tna-facts 4.2).
//
// The memory's 128 bits are 16 lanes of 8 bits or 8 of 16, lane 0 in the least significant bits.
// The mask's set bits say which lanes take part; the result is the smallest or largest of them,
// unsigned, and the number of its lane, the highest of equals; without any lane both are 0. A
// 'postmod' is added to the lane that was found (or subtracted from it) afterwards, and stops at
// the lane's ends.
#include "compiler/lower/lower_impl.h"

#include <string.h>

#define CELL_BITS   128u
#define MOST_CHANGE 255u

struct lanes {
    struct ir_regaction *ra;
    unsigned n, width;
    bool max;
    struct ir_expr *mask;
    struct ir_var *best, *index;
    struct loc at;
};

bool is_min_max(const char *method) {
    static const char *const names[] = {"min8", "max8", "min16", "max16"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(method, names[i]) == 0)
            return true;
    return false;
}

static struct ir_expr *lane(struct lower *lw, const struct lanes *l, unsigned i) {
    unsigned bit = i * l->width;
    return ir_slice(lw->a, ir_ref(lw->a, l->ra->value[bit / 64]), bit % 64, l->width);
}

// The word with lane 'i' in it, that lane changed.
static void set_lane(struct lower *lw, const struct lanes *l, unsigned i, struct ir_expr *to) {
    unsigned bit = i * l->width, lo = bit % 64, hi = lo + l->width;
    struct ir_var *word = l->ra->value[bit / 64];
    struct ir_expr *e = to;
    if (lo > 0)
        e = ir_binary(lw->a, IR_CONCAT, e, ir_slice(lw->a, ir_ref(lw->a, word), 0, lo));
    if (hi < 64)
        e = ir_binary(lw->a, IR_CONCAT, ir_slice(lw->a, ir_ref(lw->a, word), hi, 64 - hi), e);
    assign_var(lw, word, e, l->at);
}

static struct ir_block *lower_minmax_begin(struct lower *lw) {
    struct ir_block *outer = lw->block;
    lw->block = ir_block_new(lw->a);
    return outer;
}

static void end_if(struct lower *lw, struct ir_block *outer, struct ir_expr *c, struct loc at) {
    struct ir_block *b = lw->block;
    lw->block = outer;
    if (!ir_is_false(c))
        put_if(lw, c, b, NULL, at);
}

static void lower_minmax_search(struct lower *lw, const struct lanes *l) {
    struct ir_expr *best = ir_ref(lw->a, l->best);
    uint64_t start = l->max ? 0 : (UINT64_C(1) << l->width) - 1;
    assign_var(lw, l->best, ir_const_u64(lw->a, l->width, start), l->at);
    assign_var(lw, l->index, ir_const_u64(lw->a, l->index->width, 0), l->at);
    for (unsigned i = 0; i < l->n; i++) {
        struct ir_expr *v = lane(lw, l, i);
        struct ir_expr *c =
            l->max ? ir_binary(lw->a, IR_ULE, best, v) : ir_binary(lw->a, IR_ULE, v, best);
        c = ir_binary(lw->a, IR_LAND, ir_slice(lw->a, l->mask, i, 1), c);
        struct ir_block *outer = lower_minmax_begin(lw);
        assign_var(lw, l->best, v, l->at);
        assign_var(lw, l->index, ir_const_u64(lw->a, l->index->width, i), l->at);
        end_if(lw, outer, c, l->at);
    }
    struct ir_expr *none = ir_binary(lw->a, IR_EQ, l->mask, ir_const_u64(lw->a, l->mask->width, 0));
    struct ir_block *outer = lower_minmax_begin(lw);
    assign_var(lw, l->best, ir_const_u64(lw->a, l->width, 0), l->at);
    end_if(lw, outer, none, l->at);
}

// By how much, as 8 unsigned bits, and in which direction: a constant's sign, or a minus in the
// source. False after a message.
static bool post_change(struct lower *lw, struct expr *e, struct ir_expr **by, bool *down) {
    const struct expr *s = strip(e);
    bool minus = s->kind == EX_UNARY && s->op == OP_NEG;
    struct ir_expr *v = eval_bits(lw, e);
    *down = false;
    if (ir_is_const(v)) {
        unsigned w = v->width;
        big n = v->value;
        if (w > 0 && big_to_u64(n) >> (w - 1) & 1) {
            n = big_sub(lw->a, big_shl(lw->a, big_u64(lw->a, 1), w), n);
            *down = true;
        }
        if (big_to_u64(n) > MOST_CHANGE) {
            lower_error(lw, e->at, "a lane can be changed by at most %u", MOST_CHANGE);
            return false;
        }
        *by = ir_const_u64(lw->a, 8, big_to_u64(n));
        return true;
    }
    if (minus) {
        v = eval_bits(lw, s->a);
        *down = true;
    }
    *by = v->width > 8 ? ir_slice(lw->a, v, 0, 8) : ir_resize(lw->a, v, 8, false);
    return true;
}

static void change_lane(struct lower *lw, const struct lanes *l, struct expr *postmod) {
    struct ir_expr *by;
    bool down;
    if (lw->block != lw->salu_body) {
        lower_error(lw, postmod->at,
                    "a stateful ALU always changes the lane; the action cannot make this depend on "
                    "a condition");
        return;
    }
    if (!post_change(lw, postmod, &by, &down))
        return;
    struct ir_expr *to = ir_binary(lw->a, down ? IR_USUB_SAT : IR_UADD_SAT, ir_ref(lw->a, l->best),
                                   ir_resize(lw->a, by, l->width, false));
    for (unsigned i = 0; i < l->n; i++) {
        struct ir_expr *here = ir_binary(lw->a, IR_EQ, ir_ref(lw->a, l->index),
                                         ir_const_u64(lw->a, l->index->width, i));
        struct ir_expr *c = ir_binary(lw->a, IR_LAND, ir_slice(lw->a, l->mask, i, 1), here);
        struct ir_block *outer = lower_minmax_begin(lw);
        set_lane(lw, l, i, to);
        end_if(lw, outer, c, l->at);
    }
}

// The memory word itself: the parameter of apply, not yet changed.
static bool looks_at_memory(struct lower *lw, struct expr *e) {
    const struct object *o = lw->salu;
    const struct expr *v = strip(bound_arg(e, 0));
    if (!o->cell128 || v->kind != EX_NAME || v->decl != o->cell_param) {
        lower_error(lw, e->at,
                    "'this.%s' searches the register's entry: its first argument must be the value "
                    "of 128 bits that 'apply' is given",
                    e->a->name);
        return false;
    }
    return true;
}

struct value *salu_min_max(struct lower *lw, struct expr *e) {
    struct type *t = env_type(lw, e->type);
    struct object *o = lw->salu;
    const char *name = e->a->name;
    struct lanes l = {.ra = o->regaction, .max = name[1] == 'a', .at = e->at};
    l.width = strcmp(name + 3, "16") == 0 ? 16 : 8;
    l.n = CELL_BITS / l.width;
    if (!bound_arg(e, 0) || !bound_arg(e, 1) || !looks_at_memory(lw, e))
        return value_zero(lw, t, e->at);
    if (o->min_max) {
        lower_unsupported(lw, e->at, "a second search of lanes in a register action");
        return value_zero(lw, t, e->at);
    }
    o->min_max = true;
    struct ir_expr *mask = ir_resize(lw->a, eval_bits(lw, bound_arg(e, 1)), l.n, false);
    l.mask = value_snapshot(lw, value_bits(lw, NULL, mask), e->at)->e;
    l.best = temp_new(lw, "lane", l.width, e->at);
    l.index = temp_new(lw, "index", l.width == 8 ? 4 : 3, e->at);
    lower_minmax_search(lw, &l);
    if (bound_arg(e, 3))
        change_lane(lw, &l, bound_arg(e, 3));
    struct expr *index = bound_arg(e, 2);
    if (index && index->kind != EX_DONTCARE) {
        struct lvalue to = eval_lvalue(lw, index);
        struct type *it = env_type(lw, index->type);
        lvalue_assign(lw, &to, value_bits(lw, it, ir_ref(lw->a, l.index)), e->at);
    }
    return value_bits(lw, t, ir_ref(lw->a, l.best));
}

// SPDX-License-Identifier: Apache-2.0
//
// limits: what no ALU of an action and no gateway can do. What the chip's own compiler refuses was
// tried with it, construct by construct (harness/compiler/chip/graph/limits.p4).
//
// An ALU does one operation on two operands for each container and stage (tna-facts 7.4): fields,
// their slices, constants, action data, results of externs; with either operand, or the result, of
// a bitwise operation inverted. Expressions come here after copies were carried along, so what is
// too much may be in one statement of the source or in several.
#include "compiler/chip/graph/graph_impl.h"
#include "compiler/chip/report_add.h"

// ---- instructions -------------------------------------------------------------------------------

static const struct ir_expr *unwrapped(const struct ir_expr *e) {
    while (e->op == IR_SLICE || e->op == IR_ZEXT || e->op == IR_SEXT)
        e = e->a;
    return e;
}

// What an operand may be.
static bool is_leaf(const struct ir_expr *e) {
    e = unwrapped(e);
    if (e->op == IR_CONCAT)
        return is_leaf(e->a) && is_leaf(e->b);
    return e->op == IR_VAR || e->op == IR_CONST || e->op == IR_REG_PARAM;
}

static bool is_bitwise(enum ir_op op) {
    return op == IR_AND || op == IR_OR || op == IR_XOR;
}

static bool is_shift(enum ir_op op) {
    return op == IR_SHL || op == IR_LSHR || op == IR_ASHR;
}

static bool is_saturating(enum ir_op op) {
    return op == IR_UADD_SAT || op == IR_USUB_SAT || op == IR_SADD_SAT || op == IR_SSUB_SAT;
}

static bool is_minmax(enum ir_op op) {
    return op == IR_UMIN || op == IR_UMAX || op == IR_SMIN || op == IR_SMAX;
}

static bool is_inverted_leaf(const struct ir_expr *e) {
    return is_leaf(e) || (e->op == IR_NOT && is_leaf(e->a));
}

// Bits that a part of a word with the rest masked out can have; all of them: no such part.
static uint64_t graph_limits_mask_of(const struct ir_expr *e) {
    if (e->op != IR_AND || e->width > 64)
        return UINT64_MAX;
    const struct ir_expr *m = ir_is_const(e->b) ? e->b : e->a;
    const struct ir_expr *x = m == e->b ? e->a : e->b;
    return ir_is_const(m) && is_leaf(x) ? big_to_u64(m->value) : UINT64_MAX;
}

// Parts of words, each masked out, that do not overlap: the compiler writes them one by one.
static bool is_masked(const struct ir_expr *e, uint64_t *taken) {
    if (e->op == IR_OR)
        return is_masked(e->a, taken) && is_masked(e->b, taken);
    uint64_t m = graph_limits_mask_of(e);
    bool ok = !(m & *taken);
    *taken |= m;
    return ok && m != UINT64_MAX;
}

// x < y ? x : y, in any of its forms: a minimum or maximum.
static bool graph_limits_is_choice(const struct ir_expr *e) {
    if (e->op != IR_COND)
        return false;
    const struct ir_expr *c = e->a;
    const bool order = c->op == IR_ULT || c->op == IR_ULE || c->op == IR_SLT || c->op == IR_SLE;
    return order && is_leaf(c->a) && is_leaf(c->b) &&
           ((ir_same(c->a, e->b) && ir_same(c->b, e->c)) ||
            (ir_same(c->a, e->c) && ir_same(c->b, e->b)));
}

static bool is_one_operation(const struct ir_expr *e) {
    e = unwrapped(e);
    if (is_leaf(e) || graph_limits_is_choice(e))
        return true;
    if (e->op == IR_NOT)
        return is_leaf(e->a) ||
               (is_bitwise(e->a->op) && is_inverted_leaf(e->a->a) && is_inverted_leaf(e->a->b));
    if (e->op == IR_NEG)
        return is_leaf(e->a);
    if (is_bitwise(e->op) && is_inverted_leaf(e->a) && is_inverted_leaf(e->b))
        return true;
    uint64_t taken = 0;
    if (is_masked(e, &taken))
        return true;
    if (is_shift(e->op))
        return is_leaf(e->a) && ir_is_const(e->b);
    return e->a && e->b && !e->c && is_leaf(e->a) && is_leaf(e->b);
}

static unsigned count_sources(const struct chip_op *op) {
    unsigned n = 0;
    for (size_t i = 0; i < op->from.n; i++) {
        bool seen = false;
        for (size_t k = 0; k < i; k++)
            seen |= op->from.v[k].var == op->from.v[i].var;
        n += !seen;
    }
    return n + (op->data_bits > 0) + op->constant;
}

static const struct ir_expr *find_condition(const struct ir_expr *e) {
    if (e && graph_limits_is_choice(e))
        return NULL;
    if (!e || ir_is_condition(e->op) || e->op == IR_COND)
        return e;
    const struct ir_expr *parts[] = {e->a, e->b, e->c}, *found = NULL;
    for (int i = 0; i < 3 && !found; i++)
        found = find_condition(parts[i]);
    return found;
}

static const char move_test[] = "test it in an 'if' of the control, or make it part of a table's "
                                "key, and set a constant in each case";

static void check_operation(struct graph *g, const struct chip_op *op, const struct ir_expr *e) {
    const struct loc at = op->stmt->at;
    const struct ir_expr *root = unwrapped(e);
    unsigned width = op->to.width;
    const struct ir_expr *test = find_condition(e);
    if (test) {
        chip_violate(g->r, "action-operation", at,
                     test->op == IR_COND ? "an action cannot choose between values by a condition"
                                         : "an action cannot store the result of a comparison",
                     move_test);
        return;
    }
    if (root->op == IR_MUL || root->op == IR_UDIV || root->op == IR_UMOD ||
        (is_shift(root->op) && !ir_is_const(root->b))) {
        chip_violate(g->r, "action-operation", at,
                     is_shift(root->op) ? "an ALU shifts by constants only"
                                        : "an ALU does not multiply or divide",
                     "use a table whose entries hold the results, or a register's math unit");
        return;
    }
    if (is_saturating(root->op) && width != 8 && width != 16 && width != 32)
        chip_violate(g->r, "action-operation", at,
                     arena_printf(g->a,
                                  "a saturating operation on %u bits: an ALU saturates at its "
                                  "container's size",
                                  width),
                     "make the field 8, 16 or 32 bits wide");
    else if ((is_minmax(root->op) || graph_limits_is_choice(root)) && width > 32)
        chip_violate(g->r, "action-operation", at,
                     arena_printf(g->a, "a minimum or maximum of %u bits: an ALU has 32", width),
                     "compare in a register's action, or with a table");
    else if ((root->op == IR_ADD || root->op == IR_SUB || root->op == IR_NEG) && width > 64)
        chip_violate(g->r, "action-operation", at,
                     arena_printf(g->a, "an addition on %u bits: two ALUs together have 64", width),
                     "split the number into parts and carry in further stages");
}

// What another statement computes may have been put into the one that reads it, which the program
// does not show.
static const struct ir_expr *graph_limits_from_elsewhere(const struct ir_expr *e, struct loc at) {
    if (!e || is_leaf(e))
        return NULL;
    if (e->at.line && (e->at.line != at.line || e->at.file != at.file))
        return e;
    const struct ir_expr *found = graph_limits_from_elsewhere(e->a, at);
    if (!found)
        found = graph_limits_from_elsewhere(e->b, at);
    return found ? found : graph_limits_from_elsewhere(e->c, at);
}

static bool graph_limits_say_joined(struct chip_violation *v, const struct ir_expr *e,
                                    const char *text) {
    const struct ir_expr *joined = graph_limits_from_elsewhere(e, v->at);
    if (!joined)
        return false;
    v->also = joined->at;
    v->also_text = text;
    return true;
}

static void check_op(struct graph *g, const struct ir_action *act, const struct chip_op *op) {
    const struct ir_expr *e = op->stmt->kind == IR_ASSIGN ? op->stmt->e : NULL;
    if (!e || op->dead || graph_is_hashed(op->stmt) || graph_is_conditional_set(act, e))
        return;
    check_operation(g, op, e);
    if (find_condition(e) || (e->op == IR_CONCAT && op->kind == CHIP_OP_SET))
        return;
    unsigned sources = count_sources(op);
    if (is_one_operation(e) || graph_hashed_operand(op->stmt))
        return;
    if (sources > g->r->limits->action_phv_sources) {
        struct chip_violation *v = chip_violate(
            g->r, "action-sources", op->stmt->at,
            arena_printf(g->a,
                         "one instruction needs %u operands (fields, constants and action data "
                         "together): an ALU has %u",
                         sources, g->r->limits->action_phv_sources),
            "compute in two steps, in actions of different tables: each takes a stage");
        v->used = sources;
        v->limit = g->r->limits->action_phv_sources;
        graph_limits_say_joined(v, e, "a part of it is computed here: the check joins the two");
        return;
    }
    chip_violate(g->r, "action-stages", op->stmt->at,
                 "this takes more than one operation: each needs a stage of its own, and an action "
                 "runs in one stage",
                 "compute in two steps, in actions of different tables: each takes a stage");
}

// ---- actions ------------------------------------------------------------------------------------

static bool reads_fields(const struct chip_action *act, const struct ir_expr *e) {
    if (!e)
        return false;
    if (e->op == IR_VAR) {
        for (size_t i = 0; act->action && i < act->action->params.n; i++)
            if (act->action->params.v[i].var == e->var)
                return false;
        return true;
    }
    return reads_fields(act, e->a) || reads_fields(act, e->b) || reads_fields(act, e->c);
}

static bool check_ifs(struct graph *g, const struct chip_action *act, const struct ir_block *b,
                      unsigned depth) {
    for (size_t i = 0; b && depth < 100 && i < b->stmts.n; i++) {
        const struct ir_stmt *t = b->stmts.v[i];
        if (t->kind != IR_IF)
            continue;
        if (reads_fields(act, t->e)) {
            chip_violate(
                g->r, "action-condition", t->at,
                "a condition in an action can test action data, but not fields of the packet",
                "test it in an 'if' of the control, or make it part of the table's key");
            return true;
        }
        if (check_ifs(g, act, t->then_b, depth + 1) || check_ifs(g, act, t->else_b, depth + 1))
            return true;
    }
    return false;
}

static void graph_limits_warn_late(struct graph *g, const struct chip_action *act,
                                   const struct graph_late *late) {
    const struct chip_violation v = {
        .rule = "action-stages",
        .message = arena_printf(g->a,
                                "action %s reads %s, which it has computed before: the chip's "
                                "compiler takes that, and the chip reads the value from before the "
                                "action",
                                act->name, late->var->name),
        .suggestion = "move this to an action of a later table",
        .at = late->stmt->at,
        .also = late->first->at,
        .also_text = "it is computed here",
    };
    chip_warn(g->r, v);
}

static void graph_limits_refuse_late(struct graph *g, const struct chip_action *act,
                                     const struct graph_late *late) {
    struct chip_violation *v = chip_violate(
        g->r, "action-stages", late->stmt->at,
        arena_printf(g->a,
                     "action %s reads %s, which it has written before: that takes two stages, and "
                     "an action runs in one",
                     act->name, late->var->name),
        "move this to an action of a later table");
    v->also = late->first->at;
    v->also_text = "it is written here";
}

// A statement that reads what an earlier one of the same action computed: what was only moved is
// read from where it came from, so this one needs a second stage. One is told of an action.
static void graph_limits_check_order(struct graph *g, const struct chip_action *act) {
    const struct graph_late *told = NULL;
    for (size_t k = 0; k < g->late.n && (!told || told->moves); k++)
        for (size_t i = 0; i < act->ops.n; i++) {
            const struct graph_late *late = &g->late.v[k];
            if (!act->ops.v[i].dead && act->ops.v[i].stmt == late->stmt && (!told || !late->moves))
                told = late;
        }
    if (told && told->moves)
        graph_limits_warn_late(g, act, told);
    else if (told)
        graph_limits_refuse_late(g, act, told);
}

void graph_check_action(struct graph *g, const struct chip_action *act,
                        const struct ir_block *body) {
    if (act->action && check_ifs(g, act, body, 0))
        return;
    for (size_t i = 0; i < act->ops.n; i++)
        check_op(g, act->action, &act->ops.v[i]);
    graph_limits_check_order(g, act);
}

// ---- conditions ---------------------------------------------------------------------------------

static const char in_front[] =
    "compute it into a metadata field in an action of an earlier table: this takes a stage";

struct ask {
    struct graph *g;
    const struct ir_stmt *stmt;
    bool wrong;
    unsigned pairs;      // bytes of fields that are compared with fields
    unsigned range_bits; // of fields that are compared for order
    chip_bits_vec equal; // compared with constants
};

static void graph_limits_refuse(struct ask *k, const char *rule, const char *message,
                                const char *suggestion) {
    if (!k->wrong)
        chip_violate(k->g->r, rule, k->stmt->at, message, suggestion);
    k->wrong = true;
}

// The condition computes 'e'.
static void graph_limits_refuse_computing(struct ask *k, const struct ir_expr *e) {
    if (k->wrong)
        return;
    struct chip_violation *v = chip_violate(
        k->g->r, "gateway-operation", k->stmt->at,
        "a condition compares fields as they are: a gateway does not compute", in_front);
    if (graph_limits_say_joined(v, e, "what it compares is computed here: the check joins the two"))
        v->suggestion =
            "the chip's compiler may keep the two apart, in a stage each; where it does "
            "not, make the field that is computed a key of a table";
    k->wrong = true;
}

// The power of two by whose bits alone it is seen on which side of the constant the field is: x <
// 2^k asks whether the bits from k on are 0, x >= 2^w - 2^k whether they are all 1. -1: it takes
// more than one mask.
static int mask_of_order(const struct ir_expr *e) {
    bool right = e->b->op == IR_CONST;
    const struct ir_expr *c = right ? e->b : e->a;
    unsigned w = c->width;
    if (w > 62 || c->op != IR_CONST || !big_fits_u64(c->value))
        return -1;
    // x < first, or not
    uint64_t all = UINT64_C(1) << w, first = big_to_u64(c->value);
    if (e->op == IR_SLT || e->op == IR_SLE)
        first = (first + all / 2) & (all - 1);
    if ((e->op == IR_ULE || e->op == IR_SLE) == right)
        first++;
    uint64_t rest = all - first;
    if (first && (first & (first - 1)) == 0)
        return __builtin_ctzll(first);
    return rest && rest < all && (rest & (rest - 1)) == 0 ? __builtin_ctzll(rest) : -1;
}

// The bits of 'e' that a mask leaves, the mask being a constant of at most 64 bits.
static void graph_limits_masked_bits(struct arena *a, struct ir_expr *e, uint64_t mask,
                                     chip_bits_vec *out) {
    for (unsigned lo = 0; lo < e->width && mask >> lo; lo++) {
        unsigned n = 0;
        while (lo + n < e->width && lo + n < 64 && mask >> (lo + n) & 1)
            n++;
        if (n > 0)
            graph_expr_bits(a, ir_slice(a, e, lo, n), out);
        lo += n;
        if (lo >= 64)
            return;
    }
}

// Only some of its bits are compared: those that "&" leaves, or those that "|" leaves alone.
static bool graph_limits_is_masked(const struct ir_expr *e) {
    return (e->op == IR_AND || e->op == IR_OR) && (ir_is_const(e->a) || ir_is_const(e->b));
}

// What is compared, of the operand that is no constant.
static void graph_limits_compared_bits(struct arena *a, const struct ir_expr *e,
                                       chip_bits_vec *out) {
    const struct ir_expr *m = graph_limits_is_masked(e) && ir_is_const(e->a) ? e->a : e->b;
    if (graph_limits_is_masked(e) && e->width <= 64)
        graph_limits_masked_bits(a, m == e->a ? e->b : e->a,
                                 big_to_u64(m->value) ^ (e->op == IR_OR ? ~UINT64_C(0) : 0), out);
    else
        graph_expr_bits(a, e, out);
}

static void ask_comparison(struct ask *k, const struct ir_expr *e) {
    const struct ir_expr *x = unwrapped(e->a), *y = unwrapped(e->b);
    bool order = e->op != IR_EQ && e->op != IR_NE;
    if (y->op != IR_CONST) {
        const struct ir_expr *t = x;
        x = y;
        y = t;
    }
    if (graph_limits_is_masked(x) && !order)
        x = unwrapped(ir_is_const(x->b) ? x->a : x->b);
    if (!is_leaf(x) || !is_leaf(y)) {
        graph_limits_refuse_computing(k, is_leaf(x) ? y : x);
        return;
    }
    if (order && y->op != IR_CONST) {
        graph_limits_refuse(
            k, "gateway-operation",
            "a gateway compares two fields for equality only, not for order",
            "compare in a register's action, or subtract one from the other, one bit wider than "
            "they are, in an action of an earlier table, and test the top bit");
        return;
    }
    chip_bits_vec bits = {0};
    graph_limits_compared_bits(
        k->g->a, y->op == IR_CONST ? (e->a->op == IR_CONST ? e->b : e->a) : e->a, &bits);
    bool whole = bits.n == 1 && bits.v[0].width == e->a->width;
    int mask = order && y->op == IR_CONST && whole ? mask_of_order(e) : -1;
    for (size_t i = 0; i < bits.n; i++)
        if (y->op != IR_CONST)
            k->pairs += (bits.v[i].width + 7) / 8;
        else if (order && mask < 0)
            k->range_bits += bits.v[i].width;
        else if (!order)
            graph_add_bits(k->g->a, &k->equal, bits.v[i]);
        else if ((unsigned)mask < bits.v[i].width)
            graph_add_bits(k->g->a, &k->equal,
                           (struct chip_bits){bits.v[i].var, bits.v[i].lo + (unsigned)mask,
                                              bits.v[i].width - (unsigned)mask});
}

static void ask_expr(struct ask *k, const struct ir_expr *e) {
    switch (e->op) {
    case IR_LAND:
    case IR_LOR:
        ask_expr(k, e->a);
        ask_expr(k, e->b);
        return;
    case IR_NOT:
        ask_expr(k, e->a);
        return;
    case IR_EQ:
    case IR_NE:
    case IR_ULT:
    case IR_ULE:
    case IR_SLT:
    case IR_SLE:
        ask_comparison(k, e);
        return;
    case IR_CONST:
        return;
    default:
        if (is_leaf(e))
            graph_expr_bits(k->g->a, e, &k->equal);
        else
            graph_limits_refuse_computing(k, e);
        return;
    }
}

static void sort_down(unsigned *v, unsigned n) {
    for (unsigned i = 1; i < n; i++)
        for (unsigned k = i; k > 0 && v[k] > v[k - 1]; k--) {
            unsigned t = v[k];
            v[k] = v[k - 1];
            v[k - 1] = t;
        }
}

// Bytes of the search bus take the widest parts, what is left goes through the hash, as what is
// compared for order does. One-bit flags share bytes.
static unsigned hash_bits_needed(const struct ask *k, unsigned bytes) {
    unsigned parts[64], n = 0, flags = 0, need = k->range_bits;
    for (size_t i = 0; i < k->equal.n; i++) {
        unsigned width = k->equal.v[i].width;
        if (width == 1) {
            flags++;
            continue;
        }
        for (; width > 0 && n < 64; width -= width < 8 ? width : 8)
            parts[n++] = width < 8 ? width : 8;
        if (width > 0)
            return 1000;
    }
    for (; flags > 0 && n < 64; flags -= flags < 8 ? flags : 8)
        parts[n++] = flags < 8 ? flags : 8;
    sort_down(parts, n);
    for (unsigned i = bytes; i < n; i++)
        need += parts[i];
    return need;
}

// Rows of a gateway are asked one after another, in further gateways if need be: each for itself
// has to fit. False: it was refused.
static bool check_row(struct graph *g, const struct ir_stmt *s, const struct graph_row *row) {
    struct ask k = {.g = g, .stmt = s};
    for (size_t i = 0; i < row->tests.n; i++)
        ask_expr(&k, row->tests.v[i].e);
    if (k.wrong)
        return false;
    const struct chip_limits *l = g->r->limits;
    unsigned bytes = k.pairs < l->gateway_bytes ? l->gateway_bytes - k.pairs : 0;
    unsigned hash = l->gateway_bits - 8 * l->gateway_bytes;
    if (k.pairs <= l->gateway_bytes && hash_bits_needed(&k, bytes) <= hash)
        return true;
    unsigned used = 0;
    chip_bits_vec all = {0};
    for (size_t i = 0; i < row->tests.n; i++)
        graph_expr_bits(g->a, row->tests.v[i].e, &all);
    for (size_t i = 0; i < all.n; i++)
        used += all.v[i].width;
    bool order = k.range_bits > hash;
    const char *message =
        order ? arena_printf(g->a,
                             "an ordered comparison of %u bits: a gateway compares %u bits with a "
                             "constant, or more if the constant is a power of two",
                             k.range_bits, hash)
              : arena_printf(g->a,
                             "a condition on %u bits: a gateway reads %u bytes and %u more bits",
                             used, l->gateway_bytes, hash);
    struct chip_violation *v =
        chip_violate(g->r, "gateway-width", s->at, message,
                     order ? "make it a table with a range key, or compare in a register's action"
                           : "make it a table with a ternary key, or test part of it earlier and "
                             "keep the result in a flag");
    v->used = order ? k.range_bits : used;
    v->limit = order ? hash : l->gateway_bits;
    return false;
}

static void check_rows(struct graph *g, const struct ir_stmt *s) {
    graph_row_vec rows = graph_rows(g->a, s->e);
    for (size_t i = 0; i < rows.n && check_row(g, s, &rows.v[i]); i++) {
    }
}

void graph_check_condition(struct graph *g, const struct ir_stmt *s) {
    if (s->kind == IR_IF)
        check_rows(g, s);
    else
        chip_violate(g->r, "gateway-switch", s->at,
                     "a switch on a value: the chip only switches on the action that a table ran",
                     "use 'if' statements, or a table with the value as its key");
}

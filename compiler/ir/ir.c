// SPDX-License-Identifier: Apache-2.0
//
// ir: constructors of pipeline IR, comparisons, notes to messages (build.h).
#include "compiler/ir/build.h"

const char *const ir_prefix_names[IRP_COUNT] = {
    [IRP_RESUBMIT_FLAG] = "resubmit_flag",
    [IRP_PACKET_VERSION] = "packet_version",
    [IRP_INGRESS_PORT] = "ingress_port",
    [IRP_INGRESS_MAC_TSTAMP] = "ingress_mac_tstamp",
    [IRP_EGRESS_PORT] = "egress_port",
    [IRP_ENQ_QDEPTH] = "enq_qdepth",
    [IRP_ENQ_CONGEST_STAT] = "enq_congest_stat",
    [IRP_ENQ_TSTAMP] = "enq_tstamp",
    [IRP_DEQ_QDEPTH] = "deq_qdepth",
    [IRP_DEQ_CONGEST_STAT] = "deq_congest_stat",
    [IRP_APP_POOL_CONGEST_STAT] = "app_pool_congest_stat",
    [IRP_DEQ_TIMEDELTA] = "deq_timedelta",
    [IRP_EGRESS_RID] = "egress_rid",
    [IRP_EGRESS_RID_FIRST] = "egress_rid_first",
    [IRP_EGRESS_QID] = "egress_qid",
    [IRP_EGRESS_COS] = "egress_cos",
    [IRP_DEFLECTION_FLAG] = "deflection_flag",
    [IRP_PKT_LENGTH] = "pkt_length",
};

const char *const ir_intrinsic_names[IRI_COUNT] = {
    [IRI_UCAST_EGRESS_PORT] = "ucast_egress_port",
    [IRI_BYPASS_EGRESS] = "bypass_egress",
    [IRI_DEFLECT_ON_DROP] = "deflect_on_drop",
    [IRI_INGRESS_COS] = "ingress_cos",
    [IRI_QID] = "qid",
    [IRI_ICOS_FOR_COPY_TO_CPU] = "icos_for_copy_to_cpu",
    [IRI_COPY_TO_CPU] = "copy_to_cpu",
    [IRI_PACKET_COLOR] = "packet_color",
    [IRI_DISABLE_UCAST_CUTTHRU] = "disable_ucast_cutthru",
    [IRI_ENABLE_MCAST_CUTTHRU] = "enable_mcast_cutthru",
    [IRI_MCAST_GRP_A] = "mcast_grp_a",
    [IRI_MCAST_GRP_B] = "mcast_grp_b",
    [IRI_LEVEL1_MCAST_HASH] = "level1_mcast_hash",
    [IRI_LEVEL2_MCAST_HASH] = "level2_mcast_hash",
    [IRI_LEVEL1_EXCLUSION_ID] = "level1_exclusion_id",
    [IRI_LEVEL2_EXCLUSION_ID] = "level2_exclusion_id",
    [IRI_RID] = "rid",
    [IRI_DROP_CTL] = "drop_ctl",
    [IRI_CONSUMED] = "$consumed",
    [IRI_TWICE] = "$twice",
    [IRI_DIGEST_TYPE] = "digest_type",
    [IRI_RESUBMIT_TYPE] = "resubmit_type",
    [IRI_MIRROR_TYPE] = "mirror_type",
    [IRI_MIRROR_IO_SELECT] = "mirror_io_select",
    [IRI_MIRROR_HASH] = "mirror_hash",
    [IRI_MIRROR_INGRESS_COS] = "mirror_ingress_cos",
    [IRI_MIRROR_DEFLECT_ON_DROP] = "mirror_deflect_on_drop",
    [IRI_MIRROR_MULTICAST_CTRL] = "mirror_multicast_ctrl",
    [IRI_MIRROR_EGRESS_PORT] = "mirror_egress_port",
    [IRI_MIRROR_QID] = "mirror_qid",
    [IRI_MTU_TRUNC_LEN] = "mtu_trunc_len",
    [IRI_ADV_FLOW_CTL] = "adv_flow_ctl",
    [IRI_GLOBAL_TSTAMP] = "global_tstamp",
    [IRI_GLOBAL_VER] = "global_ver",
    [IRI_PARSER_ERR] = "parser_err",
    [IRI_CAPTURE_TSTAMP_ON_TX] = "capture_tstamp_on_tx",
    [IRI_UPDATE_DELAY_ON_TX] = "update_delay_on_tx",
};

const char *const ir_violation_names[IR_VIOLATION_COUNT] = {
#define IR_VIOLATION_NAME(name) [IR_VIOLATION_##name] = #name,
    IR_VIOLATIONS(IR_VIOLATION_NAME)
#undef IR_VIOLATION_NAME
};
const char *const ir_event_names[IR_EVENT_COUNT] = {
#define EVENT_NAME(name) #name,
    IR_EVENTS(EVENT_NAME)
#undef EVENT_NAME
};

static struct ir_expr *ir_node(struct arena *a, enum ir_op op, unsigned width) {
    struct ir_expr *e = ARENA_NEW(a, struct ir_expr);
    e->op = op;
    e->width = width;
    return e;
}

struct ir_expr *ir_const(struct arena *a, unsigned width, big v) {
    struct ir_expr *e = ir_node(a, IR_CONST, width);
    e->value = big_wrap_u(a, v, width);
    return e;
}

struct ir_expr *ir_const_u64(struct arena *a, unsigned width, uint64_t v) {
    return ir_const(a, width, big_u64(a, v));
}

struct ir_expr *ir_ref(struct arena *a, struct ir_var *var) {
    struct ir_expr *e = ir_node(a, IR_VAR, var->width);
    e->var = var;
    return e;
}

struct ir_expr *ir_lookahead(struct arena *a, unsigned width, unsigned lo) {
    if (width == 0)
        return ir_const_u64(a, 0, 0);
    struct ir_expr *e = ir_node(a, IR_LOOKAHEAD, width);
    e->lo = lo;
    return e;
}

struct ir_expr *ir_reg_param_value(struct arena *a, struct ir_reg_param *p) {
    struct ir_expr *e = ir_node(a, IR_REG_PARAM, p->width);
    e->param = p;
    return e;
}

struct ir_expr *ir_math_unit_of(struct arena *a, struct ir_math_unit *m, struct ir_expr *x) {
    struct ir_expr *e = ir_node(a, IR_MATH_UNIT, x->width);
    e->math = m;
    e->a = x;
    return e;
}

bool ir_is_const(const struct ir_expr *e) {
    return e->op == IR_CONST;
}

bool ir_is_true(const struct ir_expr *e) {
    return e->op == IR_CONST && e->width == 1 && big_sign(e->value) != 0;
}

bool ir_is_false(const struct ir_expr *e) {
    return e->op == IR_CONST && e->width == 1 && big_sign(e->value) == 0;
}

bool ir_same(const struct ir_expr *x, const struct ir_expr *y) {
    if (x == y)
        return true;
    if (!x || !y || x->op != y->op || x->width != y->width || x->lo != y->lo || x->var != y->var ||
        x->param != y->param || x->math != y->math)
        return false;
    if (x->op == IR_CONST)
        return big_cmp(x->value, y->value) == 0;
    return ir_same(x->a, y->a) && ir_same(x->b, y->b) && ir_same(x->c, y->c);
}

static bool ir_same_value(big x, big y) { // or both are null
    return !x || !y ? x == y : big_cmp(x, y) == 0;
}

bool ir_same_key(const struct ir_key_value *x, const struct ir_key_value *y) {
    return ir_same_value(x->value, y->value) && ir_same_value(x->mask, y->mask) &&
           ir_same_value(x->high, y->high);
}

static bool ir_is_zero(const struct ir_expr *e) {
    return e->op == IR_CONST && big_sign(e->value) == 0;
}

static bool is_ones(const struct ir_expr *e) {
    if (e->op != IR_CONST || big_bits(e->value) != e->width)
        return false;
    for (unsigned lo = 0; lo < e->width; lo += 64) {
        unsigned n = e->width - lo;
        uint64_t ones = n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
        if (big_word(e->value, lo / 64) != ones)
            return false;
    }
    return true;
}

struct ir_expr *ir_unary(struct arena *a, enum ir_op op, struct ir_expr *x) {
    if (ir_is_const(x))
        return ir_const(a, x->width, op == IR_NOT ? big_not(a, x->value) : big_neg(a, x->value));
    if (op == IR_NOT && x->op == IR_NOT)
        return x->a;
    struct ir_expr *e = ir_node(a, op, x->width);
    e->a = x;
    return e;
}

struct ir_expr *ir_not_bool(struct arena *a, struct ir_expr *x) {
    if (x->op == IR_EQ || x->op == IR_NE) {
        struct ir_expr *e = ir_node(a, x->op == IR_EQ ? IR_NE : IR_EQ, 1);
        e->a = x->a;
        e->b = x->b;
        return e;
    }
    return ir_unary(a, IR_NOT, x);
}

// ---- folding of binary operators ----------------------------------------------------------------

// The value as the operator sees it: signed operators read two's complement.
static big seen(struct arena *a, const struct ir_expr *e, bool is_signed) {
    return is_signed ? big_wrap_s(a, e->value, e->width) : e->value;
}

static struct ir_expr *saturated(struct arena *a, unsigned w, big v, bool is_signed) {
    big one = big_u64(a, 1);
    big top = big_sub(a, big_shl(a, one, is_signed ? w - 1 : w), one);
    big bottom = is_signed ? big_neg(a, big_shl(a, one, w - 1)) : big_u64(a, 0);
    if (big_cmp(v, top) > 0)
        v = top;
    if (big_cmp(v, bottom) < 0)
        v = bottom;
    return ir_const(a, w, v);
}

static struct ir_expr *fold_shift(struct arena *a, enum ir_op op, const struct ir_expr *x,
                                  const struct ir_expr *y) {
    uint64_t n = big_fits_u64(y->value) ? big_to_u64(y->value) : UINT64_MAX;
    if (n > x->width)
        n = x->width;
    if (op == IR_SHL)
        return ir_const(a, x->width,
                        n == x->width ? big_u64(a, 0)
                                      : big_shl(a, big_wrap_u(a, x->value, x->width - n), n));
    return ir_const(a, x->width, big_shr(a, seen(a, x, op == IR_ASHR), n));
}

static struct ir_expr *fold_compare(struct arena *a, enum ir_op op, const struct ir_expr *x,
                                    const struct ir_expr *y) {
    bool is_signed = op == IR_SLT || op == IR_SLE;
    int c = big_cmp(seen(a, x, is_signed), seen(a, y, is_signed));
    bool r = op == IR_EQ                    ? c == 0
             : op == IR_NE                  ? c != 0
             : op == IR_ULT || op == IR_SLT ? c < 0
                                            : c <= 0;
    return ir_const_u64(a, 1, r);
}

static struct ir_expr *fold_minmax(struct arena *a, enum ir_op op, struct ir_expr *x,
                                   struct ir_expr *y) {
    bool is_signed = op == IR_SMIN || op == IR_SMAX;
    bool less = big_cmp(seen(a, x, is_signed), seen(a, y, is_signed)) < 0;
    return less == (op == IR_UMIN || op == IR_SMIN) ? x : y;
}

// Null when 'op' is none of the plain arithmetic ones.
static struct ir_expr *fold_arith(struct arena *a, enum ir_op op, const struct ir_expr *x,
                                  const struct ir_expr *y) {
    unsigned w = x->width;
    switch (op) {
    case IR_ADD:
        return ir_const(a, w, big_add(a, x->value, y->value));
    case IR_SUB:
        return ir_const(a, w, big_sub(a, x->value, y->value));
    case IR_MUL: {
        big product = big_mul(a, x->value, y->value);
        return product ? ir_const(a, w, product) : NULL;
    }
    case IR_UDIV:
    case IR_UMOD: {
        big q = op == IR_UDIV ? big_div(a, x->value, y->value) : big_mod(a, x->value, y->value);
        return q ? ir_const(a, w, q) : ir_const_u64(a, w, 0);
    }
    case IR_UADD_SAT:
        return saturated(a, w, big_add(a, x->value, y->value), false);
    case IR_USUB_SAT:
        return saturated(a, w, big_sub(a, x->value, y->value), false);
    case IR_SADD_SAT:
        return saturated(a, w, big_add(a, seen(a, x, true), seen(a, y, true)), true);
    case IR_SSUB_SAT:
        return saturated(a, w, big_sub(a, seen(a, x, true), seen(a, y, true)), true);
    case IR_AND:
        return ir_const(a, w, big_and(a, x->value, y->value));
    case IR_OR:
        return ir_const(a, w, big_or(a, x->value, y->value));
    case IR_XOR:
        return ir_const(a, w, big_xor(a, x->value, y->value));
    default:
        return NULL;
    }
}

static struct ir_expr *fold_binary_const(struct arena *a, enum ir_op op, struct ir_expr *x,
                                         struct ir_expr *y) {
    switch (op) {
    case IR_SHL:
    case IR_LSHR:
    case IR_ASHR:
        return fold_shift(a, op, x, y);
    case IR_EQ:
    case IR_NE:
    case IR_ULT:
    case IR_ULE:
    case IR_SLT:
    case IR_SLE:
        return fold_compare(a, op, x, y);
    case IR_UMIN:
    case IR_UMAX:
    case IR_SMIN:
    case IR_SMAX:
        return fold_minmax(a, op, x, y);
    case IR_CONCAT:
        return ir_const(a, x->width + y->width,
                        big_or(a, big_shl(a, x->value, y->width), y->value));
    default:
        return fold_arith(a, op, x, y);
    }
}

// Identities with one constant operand; null when none applies.
static struct ir_expr *ir_identity(struct arena *a, enum ir_op op, struct ir_expr *x,
                                   struct ir_expr *y) {
    switch (op) {
    case IR_ADD:
    case IR_OR:
    case IR_XOR:
        return ir_is_zero(y) ? x : ir_is_zero(x) ? y : NULL;
    case IR_SUB:
    case IR_SHL:
    case IR_LSHR:
    case IR_ASHR:
        return ir_is_zero(y) ? x : NULL;
    case IR_AND:
        if (ir_is_zero(x) || ir_is_zero(y))
            return ir_const_u64(a, x->width, 0);
        return is_ones(y) ? x : is_ones(x) ? y : NULL;
    case IR_LAND:
        return ir_is_true(x) ? y : ir_is_false(x) ? x : ir_is_true(y) ? x : NULL;
    case IR_LOR:
        return ir_is_false(x) ? y : ir_is_true(x) ? x : ir_is_false(y) ? x : NULL;
    case IR_EQ: // of truth values
        if (x->width == 1 && ir_is_const(y))
            return ir_is_true(y) ? x : NULL;
        return NULL;
    case IR_ULT: // nothing is below 0
        return ir_is_zero(y) ? ir_const_u64(a, 1, 0) : NULL;
    case IR_ULE:
        return ir_is_zero(x) ? ir_const_u64(a, 1, 1) : NULL;
    default:
        return NULL;
    }
}

bool ir_is_condition(enum ir_op op) {
    switch (op) {
    case IR_EQ:
    case IR_NE:
    case IR_ULT:
    case IR_ULE:
    case IR_SLT:
    case IR_SLE:
    case IR_LAND:
    case IR_LOR:
        return true;
    default:
        return false;
    }
}

static unsigned result_width(enum ir_op op, const struct ir_expr *x, const struct ir_expr *y) {
    return ir_is_condition(op) ? 1 : op == IR_CONCAT ? x->width + y->width : x->width;
}

// (x + 14) + 8 is x + 22, and so with the bitwise operations; null: it is nothing like that.
static struct ir_expr *ir_with_one_constant(struct arena *a, enum ir_op op, struct ir_expr *x,
                                            struct ir_expr *y) {
    struct ir_expr *t = x;
    if (!ir_is_const(y)) {
        x = y;
        y = t;
        if (op == IR_SUB)
            return NULL;
    }
    const bool sums = (op == IR_ADD || op == IR_SUB) && (x->op == IR_ADD || x->op == IR_SUB);
    if (!ir_is_const(y) ||
        !(sums || (x->op == op && (op == IR_AND || op == IR_OR || op == IR_XOR))))
        return NULL;
    if (!ir_is_const(x->b)) { // c + x, not c - x
        if (!ir_is_const(x->a) || x->op == IR_SUB)
            return NULL;
        return ir_binary(a, op, ir_binary(a, x->op, x->b, x->a), y);
    }
    enum ir_op of_constants = op;
    if (sums)
        of_constants = x->op == op ? IR_ADD : IR_SUB;
    return ir_binary(a, x->op, x->a, ir_binary(a, of_constants, x->b, y));
}

struct ir_expr *ir_binary(struct arena *a, enum ir_op op, struct ir_expr *x, struct ir_expr *y) {
    struct ir_expr *folded = NULL;
    if (op == IR_CONCAT && (x->width == 0 || y->width == 0))
        return x->width == 0 ? y : x;
    if (ir_is_const(x) && ir_is_const(y))
        folded = fold_binary_const(a, op, x, y);
    if (!folded)
        folded = ir_identity(a, op, x, y);
    if (!folded)
        folded = ir_with_one_constant(a, op, x, y);
    if (folded)
        return folded;
    struct ir_expr *e = ir_node(a, op, result_width(op, x, y));
    e->a = x;
    e->b = y;
    return e;
}

struct ir_expr *ir_slice(struct arena *a, struct ir_expr *x, unsigned lo, unsigned width) {
    if (lo == 0 && width == x->width)
        return x;
    if (width == 0)
        return ir_const_u64(a, 0, 0);
    if (ir_is_const(x))
        return ir_const(a, width, big_shr(a, x->value, lo));
    if (x->op == IR_SLICE)
        return ir_slice(a, x->a, lo + x->lo, width);
    if (x->op == IR_CONCAT && lo >= x->b->width)
        return ir_slice(a, x->a, lo - x->b->width, width);
    if (x->op == IR_CONCAT && lo + width <= x->b->width)
        return ir_slice(a, x->b, lo, width);
    if ((x->op == IR_ZEXT || x->op == IR_SEXT) && lo + width <= x->a->width)
        return ir_slice(a, x->a, lo, width);
    struct ir_expr *e = ir_node(a, IR_SLICE, width);
    e->a = x;
    e->lo = lo;
    return e;
}

struct ir_expr *ir_resize(struct arena *a, struct ir_expr *x, unsigned width, bool is_signed) {
    if (width <= x->width)
        return ir_slice(a, x, 0, width);
    if (ir_is_const(x))
        return ir_const(a, width, seen(a, x, is_signed));
    struct ir_expr *e = ir_node(a, is_signed ? IR_SEXT : IR_ZEXT, width);
    e->a = x;
    return e;
}

struct ir_expr *ir_choose(struct arena *a, struct ir_expr *c, struct ir_expr *x,
                          struct ir_expr *y) {
    if (ir_is_const(c))
        return ir_is_true(c) ? x : y;
    if (ir_same(x, y))
        return x;
    if (ir_is_true(x) && ir_is_false(y))
        return c;
    struct ir_expr *e = ir_node(a, IR_COND, x->width);
    e->a = c;
    e->b = x;
    e->c = y;
    return e;
}

// ---- statements ---------------------------------------------------------------------------------

struct ir_stmt *ir_stmt_new(struct arena *a, enum ir_stmt_kind kind, struct loc at) {
    struct ir_stmt *s = ARENA_NEW(a, struct ir_stmt);
    s->kind = kind;
    s->at = at;
    return s;
}

struct ir_block *ir_block_new(struct arena *a) {
    return ARENA_NEW(a, struct ir_block);
}

void ir_push(struct arena *a, struct ir_block *b, struct ir_stmt *s) {
    VEC_PUSH(a, &b->stmts, s);
}

bool ir_ends(const struct ir_block *b) {
    if (!b || b->stmts.n == 0)
        return false;
    const struct ir_stmt *s = b->stmts.v[b->stmts.n - 1];
    if (s->kind == IR_IF)
        return s->else_b && ir_ends(s->then_b) && ir_ends(s->else_b);
    return s->kind == IR_EXIT || s->kind == IR_LEAVE;
}

// ---- messages -----------------------------------------------------------------------------------

static unsigned depth_of(const struct ir_application *x) {
    unsigned n = 0;
    for (; x; x = x->up)
        n++;
    return n;
}

// The innermost applications in different places that the two lead through; they have the same
// depth as long as the places further inside are the same.
static bool ir_part(const struct ir_stmt *first, const struct ir_stmt *second, struct loc at[2]) {
    const struct ir_application *x = first->within, *y = second->within;
    if (!loc_same(first->at, second->at) || depth_of(x) != depth_of(y))
        return false;
    while (x && loc_same(x->at, y->at)) {
        x = x->up;
        y = y->up;
    }
    if (!x)
        return false;
    at[0] = x->at;
    at[1] = y->at;
    return true;
}

void ir_note_first(struct diag *d, const struct ir_stmt *first, const struct ir_stmt *second,
                   const char *what) {
    struct loc at[2];
    if (!ir_part(first, second, at)) {
        diag_note(d, first->at, "%s", what);
        return;
    }
    diag_note(d, at[0], "%s, in the control that is applied here", what);
    diag_note(d, at[1], "and again in the one that is applied here");
}

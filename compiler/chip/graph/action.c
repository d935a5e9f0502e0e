// SPDX-License-Identifier: Apache-2.0
//
// action: the statements of an action as instructions of the chip's ALUs and as accesses to
// memories.
#include "compiler/chip/graph/graph_impl.h"

// ---- bits ---------------------------------------------------------------------------------------

// Ranges of one variable that touch or overlap become one.
void graph_add_bits(struct arena *a, chip_bits_vec *v, struct chip_bits b) {
    for (size_t i = 0; i < v->n; i++) {
        struct chip_bits *o = &v->v[i];
        if (o->var != b.var || o->lo > b.lo + b.width || b.lo > o->lo + o->width)
            continue;
        unsigned lo = o->lo < b.lo ? o->lo : b.lo;
        unsigned end = o->lo + o->width > b.lo + b.width ? o->lo + o->width : b.lo + b.width;
        struct chip_bits both = {b.var, lo, end - lo};
        if (lo == o->lo && end == o->lo + o->width)
            return;
        *o = v->v[--v->n];
        graph_add_bits(a, v, both);
        return;
    }
    VEC_PUSH(a, v, b);
}

bool chip_bits_meet(struct chip_bits a, struct chip_bits b) {
    return a.var == b.var && a.lo < b.lo + b.width && b.lo < a.lo + a.width;
}

// Of e's bits only [lo, lo + width) are asked for.
static void part_bits(struct arena *a, const struct ir_expr *e, unsigned lo, unsigned width,
                      chip_bits_vec *out) {
    if (!e || width == 0)
        return;
    switch (e->op) {
    case IR_VAR:
        if (lo < e->var->width) {
            if (width > e->var->width - lo)
                width = e->var->width - lo;
            graph_add_bits(a, out, (struct chip_bits){e->var, lo, width});
        }
        return;
    case IR_SLICE:
        part_bits(a, e->a, lo + e->lo, width, out);
        return;
    case IR_CONCAT: {
        unsigned low = e->b->width;
        if (lo < low)
            part_bits(a, e->b, lo, width < low - lo ? width : low - lo, out);
        if (lo + width > low)
            part_bits(a, e->a, lo > low ? lo - low : 0, lo + width - (lo > low ? lo : low), out);
        return;
    }
    case IR_ZEXT:
        if (lo < e->a->width)
            part_bits(a, e->a, lo, width < e->a->width - lo ? width : e->a->width - lo, out);
        return;
    case IR_NOT:
        part_bits(a, e->a, lo, width, out);
        return;
    case IR_AND:
    case IR_OR:
    case IR_XOR:
        part_bits(a, e->a, lo, width, out);
        part_bits(a, e->b, lo, width, out);
        return;
    default:
        break;
    }
    const struct ir_expr *parts[] = {e->a, e->b, e->c};
    for (int i = 0; i < 3; i++)
        if (parts[i])
            part_bits(a, parts[i], 0, parts[i]->width, out);
}

void graph_expr_bits(struct arena *a, const struct ir_expr *e, chip_bits_vec *out) {
    if (e)
        part_bits(a, e, 0, e->width, out);
}

void chip_expr_bits(struct arena *a, const struct ir_expr *e, chip_bits_vec *out) {
    graph_expr_bits(a, e, out);
}

// ---- instructions -------------------------------------------------------------------------------

struct make {
    struct graph *g;
    struct arena *a;
    struct chip_action *act;
    const struct ir_block *body;
    VEC(const struct ir_stmt *) results; // of externs so far: later statements take them from there
};

static bool graph_action_has_param(const struct ir_action *act, const struct ir_var *v) {
    for (size_t i = 0; act && i < act->params.n; i++)
        if (act->params.v[i].var == v)
            return true;
    return false;
}

static bool is_param(const struct make *m, const struct ir_var *v) {
    return graph_action_has_param(m->act->action, v);
}

bool graph_is_conditional_set(const struct ir_action *act, const struct ir_expr *e) {
    if (e->op != IR_COND || e->a->op != IR_VAR || !graph_action_has_param(act, e->a->var))
        return false;
    const struct ir_expr *given = e->b, *kept = e->c;
    while (kept->op == IR_SLICE)
        kept = kept->a;
    return (given->op == IR_CONST ||
            (given->op == IR_VAR && graph_action_has_param(act, given->var))) &&
           kept->op == IR_VAR && !graph_action_has_param(act, kept->var);
}

static const struct ir_stmt *result_of(const struct make *m, const struct ir_var *v) {
    for (size_t i = m->results.n; i-- > 0;)
        if (m->results.v[i]->var == v || m->results.v[i]->var2 == v)
            return m->results.v[i];
    return NULL;
}

struct operands {
    chip_bits_vec phv;
    unsigned data_bits;
    bool hash, constant;
    big value;
};

static bool is_move(const struct ir_expr *e) {
    while (e->op == IR_SLICE || e->op == IR_ZEXT)
        e = e->a;
    return e->op == IR_VAR || e->op == IR_CONST || e->op == IR_REG_PARAM;
}

static void find_constant(const struct ir_expr *e, struct operands *o) {
    if (!e)
        return;
    if (e->op == IR_CONST) {
        o->constant = true;
        o->value = e->value;
    }
    find_constant(e->a, o);
    find_constant(e->b, o);
    find_constant(e->c, o);
}

static void graph_action_operands_of(struct make *m, const struct ir_expr *e, struct operands *o) {
    chip_bits_vec all = {0};
    graph_expr_bits(m->a, e, &all);
    for (size_t i = 0; i < all.n; i++)
        if (is_param(m, all.v[i].var)) {
            o->data_bits += all.v[i].width;
        } else if (result_of(m, all.v[i].var)) {
            o->hash = true;
            if (result_of(m, all.v[i].var)->idle) // the parts of a hash are what is there of it
                m->act->hash_bits += all.v[i].width;
        } else {
            VEC_PUSH(m->a, &o->phv, all.v[i]);
        }
    find_constant(e, o);
}

// A part of what @in_hash is written before may come from the hash matrix.
static void graph_action_operands_hashed(struct make *m, const struct ir_stmt *t,
                                         const struct ir_expr *e, struct operands *o) {
    const struct ir_expr *hashed = e == t->e ? graph_hashed_operand(t) : NULL;
    if (!hashed) {
        graph_action_operands_of(m, e, o);
        return;
    }
    graph_action_operands_of(m, hashed == e->a ? e->b : e->a, o);
    o->hash = true;
    graph_expr_bits(m->a, hashed, &m->act->hashed);
    m->act->hash_bits += hashed->width;
}

// A conditional set takes what it sets and where it does so from action data, each as wide as the
// field, and the rest of the field from a container.
static void graph_action_operands_chosen(struct make *m, const struct ir_expr *e,
                                         struct operands *o) {
    graph_action_operands_of(m, e->c, o);
    o->data_bits += 2 * e->width;
}

static struct chip_op *add_op(struct make *m, const struct ir_stmt *t, struct chip_bits to) {
    struct chip_op op = {.stmt = t, .to = to};
    op.dead = to.var->id < m->g->n_vars && m->g->gress->dead[to.var->id];
    VEC_PUSH(m->a, &m->act->ops, op);
    return &m->act->ops.v[m->act->ops.n - 1];
}

static struct chip_bits target_of(const struct ir_stmt *t) {
    struct chip_bits b = {t->var, 0, t->var->width};
    if (t->slice) {
        b.lo = t->lo;
        b.width = t->width;
    }
    return b;
}

// A concatenation writes its parts one by one.
static void graph_action_assign_parts(struct make *m, const struct ir_stmt *t,
                                      const struct ir_expr *e, struct chip_bits to) {
    if (e->op == IR_CONCAT && e->width == to.width) {
        struct chip_bits low = {to.var, to.lo, e->b->width};
        struct chip_bits high = {to.var, to.lo + e->b->width, e->a->width};
        graph_action_assign_parts(m, t, e->a, high);
        graph_action_assign_parts(m, t, e->b, low);
        return;
    }
    struct chip_op *op = add_op(m, t, to);
    struct operands o = {0};
    if (graph_is_conditional_set(m->act->action, e))
        graph_action_operands_chosen(m, e, &o);
    else
        graph_action_operands_hashed(m, t, e, &o);
    // A comparison is no instruction at all; limits.c says so.
    op->kind = is_move(e) || ir_is_condition(e->op) ? CHIP_OP_SET : CHIP_OP_COMPUTE;
    op->op = e->op;
    op->from = o.phv;
    op->data_bits = o.data_bits;
    op->constant = o.constant;
    op->value = o.value;
    op->hash = o.hash;
}

// What the hash matrix can compute: each bit is a sum, modulo 2, of others.
static bool graph_action_is_linear(const struct ir_expr *e) {
    switch (e->op) {
    case IR_VAR:
    case IR_CONST:
        return true;
    case IR_SLICE:
    case IR_ZEXT:
    case IR_NOT:
        return graph_action_is_linear(e->a);
    case IR_CONCAT:
    case IR_XOR:
        return graph_action_is_linear(e->a) && graph_action_is_linear(e->b);
    case IR_AND:
        return (ir_is_const(e->a) && graph_action_is_linear(e->b)) ||
               (ir_is_const(e->b) && graph_action_is_linear(e->a));
    case IR_SHL:
    case IR_LSHR:
        return ir_is_const(e->b) && graph_action_is_linear(e->a);
    default:
        return false;
    }
}

bool graph_is_hashed(const struct ir_stmt *t) {
    return t->kind == IR_ASSIGN && t->in_hash && graph_action_is_linear(t->e);
}

static bool graph_action_is_operand(const struct ir_expr *e) {
    while (e->op == IR_SLICE || e->op == IR_ZEXT)
        e = e->a;
    return e->op == IR_VAR || e->op == IR_CONST;
}

const struct ir_expr *graph_hashed_operand(const struct ir_stmt *t) {
    if (t->kind != IR_ASSIGN || !t->in_hash || graph_action_is_linear(t->e))
        return NULL;
    const struct ir_expr *a = t->e->a, *b = t->e->b;
    if (!a || !b || t->e->c || ir_is_condition(t->e->op))
        return NULL;
    if (graph_action_is_operand(a) && !graph_action_is_operand(b) && graph_action_is_linear(b))
        return b;
    return graph_action_is_operand(b) && !graph_action_is_operand(a) && graph_action_is_linear(a)
               ? a
               : NULL;
}

static void graph_action_assign_hashed(struct make *m, const struct ir_stmt *t) {
    struct chip_op *op = add_op(m, t, target_of(t));
    op->kind = CHIP_OP_SET;
    op->op = t->e->op;
    op->hash = true;
    if (!op->dead)
        graph_expr_bits(m->a, t->e, &m->act->hashed);
    VEC_PUSH(m->a, &m->results, t);
}

static void set_valid(struct make *m, const struct ir_stmt *t) {
    struct chip_op *op = add_op(m, t, (struct chip_bits){t->header->valid, 0, 1});
    op->constant = true;
    op->value = big_u64(m->a, t->kind == IR_SET_VALID);
}

static void graph_action_result(struct make *m, const struct ir_stmt *t) {
    if (t->var)
        add_op(m, t, target_of(t))->hash = true;
    if (t->var2)
        add_op(m, t, (struct chip_bits){t->var2, 0, t->var2->width})->hash = true;
}

// ---- accesses -----------------------------------------------------------------------------------

static void add_hashed(struct make *m, const struct ir_stmt *hash) {
    for (size_t i = 0; i < hash->args.n; i++)
        graph_expr_bits(m->a, hash->args.v[i], &m->act->hashed);
}

static void graph_action_index_of(struct make *m, struct chip_access *x, const struct ir_expr *e) {
    if (!e)
        return;
    chip_bits_vec all = {0};
    graph_expr_bits(m->a, e, &all);
    x->index_is_constant = all.n == 0;
    for (size_t i = 0; i < all.n; i++) {
        const struct ir_stmt *h = result_of(m, all.v[i].var);
        if (is_param(m, all.v[i].var)) {
            x->index_is_data = true;
        } else if (h && h->kind == IR_HASH) {
            x->index_is_hash = true;
            for (size_t k = 0; k < h->args.n; k++)
                graph_expr_bits(m->a, h->args.v[k], &x->index);
        } else {
            graph_add_bits(m->a, &x->index, all.v[i]);
        }
    }
}

static void operand_bits(struct make *m, const struct ir_expr *e, chip_bits_vec *out) {
    chip_bits_vec all = {0};
    graph_expr_bits(m->a, e, &all);
    for (size_t i = 0; i < all.n; i++)
        if (!is_param(m, all.v[i].var))
            graph_add_bits(m->a, out, all.v[i]);
}

struct look {
    struct make *m;
    const struct ir_regaction *ra;
    chip_bits_vec *out;
    VEC(const struct ir_var *)
    own; // written in the body: its results and what it only holds for a while
};
static void look_written(void *ctx, struct ir_var **v) {
    struct look *k = ctx;
    VEC_PUSH(k->m->a, &k->own, *v);
}
static void graph_action_look_stmt(void *ctx, struct ir_stmt *t) {
    ir_written_vars(t, look_written, ctx);
}
static void look_expr(void *ctx, struct ir_expr *e) {
    struct look *k = ctx;
    if (e->op != IR_VAR || e->var == k->ra->value[0] || e->var == k->ra->value[1])
        return;
    for (size_t i = 0; i < k->own.n; i++)
        if (k->own.v[i] == e->var)
            return;
    if (!is_param(k->m, e->var))
        graph_add_bits(k->m->a, k->out, (struct chip_bits){e->var, 0, e->var->width});
}

// What a register action reads of the packet, and its further results.
static void regaction_bits(struct make *m, const struct ir_stmt *t, struct chip_access *x) {
    struct look k = {.m = m, .ra = t->regaction, .out = &x->operands};
    const struct ir_visitor stmts = {.ctx = &k, .stmt = graph_action_look_stmt, .shallow = true};
    const struct ir_visitor exprs = {.ctx = &k, .expr = look_expr, .shallow = true};
    ir_visit_block(&stmts, t->regaction->body);
    ir_visit_block(&exprs, t->regaction->body);
    for (size_t i = 0; i < k.own.n; i++) {
        const struct ir_var *v = k.own.v[i];
        bool again = v == t->regaction->rv || v == t->regaction->value[0] ||
                     v == t->regaction->value[1] || v->id >= m->g->n_vars ||
                     m->g->gress->dead[v->id];
        for (size_t n = 0; n < i && !again; n++)
            again = k.own.v[n] == v;
        if (!again && !v->header)
            add_op(m, t, (struct chip_bits){v, 0, v->width})->hash = true;
    }
}

static void access_stmt(struct make *m, const struct ir_stmt *t) {
    struct chip_access x = {.stmt = t};
    switch (t->kind) {
    case IR_COUNT:
        x.kind = CHIP_COUNTER;
        x.counter = t->counter;
        break;
    case IR_METER_EXEC:
        x.kind = CHIP_METER;
        x.meter = t->meter;
        operand_bits(m, t->e2, &x.operands);
        break;
    default:
        x.kind = CHIP_REGISTER;
        x.regaction = t->regaction;
        x.reg = t->regaction ? t->regaction->reg : t->reg;
        if (t->regaction)
            regaction_bits(m, t, &x);
        operand_bits(m, t->e2, &x.operands);
        operand_bits(m, t->e3, &x.operands);
        break;
    }
    graph_action_index_of(m, &x, t->e);
    graph_action_result(m, t);
    VEC_PUSH(m->a, &m->act->accesses, x);
}

// ---- the action ---------------------------------------------------------------------------------

static void graph_action_statements(struct make *m, const struct ir_block *b, unsigned depth) {
    for (size_t i = 0; b && depth < 100 && i < b->stmts.n; i++) {
        const struct ir_stmt *t = b->stmts.v[i];
        switch (t->kind) {
        case IR_ASSIGN:
            if (t->idle)
                break;
            if (graph_is_hashed(t))
                graph_action_assign_hashed(m, t);
            else
                graph_action_assign_parts(m, t, t->e, target_of(t));
            break;
        case IR_SET_VALID:
        case IR_SET_INVALID:
            set_valid(m, t);
            break;
        case IR_IF:
            operand_bits(m, t->e, &m->act->reads);
            graph_action_statements(m, t->then_b, depth + 1);
            graph_action_statements(m, t->else_b, depth + 1);
            break;
        case IR_HASH:
            if (!t->idle)
                graph_action_result(m, t);
            add_hashed(m, t);
            VEC_PUSH(m->a, &m->results, t);
            break;
        case IR_RANDOM:
            graph_action_result(m, t);
            VEC_PUSH(m->a, &m->results, t);
            break;
        case IR_EXIT:
            break;
        default:
            if (t->kind == IR_COUNT || t->kind == IR_METER_EXEC || t->kind == IR_REG_EXEC ||
                t->kind == IR_REG_READ || t->kind == IR_REG_WRITE)
                access_stmt(m, t);
            if (t->var)
                VEC_PUSH(m->a, &m->results, t);
            break;
        }
    }
}

static void graph_action_add_all(struct arena *a, chip_bits_vec *to, const chip_bits_vec *from) {
    for (size_t i = 0; i < from->n; i++)
        graph_add_bits(a, to, from->v[i]);
}

void graph_action(struct graph *g, struct chip_action *act, struct ir_block *body) {
    struct make m = {.g = g, .a = g->a, .act = act, .body = body};
    graph_action_statements(&m, body, 0);
    for (size_t i = 0; i < act->ops.n; i++) {
        struct chip_op *op = &act->ops.v[i];
        if ((op->stmt->kind == IR_HASH || graph_is_hashed(op->stmt)) && !op->dead)
            act->hash_bits += op->to.width;
        if (op->dead)
            continue;
        act->data_bits += op->data_bits;
        graph_action_add_all(g->a, &act->reads, &op->from);
        graph_add_bits(g->a, &act->writes, op->to);
    }
    for (size_t i = 0; i < act->accesses.n; i++) {
        graph_action_add_all(g->a, &act->reads, &act->accesses.v[i].index);
        graph_action_add_all(g->a, &act->reads, &act->accesses.v[i].operands);
    }
    graph_action_add_all(g->a, &act->reads, &act->hashed);
}

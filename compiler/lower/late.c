// SPDX-License-Identifier: Apache-2.0
//
// late: products, quotients and shifts of which an operand is a variable, but has one known value
// there: the result of a function, a parameter, a local variable. A Tofino takes them as its
// compiler does, which propagates constants before it looks.
//
// Lowering notes each in 'lw->late'; when a gress is whole, its blocks are walked in order with
// what is known of variables. What follows a statement with blocks of its own forgets all that is
// written there. Whatever is not known then is an error.
#include "compiler/ir/effects.h"
#include "compiler/ir/walk.h"
#include "compiler/lower/lower_impl.h"

#include <string.h>

struct late_walk {
    struct lower *lw;
    struct ir_gress *g;
    struct ir_effects effects;
    struct ir_expr **known; // by variable: a constant or null
};

void note_late(struct lower *lw, struct ir_expr *e, struct loc at) {
    struct late_op one = {.e = e, .at = at};
    VEC_PUSH(lw->a, &lw->late, one);
}

// 'e' with what is known in place of its variables; what is no arithmetic is left as it is.
static struct ir_expr *late_value(const struct late_walk *w, struct ir_expr *e) {
    struct arena *a = w->lw->a;
    if (e->op == IR_VAR)
        return w->known[e->var->id] ? w->known[e->var->id] : e;
    if (!e->a || e->c)
        return e;
    struct ir_expr *x = late_value(w, e->a), *y = e->b ? late_value(w, e->b) : NULL;
    if (!ir_is_const(x) || (y && !ir_is_const(y)))
        return e;
    if (e->op == IR_SLICE)
        return ir_slice(a, x, e->lo, e->width);
    if (e->op == IR_ZEXT || e->op == IR_SEXT)
        return ir_resize(a, x, e->width, e->op == IR_SEXT);
    if (e->op == IR_NOT || e->op == IR_NEG)
        return ir_unary(a, e->op, x);
    return y ? ir_binary(a, e->op, x, y) : e;
}

static bool late_is_shift(const struct ir_expr *e) {
    return e->op == IR_SHL || e->op == IR_LSHR || e->op == IR_ASHR;
}

static void late_expr(void *ctx, struct ir_expr *e) {
    const struct late_walk *w = ctx;
    for (size_t i = 0; i < w->lw->late.n; i++) {
        struct late_op *op = &w->lw->late.v[i];
        if (op->e != e)
            continue;
        struct ir_expr *x = late_value(w, e->a), *y = late_value(w, e->b);
        op->met = true;
        if (!late_is_shift(e)) {
            struct ir_expr *done = product_of_known(w->lw, e->op, x, y);
            op->failed |= !done;
            if (done)
                *e = *done;
        } else if (ir_is_const(y)) {
            e->b = shift_distance(w->lw, y);
        } else {
            op->failed = true;
        }
    }
}

static void late_block(struct late_walk *w, struct ir_block *b);

static void late_branch(struct late_walk *w, struct ir_block *b) {
    struct ir_expr **before = w->known;
    if (!b)
        return;
    arena_spend(w->lw->a, w->g->vars.n);
    w->known = ARENA_ARRAY(w->lw->a, struct ir_expr *, w->g->vars.n + 1);
    memcpy(w->known, before, w->g->vars.n * sizeof(struct ir_expr *));
    late_block(w, b);
    w->known = before;
}

static void late_operands(struct late_walk *w, struct ir_stmt *s) {
    const struct ir_visitor v = {.ctx = w, .expr = late_expr};
    ir_visit_expr(&v, s->e);
    ir_visit_expr(&v, s->e2);
    ir_visit_expr(&v, s->e3);
    for (size_t i = 0; i < s->args.n; i++)
        ir_visit_expr(&v, s->args.v[i]);
    for (size_t i = 0; i < s->csum_args.n; i++)
        ir_visit_expr(&v, s->csum_args.v[i].e);
    for (size_t i = 0; s->table && i < s->table->keys.n; i++)
        ir_visit_expr(&v, s->table->keys.v[i].expr);
}

static void late_forget(struct late_walk *w, const struct ir_stmt *s) {
    arena_spend(w->lw->a, w->g->vars.n);
    ir_effects_clear(&w->effects);
    ir_effects_add_stmt(&w->effects, s);
    for (size_t i = 0; i < w->g->vars.n; i++)
        if (w->effects.writes[i])
            w->known[i] = NULL;
}

static void late_stmt(struct late_walk *w, struct ir_stmt *s) {
    late_operands(w, s);
    late_branch(w, s->then_b);
    late_branch(w, s->else_b);
    for (size_t i = 0; i < s->cases.n; i++)
        late_branch(w, s->cases.v[i].body);
    bool plain = s->kind == IR_ASSIGN && !s->slice && !s->var->header && !s->var->valid;
    struct ir_expr *value = plain ? late_value(w, s->e) : NULL;
    late_forget(w, s);
    if (value && ir_is_const(value))
        w->known[s->var->id] = value;
}

static void late_block(struct late_walk *w, struct ir_block *b) {
    for (size_t i = 0; b && i < b->stmts.n; i++)
        late_stmt(w, b->stmts.v[i]);
}

static void late_state(struct late_walk *w, struct ir_state *state) {
    const struct ir_visitor v = {.ctx = w, .expr = late_expr};
    struct ir_expr **before = w->known;
    w->known = ARENA_ARRAY(w->lw->a, struct ir_expr *, w->g->vars.n + 1);
    late_block(w, state->body);
    for (size_t i = 0; i < state->keys.n; i++)
        ir_visit_expr(&v, state->keys.v[i]);
    w->known = before;
}

static void late_report(struct lower *lw) {
    for (size_t i = 0; i < lw->late.n; i++) {
        const struct late_op *op = &lw->late.v[i];
        if (op->met && !op->failed)
            continue;
        const enum ir_op kind = op->e->op;
        if (late_is_shift(op->e))
            lower_error(lw, op->at, "a Tofino shifts by distances known at compile time only");
        else
            lower_error(lw, op->at,
                        "a Tofino cannot %s at run time, except by constant powers of two",
                        kind == IR_MUL ? "multiply" : "divide");
    }
}

void late_gress(struct lower *lw, struct ir_gress *g) {
    if (lw->late.n == 0 || lw->gave_up)
        return;
    struct late_walk w = {.lw = lw,
                          .g = g,
                          .effects = ir_effects_none(lw->a, g),
                          .known = ARENA_ARRAY(lw->a, struct ir_expr *, g->vars.n + 1)};
    for (size_t i = 0; i < g->states.n; i++)
        late_state(&w, g->states.v[i]);
    late_branch(&w, g->control);
    late_branch(&w, g->deparser);
    for (size_t i = 0; i < g->actions.n; i++)
        late_branch(&w, g->actions.v[i]->body);
    for (size_t i = 0; i < g->regactions.n; i++)
        late_branch(&w, g->regactions.v[i]->body);
    for (size_t i = 0; i < g->tables.n; i++)
        late_branch(&w, g->tables.v[i]->select);
    late_report(lw);
    lw->late.n = 0;
}

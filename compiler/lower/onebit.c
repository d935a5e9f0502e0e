// SPDX-License-Identifier: Apache-2.0
//
// onebit: a stateful ALU's few ways with single bits (tna-facts 4.2).
//
// It sets the bit, clears it or leaves it, and returns the bit as it was before, or the complement
// of that. The chip's compiler makes one of these six instructions of any body without conditions
// and operands: also of 'value = 0; rv = value;', which therefore returns what was there before,
// and of a constant result. Here the body is walked once with symbols for what the variables hold,
// and then replaced by what the instruction does.
#include "compiler/lower/lower_impl.h"

enum symbol {
    OTHER,    // something that the instruction cannot give
    CONSTANT, // also the bit itself after it was written
    BEFORE,
    COMPLEMENT, // of BEFORE
};

struct onebit_known {
    const struct ir_var *var;
    enum symbol is;
    struct ir_expr *constant;  // of CONSTANT
    const struct ir_stmt *set; // null: not in the body
};

struct walk {
    struct lower *lw;
    const struct object *o;
    VEC(struct onebit_known) known;
    bool ended, failed;
};

static struct onebit_known *known_of(struct walk *w, const struct ir_var *var) {
    for (size_t i = 0; i < w->known.n; i++)
        if (w->known.v[i].var == var)
            return &w->known.v[i];
    return NULL;
}

static bool is_result(const struct object *o, const struct ir_var *var) {
    bool found = var == o->regaction->rv;
    for (size_t i = 0; i < sizeof o->results / sizeof *o->results; i++)
        found |= var == o->results[i];
    return found;
}

static struct onebit_known known_expr(struct walk *w, struct ir_expr *e) {
    struct arena *a = w->lw->a;
    struct onebit_known *var, of;
    switch (e->op) {
    case IR_CONST:
        return (struct onebit_known){.is = CONSTANT, .constant = e};
    case IR_VAR:
        var = known_of(w, e->var);
        return var ? *var : (struct onebit_known){.is = OTHER};
    case IR_NOT: // of what another variable kept, the chip's compiler loses the complement
        of = known_expr(w, e->a);
        if (of.is == CONSTANT)
            return (struct onebit_known){
                .is = CONSTANT, .constant = ir_const(a, e->width, big_not(a, of.constant->value))};
        if (of.is == BEFORE && e->a->op == IR_VAR && e->a->var == w->o->regaction->value[0])
            return (struct onebit_known){.is = COMPLEMENT};
        return (struct onebit_known){.is = OTHER};
    case IR_ZEXT:
        of = known_expr(w, e->a);
        if (of.is == CONSTANT)
            of.constant = ir_const(a, e->width, of.constant->value);
        return of;
    case IR_CONCAT:
        of = known_expr(w, e->b);
        if (!ir_is_const(e->a) || big_sign(e->a->value) != 0)
            of.is = OTHER;
        if (of.is == CONSTANT)
            of.constant = ir_const(a, e->width, of.constant->value);
        return of;
    default:
        return (struct onebit_known){.is = OTHER};
    }
}

static void lower_onebit_refuse(struct walk *w, struct loc at) {
    const struct object *o = w->o;
    if (!w->failed)
        lower_error(w->lw, at,
                    "%s '%s' can only set or clear %s, or read it: a stateful ALU has no "
                    "conditions for single bits",
                    o->type_name, o->name,
                    o->regaction->reg->of_selector ? "the bit of a selector's member" : "a bit");
    w->failed = true;
}

static void refuse_result(struct walk *w, struct loc at) {
    if (!w->failed)
        lower_error(w->lw, at,
                    "%s '%s' works on single bits: a stateful ALU returns the bit before, or its "
                    "complement ('rv = ~value;' before the bit is written)",
                    w->o->type_name, w->o->name);
    w->failed = true;
}

static void note_assignment(struct walk *w, const struct ir_stmt *s) {
    struct onebit_known to = known_expr(w, s->e);
    enum symbol is = to.is;
    bool cell = s->var == w->o->regaction->value[0], result = is_result(w->o, s->var);
    if ((s->slice && s->width != s->var->width) || (cell && is != CONSTANT && is != BEFORE)) {
        lower_onebit_refuse(w, s->at);
        return;
    }
    if (result && is == OTHER) {
        refuse_result(w, s->at);
        return;
    }
    if (!cell && !result && is == COMPLEMENT)
        to.is = OTHER;
    to.var = s->var;
    to.set = s;
    struct onebit_known *k = known_of(w, s->var);
    if (k)
        *k = to;
    else
        VEC_PUSH(w->lw->a, &w->known, to);
}

static void walk_block(struct walk *w, const struct ir_block *b) {
    for (size_t i = 0; i < b->stmts.n && !w->ended && !w->failed; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        if (s->kind == IR_ASSIGN)
            note_assignment(w, s);
        else if (s->kind == IR_BLOCK)
            walk_block(w, s->then_b);
        else if (s->kind == IR_LEAVE)
            w->ended = true; // there is no other way through the body
        else
            lower_onebit_refuse(w, s->at);
    }
}

static void put_result(struct walk *w, struct ir_block *to, struct ir_var *var) {
    struct arena *a = w->lw->a;
    const struct onebit_known *k = var ? known_of(w, var) : NULL;
    if (!k || !k->set)
        return;
    struct ir_stmt *s = ir_stmt_new(a, IR_ASSIGN, k->set->at);
    struct ir_expr *bit = ir_ref(a, w->o->regaction->value[0]);
    if (k->is == COMPLEMENT)
        bit = ir_unary(a, IR_NOT, bit);
    s->var = var;
    s->e = ir_resize(a, bit, var->width, false);
    VEC_PUSH(a, &to->stmts, s);
}

// One instruction has one result, which the outputs of a Tofino 2 all give.
static void lower_onebit_check_results(struct walk *w) {
    const struct onebit_known *first = NULL;
    for (size_t i = 0; i < w->known.n; i++) {
        const struct onebit_known *k = &w->known.v[i];
        if (!is_result(w->o, k->var))
            continue;
        if (first && (k->is == COMPLEMENT) != (first->is == COMPLEMENT))
            refuse_result(w, k->set->at);
        first = k;
    }
}

void onebit_action(struct lower *lw, struct object *o) {
    struct ir_regaction *ra = o->regaction;
    struct walk w = {.lw = lw, .o = o};
    if (ra->width != 1 || ra->words != 1 || !ra->value[0])
        return;
    VEC_PUSH(lw->a, &w.known, ((struct onebit_known){.var = ra->value[0], .is = BEFORE}));
    walk_block(&w, ra->body);
    if (!w.failed)
        lower_onebit_check_results(&w);
    if (w.failed)
        return;
    struct ir_block *body = ir_block_new(lw->a);
    put_result(&w, body, ra->rv);
    for (size_t i = 0; i < sizeof o->results / sizeof *o->results; i++)
        put_result(&w, body, o->results[i]);
    const struct onebit_known *cell = known_of(&w, ra->value[0]);
    if (cell->is == CONSTANT) {
        struct ir_stmt *s = ir_stmt_new(lw->a, IR_ASSIGN, cell->set->at);
        s->var = ra->value[0];
        s->e = cell->constant;
        VEC_PUSH(lw->a, &body->stmts, s);
    }
    ra->body = body;
}

void onebit_written(struct lower *lw, const struct ir_register *r, const struct ir_expr *value,
                    struct loc at) {
    if (r->width == 1 && !ir_is_const(value))
        lower_error(lw, at,
                    "register '%s' holds single bits: a stateful ALU only sets and clears them, so "
                    "the value must be a constant",
                    r->name);
}

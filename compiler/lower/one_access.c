// SPDX-License-Identifier: Apache-2.0
//
// one_access: a read and a write of one cell of a register that the chip executes as one access
// (tna-facts 6.1).
//
// The chip's compiler makes one register action of an action's read() and write() of a register,
// executed where the read is. What the packet sees of that is what the statements say, one after
// the other, only under conditions, which are asked here:
//
//   - the two have the same index, and nothing changes it between them;
//   - what is written is what the fields hold at the first of the two, or what was read; of values
//     computed between, those of fields alone, which the chip's compiler puts in their place;
//   - outside of actions, the write follows the read at once.
//
// Where one is not met the chip's compiler refuses the program or, worse, takes it and writes
// something else; here it is two accesses, an error.
#include "compiler/ir/build.h"
#include "compiler/ir/effects.h"
#include "compiler/ir/walk.h"
#include "compiler/lower/lower_impl.h"

// A variable that was given a value between the two.
struct one_access_value {
    const struct ir_var *var;
    const struct ir_expr *e; // of fields that still have their value; null: something else
};

struct one_access {
    struct arena *a;
    const struct ir_stmt *first, *second;
    VEC(struct one_access_value) values;
    const struct ir_stmt *at; // whose writes are noted
    bool apart;               // they are two accesses
};

static bool is_plain(const struct ir_stmt *s) {
    return (s->kind == IR_REG_READ || s->kind == IR_REG_WRITE) && s->e && s->reg->words == 1;
}

static struct one_access_value *value_between(struct one_access *o, const struct ir_var *v) {
    for (size_t i = 0; i < o->values.n; i++)
        if (o->values.v[i].var == v)
            return &o->values.v[i];
    return NULL;
}

static void look_for_computed(void *aux, const struct ir_expr *x) {
    struct one_access *o = aux;
    if (x->op == IR_VAR && (value_between(o, x->var) || x->var == o->first->var))
        o->at = NULL;
}

// The value that 's' assigns, if it is one of fields that nothing was assigned to since.
static const struct ir_expr *of_fields(struct one_access *o, const struct ir_stmt *s) {
    if (s->kind != IR_ASSIGN || s->slice)
        return NULL;
    o->at = s;
    ir_walk_expr(s->e, look_for_computed, o);
    const bool computed = !o->at;
    o->at = s;
    return computed || ir_mentions(s->e, s->var) ? NULL : s->e;
}

static void one_access_written(void *aux, const struct ir_var *v) {
    struct one_access *o = aux;
    o->apart |= ir_mentions(o->first->e, v);
    o->apart |= o->first->kind == IR_REG_WRITE && ir_mentions(o->first->e2, v);
    for (size_t i = 0; i < o->values.n; i++)
        if (o->values.v[i].e && ir_mentions(o->values.v[i].e, v))
            o->values.v[i].e = NULL;
    if (o->at == o->first)
        return; // what was read is known
    const struct one_access_value x = {.var = v, .e = of_fields(o, o->at)};
    struct one_access_value *known = value_between(o, v);
    if (known)
        *known = x;
    else
        VEC_PUSH(o->a, &o->values, x);
}

// A statement from which the walk goes on in one way, to the next.
static bool is_straight(const struct ir_stmt *s) {
    switch (s->kind) {
    case IR_ASSIGN:
    case IR_SET_VALID:
    case IR_SET_INVALID:
    case IR_COUNT:
    case IR_METER_EXEC:
    case IR_HASH:
    case IR_RANDOM:
    case IR_REG_EXEC:
    case IR_REG_READ:
    case IR_REG_WRITE:
        return true;
    default:
        return false;
    }
}

static const struct ir_register *accessed(const struct ir_stmt *s) {
    return s->kind == IR_REG_EXEC ? s->regaction->reg : s->reg;
}

static void one_access_look(void *aux, const struct ir_expr *x) {
    struct one_access *o = aux;
    const struct one_access_value *v = x->op == IR_VAR ? value_between(o, x->var) : NULL;
    o->apart |= v && !v->e;
}

// Whether statement 'j' of the block is one access with 'i', which is before it.
static bool joins(struct one_access *o, const struct ir_block *b, size_t i, size_t j) {
    for (size_t k = i; k < j && !o->apart; k++) {
        o->at = b->stmts.v[k];
        if (k > i && (!is_straight(o->at) || accessed(o->at) == o->first->reg))
            return false;
        ir_each_written(o->at, one_access_written, o);
    }
    if (o->second->kind == IR_REG_WRITE)
        ir_walk_expr(o->second->e2, one_access_look, o);
    return !o->apart;
}

// The first statement from 'i' on that does not belong to the read: where its result goes to parts
// of a field the read has a variable of its own.
static size_t after_read(const struct ir_block *b, size_t i, const struct ir_stmt *read) {
    while (read->var->name[0] == '$' && b->stmts.v[i]->kind == IR_ASSIGN &&
           ir_mentions(b->stmts.v[i]->e, read->var))
        i++;
    return i;
}

static bool one_access_may(const struct ir_block *b, size_t i, size_t j, bool in_action) {
    const struct ir_stmt *x = b->stmts.v[i], *y = b->stmts.v[j];
    if (!is_plain(x) || x->reg != y->reg || x->kind == y->kind || x->continues ||
        !ir_same(x->e, y->e))
        return false;
    if (in_action || (x->action_call && x->action_call == y->action_call))
        return true;
    return !x->action_call && !y->action_call && x->kind == IR_REG_READ &&
           after_read(b, i + 1, x) == j;
}

static void join_in_block(struct arena *a, const struct ir_block *b, bool in_action) {
    for (size_t j = 0; b && j < b->stmts.n; j++) {
        struct ir_stmt *s = b->stmts.v[j];
        join_in_block(a, s->then_b, in_action);
        join_in_block(a, s->else_b, in_action);
        for (size_t k = 0; k < s->cases.n; k++)
            join_in_block(a, s->cases.v[k].body, in_action);
        for (size_t i = j; is_plain(s) && !s->continues && i-- > 0;) {
            struct one_access o = {.a = a, .first = b->stmts.v[i], .second = s};
            if (one_access_may(b, i, j, in_action))
                s->continues = joins(&o, b, i, j);
        }
    }
}

void join_accesses(struct arena *a, struct ir_gress *g) {
    join_in_block(a, g->control, false);
    for (size_t i = 0; i < g->actions.n; i++)
        join_in_block(a, g->actions.v[i]->body, true);
}

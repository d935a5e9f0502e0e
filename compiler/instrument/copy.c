// SPDX-License-Identifier: Apache-2.0
//
// copy: a gress with the same variables, headers and objects, and statements of its own.
#include "compiler/instrument/instrument_impl.h"
#include "compiler/ir/build.h"

#include <string.h>

struct copier {
    struct arena *a;
    const struct instrument_inserter *in;
    struct ir_gress *to; // its lists have the copies, by id
};

static void *instrument_copy_bytes(struct arena *a, const void *from, size_t bytes) {
    void *const to = arena_alloc(a, bytes + 1);
    if (bytes)
        memcpy(to, from, bytes);
    return to;
}
// The list's elements are the copy's own.
#define OWN_LIST(a, list)                                                                          \
    do {                                                                                           \
        (list).v = instrument_copy_bytes(a, (list).v, (list).n * sizeof *(list).v);                \
        (list).cap = (list).n;                                                                     \
    } while (0)
// And what they point to.
#define OWN_OBJECTS(a, list)                                                                       \
    do {                                                                                           \
        OWN_LIST(a, list);                                                                         \
        for (size_t i_ = 0; i_ < (list).n; i_++)                                                   \
            (list).v[i_] = instrument_copy_bytes(a, (list).v[i_], sizeof *(list).v[i_]);           \
    } while (0)

// ---- statements ----

static struct ir_block *instrument_copy_block(const struct copier *c, const struct ir_block *b);

static struct ir_stmt *instrument_copy_stmt(const struct copier *c, const struct ir_stmt *s) {
    struct ir_stmt *const copy = instrument_copy_bytes(c->a, s, sizeof *s);
    copy->then_b = instrument_copy_block(c, s->then_b);
    copy->else_b = instrument_copy_block(c, s->else_b);
    OWN_LIST(c->a, copy->cases);
    for (size_t i = 0; i < s->cases.n; i++)
        copy->cases.v[i].body = instrument_copy_block(c, s->cases.v[i].body);
    if (s->table)
        copy->table = c->to->tables.v[s->table->id];
    return copy;
}

static void instrument_copy_stmts(const struct copier *c, struct ir_block *to,
                                  const struct ir_block *b) {
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        struct ir_stmt *const s = instrument_copy_stmt(c, b->stmts.v[i]);
        if (c->in->before)
            c->in->before(c->in->aux, to, s);
        ir_push(c->a, to, s);
    }
}

static struct ir_block *instrument_copy_block(const struct copier *c, const struct ir_block *b) {
    if (!b)
        return NULL;
    struct ir_block *const to = ir_block_new(c->a);
    instrument_copy_stmts(c, to, b);
    return to;
}

// ---- what has bodies, and what refers to it ----

static struct ir_action *action_of(const struct copier *c, const struct ir_action *a) {
    return a ? c->to->actions.v[a->id] : NULL;
}

static void instrument_copy_action(const struct copier *c, struct ir_action *a) {
    const struct ir_block *const body = a->body;
    a->body = ir_block_new(c->a);
    if (c->in->action)
        c->in->action(c->in->aux, a->body, a);
    instrument_copy_stmts(c, a->body, body);
}

static void instrument_copy_state(const struct copier *c, struct ir_state *st) {
    const struct ir_block *const body = st->body;
    st->body = ir_block_new(c->a);
    instrument_copy_stmts(c, st->body, body);
    if (c->in->select && st->keys.n)
        c->in->select(c->in->aux, st->body, st);
}

static void instrument_copy_table(const struct copier *c, struct ir_table *t) {
    OWN_LIST(c->a, t->actions);
    for (size_t i = 0; i < t->actions.n; i++)
        t->actions.v[i].action = action_of(c, t->actions.v[i].action);
    t->default_action = action_of(c, t->default_action);
    OWN_OBJECTS(c->a, t->entries);
    for (size_t i = 0; i < t->entries.n; i++)
        t->entries.v[i]->action = action_of(c, t->entries.v[i]->action);
    if (t->profile)
        t->profile = c->to->profiles.v[t->profile->id];
    if (t->selector)
        t->selector = c->to->selectors.v[t->selector->id];
    t->select = instrument_copy_block(c, t->select);
    if (c->in->table)
        c->in->table(c->in->aux, t);
}

static void instrument_copy_profiles(const struct copier *c) {
    struct ir_gress *const to = c->to;
    for (size_t i = 0; i < to->profiles.n; i++) {
        struct ir_action_profile *const p = to->profiles.v[i];
        OWN_LIST(c->a, p->actions);
        for (size_t k = 0; k < p->actions.n; k++)
            p->actions.v[k].action = action_of(c, p->actions.v[k].action);
    }
    for (size_t i = 0; i < to->selectors.n; i++)
        to->selectors.v[i]->profile = to->profiles.v[to->selectors.v[i]->profile->id];
}

struct ir_gress instrument_copy(struct arena *a, const struct ir_gress *g,
                                const struct instrument_inserter *in) {
    struct ir_gress to = *g;
    const struct copier c = {a, in, &to};
    if (g->registers.n || g->regactions.n)
        DIAG_BUG("registers are not copied");
    OWN_OBJECTS(a, to.states);
    OWN_OBJECTS(a, to.actions);
    OWN_OBJECTS(a, to.tables);
    OWN_OBJECTS(a, to.profiles);
    OWN_OBJECTS(a, to.selectors);
    for (size_t i = 0; i < to.states.n; i++)
        instrument_copy_state(&c, to.states.v[i]);
    for (size_t i = 0; i < to.actions.n; i++)
        instrument_copy_action(&c, to.actions.v[i]);
    instrument_copy_profiles(&c);
    for (size_t i = 0; i < to.tables.n; i++)
        instrument_copy_table(&c, to.tables.v[i]);
    to.control = instrument_copy_block(&c, g->control);
    to.deparser = instrument_copy_block(&c, g->deparser);
    return to;
}

// SPDX-License-Identifier: Apache-2.0
//
// copy: a gress whose statements may be changed, with statements put in.
#include "compiler/instrument/instrument_impl.h"

#include "compiler/ir/build.h"

#include <string.h>

// 'g' is the copy; what it has in a list stands where the original has it.
struct copier {
    struct arena *a;
    struct ir_gress *g;
    const struct instrument_inserter *in;
};

// What stands for an object of the original; null for null.
#define TWIN(c, list, x) ((x) ? (c)->g->list.v[(x)->id] : NULL)

// Gives a vector storage of its own.
#define OWN(c, vec)                                                                                \
    do {                                                                                           \
        void *const own_ = arena_alloc((c)->a, ((vec)->n + 1) * sizeof *(vec)->v);                 \
        if ((vec)->n)                                                                              \
            memcpy(own_, (vec)->v, (vec)->n * sizeof *(vec)->v);                                   \
        (vec)->v = own_;                                                                           \
        (vec)->cap = (vec)->n + 1;                                                                 \
    } while (0)

// A list of objects of the copy's own, each as the original is.
#define OWN_OBJECTS(c, type, list)                                                                 \
    do {                                                                                           \
        OWN(c, list);                                                                              \
        for (size_t i_ = 0; i_ < (list)->n; i_++) {                                                \
            type *const own_ = ARENA_NEW((c)->a, type);                                            \
            *own_ = *(list)->v[i_];                                                                \
            (list)->v[i_] = own_;                                                                  \
        }                                                                                          \
    } while (0)

static struct ir_block *instrument_copy_block(const struct copier *c, const struct ir_block *b);

static struct ir_stmt *instrument_copy_stmt(const struct copier *c, const struct ir_stmt *from) {
    struct ir_stmt *s = ARENA_NEW(c->a, struct ir_stmt);
    *s = *from;
    s->then_b = instrument_copy_block(c, s->then_b);
    s->else_b = instrument_copy_block(c, s->else_b);
    if (s->cases.n)
        OWN(c, &s->cases);
    for (size_t i = 0; i < s->cases.n; i++)
        s->cases.v[i].body = instrument_copy_block(c, s->cases.v[i].body);
    s->table = TWIN(c, tables, s->table);
    s->regaction = TWIN(c, regactions, s->regaction);
    s->reg = TWIN(c, registers, s->reg);
    return s;
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
    OWN(c, &t->actions);
    for (size_t i = 0; i < t->actions.n; i++)
        t->actions.v[i].action = TWIN(c, actions, t->actions.v[i].action);
    t->default_action = TWIN(c, actions, t->default_action);
    OWN_OBJECTS(c, struct ir_entry, &t->entries);
    for (size_t i = 0; i < t->entries.n; i++)
        t->entries.v[i]->action = TWIN(c, actions, t->entries.v[i]->action);
    OWN(c, &t->direct_registers);
    for (size_t i = 0; i < t->direct_registers.n; i++)
        t->direct_registers.v[i] = TWIN(c, registers, t->direct_registers.v[i]);
    t->profile = TWIN(c, profiles, t->profile);
    t->selector = TWIN(c, selectors, t->selector);
    t->select = instrument_copy_block(c, t->select);
    t->reports = instrument_copy_block(c, t->reports);
    if (c->in->table)
        c->in->table(c->in->aux, t);
}

static void instrument_copy_registers(const struct copier *c) {
    for (size_t i = 0; i < c->g->registers.n; i++) {
        struct ir_register *r = c->g->registers.v[i];
        r->overflow = TWIN(c, regactions, r->overflow);
        r->underflow = TWIN(c, regactions, r->underflow);
        r->of_selector = TWIN(c, selectors, r->of_selector);
    }
    for (size_t i = 0; i < c->g->regactions.n; i++) {
        struct ir_regaction *ra = c->g->regactions.v[i];
        ra->reg = TWIN(c, registers, ra->reg);
        ra->body = instrument_copy_block(c, ra->body);
    }
}

static void instrument_copy_profiles(const struct copier *c) {
    for (size_t i = 0; i < c->g->profiles.n; i++) {
        struct ir_action_profile *p = c->g->profiles.v[i];
        OWN(c, &p->actions);
        for (size_t k = 0; k < p->actions.n; k++)
            p->actions.v[k].action = TWIN(c, actions, p->actions.v[k].action);
    }
    for (size_t i = 0; i < c->g->selectors.n; i++) {
        struct ir_selector *s = c->g->selectors.v[i];
        s->profile = TWIN(c, profiles, s->profile);
        s->memory = TWIN(c, registers, s->memory);
    }
}

struct ir_var *instrument_new_var(struct arena *a, struct ir_gress *g, const char *name,
                                  unsigned width, struct loc at) {
    struct ir_var *v = ARENA_NEW(a, struct ir_var);
    v->id = (unsigned)g->vars.n;
    v->name = name;
    v->width = width;
    v->at = at;
    VEC_PUSH(a, &g->vars, v);
    return v;
}

struct ir_pipeline *instrument_gresses(struct arena *a, const struct ir_pipeline *pl,
                                       struct ir_gress (*of)(struct arena *a,
                                                             const struct ir_gress *from)) {
    struct ir_pipeline *copy = ARENA_NEW(a, struct ir_pipeline);
    *copy = *pl;
    for (unsigned k = 0; k < 2; k++)
        copy->gress[k] = of(a, &pl->gress[k]);
    return copy;
}

void instrument_extracted(struct arena *a, struct ir_block **out, struct loc at,
                          const struct ir_stmt *extract,
                          void (*fn)(void *aux, const struct ir_header *h), void *aux) {
    struct ir_block *const around = *out;
    if (extract->headers.n == 0) {
        fn(aux, extract->header);
        return;
    }
    struct ir_stmt *which = ir_stmt_new(a, IR_SWITCH, at);
    which->e = extract->e;
    ir_push(a, around, which);
    for (size_t i = 0; i < extract->headers.n; i++) {
        struct ir_case of = {.body = ir_block_new(a)};
        VEC_PUSH(a, &of.values, big_u64(a, i));
        *out = of.body;
        fn(aux, extract->headers.v[i]);
        VEC_PUSH(a, &which->cases, of);
    }
    *out = around;
}

const char *instrument_shown_name(struct arena *a, const char *name) {
    const char *part = strstr(name, ".$");
    return part ? arena_strndup(a, name, (size_t)(part - name)) : name;
}

struct ir_gress instrument_copy(struct arena *a, const struct ir_gress *from,
                                const struct instrument_inserter *in) {
    static const struct instrument_inserter nothing;
    struct ir_gress g = *from;
    const struct copier c = {a, &g, in ? in : &nothing};
    OWN(&c, &g.vars);
    OWN(&c, &g.places);
    OWN_OBJECTS(&c, struct ir_state, &g.states);
    OWN_OBJECTS(&c, struct ir_action, &g.actions);
    OWN_OBJECTS(&c, struct ir_table, &g.tables);
    OWN_OBJECTS(&c, struct ir_action_profile, &g.profiles);
    OWN_OBJECTS(&c, struct ir_selector, &g.selectors);
    OWN_OBJECTS(&c, struct ir_register, &g.registers);
    OWN_OBJECTS(&c, struct ir_regaction, &g.regactions);
    instrument_copy_registers(&c);
    for (size_t i = 0; i < g.states.n; i++)
        instrument_copy_state(&c, g.states.v[i]);
    for (size_t i = 0; i < g.actions.n; i++)
        instrument_copy_action(&c, g.actions.v[i]);
    instrument_copy_profiles(&c);
    for (size_t i = 0; i < g.tables.n; i++)
        instrument_copy_table(&c, g.tables.v[i]);
    g.control = instrument_copy_block(&c, g.control);
    g.deparser = instrument_copy_block(&c, g.deparser);
    g.leaving = instrument_copy_block(&c, g.leaving);
    return g;
}

// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/effects.h"
#include "compiler/ir/walk.h"

#include <string.h>

struct ir_effects ir_effects_none(struct arena *a, const struct ir_gress *g) {
    return (struct ir_effects){
        .g = g,
        .reads = ARENA_ARRAY(a, bool, g->vars.n + 1),
        .assigned = ARENA_ARRAY(a, bool, g->vars.n + 1),
        .writes = ARENA_ARRAY(a, bool, g->vars.n + 1),
        .registers = ARENA_ARRAY(a, bool, g->registers.n + 1),
        .cells = ARENA_ARRAY(a, bool, g->registers.n + 1),
        .extracted = ARENA_ARRAY(a, bool, g->headers.n + 1),
        .set_valid = ARENA_ARRAY(a, bool, g->headers.n + 1),
        .set_invalid = ARENA_ARRAY(a, bool, g->headers.n + 1),
        .emitted = ARENA_ARRAY(a, bool, g->headers.n + 1),
        .has_table = ARENA_ARRAY(a, bool, g->tables.n + 1),
        .has_action = ARENA_ARRAY(a, bool, g->actions.n + 1),
        .has_regaction = ARENA_ARRAY(a, bool, g->regactions.n + 1),
    };
}

void ir_effects_clear(struct ir_effects *f) {
    const struct ir_gress *g = f->g;
    memset(f->reads, 0, g->vars.n);
    memset(f->assigned, 0, g->vars.n);
    memset(f->writes, 0, g->vars.n);
    memset(f->registers, 0, g->registers.n);
    memset(f->cells, 0, g->registers.n);
    memset(f->extracted, 0, g->headers.n);
    memset(f->set_valid, 0, g->headers.n);
    memset(f->set_invalid, 0, g->headers.n);
    memset(f->emitted, 0, g->headers.n);
    memset(f->has_table, 0, g->tables.n);
    memset(f->has_action, 0, g->actions.n);
    memset(f->has_regaction, 0, g->regactions.n);
    f->kinds = 0;
}

size_t ir_results(const struct ir_stmt *s, const struct ir_var *results[IR_MAX_RESULTS]) {
    const struct ir_var *const slots[IR_MAX_RESULTS] = {s->var, s->var2, s->hit, s->action_run};
    size_t n = 0;
    for (size_t i = 0; i < IR_MAX_RESULTS; i++)
        if (slots[i])
            results[n++] = slots[i];
    return n;
}

static void each_of_header(const struct ir_header *h, void (*fn)(void *aux, const struct ir_var *v),
                           void *aux) {
    fn(aux, h->valid);
    for (size_t i = 0; i < h->fields.n; i++)
        fn(aux, h->fields.v[i]);
}

void ir_each_written(const struct ir_stmt *s, void (*fn)(void *aux, const struct ir_var *v),
                     void *aux) {
    const struct ir_var *results[IR_MAX_RESULTS];
    for (size_t i = 0, n = ir_results(s, results); i < n; i++)
        fn(aux, results[i]);
    if (s->header && s->kind != IR_EMIT && s->kind != IR_NOTE)
        each_of_header(s->header, fn, aux);
    for (size_t i = 0; i < s->headers.n; i++)
        each_of_header(s->headers.v[i], fn, aux);
}

// ---- expressions ----

static void ir_effects_read_var(struct ir_effects *f, const struct ir_var *v) {
    if (v)
        f->reads[v->id] = true;
}

static void add_node(void *aux, const struct ir_expr *x) {
    if (x->op == IR_VAR)
        ir_effects_read_var(aux, x->var);
}

void ir_effects_add_expr(struct ir_effects *f, const struct ir_expr *x) {
    ir_walk_expr(x, add_node, f);
}

// ---- statements ----

static void ir_effects_assign(struct ir_effects *f, const struct ir_var *v) {
    if (v)
        f->assigned[v->id] = f->writes[v->id] = true;
}

static void write_validity(struct ir_effects *f, const struct ir_header *h) {
    if (h->valid)
        f->writes[h->valid->id] = true;
}

static void add_header(struct ir_effects *f, enum ir_stmt_kind kind, const struct ir_header *h) {
    switch (kind) {
    case IR_SET_VALID:
        f->set_valid[h->id] = true;
        write_validity(f, h);
        break;
    case IR_SET_INVALID:
        f->set_invalid[h->id] = true;
        write_validity(f, h);
        break;
    case IR_EXTRACT:
        f->extracted[h->id] = true;
        write_validity(f, h);
        break;
    case IR_NOTE: // it is about the statement after it
        break;
    default: // IR_EMIT, the only other one that has a header
        f->emitted[h->id] = true;
        ir_effects_read_var(f, h->valid);
    }
}

static void add_execution(struct ir_effects *f, const struct ir_stmt *s) {
    const struct ir_register *r = s->regaction->reg;
    ir_effects_add_regaction(f, s->regaction);
    if (s->use && r->overflow)
        ir_effects_add_regaction(f, r->overflow);
    if (s->use && r->underflow)
        ir_effects_add_regaction(f, r->underflow);
    f->cells[r->id] |= s->use != IR_REG_INDEX; // the counters, at least
}

static void add_one(void *aux, const struct ir_stmt *s) {
    struct ir_effects *f = aux;
    const struct ir_var *results[IR_MAX_RESULTS];
    f->kinds |= UINT64_C(1) << s->kind;
    for (size_t i = 0, n = ir_results(s, results); i < n; i++)
        ir_effects_assign(f, results[i]);
    if (s->kind == IR_CSUM_VERIFY || s->slice) // a part of what it was stays
        ir_effects_read_var(f, s->var);
    if (s->header)
        add_header(f, s->kind, s->header);
    for (size_t i = 0; i < s->headers.n; i++)
        add_header(f, s->kind, s->headers.v[i]);
    for (size_t i = 0; i < s->csum_args.n; i++)
        if (s->csum_args.v[i].only_if)
            ir_effects_read_var(f, s->csum_args.v[i].only_if->valid);
    if (s->table)
        ir_effects_add_table(f, s->table);
    if (s->reg)
        f->registers[s->reg->id] = true;
    if (s->reg && s->kind == IR_REG_WRITE)
        f->cells[s->reg->id] = true;
    if (s->regaction)
        add_execution(f, s);
}

void ir_effects_add_stmt(struct ir_effects *f, const struct ir_stmt *s) {
    ir_walk_stmt(s, add_one, add_node, f);
}

void ir_effects_add_block(struct ir_effects *f, const struct ir_block *b) {
    ir_walk(b, add_one, add_node, f);
}

// ---- what statements run ----

void ir_effects_add_action(struct ir_effects *f, const struct ir_action *x) {
    if (f->has_action[x->id])
        return;
    f->has_action[x->id] = true;
    for (size_t i = 0; i < x->params.n; i++)
        ir_effects_assign(f, x->params.v[i].var);
    ir_effects_add_block(f, x->body);
}

void ir_effects_add_table(struct ir_effects *f, const struct ir_table *t) {
    if (f->has_table[t->id])
        return;
    f->has_table[t->id] = true;
    for (size_t i = 0; i < t->keys.n; i++)
        ir_effects_add_expr(f, t->keys.v[i].expr);
    for (size_t i = 0; i < t->key_defined.n; i++)
        ir_effects_add_expr(f, t->key_defined.v[i]);
    ir_effects_assign(f, t->doubtful);
    ir_effects_add_block(f, t->reports);
    for (size_t i = 0; i < t->actions.n; i++)
        ir_effects_add_action(f, t->actions.v[i].action);
    ir_effects_add_action(f, t->default_action);
    for (size_t i = 0; t->profile && i < t->profile->actions.n; i++)
        ir_effects_add_action(f, t->profile->actions.v[i].action);
    for (size_t i = 0; i < t->direct_registers.n; i++)
        f->registers[t->direct_registers.v[i]->id] = true;
    ir_effects_add_block(f, t->select);
    ir_effects_read_var(f, t->select_hash);
}

void ir_effects_add_regaction(struct ir_effects *f, const struct ir_regaction *ra) {
    if (f->has_regaction[ra->id])
        return;
    f->has_regaction[ra->id] = true;
    f->registers[ra->reg->id] = true;
    ir_effects_add_block(f, ra->body);
    for (size_t i = 0; i < 2; i++)
        f->cells[ra->reg->id] |= ra->value[i] && f->assigned[ra->value[i]->id];
    f->cells[ra->reg->id] |= ra->part && f->assigned[ra->part->id];
}

void ir_effects_add_state(struct ir_effects *f, const struct ir_state *st) {
    ir_effects_add_block(f, st->body);
    for (size_t i = 0; i < st->keys.n; i++)
        ir_effects_add_expr(f, st->keys.v[i]);
}

void ir_effects_add_parser(struct ir_effects *f) {
    for (size_t i = 0; i < f->g->states.n; i++)
        ir_effects_add_state(f, f->g->states.v[i]);
}

void ir_effects_add_rest(struct ir_effects *f) {
    const struct ir_gress *g = f->g;
    ir_effects_add_block(f, g->control);
    ir_effects_add_block(f, g->deparser);
    ir_effects_add_block(f, g->leaving);
    for (size_t i = 0; i < g->tables.n; i++)
        ir_effects_add_table(f, g->tables.v[i]);
    for (size_t i = 0; i < g->actions.n; i++)
        ir_effects_add_action(f, g->actions.v[i]);
    for (size_t i = 0; i < g->regactions.n; i++)
        ir_effects_add_regaction(f, g->regactions.v[i]);
}

// ---- questions ----

bool ir_effects_has(const struct ir_effects *f, enum ir_stmt_kind kind) {
    return f->kinds >> kind & 1;
}

struct written {
    const struct ir_effects *f;
    bool found;
};

static void find_written(void *aux, const struct ir_expr *x) {
    struct written *w = aux;
    w->found |= x->op == IR_VAR && w->f->writes[x->var->id];
}

bool ir_effects_write_expr(const struct ir_effects *f, const struct ir_expr *x) {
    struct written w = {.f = f};
    ir_walk_expr(x, find_written, &w);
    return w.found;
}

bool ir_effects_may_remove(const struct ir_effects *f, const struct ir_header *h) {
    return f->set_invalid[h->id] || (h->valid && f->assigned[h->valid->id]);
}

bool ir_effects_may_add(const struct ir_effects *f, const struct ir_header *h) {
    return f->set_valid[h->id] || (h->valid && f->assigned[h->valid->id]);
}

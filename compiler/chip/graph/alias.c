// SPDX-License-Identifier: Apache-2.0
//
// alias: copies that the chip's compiler does not make.
//
//     md.out.setValid(); md.out.status = md.status;
//
// A header that the control makes valid, bridged metadata in most programs, has its fields in the
// containers of what is copied into them, if nothing speaks against it: such a field is written by
// nothing but copies of one other field of its width, each in an action that makes the header
// valid, and that other field is not written afterwards. Then the copy takes no instruction, and
// does not wait for what writes the other field.
#include "compiler/chip/graph/graph_impl.h"
#include "compiler/ir/effects.h"

#define MOST_NESTED 1000u // blocks; what is deeper is not looked at

struct alias {
    const struct ir_var *from; // null: none so far
    bool refused, read, computed, is_param;
    VEC(struct ir_stmt *) copies;
    VEC(const struct ir_var *) to; // fields that have been copied from it
};
struct aliases {
    struct graph *g;
    struct arena *a;
    bool *parsed;         // by header id: the parser makes it valid
    struct alias *of;     // by variable id
    bool *visited_action; // by id
    unsigned action;      // the number of the action that the walk is in, from 1 on
    unsigned *valid_in;   // by header id: the last action that makes it valid
};

static struct alias *alias_of(const struct aliases *s, const struct ir_var *v) {
    return v && v->id < s->g->n_vars ? &s->of[v->id] : NULL;
}

// ---- what is known of all ----------------------------------------------------------------------

static void alias_parsed(void *ctx, struct ir_stmt *t) {
    struct aliases *s = ctx;
    if (t->header && (t->kind == IR_EXTRACT || t->kind == IR_SET_VALID))
        s->parsed[t->header->id] = true;
    for (size_t i = 0; t->kind == IR_EXTRACT && i < t->headers.n; i++)
        s->parsed[t->headers.v[i]->id] = true;
}

static void alias_read(void *ctx, struct ir_expr *e) {
    struct alias *x = e->op == IR_VAR ? alias_of(ctx, e->var) : NULL;
    if (x)
        x->read = true;
}

static void alias_find_reads(struct aliases *s) {
    const struct ir_gress *ir = s->g->ir;
    const struct ir_visitor reads = {.ctx = s, .expr = alias_read, .shallow = true};
    const struct ir_visitor parsed = {.ctx = s, .stmt = alias_parsed, .shallow = true};
    for (size_t i = 0; i < ir->states.n; i++)
        ir_visit_block(&parsed, ir->states.v[i]->body);
    ir_visit_block(&reads, s->g->control);
    for (size_t i = 0; i < ir->actions.n; i++) {
        ir_visit_block(&reads, s->g->action_bodies[i]);
        for (size_t k = 0; k < ir->actions.v[i]->params.n; k++)
            s->of[ir->actions.v[i]->params.v[k].var->id].is_param = true;
    }
    for (size_t i = 0; i < ir->regactions.n; i++)
        ir_visit_block(&reads, ir->regactions.v[i]->body);
    for (size_t i = 0; i < ir->tables.n; i++) {
        ir_visit_block(&reads, ir->tables.v[i]->select);
        for (size_t k = 0; k < ir->tables.v[i]->keys.n; k++)
            ir_visit_expr(&reads, ir->tables.v[i]->keys.v[k].expr);
    }
}

// ---- copies, in program order -------------------------------------------------------------------

static void alias_changed(struct aliases *s, const struct ir_var *source) {
    struct alias *x = alias_of(s, source);
    for (size_t i = 0; x && i < x->to.n; i++)
        alias_of(s, x->to.v[i])->refused = true;
    if (x)
        x->to.n = 0;
}

static void alias_wrote(void *ctx, const struct ir_var *v) {
    struct alias *x = alias_of(ctx, v);
    if (x)
        x->refused = true;
    alias_changed(ctx, v);
}

// Where in its byte a field of a header ends.
static unsigned alias_alignment(const struct ir_var *v) {
    return (v->bit_offset + v->width) % 8;
}

static bool alias_is_copy(const struct aliases *s, const struct ir_stmt *t) {
    if (t->kind != IR_ASSIGN || t->slice || t->in_hash || t->e->op != IR_VAR)
        return false;
    const struct ir_var *to = t->var, *from = t->e->var;
    const struct alias *x = alias_of(s, from);
    return alias_of(s, to) && to->header && !s->parsed[to->header->id] && x && !x->is_param &&
           (!from->header || alias_alignment(from) == alias_alignment(to));
}

static void alias_copy(struct aliases *s, struct ir_stmt *t) {
    struct alias *x = alias_of(s, t->var), *y = alias_of(s, t->e->var);
    x->refused |= x->from && x->from != t->e->var;
    x->from = t->e->var;
    VEC_PUSH(s->a, &x->copies, t);
    VEC_PUSH(s->a, &y->to, t->var);
    alias_changed(s, t->var);
}

static void alias_walk(struct aliases *s, struct ir_block *b, unsigned depth);

// Statements [from, end) are of one action.
static void alias_action(struct aliases *s, struct ir_block *b, size_t from, size_t end) {
    s->action++;
    for (size_t i = from; i < end; i++)
        if (b->stmts.v[i]->kind == IR_SET_VALID)
            s->valid_in[b->stmts.v[i]->header->id] = s->action;
    for (size_t i = from; i < end; i++) {
        struct ir_stmt *t = b->stmts.v[i];
        struct alias *x = t->kind == IR_ASSIGN ? alias_of(s, t->var) : NULL;
        if (x && (t->e->op == IR_ADD || t->e->op == IR_SUB))
            x->computed = true;
        if (alias_is_copy(s, t) && s->valid_in[t->var->header->id] == s->action)
            alias_copy(s, t);
        else if (t->kind != IR_SET_VALID && t->kind != IR_SET_INVALID)
            ir_each_written(t, alias_wrote, s);
    }
}

static void alias_nested(struct aliases *s, struct ir_stmt *t, unsigned depth) {
    for (size_t i = 0; t->kind == IR_APPLY && i < t->table->actions.n; i++) {
        const unsigned id = t->table->actions.v[i].action->id;
        if (!s->visited_action[id])
            alias_walk(s, s->g->action_bodies[id], depth);
        s->visited_action[id] = true;
    }
    ir_each_written(t, alias_wrote, s);
    alias_walk(s, t->then_b, depth);
    alias_walk(s, t->else_b, depth);
    for (size_t i = 0; i < t->cases.n; i++)
        alias_walk(s, t->cases.v[i].body, depth);
}

static void alias_walk(struct aliases *s, struct ir_block *b, unsigned depth) {
    for (size_t i = 0; b && depth < MOST_NESTED && i < b->stmts.n;) {
        size_t end = i;
        while (end < b->stmts.n && graph_is_plain(b->stmts.v[end]) &&
               b->stmts.v[end]->action_call == b->stmts.v[i]->action_call)
            end++;
        alias_action(s, b, i, end);
        if (end == i)
            alias_nested(s, b->stmts.v[end++], depth + 1);
        i = end;
    }
}

// An ALU adds whole containers, which such a field would share with others.
static bool alias_is_uneven(const struct aliases *s, const struct ir_var *v) {
    return v->width % 8 != 0 && alias_of(s, v)->computed;
}

void graph_alias(struct graph *g) {
    struct aliases s = {.g = g, .a = g->a};
    s.parsed = ARENA_ARRAY(g->a, bool, g->ir->headers.n + 1);
    s.of = ARENA_ARRAY(g->a, struct alias, g->n_vars + 1);
    s.visited_action = ARENA_ARRAY(g->a, bool, g->ir->actions.n + 1);
    s.valid_in = ARENA_ARRAY(g->a, unsigned, g->ir->headers.n + 1);
    alias_find_reads(&s);
    alias_walk(&s, g->control, 0);
    for (unsigned i = 0; i < g->n_vars; i++) {
        const struct alias *x = &s.of[i];
        for (size_t k = 0; k < x->copies.n && !x->refused && !x->read; k++)
            x->copies.v[k]->idle = !alias_is_uneven(&s, x->from);
    }
}

// SPDX-License-Identifier: Apache-2.0
//
// writes: metadata that a parser assigns on one way more than once.
//
//     state start { md.x = 2; ... transition select(t) { 1: one; default: accept; } }
//     state one   { md.x = 1; ... }
//
// A Tofino 1's parser ors what it writes into a container to what is there: a second value is right
// if it has all bits of the first. The chip's compiler refuses others if a state that writes comes
// for sure, where ways that end are not looked at, and only warns of the rest. See parde.h.
#include "compiler/chip/parde/parde_impl.h"
#include "compiler/chip/report_add.h"
#include "compiler/ir/walk.h"

struct written {
    bool *by;          // by state id
    big *value;        // by state id: the constant that is written; null: none
    struct loc *place; // by state id
    bool several;      // states
    bool left;         // written in parts, or in terms of itself: not looked at
};
struct writes {
    struct parde_parser *p;
    const struct phv_gress *g;
    struct written *of; // by variable id
    size_t n, state;    // states; the one that is walked
    bool *before;       // [from * n + to]: a way leads from the one to the other
};

static bool parde_writes_reads(const struct ir_expr *e, const struct ir_var *v) {
    return e && ((e->op == IR_VAR && e->var == v) || parde_writes_reads(e->a, v) ||
                 parde_writes_reads(e->b, v) || parde_writes_reads(e->c, v));
}

static void parde_writes_stmt(void *ctx, struct ir_stmt *st) {
    struct writes *w = ctx;
    struct arena *a = w->p->r->arena;
    if (st->kind != IR_ASSIGN || st->var->header || st->var->id >= w->p->ir->vars.n)
        return;
    struct written *x = &w->of[st->var->id];
    if (!x->by) {
        x->by = ARENA_ARRAY(a, bool, w->n + 1);
        x->value = ARENA_ARRAY(a, big, w->n + 1);
        x->place = ARENA_ARRAY(a, struct loc, w->n + 1);
    }
    for (size_t i = 0; i < w->n; i++)
        x->several = x->several || (i != w->state && x->by[i]);
    x->left = x->left || st->slice || parde_writes_reads(st->e, st->var);
    x->by[w->state] = true;
    x->value[w->state] = st->e->op == IR_CONST ? st->e->value : NULL;
    x->place[w->state] = st->at;
}

static void parde_writes_find_ways(struct writes *w) {
    const struct ir_gress *ir = w->p->ir;
    size_t *stack = ARENA_ARRAY(w->p->r->arena, size_t, w->n + 1);
    for (size_t from = 0; from < w->n; from++) {
        size_t depth = 0;
        stack[depth++] = from;
        while (depth > 0) {
            const struct ir_state *s = ir->states.v[stack[--depth]];
            for (size_t i = 0; parde_next(s, i) != PARDE_END; i++) {
                int next = parde_next(s, i);
                if (next < 0 || w->before[from * w->n + (size_t)next])
                    continue;
                w->before[from * w->n + (size_t)next] = true;
                stack[depth++] = (size_t)next;
            }
        }
    }
}

// The first value that is written on a way is no matter if it is zero: so are all containers.
static bool parde_writes_is_zero_first(const struct writes *w, const struct written *x, size_t s) {
    if (!x->value[s] || big_sign(x->value[s]) != 0)
        return false;
    for (size_t i = 0; i < w->n; i++)
        if (x->by[i] && w->before[i * w->n + s])
            return false;
    return true;
}

// The value of 'later' has all bits of what was written before.
static bool parde_writes_covers(const struct writes *w, const struct ir_var *v, size_t before,
                                size_t later) {
    struct arena *a = w->p->r->arena;
    const struct written *x = &w->of[v->id];
    big was = x->value[before], is = x->value[later];
    if (was && is)
        return big_cmp(big_or(a, was, is), is) == 0;
    if (is) // all ones
        return big_sign(big_wrap_u(a, big_not(a, is), v->width)) == 0;
    return was && big_sign(was) == 0;
}

// The chip's compiler splits and joins states, which shows where ways are long: of one published
// program it only warns, although a state that writes comes for sure, five states later.
#define MOST_STEPS 3u

// Whatever state comes next, one that writes follows.
static bool parde_writes_follow(const struct writes *w, const struct written *x, size_t s,
                                unsigned steps) {
    const struct ir_state *st = w->p->ir->states.v[s];
    bool any = false;
    for (size_t i = 0; parde_next(st, i) != PARDE_END; i++) {
        int next = parde_next(st, i);
        if (next < 0)
            continue;
        any = true;
        if (!x->by[next] && (steps == 0 || !parde_writes_follow(w, x, (size_t)next, steps - 1)))
            return false;
    }
    return any;
}

static void parde_writes_refuse(const struct writes *w, const struct ir_var *v, size_t before,
                                size_t later) {
    const struct written *x = &w->of[v->id];
    struct chip_violation *viol = chip_violate(
        w->p->r, "parser-writes", x->place[later],
        arena_printf(w->p->r->arena,
                     "the parser assigns %s again: it ors values together, and this one does not "
                     "have all bits of the one before",
                     v->name),
        "assign it in the states at the ends only, or zero it first, or let the control decide by "
        "the headers that are valid");
    viol->also = x->place[before];
    viol->also_text = "it was assigned here";
}

static void parde_writes_check(const struct writes *w, const struct ir_var *v) {
    struct written *x = &w->of[v->id];
    bool *zero = ARENA_ARRAY(w->p->r->arena, bool, w->n + 1);
    for (size_t s = 0; s < w->n; s++)
        zero[s] = x->by[s] && parde_writes_is_zero_first(w, x, s);
    for (size_t s = 0; s < w->n; s++)
        x->by[s] = x->by[s] && !zero[s];
    for (size_t later = 0; later < w->n; later++)
        for (size_t s = 0; x->by[later] && s < w->n; s++)
            if (x->by[s] && w->before[s * w->n + later] && !parde_writes_covers(w, v, s, later) &&
                parde_writes_follow(w, x, s, MOST_STEPS - 1)) {
                parde_writes_refuse(w, v, s, later);
                return;
            }
}

void parde_writes(struct parde_parser *p, const struct phv_gress *g) {
    const struct ir_gress *ir = p->ir;
    struct arena *a = p->r->arena;
    struct writes w = {.p = p, .g = g, .n = ir->states.n};
    if (!p->states || p->r->target != CHIP_TOFINO1)
        return;
    w.of = ARENA_ARRAY(a, struct written, ir->vars.n + 1);
    struct ir_visitor v = {.ctx = &w, .stmt = parde_writes_stmt, .shallow = true};
    for (w.state = 0; w.state < w.n; w.state++) {
        if (p->states[w.state].in_loop)
            return;
        ir_visit_block(&v, ir->states.v[w.state]->body);
    }
    for (size_t i = 0; i < ir->vars.n; i++) {
        const struct phv_field *f = &g->fields[i];
        if (!w.of[i].several || w.of[i].left || !(f->read || f->deparsed))
            continue;
        if (!w.before) {
            w.before = ARENA_ARRAY(a, bool, w.n *w.n + 1);
            parde_writes_find_ways(&w);
        }
        parde_writes_check(&w, ir->vars.v[i]);
    }
}

// SPDX-License-Identifier: Apache-2.0
//
// end_facts: what is known of variables at the ends of ways through the parser: which headers are
// valid, and the constants that the states on the way assigned. Of an end that several ways lead
// to, what is known on all of them.
#include "compiler/ir/build.h"
#include "compiler/ir/effects.h"
#include "compiler/plan/parse_paths.h"

struct constants {
    const struct plan *plan;
    const struct plan_paths *p;
    VEC(const struct ir_var *) vars; // to which some state assigns a constant
    big **at_node, **at_end; // by variable; null: no constant. A null array: no way leads here
    big *now;                // of the way that is followed
    bool changed;
};

static bool is_constant(const struct ir_stmt *s) {
    return s->kind == IR_ASSIGN && !s->slice && s->var && s->e->op == IR_CONST;
}

static void find_constants(struct constants *c) {
    const struct ir_gress *g = c->plan->g;
    bool *seen = ARENA_ARRAY(c->plan->a, bool, g->vars.n + 1);
    for (size_t i = 0; i < g->states.n; i++)
        for (size_t k = 0; g->states.v[i]->body && k < g->states.v[i]->body->stmts.n; k++) {
            const struct ir_stmt *s = g->states.v[i]->body->stmts.v[k];
            if (!is_constant(s) || seen[s->var->id])
                continue;
            seen[s->var->id] = true;
            VEC_PUSH(c->plan->a, &c->vars, s->var);
        }
}

static void constants_forget(void *aux, const struct ir_var *v) {
    struct constants *const c = aux;
    for (size_t i = 0; i < c->vars.n; i++)
        if (c->vars.v[i] == v)
            c->now[i] = NULL;
}

static void end_facts_follow(struct constants *c, const struct ir_block *b) {
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        struct ir_stmt *const s = b->stmts.v[i];
        const struct ir_block one = {.stmts = {.v = (struct ir_stmt **)&b->stmts.v[i], .n = 1}};
        plan_each_written(&one, constants_forget, c);
        for (size_t k = 0; k < c->vars.n; k++)
            if (is_constant(s) && c->vars.v[k] == s->var)
                c->now[k] = s->e->value;
    }
}

// A way leads here with what is known now.
static void meet(struct constants *c, big **there) {
    const size_t n = c->vars.n;
    if (!*there) {
        *there = ARENA_ARRAY(c->plan->a, big, n + 1);
        for (size_t i = 0; i < n; i++)
            (*there)[i] = c->now[i];
        c->changed = true;
        return;
    }
    for (size_t i = 0; i < n; i++)
        if ((*there)[i] && (!c->now[i] || big_cmp((*there)[i], c->now[i]) != 0)) {
            (*there)[i] = NULL;
            c->changed = true;
        }
}

static void follow_node(struct constants *c, size_t i) {
    const struct plan_node *node = c->p->nodes.v[i];
    const struct ir_state *st = c->plan->g->states.v[node->state];
    if (!c->at_node[i] || node->gives_up)
        return;
    for (size_t k = 0; k < c->vars.n; k++)
        c->now[k] = c->at_node[i][k];
    end_facts_follow(c, st->body);
    for (size_t k = 0; k < st->cases.n + (st->keys.n == 0); k++) {
        const int next = node->next[k];
        if (next >= PLAN_FIRST_END)
            meet(c, &c->at_end[next - PLAN_FIRST_END]);
        else if (next >= 0)
            meet(c, &c->at_node[next]);
    }
}

static void begin_at(struct constants *c, int root) {
    for (size_t i = 0; i < c->vars.n; i++)
        c->now[i] = NULL;
    if (root >= 0)
        meet(c, &c->at_node[root]);
}

static const struct plan_fact *known_to_be(const struct plan *plan, const struct ir_var *v,
                                           big value, const struct plan_fact *more) {
    struct plan_fact *f = ARENA_NEW(plan->a, struct plan_fact);
    *f = (struct plan_fact){.var = v, .value = value, .more = more};
    return f;
}

// Of those that share the body of end i.
static const struct plan_fact *facts_of(const struct constants *c, size_t i) {
    const struct plan *plan = c->plan;
    const struct plan_paths *p = c->p;
    const struct ir_var *err = plan->g->intrinsic[IRI_PARSER_ERR];
    const struct plan_fact *facts = NULL;
    if (err)
        facts = known_to_be(plan, err, big_u64(plan->a, 0), facts);
    for (size_t h = 0; h < plan->g->headers.n; h++) {
        const bool valid = p->ends.v[i].valid[h];
        bool same = true;
        for (size_t k = 0; k < p->ends.n; k++)
            same &= p->body[k] != i || p->ends.v[k].valid[h] == valid;
        if (same)
            facts = known_to_be(plan, plan->g->headers.v[h]->valid, big_u64(plan->a, valid), facts);
    }
    for (size_t v = 0; v < c->vars.n; v++) {
        big value = c->at_end[i] ? c->at_end[i][v] : NULL;
        for (size_t k = 0; k < p->ends.n && value; k++)
            if (p->body[k] == i &&
                (!c->at_end[k] || !c->at_end[k][v] || big_cmp(c->at_end[k][v], value) != 0))
                value = NULL;
        if (value)
            facts = known_to_be(plan, c->vars.v[v], value, facts);
    }
    return facts;
}

const struct plan_fact **plan_end_facts(const struct plan *plan, const struct plan_paths *p) {
    struct constants c = {.plan = plan, .p = p};
    find_constants(&c);
    c.at_node = ARENA_ARRAY(plan->a, big *, p->nodes.n + 1);
    c.at_end = ARENA_ARRAY(plan->a, big *, p->ends.n + 1);
    c.now = ARENA_ARRAY(plan->a, big, c.vars.n + 1);
    begin_at(&c, p->root);
    for (size_t i = 0; i < p->seam.n; i++)
        begin_at(&c, p->root_split[i]);
    do {
        c.changed = false;
        for (size_t i = 0; i < p->nodes.n; i++)
            follow_node(&c, i);
    } while (c.changed);
    const struct plan_fact **facts = ARENA_ARRAY(plan->a, const struct plan_fact *, p->ends.n + 1);
    for (size_t i = 0; i < p->ends.n; i++)
        facts[i] = p->body[i] == i ? facts_of(&c, i) : NULL;
    return facts;
}

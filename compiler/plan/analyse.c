// SPDX-License-Identifier: Apache-2.0
//
// analyse: which code uses which variable, and so where the variable lives.
#include "compiler/ir/effects.h"
#include "compiler/ir/walk.h"
#include "compiler/plan/plan.h"

bool plan_is_validity(const struct plan *plan, const struct ir_var *v) {
    for (size_t i = 0; v && i < plan->g->headers.n; i++)
        if (plan->g->headers.v[i]->valid == v)
            return true;
    return false;
}

// Who is looked at.
struct usage {
    struct plan *plan;
    const void *user;
};

static void use(struct usage *u, const struct ir_var *v) {
    if (!v)
        return;
    struct plan_var *i = &u->plan->vars[v->id];
    i->touched = true;
    if (i->user && i->user != u->user)
        i->shared = true;
    i->user = u->user;
}

static void plan_analyse_share(struct usage *u, const struct ir_var *v) {
    use(u, v);
    if (v)
        u->plan->vars[v->id].shared = true;
}

static void use_expr(void *aux, const struct ir_expr *x) {
    if (x->op == IR_VAR)
        use(aux, x->var);
}

static void plan_analyse_extracted(struct usage *u, const struct ir_header *h) {
    u->plan->headers[h->id].extracted = true;
    plan_analyse_share(u, h->valid);
}

static void plan_analyse_use_stmt(void *aux, const struct ir_stmt *s) {
    struct usage *u = aux;
    const struct ir_var *results[IR_MAX_RESULTS];
    for (size_t i = 0, n = ir_results(s, results); i < n; i++)
        use(u, results[i]);
    if (s->var && s->var->valid)
        plan_analyse_share(u, s->var->valid);
    if (s->header && s->kind == IR_EXTRACT)
        plan_analyse_extracted(u, s->header);
    for (size_t i = 0; i < s->headers.n; i++)
        plan_analyse_extracted(u, s->headers.v[i]);
    if (s->header && s->kind == IR_EMIT)
        u->plan->headers[s->header->id].emitted = true;
    if (s->header)
        plan_analyse_share(u, s->header->valid);
    for (size_t i = 0; i < s->csum_args.n; i++)
        if (s->csum_args.v[i].only_if)
            plan_analyse_share(u, s->csum_args.v[i].only_if->valid);
}

static void use_block(struct usage *u, const void *user, const struct ir_block *b) {
    u->user = user;
    ir_walk(b, plan_analyse_use_stmt, use_expr, u);
}

static void use_parser(struct usage *u) {
    for (size_t i = 0; i < u->plan->g->states.n; i++) {
        const struct ir_state *st = u->plan->g->states.v[i];
        use_block(u, &u->plan->g->states, st->body);
        for (size_t k = 0; k < st->keys.n; k++)
            ir_walk_expr(st->keys.v[k], use_expr, u);
    }
}

static void use_controls(struct usage *u) {
    const struct ir_gress *g = u->plan->g;
    use_block(u, g->control, g->control);
    use_block(u, g->deparser, g->deparser);
    use_block(u, g->leaving, g->leaving);
    for (size_t i = 0; i < g->tables.n; i++) {
        u->user = g->tables.v[i];
        for (size_t k = 0; k < g->tables.v[i]->keys.n; k++)
            ir_walk_expr(g->tables.v[i]->keys.v[k].expr, use_expr, u);
        for (size_t k = 0; k < g->tables.v[i]->key_defined.n; k++)
            ir_walk_expr(g->tables.v[i]->key_defined.v[k], use_expr, u);
        use(u, g->tables.v[i]->doubtful);
        use_block(u, g->tables.v[i], g->tables.v[i]->reports);
        use_block(u, g->tables.v[i], g->tables.v[i]->select);
    }
    for (size_t i = 0; i < g->actions.n; i++)
        use_block(u, g->actions.v[i], g->actions.v[i]->body);
    for (size_t i = 0; i < g->regactions.n; i++)
        use_block(u, g->regactions.v[i], g->regactions.v[i]->body);
}

// Variables whose value at the start of their function does not matter because something puts it
// there; all others of several functions, or of one that may run twice, stay in phv.
static void assign_owned(struct usage *u) {
    const struct ir_gress *g = u->plan->g;
    for (size_t i = 0; i < g->actions.n; i++)
        for (size_t k = 0; k < g->actions.v[i]->params.n; k++) {
            u->user = g->actions.v[i];
            use(u, g->actions.v[i]->params.v[k].var);
        }
    for (size_t i = 0; i < g->regactions.n; i++) {
        const struct ir_regaction *ra = g->regactions.v[i];
        u->user = ra;
        for (unsigned w = 0; w < ra->reg->words; w++)
            use(u, ra->value[w]);
        use(u, ra->rv);
    }
}

static bool owned_param(const struct plan *plan, const struct ir_var *v, const void *user) {
    const struct ir_gress *g = plan->g;
    for (size_t i = 0; i < g->actions.n; i++)
        for (size_t k = 0; k < g->actions.v[i]->params.n; k++)
            if (g->actions.v[i] == user && g->actions.v[i]->params.v[k].var == v)
                return true;
    for (size_t i = 0; i < g->regactions.n; i++) {
        const struct ir_regaction *ra = g->regactions.v[i];
        if (ra == user && (v == ra->value[0] || v == ra->value[1] || v == ra->rv))
            return true;
    }
    return false;
}

static void plan_analyse_place(struct plan *plan, const struct ir_var *v) {
    struct plan_var *i = &plan->vars[v->id];
    bool once = (i->user == plan->g->control && !plan->split) || i->user == plan->g->deparser;
    if (i->user == plan->g->control && plan->split && i->touched)
        i->shared = true; // of several functions
    if (i->touched && !once && !owned_param(plan, v, i->user))
        i->shared = true;
    if ((v->header || plan->places[v->id].array) && i->touched)
        i->shared = true;
    if (v->header && plan_home_of(plan, v->header)->on_wire)
        i->shared = i->on_wire = true;
}

void plan_variables(struct plan *plan) {
    const struct ir_gress *g = plan->g;
    struct usage u = {.plan = plan};
    use_parser(&u);
    use_controls(&u);
    assign_owned(&u);
    u.user = g;
    for (unsigned i = 0; i < IRI_COUNT; i++)
        if (g->intrinsic[i]) {
            plan_analyse_share(&u, g->intrinsic[i]);
            plan_analyse_share(&u, g->intrinsic[i]->valid);
        }
    for (size_t i = 0; i < g->headers.n; i++)
        plan_analyse_share(&u, g->headers.v[i]->valid);
    plan_segments(plan);
    plan_ends(plan);
    plan_share_loaded(plan);
    for (size_t i = 0; i < g->vars.n; i++)
        plan_analyse_place(plan, g->vars.v[i]);
}

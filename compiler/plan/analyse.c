// SPDX-License-Identifier: Apache-2.0
//
// analyse: which code uses which variable, and so where the variable lives.
#include "compiler/ir/effects.h"
#include "compiler/print/checked/checked.h"

bool emit_is_validity(const struct emit *e, const struct ir_var *v) {
    for (size_t i = 0; v && i < e->g->headers.n; i++)
        if (e->g->headers.v[i]->valid == v)
            return true;
    return false;
}

// --------------------------------------------------------------------------------------------

static void use(struct emit *e, const struct ir_var *v) {
    if (!v)
        return;
    struct emit_var *i = &e->vars[v->id];
    i->touched = true;
    if (i->user && i->user != e->user)
        i->shared = true;
    i->user = e->user;
}

static void share(struct emit *e, const struct ir_var *v) {
    use(e, v);
    if (v)
        e->vars[v->id].shared = true;
}

static void use_expr(void *aux, const struct ir_expr *x) {
    if (x->op == IR_VAR)
        use(aux, x->var);
}

static void extracted(struct emit *e, const struct ir_header *h) {
    e->headers[h->id].extracted = true;
    share(e, h->valid);
}

static void use_stmt(void *aux, const struct ir_stmt *s) {
    struct emit *e = aux;
    const struct ir_var *results[IR_MAX_RESULTS];
    for (size_t i = 0, n = ir_results(s, results); i < n; i++)
        use(e, results[i]);
    if (s->var && s->var->valid)
        share(e, s->var->valid);
    if (s->header && s->kind == IR_EXTRACT)
        extracted(e, s->header);
    for (size_t i = 0; i < s->headers.n; i++)
        extracted(e, s->headers.v[i]);
    if (s->header && s->kind == IR_EMIT)
        e->headers[s->header->id].emitted = true;
    if (s->header)
        share(e, s->header->valid);
    for (size_t i = 0; i < s->csum_args.n; i++)
        if (s->csum_args.v[i].only_if)
            share(e, s->csum_args.v[i].only_if->valid);
}

static void use_block(struct emit *e, const void *user, const struct ir_block *b) {
    e->user = user;
    ir_walk(b, use_stmt, use_expr, e);
}

static void use_parser(struct emit *e) {
    for (size_t i = 0; i < e->g->states.n; i++) {
        const struct ir_state *st = e->g->states.v[i];
        use_block(e, &e->g->states, st->body);
        for (size_t k = 0; k < st->keys.n; k++)
            ir_walk_expr(st->keys.v[k], use_expr, e);
    }
}

static void use_controls(struct emit *e) {
    const struct ir_gress *g = e->g;
    use_block(e, g->control, g->control);
    use_block(e, g->deparser, g->deparser);
    for (size_t i = 0; i < g->tables.n; i++) {
        e->user = g->tables.v[i];
        for (size_t k = 0; k < g->tables.v[i]->keys.n; k++)
            ir_walk_expr(g->tables.v[i]->keys.v[k].expr, use_expr, e);
        use_block(e, g->tables.v[i], g->tables.v[i]->select);
    }
    for (size_t i = 0; i < g->actions.n; i++)
        use_block(e, g->actions.v[i], g->actions.v[i]->body);
    for (size_t i = 0; i < g->regactions.n; i++)
        use_block(e, g->regactions.v[i], g->regactions.v[i]->body);
}

// Variables whose value at the start of their function does not matter because something puts it
// there; all others of several functions, or of one that may run twice, stay in phv.
static void assign_owned(struct emit *e) {
    const struct ir_gress *g = e->g;
    for (size_t i = 0; i < g->actions.n; i++)
        for (size_t k = 0; k < g->actions.v[i]->params.n; k++) {
            e->user = g->actions.v[i];
            use(e, g->actions.v[i]->params.v[k].var);
        }
    for (size_t i = 0; i < g->regactions.n; i++) {
        const struct ir_regaction *ra = g->regactions.v[i];
        e->user = ra;
        for (unsigned w = 0; w < ra->reg->words; w++)
            use(e, ra->value[w]);
        use(e, ra->rv);
    }
}

static bool owned_param(const struct emit *e, const struct ir_var *v, const void *user) {
    const struct ir_gress *g = e->g;
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

static void place(struct emit *e, const struct ir_var *v) {
    struct emit_var *i = &e->vars[v->id];
    bool once = (i->user == e->g->control && !e->splits) || i->user == e->g->deparser;
    if (i->user == e->g->control && e->splits && i->touched)
        i->shared = true; // of several functions
    if (i->touched && !once && !owned_param(e, v, i->user))
        i->shared = true;
    if (v->header && i->touched)
        i->shared = true;
    i->name = emit_text(e, "%s_%u", emit_ident(e, v->name), v->id);
    i->ref = i->shared ? emit_text(e, "v->%s", i->name) : i->name;
    if (v->header && emit_home_of(e, v->header)->on_wire) {
        i->shared = true;
        emit_wire_refs(e, v, emit_text(e, "v->at_h%u + %u", v->header->id, v->bit_offset / 8));
    }
}

void emit_analyse(struct emit *e) {
    const struct ir_gress *g = e->g;
    e->vars = ARENA_ARRAY(e->a, struct emit_var, g->vars.n + 1);
    e->headers = ARENA_ARRAY(e->a, struct emit_header, g->headers.n + 1);
    use_parser(e);
    use_controls(e);
    assign_owned(e);
    e->user = g;
    for (unsigned i = 0; i < IRI_COUNT; i++)
        if (g->intrinsic[i]) {
            share(e, g->intrinsic[i]);
            share(e, g->intrinsic[i]->valid);
        }
    for (size_t i = 0; i < g->headers.n; i++)
        share(e, g->headers.v[i]->valid);
    emit_segments(e);
    emit_share_last(e);
    emit_checked_analyse(e);
    for (size_t i = 0; i < g->vars.n; i++)
        place(e, g->vars.v[i]);
}

void emit_locals(struct emit *e, const void *user) {
    for (size_t i = 0; i < e->g->vars.n; i++) {
        const struct ir_var *v = e->g->vars.v[i];
        const struct emit_var *ev = &e->vars[i];
        if (ev->shared || !ev->touched || ev->user != user)
            continue;
        if (emit_is_wide(v->width))
            emit_line(e, "uint8_t %s[%u] = {0}; // %s", ev->name, emit_bytes(v->width),
                      emit_comment(e, v->name));
        else
            emit_line(e, "%s %s = 0; // %s", emit_storage(v->width), ev->name,
                      emit_comment(e, v->name));
    }
}

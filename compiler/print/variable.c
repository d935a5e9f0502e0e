// SPDX-License-Identifier: Apache-2.0
//
// variable: the names and places of variables in C.
#include "compiler/plan/lanes.h"
#include "compiler/print/emit_impl.h"

static void name_variable(const struct emit *e, struct emit_var *i, const struct ir_var *v) {
    const struct plan_var *is = &e->plan->vars[v->id];
    *i = (struct emit_var){
        .user = is->user, .shared = is->shared, .touched = is->touched, .deferred = is->deferred};
    i->name = emit_text(e, "%s_%u", emit_ident(e, v->name), v->id);
    i->ref = i->shared ? emit_text(e, "v->%s", i->name) : i->name;
    const struct plan_place *at = &e->plan->places[v->id];
    if (at->array) {
        i->ref = emit_text(e, "v->array%u[%u]", at->array, at->lane);
        i->whole = true;
    }
    if (is->on_wire)
        emit_wire_refs(e, i, v, emit_text(e, "v->at_h%u + %u", v->header->id, v->bit_offset / 8));
    if (is->deferred) {
        i->received = i->ref;
        i->ref = emit_text(e, "(v->holds_%s ? v->%s : %s)", i->name, i->name, i->ref);
    }
}

const struct emit_var *emit_name_variables(const struct emit *e) {
    struct emit_var *vars = ARENA_ARRAY(e->a, struct emit_var, e->g->vars.n + 1);
    for (size_t i = 0; i < e->g->vars.n; i++)
        name_variable(e, &vars[i], e->g->vars.v[i]);
    return vars;
}

const struct emit_var *emit_var_of(const struct emit *e, const struct ir_var *v) {
    const struct plan_lanes *l = e->loop ? e->loop->lanes : NULL;
    for (size_t i = 0; l && i < l->vars.n; i++)
        if (l->vars.v[i].of[0] == v)
            return &e->loop->vars[i];
    return &e->vars[v->id];
}

const char *emit_inline(const struct emit *e) {
    return e->plan->paths ? "SK_INLINE" : "static inline";
}

void emit_locals(const struct emit *e, const void *user) {
    for (size_t i = 0; i < e->g->vars.n; i++) {
        const struct ir_var *v = e->g->vars.v[i];
        const struct emit_var *ev = emit_var_of(e, e->g->vars.v[i]);
        if (ev->shared || !ev->touched || ev->user != user)
            continue;
        if (plan_is_wide(v->width))
            emit_line(e, "uint8_t %s[%u] = {0}; // %s", ev->name, plan_bytes(v->width),
                      emit_comment(e, v->name));
        else
            emit_line(e, "%s %s = 0; // %s", emit_storage(v->width), ev->name,
                      emit_comment(e, v->name));
    }
}

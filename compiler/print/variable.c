// SPDX-License-Identifier: Apache-2.0
//
// variable: the names and places of variables in C.
#include "compiler/print/emit_impl.h"

static void name_variable(struct emit *e, const struct ir_var *v) {
    const struct plan_var *is = &e->plan->vars[v->id];
    struct emit_var *i = &e->vars[v->id];
    *i = (struct emit_var){.user = is->user,
                           .shared = is->shared,
                           .touched = is->touched,
                           .masked = is->masked,
                           .held = is->held};
    i->name = emit_text(e, "%s_%u", emit_ident(e, v->name), v->id);
    i->ref = i->shared ? emit_text(e, "v->%s", i->name) : i->name;
    if (is->on_wire)
        emit_wire_refs(e, v, emit_text(e, "v->at_h%u + %u", v->header->id, v->bit_offset / 8));
    if (is->held) {
        i->received = i->ref;
        i->ref = emit_text(e, "(v->holds_%s ? v->%s : %s)", i->name, i->name, i->ref);
    }
}

void emit_name_variables(struct emit *e) {
    for (unsigned k = 0; k < 2; k++) {
        const struct ir_gress *g = e->plans[k].g;
        e->vars_of[k] = ARENA_ARRAY(e->a, struct emit_var, g->vars.n + 1);
        emit_select_gress(e, k);
        for (size_t i = 0; i < g->vars.n; i++)
            name_variable(e, g->vars.v[i]);
    }
}

const char *emit_inline(const struct emit *e) {
    return e->plan->paths ? "SK_INLINE" : "static inline";
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

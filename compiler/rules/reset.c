// SPDX-License-Identifier: Apache-2.0
//
// reset: fields of the deparser's intrinsic metadata that ask for what is not there. They may
// be handed around, but not be given anything other than their reset value, 0.
//
// A sub-control that takes the metadata as inout or out copies it there and back, so a copy of a
// variable is harmless as long as that variable never gets anything but 0 either.
#include "compiler/ir/build.h"
#include "compiler/ir/walk.h"
#include "compiler/rules/rules.h"

#include <string.h>

static const char *const fields[] = {
    "mirror_coalesce_length", "mtu_trunc_err_f", "pktgen",          "pktgen_address",
    "pktgen_length",          "coalesce_flush",  "coalesce_length",
};

void note_reset_field(struct arena *a, reset_field_vec *list, const char *name, struct ir_var *v) {
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(fields[i], name) == 0)
            VEC_PUSH(a, list, v);
}

// Where each variable may have got something else, by its id; no file: nowhere.
struct flow {
    struct loc *from;
    bool *changed, grew;
    const struct ir_stmt *s;
};

static const char *last_part(const struct ir_var *v) {
    const char *dot = strrchr(v->name, '.');
    return dot ? dot + 1 : v->name;
}

static bool same_field(const struct ir_var *a, const struct ir_var *b) {
    return strcmp(last_part(a), last_part(b)) == 0;
}

static void rules_reset_copy_to(void *ctx, struct ir_var **var) {
    struct flow *f = ctx;
    const struct ir_stmt *s = f->s;
    const struct ir_var *v = *var;
    if (f->changed[v->id])
        return;
    struct loc at = s->at;
    if (s->kind == IR_ASSIGN && v == s->var) {
        const struct ir_expr *e = s->e;
        if (ir_is_const(e) && big_sign(e->value) == 0)
            return;
        if (e->op == IR_VAR && !e->var->header) {
            if (!f->changed[e->var->id])
                return;
            if (same_field(e->var, v)) // copied back: where the copy was changed
                at = f->from[e->var->id];
        }
    }
    f->changed[v->id] = f->grew = true;
    f->from[v->id] = at;
}

static void rules_reset_statement(void *ctx, struct ir_stmt *s) {
    struct flow *f = ctx;
    f->s = s;
    ir_written_vars(s, rules_reset_copy_to, f);
}

// What the control plane gives an action may be anything.
static void mark_action_data(struct flow *f, const struct ir_gress *g) {
    for (size_t i = 0; i < g->tables.n; i++)
        for (size_t k = 0; k < g->tables.v[i]->actions.n; k++) {
            const struct ir_action *a = g->tables.v[i]->actions.v[k].action;
            for (size_t j = 0; j < a->params.n; j++) {
                f->changed[a->params.v[j].var->id] = true;
                f->from[a->params.v[j].var->id] = a->at;
            }
        }
}

void check_reset_fields(struct arena *a, struct diag *d, const reset_field_vec *list,
                        struct ir_gress *g) {
    if (list->n == 0)
        return;
    struct flow f = {.from = arena_alloc(a, g->vars.n * sizeof *f.from),
                     .changed = arena_alloc(a, g->vars.n * sizeof *f.changed)};
    mark_action_data(&f, g);
    const struct ir_visitor v = {.ctx = &f, .stmt = rules_reset_statement};
    do {
        f.grew = false;
        for (size_t i = 0; i < g->states.n; i++)
            ir_visit_block(&v, g->states.v[i]->body);
        ir_visit_block(&v, g->control);
        ir_visit_block(&v, g->deparser);
    } while (f.grew);
    for (size_t i = 0; i < list->n; i++) {
        const struct ir_var *field = list->v[i];
        if (f.changed[field->id])
            diag_unsupported(d, f.from[field->id], "a value for '%s'", last_part(field));
    }
}

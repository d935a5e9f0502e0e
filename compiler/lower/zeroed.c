// SPDX-License-Identifier: Apache-2.0
//
// zeroed: metadata that the chip's compiler zeroes because the program asks for it:
// @pa_auto_init_metadata, at any declaration, for all but what @pa_no_init("ingress", "md.field")
// excepts (tna-facts 7). What is not zeroed may share its place on the chip with something else,
// and the checked build reports that it is read.
#include "compiler/lower/lower_impl.h"

#include <string.h>

// Calls 'fn', if it is not null, for each annotation of that name; returns how many there are.
static size_t each_annotation(const struct program *p, const char *name,
                              void (*fn)(void *aux, const struct annotation *a), void *aux) {
    size_t n = 0;
    for (size_t i = 0; i < p->decls.n; i++) {
        const annot_vec *list = &p->decls.v[i]->annots;
        for (size_t k = 0; k < list->n; k++) {
            if (strcmp(list->v[k]->name, name) != 0)
                continue;
            n++;
            if (fn)
                fn(aux, list->v[k]);
        }
    }
    return n;
}

static const char *string_at(const struct annotation *a, size_t i) {
    return i < a->args.n && a->args.v[i]->kind == EX_STRING ? a->args.v[i]->name : "";
}

// ("ingress", "field"), or with the pipe's name in front.
static void lower_zeroed_except(void *aux, const struct annotation *a) {
    struct ir_program *out = aux;
    const size_t at = a->args.n == 3;
    const enum ir_gress_kind kind =
        strcmp(string_at(a, at), "egress") == 0 ? IR_EGRESS : IR_INGRESS;
    const char *field = string_at(a, at + 1);
    for (size_t p = 0; p < out->pipelines.n; p++) {
        if (at && strcmp(string_at(a, 0), out->pipelines.v[p]->name) != 0)
            continue;
        const struct ir_gress *g = &out->pipelines.v[p]->gress[kind];
        for (size_t i = 0; i < g->vars.n; i++)
            if (strcmp(g->vars.v[i]->name, field) == 0)
                g->vars.v[i]->starts_zero = false;
    }
}

void lower_zeroed(struct lower *lw) {
    if (each_annotation(lw->p, "pa_auto_init_metadata", NULL, NULL) == 0)
        return;
    for (size_t p = 0; p < lw->out->pipelines.n; p++)
        for (unsigned k = 0; k < 2; k++) {
            const struct ir_gress *g = &lw->out->pipelines.v[p]->gress[k];
            for (size_t i = 0; i < g->vars.n; i++)
                g->vars.v[i]->starts_zero = !g->vars.v[i]->header && !g->vars.v[i]->valid;
            for (unsigned i = 0; i < IRI_COUNT; i++) // what goes to the chip has rules of its own
                if (g->intrinsic[i])
                    g->intrinsic[i]->starts_zero = false;
        }
    each_annotation(lw->p, "pa_no_init", lower_zeroed_except, lw->out);
}

// SPDX-License-Identifier: Apache-2.0
//
// names: names that the source gives to values, for those who show values to people.
#include "compiler/lower/lower_impl.h"

void lower_constants(struct lower *lw) {
    for (size_t i = 0; i < lw->p->decls.n; i++) {
        const struct decl *d = lw->p->decls.v[i];
        if (d->kind != D_CONST || !d->name || !d->type || !d->cval || lower_is_architecture(lw, d))
            continue;
        const struct type *t = type_underlying(d->type);
        if (t->kind != TY_BITS || t->is_signed)
            continue;
        struct ir_constant c = {d->name, t->width, d->cval};
        VEC_PUSH(lw->a, &lw->out->constants, c);
    }
}

// Members of the type, if it is an enum with values.
static void lower_names_of_values(struct lower *lw, const struct type *t, ir_named_vec *out) {
    while (t && t->kind == TY_NEWTYPE)
        t = t->elem;
    if (!t || t->kind != TY_ENUM || !t->decl)
        return;
    for (size_t i = 0; i < t->decl->members.n; i++) {
        const struct decl *d = t->decl->members.v[i];
        if (!d->cval)
            continue;
        struct ir_named_value v = {d->name, d->cval};
        VEC_PUSH(lw->a, out, v);
    }
}

void lower_field_names(struct lower *lw) {
    for (size_t i = 0; i < lw->p->decls.n; i++) {
        const struct decl *d = lw->p->decls.v[i];
        if (d->kind != D_HEADER || d->tparams.n > 0 || !d->type)
            continue;
        for (size_t k = 0; k < d->members.n; k++) {
            struct ir_field_names f = {.header_type = d->name, .field = d->members.v[k]->name};
            lower_names_of_values(lw, type_field(lw->a, d->type, f.field, NULL), &f.names);
            if (f.names.n)
                VEC_PUSH(lw->a, &lw->out->field_names, f);
        }
    }
}

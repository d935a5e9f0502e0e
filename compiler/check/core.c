// SPDX-License-Identifier: Apache-2.0
//
// core: what the core library's methods and functions demand beyond their signatures
// (sections 13.6 to 13.10, 16).
#include "compiler/check/check_impl.h"

#include <string.h>

static unsigned varbits(const struct type *t) {
    unsigned n = 0;
    for (size_t i = 0; i < t->decl->members.n; i++) {
        const struct type *ft = t->decl->members.v[i]->type;
        n += ft && ft->kind == TY_VARBIT;
    }
    return n;
}

static bool is_generic(const struct type *t) {
    return t->kind == TY_VAR || t->kind == TY_ERROR_TYPE || t->kind == TY_DONTCARE;
}

static void check_extract(struct checker *c, const struct expr *e) {
    const struct expr *hdr = e->bound.n ? e->bound.v[0] : NULL;
    if (!hdr || is_generic(hdr->type))
        return;
    if (hdr->kind == EX_DONTCARE || hdr->type->kind != TY_HEADER) {
        diag_error(c->d, hdr->at, "only a header can be extracted, not a value of type '%s'%s",
                   tn(c, hdr->type), hdr->type->kind == TY_STACK ? "; use its 'next'" : "");
        return;
    }
    unsigned n = varbits(hdr->type);
    if (e->bound.n == 1 && n)
        diag_error(c->d, e->at,
                   "'%s' has a varbit field: extract needs its size as the second "
                   "argument",
                   tn(c, hdr->type));
    else if (e->bound.n == 2 && n != 1)
        diag_error(c->d, e->at, "'%s' has %u varbit fields, so extract cannot be given a size",
                   tn(c, hdr->type), n);
}

static void check_lookahead(struct checker *c, const struct expr *e) {
    const struct type *t = e->inst.n ? e->inst.v[0] : NULL;
    if (!t || is_generic(t))
        return;
    bool variable = t->kind == TY_HEADER && varbits(t);
    if (type_bits(c->a, t) < 0 || variable)
        diag_error(c->d, e->at, "lookahead needs a type of fixed size, not '%s'", tn(c, t));
}

static bool may_be_emitted(const struct type *t) {
    return t->kind == TY_HEADER || t->kind == TY_UNION || t->kind == TY_STACK ||
           t->kind == TY_STRUCT || t->kind == TY_TUPLE || is_generic(t);
}

static void check_emit(struct checker *c, const struct expr *e) {
    const struct expr *hdr = e->bound.n ? e->bound.v[0] : NULL;
    if (hdr && !may_be_emitted(hdr->type))
        diag_error(c->d, hdr->at, "only headers can be emitted, not a value of type '%s'",
                   tn(c, hdr->type));
}

// What a packet is resubmitted with takes all of the space that there is for it (tna-facts 3.1).
static void note_resubmitted(const struct expr *e) {
    const struct type *t = e->inst.n ? e->inst.v[0] : NULL;
    if (t && t->kind == TY_HEADER && t->decl)
        t->decl->resubmitted = true;
}

void check_core_method(struct checker *c, const struct expr *e) {
    const struct decl *m = e->decl, *object = m->parent;
    if (has_name(object, "packet_in") && has_name(m, "extract"))
        check_extract(c, e);
    else if (has_name(object, "packet_in") && has_name(m, "lookahead"))
        check_lookahead(c, e);
    else if (has_name(object, "packet_out") && has_name(m, "emit"))
        check_emit(c, e);
    else if (has_name(object, "Resubmit") && has_name(m, "emit"))
        note_resubmitted(e);
}

// Section 13.7 and 19.
void check_core_function(struct checker *c, struct expr *e) {
    if (has_name(e->decl, "verify") && c->place != AT_STATE)
        diag_error(c->d, e->at, "'verify' can only be called in a parser state");
}

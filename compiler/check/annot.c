// SPDX-License-Identifier: Apache-2.0
//
// annot: annotations (section 20): the arguments of those whose meaning is fixed, the rules of
// structured ones, and the names that @name gives to the control plane.
#include "compiler/check/check_impl.h"

#include <string.h>

// ------------------------------------------------------------------------------------------------
// Structured annotations (section 20.2)

static void check_annot_keys(struct checker *c, const struct annotation *an) {
    for (size_t i = 1; i < an->keys.n; i++)
        for (size_t k = 0; k < i; k++)
            if (an->keys.v[i] && an->keys.v[k] && strcmp(an->keys.v[i], an->keys.v[k]) == 0)
                diag_error(c->d, an->at, "@%s gives '%s' twice", an->name, an->keys.v[i]);
}

static bool may_be_annotated(const struct type *t) {
    return t->kind == TY_BITS || t->kind == TY_INT || t->kind == TY_BOOL || t->kind == TY_STRING ||
           t->kind == TY_ERROR_TYPE;
}

static void check_structured(struct checker *c, struct annotation *an) {
    for (size_t i = 0; i < an->args.n; i++) {
        struct expr *e = an->args.v[i];
        struct type *t = infer(c, e);
        if (!may_be_annotated(t))
            diag_error(c->d, e->at, "@%s[...] takes numbers, strings and booleans, not '%s'",
                       an->name, tn(c, t));
        else if (!is_compile_time(e))
            diag_error(c->d, e->at, "the arguments of @%s[...] must be known at compile time",
                       an->name);
    }
}

// One structured annotation of a name per element, and none beside an unstructured one.
static void check_repeated(struct checker *c, const annot_vec *annots, size_t i) {
    const struct annotation *an = annots->v[i];
    for (size_t k = 0; k < i; k++) {
        const struct annotation *other = annots->v[k];
        if (strcmp(an->name, other->name) != 0 || (!an->structured && !other->structured))
            continue;
        diag_error(c->d, an->at, "@%s[...] cannot be combined with another @%s", an->name,
                   an->name);
        diag_note(c->d, other->at, "the other one is here");
        return;
    }
}

// ------------------------------------------------------------------------------------------------
// Annotations with a fixed meaning (section 20.3)

static bool check_annot_is_one_of(const char *name, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

// @match says how a field of a value set is matched (section 13.11).
static void check_match(struct checker *c, const struct annotation *an) {
    const struct expr *e = an->args.n == 1 ? an->args.v[0] : NULL;
    if (!e || e->kind != EX_NAME) {
        diag_error(c->d, an->at, "@match takes the name of a match kind: @match(ternary)");
        return;
    }
    if (names_find(c->match_kinds, e->name))
        return;
    struct guess g = guess_start(c, e->name);
    guess_in(c->match_kinds, &g);
    diag_error(c->d, e->at, "match kind '%s' is not declared%s", e->name, guess_text(c, &g));
}

static void check_annotation(struct checker *c, struct annotation *an) {
    static const char *const strings[] = {"name", "noWarn", "deprecated"};
    static const char *const empty[] = {"hidden",
                                        "optional",
                                        "tableonly",
                                        "defaultonly",
                                        "silken_consumes",
                                        "silken_invariant_crc",
                                        "silken_single_packets"};
    check_annot_keys(c, an);
    if (an->structured)
        check_structured(c, an);
    bool string =
        an->args.n == 1 && (an->args.v[0]->kind == EX_STRING || an->args.v[0]->op == OP_CONCAT);
    if (!string && check_annot_is_one_of(an->name, strings, sizeof strings / sizeof *strings))
        diag_error(c->d, an->at, "@%s takes one string: @%s(\"...\")", an->name, an->name);
    else if (an->text && an->text[0] &&
             check_annot_is_one_of(an->name, empty, sizeof empty / sizeof *empty))
        diag_error(c->d, an->at, "@%s takes no arguments", an->name);
}

void check_annotations(struct checker *c, const annot_vec *annots) {
    for (size_t i = 0; i < annots->n; i++) {
        if (!annots->v[i]->name)
            continue;
        check_annotation(c, annots->v[i]);
        check_repeated(c, annots, i);
    }
}

void check_field_annotations(struct checker *c, const annot_vec *annots) {
    check_annotations(c, annots);
    for (size_t i = 0; i < annots->n; i++)
        if (annots->v[i]->name && strcmp(annots->v[i]->name, "match") == 0)
            check_match(c, annots->v[i]);
}

// ------------------------------------------------------------------------------------------------
// Names for the control plane (section 20.3.3)

// Names below the type of the block, as the program's instances of it will have them; an absolute
// @name is below nothing, wherever it stands.
static const char *control_name(struct checker *c, const struct decl *d) {
    const char *given = annot_string(&d->annots, "name");
    const char *own = given ? given : d->name;
    if (own[0] == '.' || !c->block)
        return own[0] == '.' ? own + 1 : own;
    return arena_printf(c->a, "%s.%s", c->block->name, own);
}

// Actions of several blocks may share an absolute name when they have no parameters: entries name
// actions within their table. Programs have a 'nop' or '_drop' for each of their controls.
static bool check_annot_may_share(const struct decl *d, const struct decl *old) {
    return d->params.n == 0 && old->params.n == 0 && d->parent && old->parent &&
           d->parent != old->parent;
}

// Of tables only those that are applied count, which is not known yet: some programs choose between
// two of one name by a constructor parameter.
void check_control_name(struct checker *c, struct decl *d) {
    if (!d->name || annot_find(&d->annots, "hidden"))
        return;
    const char *name = control_name(c, d);
    if (strcmp(name, "NoAction") == 0)
        return; // whoever has a copy of it means the same
    struct decl *entry = ARENA_NEW(c->a, struct decl);
    entry->kind = d->kind;
    entry->name_at = d->name_at;
    entry->annots = d->annots;
    entry->params = d->params;
    entry->parent = d->parent;
    entry->name = name;
    if (names_add(c, c->control_names, entry))
        return;
    const struct decl *old = names_find(c->control_names, entry->name);
    if (!annot_find(&old->annots, "name") && !annot_find(&d->annots, "name"))
        return; // declared twice, which is reported as such
    if (check_annot_may_share(d, old))
        diag_warning(
            c->d, d->name_at,
            "the control plane knows another action as '%s', too; each table lists one of them",
            name);
    else
        diag_error(c->d, d->name_at, "the control plane already knows another action as '%s'",
                   name);
    diag_note(c->d, old->name_at, "it is declared here");
}

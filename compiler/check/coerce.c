// SPDX-License-Identifier: Apache-2.0
//
// coerce: implicit conversions (section 8.12.2). From int to bits of a width, from a
// serializable enum to its representation, from lists and records to structs, headers, tuples and
// stacks; nothing else. 'convertible' asks, 'coerce' does it and complains.
#include "compiler/check/check_impl.h"

#include <string.h>

struct expr *new_cast(struct checker *c, struct expr *e, struct type *want) {
    struct expr *cast = ARENA_NEW(c->a, struct expr);
    cast->kind = EX_CAST;
    cast->at = e->at;
    cast->a = e;
    cast->type = want;
    if (e->cval)
        cast->cval = fold_to_type(c, e->cval, want);
    return cast;
}

static bool is_serializable(const struct type *t) {
    return t->kind == TY_ENUM && t->elem;
}

struct expr *to_bits(struct checker *c, struct expr *e) {
    return is_serializable(e->type) ? new_cast(c, e, e->type->elem) : e;
}

static bool check_coerce_is_block(const struct type *t) {
    return t->kind == TY_PARSER || t->kind == TY_CONTROL;
}

static struct expr *check_coerce_mismatch(struct checker *c, struct expr *e, struct type *want,
                                          struct role role) {
    diag_error(c->d, e->at, "%s has type '%s', but '%s' is expected here", role_text(c, role),
               tn(c, e->type), tn(c, want));
    if (check_coerce_is_block(want) && want->kind == e->type->kind)
        note_misfit(c, want, e->type);
    poison(c, e);
    return e;
}

// ------------------------------------------------------------------------------------------------
// Lists and records

static bool check_coerce_is_aggregate(const struct type *t) {
    return t->kind == TY_STRUCT || t->kind == TY_HEADER || t->kind == TY_TUPLE ||
           t->kind == TY_STACK || t->kind == TY_LIST;
}

static bool ends_with_dots(const struct expr *e) {
    return e->args.n && e->args.v[e->args.n - 1]->value->kind == EX_DOTS;
}

static size_t written_elements(const struct expr *e) {
    return e->args.n - (ends_with_dots(e) ? 1 : 0);
}

// Elements a list must have to become 'want'; 'n' itself when any number will do.
static size_t wanted_elements(const struct type *want, size_t n) {
    switch (want->kind) {
    case TY_STRUCT:
    case TY_HEADER:
        return want->decl->members.n;
    case TY_TUPLE:
        return want->args.n;
    case TY_STACK:
        return want->width_expr ? n : want->width;
    default:
        return n;
    }
}

static struct type *element_type(struct checker *c, struct type *want, size_t i) {
    switch (want->kind) {
    case TY_STRUCT:
    case TY_HEADER:
        return type_field(c->a, want, want->decl->members.v[i]->name, NULL);
    case TY_TUPLE:
        return want->args.v[i];
    default:
        return want->elem;
    }
}

static bool count_agrees(const struct expr *e, const struct type *want) {
    size_t n = written_elements(e), wanted = wanted_elements(want, n);
    return ends_with_dots(e) ? n <= wanted : n == wanted;
}

static struct role element_role(struct checker *c, const struct type *want, size_t i) {
    if (want->kind == TY_STRUCT || want->kind == TY_HEADER)
        return ROLE("field", want->decl->members.v[i]->name);
    return ROLE(arena_printf(c->a, "element %zu", i + 1), NULL);
}

static struct expr *list_to(struct checker *c, struct expr *e, struct type *want) {
    if (!count_agrees(e, want)) {
        diag_error(c->d, e->at, "'%s' needs %zu values, but the list has %zu", tn(c, want),
                   wanted_elements(want, 0), written_elements(e));
        poison(c, e);
        return e;
    }
    for (size_t i = 0; i < written_elements(e); i++) {
        struct type *t = element_type(c, want, i);
        e->args.v[i]->value = coerce(c, e->args.v[i]->value, t, element_role(c, want, i));
    }
    e->type = want;
    return e;
}

static bool has_member(const struct expr *e, const char *name, size_t before) {
    for (size_t i = 0; i < before; i++)
        if (e->args.v[i]->name && strcmp(e->args.v[i]->name, name) == 0)
            return true;
    return false;
}

static void record_member(struct checker *c, struct expr *e, size_t i, struct type *want) {
    struct arg *arg = e->args.v[i];
    if (!arg->name)
        return; // the '...' at the end
    struct type *t = type_field(c->a, want, arg->name, NULL);
    if (!t) {
        struct guess g = guess_start(c, arg->name);
        for (size_t k = 0; k < want->decl->members.n; k++)
            guess_try(&g, want->decl->members.v[k]->name);
        diag_error(c->d, arg->at, "'%s' has no field '%s'%s", tn(c, want), arg->name,
                   guess_text(c, &g));
    } else if (has_member(e, arg->name, i)) {
        diag_error(c->d, arg->at, "field '%s' is given twice", arg->name);
    } else {
        arg->value = coerce(c, arg->value, t, ROLE("field", arg->name));
    }
}

static struct expr *record_to(struct checker *c, struct expr *e, struct type *want) {
    for (size_t i = 0; i < e->args.n; i++)
        record_member(c, e, i, want);
    for (size_t i = 0; i < want->decl->members.n && !ends_with_dots(e); i++) {
        const char *field = want->decl->members.v[i]->name;
        if (field && !has_member(e, field, e->args.n))
            diag_error(c->d, e->at,
                       "field '%s' of '%s' is not given; end the list with '...' for "
                       "default values",
                       field, tn(c, want));
    }
    e->type = want;
    return e;
}

// ------------------------------------------------------------------------------------------------
// Asking

static bool list_convertible(struct checker *c, const struct expr *e, struct type *want) {
    if (!check_coerce_is_aggregate(want) || !count_agrees(e, want))
        return false;
    for (size_t i = 0; i < written_elements(e); i++)
        if (!convertible(c, e->args.v[i]->value, element_type(c, want, i)))
            return false;
    return true;
}

static bool record_convertible(struct checker *c, const struct expr *e, struct type *want) {
    if (want->kind != TY_STRUCT && want->kind != TY_HEADER)
        return false;
    for (size_t i = 0; i < e->args.n; i++) {
        const struct arg *arg = e->args.v[i];
        struct type *t = arg->name ? type_field(c->a, want, arg->name, NULL) : c->t_dontcare;
        if (!t || !convertible(c, arg->value, t))
            return false;
    }
    return true;
}

static bool may_be_invalid(const struct type *t) {
    return t->kind == TY_HEADER || t->kind == TY_UNION;
}

// From type to type, for expressions that are not lists.
static bool type_converts(struct checker *c, struct type *from, struct type *want) {
    if (type_equal(from, want))
        return true;
    if (from->kind == TY_INT)
        return type_underlying(want)->kind == TY_BITS && want->kind != TY_ENUM;
    if (is_serializable(from))
        return type_equal(from->elem, want);
    if (check_coerce_is_block(want) && from->kind == want->kind)
        return block_fits(c, want, from);
    return false;
}

bool convertible(struct checker *c, const struct expr *e, struct type *want) {
    want = settle(c, want);
    struct type *from = settle(c, e->type);
    if (!from || !want || want->kind == TY_ERROR_TYPE || want->kind == TY_DONTCARE)
        return true;
    switch (e->kind) {
    case EX_LIST:
        return from->kind == TY_TUPLE ? list_convertible(c, e, want) : type_equal(from, want);
    case EX_STRUCT:
        return from->kind == TY_RECORD ? record_convertible(c, e, want) : type_equal(from, want);
    case EX_INVALID:
        return may_be_invalid(want);
    case EX_DOTS:
    case EX_DONTCARE:
        return true;
    case EX_COND:
        if (!type_converts(c, from, want))
            return convertible(c, e->b, want) && convertible(c, e->c, want);
        return true;
    default:
        return type_converts(c, from, want);
    }
}

// ------------------------------------------------------------------------------------------------
// Doing

// A constant with a width has one value as an int (section 8.12.1).
static bool constant_to_int(const struct expr *e, const struct type *want) {
    return want->kind == TY_INT && e->type->kind == TY_BITS && e->cval;
}

static struct expr *int_to_bits(struct checker *c, struct expr *e, struct type *want) {
    if (e->cval && !want->width_expr && !fold_fits(c, e->cval, want))
        diag_warning(c->d, e->at, "%s does not fit into '%s': %s is used",
                     big_str(c->a, e->cval, 10), tn(c, want),
                     big_str(c->a, fold_to_type(c, e->cval, want), 10));
    if (e->kind != EX_INT)
        return new_cast(c, e, want);
    e->type = want;
    e->cval = fold_to_type(c, e->cval, want);
    return e;
}

// 'c ? 1 : 2' takes its width from where it goes, branch by branch.
static struct expr *cond_to(struct checker *c, struct expr *e, struct type *want,
                            struct role role) {
    e->b = coerce(c, e->b, want, role);
    e->c = coerce(c, e->c, want, role);
    e->type = want;
    if (e->a->cval)
        e->cval = big_sign(e->a->cval) ? e->b->cval : e->c->cval;
    return e;
}

static bool is_open_ended(const struct type *t) {
    return t->kind == TY_INT || t->kind == TY_TUPLE || t->kind == TY_RECORD;
}

// Section 7.3.
static bool check_coerce_has_default(const struct type *t) {
    switch (t->kind) {
    case TY_STRING:
    case TY_MATCH_KIND:
    case TY_LIST:
    case TY_EXTERN:
    case TY_PARSER:
    case TY_CONTROL:
    case TY_PACKAGE:
        return false;
    default:
        return true;
    }
}

// The literal forms, whose type is decided by their place; null when 'e' is none of them.
static struct expr *literal_to(struct checker *c, struct expr *e, struct type *want,
                               struct role role) {
    switch (e->kind) {
    case EX_LIST:
        if (e->type->kind == TY_TUPLE && check_coerce_is_aggregate(want))
            return list_to(c, e, want);
        return NULL;
    case EX_STRUCT:
        if (e->type->kind == TY_RECORD && (want->kind == TY_STRUCT || want->kind == TY_HEADER))
            return record_to(c, e, want);
        return NULL;
    case EX_INVALID:
        if (!may_be_invalid(want))
            diag_error(c->d, e->at, "'{#}' is an invalid header; '%s' is not a header type",
                       tn(c, want));
        e->type = want;
        return e;
    case EX_DOTS:
        if (!check_coerce_has_default(want))
            diag_error(c->d, e->at, "there is no default value of type '%s'", tn(c, want));
        e->type = want;
        return e;
    case EX_DONTCARE:
        e->type = want;
        return e;
    case EX_COND:
        return is_open_ended(e->type) ? cond_to(c, e, want, role) : NULL;
    default:
        return NULL;
    }
}

// An int where nothing says how wide: 32 bits, as wide as any target's registers.
static struct expr *to_dontcare(struct checker *c, struct expr *e) {
    return e->type->kind == TY_INT ? int_to_bits(c, e, c->t_bit32) : e;
}

// A generic parser or control learns its type arguments from the parameter it is passed to.
static void settle_block(struct checker *c, struct expr *e) {
    for (size_t i = 0; i < e->inst.n; i++) {
        if (has_vars(c, settle(c, e->inst.v[i])))
            unify(c, e->inst.v[i], c->t_dontcare); // nothing depends on it
        e->inst.v[i] = settle(c, e->inst.v[i]);
    }
    e->type = settle(c, e->type);
    if (e->a && e->a->type)
        e->a->type = settle(c, e->a->type);
}

struct expr *coerce(struct checker *c, struct expr *e, struct type *want, struct role role) {
    want = settle(c, want);
    if (!e || !want || !e->type)
        return e;
    e->type = settle(c, e->type);
    if (e->type->kind == TY_ERROR_TYPE || want->kind == TY_ERROR_TYPE)
        return e;
    if (want->kind == TY_DONTCARE)
        return to_dontcare(c, e);
    struct expr *literal = literal_to(c, e, want, role);
    if (literal)
        return literal;
    if (type_equal(e->type, want))
        return e;
    if (!type_converts(c, e->type, want) && !constant_to_int(e, want))
        return check_coerce_mismatch(c, e, want, role);
    if (e->type->kind == TY_INT)
        return int_to_bits(c, e, want);
    if (is_serializable(e->type) || want->kind == TY_INT)
        return new_cast(c, e, want);
    if (check_coerce_is_block(want))
        settle_block(c, e);
    return e;
}

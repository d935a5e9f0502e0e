// SPDX-License-Identifier: Apache-2.0
//
// type: from types as written to semantic types, and the declarations that make types
// (section 7). Which type may be a member of which is one table, 'may_nest'.
#include "compiler/check/check_impl.h"

#include <string.h>

struct type *new_type(struct checker *c, enum type_kind kind) {
    struct type *t = ARENA_NEW(c->a, struct type);
    t->kind = kind;
    return t;
}

struct type *bits_type(struct checker *c, unsigned width, bool is_signed) {
    struct type *t = new_type(c, TY_BITS);
    t->width = width;
    t->is_signed = is_signed;
    return t;
}

struct type *set_of(struct checker *c, struct type *elem) {
    struct type *t = new_type(c, TY_SET);
    t->elem = elem;
    return t;
}

// The type a declaration makes, over its own type parameters.
struct type *decl_type(struct checker *c, enum type_kind kind, struct decl *d) {
    struct type *t = new_type(c, kind);
    t->decl = d;
    for (size_t i = 0; i < d->tparams.n; i++)
        VEC_PUSH(c->a, &t->args, d->tparams.v[i]->type);
    return t;
}

bool is_value_type(const struct type *t) {
    switch (t->kind) {
    case TY_ERROR_TYPE:
    case TY_BOOL:
    case TY_BITS:
    case TY_VARBIT:
    case TY_ERROR:
    case TY_ENUM:
    case TY_STRUCT:
    case TY_HEADER:
    case TY_UNION:
    case TY_STACK:
    case TY_TUPLE:
    case TY_NEWTYPE:
    case TY_VAR:
        return true;
    default:
        return false;
    }
}

// ------------------------------------------------------------------------------------------------
// Widths and sizes

// Reads a width into 't'. A constructor parameter will not do (section 7.1.6).
static bool resolve_width(struct checker *c, struct type *t, struct expr **width, unsigned least,
                          const char *what) {
    struct type *wt = infer(c, *width);
    if (wt->kind == TY_ERROR_TYPE)
        return false;
    *width = to_bits(c, *width);
    wt = (*width)->type;
    big v = (*width)->cval;
    if (wt->kind != TY_INT && wt->kind != TY_BITS) {
        diag_error(c->d, (*width)->at, "%s must be a number, not '%s'", what, tn(c, wt));
        return false;
    }
    if (!v) {
        diag_error(c->d, (*width)->at,
                   is_compile_time(*width) ? "%s must be known where it is written"
                                           : "%s must be known at compile time",
                   what);
        return false;
    }
    if (big_cmp(v, big_u64(c->a, least)) < 0 || big_cmp(v, big_u64(c->a, BIG_MAX_BITS)) > 0) {
        diag_error(c->d, (*width)->at, "%s must be between %u and %u, not %s", what, least,
                   BIG_MAX_BITS, big_str(c->a, v, 10));
        return false;
    }
    t->width = (unsigned)big_to_u64(v);
    return true;
}

static struct type *resolve_sized(struct checker *c, struct tref *t) {
    struct type *r = new_type(c, t->kind == TR_VARBIT ? TY_VARBIT : TY_BITS);
    r->is_signed = t->kind == TR_INT;
    r->width = 1;
    if (!t->width)
        return r;
    unsigned least = t->kind == TR_INT ? 1 : 0;
    return resolve_width(c, r, &t->width, least, "the width of a type") ? r : c->t_bad;
}

// ------------------------------------------------------------------------------------------------
// Types have a size, too

// A few lines can nest types so that their leaves are beyond counting. No value needs more than
// this many; with the limit every walk over a type ends soon.
#define MAX_LEAVES (1u << 18)

static size_t check_type_count_leaves(struct checker *c, const struct type *t);

static size_t leaves_of_fields(struct checker *c, const struct type *t) {
    size_t n = 1;
    for (size_t i = 0; i < t->decl->members.n && n <= MAX_LEAVES; i++) {
        struct type *ft = t->decl->members.v[i]->type;
        if (ft && t->args.n && t->args.n == t->decl->tparams.n)
            ft = type_subst(c->a, ft, &t->decl->tparams, t->args.v);
        n += ft ? check_type_count_leaves(c, ft) : 1;
    }
    return n;
}

// Leaves of a value of type 't', all stack elements counted; more than MAX_LEAVES is just "more".
static size_t check_type_count_leaves(struct checker *c, const struct type *t) {
    size_t n = 1;
    switch (t->kind) {
    case TY_STRUCT:
    case TY_HEADER:
    case TY_UNION:
        return leaves_of_fields(c, t);
    case TY_STACK:
    case TY_LIST:
    case TY_SET:
        n = check_type_count_leaves(c, t->elem);
        return t->kind == TY_STACK && t->width ? n * t->width : n;
    default:
        for (size_t i = 0; i < t->args.n && n <= MAX_LEAVES; i++)
            n += check_type_count_leaves(c, t->args.v[i]);
        return n;
    }
}

static struct type *limited(struct checker *c, struct loc at, struct type *t) {
    if (check_type_count_leaves(c, t) <= MAX_LEAVES)
        return t;
    diag_error(c->d, at, "this type has more than %u fields", MAX_LEAVES);
    return c->t_bad;
}

// ------------------------------------------------------------------------------------------------
// What may be inside of what (section 7.2.8)

enum container { IN_HEADER, IN_UNION, IN_STRUCT, IN_TUPLE, IN_LIST, IN_STACK };

static bool fits_header(struct checker *c, const struct type *t);

// What a struct inside of a header holds is subject to the same rule, and has a fixed size.
static bool fields_fit_header(struct checker *c, const struct type *t) {
    for (size_t i = 0; i < t->decl->members.n; i++) {
        const char *name = t->decl->members.v[i]->name;
        const struct type *ft = name ? type_field(c->a, t, name, NULL) : NULL;
        if (ft && (ft->kind == TY_VARBIT || !fits_header(c, ft)))
            return false;
    }
    return true;
}

static bool fits_header(struct checker *c, const struct type *t) {
    switch (t->kind) {
    case TY_ERROR_TYPE:
    case TY_BITS:
    case TY_VARBIT:
    case TY_BOOL:
    case TY_NEWTYPE:
    case TY_VAR:
        return true;
    case TY_STACK:
        return fits_header(c, t->elem);
    case TY_STRUCT:
        return fields_fit_header(c, t);
    case TY_ENUM:
        return t->elem != NULL;
    default:
        return false;
    }
}

static bool may_nest(struct checker *c, const struct type *t, enum container in) {
    if (t->kind == TY_ERROR_TYPE || t->kind == TY_DONTCARE)
        return true;
    switch (in) {
    case IN_HEADER:
        return fits_header(c, t);
    case IN_UNION:
        return t->kind == TY_HEADER || t->kind == TY_VAR;
    case IN_STRUCT:
        return is_value_type(t);
    case IN_TUPLE: // constants may hold more than run-time values
        return is_value_type(t) || t->kind == TY_INT || t->kind == TY_MATCH_KIND;
    case IN_STACK:
        return is_value_type(t) && t->kind != TY_TUPLE && t->kind != TY_ERROR;
    case IN_LIST:
        return is_value_type(t) || t->kind == TY_INT || t->kind == TY_STRING ||
               t->kind == TY_MATCH_KIND || t->kind == TY_LIST;
    }
    return true;
}

static bool check_nesting(struct checker *c, struct loc at, const struct type *t,
                          enum container in) {
    static const char *const names[] = {"a header", "a header union", "a struct",
                                        "a tuple",  "a list",         "a stack"};
    if (may_nest(c, t, in))
        return true;
    diag_error(c->d, at, "%s cannot have members of type '%s'", names[in], tn(c, t));
    return false;
}

// ------------------------------------------------------------------------------------------------
// Types as written

static struct type *resolve_in(struct checker *c, struct tref *t, bool open);

static struct type *resolve_stack(struct checker *c, struct tref *t) {
    struct type *r = new_type(c, TY_STACK);
    r->elem = resolve_type(c, t->elem);
    bool ok = check_nesting(c, t->elem->at, r->elem, IN_STACK);
    ok = resolve_width(c, r, &t->size, 0, "the size of a stack") && ok;
    return ok ? limited(c, t->at, r) : c->t_bad;
}

static struct type *resolve_tuple(struct checker *c, struct tref *t, bool open) {
    struct type *r = new_type(c, TY_TUPLE);
    for (size_t i = 0; i < t->args.n; i++) {
        struct type *arg = resolve_in(c, t->args.v[i], open);
        check_nesting(c, t->args.v[i]->at, arg, IN_TUPLE);
        VEC_PUSH(c->a, &r->args, arg);
    }
    return limited(c, t->at, r);
}

static struct type *resolve_list(struct checker *c, struct tref *t, bool open) {
    struct type *r = new_type(c, TY_LIST);
    r->elem = t->args.n ? resolve_in(c, t->args.v[0], open) : c->t_bad;
    if (t->args.n)
        check_nesting(c, t->args.v[0]->at, r->elem, IN_LIST);
    return r;
}

// A program that declares no error has no value of this type, not even the default one.
static struct type *resolve_error(struct checker *c, const struct tref *t) {
    if (c->n_errors == 0)
        diag_error(c->d, t->at, "no 'error' is declared; include core.p4");
    return c->t_error;
}

static struct type *resolve_base(struct checker *c, const struct tref *t) {
    switch (t->base) {
    case BT_VOID:
        return c->t_void;
    case BT_BOOL:
        return c->t_bool;
    case BT_INT:
        return c->t_int;
    case BT_STRING:
        return c->t_string;
    case BT_ERROR:
        return resolve_error(c, t);
    case BT_MATCH_KIND:
        return c->t_match_kind;
    }
    return c->t_bad;
}

static enum container container_of(const struct type *t) {
    return t->kind == TY_HEADER ? IN_HEADER : t->kind == TY_UNION ? IN_UNION : IN_STRUCT;
}

// A generic struct's fields must still be allowed once its arguments are known.
static bool check_specialized(struct checker *c, const struct tref *t, struct type *r) {
    if (r->kind != TY_STRUCT && r->kind != TY_HEADER && r->kind != TY_UNION)
        return true;
    bool ok = true;
    for (size_t i = 0; i < r->decl->members.n && ok; i++) {
        struct type *ft = type_field(c->a, r, r->decl->members.v[i]->name, NULL);
        ft = ft ? settle(c, ft) : NULL;
        if (ft && ft->kind != TY_VAR)
            ok = check_nesting(c, t->at, ft, container_of(r));
    }
    return ok;
}

static struct type *fresh_arguments(struct checker *c, struct type *generic) {
    struct type *r = new_type(c, generic->kind);
    r->decl = generic->decl;
    for (size_t i = 0; i < generic->decl->tparams.n; i++)
        VEC_PUSH(c->a, &r->args, new_var(c));
    return r;
}

static struct type *specialize(struct checker *c, struct tref *t, struct decl *d, bool open) {
    size_t wanted = d->type->kind == TY_VAR ? 0 : d->tparams.n;
    if (t->args.n == 0 && wanted == 0)
        return d->type;
    if (t->args.n == 0 && open)
        return fresh_arguments(c, d->type);
    if (t->args.n != wanted) {
        diag_error(c->d, t->at, "'%s' takes %zu type argument%s, but %zu %s given", t->name, wanted,
                   wanted == 1 ? "" : "s", t->args.n, t->args.n == 1 ? "is" : "are");
        note_declared(c, d);
        return c->t_bad;
    }
    struct type *r = new_type(c, d->type->kind);
    r->decl = d->type->decl;
    for (size_t i = 0; i < t->args.n; i++) {
        struct type *arg = resolve_in(c, t->args.v[i], open);
        if (arg->kind == TY_VOID && d->kind != D_EXTERN) {
            diag_error(c->d, t->args.v[i]->at, "'void' cannot be a type argument");
            arg = c->t_bad;
        }
        VEC_PUSH(c->a, &r->args, arg);
    }
    return check_specialized(c, t, r) ? limited(c, t->at, r) : c->t_bad;
}

static struct type *unknown_type(struct checker *c, const struct tref *t) {
    struct guess g = guess_start(c, t->name);
    guess_visible(c, &g, true);
    diag_error(c->d, t->at, "type '%s' is not declared%s", t->name, guess_text(c, &g));
    return c->t_bad;
}

static struct type *resolve_name(struct checker *c, struct tref *t, bool open) {
    struct decl *d = lookup_name(c, t->name, t->absolute);
    if (!d)
        return unknown_type(c, t);
    t->decl = d;
    if (!is_type_decl(d)) {
        diag_error(c->d, t->at, "'%s' is not a type", t->name);
        note_declared(c, d);
        return c->t_bad;
    }
    if (!d->type)
        return c->t_bad; // its declaration had errors
    return specialize(c, t, d, open);
}

static struct type *resolve_kind(struct checker *c, struct tref *t, bool open) {
    switch (t->kind) {
    case TR_NAME:
        return resolve_name(c, t, open);
    case TR_BASE:
        return resolve_base(c, t);
    case TR_BIT:
    case TR_INT:
    case TR_VARBIT:
        return resolve_sized(c, t);
    case TR_STACK:
        return resolve_stack(c, t);
    case TR_TUPLE:
        return resolve_tuple(c, t, open);
    case TR_LIST:
        return resolve_list(c, t, open);
    case TR_DONTCARE:
        return open ? new_var(c) : c->t_dontcare;
    }
    return c->t_bad;
}

static struct type *resolve_in(struct checker *c, struct tref *t, bool open) {
    if (!t)
        return c->t_bad;
    t->resolved = resolve_kind(c, t, open);
    return t->resolved;
}

struct type *resolve_type(struct checker *c, struct tref *t) {
    return resolve_in(c, t, false);
}

struct type *resolve_open_type(struct checker *c, struct tref *t) {
    return resolve_in(c, t, true);
}

// ------------------------------------------------------------------------------------------------
// Declarations of types

void declare_tparams(struct checker *c, struct decl *d) {
    for (size_t i = 0; i < d->tparams.n; i++) {
        struct decl *p = d->tparams.v[i];
        p->type = new_type(c, TY_VAR);
        p->type->decl = p;
        p->parent = d;
        p->index = (unsigned)i;
        declare_name(c, p);
    }
}

static bool has_dontcare(const struct type *t) {
    if (t->kind == TY_DONTCARE || (t->elem && has_dontcare(t->elem)))
        return true;
    for (size_t i = 0; i < t->args.n; i++)
        if (has_dontcare(t->args.v[i]))
            return true;
    return false;
}

static bool may_be_new(const struct type *t) {
    return t->kind == TY_BITS || t->kind == TY_BOOL || t->kind == TY_NEWTYPE ||
           t->kind == TY_ERROR_TYPE;
}

static bool may_be_typedef(const struct type *t) {
    return t->kind != TY_VOID && t->kind != TY_STRING && t->kind != TY_MATCH_KIND;
}

// typedef and type (section 7.5, 7.6).
void check_typedef(struct checker *c, struct decl *d) {
    struct type *t = resolve_type(c, d->tref);
    bool fresh = d->kind == D_NEWTYPE;
    bool ok = fresh ? may_be_new(t) : may_be_typedef(t);
    if (!ok || has_dontcare(t)) {
        diag_error(c->d, d->tref->at, "'%s' cannot be given a new name with '%s'", tn(c, t),
                   fresh ? "type" : "typedef");
        t = c->t_bad;
    }
    d->type = t;
    if (fresh && t->kind != TY_ERROR_TYPE) {
        d->type = new_type(c, TY_NEWTYPE);
        d->type->decl = d;
        d->type->elem = t;
    }
    declare_name(c, d);
}

static struct decl *same_name_before(const decl_vec *members, size_t i) {
    for (size_t k = 0; k < i; k++)
        if (has_name(members->v[k], members->v[i]->name))
            return members->v[k];
    return NULL;
}

static bool check_unique(struct checker *c, const decl_vec *members, size_t i, const char *what) {
    arena_spend(c->a, i);
    struct decl *m = members->v[i], *old = same_name_before(members, i);
    if (!old)
        return true;
    diag_error(c->d, m->name_at, "%s '%s' is declared twice", what, m->name);
    note_declared(c, old);
    return false;
}

static void check_type_field(struct checker *c, struct decl *d, size_t i, unsigned *varbits) {
    struct decl *f = d->members.v[i];
    f->parent = d;
    f->index = (unsigned)i;
    f->type = resolve_type(c, f->tref);
    check_field_annotations(c, &f->annots);
    check_unique(c, &d->members, i, "field");
    if (!check_nesting(c, f->tref->at, f->type, container_of(d->type)))
        f->type = c->t_bad;
    if (f->type->kind == TY_VARBIT && ++*varbits == 2 && d->kind == D_HEADER)
        diag_warning(c->d, f->name_at, "a header with two varbit fields cannot be extracted");
}

void check_struct(struct checker *c, struct decl *d) {
    names_push(c);
    declare_tparams(c, d);
    enum type_kind kind = d->kind == D_HEADER  ? TY_HEADER
                          : d->kind == D_UNION ? TY_UNION
                                               : TY_STRUCT;
    d->type = decl_type(c, kind, d);
    unsigned varbits = 0;
    for (size_t i = 0; i < d->members.n; i++)
        check_type_field(c, d, i, &varbits);
    d->type = limited(c, d->name_at, d->type);
    names_pop(c);
    declare_name(c, d);
}

static void check_enumerator_value(struct checker *c, const struct decl *d, struct decl *m) {
    if (!m->init)
        return;
    struct type *want = d->type->elem ? d->type->elem : c->t_bad;
    m->init = check_as(c, m->init, want, ROLE("the value of", m->name));
    m->cval = m->init->cval;
    if (!m->cval && m->init->type->kind != TY_ERROR_TYPE)
        diag_error(c->d, m->init->at, "the value of '%s' must be known at compile time", m->name);
}

static void check_enumerator(struct checker *c, struct decl *d, size_t i) {
    struct decl *m = d->members.v[i];
    m->parent = d;
    m->index = (unsigned)i;
    m->type = d->type;
    m->cval = big_u64(c->a, i);
    bool unique = check_unique(c, &d->members, i, "enumerator");
    check_enumerator_value(c, d, m);
    if (unique)
        declare_name(c, m);
}

void check_enum(struct checker *c, struct decl *d) {
    d->type = new_type(c, TY_ENUM);
    d->type->decl = d;
    if (d->tref) {
        struct type *t = resolve_type(c, d->tref);
        if (t->kind != TY_BITS && t->kind != TY_ERROR_TYPE) {
            diag_error(c->d, d->tref->at, "an enum is represented by bit<W> or int<W>, not '%s'",
                       tn(c, t));
            t = c->t_bad;
        }
        d->type->elem = t;
    }
    names_push(c); // a value may be written in terms of the ones before
    for (size_t i = 0; i < d->members.n; i++)
        check_enumerator(c, d, i);
    names_pop(c);
    declare_name(c, d);
}

// Blocks 'error { }' and 'match_kind { }' add up over the whole program (section 7.1.2).
void check_error_block(struct checker *c, struct decl *d) {
    bool errors = d->kind == D_ERROR;
    unsigned *ordinal = errors ? &c->n_errors : &c->n_match_kinds;
    d->type = errors ? c->t_error : c->t_match_kind;
    for (size_t i = 0; i < d->members.n; i++) {
        struct decl *m = d->members.v[i];
        m->parent = d;
        m->index = (unsigned)i;
        m->type = d->type;
        m->cval = big_u64(c->a, (*ordinal)++);
        if (names_add(c, errors ? c->errors : c->match_kinds, m) || !m->name)
            continue;
        diag_error(c->d, m->name_at, "%s '%s' is declared twice", errors ? "error" : "match_kind",
                   m->name);
        note_declared(c, names_find(errors ? c->errors : c->match_kinds, m->name));
    }
}

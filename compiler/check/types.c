// SPDX-License-Identifier: Apache-2.0
//
// types: operations on semantic types. Everything here is structural; names and scopes are
// type.c's business.
#include "compiler/check/types.h"

#include <string.h>

// ------------------------------------------------------------------------------------------------
// Equality

static bool types_same_args(const struct type *x, const struct type *y) {
    if (x->args.n != y->args.n)
        return false;
    for (size_t i = 0; i < x->args.n; i++)
        if (!type_equal(x->args.v[i], y->args.v[i]))
            return false;
    return true;
}

static bool same_names(const struct type *x, const struct type *y) {
    if (x->names.n != y->names.n)
        return false;
    for (size_t i = 0; i < x->names.n; i++)
        if (strcmp(x->names.v[i], y->names.v[i]) != 0)
            return false;
    return true;
}

// Widths that depend on a parameter agree when they are written as the same name.
static bool same_width(const struct type *x, const struct type *y) {
    if (!x->width_expr && !y->width_expr)
        return x->width == y->width;
    if (!x->width_expr || !y->width_expr)
        return false;
    return x->width_expr == y->width_expr ||
           (x->width_expr->kind == EX_NAME && y->width_expr->kind == EX_NAME &&
            x->width_expr->decl == y->width_expr->decl);
}

static bool agrees_with_all(const struct type *t) {
    return t->kind == TY_ERROR_TYPE || t->kind == TY_DONTCARE;
}

static bool same_elem(const struct type *x, const struct type *y) {
    return (!x->elem && !y->elem) || (x->elem && y->elem && type_equal(x->elem, y->elem));
}

bool type_equal(const struct type *x, const struct type *y) {
    if (x == y)
        return true;
    if (!x || !y)
        return false;
    if (agrees_with_all(x) || agrees_with_all(y))
        return true;
    if (x->kind != y->kind)
        return false;
    switch (x->kind) {
    case TY_BITS:
        return x->is_signed == y->is_signed && same_width(x, y);
    case TY_VARBIT:
        return same_width(x, y);
    case TY_STACK:
        return same_width(x, y) && same_elem(x, y);
    case TY_LIST:
    case TY_SET:
    case TY_TYPE:
        return same_elem(x, y);
    case TY_TUPLE:
        return types_same_args(x, y);
    case TY_RECORD:
        return types_same_args(x, y) && same_names(x, y);
    case TY_VAR:
        return x->decl == y->decl && (x->decl || x->width == y->width);
    default:
        return x->decl == y->decl && types_same_args(x, y);
    }
}

// ------------------------------------------------------------------------------------------------
// Names for messages

static const char *joined_names(struct arena *a, const struct type *t) {
    const char *s = "";
    for (size_t i = 0; i < t->args.n; i++) {
        const char *field = i < t->names.n ? t->names.v[i] : NULL;
        s = arena_printf(a, "%s%s%s%s%s", s, i ? ", " : "", type_name(a, t->args.v[i]),
                         field ? " " : "", field ? field : "");
        if (strlen(s) > 400)
            return arena_printf(a, "%s, ...", s);
    }
    return s;
}

static const char *declared_name(struct arena *a, const struct type *t) {
    const char *name = t->decl && t->decl->name ? t->decl->name : "?";
    if (t->args.n == 0)
        return name;
    return arena_printf(a, "%s<%s>", name, joined_names(a, t));
}

static const char *width_name(struct arena *a, const struct type *t) {
    if (t->width_expr)
        return arena_printf(a, "(%s)", expr_text(a, t->width_expr));
    return arena_printf(a, "%u", t->width);
}

static const char *types_plain_name(const struct type *t) {
    switch (t->kind) {
    case TY_ERROR_TYPE:
        return "<error>";
    case TY_VOID:
        return "void";
    case TY_BOOL:
        return "bool";
    case TY_INT:
        return "int";
    case TY_STRING:
        return "string";
    case TY_ERROR:
        return "error";
    case TY_MATCH_KIND:
        return "match_kind";
    case TY_STATE:
        return "state";
    case TY_DONTCARE:
        return "_";
    default:
        return "?";
    }
}

const char *type_name(struct arena *a, const struct type *t) {
    if (!t)
        return "?";
    switch (t->kind) {
    case TY_BITS:
        return arena_printf(a, "%s<%s>", t->is_signed ? "int" : "bit", width_name(a, t));
    case TY_VARBIT:
        return arena_printf(a, "varbit<%s>", width_name(a, t));
    case TY_STACK:
        return arena_printf(a, "%s[%s]", type_name(a, t->elem), width_name(a, t));
    case TY_TUPLE:
        return arena_printf(a, "tuple<%s>", joined_names(a, t));
    case TY_RECORD:
        return arena_printf(a, "struct {%s}", joined_names(a, t));
    case TY_LIST:
        return arena_printf(a, "list<%s>", type_name(a, t->elem));
    case TY_SET:
        return arena_printf(a, "set<%s>", type_name(a, t->elem));
    case TY_TYPE:
        return arena_printf(a, "type %s", type_name(a, t->elem));
    case TY_TABLE:
        return arena_printf(a, "table %s", declared_name(a, t));
    case TY_ACTION:
        return arena_printf(a, "action %s", declared_name(a, t));
    case TY_FUNCTION:
        return arena_printf(a, "function %s", declared_name(a, t));
    case TY_APPLY_RESULT:
        return arena_printf(a, "result of %s.apply()", declared_name(a, t));
    case TY_ACTION_RUN:
        return arena_printf(a, "action run by %s", declared_name(a, t));
    case TY_VAR:
        return t->decl ? t->decl->name : "_";
    case TY_ENUM:
    case TY_STRUCT:
    case TY_HEADER:
    case TY_UNION:
    case TY_NEWTYPE:
    case TY_EXTERN:
    case TY_PARSER:
    case TY_CONTROL:
    case TY_PACKAGE:
        return declared_name(a, t);
    default:
        return types_plain_name(t);
    }
}

// ------------------------------------------------------------------------------------------------
// Substitution

static struct type *shallow_copy(struct arena *a, const struct type *t) {
    struct type *copy = ARENA_NEW(a, struct type);
    *copy = *t;
    return copy;
}

static struct type *subst_var(struct type *t, const decl_vec *tparams, struct type *const *args) {
    for (size_t i = 0; i < tparams->n; i++)
        if (t->decl && t->decl == tparams->v[i])
            return args[i] ? args[i] : t;
    return t;
}

struct type *type_subst(struct arena *a, struct type *t, const decl_vec *tparams,
                        struct type *const *args) {
    if (!t || tparams->n == 0)
        return t;
    if (t->kind == TY_VAR)
        return subst_var(t, tparams, args);
    struct type *result = t;
    struct type *elem = t->elem ? type_subst(a, t->elem, tparams, args) : NULL;
    if (elem != t->elem) {
        result = shallow_copy(a, t);
        result->elem = elem;
    }
    for (size_t i = 0; i < t->args.n; i++) {
        struct type *arg = type_subst(a, t->args.v[i], tparams, args);
        if (arg == result->args.v[i])
            continue;
        if (result == t)
            result = shallow_copy(a, t);
        if (result->args.v == t->args.v) {
            result->args.v = ARENA_ARRAY(a, struct type *, t->args.n);
            memcpy(result->args.v, t->args.v, t->args.n * sizeof *t->args.v);
            result->args.cap = t->args.n;
        }
        result->args.v[i] = arg;
    }
    return result;
}

// ------------------------------------------------------------------------------------------------
// Parts

struct type *type_field(struct arena *a, const struct type *t, const char *name,
                        struct decl **field) {
    if (field)
        *field = NULL;
    if (!t || (t->kind != TY_STRUCT && t->kind != TY_HEADER && t->kind != TY_UNION) || !t->decl)
        return NULL;
    for (size_t i = 0; i < t->decl->members.n; i++) {
        struct decl *m = t->decl->members.v[i];
        if (m->kind != D_FIELD || !m->name || !name || strcmp(m->name, name) != 0)
            continue;
        if (field)
            *field = m;
        if (t->args.n != t->decl->tparams.n)
            return m->type;
        return type_subst(a, m->type, &t->decl->tparams, t->args.v);
    }
    return NULL;
}

const struct type *type_underlying(const struct type *t) {
    while (t && t->elem && (t->kind == TY_NEWTYPE || t->kind == TY_ENUM))
        t = t->elem;
    return t;
}

static long fields_bits(struct arena *a, const struct type *t) {
    long total = 0;
    for (size_t i = 0; i < t->decl->members.n; i++) {
        const struct decl *m = t->decl->members.v[i];
        const struct type *ft = m->type;
        if (t->args.n && t->args.n == t->decl->tparams.n)
            ft = type_subst(a, m->type, &t->decl->tparams, t->args.v);
        long bits = type_bits(a, ft);
        if (bits < 0)
            return -1;
        if (t->kind != TY_UNION)
            total += bits;
        else if (bits > total)
            total = bits;
    }
    return total;
}

static long tuple_bits(struct arena *a, const struct type *t) {
    long total = 0;
    for (size_t i = 0; i < t->args.n; i++) {
        long bits = type_bits(a, t->args.v[i]);
        if (bits < 0)
            return -1;
        total += bits;
    }
    return total;
}

long type_bits(struct arena *a, const struct type *t) {
    if (!t)
        return -1;
    switch (t->kind) {
    case TY_BOOL:
        return 1;
    case TY_BITS:
        return t->width_expr ? -1 : (long)t->width;
    case TY_VARBIT:
        return 0;
    case TY_ENUM:
    case TY_NEWTYPE:
        return t->elem ? type_bits(a, t->elem) : -1;
    case TY_STRUCT:
    case TY_HEADER:
    case TY_UNION:
        if (t->decl && t->decl->fixed_bits)
            return t->decl->fixed_bits;
        return t->decl ? fields_bits(a, t) : -1;
    case TY_STACK: {
        long bits = type_bits(a, t->elem);
        return bits < 0 || t->width_expr ? -1 : bits * (long)t->width;
    }
    case TY_TUPLE:
        return tuple_bits(a, t);
    default:
        return -1;
    }
}

// SPDX-License-Identifier: Apache-2.0
//
// expr: names, literals, members, indices and lists. Operators are in op.c, calls in
// call.c.
#include "compiler/check/check_impl.h"

#include <string.h>

struct type *poison(struct checker *c, struct expr *e) {
    e->type = c->t_bad;
    e->cval = NULL;
    e->lvalue = true; // no second message about assigning to it
    return e->type;
}

// ------------------------------------------------------------------------------------------------
// Compile-time known expressions (section 18.1)

static bool known_decl(const struct decl *d) {
    if (!d)
        return false;
    switch (d->kind) {
    case D_CONST:
    case D_INSTANCE:
    case D_ENUMERATOR:
        return true;
    case D_PARAM:
        // Constructor parameters, and run-time ones that must get such values.
        return d->dir == DIR_NONE && d->parent && d->parent->kind != D_ACTION;
    default:
        return is_type_decl(d);
    }
}

static bool known_args(const struct expr *e);

// An extern function that makes objects, or one that says it has no side effects.
static bool is_factory(const struct expr *e) {
    const struct decl *f = e->decl;
    bool makes = f->type && f->type->kind == TY_EXTERN;
    return !f->body && (makes || annot_find(&f->annots, "pure")) && known_args(e);
}

static bool known_call(const struct expr *e) {
    if (e->call == CALL_BUILTIN)
        return e->builtin >= BI_MIN_SIZE_BITS;
    return e->call == CALL_CTOR || (e->call == CALL_FUNCTION && (e->cval || is_factory(e)));
}

static bool known_args(const struct expr *e) {
    for (size_t i = 0; i < e->args.n; i++)
        if (!is_compile_time(e->args.v[i]->value))
            return false;
    return true;
}

bool is_compile_time(const struct expr *e) {
    if (!e || e->cval || (e->type && e->type->kind == TY_ERROR_TYPE))
        return true;
    switch (e->kind) {
    case EX_NAME:
        return known_decl(e->decl);
    case EX_CALL:
        return known_call(e);
    case EX_LIST:
    case EX_STRUCT:
        return known_args(e);
    case EX_MEMBER:
    case EX_UNARY:
    case EX_CAST:
    case EX_SLICE:
        return is_compile_time(e->a);
    case EX_BINARY:
    case EX_INDEX:
    case EX_MASK:
    case EX_RANGE:
        return is_compile_time(e->a) && is_compile_time(e->b);
    case EX_COND:
        return is_compile_time(e->a) && is_compile_time(e->b) && is_compile_time(e->c);
    case EX_THIS:
        return false;
    default:
        return true;
    }
}

big constant_int(struct checker *c, struct expr **e, const char *what) {
    struct type *t = infer(c, *e);
    if (t->kind == TY_ERROR_TYPE)
        return NULL;
    *e = to_bits(c, *e);
    t = (*e)->type;
    if (t->kind != TY_INT && t->kind != TY_BITS) {
        diag_error(c->d, (*e)->at, "%s must be a number, not '%s'", what, tn(c, t));
        return NULL;
    }
    // A constructor parameter is known too, but not yet.
    if (!is_compile_time(*e))
        diag_error(c->d, (*e)->at, "%s must be known at compile time", what);
    return (*e)->cval;
}

big local_constant_int(struct checker *c, struct expr **e, const char *what) {
    unsigned before = diag_errors(c->d);
    big v = constant_int(c, e, what);
    if (!v && diag_errors(c->d) == before && (*e)->type->kind != TY_ERROR_TYPE)
        diag_error(c->d, (*e)->at, "%s must be known where it is written", what);
    return v;
}

// ------------------------------------------------------------------------------------------------
// Literals and lists

static struct type *infer_int(struct checker *c, struct expr *e) {
    if (e->width == 0) {
        e->cval = e->value;
        return c->t_int;
    }
    struct type *t = bits_type(c, e->width, e->is_signed);
    e->cval = fold_to_type(c, e->value, t);
    if (!fold_fits(c, e->value, t))
        diag_warning(c->d, e->at, "%s does not fit into '%s': %s is used",
                     big_str(c->a, e->value, 10), tn(c, t), big_str(c->a, e->cval, 10));
    return t;
}

static struct type *infer_list(struct checker *c, struct expr *e) {
    struct type *t = new_type(c, e->kind == EX_LIST ? TY_TUPLE : TY_RECORD);
    bool bad = false;
    for (size_t i = 0; i < e->args.n; i++) {
        struct arg *arg = e->args.v[i];
        struct type *at = infer(c, arg->value);
        bad |= at->kind == TY_ERROR_TYPE;
        if (arg->value->kind == EX_DOTS)
            continue;
        VEC_PUSH(c->a, &t->args, at);
        if (e->kind == EX_STRUCT)
            VEC_PUSH(c->a, &t->names, arg->name ? arg->name : "");
    }
    return bad ? poison(c, e) : t;
}

// ------------------------------------------------------------------------------------------------
// Names

struct type *name_to_type(struct checker *c, struct expr *e, struct decl *d) {
    e->decl = d;
    struct type *t = new_type(c, TY_TYPE);
    t->elem = d->type ? d->type : c->t_bad;
    return t;
}

static struct type *unknown_name(struct checker *c, struct expr *e) {
    struct guess g = guess_start(c, e->name);
    guess_visible(c, &g, false);
    diag_error(c->d, e->at, "'%s' is not declared%s", e->name, guess_text(c, &g));
    return poison(c, e);
}

static bool writable_param(const struct decl *d) {
    return d->dir == DIR_OUT || d->dir == DIR_INOUT;
}

static struct type *decl_of_type(struct checker *c, enum type_kind kind, struct decl *d) {
    struct type *t = new_type(c, kind);
    t->decl = d;
    return t;
}

static struct type *infer_name(struct checker *c, struct expr *e) {
    struct decl *d = lookup_name(c, e->name, e->absolute);
    if (!d)
        d = names_find(c->match_kinds, e->name);
    if (!d)
        return unknown_name(c, e);
    e->decl = d;
    if (is_type_decl(d))
        return name_to_type(c, e, d);
    switch (d->kind) {
    case D_CONST:
    case D_ENUMERATOR:
        e->cval = d->cval;
        break;
    case D_VAR:
        e->lvalue = true;
        break;
    case D_PARAM:
        e->lvalue = writable_param(d);
        break;
    case D_FUNCTION:
        return decl_of_type(c, TY_FUNCTION, d);
    case D_ACTION:
        return decl_of_type(c, TY_ACTION, d);
    case D_TABLE:
        return decl_of_type(c, TY_TABLE, d);
    default:
        break;
    }
    if (d->type)
        return d->type;
    return poison(c, e);
}

static struct type *infer_typename(struct checker *c, struct expr *e) {
    struct type *t = new_type(c, TY_TYPE);
    t->elem = resolve_open_type(c, e->tref);
    e->decl = e->tref->decl;
    return t->elem->kind == TY_ERROR_TYPE ? poison(c, e) : t;
}

static struct type *infer_this(struct checker *c, struct expr *e) {
    if (c->instance && c->instance->type) {
        e->decl = c->instance;
        return c->instance->type;
    }
    diag_error(c->d, e->at, "'this' is only allowed in the implementation of an abstract method");
    return poison(c, e);
}

// ------------------------------------------------------------------------------------------------
// Members

static struct type *no_member(struct checker *c, struct expr *e, const decl_vec *candidates) {
    struct guess g = guess_start(c, e->name);
    for (size_t i = 0; candidates && i < candidates->n; i++)
        guess_try(&g, candidates->v[i]->name);
    diag_error(c->d, e->name_at, "'%s' has no %s '%s'%s", tn(c, e->a->type),
               candidates ? "field" : "member", e->name, guess_text(c, &g));
    if (e->a->type->decl)
        note_declared(c, e->a->type->decl);
    return poison(c, e);
}

static struct type *check_expr_enumerator(struct checker *c, struct expr *e, struct decl *m) {
    if (!m)
        return NULL;
    e->decl = m;
    e->cval = m->cval;
    return m->type ? m->type : poison(c, e);
}

static struct decl *member_named(const decl_vec *members, const char *name) {
    for (size_t i = 0; i < members->n; i++)
        if (has_name(members->v[i], name))
            return members->v[i];
    return NULL;
}

// E.member, error.member, match_kind.member
static struct type *infer_type_member(struct checker *c, struct expr *e) {
    struct type *t = e->a->type->elem;
    struct names *s = t->kind == TY_ERROR ? c->errors : c->match_kinds;
    struct guess g = guess_start(c, e->name);
    struct type *r = NULL;
    if (t->kind == TY_ENUM) {
        r = check_expr_enumerator(c, e, member_named(&t->decl->members, e->name));
        for (size_t i = 0; i < t->decl->members.n; i++)
            guess_try(&g, t->decl->members.v[i]->name);
    } else if (t->kind == TY_ERROR || t->kind == TY_MATCH_KIND) {
        r = check_expr_enumerator(c, e, names_find(s, e->name));
        guess_in(s, &g);
    }
    if (r)
        return r;
    diag_error(c->d, e->name_at, "'%s' has no member '%s'%s", tn(c, t), e->name, guess_text(c, &g));
    if (t->decl)
        note_declared(c, t->decl);
    return poison(c, e);
}

static bool check_expr_in_parser(const struct checker *c) {
    return c->block && c->block->kind == D_PARSER;
}

static bool check_expr_is_last(const struct expr *e) {
    const struct type *t = e->a && e->a->type ? type_underlying(e->a->type) : NULL;
    return e->kind == EX_MEMBER && t && t->kind == TY_STACK && strcmp(e->name, "last") == 0;
}

void note_written(struct checker *c, const struct expr *e) {
    while (e->kind == EX_MEMBER || e->kind == EX_INDEX || e->kind == EX_SLICE ||
           e->kind == EX_PLUS_SLICE) {
        if (check_expr_is_last(e)) {
            diag_warning(c->d, e->name_at,
                         "'last' is written; by the specification it can only be read, and p4c "
                         "refuses this: write to %s[...]",
                         expr_text(c->a, e->a));
            return;
        }
        e = e->a;
    }
}

static struct type *infer_stack_member(struct checker *c, struct expr *e, const struct type *t) {
    bool next = strcmp(e->name, "next") == 0, last = strcmp(e->name, "last") == 0;
    bool last_index = strcmp(e->name, "lastIndex") == 0;
    if (strcmp(e->name, "size") == 0) {
        e->cval = t->width_expr ? NULL : big_u64(c->a, t->width);
        return c->t_bit32;
    }
    bool headers =
        t->elem->kind == TY_HEADER || t->elem->kind == TY_UNION || t->elem->kind == TY_VAR;
    if ((!next && !last && !last_index) || !headers)
        return no_member(c, e, NULL);
    if (!check_expr_in_parser(c))
        diag_error(c->d, e->name_at, "'%s' of a header stack can only be used in a parser",
                   e->name);
    e->lvalue = (next || last) && e->a->lvalue;
    return last_index ? c->t_bit32 : t->elem;
}

static struct type *infer_apply_result(struct checker *c, struct expr *e, const struct type *t) {
    if (strcmp(e->name, "hit") == 0 || strcmp(e->name, "miss") == 0)
        return c->t_bool;
    if (strcmp(e->name, "action_run") == 0)
        return decl_of_type(c, TY_ACTION_RUN, t->decl);
    return no_member(c, e, NULL);
}

static bool is_builtin_name(const char *name) {
    static const char *const names[] = {"isValid",        "setValid",      "setInvalid",
                                        "push_front",     "pop_front",     "minSizeInBits",
                                        "minSizeInBytes", "maxSizeInBits", "maxSizeInBytes"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool is_method_name(const struct type *t, const char *name) {
    if (t->kind == TY_EXTERN)
        return member_named(&t->decl->members, name) != NULL;
    if (t->kind == TY_TABLE || t->kind == TY_PARSER || t->kind == TY_CONTROL)
        return strcmp(name, "apply") == 0;
    return is_builtin_name(name);
}

static struct type *infer_field(struct checker *c, struct expr *e, struct type *t) {
    struct type *ft = type_field(c->a, t, e->name, &e->decl);
    if (!ft)
        return no_member(c, e, &t->decl->members);
    e->lvalue = e->a->lvalue;
    fold_member(c, e);
    return ft;
}

// A field of a structure-valued expression whose struct is not known.
static struct type *infer_record_member(struct checker *c, struct expr *e, const struct type *t) {
    for (size_t i = 0; i < t->names.n; i++) {
        if (strcmp(t->names.v[i], e->name) != 0)
            continue;
        fold_member(c, e);
        return t->args.v[i];
    }
    return no_member(c, e, NULL);
}

static struct type *infer_member(struct checker *c, struct expr *e) {
    struct type *t = infer(c, e->a);
    if (t->kind == TY_ERROR_TYPE)
        return poison(c, e);
    switch (t->kind) {
    case TY_TYPE:
        return infer_type_member(c, e);
    case TY_STRUCT:
    case TY_HEADER:
    case TY_UNION:
        if (type_field(c->a, t, e->name, NULL))
            return infer_field(c, e, t);
        break;
    case TY_RECORD:
        return infer_record_member(c, e, t);
    case TY_STACK:
        if (!is_builtin_name(e->name))
            return infer_stack_member(c, e, t);
        break;
    case TY_APPLY_RESULT:
        return infer_apply_result(c, e, t);
    default:
        break;
    }
    if (is_method_name(t, e->name)) {
        diag_error(c->d, e->name_at, "'%s' is a method: call it as '%s()'", e->name, e->name);
        return poison(c, e);
    }
    bool fields = t->kind == TY_STRUCT || t->kind == TY_HEADER || t->kind == TY_UNION;
    return no_member(c, e, fields ? &t->decl->members : NULL);
}

// ------------------------------------------------------------------------------------------------
// Indices and slices

static bool check_bounds(struct checker *c, const struct expr *index, size_t n) {
    big v = index->cval;
    if (!v || (big_sign(v) >= 0 && big_cmp(v, big_u64(c->a, n)) < 0))
        return true;
    diag_error(c->d, index->at, "index %s is outside the %zu elements", big_str(c->a, v, 10), n);
    return false;
}

static struct type *infer_tuple_index(struct checker *c, struct expr *e, const struct type *t) {
    big v = local_constant_int(c, &e->b, "the index of a tuple");
    if (!v || !check_bounds(c, e->b, t->args.n))
        return poison(c, e);
    e->lvalue = e->a->lvalue;
    fold_member(c, e);
    return t->args.v[big_to_u64(v)];
}

static struct type *infer_stack_index(struct checker *c, struct expr *e, const struct type *t) {
    e->b = to_bits(c, e->b);
    const struct type *it = e->b->type;
    if (it->kind == TY_ERROR_TYPE)
        return poison(c, e);
    if (it->kind != TY_INT && it->kind != TY_BITS) {
        diag_error(c->d, e->b->at, "an index must be a number, not '%s'", tn(c, it));
        return poison(c, e);
    }
    if (!t->width_expr && t->width && !check_bounds(c, e->b, t->width))
        return poison(c, e);
    e->lvalue = e->a->lvalue;
    fold_member(c, e);
    return t->elem;
}

static struct type *infer_index(struct checker *c, struct expr *e) {
    struct type *t = infer(c, e->a);
    struct type *it = infer(c, e->b);
    if (t->kind == TY_ERROR_TYPE || it->kind == TY_ERROR_TYPE)
        return poison(c, e);
    if (t->kind == TY_TUPLE)
        return infer_tuple_index(c, e, t);
    if (t->kind == TY_STACK)
        return infer_stack_index(c, e, t);
    diag_error(c->d, e->at, "'%s' has no elements to index; a bit slice is written [high:low]",
               tn(c, t));
    return poison(c, e);
}

static struct type *infer_slice(struct checker *c, struct expr *e) {
    struct type *t = infer(c, e->a);
    big hi = local_constant_int(c, &e->b, "the upper bound of a slice");
    big lo = local_constant_int(c, &e->c, "the lower bound of a slice");
    if (t->kind == TY_ERROR_TYPE || !hi || !lo)
        return poison(c, e);
    e->lvalue = e->a->lvalue;
    e->a = to_bits(c, e->a);
    t = e->a->type;
    if (t->kind != TY_BITS && !(t->kind == TY_INT && e->a->cval)) {
        diag_error(c->d, e->a->at, "only bit<W> and int<W> can be sliced, not '%s'", tn(c, t));
        return poison(c, e);
    }
    unsigned limit = t->kind == TY_BITS && !t->width_expr ? t->width : BIG_MAX_BITS;
    if (big_sign(lo) < 0 || big_cmp(hi, lo) < 0 || big_cmp(hi, big_u64(c->a, limit)) >= 0) {
        diag_error(c->d, e->at, "slice [%s:%s] is not within the bits %u to 0 of '%s'",
                   big_str(c->a, hi, 10), big_str(c->a, lo, 10), limit ? limit - 1 : 0, tn(c, t));
        return poison(c, e);
    }
    unsigned h = (unsigned)big_to_u64(hi), l = (unsigned)big_to_u64(lo);
    if (e->a->cval)
        e->cval = big_slice(c->a, e->a->cval, h, l);
    return bits_type(c, h - l + 1, false);
}

// a[base +: width]: the base may be a run-time value, the width may not.
static struct type *infer_plus_slice(struct checker *c, struct expr *e) {
    struct type *t = infer(c, e->a), *base = infer(c, e->b);
    big width = local_constant_int(c, &e->c, "the width of a slice");
    if (t->kind == TY_ERROR_TYPE || base->kind == TY_ERROR_TYPE || !width)
        return poison(c, e);
    e->lvalue = e->a->lvalue;
    e->a = to_bits(c, e->a);
    e->b = to_bits(c, e->b);
    t = e->a->type;
    base = e->b->type;
    if (t->kind != TY_BITS || (base->kind != TY_INT && base->kind != TY_BITS)) {
        diag_error(c->d, e->at, "'%s' cannot be sliced at a position of type '%s'", tn(c, t),
                   tn(c, base));
        return poison(c, e);
    }
    big end = e->b->cval ? big_add(c->a, e->b->cval, width) : width;
    bool negative = e->b->cval && big_sign(e->b->cval) < 0;
    if (negative || big_sign(width) <= 0 ||
        (!t->width_expr && big_cmp(end, big_u64(c->a, t->width)) > 0)) {
        diag_error(c->d, e->at, "this slice is not within the bits of '%s'", tn(c, t));
        return poison(c, e);
    }
    unsigned w = (unsigned)big_to_u64(width);
    if (e->a->cval && e->b->cval) {
        unsigned low = (unsigned)big_to_u64(e->b->cval);
        e->cval = big_slice(c->a, e->a->cval, low + w - 1, low);
    }
    return bits_type(c, w, false);
}

// ------------------------------------------------------------------------------------------------
// All of them

// value &&& mask and low .. high outside of keysets: a set of the operands' type.
static struct type *infer_set(struct checker *c, struct expr *e) {
    infer(c, e->a);
    infer(c, e->b);
    if (!unify_operands(c, &e->a, &e->b))
        return poison(c, e);
    const struct type *t = type_underlying(e->a->type);
    if (t->kind != TY_BITS && t->kind != TY_INT && t->kind != TY_ERROR_TYPE) {
        diag_error(c->d, e->at, "a set of '%s' cannot be written with '%s'", tn(c, t),
                   e->kind == EX_MASK ? "&&&" : "..");
        return poison(c, e);
    }
    return set_of(c, e->a->type);
}

static struct type *check_expr_misplaced(struct checker *c, struct expr *e, const char *text) {
    diag_error(c->d, e->at, "'%s' is not a value; it is only allowed in keysets and entries", text);
    return poison(c, e);
}

static struct type *infer_call_expr(struct checker *c, struct expr *e) {
    struct type *t = infer_call(c, e);
    if (e->call == CALL_CTOR && t->kind == TY_EXTERN && has_abstract_methods(t->decl))
        diag_error(c->d, e->at,
                   "'%s' has abstract methods, so it needs an instance that "
                   "implements them",
                   t->decl->name);
    return t;
}

static struct type *infer_kind(struct checker *c, struct expr *e) {
    switch (e->kind) {
    case EX_INT:
        return infer_int(c, e);
    case EX_BOOL:
        e->cval = e->value;
        return c->t_bool;
    case EX_STRING:
        return c->t_string;
    case EX_NAME:
        return infer_name(c, e);
    case EX_TYPENAME:
        return infer_typename(c, e);
    case EX_MEMBER:
        return infer_member(c, e);
    case EX_INDEX:
        return infer_index(c, e);
    case EX_SLICE:
        return infer_slice(c, e);
    case EX_PLUS_SLICE:
        return infer_plus_slice(c, e);
    case EX_CALL:
        return infer_call_expr(c, e);
    case EX_UNARY:
        return infer_unary(c, e);
    case EX_BINARY:
        return infer_binary(c, e);
    case EX_COND:
        return infer_cond(c, e);
    case EX_CAST:
        return infer_cast(c, e);
    case EX_LIST:
    case EX_STRUCT:
        return infer_list(c, e);
    case EX_INVALID:
    case EX_DOTS:
        return c->t_dontcare; // decided by the place, see coerce
    case EX_DEFAULT:
        return check_expr_misplaced(c, e, "default");
    case EX_DONTCARE:
        return check_expr_misplaced(c, e, "_");
    case EX_MASK:
    case EX_RANGE:
        return infer_set(c, e);
    case EX_THIS:
        return infer_this(c, e);
    }
    return poison(c, e);
}

struct type *infer(struct checker *c, struct expr *e) {
    if (!e)
        return c->t_bad;
    if (!e->type) {
        struct type *t = infer_kind(c, e);
        e->type = t ? t : c->t_bad;
    }
    return e->type;
}

struct expr *check_as(struct checker *c, struct expr *e, struct type *want, struct role role) {
    infer(c, e);
    return coerce(c, e, want, role);
}

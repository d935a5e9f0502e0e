// SPDX-License-Identifier: Apache-2.0
//
// build_expr: types as written, expressions, and the lists of them.
#include "compiler/syntax/build.h"

#include <string.h>

struct loc loc_span(struct loc from, struct loc to) {
    if (from.file == to.file && from.line == to.line && to.end_col > from.end_col)
        from.end_col = to.end_col;
    return from;
}

struct loc loc_after(struct loc at) {
    if (at.end_col > at.col)
        at.col = at.end_col;
    at.end_col = at.col;
    return at;
}

struct name name_of(struct parser *p, const struct token *t) {
    struct name n = {.text = arena_strndup(p->a, t->text, t->length), .at = t->at};
    return n;
}

void declare_object(struct parser *p, const char *name) {
    scope_declare(p->scope, name, strlen(name), SCOPE_OBJECT);
}

void declare_type(struct parser *p, const char *name) {
    scope_declare(p->scope, name, strlen(name), SCOPE_TYPE);
}

// --------------------------------------------------------------------------------------------
// Lists

expr_vec *exprs_one(struct parser *p, struct expr *e) {
    return exprs_add(p, ARENA_NEW(p->a, expr_vec), e);
}

expr_vec *exprs_add(struct parser *p, expr_vec *list, struct expr *e) {
    VEC_PUSH(p->a, list, e);
    return list;
}

arg_vec *args_add(struct parser *p, arg_vec *list, struct arg *a) {
    if (!list)
        list = ARENA_NEW(p->a, arg_vec);
    VEC_PUSH(p->a, list, a);
    return list;
}

tref_vec *trefs_add(struct parser *p, tref_vec *list, struct tref *t) {
    if (!list)
        list = ARENA_NEW(p->a, tref_vec);
    if (t)
        VEC_PUSH(p->a, list, t);
    return list;
}

annot_vec *annots_add(struct parser *p, annot_vec *list, struct annotation *annotation) {
    if (!list)
        list = ARENA_NEW(p->a, annot_vec);
    VEC_PUSH(p->a, list, annotation);
    return list;
}

// --------------------------------------------------------------------------------------------
// Annotations' arguments

void annotation_args(struct parser *p, const expr_vec *args) {
    if (!args)
        return;
    p->annotation->args = *args;
    for (size_t i = 0; i < args->n; i++)
        VEC_PUSH(p->a, &p->annotation->keys, NULL);
}

void annotation_pairs(struct parser *p, const arg_vec *pairs) {
    for (size_t i = 0; i < pairs->n; i++) {
        VEC_PUSH(p->a, &p->annotation->args, pairs->v[i]->value);
        VEC_PUSH(p->a, &p->annotation->keys, pairs->v[i]->name);
    }
}

// --------------------------------------------------------------------------------------------
// Depth

static unsigned build_expr_max_u(unsigned x, unsigned y) {
    return x > y ? x : y;
}

static unsigned expr_depth(const struct expr *e) {
    return e ? e->depth : 0;
}

static unsigned tref_depth(const struct tref *t) {
    return t ? t->depth : 0;
}

static unsigned trefs_depth(const tref_vec *list) {
    unsigned depth = 0;
    for (size_t i = 0; list && i < list->n; i++)
        depth = build_expr_max_u(depth, list->v[i]->depth);
    return depth;
}

static unsigned args_depth(const arg_vec *list) {
    unsigned depth = 0;
    for (size_t i = 0; list && i < list->n; i++)
        depth = build_expr_max_u(depth, expr_depth(list->v[i]->value));
    return depth;
}

// Sets the depth of a finished node, or reports it and returns a leaf in its place.
static struct expr *expr_done(struct parser *p, struct expr *e, unsigned children) {
    e->depth = children + 1;
    if (e->depth <= AST_MAX_DEPTH)
        return e;
    nested_too_deeply(p, e->at);
    return expr_leaf(p, e->at, EX_INVALID);
}

static struct tref *tref_done(struct parser *p, struct tref *t, unsigned children) {
    t->depth = children + 1;
    if (t->depth <= AST_MAX_DEPTH)
        return t;
    nested_too_deeply(p, t->at);
    return tref_base(p, t->at, BT_VOID);
}

// --------------------------------------------------------------------------------------------
// Types

static struct tref *tref_new(struct parser *p, struct loc at, enum tref_kind kind) {
    struct tref *t = ARENA_NEW(p->a, struct tref);
    t->kind = kind;
    t->at = at;
    t->depth = 1;
    return t;
}

static void tref_set_args(struct tref *t, const tref_vec *args) {
    t->args.v = args->v;
    t->args.n = args->n;
    t->args.cap = args->cap;
}

struct tref *tref_base(struct parser *p, struct loc at, enum base_type base) {
    struct tref *t = tref_new(p, at, TR_BASE);
    t->base = base;
    return t;
}

struct tref *tref_width(struct parser *p, struct loc at, enum tref_kind kind, struct expr *width) {
    struct tref *t = tref_new(p, at, kind);
    t->width = width;
    return tref_done(p, t, expr_depth(width));
}

struct tref *tref_name(struct parser *p, struct loc at, struct name name, bool absolute) {
    struct tref *t = tref_new(p, at, TR_NAME);
    t->name = name.text;
    t->absolute = absolute;
    return t;
}

struct tref *tref_specialize(struct parser *p, struct loc at, struct tref *t,
                             const tref_vec *args) {
    t->at = at;
    tref_set_args(t, args);
    return tref_done(p, t, trefs_depth(args));
}

struct tref *tref_args(struct parser *p, struct loc at, enum tref_kind kind, const tref_vec *args) {
    struct tref *t = tref_new(p, at, kind);
    tref_set_args(t, args);
    return tref_done(p, t, trefs_depth(args));
}

struct tref *tref_list(struct parser *p, struct loc at, struct tref *elem) {
    return tref_args(p, at, TR_LIST, trefs_add(p, NULL, elem));
}

struct tref *tref_stack(struct parser *p, struct loc at, struct tref *elem, struct expr *size) {
    struct tref *t = tref_new(p, at, TR_STACK);
    t->elem = elem;
    t->size = size;
    return tref_done(p, t, build_expr_max_u(elem->depth, size->depth));
}

struct tref *tref_dontcare(struct parser *p, struct loc at) {
    return tref_new(p, at, TR_DONTCARE);
}

// --------------------------------------------------------------------------------------------
// Expressions

struct expr *expr_leaf(struct parser *p, struct loc at, enum expr_kind kind) {
    struct expr *e = ARENA_NEW(p->a, struct expr);
    e->kind = kind;
    e->at = at;
    e->depth = 1;
    return e;
}

struct expr *expr_integer(struct parser *p, const struct token *t) {
    struct expr *e = expr_leaf(p, t->at, EX_INT);
    bool sized;
    e->value = token_integer(p, t, &sized, &e->width, &e->is_signed);
    if (!sized || e->width > 0)
        return e;
    // 0w0 is bit<0>; a literal's width 0 means none, so the type is written before it
    if (e->is_signed)
        parse_error(p, t->at, "a signed number has at least 1 bit");
    e->is_signed = false;
    struct expr *zero = expr_leaf(p, t->at, EX_INT);
    zero->value = big_u64(p->a, 0);
    return expr_cast(p, t->at, tref_width(p, t->at, TR_BIT, zero), e);
}

struct expr *expr_string(struct parser *p, const struct token *t) {
    struct expr *e = expr_leaf(p, t->at, EX_STRING);
    e->name = token_string(p->a, t);
    return e;
}

struct expr *expr_bool(struct parser *p, struct loc at, bool value) {
    struct expr *e = expr_leaf(p, at, EX_BOOL);
    e->value = big_u64(p->a, value);
    return e;
}

struct expr *expr_name(struct parser *p, struct loc at, struct name name, bool absolute) {
    struct expr *e = expr_leaf(p, at, EX_NAME);
    e->name = name.text;
    e->name_at = name.at;
    e->absolute = absolute;
    return e;
}

struct expr *expr_type(struct parser *p, struct tref *t) {
    struct expr *e = expr_leaf(p, t->at, EX_TYPENAME);
    e->tref = t;
    return expr_done(p, e, t->depth);
}

struct expr *expr_member(struct parser *p, struct loc at, struct expr *a, struct name member) {
    struct expr *e = expr_leaf(p, at, EX_MEMBER);
    e->a = a;
    e->name = member.text;
    e->name_at = member.at;
    return expr_done(p, e, a->depth);
}

static struct expr *expr_of(struct parser *p, struct loc at, enum expr_kind kind, struct expr *a,
                            struct expr *b, struct expr *c) {
    struct expr *e = expr_leaf(p, at, kind);
    e->a = a;
    e->b = b;
    e->c = c;
    return expr_done(
        p, e, build_expr_max_u(expr_depth(a), build_expr_max_u(expr_depth(b), expr_depth(c))));
}

struct expr *expr_index(struct parser *p, struct loc at, struct expr *a, struct expr *b) {
    return expr_of(p, at, EX_INDEX, a, b, NULL);
}

struct expr *expr_slice(struct parser *p, struct loc at, enum expr_kind kind, struct expr *a,
                        struct expr *b, struct expr *c) {
    return expr_of(p, at, kind, a, b, c);
}

struct expr *expr_call(struct parser *p, struct loc at, struct expr *callee, const tref_vec *targs,
                       const arg_vec *args) {
    struct expr *e = expr_leaf(p, at, EX_CALL);
    e->a = callee;
    if (targs)
        e->targs = *targs;
    if (args)
        e->args = *args;
    return expr_done(
        p, e,
        build_expr_max_u(callee->depth, build_expr_max_u(trefs_depth(targs), args_depth(args))));
}

struct expr *expr_unary(struct parser *p, struct loc at, enum op op, struct expr *a) {
    struct expr *e = expr_of(p, at, EX_UNARY, a, NULL, NULL);
    e->op = op;
    return e;
}

struct expr *expr_binary(struct parser *p, struct loc at, enum op op, struct expr *a,
                         struct expr *b) {
    struct expr *e = expr_of(p, at, EX_BINARY, a, b, NULL);
    e->op = op;
    return e;
}

struct expr *expr_pair(struct parser *p, struct loc at, enum expr_kind kind, struct expr *a,
                       struct expr *b) {
    return expr_of(p, at, kind, a, b, NULL);
}

struct expr *expr_cond(struct parser *p, struct loc at, struct expr *a, struct expr *b,
                       struct expr *c) {
    return expr_of(p, at, EX_COND, a, b, c);
}

struct expr *expr_cast(struct parser *p, struct loc at, struct tref *t, struct expr *a) {
    struct expr *e = expr_leaf(p, at, EX_CAST);
    e->tref = t;
    e->a = a;
    return expr_done(p, e, build_expr_max_u(tref_depth(t), a->depth));
}

static struct expr *expr_with_args(struct parser *p, struct loc at, enum expr_kind kind,
                                   const arg_vec *args) {
    struct expr *e = expr_leaf(p, at, kind);
    if (args)
        e->args = *args;
    return expr_done(p, e, args_depth(args));
}

struct expr *expr_list(struct parser *p, struct loc at, const expr_vec *items) {
    arg_vec *args = NULL;
    for (size_t i = 0; items && i < items->n; i++)
        args = args_add(p, args, arg_of(p, items->v[i]->at, NULL, items->v[i]));
    return expr_with_args(p, at, EX_LIST, args);
}

struct expr *expr_keysets(struct parser *p, struct loc at, struct expr *first,
                          const expr_vec *rest) {
    arg_vec *args = args_add(p, NULL, arg_of(p, first->at, NULL, first));
    for (size_t i = 0; rest && i < rest->n; i++)
        args = args_add(p, args, arg_of(p, rest->v[i]->at, NULL, rest->v[i]));
    return expr_with_args(p, at, EX_LIST, args);
}

struct expr *expr_struct(struct parser *p, struct loc at, const arg_vec *members) {
    return expr_with_args(p, at, EX_STRUCT, members);
}

struct expr *expr_parenthesised(struct expr *e, struct loc at) {
    e->at = at;
    return e;
}

struct arg *arg_of(struct parser *p, struct loc at, const char *name, struct expr *value) {
    struct arg *a = ARENA_NEW(p->a, struct arg);
    a->at = at;
    a->name = name;
    a->value = value;
    return a;
}

// SPDX-License-Identifier: Apache-2.0
//
// build_decl: declarations and the parts of tables.
#include "compiler/syntax/build.h"

#include <string.h>

// --------------------------------------------------------------------------------------------
// Lists

decl_vec *decls_new(struct parser *p) {
    return ARENA_NEW(p->a, decl_vec);
}

decl_vec *decls_one(struct parser *p, struct decl *d) {
    return decls_add(p, decls_new(p), d);
}

decl_vec *decls_add(struct parser *p, decl_vec *list, struct decl *d) {
    if (d)
        VEC_PUSH(p->a, list, d);
    return list;
}

void program_add(struct parser *p, struct decl *d) {
    if (d)
        VEC_PUSH(p->a, &p->program->decls, d);
}

// --------------------------------------------------------------------------------------------

static struct decl *decl_new(struct parser *p, struct loc at, enum decl_kind kind,
                             struct name name) {
    struct decl *d = ARENA_NEW(p->a, struct decl);
    d->kind = kind;
    d->at = at;
    d->name = name.text;
    d->name_at = name.at;
    return d;
}

// An annotated extern's forward declaration is nothing to annotate.
struct decl *decl_annotate(struct decl *d, const annot_vec *annots) {
    if (d && annots)
        d->annots = *annots;
    if (d && d->kind == D_PARAM)
        d->is_optional = annot_find(&d->annots, "optional") != NULL;
    return d;
}

static void set_decls(decl_vec *field, const decl_vec *list) {
    if (list)
        *field = *list;
}

struct declarator declarator_of(struct name name) {
    struct declarator d = {.name = name};
    return d;
}

struct declarator declarator_add(struct parser *p, struct declarator d, struct expr *size) {
    d.sizes = d.sizes ? exprs_add(p, d.sizes, size) : exprs_one(p, size);
    return d;
}

static struct tref *declared_type(struct parser *p, struct tref *t, const struct declarator *d) {
    for (size_t i = 0; d->sizes && i < d->sizes->n; i++)
        t = tref_stack(p, loc_span(t->at, d->name.at), t, d->sizes->v[i]);
    return t;
}

struct decl *decl_typed(struct parser *p, struct loc at, enum decl_kind kind, struct tref *t,
                        const struct declarator *name) {
    struct decl *d = decl_new(p, at, kind, name->name);
    d->tref = declared_type(p, t, name);
    return d;
}

struct decl *decl_enumerator(struct parser *p, struct loc at, struct name name,
                             struct expr *value) {
    struct decl *d = decl_new(p, at, D_ENUMERATOR, name);
    d->init = value;
    return d;
}

struct decl *decl_typevar(struct parser *p, struct loc at, struct name name) {
    declare_type(p, name.text);
    return decl_new(p, at, D_TYPEVAR, name);
}

struct decl *decl_variable(struct parser *p, struct loc at, enum decl_kind kind, struct tref *t,
                           const struct declarator *name, struct expr *init) {
    struct decl *d = decl_typed(p, at, kind, t, name);
    d->init = init;
    declare_object(p, d->name);
    return d;
}

struct decl *decl_loop_variable(struct parser *p, struct loc at, const annot_vec *annots,
                                struct tref *t, struct name name) {
    struct decl *d = decl_new(p, at, D_VAR, name);
    d->tref = t;
    return decl_annotate(d, annots);
}

struct decl *decl_param(struct parser *p, struct loc at, enum direction dir, struct tref *t,
                        const struct declarator *name, struct expr *init) {
    struct decl *d = decl_typed(p, at, D_PARAM, t, name);
    d->dir = dir;
    d->init = init;
    return d;
}

// Only now, so that a parameter may be called like the type of a later one.
decl_vec *declare_params(struct parser *p, decl_vec *params) {
    for (size_t i = 0; i < params->n; i++)
        declare_object(p, params->v[i]->name);
    return params;
}

struct decl *decl_typedef(struct parser *p, struct loc at, enum decl_kind kind, struct tref *t,
                          const struct declarator *name) {
    struct decl *d = decl_typed(p, at, kind, t, name);
    declare_type(p, d->name);
    return d;
}

// 'typedef struct S { ... } T;' declares both.
struct decl *decl_typedef_of(struct parser *p, struct loc at, struct decl *derived,
                             const struct declarator *name) {
    program_add(p, derived);
    struct name n = {.text = derived->name, .at = derived->name_at};
    return decl_typedef(p, at, D_TYPEDEF, tref_name(p, n.at, n, false), name);
}

// --------------------------------------------------------------------------------------------
// Declarations with a scope of their own

static struct open_decl open_decl(struct parser *p, struct decl *d) {
    struct open_decl o = {.decl = d, .mark = scope_enter(p->scope)};
    return o;
}

struct open_decl open_type(struct parser *p, struct loc at, enum decl_kind kind, struct name name) {
    declare_type(p, name.text);
    return open_decl(p, decl_new(p, at, kind, name));
}

struct open_decl open_object(struct parser *p, struct loc at, enum decl_kind kind, struct name name,
                             struct tref *t) {
    declare_object(p, name.text);
    struct decl *d = decl_new(p, at, kind, name);
    d->tref = t;
    return open_decl(p, d);
}

struct open_decl open_params(struct open_decl o, const decl_vec *tparams, const decl_vec *params) {
    set_decls(&o.decl->tparams, tparams);
    set_decls(&o.decl->params, params);
    return o;
}

struct decl *decl_close(struct parser *p, struct open_decl o) {
    scope_leave(p->scope, o.mark);
    return o.decl;
}

struct decl *decl_body(struct parser *p, struct open_decl o, struct stmt *body) {
    o.decl->body = body;
    return decl_close(p, o);
}

struct decl *decl_struct(struct parser *p, struct open_decl o, const decl_vec *tparams,
                         const decl_vec *fields) {
    set_decls(&o.decl->tparams, tparams);
    set_decls(&o.decl->members, fields);
    return decl_close(p, o);
}

struct decl *decl_enum(struct parser *p, struct loc at, struct name name, struct tref *underlying,
                       const decl_vec *members) {
    declare_type(p, name.text);
    struct decl *d = decl_new(p, at, D_ENUM, name);
    d->tref = underlying;
    set_decls(&d->members, members);
    return d;
}

struct decl *decl_names(struct parser *p, struct loc at, enum decl_kind kind,
                        const decl_vec *members) {
    struct name name = {.text = kind == D_ERROR ? "error" : "match_kind", .at = at};
    struct decl *d = decl_new(p, at, kind, name);
    set_decls(&d->members, members);
    return d;
}

struct decl *decl_parser(struct parser *p, struct open_decl o, const decl_vec *ctor_params,
                         const decl_vec *locals) {
    struct decl *d = decl_close(p, o);
    d->kind = D_PARSER;
    set_decls(&d->ctor_params, ctor_params);
    for (size_t i = 0; i < locals->n; i++) {
        struct decl *local = locals->v[i];
        if (local->kind == D_STATE) {
            VEC_PUSH(p->a, &d->members, local);
            continue;
        }
        if (d->members.n > 0)
            parse_error(p, local->at, "declarations must come before the states of a parser");
        VEC_PUSH(p->a, &d->locals, local);
    }
    if (d->members.n == 0 && !p->failed)
        parse_error(p, d->name_at, "parser '%s' has no states; it needs a state 'start'", d->name);
    return d;
}

struct decl *decl_control(struct parser *p, struct open_decl o, const decl_vec *ctor_params,
                          const decl_vec *locals, struct stmt *body) {
    struct decl *d = decl_body(p, o, body);
    d->kind = D_CONTROL;
    set_decls(&d->ctor_params, ctor_params);
    set_decls(&d->locals, locals);
    if (!body && !p->failed)
        parse_error(p, d->name_at, "control '%s' has no 'apply' block", d->name);
    return d;
}

// --------------------------------------------------------------------------------------------
// Externs and instances

struct decl *decl_extern(struct parser *p, struct open_decl o, const decl_vec *tparams,
                         const decl_vec *methods) {
    struct decl *d = decl_struct(p, o, tparams, methods);
    for (size_t i = 0; i < d->members.n; i++) {
        const struct decl *m = d->members.v[i];
        if (m->is_ctor && strcmp(m->name, d->name) != 0)
            parse_error(
                p, m->name_at,
                "'%s' has no return type; only the constructor, which is called '%s', has none",
                m->name, d->name);
    }
    return d;
}

struct decl *decl_extern_forward(struct parser *p, struct name name) {
    declare_type(p, name.text);
    return NULL;
}

struct decl *decl_method(struct parser *p, struct open_decl o, bool is_abstract) {
    o.decl->kind = D_METHOD;
    o.decl->is_abstract = is_abstract;
    return decl_close(p, o);
}

struct decl *decl_constructor(struct parser *p, struct loc at, struct name name,
                              struct scope_mark mark, const decl_vec *params) {
    scope_leave(p->scope, mark);
    struct decl *d = decl_new(p, at, D_METHOD, name);
    d->is_ctor = true;
    set_decls(&d->params, params);
    return d;
}

struct decl *decl_instance(struct parser *p, struct loc at, struct tref *t, const arg_vec *args,
                           const struct declarator *name, const decl_vec *init_body) {
    struct decl *d = decl_typed(p, at, D_INSTANCE, t, name);
    if (args)
        d->args = *args;
    set_decls(&d->init_body, init_body);
    declare_object(p, d->name);
    return d;
}

struct decl *decl_value_set(struct parser *p, struct loc at, struct tref *t, struct expr *size,
                            struct name name) {
    struct decl *d = decl_new(p, at, D_VALUE_SET, name);
    d->tref = t;
    d->init = size;
    declare_object(p, d->name);
    return d;
}

// --------------------------------------------------------------------------------------------
// States

static const char *not_in_state(enum stmt_kind kind) {
    switch (kind) {
    case ST_RETURN:
        return "return";
    case ST_EXIT:
        return "exit";
    case ST_SWITCH:
        return "switch";
    case ST_FOR:
    case ST_FORIN:
        return "for";
    case ST_BREAK:
        return "break";
    case ST_CONTINUE:
        return "continue";
    default:
        return NULL;
    }
}

static void check_state_statements(struct parser *p, const stmt_vec *stmts) {
    for (size_t i = 0; i < stmts->n; i++) {
        const struct stmt *s = stmts->v[i];
        const char *what = not_in_state(s->kind);
        if (what)
            parse_error(p, s->at, "'%s' is not allowed in a parser state", what);
        if (s->kind == ST_BLOCK)
            check_state_statements(p, &s->stmts);
    }
}

struct decl *decl_state(struct parser *p, struct open_decl o, stmt_vec *stmts,
                        struct stmt *transition) {
    check_state_statements(p, stmts);
    if (transition)
        stmts_add(p, stmts, transition);
    return decl_body(p, o, stmt_block(p, o.decl->at, o.mark, stmts, NULL));
}

// --------------------------------------------------------------------------------------------
// Tables

struct decl *decl_table(struct parser *p, struct loc at, struct name name, struct table *t) {
    struct decl *d = decl_new(p, at, D_TABLE, name);
    d->table = t;
    declare_object(p, d->name);
    return d;
}

struct table *table_new(struct parser *p) {
    return ARENA_NEW(p->a, struct table);
}

// True the first time: 'place' is then set.
static bool first_of_kind(struct parser *p, struct loc *place, struct loc at, const char *what) {
    if (place->line == 0) {
        *place = at;
        return true;
    }
    parse_error(p, at, "the table has '%s' twice", what);
    return false;
}

struct table *table_keys(struct parser *p, struct table *t, struct loc at,
                         const struct table *keys) {
    if (first_of_kind(p, &t->keys_at, at, "key")) {
        t->keys.v = keys->keys.v;
        t->keys.n = keys->keys.n;
        t->keys.cap = keys->keys.cap;
    }
    return t;
}

struct table *table_actions(struct parser *p, struct table *t, struct loc at,
                            const struct table *actions) {
    if (first_of_kind(p, &t->actions_at, at, "actions")) {
        t->actions.v = actions->actions.v;
        t->actions.n = actions->actions.n;
        t->actions.cap = actions->actions.cap;
    }
    return t;
}

struct table *table_entries(struct parser *p, struct table *t, struct loc at, bool is_const,
                            const struct table *entries) {
    if (t->has_entries) {
        parse_error(p, at, "the table has 'entries' twice");
        return t;
    }
    t->has_entries = true;
    t->entries_at = at;
    t->const_entries = is_const;
    t->entries.v = entries->entries.v;
    t->entries.n = entries->entries.n;
    t->entries.cap = entries->entries.cap;
    return t;
}

static void table_default_action(struct parser *p, struct table *t, bool is_const, struct name name,
                                 struct expr *value) {
    if (!first_of_kind(p, &t->default_at, name.at, "default_action"))
        return;
    if (value->kind != EX_NAME && value->kind != EX_CALL)
        parse_error(p, value->at, "the default action must be an action or a call of one");
    t->default_action = value;
    t->const_default = is_const;
}

struct table *table_property(struct parser *p, struct table *t, const annot_vec *annots,
                             bool is_const, struct name name, struct expr *value) {
    if (strcmp(name.text, "default_action") == 0) {
        table_default_action(p, t, is_const, name, value);
        return t;
    }
    struct table_property *property = ARENA_NEW(p->a, struct table_property);
    property->at = name.at;
    if (annots)
        property->annots = *annots;
    property->is_const = is_const;
    property->name = name.text;
    property->value = value;
    VEC_PUSH(p->a, &t->properties, property);
    return t;
}

struct table *table_key_add(struct parser *p, struct table *t, struct loc at, struct expr *e,
                            struct name match_kind, const annot_vec *annots) {
    struct table_key *key = ARENA_NEW(p->a, struct table_key);
    key->at = at;
    key->expr = e;
    key->match_kind = match_kind.text;
    key->kind_at = match_kind.at;
    if (annots)
        key->annots = *annots;
    VEC_PUSH(p->a, &t->keys, key);
    return t;
}

struct table *table_action_add(struct parser *p, struct table *t, const annot_vec *annots,
                               struct expr *call) {
    struct table_action *action = ARENA_NEW(p->a, struct table_action);
    action->at = call->at;
    action->call = call;
    if (annots)
        action->annots = *annots;
    VEC_PUSH(p->a, &t->actions, action);
    return t;
}

struct table *table_entry_add(struct parser *p, struct table *t, struct table_entry *e) {
    VEC_PUSH(p->a, &t->entries, e);
    return t;
}

struct table_entry *table_entry_of(struct parser *p, struct loc at, bool is_const,
                                   struct expr *priority, struct expr *keyset, struct expr *call,
                                   const annot_vec *annots) {
    struct table_entry *e = ARENA_NEW(p->a, struct table_entry);
    e->at = at;
    e->is_const = is_const;
    e->priority = priority;
    e->keyset = keyset;
    e->call = call;
    if (annots)
        e->annots = *annots;
    return e;
}

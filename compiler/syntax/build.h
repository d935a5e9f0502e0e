// SPDX-License-Identifier: Apache-2.0
//
// build: what the grammar's actions call to build the tree. Internal to syntax.h.
//
// Each function makes one node, or adds one to a list; lists are made on the first addition, so a
// null list is an empty one. Functions that finish a construct with a scope of its own take its
// mark (or 'open_decl') and leave the scope. A tree that grows deeper than AST_MAX_DEPTH is
// reported once and cut, so every function here and every later phase may recurse.
#ifndef SILKEN_COMPILER_SYNTAX_BUILD_H
#define SILKEN_COMPILER_SYNTAX_BUILD_H

#include "compiler/syntax/tokens.h"

// A declaration whose scope is open.
struct open_decl {
    struct decl *decl;
    struct scope_mark mark;
};

// A declared name with its array suffixes.
struct declarator {
    struct name name;
    expr_vec *sizes;
};

// ---- places ----
struct loc loc_span(struct loc from, struct loc to); // on one line; else the head of 'from'
struct loc loc_after(struct loc at);

// ---- names, scopes ----
struct name name_of(struct parser *p, const struct token *t);
void declare_object(struct parser *p, const char *name);
void declare_type(struct parser *p, const char *name);

// ---- lists ----
expr_vec *exprs_one(struct parser *p, struct expr *e);
expr_vec *exprs_add(struct parser *p, expr_vec *list, struct expr *e);
arg_vec *args_add(struct parser *p, arg_vec *list, struct arg *a);
decl_vec *decls_new(struct parser *p);
decl_vec *decls_one(struct parser *p, struct decl *d);
decl_vec *decls_add(struct parser *p, decl_vec *list, struct decl *d); // d may be null
stmt_vec *stmts_new(struct parser *p);
stmt_vec *stmts_add(struct parser *p, stmt_vec *list, struct stmt *s);
tref_vec *trefs_add(struct parser *p, tref_vec *list, struct tref *t); // t may be null
annot_vec *annots_add(struct parser *p, annot_vec *list, struct annotation *annotation);

// ---- annotations' arguments ----
void annotation_args(struct parser *p, const expr_vec *args);
void annotation_pairs(struct parser *p, const arg_vec *pairs);

// ---- types ----
struct tref *tref_base(struct parser *p, struct loc at, enum base_type base);
struct tref *tref_width(struct parser *p, struct loc at, enum tref_kind kind, struct expr *width);
struct tref *tref_name(struct parser *p, struct loc at, struct name name, bool absolute);
struct tref *tref_specialize(struct parser *p, struct loc at, struct tref *t, const tref_vec *args);
struct tref *tref_args(struct parser *p, struct loc at, enum tref_kind kind, const tref_vec *args);
struct tref *tref_list(struct parser *p, struct loc at, struct tref *elem);
struct tref *tref_stack(struct parser *p, struct loc at, struct tref *elem, struct expr *size);
struct tref *tref_dontcare(struct parser *p, struct loc at);

// ---- expressions ----
struct expr *expr_leaf(struct parser *p, struct loc at, enum expr_kind kind);
struct expr *expr_integer(struct parser *p, const struct token *t);
struct expr *expr_string(struct parser *p, const struct token *t);
struct expr *expr_bool(struct parser *p, struct loc at, bool value);
struct expr *expr_name(struct parser *p, struct loc at, struct name name, bool absolute);
struct expr *expr_type(struct parser *p, struct tref *t);
struct expr *expr_member(struct parser *p, struct loc at, struct expr *a, struct name member);
struct expr *expr_index(struct parser *p, struct loc at, struct expr *a, struct expr *b);
struct expr *expr_slice(struct parser *p, struct loc at, enum expr_kind kind, struct expr *a,
                        struct expr *b, struct expr *c);
struct expr *expr_call(struct parser *p, struct loc at, struct expr *callee, const tref_vec *targs,
                       const arg_vec *args);
struct expr *expr_unary(struct parser *p, struct loc at, enum op op, struct expr *a);
struct expr *expr_binary(struct parser *p, struct loc at, enum op op, struct expr *a,
                         struct expr *b);
struct expr *expr_pair(struct parser *p, struct loc at, enum expr_kind kind, struct expr *a,
                       struct expr *b); // EX_MASK, EX_RANGE
struct expr *expr_cond(struct parser *p, struct loc at, struct expr *a, struct expr *b,
                       struct expr *c);
struct expr *expr_cast(struct parser *p, struct loc at, struct tref *t, struct expr *a);
struct expr *expr_list(struct parser *p, struct loc at, const expr_vec *items);
struct expr *expr_keysets(struct parser *p, struct loc at, struct expr *first,
                          const expr_vec *rest);
struct expr *expr_struct(struct parser *p, struct loc at, const arg_vec *members);
struct expr *expr_parenthesised(struct expr *e, struct loc at);
struct arg *arg_of(struct parser *p, struct loc at, const char *name, struct expr *value);

// ---- statements ----
struct stmt *stmt_new(struct parser *p, struct loc at, enum stmt_kind kind);
struct stmt *stmt_block(struct parser *p, struct loc at, struct scope_mark mark,
                        const stmt_vec *stmts, const annot_vec *annots);
struct stmt *stmt_decl(struct parser *p, struct loc at, struct decl *d);
struct stmt *stmt_annotate(struct stmt *s, const annot_vec *annots);
struct stmt *stmt_annotate_decl(struct stmt *s, const annot_vec *annots);
struct stmt *stmt_call(struct parser *p, struct loc at, struct expr *e);
struct stmt *stmt_assign(struct parser *p, struct loc at, int op, struct expr *a, struct expr *b);
struct stmt *stmt_return(struct parser *p, struct loc at, struct expr *e);
struct stmt *stmt_if(struct parser *p, struct loc at, struct expr *condition, struct stmt *then_s,
                     struct stmt *else_s);
struct stmt *stmt_switch(struct parser *p, struct loc at, struct expr *e, struct stmt *cases);
struct stmt *stmt_switch_add(struct parser *p, struct stmt *cases, struct switch_case *c);
struct switch_case *switch_case_of(struct parser *p, struct loc at, struct expr *label,
                                   struct stmt *body);
struct stmt *stmt_for(struct parser *p, struct loc at, struct scope_mark mark, const stmt_vec *init,
                      struct expr *condition, const stmt_vec *update, struct stmt *body);
struct stmt *stmt_forin(struct parser *p, struct loc at, struct scope_mark mark,
                        struct decl *variable, struct expr *collection, struct stmt *body);
struct stmt *stmt_transition(struct parser *p, struct loc at, struct name next);
struct stmt *stmt_select(struct parser *p, struct loc at, const expr_vec *keys,
                         struct select *cases);
struct select *select_new(struct parser *p);
struct select *select_add(struct parser *p, struct select *s, struct select_case *c);
struct select_case *select_case_of(struct parser *p, struct loc at, struct expr *keyset,
                                   struct name next);

// ---- declarations ----
struct declarator declarator_of(struct name name);
struct declarator declarator_add(struct parser *p, struct declarator d, struct expr *size);
void program_add(struct parser *p, struct decl *d);                  // d may be null
struct decl *decl_annotate(struct decl *d, const annot_vec *annots); // d may be null
struct decl *decl_enumerator(struct parser *p, struct loc at, struct name name, struct expr *value);
struct decl *decl_typevar(struct parser *p, struct loc at, struct name name);
struct decl *decl_typed(struct parser *p, struct loc at, enum decl_kind kind, struct tref *t,
                        const struct declarator *name);
struct decl *decl_variable(struct parser *p, struct loc at, enum decl_kind kind, struct tref *t,
                           const struct declarator *name, struct expr *init);
struct decl *decl_loop_variable(struct parser *p, struct loc at, const annot_vec *annots,
                                struct tref *t, struct name name);
struct decl *decl_param(struct parser *p, struct loc at, enum direction dir, struct tref *t,
                        const struct declarator *name, struct expr *init);
decl_vec *declare_params(struct parser *p, decl_vec *params);
struct decl *decl_typedef(struct parser *p, struct loc at, enum decl_kind kind, struct tref *t,
                          const struct declarator *name);
struct decl *decl_typedef_of(struct parser *p, struct loc at, struct decl *derived,
                             const struct declarator *name);
// Declares the name outside and enters the scope of the declaration.
struct open_decl open_type(struct parser *p, struct loc at, enum decl_kind kind, struct name name);
struct open_decl open_object(struct parser *p, struct loc at, enum decl_kind kind, struct name name,
                             struct tref *t);
struct open_decl open_params(struct open_decl o, const decl_vec *tparams, const decl_vec *params);
struct decl *decl_close(struct parser *p, struct open_decl o);
struct decl *decl_struct(struct parser *p, struct open_decl o, const decl_vec *tparams,
                         const decl_vec *fields);
struct decl *decl_enum(struct parser *p, struct loc at, struct name name, struct tref *underlying,
                       const decl_vec *members);
struct decl *decl_names(struct parser *p, struct loc at, enum decl_kind kind,
                        const decl_vec *members);
struct decl *decl_parser(struct parser *p, struct open_decl o, const decl_vec *ctor_params,
                         const decl_vec *locals);
struct decl *decl_control(struct parser *p, struct open_decl o, const decl_vec *ctor_params,
                          const decl_vec *locals, struct stmt *body);
struct decl *decl_extern(struct parser *p, struct open_decl o, const decl_vec *tparams,
                         const decl_vec *methods);
struct decl *decl_extern_forward(struct parser *p, struct name name); // null
struct decl *decl_method(struct parser *p, struct open_decl o, bool is_abstract);
struct decl *decl_constructor(struct parser *p, struct loc at, struct name name,
                              struct scope_mark mark, const decl_vec *params);
struct decl *decl_body(struct parser *p, struct open_decl o, struct stmt *body);
struct decl *decl_instance(struct parser *p, struct loc at, struct tref *t, const arg_vec *args,
                           const struct declarator *name, const decl_vec *init_body);
struct decl *decl_value_set(struct parser *p, struct loc at, struct tref *t, struct expr *size,
                            struct name name);
struct decl *decl_state(struct parser *p, struct open_decl o, stmt_vec *stmts,
                        struct stmt *transition);
struct decl *decl_table(struct parser *p, struct loc at, struct name name, struct table *t);

// ---- tables; a part of a table is collected in a table of its own ----
struct table *table_new(struct parser *p);
struct table *table_keys(struct parser *p, struct table *t, struct loc at,
                         const struct table *keys);
struct table *table_actions(struct parser *p, struct table *t, struct loc at,
                            const struct table *actions);
struct table *table_entries(struct parser *p, struct table *t, struct loc at, bool is_const,
                            const struct table *entries);
struct table *table_property(struct parser *p, struct table *t, const annot_vec *annots,
                             bool is_const, struct name name, struct expr *value);
struct table *table_key_add(struct parser *p, struct table *t, struct loc at, struct expr *e,
                            struct name match_kind, const annot_vec *annots);
struct table *table_action_add(struct parser *p, struct table *t, const annot_vec *annots,
                               struct expr *call);
struct table *table_entry_add(struct parser *p, struct table *t, struct table_entry *e);
struct table_entry *table_entry_of(struct parser *p, struct loc at, bool is_const,
                                   struct expr *priority, struct expr *keyset, struct expr *call,
                                   const annot_vec *annots);

// ---- errors ----
// Reports unless the parser is quiet; in any case the parse has failed.
void parse_error(struct parser *p, struct loc at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
// 'expected' are the grammar's names of the tokens it would have taken.
void syntax_error(struct parser *p, const char *const *expected, size_t n);
void nested_too_deeply(struct parser *p, struct loc at);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// ast: a P4_16 program as a tree; the contract between parsing, checking and lowering.
//
// syntax.h builds the tree (everything but the fields marked [check]); check.h resolves names,
// infers and checks types, folds compile-time values and fills the [check] fields in; lower.h reads
// it. The tree keeps the program as written: generics are not expanded, controls and parsers are
// not instantiated, nothing is desugared. Nodes live in the compilation's arena and are shared by
// pointer; identity of a declaration is the address of its 'struct decl'.
//
// Section numbers are those of the P4_16 language specification.
#ifndef SILKEN_COMPILER_SYNTAX_AST_H
#define SILKEN_COMPILER_SYNTAX_AST_H

#include "compiler/base/arena.h"
#include "compiler/base/bigint.h"
#include "compiler/base/diag.h"

struct type; // semantic types: compiler/check/types.h
struct decl;
struct expr;
struct stmt;

typedef VEC(struct expr *) expr_vec;
typedef VEC(struct stmt *) stmt_vec;
typedef VEC(struct decl *) decl_vec;

// No expression, statement or written type is nested deeper than this (the parser refuses it), so
// the phases may walk the tree by recursion.
#define AST_MAX_DEPTH 1000u

// --------------------------------------------------------------------------------------------
// Annotations (section 20): @name("x"), @hidden, @pragma ..., @foo[k=v]. Arguments of the
// unstructured form are kept as source text in 'text'; when the text parses as an expression list
// or a key-value list it is in 'args' (then 'keys.v[i]' is the key or null).
struct annotation {
    struct loc at;
    const char *name;
    const char *text;
    bool structured; // @foo[...]
    expr_vec args;
    VEC(const char *) keys;
};
typedef VEC(struct annotation *) annot_vec;

// --------------------------------------------------------------------------------------------
// Types as written (section 7). 'resolved' is the semantic type they denote.
enum tref_kind {
    TR_NAME,     // [.]name, or name<args>; also a type variable
    TR_BASE,     // void bool int string error match_kind
    TR_BIT,      // bit<W>, bit (W=1)
    TR_INT,      // int<W>
    TR_VARBIT,   // varbit<W>
    TR_STACK,    // elem[size]
    TR_TUPLE,    // tuple<...>
    TR_LIST,     // list<T>
    TR_DONTCARE, // _ as a type argument
};
enum base_type { BT_VOID, BT_BOOL, BT_INT, BT_STRING, BT_ERROR, BT_MATCH_KIND };

struct tref {
    enum tref_kind kind;
    struct loc at;
    enum base_type base;     // TR_BASE
    bool absolute;           // TR_NAME: leading dot
    const char *name;        // TR_NAME
    VEC(struct tref *) args; // TR_NAME<...>, TR_TUPLE, TR_LIST (one)
    struct expr *width;      // TR_BIT/INT/VARBIT: a literal or parenthesised expression; null = 1
    struct tref *elem;       // TR_STACK
    struct expr *size;       // TR_STACK
    unsigned depth;          // height of this tree, at most AST_MAX_DEPTH
    struct decl *decl;       // [check] TR_NAME: declaration named
    struct type *resolved;   // [check]
};
typedef VEC(struct tref *) tref_vec;

// --------------------------------------------------------------------------------------------
// Expressions (section 8).
enum expr_kind {
    EX_INT,      // 5, 8w0xff, 4s7: 'value', 'width' (0 = none: type int), 'is_signed'
    EX_BOOL,     // 'value' is 0 or 1
    EX_STRING,   // 'name' holds the text without quotes, escapes decoded
    EX_NAME,     // name or .name ('absolute')
    EX_TYPENAME, // a type in expression position: T in T.member, T(args), 'tref'
    EX_MEMBER,   // a.name
    EX_INDEX,    // a[b]
    EX_SLICE,    // a[b:c]
    EX_CALL,     // a<targs>(args): function, method, action, apply, constructor (a is EX_TYPENAME)
    EX_UNARY,    // op a
    EX_BINARY,   // a op b
    EX_COND,     // a ? b : c
    EX_CAST,     // (tref) a
    EX_LIST,     // {x, y}            'args' (values), names null
    EX_STRUCT,   // {f = x, g = y}    'args' with arg names; '(tref){...}' is an EX_CAST around it
    EX_INVALID,  // {#}
    EX_DOTS,     // ... (default value in lists, table entries)
    EX_DEFAULT,  // 'default' in keyset position
    EX_DONTCARE, // _ as keyset or as argument
    EX_MASK,     // a &&& b
    EX_RANGE,    // a .. b
    EX_THIS,     // 'this' in abstract-method initialisers
    EX_PLUS_SLICE, // a[b +: c]: c bits from bit b upwards
};
enum op {
    OP_NEG,
    OP_PLUS,
    OP_NOT /* ! */,
    OP_CPL /* ~ */,
    OP_MUL,
    OP_DIV,
    OP_MOD,
    OP_ADD,
    OP_SUB,
    OP_ADD_SAT,
    OP_SUB_SAT,
    OP_SHL,
    OP_SHR,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_EQ,
    OP_NE,
    OP_BAND,
    OP_BXOR,
    OP_BOR,
    OP_CONCAT,
    OP_AND,
    OP_OR,
};
const char *op_text(enum op op);

// What a call turned out to be. [check]
enum call_kind {
    CALL_UNRESOLVED,
    CALL_FUNCTION,    // a function or extern function: 'decl' is D_FUNCTION
    CALL_ACTION,      // direct invocation of an action: 'decl' is D_ACTION
    CALL_METHOD,      // method of an extern instance: callee is EX_MEMBER, 'decl' D_METHOD of it
    CALL_CTOR,        // constructor: 'decl' is the D_EXTERN/D_CONTROL/D_PARSER/D_PACKAGE,
                      // 'ctor' the chosen constructor for externs
    CALL_APPLY_TABLE, // t.apply()
    CALL_APPLY_BLOCK, // instance.apply(...), Type.apply(...) of a control or parser: section 13, 14
    CALL_BUILTIN, // isValid setValid setInvalid push_front pop_front minSizeInBits ...: 'builtin'
};
enum builtin {
    BI_NONE,
    BI_IS_VALID,
    BI_SET_VALID,
    BI_SET_INVALID,
    BI_PUSH_FRONT,
    BI_POP_FRONT,
    BI_MIN_SIZE_BITS,
    BI_MIN_SIZE_BYTES,
    BI_MAX_SIZE_BITS,
    BI_MAX_SIZE_BYTES,
};

struct arg { // an argument, or a member of a list/struct expression
    struct loc at;
    const char *name;   // name = value; null when positional
    struct expr *value; // EX_DONTCARE for '_', EX_DOTS for '...'
};
typedef VEC(struct arg *) arg_vec;

struct expr {
    enum expr_kind kind;
    struct loc at; // whole expression; for EX_MEMBER 'name_at' is the member's place
    struct loc name_at;
    enum op op;
    struct expr *a, *b, *c;
    const char *name;
    bool absolute;
    big value;
    unsigned width;
    bool is_signed;
    struct tref *tref;
    tref_vec targs;
    arg_vec args;
    unsigned depth; // height of this tree, at most AST_MAX_DEPTH
    // ---- filled by check ----
    struct type *type;    // [check] type after inference; never null after a successful check
    big cval;             // [check] value when known at compile time (bool as 0/1, enums and
                          // errors as ordinal or representation value); null otherwise. Inside
                          // generic or constructor-parameterised bodies it stays null.
    struct decl *decl;    // [check] what EX_NAME, EX_MEMBER or the callee of a call denotes
    enum call_kind call;  // [check]
    enum builtin builtin; // [check]
    struct decl *ctor;    // [check] CALL_CTOR of an extern: the constructor (D_METHOD)
    VEC(struct expr *)
    bound;                   // [check] EX_CALL: argument per parameter in parameter order; null
                             // where an @optional or defaulted parameter was left out
    VEC(struct type *) inst; // [check] EX_CALL: type argument per type parameter of the callee
    bool lvalue;             // [check]
};

// --------------------------------------------------------------------------------------------
// Statements (section 12) and parser statements.
enum stmt_kind {
    ST_EMPTY,
    ST_BLOCK,  // { stmts }: may hold ST_DECL
    ST_DECL,   // local variable or constant or instantiation: 'decl'
    ST_ASSIGN, // a = b; with 'assign_op' != -1 for compound assignment a op= b
    ST_CALL,   // a(...);
    ST_IF,     // a, then_s, else_s (may be null)
    ST_RETURN, // a or null
    ST_EXIT,
    ST_SWITCH, // a, cases
    ST_FOR,    // for (init; a; update) body
    ST_FORIN,  // for (T x in a) body: 'decl' is the variable
    ST_BREAK,
    ST_CONTINUE,
    ST_TRANSITION, // last statement of a parser state: 'select' set or 'name' = next state
};
struct switch_case {
    struct loc at;
    struct expr *label;  // EX_NAME of an action (apply().action_run), any expression, EX_DEFAULT
    struct stmt *body;   // null: falls through to the next case
    struct decl *action; // [check] when switching on action_run
};
struct select_case {
    struct loc at;
    struct expr *keyset; // EX_LIST of keysets or a single one; EX_DEFAULT, EX_DONTCARE, EX_MASK,
                         // EX_RANGE, EX_NAME of a value_set
    struct loc name_at;
    const char *next;   // state name; "accept" and "reject" are predefined
    struct decl *state; // [check] null for accept and reject
};
struct select {
    struct loc at;
    expr_vec keys;
    VEC(struct select_case *) cases;
};
struct stmt {
    enum stmt_kind kind;
    struct loc at;
    annot_vec annots;
    struct expr *a, *b;
    int assign_op; // an enum op, or -1
    stmt_vec stmts;
    stmt_vec init, update; // ST_FOR
    struct stmt *then_s, *else_s, *body;
    struct decl *decl;
    VEC(struct switch_case *) cases;
    struct select *select;
    const char *name; // ST_TRANSITION without select
    struct loc name_at;
    struct decl *state; // [check] ST_TRANSITION by name; null for accept and reject
    unsigned depth;     // height of this tree, at most AST_MAX_DEPTH
};

// --------------------------------------------------------------------------------------------
// Declarations (sections 6, 7, 10-18).
enum decl_kind {
    D_CONST,   // tref, init
    D_VAR,     // tref, init (or null)
    D_PARAM,   // parameter of anything: tref, dir, init = default value; 'optional' annotation
    D_TYPEVAR, // type parameter
    D_TYPEDEF, // tref
    D_NEWTYPE, // type T X
    D_STRUCT,
    D_HEADER,
    D_UNION, // members: D_FIELD
    D_FIELD, // tref
    D_ENUM,  // members: D_ENUMERATOR; tref set = serializable enum (init of members set)
    D_ENUMERATOR,
    D_ERROR,      // one per 'error { }' block; members: D_ENUMERATOR
    D_MATCH_KIND, // one per block; members: D_ENUMERATOR
    D_EXTERN,     // methods in 'members' (D_METHOD; a constructor has the extern's name)
    D_METHOD,     // params, tref = return type, 'is_abstract', 'is_ctor'; no body
    D_FUNCTION,   // function, or extern function when body is null
    D_PARSER_TYPE,
    D_CONTROL_TYPE,
    D_PACKAGE,   // params, type params
    D_PARSER,    // params, ctor_params, locals, states in 'members' (D_STATE)
    D_CONTROL,   // params, ctor_params, locals (vars, consts, actions, tables, instances), body
    D_STATE,     // body: ST_BLOCK whose last statement is ST_TRANSITION (if absent: reject)
    D_ACTION,    // params, body
    D_TABLE,     // 'table'
    D_INSTANCE,  // instantiation: tref(args) name; 'init_body' for abstract methods
    D_VALUE_SET, // value_set<tref>(size) name
};
enum direction { DIR_NONE, DIR_IN, DIR_OUT, DIR_INOUT };

struct table_key {
    struct loc at;
    annot_vec annots;
    struct expr *expr;
    struct loc kind_at;
    const char *match_kind;
    struct decl *kind; // [check] the match_kind's D_ENUMERATOR
};
struct table_action { // element of 'actions = { ... }'
    struct loc at;
    annot_vec annots;
    struct expr *call;   // EX_NAME, or EX_CALL with the leading (directed) arguments bound
    struct decl *action; // [check]
};
struct table_entry {
    struct loc at;
    annot_vec annots;
    bool is_const;         // const before one entry of a non-const list
    struct expr *priority; // 'priority = e :' or null
    struct expr *keyset;   // EX_LIST or a single keyset expression
    struct expr *call;     // EX_NAME or EX_CALL
    struct decl *action;   // [check]
};
struct table_property { // any other property, const or not: size, counters, implementation...
    struct loc at;
    annot_vec annots;
    bool is_const;
    const char *name;
    struct expr *value;
};
struct table {
    VEC(struct table_key *) keys;
    VEC(struct table_action *) actions;
    struct expr *default_action; // EX_NAME or EX_CALL, or null
    struct decl *default_decl;   // [check]
    bool const_default;
    bool has_entries, const_entries;
    VEC(struct table_entry *) entries;
    VEC(struct table_property *) properties; // the rest, 'size' included
    struct loc keys_at, actions_at, default_at, entries_at;
};

struct decl {
    enum decl_kind kind;
    struct loc at; // whole declaration's head
    struct loc name_at;
    const char *name;
    annot_vec annots;
    decl_vec tparams;     // D_TYPEVAR
    decl_vec params;      // D_PARAM (functions, methods, actions, apply parameters, package)
    decl_vec ctor_params; // D_PARSER, D_CONTROL
    struct tref *tref; // type of const/var/param/field; return type; enum's underlying; instance's
    struct expr *init; // initial or default value; enumerator's value; value_set size
    enum direction dir;
    decl_vec members;   // fields, enumerators, methods, states
    decl_vec locals;    // local declarations of parsers and controls, in order
    struct stmt *body;  // function, action, control's apply, state
    arg_vec args;       // D_INSTANCE: constructor arguments
    decl_vec init_body; // D_INSTANCE: { abstract-method implementations (D_FUNCTION), instances }
    struct table *table;
    bool is_abstract, is_ctor, is_optional, is_const_entry;
    // ---- filled by check ----
    struct decl *parent;    // [check] enclosing extern, enum, control, parser, struct; null at top
    struct type *type;      // [check] type of the value, or the type declared
    big cval;               // [check] value of D_CONST, D_ENUMERATOR when known
    struct expr *ctor_call; // [check] D_INSTANCE: a CALL_CTOR expression with 'bound', 'inst'
    unsigned index;         // [check] ordinal among its siblings (field, enumerator, parameter)
    bool resubmitted;       // [check] D_HEADER: a packet is resubmitted with data of this type
    unsigned fixed_bits; // [lower] D_HEADER: bits that it takes, padding after them; 0: its fields'
    void *lowered;       // for lower.c's own use
};

struct program {
    decl_vec decls; // top level, in order, of all files
    // ---- filled by check ----
    struct decl *main; // [check] the D_INSTANCE named main, or null
};

// The annotation called 'name', or null.
const struct annotation *annot_find(const annot_vec *annots, const char *name);
// Its single string argument (@name("x")), or null when absent or of another form.
const char *annot_string(const annot_vec *annots, const char *name);

// Source-like text of an expression ("hdr.ipv4.dst_addr"), as table keys are named for the control
// plane when they have no @name. In the arena.
const char *expr_text(struct arena *a, const struct expr *e);
// Writes an indented dump of the tree, one node a line, stable: golden tests read it.
void ast_dump(FILE *out, const struct program *p);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// check_impl: what the files of the checker share. Nobody else includes this.
//
//     check.c        the program: order, main, messages with suggestions
//     names.c        scopes
//     type.c         types as written to semantic types; declarations of types
//     decl.c         constants, variables, functions, externs, blocks
//     inst.c         instantiations, implementations of abstract methods
//     expr.c         names, members, indices, literals, lists
//     op.c           operators and casts
//     coerce.c       implicit conversions
//     infer.c        type variables and unification
//     args.c         arguments to parameters: overloads, inference, directions
//     call.c         what a call calls, and where it may stand
//     annot.c        annotations, names for the control plane
//     core.c         rules of the core library's methods
//     stmt.c         statements
//     parser.c       states, transitions, keysets
//     table.c        tables
//     fold.c         arithmetic on compile-time values
//
// How expressions are typed. 'infer' gives an expression the type it has by itself: a literal
// without width is an 'int', a list is a tuple, {f = x} a record. 'coerce' then makes it what its
// place wants, and may return another node (a cast around it), which the caller stores in its
// place. Every expression is inferred exactly once; after a coerce its 'type' is final.
//
// Poison. After a message about an expression its type is c->t_bad, which agrees with everything,
// so one mistake gives one message.
#ifndef SILKEN_COMPILER_CHECK_CHECK_IMPL_H
#define SILKEN_COMPILER_CHECK_CHECK_IMPL_H

#include "compiler/check/check.h"

struct names;

// Where the statement or declaration being checked stands; decides what may be called there
// (appendix "Restrictions on compile time and run time calls").
enum place {
    AT_TOP,
    AT_PARSER, // local declarations of a parser
    AT_STATE,
    AT_CONTROL, // local declarations of a control
    AT_APPLY,
    AT_ACTION,
    AT_FUNCTION,
    AT_METHOD, // implementation of an abstract method
    AT_TABLE,  // keys and bound arguments of a table
};

struct checker {
    struct arena *a;
    struct diag *d;
    struct program *p;

    struct names *top, *scope, *errors, *match_kinds, *control_names;
    unsigned n_errors, n_match_kinds; // ordinals given out, over all blocks of the program

    enum place place;
    struct decl *block;    // enclosing parser or control
    struct decl *instance; // whose abstract methods are being implemented: 'this'
    struct decl *routine;  // function, action or method whose body is being checked
    struct type *returns;  // of the function or method; void in actions and apply; null elsewhere
    unsigned loops;        // enclosing for statements

    VEC(struct type *) vars; // inference variable -> what it stands for, or null

    struct type *t_bad, *t_void, *t_bool, *t_int, *t_string, *t_error, *t_match_kind, *t_dontcare,
        *t_state, *t_bit32;
};

// What an expression is for, in messages: "argument 'x' has type ...".
struct role {
    const char *what;
    const char *name; // may be null
};
#define ROLE(what_, name_) ((struct role){.what = (what_), .name = (name_)})
const char *role_text(struct checker *c, struct role r);

// ---- check.c
const char *tn(struct checker *c, const struct type *t); // type_name, inference variables resolved
// The known name nearest to 'wanted', gathered one candidate at a time.
struct guess {
    struct arena *a;
    const char *wanted, *best;
    size_t distance;
};
struct guess guess_start(struct checker *c, const char *wanted);
void guess_try(struct guess *g, const char *candidate);
const char *guess_text(struct checker *c, const struct guess *g); // "; did you mean 'x'?" or ""
void note_declared(struct checker *c, const struct decl *d);
bool is_type_decl(const struct decl *d);
bool has_name(const struct decl *d, const char *name);
// The same names of parameters in the same order, by which overloads are told apart.
bool same_parameters(const struct decl *x, const struct decl *y);

// ---- names.c
struct names *names_new(struct checker *c, struct names *up);
void names_push(struct checker *c);
void names_pop(struct checker *c);
// Adds 'd' to the innermost scope; reports duplicates, warns of shadowing.
void declare_name(struct checker *c, struct decl *d);
bool names_add(struct checker *c, struct names *s, struct decl *d); // false: the name is taken
// First declaration of 'name', innermost scope first; null when there is none.
struct decl *lookup_name(struct checker *c, const char *name, bool absolute);
struct decl *names_find(const struct names *s, const char *name);
// All declarations of 'name' in the scope where lookup_name finds it (overloaded functions).
decl_vec lookup_names(struct checker *c, const char *name, bool absolute);
void guess_visible(struct checker *c, struct guess *g, bool types);
void guess_in(const struct names *s, struct guess *g);

// ---- type.c
struct type *new_type(struct checker *c, enum type_kind kind);
struct type *bits_type(struct checker *c, unsigned width, bool is_signed);
struct type *set_of(struct checker *c, struct type *elem);
struct type *decl_type(struct checker *c, enum type_kind kind, struct decl *d);
// 'open' allows generic names without arguments (constructors infer them): fresh variables then.
struct type *resolve_type(struct checker *c, struct tref *t);
struct type *resolve_open_type(struct checker *c, struct tref *t);
void check_typedef(struct checker *c, struct decl *d);
void check_struct(struct checker *c, struct decl *d);
void check_enum(struct checker *c, struct decl *d);
void check_error_block(struct checker *c, struct decl *d);
void declare_tparams(struct checker *c, struct decl *d);
bool is_value_type(const struct type *t); // may be stored in a variable

// ---- decl.c
void check_decl(struct checker *c, struct decl *d);       // at the top level
void check_local_decl(struct checker *c, struct decl *d); // in parsers, controls, blocks
void check_params(struct checker *c, struct decl *owner, decl_vec *params, bool is_ctor);
bool is_optional(const struct decl *param);

// ---- annot.c
void check_annotations(struct checker *c, const annot_vec *annots);
void check_field_annotations(struct checker *c, const annot_vec *annots); // @match, too
// Reports an action whose fully qualified name another one has.
void check_control_name(struct checker *c, struct decl *d);

// ---- inst.c
void check_instance(struct checker *c, struct decl *d);
// Whether objects of the extern need an instantiation that implements methods.
bool has_abstract_methods(const struct decl *ext);

// ---- expr.c
// Warns where the place 'e', which is written, is one that p4c does not take as such.
void note_written(struct checker *c, const struct expr *e);
struct type *infer(struct checker *c, struct expr *e);
struct expr *check_as(struct checker *c, struct expr *e, struct type *want, struct role role);
// A compile-time integer; null after a message, or when it depends on a constructor parameter.
big constant_int(struct checker *c, struct expr **e, const char *what);
// The same where a constructor parameter will not do.
big local_constant_int(struct checker *c, struct expr **e, const char *what);
bool is_compile_time(const struct expr *e);
struct type *poison(struct checker *c, struct expr *e);
struct type *name_to_type(struct checker *c, struct expr *e, struct decl *d);

// ---- op.c
struct type *infer_unary(struct checker *c, struct expr *e);
struct type *infer_binary(struct checker *c, struct expr *e);
struct type *infer_cond(struct checker *c, struct expr *e);
struct type *infer_cast(struct checker *c, struct expr *e);
// Types the operation 'a op b' with both sides inferred; also for compound assignment.
struct type *binary_type(struct checker *c, struct expr *e);
// Brings two inferred operands to one type; false when they have none in common.
bool unify_operands(struct checker *c, struct expr **a, struct expr **b);

// ---- coerce.c
struct expr *coerce(struct checker *c, struct expr *e, struct type *want, struct role role);
bool convertible(struct checker *c, const struct expr *e, struct type *want);
struct expr *new_cast(struct checker *c, struct expr *e, struct type *want);
// Drops a serializable enum to its underlying type where an operator wants bits.
struct expr *to_bits(struct checker *c, struct expr *e);

// ---- infer.c
struct type *new_var(struct checker *c);
struct type *follow(struct checker *c, struct type *t); // top level of variables resolved
struct type *settle(struct checker *c, struct type *t); // variables resolved everywhere
bool unify(struct checker *c, struct type *formal, struct type *actual);
bool has_vars(struct checker *c, struct type *t);
// Whether a parser or control of type 'actual' can stand where the block type 'formal' is wanted:
// the parameters agree in order, directions and types; @optional ones of the formal may be absent.
bool block_fits(struct checker *c, struct type *formal, struct type *actual);
// Says in a note which parameter does not fit.
void note_misfit(struct checker *c, struct type *formal, struct type *actual);

// ---- args.c
// One call's callee as argument matching sees it.
struct signature {
    struct decl *decl; // function, action, method, block or constructor
    const decl_vec *params;
    const decl_vec *tparams;        // inferred at this call; null when there are none
    const decl_vec *outer;          // type parameters already known (the object's type) and
    struct type *const *outer_args; // their arguments; null when there are none
    struct type *result;
    const char *name;
    bool compile_time; // arguments must be compile-time values (constructors)
};
// Infers the arguments by themselves; before a candidate is chosen.
void infer_arguments(struct checker *c, struct expr *call);
// Matches the inferred arguments to the parameters and converts them; fills 'bound', 'inst' and
// returns the result's type.
struct type *check_arguments(struct checker *c, struct expr *call, const struct signature *sig);
// The candidate the arguments fit, by number and names first, then by types; null after a message.
// 'candidates' share the template 'sig' but for decl, params, tparams and result.
struct decl *choose_overload(struct checker *c, struct expr *call, const decl_vec *candidates,
                             struct signature sig);
struct signature with_candidate(struct checker *c, struct signature sig, struct decl *d);

// ---- call.c
struct type *infer_call(struct checker *c, struct expr *e);
// A constructor call of type 't', which may hold open variables.
struct type *construct(struct checker *c, struct expr *call, struct type *t);

// ---- core.c
void check_core_method(struct checker *c, const struct expr *call);
void check_core_function(struct checker *c, struct expr *call);

// ---- stmt.c
void check_stmt(struct checker *c, struct stmt *s);
void check_body(struct checker *c, struct stmt *body);
bool always_returns(const struct stmt *s);

// ---- parser.c
void check_parser_decl(struct checker *c, struct decl *d);
void check_value_set(struct checker *c, struct decl *d);
// 'selected' is the expression of a select that is matched against, null for a table's key.
struct expr *check_keyset(struct checker *c, struct expr *e, struct type *key,
                          const struct expr *selected);

// ---- table.c
void check_table(struct checker *c, struct decl *d);

// ---- fold.c
big fold_to_type(struct checker *c, big v, const struct type *t); // wraps to the width
bool fold_fits(const struct checker *c, big v, const struct type *t);
void fold_unary(struct checker *c, struct expr *e);
void fold_binary(struct checker *c, struct expr *e);
void fold_member(struct checker *c, struct expr *e); // field or element of a constant
struct expr *constant_aggregate(struct expr *e);     // the list that a constant stands for, or null
void fold_size(struct checker *c, struct expr *call, const struct type *t);

#endif

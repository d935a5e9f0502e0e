// SPDX-License-Identifier: Apache-2.0
//
// types: the semantic types of P4_16 (section 7), as check.h computes them.
//
// Typedefs are resolved away; TY_NEWTYPE keeps its name and its underlying type. Types are
// structurally built and live in the arena; compare with type_equal(), never by address. A type
// may contain type variables (TY_VAR) inside generic declarations; type_subst() replaces them.
#ifndef SILKEN_COMPILER_CHECK_TYPES_H
#define SILKEN_COMPILER_CHECK_TYPES_H

#include "compiler/syntax/ast.h"

enum type_kind {
    TY_ERROR_TYPE, // poison: an error was reported, agrees with everything
    TY_VOID,
    TY_BOOL,
    TY_INT,    // arbitrary precision, compile time only
    TY_BITS,   // bit<width> or int<width> ('is_signed')
    TY_VARBIT, // width = maximum
    TY_STRING,
    TY_ERROR, // the type 'error'
    TY_MATCH_KIND,
    TY_ENUM,     // decl; serializable when 'elem' (underlying bits) is set
    TY_STRUCT,   // decl, args, fields through type_field()
    TY_HEADER,   // decl, args
    TY_UNION,    // decl, args (header_union)
    TY_STACK,    // elem, width = size
    TY_TUPLE,    // args
    TY_LIST,     // elem
    TY_SET,      // elem: keysets, value_set
    TY_NEWTYPE,  // decl, elem = underlying
    TY_EXTERN,   // decl, args
    TY_PARSER,   // decl (D_PARSER or D_PARSER_TYPE), args
    TY_CONTROL,  // decl (D_CONTROL or D_CONTROL_TYPE), args
    TY_PACKAGE,  // decl, args
    TY_TABLE,    // decl
    TY_ACTION,   // decl
    TY_FUNCTION, // decl (D_FUNCTION, D_METHOD)
    TY_STATE,
    TY_APPLY_RESULT, // decl = the table: hit, miss, action_run
    TY_ACTION_RUN,   // decl = the table: the type of action_run
    TY_VAR,      // decl = the D_TYPEVAR; or an inference variable (decl null, 'width' = its number)
    TY_TYPE,     // the "type" of a type name in expression position: elem
    TY_RECORD,   // anonymous {f = x} before it is given a struct type: args + names
    TY_DONTCARE, // type of _ : agrees with everything
};

struct type {
    enum type_kind kind;
    unsigned width;
    bool is_signed;
    struct expr *width_expr; // width depends on a type or constructor parameter (then width is 0)
    struct decl *decl;
    struct type *elem;
    VEC(struct type *) args;
    VEC(const char *) names; // TY_RECORD
};

bool type_equal(const struct type *x, const struct type *y);
// "bit<9>", "ethernet_h", "Register<bit<32>, bit<16>>" for messages. In the arena.
const char *type_name(struct arena *a, const struct type *t);
// Replaces the type parameters 'tparams' by 'args' (same count). Returns 't' itself when nothing
// changed.
struct type *type_subst(struct arena *a, struct type *t, const decl_vec *tparams,
                        struct type *const *args);
// Type of field 'name' of a struct, header or union, with its generic arguments substituted; null
// when there is none. '*field' (may be null) receives the D_FIELD.
struct type *type_field(struct arena *a, const struct type *t, const char *name,
                        struct decl **field);
// Strips TY_NEWTYPE and serializable enums down to the representation.
const struct type *type_underlying(const struct type *t);
// Bits of a value of this type as laid out in a header (bool = 1, enums their underlying type);
// -1 when it has none (varbit counts 0, externs -1).
long type_bits(struct arena *a, const struct type *t);

#endif

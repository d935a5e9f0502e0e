// SPDX-License-Identifier: Apache-2.0
//
// check: names, types and compile-time values (sections 6 to 18 of the P4_16 specification).
//
// Fills the [check] fields of the AST: every name resolved, every expression typed (generic type
// arguments and literal widths inferred, implicit casts decided), every call bound to its
// declaration, arguments matched to parameters, compile-time values folded. Implicit casts
// (int to bit<W>, enum to its underlying type, list and record expressions to structs) are made
// explicit by setting the operand's 'type' to the wanted type: an EX_INT, EX_LIST or EX_STRUCT
// carries the type it takes on; other implicit conversions are wrapped in an EX_CAST whose 'tref'
// is null.
//
// Files:
//
//     check.c   the program: order, main, messages with suggestions
//     names.c   scopes
//     type.c    types as written to semantic types; declarations of types
//     types.c   operations on semantic types (types.h)
//     decl.c    constants, variables, functions, externs, blocks
//     inst.c    instantiations, implementations of abstract methods
//     expr.c    names, members, indices, literals, lists
//     op.c      operators and casts
//     coerce.c  implicit conversions
//     infer.c   type variables and unification
//     args.c    arguments to parameters: overloads, inference, directions
//     call.c    the callee of a call, and the places where calls are allowed
//     annot.c   annotations, names for the control plane
//     core.c    rules of the core library's methods
//     stmt.c    statements
//     parser.c  states, transitions, keysets
//     table.c   tables
//     fold.c    arithmetic on compile-time values
#ifndef SILKEN_COMPILER_CHECK_CHECK_H
#define SILKEN_COMPILER_CHECK_CHECK_H

#include "compiler/check/types.h"

#define CHECK_MAX_STATES 4096u // of a parser; after lowering, with those of its sub-parsers

// Returns true when no error was reported. Warnings (unused, shadowing...) do not count.
bool check_program(struct arena *a, struct diag *d, struct program *p);

#endif

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
#ifndef SILKEN_COMPILER_CHECK_CHECK_H
#define SILKEN_COMPILER_CHECK_CHECK_H

#include "compiler/check/types.h"

// Returns true when no error was reported. Warnings (unused, shadowing...) do not count.
bool check_program(struct arena *a, struct diag *d, struct program *p);

#endif

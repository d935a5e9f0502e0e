// SPDX-License-Identifier: Apache-2.0
//
// lower: checked AST -> pipeline IR.
//
// Instantiates 'main' at compile time: evaluates constructor arguments, inlines sub-parsers,
// sub-controls and functions, gives every object its fully qualified name, flattens structs and
// stacks into variables, lowers generics by substitution. Constructs that are legal P4 but not
// covered are refused with "not supported yet: ..." at their place; nothing is ever approximated.
// Afterwards regonce.h checks the hardware's rule on the result.
#ifndef SILKEN_COMPILER_LOWER_LOWER_H
#define SILKEN_COMPILER_LOWER_LOWER_H

#include "compiler/ir/ir.h"
#include "compiler/check/types.h"

// Null after an error was reported. 'p' must have passed check_program.
struct ir_program *lower_program(struct arena *a, struct diag *d, const char *path,
                                 struct program *p);

#endif

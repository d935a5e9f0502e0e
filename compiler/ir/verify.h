// SPDX-License-Identifier: Apache-2.0
//
// verify: is the IR what ir.h says it is?
//
// A pass that leaves a statement without its operand, or a variable of another gress, is found
// where it did so, and not where something later falls over it. Tests set SILKEN_VERIFY_IR in the
// environment, and every pass then ends with this check; without it ir_verify_after() does nothing.
#ifndef SILKEN_COMPILER_IR_VERIFY_H
#define SILKEN_COMPILER_IR_VERIFY_H

#include "compiler/ir/ir.h"

// What is wrong with a gress, as a sentence in the arena: "statement 'assign' (line 3): ...". Null:
// nothing.
const char *ir_fault(struct arena *a, const struct ir_gress *g);

// Ends the compiler with a sentence that names the pass when the IR is not whole (DIAG_BUG), if
// SILKEN_VERIFY_IR is set.
void ir_verify_after(struct arena *a, const struct ir_gress *g, const char *pass);

#endif

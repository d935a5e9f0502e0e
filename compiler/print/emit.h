// SPDX-License-Identifier: Apache-2.0
//
// emit: pipeline IR -> C.
//
// The C text includes only stages/ and the headers at the top of pipeline/ (abi.h, hop.h, checked.h); compiled
// to a shared object it exports silken_program() (see pipeline/abi.h). The same IR always gives the same text.
#ifndef SILKEN_COMPILER_PRINT_EMIT_H
#define SILKEN_COMPILER_PRINT_EMIT_H

#include <stdio.h>

#include "compiler/ir/ir.h"

// Writes the program's C. False (with "not supported yet" or limit errors reported) when the IR
// holds something emission does not cover.
bool emit_c(FILE *out, struct arena *a, struct diag *d, const struct ir_program *p);
// The same without loops over registers that are used alike (compiler/plan/lanes.h): the same results, slowly.
bool emit_scalar_c(FILE *out, struct arena *a, struct diag *d, const struct ir_program *p);
// The same for the checked build: the same results bit for bit, and every packet's observer
// (pipeline/trace.h) hears what the program did and what it should not have done.
bool emit_checked_c(FILE *out, struct arena *a, struct diag *d, const struct ir_program *p);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// regonce: a register is accessed at most once per packet and pass (tna-facts 6.1).
//
// Walks every path through a gress's control. Two accesses (RegisterAction execution, read, write,
// also through tables' actions) of one register that can meet on a path are an error that names
// both places and, when tables are involved, the tables and actions on the way. Branches exclude
// each other: the two sides of an if, the cases of a switch, the actions of one table, hit and miss;
// exit and return end a path.
#ifndef SILKEN_COMPILER_REGONCE_H
#define SILKEN_COMPILER_REGONCE_H

#include "compiler/ir.h"

// False when an error was reported.
bool regonce_check(struct arena *a, struct diag *d, const struct ir_program *p);

#endif

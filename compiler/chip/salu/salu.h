// SPDX-License-Identifier: Apache-2.0
//
// salu: whether register actions fit a stateful ALU, and registers their users (tna-facts 6).
//
// Files:
//
//     salu.c    all register actions of a pipe, register by register
//     body.c    an action's body as guarded assignments, copies and dead ones resolved
//     expr.c    operands, operators and comparisons that one ALU can do
//     fit.c     the ALUs that an action's assignments take
//     shared.c  resources that the actions of one register share
//     plain.c   reads and writes, which are register actions, too
//     users.c   the users of register actions: actions, tables, gresses
//     once.c    accesses that meet in one pass (compiler/rules/regonce.h)
#ifndef SILKEN_COMPILER_CHIP_SALU_SALU_H
#define SILKEN_COMPILER_CHIP_SALU_SALU_H

#include "compiler/chip/chip.h"

// Adds violations only. Reads the IR and, for which unit uses what, the units' actions.
void chip_salu(struct chip_report *r, struct chip_pipe *pipe);

#endif

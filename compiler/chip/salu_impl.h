// SPDX-License-Identifier: Apache-2.0
//
// salu_impl: what the files of salu.c share.
//
//   salu.c         all register actions of a pipe, register by register
//   salu_body.c    an action's body as guarded assignments, copies and dead ones resolved
//   salu_expr.c    operands, operators and comparisons that one ALU can do
//   salu_fit.c     the slots of the ALU that an action's assignments take
//   salu_users.c   who executes what: actions, tables, gresses
//   salu_once.c    accesses that meet in one pass (regonce.h)
#ifndef SILKEN_COMPILER_CHIP_SALU_IMPL_H
#define SILKEN_COMPILER_CHIP_SALU_IMPL_H

#include "compiler/chip/salu.h"
#include "compiler/ir_build.h"

// ---- salu_once.c
void salu_once(struct chip_report *r, const struct ir_gress *g);

#endif

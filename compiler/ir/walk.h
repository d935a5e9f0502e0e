// SPDX-License-Identifier: Apache-2.0
//
// walk: every statement and every expression of a block and of the blocks in it. Unlike ir_visit_block
// (build.h) it does not follow tables and register actions, and changes nothing.
#ifndef SILKEN_COMPILER_IR_WALK_H
#define SILKEN_COMPILER_IR_WALK_H

#include "compiler/ir/ir.h"

typedef void (*emit_on_stmt)(void *aux, const struct ir_stmt *s);
typedef void (*emit_on_expr)(void *aux, const struct ir_expr *x);
// Parents first; either function may be null.
void emit_walk(const struct ir_block *b, emit_on_stmt on_stmt, emit_on_expr on_expr, void *aux);
void emit_walk_expr(const struct ir_expr *x, emit_on_expr on_expr, void *aux);
bool emit_block_has(const struct ir_block *b, enum ir_stmt_kind kind);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// walk: the one walk through blocks: every statement and every expression in them. What code reads
// and writes is summed up by effects.h.
#ifndef SILKEN_COMPILER_IR_WALK_H
#define SILKEN_COMPILER_IR_WALK_H

#include "compiler/ir/ir.h"

// Calls back for every expression node and statement reachable from a block: nested blocks, and
// through IR_APPLY the table's keys and action bodies, through IR_REG_EXEC the action's body. A
// callback may be null. Children come before their parents in expressions; a statement before what
// is in it.
struct ir_visitor {
    void *ctx;
    void (*expr)(void *ctx, struct ir_expr *e);
    void (*stmt)(void *ctx, struct ir_stmt *s);
    bool shallow; // do not follow tables and register actions
};
void ir_visit_expr(const struct ir_visitor *v, struct ir_expr *e);
void ir_visit_stmt(const struct ir_visitor *v, struct ir_stmt *s);
void ir_visit_block(const struct ir_visitor *v, struct ir_block *b);
// Variables a statement itself writes (not its nested blocks, not through what it refers to): calls
// 'fn' with the address of each pointer, so that it may be replaced. Set-valid and extraction write
// their header, which is not reported here.
void ir_written_vars(struct ir_stmt *s, void (*fn)(void *ctx, struct ir_var **var), void *ctx);

// ---- the same for those who change nothing; tables and register actions are not followed
typedef void (*ir_on_stmt)(void *aux, const struct ir_stmt *s);
typedef void (*ir_on_expr)(void *aux, const struct ir_expr *x);
// Either function may be null, and so may what is walked, but for a statement.
void ir_walk(const struct ir_block *b, ir_on_stmt on_stmt, ir_on_expr on_expr, void *aux);
void ir_walk_stmt(const struct ir_stmt *s, ir_on_stmt on_stmt, ir_on_expr on_expr, void *aux);
void ir_walk_expr(const struct ir_expr *x, ir_on_expr on_expr, void *aux);
// All blocks, keys and selects of a gress, register actions' too.
void ir_walk_gress(const struct ir_gress *g, ir_on_stmt on_stmt, ir_on_expr on_expr, void *aux);
// The variable is in the expression, which may be null.
bool ir_mentions(const struct ir_expr *x, const struct ir_var *v);
bool ir_block_has(const struct ir_block *b, enum ir_stmt_kind kind); // of statement, in it
// How many of the low bits of a hash's result the gress reads.
unsigned ir_hash_used_bits(const struct ir_gress *g, const struct ir_hash *h);

#endif

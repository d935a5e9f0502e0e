// SPDX-License-Identifier: Apache-2.0
//
// build: making pipeline IR.
//
// Constructors fold: an operation on constants gives a constant, so compile-time evaluation during
// lowering is just lowering. They also take care of the identities that keep generated code
// readable (x & 1...1, slices of slices, double negation). Operand widths must agree as ir.h says.
//
// The value of bit<0> is a constant without bits, whatever it is made of. It stands in no
// statement: lowering leaves it out.
//
// Expressions may be shared between statements but form no cycles, and nesting is bounded by the
// nesting of the source, so recursive walks are safe.
#ifndef SILKEN_COMPILER_IR_BUILD_H
#define SILKEN_COMPILER_IR_BUILD_H

#include "compiler/ir/ir.h"

// ---- expressions
struct ir_expr *ir_const(struct arena *a, unsigned width, big v); // reduced to the width
struct ir_expr *ir_const_u64(struct arena *a, unsigned width, uint64_t v);
struct ir_expr *ir_ref(struct arena *a, struct ir_var *var);
struct ir_expr *ir_lookahead(struct arena *a, unsigned width, unsigned lo);
struct ir_expr *ir_reg_param_value(struct arena *a, struct ir_reg_param *p);
struct ir_expr *ir_math_unit_of(struct arena *a, struct ir_math_unit *m, struct ir_expr *x);
struct ir_expr *ir_unary(struct arena *a, enum ir_op op, struct ir_expr *x);
// All operators with two operands; the result's width follows from the operator.
struct ir_expr *ir_binary(struct arena *a, enum ir_op op, struct ir_expr *x, struct ir_expr *y);
struct ir_expr *ir_slice(struct arena *a, struct ir_expr *x, unsigned lo, unsigned width);
// Truncates, or extends with zeros or copies of the sign bit.
struct ir_expr *ir_resize(struct arena *a, struct ir_expr *x, unsigned width, bool is_signed);
struct ir_expr *ir_choose(struct arena *a, struct ir_expr *c, struct ir_expr *x,
                          struct ir_expr *y);                    // c ? x : y
struct ir_expr *ir_not_bool(struct arena *a, struct ir_expr *x); // of a 1-bit value

bool ir_is_const(const struct ir_expr *e);
bool ir_is_true(const struct ir_expr *e);                       // the constant 1, 1 bit wide
bool ir_is_false(const struct ir_expr *e);                      // the constant 0, 1 bit wide
bool ir_same(const struct ir_expr *x, const struct ir_expr *y); // structurally equal
// Two values of one key, in two entries: the same set.
bool ir_same_key(const struct ir_key_value *x, const struct ir_key_value *y);

// ---- statements
struct ir_stmt *ir_stmt_new(struct arena *a, enum ir_stmt_kind kind, struct loc at);
struct ir_block *ir_block_new(struct arena *a);
void ir_push(struct arena *a, struct ir_block *b, struct ir_stmt *s);
bool ir_ends(const struct ir_block *b); // its last statement never falls through

#endif

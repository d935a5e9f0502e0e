// SPDX-License-Identifier: Apache-2.0
//
// checked_impl: what the two rooms of checked.h share: masks of variables and statements
// (checked.c), masks and uses of expressions (undefined.c).
#ifndef SILKEN_COMPILER_PRINT_CHECKED_CHECKED_IMPL_H
#define SILKEN_COMPILER_PRINT_CHECKED_CHECKED_IMPL_H

#include "compiler/print/checked/checked.h"

// ---- checked.c
const char *emit_mask_of(const struct emit *e, const struct ir_var *v);
const char *emit_all_undefined(const struct emit *e, const struct ir_var *v);
void emit_defined(const struct emit *e, const struct ir_var *v);

// ---- undefined.c
// The mask of an expression: C text of its type, of a flag when it is wide; null: it is defined.
const char *emit_undefined(const struct emit *e, const struct ir_expr *x);
const char *emit_undefined_flag(const struct emit *e, const struct ir_expr *x);
// A C condition that says whether an undefined bit is used inside of it; null: never.
const char *emit_used(const struct emit *e, const struct ir_expr *x);
const char *emit_used_or_undefined(const struct emit *e, const struct ir_expr *x);
void emit_report_use(const struct emit *e, const char *cond, const struct ir_expr *x,
                     struct loc at);
// The value matters here, all of it.
void emit_use(const struct emit *e, const struct ir_expr *x);
void emit_use_all(const struct emit *e, const ir_expr_vec *args);

#endif

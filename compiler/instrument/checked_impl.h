// SPDX-License-Identifier: Apache-2.0
//
// checked_impl: what the two files of the checked build share: statements (checked.c), and masks
// and uses of expressions (defined.c).
#ifndef SILKEN_COMPILER_INSTRUMENT_CHECKED_IMPL_H
#define SILKEN_COMPILER_INSTRUMENT_CHECKED_IMPL_H

#include "compiler/instrument/instrument_impl.h"
#include "compiler/rules/rules.h"

struct checked {
    struct arena *a;
    struct ir_gress *g; // the copy; its masks stand after the program's own variables
    // By variable of the program's own.
    struct ir_var **mask; // null: it has none
    const bool *sink;     // a value leaves the program's variables when it is assigned
    // Where registers were accessed and tables applied, and by what variable that is known; null:
    // nowhere so far.
    struct checked_once *registers, *tables;
    struct ir_var *ahead;    // looks as far as a statement does; null: none was needed
    struct ir_var *doubtful; // of all tables; null: likewise
    // where statements are inserted
    struct ir_block *out;
    struct loc at;
    bool in_parser, in_deparser;
};

static inline bool checked_is_wide(unsigned width) {
    return width > RULES_MAX_WIDTH;
}

// ---- defined.c
// All bits set, of the mask of something as wide.
struct ir_expr *checked_ones(const struct checked *c, unsigned width);
// The mask of an expression: as wide, of one bit when it is wide; null: all of it is defined.
struct ir_expr *checked_defined(const struct checked *c, struct ir_expr *x);
// One bit: all of it is defined; null: always.
struct ir_expr *checked_all_defined(const struct checked *c, struct ir_expr *x);
// One bit: an undefined bit is used inside of the expression (not: its result has one); null:
// never. The second: or its result has one.
struct ir_expr *checked_used(const struct checked *c, struct ir_expr *x);
struct ir_expr *checked_used_or_undefined(const struct checked *c, struct ir_expr *x);
// Inserts a report that a variable of 'x' is undefined, when 'cond' holds. 'cond' null: nothing.
void checked_report_use(struct checked *c, struct ir_expr *cond, struct ir_expr *x, struct loc at);

// ---- checked.c
struct ir_stmt *checked_insert(struct checked *c, enum ir_stmt_kind kind, struct loc at);
struct ir_report *checked_report(struct checked *c, struct ir_expr *cond, struct loc at,
                                 struct ir_stmt **s);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// checked: what the checked build adds to the C text (run time: pipeline/checked.h). The other
// rooms of emission call these at the places they name; each does nothing in a fast build.
//
// Definedness. Every variable that may be undefined has a mask of the same size in phv, "v->u_x",
// with a bit set for each bit that nothing was assigned to; one that is too wide to compute with
// has one flag for all of it. A field counts as undefined while its header is invalid, and one with
// validity of its own (tna-facts 2.8) while that is unset. Plain copies, slices, concatenations and
// bitwise operators carry masks along; arithmetic, comparisons, branches, keys, indices, what goes
// to the traffic manager, into a register or onto the wire are uses, which report. What was
// reported once counts as defined from there on.
//
// All variables live in phv, tables are looked up in memory, nothing is banked or fused: the
// checked build shares the meaning of the fast build, not its plans.
#ifndef SILKEN_COMPILER_PRINT_CHECKED_CHECKED_H
#define SILKEN_COMPILER_PRINT_CHECKED_CHECKED_H

#include "compiler/print/emit_impl.h"

// ---- layout ----
void emit_checked_analyse(const struct emit *e); // after the variables' users are known
void emit_checked_phv(const struct emit *e);     // members of struct phv
void emit_checked_begin(const struct emit *e);   // at the start of a gress's entry function

// ---- statements ----
// Around a statement. Between the two the statement's own text is printed.
void emit_checked_before(const struct emit *e, const struct ir_stmt *s);
void emit_checked_after(const struct emit *e, const struct ir_stmt *s);
void emit_checked_action(const struct emit *e,
                         const struct ir_action *a); // at the start of its function
void emit_checked_regaction(const struct emit *e, const struct ir_regaction *ra); // likewise

// ---- tables: after the declaration of key[] ----
void emit_checked_key(const struct emit *e, const struct ir_table *t);

// ---- parser ----
void emit_checked_parser(const struct emit *e); // locals of its function
// Names what the following SK_NEED is for.
void emit_checked_here(const struct emit *e, struct loc at, const char *what);
void emit_checked_extracted(const struct emit *e, const struct ir_header *h);
void emit_checked_stack(const struct emit *e, const struct ir_stmt *s);      // index out of range
void emit_checked_too_long(const struct emit *e, const struct ir_state *st); // too many states
void emit_checked_select(const struct emit *e, const struct ir_state *st);

// ---- deparser: at the start of the function that writes the headers ----
void emit_checked_emits(const struct emit *e);
void emit_checked_headroom(const struct emit *e); // before it gives up

// ---- shared with trace.c ----
const char *emit_gress_name(const struct emit *e);                   // SK_IN_INGRESS...
const char *emit_shown_name(const struct emit *e, const char *name); // of a variable or header
const char *emit_field_name(const struct ir_header *h, const struct ir_var *f); // without its
                                                                                // header
// A declaration "static const struct sk_place NAME = ...".
void emit_place(const struct emit *e, const char *name, struct loc at);

#endif

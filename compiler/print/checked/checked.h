// SPDX-License-Identifier: Apache-2.0
//
// checked: reports of the checked build (run time: pipeline/checked.h), whose program is an
// instrumented one (compiler/instrument/instrument.h): its masks are variables, its reports are
// statements. What that header leaves to who runs the program is printed here too: whether
// undefined bits of a key matter, packets that are too short, parsers that go on for too long,
// headers for which there is no room. The other files call these at the places they name; each does
// nothing in a fast build.
//
// Tables are looked up in memory, nothing is banked or fused: the checked build shares the meaning
// of the fast build, not its plans.
#ifndef SILKEN_COMPILER_PRINT_CHECKED_CHECKED_H
#define SILKEN_COMPILER_PRINT_CHECKED_CHECKED_H

#include "compiler/print/emit_impl.h"

// ---- layout ----
void emit_checked_phv(const struct emit *e);    // members of struct phv
void emit_checked_places(const struct emit *e); // that reports point to, before the functions
void emit_checked_begin(const struct emit *e);  // at the start of a gress's entry function

void emit_checked_report(const struct emit *e, const struct ir_stmt *s); // an IR_REPORT

// ---- tables: after the declaration of key[] ----
void emit_checked_key(const struct emit *e, const struct ir_table *t);

// ---- parser ----
void emit_checked_parser(const struct emit *e); // locals of its function
// Names what the following SK_NEED is for.
void emit_checked_here(const struct emit *e, struct loc at, const char *what);
void emit_checked_too_long(const struct emit *e, const struct ir_state *st); // too many states

// ---- deparser ----
void emit_checked_headroom(const struct emit *e); // before it gives up

// ---- shared with trace.c ----
const char *emit_gress_name(const struct emit *e);                   // SK_IN_INGRESS...
const char *emit_shown_name(const struct emit *e, const char *name); // of a variable or header
const char *emit_field_name(const struct ir_header *h, const struct ir_var *f); // without its
                                                                                // header
// A declaration "static const struct sk_place NAME = ...".
void emit_place(const struct emit *e, const char *name, struct loc at);

#endif

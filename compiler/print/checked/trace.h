// SPDX-License-Identifier: Apache-2.0
//
// trace: the events of the checked build (run time: pipeline/trace.h). Most are statements of its
// program, which is an instrumented one (compiler/instrument/instrument.h). What that header leaves
// to who runs the program is printed here too: transitions, where the parser ended, what a table
// found, headers that are written. The other files call these at the places they name; each does
// nothing in a gress that is not traced.
#ifndef SILKEN_COMPILER_PRINT_CHECKED_TRACE_H
#define SILKEN_COMPILER_PRINT_CHECKED_TRACE_H

#include "compiler/print/emit_impl.h"

// Descriptions of the gress's headers, before its functions.
void emit_trace_headers(const struct emit *e);
void emit_trace_event(const struct emit *e, const struct ir_stmt *s); // an IR_TRACE

// A statement (or block) that goes where the state, by 'c' (null: it has no cases), goes on, from
// the plain one, 'jump'.
const char *emit_trace_jump(const struct emit *e, const struct ir_state *st,
                            const struct ir_select_case *c, const char *jump);
void emit_trace_no_match(const struct emit *e);
void emit_trace_parsed(const struct emit *e); // variables err and consumed are known
// 'entry' and 'data' are known; 'key' too when the table has one. 'action': its index, as C text.
void emit_trace_table(const struct emit *e, const struct ir_table *t, const char *action);
void emit_trace_emitted(const struct emit *e, const struct ir_header *h); // t is at its first byte

#endif

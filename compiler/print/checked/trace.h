// SPDX-License-Identifier: Apache-2.0
//
// trace: the events of the checked build (pipeline/trace.h). The other rooms of emission call
// these at the places they name; each does nothing in a fast build.
#ifndef SILKEN_COMPILER_PRINT_CHECKED_TRACE_H
#define SILKEN_COMPILER_PRINT_CHECKED_TRACE_H

#include "compiler/print/emit_impl.h"

// Descriptions of the gress's headers, before its functions.
void emit_trace_headers(const struct emit *e);
// Around a statement's text. What is printed in between is in a C block in which the values of
// before are known; the statement must not define a label.
void emit_trace_before(const struct emit *e, const struct ir_stmt *s);
void emit_trace_after(const struct emit *e, const struct ir_stmt *s);

void emit_trace_state(const struct emit *e, const struct ir_state *st);
void emit_trace_extracted(const struct emit *e,
                          const struct ir_header *h); // the cursor is behind it
void emit_trace_select(const struct emit *e, const struct ir_state *st);
// A statement (or block) that goes to 'next' because of 'what', from the plain one, 'jump'.
const char *emit_trace_jump(const struct emit *e, int next, const char *what, const char *jump);
void emit_trace_no_match(const struct emit *e);
// A case of the state as text.
const char *emit_trace_case(const struct emit *e, const struct ir_state *st,
                            const struct ir_select_case *c);
void emit_trace_parsed(const struct emit *e);  // variables err and consumed are known
void emit_trace_deparse(const struct emit *e); // before its statements
// 'entry' and 'data' are known; 'key' too when the table has one. 'action': its index, as C text.
void emit_trace_table(const struct emit *e, const struct ir_table *t, const char *action);
void emit_trace_emitted(const struct emit *e, const struct ir_header *h); // q is at its first byte

#endif

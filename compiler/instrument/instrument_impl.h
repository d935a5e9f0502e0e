// SPDX-License-Identifier: Apache-2.0
//
// instrument_impl: what the files of the room share. The interface is instrument.h.
#ifndef SILKEN_COMPILER_INSTRUMENT_INSTRUMENT_IMPL_H
#define SILKEN_COMPILER_INSTRUMENT_INSTRUMENT_IMPL_H

#include "compiler/instrument/instrument.h"

// ---- copies (copy.c) ----
// What is put in while a gress is copied. Each function may be null; it appends to the copy 'to'.
// Statements that it appends are not visited.
struct instrument_inserter {
    void *aux;
    // Before a statement. 'copy' is what will stand there; its members may be changed. Blocks in it
    // are copies, too.
    void (*before)(void *aux, struct ir_block *to, struct ir_stmt *copy);
    void (*action)(void *aux, struct ir_block *to, const struct ir_action *a); // at its beginning
    void (*select)(void *aux, struct ir_block *to, const struct ir_state *st); // before its keys
    void (*table)(void *aux, struct ir_table *copy);
};
// A gress like 'g' that may be changed: its list of variables, its blocks and statements, and what
// has blocks or refers to such (states, actions, tables, profiles, selectors, registers and their
// actions) are copies, with the same numbers. Variables, headers, expressions, entries' keys and
// other objects are shared. 'in' may be null: nothing is put in.
struct ir_gress instrument_copy(struct arena *a, const struct ir_gress *g,
                                const struct instrument_inserter *in);

// A variable more of such a copy.
struct ir_var *instrument_new_var(struct arena *a, struct ir_gress *copy, const char *name,
                                  unsigned width, struct loc at);
// A copy of the pipeline whose gresses are what 'of' makes of each.
struct ir_pipeline *instrument_gresses(struct arena *a, const struct ir_pipeline *pl,
                                       struct ir_gress (*of)(struct arena *a,
                                                             const struct ir_gress *from));
// What was extracted: calls fn(aux, header). Of a stack, which element that was is known when the
// packet is: fn is called for each, and what it appends to '*out' is a case of a switch there.
void instrument_extracted(struct arena *a, struct ir_block **out, struct loc at,
                          const struct ir_stmt *extract,
                          void (*fn)(void *aux, const struct ir_header *h), void *aux);
// Lowering's parts of a thing are shown as that thing: "hdr.s[1].data.$8" is hdr.s[1].data.
const char *instrument_shown_name(struct arena *a, const char *name);

// ---- passes (notes.c, checked.c, trace.c, guard.c) ----
// Null: the pipeline takes no notes.
struct ir_pipeline *instrument_notes(struct arena *a, const struct ir_program *program,
                                     const struct ir_pipeline *pl,
                                     const struct instrument_options *opt);
struct ir_pipeline *instrument_checked(struct arena *a, const struct ir_program *program,
                                       const struct ir_pipeline *pl,
                                       const struct instrument_options *opt);
struct ir_pipeline *instrument_trace(struct arena *a, const struct ir_program *program,
                                     const struct ir_pipeline *pl,
                                     const struct instrument_options *opt);
struct ir_pipeline *instrument_guard(struct arena *a, const struct ir_program *program,
                                     const struct ir_pipeline *pl,
                                     const struct instrument_options *opt);

#endif

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
// Of a gress without registers. States, actions, tables, profiles, selectors and statements are
// copies that refer to each other; all else is the original's.
struct ir_gress instrument_copy(struct arena *a, const struct ir_gress *g,
                                const struct instrument_inserter *in);

// ---- notes (notes.c) ----
// Null: the pipeline takes none.
struct ir_pipeline *instrument_notes(struct arena *a, const struct ir_program *program,
                                     const struct ir_pipeline *pl,
                                     const struct instrument_options *opt);

#endif

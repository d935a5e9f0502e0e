// SPDX-License-Identifier: Apache-2.0
//
// emit: pipeline IR -> C.
//
// The C text includes only stages/ and the headers at the top of pipeline/ (abi.h, hop.h,
// checked.h); compiled to a shared object it exports silken_program() (see pipeline/abi.h). The
// same IR always gives the same text.
//
// Files:
//
//     emit.c               the driver: the order of the output
//     text.c               lines of the C text, and pieces of it; unit.c: the text as translation
//                          units that are compiled side by side
//     expr.c               expressions and assignments; wide.c: those beyond 128 bits
//     stmt.c               statements, and functions made of them: actions, the control;
//                          copied_fields.c: neighbours that are copied to another header
//     table.c              the application of a table; branch.c: entries as branches; key_words.c:
//                          keys compared together
//     register.c           registers and stateful ALUs; lane_loop.c: loops over lanes;
//                          lane_tables.c: lanes that apply tables
//     meter.c              counters, meters, filters
//     hash.c               hashes that the control plane may change
//     profile.c            action profiles, selectors, proxy hashes
//     parser.c             the parser; path_entry.c: its paths one by one
//     deparser.c           the deparser, and headers put before the payload
//     variable.c           names and places of variables; home.c: fields that stay in the packet;
//                          deferred_stores.c: fields whose stores wait; row.c: registers side by
//                          side
//     continuation.c       the rest of a control for each value of a variable; sunk_loops.c: sunk
//                          loops
//     split_packet.c       packets in two pieces; prefetch.c: a burst's lookups; note.c: notes
//     entry.c              the functions that tie parser, control and deparser together
//     objects.c            descriptions for the control plane, a pipe's state; describe.c: those of
//                          tables
//     checked/checked.c    reports of the checked build
//     checked/trace.c      its events
#ifndef SILKEN_COMPILER_PRINT_EMIT_H
#define SILKEN_COMPILER_PRINT_EMIT_H

#include <stdio.h>

#include "compiler/plan/plan.h"

#define EMIT_MAX_PIPELINES 4

// How the text is cut into translation units (unit.c): compiled once for each of 'parts', with
// -DSK_PARTS=0x..., and linked.
#define EMIT_MAX_UNITS 8
struct emit_units {
    size_t n;
    uint32_t parts[EMIT_MAX_UNITS]; // the one that takes longest first
};

struct emit_options {
    // 'checked': the checked build, the same results bit for bit, and every packet's observer
    // (pipeline/trace.h) hears what the program did and what it should not have done. 'vectorise'
    // false: without loops over registers that are used alike (compiler/plan/lanes.h), the same
    // results, slowly; so is the checked build.
    struct plan_options plan;
    FILE *dump_plan;          // also writes the plan there, as text; null: no
    struct emit_units *units; // also tells the units; null: the text is compiled whole
};

// Writes the program's C; 'opt' null: the fast build. False (with "not supported yet" or limit
// errors reported) when the IR holds something emission does not cover.
bool emit_c(FILE *out, struct arena *a, struct diag *d, const struct ir_program *p,
            const struct emit_options *opt);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// instrument: passes from IR to IR that insert statements, so that a program also says what it did.
// The face of the room.
//
//     instrument.c  the passes in one array; instrument_program() runs them
//     notes.c       notes of a pass, from which the engine can do it again (stages/notes.h)
//     copy.c        a copy of a gress, with statements put in (instrument_impl.h)
//
// What is inserted is a statement like any other: the planner plans with it, the printer prints it
// where it stands, the interpreter of the IR (harness/interp) executes it. None of them asks which
// passes ran. A pass changes nothing that a packet can see: with and without it the same packets
// leave, and tables, counters and registers have the same values.
//
// The passes stand between the rules and the plan (compiler/print/emit.c), on a copy: other builds,
// the schemas and the model of the chip are made of the original.
#ifndef SILKEN_COMPILER_INSTRUMENT_INSTRUMENT_H
#define SILKEN_COMPILER_INSTRUMENT_INSTRUMENT_H

#include "compiler/ir/ir.h"

// A program with fewer tables takes no notes: it is as fast as the comparison of a packet with
// those seen before, or faster.
#define INSTRUMENT_NOTES_TABLES 8u

struct instrument_options {
    bool checked;        // the checked build
    const char *without; // the name of a pass that does not run; or null
    // Fewer tables than INSTRUMENT_NOTES_TABLES are enough for notes: for tests.
    bool notes_always;
};

// The program with all statements that the passes of this build insert. 'p' is not changed, and is
// the result where nothing is inserted; else the two share what is the same in both: variables,
// headers, expressions. All of it lives in 'a'. No errors.
const struct ir_program *instrument_program(struct arena *a, const struct ir_program *p,
                                            const struct instrument_options *opt);
// A pass of that name may be left out (instrument_options.without).
bool instrument_is_optional(const char *pass);

#endif

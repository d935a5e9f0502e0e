// SPDX-License-Identifier: Apache-2.0
//
// instrument: passes from IR to IR that insert statements, so that a program also says what it did.
// The face of the room.
//
//     instrument.c  the passes in one array; instrument_program() runs them
//     notes.c       notes of a pass, from which the engine can do it again (stages/notes.h)
//     checked.c     what the checked build looks at, statement by statement (checked_impl.h)
//     defined.c     which bits of an expression are defined, and where an undefined bit is used
//     trace.c       what the checked build tells of a packet, event by event
//     copy.c        a copy of a gress, whose statements a pass may change (instrument_impl.h)
//
// What is inserted is a statement like any other: the planner plans with it, the printer prints it
// where it stands, the interpreter of the IR (harness/interp) executes it. None of them asks which
// passes ran. A pass changes nothing that a packet can see: with and without it the same packets
// leave, and tables, counters and registers have the same values.
//
// The passes stand between the rules and the plan (compiler/print/emit.c), on a copy: other builds,
// the schemas and the model of the chip are made of the original.
//
// The checked build. It reports what the program should not have done (IR_REPORT).
//
// Every variable that may be undefined has a mask, a variable of the same width named
// "NAME.$defined", with a bit set for each bit that something was assigned to. All variables are
// zero when a packet enters, so nothing is defined then. A variable beyond 128 bits has a mask of
// one bit: all of it is defined. A field also counts as undefined while its header is invalid, and
// one with validity of its own (tna-facts 2.8) while that is unset. Plain copies, slices,
// concatenations and bitwise operators carry masks along, as assignments to masks before those to
// their variables. Arithmetic, comparisons, branches, keys, indices, what goes to the traffic
// manager, into a register or onto the wire are uses, each with a report before it. The result of
// what was reported counts as defined.
//
// What else is looked at: indices beyond their register, counter, meter or header stack; a register
// that is accessed, a table that is applied a second time in one pass (a variable per register and
// table has the number of the place where it was); fields that leave undefined (ir_gress.leaving).
//
// The trace. The checked build tells an observer of the packet who wants to hear everything what
// each statement did (IR_TRACE; the run time's pipeline/trace.h says which kinds of events there
// are, and what belongs to each). An event stands after its statement; what the statement is about
// to overwrite is kept in a variable before it. A register's cell is read before and after an
// access. The trace comes after the reports: these are heard before what they are about, and its
// own variables have no masks.
//
// What no expression of the IR says, since only the run time knows it, is left to those who run the
// program, compiled or interpreted. Of a gress that is traced (ir_gress.traced): which state the
// parser goes to, by which case (TRANSITION); where the parser ended (PARSED); what a table found
// (TABLE, before the action); each header that is written (EMIT). Of reports:
//
// - An undefined key is reported when it decides which entry is found. Whether it does, the entries
//   say: ir_table.doubtful.
// - A packet too short for what the parser takes ("short-packet"): that is the meaning of
//   IR_EXTRACT, IR_ADVANCE and IR_LOOKAHEAD, and how many bytes there are is not in the IR. A
//   statement, or a select, that looks ahead has a statement before it that looks as far and does
//   no more, so that no report comes of a statement that the parser does not reach.
// - More states than a parser may go through ("parser-loop"), which are not counted in the IR.
// - Headers that do not fit before the packet ("headroom"), after which the process ends.
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

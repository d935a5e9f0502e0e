// SPDX-License-Identifier: Apache-2.0
//
// instrument: passes from IR to IR that insert statements, so that a program also says what it did.
// The face of the room.
//
//     instrument.c  the passes in one array; instrument_program() runs them
//     notes.c       notes of a pass, with which the engine can repeat the pass (stages/notes.h)
//     checked.c     the checks of the checked build, statement by statement (checked_impl.h)
//     defined.c     which bits of an expression are defined, and where an undefined bit is used
//     trace.c       the trace of a packet in the checked build, event by event
//     guard.c       what happens to a packet that comes to a register a second time, in all builds
//     copy.c        a copy of a gress, whose statements a pass may change (instrument_impl.h)
//
// An inserted statement is like any other: the planner plans with it, the printer prints it in its
// place, the interpreter of the IR (harness/interp) executes it. None of them depends on which
// passes ran. A pass has no effect on packets: with and without it the same packets leave, and
// tables, counters and registers have the same values; but for the guards, which are part of what
// a program does.
//
// The passes stand between the rules and the plan (compiler/print/emit.c), on a copy: other builds,
// the schemas and the model of the chip are made from the original.
//
// Guards. Before each execution of a register that is guarded (ir_register.guarded), a packet that
// has executed one in this pass ends its control, and is dropped without a copy, a digest or a
// resubmit (IRI_TWICE, which the engine counts by): the register is not reached.
//
// The checked build. It reports forbidden accesses of the program (IR_REPORT).
//
// Every variable that may be undefined has a mask, a variable of the same width named
// "NAME.$defined", with a bit set for each bit that something was assigned to. All variables are
// zero when a packet enters, so nothing is defined then. A variable beyond 128 bits has a mask of
// one bit: all of it is defined. A field also counts as undefined while its header is invalid, and
// one with validity of its own (tna-facts 2.8) while that is unset. Plain copies, slices,
// concatenations and bitwise operators carry masks along, as assignments to masks before those to
// their variables. Arithmetic, comparisons, branches, keys, indices, what goes to the traffic
// manager, into a register or onto the wire are uses, each with a report before it. After a report
// the result of the reported use counts as defined.
//
// Other checks: an index beyond its register, counter, meter or header stack; a register that is
// accessed, or a table that is applied, a second time in one pass (a variable for each register and
// table has the number of the place of the first access); fields that are undefined when they leave
// (ir_gress.leaving).
//
// The trace. For an observer that asks for every event, the checked build reports what each
// statement did (IR_TRACE; the run time's pipeline/trace.h lists the kinds of events and their
// members). An event comes after its statement; a variable before the statement keeps the value
// that the statement overwrites. The cell of a register is read before and after an access. The
// pass for the trace runs after the one for the reports, so that a report precedes the event of the
// statement it is about, and the variables of the trace have no masks.
//
// Some facts are known only at run time, and no expression of the IR yields them. The compiled or
// interpreted program's runner reports these itself. For a gress that is traced (ir_gress.traced):
// the parser's next state and the case that chose it (TRANSITION); where the parser ended (PARSED);
// the entry that a table found (TABLE, before the action); each header that is written (EMIT). For
// reports:
//
// - An undefined key is reported when it decides which entry is found. That depends on the entries:
//   ir_table.doubtful.
// - A packet that is too short for the parser ("short-packet"): IR_EXTRACT, IR_ADVANCE and
//   IR_LOOKAHEAD imply the check, and the IR does not know the length of the packet. A statement,
//   or a select, that looks ahead is preceded by a statement that looks ahead as far and does
//   nothing else, so that no statement that the parser does not reach is reported.
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

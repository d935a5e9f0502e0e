// SPDX-License-Identifier: Apache-2.0
//
// tuning: the numbers by which passes and printers decide what pays. A program means the same with
// any of them; what changes is how much C is printed for it, and how fast that is.
//
// bench/tuning.sh NAME=VALUE builds the tree with another number and measures it by turns with this
// one.
#ifndef SILKEN_COMPILER_PLAN_TUNING_H
#define SILKEN_COMPILER_PLAN_TUNING_H

// ---- specialise.c: copies of the rest of a control for values of a variable
#define PLAN_MIN_USES   3    // places after the split that ask for the variable
#define PLAN_MAX_VALUES 10   // of a variable that have a copy
#define PLAN_MAX_COPIES 48   // of a control
#define PLAN_MAX_COPIED 2500 // statements of a control with its copies; else there are fewer splits
#define PLAN_MAX_DEPTH  3    // splits within copies

// ---- parse_paths.c: ways through the parser that are printed one by one
#define PLAN_MAX_PATHS  16 // printed
#define PLAN_MAX_ENDS   48 // found; of more than are printed, those that go to an end
#define PLAN_MAX_NODES  96
#define PLAN_MAX_SEAMS  6     // lengths of headers of split packets; as many times the above two
#define PLAN_MAX_ROUNDS 3     // of a loop between states
#define PLAN_MAX_WEIGHT 12000 // statements, over all ways; of more, the longest ways are taken
// the same with copies of the control for values of a variable; of packets of several kinds, what
// may be left on each way
#define PLAN_MAX_COPIED_WEIGHT 14000

// ---- lanes.c: statements that become a loop over lanes
#define PLAN_MIN_LANES  4u
#define PLAN_MAX_LANES  1024u
#define PLAN_MAX_PERIOD 8u // statements of one lane in a block

// ---- register_layout.c: registers of one shape that become one array
#define PLAN_MIN_BANK 4

// ---- cells_ahead.c: cells of a packet's later passes
#define PLAN_MAX_CELLS_AHEAD 64

// ---- tables
#define PLAN_MAX_BRANCHES   64  // const entries that become branches
#define PLAN_MIN_FILLED     256 // keys of a table that may be filled, and read as an array
#define PLAN_MIN_FILLED_RUN 3   // such tables in a row: it is asked once whether they are
#define PLAN_MAX_INDEX      16  // bits of an exact key that is the index of an array
#define PLAN_MAX_REPEATED   6   // entries that are printed again below a choice by a key
#define PLAN_MIN_RUN        2   // entries whose common keys are compared once

// ---- assignments: neighbours that are copied from one header to another at once
#define PLAN_MIN_COPIED_FIELDS 4

// ---- the deparser: headers whose validity is asked for once, by a case for each combination
#define PLAN_MAX_CHANGED    3  // or of more, groups that come and go together
#define PLAN_CHANGED_WEIGHT 40 // statements for a header at an end of a control, if there are more

#endif

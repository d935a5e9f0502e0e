// SPDX-License-Identifier: Apache-2.0
//
// regonce: a register is accessed at most once per packet and pass (tna-facts 6.1).
//
// Walks every path through a gress's control. Two accesses (RegisterAction execution, read, write,
// also through tables' actions) of one register that can meet on a path are an error that names
// both places and, when tables are involved, the tables and actions on the way. Where entries or
// packets decide whether two executions of register actions meet, and the chip's compiler takes
// them, that is a warning, and the register is guarded (ir_register.guarded). Branches exclude
// each other: the two sides of an if, the cases of a switch, the actions of one table, hit and
// miss; exit and return end a path. Counters and meters are reached once, too, and of tables that
// share an action profile one may be hit.
#ifndef SILKEN_COMPILER_RULES_REGONCE_H
#define SILKEN_COMPILER_RULES_REGONCE_H

#include "compiler/ir/ir.h"

// Errors for the first pair of each register, warnings where it is guarded from now on. False when
// there is an error.
bool regonce_check(struct arena *a, struct diag *d, const struct ir_program *p);

// ---- all of them, for the hardware model --------------------------------------------------------

struct regonce_step {
    struct loc at;
    const char *text; // "the condition 'hdr.x == 1' holds"
};
// Two accesses that a packet can meet in one pass.
struct regonce_pair {
    const char
        *kind; // "register", "selector memory", "counter", "meter", "filter", "action profile"
    const char *name;
    const struct ir_stmt *first, *second;
    const char *first_place, *second_place; // ", in action 'a' of table 't'", or ""
    bool straight;                          // no choice lies between them
    bool one_action;                        // of one table
    // The choices that lead to the first, the first itself, the choices that lead on, the second.
    VEC(struct regonce_step) steps;
};
// Two executions that the chip's compiler places in one stage without a word: it asks whether
// tables exclude each other of those that read() and write() a register, and whether one action
// has two. Which of the two the stateful ALU then runs is not said.
bool regonce_is_taken(const struct regonce_pair *p);

struct regonce_pairs {
    VEC(struct regonce_pair) list; // in the order of the second's place in the control
    bool more;                     // than REGONCE_MAX_PAIRS: those are left out
};
#define REGONCE_MAX_PAIRS 1000u
// Every pair in a gress's control. Two places that meet on several ways are one pair, with one of
// them.
struct regonce_pairs regonce_find(struct arena *a, const struct ir_gress *g);

#endif

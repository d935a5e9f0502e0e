// SPDX-License-Identifier: Apache-2.0
//
// lanes: one operation over many registers, as one loop.
//
// In-network aggregation repeats a stateful operation over dozens of registers at the same index,
// each with its own header field: the same control instantiated N times, or a table per register.
// Here these repetitions ("lanes") are found, and printed as a loop over lanes, of which the C
// compiler makes vector instructions of whatever width the machine has: the fields of a header on
// the wire are an array with a stride, and the registers are a bank, whose cells for one index are
// adjacent (plan.c). What the loop computes is what the repetitions compute one after the
// other; that they do not disturb each other is shown before there is a loop, never assumed:
//
// - The bodies are equal but for the variables, registers and constants that they name, and these
//   differ in the same way everywhere in a body.
// - A variable that differs from lane to lane is a field of one header, at a fixed distance from
//   the last lane's, or is used in its lane only, or is an element of an array in phv, which these
//   variables then are wherever they are used. All others are loaded before the loop and, if they
//   are written, stored after it: the loop runs the lanes in their order.
// - No lane writes a variable that is another one's in another way.
// - A register belongs to one lane, and so does a table. Tables are those with a number for each
//   key (filled_runs.c) and those whose entries are branches; where there are any, the loop runs
//   all lanes' statements up to a table, then that table for all lanes, and so on.
//
//     struct plan_lanes *l = plan_lanes_of_actions(plan, tables, n, entry);   // null: no loop
//     emit_lane_loop(plan, l);
#ifndef SILKEN_COMPILER_PLAN_LANES_H
#define SILKEN_COMPILER_PLAN_LANES_H

#include "compiler/plan/plan.h"

struct plan_lane_var {
    const struct ir_var **of; // by lane; [0] is the loop's own
    bool written;
    bool fresh; // what a register action begins with: the cell, zero
    bool wire;  // fields of one header
    bool array; // elements of one array in phv (plan.arrays)
    int stride; // bytes; negative: the fields are in the opposite order
    bool varies;
    big *initial; // by lane, of an action's parameter; null: zero
};
struct plan_lane_const { // differs
    const struct ir_expr *first;
    big *of; // by lane
};
struct plan_lane_reg {
    const struct ir_register **of;
};
// A table that lane 0 applies, and the other lanes' in its place.
struct plan_lane_table {
    const struct ir_table **of;
    const struct ir_var *number; // of one that is filled: the parameter of its action; else null
};
struct plan_lanes {
    unsigned count;
    const struct ir_stmt *const *stmts; // of lane 0
    size_t n_stmts;
    VEC(struct plan_lane_var) vars;
    VEC(struct plan_lane_reg) registers;
    VEC(struct plan_lane_const) consts;
    VEC(struct plan_lane_table) tables; // in the order in which they are applied
    const char *name;                   // of lane 0, for a comment
};

// What is counted once per gress before lanes are looked for: how often each variable is named.
unsigned *plan_count_uses(const struct plan *plan);

// Adds to 'named' how often each variable is named.
void plan_count_block(const struct ir_block *b, unsigned *named);
void plan_count_stmt(const struct ir_stmt *s, unsigned *named);

// Lanes that are actions, one after the other. Null: they are not to be made a loop. The registers
// of a found group are not banked yet.
struct plan_lane_action {
    const struct ir_action *action;
    const big *args;
    size_t n_args;
    const struct ir_stmt *const *tail; // statements after it
    size_t n_tail;
};
struct plan_lane_group {
    const unsigned *uses;
    const unsigned
        *inside; // how often variables are named in these lanes and in others in their place
    bool once;   // a packet runs one of these at most, once
    const struct plan_lane_action *lanes;
    unsigned n;
};
struct plan_lanes *plan_lanes_of_actions(const struct plan *plan, const struct plan_lane_group *g);
// Lanes that begin at statement 'first' of a block; *stmts gets how many statements they are.
// 'once': a packet runs the block once at most. 'plain': lanes without registers and tables, but
// with variables that are in arrays by now; else only others.
struct plan_lane_place {
    const struct ir_block *block;
    size_t first, end;
    bool once, plain;
};
struct plan_lanes *plan_lanes_of_block(const struct plan *plan, const unsigned *uses,
                                       const struct plan_lane_place *at, size_t *stmts);

// Whole bytes, at most 8, side by side.
bool plan_lane_field_is_plain(const struct plan_lane_var *t);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// lane_loop: loops over lanes as C (compiler/plan/lanes.h finds them).
#ifndef SILKEN_COMPILER_PRINT_LANE_LOOP_H
#define SILKEN_COMPILER_PRINT_LANE_LOOP_H

#include "compiler/plan/lanes.h"
#include "compiler/print/emit_impl.h"

void emit_lane_loop(const struct emit *e, const struct plan_lanes *l);
// The same of lanes that apply tables, as several loops (lane_tables.c).
void emit_lane_tables(const struct emit *e, const struct plan_lane_run *run);
// Of run 'i', of which a part may wait: members of phv, and that part.
void emit_lane_waiting(const struct emit *e, size_t i);
void emit_lane_waited(const struct emit *e, size_t i);
// Parts of a loop: its head, up to "{"; what is declared before it, at the beginning of its body,
// and where lane 0's variables are in it, by variable of the lanes.
void emit_lane_for(const struct emit *e, unsigned lanes);
void emit_lane_outside(const struct emit *e, const struct plan_lanes *l);
void emit_lane_inside(const struct emit *e);
const struct emit_var *emit_lane_vars(const struct emit *e, const struct plan_lanes *l,
                                      enum emit_lane_stores stores);
// The same as a function of its own, of lanes that write nothing of the packet but fields on the
// wire, and its call. Fields that are not stored in the loop are plain.
void emit_lane_function(const struct emit *e, const struct plan_lanes *l,
                        enum emit_lane_stores stores, const char *name);
void emit_lane_call(const struct emit *e, const struct plan_lanes *l, enum emit_lane_stores stores,
                    const char *name);
// Inside of a loop: the text of a constant that differs by lane, or null.
const char *emit_lane_const(const struct emit *e, const struct ir_expr *x);
// Inside of a loop: the execution of a register action.
void emit_lane_exec(const struct emit *e, const struct ir_stmt *s);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// lane_loop: loops over lanes as C (compiler/plan/lanes.h finds them).
#ifndef SILKEN_COMPILER_PRINT_LANE_LOOP_H
#define SILKEN_COMPILER_PRINT_LANE_LOOP_H

#include "compiler/plan/lanes.h"
#include "compiler/print/emit_impl.h"

void emit_lane_loop(const struct emit *e, const struct plan_lanes *l);
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

// SPDX-License-Identifier: Apache-2.0
//
// lane_loop: loops over lanes as C (compiler/plan/lanes.h finds them).
#ifndef SILKEN_COMPILER_PRINT_LANE_LOOP_H
#define SILKEN_COMPILER_PRINT_LANE_LOOP_H

#include "compiler/plan/lanes.h"
#include "compiler/print/emit_impl.h"

// What becomes of new values of fields on the wire: e->lane_stores. Where they are not stored in the loop,
// these fields are plain.
void emit_lane_loop(struct emit *e, const struct emit_lanes *l);
// The same as a function of its own, of lanes that write nothing of the packet but fields on the wire, and
// its call.
void emit_lane_function(struct emit *e, const struct emit_lanes *l, const char *name);
void emit_lane_call(struct emit *e, const struct emit_lanes *l, const char *name);
// Inside of a loop: the text of a constant that differs by lane, or null.
const char *emit_lane_const(struct emit *e, const struct ir_expr *x);
// Inside of a loop: the execution of a register action.
void emit_lane_exec(struct emit *e, const struct ir_stmt *s);

#endif

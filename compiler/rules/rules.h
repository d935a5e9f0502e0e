// SPDX-License-Identifier: Apache-2.0
//
// rules: checks of the pipeline IR for constructs that a Tofino or our engine does not allow. The
// face of the room.
//
//     regonce.c      a register is accessed at most once per packet and pass (regonce.h);
//                    regonce_facts.c, regonce_seen.c and regonce_path.c: the facts known on a path,
//                    the accesses on it, and the path in words (regonce_impl.h)
//     table_once.c   a table is applied at most once on any path
//     attached.c     the counters and meters of one table have one address
//     reset.c        fields of the deparser's metadata that request missing functions stay 0
//     emission.c     limits of the generated code
//
// A rule reports errors and changes nothing. Lowering calls table_once, attached and reset for each
// gress as soon as its blocks are lowered; regonce is the driver's (compiler/compile.c) and the
// chip model's; emission is called before anything is printed.
#ifndef SILKEN_COMPILER_RULES_RULES_H
#define SILKEN_COMPILER_RULES_RULES_H

#include "compiler/ir/ir.h"
#include "compiler/ir/target.h"

#define RULES_MAX_WIDTH 128                 // of what is a C number
#define RULES_MAX_STATE (UINT64_C(4) << 30) // bytes of registers and counters in a pipe
// Bytes of headers for which there is room before a packet: SK_HEADROOM without a prefix.
#define RULES_MAX_HEADERS 608u

// ---- table_once.c: reports tables that a packet could meet twice
void check_applied_once(struct arena *a, struct diag *d, const struct ir_gress *g);

// ---- attached.c: reports tables with more counters and meters than the chip can address
void check_attached(struct arena *a, struct diag *d, const struct ir_gress *g);

// ---- reset.c
typedef VEC(struct ir_var *) reset_field_vec;
// Adds the variable of a field of the deparser's metadata to 'fields' when only 0 may be assigned
// to it.
void note_reset_field(struct arena *a, reset_field_vec *fields, const char *name, struct ir_var *v);
// Reports what else is assigned to them. Before ids of variables change.
void check_reset_fields(struct arena *a, struct diag *d, const reset_field_vec *fields,
                        struct ir_gress *g);

// ---- emission.c: reports what emission cannot do; true when all is fine
bool emit_check(struct arena *a, struct diag *d, const struct ir_program *program,
                const struct ir_pipeline *p);
// Bytes of headers that a deparser may emit: as many as the program's chip can, if there is room
// for them.
unsigned emit_most_allowed(const struct ir_program *p);

#endif

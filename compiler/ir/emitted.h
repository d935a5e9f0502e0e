// SPDX-License-Identifier: Apache-2.0
//
// emitted: which headers a deparser emits, and how many bytes of them at most (tna-facts 7.5).
#ifndef SILKEN_COMPILER_IR_EMITTED_H
#define SILKEN_COMPILER_IR_EMITTED_H

#include "compiler/ir/ir.h"

typedef VEC(const struct ir_header *) ir_header_vec;
// The headers that the deparser emits, in order. Those that it emits under a condition are left
// out; to 'd', if that is not null, each is an error.
ir_header_vec ir_emits(struct arena *a, const struct ir_gress *g, struct diag *d);
// Bytes that they are at most in one packet.
unsigned ir_most_emitted(struct arena *a, const struct ir_gress *g);
// Whether a state can be reached again from itself.
bool ir_parser_loops(struct arena *a, const struct ir_gress *g);

#endif

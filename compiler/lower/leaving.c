// SPDX-License-Identifier: Apache-2.0
//
// leaving: counters of the bytes that leave (true_egress_accounting).
//
// How long a packet leaves is known after the deparser only, and which cell counts it where the
// program says count(). So the statement is split in two. A pass from IR to IR:
//
//     count c[i]     =>    count c[i]             in the control: the packet, and which cell
//                          count_leaving c        at the end of the deparser: the bytes
#include "compiler/lower/lower_impl.h"

void count_leaving(struct arena *a, struct ir_gress *g) {
    for (size_t i = 0; i < g->counters.n; i++) {
        struct ir_counter *c = g->counters.v[i];
        if (!c->true_egress || c->type == IR_COUNT_PACKETS)
            continue;
        struct ir_stmt *s = ir_stmt_new(a, IR_COUNT_LEAVING, c->at);
        s->counter = c;
        ir_push(a, g->deparser, s);
    }
}

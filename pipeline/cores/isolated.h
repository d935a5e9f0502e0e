// SPDX-License-Identifier: Apache-2.0
//
// isolated: pipes that run independently, in the switch's clock. Part of the inside of a switch.
//
// In a live switch, a packet for another core's pipe arrives when that core polls its ring. Here
// (option 'crossing_ns') the packet arrives a fixed time after it left, so that the work of a pipe
// depends only on the packets and their times, not on which threads run the pipes, nor on which
// thread is ahead. Each pipe is then a core. Packets that have not arrived yet are in lists, two
// for each pair of pipes, which alternate: in a round a pipe appends to one list, while the
// receivers take the packets of the round before from the other. The caller separates rounds
// (sk_core_round).
//
// A pipe's order, at one time: ports with a speed send, packets are generated, packets arrive from
// other pipes (those that left earlier first, then by the pipe they come from), packets are
// received.
#ifndef SILKEN_PIPELINE_CORES_ISOLATED_H
#define SILKEN_PIPELINE_CORES_ISOLATED_H

#include "pipeline/switch/switch_impl.h"

static inline bool switch_is_isolated(const struct sk_switch *sw) {
    return sw->opt.crossing_ns > 0;
}

// To the core of p->egress_port, in p's time.
void isolated_cross(struct sk_core *core, struct sk_packet *p, uint64_t now_ns);

// When the first packet from another pipe arrives that this core knows of; UINT64_MAX: none.
static inline uint64_t isolated_next(const struct sk_core *core) {
    return core->arrivals.first ? core->arrivals.first->enq_tstamp : UINT64_MAX;
}
// Takes that packet in.
void isolated_arrive(struct sk_core *core, uint64_t now_ns);

// Buffers of this core that are free and on their way back to another one.
uint32_t isolated_paid(const struct sk_core *core);
// Whether a packet is on its way between two pipes.
bool isolated_crossing(const struct sk_switch *sw);

#endif

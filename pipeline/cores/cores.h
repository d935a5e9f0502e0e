// SPDX-License-Identifier: Apache-2.0
//
// cores: a switch whose pipes run on several cores. Part of the inside of a switch.
//
// Each core has a struct sk_core: its pipes, its packet buffers, its counts, its clock, and a copy
// of the ports' settings, which it reads for each packet. So the code on a packet's path is the
// same on one core and on four, and takes no lock. Settings, tables, registers and multicast groups
// exist once (struct sk_switch); the state of a pipe belongs to the core that runs the pipe. Only
// one place accesses another core: when the traffic manager enqueues for a port of another core's
// pipe (queue_push), the packet crosses through a ring. What costs there are cache lines that both
// cores write. So a packet whose ingress wished for one port and nothing else crosses with that
// wish, and the other core does what its own packets would meet. Where egress does nothing and the
// port sends, what stands in the ring's slot is all that it needs: it looks at no line of the
// packet and gives the buffer back as it is, through a ring in the other direction.
//
// Otherwise a buffer that crosses belongs to the pool of the receiving core, which returns one of
// its own buffers in its place. So pools need no locks either and keep their size.
#ifndef SILKEN_PIPELINE_CORES_CORES_H
#define SILKEN_PIPELINE_CORES_CORES_H

#include "pipeline/cores/crossing.h"
#include "pipeline/switch/switch_impl.h"

// False with a sentence: 'opt' asks for what cannot be.
bool cores_check(const struct sk_switch_options *opt, char *error, size_t error_size);
// Buffers and rings of a switch whose core structs are there. False when memory is short.
bool cores_join(struct sk_switch *sw);
void cores_part(struct sk_switch *sw);

// To the core of a port that PORT_CROSSES goes a packet of which ingress wished 'w' and nothing
// else. False when the ring is full: then nothing has happened.
static inline bool cores_cross_wished(struct sk_core *core, struct sk_packet *p, uint64_t w) {
    const uint16_t port = SK_WISH_PORT(w);
    p->egress_port = port;
    p->wish = w;
    const unsigned past = w & SK_WISH_BYPASS ? CROSSED_BYPASSES : 0;
    struct crossing *const c = core->to[core->sw->core_of[sk_port_pipe(port)]];
    return crossing_put_noted(c, p, port | CROSSED_STRAIGHT | past);
}

// What cores_arrive() looks at first, which other cores write, is asked for.
void cores_expect(const struct sk_core *core);
// Takes in what came from other cores, which leaves or is enqueued; returns how many packets, and
// in '*now_ns', which is the core's clock, the time that is not before any of them left. Buffers
// paid to this core go into its pool.
unsigned cores_arrive(struct sk_core *core, uint64_t *now_ns);
// Makes visible to other cores what this one has put into the rings; a few buffers are kept back
// where packets 'arrived', as more will follow.
void cores_publish(struct sk_core *core, unsigned arrived);

#endif

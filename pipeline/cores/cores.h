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
// wish, a word in its first line, and the other core does what its own packets would meet; only
// copies and what a watched switch has written about a packet need its second line.
//
// A buffer that crosses then belongs to the pool of the receiving core, which returns one of its
// own buffers through a ring in the other direction. So pools need no locks either and keep their
// size.
#ifndef SILKEN_PIPELINE_CORES_CORES_H
#define SILKEN_PIPELINE_CORES_CORES_H

#include "pipeline/switch/switch_impl.h"

// False with a sentence: 'opt' asks for what cannot be.
bool cores_check(const struct sk_switch_options *opt, char *error, size_t error_size);
// Buffers and rings of a switch whose core structs are there. False when memory is short.
bool cores_join(struct sk_switch *sw);
void cores_part(struct sk_switch *sw);

// Takes in what came from other cores and enqueues it; returns how many packets, and in '*now_ns'
// the time, which is not before any of them left. Buffers paid to this core go into its pool.
unsigned cores_arrive(struct sk_core *core, uint64_t *now_ns);
// Makes visible to other cores what this one has put into the rings.
void cores_publish(struct sk_core *core);

#endif

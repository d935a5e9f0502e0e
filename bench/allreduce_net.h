// SPDX-License-Identifier: Apache-2.0
//
// allreduce_net: four workers in network namespaces and the systems that sum over them: a Silken
// switch, whose ports are shared memory (memif) or the kernel's links, with workers on the kernel's
// sockets (udp) or on packet sockets (af_packet), Gloo's ring, and Open MPI, over TCP on those
// links. All processes share the machine; bench/allreduce/run.sh starts them.
#ifndef SILKEN_BENCH_ALLREDUCE_NET_H
#define SILKEN_BENCH_ALLREDUCE_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/allreduce/reduce.h"

enum { MEMIF, UDP, AF_PACKET, GLOO, OPENMPI, SYSTEMS };
extern const char *const reduce_names[SYSTEMS];
#define REDUCE_SLOTS 512u

struct reduce_net {
    char net[16], folder[2048], programs[2048];
    char why[SYSTEMS][512]; // what went wrong with it, at last
};

// Without namespaces false, and 'why' has a sentence; nothing is left then.
bool reduce_net_up(struct reduce_net *r, const char *folder, char *why, size_t why_size);
void reduce_net_down(struct reduce_net *r);
// One run of a system, which is started anew. 'small': REDUCE_SMALL or NULL.
bool reduce_net_run(struct reduce_net *r, int system, const char *small);
// Of the last run, the times at which each rank began and ended its first 'n' sums that are timed:
// start[rank * n + i], end[...]. False: they are not all there.
bool reduce_net_times(struct reduce_net *r, int system, size_t n, uint64_t *start, uint64_t *end);

#endif

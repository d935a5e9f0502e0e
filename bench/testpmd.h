// SPDX-License-Identifier: Apache-2.0
//
// testpmd: DPDK's own forwarder, swapping the MAC addresses of what goes round a ring device, as
// loop.h's frames do. It is a process of its own on the same processor; it waits while others are
// measured.
#ifndef SILKEN_BENCH_TESTPMD_H
#define SILKEN_BENCH_TESTPMD_H

#include <stddef.h>

struct testpmd;
// Null after a sentence in 'why'.
struct testpmd *testpmd_new(int cpu, char *why, size_t why_size);
// Forwards for about 'seconds' of wall time. ns of processor time of its forwarding thread per
// packet; 0 when it does not answer.
double testpmd_trial(struct testpmd *t, double seconds);
void testpmd_free(struct testpmd *t); // null allowed

#endif

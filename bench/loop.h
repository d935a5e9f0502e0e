// SPDX-License-Identifier: Apache-2.0
//
// loop: Silken forwarding what goes round a ring: one port on a net_ring device whose sent packets
// come back as received ones. Each frame's destination is one of LOOP_ENTRIES entries of
// bench/forward.p4, and each entry sends to that port.
#ifndef SILKEN_BENCH_LOOP_H
#define SILKEN_BENCH_LOOP_H

#include "pipeline/ports/ports.h"

#define LOOP_ENTRIES 1000u
// On their way round: 31 bursts of 32, as testpmd's tx_first makes them; a ring holds 1023.
#define LOOP_FRAMES 992u
#define LOOP_BYTES  64u

// Starts DPDK for this process, on processor 'cpu'. Ends the process with a sentence on failure.
struct loop *loop_new(int cpu);
void loop_free(struct loop *l);
struct sk_switch *loop_switch(struct loop *l);
uint64_t loop_work(void *aux, uint64_t times); // units are packets; one time is a round of all
void loop_address(unsigned i, uint8_t mac[6]); // of entry i
// bench/forward.p4, compiled and loaded.
struct sk_program *loop_program(void);
// All entries, with that port, in one pipe, or in all with -1.
void loop_add_entries(struct sk_switch *sw, int pipe, uint16_t port);
// Writes the i-th frame, of LOOP_BYTES, of those that go round.
void loop_frame(unsigned i, uint8_t *frame);
// Puts LOOP_FRAMES frames into a ring device of that name, with buffers from the pool.
struct rte_mempool;
bool loop_fill(const char *device, struct rte_mempool *pool);

#endif

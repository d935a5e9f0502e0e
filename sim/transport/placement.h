// SPDX-License-Identifier: Apache-2.0
//
// placement: who sends what to whom.
//
// Servers: a tensor of more than 'cut' bytes is cut over all of them, others go as a whole to a
// random one, the same for all workers (5.2.1 of the DLCP paper; MXNet's key-value store does so).
//
// Ring: worker i sends to i + 1. A tensor is cut into as many chunks as there are workers; in step
// k of 2 (n - 1) worker i sends chunk i - k: first sums that grow, then whole ones.
#ifndef SILKEN_SIM_TRANSPORT_PLACEMENT_H
#define SILKEN_SIM_TRANSPORT_PLACEMENT_H

#include <stddef.h>
#include <stdint.h>

// Part p of n of something: from 'from' to 'to'.
static inline uint64_t placement_cut(uint64_t whole, uint32_t p, uint32_t n) {
    return whole * p / n;
}

struct placement {
    uint32_t server; // of a tensor that is whole
    uint32_t parts;  // 1, or as many as servers
};
// 'draw': random bits.
struct placement placement_of(uint64_t bytes, uint64_t cut, uint32_t servers, uint64_t draw);

static inline uint32_t placement_ring_steps(uint32_t n) {
    return 2 * (n - 1);
}
// The chunk that worker i sends in step k.
static inline uint32_t placement_ring_chunk(uint32_t i, uint32_t k, uint32_t n) {
    return (i + 2 * n - k % n) % n;
}

#endif

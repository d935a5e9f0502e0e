// SPDX-License-Identifier: Apache-2.0
//
// rng: repeatable random numbers for the demo: the initial weights and the order of the images.
//
// splitmix64: a counter run through a mixing function. The state is one number, so a generator for
// any (seed, purpose, epoch) is made by mixing them, and every process that knows the seed draws
// the same numbers on every machine.
#ifndef SILKEN_CLI_DEMO_RNG_H
#define SILKEN_CLI_DEMO_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline uint64_t rng_next(struct rng *r) {
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

// Streams of the same seed are independent of each other.
static inline struct rng rng_stream(uint64_t seed, uint64_t stream) {
    struct rng r = {seed};

    r.state = rng_next(&r) ^ stream;
    r.state = rng_next(&r);
    return r;
}

// In [0, 1), 24 bits: every value is a float.
static inline float rng_unit(struct rng *r) {
    return (float)(rng_next(r) >> 40) * 0x1p-24f;
}

// In [0, bound), bound > 0. The bias of the remainder is below bound / 2^64.
static inline uint64_t rng_below(struct rng *r, uint64_t bound) {
    return rng_next(r) % bound;
}

#endif

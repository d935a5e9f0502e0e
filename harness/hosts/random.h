// SPDX-License-Identifier: Apache-2.0
//
// random.h: repeatable random numbers for tests. The same seed gives the same sequence on every
// machine (xorshift64*, seeded through one splitmix64 step so that small seeds differ at once).
// A generator is a value owned by one test; there is no shared state.
#ifndef SILKEN_HARNESS_HOSTS_RANDOM_H
#define SILKEN_HARNESS_HOSTS_RANDOM_H

#include <stdint.h>

struct sk_random {
    uint64_t state;
};

static inline struct sk_random sk_random_seeded(uint64_t seed) {
    uint64_t z = seed + UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (struct sk_random){z ? z : 1};
}

static inline uint64_t sk_random_next(struct sk_random *r) {
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return r->state * UINT64_C(0x2545f4914f6cdd1d);
}

// A number in [0, bound); `bound` must not be 0.
static inline uint64_t sk_random_below(struct sk_random *r, uint64_t bound) {
    return (sk_random_next(r) >> 11) % bound;
}

// True with probability `p` in [0, 1].
static inline int sk_random_chance(struct sk_random *r, double p) {
    return (double)(sk_random_next(r) >> 11) * 0x1p-53 < p;
}

#endif

// SPDX-License-Identifier: Apache-2.0
//
// random: reproducible random numbers: splitmix64.
#ifndef SILKEN_HARNESS_INTERP_RANDOM_H
#define SILKEN_HARNESS_INTERP_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

static inline uint64_t random_next(struct random *r) {
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
// 0 .. n - 1; 0 when n is 0.
static inline unsigned random_below(struct random *r, unsigned n) {
    return n ? (unsigned)(random_next(r) >> 16) % n : 0;
}
static inline bool random_percent(struct random *r, unsigned p) {
    return random_below(r, 100) < p;
}
// A number of 'bits' bits (at most 64) of the kinds that find errors: small, all ones, one bit,
// sparse, any.
static inline uint64_t random_bits(struct random *r, unsigned bits) {
    uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    switch (random_below(r, 6)) {
    case 0:
        return random_below(r, 4) & mask;
    case 1:
        return (mask - random_below(r, 3)) & mask;
    case 2:
        return (UINT64_C(1) << random_below(r, bits >= 64 ? 64 : bits)) & mask;
    case 3:
        return random_next(r) & random_next(r) & mask;
    default:
        return random_next(r) & mask;
    }
}

#endif

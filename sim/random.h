// SPDX-License-Identifier: Apache-2.0
//
// random: the simulator's random numbers, all of them from one seed.
//
// A generator is made for a seed and a name ("link h0-s0", "values of job 1"). So each thing in the
// network has a sequence of its own, and one more draw in one of them, or one more link, leaves all
// others as they were: a failing seed stays a failing seed while a scenario is cut down.
//
// xoshiro256** of Blackman and Vigna, seeded by splitmix64; 64-bit FNV-1a over the name.
#ifndef SILKEN_SIM_RANDOM_H
#define SILKEN_SIM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct sim_random {
    uint64_t s[4];
};

static inline uint64_t sim_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline struct sim_random sim_random_of(uint64_t seed, const char *name) {
    struct sim_random r;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    uint64_t z = sim_mix(seed + UINT64_C(0x9e3779b97f4a7c15)) ^ h;
    for (int i = 0; i < 4; i++)
        r.s[i] = sim_mix(z += UINT64_C(0x9e3779b97f4a7c15));
    return r;
}

static inline uint64_t sim_random_next(struct sim_random *r) {
    uint64_t *s = r->s, x = s[1] * 5, out = ((x << 7) | (x >> 57)) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return out;
}

// 0 <= x < 1
static inline double sim_random_real(struct sim_random *r) {
    return (double)(sim_random_next(r) >> 11) * 0x1p-53;
}

// 0 to bound - 1; bound is not 0 and small against 2^53
static inline uint64_t sim_random_below(struct sim_random *r, uint64_t bound) {
    return (uint64_t)(sim_random_real(r) * (double)bound);
}

static inline bool sim_random_chance(struct sim_random *r, double p) {
    return p > 0 && sim_random_real(r) < p;
}

#endif

// SPDX-License-Identifier: Apache-2.0
//
// heat.h: how often each parameter of a model was updated, and which are hot (Libra 3.3 and 5.3).
//
//     struct libra_heat heat = {0};
//     libra_heat_add(&heat, key, 1);               each update of a sample of the training data
//     struct libra_ranked *all = libra_heat_rank(&heat);
//     size_t k = libra_heat_hot(all, heat.map.n, &choice);      all[0..k) are hot
//
// Ranks are by count, falling; among equals the lower key comes first, so the same counts always
// give the same ranks. One thread at a time.
#ifndef SILKEN_HOSTS_LIBRA_HEAT_H
#define SILKEN_HOSTS_LIBRA_HEAT_H

#include <stdbool.h>

#include "hosts/libra/key_map.h"

struct libra_heat {
    struct libra_key_map map; // key -> updates
    uint64_t total;           // of all updates
};
struct libra_ranked {
    uint64_t key, count;
};

// How many are hot (principle 1).
struct libra_choice {
    double portion; // p: the smallest k whose updates are at least this portion of all;
                    // above 0, at most 1
    double memory;  // c: of the switch's 20 MB, at 4 bytes a parameter; above 0, at most 1
    bool stop_at_one_hundredth; // 5.3: stop where 1,000 more add less than 1 % of all updates
};
#define LIBRA_SWITCH_BYTES    20000000u // "20MB on-chip memory"
#define LIBRA_PARAMETER_BYTES 4u

void libra_heat_add(struct libra_heat *heat, uint64_t key, uint64_t updates);
// All heat->map.n parameters by rank; malloc'ed, the caller's (null if there are none).
struct libra_ranked *libra_heat_rank(const struct libra_heat *heat);
size_t libra_heat_hot(const struct libra_ranked *ranked, size_t n,
                      const struct libra_choice *choice);
void libra_heat_clear(struct libra_heat *heat);

#endif

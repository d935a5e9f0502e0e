// SPDX-License-Identifier: Apache-2.0
//
// runs: a scenario with many seeds, in several processes.
//
// Seeds are dealt out in turn, and what comes of each is a function of the scenario and the seed
// alone: with one process or many the results are the same. A run that dies takes its process
// along, counts as a failed seed, and the rest of that process's seeds go to a new one.
#ifndef SILKEN_SIM_RUNS_H
#define SILKEN_SIM_RUNS_H

#include "sim/sim.h"

struct runs {
    const struct scenario *scenario;
    const char *path; // for messages
    struct sk_program *const *programs;
    uint64_t first, last; // seeds
    unsigned processes;
    FILE *messages;  // what is wrong with seeds
    json_t *results; // an array to add to, in the order of seeds, or null
    // what came of it
    uint64_t sums, failed, violated;
    uint64_t events;
    double virtual_us;
};

// Runs one seed on this thread. 'told', if not null, becomes a text about a violation (malloc'ed),
// or null. Null after filling 'err': the scenario cannot be built.
json_t *run_one(const struct scenario *sc, const char *path, struct sk_program *const *programs,
                uint64_t seed, FILE *live, char **told, struct sk_error *err);
// 0, or -1 after filling 'err'. After ten seeds that violate an invariant it stops.
int run_all(struct runs *r, struct sk_error *err);

#endif

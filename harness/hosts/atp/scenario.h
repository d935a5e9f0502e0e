// SPDX-License-Identifier: Apache-2.0
//
// scenario.h: random ATP jobs, one set per seed, in the net of net.h, and whether they come out
// right.
//
// A seed decides on everything: racks, flows of one or two jobs with their workers, tensors,
// aggregators (few, so that flows are in each other's way), windows, numbers near their wrap, and
// how badly the links behave; and whether a worker dies and another takes its place somewhere else.
// Checked are
//
//   - every element of every tensor on every worker: the exact sum of integers; for floats, the
//     same bits on all workers, within half a unit of the scaling factor for each worker and the
//     rounding to a float; so a contribution that is missing or counted twice is seen, as values
//     are larger;
//   - that nothing is written behind a tensor's end;
//   - that no aggregator has an owner when all is quiet, if the links keep the order and repeat
//     nothing; else, after the time-out and one parameter packet for each.
//
// Concurrency: scenario_run() has no state of its own.
#ifndef SILKEN_HARNESS_HOSTS_ATP_SCENARIO_H
#define SILKEN_HARNESS_HOSTS_ATP_SCENARIO_H

#include "harness/hosts/atp/net.h"

struct scenario_limits {
    unsigned max_racks; // 1: one level
    bool in_order;      // links that keep the order and repeat nothing
    bool respawn;       // a worker dies, and another takes its place
    bool overflows;     // sums that do not fit 32 bits
};

// What has happened, over all scenarios of a run.
struct scenario_counts {
    struct net_traffic traffic;
    uint64_t fragments, from_all, from_one, retransmissions, timeouts, rehashed, overflows,
        repeated;
    uint64_t other_index, left_owned, respawned;
};

// Runs scenario 'seed'. Returns true if all is right; else says in 'fault' what is not. Adds to
// 'counts'.
bool scenario_run(const struct sk_program *program, uint64_t seed,
                  const struct scenario_limits *limits, struct scenario_counts *counts,
                  char fault[200]);

#endif

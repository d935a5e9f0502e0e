// SPDX-License-Identifier: Apache-2.0
//
// schedule.h: one random all-reduce scenario per seed, and whether its results are right.
//
// A seed decides on everything: number of workers, packet size, pool, tensors of both types with
// odd lengths and odd values, submission times, and how badly the links behave. The scenario then
// runs in netsim against any switch under test, and every element on every worker is compared
//
//   - with the bits that the protocol defines: the scalar quantisation of every worker's block
// under the global exponent, added modulo 2^32, and converted back;
//   - for floats, with the exact sum, within the bound of SwitchML's theorem 1;
//   - where a worker gets no sums, with what was there before;
//
// and nothing may be written behind a tensor's end. Scenarios are small (some hundred packets), so
// that ten thousand of them fit into a minute.
//
// Concurrency: schedule_run() has no state of its own.
#ifndef SILKEN_HARNESS_HOSTS_SWITCHML_SCHEDULE_H
#define SILKEN_HARNESS_HOSTS_SWITCHML_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/hosts/netsim.h"

struct schedule_limits {
    unsigned max_workers;  // 1..SUT_MAX_WORKERS; large ones are rare
    uint32_t max_slots;    // pool_base + pool_size stay within this
    const unsigned *sizes; // the packet sizes k to choose from
    size_t sizes_count;
    double worst_loss; // the three probabilities are chosen below these, and are often 0
    double worst_duplicate;
    double worst_reorder;
    bool collectives; // some tensors are not for all (enum swml_reach)
    bool halves;      // flows of 16-bit floats: tensors of f32 and f16 (hosts/core/halves.h)
};

// k = 64 and 256, up to 32 workers and 64 slots, loss to 30%.
struct schedule_limits schedule_default_limits(void);

struct schedule_result {
    unsigned workers, k, tensors;
    uint32_t pool_size;
    struct netsim_traffic traffic;
    uint64_t retransmissions;
    char fault[160]; // what is wrong, empty if nothing is
};

// Runs scenario 'seed'. Returns 0 if all results are right, 1 if not ('result->fault' says what),
// -1 if the switch refused the job.
int schedule_run(const struct switch_under_test *sut, uint64_t seed,
                 const struct schedule_limits *limits, struct schedule_result *result);

// Runs the scenarios of seeds 'first'..'last' one after the other and adds their counts up in
// '*total'. Stops at the first that does not come out right: returns its seed, with its parameters
// and the fault in '*total'; 0 when all did.
uint64_t schedule_run_range(const struct switch_under_test *sut, uint64_t first, uint64_t last,
                            const struct schedule_limits *limits, struct schedule_result *total);

// One line about how much happened in 'count' scenarios, for the log.
void schedule_print(const struct schedule_result *total, uint64_t count);

#endif

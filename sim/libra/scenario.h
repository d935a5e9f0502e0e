// SPDX-License-Identifier: Apache-2.0
//
// scenario: jobs of Libra in a scenario file, and the controller (docs/simulation.md).
#ifndef SILKEN_SIM_LIBRA_SCENARIO_H
#define SILKEN_SIM_LIBRA_SCENARIO_H

#include "sim/scenario.h"

struct scn_libra {
    const char *name;
    uint32_t *workers; // stations, or null:
    size_t n_workers;
    struct sim_range worker_count; // so many of the hosts that are not servers, the first ones
    uint32_t *servers;
    size_t n_servers;
    uint32_t at;        // the switch; SCN_NONE: the first worker's
    uint32_t hot;       // parameters; 0: servers have them all, and the switch none
    uint32_t rate_mbps; // that each worker may send to the switch; 0: no limit
    // work
    double parameters, skew; // n and s of Zipf's law
    uint32_t draws;          // features of a batch, doubles among them
    struct sim_range batches;
    uint32_t outstanding;
    double compute_ns, jitter; // between batches
    bool floats;               // values; else integers, whose sums are exact
    bool pulls;                // of the batch's keys, after its push
    bool barrier;              // before that: the job is synchronous
    bool collects;             // hot keys are pulled from servers, which collect them
    struct sim_range start_ms;
    // hosts
    struct sim_range window, window_max, rto_initial_us, rto_min_us, rto_max_us, hard_limit_ms;
};

struct scn_controller {
    uint32_t from, standby; // switches
    double heartbeat_ns, checkpoint_ns, delay_ns, request_ns, learn_ns;
    uint32_t misses, lost;
    bool lossless;
};

#endif

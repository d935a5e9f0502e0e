// SPDX-License-Identifier: Apache-2.0
//
// netsim.h: workers and one switch in virtual time, over links that lose, repeat and reorder.
//
// A simulation has n SwitchML workers, each on a link to port i of a switch under test. All
// randomness comes from one seed, so a run can be repeated exactly. The caller submits tensors for
// given times, runs, and looks at the tensors. Each direction of all links has the same
// properties (struct net_link).
//
// One promise of a real path is kept, because algorithm 3 rests on it: towards the switch, the
// frames of one worker for one slot arrive in the order in which they were sent (see "what the
// network must keep" in hosts/switchml/worker.h). Frames for different slots overtake each other at
// will.
//
// Concurrency: a simulation belongs to one thread. Memory exhaustion ends the process.
#ifndef SILKEN_HARNESS_HOSTS_NETSIM_H
#define SILKEN_HARNESS_HOSTS_NETSIM_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/hosts/switch_under_test.h"
#include "harness/net/events.h"
#include "hosts/switchml/worker.h"

struct netsim_options {
    uint64_t seed;
    struct sut_job job;        // who takes part; netsim_default_job() makes one
    struct net_link up, down;  // towards the switch, towards the workers
    struct swml_config worker; // timeouts and limits; the other members come from `job`
};

// Counts of frames on the links since the start.
struct netsim_traffic {
    uint64_t up_sent, up_lost, up_duplicated;
    uint64_t down_sent, down_lost, down_duplicated;
    uint64_t up_bytes, down_bytes; // of the frames sent
    uint64_t events;
};

enum netsim_end {
    NETSIM_DONE,   // all submitted tensors are complete on all workers
    NETSIM_FAILED, // a worker has reached its hard limit
};

struct netsim;

// A job of 'workers' workers with made-up addresses and job number 5.
struct sut_job netsim_default_job(unsigned workers, unsigned k, uint32_t pool_base,
                                  uint32_t pool_size);

// Timeouts fit for links of some microseconds; no stall warning; a hard limit of 100 virtual
// seconds.
struct swml_config netsim_default_worker(void);

// Makes a simulation at time 0 on a switch which is reset for the job, and which the caller keeps.
// Returns NULL when the switch refuses the job.
struct netsim *netsim_new(const struct netsim_options *options,
                          const struct switch_under_test *sut);

// Frees it. NULL is accepted.
void netsim_free(struct netsim *sim);

// Has 'worker' submit a tensor at time 'at'. The tensors of one worker are submitted in the order
// of these calls if their times do not decrease. The cookie is netsim's own.
void netsim_submit(struct netsim *sim, unsigned worker, const struct swml_tensor *tensor,
                   uint64_t at);

// Runs until all is done, or somebody fails.
enum netsim_end netsim_run(struct netsim *sim);

// Virtual time, links' counters, and one worker, for a look inside.
uint64_t netsim_now(const struct netsim *sim);
struct netsim_traffic netsim_traffic(const struct netsim *sim);
struct swml_worker *netsim_worker(struct netsim *sim, unsigned worker);

#endif

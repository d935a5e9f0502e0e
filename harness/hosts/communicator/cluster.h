// SPDX-License-Identifier: Apache-2.0
//
// cluster.h: communicators and a model switch in one process, for tests in real time.
//
// Each worker has a communicator on a ring, or on one for each of its lanes; the other ends of the
// rings are ports of a switch loop with the model of algorithm 3, in a thread of its own.
//
// Concurrency: cluster_start() and cluster_stop() are for one thread; each communicator may be used
// as hosts/include/silken/allreduce.h allows. Failures to set up end the process.
#ifndef SILKEN_HARNESS_HOSTS_COMMUNICATOR_CLUSTER_H
#define SILKEN_HARNESS_HOSTS_COMMUNICATOR_CLUSTER_H

#include <pthread.h>

#include "harness/hosts/communicator/switch_loop.h"
#include "silken/allreduce.h"
#include "hosts/transport/transport.h"

struct cluster {
    unsigned workers, lanes;
    struct silken_comm *comm[SUT_MAX_WORKERS];
    struct switch_under_test sut[SWITCH_LOOP_LANES];
    struct switch_loop loop;
    pthread_t thread;
};

// 'config' is what the communicators have in common, with the number of lanes; rank, addresses,
// transports and the description of lanes are filled in.
void cluster_start(struct cluster *c, const struct silken_config *config,
                   const struct sk_faults *faults);

// Closes what is open of the communicators, and the switch.
void cluster_stop(struct cluster *c);

// Runs |work(context, rank)| in one thread per worker and waits for all.
void cluster_run(struct cluster *c, void (*work)(void *context, unsigned rank), void *context);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// switch_loop.h: a switch under test in real time, on transports.
//
// The loop receives from one transport per port, delivers to the switch, and sends what it emits.
// Where workers have several lanes, each lane has a switch: they have no slot in common.
// Used by tests of everything that netsim cannot reach: transports, threads, processes.
//
// Concurrency: switch_loop_run() occupies its thread until another one calls switch_loop_stop().
// The transports and the switch belong to it meanwhile.
#ifndef SILKEN_HARNESS_HOSTS_COMMUNICATOR_SWITCH_LOOP_H
#define SILKEN_HARNESS_HOSTS_COMMUNICATOR_SWITCH_LOOP_H

#include <stdatomic.h>

#include "harness/hosts/switch_under_test.h"
#include "hosts/transport/transport.h"

#define SWITCH_LOOP_LANES 4

struct switch_loop {
    const struct switch_under_test *sut;                            // one for each lane
    unsigned lanes;                                                 // 0 is as 1
    unsigned ports;                                                 // of each lane
    struct sk_transport *port[SWITCH_LOOP_LANES * SUT_MAX_WORKERS]; // lane by lane
    atomic_int stop;
};

// Runs until stopped. What the way out has no room for is lost.
void switch_loop_run(struct switch_loop *loop);

// Ends a loop, from any thread or a signal handler.
void switch_loop_stop(struct switch_loop *loop);

#endif

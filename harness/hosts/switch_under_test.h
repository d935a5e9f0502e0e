// SPDX-License-Identifier: Apache-2.0
//
// switch_under_test.h: the switch as the host tests see it.
//
// The tests of the worker run against any switch that can be told about a job and then turns one
// frame into some frames: the small model in model_switch.h, or a compiled P4 program with the same
// four functions. Ports are numbered 0..workers-1, worker i is on port i; an implementation
// maps them to its own. Time is virtual, in nanoseconds, and never goes back between two resets.
//
// Concurrency: a switch belongs to one thread at a time.
#ifndef SILKEN_HARNESS_HOSTS_SWITCH_UNDER_TEST_H
#define SILKEN_HARNESS_HOSTS_SWITCH_UNDER_TEST_H

#include <stddef.h>
#include <stdint.h>

#include "hosts/switchml/frame.h"

#define SUT_MAX_WORKERS 32

// What a control plane tells a switch about a job.
struct sut_job {
    unsigned workers; // 1..SUT_MAX_WORKERS
    uint32_t pool_base, pool_size;
    struct swml_flow flow[SUT_MAX_WORKERS]; // by worker; all with the same k, job and fabric
};

// Called by a switch for each frame that leaves it. The frame is borrowed until the call returns.
typedef void sut_emit(void *context, unsigned port, const uint8_t *frame, size_t len);

struct switch_under_test {
    const char *name;
    void *state;

    // Forgets everything and makes the switch ready for this job alone, with a clear pool. Returns
    // 0, or -1 when the switch cannot serve such a job (say, its k).
    int (*reset)(void *state, const struct sut_job *job);

    // A frame arrives at a port. Calls 'emit' for every frame that leaves, before it returns.
    void (*deliver)(void *state, unsigned port, const uint8_t *frame, size_t len, uint64_t now,
                    sut_emit *emit, void *context);

    // Frees 'state'.
    void (*free)(void *state);
};

#endif

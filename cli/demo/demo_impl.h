// SPDX-License-Identifier: Apache-2.0
//
// demo_impl: the demo's one struct, for demo.c and racks.c.
//
// Functions that return a status return 0, or the exit status with which the demo ends, having said
// why.
#ifndef SILKEN_CLI_DEMO_DEMO_IMPL_H
#define SILKEN_CLI_DEMO_DEMO_IMPL_H

#include "cli/demo/fabric.h"
#include "cli/demo/options.h"
#include "cli/demo/shared.h"
#include "cli/spaces.h"

#define DEMO_MAX_JOBS 2

struct station_argument {
    struct demo *demo;
    struct demo_job *job;
    unsigned number; // of a worker or of a server
};

// A training whose gradients are summed by one protocol.
struct demo_job {
    const char *title;  // for results, if there are several jobs; else null
    const char *prefix; // of its processes' names
    struct board *board;
    struct fabric fabric;
    struct child *server[DEMO_MAX_SERVERS], *worker[DEMO_MAX_WORKERS];
    struct station_argument server_argument[DEMO_MAX_SERVERS], argument[DEMO_MAX_WORKERS];
    struct { // when anything moved last, and what it had come to
        uint64_t ns, steps;
    } progress;
};

struct demo {
    struct spaces spaces;
    struct demo_options o;
    char *program; // the path of o.program
    struct report report;
    struct supervisor supervisor;
    struct dataset train, test;
    struct train_plan plan;
    struct child *compiler, *reference, *rack_switch[DEMO_MAX_RACKS];
    struct demo_job job[DEMO_MAX_JOBS]; // the reference is on the first one's board
    unsigned jobs;
    uint64_t began, phase_began; // ns
};

// Say what has gone wrong; return a status.
__attribute__((format(printf, 2, 3))) int demo_fail(struct demo *d, const char *format, ...);
int demo_fail_child(struct demo *d, const struct child *c);
int demo_cannot_start(struct demo *d, const char *error);

// One tick of waiting. Returns a status.
int demo_tick(struct demo *d);

// With --links veth makes the namespaces and the links between them. Returns a status.
int demo_make_spaces(struct demo *d);
// The number of a station's: of a worker, or of a server after the workers.
unsigned demo_space(const struct demo *d, const struct demo_job *job, unsigned station);

// Starts the racks' switches, or the parameter servers, and waits until all are ready. Return a
// status.
int demo_start_switches(struct demo *d);
int demo_start_servers(struct demo *d);

// A switch that has ended, or null.
const struct child *demo_ended_switch(const struct demo *d);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// worker: `silken worker`, for worker.c and worker_options.c.
#ifndef SILKEN_CLI_WORKER_H
#define SILKEN_CLI_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/job_file.h"
#include "silken/service.h"

struct work {
    struct silken_config config;
    struct silken_lane lane[SILKEN_MAX_LANES];
    struct silken_comm *comm;
    uint32_t shared;                  // lanes of the one device; 0 or 1: it has one
    bool integers, halves;            // i32, f16; else f32
    bool rdma;                        // devices are of RoCEv2
    char roce[SILKEN_MAX_LANES][512]; // then their strings
    uint64_t elements, rounds, seed;
    void *tensor;
    struct silken_service service; // controller null: the options say everything
    bool given;                    // something was said that the service gives
    int only_switchml;             // an option of SwitchML's that was given, or 0
    const char *path;              // of the job file
    struct job_file job;
    struct silken_first first[SILKEN_MAX_FLOWS];
    uint64_t firsts; // which flows have one
};

// Fills '*w' from the command line. Returns 0, an exit status after the error was said, or -1 when
// the usage is asked for.
int work_take_options(struct work *w, int argc, char **argv);

// The text of --help.
extern const char work_usage[];

#endif

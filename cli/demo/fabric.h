// SPDX-License-Identifier: Apache-2.0
//
// fabric: the rack of the demo, a switch and its workers' links.
//
// Everything is derived from a few numbers: worker w is attached to device port w through a memif
// socket in the demo's folder, has the addresses of fabric_..., and is worker w of job 1. This file
// writes the switch's configuration and opens the workers' ends, so that both agree.
#ifndef SILKEN_CLI_DEMO_FABRIC_H
#define SILKEN_CLI_DEMO_FABRIC_H

#include "cli/demo/worker_proc.h"

struct fabric {
    unsigned workers;
    unsigned elements; // in a packet
    double loss;       // chance of a packet to be dropped, in each direction
    uint64_t seed;     // of the loss
    const char *program;
    const char *folder;
};

// Writes the switch's configuration to 'path'. Returns 0, or -1 with a sentence in 'error'.
int fabric_write_config(const struct fabric *f, const char *path, char *error, size_t error_size);

// True once the switch that runs with this configuration takes packets.
bool fabric_ready(const struct fabric *f);

// Opens the end of worker 'rank' in this process. Returns 0, or -1 with a sentence in 'error'.
int fabric_open(const struct fabric *f, unsigned rank, struct reducer *r, char *error,
                size_t error_size);
void fabric_close(struct reducer *r);

#endif

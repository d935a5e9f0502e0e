// SPDX-License-Identifier: Apache-2.0
//
// fabric: the rack of the demo, a switch and its workers' links.
//
// Everything is derived from a worker's number and a lane's, in one place, so that both sides agree:
// lane l of worker w is attached to the switch's device port w * lanes + l + 1 by shared memory
// (DPDK's memif), whose socket is in the demo's folder; it has its own MAC and IP address, and is
// part of number w of the only job. fabric.c is the workers' side, fabric_config.c writes what the
// switch has to know.
#ifndef SILKEN_CLI_DEMO_FABRIC_H
#define SILKEN_CLI_DEMO_FABRIC_H

#include "cli/demo/worker_proc.h"

struct fabric {
    unsigned workers;
    unsigned lanes;    // of each worker; at most FABRIC_PORTS links in all
    unsigned elements; // in a packet
    double loss;       // chance of a packet to be dropped at the switch's ports, in each direction
    uint64_t seed;     // of the loss
    const char *program;
    const char *folder;
};

#define FABRIC_JOB   1
#define FABRIC_PORTS 63 // of the first pipe, without port 0
// Slots of the job, that is packets of a worker in flight. A gradient is 199 packets of 256
// elements.
#define FABRIC_POOL       64
#define FABRIC_UDP_PORT   0xbee0 // of everybody
#define FABRIC_SWITCH_MAC "02:00:00:00:00:fe"
#define FABRIC_SWITCH_IP  "10.0.0.254"

// A link's addresses as text. Links are numbered worker by worker, and in each lane by lane.
struct fabric_address {
    unsigned rank, lane, port;
    char mac[18], ip[16], socket[256];
};
struct fabric_address fabric_address(const struct fabric *f, unsigned link);

// Writes the switch's configuration to 'path'. Returns 0, or -1 with a sentence in 'error'.
int fabric_write_config(const struct fabric *f, const char *path, char *error, size_t error_size);

// True once the switch that runs with this configuration has all its ports.
bool fabric_ready(const struct fabric *f);

// Opens the end of worker 'rank' in this process. Returns 0, or -1 with a sentence in 'error'.
int fabric_open(const struct fabric *f, unsigned rank, struct reducer *r, char *error,
                size_t error_size);
void fabric_close(struct reducer *r);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// fabric: the racks of the demo, with a switch each, and the links of workers and servers.
//
// Everything is derived from a link's number in one place, so that both sides agree. A station, a
// worker or a parameter server, has a link for each lane. Links are numbered station by station,
// the workers' first, and within a station lane by lane. Link i is attached to device port
// first_port + i of its rack's switch by shared memory (DPDK's memif), whose socket is in the
// demo's folder, or by a veth pair between network namespaces (spaces.h); it has its own MAC and IP
// address.
//
// Workers are spread over the racks in order; servers are in the last rack. Its switch has a link
// to each other one, at port FABRIC_PORTS - rack of both. With SwitchML the racks' switches are a
// tree of 'levels' levels, of which that one is the top (fabric_above()): partial sums go up it.
//
// Two jobs may share one switch with p4/ina (--protocol both): SwitchML's has the first pipe's
// ports, and ATP's those of the second, where ATP's aggregators are.
//
// fabric.c is the stations' side, fabric_config.c writes what a switch has to know.
#ifndef SILKEN_CLI_DEMO_FABRIC_H
#define SILKEN_CLI_DEMO_FABRIC_H

#include "cli/demo/worker_proc.h"
#include "silken/allreduce.h"
#include "silken/server.h"

struct fabric {
    enum silken_protocol protocol;
    bool shared;         // with a job of the other protocol
    unsigned first_port; // of the job's links: 1, or 129 of ATP on a shared switch
    unsigned workers;
    unsigned servers; // of ATP, else 0
    unsigned racks;
    unsigned levels;   // of their switches; more than two with SwitchML only
    unsigned lanes;    // of each station; at most FABRIC_PORTS links in all
    unsigned elements; // in a packet
    bool f16;          // the switch adds 16-bit floats
    bool rdma;         // by RoCEv2: p4/switchml/with_roce.p4
    bool veth;         // the links; else memif
    double loss;       // chance of a packet to be dropped at the switches' ports, in each direction
    uint64_t seed;     // of the loss
    const char *program;
    const char *folder;
};

#define FABRIC_JOB         1
#define FABRIC_PORTS       63 // of a pipe, without the first one
#define FABRIC_SECOND_PIPE 129
// Slots of the job of SwitchML, that is packets of a worker in flight. A gradient is 199 packets of
// 256 elements.
#define FABRIC_POOL     64
#define FABRIC_UDP_PORT 0xbee0 // of everybody
// By RoCEv2: queue pairs of a worker, which share the pool; a message is as many packets as one has
// slots. The switch's of a link are 64 times its replication id.
#define FABRIC_PAIRS      8
#define FABRIC_ROCE_PORT  4791
#define FABRIC_QUEUE_PAIR 0x100 // the workers' first one
#define FABRIC_RKEY       0x53494c4bu

// A link's addresses as text.
struct fabric_address {
    unsigned station, lane, rack, port;
    bool server; // else a worker
    char name[48], mac[18], ip[16], socket[256];
    char switch_end[16], station_end[16]; // interfaces of a veth pair
};
struct fabric_address fabric_address(const struct fabric *f, unsigned link);
unsigned fabric_links(const struct fabric *f);
unsigned fabric_rack_of(const struct fabric *f, unsigned worker);
// The rack whose switch is above that of another one, not the last. Each level has one rack, but
// the lowest, which has all others.
unsigned fabric_above(const struct fabric *f, unsigned rack);

// The address of the group of all workers' links of this lane, for parameters.
struct fabric_group {
    char mac[18], ip[16];
};
struct fabric_group fabric_group(unsigned lane);
// The address of a rack's switch, which workers of SwitchML send to, and where sessions of jobs are
// begun.
struct fabric_group fabric_switch(unsigned rack);

// The socket of the link between a rack and the one above.
void fabric_uplink(const struct fabric *f, unsigned rack, char socket[256]);
// The interface of either end of that link, as a veth pair.
void fabric_uplink_end(unsigned rack, char name[16]);

// Writes the configuration of a rack's switch to 'path', for all 'jobs' on it. Returns 0, or -1
// with a sentence in 'error'.
int fabric_write_config(const struct fabric *const *f, unsigned jobs, unsigned rack,
                        const char *path, char *error, size_t error_size);

// True once the switch that runs with this configuration has all its ports.
bool fabric_ready(const struct fabric *f, unsigned rack);

// Opens the end of worker 'rank' in this process. Returns 0, or -1 with a sentence in 'error'.
int fabric_open(const struct fabric *f, unsigned rank, struct reducer *r, char *error,
                size_t error_size);
void fabric_close(struct reducer *r);

// Opens parameter server 'number' in this process, which answers from then on.
int fabric_serve(const struct fabric *f, unsigned number, struct silken_server **server,
                 char *error, size_t error_size);

#endif

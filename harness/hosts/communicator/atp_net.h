// SPDX-License-Identifier: Apache-2.0
//
// atp_net.h: an ATP job in one process and real time: racks with the compiled p4/atp/atp.p4,
// parameter servers in the last rack, workers wherever they are put.
//
// All stations are on rings, whose other ends are ports of the switches; a thread runs all
// switches. The last rack's switch has a ring to each other one. A worker can be taken off its rack
// and put on another one: all switches know the way to servers and groups whoever is there.
//
// Concurrency: all functions are for one thread; communicators may be used as
// hosts/include/silken/allreduce.h allows. Failures to set up end the process.
#ifndef SILKEN_HARNESS_HOSTS_COMMUNICATOR_ATP_NET_H
#define SILKEN_HARNESS_HOSTS_COMMUNICATOR_ATP_NET_H

#include <pthread.h>

#include "silken/allreduce.h"
#include "silken/server.h"
#include "hosts/transport/transport.h"
#include "pipeline/switch/switch.h"

#define ATP_NET_WORKERS 8
#define ATP_NET_SERVERS 3
#define ATP_NET_LANES   3
#define ATP_NET_RACKS   3
#define ATP_NET_PORTS   64

struct atp_net {
    uint32_t workers, servers, lanes, racks;
    uint32_t rack[ATP_NET_WORKERS]; // of each worker
    uint32_t server_rack[ATP_NET_SERVERS];
    struct silken_config config; // what all workers have in common
    const struct sk_faults *faults;
    struct silken_comm *comm[ATP_NET_WORKERS];
    struct silken_server *server[ATP_NET_SERVERS];

    // The switches'.
    pthread_mutex_t lock;
    struct sk_transport *port[ATP_NET_RACKS][ATP_NET_PORTS]; // or NULL
    struct sk_program *program;
    struct sk_switch *sw[ATP_NET_RACKS];
    struct atp_net_out {
        struct atp_net *net;
        uint32_t rack;
    } out[ATP_NET_RACKS];
    pthread_t thread;
    bool stop;
};

// Starts switches and servers, and opens all workers' communicators. 'config' is what they have in
// common, with workers, lanes, atp.servers, atp.type, atp.rack; faults are those of the workers'
// and servers' rings, or NULL. Racks are 0..'racks'-1.
void atp_net_start(struct atp_net *n, const struct silken_config *config, uint32_t racks,
                   const struct sk_faults *faults);

// Closes the worker's communicator, as if it had died: its ports go dead.
void atp_net_kill(struct atp_net *n, uint32_t rank);

// Opens a communicator for it in n->rack[rank]; 'first' as in the configuration.
void atp_net_open(struct atp_net *n, uint32_t rank, const struct silken_first *first);

void atp_net_stop(struct atp_net *n);

// Runs |work(context, rank)| in one thread per worker and waits for all.
void atp_net_run(struct atp_net *n, void (*work)(void *context, unsigned rank), void *context);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// net.h: ATP jobs in virtual time: workers and servers around switches with the compiled p4/atp, on
// one level or on two.
//
//      rack 0's switch ---- server(s), and workers of rack 0
//         |      |
//      rack 1  rack 2 ...   workers; each rack has a switch with a link to rack 0's
//
// Every host has a link of its own, and every direction of every link the properties of struct
// net_link. All randomness comes from one seed. A switch's work takes no time.
//
// A worker is known to the net by its place in the list of hosts; the state machines are the
// caller's.
//
// Concurrency: a net belongs to one thread. Memory exhaustion ends the process.
#ifndef SILKEN_HARNESS_HOSTS_ATP_NET_H
#define SILKEN_HARNESS_HOSTS_ATP_NET_H

#include "harness/net/events.h"
#include "hosts/atp/server.h"
#include "hosts/atp/worker.h"
#include "pipeline/switch/switch.h"

#define NET_MAX_HOSTS 40
#define NET_MAX_RACKS 4

struct net_options {
    uint64_t seed;
    unsigned racks;           // switches: rack 0 is the servers'
    struct net_link up, down; // towards the server, away from it
    bool spread;              // hosts at all four pipes of their switch
};

struct net;

struct net *net_new(const struct net_options *options, const struct sk_program *program);
void net_free(struct net *net); // and nothing of the caller's

// Adds a host in 'rack'. Its MAC is the endpoint's; a worker hears the group 'group_mac' of its
// job.
unsigned net_add_worker(struct net *net, unsigned rack, struct atp_worker *w,
                        const struct atp_flow *flow);
unsigned net_add_server(struct net *net, struct atp_server *s, const struct atp_flow *flow);

// Fills the switches' tables: after all hosts have been added, and before anything runs.
void net_start(struct net *net);

// Puts another state machine in a worker's place, or none: then the host is silent.
void net_replace(struct net *net, unsigned host, struct atp_worker *w);

// Has 'call'('context') called at 'at'.
void net_call(struct net *net, uint64_t at, void (*call)(void *context), void *context);

// Lets a host send what it has to, after the caller has done something to it.
void net_serve(struct net *net, unsigned host);

// Runs one event; false if no event is left.
bool net_step(struct net *net);
uint64_t net_now(const struct net *net);
bool net_failed(const struct net *net); // a worker has reached its hard limit

// How many of the aggregators 'first'..'first' + 'count' - 1 have an owner, in all switches.
unsigned net_owned(const struct net *net, uint32_t first, uint32_t count);

// Has parameters that nobody waits for pass through all switches: for each of these aggregators.
void net_sweep(struct net *net, const struct atp_flow *flow, uint32_t first, uint32_t count);

struct net_traffic {
    uint64_t sent, lost, duplicated; // frames, on all links
    uint64_t to_servers;             // that have reached a server's link
};
struct net_traffic net_traffic(const struct net *net);

#endif

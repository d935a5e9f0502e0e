// SPDX-License-Identifier: Apache-2.0
//
// published: a job service for the published SwitchML client (p4lang/p4app-switchML): the gRPC
// services Session and Sync of its switchml.proto, for jobs of p4/switchml and p4/rack. A worker
// calls
//
//     Broadcast     rank 0 says the session's number, the others are told
//     UdpSession, or RdmaSession, which has its queue pairs besides and is told the switch's:
//                   its rank, MAC and IP address, and the size of its packets; it is told the
//                   switch's addresses. Rank 0 calls before the first barrier, the others after it
//     Barrier       twice: before the others' session, and after it
//
// and then sends packets. These messages do not say which job they are of, so a job is what its
// workers' connections are: the first Broadcast of a connection makes it a worker of the job that
// is gathering, with the rank that it says. One job gathers at a time; jobs that have gathered run
// side by side. Workers of two jobs that begin at the same moment cannot be told apart, unless a
// rank comes twice.
//
// The rules are those of the job service (control/service/admission.h): the second barrier ends
// when the switch has the job, and with an error when it does not admit it. Until then a worker
// that goes ends its job: the others' calls fail with ABORTED. After it a worker says nothing any
// more, and whether its connection ends because it is done or because it was killed is not to be
// known: the job ends when all its connections have ended and none of its packets has come for
// 'silence_ns', or at once when one of its addresses comes again. It keeps its slots for
// 'grace_ns', in which the next job with one of its addresses waits: packets of an earlier process
// are under way no more when it begins.
//
// Refused, with a status of gRPC's and a sentence: a rank or an address that is taken
// (ALREADY_EXISTS), what contradicts the other workers or comes in another order
// (FAILED_PRECONDITION), bad numbers (INVALID_ARGUMENT). The services have no
// authentication, as published: whoever reaches the address can have jobs.
//
// The server never blocks and never waits for a client. Concurrency: all calls on one thread.
//
// Files:
//
//     groups.c    jobs and their workers, apart from the network
//     calls.c     the five calls: what a message has to be
//     server.c    the network
//     tables.c    a job in the tables of p4/switchml (tables.h); tables_roce.c: one by RoCEv2
#ifndef SILKEN_CONTROL_PUBLISHED_PUBLISHED_H
#define SILKEN_CONTROL_PUBLISHED_PUBLISHED_H

#include "control/service/admission.h"
#include "rpc/rpc.h"

#define PUBLISHED_WORKERS 512u // connections with a place in a job
#define PUBLISHED_GROUPS  256u

struct published_options {
    const char *address; // as rpc_options has it; null: no network, calls come by published_call()
    uint32_t slots;      // of a job
    uint32_t elements;   // of its packets, at most
    uint16_t udp_port;   // of all workers
    uint64_t wait_ns;    // how long a job gathers
    uint64_t grace_ns;
    uint64_t silence_ns;
    struct admission_ops jobs; // waits, admitted and over are filled in
    // How many packets of the job's workers have come.
    uint64_t (*packets)(void *aux, const char *job);
    void *aux; // of 'jobs' and 'packets'
};

// How calls are answered, other than by rpc/ in tests. A call is answered once.
struct published_carrier {
    void (*reply)(void *call, const uint8_t *bytes, size_t length);
    void (*fail)(void *call, enum rpc_status status, const char *why);
};

struct published;

// Null with a sentence.
struct published *published_open(const struct published_options *options, struct sk_error *err);
int published_fd(const struct published *p); // for poll()
// When to call published_poll() even if nothing is readable, on the clock of rpc_due().
uint64_t published_due(const struct published *p);
// 'rpc_now_ns' on the clock of rpc_poll(), 'now_ns' on that of 'jobs'.
void published_poll(struct published *p, uint64_t rpc_now_ns, uint64_t now_ns);
uint16_t published_port(const struct published *p);
// As the switch has lost its state of all jobs: they are over.
void published_lost(struct published *p, const char *why, uint64_t now_ns);
// Somebody has removed the job from the switch.
void published_removed(struct published *p, const char *name);
// As admission_json().
json_t *published_json(const struct published *p, uint64_t now_ns);
struct published_counts {
    struct admission_counts jobs;
    uint64_t refused; // calls
    size_t workers;   // connected
};
struct published_counts published_counts(const struct published *p);
void published_close(struct published *p); // null allowed; jobs are removed

// ---- without the network ----
enum published_method {
    PUBLISHED_BROADCAST,
    PUBLISHED_BARRIER,
    PUBLISHED_UDP_SESSION,
    PUBLISHED_RDMA_SESSION
};
// 'connection': not 0.
void published_call(struct published *p, enum published_method method,
                    const struct published_carrier *carrier, uint64_t connection, void *call,
                    const uint8_t *bytes, size_t length, uint64_t now_ns);
void published_call_over(struct published *p,
                         const void *call); // it is not to be answered any more
void published_gone(struct published *p, uint64_t connection, uint64_t now_ns);
void published_run(struct published *p, uint64_t now_ns);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// protocol.h: what a communicator asks its protocol; internal to hosts/.
//
// allreduce.c knows lanes, requests and threads, and one of these for each protocol.
//
// Concurrency: constant; any thread may call anything.
//
// The room: protocols in real time, under the public headers:
//
//     allreduce.c          a communicator (silken/allreduce.h)
//     server.c             a parameter server in real time (silken/server.h)
//     server_engine.c      one of its lanes, without input, output or clock
//     join.c               a station's membership in its job's sessions
//     service.c            a place in a job, of a job service (silken/service.h)
//     reply.c              what the job service says
//     coordinator.c        the sessions of an ATP job, as its servers have them
//     collective.c         other operations, by the switch or above all-reduce (comm.h)
//     environment.c        a configuration from the environment
//     station.c            the addresses of a SwitchML lane
//     lane.c               a worker's lane: its engine, transport and thread
//     drive.c              an engine, a transport and the clock, joined
//     protocol_switchml.c  SwitchML for communicators
//     protocol_roce.c      the same by RoCEv2
//     protocol_atp.c       ATP for communicators
//     protocol_dlcp.c      DLCP for communicators
//     dlcp.c               flows of DLCP (silken/dlcp.h)
#ifndef SILKEN_HOSTS_COMMUNICATOR_PROTOCOL_H
#define SILKEN_HOSTS_COMMUNICATOR_PROTOCOL_H

#include "hosts/core/engine.h"

#define SK_US UINT64_C(1000)
#define SK_MS UINT64_C(1000000)

struct sk_protocol {
    // Tensors go to one lane each, as a whole; else all lanes get a part, in whole blocks.
    bool whole;

    // What is wrong with the configuration, apart from the lanes' addresses and devices. Returns 0
    // or SILKEN_ERR_INVALID with a sentence in 'why'.
    int (*check)(const struct silken_config *f, uint32_t lanes, char *why, size_t why_cap);

    // Makes the engine of lane 'i' of 'lanes', which is described by 'lane'; 'nonce' is the
    // communicator's, unlike any other's. Returns 0, or an error with a sentence.
    int (*make)(struct sk_engine **e, const struct silken_config *f, uint32_t lanes, uint32_t i,
                const struct silken_lane *lane, uint64_t nonce, char *why, size_t why_cap);

    // What the engines of all lanes are to be told when the workers are in the racks of
    // f->atp.rack: from malloc(), in '*places'. NULL in protocols without shapes.
    int (*places)(void **places, const struct silken_config *f, char *why, size_t why_cap);

    const char *(*ignored_name)(unsigned kind);
};

extern const struct sk_protocol sk_protocol_switchml, sk_protocol_atp, sk_protocol_dlcp;

// The first of 'whole' things that the i-th of 'parts' gets; the next one's first is after its
// last.
static inline uint64_t sk_cut(uint64_t whole, uint32_t parts, uint32_t i) {
    return whole / parts * i + whole % parts * i / parts;
}

// A time in nanoseconds; 0 is for ever.
static inline uint64_t sk_limit(uint32_t ms) {
    return ms ? ms * SK_MS : SK_ENGINE_NEVER;
}

#endif

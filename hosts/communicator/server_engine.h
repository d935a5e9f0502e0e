// SPDX-License-Identifier: Apache-2.0
//
// server_engine.h: a lane of a parameter server as an engine (hosts/core/engine.h); internal to
// hosts/ and sim/.
//
// It has the state machine of the lane's flow and, of a job with sessions, the server's membership
// (lane 0) and its part in coordinating them. server.c runs one in each of its threads, the
// simulator in virtual time.
//
// Concurrency: an engine belongs to one thread at a time. Engines of one server share its
// coordinator, which any thread may use.
#ifndef SILKEN_HOSTS_SERVER_ENGINE_H
#define SILKEN_HOSTS_SERVER_ENGINE_H

#include "silken/server.h"
#include "hosts/atp/server.h"
#include "hosts/communicator/coordinator.h"
#include "hosts/communicator/join.h"

// Answers to members that wait to be sent.
#define SK_SERVER_ANSWERS 64

// From a refusal on until a server joins again.
#define SK_SERVER_AGAIN_NS UINT64_C(5000000000)

struct sk_server_answer {
    struct sk_endpoint to;
    struct session_message message;
};

struct sk_server_engine {
    struct sk_engine base;
    struct atp_server *server;

    // Of a job with sessions.
    struct sk_coordinator *sessions; // NULL: it has none
    struct sk_endpoint self;
    struct sk_join join; // of lane 0, as the server's membership
    struct sk_randomness random;
    uint64_t again_at;   // when it is to join again that was refused; 0: it was not
    uint64_t session;    // its id
    uint64_t renumbered; // how much higher numbers are than fragments, after changes of shape
    struct sk_server_answer answers[SK_SERVER_ANSWERS];
    unsigned first_answer, n_answers;
};

// What the lanes of the server share, at time 'now' in ns; NULL: there is no memory. Not for a
// server without sessions.
struct sk_coordinator *sk_server_sessions(const struct silken_server_config *config, uint64_t now,
                                          const struct sk_randomness *random);

// Lane 'i' of the server. 'sessions' stays the caller's, NULL without sessions. Of 'config'
// everything but devices, transports and the log is looked at; its strings are not needed
// afterwards. Returns 0, or an error with a sentence in 'why'. To be freed by its operation.
int sk_server_engine_new(struct sk_server_engine **made, const struct silken_server_config *config,
                         const struct atp_shape *shape, uint32_t i, struct sk_coordinator *sessions,
                         const struct sk_randomness *random, char *why, size_t why_cap);

// The workers are in other racks. The shape has been checked.
void sk_server_engine_reshape(struct sk_server_engine *e, const struct atp_shape *shape,
                              uint64_t now);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// server: the network, and the whole from its start to its end.
#include <stdlib.h>

#include "control/published/published_impl.h"

#define MESSAGE_BYTES 65536u
#define MEMORY_BYTES  (UINT64_C(16) << 20)
#define CALLS         4u // of a connection at a time

static void pub_network_reply(void *call, const uint8_t *bytes, size_t length) {
    rpc_send(call, bytes, length);
    rpc_end(call, RPC_OK, NULL, NULL, 0);
}

static void pub_network_fail(void *call, enum rpc_status status, const char *why) {
    rpc_end(call, status, why, NULL, 0);
}

static const struct published_carrier network = {.reply = pub_network_reply,
                                                 .fail = pub_network_fail};

static void pub_hear(struct rpc_call *call, enum published_method method, const uint8_t *bytes,
                     size_t length) {
    struct published *p = rpc_aux(call);
    published_call(p, method, &network, rpc_connection(call), call, bytes, length, p->now);
}

static void pub_hear_broadcast(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    pub_hear(call, PUBLISHED_BROADCAST, bytes, length);
}

static void pub_hear_barrier(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    pub_hear(call, PUBLISHED_BARRIER, bytes, length);
}

static void pub_hear_udp_session(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    pub_hear(call, PUBLISHED_UDP_SESSION, bytes, length);
}

static void pub_hear_rdma_session(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    pub_hear(call, PUBLISHED_RDMA_SESSION, bytes, length);
}

static void pub_hear_over(struct rpc_call *call, bool cancelled) {
    (void)cancelled;
    published_call_over(rpc_aux(call), call);
}

static void pub_hear_gone(void *aux, uint64_t connection) {
    struct published *p = aux;
    published_gone(p, connection, p->now);
}

#define PACKAGE "/switchml_proto."
static const struct rpc_method methods[] = {
    {.path = PACKAGE "Sync/Broadcast", .message = pub_hear_broadcast, .over = pub_hear_over},
    {.path = PACKAGE "Sync/Barrier", .message = pub_hear_barrier, .over = pub_hear_over},
    {.path = PACKAGE "Session/UdpSession", .message = pub_hear_udp_session, .over = pub_hear_over},
    {.path = PACKAGE "Session/RdmaSession",
     .message = pub_hear_rdma_session,
     .over = pub_hear_over},
    {.path = NULL},
};

struct published *published_open(const struct published_options *options, struct sk_error *err) {
    struct published *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    p->options = *options;
    pub_admission_new(p);
    if (options->address)
        p->server = rpc_open(&(struct rpc_options){.address = options->address,
                                                   .methods = methods,
                                                   .aux = p,
                                                   .message_bytes = MESSAGE_BYTES,
                                                   .memory_bytes = MEMORY_BYTES,
                                                   .connections = PUBLISHED_WORKERS,
                                                   .calls = CALLS,
                                                   .keeps_idle = true,
                                                   .gone = pub_hear_gone},
                             err);
    if (!options->address || p->server)
        return p;
    published_close(p);
    return NULL;
}

int published_fd(const struct published *p) {
    return p->server ? rpc_fd(p->server) : -1;
}

uint64_t published_due(const struct published *p) {
    return p->server ? rpc_due(p->server) : UINT64_MAX;
}

void published_poll(struct published *p, uint64_t rpc_now_ns, uint64_t now_ns) {
    p->now = now_ns;
    if (p->server)
        rpc_poll(p->server, rpc_now_ns);
    published_run(p, now_ns);
}

uint16_t published_port(const struct published *p) {
    return p->server ? rpc_port(p->server) : 0;
}

json_t *published_json(const struct published *p, uint64_t now_ns) {
    return admission_json(p->admission, now_ns);
}

struct published_counts published_counts(const struct published *p) {
    struct published_counts counts = {.jobs = admission_counts(p->admission),
                                      .refused = p->refused};
    for (size_t i = 0; i < p->n_workers; i++)
        counts.workers += p->workers[i]->connection != 0;
    return counts;
}

void published_close(struct published *p) {
    if (!p)
        return;
    published_lost(p, "the service has ended", p->now);
    rpc_close(p->server);
    admission_free(p->admission);
    pub_free_all(p);
    free(p);
}

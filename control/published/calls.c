// SPDX-License-Identifier: Apache-2.0
//
// calls: the five calls. A message is bytes from anybody.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "control/published/published_impl.h"
#include "control/published/switchml.pb-c.h"

#define MAC_BITS      48u
#define MULTICAST_BIT 40u
#define PACKET_SIZES  4u
#define QPN_MOST      0xffffffu

void pub_refuse(struct published *p, const struct published_carrier *carrier, void *call,
                enum rpc_status status, const char *why) {
    p->refused++;
    carrier->fail(call, status, why);
}

static void pub_reply(const struct published_carrier *carrier, void *call,
                      const ProtobufCMessage *m) {
    const size_t n = protobuf_c_message_get_packed_size(m);
    uint8_t bytes[1024];
    if (n > sizeof bytes)
        abort(); // some numbers, and two for each queue pair
    carrier->reply(call, bytes, protobuf_c_message_pack(m, bytes));
}

void pub_reply_broadcast(struct pub_worker *w) {
    SwitchmlProto__BroadcastResponse m = SWITCHML_PROTO__BROADCAST_RESPONSE__INIT;
    m.value = w->group->value;
    w->waits = PUB_NOTHING;
    w->told = true;
    pub_reply(w->carrier, w->call, &m.base);
}

void pub_reply_barrier(struct pub_worker *w) {
    SwitchmlProto__BarrierResponse m = SWITCHML_PROTO__BARRIER_RESPONSE__INIT;
    w->waits = PUB_NOTHING;
    pub_reply(w->carrier, w->call, &m.base);
}

// A call that is being answered.
struct pub_calling {
    struct published *p;
    const struct published_carrier *carrier;
    uint64_t connection;
    void *call;
};

static void pub_calling_refuse(const struct pub_calling *c, enum rpc_status status,
                               const char *why) {
    pub_refuse(c->p, c->carrier, c->call, status, why);
}

static bool pub_numbers_are_good(const struct pub_calling *c, uint32_t rank, uint32_t workers,
                                 uint32_t root) {
    struct sk_error err;
    if (workers >= 1 && workers <= ADMISSION_WORKERS && rank < workers && root < workers)
        return true;
    sk_fail(&err, "%s: there are %u workers; a job has 1 to %u, whose ranks begin at 0",
            rank < workers ? "num_workers or root" : "rank", workers, ADMISSION_WORKERS);
    pub_calling_refuse(c, RPC_INVALID_ARGUMENT, err.text);
    return false;
}

// The worker, or null after an answer: it has to have called Broadcast, its job must not be over,
// and it must not wait for another answer.
static struct pub_worker *pub_caller(const struct pub_calling *c) {
    struct pub_worker *w = pub_worker_of(c->p, c->connection);
    if (!w)
        pub_calling_refuse(c, RPC_FAILED_PRECONDITION,
                           "a worker calls Broadcast first: its connection is of no job");
    else if (w->group->state == PUB_OVER)
        pub_calling_refuse(c, RPC_ABORTED, w->group->why);
    else if (w->waits != PUB_NOTHING)
        pub_calling_refuse(c, RPC_FAILED_PRECONDITION,
                           "the worker already waits for the answer of another call");
    else
        return w;
    return NULL;
}

static void pub_wait(struct pub_worker *w, const struct pub_calling *c, enum pub_waits waits) {
    w->waits = waits;
    w->carrier = c->carrier;
    w->call = c->call;
}

// ---- Broadcast ----

static void pub_broadcast_of(const struct pub_calling *c,
                             const SwitchmlProto__BroadcastRequest *m) {
    struct pub_worker *w = pub_worker_of(c->p, c->connection);
    struct sk_error err = {.text = ""};
    if (!pub_numbers_are_good(c, m->rank, m->num_workers, m->root))
        return;
    if (m->rank == m->root && m->value == 0) {
        pub_calling_refuse(c, RPC_INVALID_ARGUMENT, "value: a session's number is not 0");
        return;
    }
    if (!w || w->group->state == PUB_OVER) {
        const enum rpc_status status =
            pub_join(c->p, c->connection, m->rank, m->num_workers, m->root, &w, &err);
        if (status != RPC_OK) {
            pub_calling_refuse(c, status, err.text);
            return;
        }
    } else if (w->told || w->waits != PUB_NOTHING || w->rank != m->rank ||
               w->group->workers != m->num_workers || w->group->root != m->root) {
        pub_calling_refuse(c, RPC_FAILED_PRECONDITION,
                           "the connection is a worker's of a job already, which is told its "
                           "session's number once");
        return;
    }
    pub_wait(w, c, PUB_BROADCAST);
    if (m->rank == m->root)
        pub_tell_value(c->p, w->group, m->value);
    else if (w->group->has_value)
        pub_reply_broadcast(w);
}

static void pub_broadcast(const struct pub_calling *c, const uint8_t *bytes, size_t length) {
    SwitchmlProto__BroadcastRequest *m =
        switchml_proto__broadcast_request__unpack(NULL, length, bytes);
    if (m)
        pub_broadcast_of(c, m);
    else
        pub_calling_refuse(c, RPC_INVALID_ARGUMENT, "the message is not a BroadcastRequest");
    switchml_proto__broadcast_request__free_unpacked(m, NULL);
}

// ---- Barrier ----

static void pub_barrier_of(const struct pub_calling *c, const SwitchmlProto__BarrierRequest *m) {
    struct pub_worker *w = pub_caller(c);
    struct sk_error err;
    if (w && m->num_workers != w->group->workers) {
        sk_fail(&err, "num_workers: the job has %u workers, not %u", w->group->workers,
                m->num_workers);
        pub_calling_refuse(c, RPC_INVALID_ARGUMENT, err.text);
        return;
    }
    if (w)
        pub_wait(w, c, PUB_BARRIER);
    pub_settle(c->p);
}

static void pub_barrier(const struct pub_calling *c, const uint8_t *bytes, size_t length) {
    SwitchmlProto__BarrierRequest *m = switchml_proto__barrier_request__unpack(NULL, length, bytes);
    if (m)
        pub_barrier_of(c, m);
    else
        pub_calling_refuse(c, RPC_INVALID_ARGUMENT, "the message is not a BarrierRequest");
    switchml_proto__barrier_request__free_unpacked(m, NULL);
}

// ---- UdpSession ----

static uint64_t pub_mac_number(const uint8_t mac[6]) {
    uint64_t n = 0;
    for (unsigned i = 0; i < 6; i++)
        n = n << 8 | mac[i];
    return n;
}

// What both kinds of sessions say.
struct pub_session {
    uint64_t session_id, session_bits; // of the number that was broadcast, those which it says
    uint64_t mac;
    uint32_t rank, workers, ipv4, packet_size;
};

static const char *pub_wrong_session(const struct pub_worker *w, const struct pub_session *s) {
    if (!w->told || s->session_id != (w->group->value & s->session_bits))
        return "session_id: it is not the number that the job's root has broadcast";
    if (s->rank != w->rank || s->workers != w->group->workers)
        return "rank or num_workers: they are not those of the worker's Broadcast";
    if (s->mac == 0 || s->mac >> MAC_BITS || s->mac >> MULTICAST_BIT & 1)
        return "mac: it has to be the MAC address of a station";
    if (s->ipv4 == 0 || s->ipv4 >> 28 >= 0xe)
        return "ipv4: it has to be the IPv4 address of a host";
    if (s->packet_size >= PACKET_SIZES)
        return "packet_size: it is 0 to 3, for 32, 64, 128 and 256 elements";
    return NULL;
}

// False after an answer; else '*place' is filled.
static bool pub_session_of(const struct pub_calling *c, const struct pub_session *s,
                           const struct admission_roce *roce, struct admission_place *place) {
    struct pub_worker *w = pub_caller(c);
    struct sk_error err = {.text = ""};
    const char *wrong = w ? pub_wrong_session(w, s) : NULL;
    if (!w)
        return false;
    if (wrong) {
        pub_calling_refuse(c, RPC_INVALID_ARGUMENT, wrong);
        return false;
    }
    if (w->asked) {
        pub_calling_refuse(c, RPC_FAILED_PRECONDITION,
                           "the worker has asked for its session before");
        return false;
    }
    w->ip = s->ipv4;
    for (unsigned i = 0; i < 6; i++)
        w->mac[i] = (uint8_t)(s->mac >> (40 - 8 * i));
    const enum rpc_status status = pub_ask(c->p, w, s->packet_size, roce, place, &err);
    if (status == RPC_OK)
        return true;
    w->ip = 0;
    memset(w->mac, 0, sizeof w->mac);
    pub_calling_refuse(c, status, err.text);
    return false;
}

static void pub_udp_session_of(const struct pub_calling *c,
                               const SwitchmlProto__UdpSessionRequest *m) {
    const struct pub_session s = {.session_id = m->session_id,
                                  .session_bits = UINT64_MAX,
                                  .mac = m->mac,
                                  .rank = m->rank,
                                  .workers = m->num_workers,
                                  .ipv4 = m->ipv4,
                                  .packet_size = (uint32_t)m->packet_size};
    struct admission_place place;
    if (!pub_session_of(c, &s, NULL, &place))
        return;
    SwitchmlProto__UdpSessionResponse reply = SWITCHML_PROTO__UDP_SESSION_RESPONSE__INIT;
    reply.session_id = m->session_id;
    reply.mac = pub_mac_number(place.switch_mac);
    reply.ipv4 = place.switch_ip;
    pub_reply(c->carrier, c->call, &reply.base);
}

// ---- RdmaSession ----

static const char *pub_wrong_pairs(const SwitchmlProto__RdmaSessionRequest *m) {
    const uint32_t bytes = 128u << ((uint32_t)m->packet_size % PACKET_SIZES);
    if (m->n_qpns < 1 || m->n_qpns > ADMISSION_PAIRS || m->n_psns != m->n_qpns)
        return "qpns, psns: there are 1 to 64 queue pairs, each with a number of its first packet";
    if (m->packet_size == 0)
        return "packet_size: by RDMA it is 1 to 3, for 64, 128 and 256 elements";
    if (m->message_size == 0 || m->message_size % bytes != 0)
        return "message_size: a message is some whole packets";
    for (size_t i = 0; i < m->n_qpns; i++)
        if (m->qpns[i] > QPN_MOST || m->psns[i] > QPN_MOST)
            return "qpns, psns: they have 24 bits";
    return NULL;
}

static void pub_rdma_session_of(const struct pub_calling *c,
                                const SwitchmlProto__RdmaSessionRequest *m) {
    const struct pub_session s = {.session_id = m->session_id,
                                  .session_bits = UINT32_MAX, // the field has no more
                                  .mac = m->mac,
                                  .rank = m->rank,
                                  .workers = m->num_workers,
                                  .ipv4 = m->ipv4,
                                  .packet_size = (uint32_t)m->packet_size};
    const char *wrong = pub_wrong_pairs(m);
    struct admission_roce roce = {.rkey = m->rkey};
    struct admission_place place;
    uint32_t qpns[ADMISSION_PAIRS], psns[ADMISSION_PAIRS];
    if (wrong) {
        pub_calling_refuse(c, RPC_INVALID_ARGUMENT, wrong);
        return;
    }
    roce.pairs = (uint32_t)m->n_qpns;
    memcpy(roce.qpn, m->qpns, m->n_qpns * sizeof *roce.qpn);
    memcpy(roce.psn, m->psns, m->n_psns * sizeof *roce.psn);
    if (!pub_session_of(c, &s, &roce, &place))
        return;
    for (uint32_t i = 0; i < roce.pairs; i++) {
        qpns[i] = place.queue_pair + i;
        psns[i] = place.psn;
    }
    SwitchmlProto__RdmaSessionResponse reply = SWITCHML_PROTO__RDMA_SESSION_RESPONSE__INIT;
    reply.session_id = m->session_id;
    reply.mac = pub_mac_number(place.switch_mac);
    reply.ipv4 = place.switch_ip;
    reply.n_qpns = reply.n_psns = roce.pairs;
    reply.qpns = qpns;
    reply.psns = psns;
    pub_reply(c->carrier, c->call, &reply.base);
}

static void pub_rdma_session(const struct pub_calling *c, const uint8_t *bytes, size_t length) {
    SwitchmlProto__RdmaSessionRequest *m =
        switchml_proto__rdma_session_request__unpack(NULL, length, bytes);
    if (m)
        pub_rdma_session_of(c, m);
    else
        pub_calling_refuse(c, RPC_INVALID_ARGUMENT, "the message is not an RdmaSessionRequest");
    switchml_proto__rdma_session_request__free_unpacked(m, NULL);
}

static void pub_udp_session(const struct pub_calling *c, const uint8_t *bytes, size_t length) {
    SwitchmlProto__UdpSessionRequest *m =
        switchml_proto__udp_session_request__unpack(NULL, length, bytes);
    if (m)
        pub_udp_session_of(c, m);
    else
        pub_calling_refuse(c, RPC_INVALID_ARGUMENT, "the message is not a UdpSessionRequest");
    switchml_proto__udp_session_request__free_unpacked(m, NULL);
}

void published_call(struct published *p, enum published_method method,
                    const struct published_carrier *carrier, uint64_t connection, void *call,
                    const uint8_t *bytes, size_t length, uint64_t now_ns) {
    const struct pub_calling c = {p, carrier, connection, call};
    p->now = now_ns;
    switch (method) {
    case PUBLISHED_BROADCAST:
        pub_broadcast(&c, bytes, length);
        break;
    case PUBLISHED_BARRIER:
        pub_barrier(&c, bytes, length);
        break;
    case PUBLISHED_UDP_SESSION:
        pub_udp_session(&c, bytes, length);
        break;
    case PUBLISHED_RDMA_SESSION:
        pub_rdma_session(&c, bytes, length);
        break;
    }
}

// SPDX-License-Identifier: Apache-2.0
//
// Streams, and which client of each role is primary (P4Runtime specification, section 5). Writes
// are served whole, so none is under way when the primary changes.
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "brt/status.pb-c.h"
#include "p4rt/p4rt_impl.h"

static struct p4rt_client *clients_of(struct p4rt *p, const void *call) {
    for (size_t i = 0; i < P4RT_CLIENTS; i++)
        if (p->clients[i].used && p->clients[i].stream.call == call)
            return &p->clients[i];
    return NULL;
}

static p4rt_election clients_number(const P4__V1__Uint128 *id) {
    return (p4rt_election)id->high << 64 | id->low;
}

static const struct p4rt_client *clients_primary(const struct p4rt *p, unsigned role) {
    for (size_t i = 0; i < P4RT_CLIENTS; i++)
        if (p->clients[i].used && p->clients[i].primary && p->clients[i].role == role)
            return &p->clients[i];
    return NULL;
}

bool p4rt_has_primary(const struct p4rt *p) {
    for (size_t i = 0; i < P4RT_CLIENTS; i++)
        if (p->clients[i].used && p->clients[i].primary)
            return true;
    return false;
}

// P4RT_ROLES: nobody had this role yet.
static unsigned clients_role(const struct p4rt *p, const char *name) {
    unsigned i = 0;
    while (i < P4RT_ROLES && !(p->roles[i].name && strcmp(p->roles[i].name, name) == 0))
        i++;
    return i;
}

// ---- who may do what ----

enum rpc_status p4rt_check_device(const struct p4rt *p, uint64_t device, struct sk_error *err) {
    if (device == p->device)
        return RPC_OK;
    return p4rt_fail(err, RPC_NOT_FOUND, "there is no device %llu, only %llu",
                     (unsigned long long)device, (unsigned long long)p->device);
}

enum rpc_status p4rt_may_write(const struct p4rt *p, uint64_t device, const char *role,
                               const P4__V1__Uint128 *election, struct sk_error *err) {
    const enum rpc_status status = p4rt_check_device(p, device, err);
    const unsigned index = clients_role(p, role);
    if (status)
        return status;
    if (index == P4RT_ROLES && *role)
        return p4rt_fail(err, RPC_NOT_FOUND, "no client has the role '%.60s'", role);
    const struct p4rt_client *primary = index < P4RT_ROLES ? clients_primary(p, index) : NULL;
    if (!election || !primary || primary->election != clients_number(election))
        return p4rt_fail(err, RPC_PERMISSION_DENIED,
                         "only the primary client may write, and the election id is not its own");
    return RPC_OK;
}

// ---- messages to clients ----

static void clients_send(struct p4rt *p, struct p4rt_client *c,
                         const P4__V1__StreamMessageResponse *message) {
    if (c->full) {
        p->lost++;
        return;
    }
    c->full = !brt_send(&c->stream, &message->base);
}

void p4rt_tell(struct p4rt *p, const P4__V1__StreamMessageResponse *message) {
    for (size_t i = 0; i < P4RT_CLIENTS; i++)
        if (p->clients[i].used && p->clients[i].primary)
            clients_send(p, &p->clients[i], message);
}

void p4rt_stream_room(struct p4rt *p, const void *call) {
    struct p4rt_client *c = clients_of(p, call);
    if (c)
        c->full = false;
}

uint64_t p4rt_lost(const struct p4rt *p) {
    return p->lost;
}

// What a client is told of its role. It is sent even if the client takes no more: it says who may
// write.
static void clients_advise(struct p4rt *p, struct p4rt_client *c) {
    P4__V1__StreamMessageResponse response = P4__V1__STREAM_MESSAGE_RESPONSE__INIT;
    P4__V1__MasterArbitrationUpdate update = P4__V1__MASTER_ARBITRATION_UPDATE__INIT;
    P4__V1__Uint128 election = P4__V1__UINT128__INIT;
    P4__V1__Role role = P4__V1__ROLE__INIT;
    Google__Rpc__Status status = GOOGLE__RPC__STATUS__INIT;
    const struct p4rt_role *r = &p->roles[c->role];
    election.high = (uint64_t)(r->highest >> 64);
    election.low = (uint64_t)r->highest;
    role.name = r->name;
    status.code = c->primary                    ? RPC_OK
                  : clients_primary(p, c->role) ? RPC_ALREADY_EXISTS
                                                : RPC_NOT_FOUND;
    status.message = (char *)(c->primary                     ? "this client is primary"
                              : status.code == RPC_NOT_FOUND ? "no client is primary"
                                                             : "another client is primary");
    update.device_id = p->device;
    update.role = *r->name ? &role : NULL;
    update.election_id = r->elected ? &election : NULL;
    update.status = &status;
    response.update_case = P4__V1__STREAM_MESSAGE_RESPONSE__UPDATE_ARBITRATION;
    response.arbitration = &update;
    c->full = !brt_send(&c->stream, &response.base);
}

// The new primary is told last, when the others know.
static void clients_advise_all(struct p4rt *p, unsigned role) {
    for (int primary = 0; primary < 2; primary++)
        for (size_t i = 0; i < P4RT_CLIENTS; i++) {
            struct p4rt_client *c = &p->clients[i];
            if (c->used && c->role == role && c->primary == (primary == 1))
                clients_advise(p, c);
        }
}

// ---- arbitration ----

static enum rpc_status clients_check(const struct p4rt *p, const struct p4rt_client *own,
                                     const P4__V1__MasterArbitrationUpdate *u, const char *name,
                                     struct sk_error *err) {
    const unsigned role = clients_role(p, name);
    if (own && u->device_id != p->device)
        return p4rt_fail(err, RPC_FAILED_PRECONDITION, "a stream's device cannot change");
    if (own && role != own->role)
        return p4rt_fail(err, RPC_FAILED_PRECONDITION,
                         "a stream's role cannot change: close it and open another");
    const enum rpc_status status = p4rt_check_device(p, u->device_id, err);
    if (status)
        return status;
    if (u->role && (u->role->config || (u->role->id && !*name)))
        return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                         "roles are names, without a configuration: each may write everything");
    if (strlen(name) > P4RT_ROLE_BYTES)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "the name of a role has at most %u bytes",
                         P4RT_ROLE_BYTES);
    for (size_t i = 0; u->election_id && i < P4RT_CLIENTS; i++) {
        const struct p4rt_client *c = &p->clients[i];
        if (c->used && c != own && c->role == role && c->has_election &&
            c->election == clients_number(u->election_id))
            return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                             "another client of this role has the same election id");
    }
    return RPC_OK;
}

static enum rpc_status clients_enter(struct p4rt *p, const struct brt_call *call, const char *name,
                                     struct p4rt_client **out, struct sk_error *err) {
    unsigned role = clients_role(p, name);
    size_t place = 0;
    while (place < P4RT_CLIENTS && p->clients[place].used)
        place++;
    if (place == P4RT_CLIENTS)
        return p4rt_fail(err, RPC_RESOURCE_EXHAUSTED, "there are %u clients already", P4RT_CLIENTS);
    if (role == P4RT_ROLES) {
        for (role = 0; role < P4RT_ROLES && p->roles[role].name;)
            role++;
        if (role == P4RT_ROLES)
            return p4rt_fail(err, RPC_RESOURCE_EXHAUSTED, "there are %u roles already", P4RT_ROLES);
        p->roles[role] = (struct p4rt_role){.name = sk_copy_text(name)};
    }
    *out = &p->clients[place];
    **out = (struct p4rt_client){.used = true, .role = role, .stream = *call};
    return RPC_OK;
}

static void clients_elect(struct p4rt *p, struct p4rt_client *c, const P4__V1__Uint128 *id) {
    struct p4rt_role *role = &p->roles[c->role];
    const bool was = c->primary;
    c->has_election = id != NULL;
    c->election = id ? clients_number(id) : 0;
    c->primary = id && (!role->elected || c->election >= role->highest);
    if (!c->primary) {
        if (was)
            clients_advise_all(p, c->role);
        else
            clients_advise(p, c);
        return;
    }
    for (size_t i = 0; i < P4RT_CLIENTS; i++)
        if (p->clients[i].used && p->clients[i].role == c->role && &p->clients[i] != c)
            p->clients[i].primary = false;
    role->elected = true;
    role->highest = c->election;
    clients_advise_all(p, c->role);
}

static void clients_arbitrate(struct p4rt *p, const struct brt_call *call,
                              const P4__V1__MasterArbitrationUpdate *u) {
    struct p4rt_client *c = clients_of(p, call->call);
    const char *name = u->role ? u->role->name : "";
    struct sk_error err;
    enum rpc_status status = clients_check(p, c, u, name, &err);
    if (status == RPC_OK && !c)
        status = clients_enter(p, call, name, &c, &err);
    if (status == RPC_OK) {
        clients_elect(p, c, u->election_id);
        return;
    }
    p4rt_stream_over(p, call->call);
    p4rt_end(call, status, err.text);
}

void p4rt_stream_over(struct p4rt *p, const void *call) {
    struct p4rt_client *c = clients_of(p, call);
    if (!c)
        return;
    const bool was = c->primary;
    const unsigned role = c->role;
    *c = (struct p4rt_client){.used = false};
    if (was)
        clients_advise_all(p, role);
}

// ---- other messages ----

static void clients_refuse(struct p4rt *p, const struct brt_call *call,
                           const P4__V1__StreamMessageRequest *m, enum rpc_status status,
                           const char *sentence) {
    P4__V1__StreamMessageResponse response = P4__V1__STREAM_MESSAGE_RESPONSE__INIT;
    P4__V1__StreamError error = P4__V1__STREAM_ERROR__INIT;
    P4__V1__PacketOutError packet = P4__V1__PACKET_OUT_ERROR__INIT;
    P4__V1__DigestListAckError ack = P4__V1__DIGEST_LIST_ACK_ERROR__INIT;
    P4__V1__StreamOtherError other = P4__V1__STREAM_OTHER_ERROR__INIT;
    struct p4rt_client *c = clients_of(p, call->call);
    error.canonical_code = (int32_t)status;
    error.message = (char *)sentence;
    if (m->update_case == P4__V1__STREAM_MESSAGE_REQUEST__UPDATE_PACKET) {
        error.details_case = P4__V1__STREAM_ERROR__DETAILS_PACKET_OUT;
        error.packet_out = &packet;
        packet.packet_out = m->packet;
    } else if (m->update_case == P4__V1__STREAM_MESSAGE_REQUEST__UPDATE_DIGEST_ACK) {
        error.details_case = P4__V1__STREAM_ERROR__DETAILS_DIGEST_LIST_ACK;
        error.digest_list_ack = &ack;
        ack.digest_list_ack = m->digest_ack;
    } else {
        error.details_case = P4__V1__STREAM_ERROR__DETAILS_OTHER;
        error.other = &other;
    }
    response.update_case = P4__V1__STREAM_MESSAGE_RESPONSE__UPDATE_ERROR;
    response.error = &error;
    if (c)
        clients_send(p, c, &response);
    else
        brt_send(call, &response.base);
}

static void clients_message(struct p4rt *p, const struct brt_call *call,
                            const P4__V1__StreamMessageRequest *m) {
    const struct p4rt_client *c = clients_of(p, call->call);
    struct sk_error err = {""};
    enum rpc_status status;
    switch (m->update_case) {
    case P4__V1__STREAM_MESSAGE_REQUEST__UPDATE_ARBITRATION:
        clients_arbitrate(p, call, m->arbitration);
        return;
    case P4__V1__STREAM_MESSAGE_REQUEST__UPDATE_PACKET:
        status = c && c->primary ? p4rt_packet_out(p, m->packet, &err)
                                 : p4rt_fail(&err, RPC_PERMISSION_DENIED,
                                             "only the primary client may send packets");
        break;
    case P4__V1__STREAM_MESSAGE_REQUEST__UPDATE_DIGEST_ACK:
        status = c && c->primary ? p4rt_digest_ack(p, m->digest_ack, &err)
                                 : p4rt_fail(&err, RPC_PERMISSION_DENIED,
                                             "only the primary client acknowledges digests");
        break;
    default:
        status = p4rt_fail(&err, RPC_UNIMPLEMENTED, "messages of this kind are not served");
        break;
    }
    if (status)
        clients_refuse(p, call, m, status, err.text);
}

void p4rt_stream_message(struct p4rt *p, const struct brt_call *c, const uint8_t *bytes,
                         size_t length) {
    struct brt_memory *memory = brt_request_memory(p->b);
    const P4__V1__StreamMessageRequest *m =
        p4__v1__stream_message_request__unpack(&memory->allocator, length, bytes);
    if (m)
        clients_message(p, c, m);
    else {
        p4rt_stream_over(p, c->call);
        p4rt_end_unread(p, c);
    }
    brt_memory_reuse(memory);
}

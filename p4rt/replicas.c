// SPDX-License-Identifier: Apache-2.0
//
// Multicast groups and clone sessions (P4Runtime specification, section 9.5). A multicast group has
// a node of the replication engine for each instance, whose replication id it is; a clone session
// is a mirror session.
#include <string.h>

#include "p4rt/p4rt_impl.h"
#include "pipeline/tm/pre.h"

#define REPLICAS_MOST     512u
#define REPLICAS_OWN_NODE UINT32_C(0x80000000)
#define REPLICAS_SESSION  (UINT64_C(1) << 32) // what is noted of a clone session: with its number

// Clients read ports as they wrote them: as numbers (version 1.0 of P4Runtime) or as bytes.
static uint64_t replicas_form(P4__V1__Replica *const *replicas, size_t n) {
    return n && replicas[0]->port_kind_case == P4__V1__REPLICA__PORT_KIND_EGRESS_PORT;
}

// Nodes of a group: at most as many as it has replicas.
static uint32_t replicas_node(uint32_t group, size_t i) {
    return REPLICAS_OWN_NODE | group << 15 | (uint32_t)i;
}

static enum rpc_status replicas_one(const struct p4rt *p, const P4__V1__Replica *r, uint16_t *port,
                                    struct sk_error *err) {
    uint64_t number = r->egress_port;
    enum rpc_status status = RPC_OK;
    if (r->n_backup_replicas)
        return p4rt_fail(err, RPC_UNIMPLEMENTED, "a replica has no backup replicas");
    if (r->instance > UINT16_MAX)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "a replica's instance is at most 65535");
    if (r->port_kind_case == P4__V1__REPLICA__PORT_KIND_PORT)
        status = p4rt_words(&r->port, 32, false, "a port's number", &number, err);
    const uint64_t id = number;
    const bool known = p4rt_port_from(p, id, &number);
    *port = (uint16_t)number;
    if (status == RPC_OK && (!known || number >= SK_PORTS || !sk_port_exists((unsigned)number)))
        status = p4rt_fail(err, RPC_INVALID_ARGUMENT, "port %llu does not exist",
                           (unsigned long long)id);
    return status;
}

// ---- multicast ----

struct replicas_nodes {
    size_t n;
    uint16_t rid[REPLICAS_MOST];
    uint16_t ports[REPLICAS_MOST], of[REPLICAS_MOST]; // of each replica: its port and its node
    size_t n_replicas;
};

static enum rpc_status replicas_sort(const struct p4rt *p, const P4__V1__MulticastGroupEntry *e,
                                     struct replicas_nodes *out, struct sk_error *err) {
    *out = (struct replicas_nodes){.n = 0};
    if (e->n_replicas > REPLICAS_MOST)
        return p4rt_fail(err, RPC_RESOURCE_EXHAUSTED, "a group has at most %u replicas",
                         REPLICAS_MOST);
    for (size_t i = 0; i < e->n_replicas; i++) {
        const enum rpc_status status = replicas_one(p, e->replicas[i], &out->ports[i], err);
        size_t node = 0;
        if (status)
            return status;
        while (node < out->n && out->rid[node] != e->replicas[i]->instance)
            node++;
        for (size_t k = 0; k < i; k++)
            if (out->of[k] == node && out->ports[k] == out->ports[i])
                return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                                 "two replicas have port %u and instance %u", out->ports[i],
                                 e->replicas[i]->instance);
        out->rid[node] = (uint16_t)e->replicas[i]->instance;
        out->n = node == out->n ? node + 1 : out->n;
        out->of[i] = (uint16_t)node;
        out->n_replicas++;
    }
    return RPC_OK;
}

static void replicas_delete_nodes(struct sk_switch *sw, uint32_t group, size_t from) {
    for (size_t i = from; i < REPLICAS_MOST; i++)
        sk_pre_node_delete(sw, replicas_node(group, i));
}

static bool replicas_set(struct sk_switch *sw, uint32_t group, const struct replicas_nodes *nodes) {
    struct sk_pre_member members[REPLICAS_MOST];
    uint16_t ports[REPLICAS_MOST];
    for (size_t i = 0; i < nodes->n; i++) {
        size_t n = 0;
        for (size_t k = 0; k < nodes->n_replicas; k++)
            if (nodes->of[k] == i)
                ports[n++] = nodes->ports[k];
        if (sk_pre_node_set(sw, replicas_node(group, i), nodes->rid[i], ports, n))
            return false;
        members[i] = (struct sk_pre_member){.node = replicas_node(group, i)};
    }
    if (sk_pre_group_set(sw, (uint16_t)group, members, nodes->n))
        return false;
    replicas_delete_nodes(sw, group, nodes->n);
    return true;
}

static enum rpc_status replicas_multicast(struct p4rt *p, P4__V1__Update__Type type,
                                          const P4__V1__MulticastGroupEntry *e,
                                          struct sk_error *err) {
    struct sk_switch *sw = brt_switch(p->b);
    const uint32_t group = e->multicast_group_id;
    struct replicas_nodes nodes;
    size_t n;
    if (group < 1 || group > UINT16_MAX)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "multicast groups are 1 to 65535");
    const bool there = pre_group_view(sk_switch_pre(sw), (uint16_t)group, NULL, &n);
    if (there == (type == P4__V1__UPDATE__TYPE__INSERT))
        return p4rt_fail(err, there ? RPC_ALREADY_EXISTS : RPC_NOT_FOUND, "multicast group %u %s",
                         group, there ? "exists already" : "does not exist");
    if (type == P4__V1__UPDATE__TYPE__DELETE) {
        sk_pre_group_delete(sw, (uint16_t)group);
        replicas_delete_nodes(sw, group, 0);
        p4rt_note_set(p, NULL, group, 0, NULL);
        return RPC_OK;
    }
    const enum rpc_status status = replicas_sort(p, e, &nodes, err);
    if (status)
        return status;
    if (!p4rt_note_set(p, NULL, group, replicas_form(e->replicas, e->n_replicas), &e->metadata) ||
        !replicas_set(sw, group, &nodes))
        return p4rt_fail(err, RPC_RESOURCE_EXHAUSTED, "the switch is short of memory");
    return RPC_OK;
}

struct replicas_reading {
    struct p4rt *p;
    struct p4rt_answer *answer;
    uint32_t wanted; // 0: all
    bool good;
};

static bool replicas_message(struct brt_memory *m, uint64_t port, uint32_t instance, bool number,
                             P4__V1__Replica **out) {
    P4__V1__Replica *r = *out = brt_take(m, sizeof *r);
    if (!r)
        return false;
    p4__v1__replica__init(r);
    r->instance = instance;
    r->port_kind_case =
        number ? P4__V1__REPLICA__PORT_KIND_EGRESS_PORT : P4__V1__REPLICA__PORT_KIND_PORT;
    r->egress_port = (uint32_t)port;
    return number || p4rt_bytes(m, &port, 32, false, &r->port);
}

static bool replicas_emit(struct replicas_reading *r, P4__V1__PacketReplicationEngineEntry *e) {
    P4__V1__Entity entity = P4__V1__ENTITY__INIT;
    entity.entity_case = P4__V1__ENTITY__ENTITY_PACKET_REPLICATION_ENGINE_ENTRY;
    entity.packet_replication_engine_entry = e;
    return p4rt_answer_add(r->answer, &entity);
}

// Of a group that BF Runtime made, ECMP groups and LAGs cannot be said.
static bool replicas_emit_group(void *aux, uint16_t mgid, const struct sk_pre_member *members,
                                size_t n) {
    struct replicas_reading *r = aux;
    const struct sk_pre *pre = sk_switch_pre(brt_switch(r->p->b));
    struct brt_memory *m = brt_scratch_memory(r->p->b);
    P4__V1__PacketReplicationEngineEntry e = P4__V1__PACKET_REPLICATION_ENGINE_ENTRY__INIT;
    P4__V1__MulticastGroupEntry group = P4__V1__MULTICAST_GROUP_ENTRY__INIT;
    struct sk_pre_node_view node;
    struct p4rt_note note;
    size_t most = 0;
    if (r->wanted && mgid != r->wanted)
        return true;
    for (size_t i = 0; i < n; i++)
        if (!members[i].ecmp && pre_node_view(pre, members[i].node, &node))
            most += node.n_ports;
    p4rt_note_get(r->p, NULL, mgid, &note);
    group.replicas = brt_take(m, (most + 1) * sizeof *group.replicas);
    r->good = group.replicas != NULL;
    for (size_t i = 0; r->good && i < n; i++)
        if (!members[i].ecmp && pre_node_view(pre, members[i].node, &node))
            for (size_t k = 0; r->good && k < node.n_ports; k++)
                r->good = replicas_message(m, p4rt_port_number(r->p, node.ports[k]), node.rid,
                                           note.number != 0, &group.replicas[group.n_replicas++]);
    group.multicast_group_id = mgid;
    group.metadata = note.bytes;
    e.type_case = P4__V1__PACKET_REPLICATION_ENGINE_ENTRY__TYPE_MULTICAST_GROUP_ENTRY;
    e.multicast_group_entry = &group;
    r->good = r->good && replicas_emit(r, &e);
    return r->good;
}

// ---- clone sessions ----

static enum rpc_status replicas_clone(struct p4rt *p, P4__V1__Update__Type type,
                                      const P4__V1__CloneSessionEntry *e, struct sk_error *err) {
    struct sk_switch *sw = brt_switch(p->b);
    struct sk_mirror_session s = {
        .enabled = true, .direction = SK_MIRROR_IN | SK_MIRROR_OUT, .ucast_valid = true};
    const uint32_t id = e->session_id;
    const uint32_t most = sk_switch_is_tofino_2(sw) ? 255 : SK_MIRROR_LAST;
    if (id < 1 || id > most)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "clone sessions are 1 to %u", most);
    const bool there = sk_mirror_get(sw, (uint16_t)id)->enabled;
    if (there == (type == P4__V1__UPDATE__TYPE__INSERT))
        return p4rt_fail(err, there ? RPC_ALREADY_EXISTS : RPC_NOT_FOUND, "clone session %u %s", id,
                         there ? "exists already" : "does not exist");
    if (type == P4__V1__UPDATE__TYPE__DELETE) {
        sk_mirror_set(sw, (uint16_t)id, &(struct sk_mirror_session){.enabled = false});
        p4rt_note_set(p, NULL, REPLICAS_SESSION | id, 0, NULL);
        return RPC_OK;
    }
    if (e->n_replicas != 1)
        return p4rt_fail(err, RPC_UNIMPLEMENTED, "a clone session has one replica");
    if (e->class_of_service > 7 || e->packet_length_bytes < 0 ||
        e->packet_length_bytes > UINT16_MAX)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                         "a clone's class of service is at most 7, its length at most 65535");
    const enum rpc_status status = replicas_one(p, e->replicas[0], &s.ucast_port, err);
    if (status)
        return status;
    s.rid = (uint16_t)e->replicas[0]->instance;
    s.cos = (uint8_t)e->class_of_service;
    s.max_pkt_len = (uint16_t)e->packet_length_bytes;
    if (!p4rt_note_set(p, NULL, REPLICAS_SESSION | id, replicas_form(e->replicas, 1), NULL))
        return p4rt_fail(err, RPC_RESOURCE_EXHAUSTED, "the switch is short of memory");
    return sk_mirror_set(sw, (uint16_t)id, &s)
               ? p4rt_fail(err, RPC_INVALID_ARGUMENT, "clone session %u cannot be set", id)
               : RPC_OK;
}

static bool replicas_emit_clone(struct replicas_reading *r, uint16_t id) {
    const struct sk_mirror_session *s = sk_mirror_get(brt_switch(r->p->b), id);
    P4__V1__PacketReplicationEngineEntry e = P4__V1__PACKET_REPLICATION_ENGINE_ENTRY__INIT;
    P4__V1__CloneSessionEntry session = P4__V1__CLONE_SESSION_ENTRY__INIT;
    P4__V1__Replica *replica;
    struct p4rt_note note;
    if (!s || !s->enabled || (r->wanted && r->wanted != id))
        return true;
    session.session_id = id;
    session.class_of_service = s->cos;
    session.packet_length_bytes = s->max_pkt_len;
    session.replicas = &replica;
    if (s->ucast_valid) {
        p4rt_note_get(r->p, NULL, REPLICAS_SESSION | id, &note);
        if (!replicas_message(brt_scratch_memory(r->p->b), p4rt_port_number(r->p, s->ucast_port),
                              s->rid, note.number != 0, &replica))
            return false;
        session.n_replicas = 1;
    }
    e.type_case = P4__V1__PACKET_REPLICATION_ENGINE_ENTRY__TYPE_CLONE_SESSION_ENTRY;
    e.clone_session_entry = &session;
    return replicas_emit(r, &e);
}

// ---- both ----

enum rpc_status p4rt_replicate(struct p4rt *p, P4__V1__Update__Type type,
                               const P4__V1__PacketReplicationEngineEntry *e,
                               struct sk_error *err) {
    switch (e->type_case) {
    case P4__V1__PACKET_REPLICATION_ENGINE_ENTRY__TYPE_MULTICAST_GROUP_ENTRY:
        return replicas_multicast(p, type, e->multicast_group_entry, err);
    case P4__V1__PACKET_REPLICATION_ENGINE_ENTRY__TYPE_CLONE_SESSION_ENTRY:
        return replicas_clone(p, type, e->clone_session_entry, err);
    default:
        return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                         "the group or session of the replication engine is missing");
    }
}

enum rpc_status p4rt_replicas_read(struct p4rt *p, struct p4rt_answer *answer,
                                   const P4__V1__PacketReplicationEngineEntry *e,
                                   struct sk_error *err) {
    struct replicas_reading r = {.p = p, .answer = answer, .good = true};
    switch (e->type_case) {
    case P4__V1__PACKET_REPLICATION_ENGINE_ENTRY__TYPE_MULTICAST_GROUP_ENTRY:
        r.wanted = e->multicast_group_entry->multicast_group_id;
        pre_groups_each(sk_switch_pre(brt_switch(p->b)), replicas_emit_group, &r);
        break;
    case P4__V1__PACKET_REPLICATION_ENGINE_ENTRY__TYPE_CLONE_SESSION_ENTRY:
        r.wanted = e->clone_session_entry->session_id;
        for (uint16_t id = 1; r.good && id <= SK_MIRROR_LAST; id++)
            r.good = replicas_emit_clone(&r, id);
        break;
    default:
        return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                         "the group or session of the replication engine is missing");
    }
    return r.good ? RPC_OK : p4rt_no_memory(err);
}

static bool replicas_note_group(void *aux, uint16_t mgid, const struct sk_pre_member *members,
                                size_t n) {
    uint64_t *there = aux;
    (void)members;
    (void)n;
    there[mgid / 64] |= UINT64_C(1) << mgid % 64;
    return true;
}

void p4rt_replicas_clear(struct p4rt *p) {
    struct sk_switch *sw = brt_switch(p->b);
    uint64_t there[(UINT16_MAX + 1) / 64] = {0};
    pre_groups_each(sk_switch_pre(sw), replicas_note_group, there);
    for (uint32_t group = 0; group <= UINT16_MAX; group++)
        if (there[group / 64] >> group % 64 & 1) {
            sk_pre_group_delete(sw, (uint16_t)group);
            replicas_delete_nodes(sw, group, 0);
        }
    for (uint16_t id = 1; id <= SK_MIRROR_LAST; id++)
        sk_mirror_set(sw, id, &(struct sk_mirror_session){.enabled = false});
}

// SPDX-License-Identifier: Apache-2.0
//
// pre: the packet replication engine: multicast groups of nodes, each with ports.
//
// A group is a list of level-1 nodes. A node has a replication id and ports; a packet sent to the
// group leaves once per port of each node, except
//   - nodes whose level-1 exclusion id equals the packet's (split horizon of a whole subtree),
//   - ports in the prune set named by the packet's level-2 exclusion id, when the packet's rid
//   equals
//     the node's (do not send back where it came from).
// The first copy of each replication id is marked, since an egress program may do work once per
// rid.
//
// Groups name nodes; a node that a group still names cannot be deleted. Replication itself
// allocates nothing. Calls that change something return 0 or a negative errno and, on failure,
// change nothing. Not thread-safe.
#ifndef SILKEN_PIPELINE_PRE_H
#define SILKEN_PIPELINE_PRE_H

#include "pipeline/switch.h"

#define SK_PRE_PRUNE_SETS 288u

struct sk_pre;

struct sk_pre *sk_pre_new(void); // null when memory is short
void sk_pre_free(struct sk_pre *pre);

int pre_node_set(struct sk_pre *pre, uint32_t node, uint16_t rid, const uint16_t *ports,
                 size_t n_ports);
int pre_node_delete(struct sk_pre *pre, uint32_t node);
int pre_group_set(struct sk_pre *pre, uint16_t mgid, const struct sk_pre_member *members,
                  size_t n_members);
int pre_group_delete(struct sk_pre *pre, uint16_t mgid);
int pre_prune_set(struct sk_pre *pre, uint16_t l2_xid, const uint16_t *ports, size_t n_ports);

struct sk_pre_copy {
    uint16_t port, rid;
    bool rid_first;
};
struct sk_pre_request {
    uint16_t mgid, level1_exclusion_id, level2_exclusion_id, rid;
};
// Calls 'copy' for each copy to make; returns how many there were.
size_t pre_replicate(struct sk_pre *pre, const struct sk_pre_request *req,
                     void (*copy)(void *aux, const struct sk_pre_copy *c), void *aux);

// ---- for listings: each stops when the callback returns false ----
struct sk_pre_node_view {
    uint32_t id;
    uint16_t rid;
    const uint16_t *ports;
    size_t n_ports;
};
void pre_nodes_each(const struct sk_pre *pre,
                    bool (*fn)(void *aux, const struct sk_pre_node_view *n), void *aux);
void pre_groups_each(const struct sk_pre *pre,
                     bool (*fn)(void *aux, uint16_t mgid, const struct sk_pre_member *members,
                                size_t n_members),
                     void *aux);

#endif

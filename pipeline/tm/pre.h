// SPDX-License-Identifier: Apache-2.0
//
// pre: the packet replication engine: multicast groups of nodes, each with ports (tna-facts 5.6).
//
// A group is a list of level-1 members. A member is a node, or an ECMP group: up to 32 slots with
// nodes, of which the packet's level-1 hash chooses one: slot hash % 32, or when that is empty the
// (hash % n)-th of the n occupied ones. A node has a replication id (rid), ports, and LAGs: sets of
// ports of which the packet's level-2 hash chooses one. A LAG may have members on other switches to
// its left and right; when the hash chooses one of those, there is no copy here. A packet sent to
// the group leaves once per port of each node, except
//   - members whose level-1 exclusion id equals the packet's (split horizon of a whole subtree),
//   - ports in the prune set named by the packet's level-2 exclusion id, when the packet's rid is
//     the node's or the global rid, 0 unless set (do not send back where it came from).
// A LAG whose chosen member is down takes the (hash % n)-th of its n members that are up. A port
// that is down and has a backup port is replaced by it. Both can be switched off (struct
// sk_pre_device).
// The first copy of each replication id is marked, since an egress program may do work once per
// rid.
//
// What names another thing (groups nodes and ECMP groups, ECMP groups nodes) needs it to be there,
// and what is named cannot be deleted; LAGs are all there from the start, without members.
// Replication itself allocates nothing. Calls that change something return 0 or a negative errno
// (EINVAL a port or number that does not exist or comes twice, ENOENT, EBUSY, EEXIST a member
// twice, ENOMEM) and, on failure, change nothing. Several threads may replicate, each with marks of
// its own, while nobody changes anything.
#ifndef SILKEN_PIPELINE_TM_PRE_H
#define SILKEN_PIPELINE_TM_PRE_H

#include "pipeline/switch/switch.h"

#define SK_PRE_PRUNE_SETS 288u

struct sk_pre;

struct sk_pre *sk_pre_new(void); // null when memory is short; all ports are up
void sk_pre_free(struct sk_pre *pre);

int pre_node_set(struct sk_pre *pre, uint32_t node, uint16_t rid, const uint16_t *ports,
                 size_t n_ports, const uint8_t *lags, size_t n_lags);
int pre_node_delete(struct sk_pre *pre, uint32_t node);
int pre_ecmp_set(struct sk_pre *pre, uint32_t ecmp, const uint32_t *nodes, size_t n_nodes);
int pre_ecmp_delete(struct sk_pre *pre, uint32_t ecmp);
int pre_lag_set(struct sk_pre *pre, uint8_t lag, const struct sk_pre_lag *as);
int pre_group_set(struct sk_pre *pre, uint16_t mgid, const struct sk_pre_member *members,
                  size_t n_members);
int pre_group_delete(struct sk_pre *pre, uint16_t mgid);
int pre_prune_set(struct sk_pre *pre, uint16_t l2_xid, const uint16_t *ports, size_t n_ports);
void pre_global_rid(struct sk_pre *pre, uint16_t rid);
void pre_device_set(struct sk_pre *pre, const struct sk_pre_device *as);
int pre_backup_set(struct sk_pre *pre, uint16_t port, uint16_t backup); // itself: none
void pre_port_live(struct sk_pre *pre, uint16_t port, bool live);

struct sk_pre_copy {
    uint16_t port, rid;
    bool rid_first;
};
struct sk_pre_request {
    uint16_t mgid, level1_exclusion_id, level2_exclusion_id, rid;
    uint16_t level1_hash, level2_hash; // 13 bits
    bool rid_in_hash; // a Tofino 2: LAGs are chosen by the level-2 hash with the node's rid in it
};
// What replication remembers between requests: of each core that replicates its own. Null when
// memory is short.
struct sk_pre_marks;
struct sk_pre_marks *sk_pre_marks_new(void);
void sk_pre_marks_free(struct sk_pre_marks *marks); // null allowed

// Calls 'copy' for each copy to make; returns how many there were.
size_t pre_replicate(const struct sk_pre *pre, struct sk_pre_marks *marks,
                     const struct sk_pre_request *req,
                     void (*copy)(void *aux, const struct sk_pre_copy *c), void *aux);

// ---- for listings: each stops when the callback returns false ----
struct sk_pre_node_view {
    uint32_t id;
    uint16_t rid;
    const uint16_t *ports;
    size_t n_ports;
    const uint8_t *lags;
    size_t n_lags;
};
void pre_nodes_each(const struct sk_pre *pre,
                    bool (*fn)(void *aux, const struct sk_pre_node_view *n), void *aux);
void pre_ecmps_each(const struct sk_pre *pre,
                    bool (*fn)(void *aux, uint32_t id, const uint32_t *nodes, size_t n), void *aux);
void pre_groups_each(const struct sk_pre *pre,
                     bool (*fn)(void *aux, uint16_t mgid, const struct sk_pre_member *members,
                                size_t n_members),
                     void *aux);
// ---- one of them: false when it does not exist ----
bool pre_node_view(const struct sk_pre *pre, uint32_t id, struct sk_pre_node_view *out);
bool pre_ecmp_view(const struct sk_pre *pre, uint32_t id, uint32_t nodes[SK_PRE_ECMP_SLOTS],
                   size_t *n_nodes);
// With its number of members, which 'members' takes where it is not null.
bool pre_group_view(const struct sk_pre *pre, uint16_t mgid, struct sk_pre_member *members,
                    size_t *n_members);
// How many groups and ECMP groups name it.
uint32_t pre_node_users(const struct sk_pre *pre, uint32_t node);
uint32_t pre_ecmp_users(const struct sk_pre *pre, uint32_t ecmp);

// Null when the LAG has no members.
const struct sk_pre_lag *pre_lag(const struct sk_pre *pre, uint8_t lag);
// The ports of a prune set, ascending, into room for SK_PORTS; returns how many there are.
size_t pre_prune(const struct sk_pre *pre, uint16_t l2_xid, uint16_t *ports);
uint16_t pre_backup(const struct sk_pre *pre, uint16_t port); // itself: none
struct sk_pre_device pre_device(const struct sk_pre *pre);

#endif

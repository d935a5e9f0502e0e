// SPDX-License-Identifier: Apache-2.0
//
// pre_impl: the inside of the replication engine, shared by pre.c (what is configured) and
// pre_replicate.c (a packet's copies). Nobody else includes it.
#ifndef SILKEN_PIPELINE_TM_PRE_IMPL_H
#define SILKEN_PIPELINE_TM_PRE_IMPL_H

#include "pipeline/tm/pre.h"

#define PRE_GROUPS 65536u
#define PRE_RIDS   65536u

struct node {
    uint32_t id;
    uint16_t rid;
    uint32_t users; // groups and ECMP groups that name it
    uint16_t *ports;
    size_t n_ports;
    uint8_t *lags;
    size_t n_lags;
};

struct ecmp {
    uint32_t id;
    uint32_t users;                        // groups that name it
    struct node *slots[SK_PRE_ECMP_SLOTS]; // null: empty
    size_t n_slots;                        // up to the last one given
};

struct member {
    struct sk_pre_member as_given;
    struct node *node; // one of the two
    struct ecmp *ecmp;
};

// A copy that a group makes unless its member is excluded.
struct flat_copy {
    uint16_t port, rid, xid;
    bool has_xid;
    bool shared; // another copy has the rid, too: whether this is the first depends on the packet
};

struct group {
    // All its copies, when they are of nodes that name ports only; null: its members say.
    struct flat_copy *flat;
    size_t n_flat;
    size_t n_members;
    struct member members[];
};

struct lag {
    struct sk_pre_lag as_given; // its ports ascending, in memory of the LAG's
    uint16_t *ports;
};

struct sk_pre {
    void **nodes; // struct node *, ascending ids
    size_t n_nodes;
    void **ecmps; // struct ecmp *, ascending ids
    size_t n_ecmps;
    struct group **groups;  // by mgid
    uint32_t end_of_groups; // no group from this mgid on has ever been set
    struct lag lags[SK_PRE_LAGS];
    uint64_t prune[SK_PRE_PRUNE_SETS][SK_PORTS / 64];
    bool prunes[SK_PRE_PRUNE_SETS]; // the set is not empty
    uint64_t down[SK_PORTS / 64];
    uint16_t backup[SK_PORTS];
    struct sk_pre_device device;
};

// Tells the first copy of a rid: the last request in which it was copied.
struct sk_pre_marks {
    uint64_t requests, copied_in[PRE_RIDS]; // by rid
};

static inline bool pre_has(const uint64_t *set, uint16_t port) {
    return set[port / 64] >> (port % 64) & 1;
}

#endif

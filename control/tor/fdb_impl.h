// SPDX-License-Identifier: Apache-2.0
//
// fdb_impl: what fdb.c and fdb_show.c share.
#ifndef SILKEN_CONTROL_TOR_FDB_IMPL_H
#define SILKEN_CONTROL_TOR_FDB_IMPL_H

#include "control/tor/links_impl.h"
#include "control/tor/tor_impl.h"
#include "heap.h"
#include "openvswitch/hmap.h"
#include "openvswitch/list.h"

// Learning and moving costs writes while the pipes wait: so many a second, so many at once. What is
// over is not learned; the next packet of that address asks again.
#define FDB_RATE  4000u
#define FDB_BURST 1000u
// One link has a limit of its own besides, so that one which floods leaves the others their share
// (limits.c).
// An address that moved so often in so many seconds is held where it is, for some time.
#define FDB_MOVES        5u
#define FDB_MOVE_SECONDS 10u
#define FDB_HOLD_SECONDS 30u

// An address and where it is.
struct fdb_place {
    struct hmap_node node;
    uint16_t vid;
    uint8_t mac[6];
    struct tor_link *link;
    bool fixed;     // by the configuration; mac-learning knows the others only
    bool said;      // by the configuration that is being read
    uint64_t since; // when it was first seen there
    uint64_t used;  // when it became the last of its link's to be evicted
    uint64_t first; // first of the moves that are counted
    unsigned moves;
    bool held;
    uint64_t held_until;
    struct ovs_list held_node; // ascending by 'held_until'
    uint32_t ttl;              // ms, of its entry; 0: it does not age
    struct heap_node due_node; // when it is looked at whether it is idle; only with 'ttl'
};

struct mac_learning;
// ns of learning that may still be spent, as of 'at'.
struct fdb_credit {
    uint64_t left, at;
};
struct fdb {
    struct mac_learning *learning; // which addresses stay when there are too many, and their links
    uint32_t hash_secret;          // of 'places'
    struct hmap places;
    struct ovs_list held;
    struct heap due; // those that age; the first has the highest priority
    size_t n_fixed;
    struct fdb_credit credit; // of the switch
    uint64_t sized;           // when the tables' sizes were looked at
    uint64_t warned;          // of the switch's own address coming in
    uint64_t told, n_told;    // moves told in this second
    uint64_t n_learned, n_moved, n_aged, n_evicted, n_limited, n_damped, n_refused;
};

struct fdb *tor_fdb(struct tor *t);
struct fdb_place *tor_fdb_place(const struct fdb *f, uint16_t vid, const uint8_t mac[6]); // or null
// Milliseconds since a packet came from the address; UINT64_MAX: the switch does not say.
uint64_t tor_fdb_age(struct tor *t, const struct fdb_place *p);

// Which addresses: all that are so.
struct fdb_filter {
    uint16_t vid; // 0: any
    const struct tor_link *link;
    bool has_mac;
    uint8_t mac[6];
};
bool tor_fdb_passes(const struct fdb_filter *filter, const struct fdb_place *p);
// Forgets those that were learned; returns how many.
size_t tor_fdb_flush(struct tor *t, const struct fdb_filter *filter);

// ---- fdb_show.c ----
json_t *tor_fdb_request(struct tor *t, void *state, const char *op, json_t *request,
                        struct sk_error *err);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// links_impl: what the files of links share.
//
//     links.c          which links there are, their interface numbers, which of their ports carry
//                      traffic
//     links_tables.c   what follows from it in the switch's tables, mirrors included
//     links_show.c     requests
//     mcast.c          multicast groups, flooding
//     fdb.c            is told when a link carries nothing any more
#ifndef SILKEN_CONTROL_TOR_LINKS_IMPL_H
#define SILKEN_CONTROL_TOR_LINKS_IMPL_H

#include "control/tor/tor_impl.h"
#include "openvswitch/hmap.h"

#define LINKS_INTERFACES    1024u
#define LINKS_ISOLATED_FROM 512u // interfaces from here on are isolated from each other (p4/tor)
// Their ports: what comes in by one of them is not flooded to the others.
#define LINKS_PRUNE_SET 1u
// Groups of p4/tor's selector; of the replication engine there are 255.
#define LINKS_LAGS   128u
#define LINKS_NO_LAG UINT8_MAX
#define LINKS_PORTS  512u

// A link flaps when its ports went up or down that often in that time, and until there was none for
// as long.
#define LINKS_FLAP_CHANGES  6u
#define LINKS_FLAP_SECONDS  30u
#define LINKS_QUIET_SECONDS 60u

struct own_link {
    struct tor_link link; // the first: what others see
    uint8_t lag;          // number of a LAG, in the replication engine; LINKS_NO_LAG: a port alone
    bool carrier[TOR_LAG_PORTS];        // link of the port is up
    uint64_t changed;                   // when the link began or ended to carry traffic, ns
    uint64_t flaps[LINKS_FLAP_CHANGES]; // times of the last changes of carriers, a ring
    uint64_t n_flaps;                   // changes there have been
    bool flapping;
    struct own_link *next_gone;
};

struct links {
    struct own_link **list; // n of them, in the section's order
    size_t n;
    struct own_link *by_interface[LINKS_INTERFACES], *by_port[LINKS_PORTS];
    uint64_t given_back[LINKS_INTERFACES]; // counts up; 0: the number was never anyone's
    uint64_t n_given_back;
    bool lags[LINKS_LAGS]; // numbers that are some link's
    size_t n_flapping;
    struct own_link *gone;      // links that are no more; freed when all modules know
    struct hmap groups;         // mcast.c
    uint64_t mgids[65536 / 64]; // those that tor_mgid_new() gave
};

struct links *tor_links(struct tor *t);

// ---- links_tables.c ----
// Says all that the section wants of the links.
void tor_links_say(struct tor *t, struct links *l);
// What depends on which of the link's ports carry traffic.
void tor_links_say_active(struct tor *t, const struct own_link *own);
// Mirrors whose copies go to the link.
void tor_links_say_mirrors_to(struct tor *t, const struct own_link *own);

// ---- mcast.c ----
void tor_mcast_init(struct links *l);
void tor_mcast_destroy(struct links *l);
// Groups of VLANs, and 'floods'; 'old' null: there were none.
void tor_mcast_floods(struct tor *t, struct links *l, const struct tor_section *old);
// After links changed: groups that others want.
void tor_mcast_follow(struct tor *t, struct links *l);

// ---- links_show.c ----
json_t *tor_links_request(struct tor *t, void *state, const char *op, json_t *request,
                          struct sk_error *err);

// ---- fdb.c ----
// Forgets all addresses that were learned at the link.
void tor_fdb_flush_link(struct tor *t, const struct tor_link *link);
// How many addresses are known in the VLAN (0: any) and at the link (null: any).
size_t tor_fdb_count(struct tor *t, uint16_t vid, const struct tor_link *link);

#endif

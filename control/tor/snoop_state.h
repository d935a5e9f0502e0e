// SPDX-License-Identifier: Apache-2.0
//
// snoop_state: who wants which group, as snoop.c keeps it for its other files.
//
//     snoop.c         frames, leaves, links and configurations that come and go
//     snoop_query.c   routers' links, election of the querier, our own queries
//     snoop_tables.c  groups become entries of the switch
//     snoop_show.c    what an operator sees
//
// Memberships and their age are Open vSwitch's (mcast-snooping.h), one table for each VLAN, so that
// each has its own ageing time and none can push out another's groups. Three things it does
// otherwise than we want, so they are here: its readers of reports take a leave at its word, add a
// member for BLOCK, and count auxiliary data in bytes, where RFC 3376 has words; a router's link
// has no memberships there, and ages in 180 seconds, even if queries come less often; a full table
// throws out the group that was silent longest, where we refuse the new one. A link is told to it
// by its interface number.
#ifndef SILKEN_CONTROL_TOR_SNOOP_STATE_H
#define SILKEN_CONTROL_TOR_SNOOP_STATE_H

#include "control/tor/snoop_impl.h"
#include "control/tor/tor_impl.h"
#include "mcast-snooping.h"
#include "openvswitch/hmap.h"
#include "openvswitch/list.h"

#define SNOOP_INTERFACES 1024u
// Groups of a VLAN; of one link in a VLAN; Ethernet addresses of all.
#define SNOOP_GROUPS         1024u
#define SNOOP_GROUPS_OF_LINK 512u
#define SNOOP_MACS           8192u

#define SNOOP_SECOND      UINT64_C(1000000000)
#define SNOOP_ROBUSTNESS  2u // queries that are sent where one would do; RFC 3376 8.1
#define SNOOP_INTERVAL    125u
#define SNOOP_RESPONSE_MS 10000u
#define SNOOP_LAST_MS     1000u // last member query interval

enum snoop_family { SNOOP_IGMP, SNOOP_MLD, SNOOP_FAMILIES };

struct snoop_links {
    uint64_t bits[SNOOP_INTERFACES / 64]; // by interface
};

// An Ethernet address, which several groups may share.
struct snoop_mac_entry {
    struct hmap_node node; // in macs of the VLAN
    struct ovs_list dirty; // in dirty of the VLAN, or alone
    struct ovs_list groups;
    uint8_t mac[6];
    uint16_t mgid; // 0: it has no entry
    bool flooded;  // shared with groups of a link, which everybody gets
    bool anothers; // another module has the entry: a job's group
};
struct snoop_group {
    struct hmap_node node; // in groups of the VLAN
    struct ovs_list in_mac;
    struct ovs_list doubts;
    struct snoop_mac_entry *mac;
    struct in6_addr address;
    struct snoop_links fixed; // by configuration
};
// About a member: hosts of version 1 are there, which do not say when they leave; or somebody left,
// and others have been asked whether they stay.
struct snoop_doubt {
    struct ovs_list in_vlan, in_group;
    struct snoop_group *group;
    uint16_t interface;
    unsigned asks;                              // that are still to be sent
    uint64_t ask_at, leave_at, version_1_until; // ns; leave_at 0: it stays
};
struct snoop_router {
    uint16_t interface;
    uint64_t until;
};
struct snoop_querier {
    bool other;              // somebody else asks
    struct in6_addr address; // who
    uint16_t interface;      // where
    uint64_t until;          // by when it is asked again
    uint64_t next;           // our next general query
    unsigned startup;        // of those, how many come quickly
};
struct snoop_vlan {
    uint16_t vid;
    const struct tor_vlan *section;
    struct mcast_snooping *ms;
    uint32_t hash_secret; // of both
    struct hmap groups, macs;
    struct ovs_list dirty, doubts;
    struct snoop_router *routers;
    size_t n_routers, room_routers;
    struct snoop_querier queriers[SNOOP_FAMILIES];
    uint16_t unjoined; // mgid of groups that nobody joined; 0: they are flooded
    uint16_t memberships[SNOOP_INTERFACES];
    uint64_t refused, bad, alarm_at;
    uint64_t guarded; // queries from links that have no querier
    bool was_querier; // by the last configuration
};
struct snoop {
    struct snoop_vlan *vlans[4096];
    char names[SNOOP_INTERFACES][TOR_NAME]; // of links, as of the last configuration
    bool up[SNOOP_INTERFACES];
    size_t n_macs;
    uint64_t run_at, age_at;
    uint64_t events_at; // when the next 'events' may be told
    unsigned events;
};

static inline void *snoop_key(uint16_t interface) {
    return (void *)(uintptr_t)interface;
}

// ---- snoop.c ----
bool snoop_may_pass(const struct tor_link *from, const struct tor_link *to);
// Out by one port of the link; nothing if it is down.
void snoop_send(struct tor *t, uint16_t vid, const struct tor_link *link, const uint8_t *frame,
                uint32_t length);
// To all links of the VLAN but that it came from (may be null).
void snoop_flood(struct tor *t, uint16_t vid, const struct tor_link *from, const uint8_t *frame,
                 uint32_t length);

// The member may leave: it does at 'leave_at', if nobody reports until then. 'asks': queries that
// we are still to send.
void snoop_doubt(struct snoop_vlan *v, struct snoop_group *g, uint16_t interface, unsigned asks,
                 uint64_t leave_at, uint64_t now);

// ---- snoop_query.c ----
struct in6_addr snoop_own_address(const struct tor *t, const struct snoop_vlan *v,
                                  enum snoop_family f);
bool snoop_is_router(struct tor *t, const struct snoop_vlan *v, const struct tor_link *link);
void snoop_heard_query(struct tor *t, struct snoop_vlan *v, struct tor_link *link,
                       const struct snoop_message *m);
void snoop_query_configure(struct tor *t, struct snoop_vlan *v);
void snoop_query_run(struct tor *t, struct snoop_vlan *v);
// A link came up: its hosts are asked at once. Or went down.
void snoop_query_link(struct tor *t, struct snoop_vlan *v, struct tor_link *link);
void snoop_query_forget(struct tor *t, struct snoop_vlan *v, uint16_t interface);
// Asks on one link about one group.
void snoop_query_group(struct tor *t, struct snoop_vlan *v, const struct tor_link *link,
                       const struct in6_addr *group);

// ---- snoop_tables.c ----
// An Ethernet address that groups of a link have too: everybody gets those (the table `others` of
// p4/tor floods them).
bool snoop_mac_is_flooded(const uint8_t mac[6]);
struct snoop_group *snoop_group_find(const struct snoop_vlan *v, const struct in6_addr *address);
// Makes it, or null: there is no room.
struct snoop_group *snoop_group_need(struct snoop *s, struct snoop_vlan *v,
                                     const struct in6_addr *address);
bool snoop_is_member(struct snoop_vlan *v, const struct in6_addr *group, uint16_t interface);
// Its members are to be written again; of all groups of the VLAN.
void snoop_touch(struct snoop_vlan *v, struct snoop_group *g);
void snoop_touch_all(struct snoop_vlan *v);
void snoop_write(struct tor *t, struct snoop *s, struct snoop_vlan *v);
// Entries that another module took, or had: to be written again.
void snoop_touch_given_back(struct tor *t, struct snoop_vlan *v);
// Where groups go that nobody joined: the routers' links have changed, or the configuration.
void snoop_write_unjoined(struct tor *t, struct snoop_vlan *v);
void snoop_doubt_free(struct snoop_doubt *d);
// All of the VLAN leaves the switch.
void snoop_unwant(struct tor *t, struct snoop *s, struct snoop_vlan *v);

// ---- snoop_show.c ----
json_t *snoop_request(struct tor *t, void *state, const char *op, json_t *request,
                      struct sk_error *err);

#endif

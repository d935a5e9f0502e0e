// SPDX-License-Identifier: Apache-2.0
//
// routes: prefixes, their sets of next hops, and the neighbours that these are (routes.c has the
// essay). routes_request.c has the requests about them.
#ifndef SILKEN_CONTROL_TOR_ROUTES_H
#define SILKEN_CONTROL_TOR_ROUTES_H

#include "control/tor/tor_impl.h"
#include "openvswitch/hmap.h"

// p4/tor: members and groups of the selector `ecmp`; sets have the numbers of both.
#define HOPS_MOST   2047u
#define FIRST_GROUP 2048u
#define GROUPS_MOST 256u

struct hop {
    struct hmap_node node; // of 'struct routes', by VLAN and address
    uint16_t vid;
    struct in6_addr address;
    bool known; // 'mac' is
    uint8_t mac[6];
    uint16_t interface; // that it is at; 0: none that carries traffic is known
    uint16_t number;    // 0: it was not live yet
    bool live;
    unsigned uses; // sets that have it
};

struct hop_set {
    struct hop_set *next;
    struct hop *hops[TOR_ROUTE_HOPS]; // by VLAN and address
    size_t n, n_live;
    uint16_t group;                    // 0: of a single hop
    struct hop *place[TOR_ROUTE_HOPS]; // whose it is at present; null while no hop is live
    size_t n_places;
    bool said; // by the configuration
};

enum prefix_kind { PREFIX_CONNECTED, PREFIX_STATIC, PREFIX_DISCARDED };
struct prefix {
    struct hmap_node node; // of 'struct routes', by address and length
    struct in6_addr address;
    uint8_t length; // IPv4: from 96
    enum prefix_kind kind;
    uint16_t vid;        // of PREFIX_CONNECTED
    struct hop_set *set; // of PREFIX_STATIC
};

struct routes {
    struct hmap hops, prefixes;
    struct hop_set *sets;
    bool lengths[129]; // of prefixes that there are
    bool taken[HOPS_MOST + 1];
    bool short_of_numbers; // and that was told
};

// routes_request.c: "tor.routes"
json_t *tor_routes_request(struct tor *t, void *state, const char *op, json_t *request,
                           struct sk_error *err);

#endif

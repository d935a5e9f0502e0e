// SPDX-License-Identifier: Apache-2.0
//
// section: the member "tor" of the configuration, read and checked.
//
//     "tor": {
//       "mac": "02:00:00:00:00:01",            the switch's own address; without: made from the
//                                              machine's id
//       "vlans": [{"vid": 10, "name": "blue",
//                  "addresses": ["10.0.10.1/24",         the switch's own, and connected routes
//                                "2001:db8:10::1/64"],
//                  "mtu": 1500,                of what is routed into it
//                  "aging": 300,               seconds; 0: addresses stay
//                  "announce": true,           probe for and announce 'addresses' unasked
//                  "snooping": true,           or {"querier": true, "interval": 125, "idle": 300,
//                                                  "unknown": "flood"|"routers",
//                                                  "immediate_leave": false (without asking whether
//                                                  somebody
//                                                  else is there: one host on each link)}; without:
//                                                  groups are flooded
//                  "static_groups": [{"group": "239.1.1.1", "links": ["a", "b"]}]}],
//       "links": [{"name": "a", "port": "web1"},              a port by its name or number
//                 {"name": "up", "ports": ["up1", "up2"],     a LAG
//                  "lacp": {"active": true, "fast": false,      without "lacp": static
//                           "priority": 32768}},
//                 ... each with
//                  "access": 10   or  "trunk": [10, 20] or "all", "native": 10
//                  "learn": true,
//                  "limits": {"addresses": 8192, "address_rate": 1000,          learned there; new
//                             "neighbours": 1024, "neighbour_rate": 1000},      ones a second
//                  "storm": {"broadcast": 1000, "multicast": 1000, "unknown": 1000},    packets/s
//                  "claims": {"important": 5000, "signal": 50},                         Mbit/s
//                  "acl": "guests", "querier_port": false (a multicast router is after it),
//                  "querier": true (false: none is, whatever comes), "isolated": false}],
//       "macs": [{"vid": 10, "mac": "..", "link": "a"}],      static addresses
//       "neighbours": [{"address": "10.0.10.9", "mac": "..", "vid": 10}],
//       "routes": [{"to": "0.0.0.0/0", "via": ["10.0.10.254"]}, {"to": "192.0.2.0/24", "discard":
//       true}],
//       "acls": [{"name": "guests", "rules": [
//           {"action": "permit"|"deny"|"copy"|"mirror", "mirror": "m", "family":
//            "ipv4"|"ipv6"|"ethernet",
//            "vid": 10, "from": "10.0.0.0/8", "to": "..", "protocol": "tcp"|6, "from_port":
//            "1000-2000", "to_port": 80,
//            "tcp_flags": "syn", "dscp": 46, "from_mac": "..", "to_mac": "..", "ether_type":
//            "0x0806"}]}],
//       "mirrors": [{"name": "m", "to": "probe", "length": 128, "links": [{"link": "a",
//       "direction": "in"|"out"|"both"}]}],
//       "queues": [{"dscp": 46, "queue": 5, "colour": "green", "ecn": "none"|"capable",
//                   "claim": "important"|"signal"}],
//       "sprayed": [3, 7],                     DSCPs whose packets take equal paths by turns
//       "ecn": {"from_cells": 1000},           marks packets of ECN-capable flows in queues at
//                                              least this deep
//       "control_rate": 1000,                  packets a second to the control plane, for each
//                                              reason
//       "sampling": {"one_in": 4096, "to": "127.0.0.1:6343"},    control/config/watch.h reads it
//       "jobs": [...],                         jobs_impl.h
//       "state": "/var/lib/silken/rack/jobs.json"    what is remembered of jobs (jobs_state.c);
//                                                    without: nothing
//     }
//
// Everything a module needs is in struct tor_section, with names resolved: a link is its place in
// 'links', an access list or mirror its place, ports are numbers. A section that is read is right:
// modules have nothing to refuse.
#ifndef SILKEN_CONTROL_TOR_SECTION_H
#define SILKEN_CONTROL_TOR_SECTION_H

#include <netinet/in.h>

#include "control/tor/tor.h"

#define TOR_NAME       64u  // characters of a name, with the zero
#define TOR_LINKS_MOST 512u // interfaces are 1 to 1023, of which 0 is none
#define TOR_LAG_PORTS  16u  // ports of a LAG
#define TOR_ROUTE_HOPS 64u  // equal next hops of a route: p4/tor's selector
#define TOR_RULES_MOST 512u // of each family: p4/tor's access lists
#define TOR_NONE       UINT32_MAX

#define TOR_ACLS_MOST    127u
#define TOR_MIRRORS_MOST 255u

struct tor_mac {
    uint8_t bytes[6];
};
// IPv4 addresses are IPv4-mapped (::ffff:a.b.c.d), with prefix lengths of 96 and more.
struct tor_prefix {
    struct in6_addr address;
    uint8_t length; // 0 to 128
};

struct tor_static_group {
    struct in6_addr group;
    uint32_t *links;
    size_t n_links;
};
struct tor_vlan {
    uint16_t vid;
    char name[TOR_NAME];          // "" without
    struct tor_prefix *addresses; // with the host part
    size_t n_addresses;
    uint32_t mtu;   // 1280 to 9198; 1500 without
    uint32_t aging; // seconds
    bool announce;
    bool snooping, querier, flood_unknown, immediate_leave;
    uint32_t query_interval, group_idle; // seconds
    struct tor_static_group *groups;
    size_t n_groups;
};
// What one link may have of what all share, and how many more a second.
enum tor_limit { TOR_LIMIT_ADDRESSES, TOR_LIMIT_NEIGHBOURS, TOR_LIMITS };
struct tor_link_limit {
    uint32_t most, rate;
};
#define TOR_CLAIMS 2u // important, signal
struct tor_link_section {
    char name[TOR_NAME];
    uint16_t ports[TOR_LAG_PORTS];
    size_t n_ports;
    bool lag, lacp, lacp_active, lacp_fast;
    uint16_t lacp_priority;
    uint16_t *vids; // tagged here, ascending; n_vids of them
    size_t n_vids;
    uint16_t untagged;            // access or native VLAN; 0: none
    bool learn, isolated, router; // 'router': reports and all groups go there
    bool guarded;                 // queries from there are nobody's: no router is after it
    uint32_t claims[TOR_CLAIMS];  // Mbit/s that packets may have which claim it; 0: no limit
    uint32_t storm[3];            // broadcast, multicast, unknown: packets a second; 0: no limit
    uint32_t acl;                 // TOR_NONE: none
    struct tor_link_limit limits[TOR_LIMITS];
};
struct tor_static_mac {
    uint16_t vid;
    struct tor_mac mac;
    uint32_t link;
};
struct tor_static_neighbour {
    uint16_t vid;
    struct in6_addr address;
    struct tor_mac mac;
};
struct tor_route {
    struct tor_prefix to;
    bool discard;
    struct in6_addr *via;
    size_t n_via;
};
enum tor_family { TOR_IPV4, TOR_IPV6, TOR_ETHERNET, TOR_FAMILIES };
enum tor_rule_action { TOR_PERMIT, TOR_DENY, TOR_COPY, TOR_MIRROR };
struct tor_rule {
    enum tor_family family;
    enum tor_rule_action action;
    uint32_t mirror;            // of TOR_MIRROR
    uint16_t vid;               // 0: any
    struct tor_prefix from, to; // length 0 (IPv4: 96): any
    bool has_protocol, has_from_mac, has_to_mac, has_ether_type, has_dscp;
    uint8_t protocol, dscp, tcp_flags, tcp_flags_mask;
    uint16_t from_port[2], to_port[2]; // from, to; 0 and 65535: any
    struct tor_mac from_mac, to_mac;
    uint16_t ether_type;
};
struct tor_acl {
    char name[TOR_NAME];
    struct tor_rule *rules;
    size_t n_rules;
};
struct tor_mirror_source {
    uint32_t link;
    bool in, out;
};
struct tor_mirror {
    char name[TOR_NAME];
    uint16_t session; // of the switch, from 1; one that stays in a reload keeps its own
    uint32_t to;      // link
    uint16_t length;  // 0: all
    struct tor_mirror_source *sources;
    size_t n_sources;
};
struct tor_queue {
    uint8_t dscp, queue, colour; // 0 green, 1 yellow, 3 red
    uint8_t ecns;                // values of the ECN bits, a bit each
    uint8_t claim;               // claim_t of p4/common/classes.p4
};

struct tor_section {
    struct tor_mac mac;
    struct tor_vlan *vlans; // ascending by vid
    size_t n_vlans;
    struct tor_link_section *links;
    size_t n_links;
    struct tor_static_mac *macs;
    size_t n_macs;
    struct tor_static_neighbour *neighbours;
    size_t n_neighbours;
    struct tor_route *routes;
    size_t n_routes;
    struct tor_acl *acls;
    size_t n_acls;
    struct tor_mirror *mirrors;
    size_t n_mirrors;
    struct tor_queue *queues;
    size_t n_queues;
    uint64_t sprayed;      // DSCPs, a bit each
    uint32_t ecn_cells;    // 0: no marks
    uint32_t control_rate; // packets a second
    json_t *jobs;          // an array or null; a reference is held
    const char *state;     // a path as it is in the file; null: none
    void *memory;          // what the arrays above are in
};

// Null with a sentence that says the place ("tor.json:12: tor.links[3].trunk[1]: ..."). 'section'
// is of a document that has no other use meanwhile, and is not needed afterwards: its 'err' and
// 'failed' are set. 'host' has the ports' names.
struct tor_section *tor_section_read(const struct sk_at *section, const struct tor_host *host,
                                     struct sk_error *err);
// Mirrors have the sessions that those of their names have in 'old'; new ones take what is free.
// Without that, a reload that puts another one in front would have every copy go elsewhere until
// all entries are written.
void tor_section_keep_sessions(struct tor_section *s, const struct tor_section *old);
void tor_section_free(struct tor_section *s); // null allowed

// Ports as a table without ranges has them: value and mask. At most 2 x 16 - 2 of a range, which do
// not overlap; one, of mask 0, of all ports. Returns how many.
#define TOR_PORT_MASKS 30u
struct tor_port_mask {
    uint16_t value, mask;
};
size_t tor_port_masks(const uint16_t range[2], struct tor_port_mask out[TOR_PORT_MASKS]);
size_t tor_rule_entries(const struct tor_rule *rule); // in its family's table
// A packet, said as the fields of a rule that have one value each: an object without "action".
// Ports that are not said are 0. 0, or a negative code with a sentence.
int tor_section_packet(const struct tor_section *s, json_t *fields, struct tor_rule *out,
                       struct sk_error *err);

// The VLAN with that number, or null.
const struct tor_vlan *tor_section_vlan(const struct tor_section *s, uint16_t vid);

#endif

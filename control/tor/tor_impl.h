// SPDX-License-Identifier: Apache-2.0
//
// tor_impl: what the modules of the ToR's control plane share. tor.h lists the files.
//
// A module is a table of functions. Those that it does not need are null. The state of a module is
// its own, in a struct that only its file knows (tor->modules[...] has the pointer).
#ifndef SILKEN_CONTROL_TOR_TOR_IMPL_H
#define SILKEN_CONTROL_TOR_TOR_IMPL_H

#include "control/tor/section.h"
#include "control/tor/wanted.h"

// ---- packets from and to the switch (p4/tor/headers.p4) ----
enum tor_reason {
    TOR_REASON_ARP = 1,
    TOR_REASON_SNOOP,
    TOR_REASON_NEIGHBOUR,
    TOR_REASON_LINK,
    TOR_REASON_LOCAL,
    TOR_REASON_GLEAN,
    TOR_REASON_TTL,
    TOR_REASON_NO_ROUTE,
    TOR_REASON_OPTIONS,
    TOR_REASON_TOO_LONG = 11,
    TOR_REASON_ACL =
        16 // a rule copies it: in the header from the switch a bit beside any of the others
};
struct tor_link;
// A frame from the switch, without its header and without a VLAN tag. 'bytes' begins with the
// Ethernet header; nothing else is known of it.
struct tor_frame {
    enum tor_reason reason;
    bool copied; // a rule of an access list asks for it, whatever the reason is else
    uint16_t port, vid;
    uint16_t interface;
    struct tor_link *link; // that it came in by; null: none that is configured (any more)
    const uint8_t *bytes;
    uint32_t length; // at least 14
    uint64_t now;    // ns
};

// ---- modules ----
struct tor_module {
    const char *name;
    void *(*create)(struct tor *t); // the module's state
    void (*destroy)(struct tor *t, void *state);
    // A configuration is there ('t->section'), the first or another one ('old' is null at first; it
    // lives until all modules are through). Modules are called in the order of the list in tor.c.
    void (*configure)(struct tor *t, void *state, const struct tor_section *old);
    void (*run)(struct tor *t, void *state, uint64_t now_ns);
    // Every module sees every frame.
    void (*frame)(struct tor *t, void *state, const struct tor_frame *frame);
    void (*digest)(struct tor *t, void *state, const struct sk_digest *digest, uint64_t now_ns);
    // A member port of a link went up or down; 'link->up' and 'active' are up to date.
    void (*link)(struct tor *t, void *state, struct tor_link *link, uint16_t port, bool up);
    // Somebody's place changed (fdb.c): 'link' null: it is not known any more.
    void (*moved)(struct tor *t, void *state, uint16_t vid, const uint8_t mac[6],
                  struct tor_link *link);
    // Null with err->text empty: not this module's.
    json_t *(*request)(struct tor *t, void *state, const char *op, json_t *request,
                       struct sk_error *err);
};
enum tor_module_id {
    TOR_MODULE_POLICY, // before the ports that name its lists
    TOR_MODULE_LINKS,
    TOR_MODULE_LAG,
    TOR_MODULE_FDB,
    TOR_MODULE_NEIGHBOURS,
    TOR_MODULE_ROUTES,
    TOR_MODULE_ICMP,
    TOR_MODULE_SNOOP,
    TOR_MODULE_JOBS,
    TOR_MODULES
};
extern const struct tor_module tor_links_module, tor_lag_module, tor_fdb_module,
    tor_neighbours_module, tor_routes_module, tor_icmp_module, tor_snoop_module, tor_policy_module,
    tor_jobs_module;

struct tor {
    struct tor_host host;
    struct tor_section *section;
    struct tor_wanted *wanted;
    void *states[TOR_MODULES];
    uint64_t now;        // ns, of the call that is under way
    struct tor_link *by; // that the frame came in by which is handled now; null: none is
    uint64_t write_due;  // ns, when tor_run may write in pauses again
    // Counts that an operator wants: by reason from the switch, sent, not sent because there was no
    // room.
    uint64_t frames_in[TOR_REASON_ACL + 1], frames_out, frames_lost, frames_bad;
};

// Sends a frame (Ethernet, no tag) out by the port, tagged as 'vid' is there; 0: untagged.
void tor_send_port(struct tor *t, uint16_t port, uint16_t vid, const uint8_t *frame,
                   uint32_t length);
// Into the VLAN, as if it had come in by 'interface' (0: from the switch itself): bridged, routed,
// flooded.
void tor_send_vlan(struct tor *t, uint16_t vid, uint16_t interface, const uint8_t *frame,
                   uint32_t length);
// The host's, or what 'found' is.
uint64_t tor_fact(struct tor *t, enum tor_fact fact, uint64_t found);
// Some of the writes that wait, in one short pause of the pipes: 16, or as many as fit in 0.1 ms,
// one at least. 'refused': as of tor_wanted_flush().
void tor_flush_once(struct tor *t, void (*refused)(void *aux, const char *object, const char *why),
                    void *aux);
// An event for listeners and the log: "link", "alarm", "moved"...; the members as for json_pack().
void tor_event(struct tor *t, const char *event, const char *format, ...);
void tor_moved(struct tor *t, uint16_t vid, const uint8_t mac[6], struct tor_link *link);

// ---- time.c: what the library takes for the time ----
// On this thread, ns; 0: the system's.
void tor_time_is(uint64_t now_ns);

// ---- limits.c: what one link may use of what all links share ----
// Counts of one of them and its credit: how long it has not used its rate.
struct tor_use {
    uint32_t entries;    // addresses that were learned there; neighbours that exist because of it
    uint64_t credit, at; // ns of its rate that may still be spent, as of 'at' (0: never used)
    uint64_t n_limited;  // refused, or others of its own removed for it
    uint64_t last;       // ns: when that was
    bool told;           // the alarm is raised
};
enum tor_limit_kind { TOR_LIMIT_RATE, TOR_LIMIT_MOST };
// Takes one more of the link's rate; false: it has none, which is counted and told.
bool tor_limits_take(struct tor *t, struct tor_link *link, enum tor_limit which);
// Something of the link was refused or removed: counts it and raises the alarm.
void tor_limits_over(struct tor *t, struct tor_link *link, enum tor_limit which,
                     enum tor_limit_kind kind);
void tor_limits_run(struct tor *t, struct tor_link *link); // alarms that end

// ---- links.c: ports and LAGs ----
// Lives as long as the configuration has a link of that name; 'section' changes with a reload.
struct tor_link {
    char name[TOR_NAME];
    uint16_t interface; // 1 to 1023; stays the same over reloads
    uint32_t index;     // in section->links
    const struct tor_link_section *section;
    bool up;                    // some member carries traffic
    bool active[TOR_LAG_PORTS]; // which do: link up and, with LACP, agreed on
    struct tor_use use[TOR_LIMITS];
};
struct tor_link *tor_link_by_index(struct tor *t, uint32_t index);
struct tor_link *tor_link_by_interface(struct tor *t, uint16_t interface); // or null
struct tor_link *tor_link_by_port(struct tor *t, uint16_t port);           // or null
struct tor_link *tor_link_by_name(struct tor *t, const char *name);        // or null
bool tor_link_carries(const struct tor_link *link, uint16_t vid);
// The n-th link that carries the VLAN, n from 0; null beyond the last.
struct tor_link *tor_link_of_vlan(struct tor *t, uint16_t vid, size_t n);
// Which of a LAG's members carry traffic has changed: writes selector members and replication LAGs.
// For lag.c.
void tor_link_set_active(struct tor *t, struct tor_link *link, uint16_t port, bool active);
// A multicast group with a copy for each of the links (node and exclusion id by interface): 'mgid'
// as of tor_mgid_new(). Empty: nobody gets it. For the flooding of VLANs, snooping and jobs.
void tor_mcast_want(struct tor *t, enum tor_set set, uint16_t mgid, struct tor_link *const *links,
                    size_t n);
void tor_mcast_unwant(struct tor *t, uint16_t mgid);
// A number that no group has: above 4095 (VLANs flood to the group with their own number). 0: none
// is left.
uint16_t tor_mgid_new(struct tor *t);
void tor_mgid_free(struct tor *t, uint16_t mgid);

// ---- fdb.c: who is where ----
// Where the address was seen last, or is by configuration; null: not known.
struct tor_link *tor_fdb_find(struct tor *t, uint16_t vid, const uint8_t mac[6]);

// ---- neighbours.c ----
// The MAC address of a neighbour, if it is known and in use. Else it is asked for, and routes are
// told when it answers (tor_routes_neighbour).
bool tor_neighbour_find(struct tor *t, uint16_t vid, const struct in6_addr *address,
                        uint8_t mac[6]);
void tor_neighbour_ask(struct tor *t, uint16_t vid, const struct in6_addr *address);
// Sends an IP packet of at most 9216 bytes to the neighbour, as it is, now or when it answers. If
// it does not, or there is none with that address in the VLAN, tor_icmp_no_neighbour() is called.
// 'from_vid': where it came in; 0: the switch's own.
void tor_neighbour_send(struct tor *t, uint16_t vid, const struct in6_addr *address,
                        uint16_t from_vid, const uint8_t *packet, uint32_t length);
// Is there an entry, in whatever state.
bool tor_neighbour_is_there(struct tor *t, uint16_t vid, const struct in6_addr *address);
// ---- routes.c ----
// A neighbour answered, changed (mac), or does not answer any more (null).
void tor_routes_neighbour(struct tor *t, uint16_t vid, const struct in6_addr *address,
                          const uint8_t *mac);
// The VLAN and next hop of an address: connected (the hop is the address itself) or by a static
// route; false: there is no route. For the switch's own packets, and for a frame that waits for its
// neighbour.
bool tor_route_find(struct tor *t, const struct in6_addr *to, uint16_t *vid, struct in6_addr *hop);
// Do routes have the neighbour as next hop? It is asked for as long as they do.
bool tor_routes_use(struct tor *t, uint16_t vid, const struct in6_addr *address);
// More of the same. 'flow' chooses among equal next hops, of which those go first that are in use.
enum tor_route_result { TOR_ROUTE_NONE, TOR_ROUTE_DISCARDS, TOR_ROUTE_FOUND };
enum tor_route_result tor_route_look(struct tor *t, const struct in6_addr *to, uint32_t flow,
                                     uint16_t *vid, struct in6_addr *hop);
// Sends an IP packet of the switch's own: 'packet' begins with the IP header. Waits for the
// neighbour.
void tor_send_ip(struct tor *t, const uint8_t *packet, uint32_t length);

// ---- icmp.c ----
// A packet could not be sent, for nobody has answered: its sender is told, if it came in by
// 'from_vid' (not 0).
void tor_icmp_no_neighbour(struct tor *t, uint16_t from_vid, const uint8_t *packet,
                           uint32_t length);

// ---- jobs.c ----
// Whether the packet, to an address of the switch, is for its jobs.
struct ip_packet;
bool tor_jobs_hear(struct tor *t, const struct ip_packet *p);
// Another program runs. 'kept': with what jobs had in the switch's registers.
void tor_jobs_replaced(struct tor *t, bool kept);

// ---- policy.c ----
// The acl_group of an access list (its place in the section); 0 of TOR_NONE. It stays the same as
// long as there is a list of that name.
unsigned tor_acl_group(const struct tor *t, uint32_t acl);

// ---- addresses of the switch (addresses.c) ----
// Is it one of the switch's own (any VLAN), and of which VLAN ('vid' may be null; of the link-local
// one: one of those that have IPv6 addresses).
// The first or last address of one of its IPv4 subnets: the network, or all hosts of it.
bool tor_address_is_end(const struct tor *t, const struct in6_addr *a);
bool tor_address_is_own(const struct tor *t, const struct in6_addr *address, uint16_t *vid);
// The switch's address to speak with 'to' from, in the VLAN; false: it has none of that family.
bool tor_address_for(const struct tor *t, uint16_t vid, const struct in6_addr *to,
                     struct in6_addr *own);
// The switch's IPv6 address that is valid on a link only: fe80::/64 and the MAC address's EUI-64.
struct in6_addr tor_link_local(const struct tor *t);

// ---- lists that come in pages (neighbours_request.c) ----
// Where the request wants its page to begin: "from", 0 without; false with a sentence.
bool tor_page(const json_t *request, size_t *from, struct sk_error *err);
// 'page' with "next" if there are more than SK_PAGE of 'count' after 'from'; null if 'page' is.
json_t *tor_page_end(json_t *page, size_t from, size_t count);

// ---- text and bytes (text.c) ----
#define TOR_TEXT 64u // room for any of these
const char *tor_mac_text(const uint8_t mac[6], char out[TOR_TEXT]);
const char *tor_address_text(const struct in6_addr *address, char out[TOR_TEXT]);
bool tor_is_ipv4(const struct in6_addr *address);
struct in6_addr tor_ipv4(uint32_t address); // of the host's byte order

#endif

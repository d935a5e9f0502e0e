// SPDX-License-Identifier: Apache-2.0
//
// section_impl: what the files that read the section share.
//
//     section.c         the whole, VLANs, queues, rates
//     section_text.c    names, numbers, addresses
//     section_links.c   links, static addresses, joined groups, mirrors
//     section_routes.c  the switch's addresses, neighbours, routes
//     section_acl.c     access lists
//
// A reading function marks the document as failed at its place (base/json.h) and returns a harmless
// value; a loop tests reading_good().
#ifndef SILKEN_CONTROL_TOR_SECTION_IMPL_H
#define SILKEN_CONTROL_TOR_SECTION_IMPL_H

#include "control/tor/tor_impl.h"
#include "simap.h"

#define VIDS 4096u
// What p4/tor's tables hold.
#define VLAN_ENTRIES 16384u // vlans_in, vlans_out: a port's VLANs
#define DESTINATIONS 16384u
#define NEIGHBOURS   2047u
// A second, of one link at most: what is learned of all (fdb_impl.h), and as many neighbours.
#define ADDRESS_RATE   4000u
#define NEIGHBOUR_RATE 4000u
#define IPV4_PREFIXES  4096u
#define IPV6_PREFIXES  1024u
#define IPV4_HOSTS     8192u
#define IPV6_HOSTS     4096u
#define HOP_SETS       256u  // of more than one next hop
#define HOP_MEMBERS    2048u // next hops that routes name
#define LAGS           128u
#define CPU_PORT       64u

// An address of the switch, where it stands, and the prefix that is connected by it.
struct connected {
    struct tor_prefix prefix; // with the host part
    struct in6_addr network;
    uint16_t vid;
    size_t vlan, index; // tor.vlans[vlan].addresses[index]
};

struct reading {
    struct tor_section *s;
    const struct tor_host *host;
    struct sk_json *memory;   // the section's
    const struct sk_at *at;   // the section
    bool vlans[VIDS];         // that are defined
    uint32_t links[SK_PORTS]; // whose port it is, and 1; 0: nobody's
    struct simap link_names, acl_names, mirror_names, own;
    struct connected *connected; // ascending by network
    size_t n_connected;
};

bool reading_good(const struct reading *r);
bool reading_failed(const struct sk_at *at);
void *reading_keep(struct reading *r, size_t size); // the section's memory, zeroed

// ---- section_text.c
// Its member: true or false.
bool read_flag(const struct sk_at *at, const char *key, bool otherwise);
// Of 'low' to 'high'; 'otherwise' when it is not there.
uint32_t read_between(const struct sk_at *at, uint32_t low, uint32_t high, uint32_t otherwise);
uint32_t read_member_between(const struct sk_at *at, const char *key, uint32_t low, uint32_t high,
                             uint32_t otherwise);
// One of the words (a null ends the list), as its place; 'otherwise' when it is not there.
unsigned read_word(const struct sk_at *at, const char *key, const char *const *words,
                   unsigned otherwise);
// A name that must be there and that 'names' does not have: it gets it, with this number.
void read_name(const struct sk_at *at, const char *key, struct simap *names, size_t number,
               char out[TOR_NAME]);
// The number of a name that 'names' must have; 'what' it is of ("link").
uint32_t read_named(const struct sk_at *at, const struct simap *names, const char *what);
uint16_t read_vlan_number(const struct sk_at *at);
// The number of a VLAN that is defined.
uint16_t read_vid(const struct reading *r, const struct sk_at *at);
// Of one station: neither a group nor nobody.
struct tor_mac read_mac(const struct sk_at *at);
struct tor_mac read_any_mac(const struct sk_at *at); // or of a group
// Remembers 'key'; fails at 'at' when it was there already. 'what': "address 10.0.0.1".
void read_once(const struct sk_at *at, struct simap *seen, const char *key, const char *what);

bool parse_address(const char *text, struct in6_addr *out);
// An address of either family that is a host's: no group, no loopback, not nobody.
struct in6_addr read_address(const struct sk_at *at);
// "10.0.0.0/8". 'host': with a host part, for the switch's own address; else without.
struct tor_prefix read_prefix(const struct sk_at *at, bool host, bool bare);
struct in6_addr network_of(const struct in6_addr *address, uint8_t length);
bool prefix_has(const struct tor_prefix *prefix, const struct in6_addr *address);
// Is it the address of the subnet itself, or its broadcast address?
const char *no_host_of(const struct tor_prefix *prefix, const struct in6_addr *address);
const char *prefix_text(const struct tor_prefix *prefix, char out[TOR_TEXT]);

// ---- section_links.c
void read_links(struct reading *r);
void read_groups(struct reading *r, const struct sk_at *at, struct tor_vlan *vlan);
void read_macs(struct reading *r);
void read_mirrors(struct reading *r);
void check_links(struct reading *r);

// ---- section_routes.c
void read_addresses(struct reading *r, const struct sk_at *at, struct tor_vlan *vlan, size_t index);
void check_addresses(struct reading *r);
void read_neighbours(struct reading *r);
void read_routes(struct reading *r);
const struct connected *connected_to(const struct reading *r, const struct in6_addr *address);

// ---- section_acl.c
void read_acls(struct reading *r);

#endif

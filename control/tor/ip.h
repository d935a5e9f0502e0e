// SPDX-License-Identifier: Apache-2.0
//
// ip: IPv4 and IPv6 packets, checked and built, for the control plane of the ToR.
//
// A packet that ip_read() accepts is consistent: its header is complete, its length is at most the
// received length, the checksum of an IPv4 header is right, extension headers end inside the
// packet. Nothing else is checked. The functions have no state; any thread may call them.
#ifndef SILKEN_CONTROL_TOR_IP_H
#define SILKEN_CONTROL_TOR_IP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

#define ETH_BYTES  14u // of an Ethernet header without a tag
#define IPV4_BYTES 20u // a header without options
#define IPV6_BYTES 40u
#define IP_MOST    9216u // bytes of a packet that the control plane sends or forwards

enum { ETHER_IPV4 = 0x0800, ETHER_ARP = 0x0806, ETHER_IPV6 = 0x86dd };
enum {
    PROTOCOL_HOPOPTS = 0,
    PROTOCOL_ICMP = 1,
    PROTOCOL_TCP = 6,
    PROTOCOL_UDP = 17,
    PROTOCOL_ROUTING = 43,
    PROTOCOL_FRAGMENT = 44,
    PROTOCOL_ICMPV6 = 58,
    PROTOCOL_NONE = 59,
    PROTOCOL_DSTOPTS = 60
};

struct ip_packet {
    const uint8_t *bytes; // begins with the IP header
    uint32_t length;      // as the header says
    bool v6;
    struct in6_addr src, dst; // IPv4: mapped
    uint8_t ttl;
    uint8_t protocol;   // of the upper layer: after extension headers that were understood
    uint32_t header;    // bytes of the IPv4 header with its options; 40
    uint32_t upper;     // where the upper layer begins
    uint32_t next_at;   // where the number 'protocol' is
    bool options;       // IPv4
    bool dont_fragment; // IPv6: always
    bool fragment;      // part of a fragmented packet
    bool later;         // and not its first
};

// Reads the packet in 'length' bytes, of which some at the end may be padding. False: it is none.
bool ip_read(struct ip_packet *p, const uint8_t *bytes, uint32_t length);

// An IPv4 or IPv6 header (20, 40 bytes) of a packet with 'payload' bytes after it, from the family
// of 'src', and how many bytes that are. 'tos' is the whole octet (traffic class), 'id' IPv4's
// identification: 0 sets "don't fragment".
uint32_t ip_header(uint8_t *out, const struct in6_addr *src, const struct in6_addr *dst,
                   uint8_t protocol, uint8_t ttl, uint8_t tos, uint16_t id, uint32_t payload);
// IPv4: computes the header's checksum again; 'bytes' is a whole header.
void ip_set_checksum(uint8_t *bytes);
// One hop less, with IPv4's checksum.
void ip_hop(uint8_t *bytes);
// The checksum of TCP, UDP, ICMPv6 (with the pseudo header) or ICMP (without); 0 over one that is
// right.
uint16_t ip_upper_checksum(const struct in6_addr *src, const struct in6_addr *dst, uint8_t protocol,
                           const uint8_t *bytes, uint32_t length);

// What an address can be, of either family.
bool ip_is_multicast(const struct in6_addr *a);
bool ip_is_link_local(const struct in6_addr *a); // IPv6, fe80::/10
// Prefixes of addresses from and to which nothing is forwarded (RFC 1812 5.3.7, RFC 3927 7, RFC
// 4291 2.5.2, 2.5.3, 2.5.6, 2.7). p4/tor has the same list in its tables ipv4_martians and
// ipv6_martians.
struct ip_special {
    struct in6_addr prefix;
    uint8_t length;      // 0 to 128; IPv4 from 96
    bool link;           // hosts have such addresses, each on its link
    const char *address; // "a loopback address": what such an address is
    const char *route;   // "loopback": and a prefix of them
};
#define IP_SPECIALS 9u
extern const struct ip_special ip_specials[IP_SPECIALS];
const struct ip_special *ip_special_of(const struct in6_addr *a); // null: it is forwarded
// A node's own address that may be the source of something answered: no group, broadcast, loopback,
// nobody.
bool ip_is_unicast(const struct in6_addr *a);
bool ip_equal(const struct in6_addr *a, const struct in6_addr *b);
// The address is in the prefix of that length (0 to 128; IPv4 from 96).
bool ip_in(const struct in6_addr *a, const struct in6_addr *prefix, uint8_t length);
struct in6_addr ip_masked(const struct in6_addr *a, uint8_t length);
// IPv4: the network's or broadcast address of a prefix with more than two addresses.
bool ip_is_net_or_broadcast(const struct in6_addr *a, const struct in6_addr *prefix,
                            uint8_t length);
uint32_t ip_hash(const struct in6_addr *a, uint32_t basis);

#endif

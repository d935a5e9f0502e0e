/* SPDX-License-Identifier: Apache-2.0
 *
 * headers.p4: ordinary packets, as every switch meets them.
 */
#ifndef P4_COMMON_HEADERS
#define P4_COMMON_HEADERS

typedef bit<48>  mac_addr_t;
typedef bit<12>  vlan_id_t;
typedef bit<32>  ipv4_addr_t;
typedef bit<128> ipv6_addr_t;

enum bit<16> ether_type_t {
    IPV4 = 0x0800,
    ARP  = 0x0806,
    VLAN = 0x8100,
    IPV6 = 0x86dd
}

enum bit<8> ip_protocol_t {
    HOP_BY_HOP = 0,     // options of IPv6
    ICMP       = 1,
    IGMP       = 2,
    TCP        = 6,
    UDP        = 17,
    ICMPV6     = 58
}

header ethernet_h {
    mac_addr_t dst_addr;
    mac_addr_t src_addr;
    bit<16>    ether_type;
}

// 802.1Q: what stands between the addresses and the type of what follows.
header vlan_h {
    bit<3>    pcp;
    bit<1>    dei;
    vlan_id_t vid;
    bit<16>   ether_type;
}

header ipv4_h {
    bit<4>      version;
    bit<4>      ihl;
    bit<6>      dscp;
    bit<2>      ecn;
    bit<16>     total_len;
    bit<16>     identification;
    bit<3>      flags;
    bit<13>     frag_offset;
    bit<8>      ttl;
    bit<8>      protocol;
    bit<16>     checksum;
    ipv4_addr_t src_addr;
    ipv4_addr_t dst_addr;
}

header ipv6_h {
    bit<4>      version;
    bit<6>      dscp;
    bit<2>      ecn;
    bit<20>     flow_label;
    bit<16>     payload_len;
    bit<8>      next_header;
    bit<8>      hop_limit;
    ipv6_addr_t src_addr;
    ipv6_addr_t dst_addr;
}

// The first four bytes of TCP and UDP.
header ports_h {
    bit<16> src;
    bit<16> dst;
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * headers.p4: what the ToR parses, what it tells itself from ingress to egress, and what it tells its
 * control plane.
 */
#include "../common/headers.p4"

// What else is in the ToR's pipe: nothing, or what a program that includes this one says (alone/headers.p4).
#ifndef ADDED_HEADERS
#define ADDED_HEADERS  "alone/headers.p4"
#define ADDED_CONTROLS "alone/controls.p4"
#endif

// A logical port: a front port, or a group of them that is one link (LAG). Numbers are the control plane's;
// 0 is none. Those of 512 and more are isolated: from one of them nothing is bridged or flooded to another.
typedef bit<10> interface_t;

typedef bit<14> nexthop_t;
typedef bit<12> hops_t;     // a set of equal next hops

// Frames from and to the control plane have a header in front. It comes in by this port; where copies for
// the control plane go is the traffic manager's setting (Silken: "cpu_port").
const PortId_t CPU_PORT = 64;

// What comes back to the ToR from another pipe has an order in front, too (p4/rack).
const PortId_t RECIRCULATE = 68;

// Why the control plane gets a packet. Also the index of the meter that keeps it from drowning.
enum bit<8> reason_t {
    NONE          = 0,
    ARP           = 1,   // requests and answers
    SNOOP         = 2,   // IGMP, MLD: who wants which group
    NEIGHBOUR     = 3,   // neighbour discovery and other ICMPv6 for a link
    LINK          = 4,   // 01:80:c2:00:00:0x: LACP, LLDP, spanning tree
    LOCAL         = 5,   // for an address of the switch
    GLEAN         = 6,   // routed to a neighbour of whom nobody knows the address yet
    TTL           = 7,   // the last hop that it was allowed
    NO_ROUTE      = 8,
    OPTIONS       = 9,   // an IPv4 header with options, to be routed
    TOO_LONG      = 11,  // larger than the MTU of where it is routed to
    ACL           = 16   // a rule of an access list copies it; a bit beside any of the others
}

// Why a packet went nowhere: the index into the counters `drops`.
enum bit<8> drop_t {
    NONE          = 0,
    NO_VLAN       = 1,   // its VLAN is not the port's
    BAD_SOURCE    = 2,   // a group, or nobody, as source
    BAD_CHECKSUM  = 3,   // IPv4 header
    BAD_HEADER    = 4,   // IP of a version or length that is none
    FROM_THERE    = 5,   // its destination is where it came from
    NO_PORT       = 6,   // an interface without a port
    ACL           = 7,
    STORM         = 8,
    NO_GROUP      = 9,   // to be flooded, but the VLAN has no group
    TO_CPU        = 10,  // the control plane alone gets it
    BLACK_HOLE    = 11,  // a route says so
    ISOLATED      = 12,  // from an isolated interface to another
    NOT_A_WORKER  = 13,  // to be aggregated, by somebody who is not registered for it (p4/rack)
    NOT_ITS_OWN   = 14,  // the same, by somebody who is, but not for that (p4/rack)
    OVER_RATE     = 15,  // the same, by somebody who is, and sends more than he may (p4/rack)
    MARTIAN       = 16   // from or to an address that nothing is forwarded from or to
}

// From the switch to the control plane, and back.
header cpu_h {
    bit<8>      reason;     // reason_t; to the switch: cpu_order_t
    bit<8>      _pad0;
    bit<6>      _pad1;
    interface_t interface;  // it came in by
    bit<7>      _pad2;
    PortId_t    port;       // the same as a front port; to the switch: it is to go out by
    bit<4>      _pad3;
    vlan_id_t   vid;
}

enum bit<8> cpu_order_t {
    PORT  = 1,   // out by `port`, tagged as the VLAN is there
    VLAN  = 2    // into the VLAN, as if it had come in by `interface` (0: the switch's own)
}

// In front of every packet on the way to egress; a mirrored one has mirror_h there.
enum bit<8> kind_t {
    BRIDGED    = 1,
    MIRROR     = 2,
    AGGREGATED = 3   // a frame that ATP's pipe has sent (p4/rack)
}

header bridge_h {
    kind_t      kind;
    bit<8>      reason;     // for the control plane
    bit<6>      _pad0;
    interface_t interface;  // it came in by
    bit<7>      _pad1;
    PortId_t    port;
    bit<4>      _pad2;
    vlan_id_t   vid;        // that it leaves in
}

header mirror_h {
    kind_t kind;
}

#include ADDED_HEADERS

struct headers_t {
    cpu_h      cpu;
    bridge_h   bridge;
    ethernet_h ethernet;
    vlan_h     vlan;
    ipv4_h     ipv4;
    ipv6_h     ipv6;
    ports_h    ports;
    added_headers_t added;
}

// What a frame does not need is 0 from the start: tables that are not applied for it leave their fields alone.
@pa_auto_init_metadata
struct ingress_metadata_t {
    // of the port
    interface_t interface;
    bit<8>      acl_group;
    bit<1>      learns;
    vlan_id_t   tag;          // as the frame has it, 0 without one
    vlan_id_t   vid;
    // of the source's address: where it was seen last
    interface_t moved;        // 0: there
    bit<1>      new;
    // what becomes of it
    interface_t out_interface;
    bit<1>      bridged;
    interface_t turned;       // of a bridged one: 0: that is where it came from
    bit<1>      routed;
    bit<1>      flooded;
    bit<2>      storm_class;
    bit<1>      joinable;
    bit<10>     storm_port;
    bit<1>      martian;      // from or to an address of no host elsewhere
    bit<1>      forged;       // from an address of the switch
    hops_t      hops;
    nexthop_t   nexthop;
    bit<16>     mtu_left;     // its top bit: it is too long
    bit<16>     ip_length;
    reason_t    reason;
    drop_t      drop;
    bit<1>      trap;
    // for classifying
    bit<8>      protocol;
    bit<8>      tcp_flags;
    bit<6>      dscp;
    bit<2>      ecn;
    bit<16>     src_port;
    bit<16>     dst_port;
    bit<1>      ip_error;
    bit<1>      unchecked;    // whoever is asked about it first decides about a wrong IPv4 checksum (p4/rack)
    bit<16>     ether_type;   // behind a tag
    bit<16>     flow;         // hash of the flow: chooses among links, and among next hops
    bit<1>      direct;       // the control plane has said by which port it leaves
    bit<1>      rewritten;    // its IPv4 checksum has to be computed again
    MirrorId_t  session;
    kind_t      mirror;
    added_ingress_t added;
}

struct egress_metadata_t {
    bit<1>     is_mirror;
    bit<1>     is_added;      // no frame of the ToR's
    bit<1>     wants_tag;
    bit<1>     marked;        // its IPv4 checksum has to be computed again
    MirrorId_t session;
    kind_t     mirror;
    added_egress_t added;
}

// What the control plane learns from: a source that is new in its VLAN, or came from somewhere else.
struct learned_t {
    vlan_id_t   vid;
    mac_addr_t  src_addr;
    interface_t interface;
}

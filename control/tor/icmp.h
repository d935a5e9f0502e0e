// SPDX-License-Identifier: Apache-2.0
//
// icmp: the switch's own ICMP messages and TCP resets, and packets that its tables cannot forward.
//
//     icmp.c      echo replies, errors and resets, and their rate limits
//     forward.c   packets routed by software: unresolved neighbours, IPv4 options, fragmentation
#ifndef SILKEN_CONTROL_TOR_ICMP_H
#define SILKEN_CONTROL_TOR_ICMP_H

#include "control/tor/ip.h"
#include "control/tor/tor_impl.h"

// What is sent, each with a limit of its own.
enum icmp_what {
    ICMP_ECHO,
    ICMP_TTL,
    ICMP_NO_ROUTE,
    ICMP_NO_HOST,
    ICMP_NO_PORT,
    ICMP_NO_PROTOCOL,
    ICMP_TOO_LONG,
    ICMP_BAD_OPTION,
    ICMP_RESET, // of TCP
    ICMP_ASKED, // no packet: a neighbour is asked for
    ICMP_KINDS
};

#define SOURCES 1024u // buckets for them, shared by whose hash is the same

struct icmp {
    uint64_t next[ICMP_KINDS]; // token buckets (icmp_may)
    uint64_t next_of[ICMP_KINDS][SOURCES];
    uint32_t basis; // of the hash
    uint16_t id;    // of IPv4 packets sent
    uint64_t sent[ICMP_KINDS], limited[ICMP_KINDS];
    uint64_t forwarded, dropped;
    uint64_t fragments; // to the switch itself: nobody puts them together
};

static inline struct icmp *icmp_of(struct tor *t) {
    return t->states[TOR_MODULE_ICMP];
}

// Is there a token left for one more of 'what' to that address; takes it.
bool icmp_may(struct tor *t, enum icmp_what what, const struct in6_addr *to);
// Tells the sender of 'about', which came in by the VLAN, unless it must not be told. 'value': of
// ICMP_TOO_LONG the MTU, of ICMP_BAD_OPTION, and ICMP_NO_PROTOCOL in IPv6, the place of the byte.
void icmp_error(struct tor *t, uint16_t vid, enum icmp_what what, const struct ip_packet *about,
                uint32_t value);
// A packet to an address of the switch.
void icmp_local(struct tor *t, uint16_t vid, const struct ip_packet *p);

// ---- forward.c
// Routes a packet that came in by the VLAN.
void forward_packet(struct tor *t, uint16_t vid, const struct ip_packet *p);
// One that the tables have routed, but which is too long; the frame has its new addresses.
void forward_too_long(struct tor *t, const struct tor_frame *f, const struct ip_packet *p);

#endif

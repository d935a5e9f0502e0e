// SPDX-License-Identifier: Apache-2.0
//
// arp: RFC 826 for the switch's own IPv4 addresses, and RFC 5227 for who else has them.
#include <string.h>

#include "control/tor/neighbours.h"

enum { ARP_BYTES = 28, FRAME_LEAST = 60 };
enum { OP_REQUEST = 1, OP_REPLY = 2 };

static const uint8_t nobody[6], everybody[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

// 'to' of the Ethernet header; 'target' what the ARP packet has there.
static uint32_t arp_build(struct tor *t, uint8_t out[FRAME_LEAST], uint16_t op, const uint8_t to[6],
                          const struct in6_addr *from, const uint8_t target[6],
                          const struct in6_addr *address) {
    const uint8_t *own = t->section->mac.bytes;
    memset(out, 0, FRAME_LEAST);
    memcpy(out, to, 6);
    memcpy(out + 6, own, 6);
    put16(out + 12, ETHER_ARP);
    uint8_t *a = out + ETH_BYTES;
    put16(a, 1);
    put16(a + 2, ETHER_IPV4);
    a[4] = 6;
    a[5] = 4;
    put16(a + 6, op);
    memcpy(a + 8, own, 6);
    memcpy(a + 14, &from->s6_addr[12], 4);
    memcpy(a + 18, target, 6);
    memcpy(a + 24, &address->s6_addr[12], 4);
    return FRAME_LEAST;
}

static void to_vlan(struct tor *t, uint16_t vid, uint16_t op, const uint8_t to[6],
                    const struct in6_addr *from, const uint8_t target[6],
                    const struct in6_addr *address) {
    uint8_t out[FRAME_LEAST];
    tor_send_vlan(t, vid, 0, out, arp_build(t, out, op, to, from, target, address));
}

void arp_ask(struct tor *t, uint16_t vid, const struct in6_addr *address, const uint8_t *mac) {
    struct in6_addr from;
    if (tor_address_for(t, vid, address, &from))
        to_vlan(t, vid, OP_REQUEST, mac ? mac : everybody, &from, nobody, address);
}

void arp_probe(struct tor *t, uint16_t vid, const struct in6_addr *address) {
    struct in6_addr none = tor_ipv4(0);
    to_vlan(t, vid, OP_REQUEST, everybody, &none, nobody, address);
}

void arp_announce(struct tor *t, uint16_t vid, const struct in6_addr *address) {
    to_vlan(t, vid, OP_REQUEST, everybody, address, nobody, address);
}

// Out by where the question came in: the asker's place may not be learned yet.
static void arp_answer(struct tor *t, const struct tor_frame *f, const struct in6_addr *own) {
    const uint8_t *a = f->bytes + ETH_BYTES;
    struct in6_addr asker = tor_ipv4(get32(a + 14));
    uint8_t out[FRAME_LEAST];
    uint32_t length = arp_build(t, out, OP_REPLY, a + 8, own, a + 8, &asker);
    tor_send_port(t, f->port, f->vid, out, length);
}

static bool is_arp(const struct tor_frame *f) {
    const uint8_t *a = f->bytes + ETH_BYTES;
    return f->length >= ETH_BYTES + ARP_BYTES && get16(f->bytes + 12) == ETHER_ARP &&
           get16(a) == 1 && get16(a + 2) == ETHER_IPV4 && a[4] == 6 && a[5] == 4 &&
           (get16(a + 6) == OP_REQUEST || get16(a + 6) == OP_REPLY);
}

void arp_frame(struct tor *t, const struct tor_frame *f) {
    if (!is_arp(f) || !f->link)
        return;
    const uint8_t *a = f->bytes + ETH_BYTES, *mac = a + 8;
    const uint8_t *own_mac = t->section->mac.bytes;
    struct in6_addr sender = tor_ipv4(get32(a + 14)), target = tor_ipv4(get32(a + 24));
    // A group's or nobody's address is nobody's to have (RFC 1812 3.3.2); our own frames come back
    // as copies.
    if (mac[0] & 1 || memcmp(mac, nobody, 6) == 0 || memcmp(mac, own_mac, 6) == 0) {
        neighbours_of(t)->bad += memcmp(mac, own_mac, 6) != 0;
        return;
    }
    bool request = get16(a + 6) == OP_REQUEST, probe = get32(a + 14) == 0;
    struct claim *claimed = claims_find(t, f->vid, &sender);
    if (claimed) {
        claims_conflict(t, claimed, mac, f);
        return;
    }
    struct claim *asked = claims_find(t, f->vid, &target);
    if (request && asked)
        arp_answer(t, f, &asked->address);
    if (probe) {
        if (asked && request)
            claims_conflict(t, asked, mac, f);
        return;
    }
    bool to_us = memcmp(f->bytes, own_mac, 6) == 0;
    neighbours_heard(t, f->vid, &sender, mac,
                     !asked    ? HEARD_NEWS
                     : request ? HEARD_QUESTION
                     : to_us   ? HEARD_ANSWER
                               : HEARD_NEWS,
                     true);
}

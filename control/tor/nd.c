// SPDX-License-Identifier: Apache-2.0
//
// nd: neighbour solicitations and advertisements (RFC 4861) for the switch's own IPv6 addresses.
#include <string.h>

#include "control/tor/neighbours.h"

enum { SOLICITATION = 135, ADVERTISEMENT = 136 };
enum { OPTION_SOURCE = 1, OPTION_TARGET = 2 };
enum { ND_BYTES = 24, OPTION_BYTES = 8 };
enum { FLAG_ROUTER = 0x80, FLAG_SOLICITED = 0x40, FLAG_OVERRIDE = 0x20 };
enum { MESSAGE_MOST = ETH_BYTES + IPV6_BYTES + ND_BYTES + OPTION_BYTES };

static const struct in6_addr nobody, all_nodes = {.s6_addr = {0xff, 2, [15] = 1}};

// RFC 4291 2.7.1
static struct in6_addr solicited_node(const struct in6_addr *a) {
    struct in6_addr g = {.s6_addr = {0xff, 2, [11] = 1, [12] = 0xff}};
    memcpy(&g.s6_addr[13], &a->s6_addr[13], 3);
    return g;
}

// 'mac' null: to the group that 'dst' is (RFC 2464 7). With our MAC address as option, but from
// nobody.
static uint32_t nd_build(struct tor *t, uint8_t out[MESSAGE_MOST], uint8_t type, uint8_t flags,
                         const struct in6_addr *src, const struct in6_addr *dst, const uint8_t *mac,
                         const struct in6_addr *target) {
    const uint8_t *own = t->section->mac.bytes;
    uint32_t size = ND_BYTES + (IN6_IS_ADDR_UNSPECIFIED(src) ? 0 : OPTION_BYTES);
    uint8_t *m = out + ETH_BYTES + IPV6_BYTES;
    if (mac) {
        memcpy(out, mac, 6);
    } else {
        put16(out, 0x3333);
        memcpy(out + 2, &dst->s6_addr[12], 4);
    }
    memcpy(out + 6, own, 6);
    put16(out + 12, ETHER_IPV6);
    ip_header(out + ETH_BYTES, src, dst, PROTOCOL_ICMPV6, 255, 0, 0, size);
    memset(m, 0, size);
    m[0] = type;
    m[4] = flags;
    memcpy(m + 8, target, 16);
    if (size > ND_BYTES) {
        m[ND_BYTES] = type == SOLICITATION ? OPTION_SOURCE : OPTION_TARGET;
        m[ND_BYTES + 1] = 1;
        memcpy(m + ND_BYTES + 2, own, 6);
    }
    put16(m + 2, ip_upper_checksum(src, dst, PROTOCOL_ICMPV6, m, size));
    return ETH_BYTES + IPV6_BYTES + size;
}

void nd_ask(struct tor *t, uint16_t vid, const struct in6_addr *address, const uint8_t *mac) {
    uint8_t out[MESSAGE_MOST];
    struct in6_addr src, dst = mac ? *address : solicited_node(address);
    if (tor_address_for(t, vid, address, &src))
        tor_send_vlan(t, vid, 0, out, nd_build(t, out, SOLICITATION, 0, &src, &dst, mac, address));
}

void nd_probe(struct tor *t, uint16_t vid, const struct in6_addr *address) {
    uint8_t out[MESSAGE_MOST];
    struct in6_addr dst = solicited_node(address);
    tor_send_vlan(t, vid, 0, out, nd_build(t, out, SOLICITATION, 0, &nobody, &dst, NULL, address));
}

void nd_announce(struct tor *t, uint16_t vid, const struct in6_addr *address) {
    uint8_t out[MESSAGE_MOST];
    tor_send_vlan(t, vid, 0, out,
                  nd_build(t, out, ADVERTISEMENT, FLAG_ROUTER | FLAG_OVERRIDE, address, &all_nodes,
                           NULL, address));
}

// RFC 4861 7.2.4. Out by where the question came in: the asker's place may not be learned yet.
static void nd_answer(struct tor *t, const struct tor_frame *f, const struct in6_addr *asker,
                      const uint8_t *mac, const struct in6_addr *own) {
    uint8_t out[MESSAGE_MOST];
    bool unknown = IN6_IS_ADDR_UNSPECIFIED(asker);
    uint8_t flags = FLAG_ROUTER | FLAG_OVERRIDE | (unknown ? 0 : FLAG_SOLICITED);
    uint32_t length = nd_build(t, out, ADVERTISEMENT, flags, own, unknown ? &all_nodes : asker,
                               unknown ? NULL : mac, own);
    tor_send_port(t, f->port, f->vid, out, length);
}

// The MAC address in an option of that type; null: none, or not a single node's. False: options are
// broken (RFC 4861 7.1: the message is to be dropped).
static bool nd_read_options(const uint8_t *m, uint32_t length, uint8_t type, const uint8_t **mac) {
    *mac = NULL;
    for (uint32_t at = ND_BYTES; at < length;) {
        uint32_t size = at + 1 < length ? m[at + 1] * 8u : 0;
        if (!size || size > length - at)
            return false;
        if (m[at] == type && size == OPTION_BYTES)
            *mac = m + at + 2;
        at += size;
    }
    static const uint8_t none[6];
    return !*mac || (!((*mac)[0] & 1) && memcmp(*mac, none, 6) != 0);
}

static void solicitation(struct tor *t, const struct tor_frame *f, const struct ip_packet *p,
                         const struct in6_addr *target, const uint8_t *mac) {
    bool probe = IN6_IS_ADDR_UNSPECIFIED(&p->src);
    struct in6_addr group = solicited_node(target);
    if (probe && (mac || !ip_equal(&p->dst, &group))) // RFC 4861 7.1.1
        return;
    struct claim *asked = claims_find(t, f->vid, target);
    if (!asked)
        return;
    if (probe) {
        nd_answer(t, f, &p->src, NULL, target);
        claims_conflict(t, asked, f->bytes + 6, f);
        return;
    }
    if (!ip_is_unicast(&p->src) || claims_find(t, f->vid, &p->src))
        return;
    nd_answer(t, f, &p->src, mac ? mac : f->bytes + 6, target);
    if (mac)
        neighbours_heard(t, f->vid, &p->src, mac, HEARD_QUESTION, true);
}

static void advertisement(struct tor *t, const struct tor_frame *f, const struct ip_packet *p,
                          const struct in6_addr *target, const uint8_t *mac) {
    uint8_t flags = p->bytes[p->upper + 4];
    if (ip_is_multicast(&p->dst) && flags & FLAG_SOLICITED) // RFC 4861 7.1.2
        return;
    struct claim *claimed = claims_find(t, f->vid, target);
    if (claimed) {
        claims_conflict(t, claimed, mac ? mac : f->bytes + 6, f);
        return;
    }
    bool to_us = flags & FLAG_SOLICITED && claims_find(t, f->vid, &p->dst) &&
                 memcmp(f->bytes, t->section->mac.bytes, 6) == 0;
    neighbours_heard(t, f->vid, target, mac, to_us ? HEARD_ANSWER : HEARD_NEWS,
                     flags & FLAG_OVERRIDE);
}

void nd_frame(struct tor *t, const struct tor_frame *f) {
    struct ip_packet p;
    if (get16(f->bytes + 12) != ETHER_IPV6 || !f->link ||
        !ip_read(&p, f->bytes + ETH_BYTES, f->length - ETH_BYTES) || !p.v6 ||
        p.protocol != PROTOCOL_ICMPV6 || p.fragment || p.length - p.upper < ND_BYTES)
        return;
    const uint8_t *m = p.bytes + p.upper, *mac;
    uint32_t length = p.length - p.upper;
    if (m[0] != SOLICITATION && m[0] != ADVERTISEMENT)
        return;
    if (memcmp(f->bytes + 6, t->section->mac.bytes, 6) == 0)
        return; // our own, as a copy
    struct in6_addr target;
    memcpy(&target, m + 8, 16);
    // RFC 4861 7.1: only from the link itself.
    if (p.ttl != 255 || m[1] != 0 || ip_is_multicast(&target) ||
        ip_upper_checksum(&p.src, &p.dst, PROTOCOL_ICMPV6, m, length) != 0 ||
        !nd_read_options(m, length, m[0] == SOLICITATION ? OPTION_SOURCE : OPTION_TARGET, &mac) ||
        (mac && memcmp(mac, t->section->mac.bytes, 6) == 0)) {
        neighbours_of(t)->bad++;
        return;
    }
    if (m[0] == SOLICITATION)
        solicitation(t, f, &p, &target, mac);
    else
        advertisement(t, f, &p, &target, mac);
}

// SPDX-License-Identifier: Apache-2.0
//
// ip: packets are read once, with every length checked; who comes after may trust 'struct
// ip_packet'.
#include "control/tor/ip.h"

#include <string.h>

#include "control/tor/tor_impl.h"

static bool read_ipv4(struct ip_packet *p, uint32_t length) {
    const uint8_t *b = p->bytes;
    if (length < IPV4_BYTES)
        return false;
    p->header = (b[0] & 15) * 4u;
    p->length = get16(b + 2);
    if (p->header < IPV4_BYTES || p->length < p->header || p->length > length ||
        internet_checksum(0, b, p->header) != 0)
        return false;
    p->src = tor_ipv4(get32(b + 12));
    p->dst = tor_ipv4(get32(b + 16));
    p->ttl = b[8];
    p->protocol = b[9];
    p->next_at = 9;
    p->upper = p->header;
    p->options = p->header > IPV4_BYTES;
    p->dont_fragment = b[6] & 0x40;
    p->later = get16(b + 6) & 0x1fff;
    p->fragment = p->later || b[6] & 0x20;
    return true;
}

// Skips extension headers, up to the first header of another kind or one that hides what follows
// it.
static bool skip_extensions(struct ip_packet *p) {
    while (!p->later) {
        uint32_t left = p->length - p->upper, size;
        const uint8_t *h = p->bytes + p->upper;
        switch (p->protocol) {
        case PROTOCOL_HOPOPTS:
        case PROTOCOL_ROUTING:
        case PROTOCOL_DSTOPTS:
            if (left < 8 || (size = (h[1] + 1u) * 8) > left)
                return false;
            break;
        case PROTOCOL_FRAGMENT:
            if (left < (size = 8))
                return false;
            p->later = get16(h + 2) & 0xfff8;
            p->fragment = p->later || h[3] & 1;
            break;
        default:
            return true;
        }
        p->protocol = h[0];
        p->next_at = p->upper;
        p->upper += size;
    }
    return true;
}

static bool read_ipv6(struct ip_packet *p, uint32_t length) {
    const uint8_t *b = p->bytes;
    if (length < IPV6_BYTES)
        return false;
    p->length = IPV6_BYTES + get16(b + 4);
    if (p->length > length)
        return false;
    p->v6 = p->dont_fragment = true;
    memcpy(&p->src, b + 8, 16);
    memcpy(&p->dst, b + 24, 16);
    p->ttl = b[7];
    p->protocol = b[6];
    p->next_at = 6;
    p->header = p->upper = IPV6_BYTES;
    // An address of the other family on the wire would be mistaken for one (RFC 4291 2.5.5.2).
    if (IN6_IS_ADDR_V4MAPPED(&p->src) || IN6_IS_ADDR_V4MAPPED(&p->dst))
        return false;
    return skip_extensions(p);
}

bool ip_read(struct ip_packet *p, const uint8_t *bytes, uint32_t length) {
    *p = (struct ip_packet){.bytes = bytes};
    if (!length)
        return false;
    return bytes[0] >> 4 == 4   ? read_ipv4(p, length)
           : bytes[0] >> 4 == 6 ? read_ipv6(p, length)
                                : false;
}

uint32_t ip_header(uint8_t *out, const struct in6_addr *src, const struct in6_addr *dst,
                   uint8_t protocol, uint8_t ttl, uint8_t tos, uint16_t id, uint32_t payload) {
    if (tor_is_ipv4(src)) {
        memset(out, 0, IPV4_BYTES);
        out[0] = 0x45;
        out[1] = tos;
        put16(out + 2, (uint16_t)(IPV4_BYTES + payload));
        put16(out + 4, id);
        out[6] = id ? 0 : 0x40;
        out[8] = ttl;
        out[9] = protocol;
        memcpy(out + 12, &src->s6_addr[12], 4);
        memcpy(out + 16, &dst->s6_addr[12], 4);
        ip_set_checksum(out);
        return IPV4_BYTES;
    }
    put32(out, 6u << 28 | (uint32_t)tos << 20);
    put16(out + 4, (uint16_t)payload);
    out[6] = protocol;
    out[7] = ttl;
    memcpy(out + 8, src, 16);
    memcpy(out + 24, dst, 16);
    return IPV6_BYTES;
}

void ip_set_checksum(uint8_t *bytes) {
    put16(bytes + 10, 0);
    put16(bytes + 10, internet_checksum(0, bytes, (bytes[0] & 15) * 4u));
}

void ip_hop(uint8_t *bytes) {
    if (bytes[0] >> 4 == 6) {
        bytes[7]--;
        return;
    }
    bytes[8]--;
    ip_set_checksum(bytes);
}

uint16_t ip_upper_checksum(const struct in6_addr *src, const struct in6_addr *dst, uint8_t protocol,
                           const uint8_t *bytes, uint32_t length) {
    uint32_t sum = 0;
    if (protocol != PROTOCOL_ICMP) {
        for (unsigned i = tor_is_ipv4(src) ? 12 : 0; i < 16; i += 2)
            sum += get16(&src->s6_addr[i]) + (uint32_t)get16(&dst->s6_addr[i]);
        sum += protocol + (length >> 16) + (length & 0xffff);
    }
    return internet_checksum(sum, bytes, length);
}

bool ip_is_multicast(const struct in6_addr *a) {
    return tor_is_ipv4(a) ? a->s6_addr[12] >> 4 == 14 : a->s6_addr[0] == 0xff;
}

bool ip_is_link_local(const struct in6_addr *a) {
    return a->s6_addr[0] == 0xfe && a->s6_addr[1] >> 6 == 2;
}

#define MAPPED(a, b)                                                                               \
    {                                                                                              \
        .s6_addr = { [10] = 0xff, [11] = 0xff, [12] = (a), [13] = (b) }                            \
    }
#define NOT_ROUTED ": it is not routable"
const struct ip_special ip_specials[IP_SPECIALS] = {
    {MAPPED(0, 0), 96 + 8, false, "in 0.0.0.0/8", "in 0.0.0.0/8" NOT_ROUTED},
    {MAPPED(127, 0), 96 + 8, false, "a loopback address", "loopback"},
    {MAPPED(169, 254), 96 + 16, true, "an address of a link", "of links" NOT_ROUTED},
    {MAPPED(224, 0), 96 + 4, false, "the address of a group", "of groups: multicast is not routed"},
    {MAPPED(240, 0), 96 + 4, false, "in 240.0.0.0/4", "in 240.0.0.0/4" NOT_ROUTED},
    {{.s6_addr = {0}}, 128, false, "the unspecified address", "unspecified" NOT_ROUTED},
    {{.s6_addr = {[15] = 1}}, 128, false, "a loopback address", "loopback"},
    {{.s6_addr = {0xfe, 0x80}}, 10, true, "an address of a link", "of links" NOT_ROUTED},
    {{.s6_addr = {0xff}}, 8, false, "the address of a group", "of groups: multicast is not routed"},
};

const struct ip_special *ip_special_of(const struct in6_addr *a) {
    for (unsigned i = 0; i < IP_SPECIALS; i++)
        if (ip_in(a, &ip_specials[i].prefix, ip_specials[i].length))
            return &ip_specials[i];
    return NULL;
}

bool ip_is_unicast(const struct in6_addr *a) {
    const struct ip_special *s = ip_special_of(a);
    return !s || s->link;
}

bool ip_equal(const struct in6_addr *a, const struct in6_addr *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

struct in6_addr ip_masked(const struct in6_addr *a, uint8_t length) {
    struct in6_addr m = *a;
    for (unsigned i = 0; i < 16; i++) {
        int bits = (int)length - 8 * (int)i; // of this byte that belong to the prefix, and more
        if (bits <= 0)
            m.s6_addr[i] = 0;
        else if (bits < 8)
            m.s6_addr[i] &= (uint8_t)(0xff00 >> bits);
    }
    return m;
}

bool ip_in(const struct in6_addr *a, const struct in6_addr *prefix, uint8_t length) {
    struct in6_addr x = ip_masked(a, length), y = ip_masked(prefix, length);
    return tor_is_ipv4(a) == tor_is_ipv4(prefix) && ip_equal(&x, &y);
}

bool ip_is_net_or_broadcast(const struct in6_addr *a, const struct in6_addr *prefix,
                            uint8_t length) {
    if (!tor_is_ipv4(prefix) || length > 126 || !ip_in(a, prefix, length))
        return false;
    uint32_t host = get32(&a->s6_addr[12]) & (0xffffffffu >> (length - 96));
    return host == 0 || host == 0xffffffffu >> (length - 96);
}

uint32_t ip_hash(const struct in6_addr *a, uint32_t basis) {
    uint64_t h = basis * 0x9e3779b97f4a7c15u;
    for (unsigned i = 0; i < 16; i += 4)
        h = (h ^ get32(&a->s6_addr[i])) * 0xff51afd7ed558ccdu, h ^= h >> 32;
    return (uint32_t)(h ^ h >> 29);
}

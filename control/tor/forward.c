// SPDX-License-Identifier: Apache-2.0
//
// forward: what the tables hand up, routed as they would (RFC 1812 5.2).
#include <string.h>

#include "control/tor/icmp.h"

enum {
    OPTION_END = 0,
    OPTION_NOTHING = 1,
    OPTION_RECORD = 7,
    OPTION_TIME = 68,
    OPTION_LOOSE = 131,
    OPTION_STRICT = 137
};
enum { TIME_ONLY = 0, TIME_ADDRESSES = 1, TIME_ASKED = 3 }; // flags of OPTION_TIME

static void forward_drop(struct tor *t) {
    icmp_of(t)->dropped++;
}

// ---- options of IPv4 ----
// The place for 'size' more bytes in an option that collects, and moves its pointer on; null: it is
// full.
static uint8_t *forward_place(uint8_t *option, unsigned size) {
    unsigned at = option[2]; // counts from 1
    if (at + size - 1 > option[1])
        return NULL;
    option[2] = (uint8_t)(at + size);
    return option + at - 1;
}

// RFC 791 3.1. False: the option is broken.
static bool stamp(uint8_t *option, const struct in6_addr *own, uint64_t now) {
    unsigned flag = option[3] & 15, size = flag == TIME_ONLY ? 4 : 8;
    // Milliseconds, but not since midnight UT: the top bit says so.
    uint32_t time = (uint32_t)(now / 1000000u) | 0x80000000u;
    if (option[2] < 5 || (flag != TIME_ONLY && flag != TIME_ADDRESSES && flag != TIME_ASKED))
        return false;
    if (flag == TIME_ASKED &&
        (option[2] + 7u > option[1] || memcmp(option + option[2] - 1, &own->s6_addr[12], 4) != 0))
        return true;
    uint8_t *at = forward_place(option, size);
    if (!at) {
        if (option[3] >> 4 == 15)
            return false;
        option[3] += 16; // one more that had no room
        return true;
    }
    if (flag == TIME_ADDRESSES)
        memcpy(at, &own->s6_addr[12], 4);
    put32(at + size - 4, time);
    return true;
}

// Does what the options of the header ask of a router. 0, or the place of a byte that is wrong;
// 'refused': the packet is to be dropped, silently (RFC 7126 4.3, 4.4: nobody chooses its way
// through us).
static uint32_t do_options(uint8_t *packet, uint32_t header, const struct in6_addr *own,
                           uint64_t now, bool *refused) {
    for (uint32_t at = IPV4_BYTES; at < header;) {
        uint8_t *o = packet + at;
        if (*o == OPTION_END)
            return 0;
        if (*o == OPTION_NOTHING) {
            at++;
            continue;
        }
        if (at + 1 >= header || o[1] < 2 || o[1] > header - at)
            return at + 1;
        if (*o == OPTION_LOOSE || *o == OPTION_STRICT)
            *refused = true;
        if (*o == OPTION_RECORD) {
            uint8_t *here;
            if (o[1] < 3 || o[2] < 4)
                return at + 2;
            if ((here = forward_place(o, 4)))
                memcpy(here, &own->s6_addr[12], 4);
        }
        if (*o == OPTION_TIME && (o[1] < 4 || !stamp(o, own, now)))
            return at + 2;
        at += o[1];
    }
    return 0;
}

// ---- fragments ----
// The header of fragments but the first: options that are to be copied into all of them. Its
// length.
static uint32_t later_header(const uint8_t *packet, uint32_t header, uint8_t *out) {
    uint32_t n = IPV4_BYTES;
    memcpy(out, packet, IPV4_BYTES);
    for (uint32_t at = IPV4_BYTES; at < header && packet[at] != OPTION_END;) {
        uint32_t size = packet[at] == OPTION_NOTHING ? 1 : at + 1 < header ? packet[at + 1] : 0;
        if (size == 0 || size > header - at)
            break; // not of options that do_options() has seen
        if (packet[at] & 0x80) {
            memcpy(out + n, packet + at, size);
            n += size;
        }
        at += size;
    }
    while (n % 4)
        out[n++] = OPTION_END;
    out[0] = (uint8_t)(0x40 | n / 4);
    return n;
}

struct way {
    uint16_t vid, from_vid;
    struct in6_addr hop;
    const uint8_t *ethernet; // of frames that have their addresses; else null
};

static void forward_leave(struct tor *t, const struct way *w, const uint8_t *packet,
                          uint32_t length) {
    icmp_of(t)->forwarded++;
    if (!w->ethernet) {
        tor_neighbour_send(t, w->vid, &w->hop, w->from_vid, packet, length);
        return;
    }
    uint8_t frame[ETH_BYTES + IP_MOST];
    memcpy(frame, w->ethernet, ETH_BYTES);
    memcpy(frame + ETH_BYTES, packet, length);
    tor_send_vlan(t, w->vid, 0, frame, ETH_BYTES + length);
}

static void leave_in_fragments(struct tor *t, const struct way *w, const uint8_t *packet,
                               uint32_t length, uint32_t header, uint32_t mtu) {
    uint8_t later[60], out[IP_MOST];
    const uint32_t later_length = later_header(packet, header, later);
    const uint16_t old = get16(packet + 6);
    memcpy(out, packet, header);
    for (uint32_t at = header, h = header; at < length; h = later_length) {
        if (at > header)
            memcpy(out, later, h);
        uint32_t size = (mtu - h) & ~7u;
        bool last = length - at <= mtu - h;
        if (last)
            size = length - at;
        memcpy(out + h, packet + at, size);
        put16(out + 2, (uint16_t)(h + size));
        put16(out + 6, (uint16_t)((((old & 0x1fff) + (at - header) / 8) & 0x1fff) | (old & 0x8000) |
                                  (!last || old & 0x2000 ? 0x2000 : 0)));
        ip_set_checksum(out);
        forward_leave(t, w, out, h + size);
        at += size;
    }
}

// 'packet' has one hop less and is ready to go; 'p' is what came.
static void leave_by(struct tor *t, const struct way *w, const struct ip_packet *p,
                     const uint8_t *packet) {
    const struct tor_vlan *v = tor_section_vlan(t->section, w->vid);
    if (!v)
        forward_drop(t);
    else if (p->length <= v->mtu)
        forward_leave(t, w, packet, p->length);
    else if (p->dont_fragment)
        icmp_error(t, w->from_vid, ICMP_TOO_LONG, p, v->mtu);
    else
        leave_in_fragments(t, w, packet, p->length, p->header, v->mtu);
}

void forward_too_long(struct tor *t, const struct tor_frame *f, const struct ip_packet *p) {
    // 'vid' is where it goes; where it came from is not said, so the way back to its source has to
    // do.
    struct way w = {.vid = f->vid, .ethernet = f->bytes};
    struct in6_addr hop;
    if (p->length > IP_MOST || !tor_route_find(t, &p->src, &w.from_vid, &hop)) {
        forward_drop(t);
        return;
    }
    leave_by(t, &w, p, p->bytes);
}

// ---- routing ----
static bool is_martian(struct tor *t, const struct ip_packet *p) {
    return ip_special_of(&p->src) || ip_special_of(&p->dst) ||
           tor_address_is_own(t, &p->src, NULL) || tor_address_is_end(t, &p->src);
}

void forward_packet(struct tor *t, uint16_t vid, const struct ip_packet *p) {
    uint8_t out[IP_MOST];
    struct way w = {.from_vid = vid};
    struct in6_addr own;
    if (p->length > IP_MOST || is_martian(t, p)) {
        forward_drop(t);
        return;
    }
    const uint32_t flow = ip_hash(&p->src, ip_hash(&p->dst, p->protocol));
    switch (tor_route_look(t, &p->dst, flow, &w.vid, &w.hop)) {
    case TOR_ROUTE_NONE:
        icmp_error(t, vid, ICMP_NO_ROUTE, p, 0);
        return;
    case TOR_ROUTE_DISCARDS:
        forward_drop(t);
        return;
    case TOR_ROUTE_FOUND:
        break;
    }
    if (p->ttl <= 1) {
        icmp_error(t, vid, ICMP_TTL, p, 0);
        return;
    }
    memcpy(out, p->bytes, p->length);
    if (p->options) {
        bool refused = false;
        if (!tor_address_for(t, w.vid, &w.hop, &own))
            own = tor_ipv4(0);
        uint32_t wrong = do_options(out, p->header, &own, t->now, &refused);
        if (wrong)
            icmp_error(t, vid, ICMP_BAD_OPTION, p, wrong);
        if (wrong || refused) {
            forward_drop(t);
            return;
        }
    }
    ip_hop(out);
    if (!tor_neighbour_is_there(t, w.vid, &w.hop) && !icmp_may(t, ICMP_ASKED, &p->src)) {
        forward_drop(t);
        return;
    }
    leave_by(t, &w, p, out);
}

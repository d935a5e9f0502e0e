// SPDX-License-Identifier: Apache-2.0
//
// link: Ethernet frames of packets that were captured with something else in front: at a tunnel, a
// loopback or a serial interface, on the air, on all interfaces of a machine at once (tcpdump -i
// any), or by a tool with a header of its own.
//
// Readers take headers off, one after the other, until Ethernet or its payload is left. The frame's
// addresses are those that the packet had in its place, else 0. The frame's header is written over
// what comes before the payload; where that is shorter, over the end of the record's or the block's
// header, which has been read. A packet that carries neither Ethernet nor IP (a beacon, PPP's
// negotiation, a fragment, what is encrypted) is not an error: who reads is told.
//
// Formats: the list of link types of tcpdump.org. In this file:
//
//     RAW, IPV4, IPV6, ATM_CLIP  an IP packet; in the last one perhaps with LLC
//     NULL, LOOP       4 bytes, an IP packet; ENC 12, SLIP 16, IPNET 24
//     LINUX_SLL        kind 2, hardware 2, address length 2, address 8, ether type 2
//     LINUX_SLL2       ether type 2, 0 2, interface 4, hardware 2, kind 1, address length 1,
//                      address 8
//     FDDI             control 1, addresses 12, LLC; token ring has access 1 more, and routes
//     IP_OVER_FC       addresses of 8 with 2 in front of each, LLC
//     FireWire         addresses of 8, ether type 2; IPOIB 40, ether type 2, 2
//     SUNATM           flags 1, VPI 1, VCI 2, LLC or a frame after 2 bytes
#include "pcap/capture/link_impl.h"

#include <stdarg.h>
#include <stdio.h>

#include "pcap/capture/capture_impl.h"

#define ETHERNET_HEAD 14u
#define SMALLEST_TYPE 0x600u // what is less is a length
#define MOST_LAYERS   6u

// ---- a packet ----

enum link link_neither(struct link_packet *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(p->why, LINK_WHY, format, args);
    va_end(args);
    return LINK_NEITHER;
}

bool link_has(struct link_packet *p, uint32_t n) {
    if (p->length >= n)
        return true;
    link_neither(p, "it ends within its header");
    return false;
}

bool link_skip(struct link_packet *p, uint32_t n) {
    if (!link_has(p, n))
        return false;
    p->bytes += n;
    p->length -= n;
    p->wire_length -= n;
    return true;
}

void link_cut_end(struct link_packet *p, uint32_t n) {
    p->wire_length -= n < p->wire_length ? n : p->wire_length;
    if (p->length > p->wire_length)
        p->length = p->wire_length;
}

// ---- IP and LLC ----

static enum link link_of_ip(struct link_packet *p) {
    const unsigned version = p->length > 0 ? p->bytes[0] >> 4 : 0;
    if (version != 4 && version != 6)
        return link_neither(p, "it is neither IPv4 nor IPv6");
    return link_payload(p, version == 4 ? 0x0800 : 0x86dd);
}

// With SNAP the type is known (RFC 1042, and 802.1H's tunnel); else the frame has a length.
static enum link link_of_llc(struct link_packet *p) {
    const uint8_t *b = p->bytes;
    if (!link_has(p, 3))
        return LINK_NEITHER;
    if (p->length >= 8 && memcmp(b, "\xaa\xaa\3\0\0", 5) == 0 && (b[5] == 0 || b[5] == 0xf8)) {
        link_skip(p, 8);
        return link_payload(p, link_be16(b + 6));
    }
    if (p->wire_length >= SMALLEST_TYPE)
        return link_neither(p, "its LLC has %u bytes, more than an Ethernet frame", p->wire_length);
    return link_payload(p, p->wire_length);
}

static enum link link_of_clip(struct link_packet *p) {
    return p->length >= 3 && memcmp(p->bytes, "\xaa\xaa\3", 3) == 0 ? LINK_LLC : LINK_RAW;
}

// ---- Linux ----

enum { HARDWARE_GRE = 778, HARDWARE_RADIOTAP = 803, GRE_ETHERNET = 0x6558 };

// Hardware whose "ether type" is something else: 802.11, netlink; GRE's may be Ethernet's.
static bool link_has_no_type(unsigned hardware, unsigned type) {
    return hardware == 801 || hardware == 802 || hardware == 824 ||
           (hardware == HARDWARE_GRE && !link_carries_ip(type));
}

static enum link link_of_cooked(struct link_packet *p, uint32_t head, unsigned type_at,
                                unsigned hardware_at, unsigned length, unsigned address_at) {
    const uint8_t *b = p->bytes;
    const unsigned hardware = link_be16(b + hardware_at);
    unsigned type = link_be16(b + type_at);
    if (hardware == HARDWARE_RADIOTAP || (hardware == HARDWARE_GRE && type == GRE_ETHERNET)) {
        link_skip(p, head);
        return hardware == HARDWARE_RADIOTAP ? LINK_WIFI_RADIOTAP : LINK_EN10MB;
    }
    if (link_has_no_type(hardware, type))
        return link_neither(p, "its hardware type is %u, its protocol 0x%04x", hardware, type);
    if (length == LINK_ADDRESS)
        memcpy(p->source, b + address_at, LINK_ADDRESS);
    link_skip(p, head);
    if (type < SMALLEST_TYPE)
        type = p->wire_length & 0xffff; // of LLC
    return link_payload(p, type);
}

static enum link link_of_sll(struct link_packet *p) {
    if (!link_has(p, 16))
        return LINK_NEITHER;
    return link_of_cooked(p, 16, 14, 2, link_be16(p->bytes + 4), 6);
}

static enum link link_of_sll2(struct link_packet *p) {
    if (!link_has(p, 20))
        return LINK_NEITHER;
    return link_of_cooked(p, 20, 0, 8, p->bytes[11], 12);
}

// ---- rings, fibres, cells ----

static enum link link_of_fddi(struct link_packet *p) {
    const uint8_t *b = p->bytes;
    if (!link_skip(p, 13))
        return LINK_NEITHER;
    if ((b[0] & 0xf0) != 0x50)
        return link_neither(p, "FDDI's frame control is 0x%02x: no LLC", b[0]);
    memcpy(p->destination, b + 1, LINK_ADDRESS);
    memcpy(p->source, b + 7, LINK_ADDRESS);
    return LINK_LLC;
}

static enum link link_of_token_ring(struct link_packet *p) {
    const uint8_t *b = p->bytes;
    if (!link_skip(p, 14))
        return LINK_NEITHER;
    if ((b[1] & 0xc0) != 0x40)
        return link_neither(p, "the token ring's frame control is 0x%02x: no LLC", b[1]);
    memcpy(p->destination, b + 2, LINK_ADDRESS);
    memcpy(p->source, b + 8, LINK_ADDRESS);
    p->source[0] &= 0x7f; // the bit that says that a route follows
    if (b[8] & 0x80 && (!link_has(p, 2) || !link_skip(p, p->bytes[0] & 0x1f)))
        return LINK_NEITHER;
    return LINK_LLC;
}

static enum link link_of_fibre(struct link_packet *p) {
    const uint8_t *b = p->bytes;
    if (!link_skip(p, 16))
        return LINK_NEITHER;
    memcpy(p->destination, b + 2, LINK_ADDRESS);
    memcpy(p->source, b + 10, LINK_ADDRESS);
    return LINK_LLC;
}

static enum link link_of_sunatm(struct link_packet *p) {
    const uint8_t *b = p->bytes;
    if (!link_skip(p, 4))
        return LINK_NEITHER;
    switch (b[0] & 15) {
    case 1: // LAN emulation: its client's number, and a frame
        return link_skip(p, 2) ? LINK_EN10MB : LINK_NEITHER;
    case 2:
        return LINK_LLC;
    default:
        return link_neither(p, "it is of ATM's type %u, neither a LAN's frame nor LLC", b[0] & 15);
    }
}

// A header of 'head' bytes with an ether type in it.
static enum link link_of_typed(struct link_packet *p, uint32_t head, unsigned type_at) {
    const uint8_t *b = p->bytes;
    return link_skip(p, head) ? link_payload(p, link_be16(b + type_at)) : LINK_NEITHER;
}

// ---- all of them ----

// A header of so many bytes, and what follows it.
static const struct link_simple {
    enum link link, rest;
    uint32_t head;
} link_simple[] = {
    {LINK_NULL, LINK_RAW, 4},
    {LINK_SLIP, LINK_RAW, 16},
    {LINK_OLD_RAW, LINK_RAW, 0},
    {LINK_BSD_RAW, LINK_RAW, 0},
    {LINK_ATM_RFC1483, LINK_LLC, 0},
    {LINK_LOOP, LINK_RAW, 4},
    {LINK_ENC, LINK_RAW, 12},
    {LINK_PPP_SERIAL, LINK_PPP, 0},
    {LINK_PPP_WITH_DIR, LINK_PPP, 1},
    {LINK_C_HDLC_WITH_DIR, LINK_C_HDLC, 1},
    {LINK_FRELAY_WITH_DIR, LINK_FRELAY, 1},
    {LINK_IPNET, LINK_RAW, 24},
    {LINK_IPV4, LINK_RAW, 0},
    {LINK_IPV6, LINK_RAW, 0},
    {LINK_BRCM_TAG_PREPEND, LINK_EN10MB, 4},
};

static const struct link_reader {
    enum link link;
    enum link (*read)(struct link_packet *p);
} link_readers[] = {
    {LINK_TOKEN_RING, link_of_token_ring},
    {LINK_PPP, link_of_ppp},
    {LINK_PPP_PPPD, link_of_pppd},
    {LINK_FDDI, link_of_fddi},
    {LINK_RAW, link_of_ip},
    {LINK_C_HDLC, link_of_c_hdlc},
    {LINK_WIFI, link_of_wifi},
    {LINK_ATM_CLIP, link_of_clip},
    {LINK_FRELAY, link_of_frame_relay},
    {LINK_SLL, link_of_sll},
    {LINK_PFLOG, link_of_pflog},
    {LINK_WIFI_PRISM, link_of_prism},
    {LINK_IP_OVER_FC, link_of_fibre},
    {LINK_SUNATM, link_of_sunatm},
    {LINK_WIFI_RADIOTAP, link_of_radiotap},
    {LINK_WIFI_AVS, link_of_prism},
    {LINK_APPLE_PKTAP, link_of_pktap},
    {LINK_MFR, link_of_multilink},
    {LINK_PPI, link_of_ppi},
    {LINK_ERF, link_of_erf},
    {LINK_NFLOG, link_of_nflog},
    {LINK_PKTAP, link_of_pktap},
    {LINK_MPACKET, link_of_mpacket},
    {LINK_SLL2, link_of_sll2},
    {LINK_BRCM_TAG, link_of_brcm},
    {LINK_DSA_TAG, link_of_dsa},
    {LINK_EDSA_TAG, link_of_edsa},
    {LINK_LLC, link_of_llc},
};

static enum link link_read_simple(struct link_packet *p, enum link link, bool *known) {
    for (size_t i = 0; i < sizeof link_simple / sizeof *link_simple; i++)
        if (link_simple[i].link == link)
            return p && !link_skip(p, link_simple[i].head) ? LINK_NEITHER : link_simple[i].rest;
    *known = false;
    return LINK_NEITHER;
}

// The few whose reader takes more than the packet. Without a packet only 'known' is told.
static enum link link_read_other(struct link_packet *p, enum link link, bool *known) {
    switch (link) {
    case LINK_PPP_ETHER: // PPPoE's header is the payload's, of a session's packet or of discovery
        return !p                ? LINK_PAYLOAD
               : !link_has(p, 6) ? LINK_NEITHER
                                 : link_payload(p, p->bytes[1] ? 0x8863 : 0x8864);
    case LINK_FIREWIRE_IP:
        return p ? link_of_typed(p, 18, 16) : LINK_PAYLOAD;
    case LINK_IPOIB:
        return p ? link_of_typed(p, 44, 40) : LINK_PAYLOAD;
    case LINK_MPLS:
        return p ? link_payload(p, 0x8847) : LINK_PAYLOAD;
    case LINK_JUNIPER_ETHER:
        return p ? link_of_juniper(p, LINK_EN10MB) : LINK_PAYLOAD;
    case LINK_JUNIPER_PPP:
        return p ? link_of_juniper(p, LINK_PPP) : LINK_PAYLOAD;
    case LINK_JUNIPER_FRELAY:
        return p ? link_of_juniper(p, LINK_FRELAY) : LINK_PAYLOAD;
    case LINK_JUNIPER_CHDLC:
        return p ? link_of_juniper(p, LINK_C_HDLC) : LINK_PAYLOAD;
    case LINK_NETANALYZER:
    case LINK_NETANALYZER_TRANSPARENT: // with a preamble
        if (p && !link_skip(p, link == LINK_NETANALYZER ? 4 : 12))
            return LINK_NEITHER;
        if (p)
            link_cut_end(p, 4);
        return LINK_EN10MB;
    default:
        return link_read_simple(p, link, known);
    }
}

static enum link link_read(struct link_packet *p, enum link link, bool *known) {
    for (size_t i = 0; i < sizeof link_readers / sizeof *link_readers; i++)
        if (link_readers[i].link == link)
            return p ? link_readers[i].read(p) : LINK_PAYLOAD;
    return link_read_other(p, link, known);
}

bool capture_link_is_known(unsigned link) {
    bool known = true;
    if (link != LINK_ETHER)
        link_read(NULL, (enum link)link, &known);
    return known;
}

// Until it is Ethernet, its payload, or neither.
static enum link link_read_all(struct link_packet *p, enum link link) {
    for (unsigned i = 0; link != LINK_EN10MB && link != LINK_PAYLOAD && link != LINK_NEITHER; i++) {
        bool known = true;
        const enum link outside = link;
        if (i == MOST_LAYERS)
            return link_neither(p, "more than %u headers are before it", MOST_LAYERS);
        link = link_read(p, link, &known);
        if (!known)
            return link_neither(p, "it is of link type %u", outside);
    }
    return link;
}

static void link_write(const struct link_packet *p, uint8_t *payload) {
    if (p->tagged) {
        payload[0] = (uint8_t)(p->tci >> 8);
        payload[1] = (uint8_t)p->tci;
    }
    payload[-2] = (uint8_t)(p->type >> 8);
    payload[-1] = (uint8_t)p->type;
    memcpy(payload - 2 - LINK_ADDRESS, p->source, LINK_ADDRESS);
    memcpy(payload - ETHERNET_HEAD, p->destination, LINK_ADDRESS);
}

int capture_link_to_ethernet(struct capture *c, unsigned link, struct capture_frame *out,
                             struct sk_error *err) {
    out->foreign = NULL;
    if (link == LINK_ETHER)
        return 0;
    struct link_packet p = {
        .bytes = out->bytes, .length = out->length, .wire_length = out->wire_length, .why = c->why};
    const enum link found = link_read_all(&p, (enum link)link);
    if (found == LINK_NEITHER) {
        out->foreign = c->why;
        return 0;
    }
    const uint32_t head = found == LINK_PAYLOAD ? ETHERNET_HEAD : 0;
    // Nothing is written before all is well: who tries again reads the same.
    if (capture_lengths(c, out, p.length + head, p.wire_length + head, 0, err))
        return -1;
    out->bytes += p.bytes - out->bytes;
    if (head) {
        link_write(&p, out->bytes);
        out->bytes -= head;
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
//
// link: Ethernet frames of packets that were captured without one, at a tunnel, a loopback
// interface, or all interfaces of a machine at once (tcpdump -i any).
//
//     RAW, IPV4, IPV6  an IP packet
//     NULL, LOOP       4 bytes, an IP packet
//     LINUX_SLL        kind 2, hardware 2, address length 2, address 8, ether type 2
//     PPP              address and control, 2, or not; protocol, 2, or 1 if that is odd; IP
//     PPI              version 1, flags 1, length of all 2, link type 4, both little-endian; more
//                      of the header; then a packet of that link type
//     LINUX_SLL2       ether type 2, 0 2, interface 4, hardware 2, kind 1, address length 1,
//                      address 8
//
// The frame's source is the address, if there is one of Ethernet; its destination, which nobody
// knows, is 0. What is in front of the packet becomes the frame's header, where that is shorter
// with bytes in front of it: of the record or block, which has been read.
//
// Formats: the list of link types of tcpdump.org.
#include "pcap/capture/capture_impl.h"

#define ETHERNET_HEAD 14u
#define ADDRESS       6u
#define SMALLEST_TYPE 0x600u // what is less is a length

enum {
    LINK_NULL = 0,
    LINK_PPP = 9,
    LINK_OLD_RAW = 12,
    LINK_RAW = 101,
    LINK_LOOP = 108,
    LINK_SLL = 113,
    LINK_PPI = 192,
    LINK_IPV4 = 228,
    LINK_IPV6 = 229,
    LINK_SLL2 = 276,
};

// Where these are in what is in front of the packet.
struct link_form {
    unsigned link, head;
    unsigned type; // both 0: the packet's first four bits tell it
    unsigned hardware, address_length, address;
    bool short_length; // the address's length has one byte, else two
};
static const struct link_form link_forms[] = {
    {LINK_NULL, .head = 4},
    {LINK_OLD_RAW, .head = 0},
    {LINK_RAW, .head = 0},
    {LINK_LOOP, .head = 4},
    {LINK_IPV4, .head = 0},
    {LINK_IPV6, .head = 0},
    {LINK_SLL, 16, .type = 14, .hardware = 2, .address_length = 4, .address = 6},
    {LINK_SLL2, 20, .type = 0, .hardware = 8, .address_length = 11, .address = 12, true},
};

static const struct link_form *link_form_of(unsigned link) {
    for (size_t i = 0; i < sizeof link_forms / sizeof *link_forms; i++)
        if (link_forms[i].link == link)
            return &link_forms[i];
    return NULL;
}

bool capture_link_is_known(unsigned link) {
    return link == LINK_ETHER || link == LINK_PPP || link == LINK_PPI || link_form_of(link);
}

static unsigned link_get16(const uint8_t *at) { // in network order, whatever the file's
    return (unsigned)at[0] << 8 | at[1];
}

// What the first four bits of an IP packet say; 0: it is none.
static unsigned link_type_of_ip(const uint8_t *packet, uint32_t length) {
    const unsigned version = length > 0 ? packet[0] >> 4 : 0;
    return version == 4 ? 0x0800 : version == 6 ? 0x86dd : 0;
}

// Hardware whose "ether type" is something else: GRE, 802.11, netlink.
static bool link_has_no_type(unsigned hardware) {
    return hardware == 778 || (hardware >= 801 && hardware <= 803) || hardware == 824;
}

// Fills in type and source of the frame; -1 with a sentence.
static int link_read(const struct capture *c, const struct link_form *f,
                     const struct capture_frame *p, uint8_t head[ETHERNET_HEAD],
                     struct sk_error *err) {
    unsigned type = 0;
    if (p->length < f->head)
        return capture_bad(c, err, "a packet of %u bytes, fewer than its link type (%u) has",
                           p->length, f->link);
    if (f->address) {
        const unsigned hardware = link_get16(p->bytes + f->hardware);
        const unsigned length = f->short_length ? p->bytes[f->address_length]
                                                : link_get16(p->bytes + f->address_length);
        if (link_has_no_type(hardware))
            return capture_bad(c, err, "a packet of hardware type %u; a switch has Ethernet or IP",
                               hardware);
        if (length == ADDRESS)
            memcpy(head + ADDRESS, p->bytes + f->address, ADDRESS);
        type = link_get16(p->bytes + f->type);
        if (type < SMALLEST_TYPE)
            type = (p->wire_length - f->head) & 0xffff; // of LLC
    } else if (!(type = link_type_of_ip(p->bytes + f->head, p->length - f->head))) {
        return capture_bad(c, err, "a packet that is neither IPv4 nor IPv6");
    }
    head[12] = (uint8_t)(type >> 8);
    head[13] = (uint8_t)type;
    return 0;
}

// Reads the link type of the packet after the header, and the header's length. -1 with a sentence.
static int link_read_ppi(const struct capture *c, const struct capture_frame *p, unsigned *link,
                         uint32_t *in_front, struct sk_error *err) {
    const uint8_t *b = p->bytes;
    *in_front = p->length < 8 ? 0 : (uint32_t)(b[2] | b[3] << 8);
    if (*in_front < 8 || *in_front > p->length)
        return capture_bad(c, err, "a packet of %u bytes whose PPI header has %u", p->length,
                           *in_front);
    *link = (unsigned)b[4] | (unsigned)b[5] << 8 | (unsigned)b[6] << 16 | (unsigned)b[7] << 24;
    if (*link == LINK_PPI || !capture_link_is_known(*link))
        return capture_bad(c, err,
                           "a packet of link type %u in a PPI header; a switch has "
                           "Ethernet or IP",
                           *link);
    return 0;
}

// RFC 1661 and 1662; protocols of RFC 1332 and 5072.
static int link_read_ppp(const struct capture *c, const struct capture_frame *p,
                         uint8_t head[ETHERNET_HEAD], uint32_t *in_front, struct sk_error *err) {
    const uint8_t *b = p->bytes;
    uint32_t at = p->length >= 2 && b[0] == 0xff && b[1] == 3 ? 2 : 0;
    unsigned protocol = 0;
    while (at < p->length && at < 4) {
        protocol = protocol << 8 | b[at++];
        if (protocol & 1)
            break;
    }
    if (protocol != 0x21 && protocol != 0x57)
        return capture_bad(c, err, "a packet of PPP's protocol 0x%04x; a switch has Ethernet or IP",
                           protocol);
    memcpy(head + 12, protocol == 0x21 ? "\x08\x00" : "\x86\xdd", 2);
    *in_front = at;
    return 0;
}

int capture_link_to_ethernet(const struct capture *c, unsigned link, struct capture_frame *out,
                             struct sk_error *err) {
    uint8_t head[ETHERNET_HEAD] = {0};
    struct capture_frame inside = *out; // nothing is written before all is well: who tries again
                                        // reads the same
    uint32_t in_front = 0;
    if (link == LINK_PPI) {
        if (link_read_ppi(c, &inside, &link, &in_front, err))
            return -1;
        inside.bytes += in_front;
        inside.length -= in_front;
        inside.wire_length -= in_front;
    }
    const struct link_form *f = link_form_of(link);
    if (link == LINK_ETHER) {
        if (in_front && capture_lengths(c, out, inside.length, inside.wire_length, 0, err))
            return -1;
        out->bytes += in_front;
        return 0;
    }
    uint32_t own = f ? f->head : 0;
    if (f ? link_read(c, f, &inside, head, err) : link_read_ppp(c, &inside, head, &own, err))
        return -1;
    if (capture_lengths(c, out, inside.length - own + ETHERNET_HEAD,
                        inside.wire_length - own + ETHERNET_HEAD, 0, err))
        return -1;
    out->bytes = inside.bytes + own - ETHERNET_HEAD;
    memcpy(out->bytes, head, sizeof head);
    return 0;
}

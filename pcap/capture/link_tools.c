// SPDX-License-Identifier: Apache-2.0
//
// link_tools: what tools and devices put in front of packets, or into them.
//
//     PPI       version 1, flags 1, length of all 2, link type 4, both little-endian
//     PKTAP     length of all 4, kind 4, link type 4, of a little-endian machine (Apple's)
//     ERF       Endace's: time 8, type 1, flags 1, length 2, lost 2, length on the wire 2; further
//               headers of 8, as long as their first bit is set; of Ethernet 2 more
//     NFLOG     family 1, version 1, group 2; then length 2 and type 2, of the machine, value, pad
//     PFLOG     length 1, family 1, ...; the length is rounded up to 4
//     Juniper   4d 47 43, flags 1; a length 2 and so many bytes, if the flags say so
//     DSA, EDSA a switch's tag after the addresses: 4 bytes; EDSA has da da 0 0 before them
//     Broadcom  a switch's tag after the addresses: 4 bytes
//     mPacket   a preamble with what the frame is, 8 (802.3br); frame, check sequence
#include "pcap/capture/link_impl.h"

#define TAG_AT 12u // after the addresses

enum link link_of_ppi(struct link_packet *p) {
    const uint8_t *b = p->bytes;
    if (!link_has(p, 8))
        return LINK_NEITHER;
    const uint32_t n = (uint32_t)(b[2] | b[3] << 8);
    if (n < 8 || n > p->length)
        return link_neither(p, "its PPI header has %u bytes of %u", n, p->length);
    link_skip(p, n);
    return (enum link)(link_le32(b + 4) & 0xffff);
}

enum link link_of_pktap(struct link_packet *p) {
    const uint8_t *b = p->bytes;
    if (!link_has(p, 12))
        return LINK_NEITHER;
    const uint32_t n = link_le32(b);
    if (n < 12 || n > p->length)
        return link_neither(p, "its PKTAP header has %u bytes of %u", n, p->length);
    if (link_le32(b + 4) != 1)
        return link_neither(p, "PKTAP's kind of record is %u", link_le32(b + 4));
    link_skip(p, n);
    return (enum link)(link_le32(b + 8) & 0xffff);
}

enum link link_of_erf(struct link_packet *p) {
    const uint8_t *b = p->bytes;
    if (!link_skip(p, 16))
        return LINK_NEITHER;
    const unsigned type = b[8] & 0x7f, wire = link_be16(b + 14);
    for (bool more = b[8] & 0x80; more;) {
        const uint8_t *extra = p->bytes;
        if (!link_skip(p, 8))
            return LINK_NEITHER;
        more = extra[0] & 0x80;
    }
    switch (type) {
    case 2:  // Ethernet
    case 11: // with a colour
    case 16: // with a number of the card
    case 20:
        if (!link_skip(p, 2))
            return LINK_NEITHER;
        p->wire_length = wire;
        link_cut_end(p, 4);
        return LINK_EN10MB;
    case 22:
    case 23:
        p->wire_length = wire;
        link_cut_end(p, 0);
        return LINK_RAW;
    default:
        return link_neither(p, "ERF's type is %u", type);
    }
}

// The packet is the value of type 9. Lengths are in the byte order of the machine that wrote: one
// that is impossible in one order is of the other.
enum link link_of_nflog(struct link_packet *p) {
    if (!link_skip(p, 4))
        return LINK_NEITHER;
    while (p->length >= 4) {
        const uint8_t *b = p->bytes;
        const unsigned little = (unsigned)(b[0] | b[1] << 8), big = link_be16(b);
        const bool is_big = little < 4 || little > p->length;
        const uint32_t n = is_big ? big : little;
        const unsigned type = is_big ? link_be16(b + 2) : (unsigned)(b[2] | b[3] << 8);
        if (n < 4 || n > p->length)
            return link_neither(p, "one of NFLOG's values has %u bytes of %u", n, p->length);
        if ((type & 0x7fff) == 9) {
            p->wire_length = p->length = n;
            link_skip(p, 4);
            return LINK_RAW;
        }
        link_skip(p, (n + 3) / 4 * 4 < p->length ? (n + 3) / 4 * 4 : p->length);
    }
    return link_neither(p, "NFLOG has no packet in it");
}

enum link link_of_pflog(struct link_packet *p) {
    if (!link_has(p, 4))
        return LINK_NEITHER;
    return link_skip(p, (p->bytes[0] + 3u) / 4 * 4) ? LINK_RAW : LINK_NEITHER;
}

enum link link_of_juniper(struct link_packet *p, enum link inside) {
    const uint8_t *b = p->bytes;
    if (!link_skip(p, 4))
        return LINK_NEITHER;
    if (memcmp(b, "MGC", 3) != 0)
        return link_neither(p, "it does not begin as Juniper's do");
    if (b[3] & 0x80 && (!link_has(p, 2) || !link_skip(p, 2 + link_be16(p->bytes))))
        return LINK_NEITHER;
    if (b[3] & 0x02)
        return link_neither(p, "Juniper's capture has left its header out");
    return inside;
}

// ---- tags of switches ----

// What is left is the payload after a tag that ends at 'end', where the frame's own type is.
static enum link link_after_tag(struct link_packet *p, uint32_t end) {
    const uint8_t *b = p->bytes;
    if (!link_has(p, end + 2))
        return LINK_NEITHER;
    memcpy(p->destination, b, LINK_ADDRESS);
    memcpy(p->source, b + LINK_ADDRESS, LINK_ADDRESS);
    p->type = link_be16(b + end);
    link_skip(p, end + 2);
    return LINK_PAYLOAD;
}

// Of DSA's four bytes the second bit of the third says that they stand for a VLAN's tag, too.
static enum link link_after_dsa(struct link_packet *p, uint32_t at) {
    if (!link_has(p, at + 6))
        return LINK_NEITHER;
    const uint8_t *tag = p->bytes + at;
    if (!(tag[0] & 0x20))
        return link_after_tag(p, at + 4);
    const unsigned tci = (unsigned)(tag[2] & 0xe0) << 8 | (unsigned)(tag[1] & 1) << 12 |
                         (unsigned)(tag[2] & 15) << 8 | tag[3];
    link_after_tag(p, at); // the first half becomes the type
    p->type = 0x8100;
    p->tagged = true;
    p->tci = tci;
    return LINK_PAYLOAD;
}

enum link link_of_dsa(struct link_packet *p) {
    return link_after_dsa(p, TAG_AT);
}

enum link link_of_edsa(struct link_packet *p) {
    if (!link_has(p, TAG_AT + 4))
        return LINK_NEITHER;
    if (memcmp(p->bytes + TAG_AT, "\xda\xda\0\0", 4) != 0)
        return link_neither(p, "it has no EDSA tag");
    return link_after_dsa(p, TAG_AT + 4);
}

enum link link_of_brcm(struct link_packet *p) {
    return link_after_tag(p, TAG_AT + 4);
}

enum link link_of_mpacket(struct link_packet *p) {
    const uint8_t *b = p->bytes;
    if (!link_skip(p, 8))
        return LINK_NEITHER;
    if (b[7] != 0xd5) // an express frame, which is whole
        return link_neither(p, "it is perhaps a fragment (802.3br)");
    link_cut_end(p, 4);
    return LINK_EN10MB;
}

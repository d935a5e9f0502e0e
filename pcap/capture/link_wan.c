// SPDX-License-Identifier: Apache-2.0
//
// link_wan: PPP (RFC 1661, 1662; protocols of RFC 1332, 5072, 3032), Cisco's HDLC, frame relay (RFC
// 2427) and its bundles (FRF.16).
//
//     PPP      address and control, 2, or not; protocol, 2, or 1 if that is odd
//     C_HDLC   address 1, control 1, ether type 2
//     FRELAY   address, 2 to 4, its last byte odd; control 3, perhaps 0; NLPID 1; or an ether type
//     MFR      begin, end and control bits with a number, 2; FRELAY
#include "pcap/capture/link_impl.h"

// Cisco's HDLC has other addresses, and 0 as its control. Captures of it are called PPP, too.
static bool link_is_c_hdlc(const struct link_packet *p) {
    return p->length > 1 && (p->bytes[0] == 0x0f || p->bytes[0] == 0x8f) && p->bytes[1] == 0;
}

enum link link_of_ppp(struct link_packet *p) {
    const uint8_t *b = p->bytes;
    if (link_is_c_hdlc(p))
        return LINK_C_HDLC;
    uint32_t at = p->length >= 2 && b[0] == 0xff && b[1] == 3 ? 2 : 0;
    unsigned protocol = 0;
    while (at < p->length && at < 4) {
        protocol = protocol << 8 | b[at++];
        if (protocol & 1)
            break;
    }
    static const struct {
        unsigned protocol, type;
    } types[] = {{0x21, 0x0800}, {0x57, 0x86dd}, {0x281, 0x8847}, {0x283, 0x8848}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].protocol == protocol && link_skip(p, at))
            return link_payload(p, types[i].type);
    return link_neither(p, "it is of PPP's protocol 0x%04x", protocol);
}

// A direction is where the address was.
enum link link_of_pppd(struct link_packet *p) {
    if (!link_skip(p, 1) || (p->length > 0 && p->bytes[0] == 3 && !link_skip(p, 1)))
        return LINK_NEITHER;
    return LINK_PPP;
}

enum link link_of_c_hdlc(struct link_packet *p) {
    const uint8_t *b = p->bytes;
    if (!link_skip(p, 4))
        return LINK_NEITHER;
    if (!link_carries_ip(link_be16(b + 2)))
        return link_neither(p, "it is of HDLC's protocol 0x%04x", link_be16(b + 2));
    return link_payload(p, link_be16(b + 2));
}

// After NLPID 0x80: an organisation, 3, a protocol, 2.
static enum link link_of_snap(struct link_packet *p) {
    const uint8_t *b = p->bytes;
    if (!link_skip(p, 5))
        return LINK_NEITHER;
    const unsigned protocol = link_be16(b + 3);
    if (memcmp(b, "\0\0\0", 3) == 0)
        return link_payload(p, protocol);
    if (memcmp(b, "\0\x80\xc2", 3) == 0 && (protocol == 1 || protocol == 7)) { // bridged
        if (protocol == 1)
            link_cut_end(p, 4); // its check sequence
        return LINK_EN10MB;
    }
    return link_neither(p, "it is of frame relay's protocol %02x%02x%02x 0x%04x", b[0], b[1], b[2],
                        protocol);
}

enum link link_of_frame_relay(struct link_packet *p) {
    const uint8_t *b = p->bytes;
    uint32_t at = 1;
    while (at < p->length && at < 4 && !(b[at] & 1))
        at++;
    if (!link_skip(p, at + 1) || !link_has(p, 2))
        return LINK_NEITHER;
    b = p->bytes;
    if (link_carries_ip(link_be16(b))) { // Cisco's
        const unsigned type = link_be16(b);
        link_skip(p, 2);
        return link_payload(p, type);
    }
    if (b[0] != 3)
        return link_neither(p, "frame relay's control is 0x%02x", b[0]);
    link_skip(p, b[1] == 0 ? 2 : 1); // a pad
    if (!link_has(p, 1))
        return LINK_NEITHER;
    const uint8_t nlpid = p->bytes[0];
    link_skip(p, 1);
    switch (nlpid) {
    case 0x80:
        return link_of_snap(p);
    case 0xcc:
    case 0x8e:
        return LINK_RAW;
    default:
        return link_neither(p, "frame relay's NLPID is 0x%02x", nlpid);
    }
}

enum link link_of_multilink(struct link_packet *p) {
    const uint8_t *b = p->bytes;
    if (!link_skip(p, 2))
        return LINK_NEITHER;
    if ((b[0] & 0xe0) == 0xc0) // begins and ends here
        return LINK_FRELAY;
    return link_neither(p, b[0] & 0x20 ? "it controls a frame relay bundle"
                                       : "it is a fragment of a frame relay bundle");
}

// SPDX-License-Identifier: Apache-2.0
//
// link_wifi: IEEE 802.11-2020 (9.2, 9.3.2), radiotap.org's header, and those of Prism and AVS.
//
//     802.11    control 2, duration 2, three addresses, sequence 2; a fourth address when a frame
//               goes from one access point to another; 2 of QoS, and 4 of HT; LLC
//     radiotap  version 1, pad 1, length 2, words that say which fields follow; little-endian
//     Prism     message 4, length 4, little-endian; AVS: version 4, length 4, big-endian
#include "pcap/capture/link_impl.h"

// In the control's second byte.
#define TO_DS      0x01
#define FROM_DS    0x02
#define MORE_PARTS 0x04
#define PROTECTED  0x40
#define ORDER      0x80
// In radiotap's flags.
#define HAS_FCS      0x10
#define HAS_PAD      0x20
#define HAS_BAD_FCS  0x40
#define AVS_VERSION  0x80211000u
#define RADIOTAP_EXT 0x80000000u

// Four addresses, and what follows depends on control's bits. 0: it has no data.
static uint32_t link_wifi_head(struct link_packet *p) {
    const uint8_t *b = p->bytes;
    if (!link_has(p, 24))
        return 0;
    const unsigned kind = b[0] >> 2 & 3, subtype = b[0] >> 4;
    if (kind != 2 || subtype & 4) {
        link_neither(p, "it is an 802.11 frame without data (type %u, %u)", kind, subtype);
        return 0;
    }
    const bool both = (b[1] & (TO_DS | FROM_DS)) == (TO_DS | FROM_DS), qos = subtype & 8;
    const uint32_t at = both ? 30 : 24, n = at + (qos ? 2 : 0) + (qos && b[1] & ORDER ? 4 : 0);
    if (!link_has(p, n))
        return 0;
    if (b[1] & PROTECTED)
        link_neither(p, "it is an 802.11 frame that is encrypted");
    else if (b[1] & MORE_PARTS || b[22] & 15)
        link_neither(p, "it is an 802.11 frame that is a fragment");
    else if (qos && b[at] & 0x80)
        link_neither(p, "it is an 802.11 frame that has several frames (A-MSDU)");
    else
        return n;
    return 0;
}

static enum link link_wifi_data(struct link_packet *p, bool padded) {
    const uint8_t *b = p->bytes;
    const uint32_t n = link_wifi_head(p);
    if (!n || !link_skip(p, padded ? (n + 3) / 4 * 4 : n))
        return LINK_NEITHER;
    memcpy(p->destination, b[1] & TO_DS ? b + 16 : b + 4, LINK_ADDRESS);
    memcpy(p->source, !(b[1] & FROM_DS) ? b + 10 : b[1] & TO_DS ? b + 24 : b + 16, LINK_ADDRESS);
    return LINK_LLC;
}

enum link link_of_wifi(struct link_packet *p) {
    return link_wifi_data(p, false);
}

enum link link_of_prism(struct link_packet *p) {
    const uint8_t *b = p->bytes;
    if (!link_has(p, 8))
        return LINK_NEITHER;
    const bool avs = (link_be32(b) & 0xfffff000u) == AVS_VERSION;
    const uint32_t n = avs ? link_be32(b + 4) : link_le32(b + 4);
    if (n < 8)
        return link_neither(p, "its radio's header has %u bytes", n);
    return link_skip(p, n) ? LINK_WIFI : LINK_NEITHER;
}

// The field of flags, or 0. The first word says whether it is there; the time, of 8 bytes at a
// multiple of 8, comes before it.
static uint8_t link_radiotap_flags(const uint8_t *b, uint32_t n) {
    uint32_t at = 4;
    const uint32_t present = link_le32(b + 4);
    while (at + 4 <= n && link_le32(b + at) & RADIOTAP_EXT)
        at += 4;
    at += 4;
    if (present & 1)
        at = (at + 7) / 8 * 8 + 8;
    return present & 2 && at < n ? b[at] : 0;
}

enum link link_of_radiotap(struct link_packet *p) {
    const uint8_t *b = p->bytes;
    if (!link_has(p, 8))
        return LINK_NEITHER;
    const uint32_t n = (uint32_t)(b[2] | b[3] << 8);
    if (b[0] != 0 || n < 8)
        return link_neither(p, "its radiotap header has version %u and %u bytes", b[0], n);
    if (!link_skip(p, n))
        return LINK_NEITHER;
    const uint8_t flags = link_radiotap_flags(b, n);
    if (flags & HAS_BAD_FCS)
        return link_neither(p, "it is an 802.11 frame that the radio got wrong");
    if (flags & HAS_FCS)
        link_cut_end(p, 4);
    return link_wifi_data(p, flags & HAS_PAD);
}

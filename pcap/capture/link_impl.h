// SPDX-License-Identifier: Apache-2.0
//
// link_impl: what packets of a link type carry; for link.c and the files of its kinds.
//
// A reader removes the header before the packet and returns the link type of the rest, or one of
// the last ones below, which have no number elsewhere.
#ifndef SILKEN_PCAP_CAPTURE_LINK_IMPL_H
#define SILKEN_PCAP_CAPTURE_LINK_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// Numbers: the list of link types of tcpdump.org.
enum link {
    LINK_NULL = 0,
    LINK_EN10MB = 1,
    LINK_TOKEN_RING = 6,
    LINK_SLIP = 8,
    LINK_PPP = 9,
    LINK_FDDI = 10,
    LINK_OLD_RAW = 12,
    LINK_BSD_RAW = 14,
    LINK_PPP_SERIAL = 50,
    LINK_PPP_ETHER = 51,
    LINK_ATM_RFC1483 = 100,
    LINK_RAW = 101,
    LINK_C_HDLC = 104,
    LINK_WIFI = 105,
    LINK_ATM_CLIP = 106,
    LINK_FRELAY = 107,
    LINK_LOOP = 108,
    LINK_ENC = 109,
    LINK_SLL = 113,
    LINK_PFLOG = 117,
    LINK_WIFI_PRISM = 119,
    LINK_IP_OVER_FC = 122,
    LINK_SUNATM = 123,
    LINK_WIFI_RADIOTAP = 127,
    LINK_WIFI_AVS = 163,
    LINK_FIREWIRE_IP = 138,
    LINK_APPLE_PKTAP = 149,
    LINK_PPP_PPPD = 166,
    LINK_JUNIPER_ETHER = 178,
    LINK_JUNIPER_PPP = 179,
    LINK_JUNIPER_FRELAY = 180,
    LINK_JUNIPER_CHDLC = 181,
    LINK_MFR = 182,
    LINK_PPI = 192,
    LINK_ERF = 197,
    LINK_PPP_WITH_DIR = 204,
    LINK_C_HDLC_WITH_DIR = 205,
    LINK_FRELAY_WITH_DIR = 206,
    LINK_MPLS = 219,
    LINK_IPNET = 226,
    LINK_IPV4 = 228,
    LINK_IPV6 = 229,
    LINK_NFLOG = 239,
    LINK_NETANALYZER = 240,
    LINK_NETANALYZER_TRANSPARENT = 241,
    LINK_IPOIB = 242,
    LINK_PKTAP = 258,
    LINK_MPACKET = 274,
    LINK_SLL2 = 276,
    LINK_BRCM_TAG = 281,
    LINK_BRCM_TAG_PREPEND = 282,
    LINK_DSA_TAG = 284,
    LINK_EDSA_TAG = 285,

    LINK_LLC = 0x10000, // LLC, perhaps with SNAP, is what follows
    LINK_PAYLOAD,       // of an Ethernet frame, whose 'type' is known
    LINK_NEITHER,       // the packet carries neither Ethernet nor IP: 'why'
};

#define LINK_ADDRESS 6u

struct link_packet {
    const uint8_t *bytes;                                    // what is left
    uint32_t length;                                         // of it
    uint32_t wire_length;                                    // as it was on the wire
    uint8_t destination[LINK_ADDRESS], source[LINK_ADDRESS]; // 0: not known
    unsigned type;                                           // of a payload
    bool tagged;  // the payload's first two bytes become 'tci', when the packet is taken
    unsigned tci; // of a VLAN
    char *why;    // LINK_WHY bytes
};
#define LINK_WHY 128u

static inline unsigned link_be16(const uint8_t *at) {
    return (unsigned)at[0] << 8 | at[1];
}
static inline uint32_t link_le32(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}
static inline uint32_t link_be32(const uint8_t *at) {
    return (uint32_t)link_be16(at) << 16 | link_be16(at + 2);
}
static inline enum link link_payload(struct link_packet *p, unsigned type) {
    p->type = type;
    return LINK_PAYLOAD;
}
// An ether type of IP or MPLS. Of others, links use some for themselves.
static inline bool link_carries_ip(unsigned type) {
    return type == 0x0800 || type == 0x86dd || type == 0x8847 || type == 0x8848;
}
// LINK_NEITHER with a reason, a clause about "it".
enum link link_neither(struct link_packet *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Takes n bytes off the front; false, with the reason, when there are fewer.
bool link_skip(struct link_packet *p, uint32_t n);
// Whether there are n bytes; false with the reason.
bool link_has(struct link_packet *p, uint32_t n);
// Takes a check sequence of n bytes off the end of the whole packet.
void link_cut_end(struct link_packet *p, uint32_t n);

// link_wan.c: PPP, HDLC, frame relay
enum link link_of_ppp(struct link_packet *p);
enum link link_of_pppd(struct link_packet *p);
enum link link_of_c_hdlc(struct link_packet *p);
enum link link_of_frame_relay(struct link_packet *p);
enum link link_of_multilink(struct link_packet *p);
// link_wifi.c: 802.11, with what radios put in front
enum link link_of_wifi(struct link_packet *p);
enum link link_of_prism(struct link_packet *p);
enum link link_of_radiotap(struct link_packet *p);
// link_tools.c: what tools and devices put in front of packets or into them
enum link link_of_ppi(struct link_packet *p);
enum link link_of_pktap(struct link_packet *p);
enum link link_of_erf(struct link_packet *p);
enum link link_of_nflog(struct link_packet *p);
enum link link_of_pflog(struct link_packet *p);
enum link link_of_juniper(struct link_packet *p, enum link inside);
enum link link_of_dsa(struct link_packet *p);
enum link link_of_edsa(struct link_packet *p);
enum link link_of_brcm(struct link_packet *p);
enum link link_of_mpacket(struct link_packet *p);

#endif

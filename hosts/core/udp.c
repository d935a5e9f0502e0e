// SPDX-License-Identifier: Apache-2.0
#include "hosts/core/udp.h"

#include <endian.h>
#include <immintrin.h>
#include <string.h>

#include "base/address.h"
#include "switchml_wire.h" // whose headers of the three are everybody's

#define IPV4_AT ETHERNET_H_BYTES
#define UDP_AT  (IPV4_AT + IPV4_H_BYTES)

#define LONG             128 // bytes from which on blocks are worth it
#define ETHERTYPE_IPV4   0x0800
#define PROTOCOL_UDP     17
#define MORE_FRAGMENTS   1
#define PSEUDO_HEADER_AT (IPV4_AT + 12) // the two addresses, which open the UDP pseudo header

_Static_assert(UDP_AT + UDP_H_BYTES == SK_UDP_BYTES, "the headers' lengths");

// ---- sums ------------------------------------------------------------------------------------

// As many of them as whole blocks of 32 bytes are; to be followed by the rest.
__attribute__((target("avx2"))) static uint64_t udp_add_blocks(uint64_t sum, const uint8_t *bytes,
                                                               size_t blocks) {
    const __m256i low = _mm256_set1_epi64x(UINT32_MAX);
    __m256i even = _mm256_setzero_si256(), odd = even;
    uint64_t sums[4];

    for (size_t i = 0; i < blocks; i++) {
        const __m256i words = _mm256_loadu_si256((const __m256i *)(bytes + 32 * i));
        even = _mm256_add_epi64(even, _mm256_and_si256(words, low));
        odd = _mm256_add_epi64(odd, _mm256_srli_epi64(words, 32));
    }
    _mm256_storeu_si256((__m256i *)sums, _mm256_add_epi64(even, odd));
    return sum + sums[0] + sums[1] + sums[2] + sums[3];
}

// Adds bytes to a running one's-complement sum of 16-bit words, in the order of bytes that they lie
// in: the sum of such words is that of numbers with its bytes exchanged (RFC 1071, section 2).
static uint64_t udp_add_words(uint64_t sum, const uint8_t *bytes, size_t len) {
    uint32_t word;
    uint8_t rest[4] = {0};
    size_t i = 0;

    if (len >= LONG && __builtin_cpu_supports("avx2")) {
        sum = udp_add_blocks(sum, bytes, len / 32);
        i = len / 32 * 32;
    }
    for (; i + sizeof word <= len; i += sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        sum += word;
    }
    if (i < len) {
        memcpy(rest, bytes + i, len - i);
        memcpy(&word, rest, sizeof word);
        sum += word;
    }
    return sum;
}

static uint16_t fold(uint64_t sum) {
    sum = (sum & 0xffffffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~be16toh((uint16_t)sum);
}

// Of an IPv4 header: five words, without a loop.
static uint16_t header_checksum(const uint8_t *ipv4) {
    uint32_t w[IPV4_H_BYTES / 4];

    memcpy(w, ipv4, sizeof w);
    return fold((uint64_t)w[0] + w[1] + w[2] + w[3] + w[4]);
}

uint16_t sk_checksum(const uint8_t *bytes, size_t len) {
    return fold(udp_add_words(0, bytes, len));
}

static uint64_t mac_number(const uint8_t mac[6]) {
    uint64_t n = 0;

    for (int i = 0; i < 6; i++)
        n = n << 8 | mac[i];
    return n;
}

// ---- sending ---------------------------------------------------------------------------------

void sk_udp_init(uint8_t *frame, const struct sk_endpoint *from, const struct sk_endpoint *to,
                 size_t payload) {
    uint8_t *ipv4 = frame + IPV4_AT, *udp = frame + UDP_AT;
    size_t udp_bytes = UDP_H_BYTES + payload;

    memset(frame, 0, SK_UDP_BYTES);
    ethernet_h_set_dst_addr(frame, mac_number(to->mac));
    ethernet_h_set_src_addr(frame, mac_number(from->mac));
    ethernet_h_set_ether_type(frame, ETHERTYPE_IPV4);
    ipv4_h_set_version(ipv4, 4);
    ipv4_h_set_ihl(ipv4, IPV4_H_BYTES / 4);
    ipv4_h_set_total_len(ipv4, (uint16_t)(IPV4_H_BYTES + udp_bytes));
    ipv4_h_set_ttl(ipv4, 64);
    ipv4_h_set_protocol(ipv4, PROTOCOL_UDP);
    ipv4_h_set_src_addr(ipv4, from->ip);
    ipv4_h_set_dst_addr(ipv4, to->ip);
    ipv4_h_set_hdr_checksum(ipv4, sk_checksum(ipv4, IPV4_H_BYTES));
    udp_h_set_src_port(udp, from->port);
    udp_h_set_dst_port(udp, to->port);
    udp_h_set_length(udp, (uint16_t)udp_bytes);
}

// ---- receiving -------------------------------------------------------------------------------

enum sk_udp_kind sk_udp_kind(const uint8_t *frame, size_t len, size_t payload) {
    const uint8_t *ipv4 = frame + IPV4_AT;

    if (len < ETHERNET_H_BYTES || ethernet_h_get_ether_type(frame) != ETHERTYPE_IPV4)
        return SK_UDP_FOREIGN;
    if (len < UDP_AT)
        return SK_UDP_SHORT;
    if (ipv4_h_get_version(ipv4) != 4 || ipv4_h_get_ihl(ipv4) != IPV4_H_BYTES / 4 ||
        ipv4_h_get_frag_offset(ipv4) != 0 || (ipv4_h_get_flags(ipv4) & MORE_FRAGMENTS) ||
        ipv4_h_get_protocol(ipv4) != PROTOCOL_UDP)
        return SK_UDP_FOREIGN;
    return len < SK_UDP_BYTES + payload ? SK_UDP_SHORT : SK_UDP_IS;
}

bool sk_udp_is_to(const uint8_t *frame, const struct sk_endpoint *to) {
    return memcmp(frame, to->mac, sizeof to->mac) == 0 &&
           ipv4_h_get_dst_addr(frame + IPV4_AT) == to->ip &&
           udp_h_get_dst_port(frame + UDP_AT) == to->port;
}

bool sk_udp_is_from(const uint8_t *frame, const struct sk_endpoint *from) {
    return ipv4_h_get_src_addr(frame + IPV4_AT) == from->ip &&
           udp_h_get_src_port(frame + UDP_AT) == from->port;
}

bool sk_udp_has_lengths(const uint8_t *frame, size_t payload) {
    return ipv4_h_get_total_len(frame + IPV4_AT) == IPV4_H_BYTES + UDP_H_BYTES + payload &&
           udp_h_get_length(frame + UDP_AT) == UDP_H_BYTES + payload;
}

// Over the pseudo header and all of UDP.
static uint16_t udp_sum(const uint8_t *frame) {
    const uint8_t *udp = frame + UDP_AT;
    size_t len = udp_h_get_length(udp);
    uint64_t sum = (uint64_t)htobe16(PROTOCOL_UDP) + htobe16((uint16_t)len);

    sum = udp_add_words(sum, frame + PSEUDO_HEADER_AT, 8);
    return fold(udp_add_words(sum, udp, len));
}

bool sk_udp_has_sums(const uint8_t *frame) {
    if (header_checksum(frame + IPV4_AT) != 0)
        return false;
    return udp_h_get_checksum(frame + UDP_AT) == 0 || udp_sum(frame) == 0;
}

void sk_udp_seal(uint8_t *frame) {
    uint8_t *udp = frame + UDP_AT;

    udp_h_set_checksum(udp, 0);
    uint16_t sum = udp_sum(frame);
    udp_h_set_checksum(udp, sum ? sum : 0xffff); // 0 means "no checksum"
}

// ---- words -----------------------------------------------------------------------------------

void sk_say_endpoint(struct sk_text *t, const char *who, const struct sk_endpoint *e) {
    char mac[SK_MAC_TEXT];

    sk_say(t, "%s ", who);
    if (mac_number(e->mac) != 0)
        sk_say(t, "%s, ", sk_mac_text(e->mac, mac));
    sk_say(t, "%u.%u.%u.%u, UDP port %u", e->ip >> 24, e->ip >> 16 & 255, e->ip >> 8 & 255,
           e->ip & 255, e->port);
}

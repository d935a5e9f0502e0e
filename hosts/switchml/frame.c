/* SPDX-License-Identifier: Apache-2.0 */
#include "hosts/switchml/frame.h"

#include <string.h>

#include "switchml_wire.h"

#define IPV4_AT      ETHERNET_H_BYTES
#define UDP_AT       (IPV4_AT + IPV4_H_BYTES)
#define SWITCHML_AT  (UDP_AT + UDP_H_BYTES)
#define EXPONENTS_AT (SWITCHML_AT + SWITCHML_H_BYTES)

#define ETHERTYPE_IPV4   0x0800
#define PROTOCOL_UDP     17
#define MORE_FRAGMENTS   1
#define MSG_TYPE         1
#define VERSION_BIT      0x8000
#define PSEUDO_HEADER_AT (IPV4_AT + 12) /* the two addresses, which open the UDP pseudo header */

_Static_assert(EXPONENTS_AT + EXPONENTS_H_BYTES == SWML_HEADER_BYTES,
               "the P4 program's headers are not the ones this code was written for");

/* ---- names ----------------------------------------------------------------------------------- */

const char *swml_reason_name(enum swml_reason reason) {
    static const char *const names[SWML_REASON_COUNT] = {[SWML_ACCEPTED] = "accepted",
#define REASON_NAME(name, key, text) [SWML_##name] = key,
                                                         SWML_REASONS(REASON_NAME)
#undef REASON_NAME
    };
    return names[reason];
}

const char *swml_reason_text(enum swml_reason reason) {
    static const char *const texts[SWML_REASON_COUNT] = {[SWML_ACCEPTED] = "accepted",
#define REASON_TEXT(name, key, text) [SWML_##name] = text,
                                                         SWML_REASONS(REASON_TEXT)
#undef REASON_TEXT
    };
    return texts[reason];
}

/* ---- sizes and sums -------------------------------------------------------------------------- */

int swml_size_code(unsigned k) {
    switch (k) {
    case 32:
        return 0;
    case 64:
        return 1;
    case 128:
        return 2;
    case 256:
        return 3;
    default:
        return -1;
    }
}

static size_t udp_bytes(const struct swml_flow *flow) {
    return UDP_H_BYTES + SWITCHML_H_BYTES + EXPONENTS_H_BYTES + 4 * (size_t)flow->k;
}

size_t swml_frame_bytes(const struct swml_flow *flow) {
    return UDP_AT + udp_bytes(flow);
}

/* Adds bytes to a running one's-complement sum of big-endian 16-bit words. */
static uint32_t add_words(uint32_t sum, const uint8_t *bytes, size_t len) {
    for (size_t i = 0; i + 1 < len; i += 2) {
        sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
    }
    if (len % 2) {
        sum += (uint32_t)bytes[len - 1] << 8;
    }
    return sum;
}

static uint16_t fold(uint32_t sum) {
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

uint16_t swml_checksum(const uint8_t *bytes, size_t len) {
    return fold(add_words(0, bytes, len));
}

static uint64_t mac_number(const uint8_t mac[6]) {
    uint64_t n = 0;

    for (int i = 0; i < 6; i++) {
        n = n << 8 | mac[i];
    }
    return n;
}

/* ---- sending --------------------------------------------------------------------------------- */

static void init_ipv4(uint8_t *ipv4, const struct swml_flow *flow) {
    ipv4_h_set_version(ipv4, 4);
    ipv4_h_set_ihl(ipv4, IPV4_H_BYTES / 4);
    ipv4_h_set_total_len(ipv4, (uint16_t)(IPV4_H_BYTES + udp_bytes(flow)));
    ipv4_h_set_ttl(ipv4, 64);
    ipv4_h_set_protocol(ipv4, PROTOCOL_UDP);
    ipv4_h_set_src_addr(ipv4, flow->worker.ip);
    ipv4_h_set_dst_addr(ipv4, flow->fabric.ip);
    ipv4_h_set_hdr_checksum(ipv4, swml_checksum(ipv4, IPV4_H_BYTES));
}

void swml_frame_init(uint8_t *frame, const struct swml_flow *flow) {
    memset(frame, 0, SWML_HEADER_BYTES);
    ethernet_h_set_dst_addr(frame, mac_number(flow->fabric.mac));
    ethernet_h_set_src_addr(frame, mac_number(flow->worker.mac));
    ethernet_h_set_ether_type(frame, ETHERTYPE_IPV4);
    init_ipv4(frame + IPV4_AT, flow);
    udp_h_set_src_port(frame + UDP_AT, flow->worker.port);
    udp_h_set_dst_port(frame + UDP_AT, flow->fabric.port);
    udp_h_set_length(frame + UDP_AT, (uint16_t)udp_bytes(flow));
    switchml_h_set_msg_type(frame + SWITCHML_AT, MSG_TYPE);
    switchml_h_set_size(frame + SWITCHML_AT, (uint8_t)swml_size_code(flow->k));
    switchml_h_set_job_number(frame + SWITCHML_AT, flow->job);
}

void swml_frame_set_chunk(uint8_t *frame, const struct swml_chunk *chunk) {
    uint16_t version = chunk->version ? VERSION_BIT : 0;

    switchml_h_set_tsi(frame + SWITCHML_AT, chunk->tsi);
    switchml_h_set_pool_index(frame + SWITCHML_AT, (uint16_t)(chunk->slot | version));
    exponents_h_set_e0(frame + EXPONENTS_AT, (uint8_t)chunk->e0);
    exponents_h_set_e1(frame + EXPONENTS_AT, (uint8_t)chunk->e0);
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* Ethernet and the part of IPv4 that says which protocol follows and how long it is. */
static enum swml_reason check_is_udp(const uint8_t *frame, size_t len) {
    const uint8_t *ipv4 = frame + IPV4_AT;

    if (len < ETHERNET_H_BYTES || ethernet_h_get_ether_type(frame) != ETHERTYPE_IPV4) {
        return SWML_FOREIGN;
    }
    if (len < UDP_AT) {
        return SWML_BAD_LENGTH;
    }
    if (ipv4_h_get_version(ipv4) != 4 || ipv4_h_get_ihl(ipv4) != IPV4_H_BYTES / 4 ||
        ipv4_h_get_frag_offset(ipv4) != 0 || (ipv4_h_get_flags(ipv4) & MORE_FRAGMENTS) ||
        ipv4_h_get_protocol(ipv4) != PROTOCOL_UDP) {
        return SWML_FOREIGN;
    }
    if (len < EXPONENTS_AT + EXPONENTS_H_BYTES) {
        return SWML_BAD_LENGTH;
    }
    return SWML_ACCEPTED;
}

static enum swml_reason check_addresses(const struct swml_flow *flow, const uint8_t *frame) {
    const uint8_t *ipv4 = frame + IPV4_AT, *udp = frame + UDP_AT;

    if (ethernet_h_get_dst_addr(frame) != mac_number(flow->worker.mac) ||
        ipv4_h_get_dst_addr(ipv4) != flow->worker.ip ||
        udp_h_get_dst_port(udp) != flow->worker.port) {
        return SWML_NOT_FOR_US;
    }
    if (ipv4_h_get_src_addr(ipv4) != flow->fabric.ip ||
        udp_h_get_src_port(udp) != flow->fabric.port) {
        return SWML_NOT_FROM_SWITCH;
    }
    return SWML_ACCEPTED;
}

static enum swml_reason check_switchml(const struct swml_flow *flow, const uint8_t *frame) {
    const uint8_t *header = frame + SWITCHML_AT;

    if (switchml_h_get_job_number(header) != flow->job) {
        return SWML_WRONG_JOB;
    }
    if (switchml_h_get_size(header) != swml_size_code(flow->k)) {
        return SWML_WRONG_SIZE;
    }
    return SWML_ACCEPTED;
}

/* With the length known: does every header agree to it, is all of it there. */
static enum swml_reason check_lengths(const struct swml_flow *flow, const uint8_t *frame,
                                      size_t len) {
    if (ipv4_h_get_total_len(frame + IPV4_AT) != IPV4_H_BYTES + udp_bytes(flow) ||
        udp_h_get_length(frame + UDP_AT) != udp_bytes(flow) || len < swml_frame_bytes(flow)) {
        return SWML_BAD_LENGTH;
    }
    return SWML_ACCEPTED;
}

static enum swml_reason check_sums(const uint8_t *frame) {
    const uint8_t *udp = frame + UDP_AT;
    size_t len = udp_h_get_length(udp);
    uint32_t sum = PROTOCOL_UDP + (uint32_t)len;

    if (swml_checksum(frame + IPV4_AT, IPV4_H_BYTES) != 0) {
        return SWML_BAD_CHECKSUM;
    }
    if (udp_h_get_checksum(udp) == 0) {
        return SWML_ACCEPTED;
    }
    sum = add_words(sum, frame + PSEUDO_HEADER_AT, 8);
    return fold(add_words(sum, udp, len)) == 0 ? SWML_ACCEPTED : SWML_BAD_CHECKSUM;
}

static void read_chunk(const uint8_t *frame, struct swml_chunk *chunk) {
    uint16_t index = switchml_h_get_pool_index(frame + SWITCHML_AT);

    chunk->slot = (uint16_t)(index & ~VERSION_BIT);
    chunk->version = (index & VERSION_BIT) != 0;
    chunk->tsi = switchml_h_get_tsi(frame + SWITCHML_AT);
    chunk->e0 = (int8_t)exponents_h_get_e0(frame + EXPONENTS_AT);
}

enum swml_reason swml_frame_check(const struct swml_flow *flow, const uint8_t *frame, size_t len,
                                  struct swml_chunk *chunk) {
    enum swml_reason reason = check_is_udp(frame, len);

    if (reason == SWML_ACCEPTED) {
        reason = check_addresses(flow, frame);
    }
    if (reason == SWML_ACCEPTED) {
        reason = check_switchml(flow, frame);
    }
    if (reason == SWML_ACCEPTED) {
        reason = check_lengths(flow, frame, len);
    }
    if (reason == SWML_ACCEPTED) {
        reason = check_sums(frame);
    }
    if (reason == SWML_ACCEPTED) {
        read_chunk(frame, chunk);
    }
    return reason;
}

/* ---- receiving, with a memory ---------------------------------------------------------------- */

_Static_assert(SWML_KNOWN_BYTES == SWITCHML_AT + 2, "message type, size and job are the last");

void swml_known_init(struct swml_known *known, const struct swml_flow *flow) {
    const struct swml_flow back = {flow->fabric, flow->worker, flow->job, flow->k};
    uint8_t frame[SWML_HEADER_BYTES];

    swml_frame_init(frame, &back);
    memcpy(known->bytes, frame, sizeof known->bytes);
}

/* All of the frame's first bytes at once. */
static bool begins_with(const uint8_t *frame, const struct swml_known *known) {
    uint64_t a[6] = {0}, b[6] = {0}, difference = 0;

    memcpy(a, frame, SWML_KNOWN_BYTES);
    memcpy(b, known->bytes, SWML_KNOWN_BYTES);
    for (int i = 0; i < 6; i++) {
        difference |= a[i] ^ b[i];
    }
    return difference == 0;
}

enum swml_reason swml_frame_check_known(const struct swml_flow *flow, struct swml_known *known,
                                        const uint8_t *frame, size_t len,
                                        struct swml_chunk *chunk) {
    enum swml_reason reason;

    if (len >= swml_frame_bytes(flow) && begins_with(frame, known)) {
        read_chunk(frame, chunk);
        return SWML_ACCEPTED;
    }
    reason = swml_frame_check(flow, frame, len, chunk);
    if (reason == SWML_ACCEPTED && udp_h_get_checksum(frame + UDP_AT) == 0) {
        memcpy(known->bytes, frame, sizeof known->bytes);
    }
    return reason;
}

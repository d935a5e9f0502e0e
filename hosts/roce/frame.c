// SPDX-License-Identifier: Apache-2.0
#include "hosts/roce/frame.h"

#include <string.h>

#include "base/bytes.h"
#include "hosts/core/udp.h"

#define RETH_BYTES 16
#define IMM_BYTES  4
#define MIGRATION  0x40 // what cards send where no path is to be changed
#define PKEY       0xffff

static const char *const names[][2] = {{"accepted", "accepted"},
#define ROCE_REASON_NAME(name, key, text) {key, text},
                                       ROCE_REASONS(ROCE_REASON_NAME)
#undef ROCE_REASON_NAME
};

const char *roce_reason_name(enum roce_reason reason) {
    return names[reason][0];
}

const char *roce_reason_text(enum roce_reason reason) {
    return names[reason][1];
}

// ---- packets -----------------------------------------------------------------------------------

static size_t roce_headers(enum roce_opcode o) {
    return ROCE_BTH_BYTES + (roce_begins(o) ? RETH_BYTES : 0) +
           (roce_has_immediate(o) ? IMM_BYTES : 0);
}

uint8_t *roce_frame_begin(uint8_t *frame, const struct sk_endpoint *from,
                          const struct sk_endpoint *to, const struct roce_packet *p,
                          size_t *length) {
    const size_t body = roce_headers(p->opcode) + p->bytes + ROCE_CRC_BYTES;
    struct sk_endpoint a = *from, b = *to;
    uint8_t *at = frame + ROCE_BTH_AT;

    a.port = b.port = ROCE_UDP_PORT;
    sk_udp_init(frame, &a, &b, body);
    at[0] = (uint8_t)p->opcode;
    at[1] = MIGRATION;
    put16(at + 2, PKEY);
    put32(at + 4, p->qpn & 0xffffff);
    put32(at + 8, p->psn & ROCE_PSN_MASK);
    at += ROCE_BTH_BYTES;
    if (roce_begins(p->opcode)) {
        put32(at, (uint32_t)(p->address >> 32));
        put32(at + 4, (uint32_t)p->address);
        put32(at + 8, p->rkey);
        put32(at + 12, p->length);
        at += RETH_BYTES;
    }
    if (roce_has_immediate(p->opcode)) {
        memcpy(at, p->immediate, IMM_BYTES);
        at += IMM_BYTES;
    }
    *length = SK_UDP_BYTES + body;
    return at;
}

size_t roce_frame_write(uint8_t *frame, const struct sk_endpoint *from,
                        const struct sk_endpoint *to, const struct roce_packet *p) {
    size_t length;
    uint8_t *payload = roce_frame_begin(frame, from, to, p, &length);

    if (p->bytes > 0)
        memcpy(payload, p->payload, p->bytes);
    roce_seal(frame);
    return length;
}

static void take_apart(const uint8_t *frame, size_t body, struct roce_packet *p) {
    const uint8_t *at = frame + ROCE_BTH_AT;

    *p = (struct roce_packet){.opcode = (enum roce_opcode)at[0],
                              .qpn = get32(at + 4) & 0xffffff,
                              .psn = get32(at + 8) & ROCE_PSN_MASK};
    at += ROCE_BTH_BYTES;
    if (roce_begins(p->opcode)) {
        p->address = (uint64_t)get32(at) << 32 | get32(at + 4);
        p->rkey = get32(at + 8);
        p->length = get32(at + 12);
        at += RETH_BYTES;
    }
    if (roce_has_immediate(p->opcode)) {
        memcpy(p->immediate, at, IMM_BYTES);
        at += IMM_BYTES;
    }
    p->payload = at;
    p->bytes = (uint32_t)(body - roce_headers(p->opcode) - ROCE_CRC_BYTES);
}

// Padding is not for us: elements are whole words.
static bool is_write(const uint8_t *bth) {
    return bth[0] >= ROCE_WRITE_FIRST && bth[0] <= ROCE_WRITE_ONLY_IMMEDIATE &&
           (bth[1] & 0x3f) == 0;
}

enum roce_reason roce_frame_read(const uint8_t *frame, size_t len, const struct sk_endpoint *self,
                                 const struct sk_endpoint *peer, struct roce_packet *p) {
    struct sk_endpoint me = *self;

    me.port = ROCE_UDP_PORT;
    if (sk_udp_kind(frame, len, ROCE_BTH_BYTES + ROCE_CRC_BYTES) != SK_UDP_IS ||
        get16(frame + 36) != ROCE_UDP_PORT || !is_write(frame + ROCE_BTH_AT))
        return ROCE_FOREIGN;
    if (!sk_udp_is_to(frame, &me))
        return ROCE_NOT_FOR_US;
    if (get32(frame + ROCE_IPV4_AT + 12) != peer->ip)
        return ROCE_NOT_FROM_PEER;
    const size_t udp = get16(frame + 38);
    const size_t least = 8 + roce_headers((enum roce_opcode)frame[ROCE_BTH_AT]) + ROCE_CRC_BYTES;
    if (udp < least || udp > least + ROCE_MAX_PAYLOAD || !roce_is(frame, len) ||
        !sk_udp_has_lengths(frame, udp - 8))
        return ROCE_BAD_LENGTH;
    if (sk_checksum(frame + ROCE_IPV4_AT, 20) != 0)
        return ROCE_BAD_CHECKSUM;
    if (!roce_crc_is_right(frame))
        return ROCE_BAD_CRC;
    take_apart(frame, udp - 8, p);
    return ROCE_ACCEPTED;
}

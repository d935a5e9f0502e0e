// SPDX-License-Identifier: Apache-2.0
#include "wire/roce.h"

// The register after eight bytes of ones, which stand for a header that InfiniBand has there.
#define AFTER_ONES 0xdebb20e3u

// By place from IPv4 on: what counts as ones.
static const uint8_t changed[SK_CRC32_ONES] = {
    [1] = 0xff, [8] = 0xff, [10] = 0xff, [11] = 0xff, [26] = 0xff, [27] = 0xff, [28 + 4] = 0xff};
#define CHANGED_BYTES (28 + 5) // none of them is later

static uint32_t roce_invariant(const uint8_t *frame, size_t ipv4_bytes) {
    return ~sk_crc32_best()->run(AFTER_ONES, frame + ROCE_IPV4_AT, ipv4_bytes - ROCE_CRC_BYTES,
                                 changed);
}

// On the wire the CRC's lowest byte comes first.
static bool roce_has_crc(const uint8_t *frame, uint32_t crc) {
    return __builtin_bswap32(get32(roce_crc_of(frame))) == crc;
}

bool roce_crc_is_right(const uint8_t *frame) {
    return roce_has_crc(frame, roce_invariant(frame, roce_ipv4_bytes(frame)));
}

unsigned roce_wrong_crcs(const uint8_t *const *frames, unsigned n) {
    const uint8_t *bytes[ROCE_CHECKED];
    size_t lengths[ROCE_CHECKED];
    uint32_t after[ROCE_CHECKED];
    unsigned wrong = 0;
    for (unsigned i = 0; i < n; i++) {
        bytes[i] = frames[i] + ROCE_IPV4_AT;
        lengths[i] = roce_ipv4_bytes(frames[i]) - ROCE_CRC_BYTES;
    }
    sk_crc32_best()->run_each(after, AFTER_ONES, bytes, lengths, n, changed);
    for (unsigned i = 0; i < n; i++)
        wrong |= (unsigned)!roce_has_crc(frames[i], ~after[i]) << i;
    return wrong;
}

void roce_seal(uint8_t *frame) {
    const size_t bytes = roce_ipv4_bytes(frame);
    put32(frame + ROCE_IPV4_AT + bytes - ROCE_CRC_BYTES,
          __builtin_bswap32(roce_invariant(frame, bytes)));
}

// From 'from' on bytes are the same, up to 'at', and those before are in one block.
static bool roce_shares(const uint8_t *ipv4, const uint8_t *at, const uint8_t *from) {
    const ptrdiff_t before = from - ipv4, after = at - from;
    return before >= CHANGED_BYTES && before <= SK_CRC32_ONES && after > 0 &&
           after <= SK_CRC32_TAIL;
}

// What is the same in this copy and the next ones. False: too little.
static bool __attribute__((noinline))
roce_copies_find(struct roce_copies *c, const uint8_t *ipv4, const uint8_t *at) {
    if (!c->end && c->from < ipv4 + CHANGED_BYTES)
        c->from = ipv4 + CHANGED_BYTES;
    if (!roce_shares(ipv4, at, c->from))
        return false;
    sk_crc32_tail_of(&c->tail, AFTER_ONES, (size_t)(c->from - ipv4), changed, c->from,
                     (size_t)(at - c->from));
    c->ipv4 = ipv4;
    c->end = at;
    return true;
}

void roce_seal_copy(uint8_t *frame, struct roce_copies *c) {
    const uint8_t *const ipv4 = frame + ROCE_IPV4_AT;
    uint8_t *const at = roce_crc_of(frame);
    if (__builtin_expect(at != c->end || ipv4 != c->ipv4, 0) && !roce_copies_find(c, ipv4, at)) {
        roce_seal(frame);
        return;
    }
    put32(at, __builtin_bswap32(~sk_crc32_best()->run_before(&c->tail, ipv4)));
}

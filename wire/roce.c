// SPDX-License-Identifier: Apache-2.0
#include "wire/roce.h"

#include "base/bytes.h"
#include "base/crc32.h"

// The register after eight bytes of ones, which stand for a header that InfiniBand has there.
#define AFTER_ONES 0xdebb20e3u

// By place from IPv4 on: what counts as ones.
static const uint8_t changed[SK_CRC32_ONES] = {
    [1] = 0xff, [8] = 0xff, [10] = 0xff, [11] = 0xff, [26] = 0xff, [27] = 0xff, [28 + 4] = 0xff};

static uint32_t roce_invariant(const uint8_t *frame, size_t ipv4_bytes) {
    return ~sk_crc32_best()->run(AFTER_ONES, frame + ROCE_IPV4_AT, ipv4_bytes - ROCE_CRC_BYTES,
                                 changed);
}

static size_t roce_ipv4_bytes(const uint8_t *frame) {
    return get16(frame + ROCE_IPV4_AT + 2);
}

bool roce_is(const uint8_t *frame, size_t len) {
    if (!roce_is_to_port(frame, len))
        return false;
    const size_t bytes = roce_ipv4_bytes(frame);
    return bytes >= 28 + ROCE_BTH_BYTES + ROCE_CRC_BYTES && ROCE_IPV4_AT + bytes <= len;
}

uint8_t *roce_crc_of(const uint8_t *frame) {
    return (uint8_t *)frame + ROCE_IPV4_AT + roce_ipv4_bytes(frame) - ROCE_CRC_BYTES;
}

// On the wire the CRC's lowest byte comes first.
bool roce_crc_is_right(const uint8_t *frame) {
    const size_t bytes = roce_ipv4_bytes(frame);
    const uint8_t *at = frame + ROCE_IPV4_AT + bytes - ROCE_CRC_BYTES;
    return __builtin_bswap32(get32(at)) == roce_invariant(frame, bytes);
}

void roce_seal(uint8_t *frame) {
    const size_t bytes = roce_ipv4_bytes(frame);
    put32(frame + ROCE_IPV4_AT + bytes - ROCE_CRC_BYTES,
          __builtin_bswap32(roce_invariant(frame, bytes)));
}

// SPDX-License-Identifier: Apache-2.0
//
// Values as P4Runtime writes them (P4Runtime specification, section 8): the fewest big-endian bytes
// that say it, of signed ones in two's complement. Any number of bytes is read.
#include "p4rt/p4rt_impl.h"

static bool bytestring_bit(const uint64_t *words, uint32_t bit) {
    return words[bit / 64] >> (bit % 64) & 1;
}

// Do all bits from 'bit' to the end of the words have this value?
static bool bytestring_all(const uint64_t *words, uint32_t n_words, uint32_t bit, bool value) {
    for (; bit < 64 * n_words; bit++)
        if (bytestring_bit(words, bit) != value)
            return false;
    return true;
}

enum rpc_status p4rt_words(const ProtobufCBinaryData *bytes, uint32_t width, bool is_signed,
                           const char *what, uint64_t *words, struct sk_error *err) {
    const uint32_t n = sk_words(width);
    const bool negative = is_signed && bytes->len && bytes->data[0] & 0x80;
    bool fits = bytes->len > 0;
    for (uint32_t i = 0; i < n; i++)
        words[i] = negative ? UINT64_MAX : 0;
    for (size_t i = 0; fits && i < bytes->len; i++) {
        const uint8_t byte = bytes->data[bytes->len - 1 - i];
        if (i >= 8 * (size_t)n) {
            fits = byte == (negative ? 0xff : 0);
            continue;
        }
        words[i / 8] &= ~(UINT64_C(0xff) << 8 * (i % 8));
        words[i / 8] |= (uint64_t)byte << 8 * (i % 8);
    }
    fits = fits && bytestring_all(words, n, is_signed ? width - 1 : width, negative);
    if (!fits)
        return p4rt_fail(err, RPC_OUT_OF_RANGE, "%s has %u bits, and the value is %s", what, width,
                         bytes->len ? "longer" : "empty");
    if (width % 64)
        words[n - 1] &= UINT64_MAX >> (64 - width % 64);
    return RPC_OK;
}

bool p4rt_bytes(struct brt_memory *m, const uint64_t *words, uint32_t width, bool is_signed,
                ProtobufCBinaryData *out) {
    const size_t n = (width + 7) / 8;
    const bool negative = is_signed && bytestring_bit(words, width - 1);
    uint8_t *bytes = brt_take(m, n + 1);
    if (!bytes)
        return false;
    for (size_t i = 0; i < n; i++)
        bytes[n - 1 - i] = (uint8_t)(words[i / 8] >> 8 * (i % 8));
    if (negative && width % 8)
        bytes[0] |= (uint8_t)(0xff << width % 8);
    size_t first = 0;
    while (first + 1 < n && bytes[first] == (negative ? 0xff : 0) &&
           (!is_signed || (bytes[first + 1] >> 7) == negative))
        first++;
    out->data = bytes + first;
    out->len = n - first;
    return true;
}

// SPDX-License-Identifier: Apache-2.0
//
// checksum: the 16-bit one's-complement sum of RFC 1071, as TNA's Checksum extern computes it
// (tna-facts 4.8).
//
// A running sum is kept in 64 bits and folded when it is asked for: adding 64-bit pieces of
// big-endian data with the carry out of them is the same, modulo 2^16 - 1, as adding its 16-bit
// words, and as there the sum is zero only when all of them are.
#ifndef SILKEN_STAGES_CHECKSUM_H
#define SILKEN_STAGES_CHECKSUM_H

#include <stddef.h>

#include "stages/bits.h"

// Adds a value whose last bit is the last bit of a 16-bit word of the summed data.
static inline uint64_t sk_csum_add(uint64_t sum, uint64_t value) {
    sum += value;
    return sum + (sum < value);
}
// The same without carries, as long as few values are added: such sums can be subtracted from each
// other.
static inline uint64_t sk_csum_exact(uint64_t sum, uint64_t value) {
    return sum + (value & 0xffffffff) + (value >> 32);
}
static inline uint16_t sk_csum_fold(uint64_t sum) {
    // the sum of both halves stands in the upper one, with the carry out of the lower one in it
    uint32_t s = (uint32_t)((sum + (sum << 32 | sum >> 32)) >> 32);
    return (uint16_t)((s + (s << 16 | s >> 16)) >> 16);
}
// The exact sum with bytes, the first of which is the high half of a word; an odd one at the end is
// padded with zero.
static inline uint64_t sk_csum_bytes(uint64_t sum, const uint8_t *p, size_t n) {
    for (; n >= 4; p += 4, n -= 4)
        sum += sk_load32(p);
    if (n >= 2) {
        sum += sk_load16(p);
        p += 2;
        n -= 2;
    }
    return n ? sum + ((uint64_t)p[0] << 8) : sum;
}
// The sum of the complements of the words that sk_csum_bytes(0, p, n) adds. It is zero (and not the
// other zero, 0xffff) only when all of them are 0xffff.
static inline uint64_t sk_csum_subtract_bytes(const uint8_t *p, size_t n) {
    const uint64_t most = n / 4 * UINT64_C(0xffffffff) + (n % 4 + 1) / 2 * UINT64_C(0xffff);
    return most - sk_csum_bytes(0, p, n);
}
// True when the words that were added, the checksum among them, do not sum up to "correct". The
// sense is TNA's: Checksum.verify() says whether there is an error (tna-facts 4.8).
static inline bool sk_csum_wrong(uint64_t sum) {
    return sk_csum_fold(sum) != 0xffff;
}
// The checksum to put in a header: the sum's complement.
static inline uint16_t sk_csum_result(uint64_t sum, bool zeros_as_ones) {
    uint16_t c = (uint16_t)~sk_csum_fold(sum);
    return c == 0 && zeros_as_ones ? 0xffff : c;
}

#endif

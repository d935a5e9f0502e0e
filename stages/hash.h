// SPDX-License-Identifier: Apache-2.0
//
// hash: what TNA's Hash extern computes (tna-facts 4.6), over a string of bytes.
//
// The caller serialises the fields: concatenated, first field most significant, padded with zero
// bits at the front to whole bytes. CRCs have the parameters of the RevEng catalogue (coefficients
// without the leading one; 'reflect' = refin = refout; 'init' is the register's preset). The CRC's
// byte table is made once, by sk_crc_table, and is constant data of generated code.
#ifndef SILKEN_STAGES_HASH_H
#define SILKEN_STAGES_HASH_H

#include <stddef.h>

#include "stages/bits.h"

#pragma GCC visibility push(default) // compiled programs call these

#define SK_HASH_MAX_BYTES 256 // of one hash's input

// Table for a CRC of 'width' bits (1 to 64) with polynomial 'coeff'. What is not reflected and
// narrower than a byte is computed in the upper bits of one.
void sk_crc_table(uint64_t table[256], unsigned width, uint64_t coeff, bool reflect);

static inline uint64_t sk_reflect(uint64_t v, unsigned width) {
    uint64_t r = 0;
    for (unsigned i = 0; i < width; i++)
        r |= (v >> i & 1) << (width - 1 - i);
    return r;
}
// 'start' is the preset as the register holds it: sk_crc_start.
static inline uint64_t sk_crc_start(unsigned width, bool reflect, uint64_t init) {
    return reflect ? sk_reflect(init, width) : init & sk_mask(width);
}
SK_INLINE uint64_t sk_crc(const uint64_t table[256], unsigned width, bool reflect, uint64_t start,
                          uint64_t xor_out, const uint8_t *p, size_t n) {
    const unsigned shift = width < 8 && !reflect ? 8 - width : 0;
    uint64_t crc = start << shift;
    width += shift;
    for (size_t i = 0; i < n; i++) {
        if (reflect)
            crc = table[(uint8_t)(crc ^ p[i])] ^ crc >> 8;
        else
            crc = (table[(uint8_t)(crc >> (width - 8) ^ p[i])] ^ crc << 8) & sk_mask(width);
    }
    return (crc >> shift ^ xor_out) & sk_mask(width - shift);
}

// The same, several bytes at once: a table for each place that a byte can have before the end of
// what is taken in together. Table k is of a byte with k zero bytes after it, so the first is
// sk_crc_table's; entries are of 'bytes' bytes each (1, 2, 4, 8), which hold 'width' bits. CRCs of
// less than a byte that are not reflected have no such tables.
#define SK_CRC_SLICES 8
SK_INLINE uint64_t sk_crc_slice(const void *tables, unsigned bytes, unsigned k, uint8_t i) {
    const unsigned at = k * 256 + i;
    return bytes == 1   ? ((const uint8_t *)tables)[at]
           : bytes == 2 ? ((const uint16_t *)tables)[at]
           : bytes == 4 ? ((const uint32_t *)tables)[at]
                        : ((const uint64_t *)tables)[at];
}
// 'm' bytes, SK_CRC_SLICES at most.
SK_INLINE uint64_t sk_crc_step(const void *tables, unsigned bytes, unsigned width, bool reflect,
                               uint64_t crc, const uint8_t *p, unsigned m) {
    uint64_t next = m == 8 ? 0 : reflect ? crc >> 8 * m : crc << 8 * m & sk_mask(width);
#pragma GCC unroll 8
    for (unsigned j = 0; j < m; j++) {
        const uint64_t old = reflect ? crc >> 8 * j : crc << (64 - width) >> (56 - 8 * j);
        next ^= sk_crc_slice(tables, bytes, m - 1 - j, (uint8_t)(old ^ p[j]));
    }
    return next;
}
SK_INLINE uint64_t sk_crc_sliced(const void *tables, unsigned bytes, unsigned width, bool reflect,
                                 uint64_t start, uint64_t xor_out, const uint8_t *p, size_t n) {
    const size_t whole = n / SK_CRC_SLICES * SK_CRC_SLICES;
    uint64_t crc = start;
    for (size_t done = 0; done < whole; done += SK_CRC_SLICES)
        crc = sk_crc_step(tables, bytes, width, reflect, crc, p + done, SK_CRC_SLICES);
    crc = sk_crc_step(tables, bytes, width, reflect, crc, p + whole, (unsigned)(n - whole));
    return (crc ^ xor_out) & sk_mask(width);
}
// A CRC of 'width' bits as a result of 'result' bits: cut, repeated when 'extended', or padded.
static inline sk_u128 sk_crc_widen(uint64_t crc, unsigned width, unsigned result, bool extended) {
    if (result <= width)
        return crc & sk_mask(result);
    sk_u128 v = crc;
    if (extended)
        for (unsigned at = width; at < result && at < 128; at += width)
            v |= (sk_u128)crc << at;
    return result >= 128 ? v : v & sk_mask128(result);
}

// Writes a field of 'width' bits, given as words (table.h), into 'b' with its first bit at bit
// 'offset'. The bits there are zero before.
SK_INLINE void sk_put_words(uint8_t *b, unsigned offset, const uint64_t *words, unsigned width) {
    unsigned end = offset + width;
    for (unsigned done = 0; done < width;) {
        unsigned last = end - done, n = (last - 1) % 8 + 1; // bits of this byte, from its left
        unsigned take = n < width - done ? n : width - done;
        uint64_t v = words[done / 64] >> done % 64;
        if (done % 64 + take > 64)
            v |= words[done / 64 + 1] << (64 - done % 64);
        b[(last - 1) / 8] |= (uint8_t)((v & sk_mask(take)) << (8 - n));
        done += take;
    }
}

// XOR of n-bit words (n = 8, 16, 32) of a message of 'bits' bits, padded with zeros at its end: the
// zeros in front, which fill it up to whole bytes, are none of it.
static inline uint64_t sk_hash_xor(unsigned n, const uint8_t *p, unsigned bits) {
    const unsigned bytes = (bits + 7) / 8, front = 8 * bytes - bits;
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++)
        v ^= (uint64_t)p[i] << (n - 8 - 8 * (i % (n / 8)));
    return (v << front | v >> (n - front)) & sk_mask(n);
}
// The last bits of the data, at most 128.
static inline sk_u128 sk_hash_identity(const uint8_t *p, size_t bytes) {
    sk_u128 v = 0;
    for (size_t i = bytes > 16 ? bytes - 16 : 0; i < bytes; i++)
        v = v << 8 | p[i];
    return v;
}
// RANDOM is "a linear function chosen at compile time". Here: each input bit, counted from the last
// one, contributes a fixed pseudo-random word (splitmix64 of its number), so that the same fields
// hash the same way whatever is before them.
static inline uint64_t sk_hash_random_row(uint64_t bit) {
    uint64_t z = (bit + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
static inline sk_u128 sk_hash_random(const uint8_t *p, size_t bytes) {
    sk_u128 v = 0;
    for (size_t i = 0; i < bytes; i++)
        for (unsigned b = 0; b < 8; b++) {
            uint64_t bit = 8 * (bytes - 1 - i) + b;
            uint64_t set = -(uint64_t)(p[i] >> b & 1);
            v ^= sk_u128_of(sk_hash_random_row(2 * bit + 1) & set,
                            sk_hash_random_row(2 * bit) & set);
        }
    return v;
}

// The Random extern: xorshift64*, one state per instance and pipe, never zero.
static inline uint64_t sk_prng_seed(uint64_t seed, uint64_t instance) {
    uint64_t s = sk_hash_random_row(seed ^ sk_hash_random_row(instance));
    return s ? s : 1;
}
static inline uint64_t sk_prng_next(uint64_t *state) {
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

#pragma GCC visibility pop

#endif

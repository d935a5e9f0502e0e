// SPDX-License-Identifier: Apache-2.0
//
// numbers: a table that is filled with a number for each key, read for many lanes at once.
//
// Where a program computes by tables, the same table stands in every lane. A vector has the keys of
// sixteen lanes, and one instruction loads their numbers; that is no faster than sixteen loads, but
// keeps all that comes before and after in vectors. Many of these tables are not arbitrary, though:
// parts of a number that are looked up apart are multiples. If some of a key's bits, at one of its
// ends, choose among at most SK_LINES lines on which the number goes on evenly with the other bits,
// the lines stay in registers and nothing is loaded.
#ifndef SILKEN_STAGES_NUMBERS_H
#define SILKEN_STAGES_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#define SK_LINES 64u

// number = base[line] + step[line] * along, modulo 2^32, with line = key >> line_shift & line_mask
// and along = key >> along_shift & along_mask.
struct sk_lines {
    uint32_t line_shift, line_mask, along_shift, along_mask;
    _Alignas(64) uint32_t base[SK_LINES], step[SK_LINES];
};
struct sk_numbers {
    const void *values;           // uint16_t if 'narrow', else uint32_t; by key
    const struct sk_lines *lines; // or null
    bool narrow;
};
// Behind the values, since the last one may be loaded with what follows it.
#define SK_NUMBERS_BEHIND 2

// What sk_table_tell_lanes was given: the numbers, if the tables of all lanes have been filled with
// the same ones since the pipe's thread last came to rest; or null.
static inline const struct sk_numbers *sk_numbers_told(const struct sk_numbers *const *common) {
    return __atomic_load_n(common, __ATOMIC_ACQUIRE);
}

#ifdef __AVX512F__
static inline __m512i sk_numbers_of_line(const uint32_t *of, __m512i line) {
    const __m512i low = _mm512_permutex2var_epi32(_mm512_load_si512(of), line,
                                                  _mm512_load_si512(of + 16)),
                  high = _mm512_permutex2var_epi32(_mm512_load_si512(of + 32), line,
                                                   _mm512_load_si512(of + 48));
    return _mm512_mask_mov_epi32(low, _mm512_test_epi32_mask(line, _mm512_set1_epi32(32)), high);
}

static inline __m512i sk_numbers_on_lines(const struct sk_lines *l, __m512i keys) {
    const __m512i line =
        _mm512_and_si512(_mm512_srl_epi32(keys, _mm_cvtsi32_si128((int)l->line_shift)),
                         _mm512_set1_epi32((int)l->line_mask));
    const __m512i along =
        _mm512_and_si512(_mm512_srl_epi32(keys, _mm_cvtsi32_si128((int)l->along_shift)),
                         _mm512_set1_epi32((int)l->along_mask));
    return _mm512_add_epi32(sk_numbers_of_line(l->base, line),
                            _mm512_mullo_epi32(sk_numbers_of_line(l->step, line), along));
}

static inline __m512i sk_numbers_vector(const struct sk_numbers *n, __m512i keys) {
    if (n->lines)
        return sk_numbers_on_lines(n->lines, keys);
    if (n->narrow) // two bytes of each are the next key's
        return _mm512_and_si512(_mm512_set1_epi32(0xffff),
                                _mm512_i32gather_epi32(keys, n->values, 2));
    return _mm512_i32gather_epi32(keys, n->values, 4);
}
#endif

// Puts the keys' numbers in their places. No key is beyond the table.
static inline void sk_numbers_of(const struct sk_numbers *n, uint32_t *keys, unsigned lanes) {
    unsigned i = 0;
#ifdef __AVX512F__
    for (; i + 16 <= lanes; i += 16) // without masks: vectors need not go through memory
        _mm512_storeu_si512(keys + i, sk_numbers_vector(n, _mm512_loadu_si512(keys + i)));
#endif
    for (; i < lanes; i++)
        keys[i] = n->narrow ? ((const uint16_t *)n->values)[keys[i]]
                            : ((const uint32_t *)n->values)[keys[i]];
}

// Fields of 16 bits, in network order, one behind the other.
static inline void sk_lanes_load16(uint32_t *to, const uint8_t *from, unsigned lanes) {
    unsigned i = 0;
#if defined(__AVX512F__) && defined(__AVX2__)
    for (; i + 16 <= lanes; i += 16) {
        const __m256i v = _mm256_loadu_si256((const __m256i *)(from + 2 * i));
        const __m256i host = _mm256_or_si256(_mm256_slli_epi16(v, 8), _mm256_srli_epi16(v, 8));
        _mm512_storeu_si512(to + i, _mm512_cvtepu16_epi32(host));
    }
#endif
    for (; i < lanes; i++)
        to[i] = (uint32_t)from[2 * i] << 8 | from[2 * i + 1];
}

static inline void sk_lanes_store16(uint8_t *to, const uint32_t *from, unsigned lanes) {
    unsigned i = 0;
#if defined(__AVX512F__) && defined(__AVX2__)
    for (; i + 16 <= lanes; i += 16) {
        const __m256i v = _mm512_cvtepi32_epi16(_mm512_loadu_si512(from + i));
        const __m256i wire = _mm256_or_si256(_mm256_slli_epi16(v, 8), _mm256_srli_epi16(v, 8));
        _mm256_storeu_si256((__m256i *)(to + 2 * i), wire);
    }
#endif
    for (; i < lanes; i++) {
        to[2 * i] = (uint8_t)(from[i] >> 8);
        to[2 * i + 1] = (uint8_t)from[i];
    }
}

#endif

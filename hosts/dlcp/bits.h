// SPDX-License-Identifier: Apache-2.0
//
// bits.h: sets of segments, a bit for each; internal to this room.
#ifndef SILKEN_HOSTS_DLCP_BITS_H
#define SILKEN_HOSTS_DLCP_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t dlcp_bits_words(uint32_t n) {
    return ((size_t)n + 63) / 64;
}

static inline bool dlcp_bits_has(const uint64_t *set, uint32_t i) {
    return set[i / 64] >> (i % 64) & 1;
}

static inline void dlcp_bits_add(uint64_t *set, uint32_t i) {
    set[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void dlcp_bits_remove(uint64_t *set, uint32_t i) {
    set[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

// The first member from 'i' on; 'n' if there is none, which is the size of the whole.
static inline uint32_t dlcp_bits_next(const uint64_t *set, uint32_t n, uint32_t i) {
    if (i >= n)
        return n;
    uint64_t word = set[i / 64] & ~UINT64_C(0) << (i % 64);
    for (size_t w = i / 64;; word = set[w]) {
        if (word)
            return (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(word);
        if (++w == dlcp_bits_words(n))
            return n;
    }
}

// The first from 'i' on that is not a member; 'n' if there is none.
static inline uint32_t dlcp_bits_next_absent(const uint64_t *set, uint32_t n, uint32_t i) {
    while (i < n) {
        const uint64_t absent = ~set[i / 64] & ~UINT64_C(0) << (i % 64);
        if (absent) {
            i = i / 64 * 64 + (uint32_t)__builtin_ctzll(absent);
            return i < n ? i : n;
        }
        i = i / 64 * 64 + 64;
    }
    return n;
}

// The member that has 'rank' others before it; 'n' if there are not so many.
static inline uint32_t dlcp_bits_ranked(const uint64_t *set, uint32_t n, uint32_t rank) {
    for (size_t w = 0; w < dlcp_bits_words(n); w++) {
        uint32_t in_word = (uint32_t)__builtin_popcountll(set[w]);
        if (rank < in_word) {
            uint64_t word = set[w];
            for (; rank > 0; rank--)
                word &= word - 1;
            return (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(word);
        }
        rank -= in_word;
    }
    return n;
}

#endif

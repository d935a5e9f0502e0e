// SPDX-License-Identifier: Apache-2.0
//
// parse: what a compiled parser shares with others: its bounds check.
//
// On a Tofino the four bytes of the frame check sequence are after the packet, and a parser can
// read them before PARTIAL_HDR is raised (tna-facts 3.3). Here they are not in the buffer. A parser
// that comes up to four bytes short therefore goes on, once, in a copy of the packet's last bytes
// with the frame check sequence after them.
//
// SK_NEED works on the generated function's variables: p (cursor), end, walk (a struct sk_parse),
// err. What it does where bytes are missing is in a function: a parser may have thousands of these
// checks.
#ifndef SILKEN_STAGES_PARSE_H
#define SILKEN_STAGES_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "stages/bits.h"

#pragma GCC visibility push(default) // compiled programs call these

#define SK_FCS_BYTES 4u

// Of a packet that is parsed: what is not asked for as long as the bytes suffice.
struct sk_parse {
    const uint8_t *frame; // the packet
    const uint8_t *base;  // start of the bytes that the cursor walks in
    size_t before;        // bytes consumed before 'base'
    uint8_t *tail;        // room for a copy of tail_bytes
    size_t tail_bytes;
    bool tailed; // the cursor walks in the copy
};
// Moves cursor and end to a copy of p .. end and the frame check sequence, if there are 'bytes'
// then; returns the cursor. Null: the packet is too short.
uint8_t *sk_parse_tail(struct sk_parse *at, const uint8_t *p, const uint8_t **end, size_t bytes);
// Bytes that were consumed up to the cursor.
SK_INLINE size_t sk_parse_consumed(const struct sk_parse *at, const uint8_t *p) {
    return at->before + (size_t)(p - at->base);
}

// The checked build reports here (compiler/print/emit.c defines it).
#ifndef SK_ON_SHORT
#define SK_ON_SHORT(bytes) ((void)0)
#endif

#define SK_NEED(bytes)                                                                             \
    do {                                                                                           \
        if (__builtin_expect((size_t)(end - p) < (size_t)(bytes), 0)) {                            \
            SK_ON_SHORT(bytes);                                                                    \
            const uint8_t *end_ = end;                                                             \
            uint8_t *const p_ = sk_parse_tail(&walk, p, &end_, (bytes));                           \
            if (!p_) {                                                                             \
                err |= SK_PARSER_PARTIAL_HDR;                                                      \
                goto done;                                                                         \
            }                                                                                      \
            p = p_;                                                                                \
            end = end_;                                                                            \
        }                                                                                          \
    } while (0)

// Puts the n bytes in front of 'from_end' in front of 'to_end', in steps of SK_COPY_SLACK bytes: as
// many before both stretches may be read and written besides. They overlap only where what is
// written lies after what is read.
#define SK_COPY_SLACK 32u
SK_INLINE void sk_copy_back(uint8_t *to_end, const uint8_t *from_end, size_t n) {
    for (size_t done = 0; done < n; done += SK_COPY_SLACK) {
        sk_u128 low, high; // read as a whole before any of it is written
        memcpy(&low, from_end - done - SK_COPY_SLACK, sizeof low);
        memcpy(&high, from_end - done - SK_COPY_SLACK / 2, sizeof high);
        memcpy(to_end - done - SK_COPY_SLACK, &low, sizeof low);
        memcpy(to_end - done - SK_COPY_SLACK / 2, &high, sizeof high);
    }
}
// n bytes, a constant, of one store: up to 8 with one load, which C compilers do not make one of
// with that of what is beside them.
SK_INLINE void sk_copy_piece(uint8_t *to, const uint8_t *from, unsigned n) {
    if (n > 8) {
        memcpy(to, from, n);
        return;
    }
    uint64_t piece = sk_load_bytes(from, n);
    __asm__("" : "+r"(piece));
    sk_store_bytes(to, n, piece);
}
// The n bytes at 'from', to a place before them that may overlap; nothing besides.
SK_INLINE void sk_copy_front(uint8_t *to, const uint8_t *from, size_t n) {
    size_t done = 0;
    sk_u128 all;
    for (; done + sizeof all <= n; done += sizeof all) {
        memcpy(&all, from + done, sizeof all);
        memcpy(to + done, &all, sizeof all);
    }
    for (; done + 4 <= n; done += 4) {
        uint32_t part;
        memcpy(&part, from + done, sizeof part);
        memcpy(to + done, &part, sizeof part);
    }
    for (; done < n; done++)
        to[done] = from[done];
}
// The last of the bytes that are left to copy, when there are so many; read as a whole before any
// of it is written.
#define SK_COPY_LAST(type)                                                                         \
    if (n >= sizeof(type)) {                                                                       \
        type last;                                                                                 \
        n -= sizeof last;                                                                          \
        memcpy(&last, from + n, sizeof last);                                                      \
        memcpy(to + n, &last, sizeof last);                                                        \
    }
typedef uint64_t sk_u256 __attribute__((vector_size(32)));
// sk_copy_back of a constant n of 127 at most, and nothing besides.
SK_INLINE void sk_copy_known(uint8_t *to, const uint8_t *from, size_t n) {
    SK_COPY_LAST(sk_u256)
    SK_COPY_LAST(sk_u256)
    SK_COPY_LAST(sk_u256)
    SK_COPY_LAST(sk_u128)
    SK_COPY_LAST(uint64_t)
    SK_COPY_LAST(uint32_t)
    SK_COPY_LAST(uint16_t)
    SK_COPY_LAST(uint8_t)
}
#undef SK_COPY_LAST
// sk_copy_back; the two may overlap.
SK_INLINE void sk_move_back(uint8_t *to_end, const uint8_t *from_end, size_t n) {
    // what is written has been read; a difference, which is known of two places in one packet
    if ((intptr_t)((uintptr_t)to_end - (uintptr_t)from_end) > 0) {
        if (__builtin_constant_p(n) && n < 128)
            sk_copy_known(to_end - n, from_end - n, n);
        else
            sk_copy_back(to_end, from_end, n);
    } else
        sk_copy_front(to_end - n, from_end - n, n);
}

#pragma GCC visibility pop

#endif

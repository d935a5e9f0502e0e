// SPDX-License-Identifier: Apache-2.0
//
// parse: what a compiled parser shares with others: its bounds check.
//
// On a Tofino the four bytes of the frame check sequence are behind the packet, and a parser can
// read them before PARTIAL_HDR is raised (tna-facts 3.3). Here they are not in the buffer. A parser
// that comes up to four bytes short therefore goes on, once, in a copy of the packet's last bytes
// with the frame check sequence behind them.
//
// SK_NEED works on the generated function's variables: p (cursor), end, base (start of the bytes
// that p walks in), before (bytes consumed before base), tail (room for the copy), tailed, err.
#ifndef SILKEN_STAGES_PARSE_H
#define SILKEN_STAGES_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SK_FCS_BYTES 4u

// Copies p .. end and the frame check sequence of frame .. end to 'tail'.
void sk_parse_tail(uint8_t *tail, const uint8_t *frame, const uint8_t *p, const uint8_t *end);

// The checked build reports here (compiler/emit.c defines it).
#ifndef SK_ON_SHORT
#define SK_ON_SHORT(bytes) ((void)0)
#endif

#define SK_NEED(bytes)                                                                             \
    do {                                                                                           \
        if (__builtin_expect((size_t)(end - p) < (size_t)(bytes), 0)) {                            \
            size_t left_ = (size_t)(end - p);                                                      \
            SK_ON_SHORT(bytes);                                                                    \
            if (tailed || left_ + SK_FCS_BYTES < (size_t)(bytes) ||                                \
                left_ + SK_FCS_BYTES > sizeof tail) {                                              \
                err |= SK_PARSER_PARTIAL_HDR;                                                      \
                goto done;                                                                         \
            }                                                                                      \
            sk_parse_tail(tail, frame, p, end);                                                    \
            before += (size_t)(p - base);                                                          \
            base = p = tail;                                                                       \
            end = tail + left_ + SK_FCS_BYTES;                                                     \
            tailed = true;                                                                         \
        }                                                                                          \
    } while (0)

#endif

// SPDX-License-Identifier: Apache-2.0
//
// prefix: the bytes that a parser sees before a packet: intrinsic metadata, and after it in
// ingress what is said of the port or was said by a resubmit (tna-facts 2.1, 2.5, 3.1).
//
// Whoever puts a packet in front of ingress or egress writes them with a function of this file, so
// that all who do agree: the engine for packets that come in, are resubmitted, recirculate, wait or
// are lent for a copy, and a program that goes on by itself (hop.h). A new field has its place here
// and nowhere else; the sums below fail if one is added without the rest.
//
// A packet begins at 'frame'; before it are SK_HEADROOM bytes. Times are of SK_TSTAMP_MASK,
// unless said.
//
// Thread-safety: a packet's.
#ifndef SILKEN_PIPELINE_PREFIX_H
#define SILKEN_PIPELINE_PREFIX_H

#include <endian.h>
#include <string.h>

#include "pipeline/abi.h"
#include "stages/parse.h"

// ---- ingress ----

// A word: resubmitted (1 bit), 6 bits, the port (9), the time of arrival (48); and data: a port's
// metadata, or, of a packet that was resubmitted, what the program said then. Of a Tofino 2 more
// data, and zeros after them.
#define SK_INGRESS_DATA_AT 8u
#define SK_INGRESS_TIME_AT                                                                         \
    2u // bytes of the prefix that change from packet to packet of a flow: from here
#define SK_INGRESS_TIME_END 8u
_Static_assert(SK_INGRESS_PREFIX == SK_INGRESS_DATA_AT + 8 &&
                   SK_INGRESS_PREFIX_2 >= SK_INGRESS_DATA_AT + SK_RESUBMIT_BYTES,
               "the fields of ingress' prefix");
_Static_assert(SK_HEADROOM >= SK_INGRESS_PREFIX_2 && SK_HEADROOM >= SK_EGRESS_PREFIX_2,
               "the prefix has room before a packet");

static inline uint64_t sk_ingress_word(bool resubmitted, uint16_t port, uint64_t stamp) {
    return htobe64((uint64_t)resubmitted << 63 | (uint64_t)port << 48 | stamp);
}

// 'data': 8 bytes.
static inline void sk_ingress_prefix(uint8_t *frame, bool resubmitted, uint16_t port,
                                     uint64_t stamp, const void *data) {
    uint8_t *const at = frame - SK_INGRESS_PREFIX;
    const uint64_t first = sk_ingress_word(resubmitted, port, stamp);
    memcpy(at, &first, sizeof first);
    memcpy(at + SK_INGRESS_DATA_AT, data, SK_INGRESS_PREFIX - SK_INGRESS_DATA_AT);
}

// 'data': SK_RESUBMIT_BYTES.
static inline void sk_ingress_prefix_2(uint8_t *frame, bool resubmitted, uint16_t port,
                                       uint64_t stamp, const void *data) {
    uint8_t *const at = frame - SK_INGRESS_PREFIX_2;
    const uint64_t first = sk_ingress_word(resubmitted, port, stamp);
    memcpy(at, &first, sizeof first);
    memset(at + SK_INGRESS_DATA_AT, 0, SK_INGRESS_PREFIX_2 - SK_INGRESS_DATA_AT);
    memcpy(at + SK_INGRESS_DATA_AT, data, SK_RESUBMIT_BYTES);
}

// ---- egress ----

// Three words, most significant byte first, a byte and the length:
//   place   port (16 bits), 5 bits, depth of the queue when the packet came there (19), 6 bits,
//           congestion (2 of 8), the upper 16 of the 32 bits in which its time is
//   times   their lower 16, 5 bits, depth when it left (19), congestion (8), congestion of the
//           application pools (8), upper bits of the time that it waited (8): always 0
//   copy    the time that it waited (24), the copy's rid (16), whether it is the rid's first (8),
//           queue (8), class (8)
// and whether it was deflected. Times are of 18 bits here.
#define SK_EGRESS_DEFLECTED_AT 24u
#define SK_EGRESS_LENGTH_AT    25u
#define SK_EGRESS_TIME_AT      6u // of place and times
#define SK_EGRESS_TIME_END     10u
#define SK_EGRESS_TIME_MASK    0x3ffffu
#define SK_EGRESS_DEPTH_MASK   0x7ffffu
_Static_assert(SK_EGRESS_DEFLECTED_AT == 3 * sizeof(uint64_t) &&
                   SK_EGRESS_LENGTH_AT == SK_EGRESS_DEFLECTED_AT + 1 &&
                   SK_EGRESS_PREFIX == SK_EGRESS_LENGTH_AT + sizeof(uint16_t) &&
                   SK_EGRESS_PREFIX_2 == SK_EGRESS_PREFIX + 1,
               "the fields of egress' prefix");

static inline uint64_t sk_egress_place(uint16_t port, uint32_t depth, uint8_t congestion,
                                       uint64_t enqueued) {
    return htobe64((uint64_t)port << 48 | (uint64_t)(depth & SK_EGRESS_DEPTH_MASK) << 24 |
                   (uint64_t)congestion << 16 | (enqueued & SK_EGRESS_TIME_MASK) >> 16);
}

static inline uint64_t sk_egress_times(uint64_t enqueued, uint32_t depth, uint8_t congestion,
                                       uint8_t pools) {
    return htobe64(enqueued << 48 | (uint64_t)(depth & SK_EGRESS_DEPTH_MASK) << 24 |
                   (uint64_t)congestion << 16 | (uint64_t)pools << 8);
}

// Of the word below: queue and class, of a Tofino.
static inline uint64_t sk_egress_queue(uint8_t qid, uint8_t cos) {
    return (qid & 0x1fu) << 8 | (cos & 7u);
}

static inline uint64_t sk_egress_copy(uint64_t waited, uint16_t rid, bool rid_first,
                                      uint64_t queue) {
    return htobe64((waited & SK_EGRESS_TIME_MASK) << 40 | (uint64_t)rid << 24 |
                   (uint64_t)rid_first << 16 | queue);
}

static inline uint16_t sk_egress_length(uint32_t bytes) {
    return htobe16((uint16_t)(bytes + SK_FCS_BYTES));
}

static inline void sk_egress_prefix(uint8_t *frame, uint64_t place, uint64_t times, uint64_t copy,
                                    bool deflected, uint16_t length) {
    uint8_t *const at = frame - SK_EGRESS_PREFIX;
    memcpy(at, &place, 8);
    memcpy(at + 8, &times, 8);
    memcpy(at + 16, &copy, 8);
    at[SK_EGRESS_DEFLECTED_AT] = deflected;
    memcpy(at + SK_EGRESS_LENGTH_AT, &length, sizeof length);
}

// Makes a Tofino 2's of what sk_egress_prefix() has written, of a packet that waited so long since
// 'enqueued' in the queue: the same fields with times of 32 bits and queues of 7, and a byte behind
// them.
static inline void sk_egress_prefix_2(uint8_t *frame, uint64_t enqueued, uint64_t waited,
                                      uint8_t qid) {
    uint8_t *const at = frame - SK_EGRESS_PREFIX_2;
    const uint32_t from = htobe32((uint32_t)enqueued), time = htobe32((uint32_t)waited);
    memmove(at, at + 1, SK_EGRESS_PREFIX);
    memcpy(at + SK_EGRESS_TIME_AT, &from, sizeof from);
    memcpy(at + 15, &time, sizeof time);
    at[22] = qid & 0x7f;
    at[SK_EGRESS_PREFIX_2 - 1] = 0;
}

#endif

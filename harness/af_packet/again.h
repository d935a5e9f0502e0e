// SPDX-License-Identifier: Apache-2.0
//
// again: what af_packet_join() promises: the frame that it makes of packets gives, cut, the same
// packets. Shared by test_segment.c and fuzz_segment.c.
#ifndef SILKEN_HARNESS_AF_PACKET_AGAIN_H
#define SILKEN_HARNESS_AF_PACKET_AGAIN_H

#include <stdlib.h>
#include <string.h>

#include "af_packet/segment.h"

// The frame that 'j' and the payloads of the packets are. malloc'ed to its length.
static inline uint8_t *again_joined(const struct af_packet_joined *j,
                                    const struct af_packet_frame *packets, unsigned n,
                                    uint32_t *length) {
    *length = j->headers;
    for (unsigned i = 0; i < n; i++)
        *length += packets[i].length - j->headers;
    uint8_t *frame = malloc(*length), *at = frame + j->headers;
    if (!frame)
        abort();
    memcpy(frame, j->header, j->headers);
    for (unsigned i = 0; i < n; i++) {
        const uint32_t bytes = packets[i].length - j->headers;
        memcpy(at, packets[i].data + j->headers, bytes);
        at += bytes;
    }
    return frame;
}

// Whether it is cut into these packets, and its payload is theirs.
static inline bool again_same(const struct af_packet_joined *j,
                              const struct af_packet_frame *packets, unsigned n) {
    uint32_t length;
    uint8_t *frame = again_joined(j, packets, n, &length);
    struct af_packet_segment s;
    bool good = length == j->headers + j->bytes &&
                (!j->payload || memcmp(frame + j->headers, j->payload, j->bytes) == 0) &&
                af_packet_segment_open(&s, frame, length, &j->v) && s.pieces == n;
    for (unsigned i = 0; good && i < n; i++) {
        const uint32_t bytes = af_packet_segment_length(&s, i);
        uint8_t *piece = malloc(bytes);
        if (!piece)
            abort();
        af_packet_segment_piece(&s, i, piece, bytes);
        good = bytes == packets[i].length && memcmp(piece, packets[i].data, bytes) == 0;
        free(piece);
    }
    free(frame);
    return good;
}

#endif

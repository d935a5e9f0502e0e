// SPDX-License-Identifier: Apache-2.0
//
// again: what af_packet_join() promises: the frame that it makes of packets gives, cut, the same
// packets. Shared by test_segment.c and fuzz_segment.c.
#ifndef SILKEN_HARNESS_AF_PACKET_AGAIN_H
#define SILKEN_HARNESS_AF_PACKET_AGAIN_H

#include <stdlib.h>
#include <string.h>

#include "af_packet/segment.h"
#include "base/bytes.h"

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

// Whether the packet is 'piece', which has a right checksum where a datagram's own is 0.
static inline bool again_equal(const struct af_packet_segment *s, const struct af_packet_frame *f,
                               const uint8_t *piece, uint32_t bytes) {
    const uint32_t sum = s->transport + 6, addresses = s->network + (s->v6 ? 8 : 12);
    if (bytes != f->length || s->tcp || f->data[sum] || f->data[sum + 1])
        return bytes == f->length && memcmp(piece, f->data, bytes) == 0;
    uint32_t start = bytes - s->transport + 17;
    for (uint32_t k = 0; k < (s->v6 ? 32u : 8u); k += 2)
        start += get16(piece + addresses + k);
    return internet_checksum(start, piece + s->transport, bytes - s->transport) == 0 &&
           get16(piece + sum) != 0 && memcmp(piece, f->data, sum) == 0 &&
           memcmp(piece + sum + 2, f->data + sum + 2, bytes - sum - 2) == 0;
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
        good = again_equal(&s, &packets[i], piece, bytes);
        free(piece);
    }
    free(frame);
    return good;
}

// Who gets this datagram has just sent several as one. Does nothing if the packet is not one.
static inline void again_takes(struct af_packet_takers *takers, const struct af_packet_frame *f) {
    const struct virtio_net_hdr v = {.gso_type = VIRTIO_NET_HDR_GSO_UDP_L4, .gso_size = 0xffff};
    struct af_packet_segment s;
    uint8_t swapped[16], *copy = malloc(f->length ? f->length : 1);
    if (!copy)
        abort();
    memcpy(copy, f->data, f->length);
    if (af_packet_segment_open(&s, copy, f->length, &v)) {
        uint8_t *addresses = copy + s.network + (s.v6 ? 8 : 12);
        const uint32_t n = s.v6 ? 16 : 4;
        memcpy(swapped, addresses, n);
        memcpy(addresses, addresses + n, n);
        memcpy(addresses + n, swapped, n);
        memcpy(swapped, copy + s.transport, 2);
        memcpy(copy + s.transport, copy + s.transport + 2, 2);
        memcpy(copy + s.transport + 2, swapped, 2);
        af_packet_taker(takers, &s);
    }
    free(copy);
}

#endif

// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: frames that a host leaves to its card to cut, and packets that may be joined
// (af_packet/segment.c). The first byte says which. A segment: struct virtio_net_hdr and a frame.
// Packets: a length of two bytes before each; by the first byte their checksums are made right,
// since nobody guesses these, and their receivers take several datagrams as one. What is joined
// must be cut into the same packets.
#include "harness/af_packet/again.h"

#define PACKETS 40u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void cut(const uint8_t *data, size_t size) {
    struct virtio_net_hdr v;
    struct af_packet_segment s;
    if (size < sizeof v)
        return;
    memcpy(&v, data, sizeof v);
    const uint32_t length = (uint32_t)(size - sizeof v);
    uint8_t *frame = malloc(length ? length : 1);
    if (!frame)
        abort();
    memcpy(frame, data + sizeof v, length);
    if (af_packet_segment_open(&s, frame, length, &v))
        for (unsigned i = 0; i < s.pieces; i++) {
            const uint32_t bytes = af_packet_segment_length(&s, i),
                           room = i % 3 ? bytes : bytes / 2;
            uint8_t *piece = malloc(room ? room : 1);
            if (!piece)
                abort();
            af_packet_segment_piece(&s, i, piece, room);
            free(piece);
        }
    struct af_packet_joined j;
    struct af_packet_whole w;
    if (af_packet_segment_open(&s, frame, length, &v) && af_packet_segment_whole(&s, &j)) {
        af_packet_segment_show(&s, &w);
        if (w.packets != s.pieces || j.headers + j.bytes != length)
            abort();
    }
    free(frame);
}

// The packet as a segment of one packet: its lengths and sums become right.
static void make_right(struct af_packet_frame *f) {
    struct af_packet_segment s;
    uint8_t copy[4096];
    for (uint8_t type = 1; type <= VIRTIO_NET_HDR_GSO_UDP_L4; type++) {
        const struct virtio_net_hdr v = {.gso_type = type, .gso_size = 0xffff};
        if (!af_packet_segment_open(&s, f->data, f->length, &v))
            continue;
        af_packet_segment_piece(&s, 0, copy, sizeof copy);
        memcpy(f->data, copy, f->length);
        return;
    }
}

static void join(const uint8_t *data, size_t size, bool right, bool taken) {
    static uint8_t payload[AF_PACKET_SEGMENT_BYTES];
    struct af_packet_takers takers = {.now = 1};
    struct af_packet_frame frames[PACKETS];
    unsigned n = 0;
    while (n < PACKETS && size >= 2) {
        uint32_t length = ((uint32_t)data[0] << 8 | data[1]) % 2048;
        data += 2;
        size -= 2;
        length = length < size ? length : (uint32_t)size;
        frames[n].data = malloc(length ? length : 1);
        if (!frames[n].data)
            abort();
        memcpy(frames[n].data, data, length);
        frames[n].length = length;
        if (right)
            make_right(&frames[n]);
        if (taken)
            again_takes(&takers, &frames[n]);
        data += length;
        size -= length;
        n++;
    }
    for (unsigned at = 0; at < n;) {
        struct af_packet_joined j = {.payload = at % 2 ? NULL : payload};
        const unsigned k = af_packet_join(&j, frames + at, n - at, &takers);
        if (k < 1 || k > n - at || (k > 1 && !again_same(&j, frames + at, k)))
            abort();
        at += k;
    }
    for (unsigned i = 0; i < n; i++)
        free(frames[i].data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1)
        return 0;
    if (data[0] & 1)
        cut(data + 1, size - 1);
    else
        join(data + 1, size - 1, data[0] & 2, data[0] & 4);
    return 0;
}

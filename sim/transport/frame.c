// SPDX-License-Identifier: Apache-2.0
#include "sim/transport/frame.h"

#include <string.h>

#include "hosts/core/udp.h"

#define TCP       6u
#define ECE       0x40u
#define ACK       0x10u
#define TIME_UNIT 6u // bits of nanoseconds that are not on the wire

static void tr_put(uint8_t *at, uint64_t v, int bytes) {
    while (bytes-- > 0) {
        at[bytes] = (uint8_t)v;
        v >>= 8;
    }
}

static uint32_t tr_get(const uint8_t *at, int bytes) {
    uint32_t v = 0;
    for (int i = 0; i < bytes; i++)
        v = v << 8 | at[i];
    return v;
}

size_t tr_frame_write(uint8_t *buf, size_t room, const struct tr_end *from, const struct tr_end *to,
                      const struct tr_frame *f) {
    const size_t length = TR_HEADER_BYTES + (f->ack ? 0 : f->length);
    if (length > room)
        return 0;
    memcpy(buf, to->mac, 6);
    memcpy(buf + 6, from->mac, 6);
    memset(buf + 12, 0, length - 12);
    tr_put(buf + 12, 0x0800, 2);
    buf[14] = 0x45;
    buf[15] = f->tos;
    tr_put(buf + 16, length - 14, 2);
    tr_put(buf + 22, 64 << 8 | TCP, 2);
    tr_put(buf + 26, from->ip, 4);
    tr_put(buf + 30, to->ip, 4);
    tr_put(buf + 24, sk_checksum(buf + 14, 20), 2);
    tr_put(buf + 34, f->ack ? f->flow & 0xffff : f->flow >> 16, 2);
    tr_put(buf + 36, f->ack ? f->flow >> 16 : f->flow & 0xffff, 2);
    tr_put(buf + (f->ack ? 42 : 38), f->sequence, 4);
    buf[46] = 8 << 4;
    buf[47] = (uint8_t)((f->ack ? ACK : 0) | (f->ack && f->marked ? ECE : 0));
    tr_put(buf + 54, 0x0101080a, 4); // two of no operation, timestamps
    tr_put(buf + (f->ack ? 62 : 58), f->time >> TIME_UNIT, 4);
    return length;
}

bool tr_frame_read(const uint8_t *frame, size_t length, uint64_t now, struct tr_frame *out) {
    if (length < TR_HEADER_BYTES || tr_get(frame + 12, 2) != 0x0800 || frame[14] != 0x45 ||
        frame[23] != TCP || frame[46] != 8 << 4 || tr_get(frame + 54, 4) != 0x0101080a ||
        tr_get(frame + 16, 2) != length - 14)
        return false;
    const bool ack = frame[47] & ACK;
    if (ack != (length == TR_HEADER_BYTES))
        return false;
    const uint32_t low = tr_get(frame + (ack ? 62 : 58), 4);
    *out = (struct tr_frame){
        .flow = ack ? tr_get(frame + 36, 2) << 16 | tr_get(frame + 34, 2)
                    : tr_get(frame + 34, 2) << 16 | tr_get(frame + 36, 2),
        .ack = ack,
        .sequence = tr_get(frame + (ack ? 42 : 38), 4),
        .length = (uint32_t)(length - TR_HEADER_BYTES),
        .marked = ack ? frame[47] & ECE : (frame[15] & 3) == 3,
        .time = tr_complete(now >> TIME_UNIT, low) << TIME_UNIT,
        .tos = frame[15],
    };
    return true;
}

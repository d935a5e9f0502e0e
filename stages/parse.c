// SPDX-License-Identifier: Apache-2.0
//
// parse: the rare path of a bounds check. See parse.h.
#include "stages/parse.h"

#include <string.h>

// Ethernet's CRC-32, four bits at a time: short, and needed for malformed packets only.
static uint32_t frame_check(const uint8_t *p, const uint8_t *end) {
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    uint32_t crc = 0xffffffff;
    for (; p < end; p++) {
        crc = table[(crc ^ *p) & 15] ^ crc >> 4;
        crc = table[(crc ^ (uint32_t)*p >> 4) & 15] ^ crc >> 4;
    }
    return ~crc;
}

uint8_t *sk_parse_tail(struct sk_parse *at, const uint8_t *p, const uint8_t **end, size_t bytes) {
    const size_t left = (size_t)(*end - p);
    if (at->tailed || left + SK_FCS_BYTES < bytes || left + SK_FCS_BYTES > at->tail_bytes)
        return NULL;
    const uint32_t fcs = frame_check(at->frame, *end);
    memcpy(at->tail, p, left);
    for (unsigned i = 0; i < SK_FCS_BYTES; i++) // least significant byte first on the wire
        at->tail[left + i] = (uint8_t)(fcs >> 8 * i);
    at->before += (size_t)(p - at->base);
    at->base = at->tail;
    at->tailed = true;
    *end = at->tail + left + SK_FCS_BYTES;
    return at->tail;
}

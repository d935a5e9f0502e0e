// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "af_packet/af_packet_impl.h"

#define SCTP_OFFSET 8u // of its CRC32c; that of TCP is at 16, of UDP at 6, of GRE at 4

// RFC 1071: the order of the bytes does not matter, so words are added as the machine reads them.
void af_packet_checksum(uint8_t *frame, uint32_t length, uint32_t start, uint32_t offset) {
    uint64_t sum = 0;
    if (start >= length || offset == SCTP_OFFSET || length - start < 2 ||
        offset > length - start - 2)
        return;
    const uint8_t *at = frame + start;
    uint32_t left = length - start;
    for (; left >= 4; at += 4, left -= 4) {
        uint32_t word;
        memcpy(&word, at, sizeof word);
        sum += word;
    }
    uint32_t last = 0;
    memcpy(&last, at, left);
    sum += last;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    const uint16_t field = sum == 0xffff ? 0xffff : (uint16_t)~sum; // 0 says: no checksum
    memcpy(frame + start + offset, &field, sizeof field);
}

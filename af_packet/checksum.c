// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "af_packet/af_packet_impl.h"

#define SCTP_OFFSET 8u // of its CRC32c; that of TCP is at 16, of UDP at 6, of GRE at 4

void af_packet_checksum(uint8_t *frame, uint32_t length, uint32_t start, uint32_t offset) {
    if (start >= length || offset == SCTP_OFFSET || length - start < 2 ||
        offset > length - start - 2)
        return;
    uint64_t sum = af_packet_sum(frame + start, length - start);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    const uint16_t field = sum == 0xffff ? 0xffff : (uint16_t)~sum; // 0 says: no checksum
    memcpy(frame + start + offset, &field, sizeof field);
}

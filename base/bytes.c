// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

uint16_t internet_checksum(uint32_t start, const uint8_t *bytes, size_t length) {
    uint64_t sum = start;
    for (size_t i = 0; i + 1 < length; i += 2)
        sum += get16(bytes + i);
    if (length % 2)
        sum += (uint32_t)(bytes[length - 1] << 8);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

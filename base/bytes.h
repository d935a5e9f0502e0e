// SPDX-License-Identifier: Apache-2.0
//
// bytes: numbers in network order in packets, at any alignment, and the Internet checksum. Who
// calls knows that the bytes are there.
#ifndef SILKEN_BASE_BYTES_H
#define SILKEN_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>

static inline uint16_t get16(const uint8_t *b) {
    return (uint16_t)(b[0] << 8 | b[1]);
}
static inline uint32_t get32(const uint8_t *b) {
    return (uint32_t)get16(b) << 16 | get16(b + 2);
}
static inline void put16(uint8_t *b, uint16_t value) {
    b[0] = (uint8_t)(value >> 8);
    b[1] = (uint8_t)value;
}
static inline void put32(uint8_t *b, uint32_t value) {
    put16(b, (uint16_t)(value >> 16));
    put16(b + 2, (uint16_t)value);
}

// RFC 1071, in host order. 'start' is what else is summed up: 16-bit numbers in host order, as of a
// pseudo header. Over bytes with a right checksum among them it is 0.
uint16_t internet_checksum(uint32_t start, const uint8_t *bytes, size_t length);

#endif

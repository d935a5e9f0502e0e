// SPDX-License-Identifier: Apache-2.0
//
// bytes: numbers in network order in frames, at any alignment. Who calls knows that the bytes are there.
#ifndef SILKEN_CONTROL_TOR_BYTES_H
#define SILKEN_CONTROL_TOR_BYTES_H

#include <stdint.h>

#define ETH_BYTES 14u // of an Ethernet header without a tag

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

#endif

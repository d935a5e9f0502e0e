// SPDX-License-Identifier: Apache-2.0
//
// float_bits.h: floats as 32-bit numbers, in which form tests keep elements of either type.
#ifndef SILKEN_HARNESS_HOSTS_FLOAT_BITS_H
#define SILKEN_HARNESS_HOSTS_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint32_t bits_of(float x) {
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float float_of(uint32_t bits) {
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif

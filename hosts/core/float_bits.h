// SPDX-License-Identifier: Apache-2.0
//
// float_bits: a float32's bits as a number, and back. Without state.
#ifndef SILKEN_HOSTS_CORE_FLOAT_BITS_H
#define SILKEN_HOSTS_CORE_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint32_t sk_bits_of_float(float x) {
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float sk_float_of_bits(uint32_t bits) {
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif

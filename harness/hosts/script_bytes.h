// SPDX-License-Identifier: Apache-2.0
//
// script_bytes.h: numbers out of a string of any bytes, for tests that a fuzzer or a seed directs.
// Behind the end there are zeros.
#ifndef SILKEN_HARNESS_HOSTS_SCRIPT_BYTES_H
#define SILKEN_HARNESS_HOSTS_SCRIPT_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct script {
    const uint8_t *bytes;
    size_t len, at;
};

static inline uint8_t script_byte(struct script *s) {
    return s->at < s->len ? s->bytes[s->at++] : 0;
}

// Two bytes.
static inline uint32_t script_number(struct script *s) {
    uint32_t high = script_byte(s);

    return high << 8 | script_byte(s);
}

#endif

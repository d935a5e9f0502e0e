// SPDX-License-Identifier: Apache-2.0
//
// fuzz_input: a fuzzer's bytes as choices, one after the other; zeros behind the last one.
#ifndef SILKEN_HARNESS_CONTROL_TOR_FUZZ_INPUT_H
#define SILKEN_HARNESS_CONTROL_TOR_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct input {
    const uint8_t *at;
    size_t left;
};

static inline unsigned byte(struct input *in) {
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->at++;
}

// What a fuzzer is to find is that this does not hold.
static inline void must(bool good) {
    if (!good)
        abort();
}

#endif

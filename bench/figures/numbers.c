// SPDX-License-Identifier: Apache-2.0
//
// What a switch returns for the gradients of several workers, without the switch: workers' numbers
// by hosts/core, sums as p4/switchml has them. For bench/figures/switchml_training.py, which loads
// it as a shared object.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "hosts/core/halves.h"
#include "hosts/core/quantise.h"

#define NUMBERS_BLOCK 256u

enum numbers_how {
    NUMBERS_ADAPTIVE, // a block's exponent is that of all workers' largest number
    NUMBERS_FIXED,    // one factor for all
    NUMBERS_HALVES,   // 16-bit floats
};

// Sums of 'n' numbers of each of 'workers' workers (workers * n of them, one worker after the
// other) into out[0..n). 'factor' is of NUMBERS_FIXED. Returns how many 32-bit sums left their
// range, as far as that can be told from the exact ones. At most SK_MAX_WORKERS workers, of
// NUMBERS_HALVES SK_HALF_WORKERS; -1 of others. Thread-safe.
__attribute__((visibility("default"))) int64_t
numbers_sum(float *out, const float *in, unsigned workers, size_t n, int how, double factor);

// The exponent that the workers agree on.
static int8_t numbers_exponent(const float *in, unsigned workers, size_t stride, size_t n) {
    int8_t m = SK_EXPONENT_ZERO;
    for (unsigned w = 0; w < workers; w++) {
        const int8_t own = sk_block_exponent(sk_quantise_best()->max_abs_bits(in + w * stride, n));
        m = own > m ? own : m;
    }
    return m;
}

// 32-bit integers, whose sums wrap. Returns how many did.
static int64_t numbers_integers(float *out, const float *in, unsigned workers, size_t stride,
                                size_t n, double factor, double inverse) {
    uint8_t wire[4 * NUMBERS_BLOCK];
    int32_t numbers[NUMBERS_BLOCK];
    uint32_t sums[NUMBERS_BLOCK] = {0};
    double exact[NUMBERS_BLOCK] = {0};
    int64_t left = 0;
    const struct sk_quantise *q = sk_quantise_best();
    for (unsigned w = 0; w < workers; w++) {
        q->f32_to_wire(wire, in + w * stride, n, factor);
        q->wire_to_i32(numbers, wire, n);
        for (size_t i = 0; i < n; i++) {
            sums[i] += (uint32_t)numbers[i];
            exact[i] += (double)in[w * stride + i] * factor;
        }
    }
    for (size_t i = 0; i < n; i++) {
        put32(wire + 4 * i, sums[i]);
        left += !(fabs(exact[i]) < 2147483648.0);
    }
    q->wire_to_f32(out, wire, n, inverse);
    return left;
}

static void numbers_halves(float *out, const float *in, unsigned workers, size_t stride, size_t n,
                           int8_t m) {
    uint8_t wire[2 * NUMBERS_BLOCK];
    int32_t sums[NUMBERS_BLOCK] = {0};
    const struct sk_half_scale scale = sk_half_scale_f32(m);
    for (unsigned w = 0; w < workers; w++) {
        sk_halves_from_f32(wire, in + w * stride, n, scale.factor);
        for (size_t i = 0; i < n; i++)
            sums[i] = sk_half_add(sums[i], sk_half_number((uint16_t)get16(wire + 2 * i)));
    }
    for (size_t i = 0; i < n; i++)
        put16(wire + 2 * i, sk_half_of_sum(sums[i]));
    sk_halves_to_f32(out, wire, n, scale.inverse);
}

int64_t numbers_sum(float *out, const float *in, unsigned workers, size_t n, int how,
                    double factor) {
    int64_t left = 0;
    if (workers < 1 || workers > (how == NUMBERS_HALVES ? SK_HALF_WORKERS : SK_MAX_WORKERS) ||
        how < NUMBERS_ADAPTIVE || how > NUMBERS_HALVES)
        return -1;
    for (size_t at = 0; at < n; at += NUMBERS_BLOCK) {
        const size_t part = n - at < NUMBERS_BLOCK ? n - at : NUMBERS_BLOCK;
        const int8_t m = numbers_exponent(in + at, workers, n, part);
        if (how == NUMBERS_HALVES)
            numbers_halves(out + at, in + at, workers, n, part, m);
        else if (how == NUMBERS_FIXED)
            left += numbers_integers(out + at, in + at, workers, n, part, factor, 1 / factor);
        else
            left += numbers_integers(out + at, in + at, workers, n, part,
                                     sk_block_factor(m, workers), sk_block_inverse(m, workers));
    }
    return left;
}

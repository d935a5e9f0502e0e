// SPDX-License-Identifier: Apache-2.0
//
// numbers.h: a parameter server's arithmetic on the 62 values of a packet.
//
// Values on the wire are in network order: fixed point numbers (int32), or floats. Sums of integers
// have 64 bits, sums of floats double precision. What is the greatest or least int32 may have been
// more (section 3.8): for a job of floats the caller asks for the floats; for one of integers it
// counts as BEYOND here, so that the sum is beyond the range as well.
//
// Plain C twice, for any x86-64 and for AVX2, with the same results. Wire memory needs no
// alignment; source and destination are apart. Concurrency: stateless.
#ifndef SILKEN_HOSTS_ATP_NUMBERS_H
#define SILKEN_HOSTS_ATP_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#define ATP_BEYOND (INT64_C(1) << 48)

struct atp_numbers {
    const char *name; // "scalar", "avx2"

    // Whether any value is the greatest or least int32.
    bool (*saturated)(const uint8_t *src);

    // From fixed point to float, both on the wire: (float)(value * inverse).
    void (*to_floats)(uint8_t *dst, const uint8_t *src, double inverse);

    // Sums: begins with values, or adds them.
    void (*begin)(int64_t *sum, const uint8_t *src);
    void (*add)(int64_t *sum, const uint8_t *src);
    void (*begin_integers)(int64_t *sum, const uint8_t *src); // BEYOND for greatest and least
    void (*add_integers)(int64_t *sum, const uint8_t *src);
    void (*begin_floats)(double *sum, const uint8_t *src);
    void (*add_floats)(double *sum, const uint8_t *src);

    // What is sent: (float)(sum * inverse), the nearest int32, (float)sum.
    void (*sums_to_floats)(uint8_t *dst, const int64_t *sum, double inverse);
    void (*sums_to_integers)(uint8_t *dst, const int64_t *sum);
    void (*doubles_to_floats)(uint8_t *dst, const double *sum);

    // The greatest magnitude of fixed point numbers, and of floats; NaN counts for nothing.
    uint32_t (*greatest)(const uint8_t *src);
    float (*greatest_float)(const uint8_t *src);
};

// The fastest that this processor has; or by name, NULL when there is none.
const struct atp_numbers *atp_numbers_best(void);
const struct atp_numbers *atp_numbers_named(const char *name);

// The bits of the largest float whose product with 'scale', above 0, is rounded to 'greatest' or
// less: floats with smaller bits, without sign, are such too, and with larger ones neither they are
// nor what is not finite.
uint32_t atp_largest_bits(uint32_t greatest, double scale);

#endif

// SPDX-License-Identifier: Apache-2.0
#include "hosts/dlcp/tags.h"

#include <immintrin.h>
#include <math.h>
#include <stdlib.h>

#include "hosts/dlcp/packet.h"

#define LANES       16u   // sums at a time, so that the compiler has no order of additions to keep
#define MOST        4096u // samples
#define ONE_SAMPLED 1000u // of so many: 0.1 %

uint8_t dlcp_class(uint32_t layer, uint32_t layers) {
    return (uint8_t)((uint64_t)layer * DLCP_CLASSES / layers);
}

// Sums of magnitudes by lane, of whole vectors of LANES; returns how many values that were.
__attribute__((target("avx2"))) static uint32_t tags_sum_vectors(float *sums, const float *values,
                                                                 uint32_t count) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    __m256 low = _mm256_setzero_ps(), high = low;
    uint32_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        low = _mm256_add_ps(low, _mm256_andnot_ps(sign, _mm256_loadu_ps(values + i)));
        high = _mm256_add_ps(high, _mm256_andnot_ps(sign, _mm256_loadu_ps(values + i + 8)));
    }
    _mm256_storeu_ps(sums, low);
    _mm256_storeu_ps(sums + 8, high);
    return i;
}

// The same additions in the same order with vectors and without.
float dlcp_magnitude(const float *values, uint32_t count) {
    float sums[LANES] = {0}, sum = 0;
    uint32_t i = __builtin_cpu_supports("avx2") ? tags_sum_vectors(sums, values, count) : 0;

    for (; i + LANES <= count; i += LANES)
        for (unsigned l = 0; l < LANES; l++)
            sums[l] += fabsf(values[i + l]);
    for (; i < count; i++)
        sum += fabsf(values[i]);
    for (unsigned l = 0; l < LANES; l++)
        sum += sums[l];
    return isnan(sum) ? INFINITY : sum / (float)count;
}

static int tags_compare(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static uint32_t tags_samples(uint32_t things) {
    uint32_t n = things / ONE_SAMPLED;
    n = n < DLCP_SAMPLES_LEAST ? DLCP_SAMPLES_LEAST : n > MOST ? MOST : n;
    return n < things ? n : things;
}

float dlcp_threshold_of(enum dlcp_threshold kind, const float *values, uint32_t elements,
                        uint32_t segment) {
    float samples[MOST] = {0};
    const bool means = kind == DLCP_MEDIAN_OF_MEANS;
    const uint32_t things = means ? dlcp_segments(elements, segment) : elements;
    const uint32_t n = tags_samples(things);

    for (uint32_t i = 0; i < n; i++) {
        // at equal distances, from the middle of each
        const uint32_t at = (uint32_t)(((uint64_t)things * (2 * i + 1)) / (2 * (uint64_t)n));
        samples[i] = means ? dlcp_magnitude(values + (size_t)at * segment,
                                            dlcp_segment_count(elements, segment, at))
                           : fabsf(values[at]);
        if (isnan(samples[i]))
            samples[i] = INFINITY;
    }
    qsort(samples, n, sizeof *samples, tags_compare);
    return samples[n / 2];
}

// SPDX-License-Identifier: Apache-2.0
#include "hosts/dlcp/sums.h"

#include <immintrin.h>
#include <stddef.h>
#include <string.h>

// Whole vectors of eight; returns how many elements that were.
__attribute__((target("avx2"))) static uint32_t sums_add_vectors(float *sum, const uint8_t *wire,
                                                                 uint32_t count) {
    const __m256i order = _mm256_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 3,
                                           2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
    uint32_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const __m256i bits =
            _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i *)(wire + 4 * (size_t)i)), order);
        _mm256_storeu_ps(sum + i,
                         _mm256_add_ps(_mm256_loadu_ps(sum + i), _mm256_castsi256_ps(bits)));
    }
    return i;
}

void dlcp_add(float *sum, const uint8_t *wire, uint32_t count) {
    uint32_t i = __builtin_cpu_supports("avx2") ? sums_add_vectors(sum, wire, count) : 0;
    for (; i < count; i++) {
        uint32_t bits;
        float value;
        memcpy(&bits, wire + 4 * (size_t)i, sizeof bits);
        bits = __builtin_bswap32(bits);
        memcpy(&value, &bits, sizeof value);
        sum[i] += value;
    }
}

void dlcp_sums_place(void *aux, uint32_t offset, const uint8_t *wire, uint32_t count,
                     uint16_t contributions) {
    const struct dlcp_sums *s = aux;
    uint16_t *workers = &s->contributions[offset / s->segment];
    dlcp_add(s->sum + offset, wire, count);
    *workers = (uint16_t)(*workers + contributions);
}

void dlcp_sums_scale(const struct dlcp_sums *s, uint32_t elements, uint32_t workers) {
    for (uint32_t i = 0; i < dlcp_segments(elements, s->segment); i++) {
        float *v = s->sum + (size_t)i * s->segment;
        const uint32_t n = dlcp_segment_count(elements, s->segment, i);
        if (s->contributions[i] == workers || s->contributions[i] == 0)
            continue;
        const float factor = (float)workers / (float)s->contributions[i];
        for (uint32_t k = 0; k < n; k++)
            v[k] *= factor;
    }
}

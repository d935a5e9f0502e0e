// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "af_packet/af_packet_impl.h"

uint64_t af_packet_sum_plain(const uint8_t *at, uint32_t n) {
    uint64_t a = 0, b = 0, c = 0, d = 0;
    for (; n >= 16; at += 16, n -= 16) {
        uint32_t w[4];
        memcpy(w, at, sizeof w);
        a += w[0];
        b += w[1];
        c += w[2];
        d += w[3];
    }
    for (; n >= 4; at += 4, n -= 4) {
        uint32_t w;
        memcpy(&w, at, sizeof w);
        a += w;
    }
    uint32_t last = 0;
    memcpy(&last, at, n);
    return a + b + c + d + last;
}

uint64_t af_packet_copy_plain(uint8_t *to, const uint8_t *from, uint32_t n) {
    memcpy(to, from, n);
    return af_packet_sum_plain(from, n);
}

#ifdef __x86_64__
#include <immintrin.h>

#define VECTOR 32u // bytes
#define AVX2   __attribute__((target("avx2"))) static inline

AVX2 __m256i avx2_load(const uint8_t *at) {
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

AVX2 __m256i avx2_copy(uint8_t *to, const uint8_t *from) {
    const __m256i v = avx2_load(from);
    _mm256_storeu_si256((__m256i *)(void *)to, v);
    return v;
}

// Adds the 32-bit words of a vector to those of 64 bits.
AVX2 __m256i avx2_add_words(__m256i sum, __m256i v) {
    const __m256i low = _mm256_set1_epi64x(0xffffffff);
    return _mm256_add_epi64(sum,
                            _mm256_add_epi64(_mm256_and_si256(v, low), _mm256_srli_epi64(v, 32)));
}

AVX2 uint64_t avx2_add_up(__m256i v) {
    uint64_t w[VECTOR / 8];
    _mm256_storeu_si256((__m256i *)(void *)w, v);
    return w[0] + w[1] + w[2] + w[3];
}

AVX2 uint64_t avx2_sum(const uint8_t *at, uint32_t n) {
    __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
    for (; n >= 4 * VECTOR; at += 4 * VECTOR, n -= 4 * VECTOR) {
        a = avx2_add_words(a, avx2_load(at));
        b = avx2_add_words(b, avx2_load(at + VECTOR));
        c = avx2_add_words(c, avx2_load(at + 2 * VECTOR));
        d = avx2_add_words(d, avx2_load(at + 3 * VECTOR));
    }
    for (; n >= VECTOR; at += VECTOR, n -= VECTOR)
        a = avx2_add_words(a, avx2_load(at));
    return avx2_add_up(_mm256_add_epi64(_mm256_add_epi64(a, b), _mm256_add_epi64(c, d))) +
           af_packet_sum_plain(at, n);
}

AVX2 uint64_t avx2_sum_copied(uint8_t *to, const uint8_t *from, uint32_t n) {
    __m256i a = _mm256_setzero_si256(), b = a;
    for (; n >= 2 * VECTOR; to += 2 * VECTOR, from += 2 * VECTOR, n -= 2 * VECTOR) {
        a = avx2_add_words(a, avx2_copy(to, from));
        b = avx2_add_words(b, avx2_copy(to + VECTOR, from + VECTOR));
    }
    return avx2_add_up(_mm256_add_epi64(a, b)) + af_packet_copy_plain(to, from, n);
}

uint64_t af_packet_sum(const uint8_t *at, uint32_t n) {
    return n >= 2 * VECTOR && __builtin_cpu_supports("avx2") ? avx2_sum(at, n)
                                                             : af_packet_sum_plain(at, n);
}

uint64_t af_packet_copy(uint8_t *to, const uint8_t *from, uint32_t n) {
    return n >= 2 * VECTOR && __builtin_cpu_supports("avx2") ? avx2_sum_copied(to, from, n)
                                                             : af_packet_copy_plain(to, from, n);
}
#else
uint64_t af_packet_sum(const uint8_t *at, uint32_t n) {
    return af_packet_sum_plain(at, n);
}

uint64_t af_packet_copy(uint8_t *to, const uint8_t *from, uint32_t n) {
    return af_packet_copy_plain(to, from, n);
}
#endif

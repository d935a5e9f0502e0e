// SPDX-License-Identifier: Apache-2.0
#include "hosts/core/quantise.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define SIGN_BIT UINT32_C(0x80000000)

// ---- exponents and factors -------------------------------------------------------------------

int8_t sk_block_exponent(uint32_t max_abs_bits) {
    int m = (int)(max_abs_bits >> 23) - 126;

    if (max_abs_bits == 0)
        return SK_EXPONENT_ZERO;
    return m < SK_EXPONENT_NOT_FINITE ? (int8_t)m : SK_EXPONENT_NOT_FINITE;
}

static double quantise_power_of_two(int exponent) {
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

// The exponent of the smallest power of two from 'workers' on, or of many above (quantise.h).
static int headroom(unsigned workers) {
    if (workers > 255)
        return 32 - __builtin_clz(workers);
    return workers > 1 ? 32 - __builtin_clz(workers - 1) : 0;
}

double sk_block_factor(int8_t m, unsigned workers) {
    if (m == SK_EXPONENT_ZERO || m == SK_EXPONENT_NOT_FINITE)
        return 0;
    return quantise_power_of_two(31 - headroom(workers) - m);
}

double sk_block_inverse(int8_t m, unsigned workers) {
    if (m == SK_EXPONENT_ZERO)
        return 0;
    if (m == SK_EXPONENT_NOT_FINITE)
        return NAN;
    return quantise_power_of_two(m + headroom(workers) - 31);
}

// May a product with 'factor' be taken in single precision without changing the result? It may when
// the factor is a power of two, so that nothing is rounded, and the product neither leaves the
// range of floats nor loses digits below it. That needs a range for the factor, by direction.
static int is_power_of_two(double factor, double low, double high) {
    uint64_t bits;

    memcpy(&bits, &factor, sizeof bits);
    return (bits << 12) == 0 && factor >= low && factor <= high;
}

// A float times the factor: what is too small for a float is 0 as an integer, and what is too large
// for one does not fit either way.
static int scales_floats(double factor) {
    return is_power_of_two(factor, 0x1p-126, 0x1p127);
}

// An integer of 32 bits, or 0, times the factor, as a float: never denormal, never infinite.
static int scales_integers(double factor) {
    return is_power_of_two(factor, 0x1p-126, 0x1p96);
}

// ---- plain C: the reference ------------------------------------------------------------------

static void store_be32(uint8_t *p, uint32_t v) {
    v = __builtin_bswap32(v);
    memcpy(p, &v, sizeof v);
}

static uint32_t load_be32(const uint8_t *p) {
    uint32_t v;

    memcpy(&v, p, sizeof v);
    return __builtin_bswap32(v);
}

static int32_t round_to_i32(double v) {
    if (!(v >= INT32_MIN - 0.5 && v < INT32_MAX + 0.5))
        return INT32_MIN;
    return (int32_t)lrint(v);
}

static uint32_t scalar_max_abs_bits(const float *src, size_t n) {
    uint32_t max = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &src[i], sizeof bits);
        bits &= ~SIGN_BIT;
        max = bits > max ? bits : max;
    }
    return max;
}

static void scalar_f32_to_wire(uint8_t *dst, const float *src, size_t n, double factor) {
    for (size_t i = 0; i < n; i++)
        store_be32(dst + 4 * i, (uint32_t)round_to_i32((double)src[i] * factor));
}

static void scalar_wire_to_f32(float *dst, const uint8_t *src, size_t n, double inverse) {
    for (size_t i = 0; i < n; i++)
        dst[i] = (float)((double)(int32_t)load_be32(src + 4 * i) * inverse);
}

static void scalar_swap_copy(uint8_t *dst, const uint8_t *src, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint32_t v = load_be32(src + 4 * i);
        memcpy(dst + 4 * i, &v, sizeof v);
    }
}

static void scalar_i32_to_wire(uint8_t *dst, const int32_t *src, size_t n) {
    scalar_swap_copy(dst, (const uint8_t *)src, n);
}

static void scalar_wire_to_i32(int32_t *dst, const uint8_t *src, size_t n) {
    scalar_swap_copy((uint8_t *)dst, src, n);
}

static const struct sk_quantise scalar = {
    .name = "scalar",
    .max_abs_bits = scalar_max_abs_bits,
    .f32_to_wire = scalar_f32_to_wire,
    .wire_to_f32 = scalar_wire_to_f32,
    .wire_to_f32_far = scalar_wire_to_f32,
    .i32_to_wire = scalar_i32_to_wire,
    .wire_to_i32 = scalar_wire_to_i32,
};

// ---- AVX2: eight elements at a time, the rest by the reference ---------------------------------

#define AVX2 __attribute__((target("avx2")))

AVX2 static __m256i avx2_swap(__m256i v) {
    const __m256i order = _mm256_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 3,
                                           2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
    return _mm256_shuffle_epi8(v, order);
}

AVX2 static __m256i avx2_load_abs(const float *src) {
    __m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)src);

    return _mm256_and_si256(bits, _mm256_set1_epi32(INT32_MAX));
}

AVX2 static uint32_t avx2_greatest_lane(__m256i v) {
    __m128i max = _mm_max_epu32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

    max = _mm_max_epu32(max, _mm_shuffle_epi32(max, 0x4e));
    max = _mm_max_epu32(max, _mm_shuffle_epi32(max, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(max);
}

AVX2 static uint32_t avx2_max_abs_bits(const float *src, size_t n) {
    __m256i max[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    size_t i = 0;

    if (n < 8)
        return scalar_max_abs_bits(src, n);
    for (; i + 16 <= n; i += 16) {
        max[0] = _mm256_max_epu32(max[0], avx2_load_abs(src + i));
        max[1] = _mm256_max_epu32(max[1], avx2_load_abs(src + i + 8));
    }
    if (i + 8 <= n)
        max[0] = _mm256_max_epu32(max[0], avx2_load_abs(src + i));
    if (n % 8)
        max[1] = _mm256_max_epu32(max[1], avx2_load_abs(src + n - 8));
    return avx2_greatest_lane(_mm256_max_epu32(max[0], max[1]));
}

AVX2 static void avx2_store(uint8_t *dst, __m256i v) {
    _mm256_storeu_si256((__m256i *)(void *)dst, v);
}

AVX2 static __m256i avx2_load_swapped(const uint8_t *src) {
    return avx2_swap(_mm256_loadu_si256((const __m256i *)(const void *)src));
}

AVX2 static __m256i avx2_to_wire(const float *src, __m256 f) {
    return avx2_swap(_mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(src), f)));
}

AVX2 static __m256i avx2_to_wire_double(const float *src, __m256d f) {
    __m256 x = _mm256_loadu_ps(src);
    __m256d low = _mm256_mul_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(x)), f);
    __m256d high = _mm256_mul_pd(_mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)), f);

    return avx2_swap(_mm256_set_m128i(_mm256_cvtpd_epi32(high), _mm256_cvtpd_epi32(low)));
}

AVX2 static __m256 avx2_from_wire(const uint8_t *src, __m256 f) {
    return _mm256_mul_ps(_mm256_cvtepi32_ps(avx2_load_swapped(src)), f);
}

AVX2 static __m256 avx2_from_wire_double(const uint8_t *src, __m256d f) {
    __m256i q = avx2_load_swapped(src);
    __m256d low = _mm256_mul_pd(_mm256_cvtepi32_pd(_mm256_castsi256_si128(q)), f);
    __m256d high = _mm256_mul_pd(_mm256_cvtepi32_pd(_mm256_extracti128_si256(q, 1)), f);

    return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}

// The next four convert eight elements and more. The last ones, if there are not eight, are taken
// with some of those before; all of them are converted first and stored last, since source and
// destination may be the same memory. (To take the last eight so always disturbs the order in which
// memory is read.)
AVX2 static void avx2_f32_to_wire_single(uint8_t *dst, const float *src, size_t n, float factor) {
    const __m256 f = _mm256_set1_ps(factor);
    const __m256i last = n % 8 ? avx2_to_wire(src + n - 8, f) : _mm256_setzero_si256();
    size_t i = 0;

    for (; i + 16 <= n; i += 16) {
        avx2_store(dst + 4 * i, avx2_to_wire(src + i, f));
        avx2_store(dst + 4 * i + 32, avx2_to_wire(src + i + 8, f));
    }
    for (; i + 8 <= n; i += 8)
        avx2_store(dst + 4 * i, avx2_to_wire(src + i, f));
    if (n % 8)
        avx2_store(dst + 4 * (n - 8), last);
}

AVX2 static void avx2_f32_to_wire_double(uint8_t *dst, const float *src, size_t n, double factor) {
    const __m256d f = _mm256_set1_pd(factor);
    const __m256i last = n % 8 ? avx2_to_wire_double(src + n - 8, f) : _mm256_setzero_si256();

    for (size_t i = 0; i + 8 <= n; i += 8)
        avx2_store(dst + 4 * i, avx2_to_wire_double(src + i, f));
    if (n % 8)
        avx2_store(dst + 4 * (n - 8), last);
}

AVX2 static void avx2_f32_to_wire(uint8_t *dst, const float *src, size_t n, double factor) {
    if (n < 8)
        scalar_f32_to_wire(dst, src, n, factor);
    else if (scales_floats(factor))
        avx2_f32_to_wire_single(dst, src, n, (float)factor);
    else
        avx2_f32_to_wire_double(dst, src, n, factor);
}

AVX2 static void avx2_wire_to_f32_single(float *dst, const uint8_t *src, size_t n, float inverse) {
    const __m256 f = _mm256_set1_ps(inverse);
    const __m256 last = n % 8 ? avx2_from_wire(src + 4 * (n - 8), f) : _mm256_setzero_ps();
    size_t i = 0;

    for (; i + 16 <= n; i += 16) {
        _mm256_storeu_ps(dst + i, avx2_from_wire(src + 4 * i, f));
        _mm256_storeu_ps(dst + i + 8, avx2_from_wire(src + 4 * i + 32, f));
    }
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(dst + i, avx2_from_wire(src + 4 * i, f));
    if (n % 8)
        _mm256_storeu_ps(dst + n - 8, last);
}

AVX2 static void avx2_wire_to_f32_double(float *dst, const uint8_t *src, size_t n, double inverse) {
    const __m256d f = _mm256_set1_pd(inverse);
    const __m256 last = n % 8 ? avx2_from_wire_double(src + 4 * (n - 8), f) : _mm256_setzero_ps();

    for (size_t i = 0; i + 8 <= n; i += 8)
        _mm256_storeu_ps(dst + i, avx2_from_wire_double(src + 4 * i, f));
    if (n % 8)
        _mm256_storeu_ps(dst + n - 8, last);
}

AVX2 static void avx2_wire_to_f32(float *dst, const uint8_t *src, size_t n, double inverse) {
    if (n < 8)
        scalar_wire_to_f32(dst, src, n, inverse);
    else if (scales_integers(inverse))
        avx2_wire_to_f32_single(dst, src, n, (float)inverse);
    else
        avx2_wire_to_f32_double(dst, src, n, inverse);
}

// The same past the caches.
AVX2 static size_t avx2_wire_to_f32_past(float *dst, const uint8_t *src, size_t n, float inverse) {
    const __m256 f = _mm256_set1_ps(inverse);
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        __m256 x = _mm256_cvtepi32_ps(avx2_load_swapped(src + 4 * i));
        _mm256_stream_ps(dst + i, _mm256_mul_ps(x, f));
    }
    return i;
}

AVX2 static void avx2_wire_to_f32_far(float *dst, const uint8_t *src, size_t n, double inverse) {
    size_t i = 0;

    if (scales_integers(inverse) && (uintptr_t)dst % 32 == 0)
        i = avx2_wire_to_f32_past(dst, src, n, (float)inverse);
    avx2_wire_to_f32(dst + i, src + 4 * i, n - i, inverse);
}

AVX2 static void avx2_swap_copy(void *dst, const void *src, size_t n) {
    uint8_t *d = dst;
    const uint8_t *s = src;
    __m256i last;

    if (n < 8) {
        scalar_swap_copy(d, s, n);
        return;
    }
    last = n % 8 ? avx2_load_swapped(s + 4 * (n - 8)) : _mm256_setzero_si256();
    for (size_t i = 0; i + 8 <= n; i += 8)
        avx2_store(d + 4 * i, avx2_load_swapped(s + 4 * i));
    if (n % 8)
        avx2_store(d + 4 * (n - 8), last);
}

static void avx2_i32_to_wire(uint8_t *dst, const int32_t *src, size_t n) {
    avx2_swap_copy(dst, src, n);
}

static void avx2_wire_to_i32(int32_t *dst, const uint8_t *src, size_t n) {
    avx2_swap_copy(dst, src, n);
}

static const struct sk_quantise avx2 = {
    .name = "avx2",
    .max_abs_bits = avx2_max_abs_bits,
    .f32_to_wire = avx2_f32_to_wire,
    .wire_to_f32 = avx2_wire_to_f32,
    .wire_to_f32_far = avx2_wire_to_f32_far,
    .i32_to_wire = avx2_i32_to_wire,
    .wire_to_i32 = avx2_wire_to_i32,
};

// ---- AVX-512: sixteen elements at a time, the last ones under a mask ----------------------------

#ifndef AVX512 // a test has its own, with the instructions in C
#define AVX512 __attribute__((target("avx512f,avx512bw")))
#endif

AVX512 static __mmask16 avx512_lanes(size_t left) {
    return left >= 16 ? (__mmask16)0xffff : (__mmask16)((1u << left) - 1);
}

AVX512 static __m512i avx512_swap(__m512i v) {
    const __m512i order =
        _mm512_broadcast_i32x4(_mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
    return _mm512_shuffle_epi8(v, order);
}

AVX512 static uint32_t avx512_max_abs_bits(const float *src, size_t n) {
    const __m512i magnitude = _mm512_set1_epi32(INT32_MAX);
    __m512i max = _mm512_setzero_si512();

    for (size_t i = 0; i < n; i += 16) {
        __m512i bits = _mm512_maskz_loadu_epi32(avx512_lanes(n - i), src + i);
        max = _mm512_max_epu32(max, _mm512_and_si512(bits, magnitude));
    }
    return _mm512_reduce_max_epu32(max);
}

AVX512 static __m256 avx512_high_half(__m512 x) {
    return _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x), 1));
}

AVX512 static void avx512_f32_to_wire_double(uint8_t *dst, const float *src, size_t n,
                                             double factor) {
    const __m512d f = _mm512_set1_pd(factor);

    for (size_t i = 0; i < n; i += 16) {
        __mmask16 lanes = avx512_lanes(n - i);
        __m512 x = _mm512_maskz_loadu_ps(lanes, src + i);
        __m512d low = _mm512_mul_pd(_mm512_cvtps_pd(_mm512_castps512_ps256(x)), f);
        __m512d high = _mm512_mul_pd(_mm512_cvtps_pd(avx512_high_half(x)), f);
        __m512i q = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtpd_epi32(low)),
                                       _mm512_cvtpd_epi32(high), 1);
        _mm512_mask_storeu_epi32(dst + 4 * i, lanes, avx512_swap(q));
    }
}

AVX512 static void avx512_wire_to_f32_double(float *dst, const uint8_t *src, size_t n,
                                             double inverse) {
    const __m512d f = _mm512_set1_pd(inverse);

    for (size_t i = 0; i < n; i += 16) {
        __mmask16 lanes = avx512_lanes(n - i);
        __m512i q = avx512_swap(_mm512_maskz_loadu_epi32(lanes, src + 4 * i));
        __m512d low = _mm512_mul_pd(_mm512_cvtepi32_pd(_mm512_castsi512_si256(q)), f);
        __m512d high = _mm512_mul_pd(_mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(q, 1)), f);
        __m512d both =
            _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_castps_pd(_mm512_cvtpd_ps(low))),
                               _mm256_castps_pd(_mm512_cvtpd_ps(high)), 1);
        _mm512_mask_storeu_ps(dst + i, lanes, _mm512_castpd_ps(both));
    }
}

AVX512 static void avx512_f32_to_wire_single(uint8_t *dst, const float *src, size_t n,
                                             float factor) {
    const __m512 f = _mm512_set1_ps(factor);

    for (size_t i = 0; i < n; i += 16) {
        __mmask16 lanes = avx512_lanes(n - i);
        __m512 x = _mm512_mul_ps(_mm512_maskz_loadu_ps(lanes, src + i), f);
        _mm512_mask_storeu_epi32(dst + 4 * i, lanes, avx512_swap(_mm512_cvtps_epi32(x)));
    }
}

AVX512 static void avx512_wire_to_f32_single(float *dst, const uint8_t *src, size_t n,
                                             float inverse) {
    const __m512 f = _mm512_set1_ps(inverse);

    for (size_t i = 0; i < n; i += 16) {
        __mmask16 lanes = avx512_lanes(n - i);
        __m512i q = avx512_swap(_mm512_maskz_loadu_epi32(lanes, src + 4 * i));
        _mm512_mask_storeu_ps(dst + i, lanes, _mm512_mul_ps(_mm512_cvtepi32_ps(q), f));
    }
}

static void avx512_f32_to_wire(uint8_t *dst, const float *src, size_t n, double factor) {
    if (scales_floats(factor))
        avx512_f32_to_wire_single(dst, src, n, (float)factor);
    else
        avx512_f32_to_wire_double(dst, src, n, factor);
}

static void avx512_wire_to_f32(float *dst, const uint8_t *src, size_t n, double inverse) {
    if (scales_integers(inverse))
        avx512_wire_to_f32_single(dst, src, n, (float)inverse);
    else
        avx512_wire_to_f32_double(dst, src, n, inverse);
}

AVX512 static size_t avx512_wire_to_f32_past(float *dst, const uint8_t *src, size_t n,
                                             float inverse) {
    const __m512 f = _mm512_set1_ps(inverse);
    size_t i = 0;

    for (; i + 16 <= n; i += 16) {
        __m512i q = avx512_swap(_mm512_loadu_si512(src + 4 * i));
        _mm512_stream_ps(dst + i, _mm512_mul_ps(_mm512_cvtepi32_ps(q), f));
    }
    return i;
}

static void avx512_wire_to_f32_far(float *dst, const uint8_t *src, size_t n, double inverse) {
    size_t i = 0;

    if (scales_integers(inverse) && (uintptr_t)dst % 64 == 0)
        i = avx512_wire_to_f32_past(dst, src, n, (float)inverse);
    avx512_wire_to_f32(dst + i, src + 4 * i, n - i, inverse);
}

AVX512 static void avx512_swap_copy(void *dst, const void *src, size_t n) {
    for (size_t i = 0; i < n; i += 16) {
        __mmask16 lanes = avx512_lanes(n - i);
        __m512i v = _mm512_maskz_loadu_epi32(lanes, (const uint8_t *)src + 4 * i);
        _mm512_mask_storeu_epi32((uint8_t *)dst + 4 * i, lanes, avx512_swap(v));
    }
}

static void avx512_i32_to_wire(uint8_t *dst, const int32_t *src, size_t n) {
    avx512_swap_copy(dst, src, n);
}

static void avx512_wire_to_i32(int32_t *dst, const uint8_t *src, size_t n) {
    avx512_swap_copy(dst, src, n);
}

static const struct sk_quantise avx512 = {
    .name = "avx512",
    .max_abs_bits = avx512_max_abs_bits,
    .f32_to_wire = avx512_f32_to_wire,
    .wire_to_f32 = avx512_wire_to_f32,
    .wire_to_f32_far = avx512_wire_to_f32_far,
    .i32_to_wire = avx512_i32_to_wire,
    .wire_to_i32 = avx512_wire_to_i32,
};

void sk_quantise_flush(void) {
    _mm_sfence();
}

// ---- the choice --------------------------------------------------------------------------------

static int has_avx512(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
}

const struct sk_quantise *sk_quantise_named(const char *name) {
    if (strcmp(name, "avx512") == 0)
        return has_avx512() ? &avx512 : NULL;
    if (strcmp(name, "avx2") == 0)
        return __builtin_cpu_supports("avx2") ? &avx2 : NULL;
    return strcmp(name, "scalar") == 0 ? &scalar : NULL;
}

const struct sk_quantise *sk_quantise_best(void) {
    if (has_avx512())
        return &avx512;
    return __builtin_cpu_supports("avx2") ? &avx2 : &scalar;
}

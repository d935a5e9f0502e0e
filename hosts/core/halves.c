// SPDX-License-Identifier: Apache-2.0
#include "hosts/core/halves.h"

#include <cpuid.h>
#include <immintrin.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "hosts/core/quantise.h"
#include "hosts/core/wire_type.h"

// ---- tables ----------------------------------------------------------------------------------

#define HALF_SIGN      0x8000u
#define HALF_INFINITY  0x7c00u
#define HALF_IN_RANGE  16 // exponent fields below this: magnitudes below 2
#define HALF_KEPT_BITS 14 // of a sum, sign included

// 'fraction' without its hidden bit, of a half with this sign and exponent field.
static int32_t halves_scaled(unsigned scale, uint32_t fraction) {
    const unsigned exponent = scale & 31;
    const int32_t magnitude = (int32_t)(fraction << (exponent > 0 ? exponent - 1 : 0));

    return scale & 32 ? -magnitude : magnitude;
}

static int32_t halves_coarse(unsigned scale, unsigned upper) {
    const unsigned exponent = scale & 31;

    if (exponent >= HALF_IN_RANGE)
        return SK_HALF_OUT;
    return halves_scaled(scale, (exponent > 0 ? 1024u : 0u) + (upper << 5));
}

static int32_t halves_fine(unsigned scale, unsigned lower) {
    return (scale & 31) >= HALF_IN_RANGE ? 0 : halves_scaled(scale, lower);
}

// The half nearest to 'kept' units, of two the larger.
static uint16_t halves_rounded(int32_t kept) {
    const uint32_t magnitude = (uint32_t)(kept < 0 ? -kept : kept);
    const uint16_t sign = kept < 0 ? HALF_SIGN : 0;
    unsigned places = 0;
    uint32_t most;

    while (magnitude >> places >= 2048)
        places++;
    if (places == 0)
        return (uint16_t)(sign | magnitude);
    // half of a unit of the result; what lies in the middle goes up
    most = magnitude + (1u << (places - 1)) - (kept < 0);
    return (uint16_t)(sign | ((places << 10) + (most >> places)));
}

int sk_halves_fill(sk_half_fill *fill, void *aux) {
    uint32_t coarse[SK_HALF_COARSE], fine[SK_HALF_FINE];
    static _Thread_local uint32_t rounded[SK_HALF_ROUNDED];
    const struct {
        const char *control, *name, *action;
        const uint32_t *values;
        size_t n;
        unsigned digits;
    } tables[] = {{"number", "coarse", "set_coarse", coarse, SK_HALF_COARSE, 8},
                  {"number", "fine", "add_fine", fine, SK_HALF_FINE, 8},
                  {"half", "rounded", "add_rounded", rounded, SK_HALF_ROUNDED, 4}};

    for (unsigned key = 0; key < SK_HALF_COARSE; key++) {
        coarse[key] = (uint32_t)halves_coarse(key >> 5, key & 31);
        fine[key] = (uint32_t)halves_fine(key & 63, key >> 6);
    }
    for (int32_t key = 0; key < SK_HALF_ROUNDED; key++)
        rounded[key] =
            halves_rounded(key < SK_HALF_ROUNDED / 2 ? key : key - (int32_t)SK_HALF_ROUNDED);
    for (unsigned lane = 0; lane < SK_HALF_LANES; lane++)
        for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
            char name[48];
            snprintf(name, sizeof name, "lanes.%s%02u.%s", tables[t].control, lane, tables[t].name);
            const int rc =
                fill(aux, name, tables[t].action, tables[t].values, tables[t].n, tables[t].digits);
            if (rc != 0)
                return rc;
        }
    return 0;
}

// ---- what the switch computes ----------------------------------------------------------------

int32_t sk_half_number(uint16_t half) {
    const unsigned scale = half >> 10;

    return halves_coarse(scale, half >> 5 & 31) + halves_fine(scale, half & 31);
}

int32_t sk_half_add(int32_t a, int32_t b) {
    const int64_t sum = (int64_t)a + b;

    return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;
}

uint16_t sk_half_of_sum(int32_t sum) {
    const int32_t bound = 1 << (HALF_KEPT_BITS - 1);
    unsigned shift = 0;

    if (sum >= 1 << 30 || sum < -(1 << 30))
        return SK_HALF_NAN;
    while (sum >> shift >= bound || sum >> shift < -bound)
        shift += 2;
    return (uint16_t)((shift << 10) + halves_rounded(sum >> shift));
}

// ---- blocks ----------------------------------------------------------------------------------

int8_t sk_halves_exponent(const uint16_t *src, size_t n) {
    unsigned most = 0;

    for (size_t i = 0; i < n; i++) {
        const unsigned magnitude = src[i] & 0x7fffu;
        most = magnitude > most ? magnitude : most;
    }
    if (most == 0)
        return SK_EXPONENT_ZERO;
    if (most >= HALF_INFINITY)
        return SK_EXPONENT_NOT_FINITE;
    if (most >= 1024)
        return (int8_t)((int)(most >> 10) - 14);
    return (int8_t)(8 - __builtin_clz(most)); // 1 is 2^-24, below 2^-23
}

struct sk_half_scale sk_half_scale_f32(int8_t m) {
    if (m == SK_EXPONENT_ZERO)
        return (struct sk_half_scale){0, 0};
    if (m == SK_EXPONENT_NOT_FINITE)
        return (struct sk_half_scale){0, NAN};
    return (struct sk_half_scale){ldexpf(1, -m), ldexpf(1, m)};
}

struct sk_half_scale sk_half_scale_f16(int8_t m) {
    if (m == SK_EXPONENT_ZERO || m == SK_EXPONENT_NOT_FINITE)
        return sk_half_scale_f32(m);
    return m <= 1 ? (struct sk_half_scale){1, 1}
                  : (struct sk_half_scale){ldexpf(1, 1 - m), ldexpf(1, m - 1)};
}

// ---- conversions -----------------------------------------------------------------------------

static void halves_put(uint8_t *at, uint16_t half) {
    at[0] = (uint8_t)(half >> 8);
    at[1] = (uint8_t)half;
}

static uint16_t halves_get(const uint8_t *at) {
    return (uint16_t)(at[0] << 8 | at[1]);
}

// Clang 14's __builtin_cpu_supports() does not know F16C; the instruction that tells takes a
// microsecond in a virtual machine.
static bool halves_has_f16c(void) {
    static _Atomic int known; // 0: not asked yet; 1: no; 2: yes
    unsigned a, b, c = 0, d;

    if (atomic_load_explicit(&known, memory_order_relaxed) == 0) {
        const bool has = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
        atomic_store_explicit(&known, has ? 2 : 1, memory_order_relaxed);
    }
    return atomic_load_explicit(&known, memory_order_relaxed) == 2;
}

static bool halves_by_vectors(void) {
    return __builtin_cpu_supports("avx2") && halves_has_f16c();
}

__attribute__((target("avx2,f16c"))) static __m128i halves_swapped(__m128i halves) {
    return _mm_or_si128(_mm_slli_epi16(halves, 8), _mm_srli_epi16(halves, 8));
}

// Eight at a time; returns how many are done.
__attribute__((target("avx2,f16c"))) static size_t
halves_from_f32_vectors(uint8_t *dst, const float *src, size_t n, float factor) {
    const __m256 scale = _mm256_set1_ps(factor);
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        const __m256 scaled = _mm256_mul_ps(_mm256_loadu_ps(src + i), scale);
        const __m128i halves = _mm256_cvtps_ph(scaled, _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((__m128i *)(void *)(dst + 2 * i), halves_swapped(halves));
    }
    return i;
}

__attribute__((target("avx2,f16c"))) static size_t
halves_to_f32_vectors(float *dst, const uint8_t *src, size_t n, float inverse) {
    const __m256 scale = _mm256_set1_ps(inverse);
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        const __m128i halves = _mm_loadu_si128((const __m128i *)(const void *)(src + 2 * i));
        _mm256_storeu_ps(dst + i, _mm256_mul_ps(_mm256_cvtph_ps(halves_swapped(halves)), scale));
    }
    return i;
}

void sk_halves_from_f32(uint8_t *dst, const float *src, size_t n, float factor) {
    size_t i = halves_by_vectors() ? halves_from_f32_vectors(dst, src, n, factor) : 0;

    for (; i < n; i++)
        halves_put(dst + 2 * i, sk_f16_nearest(src[i] * factor));
}

void sk_halves_to_f32(float *dst, const uint8_t *src, size_t n, float inverse) {
    size_t i = halves_by_vectors() ? halves_to_f32_vectors(dst, src, n, inverse) : 0;

    for (; i < n; i++)
        dst[i] = sk_f16_value(halves_get(src + 2 * i)) * inverse;
}

void sk_halves_from_f16(uint8_t *dst, const uint16_t *src, size_t n, float factor) {
    for (size_t i = 0; i < n; i++)
        halves_put(dst + 2 * i,
                   factor == 1 ? src[i] : sk_f16_nearest(sk_f16_value(src[i]) * factor));
}

void sk_halves_to_f16(uint16_t *dst, const uint8_t *src, size_t n, float inverse) {
    for (size_t i = 0; i < n; i++) {
        const uint16_t half = halves_get(src + 2 * i);
        dst[i] = inverse == 1 ? half : sk_f16_nearest(sk_f16_value(half) * inverse);
    }
}

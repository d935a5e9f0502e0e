// SPDX-License-Identifier: Apache-2.0
//
// Folding (V. Gopal and others, "Fast CRC computation for generic polynomials using PCLMULQDQ",
// Intel 2009): what was read so far is a polynomial of which only the remainder counts. 128 bits of
// it, moved up by d bits, are worth 64 times 33 bits for each half, if the half is multiplied by
// x^(d +- 32) modulo the polynomial. So a block is folded into one that is d bits later. At the end
// 16 bytes are left. They are folded to 8, with 4 zeros after them. The remainder of those is
// found by Barrett's method, with two multiplications more.
#include "base/crc32.h"

#include <pthread.h>
#include <string.h>

#define POLYNOMIAL 0xedb88320u // reflected

static uint32_t tables[8][256]; // table k is of a byte with k zeros after it
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct sk_crc32 *best;

static void crc32_make_tables(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        tables[0][i] = crc;
    }
    for (int k = 1; k < 8; k++)
        for (uint32_t i = 0; i < 256; i++)
            tables[k][i] = tables[k - 1][i] >> 8 ^ tables[0][tables[k - 1][i] & 0xff];
}

static uint32_t crc32_by_tables(uint32_t crc, const uint8_t *b, size_t n) {
    for (; n >= 8; n -= 8, b += 8) {
        uint32_t low, high;
        memcpy(&low, b, 4);
        memcpy(&high, b + 4, 4);
        low ^= crc;
        crc = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^ tables[5][low >> 16 & 0xff] ^
              tables[4][low >> 24] ^ tables[3][high & 0xff] ^ tables[2][high >> 8 & 0xff] ^
              tables[1][high >> 16 & 0xff] ^ tables[0][high >> 24];
    }
    for (; n > 0; n--)
        crc = crc >> 8 ^ tables[0][(crc ^ *b++) & 0xff];
    return crc;
}

static uint32_t crc32_run_tables(uint32_t crc, const uint8_t *b, size_t n, const uint8_t *ones) {
    uint8_t head[SK_CRC32_ONES];
    const size_t masked = !ones ? 0 : n < sizeof head ? n : sizeof head;

    for (size_t i = 0; i < masked; i++)
        head[i] = b[i] | ones[i];
    return crc32_by_tables(crc32_by_tables(crc, head, masked), b + masked, n - masked);
}

static const struct sk_crc32 by_tables = {"tables", crc32_run_tables};

#ifdef __x86_64__
#include <immintrin.h>

#define PCLMUL  __attribute__((target("pclmul,sse4.1")))
#define VPCLMUL __attribute__((target("avx512f,avx512bw,avx512vl,vpclmulqdq,pclmul,sse4.1")))

// For folding by so many bits: the constants of both halves of a block.
struct crc32_fold {
    uint64_t low, high;
};
static struct crc32_fold by_128, by_256, by_384, by_512, by_1024, by_1536, by_2048;
static uint64_t by_64; // of 4 bytes, to the end of the CRC

// Barrett: the polynomial, and the quotient of x^64 by it, both reflected.
#define WHOLE_POLYNOMIAL 0x1db710641
#define QUOTIENT         0x1f7011641

// x^n modulo the polynomial, reflected, as a factor of 33 bits.
static uint64_t crc32_power(unsigned n) {
    uint32_t p = 1u << 31; // x^0
    while (n-- > 0)
        p = p >> 1 ^ (p & 1 ? POLYNOMIAL : 0);
    return (uint64_t)p << 1;
}

static struct crc32_fold crc32_folds_by(unsigned bits) {
    return (struct crc32_fold){crc32_power(bits + 32), crc32_power(bits - 32)};
}

static void crc32_make_folds(void) {
    by_128 = crc32_folds_by(128);
    by_256 = crc32_folds_by(256);
    by_384 = crc32_folds_by(384);
    by_512 = crc32_folds_by(512);
    by_1024 = crc32_folds_by(1024);
    by_1536 = crc32_folds_by(1536);
    by_2048 = crc32_folds_by(2048);
    by_64 = crc32_power(64);
}

PCLMUL static inline __m128i crc32_load(const uint8_t *b) {
    return _mm_loadu_si128((const __m128i *)(const void *)b);
}

PCLMUL static inline __m128i crc32_factors(const struct crc32_fold *f) {
    return _mm_set_epi64x((long long)f->high, (long long)f->low);
}

PCLMUL static inline __m128i crc32_fold(__m128i a, __m128i by, __m128i next) {
    return _mm_xor_si128(
        _mm_xor_si128(_mm_clmulepi64_si128(a, by, 0x00), _mm_clmulepi64_si128(a, by, 0x11)), next);
}

// The register after these 16 bytes, if it was 0 before.
PCLMUL static inline uint32_t crc32_of_block(__m128i a) {
    const __m128i low = _mm_set_epi32(0, -1, 0, -1); // half of each half
    const __m128i barrett = _mm_set_epi64x(QUOTIENT, WHOLE_POLYNOMIAL);
    const __m128i eight =
        _mm_xor_si128(_mm_srli_si128(a, 8), _mm_clmulepi64_si128(a, crc32_factors(&by_128), 0x10));
    const __m128i four = _mm_cvtsi64_si128((long long)by_64);
    a = _mm_xor_si128(_mm_srli_si128(eight, 4),
                      _mm_clmulepi64_si128(_mm_and_si128(eight, low), four, 0x00));
    const __m128i q = _mm_clmulepi64_si128(_mm_and_si128(a, low), barrett, 0x10);
    a = _mm_xor_si128(a, _mm_clmulepi64_si128(_mm_and_si128(q, low), barrett, 0x00));
    return (uint32_t)_mm_extract_epi32(a, 1);
}

// For bytes of a block to places: from 'n' on for the first n of them to its end, from 16 + 'n' on
// for the others to its beginning. Of 0x80 comes 0.
#define NO_BYTES 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80
static const uint8_t crc32_places[48] = {
    NO_BYTES, NO_BYTES, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, NO_BYTES, NO_BYTES};

// What is left: a block, which is of at least 16 bytes before 'b', and the n bytes from there on,
// fewer than 64 or so. When less than a block is left, as many of the first bytes are folded into
// 16, which end with the last byte.
PCLMUL static inline uint32_t crc32_end(__m128i a, const uint8_t *b, size_t n) {
    const __m128i one = crc32_factors(&by_128);

    for (; n >= 16; n -= 16, b += 16)
        a = crc32_fold(a, one, crc32_load(b));
    if (n) {
        const __m128i first = _mm_shuffle_epi8(a, crc32_load(crc32_places + n));
        const __m128i others = crc32_load(crc32_places + 16 + n);
        const __m128i last =
            _mm_blendv_epi8(_mm_shuffle_epi8(a, others), crc32_load(b + n - 16), others);
        a = crc32_fold(first, one, last);
    }
    return crc32_of_block(a);
}

PCLMUL static uint32_t crc32_run_pclmul(uint32_t crc, const uint8_t *b, size_t n,
                                        const uint8_t *ones) {
    __m128i a[4];

    if (n < 64)
        return crc32_run_tables(crc, b, n, ones);
    for (int i = 0; i < 4; i++) {
        a[i] = crc32_load(b + 16 * i);
        if (ones)
            a[i] = _mm_or_si128(a[i], crc32_load(ones + 16 * i));
    }
    a[0] = _mm_xor_si128(a[0], _mm_cvtsi32_si128((int)crc));
    const __m128i four = crc32_factors(&by_512), one = crc32_factors(&by_128);
    for (b += 64, n -= 64; n >= 64; n -= 64, b += 64)
        for (int i = 0; i < 4; i++)
            a[i] = crc32_fold(a[i], four, crc32_load(b + 16 * i));
    for (int i = 1; i < 4; i++)
        a[i] = crc32_fold(a[i - 1], one, a[i]);
    return crc32_end(a[3], b, n);
}

static const struct sk_crc32 by_pclmul = {"pclmul", crc32_run_pclmul};

VPCLMUL static inline __m512i crc32_load_wide(const uint8_t *b) {
    return _mm512_loadu_si512((const void *)b);
}

VPCLMUL static inline __m512i crc32_fold_wide(__m512i a, const struct crc32_fold *f, __m512i next) {
    const __m512i by = _mm512_broadcast_i32x4(crc32_factors(f));
    return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(a, by, 0x00),
                                     _mm512_clmulepi64_epi128(a, by, 0x11), next, 0x96);
}

// Of four blocks side by side, the last one with the others folded into it.
VPCLMUL static inline __m128i crc32_narrow(__m512i a) {
    const __m128i last = _mm512_extracti32x4_epi32(a, 3);
    const __m128i x = crc32_fold(_mm512_castsi512_si128(a), crc32_factors(&by_384), last);
    const __m128i y = crc32_fold(_mm512_extracti32x4_epi32(a, 1), crc32_factors(&by_256), x);
    return crc32_fold(_mm512_extracti32x4_epi32(a, 2), crc32_factors(&by_128), y);
}

VPCLMUL static uint32_t crc32_run_vpclmul(uint32_t crc, const uint8_t *b, size_t n,
                                          const uint8_t *ones) {
    if (n < 64)
        return crc32_run_tables(crc, b, n, ones);
    __m512i a = crc32_load_wide(b);
    if (ones)
        a = _mm512_or_si512(a, crc32_load_wide(ones));
    a = _mm512_xor_si512(a, _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)crc)));
    b += 64;
    n -= 64;
    if (n >= 192) {
        __m512i x = crc32_load_wide(b), y = crc32_load_wide(b + 64), z = crc32_load_wide(b + 128);
        for (b += 192, n -= 192; n >= 256; n -= 256, b += 256) {
            a = crc32_fold_wide(a, &by_2048, crc32_load_wide(b));
            x = crc32_fold_wide(x, &by_2048, crc32_load_wide(b + 64));
            y = crc32_fold_wide(y, &by_2048, crc32_load_wide(b + 128));
            z = crc32_fold_wide(z, &by_2048, crc32_load_wide(b + 192));
        }
        z = crc32_fold_wide(y, &by_512, z);
        z = crc32_fold_wide(x, &by_1024, z);
        a = crc32_fold_wide(a, &by_1536, z);
    }
    for (; n >= 64; n -= 64, b += 64)
        a = crc32_fold_wide(a, &by_512, crc32_load_wide(b));
    return crc32_end(crc32_narrow(a), b, n);
}

static const struct sk_crc32 by_vpclmul = {"vpclmul", crc32_run_vpclmul};

static const struct sk_crc32 *crc32_vectors(void) {
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("vpclmulqdq"))
        return &by_vpclmul;
    return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1") ? &by_pclmul : NULL;
}
#else
static void crc32_make_folds(void) {
}

static const struct sk_crc32 *crc32_vectors(void) {
    return NULL;
}
#endif

static void crc32_choose(void) {
    const struct sk_crc32 *vectors = crc32_vectors();

    crc32_make_tables();
    crc32_make_folds();
    best = vectors ? vectors : &by_tables;
}

const struct sk_crc32 *sk_crc32_best(void) {
    pthread_once(&once, crc32_choose);
    return best;
}

const struct sk_crc32 *sk_crc32_named(const char *name) {
    const struct sk_crc32 *fastest = sk_crc32_best();

    if (strcmp(name, by_tables.name) == 0)
        return &by_tables;
#ifdef __x86_64__
    if (strcmp(name, by_pclmul.name) == 0)
        return fastest == &by_tables ? NULL : &by_pclmul;
#endif
    return strcmp(name, fastest->name) == 0 ? fastest : NULL;
}

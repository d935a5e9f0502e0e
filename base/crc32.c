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
#include <stdbool.h>
#include <string.h>

#define POLYNOMIAL 0xedb88320u // reflected

static uint32_t tables[8][256]; // table k is of a byte with k zeros after it
// x^(8 (i - 4)) modulo the polynomial, reflected
static uint32_t powers[SK_CRC32_TAIL + 48 + 8 + 1];
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

static void crc32_make_powers(void) {
    uint32_t p = 1u << 31; // x^0

    for (int bit = 0; bit < 32; bit++)
        p = p >> 31 ? (p ^ POLYNOMIAL) << 1 | 1 : p << 1;
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++) {
        powers[i] = p;
        for (int bit = 0; bit < 8; bit++)
            p = p >> 1 ^ (p & 1 ? POLYNOMIAL : 0);
    }
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

// Of x^a and x^b: x^(a + b) modulo the polynomial, all reflected.
static uint32_t crc32_multiply(uint32_t a, uint32_t b) {
    uint32_t product = 0;

    for (uint32_t bit = 1u << 31; bit > 0; bit >>= 1) {
        if (a & bit)
            product ^= b;
        b = b >> 1 ^ (b & 1 ? POLYNOMIAL : 0);
    }
    return product;
}

// The last bytes of 'block' become those before a tail. The register is in them.
static void crc32_block_before(const struct sk_crc32_tail *tail, uint8_t block[64],
                               const uint8_t *b) {
    memset(block, 0, 64);
    memcpy(block + 64 - tail->before, b, tail->before);
    for (size_t i = 0; i < 64; i++)
        block[i] = (uint8_t)((block[i] | tail->ones[i]) ^ tail->start[i]);
}

static uint32_t crc32_before_tables(const struct sk_crc32_tail *tail, const uint8_t *b) {
    uint8_t block[64];

    crc32_block_before(tail, block, b);
    return tail->crc ^ crc32_multiply(crc32_by_tables(0, block, sizeof block), tail->power);
}

static void crc32_each_tables(uint32_t *after, uint32_t crc, const uint8_t *const *b,
                              const size_t *n, unsigned count, const uint8_t *ones) {
    for (unsigned i = 0; i < count; i++)
        after[i] = crc32_run_tables(crc, b[i], n[i], ones);
}

static const struct sk_crc32 by_tables = {"tables", crc32_run_tables, crc32_before_tables,
                                          crc32_each_tables};

#ifdef __x86_64__
#include <immintrin.h>

#define PCLMUL __attribute__((target("pclmul,sse4.1")))
#define VPCLMUL                                                                                    \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,vpclmulqdq,pclmul,sse4.1")))

// For folding by so many bits: the constants of both halves of a block.
struct crc32_fold {
    uint64_t low, high;
};
static struct crc32_fold by_128, by_512, by_2048;
// The last sixteen blocks: to the very last one, which itself is not multiplied.
static struct crc32_fold to_last[16];
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
    by_512 = crc32_folds_by(512);
    by_2048 = crc32_folds_by(2048);
    by_64 = crc32_power(64);
    for (unsigned i = 0; i < 15; i++)
        to_last[i] = crc32_folds_by(128 * (15 - i));
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

PCLMUL static uint32_t crc32_before_pclmul(const struct sk_crc32_tail *tail, const uint8_t *b) {
    uint8_t block[64];
    __m128i sum = _mm_setzero_si128();

    crc32_block_before(tail, block, b);
    for (size_t i = 0; i < 4; i++)
        sum = crc32_fold(crc32_load(block + 16 * i),
                         crc32_load((const uint8_t *)(const void *)tail->factors[i]), sum);
    return tail->crc ^ crc32_of_block(sum);
}

static void crc32_each_pclmul(uint32_t *after, uint32_t crc, const uint8_t *const *b,
                              const size_t *n, unsigned count, const uint8_t *ones) {
    for (unsigned i = 0; i < count; i++)
        after[i] = crc32_run_pclmul(crc, b[i], n[i], ones);
}

static const struct sk_crc32 by_pclmul = {"pclmul", crc32_run_pclmul, crc32_before_pclmul,
                                          crc32_each_pclmul};

VPCLMUL static inline __m512i crc32_load_wide(const uint8_t *b) {
    return _mm512_loadu_si512((const void *)b);
}

VPCLMUL static inline __m512i crc32_multiply_wide(__m512i a, __m512i by) {
    return _mm512_xor_si512(_mm512_clmulepi64_epi128(a, by, 0x00),
                            _mm512_clmulepi64_epi128(a, by, 0x11));
}

VPCLMUL static inline __m512i crc32_fold_wide(__m512i a, __m512i by, __m512i next) {
    return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(a, by, 0x00),
                                     _mm512_clmulepi64_epi128(a, by, 0x11), next, 0x96);
}

// The sum of four blocks.
VPCLMUL static inline __m128i crc32_narrow(__m512i a) {
    const __m256i two =
        _mm256_xor_si256(_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64(a, 1));
    return _mm_xor_si128(_mm256_castsi256_si128(two), _mm256_extracti128_si256(two, 1));
}

// The last 'n' of 64 places, 1 at least.
static inline uint64_t crc32_last_places(size_t n) {
    return UINT64_MAX << (64 - n);
}

// The first n bytes, 4 to 64, at the end of 64, with zeros before them, which do not count.
VPCLMUL static inline __m512i crc32_first(uint32_t crc, const uint8_t *b, size_t n,
                                          const uint8_t *ones) {
    const __mmask64 there = crc32_last_places(n);
    const __m512i before = _mm512_maskz_expand_epi8(
        UINT64_C(15) << (64 - n), _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)crc)));
    __m512i a = _mm512_maskz_loadu_epi8(there, b - (64 - n));
    if (ones)
        a = _mm512_or_si512(a, _mm512_maskz_loadu_epi8(there, ones - (64 - n)));
    return _mm512_xor_si512(a, before);
}

// Four runs of 64 bytes, of which each is folded into the one 256 bytes later, until the last four
// are left. The first run is filled up with zeros at its beginning.
struct crc32_sums {
    __m512i a, x, y, z;
};

static inline bool crc32_fits_sums(size_t n) {
    return n >= 64 && (n - 1) % 64 >= 3; // the register is four bytes
}

VPCLMUL static inline __m512i crc32_four(void) {
    return _mm512_broadcast_i32x4(crc32_factors(&by_2048));
}

// With so many of the first bytes that a multiple of 256 is left, from '*b' on, of which '*lines'
// are runs of 64.
VPCLMUL static inline struct crc32_sums crc32_begin_sums(uint32_t crc, const uint8_t **b, size_t n,
                                                         const uint8_t *ones, size_t *lines) {
    const size_t first = (n - 1) % 64 + 1;
    const uint8_t *at = *b + first;
    struct crc32_sums s = {.z = crc32_first(crc, *b, first, ones)};
    size_t left = (n - first) / 64;
    if (left > 0) {
        __m512i next = crc32_load_wide(at);
        if (ones && first < 64)
            next =
                _mm512_or_si512(next, _mm512_maskz_loadu_epi8(UINT64_MAX >> first, ones + first));
        at += 64;
        switch (left % 4) {
        case 1:
            s.y = s.z;
            s.z = next;
            left--;
            break;
        case 2:
            s.x = s.z;
            s.y = next;
            s.z = crc32_load_wide(at);
            at += 64;
            left -= 2;
            break;
        case 3:
            s.a = s.z;
            s.x = next;
            s.y = crc32_load_wide(at);
            s.z = crc32_load_wide(at + 64);
            at += 128;
            left -= 3;
            break;
        default:
            s.a = next;
            s.x = crc32_load_wide(at);
            s.y = crc32_load_wide(at + 64);
            s.z = crc32_fold_wide(s.z, crc32_four(), crc32_load_wide(at + 128));
            at += 192;
            left -= 4;
        }
    }
    *b = at;
    *lines = left;
    return s;
}

VPCLMUL static inline void crc32_go_on(struct crc32_sums *s, const uint8_t *b, size_t lines) {
    const __m512i four = crc32_four();
    for (; lines > 0; lines -= 4, b += 256) {
        s->a = crc32_fold_wide(s->a, four, crc32_load_wide(b));
        s->x = crc32_fold_wide(s->x, four, crc32_load_wide(b + 64));
        s->y = crc32_fold_wide(s->y, four, crc32_load_wide(b + 128));
        s->z = crc32_fold_wide(s->z, four, crc32_load_wide(b + 192));
    }
}

// A block that comes to the same.
VPCLMUL static inline __m128i crc32_end_sums(const struct crc32_sums *s) {
    const uint8_t *const to_end = (const uint8_t *)to_last;
    const __m512i ax = crc32_fold_wide(s->a, crc32_load_wide(to_end),
                                       crc32_multiply_wide(s->x, crc32_load_wide(to_end + 64)));
    const __m512i yz = crc32_fold_wide(s->y, crc32_load_wide(to_end + 128),
                                       crc32_multiply_wide(s->z, crc32_load_wide(to_end + 192)));
    // the last block is where it is to be
    const __m512i last = _mm512_maskz_mov_epi64(0xc0, s->z);
    return crc32_narrow(_mm512_ternarylogic_epi64(ax, yz, last, 0x96));
}

VPCLMUL static __m128i __attribute__((noinline))
crc32_block_vpclmul(uint32_t crc, const uint8_t *b, size_t n, const uint8_t *ones) {
    size_t lines;
    struct crc32_sums s = crc32_begin_sums(crc, &b, n, ones, &lines);

    crc32_go_on(&s, b, lines);
    return crc32_end_sums(&s);
}

VPCLMUL static uint32_t crc32_run_vpclmul(uint32_t crc, const uint8_t *b, size_t n,
                                          const uint8_t *ones) {
    if (!crc32_fits_sums(n))
        return crc32_run_pclmul(crc, b, n, ones);
    return crc32_of_block(crc32_block_vpclmul(crc, b, n, ones));
}

// crc32_of_block of each of four.
VPCLMUL static inline __m128i crc32_of_blocks(__m512i a) {
    const __m512i low = _mm512_set1_epi64(UINT32_MAX); // half of each half
    const __m512i barrett = _mm512_broadcast_i32x4(_mm_set_epi64x(QUOTIENT, WHOLE_POLYNOMIAL));
    const __m512i by = _mm512_broadcast_i32x4(crc32_factors(&by_128));
    const __m512i four = _mm512_set1_epi64((long long)by_64);
    const __m512i ends = _mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 13, 9, 5, 1);
    const __m512i eight =
        _mm512_xor_si512(_mm512_bsrli_epi128(a, 8), _mm512_clmulepi64_epi128(a, by, 0x10));
    a = _mm512_xor_si512(_mm512_bsrli_epi128(eight, 4),
                         _mm512_clmulepi64_epi128(_mm512_and_si512(eight, low), four, 0x00));
    const __m512i q = _mm512_clmulepi64_epi128(_mm512_and_si512(a, low), barrett, 0x10);
    a = _mm512_xor_si512(a, _mm512_clmulepi64_epi128(_mm512_and_si512(q, low), barrett, 0x00));
    return _mm512_castsi512_si128(_mm512_permutexvar_epi32(ends, a));
}

VPCLMUL static void crc32_each_vpclmul(uint32_t *after, uint32_t crc, const uint8_t *const *b,
                                       const size_t *n, unsigned count, const uint8_t *ones) {
    unsigned i = 0;

    for (; i + 4 <= count; i += 4) {
        __m512i blocks = _mm512_setzero_si512();
        unsigned k = 0;
        for (; k < 4 && crc32_fits_sums(n[i + k]); k++) {
            const __m128i block = crc32_block_vpclmul(crc, b[i + k], n[i + k], ones);
            // they move on: the first one ends in the first place
            blocks = _mm512_alignr_epi64(_mm512_castsi128_si512(block), blocks, 2);
        }
        if (k < 4) {
            for (k = i; k < i + 4; k++)
                after[k] = crc32_run_vpclmul(crc, b[k], n[k], ones);
            continue;
        }
        _mm_storeu_si128((__m128i *)(void *)(after + i), crc32_of_blocks(blocks));
    }
    for (; i < count; i++)
        after[i] = crc32_run_vpclmul(crc, b[i], n[i], ones);
}

VPCLMUL static uint32_t crc32_before_vpclmul(const struct sk_crc32_tail *tail, const uint8_t *b) {
    const size_t absent = 64 - tail->before;
    const __m512i bytes = _mm512_maskz_loadu_epi8(crc32_last_places(tail->before), b - absent);
    const __m512i a = _mm512_ternarylogic_epi64(bytes, crc32_load_wide(tail->ones),
                                                crc32_load_wide(tail->start), 0x56);
    const uint8_t *const factors = (const uint8_t *)(const void *)tail->factors;
    return tail->crc ^
           crc32_of_block(crc32_narrow(crc32_multiply_wide(a, crc32_load_wide(factors))));
}

static const struct sk_crc32 by_vpclmul = {"vpclmul", crc32_run_vpclmul, crc32_before_vpclmul,
                                           crc32_each_vpclmul};

static const struct sk_crc32 *crc32_vectors(void) {
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("vpclmulqdq"))
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
    crc32_make_powers();
    crc32_make_folds();
    __atomic_store_n(&best, vectors ? vectors : &by_tables, __ATOMIC_RELEASE);
}

const struct sk_crc32 *sk_crc32_best(void) {
    const struct sk_crc32 *chosen = __atomic_load_n(&best, __ATOMIC_ACQUIRE);

    if (__builtin_expect(!chosen, 0)) {
        pthread_once(&once, crc32_choose);
        chosen = __atomic_load_n(&best, __ATOMIC_ACQUIRE);
    }
    return chosen;
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

void sk_crc32_tail_of(struct sk_crc32_tail *tail, uint32_t crc, size_t before, const uint8_t *ones,
                      const uint8_t *bytes, size_t n) {
    memset(tail->ones, 0, sizeof tail->ones);
    memset(tail->start, 0, sizeof tail->start);
    if (ones)
        memcpy(tail->ones + 64 - before, ones, before);
    for (size_t i = 0; i < 4; i++)
        tail->start[64 - before + i] = (uint8_t)(crc >> 8 * i);
    tail->before = before;
    tail->crc = sk_crc32(0, bytes, n);
    tail->power = powers[n + 4];
    for (size_t i = 0; i < 4; i++) {
        const uint32_t *const at = &powers[n + 16 * (3 - i) + 4];
        tail->factors[i][0] = (uint64_t)at[4] << 1;
        tail->factors[i][1] = (uint64_t)at[-4] << 1;
    }
}

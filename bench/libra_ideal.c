// SPDX-License-Identifier: Apache-2.0
#include <endian.h>
#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

#include "bench/libra_rack.h"

#define SIGN     0x80000000u
#define INFINITE 0x7f800000u

struct libra_ideal {
    const uint8_t *frames;
    bool floats;
    uint32_t *cells; // [register][cell]
    void (*add)(struct libra_ideal *i, const uint8_t *pairs);
    // a gather of 16 bits reads 32
    struct {
        struct libra_adder t;
        uint32_t behind;
    } adder;
};

// ---- plain C ----

static uint32_t ideal_be(const uint8_t *at) {
    uint32_t be;
    memcpy(&be, at, sizeof be);
    return be32toh(be);
}

static void ideal_add_plain(struct libra_ideal *s, const uint8_t *pairs) {
    for (unsigned j = 0; j < LIBRA_PLACES; j++, pairs += 8) {
        uint32_t *cell = &s->cells[j * LIBRA_RACK_CELLS + ideal_be(pairs) / LIBRA_PLACES];
        const uint32_t value = ideal_be(pairs + 4);
        *cell = s->floats ? libra_add(&s->adder.t, *cell, value, NULL) : *cell + value;
    }
}

// ---- AVX-512: hosts/libra/adder.c, sixteen at a time ----

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define INLINE static inline __attribute__((always_inline))
#define ALL(x) _mm512_set1_epi32((int)(x))

AVX512 INLINE __m512i ideal_gather(const void *table, __m512i key) {
    return _mm512_and_si512(_mm512_i32gather_epi32(key, table, 2), ALL(0xffff));
}

// Signed entries.
AVX512 INLINE __m512i ideal_gather_signed(const void *table, __m512i key) {
    return _mm512_srai_epi32(_mm512_slli_epi32(_mm512_i32gather_epi32(key, table, 2), 16), 16);
}

AVX512 INLINE __m512i ideal_log2(const struct libra_adder *a, __m512i bits) {
    const __m512i m = _mm512_and_si512(_mm512_srli_epi32(bits, 12), ALL(0x7ff)),
                  dm = _mm512_and_si512(bits, ALL(0xfff)),
                  u = _mm512_and_si512(_mm512_add_epi32(ideal_gather(a->log_dm, dm),
                                                        ideal_gather_signed(a->log_mln2, m)),
                                       ALL(0xffff)),
                  e = _mm512_sub_epi32(_mm512_srli_epi32(bits, 23), ALL(127));
    return _mm512_add_epi32(_mm512_add_epi32(_mm512_slli_epi32(e, 16), ideal_gather(a->log_m, m)),
                            ideal_gather(a->term, u));
}

// Of ordinary magnitudes; 'others': places where one is not.
AVX512 INLINE __m512i ideal_sum(const struct libra_adder *a, __m512i x, __m512i y,
                                __mmask16 *others) {
    const __m512i px = _mm512_and_si512(x, ALL(~SIGN)), py = _mm512_and_si512(y, ALL(~SIGN)),
                  ex = _mm512_srli_epi32(px, 23), ey = _mm512_srli_epi32(py, 23);
    *others = _mm512_cmpgt_epu32_mask(_mm512_sub_epi32(ex, ALL(1)), ALL(253)) |
              _mm512_cmpgt_epu32_mask(_mm512_sub_epi32(ey, ALL(1)), ALL(253));
    const __mmask16 less = _mm512_cmplt_epu32_mask(px, py);
    const __m512i big = _mm512_mask_mov_epi32(x, less, y), lx = ideal_log2(a, px),
                  ly = ideal_log2(a, py), l = _mm512_mask_mov_epi32(lx, less, ly),
                  apart = _mm512_sub_epi32(l, _mm512_mask_mov_epi32(ly, less, lx)),
                  z = _mm512_max_epi32(_mm512_srai_epi32(_mm512_add_epi32(apart, ALL(16)), 5),
                                       ALL(0));
    const __mmask16 far = _mm512_cmpgt_epu32_mask(z, ALL(65535)),
                    minus = _mm512_movepi32_mask(_mm512_xor_si512(x, y));
    const __m512i key = _mm512_min_epu32(z, ALL(65535));
    __m512i sigma = ideal_gather(a->sigma, key);
    if (minus) {
        const __mmask16 near = minus & _mm512_cmplt_epu32_mask(z, ALL(2048));
        const __m512i other = _mm512_and_si512(
            _mm512_mask_i32gather_epi32(sigma, minus & ~near, key, a->minus, 2), ALL(0xffff));
        const __m512i nearer = _mm512_slli_epi32(
            _mm512_and_si512(_mm512_mask_i32gather_epi32(sigma, near, key, a->near, 2),
                             ALL(0xffff)),
            4);
        sigma = _mm512_mask_sub_epi32(sigma, minus & ~near, ALL(0), other);
        sigma = _mm512_mask_sub_epi32(sigma, near, ALL(0), nearer);
    }
    const __m512i t = _mm512_add_epi32(l, sigma),
                  e = _mm512_add_epi32(_mm512_srai_epi32(t, 16), ALL(127)),
                  sign = _mm512_and_si512(big, ALL(SIGN)),
                  f = _mm512_slli_epi32(ideal_gather(a->power, _mm512_and_si512(t, ALL(0xffff))),
                                        7);
    __m512i sum = _mm512_or_si512(sign, _mm512_or_si512(_mm512_slli_epi32(e, 23), f));
    sum = _mm512_mask_mov_epi32(sum, _mm512_cmple_epi32_mask(e, ALL(0)), sign);
    sum = _mm512_mask_mov_epi32(sum, _mm512_cmpge_epi32_mask(e, ALL(255)),
                                _mm512_or_si512(sign, ALL(INFINITE)));
    sum = _mm512_mask_mov_epi32(sum, far | _mm512_cmpeq_epi32_mask(sigma, ALL(0)), big);
    return _mm512_mask_mov_epi32(sum, minus & ~far & _mm512_cmpeq_epi32_mask(z, ALL(0)), ALL(0));
}

AVX512 static void ideal_add_avx512(struct libra_ideal *s, const uint8_t *pairs) {
    const __m512i swap = _mm512_broadcast_i32x4(
                      _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12)),
                  even =
                      _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30),
                  odd = _mm512_add_epi32(even, ALL(1)),
                  bases = _mm512_mullo_epi32(
                      _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                      ALL(LIBRA_RACK_CELLS)),
                  low = _mm512_shuffle_epi8(_mm512_loadu_si512(pairs), swap),
                  high = _mm512_shuffle_epi8(_mm512_loadu_si512(pairs + 64), swap),
                  value = _mm512_permutex2var_epi32(low, odd, high),
                  at = _mm512_add_epi32(
                      _mm512_srli_epi32(_mm512_permutex2var_epi32(low, even, high), 4), bases),
                  held = _mm512_i32gather_epi32(at, s->cells, 4);
    __mmask16 others = 0;
    const __m512i sum =
        s->floats ? ideal_sum(&s->adder.t, held, value, &others) : _mm512_add_epi32(held, value);
    _mm512_mask_i32scatter_epi32(s->cells, (__mmask16)~others, at, sum, 4);
    for (unsigned j = 0; others; j++, others >>= 1)
        if (others & 1) {
            const uint8_t *pair = pairs + 8 * j;
            uint32_t *cell = &s->cells[j * LIBRA_RACK_CELLS + ideal_be(pair) / LIBRA_PLACES];
            *cell = libra_add(&s->adder.t, *cell, ideal_be(pair + 4), NULL);
        }
}

// ---- the whole ----

static bool ideal_is_wide(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

const char *libra_ideal_isa(void) {
    return ideal_is_wide() ? "AVX-512" : "plain C";
}

uint64_t libra_ideal_work(void *aux, uint64_t times) {
    struct libra_ideal *s = aux;
    for (uint64_t t = 0; t < times; t++)
        for (unsigned p = 0; p < LIBRA_RACK_PACKETS; p++)
            s->add(s, s->frames + (size_t)p * LIBRA_RACK_STRIDE + LIBRA_HEADERS);
    return times * LIBRA_RACK_PACKETS;
}

// What the best does against plain C, after so many rounds that sums grow, cancel and stay.
static void ideal_check(struct libra_ideal *s,
                        void (*best)(struct libra_ideal *, const uint8_t *)) {
    const size_t size = (size_t)LIBRA_PLACES * LIBRA_RACK_CELLS * sizeof *s->cells;
    uint32_t *plain = malloc(size);
    if (!plain)
        abort();
    for (int pass = 0; pass < 2; pass++) {
        memset(s->cells, 0, size);
        for (size_t i = 0; i < size / sizeof *s->cells; i++) // magnitudes and signs of all kinds
            s->cells[i] = s->floats ? (uint32_t)(i * 2654435761u) : 0;
        s->add = pass ? best : ideal_add_plain;
        libra_ideal_work(s, 3);
        if (pass == 0)
            memcpy(plain, s->cells, size);
    }
    if (memcmp(plain, s->cells, size) != 0)
        rig_give_up("the bare loop does not add up libra's packets");
    free(plain);
    memset(s->cells, 0, size);
}

struct libra_ideal *libra_ideal_new(const struct libra_rack *r) {
    struct libra_ideal *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->frames = r->frames;
    s->floats = r->floats;
    s->adder.t = *libra_adder();
    s->cells = aligned_alloc(64, (size_t)LIBRA_PLACES * LIBRA_RACK_CELLS * sizeof *s->cells);
    if (!s->cells)
        abort();
    ideal_check(s, ideal_is_wide() ? ideal_add_avx512 : ideal_add_plain);
    return s;
}

void libra_ideal_free(struct libra_ideal *s) {
    free(s->cells);
    free(s);
}

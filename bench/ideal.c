// SPDX-License-Identifier: Apache-2.0
#include "bench/ideal.h"

#include <endian.h>
#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

#include "bench/rig.h"
#include "hosts/switchml/frame.h"

typedef void add_fn(uint32_t *slot, const uint8_t *values, unsigned k, bool first);

struct ideal {
    struct ideal_load load;
    unsigned room;   // values of a slot: k, and what a vector is longer
    uint32_t *slots; // in host order, for each batch and slot
    add_fn *add;
};

#define VECTOR 16u // values of the widest
#define INLINE static inline __attribute__((always_inline))

static uint32_t add_one(uint32_t a, uint32_t b, bool saturating) {
    int32_t sum;
    if (saturating && (a == 0x7fffffffu || a == UINT32_C(0x80000000)))
        return a;
    if (!__builtin_add_overflow((int32_t)a, (int32_t)b, &sum) || !saturating)
        return (uint32_t)sum;
    return a >> 31 ? UINT32_C(0x80000000) : 0x7fffffffu;
}

INLINE void plain(uint32_t *slot, const uint8_t *values, unsigned k, bool first, bool saturating) {
    for (unsigned i = 0; i < k; i++) {
        uint32_t be;
        memcpy(&be, values + 4 * i, 4);
        slot[i] = first ? be32toh(be) : add_one(slot[i], be32toh(be), saturating);
    }
}

#define AVX2 __attribute__((target("avx2")))
AVX2 INLINE __m256i sum_avx2(__m256i a, __m256i b, bool saturating) {
    const __m256i sum = _mm256_add_epi32(a, b);
    if (!saturating)
        return sum;
    const __m256i limit = _mm256_xor_si256(_mm256_srai_epi32(a, 31), _mm256_set1_epi32(0x7fffffff));
    const __m256i over =
        _mm256_or_si256(_mm256_and_si256(_mm256_xor_si256(a, sum), _mm256_xor_si256(b, sum)),
                        _mm256_cmpeq_epi32(a, limit));
    // chooses by the sign
    return _mm256_castps_si256(_mm256_blendv_ps(
        _mm256_castsi256_ps(sum), _mm256_castsi256_ps(limit), _mm256_castsi256_ps(over)));
}

AVX2 INLINE void avx2(uint32_t *slot, const uint8_t *values, unsigned k, bool first,
                      bool saturating) {
    const __m256i swap = _mm256_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 3,
                                          2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
#pragma GCC unroll 4
    for (unsigned i = 0; i < k; i += 8) {
        __m256i v =
            _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i *)(values + 4 * i)), swap);
        if (!first)
            v = sum_avx2(_mm256_load_si256((const __m256i *)(slot + i)), v, saturating);
        _mm256_store_si256((__m256i *)(slot + i), v);
    }
}

#define AVX512 __attribute__((target("avx512f,avx512bw")))
AVX512 INLINE __m512i sum_avx512(__m512i a, __m512i b, bool saturating) {
    const __m512i sum = _mm512_add_epi32(a, b);
    if (!saturating)
        return sum;
    const __m512i limit = _mm512_xor_si512(_mm512_srai_epi32(a, 31), _mm512_set1_epi32(0x7fffffff));
    const __m512i over = _mm512_and_si512(_mm512_xor_si512(a, sum), _mm512_xor_si512(b, sum));
    return _mm512_mask_mov_epi32(sum,
                                 _mm512_cmplt_epi32_mask(over, _mm512_setzero_si512()) |
                                     _mm512_cmpeq_epi32_mask(a, limit),
                                 limit);
}

AVX512 INLINE void avx512(uint32_t *slot, const uint8_t *values, unsigned k, bool first,
                          bool saturating) {
    const __m512i swap =
        _mm512_broadcast_i32x4(_mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
#pragma GCC unroll 4
    for (unsigned i = 0; i < k; i += 16) {
        __m512i v = _mm512_shuffle_epi8(_mm512_loadu_si512(values + 4 * i), swap);
        if (!first)
            v = sum_avx512(_mm512_load_si512(slot + i), v, saturating);
        _mm512_store_si512(slot + i, v);
    }
}

// Each twice, once for either kind of sum, with its loop twice for the first packet and the others.
#define ADDERS(isa, target)                                                                        \
    target static void add_##isa(uint32_t *slot, const uint8_t *values, unsigned k, bool first) {  \
        if (first)                                                                                 \
            isa(slot, values, k, true, false);                                                     \
        else                                                                                       \
            isa(slot, values, k, false, false);                                                    \
    }                                                                                              \
    target static void saturate_##isa(uint32_t *slot, const uint8_t *values, unsigned k,           \
                                      bool first) {                                                \
        if (first)                                                                                 \
            isa(slot, values, k, true, true);                                                      \
        else                                                                                       \
            isa(slot, values, k, false, true);                                                     \
    }
ADDERS(plain, )
ADDERS(avx2, AVX2)
ADDERS(avx512, AVX512)

static add_fn *best(bool saturating, const char **name) {
    __builtin_cpu_init();
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
    const bool narrow = __builtin_cpu_supports("avx2");
    *name = wide ? "AVX-512" : narrow ? "AVX2" : "plain C";
    if (saturating)
        return wide ? saturate_avx512 : narrow ? saturate_avx2 : saturate_plain;
    return wide ? add_avx512 : narrow ? add_avx2 : add_plain;
}

const char *ideal_isa(void) {
    const char *name;
    best(false, &name);
    return name;
}

static const uint8_t *values_of(const struct ideal_load *l, unsigned batch, unsigned sender,
                                unsigned slot) {
    const size_t frame = ((size_t)batch * l->rows + sender) * l->slots + slot;
    return l->frames + frame * l->stride + l->values_at;
}

uint64_t ideal_work(void *aux, uint64_t times) {
    const struct ideal *ideal = aux;
    const struct ideal_load *l = &ideal->load;
    for (uint64_t t = 0; t < times; t++)
        for (unsigned b = 0; b < l->batches; b++)
            for (unsigned w = 0; w < l->senders; w++)
                for (unsigned s = 0; s < l->slots; s++)
                    ideal->add(ideal->slots + (size_t)(b * l->slots + s) * ideal->room,
                               values_of(l, b, w, s), l->k, w == 0);
    return times * l->counted;
}

static void check_slot(const struct ideal *ideal, unsigned batch, unsigned slot) {
    const struct ideal_load *l = &ideal->load;
    for (unsigned i = 0; i < l->k; i++) {
        int64_t sum = 0;
        for (unsigned w = 0; w < l->senders; w++) {
            uint32_t be;
            memcpy(&be, values_of(l, batch, w, slot) + 4 * i, 4);
            if (l->saturating && (sum == INT32_MAX || sum == INT32_MIN))
                continue;
            sum += (int32_t)be32toh(be);
            if (l->saturating)
                sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
        }
        if (ideal->slots[(size_t)(batch * l->slots + slot) * ideal->room + i] != (uint32_t)sum)
            rig_give_up("the bare loop does not add up %s", l->packets);
    }
}

struct ideal *ideal_new(const struct ideal_load *load) {
    const char *name;
    struct ideal *ideal = calloc(1, sizeof *ideal);
    if (!ideal)
        abort();
    ideal->load = *load;
    ideal->add = best(load->saturating, &name);
    ideal->room = (load->k + VECTOR - 1) / VECTOR * VECTOR;
    ideal->slots = aligned_alloc(64, (size_t)load->batches * load->slots * ideal->room * 4);
    if (!ideal->slots)
        abort();
    ideal_work(ideal, 2);
    for (unsigned b = 0; b < load->batches; b++)
        for (unsigned s = 0; s < load->slots; s++)
            check_slot(ideal, b, s);
    return ideal;
}

void ideal_free(struct ideal *ideal) {
    free(ideal->slots);
    free(ideal);
}

struct ideal_load ideal_of_rack(const struct rack *r) {
    return (struct ideal_load){.frames = r->frames,
                               .stride = r->stride,
                               .values_at = SWML_HEADER_BYTES,
                               .k = r->k,
                               .batches = 2,
                               .rows = RACK_WORKERS,
                               .slots = RACK_SLOTS,
                               .senders = RACK_WORKERS,
                               .packets = "switchml's packets",
                               .counted = RACK_PACKETS};
}

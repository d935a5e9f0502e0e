// SPDX-License-Identifier: Apache-2.0
#include "bench/ideal.h"

#include <endian.h>
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/switchml/frame.h"

typedef void add_fn(uint32_t *slot, const uint8_t *elements, unsigned k, bool first);

struct ideal {
    const struct rack *rack;
    uint32_t *slots; // k elements in host order, for each version and slot
    add_fn *add;
};

static void add_plain(uint32_t *slot, const uint8_t *elements, unsigned k, bool first) {
    for (unsigned i = 0; i < k; i++) {
        uint32_t be;
        memcpy(&be, elements + 4 * i, 4);
        slot[i] = be32toh(be) + (first ? 0 : slot[i]);
    }
}

__attribute__((target("avx2"))) static void add_avx2(uint32_t *slot, const uint8_t *elements,
                                                     unsigned k, bool first) {
    const __m256i swap = _mm256_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 3,
                                          2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
    if (first) {
#pragma GCC unroll 4
        for (unsigned i = 0; i < k; i += 8) {
            __m256i v = _mm256_loadu_si256((const __m256i *)(elements + 4 * i));
            _mm256_store_si256((__m256i *)(slot + i), _mm256_shuffle_epi8(v, swap));
        }
        return;
    }
#pragma GCC unroll 4
    for (unsigned i = 0; i < k; i += 8) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(elements + 4 * i));
        __m256i sum = _mm256_add_epi32(_mm256_shuffle_epi8(v, swap),
                                       _mm256_load_si256((const __m256i *)(slot + i)));
        _mm256_store_si256((__m256i *)(slot + i), sum);
    }
}

__attribute__((target("avx512f,avx512bw"))) static void
add_avx512(uint32_t *slot, const uint8_t *elements, unsigned k, bool first) {
    const __m512i swap =
        _mm512_broadcast_i32x4(_mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
    if (first) {
#pragma GCC unroll 4
        for (unsigned i = 0; i < k; i += 16)
            _mm512_store_si512(slot + i,
                               _mm512_shuffle_epi8(_mm512_loadu_si512(elements + 4 * i), swap));
        return;
    }
#pragma GCC unroll 4
    for (unsigned i = 0; i < k; i += 16) {
        __m512i v = _mm512_shuffle_epi8(_mm512_loadu_si512(elements + 4 * i), swap);
        _mm512_store_si512(slot + i, _mm512_add_epi32(v, _mm512_load_si512(slot + i)));
    }
}

static add_fn *best(const char **name) {
    __builtin_cpu_init();
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
    bool avx2 = __builtin_cpu_supports("avx2");
    *name = avx512 ? "AVX-512" : avx2 ? "AVX2" : "plain C";
    return avx512 ? add_avx512 : avx2 ? add_avx2 : add_plain;
}

const char *ideal_isa(void) {
    const char *name;
    best(&name);
    return name;
}

uint64_t ideal_work(void *aux, uint64_t times) {
    const struct ideal *ideal = aux;
    const struct rack *r = ideal->rack;
    for (uint64_t t = 0; t < times; t++)
        for (unsigned v = 0; v < 2; v++)
            for (unsigned w = 0; w < RACK_WORKERS; w++)
                for (unsigned s = 0; s < RACK_SLOTS; s++)
                    ideal->add(ideal->slots + (size_t)(v * RACK_SLOTS + s) * r->k,
                               rack_frame(r, v, w, s) + SWML_HEADER_BYTES, r->k, w == 0);
    return times * RACK_PACKETS;
}

static void check(const struct ideal *ideal) {
    const struct rack *r = ideal->rack;
    ideal_work((void *)ideal, 2);
    for (unsigned at = 0; at < 2 * RACK_SLOTS; at++)
        for (unsigned i = 0; i < r->k; i++) {
            uint32_t sum = 0, be;
            for (unsigned w = 0; w < RACK_WORKERS; w++) {
                memcpy(&be,
                       rack_frame(r, at / RACK_SLOTS, w, at % RACK_SLOTS) + SWML_HEADER_BYTES +
                           4 * i,
                       4);
                sum += be32toh(be);
            }
            if (ideal->slots[(size_t)at * r->k + i] != sum) {
                fprintf(stderr, "bench: the bare loop does not add up\n");
                exit(1);
            }
        }
}

struct ideal *ideal_new(const struct rack *r) {
    const char *name;
    struct ideal *ideal = calloc(1, sizeof *ideal);
    if (!ideal)
        abort();
    ideal->rack = r;
    ideal->add = best(&name);
    ideal->slots = aligned_alloc(64, (size_t)2 * RACK_SLOTS * r->k * 4);
    if (!ideal->slots)
        abort();
    check(ideal);
    return ideal;
}

void ideal_free(struct ideal *ideal) {
    free(ideal->slots);
    free(ideal);
}

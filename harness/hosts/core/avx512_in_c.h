// SPDX-License-Identifier: Apache-2.0
//
// avx512_in_c.h: the AVX-512 instructions that hosts/core/quantise.c uses, in C.
//
// Included before quantise.c by a test, so that what the AVX-512 code computes is known on
// processors without them: the same source with these functions in place of the intrinsics. Each
// does what Intel's manual says of the instruction, lane by lane; conversions round as the
// processor's scalar instructions of the same kind do. Bits that an intrinsic leaves undefined are
// set to something that no test expects.
#ifndef SILKEN_HARNESS_HOSTS_CORE_AVX512_IN_C_H
#define SILKEN_HARNESS_HOSTS_CORE_AVX512_IN_C_H

#include <immintrin.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef union {
    float f[16];
    double d[8];
    int32_t i[16];
    uint32_t u[16];
    uint64_t q[8];
    uint8_t b[64];
    __m256 half_f[2];
    __m256d half_d[2];
    __m256i half_i[2];
} zmm;

#define EACH(count) for (int i = 0; i < (count); i++)

static inline zmm zmm_undefined(void) {
    zmm v;

    memset(&v, 0xee, sizeof v);
    return v;
}

static inline zmm zmm_from_128(__m128i x) {
    zmm v;

    EACH(4) {
        memcpy(v.b + 16 * i, &x, 16);
    }
    return v;
}

static inline zmm zmm_low_d(__m256d x) {
    zmm v = zmm_undefined();

    v.half_d[0] = x;
    return v;
}

static inline zmm zmm_low_i(__m256i x) {
    zmm v = zmm_undefined();

    v.half_i[0] = x;
    return v;
}

static inline zmm zmm_insert_d(zmm v, __m256d x, int half) {
    v.half_d[half] = x;
    return v;
}

static inline zmm zmm_insert_i(zmm v, __m256i x, int half) {
    v.half_i[half] = x;
    return v;
}

static inline zmm zmm_and(zmm a, zmm b) {
    EACH(8) {
        a.q[i] &= b.q[i];
    }
    return a;
}

static inline zmm zmm_max_u32(zmm a, zmm b) {
    EACH(16) {
        a.u[i] = a.u[i] > b.u[i] ? a.u[i] : b.u[i];
    }
    return a;
}

static inline uint32_t zmm_reduce_max_u32(zmm a) {
    uint32_t max = 0;

    EACH(16) {
        max = a.u[i] > max ? a.u[i] : max;
    }
    return max;
}

static inline zmm zmm_mul_d(zmm a, zmm b) {
    EACH(8) {
        a.d[i] *= b.d[i];
    }
    return a;
}

static inline zmm zmm_mul_f(zmm a, zmm b) {
    EACH(16) {
        a.f[i] *= b.f[i];
    }
    return a;
}

static inline zmm zmm_set_i(int32_t x) {
    zmm v;

    EACH(16) {
        v.i[i] = x;
    }
    return v;
}

static inline zmm zmm_set_d(double x) {
    zmm v;

    EACH(8) {
        v.d[i] = x;
    }
    return v;
}

static inline zmm zmm_set_f(float x) {
    zmm v;

    EACH(16) {
        v.f[i] = x;
    }
    return v;
}

static inline zmm zmm_i32_to_f(zmm x) {
    zmm v;

    EACH(16) {
        v.f[i] = (float)x.i[i];
    }
    return v;
}

static inline zmm zmm_f_to_i32(zmm x) {
    zmm v;

    EACH(16) {
        v.i[i] = _mm_cvtss_si32(_mm_set_ss(x.f[i]));
    }
    return v;
}

static inline zmm zmm_i32_to_d(__m256i x) {
    int32_t from[8];
    zmm v;

    memcpy(from, &x, sizeof from);
    EACH(8) {
        v.d[i] = from[i];
    }
    return v;
}

static inline __m256i zmm_d_to_i32(zmm x) {
    int32_t to[8];
    __m256i v;

    EACH(8) {
        to[i] = _mm_cvtsd_si32(_mm_set_sd(x.d[i]));
    }
    memcpy(&v, to, sizeof v);
    return v;
}

static inline zmm zmm_f_to_d(__m256 x) {
    float from[8];
    zmm v;

    memcpy(from, &x, sizeof from);
    EACH(8) {
        v.d[i] = (double)from[i];
    }
    return v;
}

static inline __m256 zmm_d_to_f(zmm x) {
    float to[8];
    __m256 v;

    EACH(8) {
        to[i] = (float)x.d[i];
    }
    memcpy(&v, to, sizeof v);
    return v;
}

// Within each quarter; an index with its top bit set makes a zero.
static inline zmm zmm_shuffle_bytes(zmm a, zmm order) {
    zmm v;

    EACH(64) {
        v.b[i] = order.b[i] & 0x80 ? 0 : a.b[(i & ~15) + (order.b[i] & 15)];
    }
    return v;
}

static inline zmm zmm_load(const void *p) {
    zmm v;

    memcpy(&v, p, sizeof v);
    return v;
}

static inline zmm zmm_load_lanes(uint16_t lanes, const void *p) {
    zmm v = zmm_set_i(0);

    EACH(16) {
        if (lanes >> i & 1)
            memcpy(&v.i[i], (const char *)p + 4 * i, 4);
    }
    return v;
}

static inline void zmm_store_lanes(void *p, uint16_t lanes, zmm v) {
    EACH(16) {
        if (lanes >> i & 1)
            memcpy((char *)p + 4 * i, &v.i[i], 4);
    }
}

// The processor raises a fault where the address is not a multiple of 64.
static inline void zmm_stream(void *p, zmm v) {
    if ((uintptr_t)p % 64 != 0)
        abort();
    memcpy(p, &v, sizeof v);
}

#define __m512                          zmm
#define __m512d                         zmm
#define __m512i                         zmm
#define __mmask16                       uint16_t
#define _mm512_and_si512                zmm_and
#define _mm512_broadcast_i32x4          zmm_from_128
#define _mm512_castpd256_pd512          zmm_low_d
#define _mm512_castpd_ps(x)             (x)
#define _mm512_castps_pd(x)             (x)
#define _mm512_castps512_ps256(x)       ((x).half_f[0])
#define _mm512_castsi256_si512          zmm_low_i
#define _mm512_castsi512_si256(x)       ((x).half_i[0])
#define _mm512_cvtepi32_pd              zmm_i32_to_d
#define _mm512_cvtepi32_ps              zmm_i32_to_f
#define _mm512_cvtpd_epi32              zmm_d_to_i32
#define _mm512_cvtpd_ps                 zmm_d_to_f
#define _mm512_cvtps_epi32              zmm_f_to_i32
#define _mm512_cvtps_pd                 zmm_f_to_d
#define _mm512_extractf64x4_pd(x, h)    ((x).half_d[h])
#define _mm512_extracti64x4_epi64(x, h) ((x).half_i[h])
#define _mm512_insertf64x4              zmm_insert_d
#define _mm512_inserti64x4              zmm_insert_i
#define _mm512_loadu_si512              zmm_load
#define _mm512_mask_storeu_epi32        zmm_store_lanes
#define _mm512_mask_storeu_ps           zmm_store_lanes
#define _mm512_maskz_loadu_epi32        zmm_load_lanes
#define _mm512_maskz_loadu_ps           zmm_load_lanes
#define _mm512_max_epu32                zmm_max_u32
#define _mm512_mul_pd                   zmm_mul_d
#define _mm512_mul_ps                   zmm_mul_f
#define _mm512_reduce_max_epu32         zmm_reduce_max_u32
#define _mm512_set1_epi32               zmm_set_i
#define _mm512_set1_pd                  zmm_set_d
#define _mm512_set1_ps                  zmm_set_f
#define _mm512_setzero_si512()          zmm_set_i(0)
#define _mm512_shuffle_epi8             zmm_shuffle_bytes
#define _mm512_stream_ps                zmm_stream

#endif

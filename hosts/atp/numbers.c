// SPDX-License-Identifier: Apache-2.0
#include "hosts/atp/numbers.h"

#include <endian.h>
#include <math.h>
#include <string.h>

#include "hosts/atp/frame.h"

// Bodies are written once; each set of functions has them inlined and vectorised for its
// processor.
#define BODY static inline __attribute__((always_inline))

BODY int32_t load(const uint8_t *p) {
    uint32_t v;

    memcpy(&v, p, sizeof v);
    return (int32_t)__builtin_bswap32(v);
}

BODY void store(uint8_t *p, uint32_t v) {
    v = __builtin_bswap32(v);
    memcpy(p, &v, sizeof v);
}

BODY float load_float(const uint8_t *p) {
    int32_t bits = load(p);
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

BODY void store_float(uint8_t *p, float x) {
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    store(p, bits);
}

BODY bool any_saturated(const uint8_t *src) {
    uint32_t found = 0;

    for (int i = 0; i < ATP_VALUES; i++) {
        uint32_t v; // as it lies there
        memcpy(&v, src + 4 * i, sizeof v);
        found |=
            (unsigned)(v == htobe32(INT32_MAX)) | (unsigned)(v == htobe32((uint32_t)INT32_MIN));
    }
    return found != 0;
}

BODY void all_to_floats(uint8_t *restrict dst, const uint8_t *restrict src, double inverse) {
    for (int i = 0; i < ATP_VALUES; i++)
        store_float(dst + 4 * i, (float)((double)load(src + 4 * i) * inverse));
}

BODY void all_begin(int64_t *restrict sum, const uint8_t *restrict src) {
    for (int i = 0; i < ATP_VALUES; i++)
        sum[i] = load(src + 4 * i);
}

BODY void all_add(int64_t *restrict sum, const uint8_t *restrict src) {
    for (int i = 0; i < ATP_VALUES; i++)
        sum[i] += load(src + 4 * i);
}

BODY int64_t integer(const uint8_t *p) {
    int32_t v = load(p);

    return v == INT32_MAX ? ATP_BEYOND : v == INT32_MIN ? -ATP_BEYOND : v;
}

BODY void all_begin_integers(int64_t *restrict sum, const uint8_t *restrict src) {
    for (int i = 0; i < ATP_VALUES; i++)
        sum[i] = integer(src + 4 * i);
}

BODY void all_add_integers(int64_t *restrict sum, const uint8_t *restrict src) {
    for (int i = 0; i < ATP_VALUES; i++)
        sum[i] += integer(src + 4 * i);
}

BODY void all_begin_floats(double *restrict sum, const uint8_t *restrict src) {
    for (int i = 0; i < ATP_VALUES; i++)
        sum[i] = (double)load_float(src + 4 * i);
}

BODY void all_add_floats(double *restrict sum, const uint8_t *restrict src) {
    for (int i = 0; i < ATP_VALUES; i++)
        sum[i] += (double)load_float(src + 4 * i);
}

// An integer between -2^51 and 2^51, as a sum of 1024 values is: added to 1.5 * 2^52 it is in the
// lower bits of that double. AVX2 has no instruction for it.
BODY double exact(int64_t v) {
    const double base = 0x1.8p52;
    int64_t bits;
    double x;

    memcpy(&bits, &base, sizeof bits);
    bits += v;
    memcpy(&x, &bits, sizeof x);
    return x - base;
}

BODY void all_sums_to_floats(uint8_t *restrict dst, const int64_t *restrict sum, double inverse) {
    for (int i = 0; i < ATP_VALUES; i++)
        store_float(dst + 4 * i, (float)(exact(sum[i]) * inverse));
}

BODY void all_sums_to_integers(uint8_t *restrict dst, const int64_t *restrict sum) {
    for (int i = 0; i < ATP_VALUES; i++) {
        int64_t v = sum[i] > INT32_MAX ? INT32_MAX : sum[i] < INT32_MIN ? INT32_MIN : sum[i];
        store(dst + 4 * i, (uint32_t)v);
    }
}

BODY void all_doubles_to_floats(uint8_t *restrict dst, const double *restrict sum) {
    for (int i = 0; i < ATP_VALUES; i++)
        store_float(dst + 4 * i, (float)sum[i]);
}

BODY uint32_t greatest_of(const uint8_t *src) {
    uint32_t greatest = 0;

    for (int i = 0; i < ATP_VALUES; i++) {
        int32_t v = load(src + 4 * i);
        uint32_t magnitude = v < 0 ? -(uint32_t)v : (uint32_t)v;
        greatest = magnitude > greatest ? magnitude : greatest;
    }
    return greatest;
}

BODY float greatest_float_of(const uint8_t *src) {
    float greatest = 0;

    for (int i = 0; i < ATP_VALUES; i++) {
        float x = __builtin_fabsf(load_float(src + 4 * i));
        greatest = x > greatest ? x : greatest;
    }
    return greatest;
}

#define FUNCTIONS(set, ATTRIBUTES)                                                                 \
    ATTRIBUTES static bool set##_saturated(const uint8_t *src) {                                   \
        return any_saturated(src);                                                                 \
    }                                                                                              \
    ATTRIBUTES static void set##_to_floats(uint8_t *dst, const uint8_t *src, double inverse) {     \
        all_to_floats(dst, src, inverse);                                                          \
    }                                                                                              \
    ATTRIBUTES static void set##_begin(int64_t *sum, const uint8_t *src) {                         \
        all_begin(sum, src);                                                                       \
    }                                                                                              \
    ATTRIBUTES static void set##_add(int64_t *sum, const uint8_t *src) {                           \
        all_add(sum, src);                                                                         \
    }                                                                                              \
    ATTRIBUTES static void set##_begin_integers(int64_t *sum, const uint8_t *src) {                \
        all_begin_integers(sum, src);                                                              \
    }                                                                                              \
    ATTRIBUTES static void set##_add_integers(int64_t *sum, const uint8_t *src) {                  \
        all_add_integers(sum, src);                                                                \
    }                                                                                              \
    ATTRIBUTES static void set##_begin_floats(double *sum, const uint8_t *src) {                   \
        all_begin_floats(sum, src);                                                                \
    }                                                                                              \
    ATTRIBUTES static void set##_add_floats(double *sum, const uint8_t *src) {                     \
        all_add_floats(sum, src);                                                                  \
    }                                                                                              \
    ATTRIBUTES static void set##_sums_to_floats(uint8_t *dst, const int64_t *sum,                  \
                                                double inverse) {                                  \
        all_sums_to_floats(dst, sum, inverse);                                                     \
    }                                                                                              \
    ATTRIBUTES static void set##_sums_to_integers(uint8_t *dst, const int64_t *sum) {              \
        all_sums_to_integers(dst, sum);                                                            \
    }                                                                                              \
    ATTRIBUTES static void set##_doubles_to_floats(uint8_t *dst, const double *sum) {              \
        all_doubles_to_floats(dst, sum);                                                           \
    }                                                                                              \
    ATTRIBUTES static uint32_t set##_greatest(const uint8_t *src) {                                \
        return greatest_of(src);                                                                   \
    }                                                                                              \
    ATTRIBUTES static float set##_greatest_float(const uint8_t *src) {                             \
        return greatest_float_of(src);                                                             \
    }                                                                                              \
    static const struct atp_numbers set = {                                                        \
        .name = #set,                                                                              \
        .saturated = set##_saturated,                                                              \
        .to_floats = set##_to_floats,                                                              \
        .begin = set##_begin,                                                                      \
        .add = set##_add,                                                                          \
        .begin_integers = set##_begin_integers,                                                    \
        .add_integers = set##_add_integers,                                                        \
        .begin_floats = set##_begin_floats,                                                        \
        .add_floats = set##_add_floats,                                                            \
        .sums_to_floats = set##_sums_to_floats,                                                    \
        .sums_to_integers = set##_sums_to_integers,                                                \
        .doubles_to_floats = set##_doubles_to_floats,                                              \
        .greatest = set##_greatest,                                                                \
        .greatest_float = set##_greatest_float,                                                    \
    };

#ifdef __clang__ // vectorises at -O2
#define OPTIMIZE(level)
#else
#define OPTIMIZE(level) __attribute__((optimize(level)))
#endif

FUNCTIONS(scalar, OPTIMIZE("O2"))
FUNCTIONS(avx2, OPTIMIZE("O3") __attribute__((target("avx2"))))

const struct atp_numbers *atp_numbers_named(const char *name) {
    if (strcmp(name, "avx2") == 0)
        return __builtin_cpu_supports("avx2") ? &avx2 : NULL;
    return strcmp(name, "scalar") == 0 ? &scalar : NULL;
}

const struct atp_numbers *atp_numbers_best(void) {
    return __builtin_cpu_supports("avx2") ? &avx2 : &scalar;
}

#define INFINITY_BITS UINT32_C(0x7f800000)

// Whether the float with these bits, without sign, becomes a small enough number.
static bool is_small(uint32_t bits, uint32_t greatest, double scale) {
    float x;

    memcpy(&x, &bits, sizeof x);
    return nearbyint((double)x * scale) <= greatest;
}

uint32_t atp_largest_bits(uint32_t greatest, double scale) {
    uint32_t small = 0, large = INFINITY_BITS;

    while (large - small > 1) {
        uint32_t middle = small + (large - small) / 2;
        *(is_small(middle, greatest, scale) ? &small : &large) = middle;
    }
    return small;
}

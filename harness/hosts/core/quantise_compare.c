// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "harness/hosts/core/quantise_compare.h"
#include "harness/hosts/random.h"

#define MAX_N    300
#define CANARY   0xa5
#define RESERVED 64

static float float_of_bits(uint32_t bits) {
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

// Any bit pattern, or one of the values where conversions usually go wrong.
static float any_float(struct sk_random *r) {
    static const uint32_t special[] = {
        0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff,
        0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001,
        0x3f800000, 0xbf800000, 0x4effffff, 0x4f000000, 0xcf000000, 0x3f000000,
    };

    if (sk_random_below(r, 4) == 0)
        return float_of_bits(special[sk_random_below(r, sizeof special / sizeof special[0])]);
    return float_of_bits((uint32_t)sk_random_next(r));
}

static double any_factor(struct sk_random *r) {
    return sk_block_factor((int8_t)sk_random_below(r, 256),
                           1 + (unsigned)sk_random_below(r, SK_MAX_WORKERS));
}

static double any_inverse(struct sk_random *r) {
    return sk_block_inverse((int8_t)sk_random_below(r, 256),
                            1 + (unsigned)sk_random_below(r, SK_MAX_WORKERS));
}

static void check_to_wire(const struct sk_quantise *v, const struct sk_quantise *ref,
                          const float *src, size_t n, size_t misalign, double factor) {
    uint8_t want[4 * MAX_N], room[4 * MAX_N + RESERVED];
    uint8_t *got = room + misalign;
    float same[MAX_N];

    memset(room, CANARY, sizeof room);
    ref->f32_to_wire(want, src, n, factor);
    v->f32_to_wire(got, src, n, factor);
    assert_memory_equal(want, got, 4 * n);
    assert_int_equal(got[4 * n], CANARY);
    assert_true(misalign == 0 || got[-1] == CANARY);
    memcpy(same, src, sizeof same[0] * n);
    v->f32_to_wire((uint8_t *)same, same, n, factor);
    assert_memory_equal(want, same, 4 * n);
}

static void check_from_wire(const struct sk_quantise *v, const struct sk_quantise *ref,
                            const uint8_t *wire, size_t n, double inverse) {
    _Alignas(64) float got[MAX_N + 1];
    float want[MAX_N], canary = 12345.0f;

    got[n] = canary;
    ref->wire_to_f32(want, wire, n, inverse);
    v->wire_to_f32(got, wire, n, inverse);
    assert_memory_equal(want, got, sizeof want[0] * n);
    assert_true(got[n] == canary);
    memcpy(got, wire, sizeof want[0] * n);
    v->wire_to_f32(got, (const uint8_t *)got, n, inverse);
    assert_memory_equal(want, got, sizeof want[0] * n);
    memset(got, CANARY, sizeof want[0] * n);
    v->wire_to_f32_far(got, wire, n, inverse);
    assert_memory_equal(want, got, sizeof want[0] * n);
    assert_true(got[n] == canary);
}

static void check_integers(const struct sk_quantise *v, const struct sk_quantise *ref,
                           const uint8_t *wire, size_t n) {
    int32_t want[MAX_N], got[MAX_N + 1];
    uint8_t back[4 * MAX_N + 1];

    got[n] = 77;
    back[4 * n] = CANARY;
    ref->wire_to_i32(want, wire, n);
    v->wire_to_i32(got, wire, n);
    assert_memory_equal(want, got, sizeof want[0] * n);
    assert_int_equal(got[n], 77);
    v->i32_to_wire(back, got, n);
    assert_memory_equal(back, wire, 4 * n);
    assert_int_equal(back[4 * n], CANARY);
    memcpy(got, wire, sizeof want[0] * n);
    v->wire_to_i32(got, (const uint8_t *)got, n);
    assert_memory_equal(want, got, sizeof want[0] * n);
}

// One comparison at a length and two misalignments: of the floats in elements, of the wire in
// bytes.
static void compare_once(const struct sk_quantise *v, const struct sk_quantise *ref, size_t n,
                         struct sk_random *r) {
    float src[MAX_N + 16];
    uint8_t wire[4 * MAX_N + RESERVED];
    size_t skip = sk_random_below(r, 16), misalign = sk_random_below(r, RESERVED);

    for (size_t i = 0; i < n; i++) {
        uint64_t bits = sk_random_next(r);
        src[skip + i] = any_float(r);
        memcpy(wire + misalign + 4 * i, &bits, 4);
    }
    assert_int_equal(ref->max_abs_bits(src + skip, n), v->max_abs_bits(src + skip, n));
    check_to_wire(v, ref, src + skip, n, misalign % (RESERVED - 1), any_factor(r));
    check_from_wire(v, ref, wire + misalign, n, sk_block_inverse((int8_t)(n % 256), 1 + n % 255));
    check_from_wire(v, ref, wire + misalign, n, any_inverse(r));
    check_integers(v, ref, wire + misalign, n);
}

void compare_with_scalar(const struct sk_quantise *v, uint64_t seed) {
    const struct sk_quantise *ref = sk_quantise_named("scalar");
    struct sk_random r = sk_random_seeded(seed);

    for (size_t n = 0; n <= MAX_N; n++)
        for (int round = 0; round < 20; round++)
            compare_once(v, ref, n, &r);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantisation: every vector implementation this processor has gives the scalar reference's bits,
 * and the reference keeps the two theorems of SwitchML's appendix E.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "hosts/quantise.h"
#include "harness/hosts/random.h"

#define MAX_N    300
#define CANARY   0xa5
#define RESERVED 64

static const char *const vector_names[] = {"avx2", "avx512"};

static float float_of_bits(uint32_t bits) {
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Any bit pattern, or one of the values where conversions usually go wrong. */
static float any_float(struct sk_random *r) {
    static const uint32_t special[] = {
        0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff,
        0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001,
        0x3f800000, 0xbf800000, 0x4effffff, 0x4f000000, 0xcf000000, 0x3f000000,
    };

    if (sk_random_below(r, 4) == 0) {
        return float_of_bits(special[sk_random_below(r, sizeof special / sizeof special[0])]);
    }
    return float_of_bits((uint32_t)sk_random_next(r));
}

static double any_factor(struct sk_random *r) {
    return sk_block_factor((int8_t)sk_random_below(r, 256), 1 + (unsigned)sk_random_below(r, 255));
}

static double any_inverse(struct sk_random *r) {
    return sk_block_inverse((int8_t)sk_random_below(r, 256), 1 + (unsigned)sk_random_below(r, 255));
}

static void check_to_wire(const struct sk_quantise *v, const struct sk_quantise *ref,
                          const float *src, size_t n, size_t misalign, double factor) {
    uint8_t want[4 * MAX_N], room[4 * MAX_N + RESERVED];
    uint8_t *got = room + misalign;

    memset(room, CANARY, sizeof room);
    ref->f32_to_wire(want, src, n, factor);
    v->f32_to_wire(got, src, n, factor);
    assert_memory_equal(want, got, 4 * n);
    assert_int_equal(got[4 * n], CANARY);
    assert_true(misalign == 0 || got[-1] == CANARY);
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
}

/* One comparison at a length and two misalignments: of the floats in elements, of the wire in
 * bytes. */
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

static void test_vectors_equal_the_reference(void **state) {
    const struct sk_quantise *ref = sk_quantise_named("scalar");
    unsigned present = 0;

    (void)state;
    for (size_t i = 0; i < sizeof vector_names / sizeof vector_names[0]; i++) {
        const struct sk_quantise *v = sk_quantise_named(vector_names[i]);
        struct sk_random r = sk_random_seeded(i + 1);
        if (!v) {
            print_message("this processor has no %s: not compared\n", vector_names[i]);
            continue;
        }
        present++;
        for (size_t n = 0; n <= MAX_N; n++) {
            for (int round = 0; round < 20; round++) {
                compare_once(v, ref, n, &r);
            }
        }
    }
    if (!present) {
        skip();
    }
}

static void test_best_is_one_of_the_named(void **state) {
    const struct sk_quantise *best = sk_quantise_best();

    (void)state;
    assert_ptr_equal(best, sk_quantise_named(best->name));
    assert_null(sk_quantise_named("neon"));
}

static void test_block_exponent(void **state) {
    static const struct {
        float h;
        int exponent;
    } rows[] = {
        {0.0f, SK_EXPONENT_ZERO},
        {0x1p-149f, -126},
        {0x1.fffffcp-127f, -126},
        {0x1p-126f, -125},
        {0.75f, 0},
        {1.0f, 1},
        {0x1.fffffep0f, 1},
        {2.0f, 2},
        {0x1.fffffep125f, 126},
        {0x1p126f, SK_EXPONENT_NOT_FINITE},
        {0x1.fffffep127f, SK_EXPONENT_NOT_FINITE},
        {INFINITY, SK_EXPONENT_NOT_FINITE},
        {NAN, SK_EXPONENT_NOT_FINITE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        float block[3] = {0, -rows[i].h, 0};
        uint32_t bits = sk_quantise_best()->max_abs_bits(block, 3);
        assert_int_equal(rows[i].exponent, sk_block_exponent(bits));
    }
}

/* Theorem 2: n workers that all send the largest float below 2^m, both signs, for every n. */
static void test_no_sum_overflows(void **state) {
    (void)state;
    for (unsigned n = 1; n <= SK_MAX_WORKERS; n++) {
        for (int m = -126; m <= 126; m++) {
            float h = m == -126 ? 0x1.fffffcp-127f : ldexpf(0x1.fffffep-1f, m);
            float both[2] = {h, -h};
            uint8_t wire[8];
            int32_t q[2];
            sk_quantise_best()->f32_to_wire(wire, both, 2, sk_block_factor((int8_t)m, n));
            sk_quantise_best()->wire_to_i32(q, wire, 2);
            assert_true((int64_t)q[0] * n <= INT32_MAX && q[0] > 0);
            assert_true((int64_t)q[1] * n >= INT32_MIN && q[1] < 0);
        }
    }
}

/* Theorem 1, for one worker's share: the error is at most half a unit of 1/f. */
static void test_rounding_error_is_half_a_unit(void **state) {
    struct sk_random r = sk_random_seeded(3);

    (void)state;
    for (int round = 0; round < 20000; round++) {
        int m = (int)sk_random_below(&r, 200) - 100;
        unsigned n = 1 + (unsigned)sk_random_below(&r, SK_MAX_WORKERS);
        float x = ldexpf((float)sk_random_below(&r, 1u << 24) * 0x1p-24f, m);
        double f = sk_block_factor((int8_t)m, n);
        uint8_t wire[4];
        int32_t q;
        sk_quantise_best()->f32_to_wire(wire, &x, 1, f);
        sk_quantise_best()->wire_to_i32(&q, wire, 1);
        assert_true(fabs(q - x * f) <= 0.5);
    }
}

static void test_special_blocks_have_fixed_factors(void **state) {
    (void)state;
    assert_true(sk_block_factor(SK_EXPONENT_ZERO, 4) == 0);
    assert_true(sk_block_factor(SK_EXPONENT_NOT_FINITE, 4) == 0);
    assert_true(sk_block_inverse(SK_EXPONENT_ZERO, 4) == 0);
    assert_true(isnan(sk_block_inverse(SK_EXPONENT_NOT_FINITE, 4)));
    assert_true(sk_block_factor(0, 1) == 0x1p31);
    assert_true(sk_block_factor(0, 3) == 0x1p29);
    assert_true(sk_block_inverse(-126, 255) == 0x1p-149);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors_equal_the_reference),
        cmocka_unit_test(test_best_is_one_of_the_named),
        cmocka_unit_test(test_block_exponent),
        cmocka_unit_test(test_no_sum_overflows),
        cmocka_unit_test(test_rounding_error_is_half_a_unit),
        cmocka_unit_test(test_special_blocks_have_fixed_factors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

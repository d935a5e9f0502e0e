// SPDX-License-Identifier: Apache-2.0
//
// Quantisation: every vector implementation this processor has gives the scalar reference's bits,
// and the reference keeps the two theorems of SwitchML's appendix E.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/hosts/core/quantise_compare.h"
#include "harness/hosts/random.h"
#include "hosts/core/quantise.h"

static const char *const vector_names[] = {"avx2", "avx512"};

static void test_vectors_equal_the_reference(void **state) {
    unsigned present = 0;

    (void)state;
    for (size_t i = 0; i < sizeof vector_names / sizeof vector_names[0]; i++) {
        const struct sk_quantise *v = sk_quantise_named(vector_names[i]);
        if (!v) {
            print_message("this processor has no %s: see test_quantise_avx512\n", vector_names[i]);
            continue;
        }
        present++;
        compare_with_scalar(v, i + 1);
    }
    if (!present)
        skip();
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

// Theorem 2: n workers that all send the largest float below 2^m, both signs, for every n.
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

// Theorem 1, for one worker's share: the error is at most half a unit of 1/f.
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
    assert_true(sk_block_factor(0, 256) == 0x1p22 && sk_block_factor(0, 4095) == 0x1p19);
    assert_true(sk_block_factor(0, 4096) == 0x1p18);
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

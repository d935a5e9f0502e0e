// SPDX-License-Identifier: Apache-2.0
//
// The sum of floats by tables: against sums in double precision, at all pairs of exponents and at
// random, and what is not a sum of two ordinary numbers against IEEE 754.
//
// The bound for equal signs is relative to the sum, that for opposite ones relative to the larger
// operand. PAIRS random pairs (environment; 2,000,000) are tried.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "hosts/libra/adder.h"
#include "hosts/core/float_bits.h"
#include "harness/hosts/random.h"

#define SIGN      UINT32_C(0x80000000)
#define INFINITE  UINT32_C(0x7f800000)
#define NOT_A_NUM UINT32_C(0x7fc00000)
#define SMALLEST  UINT32_C(0x00800000)
#define LARGEST   UINT32_C(0x7f7fffff)
#define SAME      1.1e-4
#define OPPOSITE  4e-4

static uint32_t add(uint32_t x, uint32_t y) {
    return libra_add(libra_adder(), x, y, NULL);
}

// Of two ordinary numbers: within the bounds, and the same the other way round.
static void check_pair(uint32_t x, uint32_t y) {
    double a = (double)sk_float_of_bits(x), b = (double)sk_float_of_bits(y), exact = a + b;
    uint32_t bits = add(x, y);
    double larger = fmax(fabs(a), fabs(b)), sum = (double)sk_float_of_bits(bits);
    bool minus = (x ^ y) & SIGN;

    assert_int_equal(bits, add(y, x));
    if (fabs(exact) < 0x1p-125 && fabs(sum) < 0x1p-125)
        return; // flushed, or about to be
    if (isinf(sum)) {
        assert_true(fabs(exact) > 3.4e38);
        return;
    }
    if (!(fabs(sum - exact) <= (minus ? OPPOSITE * larger : SAME * fabs(exact))))
        fail_msg("%a + %a: %a, exactly %a", a, b, sum, exact);
}

// Mantissas where the tables' keys change or end.
static const uint32_t edges[] = {0x000000, 0x000001, 0x000fff, 0x001000, 0x001001, 0x3fffff,
                                 0x400000, 0x555555, 0x7fefff, 0x7ff000, 0x7ffffe, 0x7fffff};
#define EDGES (sizeof edges / sizeof *edges)

static void test_all_exponents(void **state) {
    (void)state;
    for (uint32_t e = 1; e < 255; e++)
        for (uint32_t f = 1; f <= e; f++)
            for (size_t i = 0; i < EDGES * EDGES; i++) {
                uint32_t x = e << 23 | edges[i / EDGES], y = f << 23 | edges[i % EDGES];
                check_pair(x, y);
                check_pair(x, y | SIGN);
            }
}

static void test_random_pairs(void **state) {
    struct sk_random r = sk_random_seeded(1);
    const char *pairs = getenv("PAIRS");
    uint64_t n = pairs ? strtoull(pairs, NULL, 10) : 2000000;

    (void)state;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t bits = sk_random_next(&r);
        uint32_t e = 1 + (uint32_t)sk_random_below(&r, 254);
        uint32_t below = (uint32_t)sk_random_below(&r, 36);
        uint32_t f = e > below ? e - below : 1;
        check_pair((uint32_t)(bits & (SIGN | 0x7fffff)) | e << 23,
                   (uint32_t)(bits >> 32 & (SIGN | 0x7fffff)) | f << 23);
    }
}

// The sum of 10,000 equal terms is within 0.1 %, and that of fewer within 0.3 %: the sum lags
// behind while the last digit of sigma stands for a fifth of a term, and catches up. (With the
// paper's own width it stands still long before.)
static void test_long_sums(void **state) {
    const float terms[] = {0.001f, 1, 3.14159f, -0.7f};

    (void)state;
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        uint32_t sum = 0;
        double exact = 0;
        for (int n = 1; n <= 10000; n++) {
            sum = add(sum, sk_bits_of_float(terms[i]));
            exact = n * (double)terms[i];
            assert_true(fabs((double)sk_float_of_bits(sum) - exact) <= 3e-3 * fabs(exact));
        }
        assert_true(fabs((double)sk_float_of_bits(sum) - exact) <= 1e-3 * fabs(exact));
    }
}

static void test_special_values(void **state) {
    const uint32_t one = 0x3f800000, small = 0x00000001;
    static const struct {
        uint32_t x, y, sum;
    } cases[] = {
        {0, 0, 0},
        {SIGN, SIGN, SIGN},
        {0, SIGN, 0},
        {one, 0, one},
        {one | SIGN, SIGN, one | SIGN},
        {one, one | SIGN, 0},         // equal magnitudes
        {one | 1, one | SIGN, 0},     // the tables cannot tell them apart
        {LARGEST, LARGEST, INFINITE}, // overflow
        {LARGEST | SIGN, LARGEST | SIGN, INFINITE | SIGN},
        {INFINITE, one, INFINITE},
        {INFINITE, LARGEST | SIGN, INFINITE},
        {INFINITE | SIGN, INFINITE | SIGN, INFINITE | SIGN},
        {INFINITE, INFINITE | SIGN, NOT_A_NUM},
        {NOT_A_NUM, one, NOT_A_NUM},
        {0x7f800001, 0, NOT_A_NUM},
        {0xffc00000, INFINITE, NOT_A_NUM},
        {one, 0x30000000, one}, // too small to matter: bits unchanged
        {0x3fabcdef, 0xb0000000, 0x3fabcdef},
        {small, small, 0}, // denormals are zero
        {one, small, one},
        {small | SIGN, SIGN, SIGN},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(cases[i].sum, add(cases[i].x, cases[i].y));
        if (cases[i].x != cases[i].y)
            assert_int_equal(cases[i].sum, add(cases[i].y, cases[i].x));
    }
}

static void test_says_what_it_flushed(void **state) {
    const struct libra_adder *a = libra_adder();
    bool flushed = true;

    (void)state;
    libra_add(a, 0x3f800000, 0x3f800000, &flushed);
    assert_false(flushed);
    libra_add(a, 0x3f800000, 1, &flushed);
    assert_true(flushed);
    libra_add(a, 0x3f800000, SIGN, &flushed);
    assert_false(flushed);
    // 1.5 and 1 times the smallest normal number differ by a denormal
    assert_int_equal(0, libra_add(a, SMALLEST | 0x400000, SMALLEST | SIGN, &flushed));
    assert_true(flushed);
}

// What the paper says of its tables' sizes.
static void test_sizes(void **state) {
    const struct libra_adder *a = libra_adder();

    (void)state;
    assert_int_equal(418304, sizeof a->exponent + sizeof a->log_m + sizeof a->log_dm +
                                 sizeof a->log_mln2 + sizeof a->term + sizeof a->sigma +
                                 sizeof a->power);
    assert_int_equal(135168, sizeof a->minus + sizeof a->near);
}

// l(p) within two units of 2^-16.
static void test_logarithm(void **state) {
    struct sk_random r = sk_random_seeded(2);

    (void)state;
    for (int i = 0; i < 1000000; i++) {
        uint32_t bits = SMALLEST + (uint32_t)sk_random_below(&r, LARGEST - SMALLEST + 1);
        double l = log2((double)sk_float_of_bits(bits));
        assert_true(fabs(libra_log2(libra_adder(), bits) * 0x1p-16 - l) <= 2 * 0x1p-16);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_exponents),
        cmocka_unit_test(test_random_pairs),
        cmocka_unit_test(test_long_sums),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_says_what_it_flushed),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_logarithm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

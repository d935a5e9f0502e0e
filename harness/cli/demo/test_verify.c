// SPDX-License-Identifier: Apache-2.0
//
// The demo's judge: accepts what theorem 1 allows and nothing beyond it.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/demo/rng.h"
#include "cli/demo/verify.h"

#define WORKERS 4
#define N       150 // two blocks and a part of one
#define BLOCK   64

struct sums {
    float tensor[WORKERS][N];
    const float *inputs[WORKERS];
    float result[N];
};

static double exact(const struct sums *s, size_t i) {
    double sum = 0;

    for (unsigned w = 0; w < WORKERS; w++) {
        sum += (double)s->tensor[w][i];
    }
    return sum;
}

static void round_sums(struct sums *s) {
    for (size_t i = 0; i < N; i++) {
        s->result[i] = (float)exact(s, i);
    }
}

// Values below 1/4 in magnitude, except for one of 0.75 in the first block: there m is 0, so that
// f = (2^31 - 1) / 4 and the bound is 16 / (2^31 - 1).
static void make(struct sums *s, uint64_t seed) {
    struct rng r = {seed};

    *s = (struct sums){0};
    for (unsigned w = 0; w < WORKERS; w++) {
        s->inputs[w] = s->tensor[w];
        for (size_t i = 0; i < N; i++) {
            s->tensor[w][i] = (rng_unit(&r) - 0.5f) / 2;
        }
    }
    s->tensor[2][5] = 0.75f;
    round_sums(s);
}

static bool check(const struct sums *s, struct verify_tally *t) {
    *t = (struct verify_tally){0};
    return verify_sums(s->result, s->inputs, WORKERS, N, BLOCK, t);
}

static void test_bound(void **state) {
    (void)state;
    assert_true(verify_bound(0.75, 4) == 16 / (0x1p31 - 1));
    assert_true(verify_bound(1.0, 4) == 32 / (0x1p31 - 1)); // 1 < 2^1: strictly below
    assert_true(verify_bound(0.5, 1) == 1 / (0x1p31 - 1));
    assert_true(verify_bound(0x1.fffffep-1, 1) == 1 / (0x1p31 - 1));
    assert_true(verify_bound(0x1p-149, 1) == 0x1p-126 / (0x1p31 - 1));
    assert_true(verify_bound(0, 4) == 0);
    assert_true(verify_bound(0x1.fffffep125, 1) == 0x1p126 / (0x1p31 - 1));
    assert_true(isinf(verify_bound(0x1p126, 1)));
    assert_true(isinf(verify_bound(INFINITY, 4)));
}

static void test_accepts_rounded_sums(void **state) {
    struct verify_tally t;
    struct sums s;

    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        make(&s, seed);
        assert_true(check(&s, &t));
        assert_int_equal(N, t.sums);
        assert_int_equal(0, t.failed);
        assert_true(t.worst < 1);
    }
}

// A sum near 0, so that floats are finer there than the bound by far.
static void make_small_sum(struct sums *s, size_t i) {
    make(s, 1);
    s->tensor[0][i] = 0.125f;
    s->tensor[1][i] = -0.125f;
    s->tensor[2][i] = 0x1p-30f;
    s->tensor[3][i] = 0;
    round_sums(s);
}

static void test_an_error_at_the_bound(void **state) {
    static const size_t places[] = {0, BLOCK - 1};
    const double bound = 16 / (0x1p31 - 1);
    struct verify_tally t;
    struct sums s;

    (void)state;
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            size_t i = places[k];
            make_small_sum(&s, i);
            s.result[i] = (float)(0x1p-30 + sign * bound * 0.999);
            assert_true(check(&s, &t));
            assert_true(t.worst > 0.99);
            s.result[i] = (float)(0x1p-30 + sign * bound * 1.001);
            assert_false(check(&s, &t));
            assert_int_equal(1, t.failed);
            assert_int_equal(i, t.first.element);
            assert_true(t.first.expected == 0x1p-30);
        }
    }
}

// The same error is too much in the second block, whose numbers are smaller.
static void test_each_block_has_its_own_bound(void **state) {
    struct verify_tally t;
    struct sums s;

    (void)state;
    make_small_sum(&s, BLOCK);
    assert_true(check(&s, &t));
    s.result[BLOCK] += (float)(12 / (0x1p31 - 1));
    assert_false(check(&s, &t));
    make_small_sum(&s, BLOCK - 1);
    s.result[BLOCK - 1] += (float)(12 / (0x1p31 - 1));
    assert_true(check(&s, &t));
}

// Near the largest sums the float's own rounding is coarser than the bound: the neighbouring float
// is still a wrong answer, as the nearest one can be had.
static void test_rounding_of_a_large_sum(void **state) {
    struct verify_tally t;
    struct sums s;

    (void)state;
    make(&s, 2);
    for (unsigned w = 0; w < WORKERS; w++) {
        s.tensor[w][7] = 0.7f;
    }
    round_sums(&s);
    assert_true(check(&s, &t));
    s.result[7] = nextafterf(s.result[7], 10);
    assert_false(check(&s, &t));
    assert_int_equal(7, t.first.element);
}

static void test_what_a_broken_switch_does(void **state) {
    struct verify_tally t;
    struct sums s;

    (void)state;
    make(&s, 3);
    for (size_t i = 0; i < BLOCK; i++) {
        s.result[i] -= s.tensor[1][i]; // one worker was not added
    }
    assert_false(check(&s, &t));
    assert_true(t.failed > BLOCK - 3);
    make(&s, 4);
    s.result[N - 1] = NAN;
    assert_false(check(&s, &t));
    assert_int_equal(N - 1, t.first.element);
    make(&s, 5);
    s.result[100] = -s.result[100];
    assert_false(check(&s, &t));
}

static void test_zeros_and_special_blocks(void **state) {
    struct verify_tally t;
    struct sums s;

    (void)state;
    make(&s, 6);
    for (unsigned w = 0; w < WORKERS; w++) {
        for (size_t i = 0; i < BLOCK; i++) {
            s.tensor[w][i] = w % 2 ? 0.0f : -0.0f;
        }
    }
    round_sums(&s);
    assert_true(check(&s, &t));
    s.result[3] = 0x1p-149f;
    assert_false(check(&s, &t));
    make(&s, 7);
    s.tensor[3][BLOCK + 1] = NAN;
    assert_false(check(&s, &t)); // numbers where NaN is due
    assert_int_equal(BLOCK, t.failed);
    for (size_t i = BLOCK; i < 2 * BLOCK; i++) {
        s.result[i] = NAN;
    }
    assert_true(check(&s, &t));
}

static void test_tally_adds_up(void **state) {
    struct verify_tally t = {0};
    struct sums s;

    (void)state;
    make(&s, 8);
    assert_true(verify_sums(s.result, s.inputs, WORKERS, N, BLOCK, &t));
    s.result[9] += 1;
    assert_false(verify_sums(s.result, s.inputs, WORKERS, N, BLOCK, &t));
    s.result[9] -= 1;
    s.result[8] += 1;
    assert_false(verify_sums(s.result, s.inputs, WORKERS, N, BLOCK, &t));
    assert_int_equal(3 * N, t.sums);
    assert_true(t.failed >= 2);
    assert_int_equal(9, t.first.element);
}

// One factor for all elements: 4 workers and 10^8 are a bound of 4e-8, besides half a unit in the
// last place: 2^-25 for 0.75, 2^-36 for 2^-12.
static void test_one_factor(void **state) {
    struct verify_tally t = {0};
    struct sums s;

    (void)state;
    make(&s, 11);
    assert_true(verify_scaled_sums(s.result, s.inputs, WORKERS, N, 1e8, &t));
    assert_int_equal(N, t.sums);
    for (unsigned w = 0; w < WORKERS; w++) {
        s.tensor[w][3] = 0x1p-14f;
    }
    s.result[3] = 0x1p-12f + 3.9e-8f;
    assert_true(verify_scaled_sums(s.result, s.inputs, WORKERS, N, 1e8, &t));
    assert_true(t.worst > 0.9 && t.worst <= 1);
    s.result[3] = 0x1p-12f - 4.1e-8f;
    assert_false(verify_scaled_sums(s.result, s.inputs, WORKERS, N, 1e8, &t));
    assert_int_equal(3, t.first.element);
}

static void test_one_factor_and_no_numbers(void **state) {
    struct verify_tally t = {0};
    struct sums s;

    (void)state;
    make(&s, 12);
    s.tensor[1][7] = INFINITY;
    s.tensor[2][8] = NAN;
    s.tensor[0][9] = s.tensor[1][9] = 3e38f; // the sum is no float
    round_sums(&s);
    assert_true(verify_scaled_sums(s.result, s.inputs, WORKERS, N, 1e8, &t));
    for (size_t i = 7; i <= 9; i++) {
        struct sums bad = s;
        bad.result[i] = 1;
        assert_false(verify_scaled_sums(bad.result, s.inputs, WORKERS, N, 1e8, &t));
    }
    assert_int_equal(3, t.failed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_accepts_rounded_sums),
        cmocka_unit_test(test_an_error_at_the_bound),
        cmocka_unit_test(test_each_block_has_its_own_bound),
        cmocka_unit_test(test_rounding_of_a_large_sum),
        cmocka_unit_test(test_what_a_broken_switch_does),
        cmocka_unit_test(test_zeros_and_special_blocks),
        cmocka_unit_test(test_tally_adds_up),
        cmocka_unit_test(test_one_factor),
        cmocka_unit_test(test_one_factor_and_no_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
//
// Who is hot, by hand and against a plain count; layouts written and read again, and damaged ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "hosts/libra/heat.h"
#include "hosts/libra/layout.h"
#include "harness/hosts/random.h"

// ---- heat ----

#define KEYS 3000u

static void test_ranks_equal_a_plain_count(void **state) {
    static uint64_t counts[KEYS];
    struct sk_random r = sk_random_seeded(1);
    struct libra_heat heat = {0};

    (void)state;
    memset(counts, 0, sizeof counts);
    for (int i = 0; i < 100000; i++) {
        uint64_t k = sk_random_below(&r, 1 + sk_random_below(&r, KEYS));
        counts[k]++;
        libra_heat_add(&heat, k << 50 | k, 1);
    }
    assert_int_equal(100000, heat.total);
    struct libra_ranked *all = libra_heat_rank(&heat);
    for (size_t i = 0; i < heat.map.n; i++) {
        assert_int_equal(counts[all[i].key & 0xffff], all[i].count);
        if (i > 0)
            assert_true(all[i - 1].count > all[i].count ||
                        (all[i - 1].count == all[i].count && all[i - 1].key < all[i].key));
    }
    size_t there = 0;
    for (size_t k = 0; k < KEYS; k++)
        there += counts[k] > 0;
    assert_int_equal(there, heat.map.n);
    free(all);
    libra_heat_clear(&heat);
}

static void test_how_many_are_hot(void **state) {
    const struct libra_ranked four[] = {{7, 50}, {8, 30}, {9, 10}, {3, 10}};
    static const struct {
        double portion, memory;
        size_t hot;
    } cases[] = {
        {0.5, 1, 1}, {0.51, 1, 2}, {0.8, 1, 2},        {0.801, 1, 3},
        {1, 1, 4},   {1e-9, 1, 1}, {1, 8.0 / 20e6, 2}, {1, 1.0 / 20e6, 0}, // not even one has room
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct libra_choice c = {.portion = cases[i].portion, .memory = cases[i].memory};
        assert_int_equal(cases[i].hot, libra_heat_hot(four, 4, &c));
    }
}

// 5.3: with 1 % of the updates in each thousand it goes on, with a little less it stops.
static void test_stops_below_one_hundredth(void **state) {
    const struct libra_choice c = {.portion = 1, .memory = 1, .stop_at_one_hundredth = true};
    static struct libra_ranked all[50000];
    uint64_t rest = 0;

    (void)state;
    for (size_t i = 0; i < 50000; i++) {
        all[i] = (struct libra_ranked){i, i < 2000 ? 1000 : i < 3000 ? 60 : 10};
        rest += all[i].count;
    }
    assert_true(60 * 1000 > rest / 100 && 10 * 1000 < rest / 100);
    assert_int_equal(3000, libra_heat_hot(all, 50000, &c));
}

// ---- layouts ----

static char *written(const struct libra_layout *layout, size_t *length) {
    char *text = NULL;
    FILE *out = open_memstream(&text, length);

    assert_true(libra_layout_write(layout, out));
    fclose(out);
    return text;
}

static void test_is_read_as_it_was_written(void **state) {
    const uint64_t keys[] = {8231, 0, UINT64_MAX, 17};
    struct libra_layout one, other;
    struct sk_error err;
    size_t length;

    (void)state;
    assert_int_equal(0, libra_layout_make(&one, 255, 65535, 16, keys, 4, &err));
    char *text = written(&one, &length);
    assert_int_equal(0, libra_layout_parse(&other, text, length, &err));
    assert_int_equal(one.digest, other.digest);
    assert_int_equal(255, other.job);
    assert_int_equal(65535, other.epoch);
    assert_int_equal(16, other.registers);
    assert_int_equal(4, other.n);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(keys[i], other.keys[i]);
        assert_int_equal(i, libra_layout_rank(&other, keys[i]));
    }
    assert_int_equal(-1, libra_layout_rank(&other, 18));
    free(text);
    libra_layout_clear(&one);
    libra_layout_clear(&other);
}

static void test_refuses(void **state) {
#define TOP "silken libra layout 1\n"
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "its first line"},
        {"silken libra layout 2\n", "its first line"},
        {TOP, "line 2: the file ends"},
        {TOP "jobs 1\n", "line 2: not 'job' and a number"},
        {TOP "job 256\n", "line 2: a number above 255"},
        {TOP "job 1\nepoch 65536\n", "line 3: a number above 65535"},
        {TOP "job 1\nepoch -1\n", "line 3: not a decimal number"},
        {TOP "job 01\n", "line 2: not a decimal number"},
        {TOP "job \n", "line 2: not a decimal number"},
        {TOP "job 1\nepoch 1\nregisters 0\nkeys 1\n", "1 to 64 registers"},
        {TOP "job 1\nepoch 1\nregisters 16\nkeys 0\n", "keys, not 0"},
        {TOP "job 1\nepoch 1\nregisters 16\nkeys 4194304\n1\n", "too short for 4194304 keys"},
        {TOP "job 1\nepoch 1\nregisters 16\nkeys 4194305\n", "above 4194304"},
        {TOP "job 1\nepoch 1\nregisters 16\nkeys 1\n18446744073709551616\n", "a number above"},
        {TOP "job 1\nepoch 1\nregisters 16\nkeys 1\n5\n6\n", "line 7: not the digest"},
        {TOP "job 1\nepoch 1\nregisters 16\nkeys 1\n5\ndigest 0123456789abcdef\n", "damaged"},
    };
    struct libra_layout layout;
    struct sk_error err;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err.text[0] = 0;
        assert_true(libra_layout_parse(&layout, cases[i].text, strlen(cases[i].text), &err) < 0);
        if (!strstr(err.text, cases[i].says))
            fail_msg("case %zu: %s", i, err.text);
        assert_null(layout.keys);
    }
}

static void test_refuses_a_key_that_comes_twice(void **state) {
    const uint64_t keys[] = {5, 6, 5};
    struct libra_layout layout;
    struct sk_error err;

    (void)state;
    assert_true(libra_layout_make(&layout, 0, 0, 16, keys, 3, &err) < 0);
    assert_non_null(strstr(err.text, "key 5 has rank 0 and rank 2"));
    assert_null(layout.keys);
}

// Whatever byte is changed or missing, the file is refused.
static void test_refuses_each_damaged_byte(void **state) {
    uint64_t keys[40];
    struct libra_layout layout, damaged;
    struct sk_error err;
    size_t length;

    (void)state;
    for (size_t i = 0; i < 40; i++)
        keys[i] = i * 977;
    assert_int_equal(0, libra_layout_make(&layout, 1, 2, 16, keys, 40, &err));
    char *text = written(&layout, &length);
    for (size_t i = 0; i < length; i++) {
        assert_true(libra_layout_parse(&damaged, text, i, &err) < 0);
        for (int bit = 0; bit < 8; bit++) {
            text[i] ^= (char)(1 << bit);
            assert_true(libra_layout_parse(&damaged, text, length, &err) < 0);
            text[i] ^= (char)(1 << bit);
        }
    }
    free(text);
    libra_layout_clear(&layout);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks_equal_a_plain_count),
        cmocka_unit_test(test_how_many_are_hot),
        cmocka_unit_test(test_stops_below_one_hundredth),
        cmocka_unit_test(test_is_read_as_it_was_written),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_refuses_a_key_that_comes_twice),
        cmocka_unit_test(test_refuses_each_damaged_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
//
// Conversions of types: halves against the compiler's own type, all of them one way and millions of
// floats the other; bfloat16 against its definition; sums of 64-bit integers against 128-bit
// arithmetic, with the all-reduce played by a loop.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "hosts/core/wire_type.h"

__extension__ typedef _Float16 half;
__extension__ typedef __int128 i128;

static float float_of(uint32_t bits) {
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value) {
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void test_all_halves(void **state) {
    (void)state;
    for (uint32_t h = 0; h < 0x10000; h++) {
        uint16_t bits = (uint16_t)h;
        half value;
        memcpy(&value, &bits, sizeof value);
        if (isnan((float)value)) {
            assert_true(isnan(sk_f16_value(bits)));
            assert_true(isnan(sk_f16_value(sk_f16_nearest(sk_f16_value(bits)))));
        } else {
            assert_int_equal(bits_of((float)value), bits_of(sk_f16_value(bits)));
            assert_int_equal(bits, sk_f16_nearest(sk_f16_value(bits)));
        }
    }
}

// What is even among the two neighbours of 'value' in the upper halves of floats.
static uint16_t nearest_bf16(float value) {
    uint32_t bits = bits_of(value), low = bits & 0xffff, up = bits >> 16;

    return (uint16_t)(up + (low > 0x8000 || (low == 0x8000 && (up & 1))));
}

static void check_float(uint32_t bits) {
    float value = float_of(bits);
    half h = (half)value;
    uint16_t expected;

    memcpy(&expected, &h, sizeof expected);
    if (isnan(value)) {
        assert_true(isnan(sk_f16_value(sk_f16_nearest(value))));
        assert_true(isnan(sk_bf16_value(sk_bf16_nearest(value))));
        return;
    }
    assert_int_equal(expected, sk_f16_nearest(value));
    assert_int_equal(nearest_bf16(value), sk_bf16_nearest(value));
}

static void test_floats_to_the_nearest(void **state) {
    uint64_t seed = 1;

    (void)state;
    for (uint32_t up = 0; up < 0x10000; up++) { // all ties of both types, and beside them
        for (int32_t d = -1; d <= 1; d++) {
            check_float(up << 16 | (uint32_t)(0x8000 + d));
            check_float((up << 16) + (uint32_t)(0x1000 + d));
            check_float((up << 16) + (uint32_t)d);
        }
    }
    for (int i = 0; i < 2000000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        check_float((uint32_t)(seed >> 32));
    }
}

#define WORKERS 512
#define COUNT   64

static uint64_t next(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *seed ^ *seed >> 29;
}

// Sums as the network makes them: i32 that wrap. Returns what the last worker got, in 'out'.
static int sum_up(unsigned workers, const int64_t *in, int64_t *out) {
    struct sk_wire w = {0};
    struct sk_tensor t = {.count = 0};
    uint32_t sum[3 * COUNT] = {0};
    int rc;

    for (unsigned i = 0; i < workers; i++) {
        const int32_t *values;
        sk_wire_free(&w);
        assert_int_equal(0, sk_wire_begin(&w, &t, in + i * COUNT, out, COUNT, SILKEN_I64,
                                          SILKEN_SUM, workers, false));
        assert_int_equal(SILKEN_I32, t.type);
        assert_int_equal(3 * COUNT, t.count);
        values = t.in;
        for (size_t e = 0; e < t.count; e++)
            sum[e] += (uint32_t)values[e];
    }
    memcpy(w.room, sum, sizeof sum);
    rc = sk_wire_end(&w);
    sk_wire_free(&w);
    return rc;
}

// Magnitudes of 'bits' bits: compares with sums of 128 bits.
static void check_sums(unsigned workers, unsigned bits, uint64_t *seed) {
    static int64_t in[WORKERS * COUNT], out[COUNT];
    bool fits = true;
    int rc;

    for (size_t i = 0; i < workers * COUNT; i++)
        in[i] = (int64_t)next(seed) >> (64 - bits);
    memset(out, 0x55, sizeof out);
    rc = sum_up(workers, in, out);
    for (size_t e = 0; e < COUNT; e++) {
        i128 exact = 0;
        for (unsigned i = 0; i < workers; i++)
            exact += in[i * COUNT + e];
        fits &= exact >= INT64_MIN && exact <= INT64_MAX;
        if (rc == 0)
            assert_true(exact == out[e]);
        else
            assert_int_equal(0x5555555555555555, out[e]);
    }
    assert_int_equal(fits ? 0 : SILKEN_ERR_RANGE, rc);
}

static void test_i64_is_exact_or_refused(void **state) {
    static const unsigned workers[] = {1, 2, 3, 255, 512};
    int64_t edge[2 * COUNT] = {INT64_MAX, INT64_MIN}, out[COUNT];
    uint64_t seed = 7;

    (void)state;
    for (unsigned w = 0; w < 5; w++)
        for (unsigned bits = 1; bits <= 64; bits += 3)
            check_sums(workers[w], bits, &seed);
    assert_int_equal(0, sum_up(2, edge, out));
    assert_true(out[0] == INT64_MAX && out[1] == INT64_MIN);
    edge[COUNT] = 1;
    assert_int_equal(SILKEN_ERR_RANGE, sum_up(2, edge, out));
    edge[COUNT] = INT64_MIN;
    assert_int_equal(0, sum_up(2, edge, out));
    assert_true(out[0] == -1);
    edge[COUNT + 1] = -1;
    assert_int_equal(SILKEN_ERR_RANGE, sum_up(2, edge, out));
}

static void test_what_is_refused(void **state) {
    struct sk_wire w;
    struct sk_tensor t;
    int64_t x = 0;

    (void)state;
    assert_int_equal(SILKEN_ERR_UNSUPPORTED,
                     sk_wire_begin(&w, &t, &x, &x, 1, SILKEN_I64, SILKEN_SUM, 513, false));
    assert_int_equal(SILKEN_ERR_UNSUPPORTED,
                     sk_wire_begin(&w, &t, &x, &x, 1, SILKEN_I32, SILKEN_AVERAGE, 2, false));
    assert_int_equal(SILKEN_ERR_INVALID,
                     sk_wire_begin(&w, &t, &x, &x, 1, (enum silken_type)6, SILKEN_SUM, 2, false));
    assert_int_equal(SILKEN_ERR_INVALID,
                     sk_wire_begin(&w, &t, &x, &x, 1, SILKEN_F32, (enum silken_op)2, 2, false));
    assert_int_equal(SILKEN_ERR_INVALID,
                     sk_wire_begin(&w, &t, NULL, &x, 1, SILKEN_F16, SILKEN_SUM, 2, false));
    assert_int_equal(SILKEN_ERR_INVALID,
                     sk_wire_begin(&w, &t, &x, &x, SIZE_MAX / 8, SILKEN_I64, SILKEN_SUM, 2, false));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_halves),
        cmocka_unit_test(test_floats_to_the_nearest),
        cmocka_unit_test(test_i64_is_exact_or_refused),
        cmocka_unit_test(test_what_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

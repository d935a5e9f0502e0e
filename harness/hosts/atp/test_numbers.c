// SPDX-License-Identifier: Apache-2.0
//
// The parameter server's arithmetic on the values of a packet, in plain C and with AVX2.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "harness/hosts/atp/rig.h"
#include "hosts/atp/numbers.h"
#include "hosts/atp/worker.h"

static void fill(uint8_t *bytes, uint64_t seed) {
    for (unsigned i = 0; i < 4 * ATP_VALUES; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (uint8_t)(seed >> 56);
    }
    memcpy(bytes + 4 * (seed % 60), seed & 1 ? "\x7f\xff\xff\xff" : "\x80\0\0\0", seed & 2 ? 4 : 0);
}

static void test_avx2_gives_the_same_bits(void **state) {
    const struct atp_numbers *a = atp_numbers_named("scalar"), *b = atp_numbers_named("avx2");
    uint8_t x[4 * ATP_VALUES], y[4 * ATP_VALUES], u[4 * ATP_VALUES], v[4 * ATP_VALUES];
    int64_t si[ATP_VALUES], ti[ATP_VALUES];
    double sd[ATP_VALUES], td[ATP_VALUES];

    (void)state;
    if (!b)
        skip();
    for (uint64_t seed = 0; seed < 2000; seed++) {
        fill(x, 2 * seed);
        fill(y, 2 * seed + 1);
        assert_int_equal(a->saturated(x), b->saturated(x));
        assert_int_equal(a->greatest(x), b->greatest(x));
        assert_int_equal(rig_bits(a->greatest_float(x)), rig_bits(b->greatest_float(x)));
        a->to_floats(u, x, 1 / ATP_SCALE);
        b->to_floats(v, x, 1 / ATP_SCALE);
        assert_memory_equal(u, v, sizeof u);
        a->begin(si, x);
        b->begin(ti, x);
        a->add(si, y);
        b->add(ti, y);
        assert_memory_equal(si, ti, sizeof si);
        a->sums_to_floats(u, si, 1 / ATP_SCALE);
        b->sums_to_floats(v, si, 1 / ATP_SCALE);
        assert_memory_equal(u, v, sizeof u);
        a->begin_integers(si, x);
        b->begin_integers(ti, x);
        a->add_integers(si, y);
        b->add_integers(ti, y);
        a->sums_to_integers(u, si);
        b->sums_to_integers(v, ti);
        assert_memory_equal(u, v, sizeof u);
        for (unsigned i = 0; i < ATP_VALUES; i++) { // no NaN, whose payload is nobody's business
            x[4 * i] &= 0xbf;
            y[4 * i] &= 0xbf;
        }
        a->begin_floats(sd, x);
        b->begin_floats(td, x);
        a->add_floats(sd, y);
        b->add_floats(td, y);
        assert_memory_equal(sd, td, sizeof sd);
        a->doubles_to_floats(u, sd);
        b->doubles_to_floats(v, td);
        assert_memory_equal(u, v, sizeof u);
    }
}

// Sums of up to 1024 workers' values become the floats that a conversion of each gives.
static void test_sums_of_many_become_floats(void **state) {
    static const char *const names[] = {"scalar", "avx2"};

    (void)state;
    for (unsigned set = 0; set < 2; set++) {
        const struct atp_numbers *numbers = atp_numbers_named(names[set]);
        for (uint64_t seed = 0; numbers && seed < 2000; seed++) {
            uint8_t values[4 * ATP_VALUES], wire[4 * ATP_VALUES];
            int64_t sum[ATP_VALUES];
            fill(values, seed);
            for (unsigned i = 0; i < ATP_VALUES; i++) {
                uint32_t v;
                memcpy(&v, values + 4 * i, 4);
                sum[i] = i == 0   ? INT64_C(1024) * INT32_MAX
                         : i == 1 ? INT64_C(1024) * INT32_MIN
                         : i == 2 ? 0
                                  : (int64_t)(int32_t)v * (int64_t)(seed % 1024 + 1) + i;
            }
            numbers->sums_to_floats(wire, sum, 1 / ATP_SCALE);
            for (unsigned i = 0; i < ATP_VALUES; i++) {
                const uint8_t *at = wire + 4 * i;
                const float want = (float)((double)sum[i] * (1 / ATP_SCALE));
                assert_int_equal((uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3],
                                 rig_bits(want));
            }
        }
    }
}

// One value that is the greatest or the least, at any place, is enough.
static void test_one_saturated_value(void **state) {
    static const uint8_t limits[][4] = {{0x7f, 0xff, 0xff, 0xff}, {0x80, 0, 0, 0}};
    static const uint8_t others[][4] = {{0x7f, 0xff, 0xff, 0xfe}, {0x80, 0, 0, 1},
                                        {0xff, 0xff, 0xff, 0x7f}, {0, 0, 0, 0x80},
                                        {0xff, 0xff, 0xff, 0xff}, {0, 0, 0, 0}};
    static const char *const names[] = {"scalar", "avx2"};

    (void)state;
    for (unsigned set = 0; set < 2; set++) {
        const struct atp_numbers *numbers = atp_numbers_named(names[set]);
        for (unsigned i = 0; numbers && i < ATP_VALUES; i++) {
            uint8_t values[4 * ATP_VALUES] = {0};
            for (unsigned k = 0; k < 6; k++) {
                memcpy(values + 4 * i, others[k], 4);
                assert_false(numbers->saturated(values));
            }
            for (unsigned k = 0; k < 2; k++) {
                memcpy(values + 4 * i, limits[k], 4);
                assert_true(numbers->saturated(values));
            }
        }
    }
}

// Found by halving: held against its neighbours, for all powers of two that a factor may be and for
// 10^8.
static void test_largest_float(void **state) {
    static const uint32_t greatest[] = {1, 1000, INT32_MAX / 32, INT32_MAX / 3, INT32_MAX - 1};

    (void)state;
    for (int e = -64; e <= 64; e++) {
        double scale = e < 64 ? ldexp(1, e) : ATP_SCALE;
        for (unsigned g = 0; g < sizeof greatest / sizeof greatest[0]; g++) {
            uint32_t bits = atp_largest_bits(greatest[g], scale), above = bits + 1;
            float x, next;
            memcpy(&x, &bits, sizeof x);
            memcpy(&next, &above, sizeof next);
            assert_true(isfinite(x) && llrint((double)x * scale) <= greatest[g]);
            assert_true(!isfinite(next) || (double)next * scale >= 0x1p32 ||
                        llrint((double)next * scale) > greatest[g]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_largest_float),
        cmocka_unit_test(test_avx2_gives_the_same_bits),
        cmocka_unit_test(test_sums_of_many_become_floats),
        cmocka_unit_test(test_one_saturated_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

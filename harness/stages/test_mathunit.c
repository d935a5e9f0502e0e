// SPDX-License-Identifier: Apache-2.0
//
// The formula of stages/mathunit.h on tables written by hand (tna-facts 4.3).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "stages/mathunit.h"

// Entry i holds 16 i: with scale -7 the operand's four leading bits.
#define IDENTITY                                                                                   \
    { 0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240 }

static void leading_bits(void **state) {
    (void)state;
    const struct sk_math_unit m = {.scale = -7, .table = IDENTITY};
    for (uint32_t x = 0; x < 16; x++)
        assert_int_equal(sk_math_unit(&m, x, 32), x);
    assert_int_equal(sk_math_unit(&m, 0x1f, 32), 0x1e);
    assert_int_equal(sk_math_unit(&m, 0x87654321, 32), 0x80000000);
    assert_int_equal(sk_math_unit(&m, 0xffffffff, 32), 0xf0000000);
    assert_int_equal(sk_math_unit(&m, 0x9fff, 16), 0x9000);
}

static void even_exponents(void **state) {
    (void)state;
    const struct sk_math_unit m = {.shift = -1, .scale = 0, .table = IDENTITY};
    assert_int_equal(sk_math_unit(&m, 1, 32), 128);                     // 8/8 * 2^0
    assert_int_equal(sk_math_unit(&m, 2, 32), 64 * 2);                  // 4/8 * 2^2
    assert_int_equal(sk_math_unit(&m, 7, 32), 14 * 16 * 2);             // 14/8 * 2^2
    assert_int_equal(sk_math_unit(&m, 8, 32), 64 * 4);                  // 4/8 * 2^4
    assert_int_equal(sk_math_unit(&m, 0xffffffff, 32), 7 * 16 * 65536); // 7/8 * 2^32
}

static void inverted(void **state) {
    (void)state;
    const struct sk_math_unit m = {.invert = true, .shift = 1, .scale = 10, .table = IDENTITY};
    assert_int_equal(sk_math_unit(&m, 1, 32), 128 << 10);
    assert_int_equal(sk_math_unit(&m, 12, 32), 12 * 16 << 4); // 12/8 * 2^3: exponent -6
    assert_int_equal(sk_math_unit(&m, 1 << 8, 32), 128 >> 6);
    assert_int_equal(sk_math_unit(&m, 1 << 9, 32), 0);
    assert_int_equal(sk_math_unit(&m, 0xffffffff, 32), 0);
}

static void overflow_is_cut(void **state) {
    (void)state;
    const struct sk_math_unit m = {.shift = 1, .scale = 31, .table = {3, [8] = 255, [15] = 1}};
    assert_int_equal(sk_math_unit(&m, 1, 32), 0x80000000);
    assert_int_equal(sk_math_unit(&m, 2, 32), 0);
    assert_int_equal(sk_math_unit(&m, 0x80000000, 32), 0);
    assert_int_equal(sk_math_unit(&m, 0, 32), 0x80000000);
    assert_int_equal(sk_math_unit(&m, 1, 16), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leading_bits),
        cmocka_unit_test(even_exponents),
        cmocka_unit_test(inverted),
        cmocka_unit_test(overflow_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
//
// The AVX-512 conversions give the scalar ones' bits, also where no processor can run them: their
// source is compiled here with the instructions in C (avx512_in_c.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/hosts/core/quantise_compare.h"

#pragma GCC push_options
#pragma GCC target("avx2")
#include "harness/hosts/core/avx512_in_c.h"

// This copy is the test's own.
#define AVX512
#define sk_block_exponent copied_block_exponent
#define sk_block_factor   copied_block_factor
#define sk_block_inverse  copied_block_inverse
#define sk_quantise_best  copied_quantise_best
#define sk_quantise_flush copied_quantise_flush
#define sk_quantise_named copied_quantise_named
#include "hosts/core/quantise.c"
#pragma GCC pop_options

static void test_avx512_equals_the_reference(void **state) {
    (void)state;
    if (!__builtin_cpu_supports("avx2"))
        skip();
    compare_with_scalar(&avx512, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_avx512_equals_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

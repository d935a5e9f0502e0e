// SPDX-License-Identifier: Apache-2.0
//
// test_crc32: every implementation of the CRC against the definition, bit by bit.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/crc32.h"

#define MOST 1200u

static uint32_t definition(uint32_t crc, const uint8_t *b, size_t n, const uint8_t *ones) {
    for (size_t i = 0; i < n; i++) {
        crc ^= b[i] | (ones && i < SK_CRC32_ONES ? ones[i] : 0);
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return crc;
}

static void fill(uint8_t *b, size_t n, uint32_t seed) {
    for (size_t i = 0; i < n; i++)
        b[i] = (uint8_t)((seed = seed * 1664525u + 1013904223u) >> 24);
}

static void test_known_value(void **state) {
    (void)state;
    assert_int_equal(~sk_crc32(UINT32_MAX, (const uint8_t *)"123456789", 9), 0xcbf43926u);
}

// Of every length, at every alignment, from any register, with and without ones.
static void test_one(const struct sk_crc32 *c) {
    uint8_t ones[SK_CRC32_ONES];

    fill(ones, sizeof ones, 7);
    for (size_t n = 0; n <= MOST; n++) {
        const size_t at = n % 67;
        const uint32_t from = (uint32_t)n * 2654435761u;
        // no byte after the last one: a sanitizer sees a read of it
        uint8_t *memory = malloc(at + n + 1), *b = memory + 1 + at;
        assert_non_null(memory);
        fill(memory, at + n + 1, (uint32_t)n + 1);
        assert_int_equal(c->run(from, b, n, NULL), definition(from, b, n, NULL));
        assert_int_equal(c->run(from, b, n, ones), definition(from, b, n, ones));
        free(memory);
    }
}

static void test_all_agree(void **state) {
    static const char *const names[] = {"tables", "pclmul", "vpclmul"};
    unsigned tried = 0;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct sk_crc32 *c = sk_crc32_named(names[i]);
        if (!c)
            continue; // not on this processor
        assert_string_equal(c->name, names[i]);
        test_one(c);
        tried++;
    }
    assert_non_null(sk_crc32_named("tables"));
    assert_null(sk_crc32_named("other"));
    assert_true(tried >= 1 && sk_crc32_named(sk_crc32_best()->name) == sk_crc32_best());
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_value),
                                       cmocka_unit_test(test_all_agree)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

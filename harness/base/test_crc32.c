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

// Of every number of bytes before a tail, and tails of every length.
static void test_before(const struct sk_crc32 *c) {
    uint8_t ones[SK_CRC32_ONES];

    fill(ones, sizeof ones, 7);
    for (size_t n = 0; n <= MOST; n++) {
        const size_t before = 4 + n % 61, at = n % 67;
        const uint32_t from = (uint32_t)n * 2654435761u;
        uint8_t *memory = malloc(at + before), *b = memory + at, *tail = malloc(n + 1), *all;
        struct sk_crc32_tail t;
        all = malloc(before + n);
        assert_true(memory && tail && all);
        fill(memory, at + before, (uint32_t)n + 1);
        fill(tail, n + 1, (uint32_t)n + 2);
        memcpy(all, b, before);
        memcpy(all + before, tail, n);
        sk_crc32_tail_of(&t, from, before, NULL, tail, n);
        assert_int_equal(c->run_before(&t, b), definition(from, all, before + n, NULL));
        sk_crc32_tail_of(&t, from, before, ones, tail, n);
        for (size_t i = 0; i < before; i++)
            all[i] |= ones[i];
        assert_int_equal(c->run_before(&t, b), definition(from, all, before + n, NULL));
        free(memory);
        free(tail);
        free(all);
    }
}

// Several at once, of lengths that differ.
static void test_each(const struct sk_crc32 *c) {
    static uint8_t bytes[MOST + 64];
    uint8_t ones[SK_CRC32_ONES];

    fill(bytes, sizeof bytes, 11);
    fill(ones, sizeof ones, 7);
    for (size_t n = 0; n <= MOST; n++) {
        const uint8_t *at[9];
        size_t lengths[9];
        uint32_t after[9];
        const unsigned count = (unsigned)n % 10;
        for (unsigned i = 0; i < count; i++) {
            lengths[i] = (n + (n % 3 ? i * 16 : i * 331)) % (MOST + 1);
            at[i] = bytes + (n + 7 * i) % 64;
        }
        c->run_each(after, (uint32_t)n, at, lengths, count, ones);
        for (unsigned i = 0; i < count; i++)
            assert_int_equal(after[i], definition((uint32_t)n, at[i], lengths[i], ones));
    }
}

static void test_longest_tail(void **state) {
    static uint8_t bytes[64 + SK_CRC32_TAIL];
    struct sk_crc32_tail t;

    (void)state;
    fill(bytes, sizeof bytes, 3);
    sk_crc32_tail_of(&t, 5, 64, NULL, bytes + 64, SK_CRC32_TAIL);
    assert_int_equal(sk_crc32_best()->run_before(&t, bytes),
                     definition(5, bytes, sizeof bytes, NULL));
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
        test_before(c);
        test_each(c);
        tried++;
    }
    assert_non_null(sk_crc32_named("tables"));
    assert_null(sk_crc32_named("other"));
    assert_true(tried >= 1 && sk_crc32_named(sk_crc32_best()->name) == sk_crc32_best());
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_value),
                                       cmocka_unit_test(test_longest_tail),
                                       cmocka_unit_test(test_all_agree)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

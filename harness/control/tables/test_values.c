// SPDX-License-Identifier: Apache-2.0
//
// Values between text and words: every form, every way to be refused, and the way back.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tables/values.h"

static struct sk_field_desc field(uint32_t width, enum sk_match match, bool is_signed) {
    return (struct sk_field_desc){
        .name = "f", .width = width, .match = match, .is_signed = is_signed};
}

static void test_values(void **state) {
    (void)state;
    const struct {
        const char *text;
        uint32_t width;
        bool is_signed;
        uint64_t want[2];
    } cases[] = {
        {"123", 8, false, {123}},
        {"0x1f", 5, false, {0x1f}},
        {"0X1F", 5, false, {0x1f}},
        {"0b101", 3, false, {5}},
        {"1_000", 10, false, {1000}},
        {"0x00000001", 1, false, {1}},
        {" 7 ", 3, false, {7}},
        {"true", 1, false, {1}},
        {"false", 1, false, {0}},
        {"-1", 8, true, {0xff}},
        {"-128", 8, true, {0x80}},
        {"127", 8, true, {0x7f}},
        {"0xff", 8, true, {0xff}},
        {"-0", 8, false, {0}},
        {"-9223372036854775808", 64, true, {UINT64_C(1) << 63}},
        {"18446744073709551615", 64, false, {UINT64_MAX}},
        {"340282366920938463463374607431768211455", 128, false, {UINT64_MAX, UINT64_MAX}},
        {"0x0123456789abcdef0011223344556677",
         128,
         false,
         {UINT64_C(0x0011223344556677), UINT64_C(0x0123456789abcdef)}},
        {"-1", 65, true, {UINT64_MAX, 1}},
        {"10.0.0.1", 32, false, {0x0a000001}},
        {"00:11:22:aa:bb:Cc", 48, false, {UINT64_C(0x001122aabbcc)}},
        {"2001:db8::1", 128, false, {1, UINT64_C(0x20010db800000000)}},
        {"0:11:22:33:44:55:66:77",
         128,
         false,
         {UINT64_C(0x0044005500660077), UINT64_C(0x1100220033)}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sk_field_desc f = field(cases[i].width, SK_EXACT, cases[i].is_signed);
        struct sk_error err = {""};
        uint64_t words[2] = {0};
        if (sk_value_parse(cases[i].text, &f, words, &err))
            fail_msg("%s: %s", cases[i].text, err.text);
        assert_memory_equal(words, cases[i].want, sk_words(cases[i].width) * 8);
    }
}

static void test_values_refused(void **state) {
    (void)state;
    const struct {
        const char *text;
        uint32_t width;
        bool is_signed;
        const char *why;
    } cases[] = {
        {"256", 8, false, "does not fit 8 bits"},
        {"0x100", 8, false, "does not fit 8 bits"},
        {"0b11", 1, false, "does not fit 1 bit"},
        {"128", 8, true, "does not fit signed 8 bits"},
        {"-129", 8, true, "does not fit signed"},
        {"-1", 8, false, "negative"},
        {"18446744073709551616", 64, false, "does not fit 64 bits"},
        {"", 8, false, "missing"},
        {"  ", 8, false, "missing"},
        {"-", 8, true, "is not a value"},
        {"0x", 8, false, "is not a value"},
        {"0b2", 8, false, "is not a value"},
        {"0xg", 8, false, "is not a value"},
        {"12a", 8, false, "is not a value"},
        {"_1", 8, false, "is not a value"},
        {"0x_1", 8, false, "is not a value"},
        {"true", 2, false, "is not a value"},
        {"0x*", 8, false, "is not a value"},
        {"10.0.0.1", 31, false, "an IPv4 address of 32 bits"},
        {"10.0.0", 32, false, "is not a value"},
        {"10.0.0.256", 32, false, "is not a value"},
        {"00:11:22:33:44:55", 32, false, "a MAC address of 48 bits"},
        {"00:11:22:33:44", 48, false, "is not a value"},
        {"0:11:22:33:44:555", 48, false, "is not a value"},
        {"1.5", 32, false, "is not a value"},
        {"::1", 48, false, "an IPv6 address of 128 bits"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sk_field_desc f = field(cases[i].width, SK_EXACT, cases[i].is_signed);
        struct sk_error err = {""};
        uint64_t words[2];
        if (sk_value_parse(cases[i].text, &f, words, &err) >= 0 || !strstr(err.text, cases[i].why))
            fail_msg("'%s' (%u bits): '%s'", cases[i].text, cases[i].width, err.text);
    }
}

static void test_keys(void **state) {
    (void)state;
    const struct {
        const char *text;
        uint32_t width;
        enum sk_match match;
        uint64_t value, mask;
    } cases[] = {
        {"5", 16, SK_EXACT, 5, 0xffff},
        {"5", 16, SK_TERNARY, 5, 0xffff},
        {"5", 16, SK_RANGE, 5, 5},
        {"5", 16, SK_LPM, 5, 0xffff},
        {"*", 16, SK_TERNARY, 0, 0},
        {"*", 16, SK_LPM, 0, 0},
        {"*", 16, SK_RANGE, 0, 0xffff},
        {"10.0.0.0/8", 32, SK_LPM, 0x0a000000, 0xff000000},
        {"10.9.9.9/8", 32, SK_LPM, 0x0a000000, 0xff000000},
        {"0/0", 32, SK_LPM, 0, 0},
        {"0x1234/16", 16, SK_TERNARY, 0x1234, 0xffff},
        {"0x12 &&& 0xf0", 8, SK_TERNARY, 0x10, 0xf0},
        {"10.0.0.0&&&255.0.0.0", 32, SK_LPM, 0x0a000000, 0xff000000},
        {"0x**1f", 16, SK_TERNARY, 0x1f, 0xff},
        {"0x*1f", 16, SK_TERNARY, 0x1f, 0xf0ff},
        {"0b1**0", 4, SK_TERNARY, 8, 9},
        {"0x***", 9, SK_TERNARY, 0, 0},
        {"0b10******", 8, SK_LPM, 0x80, 0xc0},
        {"1..5", 16, SK_RANGE, 1, 5},
        {"0x10 .. 0x20", 16, SK_RANGE, 16, 32},
        {"10.0.0.1..10.0.0.9", 32, SK_RANGE, 0x0a000001, 0x0a000009},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sk_field_desc f = field(cases[i].width, cases[i].match, false);
        struct sk_error err = {""};
        uint64_t value, mask;
        if (sk_key_parse(cases[i].text, &f, &value, &mask, &err))
            fail_msg("%s: %s", cases[i].text, err.text);
        assert_int_equal(value, cases[i].value);
        assert_int_equal(mask, cases[i].mask);
    }
}

static void test_keys_refused(void **state) {
    (void)state;
    const struct {
        const char *text;
        enum sk_match match;
        const char *why;
    } cases[] = {
        {"*", SK_EXACT, "not allowed for an exact key"},
        {"1/8", SK_EXACT, "not allowed for an exact key"},
        {"1&&&1", SK_EXACT, "not allowed for an exact key"},
        {"0x*1", SK_EXACT, "not allowed for an exact key"},
        {"1..2", SK_EXACT, "not allowed for an exact key"},
        {"1..2", SK_TERNARY, "not allowed for a ternary key"},
        {"1..2", SK_LPM, "not allowed for an lpm key"},
        {"1/8", SK_RANGE, "not allowed for a range key"},
        {"1&&&1", SK_RANGE, "not allowed for a range key"},
        {"0x*1", SK_RANGE, "not allowed for a range key"},
        {"2..1", SK_RANGE, "ends before it starts"},
        {"1..", SK_RANGE, "missing"},
        {"1&&&", SK_TERNARY, "missing"},
        {"1/", SK_LPM, "missing"},
        {"1/17", SK_LPM, "more than the field's 16 bits"},
        {"1/0x1ffffffff", SK_LPM, "does not fit"},
        {"0x*1", SK_LPM, "must be a prefix"},
        {"1&&&1", SK_LPM, "must be a prefix"},
        {"1*", SK_TERNARY, "is not a value"},
        {"0x1****", SK_TERNARY, "does not fit"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sk_field_desc f = field(16, cases[i].match, false);
        struct sk_error err = {""};
        uint64_t value, mask;
        if (sk_key_parse(cases[i].text, &f, &value, &mask, &err) >= 0 ||
            !strstr(err.text, cases[i].why))
            fail_msg("'%s': '%s'", cases[i].text, err.text);
    }
}

static void fill(uint64_t *words, uint32_t width) {
    for (unsigned i = 0; i < sk_words(width); i++)
        words[i] = (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();
    if (width % 64)
        words[sk_words(width) - 1] &= (UINT64_C(1) << width % 64) - 1;
}

static void random_mask(uint64_t *mask, uint32_t width, enum sk_match match) {
    uint32_t length = (uint32_t)rand() % (width + 1);
    if (match == SK_TERNARY && rand() % 2)
        return; // stays random
    memset(mask, 0, sk_words(width) * 8);
    for (uint32_t bit = match == SK_EXACT ? 0 : width - length; bit < width; bit++)
        mask[bit / 64] |= UINT64_C(1) << bit % 64;
}

static void check_way_back(const struct sk_field_desc *f, uint64_t *value, uint64_t *mask) {
    uint64_t value_again[3], mask_again[3];
    char text[256];
    struct sk_error err = {""};
    assert_true(sk_key_format(text, sizeof text, f, value, mask) < sizeof text);
    if (sk_key_parse(text, f, value_again, mask_again, &err))
        fail_msg("%s: %s", text, err.text);
    assert_memory_equal(value, value_again, sk_words(f->width) * 8);
    assert_memory_equal(mask, mask_again, sk_words(f->width) * 8);
}

static void test_what_is_printed_parses(void **state) {
    (void)state;
    srand(1);
    for (int i = 0; i < 20000; i++) {
        enum sk_match match = (enum sk_match)(rand() % 4);
        struct sk_field_desc f = field((uint32_t)rand() % 130 + 1, match, rand() % 2);
        uint64_t value[3], mask[3];
        fill(value, f.width);
        fill(mask, f.width);
        if (match == SK_RANGE) {
            memcpy(mask, value, sizeof mask);
            value[0] -= value[0] > 9 && sk_words(f.width) == 1 ? 9 : 0;
        } else {
            random_mask(mask, f.width, match);
            for (unsigned w = 0; w < sk_words(f.width); w++)
                value[w] &= mask[w];
        }
        check_way_back(&f, value, mask);
    }
}

static void test_format_is_bounded(void **state) {
    (void)state;
    const struct sk_field_desc f = field(128, SK_TERNARY, false);
    const uint64_t value[2] = {1, UINT64_C(1) << 62}, mask[2] = {1, UINT64_C(1) << 62};
    char whole[128], part[128];
    size_t length = sk_key_format(whole, sizeof whole, &f, value, mask);
    assert_int_equal(length, strlen(whole));
    for (size_t size = 1; size <= length; size++) {
        memset(part, 'x', sizeof part);
        assert_int_equal(sk_key_format(part, size, &f, value, mask), length);
        assert_memory_equal(part, whole, size - 1);
        assert_int_equal(part[size - 1], 0);
        assert_int_equal(part[size], 'x');
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_values_refused),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_keys_refused),
        cmocka_unit_test(test_what_is_printed_parses),
        cmocka_unit_test(test_format_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
//
// The limits of a compilation: compiler/base/arena.h. And text that grows: compiler/base/text.h.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "compiler/base/arena.h"
#include "compiler/base/text.h"

#define MB (1u << 20)

static void leaves_when_memory_is_exceeded(void **state) {
    (void)state;
    struct arena *a = arena_new();
    jmp_buf leave;
    volatile unsigned n = 0;
    arena_limit(a, 8 * MB, 1000, &leave);
    if (setjmp(leave) == 0)
        for (; n < 1000; n++)
            arena_alloc(a, 100000);
    assert_in_range(n, 75, 84); // 8 MiB in pieces of 100,000 bytes, less what the arena has beside
    assert_int_equal(arena_exceeded(a), ARENA_TOO_MUCH_MEMORY);
    assert_non_null(arena_alloc(a, 100000)); // the limits are gone, so that it can be told
    arena_free(a);
}

static void leaves_when_counted_memory_is_exceeded(void **state) {
    (void)state;
    struct arena *a = arena_new();
    jmp_buf leave;
    volatile unsigned n = 0;
    arena_limit(a, 8 * MB, 1000, &leave);
    if (setjmp(leave) == 0)
        for (; n < 1000; n++)
            arena_count(a, MB);
    assert_int_equal(n, 8);
    assert_int_equal(arena_exceeded(a), ARENA_TOO_MUCH_MEMORY);
    arena_free(a);
}

static void leaves_when_time_is_exceeded(void **state) {
    (void)state;
    struct arena *a = arena_new();
    jmp_buf leave;
    volatile unsigned left = 0;
    arena_limit(a, 8 * MB, 0, &leave);
    if (setjmp(leave) == 0)
        for (unsigned i = 0; i < 100000; i++)
            arena_spend(a, 1000);
    else
        left = 1;
    assert_true(left);
    assert_int_equal(arena_exceeded(a), ARENA_TOO_MUCH_TIME);
    arena_free(a);
}

static void stays_within(void **state) {
    (void)state;
    struct arena *a = arena_new();
    jmp_buf leave;
    arena_limit(a, 8 * MB, 1000, &leave);
    if (setjmp(leave) != 0)
        fail();
    for (unsigned i = 0; i < 70; i++)
        arena_alloc(a, 100000);
    arena_limit(a, 0, 0, NULL);
    for (unsigned i = 0; i < 70; i++)
        arena_alloc(a, 100000);
    assert_int_equal(arena_exceeded(a), ARENA_WITHIN);
    arena_free(a);
}

static void text_grows(void **state) {
    (void)state;
    struct arena *a = arena_new();
    struct text_buffer t = {0};
    char wanted[4096] = "";
    size_t n = 0;
    assert_string_equal(text_of(&t), "");
    for (unsigned i = 0; i < 500; i++) {
        text_append(a, &t, "%u,%s", i, i % 7 ? "" : "x");
        n += (size_t)snprintf(wanted + n, sizeof wanted - n, "%u,%s", i, i % 7 ? "" : "x");
    }
    assert_string_equal(text_of(&t), wanted);
    assert_int_equal(t.n, n);
    arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_when_memory_is_exceeded),
        cmocka_unit_test(leaves_when_counted_memory_is_exceeded),
        cmocka_unit_test(leaves_when_time_is_exceeded),
        cmocka_unit_test(stays_within),
        cmocka_unit_test(text_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

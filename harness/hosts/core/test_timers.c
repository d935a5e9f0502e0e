// SPDX-License-Identifier: Apache-2.0
//
// Timers: the lazy heap against an array of deadlines that is searched from end to end.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hosts/core/timers.h"
#include "harness/hosts/random.h"

#define COUNT 37

static uint64_t earliest(const uint64_t *deadline) {
    uint64_t min = SK_TIMERS_NEVER;

    for (uint32_t i = 0; i < COUNT; i++)
        min = deadline[i] < min ? deadline[i] : min;
    return min;
}

// Takes all due timers from both, and checks that each came out at its deadline and in order.
static void expire_all(struct sk_timers *t, uint64_t *model, uint64_t now) {
    uint32_t id;

    while (sk_timers_expire(t, now, &id)) {
        assert_in_range(id, 0, COUNT - 1);
        assert_int_equal(model[id], earliest(model));
        assert_true(model[id] <= now);
        model[id] = SK_TIMERS_NEVER;
    }
    assert_true(earliest(model) > now);
}

static void test_equals_a_searched_array(void **state) {
    struct sk_random r = sk_random_seeded(1);
    uint64_t model[COUNT], now = 0;
    struct sk_timers t;

    (void)state;
    assert_int_equal(0, sk_timers_init(&t, COUNT));
    for (int i = 0; i < COUNT; i++)
        model[i] = SK_TIMERS_NEVER;
    for (int step = 0; step < 200000; step++) {
        uint32_t id = (uint32_t)sk_random_below(&r, COUNT);
        if (sk_random_below(&r, 3) == 0) {
            model[id] = SK_TIMERS_NEVER;
            sk_timers_cancel(&t, id);
        } else {
            model[id] = now + sk_random_below(&r, 50);
            sk_timers_arm(&t, id, model[id]);
        }
        assert_int_equal(earliest(model), sk_timers_next(&t));
        if (sk_random_below(&r, 8) == 0) {
            now += sk_random_below(&r, 30);
            expire_all(&t, model, now);
        }
    }
    sk_timers_free(&t);
}

static void test_never_is_not_a_deadline(void **state) {
    struct sk_timers t;
    uint32_t id;

    (void)state;
    assert_int_equal(0, sk_timers_init(&t, 2));
    sk_timers_arm(&t, 1, SK_TIMERS_NEVER);
    assert_int_equal(SK_TIMERS_NEVER, sk_timers_next(&t));
    assert_false(sk_timers_expire(&t, SK_TIMERS_NEVER, &id));
    sk_timers_free(&t);
}

static void test_no_timers_at_all(void **state) {
    struct sk_timers t;
    uint32_t id;

    (void)state;
    assert_int_equal(0, sk_timers_init(&t, 0));
    assert_int_equal(SK_TIMERS_NEVER, sk_timers_next(&t));
    assert_false(sk_timers_expire(&t, 5, &id));
    sk_timers_free(&t);
    sk_timers_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equals_a_searched_array),
        cmocka_unit_test(test_never_is_not_a_deadline),
        cmocka_unit_test(test_no_timers_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

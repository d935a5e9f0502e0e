// SPDX-License-Identifier: Apache-2.0
//
// Waits in real time (base/clock.h): beside peers that yield, and beside one that does not.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

#define SECOND UINT64_C(1000000000)

static int soon(void *context) {
    unsigned *left = context;
    return *left == 0 || --*left == 0;
}

static int never(void *context) {
    (void)context;
    return 0;
}

static void test_polls_until_ready(void **state) {
    (void)state;
    for (unsigned asked = 1; asked < 200; asked += 33) {
        unsigned left = asked;
        assert_int_equal(sk_clock_poll(soon, &left, 60 * SECOND), 1);
        assert_int_equal(left, 0);
    }
    const uint64_t before = sk_clock_now();
    assert_int_equal(sk_clock_poll(never, NULL, 3000000), 0);
    assert_true(sk_clock_now() - before >= 3000000);
    assert_int_equal(sk_clock_poll(never, NULL, 0), 0);
}

// ---- yields ----

static atomic_bool over;

static void *work(void *aux) {
    (void)aux;
    while (!atomic_load(&over))
        __builtin_ia32_pause();
    return NULL;
}

static int one_processor(void) {
    cpu_set_t mine, one;
    CPU_ZERO(&one);
    assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
    int cpu = 0;
    while (!CPU_ISSET((unsigned)cpu, &mine))
        cpu++;
    CPU_SET((unsigned)cpu, &one);
    return sched_setaffinity(0, sizeof one, &one);
}

// Beside one that never gives its processor away, a yield soon says so, and then none is made: the
// calls of the next milliseconds do not wait for that one's slices.
static void *yields_beside_work(void *aux) {
    bool *rested = aux;
    const uint64_t start = sk_clock_now();
    while (!*rested && sk_clock_now() - start < 300 * SECOND) {
        while (sk_clock_yield() && sk_clock_now() - start < 300 * SECOND)
            ;
        const uint64_t from = sk_clock_now();
        unsigned refused = 0;
        while (refused < 1000 && !sk_clock_yield())
            refused++;
        // The system may take the processor away here, too: then it is tried again.
        *rested = refused == 1000 && sk_clock_now() - from < 10000000;
    }
    return NULL;
}

static void test_yields_rest_beside_work(void **state) {
    (void)state;
    cpu_set_t mine;
    pthread_t worker, yielder;
    bool rested = false;
    assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
    assert_int_equal(one_processor(), 0); // threads begin where this one is
    assert_int_equal(pthread_create(&worker, NULL, work, NULL), 0);
    assert_int_equal(pthread_create(&yielder, NULL, yields_beside_work, &rested), 0);
    pthread_join(yielder, NULL);
    atomic_store(&over, true);
    pthread_join(worker, NULL);
    assert_int_equal(sched_setaffinity(0, sizeof mine, &mine), 0);
    assert_true(rested);
}

// One that yields back at once is no reason to rest.
static void *yields(void *aux) {
    (void)aux;
    while (!atomic_load(&over))
        sched_yield();
    return NULL;
}

static void test_yields_go_on_beside_yields(void **state) {
    (void)state;
    cpu_set_t mine;
    pthread_t other;
    unsigned given = 0;
    atomic_store(&over, false);
    assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
    assert_int_equal(one_processor(), 0);
    assert_int_equal(pthread_create(&other, NULL, yields, NULL), 0);
    const uint64_t start = sk_clock_now();
    while (given < 100 && sk_clock_now() - start < 300 * SECOND)
        given += sk_clock_yield();
    atomic_store(&over, true);
    pthread_join(other, NULL);
    assert_int_equal(sched_setaffinity(0, sizeof mine, &mine), 0);
    assert_int_equal(given, 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_polls_until_ready),
        cmocka_unit_test(test_yields_rest_beside_work),
        cmocka_unit_test(test_yields_go_on_beside_yields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

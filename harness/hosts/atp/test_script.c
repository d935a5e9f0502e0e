// SPDX-License-Identifier: Apache-2.0
//
// The fuzzers' scripts with random bytes: they hold, and they reach what they are about.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "harness/hosts/atp/script.h"
#include "harness/hosts/random.h"

#define SCRIPTS 3000
#define BYTES   1500

static void run(void (*script)(const uint8_t *, size_t, struct script_reach *),
                struct script_reach *reach) {
    struct sk_random random = sk_random_seeded(7);
    uint8_t bytes[BYTES];

    for (int i = 0; i < SCRIPTS; i++) {
        for (int b = 0; b < BYTES; b++)
            bytes[b] = (uint8_t)(sk_random_next(&random) >> 40);
        script(bytes, sizeof bytes, reach);
    }
    printf("accepted %llu, ignored %llu, done %llu, floats %llu, restarts %llu\n",
           (unsigned long long)reach->accepted, (unsigned long long)reach->ignored,
           (unsigned long long)reach->done, (unsigned long long)reach->floats,
           (unsigned long long)reach->restarts);
    assert_true(reach->accepted > 1000 && reach->ignored > 1000);
    assert_true(reach->done > 100 && reach->floats > 100);
}

static void test_worker(void **state) {
    struct script_reach reach = {0};

    (void)state;
    run(script_worker, &reach);
}

static void test_server(void **state) {
    struct script_reach reach = {0};

    (void)state;
    run(script_server, &reach);
    assert_true(reach.restarts > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worker),
        cmocka_unit_test(test_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

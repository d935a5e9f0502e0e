// SPDX-License-Identifier: Apache-2.0
//
// The fuzzer's scripts without the fuzzer: random bytes, for the invariants in worker_script.h, and
// a check that random scripts reach what they are for.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "harness/hosts/switchml/worker_script.h"
#include "harness/hosts/random.h"

#define SCRIPTS 3000

static void test_random_scripts(void **state) {
    struct fuzz_reach reach = {0};
    uint8_t script[2000];

    (void)state;
    for (uint64_t seed = 0; seed < SCRIPTS; seed++) {
        struct sk_random r = sk_random_seeded(seed);
        size_t len = sk_random_below(&r, sizeof script);
        for (size_t i = 0; i < len; i++)
            script[i] = (uint8_t)sk_random_next(&r);
        fuzz_worker_script(script, len, &reach);
    }
    print_message("%u scripts: %llu steps, %llu frames accepted, %llu ignored, %llu tensors done\n",
                  SCRIPTS, (unsigned long long)reach.steps, (unsigned long long)reach.accepted,
                  (unsigned long long)reach.ignored, (unsigned long long)reach.tensors_done);
    assert_true(reach.accepted > SCRIPTS && reach.ignored > SCRIPTS);
    assert_true(reach.tensors_done > SCRIPTS / 10 && reach.asked > SCRIPTS / 10);
}

static void test_the_empty_script(void **state) {
    (void)state;
    fuzz_worker_script(NULL, 0, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_scripts),
        cmocka_unit_test(test_the_empty_script),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

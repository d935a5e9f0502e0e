// SPDX-License-Identifier: Apache-2.0
//
// Thousands of random all-reduces with loss, duplication and reordering in both directions, against
// the model of algorithm 3. Which seeds: SILKEN_SEEDS=first..last in the environment; a seed that
// fails is printed and can be run alone.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "harness/hosts/model_switch.h"
#include "harness/hosts/switchml/schedule.h"

#define DEFAULT_SEEDS 3000

static unsigned long long first_seed = 1, last_seed = DEFAULT_SEEDS;

static void run_seeds(const struct schedule_limits *limits, uint64_t first, uint64_t last,
                      struct schedule_result *total) {
    struct switch_under_test sut = model_switch_new();
    uint64_t seed = schedule_run_range(&sut, first, last, limits, total);

    sut.free(sut.state);
    if (seed != 0) {
        fail_msg("seed %llu: %s (%u workers, k %u, pool %u)", (unsigned long long)seed,
                 total->fault, total->workers, total->k, total->pool_size);
    }
}

static void test_all_results_are_right(void **state) {
    struct schedule_limits limits = schedule_default_limits();
    struct schedule_result total = {0};

    (void)state;
    run_seeds(&limits, first_seed, last_seed, &total);
    schedule_print(&total, last_seed - first_seed + 1);
    if (last_seed - first_seed >= 100) { // the population has to contain what the test is about
        assert_true(total.traffic.up_lost > 0 && total.traffic.down_lost > 0);
        assert_true(total.traffic.up_duplicated > 0 && total.traffic.down_duplicated > 0);
        assert_true(total.retransmissions > 0);
    }
}

static void test_small_packets(void **state) {
    static const unsigned sizes[] = {32, 128};
    struct schedule_limits limits = schedule_default_limits();
    struct schedule_result total = {0};

    (void)state;
    limits.sizes = sizes;
    run_seeds(&limits, 1, 300, &total);
    assert_true(total.retransmissions > 0);
}

// The same seed gives the same run, to the last counter.
static void test_a_seed_is_a_run(void **state) {
    struct schedule_limits limits = schedule_default_limits();
    struct switch_under_test sut = model_switch_new();

    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        struct schedule_result a, b;
        assert_int_equal(0, schedule_run(&sut, seed, &limits, &a));
        assert_int_equal(0, schedule_run(&sut, seed, &limits, &b));
        assert_memory_equal(&a, &b, sizeof a);
    }
    sut.free(sut.state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_results_are_right),
        cmocka_unit_test(test_small_packets),
        cmocka_unit_test(test_a_seed_is_a_run),
    };
    const char *seeds = getenv("SILKEN_SEEDS");

    if (seeds && sscanf(seeds, "%llu..%llu", &first_seed, &last_seed) != 2) {
        fprintf(stderr, "SILKEN_SEEDS must be first..last\n");
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
//
// Ten thousand random all-reduces through the compiled SwitchML program: 1 to 32 workers, 64 and
// 256 elements a packet (and some with 32 and 128), float32 and int32 tensors of random length,
// loss, duplication and reordering in both directions. Every element of every result is compared
// with the reference (schedule.h). Then the same of 16-bit floats through halves.p4, HALVES seeds
// of them (environment; 300). SILKEN_SEEDS=first..last runs other ones; a seed that fails is
// printed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/hosts/switchml/p4_switch.h"
#include "harness/hosts/switchml/schedule.h"

#define SCHEDULES           10000
#define SCHEDULES_SANITIZED 200 // the sanitizers' build is some ten times slower
#define OTHERS              300
#define OTHERS_SANITIZED    60

static unsigned long long first_seed = 1, last_seed = SCHEDULES, others = OTHERS, halves;

static void run_seeds(bool spread, const struct schedule_limits *limits, uint64_t first,
                      uint64_t last, struct schedule_result *total) {
    struct switch_under_test sut = p4_switch_new(spread);
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
    run_seeds(false, &limits, first_seed, last_seed, &total);
    schedule_print(&total, last_seed - first_seed + 1);
    if (last_seed - first_seed >= 100) { // the population has to contain what the test is about
        assert_true(total.traffic.up_lost > 0 && total.traffic.down_lost > 0);
        assert_true(total.traffic.up_duplicated > 0 && total.traffic.down_duplicated > 0);
        assert_true(total.retransmissions > 0);
    }
}

static void test_workers_on_all_pipes(void **state) {
    struct schedule_limits limits = schedule_default_limits();
    struct schedule_result total = {0};

    (void)state;
    run_seeds(true, &limits, 1, others, &total);
    assert_true(total.retransmissions > 0);
}

static void test_32_and_128_elements(void **state) {
    static const unsigned sizes[] = {32, 128};
    struct schedule_limits limits = schedule_default_limits();
    struct schedule_result total = {0};

    (void)state;
    limits.sizes = sizes;
    limits.sizes_count = 2;
    run_seeds(false, &limits, 1, others, &total);
    assert_true(total.retransmissions > 0);
}

// Tensors of f32 and f16; the switch's own model says every bit.
static void test_halves(void **state) {
    static const unsigned sizes[] = {32, 64, 128, 256};
    struct schedule_limits limits = schedule_default_limits();
    struct schedule_result total = {0};

    (void)state;
    limits.sizes = sizes;
    limits.sizes_count = 4;
    limits.halves = true;
    for (unsigned spread = 0; spread < 2; spread++) {
        struct switch_under_test sut = p4_switch_of_halves(spread, NET_FAST);
        uint64_t seed = schedule_run_range(&sut, spread ? halves / 2 + 1 : 1,
                                           spread ? halves : halves / 2, &limits, &total);
        sut.free(sut.state);
        if (seed != 0)
            fail_msg("seed %llu: %s (%u workers, k %u, pool %u)", (unsigned long long)seed,
                     total.fault, total.workers, total.k, total.pool_size);
    }
    schedule_print(&total, halves);
    assert_true(total.retransmissions > 0 && total.traffic.up_lost > 0);
    assert_true(total.traffic.up_duplicated > 0 && total.traffic.down_lost > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_results_are_right),
        cmocka_unit_test(test_workers_on_all_pipes),
        cmocka_unit_test(test_32_and_128_elements),
        cmocka_unit_test(test_halves),
    };
    const char *seeds = getenv("SILKEN_SEEDS"), *variant = getenv("VARIANT"),
               *of_halves = getenv("HALVES");

    if (variant && strcmp(variant, "asan") == 0) {
        last_seed = SCHEDULES_SANITIZED;
        others = OTHERS_SANITIZED;
    }
    halves = of_halves ? strtoull(of_halves, NULL, 10) : others;
    if (seeds && sscanf(seeds, "%llu..%llu", &first_seed, &last_seed) != 2) {
        fprintf(stderr, "SILKEN_SEEDS must be first..last\n");
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
//
// Random ATP jobs through the compiled program, on one level of switches and on two (scenario.h).
// SILKEN_SEEDS=first..last runs other ones, an argument those tests alone whose names match it; a
// seed that fails is printed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/hosts/atp/scenario.h"
#include "harness/net/program.h"

static unsigned long long first_seed = 1, last_seed = 300;
static struct sk_program *program;

static struct scenario_counts run_seeds(const struct scenario_limits *limits) {
    struct scenario_counts counts = {0};
    char fault[200];

    for (uint64_t seed = first_seed; seed <= last_seed; seed++)
        if (!scenario_run(program, seed, limits, &counts, fault))
            fail_msg("seed %llu: %s", (unsigned long long)seed, fault);
    printf(
        "%llu fragments; %llu packets, lost %llu, duplicated %llu; to servers %llu, of one %llu, "
        "of all %llu; resent %llu, timeouts %llu, rehashed %llu, overflows %llu, repeated %llu, "
        "other index %llu, owned at the end %llu, respawned %llu\n",
        (unsigned long long)counts.fragments, (unsigned long long)counts.traffic.sent,
        (unsigned long long)counts.traffic.lost, (unsigned long long)counts.traffic.duplicated,
        (unsigned long long)counts.traffic.to_servers, (unsigned long long)counts.from_one,
        (unsigned long long)counts.from_all, (unsigned long long)counts.retransmissions,
        (unsigned long long)counts.timeouts, (unsigned long long)counts.rehashed,
        (unsigned long long)counts.overflows, (unsigned long long)counts.repeated,
        (unsigned long long)counts.other_index, (unsigned long long)counts.left_owned,
        (unsigned long long)counts.respawned);
    if (last_seed - first_seed >= 100) { // the population has to contain what the test is about
        assert_true(counts.traffic.lost > 0 && counts.from_all > 0 && counts.from_one > 0);
        assert_true(counts.retransmissions > 0 && counts.timeouts > 0 && counts.rehashed > 0);
        assert_true(limits->in_order || counts.traffic.duplicated > 0);
        assert_true(!limits->overflows || counts.overflows > 0);
        assert_true(!limits->respawn || counts.respawned > 0);
    }
    return counts;
}

static void test_one_level_in_order(void **state) {
    (void)state;
    run_seeds(&(struct scenario_limits){.max_racks = 1, .in_order = true});
}

static void test_two_levels_in_order(void **state) {
    (void)state;
    run_seeds(&(struct scenario_limits){.max_racks = NET_MAX_RACKS, .in_order = true});
}

static void test_one_level_in_disorder(void **state) {
    (void)state;
    run_seeds(&(struct scenario_limits){.max_racks = 1});
}

static void test_two_levels_in_disorder(void **state) {
    (void)state;
    run_seeds(&(struct scenario_limits){.max_racks = NET_MAX_RACKS});
}

static void test_overflows(void **state) {
    (void)state;
    run_seeds(&(struct scenario_limits){.max_racks = NET_MAX_RACKS, .overflows = true});
}

static void test_respawned_workers(void **state) {
    (void)state;
    run_seeds(&(struct scenario_limits){.max_racks = NET_MAX_RACKS, .respawn = true});
}

// Found: fragments that were complete before a restart, and first in line after it, held up a
// worker.
static void test_complete_before_a_restart(void **state) {
    const struct scenario_limits limits = {.max_racks = NET_MAX_RACKS, .respawn = true};
    struct scenario_counts counts = {0};
    char fault[200];

    (void)state;
    if (!scenario_run(program, 400, &limits, &counts, fault))
        fail_msg("%s", fault);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_level_in_order),
        cmocka_unit_test(test_two_levels_in_order),
        cmocka_unit_test(test_one_level_in_disorder),
        cmocka_unit_test(test_two_levels_in_disorder),
        cmocka_unit_test(test_overflows),
        cmocka_unit_test(test_respawned_workers),
        cmocka_unit_test(test_complete_before_a_restart),
    };
    const char *seeds = getenv("SILKEN_SEEDS"), *variant = getenv("VARIANT");
    int rc;

    if (variant && strcmp(variant, "asan") == 0)
        last_seed = 30;
    if (seeds && sscanf(seeds, "%llu..%llu", &first_seed, &last_seed) != 2)
        last_seed = first_seed = strtoull(seeds, NULL, 10);
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    program = net_program("p4/atp/atp.p4");
    rc = cmocka_run_group_tests(tests, NULL, NULL);
    sk_program_free(program);
    return rc;
}

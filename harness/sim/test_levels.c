// SPDX-License-Identifier: Apache-2.0
//
// Jobs of SwitchML over several levels of switches: what comes of them, what goes over the links
// between switches, which networks cannot have them, and a part of the fault runs.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/sim/network.h"

#define TOPOLOGY(fan_out)                                                                          \
    "\"topology\": {\"kind\": \"levels\", \"program\": \"with_levels\","                           \
    " \"fan_out\": " fan_out "}"
#define JOB(more, work)                                                                            \
    "\"jobs\": [{\"protocol\": \"switchml\", \"levels\": true, \"switch\": \"s0\"" more            \
    ", \"work\": {\"kind\": \"constant\"" work "}}]"

static bool is_asan(void) {
    const char *variant = getenv("VARIANT");
    return variant && strcmp(variant, "asan") == 0;
}

static void expect_sums(const json_t *result, char *told) {
    if (told)
        fail_msg("%s", told);
    assert_string_equal(network_text(result, "jobs.0.outcome"), "sums");
}

// The packets that the link brought.
static int delivered(const json_t *result, const char *name) {
    size_t i;
    json_t *link;
    json_array_foreach(json_object_get(result, "links"), i, link) {
        if (strcmp(network_text(link, "name"), name) == 0)
            return (int)network_number(link, "delivered");
    }
    fail_msg("there is no link %s", name);
    return 0;
}

// The paper's two layers (section 7): 16 switches with 15 workers each below one with 16 ports.
static void test_240_workers_over_two_levels(void **state) {
    char *told;
    (void)state;
    json_t *r = network_run("{\"name\": \"t\", " TOPOLOGY("[16, 15]") ", " JOB(
                                ", \"elements\": 64, \"slots\": 4", ", \"bytes\": 2048") "}",
                            1, &told);
    expect_sums(r, told);
    assert_int_equal((int)network_number(r, "jobs.0.verified"), 240 * 512);
    // 8 packets a worker, and from each switch one for fifteen
    assert_int_equal(delivered(r, "h0>s1"), 8);
    assert_int_equal(delivered(r, "s1>s0"), 8);
    assert_int_equal(delivered(r, "s0>s16"), 8);
    assert_int_equal(delivered(r, "s16>h239"), 8);
    json_decref(r);
}

static void test_floats_over_three_levels(void **state) {
    char *told;
    (void)state;
    json_t *r = network_run("{\"name\": \"t\", " TOPOLOGY("[2, 2, 3]") ", " JOB(
                                "", ", \"bytes\": 40000, \"count\": 3, \"values\": \"floats\"") "}",
                            1, &told);
    expect_sums(r, told);
    assert_int_equal((int)network_number(r, "jobs.0.verified"), 12 * 3 * 10000);
    json_decref(r);
}

// Workers of one job at switches of all levels, beside another job in one rack of the same.
static void test_workers_at_any_level(void **state) {
    char *told;
    (void)state;
    json_t *r = network_run(
        "{\"name\": \"t\", \"topology\": {\"kind\": \"tree\", \"program\":"
        " \"with_levels\", \"leaves\": [3, 2], \"root_hosts\": 2}, \"jobs\": ["
        "{\"protocol\": \"switchml\", \"levels\": true, \"switch\": \"s0\", \"slots\": 8,"
        " \"work\": {\"kind\": \"constant\", \"bytes\": 50000}},"
        "{\"protocol\": \"switchml\", \"levels\": true, \"switch\": \"s1\", \"slots\": 8,"
        " \"workers\": [\"h0\", \"h2\"], \"work\": {\"kind\": \"constant\", \"bytes\": 50000}}]}",
        1, &told);
    expect_sums(r, told);
    assert_string_equal(network_text(r, "jobs.1.outcome"), "sums");
    assert_int_equal((int)network_number(r, "jobs.0.verified"), 7 * 12500);
    assert_int_equal((int)network_number(r, "jobs.1.verified"), 2 * 12500);
    json_decref(r);
}

static void test_what_a_network_cannot_have(void **state) {
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"{\"name\": \"t\", " TOPOLOGY("[33, 1]") ", " JOB("", "") "}",
         "job job0: switch s0 has more than 32 workers and switches below it"},
        {"{\"name\": \"t\", \"topology\": {\"kind\": \"levels\", \"program\": \"switchml\","
         " \"fan_out\": [2, 2]}, " JOB("", "") "}",
         "job job0 has \"levels\", but the program of switch s0 has none"},
        {"{\"name\": \"t\", " TOPOLOGY(
             "[2]") ", \"jobs\": [{\"protocol\": \"switchml\", \"work\": {}}]}",
         "switch s0 has a program for jobs with \"levels\", which job job0 is not"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *told = network_refused(rows[i].text);
        if (!strstr(told, rows[i].error))
            fail_msg("not '%s': %s", rows[i].error, told);
        free(told);
    }
}

static void test_a_bounded_part_of_the_fault_runs(void **state) {
    static const char *const paths[] = {"sim/scenarios/switchml-two-levels-faults.json",
                                        "sim/scenarios/switchml-three-levels-faults.json"};
    const uint64_t seeds = is_asan() ? 15 : 120;
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            char *told;
            json_t *r = network_run_file(paths[i], seed, &told);
            if (told)
                fail_msg("%s", told);
            json_decref(r);
        }
}

// That sums are looked at: a switch that answers with the partial sums, before all sums have come.
static void test_partial_sums_are_no_answer(void **state) {
    char text[1024], *told;
    (void)state;
    const char *path =
        network_mutant("switchml", "levels_steps.p4",
                       "(op_t.DUPLICATE, size, pipe, 0, _, TO_ABOVE, 0) : start_result",
                       "(op_t.DUPLICATE, size, pipe, 0, _, TO_ABOVE, 0) : start_answer");
    snprintf(
        text, sizeof text,
        "{\"name\": \"t\", \"topology\": {\"kind\": \"levels\", \"program\": "
        "\"%.*swith_levels.p4\","
        " \"fan_out\": [2, 2], \"trunk\": {\"delay_us\": 20}}, " JOB(
            ", \"elements\": 64, \"rto_us\": 20, \"rto_min_us\": 20", ", \"bytes\": 40000") "}",
        (int)(strlen(path) - strlen("switchml.p4")), path);
    json_t *r = network_run(text, 1, &told);
    assert_string_equal(network_text(r, "outcome"), "violated");
    assert_non_null(told);
    if (!strstr(told, "must be"))
        fail_msg("%s", told);
    free(told);
    json_decref(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_240_workers_over_two_levels),
        cmocka_unit_test(test_floats_over_three_levels),
        cmocka_unit_test(test_workers_at_any_level),
        cmocka_unit_test(test_what_a_network_cannot_have),
        cmocka_unit_test(test_partial_sums_are_no_answer),
        cmocka_unit_test(test_a_bounded_part_of_the_fault_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

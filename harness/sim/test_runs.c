// SPDX-License-Identifier: Apache-2.0
//
// Whole networks: what comes of them, that it is the same every time, and that invariants do fire
// when a program is broken on purpose.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/sim/network.h"

static bool is_asan(void) {
    const char *variant = getenv("VARIANT");
    return variant && strcmp(variant, "asan") == 0;
}

static void expect_sums(json_t *result, char *told) {
    if (told)
        fail_msg("%s", told);
    assert_string_equal(network_text(result, "outcome"), "sums");
    size_t i;
    json_t *job;
    json_array_foreach(json_object_get(result, "jobs"), i, job) {
        assert_string_equal(network_text(job, "outcome"), "sums");
    }
}

static void expect_violation(json_t *result, char *told, const char *what) {
    assert_string_equal(network_text(result, "outcome"), "violated");
    assert_non_null(told);
    if (!strstr(told, what))
        fail_msg("not about '%s': %s", what, told);
    assert_non_null(strstr(told, "seed 1, at "));
    assert_non_null(strstr(told, "--seed 1 --trace"));
    free(told);
    json_decref(result);
}

// ---- what comes of networks ----

static void test_switchml_takes_the_time_that_its_bytes_take(void **state) {
    char *told;
    (void)state;
    // 4 workers, 100 blocks of 256 elements, one in flight: 100 round trips. 1076 + 24 bytes take
    // 88 ns on 4 workers, 100 blocks of 256 elements, one in flight: 100 round trips.
    json_t *r = network_run(
        "{\"name\": \"t\", \"topology\": {\"kind\": \"rack\", \"program\": \"switchml\","
        " \"hosts\": 4, \"link\": {\"gbps\": 100, \"delay_us\": 1}},"
        " \"jobs\": [{\"protocol\": \"switchml\", \"slots\": 1,"
        " \"work\": {\"kind\": \"constant\", \"bytes\": 102400}}]}",
        1, &told);
    expect_sums(r, told);
    // a frame is 52 + 1024 bytes, 24 more on the wire: 1100 * 8 / 100 = 88 ns, twice; 2000 ns delay
    assert_float_equal(network_number(r, "done_us"), 217.6, 1e-3);
    assert_int_equal((int)network_number(r, "jobs.0.verified"), 4 * 25600);
    assert_int_equal((int)network_number(r, "links.0.packets"), 100);
    json_decref(r);
}

static void test_atp_puts_together_two_levels(void **state) {
    char *told;
    (void)state;
    json_t *r = network_run_file("sim/scenarios/atp-two-levels.json", 1, &told);
    expect_sums(r, told);
    // nearly all fragments come to the server once, from all six workers
    const double all = network_number(r, "jobs.0.servers.0.from_all"),
                 completed = network_number(r, "jobs.0.servers.0.completed");
    assert_int_equal((int)completed, 2 * 16130); // 1,000,000 values, 62 a fragment
    assert_true(all > 0.95 * completed);
    assert_int_equal((int)network_number(r, "jobs.0.verified"), 2 * 6 * 1000000);
    assert_true(json_array_size(network_get(r, "series.jobs.job.gbps")) > 10);
    json_decref(r);
}

static void test_networks_of_all_kinds(void **state) {
    static const char *const topologies[] = {
        "{\"kind\": \"dumbbell\", \"program\": \"atp\", \"left\": 3, \"right\": 2}",
        "{\"kind\": \"tree\", \"program\": \"atp\", \"leaves\": [2, 1], \"root_hosts\": 2}",
        "{\"kind\": \"leaf-spine\", \"program\": \"atp\", \"leaves\": 3, \"hosts\": 2, \"spines\": "
        "2}",
        "{\"kind\": \"custom\", \"program\": \"atp\", \"switches\": [{\"name\": \"left\"},"
        " {\"name\": \"core\", \"program\": \"l2\"}, {\"name\": \"right\", \"pipes\": 2}],"
        " \"hosts\": [\"a\", \"b\", \"c\", \"h4\"], \"links\": ["
        " {\"between\": [\"a\", \"left\"]}, {\"between\": [\"b\", \"left\"], \"gbps\": 10},"
        " {\"between\": [\"left\", \"core\"]}, {\"between\": [\"right\", \"core\"], \"gbps\": 0},"
        " {\"between\": [\"c\", \"right\"]}, {\"between\": [\"h4\", \"right\"]}]}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof topologies / sizeof *topologies; i++) {
        char text[2048], *told;
        snprintf(text, sizeof text,
                 "{\"name\": \"t\", \"topology\": %s, \"jobs\": [{\"protocol\": \"atp\","
                 " \"servers\": [\"h4\"], \"flows\": 2,"
                 " \"work\": {\"kind\": \"constant\", \"bytes\": 100000, \"count\": 2,"
                 " \"values\": \"floats\"}}]}",
                 topologies[i]);
        json_t *r = network_run(text, 1, &told);
        expect_sums(r, told);
        json_decref(r);
    }
}

static void test_training_alternates_computing_and_sending(void **state) {
    char *told;
    (void)state;
    json_t *r =
        network_run("{\"name\": \"t\", \"topology\": {\"kind\": \"rack\", \"program\": \"atp\","
                    " \"hosts\": 3}, \"jobs\": [{\"protocol\": \"atp\", \"servers\": [\"h2\"],"
                    " \"work\": {\"kind\": \"training\", \"iterations\": 3,"
                    " \"layers\": [{\"bytes\": 400000, \"compute_us\": 300}, {\"bytes\": 4000,"
                    " \"compute_us\": 100}]}}]}",
                    1, &told);
    expect_sums(r, told);
    assert_int_equal((int)network_number(r, "jobs.0.workers.0.tensors"), 6);
    const json_t *times = network_get(r, "jobs.0.workers.0.iteration_us");
    assert_int_equal(json_array_size(times), 3);
    // 600 us of computing; the big layer comes out after 500, and takes 1613 packets of 330 bytes'
    // time
    for (size_t i = 0; i < 3; i++)
        assert_in_range((int)json_real_value(json_array_get(times, i)), 600, 700);
    json_decref(r);
}

static void test_a_model_is_as_large_as_it_is(void **state) {
    static const struct {
        const char *name;
        double million; // parameters, as published
    } models[] = {{"alexnet", 61.1},   {"vgg16", 138.36},    {"vgg19", 143.67},
                  {"resnet50", 25.56}, {"resnet101", 44.55}, {"resnet152", 60.19}};
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        char text[512], *told;
        snprintf(text, sizeof text,
                 "{\"name\": \"t\", \"topology\": {\"kind\": \"rack\", \"program\": \"switchml\","
                 " \"hosts\": 1}, \"jobs\": [{\"protocol\": \"switchml\", \"work\":"
                 " {\"kind\": \"training\", \"model\": \"%s\", \"scale\": 1000}}]}",
                 models[i].name);
        json_t *r = network_run(text, 1, &told);
        expect_sums(r, told);
        const double values = network_number(r, "jobs.0.verified") * 1000 / 1e6;
        assert_true(values > models[i].million * 0.99 && values < models[i].million * 1.01);
        json_decref(r);
    }
}

static void test_background_traffic_shares_a_link(void **state) {
    char *told;
    (void)state;
    json_t *r = network_run(
        "{\"name\": \"t\", \"limit_ms\": 2, \"topology\": {\"kind\": \"rack\", \"program\": \"l2\","
        " \"hosts\": 3, \"link\": {\"gbps\": 10}}, \"background\": ["
        " {\"name\": \"greedy\", \"from\": \"h0\", \"to\": \"h1\"},"
        " {\"name\": \"steady\", \"from\": \"h0\", \"to\": \"h2\", \"gbps\": 2}]}",
        1, &told);
    assert_null(told);
    // 1500 bytes take 1524 on the wire
    assert_true(network_number(r, "background.1.gbps") > 1.9);
    assert_true(network_number(r, "background.1.gbps") < 2.0);
    const double sum =
        network_number(r, "background.0.gbps") + network_number(r, "background.1.gbps");
    assert_true(sum > 9.7 && sum < 9.85);
    json_decref(r);
}

static void test_marks_come_from_long_queues(void **state) {
    // Three greedy flows into one link of a third of their rate: the job's packets meet a queue.
    static const char with_marks[] =
        "{\"name\": \"t\", \"topology\": {\"kind\": \"rack\", \"program\": \"atp\", \"hosts\": 4,"
        " \"link\": {\"gbps\": 10, \"queue_bytes\": 100000}, \"switch\": {\"ecn_bytes\": %d}},"
        " \"jobs\": [{\"protocol\": \"atp\", \"workers\": [\"h0\", \"h1\"], \"servers\": [\"h3\"],"
        " \"indices\": 1, \"work\": {\"kind\": \"constant\", \"bytes\": 200000}}]}";
    (void)state;
    for (int i = 0; i < 2; i++) {
        char text[1024], *told;
        snprintf(text, sizeof text, with_marks, i ? 8000 : 0);
        json_t *r = network_run(text, 1, &told);
        expect_sums(r, told);
        assert_int_equal(network_number(r, "jobs.0.servers.0.marks") > 0, i);
        json_decref(r);
    }
}

// ---- faults ----

static void test_the_same_seed_gives_the_same_run(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        json_t *a = network_run_file("sim/scenarios/atp-two-levels-faults.json", seed, NULL),
               *b = network_run_file("sim/scenarios/atp-two-levels-faults.json", seed, NULL);
        assert_true(json_equal(a, b));
        json_decref(a);
        json_decref(b);
    }
    json_t *a = network_run_file("sim/scenarios/atp-rack-faults.json", 1, NULL),
           *b = network_run_file("sim/scenarios/atp-rack-faults.json", 2, NULL);
    assert_false(json_equal(json_object_get(a, "links"), json_object_get(b, "links")));
    json_decref(a);
    json_decref(b);
}

static void test_a_bounded_part_of_the_fault_runs(void **state) {
    static const char *const paths[] = {
        "sim/scenarios/switchml-faults.json", "sim/scenarios/switchml-collectives-faults.json",
        "sim/scenarios/atp-rack-faults.json", "sim/scenarios/atp-two-levels-faults.json"};
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

static void test_a_replaced_worker_goes_on(void **state) {
    char *told;
    (void)state;
    json_t *r =
        network_run("{\"name\": \"t\", \"topology\": {\"kind\": \"tree\", \"program\": \"atp\","
                    " \"leaves\": [2], \"root_hosts\": 2, \"link\": {\"gbps\": 10}},"
                    " \"jobs\": [{\"protocol\": \"atp\", \"workers\": [\"h0\", \"h1\", \"h2\"],"
                    " \"servers\": [\"h3\"], \"flows\": 2, \"work\": {\"kind\": \"constant\","
                    " \"bytes\": 400000, \"count\": 4, \"outstanding\": 2}}],"
                    " \"faults\": [{\"kind\": \"host_crash\", \"hosts\": [\"h1\"], \"at_us\": 700,"
                    " \"for_us\": 500}]}",
                    1, &told);
    expect_sums(r, told);
    assert_string_equal(network_text(r, "jobs.0.workers.1.state"), "done");
    assert_true(network_number(r, "done_us") > 1200);
    // the tensors that were complete before are not its own
    assert_true(network_number(r, "jobs.0.verified") < 12 * 100000);
    assert_true(network_number(r, "jobs.0.verified") > 8 * 100000);
    json_decref(r);
}

static void test_a_switch_that_restarts_is_survived_by_atp(void **state) {
    char *told;
    (void)state;
    json_t *r = network_run(
        "{\"name\": \"t\", \"topology\": {\"kind\": \"rack\", \"program\": \"atp\","
        " \"hosts\": 4, \"link\": {\"gbps\": 10}},"
        " \"jobs\": [{\"protocol\": \"atp\", \"servers\": [\"h3\"], \"work\":"
        " {\"kind\": \"constant\", \"bytes\": 1000000}}],"
        " \"faults\": [{\"kind\": \"switch_restart\", \"at_us\": 300, \"for_us\": 400}]}",
        1, &told);
    expect_sums(r, told);
    assert_int_equal((int)network_number(r, "switches.0.restarts"), 1);
    assert_true(network_number(r, "jobs.0.retransmissions") > 0);
    json_decref(r);
}

static const char restarts[] =
    "{\"name\": \"t\", \"expect\": \"%s\", \"topology\": {\"kind\": \"rack\","
    " \"program\": \"switchml\", \"hosts\": 3, \"link\": {\"gbps\": 10}},"
    " \"jobs\": [{\"protocol\": \"switchml\", \"hard_limit_ms\": 50, \"work\":"
    " {\"kind\": \"constant\", \"bytes\": 1000000}}],"
    " \"faults\": [{\"kind\": \"switch_restart\", \"at_us\": 300, \"for_us\": 400}]}";

static void test_a_switch_that_restarts_ends_a_switchml_job(void **state) {
    char text[1024], *told;
    (void)state;
    snprintf(text, sizeof text, restarts, "sums or failure");
    json_t *r = network_run(text, 1, &told);
    assert_null(told);
    assert_string_equal(network_text(r, "outcome"), "failed");
    assert_string_equal(network_text(r, "jobs.0.workers.2.state"), "failed");
    json_decref(r);
}

// ---- invariants fire ----

static void test_a_failure_that_may_not_be_is_a_violation(void **state) {
    char text[1024], *told;
    (void)state;
    snprintf(text, sizeof text, restarts, "sums");
    json_t *r = network_run(text, 1, &told);
    expect_violation(r, told, "no progress within the hard limit");
}

static void test_a_network_that_stands_still_is_a_violation(void **state) {
    char *told;
    (void)state;
    json_t *r = network_run(
        "{\"name\": \"t\", \"limit_ms\": 20, \"topology\": {\"kind\": \"rack\","
        " \"program\": \"switchml\", \"hosts\": 2}, \"jobs\": [{\"protocol\": \"switchml\","
        " \"work\": {\"kind\": \"constant\"}}],"
        " \"faults\": [{\"kind\": \"link_down\", \"links\": [\"h1-s0\"]}]}",
        1, &told);
    expect_violation(r, told, "at 20 ms job job0, worker 0 is not done");
}

static void test_undetected_damage_makes_wrong_sums(void **state) {
    static const char text[] =
        "{\"name\": \"t\", \"expect\": \"%s\", \"topology\": {\"kind\": \"rack\","
        " \"program\": \"atp\", \"hosts\": 3}, \"jobs\": [{\"protocol\": \"atp\","
        " \"hard_limit_ms\": 100, \"servers\": [\"h2\"], \"work\": {\"kind\": \"constant\"}}],"
        " \"faults\": [{\"kind\": \"corrupt\", \"rate\": 0.001, \"undetected\": true}]}";
    char filled[1024], *told;
    (void)state;
    snprintf(filled, sizeof filled, text, "sums");
    json_t *r = network_run(filled, 1, &told);
    expect_violation(r, told, "but must be");
    snprintf(filled, sizeof filled, text, "anything");
    r = network_run(filled, 1, &told);
    assert_null(told);
    json_decref(r);
}

// Duplicates are added as if they were new.
static void test_a_switch_that_adds_twice_is_found(void **state) {
    char text[1024], *told;
    (void)state;
    snprintf(text, sizeof text,
             "{\"name\": \"t\", \"topology\": {\"kind\": \"rack\", \"program\": \"%s\","
             " \"hosts\": 4}, \"jobs\": [{\"protocol\": \"atp\", \"servers\": [\"h3\"],"
             " \"work\": {\"kind\": \"constant\", \"bytes\": 100000}}],"
             " \"faults\": [{\"kind\": \"duplicate\", \"to\": \"switches\", \"rate\": 0.1}]}",
             network_mutant("atp", "aggregator.p4", "(_, op_t.GRADIENT, SECOND, 0)       : add();",
                            "(_, op_t.GRADIENT, SECOND, _)       : add();"));
    json_t *r = network_run(text, 1, &told);
    assert_non_null(told);
    assert_non_null(strstr(told, "Last events to fragment "));
    assert_non_null(strstr(told, "h0>s0"));
    expect_violation(r, told, "but must be");
}

// Parameters free nothing, whatever the time.
static void test_aggregators_that_stay_are_found(void **state) {
    char text[1024], *told;
    (void)state;
    snprintf(text, sizeof text,
             "{\"name\": \"t\", \"topology\": {\"kind\": \"rack\", \"program\": \"%s\","
             " \"hosts\": 4}, \"jobs\": [{\"protocol\": \"atp\", \"servers\": [\"h3\"],"
             " \"indices\": 200, \"work\": {\"kind\": \"constant\", \"bytes\": 10000}}]}",
             network_mutant("atp", "aggregator.p4", "op_t.ACK     : acknowledge()",
                            "op_t.ACK     : NoAction()"));
    json_t *r = network_run(text, 1, &told);
    expect_violation(r, told, "though no worker sends, and is not released after its time-out");
}

static void test_a_switch_that_subtracts_is_found(void **state) {
    char text[1024], *told;
    (void)state;
    snprintf(text, sizeof text,
             "{\"name\": \"t\", \"topology\": {\"kind\": \"rack\", \"program\": \"%s\","
             " \"hosts\": 3}, \"jobs\": [{\"protocol\": \"switchml\", \"elements\": 64,"
             " \"work\": {\"kind\": \"constant\", \"bytes\": 10000}}]}",
             network_mutant("switchml", "aggregate.p4", "cell.low + low", "cell.low - low"));
    json_t *r = network_run(text, 1, &told);
    expect_violation(r, told, "but must be");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_switchml_takes_the_time_that_its_bytes_take),
        cmocka_unit_test(test_atp_puts_together_two_levels),
        cmocka_unit_test(test_networks_of_all_kinds),
        cmocka_unit_test(test_training_alternates_computing_and_sending),
        cmocka_unit_test(test_a_model_is_as_large_as_it_is),
        cmocka_unit_test(test_background_traffic_shares_a_link),
        cmocka_unit_test(test_marks_come_from_long_queues),
        cmocka_unit_test(test_the_same_seed_gives_the_same_run),
        cmocka_unit_test(test_a_bounded_part_of_the_fault_runs),
        cmocka_unit_test(test_a_replaced_worker_goes_on),
        cmocka_unit_test(test_a_switch_that_restarts_is_survived_by_atp),
        cmocka_unit_test(test_a_switch_that_restarts_ends_a_switchml_job),
        cmocka_unit_test(test_a_failure_that_may_not_be_is_a_violation),
        cmocka_unit_test(test_a_network_that_stands_still_is_a_violation),
        cmocka_unit_test(test_undetected_damage_makes_wrong_sums),
        cmocka_unit_test(test_a_switch_that_adds_twice_is_found),
        cmocka_unit_test(test_aggregators_that_stay_are_found),
        cmocka_unit_test(test_a_switch_that_subtracts_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

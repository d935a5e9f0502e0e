// SPDX-License-Identifier: Apache-2.0
//
// Jobs of Libra in simulated networks: what comes of them, moves to a standby, a switch that dies,
// seeds of the fault scenarios; and that what is checked does fail when the program is broken on
// purpose. SEEDS of each fault scenario (environment; 60), from FROM (1) on.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/sim/network.h"
#include "sim/libra/job.h"
#include "sim/libra/zipf.h"
#include "sim/random.h"

#define INTEGERS "p4/libra/integer.p4"

static void expect_sums(json_t *result, char *told) {
    if (told)
        fail_msg("%s", told);
    assert_string_equal(network_text(result, "outcome"), "sums");
}

static void expect_violation(json_t *result, char *told, const char *what) {
    assert_string_equal(network_text(result, "outcome"), "violated");
    assert_non_null(told);
    if (!strstr(told, what))
        fail_msg("not about '%s': %s", what, told);
    free(told);
    json_decref(result);
}

static const char *rack(const char *program, const char *job, const char *work,
                        const char *faults) {
    static char text[2048];
    snprintf(text, sizeof text,
             "{\"name\": \"t\", \"limit_ms\": 5000, \"quiet_ms\": 1000, \"topology\": {\"kind\":"
             " \"rack\", \"program\": \"%s\", \"hosts\": 6}, \"jobs\": [{\"protocol\": \"libra\","
             " \"workers\": 4, \"servers\": [\"h4\", \"h5\"], \"rto_us\": 200, \"rto_min_us\": 50,"
             " %s, \"work\": {\"parameters\": 5000, \"zipf\": 1.1, \"draws\": 300, %s}}],"
             " \"faults\": [%s]}",
             program, job, work, faults);
    return text;
}

// ---- what comes of jobs ----

static void test_sums_of_a_rack(void **state) {
    char *told;
    (void)state;
    json_t *r = network_run_file("sim/scenarios/libra-rack.json", 1, &told);
    expect_sums(r, told);
    // all pairs are in the switch or at a server, each once
    double pushed = 0;
    for (int w = 0; w < 4; w++) {
        char path[40];
        snprintf(path, sizeof path, "jobs.0.workers.%d.pairs", w);
        pushed += network_number(r, path);
    }
    const double cold =
        network_number(r, "jobs.0.servers.0.pairs") + network_number(r, "jobs.0.servers.1.pairs");
    assert_true(cold / pushed > 0.7 && cold / pushed < 0.8);
    assert_true(1 - cold / pushed - network_number(r, "jobs.0.hot_share") < 1e-9);
    assert_true(network_number(r, "jobs.0.verified") > 20000);
    assert_int_equal((int)network_number(r, "jobs.0.unchecked"), 0);
    assert_true(network_number(r, "switches.0.cpu.lost") > 0); // so many answers are too many
    json_decref(r);
}

static void test_floats_that_servers_collect(void **state) {
    char *told;
    (void)state;
    json_t *r = network_run_file("sim/scenarios/libra-floats.json", 1, &told);
    expect_sums(r, told);
    assert_true(network_number(r, "jobs.0.servers.0.collected") > 1000);
    assert_true(network_number(r, "jobs.0.verified") > 6000);
    json_decref(r);
}

// Without hot parameters the switch only forwards: what PS-lite does.
static void test_no_hot_parameters(void **state) {
    char *told;
    (void)state;
    json_t *r =
        network_run(rack("l2", "\"hot\": 0", "\"batches\": 3, \"pull\": true", ""), 1, &told);
    expect_sums(r, told);
    assert_float_equal(network_number(r, "jobs.0.hot_share"), 0, 1e-12);
    assert_true(network_number(r, "jobs.0.verified") > 300);
    json_decref(r);
}

static void test_the_same_seed_gives_the_same_run(void **state) {
    (void)state;
    char *text[2], *told;
    for (int i = 0; i < 2; i++) {
        json_t *r = network_run_file("sim/scenarios/libra-move-faults.json", 7, &told);
        text[i] = json_dumps(r, 0);
        free(told);
        json_decref(r);
    }
    assert_string_equal(text[0], text[1]);
    free(text[0]);
    free(text[1]);
}

// ---- the controller ----

static const char *pair_of_switches(const char *program, const char *controller,
                                    const char *faults) {
    static char text[2048];
    snprintf(
        text, sizeof text,
        "{\"name\": \"t\", \"limit_ms\": 9000, \"quiet_ms\": 2000, \"expect\": \"sums or failure\","
        " \"topology\": {\"kind\": \"custom\", \"program\": \"%s\", \"hosts\": [\"h0\","
        " \"h1\", \"h2\"], \"switches\": [{\"name\": \"edge\", \"program\": \"l2\"},"
        " {\"name\": \"s0\"}, {\"name\": \"s1\"}], \"links\": [{\"between\": [\"h0\", \"edge\"]},"
        " {\"between\": [\"h1\", \"edge\"]}, {\"between\": [\"h2\", \"edge\"]},"
        " {\"between\": [\"edge\", \"s0\"]}, {\"between\": [\"edge\", \"s1\"]}]},"
        " \"controller\": {\"switch\": \"s0\", \"standby\": \"s1\"%s},"
        " \"jobs\": [{\"protocol\": \"libra\", \"workers\": 2, \"servers\": [\"h2\"], \"hot\": 100,"
        " \"switch\": \"s0\", \"hard_limit_ms\": 500, \"rto_us\": 200, \"work\":"
        " {\"parameters\": 1000, \"zipf\": 1.1, \"draws\": 100, \"batches\": 30, \"pull\": true,"
        " \"compute_us\": 2000}}], \"faults\": [%s]}",
        program, controller, faults);
    return text;
}

static void test_a_job_moves_under_load(void **state) {
    char *told;
    (void)state;
    json_t *r = network_run(
        pair_of_switches(INTEGERS, "", "{\"kind\": \"migrate\", \"at_us\": 20000}"), 1, &told);
    expect_sums(r, told);
    assert_int_equal((int)network_number(r, "controller.moved"), 1);
    assert_int_equal((int)network_number(r, "jobs.0.workers.1.links.0.moves"), 1);
    assert_int_equal((int)network_number(r, "jobs.0.unchecked"), 0);
    json_decref(r);
}

// The standby has had the job for a moment, and packets of it may still come there.
static void have_had_the_job(void *sim, void *unused) {
    struct sim *s = sim;
    const struct lsim_job *j = &s->libra->jobs[0];
    const uint32_t standby = s->scenario->controller->standby;
    struct libra_s *l = lsim_switch(s, standby);
    struct sk_error err;
    (void)unused;
    json_t *added = lsim_ask(l, lsim_job_request(j, s->stations[standby].node), &err);
    json_t *removed =
        lsim_ask(l, json_pack("{s:s, s:s}", "op", "job.remove", "name", j->as->name), &err);
    assert_true(added && removed);
    json_decref(added);
    json_decref(removed);
}

static void at_14_ms(struct sim *s) {
    sim_at(&s->events, 14000000, have_had_the_job, s, NULL);
}

static void at_49_ms(struct sim *s) {
    sim_at(&s->events, 49000000, have_had_the_job, s, NULL);
}

// A standby that refuses the job for now is asked again, as `silken libra control` does.
static void test_a_refused_load_is_repeated(void **state) {
    char *told;
    (void)state;
    json_t *r = network_run_with(
        pair_of_switches(INTEGERS, "", "{\"kind\": \"migrate\", \"at_us\": 20000}"), 1, at_14_ms,
        &told);
    expect_sums(r, told);
    assert_int_equal((int)network_number(r, "controller.moved"), 1);
    assert_int_equal((int)network_number(r, "controller.loads_repeated"), 1);
    assert_int_equal((int)network_number(r, "jobs.0.unchecked"), 0);
    json_decref(r);
    // and of a switch that has died
    r = network_run_with(
        pair_of_switches(
            INTEGERS, ", \"checkpoint_ms\": 15",
            "{\"kind\": \"switch_restart\", \"switches\": [\"s0\"], \"at_us\": 50000}"),
        1, at_49_ms, &told);
    expect_sums(r, told);
    assert_int_equal((int)network_number(r, "controller.revived"), 1);
    assert_int_equal((int)network_number(r, "controller.loads_repeated"), 1);
    assert_int_equal((int)network_number(r, "jobs.0.unchecked"), 0);
    json_decref(r);
}

static void test_a_slow_cpu_port_makes_it_move(void **state) {
    char *told;
    (void)state;
    json_t *r = network_run(
        pair_of_switches(INTEGERS, ", \"delay_us\": 3000",
                         "{\"kind\": \"slow_cpu\", \"switches\": [\"s0\"], \"at_us\": 10000,"
                         " \"for_us\": 30000, \"service_us\": 1000}"),
        1, &told);
    expect_sums(r, told);
    assert_int_equal((int)network_number(r, "controller.moved"), 1);
    json_decref(r);
}

// What was pushed since the last copy may be lost, and nothing else.
static void test_a_switch_dies(void **state) {
    char *told;
    (void)state;
    json_t *r =
        network_run(pair_of_switches(
                        INTEGERS, ", \"checkpoint_ms\": 15",
                        "{\"kind\": \"switch_restart\", \"switches\": [\"s0\"], \"at_us\": 50000}"),
                    1, &told);
    expect_sums(r, told);
    assert_int_equal((int)network_number(r, "controller.revived"), 1);
    assert_true(network_number(r, "controller.copies") >= 1);
    assert_true(network_number(r, "jobs.0.lost_us") > 3000);
    assert_int_equal((int)network_number(r, "jobs.0.unchecked"), 0);
    json_decref(r);
}

static void test_a_lossless_job_ends_with_its_switch(void **state) {
    char *told;
    (void)state;
    json_t *r =
        network_run(pair_of_switches(
                        INTEGERS, ", \"checkpoint_ms\": 15, \"lossless\": true",
                        "{\"kind\": \"switch_restart\", \"switches\": [\"s0\"], \"at_us\": 50000}"),
                    1, &told);
    if (told)
        fail_msg("%s", told);
    assert_string_equal(network_text(r, "outcome"), "failed");
    assert_int_equal((int)network_number(r, "controller.ended"), 1);
    assert_true(network_number(r, "done_us") < 400000); // members are told: no hard limit passes
    json_decref(r);
}

// ---- faults ----

static unsigned from_environment(const char *name, unsigned otherwise) {
    const char *text = getenv(name);
    return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static void test_seeds_of_faults(void **state) {
    static const char *const paths[] = {"sim/scenarios/libra-faults.json",
                                        "sim/scenarios/libra-move-faults.json",
                                        "sim/scenarios/libra-floats-faults.json"};
    const unsigned first = from_environment("FROM", 1), n = from_environment("SEEDS", 60);
    (void)state;
    for (size_t p = 0; p < sizeof paths / sizeof *paths; p++) {
        unsigned sums = 0;
        for (unsigned seed = first; seed < first + n; seed++) {
            char *told;
            json_t *r = network_run_file(paths[p], seed, &told);
            if (told)
                fail_msg("%s", told);
            sums += strcmp(network_text(r, "outcome"), "sums") == 0;
            json_decref(r);
        }
        assert_true(sums > n / 2);
    }
}

// ---- what is broken on purpose ----

static const char *mutant(const char *from, const char *to) {
    static char path[256];
    const char *libra = network_mutant("libra", "integers.p4", from, to);
    snprintf(path, sizeof path, "%.*s/integer.p4", (int)(strrchr(libra, '/') - libra), libra);
    return path;
}

// The record says that a push was added before, and the program adds it all the same.
static void test_a_repetition_that_is_added_is_found(void **state) {
    char *told;
    (void)state;
    const char *program = mutant("(op_t.PUSH, 1, 1)   : add()", "(op_t.PUSH, 1, _)   : add()");
    json_t *r = network_run(rack(program, "\"hot\": 100", "\"batches\": 10",
                                 "{\"kind\": \"loss\", \"to\": \"hosts\", \"rate\": 0.1}"),
                            1, &told);
    expect_violation(r, told, "are to be in it");
}

static void test_a_push_that_is_not_added_is_found(void **state) {
    char *told;
    (void)state;
    const char *program = mutant("(op_t.PUSH, 1, 1)   : add()", "(op_t.PUSH, 1, 1)   : NoAction()");
    json_t *r = network_run(rack(program, "\"hot\": 100", "\"batches\": 2", ""), 1, &told);
    expect_violation(r, told, "are to be in it");
    r = network_run(rack(program, "\"hot\": 100", "\"batches\": 2, \"pull\": true", ""), 1, &told);
    expect_violation(r, told, "its own push is not");
}

static void test_a_drop_without_a_reason_is_found(void **state) {
    char *told;
    (void)state;
    const char *program = mutant("drops.count((bit<8>)md.reason);", "");
    // while its state is copied, a job is not admitted
    json_t *r = network_run(pair_of_switches(program, ", \"checkpoint_ms\": 15", ""), 1, &told);
    expect_violation(r, told, "has counted 0 by reason");
}

// ---- batches ----

static double uniform_of(void *random) {
    return ((double)(sim_random_next(random) >> 11) + 0.5) * 0x1p-53;
}

static void test_batches_follow_the_law(void **state) {
    struct sim_random r = sim_random_of(1, "zipf");
    struct zipf z = {.n = 100000};
    static uint64_t keys[1000];
    double hot = 0, all = 0;
    (void)state;
    zipf_fit(&z, 1000, 100, 0.3);
    assert_float_equal(zipf_share(&z, 1000, 100), 0.3, 1e-3);
    for (int b = 0; b < 300; b++) {
        const size_t n = zipf_batch(&z, 1000, uniform_of, &r, keys);
        for (size_t i = 0; i < n; i++) {
            assert_true(keys[i] < 100000 && (i == 0 || keys[i] > keys[i - 1]));
            hot += keys[i] < 100;
        }
        all += (double)n;
    }
    assert_float_equal(hot / all, 0.3, 0.01);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches_follow_the_law),
        cmocka_unit_test(test_sums_of_a_rack),
        cmocka_unit_test(test_floats_that_servers_collect),
        cmocka_unit_test(test_no_hot_parameters),
        cmocka_unit_test(test_the_same_seed_gives_the_same_run),
        cmocka_unit_test(test_a_job_moves_under_load),
        cmocka_unit_test(test_a_refused_load_is_repeated),
        cmocka_unit_test(test_a_slow_cpu_port_makes_it_move),
        cmocka_unit_test(test_a_switch_dies),
        cmocka_unit_test(test_a_lossless_job_ends_with_its_switch),
        cmocka_unit_test(test_seeds_of_faults),
        cmocka_unit_test(test_a_repetition_that_is_added_is_found),
        cmocka_unit_test(test_a_push_that_is_not_added_is_found),
        cmocka_unit_test(test_a_drop_without_a_reason_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

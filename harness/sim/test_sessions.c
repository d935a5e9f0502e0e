// SPDX-License-Identifier: Apache-2.0
//
// Jobs whose members begin again in any order, in whole networks: each sum is that of its session's
// incarnations, and all make progress once they are left alone. A switch that does not look at
// sessions, or clears nothing, is found. `make sessions-sim` has thousands of seeds of the same
// scenarios.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "harness/sim/network.h"

static unsigned seeds(void) {
    const char *variant = getenv("VARIANT"), *quick = getenv("QUICK");
    return (variant && strcmp(variant, "asan") == 0) || (quick && *quick) ? 10 : 60;
}

static void expect_sums(const char *path, uint64_t seed) {
    char *told;
    json_t *r = network_run_file(path, seed, &told);
    if (told)
        fail_msg("%s", told);
    assert_string_equal(network_text(r, "outcome"), "sums");
    json_decref(r);
}

static void test_members_begin_again_in_any_order(void **state) {
    static const char *const paths[] = {
        "sim/scenarios/switchml-sessions.json", "sim/scenarios/switchml-sessions-late.json",
        "sim/scenarios/switchml-collectives-sessions.json", "sim/scenarios/atp-sessions.json",
        "sim/scenarios/atp-sessions-late.json"};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (unsigned seed = 1; seed <= seeds(); seed++)
            expect_sums(paths[i], seed);
}

static void test_restarts_of_the_example(void **state) {
    (void)state;
    expect_sums("sim/scenarios/switchml-restart.json", 1);
}

// Without faults nobody is refused, and each round is a session of its own.
static void test_rounds_without_faults(void **state) {
    static const char *const jobs[] = {"\"protocol\": \"switchml\"",
                                       "\"protocol\": \"atp\", \"servers\": [\"h3\"]"};
    char text[1024], *told;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        snprintf(text, sizeof text,
                 "{\"name\": \"t\", \"limit_ms\": 60000, \"topology\": {\"kind\": \"rack\","
                 " \"program\": \"%s\", \"hosts\": 4}, \"jobs\": [{%s, \"sessions\": true,"
                 " \"work\": {\"kind\": \"constant\", \"bytes\": 10000, \"count\": 3,"
                 " \"stop_ms\": 8000}}]}",
                 i ? "atp" : "switchml", jobs[i]);
        json_t *r = network_run(text, 1, &told);
        if (told)
            fail_msg("%s", told);
        const double rounds = network_number(r, "jobs.0.sessions");
        assert_true(rounds >= 3);
        assert_int_equal((int)network_number(r, "jobs.0.workers.0.refusals"), 0);
        assert_int_equal((int)network_number(r, "jobs.0.workers.0.incarnations"), (int)rounds);
        assert_int_equal((int)network_number(r, "jobs.0.verified"),
                         (int)(rounds * 3 * 2500 * (i ? 3 : 4)));
        json_decref(r);
    }
}

// ---- programs that are broken on purpose ----

// The scenario with another program, until a seed finds that sums are wrong.
static void expect_wrong(const char *path, const char *name, const char *mutant, const char *what) {
    struct sk_error err;
    size_t length;
    char from[64], *text = sk_read_file(path, &length, &err), *told = NULL;
    assert_non_null(text);
    snprintf(from, sizeof from, "\"program\": \"%s\"", name);
    const char *at = strstr(text, from);
    assert_non_null(at);
    const size_t size = length + strlen(mutant) + 32;
    char *changed = malloc(size);
    assert_non_null(changed);
    snprintf(changed, size, "%.*s\"program\": \"%s\"%s", (int)(at - text), text, mutant,
             at + strlen(from));
    for (uint64_t seed = 1; seed <= 80 && !(told && strstr(told, what)); seed++) {
        free(told);
        json_decref(network_run(changed, seed, &told));
    }
    free(changed);
    free(text);
    if (!told || !strstr(told, what))
        fail_msg("no seed finds '%s'", what);
    free(told);
}

#define WRONG "and not the sum over the incarnations in its session"

static void test_a_switch_that_takes_any_session_is_found(void **state) {
    (void)state;
    expect_wrong("sim/scenarios/switchml-sessions-late.json", "switchml",
                 network_mutant("switchml", "switchml.p4",
                                "md.other_session = hdr.switchml.tsi[31:24] ^ number;",
                                "md.other_session = 0;"),
                 WRONG);
}

// The control plane does not find what it should clear.
static void test_slots_that_are_not_cleared_are_found(void **state) {
    (void)state;
    expect_wrong("sim/scenarios/switchml-sessions.json", "switchml",
                 network_mutant("switchml", "switchml.p4", "    Seen() seen;",
                                "    @name(\"kept\") Seen() seen;"),
                 "is not done");
}

static void test_aggregators_that_are_not_cleared_are_found(void **state) {
    (void)state;
    expect_wrong(
        "sim/scenarios/atp-sessions.json", "atp",
        network_mutant("atp", "atp.p4", "    Owner() owner;", "    @name(\"kept\") Owner() owner;"),
        WRONG);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds_without_faults),
        cmocka_unit_test(test_restarts_of_the_example),
        cmocka_unit_test(test_members_begin_again_in_any_order),
        cmocka_unit_test(test_a_switch_that_takes_any_session_is_found),
        cmocka_unit_test(test_slots_that_are_not_cleared_are_found),
        cmocka_unit_test(test_aggregators_that_are_not_cleared_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

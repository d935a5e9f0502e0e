// SPDX-License-Identifier: Apache-2.0
//
// Seeds that were found failing, one test each, with a copy of the scenario as it was: scenarios
// and what their seeds draw may change.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/sim/network.h"

static void expect_good(const char *path, uint64_t seed) {
    char *told;
    json_t *r = network_run_file(path, seed, &told);
    if (told)
        fail_msg("%s", told);
    json_decref(r);
}

// The control plane admitted the running job to a switch that had lost its registers: a packet that
// was repeated for an old chunk began a slot, and its count was left for the next one.
static void test_switchml_is_not_admitted_again_after_a_restart(void **state) {
    (void)state;
    expect_good("harness/sim/found/switchml-restart.json", 2662);
}

// A worker of ATP looked at a tensor that was complete and gone: after a restart its last missing
// fragment came, and those after it, acknowledged before, were still to be passed over.
static void test_atp_restart_before_acknowledged_fragments(void **state) {
    (void)state;
    expect_good("harness/sim/found/atp-restart.json", 11381);
}

// Two values of one sign saturated an aggregator, a third one brought it back, and the server did
// not see it.
static void test_atp_sums_that_come_back_from_saturation(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++)
        expect_good("harness/sim/found/atp-saturation.json", seed);
}

// Links lose every sixth packet and damage 4 of 100, and there are three aggregators: it takes 24 s
// and was still under way when the scenario's limit of 20 s came. It has to end all the same.
static void test_atp_through_loss_that_makes_it_slow(void **state) {
    (void)state;
    expect_good("harness/sim/found/atp-slow.json", 1795489603);
}

// A server was refused since a late packet of the process before it looked as if that were still
// there, and stayed refused for ever: its job waited for it.
static void test_a_server_that_was_refused_joins_again(void **state) {
    (void)state;
    expect_good("harness/sim/found/atp-refused-server.json", 243);
}

// One slot, tensors of 75 chunks and links that lose every fifth packet: 127 s, of which the
// scenario's limit had 120.
static void test_sessions_through_loss_that_makes_them_slow(void **state) {
    (void)state;
    expect_good("harness/sim/found/switchml-slow.json", 1005650);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_switchml_is_not_admitted_again_after_a_restart),
        cmocka_unit_test(test_atp_restart_before_acknowledged_fragments),
        cmocka_unit_test(test_atp_sums_that_come_back_from_saturation),
        cmocka_unit_test(test_atp_through_loss_that_makes_it_slow),
        cmocka_unit_test(test_a_server_that_was_refused_joins_again),
        cmocka_unit_test(test_sessions_through_loss_that_makes_them_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

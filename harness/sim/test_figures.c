// SPDX-License-Identifier: Apache-2.0
//
// What the ATP paper's experiments must bring exactly (docs/figures-atp.md has the others).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/sim/network.h"

static double delivered(const json_t *result, const char *link) {
    size_t i;
    json_t *l;
    json_array_foreach(json_object_get(result, "links"), i, l) {
        if (strcmp(network_text(l, "name"), link) == 0)
            return network_number(l, "delivered_bytes");
    }
    fail_msg("there is no link %s", link);
    return 0;
}

// Section 5.2.2. 400,000 bytes are 1613 fragments of 248, and a packet has 306 bytes.
static void test_the_server_receives_a_third_of_what_racks_alone_send(void **state) {
    char *told;
    (void)state;
    json_t *two_levels = network_run_file("sim/scenarios/atp-figure9.json", 1, &told);
    assert_null(told);
    json_t *racks = network_run_file("sim/scenarios/atp-figure9-racks.json", 1, &told);
    assert_null(told);
    assert_int_equal((int)network_number(two_levels, "jobs.0.servers.0.completed"), 1613);
    assert_int_equal((int)network_number(racks, "jobs.0.servers.0.completed"), 1613);
    assert_int_equal((int)delivered(two_levels, "SW2>ps"), 1613 * 306);
    assert_int_equal((int)delivered(racks, "out>ps"), 3 * 1613 * 306);
    json_decref(two_levels);
    json_decref(racks);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_server_receives_a_third_of_what_racks_alone_send),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

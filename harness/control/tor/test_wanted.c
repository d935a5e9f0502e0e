// SPDX-License-Identifier: Apache-2.0
//
// What is wanted becomes what is there: order of writes, changes in place, sets, refusals, a new
// switch.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "compiler/compile.h"
#include "control/tor/wanted.h"
#include "pipeline/program.h"
#include "pipeline/switch/switch.h"

struct fixture {
    struct sk_program *program;
    struct sk_switch *sw;
    struct tor_wanted *w;
    size_t refused;
    char why[512];
};

static void renew(struct fixture *f) {
    char error[256];
    sk_switch_free(f->sw);
    f->sw = sk_switch_new(f->program, &(struct sk_switch_options){.tx = sk_tx_nowhere}, error,
                          sizeof error);
    assert_non_null(f->sw);
    for (uint16_t p = 0; p < 8; p++)
        sk_switch_port_up(f->sw, p, true);
}

static int set_up(void **state) {
    char error[256];
    struct fixture *f = calloc(1, sizeof *f);
    char *object = compile_p4(&(struct compile_options){.path = "p4/tor/tor.p4"}, stderr);
    assert_non_null(object);
    f->program = sk_program_load(object, error, sizeof error);
    free(object);
    assert_non_null(f->program);
    renew(f);
    f->w = tor_wanted_new();
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    tor_wanted_free(f->w);
    sk_switch_free(f->sw);
    sk_program_free(f->program);
    free(f);
    return 0;
}

static void refused(void *aux, const char *object, const char *why) {
    struct fixture *f = aux;
    f->refused++;
    snprintf(f->why, sizeof f->why, "%s: %s", object, why);
}

static void flush(struct fixture *f) {
    assert_int_equal(tor_wanted_flush(f->w, f->sw, SIZE_MAX, refused, f), 0);
}

// Adding it again fails if it is there: what the switch has, asked without the room under test.
static bool has_entry(struct fixture *f, const char *vid, const char *mac) {
    const struct sk_named_value key[] = {{"vid", vid}, {"dst_addr", mac}};
    const struct sk_entry_spec e = {
        .table = "destinations", .keys = key, .n_keys = 2, .action = "route", .pipe = -1};
    struct sk_error err;
    if (sk_control_entry_add(f->sw, &e, &err))
        return true;
    assert_int_equal(sk_control_entry_delete(f->sw, &e, &err), 0);
    return false;
}

static void test_nothing_refers_to_what_is_not_there(void **state) {
    struct fixture *f = *state;
    // backwards: an entry, its group, the members; floods, the group of the engine, its nodes
    tor_want(f->w, TOR_LINKS, "entry interfaces out_interface=%u -> group=%u", 5u, 5u);
    tor_want(f->w, TOR_LINKS, "group Ingress.lag 5 -> 1 2!");
    tor_want(f->w, TOR_LINKS, "member Ingress.members 1 -> leave_by port=1");
    tor_want(f->w, TOR_LINKS, "member Ingress.members 2 -> leave_by port=2");
    tor_want(f->w, TOR_LINKS, "entry floods vid=10 -> flood_to group=10");
    tor_want(f->w, TOR_LINKS, "mcast 10 -> 1:1 2:2");
    tor_want(f->w, TOR_LINKS, "node 1 -> rid=0 ports=1,2");
    tor_want(f->w, TOR_LINKS, "node 2 -> rid=0 lags=7");
    tor_want(f->w, TOR_LINKS, "lag 7 -> ports=3,4");
    tor_want(f->w, TOR_LINKS, "session 3 -> port=5 length=64");
    tor_want(f->w, TOR_LINKS, "meter storm 5 -> cir_pps=10 pir_pps=10 cbs_pkts=10 pbs_pkts=10");
    flush(f);
    assert_int_equal(f->refused, 0);
    assert_true(sk_mirror_get(f->sw, 3)->ucast_valid);
    assert_int_equal(sk_mirror_get(f->sw, 3)->ucast_port, 5);
    assert_int_equal(sk_mirror_get(f->sw, 3)->max_pkt_len, 64);
    // and gone again, in the order that this needs
    tor_unwant_set(f->w, TOR_LINKS);
    flush(f);
    assert_int_equal(f->refused, 0);
    assert_false(sk_mirror_get(f->sw, 3)->enabled);
    assert_false(tor_wanted_waits(f->w));
    assert_int_equal(sk_pre_node_delete(f->sw, 1), -2 /* ENOENT */);
}

static void test_what_is_there_costs_no_write(void **state) {
    struct fixture *f = *state;
    tor_want(f->w, TOR_FDB_LEARNED,
             "entry destinations vid=10 dst_addr=02:00:00:00:00:01 -> route");
    assert_true(tor_wanted_waits(f->w));
    flush(f);
    assert_true(has_entry(f, "10", "02:00:00:00:00:01"));
    tor_want(f->w, TOR_FDB_LEARNED,
             "entry destinations vid=10 dst_addr=02:00:00:00:00:01 -> route");
    assert_false(tor_wanted_waits(f->w));
    // there and back before anything was written
    tor_unwant(f->w, "entry destinations vid=10 dst_addr=02:00:00:00:00:01");
    assert_true(tor_wanted_waits(f->w));
    tor_want(f->w, TOR_FDB_LEARNED,
             "entry destinations vid=10 dst_addr=02:00:00:00:00:01 -> route");
    assert_false(tor_wanted_waits(f->w));
    // changed in place
    tor_want(f->w, TOR_FDB_LEARNED,
             "entry destinations vid=10 dst_addr=02:00:00:00:00:01 -> bridge interface=3");
    flush(f);
    assert_int_equal(f->refused, 0);
    assert_string_equal(tor_wanted_as(f->w, "entry destinations vid=10 dst_addr=02:00:00:00:00:01"),
                        "bridge interface=3");
}

static void test_what_is_not_said_again_goes(void **state) {
    struct fixture *f = *state;
    for (int round = 0; round < 2; round++) {
        tor_begin(f->w, TOR_FDB_STATIC);
        for (unsigned i = round ? 2u : 0u; i < 5; i++)
            tor_want(f->w, TOR_FDB_STATIC,
                     "entry destinations vid=10 dst_addr=02:00:00:00:00:%02x -> route", i);
        tor_end(f->w, TOR_FDB_STATIC);
        flush(f);
    }
    tor_want(f->w, TOR_FDB_LEARNED,
             "entry destinations vid=11 dst_addr=02:00:00:00:00:02 -> route");
    flush(f);
    assert_false(has_entry(f, "10", "02:00:00:00:00:01"));
    assert_true(has_entry(f, "10", "02:00:00:00:00:02"));
    tor_unwant_set(f->w, TOR_FDB_STATIC);
    flush(f);
    assert_false(has_entry(f, "10", "02:00:00:00:00:02"));
    assert_true(has_entry(f, "11", "02:00:00:00:00:02"));
}

// 'queues' has room for 16.
static void test_a_full_table_is_told_once_and_filled_later(void **state) {
    struct fixture *f = *state;
    for (unsigned i = 0; i < 17; i++)
        tor_want(f->w, TOR_POLICY, "entry queues enq_qdepth=%u..%u priority=%u -> keep", 10 * i,
                 10 * i + 5, i);
    flush(f);
    assert_int_equal(f->refused, 1);
    flush(f);
    assert_int_equal(f->refused, 1);
    tor_unwant(f->w, "entry queues enq_qdepth=0..5 priority=0");
    // makes room, and what was refused waits again
    assert_int_equal(tor_wanted_flush(f->w, f->sw, SIZE_MAX, refused, f), 1);
    flush(f);
    assert_int_equal(f->refused, 1);
    tor_want(f->w, TOR_POLICY, "entry queues enq_qdepth=500..505 priority=1 -> keep");
    flush(f);
    assert_int_equal(f->refused, 2);
    assert_non_null(strstr(f->why, "queues"));
}

static void test_a_new_switch_gets_everything(void **state) {
    struct fixture *f = *state;
    tor_want(f->w, TOR_LINKS, "entry destinations vid=10 dst_addr=02:00:00:00:00:01 -> route");
    tor_want(f->w, TOR_LINKS, "node 1 -> rid=0 ports=1");
    tor_want(f->w, TOR_LINKS, "mcast 10 -> 1:1");
    flush(f);
    tor_unwant(f->w, "entry destinations vid=10 dst_addr=02:00:00:00:00:01");
    tor_want(f->w, TOR_LINKS, "entry destinations vid=10 dst_addr=02:00:00:00:00:02 -> route");
    renew(f);
    tor_wanted_anew(f->w);
    flush(f);
    assert_int_equal(f->refused, 0);
    assert_false(has_entry(f, "10", "02:00:00:00:00:01"));
    assert_true(has_entry(f, "10", "02:00:00:00:00:02"));
    assert_int_equal(sk_pre_node_delete(f->sw, 1), -16 /* EBUSY */);
}

static void test_a_few_at_a_time(void **state) {
    struct fixture *f = *state;
    for (unsigned i = 0; i < 100; i++)
        tor_want(f->w, TOR_FDB_STATIC,
                 "entry destinations vid=10 dst_addr=02:00:00:00:00:%02x -> route", i);
    assert_int_equal(tor_wanted_flush(f->w, f->sw, 30, refused, f), 70);
    assert_int_equal(tor_wanted_flush(f->w, f->sw, 30, refused, f), 40);
    assert_int_equal(tor_wanted_flush(f->w, f->sw, 300, refused, f), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing_refers_to_what_is_not_there, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_there_costs_no_write, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_not_said_again_goes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_full_table_is_told_once_and_filled_later, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_new_switch_gets_everything, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_few_at_a_time, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

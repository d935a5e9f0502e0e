// SPDX-License-Identifier: Apache-2.0
//
// What the configuration file and requests say of the traffic manager: what it sets, and that
// mistakes are refused and change nothing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/config/config.h"
#include "control/socket/requests.h"
#include "control/tables/tm.h"
#include "harness/pipeline/toy_program.h"
#include "pipeline/tm/pre.h"

struct bench {
    struct sk_program *prog;
    struct sk_switch *sw;
};

static int set_up(void **state) {
    static struct bench b;
    char error[256];
    b.prog = toy_load();
    b.sw = sk_switch_new(b.prog, &(struct sk_switch_options){.tx = sk_tx_nowhere, .n_packets = 8},
                         error, sizeof error);
    *state = &b;
    return b.sw ? 0 : -1;
}

static int tear_down(void **state) {
    struct bench *b = *state;
    sk_switch_free(b->sw);
    sk_program_free(b->prog);
    return 0;
}

static const char whole[] =
    "{\"program\": \"toy.p4\", \"ports\": [{\"port\": 1, \"device\": \"net_null0\"}],\n"
    " \"multicast\": {\"nodes\": [{\"id\": 1, \"rid\": 5, \"ports\": [1], \"lags\": [7]},\n"
    "                             {\"id\": 2, \"ports\": [2]}],\n"
    "   \"lags\": [{\"id\": 7, \"ports\": [4, 3], \"left\": 1, \"right\": 2}],\n"
    "   \"ecmps\": [{\"id\": 9, \"nodes\": [1, null, 2]}],\n"
    "   \"groups\": [{\"id\": 3, \"nodes\": [{\"ecmp\": 9, \"xid\": 4}, 2]}],\n"
    "   \"backup\": [{\"port\": 3, \"backup\": 1}], \"global_rid\": 6},\n"
    " \"mirror\": [{\"id\": 12, \"direction\": \"both\", \"port\": 130, \"mcast_a\": 3, \"max\": "
    "64,\n"
    "              \"qid\": 31, \"cos\": 7, \"color\": 3, \"cpu\": true, \"hash1\": 8191}],\n"
    " \"pools\": [{\"id\": 2, \"cells\": 500, \"yellow\": 400}],\n"
    " \"queues\": [{\"port\": 1, \"speed\": 100, \"red\": 10, \"yellow\": 20, \"green\": 30,\n"
    "   \"limit\": 60, \"pool\": 2, \"guaranteed\": 3,\n"
    "   \"schedule\": [{\"qid\": 4, \"yellow\": 15, \"share\": 0.25, \"base\": 9}, {\"qid\": 5, "
    "\"pooled\": "
    "false}]}],\n"
    " \"deflect\": {\"port\": 2, \"qid\": 4},\n"
    " \"pktgen_buffers\": [{\"pipe\": 1, \"offset\": 16, \"bytes\": \"00112233445566778899\"}],\n"
    " \"pktgen\": [{\"pipe\": 1, \"app\": 2, \"trigger\": \"periodic\", \"length\": 10, "
    "\"offset\": 16,\n"
    "              \"timer\": 1000, \"packets\": 3}]}";

static bool count_ecmp(void *aux, uint32_t id, const uint32_t *nodes, size_t n) {
    assert_int_equal(id, 9);
    assert_int_equal(n, 3);
    assert_int_equal(nodes[0], 1);
    assert_int_equal(nodes[1], SK_PRE_NO_NODE);
    assert_int_equal(nodes[2], 2);
    ++*(int *)aux;
    return true;
}

static void test_config(void **state) {
    struct bench *b = *state;
    struct sk_error err;
    struct sk_config *c = sk_config_parse("t.json", whole, strlen(whole), &err);
    if (!c)
        fail_msg("%s", err.text);
    if (sk_config_apply(c, b->sw, &err))
        fail_msg("%s", err.text);
    sk_config_free(c);
    const struct sk_mirror_session *m = sk_mirror_get(b->sw, 12);
    assert_true(m->enabled && m->ucast_valid && m->mcast_a_valid && m->copy_to_cpu);
    assert_false(m->mcast_b_valid || m->deflect_on_drop);
    assert_int_equal(m->direction, SK_MIRROR_IN | SK_MIRROR_OUT);
    assert_int_equal(m->ucast_port, 130);
    assert_int_equal(m->max_pkt_len, 64);
    assert_int_equal(m->qid, 31);
    assert_int_equal(m->level1_mcast_hash, 8191);
    const struct sk_pre_lag *lag = pre_lag(sk_switch_pre(b->sw), 7);
    assert_non_null(lag);
    assert_int_equal(lag->n_ports, 2);
    assert_int_equal(lag->left, 1);
    assert_int_equal(lag->right, 2);
    int ecmps = 0;
    pre_ecmps_each(sk_switch_pre(b->sw), count_ecmp, &ecmps);
    assert_int_equal(ecmps, 1);
    struct sk_port_queue q;
    sk_switch_port_queue_get(b->sw, 1, &q);
    assert_int_equal(q.speed_mbps, 100);
    assert_int_equal(q.limit_yellow, 20);
    assert_int_equal(q.limit, 60);
    assert_true(q.buffer.pooled && q.buffer.pool == 2 && q.buffer.share == 0);
    assert_int_equal(q.buffer.guaranteed, 3);
    // what a queue leaves out is the port's
    assert_true(q.schedule[4].own_limits && q.schedule[4].own_buffer);
    assert_int_equal(q.schedule[4].limits.red, 10);
    assert_int_equal(q.schedule[4].limits.yellow, 15);
    assert_int_equal(q.schedule[4].limits.green, 30);
    assert_true(q.schedule[4].buffer.pooled && q.schedule[4].buffer.share == 5);
    assert_int_equal(q.schedule[4].buffer.guaranteed, 3);
    assert_int_equal(q.schedule[4].buffer.base, 9);
    assert_true(q.schedule[5].own_buffer && !q.schedule[5].own_limits);
    assert_false(q.schedule[5].buffer.pooled);
    assert_false(q.schedule[6].own_buffer || q.schedule[6].own_limits);
    struct sk_app_pool pool;
    sk_switch_app_pool_get(b->sw, 2, &pool);
    assert_int_equal(pool.cells, 500);
    assert_int_equal(pool.limit_yellow, 400);
    sk_switch_app_pool_get(b->sw, 3, &pool);
    assert_int_equal(pool.cells, 0);
    struct sk_pktgen_app app;
    struct sk_pktgen_counts counts;
    sk_switch_run(b->sw, 1500);
    sk_pktgen_get(b->sw, 1, 2, &app, &counts);
    assert_true(app.enabled);
    assert_int_equal(counts.triggers, 1);
    assert_int_equal(counts.packets, 3);
}

static void test_config_refused(void **state) {
    (void)state;
    static const struct {
        const char *member, *says;
    } cases[] = {
        {"\"queues\": [{\"port\": 1, \"schedule\": [{\"priority\": 1}]}]", "qid"},
        {"\"queues\": [{\"port\": 1, \"schedule\": [{\"qid\": 128}]}]", "qid"},
        {"\"queues\": [{\"port\": 1, \"schedule\": [{\"qid\": 1, \"priority\": 8}]}]", "priority"},
        {"\"queues\": [{\"port\": 1, \"schedule\": [{\"qid\": 1, \"weight\": 0}]}]",
         "a weight is 1 to 1023"},
        {"\"queues\": [{\"port\": 1, \"schedule\": [{\"qid\": 1, \"weight\": 1024}]}]", "weight"},
        {"\"queues\": [{\"port\": 1, \"schedule\": [{\"qid\": 1}, {\"qid\": 1}]}]", "twice"},
        {"\"queues\": [{\"port\": 1, \"schedule\": [{\"qid\": 1, \"flow_control\": \"credit\"}]}]",
         "flow control is \"xoff\""},
        {"\"queues\": [{\"port\": 1, \"schedule\": [{\"qid\": 1, \"pg_queue\": 3}]}]",
         "is for \"flow_control\""},
        {"\"queues\": [{\"port\": 1, \"schedule\": [{\"qid\": 16, \"flow_control\": \"xoff\"}]}]",
         "queue 16 needs a \"pg_queue\""},
        {"\"queues\": [{\"port\": 1, \"pool\": 1}]", "there is no pool 1"},
        {"\"queues\": [{\"port\": 1, \"pool\": 4}]", "pool"},
        {"\"queues\": [{\"port\": 1, \"schedule\": [{\"qid\": 2, \"pool\": 0}]}]",
         "there is no pool"},
        {"\"queues\": [{\"port\": 1, \"share\": 0.5}]", "a share is of a"},
        {"\"pools\": [{\"id\": 1, \"cells\": 9}], \"queues\": [{\"port\": 1, \"pool\": 1, "
         "\"share\": 0.3}]",
         "a share of what is free is"},
        {"\"pools\": [{\"id\": 1, \"cells\": 9}], \"queues\": [{\"port\": 1, \"pool\": 1, "
         "\"share\": \"1\"}]",
         "a share of what is free is"},
        {"\"pools\": [{\"id\": 1, \"cells\": 9}, {\"id\": 1, \"cells\": 9}]", "twice"},
        {"\"pools\": [{\"id\": 1, \"cells\": 9}], \"queues\": [{\"port\": 1, \"schedule\": "
         "[{\"qid\": 1, "
         "\"pool\": 1, \"pooled\": false}]}]",
         "has no pool"},
        {"\"pools\": [{\"id\": 4, \"cells\": 9}]", "id"},
        {"\"pools\": [{\"id\": 0, \"cells\": 0}]", "cells"},
        {"\"pools\": [{\"id\": 0}]", "cells"},
        {"\"mirror\": [{\"id\": 0, \"direction\": \"both\"}]", "mirror[0]"},
        {"\"mirror\": [{\"id\": 1015, \"direction\": \"both\"}]", "id"},
        {"\"mirror\": [{\"id\": 1, \"direction\": \"up\"}]", "direction"},
        {"\"mirror\": [{\"id\": 1, \"direction\": \"both\", \"port\": 72}]", "not a device port"},
        {"\"mirror\": [{\"id\": 1, \"direction\": \"both\", \"op\": \"x\"}]", "op"},
        {"\"multicast\": {\"lags\": [{\"id\": 255, \"ports\": []}]}", "lags[0]"},
        {"\"multicast\": {\"nodes\": [{\"id\": 1, \"ports\": [], \"lags\": [1, 1]}]}",
         "given twice"},
        {"\"pktgen_buffers\": [{\"pipe\": 0, \"offset\": 0, \"bytes\": \"0\"}]", "hexadecimal"},
        {"\"pktgen_buffers\": [{\"pipe\": 0, \"offset\": 0, \"bytes\": \"zz\"}]", "hexadecimal"},
        {"\"pktgen\": [{\"pipe\": 0, \"app\": 16, \"trigger\": \"one_shot\", \"length\": 9}]",
         "app"},
        {"\"pktgen\": [{\"pipe\": 0, \"app\": 0, \"trigger\": \"never\", \"length\": 9}]",
         "trigger"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        struct sk_error err = {""};
        snprintf(text, sizeof text, "{\"program\": \"p\", \"ports\": [], %s}", cases[i].member);
        struct sk_config *c = sk_config_parse("t.json", text, strlen(text), &err);
        if (c || !strstr(err.text, cases[i].says))
            fail_msg("%s: '%s'", text, err.text);
    }
}

static json_t *ask(struct bench *b, const char *text) {
    const struct sk_service service = {.sw = b->sw};
    return sk_request(&service, text, strlen(text));
}

static void expect_ok(struct bench *b, const char *text) {
    json_t *reply = ask(b, text);
    const char *error = json_string_value(json_object_get(reply, "error"));
    if (!json_is_true(json_object_get(reply, "ok")))
        fail_msg("%s: %s", text, error ? error : "no sentence");
    json_decref(reply);
}

static void expect_refused(struct bench *b, const char *text, const char *says) {
    json_t *reply = ask(b, text);
    const char *error = json_string_value(json_object_get(reply, "error"));
    if (json_is_true(json_object_get(reply, "ok")) || !error || !strstr(error, says))
        fail_msg("%s: %s", text, error ? error : "it was done");
    json_decref(reply);
}

static void test_requests(void **state) {
    struct bench *b = *state;
    expect_ok(b, "{\"op\": \"mirror.set\", \"id\": 3, \"direction\": \"ingress\", \"port\": 5}");
    assert_true(sk_mirror_get(b->sw, 3)->enabled);
    expect_refused(b, "{\"op\": \"mirror.set\", \"id\": 3, \"direction\": \"x\"}", "direction");
    expect_refused(
        b, "{\"op\": \"mirror.set\", \"id\": 3, \"direction\": \"both\", \"port\": 6, \"qid\": 99}",
        "queue");
    assert_int_equal(sk_mirror_get(b->sw, 3)->ucast_port, 5);
    json_t *reply = ask(b, "{\"op\": \"mirror\"}");
    json_t *sessions = json_object_get(json_object_get(reply, "result"), "sessions");
    assert_int_equal(json_array_size(sessions), 1);
    json_decref(reply);
    expect_ok(b, "{\"op\": \"mirror.delete\", \"id\": 3}");
    assert_false(sk_mirror_get(b->sw, 3)->enabled);
    expect_refused(b, "{\"op\": \"mirror.delete\", \"id\": 3}", "it does not exist");
    expect_refused(b, "{\"op\": \"mirror.delete\", \"id\": 0}", "it does not exist");
    expect_refused(b, "{\"op\": \"mirror.delete\", \"id\": 70000}", "it does not exist");
    expect_refused(b, "{\"op\": \"pre.ecmp.delete\", \"id\": 9}", "it does not exist");
    expect_refused(b, "{\"op\": \"pre.node.delete\", \"id\": 9}", "no such node");
    expect_refused(b, "{\"op\": \"pre.group.delete\", \"id\": 9}", "no such group");
    expect_refused(b, "{\"op\": \"pktgen.off\", \"pipe\": 0, \"app\": 5}", "is not enabled");

    expect_ok(b, "{\"op\": \"pre.node.set\", \"id\": 1, \"ports\": [1], \"lags\": [2]}");
    expect_ok(b, "{\"op\": \"pre.lag.set\", \"id\": 2, \"ports\": [3, 4]}");
    expect_refused(b, "{\"op\": \"pre.ecmp.set\", \"id\": 1, \"nodes\": [2]}", "not");
    expect_ok(b, "{\"op\": \"pre.ecmp.set\", \"id\": 1, \"nodes\": [null, 1]}");
    expect_ok(b, "{\"op\": \"pre.group.set\", \"id\": 1, \"nodes\": [{\"ecmp\": 1}]}");
    expect_refused(b, "{\"op\": \"pre.ecmp.delete\", \"id\": 1}", "still has it");
    expect_ok(b, "{\"op\": \"pre.group.delete\", \"id\": 1}");
    expect_ok(b, "{\"op\": \"pre.ecmp.delete\", \"id\": 1}");
    expect_ok(b, "{\"op\": \"pre.backup.set\", \"port\": 1, \"backup\": 2}");
    expect_ok(b, "{\"op\": \"pre.global\", \"rid\": 2}");

    expect_ok(b, "{\"op\": \"port.queue\", \"port\": 1, \"speed\": 10, \"red\": 5, \"green\": 7}");
    expect_refused(b, "{\"op\": \"port.queue\", \"port\": 1, \"red\": 5, \"green\": 4}", "ascend");
    expect_refused(b, "{\"op\": \"port.queue\", \"port\": 1, \"pool\": 3}", "there is no pool 3");
    expect_refused(b, "{\"op\": \"pool.set\", \"id\": 3, \"cells\": 4, \"green\": 5}", "ascend");
    expect_ok(b, "{\"op\": \"pool.set\", \"id\": 3, \"cells\": 40, \"green\": 40}");
    expect_ok(b, "{\"op\": \"port.queue\", \"port\": 1, \"speed\": 10, \"pool\": 3, \"share\": 2}");
    expect_refused(b, "{\"op\": \"pool.delete\", \"id\": 3}", "still uses it");
    expect_refused(b, "{\"op\": \"pool.delete\", \"id\": 1}", "does not exist");
    expect_ok(b, "{\"op\": \"queues\"}");
    expect_ok(b, "{\"op\": \"port.queue\", \"port\": 1}");
    expect_ok(b, "{\"op\": \"pool.delete\", \"id\": 3}");
    expect_ok(b, "{\"op\": \"port.set\", \"port\": 1, \"up\": true}");
    assert_true(sk_switch_port_is_up(b->sw, 1));
    expect_ok(b, "{\"op\": \"port.deflect\", \"port\": 1}");

    expect_ok(b, "{\"op\": \"pktgen.buffer\", \"pipe\": 0, \"offset\": 0, \"bytes\": \"AAbb\"}");
    expect_refused(
        b, "{\"op\": \"pktgen.buffer\", \"pipe\": 0, \"offset\": 16383, \"bytes\": \"aabb\"}",
        "fit");
    expect_ok(b, "{\"op\": \"pktgen.set\", \"pipe\": 0, \"app\": 0, \"trigger\": \"one_shot\", "
                 "\"length\": 20, \"timer\": 5}");
    expect_refused(b,
                   "{\"op\": \"pktgen.set\", \"pipe\": 0, \"app\": 0, \"trigger\": \"periodic\", "
                   "\"length\": 20}",
                   "period");
    expect_refused(b,
                   "{\"op\": \"pktgen.set\", \"pipe\": 0, \"app\": 8, \"trigger\": \"one_shot\", "
                   "\"length\": 20}",
                   "applications 0 to 7");
    expect_ok(b, "{\"op\": \"pktgen\"}");
    expect_ok(b, "{\"op\": \"pktgen.off\", \"pipe\": 0, \"app\": 0}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_config, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_config_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_requests, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
//
// What silken_kv_* refuses. That it adds and answers is seen in silken demo --protocol libra
// (harness/cli/demo/test_libra_demo.py), which is made of it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "hosts/keyvalue/keyvalue.h"

// A client of shared memory whose other end is not there: it can be opened, and sends nothing.
#define DEVICE "net_memif0,role=client,id=0,socket-abstract=no,socket=/tmp/silken-no-such-socket"

static const struct silken_address servers[] = {{"02:00:00:00:00:11", "10.0.0.11"},
                                                {"02:00:00:00:00:12", "10.0.0.12"},
                                                {"02:00:00:00:00:13", "10.0.0.13"}};
static char layout_path[64];

static struct silken_kv_config good(void) {
    struct silken_kv_config c;
    silken_kv_config_init(&c);
    c.job = 3;
    c.workers = 4;
    c.keys = 1000;
    c.width = 3;
    c.layout = layout_path;
    c.device = DEVICE;
    c.self = (struct silken_address){"02:00:00:00:00:01", "10.0.0.1"};
    c.switch_address = (struct silken_address){"02:00:00:00:00:fe", "10.0.0.254"};
    c.servers = 3;
    c.server = servers;
    c.hard_limit_ms = 50;
    return c;
}

static void write_layout(uint8_t job, unsigned registers, uint64_t key) {
    const uint64_t keys[] = {7, 9, key};
    struct libra_layout layout;
    struct sk_error err;
    FILE *out = fopen(layout_path, "w");
    assert_non_null(out);
    assert_int_equal(0, libra_layout_make(&layout, job, 1, registers, keys, 3, &err));
    assert_true(libra_layout_write(&layout, out));
    assert_int_equal(0, fclose(out));
    libra_layout_clear(&layout);
}

static void refused(const struct silken_kv_config *c, const char *sentence) {
    struct silken_kv *kv;
    char why[512];
    assert_int_equal(SILKEN_ERR_INVALID, silken_kv_open(&kv, c, why, sizeof why));
    if (!strstr(why, sentence))
        fail_msg("'%s' does not say '%s'", why, sentence);
}

static void test_configurations(void **state) {
    (void)state;
    write_layout(3, LIBRA_PLACES, 2999);
#define REFUSED(member, bad, sentence)                                                             \
    do {                                                                                           \
        struct silken_kv_config c = good();                                                        \
        c.member = bad;                                                                            \
        refused(&c, sentence);                                                                     \
    } while (0)
    REFUSED(workers, 0, "workers is 0");
    REFUSED(workers, 65, "from 1 to 64");
    REFUSED(worker, 4, "number 4 is not one of the 4 workers");
    REFUSED(servers, 17, "servers is 17");
    REFUSED(server, NULL, "with addresses");
    REFUSED(width, 0, "width");
    REFUSED(keys, UINT64_MAX, "below 2^64");
    REFUSED(first_sequence, 0, "first_sequence");
    REFUSED(hard_limit_ms, 0, "hard_limit_ms");
    REFUSED(optimised, 1, "only with 'switch_cpu'");
    REFUSED(device, NULL, "device is missing");
    REFUSED(device, "tape:1", "tape:1");
    REFUSED(self.mac, "02", "the station's address");
    REFUSED(switch_address.ip, "10.0.0", "the switch's address");
    REFUSED(layout, "/no/such", "/no/such");
    const struct silken_kv_switch other[] = {{{"02:00:00:00:00:fd", "10.0.0.253"}, layout_path},
                                             {{"02:00:00:00:00:fd", "10.0.0"}, layout_path},
                                             {{"02:00:00:00:00:fd", "10.0.0.253"}, NULL}};
    static const char *const sentences[] = {"has parameter 7, which another switch has",
                                            "the switch's address", "switch 1 has no layout"};
    for (int i = 0; i < 3; i++) {
        struct silken_kv_config two = good();
        two.more_switches = 1;
        two.more_switch = &other[i];
        refused(&two, sentences[i]);
    }
    REFUSED(more_switches, 16, "at most 15");
    REFUSED(more_switches, 1, "more_switches is for workers"); // without addresses
    write_layout(4, LIBRA_PLACES, 2999);
    REFUSED(width, 3, "is the layout of job 4, and this is job 3");
    write_layout(3, 8, 2999);
    REFUSED(width, 3, "is for 8 registers");
    write_layout(3, LIBRA_PLACES, 3000);
    REFUSED(width, 3, "has parameter 3000, and the job has 3000");
    struct silken_kv_server *server;
    struct silken_kv_config c = good();
    char why[512];
    c.worker = 3;
    assert_int_equal(SILKEN_ERR_INVALID, silken_kv_server_open(&server, &c, why, sizeof why));
    assert_non_null(strstr(why, "number 3 is not one of the 3 servers"));
    c = good();
    c.optimised = c.switch_cpu = 1;
    assert_int_equal(SILKEN_ERR_INVALID, silken_kv_server_open(&server, &c, why, sizeof why));
    assert_non_null(strstr(why, "has an optimiser if"));
    // nobody answers a member that begins
    struct silken_kv *kv;
    c = good();
    c.switch_cpu = 1;
    write_layout(3, LIBRA_PLACES, 2999);
    assert_int_equal(SILKEN_ERR_STALLED, silken_kv_open(&kv, &c, why, sizeof why));
    assert_non_null(strstr(why, "the CPU of the switch does not answer member 0 of job 3"));
}

static void test_keys(void **state) {
    const uint64_t same[] = {5, 5}, falling[] = {6, 5}, large[] = {5, 1000}, fine[] = {5, 999};
    const uint32_t long_one[] = {3, 4};
    float values[8] = {0};
    struct silken_kv_config c = good();
    struct silken_kv *kv;
    uint64_t request;
    char why[512];

    (void)state;
    write_layout(3, LIBRA_PLACES, 2999);
    assert_int_equal(0, silken_kv_open(&kv, &c, why, sizeof why));
    const uint64_t *const bad[] = {same, falling, large};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(SILKEN_ERR_INVALID,
                         silken_kv_push_f32(kv, bad[i], values, NULL, 2, &request));
        assert_int_equal(SILKEN_ERR_INVALID,
                         silken_kv_pull_f32(kv, bad[i], values, NULL, 2, &request));
    }
    assert_int_equal(SILKEN_ERR_INVALID,
                     silken_kv_push_f32(kv, fine, values, long_one, 2, &request));
    assert_int_equal(SILKEN_ERR_INVALID, silken_kv_wait(kv, 0));
    assert_int_equal(SILKEN_ERR_INVALID, silken_kv_wait(kv, 1));
    // nothing to do is done at once
    assert_int_equal(0, silken_kv_push_f32(kv, fine, values, NULL, 0, &request));
    assert_int_equal(0, silken_kv_wait(kv, request));
    // nobody answers
    assert_int_equal(0, silken_kv_push_f32(kv, fine, values, NULL, 2, &request));
    assert_int_equal(SILKEN_ERR_STALLED, silken_kv_wait(kv, request));
    assert_int_equal(SILKEN_ERR_CLOSED, silken_kv_push_f32(kv, fine, values, NULL, 2, &request));
    assert_int_equal(SILKEN_ERR_CLOSED, silken_kv_barrier(kv));
    silken_kv_close(kv);
}

// Each parameter has one server, in order, and they share them equally.
static void test_ranges(void **state) {
    struct keyvalue_setup s;
    struct silken_kv_config c = good();
    char why[512];

    (void)state;
    write_layout(3, LIBRA_PLACES, 2999);
    for (uint64_t keys = 1; keys < 40; keys++) {
        c.keys = keys + 3000;
        c.width = 1;
        assert_int_equal(0, keyvalue_setup(&s, &c, false, why, sizeof why));
        unsigned count[3] = {0}, last = 0;
        for (uint64_t p = 0; p < c.keys; p++) {
            unsigned server = keyvalue_server_of(&s, p);
            assert_in_range(server, last, 2);
            assert_in_range(p, keyvalue_first(&s, server), keyvalue_first(&s, server + 1) - 1);
            count[last = server]++;
        }
        assert_in_range(count[0] - count[2], 0, 1);
        assert_int_equal(c.keys, keyvalue_first(&s, 3));
        keyvalue_clear(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_configurations),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_ranges),
    };
    snprintf(layout_path, sizeof layout_path, "/tmp/silken-test-layout-%d", (int)getpid());
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(layout_path);
    return failures;
}

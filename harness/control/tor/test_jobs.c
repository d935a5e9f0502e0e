// SPDX-License-Identifier: Apache-2.0
//
// Aggregation jobs of a running ToR (p4/rack), with packets of both protocols: who is admitted,
// what a job is given and gives back, that no job disturbs another, and that a request which is
// refused changes nothing.
#include "harness/control/tor/jobs.h"

#include <stdio.h>
#include <stdlib.h>

// ---- SwitchML ----

static void test_switchml(void **state) {
    struct rig *r = start();
    (void)state;
    add(r, SML("one", TWO, ", \"slots\": 16, \"number\": 7"));
    assert_int_equal(number(r, "one", "first_slot"), 0);
    for (unsigned slot = 0; slot < 16; slot += 15) {
        sml_send(r, A, 0, 2, 7, slot, 100);
        eth_quiet(r);
        sml_send(r, B, 0, 3, 7, slot, 11);
        sml_result(r, A, 0, 2, 111);
        sml_result(r, B, 0, 3, 111);
        eth_quiet(r);
    }
    assert_int_equal(dropped(r, 13), 0);
    sml_send(r, C, 0, 2, 7, 1, 1); // another port
    sml_send(r, A, 0, 3, 7, 1, 1); // another address
    sml_send(r, A, 0, 2, 8, 1, 1); // another job
    eth_quiet(r);
    assert_int_equal(dropped(r, 13), 3);
    sml_send(r, A, 0, 2, 7, 16, 1); // no slot of its
    eth_quiet(r);
    rig_free(r);
}

static void test_tags_and_lags(void **state) {
    struct rig *r = start();
    (void)state;
    add(r, SML("one", "\"t:10.0.10.2\", \"l:10.0.10.3\"", ", \"number\": 7"));
    sml_send(r, T, 10, 2, 7, 3, 5);
    sml_send(r, L2, 0, 3, 7, 3, 6); // either port of the LAG
    sml_result(r, T, 10, 2, 11);
    sml_result(r, rig_count(r, L1) ? L1 : L2, 0, 3, 11);
    eth_quiet(r);
    sml_send(r, T, 20, 2, 7, 4, 5); // a VLAN that is not the job's
    eth_quiet(r);
    assert_int_equal(dropped(r, 13), 1);
    // asked again while a port of the LAG is down, the answer comes by the other one
    rig_link(r, L1, false);
    rig_wait(r, 2500);
    rig_forget(r);
    sml_send(r, L2, 0, 3, 7, 3, 6);
    sml_result(r, L2, 0, 3, 11);
    eth_quiet(r);
    rig_free(r);
}

static void test_a_second_job_disturbs_nothing(void **state) {
    struct rig *r = start();
    (void)state;
    add(r, SML("one", TWO, ", \"slots\": 16, \"number\": 7"));
    sml_send(r, A, 0, 2, 7, 3, 100); // is in the slot when the other one comes, and goes
    add(r, SML("two", OTHER_TWO, ", \"slots\": 16"));
    assert_int_equal(number(r, "two", "first_slot"), 16);
    assert_int_equal(number(r, "two", "number"), 0);
    sml_send(r, C, 0, 4, 0, 3, 1);
    sml_send(r, X, 0, 5, 0, 3, 2);
    sml_result(r, C, 0, 4, 3);
    sml_result(r, X, 0, 5, 3);
    removed(r, "two");
    sml_send(r, C, 0, 4, 0, 4, 1);
    eth_quiet(r);
    assert_int_equal(dropped(r, 13), 1);
    sml_send(r, B, 0, 3, 7, 3, 11);
    sml_result(r, A, 0, 2, 111);
    sml_result(r, B, 0, 3, 111);
    eth_quiet(r);
    // what both had is still guarded
    sml_send(r, S, 0, 6, 7, 3, 1);
    eth_quiet(r);
    assert_int_equal(dropped(r, 13), 2);
    rig_free(r);
}

static void test_slots_come_empty(void **state) {
    struct rig *r = start();
    (void)state;
    add(r, SML("one", TWO, ", \"slots\": 16, \"number\": 7"));
    sml_send(r, A, 0, 2, 7, 3, 100);
    sml_send(r, A, 0, 2, 7, 0x8000 | 3, 100);
    removed(r, "one");
    add(r, SML("two", "\"b:10.0.10.3\", \"a:10.0.10.2\"", ", \"slots\": 8, \"number\": 7"));
    assert_int_equal(number(r, "two", "first_slot"), 0);
    for (unsigned version = 0; version < 2; version++) {
        sml_send(r, B, 0, 3, 7, version << 15 | 3, 1); // has the bit that was set
        eth_quiet(r);
        sml_send(r, A, 0, 2, 7, version << 15 | 3, 2);
        sml_result(r, A, 0, 2, 3);
        sml_result(r, B, 0, 3, 3);
        eth_quiet(r);
    }
    rig_free(r);
}

static void test_who_has_to_answer_first(void **state) {
    struct rig *r = start();
    uint8_t arp[60] = {0}, got[RIG_FRAME];
    (void)state;
    add(r, SML("one", "\"a:10.0.10.2\", \"s:10.0.10.8\"", ", \"number\": 7"));
    json_t *j = job(r, "one"), *late = json_array_get(json_object_get(j, "workers"), 1);
    assert_non_null(json_object_get(late, "waits"));
    json_decref(j);
    rig_wait(r, 100);
    assert_int_equal(rig_take(r, S, got), 60); // who has 10.0.10.8?
    assert_int_equal(get(got + 12, 2), 0x0806);
    assert_int_equal(get(got + 38, 4), HOST_IP(8));
    rig_forget(r);
    sml_send(r, S, 0, 8, 7, 0, 1);
    sml_send(r, A, 0, 2, 7, 0, 2);
    sml_result(r, A, 0, 2, 3);
    eth_quiet(r);
    eth_address(arp, ETH_OWN);
    eth_address(arp + 6, 8);
    put(arp + 12, 2, 0x0806);
    put(arp + 14, 8, UINT64_C(0x0001080006040002));
    eth_address(arp + 22, 8);
    put(arp + 28, 4, HOST_IP(8));
    eth_address(arp + 32, ETH_OWN);
    put(arp + 38, 4, SWITCH_IP);
    rig_send(r, S, arp, sizeof arp);
    rig_wait(r, 1500);
    rig_forget(r);
    sml_send(r, S, 0, 8, 7, 0, 1); // asked again
    sml_result(r, S, 0, 8, 3);
    eth_quiet(r);
    rig_free(r);
}

// VLAN 20 has no address of the switch: "macs" says who is at a link, if it says one.
static void test_who_cannot_be_asked(void **state) {
    struct rig *r =
        rig_new_with("p4/rack/rack.p4", 3,
                     "{\"mac\": \"" ETH_OWN_TEXT "\", \"vlans\": [{\"vid\": 20}], \"links\": ["
                     "{\"name\": \"a\", \"port\": 0, \"access\": 20}, {\"name\": \"b\", \"port\": "
                     "1, \"access\": 20},"
                     "{\"name\": \"c\", \"port\": 2, \"access\": 20}], \"macs\": ["
                     "{\"vid\": 20, \"mac\": \"02:00:00:00:00:02\", \"link\": \"a\"},"
                     "{\"vid\": 20, \"mac\": \"02:00:00:00:00:03\", \"link\": \"b\"},"
                     "{\"vid\": 20, \"mac\": \"02:00:00:00:00:04\", \"link\": \"c\"},"
                     "{\"vid\": 20, \"mac\": \"02:00:00:00:00:05\", \"link\": \"c\"}]}");
    (void)state;
    add(r, SML("one", TWO ", \"c:10.0.10.4\"", ", \"number\": 7, \"address\": \"10.0.10.1\""));
    json_t *j = job(r, "one"), *workers = json_object_get(j, "workers");
    assert_null(json_object_get(json_array_get(workers, 0), "waits"));
    assert_null(json_object_get(json_array_get(workers, 1), "waits"));
    assert_non_null(strstr(json_string_value(json_object_get(json_array_get(workers, 2), "waits")),
                           "the switch cannot ask for its address"));
    json_decref(j);
    sml_send(r, A, 0, 2, 7, 0, 1);
    sml_send(r, B, 0, 3, 7, 0, 2);
    sml_send(r, C, 0, 4, 7, 0, 3);
    sml_result(r, A, 0, 2, 6);
    sml_result(r, B, 0, 3, 6);
    eth_quiet(r);
    rig_free(r);
}

static void test_rates(void **state) {
    struct rig *r = start();
    (void)state;
    add(r, SML("one", TWO, ", \"number\": 7, \"rate\": 1"));
    add(r, SML("two", OTHER_TWO, ", \"number\": 8"));
    for (unsigned i = 0; i < 500; i++) {
        sml_send(r, A, 0, 2, 7, 0, 1);
        sml_send(r, C, 0, 4, 8, 0, 1);
    }
    // 100,000 bits are some 70 packets; the other worker, and the other job, have their own
    const long long over = dropped(r, 15);
    assert_in_range(over, 400, 450);
    sml_send(r, B, 0, 3, 7, 0, 1);
    sml_result(r, A, 0, 2, 2);
    sml_result(r, B, 0, 3, 2);
    rig_forget(r);
    rig_wait(r, 1000); // a second is 690 packets, of which the bucket keeps its 70
    rig_forget(r);
    sml_send(r, A, 0, 2, 7, 0, 1);
    sml_result(r, A, 0, 2, 2);
    assert_int_equal(dropped(r, 15), over);
    rig_free(r);
}

// ---- ATP ----

static void test_atp(void **state) {
    struct rig *r = start();
    struct gradient g = {.bits = 1, .fan_in = 2, .number = 9, .sequence = 1, .value = 100};
    (void)state;
    add(r, ATP("other", "\"x:10.0.10.7\"", "x:10.0.10.7", ", \"aggregators\": 100"));
    add(r, ATP("one", TWO, "s:10.0.10.6", ", \"aggregators\": 50, \"number\": 9"));
    assert_int_equal(number(r, "one", "first_aggregator"), 100);
    g.index = 149;
    atp_send(r, A, 2, HOST_IP(6), &g, false);
    eth_quiet(r);
    g.bits = 2;
    g.value = 11;
    atp_send(r, B, 3, HOST_IP(6), &g, false);
    atp_expect(r, S, 0x020000000006, 3, 111);
    eth_quiet(r);
    // the server's address from elsewhere changes nothing
    eth_send(r, X, 2, 6, ETH_NO_TAG, 1);
    rig_wait(r, 20);
    rig_forget(r);
    g.sequence = 2;
    g.index = 148;
    atp_send(r, B, 3, HOST_IP(6), &g, false);
    g.bits = 1;
    atp_send(r, A, 2, HOST_IP(6), &g, false);
    atp_expect(r, S, 0x020000000006, 3, 22);
    eth_quiet(r);
    // parameters: 239.192.0.9
    g.sequence = 1;
    g.index = 149;
    g.value = 111;
    atp_send(r, S, 6, 0xefc00009, &g, true);
    atp_expect(r, A, 0x01005e400009, 0, 111);
    atp_expect(r, B, 0x01005e400009, 0, 111);
    eth_quiet(r);
    assert_int_equal(dropped(r, 13) + dropped(r, 14), 0);
    // what is not theirs
    atp_send(r, A, 2, 0xefc00009, &g, true); // a worker's parameters
    atp_send(r, X, 6, 0xefc00009, &g, true); // the server's, at another port
    atp_send(r, B, 2, HOST_IP(6), &g, false);
    assert_int_equal(dropped(r, 13), 3);
    g.bits = 2;
    atp_send(r, A, 2, HOST_IP(6), &g, false);
    g.bits = 1;
    g.index = 150;
    atp_send(r, A, 2, HOST_IP(6), &g, false);
    g.index = 99;
    atp_send(r, A, 2, HOST_IP(6), &g, false);
    assert_int_equal(dropped(r, 14), 3);
    eth_quiet(r);
    removed(r, "one");
    g.index = 100;
    atp_send(r, A, 2, HOST_IP(6), &g, false);
    atp_send(r, S, 6, 0xefc00009, &g, true);
    assert_int_equal(rig_count(r, S), 1); // an address like any other again
    rig_free(r);
}

// Hosts 2 and 3 are in rack 0 at 'leaf', host 4 and the server, 6, in rack 1 at 'root'. Port X of
// 'leaf' and port A of 'root' are two ends of a cable. By the hosts' rule 2 and 3 have the bits 0
// and 1 of bitmap0 and, both, bit 0 of bitmap1, where 4 has bit 1.
static void carry(struct rig *from, uint16_t port, struct rig *to, uint16_t into) {
    uint8_t f[RIG_FRAME];
    const size_t n = rig_take(from, port, f);
    assert_true(n > 0);
    rig_send(to, into, f, n);
}

static void test_two_racks(void **state) {
    static const char racks[] = ", \"racks\": [0, 0, 1], \"server_rack\": 1, \"number\": 9, "
                                "\"aggregators\": 50, \"rack\": ";
    struct rig *leaf = start(), *root = start();
    char text[600];
    (void)state;
    snprintf(text, sizeof text,
             ATP("one", "\"a:10.0.10.2\", \"b:10.0.10.3\", \"x:10.0.10.4\"", "x:10.0.10.6", "%s0"),
             racks);
    add(leaf, text);
    snprintf(text, sizeof text,
             ATP("one", "\"a:10.0.10.2\", \"a:10.0.10.3\", \"c:10.0.10.4\"", "s:10.0.10.6", "%s1"),
             racks);
    add(root, text);
    for (unsigned round = 1; round < 3;
         round++) { // the second time the aggregators have to be free
        struct gradient g = {.fan_in = 2, .fan_in1 = 2, .number = 9, .sequence = round, .index = 7};
        g.bits = 1, g.value = 100;
        atp_send(leaf, A, 2, HOST_IP(6), &g, false);
        eth_quiet(leaf);
        g.bits = 2, g.value = 20;
        atp_send(leaf, B, 3, HOST_IP(6), &g, false);
        carry(leaf, X, root, A); // the sum of the rack
        eth_quiet(leaf);
        eth_quiet(root);
        struct gradient own = g;
        own.edge = true, own.bits = 0, own.bits1 = 2, own.fan_in = 1, own.value = 3;
        atp_send(root, C, 4, HOST_IP(6), &own, false);
        uint8_t got[RIG_FRAME];
        assert_int_equal(rig_take(root, S, got), HEAD + ATP_BYTES);
        assert_int_equal(get(got + HEAD + 4, 4), 3);
        assert_int_equal(get(got + HEAD + 8, 1) & 0x80, 0x80);
        assert_int_equal(get(got + HEAD + 16, 4), 123);
        eth_quiet(root);
        g.value = 123;
        atp_send(root, S, 6, 0xefc00009, &g, true);
        atp_expect(root, C, 0x01005e400009, 0, 123);
        carry(root, A, leaf, X);
        eth_quiet(root); // one copy for the rack
        atp_expect(leaf, A, 0x01005e400009, 0, 123);
        atp_expect(leaf, B, 0x01005e400009, 0, 123);
        eth_quiet(leaf);
    }
    assert_int_equal(dropped(leaf, 13) + dropped(leaf, 14) + dropped(root, 13) + dropped(root, 14),
                     0);
    // a rack's switch says its own bits, and a worker of this rack is none
    struct gradient g = {
        .fan_in = 2, .fan_in1 = 2, .number = 9, .sequence = 5, .index = 8, .edge = true};
    g.bits = 4;
    atp_send(root, A, 2, HOST_IP(6), &g, false);
    g.bits = 1, g.bits1 = 2;
    atp_send(root, A, 2, HOST_IP(6), &g, false);
    g.bits1 = 1, g.edge = false;
    atp_send(root, A, 2, HOST_IP(6), &g, false);
    assert_int_equal(dropped(root, 14), 3);
    atp_send(root, B, 2, HOST_IP(6), &g, false); // by another port
    atp_send(leaf, X, 4, HOST_IP(6), &g,
             false); // another rack's worker has no business in this one
    assert_int_equal(dropped(root, 13), 1);
    assert_int_equal(dropped(leaf, 13), 1);
    g.fan_in1 = 1;
    atp_send(leaf, A, 2, HOST_IP(6), &g, false);
    assert_int_equal(dropped(leaf, 14), 1);
    removed(root, "one");
    rig_free(leaf);
    rig_free(root);
}

// ---- SwitchML over two switches ----

#define ABOVE        ", \"above\": \"x:10.0.10.7\""
#define LEVELS(more) more ", \"number\": 5, \"slots\": 16, \"racks\": [0, 0, 1], \"rack\": 0"

// A packet of job 5, as 'from' sends it, or as a result comes down; 32 elements, all alike.
static void sml_from(struct rig *r, uint16_t port, uint32_t to_mac, uint32_t from, uint32_t to,
                     unsigned version, uint32_t tsi, uint32_t value) {
    uint8_t f[HEAD + SML_BYTES];
    head(f, to_mac, from, HOST_IP(to), 0xbee0, SML_BYTES);
    put(f + HEAD, 2, 0x1005);
    put(f + HEAD + 2, 4, tsi);
    put(f + HEAD + 6, 4, (uint64_t)(version << 15 | 3) << 16);
    for (int i = 0; i < 32; i++)
        put(f + HEAD + 10 + 4 * i, 4, value);
    rig_send(r, port, f, sizeof f);
}

static void sml_part(struct rig *r, uint16_t port, uint32_t host, unsigned version, uint32_t tsi,
                     uint32_t value) {
    sml_from(r, port, ETH_OWN, host, 1, version, tsi, value);
}

// Host 7 is the switch above, at x: the lower one is 10.0.10.1 to it, too.
static void test_levels(void **state) {
    struct rig *r =
        rig_new_with("p4/rack/with_levels.p4", PORTS, SECTION(LINKS_WITHOUT_C LINK_C, ""));
    uint8_t got[RIG_FRAME], mac[6];
    (void)state;
    add(r, SML("low", TWO, LEVELS(ABOVE)));
    for (unsigned use = 0; use < 3; use++) {
        const unsigned version = use % 2;
        sml_part(r, A, 2, version, use, 100);
        eth_quiet(r);
        sml_part(r, B, 3, version, use, 20);
        // the partial sum goes up as this switch's, and nobody below has anything
        assert_int_equal(rig_take(r, X, got), HEAD + SML_BYTES);
        eth_address(mac, 7);
        assert_memory_equal(got, mac, 6);
        eth_address(mac, ETH_OWN);
        assert_memory_equal(got + 6, mac, 6);
        assert_int_equal(get(got + 26, 4), HOST_IP(1));
        assert_int_equal(get(got + 30, 4), HOST_IP(7));
        assert_int_equal(get(got + HEAD + 10, 4), 120);
        eth_quiet(r);
        // repeated below, repeated upwards
        sml_part(r, A, 2, version, use, 100);
        assert_int_equal(rig_take(r, X, got), HEAD + SML_BYTES);
        assert_int_equal(get(got + HEAD + 10, 4), 120);
        eth_quiet(r);
        // by another port, or from somebody else: not the switch above
        sml_from(r, C, ETH_OWN, 7, 1, version, use, 1);
        sml_from(r, X, ETH_OWN, 6, 1, version, use, 1);
        // in its name to a worker, in this switch's name to it, and in a worker's
        sml_from(r, C, 2, 7, 2, version, use, 1);
        sml_from(r, C, 7, 1, 7, version, use, 1);
        sml_from(r, C, 7, 2, 7, version, use, 1);
        assert_int_equal(dropped(r, 13), 5 * (use + 1));
        eth_quiet(r);
        // sums of another use, then the right ones, then again
        sml_from(r, X, ETH_OWN, 7, 1, version, 1000, 999);
        eth_quiet(r);
        for (int again = 0; again < 2; again++)
            sml_from(r, X, ETH_OWN, 7, 1, version, use, 5000 + use);
        sml_result(r, A, 0, 2, 5000 + use);
        sml_result(r, B, 0, 3, 5000 + use);
        eth_quiet(r);
        // and who asks now gets them from here
        sml_part(r, B, 3, version, use, 20);
        sml_result(r, B, 0, 3, 5000 + use);
        eth_quiet(r);
    }
    // the same program at the top, for workers and a switch below
    removed(r, "low");
    add(r, SML("top", TWO, LEVELS(", \"below\": [\"x:10.0.10.7\"]")));
    sml_from(r, X, ETH_OWN, 7, 1, 0, 9, 3);
    sml_part(r, A, 2, 0, 9, 100);
    eth_quiet(r);
    sml_part(r, B, 3, 0, 9, 20);
    sml_result(r, A, 0, 2, 123);
    sml_result(r, B, 0, 3, 123);
    sml_result(r, X, 0, 7, 123);
    // nobody may send sums to the switch below, at whatever of its ports
    const long long before = dropped(r, 13);
    for (unsigned port = 0xbee0; port <= 0xbeef; port++) {
        uint8_t f[HEAD + SML_BYTES] = {0};
        head(f, 7, 1, HOST_IP(7), (uint16_t)port, SML_BYTES);
        put(f + HEAD, 2, 0x1005);
        rig_send(r, C, f, sizeof f);
    }
    assert_int_equal(dropped(r, 13), before + 16);
    eth_quiet(r);
    json_t *j = job(r, "top");
    assert_int_equal(json_array_size(json_object_get(j, "below")), 1);
    assert_int_equal(json_array_size(json_object_get(j, "workers")), 2);
    assert_int_equal(json_integer_value(json_object_get(j, "job_workers")), 3);
    json_decref(j);
    removed(r, "top");
    // one between: what both below have goes up, what comes down to both
    add(r, SML("between", TWO, LEVELS(ABOVE ", \"below\": [\"c:10.0.10.4\"]")));
    sml_part(r, A, 2, 0, 9, 100);
    sml_part(r, C, 4, 0, 9, 3);
    eth_quiet(r);
    sml_part(r, B, 3, 0, 9, 20);
    assert_int_equal(rig_take(r, X, got), HEAD + SML_BYTES);
    assert_int_equal(get(got + HEAD + 10, 4), 123);
    eth_quiet(r);
    sml_from(r, X, ETH_OWN, 7, 1, 0, 9, 5000);
    sml_result(r, A, 0, 2, 5000);
    sml_result(r, B, 0, 3, 5000);
    sml_result(r, C, 0, 4, 5000);
    eth_quiet(r);
    removed(r, "between");
    // and one without either
    add(r, SML("alone", TWO, ", \"number\": 5, \"slots\": 16"));
    sml_part(r, A, 2, 0, 9, 100);
    sml_part(r, B, 3, 0, 9, 20);
    sml_result(r, A, 0, 2, 120);
    sml_result(r, B, 0, 3, 120);
    eth_quiet(r);
    rig_free(r);
}

static void test_aggregators_come_empty(void **state) {
    struct rig *r = start();
    uint64_t values[SK_PIPES];
    struct sk_error err;
    (void)state;
    for (unsigned i = 0; i < 300; i += 100)
        assert_int_equal(sk_control_register_write(rig_switch(r), "owner.owners", i, "fragment",
                                                   "0x7000001", -1, &err),
                         0);
    add(r, ATP("one", TWO, "s:10.0.10.6", ", \"aggregators\": 150"));
    for (unsigned i = 0; i < 300; i += 100) {
        assert_int_equal(
            sk_control_register_read(rig_switch(r), "owner.owners", i, "fragment", values, &err),
            0);
        assert_int_equal(values[1], i < 150 ? 0 : 0x7000001);
    }
    rig_free(r);
}

static void test_a_server_behind_the_switch(void **state) {
    struct rig *r = start();
    struct gradient g = {.bits = 1, .fan_in = 1, .number = 1, .sequence = 1, .value = 5};
    uint8_t got[RIG_FRAME], mac[6];
    (void)state;
    add(r, ATP("one", "\"a:10.0.10.2\"", "t:10.0.20.9", ""));
    atp_send(r, A, 2, 0x0a001409, &g, false); // routed: to a neighbour who is asked for
    rig_wait(r, 20);
    assert_true(rig_take(r, T, got) > 0);
    assert_int_equal(get(got + 12, 4), 0x81000014);
    assert_int_equal(get(got + 16, 2), 0x0806);
    eth_address(mac, ETH_OWN);
    assert_memory_equal(got + 6, mac, 6);
    rig_free(r);
}

// ---- all or nothing ----

static void test_refusals(void **state) {
    static const struct {
        const char *members, *sentence;
    } bad[] = {
        {"{}", "name: should be text of 1 to 63 characters"},
        {"{\"name\": \"a b\", \"protocol\": \"atp\"}", "name: should be text without blanks"},
        {SML("n", TWO, ", \"slot\": 1"), "slot: a job has no such member"},
        {"{\"name\": \"n\", \"workers\": [\"a:10.0.10.2\"], \"protocol\": \"tcp\"}",
         "protocol: should be switchml, atp or libra"},
        {SML("n", "", ""), "workers: should be a list of 1 to 32"},
        {SML("n", "7", ""), "workers[0]: should be a port and an address"},
        {SML("n", "\"a\"", ""), "workers[0]: should be a port and an address"},
        {SML("n", "\":10.0.10.2\"", ""), "workers[0]: should be a port and an address"},
        {SML("n", "\"zz:10.0.10.2\"", ""), "workers[0]: there is no link or port 'zz'"},
        {SML("n", "\"a:10.0.10\"", ""), "workers[0]: '10.0.10' is not an IPv4 address"},
        {SML("n", "\"a:10.0.10.2\", \"b:10.0.10.2\"", ""), "workers[0] has the same address"},
        {SML("n", "\"t:10.0.30.2\"", ""), "link 't' carries several VLANs"},
        {SML("n", TWO, ", \"vlan\": 20"), "workers[0]: link 'a' does not carry VLAN 20"},
        {SML("n", TWO, ", \"vlan\": 0"), "vlan: should be a number from 1 to 4094"},
        {SML("n", TWO, ", \"rate\": 0"), "rate: should be a number from 1 to 400000"},
        {SML("n", TWO, ", \"slots\": 0"), "slots: should be a number from 1 to 32768"},
        {SML("n", TWO, ", \"slots\": 8192"),
         "there is no room for 8192 slots: of 8192, other jobs have 16"},
        {SML("n", TWO, ", \"number\": 7"), "number: another job has 7"},
        {SML("n", TWO, ", \"number\": 256"), "number: should be a number from 0 to 255"},
        {SML("n", TWO, ", \"server\": \"s:10.0.10.6\""), "server: a job of SwitchML has none"},
        {SML("n", TWO, ", \"address\": \"x\""), "address: should be an IPv4 address"},
        {SML("one", TWO, ""), "name: there is a job 'one' already"},
        {"{\"name\": \"n\", \"workers\": [" TWO "], \"protocol\": \"atp\"}",
         "server: should be text like port:address"},
        {ATP("n", TWO, "s:10.0.10.6", ", \"racks\": [0]"), "racks: should be a list of numbers"},
        {ATP("n", TWO, "s:10.0.10.6", ", \"rack\": 0"), "racks: should be a list of numbers"},
        {ATP("n", TWO, "s:10.0.10.6", ", \"racks\": [0, 1], \"rack\": 0"),
         "server_rack: should be given with"},
        {ATP("n", TWO, "s:10.0.10.6", ", \"racks\": [0, 300], \"rack\": 0, \"server_rack\": 0"),
         "racks: should be numbers from 0 to 255"},
        {ATP("n", TWO, "s:10.0.10.6", ", \"racks\": [0, 1], \"rack\": 2, \"server_rack\": 0"),
         "rack: no host of the job is in rack 2"},
        {SML("n", TWO, ", \"racks\": [0, 1]"), "racks: a job of SwitchML has them with a switch"},
        {SML("n", TWO, ", \"rack\": 0"), "racks: a job of SwitchML has them with a switch"},
        {SML("n", TWO, ", \"server_rack\": 0"), "server_rack: a job of SwitchML has none"},
        {SML("n", TWO, LEVELS(ABOVE)), "the running program adds up for the racks of one switch"},
        {ATP("n", TWO, "s:10.0.10.6", ABOVE), "above: a job of ATP has none"},
        {ATP("n", TWO, "s:10.0.10.6", ", \"below\": [\"x:10.0.10.7\"]"),
         "below: a job of ATP has none"},
        {ATP("n", TWO, "s", ""), "server: should be a port and an address"},
        {ATP("n", TWO, "s:10.0.10.6", ", \"slots\": 5"), "slots: a job of ATP has none"},
        {ATP("n", TWO, "s:10.0.10.6", ", \"number\": 0"),
         "number: should be a number from 1 to 127"},
        {ATP("n", TWO, "s:10.0.10.6", ", \"aggregators\": 16384"),
         "there is no room for 16384 aggregators"},
        {ATP("n", TWO, "s:10.0.10.6", ", \"group\": \"10.0.0.1\""),
         "group: should be a multicast address"},
        {ATP("n", TWO, "s:10.0.10.6", ", \"group\": \"225.64.0.9\""),
         "group: job 'sum' has the same"},
        {ATP("n", "\"a:10.0.10.2\", \"t:10.0.20.3\"", "s:10.0.10.6", ""),
         "parameters are sent to one VLAN"},
    };
    struct rig *r = start();
    (void)state;
    add(r, SML("one", TWO, ", \"slots\": 16, \"number\": 7"));
    add(r, ATP("sum", TWO, "s:10.0.10.6", ", \"number\": 9"));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(r, "job.add", bad[i].members, bad[i].sentence);
    refused(r, "job.remove", "{\"name\": \"none\"}", "there is no job 'none'");
    refused(r, "job.remove", "{}", "name: should be that of a job");
    rig_free(r);
}

static void test_refusals_of_levels(void **state) {
#define WITHOUT_WORKERS(more) "{\"name\": \"n\", \"protocol\": \"switchml\"" more "}"
    static const struct {
        const char *members, *sentence;
    } bad[] = {
        {SML("n", TWO, ABOVE ", \"number\": 3"),
         "racks: should be a list of numbers, one for each"},
        {SML("n", TWO, ABOVE ", \"number\": 3, \"racks\": [0, 0]"),
         "rack: should be given with \"workers\" and \"racks\""},
        {SML("n", TWO, ABOVE ", \"number\": 3, \"racks\": [0, 0, 300], \"rack\": 0"),
         "racks: should be numbers from 0 to 255"},
        {SML("n", TWO, ABOVE ", \"number\": 3, \"racks\": [0, 1, 1, 1], \"rack\": 1"),
         "workers: there are 2, but \"racks\" has 3 in rack 1"},
        {SML("n", TWO, ABOVE ", \"racks\": [0, 0, 1], \"rack\": 0"),
         "number: all switches of the job need the same"},
        {SML("n", TWO, LEVELS(ABOVE) ", \"udp_port\": 5000"),
         "udp_port: switches of a job send to each other's ports 48864 to 48879, not to 5000"},
        {SML("n", TWO, LEVELS(ABOVE) ", \"resume\": true"),
         "resume: after a restart of a switch a job over several switches begins again"},
        {SML("n", TWO, LEVELS(", \"above\": 5")), "above: should be a port and an address"},
        {SML("n", TWO, LEVELS(", \"above\": \"a:10.0.10.2\"")),
         "above: workers[0] has the same address"},
        {SML("n", TWO, LEVELS(", \"above\": \"t:10.0.30.2\", \"vlan\": 20")),
         "does not carry VLAN 20"},
        {SML("n", TWO, LEVELS(", \"below\": 5")), "below: should be a list of 1 to 32"},
        {SML("n", TWO, LEVELS(", \"below\": []")), "below: should be a list of 1 to 32"},
        {SML("n", TWO, LEVELS(", \"below\": [\"zz:10.0.10.7\"]")),
         "below[0]: there is no link or port 'zz'"},
        {SML("n", TWO, LEVELS(", \"below\": [\"x:10.0.10.3\"]")),
         "below[0]: workers[1] has the same address"},
        {WITHOUT_WORKERS(ABOVE ", \"number\": 3, \"racks\": [0]"),
         "workers: should be a list of 1 to 32"},
        {WITHOUT_WORKERS(", \"below\": [\"x:10.0.10.7\"], \"number\": 3, \"racks\": [0, 1], "
                         "\"rack\": 0"),
         "rack: a switch without \"workers\" is in no rack"},
    };
    struct rig *r =
        rig_new_with("p4/rack/with_levels.p4", PORTS, SECTION(LINKS_WITHOUT_C LINK_C, ""));
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(r, "job.add", bad[i].members, bad[i].sentence);
    rig_free(r);
}

static void test_a_table_that_is_full(void **state) {
    struct rig *r = start();
    struct sk_error err;
    char address[40];
    (void)state;
    for (unsigned i = 0; i < 4096; i++) {
        snprintf(address, sizeof address, "0x%x", 0x0b000000 + i);
        const struct sk_named_value keys[] = {{.name = "dst_addr", .value = address},
                                              {.name = "dst_port", .value = "1"}};
        const struct sk_entry_spec e = {
            .table = "guarded", .keys = keys, .n_keys = 2, .action = "guard", .pipe = -1};
        if (sk_control_entry_add(rig_switch(r), &e, &err) != 0)
            break;
    }
    refused(r, "job.add", SML("one", TWO, ""), "guarded");
    rig_free(r);
}

static void test_without_aggregation(void **state) {
    struct rig *r = rig_new(PORTS, SECTION(LINKS_WITHOUT_C LINK_C, ""));
    (void)state;
    refused(r, "job.add", SML("one", TWO, ""), "the running program has no aggregation jobs");
    rig_free(r);
}

// ---- the configuration ----

static void test_jobs_of_the_configuration(void **state) {
    struct rig *r = rig_new_with(
        "p4/rack/rack.p4", PORTS,
        SECTION(LINKS_WITHOUT_C LINK_C, SML("fixed", TWO, ", \"number\": 7, \"slots\": 16")));
    struct sk_error err;
    (void)state;
    add(r, SML("mine", OTHER_TWO, ", \"number\": 8"));
    refused(r, "job.remove", "{\"name\": \"fixed\"}", "job 'fixed' comes from the configuration");
    sml_send(r, A, 0, 2, 7, 3, 100);
    // what stays is not touched, with its slots half full
    assert_int_equal(rig_reload(r,
                                SECTION(LINKS_WITHOUT_C LINK_C,
                                        SML("new", TWO, ", \"number\": 9") "," SML(
                                            "fixed", TWO, ", \"number\": 7, \"slots\": 16")),
                                &err),
                     0);
    sml_send(r, B, 0, 3, 7, 3, 11);
    sml_result(r, A, 0, 2, 111);
    sml_result(r, B, 0, 3, 111);
    sml_send(r, A, 0, 2, 9, 3, 1);
    sml_send(r, B, 0, 3, 9, 3, 1);
    sml_result(r, A, 0, 2, 2);
    sml_result(r, B, 0, 3, 2);
    eth_quiet(r);
    // a link that goes takes nothing but its jobs
    assert_int_equal(rig_events(r, "alarm"), 0);
    assert_int_equal(
        rig_reload(r, SECTION(LINKS_WITHOUT_C, SML("new", TWO, ", \"number\": 9")), &err), 0);
    assert_int_equal(rig_events(r, "alarm"), 1);
    assert_string_equal(json_string_value(json_object_get(rig_event(r, "alarm"), "job")), "mine");
    json_t *j = job(r, "mine");
    assert_true(json_is_false(json_object_get(j, "admitted")));
    json_decref(j);
    sml_send(r, A, 0, 2, 7, 4, 1); // gone
    assert_int_equal(dropped(r, 13), 1);
    sml_send(r, A, 0, 2, 9, 4, 1);
    sml_send(r, B, 0, 3, 9, 4, 1);
    sml_result(r, A, 0, 2, 2);
    sml_result(r, B, 0, 3, 2);
    assert_int_equal(rig_reload(r, SECTION(LINKS_WITHOUT_C LINK_C, ""), &err), 0);
    sml_send(r, C, 0, 4, 8, 4, 1);
    sml_send(r, X, 0, 5, 8, 4, 1);
    sml_result(r, C, 0, 4, 2);
    sml_result(r, X, 0, 5, 2);
    eth_quiet(r);
    rig_free(r);
}

static void test_a_bad_one_of_the_configuration(void **state) {
    struct rig *r = rig_new_with("p4/rack/rack.p4", PORTS,
                                 SECTION(LINKS_WITHOUT_C, SML("fixed", "\"zz:10.0.10.2\"", "")));
    (void)state;
    assert_string_equal(json_string_value(json_object_get(rig_event(r, "alarm"), "why")),
                        "workers[0]: there is no link or port 'zz'");
    rig_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_switchml),
        cmocka_unit_test(test_tags_and_lags),
        cmocka_unit_test(test_a_second_job_disturbs_nothing),
        cmocka_unit_test(test_slots_come_empty),
        cmocka_unit_test(test_who_has_to_answer_first),
        cmocka_unit_test(test_who_cannot_be_asked),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_atp),
        cmocka_unit_test(test_two_racks),
        cmocka_unit_test(test_aggregators_come_empty),
        cmocka_unit_test(test_a_server_behind_the_switch),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_refusals_of_levels),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_a_table_that_is_full),
        cmocka_unit_test(test_without_aggregation),
        cmocka_unit_test(test_jobs_of_the_configuration),
        cmocka_unit_test(test_a_bad_one_of_the_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
//
// What the switch says for itself, what it tells about packets, about which it says nothing, and
// what it routes by software.
#include "harness/control/tor/l3.h"

#include <stdlib.h>

// A rig that knows A and B in both families.
static struct rig *rig_of_all(void) {
    struct rig *r = l3_rig(", \"routes\": [{\"to\": \"192.0.2.0/25\", \"discard\": true},"
                           " {\"to\": \"192.0.2.128/25\", \"via\": [\"10.0.20.11\"]}]");
    l3_know_a(r);
    l3_know_b(r);
    l3_know_a6(r);
    l3_know_b6(r);
    return r;
}

static void expect_answer(const char *question, const char *answer) {
    struct rig *r = rig_of_all();
    rig_send_hex(r, 0, question);
    l3_expect(r, 0, answer);
    l3_quiet(r);
    rig_free(r);
}

static void test_echo(void **state) {
    (void)state;
    expect_answer(PING, PONG);
    expect_answer(PING_OTHER_VLAN, PONG_OTHER_VLAN);
    expect_answer(PING_BIG, PONG_BIG);
    expect_answer(PING6, PONG6);
    expect_answer(PING_WITH_OPTIONS, PONG_WITHOUT_OPTIONS);
}

// Its place and VLAN are all that is known of such an address.
static void test_echo_on_the_link(void **state) {
    struct rig *r = rig_of_all();
    (void)state;
    rig_send_hex(r, 0, NS_A_ASKS_LOCAL);
    rig_forget(r);
    rig_send_hex(r, 0, PING6_LOCAL);
    l3_expect(r, 0, PONG6_LOCAL);
    l3_quiet(r);
    rig_free(r);
}

static void test_time_exceeded(void **state) {
    (void)state;
    expect_answer(UDP_LAST_HOP, TIME_EXCEEDED);
    expect_answer(UDP6_LAST_HOP, TIME_EXCEEDED_6);
    expect_answer(UDP_LAST_HOP_BIG, TIME_EXCEEDED_BIG); // no more than 576 bytes
    expect_answer(ECHO_LAST_HOP, TIME_EXCEEDED_ECHO);
}

static void test_unreachable(void **state) {
    (void)state;
    expect_answer(UDP_NO_ROUTE, NO_ROUTE);
    expect_answer(UDP6_NO_ROUTE, NO_ROUTE_6);
    expect_answer(UDP_TO_OWN, NO_PORT);
    expect_answer(UDP6_TO_OWN, NO_PORT_6);
    expect_answer(GRE_TO_OWN, NO_PROTOCOL);
    expect_answer(GRE6_TO_OWN, NO_PROTOCOL_6);
}

static void test_host_unreachable_in_ipv6(void **state) {
    struct rig *r = l3_rig("");
    (void)state;
    l3_know_a6(r);
    rig_send_hex(r, 0, UDP6_A_TO_B);
    for (unsigned i = 0; i < 3; i++) {
        l3_expect_20(r, NS_OWN_ASKS_B);
        rig_wait(r, 1000);
    }
    l3_expect(r, 0, ADDRESS_UNREACHABLE_6);
    l3_quiet(r);
    rig_free(r);
}

static void test_tcp_is_reset(void **state) {
    (void)state;
    expect_answer(TCP_SYN, TCP_SYN_RESET);
    expect_answer(TCP6_ACK, TCP6_ACK_RESET);
}

static void test_about_these_nothing_is_said(void **state) {
    static const char *const frames[] = {
        ERROR_LAST_HOP,           ERROR6_LAST_HOP, LATER_FRAGMENT_LAST_HOP,
        LATER_FRAGMENT6_LAST_HOP, GROUP_NO_ROUTE,  FROM_LOOPBACK_LAST_HOP,
        FROM_GROUP_LAST_HOP,      TCP_RST,         FROM_NOBODY6_LAST_HOP,
        FROM_BROADCAST_LAST_HOP,  PING_BAD_SUM,    UDP_A_TO_DISCARDED,
        UDP_SOURCE_ROUTE};
    struct rig *r = rig_of_all();
    (void)state;
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        rig_send_hex(r, 0, frames[i]);
        if (rig_count(r, 0))
            print_error("frame %zu\n", i);
        l3_quiet(r);
    }
    rig_free(r);
}

static void test_too_long(void **state) {
    struct rig *r;
    (void)state;
    expect_answer(UDP_LONG_DF, FRAGMENTATION_NEEDED);
    expect_answer(UDP6_LONG, PACKET_TOO_BIG);
    r = rig_of_all();
    rig_send_hex(r, 0, UDP_FITS_DF);
    l3_expect(r, 1, UDP_FITS_DF_ROUTED);
    rig_send_hex(r, 0, UDP6_FITS);
    l3_expect(r, 1, UDP6_FITS_ROUTED);
    rig_send_hex(r, 0, UDP_LONG);
    l3_expect(r, 1, UDP_LONG_PIECE_1);
    l3_expect(r, 1, UDP_LONG_PIECE_2);
    l3_expect(r, 1, UDP_LONG_PIECE_3);
    l3_quiet(r);
    rig_free(r);
}

static void test_too_long_for_a_neighbour_that_is_asked_for(void **state) {
    struct rig *r = l3_rig("");
    (void)state;
    l3_know_a(r);
    rig_send_hex(r, 0, UDP_LONG_DF);
    l3_expect(r, 0, FRAGMENTATION_NEEDED_AT_ONCE);
    rig_forget(r);
    rig_send_hex(r, 0, UDP_LONG);
    l3_expect_20(r, ARP_OWN_ASKS_B);
    rig_send_hex(r, 1, ARP_B_REPLIES);
    l3_expect(r, 1, UDP_LONG_PIECE_1);
    l3_expect(r, 1, UDP_LONG_PIECE_2);
    l3_expect(r, 1, UDP_LONG_PIECE_3);
    l3_quiet(r);
    rig_free(r);
}

static void test_options(void **state) {
    struct rig *r = rig_of_all();
    (void)state;
    rig_send_hex(r, 0, UDP_RECORD_ROUTE);
    l3_expect(r, 1, UDP_RECORD_ROUTE_ROUTED);
    rig_send_hex(r, 0, UDP_RECORD_ROUTE_FULL);
    l3_expect(r, 1, UDP_RECORD_ROUTE_FULL_ROUTED);
    rig_send_hex(r, 0, UDP_ALERT);
    l3_expect(r, 1, UDP_ALERT_ROUTED);
    rig_send_hex(r, 0, UDP_ALERT_LONG);
    l3_expect(r, 1, UDP_ALERT_LONG_1); // in each fragment
    l3_expect(r, 1, UDP_ALERT_LONG_2);
    rig_send_hex(r, 0, UDP_RECORD_ROUTE_LONG);
    l3_expect(r, 1, UDP_RECORD_ROUTE_LONG_1); // in the first only
    l3_expect(r, 1, UDP_RECORD_ROUTE_LONG_2);
    rig_send_hex(r, 0, UDP_BROKEN_OPTION);
    l3_expect(r, 0, PARAMETER_PROBLEM);
    l3_quiet(r);
    rig_free(r);
}

static void test_time_stamps(void **state) {
    struct rig *r = rig_of_all();
    static uint8_t bytes[RIG_FRAME];
    (void)state;
    rig_send_hex(r, 0, UDP_TIME_STAMP);
    assert_int_equal(rig_take(r, 1, bytes), 14 + 20 + 12 + 8 + 18);
    // type, length, pointer behind the pair, no overflow and addresses; ours, and a time that is
    // not of day
    static const uint8_t expected[] = {68, 12, 13, 1, 10, 0, 20, 1};
    assert_memory_equal(bytes + 34, expected, sizeof expected);
    assert_true(bytes[42] & 0x80);
    rig_send_hex(r, 0, UDP_TIME_STAMP_FULL); // counts what had no room
    assert_int_equal(rig_take(r, 1, bytes), 14 + 20 + 4 + 8 + 18);
    static const uint8_t overflow[] = {68, 4, 5, 0x10};
    assert_memory_equal(bytes + 34, overflow, sizeof overflow);
    l3_quiet(r);
    rig_free(r);
}

// They would be answered whole; in pieces they are counted.
static void test_fragments_for_us_are_counted(void **state) {
    static const char *const fragments[] = {OWN_FIRST_FRAGMENT, OWN_LATER_FRAGMENT, OWN_FRAGMENT6};
    struct rig *r = rig_of_all();
    struct sk_error err;
    (void)state;
    for (size_t i = 0; i < sizeof fragments / sizeof *fragments; i++)
        rig_send_hex(r, 0, fragments[i]);
    l3_quiet(r);
    json_t *answer = rig_request(r, "tor.icmp", NULL, &err);
    assert_int_equal(json_integer_value(json_object_get(answer, "fragments")), 3);
    json_decref(answer);
    rig_free(r);
}

static void test_errors_are_limited(void **state) {
    struct rig *r = rig_of_all();
    struct sk_error err;
    (void)state;
    for (unsigned i = 0; i < 300; i++)
        rig_send_hex(r, 0, UDP_TO_OWN);
    assert_int_equal(rig_count(r, 0), 10); // to each source
    rig_wait(r, 1000);
    rig_forget(r);
    for (unsigned i = 0; i < 300; i++)
        rig_send_hex(r, 0, UDP_TO_OWN);
    assert_in_range(rig_count(r, 0), 10, 11);
    rig_forget(r);
    rig_send_hex(r, 0, UDP_LAST_HOP); // another kind
    assert_int_equal(rig_count(r, 0), 1);
    json_t *answer = rig_request(r, "tor.icmp", NULL, &err);
    assert_in_range(
        json_integer_value(json_object_get(json_object_get(answer, "limited"), "port_unreachable")),
        570, 580);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(answer, "sent"), "time_exceeded")), 1);
    json_decref(answer);
    rig_free(r);
}

// Many that ask for addresses which nobody has; each may have some asked for.
static void test_asking_for_neighbours_is_limited(void **state) {
    struct rig *r = rig_of_all();
    uint8_t f[60] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 10, 8, 0, 0x45, 0, 0, 20, 0, 0, 0, 0, 64, 59};
    (void)state;
    for (unsigned n = 100; n < 250; n++) {
        const uint8_t addresses[8] = {10, 0, 10, 10, 10, 0, 20, (uint8_t)n};
        uint32_t sum = 0;
        memcpy(f + 26, addresses, 8);
        f[24] = f[25] = 0;
        for (unsigned i = 14; i < 34; i += 2)
            sum += (uint32_t)(f[i] << 8 | f[i + 1]);
        sum = ~((sum & 0xffff) + (sum >> 16));
        f[24] = (uint8_t)(sum >> 8);
        f[25] = (uint8_t)sum;
        rig_send(r, 0, f, sizeof f);
    }
    assert_int_equal(rig_count(r, 1), 100);
    rig_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_echo),
        cmocka_unit_test(test_echo_on_the_link),
        cmocka_unit_test(test_time_exceeded),
        cmocka_unit_test(test_unreachable),
        cmocka_unit_test(test_host_unreachable_in_ipv6),
        cmocka_unit_test(test_tcp_is_reset),
        cmocka_unit_test(test_about_these_nothing_is_said),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_too_long_for_a_neighbour_that_is_asked_for),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_time_stamps),
        cmocka_unit_test(test_fragments_for_us_are_counted),
        cmocka_unit_test(test_errors_are_limited),
        cmocka_unit_test(test_asking_for_neighbours_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

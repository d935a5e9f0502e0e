// SPDX-License-Identifier: Apache-2.0
//
// Who has which address: what ARP and IPv6 neighbour discovery answer, believe and ask, and when.
#include "harness/control/tor/l3.h"

#include <stdlib.h>

#include "control/tor/tor_impl.h"

// ---- answers ----

static void test_own_addresses_are_answered_for(void **state) {
    struct rig *r = l3_rig("");
    (void)state;
    rig_send_hex(r, 0, ARP_A_ASKS_OWN);
    l3_expect(r, 2, ARP_A_ASKS_OWN); // it is a broadcast
    l3_expect(r, 0, ARP_OWN_TO_A);
    l3_quiet(r);
    rig_send_hex(r, 0, NS_A_ASKS_OWN);
    l3_expect(r, 2, NS_A_ASKS_OWN);
    l3_expect(r, 0, NA_OWN_TO_A);
    l3_quiet(r);
    rig_send_hex(r, 0, NS_A_ASKS_LOCAL);
    l3_expect(r, 2, NS_A_ASKS_LOCAL);
    l3_expect(r, 0, NA_LOCAL_TO_A);
    l3_quiet(r);
    assert_string_equal(l3_state(r, "10.0.10.10"), "stale");
    assert_string_equal(l3_state(r, "2001:db8:10::a"), "stale");
    assert_string_equal(l3_state(r, "fe80::ff:fe00:a"), "stale");
    l3_assert_wanted(r, "entry ipv4_hosts dst_addr=10.0.10.10", "via hops=1");
    l3_assert_wanted(r, "entry ipv6_hosts dst_addr=2001:db8:10::a", "via hops=2");
    l3_assert_wanted(r, "entry ipv6_hosts dst_addr=fe80::ff:fe00:a", ""); // of a link only
    rig_free(r);
}

static void test_addresses_of_others_are_not_answered_for(void **state) {
    struct rig *r = l3_rig("");
    (void)state;
    rig_send_hex(r, 0, ARP_A_ASKS_ANOTHER);
    l3_expect(r, 2, ARP_A_ASKS_ANOTHER);
    rig_send_hex(r, 0, ARP_A_ASKS_OTHER_VLAN);
    l3_expect(r, 2, ARP_A_ASKS_OTHER_VLAN);
    l3_quiet(r);
    assert_string_equal(l3_state(r, "10.0.10.10"), "");
    rig_free(r);
}

static void test_broken_questions_are_not_answered(void **state) {
    static const char *const frames[] = {ARP_GROUP_ASKS_OWN, NS_FAR_ASKS_OWN, NS_BAD_SUM_ASKS_OWN,
                                         NS_EMPTY_OPTION_ASKS_OWN};
    struct rig *r = l3_rig("");
    (void)state;
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        rig_send_hex(r, 0, frames[i]);
        l3_expect(r, 2, frames[i]);
        l3_quiet(r);
    }
    assert_string_equal(l3_state(r, "10.0.10.10"), "");
    assert_string_equal(l3_state(r, "2001:db8:10::a"), "");
    rig_free(r);
}

static void test_an_asker_of_another_net_is_answered_but_not_learned(void **state) {
    struct rig *r = l3_rig("");
    (void)state;
    rig_send_hex(r, 0, ARP_STRANGER_ASKS_OWN);
    l3_expect(r, 2, ARP_STRANGER_ASKS_OWN);
    l3_expect(r, 0, ARP_OWN_TO_STRANGER);
    l3_quiet(r);
    assert_string_equal(l3_state(r, "192.0.2.10"), "");
    rig_free(r);
}

// ---- its own addresses ----

static size_t count_of(struct rig *r, uint16_t port, const char *hex) {
    static uint8_t bytes[RIG_FRAME];
    static char text[2 * RIG_FRAME + 1];
    size_t count = 0;
    for (size_t n; (n = rig_take(r, port, bytes));) {
        for (size_t i = 0; i < n; i++)
            sprintf(text + 2 * i, "%02x", bytes[i]);
        count += strcmp(text, hex) == 0;
    }
    return count;
}

static void test_addresses_are_probed_and_announced_at_the_start(void **state) {
    static const struct {
        const char *frame;
        size_t times;
    } all[] = {{ARP_OWN_PROBES_10, 3},
               {ARP_OWN_ANNOUNCES_10, 2},
               {NS_OWN_PROBES_10, 1},
               {NS_OWN_PROBES_LOCAL, 1},
               {NA_OWN_TO_ALL_10, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct rig *r = rig_new(L3_PORTS, l3_section(""));
        rig_wait(r, 10000);
        assert_int_equal(count_of(r, 2, all[i].frame), all[i].times);
        rig_forget(r);
        rig_wait(r, 20000);
        l3_quiet(r);
        assert_int_equal(rig_events(r, "address_conflict"), 0);
        rig_free(r);
    }
}

static void test_a_conflict_is_told_and_the_address_defended(void **state) {
    struct rig *r = l3_rig("");
    (void)state;
    rig_send_hex(r, 0, ARP_A_HAS_OWN);
    l3_expect(r, 2, ARP_A_HAS_OWN);
    l3_expect_10(r, ARP_OWN_ANNOUNCES_10);
    l3_quiet(r);
    assert_int_equal(rig_events(r, "address_conflict"), 1);
    const json_t *e = rig_event(r, "address_conflict");
    assert_string_equal(json_string_value(json_object_get(e, "address")), "10.0.10.1");
    assert_string_equal(json_string_value(json_object_get(e, "mac")), "02:00:00:00:00:0a");
    assert_string_equal(json_string_value(json_object_get(e, "link")), "a");
    rig_wait(r, 5000);
    rig_send_hex(r, 0, ARP_A_HAS_OWN); // not twice in ten seconds
    l3_expect(r, 2, ARP_A_HAS_OWN);
    l3_quiet(r);
    rig_wait(r, 5001);
    rig_send_hex(r, 0, ARP_A_HAS_OWN);
    l3_expect(r, 2, ARP_A_HAS_OWN);
    l3_expect_10(r, ARP_OWN_ANNOUNCES_10);
    assert_int_equal(rig_events(r, "address_conflict"), 2);
    rig_send_hex(r, 0, NA_A_HAS_OWN);
    l3_expect(r, 2, NA_A_HAS_OWN);
    l3_expect_10(r, NA_OWN_TO_ALL_10);
    l3_quiet(r);
    assert_int_equal(rig_events(r, "address_conflict"), 3);
    rig_free(r);
}

static void test_who_probes_an_address_of_ours_is_told(void **state) {
    struct rig *r = l3_rig("");
    (void)state;
    rig_send_hex(r, 0, ARP_A_PROBES_OWN);
    l3_expect(r, 2, ARP_A_PROBES_OWN);
    l3_expect(r, 0, ARP_OWN_TO_PROBE);
    l3_expect_10(r, ARP_OWN_ANNOUNCES_10);
    l3_quiet(r);
    rig_send_hex(r, 0, NS_A_PROBES_OWN);
    l3_expect(r, 2, NS_A_PROBES_OWN);
    l3_expect(r, 0, NA_OWN_TO_ALL_10);
    l3_expect_10(r, NA_OWN_TO_ALL_10);
    l3_quiet(r);
    assert_string_equal(l3_state(r, "0.0.0.0"), "");
    rig_free(r);
}

static void test_a_link_that_comes_up_hears_the_addresses(void **state) {
    struct rig *r = l3_rig("");
    (void)state;
    rig_link(r, 2, false);
    rig_wait(r, 2000);
    rig_forget(r);
    rig_link(r, 2, true);
    rig_wait(r, 4000);
    assert_true(count_of(r, 2, ARP_OWN_ANNOUNCES_10) >= 1);
    rig_free(r);
}

static void test_addresses_that_are_not_announced_are_answered_for_only(void **state) {
    static const char *const unasked[] = {ARP_OWN_PROBES_10, ARP_OWN_ANNOUNCES_10, NS_OWN_PROBES_10,
                                          NS_OWN_PROBES_LOCAL, NA_OWN_TO_ALL_10};
    char section[4096];
    struct sk_error err;
    (void)state;
    const char *with = l3_section(""), *vid = strstr(with, "\"vid\": 10,");
    snprintf(section, sizeof section, "%.*s\"announce\": false, %s", (int)(vid - with), with, vid);
    struct rig *r = rig_new(L3_PORTS, section);
    rig_wait(r, 10000);
    rig_link(r, 2, false);
    rig_wait(r, 2000);
    rig_link(r, 2, true);
    rig_wait(r, 10000);
    for (size_t i = 0; i < sizeof unasked / sizeof *unasked; i++)
        assert_int_equal(count_of(r, 2, unasked[i]), 0);
    rig_forget(r);
    assert_int_equal(rig_reload(r, l3_section(""), &err), 0);
    rig_wait(r, 10000);
    assert_int_equal(count_of(r, 2, ARP_OWN_ANNOUNCES_10), 2);
    rig_free(r);
}

static void test_another_mac_of_ours_is_announced(void **state) {
    struct rig *r = l3_rig("");
    struct sk_error err;
    char section[4096];
    (void)state;
    l3_know_b(r);
    snprintf(section, sizeof section, "%s", l3_section(""));
    assert_int_equal(rig_reload(r, section, &err), 0);
    rig_wait(r, 6000);
    l3_quiet(r); // the same section
    memcpy(strstr(section, ":00:01"), ":00:02", 6);
    assert_int_equal(rig_reload(r, section, &err), 0);
    rig_wait(r, 10000);
    assert_int_equal(count_of(r, 2, ARP_NEW_ANNOUNCES_10), 2);
    rig_forget(r);
    rig_send_hex(r, 0, ARP_A_ASKS_OWN);
    uint8_t bytes[RIG_FRAME];
    assert_int_equal(rig_take(r, 0, bytes), 60);
    assert_memory_equal(bytes + 22, "\2\0\0\0\0\2", 6);
    l3_assert_wanted(
        r, "entry nexthops nexthop=1",
        "rewrite dst_addr=02:00:00:00:00:0b src_addr=02:00:00:00:00:02 vid=20 interface=2 "
        "mtu=1400");
    rig_free(r);
}

// ---- who is believed ----

static void test_nobody_is_learned_from_what_nobody_asked(void **state) {
    static const char *const frames[] = {ARP_B_GRATUITOUS, ARP_B_REPLY_TO_ALL, ARP_B_REPLIES};
    struct rig *r = l3_rig("");
    (void)state;
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        rig_send_hex(r, 1, frames[i]);
    rig_send_hex(r, 1, NA_B_ANSWERS);
    rig_send_hex(r, 1, NA_B_UNASKED);
    assert_string_equal(l3_state(r, "10.0.20.11"), "");
    assert_string_equal(l3_state(r, "2001:db8:20::b"), "");
    rig_free(r);
}

static void test_a_packet_waits_until_its_neighbour_answers(void **state) {
    struct rig *r = l3_rig("");
    (void)state;
    rig_send_hex(r, 0, UDP_A_TO_B_1);
    l3_expect_20(r, ARP_OWN_ASKS_B);
    l3_quiet(r);
    assert_string_equal(l3_state(r, "10.0.20.11"), "incomplete");
    rig_send_hex(r, 1, ARP_B_REPLIES);
    l3_expect(r, 1, UDP_A_TO_B_1_ROUTED);
    l3_quiet(r);
    assert_string_equal(l3_state(r, "10.0.20.11"), "reachable");
    const uint64_t gleaned = rig_tor(r)->frames_in[TOR_REASON_GLEAN];
    rig_send_hex(r, 0, UDP_A_TO_B_2); // now the tables do it
    l3_expect(r, 1, UDP_A_TO_B_2_ROUTED);
    l3_quiet(r);
    assert_int_equal(rig_tor(r)->frames_in[TOR_REASON_GLEAN], gleaned);

    rig_send_hex(r, 0, UDP6_A_TO_B);
    l3_expect_20(r, NS_OWN_ASKS_B);
    l3_quiet(r);
    rig_send_hex(r, 1, NA_B_ANSWERS);
    l3_expect(r, 1, UDP6_A_TO_B_ROUTED);
    l3_quiet(r);
    assert_string_equal(l3_state(r, "2001:db8:20::b"), "reachable");
    rig_free(r);
}

static void test_the_newest_packets_wait(void **state) {
    static const char *const frames[] = {UDP_A_TO_B_1, UDP_A_TO_B_2, UDP_A_TO_B_3, UDP_A_TO_B_4,
                                         UDP_A_TO_B_5};
    struct rig *r = l3_rig("");
    (void)state;
    for (size_t i = 0; i < 5; i++)
        rig_send_hex(r, 0, frames[i]);
    l3_expect_20(r, ARP_OWN_ASKS_B);
    l3_quiet(r);
    rig_send_hex(r, 1, ARP_B_REPLIES);
    l3_expect(r, 1, UDP_A_TO_B_3_ROUTED);
    l3_expect(r, 1, UDP_A_TO_B_4_ROUTED);
    l3_expect(r, 1, UDP_A_TO_B_5_ROUTED);
    l3_quiet(r);
    rig_free(r);
}

static void test_the_first_of_two_answers_counts(void **state) {
    struct rig *r = l3_rig("");
    (void)state;
    rig_send_hex(r, 0, UDP_A_TO_B_1);
    rig_forget(r);
    rig_send_hex(r, 1, ARP_B_REPLIES);
    rig_send_hex(r, 3, ARP_OTHER_REPLIES_AS_B);
    l3_expect(r, 1, UDP_A_TO_B_1_ROUTED);
    rig_send_hex(r, 0, UDP_A_TO_B_2);
    l3_expect(r, 1, UDP_A_TO_B_2_ROUTED);
    l3_quiet(r);
    rig_free(r);
}

static void test_a_new_mac_is_taken_over_and_asked_at_once(void **state) {
    struct rig *r = l3_rig("");
    (void)state;
    l3_know_b(r);
    rig_wait(r, 2000);
    rig_send_hex(r, 3, ARP_OTHER_GRATUITOUS_AS_B);
    l3_expect(r, 1, ARP_OTHER_GRATUITOUS_AS_B);
    l3_expect(r, 3, ARP_OWN_PROBES_OTHER);
    l3_quiet(r);
    assert_int_equal(rig_events(r, "neighbour"), 1);
    rig_send_hex(r, 0, UDP_A_TO_B_1);
    l3_expect(r, 3, UDP_A_TO_B_1_TO_OTHER);
    l3_quiet(r);
    assert_string_equal(l3_state(r, "10.0.20.11"), "probe");
    rig_send_hex(r, 3, ARP_OTHER_REPLIES_AS_B);
    assert_string_equal(l3_state(r, "10.0.20.11"), "reachable");
    rig_free(r);
}

// RFC 4861 7.2.5
static void test_without_override_another_mac_only_raises_doubt(void **state) {
    struct rig *r = l3_rig("");
    (void)state;
    l3_know_b6(r);
    assert_string_equal(l3_state(r, "2001:db8:20::b"), "reachable");
    rig_wait(r, 2000);
    rig_send_hex(r, 3, NA_OTHER_AS_B_NO_OVERRIDE);
    l3_expect(r, 1, NA_OTHER_AS_B_NO_OVERRIDE);
    l3_expect(r, 1, NS_OWN_PROBES_B); // the old one is asked
    l3_quiet(r);
    rig_send_hex(r, 1, NA_B_ANSWERS);
    assert_string_equal(l3_state(r, "2001:db8:20::b"), "reachable");
    rig_wait(r, 2000);
    rig_send_hex(r, 3, NA_OTHER_AS_B_OVERRIDE);
    assert_string_equal(l3_state(r, "2001:db8:20::b"), "probe");
    assert_int_equal(rig_events(r, "neighbour"), 1);
    rig_free(r);
}

// ---- time ----

static void test_who_does_not_answer_is_unreachable(void **state) {
    struct rig *r = l3_rig("");
    (void)state;
    l3_know_a(r);
    rig_send_hex(r, 0, UDP_A_TO_B_1);
    for (unsigned i = 0; i < 3; i++) {
        l3_expect_20(r, ARP_OWN_ASKS_B);
        l3_quiet(r);
        rig_wait(r, 1000);
    }
    l3_expect(r, 0, HOST_UNREACHABLE);
    l3_quiet(r);
    assert_string_equal(l3_state(r, "10.0.20.11"), "failed");
    rig_wait(r, 500);
    rig_send_hex(r, 0, UDP_A_TO_B_2); // nobody is asked in that second
    l3_expect(r, 0, HOST_UNREACHABLE_2);
    l3_quiet(r);
    rig_wait(r, 600);
    rig_send_hex(r, 0, UDP_A_TO_B_1);
    l3_expect_20(r, ARP_OWN_ASKS_B);
    rig_send_hex(r, 1, ARP_B_REPLIES);
    l3_expect(r, 1, UDP_A_TO_B_1_ROUTED);
    l3_quiet(r);
    rig_free(r);
}

static void test_who_does_not_answer_is_asked_ever_less_often(void **state) {
    struct rig *r = l3_rig("");
    size_t asked = 0;
    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        rig_send_hex(r, 0, UDP_A_TO_B_1);
        rig_wait(r, 1000);
    }
    asked = count_of(r, 1, ARP_OWN_ASKS_B);
    // 3 questions in 3 seconds, then silence for 1, 2, 4, 8, 16, 32 seconds
    assert_in_range(asked, 15, 18);
    rig_wait(r, 120000);
    assert_string_equal(l3_state(r, "10.0.20.11"), ""); // forgotten
    rig_free(r);
}

static void test_a_neighbour_is_asked_again_before_it_is_given_up(void **state) {
    struct rig *r = l3_rig("");
    (void)state;
    rig_send_hex(r, 0, UDP_A_TO_B_1);
    rig_send_hex(r, 1, ARP_B_REPLIES);
    rig_forget(r);
    rig_wait(r, 14900);
    assert_string_equal(l3_state(r, "10.0.20.11"), "reachable");
    rig_wait(r, 30200); // at most 45 s
    assert_string_equal(l3_state(r, "10.0.20.11"), "stale");
    rig_wait(r, 100);
    l3_quiet(r);
    for (unsigned i = 0; i < 300 && rig_count(r, 1) == 0; i++)
        rig_wait(r, 100);
    l3_expect(r, 1, ARP_OWN_PROBES_B); // to it alone
    l3_quiet(r);
    rig_send_hex(r, 1, ARP_B_REPLIES);
    assert_string_equal(l3_state(r, "10.0.20.11"), "reachable");
    for (unsigned i = 0; i < 900 && rig_count(r, 1) == 0; i++)
        rig_wait(r, 100);
    rig_wait(r, 3100);
    assert_int_equal(rig_count(r, 1), 3);
    assert_string_equal(l3_state(r, "10.0.20.11"), "");
    l3_assert_wanted(r, "entry ipv4_hosts dst_addr=10.0.20.11", "");
    rig_free(r);
}

// ---- bounds ----

// An ARP question by host n of VLAN 10's or 20's network, which are /16 here.
static void ask_as(struct rig *r, uint16_t port, unsigned vlan, unsigned n) {
    uint8_t f[60] = {0xff,
                     0xff,
                     0xff,
                     0xff,
                     0xff,
                     0xff,
                     2,
                     0,
                     (uint8_t)vlan,
                     1,
                     (uint8_t)(n >> 8),
                     (uint8_t)n,
                     8,
                     6,
                     0,
                     1,
                     8,
                     0,
                     6,
                     4,
                     0,
                     1};
    memcpy(f + 22, f + 6, 6);
    const uint8_t spa[4] = {10, (uint8_t)vlan, (uint8_t)(n >> 8), (uint8_t)n},
                  tpa[4] = {10, (uint8_t)vlan, 0, 1};
    memcpy(f + 28, spa, 4);
    memcpy(f + 38, tpa, 4);
    rig_send(r, port, f, sizeof f);
    rig_wait(r, 1);
    rig_forget(r);
}

static void test_a_full_table_takes_from_who_has_most(void **state) {
    static const char section[] =
        "{\"mac\": \"02:00:00:00:00:01\", \"vlans\": [{\"vid\": 10, \"addresses\": "
        "[\"10.10.0.1/16\"]},"
        " {\"vid\": 20, \"addresses\": [\"10.20.0.1/16\"]}],"
        // by itself a link may have half of them
        " \"links\": [{\"name\": \"a\", \"port\": \"p0\", \"access\": 10,"
        " \"limits\": {\"neighbours\": 2047}},"
        " {\"name\": \"b\", \"port\": \"p1\", \"access\": 20}],"
        " \"neighbours\": [{\"address\": \"10.10.200.1\", \"mac\": \"02:00:00:00:00:99\", \"vid\": "
        "10}]}";
    struct rig *r = rig_new(2, section);
    struct sk_error err;
    (void)state;
    for (unsigned n = 0; n < 20; n++)
        ask_as(r, 1, 20, 0x100 + n);
    for (unsigned n = 0; n < 2200; n++)
        ask_as(r, 0, 10, 0x100 + n);
    json_t *answer = rig_request(r, "tor.neighbours", NULL, &err);
    assert_int_equal(json_integer_value(json_object_get(answer, "count")), 2047);
    assert_int_equal(json_array_size(json_object_get(answer, "neighbours")), 512); // a page
    assert_int_equal(json_integer_value(json_object_get(answer, "next")), 512);
    assert_int_equal(json_integer_value(json_object_get(answer, "evicted")), 2200 + 20 + 1 - 2047);
    json_decref(answer);
    assert_string_equal(l3_state(r, "10.20.1.0"), "stale");
    assert_string_equal(l3_state(r, "10.20.1.19"), "stale");
    assert_string_equal(l3_state(r, "10.10.200.1"), "permanent");
    assert_string_equal(l3_state(r, "10.10.1.0"), "");
    assert_string_equal(l3_state(r, "10.10.9.151"), "stale"); // the newest
    assert_int_equal(rig_events(r, "alarm"), 0);
    rig_free(r);
}

static json_int_t neighbours_of_link(struct rig *r, unsigned place, const char *member) {
    struct sk_error err;
    json_t *links = rig_request(r, "tor.links", NULL, &err);
    const json_t *link = json_array_get(links, place);
    const json_int_t out =
        strcmp(member, "limited") == 0
            ? json_integer_value(json_object_get(json_object_get(link, "limited"), "neighbours"))
            : json_integer_value(json_object_get(link, member));
    json_decref(links);
    return out;
}

// Two links in one VLAN; a host behind one of them asks in ever new names.
static void test_a_link_has_its_share_of_neighbours(void **state) {
    static const char section[] =
        "{\"mac\": \"02:00:00:00:00:01\", \"vlans\": [{\"vid\": 10, \"addresses\": "
        "[\"10.10.0.1/16\"]}],"
        " \"links\": [{\"name\": \"a\", \"port\": \"p0\", \"access\": 10,"
        " \"limits\": {\"neighbours\": 50, \"neighbour_rate\": 100}},"
        " {\"name\": \"b\", \"port\": \"p1\", \"access\": 10}]}";
    struct rig *r = rig_new(2, section);
    (void)state;
    for (unsigned n = 0; n < 60; n++)
        ask_as(r, 1, 10, 0x8000 + n);
    for (unsigned n = 0; n < 300; n++)
        ask_as(r, 0, 10, 0x100 + n);
    assert_int_equal(neighbours_of_link(r, 0, "neighbours"), 50);
    assert_int_equal(neighbours_of_link(r, 1, "neighbours"), 60);
    assert_true(neighbours_of_link(r, 0, "limited") > 100);
    assert_int_equal(neighbours_of_link(r, 1, "limited"), 0);
    assert_string_equal(l3_state(r, "10.10.128.0"), "stale");
    assert_int_equal(rig_events(r, "alarm"), 1);
    assert_string_equal(json_string_value(json_object_get(rig_event(r, "alarm"), "alarm")),
                        "neighbour limit");
    assert_string_equal(json_string_value(json_object_get(rig_event(r, "alarm"), "link")), "a");
    rig_wait(r, 61000); // they do not answer and go
    assert_int_equal(rig_events(r, "alarm"), 2);
    assert_int_equal(neighbours_of_link(r, 0, "neighbours"), 0);
    assert_int_equal(neighbours_of_link(r, 1, "neighbours"), 0);
    rig_free(r);
}

// An IPv4 packet from VLAN 10 to somebody in VLAN 20 whom nobody knows.
static void send_to_nobody(struct rig *r, uint16_t port, uint8_t from, uint8_t to) {
    uint8_t f[60] = {2, 0, 0,    0, 0, 1,  2, 0, 0, 0, 1,  from,
                     8, 0, 0x45, 0, 0, 20, 0, 0, 0, 0, 64, 59};
    const uint8_t addresses[8] = {10, 0, 10, from, 10, 0, 20, to};
    uint32_t sum = 0;
    memcpy(f + 26, addresses, 8);
    for (unsigned i = 14; i < 34; i += 2)
        sum += (uint32_t)(f[i] << 8 | f[i + 1]);
    sum = ~((sum & 0xffff) + (sum >> 16));
    f[24] = (uint8_t)(sum >> 8);
    f[25] = (uint8_t)sum;
    rig_send(r, port, f, sizeof f);
}

static json_int_t waiting_for(struct rig *r, const char *address) {
    struct sk_error err;
    json_t *answer = rig_request(r, "tor.neighbours", NULL, &err), *n;
    json_int_t out = -1;
    size_t i;
    json_array_foreach(json_object_get(answer, "neighbours"), i, n) {
        if (strcmp(json_string_value(json_object_get(n, "address")), address) == 0)
            out = json_integer_value(json_object_get(n, "waiting"));
    }
    json_decref(answer);
    return out;
}

// Packets of a host that looks for everybody wait for answers, but not in all the room there is.
static void test_a_link_has_its_share_of_waiting_packets(void **state) {
    struct rig *r = l3_rig("");
    (void)state;
    for (unsigned n = 0; n < 190; n++)
        for (unsigned i = 0; i < 3; i++)
            send_to_nobody(r, 0, (uint8_t)(20 + n / 50), (uint8_t)(30 + n));
    send_to_nobody(r, 2, 50, 250);
    assert_int_equal(waiting_for(r, "10.0.20.250"), 1);
    rig_wait(r, 10000); // nobody answers, and nothing is left that counts
    for (unsigned i = 0; i < 2; i++)
        send_to_nobody(r, 0, 20, 251);
    assert_int_equal(waiting_for(r, "10.0.20.251"), 2);
    rig_free(r);
}

// ---- configuration and requests ----

static void test_configured_neighbours_are_not_asked(void **state) {
    struct rig *r = l3_rig(", \"neighbours\": [{\"address\": \"10.0.20.11\","
                           " \"mac\": \"02:00:00:00:00:0b\", \"vid\": 20}]");
    (void)state;
    rig_send_hex(r, 0, UDP_A_TO_B_1);
    l3_expect_20(r, UDP_A_TO_B_1_ROUTED); // where it is nobody knows yet
    l3_quiet(r);
    rig_send_hex(r, 3, ARP_OTHER_GRATUITOUS_AS_B);
    rig_forget(r);
    rig_send_hex(r, 1, ARP_B_GRATUITOUS);
    rig_forget(r);
    rig_send_hex(r, 0, UDP_A_TO_B_2);
    l3_expect(r, 1, UDP_A_TO_B_2_ROUTED);
    rig_wait(r, 200000);
    assert_string_equal(l3_state(r, "10.0.20.11"), "permanent");
    struct sk_error err;
    assert_int_equal(rig_reload(r, l3_section(""), &err), 0);
    assert_string_equal(l3_state(r, "10.0.20.11"), "");
    rig_free(r);
}

static void test_neighbours_go_with_their_subnet(void **state) {
    struct rig *r = l3_rig("");
    struct sk_error err;
    (void)state;
    l3_know_a(r);
    l3_know_b(r);
    static const char without[] =
        "{\"mac\": \"02:00:00:00:00:01\", \"vlans\": [{\"vid\": 10, \"addresses\": "
        "[\"10.0.10.1/24\"]},"
        " {\"vid\": 20}], \"links\": [{\"name\": \"a\", \"port\": \"p0\", \"access\": 10},"
        " {\"name\": \"b\", \"port\": \"p1\", \"access\": 20}]}";
    assert_int_equal(rig_reload(r, without, &err), 0);
    assert_string_equal(l3_state(r, "10.0.10.10"), "stale");
    assert_string_equal(l3_state(r, "10.0.20.11"), "");
    l3_assert_wanted(r, "entry ipv4_hosts dst_addr=10.0.20.11", "");
    l3_assert_wanted(r, "entry ipv4_prefixes dst_addr=10.0.20.0/24", "");
    rig_free(r);
}

static void test_neighbours_are_flushed(void **state) {
    struct rig *r = l3_rig("");
    struct sk_error err;
    (void)state;
    l3_know_a(r);
    l3_know_b(r);
    json_t *answer = rig_request(r, "tor.neighbour.flush", "{\"address\": \"10.0.20.11\"}", &err);
    assert_int_equal(json_integer_value(json_object_get(answer, "flushed")), 1);
    json_decref(answer);
    assert_string_equal(l3_state(r, "10.0.20.11"), "");
    assert_string_equal(l3_state(r, "10.0.10.10"), "stale");
    assert_null(rig_request(r, "tor.neighbour.flush", "{\"vid\": 5000}", &err));
    assert_string_equal(err.text, "vid: should be a VLAN's number, 1 to 4094");
    assert_null(rig_request(r, "tor.neighbour.flush", "{\"address\": \"10.0.20\"}", &err));
    assert_string_equal(err.text, "address: should be an IPv4 or IPv6 address");
    answer = rig_request(r, "tor.neighbour.flush", "{\"vid\": 10}", &err);
    assert_int_equal(json_integer_value(json_object_get(answer, "flushed")), 1);
    json_decref(answer);
    assert_string_equal(l3_state(r, "10.0.10.10"), "");
    rig_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_addresses_are_answered_for),
        cmocka_unit_test(test_addresses_of_others_are_not_answered_for),
        cmocka_unit_test(test_broken_questions_are_not_answered),
        cmocka_unit_test(test_an_asker_of_another_net_is_answered_but_not_learned),
        cmocka_unit_test(test_addresses_are_probed_and_announced_at_the_start),
        cmocka_unit_test(test_a_conflict_is_told_and_the_address_defended),
        cmocka_unit_test(test_who_probes_an_address_of_ours_is_told),
        cmocka_unit_test(test_a_link_that_comes_up_hears_the_addresses),
        cmocka_unit_test(test_addresses_that_are_not_announced_are_answered_for_only),
        cmocka_unit_test(test_another_mac_of_ours_is_announced),
        cmocka_unit_test(test_nobody_is_learned_from_what_nobody_asked),
        cmocka_unit_test(test_a_packet_waits_until_its_neighbour_answers),
        cmocka_unit_test(test_the_newest_packets_wait),
        cmocka_unit_test(test_the_first_of_two_answers_counts),
        cmocka_unit_test(test_a_new_mac_is_taken_over_and_asked_at_once),
        cmocka_unit_test(test_without_override_another_mac_only_raises_doubt),
        cmocka_unit_test(test_who_does_not_answer_is_unreachable),
        cmocka_unit_test(test_who_does_not_answer_is_asked_ever_less_often),
        cmocka_unit_test(test_a_neighbour_is_asked_again_before_it_is_given_up),
        cmocka_unit_test(test_a_full_table_takes_from_who_has_most),
        cmocka_unit_test(test_a_link_has_its_share_of_neighbours),
        cmocka_unit_test(test_a_link_has_its_share_of_waiting_packets),
        cmocka_unit_test(test_configured_neighbours_are_not_asked),
        cmocka_unit_test(test_neighbours_go_with_their_subnet),
        cmocka_unit_test(test_neighbours_are_flushed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

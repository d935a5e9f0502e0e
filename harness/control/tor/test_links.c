// SPDX-License-Identifier: Apache-2.0
//
// Links, packet by packet: VLANs, flooding, LAGs, isolated links, storm control, mirrors; links
// that go up and down, and what is shown of them.
#include "harness/control/tor/links_section.h"

#include <stdio.h>
#include <stdlib.h>

// ---- VLANs ----

static void test_a_vlan_is_flooded_but_for_where_it_came_from(void **state) {
    struct rig *r = rig_new(7, links_section);
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t to = i == 0 ? ETH_BROADCAST : i == 1 ? ETH_GROUP : B;
        eth_send(r, 0, to, A, ETH_NO_TAG, 1);
        eth_expect(r, 1, to, A, ETH_NO_TAG, 1);
        eth_expect(r, 2, to, A, 10, 1);
        taken_from_lag(r, to, A, ETH_NO_TAG, 1);
        eth_quiet(r);
    }
    eth_send(r, 2, ETH_BROADCAST, C, 20, 2);
    eth_expect(r, 3, ETH_BROADCAST, C, ETH_NO_TAG, 2);
    eth_quiet(r);
    eth_send(r, 2, ETH_BROADCAST, D, ETH_NO_TAG, 3); // native
    eth_expect(r, 4, ETH_BROADCAST, D, ETH_NO_TAG, 3);
    eth_quiet(r);
    eth_send(r, 4, ETH_BROADCAST, E, ETH_NO_TAG, 4);
    eth_expect(r, 2, ETH_BROADCAST, E, ETH_NO_TAG, 4);
    eth_quiet(r);
    rig_free(r);
}

static void test_what_is_not_in_a_ports_vlans_goes_nowhere(void **state) {
    struct rig *r = rig_new(7, links_section);
    (void)state;
    eth_send(r, 0, ETH_BROADCAST, A, 20, 1);
    eth_send(r, 0, ETH_BROADCAST, A, 10, 1); // it carries VLAN 10 without a tag
    eth_send(r, 2, ETH_BROADCAST, A, 30, 1); // and it VLAN 30
    eth_send(r, 2, ETH_BROADCAST, A, 40, 1);
    eth_quiet(r);
    assert_null(tor_fdb_find(rig_tor(r), 20, (const uint8_t[6]){2, 0, 0, 0, 0, A}));
    rig_free(r);
}

static void test_a_known_address_of_another_vlan_is_not_reached(void **state) {
    struct rig *r = rig_new(7, links_section);
    (void)state;
    eth_send(r, 3, ETH_BROADCAST, C, ETH_NO_TAG, 1);
    rig_forget(r);
    eth_send(r, 0, C, A, ETH_NO_TAG, 2); // flooded in VLAN 10, where C is not
    assert_int_equal(rig_count(r, 3), 0);
    assert_int_equal(rig_count(r, 1), 1);
    rig_free(r);
}

// ---- LAGs ----

static void test_flows_are_spread_over_a_lag_and_follow_its_members(void **state) {
    struct rig *r = rig_new(7, links_section);
    unsigned used[2] = {0};
    uint16_t first[64];
    (void)state;
    eth_send(r, LAG_1, ETH_BROADCAST, F, ETH_NO_TAG, 1);
    rig_forget(r);
    for (unsigned i = 0; i < 64; i++) {
        eth_send(r, 0, F, 0x100 + i, ETH_NO_TAG, 2);
        first[i] = taken_from_lag(r, F, 0x100 + i, ETH_NO_TAG, 2);
        used[first[i] == LAG_2]++;
        eth_send(r, 0, F, 0x100 + i, ETH_NO_TAG, 3); // a flow stays where it is
        assert_int_equal(taken_from_lag(r, F, 0x100 + i, ETH_NO_TAG, 3), first[i]);
        eth_quiet(r);
    }
    assert_true(used[0] > 10 && used[1] > 10);
    rig_link(r, LAG_1, false);
    assert_true(named(r, "lag")->up);
    for (unsigned i = 0; i < 64; i++) {
        eth_send(r, 0, F, 0x100 + i, ETH_NO_TAG, 4);
        eth_expect(r, LAG_2, F, 0x100 + i, ETH_NO_TAG, 4);
        eth_send(r, 0, ETH_BROADCAST, 0x100 + i, ETH_NO_TAG, 5);
        eth_expect(r, LAG_2, ETH_BROADCAST, 0x100 + i, ETH_NO_TAG, 5);
        rig_forget(r);
    }
    rig_link(r, LAG_1, true);
    for (unsigned i = 0; i < 64; i++) {
        eth_send(r, 0, F, 0x100 + i, ETH_NO_TAG, 6);
        assert_int_equal(taken_from_lag(r, F, 0x100 + i, ETH_NO_TAG, 6), first[i]);
    }
    rig_free(r);
}

static void test_a_lag_gets_nothing_of_its_own_back(void **state) {
    struct rig *r = rig_new(7, links_section);
    (void)state;
    for (uint16_t port = LAG_1; port <= LAG_2; port++) {
        eth_send(r, port, ETH_BROADCAST, F, ETH_NO_TAG, 1);
        assert_int_equal(rig_count(r, LAG_1) + rig_count(r, LAG_2), 0);
        assert_int_equal(rig_count(r, 0), 1);
        rig_forget(r);
    }
    // it is known there, by whichever port it comes
    eth_send(r, LAG_2, F, E, ETH_NO_TAG, 2);
    eth_quiet(r);
    assert_int_equal(rig_events(r, "moved"), 0);
    rig_free(r);
}

static void test_without_members_that_are_up_a_link_is_off(void **state) {
    struct rig *r = rig_new(7, links_section);
    const uint8_t f[6] = {2, 0, 0, 0, 0, F};
    (void)state;
    eth_send(r, LAG_1, ETH_BROADCAST, F, ETH_NO_TAG, 1);
    rig_forget(r);
    rig_link(r, LAG_1, false);
    assert_int_equal(rig_events(r, "link"), 0);
    rig_link(r, LAG_2, false);
    assert_false(named(r, "lag")->up);
    assert_int_equal(rig_events(r, "link"), 1);
    assert_null(tor_fdb_find(rig_tor(r), 10, f)); // who was there may be anywhere
    eth_send(r, 0, F, A, ETH_NO_TAG, 2);
    eth_expect(r, 1, F, A, ETH_NO_TAG, 2);
    eth_expect(r, 2, F, A, 10, 2);
    eth_quiet(r);
    rig_link(r, LAG_2, true);
    assert_true(named(r, "lag")->up);
    assert_int_equal(rig_events(r, "link"), 2);
    eth_send(r, LAG_2, ETH_BROADCAST, F, ETH_NO_TAG, 3);
    rig_forget(r);
    eth_send(r, 0, F, A, ETH_NO_TAG, 4);
    eth_expect(r, LAG_2, F, A, ETH_NO_TAG, 4);
    eth_quiet(r);
    rig_free(r);
}

// A static address stays on a link that is down: what is for it is dropped, not flooded.
static void test_to_a_link_that_is_down(void **state) {
    struct rig *r =
        rig_new(3, "{\"vlans\": [{\"vid\": 10}], \"links\": ["
                   "{\"name\": \"a\", \"port\": 0, \"access\": 10},"
                   "{\"name\": \"b\", \"port\": 1, \"access\": 10},"
                   "{\"name\": \"c\", \"port\": 2, \"access\": 10}],"
                   "\"macs\": [{\"vid\": 10, \"mac\": \"02:00:00:00:00:11\", \"link\": \"b\"}]}");
    (void)state;
    rig_link(r, 1, false);
    eth_send(r, 0, B, A, ETH_NO_TAG, 1);
    eth_quiet(r);
    rig_link(r, 1, true);
    eth_send(r, 0, B, A, ETH_NO_TAG, 2);
    eth_expect(r, 1, B, A, ETH_NO_TAG, 2);
    eth_quiet(r);
    rig_free(r);
}

// Nobody answers LACP: its LAG neither gets nor gives anything.
static void test_a_lag_that_lacp_has_not_agreed_on(void **state) {
    struct rig *r = rig_new(
        4,
        "{\"vlans\": [{\"vid\": 10}], \"links\": ["
        "{\"name\": \"a\", \"port\": 0, \"access\": 10},"
        "{\"name\": \"b\", \"port\": 1, \"access\": 10},"
        "{\"name\": \"lag\", \"ports\": [2, 3], \"lacp\": {\"active\": false}, \"access\": 10}]}");
    (void)state;
    eth_send(r, 2, ETH_BROADCAST, F, ETH_NO_TAG, 1);
    eth_quiet(r);
    eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 2);
    eth_expect(r, 1, ETH_BROADCAST, A, ETH_NO_TAG, 2);
    eth_quiet(r);
    rig_free(r);
}

// ---- isolated links ----

static void test_isolated_links_reach_only_the_others(void **state) {
    struct rig *r =
        rig_new(5, "{\"vlans\": [{\"vid\": 10}], \"links\": ["
                   "{\"name\": \"a\", \"port\": 0, \"access\": 10, \"isolated\": true},"
                   "{\"name\": \"b\", \"port\": 1, \"access\": 10, \"isolated\": true},"
                   "{\"name\": \"lag\", \"ports\": [2, 3], \"access\": 10, \"isolated\": true},"
                   "{\"name\": \"up\", \"port\": 4, \"access\": 10}]}");
    (void)state;
    for (uint16_t port = 0; port < 3; port++) {
        eth_send(r, port, ETH_BROADCAST, A + port, ETH_NO_TAG, 1);
        eth_expect(r, 4, ETH_BROADCAST, A + port, ETH_NO_TAG, 1);
        eth_quiet(r);
    }
    eth_send(r, 0, B, A, ETH_NO_TAG, 2); // known, and not reached
    eth_send(r, 2, A, C, ETH_NO_TAG, 2);
    eth_send(r, 1, C, B, ETH_NO_TAG, 2);
    eth_quiet(r);
    eth_send(r, 4, ETH_BROADCAST, D, ETH_NO_TAG, 3);
    assert_int_equal(rig_count(r, 0) + rig_count(r, 1), 2);
    assert_int_equal(rig_count(r, 2) + rig_count(r, 3), 1);
    rig_forget(r);
    eth_send(r, 4, A, D, ETH_NO_TAG, 4);
    eth_expect(r, 0, A, D, ETH_NO_TAG, 4);
    eth_send(r, 0, D, A, ETH_NO_TAG, 5);
    eth_expect(r, 4, D, A, ETH_NO_TAG, 5);
    eth_quiet(r);
    rig_free(r);
}

static void test_a_link_ceases_to_be_isolated(void **state) {
    static const char with[] =
        "{\"vlans\": [{\"vid\": 10}], \"links\": ["
        "{\"name\": \"a\", \"port\": 0, \"access\": 10, \"isolated\": true},"
        "{\"name\": \"b\", \"port\": 1, \"access\": 10, \"isolated\": true}]}";
    static const char without[] =
        "{\"vlans\": [{\"vid\": 10}], \"links\": ["
        "{\"name\": \"a\", \"port\": 0, \"access\": 10},"
        "{\"name\": \"b\", \"port\": 1, \"access\": 10, \"isolated\": true}]}";
    struct rig *r = rig_new(2, with);
    struct sk_error err;
    (void)state;
    eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 1);
    eth_quiet(r);
    assert_int_equal(rig_reload(r, without, &err), 0);
    eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 2);
    eth_expect(r, 1, ETH_BROADCAST, A, ETH_NO_TAG, 2);
    eth_send(r, 1, A, B, ETH_NO_TAG, 3);
    eth_expect(r, 0, A, B, ETH_NO_TAG, 3);
    assert_int_equal(rig_reload(r, with, &err), 0);
    eth_send(r, 1, A, B, ETH_NO_TAG, 4);
    eth_quiet(r);
    rig_free(r);
}

// ---- storm control ----

static unsigned passing(struct rig *r, uint16_t port, uint32_t to, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        eth_send(r, port, to, A, ETH_NO_TAG, (uint8_t)i);
    const unsigned out = (unsigned)rig_count(r, 1);
    rig_forget(r);
    return out;
}

static void test_storms_are_limited_by_class_and_link(void **state) {
    struct rig *r = rig_new(3, "{\"vlans\": [{\"vid\": 10}], \"links\": ["
                               "{\"name\": \"a\", \"port\": 0, \"access\": 10,"
                               " \"storm\": {\"broadcast\": 200, \"unknown\": 50}},"
                               "{\"name\": \"b\", \"port\": 1, \"access\": 10},"
                               "{\"name\": \"c\", \"port\": 2, \"access\": 10}]}");
    (void)state;
    assert_int_equal(passing(r, 0, ETH_BROADCAST, 100), 20); // a tenth of a second's
    assert_int_equal(passing(r, 0, B, 100), 8);              // eight at least
    assert_int_equal(passing(r, 0, ETH_GROUP, 100), 100);
    rig_wait(r, 50);
    assert_int_equal(passing(r, 0, ETH_BROADCAST, 100), 10); // 200 a second for 50 ms
    rig_wait(r, 1000);
    assert_int_equal(passing(r, 0, ETH_BROADCAST, 100), 20);
    eth_send(r, 2, ETH_BROADCAST, C, ETH_NO_TAG, 0);
    rig_forget(r);
    assert_int_equal(passing(r, 2, ETH_BROADCAST, 100), 100); // A moves there; it has no limit
    rig_free(r);
}

// ---- mirrors ----

#define MIRROR_LINKS                                                                               \
    "{\"vlans\": [{\"vid\": 10}], \"links\": ["                                                    \
    "{\"name\": \"a\", \"port\": 0, \"access\": 10}, {\"name\": \"b\", \"port\": 1, \"access\": "  \
    "10},"                                                                                         \
    "{\"name\": \"up\", \"port\": 2, \"trunk\": [10]},"                                            \
    "{\"name\": \"probe\", \"ports\": [3, 4]}],"

static void test_mirrors_copy_what_comes_in_and_what_leaves(void **state) {
    struct rig *r = rig_new(
        5, MIRROR_LINKS
        "\"mirrors\": [{\"name\": \"m\", \"to\": \"probe\", \"links\": ["
        "{\"link\": \"a\", \"direction\": \"in\"}, {\"link\": \"up\", \"direction\": \"out\"}]}]}");
    (void)state;
    eth_send(r, 1, ETH_BROADCAST, B, ETH_NO_TAG, 1); // leaves by 'a' (no copy) and 'up'
    eth_expect(r, 0, ETH_BROADCAST, B, ETH_NO_TAG, 1);
    eth_expect(r, 2, ETH_BROADCAST, B, 10, 1);
    eth_expect(r, 3, ETH_BROADCAST, B, 10, 1); // as it leaves, with its tag
    eth_quiet(r);
    eth_send(r, 0, B, A, ETH_NO_TAG, 2);
    eth_expect(r, 1, B, A, ETH_NO_TAG, 2);
    eth_expect(r, 3, B, A, ETH_NO_TAG, 2);
    eth_quiet(r);
    eth_send(r, 0, A, A, ETH_NO_TAG, 3); // what goes nowhere came in, too
    eth_expect(r, 3, A, A, ETH_NO_TAG, 3);
    eth_quiet(r);
    eth_send(r, 2, A, C, 10, 4); // came in by 'up', leaves by 'a'
    eth_expect(r, 0, A, C, ETH_NO_TAG, 4);
    eth_quiet(r);
    rig_link(r, 3, false);
    eth_send(r, 0, B, A, ETH_NO_TAG, 5);
    eth_expect(r, 1, B, A, ETH_NO_TAG, 5);
    eth_expect(r, 4, B, A, ETH_NO_TAG, 5);
    eth_quiet(r);
    rig_free(r);
}

static void test_a_mirrors_copies_are_cut(void **state) {
    struct rig *r =
        rig_new(5, MIRROR_LINKS
                "\"mirrors\": [{\"name\": \"m\", \"to\": \"probe\", \"length\": 64, \"links\": ["
                "{\"link\": \"a\", \"direction\": \"both\"}]}]}");
    uint8_t sent[200], got[RIG_FRAME];
    struct sk_error err;
    (void)state;
    eth_frame(sent, ETH_BROADCAST, A, ETH_NO_TAG, 7);
    memset(sent + 60, 0x5a, sizeof sent - 60);
    rig_send(r, 0, sent, sizeof sent);
    assert_int_equal(rig_take(r, 1, got), sizeof sent);
    assert_int_equal(rig_take(r, 3, got), 64);
    assert_memory_equal(got, sent, 64);
    rig_forget(r);
    // and no more of them without the mirror
    assert_int_equal(
        rig_reload(
            r, MIRROR_LINKS "\"mirrors\": [{\"name\": \"m\", \"to\": \"probe\", \"links\": []}]}",
            &err),
        0);
    rig_send(r, 0, sent, sizeof sent);
    assert_int_equal(rig_count(r, 1), 1);
    assert_int_equal(rig_count(r, 3) + rig_count(r, 4), 0);
    rig_free(r);
}

// ---- links that flap; what is shown ----

static void test_a_link_that_flaps_is_told_once(void **state) {
    struct rig *r = rig_new(7, links_section);
    (void)state;
    for (unsigned i = 0; i < 5; i++)
        rig_link(r, 0, i % 2);
    rig_wait(r, 40000); // the five are old
    for (unsigned i = 5; i < 10; i++)
        rig_link(r, 0, i % 2);
    assert_int_equal(rig_events(r, "alarm"), 0);
    for (unsigned i = 10; i < 20; i++) {
        rig_link(r, 0, i % 2);
        rig_link(r, 0, i % 2); // no change
    }
    assert_int_equal(rig_events(r, "alarm"), 1);
    json_t *alarm = rig_event(r, "alarm");
    assert_string_equal(json_string_value(json_object_get(alarm, "alarm")), "flapping link");
    assert_string_equal(json_string_value(json_object_get(alarm, "link")), "a");
    assert_true(json_is_true(json_object_get(alarm, "on")));
    rig_wait(r, 59000);
    assert_int_equal(rig_events(r, "alarm"), 1);
    rig_wait(r, 2000);
    assert_int_equal(rig_events(r, "alarm"), 2);
    assert_true(json_is_false(json_object_get(rig_event(r, "alarm"), "on")));
    rig_free(r);
}

// The callers' clocks differ a little: the end is not there before its time.
static void test_a_link_that_flaps_by_a_later_clock(void **state) {
    struct rig *r = rig_new(7, links_section);
    (void)state;
    for (unsigned i = 0; i < 6; i++)
        tor_link(rig_tor(r), 0, i % 2, rig_now(r) + 500000);
    rig_link(r, 0, true);
    rig_wait(r, 100);
    assert_int_equal(rig_events(r, "alarm"), 1);
    rig_free(r);
}

static void assert_json(json_t *got, const char *expected) {
    json_t *want = json_loads(expected, 0, NULL);
    assert_non_null(want);
    if (!got || !json_equal(got, want))
        fail_msg("%s\nis not %s", got ? json_dumps(got, JSON_SORT_KEYS) : "nothing", expected);
    json_decref(want);
    json_decref(got);
}

// What a link shows that was given no limits and needed none.
#define UNLIMITED                                                                                  \
    "\"limits\": {\"addresses\": 8192, \"address_rate\": 1000, \"neighbours\": 1024,"              \
    " \"neighbour_rate\": 1000}, \"limited\": {\"addresses\": 0, \"neighbours\": 0},"              \
    " \"neighbours\": 0"

static void test_what_links_and_vlans_show(void **state) {
    struct rig *r = rig_new(4, "{\"vlans\": [{\"vid\": 10, \"addresses\": [\"10.0.0.1/24\"]}, "
                               "{\"vid\": 11}, {\"vid\": 12}],"
                               "\"links\": [{\"name\": \"a\", \"port\": 0, \"access\": 10},"
                               "{\"name\": \"up\", \"ports\": [1, 2], \"trunk\": \"all\"}]}");
    struct sk_error err;
    (void)state;
    rig_link(r, 2, false);
    rig_wait(r, 3000);
    eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 1);
    assert_json(rig_request(r, "tor.links", NULL, &err),
                "[{\"link\": \"a\", \"interface\": 1, \"up\": true, \"since\": 3, \"flapping\": "
                "false, \"lag\": false,"
                "  \"lacp\": false, \"isolated\": false, \"learn\": true, \"untagged\": 10, "
                "\"tagged\": \"\", " UNLIMITED ","
                "  \"addresses\": 1, \"ports\": [{\"port\": 0, \"name\": \"p0\", \"carrier\": "
                "true, \"active\": true}]},"
                " {\"link\": \"up\", \"interface\": 2, \"up\": true, \"since\": 3, \"flapping\": "
                "false, \"lag\": true,"
                "  \"lacp\": false, \"isolated\": false, \"learn\": true, \"untagged\": 0, "
                "\"tagged\": \"10-12\", " UNLIMITED ","
                "  \"addresses\": 0, \"ports\": [{\"port\": 1, \"name\": \"p1\", \"carrier\": "
                "true, \"active\": true},"
                "                             {\"port\": 2, \"name\": \"p2\", \"carrier\": false, "
                "\"active\": false}]}]");
    assert_json(rig_request(r, "tor.vlans", NULL, &err),
                "[{\"vid\": 10, \"name\": \"\", \"mtu\": 1500, \"aging\": 300, \"addresses\": "
                "[\"10.0.0.1/24\"], \"macs\": 1,"
                "  \"links\": [{\"link\": \"a\", \"tagged\": false, \"up\": true}, {\"link\": "
                "\"up\", \"tagged\": true, \"up\": true}]},"
                " {\"vid\": 11, \"name\": \"\", \"mtu\": 1500, \"aging\": 300, \"addresses\": [], "
                "\"macs\": 0,"
                "  \"links\": [{\"link\": \"up\", \"tagged\": true, \"up\": true}]},"
                " {\"vid\": 12, \"name\": \"\", \"mtu\": 1500, \"aging\": 300, \"addresses\": [], "
                "\"macs\": 0,"
                "  \"links\": [{\"link\": \"up\", \"tagged\": true, \"up\": true}]}]");
    rig_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_vlan_is_flooded_but_for_where_it_came_from),
        cmocka_unit_test(test_what_is_not_in_a_ports_vlans_goes_nowhere),
        cmocka_unit_test(test_a_known_address_of_another_vlan_is_not_reached),
        cmocka_unit_test(test_flows_are_spread_over_a_lag_and_follow_its_members),
        cmocka_unit_test(test_a_lag_gets_nothing_of_its_own_back),
        cmocka_unit_test(test_without_members_that_are_up_a_link_is_off),
        cmocka_unit_test(test_to_a_link_that_is_down),
        cmocka_unit_test(test_a_lag_that_lacp_has_not_agreed_on),
        cmocka_unit_test(test_isolated_links_reach_only_the_others),
        cmocka_unit_test(test_a_link_ceases_to_be_isolated),
        cmocka_unit_test(test_storms_are_limited_by_class_and_link),
        cmocka_unit_test(test_mirrors_copy_what_comes_in_and_what_leaves),
        cmocka_unit_test(test_a_mirrors_copies_are_cut),
        cmocka_unit_test(test_a_link_that_flaps_is_told_once),
        cmocka_unit_test(test_a_link_that_flaps_by_a_later_clock),
        cmocka_unit_test(test_what_links_and_vlans_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

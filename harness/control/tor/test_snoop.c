// SPDX-License-Identifier: Apache-2.0
//
// Who joined which group: frames of hosts, routers and senders on the rig. All of them, and what
// the switch has to say itself, are Scapy's (snoop_frames.py).
//
// Ports 0 to 3 are links of VLAN 10: hosts 10.0.10.2 to 10.0.10.4 at 0 to 2, the sender at 3. Port
// 4 is the router's in tests that have one, port 5 is in VLAN 20, which has no snooping.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "control/tor/tor_impl.h"
#include "harness/control/tor/rig.h"
#include "harness/control/tor/snoop_frames.h"

#define PORTS  6u
#define SENDER 3u
#define ROUTER 4u

#define LINKS(router)                                                                              \
    "\"links\": [{\"name\": \"a\", \"port\": \"p0\", \"access\": 10},"                             \
    "{\"name\": \"b\", \"port\": \"p1\", \"access\": 10},"                                         \
    "{\"name\": \"c\", \"port\": \"p2\", \"access\": 10},"                                         \
    "{\"name\": \"sender\", \"port\": \"p3\", \"access\": 10},"                                    \
    "{\"name\": \"router\", \"port\": \"p4\", \"access\": 10, \"querier_port\": " router "},"      \
    "{\"name\": \"plain\", \"port\": \"p5\", \"trunk\": [10], \"native\": 20}]"
#define SECTION(addresses, snooping, more, router)                                                 \
    "{\"mac\": \"02:00:00:00:ff:01\", \"control_rate\": 1000000, \"vlans\": [{\"vid\": 10, "       \
    "\"addresses\": [" addresses "], \"snooping\": " snooping more                                 \
    "}, {\"vid\": 20}], " LINKS(router) "}"
#define ROUTERS_ONLY SECTION("", "{\"unknown\": \"routers\"}", "", "false")
#define QUERIER                                                                                    \
    SECTION("\"10.0.10.1/24\"", "{\"unknown\": \"routers\", \"querier\": true}", "", "false")
#define GUARDED                                                                                    \
    SECTION("\"10.0.10.1/24\"", "{\"unknown\": \"routers\", \"querier\": true}", "",               \
            "false, \"querier\": false")

struct fixture {
    struct rig *r;
};

static struct rig *start(void **state, const char *section) {
    struct fixture *f = *state;
    rig_free(f->r);
    f->r = rig_new(PORTS, section);
    return f->r;
}
static int set_up(void **state) {
    *state = calloc(1, sizeof(struct fixture));
    return *state ? 0 : -1;
}
static int tear_down(void **state) {
    struct fixture *f = *state;
    rig_free(f->r);
    free(f);
    return 0;
}

// Ports that get the frame when the port sends it, as a word of their numbers: "02".
static const char *reaches(struct rig *r, uint16_t from, const char *hex) {
    static char out[PORTS + 1];
    size_t n = 0;
    rig_forget(r);
    rig_send_hex(r, from, hex);
    for (uint16_t p = 0; p < PORTS; p++)
        if (rig_count(r, p) > 0)
            out[n++] = (char)('0' + p);
    out[n] = '\0';
    rig_forget(r);
    return out;
}
static const char *stream(struct rig *r, const char *hex) {
    return reaches(r, SENDER, hex);
}

static void bytes_of(const char *hex, uint8_t *out, size_t *n) {
    for (*n = 0; hex[2 * *n]; ++*n) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * *n, "%2x", &byte), 1);
        out[*n] = (uint8_t)byte;
    }
}
// The next frame of the port is this one.
static void assert_sends(struct rig *r, uint16_t port, const char *hex) {
    uint8_t got[RIG_FRAME], want[RIG_FRAME];
    size_t n;
    bytes_of(hex, want, &n);
    assert_int_equal(rig_take(r, port, got), n);
    assert_memory_equal(got, want, n);
}
// How many frames of those that wait at the port are this one; forgets them all.
static size_t times(struct rig *r, uint16_t port, const char *hex) {
    uint8_t got[RIG_FRAME], want[RIG_FRAME];
    size_t n, length, count = 0;
    bytes_of(hex, want, &n);
    while ((length = rig_take(r, port, got)) > 0)
        count += length == n && memcmp(got, want, n) == 0;
    return count;
}

// ---- members ----

static void test_only_members_receive(void **state) {
    struct rig *r = start(state, ROUTERS_ONLY);
    assert_string_equal(stream(r, TO_ONE), "");
    rig_send_hex(r, 0, V2_REPORT_2);
    assert_string_equal(stream(r, TO_ONE), "0");
    rig_send_hex(r, 2, V3_EXCLUDE_4);
    assert_string_equal(stream(r, TO_ONE), "02");
    rig_send_hex(r, 1, V1_REPORT_2);
    assert_string_equal(stream(r, TO_ONE), "012");
    assert_string_equal(stream(r, TO_UNKNOWN), "");
    // a member that sends gets nothing back
    assert_string_equal(reaches(r, 0, TO_ONE), "12");
    assert_int_equal(rig_events(r, "group"), 3);
}

static void test_without_a_word_groups_are_flooded(void **state) {
    struct rig *r = start(state, SECTION("", "true", "", "false"));
    assert_string_equal(stream(r, TO_ONE), "01245");
    rig_send_hex(r, 0, V2_REPORT_2);
    assert_string_equal(stream(r, TO_ONE), "0");
    assert_string_equal(stream(r, TO_UNKNOWN), "01245");
}

static void test_a_vlan_without_snooping_passes_all_on(void **state) {
    struct rig *r = start(state, SECTION("", "false", "", "false"));
    assert_string_equal(reaches(r, 0, V2_REPORT_2), "12345");
    assert_string_equal(reaches(r, 0, MLD2_SEVERAL_2), "12345");
    assert_string_equal(reaches(r, 0, QUERY_LOW), "12345");
    assert_string_equal(stream(r, TO_ONE), "01245");
}

static void test_groups_of_the_link_are_everybodys(void **state) {
    struct rig *r = start(state, ROUTERS_ONLY);
    const char *const all = "01245";
    assert_string_equal(stream(r, TO_OSPF), all);
    assert_string_equal(stream(r, TO_V6_NODE), all);
    rig_send_hex(r, 0, V2_REPORT_OF_THE_LINK_2);
    rig_send_hex(r, 0, V2_REPORT_MAC_OF_THE_LINK_2);
    rig_send_hex(r, 0, MLD2_SEVERAL_2); // a solicited node's among them
    rig_send_hex(r, 0, MLD1_REPORT_ALL_NODES_2);
    assert_string_equal(stream(r, TO_OSPF), all);
    assert_string_equal(stream(r, TO_MDNS), all);
    assert_string_equal(stream(r, TO_V6_NODE), all);
}

static void test_two_groups_on_one_address(void **state) {
    struct rig *r = start(state, QUERIER);
    rig_send_hex(r, 0, V2_REPORT_2);
    rig_send_hex(r, 1, V2_OTHER_GROUP_SAME_MAC_3);
    assert_string_equal(stream(r, TO_ONE), "01");
    assert_string_equal(stream(r, TO_OTHER), "01");
    rig_send_hex(r, 1, V2_LEAVE_OTHER_GROUP_3);
    rig_wait(r, 2500);
    assert_string_equal(stream(r, TO_ONE), "0");
    assert_string_equal(stream(r, TO_OTHER), "0");
}

static void test_several_records(void **state) {
    struct rig *r = start(state, ROUTERS_ONLY);
    rig_send_hex(r, 0, V3_SEVERAL_2);
    assert_string_equal(stream(r, TO_ONE), "0");
    assert_string_equal(stream(r, TO_TWO), "0");
    assert_string_equal(stream(r, TO_THREE), "0");
    assert_string_equal(stream(r, TO_FOUR), ""); // a record of a kind that does not exist
    rig_send_hex(r, 1, MLD2_SEVERAL_2);
    assert_string_equal(stream(r, TO_V6_ONE), "1");
    assert_string_equal(stream(r, TO_V6_TWO), "1");
    assert_string_equal(stream(r, TO_V6_THREE), "1");
    assert_string_equal(stream(r, TO_V6_FOUR), "");
}

static void test_reports_of_mld(void **state) {
    struct rig *r = start(state, ROUTERS_ONLY);
    rig_send_hex(r, 0, MLD1_REPORT_2);
    rig_send_hex(r, 1, MLD2_WITHOUT_ADDRESS);
    rig_send_hex(r, 2, MLD2_PADDED_2);
    assert_string_equal(stream(r, TO_V6_ONE), "012");
}

// ---- what is not believed ----

static void test_who_lies_is_not_heard(void **state) {
    struct rig *r = start(state, ROUTERS_ONLY);
    static const char *const lies[] = {V3_FRAGMENT_2, V3_MORE_HOPS_2, MLD2_GLOBAL_2,
                                       MLD2_MORE_HOPS_2, MLD2_NO_ALERT_2};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        assert_string_equal(reaches(r, 0, lies[i]), "");
    assert_string_equal(stream(r, TO_ONE), "");
    assert_string_equal(stream(r, TO_V6_ONE), "");
}

static json_t *show(struct rig *r) {
    struct sk_error err;
    json_t *result = rig_request(r, "tor.queriers", NULL, &err);
    if (!result)
        fail_msg("%s", err.text);
    json_t *v = json_incref(json_array_get(json_object_get(result, "vlans"), 0));
    json_decref(result);
    return v;
}
static size_t groups(struct rig *r) {
    json_t *v = show(r);
    const size_t n = (size_t)json_integer_value(json_object_get(v, "groups"));
    json_decref(v);
    return n;
}

// Each bit of the message itself, and each length, one at a time: nobody joins by a frame that is
// not whole.
static void mangle(struct rig *r, const char *hex, size_t from) {
    uint8_t bytes[RIG_FRAME];
    size_t n;
    bytes_of(hex, bytes, &n);
    for (size_t i = from; i < n; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] ^= (uint8_t)(1 << bit);
            rig_send(r, 0, bytes, n);
            bytes[i] ^= (uint8_t)(1 << bit);
        }
    for (size_t length = 14; length < n; length++)
        rig_send(r, 0, bytes, length);
    assert_int_equal(groups(r), 0);
    rig_send(r, 0, bytes, n);
    assert_int_not_equal(groups(r), 0);
}

static void test_mangled_reports(void **state) {
    mangle(start(state, ROUTERS_ONLY), V3_SEVERAL_2, 14 + 24);
    mangle(start(state, ROUTERS_ONLY), MLD2_SEVERAL_2, 14 + 40 + 8);
    mangle(start(state, ROUTERS_ONLY), MLD1_REPORT_3, 14 + 40 + 8);
}

// Counts of records and sources that reach beyond the message, with a checksum that is right.
static void test_reports_that_say_too_much(void **state) {
    struct rig *r = start(state, ROUTERS_ONLY);
    static const struct {
        size_t at, checksum;
    } lies[] = {
        {14 + 24 + 7, 14 + 24 + 2}, {14 + 24 + 8 + 3, 14 + 24 + 2}, {14 + 24 + 8 + 1, 14 + 24 + 2}};
    uint8_t bytes[RIG_FRAME];
    size_t n;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        bytes_of(V3_EXCLUDE_2, bytes, &n);
        // one's complement: what is added there is taken from the checksum
        const unsigned old = bytes[lies[i].at];
        bytes[lies[i].at] = 9;
        const unsigned by = lies[i].at % 2 ? 9 - old : (9 - old) << 8;
        unsigned sum = (unsigned)(bytes[lies[i].checksum] << 8 | bytes[lies[i].checksum + 1]);
        sum = sum >= by ? sum - by : sum - by + 0xffff;
        bytes[lies[i].checksum] = (uint8_t)(sum >> 8);
        bytes[lies[i].checksum + 1] = (uint8_t)sum;
        rig_send(r, 0, bytes, n);
        assert_int_equal(groups(r), 0);
    }
    json_t *v = show(r);
    assert_int_equal(json_integer_value(json_object_get(v, "bad")), 3);
    json_decref(v);
}

// ---- leaving ----

static void test_a_leave_asks_first(void **state) {
    struct rig *r = start(state, QUERIER);
    rig_wait(r, 100);
    rig_send_hex(r, 0, V2_REPORT_2);
    rig_send_hex(r, 1, V2_REPORT_3);
    rig_forget(r);
    rig_send_hex(r, 0, V2_LEAVE_2);
    assert_sends(r, 0, ASKS_GROUP);
    assert_int_equal(rig_count(r, 1), 0); // only that link is asked
    assert_string_equal(stream(r, TO_ONE), "01");
    rig_wait(r, 1500);
    assert_int_equal(times(r, 0, ASKS_GROUP), 1); // once more
    assert_string_equal(stream(r, TO_ONE), "01");
    rig_wait(r, 700);
    assert_string_equal(stream(r, TO_ONE), "1");
}

static void test_another_host_of_the_link_answers(void **state) {
    struct rig *r = start(state, QUERIER);
    rig_send_hex(r, 0, V3_EXCLUDE_2);
    rig_send_hex(r, 0, V3_LEAVE_3);
    rig_wait(r, 1500);
    rig_send_hex(r, 0, V3_IS_EXCLUDE_2);
    rig_wait(r, 5000);
    assert_string_equal(stream(r, TO_ONE), "0");
    // whoever blocks a source may be the last one that wanted it
    rig_send_hex(r, 0, V3_BLOCK_2);
    rig_wait(r, 2500);
    assert_string_equal(stream(r, TO_ONE), "");
}

static void test_leaves_of_mld(void **state) {
    struct rig *r = start(state, QUERIER);
    rig_wait(r, 100);
    rig_send_hex(r, 0, MLD1_REPORT_2);
    rig_send_hex(r, 1, MLD1_REPORT_3);
    rig_forget(r);
    rig_send_hex(r, 0, MLD1_DONE_2);
    assert_sends(r, 0, MLD_ASKS_GROUP);
    rig_wait(r, 2500);
    assert_string_equal(stream(r, TO_V6_ONE), "1");
    rig_send_hex(r, 1, MLD2_LEAVE_2);
    rig_wait(r, 2500);
    assert_string_equal(stream(r, TO_V6_ONE), "");
}

static void test_leaves_at_once_where_the_configuration_says_so(void **state) {
    struct rig *r = start(
        state, SECTION("", "{\"unknown\": \"routers\", \"immediate_leave\": true}", "", "false"));
    rig_send_hex(r, 0, V2_REPORT_2);
    rig_send_hex(r, 0, V2_LEAVE_2);
    assert_string_equal(stream(r, TO_ONE), "");
}

static void test_hosts_of_version_1_are_waited_for(void **state) {
    struct rig *r = start(state, QUERIER);
    rig_send_hex(r, 0, V1_REPORT_2);
    rig_send_hex(r, 0, V2_REPORT_3);
    rig_send_hex(r, 0, V2_LEAVE_3);
    rig_wait(r, 10000);
    assert_string_equal(stream(r, TO_ONE), "0");
}

static void test_silent_members_age(void **state) {
    struct rig *r =
        start(state, SECTION("", "{\"unknown\": \"routers\", \"idle\": 20}", "", "false"));
    rig_send_hex(r, 0, V2_REPORT_2);
    rig_send_hex(r, 1, V2_REPORT_3);
    rig_wait(r, 15000);
    rig_send_hex(r, 1, V2_REPORT_3);
    rig_wait(r, 8000);
    assert_string_equal(stream(r, TO_ONE), "1");
    rig_wait(r, 20000);
    assert_string_equal(stream(r, TO_ONE), "");
    assert_int_equal(groups(r), 0);
}

static void test_a_link_that_goes_down_loses_its_memberships(void **state) {
    struct rig *r = start(state, ROUTERS_ONLY);
    rig_send_hex(r, 0, V2_REPORT_2);
    rig_send_hex(r, 1, V2_REPORT_3);
    rig_link(r, 0, false);
    rig_link(r, 0, true);
    assert_string_equal(stream(r, TO_ONE), "1");
}

// ---- routers ----

static void test_reports_go_to_routers_alone(void **state) {
    struct rig *r = start(state, ROUTERS_ONLY);
    assert_string_equal(reaches(r, 0, V2_REPORT_2), "");
    assert_string_equal(reaches(r, ROUTER, QUERY_LOW), "01235");
    rig_send_hex(r, 0, V2_REPORT_2);
    assert_sends(r, ROUTER, V2_REPORT_2);
    assert_string_equal(reaches(r, 0, V2_LEAVE_2), "4");
    // it gets every group, joined or not
    assert_string_equal(stream(r, TO_UNKNOWN), "4");
    assert_string_equal(stream(r, TO_ONE), "04");
    assert_string_equal(stream(r, TO_V6_ONE), "4");
    // 2 times 125 and 5 seconds after its last query it is gone
    rig_wait(r, 254000);
    assert_string_equal(stream(r, TO_UNKNOWN), "4");
    rig_wait(r, 2000);
    assert_string_equal(stream(r, TO_UNKNOWN), "");
    assert_int_equal(rig_events(r, "multicast_router"), 2);
}

static void test_a_router_by_configuration(void **state) {
    struct rig *r = start(state, SECTION("", "{\"unknown\": \"routers\"}", "", "true"));
    assert_string_equal(reaches(r, 0, V2_REPORT_2), "4");
    assert_string_equal(reaches(r, 0, MLD2_SEVERAL_2), "4");
    assert_string_equal(stream(r, TO_ONE), "04");
    assert_string_equal(stream(r, TO_UNKNOWN), "4");
}

// A link where no querier may be: what it asks goes nowhere, and makes it nothing.
static void test_a_guarded_link_is_no_router(void **state) {
    struct rig *r = start(state, GUARDED);
    rig_wait(r, 100);
    assert_string_equal(reaches(r, ROUTER, QUERY_LOW), "");
    assert_string_equal(reaches(r, ROUTER, QUERY_NOBODY), "");
    assert_string_equal(reaches(r, ROUTER, MLD_QUERY_LOW), "");
    assert_string_equal(stream(r, TO_UNKNOWN), "");
    json_t *v = show(r);
    assert_int_equal(json_integer_value(json_object_get(v, "guarded")), 3);
    assert_int_equal(json_array_size(json_object_get(v, "routers")), 0);
    assert_true(json_is_true(json_object_get(json_object_get(v, "igmp"), "own")));
    json_decref(v);
    assert_int_equal(rig_events(r, "multicast_router"), 0);
    // its own memberships are as any link's, and another link's queries are believed
    assert_string_equal(reaches(r, ROUTER, V2_REPORT_2), "");
    assert_string_equal(stream(r, TO_ONE), "4");
    assert_string_equal(reaches(r, 0, QUERY_LOW), "12345");
    assert_string_equal(stream(r, TO_UNKNOWN), "0");
}

// A reload that guards a link takes back what its queries made of it.
static void test_a_link_is_guarded_later(void **state) {
    struct rig *r = start(state, QUERIER);
    struct sk_error err;
    rig_wait(r, 100);
    assert_string_equal(reaches(r, ROUTER, QUERY_LOW), "01235");
    assert_string_equal(stream(r, TO_UNKNOWN), "4");
    assert_int_equal(rig_reload(r, GUARDED, &err), 0);
    rig_wait(r, 100);
    assert_string_equal(stream(r, TO_UNKNOWN), "");
    json_t *v = show(r);
    assert_true(json_is_true(json_object_get(json_object_get(v, "igmp"), "own")));
    json_decref(v);
}

static void test_a_query_from_nobody_makes_no_router(void **state) {
    struct rig *r = start(state, ROUTERS_ONLY);
    assert_string_equal(reaches(r, ROUTER, QUERY_NOBODY), "01235"); // hosts answer to it
    assert_string_equal(stream(r, TO_UNKNOWN), "");
}

static void test_what_is_no_message_of_hosts_is_passed_on(void **state) {
    struct rig *r = start(state, ROUTERS_ONLY);
    assert_string_equal(reaches(r, 0, PIM1_2), "12345");
}

// ---- asking ----

static void test_it_asks(void **state) {
    struct rig *r = start(state, QUERIER);
    // at once, after a quarter of the interval, then by the interval
    static const struct {
        uint64_t wait_ms;
        size_t asked;
    } steps[] = {{100, 1}, {31000, 0}, {1000, 1}, {124000, 0}, {1000, 1}, {125000, 1}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        rig_wait(r, steps[i].wait_ms);
        assert_int_equal(times(r, 0, ASKS_ALL), steps[i].asked);
        assert_int_equal(times(r, 1, MLD_ASKS_ALL), steps[i].asked);
        rig_forget(r);
    }
}

static void test_it_asks_without_an_address(void **state) {
    struct rig *r = start(state, SECTION("", "{\"querier\": true}", "", "false"));
    rig_wait(r, 100);
    assert_sends(r, 2, ASKS_ALL_FROM_NOBODY);
    assert_sends(r, 2, MLD_ASKS_ALL);
    assert_int_equal(rig_count(r, 2), 0);
}

static void test_it_does_not_ask_unless_told_to(void **state) {
    struct rig *r = start(state, ROUTERS_ONLY);
    rig_wait(r, 40000);
    assert_int_equal(rig_count(r, 0), 0);
}

static void test_a_lower_address_wins(void **state) {
    struct rig *r = start(state, QUERIER);
    rig_wait(r, 100);
    rig_send_hex(r, ROUTER, QUERY_LOW);
    rig_forget(r);
    rig_wait(r, 200000);
    assert_int_equal(times(r, 0, ASKS_ALL), 0);
    assert_true(times(r, 1, MLD_ASKS_ALL) > 0); // the other family is another election
    rig_wait(r, 56000);                         // 255 seconds after the last of them it is our turn
    assert_int_equal(times(r, 0, ASKS_ALL), 1);
    assert_int_equal(rig_events(r, "querier"), 2);
}

static void test_a_higher_address_does_not(void **state) {
    struct rig *r = start(state, QUERIER);
    rig_wait(r, 100);
    rig_send_hex(r, ROUTER, QUERY_HIGH);
    rig_send_hex(r, ROUTER, MLD_QUERY_HIGH);
    rig_forget(r);
    rig_wait(r, 130000);
    assert_true(times(r, 0, ASKS_ALL) > 0);
    assert_true(times(r, 1, MLD_ASKS_ALL) > 0);
    rig_send_hex(r, ROUTER, MLD_QUERY_LOW);
    rig_forget(r);
    rig_wait(r, 130000);
    assert_int_equal(times(r, 1, MLD_ASKS_ALL), 0);
}

static void test_older_queriers_are_taken_for_one(void **state) {
    static const char *const queries[] = {QUERY_V2_LOW, QUERY_V1_LOW};
    for (size_t i = 0; i < 2; i++) {
        struct rig *r = start(state, QUERIER);
        rig_wait(r, 40000);
        rig_send_hex(r, ROUTER, queries[i]);
        rig_send_hex(r, ROUTER, MLD1_QUERY_LOW);
        rig_forget(r);
        rig_wait(r, 130000);
        assert_int_equal(times(r, 0, ASKS_ALL), 0);
        assert_int_equal(times(r, 1, MLD_ASKS_ALL), 0);
    }
}

// 3 queries of 1024 seconds, and half of 60.8: its own numbers say when it is gone.
static void test_a_slow_querier(void **state) {
    struct rig *r = start(state, QUERIER);
    rig_wait(r, 40000);
    rig_send_hex(r, ROUTER, QUERY_LOW_SLOW);
    rig_forget(r);
    rig_wait(r, 600000);
    assert_int_equal(times(r, 0, ASKS_ALL), 0);
    json_t *v = show(r), *router = json_array_get(json_object_get(v, "routers"), 0);
    assert_int_equal(json_integer_value(json_object_get(router, "expires")), 3 * 1024 + 30 - 600);
    json_decref(v);
}

// Another querier asks about a group: who does not answer it leaves, unless routers are told to
// take no notice.
static void test_another_queriers_questions(void **state) {
    struct rig *r = start(state, ROUTERS_ONLY);
    rig_send_hex(r, ROUTER, QUERY_LOW);
    rig_send_hex(r, 0, V2_REPORT_2);
    rig_send_hex(r, 1, V2_REPORT_3);
    assert_string_equal(reaches(r, 0, V2_LEAVE_2), "4"); // nobody is asked by us
    rig_wait(r, 5000);
    rig_send_hex(r, ROUTER, QUERY_LOW_GROUP_SUPPRESSED);
    rig_wait(r, 5000);
    assert_string_equal(stream(r, TO_ONE), "014");
    rig_send_hex(r, ROUTER, QUERY_LOW_GROUP);
    rig_wait(r, 500);
    rig_send_hex(r, 1, V2_REPORT_3);
    rig_wait(r, 3000);
    assert_string_equal(stream(r, TO_ONE), "14");
}

static void test_a_link_that_comes_up_is_asked(void **state) {
    struct rig *r = start(state, QUERIER);
    rig_wait(r, 5000);
    rig_link(r, 2, false);
    rig_forget(r);
    rig_link(r, 2, true);
    assert_int_equal(times(r, 2, ASKS_ALL), 1);
    assert_int_equal(rig_count(r, 1), 0);
}

static void test_a_querier_whose_link_goes_down_is_gone(void **state) {
    struct rig *r = start(state, QUERIER);
    rig_wait(r, 100);
    rig_send_hex(r, ROUTER, QUERY_LOW);
    rig_forget(r);
    rig_link(r, ROUTER, false);
    rig_wait(r, 100);
    assert_int_equal(times(r, 0, ASKS_ALL), 1);
}

// ---- configurations ----

#define STATIC(links) ", \"static_groups\": [{\"group\": \"239.1.1.1\", \"links\": [" links "]}]"

static void test_static_groups_and_reloads(void **state) {
    struct sk_error err;
    struct rig *r =
        start(state, SECTION("", "{\"unknown\": \"routers\"}", STATIC("\"b\""), "false"));
    assert_string_equal(stream(r, TO_ONE), "1");
    rig_send_hex(r, 0, V2_REPORT_2);
    assert_string_equal(stream(r, TO_ONE), "01");
    assert_int_equal(
        rig_reload(r, SECTION("", "{\"unknown\": \"routers\"}", STATIC("\"c\""), "false"), &err),
        0);
    assert_string_equal(stream(r, TO_ONE), "02"); // who joined is still there
    assert_int_equal(rig_reload(r, SECTION("", "{\"unknown\": \"flood\"}", "", "true"), &err), 0);
    assert_string_equal(stream(r, TO_ONE), "04");
    assert_string_equal(stream(r, TO_UNKNOWN), "01245");
    assert_int_equal(rig_reload(r, SECTION("", "false", "", "true"), &err), 0);
    assert_string_equal(stream(r, TO_ONE), "01245");
    assert_int_equal(rig_reload(r, ROUTERS_ONLY, &err), 0);
    assert_string_equal(stream(r, TO_ONE), "");
}

// What a job does whose group that is: an entry of its own, for one link.
static void take(struct rig *r, uint16_t mgid, const char *link) {
    struct tor *t = rig_tor(r);
    struct tor_link *links[] = {tor_link_by_name(t, link)};
    tor_mcast_want(t, TOR_JOBS, mgid, links, 1);
    tor_want(t->wanted, TOR_JOBS,
             "entry destinations vid=10 dst_addr=01:00:5e:01:01:01 -> group group=%u", mgid);
    rig_wait(r, 10);
}
static void give_back(struct rig *r, uint16_t mgid) {
    struct tor *t = rig_tor(r);
    tor_unwant(t->wanted, "entry destinations vid=10 dst_addr=01:00:5e:01:01:01");
    tor_mcast_unwant(t, mgid);
    rig_wait(r, 1100);
}

static void test_nobody_joins_a_jobs_group(void **state) {
    struct rig *r = start(state, QUERIER);
    const uint16_t mgid = tor_mgid_new(rig_tor(r));
    rig_send_hex(r, 0, V2_REPORT_2);
    assert_string_equal(stream(r, TO_ONE), "0");
    take(r, mgid, "b");
    assert_string_equal(stream(r, TO_ONE), "1");
    rig_send_hex(r, 2, V2_REPORT_4);
    rig_wait(r, 3000);
    assert_string_equal(stream(r, TO_ONE), "1");
    rig_send_hex(r, 2, V2_LEAVE_4);
    rig_wait(r, 3000);
    assert_string_equal(stream(r, TO_ONE), "1");
    give_back(r, mgid);
    assert_string_equal(stream(r, TO_ONE), "0");
    // it was there before anybody joined, and stays when all have left
    rig_send_hex(r, 0, V2_LEAVE_2);
    rig_wait(r, 3000);
    take(r, mgid, "b");
    rig_send_hex(r, 0, V2_REPORT_2);
    assert_string_equal(stream(r, TO_ONE), "1");
    rig_send_hex(r, 0, V2_LEAVE_2);
    rig_wait(r, 3000);
    assert_string_equal(stream(r, TO_ONE), "1");
    assert_int_equal(rig_events(r, "alarm"), 0);
}

// As many groups as a link may join, and one more: that is refused with one alarm, and none of the
// others suffers.
static void test_tables_are_bounded(void **state) {
    struct rig *r = start(state, ROUTERS_ONLY);
    uint8_t bytes[60];
    size_t n;
    bytes_of(V2_REPORT_2, bytes, &n);
    for (unsigned i = 0; i < 520; i++) {
        // 239.1.1.1 becomes 239.1.2+i/256.i%256: in the IP header, the message and the Ethernet
        // address
        const unsigned old = 0x0101, now = 0x0200 + i;
        bytes[4] = bytes[14 + 18] = bytes[14 + 24 + 6] = (uint8_t)(now >> 8);
        bytes[5] = bytes[14 + 19] = bytes[14 + 24 + 7] = (uint8_t)now;
        const size_t sums[] = {14 + 10, 14 + 24 + 2};
        for (size_t s = 0; s < 2; s++) {
            uint8_t first[60];
            size_t whole;
            bytes_of(V2_REPORT_2, first, &whole);
            unsigned sum = (unsigned)(first[sums[s]] << 8 | first[sums[s] + 1]);
            sum = sum >= now - old ? sum - (now - old) : sum - (now - old) + 0xffff;
            bytes[sums[s]] = (uint8_t)(sum >> 8);
            bytes[sums[s] + 1] = (uint8_t)sum;
        }
        rig_send(r, 0, bytes, n);
    }
    assert_int_equal(groups(r), 512);
    assert_int_equal(rig_events(r, "alarm"), 1);
    json_t *v = show(r);
    assert_int_equal(json_integer_value(json_object_get(v, "refused")), 8);
    json_decref(v);
    rig_send_hex(r, 1, V2_REPORT_3);
    assert_string_equal(stream(r, TO_ONE), "1");
}

static void assert_answer(struct rig *r, const char *op, const char *request, const char *want) {
    struct sk_error err;
    json_t *got = rig_request(r, op, request, &err);
    if (!got)
        fail_msg("%s", err.text);
    json_t *expected = json_loads(want, 0, NULL);
    assert_non_null(expected);
    if (!json_equal(got, expected))
        fail_msg("%s", json_dumps(got, JSON_SORT_KEYS));
    json_decref(expected);
    json_decref(got);
}

static void test_what_an_operator_sees(void **state) {
    struct rig *r = start(state, QUERIER);
    struct sk_error err;
    rig_send_hex(r, 0, V2_REPORT_2);
    rig_send_hex(r, 1, MLD1_REPORT_3);
    rig_send_hex(r, ROUTER, MLD_QUERY_LOW);
    rig_wait(r, 5000);
    assert_answer(r, "tor.queriers", NULL,
                  "{\"vlans\": [{\"vid\": 10, \"unknown\": \"routers\","
                  "\"igmp\": {\"querier\": \"10.0.10.1\", \"own\": true},"
                  "\"mld\": {\"querier\": \"fe80::1\", \"own\": false},"
                  "\"routers\": [{\"link\": \"router\", \"static\": false, \"expires\": 250}],"
                  "\"groups\": 2, \"refused\": 0, \"bad\": 0, \"guarded\": 0}]}");
#define ONE                                                                                        \
    "{\"vid\": 10, \"group\": \"239.1.1.1\", \"mac\": \"01:00:5e:01:01:01\", \"flooded\": false, " \
    "\"job\": false,"                                                                              \
    "\"links\": [{\"link\": \"a\", \"static\": false, \"expires\": 295}]}"
#define TWO                                                                                        \
    "{\"vid\": 10, \"group\": \"ff15::abcd:1\", \"mac\": \"33:33:ab:cd:00:01\", \"flooded\": "     \
    "false, \"job\": false, \"links\": [{\"link\": \"b\", \"static\": false, \"expires\": 295}]}"
    assert_answer(r, "tor.groups", NULL, "{\"count\": 2, \"groups\": [" ONE ", " TWO "]}");
    assert_answer(r, "tor.groups", "{\"vid\": 10, \"link\": \"b\"}",
                  "{\"count\": 1, \"groups\": [" TWO "]}");
    assert_answer(r, "tor.groups", "{\"from\": 1}", "{\"count\": 2, \"groups\": [" TWO "]}");
    static const char *const wrong[][2] = {
        {"{\"vid\": 20}", "there is no VLAN 20 with snooping"},
        {"{\"vid\": 0}", "vid: a number from 1 to 4094 is expected"},
        {"{\"vid\": \"10\"}", "vid: a number from 1 to 4094 is expected"},
        {"{\"from\": -1}", "from: a number is expected"},
        {"{\"link\": 1}", "link: a name is expected"},
        {"{\"link\": \"x\"}", "x: there is no link of that name"},
        {"{\"group\": 1}", "group: there is no such member"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_null(rig_request(r, "tor.groups", wrong[i][0], &err));
        assert_string_equal(err.text, wrong[i][1]);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_only_members_receive),
        TEST(test_without_a_word_groups_are_flooded),
        TEST(test_a_vlan_without_snooping_passes_all_on),
        TEST(test_groups_of_the_link_are_everybodys),
        TEST(test_two_groups_on_one_address),
        TEST(test_several_records),
        TEST(test_reports_of_mld),
        TEST(test_who_lies_is_not_heard),
        TEST(test_mangled_reports),
        TEST(test_reports_that_say_too_much),
        TEST(test_a_leave_asks_first),
        TEST(test_another_host_of_the_link_answers),
        TEST(test_leaves_of_mld),
        TEST(test_leaves_at_once_where_the_configuration_says_so),
        TEST(test_hosts_of_version_1_are_waited_for),
        TEST(test_silent_members_age),
        TEST(test_a_link_that_goes_down_loses_its_memberships),
        TEST(test_reports_go_to_routers_alone),
        TEST(test_a_router_by_configuration),
        TEST(test_a_guarded_link_is_no_router),
        TEST(test_a_link_is_guarded_later),
        TEST(test_a_query_from_nobody_makes_no_router),
        TEST(test_what_is_no_message_of_hosts_is_passed_on),
        TEST(test_it_asks),
        TEST(test_it_asks_without_an_address),
        TEST(test_it_does_not_ask_unless_told_to),
        TEST(test_a_lower_address_wins),
        TEST(test_a_higher_address_does_not),
        TEST(test_older_queriers_are_taken_for_one),
        TEST(test_a_slow_querier),
        TEST(test_another_queriers_questions),
        TEST(test_a_link_that_comes_up_is_asked),
        TEST(test_a_querier_whose_link_goes_down_is_gone),
        TEST(test_static_groups_and_reloads),
        TEST(test_nobody_joins_a_jobs_group),
        TEST(test_tables_are_bounded),
        TEST(test_what_an_operator_sees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

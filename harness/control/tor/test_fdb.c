// SPDX-License-Identifier: Apache-2.0
//
// Who is where, packet by packet: learning, moves and how they are damped, ageing, flushes, static
// addresses, the switch's own, more addresses than there is room for.
#include "harness/control/tor/ethernet.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "control/tor/tor_impl.h"

enum { A = 0x10, B, C, D };

#define LINK(name, port, more) "{\"name\": \"" name "\", \"port\": " port ", " more "}"
#define THREE_LINKS                                                                                \
    "\"links\": [" LINK(                                                                           \
        "a", "0",                                                                                  \
        "\"trunk\": [20], \"native\": 10") ","                                                     \
                                           " " LINK(                                               \
                                               "b", "1",                                           \
                                               "\"trunk\": [20], \"native\": 10") ", " LINK("c",   \
                                                                                            "2",   \
                                                                                            "\"ac" \
                                                                                            "cess" \
                                                                                            "\": " \
                                                                                            "10") "]"
static const char section[] = "{\"mac\": \"" ETH_OWN_TEXT "\", \"vlans\": [{\"vid\": 10}, "
                              "{\"vid\": 20, \"aging\": 0}], " THREE_LINKS "}";

static const char *where(struct rig *r, uint16_t vid, uint32_t host) {
    uint8_t mac[6];
    eth_address(mac, host);
    const struct tor_link *link = tor_fdb_find(rig_tor(r), vid, mac);
    return link ? link->name : "";
}

static long long count(struct rig *r, const char *of) {
    struct sk_error err;
    json_t *macs = rig_request(r, "tor.macs", NULL, &err);
    assert_non_null(macs);
    const json_t *counts = json_object_get(macs, "counts"), *n = json_object_get(counts, of);
    const long long out = json_integer_value(n ? n : json_object_get(macs, of));
    json_decref(macs);
    return out;
}

static const char *last_alarm(struct rig *r) {
    const json_t *alarm = rig_event(r, "alarm");
    return alarm ? json_string_value(json_object_get(alarm, "alarm")) : "";
}

// A frame to 'host' goes to that port alone, as one from somebody at port 2.
static void assert_at(struct rig *r, uint32_t host, uint16_t port) {
    rig_forget(r);
    eth_send(r, 2, host, D, ETH_NO_TAG, 9);
    eth_expect(r, port, host, D, ETH_NO_TAG, 9);
    eth_quiet(r);
}
static void assert_flooded(struct rig *r, uint32_t host) {
    rig_forget(r);
    eth_send(r, 2, host, D, ETH_NO_TAG, 9);
    eth_expect(r, 0, host, D, ETH_NO_TAG, 9);
    eth_expect(r, 1, host, D, ETH_NO_TAG, 9);
    eth_quiet(r);
}

// ---- learning ----

static void test_who_speaks_is_known(void **state) {
    struct rig *r = rig_new(3, section);
    (void)state;
    assert_flooded(r, A);
    eth_send(r, 0, B, A, ETH_NO_TAG, 1);
    assert_string_equal(where(r, 10, A), "a");
    assert_string_equal(where(r, 10, B), "");
    assert_at(r, A, 0);
    eth_send(r, 1, A, B, ETH_NO_TAG, 1);
    eth_expect(r, 0, A, B, ETH_NO_TAG, 1);
    eth_quiet(r);
    assert_at(r, B, 1);
    eth_send(r, 0, B, A, ETH_NO_TAG, 1);
    eth_expect(r, 1, B, A, ETH_NO_TAG, 1);
    eth_send(r, 0, A, C, ETH_NO_TAG, 1); // to where it came from
    eth_quiet(r);
    assert_int_equal(count(r, "learned"), 4);
    rig_free(r);
}

static void test_vlans_learn_apart(void **state) {
    struct rig *r = rig_new(3, section);
    (void)state;
    eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 1);
    eth_send(r, 1, ETH_BROADCAST, A, 20, 1);
    assert_string_equal(where(r, 10, A), "a");
    assert_string_equal(where(r, 20, A), "b");
    assert_int_equal(rig_events(r, "moved"), 0);
    assert_at(r, A, 0);
    rig_free(r);
}

static void test_a_link_that_does_not_learn(void **state) {
    struct rig *r = rig_new(
        3,
        "{\"vlans\": [{\"vid\": 10}], \"links\": [" LINK(
            "a", "0",
            "\"access\": 10, \"learn\": false") "," LINK("b", "1",
                                                         "\"access\": 10") ", " LINK("c", "2",
                                                                                     "\"access\": "
                                                                                     "10") "]}");
    (void)state;
    eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 1);
    eth_send(r, 1, ETH_BROADCAST, B, ETH_NO_TAG, 1);
    assert_flooded(r, A);
    assert_at(r, B, 1);
    rig_free(r);
}

// What a host sends to nobody's address, or from a group's, teaches nothing.
static void test_sources_that_are_none(void **state) {
    static const uint8_t zero[6];
    struct rig *r = rig_new(3, section);
    uint8_t frame[64];
    (void)state;
    eth_send(r, 0, B, ETH_BROADCAST, ETH_NO_TAG, 1);
    eth_send(r, 0, B, ETH_GROUP, ETH_NO_TAG, 1);
    const size_t n = eth_frame(frame, B, A, ETH_NO_TAG, 1);
    memcpy(frame + 6, zero, sizeof zero);
    rig_send(r, 0, frame, n);
    eth_quiet(r);
    assert_int_equal(count(r, "count"), 0);
    rig_free(r);
}

// ---- moves ----

static void test_who_moves_is_found_there(void **state) {
    struct rig *r = rig_new(3, section);
    (void)state;
    eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 1);
    assert_at(r, A, 0);
    eth_send(r, 1, ETH_BROADCAST, A, ETH_NO_TAG, 1);
    assert_at(r, A, 1);
    assert_int_equal(rig_events(r, "moved"), 1);
    const json_t *e = rig_event(r, "moved");
    assert_string_equal(json_string_value(json_object_get(e, "mac")), "02:00:00:00:00:10");
    assert_string_equal(json_string_value(json_object_get(e, "from")), "a");
    assert_string_equal(json_string_value(json_object_get(e, "to")), "b");
    assert_int_equal(count(r, "moved"), 1);
    rig_free(r);
}

static void move(struct rig *r, unsigned i) {
    eth_send(r, i % 2 ? 0 : 1, ETH_BROADCAST, A, ETH_NO_TAG, 1);
}

static void test_who_moves_too_often_is_held(void **state) {
    struct rig *r = rig_new(3, section);
    (void)state;
    move(r, 1);
    for (unsigned i = 0; i < 4; i++)
        move(r, i);
    rig_wait(r, 11000); // these four are old
    for (unsigned i = 0; i < 4; i++)
        move(r, i);
    assert_int_equal(rig_events(r, "alarm"), 0);
    move(r, 4); // the fifth
    assert_int_equal(rig_events(r, "alarm"), 1);
    assert_string_equal(last_alarm(r), "flapping address");
    assert_string_equal(
        sk_json_text(rig_event(r, "alarm"), "why"),
        "02:00:00:00:00:10 of VLAN 10 moved 5 times within 10 s, and is held there");
    assert_at(r, A, 1);
    for (unsigned i = 0; i < 50; i++)
        move(r, i);
    assert_int_equal(rig_events(r, "moved"), 9);
    assert_int_equal(count(r, "damped"), 25);
    assert_string_equal(where(r, 10, A), "b");
    rig_wait(r, 29000);
    move(r, 1);
    assert_string_equal(where(r, 10, A), "b");
    rig_wait(r, 2000);
    assert_int_equal(rig_events(r, "alarm"), 2);
    assert_true(json_is_false(json_object_get(rig_event(r, "alarm"), "on")));
    move(r, 1);
    assert_at(r, A, 0);
    rig_free(r);
}

// Other addresses move while one is held.
static void test_only_who_flaps_is_held(void **state) {
    struct rig *r = rig_new(3, section);
    (void)state;
    move(r, 1);
    for (unsigned i = 0; i < 6; i++)
        move(r, i);
    eth_send(r, 0, ETH_BROADCAST, B, ETH_NO_TAG, 1);
    eth_send(r, 1, ETH_BROADCAST, B, ETH_NO_TAG, 1);
    assert_string_equal(where(r, 10, B), "b");
    rig_free(r);
}

// ---- ageing ----

static void test_who_is_silent_is_forgotten(void **state) {
    struct rig *r =
        rig_new(3, "{\"vlans\": [{\"vid\": 10, \"aging\": 20}, {\"vid\": 20, \"aging\": 0}],"
                   " " THREE_LINKS "}");
    (void)state;
    eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 1);
    eth_send(r, 0, ETH_BROADCAST, A, 20, 1);
    eth_send(r, 1, ETH_BROADCAST, B, ETH_NO_TAG, 1);
    for (unsigned i = 0; i < 4; i++) {
        rig_wait(r, 15000);
        eth_send(r, 1, ETH_BROADCAST, B, ETH_NO_TAG, 1); // B goes on
        assert_string_equal(where(r, 10, A), i == 0 ? "a" : "");
    }
    assert_flooded(r, A);
    assert_at(r, B, 1);
    assert_string_equal(where(r, 20, A), "a"); // stays there
    assert_int_equal(count(r, "aged"), 1);
    rig_wait(r, 21000);
    assert_string_equal(where(r, 10, B), "");
    rig_free(r);
}

static void test_ageing_that_a_reload_changes(void **state) {
    struct rig *r = rig_new(3, section);
    struct sk_error err;
    (void)state;
    eth_send(r, 0, ETH_BROADCAST, A, 20, 1);
    assert_int_equal(rig_reload(r,
                                "{\"vlans\": [{\"vid\": 10}, {\"vid\": 20, \"aging\": 15}],"
                                " " THREE_LINKS "}",
                                &err),
                     0);
    rig_wait(r, 14000);
    assert_string_equal(where(r, 20, A), "a");
    rig_wait(r, 2000);
    assert_string_equal(where(r, 20, A), "");
    rig_free(r);
}

// ---- flushes ----

static void test_who_was_at_a_link_that_went_down_is_looked_for(void **state) {
    struct rig *r = rig_new(3, section);
    (void)state;
    eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 1);
    eth_send(r, 0, ETH_BROADCAST, A, 20, 1);
    eth_send(r, 1, ETH_BROADCAST, B, ETH_NO_TAG, 1);
    rig_link(r, 0, false);
    assert_string_equal(where(r, 10, A), "");
    assert_string_equal(where(r, 20, A), "");
    assert_at(r, B, 1);
    rig_link(r, 0, true);
    assert_flooded(r, A);
    eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 1);
    assert_at(r, A, 0);
    rig_free(r);
}

static void test_what_a_reload_forgets(void **state) {
    struct rig *r = rig_new(3, section);
    struct sk_error err;
    (void)state;
    eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 1);
    eth_send(r, 0, ETH_BROADCAST, A, 20, 1);
    eth_send(r, 1, ETH_BROADCAST, B, ETH_NO_TAG, 1);
    eth_send(r, 1, ETH_BROADCAST, B, 20, 1);
    eth_send(r, 2, ETH_BROADCAST, C, ETH_NO_TAG, 1);
    // 'a' leaves VLAN 20, 'c' is another link, C's neighbour on 'b' stays
    assert_int_equal(
        rig_reload(r,
                   "{\"vlans\": [{\"vid\": 10}, {\"vid\": 20}], \"links\": [" LINK(
                       "x", "2",
                       "\"access\": 10") "," LINK("a", "0",
                                                  "\"access\": 10") "," LINK("b", "1",
                                                                             "\"trunk\": [20], "
                                                                             "\"native\": 10") "]}",
                   &err),
        0);
    assert_string_equal(where(r, 10, A), "a");
    assert_string_equal(where(r, 20, A), "");
    assert_string_equal(where(r, 10, B), "b");
    assert_string_equal(where(r, 20, B), "b");
    assert_string_equal(where(r, 10, C), "");
    assert_at(r, A, 0);
    // VLAN 20 goes
    assert_int_equal(
        rig_reload(
            r,
            "{\"vlans\": [{\"vid\": 10}], \"links\": [" LINK("x", "2", "\"access\": 10") "," LINK(
                "a", "0", "\"access\": 10") "," LINK("b", "1", "\"access\": 10") "]}",
            &err),
        0);
    assert_string_equal(where(r, 20, B), "");
    assert_at(r, B, 1);
    rig_free(r);
}

// ---- addresses of the configuration ----

#define STATIC(list)                                                                               \
    "{\"vlans\": [{\"vid\": 10, \"aging\": 10}, {\"vid\": 20}], " THREE_LINKS ", \"macs\": [" list \
    "]}"
#define A_IS_AT(link) "{\"vid\": 10, \"mac\": \"02:00:00:00:00:10\", \"link\": \"" link "\"}"

static void test_static_addresses_stay_where_they_are(void **state) {
    struct rig *r = rig_new(3, STATIC(A_IS_AT("a")));
    struct sk_error err;
    (void)state;
    assert_at(r, A, 0);
    eth_send(r, 1, ETH_BROADCAST, A, ETH_NO_TAG, 1); // it is not there
    assert_at(r, A, 0);
    rig_wait(r, 30000);
    assert_at(r, A, 0);
    rig_link(r, 0, false);
    rig_link(r, 0, true);
    assert_at(r, A, 0);
    assert_int_equal(rig_reload(r, STATIC(A_IS_AT("b")), &err), 0);
    assert_at(r, A, 1);
    assert_int_equal(rig_reload(r, STATIC(""), &err), 0);
    assert_flooded(r, A);
    eth_send(r, 1, ETH_BROADCAST, A, ETH_NO_TAG, 1);
    assert_at(r, A, 1);
    // one that was learned becomes static, and does not age then
    assert_int_equal(rig_reload(r, STATIC(A_IS_AT("a")), &err), 0);
    assert_at(r, A, 0);
    rig_wait(r, 30000);
    assert_at(r, A, 0);
    rig_free(r);
}

static void test_the_switchs_own_address(void **state) {
    static const char routed[] =
        "{\"mac\": \"" ETH_OWN_TEXT "\", \"vlans\": [{\"vid\": 10, "
        "\"addresses\": [\"10.0.0.1/24\"]}, {\"vid\": 20}], " THREE_LINKS "}";
    struct rig *r = rig_new(3, routed);
    (void)state;
    // to it: nobody else gets it
    eth_send(r, 0, ETH_OWN, A, ETH_NO_TAG, 1);
    eth_quiet(r);
    // in a VLAN without addresses it is nobody
    eth_send(r, 0, ETH_OWN, A, 20, 1);
    eth_expect(r, 1, ETH_OWN, A, 20, 1);
    eth_quiet(r);
    for (unsigned i = 0; i < 20; i++) {
        eth_send(r, 1, ETH_BROADCAST, ETH_OWN, ETH_NO_TAG, 1);
        eth_send(r, 1, ETH_BROADCAST, ETH_OWN, 20, 1);
    }
    assert_string_equal(where(r, 10, ETH_OWN), "");
    assert_string_equal(where(r, 20, ETH_OWN), "");
    assert_int_equal(rig_events(r, "alarm"), 1);
    assert_string_equal(last_alarm(r), "own address seen");
    assert_string_equal(sk_json_text(rig_event(r, "alarm"), "why"),
                        "a frame of VLAN 10 has the switch's own address as source");
    rig_forget(r);
    eth_send(r, 0, ETH_OWN, A, ETH_NO_TAG, 1);
    eth_quiet(r);
    rig_wait(r, 61000);
    eth_send(r, 1, ETH_BROADCAST, ETH_OWN, ETH_NO_TAG, 1);
    assert_int_equal(rig_events(r, "alarm"), 2);
    rig_free(r);
}

// ---- too many ----

// Three links in one VLAN, of which the first has limits of its own.
#define OF_A(limits)                                                                               \
    "{\"vlans\": [{\"vid\": 10}], \"links\": ["                                                    \
    "{\"name\": \"a\", \"port\": 0, \"access\": 10, \"limits\": {" limits "}},"                    \
    "{\"name\": \"b\", \"port\": 1, \"access\": 10}, {\"name\": \"c\", \"port\": 2, \"access\": "  \
    "10}]}"

static void test_learning_is_bounded(void **state) {
    struct rig *r = rig_new(3, section);
    (void)state;
    for (unsigned i = 0; i < 1500; i++) // at one time
        eth_send(r, 0, ETH_BROADCAST, 0x10000 + i, ETH_NO_TAG, 1);
    assert_int_equal(count(r, "count"), 1000);
    assert_int_equal(count(r, "limited"), 500);
    rig_wait(r, 100);
    for (unsigned i = 1000; i < 1500; i++)
        eth_send(r, 0, ETH_BROADCAST, 0x10000 + i, ETH_NO_TAG, 1);
    assert_int_equal(count(r, "count"), 1100); // 1000 a second of one link
    for (unsigned i = 2000; i < 2500; i++)
        eth_send(r, 1, ETH_BROADCAST, 0x10000 + i, ETH_NO_TAG, 1);
    assert_int_equal(count(r, "count"), 1400); // 4000 a second of all
    assert_string_equal(where(r, 10, 0x10000), "a");
    rig_free(r);
}

// 16384 entries less a sixteenth: who fills the table pushes out nobody but himself.
static void test_a_table_that_is_full(void **state) {
    const unsigned most = 16384 - 1024;
    // by itself a link may have half of it
    struct rig *r = rig_new(3, OF_A("\"addresses\": 16384"));
    (void)state;
    eth_send(r, 1, ETH_BROADCAST, B, ETH_NO_TAG, 1);
    eth_send(r, 2, ETH_BROADCAST, D, ETH_NO_TAG, 1);
    eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 1);
    for (unsigned i = 0; i < most + 500; i++) {
        if (i % 500 == 0)
            rig_wait(r, 500);
        if (i % 1000 == 0)
            eth_send(r, 0, B, A, ETH_NO_TAG, 1); // A is in use, among the others of its link
        eth_send(r, 0, B, 0x10000 + i, ETH_NO_TAG, 1);
        rig_forget(r);
    }
    assert_int_equal(count(r, "count"), most);
    assert_int_equal(count(r, "evicted"), 503);
    assert_int_equal(count(r, "limited"), 0);
    assert_int_equal(rig_events(r, "alarm"), 0); // nothing was refused
    assert_at(r, B, 1);
    assert_at(r, A, 0);
    assert_flooded(r, 0x10000); // the first of the crowd went
    assert_at(r, 0x10000 + most, 0);
    // a link that goes down empties it
    rig_link(r, 0, false);
    assert_int_equal(count(r, "count"), 2);
    rig_free(r);
}

static json_int_t of_link(struct rig *r, const char *link, const char *object, const char *member) {
    struct sk_error err;
    json_t *links = rig_request(r, "tor.links", NULL, &err), *item;
    json_int_t out = -1;
    size_t i;
    json_array_foreach(links, i, item) {
        const json_t *at = object ? json_object_get(item, object) : item;
        if (strcmp(sk_json_text(item, "link"), link) == 0 && json_object_get(at, member))
            out = json_integer_value(json_object_get(at, member));
    }
    json_decref(links);
    return out;
}

// Whoever is behind a link, with ever new addresses and with others' in turn, has no more of the
// table than the link may have, and learns no faster; which link it is, is told.
static void test_a_link_has_its_share(void **state) {
    struct rig *r = rig_new(3, OF_A("\"addresses\": 100, \"address_rate\": 50"));
    (void)state;
    eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 1);
    for (unsigned i = 0; i < 200; i++)
        eth_send(r, 1, ETH_BROADCAST, 0x20000 + i, ETH_NO_TAG, 1);
    for (unsigned i = 0; i < 80; i++)
        eth_send(r, 0, ETH_BROADCAST, 0x10000 + i, ETH_NO_TAG, 1);
    assert_int_equal(of_link(r, "a", NULL, "addresses"), 50); // the burst is a second's
    assert_int_equal(of_link(r, "a", "limited", "addresses"), 31);
    assert_int_equal(rig_events(r, "alarm"), 1);
    assert_string_equal(last_alarm(r), "address limit");
    assert_string_equal(sk_json_text(rig_event(r, "alarm"), "link"), "a");
    assert_string_equal(sk_json_text(rig_event(r, "alarm"), "why"),
                        "new addresses come faster than 50 a second");
    for (unsigned i = 100; i < 400; i++) { // slowly
        rig_wait(r, 20);
        eth_send(r, 0, B, A, ETH_NO_TAG, 1); // A is in use
        eth_send(r, 0, ETH_BROADCAST, 0x10000 + i, ETH_NO_TAG, 1);
        rig_forget(r);
    }
    assert_int_equal(of_link(r, "a", NULL, "addresses"), 100);
    assert_int_equal(of_link(r, "b", NULL, "addresses"), 200);
    assert_int_equal(of_link(r, "b", "limited", "addresses"), 0);
    assert_string_equal(where(r, 10, A), "a");
    assert_string_equal(where(r, 10, 0x10000 + 399), "a");
    // addresses of b, sent from a
    for (unsigned i = 0; i < 150; i++) {
        rig_wait(r, 20);
        eth_send(r, 0, ETH_BROADCAST, 0x20000 + i, ETH_NO_TAG, 1);
        rig_forget(r);
    }
    assert_int_equal(of_link(r, "a", NULL, "addresses"), 100);
    assert_int_equal(of_link(r, "b", NULL, "addresses"), 50);
    // back, and to c, which has room
    for (unsigned i = 100; i < 150; i++)
        eth_send(r, 2, ETH_BROADCAST, 0x20000 + i, ETH_NO_TAG, 1);
    assert_int_equal(of_link(r, "a", NULL, "addresses"), 50);
    assert_int_equal(of_link(r, "c", NULL, "addresses"), 50);
    assert_int_equal(rig_events(r, "alarm"), 1); // it is still on
    rig_wait(r, 62000);
    assert_int_equal(rig_events(r, "alarm"), 2);
    assert_true(json_is_false(json_object_get(rig_event(r, "alarm"), "on")));
    // as many as there are, whatever happens to them
    rig_link(r, 0, false);
    assert_int_equal(of_link(r, "a", NULL, "addresses"), 0);
    rig_link(r, 0, true);
    for (unsigned i = 0; i < 300; i++) {
        rig_wait(r, 20);
        eth_send(r, 0, ETH_BROADCAST, 0x30000 + i, ETH_NO_TAG, 1);
    }
    assert_int_equal(of_link(r, "a", NULL, "addresses"), 100);
    rig_free(r);
}

// ---- requests ----

static void test_what_is_shown_and_flushed(void **state) {
    struct rig *r = rig_new(3, STATIC(A_IS_AT("a")));
    struct sk_error err;
    (void)state;
    eth_send(r, 1, ETH_BROADCAST, B, ETH_NO_TAG, 1);
    eth_send(r, 1, ETH_BROADCAST, B, 20, 1);
    eth_send(r, 0, ETH_BROADCAST, C, 20, 1);
    rig_wait(r, 4000);
    json_t *got = rig_request(r, "tor.macs", "{\"op\": \"tor.macs\", \"vid\": 10}", &err);
    json_t *want = json_loads(
        "[{\"vid\": 10, \"mac\": \"02:00:00:00:00:10\", \"link\": \"a\", \"static\": true,"
        "  \"held\": false, \"since\": 4},"
        " {\"vid\": 10, \"mac\": \"02:00:00:00:00:11\", \"link\": \"b\", \"static\": false,"
        "  \"held\": false, \"since\": 4, \"idle\": 4}]",
        0, NULL);
    assert_non_null(want);
    assert_true(json_equal(json_object_get(got, "macs"), want));
    assert_int_equal(json_integer_value(json_object_get(got, "count")), 2);
    json_decref(got);
    json_decref(want);
    static const struct {
        const char *filter;
        int n;
    } filters[] = {{"{}", 4},
                   {"{\"link\": \"b\"}", 2},
                   {"{\"vid\": 20, \"link\": \"b\"}", 1},
                   {"{\"mac\": \"02:00:00:00:00:11\"}", 2},
                   {"{\"mac\": \"02:00:00:00:00:99\"}", 0}};
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        got = rig_request(r, "tor.macs", filters[i].filter, &err);
        assert_int_equal(json_integer_value(json_object_get(got, "count")), filters[i].n);
        json_decref(got);
    }
    got = rig_request(r, "tor.mac.flush", "{\"vid\": 20, \"link\": \"b\"}", &err);
    assert_int_equal(json_integer_value(json_object_get(got, "flushed")), 1);
    json_decref(got);
    assert_string_equal(where(r, 20, B), "");
    assert_string_equal(where(r, 10, B), "b");
    got = rig_request(r, "tor.mac.flush", NULL, &err);
    assert_int_equal(json_integer_value(json_object_get(got, "flushed")), 2);
    json_decref(got);
    assert_string_equal(where(r, 10, A), "a"); // static
    assert_flooded(r, B);
    rig_free(r);
}

static void test_requests_that_are_refused(void **state) {
    struct rig *r = rig_new(3, section);
    struct sk_error err;
    static const struct {
        const char *op, *request, *why;
    } bad[] = {
        {"tor.macs", "{\"vid\": 0}", "vid: a number from 1 to 4094 is expected"},
        {"tor.macs", "{\"vid\": 4095}", "vid: a number from 1 to 4094 is expected"},
        {"tor.macs", "{\"vid\": \"10\"}", "vid: a number from 1 to 4094 is expected"},
        {"tor.macs", "{\"link\": \"z\"}", "z: there is no link of that name"},
        {"tor.macs", "{\"link\": 3}", "link: a name is expected"},
        {"tor.macs", "{\"mac\": \"02:00\"}", "mac: an address like 02:00:00:00:00:01 is expected"},
        {"tor.macs", "{\"from\": -1}", "from: a number is expected"},
        {"tor.macs", "{\"form\": 1}", "form: there is no such member"},
        {"tor.mac.flush", "{\"from\": 1}", "from: there is no such member"}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(rig_request(r, bad[i].op, bad[i].request, &err));
        assert_string_equal(err.text, bad[i].why);
    }
    rig_free(r);
}

static void test_addresses_come_in_pages(void **state) {
    struct rig *r = rig_new(3, section);
    struct sk_error err;
    (void)state;
    for (unsigned i = 0; i < 600; i++)
        eth_send(r, 0, ETH_BROADCAST, 0x10000 + i, ETH_NO_TAG, 1);
    json_t *first = rig_request(r, "tor.macs", NULL, &err);
    assert_int_equal(json_array_size(json_object_get(first, "macs")), 512);
    assert_int_equal(json_integer_value(json_object_get(first, "next")), 512);
    json_t *second = rig_request(r, "tor.macs", "{\"from\": 512}", &err);
    assert_int_equal(json_array_size(json_object_get(second, "macs")), 88);
    assert_null(json_object_get(second, "next"));
    const json_t *one = json_array_get(json_object_get(second, "macs"), 0);
    assert_string_equal(json_string_value(json_object_get(one, "mac")), "02:00:00:01:02:00");
    json_decref(first);
    json_decref(second);
    rig_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_speaks_is_known),
        cmocka_unit_test(test_vlans_learn_apart),
        cmocka_unit_test(test_a_link_that_does_not_learn),
        cmocka_unit_test(test_sources_that_are_none),
        cmocka_unit_test(test_who_moves_is_found_there),
        cmocka_unit_test(test_who_moves_too_often_is_held),
        cmocka_unit_test(test_only_who_flaps_is_held),
        cmocka_unit_test(test_who_is_silent_is_forgotten),
        cmocka_unit_test(test_ageing_that_a_reload_changes),
        cmocka_unit_test(test_who_was_at_a_link_that_went_down_is_looked_for),
        cmocka_unit_test(test_what_a_reload_forgets),
        cmocka_unit_test(test_static_addresses_stay_where_they_are),
        cmocka_unit_test(test_the_switchs_own_address),
        cmocka_unit_test(test_learning_is_bounded),
        cmocka_unit_test(test_a_table_that_is_full),
        cmocka_unit_test(test_a_link_has_its_share),
        cmocka_unit_test(test_what_is_shown_and_flushed),
        cmocka_unit_test(test_requests_that_are_refused),
        cmocka_unit_test(test_addresses_come_in_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

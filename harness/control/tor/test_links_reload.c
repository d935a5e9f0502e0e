// SPDX-License-Identifier: Apache-2.0
//
// Links while sections change: what stays notices nothing, also between the writes; numbers; groups
// of others.
#include "harness/control/tor/links_section.h"

#include <stdio.h>
#include <stdlib.h>

#include "control/tables/attached.h"
#include "harness/control/tor/l3.h"

static uint64_t sent_by(struct rig *r, const char *port, const char *vid) {
    const struct sk_named_value key[] = {{"egress_port", port}, {"vid", vid}};
    const struct sk_entry_spec e = {.table = "vlans_out", .keys = key, .n_keys = 2, .pipe = -1};
    struct sk_data data;
    struct sk_error err;
    if (sk_control_entry_read(rig_switch(r), &e, &data, &err))
        fail_msg("%s", err.text);
    return strtoull(sk_data_find(&data, "PKTS"), NULL, 10);
}

static void test_other_vlans_notice_nothing_of_a_reload(void **state) {
    // VLAN 10 is renumbered, one of its links leaves it; 20 and 30 stay
    static const char other[] =
        "{\"mac\": \"" ETH_OWN_TEXT "\","
        " \"vlans\": [{\"vid\": 11}, {\"vid\": 20, \"name\": \"green\"}, {\"vid\": 30}],"
        " \"links\": [{\"name\": \"b\", \"port\": \"p1\", \"access\": 11},"
        "             {\"name\": \"up\", \"port\": \"p2\", \"trunk\": [11, 20], \"native\": 30},"
        "             {\"name\": \"c\", \"port\": \"p3\", \"access\": 20},"
        "             {\"name\": \"d\", \"port\": \"p4\", \"access\": 30},"
        "             {\"name\": \"a\", \"port\": \"p0\", \"access\": 20},"
        "             {\"name\": \"lag\", \"ports\": [\"p5\", \"p6\"], \"access\": 11}]}";
    struct rig *r = rig_new(7, links_section);
    struct sk_error err;
    const uint16_t up = named(r, "up")->interface, a = named(r, "a")->interface;
    (void)state;
    eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 1);
    eth_send(r, 3, ETH_BROADCAST, C, ETH_NO_TAG, 1);
    eth_send(r, 2, C, D, 20, 1);
    rig_forget(r);
    const uint64_t sent = sent_by(r, "3", "20");
    assert_int_equal(sent, 1);
    assert_int_equal(rig_reload(r, other, &err), 0);
    assert_int_equal(sent_by(r, "3", "20"), sent); // the entry was not written anew
    assert_int_equal(named(r, "up")->interface, up);
    assert_int_equal(named(r, "a")->interface, a);
    eth_send(r, 2, C, D, 20, 2); // still known
    eth_expect(r, 3, C, D, ETH_NO_TAG, 2);
    eth_quiet(r);
    eth_send(r, 1, A, B, ETH_NO_TAG, 3); // VLAN 11: A is not known there, nor in it
    eth_expect(r, 2, A, B, 11, 3);
    taken_from_lag(r, A, B, ETH_NO_TAG, 3);
    eth_quiet(r);
    eth_send(r, 2, A, B, 10, 4);
    eth_quiet(r);
    eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 5);
    eth_expect(r, 2, ETH_BROADCAST, A, 20, 5);
    eth_expect(r, 3, ETH_BROADCAST, A, ETH_NO_TAG, 5);
    eth_quiet(r);
    rig_free(r);
}

// ---- packets between the writes of a reload ----

struct traffic {
    struct rig *r;
    unsigned rounds;
    const char *when;
};

// What VLANs 20 and 30 do all the while: a known address, a flood, a LAG.
static void traffic(void *aux) {
    struct traffic *f = aux;
    uint8_t frame[64];
    const uint8_t mark = (uint8_t)++f->rounds;
    const struct {
        uint16_t from, to[2];
        uint32_t host, destination;
        unsigned tag, tags[2];
        size_t n;
    } flows[] = {{2, {3}, D, C, 20, {0}, 1},
                 {3, {2}, C, D, 0, {20}, 1},
                 {4, {2, 7}, E, ETH_BROADCAST, 0, {0, 0}, 2},
                 {2, {7}, 0x77, F, 0, {0}, 1}};
    for (size_t i = 0; i < sizeof flows / sizeof *flows; i++) {
        const size_t n = eth_frame(frame, flows[i].destination, flows[i].host, flows[i].tag, mark);
        rig_pass(f->r, flows[i].from, frame, n);
        for (size_t k = 0; k < flows[i].n; k++) {
            if (rig_count(f->r, flows[i].to[k]) != 1)
                fail_msg("%s, round %u: %zu frames of flow %zu left by port %u", f->when, f->rounds,
                         rig_count(f->r, flows[i].to[k]), i, flows[i].to[k]);
            eth_expect(f->r, flows[i].to[k], flows[i].destination, flows[i].host, flows[i].tags[k],
                       mark);
        }
        eth_quiet(f->r);
    }
}

// Sixty VLANs come, move to other links, are numbered otherwise, and go; links come and go; the
// others see nothing.
static char *changing(unsigned step) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const unsigned from = step == 3 ? 1000 : 100, vlans = step == 0 ? 0 : 60;
    fprintf(out, "{\"mac\": \"" ETH_OWN_TEXT "\", \"vlans\": [{\"vid\": 10}");
    for (unsigned i = 0; i < vlans; i++)
        fprintf(out, ", {\"vid\": %u, \"addresses\": [\"10.1.%u.1/24\"]}", from + i, i);
    fprintf(out, ", {\"vid\": 20}, {\"vid\": 30}], \"links\": [");
    for (uint16_t port = 0; port < 2; port++) {
        if (port == 1 && step == 2)
            continue;
        fprintf(out, "{\"name\": \"x%u\", \"port\": %u, \"trunk\": [10", port, port);
        for (unsigned i = 0; i < vlans; i++)
            if (step != 1 || i % 2 == port)
                fprintf(out, ", %u", from + i);
        fprintf(out, "], \"isolated\": %s}, ", step == 2 ? "true" : "false");
    }
    fprintf(out,
            "{\"name\": \"up\", \"port\": 2, \"trunk\": [20], \"native\": 30},"
            "{\"name\": \"c\", \"port\": 3, \"access\": 20},"
            "{\"name\": \"d\", \"port\": 4, \"access\": 30},"
            "{\"name\": \"e\", \"ports\": [7], \"access\": 30},"
            "{\"name\": \"lag\", \"ports\": [5%s], \"trunk\": [10]}]}",
            step % 2 ? ", 6" : "");
    fclose(out);
    return text;
}

static void test_packets_between_the_writes_of_a_reload(void **state) {
    static const unsigned steps[] = {0, 1, 2, 3, 0, 3, 1, 0, 2};
    char *text = changing(0);
    struct rig *r = rig_new(8, text);
    struct traffic f = {.r = r};
    struct sk_error err;
    (void)state;
    free(text);
    eth_send(r, 2, ETH_BROADCAST, D, 20, 0);
    eth_send(r, 3, ETH_BROADCAST, C, ETH_NO_TAG, 0);
    eth_send(r, 4, ETH_BROADCAST, E, ETH_NO_TAG, 0);
    eth_send(r, 7, ETH_BROADCAST, F, ETH_NO_TAG, 0);
    eth_send(r, 2, ETH_BROADCAST, 0x77, ETH_NO_TAG, 0);
    rig_forget(r);
    for (size_t i = 1; i < sizeof steps / sizeof *steps; i++) {
        const unsigned before = f.rounds;
        text = changing(steps[i]);
        rig_between_writes(r, traffic, &f);
        f.when = "while it changes";
        if (rig_reload(r, text, &err))
            fail_msg("%s", err.text);
        free(text);
        assert_true(f.rounds > before + 8);
        rig_between_writes(r, NULL, NULL);
        rig_forget(r);
        f.when = "afterwards";
        traffic(&f);
    }
    rig_free(r);
}

#define TWO_LINKS(name, lag)                                                                       \
    "{\"vlans\": [{\"vid\": 10}], \"links\": [{\"name\": \"" name                                  \
    "\", \"port\": 0, \"access\": 10},"                                                            \
    "{\"name\": \"b\", " lag ", \"access\": 10}]}"

static void test_a_number_is_not_anothers_soon(void **state) {
    struct rig *r = rig_new(3, TWO_LINKS("x", "\"port\": 1"));
    struct sk_error err;
    (void)state;
    uint16_t last = named(r, "x")->interface;
    assert_int_equal(last, 1);
    assert_int_equal(named(r, "b")->interface, 2);
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(
            rig_reload(r, i % 2 ? TWO_LINKS("x", "\"port\": 1") : TWO_LINKS("y", "\"port\": 1"),
                       &err),
            0);
        const uint16_t now = named(r, i % 2 ? "x" : "y")->interface;
        assert_int_equal(now, 3 + i);
        assert_null(tor_link_by_interface(rig_tor(r), last));
        assert_int_equal(named(r, "b")->interface, 2);
        last = now;
    }
    eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 1);
    eth_expect(r, 1, ETH_BROADCAST, A, ETH_NO_TAG, 1);
    eth_quiet(r);
    rig_free(r);
}

static void test_a_port_becomes_a_lag_and_back(void **state) {
    struct rig *r = rig_new(3, TWO_LINKS("a", "\"port\": 1"));
    struct sk_error err;
    (void)state;
    eth_send(r, 1, ETH_BROADCAST, B, ETH_NO_TAG, 1);
    rig_forget(r);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(rig_reload(r, TWO_LINKS("a", "\"ports\": [2, 1]"), &err), 0);
        eth_send(r, 0, B, A, ETH_NO_TAG, 2);
        eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 2);
        assert_int_equal(rig_count(r, 1) + rig_count(r, 2), 2);
        rig_forget(r);
        rig_link(r, 1, false);
        eth_send(r, 0, B, A, ETH_NO_TAG, 3);
        eth_expect(r, 2, B, A, ETH_NO_TAG, 3);
        rig_link(r, 1, true);
        assert_int_equal(rig_reload(r, TWO_LINKS("a", "\"port\": 1"), &err), 0);
        eth_send(r, 0, B, A, ETH_NO_TAG, 4);
        eth_expect(r, 1, B, A, ETH_NO_TAG, 4);
        eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 5);
        eth_expect(r, 1, ETH_BROADCAST, A, ETH_NO_TAG, 5);
        eth_quiet(r);
    }
    rig_free(r);
}

static void test_a_reload_that_is_refused_changes_nothing(void **state) {
    struct rig *r = rig_new(3, TWO_LINKS("a", "\"port\": 1"));
    struct sk_error err;
    (void)state;
    assert_int_not_equal(rig_reload(r, TWO_LINKS("c", "\"port\": 77"), &err), 0);
    assert_non_null(tor_link_by_name(rig_tor(r), "a"));
    eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 1);
    eth_expect(r, 1, ETH_BROADCAST, A, ETH_NO_TAG, 1);
    eth_quiet(r);
    rig_free(r);
}

// ---- groups for others ----

static void test_groups_have_the_links_that_are_asked_for(void **state) {
    struct rig *r = rig_new(7, links_section);
    struct tor *t = rig_tor(r);
    struct tor_link *links[3] = {named(r, "b"), named(r, "lag"), named(r, "b")};
    struct sk_error err;
    (void)state;
    const uint16_t mgid = tor_mgid_new(t);
    assert_true(mgid >= 4096);
    assert_int_not_equal(tor_mgid_new(t), mgid);
    tor_mcast_want(t, TOR_SNOOP_LEARNED, mgid, links, 3);
    tor_want(t->wanted, TOR_SNOOP_LEARNED,
             "entry destinations vid=10 dst_addr=01:00:5e:01:02:03 -> group group=%u", mgid);
    rig_wait(r, 1);
    eth_send(r, 0, ETH_GROUP, A, ETH_NO_TAG, 1);
    eth_expect(r, 1, ETH_GROUP, A, ETH_NO_TAG, 1);
    taken_from_lag(r, ETH_GROUP, A, ETH_NO_TAG, 1);
    eth_quiet(r);
    eth_send(r, 1, ETH_GROUP, B, ETH_NO_TAG, 2); // not back
    taken_from_lag(r, ETH_GROUP, B, ETH_NO_TAG, 2);
    eth_quiet(r);
    tor_mcast_want(t, TOR_SNOOP_LEARNED, mgid, links, 1);
    rig_wait(r, 1);
    eth_send(r, 0, ETH_GROUP, A, ETH_NO_TAG, 3);
    eth_expect(r, 1, ETH_GROUP, A, ETH_NO_TAG, 3);
    eth_quiet(r);
    tor_mcast_want(t, TOR_SNOOP_LEARNED, mgid, NULL, 0);
    rig_wait(r, 1);
    eth_send(r, 0, ETH_GROUP, A, ETH_NO_TAG, 4);
    eth_quiet(r);
    // a link that gets another port takes its groups along; one that goes leaves them
    tor_mcast_want(t, TOR_SNOOP_LEARNED, mgid, links, 2);
    assert_int_equal(rig_reload(r,
                                "{\"vlans\": [{\"vid\": 10}], \"links\": ["
                                "{\"name\": \"a\", \"port\": 0, \"access\": 10},"
                                "{\"name\": \"b\", \"port\": 3, \"access\": 10}]}",
                                &err),
                     0);
    tor_want(t->wanted, TOR_SNOOP_LEARNED,
             "entry destinations vid=10 dst_addr=01:00:5e:01:02:03 -> group group=%u", mgid);
    rig_wait(r, 1);
    eth_send(r, 0, ETH_GROUP, A, ETH_NO_TAG, 5);
    eth_expect(r, 3, ETH_GROUP, A, ETH_NO_TAG, 5);
    eth_quiet(r);
    tor_unwant(t->wanted, "entry destinations vid=10 dst_addr=01:00:5e:01:02:03");
    tor_mcast_unwant(t, mgid);
    tor_mgid_free(t, mgid);
    assert_int_equal(tor_mgid_new(t), mgid);
    rig_free(r);
}

static const char *session_of(struct rig *r, const char *port) {
    char object[64];
    snprintf(object, sizeof object, "entry ports ingress_port=%s", port);
    const char *as = l3_wanted(r, object), *session = as ? strstr(as, "session=") : NULL;
    return session ? session + strlen("session=") : "";
}

#define PROBED                                                                                     \
    "{\"vlans\": [{\"vid\": 10}], \"links\": [{\"name\": \"a\", \"port\": 0, \"access\": 10}, "    \
    "{\"name\": \"b\", \"port\": 1, \"access\": 10}, {\"name\": \"probe\", \"port\": 3}], "

// Sessions are by name: what stays in a reload keeps its number, whatever is in front of it now.
static void test_a_mirror_that_stays_keeps_its_session(void **state) {
#define MIRROR(name, link)                                                                         \
    "{\"name\": \"" name "\", \"to\": \"probe\", \"links\": [{\"link\": \"" link                   \
    "\", \"direction\": \"in\"}]}"
    static const struct {
        const char *mirrors, *sessions[2]; // of the ports 0 and 1
    } steps[] = {
        {MIRROR("m", "a") ", " MIRROR("n", "b"), {"1", "2"}},
        {MIRROR("n", "b") ", " MIRROR("m", "a"), {"1", "2"}}, // in another order
        {MIRROR("n", "b"), {"0", "2"}},
        {MIRROR("o", "a") ", " MIRROR("n", "b"), {"1", "2"}},
        {MIRROR("p", "a"), {"1", "0"}},
    };
    struct rig *r = NULL;
    struct sk_error err;
    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        char section[2000];
        snprintf(section, sizeof section, PROBED "\"mirrors\": [%s]}", steps[i].mirrors);
        if (!r)
            r = rig_new(5, section);
        else
            assert_int_equal(rig_reload(r, section, &err), 0);
        assert_string_equal(session_of(r, "0"), steps[i].sessions[0]);
        assert_string_equal(session_of(r, "1"), steps[i].sessions[1]);
    }
    // and the one that has it copies to where it goes
    eth_send(r, 0, ETH_BROADCAST, A, ETH_NO_TAG, 3);
    eth_expect(r, 1, ETH_BROADCAST, A, ETH_NO_TAG, 3);
    eth_expect(r, 3, ETH_BROADCAST, A, ETH_NO_TAG, 3);
    eth_quiet(r);
    rig_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_vlans_notice_nothing_of_a_reload),
        cmocka_unit_test(test_packets_between_the_writes_of_a_reload),
        cmocka_unit_test(test_a_number_is_not_anothers_soon),
        cmocka_unit_test(test_a_port_becomes_a_lag_and_back),
        cmocka_unit_test(test_a_reload_that_is_refused_changes_nothing),
        cmocka_unit_test(test_groups_have_the_links_that_are_asked_for),
        cmocka_unit_test(test_a_mirror_that_stays_keeps_its_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
//
// Access lists on the rig, packet by packet: what each field of a rule matches, what its actions
// do, counts; lists that change while packets come; rules that no packet meets; and the rest of
// policy.c.
#include "harness/control/tor/ethernet.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "control/tor/policy_impl.h"

// ---- packets ----

struct packet {
    int family;             // 4, 6, 0: no IP
    uint8_t from[4], to[4]; // IPv6: the last four bytes behind 2001:db8::
    uint8_t protocol, flags, dscp;
    uint16_t from_port, to_port, ether_type;
    uint32_t from_mac, to_mac;
    unsigned tag;
};

static size_t put_ip(uint8_t *out, const struct packet *p, uint16_t length) {
    static const uint8_t prefix[12] = {0x20, 1, 0x0d, 0xb8};
    if (p->family == 4) {
        const uint8_t head[20] = {0x45, (uint8_t)(p->dscp << 2), 0, 0, 0, 0, 0, 0, 64, p->protocol};
        memcpy(out, head, sizeof head);
        put16(out + 2, 20u + length);
        memcpy(out + 12, p->from, 4);
        memcpy(out + 16, p->to, 4);
        put16(out + 10, internet_checksum(0, out, 20));
        return 20;
    }
    const uint8_t head[8] = {
        (uint8_t)(0x60 | p->dscp >> 2), (uint8_t)(p->dscp << 6), 0, 0, 0, 0, p->protocol, 64};
    memcpy(out, head, sizeof head);
    put16(out + 4, length);
    memcpy(out + 8, prefix, 12);
    memcpy(out + 20, p->from, 4);
    memcpy(out + 24, prefix, 12);
    memcpy(out + 36, p->to, 4);
    return 40;
}

static size_t frame_of(uint8_t out[128], const struct packet *p) {
    size_t n = 12;
    memset(out, 0, 128);
    eth_address(out, p->to_mac ? p->to_mac : 0x99);
    eth_address(out + 6, p->from_mac ? p->from_mac : 0x11);
    if (p->tag) {
        put16(out + n, 0x8100);
        put16(out + n + 2, p->tag);
        n += 4;
    }
    put16(out + n, p->family == 4   ? 0x0800
                   : p->family == 6 ? 0x86dd
                   : p->ether_type  ? p->ether_type
                                    : 0x88b5);
    n += 2;
    if (p->family)
        n += put_ip(out + n, p, 20);
    put16(out + n, p->from_port);
    put16(out + n + 2, p->to_port);
    out[n + 12] = 0x50;
    out[n + 13] = p->flags;
    return n + 20 < 60 ? 60 : n + 20;
}

// Comes in by p0, and the control plane does not get to do anything. Whether it left by p1.
static bool passes_now(struct rig *r, const struct packet *p) {
    uint8_t frame[128];
    const size_t n = frame_of(frame, p);
    sk_switch_rx(rig_switch(r), 0, frame, (uint32_t)n, rig_now(r));
    sk_switch_run(rig_switch(r), rig_now(r));
    const bool passed = rig_count(r, 1) > 0;
    rig_forget(r);
    return passed;
}
static bool passes(struct rig *r, const struct packet *p) {
    uint8_t frame[128];
    rig_send(r, 0, frame, frame_of(frame, p));
    const bool passed = rig_count(r, 1) > 0;
    rig_forget(r);
    return passed;
}

// ---- sections: ' for " ----

static char *quoted(char *text) {
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return text;
}

// p0 has the list; p1 is where frames arrive, p2 where mirrors go.
static char *section_of(const char *lists, const char *acl, const char *more) {
    char *text = NULL;
    const int n = asprintf(
        &text,
        "{'mac': '" ETH_OWN_TEXT
        "', 'vlans': [{'vid': 10, 'addresses': ['192.0.2.1/24']}, {'vid': 20}],"
        " 'links': [{'name': 'a', 'port': 'p0', 'trunk': [20], 'native': 10, 'learn': false%s%s%s},"
        "           {'name': 'b', 'port': 'p1', 'trunk': [20], 'native': 10, 'learn': false},"
        "           {'name': 'probe', 'port': 'p2'}],"
        " 'mirrors': [{'name': 'm', 'to': 'probe'}], 'acls': [%s]%s}",
        acl ? ", 'acl': '" : "", acl ? acl : "", acl ? "'" : "", lists, more);
    assert_true(n > 0);
    return quoted(text);
}

static char *list_of(const char *rules) {
    char *lists = NULL;
    const int n = asprintf(&lists, "{'name': 'l', 'rules': [%s]}", rules);
    assert_true(n > 0);
    char *text = section_of(lists, "l", "");
    free(lists);
    return text;
}

static struct rig *rig_of(const char *rules) {
    char *section = list_of(rules);
    struct rig *r = rig_new(3, section);
    free(section);
    return r;
}

// ---- what a rule matches ----

static const struct match_case {
    const char *rule; // behind "action": "deny"
    struct packet hit, miss;
} matches[] = {
    {"'from': '10.1.0.0/16'", {4, .from = {10, 1, 255, 255}}, {4, .from = {10, 2, 0, 0}}},
    {"'from': '10.1.0.0/16'", {4, .from = {10, 1, 0, 0}}, {6, .from = {10, 1, 0, 0}}},
    {"'to': '10.1.2.3'", {4, .to = {10, 1, 2, 3}}, {4, .to = {10, 1, 2, 2}}},
    {"'from': '10.0.0.0/8', 'to': '10.1.0.0/17'",
     {4, .from = {10, 9, 9, 9}, .to = {10, 1, 127, 1}},
     {4, .from = {10, 9, 9, 9}, .to = {10, 1, 128, 1}}},
    {"'family': 'ipv4'", {4, .protocol = 99}, {6, .protocol = 99}},
    {"'family': 'ipv6'", {6, .protocol = 99}, {0}},
    {"'family': 'ethernet'", {0}, {.family = 4}},
    {"'from': '2001:db8::a00:0/104'", {6, .from = {10, 1, 1, 1}}, {6, .from = {11, 1, 1, 1}}},
    {"'to': '2001:db8::7'", {6, .to = {0, 0, 0, 7}}, {6, .to = {0, 0, 0, 6}}},
    {"'family': 'ipv4', 'protocol': 'udp'", {4, .protocol = 17}, {4, .protocol = 6}},
    {"'family': 'ipv4', 'protocol': 47", {4, .protocol = 47}, {4, .protocol = 46}},
    {"'family': 'ipv6', 'protocol': 'icmpv6'", {6, .protocol = 58}, {6, .protocol = 17}},
    {"'family': 'ipv4', 'protocol': 'tcp', 'to_port': 80",
     {4, .protocol = 6, .to_port = 80},
     {4, .protocol = 6, .to_port = 81}},
    {"'family': 'ipv4', 'protocol': 'tcp', 'to_port': 80",
     {4, .protocol = 6, .to_port = 80},
     {4, .protocol = 17, .to_port = 80}},
    {"'family': 'ipv4', 'protocol': 'udp', 'from_port': '1000-2000'",
     {4, .protocol = 17, .from_port = 1000},
     {4, .protocol = 17, .from_port = 999}},
    {"'family': 'ipv4', 'protocol': 'udp', 'from_port': '1000-2000'",
     {4, .protocol = 17, .from_port = 2000},
     {4, .protocol = 17, .from_port = 2001}},
    {"'family': 'ipv6', 'protocol': 'tcp', 'from_port': '1-3', 'to_port': '7-8'",
     {6, .protocol = 6, .from_port = 2, .to_port = 8},
     {6, .protocol = 6, .from_port = 2, .to_port = 9}},
    {"'family': 'ipv4', 'protocol': 'tcp', 'tcp_flags': 'syn,!ack'",
     {4, .protocol = 6, .flags = 0x02},
     {4, .protocol = 6, .flags = 0x12}},
    {"'family': 'ipv4', 'protocol': 'tcp', 'tcp_flags': 'syn,!ack'",
     {4, .protocol = 6, .flags = 0xc2},
     {4, .protocol = 6, .flags = 0x10}},
    {"'family': 'ipv4', 'dscp': 46", {4, .dscp = 46}, {4, .dscp = 45}},
    {"'family': 'ipv6', 'dscp': 46", {6, .dscp = 46}, {6, .dscp = 0}},
    {"'family': 'ipv4', 'vid': 20", {4, .tag = 20}, {4, .tag = 0}},
    {"'family': 'ethernet', 'vid': 10", {0}, {0, .tag = 20}},
    {"'from_mac': '02:00:00:00:00:12'", {0, .from_mac = 0x12}, {0, .from_mac = 0x13}},
    {"'to_mac': 'ff:ff:ff:ff:ff:ff'", {0, .to_mac = ETH_BROADCAST}, {0, .to_mac = 0x13}},
    {"'ether_type': '0x88b5'", {0}, {0, .ether_type = 0x88b6}},
    {"'ether_type': '0x88b5'", {0, .tag = 20}, {0, .ether_type = 0x88b6, .tag = 20}},
};

static void test_what_a_rule_matches(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof matches / sizeof *matches; i++) {
        char rule[512];
        snprintf(rule, sizeof rule, "{'action': 'deny', %s}", matches[i].rule);
        struct rig *r = rig_of(rule);
        if (passes(r, &matches[i].hit))
            fail_msg("%s: it is not met", matches[i].rule);
        if (!passes(r, &matches[i].miss))
            fail_msg("%s: it is met", matches[i].rule);
        assert_int_equal(rig_events(r, "alarm"), 0);
        rig_free(r);
    }
}

static void test_the_first_rule_decides(void **state) {
    (void)state;
    struct rig *r = rig_of("{'action': 'deny', 'from': '10.1.1.1'},"
                           "{'action': 'permit', 'from': '10.1.0.0/16'},"
                           "{'action': 'deny', 'from': '10.0.0.0/8'}");
    assert_false(passes(r, &(struct packet){4, .from = {10, 1, 1, 1}}));
    assert_true(passes(r, &(struct packet){4, .from = {10, 1, 1, 2}}));
    assert_false(passes(r, &(struct packet){4, .from = {10, 2, 1, 1}}));
    assert_true(passes(r, &(struct packet){4, .from = {11, 2, 1, 1}})); // no rule
    rig_free(r);
}

static void test_a_list_is_for_its_links_only(void **state) {
    (void)state;
    uint8_t frame[128];
    struct rig *r = rig_of("{'action': 'deny', 'family': 'ipv4'}");
    rig_send(r, 1, frame, frame_of(frame, &(struct packet){.family = 4}));
    assert_int_equal(rig_count(r, 0), 1);
    rig_free(r);
}

static void test_copies_and_mirrors(void **state) {
    (void)state;
    uint8_t frame[128], got[RIG_FRAME];
    struct rig *r = rig_of("{'action': 'copy', 'from': '10.1.1.1'},"
                           "{'action': 'mirror', 'mirror': 'm', 'from': '10.1.1.2'}");
    assert_true(passes(r, &(struct packet){4, .from = {10, 1, 1, 1}}));
    assert_int_equal(rig_tor(r)->frames_in[TOR_REASON_ACL], 1);
    const size_t n = frame_of(frame, &(struct packet){4, .from = {10, 1, 1, 2}});
    rig_send(r, 0, frame, n);
    assert_int_equal(rig_count(r, 1), 1);
    assert_int_equal(rig_take(r, 2, got), n);
    assert_memory_equal(got, frame, n);
    assert_int_equal(rig_tor(r)->frames_in[TOR_REASON_ACL], 1);
    rig_free(r);
}

// A rule that copies does not take from the control plane what it gets for another reason.
static void test_a_copy_keeps_the_reason(void **state) {
    (void)state;
    struct rig *r =
        rig_of("{'action': 'copy', 'family': 'ethernet'}, {'action': 'copy', 'family': 'ipv4'}");
    const struct packet arp = {0, .ether_type = 0x0806, .to_mac = ETH_BROADCAST},
                        own = {.family = 4,
                               .to = {172, 16, 0, 1},
                               .to_mac = ETH_OWN}, // to be routed, and there is no route
        igmp = {.family = 4, .protocol = 2, .to_mac = ETH_GROUP};
    struct tor *t = rig_tor(r);
    assert_true(passes(r, &arp));
    assert_int_equal(t->frames_in[TOR_REASON_ARP], 1);
    assert_int_equal(t->frames_in[TOR_REASON_ACL], 1);
    passes(r, &own);
    assert_int_equal(t->frames_in[TOR_REASON_NO_ROUTE], 1);
    assert_int_equal(t->frames_in[TOR_REASON_ACL], 2);
    passes(r, &igmp);
    assert_int_equal(t->frames_in[TOR_REASON_SNOOP], 1);
    assert_int_equal(t->frames_in[TOR_REASON_ACL], 3);
    assert_int_equal(t->frames_bad, 0);
    rig_free(r);
}

// ---- requests ----

static json_t *ask(struct rig *r, const char *op, const char *members) {
    struct sk_error err = {""};
    char *text = members ? quoted(strdup(members)) : NULL;
    json_t *result = rig_request(r, op, text, &err);
    free(text);
    if (!result)
        fail_msg("%s", err.text);
    return result;
}

static int64_t count_of(struct rig *r, size_t rule, const char *what) {
    json_t *lists = ask(r, "tor.acl", "{'list': 'l'}");
    json_t *rules = json_object_get(json_array_get(lists, 0), "rules");
    const int64_t n = json_integer_value(json_object_get(json_array_get(rules, rule), what));
    json_decref(lists);
    return n;
}

static void test_counts(void **state) {
    (void)state;
    struct rig *r = rig_of("{'action': 'permit', 'family': 'ipv4', 'protocol': 'tcp', 'to_port': "
                           "'1-6'}, {'action': 'deny', 'from': '10.0.0.0/8', 'protocol': 17}");
    for (uint16_t port = 0; port < 8; port++)
        assert_true(passes(r, &(struct packet){4, .protocol = 6, .to_port = port}));
    assert_false(passes(r, &(struct packet){4, .from = {10, 1, 1, 1}, .protocol = 17}));
    assert_int_equal(count_of(r, 0, "packets"), 6); // of four entries: 1, 2-3, 4-5, 6
    assert_int_equal(count_of(r, 0, "entries"), 4);
    assert_true(count_of(r, 0, "bytes") >= 6 * 60);
    assert_int_equal(count_of(r, 1, "packets"), 1);
    json_t *lists = ask(r, "tor.acl", NULL), *l = json_array_get(lists, 0),
           *rules = json_object_get(l, "rules");
    assert_int_equal(json_array_size(lists), 1);
    assert_string_equal(json_string_value(json_object_get(l, "list")), "l");
    assert_string_equal(json_string_value(json_array_get(json_object_get(l, "links"), 0)), "a");
    assert_string_equal(json_string_value(json_object_get(json_array_get(rules, 0), "text")),
                        "permit ipv4 protocol 6 to_port 1-6");
    assert_string_equal(json_string_value(json_object_get(json_array_get(rules, 1), "text")),
                        "deny ipv4 from 10.0.0.0/8 protocol 17");
    json_decref(lists);
    rig_free(r);
}

static void test_which_rule_a_packet_would_meet(void **state) {
    (void)state;
    static const struct {
        const char *packet, *wanted;
    } cases[] = {
        {"{'from': '10.1.1.1', 'protocol': 'tcp', 'to_port': 80}", "0 permit"},
        {"{'from': '10.1.1.1', 'protocol': 'tcp', 'to_port': '81'}", "1 deny"},
        {"{'from': '11.1.1.1', 'protocol': 'tcp', 'to_port': 80}", "- permit"},
        {"{'family': 'ipv4', 'vid': 20}", "2 copy"},
        {"{'from': '2001:db8::1', 'protocol': 'tcp', 'tcp_flags': 'syn'}", "3 deny"},
        {"{'from': '2001:db8::1', 'protocol': 'tcp', 'tcp_flags': 'syn,ack'}", "- permit"},
        {"{'from_mac': '02:00:00:00:00:07', 'ether_type': '0x0806'}", "4 mirror"},
    };
    struct rig *r =
        rig_of("{'action': 'permit', 'from': '10.0.0.0/8', 'protocol': 'tcp', 'to_port': 80},"
               "{'action': 'deny', 'from': '10.0.0.0/8'},"
               "{'action': 'copy', 'family': 'ipv4', 'vid': 20},"
               "{'action': 'deny', 'family': 'ipv6', 'protocol': 'tcp', 'tcp_flags': 'syn,!ack'},"
               "{'action': 'mirror', 'mirror': 'm', 'ether_type': 2054}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char request[256], got[64];
        snprintf(request, sizeof request, "{'list': 'l', 'packet': %s}", cases[i].packet);
        json_t *result = ask(r, "tor.acl.test", request), *rule = json_object_get(result, "rule");
        snprintf(got, sizeof got, rule ? "%lld %s" : "-%.0lld %s",
                 (long long)json_integer_value(rule),
                 json_string_value(json_object_get(result, "action")));
        assert_string_equal(got, cases[i].wanted);
        json_decref(result);
    }
    rig_free(r);
}

static void test_requests_that_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *op, *members, *sentence;
    } cases[] = {
        {"tor.acl", "{'list': 'k'}", "there is no access list 'k'"},
        {"tor.acl", "{'list': 7}", "list: it must be the name of a list"},
        {"tor.acl.test", "{'packet': {}}", "list: it must be the name of a list"},
        {"tor.acl.test", "{'list': 'l'}", "it must be an object"},
        {"tor.acl.test", "{'list': 'l', 'packet': {}}", "family: it is missing"},
        {"tor.acl.test", "{'list': 'l', 'packet': {'from': '10.0.0.0/8'}}",
         "from: a packet has one"},
        {"tor.acl.test",
         "{'list': 'l', 'packet': {'family': 'ipv4', 'protocol': 'tcp', 'to_port': '1-2'}}",
         "to_port: a packet has one"},
        {"tor.acl.test", "{'list': 'l', 'packet': {'family': 'ipv4', 'action': 'deny'}}",
         "action: a packet has none"},
        {"tor.acl.test", "{'list': 'l', 'packet': {'family': 'ipv4', 'vid': 30}}",
         "vid: VLAN 30 is not among tor.vlans"},
        {"tor.acl.test", "{'list': 'l', 'packet': {'family': 'ipv4', 'colour': 1}}",
         "colour: unknown key"},
    };
    struct rig *r = rig_of("");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sk_error err = {""};
        char *members = quoted(strdup(cases[i].members));
        assert_null(rig_request(r, cases[i].op, members, &err));
        free(members);
        if (!strstr(err.text, cases[i].sentence))
            fail_msg("'%s', and not '%s'", err.text, cases[i].sentence);
    }
    rig_free(r);
}

static void reload_only(struct rig *r, const char *section) {
    struct sk_error err = {""};
    struct tor *t = rig_tor(r);
    const struct tor_host host = t->host;
    json_t *root = json_loads(section, 0, NULL);
    assert_non_null(root);
    struct sk_json doc = {.name = "tor"};
    const struct sk_at at = {.doc = &doc, .value = root};
    if (tor_reload(t, &host, &at, &err))
        fail_msg("%s", err.text);
    sk_json_release(&doc);
    json_decref(root);
}

// ---- rules that no packet meets ----

static void test_rules_that_no_packet_meets(void **state) {
    (void)state;
    static const struct {
        const char *rules, *wanted; // which are told, and by whom they are shadowed
    } cases[] = {
        {"{'action': 'deny', 'family': 'ipv4'}, {'action': 'permit', 'from': '10.0.0.0/8'}",
         "1 rules[0] "},
        {"{'action': 'deny', 'family': 'ipv4'}, {'action': 'permit', 'from': '2001:db8::/32'}", ""},
        {"{'action': 'deny', 'from': '10.0.0.0/9'}, {'action': 'deny', 'from': '10.128.0.0/9'},"
         "{'action': 'permit', 'from': '10.0.0.0/8', 'protocol': 'tcp'}",
         "2 the rules before it "},
        {"{'action': 'deny', 'from': '10.0.0.0/9'}, {'action': 'deny', 'from': '10.128.0.0/10'},"
         "{'action': 'permit', 'from': '10.0.0.0/8'}",
         ""},
        {"{'action': 'deny', 'family': 'ipv4', 'protocol': 'tcp', 'to_port': '0-1023'},"
         "{'action': 'deny', 'family': 'ipv4', 'protocol': 'tcp', 'to_port': '1000-65535'},"
         "{'action': 'permit', 'family': 'ipv4', 'protocol': 'tcp', 'from_port': '7-70'},"
         "{'action': 'permit', 'family': 'ipv4', 'protocol': 'udp', 'from_port': '7-70'}",
         "2 the rules before it "},
        {"{'action': 'deny', 'family': 'ipv4', 'protocol': 'tcp', 'to_port': '10-20'},"
         "{'action': 'permit', 'family': 'ipv4', 'protocol': 'tcp', 'to_port': '12-18'},"
         "{'action': 'permit', 'family': 'ipv4', 'protocol': 'tcp', 'to_port': '12-21'},"
         "{'action': 'permit', 'family': 'ipv4', 'protocol': 'tcp', 'to_port': 21}",
         "1 rules[0] 3 rules[2] "},
        {"{'action': 'deny', 'ether_type': 2054}, {'action': 'permit', 'family': 'ethernet', "
         "'vid': "
         "10}, {'action': 'permit', 'ether_type': 2054, 'vid': 10}, {'action': 'permit', "
         "'from_mac': '02:00:00:00:00:01', 'vid': 10}",
         "2 rules[0] 3 rules[1] "},
        {"{'action': 'deny', 'family': 'ipv4', 'protocol': 'tcp', 'tcp_flags': 'syn'},"
         "{'action': 'deny', 'family': 'ipv4', 'protocol': 'tcp', 'tcp_flags': '!syn'},"
         "{'action': 'permit', 'family': 'ipv4', 'protocol': 6, 'dscp': 3}",
         "2 the rules before it "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig *r = rig_of(cases[i].rules);
        char got[256] = "";
        json_t *lists = ask(r, "tor.acl", NULL), *rule;
        size_t k;
        json_array_foreach(json_object_get(json_array_get(lists, 0), "rules"), k, rule) {
            if (!json_object_get(rule, "unreachable"))
                continue;
            snprintf(got + strlen(got), sizeof got - strlen(got), "%zu ", k);
        }
        json_decref(lists);
        // "1 3 " of "1 rules[0] 3 rules[2] "
        char wanted[256] = "", *rest = strdup(cases[i].wanted), *text = rest, *word;
        size_t told = 0;
        while ((word = strsep(&rest, " ")))
            if (*word >= '0' && *word <= '9') {
                snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), "%s ", word);
                told++;
            }
        free(text);
        assert_string_equal(got, wanted);
        assert_int_equal(rig_events(r, "warning"), told);
        char *same = list_of(cases[i].rules);
        reload_only(r, same); // it is told once
        free(same);
        assert_int_equal(rig_events(r, "warning"), told);
        if (told == 1)
            assert_non_null(
                strstr(json_string_value(json_object_get(rig_event(r, "warning"), "text")),
                       strchr(cases[i].wanted, ' ')));
        rig_free(r);
    }
}

// ---- from one list to another, with packets in between ----

static unsigned seed;
static unsigned pick(unsigned n) {
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % n;
}

// Rules over few addresses and ports, so that they meet each other.
static void random_rules(char *out, size_t size, unsigned n) {
    static const char *const from[] = {"10.0.0.0/30", "10.0.0.0/31", "10.0.0.2/31", "10.0.0.1",
                                       "10.0.0.3"},
                             *const ports[] = {"1", "2-3", "0-1", "1-3", "0-2"};
    *out = '\0';
    for (unsigned i = 0; i < n; i++) {
        char more[128] = "";
        if (pick(2))
            snprintf(more, sizeof more, ", 'protocol': 'udp', 'to_port': '%s'", ports[pick(5)]);
        snprintf(out + strlen(out), size - strlen(out), "%s{'action': '%s', 'from': '%s'%s}",
                 i ? ", " : "", pick(2) ? "deny" : "permit", from[pick(5)], more);
    }
}
#define PACKETS 16
static struct packet some_packet(unsigned i) {
    return (struct packet){4, .from = {10, 0, 0, (uint8_t)(i & 3)}, .protocol = 17,
                           .to_port = (uint16_t)(i >> 2)};
}

static void one_write(struct rig *r) {
    tor_wanted_flush(rig_tor(r)->wanted, rig_switch(r), 1, NULL, NULL);
}
static bool waits(struct rig *r) {
    return tor_wanted_waits(rig_tor(r)->wanted);
}
static void run_policy(struct rig *r) {
    tor_policy_module.run(rig_tor(r), rig_tor(r)->states[TOR_MODULE_POLICY], rig_now(r));
}

// Every packet, after every write, has the old list's verdict or the new one's. Returns how many
// writes.
static unsigned change(struct rig *r, const char *section, const bool old[PACKETS],
                       const bool new[PACKETS]) {
    unsigned writes = 0;
    reload_only(r, section);
    for (int phase = 0; phase < 2; phase++) {
        for (; waits(r); writes++) {
            one_write(r);
            for (unsigned i = 0; i < PACKETS; i++) {
                const struct packet p = some_packet(i);
                const bool passed = passes_now(r, &p);
                if (passed != old[i] && passed != new[i])
                    fail_msg("packet %u %s after %u writes", i, passed ? "passes" : "is dropped",
                             writes + 1);
            }
        }
        run_policy(r);
    }
    assert_false(waits(r));
    return writes;
}

static void verdicts(struct rig *r, bool out[PACKETS]) {
    for (unsigned i = 0; i < PACKETS; i++) {
        const struct packet p = some_packet(i);
        out[i] = passes_now(r, &p);
    }
}

// What Open vSwitch's classifier says about the list.
static void verdicts_of(struct rig *r, const char *section, bool out[PACKETS]) {
    struct sk_error err = {""};
    json_t *root = json_loads(section, 0, NULL);
    struct sk_json doc = {.name = "tor"};
    const struct sk_at at = {.doc = &doc, .value = root};
    struct tor_section *s = tor_section_read(&at, &rig_tor(r)->host, &err);
    assert_non_null(s);
    struct policy_classifier *c = policy_classifier_new(&s->acls[0]);
    for (unsigned i = 0; i < PACKETS; i++) {
        const struct packet p = some_packet(i);
        const struct tor_rule packet = {.family = TOR_IPV4,
                                        .from = {tor_ipv4(0x0a000000u + p.from[3]), 128},
                                        .to = {tor_ipv4(0), 128},
                                        .has_protocol = true,
                                        .protocol = 17,
                                        .to_port = {p.to_port, p.to_port},
                                        .tcp_flags_mask = 0xff,
                                        .has_dscp = true};
        const uint32_t rule = policy_classify(c, &packet);
        out[i] = rule == TOR_NONE || s->acls[0].rules[rule].action == TOR_PERMIT;
    }
    policy_classifier_free(c);
    tor_section_free(s);
    sk_json_release(&doc);
    json_decref(root);
}

static void test_packets_while_a_list_changes(void **state) {
    (void)state;
    char rules[4096];
    seed = 7;
    struct rig *r = rig_of("");
    bool old[PACKETS], new[PACKETS], got[PACKETS];
    unsigned differ = 0;
    verdicts(r, old);
    for (unsigned round = 0; round < 60; round++) {
        random_rules(rules, sizeof rules, 1 + pick(8));
        char *section = list_of(rules);
        verdicts_of(r, section, new);
        differ += memcmp(old, new, sizeof old) != 0;
        change(r, section, old, new);
        free(section);
        verdicts(r, got);
        assert_memory_equal(got, new, sizeof got);
        memcpy(old, new, sizeof old);
    }
    assert_true(differ > 30);
    assert_int_equal(rig_events(r, "alarm"), 0);
    rig_free(r);
}

#define STAY "{'action': 'permit', 'from': '10.0.0.1'}, {'action': 'deny', 'from': '10.0.0.2'},"
static void test_one_rule_changes_and_the_others_are_not_touched(void **state) {
    (void)state;
    static const bool open[PACKETS] = {1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1},
                      shut[PACKETS] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1},
                      all_shut[PACKETS] = {0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0};
    struct rig *r = rig_of(STAY "{'action': 'deny', 'family': 'ipv4', 'protocol': 99}");
    bool got[PACKETS];
    verdicts(r, got);
    assert_memory_equal(got, open, sizeof got);
    char *section = list_of(STAY "{'action': 'deny', 'from': '10.0.0.0'}, {'action': 'deny', "
                                 "'family': 'ipv4', 'protocol': 99}");
    assert_int_equal(change(r, section, open, shut), 1);
    free(section);
    section = list_of(STAY "{'action': 'deny', 'from': '10.0.0.0/24'}, {'action': 'deny', "
                           "'family': 'ipv4', 'protocol': 99}");
    assert_int_equal(change(r, section, shut, all_shut), 2);
    free(section);
    assert_true(count_of(r, 0, "packets") >= 3 * 4); // it counts from the first list on
    section = list_of("{'action': 'deny', 'family': 'ipv4', 'protocol': 99}");
    bool all[PACKETS];
    memset(all, 1, sizeof all);
    assert_int_equal(change(r, section, all_shut, all), 3);
    free(section);
    rig_free(r);
}

static void test_a_port_gets_another_list(void **state) {
    (void)state;
    static const char both[] =
        "{'name': 'first', 'rules': [{'action': 'deny', 'from': '10.0.0.1'},"
        " {'action': 'permit', 'from': '10.0.0.0/31'}, {'action': 'deny', 'family': 'ipv4'}]},"
        "{'name': 'l', 'rules': [{'action': 'permit', 'from': '10.0.0.1'},"
        " {'action': 'deny', 'family': 'ipv4'}]}",
                      one[] = "{'name': 'l', 'rules': [{'action': 'permit', 'from': '10.0.0.1'},"
                              " {'action': 'deny', 'family': 'ipv4'}]}";
    static const bool none[PACKETS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                      first[PACKETS] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0},
                      second[PACKETS] = {0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0};
    char *section = section_of("", NULL, "");
    struct rig *r = rig_new(3, section);
    free(section);
    static const struct {
        const char *lists, *acl;
        const bool *old, *new;
    } steps[] = {{one, "l", none, second},       {both, "first", second, first},
                 {both, "l", first, second},     {one, "l", second, second},
                 {both, "first", second, first}, {"", NULL, first, none}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        bool got[PACKETS];
        section = section_of(steps[i].lists, steps[i].acl, "");
        change(r, section, steps[i].old, steps[i].new);
        free(section);
        verdicts(r, got);
        assert_memory_equal(got, steps[i].new, sizeof got);
    }
    rig_free(r);
}

// 'n' rules that are one entry each, behind one for packets of 10.0.0.1.
static char *many(unsigned n, unsigned first, const char *action) {
    char *rules = malloc(100 * (n + 1));
    assert_non_null(rules);
    size_t used = (size_t)sprintf(rules, "{'action': '%s', 'from': '10.0.0.1'}", action);
    for (unsigned i = 0; i < n; i++)
        used += (size_t)sprintf(rules + used, ", {'action': 'deny', 'from': '11.0.%u.%u'}",
                                (first + i) / 256, (first + i) % 256);
    char *section = list_of(rules);
    free(rules);
    return section;
}

static void test_lists_that_do_not_fit_beside_each_other(void **state) {
    (void)state;
    const struct packet one = some_packet(1), in_old = {4, .from = {11, 0, 0, 5}},
                        in_new = {4, .from = {11, 0, 2, 5}};
    char *section = many(511, 0, "permit");
    struct rig *r = rig_new(3, section);
    free(section);
    assert_true(passes(r, &one));
    assert_false(passes(r, &in_old));
    section = many(511, 512, "deny");
    reload_only(r, section);
    free(section);
    assert_false(passes_now(r, &one)); // all of it was in one pause
    assert_true(passes_now(r, &in_old));
    assert_false(passes_now(r, &in_new));
    section = many(511, 512, "permit"); // one rule, and no room for another
    reload_only(r, section);
    free(section);
    assert_true(passes_now(r, &one));
    assert_false(passes(r, &in_new));
    assert_int_equal(rig_events(r, "alarm"), 0);
    rig_free(r);
}

// A rule that comes behind the first each time: priorities between two others run out.
static void test_rules_at_the_same_place_again_and_again(void **state) {
    (void)state;
    char rules[8192] = "";
    struct rig *r = rig_of("");
    for (unsigned n = 1; n <= 40; n++) {
        size_t used = (size_t)sprintf(rules, "{'action': 'permit', 'from': '10.0.0.1'}");
        for (unsigned i = n; i > 0; i--)
            used += (size_t)sprintf(rules + used, ", {'action': 'deny', 'from': '10.0.1.%u'}", i);
        sprintf(rules + used, ", {'action': 'deny', 'from': '10.0.0.0/30'}");
        char *section = list_of(rules);
        struct sk_error err;
        assert_int_equal(rig_reload(r, section, &err), 0);
        free(section);
        assert_true(passes(r, &(struct packet){4, .from = {10, 0, 0, 1}}));
        assert_false(passes(r, &(struct packet){4, .from = {10, 0, 0, 2}}));
        for (unsigned i = 1; i <= 40; i++)
            assert_int_equal(passes(r, &(struct packet){4, .from = {10, 0, 1, (uint8_t)i}}), i > n);
    }
    assert_int_equal(rig_events(r, "alarm"), 0);
    rig_free(r);
}

// ---- queues, marks, rates ----

static bool is_written(struct rig *r, const char *object, const char *as) {
    json_t *list = ask(r, "tor.wanted", NULL), *o;
    bool found = false;
    size_t i;
    json_array_foreach(list, i, o) {
        found |= strcmp(json_string_value(json_object_get(o, "object")), object) == 0 &&
                 strcmp(json_string_value(json_object_get(o, "as")), as) == 0 &&
                 json_is_true(json_object_get(o, "written"));
    }
    json_decref(list);
    return found;
}

static void test_queues_and_marks(void **state) {
    (void)state;
    char *section = section_of("", NULL,
                               ", 'queues': [{'dscp': 46, 'queue': 5, 'colour': 'red'}, "
                               "{'dscp': 3, 'queue': 6, 'colour': 'yellow', 'ecn': 'none'}, "
                               "{'dscp': 3, 'queue': 6, 'ecn': 'capable', 'claim': 'important'}], "
                               "'sprayed': [3], "
                               "'ecn': {'from_cells': 100}");
    struct rig *r = rig_new(3, section);
    free(section);
    for (unsigned ecn = 0; ecn < 4; ecn++) {
        char entry[40];
        snprintf(entry, sizeof entry, "entry queues_of dscp=46 ecn=%u", ecn);
        assert_true(is_written(r, entry, "queue qid=5 colour=3"));
    }
    assert_true(is_written(r, "entry queues_of dscp=3 ecn=0", "queue qid=6 colour=1"));
    assert_false(is_written(r, "entry queues_of dscp=3 ecn=0", "claims qid=6 colour=0 what=1"));
    for (unsigned ecn = 1; ecn < 4; ecn++) {
        char entry[40];
        snprintf(entry, sizeof entry, "entry queues_of dscp=3 ecn=%u", ecn);
        assert_true(is_written(r, entry, "claims qid=6 colour=0 what=1"));
    }
    assert_true(is_written(r, "entry sprayed dscp=3", "spray"));
    assert_false(is_written(r, "entry sprayed dscp=4", "spray"));
    assert_true(is_written(r,
                           "entry Egress.queues enq_qdepth=100..524287 ipv4.isValid()=1 ipv4.ecn=2 "
                           "priority=4",
                           "mark_ipv4"));
    assert_true(is_written(r,
                           "entry Egress.queues enq_qdepth=100..524287 ipv6.isValid()=1 ipv6.ecn=1 "
                           "priority=6",
                           "mark_ipv6"));
    struct sk_error err;
    section = section_of("", NULL, ", 'queues': [{'dscp': 46, 'queue': 6}]");
    assert_int_equal(rig_reload(r, section, &err), 0);
    free(section);
    assert_true(is_written(r, "entry queues_of dscp=46 ecn=0", "queue qid=6 colour=0"));
    assert_false(is_written(r, "entry sprayed dscp=3", "spray"));
    assert_false(
        is_written(r,
                   "entry Egress.queues enq_qdepth=100..524287 ipv4.isValid()=1 ipv4.ecn=2 "
                   "priority=4",
                   "mark_ipv4"));
    assert_int_equal(rig_events(r, "alarm"), 0);
    rig_free(r);
}

static void test_the_control_plane_gets_no_more_than_its_rate(void **state) {
    (void)state;
    char *section = section_of("", NULL, ", 'control_rate': 400");
    struct rig *r = rig_new(3, section);
    free(section);
    const struct packet arp = {0, .ether_type = 0x0806, .to_mac = ETH_BROADCAST};
    for (unsigned i = 0; i < 300; i++)
        assert_true(passes(r, &arp)); // they are flooded all the same
    assert_in_range(rig_tor(r)->frames_in[TOR_REASON_ARP], 100, 201); // both buckets
    const uint64_t before = rig_tor(r)->frames_in[TOR_REASON_ARP];
    for (unsigned i = 0; i < 1000; i++) {
        rig_wait(r, 2);
        passes(r, &arp);
    }
    // 400 a second, for two seconds
    assert_in_range(rig_tor(r)->frames_in[TOR_REASON_ARP] - before, 780, 820);
    rig_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_rule_matches),
        cmocka_unit_test(test_the_first_rule_decides),
        cmocka_unit_test(test_a_list_is_for_its_links_only),
        cmocka_unit_test(test_copies_and_mirrors),
        cmocka_unit_test(test_a_copy_keeps_the_reason),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_which_rule_a_packet_would_meet),
        cmocka_unit_test(test_requests_that_are_refused),
        cmocka_unit_test(test_rules_that_no_packet_meets),
        cmocka_unit_test(test_packets_while_a_list_changes),
        cmocka_unit_test(test_one_rule_changes_and_the_others_are_not_touched),
        cmocka_unit_test(test_a_port_gets_another_list),
        cmocka_unit_test(test_lists_that_do_not_fit_beside_each_other),
        cmocka_unit_test(test_rules_at_the_same_place_again_and_again),
        cmocka_unit_test(test_queues_and_marks),
        cmocka_unit_test(test_the_control_plane_gets_no_more_than_its_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
//
// Routes: what the tables have of them, where packets go, and which flows a change moves.
#include "harness/control/tor/l3.h"

#include <stdlib.h>

#include "control/tor/tor_impl.h"

// ---- single routes ----

static void test_own_addresses_and_subnets(void **state) {
    struct rig *r = l3_rig("");
    (void)state;
    l3_assert_wanted(r, "entry ipv4_hosts dst_addr=10.0.10.1", "trap reason=5");
    l3_assert_wanted(r, "entry ipv6_hosts dst_addr=2001:db8:20::1", "trap reason=5");
    l3_assert_wanted(r, "entry ipv6_hosts dst_addr=fe80::ff:fe00:1", "trap reason=5");
    l3_assert_wanted(r, "entry ipv4_prefixes dst_addr=10.0.10.0/24", "trap reason=6");
    l3_assert_wanted(r, "entry ipv6_prefixes dst_addr=2001:db8:10::/64", "trap reason=6");
    assert_int_equal(rig_events(r, "alarm"), 0);
    rig_free(r);
}

static void test_nobody_is_there(void **state) {
    static const char *const frames[] = {UDP_A_TO_LOOPBACK, UDP_A_TO_BROADCAST, UDP_A_TO_NETWORK};
    struct rig *r = l3_rig(", \"routes\": [{\"to\": \"0.0.0.0/0\", \"via\": [\"10.0.20.11\"]}]");
    (void)state;
    l3_know_b(r);
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        rig_send_hex(r, 0, frames[i]);
        l3_quiet(r);
    }
    rig_send_hex(r, 0, UDP_A_TO_NOT_DISCARDED); // by the default route
    l3_expect(r, 1, UDP_A_TO_NOT_DISCARDED_ROUTED);
    rig_free(r);
}

static void test_the_longest_prefix_counts(void **state) {
    struct rig *r = l3_rig(", \"routes\": [{\"to\": \"192.0.2.0/24\", \"via\": [\"10.0.20.11\"]},"
                           " {\"to\": \"192.0.2.0/25\", \"discard\": true}]");
    (void)state;
    l3_know_b(r);
    rig_send_hex(r, 0, UDP_A_TO_DISCARDED);
    l3_quiet(r);
    rig_send_hex(r, 0, UDP_A_TO_NOT_DISCARDED);
    l3_expect(r, 1, UDP_A_TO_NOT_DISCARDED_ROUTED);
    l3_quiet(r);
    rig_free(r);
}

// A next hop is asked for as long as the route is there, without a packet.
static void test_next_hops_are_asked_for(void **state) {
    static const char routes[] =
        ", \"routes\": [{\"to\": \"192.0.2.0/24\", \"via\": [\"10.0.20.11\"]}]";
    struct rig *r = rig_new(L3_PORTS, l3_section(routes));
    struct sk_error err;
    (void)state;
    l3_expect_20(r, ARP_OWN_ASKS_B);
    rig_wait(r, 200000);
    assert_string_equal(l3_state(r, "10.0.20.11"), "failed");
    l3_assert_wanted(r, "entry ipv4_prefixes dst_addr=192.0.2.0/24", "trap reason=6");
    rig_forget(r);
    rig_wait(r, 36000); // no later than that
    assert_true(rig_count(r, 1) >= 3);
    rig_send_hex(r, 1, ARP_B_ASKS_OWN);
    l3_assert_wanted(r, "entry ipv4_prefixes dst_addr=192.0.2.0/24", "via hops=1");
    l3_assert_wanted(
        r, "entry nexthops nexthop=1",
        "rewrite dst_addr=02:00:00:00:00:0b src_addr=02:00:00:00:00:01 vid=20 interface=2 "
        "mtu=1400");
    rig_wait(r, 10);
    rig_forget(r);
    rig_send_hex(r, 0, UDP_A_TO_NOT_DISCARDED);
    l3_expect(r, 1, UDP_A_TO_NOT_DISCARDED_ROUTED);
    assert_int_equal(rig_reload(r, l3_section(""), &err), 0);
    l3_assert_wanted(r, "entry ipv4_prefixes dst_addr=192.0.2.0/24", "");
    rig_free(r);
}

static void test_a_packet_waits_for_a_next_hop(void **state) {
    struct rig *r = l3_rig(", \"routes\": [{\"to\": \"192.0.2.0/24\", \"via\": [\"10.0.20.11\"]}]");
    (void)state;
    rig_wait(r, 40000);
    for (unsigned i = 0; i < 400 && strcmp(l3_state(r, "10.0.20.11"), "incomplete") != 0; i++)
        rig_wait(r, 100);
    rig_forget(r);
    rig_send_hex(r, 0, UDP_A_TO_NOT_DISCARDED);
    rig_send_hex(r, 1, ARP_B_REPLIES);
    l3_expect(r, 1, UDP_A_TO_NOT_DISCARDED_ROUTED);
    l3_quiet(r);
    rig_free(r);
}

// ---- a neighbour's place ----

static void test_a_neighbour_that_moves_is_followed(void **state) {
    struct rig *r = l3_rig("");
    (void)state;
    l3_know_b(r);
    rig_send_hex(r, 0, UDP_A_TO_B_1);
    l3_expect(r, 1, UDP_A_TO_B_1_ROUTED);
    rig_wait(r, 6000); // who moves more often is not followed at once
    rig_send_hex(r, 3, ARP_B_ASKS_OWN);
    rig_forget(r);
    rig_send_hex(r, 0, UDP_A_TO_B_2);
    l3_expect(r, 3, UDP_A_TO_B_2_ROUTED);
    l3_quiet(r);
    rig_free(r);
}

// Its packets go by software while its place is not known, and it is asked.
static void test_a_neighbour_whose_place_is_lost(void **state) {
    struct rig *r = l3_rig("");
    (void)state;
    l3_know_b(r);
    rig_link(r, 1, false);
    l3_assert_wanted(r, "entry ipv4_hosts dst_addr=10.0.20.11", "");
    rig_wait(r, 1000);
    assert_string_equal(l3_state(r, "10.0.20.11"), "probe");
    rig_forget(r);
    rig_send_hex(r, 0, UDP_A_TO_B_1);
    l3_expect(r, 3, UDP_A_TO_B_1_ROUTED); // flooded
    l3_quiet(r);
    rig_send_hex(r, 3, ARP_B_REPLIES);
    l3_assert_wanted(r, "entry ipv4_hosts dst_addr=10.0.20.11", "via hops=1");
    rig_send_hex(r, 0, UDP_A_TO_B_2);
    l3_expect(r, 3, UDP_A_TO_B_2_ROUTED);
    rig_free(r);
}

static void test_an_mtu_is_changed_in_place(void **state) {
    struct rig *r = l3_rig("");
    struct sk_error err;
    char section[4096];
    (void)state;
    l3_know_b6(r);
    l3_know_b(r);
    snprintf(section, sizeof section, "%s", l3_section(""));
    memcpy(strstr(section, "1400"), "2000", 4);
    assert_int_equal(rig_reload(r, section, &err), 0);
    l3_assert_wanted(
        r, "entry nexthops nexthop=1",
        "rewrite dst_addr=02:00:00:00:00:0b src_addr=02:00:00:00:00:01 vid=20 interface=2 "
        "mtu=1960"); // of IPv6, without the header
    l3_assert_wanted(
        r, "entry nexthops nexthop=2",
        "rewrite dst_addr=02:00:00:00:00:0b src_addr=02:00:00:00:00:01 vid=20 interface=2 "
        "mtu=2000");
    rig_free(r);
}

// ---- equal paths ----

#define FLOWS 2048u

// Host n of VLAN 20: 10.0.20.n, 02:00:00:00:00:n, at p1 or p3. It asks for the switch's address.
static void know(struct rig *r, uint8_t n) {
    uint8_t f[60] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0,  n, 8,  6,
                     0,    1,    8,    0,    6,    4,    0, 1, 2, 0, 0,  0, 0,  n,
                     10,   0,    20,   n,    0,    0,    0, 0, 0, 0, 10, 0, 20, 1};
    rig_send(r, n % 2 ? 1 : 3, f, sizeof f);
    rig_forget(r);
}

// Where each of many flows to 192.0.2.x goes: the last byte of the next hop's MAC address; 0:
// nowhere.
static void send_flows(struct rig *r, uint8_t to[FLOWS]) {
    static uint8_t bytes[RIG_FRAME];
    for (unsigned i = 0; i < FLOWS; i++) {
        uint8_t f[60] = {2,
                         0,
                         0,
                         0,
                         0,
                         1,
                         2,
                         0,
                         0,
                         0,
                         0,
                         10,
                         8,
                         0,
                         0x45,
                         0,
                         0,
                         46,
                         0,
                         0,
                         0x40,
                         0,
                         64,
                         17,
                         0,
                         0,
                         10,
                         0,
                         10,
                         10,
                         192,
                         0,
                         2,
                         (uint8_t)i,
                         (uint8_t)(i >> 8),
                         (uint8_t)(i * 7),
                         7,
                         0,
                         0,
                         26};
        uint32_t sum = 0;
        for (unsigned k = 14; k < 34; k += 2)
            sum += (uint32_t)(f[k] << 8 | f[k + 1]);
        sum = ~((sum & 0xffff) + (sum >> 16));
        f[24] = (uint8_t)(sum >> 8);
        f[25] = (uint8_t)sum;
        rig_send(r, 0, f, sizeof f);
        to[i] = 0;
        for (uint16_t p = 1; p < 4; p += 2)
            if (rig_take(r, p, bytes))
                to[i] = bytes[5];
    }
    l3_quiet(r);
}

static unsigned count(const uint8_t to[FLOWS], uint8_t n) {
    unsigned c = 0;
    for (unsigned i = 0; i < FLOWS; i++)
        c += to[i] == n;
    return c;
}

static void test_flows_are_shared_and_stay(void **state) {
    static uint8_t first[FLOWS], without[FLOWS], again[FLOWS];
    struct rig *r = l3_rig(", \"routes\": [{\"to\": \"192.0.2.0/24\", \"via\":"
                           " [\"10.0.20.30\", \"10.0.20.31\", \"10.0.20.32\"]}]");
    (void)state;
    for (uint8_t n = 30; n < 33; n++)
        know(r, n);
    send_flows(r, first);
    for (uint8_t n = 30; n < 33; n++)
        assert_in_range(count(first, n), FLOWS / 3 - 120, FLOWS / 3 + 120);
    // 31 goes: it does not answer. The others do.
    rig_forget(r);
    for (unsigned i = 0; i < 1200 && strcmp(l3_state(r, "10.0.20.31"), "failed") != 0; i++) {
        rig_wait(r, 100);
        know(r, 30); // a question says nothing about whether it is reachable
        if (strcmp(l3_state(r, "10.0.20.30"), "probe") == 0 ||
            strcmp(l3_state(r, "10.0.20.32"), "probe") == 0)
            for (uint8_t n = 30; n < 33; n += 2) {
                uint8_t f[60] = {2, 0, 0, 0, 0, 1, 2, 0,  0, 0,  0, n, 8, 6, 0, 1, 8, 0,  6, 4,  0,
                                 2, 2, 0, 0, 0, 0, n, 10, 0, 20, n, 2, 0, 0, 0, 0, 1, 10, 0, 20, 1};
                rig_send(r, n % 2 ? 1 : 3, f, sizeof f);
            }
    }
    assert_string_equal(l3_state(r, "10.0.20.31"), "failed");
    rig_forget(r);
    send_flows(r, without);
    for (unsigned i = 0; i < FLOWS; i++)
        if (first[i] != 31)
            assert_int_equal(without[i], first[i]); // its flows alone have moved
    assert_int_equal(count(without, 31), 0);
    assert_in_range(count(without, 30), FLOWS / 2 - 150, FLOWS / 2 + 150);
    know(r, 31);
    rig_wait(r, 10);
    rig_forget(r);
    send_flows(r, again);
    assert_memory_equal(first, again, FLOWS);
    rig_free(r);
}

static void test_a_link_that_goes_takes_its_hops_along(void **state) {
    static uint8_t to[FLOWS];
    struct rig *r = l3_rig(", \"routes\": [{\"to\": \"192.0.2.0/24\", \"via\":"
                           " [\"10.0.20.30\", \"10.0.20.31\"]}]");
    (void)state;
    know(r, 30);
    know(r, 31);
    rig_link(r, 1, false);
    rig_forget(r);
    send_flows(r, to);
    assert_int_equal(count(to, 30), FLOWS);
    rig_link(r, 3, false);
    l3_assert_wanted(r, "entry ipv4_prefixes dst_addr=192.0.2.0/24", "trap reason=6");
    l3_assert_wanted(r, "group ecmp 2048", "");
    assert_int_equal(rig_events(r, "alarm"), 0);
    rig_free(r);
}

// Routes with the same hops, in any order, share a set; what changes for one leaves the others
// alone.
static void test_sets_are_shared(void **state) {
    static const char before[] =
        ", \"routes\": [{\"to\": \"192.0.2.0/24\", \"via\": [\"10.0.20.30\", \"10.0.20.31\"]},"
        " {\"to\": \"198.51.100.0/24\", \"via\": [\"10.0.20.31\", \"10.0.20.30\"]},"
        " {\"to\": \"203.0.113.0/24\", \"via\": [\"10.0.20.30\", \"10.0.20.31\", \"10.0.20.32\"]}]";
    static const char after[] =
        ", \"routes\": [{\"to\": \"192.0.2.0/24\", \"via\": [\"10.0.20.30\", \"10.0.20.31\"]},"
        " {\"to\": \"198.51.100.0/24\", \"via\": [\"10.0.20.32\", \"10.0.20.30\"]},"
        " {\"to\": \"203.0.113.0/24\", \"via\": [\"10.0.20.32\"]}]";
    struct rig *r = l3_rig(before);
    struct sk_error err;
    (void)state;
    for (uint8_t n = 30; n < 33; n++)
        know(r, n);
    l3_assert_wanted(r, "entry ipv4_prefixes dst_addr=192.0.2.0/24", "via hops=2048");
    l3_assert_wanted(r, "entry ipv4_prefixes dst_addr=198.51.100.0/24", "via hops=2048");
    l3_assert_wanted(r, "entry ipv4_prefixes dst_addr=203.0.113.0/24", "via hops=2049");
    char *group = strdup(l3_wanted(r, "group ecmp 2048"));
    assert_int_equal(rig_reload(r, l3_section(after), &err), 0);
    assert_string_equal(l3_wanted(r, "group ecmp 2048"), group);
    free(group);
    l3_assert_wanted(r, "entry ipv4_prefixes dst_addr=198.51.100.0/24", "via hops=2049");
    l3_assert_wanted(r, "entry ipv4_prefixes dst_addr=203.0.113.0/24", "via hops=3");
    assert_int_equal(rig_reload(r, l3_section(""), &err), 0);
    l3_assert_wanted(r, "group ecmp 2048", "");
    l3_assert_wanted(r, "entry sets hops=2049", "");
    assert_int_equal(rig_events(r, "alarm"), 0);
    rig_free(r);
}

static void test_sixty_four_equal_hops(void **state) {
    static uint8_t to[FLOWS];
    char more[4096];
    size_t n =
        (size_t)snprintf(more, sizeof more, ", \"routes\": [{\"to\": \"192.0.2.0/24\", \"via\": [");
    (void)state;
    for (unsigned i = 0; i < 64; i++)
        n += (size_t)snprintf(more + n, sizeof more - n, "%s\"10.0.20.%u\"", i ? ", " : "", 30 + i);
    snprintf(more + n, sizeof more - n, "]}]");
    struct rig *r = l3_rig(more);
    for (unsigned i = 0; i < 64; i++)
        know(r, (uint8_t)(30 + i));
    send_flows(r, to);
    for (unsigned i = 0; i < 64; i++)
        assert_in_range(count(to, (uint8_t)(30 + i)), 1, 100);
    assert_int_equal(rig_events(r, "alarm"), 0);
    rig_free(r);
}

// A route for a part of a subnet: the neighbours there are not reached directly any more.
static void test_a_route_for_a_part_of_a_subnet(void **state) {
    struct rig *r = l3_rig("");
    struct sk_error err;
    (void)state;
    l3_know_b(r);
    know(r, 200);
    l3_assert_wanted(r, "entry ipv4_hosts dst_addr=10.0.20.11", "via hops=1");
    assert_int_equal(rig_reload(r,
                                l3_section(", \"routes\": [{\"to\": \"10.0.20.0/28\","
                                           " \"via\": [\"10.0.20.200\"]}]"),
                                &err),
                     0);
    l3_assert_wanted(r, "entry ipv4_hosts dst_addr=10.0.20.11", "");
    l3_assert_wanted(r, "entry ipv4_prefixes dst_addr=10.0.20.0/28", "via hops=2");
    rig_free(r);
}

static void test_routes_are_shown(void **state) {
    struct rig *r = l3_rig(", \"routes\": [{\"to\": \"192.0.2.0/24\", \"via\": [\"10.0.20.11\"]}]");
    struct sk_error err;
    (void)state;
    l3_know_b(r);
    json_t *answer = rig_request(r, "tor.routes", NULL, &err), *route;
    size_t i, found = 0;
    json_array_foreach(json_object_get(answer, "routes"), i, route) {
        const char *to = json_string_value(json_object_get(route, "to"));
        if (strcmp(to, "10.0.10.0/24") == 0) {
            assert_int_equal(json_integer_value(json_object_get(route, "vid")), 10);
            assert_string_equal(json_string_value(json_object_get(route, "kind")), "connected");
            found++;
        }
        if (strcmp(to, "192.0.2.0/24") == 0) {
            const json_t *hop = json_array_get(json_object_get(route, "via"), 0);
            assert_true(json_is_true(json_object_get(hop, "live")));
            assert_string_equal(json_string_value(json_object_get(hop, "mac")),
                                "02:00:00:00:00:0b");
            assert_string_equal(json_string_value(json_object_get(hop, "link")), "b");
            found++;
        }
    }
    assert_int_equal(found, 2);
    json_decref(answer);
    rig_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_addresses_and_subnets),
        cmocka_unit_test(test_nobody_is_there),
        cmocka_unit_test(test_the_longest_prefix_counts),
        cmocka_unit_test(test_next_hops_are_asked_for),
        cmocka_unit_test(test_a_packet_waits_for_a_next_hop),
        cmocka_unit_test(test_a_neighbour_that_moves_is_followed),
        cmocka_unit_test(test_a_neighbour_whose_place_is_lost),
        cmocka_unit_test(test_an_mtu_is_changed_in_place),
        cmocka_unit_test(test_flows_are_shared_and_stay),
        cmocka_unit_test(test_a_link_that_goes_takes_its_hops_along),
        cmocka_unit_test(test_sets_are_shared),
        cmocka_unit_test(test_sixty_four_equal_hops),
        cmocka_unit_test(test_a_route_for_a_part_of_a_subnet),
        cmocka_unit_test(test_routes_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

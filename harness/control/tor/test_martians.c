// SPDX-License-Identifier: Apache-2.0
//
// What is never forwarded, by the tables of p4/tor and by the control plane: both are asked for
// packets of all kinds of sources and destinations, and have to do the same, to the byte. Each list
// is written down here once more, with the addresses just outside of its prefixes.
#include "harness/control/tor/l3.h"

#include <arpa/inet.h>

#include "control/tables/names.h"
#include "control/tor/icmp.h"
#include "control/tor/ip.h"
#include "control/tor/tor_impl.h"

#define PAYLOAD 24u

struct kind {
    const char *text;
    bool source, destination; // may be forwarded from, to
};

static const struct kind ipv4[] = {
    {"192.0.2.7", true, true},
    {"0.0.0.0", false, false},
    {"0.255.255.255", false, false},
    {"1.0.0.0", true, true},
    {"126.255.255.255", true, true},
    {"127.0.0.1", false, false},
    {"127.255.255.254", false, false},
    {"128.0.0.0", true, true},
    {"169.253.255.255", true, true},
    {"169.254.0.0", false, false},
    {"169.254.169.254", false, false},
    {"169.254.255.255", false, false},
    {"169.255.0.0", true, true},
    {"223.255.255.255", true, true},
    {"224.0.0.1", false, false},
    {"239.255.255.255", false, false},
    {"240.0.0.0", false, false},
    {"255.255.255.254", false, false},
    {"255.255.255.255", false, false},
    // the switch's own, in both VLANs, the ends of their subnets, and a host beside those
    {"10.0.10.1", false, true},
    {"10.0.20.1", false, true},
    {"10.0.10.0", false, false},
    {"10.0.10.255", false, false},
    {"10.0.20.0", false, false},
    {"10.0.20.255", false, false},
    {"10.0.10.10", true, true},
    {"10.0.10.254", true, true},
};

static const struct kind ipv6[] = {
    {"2001:db8:99::7", true, true},  {"::", false, false},
    {"::1", false, false},           {"::2", true, true},
    {"fe7f:ffff::1", true, true},    {"fe80::", false, false},
    {"fe80::5", false, false},       {"febf:ffff::1", false, false},
    {"fec0::1", true, true},         {"feff:ffff::1", true, true},
    {"ff00::", false, false},        {"ff02::1", false, false},
    {"ffff:ffff::1", false, false},  {"2001:db8:10::1", false, true},
    {"2001:db8:20::1", false, true}, {"fe80::ff:fe00:1", false, false}, // the switch's
    {"2001:db8:10::a", true, true},  {"2001:db8:20::b", true, true},
};
#define N_IPV4 (sizeof ipv4 / sizeof *ipv4)
#define N_IPV6 (sizeof ipv6 / sizeof *ipv6)

static struct in6_addr address(const char *text) {
    struct in6_addr a;
    struct in_addr four;
    if (inet_pton(AF_INET, text, &four) == 1)
        return tor_ipv4(ntohl(four.s_addr));
    assert_int_equal(inet_pton(AF_INET6, text, &a), 1);
    return a;
}

// UDP from A to the switch's MAC address.
static uint32_t build(const char *from, const char *to, uint8_t *frame) {
    static const uint8_t own[6] = {2, 0, 0, 0, 0, 1}, a[6] = {2, 0, 0, 0, 0, 0xa};
    const struct in6_addr src = address(from), dst = address(to);
    const bool four = tor_is_ipv4(&src);
    memcpy(frame, own, 6);
    memcpy(frame + 6, a, 6);
    put16(frame + 12, four ? ETHER_IPV4 : ETHER_IPV6);
    uint8_t *p = frame + 14;
    p += ip_header(p, &src, &dst, PROTOCOL_UDP, 9, 0, 0, 8 + PAYLOAD);
    memset(p, 0, 8 + PAYLOAD);
    put16(p, 1000);
    put16(p + 2, 2000);
    put16(p + 4, 8 + PAYLOAD);
    memset(p + 8, 0x5a, PAYLOAD);
    put16(p + 6, ip_upper_checksum(&src, &dst, PROTOCOL_UDP, p, 8 + PAYLOAD));
    return (uint32_t)(p - frame) + 8 + PAYLOAD;
}

// The frame with the packet that left by port 0 or 1, if any: ICMP and questions for neighbours do
// not count.
static size_t left(struct rig *r, uint8_t bytes[RIG_FRAME]) {
    static uint8_t other[RIG_FRAME];
    size_t found = 0;
    for (uint16_t port = 0; port < L3_PORTS; port++)
        for (size_t n; (n = rig_take(r, port, other));)
            if (n > PAYLOAD && other[n - 1] == 0x5a &&
                (other[23] == PROTOCOL_UDP || other[20] == PROTOCOL_UDP)) {
                assert_int_equal(found, 0);
                memcpy(bytes, other, found = n);
            }
    return found;
}

static void compare(struct rig *r, const struct kind *from, const struct kind *to) {
    static uint8_t frame[RIG_FRAME], fast[RIG_FRAME], slow[RIG_FRAME];
    struct in6_addr dst = address(to->text);
    const uint32_t length = build(from->text, to->text, frame);
    rig_send(r, 0, frame, length);
    const size_t n_fast = left(r, fast);
    size_t n_slow = 0;
    if (!tor_address_is_own(rig_tor(r), &dst,
                            NULL)) { // else it is the switch's, not to be forwarded
        struct ip_packet p;
        assert_true(ip_read(&p, frame + 14, length - 14));
        forward_packet(rig_tor(r), 10, &p);
        rig_wait(r, 1);
        n_slow = left(r, slow);
        if (from->source && to->destination && n_slow == 0)
            fail_msg("the control plane does not forward from %s to %s", from->text, to->text);
        if (!(from->source && to->destination) && n_slow != 0)
            fail_msg("the control plane forwards from %s to %s", from->text, to->text);
    }
    if (n_fast != n_slow || memcmp(fast, slow, n_fast) != 0)
        fail_msg(
            "from %s to %s: the tables forward %zu bytes, the control plane %zu, or other ones",
            from->text, to->text, n_fast, n_slow);
}

static struct rig *rig(void) {
    struct rig *r = l3_rig(", \"routes\": [{\"to\": \"0.0.0.0/0\", \"via\": [\"10.0.20.11\"]},"
                           "             {\"to\": \"::/0\", \"via\": [\"2001:db8:20::b\"]}]");
    l3_know_a(r);
    l3_know_b(r);
    l3_know_a6(r);
    l3_know_b6(r);
    return r;
}

static void of_ipv4(void **state) {
    (void)state;
    struct rig *r = rig();
    for (size_t i = 0; i < N_IPV4; i++)
        for (size_t k = 0; k < N_IPV4; k++)
            if (strcmp(ipv4[k].text, "10.0.10.254") != 0) // nobody answers for it
                compare(r, &ipv4[i], &ipv4[k]);
    rig_free(r);
}

static void of_ipv6(void **state) {
    (void)state;
    struct rig *r = rig();
    for (size_t i = 0; i < N_IPV6; i++)
        for (size_t k = 0; k < N_IPV6; k++)
            compare(r, &ipv6[i], &ipv6[k]);
    rig_free(r);
}

// The tables' list is the control plane's: an entry for each prefix as source, and one as
// destination.
static bool is_entry(const struct sk_const_entry *e, const struct ip_special *s, bool four,
                     bool destination) {
    const unsigned words = four ? 1 : 2, bits = four ? s->length - 96u : s->length;
    for (unsigned w = 0; w < 2 * words; w++) {
        const bool here = w / words == destination;
        uint64_t value = 0, mask = 0;
        for (unsigned bit = 0; here && bit < bits; bit++) { // from the left
            const unsigned at = (four ? 32 : 128) - 1 - bit, byte = (four ? 12 : 0) + bit / 8;
            if (at / 64 != w % words)
                continue;
            mask |= UINT64_C(1) << at % 64;
            value |= (uint64_t)(s->prefix.s6_addr[byte] >> (7 - bit % 8) & 1) << at % 64;
        }
        if (e->value[w] != value || e->mask[w] != mask)
            return false;
    }
    return true;
}

static void same_list(void **state) {
    (void)state;
    struct rig *r = rig();
    for (int four = 0; four <= 1; four++) {
        struct sk_object o;
        struct sk_error err;
        unsigned n = 0;
        assert_int_equal(sk_find_object(rig_switch(r), SK_TABLE,
                                        four ? "ipv4_martians" : "ipv6_martians", &o, &err),
                         0);
        const struct sk_table_desc *t = o.desc->tables[o.index];
        for (unsigned i = 0; i < IP_SPECIALS; i++)
            for (int to = 0; to <= 1 && tor_is_ipv4(&ip_specials[i].prefix) == four; to++) {
                unsigned found = 0;
                for (uint32_t k = 0; k < t->n_entries; k++)
                    found += is_entry(&t->entries[k], &ip_specials[i], four, to);
                if (found != 1)
                    fail_msg("%s: '%s' stands in %u entries", t->name, ip_specials[i].address,
                             found);
                n++;
            }
        assert_int_equal(t->n_entries, n);
    }
    rig_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_ipv4), cmocka_unit_test(of_ipv6),
                                       cmocka_unit_test(same_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

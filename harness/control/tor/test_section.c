// SPDX-License-Identifier: Apache-2.0
//
// The member "tor" of the configuration: each mistake gets its sentence, with its place; a good one
// is read field by field.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tor/tor_impl.h"

static const struct sk_config_port ports[] = {{.port = 1, .device = "d1", .name = "web1"},
                                              {.port = 2, .device = "d2", .name = "web2"},
                                              {.port = 3, .device = "d3", .name = "up1"},
                                              {.port = 4, .device = "d4", .name = "up2"},
                                              {.port = 5, .device = "d5", .name = "tap"},
                                              {.port = 6, .device = "d6"},
                                              {.port = 64, .device = "inside"}};
static const struct tor_host host = {.ports = ports, .n_ports = sizeof ports / sizeof *ports};

// JSON with ' for ".
static json_t *parse(const char *text) {
    json_error_t where;
    char *copy = strdup(text);
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    json_t *v = json_loads(copy, JSON_REJECT_DUPLICATES, &where);
    free(copy);
    if (!v)
        fail_msg("%s in %s", where.text, text);
    return v;
}

static struct tor_section *read_section(json_t *tor, struct sk_error *err) {
    json_t *root = json_pack("{sO}", "tor", tor);
    struct sk_json doc = {.name = "tor.json"};
    struct sk_at top = {.doc = &doc, .value = root}, at = sk_at_member(&top, "tor");
    struct tor_section *s = tor_section_read(&at, &host, err);
    sk_json_release(&doc);
    json_decref(root);
    return s;
}

// ---- a good one ----

// harness/control/tor/everything.json, in which each member is there in each of its forms.
static struct sk_config *everything(void) {
    static char text[16384];
    struct sk_error err = {""};
    FILE *f = fopen("harness/control/tor/everything.json", "r");
    assert_non_null(f);
    const size_t length = fread(text, 1, sizeof text, f);
    fclose(f);
    struct sk_config *c = sk_config_parse("everything.json", text, length, &err);
    if (!c)
        fail_msg("%s", err.text);
    return c;
}

static void assert_text(const char *wanted, const struct in6_addr *address) {
    char text[TOR_TEXT];
    assert_string_equal(tor_address_text(address, text), wanted);
}
static void assert_mac(const char *wanted, const struct tor_mac *mac) {
    char text[TOR_TEXT];
    assert_string_equal(tor_mac_text(mac->bytes, text), wanted);
}

static void check_vlans(const struct tor_section *s) {
    assert_int_equal(s->n_vlans, 3);
    const struct tor_vlan *ten = &s->vlans[0], *twenty = &s->vlans[1], *last = &s->vlans[2];
    assert_int_equal(ten->vid, 10); // ascending
    assert_int_equal(twenty->vid, 20);
    assert_int_equal(last->vid, 4094);
    assert_ptr_equal(tor_section_vlan(s, 20), twenty);
    assert_null(tor_section_vlan(s, 21));
    assert_string_equal(ten->name, "");
    assert_string_equal(twenty->name, "green");
    assert_int_equal(ten->n_addresses, 2);
    assert_text("10.0.10.1", &ten->addresses[0].address);
    assert_int_equal(ten->addresses[0].length, 120);
    assert_text("2001:db8:10::1", &ten->addresses[1].address);
    assert_int_equal(ten->addresses[1].length, 64);
    assert_text("198.51.100.1", &last->addresses[1].address);
    assert_int_equal(last->addresses[1].length, 128);
    assert_int_equal(ten->mtu, 1500);
    assert_int_equal(twenty->mtu, 9000);
    assert_int_equal(ten->aging, 300);
    assert_int_equal(twenty->aging, 0);
    assert_true(ten->snooping && twenty->snooping && !last->snooping);
    assert_true(!ten->querier && twenty->querier);
    assert_true(ten->flood_unknown && !twenty->flood_unknown);
    assert_int_equal(ten->query_interval, 125);
    assert_int_equal(ten->group_idle, 300);
    assert_int_equal(twenty->query_interval, 60);
    assert_int_equal(twenty->group_idle, 100);
    assert_true(twenty->immediate_leave && !ten->immediate_leave);
    assert_int_equal(ten->n_groups, 2);
    assert_text("239.1.1.1", &ten->groups[0].group);
    assert_int_equal(ten->groups[0].n_links, 2);
    assert_int_equal(ten->groups[0].links[0], 2);
    assert_int_equal(ten->groups[0].links[1], 0);
    assert_text("ff05::7", &ten->groups[1].group);
}

static void check_links(const struct tor_section *s) {
    assert_int_equal(s->n_links, 5);
    const struct tor_link_section *a = s->links, *b = a + 1, *up = a + 2, *still = a + 3,
                                  *probe = a + 4;
    assert_string_equal(a->name, "a");
    assert_true(a->n_ports == 1 && a->ports[0] == 1 && !a->lag);
    assert_true(a->untagged == 10 && a->n_vids == 0 && a->learn && a->isolated && !a->router);
    assert_true(a->claims[0] == 5000 && a->claims[1] == 50);
    assert_true(a->storm[0] == 1000 && a->storm[1] == 0 && a->storm[2] == 50);
    assert_int_equal(a->acl, 1);
    const struct tor_link_limit *given = a->limits, *without = b->limits;
    assert_true(given[TOR_LIMIT_ADDRESSES].most == 100 && given[TOR_LIMIT_ADDRESSES].rate == 10);
    assert_true(given[TOR_LIMIT_NEIGHBOURS].most == 1024 && given[TOR_LIMIT_NEIGHBOURS].rate == 7);
    assert_true(without[TOR_LIMIT_ADDRESSES].most == 8192 &&
                without[TOR_LIMIT_ADDRESSES].rate == 1000 &&
                without[TOR_LIMIT_NEIGHBOURS].rate == 1000);
    assert_true(b->ports[0] == 2 && b->untagged == 10 && b->n_vids == 2 && b->vids[0] == 20 &&
                b->vids[1] == 4094);
    assert_true(!b->learn && b->acl == TOR_NONE);
    assert_true(up->lag && up->n_ports == 2 && up->ports[0] == 4 && up->ports[1] == 3);
    assert_true(up->lacp && !up->lacp_active && up->lacp_fast && up->lacp_priority == 7);
    assert_true(up->n_vids == 2 && up->vids[0] == 10 && up->vids[1] == 4094 && up->untagged == 20 &&
                up->router);
    assert_true(still->lag && still->n_ports == 1 && !still->lacp && still->n_vids == 3 &&
                still->untagged == 0 && still->acl == 0);
    assert_true(probe->n_vids == 0 && probe->untagged == 0);
    assert_int_equal(s->n_macs, 2);
    assert_int_equal(s->macs[0].vid, 10);
    assert_mac("02:aa:bb:cc:dd:0e", &s->macs[0].mac);
    assert_int_equal(s->macs[0].link, 1);
    assert_int_equal(s->macs[1].link, 2);
    assert_int_equal(s->n_mirrors, 2);
    const struct tor_mirror *m = &s->mirrors[1];
    assert_string_equal(m->name, "m");
    assert_true(m->to == 4 && m->length == 128 && m->n_sources == 3);
    assert_true(m->sources[0].link == 0 && m->sources[0].in && m->sources[0].out);
    assert_true(m->sources[1].link == 1 && m->sources[1].in && !m->sources[1].out);
    assert_true(m->sources[2].link == 2 && !m->sources[2].in && m->sources[2].out);
    assert_int_equal(s->mirrors[0].length, 0);
}

static void check_routes(const struct tor_section *s) {
    assert_int_equal(s->n_neighbours, 3);
    assert_text("10.0.10.9", &s->neighbours[0].address);
    assert_mac("02:00:00:00:00:09", &s->neighbours[0].mac);
    assert_int_equal(s->neighbours[0].vid, 10);
    assert_int_equal(s->neighbours[1].vid, 4094); // known from the address
    assert_int_equal(s->neighbours[2].vid, 20);
    assert_int_equal(s->n_routes, 4);
    assert_text("0.0.0.0", &s->routes[0].to.address);
    assert_int_equal(s->routes[0].to.length, 96);
    assert_int_equal(s->routes[0].n_via, 2);
    assert_text("10.0.20.254", &s->routes[0].via[1]);
    assert_text("::", &s->routes[1].to.address);
    assert_int_equal(s->routes[1].to.length, 0);
    assert_true(s->routes[2].discard && s->routes[2].n_via == 0 && !s->routes[3].discard);
    assert_int_equal(s->routes[2].to.length, 120);
}

static void check_acls(const struct tor_section *s) {
    assert_int_equal(s->n_acls, 2);
    assert_int_equal(s->acls[0].n_rules, 0);
    assert_string_equal(s->acls[1].name, "guests");
    assert_int_equal(s->acls[1].n_rules, 6);
    const struct tor_rule *r = s->acls[1].rules;
    assert_true(r->family == TOR_IPV4 && r->action == TOR_PERMIT && r->vid == 10);
    assert_text("10.0.0.0", &r->from.address);
    assert_int_equal(r->from.length, 104);
    assert_text("192.0.2.7", &r->to.address);
    assert_int_equal(r->to.length, 128);
    assert_true(r->has_protocol && r->protocol == 6 && r->has_dscp && r->dscp == 46);
    assert_true(r->from_port[0] == 1000 && r->from_port[1] == 2000 && r->to_port[0] == 80 &&
                r->to_port[1] == 80);
    assert_true(r->tcp_flags == 2 && r->tcp_flags_mask == 0x12);
    assert_true(r[1].family == TOR_IPV6 && r[1].action == TOR_DENY && r[1].protocol == 17);
    assert_true(r[1].to_port[0] == 53 && r[1].to_port[1] == 53 && r[1].from_port[0] == 0 &&
                r[1].from_port[1] == 65535 && r[1].from.length == 0 && r[1].mirror == TOR_NONE);
    assert_true(r[2].family == TOR_ETHERNET && r[2].action == TOR_COPY && r[2].has_from_mac &&
                r[2].has_to_mac && r[2].has_ether_type && r[2].ether_type == 0x0806);
    assert_mac("ff:ff:ff:ff:ff:ff", &r[2].to_mac);
    assert_true(r[3].family == TOR_IPV6 && r[3].action == TOR_MIRROR && r[3].mirror == 1 &&
                r[3].protocol == 58 && r[3].to.length == 32);
    assert_true(r[4].family == TOR_IPV4 && r[4].from.length == 96 && r[4].to.length == 96 &&
                !r[4].has_protocol && !r[4].has_dscp && r[4].vid == 0);
    assert_text("0.0.0.0", &r[4].to.address);
    assert_true(r[5].family == TOR_ETHERNET && r[5].ether_type == 0x88cc && !r[5].has_from_mac);
}

static void everything_is_read(void **state) {
    (void)state;
    struct sk_error err = {""};
    struct sk_config *c = everything();
    const struct tor_host of_file = {.ports = c->ports, .n_ports = c->n_ports};
    struct tor_section *s = tor_section_read(c->tor, &of_file, &err);
    if (!s)
        fail_msg("%s", err.text);
    sk_config_free(c);
    assert_mac("02:00:00:00:00:fe", &s->mac);
    check_vlans(s);
    check_links(s);
    check_routes(s);
    check_acls(s);
    assert_int_equal(s->n_queues, 4);
    assert_true(s->queues[0].dscp == 46 && s->queues[0].queue == 5 && s->queues[0].colour == 3);
    assert_true(s->queues[1].dscp == 0 && s->queues[1].queue == 31 && s->queues[1].colour == 0);
    assert_true(s->queues[1].ecns == 0xf && s->queues[1].claim == 0);
    assert_true(s->queues[2].ecns == 1 && s->queues[2].colour == 1 && s->queues[2].claim == 0);
    assert_true(s->queues[3].ecns == 0xe && s->queues[3].colour == 0 && s->queues[3].claim == 1);
    assert_int_equal(s->sprayed, 1 << 3 | 1 << 7);
    assert_true(s->ecn_cells == 1000 && s->control_rate == 500);
    assert_string_equal(s->state, "jobs.json");
    assert_int_equal(json_array_size(s->jobs), 1); // still there, without the document
    tor_section_free(s);
}

static void nothing_is_needed(void **state) {
    (void)state;
    struct sk_error err = {""};
    json_t *tor = parse("{'mac': '02:00:00:00:00:01'}");
    struct tor_section *s = read_section(tor, &err);
    json_decref(tor);
    assert_non_null(s);
    assert_true(s->n_vlans == 0 && s->n_links == 0 && s->control_rate == 1000 &&
                s->ecn_cells == 0 && !s->jobs && !s->state);
    assert_null(tor_section_vlan(s, 1));
    tor_section_free(s);
    tor_section_free(NULL);
}

static void an_error_has_its_line(void **state) {
    (void)state;
    static const char text[] = "{\"program\": \"tor.p4\",\n \"ports\": [],\n \"tor\": {\n"
                               "  \"mac\": \"02:00:00:00:00:01\",\n  \"vlans\": [{\"vid\": 7},\n"
                               "            {\"vid\": 0}]}}\n";
    struct sk_error err = {""}, later = {""};
    struct sk_config *c = sk_config_parse("rack.json", text, sizeof text - 1, &err);
    assert_non_null(c);
    assert_null(tor_section_read(c->tor, &host, &later));
    assert_string_equal(later.text, "rack.json:6: tor.vlans[1].vid: it is 0; VLANs are 1 to 4094");
    assert_null(tor_section_read(c->tor, &host, &later)); // may be asked again
    sk_config_free(c);
}

// ---- mistakes ----

// What the members of a case are put into.
static const char base[] =
    "{'mac': '02:00:00:00:00:01',"
    " 'vlans': [{'vid': 10, 'addresses': ['10.0.10.1/24', '2001:db8:10::1/64']}, {'vid': 20}],"
    " 'links': [{'name': 'a', 'port': 'web1', 'access': 10},"
    "           {'name': 'b', 'port': 2, 'trunk': [10, 20]}, {'name': 'probe', 'port': 5}],"
    " 'mirrors': [{'name': 'm', 'to': 'probe'}]}";

struct mistake {
    const char *members, *place, *sentence; // place: behind "tor"
};
#define VLAN(text) "{'vlans': [{'vid': 10}, {'vid': 20" text "}]}"
#define LINK(text)                                                                                 \
    "{'links': [{'name': 'a', 'port': 1, 'access': 10}, {'name': 'b'" text                         \
    "}, {'name': 'probe', 'port': 5}]}"
#define RULE(text) "{'acls': [{'name': 'l', 'rules': [{'action': 'deny'" text "}]}]}"
#define MIRROR(text)                                                                               \
    "{'mirrors': [{'name': 'm', 'to': 'probe', 'links': [{'link': 'a'}]}, {'name': 'n'" text "}]}"
static const struct mistake mistakes[] = {
    {"{'colour': 1}", ".colour", "unknown key; the keys are: mac, vlans, "},
    {"{'mac': 7}", ".mac", "it must be a string, not a number"},
    {"{'mac': '02:00:00:00:00'}", ".mac", "'02:00:00:00:00' is not a MAC address like 02:"},
    {"{'mac': '03:00:00:00:00:01'}", ".mac", "it is the address of a group"},
    {"{'mac': '00:00:00:00:00:00'}", ".mac", "it is not the address of a host"},
    // VLANs
    {"{'vlans': {}}", ".vlans", "it must be an array, not an object"},
    {"{'vlans': [10]}", ".vlans[0]", "it must be an object"},
    {"{'vlans': [{}]}", ".vlans[0].vid", "it is missing"},
    {"{'vlans': [{'vid': 0}]}", ".vlans[0].vid", "it is 0; VLANs are 1 to 4094"},
    {"{'vlans': [{'vid': 4095}]}", ".vlans[0].vid", "it is 4095; VLANs are 1 to 4094"},
    {"{'vlans': [{'vid': '10'}]}", ".vlans[0].vid", "it must be a whole number, not a string"},
    {"{'vlans': [{'vid': 10}, {'vid': 10}]}", ".vlans[1].vid", "VLAN 10 is given twice"},
    {"{'vlans': [{'vid': 10, 'name': 'x'}, {'vid': 20, 'name': 'x'}]}", ".vlans[1].name",
     "the name 'x' is given twice"},
    {VLAN(", 'colour': 1"), ".vlans[1].colour", "unknown key; the keys are: vid, name"},
    {VLAN(", 'mtu': 1279"), ".vlans[1].mtu", "it is 1279; it must be 1280 to 9198"},
    {VLAN(", 'mtu': 4294967296"), ".vlans[1].mtu", "it is 4294967296; it must be 1280 to 9198"},
    {"{'vlans': [{'vid': -1}]}", ".vlans[0].vid", "it is -1; VLANs are 1 to 4094"},
    {LINK(", 'port': 2, 'trunk': [10], 'native': 4294967296"), ".links[1].native",
     "it is 4294967296; VLANs are 1 to 4094"},
    {VLAN(", 'snooping': {'idle': 4294967296}"), ".vlans[1].snooping.idle",
     "it is 4294967296; it must be 15 to 3600"},
    {VLAN(", 'mtu': 9199"), ".vlans[1].mtu", "it is 9199; it must be 1280 to 9198"},
    {VLAN(", 'aging': 1000001"), ".vlans[1].aging", "it is 1000001; it must be 0 to 1000000"},
    {VLAN(", 'snooping': 1"), ".vlans[1].snooping", "it must be true, false or an object"},
    {VLAN(", 'snooping': {'querrier': true}"), ".vlans[1].snooping.querrier", "unknown key"},
    {VLAN(", 'snooping': {'querier': 1}"), ".vlans[1].snooping.querier",
     "it must be true or false"},
    {VLAN(", 'snooping': {'interval': 0}"), ".vlans[1].snooping.interval",
     "it is 0; it must be 1 to 18000"},
    {VLAN(", 'snooping': {'unknown': 'drop'}"), ".vlans[1].snooping.unknown",
     "'drop' is not one of: flood, routers"},
    // the switch's addresses
    {VLAN(", 'addresses': ['10.0.0.1']"), ".vlans[1].addresses[0]",
     "'10.0.0.1' needs a prefix length of 0 to 32 after a /"},
    {VLAN(", 'addresses': ['10.0.0.1/33']"), ".vlans[1].addresses[0]",
     "'10.0.0.1/33' needs a prefix length of 0 to 32 after a /"},
    {VLAN(", 'addresses': ['2001:db8::1/129']"), ".vlans[1].addresses[0]",
     "'2001:db8::1/129' needs a prefix length of 0 to 128"},
    {VLAN(", 'addresses': ['10.0.1/24']"), ".vlans[1].addresses[0]", "'10.0.1/24' is not a prefix"},
    {VLAN(", 'addresses': ['10.0.0.0/24']"), ".vlans[1].addresses[0]",
     "10.0.0.0 is the subnet's own address"},
    {VLAN(", 'addresses': ['10.0.0.255/24']"), ".vlans[1].addresses[0]",
     "10.0.0.255 is the subnet's broadcast address"},
    {VLAN(", 'addresses': ['224.0.0.1/24']"), ".vlans[1].addresses[0]",
     "224.0.0.1 is the address of a group"},
    {VLAN(", 'addresses': ['127.0.0.1/8']"), ".vlans[1].addresses[0]",
     "127.0.0.1 is a loopback address"},
    {VLAN(", 'addresses': ['0.0.0.1/8']"), ".vlans[1].addresses[0]", "0.0.0.1 is in 0.0.0.0/8"},
    {VLAN(", 'addresses': ['255.255.255.255/32']"), ".vlans[1].addresses[0]",
     "255.255.255.255 is in 240.0.0.0/4"},
    {VLAN(", 'addresses': ['2001:db8::/64']"), ".vlans[1].addresses[0]",
     "2001:db8:: is the subnet's own address"},
    {VLAN(", 'addresses': ['ff02::1/64']"), ".vlans[1].addresses[0]",
     "ff02::1 is the address of a group"},
    {VLAN(", 'addresses': ['::1/128']"), ".vlans[1].addresses[0]", "::1 is a loopback address"},
    {VLAN(", 'addresses': ['::ffff:10.0.0.1/120']"), ".vlans[1].addresses[0]", "is not a prefix"},
    {VLAN(", 'addresses': ['fe80::1/64']"), ".vlans[1].addresses[0]",
     "fe80::1 is only valid on one link"},
    {VLAN(", 'addresses': ['10.0.0.1/0']"), ".vlans[1].addresses[0]",
     "a subnet is longer than 0 bits"},
    {"{'vlans': [{'vid': 1, 'addresses': ['10.0.0.1/24']}, {'vid': 2, 'addresses': "
     "['10.0.0.1/24']}]}",
     ".vlans[1].addresses[0]", "address 10.0.0.1 is given twice"},
    {"{'vlans': [{'vid': 1, 'addresses': ['10.0.0.1/24']}, {'vid': 2, 'addresses': "
     "['10.9.0.1/24', '10.0.0.2/24']}]}",
     ".vlans[1].addresses[1]", "10.0.0.2/24 overlaps 10.0.0.1/24 of VLAN 1"},
    {"{'vlans': [{'vid': 1, 'addresses': ['10.0.0.1/24', '10.9.9.9/8']}]}",
     ".vlans[0].addresses[1]", "10.9.9.9/8 overlaps 10.0.0.1/24 of VLAN 1"},
    // groups
    {VLAN(", 'static_groups': [{'group': '10.0.0.1', 'links': ['b']}]"),
     ".vlans[1].static_groups[0].group", "10.0.0.1 is not the address of a group"},
    {VLAN(", 'static_groups': [{'group': '224.0.0.251', 'links': ['b']}]"),
     ".vlans[1].static_groups[0].group", "224.0.0.251 is in 224.0.0.0/24"},
    {VLAN(", 'static_groups': [{'group': 'ff02::1', 'links': ['b']}]"),
     ".vlans[1].static_groups[0].group", "ff02::1 is the address of all nodes"},
    {VLAN(", 'static_groups': [{'group': 'ff01::5', 'links': ['b']}]"),
     ".vlans[1].static_groups[0].group", "ff01::5 does not leave a host"},
    {VLAN(", 'static_groups': [{'group': 'all', 'links': ['b']}]"),
     ".vlans[1].static_groups[0].group", "'all' is not an IPv4 or IPv6 address"},
    {VLAN(", 'static_groups': [{'group': '239.1.1.1', 'links': []}]"),
     ".vlans[1].static_groups[0].links", "it needs at least one link"},
    {VLAN(", 'static_groups': [{'group': '239.1.1.1', 'links': ['a']}]"),
     ".vlans[1].static_groups[0].links[0]", "link 'a' does not carry VLAN 20"},
    {VLAN(", 'static_groups': [{'group': '239.1.1.1', 'links': ['b', 'b']}]"),
     ".vlans[1].static_groups[0].links[1]", "link 'b' is given twice"},
    {VLAN(", 'static_groups': [{'group': '239.1.1.1', 'links': ['b']},"
          " {'group': '239.1.1.1', 'links': ['b']}]"),
     ".vlans[1].static_groups[1].group", "group 239.1.1.1 is given twice"},
    // links
    {"{'links': [{'port': 1, 'access': 10}]}", ".links[0].name", "it is missing"},
    {"{'links': [{'name': '', 'port': 1, 'access': 10}]}", ".links[0].name", "it is empty"},
    {"{'links': [{'name': 'x\\ny', 'port': 1, 'access': 10}]}", ".links[0].name",
     "it contains the control character U+000A"},
    {"{'links': [{'name': '0123456789012345678901234567890123456789012345678901234567890123',"
     " 'port': 1, 'access': 10}]}",
     ".links[0].name", "a name has at most 63 characters"},
    {"{'links': [{'name': 'a', 'port': 1, 'access': 10}, {'name': 'a', 'port': 2, 'access': 10}]}",
     ".links[1].name", "the name 'a' is given twice"},
    {LINK(", 'port': 2, 'access': 20, 'speed': 1"), ".links[1].speed", "unknown key"},
    {LINK(", 'access': 20"), ".links[1]", "it needs \"port\", or \"ports\" of a LAG"},
    {LINK(", 'port': 2, 'ports': [3], 'access': 20"), ".links[1]",
     "it has both \"port\" and \"ports\""},
    {LINK(", 'port': 'web9', 'access': 20"), ".links[1].port", "the switch has no port 'web9'"},
    {LINK(", 'port': 9, 'access': 20"), ".links[1].port", "the switch has no port 9"},
    {LINK(", 'port': 1, 'access': 20"), ".links[1].port", "port 1 is link 'a''s already"},
    {LINK(", 'port': 64, 'access': 20"), ".links[1].port", "port 64 is the control plane's own"},
    {LINK(", 'ports': [], 'access': 20"), ".links[1].ports", "it has 0 ports; a LAG has 1 to 16"},
    {LINK(", 'ports': [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17], 'access': 20"),
     ".links[1].ports", "it has 17 ports; a LAG has 1 to 16"},
    {LINK(", 'ports': [3, 'up1'], 'access': 20"), ".links[1].ports[1]", "port 3 is given twice"},
    {LINK(", 'port': 2, 'lacp': {}, 'access': 20"), ".links[1].lacp", "it is for LAGs"},
    {LINK(", 'ports': [2], 'lacp': {'priority': 65536}, 'access': 20"), ".links[1].lacp.priority",
     "it is 65536; it must be 0 to 65535"},
    {LINK(", 'port': 2, 'access': 30"), ".links[1].access", "VLAN 30 is not among tor.vlans"},
    {LINK(", 'port': 2, 'access': 4095"), ".links[1].access", "it is 4095; VLANs are 1 to 4094"},
    {LINK(", 'port': 2, 'trunk': [10, 30]"), ".links[1].trunk[1]",
     "VLAN 30 is not among tor.vlans"},
    {LINK(", 'port': 2, 'trunk': [10, 10]"), ".links[1].trunk[1]", "VLAN 10 is given twice"},
    {LINK(", 'port': 2, 'trunk': []"), ".links[1].trunk", "it is empty"},
    {LINK(", 'port': 2, 'trunk': 'some'"), ".links[1].trunk",
     "it must be a list of VLANs or \"all\""},
    {LINK(", 'port': 2, 'trunk': [10], 'native': 10"), ".links[1].trunk[0]",
     "VLAN 10 is the native one: it has no tag here"},
    {LINK(", 'port': 2, 'access': 20, 'native': 10"), ".links[1].native",
     "it is for links with \"trunk\""},
    {LINK(", 'port': 2, 'access': 20, 'trunk': [10]"), ".links[1]",
     "it has both \"access\" and \"trunk\""},
    {LINK(", 'port': 2"), ".links[1]", "it is in no VLAN and is not the destination of a mirror"},
    {LINK(", 'port': 2, 'access': 20, 'storm': {'unicast': 1}"), ".links[1].storm.unicast",
     "unknown key"},
    {LINK(", 'port': 2, 'access': 20, 'storm': {'unknown': -1}"), ".links[1].storm.unknown",
     "it is -1; it must be 0 to"},
    {LINK(", 'port': 2, 'access': 20, 'limits': {'macs': 1}"), ".links[1].limits.macs",
     "unknown key"},
    {LINK(", 'port': 2, 'access': 20, 'limits': {'addresses': 0}"), ".links[1].limits.addresses",
     "it is 0; it must be 1 to 16384"},
    {LINK(", 'port': 2, 'access': 20, 'limits': {'neighbour_rate': 4001}"),
     ".links[1].limits.neighbour_rate", "it is 4001; it must be 1 to 4000"},
    {LINK(", 'port': 2, 'access': 20, 'acl': 'guests'"), ".links[1].acl",
     "there is no access list 'guests'"},
    {LINK(", 'port': 2, 'access': 20, 'learn': 'no'"), ".links[1].learn",
     "it must be true or false"},
    // static addresses
    {"{'macs': [{'vid': 10, 'mac': '02:00:00:00:00:09', 'link': 'c'}]}", ".macs[0].link",
     "there is no link 'c'"},
    {"{'macs': [{'vid': 20, 'mac': '02:00:00:00:00:09', 'link': 'a'}]}", ".macs[0].link",
     "link 'a' does not carry VLAN 20"},
    {"{'macs': [{'vid': 10, 'mac': '02:00:00:00:00:01', 'link': 'a'}]}", ".macs[0].mac",
     "02:00:00:00:00:01 is the switch's own address"},
    {"{'macs': [{'vid': 10, 'mac': '02:00:00:00:00:09', 'link': 'a'},"
     " {'vid': 10, 'mac': '02:00:00:00:00:09', 'link': 'b'}]}",
     ".macs[1]", "02:00:00:00:00:09 in VLAN 10 is given twice"},
    // neighbours
    {"{'neighbours': [{'address': '10.0.11.9', 'mac': '02:00:00:00:00:09'}]}",
     ".neighbours[0].address", "10.0.11.9 is in no subnet of the switch"},
    {"{'neighbours': [{'address': '10.0.10.1', 'mac': '02:00:00:00:00:09'}]}",
     ".neighbours[0].address", "10.0.10.1 is the switch's own address"},
    {"{'neighbours': [{'address': '10.0.10.255', 'mac': '02:00:00:00:00:09'}]}",
     ".neighbours[0].address", "10.0.10.255 is the subnet's broadcast address (10.0.10.1/24)"},
    {"{'neighbours': [{'address': '10.0.10.9', 'mac': '02:00:00:00:00:09', 'vid': 20}]}",
     ".neighbours[0].vid", "10.0.10.9 is in VLAN 10"},
    {"{'neighbours': [{'address': 'fe80::9', 'mac': '02:00:00:00:00:09'}]}", ".neighbours[0]",
     "fe80::9 is only valid on one link: it needs \"vid\""},
    {"{'neighbours': [{'address': '10.0.10.9', 'mac': '02:00:00:00:00:01'}]}", ".neighbours[0].mac",
     "it is the switch's own address"},
    {"{'neighbours': [{'address': '10.0.10.9', 'mac': '02:00:00:00:00:09'},"
     " {'address': '10.0.10.9', 'mac': '02:00:00:00:00:08'}]}",
     ".neighbours[1].address", "neighbour 10.0.10.9 is given twice"},
    // routes
    {"{'routes': [{'to': '10.1.0.1/16', 'discard': true}]}", ".routes[0].to",
     "10.1.0.1/16 has bits set after its length: the prefix is 10.1.0.0/16"},
    {"{'routes': [{'to': '10.1.0.0', 'discard': true}]}", ".routes[0].to",
     "'10.1.0.0' needs a prefix length"},
    {"{'routes': [{'to': '10.1.0.0/16'}]}", ".routes[0]", "it needs \"via\" or \"discard\""},
    {"{'routes': [{'to': '10.1.0.0/16', 'via': ['10.0.10.9'], 'discard': true}]}", ".routes[0]",
     "it has both \"via\" and \"discard\""},
    {"{'routes': [{'to': '10.1.0.0/16', 'discard': false}]}", ".routes[0].discard",
     "it can only be true"},
    {"{'routes': [{'to': '10.1.0.0/16', 'via': []}]}", ".routes[0].via",
     "it has 0 next hops; a route has 1 to 64"},
    {"{'routes': [{'to': '10.1.0.0/16', 'via': ['10.0.11.9']}]}", ".routes[0].via[0]",
     "10.0.11.9 is in no subnet of the switch"},
    {"{'routes': [{'to': '10.1.0.0/16', 'via': ['10.0.10.1']}]}", ".routes[0].via[0]",
     "10.0.10.1 is the switch's own address"},
    {"{'routes': [{'to': '10.1.0.0/16', 'via': ['10.0.10.0']}]}", ".routes[0].via[0]",
     "10.0.10.0 is the subnet's own address"},
    {"{'routes': [{'to': '10.1.0.0/16', 'via': ['2001:db8:10::9']}]}", ".routes[0].via[0]",
     "2001:db8:10::9 is not of the family of the prefix"},
    {"{'routes': [{'to': '2001:db8::/32', 'via': ['fe80::9']}]}", ".routes[0].via[0]",
     "not supported yet: fe80::9"},
    {"{'routes': [{'to': '10.1.0.0/16', 'via': ['10.0.10.9', '10.0.10.9']}]}", ".routes[0].via[1]",
     "next hop 10.0.10.9 is given twice"},
    {"{'routes': [{'to': '10.1.0.0/16', 'via': ['10.0.10.9']},"
     " {'to': '10.1.0.0/16', 'discard': true}]}",
     ".routes[1].to", "route 10.1.0.0/16 is given twice"},
    {"{'routes': [{'to': '10.0.10.0/24', 'discard': true}]}", ".routes[0].to",
     "10.0.10.0/24 is connected already, by VLAN 10"},
    {"{'routes': [{'to': '10.0.10.1/32', 'discard': true}]}", ".routes[0].to",
     "10.0.10.1 is the switch's own address"},
    {"{'routes': [{'to': '239.0.0.0/8', 'discard': true}]}", ".routes[0].to",
     "239.0.0.0/8 is of groups: multicast is not routed"},
    {"{'routes': [{'to': 'fe80::/64', 'discard': true}]}", ".routes[0].to",
     "fe80::/64 is of links"},
    {"{'routes': [{'to': '127.0.0.0/8', 'discard': true}]}", ".routes[0].to",
     "127.0.0.0/8 is loopback"},
    // access lists
    {"{'acls': [{'name': 'l'}]}", ".acls[0].rules", "it is missing"},
    {"{'acls': [{'name': 'l', 'rules': []}, {'name': 'l', 'rules': []}]}", ".acls[1].name",
     "the name 'l' is given twice"},
    {"{'acls': [{'name': 'l', 'rules': [{'family': 'ipv4'}]}]}", ".acls[0].rules[0].action",
     "it is missing"},
    {"{'acls': [{'name': 'l', 'rules': [{'action': 'drop', 'family': 'ipv4'}]}]}",
     ".acls[0].rules[0].action", "'drop' is not one of: permit, deny, copy, mirror"},
    {RULE(", 'famly': 'ipv4'"), ".acls[0].rules[0].famly", "unknown key"},
    {RULE(""), ".acls[0].rules[0].family", "it is missing (ipv4, ipv6 or ethernet)"},
    {RULE(", 'family': 'ip'"), ".acls[0].rules[0].family",
     "'ip' is not one of: ipv4, ipv6, ethernet"},
    {RULE(", 'family': 'ipv4', 'mirror': 'm'"), ".acls[0].rules[0].mirror",
     "it is for \"action\": \"mirror\""},
    {"{'acls': [{'name': 'l', 'rules': [{'action': 'mirror', 'family': 'ipv4'}]}]}",
     ".acls[0].rules[0].mirror", "it is missing"},
    {"{'acls': [{'name': 'l', 'rules': [{'action': 'mirror', 'mirror': 'k', 'family': 'ipv4'}]}]}",
     ".acls[0].rules[0].mirror", "there is no mirror 'k'"},
    {RULE(", 'family': 'ipv4', 'vid': 30"), ".acls[0].rules[0].vid",
     "VLAN 30 is not among tor.vlans"},
    {RULE(", 'from': '10.0.0.1/8'"), ".acls[0].rules[0].from",
     "10.0.0.1/8 has bits set after its length: the prefix is 10.0.0.0/8"},
    {RULE(", 'from': '10.0.0.0/8', 'to': '2001:db8::/32'"), ".acls[0].rules[0].from",
     "it is not of family ipv6"},
    {RULE(", 'from': '10.0.0.0/8', 'ether_type': 2054"), ".acls[0].rules[0].ether_type",
     "a rule of family ipv4 does not have it"},
    {RULE(", 'family': 'ethernet', 'dscp': 1"), ".acls[0].rules[0].dscp",
     "a rule of family ethernet does not have it"},
    {RULE(", 'family': 'ipv4', 'protocol': 'tcpp'"), ".acls[0].rules[0].protocol",
     "'tcpp' is neither a number nor one of"},
    {RULE(", 'family': 'ipv4', 'protocol': 256"), ".acls[0].rules[0].protocol",
     "it is 256; it must be 0 to 255"},
    {RULE(", 'family': 'ipv6', 'protocol': 'icmp'"), ".acls[0].rules[0].protocol",
     "icmp is not of family ipv6"},
    {RULE(", 'family': 'ipv4', 'to_port': 80"), ".acls[0].rules[0].to_port",
     "ports need \"protocol\": \"tcp\" or \"udp\""},
    {RULE(", 'family': 'ipv4', 'protocol': 'icmp', 'from_port': 80"), ".acls[0].rules[0].from_port",
     "ports need \"protocol\": \"tcp\" or \"udp\""},
    {RULE(", 'family': 'ipv4', 'protocol': 'tcp', 'to_port': 65536"), ".acls[0].rules[0].to_port",
     "it is 65536; it must be 0 to 65535"},
    {RULE(", 'family': 'ipv4', 'protocol': 'tcp', 'to_port': '2000-1000'"),
     ".acls[0].rules[0].to_port", "2000 is above 1000: the range contains no port"},
    {RULE(", 'family': 'ipv4', 'protocol': 'tcp', 'to_port': '80-'"), ".acls[0].rules[0].to_port",
     "'80-' is neither a port (0 to 65535) nor a range like 1000-2000"},
    {RULE(", 'family': 'ipv4', 'protocol': 'udp', 'tcp_flags': 'syn'"),
     ".acls[0].rules[0].tcp_flags", "flags need \"protocol\": \"tcp\""},
    {RULE(", 'family': 'ipv4', 'protocol': 'tcp', 'tcp_flags': 'sin'"),
     ".acls[0].rules[0].tcp_flags", "'sin' is not one of: fin, syn"},
    {RULE(", 'family': 'ipv4', 'protocol': 'tcp', 'tcp_flags': 'syn,!syn'"),
     ".acls[0].rules[0].tcp_flags", "syn is given twice"},
    {RULE(", 'family': 'ipv4', 'dscp': 64"), ".acls[0].rules[0].dscp",
     "it is 64; it must be 0 to 63"},
    {RULE(", 'ether_type': '0x0800'"), ".acls[0].rules[0].ether_type",
     "only rules of family ipv4 match IPv4 packets"},
    {RULE(", 'ether_type': '0x8100'"), ".acls[0].rules[0].ether_type", "0x8100 is the tag"},
    {RULE(", 'ether_type': 1500"), ".acls[0].rules[0].ether_type", "0x05dc is a length"},
    {RULE(", 'ether_type': 'arp'"), ".acls[0].rules[0].ether_type",
     "'arp' is not a number of 16 bits like 0x0806"},
    // mirrors
    {MIRROR(""), ".mirrors[1].to", "it is missing"},
    {MIRROR(", 'to': 'nowhere'"), ".mirrors[1].to", "there is no link 'nowhere'"},
    {MIRROR(", 'to': 'b'"), ".mirrors[1].to", "link 'b' carries VLANs"},
    {MIRROR(", 'to': 'probe', 'length': 63"), ".mirrors[1].length",
     "it is 63; a frame has at least"},
    {MIRROR(", 'to': 'probe', 'links': [{'link': 'probe'}]"), ".mirrors[1].links[0].link",
     "link 'probe' is the destination of the mirror"},
    {MIRROR(", 'to': 'probe', 'links': [{'link': 'b'}, {'link': 'b'}]"),
     ".mirrors[1].links[1].link", "link 'b' is given twice"},
    {MIRROR(", 'to': 'probe', 'links': [{'link': 'a', 'direction': 'out'}]"),
     ".mirrors[1].links[0].link", "mirror 'm' already copies the frames that leave by link 'a'"},
    {MIRROR(", 'to': 'probe', 'links': [{'link': 'b', 'direction': 'up'}]"),
     ".mirrors[1].links[0].direction", "'up' is not one of: in, out, both"},
    // queues and rates
    {"{'queues': [{'dscp': 64, 'queue': 1}]}", ".queues[0].dscp", "it is 64; it must be 0 to 63"},
    {"{'queues': [{'dscp': 1, 'queue': 32}]}", ".queues[0].queue", "it is 32; it must be 0 to 31"},
    {"{'queues': [{'dscp': 1, 'queue': 1, 'colour': 'blue'}]}", ".queues[0].colour",
     "'blue' is not one of: green, yellow, red"},
    {"{'queues': [{'dscp': 1, 'queue': 1, 'ecn': 'some'}]}", ".queues[0].ecn", "'some'"},
    {"{'queues': [{'dscp': 1, 'queue': 1, 'claim': 'all'}]}", ".queues[0].claim", "'all'"},
    {"{'queues': [{'dscp': 1, 'queue': 1}, {'dscp': 1, 'queue': 2, 'ecn': 'none'}]}",
     ".queues[1].dscp", "DSCP 1 is given twice"},
    {"{'sprayed': [64]}", ".sprayed[0]", "it is 64; it must be 0 to 63"},
    {"{'sprayed': [3, 3]}", ".sprayed[1]", "it is given twice"},
    {LINK(", 'port': 2, 'access': 20, 'claims': {'all': 1}"), ".links[1].claims.all",
     "the keys are: important, signal"},
    {"{'queues': [{'dscp': 1, 'queue': 1}, {'dscp': 1, 'queue': 2}]}", ".queues[1].dscp",
     "DSCP 1 is given twice"},
    {"{'ecn': {}}", ".ecn.from_cells", "it is missing"},
    {"{'ecn': {'from_cells': 0}}", ".ecn.from_cells", "it is 0; it must be 1 to 524287"},
    {"{'state': 'folder/'}", ".state", "it should be the name of a file"},
    {"{'state': ''}", ".state", "it should be the name of a file"},
    {"{'control_rate': 0}", ".control_rate", "it is 0; it must be 1 to 1000000"},
    {"{'links': [{'name': 'a', 'port': 1, 'querier_port': true, 'querier': false}]}",
     ".links[0].querier", "says that a multicast router is there"},
    {"{'jobs': [1]}", ".jobs[0]", "it must be an object"},
};

static void is_refused(void **state) {
    const struct mistake *m = *state;
    struct sk_error err = {""};
    char wanted[256];
    json_t *tor = parse(base), *members = parse(m->members);
    json_object_update(tor, members);
    struct tor_section *s = read_section(tor, &err);
    json_decref(members);
    json_decref(tor);
    assert_null(s);
    snprintf(wanted, sizeof wanted, "tor%s: ", m->place);
    if (strncmp(err.text, wanted, strlen(wanted)) != 0 || !strstr(err.text, m->sentence))
        fail_msg("'%s', and not '%s%s'", err.text, wanted, m->sentence);
    assert_null(strchr(err.text, '\n'));
}

static void the_base_is_good(void **state) {
    (void)state;
    struct sk_error err = {""};
    json_t *tor = parse(base);
    struct tor_section *s = read_section(tor, &err);
    json_decref(tor);
    if (!s)
        fail_msg("%s", err.text);
    tor_section_free(s);
}

// ---- more than the tables hold ----

static void refused(json_t *members, const char *sentence) {
    struct sk_error err = {""};
    json_t *tor = parse(base);
    json_object_update(tor, members);
    struct tor_section *s = read_section(tor, &err);
    json_decref(members);
    json_decref(tor);
    if (s || (sentence && !strstr(err.text, sentence)))
        fail_msg("'%s'", err.text);
}
static void taken(json_t *members) {
    struct sk_error err = {""};
    json_t *tor = parse(base);
    json_object_update(tor, members);
    struct tor_section *s = read_section(tor, &err);
    json_decref(members);
    json_decref(tor);
    if (!s)
        fail_msg("%s", err.text);
    tor_section_free(s);
}

// 4 ports with n VLANs each, and VLAN 0, are 4 (n + 1) entries.
static json_t *many_vlans(unsigned n) {
    json_t *vlans = json_array();
    for (unsigned i = 1; i <= n; i++)
        json_array_append_new(vlans, json_pack("{sisi}", "vid", (int)i, "mtu", 1500));
    json_t *members = parse("{'links': [{'name': 'a', 'ports': [1, 2, 3, 4], 'trunk': 'all'}],"
                            " 'mirrors': []}");
    json_object_set_new(members, "vlans", vlans);
    return members;
}

static void vlans_that_fit(void **state) {
    (void)state;
    taken(many_vlans(4094)); // 16380
    json_t *members = many_vlans(4094);
    json_t *links = json_object_get(members, "links");
    json_array_append_new(links, parse("{'name': 'b', 'port': 5, 'access': 1}")); // 2 more
    json_array_append_new(links, parse("{'name': 'c', 'port': 6, 'access': 1}")); // 4 more: 16384
    taken(json_incref(members));
    json_array_set_new(links, 2, parse("{'name': 'c', 'port': 6, 'trunk': [2], 'native': 1}"));
    refused(members, "tor.links: the VLANs of all ports need 16385 entries; a table holds 16384");
}

// 'n' rules, each of 'range'.
static json_t *many_rules(unsigned n, const char *range) {
    json_t *rules = json_array();
    for (unsigned i = 0; i < n; i++)
        json_array_append_new(rules, json_pack("{ssssssss}", "action", "deny", "family", "ipv4",
                                               "protocol", "tcp", "to_port", range));
    return json_pack("{s[{sssO}{ssso}]}", "acls", "name", "l", "rules", rules, "name", "k", "rules",
                     rules);
}

static void rules_that_fit(void **state) {
    (void)state;
    taken(many_rules(256, "80")); // 2 lists
    refused(many_rules(257, "80"),
            "tor.acls[1].rules[255]: with this rule there are 513 entries of "
            "family ipv4 in all lists");
    // 1 to 65534 is 30 masks: 1, 2-3, 4-7, ..., 32768-49151, ..., 65534
    taken(many_rules(8, "1-65534")); // 480
    refused(many_rules(9, "1-65534"), "tor.acls[1].rules[8]: with this rule there are 540 entries");
}

static void mirrors_and_lists_that_fit(void **state) {
    (void)state;
    json_t *lists = json_array(), *mirrors = json_array();
    for (unsigned i = 0; i < 256; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%u", i);
        json_array_append_new(mirrors, json_pack("{ssss}", "name", name, "to", "probe"));
        if (i < 128)
            json_array_append_new(lists, json_pack("{sss[]}", "name", name, "rules"));
    }
    refused(json_pack("{so}", "mirrors", mirrors),
            "tor.mirrors: 256 mirrors; there can be at most 255");
    refused(json_pack("{so}", "acls", lists),
            "tor.acls: 128 access lists; there can be at most 127");
}

// Sets of two next hops each, all different; 'hops' hops of one route.
static json_t *many_routes(unsigned n, bool sets) {
    json_t *routes = json_array();
    char to[32], one[32], two[32];
    for (unsigned i = 0; i < n; i++) {
        snprintf(to, sizeof to, "172.%u.%u.0/24", 16 + i / 256, i % 256);
        snprintf(one, sizeof one, "10.0.10.%u", 2 + i % 200);
        snprintf(two, sizeof two, "10.0.10.%u", 3 + i % 200 + i / 200);
        json_array_append_new(routes, sets ? json_pack("{sss[ss]}", "to", to, "via", one, two)
                                           : json_pack("{sssb}", "to", to, "discard", 1));
    }
    return json_pack("{so}", "routes", routes);
}

static void routes_that_fit(void **state) {
    (void)state;
    taken(many_routes(256, true));
    refused(many_routes(257, true),
            "tor.routes: 257 different sets of next hops; there can be at most 256");
    taken(many_routes(4095, false)); // and the connected one
    refused(many_routes(4096, false),
            "tor.routes: 4097 IPv4 routes and subnets, and a table holds 4096");
    json_t *via = json_array();
    for (unsigned i = 2; i < 67; i++) {
        char hop[32];
        snprintf(hop, sizeof hop, "10.0.10.%u", i);
        json_array_append_new(via, json_string(hop));
    }
    refused(json_pack("{s[{ssso}]}", "routes", "to", "0.0.0.0/0", "via", via),
            "tor.routes[0].via: it has 65 next hops; a route has 1 to 64");
}

// ---- ranges of ports ----

static void port_masks(void **state) {
    (void)state;
    static const struct {
        uint16_t low, high;
        size_t n;
    } ranges[] = {{0, 65535, 1},     {80, 80, 1},     {0, 0, 1},        {65535, 65535, 1},
                  {1, 65534, 30},    {1000, 2000, 8}, {1024, 65535, 6}, {32768, 65535, 1},
                  {32767, 32768, 2}, {0, 1023, 1},    {1, 65535, 16},   {0, 65534, 16}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const uint16_t range[2] = {ranges[i].low, ranges[i].high};
        struct tor_port_mask masks[TOR_PORT_MASKS];
        const size_t n = tor_port_masks(range, masks);
        assert_int_equal(n, ranges[i].n);
        for (uint32_t port = 0; port < 65536; port++) {
            unsigned hits = 0;
            for (size_t k = 0; k < n; k++)
                hits += (port & masks[k].mask) == masks[k].value;
            assert_int_equal(hits, port >= range[0] && port <= range[1]);
        }
    }
}

// For the test of the schema: the base with each mistake in it, and its sentence.
static int print_mistakes(void) {
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        json_t *tor = parse(base), *members = parse(mistakes[i].members);
        json_object_update(tor, members);
        json_decref(members);
        json_array_append_new(list,
                              json_pack("{soss}", "tor", tor, "sentence", mistakes[i].sentence));
    }
    const int rc = json_dumpf(list, stdout, 0);
    json_decref(list);
    return rc != 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--mistakes") == 0)
        return print_mistakes();
    static const struct CMUnitTest fixed[] = {cmocka_unit_test(everything_is_read),
                                              cmocka_unit_test(nothing_is_needed),
                                              cmocka_unit_test(an_error_has_its_line),
                                              cmocka_unit_test(the_base_is_good),
                                              cmocka_unit_test(vlans_that_fit),
                                              cmocka_unit_test(rules_that_fit),
                                              cmocka_unit_test(mirrors_and_lists_that_fit),
                                              cmocka_unit_test(routes_that_fit),
                                              cmocka_unit_test(port_masks)};
    enum { FIXED = sizeof fixed / sizeof *fixed, MISTAKES = sizeof mistakes / sizeof *mistakes };
    static struct CMUnitTest tests[FIXED + MISTAKES];
    memcpy(tests, fixed, sizeof fixed);
    for (size_t i = 0; i < MISTAKES; i++)
        tests[FIXED + i] = (struct CMUnitTest){mistakes[i].members, is_refused, NULL, NULL,
                                               (void *)(uintptr_t)&mistakes[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tor/section_impl.h"

enum {
    ICMP = 1,
    IGMP = 2,
    TCP = 6,
    UDP = 17,
    GRE = 47,
    ESP = 50,
    AH = 51,
    ICMPV6 = 58,
    OSPF = 89,
    SCTP = 132
};

static const char *const families[] = {"ipv4", "ipv6", "ethernet", NULL};
static const struct {
    const char *name;
    uint8_t number;
} protocols[] = {{"icmp", ICMP}, {"igmp", IGMP}, {"tcp", TCP}, {"udp", UDP},
                 {"gre", GRE},   {"esp", ESP},   {"ah", AH},   {"icmpv6", ICMPV6},
                 {"ospf", OSPF}, {"sctp", SCTP}};

// The largest blocks of ports whose size is a power of two and whose first is a multiple of it.
size_t tor_port_masks(const uint16_t range[2], struct tor_port_mask out[TOR_PORT_MASKS]) {
    size_t n = 0;
    for (uint32_t low = range[0]; low <= range[1];) {
        uint32_t size = 1;
        while (low % (2 * size) == 0 && low + 2 * size - 1 <= range[1])
            size *= 2;
        out[n++] = (struct tor_port_mask){(uint16_t)low, (uint16_t) ~(size - 1)};
        low += size;
    }
    return n;
}

size_t tor_rule_entries(const struct tor_rule *rule) {
    struct tor_port_mask masks[TOR_PORT_MASKS];
    return tor_port_masks(rule->from_port, masks) * tor_port_masks(rule->to_port, masks);
}

// "80", 80, "1000-2000".
static void section_acl_read_ports(const struct sk_at *at, const char *key,
                                   const struct tor_rule *rule, uint16_t out[2]) {
    struct sk_at member = sk_at_member(at, key);
    out[0] = 0;
    out[1] = UINT16_MAX;
    if (!member.value)
        return;
    if (!rule->has_protocol || (rule->protocol != TCP && rule->protocol != UDP))
        sk_at_fail(&member, "ports need \"protocol\": \"tcp\" or \"udp\"");
    if (!json_is_string(member.value)) {
        out[0] = out[1] = (uint16_t)sk_at_number(&member, true, UINT16_MAX);
        return;
    }
    const char *text = sk_at_string(&member, true);
    char *end = NULL;
    unsigned long low = 0, high = 0;
    if (*text >= '0' && *text <= '9')
        high = low = strtoul(text, &end, 10);
    if (end && *end == '-' && end[1] >= '0' && end[1] <= '9')
        high = strtoul(end + 1, &end, 10);
    if (!end || *end || low > UINT16_MAX || high > UINT16_MAX)
        sk_at_fail(&member, "'%.40s' is neither a port (0 to 65535) nor a range like 1000-2000",
                   text);
    else if (low > high)
        sk_at_fail(&member, "%lu is above %lu: the range contains no port", low, high);
    out[0] = (uint16_t)low;
    out[1] = (uint16_t)high;
}

static void read_protocol(const struct sk_at *at, struct tor_rule *rule) {
    struct sk_at member = sk_at_member(at, "protocol");
    rule->has_protocol = member.value != NULL;
    if (!json_is_string(member.value)) {
        rule->protocol = (uint8_t)sk_at_number(&member, false, UINT8_MAX);
        return;
    }
    const char *text = sk_at_string(&member, true);
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++) {
        if (strcmp(text, protocols[i].name) != 0)
            continue;
        rule->protocol = protocols[i].number;
        if (rule->protocol == (rule->family == TOR_IPV4 ? ICMPV6 : ICMP))
            sk_at_fail(&member, "%s is not of family %s", text, families[rule->family]);
        return;
    }
    sk_at_fail(&member,
               "'%.40s' is neither a number nor one of: icmp, igmp, tcp, udp, gre, esp, ah, "
               "icmpv6, ospf, sctp",
               text);
}

// "syn", "syn,!ack": flags that are set, and those that are not.
static void read_flags(const struct sk_at *at, struct tor_rule *rule) {
    static const char *const flags[] = {"fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr"};
    struct sk_at member = sk_at_member(at, "tcp_flags");
    const char *text = sk_at_string(&member, false);
    if (!text)
        return;
    if (!rule->has_protocol || rule->protocol != TCP)
        sk_at_fail(&member, "flags need \"protocol\": \"tcp\"");
    for (const char *word = text;; word++) {
        const bool clear = *word == '!';
        word += clear;
        const size_t length = strcspn(word, ",");
        unsigned bit = 0;
        while (bit < 8 && (strlen(flags[bit]) != length || memcmp(flags[bit], word, length) != 0))
            bit++;
        if (bit == 8) {
            sk_at_fail(&member, "'%.*s' is not one of: fin, syn, rst, psh, ack, urg, ece, cwr",
                       (int)(length < 40 ? length : 40), word);
            return;
        }
        if (rule->tcp_flags_mask & 1u << bit)
            sk_at_fail(&member, "%s is given twice", flags[bit]);
        rule->tcp_flags_mask |= (uint8_t)(1u << bit);
        rule->tcp_flags |= (uint8_t)((clear ? 0u : 1u) << bit);
        word += length;
        if (!*word)
            return;
    }
}

// What is not said is known from the addresses.
static void read_family(const struct sk_at *at, struct tor_rule *rule) {
    static const char *const addresses[] = {"from", "to"}, *const frames[] = {"from_mac", "to_mac",
                                                                              "ether_type"};
    struct sk_at family = sk_at_member(at, "family");
    rule->family = read_word(at, "family", families, TOR_FAMILIES);
    for (size_t i = 0; !family.value && i < 3; i++)
        if (json_object_get(at->value, frames[i]))
            rule->family = TOR_ETHERNET;
    for (size_t i = 0; !family.value && i < 2; i++) {
        const char *text = json_string_value(json_object_get(at->value, addresses[i]));
        if (text)
            rule->family = strchr(text, ':') ? TOR_IPV6 : TOR_IPV4;
    }
    if (rule->family == TOR_FAMILIES) {
        rule->family = TOR_IPV4;
        sk_at_fail(&family, "it is missing (ipv4, ipv6 or ethernet), and no address determines it");
    }
}

static void check_fields(const struct sk_at *at, const struct tor_rule *rule) {
    static const char *const ip[] = {"from",    "to",        "protocol", "from_port",
                                     "to_port", "tcp_flags", "dscp"},
                             *const ethernet[] = {"from_mac", "to_mac", "ether_type"};
    const bool frames = rule->family == TOR_ETHERNET;
    const char *const *not_its = frames ? ip : ethernet;
    for (size_t i = 0; i < (frames ? 7 : 3); i++) {
        struct sk_at member = sk_at_member(at, not_its[i]);
        if (member.value)
            sk_at_fail(&member, "a rule of family %s does not have it", families[rule->family]);
    }
}

static struct tor_prefix read_side(const struct sk_at *at, const char *key,
                                   const struct tor_rule *rule) {
    struct sk_at member = sk_at_member(at, key);
    const bool four = rule->family == TOR_IPV4;
    if (!member.value)
        return (struct tor_prefix){four ? tor_ipv4(0) : in6addr_any, four ? 96 : 0};
    const struct tor_prefix p = read_prefix(&member, false, true);
    if (reading_failed(at))
        return p;
    if (tor_is_ipv4(&p.address) != four)
        sk_at_fail(&member, "it is not of family %s", families[rule->family]);
    return p;
}

static void read_frame(const struct sk_at *at, struct tor_rule *rule) {
    struct sk_at from = sk_at_member(at, "from_mac"), to = sk_at_member(at, "to_mac"),
                 type = sk_at_member(at, "ether_type");
    rule->has_from_mac = from.value != NULL;
    rule->has_to_mac = to.value != NULL;
    rule->has_ether_type = type.value != NULL;
    if (from.value)
        rule->from_mac = read_mac(&from);
    if (to.value)
        rule->to_mac = read_any_mac(&to);
    if (!type.value)
        return;
    char *end = NULL;
    const char *text = json_is_string(type.value) ? sk_at_string(&type, true) : NULL;
    const unsigned long number =
        text ? strtoul(text, &end, 0) : sk_at_number(&type, true, UINT16_MAX);
    if (text && (*end || *text < '0' || *text > '9' || number > UINT16_MAX))
        sk_at_fail(&type, "'%.40s' is not a number of 16 bits like 0x0806", text);
    else if (number < 0x600)
        sk_at_fail(&type, "0x%04lx is a length, not an EtherType", number);
    else if (number == 0x0800 || number == 0x86dd)
        sk_at_fail(&type, "only rules of family ipv%d match IPv%d packets",
                   number == 0x0800 ? 4 : 6, number == 0x0800 ? 4 : 6);
    else if (number == 0x8100)
        sk_at_fail(&type, "0x8100 is the tag: give the type after it, or \"vid\"");
    rule->ether_type = (uint16_t)number;
}

static void read_rule(struct reading *r, const struct sk_at *at, struct tor_rule *rule) {
    static const char *const keys[] = {"action", "mirror",   "family",    "vid",        "from",
                                       "to",     "protocol", "from_port", "to_port",    "tcp_flags",
                                       "dscp",   "from_mac", "to_mac",    "ether_type", NULL},
                             *const actions[] = {"permit", "deny", "copy", "mirror", NULL};
    struct sk_at action = sk_at_member(at, "action"), mirror = sk_at_member(at, "mirror"),
                 vid = sk_at_member(at, "vid"), dscp = sk_at_member(at, "dscp");
    if (!json_is_object(at->value))
        sk_at_fail(at, "it must be an object");
    sk_at_keys(at, keys);
    sk_at_string(&action, true);
    rule->action = read_word(at, "action", actions, TOR_PERMIT);
    if (mirror.value && rule->action != TOR_MIRROR)
        sk_at_fail(&mirror, "it is for \"action\": \"mirror\"");
    rule->mirror = TOR_NONE;
    if (rule->action == TOR_MIRROR)
        rule->mirror = read_named(&mirror, &r->mirror_names, "mirror");
    rule->vid = vid.value ? read_vid(r, &vid) : 0;
    read_family(at, rule);
    check_fields(at, rule);
    rule->from = read_side(at, "from", rule);
    rule->to = read_side(at, "to", rule);
    rule->has_dscp = dscp.value != NULL;
    rule->dscp = (uint8_t)read_between(&dscp, 0, 63, 0);
    read_protocol(at, rule);
    section_acl_read_ports(at, "from_port", rule, rule->from_port);
    section_acl_read_ports(at, "to_port", rule, rule->to_port);
    read_flags(at, rule);
    read_frame(at, rule);
}

static void read_acl(struct reading *r, const struct sk_at *at, struct tor_acl *acl,
                     size_t entries[TOR_FAMILIES]) {
    struct sk_at rules = sk_at_member(at, "rules");
    const size_t n = sk_at_length(&rules);
    if (!rules.value)
        sk_at_fail(&rules, "it is missing");
    acl->rules = reading_keep(r, n * sizeof *acl->rules);
    for (; acl->n_rules < n && reading_good(r); acl->n_rules++) {
        struct sk_at item = sk_at_item(&rules, acl->n_rules);
        struct tor_rule *rule = &acl->rules[acl->n_rules];
        read_rule(r, &item, rule);
        if (!reading_good(r))
            return;
        entries[rule->family] += tor_rule_entries(rule);
        if (entries[rule->family] > TOR_RULES_MOST)
            sk_at_fail(&item,
                       "with this rule there are %zu entries of family %s in all lists, counting a "
                       "range of ports as several; the table holds %u",
                       entries[rule->family], families[rule->family], TOR_RULES_MOST);
    }
}

// Links name lists, and rules name mirrors: their names are known before.
void read_acls(struct reading *r) {
    struct sk_at list = sk_at_member(r->at, "acls");
    size_t entries[TOR_FAMILIES] = {0};
    for (size_t i = 0; i < r->s->n_acls && reading_good(r); i++) {
        struct sk_at at = sk_at_item(&list, i);
        read_acl(r, &at, &r->s->acls[i], entries);
    }
}

// ---- a packet, for those who ask which rule it meets ----

static void check_packet(const struct sk_at *at, struct tor_rule *p) {
    static const char *const sides[] = {"from", "to", "from_port", "to_port"};
    const bool single[] = {p->from.length == 128, p->to.length == 128,
                           p->from_port[0] == p->from_port[1], p->to_port[0] == p->to_port[1]};
    for (size_t i = 0; i < 4; i++) {
        struct sk_at side = sk_at_member(at, sides[i]);
        if (side.value && !single[i])
            sk_at_fail(&side, "a packet has one");
    }
    for (size_t i = 0; i < 2; i++) {
        struct tor_prefix *address = i ? &p->to : &p->from;
        uint16_t *port = i ? p->to_port : p->from_port;
        address->length = 128;
        if (!single[2 + i])
            port[0] = port[1] = 0;
    }
    p->has_protocol = p->has_from_mac = p->has_to_mac = p->has_ether_type = p->has_dscp = true;
    p->tcp_flags_mask = 0xff;
}

int tor_section_packet(const struct tor_section *s, json_t *fields, struct tor_rule *out,
                       struct sk_error *err) {
    json_t *rule = json_is_object(fields) ? json_copy(fields) : NULL;
    struct sk_json doc = {.name = "packet", .err = err};
    const struct sk_at top = {.doc = &doc, .value = rule};
    struct reading r = {.at = &top};
    *out = (struct tor_rule){.family = TOR_IPV4};
    for (size_t i = 0; i < s->n_vlans; i++)
        r.vlans[s->vlans[i].vid] = true;
    simap_init(&r.mirror_names);
    struct sk_at action = sk_at_member(&top, "action");
    if (!rule)
        sk_at_fail(&top, "it must be an object: {\"field\": value, ...}");
    else if (action.value)
        sk_at_fail(&action, "a packet has none");
    json_object_set_new(rule, "action", json_string("permit"));
    if (!doc.failed)
        read_rule(&r, &top, out);
    if (!doc.failed)
        check_packet(&top, out);
    simap_destroy(&r.mirror_names);
    sk_json_release(&doc);
    json_decref(rule);
    return doc.failed ? -1 : 0;
}

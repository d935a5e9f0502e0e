// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <string.h>

#include "control/tor/policy_impl.h"
#include "openvswitch/dynamic-string.h"
#include "util.h"

static const char *const tables[] = {"ipv4", "ipv6", "ethernet"};
static const char *const actions[] = {"permit", "deny", "copy", "mirror"};

// ---- entries ----

// "0x0a000000&&&0xff000000"; nothing for any.
static void put_side(struct ds *out, const char *key, const struct tor_prefix *p,
                     enum tor_family family) {
    const unsigned from = family == TOR_IPV4 ? 12 : 0;
    if (p->length <= 8 * from)
        return;
    ds_put_format(out, " %s=0x", key);
    for (unsigned i = from; i < 16; i++)
        ds_put_format(out, "%02x", p->address.s6_addr[i]);
    ds_put_cstr(out, "&&&0x");
    for (unsigned i = from; i < 16; i++) {
        const unsigned bits = p->length > 8 * i ? p->length - 8u * i : 0;
        ds_put_format(out, "%02x", bits >= 8 ? 0xffu : 0xffu & ~(0xffu >> bits));
    }
}

static void put_port(struct ds *out, const char *key, const struct tor_port_mask *m) {
    if (m->mask)
        ds_put_format(out, " %s=0x%04x&&&0x%04x", key, m->value, m->mask);
}

static void put_ip(struct ds *out, const struct tor_rule *r, const struct tor_port_mask *from,
                   const struct tor_port_mask *to) {
    put_side(out, "src_addr", &r->from, r->family);
    put_side(out, "dst_addr", &r->to, r->family);
    if (r->has_protocol)
        ds_put_format(out, " protocol=%u", r->protocol);
    put_port(out, "src_port", from);
    put_port(out, "dst_port", to);
    if (r->tcp_flags_mask)
        ds_put_format(out, " tcp_flags=0x%02x&&&0x%02x", r->tcp_flags, r->tcp_flags_mask);
    if (r->has_dscp)
        ds_put_format(out, " dscp=%u", r->dscp);
}

static void put_frame(struct ds *out, const struct tor_rule *r) {
    char mac[TOR_TEXT];
    if (r->has_from_mac)
        ds_put_format(out, " src_addr=%s", tor_mac_text(r->from_mac.bytes, mac));
    if (r->has_to_mac)
        ds_put_format(out, " dst_addr=%s", tor_mac_text(r->to_mac.bytes, mac));
    if (r->has_ether_type)
        ds_put_format(out, " ether_type=0x%04x", r->ether_type);
}

char *policy_entries(const struct tor_section *s, const struct tor_rule *r, uint8_t group) {
    struct tor_port_mask from[TOR_PORT_MASKS], to[TOR_PORT_MASKS];
    const size_t n_from = tor_port_masks(r->from_port, from), n_to = tor_port_masks(r->to_port, to);
    struct ds out = DS_EMPTY_INITIALIZER;
    for (size_t i = 0; i < n_from * n_to; i++) {
        ds_put_format(&out, "%s%s_acl acl_group=%u", i ? "\n" : "", tables[r->family], group);
        if (r->vid)
            ds_put_format(&out, " vid=%u", r->vid);
        if (r->family == TOR_ETHERNET)
            put_frame(&out, r);
        else
            put_ip(&out, r, &from[i / n_to], &to[i % n_to]);
    }
    ds_put_format(&out, " -> %s_%s", tables[r->family], actions[r->action]);
    if (r->action == TOR_MIRROR)
        ds_put_format(&out, " session=%u", s->mirrors[r->mirror].session);
    return ds_steal_cstr(&out);
}

void policy_each_entry(const struct placed *rule,
                       void (*fn)(void *aux, const char *object, const char *action), void *aux) {
    char *text = xstrdup(rule->text), *rest = text, *keys;
    char *action = strstr(text, " -> ");
    *action = '\0';
    action += strlen(" -> ");
    while ((keys = strsep(&rest, "\n"))) {
        char *object = xasprintf("entry %s priority=%" PRIu32, keys, rule->priority);
        fn(aux, object, action);
        free(object);
    }
    free(text);
}

// ---- words ----

static void put_words_of_prefix(struct ds *out, const char *key, const struct tor_prefix *p,
                                enum tor_family family) {
    const unsigned less = family == TOR_IPV4 ? 96 : 0;
    char text[TOR_TEXT];
    if (p->length > less)
        ds_put_format(out, " %s %s/%u", key, tor_address_text(&p->address, text), p->length - less);
}

static void put_words_of_ports(struct ds *out, const char *key, const uint16_t range[2]) {
    if (range[0] == range[1])
        ds_put_format(out, " %s %u", key, range[0]);
    else if (range[0] != 0 || range[1] != UINT16_MAX)
        ds_put_format(out, " %s %u-%u", key, range[0], range[1]);
}

static void put_words_of_flags(struct ds *out, const struct tor_rule *r) {
    static const char *const flags[] = {"fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr"};
    const char *before = " tcp_flags ";
    for (unsigned i = 0; i < 8; i++)
        if (r->tcp_flags_mask & 1u << i) {
            ds_put_format(out, "%s%s%s", before, r->tcp_flags & 1u << i ? "" : "!", flags[i]);
            before = ",";
        }
}

char *policy_words(const struct tor_section *s, const struct tor_rule *r) {
    struct ds out = DS_EMPTY_INITIALIZER;
    char mac[TOR_TEXT];
    ds_put_format(&out, "%s %s", actions[r->action], tables[r->family]);
    if (r->vid)
        ds_put_format(&out, " vid %u", r->vid);
    if (r->family != TOR_ETHERNET) {
        put_words_of_prefix(&out, "from", &r->from, r->family);
        put_words_of_prefix(&out, "to", &r->to, r->family);
    }
    if (r->has_protocol)
        ds_put_format(&out, " protocol %u", r->protocol);
    put_words_of_ports(&out, "from_port", r->from_port);
    put_words_of_ports(&out, "to_port", r->to_port);
    put_words_of_flags(&out, r);
    if (r->has_dscp)
        ds_put_format(&out, " dscp %u", r->dscp);
    if (r->has_from_mac)
        ds_put_format(&out, " from_mac %s", tor_mac_text(r->from_mac.bytes, mac));
    if (r->has_to_mac)
        ds_put_format(&out, " to_mac %s", tor_mac_text(r->to_mac.bytes, mac));
    if (r->has_ether_type)
        ds_put_format(&out, " ether_type 0x%04x", r->ether_type);
    if (r->action == TOR_MIRROR)
        ds_put_format(&out, " mirror %s", s->mirrors[r->mirror].name);
    return ds_steal_cstr(&out);
}

// SPDX-License-Identifier: Apache-2.0
//
// tor: commands on the ToR's control plane (control/tor): links, VLANs, who is where.
#include <stdio.h>
#include <string.h>

#include "cli/ctl/ctl_impl.h"
#include "base/json.h"

// ---- links ----

static void print_vlans_of(const json_t *link) {
    const char *tagged = sk_json_text(link, "tagged");
    const long long untagged = sk_json_number(link, "untagged");
    if (*tagged && untagged)
        printf("%s tagged, %lld", tagged, untagged);
    else if (*tagged)
        printf("%s tagged", tagged);
    else if (untagged)
        printf("%lld", untagged);
    else
        printf("none");
}

static void ctl_tor_print_member(const json_t *port, const char *before) {
    printf("%s%lld", before, sk_json_number(port, "port"));
    if (*sk_json_text(port, "name"))
        printf(" %s", sk_json_text(port, "name"));
    if (!sk_json_is(port, "active"))
        printf(sk_json_is(port, "carrier") ? " (waits)" : " (down)");
}

// Only of a link that is or was over its limits.
static void ctl_tor_print_limited(const json_t *limited) {
    const long long addresses = sk_json_number(limited, "addresses"),
                    neighbours = sk_json_number(limited, "neighbours");
    if (addresses > 0 || neighbours > 0)
        printf("; limited: %lld addresses, %lld neighbours", addresses, neighbours);
}

static void ctl_tor_print_links(const json_t *links) {
    size_t i, p;
    json_t *link, *port;
    printf("%-16s %-4s %9s %6s %9s\n", "link", "", "seconds", "number", "addresses");
    json_array_foreach(links, i, link) {
        printf("%-16s %-4s %9lld %6lld %9lld  VLAN ", sk_json_text(link, "link"),
               sk_json_is(link, "up") ? "up" : "down", sk_json_number(link, "since"),
               sk_json_number(link, "interface"), sk_json_number(link, "addresses"));
        print_vlans_of(link);
        printf(sk_json_is(link, "lag") ? sk_json_is(link, "lacp") ? "; LACP of" : "; LAG of"
                                       : "; port");
        json_array_foreach(json_object_get(link, "ports"), p, port) {
            ctl_tor_print_member(port, p ? ", " : " ");
        }
        printf("%s%s%s", sk_json_is(link, "isolated") ? "; isolated" : "",
               sk_json_is(link, "learn") ? "" : "; does not learn",
               sk_json_is(link, "flapping") ? "; flapping" : "");
        ctl_tor_print_limited(json_object_get(link, "limited"));
        putchar('\n');
    }
}

int ctl_links(struct ctl *c) {
    ctl_op(c, "tor.links");
    return ctl_finish(c, ctl_tor_print_links);
}

// ---- VLANs ----

static void print_vlans(const json_t *vlans) {
    size_t i, k;
    json_t *vlan, *item;
    printf("%-5s %-16s %9s %6s  %s\n", "VLAN", "name", "addresses", "aging", "links (t: tagged)");
    json_array_foreach(vlans, i, vlan) {
        printf("%-5lld %-16s %9lld %6lld ", sk_json_number(vlan, "vid"), sk_json_text(vlan, "name"),
               sk_json_number(vlan, "macs"), sk_json_number(vlan, "aging"));
        json_array_foreach(json_object_get(vlan, "links"), k, item) {
            printf("%s%s%s%s", k ? ", " : " ", sk_json_text(item, "link"),
                   sk_json_is(item, "tagged") ? " t" : "", sk_json_is(item, "up") ? "" : " (down)");
        }
        json_array_foreach(json_object_get(vlan, "addresses"), k, item) {
            printf("%s%s", k ? ", " : "; the switch is ", json_string_value(item));
        }
        putchar('\n');
    }
}

int ctl_vlans(struct ctl *c) {
    ctl_op(c, "tor.vlans");
    return ctl_finish(c, print_vlans);
}

// ---- addresses ----

static void print_macs(const json_t *result, bool first) {
    size_t i;
    json_t *mac;
    if (first)
        printf("%-5s %-18s %-16s %9s %6s  (%lld)\n", "VLAN", "address", "link", "seconds", "idle",
               sk_json_number(result, "count"));
    json_array_foreach(json_object_get(result, "macs"), i, mac) {
        printf("%-5lld %-18s %-16s %9lld", sk_json_number(mac, "vid"), sk_json_text(mac, "mac"),
               sk_json_text(mac, "link"), sk_json_number(mac, "since"));
        if (json_object_get(mac, "idle"))
            printf(" %6lld", sk_json_number(mac, "idle"));
        printf("%s%s\n", sk_json_is(mac, "static") ? "  static" : "",
               sk_json_is(mac, "held") ? "  held" : "");
    }
}

static void ctl_tor_print_flushed(const json_t *result) {
    printf("%lld forgotten\n", sk_json_number(result, "flushed"));
}

// "[vid N] [link NAME] [mac ADDRESS]"
static void take_filter(struct ctl *c) {
    while (*c->words) {
        if (ctl_is(*c->words, "vid")) {
            c->words++;
            ctl_set_number(c, "vid", ctl_next_word(c, "the number of the VLAN"));
        } else if (ctl_is(*c->words, "link")) {
            c->words++;
            ctl_set_text(c, "link", ctl_next_word(c, "the name of the link"));
        } else if (ctl_is(*c->words, "mac")) {
            c->words++;
            ctl_set_text(c, "mac", ctl_next_word(c, "the address"));
        } else {
            return;
        }
    }
}

int ctl_macs(struct ctl *c) {
    const bool flush = *c->words && ctl_is(*c->words, "flush");
    c->words += flush;
    ctl_op(c, flush ? "tor.mac.flush" : "tor.macs");
    take_filter(c);
    return flush ? ctl_finish(c, ctl_tor_print_flushed) : ctl_finish_pages(c, "macs", print_macs);
}

// SPDX-License-Identifier: Apache-2.0
//
// tor_groups: commands on multicast groups and LACP (control/tor/snoop.c, lag.c).
#include <stdio.h>

#include "cli/ctl/ctl_impl.h"
#include "base/json.h"

// ---- groups ----

// "a static, b 250": the seconds until it is forgotten.
static void ctl_tor_groups_print_links(const json_t *links) {
    size_t i;
    json_t *link;
    json_array_foreach(links, i, link) {
        printf("%s%s", i ? ", " : "", sk_json_text(link, "link"));
        if (sk_json_is(link, "static"))
            printf(" static");
        else
            printf(" %lld", sk_json_number(link, "expires"));
    }
}

static void print_groups(const json_t *result, bool first) {
    size_t i;
    json_t *group;
    if (first)
        printf("%-5s %-28s %-18s links, seconds left  (%lld)\n", "VLAN", "group", "address",
               sk_json_number(result, "count"));
    json_array_foreach(json_object_get(result, "groups"), i, group) {
        printf("%-5lld %-28s %-18s ", sk_json_number(group, "vid"), sk_json_text(group, "group"),
               sk_json_text(group, "mac"));
        ctl_tor_groups_print_links(json_object_get(group, "links"));
        printf("%s%s\n", sk_json_is(group, "flooded") ? "; flooded" : "",
               sk_json_is(group, "job") ? "; a job's" : "");
    }
}

int ctl_groups(struct ctl *c) {
    ctl_op(c, "tor.groups");
    while (*c->words && (ctl_is(*c->words, "vid") || ctl_is(*c->words, "link"))) {
        if (ctl_is(*c->words++, "vid"))
            ctl_set_number(c, "vid", ctl_next_word(c, "the number of the VLAN"));
        else
            ctl_set_text(c, "link", ctl_next_word(c, "the name of the link"));
    }
    return ctl_finish_pages(c, "groups", print_groups);
}

// ---- queriers ----

static void print_querier(const json_t *family) {
    char out[80];
    const char *address = sk_json_text(family, "querier");
    snprintf(out, sizeof out, "%s%s", *address ? address : "nobody",
             sk_json_is(family, "own") ? " (own)" : "");
    printf(" %-26s", out);
}

static void print_queriers(const json_t *result) {
    size_t i;
    json_t *vlan;
    printf("%-5s %-8s %6s %-26s %-26s %s\n", "VLAN", "unknown", "groups", "sends IGMP queries",
           "sends MLD queries", "routers, seconds left");
    json_array_foreach(json_object_get(result, "vlans"), i, vlan) {
        printf("%-5lld %-8s %6lld", sk_json_number(vlan, "vid"), sk_json_text(vlan, "unknown"),
               sk_json_number(vlan, "groups"));
        print_querier(json_object_get(vlan, "igmp"));
        print_querier(json_object_get(vlan, "mld"));
        putchar(' ');
        ctl_tor_groups_print_links(json_object_get(vlan, "routers"));
        if (sk_json_number(vlan, "refused"))
            printf("; %lld groups refused", sk_json_number(vlan, "refused"));
        if (sk_json_number(vlan, "bad"))
            printf("; %lld bad frames", sk_json_number(vlan, "bad"));
        if (sk_json_number(vlan, "guarded"))
            printf("; %lld queries from links without a querier", sk_json_number(vlan, "guarded"));
        putchar('\n');
    }
}

int ctl_queriers(struct ctl *c) {
    ctl_op(c, "tor.queriers");
    return ctl_finish(c, print_queriers);
}

// ---- LACP ----

static void ctl_tor_groups_print_state(const char *whose, const json_t *state) {
    size_t i;
    json_t *word;
    printf("; %s:", whose);
    json_array_foreach(state, i, word) {
        printf(" %s", json_string_value(word));
    }
}

static void ctl_tor_groups_print_member(const json_t *member) {
    printf("  port %lld: %s", sk_json_number(member, "port"),
           sk_json_is(member, "active") ? "active"
           : sk_json_is(member, "link") ? "waits"
                                        : "down");
    if (json_object_get(member, "partner")) {
        printf("; %lld sent, %lld received", sk_json_number(member, "sent"),
               sk_json_number(member, "received"));
        if (sk_json_number(member, "bad"))
            printf(", %lld bad", sk_json_number(member, "bad"));
        ctl_tor_groups_print_state("own", json_object_get(member, "state"));
        if (sk_json_is(member, "current")) {
            printf("; partner %s", sk_json_text(member, "partner"));
            ctl_tor_groups_print_state("its", json_object_get(member, "partner_state"));
        }
    }
    if (sk_json_number(member, "markers"))
        printf("; %lld markers", sk_json_number(member, "markers"));
    putchar('\n');
}

static void print_lacp(const json_t *result) {
    size_t i, k;
    json_t *lag, *member;
    json_array_foreach(json_object_get(result, "lags"), i, lag) {
        if (sk_json_is(lag, "lacp"))
            printf("%s: LACP, %s, %s, %s; system %s, priority %lld, key %lld\n",
                   sk_json_text(lag, "link"),
                   sk_json_is(lag, "negotiated") ? "negotiated" : "no partner",
                   sk_json_is(lag, "active") ? "active" : "passive",
                   sk_json_is(lag, "fast") ? "fast" : "slow", sk_json_text(lag, "system"),
                   sk_json_number(lag, "priority"), sk_json_number(lag, "key"));
        else
            printf("%s: static\n", sk_json_text(lag, "link"));
        json_array_foreach(json_object_get(lag, "members"), k, member) {
            ctl_tor_groups_print_member(member);
        }
    }
    if (sk_json_number(result, "bad"))
        printf("%lld bad frames\n", sk_json_number(result, "bad"));
}

int ctl_lacp(struct ctl *c) {
    ctl_op(c, "tor.lacp");
    return ctl_finish(c, print_lacp);
}

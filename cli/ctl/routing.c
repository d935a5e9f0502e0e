// SPDX-License-Identifier: Apache-2.0
//
// routing: commands on the ToR's neighbours and routes (control/tor).
#include <stdio.h>
#include <string.h>

#include "cli/ctl/ctl_impl.h"
#include "base/json.h"

// ---- neighbours ----

static void print_neighbours(const json_t *result, bool first) {
    size_t i;
    json_t *n;
    if (first)
        printf("%-5s %-26s %-18s %-16s %-11s %7s  (%lld)\n", "VLAN", "address", "MAC", "link",
               "state", "seconds", sk_json_number(result, "count"));
    json_array_foreach(json_object_get(result, "neighbours"), i, n) {
        printf("%-5lld %-26s %-18s %-16s %-11s %7lld", sk_json_number(n, "vid"),
               sk_json_text(n, "address"), sk_json_text(n, "mac"), sk_json_text(n, "link"),
               sk_json_text(n, "state"), sk_json_number(n, "seconds"));
        if (sk_json_number(n, "waiting"))
            printf("  %lld packets wait", sk_json_number(n, "waiting"));
        putchar('\n');
    }
}

static void ctl_routing_print_flushed(const json_t *result) {
    printf("%lld forgotten\n", sk_json_number(result, "flushed"));
}

int ctl_neighbours(struct ctl *c) {
    if (!*c->words || !ctl_is(*c->words, "flush")) {
        ctl_op(c, "tor.neighbours");
        return ctl_finish_pages(c, "neighbours", print_neighbours);
    }
    c->words++;
    ctl_op(c, "tor.neighbour.flush");
    while (*c->words) {
        if (ctl_is(*c->words, "vid")) {
            c->words++;
            ctl_set_number(c, "vid", ctl_next_word(c, "the number of the VLAN"));
        } else if (ctl_is(*c->words, "address")) {
            c->words++;
            ctl_set_text(c, "address", ctl_next_word(c, "the address"));
        } else {
            break;
        }
    }
    return ctl_finish(c, ctl_routing_print_flushed);
}

// ---- routes ----

static void print_hop(const json_t *hop, const char *before) {
    printf("%s%s", before, sk_json_text(hop, "address"));
    if (json_is_true(json_object_get(hop, "live")))
        printf(" (%s)", sk_json_text(hop, "link"));
    else
        printf(*sk_json_text(hop, "mac") ? " (its place is not known)" : " (does not answer)");
}

static void print_routes(const json_t *result, bool first) {
    size_t i, k;
    json_t *route, *hop;
    if (first)
        printf("%-28s %-10s (%lld)\n", "to", "", sk_json_number(result, "count"));
    json_array_foreach(json_object_get(result, "routes"), i, route) {
        printf("%-28s %-9s", sk_json_text(route, "to"), sk_json_text(route, "kind"));
        if (json_object_get(route, "vid"))
            printf(" VLAN %lld", sk_json_number(route, "vid"));
        json_array_foreach(json_object_get(route, "via"), k, hop) {
            print_hop(hop, k ? ", " : " via ");
        }
        putchar('\n');
    }
}

int ctl_routes(struct ctl *c) {
    ctl_op(c, "tor.routes");
    return ctl_finish_pages(c, "routes", print_routes);
}

// ---- what the switch said about packets ----

static void print_icmp(const json_t *result) {
    const char *name;
    json_t *sent;
    printf("%-22s %9s %12s\n", "", "sent", "held back");
    json_object_foreach(json_object_get(result, "sent"), name, sent) {
        printf("%-22s %9lld %12lld\n", name, (long long)json_integer_value(sent),
               sk_json_number(json_object_get(result, "limited"), name));
    }
    printf("%-22s %9lld\n%-22s %9lld\n%-22s %9lld\n%-22s %9lld\n", "routed by software",
           sk_json_number(result, "forwarded"), "of those, dropped",
           sk_json_number(result, "dropped"), "neighbours not asked",
           sk_json_number(json_object_get(result, "limited"), "neighbour_asked"),
           "fragments, refused", sk_json_number(result, "fragments"));
}

int ctl_icmp(struct ctl *c) {
    ctl_op(c, "tor.icmp");
    return ctl_finish(c, print_icmp);
}

// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "control/tor/ip.h"
#include "control/tor/section_impl.h"

// ---- the switch's own addresses ----

void read_addresses(struct reading *r, const struct sk_at *at, struct tor_vlan *vlan,
                    size_t index) {
    struct sk_at list = sk_at_member(at, "addresses");
    const size_t n = sk_at_length(&list);
    vlan->addresses = reading_keep(r, n * sizeof *vlan->addresses);
    for (size_t i = 0; i < n && reading_good(r); i++) {
        struct sk_at item = sk_at_item(&list, i);
        const struct tor_prefix p = vlan->addresses[vlan->n_addresses++] =
            read_prefix(&item, true, false);
        char text[TOR_TEXT], what[TOR_TEXT + 32];
        if (!reading_good(r))
            return;
        snprintf(what, sizeof what, "address %s", tor_address_text(&p.address, text));
        if (p.length == (tor_is_ipv4(&p.address) ? 96 : 0))
            sk_at_fail(&item, "a subnet is longer than 0 bits");
        if (IN6_IS_ADDR_LINKLOCAL(&p.address))
            sk_at_fail(
                &item,
                "%s is only valid on one link: the switch makes its own address of this kind",
                text);
        read_once(&item, &r->own, text, what);
        if (!reading_good(r))
            return;
        r->connected = sk_resize(r->connected, r->n_connected + 1, sizeof *r->connected);
        r->connected[r->n_connected++] =
            (struct connected){p, network_of(&p.address, p.length), vlan->vid, index, i};
    }
}

static int by_network(const void *va, const void *vb) {
    const struct connected *a = va, *b = vb;
    int order = memcmp(&a->network, &b->network, sizeof a->network);
    if (order == 0)
        order = a->prefix.length - b->prefix.length;
    if (order == 0)
        order = a->vlan < b->vlan ? -1 : a->vlan > b->vlan;
    return order ? order : a->index < b->index ? -1 : 1;
}

static void fail_overlap(const struct reading *r, const struct connected *a,
                         const struct connected *b) {
    if (a->vlan > b->vlan || (a->vlan == b->vlan && a->index > b->index)) {
        const struct connected *later = a;
        a = b;
        b = later;
    }
    struct sk_at vlans = sk_at_member(r->at, "vlans"), vlan = sk_at_item(&vlans, b->vlan),
                 list = sk_at_member(&vlan, "addresses"), at = sk_at_item(&list, b->index);
    char own[TOR_TEXT], other[TOR_TEXT];
    sk_at_fail(&at, "%s overlaps %s of VLAN %u", prefix_text(&b->prefix, own),
               prefix_text(&a->prefix, other), a->vid);
}

static void section_routes_check_room(struct reading *r, const char *key, const char *what,
                                      size_t four, size_t six, size_t most_four, size_t most_six) {
    struct sk_at at = sk_at_member(r->at, key);
    if (four > most_four || six > most_six)
        sk_at_fail(&at, "%zu IPv%u %s, and a table holds %zu", four > most_four ? four : six,
                   four > most_four ? 4 : 6, what, four > most_four ? most_four : most_six);
}

// Several addresses of one subnet are one connected prefix, if they are the same VLAN's.
void check_addresses(struct reading *r) {
    if (r->n_connected)
        qsort(r->connected, r->n_connected, sizeof *r->connected, by_network);
    for (size_t i = 0; i + 1 < r->n_connected; i++) {
        const struct connected *a = &r->connected[i], *b = a + 1;
        if (prefix_has(&a->prefix, &b->network) &&
            (a->prefix.length != b->prefix.length || a->vlan != b->vlan))
            fail_overlap(r, a, b);
    }
}

const struct connected *connected_to(const struct reading *r, const struct in6_addr *address) {
    size_t low = 0, high = r->n_connected;
    while (low < high) { // the last whose network is not above the address
        const size_t middle = (low + high) / 2;
        if (memcmp(&r->connected[middle].network, address, sizeof *address) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low && prefix_has(&r->connected[low - 1].prefix, address) ? &r->connected[low - 1]
                                                                     : NULL;
}

// An address of somebody else in a subnet of the switch.
static const struct connected *check_neighbour(const struct reading *r, const struct sk_at *at,
                                               const struct in6_addr *address) {
    char text[TOR_TEXT], prefix[TOR_TEXT];
    if (!reading_good(r))
        return NULL;
    const struct connected *c = connected_to(r, address);
    tor_address_text(address, text);
    if (simap_contains(&r->own, text))
        sk_at_fail(at, "%s is the switch's own address", text);
    else if (!c)
        sk_at_fail(at, "%s is in no subnet of the switch (tor.vlans[].addresses)", text);
    else if (no_host_of(&c->prefix, address))
        sk_at_fail(at, "%s is %s (%s)", text, no_host_of(&c->prefix, address),
                   prefix_text(&c->prefix, prefix));
    return c;
}

// ---- neighbours ----

static void read_neighbour(struct reading *r, const struct sk_at *at, struct simap *seen,
                           struct tor_static_neighbour *n) {
    static const char *const keys[] = {"address", "mac", "vid", NULL};
    struct sk_at address = sk_at_member(at, "address"), mac = sk_at_member(at, "mac"),
                 vid = sk_at_member(at, "vid");
    char text[TOR_TEXT], key[TOR_TEXT + 8], what[TOR_TEXT + 32];
    if (!json_is_object(at->value))
        sk_at_fail(at, "it must be an object");
    sk_at_keys(at, keys);
    n->address = read_address(&address);
    n->mac = read_mac(&mac);
    n->vid = vid.value ? read_vid(r, &vid) : 0;
    if (!reading_good(r))
        return;
    tor_address_text(&n->address, text);
    if (IN6_IS_ADDR_LINKLOCAL(&n->address)) {
        if (!n->vid)
            sk_at_fail(at, "%s is only valid on one link: it needs \"vid\"", text);
    } else {
        const struct connected *c = check_neighbour(r, &address, &n->address);
        if (c && n->vid && n->vid != c->vid)
            sk_at_fail(&vid, "%s is in VLAN %u", text, c->vid);
        if (c)
            n->vid = c->vid;
    }
    if (memcmp(&n->mac, &r->s->mac, sizeof n->mac) == 0)
        sk_at_fail(&mac, "it is the switch's own address");
    snprintf(key, sizeof key, "%u %s", n->vid, text);
    snprintf(what, sizeof what, "neighbour %s", text);
    read_once(&address, seen, key, what);
}

void read_neighbours(struct reading *r) {
    struct sk_at list = sk_at_member(r->at, "neighbours");
    const size_t n = sk_at_length(&list);
    struct simap seen = SIMAP_INITIALIZER(&seen);
    size_t hosts[2] = {0};
    r->s->neighbours = reading_keep(r, n * sizeof *r->s->neighbours);
    for (; r->s->n_neighbours < n && reading_good(r); r->s->n_neighbours++) {
        struct sk_at item = sk_at_item(&list, r->s->n_neighbours);
        read_neighbour(r, &item, &seen, &r->s->neighbours[r->s->n_neighbours]);
        hosts[!tor_is_ipv4(&r->s->neighbours[r->s->n_neighbours].address)]++;
    }
    simap_destroy(&seen);
    for (size_t i = 0; i < r->n_connected; i++)
        hosts[!tor_is_ipv4(&r->connected[i].network)]++;
    section_routes_check_room(r, "neighbours", "neighbours and addresses of the switch", hosts[0],
                              hosts[1], IPV4_HOSTS, IPV6_HOSTS);
}

// ---- routes ----

static void check_route(const struct reading *r, const struct sk_at *at,
                        const struct tor_prefix *to) {
    char text[TOR_TEXT], own[TOR_TEXT];
    prefix_text(to, text);
    const struct ip_special *s = ip_special_of(&to->address);
    if (s && to->length >= s->length)
        sk_at_fail(at, "%s is %s", text, s->route);
    const struct connected *c = connected_to(r, &to->address);
    if (c && c->prefix.length == to->length)
        sk_at_fail(at, "%s is connected already, by VLAN %u", text, c->vid);
    if (to->length == 128 && simap_contains(&r->own, tor_address_text(&to->address, own)))
        sk_at_fail(at, "%s is the switch's own address", own);
}

static void read_via(struct reading *r, const struct sk_at *via, struct tor_route *route) {
    const size_t n = sk_at_length(via);
    if (via->value && (n == 0 || n > TOR_ROUTE_HOPS))
        sk_at_fail(via, "it has %zu next hops; a route has 1 to %u", n, TOR_ROUTE_HOPS);
    if (!reading_good(r))
        return;
    route->via = reading_keep(r, n * sizeof *route->via);
    for (; route->n_via < n && reading_good(r); route->n_via++) {
        struct sk_at item = sk_at_item(via, route->n_via);
        char text[TOR_TEXT];
        const struct in6_addr hop = route->via[route->n_via] = read_address(&item);
        tor_address_text(&hop, text);
        if (tor_is_ipv4(&hop) != tor_is_ipv4(&route->to.address))
            sk_at_fail(&item, "%s is not of the family of the prefix", text);
        if (IN6_IS_ADDR_LINKLOCAL(&hop))
            sk_at_fail(&item, "not supported yet: %s, a next hop that is only valid on one link",
                       text);
        check_neighbour(r, &item, &hop);
        for (size_t i = 0; i < route->n_via; i++)
            if (memcmp(&route->via[i], &hop, sizeof hop) == 0)
                sk_at_fail(&item, "next hop %s is given twice", text);
    }
}

static void read_route(struct reading *r, const struct sk_at *at, struct simap *seen,
                       struct tor_route *route) {
    static const char *const keys[] = {"to", "via", "discard", NULL};
    struct sk_at to = sk_at_member(at, "to"), via = sk_at_member(at, "via"),
                 discard = sk_at_member(at, "discard");
    char text[TOR_TEXT], what[TOR_TEXT + 32];
    if (!json_is_object(at->value))
        sk_at_fail(at, "it must be an object");
    sk_at_keys(at, keys);
    route->to = read_prefix(&to, false, false);
    route->discard = read_flag(at, "discard", false);
    if (discard.value && !route->discard)
        sk_at_fail(&discard, "it can only be true");
    if (!via.value == !discard.value)
        sk_at_fail(at, via.value ? "it has both \"via\" and \"discard\""
                                 : "it needs \"via\" or \"discard\"");
    if (!reading_good(r))
        return;
    check_route(r, &to, &route->to);
    read_via(r, &via, route);
    snprintf(what, sizeof what, "route %s", prefix_text(&route->to, text));
    read_once(&to, seen, text, what);
}

static int section_routes_by_address(const void *a, const void *b) {
    return memcmp(a, b, sizeof(struct in6_addr));
}

// Sets of equal next hops, and all next hops, in the selector's memory: those of equal routes are
// the same.
static void check_hops(struct reading *r, const struct sk_at *list) {
    struct simap sets = SIMAP_INITIALIZER(&sets), hops = SIMAP_INITIALIZER(&hops);
    for (size_t i = 0; i < r->s->n_routes; i++) {
        const struct tor_route *route = &r->s->routes[i];
        struct in6_addr sorted[TOR_ROUTE_HOPS];
        char key[2 * sizeof sorted + 1] = "", text[TOR_TEXT];
        for (size_t k = 0; k < route->n_via; k++) {
            sorted[k] = route->via[k];
            simap_put(&hops, tor_address_text(&route->via[k], text), 0);
        }
        qsort(sorted, route->n_via, sizeof *sorted, section_routes_by_address);
        for (size_t k = 0; k < route->n_via * sizeof *sorted; k++)
            snprintf(key + 2 * k, 3, "%02x", ((const uint8_t *)sorted)[k]);
        if (route->n_via > 1)
            simap_put(&sets, key, 0);
    }
    if (simap_count(&sets) > HOP_SETS)
        sk_at_fail(list, "%zu different sets of next hops; there can be at most %u",
                   simap_count(&sets), HOP_SETS);
    if (simap_count(&hops) > HOP_MEMBERS)
        sk_at_fail(list, "%zu different next hops; there can be at most %u", simap_count(&hops),
                   HOP_MEMBERS);
    simap_destroy(&sets);
    simap_destroy(&hops);
}

void read_routes(struct reading *r) {
    struct sk_at list = sk_at_member(r->at, "routes");
    const size_t n = sk_at_length(&list);
    struct simap seen = SIMAP_INITIALIZER(&seen);
    size_t prefixes[2] = {0};
    r->s->routes = reading_keep(r, n * sizeof *r->s->routes);
    for (; r->s->n_routes < n && reading_good(r); r->s->n_routes++) {
        struct sk_at item = sk_at_item(&list, r->s->n_routes);
        read_route(r, &item, &seen, &r->s->routes[r->s->n_routes]);
        prefixes[!tor_is_ipv4(&r->s->routes[r->s->n_routes].to.address)]++;
    }
    simap_destroy(&seen);
    for (size_t i = 0; i < r->n_connected; i++)
        prefixes[!tor_is_ipv4(&r->connected[i].network)]++;
    section_routes_check_room(r, "routes", "routes and subnets", prefixes[0], prefixes[1],
                              IPV4_PREFIXES, IPV6_PREFIXES);
    check_hops(r, &list);
}

// SPDX-License-Identifier: Apache-2.0
//
// routes: what the tables know of routes and neighbours (p4/tor/README.md, routing.p4).
//
// A hop is a neighbour, with a number of 1 to 2047: the next hop, the selector's member and the set
// of that number are its own. It is live when its MAC address is known, the place of that is, and
// its link is up. Then its address has a host route; else the control plane gets what is sent there
// (GLEAN), asks, and sends it itself.
//
// A route by several hops has a group, from 2048 on. It has as many places as fit into 64 with
// equal shares; each place belongs to a hop, and what belongs to one that is not live is with the
// live ones that have least:
//
//     hops            A B C       B goes        B comes back
//     places          ABCABCABC   ACCAACAAC     ABCABCABC
//
// What disturbs which flows:
// - a hop that goes, or comes back, moves its own flows, and no others;
// - one that moves to another link, or gets another MAC address, is changed in place, and so is
//   another MTU;
// - of a route whose list of hops changes, all flows choose again; of other routes none does;
// - a route without a live hop goes by the control plane, as neighbours that are asked for do.
// Routes with the same list of hops share a group.
#include "control/tor/routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tor/ip.h"
#include "util.h"

// ---- hops ----
static struct hop *find_hop(const struct routes *r, uint16_t vid, const struct in6_addr *address) {
    struct hop *h;
    HMAP_FOR_EACH_WITH_HASH(h, node, ip_hash(address, vid), &r->hops)
    if (h->vid == vid && ip_equal(&h->address, address))
        return h;
    return NULL;
}

static struct hop *add_hop(struct routes *r, uint16_t vid, const struct in6_addr *address) {
    struct hop *h = find_hop(r, vid, address);
    if (h)
        return h;
    h = xzalloc(sizeof *h);
    h->vid = vid;
    h->address = *address;
    hmap_insert(&r->hops, &h->node, ip_hash(address, vid));
    return h;
}

static const char *tor_routes_family(const struct in6_addr *a) {
    return tor_is_ipv4(a) ? "ipv4" : "ipv6";
}

static struct prefix *find_prefix(const struct routes *r, const struct in6_addr *address,
                                  uint8_t length) {
    struct in6_addr masked = ip_masked(address, length);
    struct prefix *p;
    HMAP_FOR_EACH_WITH_HASH(p, node, ip_hash(&masked, length), &r->prefixes)
    if (p->length == length && ip_equal(&p->address, &masked))
        return p;
    return NULL;
}

static struct prefix *longest(const struct routes *r, const struct in6_addr *to) {
    for (int length = 128; length >= (tor_is_ipv4(to) ? 96 : 0); length--) {
        struct prefix *p = r->lengths[length] ? find_prefix(r, to, (uint8_t)length) : NULL;
        if (p && tor_is_ipv4(&p->address) == tor_is_ipv4(to))
            return p;
    }
    return NULL;
}

// A neighbour's address is in the tables without its VLAN: only if it is of the VLAN's own prefix,
// and no route is for a part of that.
static bool has_host_route(const struct routes *r, const struct hop *h) {
    const struct prefix *p = longest(r, &h->address);
    return p && p->kind == PREFIX_CONNECTED && p->vid == h->vid;
}

static bool tor_routes_take_number(struct tor *t, struct routes *r, struct hop *h) {
    char text[TOR_TEXT];
    for (uint16_t n = 1; !h->number && n <= HOPS_MOST; n++)
        if (!r->taken[n]) {
            r->taken[n] = true;
            h->number = n;
        }
    if (!h->number && !r->short_of_numbers) {
        r->short_of_numbers = true;
        tor_event(t, "alarm", "{s:s, s:s, s:s}", "alarm", "next_hops", "address",
                  tor_address_text(&h->address, text), "why",
                  "there are too many next hops; further ones are not used");
    }
    return h->number != 0;
}

static void give_back_number(struct routes *r, struct hop *h) {
    if (!h->number)
        return;
    r->taken[h->number] = r->short_of_numbers = false;
    h->number = 0;
}

static void want_hop(struct tor *t, const struct routes *r, const struct hop *h) {
    const struct tor_vlan *v = tor_section_vlan(t->section, h->vid);
    char dst[TOR_TEXT], src[TOR_TEXT], address[TOR_TEXT];
    uint32_t mtu = v->mtu - (tor_is_ipv4(&h->address) ? 0 : IPV6_BYTES);
    tor_want(
        t->wanted, TOR_NEIGHBOURS_LEARNED,
        "entry nexthops nexthop=%u -> rewrite dst_addr=%s src_addr=%s vid=%u interface=%u mtu=%u",
        h->number, tor_mac_text(h->mac, dst), tor_mac_text(t->section->mac.bytes, src), h->vid,
        h->interface, mtu);
    tor_want(t->wanted, TOR_NEIGHBOURS_LEARNED, "member routing.members %u -> hop nexthop=%u",
             h->number, h->number);
    tor_want(t->wanted, TOR_NEIGHBOURS_LEARNED, "entry sets hops=%u -> member=%u", h->number,
             h->number);
    tor_address_text(&h->address, address);
    if (has_host_route(r, h))
        tor_want(t->wanted, TOR_NEIGHBOURS_LEARNED, "entry %s_hosts dst_addr=%s -> via hops=%u",
                 tor_routes_family(&h->address), address, h->number);
    else
        tor_unwant(t->wanted, "entry %s_hosts dst_addr=%s", tor_routes_family(&h->address),
                   address);
}

static void unwant_hop(struct tor *t, const struct hop *h) {
    char address[TOR_TEXT];
    tor_unwant(t->wanted, "entry %s_hosts dst_addr=%s", tor_routes_family(&h->address),
               tor_address_text(&h->address, address));
    tor_unwant(t->wanted, "entry sets hops=%u", h->number);
    tor_unwant(t->wanted, "entry nexthops nexthop=%u", h->number);
    tor_unwant(t->wanted, "member routing.members %u", h->number);
}

// ---- groups ----
// The live hop that has the fewest places.
static struct hop *least_used(const struct hop_set *s) {
    struct hop *least = NULL;
    size_t its = 0;
    for (size_t i = 0; i < s->n; i++) {
        size_t count = 0;
        for (size_t p = 0; p < s->n_places; p++)
            count += s->place[p] == s->hops[i];
        if (s->hops[i]->live && (!least || count < its)) {
            least = s->hops[i];
            its = count;
        }
    }
    return least;
}

static void assign_places(struct hop_set *s) {
    s->n_live = 0;
    for (size_t i = 0; i < s->n; i++)
        s->n_live += s->hops[i]->live;
    for (size_t p = 0; p < s->n_places; p++) {
        struct hop *owner = s->hops[p % s->n];
        if (owner->live)
            s->place[p] = owner;
        else if (s->place[p] && !s->place[p]->live)
            s->place[p] = NULL;
    }
    for (size_t p = 0; p < s->n_places && s->n_live; p++)
        if (!s->place[p])
            s->place[p] = least_used(s);
}

static void want_set(struct tor *t, struct hop_set *s) {
    assign_places(s);
    if (!s->group)
        return;
    if (!s->n_live) {
        tor_unwant(t->wanted, "entry sets hops=%u", s->group);
        tor_unwant(t->wanted, "group ecmp %u", s->group);
        return;
    }
    char members[TOR_ROUTE_HOPS * 6 + 1] = "";
    size_t length = 0;
    for (size_t p = 0; p < s->n_places; p++)
        length += (size_t)snprintf(members + length, sizeof members - length, "%s%u", p ? " " : "",
                                   s->place[p]->number);
    tor_want(t->wanted, TOR_ROUTES, "group ecmp %u -> %s", s->group, members);
    tor_want(t->wanted, TOR_ROUTES, "entry sets hops=%u -> group=%u", s->group, s->group);
}

// ---- prefixes ----
static unsigned tor_routes_length_of(const struct prefix *p) {
    return tor_is_ipv4(&p->address) ? p->length - 96u : p->length;
}

static void want_prefix(struct tor *t, const struct prefix *p) {
    char name[2 * TOR_TEXT], address[TOR_TEXT];
    snprintf(name, sizeof name, "entry %s_prefixes dst_addr=%s/%u", tor_routes_family(&p->address),
             tor_address_text(&p->address, address), tor_routes_length_of(p));
    if (p->kind == PREFIX_DISCARDED)
        tor_want(t->wanted, TOR_ROUTES, "%s -> discard", name);
    else if (p->kind == PREFIX_CONNECTED || !p->set->n_live)
        tor_want(t->wanted, TOR_ROUTES, "%s -> trap reason=%u", name, TOR_REASON_GLEAN);
    else
        tor_want(t->wanted, TOR_ROUTES, "%s -> via hops=%u", name,
                 p->set->group ? p->set->group : p->set->place[0]->number);
}

static void sets_changed(struct tor *t, struct routes *r, const struct hop *h) {
    for (struct hop_set *s = r->sets; s; s = s->next) {
        bool has = false;
        for (size_t i = 0; i < s->n; i++)
            has |= s->hops[i] == h;
        if (!has)
            continue;
        want_set(t, s);
        struct prefix *p;
        HMAP_FOR_EACH(p, node, &r->prefixes)
        if (p->set == s)
            want_prefix(t, p);
    }
}

// Looks whether the hop is live, and where; what the tables have of it follows.
static void hop_changed(struct tor *t, struct routes *r, struct hop *h) {
    struct tor_link *link = h->known ? tor_fdb_find(t, h->vid, h->mac) : NULL;
    bool was = h->live;
    h->interface = link && link->up ? link->interface : 0;
    h->live =
        h->interface && tor_section_vlan(t->section, h->vid) && tor_routes_take_number(t, r, h);
    if (h->live)
        want_hop(t, r, h);
    if (h->live != was && h->uses)
        sets_changed(t, r, h);
    if (!h->live && was)
        unwant_hop(t, h);
}

static void forget_hop(struct routes *r, struct hop *h) {
    give_back_number(r, h);
    hmap_remove(&r->hops, &h->node);
    free(h);
}

void tor_routes_neighbour(struct tor *t, uint16_t vid, const struct in6_addr *address,
                          const uint8_t *mac) {
    struct routes *r = t->states[TOR_MODULE_ROUTES];
    struct hop *h = mac ? add_hop(r, vid, address) : find_hop(r, vid, address);
    if (!h)
        return;
    h->known = mac;
    if (mac)
        memcpy(h->mac, mac, 6);
    hop_changed(t, r, h);
    if (!h->known && !h->uses)
        forget_hop(r, h);
}

bool tor_routes_use(struct tor *t, uint16_t vid, const struct in6_addr *address) {
    const struct hop *h = find_hop(t->states[TOR_MODULE_ROUTES], vid, address);
    return h && h->uses;
}

// ---- finding ----
enum tor_route_result tor_route_look(struct tor *t, const struct in6_addr *to, uint32_t flow,
                                     uint16_t *vid, struct in6_addr *hop) {
    const struct prefix *p = longest(t->states[TOR_MODULE_ROUTES], to);
    if (!p)
        return TOR_ROUTE_NONE;
    if (p->kind == PREFIX_DISCARDED)
        return TOR_ROUTE_DISCARDS;
    if (p->kind == PREFIX_CONNECTED) {
        *vid = p->vid;
        *hop = *to;
        return TOR_ROUTE_FOUND;
    }
    const struct hop *h =
        p->set->n_live ? p->set->place[flow % p->set->n_places] : p->set->hops[flow % p->set->n];
    *vid = h->vid;
    *hop = h->address;
    return TOR_ROUTE_FOUND;
}

bool tor_route_find(struct tor *t, const struct in6_addr *to, uint16_t *vid, struct in6_addr *hop) {
    return tor_route_look(t, to, ip_hash(to, 0), vid, hop) == TOR_ROUTE_FOUND;
}

void tor_send_ip(struct tor *t, const uint8_t *packet, uint32_t length) {
    struct ip_packet p;
    struct in6_addr hop;
    uint16_t vid;
    if (ip_read(&p, packet, length) && tor_route_find(t, &p.dst, &vid, &hop))
        tor_neighbour_send(t, vid, &hop, 0, packet, p.length);
}

// ---- the configuration ----
static struct prefix *add_prefix(struct routes *r, const struct in6_addr *address, uint8_t length,
                                 enum prefix_kind kind) {
    if (find_prefix(r, address, length))
        return NULL; // the first one counts
    struct prefix *p = xzalloc(sizeof *p);
    p->address = ip_masked(address, length);
    p->length = length;
    p->kind = kind;
    hmap_insert(&r->prefixes, &p->node, ip_hash(&p->address, length));
    r->lengths[length] = true;
    return p;
}

static void forget_unsaid_sets(struct routes *r) {
    for (struct hop_set **at = &r->sets, *s; (s = *at);) {
        if (s->said) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        free(s);
    }
}

static int tor_routes_by_place(const void *a, const void *b) {
    const struct hop *x = *(struct hop *const *)a, *y = *(struct hop *const *)b;
    return x->vid != y->vid ? x->vid - y->vid : memcmp(&x->address, &y->address, sizeof x->address);
}

// The neighbours that a route's next hops are. The order in which they are given means nothing.
// Only connected prefixes are there yet.
static void find_hops(struct routes *r, const struct tor_route *route, struct hop_set *into) {
    *into = (struct hop_set){0};
    for (size_t i = 0; i < route->n_via; i++) {
        const struct prefix *p = longest(r, &route->via[i]);
        if (p)
            into->hops[into->n++] = add_hop(r, p->vid, &route->via[i]);
    }
    qsort(into->hops, into->n, sizeof *into->hops, tor_routes_by_place);
}

static struct hop_set *find_set(const struct routes *r, const struct hop_set *like) {
    for (struct hop_set *s = r->sets; s; s = s->next)
        if (s->n == like->n && memcmp(s->hops, like->hops, s->n * sizeof *s->hops) == 0)
            return s;
    return NULL;
}

// Null: there is no number for another group.
static struct hop_set *add_set(struct routes *r, const struct hop_set *like) {
    bool taken[GROUPS_MOST] = {false};
    for (struct hop_set *s = r->sets; s; s = s->next)
        if (s->group)
            taken[s->group - FIRST_GROUP] = true;
    unsigned g = 0;
    while (like->n > 1 && g < GROUPS_MOST && taken[g])
        g++;
    if (g == GROUPS_MOST)
        return NULL;
    struct hop_set *s = xmemdup(like, sizeof *like);
    s->group = like->n > 1 ? (uint16_t)(FIRST_GROUP + g) : 0;
    s->n_places = like->n > 1 ? TOR_ROUTE_HOPS / like->n * like->n : 1;
    s->next = r->sets;
    r->sets = s;
    return s;
}

static struct hop_set *new_set(struct tor *t, struct routes *r, const struct tor_route *route) {
    struct hop_set hops, *s;
    char text[TOR_TEXT];
    find_hops(r, route, &hops);
    if ((s = find_set(r, &hops)) || (s = add_set(r, &hops)))
        return s;
    tor_event(t, "alarm", "{s:s, s:s, s:i, s:s}", "alarm", "equal_paths", "to",
              tor_address_text(&route->to.address, text), "most", (int)GROUPS_MOST, "why",
              "there are too many different sets of next hops; some of them send all packets to "
              "one next hop");
    hops.n = 1;
    s = find_set(r, &hops);
    return s ? s : add_set(r, &hops);
}

// Sets that are there already stay; those that nobody wants any more go before others need their
// numbers.
static void add_routes(struct tor *t, struct routes *r) {
    const size_t n = t->section->n_routes;
    const struct tor_route *routes = t->section->routes;
    struct hop_set **sets = xcalloc(n + 1, sizeof *sets), hops;
    for (size_t i = 0; i < n; i++) {
        find_hops(r, &routes[i], &hops);
        sets[i] = hops.n ? find_set(r, &hops) : NULL;
        if (sets[i])
            sets[i]->said = true;
    }
    forget_unsaid_sets(r);
    for (size_t i = 0; i < n; i++)
        if (!sets[i] && !routes[i].discard)
            (sets[i] = new_set(t, r, &routes[i]))->said = true;
    for (size_t i = 0; i < n; i++) {
        struct prefix *p = add_prefix(r, &routes[i].to.address, routes[i].to.length,
                                      routes[i].discard ? PREFIX_DISCARDED : PREFIX_STATIC);
        if (p)
            p->set = sets[i];
    }
    for (struct hop_set *s = r->sets; s; s = s->next)
        for (size_t i = 0; i < s->n; i++)
            s->hops[i]->uses++;
    free(sets);
}

// Nowhere, whatever route there is for all.
static void add_martians(struct routes *r) {
    for (unsigned i = 0; i < IP_SPECIALS; i++)
        add_prefix(r, &ip_specials[i].prefix, ip_specials[i].length, PREFIX_DISCARDED);
}

static void add_connected(struct tor *t, struct routes *r) {
    for (size_t i = 0; i < t->section->n_vlans; i++)
        for (size_t k = 0; k < t->section->vlans[i].n_addresses; k++) {
            const struct tor_prefix *a = &t->section->vlans[i].addresses[k];
            struct prefix *p = add_prefix(r, &a->address, a->length, PREFIX_CONNECTED);
            if (!p)
                continue;
            p->vid = t->section->vlans[i].vid;
            if (!tor_is_ipv4(&a->address) || a->length > 126)
                continue;
            // Nobody broadcasts from elsewhere (RFC 2644).
            struct in6_addr last = p->address;
            put32(&last.s6_addr[12], get32(&last.s6_addr[12]) | 0xffffffffu >> (a->length - 96));
            add_prefix(r, &p->address, 128, PREFIX_DISCARDED);
            add_prefix(r, &last, 128, PREFIX_DISCARDED);
        }
}

static void want_own(struct tor *t, const struct in6_addr *address) {
    char text[TOR_TEXT];
    tor_want(t->wanted, TOR_ROUTES, "entry %s_hosts dst_addr=%s -> trap reason=%u",
             tor_routes_family(address), tor_address_text(address, text), TOR_REASON_LOCAL);
}

// Nobody else sends from these: the address, and the first and last one of its subnet.
static void want_no_source(struct tor *t, const struct tor_prefix *p) {
    struct in6_addr a[3] = {p->address, p->address, p->address};
    char text[TOR_TEXT];
    const unsigned n = tor_is_ipv4(&p->address) && p->length <= 126 ? 3 : 1;
    const uint32_t host = n > 1 ? 0xffffffffu >> (p->length - 96) : 0;
    put32(&a[1].s6_addr[12], get32(&a[1].s6_addr[12]) & ~host);
    put32(&a[2].s6_addr[12], get32(&a[2].s6_addr[12]) | host);
    for (unsigned i = 0; i < n; i++)
        tor_want(t->wanted, TOR_ROUTES, "entry %s_own src_addr=%s -> forged",
                 tor_routes_family(&a[i]), tor_address_text(&a[i], text));
}

static void forget_prefixes(struct routes *r) {
    struct prefix *p;
    HMAP_FOR_EACH_POP(p, node, &r->prefixes)
    free(p);
    memset(r->lengths, 0, sizeof r->lengths);
}

static void tor_routes_configure(struct tor *t, void *state, const struct tor_section *old) {
    struct routes *r = state;
    struct hop *h;
    (void)old;
    forget_prefixes(r);
    HMAP_FOR_EACH(h, node, &r->hops)
    h->uses = 0;
    for (struct hop_set *s = r->sets; s; s = s->next)
        s->said = false;
    add_connected(t, r);
    add_routes(t, r);
    add_martians(r);

    HMAP_FOR_EACH(h, node, &r->hops)
    hop_changed(t, r, h);
    tor_begin(t->wanted, TOR_ROUTES);
    struct in6_addr local = tor_link_local(t);
    for (size_t i = 0; i < t->section->n_vlans; i++)
        for (size_t k = 0; k < t->section->vlans[i].n_addresses; k++) {
            want_own(t, &t->section->vlans[i].addresses[k].address);
            want_no_source(t, &t->section->vlans[i].addresses[k]);
            if (!tor_is_ipv4(&t->section->vlans[i].addresses[k].address))
                want_own(t, &local);
        }
    for (struct hop_set *s = r->sets; s; s = s->next)
        want_set(t, s);
    struct prefix *p;
    HMAP_FOR_EACH(p, node, &r->prefixes)
    want_prefix(t, p);
    tor_end(t->wanted, TOR_ROUTES);

    HMAP_FOR_EACH_SAFE(h, node, &r->hops)
    if (h->uses)
        tor_neighbour_ask(t, h->vid, &h->address);
    else if (!h->known)
        forget_hop(r, h);
}

static void *tor_routes_create(struct tor *t) {
    struct routes *r = xzalloc(sizeof *r);
    (void)t;
    hmap_init(&r->hops);
    hmap_init(&r->prefixes);
    return r;
}

static void tor_routes_destroy(struct tor *t, void *state) {
    struct routes *r = state;
    struct hop *h;
    (void)t;
    forget_prefixes(r);
    for (struct hop_set *s = r->sets; s; s = s->next)
        s->said = false;
    forget_unsaid_sets(r);
    HMAP_FOR_EACH_POP(h, node, &r->hops)
    free(h);
    hmap_destroy(&r->hops);
    hmap_destroy(&r->prefixes);
    free(r);
}

static void tor_routes_moved(struct tor *t, void *state, uint16_t vid, const uint8_t mac[6],
                             struct tor_link *link) {
    struct routes *r = state;
    struct hop *h;
    (void)link;
    HMAP_FOR_EACH(h, node, &r->hops)
    if (h->vid == vid && h->known && memcmp(h->mac, mac, 6) == 0)
        hop_changed(t, r, h);
}

static void tor_routes_link_changed(struct tor *t, void *state, struct tor_link *link,
                                    uint16_t port, bool up) {
    struct routes *r = state;
    struct hop *h;
    (void)port, (void)up;
    HMAP_FOR_EACH(h, node, &r->hops)
    if (h->known && (h->interface == link->interface || (!h->live && link->up)))
        hop_changed(t, r, h);
}

const struct tor_module tor_routes_module = {.name = "routes",
                                             .create = tor_routes_create,
                                             .destroy = tor_routes_destroy,
                                             .configure = tor_routes_configure,
                                             .link = tor_routes_link_changed,
                                             .moved = tor_routes_moved,
                                             .request = tor_routes_request};

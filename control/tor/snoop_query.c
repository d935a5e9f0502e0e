// SPDX-License-Identifier: Apache-2.0
//
// snoop_query: where multicast routers are, who asks hosts for their groups, and our asking.
#include <stdlib.h>
#include <string.h>

#include "control/tor/snoop_state.h"
#include "util.h"

static const char *const family_names[SNOOP_FAMILIES] = {"igmp", "mld"};

static enum snoop_family family_of(const struct snoop_message *m) {
    return m->mld ? SNOOP_MLD : SNOOP_IGMP;
}

// 0.0.0.0: RFC 4541 2.1.1. It takes no part in elections.
static bool snoop_query_is_nobody(const struct in6_addr *a) {
    static const uint8_t none[4];
    return IN6_IS_ADDR_UNSPECIFIED(a) || (tor_is_ipv4(a) && memcmp(&a->s6_addr[12], none, 4) == 0);
}
static bool is_lower(const struct in6_addr *a, const struct in6_addr *b) {
    return memcmp(a, b, sizeof *a) < 0;
}

// What we ask from: an address of the VLAN, 0.0.0.0 without one; of IPv6 always that of the link.
struct in6_addr snoop_own_address(const struct tor *t, const struct snoop_vlan *v,
                                  enum snoop_family f) {
    if (f == SNOOP_MLD)
        return tor_link_local(t);
    for (size_t i = 0; i < v->section->n_addresses; i++)
        if (tor_is_ipv4(&v->section->addresses[i].address))
            return v->section->addresses[i].address;
    return tor_ipv4(0);
}

// ---- routers ----

static struct snoop_router *find_router(const struct snoop_vlan *v, uint16_t interface) {
    for (size_t i = 0; i < v->n_routers; i++)
        if (v->routers[i].interface == interface)
            return &v->routers[i];
    return NULL;
}

bool snoop_is_router(struct tor *t, const struct snoop_vlan *v, const struct tor_link *link) {
    (void)t;
    return tor_link_carries(link, v->vid) &&
           (link->section->router || find_router(v, link->interface));
}

static void tell_router(struct tor *t, const struct snoop_vlan *v, uint16_t interface,
                        const char *what) {
    const struct tor_link *link = tor_link_by_interface(t, interface);
    tor_event(t, "multicast_router", "{s:i, s:s, s:s}", "vid", v->vid, "link",
              link ? link->name : "", "what", what);
}

static void routers_changed(struct tor *t, struct snoop_vlan *v) {
    snoop_touch_all(v);
    snoop_write_unjoined(t, v);
}

static void drop_router(struct tor *t, struct snoop_vlan *v, struct snoop_router *r) {
    const uint16_t interface = r->interface;
    *r = v->routers[--v->n_routers];
    tell_router(t, v, interface, "gone");
    routers_changed(t, v);
}

static void heard_router(struct tor *t, struct snoop_vlan *v, uint16_t interface, uint64_t until) {
    struct snoop_router *r = find_router(v, interface);
    if (r) {
        r->until = MAX(r->until, until);
        return;
    }
    if (v->n_routers == v->room_routers)
        v->routers = x2nrealloc(v->routers, &v->room_routers, sizeof *v->routers);
    v->routers[v->n_routers++] = (struct snoop_router){.interface = interface, .until = until};
    tell_router(t, v, interface, "found");
    routers_changed(t, v);
}

// ---- who asks ----

static void tell_querier(struct tor *t, const struct snoop_vlan *v, enum snoop_family f) {
    const struct snoop_querier *q = &v->queriers[f];
    const struct in6_addr own = snoop_own_address(t, v, f);
    char text[TOR_TEXT];
    if (q->other || v->section->querier)
        tor_event(t, "querier", "{s:i, s:s, s:s, s:b}", "vid", v->vid, "family", family_names[f],
                  "address", tor_address_text(q->other ? &q->address : &own, text), "own",
                  !q->other);
    else
        tor_event(t, "querier", "{s:i, s:s, s:n, s:b}", "vid", v->vid, "family", family_names[f],
                  "address", "own", false);
}

// RFC 3376 8.5: so long after its last query a querier is taken for gone; with its own numbers if
// it says them.
static uint64_t present_ns(const struct snoop_vlan *v, const struct snoop_message *m) {
    const uint64_t interval = m->interval           ? m->interval
                              : v->section->querier ? v->section->query_interval
                                                    : SNOOP_INTERVAL;
    const uint64_t robustness = m->robustness ? m->robustness : SNOOP_ROBUSTNESS;
    const uint64_t response_ms =
        IN6_IS_ADDR_UNSPECIFIED(&m->group) ? m->response_ms : SNOOP_RESPONSE_MS;
    return robustness * interval * SNOOP_SECOND + response_ms * (SNOOP_SECOND / 1000) / 2;
}

// RFC 2236 3, RFC 3376 6.6.2, RFC 3810 7.6.2: of those who ask the one with the lowest address
// stays.
static void elect(struct tor *t, struct snoop_vlan *v, struct tor_link *link,
                  const struct snoop_message *m) {
    const enum snoop_family f = family_of(m);
    struct snoop_querier *q = &v->queriers[f];
    const struct in6_addr own = snoop_own_address(t, v, f);
    const bool same = q->other && memcmp(&q->address, &m->from, sizeof m->from) == 0;
    if (v->section->querier && !snoop_query_is_nobody(&own) && !is_lower(&m->from, &own))
        return;
    if (q->other && !same && !is_lower(&m->from, &q->address))
        return;
    q->other = true;
    q->address = m->from;
    q->interface = link->interface;
    q->until = t->now + present_ns(v, m);
    if (!same)
        tell_querier(t, v, f);
}

// RFC 3376 6.6.1: the querier asks whether somebody is left. Who does not answer in time leaves.
static void doubt_all(struct snoop_vlan *v, const struct tor_link *link,
                      const struct snoop_message *m, uint64_t now) {
    const struct mcast_group *learned = mcast_snooping_lookup(v->ms, &m->group, v->vid);
    struct snoop_group *g = snoop_group_find(v, &m->group);
    const struct mcast_group_bundle *b;
    const uint64_t at = now + SNOOP_ROBUSTNESS * MAX(m->response_ms, 100u) * (SNOOP_SECOND / 1000);
    if (!learned || !g)
        return;
    LIST_FOR_EACH(b, bundle_node, &learned->bundle_lru) {
        const uint16_t interface = (uint16_t)(uintptr_t)b->port;
        if (interface != link->interface)
            snoop_doubt(v, g, interface, 0, at, now);
    }
}

void snoop_heard_query(struct tor *t, struct snoop_vlan *v, struct tor_link *link,
                       const struct snoop_message *m) {
    if (snoop_query_is_nobody(&m->from))
        return;
    heard_router(t, v, link->interface, t->now + present_ns(v, m));
    elect(t, v, link, m);
    const struct snoop_querier *q = &v->queriers[family_of(m)];
    if (!IN6_IS_ADDR_UNSPECIFIED(&m->group) && !m->sources && !m->suppress && q->other &&
        memcmp(&q->address, &m->from, sizeof m->from) == 0)
        doubt_all(v, link, m, t->now);
}

// ---- asking ----

static void snoop_query_ask(struct tor *t, struct snoop_vlan *v, enum snoop_family f,
                            const struct tor_link *only, const struct in6_addr *group,
                            uint32_t response_ms) {
    uint8_t frame[SNOOP_QUERY_BYTES];
    const struct snoop_query q = {.mac = t->section->mac.bytes,
                                  .from = snoop_own_address(t, v, f),
                                  .group = *group,
                                  .response_ms = response_ms,
                                  .interval = v->section->query_interval,
                                  .robustness = SNOOP_ROBUSTNESS};
    const uint32_t length = snoop_query_frame(&q, frame);
    if (only)
        snoop_send(t, v->vid, only, frame, length);
    else
        snoop_flood(t, v->vid, NULL, frame, length);
}

void snoop_query_group(struct tor *t, struct snoop_vlan *v, const struct tor_link *link,
                       const struct in6_addr *group) {
    snoop_query_ask(t, v, tor_is_ipv4(group) ? SNOOP_IGMP : SNOOP_MLD, link, group, SNOOP_LAST_MS);
}

// Hosts answer within the interval, or queries would pile up.
static void ask_all(struct tor *t, struct snoop_vlan *v, enum snoop_family f,
                    const struct tor_link *only) {
    snoop_query_ask(t, v, f, only, &in6addr_any,
                    MIN(SNOOP_RESPONSE_MS, v->section->query_interval * 500));
}

static void run_querier(struct tor *t, struct snoop_vlan *v, enum snoop_family f) {
    struct snoop_querier *q = &v->queriers[f];
    if (q->other && t->now >= q->until) {
        q->other = false;
        q->next = t->now;
        tell_querier(t, v, f);
    }
    if (!v->section->querier || q->other || t->now < q->next)
        return;
    ask_all(t, v, f, NULL);
    // RFC 3376 8.6, 8.7
    q->next = t->now + v->section->query_interval * SNOOP_SECOND / (q->startup > 1 ? 4 : 1);
    q->startup -= q->startup > 0;
}

// ---- what happens ----

void snoop_query_configure(struct tor *t, struct snoop_vlan *v) {
    for (enum snoop_family f = 0; f < SNOOP_FAMILIES; f++) {
        struct snoop_querier *q = &v->queriers[f];
        const struct in6_addr own = snoop_own_address(t, v, f);
        // Of a configuration that has not changed 'next' is near; of a shorter interval it may be
        // far.
        q->next = MIN(q->next, t->now + v->section->query_interval * SNOOP_SECOND);
        if (q->other && v->section->querier && !snoop_query_is_nobody(&own) &&
            is_lower(&own, &q->address))
            q->until = t->now;
    }
}

void snoop_query_run(struct tor *t, struct snoop_vlan *v) {
    for (size_t i = v->n_routers; i-- > 0;)
        if (t->now >= v->routers[i].until)
            drop_router(t, v, &v->routers[i]);
    for (enum snoop_family f = 0; f < SNOOP_FAMILIES; f++)
        run_querier(t, v, f);
}

void snoop_query_link(struct tor *t, struct snoop_vlan *v, struct tor_link *link) {
    for (enum snoop_family f = 0; f < SNOOP_FAMILIES; f++)
        if (v->section->querier && !v->queriers[f].other)
            ask_all(t, v, f, link);
}

void snoop_query_forget(struct tor *t, struct snoop_vlan *v, uint16_t interface) {
    struct snoop_router *r = find_router(v, interface);
    if (r)
        drop_router(t, v, r);
    for (enum snoop_family f = 0; f < SNOOP_FAMILIES; f++)
        if (v->queriers[f].other && v->queriers[f].interface == interface)
            v->queriers[f].until = t->now;
}

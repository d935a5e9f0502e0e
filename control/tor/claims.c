// SPDX-License-Identifier: Apache-2.0
//
// claims: the switch's own addresses. It asks whether somebody else has them (RFC 5227 2.1.1: three
// probes; RFC 4862
// 5.4: one), then says that they are its own. Meanwhile it uses them: it is the way out for others,
// which cannot wait for seven seconds after each start. If somebody else has an address, that is
// told by an event; the address is defended, at most every ten seconds, and kept (RFC 5227 2.4
// (c)).
#include <stdlib.h>
#include <string.h>

#include "control/tor/neighbours.h"
#include "util.h"

#define DEFEND_EVERY (10 * NS_PER_S)

// What a claim does at its step, and how long it waits then: at least, and by chance more.
struct step {
    enum { PROBE, ANNOUNCE } what;
    uint64_t least, more;
};
static const struct step ipv4_steps[] = {
    {PROBE, 1 * NS_PER_S, 1 * NS_PER_S},
    {PROBE, 1 * NS_PER_S, 1 * NS_PER_S},
    {PROBE, 2 * NS_PER_S, 1},
    {ANNOUNCE, 2 * NS_PER_S, 1},
    {ANNOUNCE, UINT64_MAX, 1},
};
static const struct step ipv6_steps[] = {
    {PROBE, 1 * NS_PER_S, 1}, {ANNOUNCE, 1 * NS_PER_S, 1}, {ANNOUNCE, UINT64_MAX, 1}};
enum {
    IPV4_STEPS = sizeof ipv4_steps / sizeof *ipv4_steps,
    IPV6_STEPS = sizeof ipv6_steps / sizeof *ipv6_steps
};

static unsigned last_step(const struct claim *c) {
    return tor_is_ipv4(&c->address) ? IPV4_STEPS - 1 : IPV6_STEPS - 1;
}

static void claims_announce(struct tor *t, const struct claim *c) {
    if (tor_is_ipv4(&c->address))
        arp_announce(t, c->vid, &c->address);
    else
        nd_announce(t, c->vid, &c->address);
}

static void claims_set_timer(struct neighbours *all, struct claim *c, uint64_t due) {
    c->due = due;
    if (due < all->claims_next)
        all->claims_next = due;
}

static void claims_advance(struct tor *t, struct claim *c) {
    struct neighbours *all = neighbours_of(t);
    const struct step *s = tor_is_ipv4(&c->address) ? &ipv4_steps[c->step] : &ipv6_steps[c->step];
    if (s->what == ANNOUNCE)
        claims_announce(t, c);
    else if (tor_is_ipv4(&c->address))
        arp_probe(t, c->vid, &c->address);
    else
        nd_probe(t, c->vid, &c->address);
    if (c->step == last_step(c)) {
        c->due = UINT64_MAX;
        return;
    }
    c->step++;
    claims_set_timer(all, c, t->now + s->least + neighbours_random(all, s->more));
}

void claims_run(struct tor *t) {
    struct neighbours *all = neighbours_of(t);
    if (t->now < all->claims_next)
        return;
    all->claims_next = UINT64_MAX;
    for (size_t i = 0; i < all->n_claims; i++) {
        struct claim *c = &all->claims[i];
        if (c->due <= t->now)
            claims_advance(t, c);
        if (c->due < all->claims_next)
            all->claims_next = c->due;
    }
}

struct claim *claims_find(struct tor *t, uint16_t vid, const struct in6_addr *address) {
    struct neighbours *all = neighbours_of(t);
    for (size_t i = 0; i < all->n_claims; i++)
        if (all->claims[i].vid == vid && ip_equal(&all->claims[i].address, address))
            return &all->claims[i];
    return NULL;
}

// One that was there goes on; a new one begins.
static void claims_add(struct neighbours *all, struct claim *claims, size_t *n, uint64_t now,
                       const struct tor_vlan *v, struct in6_addr address) {
    for (size_t i = 0; i < all->n_claims; i++)
        if (all->claims[i].vid == v->vid && ip_equal(&all->claims[i].address, &address)) {
            claims[*n] = all->claims[i];
            if (claims[*n].silent == v->announce)
                claims[*n].due = v->announce ? now + neighbours_random(all, NS_PER_S) : UINT64_MAX;
            claims[(*n)++].silent = !v->announce;
            return;
        }
    claims[(*n)++] =
        (struct claim){.vid = v->vid,
                       .address = address,
                       .silent = !v->announce,
                       .due = v->announce ? now + neighbours_random(all, NS_PER_S) : UINT64_MAX};
}

void claims_configure(struct tor *t) {
    struct neighbours *all = neighbours_of(t);
    const struct tor_section *s = t->section;
    size_t most = s->n_vlans, n = 0; // one for each VLAN's link-local address
    for (size_t i = 0; i < s->n_vlans; i++)
        most += s->vlans[i].n_addresses;
    struct claim *claims = xcalloc(most + 1, sizeof *claims);
    for (size_t i = 0; i < s->n_vlans; i++) {
        const struct tor_vlan *v = &s->vlans[i];
        bool ipv6 = false;
        for (size_t k = 0; k < v->n_addresses; k++) {
            claims_add(all, claims, &n, t->now, v, v->addresses[k].address);
            ipv6 |= !tor_is_ipv4(&v->addresses[k].address);
        }
        if (ipv6)
            claims_add(all, claims, &n, t->now, v, tor_link_local(t));
    }
    free(all->claims);
    all->claims = claims;
    all->n_claims = n;
    all->claims_next = t->now;
}

// Whoever is after the link has not heard the others' announcements.
void claims_link_up(struct tor *t, const struct tor_link *link) {
    struct neighbours *all = neighbours_of(t);
    for (size_t i = 0; i < all->n_claims; i++) {
        struct claim *c = &all->claims[i];
        if (c->due == UINT64_MAX && !c->silent && tor_link_carries(link, c->vid))
            claims_set_timer(all, c, t->now + neighbours_random(all, NS_PER_S));
    }
}

void claims_conflict(struct tor *t, struct claim *c, const uint8_t mac[6],
                     const struct tor_frame *f) {
    c->conflicts++;
    if (c->defended && t->now - c->defended < DEFEND_EVERY)
        return;
    c->defended = t->now ? t->now : 1;
    char address[TOR_TEXT], text[TOR_TEXT];
    tor_event(t, "address_conflict", "{s:s, s:i, s:s, s:s}", "address",
              tor_address_text(&c->address, address), "vid", c->vid, "mac", tor_mac_text(mac, text),
              "link", f->link->name);
    claims_announce(t, c);
}

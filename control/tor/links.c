// SPDX-License-Identifier: Apache-2.0
//
// links: the links of the section as objects that stay, and which of their ports carry traffic.
//
// An interface number names a link in tables, and packets carry it to the control plane. That of a
// link which is removed goes to the end of the line: of the free numbers the one that has been free
// for the longest time is given next, one that was never anyone's before all others. Links that are
// isolated have numbers of their own, so a link that becomes isolated, or ceases to be, is another
// link from then on.
#include <stdlib.h>
#include <string.h>

#include "control/tor/links_impl.h"
#include "util.h"

#define SECOND UINT64_C(1000000000)

struct links *tor_links(struct tor *t) {
    return t->states[TOR_MODULE_LINKS];
}

static void *links_create(struct tor *t) {
    (void)t;
    struct links *l = xzalloc(sizeof *l);
    tor_mcast_init(l);
    return l;
}

static void free_gone(struct links *l) {
    while (l->gone) {
        struct own_link *next = l->gone->next_gone;
        free(l->gone);
        l->gone = next;
    }
}

static void links_destroy(struct tor *t, void *state) {
    (void)t;
    struct links *l = state;
    free_gone(l);
    for (size_t i = 0; i < l->n; i++)
        free(l->list[i]);
    free(l->list);
    tor_mcast_destroy(l);
    free(l);
}

// ---- numbers ----

static uint16_t free_interface(const struct links *l, bool isolated) {
    const uint16_t from = isolated ? LINKS_ISOLATED_FROM : 1;
    const uint16_t to = isolated ? LINKS_INTERFACES : LINKS_ISOLATED_FROM;
    uint16_t best = 0;
    for (uint16_t i = from; i < to; i++)
        if (!l->by_interface[i] && (!best || l->given_back[i] < l->given_back[best]))
            best = i;
    return best;
}

static uint8_t free_lag(const struct links *l) {
    for (uint8_t i = 0; i < LINKS_LAGS; i++)
        if (!l->lags[i])
            return i;
    return LINKS_NO_LAG;
}

static void give_lag(struct links *l, struct own_link *own) {
    const bool wants = own->link.section->lag;
    if (wants && own->lag == LINKS_NO_LAG)
        own->lag = free_lag(l);
    else if (!wants && own->lag != LINKS_NO_LAG) {
        l->lags[own->lag] = false;
        own->lag = LINKS_NO_LAG;
    }
    if (own->lag != LINKS_NO_LAG)
        l->lags[own->lag] = true;
}

// ---- a section comes ----

static bool is_this(const struct own_link *own, const struct tor_link_section *s) {
    return strcmp(own->link.name, s->name) == 0 && own->link.section->isolated == s->isolated;
}

// Takes the link out of the list of those that were there.
static struct own_link *links_take(struct own_link **list, size_t n,
                                   const struct tor_link_section *s) {
    for (size_t i = 0; i < n; i++)
        if (list[i] && is_this(list[i], s)) {
            struct own_link *own = list[i];
            list[i] = NULL;
            return own;
        }
    return NULL;
}

static size_t links_place_of(const struct tor_link_section *s, uint16_t port) {
    size_t i = 0;
    while (i < s->n_ports && s->ports[i] != port)
        i++;
    return i;
}

static bool any_active(const struct tor_link *link) {
    for (size_t i = 0; i < link->section->n_ports; i++)
        if (link->active[i])
            return true;
    return false;
}

// Whether ports carry traffic is asked again, but for those of which LACP has decided it.
static void take_over(struct tor *t, struct own_link *own, const struct tor_link_section *s) {
    const struct tor_link_section *old = own->link.section;
    bool active[TOR_LAG_PORTS] = {false};
    for (size_t i = 0; i < s->n_ports; i++) {
        own->carrier[i] = t->host.link(t->host.aux, s->ports[i]);
        const size_t before = old && old->lacp ? links_place_of(old, s->ports[i]) : 0;
        const bool agreed = old && old->lacp && before < old->n_ports && own->link.active[before];
        active[i] = own->carrier[i] && (!s->lacp || agreed);
    }
    memcpy(own->link.active, active, sizeof active);
    own->link.section = s;
    const bool up = any_active(&own->link);
    if (up != own->link.up)
        own->changed = t->now;
    own->link.up = up;
}

static struct own_link *new_link(struct tor *t, const struct tor_link_section *s) {
    struct own_link *own = xzalloc(sizeof *own);
    memcpy(own->link.name, s->name, sizeof own->link.name);
    own->lag = LINKS_NO_LAG;
    own->changed = t->now;
    return own;
}

static void remove_link(struct links *l, struct own_link *own) {
    l->by_interface[own->link.interface] = NULL;
    l->given_back[own->link.interface] = ++l->n_given_back;
    if (own->lag != LINKS_NO_LAG)
        l->lags[own->lag] = false;
    l->n_flapping -= own->flapping;
    own->link.up = false;
    own->next_gone = l->gone;
    l->gone = own;
}

static void links_read(struct tor *t, struct links *l) {
    const struct tor_section *s = t->section;
    struct own_link **list = xcalloc(s->n_links + 1, sizeof(struct own_link *));
    for (size_t i = 0; i < s->n_links; i++)
        list[i] = links_take(l->list, l->n, &s->links[i]);
    for (size_t i = 0; i < l->n; i++)
        if (l->list[i])
            remove_link(l, l->list[i]);
    memset(l->by_port, 0, sizeof l->by_port);
    for (size_t i = 0; i < s->n_links; i++) {
        struct own_link *own = list[i] ? list[i] : (list[i] = new_link(t, &s->links[i]));
        take_over(t, own, &s->links[i]);
        own->link.index = (uint32_t)i;
        if (!own->link.interface)
            own->link.interface = free_interface(l, s->links[i].isolated);
        l->by_interface[own->link.interface] = own;
        for (size_t p = 0; p < s->links[i].n_ports; p++)
            l->by_port[s->links[i].ports[p]] = own;
    }
    free(l->list);
    l->list = list;
    l->n = s->n_links;
    for (size_t i = 0; i < l->n; i++)
        give_lag(l, l->list[i]);
}

static void links_configure(struct tor *t, void *state, const struct tor_section *old) {
    struct links *l = state;
    free_gone(l);
    links_read(t, l);
    tor_begin(t->wanted, TOR_LINKS);
    tor_begin(t->wanted, TOR_MIRRORS);
    tor_links_say(t, l);
    tor_mcast_floods(t, l, old);
    tor_mcast_follow(t, l);
    tor_end(t->wanted, TOR_MIRRORS);
    tor_end(t->wanted, TOR_LINKS);
}

// ---- up and down ----

// A link that carries nothing any more, or again.
static void links_turn(struct tor *t, struct own_link *own, bool up) {
    own->link.up = up;
    own->changed = t->now;
    tor_event(t, "link", "{s:s, s:b}", "link", own->link.name, "up", up);
    if (!up)
        tor_fdb_flush_link(t, &own->link);
}

void tor_link_set_active(struct tor *t, struct tor_link *link, uint16_t port, bool active) {
    struct own_link *own = CONTAINER_OF(link, struct own_link, link);
    const size_t i = links_place_of(link->section, port);
    if (i == link->section->n_ports || link->active[i] == active)
        return;
    link->active[i] = active;
    if (link->section->lag)
        tor_event(t, "member", "{s:s, s:i, s:b}", "link", link->name, "port", (int)port, "active",
                  active);
    if (any_active(link) != link->up)
        links_turn(t, own, any_active(link));
    tor_links_say_active(t, own);
    tor_links_say_mirrors_to(t, own);
}

static void tell_flapping(struct tor *t, const struct own_link *own) {
    tor_event(t, "alarm", "{s:s, s:s, s:b}", "alarm", "flapping link", "link", own->link.name, "on",
              own->flapping);
}

static void count_change(struct tor *t, struct links *l, struct own_link *own) {
    own->flaps[own->n_flaps++ % LINKS_FLAP_CHANGES] = t->now;
    const uint64_t first = own->flaps[own->n_flaps % LINKS_FLAP_CHANGES];
    if (own->flapping || own->n_flaps < LINKS_FLAP_CHANGES ||
        t->now - first > LINKS_FLAP_SECONDS * SECOND)
        return;
    own->flapping = true;
    l->n_flapping++;
    tell_flapping(t, own);
}

static void links_changed(struct tor *t, void *state, struct tor_link *link, uint16_t port,
                          bool up) {
    struct links *l = state;
    struct own_link *own = CONTAINER_OF(link, struct own_link, link);
    const size_t i = links_place_of(link->section, port);
    if (i == link->section->n_ports || own->carrier[i] == up)
        return;
    own->carrier[i] = up;
    count_change(t, l, own);
    // LACP says when a port carries traffic again (lag.c)
    if (!up || !link->section->lacp)
        tor_link_set_active(t, link, port, up);
}

static void links_run(struct tor *t, void *state, uint64_t now_ns) {
    struct links *l = state;
    free_gone(l);
    for (size_t i = 0; i < l->n; i++)
        tor_limits_run(t, &l->list[i]->link);
    for (size_t i = 0; l->n_flapping > 0 && i < l->n; i++) {
        struct own_link *own = l->list[i];
        const uint64_t last =
            own->flaps[(own->n_flaps + LINKS_FLAP_CHANGES - 1) % LINKS_FLAP_CHANGES];
        if (!own->flapping || now_ns - last < LINKS_QUIET_SECONDS * SECOND)
            continue;
        own->flapping = false;
        l->n_flapping--;
        tell_flapping(t, own);
    }
}

// ---- for others ----

struct tor_link *tor_link_by_index(struct tor *t, uint32_t index) {
    const struct links *l = tor_links(t);
    return index < l->n ? &l->list[index]->link : NULL;
}

struct tor_link *tor_link_by_interface(struct tor *t, uint16_t interface) {
    const struct links *l = tor_links(t);
    struct own_link *own = interface < LINKS_INTERFACES ? l->by_interface[interface] : NULL;
    return own ? &own->link : NULL;
}

struct tor_link *tor_link_by_port(struct tor *t, uint16_t port) {
    const struct links *l = tor_links(t);
    struct own_link *own = port < LINKS_PORTS ? l->by_port[port] : NULL;
    return own ? &own->link : NULL;
}

struct tor_link *tor_link_by_name(struct tor *t, const char *name) {
    const struct links *l = tor_links(t);
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->list[i]->link.name, name) == 0)
            return &l->list[i]->link;
    return NULL;
}

static int compare_vids(const void *a, const void *b) {
    const uint16_t x = *(const uint16_t *)a, y = *(const uint16_t *)b;
    return (x > y) - (x < y);
}

bool tor_link_carries(const struct tor_link *link, uint16_t vid) {
    const struct tor_link_section *s = link->section;
    return vid != 0 &&
           (s->untagged == vid ||
            (s->n_vids > 0 && bsearch(&vid, s->vids, s->n_vids, sizeof *s->vids, compare_vids)));
}

struct tor_link *tor_link_of_vlan(struct tor *t, uint16_t vid, size_t n) {
    const struct links *l = tor_links(t);
    for (size_t i = 0; i < l->n; i++)
        if (tor_link_carries(&l->list[i]->link, vid) && n-- == 0)
            return &l->list[i]->link;
    return NULL;
}

const struct tor_module tor_links_module = {.name = "links",
                                            .create = links_create,
                                            .destroy = links_destroy,
                                            .configure = links_configure,
                                            .run = links_run,
                                            .link = links_changed,
                                            .request = tor_links_request};

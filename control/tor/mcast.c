// SPDX-License-Identifier: Apache-2.0
//
// mcast: multicast groups with a copy for each of some links, and those that VLANs are flooded to.
//
// Each link in a group is a node of its own, since on the chip a node is in one group: number mgid
// * 1024 + interface, replication id 0, with the link's port or its LAG. The interface is its
//   exclusion id: no copy goes
// back to where a packet came from.
#include <stdlib.h>
#include <string.h>

#include "control/tor/links_impl.h"
#include "hash.h"
#include "openvswitch/dynamic-string.h"
#include "util.h"

#define MGID_FIRST 4096u  // below are VLANs
#define MGID_END   65520u // from here on are those of programs (p4/switchml)

struct group {
    struct hmap_node node;
    uint16_t mgid;
    enum tor_set set;     // whose it is
    uint16_t *interfaces; // n of them, ascending
    size_t n;
};

void tor_mcast_init(struct links *l) {
    hmap_init(&l->groups);
}

static void mcast_forget(struct links *l, struct group *g) {
    hmap_remove(&l->groups, &g->node);
    free(g->interfaces);
    free(g);
}

void tor_mcast_destroy(struct links *l) {
    struct group *g, *next;
    HMAP_FOR_EACH_SAFE(g, next, node, &l->groups) mcast_forget(l, g);
    hmap_destroy(&l->groups);
}

static struct group *mcast_find(const struct links *l, uint16_t mgid) {
    struct group *g;
    HMAP_FOR_EACH_WITH_HASH(g, node, hash_int(mgid, 0), &l->groups)
    if (g->mgid == mgid)
        return g;
    return NULL;
}

static struct group *mcast_find_or_add(struct links *l, uint16_t mgid) {
    struct group *g = mcast_find(l, mgid);
    if (!g) {
        g = xzalloc(sizeof *g);
        g->mgid = mgid;
        hmap_insert(&l->groups, &g->node, hash_int(mgid, 0));
    }
    return g;
}

// ---- one group ----

static unsigned mcast_node_of(uint16_t mgid, uint16_t interface) {
    return mgid * LINKS_INTERFACES + interface;
}

static int mcast_compare(const void *a, const void *b) {
    return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

// The links' interfaces, each once, without those of links that are no more.
static size_t interfaces_of(const struct links *l, struct tor_link *const *links, size_t n,
                            uint16_t *out) {
    size_t m = 0, once = 0;
    for (size_t i = 0; i < n; i++)
        if (l->by_interface[links[i]->interface] == CONTAINER_OF(links[i], struct own_link, link))
            out[m++] = links[i]->interface;
    if (m > 0)
        qsort(out, m, sizeof *out, mcast_compare);
    for (size_t i = 0; i < m; i++)
        if (once == 0 || out[once - 1] != out[i])
            out[once++] = out[i];
    return once;
}

static void say_node(struct tor *t, enum tor_set set, uint16_t mgid, const struct own_link *own) {
    const unsigned node = mcast_node_of(mgid, own->link.interface);
    if (!own->link.section->lag)
        tor_want(t->wanted, set, "node %u -> rid=0 ports=%u", node, own->link.section->ports[0]);
    else if (own->lag != LINKS_NO_LAG)
        tor_want(t->wanted, set, "node %u -> rid=0 lags=%u", node, own->lag);
    else
        tor_want(t->wanted, set, "node %u -> rid=0", node);
}

static bool mcast_has(const uint16_t *interfaces, size_t n, uint16_t interface) {
    return n > 0 && bsearch(&interface, interfaces, n, sizeof interface, mcast_compare);
}

void tor_mcast_want(struct tor *t, enum tor_set set, uint16_t mgid, struct tor_link *const *links,
                    size_t n) {
    struct links *l = tor_links(t);
    struct group *g = mcast_find_or_add(l, mgid);
    uint16_t *interfaces = xcalloc(n + 1, sizeof *interfaces);
    const size_t m = interfaces_of(l, links, n, interfaces);
    struct ds members = DS_EMPTY_INITIALIZER;
    for (size_t i = 0; i < m; i++) {
        say_node(t, set, mgid, l->by_interface[interfaces[i]]);
        ds_put_format(&members, "%s%u:%u", i ? " " : "", mcast_node_of(mgid, interfaces[i]),
                      interfaces[i]);
    }
    tor_want(t->wanted, set, "mcast %u -> %s", mgid, ds_cstr(&members));
    ds_destroy(&members);
    for (size_t i = 0; i < g->n; i++)
        if (!mcast_has(interfaces, m, g->interfaces[i]))
            tor_unwant(t->wanted, "node %u", mcast_node_of(mgid, g->interfaces[i]));
    free(g->interfaces);
    g->interfaces = interfaces;
    g->n = m;
    g->set = set;
}

void tor_mcast_unwant(struct tor *t, uint16_t mgid) {
    struct links *l = tor_links(t);
    struct group *g = mcast_find(l, mgid);
    if (!g)
        return;
    tor_unwant(t->wanted, "mcast %u", mgid);
    for (size_t i = 0; i < g->n; i++)
        tor_unwant(t->wanted, "node %u", mcast_node_of(mgid, g->interfaces[i]));
    mcast_forget(l, g);
}

// ---- numbers ----

uint16_t tor_mgid_new(struct tor *t) {
    struct links *l = tor_links(t);
    for (uint32_t i = MGID_FIRST; i < MGID_END; i++)
        if (!(l->mgids[i / 64] >> i % 64 & 1)) {
            l->mgids[i / 64] |= UINT64_C(1) << i % 64;
            return (uint16_t)i;
        }
    return 0;
}

void tor_mgid_free(struct tor *t, uint16_t mgid) {
    struct links *l = tor_links(t);
    l->mgids[mgid / 64] &= ~(UINT64_C(1) << mgid % 64);
}

// ---- when links change ----

// Others' groups lose the links that are gone, and their nodes follow the ports of those that stay.
static void mcast_follow(struct tor *t, struct links *l, struct group *g) {
    struct tor_link **links = xcalloc(g->n + 1, sizeof *links);
    char name[32];
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++)
        if (l->by_interface[g->interfaces[i]])
            links[n++] = &l->by_interface[g->interfaces[i]]->link;
    snprintf(name, sizeof name, "mcast %u", g->mgid);
    if (tor_wanted_as(t->wanted, name))
        tor_mcast_want(t, g->set, g->mgid, links, n);
    else
        tor_mcast_unwant(t, g->mgid);
    free(links);
}

void tor_mcast_follow(struct tor *t, struct links *l) {
    struct group *g, *next;
    HMAP_FOR_EACH_SAFE(g, next, node, &l->groups)
    if (g->set != TOR_LINKS)
        mcast_follow(t, l, g);
}

// ---- flooding ----

void tor_mcast_floods(struct tor *t, struct links *l, const struct tor_section *old) {
    struct tor_link **links = xcalloc(l->n + 1, sizeof *links);
    for (size_t i = 0; i < t->section->n_vlans; i++) {
        const uint16_t vid = t->section->vlans[i].vid;
        size_t n = 0;
        for (size_t k = 0; k < l->n; k++)
            if (tor_link_carries(&l->list[k]->link, vid))
                links[n++] = &l->list[k]->link;
        tor_mcast_want(t, TOR_LINKS, vid, links, n);
        tor_want(t->wanted, TOR_LINKS, "entry floods vid=%u -> flood_to group=%u", vid, vid);
    }
    for (size_t i = 0; old && i < old->n_vlans; i++)
        if (!tor_section_vlan(t->section, old->vlans[i].vid))
            tor_mcast_unwant(t, old->vlans[i].vid);
    free(links);
}

// SPDX-License-Identifier: Apache-2.0
//
// snoop_tables: groups become entries. The switch looks at Ethernet addresses: an entry has the
// members of all groups that share one, and the routers' links.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tor/snoop_state.h"
#include "hash.h"

static uint32_t snoop_tables_hash_of(const struct snoop_vlan *v, const void *bytes, size_t length) {
    return hash_bytes(bytes, length, v->hash_secret);
}

// ---- groups and addresses ----

struct snoop_group *snoop_group_find(const struct snoop_vlan *v, const struct in6_addr *address) {
    struct snoop_group *g;
    HMAP_FOR_EACH_WITH_HASH(g, node, snoop_tables_hash_of(v, address, sizeof *address),
                            &v->groups) {
        if (memcmp(&g->address, address, sizeof *address) == 0)
            return g;
    }
    return NULL;
}

bool snoop_mac_is_flooded(const uint8_t mac[6]) {
    return (mac[0] == 0x01 && mac[3] == 0 && mac[4] == 0) ||
           (mac[0] == 0x33 && (mac[2] == 0xff || (mac[2] == 0 && mac[3] <= 1 && mac[4] == 0)));
}

static struct snoop_mac_entry *need_mac(struct snoop *s, struct snoop_vlan *v,
                                        const struct in6_addr *address) {
    uint8_t mac[6];
    struct snoop_mac_entry *m;
    snoop_mac(address, mac);
    HMAP_FOR_EACH_WITH_HASH(m, node, snoop_tables_hash_of(v, mac, 6), &v->macs) {
        if (memcmp(m->mac, mac, 6) == 0)
            return m;
    }
    if (s->n_macs == SNOOP_MACS)
        return NULL;
    s->n_macs++;
    m = xzalloc(sizeof *m);
    memcpy(m->mac, mac, 6);
    m->flooded = snoop_mac_is_flooded(mac);
    ovs_list_init(&m->dirty);
    ovs_list_init(&m->groups);
    hmap_insert(&v->macs, &m->node, snoop_tables_hash_of(v, mac, 6));
    return m;
}

struct snoop_group *snoop_group_need(struct snoop *s, struct snoop_vlan *v,
                                     const struct in6_addr *address) {
    struct snoop_group *g = snoop_group_find(v, address);
    if (g || hmap_count(&v->groups) >= SNOOP_GROUPS)
        return g;
    struct snoop_mac_entry *m = need_mac(s, v, address);
    if (!m)
        return NULL;
    g = xzalloc(sizeof *g);
    g->address = *address;
    g->mac = m;
    ovs_list_init(&g->doubts);
    ovs_list_push_back(&m->groups, &g->in_mac);
    hmap_insert(&v->groups, &g->node, snoop_tables_hash_of(v, address, sizeof *address));
    return g;
}

bool snoop_is_member(struct snoop_vlan *v, const struct in6_addr *group, uint16_t interface) {
    const struct mcast_group *g = mcast_snooping_lookup(v->ms, group, v->vid);
    const struct mcast_group_bundle *b;
    if (g)
        LIST_FOR_EACH(b, bundle_node, &g->bundle_lru) {
            if (b->port == snoop_key(interface))
                return true;
        }
    return false;
}

void snoop_touch(struct snoop_vlan *v, struct snoop_group *g) {
    if (ovs_list_is_empty(&g->mac->dirty))
        ovs_list_push_back(&v->dirty, &g->mac->dirty);
}

void snoop_touch_all(struct snoop_vlan *v) {
    struct snoop_mac_entry *m;
    HMAP_FOR_EACH(m, node, &v->macs) {
        if (ovs_list_is_empty(&m->dirty))
            ovs_list_push_back(&v->dirty, &m->dirty);
    }
}

// ---- entries ----

static void snoop_tables_add(struct snoop_links *l, uint16_t interface) {
    l->bits[interface / 64] |= UINT64_C(1) << interface % 64;
}
static bool snoop_tables_any(const struct snoop_links *l) {
    for (size_t i = 0; i < SNOOP_INTERFACES / 64; i++)
        if (l->bits[i])
            return true;
    return false;
}

static void snoop_tables_add_members(const struct snoop_vlan *v, const struct snoop_group *g,
                                     struct snoop_links *out) {
    const struct mcast_group *learned = mcast_snooping_lookup(v->ms, &g->address, v->vid);
    const struct mcast_group_bundle *b;
    for (size_t i = 0; i < SNOOP_INTERFACES / 64; i++)
        out->bits[i] |= g->fixed.bits[i];
    if (learned)
        LIST_FOR_EACH(b, bundle_node, &learned->bundle_lru)
    snoop_tables_add(out, (uint16_t)(uintptr_t)b->port);
}

static void add_routers(struct tor *t, const struct snoop_vlan *v, struct snoop_links *out) {
    for (uint32_t i = 0; i < t->section->n_links; i++) {
        const struct tor_link *link = tor_link_by_index(t, i);
        if (link && snoop_is_router(t, v, link))
            snoop_tables_add(out, link->interface);
    }
}

static void want_mcast(struct tor *t, const struct snoop_vlan *v, enum tor_set set, uint16_t mgid,
                       const struct snoop_links *l) {
    struct tor_link *links[SNOOP_INTERFACES];
    size_t n = 0;
    for (uint16_t i = 0; i < SNOOP_INTERFACES; i++) {
        if (!(l->bits[i / 64] >> i % 64 & 1))
            continue;
        links[n] = tor_link_by_interface(t, i);
        n += links[n] && tor_link_carries(links[n], v->vid);
    }
    tor_mcast_want(t, set, mgid, links, n);
}

// Has another module an entry of that address? That of a job's group goes to its workers, whoever
// joins it.
static bool is_anothers(struct tor *t, const struct snoop_vlan *v,
                        const struct snoop_mac_entry *m) {
    char object[TOR_TEXT + 64], own[32], text[TOR_TEXT];
    snprintf(object, sizeof object, "entry destinations vid=%u dst_addr=%s", v->vid,
             tor_mac_text(m->mac, text));
    snprintf(own, sizeof own, "group group=%u", m->mgid);
    const char *as = tor_wanted_as(t->wanted, object);
    return as && (m->mgid == 0 || strcmp(as, own) != 0);
}

static void unwant_mac(struct tor *t, const struct snoop_vlan *v, struct snoop_mac_entry *m) {
    char text[TOR_TEXT];
    if (m->mgid == 0)
        return;
    if (!is_anothers(t, v, m))
        tor_unwant(t->wanted, "entry destinations vid=%u dst_addr=%s", v->vid,
                   tor_mac_text(m->mac, text));
    tor_mcast_unwant(t, m->mgid);
    tor_mgid_free(t, m->mgid);
    m->mgid = 0;
}

static void want_mac(struct tor *t, const struct snoop_vlan *v, struct snoop_mac_entry *m) {
    struct snoop_links l = {{0}};
    const struct snoop_group *g;
    char text[TOR_TEXT];
    LIST_FOR_EACH(g, in_mac, &m->groups)
    snoop_tables_add_members(v, g, &l);
    m->anothers = is_anothers(t, v, m);
    if (m->anothers) {
        unwant_mac(t, v, m);
        return;
    }
    // Without a number for a group it is flooded: too many get it, nobody misses it.
    if (snoop_tables_any(&l) && !m->flooded && m->mgid == 0)
        m->mgid = tor_mgid_new(t);
    if (!snoop_tables_any(&l) || m->mgid == 0) {
        unwant_mac(t, v, m);
        return;
    }
    add_routers(t, v, &l);
    want_mcast(t, v, TOR_SNOOP_LEARNED, m->mgid, &l);
    tor_want(t->wanted, TOR_SNOOP_LEARNED,
             "entry destinations vid=%u dst_addr=%s -> group group=%u", v->vid,
             tor_mac_text(m->mac, text), m->mgid);
}

static void want_unjoined(struct tor *t, struct snoop_vlan *v) {
    struct snoop_links l = {{0}};
    if (v->unjoined == 0)
        return;
    add_routers(t, v, &l);
    want_mcast(t, v, TOR_SNOOP, v->unjoined, &l);
    tor_want(t->wanted, TOR_SNOOP, "entry unjoined vid=%u joinable=1 -> to_routers group=%u",
             v->vid, v->unjoined);
}

static void unwant_unjoined(struct tor *t, struct snoop_vlan *v) {
    if (v->unjoined == 0)
        return;
    tor_unwant(t->wanted, "entry unjoined vid=%u joinable=1", v->vid);
    tor_mcast_unwant(t, v->unjoined);
    tor_mgid_free(t, v->unjoined);
    v->unjoined = 0;
}

void snoop_doubt_free(struct snoop_doubt *d) {
    ovs_list_remove(&d->in_vlan);
    ovs_list_remove(&d->in_group);
    free(d);
}

static void snoop_tables_free_group(struct snoop_vlan *v, struct snoop_group *g) {
    struct snoop_doubt *d;
    LIST_FOR_EACH_SAFE(d, in_group, &g->doubts)
    snoop_doubt_free(d);
    ovs_list_remove(&g->in_mac);
    hmap_remove(&v->groups, &g->node);
    free(g);
}

static void free_mac(struct tor *t, struct snoop *s, struct snoop_vlan *v,
                     struct snoop_mac_entry *m) {
    unwant_mac(t, v, m);
    hmap_remove(&v->macs, &m->node);
    s->n_macs--;
    free(m);
}

static void free_unused_groups(struct snoop_vlan *v, struct snoop_mac_entry *m) {
    struct snoop_group *g;
    LIST_FOR_EACH_SAFE(g, in_mac, &m->groups) {
        struct snoop_links l = {{0}};
        snoop_tables_add_members(v, g, &l);
        if (!snoop_tables_any(&l))
            snoop_tables_free_group(v, g);
    }
}

void snoop_write(struct tor *t, struct snoop *s, struct snoop_vlan *v) {
    struct snoop_mac_entry *m;
    LIST_FOR_EACH_SAFE(m, dirty, &v->dirty) {
        ovs_list_remove(&m->dirty);
        ovs_list_init(&m->dirty);
        free_unused_groups(v, m);
        if (ovs_list_is_empty(&m->groups))
            free_mac(t, s, v, m);
        else
            want_mac(t, v, m);
    }
}

void snoop_touch_given_back(struct tor *t, struct snoop_vlan *v) {
    struct snoop_mac_entry *m;
    HMAP_FOR_EACH(m, node, &v->macs) {
        if (m->anothers != is_anothers(t, v, m) && ovs_list_is_empty(&m->dirty))
            ovs_list_push_back(&v->dirty, &m->dirty);
    }
}

void snoop_write_unjoined(struct tor *t, struct snoop_vlan *v) {
    if (v->section->flood_unknown) {
        unwant_unjoined(t, v);
        return;
    }
    if (v->unjoined == 0)
        v->unjoined = tor_mgid_new(t);
    want_unjoined(t, v);
}

void snoop_unwant(struct tor *t, struct snoop *s, struct snoop_vlan *v) {
    struct snoop_mac_entry *m;
    struct snoop_group *g;
    HMAP_FOR_EACH_SAFE(g, node, &v->groups)
    snoop_tables_free_group(v, g);
    HMAP_FOR_EACH_SAFE(m, node, &v->macs)
    free_mac(t, s, v, m);
    ovs_list_init(&v->dirty);
    unwant_unjoined(t, v);
}

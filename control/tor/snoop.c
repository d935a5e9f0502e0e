// SPDX-License-Identifier: Apache-2.0
//
// snoop: IGMP and MLD snooping (RFC 4541): who has joined which group, so that the others are left
// alone.
//
// The switch gives us every message of IGMP and MLD and passes none of them on: queries we send to
// all links of the VLAN, reports to routers' links alone, so that hosts do not hold back theirs.
// What a frame says about itself is verified before anything is believed (igmp.c, mld.c). In VLANs
// without snooping they go everywhere.
//
// Groups of a link (224.0.0.0/24, ff02::1) are nobody's in particular, and Ethernet addresses that
// they share with others always flooded. What one VLAN, or one link in it, can make us remember is
// bounded: what does not fit is refused with an alarm, and those who are members stay so.
#include "control/tor/snoop_state.h"

#include <stdlib.h>
#include <string.h>

#include "timeval.h"
#include "util.h"

#define RUN_NS     (SNOOP_SECOND / 20)
#define EVENTS     100u // that are told in a second
#define ALARM_NS   (60 * SNOOP_SECOND)
#define LAST_NS    (SNOOP_LAST_MS * (SNOOP_SECOND / 1000))
#define IDLE_NS(v) ((v)->ms->idle_time * SNOOP_SECOND)

// ---- frames ----

bool snoop_may_pass(const struct tor_link *from, const struct tor_link *to) {
    return from != to && !(from && from->section->isolated && to->section->isolated);
}

void snoop_send(struct tor *t, uint16_t vid, const struct tor_link *link, const uint8_t *frame,
                uint32_t length) {
    for (size_t i = 0; i < link->section->n_ports; i++)
        if (link->active[i]) {
            tor_send_port(t, link->section->ports[i], vid, frame, length);
            return;
        }
}

void snoop_flood(struct tor *t, uint16_t vid, const struct tor_link *from, const uint8_t *frame,
                 uint32_t length) {
    for (uint32_t i = 0; i < t->section->n_links; i++) {
        const struct tor_link *link = tor_link_by_index(t, i);
        if (link && tor_link_carries(link, vid) && snoop_may_pass(from, link))
            snoop_send(t, vid, link, frame, length);
    }
}

static void to_routers(struct tor *t, const struct snoop_vlan *v, const struct tor_frame *f) {
    for (uint32_t i = 0; i < t->section->n_links; i++) {
        const struct tor_link *link = tor_link_by_index(t, i);
        if (link && snoop_is_router(t, v, link) && snoop_may_pass(f->link, link))
            snoop_send(t, v->vid, link, f->bytes, f->length);
    }
}

// As the switch would have done.
static void pass_on(struct tor *t, const struct tor_frame *f) {
    const struct tor_link *to = f->bytes[0] & 1 ? NULL : tor_fdb_find(t, f->vid, f->bytes);
    if (!to)
        snoop_flood(t, f->vid, f->link, f->bytes, f->length);
    else if (snoop_may_pass(f->link, to))
        snoop_send(t, f->vid, to, f->bytes, f->length);
}

// ---- events ----

static void snoop_tell(struct tor *t, struct snoop *s, const struct snoop_vlan *v,
                       const struct in6_addr *group, uint16_t interface, const char *what) {
    const struct tor_link *link = tor_link_by_interface(t, interface);
    char text[TOR_TEXT];
    if (t->now >= s->events_at) {
        s->events_at = t->now + SNOOP_SECOND;
        s->events = 0;
    }
    if (s->events++ < EVENTS)
        tor_event(t, "group", "{s:i, s:s, s:s, s:s}", "vid", v->vid, "group",
                  tor_address_text(group, text), "link", link ? link->name : "", "what", what);
}

static void snoop_refuse(struct tor *t, struct snoop_vlan *v, const struct tor_link *link) {
    v->refused++;
    if (t->now < v->alarm_at)
        return;
    v->alarm_at = t->now + ALARM_NS;
    tor_event(t, "alarm", "{s:s, s:i, s:s, s:s}", "alarm", "groups", "vid", v->vid, "link",
              link->name, "why", "too many groups are joined; further ones are not learned");
}

// ---- members ----

// 224.0.0.0/24, ff00:: to ff01::, and those of ff02::/16 that are flooded: all nodes, solicited
// nodes, of which every host joins some. RFC 4541 2.1.2, RFC 3810 6.
static bool is_of_the_link(const struct in6_addr *a) {
    uint8_t mac[6];
    if (tor_is_ipv4(a))
        return a->s6_addr[12] == 224 && a->s6_addr[13] == 0 && a->s6_addr[14] == 0;
    snoop_mac(a, mac);
    return (a->s6_addr[1] & 15) < 2 || ((a->s6_addr[1] & 15) == 2 && snoop_mac_is_flooded(mac));
}

static struct snoop_doubt *find_doubt(const struct snoop_group *g, uint16_t interface) {
    struct snoop_doubt *d;
    LIST_FOR_EACH(d, in_group, &g->doubts) {
        if (d->interface == interface)
            return d;
    }
    return NULL;
}

static struct snoop_doubt *need_doubt(struct snoop_vlan *v, struct snoop_group *g,
                                      uint16_t interface) {
    struct snoop_doubt *d = find_doubt(g, interface);
    if (d)
        return d;
    d = xzalloc(sizeof *d);
    d->group = g;
    d->interface = interface;
    ovs_list_push_back(&v->doubts, &d->in_vlan);
    ovs_list_push_back(&g->doubts, &d->in_group);
    return d;
}

void snoop_doubt(struct snoop_vlan *v, struct snoop_group *g, uint16_t interface, unsigned asks,
                 uint64_t leave_at, uint64_t now) {
    struct snoop_doubt *d = need_doubt(v, g, interface);
    // RFC 3376 7.3.2: a host of version 1 does not answer to that.
    if (now < d->version_1_until || (d->leave_at && d->leave_at <= leave_at))
        return;
    d->leave_at = leave_at;
    d->asks = asks;
    d->ask_at = now + LAST_NS;
}

static void snoop_join(struct tor *t, struct snoop *s, struct snoop_vlan *v, struct tor_link *link,
                       const struct in6_addr *address, bool version_1) {
    const uint16_t i = link->interface;
    const bool is_new = !snoop_is_member(v, address, i);
    struct snoop_group *g = is_new && v->memberships[i] >= SNOOP_GROUPS_OF_LINK
                                ? NULL
                                : snoop_group_need(s, v, address);
    if (!g) {
        snoop_refuse(t, v, link);
        return;
    }
    mcast_snooping_add_group(v->ms, address, v->vid, snoop_key(i));
    struct snoop_doubt *d = version_1 ? need_doubt(v, g, i) : find_doubt(g, i);
    if (d) {
        d->leave_at = 0;
        if (version_1)
            d->version_1_until = t->now + IDLE_NS(v);
    }
    if (is_new) {
        v->memberships[i]++;
        snoop_touch(v, g);
        snoop_tell(t, s, v, address, i, "joined");
    }
}

// Open vSwitch's table keeps a group without members until it is the oldest: let it be.
static void forget_if_empty(struct snoop_vlan *v, const struct in6_addr *address) {
    struct mcast_group *g = mcast_snooping_lookup(v->ms, address, v->vid);
    if (g && ovs_list_is_empty(&g->bundle_lru)) {
        ovs_list_remove(&g->group_node);
        ovs_list_push_front(&v->ms->group_lru, &g->group_node);
    }
}

static void remove_member(struct tor *t, struct snoop *s, struct snoop_vlan *v,
                          const struct in6_addr *address, uint16_t interface, const char *why) {
    struct snoop_group *g = snoop_group_find(v, address);
    if (!mcast_snooping_leave_group(v->ms, address, v->vid, snoop_key(interface)))
        return;
    forget_if_empty(v, address);
    v->memberships[interface]--;
    snoop_tell(t, s, v, address, interface, why);
    if (g)
        snoop_touch(v, g);
}

// Somebody of the link does not want it any more; others may. Where another querier is, it hears of
// it and asks.
static void snoop_leave(struct tor *t, struct snoop *s, struct snoop_vlan *v, struct tor_link *link,
                        const struct in6_addr *address) {
    struct snoop_group *g = snoop_group_find(v, address);
    const bool mld = !tor_is_ipv4(address);
    if (!g || !snoop_is_member(v, address, link->interface))
        return;
    const struct snoop_doubt *d = find_doubt(g, link->interface);
    if (d && (t->now < d->version_1_until || d->leave_at))
        return;
    if (v->section->immediate_leave) {
        remove_member(t, s, v, address, link->interface, "left");
    } else if (!v->queriers[mld ? SNOOP_MLD : SNOOP_IGMP].other) {
        snoop_doubt(v, g, link->interface, SNOOP_ROBUSTNESS - 1,
                    t->now + SNOOP_ROBUSTNESS * LAST_NS, t->now);
        snoop_query_group(t, v, link, address);
    }
}

static void read_report(struct tor *t, struct snoop *s, struct snoop_vlan *v,
                        const struct tor_frame *f, const struct snoop_message *m) {
    for (uint32_t i = 0; i < m->n_records; i++) {
        const struct snoop_record *r = &m->records[i];
        if (is_of_the_link(&r->group))
            continue;
        if (r->leave)
            snoop_leave(t, s, v, f->link, &r->group);
        else
            snoop_join(t, s, v, f->link, &r->group, m->version == 1 && !m->mld);
    }
}

static void snoop_frame(struct tor *t, void *state, const struct tor_frame *f) {
    struct snoop *s = state;
    struct snoop_message m;
    struct snoop_vlan *v = s->vlans[f->vid & 4095];
    if (f->reason != TOR_REASON_SNOOP || !f->link || f->vid == 0)
        return;
    if (!v) {
        pass_on(t, f);
        return;
    }
    switch (snoop_read(f->bytes, f->length, &m)) {
    case SNOOP_BAD:
        v->bad++;
        return;
    case SNOOP_OTHER:
        pass_on(t, f);
        return;
    case SNOOP_GOOD:
        break;
    }
    if (m.query && f->link->section->guarded) {
        v->guarded++;
        return;
    }
    if (m.query) {
        snoop_heard_query(t, v, f->link, &m);
        snoop_flood(t, f->vid, f->link, f->bytes, f->length);
    } else {
        read_report(t, s, v, f, &m);
        to_routers(t, v, f);
    }
    snoop_write(t, s, v);
}

// ---- time ----

static void run_doubts(struct tor *t, struct snoop *s, struct snoop_vlan *v) {
    struct snoop_doubt *d;
    LIST_FOR_EACH_SAFE(d, in_vlan, &v->doubts) {
        if (d->leave_at && t->now >= d->leave_at) {
            d->leave_at = 0;
            remove_member(t, s, v, &d->group->address, d->interface, "left");
        } else if (d->leave_at && d->asks > 0 && t->now >= d->ask_at) {
            const struct tor_link *link = tor_link_by_interface(t, d->interface);
            if (link)
                snoop_query_group(t, v, link, &d->group->address);
            d->asks--;
            d->ask_at += LAST_NS;
        }
        if (d->leave_at == 0 && t->now >= d->version_1_until)
            snoop_doubt_free(d);
    }
}

// Members that were silent for too long. Each group has its oldest first.
static void snoop_age(struct tor *t, struct snoop *s, struct snoop_vlan *v) {
    const time_t now = time_now();
    struct snoop_group *g;
    HMAP_FOR_EACH(g, node, &v->groups) {
        struct mcast_group *learned = mcast_snooping_lookup(v->ms, &g->address, v->vid);
        while (learned && !ovs_list_is_empty(&learned->bundle_lru)) {
            const struct mcast_group_bundle *b = CONTAINER_OF(
                ovs_list_front(&learned->bundle_lru), struct mcast_group_bundle, bundle_node);
            if (b->expires > now)
                break;
            remove_member(t, s, v, &g->address, (uint16_t)(uintptr_t)b->port, "silent");
        }
    }
}

static void count_memberships(struct snoop_vlan *v) {
    const struct mcast_group *g;
    const struct mcast_group_bundle *b;
    memset(v->memberships, 0, sizeof v->memberships);
    LIST_FOR_EACH(g, group_node, &v->ms->group_lru)
    LIST_FOR_EACH(b, bundle_node, &g->bundle_lru)
    v->memberships[(uint16_t)(uintptr_t)b->port % SNOOP_INTERFACES]++;
}

// The library may take away what aged between our look at the clock and its own.
static void run_library(struct snoop_vlan *v) {
    if (mcast_snooping_run(v->ms)) {
        count_memberships(v);
        snoop_touch_all(v);
    }
}

static void snoop_forget(struct tor *t, struct snoop *s, struct snoop_vlan *v, uint16_t interface) {
    struct snoop_doubt *d;
    LIST_FOR_EACH_SAFE(d, in_vlan, &v->doubts) {
        if (d->interface == interface)
            snoop_doubt_free(d);
    }
    if (v->memberships[interface] > 0) {
        mcast_snooping_flush_bundle(v->ms, snoop_key(interface));
        v->memberships[interface] = 0;
        snoop_touch_all(v);
    }
    snoop_query_forget(t, v, interface);
    snoop_write(t, s, v);
}

static void forget_link(struct tor *t, struct snoop *s, uint16_t interface) {
    for (unsigned vid = 0; vid < 4096; vid++) {
        struct snoop_vlan *v = s->vlans[vid];
        if (v)
            snoop_forget(t, s, v, interface);
    }
}

static void snoop_link_up(struct tor *t, struct snoop *s, struct tor_link *link) {
    for (unsigned vid = 0; vid < 4096; vid++)
        if (s->vlans[vid] && tor_link_carries(link, (uint16_t)vid))
            snoop_query_link(t, s->vlans[vid], link);
}

// LACP takes links up and down, too.
static void look_at_links(struct tor *t, struct snoop *s) {
    for (uint32_t i = 0; i < t->section->n_links; i++) {
        struct tor_link *link = tor_link_by_index(t, i);
        if (!link || link->up == s->up[link->interface])
            continue;
        s->up[link->interface] = link->up;
        if (link->up)
            snoop_link_up(t, s, link);
        else
            forget_link(t, s, link->interface);
    }
}

static void snoop_link_changed(struct tor *t, void *state, struct tor_link *link, uint16_t port,
                               bool up) {
    (void)link, (void)port, (void)up;
    look_at_links(t, state);
}

static void snoop_run(struct tor *t, void *state, uint64_t now) {
    struct snoop *s = state;
    if (now < s->run_at)
        return;
    s->run_at = now + RUN_NS;
    const bool ages = now >= s->age_at;
    if (ages)
        s->age_at = now + SNOOP_SECOND;
    look_at_links(t, s);
    for (size_t i = 0; i < t->section->n_vlans; i++) {
        struct snoop_vlan *v = s->vlans[t->section->vlans[i].vid];
        if (!v)
            continue;
        run_doubts(t, s, v);
        snoop_query_run(t, v);
        if (ages) {
            snoop_age(t, s, v);
            run_library(v);
            snoop_touch_given_back(t, v);
        }
        snoop_write(t, s, v);
    }
}

// ---- from beginning to end ----

static void *snoop_create(struct tor *t) {
    (void)t;
    return xzalloc(sizeof(struct snoop));
}

static struct snoop_vlan *vlan_new(const struct tor *t, uint16_t vid) {
    struct snoop_vlan *v = xzalloc(sizeof *v);
    v->vid = vid;
    v->hash_secret = t->host.hash_secret;
    v->ms = mcast_snooping_create();
    mcast_snooping_set_max_entries(v->ms, 2 * SNOOP_GROUPS); // we refuse before it throws out
    hmap_init(&v->groups);
    hmap_init(&v->macs);
    ovs_list_init(&v->dirty);
    ovs_list_init(&v->doubts);
    return v;
}

static void vlan_free(struct tor *t, struct snoop *s, struct snoop_vlan *v) {
    s->vlans[v->vid] = NULL;
    snoop_unwant(t, s, v);
    mcast_snooping_unref(v->ms);
    hmap_destroy(&v->groups);
    hmap_destroy(&v->macs);
    free(v->routers);
    free(v);
}

static void snoop_destroy(struct tor *t, void *state) {
    struct snoop *s = state;
    for (unsigned vid = 0; vid < 4096; vid++)
        if (s->vlans[vid])
            vlan_free(t, s, s->vlans[vid]);
    free(s);
}

static void set_fixed(struct tor *t, struct snoop *s, struct snoop_vlan *v) {
    struct snoop_group *g;
    HMAP_FOR_EACH(g, node, &v->groups)
    memset(&g->fixed, 0, sizeof g->fixed);
    for (size_t i = 0; i < v->section->n_groups; i++) {
        const struct tor_static_group *group = &v->section->groups[i];
        g = snoop_group_need(s, v, &group->group);
        for (size_t j = 0; g && j < group->n_links; j++) {
            const struct tor_link *link = tor_link_by_index(t, group->links[j]);
            if (link)
                g->fixed.bits[link->interface / 64] |= UINT64_C(1) << link->interface % 64;
        }
        if (!g)
            tor_event(t, "alarm", "{s:s, s:i, s:s}", "alarm", "groups", "vid", v->vid, "why",
                      "there is no room for all static groups");
    }
}

static void configure_vlan(struct tor *t, struct snoop *s, const struct tor_vlan *section) {
    struct snoop_vlan *v = s->vlans[section->vid];
    if (!v)
        v = s->vlans[section->vid] = vlan_new(t, section->vid);
    v->section = section;
    mcast_snooping_set_idle_time(v->ms, section->group_idle);
    for (uint16_t i = 1; i < SNOOP_INTERFACES; i++) {
        const struct tor_link *link = tor_link_by_interface(t, i);
        if (!link || !tor_link_carries(link, v->vid))
            snoop_forget(t, s, v, i);
        else if (link->section->guarded)
            snoop_query_forget(t, v, i);
    }
    if (section->querier && !v->was_querier)
        for (enum snoop_family f = 0; f < SNOOP_FAMILIES; f++) {
            v->queriers[f].startup = SNOOP_ROBUSTNESS;
            v->queriers[f].next = t->now;
        }
    v->was_querier = section->querier;
    snoop_query_configure(t, v);
    set_fixed(t, s, v);
    snoop_touch_all(v);
    snoop_write_unjoined(t, v);
    snoop_write(t, s, v);
}

// A number of an interface may have gone from one link to another.
static void remember_names(struct tor *t, struct snoop *s, bool first) {
    for (uint16_t i = 1; i < SNOOP_INTERFACES; i++) {
        const struct tor_link *link = tor_link_by_interface(t, i);
        const char *name = link ? link->name : "";
        if (strcmp(s->names[i], name) == 0)
            continue;
        forget_link(t, s, i);
        s->up[i] = first && link && link->up; // the first queries are for all of them
        ovs_strlcpy(s->names[i], name, TOR_NAME);
    }
}

static void snoop_configure(struct tor *t, void *state, const struct tor_section *old) {
    struct snoop *s = state;
    for (unsigned vid = 0; vid < 4096; vid++) {
        const struct tor_vlan *section = tor_section_vlan(t->section, (uint16_t)vid);
        struct snoop_vlan *v = s->vlans[vid];
        if (v && !(section && section->snooping))
            vlan_free(t, s, v);
        else if (v)
            v->section = section; // before anything looks at it
    }
    remember_names(t, s, !old);
    for (size_t i = 0; i < t->section->n_vlans; i++)
        if (t->section->vlans[i].snooping)
            configure_vlan(t, s, &t->section->vlans[i]);
}

const struct tor_module tor_snoop_module = {.name = "snoop",
                                            .create = snoop_create,
                                            .destroy = snoop_destroy,
                                            .configure = snoop_configure,
                                            .run = snoop_run,
                                            .frame = snoop_frame,
                                            .link = snoop_link_changed,
                                            .request = snoop_request};

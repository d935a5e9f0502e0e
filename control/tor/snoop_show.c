// SPDX-License-Identifier: Apache-2.0
//
// snoop_show: requests about groups.
//
//     tor.groups [vid] [link] [from]     ascending by VLAN and group
//         {"count": those that pass, "groups": [{"vid", "group", "mac",
//         "flooded": its address is everybody's, "job": goes to a job's workers, whoever joins,
//         "links": [{"link", "static", "expires" (seconds; of those that are not static)}]}],
//         "next": place of the first one of the next page, if there is one}
//     tor.queriers     of VLANs with snooping
//         {"vlans": [{"vid", "unknown": "flood" or "routers",
//         "igmp": {"querier": address or null, "own": we ask}, "mld": likewise,
//         "routers": links as above, "groups": how many,
//         "refused": groups for which there was no room, "bad": frames that lied}]}
#include <stdlib.h>
#include <string.h>

#include "control/socket/requests.h"
#include "control/tor/snoop_state.h"
#include "timeval.h"
#include "util.h"

// Links of a page's groups, besides SK_PAGE groups.
#define LINKS_OF_A_PAGE 4096u

// ---- queriers ----

static json_t *querier_json(const struct tor *t, const struct snoop_vlan *v, enum snoop_family f) {
    const struct snoop_querier *q = &v->queriers[f];
    const bool own = v->section->querier && !q->other;
    const struct in6_addr address = own ? snoop_own_address(t, v, f) : q->address;
    char text[TOR_TEXT];
    return json_pack("{s:o, s:b}", "querier",
                     own || q->other ? json_string(tor_address_text(&address, text)) : json_null(),
                     "own", own);
}

static void add_static(json_t *list, const struct tor_link *link) {
    json_array_append_new(list, json_pack("{s:s, s:b}", "link", link->name, "static", true));
}
static void add_learned(json_t *list, const struct tor_link *link, uint64_t seconds) {
    json_array_append_new(list, json_pack("{s:s, s:b, s:I}", "link", link->name, "static", false,
                                          "expires", (json_int_t)seconds));
}

static json_t *routers_json(struct tor *t, const struct snoop_vlan *v) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < t->section->n_links; i++) {
        const struct tor_link *link = tor_link_by_index(t, i);
        if (link && link->section->router && tor_link_carries(link, v->vid))
            add_static(list, link);
    }
    for (size_t i = 0; i < v->n_routers; i++) {
        const struct snoop_router *r = &v->routers[i];
        const struct tor_link *link = tor_link_by_interface(t, r->interface);
        if (link && !link->section->router)
            add_learned(list, link, (MAX(r->until, t->now) - t->now) / SNOOP_SECOND);
    }
    return list;
}

static json_t *snoop_show_vlan_json(struct tor *t, const struct snoop_vlan *v) {
    return json_pack("{s:i, s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:I}", "vid", v->vid, "unknown",
                     v->section->flood_unknown ? "flood" : "routers", "igmp",
                     querier_json(t, v, SNOOP_IGMP), "mld", querier_json(t, v, SNOOP_MLD),
                     "routers", routers_json(t, v), "groups", (json_int_t)hmap_count(&v->groups),
                     "refused", (json_int_t)v->refused, "bad", (json_int_t)v->bad, "guarded",
                     (json_int_t)v->guarded);
}

static json_t *queriers_json(struct tor *t, const struct snoop *s) {
    json_t *list = json_array();
    for (size_t i = 0; i < t->section->n_vlans; i++) {
        const struct snoop_vlan *v = s->vlans[t->section->vlans[i].vid];
        if (v)
            json_array_append_new(list, snoop_show_vlan_json(t, v));
    }
    return json_pack("{s:o}", "vlans", list);
}

// ---- groups ----

struct filter {
    uint16_t vid;                // 0: any
    const struct tor_link *link; // null: any
    size_t from;
};
struct shown {
    const struct snoop_vlan *v;
    const struct snoop_group *g;
};

static json_t *snoop_show_links_json(struct tor *t, const struct snoop_vlan *v,
                                     const struct snoop_group *g) {
    const struct mcast_group *learned = mcast_snooping_lookup(v->ms, &g->address, v->vid);
    const struct mcast_group_bundle *b;
    json_t *list = json_array();
    for (uint16_t i = 1; i < SNOOP_INTERFACES; i++) {
        const struct tor_link *link = tor_link_by_interface(t, i);
        if (link && g->fixed.bits[i / 64] >> i % 64 & 1)
            add_static(list, link);
    }
    if (learned)
        LIST_FOR_EACH(b, bundle_node, &learned->bundle_lru) {
            const struct tor_link *link = tor_link_by_interface(t, (uint16_t)(uintptr_t)b->port);
            if (link)
                add_learned(list, link, (uint64_t)MAX(b->expires - time_now(), 0));
        }
    return list;
}

static bool passes(struct snoop_vlan *v, const struct snoop_group *g, const struct filter *f) {
    if (!f->link)
        return true;
    const uint16_t i = f->link->interface;
    return (g->fixed.bits[i / 64] >> i % 64 & 1) || snoop_is_member(v, &g->address, i);
}

static int snoop_show_compare(const void *a, const void *b) {
    const struct shown *p = a, *q = b;
    if (p->v->vid != q->v->vid)
        return p->v->vid < q->v->vid ? -1 : 1;
    return memcmp(&p->g->address, &q->g->address, sizeof p->g->address);
}

// Those that pass, in order; to be freed.
static struct shown *snoop_show_collect(struct tor *t, const struct snoop *s,
                                        const struct filter *f, size_t *n) {
    struct shown *list = xcalloc(SNOOP_MACS * 2, sizeof *list);
    size_t room = SNOOP_MACS * 2;
    *n = 0;
    for (size_t i = 0; i < t->section->n_vlans; i++) {
        struct snoop_vlan *v = s->vlans[t->section->vlans[i].vid];
        const struct snoop_group *g;
        if (!v || (f->vid && f->vid != v->vid))
            continue;
        HMAP_FOR_EACH(g, node, &v->groups) {
            if (!passes(v, g, f))
                continue;
            if (*n == room)
                list = x2nrealloc(list, &room, sizeof *list);
            list[(*n)++] = (struct shown){v, g};
        }
    }
    qsort(list, *n, sizeof *list, snoop_show_compare);
    return list;
}

static json_t *groups_json(struct tor *t, const struct snoop *s, const struct filter *f) {
    char address[TOR_TEXT], mac[TOR_TEXT];
    size_t n, i, members = 0;
    struct shown *list = snoop_show_collect(t, s, f, &n);
    json_t *groups = json_array();
    for (i = f->from; i < n && i - f->from < SK_PAGE && members < LINKS_OF_A_PAGE; i++) {
        const struct snoop_group *g = list[i].g;
        json_t *links = snoop_show_links_json(t, list[i].v, g);
        members += json_array_size(links);
        json_array_append_new(groups,
                              json_pack("{s:i, s:s, s:s, s:b, s:b, s:o}", "vid", list[i].v->vid,
                                        "group", tor_address_text(&g->address, address), "mac",
                                        tor_mac_text(g->mac->mac, mac), "flooded",
                                        g->mac->mgid == 0 && !g->mac->anothers, "job",
                                        g->mac->anothers, "links", links));
    }
    free(list);
    json_t *out = json_pack("{s:I, s:o}", "count", (json_int_t)n, "groups", groups);
    if (i < n)
        json_object_set_new(out, "next", json_integer((json_int_t)i));
    return out;
}

// ---- requests ----

static bool snoop_show_read_member(struct tor *t, const char *key, json_t *v, struct filter *f,
                                   struct sk_error *err) {
    const json_int_t n = json_integer_value(v);
    if (strcmp(key, "op") == 0)
        return true;
    if (strcmp(key, "vid") == 0 && n >= 1 && n <= 4094) {
        f->vid = (uint16_t)n;
    } else if (strcmp(key, "vid") == 0) {
        sk_fail(err, "vid: a number from 1 to 4094 is expected");
    } else if (strcmp(key, "from") == 0 && json_is_integer(v) && n >= 0) {
        f->from = (size_t)n;
    } else if (strcmp(key, "from") == 0) {
        sk_fail(err, "from: a number is expected");
    } else if (strcmp(key, "link") == 0 && !json_is_string(v)) {
        sk_fail(err, "link: a name is expected");
    } else if (strcmp(key, "link") == 0) {
        f->link = tor_link_by_name(t, json_string_value(v));
        if (!f->link)
            sk_fail(err, "%s: there is no link of that name", json_string_value(v));
    } else {
        sk_fail(err, "%s: there is no such member", key);
    }
    return err->text[0] == '\0';
}

json_t *snoop_request(struct tor *t, void *state, const char *op, json_t *request,
                      struct sk_error *err) {
    const struct snoop *s = state;
    struct filter f = {0};
    const char *key;
    json_t *v;
    if (strcmp(op, "tor.queriers") == 0)
        return queriers_json(t, s);
    if (strcmp(op, "tor.groups") != 0)
        return NULL;
    json_object_foreach(request, key, v) {
        if (!snoop_show_read_member(t, key, v, &f, err))
            return NULL;
    }
    if (f.vid && !s->vlans[f.vid]) {
        sk_fail(err, "there is no VLAN %u with snooping", f.vid);
        return NULL;
    }
    return groups_json(t, s, &f);
}

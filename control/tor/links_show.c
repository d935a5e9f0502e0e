// SPDX-License-Identifier: Apache-2.0
//
// links_show: requests about links and VLANs.
//
//     tor.links    [{"link", "interface", "up", "since" (seconds), "flapping", "lag", "lacp",
//                  "isolated", "learn",
//                    "limits": as configured, "limited": {"addresses", "neighbours"}: how many
//                    were refused or removed because of them, "neighbours": how many there are
//                    because of the link,
//                    "untagged", "tagged": "10,20-29", "addresses": how many were learned there,
//                    "ports": [{"port", "name", "carrier", "active"}]}]
//     tor.vlans    [{"vid", "name", "mtu", "aging", "addresses": ["10.0.10.1/24"], "macs": how many
//                  are known,
//                    "links": [{"link", "tagged", "up"}]}]
#include <stdlib.h>
#include <string.h>

#include "control/tor/links_impl.h"
#include "openvswitch/dynamic-string.h"
#include "util.h"

#define SECOND UINT64_C(1000000000)

// "10,20-29"
static json_t *links_show_ranges(const uint16_t *vids, size_t n, uint16_t without) {
    struct ds text = DS_EMPTY_INITIALIZER;
    for (size_t i = 0, end; i < n; i = end) {
        end = i + 1;
        if (vids[i] == without)
            continue;
        while (end < n && vids[end] == vids[end - 1] + 1 && vids[end] != without)
            end++;
        ds_put_format(&text, "%s%u", text.length ? "," : "", vids[i]);
        if (end - i > 1)
            ds_put_format(&text, "-%u", vids[end - 1]);
    }
    json_t *out = json_string(ds_cstr(&text));
    ds_destroy(&text);
    return out;
}

static const char *links_show_name_of(const struct tor *t, uint16_t port) {
    for (size_t i = 0; i < t->host.n_ports; i++)
        if (t->host.ports[i].port == port && t->host.ports[i].name)
            return t->host.ports[i].name;
    return "";
}

static json_t *links_show_ports_json(const struct tor *t, const struct own_link *own) {
    const struct tor_link_section *s = own->link.section;
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_ports; i++)
        json_array_append_new(list, json_pack("{s:i, s:s, s:b, s:b}", "port", (int)s->ports[i],
                                              "name", links_show_name_of(t, s->ports[i]), "carrier",
                                              own->carrier[i], "active", own->link.active[i]));
    return list;
}

static void links_show_limits(json_t *out, const struct tor_link *link) {
    const struct tor_link_limit *addresses = &link->section->limits[TOR_LIMIT_ADDRESSES],
                                *neighbours = &link->section->limits[TOR_LIMIT_NEIGHBOURS];
    json_object_set_new(out, "limits",
                        json_pack("{s:i, s:i, s:i, s:i}", "addresses", (int)addresses->most,
                                  "address_rate", (int)addresses->rate, "neighbours",
                                  (int)neighbours->most, "neighbour_rate", (int)neighbours->rate));
    json_object_set_new(
        out, "limited",
        json_pack("{s:I, s:I}", "addresses", (json_int_t)link->use[TOR_LIMIT_ADDRESSES].n_limited,
                  "neighbours", (json_int_t)link->use[TOR_LIMIT_NEIGHBOURS].n_limited));
    json_object_set_new(out, "neighbours",
                        json_integer((json_int_t)link->use[TOR_LIMIT_NEIGHBOURS].entries));
}

static json_t *link_json(struct tor *t, const struct own_link *own) {
    const struct tor_link_section *s = own->link.section;
    json_t *out = json_pack("{s:s, s:i, s:b, s:I, s:b, s:b, s:b, s:b, s:b, s:i}", "link",
                            own->link.name, "interface", (int)own->link.interface, "up",
                            own->link.up, "since", (json_int_t)((t->now - own->changed) / SECOND),
                            "flapping", own->flapping, "lag", s->lag, "lacp", s->lacp, "isolated",
                            s->isolated, "learn", s->learn, "untagged", (int)s->untagged);
    json_object_set_new(out, "tagged", links_show_ranges(s->vids, s->n_vids, s->untagged));
    json_object_set_new(out, "addresses",
                        json_integer((json_int_t)tor_fdb_count(t, 0, &own->link)));
    json_object_set_new(out, "ports", links_show_ports_json(t, own));
    links_show_limits(out, &own->link);
    return out;
}

static json_t *links_show_json(struct tor *t, const struct links *l) {
    json_t *list = json_array();
    for (size_t i = 0; i < l->n; i++)
        json_array_append_new(list, link_json(t, l->list[i]));
    return list;
}

static json_t *addresses_json(const struct tor_vlan *v) {
    json_t *list = json_array();
    for (size_t i = 0; i < v->n_addresses; i++) {
        const struct tor_prefix *p = &v->addresses[i];
        char text[TOR_TEXT];
        json_array_append_new(list,
                              json_sprintf("%s/%u", tor_address_text(&p->address, text),
                                           tor_is_ipv4(&p->address) ? p->length - 96u : p->length));
    }
    return list;
}

static json_t *links_show_vlan_json(struct tor *t, const struct links *l,
                                    const struct tor_vlan *v) {
    json_t *carriers = json_array();
    for (size_t i = 0; i < l->n; i++) {
        const struct tor_link *link = &l->list[i]->link;
        if (tor_link_carries(link, v->vid))
            json_array_append_new(carriers,
                                  json_pack("{s:s, s:b, s:b}", "link", link->name, "tagged",
                                            link->section->untagged != v->vid, "up", link->up));
    }
    return json_pack("{s:i, s:s, s:i, s:i, s:o, s:I, s:o}", "vid", (int)v->vid, "name", v->name,
                     "mtu", (int)v->mtu, "aging", (int)v->aging, "addresses", addresses_json(v),
                     "macs", (json_int_t)tor_fdb_count(t, v->vid, NULL), "links", carriers);
}

json_t *tor_links_request(struct tor *t, void *state, const char *op, json_t *request,
                          struct sk_error *err) {
    const struct links *l = state;
    (void)request;
    (void)err;
    if (strcmp(op, "tor.links") == 0)
        return links_show_json(t, l);
    if (strcmp(op, "tor.vlans") != 0)
        return NULL;
    json_t *list = json_array();
    for (size_t i = 0; i < t->section->n_vlans; i++)
        json_array_append_new(list, links_show_vlan_json(t, l, &t->section->vlans[i]));
    return list;
}

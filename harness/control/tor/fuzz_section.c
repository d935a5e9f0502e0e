// SPDX-License-Identifier: Apache-2.0
//
// fuzz_section: any bytes as a configuration with "tor", or as the member itself. What is read is
// looked
// through: names that are resolved exist, lists are in order, rules fit their tables.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/tor/tor_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good) {
    if (!good)
        abort();
}

static void look_at_links(const struct tor_section *s) {
    for (size_t i = 0; i < s->n_links; i++) {
        const struct tor_link_section *l = &s->links[i];
        must(l->n_ports > 0 && l->n_ports <= TOR_LAG_PORTS && *l->name);
        must(l->acl == TOR_NONE || l->acl < s->n_acls);
        must(!l->untagged || tor_section_vlan(s, l->untagged));
        for (size_t v = 0; v < l->n_vids; v++)
            must(tor_section_vlan(s, l->vids[v]) && (v == 0 || l->vids[v - 1] < l->vids[v]) &&
                 l->vids[v] != l->untagged);
    }
    for (size_t i = 0; i < s->n_macs; i++)
        must(s->macs[i].link < s->n_links && tor_section_vlan(s, s->macs[i].vid));
    for (size_t i = 0; i < s->n_mirrors; i++) {
        must(s->mirrors[i].to < s->n_links);
        for (size_t k = 0; k < s->mirrors[i].n_sources; k++)
            must(s->mirrors[i].sources[k].link < s->n_links);
    }
}

static void look_at(const struct tor_section *s) {
    size_t entries[TOR_FAMILIES] = {0};
    look_at_links(s);
    for (size_t i = 0; i < s->n_vlans; i++) {
        must(s->vlans[i].vid > 0 && s->vlans[i].vid < 4095);
        must(i == 0 || s->vlans[i - 1].vid < s->vlans[i].vid);
        for (size_t g = 0; g < s->vlans[i].n_groups; g++)
            for (size_t k = 0; k < s->vlans[i].groups[g].n_links; k++)
                must(s->vlans[i].groups[g].links[k] < s->n_links);
    }
    for (size_t i = 0; i < s->n_neighbours; i++)
        must(tor_section_vlan(s, s->neighbours[i].vid));
    for (size_t i = 0; i < s->n_routes; i++)
        must(s->routes[i].discard ? s->routes[i].n_via == 0
                                  : s->routes[i].n_via > 0 && s->routes[i].n_via <= TOR_ROUTE_HOPS);
    for (size_t i = 0; i < s->n_acls; i++)
        for (size_t k = 0; k < s->acls[i].n_rules; k++) {
            const struct tor_rule *r = &s->acls[i].rules[k];
            must(r->action != TOR_MIRROR || r->mirror < s->n_mirrors);
            must(r->from_port[0] <= r->from_port[1] && r->to_port[0] <= r->to_port[1]);
            entries[r->family] += tor_rule_entries(r);
        }
    for (int f = 0; f < TOR_FAMILIES; f++)
        must(entries[f] <= TOR_RULES_MOST);
}

static void read_at(const struct sk_at *at, const struct tor_host *host) {
    struct sk_error err = {""};
    struct tor_section *s = tor_section_read(at, host, &err);
    must(s || (err.text[0] && !memchr(err.text, '\n', strlen(err.text))));
    if (s)
        look_at(s);
    tor_section_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct sk_config_port ports[] = {{.port = 1, .device = "d1", .name = "web1"},
                                                  {.port = 2, .device = "d2", .name = "web2"},
                                                  {.port = 3, .device = "d3", .name = "up1"}};
    struct sk_error err = {""};
    struct sk_config *c = sk_config_parse_part("fuzz.json", (const char *)data, size, &err);
    if (c && c->tor)
        read_at(c->tor, &(struct tor_host){.ports = c->ports, .n_ports = c->n_ports});
    sk_config_free(c);
    json_t *root = sk_json_parse("fuzz.json", (const char *)data, size, &err);
    if (root) {
        struct sk_json doc = {
            .name = "fuzz.json", .text = (const char *)data, .length = size, .err = &err};
        const struct sk_at at = {.doc = &doc, .value = root};
        read_at(&at, &(struct tor_host){.ports = ports, .n_ports = 3});
        sk_json_release(&doc);
        json_decref(root);
    }
    return 0;
}

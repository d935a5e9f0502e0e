// SPDX-License-Identifier: Apache-2.0
//
// "tor.routes" ["from": place]: {"count", "routes": [{"to", "kind": "connected"|"static"|"discard",
// "vid" (connected),
//         "via" (static): [{"address", "vid", "live" (packets are sent there), "mac", "link"}]}],
//         IPv4 first, "next"}
#include <stdlib.h>
#include <string.h>

#include "control/socket/requests.h"
#include "control/tor/routes.h"
#include "util.h"

static json_t *describe_hop(struct tor *t, const struct hop *h) {
    char address[TOR_TEXT], mac[TOR_TEXT];
    struct tor_link *link = h->interface ? tor_link_by_interface(t, h->interface) : NULL;
    json_t *j = json_pack("{s:s, s:i, s:b}", "address", tor_address_text(&h->address, address),
                          "vid", h->vid, "live", (int)h->live);
    if (h->known)
        json_object_set_new(j, "mac", json_string(tor_mac_text(h->mac, mac)));
    if (link)
        json_object_set_new(j, "link", json_string(link->name));
    return j;
}

static json_t *routes_request_describe(struct tor *t, const struct prefix *p) {
    static const char *const kinds[] = {"connected", "static", "discard"};
    char address[TOR_TEXT];
    bool ipv4 = tor_is_ipv4(&p->address);
    json_t *j = json_pack("{s:s+, s:s}", "to", tor_address_text(&p->address, address), "", "kind",
                          kinds[p->kind]);
    char *to = xasprintf("%s/%u", address, p->length - (ipv4 ? 96u : 0));
    json_object_set_new(j, "to", json_string(to));
    free(to);
    if (p->kind == PREFIX_CONNECTED)
        json_object_set_new(j, "vid", json_integer(p->vid));
    if (p->kind == PREFIX_STATIC) {
        json_t *hops = json_array();
        for (size_t i = 0; i < p->set->n; i++)
            json_array_append_new(hops, describe_hop(t, p->set->hops[i]));
        json_object_set_new(j, "via", hops);
    }
    return j;
}

static int by_prefix(const void *a, const void *b) {
    const struct prefix *x = *(struct prefix *const *)a, *y = *(struct prefix *const *)b;
    bool v4 = tor_is_ipv4(&x->address), other = tor_is_ipv4(&y->address);
    if (v4 != other)
        return v4 ? -1 : 1;
    int c = memcmp(&x->address, &y->address, sizeof x->address);
    return c ? c : x->length - y->length;
}

json_t *tor_routes_request(struct tor *t, void *state, const char *op, json_t *request,
                           struct sk_error *err) {
    struct routes *r = state;
    size_t from, n = 0;
    if (strcmp(op, "tor.routes") != 0 || !tor_page(request, &from, err))
        return NULL;
    struct prefix *p, **sorted = xcalloc(hmap_count(&r->prefixes) + 1, sizeof *sorted);
    HMAP_FOR_EACH(p, node, &r->prefixes)
    sorted[n++] = p;
    qsort(sorted, n, sizeof *sorted, by_prefix);
    json_t *list = json_array();
    for (size_t i = from; i < n && i - from < SK_PAGE; i++)
        json_array_append_new(list, routes_request_describe(t, sorted[i]));
    free(sorted);
    return tor_page_end(json_pack("{s:I, s:o}", "count", (json_int_t)n, "routes", list), from, n);
}

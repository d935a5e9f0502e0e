// SPDX-License-Identifier: Apache-2.0
//
// "tor.neighbours" ["from": place]: {"count", "neighbours": [{"address", "vid", "state", "seconds"
// (in it), "waiting"
//         (packets), "mac" (if it is known), "link" (if it is known where)}], by VLAN and address,
//         "next": place of the first one of the next page, if there is one, "evicted" (for others),
//         "packets_dropped" (that waited),
//         "bad" (frames)}
// "tor.neighbour.flush" ["vid"] ["address"]: {"flushed"}
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "control/socket/requests.h"
#include "control/tor/neighbours.h"

bool tor_page(const json_t *request, size_t *from, struct sk_error *err) {
    const json_t *place = json_object_get(request, "from");
    *from = 0;
    if (!place)
        return true;
    if (!json_is_integer(place) || json_integer_value(place) < 0) {
        sk_fail(err, "from: should be a number, 0 or more");
        return false;
    }
    *from = (size_t)json_integer_value(place);
    return true;
}

json_t *tor_page_end(json_t *page, size_t from, size_t count) {
    if (page && from < count && count - from > SK_PAGE)
        json_object_set_new(page, "next", json_integer((json_int_t)(from + SK_PAGE)));
    return page;
}

static json_t *neighbours_request_describe(struct tor *t, const struct neighbour *n) {
    char address[TOR_TEXT], mac[TOR_TEXT];
    struct tor_link *link = neighbour_is_known(n) ? tor_fdb_find(t, n->vid, n->mac) : NULL;
    json_t *j =
        json_pack("{s:s, s:i, s:s, s:I, s:i}", "address", tor_address_text(&n->address, address),
                  "vid", n->vid, "state", neighbour_state_text(n->state), "seconds",
                  (json_int_t)((t->now - n->changed) / NS_PER_S), "waiting", (int)n->n_waiting);
    if (neighbour_is_known(n))
        json_object_set_new(j, "mac", json_string(tor_mac_text(n->mac, mac)));
    if (link)
        json_object_set_new(j, "link", json_string(link->name));
    return j;
}

static int neighbours_request_by_address(const void *a, const void *b) {
    const struct neighbour *x = *(struct neighbour *const *)a, *y = *(struct neighbour *const *)b;
    return x->vid != y->vid ? (x->vid > y->vid) - (x->vid < y->vid)
                            : memcmp(&x->address, &y->address, sizeof x->address);
}

static json_t *neighbours_request_list(struct tor *t, const struct neighbours *all, json_t *request,
                                       struct sk_error *err) {
    size_t from, count = 0;
    if (!tor_page(request, &from, err))
        return NULL;
    const struct neighbour *n, *sorted[NEIGHBOURS_MOST];
    HMAP_FOR_EACH(n, node, &all->entries)
    sorted[count++] = n;
    qsort(sorted, count, sizeof *sorted, neighbours_request_by_address);
    json_t *entries = json_array();
    for (size_t i = from; i < count && i - from < SK_PAGE; i++)
        json_array_append_new(entries, neighbours_request_describe(t, sorted[i]));
    json_t *page = json_pack("{s:I, s:o, s:I, s:I, s:I}", "count", (json_int_t)count, "neighbours",
                             entries, "evicted", (json_int_t)all->evicted, "packets_dropped",
                             (json_int_t)all->packets_dropped, "bad", (json_int_t)all->bad);
    return tor_page_end(page, from, count);
}

// All, or of a VLAN, or one address; those of the configuration stay, and routes ask for theirs
// again.
static json_t *neighbours_request_flush(struct tor *t, json_t *request, struct sk_error *err) {
    const json_t *vid = json_object_get(request, "vid"),
                 *text = json_object_get(request, "address");
    struct in6_addr address;
    struct in_addr ipv4;
    if (vid &&
        (!json_is_integer(vid) || json_integer_value(vid) < 1 || json_integer_value(vid) > 4094)) {
        sk_fail(err, "vid: should be a VLAN's number, 1 to 4094");
        return NULL;
    }
    if (json_is_string(text) && inet_pton(AF_INET, json_string_value(text), &ipv4) == 1) {
        address = tor_ipv4(ntohl(ipv4.s_addr));
    } else if (text && (!json_is_string(text) ||
                        inet_pton(AF_INET6, json_string_value(text), &address) != 1)) {
        sk_fail(err, "address: should be an IPv4 or IPv6 address");
        return NULL;
    }
    return json_pack(
        "{s:i}", "flushed",
        neighbours_flush(t, (uint16_t)json_integer_value(vid), text ? &address : NULL));
}

json_t *neighbours_request(struct tor *t, void *state, const char *op, json_t *r,
                           struct sk_error *err) {
    if (strcmp(op, "tor.neighbours") == 0)
        return neighbours_request_list(t, state, r, err);
    if (strcmp(op, "tor.neighbour.flush") == 0)
        return neighbours_request_flush(t, r, err);
    return NULL;
}

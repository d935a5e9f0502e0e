// SPDX-License-Identifier: Apache-2.0
//
// fdb_show: requests about addresses.
//
//     tor.macs [vid] [link] [mac] [from]     ascending by VLAN and address
//         {"count": those that pass, "macs": [{"vid", "mac", "link", "static", "held",
//         "since" (seconds there), "idle" (seconds since a packet came from it; where it ages)}],
//         "next": place of the first one of the next page, if there is one,
//         "counts": {"learned", "moved", "aged", "evicted", "limited", "damped", "refused"}}
//     tor.mac.flush [vid] [link] [mac]       {"flushed": how many}; static ones stay
#include <stdlib.h>
#include <string.h>

#include "control/socket/requests.h"
#include "control/tor/fdb_impl.h"
#include "packets.h"
#include "util.h"

static bool fdb_show_refuse(struct sk_error *err, const char *what, const char *is) {
    sk_fail(err, "%s: %s", what, is);
    return false;
}

static bool fdb_show_read_vid(json_t *v, struct fdb_filter *out, struct sk_error *err) {
    if (!json_is_integer(v) || json_integer_value(v) < 1 || json_integer_value(v) > 4094)
        return fdb_show_refuse(err, "vid", "a number from 1 to 4094 is expected");
    out->vid = (uint16_t)json_integer_value(v);
    return true;
}

static bool fdb_show_read_link(struct tor *t, json_t *v, struct fdb_filter *out,
                               struct sk_error *err) {
    if (!json_is_string(v))
        return fdb_show_refuse(err, "link", "a name is expected");
    out->link = tor_link_by_name(t, json_string_value(v));
    return out->link || fdb_show_refuse(err, json_string_value(v), "there is no link of that name");
}

static bool fdb_show_read_mac(json_t *v, struct fdb_filter *out, struct sk_error *err) {
    struct eth_addr mac;
    if (!json_is_string(v) || !eth_addr_from_string(json_string_value(v), &mac))
        return fdb_show_refuse(err, "mac", "an address like 02:00:00:00:00:01 is expected");
    memcpy(out->mac, mac.ea, sizeof out->mac);
    out->has_mac = true;
    return true;
}

static bool read_from(json_t *v, size_t *from, struct sk_error *err) {
    if (!json_is_integer(v) || json_integer_value(v) < 0)
        return fdb_show_refuse(err, "from", "a number is expected");
    *from = (size_t)json_integer_value(v);
    return true;
}

static bool read_request(struct tor *t, json_t *request, struct fdb_filter *out, size_t *from,
                         struct sk_error *err) {
    const char *key;
    json_t *v;
    bool good = true;
    json_object_foreach(request, key, v) {
        good = strcmp(key, "op") == 0     ? true
               : strcmp(key, "vid") == 0  ? fdb_show_read_vid(v, out, err)
               : strcmp(key, "link") == 0 ? fdb_show_read_link(t, v, out, err)
               : strcmp(key, "mac") == 0  ? fdb_show_read_mac(v, out, err)
               : from && strcmp(key, "from") == 0
                   ? read_from(v, from, err)
                   : fdb_show_refuse(err, key, "there is no such member");
        if (!good)
            break;
    }
    return good;
}

static int fdb_show_compare(const void *a, const void *b) {
    const struct fdb_place *const *p = a, *const *q = b;
    if ((*p)->vid != (*q)->vid)
        return (*p)->vid < (*q)->vid ? -1 : 1;
    return memcmp((*p)->mac, (*q)->mac, sizeof(*p)->mac);
}

static json_t *place_json(struct tor *t, const struct fdb_place *p) {
    const uint64_t age = tor_fdb_age(t, p);
    char mac[TOR_TEXT];
    json_t *out =
        json_pack("{s:i, s:s, s:s, s:b, s:b, s:I}", "vid", (int)p->vid, "mac",
                  tor_mac_text(p->mac, mac), "link", p->link->name, "static", p->fixed, "held",
                  p->held, "since", (json_int_t)((t->now - p->since) / 1000000000u));
    if (age != UINT64_MAX)
        json_object_set_new(out, "idle", json_integer((json_int_t)(age / 1000)));
    return out;
}

static json_t *counts_json(const struct fdb *f) {
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "learned", (json_int_t)f->n_learned,
                     "moved", (json_int_t)f->n_moved, "aged", (json_int_t)f->n_aged, "evicted",
                     (json_int_t)f->n_evicted, "limited", (json_int_t)f->n_limited, "damped",
                     (json_int_t)f->n_damped, "refused", (json_int_t)f->n_refused);
}

static json_t *macs_json(struct tor *t, const struct fdb *f, const struct fdb_filter *filter,
                         size_t from) {
    const struct fdb_place **list = xcalloc(hmap_count(&f->places) + 1, sizeof *list), *p;
    json_t *macs = json_array();
    size_t n = 0;
    HMAP_FOR_EACH(p, node, &f->places)
    if (tor_fdb_passes(filter, p))
        list[n++] = p;
    qsort(list, n, sizeof *list, fdb_show_compare);
    for (size_t i = from; i < n && i - from < SK_PAGE; i++)
        json_array_append_new(macs, place_json(t, list[i]));
    free(list);
    json_t *out = json_pack("{s:I, s:o, s:o}", "count", (json_int_t)n, "macs", macs, "counts",
                            counts_json(f));
    if (from < n && n - from > SK_PAGE)
        json_object_set_new(out, "next", json_integer((json_int_t)(from + SK_PAGE)));
    return out;
}

json_t *tor_fdb_request(struct tor *t, void *state, const char *op, json_t *request,
                        struct sk_error *err) {
    struct fdb_filter filter = {0};
    size_t from = 0;
    if (strcmp(op, "tor.macs") == 0)
        return read_request(t, request, &filter, &from, err) ? macs_json(t, state, &filter, from)
                                                             : NULL;
    if (strcmp(op, "tor.mac.flush") == 0)
        return read_request(t, request, &filter, NULL, err)
                   ? json_pack("{s:I}", "flushed", (json_int_t)tor_fdb_flush(t, &filter))
                   : NULL;
    return NULL;
}

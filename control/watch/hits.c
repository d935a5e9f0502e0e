// SPDX-License-Identifier: Apache-2.0
#include "control/watch/hits.h"

#include "control/tables/names.h"

struct hits {
    struct sk_pauses *pauses;
    uint64_t hits, misses, entries, left;
    bool counted;
};

static bool hits_add(void *aux, const struct sk_entry *e) {
    struct hits *h = aux;
    h->hits += sk_entry_hits(e);
    sk_pauses_breathe(h->pauses);
    return true;
}

static void hits_read_pipe(struct hits *h, const struct sk_table *t) {
    const uint64_t entries = sk_table_count(t);
    h->entries = entries > h->entries ? entries : h->entries;
    h->counted &= !sk_table_is_filled(t) && entries <= h->left;
    if (!h->counted)
        return;
    h->left -= entries;
    sk_table_each(t, hits_add, h);
    h->misses += sk_entry_hits(sk_table_default(t));
}

static json_t *hits_table_json(struct sk_switch *sw, const struct sk_object *o, struct hits *h) {
    const struct sk_table_desc *d = o->desc->tables[o->index];
    h->hits = h->misses = h->entries = 0;
    h->counted = true;
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        if (sk_object_in_pipe(sw, o, pipe))
            hits_read_pipe(h, o->desc->table(sk_switch_pipe(sw, pipe), o->index));
    json_t *out = json_pack("{s:s, s:I, s:I}", "name", d->name, "entries", (json_int_t)h->entries,
                            "size", (json_int_t)d->size);
    json_object_set_new(out, "hits", h->counted ? json_integer((json_int_t)h->hits) : json_null());
    json_object_set_new(out, "misses",
                        h->counted ? json_integer((json_int_t)h->misses) : json_null());
    return out;
}

json_t *sk_hits_json(struct sk_switch *sw, struct sk_pauses *pauses) {
    struct hits h = {.pauses = pauses, .left = SK_HITS_MOST};
    json_t *list = json_array();
    struct sk_object o;
    sk_pauses_begin(pauses);
    for (size_t i = 0; sk_object_at(sw, SK_TABLE, i, &o); i++) {
        const struct sk_table_desc *d = o.desc->tables[o.index];
        if (!d->hidden && !d->is_profile)
            json_array_append_new(list, hits_table_json(sw, &o, &h));
    }
    sk_pauses_end(pauses);
    return list;
}

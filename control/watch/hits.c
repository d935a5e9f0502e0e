// SPDX-License-Identifier: Apache-2.0
#include "control/watch/hits.h"

#include <stdlib.h>

#include "base/memory.h"
#include "control/tables/names.h"

struct hits {
    const struct sk_table_desc *desc;
    uint64_t hits, misses, entries;
    bool counted;
};
struct hits_reader {
    struct sk_pauses *pauses;
    struct hits *now;
    uint64_t left; // entries that may still be read
};

static bool hits_add(void *aux, const struct sk_entry *e) {
    struct hits_reader *r = aux;
    r->now->hits += sk_entry_hits(e);
    sk_pauses_breathe(r->pauses);
    return true;
}

static void hits_read_pipe(struct hits_reader *r, const struct sk_table *t) {
    struct hits *h = r->now;
    const uint64_t entries = sk_table_count(t);
    h->entries = entries > h->entries ? entries : h->entries;
    h->counted &= !sk_table_is_filled(t) && entries <= r->left;
    if (!h->counted)
        return;
    r->left -= entries;
    sk_table_each(t, hits_add, r);
    h->misses += sk_entry_hits(sk_table_default(t));
    sk_pauses_breathe(r->pauses);
}

static json_t *hits_table_json(const struct hits *h) {
    json_t *out = json_pack("{s:s, s:I, s:I}", "name", h->desc->name, "entries",
                            (json_int_t)h->entries, "size", (json_int_t)h->desc->size);
    json_object_set_new(out, "hits", h->counted ? json_integer((json_int_t)h->hits) : json_null());
    json_object_set_new(out, "misses",
                        h->counted ? json_integer((json_int_t)h->misses) : json_null());
    return out;
}

// Text is made when packets flow again.
json_t *sk_hits_json(struct sk_switch *sw, struct sk_pauses *pauses) {
    struct hits_reader r = {.pauses = pauses, .left = SK_HITS_MOST};
    struct hits *tables = NULL;
    size_t n = 0, room = 0;
    json_t *list = json_array();
    struct sk_object o;
    sk_pauses_begin(pauses);
    for (size_t i = 0; sk_object_at(sw, SK_TABLE, i, &o); i++) {
        const struct sk_table_desc *d = o.desc->tables[o.index];
        if (d->hidden || d->is_profile)
            continue;
        tables = sk_grow(tables, n, &room, sizeof *tables);
        tables[n] = (struct hits){.desc = d, .counted = true};
        r.now = &tables[n++];
        for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
            if (sk_object_in_pipe(sw, &o, pipe))
                hits_read_pipe(&r, o.desc->table(sk_switch_pipe(sw, pipe), o.index));
    }
    sk_pauses_end(pauses);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, hits_table_json(&tables[i]));
    free(tables);
    return list;
}

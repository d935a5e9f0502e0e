// SPDX-License-Identifier: Apache-2.0
//
// Before an update of a list that is done whole or not at all, what it is to change is saved: in
// each of its pipes the entry with its key, the default entry, all entries, cells, or attributes.
#include <string.h>

#include "brt/brt_impl.h"
#include "brt/fixed/fixed.h"

// An entry as it was. 'entry' points to copies.
struct undo_entry {
    struct undo_entry *next;
    bool there, is_default;
    struct sk_table *table;
    struct sk_entry entry;
    struct sk_meter_cell meter;
};

struct undo_group {
    struct undo_group *next;
    bool there;
    struct sk_selector *selector;
    uint32_t id, max_size, n, offset;
    bool has_offset;
    struct sk_group_member *members;
};

struct brt_undo {
    struct brt_undo *older;
    const struct brt_change *change;
    struct undo_entry *first, **last; // in the order in which they are put back
    uint64_t from, to;                // cells, in each pipe
    void *cells[SK_PIPES];
    void *seen[SK_PIPES]; // the driver's copy of them
    struct undo_group *groups;
    struct brt_table_state state;
    uint64_t *key_masks[SK_PIPES];
    int32_t more[SK_PIPES]; // of a meter of bytes
    const struct fixed_saved *fixed;
    const struct brt_port_metadata_saved *metadata;
    const struct brt_hash_saved *hashes[SK_PIPES];
};

// ---- saving ----

struct undo_saving {
    struct brt *b;
    struct brt_undo *undo;
    struct sk_table *table;
    uint32_t key_words;
    bool good; // memory was enough
};

static uint64_t *undo_words(struct undo_saving *s, const uint64_t *words, size_t n) {
    uint64_t *copy = brt_take(&s->b->request, (n + 1) * sizeof *copy);
    s->good = s->good && copy;
    return copy && words ? memcpy(copy, words, n * sizeof *copy) : copy;
}

static struct undo_entry *undo_append(struct undo_saving *s) {
    struct undo_entry *u = brt_take(&s->b->request, sizeof *u);
    s->good = s->good && u;
    if (!u)
        return NULL;
    u->table = s->table;
    *s->undo->last = u;
    s->undo->last = &u->next;
    return u;
}

static void undo_copy(struct undo_saving *s, struct undo_entry *u, const struct sk_entry *e) {
    const struct sk_table_desc *d = s->undo->change->table->desc;
    u->there = true;
    u->entry = *e;
    if (!u->is_default) {
        u->entry.value = undo_words(s, e->value, s->key_words);
        u->entry.mask = undo_words(s, e->mask, s->key_words);
    }
    u->entry.data = undo_words(s, e->data, d ? d->actions[e->action]->data_words : 0);
    if (e->direct)
        u->entry.direct = undo_words(s, e->direct, 2 * (size_t)d->direct_words);
    if (e->meter)
        u->meter = *e->meter;
}

static bool undo_each(void *aux, const struct sk_entry *e) {
    struct undo_saving *s = aux;
    struct undo_entry *u = e->is_const ? NULL : undo_append(s);
    if (u)
        undo_copy(s, u, e);
    return s->good;
}

static void undo_save_default(struct undo_saving *s) {
    const struct sk_table_desc *d = s->undo->change->table->desc;
    struct undo_entry *u = d && !d->is_profile ? undo_append(s) : NULL;
    if (!u)
        return;
    u->is_default = true;
    undo_copy(s, u, sk_table_default(s->table));
}

static void undo_save_key(struct undo_saving *s) {
    const struct brt_change *c = s->undo->change;
    const struct sk_entry *e = sk_table_find(s->table, c->value, c->mask, c->priority);
    struct undo_entry *u = undo_append(s);
    if (!u)
        return;
    u->entry = (struct sk_entry){.value = c->value, .mask = c->mask, .priority = c->priority};
    if (e)
        undo_copy(s, u, e);
}

static void undo_save_table(struct undo_saving *s, const struct brt_change *c) {
    s->key_words = brt_key_words(c->table);
    for (unsigned i = 0; s->good && i < c->pipes.n; i++) {
        s->table = brt_table_of(s->b, c, i);
        if (c->is_default)
            undo_save_default(s);
        else if (c->has_key)
            undo_save_key(s);
        else {
            sk_table_each(s->table, undo_each, s);
            undo_save_default(s);
        }
    }
}

// False when memory is short.
static bool undo_save_copy(struct undo_saving *s, const struct brt_change *c, unsigned i) {
    struct brt_undo *u = s->undo;
    if (!brt_has_copy(c->table))
        return true;
    u->seen[i] = brt_take(&s->b->request, (size_t)(u->to - u->from) * brt_cell_bytes(c->table));
    if (u->seen[i])
        brt_copy_get(s->b, c->table, c->pipes.list[i], u->from, u->to, u->seen[i]);
    return u->seen[i];
}

static void undo_save_cells(struct undo_saving *s, const struct brt_change *c) {
    const bool all = c->type == BFRT_PROTO__UPDATE__TYPE__DELETE;
    struct brt_undo *u = s->undo;
    u->from = all ? 0 : c->index;
    u->to = all ? c->table->size : c->index + 1;
    for (unsigned i = 0; s->good && i < c->pipes.n; i++) {
        u->cells[i] =
            brt_take(&s->b->request, (size_t)(u->to - u->from) * brt_cell_bytes(c->table));
        s->good = u->cells[i] && undo_save_copy(s, c, i);
        if (s->good)
            brt_cells_copy(s->b, c->table, c->pipes.list[i], u->from, u->to, u->cells[i]);
    }
}

static struct undo_group *undo_add_group(struct undo_saving *s, struct sk_selector *selector,
                                         uint32_t id) {
    struct undo_group *u = brt_take(&s->b->request, sizeof *u);
    s->good = s->good && u;
    if (!u)
        return NULL;
    *u = (struct undo_group){.next = s->undo->groups, .selector = selector, .id = id};
    return s->undo->groups = u;
}

static void undo_copy_group(struct undo_saving *s, struct undo_group *u, const struct sk_group *g) {
    u->there = true;
    u->max_size = g->max_size;
    u->has_offset = g->has_offset;
    u->offset = g->offset;
    u->n = g->n;
    u->members = brt_take(&s->b->request, (g->n + 1) * sizeof *u->members);
    s->good = s->good && u->members;
    if (u->members && g->n)
        memcpy(u->members, g->members, g->n * sizeof *u->members);
}

struct undo_groups {
    struct undo_saving *saving;
    struct sk_selector *selector;
};

static bool undo_each_group(void *aux, const struct sk_group *g) {
    const struct undo_groups *all = aux;
    struct undo_group *u = undo_add_group(all->saving, all->selector, g->id);
    if (u)
        undo_copy_group(all->saving, u, g);
    return all->saving->good;
}

static void undo_save_groups(struct undo_saving *s, const struct brt_change *c) {
    for (unsigned i = 0; s->good && i < c->pipes.n; i++) {
        struct sk_selector *selector = brt_selector_in(s->b, c->table, c->pipes.list[i]);
        if (!c->has_key) {
            sk_selector_each(selector, undo_each_group,
                             &(struct undo_groups){.saving = s, .selector = selector});
            continue;
        }
        struct undo_group *u = undo_add_group(s, selector, (uint32_t)c->index);
        const struct sk_group *g = sk_selector_find(selector, (uint32_t)c->index);
        if (u && g)
            undo_copy_group(s, u, g);
    }
}

static void undo_save_attribute(struct undo_saving *s, const struct brt_change *c) {
    s->undo->state = *brt_schema_state(brt_served(s->b), c->table);
    for (unsigned i = 0; i < c->pipes.n; i++) {
        const int32_t *more = brt_meter_more(s->b, c->table, c->pipes.list[i]);
        s->undo->more[i] = more ? *more : 0;
    }
    for (unsigned i = 0; c->table->desc && c->table->desc->key_masks && i < c->pipes.n; i++)
        s->undo->key_masks[i] =
            undo_words(s, sk_table_key_mask(brt_table_in(s->b, c->table, c->pipes.list[i])),
                       brt_key_words(c->table));
}

static void undo_save_hashes(struct undo_saving *s, const struct brt_change *c) {
    for (unsigned i = 0; s->good && i < c->pipes.n; i++)
        s->good = (s->undo->hashes[i] = brt_hash_save(s->b, c->table, c->pipes.list[i]));
}

bool brt_undo_save(struct brt *b, struct brt_undo **log, const struct brt_change *c) {
    struct brt_undo *u = brt_take(&b->request, sizeof *u);
    struct undo_saving s = {.b = b, .undo = u, .good = true};
    if (!u)
        return false;
    *u = (struct brt_undo){.older = *log, .change = c, .last = &u->first};
    if (c->fixed)
        s.good = (u->fixed = fixed_save(b, c)) != NULL;
    else if (c->attribute)
        undo_save_attribute(&s, c);
    else if (c->operation)
        return true;
    else if (c->table->kind == BRT_PORT_METADATA)
        s.good = (u->metadata = brt_port_metadata_save(b)) != NULL;
    else if (brt_has_cells(c->table))
        undo_save_cells(&s, c);
    else if (brt_has_groups(c->table))
        undo_save_groups(&s, c);
    else if (brt_has_hash(c->table))
        undo_save_hashes(&s, c);
    else
        undo_save_table(&s, c);
    *log = u;
    return s.good;
}

// ---- putting back ----

static void undo_extras(struct sk_entry *e, const struct undo_entry *u,
                        const struct sk_table_desc *d) {
    e->packets = u->entry.packets;
    e->bytes = u->entry.bytes;
    e->seen_packets = u->entry.seen_packets;
    e->seen_bytes = u->entry.seen_bytes;
    e->hits = u->entry.hits;
    e->last_hit = u->entry.last_hit;
    e->idle = u->entry.idle;
    if (e->meter)
        *e->meter = u->meter;
    if (e->direct && d)
        memcpy(e->direct, u->entry.direct, 2 * (size_t)d->direct_words * sizeof *e->direct);
}

static int undo_put_entry(const struct undo_entry *u, const struct sk_table_desc *d) {
    const struct sk_entry *old = &u->entry;
    struct sk_table *t = u->table;
    const bool now = sk_table_find(t, old->value, old->mask, old->priority);
    int error = SK_OK;
    if (!u->there)
        error = now ? sk_table_delete(t, old->value, old->mask, old->priority) : SK_OK;
    else if (!now)
        error = sk_table_add(t, old->value, old->mask, old->priority, old->action, old->data);
    else if (d)
        error = sk_table_modify(t, old->value, old->mask, old->priority, old->action, old->data);
    if (u->there && !error)
        undo_extras(sk_table_find(t, old->value, old->mask, old->priority), u, d);
    return error;
}

static int undo_put_default(const struct undo_entry *u, const struct sk_table_desc *d) {
    const struct sk_entry *now = sk_table_default(u->table);
    const size_t words = d->actions[u->entry.action]->data_words;
    const bool same = now->action == u->entry.action &&
                      memcmp(now->data, u->entry.data, words * sizeof *now->data) == 0;
    const int error = same ? SK_OK : sk_table_set_default(u->table, u->entry.action, u->entry.data);
    if (!error)
        undo_extras(sk_table_default(u->table), u, d);
    return error;
}

static int undo_put_group(const struct undo_group *u) {
    const bool now = sk_selector_find(u->selector, u->id);
    if (!u->there)
        return now ? sk_selector_delete(u->selector, u->id) : SK_OK;
    const int error = now ? sk_selector_modify(u->selector, u->id, u->max_size, u->members, u->n)
                          : sk_selector_add(u->selector, u->id, u->max_size, u->members, u->n);
    if (!error)
        sk_selector_set_offset(u->selector, u->id, u->has_offset, u->offset);
    return error;
}

static int undo_one(struct brt *b, const struct brt_undo *u) {
    const struct brt_change *c = u->change;
    int error = SK_OK;
    if (c->attribute)
        *brt_schema_state(brt_served(b), c->table) = u->state;
    if (c->attribute && c->table->kind == BRT_VALUE_SET &&
        !brt_values_set_parsers(b->now.sw, c->table, &u->state))
        error = SK_E_MEMORY;
    for (unsigned i = 0; i < c->pipes.n; i++) {
        int32_t *more = c->attribute ? brt_meter_more(b, c->table, c->pipes.list[i]) : NULL;
        if (more)
            *more = u->more[i];
        if (u->cells[i])
            brt_cells_put(b, c->table, c->pipes.list[i], u->from, u->to, u->cells[i]);
        if (u->seen[i])
            brt_copy_put(b, c->table, c->pipes.list[i], u->from, u->to, u->seen[i]);
        if (u->hashes[i])
            brt_hash_put_back(b, c->table, c->pipes.list[i], u->hashes[i]);
        if (u->key_masks[i])
            sk_table_set_key_mask(brt_table_in(b, c->table, c->pipes.list[i]), u->key_masks[i]);
    }
    for (const struct undo_entry *e = u->first; e && !error; e = e->next) {
        error =
            e->is_default ? undo_put_default(e, c->table->desc) : undo_put_entry(e, c->table->desc);
        sk_table_quiesce(e->table);
    }
    if (u->metadata)
        brt_port_metadata_put_back(b, u->metadata);
    for (const struct undo_group *g = u->groups; g && !error; g = g->next) {
        error = undo_put_group(g);
        sk_selector_quiesce(g->selector);
    }
    return error;
}

static enum brt_code undo_list(struct brt *b, const struct brt_undo *log, bool breathes,
                               struct sk_error *err) {
    enum brt_code code = BRT_OK;
    for (; log; log = log->older) {
        struct sk_error why;
        if (log->fixed && fixed_put_back(b, log->change, log->fixed, &why) && code == BRT_OK)
            code = brt_fail(err, BRT_INTERNAL_ERROR, "table '%s' could not be put back: %s",
                            log->change->fixed->name, why.text);
        const int error = log->fixed ? SK_OK : undo_one(b, log);
        if (error && code == BRT_OK)
            code = brt_fail(err, BRT_INTERNAL_ERROR, "table '%s' could not be put back: %s",
                            log->change->table->name, sk_table_strerror(error));
        if (breathes)
            sk_pauses_breathe(&b->pauses);
    }
    return code;
}

enum brt_code brt_undo_paused(struct brt *b, const struct brt_undo *log, struct sk_error *err) {
    return undo_list(b, log, false, err);
}

enum brt_code brt_undo_all(struct brt *b, const struct brt_undo *log, struct sk_error *err) {
    sk_pauses_begin(&b->pauses);
    const enum brt_code code = undo_list(b, log, true, err);
    sk_pauses_end(&b->pauses);
    return code;
}

// SPDX-License-Identifier: Apache-2.0
//
// table: run-time match-action tables: making them, changing them, reading them back. What they
// promise is in table.h, how they are laid out and published in table_impl.h and in the headers of
// the three structures that find entries: table_writer.h, table_lpm.h, table_ternary.h.
#include "stages/table_writer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "stages/selector.h"
#include "stages/table_lpm.h"
#include "stages/table_ternary.h"

static _Atomic uint64_t generation = 1;
uint64_t sk_tables_generation(void) {
    return atomic_load_explicit(&generation, memory_order_acquire);
}
void sk_tables_changed(void) {
    atomic_fetch_add_explicit(&generation, 1, memory_order_release);
}

static void list_append(struct sk_table_writer *w, struct node *n) {
    n->prev = w->last;
    n->next = NULL;
    *(w->last ? &w->last->next : &w->first) = n;
    w->last = n;
}

static void list_replace(struct sk_table_writer *w, struct node *old, struct node *n) {
    n->prev = old->prev;
    n->next = old->next;
    *(n->prev ? &n->prev->next : &w->first) = n;
    *(n->next ? &n->next->prev : &w->last) = n;
}

static void list_remove(struct sk_table_writer *w, struct node *n) {
    *(n->prev ? &n->prev->next : &w->first) = n->next;
    *(n->next ? &n->next->prev : &w->last) = n->prev;
}

static void retire_node(struct sk_table_writer *w, struct node *n) {
    n->next = w->retired;
    w->retired = n;
}

void sk_table_attach(struct sk_table *t, struct sk_table *members, struct sk_selector *selector) {
    t->members = members;
    t->selector = selector;
}

// --------------------------------------------------------------------------------------------
// Lookup.

struct sk_entry *sk_table_lookup(const struct sk_table *t, const uint64_t *key) {
    uint64_t masked[SK_MAX_KEY_WORDS];
    if (t->key_mask) {
        for (uint32_t i = 0; i < t->key_words; i++)
            masked[i] = key[i] & t->key_mask[i];
        key = masked;
    }
    const struct sk_filled *f = sk_filled_of(t);
    if (f)
        return key[0] < f->n ? sk_filled_at(f, key[0]) : NULL;
    switch (t->kind) {
    case SK_KIND_INDEX:
        return sk_lookup_index(t, key[0]);
    case SK_KIND_HASH: {
        uint64_t proxy = t->desc->proxy ? t->desc->proxy(key) : 0;
        return t->desc->proxy ? sk_lookup_hash(t, &proxy, 1) : sk_lookup_hash(t, key, t->key_words);
    }
    case SK_KIND_LPM:
        return sk_lpm_lookup(t, key);
    case SK_KIND_TERNARY:
        return sk_ternary_lookup(t, key);
    default:
        return NULL;
    }
}

struct sk_entry *sk_table_default(const struct sk_table *t) {
    return sk_load_slot(&t->dflt);
}

// --------------------------------------------------------------------------------------------
// Changes.

static sk_slot *table_find_slot(const struct sk_table *t, const uint64_t *value,
                                const uint64_t *mask, int64_t priority) {
    if (t->kind != SK_KIND_INDEX)
        return sk_hash_find(t, value, mask, priority);
    sk_slot *slot = &sk_slots_of(t)->slot[value[0]];
    return sk_load_slot(slot) ? slot : NULL;
}

struct sk_entry *sk_table_find(const struct sk_table *t, const uint64_t *value,
                               const uint64_t *mask, int64_t priority) {
    uint64_t v[SK_MAX_KEY_WORDS], m[SK_MAX_KEY_WORDS];
    if (t->kind == SK_KIND_NONE || sk_canonical_key(t, value, mask, v, m) != SK_OK)
        return NULL;
    struct sk_filled *f = sk_filled_of(t);
    if (f)
        return v[0] < f->n ? sk_filled_listed(f, v[0]) : NULL;
    sk_slot *slot = table_find_slot(t, v, m, priority);
    return slot ? sk_load_slot(slot) : NULL;
}

// Makes a complete entry visible. False when there is no memory.
static bool table_insert(struct sk_table *t, struct node *n) {
    if (t->kind == SK_KIND_INDEX) {
        sk_slot_set(&sk_slots_of(t)->slot[n->e.value[0]], &n->e);
        return true;
    }
    if (!sk_hash_reserve(t) || (t->kind == SK_KIND_LPM && !sk_lpm_insert(t, &n->e)) ||
        (t->kind == SK_KIND_TERNARY && !sk_ternary_insert(t, n)))
        return false;
    sk_hash_put(t, &n->e);
    return true;
}

// 'c' is the program's entry, or null when the control plane adds one.
static int table_add(struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                     int64_t priority, uint32_t action, const uint64_t *data,
                     const struct sk_const_entry *c) {
    struct sk_table_writer *w = t->writer;
    if (t->kind == SK_KIND_NONE)
        return SK_E_KEY;
    if (t->of_parser)
        return SK_E_PARSERS;
    if (sk_filled_of(t))
        return SK_E_FILLED;
    uint64_t v[SK_MAX_KEY_WORDS], m[SK_MAX_KEY_WORDS];
    int error = sk_canonical_key(t, value, mask, v, m);
    if (!error)
        error = sk_check_action(t, action, data, c ? IN_PROGRAM_ENTRY : IN_ENTRY);
    for (uint32_t i = 0; !error && t->key_mask && i < t->key_words; i++)
        error = v[i] & ~t->key_mask[i] ? SK_E_MASKED : SK_OK;
    if (error)
        return error;
    if (table_find_slot(t, v, m, priority))
        return SK_E_EXISTS;
    if (t->desc->proxy && sk_table_lookup(t, v))
        return SK_E_COLLISION;
    if (w->count >= w->size)
        return SK_E_FULL;
    struct node *n = sk_node_new(t, v, m, action, data);
    if (!n)
        return SK_E_MEMORY;
    n->e.priority = priority;
    n->e.is_const = c && c->is_const;
    n->e.id = w->next_id++;
    n->e.sequence = w->sequence++;
    error = sk_entry_hold(t, action, data);
    if (error) {
        sk_node_free(n);
        return error;
    }
    if (!sk_node_init_direct(t, n) || !table_insert(t, n)) {
        sk_entry_release(t, action, data);
        sk_node_free(n);
        return SK_E_MEMORY;
    }
    list_append(w, n);
    w->count++;
    atomic_store_explicit(&t->filled, true, memory_order_release);
    sk_tables_changed();
    return SK_OK;
}

int sk_table_add(struct sk_table *t, const uint64_t *value, const uint64_t *mask, int64_t priority,
                 uint32_t action, const uint64_t *data) {
    if (t->desc->const_entries)
        return SK_E_CONST;
    return table_add(t, value, mask, priority, action, data, NULL);
}

// The slot of an entry that the control plane may change.
static int find_mutable(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                        int64_t priority, sk_slot **slot) {
    uint64_t v[SK_MAX_KEY_WORDS], m[SK_MAX_KEY_WORDS];
    if (t->kind == SK_KIND_NONE)
        return SK_E_KEY;
    if (sk_filled_of(t))
        return SK_E_FILLED;
    int error = sk_canonical_key(t, value, mask, v, m);
    if (error)
        return error;
    *slot = table_find_slot(t, v, m, priority);
    if (!*slot)
        return SK_E_NOT_FOUND;
    return t->desc->const_entries || sk_load_slot(*slot)->is_const ? SK_E_CONST : SK_OK;
}

static void forget_fixed(struct sk_table *t, const struct sk_entry *old, struct sk_entry *now) {
    for (uint32_t i = 0; i < t->desc->n_entries; i++)
        if (t->fixed[i] == old)
            t->fixed[i] = now;
}

static int table_may_modify(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                            int64_t priority, uint32_t action, const uint64_t *data,
                            sk_slot **slot) {
    int error = find_mutable(t, value, mask, priority, slot);
    if (!error)
        error = sk_check_action(t, action, data, IN_ENTRY);
    if (error)
        return error;
    struct node *old = table_writer_node_of(sk_load_slot(*slot));
    if (old->held_by_groups && action != old->e.action)
        return SK_E_ACTIONS;
    return sk_entry_may_hold(t, action, data);
}

int sk_table_may_modify(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                        int64_t priority, uint32_t action, const uint64_t *data) {
    sk_slot *slot;
    return table_may_modify(t, value, mask, priority, action, data, &slot);
}

int sk_table_modify(struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                    int64_t priority, uint32_t action, const uint64_t *data) {
    sk_slot *slot;
    int error = table_may_modify(t, value, mask, priority, action, data, &slot);
    if (error)
        return error;
    struct node *old = table_writer_node_of(sk_load_slot(slot));
    struct node *n = sk_node_new(t, old->e.value, old->e.mask, action, data);
    if (!n)
        return SK_E_MEMORY;
    sk_entry_hold(t, action, data);
    sk_entry_release(t, old->e.action, old->e.data);
    sk_node_inherit(n, old);
    sk_slot_set(slot, &n->e);
    sk_hash_changed(t, &old->e, &n->e);
    if (t->kind == SK_KIND_LPM)
        sk_lpm_replace(t, &old->e, &n->e);
    if (t->kind == SK_KIND_TERNARY)
        sk_ternary_replace(t, n);
    list_replace(t->writer, old, n);
    forget_fixed(t, &old->e, &n->e);
    retire_node(t->writer, old);
    sk_hash_go_on(t);
    sk_tables_changed();
    return SK_OK;
}

static void remove_slot(struct sk_table *t, sk_slot *slot) {
    struct sk_table_writer *w = t->writer;
    struct node *n = table_writer_node_of(sk_load_slot(slot));
    sk_slot_set(slot, t->kind == SK_KIND_INDEX ? NULL : SK_TOMBSTONE);
    sk_hash_changed(t, &n->e, SK_TOMBSTONE);
    if (t->kind == SK_KIND_LPM)
        sk_lpm_remove(t, &n->e);
    if (t->kind == SK_KIND_TERNARY)
        sk_ternary_remove(t, n);
    sk_entry_release(t, n->e.action, n->e.data);
    list_remove(w, n);
    w->count--;
    atomic_store_explicit(&t->filled, w->count > 0, memory_order_release);
    forget_fixed(t, &n->e, NULL);
    retire_node(w, n);
    sk_hash_go_on(t);
    sk_tables_changed();
}

static int table_may_delete(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                            int64_t priority, sk_slot **slot) {
    int error = find_mutable(t, value, mask, priority, slot);
    return !error && sk_node_held(table_writer_node_of(sk_load_slot(*slot))) ? SK_E_IN_USE : error;
}

int sk_table_may_delete(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                        int64_t priority) {
    sk_slot *slot;
    return table_may_delete(t, value, mask, priority, &slot);
}

int sk_table_delete(struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                    int64_t priority) {
    sk_slot *slot;
    int error = table_may_delete(t, value, mask, priority, &slot);
    if (!error)
        remove_slot(t, slot);
    return error;
}

static int table_set_default(struct sk_table *t, uint32_t action, const uint64_t *data) {
    static const uint64_t no_key[SK_MAX_KEY_WORDS];
    struct sk_entry *old = sk_load_slot(&t->dflt);
    struct node *n = sk_node_new(t, no_key, no_key, action, data);
    int error = n ? sk_entry_hold(t, action, data) : SK_E_MEMORY;
    if (error) {
        sk_node_free(n);
        return error;
    }
    if (old) {
        sk_entry_release(t, old->action, old->data);
        sk_node_inherit(n, table_writer_node_of(old));
    } else if (!sk_node_init_direct(t, n)) {
        sk_node_free(n);
        return SK_E_MEMORY;
    }
    n->e.id = UINT32_MAX;
    sk_slot_set(&t->dflt, &n->e);
    if (old)
        retire_node(t->writer, table_writer_node_of(old));
    sk_tables_changed();
    return SK_OK;
}

int sk_table_may_set_default(const struct sk_table *t, uint32_t action, const uint64_t *data) {
    if (t->desc->const_default)
        return SK_E_CONST;
    int error = sk_check_action(t, action, data, IN_DEFAULT);
    return error ? error : sk_entry_may_hold(t, action, data);
}

int sk_table_set_default(struct sk_table *t, uint32_t action, const uint64_t *data) {
    int error = sk_table_may_set_default(t, action, data);
    return error ? error : table_set_default(t, action, data);
}

void sk_table_reset_default(struct sk_table *t) {
    struct sk_entry *e = sk_table_default(t);
    uint32_t words = t->desc->actions[t->desc->default_action]->data_words;
    if (e->action == t->desc->default_action &&
        (words == 0 || memcmp(e->data, t->desc->default_data, words * sizeof(uint64_t)) == 0))
        return;
    table_set_default(t, t->desc->default_action, t->desc->default_data);
}

int sk_table_may_clear(const struct sk_table *t) {
    for (const struct node *n = t->desc->is_profile ? t->writer->first : NULL; n; n = n->next)
        if (sk_node_held(n))
            return SK_E_IN_USE;
    return SK_OK;
}

int sk_table_clear_between(struct sk_table *t, void (*between)(void *aux), void *aux) {
    if (sk_table_may_clear(t))
        return SK_E_IN_USE;
    sk_filled_clear(t);
    for (struct node *n = t->writer->first, *next; n; n = next) {
        if (between) {
            sk_table_quiesce(t);
            between(aux);
        }
        next = n->next;
        if (n->e.is_const || t->desc->const_entries)
            continue;
        sk_slot *slot = table_find_slot(t, n->e.value, n->e.mask, n->e.priority);
        assert(slot && sk_load_slot(slot) == &n->e);
        remove_slot(t, slot);
    }
    if (!t->desc->const_default)
        sk_table_reset_default(t);
    return SK_OK;
}

int sk_table_clear(struct sk_table *t) {
    return sk_table_clear_between(t, NULL, NULL);
}

// --------------------------------------------------------------------------------------------
// Reading back.

int sk_table_set_key_mask(struct sk_table *t, const uint64_t *mask) {
    if (t->writer->count > 0)
        return SK_E_NOT_EMPTY;
    for (uint32_t i = 0; t->key_mask && i < t->key_words; i++)
        t->key_mask[i] = mask[i];
    sk_tables_changed();
    return SK_OK;
}

static void table_free_of_parsers(struct sk_table **of_parser, unsigned n) {
    for (unsigned i = 0; of_parser && i < n; i++)
        sk_table_free(of_parser[i]);
    free(of_parser);
}

int sk_table_set_parsers(struct sk_table *t, unsigned n) {
    if (sk_table_count(t) > 0)
        return SK_E_PARSERS;
    if (n == t->n_parsers)
        return SK_OK;
    struct sk_table **of_parser = n ? calloc(n, sizeof(struct sk_table *)) : NULL;
    bool good = of_parser || !n;
    for (unsigned i = 0; good && i < n; i++)
        good = (of_parser[i] = sk_table_new(t->desc)) != NULL;
    if (!good) {
        table_free_of_parsers(of_parser, n);
        return SK_E_MEMORY;
    }
    table_free_of_parsers(t->of_parser, t->n_parsers);
    t->of_parser = of_parser;
    t->n_parsers = n;
    sk_tables_changed();
    return SK_OK;
}

unsigned sk_table_n_parsers(const struct sk_table *t) {
    return t->n_parsers;
}

struct sk_table *sk_table_of_parser(const struct sk_table *t, unsigned parser) {
    return t->of_parser[parser];
}

const uint64_t *sk_table_key_mask(const struct sk_table *t) {
    return t->key_mask;
}

size_t sk_table_count(const struct sk_table *t) {
    size_t n = t->writer->count;
    for (unsigned i = 0; i < t->n_parsers; i++)
        n += t->of_parser[i]->writer->count;
    return n;
}

const struct sk_table_desc *sk_table_desc(const struct sk_table *t) {
    return t->desc;
}

void sk_table_each(const struct sk_table *t, bool (*fn)(void *aux, const struct sk_entry *e),
                   void *aux) {
    if (t->kind == SK_KIND_TERNARY) {
        sk_ternary_each(t, fn, aux);
        return;
    }
    struct sk_filled *f = sk_filled_of(t);
    for (uint64_t key = 0; f && key < f->n; key++)
        if (!fn(aux, sk_filled_listed(f, key)))
            return;
    for (const struct node *n = t->writer->first; n; n = n->next)
        if (!fn(aux, &n->e))
            return;
}

void sk_table_quiesce(struct sk_table *t) {
    struct sk_table_writer *w = t->writer;
    for (struct node *n; (n = w->retired) != NULL;) {
        w->retired = n->next;
        sk_node_free(n);
    }
    for (struct sk_retired *r; (r = w->retired_blocks) != NULL;) {
        w->retired_blocks = r->next;
        free(r);
    }
    sk_hash_quiesce(t);
    sk_filled_quiesce(t);
}

void sk_table_tend(struct sk_table *t) {
    if (sk_buckets_of(t))
        sk_hash_tend(t);
}

bool sk_table_tells_last_hit(const struct sk_table_desc *d, bool def) {
    const bool own_entries = d->const_entries || d->n_keys == 0;
    return d->idle_timeout || !own_entries || (def && !d->const_default);
}

void sk_table_share_hits(struct sk_table *t, const struct sk_hits *hits, uint32_t apart) {
    for (uint32_t i = 0; i < t->desc->n_entries; i++)
        if (t->fixed[i])
            t->fixed[i]->elsewhere = &hits[i * apart];
    sk_table_default(t)->elsewhere = &hits[t->desc->n_entries * apart];
}

// --------------------------------------------------------------------------------------------
// Making and freeing.

static enum sk_table_kind choose_kind(const struct sk_table_desc *d) {
    bool lpm = false;
    for (uint32_t i = 0; i < d->n_keys; i++) {
        if (d->keys[i].match == SK_TERNARY || d->keys[i].match == SK_RANGE)
            return SK_KIND_TERNARY;
        if (d->keys[i].match == SK_LPM && lpm)
            return SK_KIND_TERNARY; // no such table on the hardware; treated as ternary
        lpm |= d->keys[i].match == SK_LPM;
    }
    if (d->n_keys == 0)
        return SK_KIND_NONE;
    if (d->proxy)
        return SK_KIND_HASH;
    if (lpm)
        return SK_KIND_LPM;
    return d->n_keys == 1 && d->keys[0].width <= SK_INDEX_BITS ? SK_KIND_INDEX : SK_KIND_HASH;
}

static bool make_keys(struct sk_table *t) {
    const struct sk_table_desc *d = t->desc;
    t->keys = calloc(d->n_keys + 1, sizeof *t->keys);
    if (!t->keys)
        return false;
    uint32_t word = 0;
    for (uint32_t i = 0; i < d->n_keys; i++) {
        uint32_t words = sk_words(d->keys[i].width);
        t->keys[i] = (struct sk_key_pos){word, words, d->keys[i].width, d->keys[i].match};
        t->has_range |= d->keys[i].match == SK_RANGE;
        word += words;
    }
    if (d->key_masks && !(t->key_mask = malloc((word + 1) * sizeof *t->key_mask)))
        return false;
    for (uint32_t i = 0; d->key_masks && i < word; i++)
        t->key_mask[i] = UINT64_MAX; // what is beyond a field's width is zero
    return word == d->key_words && word <= SK_MAX_KEY_WORDS;
}

static bool make_lookup(struct sk_table *t) {
    if (t->kind == SK_KIND_INDEX)
        return sk_slots_make(t, UINT64_C(1) << t->keys[0].width);
    if (!sk_hash_reserve(t))
        return false;
    if (t->kind == SK_KIND_LPM)
        return (t->lpm = sk_lpm_new(t)) != NULL;
    if (t->kind == SK_KIND_TERNARY)
        return (t->ternary = sk_ternary_new()) != NULL;
    return true;
}

// The program's own entries. Where two have the same key the first stays, as in a list that is
// searched from its start.
static bool add_program_entries(struct sk_table *t) {
    const struct sk_table_desc *d = t->desc;
    t->fixed = calloc((size_t)d->n_entries + 1, sizeof(struct sk_entry *));
    if (!t->fixed)
        return false;
    for (uint32_t i = 0; i < d->n_entries; i++) {
        const struct sk_const_entry *c = &d->entries[i];
        int error = table_add(t, c->value, c->mask, c->priority, c->action, c->data, c);
        if (!error)
            t->fixed[i] = &t->writer->last->e;
        else if (error != SK_E_EXISTS)
            return false;
        sk_table_quiesce(t);
    }
    return true;
}

// Of the tables that this thread makes; 0: none.
static _Thread_local uint64_t next_secret;

void sk_table_use_secret(uint64_t secret) {
    next_secret = secret;
}

static struct sk_hash_secret secret_of_next(void) {
    if (!next_secret)
        return (struct sk_hash_secret){0, SK_HASH_FACTOR};
    const uint64_t start = sk_hash_mix(next_secret, 1), factor = sk_hash_mix(next_secret, 2);
    next_secret = sk_hash_mix(next_secret, 3) | 1;
    return (struct sk_hash_secret){start, factor | 1};
}

struct sk_table *sk_table_new(const struct sk_table_desc *desc) {
    struct sk_table *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->secret = secret_of_next();
    t->desc = desc;
    t->key_words = desc->key_words;
    t->kind = choose_kind(desc);
    t->writer = calloc(1, sizeof *t->writer);
    if (!t->writer || !make_keys(t) || !make_lookup(t) ||
        table_set_default(t, desc->default_action, desc->default_data) != SK_OK) {
        sk_table_free(t);
        return NULL;
    }
    t->writer->size = desc->size > desc->n_entries ? desc->size : desc->n_entries;
    if (!add_program_entries(t)) {
        sk_table_free(t);
        return NULL;
    }
    return t;
}

static void table_free_of_parsers(struct sk_table **of_parser, unsigned n);

void sk_table_free(struct sk_table *t) {
    if (!t)
        return;
    table_free_of_parsers(t->of_parser, t->n_parsers);
    if (t->writer) {
        sk_ternary_free(t);
        sk_lpm_free(t->lpm);
        for (struct node *n = t->writer->first, *next; n; n = next) {
            next = n->next;
            sk_node_free(n);
        }
        sk_table_quiesce(t);
        sk_hash_free(t);
        sk_filled_free(t);
    }
    struct sk_entry *dflt = sk_load_slot(&t->dflt);
    if (dflt)
        sk_node_free(table_writer_node_of(dflt));
    free(sk_slots_of(t));
    free(t->fixed);
    free(t->keys);
    free(t->key_mask);
    free(t->writer);
    free(t);
}

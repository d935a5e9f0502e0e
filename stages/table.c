// SPDX-License-Identifier: Apache-2.0
//
// table: run-time match-action tables. What they promise is in table.h, how they are laid out and
// published in table_impl.h; this file is the writer's side and the lookups that are not inline.
#include "stages/table_impl.h"

#include "stages/meter.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "stages/selector.h"

// What surrounds an entry: only the writer sees it.
struct node {
    struct node *prev, *next; // all entries, oldest first; 'next' also links retired ones
    uint64_t sequence;        // order of adding, among equal priorities
    bool owns_direct;
    uint32_t held_by_entries, held_by_groups; // references to it as a member
    struct sk_entry e;                        // key, mask and data words follow
};

struct sk_table_writer {
    struct node *first, *last;
    size_t count;  // entries
    size_t used;   // slots that are not null: entries and tombstones
    uint64_t size; // entries at most
    uint64_t sequence;
    uint32_t next_id;
    uint32_t lpm_key;       // SK_KIND_LPM: its index
    uint32_t *length_count; // SK_KIND_LPM: entries per prefix length
    struct node *retired;
    struct sk_slots *retired_slots;
    struct sk_prefixes *retired_prefixes;
};

static struct node *node_of(struct sk_entry *e) {
    return (struct node *)((char *)e - offsetof(struct node, e));
}

const char *sk_table_strerror(int error) {
    switch (error) {
    case SK_OK:
        return "no error";
    case SK_E_EXISTS:
        return "an entry with this key exists";
    case SK_E_NOT_FOUND:
        return "there is no entry with this key";
    case SK_E_FULL:
        return "the table is full";
    case SK_E_CONST:
        return "the program declares it constant";
    case SK_E_ACTION:
        return "the action is not one of this table's, or is not allowed here";
    case SK_E_KEY:
        return "the key does not fit the table's key fields";
    case SK_E_DATA:
        return "the action data does not fit the action's parameters";
    case SK_E_MEMORY:
        return "out of memory";
    case SK_E_IN_USE:
        return "an entry or a group still refers to it";
    case SK_E_NO_MEMBER:
        return "the action profile has no member with this id";
    case SK_E_NO_GROUP:
        return "the action selector has no group with this id";
    case SK_E_EMPTY:
        return "a group that an entry names must have a member that is up";
    case SK_E_ACTIONS:
        return "all members of a group must have the same action";
    case SK_E_COLLISION:
        return "the key's proxy hash is that of another entry";
    case SK_E_GROUP_SIZE:
        return "the group has more members than it may have";
    default:
        return "unknown error";
    }
}

// --------------------------------------------------------------------------------------------
// Checks of what the control plane gives.

// True when the field's words hold no bit beyond its width.
static bool fits(const uint64_t *v, uint32_t width) {
    return width % 64 == 0 || (v[sk_words(width) - 1] & ~sk_mask(width % 64)) == 0;
}

static uint64_t full_word(uint32_t width, uint32_t word) {
    return word + 1 < sk_words(width) || width % 64 == 0 ? ~UINT64_C(0) : sk_mask(width % 64);
}

// Length of the prefix a mask stands for, or -1 when its ones are not contiguous from the top.
static int prefix_length(const uint64_t *mask, uint32_t width) {
    uint32_t length = 0;
    while (length < width) {
        uint32_t bit = width - 1 - length;
        if (!(mask[bit / 64] >> bit % 64 & 1))
            break;
        length++;
    }
    for (uint32_t bit = 0; bit < width - length; bit++)
        if (mask[bit / 64] >> bit % 64 & 1)
            return -1;
    return (int)length;
}

static int compare_words(const uint64_t *a, const uint64_t *b, uint32_t words) {
    for (uint32_t i = words; i-- > 0;)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static bool key_field_ok(const struct sk_key_pos *k, const uint64_t *value, const uint64_t *mask) {
    value += k->word;
    mask += k->word;
    if (!fits(value, k->width) || !fits(mask, k->width))
        return false;
    switch (k->match) {
    case SK_EXACT:
        for (uint32_t w = 0; w < k->words; w++)
            if (mask[w] != full_word(k->width, w))
                return false;
        return true;
    case SK_LPM:
        return prefix_length(mask, k->width) >= 0;
    case SK_RANGE:
        return compare_words(value, mask, k->words) <= 0;
    default:
        return true;
    }
}

// A key in the form entries hold: the mask filled in when there is none, bits outside a mask zero.
static int canonical_key(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                         uint64_t *value_out, uint64_t *mask_out) {
    for (uint32_t i = 0; i < t->desc->n_keys; i++) {
        const struct sk_key_pos *k = &t->keys[i];
        for (uint32_t w = 0; w < k->words; w++) {
            uint64_t v = value[k->word + w];
            uint64_t m = k->match == SK_RANGE ? v : full_word(k->width, w);
            value_out[k->word + w] = v;
            mask_out[k->word + w] = mask ? mask[k->word + w] : m;
        }
        if (!key_field_ok(k, value_out, mask_out))
            return SK_E_KEY;
        for (uint32_t w = 0; w < k->words && k->match != SK_RANGE; w++)
            value_out[k->word + w] &= mask_out[k->word + w];
    }
    return SK_OK;
}

enum place { IN_ENTRY, IN_PROGRAM_ENTRY, IN_DEFAULT };

static bool action_allowed(const struct sk_table *t, const struct sk_action_desc *a,
                           enum place place) {
    if (place == IN_DEFAULT)
        return !a->table_only;
    // entries of the control plane name members where there is a profile
    if (place == IN_ENTRY && t->desc->profile && !a->refers)
        return false;
    return !a->default_only;
}

static int check_action(const struct sk_table *t, uint32_t action, const uint64_t *data,
                        enum place place) {
    if (action >= t->desc->n_actions)
        return SK_E_ACTION;
    const struct sk_action_desc *a = t->desc->actions[action];
    if (!action_allowed(t, a, place))
        return SK_E_ACTION;
    uint32_t word = 0;
    for (uint32_t i = 0; i < a->n_params; i++) {
        if (!data || !fits(data + word, a->params[i].width))
            return SK_E_DATA;
        word += sk_words(a->params[i].width);
    }
    return SK_OK;
}

// --------------------------------------------------------------------------------------------
// Entries.

static struct node *node_new(struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                             uint32_t action, const uint64_t *data) {
    uint32_t words = t->desc->key_words, n_data = t->desc->actions[action]->data_words;
    uint32_t hash = t->desc->proxy ? 1 : 0; // in front of the key: sk_entry_key
    struct node *n = calloc(1, sizeof *n + (hash + 2 * (size_t)words + n_data) * sizeof(uint64_t));
    if (!n)
        return NULL;
    n->e.action = action;
    n->e.value = (uint64_t *)(&n->e + 1) + hash;
    if (hash)
        n->e.value[-1] = t->desc->proxy(value);
    n->e.mask = n->e.value + words;
    n->e.data = n->e.mask + words;
    if (words) {
        memcpy(n->e.value, value, words * sizeof *value);
        memcpy(n->e.mask, mask, words * sizeof *mask);
    }
    if (n_data)
        memcpy(n->e.data, data, n_data * sizeof *data);
    return n;
}

static bool node_init_direct(const struct sk_table *t, struct node *n) {
    uint32_t words = t->desc->direct_words;
    n->owns_direct = true;
    if (t->desc->meter_kind) {
        n->e.meter = calloc(1, sizeof *n->e.meter);
        if (!n->e.meter)
            return false;
    }
    if (!words)
        return true;
    n->e.direct = calloc(words, sizeof *n->e.direct);
    if (n->e.direct && t->desc->direct_initial)
        memcpy(n->e.direct, t->desc->direct_initial, words * sizeof *n->e.direct);
    return n->e.direct != NULL;
}

static void node_free(struct node *n) {
    if (n && n->owns_direct) {
        free(n->e.direct);
        free(n->e.meter);
    }
    free(n);
}

// A node that replaces 'old': its counters, direct registers and meter live on.
static void node_inherit(struct node *n, struct node *old) {
    n->sequence = old->sequence;
    n->e.id = old->e.id;
    n->e.priority = old->e.priority;
    n->e.packets = old->e.packets;
    n->e.bytes = old->e.bytes;
    n->e.hits = old->e.hits;
    n->e.last_hit = old->e.last_hit;
    n->e.elsewhere = old->e.elsewhere;
    n->e.idle = old->e.idle;
    n->held_by_entries = old->held_by_entries;
    n->held_by_groups = old->held_by_groups;
    n->e.direct = old->e.direct;
    n->e.meter = old->e.meter;
    n->owns_direct = old->owns_direct;
    old->owns_direct = false;
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

static void retire(struct sk_table_writer *w, struct node *n) {
    n->next = w->retired;
    w->retired = n;
}

// --------------------------------------------------------------------------------------------
// References to members and groups.

static struct node *find_member(const struct sk_table *members, uint64_t id) {
    struct sk_entry *e = sk_lookup_member(members, id);
    return e ? node_of(e) : NULL;
}

int sk_table_hold(struct sk_table *members, uint32_t id, uint32_t *action) {
    struct node *n = find_member(members, id);
    if (!n)
        return SK_E_NO_MEMBER;
    n->held_by_groups++;
    if (action)
        *action = n->e.action;
    return SK_OK;
}

void sk_table_release(struct sk_table *members, uint32_t id) {
    struct node *n = find_member(members, id);
    assert(n && n->held_by_groups > 0);
    n->held_by_groups--;
}

static uint8_t refers(const struct sk_table *t, uint32_t action) {
    return t->members ? t->desc->actions[action]->refers : SK_REFERS_NOT;
}

// What an action of an entry refers to is counted from here on.
static int hold(struct sk_table *t, uint32_t action, const uint64_t *data) {
    struct node *n;
    switch (refers(t, action)) {
    case SK_REFERS_MEMBER:
        n = find_member(t->members, data[0]);
        if (!n)
            return SK_E_NO_MEMBER;
        n->held_by_entries++;
        return SK_OK;
    case SK_REFERS_GROUP:
        return sk_selector_hold(t->selector, (uint32_t)data[0]);
    default:
        return SK_OK;
    }
}

static void release(struct sk_table *t, uint32_t action, const uint64_t *data) {
    struct node *n;
    switch (refers(t, action)) {
    case SK_REFERS_MEMBER:
        n = find_member(t->members, data[0]);
        assert(n && n->held_by_entries > 0);
        n->held_by_entries--;
        break;
    case SK_REFERS_GROUP:
        sk_selector_release(t->selector, (uint32_t)data[0]);
        break;
    default:
        break;
    }
}

static bool held(const struct node *n) {
    return n->held_by_entries || n->held_by_groups;
}

void sk_table_attach(struct sk_table *t, struct sk_table *members, struct sk_selector *selector) {
    t->members = members;
    t->selector = selector;
}

// --------------------------------------------------------------------------------------------
// Slots: the array behind every kind of table.

static struct sk_slots *slots_of(const struct sk_table *t) {
    return atomic_load_explicit(&((struct sk_table *)t)->slots, memory_order_relaxed);
}

static struct sk_slots *slots_new(uint64_t capacity) {
    struct sk_slots *s = calloc(1, sizeof *s + capacity * sizeof(sk_slot));
    if (s)
        s->mask = capacity - 1;
    return s;
}

static void slots_publish(struct sk_table *t, struct sk_slots *s) {
    struct sk_slots *old = slots_of(t);
    atomic_store_explicit(&t->slots, s, memory_order_release);
    if (old) {
        old->next_retired = t->writer->retired_slots;
        t->writer->retired_slots = old;
    }
}

static void slot_set(sk_slot *s, struct sk_entry *e) {
    atomic_store_explicit(s, e, memory_order_release);
}

// ---- hash (exact and lpm): an entry's hash starts from its prefix length ----

static uint64_t entry_seed(const struct sk_table *t, const uint64_t *mask) {
    if (t->kind != SK_KIND_LPM)
        return 0;
    const struct sk_key_pos *k = &t->keys[t->writer->lpm_key];
    return (uint64_t)prefix_length(mask + k->word, k->width) + 1;
}

// The slot that holds this key; or, when there is none, null.
static sk_slot *hash_find(const struct sk_table *t, const uint64_t *value, const uint64_t *mask) {
    struct sk_slots *s = slots_of(t);
    uint64_t proxy = t->desc->proxy ? t->desc->proxy(value) : 0;
    uint64_t at = t->desc->proxy ? sk_hash_key(&proxy, 1, 0)
                                 : sk_hash_key(value, t->key_words, entry_seed(t, mask));
    for (;; at++) {
        sk_slot *slot = &s->slot[at & s->mask];
        struct sk_entry *e = sk_load_slot(slot);
        if (!e)
            return NULL;
        if (e != SK_TOMBSTONE && sk_key_equal(e->value, value, t->key_words) &&
            sk_key_equal(e->mask, mask, t->key_words))
            return slot;
    }
}

static void hash_put(const struct sk_table *t, struct sk_slots *s, struct sk_entry *e) {
    uint64_t at =
        sk_hash_key(sk_entry_key(e), t->desc->proxy ? 1 : t->key_words, entry_seed(t, e->mask));
    while (sk_load_slot(&s->slot[at & s->mask]))
        at++;
    slot_set(&s->slot[at & s->mask], e);
}

// Makes room for one more entry: at most half of the slots may be in use.
static bool hash_reserve(struct sk_table *t) {
    struct sk_table_writer *w = t->writer;
    struct sk_slots *s = slots_of(t);
    if ((w->used + 1) * 2 <= s->mask + 1)
        return true;
    uint64_t capacity = 16;
    while (capacity < (w->count + 1) * 4)
        capacity *= 2;
    struct sk_slots *grown = slots_new(capacity);
    if (!grown)
        return false;
    for (struct node *n = w->first; n; n = n->next)
        hash_put(t, grown, &n->e);
    w->used = w->count;
    slots_publish(t, grown);
    return true;
}

// ---- prefix lengths of an LPM table ----

static void prefix_mask(const struct sk_table *t, uint32_t length, uint64_t *mask) {
    for (uint32_t i = 0; i < t->desc->n_keys; i++) {
        const struct sk_key_pos *k = &t->keys[i];
        for (uint32_t w = 0; w < k->words; w++)
            mask[k->word + w] = i == t->writer->lpm_key ? 0 : full_word(k->width, w);
    }
    const struct sk_key_pos *k = &t->keys[t->writer->lpm_key];
    for (uint32_t bit = k->width - length; bit < k->width; bit++)
        mask[k->word + bit / 64] |= UINT64_C(1) << bit % 64;
}

// Publishes the list of lengths in use, with 'extra' among them (or UINT32_MAX).
static bool prefixes_rebuild(struct sk_table *t, uint32_t extra) {
    struct sk_table_writer *w = t->writer;
    uint32_t width = t->keys[w->lpm_key].width, n = 0;
    for (uint32_t l = 0; l <= width; l++)
        n += w->length_count[l] > 0 || l == extra;
    struct sk_prefixes *p = calloc(1, sizeof *p + (size_t)n * t->key_words * sizeof(uint64_t));
    if (!p)
        return false;
    for (uint32_t l = width + 1; l-- > 0;)
        if (w->length_count[l] || l == extra)
            prefix_mask(t, l, &p->mask[p->n++ * t->key_words]);
    struct sk_prefixes *old = atomic_load_explicit(&t->prefixes, memory_order_relaxed);
    atomic_store_explicit(&t->prefixes, p, memory_order_release);
    if (old) {
        old->next_retired = w->retired_prefixes;
        w->retired_prefixes = old;
    }
    return true;
}

// ---- scan (ternary and range): in order of precedence, null at the end ----

static bool precedes(const struct sk_entry *a, const struct node *n) {
    const struct node *m = node_of((struct sk_entry *)a);
    return a->priority < n->e.priority ||
           (a->priority == n->e.priority && m->sequence < n->sequence);
}

static sk_slot *scan_find(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                          int64_t priority) {
    struct sk_slots *s = slots_of(t);
    for (uint64_t i = 0;; i++) {
        struct sk_entry *e = sk_load_slot(&s->slot[i]);
        if (!e)
            return NULL;
        if (e != SK_TOMBSTONE && e->priority == priority &&
            sk_key_equal(e->value, value, t->key_words) &&
            sk_key_equal(e->mask, mask, t->key_words))
            return &s->slot[i];
    }
}

// Makes room for one more entry and the null behind it; drops tombstones on the way.
static bool scan_reserve(struct sk_table *t) {
    struct sk_table_writer *w = t->writer;
    struct sk_slots *s = slots_of(t);
    if (w->used + 2 <= s->mask + 1)
        return true;
    uint64_t capacity = 16;
    while (capacity < (w->count + 2) * 2)
        capacity *= 2;
    struct sk_slots *grown = slots_new(capacity);
    if (!grown)
        return false;
    w->used = 0;
    for (uint64_t i = 0;; i++) {
        struct sk_entry *e = sk_load_slot(&s->slot[i]);
        if (!e)
            break;
        if (e != SK_TOMBSTONE)
            slot_set(&grown->slot[w->used++], e);
    }
    slots_publish(t, grown);
    return true;
}

// Entries move up into the first hole behind the new one's place, the last of them first.
static void scan_put(struct sk_table *t, struct node *n) {
    struct sk_slots *s = slots_of(t);
    uint64_t at = 0, hole;
    for (struct sk_entry *e; (e = sk_load_slot(&s->slot[at])) != NULL; at++)
        if (e != SK_TOMBSTONE && !precedes(e, n))
            break;
    for (hole = at;; hole++) {
        struct sk_entry *e = sk_load_slot(&s->slot[hole]);
        if (e == SK_TOMBSTONE)
            break;
        if (!e) {
            t->writer->used++;
            break;
        }
    }
    for (; hole > at; hole--)
        slot_set(&s->slot[hole], sk_load_slot(&s->slot[hole - 1]));
    slot_set(&s->slot[at], &n->e);
}

static bool range_matches(const struct sk_table *t, const struct sk_entry *e, const uint64_t *key) {
    for (uint32_t i = 0; i < t->desc->n_keys; i++) {
        const struct sk_key_pos *k = &t->keys[i];
        const uint64_t *v = key + k->word;
        if (k->match == SK_RANGE) {
            if (compare_words(v, e->value + k->word, k->words) < 0 ||
                compare_words(v, e->mask + k->word, k->words) > 0)
                return false;
            continue;
        }
        for (uint32_t w = 0; w < k->words; w++)
            if ((v[w] ^ e->value[k->word + w]) & e->mask[k->word + w])
                return false;
    }
    return true;
}

static bool ternary_matches(const struct sk_entry *e, const uint64_t *key, uint32_t words) {
    const uint64_t *value = sk_entry_key(e), *mask = value + words;
    uint64_t diff = 0;
    for (uint32_t i = 0; i < words; i++)
        diff |= (key[i] ^ value[i]) & mask[i];
    return diff == 0;
}

// --------------------------------------------------------------------------------------------
// Lookup.

static struct sk_entry *lookup_scan(const struct sk_table *t, const uint64_t *key) {
    const struct sk_slots *s =
        atomic_load_explicit((_Atomic(struct sk_slots *) *)&t->slots, memory_order_acquire);
    for (const sk_slot *slot = s->slot;; slot++) {
        struct sk_entry *e = sk_load_slot(slot);
        if (!e)
            return NULL;
        if (e != SK_TOMBSTONE &&
            (t->has_range ? range_matches(t, e, key) : ternary_matches(e, key, t->key_words)))
            return e;
    }
}

static struct sk_entry *lookup_masked(const struct sk_table *t, const struct sk_slots *s,
                                      const uint64_t *key, const uint64_t *mask, uint64_t seed) {
    uint64_t masked[SK_MAX_KEY_WORDS];
    for (uint32_t i = 0; i < t->key_words; i++)
        masked[i] = key[i] & mask[i];
    for (uint64_t at = sk_hash_key(masked, t->key_words, seed);; at++) {
        struct sk_entry *e = sk_load_slot(&s->slot[at & s->mask]);
        if (!e)
            return NULL;
        if (e != SK_TOMBSTONE && sk_key_equal(e->value, masked, t->key_words) &&
            sk_key_equal(e->mask, mask, t->key_words))
            return e;
    }
}

static struct sk_entry *lookup_lpm(const struct sk_table *t, const uint64_t *key) {
    struct sk_table *u = (struct sk_table *)t;
    const struct sk_prefixes *p = atomic_load_explicit(&u->prefixes, memory_order_acquire);
    const struct sk_slots *s = atomic_load_explicit(&u->slots, memory_order_acquire);
    for (uint32_t i = 0; p && i < p->n; i++) {
        const uint64_t *mask = &p->mask[(size_t)i * t->key_words];
        struct sk_entry *e = lookup_masked(t, s, key, mask, entry_seed(t, mask));
        if (e)
            return e;
    }
    return NULL;
}

struct sk_entry *sk_table_lookup(const struct sk_table *t, const uint64_t *key) {
    switch (t->kind) {
    case SK_KIND_INDEX:
        return sk_lookup_index(t, key[0]);
    case SK_KIND_HASH: {
        uint64_t proxy = t->desc->proxy ? t->desc->proxy(key) : 0;
        return t->desc->proxy ? sk_lookup_hash(t, &proxy, 1) : sk_lookup_hash(t, key, t->key_words);
    }
    case SK_KIND_LPM:
        return lookup_lpm(t, key);
    case SK_KIND_SCAN:
        return lookup_scan(t, key);
    default:
        return NULL;
    }
}

struct sk_entry *sk_table_default(const struct sk_table *t) {
    return sk_load_slot(&t->dflt);
}

// --------------------------------------------------------------------------------------------
// Changes.

static sk_slot *find_slot(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                          int64_t priority) {
    switch (t->kind) {
    case SK_KIND_INDEX: {
        sk_slot *slot = &slots_of(t)->slot[value[0]];
        return sk_load_slot(slot) ? slot : NULL;
    }
    case SK_KIND_HASH:
    case SK_KIND_LPM:
        return hash_find(t, value, mask);
    case SK_KIND_SCAN:
        return scan_find(t, value, mask, priority);
    default:
        return NULL;
    }
}

struct sk_entry *sk_table_find(const struct sk_table *t, const uint64_t *value,
                               const uint64_t *mask, int64_t priority) {
    uint64_t v[SK_MAX_KEY_WORDS], m[SK_MAX_KEY_WORDS];
    if (t->kind == SK_KIND_NONE || canonical_key(t, value, mask, v, m) != SK_OK)
        return NULL;
    sk_slot *slot = find_slot(t, v, m, priority);
    return slot ? sk_load_slot(slot) : NULL;
}

static bool reserve(struct sk_table *t) {
    switch (t->kind) {
    case SK_KIND_HASH:
    case SK_KIND_LPM:
        return hash_reserve(t);
    case SK_KIND_SCAN:
        return scan_reserve(t);
    default:
        return true;
    }
}

// Makes a complete entry visible. Room is reserved.
static bool insert(struct sk_table *t, struct node *n) {
    struct sk_table_writer *w = t->writer;
    switch (t->kind) {
    case SK_KIND_INDEX:
        slot_set(&slots_of(t)->slot[n->e.value[0]], &n->e);
        return true;
    case SK_KIND_LPM: {
        uint32_t length = (uint32_t)entry_seed(t, n->e.mask) - 1;
        if (!w->length_count[length] && !prefixes_rebuild(t, length))
            return false;
        w->length_count[length]++;
        hash_put(t, slots_of(t), &n->e);
        w->used++;
        return true;
    }
    case SK_KIND_HASH:
        hash_put(t, slots_of(t), &n->e);
        w->used++;
        return true;
    default:
        scan_put(t, n);
        return true;
    }
}

// 'c' is the program's entry, or null when the control plane adds one.
static int add(struct sk_table *t, const uint64_t *value, const uint64_t *mask, int64_t priority,
               uint32_t action, const uint64_t *data, const struct sk_const_entry *c) {
    struct sk_table_writer *w = t->writer;
    if (t->kind == SK_KIND_NONE)
        return SK_E_KEY;
    uint64_t v[SK_MAX_KEY_WORDS], m[SK_MAX_KEY_WORDS];
    int error = canonical_key(t, value, mask, v, m);
    if (!error)
        error = check_action(t, action, data, c ? IN_PROGRAM_ENTRY : IN_ENTRY);
    if (error)
        return error;
    if (find_slot(t, v, m, priority))
        return SK_E_EXISTS;
    if (t->desc->proxy && sk_table_lookup(t, v))
        return SK_E_COLLISION;
    if (w->count >= w->size)
        return SK_E_FULL;
    struct node *n = node_new(t, v, m, action, data);
    if (!n)
        return SK_E_MEMORY;
    n->e.priority = priority;
    n->e.is_const = c && c->is_const;
    n->e.id = w->next_id++;
    n->sequence = w->sequence++;
    error = hold(t, action, data);
    if (error) {
        node_free(n);
        return error;
    }
    if (!node_init_direct(t, n) || !reserve(t) || !insert(t, n)) {
        release(t, action, data);
        node_free(n);
        return SK_E_MEMORY;
    }
    list_append(w, n);
    w->count++;
    return SK_OK;
}

int sk_table_add(struct sk_table *t, const uint64_t *value, const uint64_t *mask, int64_t priority,
                 uint32_t action, const uint64_t *data) {
    if (t->desc->const_entries)
        return SK_E_CONST;
    return add(t, value, mask, priority, action, data, NULL);
}

// The slot of an entry that the control plane may change.
static int find_mutable(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                        int64_t priority, sk_slot **slot) {
    uint64_t v[SK_MAX_KEY_WORDS], m[SK_MAX_KEY_WORDS];
    if (t->kind == SK_KIND_NONE)
        return SK_E_KEY;
    int error = canonical_key(t, value, mask, v, m);
    if (error)
        return error;
    *slot = find_slot(t, v, m, priority);
    if (!*slot)
        return SK_E_NOT_FOUND;
    return t->desc->const_entries || sk_load_slot(*slot)->is_const ? SK_E_CONST : SK_OK;
}

static void forget_fixed(struct sk_table *t, const struct sk_entry *old, struct sk_entry *now) {
    for (uint32_t i = 0; i < t->desc->n_entries; i++)
        if (t->fixed[i] == old)
            t->fixed[i] = now;
}

// Is there what the action refers to?
static int may_hold(const struct sk_table *t, uint32_t action, const uint64_t *data) {
    switch (refers(t, action)) {
    case SK_REFERS_MEMBER:
        return find_member(t->members, data[0]) ? SK_OK : SK_E_NO_MEMBER;
    case SK_REFERS_GROUP:
        return sk_selector_may_hold(t->selector, (uint32_t)data[0]);
    default:
        return SK_OK;
    }
}

static int may_modify(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                      int64_t priority, uint32_t action, const uint64_t *data, sk_slot **slot) {
    int error = find_mutable(t, value, mask, priority, slot);
    if (!error)
        error = check_action(t, action, data, IN_ENTRY);
    if (error)
        return error;
    struct node *old = node_of(sk_load_slot(*slot));
    if (old->held_by_groups && action != old->e.action)
        return SK_E_ACTIONS;
    return may_hold(t, action, data);
}

int sk_table_may_modify(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                        int64_t priority, uint32_t action, const uint64_t *data) {
    sk_slot *slot;
    return may_modify(t, value, mask, priority, action, data, &slot);
}

int sk_table_modify(struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                    int64_t priority, uint32_t action, const uint64_t *data) {
    sk_slot *slot;
    int error = may_modify(t, value, mask, priority, action, data, &slot);
    if (error)
        return error;
    struct node *old = node_of(sk_load_slot(slot));
    struct node *n = node_new(t, old->e.value, old->e.mask, action, data);
    if (!n)
        return SK_E_MEMORY;
    hold(t, action, data);
    release(t, old->e.action, old->e.data);
    node_inherit(n, old);
    slot_set(slot, &n->e);
    list_replace(t->writer, old, n);
    forget_fixed(t, &old->e, &n->e);
    retire(t->writer, old);
    return SK_OK;
}

static void remove_slot(struct sk_table *t, sk_slot *slot) {
    struct sk_table_writer *w = t->writer;
    struct node *n = node_of(sk_load_slot(slot));
    slot_set(slot, t->kind == SK_KIND_INDEX ? NULL : SK_TOMBSTONE);
    if (t->kind == SK_KIND_LPM) {
        uint32_t length = (uint32_t)entry_seed(t, n->e.mask) - 1;
        // Without memory for the shorter list the old one stays: a probe too many, same result.
        if (--w->length_count[length] == 0)
            prefixes_rebuild(t, UINT32_MAX);
    }
    release(t, n->e.action, n->e.data);
    list_remove(w, n);
    w->count--;
    forget_fixed(t, &n->e, NULL);
    retire(w, n);
}

static int may_delete(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                      int64_t priority, sk_slot **slot) {
    int error = find_mutable(t, value, mask, priority, slot);
    return !error && held(node_of(sk_load_slot(*slot))) ? SK_E_IN_USE : error;
}

int sk_table_may_delete(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                        int64_t priority) {
    sk_slot *slot;
    return may_delete(t, value, mask, priority, &slot);
}

int sk_table_delete(struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                    int64_t priority) {
    sk_slot *slot;
    int error = may_delete(t, value, mask, priority, &slot);
    if (!error)
        remove_slot(t, slot);
    return error;
}

static int set_default(struct sk_table *t, uint32_t action, const uint64_t *data) {
    static const uint64_t no_key[SK_MAX_KEY_WORDS];
    struct sk_entry *old = sk_load_slot(&t->dflt);
    struct node *n = node_new(t, no_key, no_key, action, data);
    int error = n ? hold(t, action, data) : SK_E_MEMORY;
    if (error) {
        node_free(n);
        return error;
    }
    if (old) {
        release(t, old->action, old->data);
        node_inherit(n, node_of(old));
    } else if (!node_init_direct(t, n)) {
        node_free(n);
        return SK_E_MEMORY;
    }
    n->e.id = UINT32_MAX;
    slot_set(&t->dflt, &n->e);
    if (old)
        retire(t->writer, node_of(old));
    return SK_OK;
}

int sk_table_may_set_default(const struct sk_table *t, uint32_t action, const uint64_t *data) {
    if (t->desc->const_default)
        return SK_E_CONST;
    int error = check_action(t, action, data, IN_DEFAULT);
    return error ? error : may_hold(t, action, data);
}

int sk_table_set_default(struct sk_table *t, uint32_t action, const uint64_t *data) {
    int error = sk_table_may_set_default(t, action, data);
    return error ? error : set_default(t, action, data);
}

void sk_table_reset_default(struct sk_table *t) {
    struct sk_entry *e = sk_table_default(t);
    uint32_t words = t->desc->actions[t->desc->default_action]->data_words;
    if (e->action == t->desc->default_action &&
        (words == 0 || memcmp(e->data, t->desc->default_data, words * sizeof(uint64_t)) == 0))
        return;
    set_default(t, t->desc->default_action, t->desc->default_data);
}

int sk_table_may_clear(const struct sk_table *t) {
    for (const struct node *n = t->desc->is_profile ? t->writer->first : NULL; n; n = n->next)
        if (held(n))
            return SK_E_IN_USE;
    return SK_OK;
}

int sk_table_clear(struct sk_table *t) {
    if (sk_table_may_clear(t))
        return SK_E_IN_USE;
    for (struct node *n = t->writer->first, *next; n; n = next) {
        next = n->next;
        if (n->e.is_const || t->desc->const_entries)
            continue;
        sk_slot *slot = find_slot(t, n->e.value, n->e.mask, n->e.priority);
        assert(slot && sk_load_slot(slot) == &n->e);
        remove_slot(t, slot);
    }
    if (!t->desc->const_default)
        sk_table_reset_default(t);
    return SK_OK;
}

// --------------------------------------------------------------------------------------------
// Reading back.

size_t sk_table_count(const struct sk_table *t) {
    return t->writer->count;
}

const struct sk_table_desc *sk_table_desc(const struct sk_table *t) {
    return t->desc;
}

void sk_table_each(const struct sk_table *t, bool (*fn)(void *aux, const struct sk_entry *e),
                   void *aux) {
    if (t->kind == SK_KIND_SCAN) {
        const struct sk_slots *s = slots_of(t);
        struct sk_entry *e;
        for (uint64_t i = 0; (e = sk_load_slot(&s->slot[i])) != NULL; i++)
            if (e != SK_TOMBSTONE && !fn(aux, e))
                return;
        return;
    }
    for (const struct node *n = t->writer->first; n; n = n->next)
        if (!fn(aux, &n->e))
            return;
}

void sk_table_quiesce(struct sk_table *t) {
    struct sk_table_writer *w = t->writer;
    for (struct node *n; (n = w->retired) != NULL;) {
        w->retired = n->next;
        node_free(n);
    }
    for (struct sk_slots *s; (s = w->retired_slots) != NULL;) {
        w->retired_slots = s->next_retired;
        free(s);
    }
    for (struct sk_prefixes *p; (p = w->retired_prefixes) != NULL;) {
        w->retired_prefixes = p->next_retired;
        free(p);
    }
}

void sk_table_share_hits(struct sk_table *t, const struct sk_hits *hits) {
    for (uint32_t i = 0; i < t->desc->n_entries; i++)
        if (t->fixed[i])
            t->fixed[i]->elsewhere = &hits[i];
    if (t->desc->const_default)
        sk_table_default(t)->elsewhere = &hits[t->desc->n_entries];
}

// --------------------------------------------------------------------------------------------
// Making and freeing.

static enum sk_table_kind choose_kind(const struct sk_table_desc *d) {
    bool lpm = false;
    for (uint32_t i = 0; i < d->n_keys; i++) {
        if (d->keys[i].match == SK_TERNARY || d->keys[i].match == SK_RANGE)
            return SK_KIND_SCAN;
        if (d->keys[i].match == SK_LPM && lpm)
            return SK_KIND_SCAN; // no such table on the hardware; treated as ternary
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
        if (d->keys[i].match == SK_LPM)
            t->writer->lpm_key = i;
        word += words;
    }
    return word == d->key_words && word <= SK_MAX_KEY_WORDS;
}

static bool make_slots(struct sk_table *t) {
    uint64_t capacity = t->kind == SK_KIND_INDEX ? UINT64_C(1) << t->keys[0].width : 16;
    struct sk_slots *s = slots_new(capacity);
    if (s)
        slots_publish(t, s);
    if (t->kind == SK_KIND_LPM) {
        uint32_t width = t->keys[t->writer->lpm_key].width;
        t->writer->length_count = calloc((size_t)width + 1, sizeof *t->writer->length_count);
        return s && t->writer->length_count;
    }
    return s != NULL;
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
        int error = add(t, c->value, c->mask, c->priority, c->action, c->data, c);
        if (!error)
            t->fixed[i] = &t->writer->last->e;
        else if (error != SK_E_EXISTS)
            return false;
    }
    return true;
}

struct sk_table *sk_table_new(const struct sk_table_desc *desc) {
    struct sk_table *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->desc = desc;
    t->key_words = desc->key_words;
    t->kind = choose_kind(desc);
    t->writer = calloc(1, sizeof *t->writer);
    if (!t->writer || !make_keys(t) || !make_slots(t) ||
        set_default(t, desc->default_action, desc->default_data) != SK_OK) {
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

void sk_table_free(struct sk_table *t) {
    if (!t)
        return;
    if (t->writer) {
        for (struct node *n = t->writer->first, *next; n; n = next) {
            next = n->next;
            node_free(n);
        }
        sk_table_quiesce(t);
        free(t->writer->length_count);
    }
    struct sk_entry *dflt = sk_load_slot(&t->dflt);
    if (dflt)
        node_free(node_of(dflt));
    free(slots_of(t));
    free(atomic_load_explicit(&t->prefixes, memory_order_relaxed));
    free(t->fixed);
    free(t->keys);
    free(t->writer);
    free(t);
}

// SPDX-License-Identifier: Apache-2.0
//
// table_exact: the slots behind every kind of table: an array, or a hash with linear probing.
//
// In an exact table the hash is of the key alone (or of its proxy), as the inline lookups compute
// it. In the others it is the writer's own index, over the mask and the priority too.
#include "stages/table_writer.h"

#include <stdlib.h>

struct sk_slots *sk_slots_of(const struct sk_table *t) {
    return atomic_load_explicit(&((struct sk_table *)t)->slots, memory_order_relaxed);
}

struct sk_slots *sk_slots_new(uint64_t capacity) {
    struct sk_slots *s = calloc(1, sizeof *s + capacity * sizeof(sk_slot));
    if (s)
        s->mask = capacity - 1;
    return s;
}

void sk_slots_publish(struct sk_table *t, struct sk_slots *s) {
    struct sk_slots *old = sk_slots_of(t);
    atomic_store_explicit(&t->slots, s, memory_order_release);
    if (old)
        sk_retire(t, &old->retired);
}

static uint64_t entry_hash(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                           int64_t priority) {
    uint64_t seed = 0;
    if (t->desc->proxy) {
        uint64_t proxy = t->desc->proxy(value);
        return sk_hash_key(&proxy, 1, 0);
    }
    if (t->kind != SK_KIND_HASH)
        seed = sk_hash_key(mask, t->key_words, 1);
    if (t->kind == SK_KIND_TERNARY)
        seed = sk_hash_mix(seed, (uint64_t)priority);
    return sk_hash_key(value, t->key_words, seed);
}

sk_slot *sk_hash_find(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                      int64_t priority) {
    struct sk_slots *s = sk_slots_of(t);
    for (uint64_t at = entry_hash(t, value, mask, priority);; at++) {
        sk_slot *slot = &s->slot[at & s->mask];
        const struct sk_entry *e = sk_load_slot(slot);
        if (!e)
            return NULL;
        if (e != SK_TOMBSTONE && (t->kind != SK_KIND_TERNARY || e->priority == priority) &&
            sk_key_equal(e->value, value, t->key_words) &&
            sk_key_equal(e->mask, mask, t->key_words))
            return slot;
    }
}

static void put(const struct sk_table *t, struct sk_slots *s, struct sk_entry *e) {
    uint64_t at = entry_hash(t, e->value, e->mask, e->priority);
    while (sk_load_slot(&s->slot[at & s->mask]))
        at++;
    sk_slot_set(&s->slot[at & s->mask], e);
}

void sk_hash_put(struct sk_table *t, struct sk_entry *e) {
    put(t, sk_slots_of(t), e);
    t->writer->used++;
}

// At most half of the slots may be in use.
bool sk_hash_reserve(struct sk_table *t) {
    struct sk_table_writer *w = t->writer;
    struct sk_slots *s = sk_slots_of(t);
    if ((w->used + 1) * 2 <= s->mask + 1)
        return true;
    uint64_t capacity = 16;
    while (capacity < (w->count + 1) * 4)
        capacity *= 2;
    struct sk_slots *grown = sk_slots_new(capacity);
    if (!grown)
        return false;
    for (struct node *n = w->first; n; n = n->next)
        put(t, grown, &n->e);
    w->used = w->count;
    sk_slots_publish(t, grown);
    return true;
}

// SPDX-License-Identifier: Apache-2.0
//
// table_exact: the slots under every kind of table: an array, or a hash of buckets.
//
// In an exact table the tag is of the key alone (or of its proxy), as the inline lookups compute
// it. In the others it is of the writer's own index, over the mask and the priority too.
#include "stages/table_writer.h"

#include <stdlib.h>
#include <string.h>

struct sk_slots *sk_slots_of(const struct sk_table *t) {
    return atomic_load_explicit(&((struct sk_table *)t)->slots, memory_order_relaxed);
}

struct sk_buckets *sk_buckets_of(const struct sk_table *t) {
    return atomic_load_explicit(&((struct sk_table *)t)->buckets, memory_order_relaxed);
}

bool sk_slots_make(struct sk_table *t, uint64_t capacity) {
    struct sk_slots *s = calloc(1, sizeof *s + capacity * sizeof(sk_slot));
    if (!s)
        return false;
    s->mask = capacity - 1;
    atomic_store_explicit(&t->slots, s, memory_order_release);
    return true;
}

static struct sk_buckets *buckets_new(struct sk_hash_secret secret, uint64_t n) {
    size_t size = sizeof(struct sk_buckets) + n * sizeof(struct sk_bucket);
    struct sk_buckets *s = aligned_alloc(_Alignof(struct sk_buckets), size);
    if (!s)
        return NULL;
    memset(s, 0, size);
    s->mask = n - 1;
    s->secret = secret;
    return s;
}

// What a key is looked for by: its tag, and the number of its first bucket (modulo their number).
struct home {
    uint64_t tag, bucket;
};

static struct home home_of_word(struct sk_hash_secret s, uint64_t key) {
    return (struct home){key, sk_hash_word(s, s.start, key)};
}

static struct home home(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                        int64_t priority) {
    struct sk_hash_secret s = t->secret;
    if (t->desc->proxy)
        return home_of_word(s, t->desc->proxy(value));
    if (t->kind == SK_KIND_HASH && t->key_words == 1)
        return home_of_word(s, value[0]);
    if (t->kind != SK_KIND_HASH)
        s.start = sk_hash_key(s, mask, t->key_words) + 1;
    if (t->kind == SK_KIND_TERNARY)
        s.start = sk_hash_word(s, s.start, (uint64_t)priority);
    uint64_t hash = sk_hash_key(s, value, t->key_words);
    return (struct home){hash, hash};
}

sk_slot *sk_hash_find(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                      int64_t priority) {
    struct sk_buckets *s = sk_buckets_of(t);
    struct home h = home(t, value, mask, priority);
    for (;; h.bucket++) {
        struct sk_bucket *b = &s->bucket[h.bucket & s->mask];
        for (unsigned found = sk_bucket_match(b, h.tag); found; found &= found - 1) {
            sk_slot *slot = &b->slot[__builtin_ctz(found)];
            const struct sk_entry *e = sk_load_slot(slot);
            if (!e)
                return NULL;
            if (e != SK_TOMBSTONE && (t->kind != SK_KIND_TERNARY || e->priority == priority) &&
                sk_key_equal(e->value, value, t->key_words) &&
                sk_key_equal(e->mask, mask, t->key_words))
                return slot;
        }
        if (!sk_load_slot(&b->slot[SK_BUCKET - 1]))
            return NULL;
    }
}

// True when it took a place that was never taken: not that of a removed entry with the same tag.
static bool table_exact_put(const struct sk_table *t, struct sk_buckets *s, struct sk_entry *e) {
    struct home h = home(t, e->value, e->mask, e->priority);
    for (;; h.bucket++) {
        struct sk_bucket *b = &s->bucket[h.bucket & s->mask];
        for (unsigned i = 0; i < SK_BUCKET; i++) {
            struct sk_entry *old = sk_load_slot(&b->slot[i]);
            bool again = old == SK_TOMBSTONE &&
                         atomic_load_explicit(&b->tag[i], memory_order_relaxed) == h.tag;
            if (old && !again)
                continue;
            atomic_store_explicit(&b->tag[i], h.tag, memory_order_relaxed);
            sk_slot_set(&b->slot[i], e);
            return !again;
        }
    }
}

void sk_hash_put(struct sk_table *t, struct sk_entry *e) {
    t->writer->used += table_exact_put(t, sk_buckets_of(t), e);
}

// At most half of the places may be in use. A new hash has room for at least half as many more as
// there are entries, however many come and go.
bool sk_hash_reserve(struct sk_table *t) {
    struct sk_table_writer *w = t->writer;
    struct sk_buckets *old = sk_buckets_of(t);
    if (old && (w->used + 1) * 2 <= (old->mask + 1) * SK_BUCKET)
        return true;
    uint64_t n = 4;
    while (n * SK_BUCKET < (w->count + 1) * 3)
        n *= 2;
    struct sk_buckets *grown = buckets_new(t->secret, n);
    if (!grown)
        return false;
    for (struct node *e = w->first; e; e = e->next)
        table_exact_put(t, grown, &e->e);
    w->used = w->count;
    atomic_store_explicit(&t->buckets, grown, memory_order_release);
    if (old)
        sk_retire(t, &old->retired);
    return true;
}

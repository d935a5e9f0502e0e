// SPDX-License-Identifier: Apache-2.0
//
// table_exact: the slots under every kind of table: an array, or a hash of buckets.
//
// In an exact table the tag is of the key alone (or of its proxy), as the inline lookups compute
// it. In the others it is of the writer's own index, over the mask and the priority too.
#include "stages/table_writer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

static size_t table_exact_bytes(const struct sk_buckets *s) {
    return sizeof *s + (s->mask + 1) * sizeof(struct sk_bucket);
}

// A large one is of pages that the system clears when they are first touched.
static struct sk_buckets *buckets_new(struct sk_hash_secret secret, uint64_t n) {
    const size_t size = sizeof(struct sk_buckets) + n * sizeof(struct sk_bucket);
    struct sk_buckets *s;
    if (size >= SK_GROW_LARGE) {
        s = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (s == MAP_FAILED)
            return NULL;
    } else {
        s = aligned_alloc(_Alignof(struct sk_buckets), size);
        if (!s)
            return NULL;
        memset(s, 0, size);
    }
    s->mask = n - 1;
    s->secret = secret;
    return s;
}

static void table_exact_free(struct sk_buckets *s) {
    if (!s)
        return;
    const size_t size = table_exact_bytes(s);
    if (size >= SK_GROW_LARGE)
        munmap(s, size);
    else
        free(s);
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

static sk_slot *table_exact_find(const struct sk_table *t, struct sk_buckets *s,
                                 const uint64_t *value, const uint64_t *mask, int64_t priority) {
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

sk_slot *sk_hash_find(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                      int64_t priority) {
    return table_exact_find(t, sk_buckets_of(t), value, mask, priority);
}

void sk_table_prefetch(const struct sk_table *t, const uint64_t *value) {
    if (t->kind != SK_KIND_HASH)
        return;
    const struct sk_buckets *s = sk_buckets_of(t);
    __builtin_prefetch(&s->bucket[home(t, value, NULL, 0).bucket & s->mask], 1);
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

// Gives back a part of what nobody sees any more, from its end on.
static void table_exact_return(struct sk_table_writer *w) {
    struct sk_buckets *s = (struct sk_buckets *)w->old_hashes;
    if (!s)
        return;
    const size_t size = table_exact_bytes(s);
    w->old_left = w->old_left ? w->old_left : size;
    if (size >= SK_GROW_LARGE && w->old_left > SK_GROW_RETURNS) {
        const size_t end = w->old_left;
        w->old_left = (end - 1) / SK_GROW_RETURNS * SK_GROW_RETURNS;
        munmap((char *)s + w->old_left, end - w->old_left);
        return;
    }
    const size_t left = w->old_left;
    w->old_hashes = s->retired.next;
    w->old_left = 0;
    if (size >= SK_GROW_LARGE)
        munmap(s, left);
    else
        free(s);
}

// Every entry is in the new hash: readers get it.
static void table_exact_publish(struct sk_table *t) {
    struct sk_table_writer *w = t->writer;
    struct sk_buckets *old = sk_buckets_of(t);
    atomic_store_explicit(&t->buckets, w->growing.to, memory_order_release);
    w->used = w->growing.used;
    w->growing = (struct sk_growing){0};
    if (old) {
        old->retired.next = w->retired_hashes;
        w->retired_hashes = &old->retired;
    }
}

// Its pages are there and clear afterwards: one that is new, or one that was used before.
static bool table_exact_touch(struct sk_growing *g, uint64_t bytes) {
    const size_t size = table_exact_bytes(g->to);
    if (size < SK_GROW_LARGE || g->touched >= size)
        return false;
    const uint64_t from = g->touched ? g->touched : sizeof *g->to, end = g->touched + bytes;
    g->touched = end < size ? end : size;
    memset((char *)g->to + from, 0, g->touched - from);
    return true;
}

// The spare one, if it has that size: a table whose entries come and go needs it again and again.
static struct sk_buckets *table_exact_take_spare(struct sk_table_writer *w, uint64_t n) {
    struct sk_buckets *s = w->spare;
    if (!s || s->mask != n - 1)
        return NULL;
    w->spare = NULL;
    if (table_exact_bytes(s) < SK_GROW_LARGE)
        memset(s->bucket, 0, n * sizeof *s->bucket);
    return s;
}

void sk_hash_go_on(struct sk_table *t) {
    struct sk_table_writer *w = t->writer;
    struct sk_growing *g = &w->growing;
    if (!w->is_tended)
        table_exact_return(w);
    if (!g->to || table_exact_touch(g, SK_GROW_TOUCHES))
        return;
    for (unsigned i = 0; i < SK_GROW_MOVES; i++) {
        struct node *next = g->moved ? g->moved->next : w->first;
        if (!next) {
            table_exact_publish(t);
            return;
        }
        g->used += table_exact_put(t, g->to, &next->e);
        g->moved = next;
        w->work++;
    }
}

// A larger hash, or one without tombstones, is begun when half of the places are in use. It has
// room for at least half as many more as there are entries, however many come and go. Since each
// insert moves SK_GROW_MOVES, no more than a seventh of that half are added until it is complete
// (and one insert for 256 places, to clear its memory). So places are left, which ends every
// search.
bool sk_hash_reserve(struct sk_table *t) {
    struct sk_table_writer *w = t->writer;
    struct sk_buckets *old = sk_buckets_of(t);
    if (!old || (!w->growing.to && (w->used + 1) * 2 > (old->mask + 1) * SK_BUCKET)) {
        uint64_t n = 4;
        while (n * SK_BUCKET < (w->count + 1) * 3)
            n *= 2;
        struct sk_buckets *grown = table_exact_take_spare(w, n);
        if (!grown)
            grown = buckets_new(t->secret, n);
        if (!grown)
            return false;
        w->growing = (struct sk_growing){.to = grown};
    }
    if (old)
        sk_hash_go_on(t);
    else
        table_exact_publish(t); // there is no entry yet
    return true;
}

void sk_hash_changed(struct sk_table *t, struct sk_entry *old, struct sk_entry *now) {
    struct sk_growing *g = &t->writer->growing;
    if (!g->moved) // nothing is in it, and it may not be cleared yet
        return;
    sk_slot *slot = table_exact_find(t, g->to, old->value, old->mask, old->priority);
    if (slot)
        sk_slot_set(slot, now);
    if (g->moved == table_writer_node_of(old))
        g->moved = now == SK_TOMBSTONE ? g->moved->prev : table_writer_node_of(now);
}

// Nobody sees it any more: it is the spare one, or given back, a part at once.
static void table_exact_drop(const struct sk_table *t, struct sk_buckets *s) {
    struct sk_table_writer *w = t->writer;
    if (!w->spare && s->mask == sk_buckets_of(t)->mask && table_exact_bytes(s) <= SK_GROW_SPARE) {
        w->spare = s;
        return;
    }
    struct sk_retired **last = &w->old_hashes;
    while (*last)
        last = &(*last)->next;
    s->retired.next = NULL;
    *last = &s->retired;
}

void sk_hash_quiesce(struct sk_table *t) {
    struct sk_table_writer *w = t->writer;
    if (!w->is_tended)
        table_exact_return(w);
    for (struct sk_retired *r; (r = w->retired_hashes) != NULL;) {
        w->retired_hashes = r->next;
        table_exact_drop(t, (struct sk_buckets *)r);
    }
    struct sk_buckets *other = w->spare; // the table has another size now
    if (other && other->mask != sk_buckets_of(t)->mask) {
        w->spare = NULL;
        table_exact_drop(t, other);
    }
}

void sk_hash_tend(struct sk_table *t) {
    struct sk_table_writer *w = t->writer;
    w->is_tended = true;
    table_exact_return(w);
    if (w->growing.to && !w->growing.moved)
        table_exact_touch(&w->growing, SK_TEND_TOUCHES);
}

void sk_hash_free(struct sk_table *t) {
    struct sk_table_writer *w = t->writer;
    if (sk_buckets_of(t))
        sk_hash_quiesce(t);
    while (w->old_hashes)
        table_exact_return(w);
    table_exact_free(w->spare);
    table_exact_free(w->growing.to);
    table_exact_free(sk_buckets_of(t));
}

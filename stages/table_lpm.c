// SPDX-License-Identifier: Apache-2.0
//
// table_lpm: see table_lpm.h.
#include "stages/table_lpm.h"

#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__
#define POPCNT __attribute__((target("popcnt"))) // DPDK asks for it anyway
#else
#define POPCNT
#endif

struct trie {
    struct sk_retired retired;
    uint32_t depth;             // the byte of the string that it is of
    uint16_t results_before[4]; // set bits in the words before
    uint16_t children_before[4];
    uint64_t result_bits[4]; // the values that have another result than the one before
    uint64_t child_bits[4];
    const uint8_t *path; // 'depth' bytes before
    sk_slot *result;
    _Atomic(struct trie *) child[]; // then results, then the path
};
typedef _Atomic(struct trie *) trie_link;

struct byte_at {
    uint16_t word;
    uint8_t shift;
};
struct sk_lpm {
    trie_link root;
    uint32_t field;        // index of the lpm key
    uint32_t n_bytes, pad; // of the string; unused high bits of the lpm field's first byte
    uint32_t exact_bytes;
    struct byte_at at[];
};

static uint8_t table_lpm_byte_of(const struct sk_lpm *l, const uint64_t *key, uint32_t i) {
    return (uint8_t)(key[l->at[i].word] >> l->at[i].shift);
}

static struct trie *table_lpm_load(const trie_link *l) {
    return atomic_load_explicit((trie_link *)l, memory_order_acquire);
}

// ---- readers ----

POPCNT static inline unsigned ones_up_to(const uint64_t *bits, unsigned i) { // within its word
    return (unsigned)__builtin_popcountll(bits[i / 64] & ((UINT64_C(2) << i % 64) - 1));
}
POPCNT static inline sk_slot *result_at(const struct trie *n, unsigned i) {
    return &n->result[n->results_before[i / 64] + ones_up_to(n->result_bits, i) - 1];
}
POPCNT static inline const trie_link *child_at(const struct trie *n, unsigned i) {
    if (!(n->child_bits[i / 64] >> i % 64 & 1))
        return NULL;
    return &n->child[n->children_before[i / 64] + ones_up_to(n->child_bits, i) - 1];
}

POPCNT struct sk_entry *sk_lpm_lookup(const struct sk_table *t, const uint64_t *key) {
    const struct sk_lpm *l = t->lpm;
    struct sk_entry *best = NULL;
    uint32_t at = 0;
    for (const struct trie *n = table_lpm_load(&l->root); n;) {
        for (; at < n->depth; at++)
            if (table_lpm_byte_of(l, key, at) != n->path[at])
                return best;
        uint8_t i = table_lpm_byte_of(l, key, at++);
        struct sk_entry *e = sk_load_slot(result_at(n, i));
        best = e ? e : best;
        const trie_link *next = child_at(n, i);
        n = next ? table_lpm_load(next) : NULL;
    }
    return best;
}

// ---- the writer ----

// A node with everything spread out.
struct spread {
    uint32_t depth;
    const uint8_t *path;
    struct sk_entry *result[256];
    struct trie *child[256];
};

POPCNT static void spread(const struct trie *n, struct spread *s) {
    s->depth = n->depth;
    s->path = n->path;
    for (unsigned i = 0; i < 256; i++) {
        const trie_link *c = child_at(n, i);
        s->result[i] = sk_load_slot(result_at(n, i));
        s->child[i] = c ? table_lpm_load(c) : NULL;
    }
}

static struct trie *table_lpm_gather(const struct spread *s) {
    unsigned results = 0, children = 0;
    for (unsigned i = 0; i < 256; i++) {
        results += i == 0 || s->result[i] != s->result[i - 1];
        children += s->child[i] != NULL;
    }
    struct trie *n =
        calloc(1, sizeof *n + children * sizeof(trie_link) + results * sizeof(sk_slot) + s->depth);
    if (!n)
        return NULL;
    n->depth = s->depth;
    n->result = (sk_slot *)(n->child + children);
    uint8_t *path = (uint8_t *)(n->result + results);
    n->path = path;
    if (s->depth)
        memcpy(path, s->path, s->depth);
    results = children = 0;
    for (unsigned i = 0; i < 256; i++) {
        if (i % 64 == 0) {
            n->results_before[i / 64] = (uint16_t)results;
            n->children_before[i / 64] = (uint16_t)children;
        }
        if (i == 0 || s->result[i] != s->result[i - 1]) {
            n->result_bits[i / 64] |= UINT64_C(1) << i % 64;
            atomic_init(&n->result[results++], s->result[i]);
        }
        if (s->child[i]) {
            n->child_bits[i / 64] |= UINT64_C(1) << i % 64;
            atomic_init(&n->child[children++], s->child[i]);
        }
    }
    return n;
}

// Where a prefix ends: the byte whose node holds it and the values of that byte that it covers.
struct span {
    uint8_t path[SK_MAX_KEY_WORDS * 8];
    uint32_t depth, first, n;
};

static uint32_t length_in(const struct sk_lpm *l, const struct sk_table *t, const uint64_t *mask) {
    const struct sk_key_pos *k = &t->keys[l->field];
    uint32_t length = 0;
    for (uint32_t w = 0; w < k->words; w++)
        length += (uint32_t)__builtin_popcountll(mask[k->word + w]);
    return length;
}

static void table_lpm_span_of(const struct sk_table *t, const struct sk_entry *e, struct span *s) {
    const struct sk_lpm *l = t->lpm;
    uint32_t bits = 8 * l->exact_bytes + l->pad + length_in(l, t, e->mask);
    s->depth = bits ? (bits - 1) / 8 : 0;
    s->n = 1u << (8 - (bits - 8 * s->depth));
    for (uint32_t i = 0; i <= s->depth; i++)
        s->path[i] = table_lpm_byte_of(l, e->value, i);
    s->first = s->path[s->depth];
}

static void cover(const struct sk_table *t, struct spread *node, const struct span *s,
                  struct sk_entry *e) {
    uint32_t length = length_in(t->lpm, t, e->mask);
    for (uint32_t i = s->first; i < s->first + s->n; i++)
        if (!node->result[i] || length_in(t->lpm, t, node->result[i]->mask) < length)
            node->result[i] = e;
}

static struct trie *table_lpm_leaf(const struct sk_table *t, const struct span *s,
                                   struct sk_entry *e) {
    struct spread node = {.depth = s->depth, .path = s->path};
    cover(t, &node, s, e);
    return table_lpm_gather(&node);
}

static void table_lpm_publish(struct sk_table *t, trie_link *at, struct trie *n) {
    struct trie *old = table_lpm_load(at);
    atomic_store_explicit(at, n, memory_order_release);
    if (old)
        sk_retire(t, &old->retired);
}

// The link to the first node that is not wholly before the prefix's own; '*differ' is the first
// byte in which that node's path and the prefix's are not the same, or where the shorter ends.
static trie_link *descend(struct sk_lpm *l, const struct span *s, trie_link **parent,
                          uint32_t *differ) {
    trie_link *at = &l->root;
    *parent = NULL;
    *differ = 0;
    for (;;) {
        const struct trie *n = table_lpm_load(at);
        if (!n)
            return at;
        uint32_t end = n->depth < s->depth ? n->depth : s->depth;
        while (*differ < end && n->path[*differ] == s->path[*differ])
            ++*differ;
        if (*differ < end || n->depth >= s->depth)
            return at;
        trie_link *next = (trie_link *)child_at(n, s->path[n->depth]);
        if (!next)
            return at;
        *parent = at;
        at = next;
    }
}

bool sk_lpm_insert(struct sk_table *t, struct sk_entry *e) {
    struct span s;
    trie_link *parent;
    uint32_t differ;
    table_lpm_span_of(t, e, &s);
    trie_link *at = descend(t->lpm, &s, &parent, &differ);
    struct trie *n = table_lpm_load(at);
    struct spread node = {.path = s.path};
    struct trie *child = NULL;
    bool replaces = false; // 'n' itself, not what leads to it
    if (!n || (n->depth == s.depth && differ == s.depth)) {
        replaces = n != NULL;
        node.depth = s.depth;
        if (n)
            spread(n, &node);
        cover(t, &node, &s, e);
    } else if (differ == s.depth) { // 'n' is below it
        node.depth = s.depth;
        node.child[n->path[differ]] = n;
        cover(t, &node, &s, e);
    } else {
        child = table_lpm_leaf(t, &s, e);
        if (!child)
            return false;
        if (differ < n->depth) { // they part here
            node.depth = differ;
            node.child[n->path[differ]] = n;
        } else {
            replaces = true;
            spread(n, &node);
        }
        node.child[s.path[node.depth]] = child;
    }
    struct trie *now = table_lpm_gather(&node);
    if (!now) {
        free(child);
        return false;
    }
    atomic_store_explicit(at, now, memory_order_release);
    if (replaces)
        sk_retire(t, &n->retired);
    return true;
}

// The longest prefix in the same node that is shorter than the entry's and covers it, or null.
static struct sk_entry *next_shorter(const struct sk_table *t, const struct span *s,
                                     const struct sk_entry *e) {
    const struct sk_lpm *l = t->lpm;
    const struct sk_key_pos *k = &t->keys[l->field];
    uint64_t value[SK_MAX_KEY_WORDS], mask[SK_MAX_KEY_WORDS];
    memcpy(value, e->value, t->key_words * sizeof *value);
    memcpy(mask, e->mask, t->key_words * sizeof *mask);
    uint32_t start = 8 * (l->exact_bytes) + l->pad; // bits of the string before the field's own
    for (uint32_t length = length_in(l, t, mask); length-- > 0;) {
        uint32_t bits = start + length, gone = k->width - 1 - length;
        if ((bits ? (bits - 1) / 8 : 0) != s->depth)
            return NULL;
        mask[k->word + gone / 64] &= ~(UINT64_C(1) << gone % 64);
        value[k->word + gone / 64] &= ~(UINT64_C(1) << gone % 64);
        sk_slot *slot = sk_hash_find(t, value, mask, 0);
        if (slot)
            return sk_load_slot(slot);
    }
    return NULL;
}

// In the one node that has it. Runs of results may be equal afterwards: the next change of the
// node's shape joins them.
static void table_lpm_replace(struct sk_table *t, const struct span *s, const struct sk_entry *old,
                              struct sk_entry *now, trie_link **at, trie_link **parent) {
    uint32_t differ;
    *at = descend(t->lpm, s, parent, &differ);
    const struct trie *n = table_lpm_load(*at);
    for (uint32_t i = s->first; i < s->first + s->n; i++) {
        sk_slot *slot = result_at(n, i);
        if (sk_load_slot(slot) == old)
            sk_slot_set(slot, now);
    }
}

void sk_lpm_replace(struct sk_table *t, struct sk_entry *old, struct sk_entry *now) {
    struct span s;
    trie_link *at, *parent;
    table_lpm_span_of(t, old, &s);
    table_lpm_replace(t, &s, old, now, &at, &parent);
}

// A node with no result and one child gives way to the child.
static void shorten(struct sk_table *t, trie_link *at) {
    const struct trie *n = table_lpm_load(at);
    unsigned children = 0;
    for (unsigned w = 0; w < 4; w++)
        children += (unsigned)__builtin_popcountll(n->child_bits[w]);
    for (unsigned i = 0; i < 256; i++)
        if (sk_load_slot(result_at(n, i)))
            return;
    if (children <= 1)
        table_lpm_publish(t, at, children ? table_lpm_load(&n->child[0]) : NULL);
}

static bool childless(const struct trie *n) {
    return !(n->child_bits[0] | n->child_bits[1] | n->child_bits[2] | n->child_bits[3]);
}

static bool table_lpm_is_empty(const struct trie *n) {
    for (unsigned i = 0; i < 256; i++)
        if (sk_load_slot(result_at(n, i)))
            return false;
    return childless(n);
}

void sk_lpm_remove(struct sk_table *t, struct sk_entry *e) {
    struct span s;
    trie_link *at, *parent;
    table_lpm_span_of(t, e, &s);
    table_lpm_replace(t, &s, e, next_shorter(t, &s, e), &at, &parent);
    struct trie *n = table_lpm_load(at);
    if (!parent || !table_lpm_is_empty(n)) {
        shorten(t, at);
        return;
    }
    // Without memory the empty node stays: a step too many, same results.
    struct trie *above = table_lpm_load(parent);
    struct spread node;
    spread(above, &node);
    node.child[s.path[above->depth]] = NULL;
    struct trie *now = table_lpm_gather(&node);
    if (!now)
        return;
    table_lpm_publish(t, parent, now);
    sk_retire(t, &n->retired);
    shorten(t, parent);
}

// ---- making and freeing ----

struct sk_lpm *sk_lpm_new(const struct sk_table *t) {
    struct sk_lpm *l = calloc(1, sizeof *l + (size_t)t->key_words * 8 * sizeof *l->at);
    if (!l)
        return NULL;
    for (unsigned last = 0; last < 2; last++)
        for (uint32_t i = 0; i < t->desc->n_keys; i++) {
            const struct sk_key_pos *k = &t->keys[i];
            if ((k->match == SK_LPM) != last)
                continue;
            uint32_t bytes = (k->width + 7) / 8;
            if (last) {
                l->field = i;
                l->pad = 8 * bytes - k->width;
                l->exact_bytes = l->n_bytes;
            }
            for (uint32_t b = bytes; b-- > 0;)
                l->at[l->n_bytes++] = (struct byte_at){(uint16_t)(k->word + b / 8), b % 8 * 8};
        }
    return l;
}

static void free_below(struct trie *n) {
    if (!n)
        return;
    unsigned children = 0;
    for (unsigned w = 0; w < 4; w++)
        children += (unsigned)__builtin_popcountll(n->child_bits[w]);
    for (unsigned i = 0; i < children; i++)
        free_below(table_lpm_load(&n->child[i]));
    free(n);
}

void sk_lpm_free(struct sk_lpm *l) {
    if (l)
        free_below(table_lpm_load(&l->root));
    free(l);
}

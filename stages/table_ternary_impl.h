// SPDX-License-Identifier: Apache-2.0
//
// table_ternary_impl: the structures of table_ternary.h, between what reads them (table_ternary.c)
// and what changes them (table_ternary_writer.c).
#ifndef SILKEN_STAGES_TABLE_TERNARY_IMPL_H
#define SILKEN_STAGES_TABLE_TERNARY_IMPL_H

#include "stages/rank.h"
#include "stages/table_ternary.h"

struct part { // of a mask: a word that is not zero
    uint64_t mask;
    uint32_t word;
};

struct group;
struct place_of_group {
    int64_t priority; // a lower bound of its best entry's
    uint64_t sequence;
    struct group *group;
    // A first look without it: a key that matches one of its entries agrees with 'value' in 'mask'.
    uint64_t value;
    _Atomic(uint64_t) mask; // only ever loses bits
    uint32_t word;
};
struct order { // of the groups
    struct sk_retired retired;
    struct sk_ranking recent; // places taken since the array was made
    uint64_t n;
    struct place_of_group place[];
};

// What only the writer knows of a group.
struct group_state {
    struct sk_ranking entries;
    struct place_of_group at;
    struct place_of_group *in_array; // a copy of it, or null
    struct group *next_in_bucket;    // or next one that has no entries any more
    uint64_t hash;                   // of the mask
    uint64_t n_entries;
};
struct group {
    struct sk_retired retired;
    sk_slot only;  // its entry, when it is the only one
    uint64_t seed; // unlike any other group's
    struct group_state *state;
    uint32_t n;
    struct part part[];
};

struct chain {
    struct sk_retired retired;
    const struct group *group;
    uint64_t hash;
    struct sk_ranking entries;
    uint64_t value[]; // the masked words of the key, one for each part
};
struct chain_slot {
    uint64_t hash; // set before the chain
    _Atomic(struct chain *) chain;
};
typedef _Atomic(uint64_t) atomic_word;
struct chains {
    struct sk_retired retired;
    uint64_t mask;
    // Four bits per slot; of each hash that is there one is set. Most groups have no chain for a
    // key, and this is small enough to stay in a cache.
    atomic_word *present;
    struct chain_slot slot[];
};
#define GONE ((struct chain *)(uintptr_t)1)

struct sk_ternary {
    _Atomic(struct order *) order;
    _Atomic(struct chains *) chains;
    // the writer's
    struct sk_ranking all;
    uint64_t used, n_chains; // slots that are not null; chains
    struct group **bucket;   // by mask
    uint64_t n_buckets, n_groups, seed;
    uint64_t n_changes;  // of the order, since its array was made
    struct group *empty; // groups without entries that it leads to
};

// Where an entry is. Its ranks in all, in its group and in its chain.
struct ternary_place {
    struct group *group;
    struct chain *chain;
    struct sk_rank *all, *in_group, *in_chain;
};

static inline struct order *load_order(const struct sk_ternary *s) {
    return atomic_load_explicit(&((struct sk_ternary *)s)->order, memory_order_acquire);
}
static inline struct chains *load_chains(const struct sk_ternary *s) {
    return atomic_load_explicit(&((struct sk_ternary *)s)->chains, memory_order_acquire);
}
static inline struct chain *load_chain(const struct chain_slot *s) {
    return atomic_load_explicit(&((struct chain_slot *)s)->chain, memory_order_acquire);
}

static inline uint64_t present_bit(const struct chains *c, uint64_t hash) {
    return hash >> 24 & (4 * (c->mask + 1) - 1);
}

static inline const struct chain *table_ternary_find_chain(const struct chains *c,
                                                           const struct group *g, uint64_t hash,
                                                           const uint64_t *value) {
    uint64_t bit = present_bit(c, hash);
    if (!(atomic_load_explicit(&c->present[bit / 64], memory_order_acquire) >> bit % 64 & 1))
        return NULL;
    for (uint64_t at = hash;; at++) {
        const struct chain_slot *slot = &c->slot[at & c->mask];
        const struct chain *found = load_chain(slot);
        if (!found)
            return NULL;
        if (found != GONE && slot->hash == hash && found->group == g &&
            sk_key_equal(found->value, value, g->n))
            return found;
    }
}

static inline bool table_ternary_better(const struct sk_entry *best, int64_t priority,
                                        uint64_t sequence) {
    return !best || sk_precedence(priority, sequence, best->priority, best->sequence) < 0;
}

#endif

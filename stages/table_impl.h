// SPDX-License-Identifier: Apache-2.0
//
// table_impl: the inside of a table, for table*.c and for generated code's inline lookups.
//
// An entry is one block of memory: struct sk_entry, then its key words, mask words and action data,
// so a lookup finds all of it in adjacent cache lines. Entries do not change once readers can see
// them (except counters and direct registers, which the pipe's thread owns); changing an entry
// puts a new one in its place. A reader walks one of four structures:
//
// - SK_KIND_INDEX: a single exact key of at most 12 bits: an array of entries.
// - SK_KIND_HASH: exact keys: open addressing with linear probing, at most half full.
// - SK_KIND_LPM: a trie of 256-way nodes (table_lpm.h).
// - SK_KIND_TERNARY: ternary and range keys: groups of entries with one mask (table_ternary.h).
//
// The last two have the hash too, over key, mask and (ternary) priority: the writer finds entries by
// it. Generated code looks into the first two itself and calls sk_table_lookup() for the others.
//
// Publication: every pointer a reader follows is written with release and read with acquire order.
// A removed slot holds SK_TOMBSTONE, which ends no probe. What readers may still see when it is
// taken away is kept until sk_table_quiesce().
#ifndef SILKEN_STAGES_TABLE_IMPL_H
#define SILKEN_STAGES_TABLE_IMPL_H

#include <stdatomic.h>

#include "stages/bits.h"
#include "stages/table.h"

enum sk_table_kind { SK_KIND_NONE, SK_KIND_INDEX, SK_KIND_HASH, SK_KIND_LPM, SK_KIND_TERNARY };

#define SK_INDEX_BITS 12
#define SK_TOMBSTONE  ((struct sk_entry *)(uintptr_t)1)

// What applying a table did, as generated code passes it on.
#define SK_APPLY_ACTION UINT32_C(0xffff) // index of the action
#define SK_APPLY_HIT    UINT32_C(0x10000)
#define SK_APPLY_EXIT   UINT32_C(0x20000) // the action executed 'exit'

typedef _Atomic(struct sk_entry *) sk_slot;

// Stands first in blocks of memory that wait for sk_table_quiesce().
struct sk_retired {
    struct sk_retired *next;
};
struct sk_slots {
    struct sk_retired retired;
    uint64_t mask; // capacity - 1, a power of two minus one
    sk_slot slot[];
};
struct sk_key_pos {
    uint32_t word, words, width;
    uint8_t match;
};
struct sk_table {
    const struct sk_table_desc *desc;
    uint8_t kind; // enum sk_table_kind
    uint32_t key_words;
    sk_slot dflt;
    _Atomic(struct sk_slots *) slots;
    struct sk_lpm *lpm;         // SK_KIND_LPM
    struct sk_ternary *ternary; // SK_KIND_TERNARY
    struct sk_entry **fixed;    // the program's entries in its order; those not const may be null
    struct sk_key_pos *keys;
    bool has_range;
    uint64_t *key_mask; // key words, or null: keys are compared whole
    struct sk_table_writer *writer;
    struct sk_table *members; // of its action profile, or null
    struct sk_selector *selector;
};

// What is looked up: the key, or its proxy hash, which stands in front of it.
static inline const uint64_t *sk_entry_key(const struct sk_entry *e) {
    return (const uint64_t *)(e + 1);
}

// Hash of a key: one 64x64 -> 128 bit multiplication per word, both halves kept. The constants are
// those of wyhash. It is fixed: only the control plane puts entries in.
static inline uint64_t sk_hash_mix(uint64_t h, uint64_t word) {
    sk_u128 m = (sk_u128)(h ^ word ^ UINT64_C(0xa0761d6478bd642f)) * UINT64_C(0xe7037ed1a0b428db);
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}
static inline uint64_t sk_hash_key(const uint64_t *key, unsigned words, uint64_t seed) {
    uint64_t h = seed;
    for (unsigned i = 0; i < words; i++)
        h = sk_hash_mix(h, key[i]);
    return h;
}
static inline bool sk_key_equal(const uint64_t *a, const uint64_t *b, unsigned words) {
    uint64_t diff = 0;
    for (unsigned i = 0; i < words; i++)
        diff |= a[i] ^ b[i];
    return diff == 0;
}

static inline struct sk_entry *sk_load_slot(const sk_slot *s) {
    return atomic_load_explicit((sk_slot *)s, memory_order_acquire);
}

static inline struct sk_entry *sk_lookup_index(const struct sk_table *t, uint64_t key) {
    const struct sk_slots *s =
        atomic_load_explicit((_Atomic(struct sk_slots *) *)&t->slots, memory_order_acquire);
    return key <= s->mask ? sk_load_slot(&s->slot[key]) : NULL;
}

// 'words' is desc->key_words; a constant in generated code.
static inline struct sk_entry *sk_lookup_hash(const struct sk_table *t, const uint64_t *key,
                                              unsigned words) {
    const struct sk_slots *s =
        atomic_load_explicit((_Atomic(struct sk_slots *) *)&t->slots, memory_order_acquire);
    for (uint64_t i = sk_hash_key(key, words, 0);; i++) {
        struct sk_entry *e = sk_load_slot(&s->slot[i & s->mask]);
        if (!e)
            return NULL;
        if (e != SK_TOMBSTONE && sk_key_equal(sk_entry_key(e), key, words))
            return e;
    }
}

// The member with this id, or null.
static inline struct sk_entry *sk_lookup_member(const struct sk_table *members, uint64_t id) {
    return sk_lookup_hash(members, &id, 1);
}

#endif

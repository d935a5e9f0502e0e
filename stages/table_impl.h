// SPDX-License-Identifier: Apache-2.0
//
// table_impl: the inside of a table, for table*.c and for generated code's inline lookups.
//
// An entry is one block of memory: struct sk_entry, then its key words, action data and mask words;
// in a ternary table, key, mask, data. A cache line begins at the entry's 'data', so that counters,
// action, a short key and short action data are in one line. In a table whose entries are found by
// a word that a function makes of the key, that word is in the key's place, and the key after the
// data. Entries do not change once readers can see them (except counters and direct registers,
// which the pipe's thread owns); changing an entry puts a new one in its place. A reader walks one
// of four structures:
//
// - SK_KIND_INDEX: a single exact key of at most 16 bits: an array of entries, of whose pages
//   those are in memory that have one.
//   or, when it was filled as a whole, of values alone (sk_table_fill).
// - SK_KIND_HASH: exact keys: a hash of buckets, at most half full. A bucket is one cache line of
//   four places, each a tag and an entry. The tag is the key itself where that is one word,
//   otherwise the key's whole hash. Places are taken in order, and a key whose bucket is full goes
//   to the next one. When it is half full the writer fills a larger one beside it, a few entries
//   with each change, and readers get that when it is complete (table_writer.h).
// - SK_KIND_LPM: a trie of 256-way nodes (table_lpm.h).
// - SK_KIND_TERNARY: ternary and range keys: groups of entries with one mask (table_ternary.h).
//
// The last two have the hash too, over key, mask and (ternary) priority: the writer finds entries
// by it. Generated code looks into the first two itself and calls sk_table_lookup() for the others.
//
// Publication: every pointer a reader follows is written with release and read with acquire order.
// A removed slot holds SK_TOMBSTONE, which ends no probe. A place's tag is written before its first
// entry and stays for as long as the buckets do: a place that is taken again is taken by an entry
// with the same tag. So a reader that found the tag may take whatever entry it then finds there,
// and finds none other with the tag when the tag is the key. What readers may still see when it is
// taken away is kept until sk_table_quiesce().
#ifndef SILKEN_STAGES_TABLE_IMPL_H
#define SILKEN_STAGES_TABLE_IMPL_H

#include <stdatomic.h>

#include "stages/bits.h"
#include "stages/numbers.h"
#include "stages/table.h"

enum sk_table_kind { SK_KIND_NONE, SK_KIND_INDEX, SK_KIND_HASH, SK_KIND_LPM, SK_KIND_TERNARY };

#define SK_INDEX_BITS 16
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
// A table that was filled as a whole. 'reader' is written by the lookups of the pipe's thread,
// which put there what they find; 'writer' and 'listed' are the control
// plane's.
struct filled_values;
struct filled_listed;
struct sk_filled {
    struct sk_retired retired;
    uint64_t n;         // keys 0 to n - 1 are in the table
    const void *values; // uint16_t if 'narrow', else uint32_t
    struct sk_entry *reader, *writer;
    struct filled_listed *listed; // null until somebody asks
    struct filled_values *shared;
    bool narrow;
};
struct sk_slots {
    struct sk_retired retired;
    uint64_t mask;                      // capacity - 1, a power of two minus one
    _Atomic(struct sk_filled *) filled; // null: of entries
    sk_slot slot[];
};
#define SK_BUCKET 4
struct sk_bucket {
    _Alignas(64) _Atomic uint64_t tag[SK_BUCKET];
    sk_slot slot[SK_BUCKET];
};
// What a table's hash depends on besides the key. Whoever does not know it cannot choose keys that
// meet in one bucket. 'factor' is odd.
struct sk_hash_secret {
    uint64_t start, factor;
};
struct sk_buckets {
    struct sk_retired retired;
    uint64_t mask; // number of buckets - 1, a power of two minus one
    struct sk_hash_secret secret;
    struct sk_bucket bucket[];
};
_Static_assert(sizeof(struct sk_bucket) == 64, "a bucket is a cache line");
struct sk_key_pos {
    uint32_t word, words, width;
    uint8_t match;
};
struct sk_table {
    const struct sk_table_desc *desc;
    uint8_t kind; // enum sk_table_kind
    uint32_t key_words;
    sk_slot dflt;
    _Atomic(struct sk_slots *) slots; // SK_KIND_INDEX
    _Atomic(const void *) flat; // values of a table that was filled, if it has all keys; or null
    _Atomic(struct sk_buckets *) buckets; // all others
    struct sk_lpm *lpm;                   // SK_KIND_LPM
    struct sk_ternary *ternary;           // SK_KIND_TERNARY
    struct sk_entry **fixed; // the program's entries in its order; those not const may be null
    struct sk_key_pos *keys;
    bool has_range;
    atomic_bool filled; // it has entries
    uint64_t *key_mask; // key words, or null: keys are compared whole
    struct sk_table_writer *writer;
    struct sk_table *members; // of its action profile, or null
    struct sk_selector *selector;
    struct sk_hash_secret secret;
    struct sk_table *
        *of_parser; // of a value set: n_parsers parsers' own, or null: it is that of all
    unsigned n_parsers;
};

// What is looked up: the key, or the word that stands for it.
static inline const uint64_t *sk_entry_key(const struct sk_entry *e) {
    return (const uint64_t *)(e + 1);
}
// The action data of an entry of any but a ternary table: 'words' are those of the key, or 1 of the
// word that stands for it.
static inline const uint64_t *sk_entry_data(const struct sk_entry *e, unsigned words) {
    return (const uint64_t *)(e + 1) + words;
}

// Hash of a key: one 64x64 -> 128 bit multiplication per word, both halves kept. The constants are
// those of wyhash. Packets choose keys (a ToR learns their addresses), so a switch that strangers
// send to has a secret in the factor, too: with a factor that is known, differences of keys exist
// that change the lower bits of few hashes, whatever they start with.
#define SK_HASH_FACTOR UINT64_C(0xe7037ed1a0b428db)
static inline uint64_t sk_hash_word(struct sk_hash_secret s, uint64_t h, uint64_t word) {
    sk_u128 m = (sk_u128)(h ^ word ^ UINT64_C(0xa0761d6478bd642f)) * s.factor;
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}
static inline uint64_t sk_hash_key(struct sk_hash_secret s, const uint64_t *key, unsigned words) {
    uint64_t h = s.start;
    for (unsigned i = 0; i < words; i++)
        h = sk_hash_word(s, h, key[i]);
    return h;
}
// Without a secret, of what packets do not choose.
static inline uint64_t sk_hash_mix(uint64_t h, uint64_t word) {
    return sk_hash_word((struct sk_hash_secret){0, SK_HASH_FACTOR}, h, word);
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

// 'key' is below f->n.
static inline uint32_t sk_filled_value(const struct sk_filled *f, uint64_t key) {
    return f->narrow ? ((const uint16_t *)f->values)[key] : ((const uint32_t *)f->values)[key];
}

static inline struct sk_entry *sk_lookup_filled_index(const struct sk_filled *f, uint64_t key) {
    if (key >= f->n)
        return NULL;
    uint64_t *words = (uint64_t *)(f->reader + 1);
    words[0] = key;
    words[1] = sk_filled_value(f, key);
    return f->reader;
}

// The values of a table of an array that was filled as a whole and has all keys, uint16_t where the
// action's parameter has 16 bits or fewer, else uint32_t; or null.
static inline const void *sk_lookup_flat(const struct sk_table *t) {
    return atomic_load_explicit((_Atomic(const void *) *)&t->flat, memory_order_acquire);
}

// What sk_table_tell_filled was given: whether all tables of a group are filled, with all keys, and
// the numbers of one of them, if that was so since the pipe's thread last came to rest.
static inline bool sk_all_filled(const unsigned *unfilled) {
    return __atomic_load_n(unfilled, __ATOMIC_ACQUIRE) == 0;
}
static inline const void *sk_filled_told(const void *const *values) {
    return __atomic_load_n(values, __ATOMIC_RELAXED);
}

// A hit of the entry in each of the tables whose hits of it are side by side, or of entry at[l] in
// table l.
static inline void sk_hit_lanes(struct sk_hits *entry, unsigned lanes) {
    for (unsigned l = 0; l < lanes; l++)
        entry[l].hits++;
}
static inline void sk_hit_each(struct sk_hits *hits, const uint32_t *at, unsigned lanes) {
    for (unsigned l = 0; l < lanes; l++)
        hits[at[l] * lanes + l].hits++;
}

static inline struct sk_entry *sk_lookup_index(const struct sk_table *t, uint64_t key) {
    const struct sk_slots *s =
        atomic_load_explicit((_Atomic(struct sk_slots *) *)&t->slots, memory_order_acquire);
    const struct sk_filled *f =
        atomic_load_explicit((_Atomic(struct sk_filled *) *)&s->filled, memory_order_acquire);
    if (f)
        return sk_lookup_filled_index(f, key);
    return key <= s->mask ? sk_load_slot(&s->slot[key]) : NULL;
}

// A bit for each place of the bucket that has the tag, or has none yet when the tag is 0.
static inline unsigned sk_bucket_match(const struct sk_bucket *b, uint64_t tag) {
#if defined __AVX2__ && !defined __SANITIZE_THREAD__
    // Each word of the load is whole, as all that x86 loads aligned.
    typedef uint64_t four __attribute__((vector_size(32), may_alias));
    typedef double four_signs __attribute__((vector_size(32)));
    four same = (four)(*(const four *)b->tag == (four){tag, tag, tag, tag});
    return (unsigned)__builtin_ia32_movmskpd256((four_signs)same);
#else
    unsigned found = 0;
    for (unsigned i = 0; i < SK_BUCKET; i++)
        found |= (unsigned)(atomic_load_explicit((_Atomic uint64_t *)&b->tag[i],
                                                 memory_order_acquire) == tag)
                 << i;
    return found;
#endif
}
static inline const struct sk_buckets *sk_load_buckets(const struct sk_table *t) {
    return atomic_load_explicit((_Atomic(struct sk_buckets *) *)&t->buckets, memory_order_acquire);
}

// By a word, which is the tag, so the entry is not read here. '*place': where it is; else as it
// was.
static inline struct sk_entry *sk_find_word(const struct sk_buckets *s, uint64_t key,
                                            uint32_t *place) {
    for (uint64_t i = sk_hash_word(s->secret, s->secret.start, key);; i++) {
        const struct sk_bucket *b = &s->bucket[i & s->mask];
        const unsigned found = sk_bucket_match(b, key);
        if (__builtin_expect(found != 0, 1)) {
            // of key 0 the first: places that nobody took yet are after it
            const unsigned k = (unsigned)__builtin_ctz(found);
            struct sk_entry *e = sk_load_slot(&b->slot[k]);
            *place = (uint32_t)(i & s->mask) * SK_BUCKET + k;
            return e == SK_TOMBSTONE ? NULL : e;
        }
        if (!sk_load_slot(&b->slot[SK_BUCKET - 1]))
            return NULL;
    }
}

// By a key of one word.
static inline struct sk_entry *sk_lookup_u64(const struct sk_table *t, uint64_t key) {
    uint32_t ignored;
    return sk_find_word(sk_load_buckets(t), key, &ignored);
}

// The same, looked for first where the pipe found a key last: packets that follow each other ask
// for the same entries. Where to look does not depend on the key then, so a processor that guesses
// that it is there goes on with the entry, and does not wait for the key, its hash and the bucket.
// '*place' is the table's and the pipe's own, 0 at first. A stale hint is harmless: the tag is
// compared.
static inline struct sk_entry *sk_lookup_again(const struct sk_table *t, uint64_t key,
                                               uint32_t *place) {
    const struct sk_buckets *s = sk_load_buckets(t);
    const struct sk_bucket *last = &s->bucket[*place / SK_BUCKET & s->mask];
    if (atomic_load_explicit((_Atomic uint64_t *)&last->tag[*place % SK_BUCKET],
                             memory_order_acquire) == key) {
        struct sk_entry *e = sk_load_slot(&last->slot[*place % SK_BUCKET]);
        if (e && e != SK_TOMBSTONE)
            return e;
    }
    return sk_find_word(s, key, place);
}

// By a key of several words. '*place': where it is; else as it was.
static inline struct sk_entry *sk_find_key(const struct sk_buckets *s, const uint64_t *key,
                                           unsigned words, uint32_t *place) {
    const uint64_t tag = sk_hash_key(s->secret, key, words);
    for (uint64_t i = tag;; i++) {
        const struct sk_bucket *b = &s->bucket[i & s->mask];
        for (unsigned found = sk_bucket_match(b, tag); found; found &= found - 1) {
            const unsigned k = (unsigned)__builtin_ctz(found);
            struct sk_entry *e = sk_load_slot(&b->slot[k]);
            if (!e)
                return NULL;
            if (e != SK_TOMBSTONE && sk_key_equal(sk_entry_key(e), key, words)) {
                *place = (uint32_t)(i & s->mask) * SK_BUCKET + k;
                return e;
            }
        }
        if (!sk_load_slot(&b->slot[SK_BUCKET - 1]))
            return NULL;
    }
}

// 'words' is desc->key_words; a constant in generated code.
static inline struct sk_entry *sk_lookup_hash(const struct sk_table *t, const uint64_t *key,
                                              unsigned words) {
    uint32_t ignored;
    return words == 1 ? sk_lookup_u64(t, key[0])
                      : sk_find_key(sk_load_buckets(t), key, words, &ignored);
}

// The same, as sk_lookup_again: first the entry that was found last.
static inline struct sk_entry *sk_lookup_key_again(const struct sk_table *t, const uint64_t *key,
                                                   unsigned words, uint32_t *place) {
    const struct sk_buckets *s = sk_load_buckets(t);
    const struct sk_bucket *last = &s->bucket[*place / SK_BUCKET & s->mask];
    struct sk_entry *e = sk_load_slot(&last->slot[*place % SK_BUCKET]);
    if (e && e != SK_TOMBSTONE && sk_key_equal(sk_entry_key(e), key, words))
        return e;
    return sk_find_key(s, key, words, place);
}

// So large that its entries are not in the cache next to the processor.
static inline bool sk_hash_is_large(const struct sk_buckets *s) {
    return s && s->mask >= 63;
}
// Asks for the entry that sk_lookup_hash is going to find, if it is in its first bucket, as it is
// about to be counted as hit, and returns it: or another one of the table, or null. None is looked
// at.
static inline struct sk_entry *sk_hash_ahead(const struct sk_buckets *s, const uint64_t *key,
                                             unsigned words) {
    const uint64_t hash = sk_hash_key(s->secret, key, words);
    const struct sk_bucket *b = &s->bucket[hash & s->mask];
    const unsigned found = sk_bucket_match(b, words == 1 ? key[0] : hash);
    struct sk_entry *e = sk_load_slot(&b->slot[found ? __builtin_ctz(found) : 0]);
    __builtin_prefetch((const char *)e + offsetof(struct sk_entry, hits), 1);
    return e == SK_TOMBSTONE ? NULL : e;
}
// Whether that is the entry with this key.
static inline bool sk_is_entry(const struct sk_entry *ahead, const uint64_t *key, unsigned words) {
    return ahead && sk_key_equal(sk_entry_key(ahead), key, words);
}

// A table without entries is asked for nothing but that.
static inline struct sk_entry *sk_lookup_filled(const struct sk_table *t, const uint64_t *key) {
    const bool filled = atomic_load_explicit((atomic_bool *)&t->filled, memory_order_acquire);
    return filled ? sk_table_lookup(t, key) : NULL;
}

// Whether a value set has the key, for one of its pipe's parsers.
static inline bool sk_value_set_has(const struct sk_table *t, unsigned parser,
                                    const uint64_t *key) {
    if (__builtin_expect(t->of_parser != NULL, 0))
        return parser < t->n_parsers && sk_lookup_filled(t->of_parser[parser], key);
    return sk_lookup_filled(t, key);
}

// The member with this id, or null.
static inline struct sk_entry *sk_lookup_member(const struct sk_table *members, uint64_t id) {
    return sk_lookup_hash(members, &id, 1);
}

#endif

// SPDX-License-Identifier: Apache-2.0
//
// table_writer: what the files of a table's writer share: table.c (the control plane's calls),
// table_entry.c (one entry), table_filled.c (tables of values alone), table_exact.c, table_lpm.c
// and table_ternary.c (what finds entries). Everything here is for the one writer; nothing of it is
// on a packet's path.
#ifndef SILKEN_STAGES_TABLE_WRITER_H
#define SILKEN_STAGES_TABLE_WRITER_H

#include "stages/table_impl.h"

struct ternary_place; // of an entry of a ternary table: table_ternary.c

// What surrounds an entry: only the writer sees it.
// The padding puts the entry's 'data' at the start of a cache line (table_impl.h).
#define SK_NODE_ALIGN 64
struct node {
    _Alignas(SK_NODE_ALIGN) struct node *prev; // all entries, oldest first
    struct node *next;                         // the same; also links retired ones
    struct ternary_place *place;
    bool owns_direct;
    uint32_t held_by_entries, held_by_groups; // references to it as a member
    void *memory;                             // what is freed
    char padding[16];
    struct sk_entry e; // key, data and mask words follow
};
_Static_assert((offsetof(struct node, e) + offsetof(struct sk_entry, data)) % SK_NODE_ALIGN == 0,
               "an entry's hot part begins a cache line");

// The hash grows in parts. When it is half full, a larger one is made beside it, and each change of
// the table copies a few more entries to it, the oldest first. Readers, and the writer's own
// searches, see the old hash alone, which has every entry, until the new one has every entry, too:
// a lookup costs the same at all times. A change is made in both hashes if its entry has been
// copied. Large blocks of memory are cleared in parts before, and given back in parts afterwards;
// by whoever changes the table, in sk_table_tend, where packets need not wait for it.
#define SK_GROW_MOVES   8u                   // entries moved by one change
#define SK_GROW_TOUCHES (UINT64_C(4) << 10)  // bytes that one change clears first
#define SK_GROW_LARGE   (UINT64_C(64) << 10) // blocks from here on are cleared in parts
#define SK_GROW_SPARE   (UINT64_C(4) << 20)  // blocks up to here are kept for the next time
#define SK_GROW_RETURNS (UINT64_C(64) << 10) // bytes that one change gives back
#define SK_TEND_TOUCHES (UINT64_C(16) << 10) // bytes that sk_table_tend clears first
struct sk_growing {
    struct sk_buckets *to; // null: the hash is not growing
    size_t used;           // slots of it, as 'used' below
    uint64_t touched;      // bytes of it
    struct node *moved;    // the newest entry that is in it; null: none is
};
struct sk_table_writer {
    struct node *first, *last;
    size_t count;  // entries
    size_t used;   // slots that are not null: entries and tombstones
    uint64_t size; // entries at most
    uint64_t sequence;
    uint32_t next_id;
    struct node *retired;
    struct sk_retired *retired_blocks;
    struct sk_retired *retired_filled;
    const void **told; // of sk_table_tell_filled, or null
    unsigned *unfilled;
    struct sk_lane_numbers lanes; // of sk_table_tell_lanes; n 0: none
    unsigned lane;
    struct sk_growing growing;
    struct sk_retired *retired_hashes; // that readers may see
    struct sk_retired *old_hashes;     // that nobody sees: given back in parts
    uint64_t old_left;                 // bytes of the first of them
    struct sk_buckets *spare;          // of the size of the one in use, or null
    bool is_tended;                    // sk_table_tend gives back, and changes do not
    uint64_t work;                     // entries moved in all, for tests
};

static inline struct node *table_writer_node_of(struct sk_entry *e) {
    return (struct node *)((char *)e - offsetof(struct node, e));
}
// 'r' is the block's first member; null is ignored.
static inline void sk_retire(struct sk_table *t, struct sk_retired *r) {
    if (!r)
        return;
    r->next = t->writer->retired_blocks;
    t->writer->retired_blocks = r;
}

// ---- table_entry.c ----

// Where an entry or a default action comes from decides which actions it may name.
enum place_of_action { IN_ENTRY, IN_PROGRAM_ENTRY, IN_DEFAULT };

uint64_t sk_full_word(uint32_t width, uint32_t word); // the ones of a field's word
// Length of the prefix a mask stands for, or -1 when its ones are not contiguous from the top.
int sk_prefix_length(const uint64_t *mask, uint32_t width);
// As numbers: negative, zero or positive.
int sk_compare_words(const uint64_t *a, const uint64_t *b, uint32_t words);
// A key in the form entries hold: the mask filled in when there is none, bits outside a mask zero.
// SK_E_KEY when it is none.
int sk_canonical_key(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                     uint64_t *value_out, uint64_t *mask_out);
// SK_E_ACTION or SK_E_DATA when the action may not stand there.
int sk_check_action(const struct sk_table *t, uint32_t action, const uint64_t *data,
                    enum place_of_action place);

// Null when there is no memory. The caller frees it, or retires it once readers have seen it.
struct node *sk_node_new(struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                         uint32_t action, const uint64_t *data);
bool sk_node_init_direct(const struct sk_table *t, struct node *n); // false: no memory
void sk_node_free(struct node *n);                                  // null is ignored
// A node that replaces 'old': its counters, direct registers, meter and place live on.
void sk_node_inherit(struct node *n, struct node *old);

// References to members and groups: counted from here on; could be counted; no more.
struct node *sk_find_member(const struct sk_table *members, uint64_t id);
int sk_entry_hold(struct sk_table *t, uint32_t action, const uint64_t *data);
int sk_entry_may_hold(const struct sk_table *t, uint32_t action, const uint64_t *data);
void sk_entry_release(struct sk_table *t, uint32_t action, const uint64_t *data);
bool sk_node_held(const struct node *n);

// ---- table_filled.c ----

struct sk_filled *sk_filled_of(const struct sk_table *t); // or null: it is of entries
// The value of this key, below f->n, as an entry: until the next call.
struct sk_entry *sk_filled_at(const struct sk_filled *f, uint64_t key);
// The same, until the table changes: the first call makes entries of all.
struct sk_entry *sk_filled_listed(struct sk_filled *f, uint64_t key);
void sk_filled_clear(struct sk_table *t); // empty afterwards, if it was filled
void sk_filled_quiesce(struct sk_table *t);
void sk_filled_free(struct sk_table *t);

// ---- table_exact.c: the array and the hash under every kind of table ----

struct sk_slots *sk_slots_of(const struct sk_table *t);
struct sk_buckets *sk_buckets_of(const struct sk_table *t);
// The array, once; 'capacity' is a power of two. False when there is no memory.
bool sk_slots_make(struct sk_table *t, uint64_t capacity);
static inline void sk_slot_set(sk_slot *s, struct sk_entry *e) {
    atomic_store_explicit(s, e, memory_order_release);
}
// The slot that holds the entry with this canonical key (and, in a ternary table, this priority);
// or, when there is none, null.
sk_slot *sk_hash_find(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                      int64_t priority);
// Makes room for one more entry; first of all the hash itself. False when there is no memory.
bool sk_hash_reserve(struct sk_table *t);
// Room is reserved. The entry's node becomes the last of the list afterwards.
void sk_hash_put(struct sk_table *t, struct sk_entry *e);
// What was done to the entry's slot, which has been found: 'now' is in its place (SK_TOMBSTONE: it
// is removed). Before the list of nodes is changed.
void sk_hash_changed(struct sk_table *t, struct sk_entry *old, struct sk_entry *now);
// A part of what is left to do: once for each change that does not call sk_hash_reserve. Slots that
// were found before are not valid after it.
void sk_hash_go_on(struct sk_table *t);
// Nobody looks anything up: old hashes can be given back, a part at once.
void sk_hash_quiesce(struct sk_table *t);
void sk_hash_tend(struct sk_table *t);
void sk_hash_free(struct sk_table *t); // all of them

#endif

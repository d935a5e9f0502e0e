// SPDX-License-Identifier: Apache-2.0
//
// rank: things in order of precedence: smallest priority number first, among equal ones the one
// added first. A skip list: finding a place, putting in and taking out cost O(log n); a reader
// walks the lowest level.
//
// One writer; readers may walk meanwhile. A rank taken out still leads on to what followed it, so a
// reader that stands on it gets to the end of the list; its owner frees it when no reader is left.
#ifndef SILKEN_STAGES_RANK_H
#define SILKEN_STAGES_RANK_H

#include "stages/table_impl.h"

#define SK_RANK_HEIGHT 8 // at a quarter per level: good for 64 Ki ranks, sixteen steps more per Mi

struct sk_rank {
    struct sk_retired retired; // its owner's, once it is taken out
    int64_t priority;
    uint64_t sequence;
    _Atomic(void *) of;
    uint32_t height;
    _Atomic(struct sk_rank *) next[]; // 'height' of them, of each level
};
struct sk_ranking {
    _Atomic(struct sk_rank *) first[SK_RANK_HEIGHT];
};

static inline int sk_precedence(int64_t priority_a, uint64_t sequence_a, int64_t priority_b,
                                uint64_t sequence_b) {
    if (priority_a != priority_b)
        return priority_a < priority_b ? -1 : 1;
    return sequence_a < sequence_b ? -1 : sequence_a > sequence_b;
}
static inline struct sk_rank *sk_rank_first(const struct sk_ranking *l) {
    return atomic_load_explicit(&((struct sk_ranking *)l)->first[0], memory_order_acquire);
}
static inline struct sk_rank *sk_rank_next(const struct sk_rank *r) {
    return atomic_load_explicit(&((struct sk_rank *)r)->next[0], memory_order_acquire);
}
static inline void *sk_rank_of(const struct sk_rank *r) {
    return atomic_load_explicit(&((struct sk_rank *)r)->of, memory_order_acquire);
}

// Null when there is no memory; the caller frees it with free().
struct sk_rank *sk_rank_new(int64_t priority, uint64_t sequence, void *of);
void sk_rank_insert(struct sk_ranking *l, struct sk_rank *r);
void sk_rank_remove(struct sk_ranking *l, struct sk_rank *r); // 'r' is in the list

#endif

// SPDX-License-Identifier: Apache-2.0
//
// rank: see rank.h.
#include "stages/rank.h"

#include <stdlib.h>

typedef _Atomic(struct sk_rank *) link;

// Heights follow from the sequence number: a quarter of the ranks of a level is in the next one.
static uint32_t height_of(uint64_t sequence) {
    uint64_t h = sk_hash_mix(0, sequence);
    uint32_t height = 1;
    for (; height < SK_RANK_HEIGHT && (h & 3) == 0; h >>= 2)
        height++;
    return height;
}

struct sk_rank *sk_rank_new(int64_t priority, uint64_t sequence, void *of) {
    uint32_t height = height_of(sequence);
    struct sk_rank *r = calloc(1, sizeof *r + height * sizeof(link));
    if (!r)
        return NULL;
    r->priority = priority;
    r->sequence = sequence;
    r->height = height;
    atomic_init(&r->of, of);
    return r;
}

static struct sk_rank *rank_follow(const link *l) {
    return atomic_load_explicit((link *)l, memory_order_relaxed);
}

// Equal ones are in the order of their addresses.
static bool before_in_list(const struct sk_rank *a, const struct sk_rank *b) {
    int order = sk_precedence(a->priority, a->sequence, b->priority, b->sequence);
    return order < 0 || (order == 0 && (uintptr_t)a < (uintptr_t)b);
}

// The links that lead to 'r', or would, of each level.
static void links_before(struct sk_ranking *l, const struct sk_rank *r, link *before[]) {
    link *level = l->first;
    for (uint32_t i = SK_RANK_HEIGHT; i-- > 0;) {
        for (struct sk_rank *n; (n = rank_follow(&level[i])) != NULL && before_in_list(n, r);)
            level = n->next;
        before[i] = &level[i];
    }
}

void sk_rank_insert(struct sk_ranking *l, struct sk_rank *r) {
    link *before[SK_RANK_HEIGHT];
    links_before(l, r, before);
    for (uint32_t i = 0; i < r->height; i++)
        atomic_store_explicit(&r->next[i], rank_follow(before[i]), memory_order_relaxed);
    for (uint32_t i = 0; i < r->height; i++)
        atomic_store_explicit(before[i], r, memory_order_release);
}

void sk_rank_remove(struct sk_ranking *l, struct sk_rank *r) {
    link *before[SK_RANK_HEIGHT];
    links_before(l, r, before);
    for (uint32_t i = r->height; i-- > 0;)
        atomic_store_explicit(before[i], rank_follow(&r->next[i]), memory_order_release);
}

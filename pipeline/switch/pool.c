// SPDX-License-Identifier: Apache-2.0
#include "pipeline/switch/pool.h"

#include <stdlib.h>
#include <string.h>

#include "stages/state.h"

#define CARVED 64u // at a time

// Packets that were never used become free, when none else is. A pool that is large enough for the
// worst case costs no more than what is in use at the same time.
static void pool_carve(struct sk_pool *pool) {
    const uint32_t first = pool->n_carved, left = pool->n_packets - first;
    pool->n_carved += left < CARVED ? left : CARVED;
    // Last packet first, so that the first ones taken lie at the start of the memory.
    for (uint32_t i = pool->n_carved; i-- > first;) {
        struct sk_packet *p = &pool->packets[i];
        p->buf = pool->memory + (size_t)i * pool->cap;
        p->cap = pool->cap;
        p->pool = pool;
        p->next = pool->free;
        pool->free = p;
    }
}

// Cores write their pools for each packet: no two share a pair of cache lines.
static struct sk_pool *pool_calloc(void) {
    const size_t bytes = (sizeof(struct sk_pool) + 127) & ~(size_t)127;
    struct sk_pool *pool = aligned_alloc(128, bytes);
    if (pool)
        memset(pool, 0, bytes);
    return pool;
}

struct sk_packet *sk_pool_take_other(struct sk_pool *pool) {
    if (pool->n_carved == pool->n_packets)
        return sk_pool_take_host(pool);
    pool_carve(pool);
    return sk_pool_take(pool);
}

struct sk_pool *sk_pool_new(uint32_t n_packets, uint32_t packet_bytes) {
    uint32_t cap = (SK_POOL_START + packet_bytes + SK_POOL_SLACK + 63u) & ~63u;
    struct sk_pool *pool = pool_calloc();
    if (!pool)
        return NULL;
    pool->packets = calloc(n_packets, sizeof *pool->packets);
    // Zeroed: a program that emits bytes it never wrote shows zeros and not another packet's bytes.
    pool->memory = sk_state_alloc((size_t)n_packets * cap);
    if (!pool->packets || !pool->memory) {
        sk_pool_free(pool);
        return NULL;
    }
    pool->n_packets = pool->n_free = n_packets;
    pool->cap = cap;
    return pool;
}

void sk_pool_free(struct sk_pool *pool) {
    if (!pool)
        return;
    while (pool->buffers && pool->free) {
        struct sk_packet *p = pool->free;
        pool->free = p->next;
        pool->buffers->put(pool->buffers->aux, p);
    }
    sk_state_free(pool->memory);
    free(pool->packets);
    free(pool);
}

struct sk_pool *sk_pool_new_of(const struct sk_buffers *buffers) {
    struct sk_pool *pool = pool_calloc();
    if (pool)
        pool->buffers = buffers;
    return pool;
}

struct sk_packet *sk_pool_take_host(struct sk_pool *pool) {
    struct sk_packet *p = pool->guest ? NULL : pool->host;
    if (p)
        sk_pool_end_host(pool);
    return p;
}

void sk_pool_no_guests(struct sk_pool *pool) {
    struct sk_packet *p = sk_pool_take_host(pool);
    if (!p)
        return;
    p->pool = pool;
    pool->in_use++; // as of one that comes back
    sk_pool_put(p);
}

bool sk_packet_move(struct sk_packet *p) {
    struct sk_pool *pool = p->pool;
    const uint8_t *from = sk_packet_data(p);
    const uint32_t cap = p == pool->guest ? pool->cap : p->cap;
    if (SK_HEADROOM + p->len + SK_POOL_SLACK > cap)
        return false;
    if (p == pool->guest)
        sk_pool_end_host(pool);
    // In the middle of what is left, so that a growing packet is not moved each time.
    uint32_t spare = cap - SK_POOL_SLACK - SK_HEADROOM - p->len;
    uint32_t head = SK_HEADROOM + spare / 2;
    memmove(p->buf + head, from, p->len);
    p->head = head;
    return true;
}

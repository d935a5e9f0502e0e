// SPDX-License-Identifier: Apache-2.0
#include "pipeline/pool.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "stages/state.h"

#define START   (2 * SK_HEADROOM)
#define AT_HAND 64u // of somebody else's buffers

struct sk_pool {
    struct sk_packet *packets;
    uint8_t *memory;
    struct sk_packet *free;
    uint32_t n_free;
    const struct sk_buffers *buffers; // null: its own
    int64_t in_use;                   // of somebody else's
};

static void carve(struct sk_pool *pool, uint32_t n_packets, uint32_t cap) {
    // Last packet first, so that the first ones taken lie at the start of the memory.
    for (uint32_t i = n_packets; i-- > 0;) {
        struct sk_packet *p = &pool->packets[i];
        p->buf = pool->memory + (size_t)i * cap;
        p->cap = cap;
        p->pool = pool;
        p->next = pool->free;
        pool->free = p;
    }
    pool->n_free = n_packets;
}

struct sk_pool *sk_pool_new(uint32_t n_packets, uint32_t packet_bytes) {
    uint32_t cap = (START + packet_bytes + SK_POOL_SLACK + 63u) & ~63u;
    struct sk_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->packets = calloc(n_packets, sizeof *pool->packets);
    // Zeroed: a program that emits bytes it never wrote shows zeros and not another packet's bytes.
    pool->memory = sk_state_alloc((size_t)n_packets * cap);
    if (!pool->packets || !pool->memory) {
        sk_pool_free(pool);
        return NULL;
    }
    carve(pool, n_packets, cap);
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
    struct sk_pool *pool = calloc(1, sizeof *pool);
    if (pool)
        pool->buffers = buffers;
    return pool;
}

bool sk_pool_is_shared(const struct sk_pool *pool) {
    return pool->buffers;
}

int64_t sk_pool_in_use(const struct sk_pool *pool) {
    return pool->in_use;
}

bool sk_pool_send(struct sk_packet *p, uint16_t dev_port) {
    struct sk_pool *pool = p->pool;
    if (!pool->buffers->send(pool->buffers->aux, dev_port, p))
        return false;
    pool->in_use--;
    return true;
}

void sk_pool_adopt(struct sk_pool *pool, struct sk_packet *p) {
    pool->in_use++;
    const size_t from = offsetof(struct sk_packet, ingress_port);
    sk_clear((char *)p + from, sizeof *p - from);
    p->pool = pool;
}

struct sk_packet *sk_pool_take(struct sk_pool *pool) {
    struct sk_packet *p = pool->free;
    if (p) {
        pool->free = p->next;
        pool->n_free--;
    } else if (pool->buffers) {
        p = pool->buffers->get(pool->buffers->aux);
    }
    return p;
}

struct sk_packet *sk_pool_get(struct sk_pool *pool) {
    struct sk_packet *p = sk_pool_take(pool);
    if (!p)
        return NULL;
    sk_pool_adopt(pool, p);
    p->head = START;
    p->len = 0;
    return p;
}

void sk_pool_put(struct sk_packet *p) {
    struct sk_pool *pool = p->pool;
    pool->in_use--;
    if (pool->buffers && pool->n_free >= AT_HAND) {
        pool->buffers->put(pool->buffers->aux, p);
        return;
    }
    p->next = pool->free;
    pool->free = p;
    pool->n_free++;
}

uint32_t sk_pool_available(const struct sk_pool *pool) {
    return pool->n_free;
}

bool sk_packet_move(struct sk_packet *p) {
    if (SK_HEADROOM + p->len + SK_POOL_SLACK > p->cap)
        return false;
    // In the middle of what is left, so that a growing packet is not moved each time.
    uint32_t spare = p->cap - SK_POOL_SLACK - SK_HEADROOM - p->len;
    uint32_t head = SK_HEADROOM + spare / 2;
    memmove(p->buf + head, p->buf + p->head, p->len);
    p->head = head;
    return true;
}

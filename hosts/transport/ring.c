// SPDX-License-Identifier: Apache-2.0
//
// Two rings of frames between two threads. Each ring has one producer and one consumer: the
// producer alone writes 'tail', the consumer alone writes 'head', both count frames and never wrap
// in practice. A slot's bytes are published by the release store of 'tail' and given back by that
// of 'head'.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "hosts/transport/transport.h"

struct entry {
    uint32_t len;
    uint8_t bytes[SK_MAX_FRAME];
};

struct ring {
    _Alignas(64) _Atomic uint64_t tail; // frames ever put in
    _Alignas(64) _Atomic uint64_t head; // frames ever taken out
    _Alignas(64) struct entry *entries;
};

// What both ends share; freed with the second end.
struct pair {
    struct ring rings[2]; // rings[i] is what end i receives from
    uint32_t mask;        // capacity - 1
    _Atomic int ends;
};

struct end {
    struct sk_transport base;
    struct pair *pair;
    int index;
    uint64_t borrowed; // frames handed up by the last recv, not yet given back
};

static struct end *transport_ring_end_of(struct sk_transport *t) {
    return (struct end *)t;
}

static size_t ring_lend(struct sk_transport *t, struct sk_frame *frames, size_t n) {
    struct end *e = transport_ring_end_of(t);
    struct ring *r = &e->pair->rings[!e->index];
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    uint64_t used = tail - atomic_load_explicit(&r->head, memory_order_acquire);
    size_t i;

    for (i = 0; i < n && used + i <= e->pair->mask; i++)
        frames[i] = (struct sk_frame){r->entries[(tail + i) & e->pair->mask].bytes, 0};
    return i;
}

static size_t ring_post(struct sk_transport *t, const struct sk_frame *frames, size_t n) {
    struct end *e = transport_ring_end_of(t);
    struct ring *r = &e->pair->rings[!e->index];
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

    for (size_t i = 0; i < n; i++)
        r->entries[(tail + i) & e->pair->mask].len = frames[i].len;
    atomic_store_explicit(&r->tail, tail + n, memory_order_release);
    return n;
}

static void transport_ring_give_back(struct end *e) {
    struct ring *r = &e->pair->rings[e->index];
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

    atomic_store_explicit(&r->head, head + e->borrowed, memory_order_release);
    e->borrowed = 0;
}

static uint64_t transport_ring_waiting(struct end *e) {
    struct ring *r = &e->pair->rings[e->index];
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_acquire);

    return tail - atomic_load_explicit(&r->head, memory_order_relaxed);
}

static size_t ring_recv(struct sk_transport *t, struct sk_frame *frames, size_t n) {
    struct end *e = transport_ring_end_of(t);
    struct ring *r = &e->pair->rings[e->index];
    uint64_t head, count;

    transport_ring_give_back(e);
    head = atomic_load_explicit(&r->head, memory_order_relaxed);
    count = transport_ring_waiting(e);
    count = count < n ? count : n;
    for (uint64_t i = 0; i < count; i++) {
        struct entry *entry = &r->entries[(head + i) & e->pair->mask];
        frames[i] = (struct sk_frame){entry->bytes, entry->len};
    }
    e->borrowed = count;
    return count;
}

static int transport_ring_something_waits(void *context) {
    return transport_ring_waiting(context) > 0;
}

static void ring_wait(struct sk_transport *t, uint64_t timeout) {
    transport_ring_give_back(transport_ring_end_of(t));
    sk_clock_poll(transport_ring_something_waits, transport_ring_end_of(t), timeout);
}

static void free_pair(struct pair *p) {
    free(p->rings[0].entries);
    free(p->rings[1].entries);
    free(p);
}

static void ring_close(struct sk_transport *t) {
    struct end *e = transport_ring_end_of(t);

    if (atomic_fetch_sub(&e->pair->ends, 1) == 1)
        free_pair(e->pair);
    free(e);
}

static const struct sk_transport_ops ring_ops = {
    .name = "ring",
    .lend = ring_lend,
    .post = ring_post,
    .recv = ring_recv,
    .wait = ring_wait,
    .close = ring_close,
};

static struct pair *new_pair(uint32_t capacity) {
    struct pair *p = aligned_alloc(_Alignof(struct pair), sizeof *p);

    if (!p)
        return NULL;
    memset(p, 0, sizeof *p);
    p->mask = capacity - 1;
    p->ends = 2;
    for (int i = 0; i < 2; i++)
        p->rings[i].entries = malloc(capacity * sizeof(struct entry));
    if (!p->rings[0].entries || !p->rings[1].entries) {
        free_pair(p);
        return NULL;
    }
    return p;
}

static uint32_t power_of_two_from(uint32_t n) {
    uint32_t power = 1;

    while (power < n)
        power *= 2;
    return power;
}

int sk_transport_ring_open(struct sk_transport *ends[2], uint32_t capacity) {
    struct end *made[2] = {calloc(1, sizeof **made), calloc(1, sizeof **made)};
    struct pair *p;

    if (capacity < 1 || capacity > 1u << 20) {
        free(made[0]);
        free(made[1]);
        return SILKEN_ERR_INVALID;
    }
    p = new_pair(power_of_two_from(capacity));
    if (!p || !made[0] || !made[1]) {
        if (p)
            free_pair(p);
        free(made[0]);
        free(made[1]);
        return SILKEN_ERR_NOMEM;
    }
    for (int i = 0; i < 2; i++) {
        *made[i] = (struct end){.base.ops = &ring_ops, .pair = p, .index = i};
        ends[i] = &made[i]->base;
    }
    return 0;
}

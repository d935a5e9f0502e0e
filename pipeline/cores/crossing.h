// SPDX-License-Identifier: Apache-2.0
//
// crossing: a ring of packets from one core to another, without locks: one thread puts, one takes.
//
// Packets that were put become visible to the taker with crossing_publish(), once per burst.
// Positions count up; each side keeps the last position that it read from the other, on its own
// cache line, and reads again only when that does not suffice. With what is published comes a time,
// which the putter last set: no packet was put in later.
#ifndef SILKEN_PIPELINE_CORES_CROSSING_H
#define SILKEN_PIPELINE_CORES_CROSSING_H

#include <stdatomic.h>

#include "pipeline/abi.h"

struct crossing {
    // the putter's
    _Alignas(64) uint32_t put, taken_seen;
    _Alignas(64) _Atomic(uint32_t) published; // by the putter
    _Atomic(uint64_t) time;                   // likewise: ns
    _Alignas(64) _Atomic(uint32_t) taken;     // by the taker
    _Alignas(64) uint32_t mask;
    _Alignas(64) struct sk_packet *slots[];
};

// Room for at least 'n' packets, at most 2^30. Null when memory is short.
struct crossing *crossing_new(uint32_t n);
void crossing_free(struct crossing *c); // null allowed; what is in it is the caller's to take first

// False when it is full.
static inline bool crossing_put(struct crossing *c, struct sk_packet *p) {
    if (c->put - c->taken_seen > c->mask) {
        // Acquire: the slot was read before it is written again.
        c->taken_seen = atomic_load_explicit(&c->taken, memory_order_acquire);
        if (c->put - c->taken_seen > c->mask)
            return false;
    }
    c->slots[c->put++ & c->mask] = p;
    return true;
}

// Before what was put in until then is published.
static inline void crossing_set_time(struct crossing *c, uint64_t now_ns) {
    if (atomic_load_explicit(&c->published, memory_order_relaxed) != c->put)
        atomic_store_explicit(&c->time, now_ns, memory_order_relaxed);
}

static inline void crossing_publish(struct crossing *c) {
    // Release: the packets and their slots are written before the position that shows them.
    if (atomic_load_explicit(&c->published, memory_order_relaxed) != c->put)
        atomic_store_explicit(&c->published, c->put, memory_order_release);
}

// How many can be taken now. The taker's.
static inline uint32_t crossing_ready(struct crossing *c) {
    return atomic_load_explicit(&c->published, memory_order_acquire) -
           atomic_load_explicit(&c->taken, memory_order_relaxed);
}

// Not before any of those that are ready was put in: after crossing_ready().
static inline uint64_t crossing_time(const struct crossing *c) {
    return atomic_load_explicit(&c->time, memory_order_relaxed);
}

// Of those that are ready, the i-th; they are given back to the putter with crossing_took().
static inline struct sk_packet *crossing_at(const struct crossing *c, uint32_t i) {
    return c->slots[(atomic_load_explicit(&c->taken, memory_order_relaxed) + i) & c->mask];
}
static inline void crossing_took(struct crossing *c, uint32_t n) {
    atomic_store_explicit(&c->taken, atomic_load_explicit(&c->taken, memory_order_relaxed) + n,
                          memory_order_release);
}

#endif

// SPDX-License-Identifier: Apache-2.0
//
// crossing: a ring of packets from one core to another, without locks: one thread puts, one takes.
// A slot is a packet, or a packet with what the taker needs of it (struct crossed), so that it need
// not look at the packet, whose lines are in the putter's cache.
//
// Packets that were put become visible to the taker with crossing_publish(), once per burst.
// Positions count up; each side keeps the last position that it read from the other, on its own
// cache line, and reads again only when that does not suffice. With what is published comes a time,
// which the putter last set: no packet was put in later.
#ifndef SILKEN_PIPELINE_CORES_CROSSING_H
#define SILKEN_PIPELINE_CORES_CROSSING_H

#include <stdatomic.h>

#include "pipeline/abi.h"

// Lines that cross are what crossing costs, so four of these are one: above the 48 bits of each
// pointer are 16 of others, the packet's length and its way.
struct crossed {
    uint64_t packet_length, data_way;
};
#define CROSSED_WAY_AT   48
#define CROSSED_POINTER  ((UINT64_C(1) << CROSSED_WAY_AT) - 1)
#define CROSSED_BYPASSES (1u << 9)  // of a way: past egress
#define CROSSED_STRAIGHT (1u << 10) // to the port in its lower bits, and nothing else is wished

static inline struct sk_packet *crossed_packet(struct crossed x) {
    return (struct sk_packet *)(uintptr_t)(x.packet_length & CROSSED_POINTER);
}
static inline const uint8_t *crossed_data(struct crossed x) {
    return (const uint8_t *)(uintptr_t)(x.data_way & CROSSED_POINTER);
}
static inline uint32_t crossed_length(struct crossed x) {
    return (uint32_t)(x.packet_length >> CROSSED_WAY_AT);
}
static inline unsigned crossed_way(struct crossed x) {
    return (unsigned)(x.data_way >> CROSSED_WAY_AT);
}

#define CROSSING_AHEAD 16u // slots that are asked for before they are written

// Processors fetch lines in pairs: what both sides write is a pair apart.
struct crossing {
    // the putter's
    _Alignas(128) uint32_t put, taken_seen;
    _Alignas(128) _Atomic(uint32_t) published; // by the putter
    _Atomic(uint64_t) time;                    // likewise: ns
    _Alignas(128) _Atomic(uint32_t) taken;     // by the taker
    _Alignas(128) uint32_t mask;
    _Alignas(128) uint8_t slots[];
};

// A line that is to be written is asked for, and others lose it. What __builtin_prefetch makes of
// that without a flag for the processor only reads it.
static inline void crossing_expect_to_write(const void *line) {
#if defined __x86_64__
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

// Room for at least 'n' packets, at most 2^30; crossing_new_noted: for as many struct crossed. Null
// when memory is short.
struct crossing *crossing_new(uint32_t n);
struct crossing *crossing_new_noted(uint32_t n);
void crossing_free(struct crossing *c); // null allowed; what is in it is the caller's to take first

static inline struct sk_packet **crossing_packet(const struct crossing *c, uint32_t position) {
    return (struct sk_packet **)(void *)c->slots + (position & c->mask);
}
static inline struct crossed *crossing_noted(const struct crossing *c, uint32_t position) {
    return (struct crossed *)(void *)c->slots + (position & c->mask);
}

static inline bool crossing_has_room(struct crossing *c) {
    if (c->put - c->taken_seen > c->mask) {
        // Acquire: the slot was read before it is written again.
        c->taken_seen = atomic_load_explicit(&c->taken, memory_order_acquire);
        return c->put - c->taken_seen <= c->mask;
    }
    return true;
}

// False when it is full.
static inline bool crossing_put(struct crossing *c, struct sk_packet *p) {
    if (!crossing_has_room(c))
        return false;
    *crossing_packet(c, c->put++) = p;
    return true;
}
static inline bool crossing_put_noted(struct crossing *c, struct sk_packet *p, unsigned way) {
    if (!crossing_has_room(c))
        return false;
    const uint64_t packet = (uintptr_t)p, data = (uintptr_t)sk_packet_data(p);
    *crossing_noted(c, c->put++) = (struct crossed){packet | (uint64_t)p->len << CROSSED_WAY_AT,
                                                    data | (uint64_t)way << CROSSED_WAY_AT};
    crossing_expect_to_write(crossing_noted(c, c->put + CROSSING_AHEAD));
    return true;
}

// Before what was put in until then is published.
static inline void crossing_set_time(struct crossing *c, uint64_t now_ns) {
    if (atomic_load_explicit(&c->published, memory_order_relaxed) != c->put)
        atomic_store_explicit(&c->time, now_ns, memory_order_relaxed);
}

static inline uint32_t crossing_unpublished(const struct crossing *c) {
    return c->put - atomic_load_explicit(&c->published, memory_order_relaxed);
}
static inline void crossing_publish(struct crossing *c) {
    // Release: the packets and their slots are written before the position that shows them.
    if (atomic_load_explicit(&c->published, memory_order_relaxed) != c->put)
        atomic_store_explicit(&c->published, c->put, memory_order_release);
}

// What the next two read is asked for.
static inline void crossing_expect(const struct crossing *c) {
    __builtin_prefetch((const void *)&c->published);
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
    return *crossing_packet(c, atomic_load_explicit(&c->taken, memory_order_relaxed) + i);
}
static inline struct crossed crossing_noted_at(const struct crossing *c, uint32_t i) {
    return *crossing_noted(c, atomic_load_explicit(&c->taken, memory_order_relaxed) + i);
}
static inline void crossing_took(struct crossing *c, uint32_t n) {
    atomic_store_explicit(&c->taken, atomic_load_explicit(&c->taken, memory_order_relaxed) + n,
                          memory_order_release);
}

#endif

// SPDX-License-Identifier: Apache-2.0
//
// rings: bursts. What both ends write is read by one load each, into our own memory, and used from
// there only: the compiler must not read it again. A server's peer owns the descriptors and says in
// them where frames are; a client is told their lengths and no more.
#include <string.h>

#include "memif/memif_impl.h"

#define LOAD(at)         __atomic_load_n(&(at), __ATOMIC_RELAXED)
#define STORE(at, value) __atomic_store_n(&(at), (value), __ATOMIC_RELAXED)
#define LIKELY(x)        __builtin_expect(!!(x), 1)

// Most frames are acknowledgements and requests, for which a call takes as long as the copy.
static inline void memif_copy(uint8_t *to, const uint8_t *from, uint32_t n) {
    if (n < 32 || n > 64) {
        memcpy(to, from, n);
        return;
    }
    uint8_t first[32], last[32]; // they overlap
    memcpy(first, from, sizeof first);
    memcpy(last, from + n - sizeof last, sizeof last);
    memcpy(to, first, sizeof first);
    memcpy(to + n - sizeof last, last, sizeof last);
}

// ---- where things are ----

static void memif_ring_begin(struct memif_ring *q, const struct memif_session *s,
                             const struct memif_ring_place *p, unsigned r) {
    void *at = s->regions[p->region].at + p->offset;
    *q = (struct memif_ring){
        .shared = at, .size = UINT32_C(1) << p->log2, .bell = p->bell, .buffer = s->o->buffer};
    q->mask = q->size - 1;
    if (!s->o->server)
        q->buffers = s->regions[0].at + s->buffers + (s->o->buffer << p->log2) * r;
}

// All that a client receives into is empty, and waits for the server.
static void memif_link_give_buffers(struct memif_link *l) {
    for (unsigned i = 0; i < l->n_rx; i++)
        __atomic_store_n(&l->rx[i].shared->head, (uint16_t)l->rx[i].size, __ATOMIC_RELEASE);
}

void memif_link_begin(struct memif_link *l, const struct memif_session *s) {
    const struct memif_ring_place *rx = s->o->server ? s->s2m : s->m2s;
    *l = (struct memif_link){.server = s->o->server, .n_regions = s->n_regions};
    memcpy(l->regions, s->regions, sizeof l->regions);
    l->n_rx = s->o->server ? s->n_s2m : s->n_m2s;
    for (unsigned i = 0; i < l->n_rx; i++) {
        memif_ring_begin(&l->rx[i], s, &rx[i], s->o->server ? 0 : 1 + i);
        STORE(l->rx[i].shared->flags, MEMIF_MASK_BELL);
    }
    memif_ring_begin(&l->tx, s, s->o->server ? &s->m2s[0] : &s->s2m[0], 0);
    if (!l->server)
        memif_link_give_buffers(l);
}

// A descriptor's buffer; null: it is not inside what the peer passed, and is blamed for it.
static inline uint8_t *memif_buffer(struct memif *m, const struct memif_link *l, unsigned region,
                                    uint32_t offset, uint32_t length) {
    if (LIKELY(region < l->n_regions && length <= l->regions[region].size &&
               offset <= l->regions[region].size - length))
        return l->regions[region].at + offset;
    if (region >= l->n_regions)
        memif_blame(m, MEMIF_FAULT_REGION, region, l->n_regions);
    else
        memif_blame(m, MEMIF_FAULT_PLACE, offset, length);
    return NULL;
}

// ---- receiving ----

struct memif_piece {
    uint8_t *at; // null: the peer was blamed
    uint32_t length;
    bool more;
};

// What is in the descriptor at a position.
static inline struct memif_piece memif_read(struct memif *m, const struct memif_link *l,
                                            const struct memif_ring *q, uint16_t at, bool server) {
    struct memif_desc *d = &q->shared->desc[at & q->mask];
    struct memif_piece p = {.length = LOAD(d->length), .more = LOAD(d->flags) & MEMIF_CHAINED};
    if (server) {
        p.at = memif_buffer(m, l, LOAD(d->region), LOAD(d->offset), p.length);
    } else if (LIKELY(p.length <= q->buffer)) {
        p.at = q->buffers + (size_t)(at & q->mask) * q->buffer;
    } else {
        memif_blame(m, MEMIF_FAULT_LENGTH, p.length, q->buffer);
    }
    return p;
}

// Clients leave a descriptor's flag as it is when they use it again, for a frame of one buffer, too
// (DPDK's driver): it is for the server to take it away.
static void memif_unchain(const struct memif_ring *q, unsigned n) {
    for (unsigned i = 0; i + 1 < n; i++)
        STORE(q->shared->desc[(q->at + i) & q->mask].flags, 0);
}

// Copies one frame of at most 'waiting' descriptors. Returns how many it has; 0: its end is not
// there yet, or the peer was blamed. The length is 0 when the frame is empty or has more bytes than
// 'room'.
static inline unsigned memif_take(struct memif *m, const struct memif_link *l,
                                  const struct memif_ring *q, unsigned waiting,
                                  struct memif_frame *frame, uint32_t room, bool server) {
    struct memif_piece p = memif_read(m, l, q, q->at, server);
    frame->length = 0;
    if (!p.at)
        return 0;
    bool fits = p.length <= room;
    if (LIKELY(fits))
        memif_copy(frame->data, p.at, p.length);
    uint32_t length = p.length;
    unsigned n = 1;
    for (; p.more; n++) {
        if (n == MEMIF_MOST_CHAIN || n == q->size) {
            memif_blame(m, MEMIF_FAULT_CHAIN, n + 1, 0);
            return 0;
        }
        if (n == waiting)
            return 0;
        p = memif_read(m, l, q, (uint16_t)(q->at + n), server);
        if (!p.at)
            return 0;
        fits = fits && p.length <= room - length;
        if (fits)
            memcpy(frame->data + length, p.at, p.length);
        length = fits ? length + p.length : length;
    }
    frame->length = fits ? length : 0;
    if (server && n > 1)
        memif_unchain(q, n);
    return n;
}

// The buffers of 'n' descriptors are empty again. Where they are a client never reads: a server
// that wrote over that misleads itself.
static void memif_refill(const struct memif_ring *q, uint16_t at, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        struct memif_desc *d = &q->shared->desc[(at + i) & q->mask];
        STORE(d->flags, 0);
        STORE(d->length, q->buffer);
    }
}

static inline unsigned memif_receive_from(struct memif *m, const struct memif_link *l,
                                          struct memif_ring *q, struct memif_frame *frames,
                                          unsigned n, uint32_t room, bool server) {
    struct memif_head *ring = q->shared;
    const uint16_t to = __atomic_load_n(server ? &ring->head : &ring->tail, __ATOMIC_ACQUIRE);
    const uint16_t from = q->at;
    unsigned waiting = (uint16_t)(to - from), got = 0, looked = 0;
    if (waiting > q->size) {
        memif_blame(m, MEMIF_FAULT_POSITION, waiting, q->size);
        return 0;
    }
    while (got < n && waiting > 0 && looked < MEMIF_MOST_READ) {
        const unsigned took = memif_take(m, l, q, waiting, &frames[got], room, server);
        if (took == 0)
            break;
        q->at = (uint16_t)(q->at + took);
        waiting -= took;
        looked += took;
        if (LIKELY(frames[got].length > 0))
            got++;
        else
            atomic_fetch_add_explicit(&m->rx_errors, 1, memory_order_relaxed);
    }
    if (looked == 0)
        return 0;
    if (server) {
        __atomic_store_n(&ring->tail, q->at, __ATOMIC_RELEASE);
    } else {
        memif_refill(q, from, looked);
        __atomic_store_n(&ring->head, (uint16_t)(q->at + q->size), __ATOMIC_RELEASE);
    }
    return got;
}

// ---- sending ----

// The peer sleeps unless it says otherwise.
static void memif_ring_bell(const struct memif *m, struct memif_ring *q) {
    if (!(LOAD(q->shared->flags) & MEMIF_MASK_BELL)) {
        memif_bell_ring(&m->bell, q->bell);
        q->due = false;
    }
}

// A peer that was about to sleep may not have seen what was sent; nor we, that it was. Since then
// the link was let go and held again, which puts both in order.
static inline void memif_ring_bell_again(const struct memif *m, struct memif_ring *q) {
    if (q->due) {
        memif_ring_bell(m, q);
        q->due = false;
    }
}

// The empty buffer at a position.
static inline struct memif_piece memif_room(struct memif *m, const struct memif_link *l,
                                            const struct memif_ring *q, uint16_t at, bool server) {
    if (!server)
        return (struct memif_piece){.at = q->buffers + (size_t)(at & q->mask) * q->buffer,
                                    .length = q->buffer};
    struct memif_desc *d = &q->shared->desc[at & q->mask];
    struct memif_piece p = {.length = LOAD(d->length)};
    p.at = memif_buffer(m, l, LOAD(d->region), LOAD(d->offset), p.length);
    return p;
}

static inline void memif_write(const struct memif_ring *q, uint16_t at, uint32_t length,
                               bool more) {
    struct memif_desc *d = &q->shared->desc[at & q->mask];
    STORE(d->flags, more ? MEMIF_CHAINED : 0);
    STORE(d->length, length);
}

// A frame that needs more than one buffer: only when all of them are known is any written. 0: there
// are not enough; UINT_MAX: there never will be, or the peer was blamed.
static __attribute__((noinline)) unsigned
memif_put_chain(struct memif *m, const struct memif_link *l, struct memif_ring *q, unsigned empty,
                const struct memif_frame *frame, bool server) {
    struct memif_piece pieces[MEMIF_MOST_CHAIN];
    uint32_t left = frame->length;
    unsigned n = 0;
    for (; left > 0; n++) {
        if (n == MEMIF_MOST_CHAIN || n == q->size)
            return UINT32_MAX;
        if (n == empty)
            return 0;
        pieces[n] = memif_room(m, l, q, (uint16_t)(q->at + n), server);
        if (!pieces[n].at)
            return UINT32_MAX;
        if (pieces[n].length > left)
            pieces[n].length = left;
        left -= pieces[n].length;
    }
    const uint8_t *from = frame->data;
    for (unsigned i = 0; i < n; i++) {
        memcpy(pieces[i].at, from, pieces[i].length);
        from += pieces[i].length;
        memif_write(q, (uint16_t)(q->at + i), pieces[i].length, i + 1 < n);
    }
    return n;
}

// Returns as memif_put_chain.
static inline unsigned memif_rings_put(struct memif *m, const struct memif_link *l,
                                       struct memif_ring *q, unsigned empty,
                                       const struct memif_frame *frame, bool server) {
    if (frame->length == 0)
        return UINT32_MAX;
    const struct memif_piece p = memif_room(m, l, q, q->at, server);
    if (!LIKELY(p.at && p.length >= frame->length))
        return p.at ? memif_put_chain(m, l, q, empty, frame, server) : UINT32_MAX;
    memif_copy(p.at, frame->data, frame->length);
    memif_write(q, q->at, frame->length, false);
    return 1;
}

static inline unsigned memif_send_to(struct memif *m, const struct memif_link *l,
                                     struct memif_ring *q, const struct memif_frame *frames,
                                     unsigned n, bool server) {
    struct memif_head *ring = q->shared;
    const uint16_t other = __atomic_load_n(server ? &ring->head : &ring->tail, __ATOMIC_ACQUIRE);
    unsigned empty = server ? (uint16_t)(other - q->at) : (uint16_t)(q->at - other);
    unsigned sent = 0, looked = 0;
    if (empty > q->size) {
        memif_blame(m, MEMIF_FAULT_POSITION, empty, q->size);
        return 0;
    }
    empty = server ? empty : q->size - empty;
    const uint16_t from = q->at;
    for (; sent < n && empty > 0 && looked < MEMIF_MOST_READ; sent++) {
        const unsigned took = memif_rings_put(m, l, q, empty, &frames[sent], server);
        if (took == 0 || atomic_load_explicit(&m->fault, memory_order_relaxed))
            break;
        if (took == UINT32_MAX) {
            atomic_fetch_add_explicit(&m->tx_errors, 1, memory_order_relaxed);
            looked += MEMIF_MOST_CHAIN;
            continue;
        }
        q->at = (uint16_t)(q->at + took);
        empty -= took;
        looked += took;
    }
    if (q->at != from) {
        __atomic_store_n(server ? &ring->tail : &ring->head, q->at, __ATOMIC_RELEASE);
        q->due = true;
        memif_ring_bell(m, q);
    }
    return sent;
}

// ---- the face ----

static struct memif_link *memif_usable(struct memif *m) {
    return atomic_load_explicit(&m->fault, memory_order_relaxed) ? NULL : m->link;
}

unsigned memif_receive(struct memif *m, unsigned queue, struct memif_frame *frames, unsigned n,
                       uint32_t room) {
    unsigned got = 0;
    if (!memif_hold(m))
        return 0;
    struct memif_link *l = memif_usable(m);
    if (l) {
        memif_ring_bell_again(m, &l->tx);
        if (queue < l->n_rx && l->server)
            got = memif_receive_from(m, l, &l->rx[queue], frames, n, room, true);
        else if (queue < l->n_rx)
            got = memif_receive_from(m, l, &l->rx[queue], frames, n, room, false);
    }
    memif_release(m);
    return got;
}

unsigned memif_send(struct memif *m, const struct memif_frame *frames, unsigned n) {
    unsigned sent = 0;
    if (!memif_hold(m))
        return 0;
    struct memif_link *l = memif_usable(m);
    if (l) {
        memif_ring_bell_again(m, &l->tx);
        sent = l->server ? memif_send_to(m, l, &l->tx, frames, n, true)
                         : memif_send_to(m, l, &l->tx, frames, n, false);
    }
    memif_release(m);
    return sent;
}

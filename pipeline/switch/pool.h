// SPDX-License-Identifier: Apache-2.0
//
// pool: a fixed set of packet buffers, allocated once.
//
// The packet path takes and returns buffers here and allocates nothing else. A buffer is laid out
// as
//
//     buf                  head                                        cap
//     | SK_HEADROOM        | growth | packet, at most packet_bytes     | slack
//
// A fresh packet starts with twice the guaranteed headroom, so that a packet whose headers grow in
// ingress needs no move before egress; sk_packet_recentre() moves it when the guarantee would be
// broken (a packet that grows again and again while it recirculates).
//
// The buffers may belong to a port (struct sk_buffers), so that a frame is sent from the buffer
// that received it. Such a pool keeps the few buffers that were used last, because they are in the
// cache.
//
// Not thread-safe: a pool belongs to one switch, and that to one thread.
#ifndef SILKEN_PIPELINE_SWITCH_POOL_H
#define SILKEN_PIPELINE_SWITCH_POOL_H

#include "pipeline/abi.h"

// Of a port: packets that are to be sent. Whoever is on the port's thread may put one in at the
// tail while fewer than SK_SEND_BURST - 1 wait; with more, the owner is asked to send.
#define SK_SEND_QUEUE 1024u
#define SK_SEND_BURST 32u
_Static_assert((SK_SEND_QUEUE & (SK_SEND_QUEUE - 1)) == 0, "indices wrap by a mask");
struct sk_send_queue {
    uint32_t head, tail; // counting up
    struct sk_packet *packets[SK_SEND_QUEUE];
};

static inline void sk_send_queue_put(struct sk_send_queue *q, uint32_t tail, struct sk_packet *p) {
    q->packets[tail % SK_SEND_QUEUE] = p;
    q->tail = tail + 1;
}

struct sk_buffers {
    // A packet with buf and cap set and observer null when it was last somebody else's, or null
    // when there is none: cap is at least 2 * SK_HEADROOM + the longest frame + SK_POOL_SLACK.
    // Called on the threads of all cores.
    struct sk_packet *(*get)(void *aux);
    void (*put)(void *aux, struct sk_packet *p);
    // Takes the packet over unless it returns false, as the switch's tx does.
    bool (*send)(void *aux, uint16_t dev_port, struct sk_packet *p);
    void *aux;
    struct sk_send_queue
        *queue[SK_PORTS]; // null: the port has none, and packets are given to 'send'
};

#define SK_POOL_START   (2 * SK_HEADROOM)
#define SK_POOL_AT_HAND 64u // of somebody else's buffers

// A frame that stays where it is while a packet is made of it is no buffer: before it are
// SK_POOL_START bytes that may be written, after it SK_POOL_SLACK that may be read. It is a guest
// of the pool, with a packet of the pool's own and that one's buffer, which it moves to when it
// needs more room.

struct sk_pool {
    struct sk_packet *free;
    uint32_t n_free;                  // with those that were never used
    const struct sk_buffers *buffers; // null: its own
    int64_t in_use;                   // of somebody else's: taken or adopted, not put back
    struct sk_packet *guest;          // or null
    struct sk_packet *host;           // for the next guest: the packet of the last, or null
    uint8_t *guest_buf;               // that packet's own buffer
    uint32_t cap;                     // of its own
    uint32_t n_packets, n_carved;     // its own; of them those that were in the list once
    struct sk_packet *packets;
    uint8_t *memory;
};

// Null when memory is short.
struct sk_pool *sk_pool_new_of(const struct sk_buffers *buffers);
struct sk_pool *sk_pool_new(uint32_t n_packets, uint32_t packet_bytes);
void sk_pool_free(struct sk_pool *pool); // null allowed; every packet must be back

// The pool's buffers are somebody else's. Then its count of packets says little on its own: a
// buffer may come back to another core's pool.
static inline bool sk_pool_is_shared(const struct sk_pool *pool) {
    return pool->buffers;
}
static inline int64_t sk_pool_in_use(const struct sk_pool *pool) { // shared only
    return pool->in_use;
}
static inline uint32_t sk_pool_available(const struct sk_pool *pool) {
    return pool->n_free;
}

// Without a past, of a pool that has counted it as in use.
static inline void sk_pool_adopted(struct sk_pool *pool, struct sk_packet *p) {
    _Static_assert(offsetof(struct sk_packet, resubmitted) == 56, "the last word of its line");
    p->pool = pool;
    memset((char *)p + 56, 0, 8); // one store
}
// A packet that somebody else filled in, out of 'buffers', becomes one of the pool's: it has
// buffer, head, len, and no past.
static inline void sk_pool_adopt(struct sk_pool *pool, struct sk_packet *p) {
    pool->in_use++;
    sk_pool_adopted(pool, p);
}
// The packet that is there for the next guest, as any other; null when there is none, or has a
// guest.
struct sk_packet *sk_pool_take_host(struct sk_pool *pool);
// Of a pool whose list is empty, with buffers of its own: one that was never used, or the host.
struct sk_packet *sk_pool_take_other(struct sk_pool *pool);
// A buffer for another pool: with whatever it had in it, its pool is to be set.
static inline struct sk_packet *sk_pool_take(struct sk_pool *pool) {
    struct sk_packet *p = pool->free;
    if (p) {
        pool->free = p->next;
        pool->n_free--;
        return p;
    }
    return pool->buffers ? pool->buffers->get(pool->buffers->aux) : sk_pool_take_other(pool);
}
// An empty packet (length 0, without a past), or null when none is free.
static inline struct sk_packet *sk_pool_get(struct sk_pool *pool) {
    struct sk_packet *p = sk_pool_take(pool);
    if (!p)
        return NULL;
    sk_pool_adopt(pool, p);
    p->head = SK_POOL_START;
    p->len = 0;
    return p;
}
// The guest is another frame's, as if it had been put back and got again.
static inline void sk_pool_next_guest(struct sk_packet *p, uint8_t *frame, uint32_t length) {
    memset((char *)p + 56, 0, 8); // sk_pool_adopted
    p->buf = frame - SK_POOL_START;
    p->cap = SK_POOL_START + length + SK_POOL_SLACK;
    p->head = SK_POOL_START;
    p->len = length;
}
// A packet of a frame that stays where it is, or null when none is free. One at a time, and not of
// buffers that are somebody else's.
static inline struct sk_packet *sk_pool_get_guest(struct sk_pool *pool, uint8_t *frame,
                                                  uint32_t length) {
    struct sk_packet *p = pool->host;
    if (!p) {
        p = sk_pool_take(pool);
        if (!p)
            return NULL;
        pool->host = p;
        pool->guest_buf = p->buf;
    }
    p->pool = pool;
    pool->in_use++;
    pool->guest = p;
    sk_pool_next_guest(p, frame, length);
    return p;
}
// The host has its own buffer again, and is no host any more.
static inline void sk_pool_end_host(struct sk_pool *pool) {
    pool->host->buf = pool->guest_buf;
    pool->host->cap = pool->cap;
    pool->host = pool->guest = NULL;
}
// After the last guest.
void sk_pool_no_guests(struct sk_pool *pool);
static inline void sk_pool_put(struct sk_packet *p) {
    struct sk_pool *pool = p->pool;
    pool->in_use--;
    if (p == pool->guest) {
        pool->guest = NULL; // and is there for the next
        return;
    }
    if (pool->buffers && pool->n_free >= SK_POOL_AT_HAND) {
        pool->buffers->put(pool->buffers->aux, p);
        return;
    }
    p->next = pool->free;
    pool->free = p;
    pool->n_free++;
}
// Gives the packet to its buffers' owner to send; false: it is the caller's.
static inline bool sk_pool_send(struct sk_packet *p, uint16_t dev_port) {
    struct sk_pool *pool = p->pool;
    const struct sk_buffers *b = pool->buffers;
    struct sk_send_queue *q = b->queue[dev_port];
    if (__builtin_expect(q && q->tail - q->head < SK_SEND_BURST - 1, 1))
        sk_send_queue_put(q, q->tail, p);
    else if (!b->send(b->aux, dev_port, p))
        return false;
    pool->in_use--;
    return true;
}

// Moves the packet to where it has SK_HEADROOM bytes in front, a guest into its own buffer. False
// when it has outgrown its buffer.
bool sk_packet_move(struct sk_packet *p);
// Sees to it that the packet is centred; false when it has outgrown its buffer.
static inline bool sk_packet_recentre(struct sk_packet *p) {
    return __builtin_expect(sk_packet_is_centred(p), 1) || sk_packet_move(p);
}

#endif

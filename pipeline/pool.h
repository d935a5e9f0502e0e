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
// The buffers may be somebody else's (struct sk_buffers), a port's, so that a frame is sent out of
// the buffer that it was received into. Such a pool keeps a few at hand, those used last, because
// they are in cache.
//
// Not thread-safe: a pool belongs to one switch, and that to one thread.
#ifndef SILKEN_PIPELINE_POOL_H
#define SILKEN_PIPELINE_POOL_H

#include "pipeline/abi.h"

// Vector loads of the payload may be rounded up to one cache line.
#define SK_POOL_SLACK 64u

struct sk_buffers {
    // A packet with buf and cap set, or null when there is none: cap is at least
    // 2 * SK_HEADROOM + the longest frame + SK_POOL_SLACK. Called on the threads of all cores.
    struct sk_packet *(*get)(void *aux);
    void (*put)(void *aux, struct sk_packet *p);
    // Takes the packet over unless it returns false, as the switch's tx does.
    bool (*send)(void *aux, uint16_t dev_port, struct sk_packet *p);
    void *aux;
};

// Null when memory is short.
struct sk_pool *sk_pool_new_of(const struct sk_buffers *buffers);
struct sk_pool *sk_pool_new(uint32_t n_packets, uint32_t packet_bytes);
void sk_pool_free(struct sk_pool *pool); // null allowed; every packet must be back

// An empty packet (length 0, all metadata zero), or null when none is free.
struct sk_packet *sk_pool_get(struct sk_pool *pool);
// A buffer for another pool: with whatever it had in it, its pool is to be set.
struct sk_packet *sk_pool_take(struct sk_pool *pool);
void sk_pool_put(struct sk_packet *p);
uint32_t sk_pool_available(const struct sk_pool *pool);

// A packet that somebody else filled in, out of 'buffers': its metadata become zero, head and len
// stay.
void sk_pool_adopt(struct sk_pool *pool, struct sk_packet *p);
// The pool's buffers are somebody else's. Then its count of packets says little on its own: a buffer
// may come back to another core's pool.
bool sk_pool_is_shared(const struct sk_pool *pool);
int64_t sk_pool_in_use(const struct sk_pool *pool); // taken or adopted, not put back; shared only
// Gives the packet to its buffers' owner to send; false: it is the caller's.
bool sk_pool_send(struct sk_packet *p, uint16_t dev_port);

// Moves the packet to where it has SK_HEADROOM bytes in front. False when it has outgrown its buffer.
bool sk_packet_move(struct sk_packet *p);
// Sees to SK_HEADROOM bytes in front of the packet; false as above.
static inline bool sk_packet_recentre(struct sk_packet *p) {
    bool centred = p->head >= SK_HEADROOM && p->head + p->len + SK_POOL_SLACK <= p->cap;
    return centred || sk_packet_move(p);
}

#endif

// SPDX-License-Identifier: Apache-2.0
//
// send: the end of a packet's way: it is sent, dropped, or recirculates.
//
// Received + copies + generated = sent + dropped + inside (struct sk_switch_stats), so every packet
// that leaves is counted once. count_sent() counts packets that are sent. It has three callers:
// hand_over_made(), for packets with special requests, send_straight(), for packets of a burst
// without any, and send_crossed(), for such that came from another core; send_count_many() those
// that a port sent as one frame. drop(), count_drops() and send.c count dropped packets. A packet
// that leaves elsewhere unbalances the sum, which sk_switch_free() asserts.
//
// 'plain' is a constant: no timed events, observers or simulated loss (send_is_plain).
#ifndef SILKEN_PIPELINE_PATH_SEND_H
#define SILKEN_PIPELINE_PATH_SEND_H

#include "pipeline/hop.h"
#include "pipeline/observe/recorder_impl.h"
#include "pipeline/switch/switch_impl.h"
#include "wire/roce.h"

#define INLINE static inline __attribute__((always_inline))

// splitmix64: one multiplication chain per packet, any seed is a good one.
static inline bool lost(struct sk_core *core) {
    if (core->fault_threshold == 0)
        return false;
    uint64_t z = core->fault_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) >> 11 < core->fault_threshold;
}

// No timed events, no observers, no simulated loss, and a Tofino 1. A recording is allowed: it
// makes copies, wherever a packet arrives, leaves or ends.
static inline bool send_is_plain(const struct sk_core *core) {
    return !core->watched && !core->fault_threshold && !core->n_shaped && !core->n_pktgens &&
           !core->tofino_2;
}

// ---- dropped ----

// Of a packet that nobody watches, at a port that is there.
INLINE void drop(struct sk_core *core, struct sk_packet *p, uint16_t port, enum sk_drop_reason r) {
    if (__builtin_expect(core->recorder != NULL, 0))
        recorder_dropped(core->recorder, p, port, r, core->now);
    core->stats.drops[r]++;
    core->ports[port].stats.drops[r]++;
    sk_pool_put(p);
}

// Drops that are alike are counted when another one comes.
struct drops {
    uint16_t port;
    enum sk_drop_reason reason;
    uint64_t n;
};
static inline void count_drops(struct sk_core *core, struct drops *d) {
    core->stats.drops[d->reason] += d->n;
    core->ports[d->port].stats.drops[d->reason] += d->n;
    d->n = 0;
}
INLINE void count_drop(struct sk_core *core, struct drops *d, uint16_t port,
                       enum sk_drop_reason reason) {
    if (__builtin_expect(d->port != port || d->reason != reason, 0)) {
        count_drops(core, d);
        d->port = port;
        d->reason = reason;
    }
    d->n++;
}

// ---- sent ----

static inline bool has_tag(const struct sk_packet *p) {
    const uint8_t *const type = sk_packet_data(p) + 12;
    return p->len >= 16 && type[0] == 0x81 && type[1] == 0x00;
}

INLINE bool too_long(const struct port *port, const struct sk_packet *p) {
    return __builtin_expect(p->len > port->longest, 0) &&
           (p->len > port->longest_tagged || !has_tag(p));
}

// SK_DROP_COUNT: it may be sent.
INLINE enum sk_drop_reason why_not_sent(struct sk_core *core, const struct sk_packet *p,
                                        const bool plain) {
    if (too_long(&core->ports[p->egress_port], p))
        return SK_DROP_TOO_LONG;
    if (p->len == 0)
        return SK_DROP_TOO_SHORT;
    return !plain && lost(core) ? SK_DROP_FAULT : SK_DROP_COUNT;
}

// As its port's card would: it leaves with a right invariant CRC.
static void __attribute__((noinline)) send_seal(const struct sk_packet *p) {
    if (roce_is(sk_packet_data(p), p->len))
        roce_seal(sk_packet_data(p));
}

static inline void count_sent(struct sk_core *core, struct port *port, uint32_t length) {
    core->stats.tx_packets++;
    port->stats.tx_packets++;
    port->stats.tx_bytes += length;
}

// Packets that a port sent as one frame (sk_core_alike_sent).
static inline void send_count_many(struct sk_core *core, uint16_t port, uint32_t packets,
                                   uint64_t bytes) {
    core->stats.tx_packets += packets;
    core->ports[port].stats.tx_packets += packets;
    core->ports[port].stats.tx_bytes += bytes;
}

// Gives the packet, which is as it is to leave, to its port: with its buffer if 'whole', else a
// copy of its bytes. SK_DROP_COUNT: it is sent, and counted; else it is the caller's, to be dropped
// for that reason.
INLINE enum sk_drop_reason hand_over_made(struct sk_core *core, struct sk_packet *p,
                                          const bool whole) {
    const uint16_t port = p->egress_port;
    const uint32_t length = p->len;
    const bool recorded = __builtin_expect(core->recorder != NULL, 0) &&
                          recorder_sending(core->recorder, p, core->now);
    const bool taken =
        whole ? sk_pool_send(p, port) : core->tx(core->aux, port, sk_packet_data(p), length);
    if (recorded)
        recorder_sent(core->recorder, taken);
    if (!taken)
        return SK_DROP_TX_FULL;
    count_sent(core, &core->ports[port], length);
    return SK_DROP_COUNT;
}

// The same of one that has yet to get its invariant CRC, if it is to have one.
INLINE enum sk_drop_reason hand_over(struct sk_core *core, struct sk_packet *p, const bool whole,
                                     const bool plain) {
    const enum sk_drop_reason r = why_not_sent(core, p, plain);
    if (__builtin_expect(r != SK_DROP_COUNT, 0))
        return r;
    if (__builtin_expect(core->invariant_crc, 0))
        send_seal(p);
    return hand_over_made(core, p, whole);
}

// Gives these bytes to a port, or drops the packet whose they are; its buffer is the caller's. For
// who knows that nothing but the port can be in the packet's way, and does not look at it.
INLINE void send_crossed(struct sk_core *core, const struct sk_packet *p, uint16_t port,
                         const uint8_t *bytes, uint32_t length) {
    if (__builtin_expect(core->tx(core->aux, port, bytes, length), 1))
        count_sent(core, &core->ports[port], length);
    else
        core_refuse(core, p, port, SK_DROP_TX_FULL);
}

// Of a copy whose bytes are the packet's: it leaves with an invariant CRC of its own, and then the
// bytes are what they were. They are 'copies' with others'.
static enum sk_drop_reason __attribute__((noinline))
hand_over_sealed(struct sk_core *core, struct sk_packet *p, struct roce_copies *copies,
                 bool plain) {
    const enum sk_drop_reason r = why_not_sent(core, p, plain);
    if (__builtin_expect(r != SK_DROP_COUNT, 0))
        return r;
    uint8_t *const data = sk_packet_data(p), *const at = roce_crc_of(data);
    uint8_t crc[ROCE_CRC_BYTES];
    memcpy(crc, at, sizeof crc);
    roce_seal_copy(data, copies);
    const enum sk_drop_reason sent = hand_over_made(core, p, false);
    memcpy(at, crc, sizeof crc);
    return sent;
}

// The same of any.
INLINE enum sk_drop_reason hand_over_lent(struct sk_core *core, struct sk_packet *p,
                                          struct roce_copies *copies, const bool plain) {
    if (__builtin_expect(core->invariant_crc, 0) && roce_is(sk_packet_data(p), p->len))
        return hand_over_sealed(core, p, copies, plain);
    return hand_over(core, p, false, plain);
}

// Takes the packet over.
INLINE void transmit(struct sk_core *core, struct sk_packet *p, const bool plain) {
    // An observer is told when the packet is sent; what is given away cannot be shown then.
    const bool watched = !plain && core->watched;
    const bool whole = sk_pool_is_shared(core->pool) && !(watched && core->observer);
    const enum sk_drop_reason r = hand_over(core, p, whole, plain);
    if (__builtin_expect(r != SK_DROP_COUNT, 0)) {
        core_drop(core, p, p->egress_port, r);
        return;
    }
    if (whole)
        return;
    if (watched)
        core_tell(core, p, SK_EV_SENT, p->egress_port, 0, NULL);
    sk_pool_put(p);
}

// Where packets of a burst leave for, looked up when one goes somewhere else than the one before: a
// port that sends at once what it is given, by its queue.
struct leaving {
    uint16_t number; // SK_PORTS: nothing is known
    bool idle;       // egress is
    struct port *port;
    struct sk_send_queue *queue;
};

static inline struct leaving leave_for(struct sk_core *core, uint16_t number) {
    const struct pipe *pipe = &core->pipes[sk_port_pipe(number)];
    const struct sk_buffers *buffers = core->pool->buffers;
    struct leaving l = {.number = SK_PORTS};
    if (core->ways[number] & PORT_SENDS && !pipe->egress.first && buffers &&
        buffers->queue[number] && !core->invariant_crc)
        l = (struct leaving){number, pipe->desc->egress_idle, &core->ports[number],
                             buffers->queue[number]};
    return l;
}

// The packet is sent when it wishes to go to one port and to do nothing on its way, and nothing is
// in its way there. False: nothing has happened. No recorder is there.
INLINE bool send_straight(struct sk_core *core, struct sk_packet *p, uint64_t w,
                          struct leaving *l) {
    const uint16_t number = SK_WISH_PORT(w);
    if ((w & (SK_WISHES_OF_WAY & ~SK_WISH_BYPASS)) != SK_WISH_UCAST)
        return false;
    if (__builtin_expect(number != l->number, 0)) {
        *l = leave_for(core, number);
        if (l->number != number)
            return false;
    }
    struct sk_send_queue *const q = l->queue;
    struct port *const port = l->port;
    const uint32_t length = p->len, tail = q->tail;
    if (!(w & SK_WISH_BYPASS || l->idle) || length == 0 || too_long(port, p) ||
        tail - q->head >= SK_SEND_BURST - 1) // then the owner of the queue is to look after it
        return false;
    p->egress_port = number;
    sk_send_queue_put(q, tail, p);
    core->pool->in_use--;
    count_sent(core, port, length);
    return true;
}

// ---- into ingress again ----

// The packet, on its way into ingress again; null when it ended.
INLINE struct sk_packet *recirculate(struct sk_core *core, struct sk_packet *p, uint64_t now_ns,
                                     const bool plain) {
    if (p->passes >= core->max_recirculation) {
        core_drop(core, p, p->egress_port, SK_DROP_RECIRC_LIMIT);
        return NULL;
    }
    if (!sk_packet_recentre(p)) {
        core_drop(core, p, p->egress_port, SK_DROP_TOO_LONG);
        return NULL;
    }
    if (!plain)
        core_tell(core, p, SK_EV_RECIRCULATED, p->egress_port, 0, NULL);
    p->passes++;
    p->resubmitted = false;
    p->ingress_port = p->egress_port;
    p->arrived = (uint16_t)p->len;
    p->mac_tstamp = now_ns & SK_TSTAMP_MASK;
    core->stats.recirculated++;
    struct pipe *pipe = &core->pipes[sk_port_pipe(p->ingress_port)];
    if (!plain && core->n_pktgens)
        pktgen_recirculated(core, p, now_ns);
    if (pipe->again == 0)
        return p;
    ingress_push(pipe, p); // after those that came before it
    return NULL;
}

// The packet's end at the port that it was given: there, or from there into ingress again. What
// goes on in ingress at once, or null.
INLINE struct sk_packet *to_port(struct sk_core *core, struct sk_packet *p, bool recirculates,
                                 uint64_t now_ns, const bool plain) {
    if (recirculates)
        return recirculate(core, p, now_ns, plain);
    transmit(core, p, plain);
    return NULL;
}

#endif

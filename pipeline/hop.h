// SPDX-License-Identifier: Apache-2.0
//
// hop: from one pass of ingress into the next, when a packet goes to a port that recirculates, past
// egress, and nothing is in its way.
//
// An aggregation of 256 elements makes eleven passes, and what lies between two of them is small
// beside calling the engine. So the engine says beforehand where that is allowed
// (sk_ingress_out.hops), and a program's ingress goes on by itself; what it does not take up, or is
// not allowed, the engine does with the same functions.
//
//     again:
//         ... a pass, which wishes w and leaves the packet at 'front' ...
//         if (sk_hop_on(packet, out, w, self, front, now, &pipe))
//             goto again;
//         return w;
//
// Between two passes the packet may be in two pieces, its headers from 'front' on and what is after
// them from 'tail' on (compiler/plan/split_packet.c): sk_put_together makes it one again.
//
// Thread-safety: a packet's, and that of its pipe.
#ifndef SILKEN_PIPELINE_HOP_H
#define SILKEN_PIPELINE_HOP_H

#include "pipeline/abi.h"
#include "pipeline/prefix.h"
#include "stages/parse.h"

// What decides where a packet goes, of the wishes that are a word.
#define SK_WISH_DROPS (UINT64_C(1) << SK_WISH_DROP_AT) // the bit of drop_ctl that drops it
#define SK_WISHES_OF_WAY                                                                           \
    (SK_WISHES_IN_OUT | SK_WISH_MCAST_A | SK_WISH_RESUBMIT | SK_WISH_DROPS | SK_WISH_UCAST |       \
     SK_WISH_BYPASS)

// To one port, past egress.
static inline bool sk_wish_is_past_egress(uint64_t w) {
    return (w & SK_WISHES_OF_WAY) == (SK_WISH_UCAST | SK_WISH_BYPASS);
}

// What the parser sees before a packet that begins at 'frame' and has come around by this port, at
// 'stamp': of a Tofino.
static inline void sk_hop_prefix(uint8_t *frame, const struct sk_hop *h, uint16_t port,
                                 uint64_t stamp) {
    sk_ingress_prefix(frame, false, port, stamp, h->metadata);
}

// The packet has come around so many times, the last time by this port and with so many bytes.
static inline void sk_hopped(struct sk_packet *p, unsigned hops, uint16_t port, uint64_t stamp,
                             uint32_t bytes) {
    p->ingress_port = port;
    p->arrived = (uint16_t)bytes;
    p->mac_tstamp = stamp;
    p->resubmitted = false;
    p->passes = (uint8_t)(p->passes + hops);
}

// How often the packet may come around before the engine is to see it again.
static inline unsigned sk_hops_left(const struct sk_packet *p, const struct sk_ingress_out *out) {
    return p->passes < out->max_passes ? out->max_passes - p->passes : 0;
}

// Where 'self' may go on with a packet of which a pass wished 'w', and which may come around 'left'
// times; null: the engine goes on with it. 'room': there is room before the packet for all that a
// pass may write there, as the engine guarantees.
static inline const struct sk_hop *sk_hop_to(const struct sk_ingress_out *out, uint64_t w,
                                             sk_ingress_fn self, unsigned left, bool room) {
    if (!sk_wish_is_past_egress(w) || left == 0 || !room)
        return NULL;
    const struct sk_hop *h = &out->hops[SK_WISH_PORT(w)];
    return h->ingress == self ? h : NULL;
}
static inline bool sk_has_room(const struct sk_packet *p, const uint8_t *front) {
    return front - p->buf >= SK_HEADROOM;
}

// Whether 'self' goes on with a packet of which a pass wished 'w', in the pipe whose state is put
// into 'pipe'; else nothing has happened. The packet begins at 'front', which the caller has at
// hand, as it has the pass's time: to ask the packet would be to wait for what has just been stored
// there.
static inline bool sk_hop_on(struct sk_packet *p, const struct sk_ingress_out *out, uint64_t w,
                             sk_ingress_fn self, uint8_t *front, uint64_t now,
                             struct sk_pipe **pipe) {
    const struct sk_hop *const h =
        sk_hop_to(out, w, self, sk_hops_left(p, out), sk_has_room(p, front));
    const uint16_t port = SK_WISH_PORT(w);
    if (!h)
        return false;
    sk_hop_prefix(front, h, port, now);
    sk_hopped(p, 1, port, now, p->len);
    *pipe = h->pipe;
    return true;
}

// The end of a function that has gone on without telling the packet: it may come around 'left'
// times by now, and had so many bytes when it last did.
static inline void sk_hop_end(struct sk_packet *p, const struct sk_ingress_out *out, unsigned left,
                              uint16_t port, uint64_t stamp, uint32_t bytes) {
    const unsigned hops = sk_hops_left(p, out) - left;
    if (hops)
        sk_hopped(p, hops, port, stamp, bytes);
}

// How often a packet in two pieces may come around, by which port it has, and how many bytes its
// headers have, in one word.
#define SK_SPLIT_WAY(left, port, seam)                                                             \
    ((uint64_t)(seam) << 32 | (uint32_t)(port) << 16 | (uint32_t)(left))
#define SK_SPLIT_LEFT(way) ((unsigned)((way)&0xffff))
#define SK_SPLIT_PORT(way) ((uint16_t)((way) >> 16))
#define SK_SPLIT_SEAM(way) ((uint32_t)((way) >> 32))

// Puts the 'seam' bytes of headers at 'front' before what begins at 'tail': the packet, which ends
// at 'end', is in one piece.
static inline void sk_put_together(struct sk_packet *p, const uint8_t *front, uint8_t *tail,
                                   size_t seam, const uint8_t *end) {
    uint8_t *const to = tail - seam;
    if (to != front)
        sk_move_back(tail, front + seam, seam);
    p->head = (uint32_t)(to - p->buf);
    p->len = (uint32_t)(end - to);
}

// The same with room for 'bytes' bytes between the two: where the headers begin.
static inline uint8_t *sk_make_room(const uint8_t *front, uint8_t *tail, size_t seam,
                                    size_t bytes) {
    sk_move_back(tail - bytes, front + seam, seam);
    return tail - bytes - seam;
}

#endif

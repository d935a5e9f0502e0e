// SPDX-License-Identifier: Apache-2.0
//
// hop: from one pass of ingress into the next, when a packet goes to a port that recirculates, past egress, and
// nothing is in its way.
//
// An aggregation of 256 elements makes eleven passes, and what lies between two of them is small beside calling
// the engine. So the engine says beforehand where that is allowed (sk_ingress_out.hops), and a program's
// ingress goes on by itself; what it does not take up, or is not allowed, the engine does with the same functions.
//
//     again:
//         ... a pass, which wishes w ...
//         if (sk_hop_on(packet, out, w, self, front, now, &pipe))
//             goto again;
//         return w;
//
// Thread-safety: a packet's, and that of its pipe.
#ifndef SILKEN_PIPELINE_HOP_H
#define SILKEN_PIPELINE_HOP_H

#include <endian.h>
#include <string.h>

#include "pipeline/abi.h"

// What decides where a packet goes, of the wishes that are a word.
#define SK_WISH_DROPS (UINT64_C(1) << SK_WISH_DROP_AT) // the bit of drop_ctl that drops it
#define SK_WISHES_OF_WAY                                                                           \
    (SK_WISHES_IN_OUT | SK_WISH_MCAST_A | SK_WISH_RESUBMIT | SK_WISH_DROPS | SK_WISH_UCAST |       \
     SK_WISH_BYPASS)

// To one port, past egress.
static inline bool sk_wish_is_past_egress(uint64_t w) {
    return (w & SK_WISHES_OF_WAY) == (SK_WISH_UCAST | SK_WISH_BYPASS);
}

// The packet, of a Tofino, whose first byte is at 'frame', has passed the port at 'stamp': it is as it comes into the
// port's ingress, with its prefix.
static inline void sk_hop(struct sk_packet *p, uint8_t *frame, const struct sk_hop *h,
                          uint16_t port, uint64_t stamp) {
    const uint64_t first = htobe64((uint64_t)port << 48 | stamp);
    memcpy(frame - SK_INGRESS_PREFIX, &first, 8);
    memcpy(frame - SK_INGRESS_PREFIX + 8, h->metadata, 8);
    p->ingress_port = port;
    p->mac_tstamp = stamp;
    p->resubmitted = false;
    p->passes++;
}

// Whether 'self' goes on with a packet of which a pass wished 'w', in the pipe whose state is put into 'pipe'; else
// nothing has happened, and the function returns. The packet begins at 'front', which the caller has at hand, as it has
// the pass's time: to ask the packet would be to wait for what has just been stored there. What is behind the packet
// has not changed since it was centred.
static inline bool sk_hop_on(struct sk_packet *p, const struct sk_ingress_out *out, uint64_t w,
                             sk_ingress_fn self, uint8_t *front, uint64_t now,
                             struct sk_pipe **pipe) {
    if (!sk_wish_is_past_egress(w))
        return false;
    const uint16_t port = SK_WISH_PORT(w);
    if (p->passes >= out->max_passes || front - p->buf < SK_HEADROOM)
        return false;
    const struct sk_hop *h = &out->hops[port];
    if (h->ingress != self)
        return false;
    sk_hop(p, front, h, port, now);
    *pipe = h->pipe;
    return true;
}

#endif

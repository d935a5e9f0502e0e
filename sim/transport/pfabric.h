// SPDX-License-Identifier: Apache-2.0
//
// pfabric: pFabric's hosts (Alizadeh et al., SIGCOMM 2013, section 5.2): a flow begins with a
// window as large as the bandwidth-delay product and keeps it; each packet is acknowledged by
// itself, so order does not matter; losses are found by a time-out alone, after which what is
// missing is sent again, from the front; after 'probe_after' time-outs in a row one packet at a
// time goes out until something comes back.
//
// The switch does the rest: it sends the packet of the flow that has least left, and drops that
// which has most. A chip cannot push out what is queued, and has 32 queues in 8 priorities: see
// levels.h for what comes nearest.
//
// Sender and receiver use one bitmap each, of segments.
#ifndef SILKEN_SIM_TRANSPORT_PFABRIC_H
#define SILKEN_SIM_TRANSPORT_PFABRIC_H

#include <stddef.h>

#include "sim/transport/transport.h"

struct pfabric_config {
    uint32_t mss, window;      // bytes of a segment; segments
    uint64_t rto_min, rto_max; // the time-out is the least one: it does not follow the round trip
    uint32_t probe_after;
};

struct pfabric_stats {
    uint64_t segments, again, timeouts;
};

struct pfabric_sender {
    struct pfabric_config c;
    uint64_t bytes;
    uint32_t n, n_acked;      // segments
    uint64_t *acked, *flying; // bits
    uint32_t in_flight;
    uint32_t first, next; // the first that may not be acknowledged; to be looked at next
    uint32_t highest;     // the first that was never sent
    uint32_t timeouts;    // in a row
    uint64_t expires;
    struct pfabric_stats stats;
};

void pfabric_sender_init(struct pfabric_sender *s, const struct pfabric_config *c, uint64_t bytes);
void pfabric_sender_free(struct pfabric_sender *s);
bool pfabric_sender_next(struct pfabric_sender *s, uint64_t now, struct tr_segment *out);
// The segment that begins there has arrived.
void pfabric_sender_ack(struct pfabric_sender *s, uint64_t sequence, uint64_t now);
static inline uint64_t pfabric_sender_deadline(const struct pfabric_sender *s) {
    return s->expires;
}
void pfabric_sender_expire(struct pfabric_sender *s, uint64_t now);
// Bytes that are not acknowledged.
uint64_t pfabric_sender_left(const struct pfabric_sender *s);
static inline bool pfabric_sender_done(const struct pfabric_sender *s) {
    return s->n_acked == s->n;
}

struct pfabric_receiver {
    uint64_t *there; // bits
    uint32_t n, mss, n_there;
};
void pfabric_receiver_init(struct pfabric_receiver *r, uint32_t mss, uint64_t bytes);
void pfabric_receiver_free(struct pfabric_receiver *r);
// False: no such segment, which has no answer; a repeated one is acknowledged again.
bool pfabric_receiver_take(struct pfabric_receiver *r, uint64_t sequence);
static inline bool pfabric_receiver_done(const struct pfabric_receiver *r) {
    return r->n_there == r->n;
}

#endif

// SPDX-License-Identifier: Apache-2.0
//
// signal.h: signals that are repeated until they are acknowledged, and acknowledgements; internal
// to this room.
#ifndef SILKEN_HOSTS_DLCP_SIGNAL_H
#define SILKEN_HOSTS_DLCP_SIGNAL_H

#include "hosts/dlcp/peer.h"

// One kind of signal of a flow: the last one of it.
struct dlcp_signal {
    bool on; // it is not acknowledged
    uint32_t number;
    uint32_t tries;
    uint64_t at;      // when it is to be sent, or again
    uint64_t sent_at; // the last time
};

static inline void dlcp_signal_begin(struct dlcp_signal *s, uint32_t number, uint64_t now) {
    *s = (struct dlcp_signal){.on = true, .number = number, .at = now};
}

static inline bool dlcp_signal_is_due(const struct dlcp_signal *s, uint64_t now) {
    return s->on && s->at <= now;
}

static inline uint64_t dlcp_signal_deadline(const struct dlcp_signal *s) {
    return s->on ? s->at : SK_TIME_NEVER;
}

static inline void dlcp_signal_sent(struct dlcp_signal *s, const struct dlcp_peer *peer,
                                    uint64_t now) {
    s->sent_at = now;
    s->at = sk_time_add(now, sk_rto_backed_off(&peer->rto, s->tries++));
}

// An ACK has this number: whether it is for this signal. What was sent once is a measurement.
static inline bool dlcp_signal_acked(struct dlcp_signal *s, uint32_t number, struct dlcp_peer *peer,
                                     uint64_t now) {
    if (!s->on || s->number != number || s->tries == 0)
        return false;
    if (s->tries == 1)
        sk_rto_measure(&peer->rto, now - s->sent_at);
    s->on = false;
    return true;
}

// Acknowledgements that are to be sent. What finds no place is acknowledged when it comes again.
#define DLCP_ACKS 8u
struct dlcp_acks {
    uint32_t number[DLCP_ACKS];
    uint32_t n;
};

static inline void dlcp_acks_add(struct dlcp_acks *acks, uint32_t number) {
    if (acks->n < DLCP_ACKS)
        acks->number[acks->n++] = number;
}

static inline void dlcp_packet_signal(struct dlcp_packet *p, struct dlcp_name name,
                                      enum dlcp_kind kind, uint32_t number, struct dlcp_peer *peer,
                                      uint64_t now) {
    p->name = name;
    p->kind = kind;
    p->important = true;
    p->again = false;
    p->class = 0;
    p->port = (uint16_t)(peer->first_port + dlcp_peer_turn(peer, now));
    p->offset = 0;
    p->count = 0;
    p->contributions = 0;
    p->sequence = number;
    p->values = NULL;
    p->wire = NULL;
}

static inline bool dlcp_acks_next(struct dlcp_acks *acks, struct dlcp_packet *p,
                                  struct dlcp_name name, struct dlcp_peer *peer, uint64_t now) {
    if (acks->n == 0)
        return false;
    dlcp_packet_signal(p, name, DLCP_ACK, acks->number[--acks->n], peer, now);
    return true;
}

#endif

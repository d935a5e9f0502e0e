// SPDX-License-Identifier: Apache-2.0
//
// tcp: a TCP connection as two state machines, without the handshake: both ends know each other.
//
// SENDER. RFC 5681 (slow start, congestion avoidance, fast retransmit and recovery) with RFC 6582
// (NewReno: a partial acknowledgement sends the next hole again; the timer starts anew with the
// first one only), RFC 3042 (limited transmit), RFC 6298 (timer; the clock has no granularity), RFC
// 7323 (each acknowledgement returns the time of the segment that caused it, so repeated segments
// may be measured, too). There is no SACK: of several losses in a window one is repaired in a round
// trip. After an idle time of a time-out the window is the initial one again (RFC 5681, 4.1). No
// delayed acknowledgements.
//
//     NewReno   RFC 5681
//     CUBIC     RFC 9438, without HyStart++; 'cubic_c' for times that are scaled
//     DCTCP     RFC 8257: g = 1/16, alpha is 1 at first; losses as NewReno
//
// RECEIVER. Knows which bytes came, acknowledges each segment, and echoes that one was marked with
// congestion experienced.
#ifndef SILKEN_SIM_TRANSPORT_TCP_H
#define SILKEN_SIM_TRANSPORT_TCP_H

#include <stddef.h>

#include "sim/transport/transport.h"

enum tcp_control { TCP_NEWRENO, TCP_CUBIC, TCP_DCTCP };

struct tcp_config {
    enum tcp_control control;
    uint32_t mss;            // bytes of a full segment
    uint32_t initial_window; // segments
    uint32_t duplicates;     // acknowledgements after which a segment is taken for lost
    uint64_t rto_initial, rto_min, rto_max;
    double cubic_c; // segments / s^3
};

struct tcp_stats {
    uint64_t segments, again, timeouts, recoveries, marks;
};

struct tcp_sender {
    struct tcp_config c;
    uint64_t end;           // bytes that the application has given
    uint64_t acked;         // the first that is not acknowledged
    uint64_t next, highest; // to be sent next; the first that was never sent
    double window;          // bytes
    double threshold;       // slow start ends
    uint32_t duplicates;
    bool recovering, first_partial;
    uint64_t recover; // NewReno: what was sent when the last loss was seen
    bool repeat;      // the first that is not acknowledged, at once
    struct sk_rto rto;
    uint32_t backoff;
    uint64_t expires, sent_at;
    // CUBIC; windows in segments
    double window_max, origin, estimate, k;
    uint64_t epoch; // 0: it begins with the next acknowledgement
    // DCTCP
    double alpha;
    uint64_t round_end, reduced_until, round_acked, round_marked;
    struct tcp_stats stats;
};

void tcp_sender_init(struct tcp_sender *s, const struct tcp_config *c);
// So many more bytes are to be sent.
void tcp_sender_add(struct tcp_sender *s, uint64_t bytes, uint64_t now);
// False: nothing may be sent now.
bool tcp_sender_next(struct tcp_sender *s, uint64_t now, struct tr_segment *out);
// 'next': the receiver's first missing byte; 'marked': the segment was; 'echo': when it was sent.
void tcp_sender_ack(struct tcp_sender *s, uint64_t next, bool marked, uint64_t echo, uint64_t now);
uint64_t tcp_sender_deadline(const struct tcp_sender *s);
void tcp_sender_expire(struct tcp_sender *s, uint64_t now);
static inline bool tcp_sender_done(const struct tcp_sender *s) {
    return s->acked == s->end;
}

// tcp_control.c: what the sender asks of its control
void tcp_control_init(struct tcp_sender *s);
void tcp_control_acked(struct tcp_sender *s, uint64_t bytes, uint64_t now); // not in recovery
void tcp_control_loss(struct tcp_sender *s, bool timeout);                  // sets the threshold
void tcp_control_echo(struct tcp_sender *s, uint64_t bytes, bool marked);

struct tcp_range {
    uint64_t from, to;
};
struct tcp_receiver {
    uint64_t next;            // the first byte that is missing
    struct tcp_range *beyond; // what came out of order, ascending
    size_t n, capacity;
    uint64_t duplicates; // bytes that came again
};
// True when the first missing byte has moved.
bool tcp_receiver_take(struct tcp_receiver *r, uint64_t sequence, uint32_t length);
void tcp_receiver_free(struct tcp_receiver *r);

#endif

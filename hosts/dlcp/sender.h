// SPDX-License-Identifier: Apache-2.0
//
// sender.h: the sender of a tensor, as a state machine without input, output or clock (DLCP,
// 3.2.1). Packets and the time come in; packets, the next deadline and the end come out.
//
//     dlcp_sender_new(&s, &config, now, &why);
//     for (;;) {
//         while (dlcp_sender_next(s, now, &p))
//             send p;                                     // frame.h has its bytes
//         wait for a packet until dlcp_sender_deadline(s);
//         if (there is one)
//             dlcp_sender_hear(s, &p, now);
//         if (dlcp_sender_state(s) is DLCP_SENDER_OVER or DLCP_SENDER_FAILED)
//             break;
//     }
//
// What is said: START together with the first data, the data, STOP; each range of MISSING once
// more, and STOP; FINISHED as soon as FINISH comes. START, STOP and FINISHED are repeated until
// they are acknowledged.
//
// ORDER. Important segments come first, but at most half of all; then all others. Both begin at a
// place that turns with the iteration, by as many segments as may be missing: what comes last is
// often not sent at all, and that is another part each time. In 100 iterations a segment is left
// out at most 200 p times (rounded up), if the network loses nothing.
//
// RATE. It begins at the link's. A report by which less than half of what was sent in the last
// period has come halves it, and then each further one does, or adds 5 % of the link's. It is never
// below 1 % of the link's. A round of repetitions begins at the link's rate again.
//
// Concurrency: a sender, and its peer, belong to one thread at a time.
#ifndef SILKEN_HOSTS_DLCP_SENDER_H
#define SILKEN_HOSTS_DLCP_SENDER_H

#include <stddef.h>

#include "hosts/dlcp/peer.h"
#include "hosts/dlcp/reasons.h"
#include "hosts/dlcp/tags.h"

struct dlcp_sender;

struct dlcp_sender_config {
    struct dlcp_name name;
    struct dlcp_peer *peer; // stays the caller's, and outlives the sender
    uint32_t nonce;         // unlike that of an earlier start of this host

    const float *values; // until the sender has heard FINISH or has failed; NULL: zeros are sent
    uint32_t elements;   // 1 to 2^31
    uint32_t segment;    // elements of a packet, 1 to DLCP_ELEMENTS
    uint32_t bound;      // millionths of the tensor that may be missing, below DLCP_ALL
    uint8_t class;
    uint16_t contributions;                // workers in these values, at least 1
    const uint16_t *segment_contributions; // instead, by segment; NULL: all alike

    dlcp_prio *prio; // NULL: by 'threshold', or all if there are no values
    void *prio_aux;
    enum dlcp_threshold threshold;

    uint64_t link;       // bits a second
    uint64_t period;     // ns between reports
    uint64_t burst;      // ns of sending that a late caller may make up for
    uint64_t hard_limit; // ns without a word of the receiver until the sender has failed
};

enum dlcp_sender_state {
    DLCP_SENDER_SENDING,
    DLCP_SENDER_STOPPED, // all is sent; the receiver says what is missing, or FINISH
    DLCP_SENDER_ENOUGH,  // FINISH has come: the values are not needed any more
    DLCP_SENDER_OVER,
    DLCP_SENDER_FAILED
};

struct dlcp_sender_stats {
    uint64_t data, repeated;  // packets; of them
    uint64_t important;       // first sendings of marked packets
    uint64_t signals, rounds; // sent, with repetitions; of MISSING
    uint64_t halved, least;   // times that the rate was; reports at its least
    uint64_t refused[DLCP_REASON_COUNT];
};

// Returns 0, SILKEN_ERR_INVALID ('*why' says what is wrong, unless it is NULL) or SILKEN_ERR_NOMEM.
int dlcp_sender_new(struct dlcp_sender **s, const struct dlcp_sender_config *config, uint64_t now,
                    const char **why);
void dlcp_sender_free(struct dlcp_sender *s); // NULL is accepted

// Fills in the next packet that is to be sent at 'now'; false: none is. Also lets time pass.
bool dlcp_sender_next(struct dlcp_sender *s, uint64_t now, struct dlcp_packet *p);

// The same of signals alone: the caller has no room for data.
bool dlcp_sender_next_signal(struct dlcp_sender *s, uint64_t now, struct dlcp_packet *p);
// When the next data may be sent; SK_TIME_NEVER: there are none.
uint64_t dlcp_sender_data_at(const struct dlcp_sender *s);
// When the next signal is, or the end by the limit; SK_TIME_NEVER: there is none.
uint64_t dlcp_sender_signal_at(const struct dlcp_sender *s);

// When dlcp_sender_next() is to be called next, if no packet comes; SK_TIME_NEVER: not any more.
uint64_t dlcp_sender_deadline(const struct dlcp_sender *s);

// A packet of this flow has come from the receiver.
enum dlcp_reason dlcp_sender_hear(struct dlcp_sender *s, const struct dlcp_packet *p, uint64_t now);

enum dlcp_sender_state dlcp_sender_state(const struct dlcp_sender *s);
uint64_t dlcp_sender_rate(const struct dlcp_sender *s); // bits a second
uint32_t dlcp_sender_segments(const struct dlcp_sender *s);
uint32_t dlcp_sender_marked(const struct dlcp_sender *s); // segments that are important
struct dlcp_name dlcp_sender_name(const struct dlcp_sender *s);
struct dlcp_sender_stats dlcp_sender_stats(const struct dlcp_sender *s);

#endif

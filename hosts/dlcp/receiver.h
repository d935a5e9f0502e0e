// SPDX-License-Identifier: Apache-2.0
//
// receiver.h: the receiver of a tensor, as a state machine without input, output or clock (DLCP,
// 3.2.1). It is used as a sender is (sender.h).
//
// Each packet is put in its place as it comes, or added to what is there; a bitmap knows the
// segments. As soon as the bound is met, FINISH is sent; what is still on the way is taken until
// FINISHED comes. If all was sent (STOP), less is there, and nothing came for a smoothed round
// trip, what is missing is asked for again. Every period the rate is reported, from the first data
// to STOP; a report is not repeated, since the next one says more.
//
// Concurrency: a receiver, and its peer, belong to one thread at a time.
#ifndef SILKEN_HOSTS_DLCP_RECEIVER_H
#define SILKEN_HOSTS_DLCP_RECEIVER_H

#include <stddef.h>

#include "hosts/dlcp/peer.h"
#include "hosts/dlcp/reasons.h"

struct dlcp_receiver;

// A segment has come for the first time: 'count' floats in network order from element 'offset' on,
// of so many workers.
typedef void dlcp_place(void *aux, uint32_t offset, const uint8_t *wire, uint32_t count,
                        uint16_t contributions);

struct dlcp_receiver_config {
    struct dlcp_name name;
    struct dlcp_peer *peer; // stays the caller's, and outlives the receiver
    uint32_t nonce;         // unlike that of an earlier start of this host

    uint32_t elements, segment; // as the sender has them
    uint32_t bound;             // millionths that may be missing; the sender's counts if it is less
    float *out;                 // where the values go; NULL: nowhere, or
    dlcp_place *place;          // instead
    void *place_aux;

    uint64_t period;     // ns between reports
    uint64_t hard_limit; // ns without a word of the sender until it has failed
};

enum dlcp_receiver_state {
    DLCP_RECEIVER_WAITING,   // for START
    DLCP_RECEIVER_RECEIVING, // less than the bound is there
    DLCP_RECEIVER_ENOUGH,    // the bound is met; more may come
    DLCP_RECEIVER_OVER,      // no more comes
    DLCP_RECEIVER_FAILED // less than the bound came, and then nothing; or the sender began again
};

struct dlcp_receiver_stats {
    uint64_t data, bytes;               // packets accepted, of frames
    uint64_t needless;                  // repetitions of what was there
    uint64_t sequence_end;              // the sender has sent so many packets or more
    uint64_t came;                      // of these, with those that were there
    uint64_t signals, reports, missing; // sent, with repetitions; of them
    uint64_t refused[DLCP_REASON_COUNT];
};

// Returns 0, SILKEN_ERR_INVALID ('*why' says what is wrong, unless it is NULL) or SILKEN_ERR_NOMEM.
int dlcp_receiver_new(struct dlcp_receiver **r, const struct dlcp_receiver_config *config,
                      uint64_t now, const char **why);
void dlcp_receiver_free(struct dlcp_receiver *r); // NULL is accepted

// As those of senders. After the end there can be acknowledgements to be sent.
bool dlcp_receiver_next(struct dlcp_receiver *r, uint64_t now, struct dlcp_packet *p);
uint64_t dlcp_receiver_deadline(const struct dlcp_receiver *r);
enum dlcp_reason dlcp_receiver_hear(struct dlcp_receiver *r, const struct dlcp_packet *p,
                                    uint64_t now);

enum dlcp_receiver_state dlcp_receiver_state(const struct dlcp_receiver *r);
uint32_t dlcp_receiver_elements(const struct dlcp_receiver *r); // that are there
bool dlcp_receiver_has(const struct dlcp_receiver *r, uint32_t segment);
struct dlcp_name dlcp_receiver_name(const struct dlcp_receiver *r);
struct dlcp_receiver_stats dlcp_receiver_stats(const struct dlcp_receiver *r);

// Nothing will change any more what is there: all has come, or the flow is over.
bool dlcp_receiver_is_complete(const struct dlcp_receiver *r);

// Of a packet for a flow that is over and forgotten: fills in the answer that ends the other end's
// repetitions, if there is one. 'peer' is for the port.
bool dlcp_answer_late(const struct dlcp_packet *p, struct dlcp_packet *answer,
                      struct dlcp_peer *peer, uint64_t now);

#endif

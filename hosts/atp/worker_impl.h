// SPDX-License-Identifier: Apache-2.0
//
// worker_impl.h: the inside of a worker, for worker.c, loss.c and explain.c only.
//
// Fragments have positions in the stream, from config.first_fragment on, without gaps and without
// end. A position's number in the flow is `shift` more, since a restart gives new numbers to what
// is after it; the slot of a fragment in flight remembers what it was sent as.
#ifndef SILKEN_HOSTS_ATP_WORKER_IMPL_H
#define SILKEN_HOSTS_ATP_WORKER_IMPL_H

#include "hosts/core/window.h"
#include "hosts/atp/worker.h"
#include "hosts/core/rto.h"

// A queued tensor: in the list of jobs until its last fragment has come, then waiting to be fetched
// with all that were submitted before it.
struct atp_job {
    struct atp_tensor tensor;
    uint64_t number;    // 0 for the worker's first tensor; for messages
    uint64_t first;     // position of its first fragment
    uint64_t fragments; // the tensor's length, the last one perhaps not full
    uint64_t missing;   // fragments whose parameters have not come
    struct atp_job *next;
};

// A fragment from base to base + ring: clean until it is sent, and again when the base has
// passed.
struct atp_slot {
    struct atp_job *job;
    uint64_t sent_at;  // time of the last transmission
    uint64_t serial;   // of it, among all the worker's transmissions
    double scale;      // the factor it was sent with
    uint32_t sequence; // on the wire, with the flow's bits
    uint32_t tries;    // transmissions; 0: not in flight
    uint16_t index;
    bool acked;
    bool floats; // its sum did not fit
    bool queued; // to be sent again
};

// An index that replaces the one of all fragments with a hash.
struct atp_remap {
    uint32_t stamp; // position of the fragment that brought it, plus one; 0: none
    uint16_t index;
};

struct atp_worker {
    struct atp_worker_config config;
    const struct sk_quantise *quantise;
    struct atp_place next_place; // after a restart
    uint32_t greatest;           // magnitude of fixed point numbers that may be sent
    double largest_at;           // with this factor the largest float that becomes such a number...
    uint32_t largest;            // ...has these bits; 0: none is known
    uint8_t header[ATP_HEADER_BYTES];
    struct atp_known known;

    struct atp_slot *slots; // of position p: p & ring_mask
    uint64_t ring_mask;
    uint64_t base;         // the first position that is not acknowledged
    uint64_t next;         // the first one that has not been sent
    uint64_t shift;        // from a position to its number
    uint64_t restarted_at; // fragments before it have earlier numbers
    uint64_t end;          // after the last tensor's last fragment

    uint32_t *queue; // ring of slots to send again, each at most once
    uint32_t queue_head, queue_length;

    struct atp_remap *remaps; // by position in the job's aggregators

    double scale;
    double coming_scale; // from position scale_from on, if that is not passed
    uint64_t scale_from;

    struct sk_window window;
    struct sk_rto rto;
    struct sk_watch watch;
    uint32_t backoff;       // timeouts since the last acknowledgement
    uint64_t serial;        // of the last transmission
    uint64_t seen[3];       // the three greatest serials that have been acknowledged, falling
    uint64_t suspect;       // from there on no fragment has been judged by them
    uint64_t last_ack;      // time
    uint64_t recover_until; // serials below it are taken for lost, while `recovering`
    uint64_t recover_at;    // next position to look at
    bool recovering;

    struct atp_job *jobs, *jobs_last; // in order; the first ones may be complete
    struct atp_job *sending;          // the one that `next` belongs to
    uint64_t next_number;
    bool failed;
    struct atp_worker_stats stats;
};

static inline struct atp_slot *atp_slot_at(const struct atp_worker *w, uint64_t position) {
    return &w->slots[position & w->ring_mask];
}

// Queues a fragment in flight to be sent again, unless it is.
void atp_resend(struct atp_worker *w, uint64_t position);

// loss.c: what an acknowledgement of 'slot' at 'position' says about others, and what a timeout
// does.
void atp_judge_losses(struct atp_worker *w, const struct atp_slot *slot);
uint64_t atp_loss_deadline(const struct atp_worker *w);
void atp_loss_expire(struct atp_worker *w, uint64_t now);

#endif

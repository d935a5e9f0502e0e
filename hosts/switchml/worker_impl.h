// SPDX-License-Identifier: Apache-2.0
//
// worker_impl.h: the inside of a worker, for worker.c and explain.c only.
#ifndef SILKEN_HOSTS_SWITCHML_WORKER_IMPL_H
#define SILKEN_HOSTS_SWITCHML_WORKER_IMPL_H

#include "hosts/core/halves.h"
#include "hosts/core/quantise.h"
#include "hosts/core/rto.h"
#include "hosts/switchml/worker.h"
#include "hosts/core/timers.h"

// A queued tensor. A job is in the list of jobs until its last block has come, then in the list of
// those done.
struct swml_job {
    struct swml_tensor tensor;
    uint64_t number;     // 0 for the worker's first tensor; for messages
    uint64_t blocks;     // the tensor's length in blocks, the last one perhaps not full
    uint64_t missing;    // blocks whose result has not come
    uint32_t first_slot; // slot of block 0
    struct swml_job *next;
    struct swml_job *previous;
};

// A slot is idle (job is NULL) or has one packet in flight or about to be. An idle slot has no
// block in any job of the list.
struct swml_slot {
    struct swml_job *job;
    uint64_t block;      // block in flight; in an exponent round the one that follows it
    uint64_t sent_at;    // time of the last transmission
    uint32_t uses;       // packets of this slot answered so far: its parity is the version
    uint32_t tries;      // transmissions of the packet in flight
    uint32_t backoff;    // timeouts since the last clean round trip
    bool exponent_round; // the packet carries an exponent and no block
    bool queued;         // is in the send queue
    int8_t scale;        // global exponent of `block`, when it is a block of floats
    int8_t lookahead;    // our exponent of the block after the packet in flight

    // The slot's last answer.
    int8_t kept_exponent;
    int8_t kept_scale;         // of its elements, when they are floats
    bool kept_nothing;         // it was one of exponents: its elements are zeros
    bool kept_elsewhere;       // only another worker got its elements
    struct swml_job *kept_job; // its elements are in this tensor, or, without one, in `kept`
    uint64_t kept_block;       // there
};

// What a switch that was restarted has asked.
#define SWML_QUESTIONS 64

struct swml_question {
    enum swml_message message; // WHERE or AGAIN
    uint32_t index;            // of the slot
};

// What a block is multiplied with, there and back.
struct swml_scale {
    double factor, inverse;
};

struct swml_worker {
    struct swml_config config;
    struct swml_scale scales[256]; // by exponent, as a byte without sign
    const struct sk_quantise *quantise;
    uint8_t header[SWML_HEADER_BYTES]; // all that does not change from frame to frame
    uint8_t empty[SWML_HEADER_BYTES];  // the same of those without elements
    struct swml_known known;           // the same of answers

    struct swml_slot *slots;
    struct sk_timers timers; // one per slot
    uint32_t *queue;         // ring of slots to send, each at most once
    uint32_t queue_head, queue_length;

    uint8_t *kept;                    // the elements of slots' last answers: copies, by slot
    uint8_t reply[SWML_HEADER_BYTES]; // all that does not change in what is said of restarts
    struct swml_question questions[SWML_QUESTIONS]; // ring
    uint32_t first_question, n_questions;

    struct swml_job *jobs, *jobs_last; // not complete, in order
    struct swml_job *done, *done_last; // complete, not yet fetched
    uint64_t next_number;
    uint32_t next_first; // slot for block 0 of the next tensor

    struct sk_rto rto;
    struct sk_watch watch; // since the last accepted answer, or the start of work after idleness
    bool failed;
    struct swml_stats stats;
};

static inline uint64_t swml_block_offset(const struct swml_worker *w, uint64_t block) {
    return block * w->config.flow.k;
}

// Elements in a block: k, or fewer in a tensor's last one.
static inline size_t swml_block_elements(const struct swml_worker *w, const struct swml_job *job,
                                         uint64_t block) {
    uint64_t left = job->tensor.count - swml_block_offset(w, block);

    return left < w->config.flow.k ? (size_t)left : w->config.flow.k;
}

// Of the job's tensor in memory.
static inline size_t swml_memory_bytes(const struct swml_job *job) {
    return job->tensor.type == SWML_F16 ? 2 : 4;
}

// Whether its blocks have exponents.
static inline bool swml_is_scaled(const struct swml_job *job) {
    return job->tensor.type != SWML_I32;
}

// n floats, or halves, of the job's tensor as halves of the wire, and back.
void swml_halves_to_wire(const struct swml_job *job, int8_t exponent, const void *from, size_t n,
                         uint8_t *out);
void swml_halves_from_wire(const struct swml_job *job, int8_t exponent, const uint8_t *from,
                           size_t n, void *out);

static inline const struct swml_scale *swml_scale_of(const struct swml_worker *w, int8_t exponent) {
    return &w->scales[(uint8_t)exponent];
}

static inline bool swml_is_collective(const struct swml_job *job) {
    return job->tensor.reach != SWML_ALL;
}

// Whether this worker adds elements to the job's blocks.
static inline bool swml_adds(const struct swml_worker *w, const struct swml_job *job) {
    const enum swml_reach reach = job->tensor.reach;

    return reach <= SWML_TO_ONE || (reach == SWML_FROM_ONE && job->tensor.who == w->config.rank);
}

// Whether it gets their sums.
static inline bool swml_gets(const struct swml_worker *w, const struct swml_job *job) {
    const bool is_who = job->tensor.who == w->config.rank;

    return job->tensor.reach == SWML_ALL || (job->tensor.reach == SWML_TO_ONE && is_who) ||
           (job->tensor.reach == SWML_FROM_ONE && !is_who);
}

// Where sums of the job are to be found once they have come: a root has sent them itself.
static inline const void *swml_sums(const struct swml_worker *w, const struct swml_job *job) {
    return swml_gets(w, job) ? job->tensor.out : job->tensor.in;
}

// ---- resume.c ----

// 0, or SILKEN_ERR_NOMEM.
int swml_kept_init(struct swml_worker *w);
// The slot's answer has come, and is in the tensor.
// 'elsewhere': only another worker got it.
static inline void swml_keep(struct swml_slot *slot, int8_t exponent, bool elsewhere) {
    slot->kept_exponent = exponent;
    slot->kept_scale = slot->scale;
    slot->kept_nothing = slot->exponent_round || slot->job->tensor.reach == SWML_NONE;
    slot->kept_elsewhere = !slot->kept_nothing && elsewhere;
    slot->kept_job = slot->kept_nothing || elsewhere ? NULL : slot->job;
    slot->kept_block = slot->block;
}
// A tensor is complete, and about to be its owner's again: what slots keep of it is copied.
void swml_keep_copies(struct swml_worker *w, const struct swml_job *job);
// A WHERE or AGAIN: queued, or the reason why not.
enum swml_reason swml_question(struct swml_worker *w, const struct swml_chunk *chunk);
// The reply to the next question, a whole frame. There is one.
void swml_write_reply(struct swml_worker *w, uint8_t *buf);

#endif

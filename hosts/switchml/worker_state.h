/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_state.h: the inside of a worker, for worker.c and explain.c only.
 */
#ifndef SILKEN_HOSTS_SWITCHML_WORKER_STATE_H
#define SILKEN_HOSTS_SWITCHML_WORKER_STATE_H

#include "hosts/quantise.h"
#include "hosts/rto.h"
#include "hosts/switchml/worker.h"
#include "hosts/timers.h"

/* A queued tensor. A job is in the list of jobs until its last block has come, then in the list of
 * those done. */
struct swml_job {
    struct swml_tensor tensor;
    uint64_t number;     /* 0 for the worker's first tensor; for messages */
    uint64_t blocks;     /* the tensor's length in blocks, the last one perhaps not full */
    uint64_t missing;    /* blocks whose result has not come */
    uint32_t first_slot; /* slot of block 0 */
    struct swml_job *next;
    struct swml_job *previous;
};

/* A slot is idle (job is NULL) or has one packet in flight or about to be. An idle slot has no
 * block in any job of the list. */
struct swml_slot {
    struct swml_job *job;
    uint64_t block;      /* block in flight; in an exponent round the one that follows it */
    uint64_t sent_at;    /* time of the last transmission */
    uint32_t uses;       /* packets of this slot answered so far: its parity is the version */
    uint32_t tries;      /* transmissions of the packet in flight */
    uint32_t backoff;    /* timeouts since the last clean round trip */
    bool exponent_round; /* the packet carries an exponent and no block */
    bool queued;         /* is in the send queue */
    int8_t scale;        /* global exponent of `block`, when it is a block of floats */
    int8_t lookahead;    /* our exponent of the block after the packet in flight */
};

struct swml_worker {
    struct swml_config config;
    const struct sk_quantise *quantise;
    uint8_t header[SWML_HEADER_BYTES]; /* all that does not change from frame to frame */
    struct swml_known known;           /* the same of answers */

    struct swml_slot *slots;
    struct sk_timers timers; /* one per slot */
    uint32_t *queue;         /* ring of slots to send, each at most once */
    uint32_t queue_head, queue_length;

    struct swml_job *jobs, *jobs_last; /* not complete, in order */
    struct swml_job *done, *done_last; /* complete, not yet fetched */
    uint64_t next_number;
    uint32_t next_first; /* slot for block 0 of the next tensor */

    struct sk_rto rto;
    struct sk_watch watch; /* since the last accepted answer, or the start of work after idleness */
    bool failed;
    struct swml_stats stats;
};

#endif

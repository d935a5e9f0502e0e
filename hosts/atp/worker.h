// SPDX-License-Identifier: Apache-2.0
//
// worker.h: one flow of an ATP worker as a state machine without input, output or clock.
//
// A flow carries tensors from a worker to one parameter server, and the sums over all workers back
// (ATP, NSDI 2021, sections 3.6 to 3.8). Bytes and the time come in; bytes to send, the next
// deadline and completed tensors come out. It is driven as a SwitchML worker is
// (hosts/switchml/worker.h):
//
//      atp_worker_submit(w, &tensor, now);
//      for (;;) {
//          while ((len = atp_worker_write(w, frame, sizeof frame, now)) > 0)
//              send frame[0..len)
//          while (atp_worker_done(w, &cookie))
//              the tensor with that cookie is complete
//          wait for a frame, or until atp_worker_deadline(w)
//          now = clock
//          atp_worker_read(w, frame, len, now)         for each frame that came
//          if (atp_worker_expire(w, now) & ATP_FAILED)
//              give up
//      }
//
// THE STREAM. All tensors together are one endless stream of fragments of 62 values; a tensor
// begins with a fragment of its own, and its last one is filled up with zeros. All workers of a job
// submit the same tensors (lengths and types) in the same order to the same flows.
//
// WINDOW. At most `window` fragments from the first that is not acknowledged on are in flight.
// Parameters may come in any order, and each is an acknowledgement. Slow start and AIMD: `window`
// grows by ATP_MTU_PACKETS per acknowledgement below the threshold, by as many per window above it;
// a mark (ECN) or a loss (three acknowledgements in a row of other fragments than the first one
// missing) halves it and makes that the threshold, once per window of fragments.
//
// LOSS. A fragment is sent again, with `resend`, when three that were sent after it have been
// acknowledged; and the first missing one is when nothing has been acknowledged for the timeout,
// which follows the measured time to an acknowledgement and doubles with each repetition. If that
// brings nothing but acknowledgements of what was sent again, the next ones follow, twice as many
// each time. A resent gradient is not aggregated any more (section 3.7).
//
// AGGREGATORS. A fragment's index is a hash of job and sequence number, until the server says
// otherwise: an index replaces the collided one of a fragment for all with the same hash that are
// sent from then on. What is in flight keeps the index it was sent with, also when it is sent
// again, and only parameters with that index acknowledge it: they have come through the switches
// that may have an aggregator for it, and have freed it there.
//
// NUMBERS. Floats times the scaling factor, rounded to the nearest, ties to even. The result is the
// server's float. Integers are sent as they are; their sums saturate.
//
// A fragment of which some value does not fit, infinities and NaN included, is sent as floats at
// once, and the server asks the others for theirs. That a *sum* did not fit is seen by the server,
// since a switch keeps what is saturated, whatever it adds to it. But not what it adds: a saturated
// value that comes to a switch could go unseen there. So below a first switch of two levels a value
// is too large if `fan_in0` such would not fit: 5.3 with 1e8 and four workers in a rack.
//
// The network may lose, repeat and reorder packets; what that costs is told in server.h.
//
// RESTART. After atp_worker_move() the server may say that aggregation starts again at some
// fragment (frame.h). What was sent from there on and is not acknowledged is sent again, as if for
// the first time, from the worker's new place.
//
// Concurrency: a worker belongs to one thread at a time.
//
// Files:
//
//     worker.c      a worker's flow
//     loss.c        what it takes for lost
//     explain.c     what it waits for, in words
//     server.c      a server's flow (server.h)
//     parameters.c  what a server sends
//     scale.c       the scaling factor of a job
//     numbers.c     a server's arithmetic
//     frame.c       the bytes of a packet (frame.h)
//     places.c      where workers are, and of whom a packet is
#ifndef SILKEN_HOSTS_ATP_WORKER_H
#define SILKEN_HOSTS_ATP_WORKER_H

#include "hosts/atp/frame.h"
#include "silken/error.h"
#include "hosts/core/quantise.h"

#define ATP_NEVER       UINT64_MAX
#define ATP_MTU_PACKETS 5 // 1500 bytes are five packets (section 3.7)
#define ATP_SCALE       1e8

// All times are in nanoseconds.
struct atp_worker_config {
    struct atp_flow flow;
    struct atp_place place;
    uint32_t rank;        // for messages only
    uint32_t first_index; // aggregators of the job: first_index + 0..indices-1; those of Silken's
    uint32_t indices;     // p4/atp are all 65536, shared by all jobs
    bool linear;          // no hashing: for comparison (section 5.4.2)
    uint32_t window;      // initial; 200 in the paper
    uint32_t window_max;  // at most ATP_WINDOW_LIMIT, and the server's too
    bool fixed_window;    // no congestion control: for comparison (section 5.5)
    uint64_t rto_initial, rto_min, rto_max;
    uint64_t stall_warning;  // time without progress until the first warning; ATP_NEVER: none
    uint64_t hard_limit;     // time without progress until the worker fails; ATP_NEVER: none
    uint64_t first_fragment; // of a worker that takes a failed one's place (appendix A.3); else 0
    const struct sk_quantise *quantise; // how numbers are converted; NULL: the fastest there is
};

#define ATP_WINDOW_LIMIT 16384u

// The paper's window, a timeout between 1 ms and 1 s beginning with 10 ms, no limits, all indices.
// flow, place and rank are to be set.
void atp_worker_config_init(struct atp_worker_config *config);

enum atp_type { ATP_F32, ATP_I32 };

// One worker's share of an all-reduce. `in` and `out` have `count` elements and are the same memory
// or do not overlap; they stay the caller's, and have to stay valid and, apart from the worker's
// own writes to `out`, unchanged until the tensor is done. A fragment of `out` is written when its
// parameters have come: then that part of `in` is not needed any more.
struct atp_tensor {
    enum atp_type type;
    const void *in;
    void *out;
    size_t count; // any length, also 0
    void *cookie; // handed back by atp_worker_done()
};

struct atp_worker_stats {
    uint64_t packets_sent;    // all, retransmissions included
    uint64_t retransmissions; // with `resend`
    uint64_t timeouts,
        losses;        // their reasons: timeouts, and three acknowledgements out of order
    uint64_t floats;   // fragments sent as floats, because they or their sum did not fit
    uint64_t acks;     // fragments acknowledged
    uint64_t marks;    // acknowledgements with ECN
    uint64_t rehashed; // indices replaced
    uint64_t ignored[ATP_REASON_COUNT];
    uint64_t tensors_done, elements_done;
    uint64_t rtt, rto; // smoothed time to an acknowledgement, present timeout; ns
    uint32_t window;   // present, in packets
    uint32_t in_flight;
};

struct atp_worker;

// Makes a worker in '*w'. Returns 0, SILKEN_ERR_NOMEM, or SILKEN_ERR_INVALID with a sentence about
// the offending member in '*why', which may be NULL.
int atp_worker_new(struct atp_worker **w, const struct atp_worker_config *config, const char **why);

// The job's session has started: before anything is written. Then the time without progress
// begins.
void atp_worker_enter(struct atp_worker *w, uint16_t session, uint64_t now);

// Frees a worker and forgets its tensors. NULL is accepted.
void atp_worker_free(struct atp_worker *w);

// Queues a tensor; the description is copied. Returns 0, SILKEN_ERR_NOMEM, SILKEN_ERR_INVALID, or
// SILKEN_ERR_STALLED after the worker has failed. An error leaves the worker as it was.
int atp_worker_submit(struct atp_worker *w, const struct atp_tensor *tensor, uint64_t now);

// Writes the next frame to send to 'buf' (ATP_FRAME_BYTES) and returns its length; 0 when there is
// nothing to send, or when 'cap' is too short. The frame counts as sent at 'now'.
size_t atp_worker_write(struct atp_worker *w, uint8_t *buf, size_t cap, uint64_t now);

// How many times atp_worker_write() would write a frame now, at most; 0 when it would not.
uint32_t atp_worker_queued(const struct atp_worker *w);

// Takes a received frame. Returns ATP_ACCEPTED or the reason for which it was counted and
// ignored.
enum atp_reason atp_worker_read(struct atp_worker *w, const uint8_t *frame, size_t len,
                                uint64_t now);

// Next completed tensor, in the order of submission: returns true and its cookie, or false.
bool atp_worker_done(struct atp_worker *w, void **cookie);

// When atp_worker_expire() has something to do, provided that atp_worker_write() has been called
// until it returned 0; ATP_NEVER without work in flight.
uint64_t atp_worker_deadline(struct atp_worker *w);

#define ATP_STALLED 1u // time for a warning: atp_worker_explain() has the words
#define ATP_FAILED  2u // the hard limit has passed; reported on every call from then on
unsigned atp_worker_expire(struct atp_worker *w, uint64_t now);

// The job gets another shape (appendix A.3): the worker has this place from where the server says,
// by a packet, that aggregation starts again. To be called for all workers before
// atp_server_reshape().
void atp_worker_move(struct atp_worker *w, const struct atp_place *place);

bool atp_worker_busy(const struct atp_worker *w);
struct atp_worker_stats atp_worker_stats(const struct atp_worker *w);

// Some sentences, lines ending in '\n', on what the worker waits for, cut to 'cap' bytes with a
// terminating 0.
void atp_worker_explain(const struct atp_worker *w, uint64_t now, char *buf, size_t cap);

#endif

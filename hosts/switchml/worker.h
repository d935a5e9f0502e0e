// SPDX-License-Identifier: Apache-2.0
//
// worker.h: a SwitchML worker as a state machine without input, output or clock.
//
// A worker takes part in all-reduces: n workers each have a tensor of the same length, and all of
// them end up with the elementwise sum. The switch adds; the worker does everything else (SwitchML
// 4.4 to 4.6, algorithm 4). Bytes and the time come in; bytes to send, the next deadline and
// completed tensors come out. Around it one writes a loop over some transport:
//
//      swml_worker_submit(w, &tensor, now);
//      for (;;) {
//          while ((len = swml_worker_write(w, frame, sizeof frame, now)) > 0)
//              send frame[0..len)
//          while (swml_worker_done(w, &cookie))
//              the tensor with that cookie is complete
//          wait for a frame, or until swml_worker_deadline(w)
//          now = clock
//          swml_worker_read(w, frame, len, now)        for each frame that came
//          if (swml_worker_expire(w, now) & SWML_FAILED)
//              give up
//      }
//
// THE STREAM. All tensors together are one endless stream of blocks of k elements (appendix B).
// Block b of a tensor goes to slot (first + b) mod s of the pool of s slots, where `first` carries
// on from tensor to tensor. Within a slot the blocks follow each other in order, one in flight at a
// time, each in the other version of the slot than the one before, also across tensors. So the
// mapping of blocks to slots depends on nothing but the order and the lengths of the tensors: every
// worker has to submit the same tensors (length and type) in the same order, and need not agree on
// anything else. Several tensors may be queued; a slot goes on with the next tensor while other
// slots still work on the last.
//
// SELF-CLOCKING. A slot's next packet is sent when the answer to its present one has come. The
// answer says that all workers have contributed, hence nobody lags by more than one packet per
// slot, and two versions are enough.
//
// EXPONENTS. A block of floats needs a factor on which all workers agree before they send it
// (quantise.h). The packet with a slot's block j carries the exponent of the block which the slot
// takes next in the same tensor, and the switch answers with the signed maximum over the workers.
// The first block of each slot in each tensor has no packet before it, so it is preceded by one
// packet with the exponent alone and zeros for elements. A tensor of B blocks takes B + min(B, s)
// packets; of integers, which go unscaled, B. Look-ahead stops at the end of a tensor, because some
// worker may not have the next one yet: a packet without a following block carries
// SK_EXPONENT_ZERO. A result with an exponent below one's own is not the maximum and is refused, so
// a wrong switch cannot cause an overflow.
//
// HALVES. On a switch that adds 16-bit floats (p4/switchml/halves.p4) the same goes for both kinds
// of floats: f32 are rounded to halves after they are scaled, f16 go as they are unless a block has
// magnitudes of 2 and above (hosts/core/halves.h). At most SK_HALF_WORKERS workers; no collectives,
// no restarts.
//
// Integers are added as the switch adds them; silken's SwitchML wraps modulo 2^32.
//
// LOSS. Every slot in flight has a timer. When it fires, the same packet is sent again, same slot,
// same version. The timeout follows the measured time to an answer within bounds, as TCP's does:
// smoothed mean plus four deviations, without samples from retransmitted packets. It doubles in a
// slot with each time it passes, up to the upper bound, and stays so until a packet of the slot is
// answered without retransmission: else answers slower than the timeout would never be measured. An
// answer is accepted only if slot, version and chunk number are the ones in flight; anything else
// is counted by reason and ignored.
//
// WHAT THE NETWORK MUST KEEP. Towards the worker any loss, duplication and reordering is fine.
// Towards the switch, a packet must not arrive after a later packet of the same worker for the same
// slot: the switch has forgotten by then that it knows it (appendix C's correctness condition). A
// path without reordering, such as a link or a rack's switch, keeps this.
//
// COLLECTIVES. A tensor may be for some workers only, if the switch has the job's audiences
// (wire/switchml.h; p4/switchml/README.md). Its chunks go through slots as all others do: every
// worker sends one packet for each, and none goes on before it has an answer, so loss, order and
// restarts are as above. But packets without elements to add have none, and so have the answers to
// those who get no elements: of a reduction to one worker all others', of a broadcast the root's,
// and of a barrier all. Exponents go around before a tensor is reduced to one worker without any
// elements.
//
// RESTARTS. A switch that has lost its registers cannot answer a worker that waits for a chunk
// which others have the answer to already. So a worker keeps the last answer of each slot, in the
// tensor and then in 4k bytes, and tells the switch, when it asks (frame.h), how often each slot
// was used and what that answer was: integers as they were, floats as integers that become the same
// floats. The switch passes it on to those who miss it, which take it as they would from the
// switch's sums. Answers that all workers have, or none, need nothing: the packets in flight are
// sent again as ever. A reduction to one worker which has missed the answer that all others have
// got without elements cannot be resumed: nobody has its sum (SWML_NOT_KEPT), and the job comes to
// its hard limit. What others miss is kept as long as the worker is: one that has its last tensor
// should be there until the others have theirs. Questions are read as answers are, while there is
// work in flight.
//
// STALLS. With work in flight and no progress (no accepted answer) for `stall_warning`, expire()
// reports SWML_STALLED, again after twice that time and so on; swml_worker_explain() says what is
// missing. No progress for `hard_limit` ends the worker: SWML_FAILED. It cannot go on after that,
// since the other workers and the switch have a different idea of the stream; start a new one, on a
// cleared pool.
//
// Concurrency: a worker belongs to one thread at a time.
//
// Files:
//
//     worker.c   the state machine
//     resume.c   a worker's part in a switch's restart
//     frame.c    the bytes of a packet (frame.h)
//     explain.c  what a worker waits for, in words
#ifndef SILKEN_HOSTS_SWITCHML_WORKER_H
#define SILKEN_HOSTS_SWITCHML_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "silken/allreduce.h"
#include "silken/error.h"
#include "hosts/core/quantise.h"
#include "hosts/switchml/frame.h"

#define SWML_NEVER UINT64_MAX

// All times are in nanoseconds.
struct swml_config {
    struct swml_flow flow;
    uint32_t rank;        // this worker, 0..workers-1; for messages only
    uint32_t workers;     // n, the fan-in: 1..SK_MAX_WORKERS
    uint32_t pool_base;   // first slot as numbered on the wire: 0 for silken's switchml.p4, which
                          // adds a job's place in the pool itself
    uint8_t session;      // the job's (session/message.h); 0: it has none, and whoever starts the
                          // worker sees to it that the pool's slots are clear
    uint32_t pool_size;   // s, the number of slots: 1..SWML_MAX_SLOTS - pool_base
    uint64_t rto_initial; // timeout until the first measurement
    uint64_t rto_min;     // bounds of the timeout: 0 < rto_min <= rto_max
    uint64_t rto_max;
    uint64_t stall_warning; // time without progress until the first warning; SWML_NEVER: none
    uint64_t hard_limit;    // time without progress until the worker fails; SWML_NEVER: none
    const struct sk_quantise *quantise; // how numbers are converted; NULL: the fastest there is
};

// A flow of halves takes F32 and F16, any other one F32 and I32.
enum swml_type { SWML_F32, SWML_I32, SWML_F16 = SILKEN_F16 };

// Who has elements to add, and who gets the sums.
enum swml_reach {
    SWML_ALL,      // all, and all
    SWML_TO_ONE,   // all; worker `who` alone
    SWML_FROM_ONE, // `who`; all but that. Of SWML_I32 only
    SWML_NONE      // nobody: all workers have come this far
};

// One worker's share of an all-reduce. `in` and `out` have `count` elements and are the same memory
// or do not overlap; they stay the caller's, and have to stay valid and, apart from the worker's
// own writes to `out`, unchanged until the tensor is done. Who has no elements to add needs no
// `in`, and who gets none no `out`.
struct swml_tensor {
    enum swml_type type;
    const void *in;
    void *out;
    size_t count; // any length, also 0
    void *cookie; // handed back by swml_worker_done()
    enum swml_reach reach;
    uint32_t who; // of SWML_TO_ONE and SWML_FROM_ONE: its rank, below SWML_COLLECTIVE_WORKERS
};

// What happened since the worker was made.
struct swml_stats {
    uint64_t packets_sent;               // all, retransmissions included
    uint64_t retransmissions;            // packets sent again after a timeout
    uint64_t answers;                    // answers accepted
    uint64_t asked;                      // questions taken of a switch that was restarted
    uint64_t ignored[SWML_REASON_COUNT]; // frames not accepted, by reason; [SWML_ACCEPTED] is 0
    uint64_t tensors_done;
    uint64_t elements_done; // elements of the tensors done
    uint64_t rtt;           // smoothed time from packet to answer, 0 before the first; ns
    uint64_t rto;           // present timeout of a first transmission, ns
};

struct swml_worker;

// Makes a worker in '*w'. Returns 0, SILKEN_ERR_NOMEM, or SILKEN_ERR_INVALID with a sentence about
// the offending member in '*why', which may be NULL. The pool's slots must be clear in the switch.
int swml_worker_new(struct swml_worker **w, const struct swml_config *config, const char **why);

// The job's session has started: before anything is written. Then the pool's slots are clear, and
// the time without progress begins.
void swml_worker_enter(struct swml_worker *w, uint8_t session, uint64_t now);

// Frees a worker and forgets its tensors. NULL is accepted.
void swml_worker_free(struct swml_worker *w);

// Queues a tensor; the description is copied. Returns 0, SILKEN_ERR_NOMEM, SILKEN_ERR_INVALID (a
// NULL pointer with elements, an unknown type, a length beyond memory, no such rank) or
// SILKEN_ERR_STALLED after the worker has failed. An error leaves the worker as it was.
int swml_worker_submit(struct swml_worker *w, const struct swml_tensor *tensor, uint64_t now);

// Writes the next frame to send to 'buf' and returns its length, swml_frame_bytes() or, of one
// without elements, SWML_EMPTY_FRAME. Returns 0 when there is nothing to send, or when 'cap' is too
// short. The frame counts as sent at 'now'.
size_t swml_worker_write(struct swml_worker *w, uint8_t *buf, size_t cap, uint64_t now);

// How many times swml_worker_write() would write a frame now, at most; 0 when it would not.
uint32_t swml_worker_queued(const struct swml_worker *w);

// Takes a received frame, an answer or a question. Returns SWML_ACCEPTED or the reason for which it
// was counted and ignored. The frame is not needed afterwards.
enum swml_reason swml_worker_read(struct swml_worker *w, const uint8_t *frame, size_t len,
                                  uint64_t now);

// Next completed tensor: returns true and its cookie, or false when there is none.
bool swml_worker_done(struct swml_worker *w, void **cookie);

// When swml_worker_expire() has something to do, provided that swml_worker_write() has been called
// until it returned 0; SWML_NEVER without work in flight.
uint64_t swml_worker_deadline(struct swml_worker *w);

#define SWML_STALLED 1u // time for a warning: swml_worker_explain() has the words
#define SWML_FAILED  2u // the hard limit has passed; reported on every call from then on

// Does what is due at 'now': queues retransmissions, and returns the flags above.
unsigned swml_worker_expire(struct swml_worker *w, uint64_t now);

// True while a tensor is not complete.
bool swml_worker_busy(const struct swml_worker *w);

// A copy of the counters.
struct swml_stats swml_worker_stats(const struct swml_worker *w);

// Writes some sentences, lines ending in '\n', on what the worker waits for and what may be wrong,
// to 'buf', cut to 'cap' bytes with a terminating 0.
void swml_worker_explain(const struct swml_worker *w, uint64_t now, char *buf, size_t cap);

#endif

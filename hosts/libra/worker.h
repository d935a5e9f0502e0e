// SPDX-License-Identifier: Apache-2.0
//
// worker.h: a Libra worker as a state machine without input, output or clock: what it has to do
// with a switch (3.4, 3.6); or, another instance with 'cold', with a parameter server. Bytes and
// the time come in; bytes to send, the next deadline and completed requests come out.
//
//     libra_worker_push(w, pairs, n, cookie, now);
//     for (;;) {
//         while ((len = libra_worker_write(w, frame, sizeof frame, now)) > 0)
//             send frame[0..len)
//         while (libra_worker_done(w, &cookie))
//             the request with that cookie is complete
//         wait for a frame, or until libra_worker_deadline(w)
//         libra_worker_read(w, frame, len, now)        for each frame that came
//         if (libra_worker_expire(w, now))
//             give up
//     }
//
// A push adds pairs to the switch's cells, or to the server's sums; it is done when all its packets
// are acknowledged. A pull reads cells; it is done when all are answered, and each value is what
// the cell held at some time between the two. Requests do not wait for each other: a pull that
// shall see a push is submitted after that one is done.
//
// ONCE. Packets are numbered from 'first_sequence'. The switch remembers the last of each 512
// numbers apart (p4/libra), so all that are on the way lie within 'window' numbers, at most 512:
// what is repeated is then always known to the switch, however late the first copy comes.
//
// LEFT. A switch that adds floats gives up on pairs whose cells other packets keep changing. Its
// ack says which; they go out again, under a new number.
//
// COLLECT. A server reads cells and clears them. Cells that others keep changing are asked for
// again under a new number. What was cleared is known to the answer alone, of which the switch's
// CPU keeps a copy until it is acknowledged ('cpu'). Should the CPU have lost it, too, the worker
// fails, and 'lost' of the statistics says so.
//
// MOVE. The job can move to another switch with the same address ('cpu'), under the next epoch: the
// worker is told, and repeats what is on the way. Nothing is added twice, as the records move, too.
//
// LOSS. Each packet on the way has a timer, which follows the measured time to an answer
// (hosts/core/rto.h) without samples of packets that were repeated, and doubles with each time that
// it passes. How many may be on the way follows marks and losses (hosts/core/window.h).
//
// END. Without an answer for 'hard_limit' the worker fails, and takes no more requests. Its cells
// may have or lack what was not acknowledged. A worker that begins again takes a first_sequence
// behind all that were used, or the control plane clears its records.
//
// A barrier, of a server, is done when all workers of the job have come to the same one. Barriers
// are numbered from 1 up.
//
// Concurrency: a worker belongs to one thread at a time.
#ifndef SILKEN_HOSTS_LIBRA_WORKER_H
#define SILKEN_HOSTS_LIBRA_WORKER_H

#include "hosts/libra/cold.h"
#include "silken/error.h"

#define LIBRA_NEVER         UINT64_MAX
#define LIBRA_WINDOW_MOST   512u
#define LIBRA_SEQUENCE_LAST 0x3fffffffu
#define LIBRA_REQUEST_MOST  (1u << 24) // pairs

// All times are in nanoseconds.
struct libra_worker_config {
    struct libra_flow flow;
    bool cold;               // it is a server that flow.fabric names, with keys
    bool cpu;                // the switch's CPU has copies of answers: they are acknowledged
    bool floats;             // the switch adds floats, and takes packets with pairs at any place
    uint32_t first_sequence; // 1 and up
    uint32_t window;         // packets on the way: at the beginning, and at most
    uint32_t window_max;     // LIBRA_WINDOW_MOST at most
    uint64_t rto_initial, rto_min, rto_max;
    uint64_t hard_limit; // LIBRA_NEVER: none
};
struct libra_worker_stats {
    uint64_t sent; // packets, those repeated included
    uint64_t repeated, acks, answers, marks;
    uint64_t ignored[LIBRA_REASON_COUNT];
    uint64_t pairs_pushed, pairs_pulled; // of requests that are done
    uint64_t pairs_left;                 // that went out again
    bool lost;                           // what was pushed or collected is: the worker has failed
    uint64_t moves;                      // of the job to another switch, under another epoch
};
struct libra_worker;

// 0, SILKEN_ERR_NOMEM, or SILKEN_ERR_INVALID with a sentence in '*why' (may be null).
int libra_worker_new(struct libra_worker **w, const struct libra_worker_config *config,
                     const char **why);
void libra_worker_free(struct libra_worker *w); // null allowed

// Submits a push of 'n' pairs (copied). Values are integers, which are
// added modulo 2^32, or the bits of floats. 0,
// SILKEN_ERR_NOMEM, SILKEN_ERR_INVALID (more than LIBRA_REQUEST_MOST) or SILKEN_ERR_STALLED after
// the worker has failed or when its numbers are used up. An error leaves the worker as it was.
int libra_worker_push(struct libra_worker *w, const struct libra_pair *pairs, size_t n,
                      void *cookie, uint64_t now);
// Submits a pull: out[i] becomes the value of ranks[i] (copied). 'out' is the
// caller's, and is written until the request is done. Errors as above.
int libra_worker_pull(struct libra_worker *w, const uint32_t *ranks, size_t n, uint32_t *out,
                      void *cookie, uint64_t now);
// The same, and the cells are 0 after it: for servers, which the switch admits as such.
int libra_worker_collect(struct libra_worker *w, const uint32_t *ranks, size_t n, uint32_t *out,
                         void *cookie, uint64_t now);

// The same with a server, of keys; and a barrier.
int libra_worker_push_keys(struct libra_worker *w, const struct libra_cold_pair *pairs, size_t n,
                           void *cookie, uint64_t now);
int libra_worker_pull_keys(struct libra_worker *w, const uint64_t *keys, size_t n, uint32_t *out,
                           void *cookie, uint64_t now);
int libra_worker_barrier(struct libra_worker *w, uint32_t number, void *cookie, uint64_t now);

// Writes the next frame to send; its length, or 0 when nothing waits or 'cap' is below
// LIBRA_FRAME_BYTES (LIBRA_COLD_BYTES with a server). It counts as sent at 'now'.
size_t libra_worker_write(struct libra_worker *w, uint8_t *buf, size_t cap, uint64_t now);
enum libra_reason libra_worker_read(struct libra_worker *w, const uint8_t *frame, size_t len,
                                    uint64_t now);
// The next request that is complete, with its cookie.
bool libra_worker_done(struct libra_worker *w, void **cookie);
// Ends a request that is not complete, whatever became of it, with its cookie; false: there is
// none. No other call may follow but this and libra_worker_free().
bool libra_worker_end(struct libra_worker *w, void **cookie);
// LIBRA_NEVER while nothing is on the way.
uint64_t libra_worker_deadline(struct libra_worker *w);
// Does what is due; true: the hard limit has passed.
bool libra_worker_expire(struct libra_worker *w, uint64_t now);
bool libra_worker_busy(const struct libra_worker *w); // a request is not complete
struct libra_worker_stats libra_worker_stats(const struct libra_worker *w);

#endif

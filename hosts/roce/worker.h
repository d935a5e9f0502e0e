// SPDX-License-Identifier: Apache-2.0
//
// worker.h: a SwitchML worker that writes by RoCEv2, as a state machine without input, output or
// clock: what a network card with unreliable connections and the process that uses it do together.
// Bytes and the time come in; bytes to send, the next deadline and completed tensors come out, as
// in hosts/switchml/worker.h.
//
// EXPONENTS. A message of floats is one block of hosts/core/quantise.h: all its packets have one
// exponent, on which all workers agree before. The message before it of its queue pair and tensor
// carries it in its immediate data, and the answer the largest of all workers. The first message of
// each queue pair in a tensor has none before it, so it is preceded by one of zeros. Integers go as
// they are, modulo 2^32.
//
// MESSAGES. A tensor is cut into messages of 'slots' packets of k elements; message j goes by queue
// pair j mod 'pairs', whose slots are pair * slots and those after it in the job's pool. A queue
// pair has one message under way. The next one goes to the same slots in the other version, also
// across tensors. So all workers have to sum up the same tensors in the same order, and a tensor's
// last message is filled up with zeros: a slot that one version passes over would take the version
// after it for a repetition of the one before.
//
// ON THE WIRE (p4/switchml/README.md, RoCE). rkey: 2 * first slot + version. Address: where the
// sums go in the workers' memory, for which offsets from its beginning are used here, the same at
// all workers. Immediate data: number of the queue pair's message, 16 bits; the exponent
// of the next one; 0.
//
// MEMORY. Sums do not come to where elements are sent from: a late answer to an earlier message
// would change what is sent again. Each queue pair has memory for both versions.
//
// LOSS. A packet counts if its number is the queue pair's next. One that is missing leaves a
// message without an end, here and in the switch, and one that is late is known by its number. A
// message whose answer has no end within the timeout (hosts/core/rto.h) is sent again as a whole,
// with new numbers. Sums are taken from memory when the whole answer is there, in order, and is the
// answer to the message that is waited for. Loss, duplication and any reordering are fine in both
// directions, as long as no packet is late by 2^23 of its queue pair.
//
// Files:
//     worker.c   messages, timers, sums
//     pair.c     what a queue pair receives (pair.h)
//     frame.c    the bytes of a packet, and the invariant CRC (frame.h)
//
// Concurrency: a worker belongs to one thread at a time.
#ifndef SILKEN_HOSTS_ROCE_WORKER_H
#define SILKEN_HOSTS_ROCE_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hosts/roce/frame.h"
#include "silken/allreduce.h"

#define ROCE_MAX_PAIRS   64  // of a worker: the switch names them with 6 bits
#define ROCE_MAX_SLOTS   64  // of a message
#define ROCE_MAX_WORKERS 255 // of a job: all below one switch

struct roce_config {
    struct sk_endpoint worker, fabric; // their ports are not looked at
    uint32_t pairs;                    // queue pairs, 1 to ROCE_MAX_PAIRS
    uint32_t slots;                    // packets of a message, 1 to ROCE_MAX_SLOTS
    uint32_t base;                     // first slot of pair 0, in the job's pool
    uint32_t workers;                  // of the job, 1 to ROCE_MAX_WORKERS
    uint32_t k;                        // elements of a packet: 64, 128 or 256
    uint32_t qpn;                      // ours of pair 0; the others' follow it
    uint32_t fabric_qpn;               // the switch's of pair 0; the others' follow it
    uint32_t psn, fabric_psn;          // of the first packets to send and to receive, of all pairs
    uint32_t rkey;                     // of our memory
    uint64_t rto_first, rto_min, rto_max; // ns
    uint64_t limit;                       // without progress for so long the worker fails; ns
};

// One worker's share of a sum: SILKEN_F32 or SILKEN_I32. 'in' and 'out' have 'count' elements, are
// the same memory or do not overlap, and are the worker's until it is idle.
struct roce_tensor {
    enum silken_type type;
    const void *in;
    void *out;
    size_t count;
};

struct roce_stats {
    uint64_t packets_sent, packets_again;    // all; those of messages that were sent before
    uint64_t messages_sent, retransmissions; // of messages
    uint64_t messages_done, tensors_done;
    uint64_t rtt, rto; // smoothed time to an answer, 0 before the first; present timeout; ns
    uint64_t heard[ROCE_REASON_COUNT]; // packets received, by what came of them
};

struct roce_worker;

// Makes a worker in '*w'. Returns 0, SILKEN_ERR_NOMEM, or SILKEN_ERR_INVALID with a sentence in
// '*why', which may be NULL.
int roce_worker_new(struct roce_worker **w, const struct roce_config *config, const char **why);

// NULL is accepted.
void roce_worker_free(struct roce_worker *w);

// Begins to sum up a tensor. Returns 0; SILKEN_ERR_AGAIN while there is another; SILKEN_ERR_STALLED
// after the worker has failed; SILKEN_ERR_INVALID: another type.
int roce_worker_submit(struct roce_worker *w, const struct roce_tensor *tensor, uint64_t now);

// Writes the next frame to 'frame', ROCE_MAX_FRAME bytes, and returns its length, or 0 when there
// is nothing to send. It counts as sent at 'now'.
size_t roce_worker_write(struct roce_worker *w, uint8_t *frame, uint64_t now);

// How many frames roce_worker_write() would write now.
uint32_t roce_worker_queued(const struct roce_worker *w);

// Takes a received frame, which is not needed afterwards. Returns what came of it.
enum roce_reason roce_worker_read(struct roce_worker *w, const uint8_t *frame, size_t len,
                                  uint64_t now);

// When roce_worker_expire() has something to do; UINT64_MAX: nothing to wait for.
uint64_t roce_worker_deadline(struct roce_worker *w);

// Has messages without an answer sent again. Returns false once the limit has passed: the worker
// has failed, and its tensor has no sums.
bool roce_worker_expire(struct roce_worker *w, uint64_t now);

// Whether a tensor is not complete.
bool roce_worker_busy(const struct roce_worker *w);

struct roce_stats roce_worker_stats(const struct roce_worker *w);

#endif

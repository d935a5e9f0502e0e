// SPDX-License-Identifier: Apache-2.0
//
// server.h: a parameter server of Libra as a state machine without input, output or clock. It has
// the sums of the cold parameters of a range of keys; and it is a worker of the switch, to which it
// pushes the hot pairs that reach it nevertheless (from a worker with an older layout, or none).
//
//     for (;;) {
//         while ((len = libra_server_write(s, frame, sizeof frame, now)) > 0)
//             send frame[0..len)
//         wait for a frame, or until libra_server_deadline(s)
//         libra_server_read(s, frame, len, now)        for each frame that came
//         if (libra_server_expire(s, now))
//             give up: the switch does not answer
//     }
//
// SUMS. In double precision, of keys that were pushed at least once; others are 0.
//
// OPTIMISER. Instead of adding to a sum, a server may do with a pushed value what it likes: the sum
// is then a weight, which 'optimiser' changes. Hot parameters have their weights at the server,
// too: the switch sums what is pushed, and a pull of a hot key first collects that (reads and
// clears the cell), as one value for the optimiser. So workers pull hot keys from servers, and see
// what they had pushed before. The switch has to have its CPU in the job ('hot.cpu'), which keeps
// what a collect has cleared until it came.
//
// ONCE. As the switch has it: for each worker and sequence number modulo 512 a record of the last
// push that took it, and whether that was added. What is repeated after that is acknowledged alone,
// what is older than its record is refused, what is repeated while its hot pairs are on their way
// to the switch is dropped: its ack follows when they are added.
//
// CRASH. A server that begins again has neither sums nor records: what it had acknowledged is gone,
// and hot pairs that it had passed on are pushed again if the worker repeats them, or a late copy
// comes. A job that must not have that goes on under another epoch.
//
// BARRIER. Workers come to barriers 1, 2, 3... Each has its ack when all have come.
//
// Refused is what is not of this job, epoch, worker or range of keys. Nothing of such a packet is
// added.
//
// Concurrency: a server belongs to one thread at a time.
#ifndef SILKEN_HOSTS_LIBRA_SERVER_H
#define SILKEN_HOSTS_LIBRA_SERVER_H

#include "hosts/libra/layout.h"
#include "hosts/libra/worker.h"

#define LIBRA_SERVER_WORKERS 64u        // at most
#define LIBRA_BARRIER_LAST   UINT32_MAX // number of a barrier after which nothing follows

// The weight after a value was pushed, or collected: a sum of pushed values. Keys begin with 0.
typedef double libra_optimiser(void *aux, uint64_t key, double weight, double value);

struct libra_server_config {
    struct sk_endpoint self;
    uint8_t job;
    uint16_t epoch;
    unsigned workers;                  // of the job: their numbers are 0 to workers - 1
    uint64_t first_key, last_key;      // its range
    const struct libra_layout *layout; // outlives the server; null: no key is hot
    struct libra_worker_config hot; // as a worker of the switch; ignored without a layout. 'cpu':
                                    // pushes come from the switch's CPU, too, as worker 'workers'
    libra_optimiser *optimiser;     // null: a plain sum
    void *aux;
};
struct libra_server_stats {
    uint64_t pushes, pulls, barriers; // that were answered first
    uint64_t again;                   // acks of what was added before
    uint64_t pairs, hot_pairs;        // added here; pushed to the switch
    uint64_t collected;               // cells of the switch
    bool lost;                        // what was collected is: the server has failed
    uint64_t refused[LIBRA_REASON_COUNT];
};
struct libra_server;

// 0, SILKEN_ERR_NOMEM, or SILKEN_ERR_INVALID with a sentence in '*why' (may be null).
int libra_server_new(struct libra_server **s, const struct libra_server_config *config,
                     const char **why);
void libra_server_free(struct libra_server *s); // null allowed

// Writes the next frame to send; its length, or 0 when nothing waits or 'cap' is below
// LIBRA_COLD_BYTES.
size_t libra_server_write(struct libra_server *s, uint8_t *buf, size_t cap, uint64_t now);
enum libra_reason libra_server_read(struct libra_server *s, const uint8_t *frame, size_t len,
                                    uint64_t now);
uint64_t libra_server_deadline(struct libra_server *s); // LIBRA_NEVER: none
bool libra_server_expire(struct libra_server *s, uint64_t now);

bool libra_server_finished(const struct libra_server *s); // all came to LIBRA_BARRIER_LAST
double libra_server_sum(const struct libra_server *s, uint64_t key);
size_t libra_server_keys(const struct libra_server *s); // that were pushed
struct libra_server_stats libra_server_stats(const struct libra_server *s);

#endif

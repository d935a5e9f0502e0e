// SPDX-License-Identifier: Apache-2.0
//
// board: the memory that the demo's processes share, apart from all packets.
//
// Made before the processes are forked. Four things are on it:
//
//      gradients   each worker's own gradient of a step, in full precision, for the others to check
//                  the switch's sum against; two steps deep
//      weights     each trainee's weights at the end: the workers, and the reference after them
//      status      counters and scores for the progress display
//      servers     counters of ATP's parameter servers
//
// How a gradient is read without a lock: a worker writes its gradient of step s into half s % 2,
// then stores published = s + 1, then sends its packets. Whoever holds a sum of step s knows that
// all workers have sent, so it must find all of them published; if not, the sum cannot be right and
// that is an error in itself. Half s % 2 is written again in step s + 2, after the writer has seen
// everybody's publication of s + 1, and a worker publishes s + 1 only after it has checked s.
#ifndef SILKEN_CLI_DEMO_BOARD_H
#define SILKEN_CLI_DEMO_BOARD_H

#include "cli/demo/options.h"
#include "cli/demo/verify.h"

#include <stdatomic.h>

struct board_status {
    _Atomic unsigned published;                      // steps whose gradient can be read
    _Atomic unsigned finished;                       // steps summed, checked and applied
    _Atomic bool over, failed;                       // has trained, or cannot go on
    _Atomic bool ready;                              // has its port and waits for 'start'
    _Atomic double loss;                             // running mean for an image
    _Atomic double accuracy;                         // running mean, 0 to 1
    _Atomic uint64_t reduce_ns;                      // time spent in all-reduces
    _Atomic uint64_t sent, answers, retransmissions; // packets
    _Atomic uint64_t losses, timeouts;               // reasons of retransmissions
    struct verify_tally tally; // of the worker's own checks; complete when its process has ended
};

struct board_server {
    _Atomic bool ready;           // answers
    _Atomic uint64_t completed;   // fragments
    _Atomic uint64_t in_switches; // of them, those whose sum came from the switches as a whole
    _Atomic uint64_t from_one, from_some; // packets with one worker's values, and some workers'
    _Atomic uint64_t rehashed, marks, overflows, repeated; // as in hosts/include/silken/server.h
};

struct board {
    unsigned workers;
    struct board_server server[DEMO_MAX_SERVERS];
    _Atomic bool start;
    _Atomic bool release;         // the switch is gone: workers may end
    struct board_status status[]; // workers + 1: the last one is the reference
};

// Null when there is no memory.
struct board *board_new(unsigned workers);
void board_free(struct board *b);

float *board_gradient(const struct board *b, unsigned worker, unsigned step);
float *board_weights(const struct board *b, unsigned trainee);

#endif

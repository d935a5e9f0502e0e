// SPDX-License-Identifier: Apache-2.0
//
// worker_proc: what a worker of the demo does, and what the reference does instead.
//
// A worker knows the all-reduce as one function, so that the tests can put another one, or a wrong
// one, in its place.
#ifndef SILKEN_CLI_DEMO_WORKER_PROC_H
#define SILKEN_CLI_DEMO_WORKER_PROC_H

#include "cli/demo/board.h"
#include "cli/demo/train.h"

struct reduce_counts {
    uint64_t sent, answers, retransmissions; // packets
    uint64_t losses, timeouts;               // reasons of retransmissions, where they are told
};

struct reducer {
    void *self;
    size_t block; // elements that travel in one packet
    bool halves;  // which sends 16-bit floats
    double scale; // of all numbers, or 0: each block has its own
    // Replaces tensor[0..n) by its sum over all workers. Returns 0, or -1 with a sentence in
    // 'error'.
    int (*sum)(void *self, float *tensor, size_t n, char *error, size_t error_size);
    void (*counts)(void *self, struct reduce_counts *out);
};

struct worker_job {
    struct train_plan plan;
    const struct dataset *set;
    struct board *board;
    unsigned rank;
};

// Trains through 'r' and checks each sum against the board. Returns 0 with the weights and the
// tally on the board, or -1 with a sentence in 'error'.
int worker_train(const struct worker_job *job, const struct reducer *r, char *error,
                 size_t error_size);

// Trains all shards here and adds them in double precision; the weights end up on the board as
// trainee number 'workers'.
int reference_train(const struct worker_job *job, char *error, size_t error_size);

#endif

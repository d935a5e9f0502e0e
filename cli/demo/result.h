// SPDX-License-Identifier: Apache-2.0
//
// result: what a training job came to, and whether it is verified.
#ifndef SILKEN_CLI_DEMO_RESULT_H
#define SILKEN_CLI_DEMO_RESULT_H

#include "cli/demo/board.h"
#include "cli/demo/report.h"
#include "cli/demo/train.h"

// The workers' status so far, put together.
struct job_totals {
    unsigned steps;        // that all workers have finished
    uint64_t published;    // sum over the workers: changes as long as anybody gets on
    double loss, accuracy; // mean over the workers
    double reduce_seconds; // mean over the workers: time spent in all-reduces
    uint64_t sent, answers, retransmissions; // packets of all workers
    uint64_t losses, timeouts;               // reasons of retransmissions
};

struct job_totals job_totals(const struct board *b);

// The servers' counters so far, put together.
struct server_totals {
    uint64_t completed, in_switches, from_one, from_some; // board.h
    uint64_t rehashed, marks, overflows, repeated;
};

struct server_totals server_totals(const struct board *b);

// Prints the results, with what ATP has to tell if it is that, and what is wrong with them. Returns
// whether the job is verified: every sum of every worker and step was within its bound, and all
// workers ended with the same weights. For use after all processes have ended well. 'reference' are
// the weights to compare with.
bool result_print(struct report *r, const struct board *b, const float *reference,
                  const struct train_plan *plan, const struct dataset *test, bool atp);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// together.h: the same work for each worker of a job, on a thread for each.
#ifndef SILKEN_HARNESS_HOSTS_COMMUNICATOR_TOGETHER_H
#define SILKEN_HARNESS_HOSTS_COMMUNICATOR_TOGETHER_H

// Calls work(context, 0) to work(context, workers - 1) at the same time, and returns when all have.
// A thread that cannot be made ends the process.
void run_together(unsigned workers, void (*work)(void *context, unsigned rank), void *context);

#endif

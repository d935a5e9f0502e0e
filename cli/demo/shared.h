// SPDX-License-Identifier: Apache-2.0
//
// shared: what all trainings of the demo do alike: waiting for their processes, and writing the
// configuration of a switch.
//
// Functions that return a status return 0, or the exit status with which the demo ends, having said
// why. Concurrency: one thread.
#ifndef SILKEN_CLI_DEMO_SHARED_H
#define SILKEN_CLI_DEMO_SHARED_H

#include <jansson.h>

#include "cli/demo/report.h"
#include "cli/demo/supervise.h"

double demo_seconds_since(uint64_t ns); // of sk_clock_now()

// Says how the child has ended and what it said last; returns a status.
int demo_child_failed(struct report *r, const struct child *c);

// One tick of waiting: a child that failed, the user and the limit (seconds from 'began' on, ns)
// end it. Returns a status.
int demo_wait(struct report *r, struct supervisor *s, uint64_t began, unsigned limit);

// Writes 'root' to 'path' as the configuration of a switch that runs 'program' and loses the
// portion 'loss' of its packets, drawn from 'seed'. Takes 'root' over; null: memory was short.
// Paths in a configuration count from its folder, so the program's is made absolute. 0, or -1 with
// a sentence.
int demo_write_config(json_t *root, const char *program, double loss, uint64_t seed,
                      const char *path, char *error, size_t error_size);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// ideal: the least that aggregation can cost: a bare loop that adds the elements of the same packets,
// in network order, into the same number of slots. No header is looked at and nothing is sent. It is
// written for AVX-512, AVX2 and plain C; the machine's best is taken.
#ifndef SILKEN_BENCH_IDEAL_H
#define SILKEN_BENCH_IDEAL_H

#include "bench/rack.h"

struct ideal;
// Checks the sums before it returns; ends the process when they are wrong.
struct ideal *ideal_new(const struct rack *r);
void ideal_free(struct ideal *i);
const char *ideal_isa(void); // which of the three
// A struct bench_side's work; units are packets.
uint64_t ideal_work(void *aux, uint64_t times);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// ideal: the least that aggregation can cost: a bare loop that adds the values of the same packets,
// in network order, into the same number of slots. No header is looked at and nothing is sent. It
// is written for AVX-512, AVX2 and plain C; the machine's best is taken.
#ifndef SILKEN_BENCH_IDEAL_H
#define SILKEN_BENCH_IDEAL_H

#include "bench/rack.h"

// What is added, in the order in which a round sends it: of each batch, all frames of its first
// sender, then of the second. Frame s of every sender of a batch belongs to that batch's slot s.
struct ideal_load {
    const uint8_t *frames; // [batches][rows][slots]
    size_t stride;         // readable, whatever a frame's length
    unsigned values_at,
        k; // where a frame's values begin, and how many; there is room for 16 n of them
    unsigned batches, rows, slots;
    unsigned senders;    // of the rows
    bool saturating;     // signed values, whose sums stop at the limits and stay there
    const char *packets; // what they are, for a sentence
    uint64_t counted;    // as how many units a round counts
};
struct ideal_load ideal_of_rack(const struct rack *r);

struct ideal;
// Checks the sums before it returns; ends the process when they are wrong. Keeps the frames'
// address.
struct ideal *ideal_new(const struct ideal_load *load);
void ideal_free(struct ideal *i);
const char *ideal_isa(void); // which of the three
// A struct bench_side's work; units are packets.
uint64_t ideal_work(void *aux, uint64_t times);

#endif

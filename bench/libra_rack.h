// SPDX-License-Identifier: Apache-2.0
//
// libra_rack: Libra in memory: a switch with a job's workers at its ports 0 and up, and their
// pushes of 16 pairs.
//
// A round is LIBRA_RACK_BATCHES batches, of each a burst of every worker, as a port hands them up;
// each push is added in all its passes, and its ack is counted and let go. No two pushes of a round
// have a parameter in common, so what a cell holds does not depend on their order; the cells are
// spread over the registers as ranks are that come seldom.
#ifndef SILKEN_BENCH_LIBRA_RACK_H
#define SILKEN_BENCH_LIBRA_RACK_H

#include "bench/rig.h"
#include "hosts/libra/libra.h"

#define LIBRA_RACK_WORKERS 8u
#define LIBRA_RACK_BURST   32u
#define LIBRA_RACK_BATCHES 4u
#define LIBRA_RACK_PACKETS                                                                         \
    (LIBRA_RACK_WORKERS * LIBRA_RACK_BURST * LIBRA_RACK_BATCHES) // of a round
#define LIBRA_RACK_CELLS  16384u                                 // of each register
#define LIBRA_RACK_STRIDE 256u

struct libra_rack {
    struct rig rig;
    bool floats;
    uint8_t *buffers; // of a batch: where a device would have written its frames
    uint8_t *frames;  // [batch][worker][burst], LIBRA_RACK_STRIDE apart
    uint32_t sequence;
    uint64_t acks, others; // sent by the switch
    double took;           // by libra_rack_work, the last time: ns of a packet; 0: it was disturbed
};

// Compiles p4/libra for floats or integers, makes the switch and the packets, and checks acks and
// cells after two rounds. Ends the process with a sentence when that fails.
struct libra_rack *libra_rack_new(bool floats);
void libra_rack_free(struct libra_rack *r);

// A struct bench_side's work and what it took; units are pushes. Frames are put where a device
// would have written them, with new sequence numbers, before the clock runs.
uint64_t libra_rack_work(void *aux, uint64_t times);
double libra_rack_took(void *aux);

// The least that it can cost: a bare loop that adds the pairs of the same frames to arrays of
// cells, by gathers from the adder's tables for floats. No header is looked at and nothing is sent.
// Written for AVX-512 and plain C; the machine's best is taken. Checked when it is made.
struct libra_ideal;
struct libra_ideal *libra_ideal_new(const struct libra_rack *r);
void libra_ideal_free(struct libra_ideal *i);
const char *libra_ideal_isa(void);
uint64_t libra_ideal_work(void *aux, uint64_t times);

#endif

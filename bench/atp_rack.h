// SPDX-License-Identifier: Apache-2.0
//
// atp_rack: ATP in memory: a first-level switch with a job's workers at its ports 0 and up and
// their parameter server at the next one, and their packets.
//
// A round is what a job sends for as many fragments as the paper's initial window (256 here, 200
// there): in batches, of each a burst of every worker, as a port hands them up, whose gradients
// take the aggregators and are added; the last worker's packets complete them, and the sums leave
// for the server; then the server's parameter packets, which free the aggregators and go to all
// workers. Aggregators are spread over the pipe's as hashing spreads them.
#ifndef SILKEN_BENCH_ATP_RACK_H
#define SILKEN_BENCH_ATP_RACK_H

#include "bench/ideal.h"
#include "bench/rig.h"

#define ATP_RACK_WORKERS 8u
#define ATP_RACK_BURST   32u
#define ATP_RACK_BATCHES 8u
#define ATP_RACK_PACKETS ((ATP_RACK_WORKERS + 1) * ATP_RACK_BURST * ATP_RACK_BATCHES) // of a round
#define ATP_RACK_BYTES   306u

struct atp_rack {
    struct rig rig;
    uint8_t *buffers; // of a batch: where a device would have written its frames
    uint8_t *frames;  // [batch][worker, or last the server][burst], 'stride' apart
    size_t stride;
    uint64_t sums, parameters; // sent by the switch
    uint64_t wrong;            // packets sent that should be others; counted while 'verify'
    bool verify;
    double took; // by atp_rack_work, the last time: ns of a packet; 0: it was disturbed
};

// Compiles the program, makes the switch and the packets, and checks what two rounds send. Ends the
// process with a sentence when that fails.
struct atp_rack *atp_rack_new(void);
void atp_rack_free(struct atp_rack *r);
struct ideal_load atp_rack_load(const struct atp_rack *r);

// A struct bench_side's work and what it took; 'aux' is the rack; units are packets received. That
// frames are put where a device would have written them, a batch at a time, is not part of what it
// took.
uint64_t atp_rack_work(void *aux, uint64_t times);
double atp_rack_took(void *aux);

#endif

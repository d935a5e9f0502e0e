// SPDX-License-Identifier: Apache-2.0
//
// rack.h: workers that write by RoCEv2 around the compiled p4/switchml/with_roce.p4, in virtual
// time, over links that lose, repeat, reorder and damage frames. The switch's ports check and make
// the invariant CRC. All randomness comes from one seed.
//
// Concurrency: one rack at a time. Memory exhaustion ends the process.
#ifndef SILKEN_HARNESS_HOSTS_ROCE_RACK_H
#define SILKEN_HARNESS_HOSTS_ROCE_RACK_H

#include "harness/net/events.h"
#include "hosts/roce/worker.h"
#include "pipeline/switch/switch.h"

#define RACK_WORKERS 4

struct rack_options {
    uint64_t seed;
    unsigned workers;
    bool spread; // over all pipes
    uint32_t pairs, slots, k;
    uint32_t psn; // first numbers of all queue pairs
    struct net_link up, down;
    double damage; // probability that a frame arrives with a bit changed
};

struct rack_traffic {
    uint64_t sent, lost, doubled, damaged, refused; // refused: by the ports, for their CRC
};

struct rack;

struct rack *rack_new(const struct sk_program *program, const struct rack_options *options);
void rack_free(struct rack *r);

// Has all workers sum up 'count' elements, worker i those at values[i], in place, and runs until
// they have, or one fails: false.
bool rack_sum(struct rack *r, enum silken_type type, void *const values[], size_t count);

struct rack_traffic rack_traffic(const struct rack *r);
struct roce_stats rack_stats(const struct rack *r, unsigned worker);

#endif

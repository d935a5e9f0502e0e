// SPDX-License-Identifier: Apache-2.0
//
// window.h: how many packets a worker may have in flight, as ATP has it (section 3.7).
//
//      acknowledgement, below the threshold    + step
//      acknowledgement, above it               + step for each window of them
//      mark or loss                            half, which is the threshold from then on
//
// Halved once for what was in flight at that time: a further mark or loss counts only if it is of a
// fragment that was sent later. Concurrency: a window belongs to one thread at a time.
#ifndef SILKEN_HOSTS_CORE_WINDOW_H
#define SILKEN_HOSTS_CORE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct sk_window {
    uint32_t packets;   // the window
    uint32_t threshold; // of slow start
    uint32_t max;
    uint32_t step;
    uint32_t acks;     // above the threshold, since the last growth
    uint64_t cut_from; // the first fragment whose mark or loss halves the window
    bool fixed;
};

void sk_window_init(struct sk_window *w, uint32_t packets, uint32_t max, uint32_t step, bool fixed);

// A fragment has been acknowledged, without a mark.
void sk_window_grow(struct sk_window *w);

// Fragment 'number' was marked or lost; 'next' is the first one that has not been sent.
void sk_window_cut(struct sk_window *w, uint64_t number, uint64_t next);

#endif

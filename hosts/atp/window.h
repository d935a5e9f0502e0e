/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h: how many packets a worker may have in flight (ATP, section 3.7).
 *
 *      acknowledgement, below the threshold    + ATP_MTU_PACKETS
 *      acknowledgement, above it               + ATP_MTU_PACKETS for each window of them
 *      mark or loss                            half, which is the threshold from then on
 *
 * Halved once for what was in flight at that time: a further mark or loss counts only if it is of a
 * fragment that was sent later. Concurrency: a window belongs to one thread at a time.
 */
#ifndef SILKEN_HOSTS_ATP_WINDOW_H
#define SILKEN_HOSTS_ATP_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct atp_window {
    uint32_t packets;   /* the window */
    uint32_t threshold; /* of slow start */
    uint32_t max;
    uint32_t acks;     /* above the threshold, since the last growth */
    uint64_t cut_from; /* the first fragment whose mark or loss halves the window */
    bool fixed;
};

void atp_window_init(struct atp_window *w, uint32_t packets, uint32_t max, bool fixed);

/* A fragment has been acknowledged, without a mark. */
void atp_window_grow(struct atp_window *w);

/* Fragment |number| was marked or lost; |next| is the first one that has not been sent. */
void atp_window_cut(struct atp_window *w, uint64_t number, uint64_t next);

#endif

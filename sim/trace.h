// SPDX-License-Identifier: Apache-2.0
//
// trace: what happened last, to be told when something is wrong.
//
// A ring of the last events, each with the protocol's header as it was on the wire. When an
// invariant does not hold, those of the fragment (ATP) or slot (SwitchML) concerned are printed.
// With 'live' every event is printed as it happens.
//
// Concurrency: belongs to one thread.
#ifndef SILKEN_SIM_TRACE_H
#define SILKEN_SIM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum sim_protocol { SIM_OTHER, SIM_SWITCHML, SIM_ATP, SIM_LIBRA };

// Of what a frame is a part: an ATP job's fragment (its sequence number), a SwitchML job's slot, or
// a Libra worker's packet (its sequence number).
struct sim_key {
    enum sim_protocol protocol;
    uint8_t job;
    uint32_t number;
};
// SIM_OTHER for anything else, however it may look.
struct sim_key sim_key_of(const uint8_t *frame, size_t length);

struct sim_trace_entry {
    uint64_t time;
    const char *where, *what; // not copied: names of links and hosts, literals
    uint32_t length;
    struct sim_key key;
    uint8_t header[16]; // of the protocol
};

struct sim_trace {
    struct sim_trace_entry *ring;
    size_t size; // a power of two; 0: nothing is kept
    uint64_t written;
    FILE *live; // null: no one looks on
};

void sim_trace_init(struct sim_trace *t, size_t size, FILE *live);
void sim_trace_free(struct sim_trace *t);
// 'frame' may be null: something that happened to no frame.
void sim_trace_add(struct sim_trace *t, uint64_t now, const char *where, const char *what,
                   const uint8_t *frame, size_t length);
// The last 'most' entries of the key, and of no frame; null: of all keys.
void sim_trace_print(const struct sim_trace *t, const struct sim_key *key, size_t most, FILE *out);

#endif

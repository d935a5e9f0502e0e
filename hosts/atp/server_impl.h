// SPDX-License-Identifier: Apache-2.0
//
// server_impl.h: the inside of a server, for server.c, parameters.c and scale.c only.
#ifndef SILKEN_HOSTS_ATP_SERVER_IMPL_H
#define SILKEN_HOSTS_ATP_SERVER_IMPL_H

#include "hosts/atp/numbers.h"
#include "hosts/atp/server.h"

// Indices that workers have used for a fragment: more than one only while they learn of a new
// one.
#define ATP_SLOT_INDICES 4

enum atp_slot_state { ATP_SLOT_EMPTY, ATP_SLOT_SUMMING, ATP_SLOT_COMPLETE };

// A fragment. Slot number & ring_mask; the ring has twice the window, so that the one which was
// there before is not missed by any worker.
struct atp_fragment {
    uint64_t number;
    uint64_t answered_at;   // when it was sent last, or the request for floats
    uint32_t missing;       // workers
    uint32_t rehash, scale; // words of its parameters
    uint16_t index[ATP_SLOT_INDICES];
    uint8_t indices;
    uint8_t pending; // a bit for each index for which a packet is to be sent
    uint8_t state;
    bool floats; // the sum did not fit: floats have been asked for
    bool ecn;
    bool queued;
    bool burst; // workers are sending it again: for a while one answer is for all of them
};

// Its values: a sum, or, when it is complete, what is sent.
union atp_sum {
    int64_t integer[ATP_VALUES];
    double real[ATP_VALUES];
    uint8_t wire[4 * ATP_VALUES];
};

// The scaling factor, and what has been seen since it was last judged (scale.c).
struct atp_scaling {
    double scale, coming; // coming: from fragment `from` on; 0: none
    uint64_t from;
    uint64_t judged_at; // a fragment's number
    uint32_t overflows;
    uint32_t greatest;    // magnitude of sums
    float greatest_float; // of values of what overflowed
};

struct atp_server {
    struct atp_server_config config;
    const struct atp_numbers *numbers;
    uint8_t header[ATP_HEADER_BYTES];
    struct atp_known known;
    unsigned words;                    // of a set of workers
    uint32_t rack_bits[ATP_MAX_RACKS]; // by entity: all its bits of bitmap0
    struct atp_members all;

    uint64_t ring_mask;
    struct atp_fragment *fragments;
    uint64_t *have; // by slot: `words` words, who is in the sum; if complete, who has asked since
    union atp_sum *sums;
    uint64_t first; // the first fragment that is not complete

    uint32_t *queue; // ring of slots with something to send, each at most once
    uint32_t queue_head, queue_length;

    struct atp_scaling scaling;

    // After a reshape: fragment `restart_from` is `restart_to` now.
    uint64_t restart_from, restart_to, restart_at;
    struct atp_members heard; // who has sent something with the new numbers
    uint64_t restart_every;   // until the next repetition
    unsigned restarts_left;
    bool restarting, restart_due;

    struct atp_server_stats stats;
};

static inline struct atp_fragment *atp_fragment_at(const struct atp_server *s, uint64_t number) {
    return &s->fragments[number & s->ring_mask];
}

static inline union atp_sum *atp_sum_at(const struct atp_server *s, uint64_t number) {
    return &s->sums[number & s->ring_mask];
}

// parameters.c: has a packet about the fragment sent for each of the indices in 'which', one bit
// each;
// ATP_ALL_INDICES: all that are known.
#define ATP_ALL_INDICES 0xff
void atp_send(struct atp_server *s, struct atp_fragment *f, unsigned which, uint64_t now);

// Remembers an index of a fragment; returns its bit.
unsigned atp_note_index(struct atp_fragment *f, uint16_t index);

// scale.c: the factor of a fragment; what is to be said with its parameters, when it is complete;
// and what has been seen.
double atp_scale_of(const struct atp_server *s, uint64_t number);
void atp_scale_init(struct atp_server *s);
uint32_t atp_scale_judge(struct atp_server *s, const struct atp_fragment *f);
void atp_scale_see_sum(struct atp_server *s, const uint8_t *values);
void atp_scale_see_floats(struct atp_server *s, const uint8_t *values);

#endif

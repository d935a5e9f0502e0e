// SPDX-License-Identifier: Apache-2.0
//
// events.h: what is to happen when, in the networks of the hosts' tests: a heap by time, and for
// the same time by order of arrival, so that a run can be repeated exactly.
//
// An event is the user's memory and begins with a struct net_event. Concurrency: a queue belongs to
// one thread. Memory exhaustion ends the process.
#ifndef SILKEN_HARNESS_NET_EVENTS_H
#define SILKEN_HARNESS_NET_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "harness/hosts/random.h"

struct net_event {
    uint64_t time;
    uint64_t order;
};

struct net_events {
    struct net_event **heap;
    size_t length, capacity;
    uint64_t next_order;
};

// Adds an event for 'at'.
void net_events_push(struct net_events *q, struct net_event *e, uint64_t at);

// Takes the earliest event out; there must be one.
struct net_event *net_events_pop(struct net_events *q);

// Frees the heap; events that are still there are the user's.
void net_events_free(struct net_events *q);

// malloc() or the end.
void *net_must(void *memory);

// One direction of a link. A frame is lost with probability `loss`; else it arrives after `delay`,
// or with probability `reorder` after up to `jitter` more; and with probability `duplicate` a
// second time, with a delay of its own.
struct net_link {
    double loss, duplicate, reorder; // probabilities, 0..1
    uint64_t delay, jitter;          // ns
};

// When a frame that is sent at 'now' arrives.
uint64_t net_link_arrival(const struct net_link *link, struct sk_random *random, uint64_t now);

#endif

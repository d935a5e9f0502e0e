// SPDX-License-Identifier: Apache-2.0
//
// events: virtual time. What is to happen at which nanosecond, in one definite order.
//
//     sim_at(&events, events.now + 1000, arrive, link, frame);
//     while (sim_step(&events))
//         ;                                   // arrive(link, frame) is called when now is that
//                                             time
//
// Two things at the same time happen in the order in which they were asked for, so a run depends on
// nothing but its input. Nothing is ever cancelled: who may not be wanted any more looks when it is
// called (struct sim_timer does that for "wake me up").
//
// A 4-ary heap: an event goes up and down in few, cache-wide steps.
//
// Concurrency: belongs to one thread. Memory exhaustion ends the process.
#ifndef SILKEN_SIM_EVENTS_H
#define SILKEN_SIM_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_NEVER UINT64_MAX

typedef void sim_action(void *who, void *what);

struct sim_event {
    uint64_t time; // ns
    uint64_t order;
    sim_action *run;
    void *who, *what;
};

struct sim_events {
    struct sim_event *heap;
    size_t n, capacity;
    uint64_t now;
    uint64_t order; // of the next event
    uint64_t ran;   // how many have happened
    uint64_t late;  // how many were asked for in the past: a bug of who asked; they happen now
};

void sim_events_free(struct sim_events *e); // a zeroed struct is an empty queue
// At SIM_NEVER nothing is to happen, and nothing is queued.
void sim_at(struct sim_events *e, uint64_t time, sim_action *run, void *who, void *what);
// When the next event happens; SIM_NEVER: there is none.
static inline uint64_t sim_next(const struct sim_events *e) {
    return e->n ? e->heap[0].time : SIM_NEVER;
}
// Lets the next event happen. False when there is none.
bool sim_step(struct sim_events *e);

// One wake-up that is wanted at one time or another. 'run' is called with 'who' when it is time.
struct sim_timer {
    struct sim_events *events;
    sim_action *run;
    void *who;
    uint64_t at; // of the earliest event that is queued
};
void sim_timer_init(struct sim_timer *t, struct sim_events *e, sim_action *run, void *who);
// Sees to it that 'run' is called at 'time' or before. It may be called too early: then it asks
// again.
void sim_timer_set(struct sim_timer *t, uint64_t time);

#endif

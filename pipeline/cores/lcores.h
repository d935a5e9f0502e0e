// SPDX-License-Identifier: Apache-2.0
//
// lcores: the threads that run the cores of a switch.
//
// Each lcore calls a function again and again: a turn, in which it receives a burst, runs its core
// and sends. The first lcore is the thread that called sk_lcores_run(). Between two turns an lcore
// uses nothing of the switch, so control calls are made then: the control thread, which is not an
// lcore, calls sk_lcores_pause(), which returns when all lcores have finished their turn and wait,
// and then sk_lcores_resume(). Work between these calls must be short, because packets wait. A
// pause costs a few microseconds if every thread has its own processor; if threads share
// processors, it takes as long as the system needs to schedule each of them.
//
// With 'idle_sleep_us', an lcore that has had nothing to do in some turns yields its processor
// (sched_yield); if that lasts, it sleeps for 'idle_sleep_us' between turns, and for at least 500
// microseconds after 2,000 such turns: on a small machine, a switch shares its processors with
// hosts. Without 'idle_sleep_us', an lcore yields its processor only in pauses.
//
// If each lcore has a processor of its own and the one who pauses runs on none of them, nobody
// yields at once in a pause: that one looks for 20 microseconds, and an lcore as long, or, without
// 'idle_sleep_us', for a millisecond.
#ifndef SILKEN_PIPELINE_CORES_LCORES_H
#define SILKEN_PIPELINE_CORES_LCORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sk_lcores;

struct sk_lcores_options {
    unsigned n;      // lcores, at least 1
    const int *cpus; // processor of each; -1, and null for all: wherever the system puts it
    uint32_t idle_sleep_us;
    // A turn; returns whether there was something to do.
    bool (*turn)(void *aux, unsigned lcore);
    // Called on each lcore but the first, before its first and after its last turn; may be null.
    // False from the first: it cannot run.
    bool (*enter)(void *aux, unsigned lcore);
    void (*leave)(void *aux, unsigned lcore);
    void *aux;
};

// Null with a sentence. Starts nothing yet.
struct sk_lcores *sk_lcores_new(const struct sk_lcores_options *opt, char *error,
                                size_t error_size);
// Runs until sk_lcores_stop(). When it returns all other lcores have ended. False with a sentence
// when an lcore cannot be started; none runs then.
bool sk_lcores_run(struct sk_lcores *l, char *error, size_t error_size);
// From any thread or signal handler. Turns that are under way are finished.
void sk_lcores_stop(struct sk_lcores *l);
void sk_lcores_free(struct sk_lcores *l); // null allowed; not while it runs

// From one thread that is no lcore: when it returns no lcore is in a turn, nor will be until
// sk_lcores_resume(). Not nested, and not by two threads at a time. Also before the lcores run and
// after they ended. What lcores did before is seen after the first, and what is done in between is
// seen by lcores after the second.
void sk_lcores_pause(struct sk_lcores *l);
// Whether every lcore sleeps for want of work, or has found none in its last 200 turns: a pause
// that begins now takes no packet's time. That changes by itself, so it is true of a moment. Not in
// a pause; from the thread that pauses.
bool sk_lcores_idle(struct sk_lcores *l);
// 'changed': something that a flow record depends on may be another than before (an entry, a group,
// a port, a register...). Without it caches of flows keep what they have.
void sk_lcores_resume(struct sk_lcores *l, bool changed);

#endif

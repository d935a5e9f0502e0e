// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <sched.h>
#include <time.h>

#define YIELD_FOR   10000 // ns of asking with yields only
#define SHORT_SLEEP 20000 // ns; the system adds its timer slack, usually 50000

static uint64_t read_clock(clockid_t clock) {
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t sk_clock_now(void) {
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t sk_clock_wall(void) {
    return read_clock(CLOCK_REALTIME);
}

uint64_t sk_clock_worked(void) {
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static void pause_for(uint64_t waited, uint64_t left) {
    struct timespec nap = {.tv_nsec = (long)(left < SHORT_SLEEP ? left : SHORT_SLEEP)};

    if (waited < YIELD_FOR)
        sched_yield();
    else
        nanosleep(&nap, NULL);
}

int sk_clock_poll(int (*ready)(void *context), void *context, uint64_t timeout) {
    uint64_t start = sk_clock_now(), waited = 0;

    while (!ready(context)) {
        if (waited >= timeout)
            return 0;
        pause_for(waited, timeout - waited);
        waited = sk_clock_now() - start;
    }
    return 1;
}

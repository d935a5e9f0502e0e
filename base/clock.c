// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#define YIELD_FOR    10000    // ns of asking with yields only
#define DEAR         1500000  // ns: a yield that takes so long let in somebody who took a slice
#define LEAST_REST   10000000 // ns without yields then,
#define MOST_REST    40000000 // and when that happens again and again
#define SHORTEST_NAP 5000     // ns
#define LONGEST_NAP  70000
#define SLACK        1000 // ns by which the system may end a nap late; usually 50000

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

// A yield to peers that work for a moment and then yield themselves is cheap. Where a processor has
// other work, it gives the processor away for whole slices, some milliseconds, while one who sleeps
// is let in soon when his nap is over. One cheap yield does not say that the other work has ended.
static _Thread_local struct {
    uint64_t from; // the next yield, on the clock
    uint64_t rest; // ns: how long there was none before it
} yields;

bool sk_clock_yield(void) {
    const uint64_t before = sk_clock_now();

    if (before < yields.from)
        return false;
    sched_yield();
    const uint64_t after = sk_clock_now();
    if (after - before < DEAR) {
        yields.rest -= yields.rest / 16;
        return true;
    }
    yields.rest = yields.rest < LEAST_REST / 2 ? LEAST_REST : 2 * yields.rest;
    yields.rest = yields.rest < MOST_REST ? yields.rest : MOST_REST;
    yields.from = after + yields.rest;
    return false;
}

// In proportion to what was waited already, so that a short wait does not become a long one.
static void clock_nap(uint64_t waited, uint64_t left) {
    uint64_t ns = waited / 4;
    struct timespec nap = {0};

    ns = ns < SHORTEST_NAP ? SHORTEST_NAP : ns < LONGEST_NAP ? ns : LONGEST_NAP;
    nap.tv_nsec = (long)(ns < left ? ns : left);
    nanosleep(&nap, NULL);
}

int sk_clock_poll(int (*ready)(void *context), void *context, uint64_t timeout) {
    const uint64_t start = sk_clock_now();
    uint64_t now = start;
    int slack = 0; // the thread's own, once naps have begun
    int is_ready;

    while (!(is_ready = ready(context)) && now - start < timeout) {
        if (now - start >= YIELD_FOR || !sk_clock_yield()) {
            if (slack == 0) {
                slack = prctl(PR_GET_TIMERSLACK);
                prctl(PR_SET_TIMERSLACK, SLACK);
            }
            clock_nap(now - start, timeout - (now - start));
        }
        now = sk_clock_now();
    }
    if (slack > 0)
        prctl(PR_SET_TIMERSLACK, (unsigned long)slack);
    return is_ready;
}

// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#define YIELD_FOR    10000    // ns of asking with yields only
#define DEAR         50000    // ns: a yield that takes so long has let somebody else work
#define DEAR_FOR     10000000 // ns without yields then
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

// Where a processor has other work, a yield gives it away for some milliseconds, while one who
// sleeps is let in soon when his nap is over.
static _Thread_local uint64_t yields_from;

static void clock_yield(uint64_t now) {
    uint64_t after;

    sched_yield();
    after = sk_clock_now();
    if (after - now > DEAR)
        yields_from = after + DEAR_FOR;
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
        if (now - start < YIELD_FOR && now >= yields_from) {
            clock_yield(now);
        } else {
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

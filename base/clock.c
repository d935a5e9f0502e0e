/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <sched.h>
#include <time.h>

#define YIELD_FOR   10000 /* ns of asking with yields only */
#define SHORT_SLEEP 20000 /* ns; the system adds its timer slack, usually 50000 */

uint64_t sk_clock_now(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void pause_for(uint64_t waited, uint64_t left) {
    struct timespec nap = {.tv_nsec = (long)(left < SHORT_SLEEP ? left : SHORT_SLEEP)};

    if (waited < YIELD_FOR) {
        sched_yield();
    } else {
        nanosleep(&nap, NULL);
    }
}

int sk_clock_poll(int (*ready)(void *context), void *context, uint64_t timeout) {
    uint64_t start = sk_clock_now(), waited = 0;

    while (!ready(context)) {
        if (waited >= timeout) {
            return 0;
        }
        pause_for(waited, timeout - waited);
        waited = sk_clock_now() - start;
    }
    return 1;
}

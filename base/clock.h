// SPDX-License-Identifier: Apache-2.0
//
// clock.h: the operating system's time.
//
// For code that runs in real time: commands, transports, which wait, the all-reduce library, which
// drives state machines, and services, whose clients may be silent for too long. What switches and
// protocols do depends on the time that they get as an argument. Any thread may call these.
#ifndef SILKEN_BASE_CLOCK_H
#define SILKEN_BASE_CLOCK_H

#include <stdint.h>

// Nanoseconds of the monotonic clock, and of the calendar's (since 1970).
uint64_t sk_clock_now(void);
uint64_t sk_clock_wall(void);
// Nanoseconds of processor time that the calling thread was charged with.
uint64_t sk_clock_worked(void);

// Waits up to 'timeout' ns for |ready(context)| to become true by asking it again and again: at
// first with a yield in between, so that a peer on the same processor can go on, then, and at once
// where processors have other work, with sleeps of a quarter of what was waited, 5 to 70 us.
// Returns what 'ready' said last.
int sk_clock_poll(int (*ready)(void *context), void *context, uint64_t timeout);

#endif

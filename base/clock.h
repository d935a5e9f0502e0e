// SPDX-License-Identifier: Apache-2.0
//
// clock.h: the operating system's time.
//
// For code that runs in real time: commands, transports, which wait, the all-reduce library, which
// drives state machines, and services, whose clients may be silent for too long. What switches and
// protocols do depends on the time that they get as an argument. Any thread may call these.
#ifndef SILKEN_BASE_CLOCK_H
#define SILKEN_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

// Nanoseconds of the monotonic clock, and of the calendar's (since 1970).
uint64_t sk_clock_now(void);
uint64_t sk_clock_wall(void);
// Nanoseconds of processor time that the calling thread was charged with.
uint64_t sk_clock_worked(void);

// Gives the processor away for a moment, so that a peer on it can go on. False if that moment was
// 1.5 ms or more, which is another's slice, or if one was on this thread less than 10 ms ago (40 ms
// when it was so again and again), when nothing is given away: who waits sleeps then.
bool sk_clock_yield(void);

// Waits up to 'timeout' ns for |ready(context)| to become true by asking it again and again: at
// first with a yield in between, then, and at once where a yield says no, with sleeps of a quarter
// of what was waited, 5 to 70 us. Returns what 'ready' said last.
int sk_clock_poll(int (*ready)(void *context), void *context, uint64_t timeout);

#endif

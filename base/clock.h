/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h: the one place where hosts/ asks the operating system for the time.
 *
 * Only transports, which wait, and the all-reduce library, which drives state machines in real
 * time, use it; protocols get the time as an argument. Any thread may call these.
 */
#ifndef SILKEN_BASE_CLOCK_H
#define SILKEN_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds of the monotonic clock. */
uint64_t sk_clock_now(void);

/* Waits up to |timeout| ns for |ready(context)| to become true by asking it again and again: at
 * first with a yield in between, so that a peer on the same processor can go on, then with short
 * sleeps. Returns what |ready| said last. */
int sk_clock_poll(int (*ready)(void *context), void *context, uint64_t timeout);

#endif

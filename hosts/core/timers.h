// SPDX-License-Identifier: Apache-2.0
//
// timers.h: one timer for each of a fixed number of things, numbered 0..count-1.
//
// A host stack has a timer per slot or per packet in flight, arms it with every packet it sends,
// and nearly always cancels it before it fires. The structure is made for that: a binary heap of
// *lower bounds* of the deadlines. Arming a timer later than its place in the heap says, and
// cancelling it, only write one word; the heap is put right when the stale bound reaches the top.
// Arming it earlier than the bound moves it up, in logarithmic time.
//
// Time is a number of nanoseconds from the caller; nothing here reads a clock. The value
// SK_TIMERS_NEVER means no deadline.
//
// Concurrency: a set of timers belongs to one thread at a time.
#ifndef SILKEN_HOSTS_CORE_TIMERS_H
#define SILKEN_HOSTS_CORE_TIMERS_H

#include <stdint.h>

#define SK_TIMERS_NEVER UINT64_MAX

struct sk_timers {
    uint32_t count;     // number of timers
    uint32_t in_heap;   // number of heap entries in use
    uint64_t *deadline; // by timer: when it fires, SK_TIMERS_NEVER when it is not armed
    uint64_t *bound;    // by timer: its key in the heap, <= deadline while it is in the heap
    uint32_t *place;    // by timer: its position in the heap plus one, 0 when it is not in it
    uint32_t *heap;     // timers, ordered by bound
};

// Makes 'count' timers, none armed. Returns 0, or -1 when there is no memory (nothing to free).
int sk_timers_init(struct sk_timers *t, uint32_t count);

// Frees what sk_timers_init() made. A zeroed struct is accepted.
void sk_timers_free(struct sk_timers *t);

// For sk_timers_arm(): puts the armed timer 'id' where its deadline belongs.
void sk_timers_place(struct sk_timers *t, uint32_t id);

// Arms timer 'id' for 'deadline', replacing an earlier deadline.
static inline void sk_timers_arm(struct sk_timers *t, uint32_t id, uint64_t deadline) {
    t->deadline[id] = deadline;
    if (t->place[id] == 0 || deadline < t->bound[id])
        sk_timers_place(t, id);
}

// Disarms timer 'id'; it need not be armed.
static inline void sk_timers_cancel(struct sk_timers *t, uint32_t id) {
    t->deadline[id] = SK_TIMERS_NEVER;
}

// The earliest deadline of all armed timers, exact; SK_TIMERS_NEVER when none is armed.
uint64_t sk_timers_next(struct sk_timers *t);

// Takes one timer whose deadline is at or before 'now': disarms it, stores its number in '*id' and
// returns 1. Returns 0 when no timer is due. Due timers come out in order of their deadlines.
int sk_timers_expire(struct sk_timers *t, uint64_t now, uint32_t *id);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// rto.h: how long to wait for an answer, and for how long no answer is too long.
//
// The timeout follows the measured time to an answer within bounds, as TCP's does: smoothed mean
// plus four deviations (RFC 6298, 2.2 and 2.3). A watch counts from the last progress: a first
// warning, one after twice that time and so on, and a hard limit.
//
// All times are in nanoseconds. Concurrency: each belongs to one thread at a time.
#ifndef SILKEN_HOSTS_CORE_RTO_H
#define SILKEN_HOSTS_CORE_RTO_H

#include <stdbool.h>
#include <stdint.h>

#define SK_TIME_NEVER UINT64_MAX

struct sk_rto {
    uint64_t min, max;       // bounds of `timeout`
    uint64_t rtt, deviation; // 0 before the first measurement
    uint64_t timeout;
};

static inline uint64_t sk_time_add(uint64_t time, uint64_t span) {
    return span < SK_TIME_NEVER - time ? time + span : SK_TIME_NEVER;
}

static inline uint64_t sk_time_earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static inline void sk_rto_set(struct sk_rto *r, uint64_t timeout) {
    r->timeout = timeout < r->min ? r->min : timeout > r->max ? r->max : timeout;
}

static inline void sk_rto_init(struct sk_rto *r, uint64_t first, uint64_t min, uint64_t max) {
    *r = (struct sk_rto){.min = min, .max = max};
    sk_rto_set(r, first);
}

static inline void sk_rto_measure(struct sk_rto *r, uint64_t sample) {
    uint64_t error = sample > r->rtt ? sample - r->rtt : r->rtt - sample;

    if (r->rtt == 0) {
        r->rtt = sample;
        r->deviation = sample / 2;
    } else {
        r->deviation = r->deviation - r->deviation / 4 + error / 4;
        r->rtt = r->rtt - r->rtt / 8 + sample / 8;
    }
    sk_rto_set(r, r->rtt + 4 * r->deviation);
}

// The timeout after it has passed 'times' times in a row: doubled each time, up to the bound.
static inline uint64_t sk_rto_backed_off(const struct sk_rto *r, uint32_t times) {
    uint64_t timeout = r->timeout;

    for (uint32_t i = 0; i < times && timeout < r->max; i++)
        timeout *= 2;
    return timeout < r->max ? timeout : r->max;
}

struct sk_watch {
    uint64_t warning, limit; // of time without progress; SK_TIME_NEVER: none
    uint64_t since;          // last progress, or start of work
    uint64_t next_warning;   // after this time without progress
};

static inline void sk_watch_start(struct sk_watch *w, uint64_t now) {
    w->since = now;
    w->next_warning = w->warning;
}

static inline uint64_t sk_watch_deadline(const struct sk_watch *w) {
    return sk_time_add(w->since, sk_time_earlier(w->next_warning, w->limit));
}

static inline bool sk_watch_is_over(const struct sk_watch *w, uint64_t now) {
    return now >= sk_time_add(w->since, w->limit);
}

// Whether it is time for a warning; then the next one is after twice the time.
static inline bool sk_watch_warns(struct sk_watch *w, uint64_t now) {
    if (now < sk_time_add(w->since, w->next_warning))
        return false;
    while (now >= sk_time_add(w->since, w->next_warning))
        w->next_warning = sk_time_add(w->next_warning, w->next_warning);
    return true;
}

#endif

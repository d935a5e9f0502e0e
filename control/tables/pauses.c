// SPDX-License-Identifier: Apache-2.0
#include "control/tables/pauses.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"

#define LONGEST_NS UINT64_C(100000) // of a slice that breathes
#define CREDIT_NS  UINT64_C(200000) // that packets may have waited without as much time after it

static void pauses_wait(uint64_t ns) {
    const struct timespec t = {.tv_sec = (time_t)(ns / 1000000000),
                               .tv_nsec = (long)(ns % 1000000000)};
    nanosleep(&t, NULL); // a signal may cut it short
}

void sk_pauses_begin(struct sk_pauses *p) {
    if (!p || !p->pause)
        return;
    const uint64_t now = sk_clock_now(), passed = now - p->ended;
    p->owed -= passed < p->owed ? passed : p->owed;
    if (p->owed > CREDIT_NS && !(p->idle && p->idle(p->aux))) {
        pauses_wait(p->owed -
                    CREDIT_NS / 2); // fewer and longer waits: each costs the system's time
        p->owed = CREDIT_NS / 2;
    }
    p->pause(p->aux);
    p->from = sk_clock_now();
}

void sk_pauses_end(struct sk_pauses *p) {
    if (!p || !p->pause)
        return;
    p->resume(p->aux);
    p->ended = sk_clock_now();
    p->owed += p->ended - p->from;
}

void sk_pauses_breathe(struct sk_pauses *p) {
    if (!p || !p->pause || sk_clock_now() - p->from < LONGEST_NS)
        return;
    sk_pauses_end(p);
    sk_pauses_begin(p);
}

void sk_pauses_between(void *pauses) {
    sk_pauses_breathe(pauses);
}

void sk_entry_copy(struct sk_entry_copy *out, const struct sk_entry *e, uint64_t *direct,
                   uint32_t words) {
    out->entry = *e;
    out->entry.hits = sk_entry_hits(e);
    out->entry.last_hit = sk_entry_last_hit(e);
    out->entry.elsewhere = NULL;
    if (e->meter) {
        out->meter = *e->meter;
        out->entry.meter = &out->meter;
    }
    if (e->direct) {
        memcpy(direct, e->direct, words * sizeof *direct);
        out->entry.direct = direct;
    }
}

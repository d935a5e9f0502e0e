// SPDX-License-Identifier: Apache-2.0
#include "sim/events.h"

#include <stdlib.h>

#include "base/memory.h"

#define ARITY 4

void sim_events_free(struct sim_events *e) {
    free(e->heap);
    *e = (struct sim_events){0};
}

static bool sim_events_before(const struct sim_event *a, const struct sim_event *b) {
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

void sim_at(struct sim_events *e, uint64_t time, sim_action *run, void *who, void *what) {
    if (time == SIM_NEVER)
        return;
    if (time < e->now) {
        e->late++;
        time = e->now;
    }
    e->heap = sk_grow(e->heap, e->n, &e->capacity, sizeof *e->heap);
    const struct sim_event ev = {time, e->order++, run, who, what};
    size_t i = e->n++;
    for (; i > 0 && sim_events_before(&ev, &e->heap[(i - 1) / ARITY]); i = (i - 1) / ARITY)
        e->heap[i] = e->heap[(i - 1) / ARITY];
    e->heap[i] = ev;
}

static void sim_events_take_first(struct sim_events *e) {
    const struct sim_event last = e->heap[--e->n];
    size_t i = 0;
    for (size_t child; (child = ARITY * i + 1) < e->n;) {
        size_t least = child;
        for (size_t c = child + 1; c < child + ARITY && c < e->n; c++)
            if (sim_events_before(&e->heap[c], &e->heap[least]))
                least = c;
        if (!sim_events_before(&e->heap[least], &last))
            break;
        e->heap[i] = e->heap[least];
        i = least;
    }
    if (e->n)
        e->heap[i] = last;
}

bool sim_step(struct sim_events *e) {
    if (!e->n)
        return false;
    const struct sim_event ev = e->heap[0];
    sim_events_take_first(e);
    e->now = ev.time;
    e->ran++;
    ev.run(ev.who, ev.what);
    return true;
}

// ---- timers ----

static void sim_events_fire(void *who, void *what) {
    struct sim_timer *t = who;
    (void)what;
    if (t->at > t->events->now)
        return; // it was set to an earlier time once, and that is over
    t->at = SIM_NEVER;
    t->run(t->who, NULL);
}

void sim_timer_init(struct sim_timer *t, struct sim_events *e, sim_action *run, void *who) {
    *t = (struct sim_timer){e, run, who, SIM_NEVER};
}

void sim_timer_set(struct sim_timer *t, uint64_t time) {
    if (time >= t->at)
        return;
    t->at = time < t->events->now ? t->events->now : time;
    sim_at(t->events, t->at, sim_events_fire, t, NULL);
}

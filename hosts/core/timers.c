// SPDX-License-Identifier: Apache-2.0
#include "hosts/core/timers.h"

#include <stdlib.h>
#include <string.h>

int sk_timers_init(struct sk_timers *t, uint32_t count) {
    size_t n = count ? count : 1;

    *t = (struct sk_timers){.count = count};
    t->deadline = malloc(n * sizeof *t->deadline);
    t->bound = malloc(n * sizeof *t->bound);
    t->place = calloc(n, sizeof *t->place);
    t->heap = malloc(n * sizeof *t->heap);
    if (!t->deadline || !t->bound || !t->place || !t->heap) {
        sk_timers_free(t);
        return -1;
    }
    for (uint32_t i = 0; i < count; i++)
        t->deadline[i] = SK_TIMERS_NEVER;
    return 0;
}

void sk_timers_free(struct sk_timers *t) {
    free(t->deadline);
    free(t->bound);
    free(t->place);
    free(t->heap);
    *t = (struct sk_timers){0};
}

static void timers_put(struct sk_timers *t, uint32_t position, uint32_t id) {
    t->heap[position] = id;
    t->place[id] = position + 1;
}

static void move_up(struct sk_timers *t, uint32_t position) {
    uint32_t id = t->heap[position];

    while (position > 0) {
        uint32_t parent = (position - 1) / 2;
        if (t->bound[t->heap[parent]] <= t->bound[id])
            break;
        timers_put(t, position, t->heap[parent]);
        position = parent;
    }
    timers_put(t, position, id);
}

static void move_down(struct sk_timers *t, uint32_t position) {
    uint32_t id = t->heap[position];

    for (;;) {
        uint32_t child = 2 * position + 1;
        if (child >= t->in_heap)
            break;
        if (child + 1 < t->in_heap && t->bound[t->heap[child + 1]] < t->bound[t->heap[child]])
            child++;
        if (t->bound[id] <= t->bound[t->heap[child]])
            break;
        timers_put(t, position, t->heap[child]);
        position = child;
    }
    timers_put(t, position, id);
}

static void remove_top(struct sk_timers *t) {
    t->place[t->heap[0]] = 0;
    t->in_heap--;
    if (t->in_heap > 0) {
        t->heap[0] = t->heap[t->in_heap];
        move_down(t, 0);
    }
}

// Makes the top's bound its deadline, dropping timers that are no longer armed.
static void settle_top(struct sk_timers *t) {
    while (t->in_heap > 0) {
        uint32_t id = t->heap[0];
        if (t->deadline[id] == SK_TIMERS_NEVER) {
            remove_top(t);
        } else if (t->deadline[id] > t->bound[id]) {
            t->bound[id] = t->deadline[id];
            move_down(t, 0);
        } else {
            return;
        }
    }
}

void sk_timers_place(struct sk_timers *t, uint32_t id) {
    if (t->deadline[id] == SK_TIMERS_NEVER)
        return;
    t->bound[id] = t->deadline[id];
    if (t->place[id] == 0)
        timers_put(t, t->in_heap++, id);
    move_up(t, t->place[id] - 1);
}

uint64_t sk_timers_next(struct sk_timers *t) {
    settle_top(t);
    return t->in_heap > 0 ? t->deadline[t->heap[0]] : SK_TIMERS_NEVER;
}

int sk_timers_expire(struct sk_timers *t, uint64_t now, uint32_t *id) {
    // Bounds are not above deadlines, so most calls end here.
    if (t->in_heap == 0 || t->bound[t->heap[0]] > now || sk_timers_next(t) > now || t->in_heap == 0)
        return 0;
    *id = t->heap[0];
    t->deadline[*id] = SK_TIMERS_NEVER;
    remove_top(t);
    return 1;
}

// SPDX-License-Identifier: Apache-2.0
#include "harness/net/events.h"

#include <stdbool.h>
#include <stdlib.h>

void *net_must(void *memory) {
    if (!memory)
        abort();
    return memory;
}

static bool before(const struct net_event *a, const struct net_event *b) {
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

void net_events_push(struct net_events *q, struct net_event *e, uint64_t at) {
    size_t i = q->length++;

    e->time = at;
    e->order = q->next_order++;
    if (q->length > q->capacity) {
        q->capacity = 2 * q->length;
        q->heap = net_must(realloc(q->heap, q->capacity * sizeof(struct net_event *)));
    }
    for (; i > 0 && before(e, q->heap[(i - 1) / 2]); i = (i - 1) / 2)
        q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = e;
}

struct net_event *net_events_pop(struct net_events *q) {
    struct net_event *top = q->heap[0], *last = q->heap[--q->length];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < q->length) {
        if (child + 1 < q->length && before(q->heap[child + 1], q->heap[child]))
            child++;
        if (!before(q->heap[child], last))
            break;
        q->heap[i] = q->heap[child];
        i = child;
    }
    q->heap[i] = last;
    return top;
}

void net_events_free(struct net_events *q) {
    free(q->heap);
    *q = (struct net_events){0};
}

uint64_t net_link_arrival(const struct net_link *link, struct sk_random *random, uint64_t now) {
    uint64_t extra = 0;

    if (link->jitter > 0 && sk_random_chance(random, link->reorder))
        extra = sk_random_below(random, link->jitter);
    return now + link->delay + extra;
}

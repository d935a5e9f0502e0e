// SPDX-License-Identifier: Apache-2.0
#include "sim/transport/order.h"

#include <stdlib.h>

static bool order_before(const struct order *o, const struct order_item *a,
                         const struct order_item *b) {
    if (o->by_layer && a->urgency != b->urgency)
        return a->urgency < b->urgency;
    return a->age < b->age;
}

static void order_down(struct order *o, size_t i) {
    for (;;) {
        size_t best = i;
        for (size_t k = 2 * i + 1; k < 2 * i + 3 && k < o->n; k++)
            if (order_before(o, &o->heap[k], &o->heap[best]))
                best = k;
        if (best == i)
            return;
        const struct order_item item = o->heap[i];
        o->heap[i] = o->heap[best];
        o->heap[best] = item;
        i = best;
    }
}

void order_add(struct order *o, uint32_t urgency, uint64_t bytes, void *of) {
    if (o->n == o->capacity) {
        o->capacity = o->capacity ? 2 * o->capacity : 32;
        o->heap = realloc(o->heap, o->capacity * sizeof *o->heap);
        if (!o->heap)
            abort();
    }
    size_t i = o->n++;
    const struct order_item item = {urgency, bytes, o->age++, of};
    for (; i && order_before(o, &item, &o->heap[(i - 1) / 2]); i = (i - 1) / 2)
        o->heap[i] = o->heap[(i - 1) / 2];
    o->heap[i] = item;
}

bool order_next(struct order *o, struct order_part *out) {
    if (!o->n)
        return false;
    struct order_item *item = &o->heap[0];
    const uint64_t bytes = o->partition && item->left > o->partition ? o->partition : item->left;
    if (o->credit && o->out && o->out + bytes > o->credit)
        return false;
    item->left -= bytes;
    o->out += bytes;
    *out = (struct order_part){item->urgency, bytes, item->of, item->left == 0};
    if (out->last) {
        o->heap[0] = o->heap[--o->n];
        order_down(o, 0);
    }
    return true;
}

void order_done(struct order *o, uint64_t bytes) {
    o->out -= bytes < o->out ? bytes : o->out;
}

void order_free(struct order *o) {
    free(o->heap);
    o->heap = NULL;
    o->n = o->capacity = 0;
}

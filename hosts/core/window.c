// SPDX-License-Identifier: Apache-2.0
#include "hosts/core/window.h"

void sk_window_init(struct sk_window *w, uint32_t packets, uint32_t max, uint32_t step,
                    bool fixed) {
    *w = (struct sk_window){
        .packets = packets, .threshold = max, .max = max, .step = step, .fixed = fixed};
}

static void window_grow_by_one(struct sk_window *w) {
    w->packets = w->packets + w->step < w->max ? w->packets + w->step : w->max;
}

void sk_window_grow(struct sk_window *w) {
    if (w->fixed)
        return;
    if (w->packets < w->threshold) {
        window_grow_by_one(w);
    } else if (++w->acks >= w->packets) {
        w->acks = 0;
        window_grow_by_one(w);
    }
}

void sk_window_cut(struct sk_window *w, uint64_t number, uint64_t next) {
    uint32_t least = w->step < w->max ? w->step : w->max;

    if (w->fixed || number < w->cut_from)
        return;
    w->packets = w->packets / 2 > least ? w->packets / 2 : least;
    w->threshold = w->packets;
    w->acks = 0;
    w->cut_from = next;
}

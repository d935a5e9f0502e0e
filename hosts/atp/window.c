/* SPDX-License-Identifier: Apache-2.0 */
#include "hosts/atp/window.h"

#include "hosts/atp/worker.h"

void atp_window_init(struct atp_window *w, uint32_t packets, uint32_t max, bool fixed) {
    *w = (struct atp_window){.packets = packets, .threshold = max, .max = max, .fixed = fixed};
}

static void atp_window_grow_by_one(struct atp_window *w) {
    w->packets = w->packets + ATP_MTU_PACKETS < w->max ? w->packets + ATP_MTU_PACKETS : w->max;
}

void atp_window_grow(struct atp_window *w) {
    if (w->fixed) {
        return;
    }
    if (w->packets < w->threshold) {
        atp_window_grow_by_one(w);
    } else if (++w->acks >= w->packets) {
        w->acks = 0;
        atp_window_grow_by_one(w);
    }
}

void atp_window_cut(struct atp_window *w, uint64_t number, uint64_t next) {
    uint32_t least = ATP_MTU_PACKETS < w->max ? ATP_MTU_PACKETS : w->max;

    if (w->fixed || number < w->cut_from) {
        return;
    }
    w->packets = w->packets / 2 > least ? w->packets / 2 : least;
    w->threshold = w->packets;
    w->acks = 0;
    w->cut_from = next;
}

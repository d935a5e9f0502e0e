// SPDX-License-Identifier: Apache-2.0
#include "sim/link.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SMALL      320u // bytes: most frames are an ATP packet's 306
#define SLAB_BYTES ((size_t)1 << 16)

const char *sim_loss_text(enum sim_loss reason) {
    static const char *const texts[] = {
#define TEXT(name, text) text,
        SIM_LOSSES(TEXT)
#undef TEXT
    };
    return texts[reason];
}

// ---- frames ----

static void more_frames(struct sim_frames *f, bool small) {
    const size_t each = sizeof(struct sim_frame) + (small ? SMALL : SIM_MAX_FRAME);
    const size_t n = SLAB_BYTES / each;
    char *slab = malloc(n * each);
    if (!slab)
        abort();
    f->slabs = sk_resize(f->slabs, f->n_slabs + 1, sizeof *f->slabs);
    f->slabs[f->n_slabs++] = slab;
    for (size_t i = n; i-- > 0;) {
        struct sim_frame *frame = (struct sim_frame *)(slab + i * each);
        frame->small = small;
        frame->next = f->free[small];
        f->free[small] = frame;
    }
}

struct sim_frame *sim_frame_of(struct sim_frames *f, const uint8_t *bytes, uint32_t length) {
    const bool small = length <= SMALL;
    if (!f->free[small])
        more_frames(f, small);
    struct sim_frame *frame = f->free[small];
    f->free[small] = frame->next;
    frame->length = length;
    frame->damaged = false;
    memcpy(frame->bytes, bytes, length);
    return frame;
}

void sim_frame_put(struct sim_frames *f, struct sim_frame *frame) {
    frame->next = f->free[frame->small];
    f->free[frame->small] = frame;
}

void sim_frames_free(struct sim_frames *f) {
    for (size_t i = 0; i < f->n_slabs; i++)
        free(f->slabs[i]);
    free(f->slabs);
    *f = (struct sim_frames){0};
}

// ---- the link ----

void sim_link_init(struct sim_link *l, struct sim_events *e, struct sim_frames *f,
                   struct sim_trace *t, uint64_t seed) {
    l->events = e;
    l->frames = f;
    l->trace = t;
    l->random = sim_random_of(seed, l->name);
    l->free_at = 0;
    l->epoch = 0;
    l->down = false;
    l->next_lose = 0;
    l->stats = (struct sim_link_stats){0};
}

uint64_t sim_link_time(const struct sim_link *l, uint64_t bytes) {
    // rounded up, as the engine's ports do: queues of a switch's port and of its link are in step
    return l->rate_mbps ? (bytes * 8000 + l->rate_mbps - 1) / l->rate_mbps : 0;
}

uint64_t sim_link_backlog(const struct sim_link *l) {
    const uint64_t now = l->events->now;
    return l->free_at > now ? (l->free_at - now) * l->rate_mbps / 8000 : 0;
}

bool sim_link_conserves(const struct sim_link *l) {
    uint64_t gone = l->stats.delivered + l->stats.in_flight;
    for (int i = 0; i < SIM_LOSS_COUNT; i++)
        gone += l->stats.lost[i];
    return l->stats.sent + l->stats.duplicated == gone;
}

static void sim_link_lose(struct sim_link *l, enum sim_loss reason, const uint8_t *bytes,
                          uint32_t length) {
    l->stats.lost[reason]++;
    sim_trace_add(l->trace, l->events->now, l->name, sim_loss_text(reason), bytes, length);
}

static void sim_link_arrive(void *who, void *what) {
    struct sim_link *l = who;
    struct sim_frame *f = what;
    l->stats.in_flight--;
    if (f->epoch != l->epoch) {
        sim_link_lose(l, SIM_LOST_DOWN, f->bytes, f->length);
    } else if (f->damaged && !l->faults.undetected) {
        sim_link_lose(l, SIM_LOST_CORRUPT, f->bytes, f->length);
    } else {
        sim_trace_add(l->trace, l->events->now, l->name, "arrives", f->bytes, f->length);
        if (l->deliver(l->station, l->port, f->bytes, f->length)) {
            l->stats.delivered++;
            l->stats.delivered_bytes += f->length;
        } else {
            sim_link_lose(l, SIM_LOST_STATION, f->bytes, f->length);
        }
    }
    sim_frame_put(l->frames, f);
}

static void fly(struct sim_link *l, const uint8_t *bytes, uint32_t length, uint64_t at,
                bool damaged) {
    struct sim_frame *f = sim_frame_of(l->frames, bytes, length);
    f->epoch = l->epoch;
    f->damaged = damaged;
    if (damaged) {
        const uint64_t bit = sim_random_below(&l->random, (uint64_t)length * 8);
        f->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    l->stats.in_flight++;
    sim_at(l->events, at, sim_link_arrive, l, f);
}

static bool is_listed(struct sim_link *l) {
    while (l->next_lose < l->faults.n_lose && l->faults.lose[l->next_lose] < l->stats.sent)
        l->next_lose++;
    return l->next_lose < l->faults.n_lose && l->faults.lose[l->next_lose] == l->stats.sent;
}

// Whether the frame finds room, and then when it is on the wire.
static bool queue(struct sim_link *l, uint32_t length) {
    const uint64_t now = l->events->now, waiting = sim_link_backlog(l);
    if (l->queue_bytes && waiting + length > l->queue_bytes)
        return false;
    if (waiting + length > l->stats.most_queued)
        l->stats.most_queued = waiting + length;
    const uint64_t takes = sim_link_time(l, length + SIM_OVERHEAD);
    l->free_at = (l->free_at > now ? l->free_at : now) + takes;
    l->stats.busy_ns += takes;
    return true;
}

void sim_link_send(struct sim_link *l, const uint8_t *bytes, uint32_t length) {
    l->stats.sent++;
    l->stats.sent_bytes += length;
    if (!queue(l, length)) {
        sim_link_lose(l, SIM_LOST_QUEUE, bytes, length);
        return;
    }
    if (l->down) { // the sender does not know, and is not any faster for that
        sim_link_lose(l, SIM_LOST_DOWN, bytes, length);
        return;
    }
    sim_trace_add(l->trace, l->events->now, l->name, "sends", bytes, length);
    const struct sim_link_faults *f = &l->faults;
    if (is_listed(l) || sim_random_chance(&l->random, f->loss)) {
        sim_link_lose(l, SIM_LOST_LOSS, bytes, length);
        return;
    }
    const bool damaged = sim_random_chance(&l->random, f->corrupt);
    uint64_t at = l->free_at + l->delay_ns;
    if (sim_random_chance(&l->random, f->reorder)) {
        at += sim_random_below(&l->random, f->reorder_ns + 1);
        l->stats.reordered++;
    }
    l->stats.damaged += damaged;
    fly(l, bytes, length, at, damaged);
    if (sim_random_chance(&l->random, f->duplicate)) {
        l->stats.duplicated++;
        fly(l, bytes, length, at, false);
    }
}

void sim_link_set_down(struct sim_link *l, bool down) {
    l->epoch += down && !l->down;
    if (down)
        l->free_at = l->events->now; // what waited is lost with what was on the wire
    l->down = down;
}

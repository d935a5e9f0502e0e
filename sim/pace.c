// SPDX-License-Identifier: Apache-2.0
#include "sim/pace.h"

#include <stdlib.h>

#include "sim/events.h"

void pace_init(struct sim_pace *p, const struct scn_work *work, uint64_t iterations) {
    *p = (struct sim_pace){.work = work,
                           .stretch = 1,
                           .iterations = iterations,
                           .forward = true,
                           .n_there = work->n_layers};
    p->there = calloc(work->n_layers, sizeof *p->there);
    if (!p->there)
        abort();
}

void pace_free(struct sim_pace *p) {
    free(p->there);
    p->there = NULL;
}

void pace_parameters(struct sim_pace *p, size_t layer) {
    p->there[layer]++;
    p->n_there++;
}

bool pace_done(const struct sim_pace *p) {
    return p->iteration == p->iterations && p->n_there == p->work->n_layers;
}

// Forward, the front layer comes first.
static size_t pace_layer(const struct sim_pace *p) {
    return p->forward ? p->work->n_layers - 1 - p->position : p->position;
}

static bool pace_may_compute(const struct sim_pace *p) {
    if (p->iteration == p->iterations)
        return false;
    if (!p->forward)
        return true;
    return p->work->by_layer ? p->there[pace_layer(p)] >= p->iteration
                             : p->n_there == p->work->n_layers || p->position > 0;
}

static uint64_t pace_takes(const struct sim_pace *p) {
    const struct scn_work *work = p->work;
    return (uint64_t)(work->compute_ns * p->stretch * work->layers[pace_layer(p)].share *
                      (p->forward ? work->forward : work->backward) / work->whole);
}

// The layer is computed.
static enum pace_event pace_next(struct sim_pace *p, size_t *layer) {
    const bool forward = p->forward;
    *layer = pace_layer(p);
    p->computes = false;
    if (++p->position == p->work->n_layers) {
        p->position = 0;
        p->forward = !forward;
        if (!forward) {
            p->iteration++;
            p->begun = false;
        }
    }
    if (!forward)
        p->n_there--;
    return forward ? PACE_NONE : PACE_GRADIENT;
}

enum pace_event pace_step(struct sim_pace *p, uint64_t now, size_t *layer) {
    for (;;) {
        if (p->computes && p->free_at > now)
            return PACE_NONE;
        if (p->computes) {
            const enum pace_event e = pace_next(p, layer);
            if (e != PACE_NONE)
                return e;
        }
        if (!pace_may_compute(p))
            return PACE_NONE;
        if (!p->begun) {
            p->begun = true;
            p->free_at = p->free_at > now ? p->free_at : now;
            return PACE_BEGINS;
        }
        // what follows without a pause begins when the last one ended, however late this is asked
        p->free_at = (p->forward && p->free_at < now ? now : p->free_at) + pace_takes(p);
        p->computes = true;
    }
}

uint64_t pace_deadline(const struct sim_pace *p) {
    return p->computes ? p->free_at : SIM_NEVER;
}

// SPDX-License-Identifier: Apache-2.0
//
// All-reduces by plan (collective.h) in an exchange.
//
// A tensor has tracks, each of which follows the plan by itself: chunks of a tree, one of
// everything else. Two iterations can be under way at a time: who has the sum of the one may have
// begun the next, but nobody ends that before all have begun it.
#include <stdlib.h>
#include <string.h>

#include "sim/exchange/exchange_impl.h"

static uint32_t together_trees(const struct sim_exchange *x) {
    return x->as->form == SCN_TWO_TREES ? 2 : 1;
}

static uint32_t tracks_of(const struct sim_exchange *x, uint32_t layer) {
    if (x->plan.kind != COLLECTIVE_TREE)
        return 1;
    const uint64_t each = x->as->chunk_bytes * together_trees(x);
    const uint64_t chunks = (x_tensor_bytes(x, layer) + each - 1) / each;
    return (uint32_t)(chunks ? chunks : 1) * together_trees(x);
}

static uint32_t layer_tracks(const struct sim_exchange *x, uint32_t layer) {
    return x->first_track[layer + 1] - x->first_track[layer];
}

void xtogether_init(struct sim_exchange *x) {
    static const enum collective_kind kinds[] = {[SCN_HALVING] = COLLECTIVE_HALVING,
                                                 [SCN_TREE] = COLLECTIVE_TREE,
                                                 [SCN_TWO_TREES] = COLLECTIVE_TREE,
                                                 [SCN_HIERARCHICAL] = COLLECTIVE_HIERARCHICAL};
    x->plan =
        (struct collective){.kind = kinds[x->as->form], .n = x->n_workers, .group = x->as->group};
    x->stages = collective_stages(&x->plan);
    x->first_track = calloc(x->n_layers + 1, sizeof *x->first_track);
    if (!x->first_track)
        abort();
    for (uint32_t l = 0; l < x->n_layers; l++)
        x->first_track[l + 1] = x->first_track[l] + tracks_of(x, l);
    const size_t n = 2 * (size_t)x->first_track[x->n_layers];
    for (uint32_t i = 0; i < x->n_workers; i++) {
        struct xworker *w = &x->workers[i];
        w->tracks = calloc(n, sizeof *w->tracks);
        w->came = calloc(n * x->stages, sizeof *w->came);
        if (!w->tracks || !w->came)
            abort();
    }
}

void xtogether_free(struct sim_exchange *x) {
    for (uint32_t i = 0; i < x->n_workers; i++) {
        free(x->workers[i].tracks);
        free(x->workers[i].came);
    }
    free(x->first_track);
}

// A send's part of the tensor, in bytes. Whole floats; a part that would be empty has one.
static uint64_t send_bytes(const struct sim_exchange *x, uint32_t layer, uint32_t track,
                           const struct collective_send *s) {
    const uint32_t tracks = layer_tracks(x, layer), parts = collective_parts(&x->plan);
    const uint64_t elements = x_tensor_bytes(x, layer) / 4;
    const uint64_t own =
        placement_cut(elements, track + 1, tracks) - placement_cut(elements, track, tracks);
    const uint64_t n = placement_cut(own, s->end, parts) - placement_cut(own, s->from, parts);
    return n ? 4 * n : 4;
}

static struct collective track_plan(const struct sim_exchange *x, uint32_t track) {
    struct collective c = x->plan;
    c.upside_down = x->as->form == SCN_TWO_TREES && track % 2 == 1;
    return c;
}

static void stage_enter(struct xworker *w, uint32_t layer, uint64_t iteration, uint32_t track,
                        uint32_t stage) {
    struct sim_exchange *x = w->x;
    const struct collective c = track_plan(x, track);
    struct collective_send out[COLLECTIVE_MOST];
    const uint32_t n = collective_sends(&c, w->rank, stage, out);
    for (uint32_t i = 0; i < n; i++) {
        const struct xflow f = {.from = w->stack,
                                .to = x->workers[out[i].to].stack,
                                .kind = X_COLLECTIVE,
                                .layer = layer,
                                .part = track,
                                .step = out[i].stage,
                                .iteration = iteration,
                                .bytes = send_bytes(x, layer, track, &out[i])};
        x_send(x, &f);
    }
}

// True when that was the last track of the layer.
static bool track_go_on(struct xworker *w, uint32_t layer, uint64_t iteration, uint32_t track) {
    struct sim_exchange *x = w->x;
    const struct collective c = track_plan(x, track);
    const size_t at = 2 * (size_t)(x->first_track[layer] + track) + iteration % 2;
    struct xtrack *t = &w->tracks[at];
    uint8_t *came = &w->came[at * x->stages];
    while (t->own && t->stage < x->stages &&
           came[t->stage] == collective_expects(&c, w->rank, t->stage))
        stage_enter(w, layer, iteration, track, ++t->stage);
    if (t->stage < x->stages)
        return false;
    *t = (struct xtrack){0};
    memset(came, 0, x->stages);
    return --w->left[layer] == 0;
}

bool xtogether_own(struct xworker *w, uint32_t layer) {
    struct sim_exchange *x = w->x;
    const uint64_t iteration = w->own[layer]++;
    const uint32_t n = layer_tracks(x, layer);
    bool there = false;
    w->left[layer] = n;
    for (uint32_t track = 0; track < n; track++) {
        w->tracks[2 * (size_t)(x->first_track[layer] + track) + iteration % 2].own = true;
        stage_enter(w, layer, iteration, track, 0);
        there |= track_go_on(w, layer, iteration, track);
    }
    return there; // a tree's root may have waited for its own values only
}

bool xtogether_arrived(struct xworker *w, const struct xflow *f) {
    const size_t at = 2 * (size_t)(w->x->first_track[f->layer] + f->part) + f->iteration % 2;
    w->came[at * w->x->stages + f->step]++;
    return track_go_on(w, f->layer, f->iteration, f->part);
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/train.h"

#include "cli/demo/rng.h"

#include <stdlib.h>

#define LEARNING_RATE 0.1f
#define MOMENTUM      0.9f

#define STREAM_EPOCHS 1000 // and following: one stream of random numbers for each epoch
#define NO_EPOCH      UINT64_MAX

struct trainer *trainer_new(const struct train_plan *plan, const struct dataset *set) {
    struct trainer *t = calloc(1, sizeof *t);

    if (!t) {
        return NULL;
    }
    t->plan = *plan;
    t->set = set;
    t->epoch = NO_EPOCH;
    t->order = malloc(set->count * sizeof *t->order);
    if (!t->order) {
        free(t);
        return NULL;
    }
    model_init(t->weights, plan->seed);
    return t;
}

void trainer_free(struct trainer *t) {
    if (t) {
        free(t->order);
        free(t);
    }
}

unsigned train_steps_per_epoch(const struct dataset *set, unsigned batch) {
    return (unsigned)(set->count / batch);
}

// Fisher and Yates, from the same start for each epoch, so that any epoch can be had at once.
static void shuffle(struct trainer *t, uint64_t epoch) {
    struct rng r = rng_stream(t->plan.seed, STREAM_EPOCHS + epoch);

    if (t->epoch == epoch) {
        return;
    }
    for (size_t i = 0; i < t->set->count; i++) {
        t->order[i] = (uint32_t)i;
    }
    for (size_t i = t->set->count - 1; i > 0; i--) {
        size_t j = rng_below(&r, i + 1);
        uint32_t kept = t->order[i];
        t->order[i] = t->order[j];
        t->order[j] = kept;
    }
    t->epoch = epoch;
}

void train_gradient(struct trainer *t, unsigned step, unsigned shard, float *gradient,
                    struct model_score *score) {
    unsigned per_epoch = train_steps_per_epoch(t->set, t->plan.batch);
    size_t batch = t->plan.batch, first = step % per_epoch * batch;
    size_t from = batch * shard / t->plan.shards, to = batch * (shard + 1) / t->plan.shards;

    shuffle(t, step / per_epoch);
    model_gradient(t->weights, t->set, t->order + first + from, to - from, 1.0f / (float)batch,
                   gradient, score);
}

// The rate falls to 0 in a straight line: large steps first, and a calm end.
void train_apply(struct trainer *t, unsigned step, const float *sum) {
    float rate = LEARNING_RATE * (1.0f - (float)step / (float)t->plan.steps);

    model_update(t->weights, t->velocity, sum, rate, MOMENTUM);
}

// SPDX-License-Identifier: Apache-2.0
//
// train: data-parallel stochastic gradient descent, cut where the gradients are exchanged.
//
// A step takes a batch of images in an order drawn from the seed. The batch is divided into as many
// shards as there are workers; the gradient of a step is the sum of the shards' gradients, each
// already divided by the batch's size. Whoever adds them up, a switch or a loop, the rest is the
// same code with the same inputs:
//
//      train_gradient(t, step, shard, g, &score);      each worker for its shard
//      sum over the shards                             the switch, or the reference itself
//      train_apply(t, step, sum);                      everybody
//
// so that two trainings of one seed differ by the rounding of that sum and by nothing else.
#ifndef SILKEN_CLI_DEMO_TRAIN_H
#define SILKEN_CLI_DEMO_TRAIN_H

#include "cli/demo/model.h"

struct train_plan {
    unsigned shards;
    unsigned batch; // at least 'shards', at most the images of the set
    unsigned steps;
    uint64_t seed;
};

struct trainer {
    struct train_plan plan;
    const struct dataset *set;
    uint64_t epoch;  // whose order is in 'order'
    uint32_t *order; // the images of the set, shuffled
    float weights[MODEL_PARAMS];
    float velocity[MODEL_PARAMS];
};

// Null when there is no memory. The set must outlive the trainer.
struct trainer *trainer_new(const struct train_plan *plan, const struct dataset *set);
void trainer_free(struct trainer *t);

// Steps in one pass over the set; what is left of the images is taken in other passes, since each
// pass has its own order.
unsigned train_steps_per_epoch(const struct dataset *set, unsigned batch);

void train_gradient(struct trainer *t, unsigned step, unsigned shard, float *gradient,
                    struct model_score *score);
void train_apply(struct trainer *t, unsigned step, const float *sum);

#endif

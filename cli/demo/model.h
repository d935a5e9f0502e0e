// SPDX-License-Identifier: Apache-2.0
//
// model: a small image classifier and its gradient, in plain C.
//
// A multi-layer perceptron: 784 pixels -> 64 hidden units (tanh) -> 10 classes (softmax), with the
// cross entropy as loss. All of it is smooth: two trainings whose gradients differ by a rounding
// stay together, while a rectifier would now and then take the one unit and not the other. 50,890
// parameters in one array, so that a gradient is one tensor:
//
//      W1 [784][64]   b1 [64]   W2 [64][10]   b2 [10]
//
// Both matrices have the input's index first: all inner loops then run over the outputs, are free
// of dependences, and a compiler vectorises them without being allowed to reorder a sum. So sums
// are taken in the order that is written here, and the same images and weights give the same bits
// in every process that runs this code. Black pixels add nothing and are skipped; half of them are.
#ifndef SILKEN_CLI_DEMO_MODEL_H
#define SILKEN_CLI_DEMO_MODEL_H

#include "cli/demo/dataset.h"

#define MODEL_INPUTS  DATASET_PIXELS
#define MODEL_HIDDEN  64
#define MODEL_OUTPUTS DATASET_CLASSES

#define MODEL_W1     0
#define MODEL_B1     (MODEL_W1 + MODEL_INPUTS * MODEL_HIDDEN)
#define MODEL_W2     (MODEL_B1 + MODEL_HIDDEN)
#define MODEL_B2     (MODEL_W2 + MODEL_HIDDEN * MODEL_OUTPUTS)
#define MODEL_PARAMS (MODEL_B2 + MODEL_OUTPUTS)

struct model_score {
    double loss;    // summed over the images
    size_t correct; // images whose class is the most likely one
    size_t images;
};

// Random weights whose size suits each layer's inputs; biases 0.
void model_init(float weights[MODEL_PARAMS], uint64_t seed);

// Writes 'scale' times the sum of the gradients of the 'n' images index[0..n) to 'gradient', and
// what the model made of them to '*score'.
void model_gradient(const float weights[MODEL_PARAMS], const struct dataset *set,
                    const uint32_t *index, size_t n, float scale, float gradient[MODEL_PARAMS],
                    struct model_score *score);

// All images of the set.
struct model_score model_evaluate(const float weights[MODEL_PARAMS], const struct dataset *set);

// One step of gradient descent with momentum: v = momentum * v + gradient; w -= rate * v.
void model_update(float weights[MODEL_PARAMS], float velocity[MODEL_PARAMS],
                  const float gradient[MODEL_PARAMS], float rate, float momentum);

#endif

// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/model.h"

#include "cli/demo/rng.h"

#include <math.h>
#include <string.h>

#define STREAM_WEIGHTS 1

// What one image leaves in the layers on its way forward.
struct activation {
    float input[MODEL_INPUTS];
    float hidden[MODEL_HIDDEN];
    float output[MODEL_OUTPUTS]; // probabilities
};

// ---- initial weights ----------------------------------------------------------------------------

// Uniform with the variance 1 / inputs, which keeps the size of signals from layer to layer.
static void init_layer(float *w, size_t inputs, size_t outputs, struct rng *r) {
    float range = sqrtf(3.0f / (float)inputs);

    for (size_t i = 0; i < inputs * outputs; i++) {
        w[i] = range * (2 * rng_unit(r) - 1);
    }
}

void model_init(float weights[MODEL_PARAMS], uint64_t seed) {
    struct rng r = rng_stream(seed, STREAM_WEIGHTS);

    memset(weights, 0, MODEL_PARAMS * sizeof *weights);
    init_layer(weights + MODEL_W1, MODEL_INPUTS, MODEL_HIDDEN, &r);
    init_layer(weights + MODEL_W2, MODEL_HIDDEN, MODEL_OUTPUTS, &r);
}

// sum += factor * row, over the hidden units: where nearly all the time goes. 'restrict' is what
// lets a compiler vectorise it without a look at the addresses.
static inline void add_row(float *restrict sum, const float *restrict row, float factor) {
    for (size_t j = 0; j < MODEL_HIDDEN; j++) {
        sum[j] += factor * row[j];
    }
}

// ---- forward ------------------------------------------------------------------------------------

static void hidden_layer(const float *weights, struct activation *a) {
    const float *w1 = weights + MODEL_W1;

    memcpy(a->hidden, weights + MODEL_B1, sizeof a->hidden);
    for (size_t i = 0; i < MODEL_INPUTS; i++, w1 += MODEL_HIDDEN) {
        if (a->input[i] != 0) {
            add_row(a->hidden, w1, a->input[i]);
        }
    }
    for (size_t j = 0; j < MODEL_HIDDEN; j++) {
        a->hidden[j] = tanhf(a->hidden[j]);
    }
}

static void output_layer(const float *weights, struct activation *a) {
    const float *w2 = weights + MODEL_W2;

    memcpy(a->output, weights + MODEL_B2, sizeof a->output);
    for (size_t i = 0; i < MODEL_HIDDEN; i++, w2 += MODEL_OUTPUTS) {
        for (size_t j = 0; j < MODEL_OUTPUTS; j++) {
            a->output[j] += a->hidden[i] * w2[j];
        }
    }
}

static size_t most_likely(const float p[MODEL_OUTPUTS]) {
    size_t best = 0;

    for (size_t j = 1; j < MODEL_OUTPUTS; j++) {
        best = p[j] > p[best] ? j : best;
    }
    return best;
}

// Scores become probabilities; the largest is subtracted first so that no exponential overflows.
static void softmax(float p[MODEL_OUTPUTS]) {
    float largest = p[most_likely(p)];
    float sum = 0;

    for (size_t j = 0; j < MODEL_OUTPUTS; j++) {
        p[j] = expf(p[j] - largest);
        sum += p[j];
    }
    for (size_t j = 0; j < MODEL_OUTPUTS; j++) {
        p[j] /= sum;
    }
}

static void model_forward(const float *weights, const uint8_t *pixels, struct activation *a) {
    for (size_t i = 0; i < MODEL_INPUTS; i++) {
        a->input[i] = (float)pixels[i] * (1.0f / 255);
    }
    hidden_layer(weights, a);
    output_layer(weights, a);
    softmax(a->output);
}

static void add_score(struct model_score *score, const struct activation *a, uint8_t label) {
    // A probability that was rounded to 0 counts as the smallest one that is told from 0.
    score->loss -= log(fmax(a->output[label], 1e-30));
    score->correct += most_likely(a->output) == label;
    score->images++;
}

// ---- backward -----------------------------------------------------------------------------------

// d(loss)/d(score) is the probability minus 1 for the right class, minus 0 for the others.
static void output_backward(const float *weights, const struct activation *a,
                            const float d_output[MODEL_OUTPUTS], float d_hidden[MODEL_HIDDEN],
                            float *gradient) {
    const float *w2 = weights + MODEL_W2;
    float *g2 = gradient + MODEL_W2, *gb = gradient + MODEL_B2;

    for (size_t j = 0; j < MODEL_OUTPUTS; j++) {
        gb[j] += d_output[j];
    }
    for (size_t i = 0; i < MODEL_HIDDEN; i++, w2 += MODEL_OUTPUTS, g2 += MODEL_OUTPUTS) {
        float sum = 0;
        for (size_t j = 0; j < MODEL_OUTPUTS; j++) {
            g2[j] += a->hidden[i] * d_output[j];
            sum += w2[j] * d_output[j];
        }
        d_hidden[i] = (1 - a->hidden[i] * a->hidden[i]) * sum;
    }
}

static void hidden_backward(const struct activation *a, const float d_hidden[MODEL_HIDDEN],
                            float *gradient) {
    float *g1 = gradient + MODEL_W1, *gb = gradient + MODEL_B1;

    for (size_t j = 0; j < MODEL_HIDDEN; j++) {
        gb[j] += d_hidden[j];
    }
    for (size_t i = 0; i < MODEL_INPUTS; i++, g1 += MODEL_HIDDEN) {
        if (a->input[i] != 0) {
            add_row(g1, d_hidden, a->input[i]);
        }
    }
}

static void backward(const float *weights, const struct activation *a, uint8_t label, float scale,
                     float *gradient) {
    float d_output[MODEL_OUTPUTS], d_hidden[MODEL_HIDDEN];

    for (size_t j = 0; j < MODEL_OUTPUTS; j++) {
        d_output[j] = scale * (a->output[j] - (j == label ? 1 : 0));
    }
    output_backward(weights, a, d_output, d_hidden, gradient);
    hidden_backward(a, d_hidden, gradient);
}

void model_gradient(const float weights[MODEL_PARAMS], const struct dataset *set,
                    const uint32_t *index, size_t n, float scale, float gradient[MODEL_PARAMS],
                    struct model_score *score) {
    struct activation a;

    *score = (struct model_score){0};
    memset(gradient, 0, MODEL_PARAMS * sizeof *gradient);
    for (size_t i = 0; i < n; i++) {
        uint8_t label = set->labels[index[i]];
        model_forward(weights, set->pixels + (size_t)index[i] * DATASET_PIXELS, &a);
        add_score(score, &a, label);
        backward(weights, &a, label, scale, gradient);
    }
}

struct model_score model_evaluate(const float weights[MODEL_PARAMS], const struct dataset *set) {
    struct model_score score = {0};
    struct activation a;

    for (size_t i = 0; i < set->count; i++) {
        model_forward(weights, set->pixels + i * DATASET_PIXELS, &a);
        add_score(&score, &a, set->labels[i]);
    }
    return score;
}

void model_update(float weights[MODEL_PARAMS], float velocity[MODEL_PARAMS],
                  const float gradient[MODEL_PARAMS], float rate, float momentum) {
    for (size_t i = 0; i < MODEL_PARAMS; i++) {
        velocity[i] = momentum * velocity[i] + gradient[i];
        weights[i] -= rate * velocity[i];
    }
}

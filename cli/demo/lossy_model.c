// SPDX-License-Identifier: Apache-2.0
//
// Inner loops run over a layer's outputs, or are sums in a fixed order of their own: the same
// images and weights give the same bits in every process (model.h). A convolving layer has its
// image as [row][column][channel], with a frame of zeros, and weights as [row][column][in][out].
#include "cli/demo/lossy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/demo/rng.h"

#define LANES         8u
#define RATE          0.02f
#define MOMENTUM      0.9f
#define STREAM_INIT   7
#define STREAM_EPOCHS 2000

// ---- networks ----

static void network_add(struct lossy_network *n, bool convolves, unsigned side, unsigned in,
                        unsigned out) {
    struct lossy_layer *l = &n->layer[n->layers++];
    const size_t inputs = convolves ? (size_t)(side + 2) * (side + 2) * in : in;
    const size_t outputs = convolves ? (size_t)side * side * out : out;
    *l = (struct lossy_layer){.convolves = convolves, .side = side, .in = in, .out = out};
    l->first = n->parameters;
    l->count = (size_t)(convolves ? 9 : 1) * in * out + out;
    n->parameters += l->count;
    n->most_values = inputs > n->most_values ? inputs : n->most_values;
    n->most_values = outputs > n->most_values ? outputs : n->most_values;
}

struct lossy_network lossy_network(bool convolutional) {
    struct lossy_network n = {.text = convolutional ? "two layers that convolve and one after them"
                                                    : "a perceptron of eight layers"};
    if (convolutional) {
        network_add(&n, true, DATASET_SIDE, 1, 8);
        network_add(&n, true, DATASET_SIDE / 2, 8, 16);
        network_add(&n, false, 0, DATASET_SIDE / 4 * DATASET_SIDE / 4 * 16, DATASET_CLASSES);
    } else {
        static const unsigned widths[] = {DATASET_PIXELS, 128, 64, 64, 64, 64, 64, 64,
                                          DATASET_CLASSES};
        for (unsigned l = 0; l < LOSSY_LAYERS; l++)
            network_add(&n, false, 0, widths[l], widths[l + 1]);
    }
    return n;
}

void lossy_init(const struct lossy_network *n, float *weights, uint64_t seed) {
    struct rng r = rng_stream(seed, STREAM_INIT);
    for (unsigned i = 0; i < n->layers; i++) {
        const struct lossy_layer *l = &n->layer[i];
        const float size = sqrtf(6.0f / (float)(l->in * (l->convolves ? 9 : 1)));
        float *w = weights + l->first;
        for (size_t k = 0; k < l->count - l->out; k++)
            w[k] = size * (2 * rng_unit(&r) - 1);
        memset(w + l->count - l->out, 0, l->out * sizeof *w);
    }
}

void lossy_update(float *weights, float *velocity, const float *gradient, size_t count,
                  float rate) {
    for (size_t i = 0; i < count; i++) {
        velocity[i] = MOMENTUM * velocity[i] + gradient[i];
        weights[i] -= rate * velocity[i];
    }
}

// It falls to 0 in a straight line.
float lossy_rate(unsigned step, unsigned steps) {
    return RATE * (1.0f - (float)step / (float)steps);
}

// ---- one layer ----

struct lossy_room {
    const struct lossy_network *network;
    float *in[LOSSY_LAYERS + 1]; // owned: inputs of each layer; the last: the network's outputs
    float *sum[LOSSY_LAYERS];    // owned: outputs of a convolving layer before the maximum
    float *delta, *below;        // owned: what the loss does by each output, and by each input
};

struct lossy_room *lossy_room_new(const struct lossy_network *n) {
    struct lossy_room *r = calloc(1, sizeof *r);
    bool good = r != NULL;
    for (unsigned i = 0; good && i <= n->layers; i++) {
        r->in[i] = calloc(n->most_values, sizeof(float));
        good = r->in[i];
    }
    for (unsigned i = 0; good && i < n->layers; i++) {
        r->sum[i] = calloc(n->most_values, sizeof(float));
        good = r->sum[i];
    }
    if (good) {
        r->network = n;
        r->delta = calloc(n->most_values, sizeof(float));
        r->below = calloc(n->most_values, sizeof(float));
        good = r->delta && r->below;
    }
    if (!good) {
        lossy_room_free(r);
        return NULL;
    }
    return r;
}

void lossy_room_free(struct lossy_room *r) {
    if (!r)
        return;
    for (unsigned i = 0; i <= LOSSY_LAYERS; i++)
        free(r->in[i]);
    for (unsigned i = 0; i < LOSSY_LAYERS; i++)
        free(r->sum[i]);
    free(r->delta);
    free(r->below);
    free(r);
}

static float lossy_dot(const float *a, const float *b, unsigned n) {
    float sums[LANES] = {0}, sum = 0;
    unsigned i = 0;
    for (; i + LANES <= n; i += LANES)
        for (unsigned l = 0; l < LANES; l++)
            sums[l] += a[i + l] * b[i + l];
    for (; i < n; i++)
        sum += a[i] * b[i];
    for (unsigned l = 0; l < LANES; l++)
        sum += sums[l];
    return sum;
}

// to[0..n) += factor * from[0..n)
static void lossy_axpy(float *restrict to, const float *restrict from, float factor, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        to[i] += factor * from[i];
}

// out += in * weights, of one place.
static void rows_forward(const float *in, const float *weights, float *out, unsigned n_in,
                         unsigned n_out) {
    for (unsigned i = 0; i < n_in; i++)
        if (in[i] != 0)
            lossy_axpy(out, weights + (size_t)i * n_out, in[i], n_out);
}

// Of the same: what the weights do, and, unless 'below' is null, what the inputs do.
static void rows_backward(const float *in, const float *weights, const float *delta,
                          float *gradient, float *below, unsigned n_in, unsigned n_out) {
    for (unsigned i = 0; i < n_in; i++) {
        if (in[i] != 0)
            lossy_axpy(gradient + (size_t)i * n_out, delta, in[i], n_out);
        if (below)
            below[i] += lossy_dot(weights + (size_t)i * n_out, delta, n_out);
    }
}

static void lossy_rectify(float *values, size_t n) {
    for (size_t i = 0; i < n; i++)
        values[i] = values[i] > 0 ? values[i] : 0;
}

static size_t conv_at(unsigned side, unsigned channels, unsigned row, unsigned column) {
    return ((size_t)row * side + column) * channels;
}

// Where a layer's output at a place goes in the next one's input: behind a frame, if that one
// convolves.
static size_t conv_place(const struct lossy_layer *next, unsigned side, unsigned channels,
                         unsigned row, unsigned column) {
    return next->convolves ? conv_at(side + 2, channels, row + 1, column + 1)
                           : conv_at(side, channels, row, column);
}

static void conv_sums(const struct lossy_layer *l, const float *w, const float *in, float *sum) {
    const float *bias = w + l->count - l->out;
    for (unsigned y = 0; y < l->side; y++)
        for (unsigned x = 0; x < l->side; x++) {
            float *out = sum + conv_at(l->side, l->out, y, x);
            memcpy(out, bias, l->out * sizeof *out);
            for (unsigned k = 0; k < 9; k++)
                rows_forward(in + conv_at(l->side + 2, l->in, y + k / 3, x + k % 3),
                             w + (size_t)k * l->in * l->out, out, l->in, l->out);
        }
}

// Which of the four places of a square has the largest value.
static size_t conv_largest(const struct lossy_layer *l, const float *sum, unsigned y, unsigned x,
                           unsigned o) {
    size_t best = conv_at(l->side, l->out, 2 * y, 2 * x) + o;
    for (unsigned k = 1; k < 4; k++) {
        const size_t at = conv_at(l->side, l->out, 2 * y + k / 2, 2 * x + k % 2) + o;
        best = sum[at] > sum[best] ? at : best;
    }
    return best;
}

static void conv_forward(const struct lossy_layer *l, const float *w, const float *in, float *sum,
                         float *out) {
    const unsigned half = l->side / 2;
    conv_sums(l, w, in, sum);
    for (unsigned y = 0; y < half; y++)
        for (unsigned x = 0; x < half; x++) {
            float *to = out + conv_place(l + 1, half, l->out, y, x);
            for (unsigned o = 0; o < l->out; o++) {
                const float value = sum[conv_largest(l, sum, y, x, o)];
                to[o] = value > 0 ? value : 0;
            }
        }
}

// 'delta' is by place of the layer's outputs in the next one's input.
static void conv_backward(const struct lossy_layer *l, const float *w, const float *in,
                          const float *sum, const float *delta, float *gradient, float *below) {
    const unsigned half = l->side / 2;
    float *bias = gradient + l->count - l->out;
    float at_place[64];
    for (unsigned y = 0; y < half; y++)
        for (unsigned x = 0; x < half; x++)
            for (unsigned o = 0; o < l->out; o++) {
                const size_t at = conv_largest(l, sum, y, x, o);
                const float d = delta[conv_place(l + 1, half, l->out, y, x) + o];
                if (sum[at] <= 0 || d == 0)
                    continue;
                const size_t place = at / l->out;
                const unsigned row = (unsigned)(place / l->side),
                               column = (unsigned)(place % l->side);
                bias[o] += d;
                for (unsigned k = 0; k < 9; k++) {
                    const size_t from = conv_at(l->side + 2, l->in, row + k / 3, column + k % 3);
                    float *g = gradient + (size_t)k * l->in * l->out + o;
                    for (unsigned i = 0; i < l->in; i++) {
                        g[(size_t)i * l->out] += in[from + i] * d;
                        at_place[i] = w[(size_t)k * l->in * l->out + (size_t)i * l->out + o] * d;
                    }
                    for (unsigned i = 0; below && i < l->in; i++)
                        below[from + i] += at_place[i];
                }
            }
}

// ---- a network ----

static void lossy_load_image(struct lossy_room *r, const struct dataset *set, size_t image) {
    const uint8_t *pixels = set->pixels + image * DATASET_PIXELS;
    for (unsigned row = 0; row < DATASET_SIDE; row++)
        for (unsigned column = 0; column < DATASET_SIDE; column++)
            r->in[0][conv_place(&r->network->layer[0], DATASET_SIDE, 1, row, column)] =
                (float)pixels[row * DATASET_SIDE + column] / 255.0f;
}

static void lossy_forward(struct lossy_room *r, const float *weights) {
    const struct lossy_network *n = r->network;
    for (unsigned i = 0; i < n->layers; i++) {
        const struct lossy_layer *l = &n->layer[i];
        const float *w = weights + l->first;
        if (l->convolves) {
            conv_forward(l, w, r->in[i], r->sum[i], r->in[i + 1]);
            continue;
        }
        memcpy(r->in[i + 1], w + l->count - l->out, l->out * sizeof *w);
        rows_forward(r->in[i], w, r->in[i + 1], l->in, l->out);
        if (i + 1 < n->layers)
            lossy_rectify(r->in[i + 1], l->out);
    }
}

// Outputs become probabilities; adds to the score.
static void lossy_judge(float *out, unsigned label, struct model_score *score) {
    float most = out[0], sum = 0;
    unsigned best = 0;
    for (unsigned o = 1; o < DATASET_CLASSES; o++)
        if (out[o] > most) {
            most = out[o];
            best = o;
        }
    for (unsigned o = 0; o < DATASET_CLASSES; o++) {
        out[o] = expf(out[o] - most);
        sum += out[o];
    }
    for (unsigned o = 0; o < DATASET_CLASSES; o++)
        out[o] /= sum;
    score->loss -= log((double)out[label] + 1e-30);
    score->correct += best == label;
    score->images++;
}

static void lossy_backward(struct lossy_room *r, const float *weights, unsigned label, float scale,
                           float *gradient) {
    const struct lossy_network *n = r->network;
    for (unsigned o = 0; o < DATASET_CLASSES; o++)
        r->delta[o] = scale * (r->in[n->layers][o] - (o == label ? 1.0f : 0.0f));
    for (unsigned i = n->layers; i-- > 0;) {
        const struct lossy_layer *l = &n->layer[i];
        const float *w = weights + l->first;
        float *g = gradient + l->first, *below = i ? r->below : NULL;
        const size_t inputs = l->convolves ? (size_t)(l->side + 2) * (l->side + 2) * l->in : l->in;
        if (below)
            memset(below, 0, inputs * sizeof *below);
        if (l->convolves) {
            conv_backward(l, w, r->in[i], r->sum[i], r->delta, g, below);
        } else {
            lossy_axpy(g + l->count - l->out, r->delta, 1, l->out);
            rows_backward(r->in[i], w, r->delta, g, below, l->in, l->out);
        }
        for (size_t k = 0; below && k < inputs; k++) // rectified inputs
            below[k] = r->in[i][k] > 0 ? below[k] : 0;
        if (below) { // which are the outputs of the layer before
            r->below = r->delta;
            r->delta = below;
        }
    }
}

void lossy_gradient(const struct lossy_network *n, struct lossy_room *r, const float *weights,
                    const struct dataset *set, const uint32_t *index, size_t images, float scale,
                    float *gradient, struct model_score *score) {
    memset(gradient, 0, n->parameters * sizeof *gradient);
    *score = (struct model_score){0};
    for (size_t i = 0; i < images; i++) {
        const unsigned label = set->labels[index[i]];
        lossy_load_image(r, set, index[i]);
        lossy_forward(r, weights);
        lossy_judge(r->in[n->layers], label, score);
        lossy_backward(r, weights, label, scale, gradient);
    }
}

struct model_score lossy_evaluate(const struct lossy_network *n, struct lossy_room *r,
                                  const float *weights, const struct dataset *set) {
    struct model_score score = {0};
    for (size_t i = 0; i < set->count; i++) {
        lossy_load_image(r, set, i);
        lossy_forward(r, weights);
        lossy_judge(r->in[n->layers], set->labels[i], &score);
    }
    return score;
}

// ---- the order of images ----

const uint32_t *lossy_shard(const struct lossy_job *job, unsigned worker, unsigned step,
                            uint32_t *order, unsigned *epoch, size_t *images) {
    const size_t batch = job->o->batch, count = job->set->count;
    const unsigned per_epoch = (unsigned)(count / batch);
    const size_t from = batch * worker / job->o->workers,
                 to = batch * (worker + 1) / job->o->workers;
    if (*epoch != step / per_epoch) {
        *epoch = step / per_epoch;
        struct rng r = rng_stream(job->o->seed, STREAM_EPOCHS + *epoch);
        for (size_t i = 0; i < count; i++)
            order[i] = (uint32_t)i;
        for (size_t i = count - 1; i > 0; i--) {
            const size_t j = rng_below(&r, i + 1);
            const uint32_t kept = order[i];
            order[i] = order[j];
            order[j] = kept;
        }
    }
    *images = to - from;
    return order + step % per_epoch * batch + from;
}

// SPDX-License-Identifier: Apache-2.0
//
// The demo's classifier: its gradient against finite differences, its determinism, and that it
// learns.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/demo/model.h"
#include "cli/demo/rng.h"

#define IMAGES 40

// Ten kinds of images, each bright in its own rows, with noise; nothing is read from disk.
static struct dataset make_set(uint64_t seed) {
    struct dataset set = {
        .count = IMAGES, .pixels = calloc(IMAGES, DATASET_PIXELS), .labels = calloc(IMAGES, 1)};
    struct rng r = {seed};

    assert_non_null(set.pixels);
    assert_non_null(set.labels);
    for (size_t i = 0; i < IMAGES; i++) {
        uint8_t *image = set.pixels + i * DATASET_PIXELS;
        set.labels[i] = (uint8_t)(i % DATASET_CLASSES);
        for (size_t p = 0; p < DATASET_PIXELS; p++) {
            bool bright = p / DATASET_SIDE / 2 == set.labels[i];
            image[p] = (uint8_t)(rng_below(&r, 60) + (bright ? 180 : 0));
            image[p] = rng_below(&r, 3) ? image[p] : 0;
        }
    }
    return set;
}

static void all_images(uint32_t index[IMAGES]) {
    for (uint32_t i = 0; i < IMAGES; i++) {
        index[i] = i;
    }
}

static float *make_weights(uint64_t seed) {
    float *w = malloc(MODEL_PARAMS * sizeof *w);

    assert_non_null(w);
    model_init(w, seed);
    return w;
}

// The loss again, in double precision: fine enough for small steps, which rarely carry a hidden
// unit over the corner of its rectifier.
static double image_loss(const double *w, const uint8_t *pixels, uint8_t label) {
    double output[MODEL_OUTPUTS], sum = 0;

    for (size_t k = 0; k < MODEL_OUTPUTS; k++) {
        output[k] = w[MODEL_B2 + k];
    }
    for (size_t j = 0; j < MODEL_HIDDEN; j++) {
        double h = w[MODEL_B1 + j];
        for (size_t i = 0; i < MODEL_INPUTS; i++) {
            h += pixels[i] / 255.0 * w[MODEL_W1 + i * MODEL_HIDDEN + j];
        }
        for (size_t k = 0; k < MODEL_OUTPUTS; k++) {
            output[k] += tanh(h) * w[MODEL_W2 + j * MODEL_OUTPUTS + k];
        }
    }
    for (size_t k = 0; k < MODEL_OUTPUTS; k++) {
        sum += exp(output[k]);
    }
    return log(sum) - output[label];
}

static double set_loss(const double *w, const struct dataset *set) {
    double loss = 0;

    for (size_t i = 0; i < set->count; i++) {
        loss += image_loss(w, set->pixels + i * DATASET_PIXELS, set->labels[i]);
    }
    return loss;
}

static double slope_at(double *w, size_t i, const struct dataset *set) {
    const double step = 1e-6;
    double kept = w[i], above, below;

    w[i] = kept + step;
    above = set_loss(w, set);
    w[i] = kept - step;
    below = set_loss(w, set);
    w[i] = kept;
    return (above - below) / (2 * step);
}

static void test_gradient_is_the_slope_of_the_loss(void **state) {
    static const size_t parts[][2] = {
        {MODEL_W1, MODEL_B1}, {MODEL_B1, MODEL_W2}, {MODEL_W2, MODEL_B2}, {MODEL_B2, MODEL_PARAMS}};
    struct dataset set = make_set(1);
    float *w = make_weights(2), *gradient = malloc(MODEL_PARAMS * sizeof *gradient);
    double *fine = malloc(MODEL_PARAMS * sizeof *fine);
    struct rng r = {3};
    struct model_score score;
    uint32_t index[IMAGES];

    (void)state;
    all_images(index);
    model_gradient(w, &set, index, IMAGES, 1.0f, gradient, &score);
    for (size_t i = 0; i < MODEL_PARAMS; i++) {
        fine[i] = (double)w[i];
    }
    assert_true(fabs(score.loss - set_loss(fine, &set)) < 1e-4 * score.loss);
    for (size_t k = 0; k < 80; k++) {
        const size_t *part = parts[k % 4];
        size_t i = part[0] + rng_below(&r, part[1] - part[0]);
        double slope = slope_at(fine, i, &set);
        if (fabs(slope - (double)gradient[i]) > 1e-4 + 1e-4 * fabs(slope)) {
            fail_msg("parameter %zu: slope %g, gradient %g", i, slope, (double)gradient[i]);
        }
    }
    free(fine);
    free(gradient);
    free(w);
    dataset_free(&set);
}

static void test_gradient_is_scaled_and_scored(void **state) {
    struct dataset set = make_set(4);
    float *w = make_weights(5), *once = malloc(MODEL_PARAMS * sizeof *once),
          *half = malloc(MODEL_PARAMS * sizeof *half);
    struct model_score a, b, whole = model_evaluate(w, &set);
    uint32_t index[IMAGES];

    (void)state;
    all_images(index);
    model_gradient(w, &set, index, IMAGES, 1.0f, once, &a);
    model_gradient(w, &set, index, IMAGES, 0.5f, half, &b);
    for (size_t i = 0; i < MODEL_PARAMS; i++) {
        assert_true(half[i] == 0.5f * once[i]);
    }
    assert_true(a.loss == b.loss && a.loss == whole.loss);
    assert_int_equal(a.correct, whole.correct);
    assert_int_equal(a.images, IMAGES);
    model_gradient(w, &set, index, 0, 1.0f, once, &a);
    for (size_t i = 0; i < MODEL_PARAMS; i++) {
        assert_true(once[i] == 0);
    }
    assert_int_equal(a.images, 0);
    free(half);
    free(once);
    free(w);
    dataset_free(&set);
}

static void test_same_seed_same_weights(void **state) {
    float *a = make_weights(6), *b = make_weights(6), *c = make_weights(7);

    (void)state;
    assert_memory_equal(a, b, MODEL_PARAMS * sizeof *a);
    assert_memory_not_equal(a, c, MODEL_PARAMS * sizeof *a);
    free(c);
    free(b);
    free(a);
}

static void test_learns(void **state) {
    struct dataset set = make_set(8);
    float *w = make_weights(9), *gradient = malloc(MODEL_PARAMS * sizeof *gradient),
          *velocity = calloc(MODEL_PARAMS, sizeof *velocity);
    struct model_score first = model_evaluate(w, &set), last;
    uint32_t index[IMAGES];

    (void)state;
    all_images(index);
    for (int step = 0; step < 60; step++) {
        model_gradient(w, &set, index, IMAGES, 1.0f / IMAGES, gradient, &last);
        model_update(w, velocity, gradient, 0.05f, 0.9f);
    }
    last = model_evaluate(w, &set);
    assert_true(last.loss < first.loss / 4);
    assert_true(last.correct > IMAGES * 9 / 10);
    free(velocity);
    free(gradient);
    free(w);
    dataset_free(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient_is_the_slope_of_the_loss),
        cmocka_unit_test(test_gradient_is_scaled_and_scored),
        cmocka_unit_test(test_same_seed_same_weights),
        cmocka_unit_test(test_learns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

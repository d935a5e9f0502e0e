// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/sparse.h"

#include <math.h>
#include <stdlib.h>

#include "cli/demo/rng.h"

#define RATE         0.2f
#define TEST_SAMPLES 4000u
#define SCATTER      40503u // odd, so that the product modulo 2^16 has each key once

// Zipf's law with exponent 1: the share of the first r of N features is log(r) / log(N).
static uint32_t model_feature(struct rng *r) {
    double rank = pow(SPARSE_KEYS, (double)rng_unit(r)) - 1;
    return (uint32_t)rank * SCATTER % SPARSE_KEYS;
}

// What a feature means, which training finds out: from -1 to 1.
static float model_truth(uint64_t seed, uint32_t key) {
    struct rng r = rng_stream(seed, UINT64_C(0x7472757468) + key);
    return 2 * rng_unit(&r) - 1;
}

static double model_probability(double score) {
    return 1 / (1 + exp(-score));
}

void sparse_batch(uint64_t seed, unsigned worker, unsigned step, struct sparse_sample *samples,
                  unsigned n) {
    struct rng r = rng_stream(seed, (uint64_t)worker << 32 | step);
    for (unsigned i = 0; i < n; i++) {
        double score = 0;
        for (unsigned k = 0; k < SPARSE_FEATURES; k++) {
            samples[i].key[k] = model_feature(&r);
            score += (double)model_truth(seed, samples[i].key[k]);
        }
        samples[i].label = (double)rng_unit(&r) < model_probability(score);
    }
}

static int model_compare(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

size_t sparse_keys(const struct sparse_sample *samples, unsigned n, uint64_t *keys) {
    size_t all = 0, unique = 0;
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < SPARSE_FEATURES; k++)
            keys[all++] = samples[i].key[k];
    qsort(keys, all, sizeof *keys, model_compare);
    for (size_t i = 0; i < all; i++)
        if (i == 0 || keys[i] != keys[unique - 1])
            keys[unique++] = keys[i];
    return unique;
}

static size_t model_place(const uint64_t *keys, size_t n, uint64_t key) {
    const uint64_t *at = bsearch(&key, keys, n, sizeof *keys, model_compare);
    return (size_t)(at - keys);
}

void sparse_step(const struct sparse_sample *samples, unsigned n, const uint64_t *keys,
                 size_t n_keys, const float *weights, float *step) {
    for (size_t i = 0; i < n_keys; i++)
        step[i] = 0;
    for (unsigned i = 0; i < n; i++) {
        size_t at[SPARSE_FEATURES];
        double score = 0;
        for (unsigned k = 0; k < SPARSE_FEATURES; k++) {
            at[k] = model_place(keys, n_keys, samples[i].key[k]);
            score += (double)weights[at[k]];
        }
        float off = (float)(samples[i].label - model_probability(score));
        for (unsigned k = 0; k < SPARSE_FEATURES; k++)
            step[at[k]] += RATE * off / (float)n;
    }
}

double sparse_loss(uint64_t seed, const float *weights) {
    static struct sparse_sample samples[TEST_SAMPLES];
    double loss = 0;
    sparse_batch(seed, DEMO_MAX_WORKERS, 0, samples, TEST_SAMPLES);
    for (unsigned i = 0; i < TEST_SAMPLES; i++) {
        double score = 0;
        for (unsigned k = 0; k < SPARSE_FEATURES; k++)
            score += (double)weights[samples[i].key[k]];
        double p = model_probability(samples[i].label ? score : -score);
        loss -= log(p > 1e-12 ? p : 1e-12);
    }
    return loss / TEST_SAMPLES;
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/sparse.h"

#include <math.h>
#include <stdlib.h>

#include "cli/demo/rng.h"

#define RATE         0.2f
#define TEST_SAMPLES 4000u
#define SCATTER      40503u // odd, so that the product modulo 2^16 has each key once

// The model of next words.
#define VECTOR 8u
#define TEXT_RATE                                                                                  \
    0.5f           // over the root of the batch's size: frequent words are in many of its samples
#define BEGIN 0.5f // vectors begin between -BEGIN and BEGIN

_Static_assert(2 * TEXT_WORDS * VECTOR == SPARSE_KEYS && 2 * VECTOR <= SPARSE_FEATURES,
               "two vectors for each word");

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

// Word 'second' after 'first'.
static void model_words(struct sparse_sample *s, unsigned first, unsigned second, bool follows) {
    for (unsigned k = 0; k < SPARSE_FEATURES; k++)
        s->key[k] = k < VECTOR       ? first * VECTOR + k
                    : k < 2 * VECTOR ? (TEXT_WORDS + second) * VECTOR + k - VECTOR
                                     : s->key[0];
    s->label = follows;
}

static void model_text_batch(const struct sparse_job *job, struct rng *r, bool test,
                             struct sparse_sample *samples, unsigned n) {
    const struct sparse_text *t = &job->text;
    const size_t training = t->n - t->n / 10, from = test ? training : 0,
                 words = test ? t->n - training : training;
    for (unsigned i = 0; i < n; i++) {
        const size_t at = from + rng_below(r, words - 1);
        const bool follows = rng_below(r, 3) == 0;
        const size_t second = follows ? at + 1 : from + rng_below(r, words);
        model_words(&samples[i], t->words[at], t->words[second], follows);
    }
}

void sparse_batch(const struct sparse_job *job, unsigned worker, unsigned step,
                  struct sparse_sample *samples, unsigned n) {
    const uint64_t seed = job->o->seed;
    struct rng r = rng_stream(seed, (uint64_t)worker << 32 | step);
    if (job->text.n) {
        model_text_batch(job, &r, worker == DEMO_MAX_WORKERS, samples, n);
        return;
    }
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

// A vector is what it begins with and the sum of what was pushed.
static float model_begin(uint64_t seed, uint32_t key) {
    return BEGIN * model_truth(seed, key);
}

static double model_score(uint64_t seed, const struct sparse_sample *s, const float *pushed) {
    double score = 0;
    for (unsigned k = 0; k < VECTOR; k++)
        score += (double)(model_begin(seed, s->key[k]) + pushed[k]) *
                 (double)(model_begin(seed, s->key[VECTOR + k]) + pushed[VECTOR + k]);
    return score;
}

static void model_text_step(uint64_t seed, const struct sparse_sample *s, float rate,
                            const size_t *at, const float *weights, float *step) {
    float pushed[2 * VECTOR];
    for (unsigned k = 0; k < 2 * VECTOR; k++)
        pushed[k] = weights[at[k]];
    const float off = rate * (float)(s->label - model_probability(model_score(seed, s, pushed)));
    for (unsigned k = 0; k < VECTOR; k++) {
        step[at[k]] += off * (model_begin(seed, s->key[VECTOR + k]) + pushed[VECTOR + k]);
        step[at[VECTOR + k]] += off * (model_begin(seed, s->key[k]) + pushed[k]);
    }
}

void sparse_step(const struct sparse_job *job, const struct sparse_sample *samples, unsigned n,
                 const uint64_t *keys, size_t n_keys, const float *weights, float *step) {
    for (size_t i = 0; i < n_keys; i++)
        step[i] = 0;
    for (unsigned i = 0; i < n; i++) {
        size_t at[SPARSE_FEATURES];
        double score = 0;
        for (unsigned k = 0; k < SPARSE_FEATURES; k++) {
            at[k] = model_place(keys, n_keys, samples[i].key[k]);
            score += (double)weights[at[k]];
        }
        if (job->text.n) {
            model_text_step(job->o->seed, &samples[i], TEXT_RATE / sqrtf((float)n), at, weights,
                            step);
            continue;
        }
        float off = (float)(samples[i].label - model_probability(score));
        for (unsigned k = 0; k < SPARSE_FEATURES; k++)
            step[at[k]] += RATE * off / (float)n;
    }
}

double sparse_loss(const struct sparse_job *job, const float *weights) {
    static struct sparse_sample samples[TEST_SAMPLES];
    double loss = 0;
    sparse_batch(job, DEMO_MAX_WORKERS, 0, samples, TEST_SAMPLES);
    for (unsigned i = 0; i < TEST_SAMPLES; i++) {
        float pushed[SPARSE_FEATURES];
        double score = 0;
        for (unsigned k = 0; k < SPARSE_FEATURES; k++) {
            pushed[k] = weights[samples[i].key[k]];
            score += (double)pushed[k];
        }
        if (job->text.n)
            score = model_score(job->o->seed, &samples[i], pushed);
        double p = model_probability(samples[i].label ? score : -score);
        loss -= log(p > 1e-12 ? p : 1e-12);
    }
    return loss / TEST_SAMPLES;
}

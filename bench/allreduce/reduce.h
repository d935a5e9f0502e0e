// SPDX-License-Identifier: Apache-2.0
//
// reduce: what the ranks of all three all-reduces have in common: the tensor, its check, the
// stamps. Plain C that a C++ compiler takes too, for Gloo.
//
// A rank reduces REDUCE_TIMED tensors, after one that nobody times, and says for each when it began
// and ended, on the clock that all processes of the machine share. Before each there is a sum of
// one element, so that no rank begins long before the others are there.
//
// Or, with REDUCE_SMALL, it reduces 1 KB: REDUCE_CLOSE times one after the other, and REDUCE_APART
// times after a sleep, as a program does that computes in between; each sum is checked.
#ifndef SILKEN_BENCH_ALLREDUCE_REDUCE_H
#define SILKEN_BENCH_ALLREDUCE_REDUCE_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REDUCE_WORKERS 4
#define REDUCE_COUNT   25000000u // float32: 100 MB
#define REDUCE_TIMED   2

#define REDUCE_SMALL    "small" // a rank's last argument
#define REDUCE_ELEMENTS 256u
#define REDUCE_WARM     200 // of the first ones, which nobody times
#define REDUCE_CLOSE    3000
#define REDUCE_APART    300
#define REDUCE_SLEEP_NS 2000000

static inline float reduce_element(size_t i) {
    return (float)((int)(i % 2001) - 1000) * 1e-3f;
}

static inline void reduce_fill(float *tensor, int rank) {
    for (size_t i = 0; i < REDUCE_COUNT; i++)
        tensor[i] = (float)(rank + 1) * reduce_element(i);
}

// Ends the process when the tensor is not the sum over ranks 0 to REDUCE_WORKERS - 1.
static inline void reduce_check(const float *tensor) {
    const float factor = REDUCE_WORKERS * (REDUCE_WORKERS + 1) / 2.0f;
    for (size_t i = 0; i < REDUCE_COUNT; i++)
        if (!(fabsf(tensor[i] - factor * reduce_element(i)) < 1e-4f)) {
            fprintf(stderr, "element %zu is %g instead of %g\n", i, (double)tensor[i],
                    (double)(factor * reduce_element(i)));
            exit(1);
        }
}

static inline uint64_t reduce_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline float *reduce_tensor(void) {
    float *tensor = (float *)aligned_alloc(64, (REDUCE_COUNT * sizeof(float) + 63) / 64 * 64);
    if (!tensor)
        abort();
    return tensor;
}

// 'sum' adds up 'n' elements over all ranks, from 'in' to 'out'.
typedef void reduce_fn(void *aux, float *in, float *out, size_t n);

static inline int reduce_large(int rank, reduce_fn *sum, void *aux) {
    float *in = reduce_tensor(), *out = reduce_tensor();
    reduce_fill(in, rank);
    reduce_fill(out, rank); // its pages are there then
    sum(aux, in, out, REDUCE_COUNT);
    reduce_check(out);
    for (int i = 0; i < REDUCE_TIMED; i++) {
        float one[2] = {1, 0};
        sum(aux, &one[0], &one[1], 1);
        uint64_t start = reduce_now();
        sum(aux, in, out, REDUCE_COUNT);
        printf("timed %llu %llu\n", (unsigned long long)start, (unsigned long long)reduce_now());
    }
    reduce_check(out);
    fflush(stdout);
    return 0;
}

// The i-th one's values are its own, so that no earlier sum is taken for its.
static inline void reduce_one(int rank, reduce_fn *sum, void *aux, int i, uint64_t times[2]) {
    float in[REDUCE_ELEMENTS], out[REDUCE_ELEMENTS];
    for (unsigned e = 0; e < REDUCE_ELEMENTS; e++)
        in[e] = (float)(rank + 1) * reduce_element(e + (size_t)i);
    times[0] = reduce_now();
    sum(aux, in, out, REDUCE_ELEMENTS);
    times[1] = reduce_now();
    for (unsigned e = 0; e < REDUCE_ELEMENTS; e++) {
        const float right =
            REDUCE_WORKERS * (REDUCE_WORKERS + 1) / 2.0f * reduce_element(e + (size_t)i);
        if (!(fabsf(out[e] - right) < 1e-4f)) {
            fprintf(stderr, "sum %d: element %u is %g instead of %g\n", i, e, (double)out[e],
                    (double)right);
            exit(1);
        }
    }
}

static inline int reduce_small(int rank, reduce_fn *sum, void *aux) {
    static uint64_t times[REDUCE_WARM + REDUCE_CLOSE + REDUCE_APART][2];
    const struct timespec nap = {0, REDUCE_SLEEP_NS};
    int i = 0;
    for (; i < REDUCE_WARM + REDUCE_CLOSE; i++)
        reduce_one(rank, sum, aux, i, times[i]);
    for (; i < REDUCE_WARM + REDUCE_CLOSE + REDUCE_APART; i++) {
        nanosleep(&nap, NULL);
        reduce_one(rank, sum, aux, i, times[i]);
    }
    for (i = REDUCE_WARM; i < REDUCE_WARM + REDUCE_CLOSE + REDUCE_APART; i++)
        printf("timed %llu %llu\n", (unsigned long long)times[i][0],
               (unsigned long long)times[i][1]);
    fflush(stdout);
    return 0;
}

static inline int reduce_run(int rank, reduce_fn *sum, void *aux, const char *last) {
    return strcmp(last, REDUCE_SMALL) == 0 ? reduce_small(rank, sum, aux)
                                           : reduce_large(rank, sum, aux);
}

#endif

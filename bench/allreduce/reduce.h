// SPDX-License-Identifier: Apache-2.0
//
// reduce: what the ranks of all three all-reduces have in common: the tensor, its check, the
// stamps. Plain C that a C++ compiler takes too, for Gloo.
//
// A rank reduces REDUCE_TIMED tensors, after one that nobody times, and says for each when it began
// and ended, on the clock that all processes of the machine share. Before each there is a sum of
// one element, so that no rank begins long before the others are there.
#ifndef SILKEN_BENCH_ALLREDUCE_REDUCE_H
#define SILKEN_BENCH_ALLREDUCE_REDUCE_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define REDUCE_WORKERS 4
#define REDUCE_COUNT   25000000u // float32: 100 MB
#define REDUCE_TIMED   2

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
static inline int reduce_run(int rank, void (*sum)(void *aux, float *in, float *out, size_t n),
                             void *aux) {
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

#endif

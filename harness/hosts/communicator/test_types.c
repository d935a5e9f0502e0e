// SPDX-License-Identifier: Apache-2.0
//
// All types and operations through communicators, over rings and a model switch, and the collective
// operations above all-reduce; with two lanes and with loss. The same of a switch that adds 16-bit
// floats.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/hosts/communicator/cluster.h"
#include "hosts/core/wire_type.h"

#define COUNT   3001
#define WORKERS 3

static struct cluster cluster;
static bool halves; // its switch adds 16-bit floats

// In the threads of workers: cmocka cannot be told.
static void demand(bool holds, const char *what, size_t i) {
    if (!holds) {
        fprintf(stderr, "%s, element %zu\n", what, i);
        abort();
    }
}

static double value_of(unsigned rank, size_t i) {
    return (double)(rank + 1) * sin((double)i);
}

static double exact_of(size_t i) {
    double sum = 0;

    for (unsigned rank = 0; rank < WORKERS; rank++)
        sum += value_of(rank, i);
    return sum;
}

struct numbers {
    uint16_t half[COUNT];
    float single[COUNT];
    double wide[COUNT];
};

static void *fill(struct numbers *n, enum silken_type type, unsigned rank) {
    for (size_t i = 0; i < COUNT; i++) {
        n->wide[i] = value_of(rank, i);
        n->single[i] = (float)n->wide[i];
        n->half[i] =
            type == SILKEN_F16 ? sk_f16_nearest(n->single[i]) : sk_bf16_nearest(n->single[i]);
    }
    return type == SILKEN_F64 ? (void *)n->wide : type == SILKEN_F32 ? (void *)n->single : n->half;
}

static double got_of(const struct numbers *n, enum silken_type type, size_t i) {
    switch (type) {
    case SILKEN_F64:
        return n->wide[i];
    case SILKEN_F32:
        return (double)n->single[i];
    case SILKEN_F16:
        return (double)sk_f16_value(n->half[i]);
    default:
        return (double)sk_bf16_value(n->half[i]);
    }
}

// Inputs, and the result, are rounded to 'step' of themselves; the wire's bound is h * n * N /
// 2^31.
static void reduce_floats(unsigned rank, enum silken_type type, enum silken_op op) {
    const double own = type == SILKEN_F16 ? 0x1p-11 : type == SILKEN_BF16 ? 0x1p-8 : 0x1p-24;
    const double step = halves && own < 0x1p-11 ? 0x1p-11 : own;
    const double divisor = op == SILKEN_AVERAGE ? WORKERS : 1;
    struct numbers *n = calloc(1, sizeof *n);
    void *values = fill(n, type, rank);
    int rc = silken_allreduce(cluster.comm[rank], values, values, COUNT, type, op);

    demand(rc == 0, silken_strerror(rc), 0);
    for (size_t i = 0; i < COUNT; i++) {
        double bound = ((halves ? 3 : 2) * step * 6 + 3.0 * 3 * 4 * 0x1p-31) / divisor;
        demand(fabs(got_of(n, type, i) - exact_of(i) / divisor) <= bound, "a wrong float", i);
    }
    free(n);
}

// f16 as they are: below 2, exactly the nearest half to the exact sum; none of these lies between.
static void reduce_halves(unsigned rank) {
    uint16_t h[COUNT];

    for (size_t i = 0; i < COUNT; i++)
        h[i] = sk_f16_nearest((float)(i % 512 + rank) * 0x1p-9f);
    demand(silken_allreduce(cluster.comm[rank], h, h, COUNT, SILKEN_F16, SILKEN_SUM) == 0, "f16",
           0);
    for (size_t i = 0; i < COUNT; i++)
        demand(h[i] == sk_f16_nearest((float)(3 * (i % 512) + 3) * 0x1p-9f), "a wrong half", i);
    for (size_t i = 0; i < COUNT; i++)
        h[i] = i == 5 && rank == 1 ? 0x7c00 : 0x3c00;
    demand(silken_allreduce(cluster.comm[rank], h, h, COUNT, SILKEN_F16, SILKEN_SUM) == 0, "f16",
           1);
    for (size_t i = 0; i < COUNT; i++) // an infinity: its block is NaN, and no other
        demand(i < 64 ? (h[i] & 0x7fff) > 0x7c00 : h[i] == sk_f16_nearest(3), "a wrong half", i);
}

static void refuse_integers(unsigned rank) {
    int32_t small = 1;
    int64_t large = 1;

    demand(silken_allreduce(cluster.comm[rank], &small, &small, 1, SILKEN_I32, SILKEN_SUM) ==
                   SILKEN_ERR_UNSUPPORTED &&
               silken_allreduce_i32(cluster.comm[rank], &small, &small, 1) ==
                   SILKEN_ERR_UNSUPPORTED &&
               silken_allreduce(cluster.comm[rank], &large, &large, 1, SILKEN_I64, SILKEN_SUM) ==
                   SILKEN_ERR_UNSUPPORTED,
           "integers on a switch of floats", 0);
}

static void reduce_integers(unsigned rank) {
    struct silken_comm *comm = cluster.comm[rank];
    int64_t *in = malloc(COUNT * sizeof *in), *out = calloc(COUNT, sizeof *out);
    struct silken_request *first, *second;
    int32_t small = (int32_t)rank, sum = 0;

    for (size_t i = 0; i < COUNT; i++)
        in[i] = (i % 2 ? -1 : 1) * ((INT64_C(3000000000000000000) >> i % 62) + (int64_t)rank);
    demand(silken_submit(comm, in, out, COUNT, SILKEN_I64, SILKEN_SUM, &first) == 0, "submit", 0);
    demand(silken_submit(comm, &small, &sum, 1, SILKEN_I32, SILKEN_SUM, &second) == 0, "submit", 1);
    demand(silken_wait(second) == 0 && sum == 3, "a wrong i32", 0);
    demand(silken_wait(first) == 0, "wait", 0);
    for (size_t i = 0; i < COUNT; i++) {
        int64_t one = (i % 2 ? -1 : 1) * (INT64_C(3000000000000000000) >> i % 62);
        demand(out[i] == 3 * one + (i % 2 ? -3 : 3), "a wrong i64", i);
    }
    in[7] = INT64_MIN / 2;
    out[0] = 77;
    demand(silken_allreduce(comm, in, out, COUNT, SILKEN_I64, SILKEN_SUM) == SILKEN_ERR_RANGE,
           "no refusal", 7);
    demand(out[0] == 77, "written", 0);
    free(in);
    free(out);
}

static void collect(unsigned rank) {
    struct silken_comm *comm = cluster.comm[rank];
    unsigned char text[9] = {0}, all[3 * 9];
    float parts[3 * 5], mine[5];

    memset(text, (int)(0xf0 + rank), sizeof text);
    demand(silken_allgather(comm, text, all, sizeof text) == 0, "allgather", 0);
    for (size_t i = 0; i < sizeof all; i++)
        demand(all[i] == 0xf0 + i / 9, "a wrong byte gathered", i);
    demand(silken_broadcast(comm, text, sizeof text, 2) == 0, "broadcast", 0);
    for (size_t i = 0; i < sizeof text; i++)
        demand(text[i] == 0xf2, "a wrong byte sent to all", i);
    demand(silken_broadcast(comm, text, 1, 3) == SILKEN_ERR_INVALID, "a root that is none", 3);
    for (size_t i = 0; i < 15; i++)
        parts[i] = (float)(i + rank);
    demand(silken_reduce_scatter(comm, parts, mine, 5, SILKEN_F32, SILKEN_AVERAGE) == 0, "scatter",
           0);
    for (size_t i = 0; i < 5; i++)
        demand(fabsf(mine[i] - (float)(5 * rank + i + 1)) < (halves ? 0.02f : 1e-6f),
               "a wrong part", i);
    demand(silken_barrier(comm) == 0, "barrier", 0);
    demand(silken_broadcast(comm, NULL, 0, 0) == 0, "nothing", 0);
}

static void work(void *context, unsigned rank) {
    static const enum silken_type floats[] = {SILKEN_F32, SILKEN_F16, SILKEN_BF16, SILKEN_F64};

    (void)context;
    for (unsigned i = 0; i < 4; i++) {
        reduce_floats(rank, floats[i], SILKEN_SUM);
        reduce_floats(rank, floats[i], SILKEN_AVERAGE);
    }
    if (halves) {
        reduce_halves(rank);
        refuse_integers(rank);
    } else {
        reduce_integers(rank);
    }
    collect(rank);
    demand(silken_rank(cluster.comm[rank]) == rank && silken_workers(cluster.comm[rank]) == WORKERS,
           "place", 0);
}

static void run(unsigned lanes, const struct sk_faults *faults) {
    struct silken_config config;

    silken_config_init(&config);
    config.no_session = true;
    config.workers = WORKERS;
    config.lanes = lanes;
    config.k = 64;
    config.f16 = halves;
    config.pool_size = 32;
    config.rto_min_us = config.rto_initial_us = 5000;
    cluster_start(&cluster, &config, faults);
    cluster_run(&cluster, work, NULL);
    cluster_stop(&cluster);
    memset(&cluster, 0, sizeof cluster);
}

static void test_one_lane(void **state) {
    (void)state;
    run(1, NULL);
}

static void test_two_lanes_with_loss(void **state) {
    const struct sk_faults faults = {.seed = 5, .drop = 0.01, .duplicate = 0.01, .reorder = 0.05};

    (void)state;
    run(2, &faults);
}

static void test_halves(void **state) {
    const struct sk_faults faults = {.seed = 6, .drop = 0.01, .duplicate = 0.01, .reorder = 0.05};

    (void)state;
    halves = true;
    run(1, NULL);
    run(2, &faults);
    halves = false;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_lane),
        cmocka_unit_test(test_two_lanes_with_loss),
        cmocka_unit_test(test_halves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

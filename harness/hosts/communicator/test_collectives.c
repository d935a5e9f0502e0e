// SPDX-License-Identifier: Apache-2.0
//
// Collective operations through communicators, over rings and a model switch that has the job's
// audiences: sequences of random ones, with loss, with all types, memory at odd places and in
// place; exact against what they are defined to be. And that they are all-reduces where there are
// no audiences, or several lanes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/hosts/communicator/cluster.h"
#include "harness/hosts/random.h"
#include "hosts/core/wire_type.h"

#define WORKERS 3
#define MOST    2000 // elements, or bytes, of a worker
#define ROUNDS  60

static struct cluster cluster;
static int in_switch;
static uint64_t seed;

// In the threads of workers: cmocka cannot be told.
static void demand(bool holds, const char *what, size_t i) {
    if (!holds) {
        fprintf(stderr, "seed %llu, %s, element %zu\n", (unsigned long long)seed, what, i);
        abort();
    }
}

static uint8_t byte_of(unsigned rank, unsigned round, size_t i) {
    return (uint8_t)(rank * 101 + round * 7 + i * i);
}

// Small, so that all types have its sums exactly.
static int number_of(unsigned rank, unsigned round, size_t i) {
    return (int)((rank * 5 + round * 3 + i) % 29) - 14;
}

static void check_bytes(const uint8_t *got, unsigned rank, unsigned round, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        demand(got[i] == byte_of(rank, round, i), "a wrong byte", i);
}

static void fill_bytes(uint8_t *out, unsigned rank, unsigned round, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        out[i] = byte_of(rank, round, i);
}

static void broadcast(unsigned rank, unsigned round, size_t bytes, size_t at) {
    uint8_t *data = calloc(1, MOST + 8);
    const unsigned root = round % WORKERS;

    fill_bytes(data + at, rank, round, bytes);
    data[at + bytes] = 0x5e;
    demand(silken_broadcast(cluster.comm[rank], data + at, bytes, root) == 0, "broadcast", round);
    check_bytes(data + at, root, round, bytes);
    demand(data[at + bytes] == 0x5e, "written behind", bytes);
    free(data);
}

static void allgather(unsigned rank, unsigned round, size_t bytes, size_t at, bool in_place) {
    uint8_t *out = calloc(1, (size_t)WORKERS * MOST + 8), *in = calloc(1, MOST);
    uint8_t *from = in_place ? out + at + rank * bytes : in;

    fill_bytes(from, rank, round, bytes);
    demand(silken_allgather(cluster.comm[rank], from, out + at, bytes) == 0, "allgather", round);
    for (unsigned w = 0; w < WORKERS; w++)
        check_bytes(out + at + w * bytes, w, round, bytes);
    demand(out[at + WORKERS * bytes] == 0, "written behind", bytes);
    free(out);
    free(in);
}

static void put(void *out, size_t i, enum silken_type type, int value) {
    switch (type) {
    case SILKEN_F32:
        ((float *)out)[i] = (float)value;
        return;
    case SILKEN_F64:
        ((double *)out)[i] = (double)value;
        return;
    case SILKEN_F16:
        ((uint16_t *)out)[i] = sk_f16_nearest((float)value);
        return;
    case SILKEN_BF16:
        ((uint16_t *)out)[i] = sk_bf16_nearest((float)value);
        return;
    case SILKEN_I32:
        ((int32_t *)out)[i] = value;
        return;
    case SILKEN_I64:
        ((int64_t *)out)[i] = value;
        return;
    }
}

// 'place': 0 apart, 1 over the worker's own part of the input, 2 over its first part.
static void reduce_scatter(unsigned rank, unsigned round, size_t count, enum silken_type type,
                           unsigned place) {
    const size_t size = sk_type_bytes(type), all = WORKERS * count;
    char *in = calloc(WORKERS * MOST, 8), *apart = calloc(MOST + 1, 8), *want = calloc(MOST, 8);
    char *out = place == 0 ? apart : place == 1 ? in + rank * count * size : in;

    for (size_t i = 0; i < all; i++)
        put(in, i, type, number_of(rank, round, i));
    for (size_t i = 0; i < count; i++) {
        int sum = 0;
        for (unsigned w = 0; w < WORKERS; w++)
            sum += number_of(w, round, rank * count + i);
        put(want, i, type, sum);
    }
    demand(silken_reduce_scatter(cluster.comm[rank], in, out, count, type, SILKEN_SUM) == 0,
           "reduce_scatter", round);
    for (size_t i = 0; i < count * size; i++)
        demand(out[i] == want[i], "a wrong byte of a sum", i);
    for (size_t i = 0; place == 0 && i < all; i++) { // the input is as it was
        put(want, 0, type, number_of(rank, round, i));
        demand(memcmp(in + i * size, want, size) == 0, "input written", i);
    }
    free(in);
    free(apart);
    free(want);
}

static void allreduce(unsigned rank, unsigned round, size_t count) {
    int32_t *x = calloc(MOST + 1, sizeof *x);

    for (size_t i = 0; i < count; i++)
        x[i] = number_of(rank, round, i);
    demand(silken_allreduce_i32(cluster.comm[rank], x, x, count) == 0, "allreduce", round);
    for (size_t i = 0; i < count; i++) {
        int sum = 0;
        for (unsigned w = 0; w < WORKERS; w++)
            sum += number_of(w, round, i);
        demand(x[i] == sum, "a wrong sum", i);
    }
    free(x);
}

static void refuse(struct silken_comm *comm) {
    float x[4] = {0};

    demand(silken_broadcast(comm, x, 4, WORKERS) == SILKEN_ERR_INVALID, "no such root", 0);
    demand(silken_broadcast(comm, NULL, 4, 0) == SILKEN_ERR_INVALID, "no data", 0);
    demand(silken_allgather(comm, NULL, x, 4) == SILKEN_ERR_INVALID, "no input", 0);
    demand(silken_reduce_scatter(comm, x, NULL, 1, SILKEN_F32, SILKEN_SUM) == SILKEN_ERR_INVALID,
           "no output", 0);
    demand(silken_reduce_scatter(comm, x, x, 1, (enum silken_type)9, SILKEN_SUM) ==
               SILKEN_ERR_INVALID,
           "no such type", 0);
    demand(silken_reduce_scatter(comm, x, x, 1, SILKEN_I32, SILKEN_AVERAGE) ==
               SILKEN_ERR_UNSUPPORTED,
           "average of integers", 0);
}

// All workers draw the same.
static void work(void *context, unsigned rank) {
    struct sk_random random = sk_random_seeded(seed);
    struct silken_comm *comm = cluster.comm[rank];

    (void)context;
    demand(silken_collectives_in_switch(comm) == in_switch, "where", 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        const size_t count = sk_random_below(&random, 4) == 0 ? sk_random_below(&random, 5)
                                                              : sk_random_below(&random, MOST);
        const uint64_t what = sk_random_below(&random, 6), more = sk_random_below(&random, 6);
        if (what == 0)
            broadcast(rank, round, count, more % 5);
        else if (what == 1)
            allgather(rank, round, count, more % 5, more % 2);
        else if (what == 2 || what == 3)
            reduce_scatter(rank, round, count / 3, (enum silken_type)more, round % 3);
        else if (what == 4)
            allreduce(rank, round, count);
        else
            demand(silken_barrier(comm) == 0, "barrier", round);
    }
    refuse(comm);
    demand(silken_barrier(comm) == 0, "barrier", ROUNDS);
}

static void run(unsigned lanes, bool audiences, const struct sk_faults *faults) {
    struct silken_config config;

    silken_config_init(&config);
    config.no_session = true;
    config.audiences = audiences;
    config.workers = WORKERS;
    config.lanes = lanes;
    config.k = 64;
    config.pool_size = 16;
    config.rto_min_us = config.rto_initial_us = 5000;
    in_switch = audiences && lanes == 1;
    cluster_start(&cluster, &config, faults);
    cluster_run(&cluster, work, NULL);
    cluster_stop(&cluster);
    memset(&cluster, 0, sizeof cluster);
}

static void test_in_the_switch(void **state) {
    (void)state;
    for (seed = 1; seed <= 5; seed++)
        run(1, true, NULL);
}

static void test_with_loss(void **state) {
    const struct sk_faults faults = {.seed = 5, .drop = 0.01, .duplicate = 0.01, .reorder = 0.05};

    (void)state;
    for (seed = 11; seed <= 13; seed++)
        run(1, true, &faults);
}

static void test_above_allreduce(void **state) {
    (void)state;
    seed = 21;
    run(1, false, NULL);
    run(2, true, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_the_switch),
        cmocka_unit_test(test_with_loss),
        cmocka_unit_test(test_above_allreduce),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

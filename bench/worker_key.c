// SPDX-License-Identifier: Apache-2.0
//
// worker: the SwitchML worker in memory: a tensor of floats quantised into packets, and results
// dequantised into a tensor. The switch is a function that turns a packet into its answer by
// exchanging the addresses: with one worker the sum is what it sent.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "hosts/switchml/worker.h"

#define COUNT ((size_t)8 << 20) // elements: 32 MiB, more than caches near the core hold
#define SLOTS 64u
#define BURST 32u
#define K     256u

struct bench {
    struct swml_worker *worker;
    uint64_t now;
    float *tensor; // reduced in place, as training does with its gradients
    uint8_t frames[BURST][SWML_MAX_FRAME];
};

static void exchange(uint8_t *a, uint8_t *b, size_t n) {
    uint8_t t[8];
    memcpy(t, a, n);
    memcpy(a, b, n);
    memcpy(b, t, n);
}

// Ethernet, IPv4 and UDP addresses; the checksum of the header stays what it is.
static void answer(uint8_t *frame) {
    exchange(frame, frame + 6, 6);
    exchange(frame + 26, frame + 30, 4);
    exchange(frame + 34, frame + 36, 2);
}

static void reduce(struct bench *b) {
    void *cookie;
    const struct swml_tensor tensor = {
        .type = SWML_F32, .in = b->tensor, .out = b->tensor, .count = COUNT, .cookie = b};
    if (swml_worker_submit(b->worker, &tensor, b->now)) {
        fprintf(stderr, "bench: the worker does not take the tensor\n");
        exit(1);
    }
    while (!swml_worker_done(b->worker, &cookie)) {
        size_t lengths[BURST], n = 0;
        b->now += 1000;
        while (n < BURST && (lengths[n] = swml_worker_write(b->worker, b->frames[n],
                                                            sizeof b->frames[n], b->now)) > 0)
            answer(b->frames[n++]);
        for (size_t i = 0; i < n; i++)
            if (swml_worker_read(b->worker, b->frames[i], lengths[i], b->now) != SWML_ACCEPTED) {
                fprintf(stderr, "bench: the worker does not take its answer\n");
                exit(1);
            }
    }
}

// Units are bytes of the tensor.
static uint64_t work(void *aux, uint64_t times) {
    for (uint64_t t = 0; t < times; t++)
        reduce(aux);
    return times * COUNT * sizeof(float);
}

static float value(size_t i) {
    return (float)((int)(i * 2654435761u % 2000001) - 1000000) * 1e-6f;
}

static struct bench *make(void) {
    const struct swml_config config = {
        .flow = {.worker = {.mac = {2, 0, 0, 0, 0, 1}, .port = 0xbee0, .ip = 0x0a000001},
                 .fabric = {.mac = {2, 0, 0, 0, 0, 0xfe}, .port = 0xbee0, .ip = 0x0a0000fe},
                 .job = 1,
                 .k = K},
        .workers = 1,
        .pool_size = SLOTS,
        .rto_initial = 1000000000,
        .rto_min = 1000000,
        .rto_max = 10000000000,
        .stall_warning = SWML_NEVER,
        .hard_limit = SWML_NEVER,
    };
    const char *why = "no memory";
    struct bench *b = calloc(1, sizeof *b);
    if (b)
        b->tensor = aligned_alloc(64, COUNT * sizeof(float));
    if (!b || !b->tensor || swml_worker_new(&b->worker, &config, &why)) {
        fprintf(stderr, "bench: no worker: %s\n", why);
        exit(1);
    }
    for (size_t i = 0; i < COUNT; i++)
        b->tensor[i] = value(i);
    return b;
}

// A sum of one is what was sent, but for the last bits of 2^-30 of the largest.
static void check(const struct bench *b) {
    for (size_t i = 0; i < COUNT; i++)
        if (!(fabsf(value(i) - b->tensor[i]) < 1e-6f)) {
            fprintf(stderr, "bench: element %zu is %g and not %g\n", i, (double)b->tensor[i],
                    (double)value(i));
            exit(1);
        }
}

void measure_worker(const struct bench_options *opt, json_t *result) {
    struct bench *b = make();
    reduce(b);
    check(b);
    struct bench_side side = {.name = "worker", .work = work, .aux = b};
    // a trial is a tensor, of some tens of milliseconds
    const size_t n = bench_trials(&side, 1, opt->seconds, 1e8);
    check(b);
    double *v = calloc(n, sizeof *v);
    if (!v)
        abort();
    for (size_t i = 0; i < n; i++)
        v[i] = 1e9 / side.ns[i];
    bench_put(result, "bytes_per_second", bench_stat(v, n));
    for (size_t i = 0; i < n; i++)
        v[i] = 8 / side.ns[i];
    bench_put(result, "gbps", bench_stat(v, n));
    for (size_t i = 0; i < n; i++)
        v[i] = side.ns[i] * 4 * K;
    bench_put(result, "ns_per_packet", bench_stat(v, n));
    bench_note(result,
               "a tensor of %zu MiB of float32 in place, packets of %u elements, %u slots; out and "
               "back in on "
               "one core, answered by exchanging addresses; gbps are of the tensor",
               COUNT * sizeof(float) >> 20, K, SLOTS);
    bench_sides_free(&side, 1);
    swml_worker_free(b->worker);
    free(b->tensor);
    free(v);
    free(b);
}

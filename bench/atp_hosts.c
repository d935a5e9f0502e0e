// SPDX-License-Identifier: Apache-2.0
#include "bench/atp_hosts.h"

#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "hosts/atp/server.h"
#include "hosts/atp/worker.h"

#define COUNT                                                                                      \
    ((size_t)8 << 20) // elements of the tensor: 32 MiB, more than caches near the core hold
#define BURST  32u
#define INDEX  5u
#define JOB    1
#define ROUND  256u // fragments of a server's round: their packets are 78 KB, or 2 and 8 times that
#define LEFT   6u   // bytes at the end of the headers that say which fragment it is
#define SERIAL (ATP_HEADER_BYTES - 4)

static void give_up(const char *sentence) __attribute__((noreturn));
static void give_up(const char *sentence) {
    fprintf(stderr, "bench: %s\n", sentence);
    exit(1);
}

static struct atp_flow flow(void) {
    return (struct atp_flow){
        .worker = {.mac = {2, 0, 0, 0, 0, 1}, .port = 0xbee0, .ip = 0x0a000001},
        .server = {.mac = {2, 0, 0, 0, 0, 9}, .port = ATP_UDP_PORT, .ip = 0x0a000009},
        .group = {.mac = {3, 0, 0, 0, 0, 1}, .port = ATP_UDP_PORT, .ip = 0xe0000001},
        .job = JOB};
}

// ---- the worker ----

struct atp_bench_worker {
    struct atp_worker *worker;
    uint64_t now;
    float *in;
    int32_t *out; // the numbers that it sent
    uint8_t answer[ATP_HEADER_BYTES];
    uint8_t frames[BURST][ATP_FRAME_BYTES];
};

static float value(size_t i) {
    return (float)((int)(i * 2654435761u % 2000001) - 1000000) * 1e-6f;
}

static void reduce(struct atp_bench_worker *b) {
    void *cookie;
    const struct atp_tensor tensor = {ATP_F32, b->in, b->out, COUNT, b};
    if (atp_worker_submit(b->worker, &tensor, b->now))
        give_up("ATP's worker does not take the tensor");
    while (!atp_worker_done(b->worker, &cookie)) {
        size_t n = 0;
        b->now += 1000;
        while (n < BURST && atp_worker_write(b->worker, b->frames[n], ATP_FRAME_BYTES, b->now))
            // parameters, with the number and the values that were sent
            memcpy(b->frames[n++], b->answer, ATP_HEADER_BYTES - LEFT);
        for (size_t i = 0; i < n; i++)
            if (atp_worker_read(b->worker, b->frames[i], ATP_FRAME_BYTES, b->now) != ATP_ACCEPTED)
                give_up("ATP's worker does not take its answer");
    }
}

struct atp_bench_worker *atp_bench_worker_new(void) {
    struct atp_bench_worker *b = calloc(1, sizeof *b);
    struct atp_worker_config config;
    struct atp_shape shape;
    const char *why = "no memory";
    const uint32_t rack = 0;
    atp_worker_config_init(&config);
    config.flow = flow();
    if (b) {
        b->in = aligned_alloc(64, COUNT * sizeof *b->in);
        b->out = aligned_alloc(64, COUNT * sizeof *b->out);
    }
    if (!b || !b->in || !b->out || atp_places(&rack, 1, 1, &shape, &config.place, &why) ||
        atp_worker_new(&b->worker, &config, &why))
        give_up(why);
    for (size_t i = 0; i < COUNT; i++)
        b->in[i] = value(i);
    atp_frame_init(b->answer, &config.flow, false);
    atp_frame_set(b->answer,
                  &(struct atp_packet){.is_ack = true, .fan_in0 = 1, .fan_in1 = 1, .job = JOB});
    reduce(b);
    for (size_t i = 0; i < COUNT; i++)
        if (b->out[i] != (int32_t)lrint((double)b->in[i] * ATP_SCALE))
            give_up("ATP's worker sent another number than the tensor's times 10^8");
    return b;
}

void atp_bench_worker_free(struct atp_bench_worker *b) {
    atp_worker_free(b->worker);
    free(b->in);
    free(b->out);
    free(b);
}

uint64_t atp_bench_worker_work(void *aux, uint64_t times) {
    for (uint64_t t = 0; t < times; t++)
        reduce(aux);
    return times * ((COUNT + ATP_VALUES - 1) / ATP_VALUES);
}

// ---- the server ----

struct atp_bench_server {
    struct atp_server *server;
    struct atp_flow flow;
    unsigned parts;
    uint64_t now, number; // of the next fragment
    uint64_t sent;
    uint8_t *frames; // of ROUND fragments, 'parts' of each
    uint8_t parameters[ATP_FRAME_BYTES];
};

static int32_t part_value(unsigned fragment, unsigned part, unsigned i) {
    return (int32_t)((fragment * 1009u + part * 31u + i + 1) * 2654435761u) / 16;
}

static uint8_t *frame_of(const struct atp_bench_server *b, unsigned fragment, unsigned part) {
    return b->frames + (size_t)(fragment * b->parts + part) * ATP_FRAME_BYTES;
}

// What a packet of a part says about whose it is; workers 0 to 3 are in one rack, the others in
// another.
static struct atp_packet part_of(const struct atp_shape *shape, unsigned parts, unsigned part) {
    struct atp_packet p = {
        .index = INDEX, .job = JOB, .fan_in0 = ATP_BENCH_WORKERS / 2, .fan_in1 = 2};
    for (unsigned w = 0; w < ATP_BENCH_WORKERS; w++)
        if (w * parts / ATP_BENCH_WORKERS == part) {
            p.bitmap0 |= 1u << shape->bit[w];
            p.bitmap1 |= 1u << shape->entity[w];
        }
    return p;
}

static void make_frames(struct atp_bench_server *b, const struct atp_shape *shape) {
    b->frames = malloc((size_t)ROUND * b->parts * ATP_FRAME_BYTES);
    if (!b->frames)
        give_up("no memory");
    for (unsigned f = 0; f < ROUND; f++)
        for (unsigned part = 0; part < b->parts; part++) {
            uint8_t *frame = frame_of(b, f, part);
            const struct atp_packet p = part_of(shape, b->parts, part);
            atp_frame_init(frame, &b->flow, true);
            atp_frame_set(frame, &p);
            for (unsigned i = 0; i < ATP_VALUES; i++) {
                const uint32_t be = htobe32((uint32_t)part_value(f, part, i));
                memcpy(frame + ATP_HEADER_BYTES + 4 * i, &be, 4);
            }
        }
}

static void check_parameters(const struct atp_bench_server *b, unsigned fragment) {
    struct atp_packet p;
    if (atp_frame_check(&b->flow.group, b->parameters, ATP_FRAME_BYTES, &p) != ATP_ACCEPTED ||
        !p.is_ack || p.overflow || p.index != INDEX ||
        p.sequence != atp_sequence(&b->flow, b->number + fragment))
        give_up("ATP's server sent something else than a fragment's parameters");
    for (unsigned i = 0; i < ATP_VALUES; i++) {
        int64_t sum = 0;
        uint32_t bits;
        float got;
        for (unsigned part = 0; part < b->parts; part++)
            sum += part_value(fragment, part, i);
        memcpy(&bits, p.values + 4 * i, 4);
        bits = be32toh(bits);
        memcpy(&got, &bits, 4);
        if (!(fabs((double)got - (double)sum / ATP_SCALE) <= 1e-6 * fabs((double)sum) / ATP_SCALE))
            give_up("ATP's server sent a wrong sum");
    }
}

// A burst is received, and answered.
static void run_round(struct atp_bench_server *b, const bool checks) {
    for (unsigned burst = 0; burst < ROUND; burst += BURST) {
        b->now += 1000;
        for (unsigned f = burst; f < burst + BURST; f++) {
            const uint32_t word =
                htobe32((uint32_t)JOB << ATP_SEQUENCE_BITS | atp_sequence(&b->flow, b->number + f));
            for (unsigned part = 0; part < b->parts; part++) {
                uint8_t *frame = frame_of(b, f, part);
                memcpy(frame + SERIAL, &word, sizeof word);
                if (atp_server_read(b->server, frame, ATP_FRAME_BYTES, b->now) != ATP_ACCEPTED)
                    give_up("ATP's server does not take a gradient");
            }
        }
        for (unsigned f = burst;
             atp_server_write(b->server, b->parameters, ATP_FRAME_BYTES, b->now); f++) {
            b->sent++;
            if (checks)
                check_parameters(b, f);
        }
    }
    b->number += ROUND;
}

struct atp_bench_server *atp_bench_server_new(unsigned parts) {
    static const uint32_t racks[ATP_BENCH_WORKERS] = {1, 1, 1, 1, 2, 2, 2, 2};
    struct atp_bench_server *b = calloc(1, sizeof *b);
    struct atp_server_config config;
    const char *why = "no memory";
    atp_server_config_init(&config);
    config.flow = flow();
    if (!b || atp_places(racks, ATP_BENCH_WORKERS, 0, &config.shape, NULL, &why) ||
        atp_server_new(&b->server, &config, &why))
        give_up(why);
    b->flow = config.flow;
    b->parts = parts;
    make_frames(b, &config.shape);
    // with numbers that are new to its memory, and with those that take others' places
    for (unsigned i = 0; i < 64; i++)
        run_round(b, true);
    if (b->sent != 64 * ROUND)
        give_up("ATP's server sent another number of parameters than of fragments");
    return b;
}

void atp_bench_server_free(struct atp_bench_server *b) {
    atp_server_free(b->server);
    free(b->frames);
    free(b);
}

uint64_t atp_bench_server_work(void *aux, uint64_t times) {
    struct atp_bench_server *b = aux;
    for (uint64_t t = 0; t < times; t++)
        run_round(b, false);
    return times * ROUND * b->parts;
}

// ---- the keys ----

void measure_atp_worker(const struct bench_options *opt, json_t *result) {
    struct atp_bench_worker *b = atp_bench_worker_new();
    struct bench_side side = {.name = "atp_worker", .work = atp_bench_worker_work, .aux = b};
    // a trial is a tensor, of some tens of milliseconds
    const size_t n = bench_trials(&side, 1, opt->seconds, 1e8);
    bench_put_packets(result, side.ns, n, ATP_FRAME_BYTES);
    for (size_t i = 0; i < n; i++)
        side.ns[i] = 32.0 * ATP_VALUES / side.ns[i];
    bench_put(result, "tensor_gbps", bench_stat(side.ns, n));
    bench_note(result,
               "a tensor of %zu MiB of float32, of one worker; each packet sent comes back as "
               "parameters with the values that it has; a packet is one sent and one received, "
               "gbps are on the wire, each way",
               COUNT * sizeof(float) >> 20);
    bench_sides_free(&side, 1);
    atp_bench_worker_free(b);
}

void measure_atp_server(const struct bench_options *opt, json_t *result) {
    static const unsigned parts[] = {1, 2, ATP_BENCH_WORKERS};
    struct bench_side sides[3];
    for (unsigned i = 0; i < 3; i++)
        sides[i] = (struct bench_side){.name = "atp_server",
                                       .work = atp_bench_server_work,
                                       .aux = atp_bench_server_new(parts[i])};
    const size_t n = bench_trials(sides, 3, opt->seconds, BENCH_TRIAL_NS);
    bench_put_packets(result, sides[0].ns, n, ATP_FRAME_BYTES);
    bench_put(result, "partial_ns_per_packet", bench_stat(sides[1].ns, n));
    bench_put(result, "single_ns_per_packet", bench_stat(sides[2].ns, n));
    bench_note(
        result,
        "a job of %u workers in two racks: a fragment is one packet with the sum over all, "
        "two with that of a rack each (partial_), or one of each worker (single_); times are "
        "of a packet received, with its share of the parameters sent",
        ATP_BENCH_WORKERS);
    for (unsigned i = 0; i < 3; i++)
        atp_bench_server_free(sides[i].aux);
    bench_sides_free(sides, 3);
}

// SPDX-License-Identifier: Apache-2.0
//
// libra_worker, libra_server: the state machines of hosts/libra in memory. The worker packs pairs,
// writes packets and reads their acks, which a function makes of its packets; the server sums cold
// pairs of packets that were made before and acknowledges them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/rig.h"
#include "hosts/core/udp.h"
#include "hosts/libra/libra.h"
#include "libra_wire.h"

#define JOB   3
#define EPOCH 7
#define PUSH  16384u // pairs of a request
#define BURST 32u
#define STEP  1000u // ns between two bursts

static struct libra_flow hosts_flow(uint16_t to_port) {
    return (struct libra_flow){{{2, 0, 0, 0, 0, 1}, 41000, 0x0a000001},
                               {{2, 0, 0, 0, 0, 0xfe}, to_port, 0x0a0000fe},
                               JOB,
                               0,
                               EPOCH};
}

static struct libra_worker_config hosts_config(bool cold) {
    return (struct libra_worker_config){.flow = hosts_flow(cold ? LIBRA_COLD_PORT : LIBRA_PORT),
                                        .cold = cold,
                                        .floats = true,
                                        .first_sequence = 1,
                                        .window = 128,
                                        .window_max = 128,
                                        .rto_initial = 1000000000,
                                        .rto_min = 1000000,
                                        .rto_max = 10000000000,
                                        .hard_limit = LIBRA_NEVER};
}

// ---- the worker ----

struct hosts_worker {
    struct libra_worker *worker;
    uint32_t sequence; // numbers are used up after 2^30 packets: it begins again before
    uint64_t now;
    struct libra_pair pairs[PUSH];
    uint8_t frames[BURST][LIBRA_FRAME_BYTES];
};

static void hosts_begin(struct hosts_worker *w) {
    const struct libra_worker_config config = hosts_config(false);
    const char *why = "no memory";
    libra_worker_free(w->worker);
    if (libra_worker_new(&w->worker, &config, &why))
        rig_give_up("no worker: %s", why);
    w->sequence = 0;
}

static void hosts_exchange(uint8_t *a, uint8_t *b, size_t n) {
    uint8_t t[8];
    memcpy(t, a, n);
    memcpy(a, b, n);
    memcpy(b, t, n);
}

// The switch's ack: addresses exchanged, lengths of 58 bytes, no pairs.
static void hosts_acknowledge(uint8_t *frame) {
    uint8_t *const ip = frame + ETHERNET_H_BYTES, *const udp = ip + IPV4_H_BYTES,
                   *const libra = udp + UDP_H_BYTES;
    hosts_exchange(frame, frame + 6, 6);
    hosts_exchange(frame + 26, frame + 30, 4);
    hosts_exchange(frame + 34, frame + 36, 2);
    ipv4_h_set_total_len(ip, LIBRA_HEADERS - ETHERNET_H_BYTES);
    ipv4_h_set_checksum(ip, 0);
    ipv4_h_set_checksum(ip, sk_checksum(ip, IPV4_H_BYTES));
    udp_h_set_length(udp, LIBRA_HEADERS - ETHERNET_H_BYTES - IPV4_H_BYTES);
    udp_h_set_checksum(udp, 0);
    libra_h_set_kind(libra, LIBRA_ACK);
    libra_h_set_places(libra, 0);
}

static void hosts_push(struct hosts_worker *w) {
    void *cookie;
    if (libra_worker_push(w->worker, w->pairs, PUSH, w, w->now))
        rig_give_up("the worker does not take the pairs");
    while (!libra_worker_done(w->worker, &cookie)) {
        size_t n = 0;
        w->now += STEP;
        while (n < BURST && libra_worker_write(w->worker, w->frames[n], LIBRA_FRAME_BYTES, w->now))
            hosts_acknowledge(w->frames[n++]);
        for (size_t i = 0; i < n; i++)
            if (libra_worker_read(w->worker, w->frames[i], LIBRA_HEADERS, w->now) != LIBRA_ACCEPTED)
                rig_give_up("the worker does not take its ack");
        w->sequence += (uint32_t)n;
    }
}

// Units are pairs.
static uint64_t hosts_worker_work(void *aux, uint64_t times) {
    struct hosts_worker *w = aux;
    for (uint64_t t = 0; t < times; t++) {
        if (w->sequence > LIBRA_SEQUENCE_LAST / 2)
            hosts_begin(w);
        hosts_push(w);
    }
    return times * PUSH;
}

static void hosts_put_pairs(json_t *result, const double *ns, size_t n) {
    double *v = calloc(n, sizeof *v);
    if (!v)
        abort();
    for (size_t i = 0; i < n; i++)
        v[i] = 1000 / ns[i];
    bench_put(result, "million_pairs", bench_stat(v, n));
    bench_put(result, "ns_per_pair", bench_stat(ns, n));
    free(v);
}

void measure_libra_worker(const struct bench_options *opt, json_t *result) {
    struct hosts_worker *w = calloc(1, sizeof *w);
    if (!w)
        abort();
    hosts_begin(w);
    // each once, in the order of keys, which has nothing to do with the rank
    for (unsigned i = 0; i < PUSH; i++)
        w->pairs[i] = (struct libra_pair){(i * 7919u) % PUSH, 0x3f800000u + i};
    hosts_push(w);
    struct bench_side side = {.name = "worker", .work = hosts_worker_work, .aux = w};
    const size_t n = bench_trials(&side, 1, opt->seconds, BENCH_TRIAL_NS);
    const struct libra_worker_stats stats = libra_worker_stats(w->worker);
    hosts_put_pairs(result, side.ns, n);
    if (stats.repeated || stats.pairs_left)
        bench_error(result, "all", "%llu packets were repeated",
                    (unsigned long long)stats.repeated);
    bench_note(result,
               "requests of %u pairs: packed, written in bursts of %u, acks made of the packets "
               "and read, on one core",
               PUSH, BURST);
    bench_sides_free(&side, 1);
    libra_worker_free(w->worker);
    free(w);
}

// ---- the server ----

#define SERVER_PACKETS 256u // of a round; the window is 512
#define SERVER_KEYS    (1u << 20)

struct hosts_server {
    struct libra_server *server;
    uint32_t sequence;
    uint64_t now;
    struct libra_cold_pair pairs[SERVER_PACKETS][LIBRA_COLD_PAIRS];
    uint8_t frames[SERVER_PACKETS][LIBRA_COLD_BYTES];
    double took;
};

static void hosts_make_packets(struct hosts_server *s) {
    const struct libra_flow flow = hosts_flow(LIBRA_COLD_PORT);
    for (unsigned p = 0; p < SERVER_PACKETS; p++) {
        const struct libra_header header = {.kind = LIBRA_PUSH, .sequence = s->sequence++};
        libra_cold_write(s->frames[p], &flow, &header, s->pairs[p], LIBRA_COLD_PAIRS);
    }
}

static uint64_t hosts_server_round(void *aux) {
    struct hosts_server *s = aux;
    uint8_t ack[LIBRA_COLD_BYTES];
    hosts_make_packets(s);
    const uint64_t from = bench_tsc();
    for (unsigned p = 0; p < SERVER_PACKETS; p++) {
        s->now += STEP;
        if (libra_server_read(s->server, s->frames[p], LIBRA_COLD_BYTES, s->now) !=
                LIBRA_ACCEPTED ||
            libra_server_write(s->server, ack, sizeof ack, s->now) == 0)
            rig_give_up("the server does not acknowledge");
    }
    return bench_tsc() - from;
}

static uint64_t hosts_server_work(void *aux, uint64_t times) {
    struct hosts_server *s = aux;
    s->took = bench_rounds(hosts_server_round, s, times) / (SERVER_PACKETS * LIBRA_COLD_PAIRS);
    return times * SERVER_PACKETS * LIBRA_COLD_PAIRS;
}

static double hosts_server_took(void *aux) {
    return ((const struct hosts_server *)aux)->took;
}

void measure_libra_server(const struct bench_options *opt, json_t *result) {
    struct hosts_server *s = calloc(1, sizeof *s);
    const char *why = "no memory";
    if (!s)
        abort();
    const struct libra_server_config config = {.self = hosts_flow(LIBRA_COLD_PORT).fabric,
                                               .job = JOB,
                                               .epoch = EPOCH,
                                               .workers = 1,
                                               .last_key = SERVER_KEYS - 1};
    if (libra_server_new(&s->server, &config, &why))
        rig_give_up("no server: %s", why);
    s->sequence = 1;
    const float one = 1;
    for (unsigned p = 0; p < SERVER_PACKETS; p++)
        for (unsigned i = 0; i < LIBRA_COLD_PAIRS; i++) {
            s->pairs[p][i].key = (p * LIBRA_COLD_PAIRS + i) * 2654435761u % SERVER_KEYS;
            memcpy(&s->pairs[p][i].value, &one, sizeof one);
        }
    hosts_server_round(s);
    if (libra_server_sum(s->server, s->pairs[7][7].key) < 1)
        rig_give_up("the server has not added up");
    struct bench_side side = {
        .name = "server", .work = hosts_server_work, .took = hosts_server_took, .aux = s};
    const size_t n = bench_trials(&side, 1, opt->seconds, BENCH_TRIAL_NS);
    hosts_put_pairs(result, side.ns, n);
    bench_note(result,
               "pushes of %u cold pairs, of %u keys spread over %u, checked, summed and "
               "acknowledged on one core",
               LIBRA_COLD_PAIRS, SERVER_PACKETS * LIBRA_COLD_PAIRS, SERVER_KEYS);
    bench_sides_free(&side, 1);
    libra_server_free(s->server);
    free(s);
}

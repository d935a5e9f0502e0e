// SPDX-License-Identifier: Apache-2.0
//
// allreduce_1k: 1 KB of float32 summed over the same workers by the same systems (allreduce_net.h),
// again and again: what barriers and inference send. The systems take turns, each started anew.
//
// The time of an all-reduce is from when the last rank begins to when the last one ends: until then
// nobody can have the sum. One after the other, and each after its ranks have slept for 2 ms.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/allreduce_net.h"
#include "bench/bench.h"

#define ROUNDS   20
#define OF_ROUND (REDUCE_CLOSE + REDUCE_APART)

enum { P50, P99, APART_P50, APART_P99, PERIOD, FIGURES };
static const char *const figures[FIGURES] = {"p50_us", "p99_us", "apart_p50_us", "apart_p99_us",
                                             "period_us"};

struct small {
    struct reduce_net net;
    double us[SYSTEMS][FIGURES][ROUNDS]; // 0: not measured
    int rounds;
    uint64_t start[REDUCE_WORKERS * OF_ROUND], end[REDUCE_WORKERS * OF_ROUND];
    uint64_t last[OF_ROUND]; // when the sum was there at all ranks
    double took[OF_ROUND];
};

static void all_times(struct small *s) {
    for (size_t i = 0; i < OF_ROUND; i++) {
        uint64_t begins = 0, ends = 0;
        for (size_t rank = 0; rank < REDUCE_WORKERS; rank++) {
            const uint64_t a = s->start[rank * OF_ROUND + i], b = s->end[rank * OF_ROUND + i];
            begins = a > begins ? a : begins;
            ends = b > ends ? b : ends;
        }
        s->took[i] = (double)(ends - begins) / 1e3;
        s->last[i] = ends;
    }
}

static void run_small(struct small *s, int system) {
    double *of[FIGURES];
    for (int f = 0; f < FIGURES; f++)
        of[f] = &s->us[system][f][s->rounds];
    if (!reduce_net_run(&s->net, system, REDUCE_SMALL) ||
        !reduce_net_times(&s->net, system, OF_ROUND, s->start, s->end))
        return;
    all_times(s);
    *of[P50] = bench_quantile(s->took, REDUCE_CLOSE, 0.5);
    *of[P99] = bench_quantile(s->took, REDUCE_CLOSE, 0.99);
    *of[APART_P50] = bench_quantile(s->took + REDUCE_CLOSE, REDUCE_APART, 0.5);
    *of[APART_P99] = bench_quantile(s->took + REDUCE_CLOSE, REDUCE_APART, 0.99);
    *of[PERIOD] = (double)(s->last[REDUCE_CLOSE - 1] - s->last[0]) / 1e3 / (REDUCE_CLOSE - 1);
}

// Of the rounds in which both were measured. How many that are.
static size_t of_both(const struct small *s, int figure, int a, int b, double *of_a, double *of_b) {
    size_t n = 0;
    for (int i = 0; i < s->rounds; i++)
        if (s->us[a][figure][i] > 0 && s->us[b][figure][i] > 0) {
            of_a[n] = s->us[a][figure][i];
            of_b[n++] = s->us[b][figure][i];
        }
    return n;
}

static void put_figures(json_t *result, const struct small *s, int system, const char *prefix) {
    double a[ROUNDS], b[ROUNDS];
    for (int f = 0; f < FIGURES; f++) {
        char field[64];
        const size_t n = of_both(s, f, system, system, a, b);
        snprintf(field, sizeof field, "%s%s", prefix, figures[f]);
        if (n > 0)
            bench_put(result, field, bench_stat(a, n));
        else
            bench_error(result, field, "%s", s->net.why[system]);
    }
}

static void put_ratios(json_t *result, const struct small *s, int system, const char *prefix) {
    static const struct {
        const char *name;
        int figure, peer;
    } ratios[] = {{"ratio_gloo", P50, GLOO},
                  {"ratio_openmpi", P50, OPENMPI},
                  {"apart_ratio_gloo", APART_P50, GLOO},
                  {"apart_ratio_openmpi", APART_P50, OPENMPI}};
    double a[ROUNDS], b[ROUNDS];
    for (size_t i = 0; i < sizeof ratios / sizeof ratios[0]; i++) {
        char field[64];
        const size_t n = of_both(s, ratios[i].figure, ratios[i].peer, system, a, b);
        snprintf(field, sizeof field, "%s%s", prefix, ratios[i].name);
        if (n > 0)
            bench_put(result, field, bench_ratio(a, b, n));
        else
            bench_error(result, field, "one of the two was not measured");
    }
}

void measure_allreduce_1k(const struct bench_options *opt, json_t *result) {
    static const char *const prefixes[SYSTEMS] = {"", "udp_", "af_packet_", "gloo_", "openmpi_"};
    struct small *s = calloc(1, sizeof *s);
    char why[512];
    if (!s)
        abort();
    bench_unpin();
    if (!reduce_net_up(&s->net, opt->folder, why, sizeof why)) {
        bench_error(result, figures[P50], "no network namespaces: %s", why);
        free(s);
        return;
    }
    const double from = bench_wall_ns();
    for (; s->rounds < ROUNDS; s->rounds++) {
        const double spent = bench_wall_ns() - from;
        if (s->rounds > 0 && spent + spent / s->rounds > opt->seconds * 1e9)
            break;
        for (int system = 0; system < SYSTEMS; system++)
            run_small(s, system);
    }
    reduce_net_down(&s->net);
    for (int system = 0; system < SYSTEMS; system++)
        put_figures(result, s, system, prefixes[system]);
    for (int system = 0; system < GLOO; system++)
        put_ratios(result, s, system, prefixes[system]);
    bench_note(result,
               "%u float32 over %d workers in namespaces, from when the last begins to when the "
               "last has the sum: %d one after the other, %d after 2 ms of sleep (apart); Silken "
               "with memif ports; udp and af_packet: over veth links; Gloo's ring and Open MPI "
               "over TCP on veth links and a bridge; %d rounds",
               REDUCE_ELEMENTS, REDUCE_WORKERS, REDUCE_CLOSE, REDUCE_APART, s->rounds);
    free(s);
}

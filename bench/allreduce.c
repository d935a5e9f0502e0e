// SPDX-License-Identifier: Apache-2.0
//
// allreduce: 100 MB of float32 summed over four workers in network namespaces (allreduce_net.h).
// The systems take turns, each started anew.
//
// The time of an all-reduce is from when the first rank begins to when the last one ends.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/allreduce_net.h"
#include "bench/bench.h"

#define MAX_ROUNDS 20
#define MAX_TIMES  (MAX_ROUNDS * REDUCE_TIMED)
#define OF_TIME    0.7 // of the time, for rounds without af_packet

struct runs {
    struct reduce_net net;
    double seconds[SYSTEMS][MAX_TIMES]; // of each round REDUCE_TIMED; 0: not measured
    int rounds;
};

static void run_system(struct runs *r, int system) {
    uint64_t start[REDUCE_WORKERS][REDUCE_TIMED], end[REDUCE_WORKERS][REDUCE_TIMED];
    if (!reduce_net_run(&r->net, system, NULL) ||
        !reduce_net_times(&r->net, system, REDUCE_TIMED, start[0], end[0]))
        return;
    for (int i = 0; i < REDUCE_TIMED; i++) {
        uint64_t first = UINT64_MAX, last = 0;
        for (int rank = 0; rank < REDUCE_WORKERS; rank++) {
            first = start[rank][i] < first ? start[rank][i] : first;
            last = end[rank][i] > last ? end[rank][i] : last;
        }
        r->seconds[system][r->rounds * REDUCE_TIMED + i] = (double)(last - first) / 1e9;
    }
}

// Of the times at which both were measured. How many that are.
static size_t both(const struct runs *r, int a, int b, double *of_a, double *of_b) {
    size_t n = 0;
    for (int i = 0; i < r->rounds * REDUCE_TIMED; i++)
        if (r->seconds[a][i] > 0 && r->seconds[b][i] > 0) {
            of_a[n] = r->seconds[a][i];
            of_b[n++] = r->seconds[b][i];
        }
    return n;
}

static void put_ratio(json_t *result, const struct runs *r, const char *field, int theirs,
                      int ours) {
    double a[MAX_TIMES], b[MAX_TIMES];
    const size_t n = both(r, theirs, ours, a, b);
    if (n > 0) {
        bench_put(result, field, bench_ratio(a, b, n));
        return;
    }
    const int bad = both(r, theirs, theirs, a, b) > 0 ? ours : theirs;
    bench_error(result, field, "%s: %s", reduce_names[bad], r->net.why[bad]);
}

static void put_seconds(json_t *result, const struct runs *r, const char *field, int system) {
    double a[MAX_TIMES], b[MAX_TIMES];
    const size_t n = both(r, system, system, a, b);
    if (n > 0)
        bench_put(result, field, bench_stat(a, n));
    else
        bench_error(result, field, "%s", r->net.why[system]);
}

void measure_allreduce(const struct bench_options *opt, json_t *result) {
    struct runs *r = calloc(1, sizeof *r);
    char why[512];
    if (!r)
        abort();
    bench_unpin();
    if (!reduce_net_up(&r->net, opt->folder, why, sizeof why)) {
        static const char *const fields[] = {"seconds", "ratio_gloo", "ratio_openmpi"};
        for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
            bench_error(result, fields[i], "no network namespaces: %s", why);
        free(r);
        return;
    }
    const double from = bench_wall_ns();
    for (; r->rounds < MAX_ROUNDS; r->rounds++) {
        const double spent = bench_wall_ns() - from;
        if (r->rounds > 0 && spent + spent / r->rounds > OF_TIME * opt->seconds * 1e9)
            break;
        run_system(r, MEMIF);
        run_system(r, UDP);
        run_system(r, GLOO);
        run_system(r, OPENMPI);
    }
    // takes as long as a round of the others, so it belongs to the last one only
    r->rounds--;
    run_system(r, AF_PACKET);
    r->rounds++;
    reduce_net_down(&r->net);
    put_seconds(result, r, "seconds", MEMIF);
    put_seconds(result, r, "udp_seconds", UDP);
    put_seconds(result, r, "af_packet_seconds", AF_PACKET);
    put_seconds(result, r, "gloo_seconds", GLOO);
    put_seconds(result, r, "openmpi_seconds", OPENMPI);
    put_ratio(result, r, "ratio_gloo", GLOO, MEMIF);
    put_ratio(result, r, "ratio_openmpi", OPENMPI, MEMIF);
    put_ratio(result, r, "udp_ratio_gloo", GLOO, UDP);
    put_ratio(result, r, "udp_ratio_openmpi", OPENMPI, UDP);
    put_ratio(result, r, "af_packet_ratio_gloo", GLOO, AF_PACKET);
    put_ratio(result, r, "af_packet_ratio_openmpi", OPENMPI, AF_PACKET);
    bench_note(
        result,
        "%u float32 over %d workers in namespaces; seconds: Silken with memif ports, packets "
        "of 256 elements, %u slots; udp: kernel sockets on veth links; Gloo and Open MPI over TCP "
        "on veth links and a bridge; "
        "%d rounds of %d",
        REDUCE_COUNT, REDUCE_WORKERS, REDUCE_SLOTS, r->rounds, REDUCE_TIMED);
    free(r);
}

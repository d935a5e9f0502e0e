// SPDX-License-Identifier: Apache-2.0
//
// forward64: 64-byte frames whose destination is looked up among 1,000, on a ring device that gives
// back what is sent: Silken, DPDK's SWX pipeline with the same table, and DPDK's testpmd, which
// looks up nothing. Each has such a device of its own, with the same number of frames going round.
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/loop.h"
#include "bench/swx.h"
#include "bench/testpmd.h"

// testpmd starts and stops at each trial, which takes some microseconds of what is measured.
#define TESTPMD_TRIAL_NS 40e6

static void against_swx(const struct bench_options *opt, json_t *result, struct loop *loop) {
    char why[512];
    struct swx *swx = swx_new(opt->folder, why, sizeof why);
    struct bench_side sides[] = {
        {.name = "silken", .work = loop_work, .aux = loop},
        {.name = "swx", .work = swx_work, .aux = swx},
    };
    const size_t n_sides = swx ? 2 : 1;
    const size_t n = bench_trials(sides, n_sides, opt->seconds / 2, BENCH_TRIAL_NS);
    bench_put_packets(result, sides[0].ns, n, LOOP_BYTES);
    if (swx) {
        bench_put(result, "swx_ns_per_packet", bench_stat(sides[1].ns, n));
        bench_put(result, "ratio_swx", bench_ratio(sides[1].ns, sides[0].ns, n));
        bench_note(result,
                   "ratio_swx: DPDK's SWX pipeline, code generated from bench/forward.spec");
    } else {
        bench_error(result, "ratio_swx", "%s", why);
    }
    bench_sides_free(sides, n_sides);
    swx_free(swx);
}

static void against_testpmd(const struct bench_options *opt, json_t *result, struct loop *loop,
                            int cpu) {
    char why[512];
    struct testpmd *t = testpmd_new(cpu, why, sizeof why);
    if (!t) {
        bench_error(result, "ratio_testpmd", "%s", why);
        return;
    }
    const size_t n = (size_t)(opt->seconds / 2 * 1e9 / (2 * TESTPMD_TRIAL_NS)) + 5;
    double *ours = calloc(n, sizeof *ours), *theirs = calloc(n, sizeof *theirs);
    if (!ours || !theirs)
        abort();
    size_t good = 0;
    const double end = bench_wall_ns() + opt->seconds / 2 * 1e9;
    for (size_t i = 0; i < n && (i < BENCH_MIN_TRIALS || bench_wall_ns() < end); i++) {
        theirs[good] = testpmd_trial(t, TESTPMD_TRIAL_NS / 1e9);
        loop_work(loop, 1);
        double from = bench_cpu_ns();
        uint64_t packets = 0;
        while (bench_cpu_ns() - from < TESTPMD_TRIAL_NS)
            packets += loop_work(loop, 10);
        ours[good] = (bench_cpu_ns() - from) / (double)packets;
        good += theirs[good] > 0;
    }
    testpmd_free(t);
    if (good < BENCH_MIN_TRIALS) {
        bench_error(result, "ratio_testpmd", "testpmd answered in %zu of %zu trials", good, n);
    } else {
        bench_put(result, "testpmd_ns_per_packet", bench_stat(theirs, good));
        bench_put(result, "ratio_testpmd", bench_ratio(theirs, ours, good));
        bench_note(result, "ratio_testpmd: dpdk-testpmd in macswap mode, which looks nothing up");
    }
    free(ours);
    free(theirs);
}

void measure_forward64(const struct bench_options *opt, json_t *result) {
    const int cpu = bench_pin();
    struct loop *loop = loop_new(cpu);
    bench_note(result,
               "%u frames of %u bytes going round a net_ring device, destinations spread over %u "
               "entries, bursts of 32",
               LOOP_FRAMES, LOOP_BYTES, LOOP_ENTRIES);
    against_swx(opt, result, loop);
    against_testpmd(opt, result, loop, cpu);
    loop_free(loop);
}

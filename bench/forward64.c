// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "bench/bench.h"
#include "bench/loop.h"

#define TRIAL_NS 4e6

void bench_forward64(const struct bench_options *opt, json_t *result) {
    struct loop *loop = loop_new(bench_pin());
    struct bench_side side = {.name = "silken", .work = loop_work, .aux = loop};
    const size_t n = (size_t)(opt->seconds * 1e9 / (TRIAL_NS * 1.2)) + 5;
    bench_trials(&side, 1, n, TRIAL_NS);
    bench_put_packets(result, side.ns, n, LOOP_BYTES);
    bench_sides_free(&side, 1);
    loop_free(loop);
}

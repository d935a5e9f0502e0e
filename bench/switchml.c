// SPDX-License-Identifier: Apache-2.0
//
// switchml256, switchml64, scalar: p4/switchml on packets in memory, all passes and the results to
// every worker included, against a bare loop that only adds.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/ideal.h"
#include "bench/rack.h"

static void describe(json_t *result, const struct rack *r) {
    bench_note(result,
               "%u workers, %u slots in two versions, %u elements: frames of %u bytes, copied from "
               "memory into the switch in bursts of %u, results counted and let go",
               RACK_WORKERS, RACK_SLOTS, r->k, r->frame_bytes, RACK_SLOTS);
}

static void against_ideal(const struct bench_options *opt, json_t *result, unsigned k) {
    struct rack *rack = rack_new(k, NULL);
    struct ideal *ideal = ideal_new(rack);
    struct bench_side sides[] = {
        {.name = "silken", .work = rack_work, .aux = rack},
        {.name = "bare loop", .work = ideal_work, .aux = ideal},
    };
    const size_t n = bench_trials(sides, 2, opt->seconds, BENCH_TRIAL_NS);
    bench_put_packets(result, sides[0].ns, n, rack->frame_bytes);
    bench_put(result, "ideal_ns_per_packet", bench_stat(sides[1].ns, n));
    bench_put(result, "ratio_ideal", bench_ratio(sides[0].ns, sides[1].ns, n));
    describe(result, rack);
    bench_note(result, "ratio_ideal: against a bare %s loop over the same packets", ideal_isa());
    bench_sides_free(sides, 2);
    ideal_free(ideal);
    rack_free(rack);
}

void measure_switchml256(const struct bench_options *opt, json_t *result) {
    against_ideal(opt, result, 256);
}

void measure_switchml64(const struct bench_options *opt, json_t *result) {
    against_ideal(opt, result, 64);
}

// The program without the vectoriser, by the command line: a compiler that cannot leave it out
// refuses the option. Null then.
static char *scalar_object(const struct bench_options *opt) {
    char *silken = NULL, *object = NULL;
    if (asprintf(&silken, "%s/../silken", opt->folder) < 0 ||
        asprintf(&object, "%s/switchml-scalar.so", opt->folder) < 0)
        abort();
    pid_t pid = fork();
    if (pid == 0) {
        execl(silken, silken, "build", "--no-vectorise", "-o", object,
              SILKEN_PROGRAM_DIR "/switchml/switchml.p4", (char *)NULL);
        _exit(127);
    }
    int status = -1;
    bool good = pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
    free(silken);
    if (good)
        return object;
    free(object);
    return NULL;
}

void measure_scalar(const struct bench_options *opt, json_t *result) {
    char *object = scalar_object(opt);
    struct rack *vectors = rack_new(256, NULL), *scalar = object ? rack_new(256, object) : NULL;
    struct bench_side sides[] = {
        {.name = "silken", .work = rack_work, .aux = vectors},
        {.name = "scalar", .work = rack_work, .aux = scalar},
    };
    const size_t n_sides = scalar ? 2 : 1;
    const size_t n = bench_trials(sides, n_sides, opt->seconds, BENCH_TRIAL_NS);
    bench_put_packets(result, sides[n_sides - 1].ns, n, vectors->frame_bytes);
    describe(result, vectors);
    if (scalar)
        bench_put(result, "ratio_scalar", bench_ratio(sides[1].ns, sides[0].ns, n));
    else
        bench_error(
            result, "ratio_scalar",
            "'silken build --no-vectorise' failed: the figures beside are the default build's");
    bench_sides_free(sides, n_sides);
    rack_free(vectors);
    if (scalar)
        rack_free(scalar);
    free(object);
}

// SPDX-License-Identifier: Apache-2.0
//
// libra, libra_integer: p4/libra on pushes of 16 pairs in memory, all passes and the acks included,
// against a bare loop that only adds.
#include "bench/bench.h"
#include "bench/libra_rack.h"

static void libra_against_ideal(const struct bench_options *opt, json_t *result, bool floats) {
    struct libra_rack *rack = libra_rack_new(floats);
    struct libra_ideal *ideal = libra_ideal_new(rack);
    struct bench_side sides[] = {
        {.name = "silken", .work = libra_rack_work, .took = libra_rack_took, .aux = rack},
        {.name = "bare loop", .work = libra_ideal_work, .aux = ideal},
    };
    const size_t n = bench_trials(sides, 2, opt->seconds, BENCH_TRIAL_NS);
    bench_put_packets(result, sides[0].ns, n, LIBRA_FRAME_BYTES);
    bench_put(result, "ideal_ns_per_packet", bench_stat(sides[1].ns, n));
    bench_put(result, "ratio_ideal", bench_ratio(sides[0].ns, sides[1].ns, n));
    if (rack->others)
        bench_error(result, "all", "%llu frames that are no acks",
                    (unsigned long long)rack->others);
    bench_note(
        result,
        "%u workers below one switch, pushes of %u pairs: frames of %u bytes, where a device "
        "would have written them, in bursts of %u, acks counted and let go; no two of %u "
        "pushes have a parameter in common",
        LIBRA_RACK_WORKERS, LIBRA_PLACES, LIBRA_FRAME_BYTES, LIBRA_RACK_BURST, LIBRA_RACK_PACKETS);
    bench_note(result, "ratio_ideal: against a bare %s loop over the same packets",
               libra_ideal_isa());
    bench_sides_free(sides, 2);
    libra_ideal_free(ideal);
    libra_rack_free(rack);
}

void measure_libra(const struct bench_options *opt, json_t *result) {
    libra_against_ideal(opt, result, true);
}

void measure_libra_integer(const struct bench_options *opt, json_t *result) {
    libra_against_ideal(opt, result, false);
}

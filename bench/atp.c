// SPDX-License-Identifier: Apache-2.0
//
// atp: p4/atp on packets in memory, both passes of gradients, the sums to the server and the
// parameters to every worker included, against a bare loop that only adds.
#include "bench/atp_rack.h"
#include "bench/bench.h"

void measure_atp(const struct bench_options *opt, json_t *result) {
    struct atp_rack *rack = atp_rack_new();
    const struct ideal_load load = atp_rack_load(rack);
    struct ideal *ideal = ideal_new(&load);
    struct bench_side sides[] = {
        {.name = "silken", .work = atp_rack_work, .took = atp_rack_took, .aux = rack},
        {.name = "bare loop", .work = ideal_work, .aux = ideal},
    };
    const size_t n = bench_trials(sides, 2, opt->seconds, BENCH_TRIAL_NS);
    bench_put_packets(result, sides[0].ns, n, ATP_RACK_BYTES);
    bench_put(result, "ideal_ns_per_packet", bench_stat(sides[1].ns, n));
    bench_put(result, "ratio_ideal", bench_ratio(sides[0].ns, sides[1].ns, n));
    bench_note(
        result,
        "%u workers and a server below one switch, %u fragments: of each a gradient of every "
        "worker and one parameter packet, sent to all workers; frames of %u bytes, where a "
        "device would have written them, in bursts of %u, what it sends counted and let go",
        ATP_RACK_WORKERS, ATP_RACK_BATCHES * ATP_RACK_BURST, ATP_RACK_BYTES, ATP_RACK_BURST);
    bench_note(result, "a packet is a gradient or parameters; the bare %s loop adds the gradients",
               ideal_isa());
    bench_sides_free(sides, 2);
    ideal_free(ideal);
    atp_rack_free(rack);
}

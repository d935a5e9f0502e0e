// SPDX-License-Identifier: Apache-2.0
//
// switchml256, switchml64, f16, roce, scalar: p4/switchml on packets in memory, all passes and the
// results to every worker included, against a bare loop that only adds.
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/ideal.h"
#include "bench/rack.h"
#include "bench/rack_ports.h"

static void describe(json_t *result, const struct rack *r) {
    bench_note(
        result,
        "%u workers, %u slots in two versions, %u elements: frames of %u bytes, where a device "
        "would have written them, in bursts of %u, results counted and let go",
        RACK_WORKERS, RACK_SLOTS, r->k, r->frame_bytes, RACK_SLOTS);
}

// The same with ports; what is left of the time.
static void on_ports(json_t *result, struct rack *rack, double seconds) {
    struct rack_ports *ports = rack_ports_new(rack, bench_pin());
    const size_t most = (size_t)(seconds * 1e9 / BENCH_TRIAL_NS) + 1;
    double *ns = calloc(most, sizeof *ns);
    if (!ns)
        abort();
    size_t n = 0;
    for (const double end = bench_wall_ns() + seconds * 1e9; n < most && bench_wall_ns() < end;) {
        ns[n] = rack_ports_trial(ports, BENCH_TRIAL_NS / 2);
        n += ns[n] > 0;
    }
    if (n < BENCH_MIN_TRIALS)
        bench_error(result, "ports_ns_per_packet", "only %zu trials were undisturbed", n);
    else
        bench_put(result, "ports_ns_per_packet", bench_stat(ns, n));
    bench_note(result, "ports_ns_per_packet: from a net_ring device of each worker and back to it");
    rack_ports_free(ports);
    free(ns);
}

static void against_ideal(const struct bench_options *opt, json_t *result, unsigned k) {
    struct rack *rack = rack_new(k, false);
    const struct ideal_load load = ideal_of_rack(rack);
    struct ideal *ideal = ideal_new(&load);
    struct bench_side sides[] = {
        {.name = "silken", .work = rack_work, .took = rack_took, .aux = rack},
        {.name = "bare loop", .work = ideal_work, .aux = ideal},
        {.name = "copied", .work = rack_work_copied, .aux = rack},
    };
    const size_t n = bench_trials(sides, 3, opt->seconds * 2 / 3, BENCH_TRIAL_NS);
    bench_put_packets(result, sides[0].ns, n, rack->frame_bytes);
    bench_put(result, "ideal_ns_per_packet", bench_stat(sides[1].ns, n));
    bench_put(result, "ratio_ideal", bench_ratio(sides[0].ns, sides[1].ns, n));
    bench_put(result, "copied_ns_per_packet", bench_stat(sides[2].ns, n));
    describe(result, rack);
    bench_note(result, "ratio_ideal: against a bare %s loop over the same packets", ideal_isa());
    bench_note(result,
               "copied_ns_per_packet: the processor copies each frame into its buffer, too");
    bench_sides_free(sides, 3);
    ideal_free(ideal);
    on_ports(result, rack, opt->seconds / 3);
    rack_free(rack);
}

void measure_switchml256(const struct bench_options *opt, json_t *result) {
    against_ideal(opt, result, 256);
}

void measure_switchml64(const struct bench_options *opt, json_t *result) {
    against_ideal(opt, result, 64);
}

// Elements a second beside those of 32 bits; of both 256 are in a packet.
void measure_f16(const struct bench_options *opt, json_t *result) {
    struct rack *wide = rack_new(256, false), *halves = rack_new_f16(256);
    struct bench_side sides[] = {
        {.name = "16-bit floats", .work = rack_work, .took = rack_took, .aux = halves},
        {.name = "integers", .work = rack_work, .took = rack_took, .aux = wide},
    };
    const size_t n = bench_trials(sides, 2, opt->seconds, BENCH_TRIAL_NS);
    bench_put_packets(result, sides[0].ns, n, halves->frame_bytes);
    bench_put(result, "integers_ns_per_packet", bench_stat(sides[1].ns, n));
    bench_put(result, "ratio_elements", bench_ratio(sides[1].ns, sides[0].ns, n));
    describe(result, halves);
    bench_note(result, "ratio_elements: elements a second over those of switchml256");
    bench_sides_free(sides, 2);
    rack_free(wide);
    rack_free(halves);
}

// The same elements by RoCEv2 and by UDP.
void measure_roce(const struct bench_options *opt, json_t *result) {
    struct rack *udp = rack_new(256, false), *roce = rack_new_roce(256, false),
                *cards = rack_new_roce(256, true);
    struct bench_side sides[] = {
        {.name = "RoCEv2", .work = rack_work, .took = rack_took, .aux = roce},
        {.name = "UDP", .work = rack_work, .took = rack_took, .aux = udp},
        {.name = "cards", .work = rack_work, .took = rack_took, .aux = cards},
    };
    const size_t n = bench_trials(sides, 3, opt->seconds, BENCH_TRIAL_NS);
    bench_put_packets(result, sides[0].ns, n, roce->frame_bytes);
    bench_put(result, "udp_ns_per_packet", bench_stat(sides[1].ns, n));
    bench_put(result, "ratio_udp", bench_ratio(sides[0].ns, sides[1].ns, n));
    bench_put(result, "cards_ns_per_packet", bench_stat(sides[2].ns, n));
    bench_put(result, "ratio_cards_udp", bench_ratio(sides[2].ns, sides[1].ns, n));
    describe(result, roce);
    bench_note(result, "ratio_udp: time of a packet over that of switchml256");
    bench_note(result, "cards: the same where the ports' cards check and make invariant CRCs");
    bench_sides_free(sides, 3);
    rack_free(udp);
    rack_free(roce);
    rack_free(cards);
}

void measure_scalar(const struct bench_options *opt, json_t *result) {
    struct rack *vectors = rack_new(256, false), *scalar = rack_new(256, true);
    struct bench_side sides[] = {
        {.name = "silken", .work = rack_work, .took = rack_took, .aux = vectors},
        {.name = "scalar", .work = rack_work, .took = rack_took, .aux = scalar},
    };
    const size_t n = bench_trials(sides, 2, opt->seconds, BENCH_TRIAL_NS);
    bench_put_packets(result, sides[1].ns, n, scalar->frame_bytes);
    bench_put(result, "vectors_ns_per_packet", bench_stat(sides[0].ns, n));
    bench_put(result, "ratio_scalar", bench_ratio(sides[1].ns, sides[0].ns, n));
    describe(result, scalar);
    bench_note(result, "ns_per_packet is without vectors; ratio_scalar: over the time with them");
    bench_sides_free(sides, 2);
    rack_free(vectors);
    rack_free(scalar);
}

// SPDX-License-Identifier: Apache-2.0
//
// traced: what `silken ctl trace` costs packets that it does not ask for: forward64 with a filter
// armed on another port, with one armed on its own port that lets no frame by, and without one, by
// turns on the same switch.
#include <stdatomic.h>
#include <stdbool.h>

#include "bench/bench.h"
#include "bench/loop.h"
#include "pipeline/observe/trap.h"

static bool traced_no_frame(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    (void)aux, (void)port, (void)length;
    return frame[12] == 0xff; // an EtherType that the loop's frames do not have
}

struct traced {
    struct loop *loop;
    struct sk_trap *trap; // or null
};

static uint64_t traced_work(void *aux, uint64_t times) {
    const struct traced *t = aux;
    sk_switch_set_trap(loop_switch(t->loop), t->trap, 0);
    const uint64_t units = loop_work(t->loop, times);
    sk_switch_set_trap(loop_switch(t->loop), NULL, 0);
    return units;
}

void measure_traced(const struct bench_options *opt, json_t *result) {
    static struct sk_trap elsewhere = {.match = traced_no_frame}, here = {.match = traced_no_frame};
    struct loop *loop = loop_new(bench_pin());
    for (unsigned port = 0; port < SK_PORTS; port++) {
        here.ports[port] = port == 0;
        elsewhere.ports[port] = !here.ports[port];
    }
    struct traced without = {loop, NULL}, other = {loop, &elsewhere}, own = {loop, &here};
    struct bench_side sides[] = {
        {.name = "no trace", .work = traced_work, .aux = &without},
        {.name = "another port", .work = traced_work, .aux = &other},
        {.name = "this port", .work = traced_work, .aux = &own},
    };
    const size_t n = bench_trials(sides, 3, opt->seconds, BENCH_TRIAL_NS);
    bench_put(result, "ns_per_packet", bench_stat(sides[0].ns, n));
    bench_put(result, "other_port_ns_per_packet", bench_stat(sides[1].ns, n));
    bench_put(result, "this_port_ns_per_packet", bench_stat(sides[2].ns, n));
    bench_put(result, "ratio_other_port", bench_ratio(sides[1].ns, sides[0].ns, n));
    bench_put(result, "ratio_this_port", bench_ratio(sides[2].ns, sides[0].ns, n));
    bench_sides_free(sides, 3);
    loop_free(loop);
    bench_note(result,
               "forward64 with a trace armed for all ports but its own, and for its own with a "
               "filter that no frame passes, over forward64 without one, by turns");
}

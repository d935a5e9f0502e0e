// SPDX-License-Identifier: Apache-2.0
//
// pipes: forward64's program and frames in memory, with one and with two pipes at work.
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/loop.h"

#define BURST         32u
#define PORT_OF(pipe) ((uint16_t)((pipe) << 7))

struct side {
    struct sk_switch *sw;
    unsigned pipes;
    uint8_t *frames;
};

static bool tx(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    (void)aux;
    (void)port;
    (void)frame;
    (void)length;
    return true;
}

static struct side side_new(const struct sk_program *program, unsigned pipes, uint8_t *frames) {
    char error[256];
    const struct sk_switch_options options = {.tx = tx};
    struct side s = {sk_switch_new(program, &options, error, sizeof error), pipes, frames};
    if (!s.sw) {
        fprintf(stderr, "bench: no switch: %s\n", error);
        exit(1);
    }
    for (unsigned p = 0; p < pipes; p++) {
        sk_switch_port_up(s.sw, PORT_OF(p), true);
        loop_add_entries(s.sw, (int)p, PORT_OF(p)); // what comes in at a pipe leaves from it
    }
    return s;
}

// A burst for each pipe in turn; units are packets.
static uint64_t work(void *aux, uint64_t times) {
    struct side *s = aux;
    for (uint64_t t = 0; t < times; t++)
        for (unsigned i = 0; i < LOOP_FRAMES; i += BURST) {
            uint64_t now = sk_switch_now(s->sw) + 1;
            for (unsigned j = 0; j < BURST; j++)
                sk_switch_rx(s->sw, PORT_OF(i / BURST % s->pipes),
                             s->frames + (size_t)(i + j) * LOOP_BYTES, LOOP_BYTES, now);
            sk_switch_run(s->sw, now);
        }
    return times * LOOP_FRAMES;
}

static void put_mpps(json_t *result, const char *field, const double *ns, size_t n) {
    double *v = calloc(n, sizeof *v);
    if (!v)
        abort();
    for (size_t i = 0; i < n; i++)
        v[i] = 1e3 / ns[i];
    bench_put(result, field, bench_stat(v, n));
    free(v);
}

void measure_pipes(const struct bench_options *opt, json_t *result) {
    struct sk_program *program = loop_program();
    uint8_t *frames = malloc((size_t)LOOP_FRAMES * LOOP_BYTES);
    if (!frames)
        abort();
    for (unsigned i = 0; i < LOOP_FRAMES; i++)
        loop_frame(i, frames + (size_t)i * LOOP_BYTES);
    struct side one = side_new(program, 1, frames), two = side_new(program, 2, frames);
    struct bench_side sides[] = {
        {.name = "one pipe", .work = work, .aux = &one},
        {.name = "two pipes", .work = work, .aux = &two},
    };
    const size_t n = bench_trials(sides, 2, opt->seconds, BENCH_TRIAL_NS);
    put_mpps(result, "mpps_1_pipe_1_core", sides[0].ns, n);
    put_mpps(result, "mpps_2_pipes_1_core", sides[1].ns, n);
    bench_put(result, "scaling_1_core", bench_ratio(sides[0].ns, sides[1].ns, n));
    bench_error(result, "mpps_2_pipes_2_cores", "this switch runs all pipes on one core");
    bench_error(result, "scaling_2_cores", "this switch runs all pipes on one core");
    bench_note(result,
               "forward64's program and frames in memory, a burst of %u to each pipe in turn; "
               "scaling: packets per second over those of one pipe on one core",
               BURST);
    bench_sides_free(sides, 2);
    sk_switch_free(one.sw);
    sk_switch_free(two.sw);
    sk_program_free(program);
    free(frames);
}

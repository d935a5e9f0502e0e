// SPDX-License-Identifier: Apache-2.0
//
// Random sequences of all-reduces, reductions to one worker, broadcasts and barriers, whose blocks
// share their slots, with loss, duplication and reordering in both directions: through the model
// and through the compiled SwitchML program, with packets of all sizes, and workers in one pipe and
// in four. Every element of every result is compared with the reference (schedule.h), and what a
// worker is not to get with what was there before. SILKEN_SEEDS=first..last runs other scenarios; a
// seed that fails is printed.
//
// And what a worker sends and takes of them, and what an operation costs in bytes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/hosts/model_switch.h"
#include "harness/hosts/switchml/p4_switch.h"
#include "harness/hosts/switchml/schedule.h"

#define SCHEDULES           600
#define SCHEDULES_SANITIZED 60

static unsigned long long first_seed = 1, last_seed = SCHEDULES;

static void run_seeds(struct switch_under_test sut, const unsigned sizes[2]) {
    struct schedule_limits limits = schedule_default_limits();
    struct schedule_result total = {0};
    uint64_t seed;

    limits.collectives = true;
    limits.sizes = sizes;
    limits.sizes_count = 2;
    seed = schedule_run_range(&sut, first_seed, last_seed, &limits, &total);
    sut.free(sut.state);
    if (seed != 0) {
        fail_msg("seed %llu: %s (%u workers, k %u, pool %u)", (unsigned long long)seed, total.fault,
                 total.workers, total.k, total.pool_size);
    }
    schedule_print(&total, last_seed - first_seed + 1);
    if (last_seed - first_seed >= 50) { // the population has to contain what the test is about
        assert_true(total.traffic.up_lost > 0 && total.traffic.down_lost > 0);
        assert_true(total.traffic.up_duplicated > 0 && total.traffic.down_duplicated > 0);
        assert_true(total.retransmissions > 0);
    }
}

static const unsigned usual[] = {64, 256}, others[] = {32, 128};

static void test_model(void **state) {
    (void)state;
    run_seeds(model_switch_new(), usual);
}

static void test_program(void **state) {
    (void)state;
    run_seeds(p4_switch_new(false), usual);
}

static void test_program_on_all_pipes(void **state) {
    (void)state;
    run_seeds(p4_switch_new(true), usual);
}

static void test_program_with_32_and_128_elements(void **state) {
    (void)state;
    run_seeds(p4_switch_new(true), others);
}

// ---- bytes -----------------------------------------------------------------------------------

#define WORKERS 4
#define K       256
#define BLOCKS  64
#define COUNT   (WORKERS * BLOCKS * K)

struct numbers {
    int32_t in[WORKERS][COUNT], out[WORKERS][COUNT];
};

// Bytes that links without faults carry when tensors of 'reach', one for each worker, go through
// the program.
static struct netsim_traffic traffic_of(enum swml_reach reach, struct numbers *n) {
    struct switch_under_test sut = p4_switch_new(false);
    struct netsim_options options = {.seed = 1,
                                     .job = netsim_default_job(WORKERS, K, 0, 64),
                                     .up = {.delay = 1000, .jitter = 1},
                                     .down = {.delay = 1000, .jitter = 1},
                                     .worker = netsim_default_worker()};
    struct netsim *sim = netsim_new(&options, &sut);
    struct netsim_traffic traffic;

    assert_non_null(sim);
    for (unsigned w = 0; w < WORKERS; w++) {
        for (unsigned i = 0; i < (reach == SWML_ALL ? 1 : WORKERS); i++) {
            size_t part = reach == SWML_ALL ? COUNT : COUNT / WORKERS;
            struct swml_tensor tensor = {.type = SWML_I32,
                                         .in = n->in[w] + i * part,
                                         .out = n->out[w] + i * part,
                                         .count = part,
                                         .reach = reach,
                                         .who = i};
            netsim_submit(sim, w, &tensor, 0);
        }
    }
    assert_int_equal(NETSIM_DONE, netsim_run(sim));
    traffic = netsim_traffic(sim);
    netsim_free(sim);
    sut.free(sut.state);
    return traffic;
}

static void test_bytes(void **state) {
    struct numbers *n = calloc(1, sizeof *n);
    struct netsim_traffic all, scatter, gather;
    const uint64_t packets = COUNT / K, full = SWML_HEADER_BYTES + 4 * K;

    (void)state;
    assert_non_null(n);
    for (unsigned w = 0; w < WORKERS; w++)
        for (unsigned i = 0; i < COUNT; i++)
            n->in[w][i] = (int32_t)(w * 7 + i);
    all = traffic_of(SWML_ALL, n);
    assert_int_equal(WORKERS * packets * full, all.up_bytes);
    assert_int_equal(WORKERS * packets * full, all.down_bytes);
    scatter = traffic_of(SWML_TO_ONE, n);
    for (unsigned w = 0; w < WORKERS; w++)
        for (unsigned i = w * COUNT / WORKERS; i < (w + 1) * COUNT / WORKERS; i++)
            assert_int_equal(7 * (0 + 1 + 2 + 3) + 4 * i, n->out[w][i]);
    assert_int_equal(all.up_bytes, scatter.up_bytes);
    // a worker's own part with its elements, the others' without
    assert_int_equal(packets * (full + (WORKERS - 1) * SWML_HEADER_BYTES), scatter.down_bytes);
    gather = traffic_of(SWML_FROM_ONE, n);
    for (unsigned w = 0; w < WORKERS; w++)
        for (unsigned i = 0; i < COUNT; i++)
            if (i * WORKERS / COUNT != w)
                assert_int_equal(n->in[i * WORKERS / COUNT][i], n->out[w][i]);
    assert_int_equal(packets * (full + (WORKERS - 1) * SWML_EMPTY_FRAME), gather.up_bytes);
    assert_in_range(gather.down_bytes, packets * ((WORKERS - 1) * full + SWML_HEADER_BYTES),
                    packets * ((WORKERS - 1) * (full + 8) + SWML_EMPTY_FRAME));
    printf("%u workers, %u elements, bytes up and down: all-reduce %llu %llu, reduce-scatter %llu "
           "%llu, all-gather %llu %llu\n",
           WORKERS, COUNT, (unsigned long long)all.up_bytes, (unsigned long long)all.down_bytes,
           (unsigned long long)scatter.up_bytes, (unsigned long long)scatter.down_bytes,
           (unsigned long long)gather.up_bytes, (unsigned long long)gather.down_bytes);
    free(n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_program),
        cmocka_unit_test(test_program_on_all_pipes),
        cmocka_unit_test(test_program_with_32_and_128_elements),
        cmocka_unit_test(test_bytes),
    };
    const char *seeds = getenv("SILKEN_SEEDS"), *variant = getenv("VARIANT");

    if (variant && strcmp(variant, "asan") == 0)
        last_seed = SCHEDULES_SANITIZED;
    if (seeds && sscanf(seeds, "%llu..%llu", &first_seed, &last_seed) != 2) {
        fprintf(stderr, "SILKEN_SEEDS must be first..last\n");
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
//
// Random externs: every value of a width comes as often as another, a seed gives the same numbers
// again, pipes and instances have their own.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "compiler/compile.h"
#include "pipeline/switch/switch.h"
#include "stages/bits.h"

#define N 20000u

static struct sk_program *prog;
static char folder[] = "/tmp/silken-random-XXXXXX";

static int load(void **state) {
    (void)state;
    char error[256];
    if (!mkdtemp(folder))
        return -1;
    struct compile_options opt = {.path = "harness/stf/meters/random.p4", .cache_dir = folder};
    char *object = compile_p4(&opt, stderr);
    prog = object ? sk_program_load(object, error, sizeof error) : NULL;
    free(object);
    return prog ? 0 : -1;
}

static int unload(void **state) {
    (void)state;
    char command[128];
    sk_program_free(prog);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

struct numbers {
    unsigned n;
    uint8_t bytes[N][20]; // the header behind Ethernet
};

static bool keep(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct numbers *out = aux;
    assert_int_equal(port, 1);
    assert_true(length >= 34 && out->n < N);
    memcpy(out->bytes[out->n++], frame + 14, 20);
    return true;
}

static struct numbers *draw(uint64_t seed, uint16_t port) {
    struct numbers *out = calloc(1, sizeof *out);
    assert_non_null(out);
    uint8_t frame[64] = {0};
    char error[256];
    struct sk_switch *sw =
        sk_switch_new(prog, &(struct sk_switch_options){.tx = keep, .aux = out, .seed = seed},
                      error, sizeof error);
    assert_non_null(sw);
    sk_switch_port_up(sw, 1, true);
    sk_switch_port_up(sw, port, true);
    for (unsigned i = 0; i < N; i++) {
        assert_true(sk_switch_rx(sw, port, frame, sizeof frame, i));
        sk_switch_run(sw, i);
    }
    sk_switch_free(sw);
    assert_int_equal(out->n, N);
    return out;
}

// Bit b (from the last) of byte i is one in half of the packets, within six standard deviations.
static void check_bits(const struct numbers *d, unsigned byte, unsigned bits) {
    for (unsigned b = 0; b < 8; b++) {
        unsigned ones = 0;
        for (unsigned i = 0; i < N; i++)
            ones += d->bytes[i][byte] >> b & 1;
        if (b < bits)
            assert_true(fabs(ones - N / 2.0) < 6 * sqrt(N / 4.0));
        else
            assert_int_equal(ones, 0);
    }
}

static void whole_width_and_nothing_else(void **state) {
    (void)state;
    struct numbers *d = draw(1, 5);
    unsigned seen[128] = {0};
    check_bits(d, 0, 1);
    check_bits(d, 1, 7);
    for (unsigned byte = 2; byte < 8; byte++)
        check_bits(d, byte, 8);
    for (unsigned byte = 12; byte < 20; byte++)
        check_bits(d, byte, 8);
    for (unsigned i = 0; i < N; i++)
        seen[d->bytes[i][1]]++;
    double chi = 0, mean = N / 128.0;
    for (unsigned v = 0; v < 128; v++)
        chi += (seen[v] - mean) * (seen[v] - mean) / mean;
    assert_true(fabs(chi - 127) < 6 * sqrt(2 * 127)); // 127 degrees of freedom
    free(d);
}

static void seeds_pipes_and_instances(void **state) {
    (void)state;
    struct numbers *a = draw(1, 5), *b = draw(1, 5), *other_seed = draw(2, 5),
                   *other_pipe = draw(1, 133);
    assert_memory_equal(a->bytes, b->bytes, sizeof a->bytes);
    unsigned same_seed = 0, same_pipe = 0, same_instance = 0;
    for (unsigned i = 0; i < N; i++) {
        same_seed += memcmp(a->bytes[i] + 4, other_seed->bytes[i] + 4, 4) == 0;
        same_pipe += memcmp(a->bytes[i] + 4, other_pipe->bytes[i] + 4, 4) == 0;
        same_instance += memcmp(a->bytes[i] + 2, a->bytes[i] + 4, 2) == 0;
    }
    assert_true(same_seed < 5 && same_pipe < 5 && same_instance < 20);
    free(a);
    free(b);
    free(other_seed);
    free(other_pipe);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_width_and_nothing_else),
        cmocka_unit_test(seeds_pipes_and_instances),
    };
    return cmocka_run_group_tests_name("random", tests, load, unload);
}

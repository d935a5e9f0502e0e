// SPDX-License-Identifier: Apache-2.0
//
// test_seeds: sums by RoCEv2 through the compiled p4/switchml/with_roce.p4: 1 to 4 workers,
// messages of 1 to 16 packets, 1 to 8 queue pairs, 64, 128 and 256 elements a packet, several
// tensors of random lengths, numbers that wrap, and loss, duplication, reordering and damage in
// both directions. Every element of every sum is compared. SILKEN_SEEDS=first..last runs other
// ones; a seed that fails is printed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/hosts/roce/rack.h"
#include "harness/net/program.h"

#define SEEDS           400
#define SEEDS_SANITIZED 30
#define TENSORS         3

static unsigned long long first_seed = 1, last_seed = SEEDS;

struct seeds_total {
    struct rack_traffic traffic;
    uint64_t retransmissions, messages, heard[ROCE_REASON_COUNT];
};

static struct rack_options any_rack(uint64_t seed) {
    static const uint32_t sizes[] = {64, 128, 256};
    struct sk_random x = sk_random_seeded(seed);
    const double bad = sk_random_below(&x, 4) == 0 ? 0 : (double)sk_random_below(&x, 40) / 1000;
    const struct net_link link = {bad, bad / 2, bad / 2, 1000 + sk_random_below(&x, 5000),
                                  1 + sk_random_below(&x, 60000)};

    return (struct rack_options){.seed = seed,
                                 .workers = 1 + (unsigned)sk_random_below(&x, RACK_WORKERS),
                                 .spread = sk_random_below(&x, 2) == 0,
                                 .pairs = 1 + (uint32_t)sk_random_below(&x, 8),
                                 .slots = 1 + (uint32_t)sk_random_below(&x, 16),
                                 .k = sizes[sk_random_below(&x, 3)],
                                 .psn = sk_random_below(&x, 2)
                                            ? ROCE_PSN_MASK - 5
                                            : (uint32_t)sk_random_below(&x, ROCE_PSN_MASK),
                                 .up = link,
                                 .down = link,
                                 .damage = bad / 2};
}

// Floats are whole multiples of 2^-16 of 17 bits, so that their sums are exact.
static bool sum_one(struct rack *r, unsigned workers, size_t count, struct sk_random *x) {
    const enum silken_type type = sk_random_below(x, 2) ? SILKEN_F32 : SILKEN_I32;
    void *values[RACK_WORKERS];
    int32_t *sums = net_must(calloc(count + 1, sizeof *sums));
    bool right;

    for (unsigned w = 0; w < workers; w++) {
        int32_t *v = values[w] = net_must(malloc((count + 1) * sizeof *v));
        for (size_t i = 0; i < count; i++) {
            const int32_t number = (int32_t)sk_random_next(x) >> (type == SILKEN_F32 ? 15 : 0);
            const float f = (float)number * 0x1p-16f;
            sums[i] = (int32_t)((uint32_t)sums[i] + (uint32_t)number);
            memcpy(&v[i], type == SILKEN_F32 ? (const void *)&f : &number, sizeof *v);
        }
    }
    for (size_t i = 0; type == SILKEN_F32 && i < count; i++) {
        const float f = (float)sums[i] * 0x1p-16f;
        memcpy(&sums[i], &f, sizeof f);
    }
    right = rack_sum(r, type, values, count);
    for (unsigned w = 0; w < workers; w++) {
        right = right && memcmp(values[w], sums, count * sizeof *sums) == 0;
        free(values[w]);
    }
    free(sums);
    return right;
}

static void add_up(struct seeds_total *total, const struct rack *r, unsigned workers) {
    const struct rack_traffic t = rack_traffic(r);

    total->traffic.sent += t.sent;
    total->traffic.lost += t.lost;
    total->traffic.doubled += t.doubled;
    total->traffic.damaged += t.damaged;
    total->traffic.refused += t.refused;
    for (unsigned w = 0; w < workers; w++) {
        const struct roce_stats s = rack_stats(r, w);
        total->retransmissions += s.retransmissions;
        total->messages += s.messages_done;
        for (int i = 0; i < ROCE_REASON_COUNT; i++)
            total->heard[i] += s.heard[i];
    }
}

static bool run_one_seed(const struct sk_program *program, uint64_t seed,
                         struct seeds_total *total) {
    const struct rack_options options = any_rack(seed);
    struct sk_random x = sk_random_seeded(~seed);
    struct rack *r = rack_new(program, &options);
    const size_t most = 3 * (size_t)options.pairs * options.slots * options.k;
    bool right = true;

    for (unsigned t = 0; right && t < TENSORS; t++)
        right = sum_one(r, options.workers, sk_random_below(&x, most + 1), &x);
    add_up(total, r, options.workers);
    rack_free(r);
    return right;
}

static void test_all_sums_are_right(void **state) {
    struct sk_program *program = net_program("p4/switchml/with_roce.p4");
    struct seeds_total total = {0};

    (void)state;
    for (uint64_t seed = first_seed; seed <= last_seed; seed++)
        if (!run_one_seed(program, seed, &total))
            fail_msg("seed %llu", (unsigned long long)seed);
    sk_program_free(program);
    print_message(
        "%llu messages, %llu sent again; %llu frames, %llu lost, %llu doubled, %llu damaged\n",
        (unsigned long long)total.messages, (unsigned long long)total.retransmissions,
        (unsigned long long)total.traffic.sent, (unsigned long long)total.traffic.lost,
        (unsigned long long)total.traffic.doubled, (unsigned long long)total.traffic.damaged);
    for (int i = 0; i < ROCE_REASON_COUNT; i++)
        print_message("%-14s %llu\n", roce_reason_name((enum roce_reason)i),
                      (unsigned long long)total.heard[i]);
    if (last_seed - first_seed >= 29) { // the population has to contain what the test is about
        assert_true(total.retransmissions > 0 && total.traffic.lost > 0);
        assert_true(total.traffic.doubled > 0 && total.traffic.refused > 0);
        assert_true(total.heard[ROCE_OLD] > 0 && total.heard[ROCE_OUT_OF_ORDER] > 0);
        assert_true(total.heard[ROCE_BAD_CRC] > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_sums_are_right)};
    const char *seeds = getenv("SILKEN_SEEDS"), *variant = getenv("VARIANT");

    if (variant && strcmp(variant, "asan") == 0)
        last_seed = SEEDS_SANITIZED;
    if (seeds && sscanf(seeds, "%llu..%llu", &first_seed, &last_seed) != 2) {
        fprintf(stderr, "SILKEN_SEEDS must be first..last\n");
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

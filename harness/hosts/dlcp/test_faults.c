// SPDX-License-Identifier: Apache-2.0
//
// test_faults: a sender and a receiver of DLCP over bad networks, by seed: loss to 50 %,
// duplication, reordering, damage, signals of each kind lost, either host crashing and coming back.
// Every tensor ends with its bound or with an error; nothing is placed twice or wrongly; each
// element that came is bit for bit what was sent. SEEDS=n runs n seeds, from FROM on.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/hosts/dlcp/pair.h"

#define SEEDS 1500u

static uint64_t faults_setting(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void faults_network(struct pair *p) {
    struct sk_random *r = &p->random;
    p->link.delay = 1000 + sk_random_below(r, 50000);
    p->link.jitter = sk_random_below(r, 300000);
    p->link.loss = sk_random_chance(r, 0.3) ? 0 : (double)sk_random_below(r, 501) / 1000;
    p->link.duplicate = sk_random_chance(r, 0.5) ? 0 : (double)sk_random_below(r, 200) / 1000;
    p->link.reorder = sk_random_chance(r, 0.4) ? 0 : (double)sk_random_below(r, 501) / 1000;
    p->damage = sk_random_chance(r, 0.6) ? 0 : (double)sk_random_below(r, 200) / 1000;
    for (unsigned kind = DLCP_START; kind <= DLCP_ACK; kind++) {
        p->lose_first[kind] = sk_random_chance(r, 0.3) ? (unsigned)sk_random_below(r, 6) : 0;
        p->lose_kind[kind] = sk_random_chance(r, 0.1) ? 0.5 : 0;
    }
}

static uint32_t faults_bound(struct sk_random *r) {
    static const uint32_t bounds[] = {0, 1000, 10000, 100000, 300000, 900000, DLCP_ALL - 1};
    return bounds[sk_random_below(r, sizeof bounds / sizeof *bounds)];
}

static void faults_job(struct pair *p) {
    struct sk_random *r = &p->random;
    const uint64_t links[] = {100000000, UINT64_C(1000000000), UINT64_C(10000000000),
                              UINT64_C(100000000000)};
    const uint16_t ports = (uint16_t)(1 + sk_random_below(r, DLCP_PATHS));
    p->to_send.bound = faults_bound(r);
    p->to_receive.bound = sk_random_chance(r, 0.8) ? p->to_send.bound : faults_bound(r);
    p->to_send.link = links[sk_random_below(r, 4)];
    p->to_send.burst = sk_random_below(r, 20000);
    p->to_send.threshold = (enum dlcp_threshold)sk_random_below(r, 2);
    p->to_send.name.iteration = p->to_receive.name.iteration = (uint32_t)sk_random_next(r);
    for (unsigned e = 0; e < 2; e++)
        dlcp_peer_init(&p->peer[e], 50000, ports, PAIR_MS, PAIR_MS / 10, 50 * PAIR_MS);
}

// One of the ends crashes and comes back: a receiver with nothing, a sender with other values.
static void faults_crash(struct pair *p) {
    const uint32_t segments = dlcp_segments(p->to_send.elements, p->to_send.segment);
    if (sk_random_chance(&p->random, 0.5)) {
        dlcp_receiver_free(p->receiver);
        p->receiver = NULL;
        pair_run(p, p->now + sk_random_below(&p->random, 5 * PAIR_MS));
        memset(p->placed, 0, segments * sizeof *p->placed);
        memset(p->out, 0, p->to_send.elements * sizeof *p->out);
        p->to_receive.nonce = (uint32_t)sk_random_next(&p->random);
        pair_begin_receiver(p);
    } else {
        dlcp_sender_free(p->sender);
        p->sender = NULL;
        pair_run(p, p->now + sk_random_below(&p->random, 5 * PAIR_MS));
        p->to_send.nonce = (uint32_t)sk_random_next(&p->random);
        pair_begin_sender(p);
    }
}

static void faults_check_end(const struct pair *p, bool crashed) {
    const uint32_t bound =
        p->to_send.bound < p->to_receive.bound ? p->to_send.bound : p->to_receive.bound;
    const enum dlcp_receiver_state received = dlcp_receiver_state(p->receiver);
    assert_true(pair_is_over(p));
    pair_check(p);
    if (received == DLCP_RECEIVER_OVER)
        assert_true(dlcp_receiver_elements(p->receiver) >=
                    dlcp_needed(p->to_receive.elements, bound));
    if (!crashed) {
        assert_int_equal(received, DLCP_RECEIVER_OVER);
        assert_int_equal(dlcp_sender_state(p->sender), DLCP_SENDER_OVER);
    }
    assert_true(p->least_rate == UINT64_MAX || p->least_rate >= p->to_send.link / 100);
    assert_int_equal(p->delivered_damaged, 0);
}

static void one_seed(uint64_t seed, uint64_t *over, uint64_t *failed) {
    struct sk_random r = sk_random_seeded(seed * 2 + 1);
    const uint32_t elements =
        (uint32_t)(1 + sk_random_below(&r, sk_random_chance(&r, 0.3) ? 60000 : 4000));
    const uint32_t segment =
        sk_random_chance(&r, 0.5) ? DLCP_ELEMENTS : (uint32_t)(1 + sk_random_below(&r, 363));
    const bool crashes = sk_random_chance(&r, 0.2);
    struct pair p;

    pair_init(&p, seed, elements, elements > 4000 && segment < 40 ? 40 : segment);
    faults_job(&p);
    faults_network(&p);
    pair_begin(&p);
    if (crashes) {
        pair_run(&p, sk_random_below(&p.random, 2 * PAIR_MS));
        faults_crash(&p);
    }
    pair_run(&p, 60 * PAIR_S);
    faults_check_end(&p, crashes);
    *over += dlcp_receiver_state(p.receiver) == DLCP_RECEIVER_OVER;
    *failed += dlcp_receiver_state(p.receiver) == DLCP_RECEIVER_FAILED;
    pair_end(&p);
}

static void test_seeds(void **state) {
    const uint64_t from = faults_setting("FROM", 1), n = faults_setting("SEEDS", SEEDS);
    uint64_t over = 0, failed = 0;
    (void)state;
    for (uint64_t seed = from; seed < from + n; seed++) {
        if (getenv("VERBOSE"))
            fprintf(stderr, "seed %lu\n", (unsigned long)seed);
        one_seed(seed, &over, &failed);
    }
    printf("%lu seeds: %lu tensors with their bound, %lu errors after crashes\n", (unsigned long)n,
           (unsigned long)over, (unsigned long)failed);
    assert_true(over > failed);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_seeds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

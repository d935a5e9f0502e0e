// SPDX-License-Identifier: Apache-2.0
//
// What stands beside TCP in sim/transport: pFabric's ends, levels, orders, places, frames.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/random.h"
#include "sim/transport/frame.h"
#include "sim/transport/levels.h"
#include "sim/transport/order.h"
#include "sim/transport/pfabric.h"
#include "sim/transport/placement.h"
#include "sim/transport/thresholds.h"

#define MS UINT64_C(1000000)

// ---- pFabric ----

static const struct pfabric_config usual = {
    .mss = 1000, .window = 8, .rto_min = MS, .rto_max = 100 * MS, .probe_after = 5};

static void test_pfabric_keeps_its_window_and_repeats_after_a_timeout(void **state) {
    struct pfabric_sender s;
    struct tr_segment t;
    (void)state;
    pfabric_sender_init(&s, &usual, 20500);
    for (uint64_t i = 0; i < 8; i++)
        assert_true(pfabric_sender_next(&s, 0, &t) && t.sequence == i * 1000 && !t.again);
    assert_false(pfabric_sender_next(&s, 0, &t));
    pfabric_sender_ack(&s, 3000, 100);
    assert_true(pfabric_sender_next(&s, 100, &t) && t.sequence == 8000);
    assert_false(pfabric_sender_next(&s, 100, &t));
    pfabric_sender_expire(&s, pfabric_sender_deadline(&s));
    assert_true(pfabric_sender_next(&s, 2 * MS, &t) && t.sequence == 0 && t.again);
    for (int i = 0; i < 7; i++) {
        assert_true(pfabric_sender_next(&s, 2 * MS, &t));
        assert_true(t.sequence != 3000);
    }
    pfabric_sender_free(&s);
}

static void test_pfabric_probes_after_five_timeouts(void **state) {
    struct pfabric_sender s;
    struct tr_segment t;
    uint64_t now = 0;
    (void)state;
    pfabric_sender_init(&s, &usual, 20500);
    while (pfabric_sender_next(&s, 0, &t))
        ;
    for (int i = 0; i < 5; i++)
        pfabric_sender_expire(&s, now = pfabric_sender_deadline(&s));
    assert_true(pfabric_sender_next(&s, now, &t));
    assert_false(pfabric_sender_next(&s, now, &t));
    const uint64_t before = pfabric_sender_deadline(&s) - now;
    pfabric_sender_expire(&s, now = pfabric_sender_deadline(&s));
    assert_int_equal(pfabric_sender_deadline(&s) - now, 2 * before);
    pfabric_sender_ack(&s, 0, now);
    int n = 0;
    while (pfabric_sender_next(&s, now, &t))
        n++;
    assert_int_equal(n, 8);
    pfabric_sender_free(&s);
}

static void test_pfabric_delivers_everything(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct sim_random random = sim_random_of(seed, "pfabric");
        const uint64_t bytes = 1 + sim_random_below(&random, 60000);
        const double loss = sim_random_real(&random) * 0.6;
        struct pfabric_sender s;
        struct pfabric_receiver r;
        uint64_t now = 0;
        pfabric_sender_init(&s, &usual, bytes);
        pfabric_receiver_init(&r, 1000, bytes);
        for (int steps = 0; !pfabric_sender_done(&s) && steps < 100000; steps++) {
            struct tr_segment t;
            if (!pfabric_sender_next(&s, now, &t)) {
                pfabric_sender_expire(&s, now = pfabric_sender_deadline(&s));
                continue;
            }
            assert_true(t.sequence + t.length <= bytes && t.length);
            if (sim_random_chance(&random, loss))
                continue;
            assert_true(pfabric_receiver_take(&r, t.sequence));
            if (!sim_random_chance(&random, loss))
                pfabric_sender_ack(&s, t.sequence, now += 1000);
        }
        assert_true(pfabric_sender_done(&s) && pfabric_receiver_done(&r));
        assert_int_equal(pfabric_sender_left(&s), 0);
        assert_int_equal(pfabric_sender_deadline(&s), SK_TIME_NEVER);
        pfabric_sender_free(&s);
        pfabric_receiver_free(&r);
    }
}

static void test_pfabric_ignores_what_was_never_sent(void **state) {
    struct pfabric_sender s;
    struct pfabric_receiver r;
    struct tr_segment t;
    (void)state;
    pfabric_sender_init(&s, &usual, 20500);
    pfabric_receiver_init(&r, 1000, 20500);
    assert_true(pfabric_sender_next(&s, 0, &t));
    pfabric_sender_ack(&s, 5000, 1);
    pfabric_sender_ack(&s, 1, 1);
    pfabric_sender_ack(&s, UINT64_C(1) << 40, 1);
    assert_int_equal(s.n_acked, 0);
    assert_false(pfabric_receiver_take(&r, 21000));
    assert_false(pfabric_receiver_take(&r, 1));
    assert_true(pfabric_receiver_take(&r, 20000));
    pfabric_sender_free(&s);
    pfabric_receiver_free(&r);
}

// ---- levels ----

static void test_levels_grow_by_their_factor(void **state) {
    const struct tr_levels l = {4, 1000, 10};
    (void)state;
    assert_int_equal(tr_level(&l, 0), 0);
    assert_int_equal(tr_level(&l, 999), 0);
    assert_int_equal(tr_level(&l, 1000), 1);
    assert_int_equal(tr_level(&l, 9999), 1);
    assert_int_equal(tr_level(&l, 10000), 2);
    assert_int_equal(tr_level(&l, 100000), 3);
    assert_int_equal(tr_level(&l, UINT64_C(1) << 50), 3);
}

// ---- orders ----

static void test_front_layers_go_first_in_partitions(void **state) {
    struct order o = {.partition = 400, .credit = 800, .by_layer = true};
    struct order_part p;
    int back, front;
    (void)state;
    order_add(&o, 9, 1000, &back);
    assert_true(order_next(&o, &p) && p.of == &back && p.bytes == 400 && !p.last);
    order_add(&o, 2, 500, &front);
    assert_true(order_next(&o, &p) && p.of == &front && p.bytes == 400);
    assert_false(order_next(&o, &p)); // no credit
    order_done(&o, 400);
    assert_true(order_next(&o, &p) && p.of == &front && p.bytes == 100 && p.last);
    order_done(&o, 400);
    assert_true(order_next(&o, &p) && p.of == &back && p.bytes == 400);
    order_done(&o, 500);
    assert_true(order_next(&o, &p) && p.of == &back && p.bytes == 200 && p.last);
    assert_false(order_next(&o, &p));
    order_free(&o);
}

static void test_without_an_order_the_oldest_goes_first_and_whole(void **state) {
    struct order o = {0};
    struct order_part p;
    char of[50];
    (void)state;
    for (uint32_t i = 0; i < 50; i++)
        order_add(&o, (i * 7) % 50, 1000 + i, &of[i]);
    for (uint32_t i = 0; i < 50; i++)
        assert_true(order_next(&o, &p) && p.of == &of[i] && p.bytes == 1000 + i && p.last);
    order_free(&o);
}

static void test_a_part_larger_than_the_credit_goes_alone(void **state) {
    struct order o = {.credit = 100};
    struct order_part p;
    int a, b;
    (void)state;
    order_add(&o, 0, 1000, &a);
    order_add(&o, 0, 10, &b);
    assert_true(order_next(&o, &p) && p.of == &a);
    assert_false(order_next(&o, &p));
    order_done(&o, 1000);
    assert_true(order_next(&o, &p) && p.of == &b);
    order_free(&o);
}

static void test_layers_come_out_sorted_whatever_goes_in(void **state) {
    struct order o = {.by_layer = true};
    struct sim_random random = sim_random_of(1, "order");
    struct order_part p;
    uint32_t last = 0;
    (void)state;
    for (int i = 0; i < 2000; i++)
        order_add(&o, (uint32_t)sim_random_below(&random, 300), 4, NULL);
    for (int i = 0; i < 2000; i++) {
        assert_true(order_next(&o, &p));
        assert_true(p.urgency >= last);
        last = p.urgency;
    }
    assert_false(order_next(&o, &p));
    order_free(&o);
}

// ---- places ----

static void test_large_tensors_are_cut_over_all_servers(void **state) {
    (void)state;
    assert_int_equal(placement_of(4000001, 4000000, 9, 5).parts, 9);
    assert_int_equal(placement_of(4000000, 4000000, 9, 5).parts, 1);
    assert_int_equal(placement_of(4000000, 4000000, 9, 14).server, 5);
    assert_int_equal(placement_of(5000000, 4000000, 1, 3).parts, 1);
    for (uint32_t n = 1; n < 40; n++) {
        assert_int_equal(placement_cut(1001, 0, n), 0);
        assert_int_equal(placement_cut(1001, n, n), 1001);
    }
}

// Whoever goes by the steps has every chunk summed over all, once, and then has all chunks.
static void test_a_ring_sums_every_chunk_once(void **state) {
    (void)state;
    for (uint32_t n = 2; n <= 12; n++) {
        static uint32_t parts[12][12]; // whose contributions worker i has of chunk c: bits
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t c = 0; c < n; c++)
                parts[i][c] = 1u << i;
        for (uint32_t k = 0; k < placement_ring_steps(n); k++) {
            uint32_t sent[12];
            for (uint32_t i = 0; i < n; i++)
                sent[i] = parts[i][placement_ring_chunk(i, k, n)];
            for (uint32_t i = 0; i < n; i++) {
                const uint32_t to = (i + 1) % n, c = placement_ring_chunk(i, k, n);
                if (k + 1 < n) {
                    assert_int_equal(parts[to][c] & sent[i], 0); // nobody twice
                    parts[to][c] |= sent[i];
                } else {
                    assert_int_equal(sent[i], (1u << n) - 1);
                    parts[to][c] = sent[i];
                }
            }
        }
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t c = 0; c < n; c++)
                assert_int_equal(parts[i][c], (1u << n) - 1);
    }
}

// ---- frames ----

static void test_frames_say_what_was_written(void **state) {
    const struct tr_end a = {{2, 0, 0, 0, 0, 1}, 0x0a000001}, b = {{2, 0, 0, 0, 0, 2}, 0x0a000002};
    uint8_t frame[1600];
    (void)state;
    for (int ack = 0; ack < 2; ack++) {
        const struct tr_frame in = {.flow = 0xfedcba98,
                                    .ack = ack,
                                    .sequence = 0x89abcdef,
                                    .length = ack ? 0 : 777,
                                    .marked = ack,
                                    .time = UINT64_C(123456789) << 6,
                                    .tos = 0x82};
        struct tr_frame out;
        const size_t n = tr_frame_write(frame, sizeof frame, &a, &b, &in);
        assert_int_equal(n, ack ? 66 : 66 + 777);
        assert_true(tr_frame_read(frame, n, in.time + 1000000, &out));
        assert_int_equal(out.flow, in.flow);
        assert_int_equal(out.ack, ack);
        assert_int_equal(out.sequence, 0x89abcdef);
        assert_int_equal(out.length, in.length);
        assert_int_equal(out.time, in.time);
        assert_int_equal(out.marked, ack);
        assert_int_equal(out.tos, 0x82);
        assert_false(tr_frame_read(frame, n - 1, in.time, &out));
        if (!ack) { // a switch has marked it
            frame[15] |= 3;
            assert_true(tr_frame_read(frame, n, in.time, &out) && out.marked);
        }
        assert_int_equal(tr_frame_write(frame, n - 1, &a, &b, &in), 0);
    }
}

static void test_positions_are_completed_across_a_wrap(void **state) {
    (void)state;
    assert_int_equal(tr_complete(UINT64_C(0x1fffffff0), 5), UINT64_C(0x200000005));
    assert_int_equal(tr_complete(UINT64_C(0x200000005), 0xfffffff0), UINT64_C(0x1fffffff0));
    assert_int_equal(tr_complete(7, 9), 9);
}

// ---- thresholds ----

static void test_a_queue_loses_what_the_formula_says(void **state) {
    (void)state;
    assert_true(fabs(thresholds_loss(0.5, 1) - 1.0 / 3) < 1e-12);
    assert_true(fabs(thresholds_loss(1, 4) - 0.2) < 1e-12);
    assert_true(fabs(thresholds_loss(1 + 1e-7, 4) - 0.2) < 1e-6);
    assert_true(thresholds_loss(2, 60) > 0.499 && thresholds_loss(2, 60) < 0.501);
    // against a random walk of arrivals and departures
    struct sim_random random = sim_random_of(1, "queue");
    uint64_t came = 0, lost = 0;
    for (unsigned i = 0, depth = 0; i < 4000000; i++) {
        if (sim_random_real(&random) < 0.8 / 1.8) {
            came++;
            lost += depth == 5;
            depth += depth < 5;
        } else {
            depth -= depth > 0;
        }
    }
    assert_true(fabs((double)lost / (double)came - thresholds_loss(0.8, 5)) < 0.002);
}

static double cost_of(const struct thresholds_config *c, const double rho[2], const uint32_t m[4]) {
    double cost = 0;
    for (int i = 0; i < 2; i++)
        cost += thresholds_loss(rho[i], m[2 * i]) / c->small_tolerance[i] +
                thresholds_loss(rho[i], m[2 * i + 1]) / c->large_tolerance[i];
    return cost;
}

static void test_no_other_thresholds_cost_less(void **state) {
    (void)state;
    for (int k = 0; k < 6; k++) {
        struct thresholds_config c = {.load = 0.3 + 0.12 * k, .small = 0.5, .places = 24};
        struct thresholds_class q[THRESHOLDS_CLASSES];
        c.size[0] = 1 + k;
        c.size[1] = 4;
        for (int i = 0; i < 2; i++) {
            c.small_tolerance[i] = 0.016 / (1 + i);
            c.large_tolerance[i] = 0.001 / (1 + i);
        }
        const double cost = thresholds_find(&c, q), rho[2] = {q[0].rho, q[1].rho};
        assert_true(fabs(rho[0] - c.load * (1 + k) / (5 + k)) < 1e-12);
        assert_true(fabs(rho[1] - c.load * 4 / (5 + k) / (1 - rho[0])) < 1e-12);
        uint32_t m[4];
        for (m[0] = 1; m[0] < 22; m[0]++)
            for (m[1] = m[0]; m[0] + m[1] < 23; m[1]++) // S is not above L
                for (m[2] = 1; m[0] + m[1] + m[2] < 24; m[2]++) {
                    m[3] = 24 - m[0] - m[1] - m[2];
                    if (m[3] >= m[2])
                        assert_true(cost_of(&c, rho, m) >= cost - 1e-12);
                }
        uint32_t given = 0;
        for (int i = 0; i < 2; i++) {
            given += q[i].small_places + q[i].large_places;
            assert_true(q[i].small_limit <= q[i].large_limit);
        }
        assert_true(given <= 24);
        assert_true(q[2].rho == 0 && q[2].large_places == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pfabric_keeps_its_window_and_repeats_after_a_timeout),
        cmocka_unit_test(test_pfabric_probes_after_five_timeouts),
        cmocka_unit_test(test_pfabric_delivers_everything),
        cmocka_unit_test(test_pfabric_ignores_what_was_never_sent),
        cmocka_unit_test(test_levels_grow_by_their_factor),
        cmocka_unit_test(test_front_layers_go_first_in_partitions),
        cmocka_unit_test(test_without_an_order_the_oldest_goes_first_and_whole),
        cmocka_unit_test(test_a_part_larger_than_the_credit_goes_alone),
        cmocka_unit_test(test_layers_come_out_sorted_whatever_goes_in),
        cmocka_unit_test(test_large_tensors_are_cut_over_all_servers),
        cmocka_unit_test(test_a_ring_sums_every_chunk_once),
        cmocka_unit_test(test_frames_say_what_was_written),
        cmocka_unit_test(test_positions_are_completed_across_a_wrap),
        cmocka_unit_test(test_a_queue_loses_what_the_formula_says),
        cmocka_unit_test(test_no_other_thresholds_cost_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

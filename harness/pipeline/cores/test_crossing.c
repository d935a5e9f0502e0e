// SPDX-License-Identifier: Apache-2.0
//
// Packets that cross to another core come out as on one core: the same bytes, what egress is told
// included, in the same order at each port, and the same is counted; whether they cross with a word
// or with all that is known of them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "harness/pipeline/sides.h"
#include "harness/pipeline/toy_program.h"
#include "pipeline/switch/core.h"

#define MOST 24u // packets of a round

// Packets of one queue keep their order, so where packets wait there is one.
static uint32_t make_frame(uint8_t frame[64], uint64_t *random, bool slow) {
    static const uint16_t flags[] = {TOY_UCAST,
                                     TOY_UCAST | TOY_BYPASS,
                                     TOY_UCAST | TOY_MARK,
                                     TOY_UCAST | TOY_SHOW_EGRESS,
                                     TOY_UCAST | TOY_SHOW_EGRESS,
                                     TOY_UCAST | TOY_SHOW_INGRESS | TOY_SHOW_EGRESS,
                                     TOY_UCAST | TOY_EGRESS_DROP,
                                     TOY_UCAST | TOY_GROUP_A | TOY_SHOW_EGRESS,
                                     TOY_GROUP_A | TOY_GROUP_B | TOY_SHOW_EGRESS,
                                     TOY_UCAST | TOY_RESUBMIT};
    static const uint16_t ports[] = {1, 7, 8, 130, 137, 258, 260, 300, 387, 390, 400, 511};
    const struct toy_wish w = {
        .flags = flags[side_draw(random) % (sizeof flags / sizeof *flags)],
        .drop_ctl = side_draw(random) % 16 ? 0 : 1,
        .ucast_port = ports[side_draw(random) % (sizeof ports / sizeof *ports)],
        .group_a = (uint16_t)(1 + side_draw(random) % 3),
        .group_b = (uint16_t)(1 + side_draw(random) % 3),
        .rid = (uint16_t)(side_draw(random) % 4 ? 0 : side_draw(random)),
        .qid = (uint8_t)(slow ? 0 : side_draw(random) % 8),
        .cos = (uint8_t)(side_draw(random) % 8),
        .color = (uint8_t)(side_draw(random) % 4),
    };
    toy_frame(frame, &w);
    return 64;
}

// Packets wait for some ports, so that they cross with more than a word, and fill queues.
static void slow_ports(struct sk_switch *sw) {
    static const uint16_t slow[] = {130, 300, 387};
    const struct sk_port_queue q = {
        .speed_mbps = 10000, .limit_red = 2, .limit_yellow = 4, .limit_green = 6};
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        assert_int_equal(sk_switch_port_queue(sw, slow[i], &q), 0);
}

// The round's packets come in at one port, so the order at each port is that of one core.
static void compare(uint64_t seed, unsigned cores, bool lends, bool slow) {
    static const uint16_t in[] = {1, 9, 140, 260, 300, 400};
    struct sk_program *prog = toy_load();
    struct side *one = side_start(prog, false), *many = side_start_on(prog, lends, cores);
    uint64_t random = seed, now = 1000;
    // what recirculates there goes on in ingress, where the wish says to which port again
    sk_switch_port_loopback(one->sw, 258, false);
    sk_switch_port_loopback(many->sw, 258, false);
    if (slow) {
        slow_ports(one->sw);
        slow_ports(many->sw);
    }
    for (unsigned round = 0; round < 40; round++) {
        const uint16_t port = in[side_draw(&random) % (sizeof in / sizeof *in)];
        const unsigned n = 1 + side_draw(&random) % MOST;
        struct sk_core *const entry =
            sk_switch_core(many->sw, sk_switch_core_of(many->sw, sk_port_pipe(port)));
        now += side_draw(&random) % 5000;
        for (unsigned i = 0; i < n; i++) {
            uint8_t frame[64];
            const uint32_t length = make_frame(frame, &random, slow);
            assert_true(sk_switch_rx(one->sw, port, frame, length, now));
            assert_true(sk_core_rx(entry, port, frame, length, now));
        }
        sk_switch_run(one->sw, now);
        sk_switch_settle(many->sw, now);
        now += 100000; // what waits has left
        sk_switch_run(one->sw, now);
        sk_switch_settle(many->sw, now);
        sides_check_same(one, many);
        if (round % 8 == 7) { // a port goes, or comes back
            const bool up = round % 16 == 15;
            sk_switch_port_up(one->sw, 130, up);
            sk_switch_port_up(many->sw, 130, up);
        }
    }
    struct sk_switch_stats s;
    sk_switch_stats(many->sw, &s);
    assert_true(s.tx_packets > 100 && s.drops[SK_DROP_PORT_DOWN] > 0 &&
                s.drops[SK_DROP_EGRESS_DROP] > 0 && s.copies > 100);
    side_end(one);
    side_end(many);
    sk_program_free(prog);
}

static void compare_all(unsigned cores) {
    for (uint64_t seed = 0; seed < 40; seed++)
        compare(seed, cores, seed % 4 == 1, seed % 4 == 2);
}

static void test_two_cores(void **state) {
    (void)state;
    compare_all(2);
}

static void test_four_cores(void **state) {
    (void)state;
    compare_all(4);
}

// A packet leaves no earlier than it crossed, though the other core's clock was read before.
static void test_time(void **state) {
    (void)state;
    struct sk_program *prog = toy_load();
    struct side *s = side_start_on(prog, false, 2);
    struct toy_wish w = {.flags = TOY_UCAST | TOY_SHOW_EGRESS, .ucast_port = 130};
    uint8_t frame[64];
    toy_frame(frame, &w);
    struct sk_core *const from = sk_switch_core(s->sw, 0), *const to = sk_switch_core(s->sw, 1);
    sk_core_run(to, 500);
    assert_true(sk_core_rx(from, 1, frame, sizeof frame, 900));
    sk_core_run(from, 900);
    assert_int_equal(sk_core_run(to, 600), 1);
    assert_int_equal(sk_core_now(to), 900);
    assert_int_equal(sk_switch_inside(s->sw), 0);
    side_end(s);
    sk_program_free(prog);
}

// Nor does a core's clock go back, for the packets of its own.
static void test_time_of_own(void **state) {
    (void)state;
    struct sk_program *prog = toy_load();
    struct side *s = side_start_on(prog, false, 2);
    const struct toy_wish cross = {.flags = TOY_UCAST | TOY_BYPASS, .ucast_port = 130},
                          stay = {.flags = TOY_UCAST | TOY_SHOW_EGRESS, .ucast_port = 133};
    uint8_t frame[64];
    struct sk_core *const from = sk_switch_core(s->sw, 0), *const to = sk_switch_core(s->sw, 1);
    toy_frame(frame, &cross);
    assert_true(sk_core_rx(from, 1, frame, sizeof frame, 900));
    sk_core_run(from, 900);
    assert_int_equal(sk_core_run(to, 600), 1);
    toy_frame(frame, &stay);
    assert_true(sk_core_rx(to, 131, frame, sizeof frame, 700));
    sk_core_run(to, 700);
    struct side *one = side_start(prog, false);
    assert_true(sk_switch_rx(one->sw, 131, frame, sizeof frame, 900));
    sk_switch_run(one->sw, 900);
    assert_int_equal(s->port[133].n, one->port[133].n);
    assert_memory_equal(s->port[133].bytes, one->port[133].bytes, one->port[133].n);
    side_end(one);
    side_end(s);
    sk_program_free(prog);
}

static bool refuse_odd(void *aux, uint16_t dev_port, const uint8_t *frame, uint32_t length) {
    (void)dev_port, (void)frame, (void)length;
    return ++*(unsigned *)aux % 2 == 0;
}

// A packet that crosses past egress is not looked at: its buffer comes home, whether the port took
// it, did not, or cannot take one so long.
static void test_past_egress(void **state) {
    (void)state;
    enum { ROUNDS = 50, EACH = 6 };
    struct sk_program *prog = toy_load();
    unsigned asked = 0;
    char error[256];
    struct sk_switch_options opt = {.tx = refuse_odd, .aux = &asked, .n_packets = 16};
    toy_spread(&opt, 2);
    struct sk_switch *sw = sk_switch_new(prog, &opt, error, sizeof error);
    assert_non_null(sw);
    sk_switch_port_up(sw, 1, true);
    sk_switch_port_up(sw, 130, true);
    sk_switch_port_up(sw, 131, true);
    sk_switch_port_longest(sw, 131, 63, 63);
    struct sk_core *const from = sk_switch_core(sw, 0), *const to = sk_switch_core(sw, 1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < EACH; i++) {
            const struct toy_wish w = {.flags = TOY_UCAST | TOY_BYPASS,
                                       .ucast_port = i % 3 == 2 ? 131 : 130};
            uint8_t frame[64];
            toy_frame(frame, &w);
            assert_true(sk_core_rx(from, 1, frame, sizeof frame, round));
        }
        sk_core_run(from, round);
        assert_int_equal(sk_core_run(to, round), EACH);
        sk_core_run(from, round);
    }
    struct sk_switch_stats s;
    struct sk_port_stats port;
    sk_switch_stats(sw, &s);
    sk_switch_port_stats(sw, 130, &port);
    assert_int_equal(asked, ROUNDS * EACH * 2 / 3);
    assert_int_equal(s.tx_packets, asked / 2);
    assert_int_equal(port.tx_bytes, asked / 2 * 64);
    assert_int_equal(s.drops[SK_DROP_TX_FULL], asked / 2);
    assert_int_equal(port.drops[SK_DROP_TX_FULL], asked / 2);
    assert_int_equal(s.drops[SK_DROP_TOO_LONG], ROUNDS * EACH / 3);
    assert_int_equal(sk_switch_inside(sw), 0);
    sk_switch_free(sw);
    sk_program_free(prog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_cores),   cmocka_unit_test(test_four_cores),
        cmocka_unit_test(test_time),        cmocka_unit_test(test_time_of_own),
        cmocka_unit_test(test_past_egress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

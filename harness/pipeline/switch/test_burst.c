// SPDX-License-Identifier: Apache-2.0
//
// sk_core_rx_burst: packets of a port that come in together, in buffers that are the port's, come
// to the same as each received and run by itself: what each port is given, in which order, and what
// is counted.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "harness/pipeline/sides.h"
#include "harness/pipeline/toy_program.h"
#include "pipeline/trace.h"
#include "pipeline/switch/core.h"

// Most packets of a burst go where the one before it went.
static uint32_t make_frame(uint8_t *frame, uint64_t *random, uint16_t usual) {
    static const uint16_t flags[] = {TOY_UCAST,
                                     TOY_UCAST | TOY_MARK,
                                     TOY_GROUP_A | TOY_MARK,
                                     TOY_UCAST | TOY_SHOW_EGRESS,
                                     TOY_UCAST | TOY_SHOW_INGRESS | TOY_BYPASS,
                                     TOY_RESUBMIT | TOY_UCAST | TOY_SHOW_INGRESS,
                                     TOY_UCAST | TOY_EGRESS_DROP,
                                     TOY_RESUBMIT_AGAIN};
    static const uint16_t ports[] = {1, 2, 5, 7, 130, 258, 68, 8, 511};
    const bool other = side_draw(random) % 6 == 0;
    struct toy_wish w = {
        .flags = other ? flags[side_draw(random) % (sizeof flags / sizeof *flags)]
                       : TOY_UCAST | TOY_BYPASS,
        .drop_ctl = side_draw(random) % 16 ? 0 : 1,
        .hops = (uint8_t)(side_draw(random) % 8 ? 0 : side_draw(random) % 8),
        .ucast_port = side_draw(random) % 8
                          ? usual
                          : ports[side_draw(random) % (sizeof ports / sizeof *ports)],
        .group_a = (uint16_t)(1 + side_draw(random) % 3),
    };
    if (w.flags & TOY_GROUP_A) // a copy that recirculates waits for the burst's end
        w.hops = 0;
    uint32_t length = side_draw(random) % 16 ? 64 + side_draw(random) % 200 : 13;
    if (w.flags & TOY_SHOW_INGRESS && side_draw(random) % 4)
        length = 183 + side_draw(random) % 8; // with what is shown about as long as port 7 takes
    memset(frame, (int)side_draw(random), 1024);
    toy_frame(frame, &w);
    return length;
}

static void ignore(struct sk_observer *o, const struct sk_packet *p, const struct sk_event *e) {
    (void)o, (void)p, (void)e;
}

// Of what port 7 was given: how many are longer than it takes without a tag.
static unsigned count_tagged(const struct side *s) {
    unsigned found = 0;
    uint32_t length;
    for (size_t at = 0; at < s->port[7].n; at += sizeof length + length) {
        memcpy(&length, s->port[7].bytes + at, sizeof length);
        const uint8_t *type = s->port[7].bytes + at + sizeof length + 12;
        assert_true(length <= 204 && (length <= 200 || (type[0] == 0x81 && type[1] == 0)));
        found += length > 200;
    }
    return found;
}

static unsigned compare(uint64_t seed, uint64_t seen[SK_DROP_COUNT]) {
    static const uint16_t in[] = {1, 2, 9, 140, 260, 400}, out[] = {1, 2, 3, 7, 130, 387};
    struct sk_observer watcher = {.everything = true, .event = ignore};
    struct sk_program *prog = toy_load();
    struct side *one = side_start(prog, false), *burst = side_start(prog, true);
    uint64_t random = seed, now = 1000;
    for (unsigned round = 0; round < 60; round++) {
        struct sk_packet *packets[SIDE_BURST];
        uint8_t frame[1024];
        const uint16_t port = in[side_draw(&random) % 6], usual = out[side_draw(&random) % 6];
        const unsigned n = 1 + side_draw(&random) % SIDE_BURST;
        now += side_draw(&random) % 3 ? side_draw(&random) % 5000 : 0;
        // somebody looked once: packets may name it
        if (round == 30 && seed % 2) {
            sk_core_observe(sk_switch_core(burst->sw, 0), &watcher);
            sk_core_observe(sk_switch_core(burst->sw, 0), NULL);
        }
        for (unsigned i = 0; i < n; i++) {
            const uint32_t length = make_frame(frame, &random, usual);
            struct sk_packet *p = packets[i] = side_get(burst);
            assert_non_null(p);
            p->head = 2 * SK_HEADROOM;
            p->len = length;
            memcpy(sk_packet_data(p), frame, length);
            sk_switch_rx(one->sw, port, frame, length, now);
            sk_switch_run(one->sw, now);
        }
        sk_core_rx_burst(sk_switch_core(burst->sw, 0), port, packets, n, now);
        sides_check_same(one, burst);
    }
    struct sk_switch_stats s;
    sk_switch_stats(burst->sw, &s);
    for (unsigned i = 0; i < SK_DROP_COUNT; i++)
        seen[i] += s.drops[i];
    const unsigned tagged = count_tagged(burst);
    side_end(one);
    side_end(burst);
    sk_program_free(prog);
    return tagged;
}

static void test_same_as_one_by_one(void **state) {
    (void)state;
    static const enum sk_drop_reason all[] = {
        SK_DROP_INGRESS_DROP, SK_DROP_EGRESS_DROP, SK_DROP_PORT_DOWN, SK_DROP_RESUBMIT_TWICE,
        SK_DROP_RECIRC_LIMIT, SK_DROP_TOO_LONG,    SK_DROP_TOO_SHORT, SK_DROP_MCAST_EMPTY};
    uint64_t seen[SK_DROP_COUNT] = {0};
    unsigned tagged = 0;
    for (uint64_t seed = 0; seed < 30; seed++)
        tagged += compare(seed, seen);
    assert_true(tagged > 10);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!seen[all[i]])
            fail_msg("nothing was dropped: %s", sk_drop_text(all[i]));
}

// A port's queue has room for a burst less one before its owner is asked, who may refuse.
static void test_refused(void **state) {
    (void)state;
    struct sk_program *prog = toy_load();
    struct side *s = side_start(prog, true);
    struct sk_packet *packets[SIDE_BURST];
    struct sk_port_stats stats;
    const struct toy_wish w = {.flags = TOY_UCAST | TOY_BYPASS, .ucast_port = 1};
    s->refuses = 2;
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < SIDE_BURST; i++) {
            packets[i] = side_get(s);
            packets[i]->head = 2 * SK_HEADROOM;
            packets[i]->len = 64;
            toy_frame(sk_packet_data(packets[i]), &w);
        }
        sk_core_rx_burst(sk_switch_core(s->sw, 0), 2, packets, SIDE_BURST, 1000 + round);
        side_drain(s, 1);
    }
    sk_switch_port_stats(s->sw, 1, &stats);
    assert_int_equal(stats.tx_packets, 4 * SIDE_BURST - 2);
    assert_int_equal(stats.tx_bytes, 64 * (4 * SIDE_BURST - 2));
    assert_int_equal(stats.drops[SK_DROP_TX_FULL], 2);
    assert_int_equal(sk_switch_inside(s->sw), 0);
    side_end(s);
    sk_program_free(prog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_one_by_one),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

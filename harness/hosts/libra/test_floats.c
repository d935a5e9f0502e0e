// SPDX-License-Identifier: Apache-2.0
//
// What p4/libra adds against hosts/libra/adder.c, bit for bit, in the fast, the checked and the
// scalar build: pairs of exponents with edge mantissas, random pairs, and what is not a sum of two
// ordinary numbers. PAIRS random pairs a build (environment; 20,000); EXPONENTS: each so many of
// the 2^16 pairs of exponents (97), 1: all of them.
//
// And how a packet goes through its passes: how many there are, cells that change between two of
// them (an observer changes them), and what is repeated.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/hosts/libra/rig.h"
#include "harness/hosts/random.h"
#include "control/tables/control.h"
#include "pipeline/switch/core.h"
#include "pipeline/trace.h"

#define BASE  100u
#define CELLS 64u
#define SIGN  UINT32_C(0x80000000)

struct rig {
    struct sk_observer observer;
    struct sk_switch *sw;
    struct rig_cells cells;
    struct libra_flow flow;
    uint32_t sequence;
    uint8_t reply[LIBRA_FRAME_BYTES];
    uint32_t length; // of the reply; 0: there was none
    // pairs that wait for a packet
    uint32_t x[LIBRA_PLACES], y[LIBRA_PLACES];
    unsigned n;
    // after this pass and later ones the value is added to this cell, so many times in all
    uint32_t other_rank, other_value;
    unsigned others_from, others;
    unsigned passes; // of the packet
};

static enum rig_build build;

static uint64_t number(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static bool rig_tx(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct rig *r = aux;
    assert_int_equal(0, port);
    assert_int_equal(0, r->length);
    assert_true(length <= sizeof r->reply);
    memcpy(r->reply, frame, length);
    r->length = length;
    return true;
}

static void rig_begin(struct rig *r) {
    static struct sk_program *programs[RIG_BUILDS];
    if (!programs[build])
        programs[build] = rig_program("p4/libra/libra.p4", build);
    *r = (struct rig){.flow = rig_flow(0)};
    r->sw = net_switch(programs[build], rig_tx, r);
    rig_fill(r->sw);
    rig_admit(r->sw, 0, BASE, CELLS);
    r->cells = rig_cells(r->sw);
}

static void rig_end(struct rig *r) {
    sk_switch_free(r->sw);
}

// Sends the packet; the reply's header, and its pairs if it is an answer.
static struct libra_header rig_send(struct rig *r, enum libra_kind kind,
                                    const struct libra_packet *packet, struct libra_packet *got) {
    const struct libra_header header = {.kind = kind, .sequence = ++r->sequence};
    uint8_t frame[LIBRA_FRAME_BYTES];
    struct libra_header back;

    libra_frame_write(frame, &r->flow, &header, packet);
    r->length = r->passes = 0;
    sk_switch_rx(r->sw, 0, frame, sizeof frame, 0);
    sk_switch_run(r->sw, 0);
    assert_int_equal(LIBRA_ACCEPTED, libra_frame_read(r->reply, r->length, &r->flow, &back, got));
    assert_int_equal(r->sequence, back.sequence);
    return back;
}

// The pairs that wait: each to the cell of its place.
static void rig_flush(struct rig *r) {
    struct libra_packet push = {0}, none;
    uint32_t rank[LIBRA_PLACES];

    for (unsigned p = 0; p < r->n; p++) {
        rank[p] = p + LIBRA_PLACES * ((r->sequence + p) % CELLS);
        rig_write(&r->cells, BASE, rank[p], r->x[p]);
        push.places[p] = (struct libra_pair){rank[p], r->y[p]};
        push.used |= (uint16_t)(1u << p);
    }
    assert_int_equal(LIBRA_ACK, rig_send(r, LIBRA_PUSH, &push, &none).kind);
    assert_int_equal(0, none.used);
    for (unsigned p = 0; p < r->n; p++) {
        uint32_t got = rig_read(&r->cells, BASE, rank[p]),
                 sum = libra_add(libra_adder(), r->x[p], r->y[p], NULL);
        if (got != sum)
            fail_msg("%08x + %08x: %08x, not %08x", r->x[p], r->y[p], got, sum);
    }
    r->n = 0;
}

static void rig_pair(struct rig *r, uint32_t x, uint32_t y) {
    r->x[r->n] = x;
    r->y[r->n] = y;
    if (++r->n == LIBRA_PLACES)
        rig_flush(r);
}

static const uint32_t edges[] = {0x000000, 0x000001, 0x000fff, 0x001000, 0x3fffff,
                                 0x555555, 0x7fefff, 0x7ff000, 0x7ffffe, 0x7fffff};
#define EDGES (sizeof edges / sizeof *edges)

static void test_exponents(void **state) {
    const uint64_t step = number("EXPONENTS", 97);
    struct rig r;

    (void)state;
    rig_begin(&r);
    for (uint64_t pair = 0; pair < 1 << 16; pair += step)
        for (size_t i = 0; i < EDGES * EDGES; i++) {
            uint32_t x = (uint32_t)(pair >> 8) << 23 | edges[i / EDGES],
                     y = (uint32_t)(pair & 255) << 23 | edges[i % EDGES];
            rig_pair(&r, x, i & 1 ? y | SIGN : y);
            rig_pair(&r, x | SIGN, i & 2 ? y | SIGN : y);
        }
    if (r.n > 0)
        rig_flush(&r);
    rig_end(&r);
}

static void test_random_pairs(void **state) {
    struct sk_random random = sk_random_seeded(build + 1);
    const uint64_t pairs = number("PAIRS", 20000);
    struct rig r;

    (void)state;
    rig_begin(&r);
    for (uint64_t i = 0; i < pairs; i++) {
        uint64_t bits = sk_random_next(&random);
        uint32_t x = (uint32_t)bits, y = (uint32_t)(bits >> 32);
        if (i & 1) // near each other
            y = (y & 0x807fffff) | (((x >> 23) - (uint32_t)sk_random_below(&random, 36)) & 255)
                                       << 23;
        rig_pair(&r, x, y);
    }
    if (r.n > 0)
        rig_flush(&r);
    rig_end(&r);
}

static void test_special_values(void **state) {
    static const uint32_t values[] = {0,          1,          0x007fffff, 0x00800000,
                                      0x3f800000, 0x3f800001, 0x7f7fffff, 0x7f800000,
                                      0x7f800001, 0x7fc00000, 0x7fffffff};
    const unsigned n = sizeof values / sizeof *values;
    struct rig r;

    (void)state;
    rig_begin(&r);
    for (unsigned i = 0; i < 4 * n * n; i++)
        rig_pair(&r, values[i / 4 / n] | (i & 1 ? SIGN : 0),
                 values[i / 4 % n] | (i & 2 ? SIGN : 0));
    if (r.n > 0)
        rig_flush(&r);
    rig_end(&r);
}

// A pull has what the cells hold, and the indices as they were sent.
static void test_pull(void **state) {
    struct libra_packet pull = {0}, got;
    struct rig r;

    (void)state;
    rig_begin(&r);
    for (unsigned p = 0; p < LIBRA_PLACES; p++) {
        uint32_t rank = p + LIBRA_PLACES * (p * 3 % CELLS);
        rig_write(&r.cells, BASE, rank, 0x3f800000 + p);
        pull.places[p] = (struct libra_pair){rank, 77};
        if (p != 5)
            pull.used |= (uint16_t)(1u << p);
    }
    assert_int_equal(LIBRA_ANSWER, rig_send(&r, LIBRA_PULL, &pull, &got).kind);
    assert_int_equal(pull.used, got.used);
    for (unsigned p = 0; p < LIBRA_PLACES; p++)
        if (p != 5) {
            assert_int_equal(pull.places[p].rank, got.places[p].rank);
            assert_int_equal(0x3f800000 + p, got.places[p].value);
        }
    rig_end(&r);
}

// ---- passes ----

static void rig_between_passes(struct sk_observer *o, const struct sk_packet *p,
                               const struct sk_event *e) {
    struct rig *r = (struct rig *)o;
    (void)p;
    if (e->kind != SK_EV_RECIRCULATED)
        return;
    if (++r->passes < r->others_from || r->others == 0)
        return;
    r->others--;
    uint32_t now = rig_read(&r->cells, BASE, r->other_rank);
    rig_write(&r->cells, BASE, r->other_rank, libra_add(libra_adder(), now, r->other_value, NULL));
}

static void rig_watch(struct rig *r) {
    r->observer = (struct sk_observer){.everything = true, .event = rig_between_passes};
    sk_core_observe(sk_switch_core(r->sw, 0), &r->observer);
}

// 'n' pairs of one register in a packet of the other kind, or in two: the passes are as many as
// pack.h says, and all are added.
static void test_any(void **state) {
    static const unsigned sizes[] = {1, 2, 3, 15, 16};
    struct rig r;

    (void)state;
    rig_begin(&r);
    rig_watch(&r);
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (unsigned place = 0; place < LIBRA_PLACES; place++) {
            struct libra_pair pairs[LIBRA_PLACES];
            struct libra_packet packets[4], none;
            uint32_t before[LIBRA_PLACES];
            for (unsigned i = 0; i < sizes[s]; i++) {
                pairs[i] = (struct libra_pair){place + LIBRA_PLACES * i, 0x3f800000 + i};
                before[i] = rig_read(&r.cells, BASE, pairs[i].rank);
            }
            size_t n = libra_pack(pairs, sizes[s], true, packets);
            for (size_t i = 0; i < n; i++) {
                enum libra_kind kind = packets[i].any ? LIBRA_PUSH_ANY : LIBRA_PUSH;
                rig_send(&r, kind, &packets[i], &none);
                assert_int_equal(0, none.used);
                // the last pass, which sends, is no recirculation
                assert_int_equal(libra_packet_passes(&packets[i]), r.passes + 1);
            }
            for (unsigned i = 0; i < sizes[s]; i++)
                assert_int_equal(libra_add(libra_adder(), before[i], pairs[i].value, NULL),
                                 rig_read(&r.cells, BASE, pairs[i].rank));
        }
    rig_end(&r);
}

// Sixteen of one register at any place, so that the last turn has one: what a stranger could send.
static struct libra_packet longest(void) {
    struct libra_packet packet = {.any = true, .used = 0xffff};
    for (unsigned p = 0; p < LIBRA_PLACES; p++)
        packet.places[p] = (struct libra_pair){5 + LIBRA_PLACES * p, 0x40000000};
    return packet;
}

// A cell that changes between two passes is read again, eight times; what is left then is told.
static void test_collisions(void **state) {
    struct rig r;

    (void)state;
    rig_begin(&r);
    rig_watch(&r);
    for (unsigned others = 0; others <= 12; others++) {
        struct libra_packet push = {.used = 3 << 4}, rest, none;
        push.places[4] = (struct libra_pair){4, 0x3f800000};
        push.places[5] = (struct libra_pair){5, 0x40400000};
        rig_write(&r.cells, BASE, 4, 0);
        rig_write(&r.cells, BASE, 5, 0x41200000);
        r.others = others;
        r.others_from = 4; // which reads those
        r.other_rank = 5;
        r.other_value = 0x3e800000;
        rig_send(&r, LIBRA_PUSH, &push, &rest);
        assert_int_equal(0x3f800000, rig_read(&r.cells, BASE, 4));
        unsigned changes = others - r.others;
        assert_in_range(changes, others < 9 ? others : 9, others);
        bool left = rest.used != 0;
        assert_int_equal(left ? 1 << 5 : 0, rest.used);
        assert_int_equal(others > 8, left);
        r.others = 0;
        if (left) {
            push.used = rest.used;
            rig_send(&r, LIBRA_PUSH, &push, &none);
            assert_int_equal(0, none.used);
        }
        // the sums come in one order or another: within a few units of the last place of the tables
        double sum = 10 + 3 + 0.25 * changes;
        float got;
        uint32_t bits = rig_read(&r.cells, BASE, 5);
        memcpy(&got, &bits, sizeof got);
        if (got < sum * 0.999 || got > sum * 1.001)
            fail_msg("%u changes: %g instead of %g", changes, (double)got, sum);
    }
    rig_end(&r);
}

// The longest way that a packet can go: 1 + 2 * 16 passes, and 8 for changed cells.
static void test_longest_way(void **state) {
    struct libra_packet packet = longest(), rest;
    struct rig r;

    (void)state;
    rig_begin(&r);
    rig_watch(&r);
    unsigned last = libra_packet_turns(&packet);
    assert_int_equal(16, last);
    unsigned p_last = 0;
    for (unsigned p = 0; p < LIBRA_PLACES; p++) {
        struct libra_packet one = {.used = (uint16_t)(1u << p)};
        one.places[p] = packet.places[p];
        p_last = libra_packet_turns(&one) == last ? p : p_last;
    }
    for (unsigned others = 0; others < 12; others++) {
        r.other_rank = packet.places[p_last].rank;
        r.other_value = 0x3f800000;
        r.others = others;
        r.others_from = 32; // in which the last turn reads
        rig_send(&r, LIBRA_PUSH_ANY, &packet, &rest);
        assert_true(r.passes + 1 <= 41);
        assert_int_equal(33 + (others < 8 ? others : 8), r.passes + 1);
        assert_int_equal(others > 8 ? 1 << p_last : 0, rest.used);
        r.others = 0;
    }
    rig_end(&r);
}

// ---- once ----

static uint64_t egress_drops(struct rig *r, unsigned reason) {
    struct sk_counter_cell sum;
    struct sk_error err;
    assert_int_equal(0, sk_control_counter_read(r->sw, "pipe.Egress.drops", reason, &sum, &err));
    return sum.packets;
}

// What is repeated after it was added is acknowledged again, with the places that were left; what
// is older than its record is refused; what is repeated while it is added is dropped.
static void test_once(void **state) {
    struct libra_packet push = {.used = 1 << 7}, rest;
    struct libra_header header = {.kind = LIBRA_PUSH, .sequence = 600};
    uint8_t frame[LIBRA_FRAME_BYTES];
    struct rig r;

    (void)state;
    rig_begin(&r);
    rig_watch(&r);
    push.places[7] = (struct libra_pair){7, 0x3f800000};
    for (int times = 1; times <= 3; times++) { // the same number
        r.sequence = 599;
        assert_int_equal(LIBRA_ACK, rig_send(&r, LIBRA_PUSH, &push, &rest).kind);
        assert_int_equal(0, rest.used);
        assert_int_equal(0x3f800000, rig_read(&r.cells, BASE, 7));
    }
    // one that was given up, and its repetition
    r.others = 100;
    r.others_from = 5;
    r.other_rank = 7;
    r.other_value = 0x3f800000;
    r.sequence = 700;
    rig_send(&r, LIBRA_PUSH, &push, &rest);
    assert_int_equal(1 << 7, rest.used);
    r.others = 0;
    r.sequence = 700;
    rig_send(&r, LIBRA_PUSH, &push, &rest);
    assert_int_equal(1 << 7, rest.used);
    // older than the record
    uint32_t now = rig_read(&r.cells, BASE, 7);
    header.sequence = 600 - 512;
    libra_frame_write(frame, &r.flow, &header, &push);
    r.length = 0;
    sk_switch_rx(r.sw, 0, frame, sizeof frame, 0);
    sk_switch_run(r.sw, 0);
    assert_int_equal(0, r.length);
    assert_int_equal(1, egress_drops(&r, 10));
    assert_int_equal(now, rig_read(&r.cells, BASE, 7));
    rig_end(&r);
}

// A push that has begun and never ends, as one that is lost inside: what is repeated is not
// acknowledged, and nothing is added.
static void test_begun(void **state) {
    struct libra_packet push = {.used = 1 << 7};
    const struct libra_header header = {.kind = LIBRA_PUSH, .again = true, .sequence = 3};
    uint8_t frame[LIBRA_FRAME_BYTES];
    struct sk_error err;
    struct rig r;

    (void)state;
    rig_begin(&r);
    push.places[7] = (struct libra_pair){7, 0x3f800000};
    assert_int_equal(0, sk_control_register_write(r.sw, "records.records", 3, NULL, "6", -1, &err));
    libra_frame_write(frame, &r.flow, &header, &push);
    sk_switch_rx(r.sw, 0, frame, sizeof frame, 0);
    sk_switch_run(r.sw, 0);
    assert_int_equal(0, r.length);
    assert_int_equal(1, egress_drops(&r, 11));
    assert_int_equal(0, rig_read(&r.cells, BASE, 7));
    rig_end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exponents),
        cmocka_unit_test(test_random_pairs),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_pull),
        cmocka_unit_test(test_any),
        cmocka_unit_test(test_collisions),
        cmocka_unit_test(test_longest_way),
        cmocka_unit_test(test_once),
        cmocka_unit_test(test_begun),
    };
    int failures = 0;
    for (build = RIG_FAST; build < RIG_BUILDS; build++)
        failures += cmocka_run_group_tests(tests, NULL, NULL);
    return failures;
}

// SPDX-License-Identifier: Apache-2.0
//
// Queues of a port with a speed: priorities, shares by weight, order within a queue, and that all
// of it is a function of the packets and their times.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/pipeline/toy_program.h"

#define OUT     7u // the port with a speed
#define QID_AT  (TOY_WISH_AT + 16)
#define SLOT_NS 704u // 64 bytes and 24 on the wire at 1 Gbit/s

struct bench {
    struct sk_program *prog;
    struct sk_switch *sw;
    struct {
        uint8_t qid, serial;
        uint32_t length;
    } sent[4096];
    size_t n_sent;
};

static bool collect(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct bench *b = aux;
    assert_int_equal(port, OUT);
    assert_true(b->n_sent < sizeof b->sent / sizeof *b->sent);
    b->sent[b->n_sent].qid = frame[QID_AT];
    b->sent[b->n_sent].serial = frame[11];
    b->sent[b->n_sent++].length = length;
    return true;
}

static int begin(void **state) {
    return toy_setup(state, sizeof(struct bench));
}

static void restart(struct bench *b, const struct sk_queue_schedule *schedule, size_t n) {
    struct sk_port_queue q = {.speed_mbps = 1000};
    if (n > 0)
        memcpy(q.schedule, schedule, n * sizeof *schedule);
    sk_switch_free(b->sw);
    b->sw = toy_switch(b->prog, &(struct sk_switch_options){.tx = collect, .aux = b});
    b->n_sent = 0;
    assert_int_equal(sk_switch_port_queue(b->sw, OUT, &q), 0);
}

static int end(void **state) {
    sk_switch_free(((struct bench *)*state)->sw);
    return toy_teardown(state);
}

static void give(struct bench *b, uint8_t qid, uint8_t serial, uint32_t length, uint64_t now) {
    uint8_t frame[1500] = {0};
    toy_frame(frame, &(struct toy_wish){.flags = TOY_UCAST, .ucast_port = OUT, .qid = qid});
    frame[11] = serial;
    sk_switch_rx(b->sw, 1, frame, length, now);
    sk_switch_run(b->sw, now);
}

static size_t count(const struct bench *b, uint8_t qid, size_t from, size_t to) {
    size_t n = 0;
    for (size_t i = from; i < to; i++)
        n += b->sent[i].qid == qid;
    return n;
}

static void check_order(const struct bench *b) {
    int last[SK_PORT_QUEUES];
    memset(last, 0xff, sizeof last);
    for (size_t i = 0; i < b->n_sent; i++) {
        assert_true(b->sent[i].serial > last[b->sent[i].qid]);
        last[b->sent[i].qid] = b->sent[i].serial;
    }
}

static void test_priority_goes_first(void **state) {
    struct bench *b = *state;
    const struct sk_queue_schedule s[] = {
        {.priority = 0, .weight = 0}, {.priority = 7, .weight = 0}, {.priority = 3, .weight = 0}};
    restart(b, s, 3);
    for (uint8_t i = 0; i < 10; i++) {
        give(b, 0, i, 64, 0);
        give(b, 2, i, 64, 0);
        give(b, 1, i, 64, 0);
    }
    sk_switch_run(b->sw, 1000000);
    assert_int_equal(b->n_sent, 30);
    // the first was sent when nothing else was there
    assert_int_equal(b->sent[0].qid, 0);
    assert_int_equal(count(b, 1, 1, 11), 10);
    assert_int_equal(count(b, 2, 11, 21), 10);
    assert_int_equal(count(b, 0, 21, 30), 9);
    check_order(b);
}

// One of a high priority does not wait longer than for the packet that is under way.
static void test_priority_does_not_wait_in_line(void **state) {
    struct bench *b = *state;
    const struct sk_queue_schedule s[] = {{.priority = 0, .weight = 0},
                                          {.priority = 1, .weight = 0}};
    restart(b, s, 2);
    for (uint8_t i = 0; i < 100; i++)
        give(b, 0, i, 64, 0);
    give(b, 1, 0, 64, 10 * SLOT_NS + 1); // the eleventh is under way
    sk_switch_run(b->sw, 11 * SLOT_NS);
    assert_int_equal(b->n_sent, 12);
    assert_int_equal(b->sent[11].qid, 1);
}

static void test_shares_by_weight(void **state) {
    struct bench *b = *state;
    const struct sk_queue_schedule s[] = {{.priority = 0, .weight = 100},
                                          {.priority = 0, .weight = 200},
                                          {.priority = 0, .weight = 500}};
    restart(b, s, 3);
    for (unsigned i = 0; i < 200; i++)
        for (uint8_t qid = 0; qid < 3; qid++)
            give(b, qid, (uint8_t)i, 64, 0);
    // 80 slots while all have something: 10, 20 and 50 of them, but for one
    sk_switch_run(b->sw, 80 * SLOT_NS - 1);
    assert_int_equal(b->n_sent, 80);
    assert_in_range(count(b, 0, 0, 80), 9, 11);
    assert_in_range(count(b, 1, 0, 80), 19, 21);
    assert_in_range(count(b, 2, 0, 80), 49, 51);
    check_order(b);
}

// Weights are of bytes, not of packets.
static void test_shares_are_of_bytes(void **state) {
    struct bench *b = *state;
    const struct sk_queue_schedule s[] = {{.priority = 0, .weight = 10},
                                          {.priority = 0, .weight = 10}};
    size_t bytes[2] = {0};
    restart(b, s, 2);
    for (unsigned i = 0; i < 100; i++)
        give(b, 0, (uint8_t)i, 1500 - 24, 0);
    for (unsigned i = 0; i < 250; i++)
        give(b, 1, (uint8_t)i, 64, 0);
    sk_switch_run(b->sw, 240 * 1000); // 30,000 bytes on the wire
    for (size_t i = 0; i < b->n_sent; i++)
        bytes[b->sent[i].qid] += b->sent[i].length + 24;
    assert_in_range(bytes[0], 13500, 16500);
    assert_in_range(bytes[1], 13500, 16500);
}

// A queue that was empty for long has saved nothing up, and owes nothing.
static void test_silence_is_not_saved_up(void **state) {
    struct bench *b = *state;
    const struct sk_queue_schedule s[] = {{.priority = 0, .weight = 100},
                                          {.priority = 0, .weight = 100}};
    restart(b, s, 2);
    for (unsigned i = 0; i < 200; i++)
        give(b, 0, (uint8_t)i, 64, 0);
    sk_switch_run(b->sw, 100 * SLOT_NS - 1);
    for (unsigned i = 0; i < 100; i++)
        give(b, 1, (uint8_t)i, 64, 100 * SLOT_NS - 1);
    sk_switch_run(b->sw, 140 * SLOT_NS - 1);
    assert_int_equal(b->n_sent, 140);
    assert_in_range(count(b, 1, 100, 140), 19, 21);
    assert_int_equal(count(b, 1, 0, 100), 0);
}

static void test_depths_are_of_each_queue(void **state) {
    struct bench *b = *state;
    struct sk_port_queue q = {.speed_mbps = 1, .limit_green = 2};
    struct sk_port_stats stats;
    restart(b, NULL, 0);
    assert_int_equal(sk_switch_port_queue(b->sw, OUT, &q), 0);
    for (uint8_t i = 0; i < 5; i++)
        for (uint8_t qid = 30; qid < 32; qid++)
            give(b, qid, i, 64, 0);
    sk_switch_port_stats(b->sw, OUT, &stats);
    // one leaves at once; two fit into either queue
    assert_int_equal(stats.drops[SK_DROP_QUEUE_FULL], 5);
}

static void test_refused(void **state) {
    struct bench *b = *state;
    struct sk_port_queue q = {.speed_mbps = 1}, is;
    restart(b, NULL, 0);
    q.schedule[5].priority = SK_PRIORITIES;
    assert_int_equal(sk_switch_port_queue(b->sw, OUT, &q), -22);
    q.schedule[5] = (struct sk_queue_schedule){.weight = SK_WEIGHT_HIGHEST + 1};
    assert_int_equal(sk_switch_port_queue(b->sw, OUT, &q), -22);
    sk_switch_port_queue_get(b->sw, OUT, &is);
    assert_int_equal(is.speed_mbps, 1000);
}

// What waits when the speed is taken away, or the schedule changed, leaves, in its queue's order.
static void test_changed_while_packets_wait(void **state) {
    struct bench *b = *state;
    const struct sk_queue_schedule s[] = {
        {.priority = 0, .weight = 1}, {.priority = 7, .weight = 1}, {.priority = 3, .weight = 9}};
    restart(b, s, 3);
    for (unsigned i = 0; i < 200; i++) {
        struct sk_port_queue q = {.speed_mbps = i % 50 == 30 ? 0 : 1000 + i};
        for (unsigned j = 0; j < 3; j++)
            q.schedule[j] = (struct sk_queue_schedule){.priority = (uint8_t)((i + j) % 8),
                                                       .weight = (uint16_t)(1 + i * j)};
        for (uint8_t qid = 0; qid < 3; qid++)
            give(b, qid, (uint8_t)i, 64, i * 1000);
        assert_int_equal(sk_switch_port_queue(b->sw, OUT, &q), 0);
    }
    sk_switch_run(b->sw, 1000000000);
    assert_int_equal(b->n_sent, 600);
    check_order(b);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        T(test_priority_goes_first),
        T(test_priority_does_not_wait_in_line),
        T(test_shares_by_weight),
        T(test_shares_are_of_bytes),
        T(test_silence_is_not_saved_up),
        T(test_depths_are_of_each_queue),
        T(test_refused),
        T(test_changed_while_packets_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

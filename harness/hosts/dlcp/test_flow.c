// SPDX-License-Identifier: Apache-2.0
//
// test_flow: what a sender and a receiver of DLCP do, step by step, and what they refuse.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/hosts/dlcp/pair.h"
#include "silken/error.h"

#define SEGMENT 10u

// ---- whole flows ----

static void test_no_loss(void **state) {
    struct pair p;
    (void)state;
    pair_init(&p, 1, 100000, DLCP_ELEMENTS);
    pair_tame(&p);
    p.to_send.bound = p.to_receive.bound = 0;
    pair_begin(&p);
    pair_run(&p, PAIR_S);
    assert_int_equal(dlcp_sender_state(p.sender), DLCP_SENDER_OVER);
    assert_int_equal(dlcp_receiver_state(p.receiver), DLCP_RECEIVER_OVER);
    pair_check(&p);
    assert_int_equal(dlcp_receiver_elements(p.receiver), 100000);
    assert_int_equal(dlcp_sender_stats(p.sender).repeated, 0);
    assert_int_equal(dlcp_sender_stats(p.sender).data, 276);
    assert_true(dlcp_sender_stats(p.sender).important > 80); // some half
    assert_true(dlcp_sender_stats(p.sender).important < 200);
    pair_end(&p);
}

// With a bound of 10 % the sender is stopped before it has sent all.
static void test_finish_stops(void **state) {
    struct pair p;
    (void)state;
    pair_init(&p, 2, 363 * 2000, DLCP_ELEMENTS);
    pair_begin(&p);
    pair_run(&p, PAIR_S);
    pair_check(&p);
    assert_true(dlcp_receiver_elements(p.receiver) >= 363 * 1800);
    assert_true(dlcp_sender_stats(p.sender).data < 1850);
    assert_int_equal(dlcp_sender_stats(p.sender).rounds, 0);
    pair_end(&p);
}

static void test_small_tensors_are_whole(void **state) {
    (void)state;
    for (uint32_t elements = 1; elements <= 363; elements += 60) {
        struct pair p;
        pair_init(&p, elements, elements, DLCP_ELEMENTS);
        p.to_send.bound = p.to_receive.bound = 300000;
        p.link.loss = 0.5;
        pair_begin(&p);
        pair_run(&p, 20 * PAIR_S);
        assert_int_equal(dlcp_receiver_state(p.receiver), DLCP_RECEIVER_OVER);
        assert_int_equal(dlcp_receiver_elements(p.receiver), elements);
        pair_check(&p);
        pair_end(&p);
    }
}

// The bound holds also if a third is lost, and nothing more than what is missing comes again.
static void test_rounds(void **state) {
    struct pair p;
    (void)state;
    pair_init(&p, 3, 363 * 300, DLCP_ELEMENTS);
    p.link.loss = 0.33;
    p.to_send.bound = p.to_receive.bound = 10000;
    pair_begin(&p);
    pair_run(&p, 10 * PAIR_S);
    pair_check(&p);
    assert_true(dlcp_receiver_elements(p.receiver) >= 363 * 297);
    assert_true(dlcp_sender_stats(p.sender).rounds > 0);
    assert_int_equal(dlcp_receiver_stats(p.receiver).needless, 0); // the order is kept here
    pair_end(&p);
}

// A round trip of ten seconds was measured, since the other end had no processor: what is missing
// is asked for within the longest timeout all the same.
static void test_inflated_round_trip(void **state) {
    struct pair p;
    (void)state;
    pair_init(&p, 17, 363 * 100, DLCP_ELEMENTS);
    p.link.loss = 0.3;
    sk_rto_measure(&p.peer[PAIR_RECEIVER].rto, 10 * PAIR_S);
    pair_begin(&p);
    pair_run(&p, PAIR_S);
    assert_int_equal(dlcp_receiver_state(p.receiver), DLCP_RECEIVER_OVER);
    assert_true(dlcp_sender_stats(p.sender).rounds > 0);
    pair_check(&p);
    pair_end(&p);
}

// STOP overtakes the data: what is on its way is waited for.
static void test_stop_overtakes(void **state) {
    struct pair p;
    (void)state;
    pair_init(&p, 4, 363 * 20, DLCP_ELEMENTS);
    p.to_send.bound = p.to_receive.bound = 0;
    p.link.delay = 100000;
    p.link.reorder = 0.3;
    p.link.jitter = 100000;
    pair_begin(&p);
    pair_run(&p, PAIR_S);
    pair_check(&p);
    assert_int_equal(dlcp_sender_stats(p.sender).rounds, 0);
    pair_end(&p);
}

// In 100 iterations each element arrives in at least 100 (1 - 2p) of them.
static void fair_iterations(uint32_t bound, bool same_values, dlcp_prio *prio) {
    enum { SEGMENTS = 500 };
    unsigned came[SEGMENTS] = {0};
    for (uint32_t iteration = 0; iteration < 100; iteration++) {
        struct pair p;
        pair_init(&p, same_values ? 9 : 9 + iteration, SEGMENTS * SEGMENT, SEGMENT);
        pair_tame(&p);
        p.link.delay = 50; // FINISH comes at once
        p.to_send.prio = prio;
        p.to_send.name.iteration = p.to_receive.name.iteration = 1000 + iteration;
        p.to_send.bound = p.to_receive.bound = bound;
        pair_begin(&p);
        pair_run(&p, PAIR_S);
        pair_check(&p);
        for (uint32_t i = 0; i < SEGMENTS; i++)
            came[i] += dlcp_receiver_has(p.receiver, i);
        pair_end(&p);
    }
    unsigned least = 100, all = 0;
    for (uint32_t i = 0; i < SEGMENTS; i++) {
        least = came[i] < least ? came[i] : least;
        all += came[i];
    }
    assert_true(all < 100 * SEGMENTS); // something was left out
    assert_true(least >= 100 - 2 * 100 * (uint64_t)bound / DLCP_ALL);
}

static bool prio_all(void *aux, const float *values, uint32_t count, uint32_t segment) {
    (void)aux, (void)values, (void)count, (void)segment;
    return true;
}

static bool prio_most(void *aux, const float *values, uint32_t count, uint32_t segment) {
    (void)aux, (void)values, (void)count;
    return segment % 20 != 0;
}

static bool prio_front(void *aux, const float *values, uint32_t count, uint32_t segment) {
    (void)aux, (void)values, (void)count;
    return segment < 250;
}

static void test_every_element_comes(void **state) {
    (void)state;
    fair_iterations(100000, false, NULL);
    fair_iterations(100000, true, NULL);
    fair_iterations(100000, true, prio_all);
    fair_iterations(100000, true, prio_most);
    fair_iterations(100000, true, prio_front);
    fair_iterations(10000, true, NULL);
    fair_iterations(300000, true, prio_front);
}

static void test_important_first(void **state) {
    struct pair p;
    struct dlcp_packet packet;
    bool others = false;
    (void)state;
    pair_init(&p, 5, 500 * SEGMENT, SEGMENT);
    p.to_send.prio = prio_front;
    pair_begin(&p);
    assert_int_equal(dlcp_sender_marked(p.sender), 250);
    for (unsigned n = 0; n < 500;) {
        p.now += PAIR_MS;
        if (!dlcp_sender_next(p.sender, p.now, &packet) || packet.kind != DLCP_DATA)
            continue;
        assert_int_equal(packet.important, packet.offset < 250 * SEGMENT);
        others |= !packet.important;
        assert_int_equal(packet.important, !others);
        n++;
    }
    pair_end(&p);
}

// ---- the rate ----

// Reports of 'came' bytes in a period, every period, while the sender sends as it may.
static void report(struct pair *p, uint32_t *number, uint32_t came) {
    struct dlcp_packet packet;
    for (uint64_t end = p->now + p->to_send.period; p->now < end;) {
        while (dlcp_sender_next(p->sender, p->now, &packet))
            continue;
        const uint64_t at = dlcp_sender_deadline(p->sender);
        p->now = at < end ? (at > p->now ? at : p->now + 1) : end;
    }
    packet = (struct dlcp_packet){
        .name = p->to_send.name, .kind = DLCP_RATE, .count = 2, .sequence = (*number)++};
    packet.entry[0] = (struct dlcp_entry){came, (uint32_t)p->to_send.period};
    assert_int_equal(dlcp_sender_hear(p->sender, &packet, p->now), DLCP_ACCEPTED);
}

static void test_rate(void **state) {
    const uint64_t link = UINT64_C(10000000000);
    struct pair p;
    uint32_t number = 5;
    (void)state;
    pair_init(&p, 6, 363 * 50000, DLCP_ELEMENTS);
    pair_begin_sender(&p);
    assert_int_equal(dlcp_sender_rate(p.sender), link);
    report(&p, &number, 250000); // all of it came
    report(&p, &number, 250000);
    report(&p, &number, 130000); // half and more: as it was
    assert_int_equal(dlcp_sender_rate(p.sender), link);
    report(&p, &number, 120000);
    assert_int_equal(dlcp_sender_rate(p.sender), link / 2);
    report(&p, &number, 110000);
    assert_int_equal(dlcp_sender_rate(p.sender), link / 2 + link / 20);
    for (int i = 0; i < 10; i++)
        report(&p, &number, 0);
    assert_int_equal(dlcp_sender_rate(p.sender), link / 100);
    for (int i = 0; i < 30; i++)
        report(&p, &number, 250000);
    assert_int_equal(dlcp_sender_rate(p.sender), link);
    assert_true(dlcp_sender_stats(p.sender).least > 0);
    pair_end(&p);
}

// A round of repetitions begins at the link's rate, marked, with what is missing alone.
static void test_round_at_link_rate(void **state) {
    struct pair p;
    struct dlcp_packet packet;
    uint32_t number = 5;
    (void)state;
    pair_init(&p, 7, 363 * 1000, DLCP_ELEMENTS);
    pair_begin_sender(&p);
    for (int i = 0; i < 4; i++)
        report(&p, &number, 0);
    assert_true(dlcp_sender_rate(p.sender) < p.to_send.link);
    while (dlcp_sender_state(p.sender) == DLCP_SENDER_SENDING)
        if (!dlcp_sender_next(p.sender, p.now, &packet))
            p.now += 1000;
    packet = (struct dlcp_packet){
        .name = p.to_send.name, .kind = DLCP_MISSING, .count = 1, .sequence = 99};
    packet.entry[0] = (struct dlcp_entry){363 * 10, 363 * 2};
    assert_int_equal(dlcp_sender_hear(p.sender, &packet, p.now), DLCP_ACCEPTED);
    assert_int_equal(dlcp_sender_rate(p.sender), p.to_send.link);
    unsigned data = 0, stops = 0;
    for (int i = 0; i < 100; i++, p.now += 10000)
        while (dlcp_sender_next(p.sender, p.now, &packet)) {
            stops += packet.kind == DLCP_STOP;
            if (packet.kind != DLCP_DATA)
                continue;
            assert_true(packet.important && packet.again);
            assert_int_equal(packet.offset, 363 * (10 + data));
            data++;
        }
    assert_int_equal(data, 2);
    assert_true(stops > 0);
    pair_end(&p);
}

// A dead path: its port is left, so that less than its share is lost in a long flow.
static void test_leaves_paths(void **state) {
    struct pair p;
    (void)state;
    pair_init(&p, 8, 363 * 20000, DLCP_ELEMENTS);
    dlcp_peer_init(&p.peer[PAIR_SENDER], 50000, 4, PAIR_MS, PAIR_MS / 10, 50 * PAIR_MS);
    p.dead_port = 50002;
    p.to_send.bound = p.to_receive.bound = 0;
    pair_begin(&p);
    pair_run(&p, 10 * PAIR_S);
    pair_check(&p);
    assert_int_equal(dlcp_receiver_state(p.receiver), DLCP_RECEIVER_OVER);
    assert_int_equal(p.peer[PAIR_SENDER].left, 1);
    assert_true(p.lost < 2000);
    pair_end(&p);
}

// ---- what is refused ----

static struct dlcp_packet start_packet(const struct pair *p) {
    struct dlcp_packet s = {.name = p->to_send.name, .kind = DLCP_START, .count = 3, .sequence = 1};
    s.entry[0] = (struct dlcp_entry){p->to_send.elements, p->to_send.bound};
    s.entry[1] = (struct dlcp_entry){p->to_send.segment, p->to_send.nonce};
    s.entry[2] = (struct dlcp_entry){50000, 1};
    return s;
}

static struct dlcp_packet data_packet(const struct pair *p, uint32_t offset, uint16_t count) {
    static const uint8_t wire[DLCP_ELEMENTS * 4];
    return (struct dlcp_packet){.name = p->to_send.name,
                                .kind = DLCP_DATA,
                                .offset = offset,
                                .count = count,
                                .contributions = 1,
                                .port = 50000,
                                .wire = wire};
}

static void refused_start(struct pair *p, unsigned entry, bool second, uint32_t value,
                          enum dlcp_reason reason) {
    struct dlcp_packet s = start_packet(p);
    *(second ? &s.entry[entry].b : &s.entry[entry].a) = value;
    assert_int_equal(dlcp_receiver_hear(p->receiver, &s, p->now), reason);
    assert_int_equal(dlcp_receiver_stats(p->receiver).refused[reason] > 0, reason != DLCP_ACCEPTED);
    assert_int_equal(dlcp_receiver_state(p->receiver), DLCP_RECEIVER_WAITING);
}

static void test_receiver_refuses_starts(void **state) {
    struct pair p;
    (void)state;
    pair_init(&p, 10, 95, SEGMENT);
    pair_begin_receiver(&p);
    struct dlcp_packet s = start_packet(&p), stop = {.name = s.name, .kind = DLCP_STOP};
    struct dlcp_packet data = data_packet(&p, 0, SEGMENT);
    assert_int_equal(dlcp_receiver_hear(p.receiver, &data, 0), DLCP_NOT_STARTED);
    assert_int_equal(dlcp_receiver_hear(p.receiver, &stop, 0), DLCP_NOT_STARTED);
    refused_start(&p, 0, false, 96, DLCP_OTHER_SIZE);
    refused_start(&p, 0, false, 0, DLCP_OTHER_SIZE);
    refused_start(&p, 1, false, 11, DLCP_OTHER_SIZE);
    refused_start(&p, 0, true, DLCP_ALL, DLCP_BAD_BOUND);
    refused_start(&p, 0, true, UINT32_MAX, DLCP_BAD_BOUND);
    refused_start(&p, 2, true, 17, DLCP_BAD_ENTRIES);
    refused_start(&p, 2, true, 0, DLCP_BAD_ENTRIES);
    refused_start(&p, 2, false, 65536, DLCP_BAD_ENTRIES);
    s.count = 2;
    assert_int_equal(dlcp_receiver_hear(p.receiver, &s, 0), DLCP_BAD_ENTRIES);
    s = start_packet(&p);
    s.name.iteration++;
    assert_int_equal(dlcp_receiver_hear(p.receiver, &s, 0), DLCP_UNKNOWN_FLOW);
    s = start_packet(&p);
    assert_int_equal(dlcp_receiver_hear(p.receiver, &s, 0), DLCP_ACCEPTED);
    assert_int_equal(dlcp_receiver_hear(p.receiver, &s, 0), DLCP_NOT_EXPECTED); // once more
    assert_int_equal(dlcp_receiver_state(p.receiver), DLCP_RECEIVER_RECEIVING);
    s.entry[1].b++; // the sender has begun again
    assert_int_equal(dlcp_receiver_hear(p.receiver, &s, 0), DLCP_OTHER_START);
    assert_int_equal(dlcp_receiver_state(p.receiver), DLCP_RECEIVER_FAILED);
    pair_end(&p);
}

static void refused_data(struct pair *p, uint32_t offset, uint16_t count, enum dlcp_reason reason) {
    struct dlcp_packet d = data_packet(p, offset, count);
    const uint32_t there = dlcp_receiver_elements(p->receiver);
    assert_int_equal(dlcp_receiver_hear(p->receiver, &d, 0), reason);
    assert_int_equal(dlcp_receiver_elements(p->receiver), there);
}

static void test_receiver_refuses_data(void **state) {
    struct pair p;
    (void)state;
    pair_init(&p, 11, 95, SEGMENT);
    pair_begin_receiver(&p);
    struct dlcp_packet s = start_packet(&p), d = data_packet(&p, 90, 5);
    dlcp_receiver_hear(p.receiver, &s, 0);
    refused_data(&p, 90, 10, DLCP_OUTSIDE);
    refused_data(&p, 100, 10, DLCP_OUTSIDE);
    refused_data(&p, UINT32_MAX - 3, 10, DLCP_OUTSIDE); // it would wrap
    refused_data(&p, 5, 10, DLCP_MISALIGNED);
    refused_data(&p, 0, 9, DLCP_MISALIGNED);
    refused_data(&p, 0, 20, DLCP_MISALIGNED);
    refused_data(&p, 90, 4, DLCP_MISALIGNED);
    d.contributions = 0;
    assert_int_equal(dlcp_receiver_hear(p.receiver, &d, 0), DLCP_NO_CONTRIBUTIONS);
    d.contributions = 3;
    assert_int_equal(dlcp_receiver_hear(p.receiver, &d, 0), DLCP_ACCEPTED);
    assert_int_equal(p.contributions[9], 3);
    refused_data(&p, 90, 5, DLCP_DUPLICATE);
    d.kind = DLCP_MISSING;
    assert_int_equal(dlcp_receiver_hear(p.receiver, &d, 0), DLCP_WRONG_WAY);
    for (uint32_t i = 0; i < 9; i++) {
        d = data_packet(&p, i * SEGMENT, SEGMENT);
        assert_int_equal(dlcp_receiver_hear(p.receiver, &d, 0), DLCP_ACCEPTED);
    }
    assert_true(dlcp_receiver_is_complete(p.receiver));
    struct dlcp_packet finished = {.name = s.name, .kind = DLCP_FINISHED, .sequence = 9};
    assert_int_equal(dlcp_receiver_hear(p.receiver, &finished, 0), DLCP_ACCEPTED);
    assert_int_equal(dlcp_receiver_state(p.receiver), DLCP_RECEIVER_OVER);
    refused_data(&p, 0, SEGMENT, DLCP_TOO_LATE);
    pair_end(&p);
}

static void test_receiver_refuses_signals(void **state) {
    struct pair p;
    (void)state;
    pair_init(&p, 12, 95, SEGMENT);
    pair_begin_receiver(&p);
    struct dlcp_packet s = start_packet(&p);
    dlcp_receiver_hear(p.receiver, &s, 0);
    struct dlcp_packet x = {.name = s.name, .kind = DLCP_FINISHED};
    assert_int_equal(dlcp_receiver_hear(p.receiver, &x, 0), DLCP_NOT_EXPECTED);
    x.kind = DLCP_ACK;
    x.sequence = p.to_receive.nonce; // of a signal that was not sent
    assert_int_equal(dlcp_receiver_hear(p.receiver, &x, 0), DLCP_NOT_EXPECTED);
    for (unsigned kind = DLCP_STOP; kind <= DLCP_ACK; kind++) {
        x = (struct dlcp_packet){.name = s.name, .kind = (enum dlcp_kind)kind, .count = 1};
        const enum dlcp_reason reason = dlcp_receiver_hear(p.receiver, &x, 0);
        assert_int_equal(reason, kind == DLCP_STOP || kind == DLCP_FINISHED || kind == DLCP_ACK
                                     ? DLCP_BAD_ENTRIES
                                     : DLCP_WRONG_WAY);
    }
    pair_end(&p);
}

static void refused_missing(struct pair *p, const struct dlcp_entry *entries, uint16_t n,
                            enum dlcp_reason reason) {
    struct dlcp_packet m = {
        .name = p->to_send.name, .kind = DLCP_MISSING, .count = n, .sequence = 50};
    if (n)
        memcpy(m.entry, entries, n * sizeof *entries);
    assert_int_equal(dlcp_sender_hear(p->sender, &m, p->now), reason);
    assert_int_equal(dlcp_sender_stats(p->sender).rounds, reason == DLCP_ACCEPTED);
}

static void test_sender_refuses(void **state) {
    struct pair p;
    struct dlcp_packet packet;
    (void)state;
    pair_init(&p, 13, 95, SEGMENT);
    pair_begin_sender(&p);
    refused_missing(&p, (const struct dlcp_entry[]){{0, 10}}, 1, DLCP_NOT_EXPECTED); // not stopped
    while (dlcp_sender_state(p.sender) == DLCP_SENDER_SENDING)
        if (!dlcp_sender_next(p.sender, p.now, &packet))
            p.now += 1000;
    refused_missing(&p, NULL, 0, DLCP_BAD_ENTRIES);
    refused_missing(&p, (const struct dlcp_entry[]){{0, 0}}, 1, DLCP_BAD_RANGE);
    refused_missing(&p, (const struct dlcp_entry[]){{0, 5}}, 1, DLCP_BAD_RANGE);
    refused_missing(&p, (const struct dlcp_entry[]){{5, 5}}, 1, DLCP_BAD_RANGE);
    refused_missing(&p, (const struct dlcp_entry[]){{90, 10}}, 1, DLCP_BAD_RANGE);
    refused_missing(&p, (const struct dlcp_entry[]){{100, 10}}, 1, DLCP_BAD_RANGE);
    refused_missing(&p, (const struct dlcp_entry[]){{90, UINT32_MAX - 84}}, 1, DLCP_BAD_RANGE);
    refused_missing(&p, (const struct dlcp_entry[]){{0, 20}, {10, 10}}, 2, DLCP_BAD_RANGE);
    refused_missing(&p, (const struct dlcp_entry[]){{20, 10}, {0, 10}}, 2, DLCP_BAD_RANGE);
    refused_missing(&p, (const struct dlcp_entry[]){{0, 20}, {90, 5}}, 2, DLCP_ACCEPTED);
    struct dlcp_packet x = {.name = p.to_send.name, .kind = DLCP_RATE, .count = 1, .sequence = 7};
    assert_int_equal(dlcp_sender_hear(p.sender, &x, p.now), DLCP_BAD_ENTRIES);
    x.count = 2; // in no time
    assert_int_equal(dlcp_sender_hear(p.sender, &x, p.now), DLCP_BAD_ENTRIES);
    x.entry[0].b = 200000;
    assert_int_equal(dlcp_sender_hear(p.sender, &x, p.now), DLCP_ACCEPTED);
    assert_int_equal(dlcp_sender_hear(p.sender, &x, p.now), DLCP_NOT_EXPECTED); // not a later one
    x.kind = DLCP_START;
    assert_int_equal(dlcp_sender_hear(p.sender, &x, p.now), DLCP_WRONG_WAY);
    x.kind = DLCP_DATA;
    assert_int_equal(dlcp_sender_hear(p.sender, &x, p.now), DLCP_WRONG_WAY);
    x.kind = DLCP_FINISH;
    assert_int_equal(dlcp_sender_hear(p.sender, &x, p.now), DLCP_BAD_ENTRIES);
    x.kind = DLCP_ACK;
    x.count = 0;
    x.sequence = 12345;
    assert_int_equal(dlcp_sender_hear(p.sender, &x, p.now), DLCP_NOT_EXPECTED);
    x.name.job++;
    assert_int_equal(dlcp_sender_hear(p.sender, &x, p.now), DLCP_UNKNOWN_FLOW);
    pair_end(&p);
}

static void refused_configs(const char **why, struct dlcp_sender_config c) {
    struct dlcp_sender *s = NULL;
    assert_int_equal(dlcp_sender_new(&s, &c, 0, why), SILKEN_ERR_INVALID);
    assert_non_null(*why);
}

static void test_configurations(void **state) {
    struct pair p;
    const char *why;
    (void)state;
    pair_init(&p, 14, 95, SEGMENT);
    p.to_send.peer = &p.peer[0];
    struct dlcp_sender_config c = p.to_send;
    c.bound = DLCP_ALL;
    refused_configs(&why, c);
    c = p.to_send, c.elements = 0;
    refused_configs(&why, c);
    c = p.to_send, c.segment = 364;
    refused_configs(&why, c);
    c = p.to_send, c.class = 7;
    refused_configs(&why, c);
    c = p.to_send, c.peer = NULL;
    refused_configs(&why, c);
    struct dlcp_receiver *r = NULL;
    struct dlcp_receiver_config rc = p.to_receive;
    rc.peer = &p.peer[1];
    rc.bound = DLCP_ALL;
    assert_int_equal(dlcp_receiver_new(&r, &rc, 0, &why), SILKEN_ERR_INVALID);
    rc.bound = 0, rc.elements = 0;
    assert_int_equal(dlcp_receiver_new(&r, &rc, 0, &why), SILKEN_ERR_INVALID);
    pair_end(&p);
}

// The stricter bound of both ends counts.
static void test_stricter_bound(void **state) {
    (void)state;
    for (int strict = 0; strict < 2; strict++) {
        struct pair p;
        pair_init(&p, 15, 363 * 100, DLCP_ELEMENTS);
        p.to_send.bound = strict ? 500000 : 0;
        p.to_receive.bound = strict ? 0 : 500000;
        p.link.loss = 0.2;
        pair_begin(&p);
        pair_run(&p, 10 * PAIR_S);
        assert_int_equal(dlcp_receiver_elements(p.receiver), 363 * 100);
        pair_end(&p);
    }
}

// The other end is gone: an error after the limit.
static void test_gone(void **state) {
    struct pair p;
    (void)state;
    pair_init(&p, 16, 363 * 100, DLCP_ELEMENTS);
    pair_begin_sender(&p);
    pair_run(&p, 60 * PAIR_S);
    assert_int_equal(dlcp_sender_state(p.sender), DLCP_SENDER_FAILED);
    dlcp_sender_free(p.sender);
    p.sender = NULL;
    pair_begin_receiver(&p);
    pair_run(&p, 120 * PAIR_S);
    assert_int_equal(dlcp_receiver_state(p.receiver), DLCP_RECEIVER_FAILED);
    pair_end(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_loss),
        cmocka_unit_test(test_finish_stops),
        cmocka_unit_test(test_small_tensors_are_whole),
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_inflated_round_trip),
        cmocka_unit_test(test_stop_overtakes),
        cmocka_unit_test(test_every_element_comes),
        cmocka_unit_test(test_important_first),
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_round_at_link_rate),
        cmocka_unit_test(test_leaves_paths),
        cmocka_unit_test(test_receiver_refuses_starts),
        cmocka_unit_test(test_receiver_refuses_data),
        cmocka_unit_test(test_receiver_refuses_signals),
        cmocka_unit_test(test_sender_refuses),
        cmocka_unit_test(test_configurations),
        cmocka_unit_test(test_stricter_bound),
        cmocka_unit_test(test_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

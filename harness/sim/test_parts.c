// SPDX-License-Identifier: Apache-2.0
//
// The simulator's small parts: the queue of events, links and what goes wrong on them, traces.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/events.h"
#include "sim/link.h"

// ---- events ----

struct heard {
    struct sim_events *events;
    int what[64];
    uint64_t when[64];
    int n;
};

static void hear(void *who, void *what) {
    struct heard *h = who;
    h->when[h->n] = h->events->now;
    h->what[h->n++] = (int)(intptr_t)what;
}

static void test_events_happen_in_order(void **state) {
    struct sim_events e = {0};
    struct heard h = {.events = &e};
    (void)state;
    sim_at(&e, 30, hear, &h, (void *)3);
    sim_at(&e, 10, hear, &h, (void *)1);
    sim_at(&e, 20, hear, &h, (void *)2);
    sim_at(&e, SIM_NEVER, hear, &h, (void *)9);
    while (sim_step(&e))
        ;
    assert_int_equal(h.n, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(h.what[i], i + 1);
        assert_int_equal(h.when[i], 10 * (i + 1));
    }
    assert_int_equal(e.ran, 3);
    sim_events_free(&e);
}

static void test_ties_are_broken_by_the_order_of_asking(void **state) {
    struct sim_events e = {0};
    struct heard h = {.events = &e};
    (void)state;
    for (intptr_t i = 0; i < 40; i++)
        sim_at(&e, i % 2 ? 5 : 7, hear, &h, (void *)i);
    while (sim_step(&e))
        ;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(h.what[i], 2 * i + 1);
        assert_int_equal(h.what[20 + i], 2 * i);
    }
    sim_events_free(&e);
}

static void test_many_events_come_out_sorted(void **state) {
    struct sim_events e = {0};
    struct sim_random r = sim_random_of(1, "events");
    struct heard h = {.events = &e};
    uint64_t last = 0;
    (void)state;
    for (int i = 0; i < 5000; i++)
        sim_at(&e, sim_random_below(&r, 1000), hear, &h, NULL);
    while (e.n) {
        h.n = 0;
        sim_step(&e);
        assert_true(e.now >= last);
        last = e.now;
        if (sim_random_chance(&r, 0.3))
            sim_at(&e, e.now + sim_random_below(&r, 50), hear, &h, NULL);
    }
    assert_int_equal(e.late, 0);
    sim_events_free(&e);
}

static void test_what_was_to_happen_in_the_past_is_counted(void **state) {
    struct sim_events e = {.now = 100};
    struct heard h = {.events = &e};
    (void)state;
    sim_at(&e, 99, hear, &h, NULL);
    assert_int_equal(e.late, 1);
    sim_step(&e);
    assert_int_equal(h.when[0], 100); // and time has not gone back
    sim_events_free(&e);
}

static void test_timer_fires_once_at_the_earliest_time(void **state) {
    struct sim_events e = {0};
    struct heard h = {.events = &e};
    struct sim_timer t;
    (void)state;
    sim_timer_init(&t, &e, hear, &h);
    sim_timer_set(&t, 50);
    sim_timer_set(&t, 20);
    sim_timer_set(&t, 30);
    while (sim_step(&e))
        ;
    assert_int_equal(h.n, 1);
    assert_int_equal(h.when[0], 20);
    sim_timer_set(&t, 60);
    while (sim_step(&e))
        ;
    assert_int_equal(h.n, 2);
    assert_int_equal(h.when[1], 60);
    sim_events_free(&e);
}

// ---- links ----

#define LENGTH 101 // + 24 = 125 bytes: 1000 bits, 1000 ns at 1 Gbps

struct wire {
    struct sim_events events;
    struct sim_frames frames;
    struct sim_trace trace;
    struct sim_link link;
    uint64_t when[4096];
    uint8_t mark[4096]; // the frame's first byte
    uint32_t n, changed;
    bool refuse;
};

static bool receive(void *station, uint32_t port, const uint8_t *bytes, uint32_t length) {
    struct wire *w = station;
    assert_int_equal(port, 7);
    assert_int_equal(length, LENGTH);
    if (w->refuse)
        return false;
    w->when[w->n] = w->events.now;
    w->mark[w->n++] = bytes[0];
    for (uint32_t i = 1; i < length; i++)
        w->changed += bytes[i] != 0xab;
    return true;
}

static struct wire *new_wire(void) {
    struct wire *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->link = (struct sim_link){.name = "a>b",
                                .rate_mbps = 1000,
                                .delay_ns = 5000,
                                .deliver = receive,
                                .station = w,
                                .port = 7};
    return w;
}

static void begin(struct wire *w) {
    sim_link_init(&w->link, &w->events, &w->frames, &w->trace, 1);
}

static void put(struct wire *w, uint8_t mark) {
    uint8_t frame[LENGTH];
    memset(frame, 0xab, sizeof frame);
    frame[0] = mark;
    sim_link_send(&w->link, frame, sizeof frame);
    assert_true(sim_link_conserves(&w->link));
}

static void run(struct wire *w) {
    while (sim_step(&w->events))
        assert_true(sim_link_conserves(&w->link));
    assert_int_equal(w->link.stats.in_flight, 0);
}

static void end(struct wire *w) {
    sim_events_free(&w->events);
    sim_frames_free(&w->frames);
    free(w);
}

static void test_link_has_rate_and_delay(void **state) {
    struct wire *w = new_wire();
    (void)state;
    begin(w);
    put(w, 1);
    put(w, 2);
    assert_int_equal(sim_link_backlog(&w->link), 250);
    run(w);
    assert_int_equal(w->n, 2);
    assert_int_equal(w->when[0], 6000);
    assert_int_equal(w->when[1], 7000);
    assert_int_equal(w->link.stats.busy_ns, 2000);
    assert_int_equal(w->link.stats.delivered_bytes, 2 * LENGTH);
    end(w);
}

static void test_link_without_rate_takes_no_time(void **state) {
    struct wire *w = new_wire();
    (void)state;
    w->link.rate_mbps = 0;
    begin(w);
    put(w, 1);
    put(w, 2);
    run(w);
    assert_int_equal(w->when[0], 5000);
    assert_int_equal(w->when[1], 5000);
    assert_int_equal(w->mark[1], 2);
    end(w);
}

static void test_what_does_not_fit_into_the_queue_is_lost(void **state) {
    struct wire *w = new_wire();
    (void)state;
    w->link.queue_bytes = 360; // the first takes 125 with all around it, the second too
    begin(w);
    for (uint8_t i = 1; i <= 4; i++)
        put(w, i);
    run(w);
    assert_int_equal(w->n, 3); // 250 + 101 fit, 375 + 101 do not
    assert_int_equal(w->link.stats.lost[SIM_LOST_QUEUE], 1);
    assert_int_equal(w->mark[2], 3);
    assert_int_equal(w->link.stats.most_queued, 351);
    end(w);
}

static void test_frames_are_lost_by_number(void **state) {
    static const uint32_t lose[] = {1, 3, 4};
    struct wire *w = new_wire();
    (void)state;
    w->link.faults.lose = lose;
    w->link.faults.n_lose = 3;
    begin(w);
    for (uint8_t i = 1; i <= 5; i++)
        put(w, i);
    run(w);
    assert_int_equal(w->n, 2);
    assert_int_equal(w->mark[0], 2);
    assert_int_equal(w->mark[1], 5);
    assert_int_equal(w->link.stats.lost[SIM_LOST_LOSS], 3);
    end(w);
}

static void test_frames_are_lost_by_rate(void **state) {
    struct wire *w = new_wire();
    (void)state;
    w->link.faults.loss = 0.25;
    begin(w);
    for (int i = 0; i < 4000; i++)
        put(w, 1);
    run(w);
    assert_in_range(w->link.stats.lost[SIM_LOST_LOSS], 900, 1100); // 1000, deviation 27
    end(w);
}

static void test_a_copy_follows_its_frame(void **state) {
    struct wire *w = new_wire();
    (void)state;
    w->link.faults.duplicate = 1;
    begin(w);
    put(w, 1);
    put(w, 2);
    run(w);
    assert_int_equal(w->n, 4);
    assert_int_equal(w->mark[0], 1);
    assert_int_equal(w->mark[1], 1);
    assert_int_equal(w->mark[2], 2);
    assert_int_equal(w->when[1], 6000); // no time on the wire
    assert_int_equal(w->when[2], 7000);
    assert_int_equal(w->link.stats.duplicated, 2);
    end(w);
}

static void test_late_frames_are_overtaken(void **state) {
    struct wire *w = new_wire();
    bool overtaken = false;
    (void)state;
    w->link.faults.reorder = 0.2;
    w->link.faults.reorder_ns = 20000;
    begin(w);
    for (uint8_t i = 0; i < 200; i++)
        put(w, i);
    run(w);
    assert_int_equal(w->n, 200);
    for (uint32_t i = 1; i < w->n; i++)
        overtaken |= w->mark[i] < w->mark[i - 1];
    assert_true(overtaken);
    assert_in_range(w->link.stats.reordered, 15, 70);
    end(w);
}

static void test_damage_is_found_by_the_next_station(void **state) {
    struct wire *w = new_wire();
    (void)state;
    w->link.faults.corrupt = 1;
    begin(w);
    put(w, 1);
    run(w);
    assert_int_equal(w->n, 0);
    assert_int_equal(w->link.stats.lost[SIM_LOST_CORRUPT], 1);
    end(w);
}

static void test_undetected_damage_is_one_bit(void **state) {
    struct wire *w = new_wire();
    uint32_t marks = 0;
    (void)state;
    w->link.faults.corrupt = 1;
    w->link.faults.undetected = true;
    begin(w);
    for (int i = 0; i < 300; i++)
        put(w, 0);
    run(w);
    assert_int_equal(w->n, 300);
    for (int i = 0; i < 300; i++)
        marks += w->mark[i] != 0;
    assert_int_equal(w->changed + marks, 300); // one byte of each frame
    end(w);
}

static void go_down(void *who, void *what) {
    (void)what;
    sim_link_set_down(who, true);
}

static void test_a_link_that_goes_down_loses_what_is_on_it(void **state) {
    struct wire *w = new_wire();
    (void)state;
    begin(w);
    put(w, 1);
    put(w, 2);
    sim_at(&w->events, 6500, go_down, &w->link, NULL);
    run(w);
    assert_int_equal(w->n, 1);
    put(w, 3);
    assert_int_equal(w->link.stats.lost[SIM_LOST_DOWN], 2);
    sim_link_set_down(&w->link, false);
    put(w, 4);
    run(w);
    assert_int_equal(w->n, 2);
    assert_int_equal(w->mark[1], 4);
    end(w);
}

static void test_a_station_that_is_not_there_loses_frames(void **state) {
    struct wire *w = new_wire();
    (void)state;
    w->refuse = true;
    begin(w);
    put(w, 1);
    run(w);
    assert_int_equal(w->link.stats.lost[SIM_LOST_STATION], 1);
    assert_int_equal(w->link.stats.delivered, 0);
    end(w);
}

static void test_conservation_notices_a_frame_that_is_missing(void **state) {
    struct wire *w = new_wire();
    (void)state;
    begin(w);
    put(w, 1);
    run(w);
    w->link.stats.delivered--;
    assert_false(sim_link_conserves(&w->link));
    end(w);
}

// ---- random numbers, traces ----

static void test_random_numbers_are_of_seed_and_name(void **state) {
    struct sim_random a = sim_random_of(1, "a"), again = sim_random_of(1, "a"),
                      b = sim_random_of(1, "b"), c = sim_random_of(2, "a");
    (void)state;
    const uint64_t x = sim_random_next(&a);
    assert_true(x == sim_random_next(&again));
    assert_true(x != sim_random_next(&b));
    assert_true(x != sim_random_next(&c));
}

static void test_trace_tells_of_one_fragment(void **state) {
    struct sim_trace t;
    uint8_t frame[306] = {[12] = 8, [23] = 17, [36] = 0xa7, [37] = 0x90};
    char *text = NULL;
    size_t length;
    (void)state;
    sim_trace_init(&t, 64, NULL);
    frame[54] = 3; // job
    for (uint8_t i = 0; i < 100; i++) {
        frame[57] = i % 10;
        sim_trace_add(&t, i, "h0>s0", "sends", frame, sizeof frame);
    }
    const struct sim_key key = sim_key_of(frame, sizeof frame);
    assert_int_equal(key.protocol, SIM_ATP);
    assert_int_equal(key.job, 3);
    assert_int_equal(key.number, 9);
    FILE *f = open_memstream(&text, &length);
    sim_trace_print(&t, &key, 3, f);
    fclose(f);
    int lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 3);
    assert_non_null(strstr(text, "0.099 us"));
    assert_non_null(strstr(text, "job 3 fragment 9"));
    assert_null(strstr(text, "fragment 8"));
    free(text);
    assert_int_equal(sim_key_of(frame, 50).protocol, SIM_OTHER);
    sim_trace_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_happen_in_order),
        cmocka_unit_test(test_ties_are_broken_by_the_order_of_asking),
        cmocka_unit_test(test_many_events_come_out_sorted),
        cmocka_unit_test(test_what_was_to_happen_in_the_past_is_counted),
        cmocka_unit_test(test_timer_fires_once_at_the_earliest_time),
        cmocka_unit_test(test_link_has_rate_and_delay),
        cmocka_unit_test(test_link_without_rate_takes_no_time),
        cmocka_unit_test(test_what_does_not_fit_into_the_queue_is_lost),
        cmocka_unit_test(test_frames_are_lost_by_number),
        cmocka_unit_test(test_frames_are_lost_by_rate),
        cmocka_unit_test(test_a_copy_follows_its_frame),
        cmocka_unit_test(test_late_frames_are_overtaken),
        cmocka_unit_test(test_damage_is_found_by_the_next_station),
        cmocka_unit_test(test_undetected_damage_is_one_bit),
        cmocka_unit_test(test_a_link_that_goes_down_loses_what_is_on_it),
        cmocka_unit_test(test_a_station_that_is_not_there_loses_frames),
        cmocka_unit_test(test_conservation_notices_a_frame_that_is_missing),
        cmocka_unit_test(test_random_numbers_are_of_seed_and_name),
        cmocka_unit_test(test_trace_tells_of_one_fragment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

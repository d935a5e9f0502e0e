// SPDX-License-Identifier: Apache-2.0
//
// The inside port: what the control thread gives the switch receives, what the switch sends there
// the control thread takes, in order, each once; what there is no room for is counted.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "harness/pipeline/toy_program.h"
#include "pipeline/cores/lcores.h"
#include "pipeline/ports/ports.h"

#define CPU     64u
#define RING    1024u
#define FRAMES  20000u
#define MARK_AT 40u

struct bench {
    struct sk_program *prog;
    struct sk_switch *sw;
    struct sk_ports *ports;
    struct sk_lcores *lcores;
    uint32_t given, taken, slept;
    bool wrong;
};

static int setup(void **state) {
    return toy_setup(state, sizeof(struct bench));
}

static void open_bench(struct bench *b, unsigned n_cores) {
    char error[512] = "";
    const struct sk_port_spec spec = {.dev_port = CPU, .device = SK_PORTS_INSIDE};
    const struct sk_ports_options ports = {.cpu = -1};
    struct sk_switch_options opt = {.tx = sk_ports_tx, .packet_bytes = SK_PORTS_FRAME};
    *b = (struct bench){.prog = b->prog};
    toy_spread(&opt, n_cores);
    b->ports = sk_ports_open(&spec, 1, &ports, error, sizeof error);
    if (!b->ports)
        fail_msg("%s", error);
    opt.aux = b->ports;
    b->sw = toy_switch(b->prog, &opt);
    sk_switch_port_up(b->sw, CPU, true);
    sk_ports_attach(b->ports, b->sw);
}

// Of the buffers none is lost.
static void close_bench(struct bench *b) {
    assert_int_equal(sk_ports_close(b->ports), 0);
    sk_switch_free(b->sw);
}

static void mark(uint8_t frame[64], uint16_t to, uint32_t number) {
    toy_frame(frame, &(struct toy_wish){.flags = TOY_UCAST, .ucast_port = to});
    memcpy(frame + MARK_AT, &number, sizeof number);
}

static uint32_t number_of(const struct sk_inside_frame *f) {
    uint32_t number;
    memcpy(&number, f->bytes + MARK_AT, sizeof number);
    return number;
}

// ---- by hand ----

static void test_there_and_back(void **state) {
    struct bench *b = *state;
    uint8_t frame[64];
    struct sk_inside_frame got[4];
    open_bench(b, 1);
    for (uint32_t i = 0; i < 3; i++) {
        mark(frame, CPU, i);
        assert_true(sk_ports_inside_give(b->ports, frame, sizeof frame));
    }
    assert_int_equal(sk_ports_inside_take(b->ports, got, 4), 0);
    assert_int_equal(sk_ports_poll(b->ports, 0, 1000), 3);
    assert_int_equal(sk_ports_inside_take(b->ports, got, 2), 2);
    assert_int_equal(got[0].length, 64);
    assert_int_equal(number_of(&got[0]), 0);
    assert_int_equal(number_of(&got[1]), 1);
    assert_int_equal(sk_ports_inside_take(b->ports, got, 4), 1);
    assert_int_equal(number_of(&got[0]), 2);
    assert_int_equal(sk_ports_inside_take(b->ports, got, 4), 0);
    struct sk_port_device device;
    assert_true(sk_ports_device(b->ports, CPU, &device));
    assert_string_equal(device.driver, "inside");
    assert_true(device.link && device.missed == 0);
    close_bench(b);
}

static void test_longest(void **state) {
    struct bench *b = *state;
    static uint8_t frame[SK_PORTS_FRAME + 1];
    struct sk_inside_frame got;
    open_bench(b, 1);
    mark(frame, CPU, 7);
    assert_false(sk_ports_inside_give(b->ports, frame, SK_PORTS_FRAME + 1));
    frame[SK_PORTS_FRAME - 1] = 0xa5;
    assert_true(sk_ports_inside_give(b->ports, frame, SK_PORTS_FRAME));
    sk_ports_poll(b->ports, 0, 1000);
    assert_int_equal(sk_ports_inside_take(b->ports, &got, 1), 1);
    assert_int_equal(got.length, SK_PORTS_FRAME);
    assert_int_equal(got.bytes[SK_PORTS_FRAME - 1], 0xa5);
    close_bench(b);
}

// Nobody takes: a ring and the port's queue are full, and all others are dropped by name.
static void test_nobody_takes(void **state) {
    struct bench *b = *state;
    uint8_t frame[64];
    struct sk_inside_frame got[RING];
    struct sk_switch_stats s;
    struct sk_port_device device;
    open_bench(b, 1);
    for (uint32_t i = 0; i < 4 * RING; i++) {
        mark(frame, CPU, i);
        assert_true(sk_ports_inside_give(b->ports, frame, sizeof frame));
        if (i % 16 == 15)
            sk_ports_poll(b->ports, 0, 1000);
    }
    sk_switch_stats(b->sw, &s);
    assert_int_equal(s.rx_packets, 4 * RING);
    assert_int_equal(s.tx_packets, RING + SK_PORTS_QUEUE);
    assert_int_equal(s.drops[SK_DROP_TX_FULL], 4 * RING - RING - SK_PORTS_QUEUE);
    // what waits comes in order
    assert_int_equal(sk_ports_inside_take(b->ports, got, RING), RING);
    assert_int_equal(number_of(&got[RING - 1]), RING - 1);
    // nobody receives
    for (uint32_t i = 0; i < RING; i++)
        assert_true(sk_ports_inside_give(b->ports, frame, sizeof frame));
    assert_false(sk_ports_inside_give(b->ports, frame, sizeof frame));
    assert_true(sk_ports_device(b->ports, CPU, &device));
    assert_int_equal(device.missed, 1);
    close_bench(b); // with all of that in it
}

static void test_without(void **state) {
    struct bench *b = *state;
    char error[512] = "";
    struct sk_inside_frame got;
    const struct sk_ports_options opt = {.cpu = -1};
    struct sk_port_spec specs[] = {{.dev_port = 1, .device = SK_PORTS_INSIDE},
                                   {.dev_port = 2, .device = SK_PORTS_INSIDE}};
    assert_null(sk_ports_open(specs, 2, &opt, error, sizeof error));
    assert_non_null(strstr(error, "port 2: there can be only one inside port"));
    specs[0].queues = 2;
    assert_null(sk_ports_open(specs, 1, &opt, error, sizeof error));
    assert_non_null(strstr(error, "port 1: an inside port receives on one queue"));
    b->ports = sk_ports_open(NULL, 0, &opt, error, sizeof error);
    assert_non_null(b->ports);
    assert_int_equal(sk_ports_inside_take(b->ports, &got, 1), 0);
    assert_false(sk_ports_inside_give(b->ports, (const uint8_t *)"", 1));
    assert_int_equal(sk_ports_inside_fd(b->ports), -1);
    assert_int_equal(sk_ports_close(b->ports), 0);
}

// ---- between threads ----

static bool turn(void *aux, unsigned lcore) {
    struct bench *b = aux;
    return sk_ports_poll(b->ports, lcore, 1000) > 0;
}
static bool enter(void *aux, unsigned lcore) {
    (void)aux, (void)lcore;
    return sk_ports_enter();
}
static void leave(void *aux, unsigned lcore) {
    (void)aux, (void)lcore;
    sk_ports_leave();
}

static void *control(void *aux) {
    struct bench *b = aux;
    struct sk_inside_frame got[32];
    uint8_t frame[64];
    while (b->taken < FRAMES) {
        for (unsigned i = 0; i < 8 && b->given < FRAMES; i++) {
            mark(frame, CPU, b->given);
            b->given += sk_ports_inside_give(b->ports, frame, sizeof frame);
        }
        unsigned n = sk_ports_inside_take(b->ports, got, 32);
        for (unsigned i = 0; i < n; i++)
            b->wrong |= number_of(&got[i]) != b->taken++;
        if (n > 0 || b->taken == FRAMES || !sk_ports_inside_sleep(b->ports))
            continue;
        struct pollfd fd = {.fd = sk_ports_inside_fd(b->ports), .events = POLLIN};
        b->wrong |= poll(&fd, 1, b->given > b->taken ? 10000 : 0) == 0 && b->given > b->taken;
        b->slept++;
    }
    sk_lcores_stop(b->lcores);
    return NULL;
}

static void test_threads(void **state) {
    struct bench *b = *state;
    char error[256] = "";
    pthread_t thread;
    for (unsigned n = 1; n <= 2; n++) {
        open_bench(b, n);
        b->lcores = sk_lcores_new(&(struct sk_lcores_options){.n = n,
                                                              .idle_sleep_us = 50,
                                                              .turn = turn,
                                                              .enter = enter,
                                                              .leave = leave,
                                                              .aux = b},
                                  error, sizeof error);
        assert_non_null(b->lcores);
        assert_int_equal(pthread_create(&thread, NULL, control, b), 0);
        if (!sk_lcores_run(b->lcores, error, sizeof error))
            fail_msg("%s", error);
        pthread_join(thread, NULL);
        sk_lcores_free(b->lcores);
        sk_switch_stop(b->sw, 1000);
        assert_false(b->wrong);
        assert_int_equal(b->taken, FRAMES);
        close_bench(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_longest),
        cmocka_unit_test(test_nobody_takes),   cmocka_unit_test(test_without),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, setup, toy_teardown);
}

// SPDX-License-Identifier: Apache-2.0
//
// test_station: a host's flows of DLCP together: whose a frame is, in which order they send, what
// comes early or late.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hosts/dlcp/dlcp.h"
#include "silken/error.h"

#define MS      UINT64_C(1000000)
#define SEGMENT 10u
#define COUNT   100u

struct two {
    struct dlcp_station *station[2];
    struct sk_endpoint end[2];
    uint64_t now;
    float values[COUNT], out[COUNT];
};

static void two_begin(struct two *t) {
    *t = (struct two){.now = MS};
    for (unsigned i = 0; i < 2; i++) {
        t->end[i] = (struct sk_endpoint){{2, 0, 0, 0, 0, (uint8_t)i}, DLCP_PORT, 0x0a000001u + i};
        const struct dlcp_station_config c = {.self = t->end[i],
                                              .first_port = 50000,
                                              .ports = 2,
                                              .link = UINT64_C(1000000000),
                                              .period = 200000,
                                              .rto_initial = 10 * MS,
                                              .rto_min = MS,
                                              .rto_max = 100 * MS,
                                              .hard_limit = 1000 * MS,
                                              .nonce = 0x7ffffff0u + i};
        const char *why;
        assert_int_equal(dlcp_station_new(&t->station[i], &c, &why), 0);
    }
    for (unsigned i = 0; i < COUNT; i++)
        t->values[i] = (float)i;
}

static void two_end(struct two *t) {
    dlcp_station_free(t->station[0]);
    dlcp_station_free(t->station[1]);
}

static struct dlcp_flow *two_send(struct two *t, uint16_t tensor, uint32_t iteration,
                                  uint8_t class) {
    const struct dlcp_sender_config c = {.name = {.iteration = iteration, .tensor = tensor},
                                         .values = t->values,
                                         .elements = COUNT,
                                         .segment = SEGMENT,
                                         .class = class,
                                         .contributions = 1};
    struct dlcp_flow *f;
    assert_int_equal(dlcp_station_send(t->station[0], &t->end[1], &c, NULL, t->now, &f, NULL), 0);
    return f;
}

static int two_try_recv(struct two *t, uint16_t tensor, uint32_t iteration, struct dlcp_flow **f) {
    const struct dlcp_receiver_config c = {.name = {.iteration = iteration, .tensor = tensor},
                                           .elements = COUNT,
                                           .segment = SEGMENT,
                                           .out = t->out};
    return dlcp_station_recv(t->station[1], &t->end[0], &c, NULL, t->now, f, NULL);
}

// Carries what station 'from' sends now; 'count' frames at most. Returns how many.
static unsigned two_carry(struct two *t, unsigned from, unsigned count, bool arrives) {
    uint8_t frame[DLCP_FRAME_BYTES];
    unsigned n = 0;
    size_t length;
    while (n < count &&
           (length = dlcp_station_write(t->station[from], frame, sizeof frame, t->now))) {
        if (arrives)
            dlcp_station_read(t->station[!from], frame, length, t->now);
        n++;
    }
    return n;
}

static void two_run(struct two *t, uint64_t span) {
    for (const uint64_t until = t->now + span; t->now < until; t->now += 10000) {
        two_carry(t, 0, 1000, true);
        two_carry(t, 1, 1000, true);
    }
}

static void test_transfer(void **state) {
    struct two t;
    struct dlcp_flow *in;
    (void)state;
    two_begin(&t);
    struct dlcp_flow *out = two_send(&t, 1, 7, 0);
    assert_int_equal(two_try_recv(&t, 1, 7, &in), 0);
    two_run(&t, 5 * MS);
    assert_ptr_equal(dlcp_station_done(t.station[0]), out);
    assert_ptr_equal(dlcp_station_done(t.station[1]), in);
    assert_null(dlcp_station_done(t.station[1]));
    assert_memory_equal(t.out, t.values, sizeof t.out);
    dlcp_station_give_back(t.station[0], out);
    dlcp_station_give_back(t.station[1], in);
    two_run(&t, MS);
    assert_false(dlcp_station_busy(t.station[0]));
    assert_false(dlcp_station_busy(t.station[1]));
    const struct dlcp_station_stats s = dlcp_station_stats(t.station[1]);
    assert_int_equal(s.came, 10);
    assert_int_equal(s.expected, 10);
    assert_int_equal(dlcp_station_stats(t.station[0]).segments, 10);
    two_end(&t);
}

// START and STOP come before anybody has asked: they are heard when somebody does. The data are
// lost, and come again.
static void test_early(void **state) {
    struct two t;
    struct dlcp_flow *in, *other;
    (void)state;
    two_begin(&t);
    assert_int_equal(two_try_recv(&t, 2, 7, &other), 0); // so that the peer is known
    two_send(&t, 1, 7, 0);
    for (unsigned i = 0; i < 100; i++, t.now += 10000)
        two_carry(&t, 0, 100, true);
    assert_int_equal(dlcp_station_stats(t.station[1]).refused[DLCP_UNKNOWN_FLOW], 10);
    assert_true(dlcp_station_stats(t.station[1]).refused[DLCP_NOT_STARTED] >= 2);
    assert_int_equal(two_try_recv(&t, 1, 7, &in), 0);
    assert_int_equal(dlcp_receiver_state(dlcp_flow_receiver(in)), DLCP_RECEIVER_RECEIVING);
    two_run(&t, 30 * MS);
    assert_ptr_equal(dlcp_station_done(t.station[1]), in);
    assert_memory_equal(t.out, t.values, sizeof t.out);
    two_end(&t);
}

// An iteration that is over.
static void test_old(void **state) {
    struct two t;
    struct dlcp_flow *in;
    (void)state;
    two_begin(&t);
    struct dlcp_flow *out = two_send(&t, 1, 7, 0);
    two_try_recv(&t, 1, 7, &in);
    two_run(&t, 5 * MS);
    dlcp_station_give_back(t.station[0], out);
    dlcp_station_give_back(t.station[1], in);
    two_run(&t, MS);
    out = two_send(&t, 1, 6, 0);
    two_carry(&t, 0, 2, true); // START, data
    assert_int_equal(dlcp_station_stats(t.station[1]).refused[DLCP_OLD], 2);
    dlcp_station_give_back(t.station[0], out);
    two_send(&t, 1, 8, 0);
    two_carry(&t, 0, 1, true);
    assert_int_equal(dlcp_station_stats(t.station[1]).refused[DLCP_NOT_STARTED], 1);
    assert_int_equal(dlcp_station_stats(t.station[1]).refused[DLCP_OLD], 2);
    two_end(&t);
}

// FINISHED comes again after its flow is forgotten: it is acknowledged all the same.
static void test_late(void **state) {
    struct two t;
    struct dlcp_flow *in;
    (void)state;
    two_begin(&t);
    struct dlcp_flow *out = two_send(&t, 1, 7, 0);
    two_try_recv(&t, 1, 7, &in);
    for (unsigned i = 0;
         i < 200 && dlcp_receiver_state(dlcp_flow_receiver(in)) < DLCP_RECEIVER_OVER;
         i++, t.now += 10000) {
        two_carry(&t, 0, 1000, true);
        if (dlcp_receiver_state(dlcp_flow_receiver(in)) < DLCP_RECEIVER_OVER)
            two_carry(&t, 1, 1000, true);
    }
    two_carry(&t, 1, 1000, false); // the ACK is lost
    dlcp_station_give_back(t.station[1], in);
    assert_false(dlcp_station_busy(t.station[1]));
    assert_int_equal(dlcp_sender_state(dlcp_flow_sender(out)), DLCP_SENDER_ENOUGH);
    t.now += 20 * MS;
    two_run(&t, MS);
    assert_int_equal(dlcp_sender_state(dlcp_flow_sender(out)), DLCP_SENDER_OVER);
    two_end(&t);
}

// Data of the front layer go first; both flows together are no faster than the link.
static void test_order(void **state) {
    struct two t;
    uint8_t frame[DLCP_FRAME_BYTES];
    unsigned data[2] = {0};
    (void)state;
    two_begin(&t);
    two_send(&t, 1, 7, 6);
    two_send(&t, 2, 7, 0);
    const uint64_t began = t.now;
    size_t length;
    for (; data[0] + data[1] < 20; t.now += 100)
        while ((length = dlcp_station_write(t.station[0], frame, sizeof frame, t.now))) {
            if (frame[42] >> 4 != DLCP_DATA)
                continue;
            const bool front = frame[15] >> 2 == 3;
            assert_true(front || data[1] == 10);
            data[front]++;
        }
    // 20 packets of 102 bytes at 1 Gbps take 16,320 ns
    assert_in_range(t.now - began, 15400, 17500);
    two_end(&t);
}

// Two flows of one class to one host go one after the other; another host's flow has every second
// packet meanwhile, and a front layer's only what its own host's would have had.
static void test_turns(void **state) {
    struct two t;
    struct dlcp_flow *f;
    uint8_t frame[DLCP_FRAME_BYTES];
    unsigned sent[4] = {0}, n = 0;
    size_t length;
    (void)state;
    two_begin(&t);
    const struct sk_endpoint third = {{2, 0, 0, 0, 0, 9}, DLCP_PORT, 0x0a000009u};
    const struct dlcp_sender_config c = {.name = {.iteration = 7, .tensor = 3},
                                         .values = t.values,
                                         .elements = COUNT,
                                         .segment = SEGMENT,
                                         .contributions = 1};
    two_send(&t, 1, 7, 4);
    two_send(&t, 2, 7, 4);
    assert_int_equal(dlcp_station_send(t.station[0], &third, &c, NULL, t.now, &f, NULL), 0);
    for (; n < 30; t.now += 100)
        while ((length = dlcp_station_write(t.station[0], frame, sizeof frame, t.now))) {
            if (frame[42] >> 4 != DLCP_DATA)
                continue;
            const unsigned tensor = (unsigned)(frame[44] << 8 | frame[45]);
            assert_in_range(tensor, 1, 3);
            sent[tensor]++;
            n++;
            assert_true(tensor != 2 || sent[1] == 10);
            if (n <= 20)
                assert_in_range(sent[3], n / 2, (n + 1) / 2);
        }
    two_end(&t);
}

static void test_refused(void **state) {
    struct two t;
    struct dlcp_flow *in, *again;
    struct dlcp_station *st;
    struct dlcp_station_config c = {.first_port = 65530, .ports = 16};
    const char *why = NULL;
    (void)state;
    assert_int_equal(dlcp_station_new(&st, &c, &why), SILKEN_ERR_INVALID);
    assert_non_null(why);
    two_begin(&t);
    assert_int_equal(two_try_recv(&t, 1, 7, &in), 0);
    assert_int_equal(two_try_recv(&t, 1, 7, &again), SILKEN_ERR_INVALID);
    dlcp_station_give_back(t.station[1], in);
    assert_int_equal(two_try_recv(&t, 1, 7, &again), 0);
    assert_null(dlcp_station_done(t.station[1]));
    t.now += 2000 * MS;
    two_run(&t, MS);
    assert_ptr_equal(dlcp_station_done(t.station[1]), again); // nobody sent anything
    assert_true(dlcp_flow_failed(again));
    two_end(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transfer), cmocka_unit_test(test_early), cmocka_unit_test(test_old),
        cmocka_unit_test(test_late),     cmocka_unit_test(test_order), cmocka_unit_test(test_turns),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

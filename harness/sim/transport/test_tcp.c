// SPDX-License-Identifier: Apache-2.0
//
// TCP's two ends (sim/transport/tcp.h): windows by hand, and whole transfers over a small network
// that loses what the test says, in virtual time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/random.h"
#include "sim/transport/tcp.h"

#define MSS 1000u
#define MS  UINT64_C(1000000)

static struct tcp_config config_of(enum tcp_control control) {
    return (struct tcp_config){.control = control,
                               .mss = MSS,
                               .initial_window = 10,
                               .duplicates = 3,
                               .rto_initial = 10 * MS,
                               .rto_min = 10 * MS,
                               .rto_max = 1000 * MS,
                               .cubic_c = 0.4};
}

static struct tcp_sender sender_of(enum tcp_control control, uint64_t segments) {
    const struct tcp_config c = config_of(control);
    struct tcp_sender s;
    tcp_sender_init(&s, &c);
    tcp_sender_add(&s, segments * MSS, 0);
    return s;
}

static unsigned send_all(struct tcp_sender *s, uint64_t now) {
    struct tr_segment t;
    unsigned n = 0;
    while (tcp_sender_next(s, now, &t))
        n++;
    return n;
}

// ---- windows ----

static void test_ten_segments_go_out_at_first(void **state) {
    struct tcp_sender s = sender_of(TCP_NEWRENO, 100);
    (void)state;
    assert_int_equal(send_all(&s, 0), 10);
    assert_int_equal(tcp_sender_deadline(&s), 10 * MS);
}

static void test_slow_start_doubles_in_a_round_trip(void **state) {
    struct tcp_sender s = sender_of(TCP_NEWRENO, 1000);
    uint64_t next = 0;
    (void)state;
    send_all(&s, 0);
    for (int i = 0; i < 10; i++)
        tcp_sender_ack(&s, next += MSS, false, 0, MS);
    assert_int_equal(send_all(&s, MS), 20);
}

static void test_avoidance_adds_a_segment_in_a_round_trip(void **state) {
    struct tcp_sender s = sender_of(TCP_NEWRENO, 1000);
    (void)state;
    s.threshold = s.window;
    send_all(&s, 0);
    for (uint64_t i = 1; i <= 10; i++)
        tcp_sender_ack(&s, i * MSS, false, 0, MS);
    assert_true(s.window > 10.9 * MSS && s.window < 11.1 * MSS);
}

static void test_three_duplicates_repeat_and_halve(void **state) {
    struct tcp_sender s = sender_of(TCP_NEWRENO, 100);
    struct tr_segment t;
    (void)state;
    send_all(&s, 0);
    for (int i = 0; i < 2; i++) {
        tcp_sender_ack(&s, 0, false, 0, MS);
        assert_true(tcp_sender_next(&s, MS, &t)); // limited transmit
        assert_false(t.again);
        assert_false(tcp_sender_next(&s, MS, &t));
    }
    tcp_sender_ack(&s, 0, false, 0, MS);
    assert_true(tcp_sender_next(&s, MS, &t));
    assert_true(t.again);
    assert_int_equal(t.sequence, 0);
    assert_true(s.threshold == 6.0 * MSS); // half of 12 in flight
    tcp_sender_ack(&s, 12 * MSS, false, 0, 2 * MS);
    assert_false(s.recovering);
    assert_true(s.window <= s.threshold);
}

static void test_a_partial_acknowledgement_repeats_the_next_hole(void **state) {
    struct tcp_sender s = sender_of(TCP_NEWRENO, 100);
    struct tr_segment t;
    (void)state;
    send_all(&s, 0);
    for (int i = 0; i < 3; i++)
        tcp_sender_ack(&s, 0, false, 0, MS);
    assert_true(tcp_sender_next(&s, MS, &t) && t.sequence == 0);
    tcp_sender_ack(&s, 4 * MSS, false, 0, 2 * MS);
    assert_true(s.recovering);
    assert_true(tcp_sender_next(&s, 2 * MS, &t));
    assert_int_equal(t.sequence, 4 * MSS);
    assert_true(t.again);
    assert_int_equal(s.stats.recoveries, 1);
}

static void test_a_timeout_begins_again_with_one_and_backs_off(void **state) {
    struct tcp_sender s = sender_of(TCP_NEWRENO, 100);
    struct tr_segment t;
    (void)state;
    send_all(&s, 0);
    tcp_sender_expire(&s, 10 * MS - 1);
    assert_int_equal(s.stats.timeouts, 0);
    tcp_sender_expire(&s, 10 * MS);
    assert_true(tcp_sender_next(&s, 10 * MS, &t) && t.sequence == 0 && t.again);
    assert_false(tcp_sender_next(&s, 10 * MS, &t));
    assert_true(s.threshold == 5.0 * MSS);
    assert_int_equal(tcp_sender_deadline(&s), 30 * MS);
    tcp_sender_expire(&s, 30 * MS);
    assert_int_equal(tcp_sender_deadline(&s), 70 * MS);
    assert_true(s.threshold == 5.0 * MSS);
    // duplicates of what was sent before say nothing
    for (int i = 0; i < 5; i++)
        tcp_sender_ack(&s, 0, false, 30 * MS, 31 * MS);
    assert_int_equal(s.stats.recoveries, 0);
}

static void test_the_window_begins_anew_after_an_idle_timeout(void **state) {
    struct tcp_sender s = sender_of(TCP_NEWRENO, 10);
    (void)state;
    send_all(&s, 0);
    tcp_sender_ack(&s, 10 * MSS, false, 0, MS);
    s.window = 100 * MSS;
    tcp_sender_add(&s, 1000 * MSS, 5 * MS);
    assert_true(s.window == 100.0 * MSS);
    assert_int_equal(send_all(&s, 5 * MS), 100);
    tcp_sender_ack(&s, 110 * MSS, false, 5 * MS, 6 * MS);
    s.end = s.acked;
    s.next = s.highest = s.acked;
    tcp_sender_add(&s, 1000 * MSS, 100 * MS);
    assert_int_equal(send_all(&s, 100 * MS), 10);
}

static void test_cubic_loses_three_tenths_and_comes_back(void **state) {
    struct tcp_sender s = sender_of(TCP_CUBIC, 100000);
    (void)state;
    s.window = 100 * MSS;
    send_all(&s, 0);
    for (int i = 0; i < 3; i++)
        tcp_sender_ack(&s, 0, false, 0, MS);
    // two more by limited transmit are only sent when asked for
    assert_true(s.threshold > 69.9 * MSS && s.threshold < 70.1 * MSS);
    tcp_sender_ack(&s, 100 * MSS, false, 0, 2 * MS);
    // K = cbrt(30 / 0.4) = 4.2 s: then it is at 100 again
    uint64_t now = 2 * MS;
    s.window = 70 * MSS;
    while (now < 4220 * MS) {
        struct tr_segment t;
        while (tcp_sender_next(&s, now, &t))
            ;
        now += 200 * MS; // with a short round trip it is never below what NewReno would have
        tcp_sender_ack(&s, s.next, false, now - 200 * MS, now);
        s.end = s.next + 1000000 * UINT64_C(1000);
    }
    assert_true(s.window > 95.0 * MSS && s.window < 106.0 * MSS);
}

static void test_dctcp_reduces_by_the_marked_share_once_in_a_window(void **state) {
    struct tcp_sender s = sender_of(TCP_DCTCP, 10000);
    (void)state;
    s.window = s.threshold = 100 * MSS;
    s.alpha = 0.5;
    send_all(&s, 0);
    tcp_sender_ack(&s, MSS, true, 0, MS);
    const double after = s.window;
    assert_true(after > 71.0 * MSS && after < 78.0 * MSS); // 1 - alpha / 2 with alpha after a round
    for (uint64_t i = 2; i <= 50; i++)
        tcp_sender_ack(&s, i * MSS, true, 0, MS);
    assert_true(s.window >= after);
}

static void test_alpha_follows_the_marks(void **state) {
    struct tcp_sender s = sender_of(TCP_DCTCP, 1000000);
    uint64_t now = 0;
    (void)state;
    for (int round = 0; round < 200; round++) {
        send_all(&s, now);
        now += MS;
        const uint64_t end = s.next;
        for (uint64_t next = s.acked + MSS; next <= end; next += MSS)
            tcp_sender_ack(&s, next, false, now - MS, now);
        s.window = 20 * MSS;
    }
    assert_true(s.alpha < 0.001);
}

static void test_acknowledgements_of_what_was_never_sent_are_ignored(void **state) {
    struct tcp_sender s = sender_of(TCP_NEWRENO, 100);
    (void)state;
    send_all(&s, 0);
    tcp_sender_ack(&s, 50 * MSS, false, 0, MS);
    assert_int_equal(s.acked, 0);
    tcp_sender_ack(&s, 5 * MSS, false, 0, MS);
    tcp_sender_ack(&s, 2 * MSS, false, 0, MS);
    assert_int_equal(s.acked, 5 * MSS);
}

// ---- the receiver ----

static void test_a_receiver_knows_what_came(void **state) {
    // against a map of bytes
    static uint8_t there[5000];
    struct tcp_receiver r = {0};
    struct sim_random random = sim_random_of(1, "receiver");
    (void)state;
    memset(there, 0, sizeof there);
    for (int i = 0; i < 20000 && r.next < sizeof there; i++) {
        const uint32_t from = (uint32_t)sim_random_below(&random, sizeof there),
                       most = (uint32_t)sizeof there - from,
                       length = 1 + (uint32_t)sim_random_below(&random, most < 60 ? most : 60);
        uint64_t next = 0;
        memset(there + from, 1, length);
        tcp_receiver_take(&r, from, length);
        while (next < sizeof there && there[next])
            next++;
        assert_int_equal(r.next, next);
        for (size_t k = 0; k < r.n; k++)
            assert_true(r.beyond[k].from > (k ? r.beyond[k - 1].to : r.next) &&
                        r.beyond[k].to > r.beyond[k].from);
    }
    assert_int_equal(r.next, sizeof there);
    assert_int_equal(r.n, 0);
    tcp_receiver_free(&r);
}

// ---- whole transfers ----

#define QUEUE 4096

struct wire { // frames on their way, in the order in which they arrive
    struct {
        uint64_t at, sequence, echo;
        uint32_t length;
        bool marked;
    } f[QUEUE];
    unsigned first, n;
};

static void wire_put(struct wire *w, uint64_t at, uint64_t sequence, uint32_t length, uint64_t echo,
                     bool marked) {
    assert_true(w->n < QUEUE);
    const unsigned i = (w->first + w->n++) % QUEUE;
    w->f[i].at = at;
    w->f[i].sequence = sequence;
    w->f[i].length = length;
    w->f[i].echo = echo;
    w->f[i].marked = marked;
}

// So many segments over a bottleneck of 12 us a segment, 100 us each way, that loses a part of both
// directions' frames. Returns when all is acknowledged.
static uint64_t transfer(enum tcp_control control, uint64_t segments, double loss, uint64_t seed) {
    struct tcp_sender s = sender_of(control, segments);
    struct tcp_receiver r = {0};
    static struct wire data, acks;
    struct sim_random random = sim_random_of(seed, "transfer");
    uint64_t now = 0, free_at = 0;
    data.n = acks.n = 0;
    for (int steps = 0; !tcp_sender_done(&s) && steps < 10000000; steps++) {
        struct tr_segment t;
        while (data.n < 1000 && tcp_sender_next(&s, now, &t)) {
            assert_true(t.length && t.sequence + t.length <= segments * MSS);
            free_at = (free_at > now ? free_at : now) + 12000;
            const bool deep = free_at - now > 65 * UINT64_C(12000);
            if (!sim_random_chance(&random, loss) && free_at - now < 200 * UINT64_C(12000))
                wire_put(&data, free_at + 100000, t.sequence, t.length, now, deep);
        }
        uint64_t next = tcp_sender_deadline(&s);
        next = data.n && data.f[data.first].at < next ? data.f[data.first].at : next;
        next = acks.n && acks.f[acks.first].at < next ? acks.f[acks.first].at : next;
        assert_true(next != SK_TIME_NEVER && next >= now);
        now = next;
        for (; data.n && data.f[data.first].at <= now;
             data.first = (data.first + 1) % QUEUE, data.n--) {
            const unsigned i = data.first;
            tcp_receiver_take(&r, data.f[i].sequence, data.f[i].length);
            if (!sim_random_chance(&random, loss))
                wire_put(&acks, now + 100000, r.next, 0, data.f[i].echo, data.f[i].marked);
        }
        for (; acks.n && acks.f[acks.first].at <= now;
             acks.first = (acks.first + 1) % QUEUE, acks.n--) {
            const unsigned i = acks.first;
            tcp_sender_ack(&s, acks.f[i].sequence, acks.f[i].marked, acks.f[i].echo, now);
        }
        if (tcp_sender_deadline(&s) <= now)
            tcp_sender_expire(&s, now);
    }
    assert_true(tcp_sender_done(&s));
    assert_int_equal(r.next, segments * MSS);
    tcp_receiver_free(&r);
    return now;
}

static void test_everything_arrives_whatever_is_lost(void **state) {
    (void)state;
    for (int control = 0; control < 3; control++)
        for (uint64_t seed = 1; seed <= 60; seed++) {
            const double loss[] = {0, 0.001, 0.01, 0.1, 0.5};
            transfer((enum tcp_control)control, 1 + seed * 7, loss[seed % 5], seed);
        }
}

// Slow start ends in a full queue that loses some 200 segments, and without SACK each of them costs
// a round trip. DCTCP is told before.
static void test_a_long_transfer_fills_the_link(void **state) {
    (void)state;
    for (int control = 0; control < 3; control++) {
        const uint64_t ns = transfer((enum tcp_control)control, 60000, 0, 1);
        const double used = 60000 * 12000.0 / (double)ns;
        assert_true(used > (control == TCP_DCTCP ? 0.98 : 0.4) && used <= 1);
    }
}

static void test_a_lost_tail_costs_a_timeout(void **state) {
    // the whole window of a flow of ten segments is lost: nothing tells but the timer
    struct tcp_sender s = sender_of(TCP_NEWRENO, 10);
    (void)state;
    assert_int_equal(send_all(&s, 0), 10);
    tcp_sender_ack(&s, 9 * MSS, false, 0, MS);
    assert_int_equal(send_all(&s, MS), 0);
    assert_int_equal(tcp_sender_deadline(&s), 11 * MS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ten_segments_go_out_at_first),
        cmocka_unit_test(test_slow_start_doubles_in_a_round_trip),
        cmocka_unit_test(test_avoidance_adds_a_segment_in_a_round_trip),
        cmocka_unit_test(test_three_duplicates_repeat_and_halve),
        cmocka_unit_test(test_a_partial_acknowledgement_repeats_the_next_hole),
        cmocka_unit_test(test_a_timeout_begins_again_with_one_and_backs_off),
        cmocka_unit_test(test_the_window_begins_anew_after_an_idle_timeout),
        cmocka_unit_test(test_cubic_loses_three_tenths_and_comes_back),
        cmocka_unit_test(test_dctcp_reduces_by_the_marked_share_once_in_a_window),
        cmocka_unit_test(test_alpha_follows_the_marks),
        cmocka_unit_test(test_acknowledgements_of_what_was_never_sent_are_ignored),
        cmocka_unit_test(test_a_receiver_knows_what_came),
        cmocka_unit_test(test_everything_arrives_whatever_is_lost),
        cmocka_unit_test(test_a_long_transfer_fills_the_link),
        cmocka_unit_test(test_a_lost_tail_costs_a_timeout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
//
// The worker's rules one by one: what it sends when, and what it does with what comes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "harness/hosts/atp/rig.h"
#include "hosts/core/window.h"

#define MS 1000000

static uint8_t frame[ATP_FRAME_BYTES];
static struct atp_packet sent;

// A worker with one tensor of 'count' integers, 0, 1, 2 ...
static int32_t in[62 * 400], out[62 * 400 + 1];

static struct atp_worker *with_integers(const struct atp_worker_config *config, size_t count) {
    struct atp_worker *w = rig_worker(config);
    struct atp_tensor t = {.type = ATP_I32, .in = in, .out = out, .count = count};

    for (size_t i = 0; i < count; i++)
        in[i] = (int32_t)i;
    memset(out, 0, sizeof out);
    assert_int_equal(atp_worker_submit(w, &t, 0), 0);
    return w;
}

// How many frames it sends now; the last one is in `sent`.
static unsigned flush(struct atp_worker *w, uint64_t now) {
    unsigned n = 0;

    while (rig_sent(w, now, frame, &sent))
        n++;
    return n;
}

static uint16_t index_of(uint32_t sequence) {
    return (uint16_t)atp_hash(RIG_JOB, sequence, ATP_INDICES, false);
}

// Acknowledges a fragment, with its number in all values.
static enum atp_reason ack(struct atp_worker *w, uint32_t sequence, uint64_t now) {
    struct atp_packet p = {.sequence = sequence, .index = index_of(sequence)};
    uint32_t values[ATP_VALUES];

    for (unsigned i = 0; i < ATP_VALUES; i++)
        values[i] = sequence;
    return rig_give(w, &p, values, now);
}

// ---- sending and completing ------------------------------------------------------------------

static void test_a_tensor_of_two_fragments(void **state) {
    struct atp_worker_config c = rig_worker_config(2, 4);
    struct atp_worker *w = with_integers(&c, 63);
    void *cookie;

    (void)state;
    assert_int_equal(atp_worker_queued(w), 2);
    assert_true(rig_sent(w, 5, frame, &sent));
    assert_int_equal(sent.sequence, 0);
    assert_int_equal(sent.bitmap0, 4);
    assert_int_equal(sent.bitmap1, 1);
    assert_int_equal(sent.fan_in0, 4);
    assert_int_equal(sent.fan_in1, 1);
    assert_int_equal(sent.index, index_of(0));
    assert_false(sent.edge || sent.resend || sent.collision || sent.ecn || sent.overflow);
    assert_int_equal(rig_value(&sent, 61), 61);
    assert_true(rig_sent(w, 5, frame, &sent));
    assert_int_equal(sent.sequence, 1);
    assert_int_equal(rig_value(&sent, 0), 62);
    assert_int_equal(rig_value(&sent, 1), 0); // filled up
    assert_false(rig_sent(w, 5, frame, &sent));

    assert_int_equal(ack(w, 1, 6), ATP_ACCEPTED);
    assert_false(atp_worker_done(w, &cookie));
    assert_int_equal(ack(w, 1, 6), ATP_OLD);
    assert_int_equal(ack(w, 0, 6), ATP_ACCEPTED);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[62], 1);
    assert_int_equal(out[63], 0); // not written
    assert_true(atp_worker_done(w, &cookie));
    assert_false(atp_worker_busy(w));
    assert_true(atp_worker_deadline(w) == ATP_NEVER);
    assert_int_equal(ack(w, 0, 6), ATP_OLD);
    assert_int_equal(ack(w, 2, 6), ATP_AHEAD);
    atp_worker_free(w);
}

static void test_floats_times_1e8(void **state) {
    // 1.25e8; the float nearest to 0.1 times 1e8 is 10000000.149; half a unit down and up to
    // even
    const float values[] = {1.25f, 0.1f, -1.5e-8f, 2.5e-8f, 21.47f, -21.47f, 0.0f, -0.0f};
    // the float next to 21.47 is 21.469999313
    const int32_t expected[] = {125000000, 10000000, -1, 3, 2146999931, -2146999931, 0, 0};
    struct atp_worker_config c = rig_worker_config(0, 1);
    const char *const how[] = {"scalar", "avx2"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct atp_tensor t = {.type = ATP_F32, .in = values, .out = out, .count = 8};
        struct atp_worker *w;
        c.quantise = sk_quantise_named(how[i]);
        if (!c.quantise)
            continue;
        w = rig_worker(&c);
        assert_int_equal(atp_worker_submit(w, &t, 0), 0);
        assert_int_equal(flush(w, 0), 1);
        for (unsigned v = 0; v < 8; v++)
            assert_int_equal((int32_t)rig_value(&sent, v), expected[v]);
        atp_worker_free(w);
    }
}

static void test_tensors_follow_each_other(void **state) {
    struct atp_worker_config c = rig_worker_config(0, 1);
    struct atp_worker *w = rig_worker(&c);
    static const size_t counts[] = {10, 0, 62, 63, 0};
    void *cookie = NULL;

    (void)state;
    for (uintptr_t i = 0; i < 5; i++) {
        struct atp_tensor t = {
            .type = ATP_I32, .in = in, .out = out, .count = counts[i], .cookie = (void *)i};
        assert_int_equal(atp_worker_submit(w, &t, 0), 0);
    }
    assert_int_equal(flush(w, 0), 4);
    assert_false(atp_worker_done(w, &cookie));
    for (uint32_t n = 4; n-- > 0;) { // the last one first: they are handed out in order
        assert_false(atp_worker_done(w, &cookie));
        assert_int_equal(ack(w, n, 0), ATP_ACCEPTED);
    }
    for (uintptr_t i = 0; i < 5; i++) {
        assert_true(atp_worker_done(w, &cookie));
        assert_int_equal((uintptr_t)cookie, i);
    }
    assert_int_equal(atp_worker_stats(w).tensors_done, 5);
    atp_worker_free(w);
}

static void test_a_flow_of_several(void **state) {
    struct atp_worker_config c = rig_worker_config(0, 1);
    struct atp_worker *w;
    struct atp_packet p = {.sequence = 0xc00000};

    (void)state;
    c.flow.flow_bits = 2;
    c.flow.flow = 3;
    w = with_integers(&c, 62);
    assert_int_equal(flush(w, 0), 1);
    assert_int_equal(sent.sequence, 0xc00000);
    p.index = sent.index;
    p.sequence = 0x800000;
    assert_int_equal(rig_give(w, &p, NULL, 1), ATP_WRONG_JOB);
    p.sequence = 0xc00000;
    assert_int_equal(rig_give(w, &p, NULL, 1), ATP_ACCEPTED);
    atp_worker_free(w);
}

static void test_numbers_wrap(void **state) {
    struct atp_worker_config c = rig_worker_config(0, 1);
    struct atp_worker *w;
    static const uint32_t sequences[] = {0xfffffe, 0xffffff, 0, 1, 2};

    (void)state;
    c.first_fragment = 0x4fffffe;
    w = with_integers(&c, 5 * 62);
    for (int i = 0; i < 5; i++) {
        assert_true(rig_sent(w, 0, frame, &sent));
        assert_int_equal(sent.sequence, sequences[i]);
    }
    assert_int_equal(ack(w, 1, 1), ATP_ACCEPTED);
    assert_int_equal(ack(w, 0xffffff, 1), ATP_ACCEPTED);
    assert_int_equal(ack(w, 0xfffffd, 1), ATP_OLD);
    assert_int_equal(ack(w, 3, 1), ATP_AHEAD);
    assert_int_equal(ack(w, 0xfffffe, 1), ATP_ACCEPTED);
    assert_int_equal(ack(w, 0, 1), ATP_ACCEPTED);
    assert_int_equal(ack(w, 2, 1), ATP_ACCEPTED);
    assert_false(atp_worker_busy(w));
    assert_int_equal(out[62], 0xffffff);
    assert_int_equal(out[3 * 62], 1);
    atp_worker_free(w);
}

// ---- loss ------------------------------------------------------------------------------------

static void test_three_later_acknowledgements_are_a_loss(void **state) {
    struct atp_worker_config c = rig_worker_config(0, 1);
    struct atp_worker *w;

    (void)state;
    c.fixed_window = true;
    w = with_integers(&c, 62 * 8);
    assert_int_equal(flush(w, 0), 8);
    assert_int_equal(ack(w, 0, 10), ATP_ACCEPTED);
    assert_int_equal(ack(w, 2, 10), ATP_ACCEPTED);
    assert_int_equal(ack(w, 3, 10), ATP_ACCEPTED);
    assert_int_equal(flush(w, 10), 0);
    assert_int_equal(ack(w, 4, 10), ATP_ACCEPTED);
    assert_int_equal(flush(w, 10), 1);
    assert_int_equal(sent.sequence, 1);
    assert_true(sent.resend);
    assert_int_equal(sent.index, index_of(1));
    assert_int_equal(rig_value(&sent, 0), 62);
    // those that were sent before the repetition say nothing about it
    assert_int_equal(ack(w, 5, 11), ATP_ACCEPTED);
    assert_int_equal(ack(w, 6, 11), ATP_ACCEPTED);
    assert_int_equal(ack(w, 7, 11), ATP_ACCEPTED);
    assert_int_equal(flush(w, 11), 0);
    assert_int_equal(atp_worker_stats(w).losses, 1);
    assert_int_equal(atp_worker_stats(w).retransmissions, 1);
    assert_int_equal(ack(w, 1, 12), ATP_ACCEPTED);
    assert_false(atp_worker_busy(w));
    atp_worker_free(w);
}

static void test_all_of_several_losses_are_found(void **state) {
    struct atp_worker_config c = rig_worker_config(0, 1);
    struct atp_worker *w = with_integers(&c, 62 * 8);

    (void)state;
    assert_int_equal(flush(w, 0), 8);
    for (uint32_t n = 0; n < 8; n++)
        if (n != 1 && n != 3)
            assert_int_equal(ack(w, n, 10), ATP_ACCEPTED);
    assert_true(rig_sent(w, 10, frame, &sent));
    assert_int_equal(sent.sequence, 1);
    assert_true(rig_sent(w, 10, frame, &sent));
    assert_int_equal(sent.sequence, 3);
    assert_false(rig_sent(w, 10, frame, &sent));
    atp_worker_free(w);
}

static void test_timeouts_double(void **state) {
    struct atp_worker_config c = rig_worker_config(0, 1);
    struct atp_worker *w = with_integers(&c, 62 * 3);
    uint64_t now = 0;
    static const uint64_t waits[] = {1, 2, 4, 8, 8};

    (void)state;
    assert_int_equal(flush(w, 0), 3);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(atp_worker_deadline(w) - now, waits[i] * MS);
        now = atp_worker_deadline(w);
        assert_int_equal(atp_worker_expire(w, now - 1), 0);
        assert_int_equal(flush(w, now), 0);
        assert_int_equal(atp_worker_expire(w, now), 0);
        assert_int_equal(flush(w, now), 1); // the first one missing alone
        assert_int_equal(sent.sequence, 0);
        assert_true(sent.resend);
    }
    assert_int_equal(atp_worker_stats(w).timeouts, 5);
    // it helped: the others follow at once
    assert_int_equal(ack(w, 0, now), ATP_ACCEPTED);
    assert_int_equal(flush(w, now), 2);
    assert_true(sent.resend);
    atp_worker_free(w);
}

static void test_warnings_and_the_end(void **state) {
    struct atp_worker_config c = rig_worker_config(0, 1);
    struct atp_worker *w;
    char text[2000];

    (void)state;
    c.stall_warning = 20 * MS;
    c.hard_limit = 90 * MS;
    w = with_integers(&c, 62);
    flush(w, 0);
    assert_int_equal(atp_worker_expire(w, 19 * MS), 0);
    assert_int_equal(atp_worker_expire(w, 20 * MS), ATP_STALLED);
    atp_worker_explain(w, 20 * MS, text, sizeof text);
    assert_non_null(strstr(text, "No packet has been received"));
    assert_non_null(strstr(text, "tensor 0 at element 0 of 62"));
    assert_int_equal(atp_worker_expire(w, 39 * MS), 0);
    assert_int_equal(atp_worker_expire(w, 40 * MS), ATP_STALLED);
    assert_int_equal(atp_worker_expire(w, 90 * MS), ATP_FAILED);
    assert_int_equal(flush(w, 90 * MS), 0);
    assert_int_equal(atp_worker_submit(w, &(struct atp_tensor){.type = ATP_I32}, 0),
                     SILKEN_ERR_STALLED);
    atp_worker_free(w);
}

// ---- window ----------------------------------------------------------------------------------

static void test_the_window_by_hand(void **state) {
    struct sk_window w;

    (void)state;
    sk_window_init(&w, 200, 400, ATP_MTU_PACKETS, false);
    for (int i = 0; i < 20; i++)
        sk_window_grow(&w);
    assert_int_equal(w.packets, 300); // slow start: five for each
    sk_window_cut(&w, 10, 310);
    assert_int_equal(w.packets, 150);
    assert_int_equal(w.threshold, 150);
    sk_window_cut(&w, 309, 400); // was in flight already
    assert_int_equal(w.packets, 150);
    for (int i = 0; i < 149; i++)
        sk_window_grow(&w);
    assert_int_equal(w.packets, 150);
    sk_window_grow(&w);
    assert_int_equal(w.packets, 155); // five for a window of them
    sk_window_cut(&w, 310, 500);
    assert_int_equal(w.packets, 77);
    for (int i = 0; i < 10; i++)
        sk_window_cut(&w, 1000 * (uint64_t)(i + 1), 1000 * (uint64_t)(i + 1));
    assert_int_equal(w.packets, ATP_MTU_PACKETS);
    sk_window_init(&w, 398, 400, ATP_MTU_PACKETS, false);
    sk_window_grow(&w);
    assert_int_equal(w.packets, 400);
    sk_window_init(&w, 200, 400, ATP_MTU_PACKETS, true);
    sk_window_cut(&w, 0, 10);
    sk_window_grow(&w);
    assert_int_equal(w.packets, 200);
}

static void test_marks_and_losses_halve(void **state) {
    struct atp_worker_config c = rig_worker_config(0, 1);
    struct atp_packet marked = {.sequence = 0, .index = index_of(0), .ecn = true};
    struct atp_worker *w;

    (void)state;
    c.window = 100;
    c.window_max = 200;
    w = with_integers(&c, 62 * 300);
    assert_int_equal(flush(w, 0), 100);
    assert_int_equal(rig_give(w, &marked, NULL, 1), ATP_ACCEPTED);
    assert_int_equal(atp_worker_stats(w).window, 50);
    assert_int_equal(atp_worker_stats(w).marks, 1);
    assert_int_equal(flush(w, 1), 0); // 99 are in flight
    for (uint32_t n = 1; n < 51; n++)
        ack(w, n, 2);
    assert_int_equal(atp_worker_stats(w).window, 55);
    // 51..99 in flight: up to 51 + 55
    assert_int_equal(flush(w, 2), 6);
    for (uint32_t n = 52; n < 55; n++)
        ack(w, n, 3);
    assert_int_equal(atp_worker_stats(w).losses, 1);
    assert_int_equal(atp_worker_stats(w).window, 55); // 51 is of the time of the mark
    for (uint32_t n = 102; n < 106; n++)
        ack(w, n, 3); // 100, 101 and what is left of the old ones are lost now
    assert_int_equal(atp_worker_stats(w).window, 27);
    atp_worker_free(w);
}

// ---- aggregators -----------------------------------------------------------------------------

static void test_rehash(void **state) {
    struct atp_worker_config c = rig_worker_config(0, 1);
    struct atp_packet p = {.sequence = 0, .index = 100, .bitmap0 = ATP_NEW | 103};
    struct atp_worker *w;

    (void)state;
    c.first_index = 100;
    c.indices = 4;
    c.linear = true;
    c.window = c.window_max = 4;
    w = with_integers(&c, 62 * 16);
    assert_int_equal(flush(w, 0), 4);
    assert_int_equal(sent.index, 103);
    assert_int_equal(rig_give(w, &p, NULL, 1), ATP_ACCEPTED);
    assert_int_equal(atp_worker_stats(w).rehashed, 1);
    assert_int_equal(flush(w, 1), 1);
    assert_int_equal(sent.sequence, 4);
    assert_int_equal(sent.index, 103); // 4 has the hash of 0

    // what is in flight keeps its index, and is acknowledged with that alone
    p = (struct atp_packet){.sequence = 4, .index = 100};
    assert_int_equal(rig_give(w, &p, NULL, 1), ATP_OTHER_INDEX);
    // 5's news for its hash, then those of 1, which are older: they count for nothing
    p = (struct atp_packet){.sequence = 1, .index = 101};
    assert_int_equal(rig_give(w, &p, NULL, 1), ATP_ACCEPTED);
    assert_int_equal(flush(w, 1), 1);
    p = (struct atp_packet){.sequence = 5, .index = 101, .bitmap0 = ATP_NEW | 102};
    assert_int_equal(rig_give(w, &p, NULL, 1), ATP_ACCEPTED);
    p = (struct atp_packet){.sequence = 2, .index = 102, .bitmap0 = ATP_NEW | 99};
    assert_int_equal(rig_give(w, &p, NULL, 1), ATP_ACCEPTED); // not the job's: ignored
    assert_int_equal(atp_worker_stats(w).rehashed, 2);
    atp_worker_free(w);
}

static void test_the_later_rehash_counts(void **state) {
    struct atp_worker_config c = rig_worker_config(0, 1);
    struct atp_packet p;
    struct atp_worker *w;

    (void)state;
    c.indices = 4;
    c.linear = true;
    w = with_integers(&c, 62 * 16);
    assert_int_equal(flush(w, 0), 8);
    p = (struct atp_packet){.sequence = 4, .index = 0, .bitmap0 = ATP_NEW | 3};
    assert_int_equal(rig_give(w, &p, NULL, 1), ATP_ACCEPTED);
    p = (struct atp_packet){.sequence = 0, .index = 0, .bitmap0 = ATP_NEW | 2};
    assert_int_equal(rig_give(w, &p, NULL, 1), ATP_ACCEPTED);
    assert_true(rig_sent(w, 1, frame, &sent));
    assert_int_equal(sent.sequence, 8);
    assert_int_equal(sent.index, 3);
    atp_worker_free(w);
}

// ---- overflow, scale -------------------------------------------------------------------------

static void test_floats_after_an_overflow(void **state) {
    static const float values[2] = {3.5f, -20.0f};
    struct atp_worker_config c = rig_worker_config(0, 1);
    struct atp_tensor t = {.type = ATP_F32, .in = values, .out = out, .count = 2};
    struct atp_packet ask = {.overflow = true, .index = index_of(0)};
    struct atp_worker *w = rig_worker(&c);
    uint32_t sum[ATP_VALUES] = {rig_bits(7), rig_bits(-40.0f)};

    (void)state;
    assert_int_equal(rig_give(w, &ask, NULL, 0), ATP_ACCEPTED); // before it has been sent
    assert_int_equal(atp_worker_submit(w, &t, 0), 0);
    assert_int_equal(atp_worker_submit(w, &t, 0), 0);
    assert_true(rig_sent(w, 0, frame, &sent));
    assert_true(sent.overflow);
    assert_int_equal(rig_value(&sent, 0), rig_bits(3.5f));
    assert_true(rig_sent(w, 0, frame, &sent));
    assert_false(sent.overflow);
    assert_int_equal((int32_t)rig_value(&sent, 0), 350000000);
    assert_int_equal((int32_t)rig_value(&sent, 1), -2000000000);
    ask.sequence = 1;
    assert_int_equal(rig_give(w, &ask, NULL, 1), ATP_ACCEPTED);
    assert_int_equal(rig_give(w, &ask, NULL, 1), ATP_OLD);
    assert_int_equal(flush(w, 1), 1);
    assert_int_equal(sent.sequence, 1);
    assert_true(sent.overflow);
    assert_int_equal(rig_value(&sent, 1), rig_bits(-20.0f));
    assert_int_equal(rig_value(&sent, 2), 0);
    // lost: again as floats
    assert_int_equal(atp_worker_expire(w, atp_worker_deadline(w)), 0);
    assert_int_equal(flush(w, 2 * MS), 1);
    assert_true(sent.overflow);
    ask = (struct atp_packet){.sequence = 1, .index = index_of(1)};
    assert_int_equal(rig_give(w, &ask, sum, 2), ATP_ACCEPTED);
    assert_int_equal((uint32_t)out[1], rig_bits(-40.0f));
    atp_worker_free(w);
}

// As floats at once: what does not fit, and below two switches what four times does not.
static void test_values_that_are_too_large(void **state) {
    static const struct {
        float value;
        bool one_level, two_levels;
    } cases[] = {{5.3f, false, false}, {-5.3f, false, false},   {5.4f, false, true},
                 {-5.4f, false, true}, {21.48f, true, true},    {-21.48f, true, true},
                 {NAN, true, true},    {-INFINITY, true, true}, {INFINITY, true, true}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int levels = 1; levels <= 2; levels++) {
            struct atp_worker_config c = rig_worker_config(0, 4);
            struct atp_tensor t = {.type = ATP_F32, .in = &cases[i].value, .out = out, .count = 1};
            bool floats = levels == 1 ? cases[i].one_level : cases[i].two_levels;
            struct atp_worker *w;
            c.place.fan_in1 = (uint8_t)levels;
            w = rig_worker(&c);
            assert_int_equal(atp_worker_submit(w, &t, 0), 0);
            assert_int_equal(flush(w, 0), 1);
            assert_int_equal(sent.overflow, floats);
            if (floats)
                assert_int_equal(rig_value(&sent, 0), rig_bits(cases[i].value));
            assert_int_equal(atp_worker_stats(w).floats, floats);
            atp_worker_free(w);
        }
    }
}

static void test_a_new_scale_from_a_fragment_on(void **state) {
    static float values[62 * 8];
    struct atp_worker_config c = rig_worker_config(0, 1);
    struct atp_tensor t = {.type = ATP_F32, .in = values, .out = out, .count = 62 * 8};
    struct atp_worker *w;
    struct atp_scale scale = {.exponent = 10, .after = 4};
    struct atp_packet p = {.sequence = 1, .index = index_of(1), .bitmap1 = atp_scale_pack(&scale)};

    (void)state;
    for (int i = 0; i < 62 * 8; i++)
        values[i] = 1;
    c.window = c.window_max = 4;
    w = rig_worker(&c);
    assert_int_equal(atp_worker_submit(w, &t, 0), 0);
    assert_int_equal(flush(w, 0), 4);
    assert_int_equal(rig_give(w, &p, NULL, 1), ATP_ACCEPTED);
    assert_int_equal(ack(w, 0, 1), ATP_ACCEPTED);
    assert_true(rig_sent(w, 1, frame, &sent));
    assert_int_equal(sent.sequence, 4);
    assert_int_equal(rig_value(&sent, 0), 100000000);
    assert_true(rig_sent(w, 1, frame, &sent));
    assert_int_equal(sent.sequence, 5);
    assert_int_equal(rig_value(&sent, 0), 1024);
    // 3 is lost: it keeps the old one
    assert_int_equal(atp_worker_expire(w, atp_worker_deadline(w)), 0);
    assert_int_equal(flush(w, 2 * MS), 1);
    assert_int_equal(sent.sequence, 2);
    assert_int_equal(rig_value(&sent, 0), 100000000);
    atp_worker_free(w);
}

// ---- restart ---------------------------------------------------------------------------------

static void test_restart(void **state) {
    struct atp_worker_config c = rig_worker_config(0, 2);
    struct atp_place moved = {.bitmap0 = 8, .bitmap1 = 2, .fan_in0 = 3, .fan_in1 = 2};
    struct atp_packet restart = {
        .sequence = 2, .resend = true, .bitmap0 = ATP_NEW | 34}; // 2 is 34 from now on
    struct atp_worker *w = with_integers(&c, 62 * 20);

    (void)state;
    assert_int_equal(flush(w, 0), 8);
    assert_int_equal(ack(w, 0, 1), ATP_ACCEPTED);
    assert_int_equal(ack(w, 4, 1), ATP_ACCEPTED); // complete, it stays so
    atp_worker_move(w, &moved);
    assert_int_equal(rig_give(w, &restart, NULL, 2), ATP_ACCEPTED);
    assert_int_equal(rig_give(w, &restart, NULL, 2), ATP_OLD);
    for (uint32_t n = 2; n < 9; n++) {
        if (n == 4)
            continue;
        assert_true(rig_sent(w, 2, frame, &sent));
        assert_int_equal(sent.sequence, n + 32);
        assert_int_equal(sent.bitmap0, 8);
        assert_int_equal(sent.bitmap1, 2);
        assert_int_equal(sent.fan_in0, 3);
        assert_int_equal(sent.index, index_of(n + 32));
        assert_false(sent.resend);
        assert_int_equal(rig_value(&sent, 0), 62 * n);
    }
    // 1 has its old number
    assert_int_equal(ack(w, 33, 3), ATP_OLD);
    assert_int_equal(ack(w, 2, 3), ATP_OLD);
    assert_int_equal(ack(w, 1, 3), ATP_ACCEPTED);
    assert_int_equal(ack(w, 34, 3), ATP_ACCEPTED);
    assert_int_equal(out[2 * 62], 34);
    assert_int_equal(out[4 * 62], 4);
    atp_worker_free(w);
}

// ---- configuration ---------------------------------------------------------------------------

static void refused(struct atp_worker_config c) {
    struct atp_worker *w = NULL;
    const char *why = NULL;

    assert_int_equal(atp_worker_new(&w, &c, &why), SILKEN_ERR_INVALID);
    assert_non_null(why);
}

static void test_bad_configurations(void **state) {
    const struct atp_worker_config good = rig_worker_config(0, 2);
    struct atp_worker_config c = good;

    (void)state;
    refused((c.flow.job = 0, c));
    c = good;
    refused((c.place.bitmap0 = 3, c));
    c = good;
    refused((c.place.fan_in0 = 33, c));
    c = good;
    refused((c.indices = 0, c));
    c = good;
    refused((c.first_index = 1, c));
    c = good;
    refused((c.window = 17, c));
    c = good;
    refused((c.window_max = ATP_WINDOW_LIMIT + 1, c));
    c = good;
    refused((c.rto_min = 0, c));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_tensor_of_two_fragments),
        cmocka_unit_test(test_floats_times_1e8),
        cmocka_unit_test(test_tensors_follow_each_other),
        cmocka_unit_test(test_a_flow_of_several),
        cmocka_unit_test(test_numbers_wrap),
        cmocka_unit_test(test_three_later_acknowledgements_are_a_loss),
        cmocka_unit_test(test_all_of_several_losses_are_found),
        cmocka_unit_test(test_timeouts_double),
        cmocka_unit_test(test_warnings_and_the_end),
        cmocka_unit_test(test_the_window_by_hand),
        cmocka_unit_test(test_marks_and_losses_halve),
        cmocka_unit_test(test_rehash),
        cmocka_unit_test(test_the_later_rehash_counts),
        cmocka_unit_test(test_floats_after_an_overflow),
        cmocka_unit_test(test_values_that_are_too_large),
        cmocka_unit_test(test_a_new_scale_from_a_fragment_on),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_bad_configurations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
//
// The parameter server's rules one by one, with the packets that switches would let pass.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "harness/hosts/atp/rig.h"

#define US 1000

static uint8_t frame[ATP_FRAME_BYTES];
static struct atp_packet answer;

static uint32_t values[ATP_VALUES];

static const uint32_t *all(uint32_t v) {
    for (unsigned i = 0; i < ATP_VALUES; i++)
        values[i] = v;
    return values;
}

static struct atp_packet of(uint32_t workers, uint32_t sequence) {
    return (struct atp_packet){.bitmap0 = workers,
                               .bitmap1 = 1,
                               .sequence = sequence,
                               .index = (uint16_t)(1000 + sequence)};
}

static enum atp_reason push(struct atp_server *s, uint32_t workers, uint32_t sequence, int32_t v,
                            uint64_t now) {
    struct atp_packet p = of(workers, sequence);

    return rig_push(s, 0, &p, all((uint32_t)v), now);
}

static bool answers(struct atp_server *s, uint64_t now) {
    return rig_answer(s, now, frame, &answer);
}

static struct atp_server *new_server(unsigned workers, enum atp_type type) {
    struct atp_server_config c = rig_server_config(workers);

    c.type = type;
    return rig_server(&c);
}

// ---- sums ------------------------------------------------------------------------------------

static void test_a_complete_sum(void **state) {
    struct atp_server *s = new_server(3, ATP_F32);
    bool complete;
    struct atp_members m;

    (void)state;
    assert_false(answers(s, 0));
    assert_int_equal(push(s, 7, 0, 150000000, 0), ATP_ACCEPTED);
    assert_int_equal(atp_server_queued(s), 1);
    assert_true(answers(s, 0));
    assert_true(answer.is_ack);
    assert_int_equal(answer.job, RIG_JOB);
    assert_int_equal(answer.sequence, 0);
    assert_int_equal(answer.index, 1000);
    assert_false(answer.overflow || answer.resend || answer.ecn || answer.collision);
    assert_int_equal(answer.bitmap0, 0);
    assert_int_equal(answer.bitmap1, 0);
    for (unsigned i = 0; i < ATP_VALUES; i++)
        assert_int_equal(rig_value(&answer, i), rig_bits(1.5f));
    assert_false(answers(s, 0));
    assert_int_equal(atp_server_first(s), 1);
    assert_true(atp_server_look(s, 0, &m, &complete));
    assert_true(complete);
    assert_int_equal(atp_server_stats(s).values_from[2], 1);
    atp_server_free(s);
}

static void test_single_and_partial_sums(void **state) {
    struct atp_server *s = new_server(4, ATP_I32);
    struct atp_members m;
    bool complete;

    (void)state;
    assert_int_equal(push(s, 1, 0, 1, 0), ATP_ACCEPTED);
    assert_int_equal(push(s, 1, 0, 1, 0), ATP_DUPLICATE);
    assert_int_equal(push(s, 6, 0, 10, 0), ATP_ACCEPTED);
    assert_int_equal(push(s, 3, 0, 11, 0), ATP_DUPLICATE);
    assert_int_equal(push(s, 9, 0, 101, 0), ATP_DUPLICATE); // 8 is missing, 1 is there
    assert_true(atp_server_look(s, 0, &m, &complete));
    assert_int_equal(m.word[0], 7);
    assert_false(complete);
    assert_false(answers(s, 0));
    assert_int_equal(push(s, 8, 0, -100, 0), ATP_ACCEPTED);
    assert_true(answers(s, 0));
    assert_int_equal((int32_t)rig_value(&answer, 61), -89);
    assert_int_equal(atp_server_stats(s).ignored[ATP_DUPLICATE], 3);
    atp_server_free(s);
}

static void test_what_has_more_takes_the_place(void **state) {
    struct atp_server *s = new_server(3, ATP_I32);

    (void)state;
    assert_int_equal(push(s, 2, 0, 1, 0), ATP_ACCEPTED);
    assert_int_equal(push(s, 3, 0, 5, 0), ATP_ACCEPTED);
    assert_int_equal(push(s, 4, 0, 20, 0), ATP_ACCEPTED);
    assert_true(answers(s, 0));
    assert_int_equal(rig_value(&answer, 0), 25);
    assert_int_equal(push(s, 1, 1, 1, 0), ATP_ACCEPTED);
    assert_int_equal(push(s, 7, 1, 30, 0), ATP_ACCEPTED);
    assert_true(answers(s, 0));
    assert_int_equal(rig_value(&answer, 0), 30);
    atp_server_free(s);
}

static void test_sums_of_more_than_32_bits(void **state) {
    struct atp_server *s = new_server(3, ATP_F32);

    (void)state;
    for (uint32_t w = 0; w < 3; w++)
        assert_int_equal(push(s, 1u << w, 0, 2000000000, 0), ATP_ACCEPTED);
    assert_true(answers(s, 0));
    assert_int_equal(rig_value(&answer, 5), rig_bits(60));
    atp_server_free(s);
    s = new_server(2, ATP_I32);
    assert_int_equal(push(s, 1, 0, 2000000000, 0), ATP_ACCEPTED);
    assert_int_equal(push(s, 2, 0, 2000000000, 0), ATP_ACCEPTED);
    assert_true(answers(s, 0));
    assert_int_equal((int32_t)rig_value(&answer, 0), INT32_MAX);
    // what is saturated already stays so
    assert_int_equal(push(s, 1, 1, INT32_MIN, 0), ATP_ACCEPTED);
    assert_int_equal(push(s, 2, 1, 5, 0), ATP_ACCEPTED);
    assert_true(answers(s, 0));
    assert_int_equal((int32_t)rig_value(&answer, 0), INT32_MIN);
    atp_server_free(s);
}

static void test_old_ahead_and_foreign(void **state) {
    struct atp_server *s = new_server(2, ATP_I32);
    struct atp_packet p = of(1, 0);

    (void)state;
    assert_int_equal(push(s, 3, 0, 1, 0), ATP_ACCEPTED);
    assert_int_equal(push(s, 1, 16, 1, 0), ATP_ACCEPTED); // first is 1, the window 16
    assert_int_equal(push(s, 1, 17, 1, 0), ATP_AHEAD);
    assert_int_equal(push(s, 1, 0xffffff, 1, 0), ATP_OLD);
    assert_int_equal(push(s, 4, 1, 1, 0), ATP_WRONG_MEMBERS);
    p.job = 9;
    assert_int_equal(rig_push(s, 0, &p, NULL, 0), ATP_WRONG_JOB);
    p.job = 0;
    p.is_ack = true;
    assert_int_equal(rig_push(s, 0, &p, NULL, 0), ATP_WRONG_WAY);
    p.is_ack = false;
    p.overflow = true;
    p.sequence = 1;
    assert_int_equal(rig_push(s, 0, &p, NULL, 0), ATP_NOT_FLOAT);
    atp_server_free(s);
}

static void test_numbers_wrap(void **state) {
    struct atp_server_config c = rig_server_config(1);
    struct atp_server *s;

    (void)state;
    c.first_fragment = 0x2fffffe;
    c.type = ATP_I32;
    s = rig_server(&c);
    assert_int_equal(push(s, 1, 0, 3, 0), ATP_ACCEPTED);
    assert_int_equal(push(s, 1, 0xfffffe, 1, 0), ATP_ACCEPTED);
    assert_int_equal(push(s, 1, 0xffffff, 2, 0), ATP_ACCEPTED);
    assert_int_equal(atp_server_first(s), 0x3000001);
    assert_true(answers(s, 0));
    assert_int_equal(answer.sequence, 0);
    assert_true(answers(s, 0));
    assert_int_equal(answer.sequence, 0xfffffe);
    assert_true(answers(s, 0));
    assert_int_equal(rig_value(&answer, 0), 2);
    atp_server_free(s);
}

// ---- repetitions -----------------------------------------------------------------------------

static void test_one_repetition_for_a_burst(void **state) {
    struct atp_server *s = new_server(3, ATP_I32);

    (void)state;
    assert_int_equal(push(s, 7, 0, 42, 0), ATP_ACCEPTED);
    assert_true(answers(s, 0));
    assert_int_equal(push(s, 1, 0, 7, 20 * US), ATP_OLD);
    assert_int_equal(push(s, 2, 0, 7, 20 * US), ATP_OLD);
    assert_true(answers(s, 20 * US));
    assert_int_equal(rig_value(&answer, 0), 42);
    // the third is of the same burst; the first, or the third again, has lost the answer
    assert_int_equal(push(s, 4, 0, 7, 30 * US), ATP_OLD);
    assert_false(answers(s, 30 * US));
    assert_int_equal(push(s, 1, 0, 7, 31 * US), ATP_OLD);
    assert_true(answers(s, 31 * US));
    assert_int_equal(push(s, 4, 0, 7, 32 * US), ATP_OLD);
    assert_false(answers(s, 32 * US));
    assert_int_equal(push(s, 4, 0, 7, 33 * US), ATP_OLD);
    assert_true(answers(s, 33 * US));
    // and after a while every question is a new one
    assert_int_equal(push(s, 2, 0, 7, 532 * US), ATP_OLD);
    assert_false(answers(s, 532 * US));
    assert_int_equal(push(s, 1, 0, 7, 533 * US), ATP_OLD);
    assert_true(answers(s, 533 * US));
    assert_int_equal(atp_server_stats(s).repeated, 4);
    assert_int_equal(atp_server_stats(s).parameters_sent, 5);
    atp_server_free(s);
}

static void test_a_burst_that_completes(void **state) {
    struct atp_server *s = new_server(3, ATP_I32);
    struct atp_packet p = of(3, 0);

    (void)state;
    // all send it again: the first has taken along what the switch had of another
    p.resend = true;
    assert_int_equal(rig_push(s, 0, &p, all(1), 0), ATP_ACCEPTED);
    p.bitmap0 = 4;
    assert_int_equal(rig_push(s, 2, &p, all(1), 1 * US), ATP_ACCEPTED);
    assert_true(answers(s, 1 * US));
    p.bitmap0 = 2;
    assert_int_equal(rig_push(s, 1, &p, all(1), 2 * US), ATP_OLD);
    assert_false(answers(s, 2 * US));
    assert_int_equal(rig_push(s, 1, &p, all(1), 501 * US), ATP_OLD);
    assert_true(answers(s, 501 * US));
    atp_server_free(s);
}

static void test_parameters_are_kept_for_a_window(void **state) {
    struct atp_server *s = new_server(1, ATP_I32);

    (void)state;
    for (uint32_t n = 0; n < 17; n++) {
        assert_int_equal(push(s, 1, n, (int32_t)n, 0), ATP_ACCEPTED);
        assert_true(answers(s, 0));
    }
    assert_int_equal(push(s, 1, 1, 0, 1000 * US), ATP_OLD);
    assert_true(answers(s, 1000 * US));
    assert_int_equal(answer.sequence, 1);
    assert_int_equal(rig_value(&answer, 0), 1);
    atp_server_free(s);
}

static void test_a_packet_for_each_index(void **state) {
    struct atp_server *s = new_server(2, ATP_I32);
    struct atp_packet p = of(1, 0);

    (void)state;
    assert_int_equal(rig_push(s, 0, &p, NULL, 0), ATP_ACCEPTED);
    p = of(2, 0);
    p.index = 77;
    assert_int_equal(rig_push(s, 0, &p, NULL, 0), ATP_ACCEPTED);
    assert_true(answers(s, 0));
    assert_int_equal(answer.index, 1000);
    assert_true(answers(s, 0));
    assert_int_equal(answer.index, 77);
    assert_false(answers(s, 0));
    // one that nobody has used before is answered at once
    p.index = 78;
    assert_int_equal(rig_push(s, 0, &p, NULL, 0), ATP_OLD);
    assert_true(answers(s, 0));
    assert_int_equal(answer.index, 78);
    atp_server_free(s);
}

// ---- marks, collisions -----------------------------------------------------------------------

static void test_marks_are_passed_on(void **state) {
    struct atp_server *s = new_server(2, ATP_I32);
    struct atp_packet p = of(1, 0);

    (void)state;
    p.ecn = true;
    assert_int_equal(rig_push(s, 0, &p, NULL, 0), ATP_ACCEPTED);
    p = of(2, 0);
    assert_int_equal(rig_push(s, 0, &p, NULL, 0), ATP_ACCEPTED);
    assert_true(answers(s, 0));
    assert_true(answer.ecn);
    assert_int_equal(push(s, 3, 1, 0, 0), ATP_ACCEPTED);
    assert_true(answers(s, 0));
    assert_false(answer.ecn);
    atp_server_free(s);
}

static void test_a_collision_gives_a_new_index(void **state) {
    struct atp_server_config c = rig_server_config(2);
    struct atp_packet p = of(1, 0);
    uint32_t expected;
    struct atp_server *s;

    (void)state;
    c.first_index = 900;
    c.indices = 200;
    for (int rehash = 0; rehash < 2; rehash++) {
        c.rehash = rehash;
        s = rig_server(&c);
        expected = rehash ? ATP_NEW | (900 + atp_rehash(100, 200, (uint32_t)c.flow.job << 24)) : 0;
        p = of(1, 0);
        p.collision = p.resend = true;
        assert_int_equal(rig_push(s, 0, &p, NULL, 0), ATP_ACCEPTED);
        p.bitmap0 = 2;
        assert_int_equal(rig_push(s, 0, &p, NULL, 0), ATP_ACCEPTED);
        assert_true(answers(s, 0));
        assert_int_equal(answer.bitmap0, expected);
        assert_int_equal(atp_server_stats(s).rehashed, rehash);
        // the same each time
        assert_int_equal(rig_push(s, 0, &p, NULL, 1000 * US), ATP_OLD);
        assert_true(answers(s, 1000 * US));
        assert_int_equal(answer.bitmap0, expected);
        atp_server_free(s);
    }
}

// ---- overflow --------------------------------------------------------------------------------

static enum atp_reason push_float(struct atp_server *s, uint32_t worker, float x, uint64_t now) {
    struct atp_packet p = of(worker, 0);

    p.overflow = true;
    return rig_push(s, 0, &p, all(rig_bits(x)), now);
}

static void test_overflow(void **state) {
    struct atp_server *s = new_server(3, ATP_F32);
    static const int32_t limits[2] = {INT32_MAX, INT32_MIN};

    (void)state;
    for (int i = 0; i < 2; i++) {
        s = i ? new_server(3, ATP_F32) : s;
        assert_int_equal(push(s, 1, 0, 5, 0), ATP_ACCEPTED);
        assert_int_equal(push(s, 6, 0, limits[i], 0), ATP_ACCEPTED);
        assert_true(answers(s, 0));
        assert_true(answer.overflow);
        assert_int_equal(answer.index, 1000);
        assert_false(answers(s, 0));
        assert_int_equal(push_float(s, 1, 3e30f, 0), ATP_ACCEPTED);
        // late, and repeated, fixed point numbers; the request was lost
        assert_int_equal(push(s, 2, 0, 5, 10 * US), ATP_NOT_FLOAT);
        assert_false(answers(s, 10 * US));
        assert_int_equal(push(s, 2, 0, 5, 500 * US), ATP_NOT_FLOAT);
        assert_true(answers(s, 500 * US));
        assert_true(answer.overflow);
        assert_int_equal(push_float(s, 2, -3e30f, 0), ATP_ACCEPTED);
        assert_int_equal(push_float(s, 2, -3e30f, 0), ATP_DUPLICATE);
        assert_int_equal(push_float(s, 4, 0.5f, 0), ATP_ACCEPTED);
        assert_true(answers(s, 0));
        assert_false(answer.overflow);
        assert_int_equal(rig_value(&answer, 0), rig_bits(0.5f)); // in double precision
        assert_int_equal(atp_server_stats(s).overflows, 1);
        atp_server_free(s);
    }
}

static void test_floats_that_nobody_asked_for(void **state) {
    struct atp_server *s = new_server(2, ATP_F32);

    (void)state;
    assert_int_equal(push(s, 1, 0, 5, 0), ATP_ACCEPTED);
    assert_int_equal(push_float(s, 2, 1000, 0), ATP_ACCEPTED);
    assert_true(answers(s, 0));
    assert_true(answer.overflow);
    assert_int_equal(push_float(s, 1, 1, 0), ATP_ACCEPTED);
    assert_true(answers(s, 0));
    assert_int_equal(rig_value(&answer, 0), rig_bits(1001));
    atp_server_free(s);
}

// ---- dynamic scale ---------------------------------------------------------------------------

static void test_scale_follows_overflows(void **state) {
    struct atp_server_config c = rig_server_config(2);
    struct atp_scale scale = {0};
    struct atp_server *s;
    uint32_t n = 0;

    (void)state;
    c.dynamic_scale = true;
    s = rig_server(&c);
    // all overflow, with values of 100: s = (2^31 - 2) / 200 = 10737418.2, 2^23 = 8388608
    for (; n < 33; n++) {
        struct atp_packet p = of(3, n);
        assert_int_equal(push(s, 3, n, INT32_MAX, 0), ATP_ACCEPTED);
        assert_true(answers(s, 0));
        p.overflow = true;
        for (uint32_t w = 1; w < 3; w++) {
            p.bitmap0 = w;
            assert_int_equal(rig_push(s, 0, &p, all(rig_bits(100)), 0), ATP_ACCEPTED);
        }
        assert_true(answers(s, 0));
        assert_int_equal(answer.bitmap1 != 0, n == 32); // two windows of 16
    }
    assert_true(atp_scale_unpack(answer.bitmap1, &scale));
    assert_int_equal(scale.exponent, 23);
    assert_int_equal(scale.after, 16);
    for (; n < 50; n++) {
        assert_int_equal(push(s, 3, n, 1 << 23, 0), ATP_ACCEPTED);
        assert_true(answers(s, 0));
        assert_int_equal(rig_value(&answer, 0), rig_bits(n < 48 ? (float)(8388608 / 1e8) : 1));
        assert_int_equal(answer.bitmap1, 0);
    }
    // no overflow any more, and small sums: it grows again
    for (; n < 110 && answer.bitmap1 == 0; n++) {
        assert_int_equal(push(s, 3, n, 1000, 0), ATP_ACCEPTED);
        assert_true(answers(s, 0));
    }
    assert_true(atp_scale_unpack(answer.bitmap1, &scale));
    assert_int_equal(scale.exponent, 24);
    atp_server_free(s);
}

// ---- another shape ---------------------------------------------------------------------------

static void test_reshape(void **state) {
    static const uint32_t before[] = {0, 0, 0}, after[] = {0, 0, 1};
    struct atp_server_config c = rig_server_config(3);
    struct atp_shape shape;
    struct atp_server *s;
    struct atp_packet p;
    const char *why;

    (void)state;
    c.type = ATP_I32;
    assert_int_equal(atp_places(before, 3, 9, &c.shape, NULL, NULL), 0);
    s = rig_server(&c);
    assert_int_equal(push(s, 7, 0, 1, 0), ATP_ACCEPTED);
    assert_int_equal(push(s, 6, 1, 2, 0), ATP_ACCEPTED);
    assert_int_equal(push(s, 7, 2, 3, 0), ATP_ACCEPTED);
    assert_true(answers(s, 0));
    assert_true(answers(s, 0));
    assert_int_equal(atp_places(after, 2, 9, &shape, NULL, NULL), 0);
    assert_int_equal(atp_server_reshape(s, &shape, 0, &why), SILKEN_ERR_INVALID);
    assert_int_equal(atp_places(after, 3, 9, &shape, NULL, NULL), 0);
    assert_int_equal(atp_server_reshape(s, &shape, 5, &why), 0);
    assert_true(answers(s, 5));
    assert_true(answer.resend);
    assert_int_equal(answer.sequence, 1);
    assert_int_equal(answer.bitmap0, ATP_NEW | 33); // twice the window more
    assert_int_equal(atp_server_first(s), 33);
    assert_false(answers(s, 5));
    assert_int_equal(atp_server_deadline(s), 5 + 10000 * US);
    atp_server_expire(s, 5 + 10000 * US);
    assert_true(answers(s, 5 + 10000 * US));
    assert_true(answer.resend);

    // the old numbers: worker 2's bit is nobody's in the new shape
    assert_int_equal(push(s, 4, 0, 1, 20000 * US), ATP_OLD);
    assert_true(answers(s, 20000 * US));
    assert_int_equal(answer.sequence, 0);
    assert_int_equal(rig_value(&answer, 0), 1);
    assert_int_equal(push(s, 4, 1, 1, 20000 * US), ATP_OLD);
    assert_true(answers(s, 20000 * US));
    assert_true(answer.resend);

    // the new ones; 2 is 34 and stays complete
    p = of(3, 33);
    assert_int_equal(rig_push(s, 0, &p, all(10), 20000 * US), ATP_ACCEPTED);
    assert_true(atp_server_deadline(s) != ATP_NEVER); // worker 2 has not been heard of
    p = of(1, 33);
    p.bitmap1 = 2;
    assert_int_equal(rig_push(s, 2, &p, all(100), 20000 * US), ATP_ACCEPTED);
    assert_true(atp_server_deadline(s) == ATP_NEVER);
    assert_true(answers(s, 20000 * US));
    assert_int_equal(rig_value(&answer, 0), 110);
    assert_int_equal(answer.sequence, 33);
    assert_int_equal(atp_server_first(s), 35);
    p = of(1, 34);
    assert_int_equal(rig_push(s, 0, &p, all(7), 20000 * US), ATP_OLD);
    assert_true(answers(s, 20000 * US));
    assert_int_equal(rig_value(&answer, 0), 3);
    atp_server_free(s);
}

static void refused(struct atp_server_config c) {
    struct atp_server *s = NULL;
    const char *why = NULL;

    assert_int_equal(atp_server_new(&s, &c, &why), SILKEN_ERR_INVALID);
    assert_non_null(why);
}

static void test_bad_configurations(void **state) {
    const struct atp_server_config good = rig_server_config(2);
    struct atp_server_config c = good;

    (void)state;
    refused((c.flow.job = 128, c));
    c = good;
    refused((c.shape.workers = 0, c));
    c = good;
    refused((c.indices = 65537, c));
    c = good;
    refused((c.window_max = 0, c));
    c = good;
    refused((c.restart_every = 0, c));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_complete_sum),
        cmocka_unit_test(test_single_and_partial_sums),
        cmocka_unit_test(test_what_has_more_takes_the_place),
        cmocka_unit_test(test_sums_of_more_than_32_bits),
        cmocka_unit_test(test_old_ahead_and_foreign),
        cmocka_unit_test(test_numbers_wrap),
        cmocka_unit_test(test_one_repetition_for_a_burst),
        cmocka_unit_test(test_a_burst_that_completes),
        cmocka_unit_test(test_parameters_are_kept_for_a_window),
        cmocka_unit_test(test_a_packet_for_each_index),
        cmocka_unit_test(test_marks_are_passed_on),
        cmocka_unit_test(test_a_collision_gives_a_new_index),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_floats_that_nobody_asked_for),
        cmocka_unit_test(test_scale_follows_overflows),
        cmocka_unit_test(test_reshape),
        cmocka_unit_test(test_bad_configurations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

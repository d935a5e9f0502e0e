// SPDX-License-Identifier: Apache-2.0
//
// A worker and a switch that was restarted: what it answers when it is asked where it is, and what
// it takes from another worker. The test plays the switch; messages are written out here once more.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/hosts/switchml/answer.h"
#include "harness/hosts/netsim.h"

#define K    64
#define LEN  (SWML_HEADER_BYTES + 4 * K)
#define POOL 4
#define BASE 8

static struct swml_worker *worker;
static uint8_t frame[SWML_MAX_FRAME];

static int set_up(void **state) {
    struct sut_job job = netsim_default_job(2, K, 0, POOL);
    struct swml_config config = {
        .flow = job.flow[0],
        .workers = 2,
        .pool_base = BASE,
        .pool_size = POOL,
        .rto_initial = 100,
        .rto_min = 50,
        .rto_max = 1000,
        .stall_warning = 5000,
        .hard_limit = SWML_NEVER,
    };

    (void)state;
    return swml_worker_new(&worker, &config, NULL);
}

static int tear_down(void **state) {
    (void)state;
    swml_worker_free(worker);
    worker = NULL;
    return 0;
}

static void submit(enum swml_type type, const void *in, void *out, size_t count) {
    struct swml_tensor t = {.type = type, .in = in, .out = out, .count = count, .cookie = out};

    assert_int_equal(0, swml_worker_submit(worker, &t, 0));
}

static bool write_one(uint64_t now) {
    size_t len = swml_worker_write(worker, frame, sizeof frame, now);

    assert_true(len == 0 || len == LEN);
    return len > 0;
}

// As if the other worker had sent zeros and no exponent.
static void answer(uint64_t now) {
    answer_make(frame);
    assert_int_equal(SWML_ACCEPTED, swml_worker_read(worker, frame, LEN, now));
}

static uint32_t get32(const uint8_t *f, size_t at) {
    return (uint32_t)answer_get16(f, at) << 16 | answer_get16(f, at + 2);
}

static void set32(uint8_t *f, size_t at, uint32_t value) {
    answer_set16(f, at, (uint16_t)(value >> 16));
    answer_set16(f, at + 2, (uint16_t)value);
}

// ---- what the switch says --------------------------------------------------------------------

static uint8_t said[LEN];

// From any frame that the worker has sent: where to is where from.
static void say_head(const uint8_t *sent, unsigned type, uint16_t index, uint32_t tsi,
                     size_t payload) {
    memset(said, 0, sizeof said);
    memcpy(said, sent, AT_SIZE);
    answer_set16(said, AT_IP_TOTAL, (uint16_t)(28 + payload));
    answer_set16(said, AT_UDP_LENGTH, (uint16_t)(8 + payload));
    answer_make(said);
    answer_set16(said, AT_UDP_SOURCE, 0xbedf);
    said[AT_SIZE] = (uint8_t)(type << 4 | 1);
    said[AT_JOB] = sent[AT_JOB];
    set32(said, AT_TSI, tsi);
    answer_set16(said, AT_POOL_INDEX, index);
}

static enum swml_reason ask_where(const uint8_t *sent, uint16_t slot) {
    say_head(sent, 2, slot, 0, 10);
    return swml_worker_read(worker, said, 60, 0); // with Ethernet's padding
}

static enum swml_reason ask_again(const uint8_t *sent, uint16_t slot, uint32_t tsi) {
    say_head(sent, 4, slot, tsi, 10);
    return swml_worker_read(worker, said, 52, 0);
}

static void expect_reply(unsigned type, uint16_t index, uint32_t tsi) {
    uint16_t sum;

    assert_true(swml_worker_queued(worker) > 0);
    assert_true(write_one(0));
    sum = answer_get16(frame, 24);
    answer_fix_checksum(frame);
    assert_int_equal(sum, answer_get16(frame, 24));
    assert_int_equal(0xbedf, answer_get16(frame, AT_UDP_DESTINATION));
    assert_int_equal(0xbee0, answer_get16(frame, AT_UDP_SOURCE));
    assert_int_equal(type << 4 | 1, frame[AT_SIZE]);
    assert_int_equal(index, answer_get16(frame, AT_POOL_INDEX));
    assert_int_equal(tsi, get32(frame, AT_TSI));
}

// ---- questions -------------------------------------------------------------------------------

// Slots 0 and 1 are used twice, 2 and 3 once, and nothing is in flight: a worker that has all it
// wants answers.
static void test_where(void **state) {
    int32_t x[6 * K] = {0};
    uint8_t sent[LEN];

    (void)state;
    submit(SWML_I32, x, x, 6 * K);
    while (write_one(0)) {
        memcpy(sent, frame, LEN);
        answer(0);
    }
    assert_int_equal(SWML_ACCEPTED, ask_where(sent, BASE));
    expect_reply(3, BASE, POOL);
    for (unsigned i = 0; i < K; i++)
        assert_int_equal(i < 2 ? 2 : i < 4 ? 1 : 0, get32(frame, AT_ELEMENTS + 4 * i));
    assert_int_equal(SWML_ACCEPTED, ask_where(sent, BASE + 1));
    expect_reply(3, BASE + 1, POOL);
    for (unsigned i = 0; i < K; i++)
        assert_int_equal(i < 1 ? 2 : i < 3 ? 1 : 0, get32(frame, AT_ELEMENTS + 4 * i));
    assert_false(write_one(0));
    assert_int_equal(SWML_WRONG_SLOT, ask_where(sent, BASE + POOL));
    assert_int_equal(SWML_WRONG_SLOT, ask_where(sent, BASE - 1));
    assert_int_equal(2, swml_worker_stats(worker).asked);
    assert_int_equal(0, swml_worker_queued(worker));
}

// The elements of two frames, which may differ where floats hold less than integers do, become the
// same floats.
static void assert_same_floats(const uint8_t *given, const uint8_t *kept, int8_t exponent) {
    const struct sk_quantise *scalar = sk_quantise_named("scalar");
    double inverse = sk_block_inverse(exponent, 2);
    float a[K], b[K];

    scalar->wire_to_f32(a, given + AT_ELEMENTS, K, inverse);
    scalar->wire_to_f32(b, kept + AT_ELEMENTS, K, inverse);
    assert_memory_equal(a, b, sizeof a);
}

// The last answer comes back: of a block, and of an exponent alone; and no other.
static void test_again(void **state) {
    float x[4 * K];
    uint8_t sent[LEN], given[LEN];

    (void)state;
    for (unsigned i = 0; i < 2 * K; i++)
        x[i] = (float)i;
    submit(SWML_F32, x, x, K);
    assert_true(write_one(0));
    memcpy(sent, frame, LEN);
    assert_int_equal(SWML_STALE, ask_again(sent, BASE, 0)); // nothing was answered yet
    frame[AT_E0] = 100;
    answer(0); // of the round with the exponent
    assert_int_equal(SWML_ACCEPTED, ask_again(sent, BASE, 0));
    expect_reply(5, BASE, 0);
    assert_int_equal(100, frame[AT_E0]);
    for (unsigned i = 0; i < 4 * K; i++)
        assert_int_equal(0, frame[AT_ELEMENTS + i]);
    assert_int_equal(SWML_STALE, ask_again(sent, BASE, 1)); // is in flight
    assert_true(write_one(0));
    assert_int_equal(0x8000 | BASE, answer_get16(frame, AT_POOL_INDEX));
    for (unsigned i = 0; i < 4 * K; i++)
        frame[AT_ELEMENTS + i] = (uint8_t)(7 * i);
    frame[AT_E0] = 0x80;
    memcpy(given, frame, LEN);
    answer(0); // the tensor is done, its memory has numbers in it again
    memset(x, 0, sizeof x);
    for (int twice = 0; twice < 2; twice++) {
        assert_int_equal(SWML_ACCEPTED, ask_again(sent, BASE, 1));
        expect_reply(5, 0x8000 | BASE, 1);
        assert_memory_equal(given + AT_E0, frame + AT_E0, 1);
        assert_same_floats(given, frame, 100);
    }
    assert_int_equal(SWML_STALE, ask_again(sent, BASE, 0));
    assert_int_equal(SWML_STALE, ask_again(sent, BASE, 2));
    assert_int_equal(SWML_STALE, ask_again(sent, BASE, 1 << 24 | 1)); // another session's
    // the next tensor is in flight in the slot: still the answer before
    submit(SWML_F32, x, x, 4 * K);
    assert_int_equal(SWML_ACCEPTED, ask_again(sent, BASE, 1));
    expect_reply(5, 0x8000 | BASE, 1);
    assert_same_floats(given, frame, 100);
}

// The answer is in a tensor that is not complete: of all exponents, those of zeros, of what is not
// finite, of floats below the normal ones and of sums beyond the range of floats, too.
static void test_again_from_the_tensor(void **state) {
    static const int8_t exponents[] = {SK_EXPONENT_ZERO, -126, -20, 0, 30, 125, 126, 127};
    static const uint32_t edges[] = {0,          1,          0x7fffffff, 0x7fffff80,
                                     0x80000001, 0x80000000, 0x1000001};

    (void)state;
    for (unsigned e = 0; e < sizeof exponents; e++) {
        float x[2 * K] = {0};
        uint8_t sent[LEN], given[LEN];
        tear_down(NULL);
        assert_int_equal(0, set_up(NULL));
        submit(SWML_F32, x, x, 2 * K);
        assert_true(write_one(0));
        memcpy(sent, frame, LEN);
        frame[AT_E0] = (uint8_t)exponents[e];
        answer(0);
        assert_true(write_one(0)); // the other slot's exponent
        assert_true(write_one(0));
        for (unsigned i = 0; i < K && exponents[e] != SK_EXPONENT_ZERO; i++) {
            uint32_t sum = i < sizeof edges / sizeof edges[0] ? edges[i] : i * 2654435761u;
            set32(frame, AT_ELEMENTS + 4 * i, sum);
        }
        frame[AT_E0] = 0x80;
        memcpy(given, frame, LEN);
        answer(0);
        assert_true(swml_worker_busy(worker));
        assert_int_equal(SWML_ACCEPTED, ask_again(sent, BASE, 1));
        expect_reply(5, 0x8000 | BASE, 1);
        assert_same_floats(given, frame, exponents[e]);
    }
}

// Replies go before packets, which go on as if nobody had asked.
static void test_questions_do_not_disturb(void **state) {
    int32_t x[POOL * K], out[POOL * K];
    uint8_t sent[LEN];

    (void)state;
    for (unsigned i = 0; i < POOL * K; i++)
        x[i] = (int32_t)i;
    submit(SWML_I32, x, out, POOL * K);
    assert_true(write_one(0));
    memcpy(sent, frame, LEN);
    answer(0);
    assert_int_equal(SWML_ACCEPTED, ask_where(sent, BASE));
    assert_int_equal(SWML_ACCEPTED, ask_again(sent, BASE, 0));
    assert_int_equal(POOL - 1 + 2, swml_worker_queued(worker));
    expect_reply(3, BASE, POOL);
    expect_reply(5, BASE, 0);
    for (unsigned i = 1; i < POOL; i++) {
        assert_true(write_one(0));
        assert_int_equal(BASE + i, answer_get16(frame, AT_POOL_INDEX));
        assert_int_equal(0xbee0, answer_get16(frame, AT_UDP_DESTINATION));
        answer(0);
    }
    assert_false(swml_worker_busy(worker));
    assert_memory_equal(x, out, sizeof x);
    assert_int_equal(0, swml_worker_stats(worker).retransmissions);
}

static void test_more_questions_than_wait(void **state) {
    int32_t x[K] = {0};
    unsigned taken = 0;
    uint8_t sent[LEN];

    (void)state;
    submit(SWML_I32, x, x, K);
    assert_true(write_one(0));
    memcpy(sent, frame, LEN);
    while (ask_where(sent, BASE) == SWML_ACCEPTED)
        taken++;
    assert_int_equal(64, taken);
    assert_int_equal(SWML_BUSY, ask_where(sent, BASE));
    assert_int_equal(2, swml_worker_stats(worker).ignored[SWML_BUSY]);
    for (unsigned i = 0; i < taken; i++)
        expect_reply(3, BASE, POOL);
    assert_false(write_one(0));
    assert_int_equal(SWML_ACCEPTED, ask_where(sent, BASE));
}

// What is no question: other ports, jobs, types, lengths.
static void test_no_questions(void **state) {
    int32_t x[K] = {0};
    uint8_t sent[LEN];

    (void)state;
    submit(SWML_I32, x, x, K);
    assert_true(write_one(0));
    memcpy(sent, frame, LEN);
    for (unsigned type = 0; type < 16; type++) {
        if (type != 2 && type != 4 && type != 5) {
            say_head(sent, type, BASE, 0, 10);
            assert_int_equal(SWML_BAD_MESSAGE, swml_worker_read(worker, said, 52, 0));
        }
    }
    say_head(sent, 2, BASE, 0, 10);
    answer_set16(said, AT_UDP_SOURCE, 0xbede);
    assert_int_equal(SWML_NOT_FROM_SWITCH, swml_worker_read(worker, said, 52, 0));
    say_head(sent, 2, BASE, 0, 10);
    said[AT_IP_SOURCE + 3] ^= 1;
    answer_fix_checksum(said);
    assert_int_equal(SWML_NOT_FROM_SWITCH, swml_worker_read(worker, said, 52, 0));
    say_head(sent, 2, BASE, 0, 10);
    said[AT_JOB] ^= 1;
    assert_int_equal(SWML_WRONG_JOB, swml_worker_read(worker, said, 52, 0));
    say_head(sent, 2, BASE, 0, 11);
    assert_int_equal(SWML_BAD_LENGTH, swml_worker_read(worker, said, 53, 0));
    say_head(sent, 2, BASE, 0, 10);
    assert_int_equal(SWML_BAD_LENGTH, swml_worker_read(worker, said, 51, 0));
    say_head(sent, 5, BASE, 0, 10);
    assert_int_equal(SWML_BAD_LENGTH, swml_worker_read(worker, said, 60, 0));
    say_head(sent, 5, BASE, 0, 10 + 4 * K);
    said[AT_SIZE] = 5 << 4 | 2;
    assert_int_equal(SWML_WRONG_SIZE, swml_worker_read(worker, said, LEN, 0));
    assert_int_equal(0, swml_worker_stats(worker).asked);
    assert_false(write_one(0));
}

// ---- answers of others -----------------------------------------------------------------------

// What another worker kept is taken as the switch's answer would be, if it is the one; how long it
// took says nothing about the time to an answer.
static void test_kept_by_others(void **state) {
    int32_t x[POOL * 2 * K] = {0};
    uint8_t sent[LEN];
    uint64_t rto;

    (void)state;
    submit(SWML_I32, x, x, POOL * 2 * K);
    assert_true(write_one(0));
    memcpy(sent, frame, LEN);
    rto = swml_worker_stats(worker).rto;
    say_head(sent, 5, BASE, POOL, 10 + 4 * K); // the next use
    said[AT_E0] = 0x80;
    assert_int_equal(SWML_STALE, swml_worker_read(worker, said, LEN, 10000));
    say_head(sent, 5, 0x8000 | BASE, 0, 10 + 4 * K); // the other version
    said[AT_E0] = 0x80;
    assert_int_equal(SWML_STALE, swml_worker_read(worker, said, LEN, 10000));
    say_head(sent, 5, BASE, 0, 10 + 4 * K);
    said[AT_E0] = 0x80;
    set32(said, AT_ELEMENTS, 4711);
    assert_int_equal(SWML_ACCEPTED, swml_worker_read(worker, said, LEN, 10000));
    assert_int_equal(4711, x[0]);
    assert_int_equal(rto, swml_worker_stats(worker).rto);
    assert_int_equal(1, swml_worker_stats(worker).answers);
    assert_int_equal(SWML_NOT_EXPECTED, swml_worker_read(worker, said, LEN, 10001)); // twice
    // the slot goes on, and has kept it for others in turn
    while (write_one(10001) && answer_get16(frame, AT_POOL_INDEX) != (0x8000 | BASE)) {
    }
    assert_int_equal(0x8000 | BASE, answer_get16(frame, AT_POOL_INDEX));
    assert_int_equal(SWML_ACCEPTED, ask_again(sent, BASE, 0));
    expect_reply(5, BASE, 0);
    assert_int_equal(4711, get32(frame, AT_ELEMENTS));
}

// ---- collective operations -------------------------------------------------------------------

static void submit_reach(enum swml_reach reach, uint32_t who, int32_t *x, size_t count) {
    const struct swml_tensor t = {
        .type = SWML_I32, .in = x, .out = x, .count = count, .reach = reach, .who = who};

    assert_int_equal(0, swml_worker_submit(worker, &t, 0));
}

// The next packet, and the answer to it without elements. Returns the packet's length.
static size_t write_and_answer_brief(uint8_t sent[LEN]) {
    size_t len = swml_worker_write(worker, frame, sizeof frame, 0);

    memcpy(sent, frame, LEN);
    answer_set16(frame, AT_IP_TOTAL, 38);
    answer_set16(frame, AT_UDP_LENGTH, 18);
    answer_make(frame);
    assert_int_equal(SWML_ACCEPTED, swml_worker_read(worker, frame, 52, 0));
    return len;
}

// Of a sum that only another worker got there is nothing to pass on, and nobody is told zeros.
static void test_again_of_anothers_sums(void **state) {
    int32_t x[K] = {1, 2, 3};
    uint8_t sent[LEN];

    (void)state;
    submit_reach(SWML_TO_ONE, 1, x, K);
    assert_int_equal(LEN, write_and_answer_brief(sent));
    assert_false(swml_worker_busy(worker));
    assert_int_equal(SWML_NOT_KEPT, ask_again(sent, BASE, 0));
    assert_int_equal(1, swml_worker_stats(worker).ignored[SWML_NOT_KEPT]);
    assert_false(write_one(0));
    assert_int_equal(SWML_ACCEPTED, ask_where(sent, BASE)); // it does say how far it is
    expect_reply(3, BASE, POOL);
    assert_int_equal(1, get32(frame, AT_ELEMENTS));
}

// A root has what it has sent, also when the tensor is its owner's again.
static void test_again_of_a_root(void **state) {
    int32_t x[K];
    uint8_t sent[LEN];

    (void)state;
    for (unsigned i = 0; i < K; i++)
        x[i] = (int32_t)(i * 2654435761u);
    submit_reach(SWML_FROM_ONE, 0, x, K);
    assert_int_equal(LEN, write_and_answer_brief(sent));
    memset(x, 0, sizeof x);
    assert_int_equal(SWML_ACCEPTED, ask_again(sent, BASE, 0));
    expect_reply(5, BASE, 0);
    for (unsigned i = 0; i < K; i++)
        assert_int_equal(i * 2654435761u, get32(frame, AT_ELEMENTS + 4 * i));
}

// A barrier is zeros, from whomever. An answer of others that has elements is taken by who wants
// none, and one without is not by who wants some.
static void test_kept_of_a_barrier_and_of_sums(void **state) {
    int32_t x[2 * K] = {0};
    uint8_t sent[LEN];

    (void)state;
    submit_reach(SWML_NONE, 0, NULL, 1);
    assert_int_equal(SWML_EMPTY_FRAME, write_and_answer_brief(sent));
    assert_int_equal(SWML_ACCEPTED, ask_again(sent, BASE, 0));
    expect_reply(5, BASE, 0);
    for (unsigned i = 0; i < K; i++)
        assert_int_equal(0, get32(frame, AT_ELEMENTS + 4 * i));
    submit_reach(SWML_TO_ONE, 1, x, K);
    assert_true(write_one(0));
    say_head(frame, 5, BASE + 1, 0, 10 + 4 * K);
    said[AT_E0] = 0x80;
    set32(said, AT_ELEMENTS, 4711);
    assert_int_equal(SWML_ACCEPTED, swml_worker_read(worker, said, LEN, 0));
    assert_int_equal(0, x[0]);
    assert_int_equal(SWML_NOT_KEPT, ask_again(sent, BASE + 1, 0));
    submit_reach(SWML_TO_ONE, 0, x, K);
    assert_true(write_one(0));
    answer_set16(frame, AT_IP_TOTAL, 38);
    answer_set16(frame, AT_UDP_LENGTH, 18);
    answer_make(frame);
    assert_int_equal(SWML_BAD_LENGTH, swml_worker_read(worker, frame, 52, 0));
    assert_true(swml_worker_busy(worker));
}

static void test_refused(void **state) {
    int32_t x[K] = {0};
    const struct swml_tensor wrong[] = {
        {.type = SWML_I32, .in = x, .out = x, .count = 1, .reach = SWML_TO_ONE, .who = 2},
        {.type = SWML_F32, .in = x, .out = x, .count = 1, .reach = SWML_FROM_ONE},
        {.type = SWML_F32, .in = x, .out = x, .count = 1, .reach = SWML_NONE},
        {.type = SWML_I32, .in = x, .out = x, .count = 1, .reach = (enum swml_reach)7},
        {.type = SWML_I32, .in = x, .count = 1, .reach = SWML_TO_ONE, .who = 0},
        {.type = SWML_I32, .out = x, .count = 1, .reach = SWML_TO_ONE, .who = 1},
        {.type = SWML_I32, .out = x, .count = 1, .reach = SWML_FROM_ONE, .who = 0},
        {.type = SWML_I32, .in = x, .count = 1, .reach = SWML_FROM_ONE, .who = 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(SILKEN_ERR_INVALID, swml_worker_submit(worker, &wrong[i], 0));
    assert_false(swml_worker_busy(worker));
}

static void test_explains_that_it_was_asked(void **state) {
    int32_t x[K] = {0};
    uint8_t sent[LEN];
    char text[1000];

    (void)state;
    submit(SWML_I32, x, x, K);
    assert_true(write_one(0));
    memcpy(sent, frame, LEN);
    ask_where(sent, BASE);
    swml_worker_explain(worker, 6000, text, sizeof text);
    assert_non_null(strstr(text, "The switch has asked 1 times how far this worker got"));
}

#define WORKER_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WORKER_TEST(test_where),
        WORKER_TEST(test_again),
        WORKER_TEST(test_again_from_the_tensor),
        WORKER_TEST(test_questions_do_not_disturb),
        WORKER_TEST(test_more_questions_than_wait),
        WORKER_TEST(test_no_questions),
        WORKER_TEST(test_kept_by_others),
        WORKER_TEST(test_again_of_anothers_sums),
        WORKER_TEST(test_again_of_a_root),
        WORKER_TEST(test_kept_of_a_barrier_and_of_sums),
        WORKER_TEST(test_refused),
        WORKER_TEST(test_explains_that_it_was_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

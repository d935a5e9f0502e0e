// SPDX-License-Identifier: Apache-2.0
//
// The worker alone, in virtual time: what it sends when, what it accepts, and what it says. The
// test plays the switch; times are small numbers.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness/hosts/switchml/answer.h"
#include "harness/hosts/netsim.h"
#include "hosts/core/quantise.h"

#define K   64
#define LEN (SWML_HEADER_BYTES + 4 * K)

static struct swml_worker *worker;
static uint8_t frame[SWML_MAX_FRAME];

// One worker of two, 4 slots, k = 64; timeouts of 100, between 50 and 1000.
static struct swml_config test_config(void) {
    struct sut_job job = netsim_default_job(2, K, 0, 4);

    return (struct swml_config){
        .flow = job.flow[0],
        .workers = 2,
        .pool_base = 8,
        .pool_size = 4,
        .rto_initial = 100,
        .rto_min = 50,
        .rto_max = 1000,
        .stall_warning = SWML_NEVER,
        .hard_limit = SWML_NEVER,
    };
}

static void make_worker(const struct swml_config *config) {
    const char *why = "";

    if (swml_worker_new(&worker, config, &why) != 0)
        fail_msg("%s", why);
}

static int set_up(void **state) {
    struct swml_config config = test_config();

    (void)state;
    make_worker(&config);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    swml_worker_free(worker);
    worker = NULL;
    return 0;
}

static void submit(enum swml_type type, const void *in, void *out, size_t count, uint64_t now) {
    struct swml_tensor t = {.type = type, .in = in, .out = out, .count = count, .cookie = out};

    assert_int_equal(0, swml_worker_submit(worker, &t, now));
}

static bool write_one(uint64_t now) {
    size_t len = swml_worker_write(worker, frame, sizeof frame, now);

    assert_true(len == 0 || len == LEN);
    return len > 0;
}

// Answers the frame in `frame` as if the other worker had sent zeros and no exponent.
static enum swml_reason answer(uint64_t now) {
    answer_make(frame);
    return swml_worker_read(worker, frame, LEN, now);
}

// Sends and answers until nothing is left; returns the number of packets.
static unsigned run_to_the_end(uint64_t now) {
    unsigned packets = 0;

    while (write_one(now)) {
        packets++;
        assert_int_equal(SWML_ACCEPTED, answer(now));
    }
    assert_false(swml_worker_busy(worker));
    assert_true(swml_worker_deadline(worker) == SWML_NEVER);
    return packets;
}

static int32_t element(unsigned i) {
    return (int32_t)((uint32_t)answer_get16(frame, AT_ELEMENTS + 4 * i) << 16 |
                     answer_get16(frame, AT_ELEMENTS + 4 * i + 2));
}

// ---- configuration ---------------------------------------------------------------------------

static void check_refused(struct swml_config config, const char *says) {
    const char *why = NULL;
    struct swml_worker *w;

    assert_int_equal(SILKEN_ERR_INVALID, swml_worker_new(&w, &config, &why));
    assert_non_null(strstr(why, says));
    assert_int_equal(SILKEN_ERR_INVALID, swml_worker_new(&w, &config, NULL));
}

static void test_bad_configurations(void **state) {
    struct swml_config c;

    (void)state;
    c = test_config(), c.flow.k = 48;
    check_refused(c, "packet size");
    c = test_config(), c.workers = 0;
    check_refused(c, "number of workers");
    c = test_config(), c.workers = 4097;
    check_refused(c, "number of workers");
    c = test_config(), c.rank = 2;
    check_refused(c, "rank");
    c = test_config(), c.pool_size = 0;
    check_refused(c, "slots");
    c = test_config(), c.pool_base = SWML_MAX_SLOTS - 3;
    check_refused(c, "slots");
    c = test_config(), c.rto_min = 0;
    check_refused(c, "timeout");
    c = test_config(), c.rto_max = 49;
    check_refused(c, "timeout");
    c = test_config(), c.hard_limit = 0;
    check_refused(c, "hard limit");
    swml_worker_free(NULL);
}

static void test_bad_tensors(void **state) {
    int32_t x[2] = {0};
    struct swml_tensor bad[] = {
        {.type = SWML_I32, .in = NULL, .out = x, .count = 1},
        {.type = SWML_I32, .in = x, .out = NULL, .count = 1},
        {.type = (enum swml_type)7, .in = x, .out = x, .count = 1},
        {.type = SWML_F32, .in = x, .out = x, .count = SIZE_MAX},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(SILKEN_ERR_INVALID, swml_worker_submit(worker, &bad[i], 0));
        assert_false(write_one(0));
    }
}

// ---- what is sent ----------------------------------------------------------------------------

static void test_bytes_of_a_packet(void **state) {
    static const uint8_t headers[SWML_HEADER_BYTES] = {
        2,    0,    0,    0,    0,    254,  2, 0, 0,    0,    1, 0, 8,  0, // Ethernet
        0x45, 0,    0x01, 0x26, 0,    0,    0, 0, 64,   17,   0, 0, 10, 0,
        0,    1,    10,   0,    0,    254,                    // IPv4
        0xbe, 0xe0, 0xbe, 0xe0, 0x01, 0x12, 0, 0,             // UDP
        0x11, 5,    0,    0,    0,    0,    0, 8, 0x80, 0x80, // SwitchML
    };
    int32_t x[3] = {1, -2, 0x01020304};
    uint16_t sum;

    (void)state;
    submit(SWML_I32, x, x, 3, 0);
    assert_true(write_one(0));
    sum = answer_get16(frame, 24);
    answer_fix_checksum(frame);
    assert_int_equal(sum, answer_get16(frame, 24));
    answer_set16(frame, 24, 0);
    assert_memory_equal(headers, frame, sizeof headers);
    assert_int_equal(1, element(0));
    assert_int_equal(-2, element(1));
    assert_int_equal(0x01020304, element(2));
    for (unsigned i = 3; i < K; i++)
        assert_int_equal(0, element(i));
}

static void test_number_of_packets(void **state) {
    static const struct {
        size_t count;
        unsigned ints, floats;
    } rows[] = {
        {0, 0, 0},
        {1, 1, 2},
        {K, 1, 2},
        {K + 1, 2, 4},
        {4 * K, 4, 8},
        {4 * K + 1, 5, 9},
        {10 * K - 1, 10, 14},
        {8 * K, 8, 12},
    };
    static float x[10 * K];
    void *cookie;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        submit(SWML_I32, x, x, rows[i].count, 0);
        assert_int_equal(rows[i].ints, run_to_the_end(0));
        submit(SWML_F32, x, x, rows[i].count, 0);
        assert_int_equal(rows[i].floats, run_to_the_end(0));
        assert_true(swml_worker_done(worker, &cookie) && swml_worker_done(worker, &cookie));
        assert_false(swml_worker_done(worker, &cookie));
    }
    assert_int_equal(0, swml_worker_stats(worker).retransmissions);
    assert_int_equal(16, swml_worker_stats(worker).tensors_done);
}

// Slots are used in turn and versions alternate in each slot, also from tensor to tensor.
static void test_slots_and_versions_carry_on(void **state) {
    unsigned uses[4] = {0}, next = 0;
    int32_t x[3 * K] = {0};

    (void)state;
    for (int round = 0; round < 20; round++) {
        submit(SWML_I32, x, x, (1 + (unsigned)round % 3) * K, 0);
        while (write_one(0)) {
            uint16_t index = answer_get16(frame, AT_POOL_INDEX);
            unsigned slot = (index & 0x7fff) - 8u;
            assert_int_equal(next % 4, slot);
            assert_int_equal(uses[slot] % 2, index >> 15);
            assert_int_equal(uses[slot], answer_get16(frame, AT_TSI + 2));
            uses[slot]++;
            next++;
            assert_int_equal(SWML_ACCEPTED, answer(0));
        }
    }
    assert_true(next > 30);
}

// At most one packet per slot is on the way, and only an answer brings the next one.
static void test_self_clocking(void **state) {
    static int32_t x[20 * K];
    uint8_t first[LEN];

    (void)state;
    submit(SWML_I32, x, x, 20 * K, 0);
    for (int i = 0; i < 4; i++) {
        assert_true(write_one(0));
        if (i == 0)
            memcpy(first, frame, LEN);
    }
    assert_false(write_one(0));
    memcpy(frame, first, LEN);
    assert_int_equal(SWML_ACCEPTED, answer(1));
    assert_true(write_one(1));
    assert_int_equal(0x8008, answer_get16(frame, AT_POOL_INDEX));
    assert_false(write_one(1));
}

// While one slot still waits in the first tensor, others go on with the second.
static void test_tensors_overlap(void **state) {
    static int32_t a[5 * K], b[4 * K];
    void *cookie;

    (void)state;
    submit(SWML_I32, a, a, 5 * K, 0);
    submit(SWML_I32, b, b, 4 * K, 0);
    assert_true(write_one(0)); // slot 8, not answered
    for (int i = 0; i < 3; i++) {
        assert_true(write_one(0));
        assert_int_equal(SWML_ACCEPTED, answer(0));
    }
    for (int i = 0; i < 3; i++) { // slots 9, 10, 11: blocks 0, 1, 2 of the second
        assert_true(write_one(0));
        assert_int_equal((0x8009 + i), answer_get16(frame, AT_POOL_INDEX));
        assert_int_equal(SWML_ACCEPTED, answer(0));
    }
    assert_false(write_one(0));
    assert_false(swml_worker_done(worker, &cookie));
}

static void test_short_buffer(void **state) {
    int32_t x = 0;

    (void)state;
    submit(SWML_I32, &x, &x, 1, 0);
    assert_int_equal(0, swml_worker_write(worker, frame, LEN - 1, 0));
    assert_int_equal(LEN, swml_worker_write(worker, frame, LEN, 0));
}

// ---- exponents -------------------------------------------------------------------------------

static void test_exponents_look_ahead(void **state) {
    static float x[9 * K], out[9 * K];
    static const int8_t announced[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, -128, -128, -128, -128};

    (void)state;
    for (unsigned i = 0; i < 9 * K; i++)
        x[i] = ldexpf(-1.0f, (int)(i / K)); // 2^b in block b: exponent b + 1
    submit(SWML_F32, x, out, 9 * K, 0);
    for (unsigned i = 0; i < sizeof announced; i++) {
        assert_true(write_one(0));
        assert_int_equal(announced[i], (int8_t)frame[AT_E0]);
        assert_int_equal(announced[i], (int8_t)frame[AT_E1]);
        // The first packet of a slot has no elements; f = (2^31-1) / (2 * 2^m), half of that here.
        assert_int_equal(i < 4 ? 0 : -(1 << 29), element(5));
        assert_int_equal(SWML_ACCEPTED, answer(0));
    }
    assert_false(write_one(0));
    for (unsigned i = 0; i < 9 * K; i++)
        assert_true(fabsf(out[i] - x[i]) <= fabsf(x[i]) * 0x1p-23f);
}

// Another worker's larger exponent sets the scale.
static void test_global_exponent_scales(void **state) {
    float x[2] = {0.75f, 0}, out[2];

    (void)state;
    submit(SWML_F32, x, out, 2, 0);
    assert_true(write_one(0));
    assert_int_equal(0, (int8_t)frame[AT_E0]);
    frame[AT_E0] = 10;
    assert_int_equal(SWML_ACCEPTED, answer(0));
    assert_true(write_one(0));
    assert_int_equal((int32_t)lrint(0.75 * INT32_MAX / 2048), element(0));
    assert_int_equal(SWML_ACCEPTED, answer(0));
    assert_true(fabsf(out[0] - 0.75f) < 1e-6f);
}

static void test_blocks_that_are_not_finite(void **state) {
    static const float bad[] = {NAN, INFINITY, -INFINITY, 0x1p126f};
    float x[K] = {1}, out[K];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        x[7] = bad[i];
        submit(SWML_F32, x, out, K, 0);
        assert_true(write_one(0));
        assert_int_equal(SK_EXPONENT_NOT_FINITE, frame[AT_E0]);
        assert_int_equal(SWML_ACCEPTED, answer(0));
        assert_true(write_one(0));
        assert_int_equal(0, element(0));
        assert_int_equal(SWML_ACCEPTED, answer(0));
        assert_true(isnan(out[0]) && isnan(out[K - 1]));
    }
}

static void test_zero_blocks(void **state) {
    float x[2] = {0, -0.0f}, out[2] = {5, 5};

    (void)state;
    submit(SWML_F32, x, out, 2, 0);
    assert_true(write_one(0));
    assert_int_equal(SK_EXPONENT_ZERO, (int8_t)frame[AT_E0]);
    assert_int_equal(SWML_ACCEPTED, answer(0));
    assert_int_equal(1, run_to_the_end(0));
    assert_true(out[0] == 0 && out[1] == 0 && !signbit(out[0]) && !signbit(out[1]));
}

// ---- time ------------------------------------------------------------------------------------

static void test_retransmission_times_and_bytes(void **state) {
    static const uint64_t sent[] = {0, 100, 300, 700, 1500, 2500, 3500};
    uint8_t first[LEN];
    int32_t x = 99;

    (void)state;
    submit(SWML_I32, &x, &x, 1, 0);
    for (size_t i = 0; i < sizeof sent / sizeof sent[0]; i++) {
        assert_true(i == 0 || swml_worker_deadline(worker) == sent[i]);
        assert_int_equal(0, swml_worker_expire(worker, sent[i] - (i > 0)));
        assert_true(i == 0 || !write_one(sent[i] - 1));
        assert_int_equal(0, swml_worker_expire(worker, sent[i]));
        assert_true(write_one(sent[i]));
        assert_false(write_one(sent[i]));
        if (i == 0)
            memcpy(first, frame, LEN);
        assert_memory_equal(first, frame, LEN);
    }
    assert_int_equal(6, swml_worker_stats(worker).retransmissions);
    assert_int_equal(SWML_ACCEPTED, answer(3600));
    assert_true(swml_worker_deadline(worker) == SWML_NEVER);
    assert_int_equal(100, swml_worker_stats(worker).rto); // no sample from a repeated packet
}

static void one_round_trip(uint64_t *now, uint64_t rtt) {
    int32_t x = 0;

    submit(SWML_I32, &x, &x, 1, *now);
    assert_true(write_one(*now));
    *now += rtt;
    assert_int_equal(SWML_ACCEPTED, answer(*now));
}

static void test_timeout_follows_the_round_trip(void **state) {
    uint64_t now = 0;

    (void)state;
    one_round_trip(&now, 80);
    assert_int_equal(80, swml_worker_stats(worker).rtt);
    assert_int_equal(80 + 4 * 40, swml_worker_stats(worker).rto);
    one_round_trip(&now, 160); // deviation 40*3/4 + 80/4, mean 80*7/8 + 160/8
    assert_int_equal(90, swml_worker_stats(worker).rtt);
    assert_int_equal(90 + 4 * 50, swml_worker_stats(worker).rto);
    for (int i = 0; i < 200; i++)
        one_round_trip(&now, 8);
    assert_int_equal(50, swml_worker_stats(worker).rto); // not below the lower bound
    for (int i = 0; i < 50; i++)
        one_round_trip(&now, 40000);
    assert_int_equal(1000, swml_worker_stats(worker).rto); // nor above the upper
}

// With answers that take longer than the timeout, the slot's next packet waits longer, which gives
// a clean sample; then the timeout fits.
static void test_slow_answers_are_learnt(void **state) {
    uint64_t now = 0;
    int32_t x = 0;

    (void)state;
    submit(SWML_I32, &x, &x, 1, now);
    assert_true(write_one(now));
    for (; now < 320; now += 10) {
        assert_int_equal(0, swml_worker_expire(worker, now));
        write_one(now);
    }
    assert_int_equal(2, swml_worker_stats(worker).retransmissions); // at 100 and 300
    assert_int_equal(SWML_ACCEPTED, answer(now));
    assert_int_equal(0, swml_worker_stats(worker).rtt);
    for (int slot = 1; slot < 4; slot++) { // other slots know nothing of it
        submit(SWML_I32, &x, &x, 1, now);
        assert_true(write_one(now));
        assert_int_equal(now + swml_worker_stats(worker).rto, swml_worker_deadline(worker));
        assert_int_equal(SWML_ACCEPTED, answer(now + 1));
    }
    submit(SWML_I32, &x, &x, 1, now);
    assert_true(write_one(now));
    assert_int_equal(now + 4 * swml_worker_stats(worker).rto, swml_worker_deadline(worker));
    assert_int_equal(SWML_ACCEPTED, answer(now + 1)); // clean: forgotten
    for (int slot = 1; slot <= 4; slot++) {
        submit(SWML_I32, &x, &x, 1, now);
        assert_true(write_one(now));
        assert_int_equal(now + swml_worker_stats(worker).rto, swml_worker_deadline(worker));
        assert_int_equal(SWML_ACCEPTED, answer(now + 1));
    }
}

// A packet that was due for retransmission when its answer came is not sent again.
static void test_answer_beats_retransmission(void **state) {
    int32_t x = 5;

    (void)state;
    submit(SWML_I32, &x, &x, 1, 0);
    assert_true(write_one(0));
    assert_int_equal(0, swml_worker_expire(worker, 100));
    assert_int_equal(SWML_ACCEPTED, answer(101));
    assert_false(write_one(101));
}

// ---- what is ignored -------------------------------------------------------------------------

struct change {
    enum swml_reason reason;
    size_t at;
    uint16_t value;
    bool keep_checksum; // do not repair the IPv4 checksum
    size_t len;         // 0: the whole frame
};

static void test_every_reason_to_ignore(void **state) {
    static const struct change rows[] = {
        {SWML_FOREIGN, AT_ETHERTYPE, 0x0806, false, 0},
        {SWML_FOREIGN, AT_IP, 0x4600, false, 0},
        {SWML_FOREIGN, AT_IP, 0x6500, false, 0},
        {SWML_FOREIGN, AT_IP_FRAGMENT, 0x2000, false, 0},
        {SWML_FOREIGN, AT_IP_FRAGMENT, 0x0001, false, 0},
        {SWML_FOREIGN, AT_IP_PROTOCOL - 1, 64 << 8 | 6, false, 0},
        {SWML_FOREIGN, AT_TSI, 0, false, 13},
        {SWML_BAD_LENGTH, AT_TSI, 0, false, 33},
        {SWML_BAD_LENGTH, AT_TSI, 0, false, LEN - 1},
        {SWML_BAD_LENGTH, AT_IP_TOTAL, 20 + 8 + 10 + 4 * K - 1, false, 0},
        {SWML_BAD_LENGTH, AT_IP_TOTAL, 0xffff, false, 0},
        {SWML_BAD_LENGTH, AT_UDP_LENGTH, 8 + 10 + 4 * K + 4, false, 0},
        {SWML_NOT_FOR_US, 4, 0x0101, false, 0},
        {SWML_NOT_FOR_US, AT_IP_DESTINATION, 0x0a01, false, 0},
        {SWML_NOT_FOR_US, AT_UDP_DESTINATION, 0xbeef, false, 0},
        {SWML_NOT_FROM_SWITCH, AT_IP_SOURCE, 0x0a01, false, 0},
        {SWML_NOT_FROM_SWITCH, AT_UDP_SOURCE, 0xbeef, false, 0},
        {SWML_BAD_CHECKSUM, AT_IP + 1, 0x0101, true, 0},
        {SWML_BAD_CHECKSUM, AT_UDP_CHECKSUM, 0x1234, false, 0},
        {SWML_WRONG_JOB, AT_SIZE, 0x1106, false, 0},
        {SWML_WRONG_SIZE, AT_SIZE, 0x1305, false, 0},
        {SWML_WRONG_SLOT, AT_POOL_INDEX, 7, false, 0},
        {SWML_WRONG_SLOT, AT_POOL_INDEX, 12, false, 0},
        {SWML_NOT_EXPECTED, AT_POOL_INDEX, 9, false, 0},
        {SWML_STALE, AT_POOL_INDEX, 0x8008, false, 0},
        {SWML_STALE, AT_TSI + 2, 8, false, 0},
        {SWML_BAD_EXPONENT, AT_E0, 0, false, 0},
        {SWML_BAD_MESSAGE, AT_UDP_SOURCE, SWML_RESTART_PORT, false, 0},
    };
    uint64_t want[SWML_REASON_COUNT] = {0};
    float x = 3, out = 0;
    uint8_t good[LEN];

    (void)state;
    submit(SWML_F32, &x, &out, 1, 0);
    assert_true(write_one(0));
    answer_make(frame);
    memcpy(good, frame, LEN);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        memcpy(frame, good, LEN);
        answer_set16(frame, rows[i].at, rows[i].value);
        if (!rows[i].keep_checksum)
            answer_fix_checksum(frame);
        want[rows[i].reason]++;
        if (swml_worker_read(worker, frame, rows[i].len ? rows[i].len : LEN, 1) != rows[i].reason)
            fail_msg("row %zu was not %s", i, swml_reason_name(rows[i].reason));
        assert_false(write_one(1));
    }
    for (int r = SWML_ACCEPTED + 1; r < SWML_REASON_COUNT; r++) {
        assert_true(want[r] > 0 || r == SWML_BUSY || r == SWML_NOT_KEPT); // no reason without a row
        assert_int_equal(want[r], swml_worker_stats(worker).ignored[r]);
    }
    assert_int_equal(SWML_ACCEPTED, swml_worker_read(worker, good, LEN, 1));
}

static void test_udp_checksum_is_verified_when_there_is_one(void **state) {
    int32_t x = 7;

    (void)state;
    submit(SWML_I32, &x, &x, 1, 0);
    assert_true(write_one(0));
    answer_make(frame);
    answer_set_udp_checksum(frame, LEN);
    frame[LEN - 1] ^= 1;
    assert_int_equal(SWML_BAD_CHECKSUM, swml_worker_read(worker, frame, LEN, 1));
    frame[LEN - 1] ^= 1;
    assert_int_equal(SWML_ACCEPTED, swml_worker_read(worker, frame, LEN, 1));
}

// Twice the same answer: the second is counted, and does not touch the result.
static void test_duplicate_answer(void **state) {
    static int32_t x[8 * K], out[8 * K];
    uint8_t again[LEN];

    (void)state;
    x[0] = 11;
    submit(SWML_I32, x, out, 8 * K, 0);
    assert_true(write_one(0));
    memcpy(again, frame, LEN);
    answer_make(again);
    assert_int_equal(SWML_ACCEPTED, swml_worker_read(worker, again, LEN, 1));
    assert_int_equal(11, out[0]);
    again[AT_ELEMENTS + 3] = 22;
    assert_int_equal(SWML_NOT_EXPECTED, swml_worker_read(worker, again, LEN, 2)); // not sent yet
    while (write_one(2)) {
    }
    assert_int_equal(SWML_STALE, swml_worker_read(worker, again, LEN, 3));
    assert_int_equal(11, out[0]);
}

// The wire's headroom: what follows the frame in the buffer is not part of it.
static void test_padding_behind_the_frame(void **state) {
    uint8_t padded[LEN + 4] = {0};
    int32_t x = 7;

    (void)state;
    submit(SWML_I32, &x, &x, 1, 0);
    assert_true(write_one(0));
    answer_make(frame);
    memcpy(padded, frame, LEN);
    assert_int_equal(SWML_ACCEPTED, swml_worker_read(worker, padded, sizeof padded, 1));
}

// ---- stalls ----------------------------------------------------------------------------------

static const char *explanation(uint64_t now) {
    static char text[4096];

    swml_worker_explain(worker, now, text, sizeof text);
    return text;
}

static void use_limits(uint64_t stall_warning, uint64_t hard_limit) {
    struct swml_config config = test_config();

    swml_worker_free(worker);
    config.stall_warning = stall_warning;
    config.hard_limit = hard_limit;
    make_worker(&config);
}

static void check_says(uint64_t now, const char *part) {
    if (!strstr(explanation(now), part))
        fail_msg("\"%s\" is missing in:\n%s", part, explanation(now));
}

static void test_warnings_come_at_doubling_times(void **state) {
    int32_t x = 0;

    (void)state;
    use_limits(3000, 13000);
    submit(SWML_I32, &x, &x, 1, 500);
    while (write_one(500)) {
    }
    for (uint64_t now = 501; now < 13500; now++) {
        bool due = now == 3500 || now == 6500 || now == 12500;
        assert_int_equal(due ? SWML_STALLED : 0, swml_worker_expire(worker, now));
        write_one(now);
        assert_true(swml_worker_deadline(worker) > now);
    }
    assert_true(swml_worker_deadline(worker) == 13500);
    assert_int_equal(SWML_FAILED, swml_worker_expire(worker, 13500));
}

static void test_a_failed_worker_does_nothing_more(void **state) {
    int32_t x = 0;
    struct swml_tensor t = {.type = SWML_I32, .in = &x, .out = &x, .count = 1};

    (void)state;
    use_limits(SWML_NEVER, 10);
    submit(SWML_I32, &x, &x, 1, 0);
    assert_true(write_one(0));
    assert_int_equal(SWML_FAILED, swml_worker_expire(worker, 10));
    assert_int_equal(SWML_FAILED, swml_worker_expire(worker, 11));
    assert_false(write_one(11));
    assert_int_equal(SWML_NOT_EXPECTED, answer(11));
    assert_int_equal(SILKEN_ERR_STALLED, swml_worker_submit(worker, &t, 11));
    assert_true(swml_worker_deadline(worker) == SWML_NEVER);
    check_says(11, "gave up");
}

static void test_idle_time_is_not_a_stall(void **state) {
    int32_t x = 0;

    (void)state;
    use_limits(100, 200);
    assert_int_equal(0, swml_worker_expire(worker, 1000000));
    submit(SWML_I32, &x, &x, 1, 1000000);
    assert_true(write_one(1000000));
    assert_int_equal(0, swml_worker_expire(worker, 1000099));
    assert_int_equal(SWML_ACCEPTED, answer(1000099));
    assert_int_equal(0, swml_worker_expire(worker, 2000000));
}

static void test_explains_silence(void **state) {
    static float x[100 * K];

    (void)state;
    submit(SWML_F32, x, x, 100 * K, 0);
    assert_true(write_one(0) && write_one(0) && write_one(0));
    check_says(5000000, "worker 0 of 2, job 5: no answer accepted for 5.0 ms; 4 of 4 slots wait");
    check_says(5000000, "sent 3 packets, 0 of them again");
    check_says(5000000,
               "slot 9 version 0: exponent of tensor 0 at element 64 of 6400, sent 1 times");
    check_says(5000000, "not sent yet");
    check_says(5000000, "No packet has been received");
    check_says(5000000, "worker 02:00:00:00:01:00, 10.0.0.1, UDP port 48864");
    check_says(5000000, "Have all 2 workers started?");
}

static void test_explains_wrong_answers(void **state) {
    int32_t x = 0;

    (void)state;
    submit(SWML_I32, &x, &x, 1, 0);
    assert_true(write_one(0));
    frame[AT_JOB] = 9;
    assert_int_equal(SWML_WRONG_JOB, answer(1));
    check_says(2, "Frames arrive, but none of them is an answer");
    check_says(2, "ignored 1: another job's number");
}

static void test_explains_a_job_that_stopped(void **state) {
    static int32_t x[9 * K];

    (void)state;
    submit(SWML_I32, x, x, 9 * K, 0);
    assert_true(write_one(0));
    assert_int_equal(SWML_ACCEPTED, answer(1));
    check_says(2, "another worker may have stopped");
    check_says(2, "slot 8 version 1: block of tensor 0 at element 256 of 576");
}

static void test_explanation_is_cut_to_its_buffer(void **state) {
    char small[20];
    int32_t x = 0;

    (void)state;
    submit(SWML_I32, &x, &x, 1, 0);
    memset(small, 'x', sizeof small);
    swml_worker_explain(worker, 0, small, 10);
    assert_int_equal(0, small[9]);
    assert_int_equal('x', small[10]);
    swml_worker_explain(worker, 0, small + 12, 0);
    assert_int_equal('x', small[12]);
}

int main(void) {
#define WORKER_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_configurations),
        WORKER_TEST(test_bad_tensors),
        WORKER_TEST(test_bytes_of_a_packet),
        WORKER_TEST(test_number_of_packets),
        WORKER_TEST(test_slots_and_versions_carry_on),
        WORKER_TEST(test_self_clocking),
        WORKER_TEST(test_tensors_overlap),
        WORKER_TEST(test_short_buffer),
        WORKER_TEST(test_exponents_look_ahead),
        WORKER_TEST(test_global_exponent_scales),
        WORKER_TEST(test_blocks_that_are_not_finite),
        WORKER_TEST(test_zero_blocks),
        WORKER_TEST(test_retransmission_times_and_bytes),
        WORKER_TEST(test_timeout_follows_the_round_trip),
        WORKER_TEST(test_slow_answers_are_learnt),
        WORKER_TEST(test_answer_beats_retransmission),
        WORKER_TEST(test_every_reason_to_ignore),
        WORKER_TEST(test_udp_checksum_is_verified_when_there_is_one),
        WORKER_TEST(test_duplicate_answer),
        WORKER_TEST(test_padding_behind_the_frame),
        WORKER_TEST(test_warnings_come_at_doubling_times),
        WORKER_TEST(test_a_failed_worker_does_nothing_more),
        WORKER_TEST(test_idle_time_is_not_a_stall),
        WORKER_TEST(test_explains_silence),
        WORKER_TEST(test_explains_wrong_answers),
        WORKER_TEST(test_explains_a_job_that_stopped),
        WORKER_TEST(test_explanation_is_cut_to_its_buffer),
    };
#undef WORKER_TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}

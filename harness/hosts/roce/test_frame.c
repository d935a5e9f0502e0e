// SPDX-License-Identifier: Apache-2.0
//
// test_frame: RoCEv2 packets against what Scapy's contrib.roce writes, with its invariant CRC; each
// bit of a packet that is changed is noticed; and the fuzz target's script with random bytes, which
// reaches every reason.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "harness/hosts/random.h"
#include "harness/hosts/roce/script.h"

#define SCRIPTS 3000u
#define LONGEST 600u

static const struct sk_endpoint from = {{2, 0, 0, 0, 0, 1}, 0, 0x0a000001};
static const struct sk_endpoint to = {{2, 0, 0, 0, 1, 0}, 0, 0x0a0000fe};

// BTH(opcode=0x2b, migreq=1, dqpn=0xc041, psn=0xfffffe), then RETH, immediate data and bytes 0 to
// 63.
static const uint8_t only[] = {
    0x02, 0x00, 0x00, 0x00, 0x01, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x45, 0x00,
    0x00, 0x80, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x25, 0x6f, 0x0a, 0x00, 0x00, 0x01, 0x0a, 0x00,
    0x00, 0xfe, 0x12, 0xb7, 0x12, 0xb7, 0x00, 0x6c, 0x00, 0x00, 0x2b, 0x40, 0xff, 0xff, 0x00, 0x00,
    0xc0, 0x41, 0x00, 0xff, 0xff, 0xfe, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0xab, 0xc0,
    0x00, 0x01, 0x00, 0x00, 0x00, 0x40, 0x00, 0x07, 0xfd, 0x04, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05,
    0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15,
    0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25,
    0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35,
    0x36, 0x37, 0x38, 0x39, 0x3a, 0x3b, 0x3c, 0x3d, 0x3e, 0x3f, 0xd3, 0x51, 0x29, 0xd1,
};

// The same with opcode 0x27 and psn 5.
static const uint8_t middle[] = {
    0x02, 0x00, 0x00, 0x00, 0x01, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x45, 0x00,
    0x00, 0x6c, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x25, 0x83, 0x0a, 0x00, 0x00, 0x01, 0x0a, 0x00,
    0x00, 0xfe, 0x12, 0xb7, 0x12, 0xb7, 0x00, 0x58, 0x00, 0x00, 0x27, 0x40, 0xff, 0xff, 0x00, 0x00,
    0xc0, 0x41, 0x00, 0x00, 0x00, 0x05, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09,
    0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19,
    0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29,
    0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39,
    0x3a, 0x3b, 0x3c, 0x3d, 0x3e, 0x3f, 0xde, 0xdb, 0x49, 0xff,
};

static void test_as_scapy(void **state) {
    struct roce_packet p;

    (void)state;
    assert_int_equal(roce_frame_read(only, sizeof only, &to, &from, &p), ROCE_ACCEPTED);
    assert_int_equal(p.opcode, ROCE_WRITE_ONLY_IMMEDIATE);
    assert_int_equal(p.qpn, 0xc041);
    assert_int_equal(p.psn, 0xfffffe);
    assert_true(p.address == UINT64_C(0x1122334455667788));
    assert_int_equal(p.rkey, 0xabc00001);
    assert_int_equal(p.length, 64);
    assert_memory_equal(p.immediate, "\0\7\xfd\4", 4);
    assert_int_equal(p.bytes, 64);
    assert_int_equal(p.payload[63], 63);
    assert_int_equal(roce_frame_read(middle, sizeof middle, &to, &from, &p), ROCE_ACCEPTED);
    assert_int_equal(p.opcode, ROCE_WRITE_MIDDLE);
    assert_int_equal(p.psn, 5);
}

// What is written again has the same bytes from UDP on; so has the CRC, if the IPv4 headers are the
// same.
static void write_again(const uint8_t *frame, size_t length) {
    uint8_t again[ROCE_MAX_FRAME];
    struct roce_packet p;

    assert_int_equal(roce_frame_read(frame, length, &to, &from, &p), ROCE_ACCEPTED);
    assert_int_equal(roce_frame_write(again, &from, &to, &p), length);
    assert_memory_equal(again + 34, frame + 34, length - 34 - 4);
    memcpy(again + 14, frame + 14, 20);
    roce_seal(again);
    assert_memory_equal(again, frame, length);
}

static void test_written_as_scapy(void **state) {
    (void)state;
    write_again(only, sizeof only);
    write_again(middle, sizeof middle);
}

// All but MAC addresses of the sender, which nobody asks for, and what the CRC leaves out: type of
// service and time to live are in IPv4's checksum, UDP's checksum and BTH's marks are in none.
static void test_each_bit_counts(void **state) {
    uint8_t frame[sizeof only];
    struct roce_packet p;

    (void)state;
    for (size_t bit = 0; bit < 8 * sizeof only; bit++) {
        const size_t at = bit / 8;
        memcpy(frame, only, sizeof only);
        frame[at] ^= (uint8_t)(1u << bit % 8);
        const bool free = (at >= 6 && at < 12) || at == 40 || at == 41 || at == ROCE_BTH_AT + 4;
        assert_int_equal(roce_frame_read(frame, sizeof frame, &to, &from, &p) == ROCE_ACCEPTED,
                         free);
    }
}

// Copies of a frame one after the other in its place, which differ in what is before any byte:
// without RETH and immediate data, with other addresses, with other lengths. Each gets the CRC that
// it gets alone.
static void test_copies(void **state) {
    (void)state;
    for (size_t shared = 0; shared <= sizeof only; shared++) {
        uint8_t memory[200], *const end = memory + 160;
        struct roce_copies copies;
        memset(memory, 0xa5, sizeof memory);
        // bytes of the payload are the same in both; they end where it does
        roce_copies_begin(&copies, end - shared);
        for (unsigned n = 0; n < 6; n++) {
            const bool longer = n % 2;
            const size_t bytes = longer ? sizeof only : sizeof middle;
            const uint8_t *const as = longer ? only : middle;
            uint8_t *const frame = end - bytes, alone[sizeof only];
            const size_t differs = bytes > shared ? bytes - shared : 0;
            if (shared > 68 && n % 2) // more than payload and CRC
                continue;
            memcpy(frame, as, n < 2 ? bytes : differs);
            for (size_t i = 0; n > 1 && i < differs; i++)
                if (i < 12 || (i > 23 && i < 34) || i > 46)
                    frame[i] ^= (uint8_t)(n * 77 + i);
            if (n == 4) // Ethernet's padding is after it: the CRC is in another place
                frame[17] -= 2;
            memcpy(alone, frame, bytes);
            roce_seal(alone);
            roce_seal_copy(frame, &copies);
            assert_memory_equal(frame, alone, bytes);
            memcpy(roce_crc_of(frame), roce_crc_of(as) - (n == 4 ? 2 : 0), ROCE_CRC_BYTES);
        }
    }
}

static void test_cut_frames(void **state) {
    struct roce_packet p;

    (void)state;
    for (size_t n = 0; n < sizeof only; n++)
        assert_int_not_equal(roce_frame_read(only, n, &to, &from, &p), ROCE_ACCEPTED);
}

static void test_scripts_reach_every_reason(void **state) {
    struct roce_script_reach reach = {0};
    static uint8_t bytes[LONGEST];

    (void)state;
    for (uint64_t seed = 0; seed < SCRIPTS; seed++) {
        struct sk_random r = sk_random_seeded(seed);
        const size_t n = sk_random_below(&r, sizeof bytes);
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)sk_random_next(&r);
        roce_script(bytes, n, &reach);
    }
    for (int i = 0; i < ROCE_REASON_COUNT; i++) {
        print_message("%-14s %llu\n", roce_reason_name((enum roce_reason)i),
                      (unsigned long long)reach.heard[i]);
        assert_true(reach.heard[i] > 0);
    }
    print_message("%llu messages\n", (unsigned long long)reach.messages);
    assert_true(reach.messages > 0);
    roce_script(NULL, 0, &reach);
}

static void test_configurations(void **state) {
    struct roce_config c = {
        .pairs = 1, .slots = 1, .k = 64, .workers = 1, .rto_min = 1, .rto_max = 1, .limit = 1};
    const struct roce_config good = c;
    struct roce_worker *w;
    const char *why = NULL;

    (void)state;
    assert_int_equal(roce_worker_new(&w, &good, &why), 0);
    roce_worker_free(w);
    c.pairs = ROCE_MAX_PAIRS + 1;
    assert_true(roce_worker_new(&w, &c, &why) < 0 && why);
    c = good;
    c.slots = 0;
    assert_true(roce_worker_new(&w, &c, &why) < 0);
    c = good;
    c.workers = 256;
    assert_true(roce_worker_new(&w, &c, &why) < 0);
    c = good;
    c.k = 32;
    assert_true(roce_worker_new(&w, &c, &why) < 0);
    c = good;
    c.rto_min = 2;
    assert_true(roce_worker_new(&w, &c, NULL) < 0);
}

// Nobody answers: the messages go again, and in the end the worker has failed.
static void test_without_answers(void **state) {
    const struct roce_config c = {.pairs = 2,
                                  .slots = 2,
                                  .k = 64,
                                  .workers = 2,
                                  .rto_first = 10,
                                  .rto_min = 10,
                                  .rto_max = 100,
                                  .limit = 1000};
    int32_t values[512] = {0};
    const struct roce_tensor all = {SILKEN_I32, values, values, 512};
    const struct roce_tensor one = {SILKEN_I32, values, values, 1};
    uint8_t frame[ROCE_MAX_FRAME];
    struct roce_worker *w;
    uint64_t now = 0;

    (void)state;
    assert_int_equal(roce_worker_new(&w, &c, NULL), 0);
    assert_true(roce_worker_deadline(w) == UINT64_MAX);
    assert_int_equal(roce_worker_submit(w, &all, 0), 0);
    assert_true(roce_worker_submit(w, &one, 0) < 0); // one at a time
    do {
        while (roce_worker_write(w, frame, now) > 0)
            ;
        assert_true(roce_worker_deadline(w) > now);
        now = roce_worker_deadline(w);
        assert_true(now <= 1000);
    } while (roce_worker_expire(w, now));
    assert_true(now == 1000 && roce_worker_stats(w).retransmissions >= 10);
    assert_true(roce_worker_busy(w));
    assert_int_equal(roce_worker_write(w, frame, now), 0);
    roce_worker_free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_scapy),        cmocka_unit_test(test_written_as_scapy),
        cmocka_unit_test(test_each_bit_counts), cmocka_unit_test(test_copies),
        cmocka_unit_test(test_cut_frames),      cmocka_unit_test(test_scripts_reach_every_reason),
        cmocka_unit_test(test_configurations),  cmocka_unit_test(test_without_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

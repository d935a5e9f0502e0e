// SPDX-License-Identifier: Apache-2.0
//
// ATP packets byte by byte, workers' places, and whom bits stand for.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "harness/hosts/atp/rig.h"
#include "harness/hosts/random.h"
#include "hosts/core/udp.h"

// ---- bytes -----------------------------------------------------------------------------------

static void test_bytes_of_a_gradient(void **state) {
    static const uint8_t expected[ATP_HEADER_BYTES] = {
        0x02, 0x00, 0x00, 0x00, 0xee, 0x01, 0x02, 0x00, 0x00, 0x00, 0x01, 0x03, 0x08, 0x00,
        // 10.0.0.4 to 10.0.254.1, 292 bytes; the checksum is added by hand:
        // 4500+0124+0000+0000+4011+0a00+0004+0a00+fe01 = 1983a, 983a + 1 = 983b, inverted 67c4
        0x45, 0x00, 0x01, 0x24, 0x00, 0x00, 0x00, 0x00, 0x40, 0x11, 0x67, 0xc4, 0x0a, 0x00, 0x00,
        0x04, 0x0a, 0x00, 0xfe, 0x01,
        // UDP
        0xa7, 0x90, 0xa7, 0x90, 0x01, 0x10, 0x00, 0x00,
        // bitmaps
        0x00, 0x00, 0x00, 0x08, 0x80, 0x00, 0x00, 0x01,
        // edge, resend and 32; overflow and 2
        0xc0 | 31, 0x40 | 1,
        // index; job and sequence
        0xbe, 0xef, 0x05, 0x12, 0x34, 0x56};
    struct atp_flow flow = rig_flow(3);
    struct atp_packet p = {.bitmap0 = 8,
                           .bitmap1 = 0x80000001,
                           .edge = true,
                           .resend = true,
                           .overflow = true,
                           .fan_in0 = 32,
                           .fan_in1 = 2,
                           .index = 0xbeef,
                           .job = 5,
                           .sequence = 0x123456};
    uint8_t frame[ATP_FRAME_BYTES] = {0};

    (void)state;
    atp_frame_init(frame, &flow, true);
    atp_frame_set(frame, &p);
    assert_memory_equal(frame, expected, sizeof expected);
}

static void test_what_is_written_is_read(void **state) {
    struct atp_flow flow = rig_flow(0);
    uint8_t frame[ATP_FRAME_BYTES] = {0};

    (void)state;
    for (unsigned bit = 0; bit < 6; bit++) {
        struct atp_packet out, in = {.bitmap0 = 0x01020304,
                                     .bitmap1 = 0xfffefdfc,
                                     .edge = bit == 0,
                                     .resend = bit == 1,
                                     .collision = bit == 2,
                                     .ecn = bit == 3,
                                     .overflow = bit == 4,
                                     .is_ack = bit == 5,
                                     .fan_in0 = (uint8_t)(1 + bit),
                                     .fan_in1 = (uint8_t)(32 - bit),
                                     .index = 0x8001,
                                     .job = 127,
                                     .sequence = 0xffffff};
        atp_frame_init(frame, &flow, false);
        atp_frame_set(frame, &in);
        assert_int_equal(atp_frame_check(&flow.group, frame, sizeof frame, &out), ATP_ACCEPTED);
        assert_ptr_equal(out.values, frame + ATP_HEADER_BYTES);
        in.values = out.values;
        assert_int_equal(in.bitmap0, out.bitmap0);
        assert_int_equal(in.bitmap1, out.bitmap1);
        assert_int_equal(in.edge, out.edge);
        assert_int_equal(in.resend, out.resend);
        assert_int_equal(in.collision, out.collision);
        assert_int_equal(in.ecn, out.ecn);
        assert_int_equal(in.overflow, out.overflow);
        assert_int_equal(in.is_ack, out.is_ack);
        assert_int_equal(in.fan_in0, out.fan_in0);
        assert_int_equal(in.fan_in1, out.fan_in1);
        assert_int_equal(in.index, out.index);
        assert_int_equal(in.job, out.job);
        assert_int_equal(in.sequence, out.sequence);
    }
}

static enum atp_reason changed(size_t at, uint8_t mask, bool mend, size_t len) {
    struct atp_flow flow = rig_flow(0);
    struct atp_packet p;
    uint8_t frame[ATP_FRAME_BYTES + 10] = {0};

    atp_frame_init(frame, &flow, true);
    frame[at] ^= mask;
    if (mend) {
        frame[24] = frame[25] = 0;
        uint16_t sum = sk_checksum(frame + 14, 20);
        frame[24] = (uint8_t)(sum >> 8);
        frame[25] = (uint8_t)sum;
    }
    return atp_frame_check(&flow.server, frame, len, &p);
}

static void test_what_is_refused(void **state) {
    (void)state;
    assert_int_equal(changed(100, 0xff, false, 306), ATP_ACCEPTED);
    assert_int_equal(changed(100, 0xff, false, 310), ATP_ACCEPTED); // padding
    assert_int_equal(changed(13, 1, false, 306), ATP_FOREIGN);      // EtherType
    assert_int_equal(changed(14, 1, false, 306), ATP_FOREIGN);      // options
    assert_int_equal(changed(20, 0x20, false, 306), ATP_FOREIGN);   // more fragments
    assert_int_equal(changed(23, 1, false, 306), ATP_FOREIGN);      // not UDP
    assert_int_equal(changed(5, 1, false, 306), ATP_NOT_FOR_US);    // MAC
    assert_int_equal(changed(33, 1, true, 306), ATP_NOT_FOR_US);    // IP
    assert_int_equal(changed(37, 1, false, 306), ATP_NOT_FOR_US);   // UDP port
    assert_int_equal(changed(0, 0, false, 305), ATP_BAD_LENGTH);
    assert_int_equal(changed(0, 0, false, 41), ATP_BAD_LENGTH);
    assert_int_equal(changed(0, 0, false, 13), ATP_FOREIGN);
    assert_int_equal(changed(17, 1, true, 306), ATP_BAD_LENGTH);    // IPv4's
    assert_int_equal(changed(39, 1, false, 306), ATP_BAD_LENGTH);   // UDP's
    assert_int_equal(changed(22, 1, false, 306), ATP_BAD_CHECKSUM); // TTL, not mended
    assert_int_equal(changed(41, 1, false, 306), ATP_BAD_CHECKSUM); // UDP's
}

// The check with a memory gives the verdict of the one without, whatever frames came before: of
// several senders, some of which have one place in it, whole and changed in any bit of the
// headers.
static void test_memory_of_headers_changes_nothing(void **state) {
    struct atp_flow flow = rig_flow(0);
    struct atp_known known = {0};
    struct sk_random r = sk_random_seeded(7);
    unsigned accepted = 0;

    (void)state;
    for (unsigned i = 0; i < 200000; i++) {
        uint8_t frame[ATP_FRAME_BYTES] = {0};
        struct atp_packet a = {0}, b = {0};
        size_t len = sk_random_below(&r, 8) ? sizeof frame : sk_random_below(&r, sizeof frame);
        enum atp_reason reason;

        flow.worker.ip = 0x0a000000 + (uint32_t)sk_random_below(&r, 20);
        if (sk_random_below(&r, 50)) // else all zeros
            atp_frame_init(frame, &flow, true);
        if (sk_random_below(&r, 2))
            frame[sk_random_below(&r, ATP_HEADER_BYTES)] ^= (uint8_t)(1 << sk_random_below(&r, 8));
        reason = atp_frame_check(&flow.server, frame, len, &a);
        assert_int_equal(reason, atp_frame_check_known(&flow.server, &known, frame, len, &b));
        if (reason == ATP_ACCEPTED) {
            assert_int_equal(a.bitmap0, b.bitmap0);
            assert_int_equal(a.sequence, b.sequence);
            assert_ptr_equal(a.values, b.values);
            accepted++;
        }
    }
    assert_in_range(accepted, 50000, 150000);
}

static void test_every_reason_has_words(void **state) {
    (void)state;
    for (int i = 0; i < ATP_REASON_COUNT; i++) {
        assert_true(strlen(atp_reason_name((enum atp_reason)i)) > 0);
        assert_true(strlen(atp_reason_text((enum atp_reason)i)) > 0);
    }
}

// ---- numbers ---------------------------------------------------------------------------------

static void test_sequence_numbers(void **state) {
    struct atp_flow flow = rig_flow(0);

    (void)state;
    assert_int_equal(atp_sequence(&flow, UINT64_C(0x3000005)), 5);
    assert_int_equal(atp_unwrap(&flow, 5, UINT64_C(0x2fffff0)), 0x3000005);
    assert_int_equal(atp_unwrap(&flow, 0xfffff0, UINT64_C(0x3000005)), 0x2fffff0);
    assert_int_equal(atp_unwrap(&flow, 7, 7), 7);
    flow.flow_bits = 2;
    flow.flow = 3;
    assert_int_equal(atp_sequence(&flow, UINT64_C(0x400001)), 0xc00001);
    assert_int_equal(atp_unwrap(&flow, 0xc00001, UINT64_C(0x3fffff)), 0x400001);
    assert_true(atp_is_of(&flow, &(struct atp_packet){.job = RIG_JOB, .sequence = 0xc00001}));
    assert_false(atp_is_of(&flow, &(struct atp_packet){.job = RIG_JOB, .sequence = 0x800001}));
    assert_false(atp_is_of(&flow, &(struct atp_packet){.job = 6, .sequence = 0xc00001}));
}

static void test_flows_that_cannot_be(void **state) {
    struct atp_flow flow = rig_flow(0);

    (void)state;
    assert_null(atp_flow_fault(&flow));
    flow.job = 0;
    assert_non_null(atp_flow_fault(&flow));
    flow.job = 128;
    assert_non_null(atp_flow_fault(&flow));
    flow = rig_flow(0);
    flow.flow = 1;
    assert_non_null(atp_flow_fault(&flow));
    flow.flow_bits = 7;
    assert_non_null(atp_flow_fault(&flow));
    flow = rig_flow(0);
    flow.group.port = 1;
    assert_non_null(atp_flow_fault(&flow));
}

static void test_scale_words(void **state) {
    struct atp_scale out;

    (void)state;
    for (int e = -64; e < 64; e++) {
        struct atp_scale in = {.exponent = (int8_t)e, .after = 16384};
        assert_true(atp_scale_unpack(atp_scale_pack(&in), &out));
        assert_int_equal(out.exponent, e);
        assert_int_equal(out.after, 16384);
    }
    assert_false(atp_scale_unpack(0, &out));
}

static void test_hashes_stay_in_range_and_spread(void **state) {
    static unsigned hits[1024];

    (void)state;
    for (uint32_t s = 0; s < 102400; s++) {
        uint32_t at = atp_hash(3, s, 1024, false);
        assert_true(at < 1024);
        hits[at]++;
    }
    for (unsigned i = 0; i < 1024; i++)
        assert_in_range(hits[i], 40, 180); // 100, with a deviation of 10
    assert_int_equal(atp_hash(3, 1025, 1024, true), 1);
    assert_int_equal(atp_hash(3, 7, 1, false), 0);
    for (uint32_t p = 0; p < 1000; p++) {
        assert_true(atp_rehash(p, 1000, 7 * p) < 1000);
        assert_int_not_equal(atp_rehash(p, 1000, 7 * p), p);
        assert_int_equal(atp_rehash(p % 2, 2, p), 1 - p % 2);
    }
}

// 1000 positions that have collided 50 times each are still all over the place (one throw of 1000
// balls hits 632 bins), and not in the cycles of one function.
static void test_rehashing_again_and_again_does_not_gather_positions(void **state) {
    static bool hit[1000];
    uint32_t n = 0, fragment = UINT32_C(3) << 24;

    (void)state;
    for (uint32_t p = 0; p < 1000; p++) {
        uint32_t at = p;
        for (int i = 0; i < 50; i++)
            at = atp_rehash(at, 1000, fragment++);
        hit[at] = true;
    }
    for (uint32_t p = 0; p < 1000; p++)
        n += hit[p];
    assert_in_range(n, 580, 690);
}

// ---- places ----------------------------------------------------------------------------------

static void test_one_rack_has_one_switch(void **state) {
    const uint32_t rack_of[] = {9, 9, 9};
    struct atp_shape shape;
    struct atp_place places[3];

    (void)state;
    // with the server in it or elsewhere
    for (uint32_t server = 8; server < 10; server++) {
        assert_int_equal(atp_places(rack_of, 3, server, &shape, places, NULL), 0);
        for (uint32_t w = 0; w < 3; w++) {
            assert_false(places[w].edge);
            assert_int_equal(places[w].bitmap0, 1u << w);
            assert_int_equal(places[w].bitmap1, 1);
            assert_int_equal(places[w].fan_in0, 3);
            assert_int_equal(places[w].fan_in1, 1);
        }
    }
}

// Workers 0, 2 and 5 in rack 7; 1 and 4 in the server's; 3 in rack 2.
static const uint32_t MIXED[] = {7, 1, 7, 2, 1, 7};

static void test_racks_and_workers_beside_them(void **state) {
    struct atp_shape shape;
    struct atp_place p[6];

    (void)state;
    assert_int_equal(atp_places(MIXED, 6, 1, &shape, p, NULL), 0);
    assert_int_equal(shape.entities, 4);
    for (int w = 0; w < 6; w++) {
        assert_int_equal(p[w].fan_in1, 4);
        assert_int_equal(p[w].edge, w == 1 || w == 4);
    }
    assert_int_equal(p[0].bitmap1, p[2].bitmap1);
    assert_int_equal(p[0].bitmap1, p[5].bitmap1);
    assert_int_equal(p[0].bitmap0 | p[2].bitmap0 | p[5].bitmap0, 7);
    assert_int_equal(p[0].fan_in0, 3);
    assert_int_equal(p[3].fan_in0, 1);
    assert_int_equal(p[0].bitmap1 | p[1].bitmap1 | p[3].bitmap1 | p[4].bitmap1, 15);
}

static void test_places_that_cannot_be(void **state) {
    static uint32_t rack_of[ATP_MAX_WORKERS + 1];
    static struct atp_shape shape;
    const char *why = NULL;

    (void)state;
    assert_int_equal(atp_places(rack_of, 0, 0, &shape, NULL, &why), SILKEN_ERR_INVALID);
    assert_int_equal(atp_places(rack_of, 1025, 0, &shape, NULL, &why), SILKEN_ERR_INVALID);
    assert_int_equal(atp_places(rack_of, 33, 0, &shape, NULL, &why), SILKEN_ERR_INVALID);
    assert_string_equal(why, "more than 32 workers in a rack");
    for (uint32_t i = 0; i < 1024; i++)
        rack_of[i] = i / 32;
    assert_int_equal(atp_places(rack_of, 1024, 99, &shape, NULL, &why), 0);
    rack_of[1023] = 99; // beside the server: one too many below its switch
    assert_int_equal(atp_places(rack_of, 1024, 99, &shape, NULL, &why), SILKEN_ERR_INVALID);
}

static uint64_t members_of(const struct atp_shape *shape, uint32_t bitmap0, uint32_t bitmap1) {
    struct atp_packet p = {.edge = true, .bitmap0 = bitmap0, .bitmap1 = bitmap1};
    struct atp_members m;
    bool known = atp_members(shape, &p, &m);

    assert_int_equal(known, m.word[0] != 0);
    return m.word[0];
}

static void test_members(void **state) {
    struct atp_shape shape;
    struct atp_place p[6];
    uint32_t rack7;

    (void)state;
    assert_int_equal(atp_places(MIXED, 6, 1, &shape, p, NULL), 0);
    rack7 = p[0].bitmap1;
    assert_int_equal(members_of(&shape, p[2].bitmap0, rack7), 1 << 2);
    assert_int_equal(members_of(&shape, p[0].bitmap0 | p[5].bitmap0, rack7), 1 << 0 | 1 << 5);
    assert_int_equal(members_of(&shape, 7, rack7), 1 << 0 | 1 << 2 | 1 << 5);
    assert_int_equal(members_of(&shape, 0, p[4].bitmap1), 1 << 4);
    assert_int_equal(members_of(&shape, 7, p[4].bitmap1), 1 << 4);
    // the second switch's sum: bitmap0 is the last packet's
    assert_int_equal(members_of(&shape, 7, 15), 63);
    assert_int_equal(members_of(&shape, 0, 15), 63);
    assert_int_equal(members_of(&shape, 1, rack7 | p[3].bitmap1),
                     1 << 0 | 1 << 2 | 1 << 3 | 1 << 5);
    // nobody's
    assert_int_equal(members_of(&shape, 1, 0), 0);
    assert_int_equal(members_of(&shape, 1, 16), 0);
    assert_int_equal(members_of(&shape, 0, rack7), 0);
    assert_int_equal(members_of(&shape, 9, rack7), 0);
    assert_int_equal(members_of(&shape, 2, p[3].bitmap1), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_of_a_gradient),
        cmocka_unit_test(test_what_is_written_is_read),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_memory_of_headers_changes_nothing),
        cmocka_unit_test(test_every_reason_has_words),
        cmocka_unit_test(test_sequence_numbers),
        cmocka_unit_test(test_flows_that_cannot_be),
        cmocka_unit_test(test_scale_words),
        cmocka_unit_test(test_hashes_stay_in_range_and_spread),
        cmocka_unit_test(test_rehashing_again_and_again_does_not_gather_positions),
        cmocka_unit_test(test_one_rack_has_one_switch),
        cmocka_unit_test(test_racks_and_workers_beside_them),
        cmocka_unit_test(test_places_that_cannot_be),
        cmocka_unit_test(test_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

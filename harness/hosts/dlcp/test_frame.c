// SPDX-License-Identifier: Apache-2.0
//
// test_frame: the bytes of DLCP's packets, what is refused and why; tags and paths.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "harness/hosts/random.h"
#include "hosts/core/udp.h"
#include "hosts/dlcp/dlcp.h"

static const struct sk_endpoint here = {{2, 0, 0, 0, 0, 1}, DLCP_PORT, 0x0a000001};
static const struct sk_endpoint there = {{2, 0, 0, 0, 0, 2}, DLCP_PORT, 0x0a000002};
static const float values[DLCP_ELEMENTS] = {1.5f, -2, 3e-20f};

static struct dlcp_packet data_packet(void) {
    return (struct dlcp_packet){.name = {0x12345678, 0x9abc, 0x5a, true},
                                .kind = DLCP_DATA,
                                .important = true,
                                .again = true,
                                .class = 6,
                                .port = 50001,
                                .offset = 363 * 5,
                                .count = DLCP_ELEMENTS,
                                .contributions = 4,
                                .sequence = 0xfedcba98,
                                .values = values};
}

static struct dlcp_packet signal_packet(enum dlcp_kind kind, uint16_t entries) {
    struct dlcp_packet p = {
        .name = {1, 2, 3, false}, .kind = kind, .port = 50001, .count = entries};
    for (unsigned i = 0; i < entries; i++)
        p.entry[i] = (struct dlcp_entry){i, 1000000 + i};
    return p;
}

static enum dlcp_reason read_frame(const uint8_t *frame, size_t length) {
    struct dlcp_packet p;
    struct sk_endpoint from;
    return dlcp_frame_read(frame, length, &there, &p, &from);
}

static void test_data(void **state) {
    uint8_t frame[DLCP_FRAME_BYTES];
    const struct dlcp_packet out = data_packet();
    struct dlcp_packet in;
    struct sk_endpoint from;
    (void)state;
    assert_int_equal(dlcp_frame_write(frame, &here, &there, &out), 1514);
    assert_int_equal(frame[15], (4 * 6 + 3) << 2 | 2); // DSCP, ECT(0)
    assert_int_equal(frame[36] << 8 | frame[37], 0xbec2);
    assert_int_equal(frame[42], 1 << 4 | 0xe); // DATA, pull, important, again
    assert_int_equal(frame[62], 0x3f);         // 1.5f
    assert_int_equal(frame[63], 0xc0);
    assert_int_equal(dlcp_frame_read(frame, 1514, &there, &in, &from), DLCP_ACCEPTED);
    assert_true(dlcp_name_is(in.name, out.name));
    assert_int_equal(in.kind, DLCP_DATA);
    assert_true(in.important && in.again);
    assert_int_equal(in.class, 6);
    assert_int_equal(in.port, 50001);
    assert_int_equal(in.offset, out.offset);
    assert_int_equal(in.count, 363);
    assert_int_equal(in.contributions, 4);
    assert_int_equal(in.sequence, 0xfedcba98);
    assert_ptr_equal(in.wire, frame + 62);
    assert_int_equal(from.ip, here.ip);
    assert_memory_equal(from.mac, here.mac, 6);
}

static void test_marks(void **state) {
    uint8_t frame[DLCP_FRAME_BYTES];
    struct dlcp_packet p = data_packet();
    (void)state;
    for (uint8_t class = 0; class < DLCP_CLASSES; class ++) {
        p.class = class;
        p.important = class % 2;
        dlcp_frame_write(frame, &here, &there, &p);
        assert_int_equal(frame[15], (4 * class + 3) << 2 | (class % 2 ? 2 : 0));
        assert_int_equal(read_frame(frame, 1514), DLCP_ACCEPTED); // its checksums are right
    }
    p = signal_packet(DLCP_STOP, 0);
    assert_int_equal(dlcp_frame_write(frame, &here, &there, &p), 62);
    assert_int_equal(frame[15] >> 2, 31);
}

static void test_entries(void **state) {
    uint8_t frame[DLCP_FRAME_BYTES];
    struct dlcp_packet out = signal_packet(DLCP_MISSING, DLCP_ENTRIES), in;
    struct sk_endpoint from;
    const size_t length = dlcp_frame_write(frame, &here, &there, &out);
    (void)state;
    assert_int_equal(length, 62 + 181 * 8);
    assert_int_equal(dlcp_frame_read(frame, length, &there, &in, &from), DLCP_ACCEPTED);
    assert_int_equal(in.count, DLCP_ENTRIES);
    assert_memory_equal(in.entry, out.entry, sizeof in.entry);
}

// Changes a byte of a good frame and puts the checksums right again.
static enum dlcp_reason with_byte(size_t at, uint8_t value) {
    uint8_t frame[DLCP_FRAME_BYTES];
    const struct dlcp_packet p = data_packet();
    dlcp_frame_write(frame, &here, &there, &p);
    frame[at] = value;
    frame[24] = frame[25] = 0;
    const uint16_t sum = sk_checksum(frame + 14, 20);
    frame[24] = (uint8_t)(sum >> 8);
    frame[25] = (uint8_t)sum;
    frame[40] = frame[41] = 0; // no UDP checksum
    return read_frame(frame, sizeof frame);
}

static void test_refused(void **state) {
    uint8_t frame[DLCP_FRAME_BYTES];
    const struct dlcp_packet p = data_packet();
    const size_t length = dlcp_frame_write(frame, &here, &there, &p);
    (void)state;
    assert_int_equal(with_byte(40, 0), DLCP_ACCEPTED);
    assert_int_equal(with_byte(13, 6), DLCP_FOREIGN);    // ARP
    assert_int_equal(with_byte(14, 0x46), DLCP_FOREIGN); // options
    assert_int_equal(with_byte(14, 0x65), DLCP_FOREIGN); // IPv6
    assert_int_equal(with_byte(20, 0x20), DLCP_FOREIGN); // more fragments
    assert_int_equal(with_byte(21, 1), DLCP_FOREIGN);    // the second one
    assert_int_equal(with_byte(23, 6), DLCP_FOREIGN);    // TCP
    assert_int_equal(with_byte(5, 9), DLCP_NOT_FOR_US);
    assert_int_equal(with_byte(33, 9), DLCP_NOT_FOR_US);
    assert_int_equal(with_byte(37, 0xc3), DLCP_NOT_FOR_US);
    assert_int_equal(with_byte(17, 0), DLCP_BAD_LENGTH); // of IPv4
    assert_int_equal(with_byte(39, 0), DLCP_BAD_LENGTH); // of UDP
    assert_int_equal(with_byte(42, 0x0e), DLCP_UNKNOWN_KIND);
    assert_int_equal(with_byte(42, 0x9e), DLCP_UNKNOWN_KIND);
    assert_int_equal(with_byte(42, 0xfe), DLCP_UNKNOWN_KIND);
    assert_int_equal(with_byte(54, 0), DLCP_BAD_COUNT);    // 107 elements
    assert_int_equal(with_byte(55, 0x6c), DLCP_BAD_COUNT); // 364
    assert_int_equal(with_byte(42, 0x50), DLCP_BAD_COUNT); // a signal of 363 entries
    for (size_t n = 0; n < length; n += n < 70 ? 1 : 97)
        assert_int_not_equal(read_frame(frame, n), DLCP_ACCEPTED);
    frame[100] ^= 1;
    assert_int_equal(read_frame(frame, length), DLCP_BAD_CHECKSUM);
    frame[100] ^= 1;
    frame[22] ^= 1; // time to live, of IPv4's
    assert_int_equal(read_frame(frame, length), DLCP_BAD_CHECKSUM);
}

static void test_no_element(void **state) {
    uint8_t frame[DLCP_FRAME_BYTES];
    struct dlcp_packet p = data_packet();
    (void)state;
    p.count = 0;
    assert_int_equal(read_frame(frame, dlcp_frame_write(frame, &here, &there, &p)), DLCP_BAD_COUNT);
}

static void test_names(void **state) {
    (void)state;
    for (int r = 0; r < DLCP_REASON_COUNT; r++) {
        assert_non_null(dlcp_reason_name((enum dlcp_reason)r));
        assert_non_null(dlcp_reason_text((enum dlcp_reason)r));
    }
}

static void test_classes(void **state) {
    (void)state;
    for (uint32_t layer = 0; layer < 7; layer++)
        assert_int_equal(dlcp_class(layer, 7), layer);
    assert_int_equal(dlcp_class(0, 1), 0);
    assert_int_equal(dlcp_class(0, 8), 0);
    assert_int_equal(dlcp_class(7, 8), 6);
    assert_int_equal(dlcp_class(160, 161), 6);
    for (uint32_t layer = 1; layer < 161; layer++)
        assert_true(dlcp_class(layer, 161) >= dlcp_class(layer - 1, 161));
}

static void test_needed(void **state) {
    (void)state;
    assert_int_equal(dlcp_needed(100, 100000), 90);
    assert_int_equal(dlcp_needed(101, 100000), 91); // ceil(90.9)
    assert_int_equal(dlcp_needed(9, 100000), 9);
    assert_int_equal(dlcp_needed(1, DLCP_ALL - 1), 1);
    assert_int_equal(dlcp_needed(UINT32_C(1) << 31, 0), UINT32_C(1) << 31);
}

// Twelve uniform numbers have nearly a normal sum.
static float normal(struct sk_random *r) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)(sk_random_next(r) >> 11) * 0x1p-53;
    return (float)sum;
}

static double share_above(enum dlcp_threshold kind, const float *v, uint32_t n) {
    const float threshold = dlcp_threshold_of(kind, v, n, DLCP_ELEMENTS);
    const uint32_t segments = dlcp_segments(n, DLCP_ELEMENTS);
    uint32_t above = 0;
    for (uint32_t i = 0; i < segments; i++)
        above += dlcp_magnitude(v + (size_t)i * DLCP_ELEMENTS,
                                dlcp_segment_count(n, DLCP_ELEMENTS, i)) >= threshold;
    return (double)above / segments;
}

// The paper's threshold marks all packets of normal values; ours some half.
static void test_thresholds(void **state) {
    static float v[363 * 2000];
    struct sk_random r = sk_random_seeded(4);
    (void)state;
    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        v[i] = normal(&r);
    const double ours = share_above(DLCP_MEDIAN_OF_MEANS, v, sizeof v / sizeof *v);
    assert_true(ours > 0.3 && ours < 0.7);
    assert_true(share_above(DLCP_MEDIAN_OF_VALUES, v, sizeof v / sizeof *v) > 0.99);
    assert_true(share_above(DLCP_MEDIAN_OF_MEANS, v, 5) == 1.0);
    assert_true(share_above(DLCP_MEDIAN_OF_VALUES, v, 1) >= 0);
    v[0] = NAN;
    assert_true(isinf(dlcp_magnitude(v, 10)));
}

// A path that loses all is left, and tried again after a while; if all lose alike, none is left.
static void test_paths(void **state) {
    struct dlcp_peer peer;
    uint32_t sent[DLCP_PATHS] = {100, 100, 100, 100}, came[DLCP_PATHS] = {100, 0, 99, 100};
    (void)state;
    dlcp_peer_init(&peer, 50000, 4, 1000, 1000, 1000);
    for (uint16_t i = 0; i < 8; i++)
        assert_int_equal(dlcp_peer_turn(&peer, 1), i % 4);
    dlcp_peer_judge(&peer, sent, came, 1);
    for (int i = 0; i < 100; i++)
        assert_int_not_equal(dlcp_peer_turn(&peer, 1000), 1);
    assert_int_equal(peer.left, 1);
    bool again = false;
    for (int i = 0; i < 4; i++)
        again |= dlcp_peer_turn(&peer, 100000002) == 1;
    assert_true(again);
    dlcp_peer_judge(&peer, sent, came, 100000002);
    for (int i = 0; i < 4; i++)
        assert_int_not_equal(dlcp_peer_turn(&peer, 300000001), 1);
    dlcp_peer_init(&peer, 50000, 4, 1000, 1000, 1000);
    dlcp_peer_judge(&peer, sent, (const uint32_t[DLCP_PATHS]){50, 40, 45, 60}, 1);
    assert_int_equal(peer.left, 0);
}

// Most paths cross a link that is down, and reports are of few packets each.
static void test_paths_of_which_most_are_dead(void **state) {
    static const uint32_t sent[DLCP_PATHS] = {2, 2, 2, 2, 2, 2, 2, 2}, came[DLCP_PATHS] = {[3] = 2};
    struct dlcp_peer peer;
    (void)state;
    dlcp_peer_init(&peer, 50000, 8, 1000, 1000, 1000);
    for (int report = 0; report < 7; report++)
        dlcp_peer_judge(&peer, sent, came, 1);
    assert_int_equal(peer.left, 0);
    dlcp_peer_judge(&peer, sent, came, 1);
    assert_int_equal(peer.left, 7);
    for (int i = 0; i < 20; i++)
        assert_int_equal(dlcp_peer_turn(&peer, 1000), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_element),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_needed),
        cmocka_unit_test(test_thresholds),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_paths_of_which_most_are_dead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

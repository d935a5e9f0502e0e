// SPDX-License-Identifier: Apache-2.0
//
// Frames that stand for several packets (af_packet/segment.c), against packets that this test
// writes field by field: TCP and UDP, both versions of IP, tags, options. What is damaged, missing,
// doubled or in another order is joined only where cutting gives the same bytes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "af_packet/af_packet_impl.h"
#include "harness/af_packet/again.h"

#define ROOM   2048u
#define PIECES 64u

static uint64_t seed;
static uint32_t draw(uint32_t below) { // splitmix64
    uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) % below);
}

// ---- packets, one by one ----

struct stream {
    bool v6, tcp, unsummed;
    unsigned tags, ip_options, tcp_options; // words
    uint32_t size, bytes;                   // of a packet's payload, and of all
    uint32_t sequence;
    uint16_t identification;
    uint8_t flags; // of all together
    uint8_t fixed[512];
    uint8_t payload[65536];
};

static uint8_t packets[PIECES][ROOM];
static struct af_packet_frame frames[PIECES];
static uint8_t large[AF_PACKET_SEGMENT_BYTES];
static struct stream st;
static struct af_packet_takers takers;
static uint8_t payload[AF_PACKET_SEGMENT_BYTES];

static uint8_t *b16(uint8_t *at, uint32_t v) {
    at[0] = (uint8_t)(v >> 8);
    at[1] = (uint8_t)v;
    return at + 2;
}
static uint8_t *b32(uint8_t *at, uint32_t v) {
    return b16(b16(at, v >> 16), v);
}
static uint8_t *fixed(uint8_t *at, unsigned from, unsigned n) {
    memcpy(at, st.fixed + from, n);
    return at + n;
}

static uint32_t add(uint32_t sum, const uint8_t *at, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        sum += i % 2 ? at[i] : (uint32_t)at[i] << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

static uint8_t *write_ip(uint8_t *at, uint32_t i, uint32_t behind) {
    uint8_t *ip = at;
    const uint32_t protocol = st.tcp ? 6 : 17;
    if (st.v6) {
        at = b32(at, 0x60000000u | st.fixed[0]);
        at = b16(at, behind);
        *at++ = (uint8_t)protocol;
        *at++ = 63;
        return fixed(at, 16, 32);
    }
    const uint32_t header = 20 + 4 * st.ip_options;
    *at++ = (uint8_t)(0x40 | header / 4);
    *at++ = st.fixed[1];
    at = b16(at, header + behind);
    at = b16(at, st.identification + i);
    at = b16(at, 0x4000);
    *at++ = 64;
    *at++ = (uint8_t)protocol;
    at = b16(at, 0);
    at = fixed(at, 16, 8);
    at = fixed(at, 64, 4 * st.ip_options);
    b16(ip + 10, ~add(0, ip, header));
    return at;
}

// From byte 'from' of the payload on: packet 'i' of 'n', or all of them in one frame with its sum
// left to a card.
static uint32_t write_packet(uint8_t *frame, uint32_t i, uint32_t n, uint32_t from, uint32_t bytes,
                             bool left) {
    uint8_t *at = fixed(frame, 100, 12), *ip, *transport, *field;
    for (unsigned t = 0; t < st.tags; t++)
        at = b16(b16(at, t == 0 && st.tags == 2 ? 0x88a8 : 0x8100), 100 + t);
    at = ip = b16(at, st.v6 ? 0x86dd : 0x0800);
    const uint32_t header = st.tcp ? 20 + 4 * st.tcp_options : 8, behind = header + bytes;
    at = transport = write_ip(at, i, behind);
    at = fixed(at, 120, 4); // ports
    if (st.tcp) {
        uint8_t flags = st.flags;
        if (i + 1 < n)
            flags &= (uint8_t)~0x09;
        if (i > 0)
            flags &= (uint8_t)~0x80;
        at = b32(at, st.sequence + from);
        at = fixed(at, 130, 4);
        *at++ = (uint8_t)(header / 4 << 4);
        *at++ = left ? st.flags : flags;
        at = fixed(at, 140, 2);
        field = at;
        at = b16(b16(at, 0), 0);
        at = fixed(at, 150, 4 * st.tcp_options);
    } else {
        at = b16(at, behind);
        field = at;
        at = b16(at, 0);
    }
    memcpy(at, st.payload + from, bytes);
    const uint32_t pseudo = add(behind + (st.tcp ? 6 : 17), ip + (st.v6 ? 8 : 12), st.v6 ? 32 : 8);
    uint32_t sum = left ? pseudo : ~add(pseudo, transport, behind) & 0xffff;
    if (!left && !st.tcp && sum == 0)
        sum = 0xffff;
    b16(field, st.unsummed && !left ? 0 : sum);
    return (uint32_t)(at + bytes - frame);
}

static void draw_stream(void) {
    st.v6 = draw(2);
    st.tcp = draw(3);
    st.unsummed = false;
    st.tags = draw(4) ? 0 : draw(3);
    st.ip_options = st.v6 || draw(4) ? 0 : draw(11);
    st.tcp_options = draw(2) ? 3 : draw(11);
    st.size = draw(4) ? 1200 + draw(249) : 1 + draw(1448);
    const uint32_t n = 1 + draw(draw(4) ? 32 : PIECES);
    st.bytes = (n - 1) * st.size + 1 + (draw(2) ? draw(st.size) : st.size - 1);
    if (st.bytes > 65000)
        st.bytes = 65000;
    st.sequence = draw(2) ? 0xffffffffu - draw(100000) : draw(0xffffffffu);
    st.identification = (uint16_t)draw(65536);
    st.flags = (uint8_t)(0x10 | (draw(3) ? 0 : 0x08) | (draw(8) ? 0 : 0x01) | (draw(8) ? 0 : 0x40));
    for (size_t i = 0; i < sizeof st.fixed; i++)
        st.fixed[i] = (uint8_t)draw(256);
    for (uint32_t i = 0; i < st.bytes; i++)
        st.payload[i] = (uint8_t)(draw(2) ? 0xff : draw(256));
}

static unsigned write_all(void) {
    const unsigned n = (st.bytes + st.size - 1) / st.size;
    for (unsigned i = 0; i < n; i++) {
        const uint32_t from = i * st.size, left = st.bytes - from;
        frames[i].data = packets[i];
        frames[i].length =
            write_packet(packets[i], i, n, from, left < st.size ? left : st.size, false);
    }
    return n;
}

static struct virtio_net_hdr header_of(void) {
    const unsigned before = 14 + 4 * st.tags, ip = st.v6 ? 40 : 20 + 4 * st.ip_options,
                   header = st.tcp ? 20 + 4 * st.tcp_options : 8;
    return (struct virtio_net_hdr){.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
                                   .gso_type = !st.tcp ? VIRTIO_NET_HDR_GSO_UDP_L4
                                               : st.v6 ? VIRTIO_NET_HDR_GSO_TCPV6
                                                       : VIRTIO_NET_HDR_GSO_TCPV4,
                                   .hdr_len = (uint16_t)(before + ip + header),
                                   .gso_size = (uint16_t)st.size,
                                   .csum_start = (uint16_t)(before + ip),
                                   .csum_offset = st.tcp ? 16 : 6};
}

// Datagrams may be without checksums, as a switch sends them, and whoever gets them takes them
// joined, or not.
static bool draw_receiver(void) {
    const bool takes = draw(4);
    memset(&takers, 0, sizeof takers);
    takers.now = 1 + draw(1000000);
    if (takes)
        again_takes(&takers, &frames[0]);
    return takes;
}

// ---- tests ----

static void test_cut(void **state) {
    (void)state;
    for (seed = 1; seed < 400; seed++) {
        const uint64_t kept = seed;
        draw_stream();
        if (st.tcp && !draw(4))
            st.flags |= 0x80; // CWR: of the first packet only
        const unsigned n = write_all();
        const struct virtio_net_hdr v = header_of();
        const uint32_t length = write_packet(large, 0, n, 0, st.bytes, true);
        struct af_packet_segment s;
        assert_true(af_packet_segment_open(&s, large, length, &v));
        assert_int_equal(s.pieces, n);
        for (unsigned i = 0; i < n; i++) {
            uint8_t piece[ROOM];
            const uint32_t bytes = af_packet_segment_length(&s, i);
            assert_int_equal(bytes, frames[i].length);
            memset(piece, 0xee, sizeof piece);
            af_packet_segment_piece(&s, i, piece, ROOM);
            assert_memory_equal(piece, packets[i], bytes);
            assert_int_equal(piece[bytes], 0xee);
            // a room that is too short is not written beyond
            memset(piece, 0xee, sizeof piece);
            af_packet_segment_piece(&s, i, piece, bytes - 1);
            assert_int_equal(piece[bytes - 1], 0xee);
        }
        seed = kept;
    }
}

// The segment's frame is told as af_packet_join() would make it of its packets.
static void check_whole(const struct af_packet_segment *s, unsigned n) {
    struct af_packet_joined j = {0}, whole = {0};
    struct af_packet_whole w;
    const bool one = n > 1 && af_packet_join(&j, frames, n, NULL) == n;
    assert_int_equal(af_packet_segment_whole(s, &whole), one);
    if (!one)
        return;
    assert_memory_equal(&whole.v, &j.v, sizeof j.v);
    assert_int_equal(whole.headers, j.headers);
    assert_memory_equal(whole.header, j.header, j.headers);
    af_packet_segment_show(s, &w);
    assert_int_equal(w.packets, n);
    assert_int_equal(w.length, frames[0].length);
    assert_int_equal(w.last_length, frames[n - 1].length);
    for (unsigned i = 0; i < n; i++) {
        const uint8_t *const like = i + 1 < n ? w.first : w.last;
        for (uint32_t k = 0; k < AF_PACKET_SHOWN; k++) {
            const bool exact = i == 0 || i + 1 == n;
            const uint8_t want = k < frames[i].length ? packets[i][k] : 0;
            if (k == s->transport + 16 || k == s->transport + 17)
                assert_int_equal(w.differs[k], 0xff);
            else if (exact)
                assert_int_equal(like[k], want);
            else
                assert_int_equal((like[k] ^ want) & ~w.differs[k], 0);
        }
    }
}

static void test_whole(void **state) {
    unsigned told = 0;
    (void)state;
    for (seed = 1; seed < 600; seed++) {
        const uint64_t kept = seed;
        draw_stream();
        if (st.tcp && !draw(4))
            st.flags = (uint8_t)draw(256);
        const unsigned n = write_all();
        const struct virtio_net_hdr v = header_of();
        const uint32_t length = write_packet(large, 0, n, 0, st.bytes, true);
        struct af_packet_segment s;
        assert_true(af_packet_segment_open(&s, large, length, &v));
        check_whole(&s, n);
        told += st.tcp && n > 1;
        seed = kept;
    }
    assert_true(told > 200);
}

static void test_sum(void **state) {
    uint8_t bytes[700];
    (void)state;
    seed = 3;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(draw(2) ? 0xff : draw(256));
    for (uint32_t from = 0; from < 40; from++)
        for (uint32_t n = 0; n <= 640; n++) {
            uint8_t copy[2][660];
            const uint64_t sum = af_packet_sum_plain(bytes + from, n);
            memset(copy, 0xee, sizeof copy);
            memcpy(copy[0] + from % 7, bytes + from, n);
            assert_int_equal(af_packet_sum(bytes + from, n), sum);
            assert_int_equal(af_packet_copy(copy[1] + from % 7, bytes + from, n), sum);
            assert_memory_equal(copy[0], copy[1], sizeof *copy);
            assert_int_equal(af_packet_copy_plain(copy[1] + from % 7, bytes + from, n), sum);
            assert_memory_equal(copy[0], copy[1], sizeof *copy);
        }
}

static void test_join(void **state) {
    (void)state;
    for (seed = 1; seed < 400; seed++) {
        const uint64_t kept = seed;
        draw_stream();
        st.unsummed = !st.tcp && draw(2);
        const unsigned n = write_all();
        const bool together = draw_receiver() || st.tcp;
        struct af_packet_joined j = {.payload = draw(2) ? payload : NULL};
        assert_int_equal(af_packet_join(&j, frames, n, &takers), together ? n : 1);
        if (!st.tcp) { // nobody has asked for it
            takers.now += AF_PACKET_TAKES_NS;
            assert_int_equal(af_packet_join(&j, frames, n, &takers), 1);
            assert_int_equal(af_packet_join(&j, frames, n, NULL), 1);
            takers.now -= AF_PACKET_TAKES_NS;
            af_packet_join(&j, frames, n, &takers);
        }
        if (n > 1 && together) {
            const struct virtio_net_hdr v = header_of();
            const uint32_t length = write_packet(large, 0, n, 0, st.bytes, true);
            uint32_t bytes;
            uint8_t *whole = again_joined(&j, frames, n, &bytes);
            assert_memory_equal(&j.v, &v, sizeof v);
            assert_int_equal(bytes, length);
            assert_memory_equal(whole, large, length);
            free(whole);
            assert_true(again_same(&j, frames, n));
        }
        seed = kept;
    }
}

// A bit, a field or the order of packets is another one.
static void disturb(unsigned n) {
    const unsigned i = draw(n), k = draw(n);
    switch (draw(4)) {
    case 0: { // sometimes in the headers
        const uint32_t at = draw(2) ? draw(frames[i].length) : draw(80) % frames[i].length;
        frames[i].data[at] ^= (uint8_t)(1u << draw(8));
        break;
    }
    case 1: {
        const struct af_packet_frame other = frames[i];
        frames[i] = frames[k];
        frames[k] = other;
        break;
    }
    case 2:
        frames[i] = frames[k];
        break;
    default:
        frames[i].length -= draw(frames[i].length);
    }
}

static void test_join_disturbed(void **state) {
    unsigned joined = 0, alone = 0;
    (void)state;
    for (seed = 1; seed < 3000; seed++) {
        const uint64_t kept = seed;
        draw_stream();
        if (st.tcp && !draw(8))
            st.flags = (uint8_t)draw(256);
        st.unsummed = !st.tcp && draw(2);
        const unsigned n = write_all();
        draw_receiver();
        for (unsigned times = draw(4); times > 0; times--)
            disturb(n);
        for (unsigned at = 0; at < n;) {
            struct af_packet_joined j = {.payload = draw(2) ? payload : NULL};
            const unsigned k = af_packet_join(&j, frames + at, n - at, &takers);
            assert_in_range(k, 1, n - at);
            if (k > 1)
                assert_true(again_same(&j, frames + at, k));
            joined += k > 1;
            alone += k == 1;
            at += k;
        }
        seed = kept;
    }
    assert_true(joined > 1500);
    assert_true(alone > 1000);
}

// A wrong checksum must stay wrong: a card would make it right.
static void test_damaged(void **state) {
    (void)state;
    for (seed = 1; seed < 200; seed++) {
        const uint64_t kept = seed;
        draw_stream();
        const unsigned n = write_all(), i = draw(n);
        const bool together = draw_receiver() || st.tcp;
        struct af_packet_joined j = {0};
        const struct virtio_net_hdr v = header_of();
        frames[i].data[v.hdr_len] ^= 0x10;
        const unsigned k = af_packet_join(&j, frames, n, &takers);
        assert_int_equal(k, i == 0 || !together ? 1 : i);
        seed = kept;
    }
}

static void test_not_a_segment(void **state) {
    struct af_packet_segment s;
    (void)state;
    seed = 7;
    do
        draw_stream();
    while (!st.tcp || st.v6 || st.tags || st.bytes < 3000);
    const uint32_t length = write_packet(large, 0, 2, 0, st.bytes, true);
    const struct virtio_net_hdr good = header_of();
    assert_true(af_packet_segment_open(&s, large, length, &good));
    for (uint32_t cut = 0; cut <= good.hdr_len; cut++)
        assert_false(af_packet_segment_open(&s, large, cut, &good));
    struct virtio_net_hdr v = good;
    v.gso_size = 0;
    assert_false(af_packet_segment_open(&s, large, length, &v));
    v.gso_size = 1; // more packets than a burst of a hostile host should become
    assert_false(af_packet_segment_open(&s, large, length, &v));
    v = good;
    v.gso_type = VIRTIO_NET_HDR_GSO_TCPV6;
    assert_false(af_packet_segment_open(&s, large, length, &v));
    v.gso_type = VIRTIO_NET_HDR_GSO_UDP_L4;
    assert_false(af_packet_segment_open(&s, large, length, &v));
    v.gso_type = VIRTIO_NET_HDR_GSO_NONE;
    assert_false(af_packet_segment_open(&s, large, length, &v));
    v.gso_type = VIRTIO_NET_HDR_GSO_TCPV4 | VIRTIO_NET_HDR_GSO_ECN;
    assert_true(af_packet_segment_open(&s, large, length, &v));
    v = good;
    v.csum_start++;
    assert_false(af_packet_segment_open(&s, large, length, &v));
    static const struct {
        uint32_t at;
        uint8_t value;
    } wrong[] = {{12, 0x86}, {14, 0x65}, {14, 0x44}, {20, 0x20}, {21, 1}, {23, 132}};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const uint8_t was = large[wrong[i].at];
        large[wrong[i].at] = wrong[i].value;
        assert_false(af_packet_segment_open(&s, large, length, &good));
        large[wrong[i].at] = was;
    }
    large[good.csum_start + 12] = 0x40; // a TCP header of four words
    assert_false(af_packet_segment_open(&s, large, length, &good));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_join_disturbed),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_not_a_segment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
//
// Bursts of af_packet/rings.c on rings in ordinary memory, whose other end is this test instead of
// the kernel: what is copied where, whose a frame is afterwards, and what becomes of those that the
// kernel does not take.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>

#include "af_packet/af_packet_impl.h"

#define FRAME  2048u
#define FRAMES 8u
#define ROOM   4096u
#define HEAD   (TPACKET2_HDRLEN - sizeof(struct sockaddr_ll))

static _Alignas(4096) uint8_t rx[FRAMES * FRAME], tx[FRAMES * FRAME];
static uint8_t rooms[FRAMES][ROOM];
static struct af_packet_frame frames[FRAMES];
static struct af_packet a;
static uint32_t written; // the kernel's place in 'rx'
static uint32_t read_at; // and in 'tx'
// What the kernel makes of frames: so many it takes, then it says 'error'; they are SENDING until
// the test ends them, or gone at once.
static unsigned takes;
static int error;
static bool slow, malformed;
static uint8_t sent[64][ROOM];
static uint32_t sent_length[64];
static unsigned n_sent, kicks;

static struct tpacket2_hdr *place(uint8_t *ring, uint32_t i) {
    return (void *)(ring + (size_t)(i % FRAMES) * FRAME);
}

static int kick(struct af_packet *of) {
    assert_ptr_equal(of, &a);
    kicks++;
    for (;; read_at++) {
        struct tpacket2_hdr *h = place(tx, read_at);
        if (h->tp_status != TP_STATUS_SEND_REQUEST)
            return 0;
        if (takes == 0) {
            h->tp_status = malformed ? TP_STATUS_WRONG_FORMAT : TP_STATUS_SEND_REQUEST;
            errno = error;
            return -1;
        }
        takes--;
        struct virtio_net_hdr v;
        memcpy(&v, (uint8_t *)h + HEAD, sizeof v);
        assert_int_equal(v.flags, 0);
        assert_int_equal(v.gso_type, VIRTIO_NET_HDR_GSO_NONE);
        assert_true(v.hdr_len <= h->tp_len - sizeof v);
        sent_length[n_sent] = h->tp_len - (uint32_t)sizeof v;
        memcpy(sent[n_sent], (uint8_t *)h + HEAD + sizeof v, sent_length[n_sent]);
        n_sent++;
        h->tp_status = slow ? TP_STATUS_SENDING : TP_STATUS_AVAILABLE;
    }
}

// What waits in the socket's queue, and what is sent by the socket without rings.
static struct {
    uint8_t frame[AF_PACKET_SEGMENT_BYTES];
    uint32_t length;
    struct virtio_net_hdr v;
    uint16_t tci; // 0: no tag
} waits;
static uint8_t written_large[AF_PACKET_SEGMENT_BYTES];
static uint32_t written_length;
static int write_error;

static ssize_t read_large(struct af_packet *of, unsigned queue, struct msghdr *m) {
    assert_ptr_equal(of, &a);
    assert_int_equal(queue, 0);
    if (waits.length == 0) {
        errno = EAGAIN;
        return -1;
    }
    const size_t room = m->msg_iov[1].iov_len;
    memcpy(m->msg_iov[0].iov_base, &waits.v, sizeof waits.v);
    memcpy(m->msg_iov[1].iov_base, waits.frame, waits.length < room ? waits.length : room);
    struct cmsghdr *c = CMSG_FIRSTHDR(m);
    const struct tpacket_auxdata x = {.tp_status = waits.tci ? TP_STATUS_VLAN_VALID : 0,
                                      .tp_vlan_tci = waits.tci};
    c->cmsg_level = SOL_PACKET;
    c->cmsg_type = PACKET_AUXDATA;
    c->cmsg_len = CMSG_LEN(sizeof x);
    memcpy(CMSG_DATA(c), &x, sizeof x);
    const ssize_t n = (ssize_t)(sizeof waits.v + waits.length);
    waits.length = 0;
    return n;
}

static ssize_t write_large(struct af_packet *of, const struct msghdr *m) {
    assert_ptr_equal(of, &a);
    if (write_error) {
        errno = write_error;
        return -1;
    }
    written_length = 0;
    for (size_t i = 1; i < m->msg_iovlen; i++) {
        memcpy(written_large + written_length, m->msg_iov[i].iov_base, m->msg_iov[i].iov_len);
        written_length += (uint32_t)m->msg_iov[i].iov_len;
    }
    return (ssize_t)(sizeof waits.v + written_length);
}

static bool cutting;
static bool cuts(const struct af_packet *of) {
    assert_ptr_equal(of, &a);
    return cutting;
}

static int begin(void **state) {
    static uint8_t room[AF_PACKET_LARGE_ROOM], joining[AF_PACKET_LARGE_ROOM];
    (void)state;
    memset(rx, 0, sizeof rx);
    memset(tx, 0, sizeof tx);
    memset(rooms, 0xee, sizeof rooms);
    a = (struct af_packet){.queues = 1,
                           .rx[0] = {rx, FRAME, FRAMES, 0},
                           .tx = {tx, FRAME, FRAMES, 0},
                           .all = true,
                           .copies = true,
                           .large[0].room = room,
                           .joins = true,
                           .joining = joining,
                           .read = read_large,
                           .write = write_large,
                           .cuts = cuts,
                           .kick = kick};
    waits.length = 0;
    write_error = 0;
    for (unsigned i = 0; i < FRAMES; i++)
        frames[i] = (struct af_packet_frame){.data = rooms[i]};
    written = read_at = n_sent = kicks = 0;
    takes = 1000;
    error = ENOBUFS;
    slow = malformed = false;
    return 0;
}

// ---- receiving ----

// The kernel writes a frame of 'length' bytes, of which the ring holds 'there'.
static struct tpacket2_hdr *write_frame(uint32_t length, uint32_t there, uint8_t first) {
    struct tpacket2_hdr *h = place(rx, written++);
    struct sockaddr_ll *from = (void *)((uint8_t *)h + TPACKET_ALIGN(sizeof *h));
    assert_int_equal(h->tp_status, TP_STATUS_KERNEL);
    assert_true(AF_PACKET_BEFORE + there <= FRAME);
    h->tp_mac = AF_PACKET_BEFORE;
    h->tp_len = length;
    h->tp_snaplen = there;
    from->sll_pkttype = PACKET_HOST;
    for (uint32_t i = 0; i < there; i++)
        ((uint8_t *)h)[AF_PACKET_BEFORE + i] = (uint8_t)(first + i);
    h->tp_status = TP_STATUS_USER;
    return h;
}

static void check_frame(const struct af_packet_frame *f, uint32_t length, uint8_t first) {
    assert_int_equal(f->length, length);
    assert_int_equal(f->whole, length);
    for (uint32_t i = 0; i < length; i++)
        assert_int_equal(f->data[i], (uint8_t)(first + i));
}

static void test_receive_around(void **state) {
    (void)state;
    assert_int_equal(af_packet_ready(&a, 0, 32), 0);
    for (unsigned round = 0; round < 5 * FRAMES; round++) {
        const unsigned n = round % (FRAMES + 1);
        for (unsigned i = 0; i < n; i++)
            write_frame(60 + i, 60 + i, (uint8_t)(round + i));
        assert_int_equal(af_packet_ready(&a, 0, FRAMES), n);
        assert_int_equal(af_packet_ready(&a, 0, 3), n < 3 ? n : 3);
        assert_int_equal(af_packet_receive(&a, 0, frames, n, ROOM), n);
        for (unsigned i = 0; i < n; i++)
            check_frame(&frames[i], 60 + i, (uint8_t)(round + i));
        assert_int_equal(af_packet_ready(&a, 0, FRAMES), 0);
    }
    for (unsigned i = 0; i < FRAMES; i++) // all are the kernel's again
        assert_int_equal(place(rx, i)->tp_status, TP_STATUS_KERNEL);
}

static void test_receive_others(void **state) {
    (void)state;
    for (unsigned all = 0; all < 2; all++) {
        a.all = all;
        static const uint8_t types[] = {PACKET_HOST, PACKET_OUTGOING, PACKET_OTHERHOST,
                                        PACKET_BROADCAST, PACKET_MULTICAST};
        for (unsigned i = 0; i < 5; i++) {
            struct tpacket2_hdr *h = write_frame(60, 60, (uint8_t)i);
            ((struct sockaddr_ll *)(void *)((uint8_t *)h + TPACKET_ALIGN(sizeof *h)))->sll_pkttype =
                types[i];
        }
        assert_int_equal(af_packet_ready(&a, 0, FRAMES), 5);
        assert_int_equal(af_packet_receive(&a, 0, frames, 5, ROOM), 3 + all);
        check_frame(&frames[0], 60, 0);
        check_frame(&frames[1], 60, all ? 2 : 3);
        check_frame(&frames[2 + all], 60, 4);
    }
}

static void test_receive_cut(void **state) {
    (void)state;
    write_frame(5000, FRAME - AF_PACKET_BEFORE, 0); // by the ring
    write_frame(100, 100, 0);                       // by the room
    write_frame(100, 100, 0)->tp_status |= TP_STATUS_VLAN_VALID;
    assert_int_equal(af_packet_receive(&a, 0, frames, 1, ROOM), 1);
    assert_int_equal(frames[0].length, FRAME - AF_PACKET_BEFORE);
    assert_int_equal(frames[0].whole, 5000);
    assert_int_equal(af_packet_receive(&a, 0, frames + 1, 2, 64), 2);
    assert_int_equal(frames[1].length, 64);
    assert_int_equal(frames[1].whole, 100);
    assert_int_equal(rooms[1][64], 0xee);
    assert_int_equal(frames[2].length, 64);
    assert_int_equal(frames[2].whole, 104);
    assert_int_equal(rooms[2][64], 0xee);
}

static void test_receive_tag(void **state) {
    static const struct {
        uint32_t status;
        uint16_t type;
        uint8_t want[4];
    } cases[] = {{TP_STATUS_VLAN_VALID, 0, {0x81, 0, 0x60, 0x0a}},
                 {TP_STATUS_VLAN_VALID | TP_STATUS_VLAN_TPID_VALID, 0x88a8, {0x88, 0xa8, 0x60, 10}},
                 {TP_STATUS_VLAN_VALID | TP_STATUS_VLAN_TPID_VALID, 0x8100, {0x81, 0, 0x60, 10}}};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct tpacket2_hdr *h = write_frame(60, 60, 0);
        h->tp_vlan_tci = 0x600a;
        h->tp_vlan_tpid = cases[i].type;
        h->tp_status |= cases[i].status;
        assert_int_equal(af_packet_receive(&a, 0, frames, 1, ROOM), 1);
        assert_int_equal(frames[0].length, 64);
        assert_int_equal(frames[0].whole, 64);
        assert_memory_equal(frames[0].data + 12, cases[i].want, 4);
        for (unsigned k = 0; k < 60; k++)
            assert_int_equal(frames[0].data[k < 12 ? k : k + 4], k);
    }
    // one that is all addresses, and one that is less
    write_frame(12, 12, 0)->tp_status |= TP_STATUS_VLAN_VALID;
    write_frame(11, 11, 0)->tp_status |= TP_STATUS_VLAN_VALID;
    assert_int_equal(af_packet_receive(&a, 0, frames, 2, ROOM), 2);
    assert_int_equal(frames[0].length, 16);
    assert_int_equal(frames[1].length, 11);
}

// ---- checksums ----

static uint16_t sum_of(const uint8_t *at, uint32_t n) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += i % 2 ? at[i] : (uint32_t)at[i] << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)sum;
}

// The field holds the pseudo header's sum; afterwards that of all, and with the pseudo header's it
// comes to all ones.
static void test_checksum(void **state) {
    (void)state;
    for (unsigned length = 60; length < 130; length++)
        for (unsigned tag = 0; tag < 2; tag++) {
            struct tpacket2_hdr *h = write_frame(length, length, (uint8_t)(length * 7));
            uint8_t *at = (uint8_t *)h + AF_PACKET_BEFORE, *field = at + 34 + 6;
            const struct virtio_net_hdr v = {
                .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 34, .csum_offset = 6};
            const uint16_t pseudo = (uint16_t)(length * 977);
            field[0] = (uint8_t)(pseudo >> 8);
            field[1] = (uint8_t)pseudo;
            memcpy(at - sizeof v, &v, sizeof v);
            h->tp_status |= TP_STATUS_CSUMNOTREADY | (tag ? TP_STATUS_VLAN_VALID : 0);
            assert_int_equal(af_packet_receive(&a, 0, frames, 1, ROOM), 1);
            const uint32_t sum =
                (uint32_t)sum_of(frames[0].data + 34 + 4 * tag, length - 34) + pseudo;
            assert_int_equal((sum & 0xffff) + (sum >> 16), 0xffff);
            assert_true(frames[0].data[40 + 4 * tag] | frames[0].data[41 + 4 * tag]);
        }
}

static void test_checksum_left(void **state) {
    static const struct {
        uint32_t length, start, offset;
    } left[] = {{60, 60, 0}, {60, 70, 6}, {60, 59, 0}, {60, 34, 25},    {60, 34, 0xffff},
                {60, 34, 8}, {0, 0, 0},   {1, 0, 0},   {60, 0xffff, 16}};
    (void)state;
    for (unsigned i = 0; i < sizeof left / sizeof *left; i++) {
        uint8_t frame[64], before[64];
        memset(frame, 0x5a, sizeof frame);
        memcpy(before, frame, sizeof frame);
        af_packet_checksum(frame, left[i].length, left[i].start, left[i].offset);
        assert_memory_equal(frame, before, sizeof frame);
    }
    // a sum of 0 is written as all ones
    uint8_t frame[] = {0xff, 0xff, 0, 0};
    af_packet_checksum(frame, 4, 0, 2);
    assert_int_equal(frame[2], 0xff);
    assert_int_equal(frame[3], 0xff);
}

// ---- sending ----

static void fill(unsigned n, uint8_t first) {
    for (unsigned i = 0; i < n; i++) {
        frames[i] = (struct af_packet_frame){.data = rooms[i], .length = 60 + i};
        memset(rooms[i], (uint8_t)(first + i), 60 + i);
    }
}

static void check_sent(unsigned at, unsigned n, uint8_t first) {
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(sent[at + i][0], (uint8_t)(first + i));
        assert_int_equal(sent[at + i][sent_length[at + i] - 1], (uint8_t)(first + i));
    }
}

static void test_send_around(void **state) {
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        fill(5, (uint8_t)round);
        n_sent = 0;
        assert_int_equal(af_packet_send(&a, frames, 5), 5);
        assert_int_equal(n_sent, 5);
        check_sent(0, 5, (uint8_t)round);
    }
    assert_int_equal(kicks, 20);
    assert_int_equal(af_packet_send(&a, frames, 0), 0);
    assert_int_equal(kicks, 20);
}

// What a card still reads is left alone.
static void test_send_slow(void **state) {
    (void)state;
    slow = true;
    fill(6, 0);
    assert_int_equal(af_packet_send(&a, frames, 6), 6);
    fill(6, 6);
    assert_int_equal(af_packet_send(&a, frames, 6), FRAMES - 6);
    assert_int_equal(af_packet_send(&a, frames + 2, 4), 0);
    assert_int_equal(kicks, 2);
    for (unsigned i = 0; i < 3; i++)
        place(tx, i)->tp_status = TP_STATUS_AVAILABLE;
    assert_int_equal(af_packet_send(&a, frames + 2, 4), 3);
    check_sent(0, 11, 0);
    assert_int_equal(af_packet_refused(&a), 0);
}

// What the kernel does not take is ours again, and nothing stays behind to be sent later.
static void test_send_partly(void **state) {
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        takes = round % 5;
        error = EAGAIN;
        n_sent = 0;
        fill(5, 0);
        const unsigned first = af_packet_send(&a, frames, 5);
        assert_int_equal(first, round % 5);
        for (unsigned i = 0; i < FRAMES; i++)
            assert_int_equal(place(tx, i)->tp_status, TP_STATUS_AVAILABLE);
        takes = 1000;
        assert_int_equal(af_packet_send(&a, frames + first, 5 - first), 5 - first);
        assert_int_equal(n_sent, 5);
        check_sent(0, 5, 0);
    }
    assert_int_equal(af_packet_refused(&a), 0);
}

static void test_send_down(void **state) {
    static const int waits[] = {ENETDOWN, ENXIO, EAGAIN, EINTR};
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        takes = 0;
        error = waits[i];
        fill(2, 0);
        assert_int_equal(af_packet_send(&a, frames, 2), 0);
        usleep(15000);
        assert_int_equal(af_packet_send(&a, frames, 2), 0);
    }
    assert_int_equal(af_packet_refused(&a), 0);
    assert_int_equal(n_sent, 0);
}

// One that the kernel refuses for a while is given up, so that others go.
static void test_send_refused(void **state) {
    (void)state;
    fill(3, 0);
    takes = 0;
    assert_int_equal(af_packet_send(&a, frames, 3), 0);
    assert_int_equal(af_packet_send(&a, frames, 3), 0);
    usleep(15000);
    assert_int_equal(af_packet_send(&a, frames, 3), 1);
    assert_int_equal(af_packet_refused(&a), 1);
    // the next has time of its own
    assert_int_equal(af_packet_send(&a, frames + 1, 2), 0);
    takes = 1;
    assert_int_equal(af_packet_send(&a, frames + 1, 2), 1);
    takes = 0;
    usleep(15000);
    assert_int_equal(af_packet_send(&a, frames + 2, 1), 0);
    takes = 1000;
    assert_int_equal(af_packet_send(&a, frames + 2, 1), 1);
    assert_int_equal(af_packet_refused(&a), 1);
    check_sent(0, 2, 1);
}

static void test_send_malformed(void **state) {
    (void)state;
    fill(3, 0);
    takes = 1;
    malformed = true;
    assert_int_equal(af_packet_send(&a, frames, 3), 1);
    assert_int_equal(af_packet_send(&a, frames + 1, 2), 1);
    assert_int_equal(af_packet_refused(&a), 1);
    malformed = false;
    takes = 1000;
    assert_int_equal(af_packet_send(&a, frames + 2, 1), 1);
    check_sent(1, 1, 2);
}

static void test_send_long(void **state) {
    const uint32_t room = FRAME - (uint32_t)(HEAD + sizeof(struct virtio_net_hdr));
    (void)state;
    fill(3, 0);
    frames[1].length = room + 1;
    frames[2].length = room;
    assert_int_equal(af_packet_send(&a, frames, 3), 1);
    assert_int_equal(af_packet_send(&a, frames + 1, 2), 1);
    assert_int_equal(af_packet_refused(&a), 1);
    assert_int_equal(af_packet_send(&a, frames + 2, 1), 1);
    assert_int_equal(sent_length[1], room);
    assert_int_equal(n_sent, 2);
}

// ---- frames that stand for several packets ----

// A segment of three packets of 1,000 bytes of TCP waits, after a tag was taken out or not.
static void write_segment(uint16_t tci) {
    uint8_t *f = waits.frame;
    memset(f, 0, 54);
    f[12] = 0x08;
    f[14] = 0x45;
    f[23] = 6;
    f[46] = 0x50;
    f[47] = 0x18;
    for (unsigned i = 0; i < 2500; i++)
        f[54 + i] = (uint8_t)(i * 7);
    waits.length = 54 + 2500;
    waits.tci = tci;
    waits.v = (struct virtio_net_hdr){.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
                                      .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
                                      .gso_size = 1000,
                                      .csum_start = 34,
                                      .csum_offset = 16};
    write_frame(waits.length, FRAME - AF_PACKET_BEFORE, 0)->tp_status |=
        TP_STATUS_COPY | TP_STATUS_CSUMNOTREADY;
}

static void check_pieces(unsigned from, uint32_t tag) {
    for (unsigned i = 0; i < 3; i++) {
        const struct af_packet_frame *f = &frames[from + i];
        assert_int_equal(f->length, 54 + tag + (i < 2 ? 1000 : 500));
        assert_int_equal(f->whole, f->length);
        assert_memory_equal(f->data + 54 + tag, waits.frame + 54 + (size_t)i * 1000,
                            f->length - 54 - tag);
    }
}

// Between ordinary frames, in bursts of its own, and taken in several calls.
static void test_receive_segment(void **state) {
    (void)state;
    for (unsigned round = 0; round < 3 * FRAMES; round++) {
        const uint32_t tag = round % 2 ? AF_PACKET_TAG : 0;
        write_frame(60, 60, 1);
        write_segment(tag ? 0x600a : 0);
        write_frame(61, 61, 2);
        assert_int_equal(af_packet_ready(&a, 0, 32), 1);
        assert_int_equal(af_packet_receive(&a, 0, frames, 1, ROOM), 1);
        check_frame(&frames[0], 60, 1);
        assert_int_equal(af_packet_ready(&a, 0, 32), 3);
        assert_int_equal(af_packet_ready(&a, 0, 2), 2);
        assert_int_equal(af_packet_receive(&a, 0, frames, 2, ROOM), 2);
        assert_int_equal(af_packet_ready(&a, 0, 32), 1);
        assert_int_equal(af_packet_receive(&a, 0, frames + 2, 1, ROOM), 1);
        check_pieces(0, tag);
        if (tag)
            assert_memory_equal(frames[2].data + 12, "\x81\x00\x60\x0a", 4);
        assert_int_equal(af_packet_ready(&a, 0, 32), 1);
        assert_int_equal(af_packet_receive(&a, 0, frames, 1, ROOM), 1);
        check_frame(&frames[0], 61, 2);
        assert_int_equal(af_packet_ready(&a, 0, 32), 0);
    }
    for (unsigned i = 0; i < FRAMES; i++)
        assert_int_equal(place(rx, i)->tp_status, TP_STATUS_KERNEL);
}

// The ring has all of it.
static void test_receive_segment_in_ring(void **state) {
    (void)state;
    write_segment(0);
    struct tpacket2_hdr *h = place(rx, written - 1);
    const uint32_t length = 54 + 1500;
    memcpy((uint8_t *)h + AF_PACKET_BEFORE, waits.frame, length);
    memcpy((uint8_t *)h + AF_PACKET_BEFORE - sizeof waits.v, &waits.v, sizeof waits.v);
    h->tp_len = h->tp_snaplen = length;
    h->tp_status = TP_STATUS_USER | TP_STATUS_CSUMNOTREADY;
    assert_int_equal(af_packet_ready(&a, 0, 32), 2);
    assert_int_equal(af_packet_receive(&a, 0, frames, 2, ROOM), 2);
    assert_int_equal(frames[0].length, 1054);
    assert_int_equal(frames[1].length, 554);
    assert_memory_equal(frames[1].data + 54, waits.frame + 1054, 500);
}

// What is not what it says is longer than any packet; and nothing is behind it that is not.
static void test_receive_no_segment(void **state) {
    (void)state;
    write_segment(0);
    waits.frame[23] = 132; // SCTP
    assert_int_equal(af_packet_ready(&a, 0, 32), 1);
    assert_int_equal(af_packet_receive(&a, 0, frames, 1, ROOM), 1);
    assert_int_equal(frames[0].length, 2554);
    assert_true(frames[0].whole > ROOM);
    write_segment(0);
    waits.length = 0; // it is not in the queue: what the ring has
    assert_int_equal(af_packet_ready(&a, 0, 32), 1);
    assert_int_equal(af_packet_receive(&a, 0, frames, 1, ROOM), 1);
    assert_int_equal(frames[0].length, FRAME - AF_PACKET_BEFORE);
    assert_int_equal(frames[0].whole, 2554);
    write_segment(0); // what is for others is read and forgotten
    a.all = false;
    ((struct sockaddr_ll *)(void *)((uint8_t *)place(rx, written - 1) +
                                    TPACKET_ALIGN(sizeof(struct tpacket2_hdr))))
        ->sll_pkttype = PACKET_OTHERHOST;
    assert_int_equal(af_packet_ready(&a, 0, 32), 0);
    assert_int_equal(waits.length, 0);
    write_frame(60, 60, 3);
    assert_int_equal(af_packet_ready(&a, 0, 32), 1);
    assert_int_equal(af_packet_receive(&a, 0, frames, 1, ROOM), 1);
    check_frame(&frames[0], 60, 3);
}

// Packets of a connection leave as one frame, those before and behind one by one; when the kernel
// does not know such frames, all do.
static void test_send_joined(void **state) {
    (void)state;
    write_segment(0);
    assert_int_equal(af_packet_ready(&a, 0, 32), 3);
    assert_int_equal(af_packet_receive(&a, 0, frames + 1, 3, ROOM), 3);
    frames[0] = (struct af_packet_frame){.data = rooms[0], .length = 60};
    frames[4] = (struct af_packet_frame){.data = rooms[4], .length = 60};
    memset(rooms[0], 1, 60);
    memset(rooms[4], 1, 60);
    assert_int_equal(af_packet_send(&a, frames, 5), 5);
    assert_int_equal(n_sent, 2);
    assert_int_equal(written_length, 2554);
    assert_memory_equal(written_large + 54, waits.frame + 54, 2500);

    write_error = EAGAIN; // later
    n_sent = 0;
    assert_int_equal(af_packet_send(&a, frames, 5), 1);
    assert_int_equal(n_sent, 1);
    assert_int_equal(af_packet_refused(&a), 0);
    for (unsigned i = 0; i < 3;
         i++) { // memory was short; the interface does not cut; nor the kernel
        write_error = i < 2 ? ENOBUFS : EINVAL;
        cutting = i == 0;
        a.joins = true;
        n_sent = 0;
        assert_int_equal(af_packet_send(&a, frames, 5), 5);
        assert_int_equal(n_sent, 5);
        assert_int_equal(a.joins, cutting);
    }
}

// Three datagrams of 1,000 bytes as one, from port 0x1111 of 10.0.0.1 to 0x2222 of 10.0.0.2.
static void write_datagrams(void) {
    uint8_t *f = waits.frame;
    write_segment(0);
    memset(f, 0, 54);
    f[12] = 0x08;
    f[14] = 0x45;
    memcpy(f + 26, "\x0a\x00\x00\x01\x0a\x00\x00\x02\x11\x11\x22\x22", 12);
    f[23] = 17;
    waits.length = 42 + 2500;
    waits.v.gso_type = VIRTIO_NET_HDR_GSO_UDP_L4;
    waits.v.csum_offset = 6;
    place(rx, written - 1)->tp_len = waits.length;
}

// What the receiver of these sends back: addresses and ports the other way round.
static void answer(unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint8_t *f = frames[i].data, from[4];
        memcpy(from, f + 26, 4);
        memcpy(f + 26, f + 30, 4);
        memcpy(f + 30, from, 4);
        memcpy(from, f + 34, 2);
        memcpy(f + 34, f + 36, 2);
        memcpy(f + 36, from, 2);
    }
}

// Datagrams leave as one frame to who has just sent one of several, and to nobody else. Where the
// kernel does not take that they go one by one, and packets of TCP are joined as before; the
// interface may be short of memory some times before it counts as one that cannot.
static void test_send_datagrams(void **state) {
    (void)state;
    write_datagrams();
    assert_int_equal(af_packet_ready(&a, 0, 32), 3);
    assert_int_equal(af_packet_receive(&a, 0, frames, 3, ROOM), 3);
    assert_int_equal(af_packet_send(&a, frames, 3), 3); // on to the receiver
    assert_int_equal(n_sent, 3);
    answer(3);
    n_sent = 0;
    assert_int_equal(af_packet_send(&a, frames, 3), 3);
    assert_int_equal(n_sent, 0);
    assert_int_equal(written_length, 42 + 2500);
    assert_memory_equal(written_large + 26, "\x0a\x00\x00\x02\x0a\x00\x00\x01\x22\x22\x11\x11", 12);
    for (unsigned i = 0; i < 3; i++)
        assert_memory_equal(written_large + 42 + (size_t)1000 * i, frames[i].data + 42,
                            frames[i].length - 42);

    write_error = EAGAIN; // later
    assert_int_equal(af_packet_send(&a, frames, 3), 0);
    cutting = true;
    for (unsigned i = 0; i < 20; i++) {
        n_sent = 0;
        write_error = i == 7 ? 0 : ENOBUFS; // one that goes begins the count again
        assert_int_equal(af_packet_send(&a, frames, 3), 3);
        assert_int_equal(n_sent, i == 7 ? 0 : 3);
        assert_int_equal(a.no_datagrams, i >= 15);
    }
    a.no_datagrams = false;
    write_error = EINVAL; // the kernel does not know them
    assert_int_equal(af_packet_send(&a, frames, 3), 3);
    assert_true(a.no_datagrams && a.joins);
    write_error = 0;
    n_sent = 0;
    assert_int_equal(af_packet_send(&a, frames, 3), 3);
    assert_int_equal(n_sent, 3);
    write_segment(0);
    assert_int_equal(af_packet_ready(&a, 0, 32), 3);
    assert_int_equal(af_packet_receive(&a, 0, frames, 3, ROOM), 3);
    n_sent = 0;
    assert_int_equal(af_packet_send(&a, frames, 3), 3);
    assert_int_equal(n_sent, 0);
    assert_int_equal(written_length, 2554);
}

// A segment is shown while none of its packets has been received, and leaves as it came; when it
// does not, its packets are there.
static void test_pass(void **state) {
    struct af_packet_whole w;
    (void)state;
    write_frame(60, 60, 1);
    write_segment(0);
    assert_false(af_packet_shows(&a, 0, &w)); // there is one before it
    assert_int_equal(af_packet_receive(&a, 0, frames, 1, ROOM), 1);
    assert_true(af_packet_shows(&a, 0, &w));
    assert_true(af_packet_shows(&a, 0, &w)); // as often as one likes
    assert_int_equal(w.packets, 3);
    assert_int_equal(w.length, 1054);
    assert_int_equal(w.last_length, 554);
    for (unsigned i = 0; i < 3; i++) { // it is not taken, and stays
        write_error = i == 0 ? EAGAIN : i == 1 ? ENOBUFS : EINVAL;
        assert_false(af_packet_pass(&a, 0, &a));
    }
    write_error = 0;
    assert_true(af_packet_pass(&a, 0, &a));
    assert_int_equal(written_length, 2554);
    assert_memory_equal(written_large + 54, waits.frame + 54, 2500);
    assert_int_equal(af_packet_ready(&a, 0, 32), 0);
    assert_false(af_packet_shows(&a, 0, &w));

    write_segment(0x600a); // with a tag that was taken out
    assert_true(af_packet_shows(&a, 0, &w));
    assert_memory_equal(w.first + 12, "\x81\x00\x60\x0a", 4);
    assert_true(af_packet_pass(&a, 0, &a));
    assert_int_equal(written_length, 2558);
    assert_memory_equal(written_large + 12, "\x81\x00\x60\x0a", 4);

    write_segment(0); // one of its packets is gone, or the interface cuts nothing
    a.joins = false;
    assert_true(af_packet_shows(&a, 0, &w));
    assert_false(af_packet_pass(&a, 0, &a));
    assert_int_equal(af_packet_receive(&a, 0, frames, 1, ROOM), 1);
    assert_true(af_packet_is_partway(&a, 0));
    assert_false(af_packet_shows(&a, 0, &w));
    assert_int_equal(af_packet_ready(&a, 0, 32), 2);
    assert_int_equal(af_packet_receive(&a, 0, frames + 1, 2, ROOM), 2);
    check_pieces(0, 0);
    assert_false(af_packet_is_partway(&a, 0));

    write_segment(0); // not TCP
    waits.frame[23] = 17;
    waits.v.gso_type = VIRTIO_NET_HDR_GSO_UDP_L4;
    waits.v.csum_offset = 6;
    assert_false(af_packet_shows(&a, 0, &w));
    assert_int_equal(af_packet_ready(&a, 0, 32), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_receive_around, begin),
        cmocka_unit_test_setup(test_receive_others, begin),
        cmocka_unit_test_setup(test_receive_cut, begin),
        cmocka_unit_test_setup(test_receive_tag, begin),
        cmocka_unit_test_setup(test_checksum, begin),
        cmocka_unit_test_setup(test_checksum_left, begin),
        cmocka_unit_test_setup(test_send_around, begin),
        cmocka_unit_test_setup(test_send_slow, begin),
        cmocka_unit_test_setup(test_send_partly, begin),
        cmocka_unit_test_setup(test_send_down, begin),
        cmocka_unit_test_setup(test_send_refused, begin),
        cmocka_unit_test_setup(test_send_malformed, begin),
        cmocka_unit_test_setup(test_send_long, begin),
        cmocka_unit_test_setup(test_receive_segment, begin),
        cmocka_unit_test_setup(test_receive_segment_in_ring, begin),
        cmocka_unit_test_setup(test_receive_no_segment, begin),
        cmocka_unit_test_setup(test_send_joined, begin),
        cmocka_unit_test_setup(test_send_datagrams, begin),
        cmocka_unit_test_setup(test_pass, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
//
// Kernel UDP sockets as a transport: what is sent as a frame comes as the same frame, between
// addresses of the loopback interface that only this process has; of both kinds, the station's own
// and sessions'; an ICMP error changes nothing, and what cannot be bound is said.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "hosts/core/udp.h"
#include "hosts/transport/transport.h"
#include "session/message.h"

#define SECOND UINT64_C(1000000000)
#define LANES  4u

static char why[256];

// The kernel's, but for messages of several datagrams when it is to refuse these.
static int refusal; // errno; 0: nothing is refused
static unsigned refused, messages_sent;

int sendmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags) {
    for (unsigned i = 0; i < n && refusal; i++)
        if (messages[i].msg_hdr.msg_controllen > 0) {
            if (i > 0)
                return (int)syscall(SYS_sendmmsg, fd, messages, i, flags);
            refused++;
            errno = refusal;
            return -1;
        }
    messages_sent += n;
    return (int)syscall(SYS_sendmmsg, fd, messages, n, flags);
}

// Station 'n' of this process.
static struct sk_endpoint station(unsigned n) {
    return (struct sk_endpoint){.mac = {2, 0, 0, 0, 1, (uint8_t)n},
                                .ip = 0x7f000000u | ((unsigned)getpid() & 0xffff) << 8 | (10 + n),
                                .port = 0xbee0};
}

static struct sk_transport *open_station(unsigned n) {
    const struct sk_transport_station self = {.self = station(n)};
    struct sk_transport *t = NULL;

    if (sk_transport_open_at(&t, "udp:", -1, &self, why, sizeof why) != 0)
        fail_msg("%s", why);
    return t;
}

static struct sk_frame frame_of(uint8_t *room, const struct sk_endpoint *from,
                                const struct sk_endpoint *to, size_t payload, unsigned number) {
    sk_udp_init(room, from, to, payload);
    for (size_t i = 0; i < payload; i++)
        room[SK_UDP_BYTES + i] = (uint8_t)(number + 3 * i);
    return (struct sk_frame){room, (uint32_t)(SK_UDP_BYTES + payload)};
}

// Receives one frame, from the copy that the transport keeps.
static struct sk_frame receive(struct sk_transport *t) {
    struct sk_frame f = {0};

    for (int i = 0; i < 20 && sk_transport_recv(t, &f, 1) == 0; i++)
        sk_transport_wait(t, SECOND / 10);
    assert_non_null(f.data);
    return f;
}

static void pass(struct sk_transport *a, const struct sk_endpoint *from, struct sk_transport *b,
                 const struct sk_endpoint *to, size_t payload, unsigned number) {
    uint8_t room[SK_MAX_FRAME];
    struct sk_frame sent = frame_of(room, from, to, payload, number), got;

    assert_int_equal(1, sk_transport_send(a, &sent, 1));
    got = receive(b);
    assert_int_equal(sent.len, got.len);
    assert_memory_equal(sent.data, got.data, sent.len);
}

// A station knows MAC addresses from what it sends: each says something first.
static void introduce(struct sk_transport *a, const struct sk_endpoint *from,
                      struct sk_transport *b, const struct sk_endpoint *to) {
    uint8_t room[SK_MAX_FRAME];
    struct sk_frame f = frame_of(room, from, to, 1, 0);

    assert_int_equal(1, sk_transport_send(a, &f, 1));
    receive(b);
}

static void test_frames_come_as_they_were_sent(void **state) {
    static const size_t lengths[] = {1, 18, 138, 1034, 1458, SK_MAX_FRAME - SK_UDP_BYTES};
    struct sk_endpoint a = station(0), b = station(1);
    struct sk_transport *ta = open_station(0), *tb = open_station(1);

    (void)state;
    introduce(ta, &a, tb, &b);
    introduce(tb, &b, ta, &a);
    for (unsigned i = 0; i < 300; i++) {
        pass(ta, &a, tb, &b, lengths[i % 6], i);
        pass(tb, &b, ta, &a, lengths[(i + 1) % 6], i);
    }
    a.port = b.port = SESSION_PORT;
    pass(ta, &a, tb, &b, 40, 7);
    pass(tb, &b, ta, &a, 40, 8);
    sk_transport_close(ta);
    sk_transport_close(tb);
}

// Two stations of one address, each with ports of its own: of both kinds each gets its own, and
// whoever is asked by the second one answers to that port.
static void test_two_of_one_address(void **state) {
    struct sk_endpoint a = station(0), b = station(1);
    struct sk_transport_station self = {.self = a};
    struct sk_transport *ta = open_station(0), *tb = open_station(1), *second = NULL;
    struct sk_frame f;
    uint8_t room[SK_MAX_FRAME];

    (void)state;
    self.self.port = 0x7000;
    assert_int_equal(SILKEN_ERR_TRANSPORT,
                     sk_transport_open_at(&second, "udp:", -1, &self, why, sizeof why));
    assert_non_null(strstr(why, "UDP port 48863 cannot be used"));
    self.session_port = 0x7001;
    assert_int_equal(0, sk_transport_open_at(&second, "udp:", -1, &self, why, sizeof why));
    a.port = b.port = SESSION_PORT;
    f = frame_of(room, &a, &b, 40, 9);
    assert_int_equal(1, sk_transport_send(second, &f, 1));
    f = receive(tb);
    a.port = 0x7001; // as the peer sees it
    assert_true(sk_udp_is_from(f.data, &a));
    f = frame_of(room, &b, &a, 40, 10);
    assert_int_equal(1, sk_transport_send(tb, &f, 1));
    f = receive(second);
    a.port = SESSION_PORT; // as the engine does
    assert_int_equal(SESSION_PORT, f.data[SK_UDP_BYTES - 6] << 8 | f.data[SK_UDP_BYTES - 5]);
    f = frame_of(room, &b, &a, 40, 11);
    assert_int_equal(1, sk_transport_send(tb, &f, 1));
    assert_int_equal(11, receive(ta).data[SK_UDP_BYTES]);
    assert_int_equal(0, sk_transport_recv(second, &f, 1));
    sk_transport_close(second);
    sk_transport_close(ta);
    sk_transport_close(tb);
}

// A burst for both sockets goes as a whole.
static void test_a_mixed_burst_goes_whole(void **state) {
    struct sk_endpoint a = station(0), b = station(1);
    struct sk_transport *ta = open_station(0), *tb = open_station(1);
    struct sk_frame frames[8];
    uint8_t room[8][SK_MAX_FRAME];
    unsigned own = 0, sessions = 0;

    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        a.port = b.port = i % 3 == 1 ? SESSION_PORT : 0xbee0;
        frames[i] = frame_of(room[i], &a, &b, 50, i);
    }
    assert_int_equal(8, sk_transport_send(ta, frames, 8));
    for (unsigned i = 0; i < 8; i++) {
        struct sk_frame f = receive(tb);
        bool session =
            sk_udp_is_from(f.data, &(struct sk_endpoint){.ip = a.ip, .port = SESSION_PORT});
        unsigned number = session ? 1 + 3 * sessions++ : own / 2 * 3 + own % 2 * 2;
        own += !session;
        assert_int_equal(number, f.data[SK_UDP_BYTES]);
    }
    assert_int_equal(3, sessions);
    sk_transport_close(ta);
    sk_transport_close(tb);
}

// Of the next burst: lengths of which some are alike, and shorter ones between.
static size_t burst_length(unsigned i, unsigned round) {
    static const size_t alike[] = {1034, 138, 1, SK_MAX_FRAME - SK_UDP_BYTES};

    return i % 11 == round % 11 ? 1 + i : alike[round % 4];
}

// Sends a burst and checks that all of it comes, in its order.
static void pass_burst(struct sk_transport *a, const struct sk_endpoint *from,
                       struct sk_transport *b, const struct sk_endpoint *to, unsigned n,
                       unsigned round) {
    static uint8_t room[SK_BURST][SK_MAX_FRAME];
    struct sk_frame frames[SK_BURST] = {{0}}, got[SK_BURST];
    unsigned seen = 0;

    for (unsigned i = 0; i < n; i++)
        frames[i] = frame_of(room[i], from, to, burst_length(i, round), i + round);
    assert_int_equal(n, sk_transport_send(a, frames, n));
    for (unsigned turns = 0; seen < n && turns < 2000; turns++) {
        const size_t came = sk_transport_recv(b, got, 1 + round % SK_BURST);
        for (size_t i = 0; i < came; i++, seen++) {
            assert_true(seen < n);
            assert_int_equal(frames[seen].len, got[i].len);
            assert_memory_equal(frames[seen].data, got[i].data, got[i].len);
        }
        if (came == 0)
            sk_transport_wait(b, SECOND / 100);
    }
    assert_int_equal(n, seen);
}

static void test_bursts_are_segments(void **state) {
    static const int refusals[] = {0, EIO, EINVAL};
    struct sk_endpoint a = station(0), b = station(1);

    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        struct sk_transport *ta = open_station(0), *tb = open_station(1);
        introduce(ta, &a, tb, &b);
        introduce(tb, &b, ta, &a);
        for (unsigned round = 0; round < 200; round++) {
            refusal = round >= 20 ? refusals[k] : 0;
            refused = messages_sent = 0;
            pass_burst(ta, &a, tb, &b, 1 + (round * 7) % SK_BURST, round);
            pass_burst(tb, &b, ta, &a, SK_BURST, round);
            if (refusal && round > 20) // after the first time it is not asked again
                assert_int_equal(refused, 0);
        }
        refusal = 0;
        if (ta->stats.tx_joined > 0)
            assert_true(tb->stats.rx_joined > 0);
        if (k == 0 && ta->stats.tx_joined > 0) // a message for the burst and one for each short one
            assert_true(messages_sent < 2 * SK_BURST);
        assert_int_equal(ta->stats.rx_dropped + tb->stats.rx_dropped, 0);
        sk_transport_close(ta);
        sk_transport_close(tb);
    }
}

// A station whose transport sends one by one has none, and receives those of others.
static void test_single(void **state) {
    struct sk_endpoint a = station(0), b = station(1);
    const struct sk_transport_station self = {.self = a, .single = true};
    struct sk_transport *ta, *tb = open_station(1);

    (void)state;
    assert_int_equal(0, sk_transport_open_at(&ta, "udp:", -1, &self, why, sizeof why));
    introduce(ta, &a, tb, &b);
    introduce(tb, &b, ta, &a);
    for (unsigned round = 0; round < 20; round++) {
        pass_burst(ta, &a, tb, &b, SK_BURST, round);
        pass_burst(tb, &b, ta, &a, SK_BURST, round);
    }
    assert_int_equal(0, ta->stats.tx_joined);
    assert_int_equal(0, tb->stats.rx_joined);
    assert_int_equal(tb->stats.tx_joined, ta->stats.rx_joined);
    sk_transport_close(ta);
    sk_transport_close(tb);
}

// What the switch says about sessions to lane 'lane': of such a message the lane's byte alone
// matters here.
static struct sk_frame session_of(uint8_t *room, const struct sk_endpoint *from,
                                  const struct sk_endpoint *to, unsigned lane) {
    struct sk_frame f = frame_of(room, from, to, 44, lane);

    room[SK_UDP_BYTES + 32] = (uint8_t)lane;
    return f;
}

static void test_lanes(void **state) {
    struct sk_endpoint a = station(0), b[LANES];
    struct sk_transport *lane[LANES], *fabric[LANES], *other;
    struct sk_transport_station self = {.self = a, .lanes = LANES};
    uint8_t room[SK_MAX_FRAME];

    (void)state;
    for (unsigned i = 0; i < LANES; i++) {
        b[i] = station(1 + i); // a station of its own, since each has a port for sessions
        self.peer = b[i];
        self.lane = i;
        assert_int_equal(0, sk_transport_open_at(&lane[i], "udp:", -1, &self, why, sizeof why));
        fabric[i] = open_station(1 + i);
    }
    for (unsigned round = 0; round < 40; round++)
        for (unsigned i = 0; i < LANES; i++) {
            const unsigned to = (i + round) % LANES;
            struct sk_endpoint from = b[to], own = a;
            introduce(lane[to], &a, fabric[to], &b[to]);
            pass_burst(fabric[to], &b[to], lane[to], &a, SK_BURST, round);
            from.port = own.port = SESSION_PORT;
            struct sk_frame said = session_of(room, &from, &own, to);
            assert_int_equal(1, sk_transport_send(fabric[(to + 1) % LANES], &said, 1));
            assert_int_equal(to, receive(lane[to]).data[SK_UDP_BYTES + 32]);
        }
    // nobody else gets the address meanwhile, with lanes or without
    self.lane = 0;
    assert_int_equal(SILKEN_ERR_TRANSPORT,
                     sk_transport_open_at(&other, "udp:", -1, &self, why, sizeof why));
    assert_non_null(strstr(why, "an IP address of its own"));
    self.lanes = 0;
    assert_int_equal(SILKEN_ERR_TRANSPORT,
                     sk_transport_open_at(&other, "udp:", -1, &self, why, sizeof why));
    for (unsigned i = 0; i < LANES; i++) {
        sk_transport_close(lane[i]);
        sk_transport_close(fabric[i]);
    }
}

// Nobody listens: the kernel answers with ICMP errors, and the next packet to somebody else goes
// all the same.
static void test_refusals_do_not_matter(void **state) {
    struct sk_endpoint a = station(0), b = station(1), nobody = station(2);
    struct sk_transport *ta = open_station(0), *tb = open_station(1);
    uint8_t room[SK_MAX_FRAME];

    (void)state;
    introduce(tb, &b, ta, &a);
    introduce(ta, &a, tb, &b);
    for (unsigned i = 0; i < 50; i++) {
        struct sk_frame f = frame_of(room, &a, &nobody, 100, i);
        assert_int_equal(1, sk_transport_send(ta, &f, 1));
        pass(ta, &a, tb, &b, 100, i);
        pass(tb, &b, ta, &a, 100, i);
    }
    sk_transport_close(ta);
    sk_transport_close(tb);
}

static void check_refused(const char *device, const struct sk_transport_station *self, int code,
                          const char *says) {
    struct sk_transport *t;

    why[0] = 0;
    assert_int_equal(code, sk_transport_open_at(&t, device, -1, self, why, sizeof why));
    if (!strstr(why, says))
        fail_msg("%s: \"%s\" does not say \"%s\"", device, why, says);
}

static void test_refused_addresses(void **state) {
    const struct sk_transport_station a = {.self = station(0)};
    struct sk_transport *t = open_station(0);

    (void)state;
    check_refused("udp:", &a, SILKEN_ERR_TRANSPORT, "an IP address of its own");
    check_refused("udp:192.0.2.77", &a, SILKEN_ERR_TRANSPORT, "not an address of this host");
    check_refused("udp:eth0", &a, SILKEN_ERR_INVALID, "expected udp:");
    check_refused("udp:127.0.0.1", NULL, SILKEN_ERR_INVALID, "are not known");
    sk_transport_close(t);
}

static void test_what_is_udp(void **state) {
    (void)state;
    assert_string_equal("10.0.0.1", sk_transport_udp_address("udp:10.0.0.1"));
    assert_string_equal("", sk_transport_udp_address("faulty:drop=0.1:faulty:seed=2:udp:"));
    assert_null(sk_transport_udp_address("faulty:udp:"));
    assert_null(sk_transport_udp_address("afpacket:udp:"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_come_as_they_were_sent),
        cmocka_unit_test(test_a_mixed_burst_goes_whole),
        cmocka_unit_test(test_two_of_one_address),
        cmocka_unit_test(test_bursts_are_segments),
        cmocka_unit_test(test_single),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_refusals_do_not_matter),
        cmocka_unit_test(test_refused_addresses),
        cmocka_unit_test(test_what_is_udp),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

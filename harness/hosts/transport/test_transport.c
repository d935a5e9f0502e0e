// SPDX-License-Identifier: Apache-2.0
//
// Transports: the contract that all kinds share (bursts, order, borrowed frames, waiting), each
// kind's own promises, and the device strings.
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "hosts/transport/transport.h"

#define MS UINT64_C(1000000)

static char why[256];

// Frames that carry a number, as IPv4 so that every kind passes them on.
static void make_frame(struct sk_frame *f, uint8_t *room, uint32_t number, uint32_t len) {
    memset(room, 0, len);
    memset(room, 0xff, 6);
    room[6] = 2;
    room[12] = 8;
    memcpy(room + 14, &number, sizeof number);
    room[len - 1] = (uint8_t)(number * 7);
    *f = (struct sk_frame){room, len};
}

static uint32_t number_of(const struct sk_frame *f) {
    uint32_t number;

    memcpy(&number, f->data + 14, sizeof number);
    assert_int_equal((uint8_t)(number * 7), f->data[f->len - 1]);
    return number;
}

// Sends 'count' numbered frames and receives them at the other end, whole and in order.
static void check_frames_pass(struct sk_transport *from, struct sk_transport *to, uint32_t count) {
    uint8_t room[SK_BURST][1100];
    struct sk_frame out[SK_BURST], in[SK_BURST];
    uint32_t sent = 0, got = 0;
    uint64_t limit = sk_clock_now() + 5000 * MS;

    while (got < count) {
        size_t n = 0, received;
        for (; n < SK_BURST && sent + n < count; n++)
            make_frame(&out[n], room[n], sent + (uint32_t)n, 64 + (sent + (uint32_t)n) % 1000);
        sent += (uint32_t)sk_transport_send(from, out, n);
        received = sk_transport_recv(to, in, 1 + got % SK_BURST);
        for (size_t i = 0; i < received; i++) {
            assert_int_equal(got % 1000 + 64, in[i].len);
            assert_int_equal(got++, number_of(&in[i]));
        }
        if (received == 0)
            sk_transport_wait(to, MS);
        assert_true(sk_clock_now() < limit);
    }
}

static void check_wait_times_out(struct sk_transport *t) {
    uint64_t start = sk_clock_now(), took;

    sk_transport_wait(t, 3 * MS);
    took = sk_clock_now() - start;
    assert_in_range(took, 2 * MS, 2000 * MS);
}

// ---- ring ------------------------------------------------------------------------------------

static void test_ring_passes_frames(void **state) {
    struct sk_transport *ends[2];

    (void)state;
    assert_int_equal(0, sk_transport_ring_open(ends, 60));
    check_frames_pass(ends[0], ends[1], 1000);
    check_frames_pass(ends[1], ends[0], 1000);
    check_wait_times_out(ends[0]);
    assert_int_equal(1000, ends[0]->stats.tx_frames);
    assert_int_equal(1000, ends[0]->stats.rx_frames);
    assert_int_equal(ends[0]->stats.tx_bytes, ends[1]->stats.rx_bytes);
    sk_transport_close(ends[0]);
    sk_transport_close(ends[1]);
}

static void test_ring_takes_its_capacity_and_no_more(void **state) {
    struct sk_transport *ends[2];
    uint8_t room[100], long_room[SK_MAX_FRAME + 1];
    struct sk_frame f, too_long;

    (void)state;
    assert_int_equal(0, sk_transport_ring_open(ends, 4));
    make_frame(&f, room, 1, sizeof room);
    for (int i = 0; i < 4; i++)
        assert_int_equal(1, sk_transport_send(ends[0], &f, 1));
    assert_int_equal(0, sk_transport_send(ends[0], &f, 1));
    assert_int_equal(1, ends[0]->stats.tx_full);
    assert_int_equal(1, sk_transport_recv(ends[1], &f, 1)); // still borrowed: no room yet
    make_frame(&f, room, 1, sizeof room);
    assert_int_equal(0, sk_transport_send(ends[0], &f, 1));
    sk_transport_wait(ends[1], 0);
    assert_int_equal(1, sk_transport_send(ends[0], &f, 1));
    make_frame(&too_long, long_room, 1, sizeof long_room);
    assert_int_equal(0, sk_transport_send(ends[1], &too_long, 1));
    sk_transport_close(ends[0]);
    sk_transport_close(ends[1]);
}

static void test_ring_refuses_no_capacity(void **state) {
    struct sk_transport *ends[2];

    (void)state;
    assert_int_equal(SILKEN_ERR_INVALID, sk_transport_ring_open(ends, 0));
}

struct sender {
    struct sk_transport *t;
    uint32_t count;
};

static void *send_numbers(void *argument) {
    struct sender *s = argument;
    uint8_t room[200];
    struct sk_frame f;

    for (uint32_t i = 0; i < s->count; i++) {
        make_frame(&f, room, i, 70 + i % 100);
        while (sk_transport_send(s->t, &f, 1) == 0)
            sched_yield();
    }
    return NULL;
}

static void test_ring_between_threads(void **state) {
    struct sk_transport *ends[2];
    struct sk_frame in[SK_BURST];
    struct sender sender = {.count = 50000};
    pthread_t thread;

    (void)state;
    assert_int_equal(0, sk_transport_ring_open(ends, 64));
    sender.t = ends[0];
    pthread_create(&thread, NULL, send_numbers, &sender);
    for (uint32_t got = 0; got < sender.count;) {
        size_t n = sk_transport_recv(ends[1], in, SK_BURST);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(got++, number_of(&in[i]));
        if (n == 0)
            sk_transport_wait(ends[1], 100 * MS);
    }
    pthread_join(thread, NULL);
    sk_transport_close(ends[0]);
    sk_transport_close(ends[1]);
}

// ---- faulty ----------------------------------------------------------------------------------

// What arrived: how often each number, and how many numbers below the one before.
struct arrivals {
    uint8_t *times;
    uint32_t inversions, last;
};

static void receive_numbers(struct sk_transport *t, struct arrivals *a) {
    struct sk_frame in[SK_BURST];
    size_t n;

    while ((n = sk_transport_recv(t, in, SK_BURST)) > 0) {
        for (size_t i = 0; i < n; i++) {
            uint32_t number = number_of(&in[i]);
            a->times[number]++;
            a->inversions += number < a->last;
            a->last = number;
        }
    }
}

// Sends numbers through faults on the way out, in bursts of 'burst'.
static void run_faults(const struct sk_faults *faults, uint32_t count, size_t burst,
                       struct arrivals *a) {
    struct sk_transport *ends[2], *faulty;
    struct sk_frame out[SK_BURST];
    uint8_t room[SK_BURST][64];

    assert_int_equal(0, sk_transport_ring_open(ends, 128));
    assert_int_equal(0, sk_transport_faulty_open(&faulty, ends[0], faults));
    for (uint32_t i = 0; i < count; i += (uint32_t)burst) {
        for (size_t j = 0; j < burst; j++)
            make_frame(&out[j], room[j], i + (uint32_t)j, sizeof room[j]);
        assert_int_equal(burst, sk_transport_send(faulty, out, burst));
        receive_numbers(ends[1], a);
    }
    sk_transport_close(faulty);
    sk_transport_close(ends[1]);
}

static void test_faults_come_at_their_rates(void **state) {
    enum { COUNT = 20000 };
    struct sk_faults faults = {.seed = 3, .drop = 0.1, .duplicate = 0.2, .reorder = 0.3};
    struct arrivals a = {.times = calloc(COUNT, 1)};
    uint32_t lost = 0, twice = 0;

    (void)state;
    run_faults(&faults, COUNT, 20, &a);
    for (int i = 0; i < COUNT; i++) {
        lost += a.times[i] == 0;
        twice += a.times[i] == 2;
        assert_true(a.times[i] <= 2);
    }
    assert_in_range(lost, COUNT * 9 / 100, COUNT * 11 / 100);
    assert_in_range(twice, COUNT * 10 / 100, COUNT * 20 / 100);
    assert_in_range(a.inversions, COUNT * 10 / 100, COUNT * 30 / 100);
    free(a.times);
}

static void test_no_frame_is_overtaken_by_a_later_call(void **state) {
    enum { COUNT = 20000 };
    struct sk_faults faults = {.seed = 4, .drop = 0.1, .duplicate = 0.2, .reorder = 0.9};
    struct arrivals a = {.times = calloc(COUNT, 1)};

    (void)state;
    run_faults(&faults, COUNT, 1, &a);
    assert_int_equal(0, a.inversions);
    free(a.times);
}

static void test_no_faults_change_nothing(void **state) {
    struct sk_transport *ends[2], *faulty;
    struct sk_faults none = {.seed = 1};

    (void)state;
    assert_int_equal(0, sk_transport_ring_open(ends, 512));
    assert_int_equal(0, sk_transport_faulty_open(&faulty, ends[0], &none));
    check_frames_pass(faulty, ends[1], 500);
    check_frames_pass(ends[1], faulty, 500);
    check_wait_times_out(faulty);
    sk_transport_close(faulty);
    sk_transport_close(ends[1]);
}

// A frame held back on receipt is not lost when nothing follows it.
static void test_held_frame_comes_in_the_end(void **state) {
    struct sk_transport *ends[2], *faulty;
    struct sk_faults always = {.seed = 1, .reorder = 1};
    struct sk_frame f;
    uint8_t room[64];

    (void)state;
    assert_int_equal(0, sk_transport_ring_open(ends, 8));
    assert_int_equal(0, sk_transport_faulty_open(&faulty, ends[0], &always));
    make_frame(&f, room, 9, sizeof room);
    assert_int_equal(1, sk_transport_send(ends[1], &f, 1));
    assert_int_equal(0, sk_transport_recv(faulty, &f, 1));
    assert_int_equal(1, sk_transport_recv(faulty, &f, 1));
    assert_int_equal(9, number_of(&f));
    sk_transport_close(faulty);
    sk_transport_close(ends[1]);
}

// ---- device strings --------------------------------------------------------------------------

static void test_bad_device_strings(void **state) {
    static const struct {
        const char *device;
        int code;
        const char *says;
    } rows[] = {
        {"", SILKEN_ERR_INVALID, "a device starts with"},
        {"eth0", SILKEN_ERR_INVALID, "a device starts with"},
        {"afpacket:no-such-if0", SILKEN_ERR_TRANSPORT, "no network interface"},
        {"faulty:afpacket:lo", SILKEN_ERR_INVALID, "expected faulty:"},
        {"faulty:drop=2:afpacket:lo", SILKEN_ERR_INVALID, "expected faulty:"},
        {"faulty:drop=x:afpacket:lo", SILKEN_ERR_INVALID, "expected faulty:"},
        {"faulty:drop=0.1", SILKEN_ERR_INVALID, "expected faulty:"},
        {"faulty:drop=0.1,:eth0", SILKEN_ERR_INVALID, "expected faulty:"},
        {"faulty:seed=7,reorder=0.5:eth0", SILKEN_ERR_INVALID, "a device starts with"},
    };
    struct sk_transport *t;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        why[0] = 0;
        assert_int_equal(rows[i].code, sk_transport_open(&t, rows[i].device, -1, why, sizeof why));
        if (!strstr(why, rows[i].says))
            fail_msg("%s: \"%s\" does not say \"%s\"", rows[i].device, why, rows[i].says);
    }
    sk_transport_close(NULL);
}

// ---- AF_PACKET -------------------------------------------------------------------------------

static char veth[2][24];

static int run(const char *format, const char *a, const char *b) {
    char command[128];

    snprintf(command, sizeof command, format, a, b);
    return system(command);
}

// Whether it comes up within ten seconds. Until then its queue drops what is sent.
static int carries(int i) {
    char path[64], state[16] = "";

    snprintf(path, sizeof path, "/sys/class/net/%s/operstate", veth[i]);
    for (int tries = 0; tries < 1000; tries++) {
        FILE *f = fopen(path, "r");
        const bool up = f && fgets(state, sizeof state, f) && strcmp(state, "up\n") == 0;
        if (f)
            fclose(f);
        if (up)
            return 1;
        usleep(10000);
    }
    return 0;
}

static int make_veth(void) {
    for (int i = 0; i < 2; i++)
        snprintf(veth[i], sizeof veth[i], "skt%d-%u", i, (unsigned)getpid() % 1000000u);
    return run("ip link add %s type veth peer name %s 2>/dev/null", veth[0], veth[1]) == 0 &&
           run("ip link set %s up && ip link set %s up", veth[0], veth[1]) == 0;
}

static int remove_veth(void **state) {
    (void)state;
    run("ip link del %s 2>/dev/null%s", veth[0], "");
    return 0;
}

static struct sk_transport *open_veth(int i) {
    struct sk_transport *t = NULL;
    char device[32];

    snprintf(device, sizeof device, "afpacket:%s", veth[i]);
    if (sk_transport_open(&t, device, -1, why, sizeof why) != 0)
        fail_msg("%s", why);
    return t;
}

static void test_afpacket_passes_frames(void **state) {
    struct sk_transport *a, *b;

    (void)state;
    if (!make_veth()) {
        print_message("no right to make network interfaces: not tested\n");
        skip();
    }
    assert_true(carries(0) && carries(1));
    a = open_veth(0);
    b = open_veth(1);
    check_frames_pass(a, b, 500);
    check_frames_pass(b, a, 500);
    check_wait_times_out(a);
    sk_transport_close(a);
    sk_transport_close(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring_passes_frames),
        cmocka_unit_test(test_ring_takes_its_capacity_and_no_more),
        cmocka_unit_test(test_ring_refuses_no_capacity),
        cmocka_unit_test(test_ring_between_threads),
        cmocka_unit_test(test_faults_come_at_their_rates),
        cmocka_unit_test(test_no_frame_is_overtaken_by_a_later_call),
        cmocka_unit_test(test_no_faults_change_nothing),
        cmocka_unit_test(test_held_frame_comes_in_the_end),
        cmocka_unit_test(test_bad_device_strings),
        cmocka_unit_test_teardown(test_afpacket_passes_frames, remove_veth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

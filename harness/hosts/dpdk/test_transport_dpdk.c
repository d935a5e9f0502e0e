// SPDX-License-Identifier: Apache-2.0
//
// The DPDK transport over net_memif, between two processes and without root's privileges: frames
// pass both ways whole and in order, also when the client is there before the server.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "hosts/dpdk/dpdk.h"

#define MS     UINT64_C(1000000)
#define FRAMES 5000

static char socket_path[64];
static pid_t server;

// Sends back what comes, until it is killed.
static void echo(void) {
    struct sk_transport *t;
    struct sk_frame frames[SK_BURST];
    char device[128], why[256];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    usleep(500000); // the client is to be there first
    snprintf(device, sizeof device, "net_memif0,role=server,id=0,socket-abstract=no,socket=%s",
             socket_path);
    if (sk_transport_open(&t, device, -1, why, sizeof why) != 0) {
        fprintf(stderr, "server: %s\n", why);
        _exit(1);
    }
    for (;;) {
        size_t n = sk_transport_recv(t, frames, SK_BURST), sent = 0;
        while (sent < n)
            sent += sk_transport_send(t, frames + sent, n - sent);
        if (n == 0)
            sk_transport_wait(t, MS);
    }
}

static struct sk_transport *open_client(void) {
    struct sk_transport *t;
    char device[128], why[256];

    snprintf(device, sizeof device, "dpdk:net_memif0,role=client,id=0,socket-abstract=no,socket=%s",
             socket_path);
    if (sk_transport_open(&t, device, -1, why, sizeof why) != 0)
        fail_msg("client: %s", why);
    return t;
}

static void fill(struct sk_frame *f, uint8_t *room, uint32_t number) {
    *f = (struct sk_frame){room, 60 + number % 1020};
    memset(room, (int)(number & 0xff), f->len);
    memcpy(room, &number, sizeof number);
}

static void check(const struct sk_frame *f, uint32_t number) {
    uint32_t got;

    memcpy(&got, f->data, sizeof got);
    assert_int_equal(number, got);
    assert_int_equal(60 + number % 1020, f->len);
    assert_int_equal(number & 0xff, f->data[f->len - 1]);
}

// Keeps at most 256 frames on the way, and checks them as they come back.
static void bounce(struct sk_transport *t) {
    uint64_t limit = sk_clock_now() + 20000 * MS;
    uint32_t sent = 0, got = 0;
    uint8_t room[2048];
    struct sk_frame out, in[SK_BURST];

    while (got < FRAMES) {
        size_t n;
        while (sent < FRAMES && sent - got < 256) {
            fill(&out, room, sent);
            if (sk_transport_send(t, &out, 1) == 0)
                break;
            sent++;
        }
        n = sk_transport_recv(t, in, SK_BURST);
        for (size_t i = 0; i < n; i++)
            check(&in[i], got++);
        if (n == 0)
            sk_transport_wait(t, MS);
        assert_true(sk_clock_now() < limit);
    }
}

static void test_memif_between_processes(void **state) {
    uint64_t start;
    struct sk_transport *t;

    (void)state;
    snprintf(socket_path, sizeof socket_path, "/tmp/silken-memif-%d.sock", (int)getpid());
    server = fork();
    assert_true(server >= 0);
    if (server == 0)
        echo();
    t = open_client();
    start = sk_clock_now();
    bounce(t);
    print_message("%u frames there and back in %.1f ms, including the connection\n", FRAMES,
                  (double)(sk_clock_now() - start) / 1e6);
    assert_int_equal(FRAMES, t->stats.tx_frames);
    assert_int_equal(FRAMES, t->stats.rx_frames);
    assert_int_equal(0, t->stats.rx_dropped);
    sk_transport_close(t);
}

static int stop_server(void **state) {
    (void)state;
    if (server > 0) {
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
        unlink(socket_path);
    }
    return 0;
}

static void test_unknown_device(void **state) {
    struct sk_transport *t;
    char why[256];

    (void)state;
    assert_int_equal(SILKEN_ERR_TRANSPORT,
                     sk_transport_open(&t, "dpdk:net_nosuch0,a=b", -1, why, sizeof why));
    assert_non_null(strstr(why, "no such DPDK device"));
    assert_int_equal(SILKEN_ERR_TRANSPORT, sk_transport_open(&t, "dpdk:", -1, why, sizeof why));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_memif_between_processes, stop_server),
        cmocka_unit_test(test_unknown_device),
    };

    sk_dpdk_link();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
//
// The memif driver with DPDK's own (net_memif) as its peer, in another process: as client and as
// server, by a socket in the file system and an abstract one, frames of one buffer and of several.
// The peer sends back all that it receives.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "memif/memif.h"

#define BURST 32u
#define ROOM  9216u

// ---- the peer ----

static int start_port(const char *device, uint16_t *port) {
    static char program[] = "peer", a[] = "--no-huge", b[] = "--no-shconf", c[] = "--no-pci",
                d[] = "--no-telemetry", e[] = "-m128", f[] = "--iova-mode=va",
                g[] = "--lcores=0@(0-1)", h[] = "--log-level=critical";
    char *arguments[] = {program, a, b, c, d, e, f, g, h, NULL};
    const struct rte_eth_conf conf = {0};
    if (rte_eal_init(9, arguments) < 0)
        return -1;
    struct rte_mempool *pool =
        rte_pktmbuf_pool_create("peer", 4095, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    const char *comma = strchr(device, ',');
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)(comma - device), device);
    if (!pool || rte_eal_hotplug_add("vdev", name, comma + 1) ||
        rte_eth_dev_get_port_by_name(name, port))
        return -2;
    if (rte_eth_dev_configure(*port, 1, 1, &conf) ||
        rte_eth_rx_queue_setup(*port, 0, 512, 0, NULL, pool) ||
        rte_eth_tx_queue_setup(*port, 0, 512, 0, NULL))
        return -3;
    return rte_eth_dev_start(*port) ? -4 : 0;
}

static void peer(const char *device) {
    uint16_t port = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int rc = start_port(device, &port);
    if (rc) {
        fprintf(stderr, "the peer does not start: %d\n", rc);
        _exit(1);
    }
    for (;;) {
        struct rte_mbuf *burst[BURST];
        const uint16_t n = rte_eth_rx_burst(port, 0, burst, BURST);
        for (uint16_t sent = 0; sent < n;)
            sent += rte_eth_tx_burst(port, 0, burst + sent, n - sent);
        if (n == 0)
            usleep(100);
    }
}

// ---- we ----

static struct memif *open_device(const char *arguments) {
    struct memif_options o;
    char error[200] = "";
    assert_true(memif_options_parse(arguments, &o, error, sizeof error));
    struct memif *m = memif_open(&o, error, sizeof error);
    if (!m)
        fail_msg("%s", error);
    return m;
}

static void fill(uint8_t *frame, unsigned serial, uint32_t length) {
    for (uint32_t i = 0; i < length; i++)
        frame[i] = (uint8_t)(serial * 31 + i * 7);
}

static uint32_t length_of(unsigned serial, uint32_t longest) {
    return 60 + serial * 97 % (longest - 60);
}

// So many are on the way at most: when a frame takes several places of a ring and there are too
// few, DPDK 22.11's driver goes on over its end.
#define WINDOW 24u

// 2,000 frames come back as they were, in their order.
static void exchange(struct memif *m, uint32_t longest) {
    static uint8_t out[BURST][ROOM], in[BURST][ROOM], expected[ROOM];
    struct memif_frame frames[BURST];
    unsigned sent = 0, got = 0;
    for (unsigned idle = 0; got < 2000; idle++) {
        unsigned n = 2000 - sent < BURST ? 2000 - sent : BURST;
        n = sent - got + n > WINDOW ? WINDOW - (sent - got) : n;
        for (unsigned i = 0; i < n; i++) {
            frames[i] = (struct memif_frame){out[i], length_of(sent + i, longest)};
            fill(out[i], sent + i, frames[i].length);
        }
        sent += memif_send(m, frames, n);
        for (unsigned i = 0; i < BURST; i++)
            frames[i].data = in[i];
        n = memif_receive(m, 0, frames, BURST, ROOM);
        for (unsigned i = 0; i < n; i++, got++) {
            assert_int_equal(frames[i].length, length_of(got, longest));
            fill(expected, got, frames[i].length);
            assert_memory_equal(in[i], expected, frames[i].length);
            idle = 0;
        }
        assert_true(idle < 20000);
        if (n == 0)
            usleep(500);
    }
}

static bool wait_link(const struct memif *m, bool up) {
    for (int i = 0; i < 30000 && memif_link(m) != up; i++)
        usleep(1000);
    return memif_link(m) == up;
}

// A program of its own: our device has a thread, which may hold malloc()'s lock while this one
// forks.
static pid_t start_peer(const char *device) {
    const pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "peer", device, (char *)NULL);
        _exit(1);
    }
    return child;
}

static void end_peer(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

// DPDK's client connects while it starts, and does not try again: ours is there before.
static void as_server(const char *where, const char *peers, uint32_t longest) {
    char text[256];
    snprintf(text, sizeof text, "role=server,id=4,secret=abc,%s", where);
    struct memif *m = open_device(text);
    for (int i = 0; i < 2; i++) { // one peer after the other
        snprintf(text, sizeof text, "net_memif0,role=client,id=4,secret=abc,%s%s", where, peers);
        const pid_t child = start_peer(text);
        assert_true(wait_link(m, true));
        exchange(m, longest);
        end_peer(child);
        assert_true(wait_link(m, false));
    }
    memif_close(m);
}

static void as_client(const char *where, const char *ours, uint32_t longest) {
    char text[256];
    snprintf(text, sizeof text, "role=client,%s%s", where, ours);
    struct memif *m = open_device(text);
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "net_memif0,role=server,%s", where);
        const pid_t child = start_peer(text);
        assert_true(wait_link(m, true));
        exchange(m, longest);
        end_peer(child);
        assert_true(wait_link(m, false));
        const char *path = strstr(where, "socket=") + strlen("socket=");
        snprintf(text, sizeof text, "%.*s", (int)strcspn(path, ","), path);
        unlink(text); // which DPDK would stumble over
    }
    memif_close(m);
}

static void test_server(void **state) {
    char where[128];
    (void)state;
    snprintf(where, sizeof where, "socket=/tmp/silken-md-%d,socket-abstract=no", (int)getpid());
    as_server(where, "", 1500);
    as_server(where, ",rsize=7,bsize=512", 1500);
}

static void test_client(void **state) {
    char where[128];
    (void)state;
    snprintf(where, sizeof where, "socket=/tmp/silken-md-%d,socket-abstract=no", (int)getpid());
    as_client(where, "", 1500);
    as_client(where, ",rsize=7,bsize=512", 1500);
}

static void test_abstract(void **state) {
    char where[128];
    (void)state;
    snprintf(where, sizeof where, "socket=silken-md-%d", (int)getpid());
    as_server(where, "", 2000);
    as_client(where, "", 2000);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[0], "peer") == 0)
        peer(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_server),
        cmocka_unit_test(test_client),
        cmocka_unit_test(test_abstract),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

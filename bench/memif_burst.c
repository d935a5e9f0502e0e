// SPDX-License-Identifier: Apache-2.0
//
// Our memif driver beside DPDK's (net_memif): how long a packet takes from one end to the other and
// back.
//
//   build/bench/memif_burst [ROUNDS]
//
// Both ends of a driver are in this process, on one thread, server and client: a burst of 32 goes
// from the client to the server and back, in packet buffers of DPDK both times, as a switch has
// them. The drivers take turns in short rounds (of some milliseconds of this thread's processor
// time), so what else the machine does meets both. A line for each length: nanoseconds a packet and
// crossing, medians of the rounds, and the median of the rounds' ratios, above 1 when DPDK's takes
// longer.
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "bench/bench.h"
#include "dpdk/eal.h"
#include "memif/memif.h"

#define BURST  32u
#define BURSTS 1000u // of a round
#define MOST   1001u
#define ROOM   2048u

static struct rte_mempool *pool;

static void die(const char *what) {
    fprintf(stderr, "memif_burst: %s\n", what);
    exit(1);
}

// ---- ends ----

struct end {
    uint16_t port;
    struct memif *device;
    struct rte_mbuf *ready[BURST];
    struct memif_frame frames[BURST];
};

static struct end open_dpdk(const char *name, const char *arguments) {
    const struct rte_eth_conf conf = {0};
    struct end e = {0};
    if (rte_eal_hotplug_add("vdev", name, arguments) ||
        rte_eth_dev_get_port_by_name(name, &e.port) || rte_eth_dev_configure(e.port, 1, 1, &conf) ||
        rte_eth_rx_queue_setup(e.port, 0, 512, 0, NULL, pool) ||
        rte_eth_tx_queue_setup(e.port, 0, 512, 0, NULL) || rte_eth_dev_start(e.port))
        die("DPDK's device does not start");
    return e;
}

static void refill(struct end *e, unsigned n) {
    if (rte_pktmbuf_alloc_bulk(pool, e->ready, n))
        die("no packet buffers");
    for (unsigned i = 0; i < n; i++)
        e->frames[i].data = rte_pktmbuf_mtod(e->ready[i], uint8_t *);
}

static struct end open_ours(const char *arguments) {
    struct memif_options o;
    struct end e = {0};
    char error[200];
    if (!memif_options_parse(arguments, &o, error, sizeof error) ||
        !(e.device = memif_open(&o, error, sizeof error)))
        die(error);
    refill(&e, BURST);
    return e;
}

static bool is_up(const struct end *e) {
    struct rte_eth_link link = {0};
    if (e->device)
        return memif_link(e->device);
    return rte_eth_link_get_nowait(e->port, &link) == 0 && link.link_status;
}

// DPDK's driver takes its memory away under a running burst: whoever uses it needs a lock, which
// ours has inside.
static atomic_bool held;
static void hold(void) {
    while (atomic_exchange_explicit(&held, true, memory_order_acquire))
        ;
}
static void release(void) {
    atomic_store_explicit(&held, false, memory_order_release);
}

// As pipeline/ports/memif.c has it.
static unsigned receive(struct end *e, struct rte_mbuf **mbufs) {
    if (!e->device) {
        hold();
        const unsigned got = rte_eth_rx_burst(e->port, 0, mbufs, BURST);
        release();
        return got;
    }
    const unsigned n = memif_receive(e->device, 0, e->frames, BURST, ROOM);
    for (unsigned i = 0; i < n; i++) {
        e->ready[i]->data_len = (uint16_t)e->frames[i].length;
        e->ready[i]->pkt_len = e->frames[i].length;
        mbufs[i] = e->ready[i];
    }
    if (n > 0)
        refill(e, n);
    return n;
}

static unsigned transmit(struct end *e, struct rte_mbuf **mbufs, unsigned n) {
    struct memif_frame frames[BURST];
    if (!e->device) {
        hold();
        const unsigned done = rte_eth_tx_burst(e->port, 0, mbufs, (uint16_t)n);
        release();
        return done;
    }
    for (unsigned i = 0; i < n; i++)
        frames[i] = (struct memif_frame){rte_pktmbuf_mtod(mbufs[i], uint8_t *), mbufs[i]->data_len};
    const unsigned sent = memif_send(e->device, frames, n);
    rte_pktmbuf_free_bulk(mbufs, sent);
    return sent;
}

// ---- rounds ----

struct pair {
    struct end server, client;
};

static void cross(struct end *from, struct end *to, struct rte_mbuf **mbufs) {
    struct rte_mbuf *in[BURST];
    unsigned sent = 0, got = 0;
    while (got < BURST) { // at first DPDK's client gives no buffers before it receives
        sent += sent < BURST ? transmit(from, mbufs + sent, BURST - sent) : 0;
        got += receive(to, in + got);
    }
    memcpy(mbufs, in, sizeof in);
}

// Nanoseconds a packet and crossing.
static double one_round(struct pair *p, struct rte_mbuf **mbufs) {
    const double begin = bench_cpu_ns();
    for (unsigned i = 0; i < BURSTS; i++) {
        cross(&p->client, &p->server, mbufs);
        cross(&p->server, &p->client, mbufs);
    }
    return (bench_cpu_ns() - begin) / (2.0 * BURSTS * BURST);
}

static void compare(struct pair pairs[2], uint32_t length, unsigned rounds) {
    static double ns[2][MOST];
    struct rte_mbuf *mbufs[BURST];
    if (rte_pktmbuf_alloc_bulk(pool, mbufs, BURST))
        die("no packet buffers");
    for (unsigned i = 0; i < BURST; i++)
        rte_pktmbuf_append(mbufs[i], (uint16_t)length);
    for (unsigned i = 0; i < rounds; i++) {
        for (unsigned turn = 0; turn < 2; turn++)
            ns[(i + turn) & 1][i] = one_round(&pairs[(i + turn) & 1], mbufs);
    }
    rte_pktmbuf_free_bulk(mbufs, BURST);
    printf("%5u bytes: ours %6.1f ns, DPDK's %6.1f ns, ratio %.3f\n", length,
           bench_stat(ns[0], rounds).median, bench_stat(ns[1], rounds).median,
           bench_ratio(ns[1], ns[0], rounds).median);
}

static void start_dpdk(void) {
    struct eal_arguments *a = eal_arguments();
    eal_add(a, "--no-huge");
    eal_add(a, "--no-shconf");
    eal_add(a, "--no-pci");
    eal_add(a, "--no-telemetry");
    eal_add(a, "--iova-mode=va");
    eal_add(a, "-m128");
    eal_add(a, "--log-level=critical");
    eal_add_cores(a, -1);
    if (!eal_start(a))
        die("DPDK does not start");
    pool = rte_pktmbuf_pool_create("bench", 8191, 128, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    if (!pool)
        die("no memory for packets");
}

int main(int argc, char **argv) {
    static const uint32_t lengths[] = {64, 256, 1024, 1500};
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 51;
    struct pair pairs[2];
    char text[128];
    start_dpdk();
    rounds = rounds < MOST ? rounds : MOST;
    snprintf(text, sizeof text, "role=server,socket=silken-bench-%d-0", (int)getpid());
    pairs[0].server = open_ours(text);
    snprintf(text, sizeof text, "role=client,socket=silken-bench-%d-0", (int)getpid());
    pairs[0].client = open_ours(text);
    snprintf(text, sizeof text, "role=server,socket=silken-bench-%d-1", (int)getpid());
    pairs[1].server = open_dpdk("net_memif0", text);
    snprintf(text, sizeof text, "role=client,socket=silken-bench-%d-1", (int)getpid());
    pairs[1].client = open_dpdk("net_memif1", text);
    for (unsigned i = 0; i < 2; i++)
        for (int tries = 5000; !is_up(&pairs[i].server) || !is_up(&pairs[i].client); tries--) {
            if (tries == 0)
                die("no link");
            usleep(1000);
        }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        compare(pairs, lengths[i], rounds);
    memif_close(pairs[0].client.device);
    memif_close(pairs[0].server.device);
    return 0;
}

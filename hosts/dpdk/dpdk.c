// SPDX-License-Identifier: Apache-2.0
//
// A DPDK port as a transport: one queue each way, one mempool. Frames are built in mbufs on the way
// out and handed up in their mbufs on the way in.
//
// Drivers without interrupts leave no way to sleep until a frame comes. So
// wait() receives already, with yields and short sleeps in between, and recv() hands up what
// wait() has found.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "base/clock.h"
#include "dpdk/eal.h"
#include "hosts/dpdk/dpdk.h"

#define MEMORY      "256" // MB for all ports of the process; taken as they are touched
#define MBUFS       2047
#define MBUF_CACHE  128
#define DESCRIPTORS 1024

struct dpdk {
    struct sk_transport base;
    uint16_t port;
    int started;
    uint16_t freed, handed, count; // of rx: given back, handed up by recv(), received
    struct rte_mempool *pool;
    struct rte_mbuf *rx[SK_BURST];
    uint16_t lent; // mbufs in tx
    struct rte_mbuf *tx[SK_BURST];
    char name[RTE_ETH_NAME_MAX_LEN];
};

static struct dpdk *dpdk_of(struct sk_transport *t) {
    return (struct dpdk *)t;
}

// ---- frames ----------------------------------------------------------------------------------

static size_t dpdk_lend(struct sk_transport *t, struct sk_frame *frames, size_t n) {
    struct dpdk *d = dpdk_of(t);

    if (d->lent < n &&
        rte_pktmbuf_alloc_bulk(d->pool, d->tx + d->lent, (unsigned)(n - d->lent)) == 0)
        d->lent = (uint16_t)n;
    n = d->lent < n ? d->lent : n;
    for (size_t i = 0; i < n; i++)
        frames[i] = (struct sk_frame){rte_pktmbuf_mtod(d->tx[i], uint8_t *), 0};
    return n;
}

static size_t dpdk_post(struct sk_transport *t, const struct sk_frame *frames, size_t n) {
    struct dpdk *d = dpdk_of(t);
    uint16_t sent;

    for (size_t i = 0; i < n; i++) {
        d->tx[i]->data_len = (uint16_t)frames[i].len;
        d->tx[i]->pkt_len = frames[i].len;
    }
    sent = rte_eth_tx_burst(d->port, 0, d->tx, (uint16_t)n);
    d->lent -= sent;
    memmove(d->tx, d->tx + sent, d->lent * sizeof d->tx[0]);
    return sent;
}

// Frees what the last recv() handed up.
static void dpdk_give_back(struct dpdk *d) {
    rte_pktmbuf_free_bulk(d->rx + d->freed, (unsigned)(d->handed - d->freed));
    d->freed = d->handed;
}

// With all mbufs handed up and given back, receives the next ones. Returns whether some wait.
static int dpdk_something_waits(void *context) {
    struct dpdk *d = context;

    if (d->freed == d->count) {
        d->freed = d->handed = 0;
        d->count = rte_eth_rx_burst(d->port, 0, d->rx, SK_BURST);
    }
    return d->handed < d->count;
}

static size_t dpdk_recv(struct sk_transport *t, struct sk_frame *frames, size_t n) {
    struct dpdk *d = dpdk_of(t);
    size_t got = 0;

    dpdk_give_back(d);
    dpdk_something_waits(d);
    while (d->handed < d->count && got < n) {
        struct rte_mbuf *m = d->rx[d->handed++];
        if (m->nb_segs == 1)
            frames[got++] = (struct sk_frame){rte_pktmbuf_mtod(m, uint8_t *), m->data_len};
        else
            t->stats.rx_dropped++;
    }
    return got;
}

static void dpdk_wait(struct sk_transport *t, uint64_t timeout) {
    dpdk_give_back(dpdk_of(t));
    sk_clock_poll(dpdk_something_waits, dpdk_of(t), timeout);
}

// ---- opening and closing ---------------------------------------------------------------------

static void close_device(struct dpdk *d) {
    if (d->started)
        rte_eth_dev_stop(d->port);
    rte_eth_dev_close(d->port);
    rte_eal_hotplug_remove("vdev", d->name);
}

static void dpdk_close(struct sk_transport *t) {
    struct dpdk *d = dpdk_of(t);

    d->handed = d->count;
    dpdk_give_back(d);
    rte_pktmbuf_free_bulk(d->tx, d->lent);
    close_device(d);
    rte_mempool_free(d->pool);
    free(d);
}

static const struct sk_transport_ops dpdk_ops = {
    .name = "dpdk",
    .lend = dpdk_lend,
    .post = dpdk_post,
    .recv = dpdk_recv,
    .wait = dpdk_wait,
    .close = dpdk_close,
};

// Starts DPDK if the process has not: only then it has logical cores. Returns 0 or -1. No huge
// pages and no shared configuration: such processes leave no files and do not know of each other.
// (--in-memory would say the same, but this DPDK refuses it together with --no-huge.)
static int start_dpdk(int cpu) {
    struct eal_arguments *a;

    if (rte_lcore_count() > 0)
        return 0;
    a = eal_arguments();
    eal_add(a, "--no-huge");
    eal_add(a, "--no-shconf");
    eal_add(a, "--no-pci");
    eal_add(a, "--no-telemetry");
    eal_add(a, "-m%s", MEMORY);
    eal_add(a, "--iova-mode=va");
    eal_add(a, "--log-level=critical");
    eal_add_cores(a, cpu);
    return eal_start(a) ? 0 : -1;
}

static int start_port(struct dpdk *d) {
    struct rte_eth_conf config;
    int socket = rte_eth_dev_socket_id(d->port);
    int rc;

    memset(&config, 0, sizeof config);
    rc = rte_eth_dev_configure(d->port, 1, 1, &config);
    if (rc == 0)
        rc = rte_eth_rx_queue_setup(d->port, 0, DESCRIPTORS, (unsigned)socket, NULL, d->pool);
    if (rc == 0)
        rc = rte_eth_tx_queue_setup(d->port, 0, DESCRIPTORS, (unsigned)socket, NULL);
    if (rc < 0)
        return rc;
    rc = rte_eth_dev_start(d->port);
    d->started = rc == 0;
    return rc;
}

// Splits "name,arguments" and makes the device.
static int make_device(struct dpdk *d, const char *device) {
    const char *comma = strchr(device, ',');
    size_t len = comma ? (size_t)(comma - device) : strlen(device);
    int rc;

    if (len == 0 || len >= sizeof d->name)
        return -EINVAL;
    memcpy(d->name, device, len);
    d->name[len] = 0;
    rc = rte_eal_hotplug_add("vdev", d->name, comma ? comma + 1 : "");
    if (rc == 0)
        rc = rte_eth_dev_get_port_by_name(d->name, &d->port);
    return rc;
}

// A stack hands out what was given back last, which is in a cache still; also to threads that DPDK
// does not know, such as a lane's.
static struct rte_mempool *dpdk_make_pool(void) {
    static unsigned number;
    char name[32];

    snprintf(name, sizeof name, "silken_host_%u", number++);
    return rte_pktmbuf_pool_create_by_ops(name, MBUFS, MBUF_CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
                                          SOCKET_ID_ANY, "stack");
}

static int dpdk_fail(struct dpdk *d, char *why, size_t why_cap, const char *device,
                     const char *what, int error) {
    snprintf(why, why_cap, "%s: %s: %s", device, what, rte_strerror(error < 0 ? -error : error));
    rte_mempool_free(d->pool);
    free(d);
    return SILKEN_ERR_TRANSPORT;
}

int sk_transport_dpdk_open(struct sk_transport **t, const char *device, int cpu, char *why,
                           size_t why_cap) {
    struct dpdk *d = calloc(1, sizeof *d);
    int rc;

    if (!d) {
        snprintf(why, why_cap, "out of memory");
        return SILKEN_ERR_NOMEM;
    }
    d->base.ops = &dpdk_ops;
    if (start_dpdk(cpu) < 0)
        return dpdk_fail(d, why, why_cap, device, "DPDK cannot be started", rte_errno);
    d->pool = dpdk_make_pool();
    if (!d->pool)
        return dpdk_fail(d, why, why_cap, device, "no memory for packets", rte_errno);
    rc = make_device(d, device);
    if (rc < 0)
        return dpdk_fail(d, why, why_cap, device, "no such DPDK device", rc);
    rc = start_port(d);
    if (rc < 0) {
        close_device(d);
        return dpdk_fail(d, why, why_cap, device, "the port cannot be started", rc);
    }
    *t = &d->base;
    return 0;
}

const struct sk_transport_module silken_dpdk_module = {
    .version = SILKEN_VERSION,
    .open = sk_transport_dpdk_open,
};

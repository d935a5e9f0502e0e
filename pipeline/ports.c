// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "pipeline/ports_eal.h"

#define BURST       32
#define DESCRIPTORS 512
#define MBUF_CACHE  128
#define QUEUE_MASK  (SK_PORTS_QUEUE - 1)

_Static_assert((SK_PORTS_QUEUE & QUEUE_MASK) == 0, "indices wrap by a mask");

struct dpdk_port {
    uint16_t dev_port, id;
    bool attached, started;
    // packets that the device has not taken yet
    struct rte_mbuf *queue[SK_PORTS_QUEUE];
    uint32_t head, tail; // of the queue, counting up
};

struct sk_ports {
    struct sk_switch *sw;
    struct rte_mempool *pool;
    uint8_t *frame; // where a packet in several segments is put together
    size_t n;
    struct dpdk_port *by_number[SK_PORTS];
    struct dpdk_port list[];
};

// ---- sending ----

static uint32_t waiting(const struct dpdk_port *p) {
    return p->tail - p->head;
}

static bool link_is_up(const struct dpdk_port *p) {
    struct rte_eth_link link = {0};
    return rte_eth_link_get_nowait(p->id, &link) == 0 && link.link_status;
}

static void lose_waiting(struct sk_ports *ports, struct dpdk_port *p) {
    uint64_t packets = waiting(p), bytes = 0;
    while (p->head != p->tail) {
        struct rte_mbuf *m = p->queue[p->head++ & QUEUE_MASK];
        bytes += m->pkt_len;
        rte_pktmbuf_free(m);
    }
    if (ports->sw && packets > 0)
        sk_switch_tx_lost(ports->sw, p->dev_port, packets, bytes);
}

static void flush(struct dpdk_port *p) {
    while (waiting(p) > 0) {
        uint32_t at = p->head & QUEUE_MASK;
        uint32_t n = waiting(p), to_end = SK_PORTS_QUEUE - at;
        n = n < to_end ? n : to_end;
        n = n < BURST ? n : BURST;
        uint16_t sent = rte_eth_tx_burst(p->id, 0, &p->queue[at], (uint16_t)n);
        p->head += sent;
        if (sent < n)
            return;
    }
}

// Not from inside sk_ports_tx: a packet is counted as sent when that returns.
static void send_or_lose(struct sk_ports *ports, struct dpdk_port *p) {
    uint32_t before = waiting(p);
    flush(p);
    if (before > 0 && waiting(p) == before && !link_is_up(p))
        lose_waiting(ports, p);
}

bool sk_ports_tx(void *aux, uint16_t dev_port, const uint8_t *frame, uint32_t length) {
    struct sk_ports *ports = aux;
    struct dpdk_port *p = ports->by_number[dev_port];
    if (!p)
        return false;
    if (waiting(p) == SK_PORTS_QUEUE)
        flush(p);
    struct rte_mbuf *m = waiting(p) < SK_PORTS_QUEUE ? rte_pktmbuf_alloc(ports->pool) : NULL;
    char *room = m ? rte_pktmbuf_append(m, (uint16_t)length) : NULL;
    if (!room) {
        rte_pktmbuf_free(m);
        return false;
    }
    memcpy(room, frame, length);
    p->queue[p->tail++ & QUEUE_MASK] = m;
    if (waiting(p) >= BURST)
        flush(p);
    return true;
}

// ---- receiving ----

static void receive(struct sk_ports *ports, struct dpdk_port *p, struct rte_mbuf *m,
                    uint64_t now_ns) {
    const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
    if (m->nb_segs > 1 && m->pkt_len <= SK_PORTS_FRAME)
        frame = rte_pktmbuf_read(m, 0, m->pkt_len, ports->frame);
    // one that is longer is refused by its length, so its bytes are not looked at
    sk_switch_rx(ports->sw, p->dev_port, frame, m->pkt_len, now_ns);
}

unsigned sk_ports_poll(struct sk_ports *ports, uint64_t now_ns) {
    unsigned received = 0;
    for (size_t i = 0; i < ports->n; i++) {
        struct rte_mbuf *burst[BURST];
        uint16_t n = rte_eth_rx_burst(ports->list[i].id, 0, burst, BURST);
        if (n == 0)
            continue;
        for (uint16_t j = 0; j < n; j++)
            receive(ports, &ports->list[i], burst[j], now_ns);
        rte_pktmbuf_free_bulk(burst, n);
        sk_switch_run(ports->sw, now_ns);
        received += n;
    }
    for (size_t i = 0; i < ports->n; i++)
        send_or_lose(ports, &ports->list[i]);
    return received;
}

bool sk_ports_link(const struct sk_ports *ports, uint16_t dev_port) {
    return dev_port < SK_PORTS && ports->by_number[dev_port] &&
           link_is_up(ports->by_number[dev_port]);
}

// ---- opening and closing ----

static bool fail(const struct sk_port_spec *spec, const char *what, int rc, char *error,
                 size_t error_size) {
    snprintf(error, error_size, "port %u, device '%s': cannot %s: %s", spec->dev_port, spec->device,
             what, rte_strerror(rc < 0 ? -rc : rc));
    return false;
}

static bool configure(struct sk_ports *ports, struct dpdk_port *p, const struct sk_port_spec *spec,
                      char *error, size_t error_size) {
    const struct rte_eth_conf conf = {0};
    uint16_t rx = DESCRIPTORS, tx = DESCRIPTORS;
    int rc = rte_eth_dev_configure(p->id, 1, 1, &conf);
    if (rc == 0)
        rc = rte_eth_dev_adjust_nb_rx_tx_desc(p->id, &rx, &tx);
    if (rc == 0)
        rc = rte_eth_rx_queue_setup(p->id, 0, rx, SOCKET_ID_ANY, NULL, ports->pool);
    if (rc == 0)
        rc = rte_eth_tx_queue_setup(p->id, 0, tx, SOCKET_ID_ANY, NULL);
    if (rc)
        return fail(spec, "configure it", rc, error, error_size);
    if (spec->mtu && (rc = rte_eth_dev_set_mtu(p->id, (uint16_t)spec->mtu)))
        return fail(spec, "set its MTU", rc, error, error_size);
    rc = rte_eth_dev_start(p->id);
    if (rc)
        return fail(spec, "start it", rc, error, error_size);
    p->started = true;
    // a switch takes frames for others; devices that take all anyway do not know the call
    rc = rte_eth_promiscuous_enable(p->id);
    return rc == 0 || rc == -ENOTSUP || fail(spec, "receive all frames", rc, error, error_size);
}

static bool open_one(struct sk_ports *ports, const struct sk_port_spec *spec, char *error,
                     size_t error_size) {
    struct dpdk_port *p = &ports->list[ports->n];
    if (!sk_port_exists(spec->dev_port) || ports->by_number[spec->dev_port]) {
        snprintf(error, error_size, "port %u %s", spec->dev_port,
                 sk_port_exists(spec->dev_port) ? "is given twice" : "is no device port");
        return false;
    }
    p->dev_port = spec->dev_port;
    if (!ports_eal_attach(spec, &p->id, error, error_size))
        return false;
    p->attached = true;
    ports->n++;
    ports->by_number[spec->dev_port] = p;
    return configure(ports, p, spec, error, error_size);
}

// Enough for every port's receive ring, its device's and our own send queue.
static bool make_pool(struct sk_ports *ports, size_t n_ports, char *error, size_t error_size) {
    unsigned n =
        (unsigned)n_ports * (2 * DESCRIPTORS + SK_PORTS_QUEUE) + 4 * BURST + 2 * MBUF_CACHE;
    ports->pool = rte_pktmbuf_pool_create("silken", n, MBUF_CACHE, 0,
                                          SK_PORTS_FRAME + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
    ports->frame = malloc(SK_PORTS_FRAME);
    if (!ports->pool || !ports->frame)
        snprintf(error, error_size,
                 "not enough memory for %u packet buffers (%u MiB); see --memory", n, n / 100 + 1);
    return ports->pool && ports->frame;
}

struct sk_ports *sk_ports_open(const struct sk_port_spec *specs, size_t n,
                               const struct sk_ports_options *opt, char *error, size_t error_size) {
    // ours are aligned as the driver's arrays want them: pointers
    struct sk_ports *ports = calloc(1, sizeof *ports + n * sizeof ports->list[0]);
    if (!ports) {
        snprintf(error, error_size, "not enough memory for %zu ports", n);
        return NULL;
    }
    bool good =
        ports_eal_start(specs, n, opt, error, error_size) && make_pool(ports, n, error, error_size);
    for (size_t i = 0; good && i < n; i++)
        good = open_one(ports, &specs[i], error, error_size);
    if (!good) {
        sk_ports_close(ports);
        return NULL;
    }
    return ports;
}

void sk_ports_attach(struct sk_ports *ports, struct sk_switch *sw) {
    ports->sw = sw;
}

void sk_ports_close(struct sk_ports *ports) {
    if (!ports)
        return;
    for (size_t i = 0; i < ports->n; i++) {
        struct dpdk_port *p = &ports->list[i];
        if (p->started)
            flush(p);
        lose_waiting(ports, p);
        if (p->started)
            rte_eth_dev_stop(p->id);
        rte_eth_dev_close(p->id);
    }
    rte_mempool_free(ports->pool);
    free(ports->frame);
    free(ports);
}

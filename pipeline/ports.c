// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ports_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_lcore.h>

#include "pipeline/ports_eal.h"

#define BURST      32
#define MBUF_CACHE 128
#define INSIDE     4096u // packets that wait in the switch's queues
#define LAST_TRIES 100   // of sending at the end, a millisecond apart

_Static_assert(SK_PORTS_QUEUE == SK_SEND_QUEUE && BURST == SK_SEND_BURST, "said twice");

// ---- bursts ----

static uint16_t send_burst(struct dpdk_port *p, struct rte_mbuf **mbufs, uint16_t n) {
    if (!p->guarded)
        return rte_eth_tx_burst(p->id, 0, mbufs, n);
    memif_guard_hold(&p->guard);
    uint16_t sent = rte_eth_tx_burst(p->id, 0, mbufs, n);
    memif_guard_release(&p->guard);
    return sent;
}

static uint16_t receive_burst(struct dpdk_port *p, uint16_t queue, struct rte_mbuf **mbufs) {
    if (!p->guarded)
        return rte_eth_rx_burst(p->id, queue, mbufs, BURST);
    memif_guard_hold(&p->guard);
    uint16_t n = rte_eth_rx_burst(p->id, queue, mbufs, BURST);
    memif_guard_release(&p->guard);
    return n;
}

// ---- sending ----

// As if DPDK had made it.
static struct rte_mbuf *tell_mbuf(struct sk_packet *p) {
    struct rte_mbuf *m = ports_mbuf(p);
    if (p->head < PORTS_FRONT) { // it grew beyond what DPDK has in front
        memmove(p->buf + PORTS_FRONT, sk_packet_data(p), p->len);
        p->head = PORTS_FRONT;
    }
    m->data_off = (uint16_t)(p->head - PORTS_FRONT);
    m->data_len = (uint16_t)p->len;
    m->pkt_len = p->len;
    m->ol_flags = 0;
    return m;
}

static uint32_t waiting(const struct dpdk_port *p) {
    return p->queue.tail - p->queue.head;
}

static struct sk_packet *waits_at(struct dpdk_port *p, uint32_t i) {
    return p->queue.packets[i % SK_SEND_QUEUE];
}

static void lose_waiting(struct dpdk_port *p) {
    uint64_t packets = waiting(p), bytes = 0;
    while (waiting(p) > 0) {
        struct sk_packet *packet = waits_at(p, p->queue.head++);
        bytes += packet->len;
        rte_pktmbuf_free(ports_mbuf(packet));
    }
    if (p->sw && packets > 0)
        sk_switch_tx_lost(p->sw, p->dev_port, packets, bytes);
}

static void flush(struct dpdk_port *p) {
    struct rte_mbuf *burst[BURST];
    for (uint32_t n; (n = waiting(p)) > 0;) {
        n = n < BURST ? n : BURST;
        for (uint32_t i = 0; i < n; i++)
            burst[i] = tell_mbuf(waits_at(p, p->queue.head + i));
        uint16_t sent = send_burst(p, burst, (uint16_t)n);
        p->queue.head += sent;
        if (sent < n) // those left are told once more
            return;
    }
}

// Not from inside sk_ports_tx: a packet is counted as sent when that returns.
static void send_or_lose(struct dpdk_port *p) {
    uint32_t before = waiting(p);
    flush(p);
    if (before > 0 && waiting(p) == before && !ports_link_is_up(p))
        lose_waiting(p);
}

// ---- buffers that the switch works in ----

// Once: they stay where they are.
static void init_packet(struct rte_mempool *pool, void *aux, void *object, unsigned i) {
    struct rte_mbuf *m = object;
    (void)pool, (void)aux, (void)i;
    *ports_packet(m) = (struct sk_packet){.buf = (uint8_t *)m->buf_addr - PORTS_FRONT,
                                          .cap = (uint32_t)PORTS_FRONT + m->buf_len};
}

static struct sk_packet *get_buffer(void *aux) {
    struct sk_ports *ports = aux;
    struct rte_mbuf *m = rte_pktmbuf_alloc(ports->pool);
    return m ? ports_packet(m) : NULL;
}

static void put_buffer(void *aux, struct sk_packet *p) {
    (void)aux;
    rte_pktmbuf_free(ports_mbuf(p));
}

// What sk_pool_send leaves to us: a burst is there, or more.
static bool send_buffer(void *aux, uint16_t dev_port, struct sk_packet *p) {
    struct sk_ports *ports = aux;
    struct dpdk_port *port = ports->by_number[dev_port];
    if (!port)
        return false;
    if (waiting(port) == SK_SEND_QUEUE)
        flush(port);
    if (waiting(port) == SK_SEND_QUEUE)
        return false;
    port->queue.packets[port->queue.tail++ % SK_SEND_QUEUE] = p;
    flush(port);
    return true;
}

bool sk_ports_tx(void *aux, uint16_t dev_port, const uint8_t *frame, uint32_t length) {
    struct sk_ports *ports = aux;
    struct dpdk_port *p = ports->by_number[dev_port];
    if (!p)
        return false;
    if (waiting(p) == SK_SEND_QUEUE)
        flush(p);
    bool room = waiting(p) < SK_SEND_QUEUE && length <= SK_PORTS_FRAME;
    struct sk_packet *packet = room ? get_buffer(ports) : NULL;
    if (!packet)
        return false;
    packet->head = SK_POOL_START;
    packet->len = length;
    memcpy(sk_packet_data(packet), frame, length);
    p->queue.packets[p->queue.tail++ % SK_SEND_QUEUE] = packet;
    if (waiting(p) >= BURST)
        flush(p);
    return true;
}

// ---- receiving ----

// One of our own buffers, and nobody else reads it.
static inline bool is_ours(const struct sk_ports *ports, const struct rte_mbuf *m) {
    uint64_t word; // data_off, refcnt, nb_segs and port, which drivers write as one too
    memcpy(&word, (const char *)m + offsetof(struct rte_mbuf, data_off), sizeof word);
    return (word & UINT64_C(0x0000ffffffff0000)) == UINT64_C(0x0000000100010000) &&
           m->pool == ports->pool && RTE_MBUF_DIRECT(m);
}

static inline struct sk_packet *received(struct rte_mbuf *m) {
    struct sk_packet *packet = ports_packet(m);
    rte_prefetch0(rte_pktmbuf_mtod(m, const uint8_t *));
    packet->head = (uint32_t)PORTS_FRONT + m->data_off;
    packet->len = m->data_len;
    return packet;
}

// Out of a buffer in which the switch cannot work.
static void receive_copy(struct dpdk_port *p, struct rte_mbuf *m, uint64_t now_ns) {
    const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
    if (m->nb_segs > 1 && m->pkt_len <= SK_PORTS_FRAME)
        frame = rte_pktmbuf_read(m, 0, m->pkt_len, p->frame);
    // one that is longer is refused by its length, so its bytes are not looked at
    sk_switch_rx(p->sw, p->dev_port, frame, m->pkt_len, now_ns);
    rte_pktmbuf_free(m);
}

static unsigned receive_queue(struct sk_ports *ports, struct dpdk_port *p, uint16_t queue,
                              uint64_t now_ns) {
    struct rte_mbuf *burst[BURST];
    struct sk_packet *packets[BURST];
    const uint16_t n = receive_burst(p, queue, burst);
    unsigned arrived = 0, ours = 0;
    if (n == 0)
        return 0;
    for (uint16_t i = 0; i < n; i++) {
        rte_prefetch0(burst[i]);
        rte_prefetch0(ports_packet(burst[i]));
    }
    for (uint16_t i = 0; i < n; i++) {
        if (is_ours(ports, burst[i])) {
            packets[ours++] = received(burst[i]);
            continue;
        }
        if (ours > 0) // before it
            arrived += sk_switch_rx_burst(p->sw, p->dev_port, packets, ours, now_ns);
        ours = 0;
        receive_copy(p, burst[i], now_ns);
    }
    return n + arrived + sk_switch_rx_burst(p->sw, p->dev_port, packets, ours, now_ns);
}

unsigned sk_ports_poll(struct sk_ports *ports, unsigned core, uint64_t now_ns) {
    unsigned received = 0;
    for (size_t i = 0; i < ports->n_of_core[core]; i++) {
        struct dpdk_port *p = ports->of_core[core][i];
        for (uint16_t q = 0; q < p->queues; q++)
            received += receive_queue(ports, p, q, now_ns);
    }
    // what comes from other cores or happens by itself
    if (received == 0 || sk_switch_cores(ports->sw) > 1)
        received += sk_switch_run(sk_switch_core(ports->sw, core), now_ns);
    for (size_t i = 0; i < ports->n_of_core[core]; i++)
        send_or_lose(ports->of_core[core][i]);
    return received;
}

bool sk_ports_enter(void) {
    return rte_thread_register() == 0;
}

void sk_ports_leave(void) {
    rte_thread_unregister();
}

// ---- opening and closing ----

static bool open_one(struct sk_ports *ports, const struct sk_port_spec *spec, char *error,
                     size_t error_size) {
    struct dpdk_port *p = &ports->list[ports->n];
    if (!sk_port_exists(spec->dev_port) || ports->by_number[spec->dev_port]) {
        snprintf(error, error_size, "port %u %s", spec->dev_port,
                 sk_port_exists(spec->dev_port) ? "is given twice" : "is no device port");
        return false;
    }
    p->dev_port = spec->dev_port;
    p->frame = malloc(SK_PORTS_FRAME);
    if (!p->frame)
        abort();
    if (!ports_eal_attach(spec, &p->id, error, error_size)) {
        free(p->frame);
        return false;
    }
    p->attached = true;
    ports->n++;
    ports->by_number[spec->dev_port] = p;
    return ports_configure(ports, p, spec, error, error_size);
}

// Enough for every port's receive ring, its device's and our own send queue.
uint32_t ports_memory(size_t n_ports, uint32_t *buffers) {
    uint32_t n = (uint32_t)n_ports * (2 * PORTS_DESCRIPTORS + SK_PORTS_QUEUE) + 4 * BURST +
                 (SK_PIPES + 1) * 2 * MBUF_CACHE + INSIDE;
    if (buffers)
        *buffers = n;
    return n / 85 + 1; // a little less than 12,000 bytes each
}

static bool make_pool(struct sk_ports *ports, size_t n_ports, char *error, size_t error_size) {
    uint32_t n, mib = ports_memory(n_ports, &n);
    ports->pool =
        rte_pktmbuf_pool_create("silken", n, MBUF_CACHE, PORTS_PACKET + PORTS_MIDDLE + PORTS_FRONT,
                                PORTS_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
    if (!ports->pool)
        snprintf(error, error_size,
                 "not enough memory for %u packet buffers (%u MiB); see --memory", n, mib);
    else
        rte_mempool_obj_iter(ports->pool, init_packet, NULL);
    return ports->pool;
}

struct sk_ports *sk_ports_open(const struct sk_port_spec *specs, size_t n,
                               const struct sk_ports_options *opt, char *error, size_t error_size) {
    // ours are aligned as the driver's arrays want them: pointers
    struct sk_ports *ports = calloc(1, sizeof *ports + n * sizeof ports->list[0]);
    for (unsigned c = 0; ports && c < SK_PIPES; c++)
        if (!(ports->of_core[c] = calloc(n + 1, sizeof(struct dpdk_port *))))
            abort();
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
    ports->buffers = (struct sk_buffers){get_buffer, put_buffer, send_buffer, ports, {NULL}};
    for (size_t i = 0; i < ports->n; i++)
        ports->buffers.queue[ports->list[i].dev_port] = &ports->list[i].queue;
    if (!sk_switch_use_buffers(sw, &ports->buffers))
        abort(); // out of memory
    for (size_t i = 0; i < ports->n; i++) {
        struct dpdk_port *p = &ports->list[i];
        unsigned core = sk_switch_core_of(sw, sk_port_pipe(p->dev_port));
        p->sw = sk_switch_core(sw, core);
        ports->of_core[core][ports->n_of_core[core]++] = p;
        sk_switch_port_longest(sw, p->dev_port, p->longest);
    }
}

static bool all_sent(struct sk_ports *ports) {
    bool done = true;
    for (size_t i = 0; i < ports->n; i++) {
        struct dpdk_port *p = &ports->list[i];
        if (p->started)
            flush(p);
        done &= waiting(p) == 0 || !p->started || !ports_link_is_up(p);
    }
    return done;
}

static void close_device(struct dpdk_port *p) {
    lose_waiting(p);
    if (p->started)
        rte_eth_dev_stop(p->id);
    rte_eth_dev_close(p->id);
}

// A handler would take apart what is being closed, and see what is no longer there.
static void close_devices(struct sk_ports *ports) {
    memif_guard_stop_handlers();
    for (size_t i = 0; i < ports->n; i++)
        close_device(&ports->list[i]);
    for (size_t i = 0; i < ports->n; i++)
        if (ports->list[i].guarded)
            memif_guard_end_listener(ports->list[i].socket);
    memif_guard_go_on();
}

static void free_one(struct dpdk_port *p) {
    if (p->guarded)
        memif_guard_remove(&p->guard);
    free(p->socket);
    rte_mempool_free(p->small);
    free(p->frame);
}

uint32_t sk_ports_close(struct sk_ports *ports) {
    uint32_t lost = 0;
    if (!ports)
        return 0;
    for (int i = 0; i < LAST_TRIES && !all_sent(ports); i++)
        usleep(1000);
    if (ports->sw && !sk_switch_use_buffers(ports->sw, NULL))
        abort(); // out of memory
    close_devices(ports);
    for (size_t i = 0; i < ports->n; i++)
        free_one(&ports->list[i]);
    if (ports->pool)
        lost = rte_mempool_in_use_count(ports->pool);
    rte_mempool_free(ports->pool);
    for (unsigned c = 0; c < SK_PIPES; c++)
        free(ports->of_core[c]);
    free(ports);
    return lost;
}

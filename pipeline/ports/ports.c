// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ports/ports_impl.h"
#include "pipeline/observe/trap.h"
#include "pipeline/switch/core.h"

#include <string.h>

#include <rte_lcore.h>

#define BURST PORTS_BURST

_Static_assert(SK_PORTS_QUEUE == SK_SEND_QUEUE && BURST == SK_SEND_BURST, "said twice");

// ---- bursts ----

static uint16_t send_burst(struct dpdk_port *p, struct rte_mbuf **mbufs, uint16_t n) {
    if (p->plain)
        return rte_eth_tx_burst(p->id, 0, mbufs, n);
    if (p->kernel)
        return ports_kernel_send(p->kernel, mbufs, n, sk_core_is_single(p->core));
    return p->memif ? ports_memif_send(p->memif, mbufs, n) : ports_inside_send(p->inside, mbufs, n);
}

static uint16_t ports_receive_burst(struct dpdk_port *p, uint16_t queue, struct rte_mbuf **mbufs) {
    if (p->plain)
        return rte_eth_rx_burst(p->id, queue, mbufs, BURST);
    if (p->kernel)
        return ports_kernel_receive(p->kernel, queue, mbufs);
    return p->memif ? ports_memif_receive(p->memif, queue, mbufs)
                    : ports_inside_receive(p->inside, mbufs);
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

static struct sk_packet *waits_at(struct dpdk_port *p, uint32_t i) {
    return p->queue.packets[i % SK_SEND_QUEUE];
}

void ports_lose_waiting(struct dpdk_port *p) {
    while (ports_waiting(p) > 0) {
        struct sk_packet *packet = waits_at(p, p->queue.head++);
        if (p->core)
            sk_core_tx_lost(p->core, p->dev_port, packet);
        rte_pktmbuf_free(ports_mbuf(packet));
    }
}

// So many that wait are a burst.
static uint32_t ports_burst(const struct dpdk_port *p) {
    return p->kernel ? PORTS_KERNEL_BURST : BURST;
}

void ports_flush(struct dpdk_port *p) {
    struct rte_mbuf *burst[PORTS_KERNEL_BURST];
    const uint32_t most = ports_burst(p);
    for (uint32_t n; (n = ports_waiting(p)) > 0;) {
        n = n < most ? n : most;
        for (uint32_t i = 0; i < n; i++)
            burst[i] = tell_mbuf(waits_at(p, p->queue.head + i));
        uint16_t sent = send_burst(p, burst, (uint16_t)n);
        p->queue.head += sent;
        if (sent < n) // those left are told again
            return;
    }
}

// Not from inside sk_ports_tx: a packet is counted as sent when that returns.
static void send_or_lose(struct dpdk_port *p) {
    uint32_t before = ports_waiting(p);
    ports_flush(p);
    if (before > 0 && ports_waiting(p) == before && !ports_link_is_up(p))
        ports_lose_waiting(p);
}

// ---- buffers that the switch works in ----

// Once: they stay where they are.
void ports_init_packet(struct rte_mempool *pool, void *aux, void *object, unsigned i) {
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

// What sk_pool_send leaves to us: SK_SEND_BURST are there, or more. An interface of the kernel's is
// given more at once; what is less waits for the end of the turn.
static bool send_buffer(void *aux, uint16_t dev_port, struct sk_packet *p) {
    struct sk_ports *ports = aux;
    struct dpdk_port *port = ports->by_number[dev_port];
    if (!port)
        return false;
    if (ports_waiting(port) == SK_SEND_QUEUE)
        ports_flush(port);
    if (ports_waiting(port) == SK_SEND_QUEUE)
        return false;
    port->queue.packets[port->queue.tail++ % SK_SEND_QUEUE] = p;
    if (ports_waiting(port) >= ports_burst(port))
        ports_flush(port);
    return true;
}

struct sk_buffers ports_buffers(struct sk_ports *ports) {
    return (struct sk_buffers){get_buffer, put_buffer, send_buffer, ports, {NULL}};
}

bool sk_ports_tx(void *aux, uint16_t dev_port, const uint8_t *frame, uint32_t length) {
    struct sk_ports *ports = aux;
    struct dpdk_port *p = ports->by_number[dev_port];
    if (!p)
        return false;
    if (ports_waiting(p) == SK_SEND_QUEUE)
        ports_flush(p);
    bool room = ports_waiting(p) < SK_SEND_QUEUE && length <= SK_PORTS_FRAME;
    struct sk_packet *packet = room ? get_buffer(ports) : NULL;
    if (!packet)
        return false;
    packet->head = SK_POOL_START;
    packet->len = length;
    packet->serial = 0; // a copy, of whatever packet
    packet->ingress_port = dev_port;
    memcpy(sk_packet_data(packet), frame, length);
    p->queue.packets[p->queue.tail++ % SK_SEND_QUEUE] = packet;
    if (ports_waiting(p) >= ports_burst(p))
        ports_flush(p);
    return true;
}

// ---- receiving ----

// One of our own buffers, and nobody else reads it.
static inline bool is_ours(const struct dpdk_port *p, const struct rte_mbuf *m) {
    uint64_t word; // data_off, refcnt, nb_segs and port, which drivers write as one too
    memcpy(&word, (const char *)m + offsetof(struct rte_mbuf, data_off), sizeof word);
    return (word & UINT64_C(0x0000ffffffff0000)) == UINT64_C(0x0000000100010000) &&
           m->pool == p->pool && RTE_MBUF_DIRECT(m);
}

static inline struct sk_packet *received(struct rte_mbuf *m) {
    struct sk_packet *packet = ports_packet(m);
    rte_prefetch0(rte_pktmbuf_mtod(m, const uint8_t *));
    packet->head = (uint32_t)PORTS_FRONT + m->data_off;
    packet->len = m->data_len;
    return packet;
}

static void ports_refuse(struct dpdk_port *p, struct rte_mbuf *m, enum sk_drop_reason reason,
                         uint64_t now_ns) {
    sk_core_rx_refused(p->core, p->dev_port, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len,
                       m->pkt_len, reason, now_ns);
    rte_pktmbuf_free(m);
}

// A port that is down receives nothing.
static unsigned receive_nothing(struct dpdk_port *p, struct rte_mbuf *const *burst, uint16_t n,
                                uint64_t now_ns) {
    for (uint16_t i = 0; i < n; i++)
        ports_refuse(p, burst[i], SK_DROP_PORT_DOWN, now_ns);
    return n;
}

// One that its ring cut, or out of a buffer in which the switch cannot work.
static void receive_copy(struct dpdk_port *p, struct rte_mbuf *m, uint64_t now_ns) {
    const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
    if (m->pkt_len >= p->cut) {
        ports_refuse(p, m, SK_DROP_TOO_LONG, now_ns);
        return;
    }
    if (m->nb_segs > 1 && m->pkt_len <= SK_PORTS_FRAME)
        frame = rte_pktmbuf_read(m, 0, m->pkt_len, p->frame);
    // one that is longer is refused by its length, so its bytes are not looked at
    sk_core_rx(p->core, p->dev_port, frame, m->pkt_len, now_ns);
    rte_pktmbuf_free(m);
}

static unsigned receive_queue(struct dpdk_port *p, uint16_t queue, uint64_t now_ns) {
    struct rte_mbuf *burst[BURST];
    struct sk_packet *packets[BURST];
    const uint16_t n =
        sk_core_holds(p->core, p->dev_port) ? 0 : ports_receive_burst(p, queue, burst);
    unsigned arrived = 0, ours = 0;
    if (n == 0)
        return 0;
    if (__builtin_expect(p->disabled, 0))
        return receive_nothing(p, burst, n, now_ns);
    if (p->sampler)
        ports_sample(p, burst, n);
    for (uint16_t i = 0; i < n; i++) {
        rte_prefetch0(burst[i]);
        rte_prefetch0(ports_packet(burst[i]));
    }
    for (uint16_t i = 0; i < n; i++) {
        if (is_ours(p, burst[i]) && burst[i]->pkt_len < p->cut) {
            packets[ours++] = received(burst[i]);
            continue;
        }
        if (ours > 0) // before it
            arrived += sk_core_rx_burst(p->core, p->dev_port, packets, ours, now_ns);
        ours = 0;
        receive_copy(p, burst[i], now_ns);
    }
    return n + arrived + sk_core_rx_burst(p->core, p->dev_port, packets, ours, now_ns);
}

_Static_assert(AF_PACKET_SHOWN == SK_ALIKE_SHOWN, "said twice");

// A large frame whose packets would all leave by one interface of the kernel's, and as one frame
// again, goes there as it is. Returns how many packets that were; 0: there is no such, and nothing
// has happened.
static unsigned receive_whole(struct sk_ports *ports, struct dpdk_port *p, uint16_t queue,
                              uint64_t now_ns) {
    struct af_packet_whole w;
    if (p->disabled || p->sampler || sk_core_is_single(p->core) ||
        sk_core_holds(p->core, p->dev_port) || !ports_kernel_shows(p->kernel, queue, &w) ||
        w.length >= p->cut)
        return 0;
    struct sk_alike a = {.packets = w.packets,
                         .length = w.length,
                         .last_length = w.last_length,
                         .first = w.first,
                         .last = w.last,
                         .differs = w.differs};
    const int out = sk_core_alike_port(p->core, p->dev_port, &a);
    struct dpdk_port *const to = out >= 0 ? ports->by_number[out] : NULL;
    if (!to || !to->kernel)
        return 0;
    ports_flush(to); // those before them
    if (ports_waiting(to) > 0 || !ports_kernel_pass(p->kernel, queue, to->kernel))
        return 0;
    sk_core_alike_sent(p->core, p->dev_port, &a, (uint16_t)out, now_ns);
    return w.packets;
}

// A burst; or bursts until all packets of a large frame are there, so that they leave as one again.
static unsigned receive_turn(struct sk_ports *ports, struct dpdk_port *p, uint16_t queue,
                             uint64_t now_ns) {
    unsigned received = p->kernel ? receive_whole(ports, p, queue, now_ns) : 0;
    if (received > 0)
        return received;
    received = receive_queue(p, queue, now_ns);
    for (unsigned more = received;
         more > 0 && p->kernel && ports_kernel_is_partway(p->kernel, queue); received += more)
        more = receive_queue(p, queue, now_ns);
    return received;
}

unsigned sk_ports_poll(struct sk_ports *ports, unsigned core, uint64_t now_ns) {
    unsigned received = 0;
    for (size_t i = 0; i < ports->n_of_core[core]; i++) {
        struct dpdk_port *p = ports->of_core[core][i];
        for (uint16_t q = 0; q < p->queues; q++)
            received += receive_turn(ports, p, q, now_ns);
    }
    // what comes from other cores or happens by itself
    if (received == 0 || sk_switch_cores(ports->sw) > 1)
        received += sk_core_run(sk_switch_core(ports->sw, core), now_ns);
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

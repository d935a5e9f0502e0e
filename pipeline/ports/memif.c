// SPDX-License-Identifier: Apache-2.0
//
// memif: ports on shared memory with another process, by the driver of memif/. A port keeps packet
// buffers ready to be received into; what is received is copied there, so nobody else ever sees a
// buffer of the switch's.
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memif/memif.h"
#include "pipeline/ports/ports_impl.h"

struct ports_memif {
    struct memif *device;
    struct rte_mempool *pool;
    unsigned ready; // buffers, the first of 'mbufs'
    struct rte_mbuf *mbufs[PORTS_BURST];
    struct memif_frame frames[PORTS_BURST]; // their places
    _Atomic(uint64_t) no_buffer;
    uint16_t dev_port;
};

bool ports_is_memif(const char *device) {
    const size_t length = strlen("net_memif");
    return strncmp(device, "net_memif", length) == 0 &&
           (device[length] < 'a' || device[length] > 'z');
}

// ---- bursts ----

// Those that were taken away are replaced. Packets stay with the peer while there are none.
static void ports_memif_refill(struct ports_memif *m, unsigned taken) {
    if (rte_pktmbuf_alloc_bulk(m->pool, m->mbufs, taken)) {
        m->ready -= taken;
        memmove(m->mbufs, m->mbufs + taken, m->ready * sizeof *m->mbufs);
        memmove(m->frames, m->frames + taken, m->ready * sizeof *m->frames);
        atomic_fetch_add_explicit(&m->no_buffer, 1, memory_order_relaxed);
        return;
    }
    for (unsigned i = 0; i < taken; i++)
        m->frames[i].data = rte_pktmbuf_mtod(m->mbufs[i], uint8_t *);
}

static bool ports_memif_fill(struct ports_memif *m) {
    if (rte_pktmbuf_alloc_bulk(m->pool, m->mbufs, PORTS_BURST))
        return false;
    for (unsigned i = 0; i < PORTS_BURST; i++)
        m->frames[i].data = rte_pktmbuf_mtod(m->mbufs[i], uint8_t *);
    m->ready = PORTS_BURST;
    return true;
}

uint16_t ports_memif_receive(struct ports_memif *m, uint16_t queue, struct rte_mbuf **mbufs) {
    if (m->ready == 0 && !ports_memif_fill(m))
        return 0;
    const unsigned n = memif_receive(m->device, queue, m->frames, m->ready, SK_PORTS_FRAME);
    if (n == 0)
        return 0;
    for (unsigned i = 0; i < n; i++) {
        m->mbufs[i]->data_len = (uint16_t)m->frames[i].length;
        m->mbufs[i]->pkt_len = m->frames[i].length;
        mbufs[i] = m->mbufs[i];
    }
    ports_memif_refill(m, n);
    return (uint16_t)n;
}

uint16_t ports_memif_send(struct ports_memif *m, struct rte_mbuf **mbufs, uint16_t n) {
    struct memif_frame frames[PORTS_BURST];
    for (unsigned i = 0; i < n; i++)
        frames[i] = (struct memif_frame){rte_pktmbuf_mtod(mbufs[i], uint8_t *), mbufs[i]->data_len};
    const unsigned sent = memif_send(m->device, frames, n);
    rte_pktmbuf_free_bulk(mbufs, sent);
    return (uint16_t)sent;
}

// ---- opening and closing ----

static void ports_memif_say(void *aux, const char *line) {
    const struct ports_memif *m = aux;
    fprintf(stderr, "port %u: %s\n", m->dev_port, line);
}

bool ports_memif_open(struct dpdk_port *p, const struct sk_port_spec *spec, char *error,
                      size_t error_size) {
    struct ports_memif *m = calloc(1, sizeof *m);
    struct memif_options o;
    char why[200];
    if (!m)
        abort();
    m->pool = p->pool;
    m->dev_port = spec->dev_port;
    bool good = memif_options_parse(spec->device + strcspn(spec->device, ","), &o, why, sizeof why);
    if (good && spec->queues > MEMIF_QUEUES) {
        snprintf(why, sizeof why, "%u queues, and the device has %u to receive on", spec->queues,
                 MEMIF_QUEUES);
        good = false;
    }
    if (good) {
        o.queues = spec->queues ? spec->queues : 1;
        o.must_connect = true;
        o.say = ports_memif_say;
        o.aux = m;
        snprintf(o.name, sizeof o.name, "%.*s", (int)strcspn(spec->device, ","), spec->device);
        m->device = memif_open(&o, why, sizeof why);
        p->queues = (uint16_t)o.queues;
    }
    if (!m->device) {
        snprintf(error, error_size, "port %u: cannot open device '%s': %s", spec->dev_port,
                 spec->device, why);
        free(m);
        return false;
    }
    p->mtu = spec->mtu;
    p->longest = p->longest_tagged = ports_longest(spec->mtu);
    p->memif = m;
    p->started = true;
    return true;
}

void ports_memif_close(struct dpdk_port *p) {
    struct ports_memif *m = p->memif;
    memif_close(m->device);
    rte_pktmbuf_free_bulk(m->mbufs, m->ready);
    free(m);
    p->memif = NULL;
    p->started = false;
}

// ---- what it knows ----

bool ports_memif_link(const struct ports_memif *m) {
    return memif_link(m->device);
}

void ports_memif_about(const struct ports_memif *m, struct sk_port_device *out) {
    struct memif_counts counts;
    memif_counts(m->device, &counts);
    snprintf(out->driver, sizeof out->driver, "net_memif");
    out->link = memif_link(m->device);
    out->promiscuous = true;
    out->missed = atomic_load_explicit(&m->no_buffer, memory_order_relaxed);
    out->rx_errors = counts.rx_errors;
    out->tx_errors = counts.tx_errors;
    out->peers_closed = counts.closed;
}

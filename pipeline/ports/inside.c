// SPDX-License-Identifier: Apache-2.0
//
// The inside port: two rings of packet buffers between the lcore that has the port's pipe and the
// control thread. Frames that the switch sends there stay in the buffers that they were in.
#include "pipeline/ports/ports_impl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "pipeline/cores/crossing.h"

#define RING 1024u

struct ports_inside {
    struct crossing *out, *in; // what the switch sent, and what it is to receive
    struct rte_mempool *pool;
    uint32_t taken;            // of 'out': those that the last take showed
    _Atomic(uint64_t) refused; // frames for which there was no room
    atomic_bool asleep;        // the control thread waits for 'fd'
    int fd;
};

bool ports_is_inside(const char *device) {
    return strcmp(device, SK_PORTS_INSIDE) == 0;
}

bool ports_inside_open(struct sk_ports *ports, struct dpdk_port *p) {
    struct ports_inside *in = calloc(1, sizeof *in);
    if (!in)
        return false;
    in->out = crossing_new(RING);
    in->in = crossing_new(RING);
    in->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    in->pool = p->pool;
    atomic_init(&in->refused, 0);
    atomic_init(&in->asleep, false);
    p->inside = ports->inside = in;
    p->started = p->linked = true;
    if (in->out && in->in && in->fd >= 0)
        return true;
    ports_inside_close(ports, p);
    return false;
}

static void ports_inside_drain(struct crossing *c) {
    const uint32_t n = crossing_ready(c);
    for (uint32_t i = 0; i < n; i++)
        rte_pktmbuf_free(ports_mbuf(crossing_at(c, i)));
    crossing_took(c, n);
}

void ports_inside_close(struct sk_ports *ports, struct dpdk_port *p) {
    struct ports_inside *in = p->inside;
    if (in->out)
        ports_inside_drain(in->out);
    if (in->in)
        ports_inside_drain(in->in);
    crossing_free(in->out);
    crossing_free(in->in);
    if (in->fd >= 0)
        close(in->fd);
    free(in);
    p->inside = ports->inside = NULL;
    p->started = false;
}

// ---- the lcore's end ----

uint16_t ports_inside_send(struct ports_inside *in, struct rte_mbuf **mbufs, uint16_t n) {
    uint16_t sent = 0;
    while (sent < n && crossing_put(in->out, ports_packet(mbufs[sent])))
        sent++;
    crossing_publish(in->out);
    // Either the one who goes to sleep sees the frames, or we see that he does.
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&in->asleep, memory_order_relaxed) &&
        atomic_exchange(&in->asleep, false))
        eventfd_write(in->fd, 1);
    return sent;
}

uint16_t ports_inside_receive(struct ports_inside *in, struct rte_mbuf **mbufs) {
    uint32_t n = crossing_ready(in->in);
    n = n < PORTS_BURST ? n : PORTS_BURST;
    for (uint32_t i = 0; i < n; i++)
        mbufs[i] = ports_mbuf(crossing_at(in->in, i));
    if (n > 0)
        crossing_took(in->in, n);
    return (uint16_t)n;
}

uint64_t ports_inside_refused(const struct ports_inside *in) {
    return atomic_load_explicit(&in->refused, memory_order_relaxed);
}

// ---- the control thread's end ----

unsigned sk_ports_inside_take(struct sk_ports *ports, struct sk_inside_frame *frames, unsigned n) {
    struct ports_inside *in = ports->inside;
    if (!in)
        return 0;
    for (uint32_t i = 0; i < in->taken; i++)
        rte_pktmbuf_free(ports_mbuf(crossing_at(in->out, i)));
    if (in->taken > 0)
        crossing_took(in->out, in->taken);
    const uint32_t ready = crossing_ready(in->out);
    in->taken = ready < n ? ready : n;
    for (uint32_t i = 0; i < in->taken; i++) {
        const struct rte_mbuf *m = ports_mbuf(crossing_at(in->out, i));
        frames[i] = (struct sk_inside_frame){rte_pktmbuf_mtod(m, const uint8_t *), m->data_len};
    }
    return in->taken;
}

bool sk_ports_inside_give(struct sk_ports *ports, const uint8_t *frame, uint32_t length) {
    struct ports_inside *in = ports->inside;
    struct rte_mbuf *m = in && length <= SK_PORTS_FRAME ? rte_pktmbuf_alloc(in->pool) : NULL;
    if (m) {
        memcpy(rte_pktmbuf_mtod(m, uint8_t *), frame, length);
        m->data_len = (uint16_t)length;
        m->pkt_len = length;
    }
    const bool given = m && crossing_put(in->in, ports_packet(m));
    if (given)
        crossing_publish(in->in);
    else
        rte_pktmbuf_free(m);
    if (in && !given)
        atomic_fetch_add_explicit(&in->refused, 1, memory_order_relaxed);
    return given;
}

int sk_ports_inside_fd(const struct sk_ports *ports) {
    return ports->inside ? ports->inside->fd : -1;
}

bool sk_ports_inside_sleep(struct sk_ports *ports) {
    struct ports_inside *in = ports->inside;
    eventfd_t ignored;
    if (!in)
        return true;
    eventfd_read(in->fd, &ignored);
    atomic_store(&in->asleep, true);
    atomic_thread_fence(memory_order_seq_cst);
    if (crossing_ready(in->out) == in->taken)
        return true;
    atomic_store(&in->asleep, false);
    return false;
}

// SPDX-License-Identifier: Apache-2.0
//
// kernel: ports on interfaces of the kernel's, by the driver of af_packet/. What is received is
// copied out of the kernel's rings into packet buffers, and what is sent into them, so a port keeps
// no buffers of its own.
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/ports/ports_impl.h"

struct ports_kernel {
    struct af_packet *device;
    struct rte_mempool *pool;
    bool promiscuous;
};

bool ports_is_kernel(const char *device) {
    const size_t length = strlen("net_af_packet");
    return strncmp(device, "net_af_packet", length) == 0 &&
           (device[length] < 'a' || device[length] > 'z');
}

// ---- bursts ----

// Frames stay in the ring while there is no buffer for all of them: the kernel counts those that
// find it full.
uint16_t ports_kernel_receive(struct ports_kernel *k, uint16_t queue, struct rte_mbuf **mbufs) {
    struct af_packet_frame frames[PORTS_BURST];
    const unsigned ready = af_packet_ready(k->device, queue, PORTS_BURST);
    if (ready == 0 || rte_pktmbuf_alloc_bulk(k->pool, mbufs, ready))
        return 0;
    for (unsigned i = 0; i < ready; i++)
        frames[i].data = rte_pktmbuf_mtod(mbufs[i], uint8_t *);
    const unsigned n = af_packet_receive(k->device, queue, frames, ready, PORTS_ROOM);
    for (unsigned i = 0; i < n; i++) {
        mbufs[i]->data_len = (uint16_t)frames[i].length;
        mbufs[i]->pkt_len = frames[i].whole;
    }
    if (n < ready)
        rte_pktmbuf_free_bulk(mbufs + n, ready - n);
    return (uint16_t)n;
}

bool ports_kernel_shows(struct ports_kernel *k, uint16_t queue, struct af_packet_whole *w) {
    return af_packet_shows(k->device, queue, w);
}

bool ports_kernel_pass(struct ports_kernel *k, uint16_t queue, struct ports_kernel *to) {
    return af_packet_pass(k->device, queue, to->device);
}

bool ports_kernel_is_partway(const struct ports_kernel *k, uint16_t queue) {
    return af_packet_is_partway(k->device, queue);
}

uint16_t ports_kernel_send(struct ports_kernel *k, struct rte_mbuf **mbufs, uint16_t n,
                           bool single) {
    struct af_packet_frame frames[PORTS_KERNEL_BURST];
    for (unsigned i = 0; i < n; i++)
        frames[i] = (struct af_packet_frame){.data = rte_pktmbuf_mtod(mbufs[i], uint8_t *),
                                             .length = mbufs[i]->data_len};
    af_packet_set_single(k->device, single);
    const unsigned sent = af_packet_send(k->device, frames, n);
    rte_pktmbuf_free_bulk(mbufs, sent);
    return (uint16_t)sent;
}

// ---- opening and closing ----

static void ports_kernel_limits(struct dpdk_port *p, const struct sk_port_spec *spec,
                                uint32_t frame) {
    const uint32_t room = frame - AF_PACKET_MARGIN, whole = frame - AF_PACKET_BEFORE;
    p->mtu = spec->mtu ? spec->mtu : ports_interface_mtu(p->interface);
    p->cut = (whole < SK_PORTS_FRAME ? whole : SK_PORTS_FRAME) + 1;
    p->longest = room < SK_PORTS_FRAME ? room : SK_PORTS_FRAME;
    p->longest_tagged = room + PORTS_VLAN < SK_PORTS_FRAME ? room + PORTS_VLAN : SK_PORTS_FRAME;
    if (p->mtu == 0)
        return;
    // the kernel sends a frame longer than the MTU only when a tag of 802.1Q makes it so
    const uint32_t longest = p->mtu + PORTS_ETHERNET, tagged = longest + PORTS_VLAN;
    p->longest = longest < p->longest ? longest : p->longest;
    p->longest_tagged = tagged < p->longest_tagged ? tagged : p->longest_tagged;
}

static bool ports_kernel_set_mtu(const struct sk_port_spec *spec, uint32_t frame,
                                 const char *interface, char *why, size_t size) {
    if (spec->mtu == 0)
        return true;
    if (spec->mtu + PORTS_ETHERNET + AF_PACKET_MARGIN > frame) {
        snprintf(why, size,
                 "cannot set its MTU to %u: the frames of its rings are of %u bytes, %u of them "
                 "for the kernel (framesz in its string)",
                 spec->mtu, frame, AF_PACKET_MARGIN);
        return false;
    }
    const int rc = ports_set_interface_mtu(interface, spec->mtu);
    if (rc)
        snprintf(why, size, "cannot set its MTU to %u: %s", spec->mtu,
                 rc == -EINVAL ? "the device does not support that" : strerror(-rc));
    return rc == 0;
}

static bool ports_kernel_open_device(struct ports_kernel *k, const struct dpdk_port *p,
                                     const struct sk_port_spec *spec,
                                     const struct af_packet_rings *rings, char *why, size_t size) {
    const struct af_packet_options o = {.interface = p->interface,
                                        .queues = p->queues,
                                        .rings = *rings,
                                        .qdisc = ports_af_packet_qdisc(spec),
                                        .all = !spec->not_promiscuous};
    const unsigned has = ports_af_packet_queues(spec);
    if (p->queues > has)
        snprintf(why, size,
                 "%u queues, and the device has %u to receive on; its string gives the number "
                 "(qpairs)",
                 p->queues, has);
    else if (ports_kernel_set_mtu(spec, rings->frame, p->interface, why, size)) {
        ports_stop_merging(p->dev_port, p->interface);
        k->device = af_packet_open(&o, why, size);
    }
    return k->device;
}

bool ports_kernel_open(struct dpdk_port *p, const struct sk_port_spec *spec,
                       const struct af_packet_rings *rings, char *error, size_t error_size) {
    struct ports_kernel *k = calloc(1, sizeof *k);
    char why[200];
    if (!k || !ports_said_interface(spec->device, p->interface))
        abort(); // out of memory, or the string was not checked
    k->pool = p->pool;
    k->promiscuous = !spec->not_promiscuous;
    p->queues = (uint16_t)(spec->queues ? spec->queues : 1);
    if (!ports_kernel_open_device(k, p, spec, rings, why, sizeof why)) {
        snprintf(error, error_size, "port %u: cannot open device '%s': %s", spec->dev_port,
                 spec->device, why);
        free(k);
        return false;
    }
    p->if_index = af_packet_index(k->device);
    p->sockets.n = p->queues;
    for (unsigned q = 0; q < p->queues; q++)
        p->sockets.fd[q] = af_packet_socket(k->device, q);
    ports_kernel_limits(p, spec, rings->frame);
    p->kernel = k;
    p->started = true;
    return true;
}

void ports_kernel_close(struct dpdk_port *p) {
    af_packet_close(p->kernel->device);
    free(p->kernel);
    p->kernel = NULL;
    p->sockets.n = 0;
    p->started = false;
}

// ---- what it knows ----

bool ports_kernel_link(const struct ports_kernel *k) {
    return af_packet_link(k->device);
}

void ports_kernel_about(const struct ports_kernel *k, struct sk_port_device *out) {
    snprintf(out->driver, sizeof out->driver, "net_af_packet");
    out->link = af_packet_link(k->device);
    out->promiscuous = k->promiscuous;
    out->speed_mbps = af_packet_speed(k->device);
    out->tx_errors = af_packet_refused(k->device);
}

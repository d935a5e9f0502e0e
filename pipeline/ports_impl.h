// SPDX-License-Identifier: Apache-2.0
//
// ports_impl: the inside of ports, shared by ports.c (bursts) and ports_device.c (devices: opening,
// limits, what they know). Nobody else includes it.
#ifndef SILKEN_PIPELINE_PORTS_IMPL_H
#define SILKEN_PIPELINE_PORTS_IMPL_H

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "pipeline/memif_guard.h"
#include "pipeline/ports.h"

#define PORTS_DESCRIPTORS 512
// Bytes of a packet buffer: the longest frame and what af_packet has in front of one, rounded up so
// that a whole number of them fills a few pages.
#define PORTS_ROOM (SK_PORTS_FRAME + 512u)

// A packet buffer: DPDK's descriptor, the switch's, and in front of DPDK's own room the switch's. The
// two rooms are one to the switch, so it can receive into a buffer and send out of it. A frame begins in
// the middle of a cache line, in which its first headers and what ingress has in front of it then are
// together.
#define PORTS_PACKET ((sizeof(struct sk_packet) + 63) & ~(size_t)63)
#define PORTS_FRONT  (2 * SK_HEADROOM - RTE_PKTMBUF_HEADROOM)
#define PORTS_MIDDLE 32u // unused, between the two
static inline struct sk_packet *ports_packet(struct rte_mbuf *m) {
    return rte_mbuf_to_priv(m);
}
static inline struct rte_mbuf *ports_mbuf(struct sk_packet *p) {
    return (struct rte_mbuf *)((char *)p - sizeof(struct rte_mbuf));
}

struct dpdk_port {
    uint16_t dev_port, id, queues;
    bool attached, started;
    bool linked;  // the link was up when it was last looked at
    bool guarded; // by 'guard': a memif device
    struct memif_guard guard;
    char *socket; // of a memif device
    uint32_t mtu, longest;
    struct sk_switch *sw;       // the core that has it
    struct rte_mempool *small;  // of an af_xdp device: what it receives into; else null
    uint8_t *frame;             // where a packet in several segments is put together
    struct sk_send_queue queue; // packets that the device has not taken yet
};

struct sk_ports {
    struct sk_switch *sw;
    struct sk_buffers buffers;
    struct rte_mempool *pool;
    size_t n;
    struct dpdk_port *by_number[SK_PORTS];
    // those of each core
    struct dpdk_port **of_core[SK_PIPES];
    size_t n_of_core[SK_PIPES];
    struct dpdk_port list[];
};

// af_xdp wants buffers of at most a page, with all that is in front.
#define PORTS_SMALL_ROOM 3584u
#define PORTS_SMALL      6144u // buffers of such a port
bool ports_is_af_xdp(const char *device);

// Attached already: starts it with what 'spec' asks for. False with a sentence.
bool ports_configure(struct sk_ports *ports, struct dpdk_port *p, const struct sk_port_spec *spec,
                     char *error, size_t error_size);
// Bytes of a frame of an af_packet device's rings, with what the kernel has in front of the packet; 0:
// it is another kind of device.
uint32_t ports_af_packet_frame(const struct sk_port_spec *spec);
// MTU of a network interface of the kernel's; 0: there is no such.
uint32_t ports_interface_mtu(const char *name);
bool ports_link_is_up(const struct dpdk_port *p);
// MiB that packet buffers of so many ports take, and with 'buffers' how many they are.
uint32_t ports_memory(size_t n_ports, uint32_t *buffers);

#endif

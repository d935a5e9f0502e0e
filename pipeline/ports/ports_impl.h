// SPDX-License-Identifier: Apache-2.0
//
// ports_impl: what the files of ports share. Nobody else includes it. ports.h lists the files.
#ifndef SILKEN_PIPELINE_PORTS_PORTS_IMPL_H
#define SILKEN_PIPELINE_PORTS_PORTS_IMPL_H

#include <net/if.h>
#include <stdatomic.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "af_packet/af_packet.h"
#include "dpdk/fanout.h"
#include "pipeline/ports/ports.h"
#include "pipeline/ports/xdp.h"

#define PORTS_DESCRIPTORS 512
// Bytes of a packet buffer: the longest frame and what af_packet has before one, rounded up so
// that a whole number of them fills a few pages.
#define PORTS_ROOM (SK_PORTS_FRAME + 512u)

// A packet buffer: DPDK's descriptor, the switch's, and in front of DPDK's own room the switch's.
// The two rooms are one to the switch, so it can receive into a buffer and send out of it. A frame
// begins in the middle of a cache line, in which its first headers and what ingress has before it
// then are together.
#define PORTS_PACKET ((sizeof(struct sk_packet) + 63) & ~(size_t)63)
#define PORTS_FRONT  (2 * SK_HEADROOM - RTE_PKTMBUF_HEADROOM)
#define PORTS_MIDDLE 32u // unused, between the two
static inline struct sk_packet *ports_packet(struct rte_mbuf *m) {
    return rte_mbuf_to_priv(m);
}
static inline struct rte_mbuf *ports_mbuf(struct sk_packet *p) {
    return (struct rte_mbuf *)((char *)p - sizeof(struct rte_mbuf));
}

#define PORTS_BURST 32u
// Packets that are given to an interface of the kernel's at once, so that those of a connection are
// joined to frames of 64 KB.
#define PORTS_KERNEL_BURST 256u
// Of a port that is added: its buffers, and what its driver may want.
#define PORTS_ADDED_MIB 56u

struct ports_inside; // inside.c
struct ports_memif;  // memif.c
struct ports_kernel; // kernel.c

#define PORTS_ETHERNET 14u // bytes before a packet, and of a tag before it
#define PORTS_VLAN     4u

// Of an af_packet device, which closes them: one of each queue. A socket's count of dropped frames
// begins again each time it is read.
struct ports_sockets {
    int fd[PORTS_FANOUT_SOCKETS];
    unsigned n;
    _Atomic uint64_t dropped; // of all, until they were last read
};

struct dpdk_port {
    uint16_t dev_port, id, queues;
    bool attached, started;
    bool linked;   // the link was up when it was last looked at
    bool fell;     // it was down since then, when somebody asked
    bool met;      // its link has been up
    bool disabled; // down whatever its link
    bool plain;    // bursts are those of a DPDK device: none of the three below
    bool is_tap;
    struct ports_inside *inside; // the other end of a port without a device; else null
    struct ports_memif *memif;   // a memif device; else null
    struct ports_kernel *kernel; // an interface by our own driver; else null
    uint32_t mtu, longest, longest_tagged;
    uint32_t cut;                  // a frame of so many bytes is the beginning of a longer one
    struct ports_xdp xdp;          // of an af_xdp device
    unsigned if_index;             // of the kernel's interface that it is on; 0: none
    char interface[IF_NAMESIZE];   // its name when the port was opened
    struct sk_core *core;          // the one that has it
    struct rte_mempool *pool;      // of the buffers that it receives into and the switch works in
    struct rte_mempool *small;     // of an af_xdp device: what it receives into; else null
    bool busy;                     // af_xdp: the kernel may not have let go of the queue yet
    uint8_t *frame;                // where a packet in several segments is put together
    struct sk_send_queue queue;    // packets that the device has not taken yet
    struct ports_sampler *sampler; // of its core; null: nothing is sampled
    uint32_t sample_in;            // the how many-th from now on is the next
    uint64_t sample_pool, samples_lost;
    struct ports_sockets sockets;
};

// Buffers: of the ports that were opened first, which also is where the switch takes those of
// copies from, and of each port that was added. Those of one that was removed are kept for the
// next: some may be on their way through other ports.
struct ports_pool {
    struct rte_mempool *pool;
    bool used;
};

// A number whose port was removed.
struct ports_left {
    bool waiting;  // it is to be opened again
    bool disabled; // and was down whatever its link
    bool share;    // of the first pool, which was its own, is free
};

struct sk_ports {
    struct sk_switch *sw;
    struct ports_left left[SK_PORTS];
    struct ports_sampler *samplers[SK_PIPES]; // by core; null: none
    struct sk_buffers buffers;
    struct rte_mempool *pool; // the first
    struct ports_pool pools[SK_PORTS + 1];
    size_t n_pools;
    bool own_processors; // as sk_ports_options has it
    size_t expected;     // ports that are opened at the start
    size_t n;
    struct dpdk_port *list[SK_PORTS];
    struct dpdk_port *by_number[SK_PORTS];
    struct ports_inside *inside; // that of the one port that has it, or null
    // those of each core
    struct dpdk_port *of_core[SK_PIPES][SK_PORTS];
    size_t n_of_core[SK_PIPES];
};

static inline uint32_t ports_waiting(const struct dpdk_port *p) {
    return p->queue.tail - p->queue.head;
}
// ports.c, on the thread of the port's core. Gives the device what waits, as far as it takes it.
void ports_flush(struct dpdk_port *p);
// What waits is dropped, and counted.
void ports_lose_waiting(struct dpdk_port *p);
// For sk_switch_use_buffers.
struct sk_buffers ports_buffers(struct sk_ports *ports);
// Of a pool of buffers that the switch works in: what stays as it is in each.
void ports_init_packet(struct rte_mempool *pool, void *aux, void *object, unsigned i);

// af_xdp wants buffers of at most a page, with all that is in front.
#define PORTS_SMALL_ROOM 3584u
#define PORTS_SMALL      6144u // buffers of such a port
bool ports_is_af_xdp(const char *device);

// A device that was attached is stopped and closed. Returns what rte_dev_remove() takes, which
// makes its name free; or null.
struct rte_device *ports_device_close(struct dpdk_port *p);
// Attached already: starts it with what 'spec' asks for. False with a sentence.
bool ports_configure(struct sk_ports *ports, struct dpdk_port *p, const struct sk_port_spec *spec,
                     char *error, size_t error_size);
// Bytes of a frame of an af_packet device's rings, with what the kernel has before the packet; 0:
// it is another kind of device.
uint32_t ports_af_packet_frame(const struct sk_port_spec *spec);
bool ports_is_af_packet(const char *device);
// What is behind ",KEY=" in a device's string; null: it is not said.
const char *ports_said(const char *device, const char *key);
// The name behind "iface="; false: it is not said, or too long for one.
bool ports_said_interface(const char *device, char name[IF_NAMESIZE]);
bool ports_is_tap(const char *device);
// False with a sentence: no driver is to see the string.
bool ports_string_check(const struct sk_ports *ports, const struct sk_port_spec *spec, char *error,
                        size_t size);
// Of an af_packet device: how many it has to receive on, and whether what it sends goes through the
// interface's queueing discipline.
unsigned ports_af_packet_queues(const struct sk_port_spec *spec);
bool ports_af_packet_qdisc(const struct sk_port_spec *spec);
// Its rings: bytes of a frame and of a block, and frames of one. 'own_processors': as
// sk_ports_options has it. 'many': of more than PORTS_MANY ports, whose rings are shorter unless
// their strings say it.
#define PORTS_MANY 64u
struct af_packet_rings ports_af_packet_rings(const struct sk_port_spec *spec, bool own_processors,
                                             bool many);
// What is to be put after the string of one of DPDK's driver, since it does not say it.
void ports_af_packet_arguments(const struct sk_port_spec *spec, bool own_processors, char *out,
                               size_t size);
// Packets that the kernel dropped because the rings were full. Any thread; of other devices 0.
uint64_t ports_af_packet_dropped(struct ports_sockets *sockets);
// False with what is wrong with an af_packet device's string, for a sentence; others' are good.
bool ports_af_packet_check(const struct sk_port_spec *spec, char *error, size_t error_size);
// The interface gives frames as they were on the wire from here on (GRO and LRO are off); one line
// on standard error when it cannot be made to. An interface that does not know such things is as it
// should be.
void ports_stop_merging(unsigned dev_port, const char *interface);
// MTU of a network interface of the kernel's; 0: there is no such.
uint32_t ports_interface_mtu(const char *name);
int ports_set_interface_mtu(const char *name, uint32_t mtu); // 0, or a negative errno
bool ports_link_is_up(const struct dpdk_port *p);
// Bytes of the longest frame of a port without a device; 'mtu' 0: none is given.
uint32_t ports_longest(uint32_t mtu);

// ---- inside.c
bool ports_is_inside(const char *device);
// Of 'p', whose buffers come from p->pool. False when memory is short.
bool ports_inside_open(struct sk_ports *ports, struct dpdk_port *p);
void ports_inside_close(struct sk_ports *ports, struct dpdk_port *p);
uint16_t ports_inside_send(struct ports_inside *in, struct rte_mbuf **mbufs, uint16_t n);
uint16_t ports_inside_receive(struct ports_inside *in, struct rte_mbuf **mbufs);
uint64_t ports_inside_refused(const struct ports_inside *in);

// ---- memif.c
bool ports_is_memif(const char *device);
// Of 'p', whose buffers come from p->pool. False with a sentence.
bool ports_memif_open(struct dpdk_port *p, const struct sk_port_spec *spec, char *error,
                      size_t error_size);
void ports_memif_close(struct dpdk_port *p);
uint16_t ports_memif_send(struct ports_memif *m, struct rte_mbuf **mbufs, uint16_t n);
uint16_t ports_memif_receive(struct ports_memif *m, uint16_t queue, struct rte_mbuf **mbufs);
bool ports_memif_link(const struct ports_memif *m);
void ports_memif_about(const struct ports_memif *m, struct sk_port_device *out);

// ---- kernel.c
bool ports_is_kernel(const char *device);
// Of 'p', whose buffers come from p->pool. The string was checked. False with a sentence.
bool ports_kernel_open(struct dpdk_port *p, const struct sk_port_spec *spec,
                       const struct af_packet_rings *rings, char *error, size_t error_size);
void ports_kernel_close(struct dpdk_port *p);
// single: none are joined.
uint16_t ports_kernel_send(struct ports_kernel *k, struct rte_mbuf **mbufs, uint16_t n,
                           bool single);
uint16_t ports_kernel_receive(struct ports_kernel *k, uint16_t queue, struct rte_mbuf **mbufs);
// The next frame of the queue, if it stands for packets that were to leave as one frame again. It
// is sent so, or is as before (af_packet.h).
bool ports_kernel_shows(struct ports_kernel *k, uint16_t queue, struct af_packet_whole *w);
bool ports_kernel_pass(struct ports_kernel *k, uint16_t queue, struct ports_kernel *to);
// Whether the next packet is one of a large frame of which some have been received.
bool ports_kernel_is_partway(const struct ports_kernel *k, uint16_t queue);
bool ports_kernel_link(const struct ports_kernel *k);
// All but counts that ports_af_packet_dropped() has.
void ports_kernel_about(const struct ports_kernel *k, struct sk_port_device *out);

// MiB that packet buffers of these ports take, and with 'buffers' how many they are.
uint32_t ports_memory(const struct sk_port_spec *specs, size_t n, uint32_t *buffers);

// sample.c: 'n' packets were received; among them is the next sample. When the port has a sampler.
void ports_sample(struct dpdk_port *p, struct rte_mbuf *const *burst, uint32_t n);
void ports_sample_begin(struct sk_ports *ports, struct dpdk_port *p);

#endif

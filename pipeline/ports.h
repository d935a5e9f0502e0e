// SPDX-License-Identifier: Apache-2.0
//
// ports: a switch's front panel on DPDK devices.
//
// Each port is a DPDK device, named by a device string as DPDK's --vdev takes it
// ("net_memif0,role=server,socket=/run/x.sock", "net_af_packet0,iface=eth1", "net_tap0,iface=sw0",
// "net_pcap0,rx_pcap=in.pcap,tx_pcap=out.pcap") or the address of a PCI device. Devices are
// attached when the ports are opened; nothing is configured outside the process but the MTU that a
// port is given. Hugepages are used where some are free and mounted; else DPDK uses ordinary memory.
// memif, pcap, ring and null devices need no privileges.
//
//     sk_ports_open(...)                      all devices, or none and one sentence why
//     sk_switch_new(..., {.tx = sk_ports_tx, .aux = ports})
//     sk_ports_attach(ports, sw)              from here on the switch works in the ports' buffers
//     while (...) sk_ports_poll(ports, core, now)   a burst of each port into the switch, run, send
//     sk_ports_close(ports)                   what was never sent is counted as dropped
//
// A device that is slow takes packets later: up to SK_PORTS_QUEUE wait per port, more are dropped
// (TX_FULL). Those that wait for a port whose link is down are dropped, so that nothing stale comes
// out when it comes up. Frames that the device cannot send whole (its MTU) are dropped by the switch.
//
// A port belongs to the core of the switch that runs its pipe: that core's thread alone receives and
// sends there. With several receive queues (a guest that sends on several, a NIC that spreads flows)
// packets keep their order within a queue; all are sent on the first queue, which keeps theirs.
//
// One set of ports per process, since DPDK is. Thread-safety: sk_ports_poll and sk_ports_tx for a
// port belong to the thread of the port's core; the rest to one thread, while no core runs.
#ifndef SILKEN_PIPELINE_PORTS_H
#define SILKEN_PIPELINE_PORTS_H

#include "pipeline/switch.h"

#define SK_PORTS_QUEUE 1024u
#define SK_PORTS_FRAME 9216u // longest frame

struct sk_port_spec {
    uint16_t dev_port;
    const char *device;
    uint32_t mtu;         // 0: the device's
    uint32_t queues;      // to receive on; 0: 1
    bool not_promiscuous; // receives only what is addressed to the device
};
struct sk_ports_options {
    int cpu;         // to run on; -1: wherever the system puts it
    uint32_t memory; // MiB for packet buffers; 0: what the ports need, at least 256
    bool verbose;    // DPDK's own messages
};
struct sk_ports;

struct sk_ports *sk_ports_open(const struct sk_port_spec *specs, size_t n,
                               const struct sk_ports_options *opt, char *error, size_t error_size);
void sk_ports_attach(struct sk_ports *ports, struct sk_switch *sw);
// What devices do not take within a moment is dropped. Returns how many packet buffers did not come
// back: none, unless a driver keeps some.
uint32_t sk_ports_close(struct sk_ports *ports); // null allowed

// Before and after a thread other than the one that opened the ports polls.
bool sk_ports_enter(void);
void sk_ports_leave(void);

// The switch's tx callback; 'ports' is the struct sk_ports.
bool sk_ports_tx(void *ports, uint16_t dev_port, const uint8_t *frame, uint32_t length);
// The core's ports and what other cores sent to it. Returns the number of packets received, from
// either.
unsigned sk_ports_poll(struct sk_ports *ports, unsigned core, uint64_t now_ns);

// A port is up when it is opened. One whose link was up and went down is taken down in the switch,
// which then sends nothing there, and up again when the link is back. The first asks whether some
// link changed, also while cores run; the second, while none runs, tells the switch.
bool sk_ports_links_changed(const struct sk_ports *ports);
void sk_ports_follow_links(struct sk_ports *ports);

// What the device knows; counts since it was opened.
struct sk_port_device {
    char driver[32];
    bool link, promiscuous;
    uint32_t speed_mbps;   // 0: not known
    uint32_t mtu, longest; // bytes; the longest frame that is sent
    uint32_t queues;
    uint32_t waiting; // packets to be sent
    uint64_t missed;  // packets that came when its queue was full or there was no buffer
    uint64_t rx_errors, tx_errors;
};
bool sk_ports_device(const struct sk_ports *ports, uint16_t dev_port,
                     struct sk_port_device *out);                    // false: no such port
bool sk_ports_link(const struct sk_ports *ports, uint16_t dev_port); // false also for no such port

#endif

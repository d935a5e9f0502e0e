// SPDX-License-Identifier: Apache-2.0
//
// ports: a switch's front panel on DPDK devices.
//
// Each port is a DPDK device, named by a device string as DPDK's --vdev takes it
// ("net_memif0,role=server,socket=/run/x.sock", "net_af_packet0,iface=eth1", "net_tap0,iface=sw0",
// "net_pcap0,rx_pcap=in.pcap,tx_pcap=out.pcap") or the address of a PCI device. Devices are
// attached when the ports are opened; nothing is configured outside the process. Without hugepages
// DPDK uses ordinary memory, and memif, pcap, ring and null devices need no privileges.
//
//     sk_ports_open(...)                      all devices, or none and one sentence why
//     sk_switch_new(..., {.tx = sk_ports_tx, .aux = ports})
//     sk_ports_attach(ports, sw)
//     while (...) sk_ports_poll(ports, now)   a burst of each port into the switch, run, send
//     sk_ports_close(ports)                   what was never sent is counted as dropped
//
// A device that is slow takes packets later: up to SK_PORTS_QUEUE wait per port, more are dropped
// (TX_FULL). Those that wait for a port whose link is down are dropped, so that nothing stale comes
// out when it comes up.
//
// One set of ports per process, since DPDK is; not thread-safe.
#ifndef SILKEN_PIPELINE_PORTS_H
#define SILKEN_PIPELINE_PORTS_H

#include "pipeline/switch.h"

#define SK_PORTS_QUEUE 1024u
#define SK_PORTS_FRAME 9216u // longest frame

struct sk_port_spec {
    uint16_t dev_port;
    const char *device;
    uint32_t mtu; // 0: the device's
};
struct sk_ports_options {
    int cpu;         // to run on; -1: wherever the system puts it
    uint32_t memory; // MiB for packet buffers; 0 = 256
    bool verbose;    // DPDK's own messages
};
struct sk_ports;

struct sk_ports *sk_ports_open(const struct sk_port_spec *specs, size_t n,
                               const struct sk_ports_options *opt, char *error, size_t error_size);
void sk_ports_attach(struct sk_ports *ports, struct sk_switch *sw);
void sk_ports_close(struct sk_ports *ports); // null allowed

// The switch's tx callback; 'ports' is the struct sk_ports.
bool sk_ports_tx(void *ports, uint16_t dev_port, const uint8_t *frame, uint32_t length);
// Returns the number of packets received.
unsigned sk_ports_poll(struct sk_ports *ports, uint64_t now_ns);

bool sk_ports_link(const struct sk_ports *ports, uint16_t dev_port); // false also for no such port

#endif

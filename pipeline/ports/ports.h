// SPDX-License-Identifier: Apache-2.0
//
// ports: a switch's front panel.
//
// Each port is a device, DPDK's or one with a driver of our own, named by a string as DPDK's --vdev
// takes it ("net_memif0,role=server,socket=/run/x.sock", "net_af_packet0,iface=eth1",
// "net_tap0,iface=sw0", "net_pcap0,rx_pcap=in.pcap,tx_pcap=out.pcap") or the address of a PCI
// device. Devices are attached when the ports are opened; nothing is configured outside the process
// but the MTU that a port is given, and that an interface under an af_packet device does not join
// frames (GRO, LRO).
// Hugepages are used where some are free and mounted; else DPDK uses ordinary memory. memif, pcap,
// ring and null devices need no privileges.
//
//     sk_ports_open(...)                      all devices, or none and a message
//     sk_switch_new(..., {.tx = sk_ports_tx, .aux = ports})
//     sk_ports_attach(ports, sw)              from here on the switch works in the ports' buffers
//     while (...) sk_ports_poll(ports, core, now)   a burst of each port into the switch, run, send
//     sk_ports_close(ports)                   unsent packets are counted as dropped
//
// A device that is slow takes packets later: up to SK_PORTS_QUEUE wait per port, more are dropped
// (TX_FULL). Those that wait for a port whose link is down are dropped, so that nothing stale comes
// out when it comes up. Frames that the device cannot send whole (its MTU) are dropped by the
// switch.
//
// A port belongs to the core of the switch that runs its pipe: that core's thread alone receives
// and sends there. With several receive queues (a guest that sends on several, a NIC that spreads
// flows) packets keep their order within a queue; all are sent on the first queue, which keeps
// theirs.
//
// One port can be without a device: the inside port (device SK_PORTS_INSIDE), whose other end is
// this process, for the port to the CPU. Packets that the switch sends there wait for the control
// thread, at most SK_PORTS_QUEUE and a ring's 1024 frames; more are dropped as at a slow device.
// The switch receives its packets as from any port.
//
// One set of ports per process, like DPDK itself. Thread-safety: sk_ports_poll and sk_ports_tx for
// a port belong to the thread of the port's core; sk_ports_inside_ calls to one thread, also while
// cores run; the rest to one thread, while no core runs.
//
// Files:
//
//     ports.c      bursts: receiving, sending, the buffers that the switch works in
//     open.c       the set of ports: opened, attached to a switch, closed
//     device.c     a device: its configuration, limits, link and own counts
//     sample.c     samples of received packets
//     inside.c     the port whose other end is this process
//     memif.c      ports on shared memory, by the driver of memif/
//     kernel.c     ports on interfaces of the kernel's, by the driver of af_packet/
//     eal.c        DPDK itself, and devices by their strings
//     af_packet.c  those of af_packet devices
//     string.c     errors in such a string
//     joined.c     interfaces under them that join frames
//     xdp.c        sockets that an af_xdp device leaves open
#ifndef SILKEN_PIPELINE_PORTS_PORTS_H
#define SILKEN_PIPELINE_PORTS_PORTS_H

#include "pipeline/switch/switch.h"

#define SK_PORTS_QUEUE  1024u
#define SK_PORTS_FRAME  9216u // longest frame
#define SK_PORTS_INSIDE "inside"

struct sk_port_spec {
    uint16_t dev_port;
    const char *device;
    uint32_t mtu;         // 0: the device's
    uint32_t queues;      // to receive on; 0: 1
    bool not_promiscuous; // receives only what is addressed to the device
};
struct sk_ports_options {
    int cpu;               // to run on; -1: wherever the system puts it
    uint32_t memory;       // MiB for packet buffers; 0: what the ports need, at least 256
    bool verbose;          // DPDK's own messages
    const char *telemetry; // DPDK's file prefix; null: no telemetry
    unsigned more_ports;   // that may be added later: ordinary memory is set aside for so many
    bool own_processors;   // who polls never sleeps: rings need not hold what comes meanwhile
};
struct sk_ports;

struct sk_ports *sk_ports_open(const struct sk_port_spec *specs, size_t n,
                               const struct sk_ports_options *opt, char *error, size_t error_size);
void sk_ports_attach(struct sk_ports *ports, struct sk_switch *sw);
// What devices do not take within a moment is dropped. Returns how many packet buffers did not come
// back: none, unless a driver keeps some.
uint32_t sk_ports_close(struct sk_ports *ports); // null allowed
// The same when the process ends next and opens no ports again: the buffers are not given back.
uint32_t sk_ports_end(struct sk_ports *ports); // null allowed

// The socket of DPDK's telemetry, which is its owner's alone; null: there is none.
const char *sk_ports_telemetry(void);

// Before and after a thread other than the one that opened the ports polls.
bool sk_ports_enter(void);
void sk_ports_leave(void);

// The switch's tx callback; 'ports' is the struct sk_ports.
bool sk_ports_tx(void *ports, uint16_t dev_port, const uint8_t *frame, uint32_t length);
// The core's ports and what other cores sent to it. Returns the number of packets received, from
// either.
unsigned sk_ports_poll(struct sk_ports *ports, unsigned core, uint64_t now_ns);

// ---- the inside port; without one nothing comes, and nothing can be given ----
struct sk_inside_frame {
    const uint8_t *bytes;
    uint32_t length;
};
// Frames that the switch sent to the port, at most 'n', the oldest first. They are valid until the
// next call.
unsigned sk_ports_inside_take(struct sk_ports *ports, struct sk_inside_frame *frames, unsigned n);
// The switch receives a copy of the frame. False, counted ('missed' of the port's device), when
// 1024 frames wait already, no packet buffer is free, or it is longer than SK_PORTS_FRAME.
bool sk_ports_inside_give(struct sk_ports *ports, const uint8_t *frame, uint32_t length);
// Readable when a frame came since sk_ports_inside_sleep(), which is called before one waits for
// that; -1: no such port. False: frames are there already.
int sk_ports_inside_fd(const struct sk_ports *ports);
bool sk_ports_inside_sleep(struct sk_ports *ports);

// ---- ports that come and go while cores run: on the control thread. What cores use changes
// between 'pause' and 'resume', in microseconds; opening and closing a device takes as long as it
// takes, beside them ----
struct sk_ports_pause {
    void (*pause)(void *aux);
    void (*resume)(void *aux);
    void *aux;
};
// After sk_ports_attach. The port joins with its link as it is. False with a sentence: nothing has
// changed.
bool sk_ports_add(struct sk_ports *ports, const struct sk_port_spec *spec,
                  const struct sk_ports_pause *pause, char *error, size_t error_size);
// The port goes down; what waits for it is sent within a tenth of a second, or dropped (TX_FULL);
// its device is closed. Counts of the port stay. False with a sentence when there is no such port,
// or it is inside.
bool sk_ports_remove(struct sk_ports *ports, uint16_t dev_port, const struct sk_ports_pause *pause,
                     char *error, size_t error_size);
// Whether the interface that the port is on was deleted and one of its name is there, as when a
// container is started again: to the kernel another, so that nothing goes through the port. Between
// two calls of sk_ports_follow_links.
bool sk_ports_interface_is_back(const struct sk_ports *ports, uint16_t dev_port);
// Whether the kernel's interface of the port was deleted, or is in another network namespace.
// Between the same calls.
bool sk_ports_interface_is_gone(const struct sk_ports *ports, uint16_t dev_port);
// Opens the port again, with its memory, and down if it was set down. False with a sentence: its
// number waits, without a device, for the next such call. It can be removed and enabled like
// others.
bool sk_ports_reopen(struct sk_ports *ports, const struct sk_port_spec *spec,
                     const struct sk_ports_pause *pause, char *error, size_t error_size);
// The number of a port that was removed waits as after a call that failed.
void sk_ports_wait(struct sk_ports *ports, uint16_t dev_port);
bool sk_ports_has(const struct sk_ports *ports, uint16_t dev_port); // with a device, or inside
// While no core runs: a port that is not enabled is down whatever its link. False: no such port.
bool sk_ports_enable(struct sk_ports *ports, uint16_t dev_port, bool enabled);

// A port is up when it is opened. One whose link was up and went down is taken down in the switch,
// which then sends nothing there, and up again when the link is back. The first asks whether some
// link changed, also while cores run; the second, while none runs, tells the switch, and 'fn' (may
// be null) of each port that changed.
bool sk_ports_links_changed(const struct sk_ports *ports);
void sk_ports_follow_links(struct sk_ports *ports, void (*fn)(void *aux, uint16_t port, bool up),
                           void *aux);

// What the device knows; counts since it was opened.
struct sk_port_device {
    char driver[32];
    bool link, promiscuous;
    uint32_t speed_mbps;   // 0: not known
    uint32_t mtu, longest; // bytes; the longest frame that is sent, when it has no tag
    uint32_t queues;
    uint32_t waiting; // packets to be sent
    uint64_t missed;  // packets that came when its queue was full or there was no buffer
    uint64_t rx_errors, tx_errors;
    uint64_t peers_closed; // of a memif device: peers that broke its protocol's rules
};
bool sk_ports_device(const struct sk_ports *ports, uint16_t dev_port,
                     struct sk_port_device *out);                    // false: no such port
bool sk_ports_link(const struct sk_ports *ports, uint16_t dev_port); // false also for no such port

// ---- samples of received packets, but for the inside port: one in 'one_in' packets, at random; 0:
// none ----
#define SK_PORTS_SAMPLE 128u // bytes of a frame, at most
struct sk_ports_sample {
    uint16_t port;
    uint32_t length; // of the frame
    uint64_t pool,
        lost; // packets that could have been sampled at the port so far; samples not read in time
    uint32_t n;
    uint8_t bytes[SK_PORTS_SAMPLE]; // the first n of the frame
};
// While no core runs. False: memory is short.
bool sk_ports_sample(struct sk_ports *ports, uint32_t one_in, uint64_t seed);
// At most 'n', for one thread, also while cores run.
unsigned sk_ports_samples(struct sk_ports *ports, struct sk_ports_sample *out, unsigned n);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// transport.h: how frames leave and reach a host stack.
//
// A transport carries whole Ethernet frames between a host stack and a switch: a burst out, a burst
// in, and a way to wait. Frames are built where the transport sends them from, and read where it
// has received them: nothing is copied that the device does not copy. It is the only part of hosts/
// that does input and output; the protocols do not know it. Six kinds exist, and a wrapper:
//
//      ring        between two threads of a process (ring.c)
//      afpacket    a Linux network interface through an AF_PACKET socket (afpacket.c)
//      udp         kernel UDP sockets, for a process without privileges (udp.c)
//      memif       shared memory with a switch process, which needs no root, no huge pages and no
//                  network card (memif.c)
//      dpdk        any other DPDK port (hosts/dpdk, by module.c)
//      faulty      around another transport: drops, repeats, reorders (faulty.c)
//
// sk_transport_open() makes all but the ring from a string:
//
//      "afpacket:veth0"
//      "udp:10.0.0.1", or "udp:" for the address that the communicator knows
//      "net_memif0,role=client,id=0,socket=/tmp/w0.sock"     or with "dpdk:" in front, as all net_
//      "roce:eth1", "roce:DEVICE"    the interface, or one of the others but udp:, for stations
//                                    that speak RoCEv2
//      "faulty:seed=1,drop=0.01,duplicate=0.01,reorder=0.1:afpacket:veth0"
//
// A transport is a struct whose first member is struct sk_transport; 'ops' tells the kinds apart.
// The sk_transport_*() functions below are the interface; they also count.
//
// Concurrency: a transport belongs to one thread at a time. Opening and closing DPDK ports is to be
// done by one thread of the process at a time.
//
// Files:
//
//     transport.c  device strings; counts
//     ring.c, afpacket.c, udp.c, memif.c, faulty.c  the kinds
//     segments.c   several datagrams as one (segments.h)
//     module.c     kinds that are loaded when a device asks for them
#ifndef SILKEN_HOSTS_TRANSPORT_TRANSPORT_H
#define SILKEN_HOSTS_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hosts/core/endpoint.h"
#include "silken/error.h"

// Frames that fit every transport; longer ones are refused on sending and dropped on receipt.
#define SK_MAX_FRAME 2048

// Frames that one call handles at most.
#define SK_BURST 32

struct sk_frame {
    uint8_t *data;
    uint32_t len; // bytes, without the Ethernet checksum
};

// The station that opens a device, as udp: wants to know it.
struct sk_transport_station {
    struct sk_endpoint self;
    // Of a station whose lanes have one address between them: which of them this is, and the
    // switch's port that answers it, unlike the others'. Lanes are opened in their order. 'lanes' 0
    // or 1: it has the address alone, and 'peer' is not looked at.
    struct sk_endpoint peer;
    unsigned lane, lanes;
    bool single; // frames go to the kernel one by one
    // The kernel's port for frames from and to SESSION_PORT, of a station whose address has several
    // of a kind; 0: SESSION_PORT.
    uint16_t session_port;
};

struct sk_transport_stats {
    uint64_t tx_frames, tx_bytes;
    uint64_t tx_full; // frames offered and not taken: the way out was full or the link down
    uint64_t rx_frames, rx_bytes;
    uint64_t rx_dropped; // frames that came and could not be handed up: too long, or no memory
    uint64_t tx_joined, rx_joined; // of the frames sent and received: with others as one (udp.c)
};

struct sk_transport;

// What a kind of transport has to do. No member may be NULL. 'n' is at most SK_BURST.
struct sk_transport_ops {
    const char *name;

    // Lends up to 'n' buffers of SK_MAX_FRAME bytes to build frames in: stores their places in
    // frames[].data and returns how many. Those lent before and not sent come first, with what is
    // in them.
    size_t (*lend)(struct sk_transport *t, struct sk_frame *frames, size_t n);

    // Sends the first 'n' of the lent buffers, frames[i].len bytes of each; the lengths are at most
    // SK_MAX_FRAME. Returns how many have gone; the others stay lent, and are then the first.
    size_t (*post)(struct sk_transport *t, const struct sk_frame *frames, size_t n);

    // Stores up to 'n' received frames in 'frames' and returns how many. Their bytes stay valid
    // until the next recv, wait or close. Does not block.
    size_t (*recv)(struct sk_transport *t, struct sk_frame *frames, size_t n);

    // Lets other threads run until there may be a frame to receive, for 'timeout' ns at most.
    void (*wait)(struct sk_transport *t, uint64_t timeout);

    // Frees everything, the struct too.
    void (*close)(struct sk_transport *t);
};

struct sk_transport {
    const struct sk_transport_ops *ops;
    struct sk_transport_stats stats;
};

// Opens the transport that 'device' describes. Returns 0, SILKEN_ERR_INVALID (the string is not one
// of the above), SILKEN_ERR_TRANSPORT (it could not be opened), SILKEN_ERR_NOMEM or
// SILKEN_ERR_UNSUPPORTED. On an error a sentence is in 'why', of 'why_cap' bytes. 'cpu' is the
// processor for DPDK's main thread, or -1 for those that the calling thread may use.
int sk_transport_open(struct sk_transport **t, const char *device, int cpu, char *why,
                      size_t why_cap);

// The same for a station, of which a device may want to know the addresses (udp:).
int sk_transport_open_at(struct sk_transport **t, const char *device, int cpu,
                         const struct sk_transport_station *station, char *why, size_t why_cap);

// See the operations of the same names. close accepts NULL.
size_t sk_transport_lend(struct sk_transport *t, struct sk_frame *frames, size_t n);
size_t sk_transport_post(struct sk_transport *t, const struct sk_frame *frames, size_t n);
size_t sk_transport_recv(struct sk_transport *t, struct sk_frame *frames, size_t n);
void sk_transport_wait(struct sk_transport *t, uint64_t timeout);
void sk_transport_close(struct sk_transport *t);

// For frames that lie elsewhere: lends, copies and posts. Returns how many of the first have gone;
// a frame that is too long stops it. Not while lent buffers wait to be posted.
size_t sk_transport_send(struct sk_transport *t, const struct sk_frame *frames, size_t n);

// The kinds, one function each; errors as above.

// Two ends, each other's peer, with room for 'capacity' frames each way (rounded up to a power of
// two). Each end may be used by another thread, and is closed on its own; what the closed end's
// peer sends piles up until it is full.
int sk_transport_ring_open(struct sk_transport *ends[2], uint32_t capacity);

// The interface 'name', which has to be up. Needs CAP_NET_RAW. Frames which this host sends itself
// are not received. The kernel sees the frames too: the stack's IP address should not be the
// interface's, or the kernel answers with ICMP errors.
int sk_transport_afpacket_open(struct sk_transport **t, const char *name, char *why,
                               size_t why_cap);

// Kernel UDP sockets of a station: its IP address is 'ip', or that of 'station' if the text is
// empty; its UDP port is that of 'station', and frames from and to SESSION_PORT pass too. No
// privileges are needed, but the address has to be one of this host's, and nobody else may have
// these ports of it but other lanes of the station. What several frames to one receiver have in
// common goes to the kernel once (UDP segmentation offload), if it can do that: stats say so.
int sk_transport_udp_open(struct sk_transport **t, const char *ip,
                          const struct sk_transport_station *station, char *why, size_t why_cap);

// Of a device string that says udp:, also within faulty:, what follows; else NULL.
const char *sk_transport_udp_address(const char *device);

// Of a device string that says roce:, the device that has its frames: what follows; else NULL.
const char *sk_transport_roce_device(const char *device);

// The address by which the system would send to 'peer'; both in host order. False: it has no
// route.
bool sk_udp_local_ip(uint32_t peer, uint32_t *ip);

// A DPDK port, from the module that sk_transport_use_dpdk() gave, or else from libsilken-dpdk.so.0,
// which the first call loads: from the folder of this library (or, if it is linked statically, of
// the program), else from where the system has libraries.
int sk_transport_module_open(struct sk_transport **t, const char *device, int cpu, char *why,
                             size_t why_cap);

// A kind of transport that is linked or loaded apart from this room. Loaded, it is the symbol
// silken_NAME_module, and its version must be the library's: structs of this header pass
// between.
struct sk_transport_module {
    const char *version;
    int (*open)(struct sk_transport **t, const char *device, int cpu, char *why, size_t why_cap);
};
void sk_transport_use_dpdk(const struct sk_transport_module *module);

// Shared memory: 'device' is as that of a switch's memif port (docs/manual.md), "net_memif0,..." A
// client may be opened before its server is there, which may go and come: it connects when it can,
// and takes no frames until then.
int sk_transport_memif_open(struct sk_transport **t, const char *device, char *why, size_t why_cap);

// Faults by probability (0..1), from a seed, the same for both directions. A frame is dropped, or
// sent twice in a row, or held back until the next frame has passed. Frames sent change places only
// within one call to send: what SwitchML requires towards the switch (hosts/switchml/worker.h)
// stays true, since a burst has one frame for a slot at most.
struct sk_faults {
    uint64_t seed;
    double drop, duplicate, reorder;
};

// Wraps 'inner' and owns it from then on, also on an error. What 'inner' has no room for is lost.
int sk_transport_faulty_open(struct sk_transport **t, struct sk_transport *inner,
                             const struct sk_faults *faults);

#endif

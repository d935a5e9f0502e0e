// SPDX-License-Identifier: Apache-2.0
//
// fanout: what the af_packet driver asks of the kernel when it opens a device, put right.
//
// The driver (rte_eth_af_packet.c of DPDK 22.11; no argument of a device changes it) puts the
// socket of each queue, also of the only one, into a fanout group: the kernel chooses one socket of
// the group by a hash of the packet. With that
//   - the kernel puts IPv4 fragments together first (PACKET_FANOUT_FLAG_DEFRAG): a datagram comes
//     as one frame, longer than ports take, and a fragment whose others do not come is not seen at
//     all;
//   - each frame is taken apart for the hash, by the processor of whoever sends it, where there is
//     nothing to choose;
//   - the group has the number of the process's exclusive or'd with the interface's: two processes,
//     or two interfaces of one, may come to the same, and the second device is not opened.
// And what the kernel itself sends on the interface comes in as if it came from the wire.
//
// So, while a device is opened, the driver's call of setsockopt() is answered here: in a process
// that has this file, the function of that name is this file's, which hands on to the kernel what
// it does not know. The socket of a device with one queue stays out of groups; several have a group
// whose number the kernel chose, without fragments put together. Neither takes in what the kernel
// sends. Source: packet(7), PACKET_FANOUT and PACKET_IGNORE_OUTGOING.
#ifndef SILKEN_DPDK_FANOUT_H
#define SILKEN_DPDK_FANOUT_H

#include <stdbool.h>
#include <stdint.h>

// Do DPDK's drivers find this file's setsockopt()? The way a program is linked and loaded decides:
// not if the program does not export it (-rdynamic), or is a library that was loaded after the C
// library without RTLD_GLOBAL. Any thread.
bool ports_fanout_in_place(void);

// From here to the end the calling thread opens an af_packet device with so many queues; others'
// sockets are as ever. The end gives the device's sockets, which it closes itself: how many.
#define PORTS_FANOUT_SOCKETS 64u
void ports_fanout_begin(unsigned queues);
unsigned ports_fanout_end(int sockets[PORTS_FANOUT_SOCKETS]);

// How many packets the kernel dropped since the last call because the socket's ring was full.
uint64_t ports_fanout_dropped(int socket);

#endif

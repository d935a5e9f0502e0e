// SPDX-License-Identifier: Apache-2.0
#include "dpdk/fanout.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/if_packet.h>

// The kernel may be newer than its headers.
#ifndef PACKET_FANOUT_FLAG_IGNORE_OUTGOING
#define PACKET_FANOUT_FLAG_IGNORE_OUTGOING 0x4000
#endif
#define TYPE_SHIFT 16 // of a group's type and flags, in what the option takes; its number is below

static _Thread_local unsigned device_queues; // of the device that is being opened; 0: none is
static _Thread_local bool group_there;       // one of its sockets is in it
static _Thread_local uint16_t group;
static _Thread_local int made[PORTS_FANOUT_SOCKETS];
static _Thread_local unsigned n_made;

void ports_fanout_begin(unsigned queues) {
    device_queues = queues;
    group_there = false;
    n_made = 0;
}

unsigned ports_fanout_end(int sockets[PORTS_FANOUT_SOCKETS]) {
    device_queues = 0;
    memcpy(sockets, made, n_made * sizeof *made);
    return n_made;
}

uint64_t ports_fanout_dropped(int socket) {
    struct tpacket_stats_v3 now = {0}; // what is shorter is its beginning
    socklen_t size = sizeof now;
    return getsockopt(socket, SOL_PACKET, PACKET_STATISTICS, &now, &size) == 0 ? now.tp_drops : 0;
}

static int kernel_setsockopt(int fd, int level, int name, const void *value, socklen_t size) {
    return (int)syscall(SYS_setsockopt, fd, level, name, value, size);
}

// Whichever way the kernel gave the first socket its number, the others are told it.
static bool learn_group(int fd) {
    uint32_t given = 0;
    socklen_t size = sizeof given;
    if (getsockopt(fd, SOL_PACKET, PACKET_FANOUT, &given, &size))
        return false;
    group = (uint16_t)given;
    group_there = true;
    return true;
}

// 'wanted': as the driver has it, a hash that rolls over to another socket when one's ring is full.
static int fanout_join(int fd, uint32_t wanted) {
    uint32_t type = (wanted >> TYPE_SHIFT & ~(uint32_t)PACKET_FANOUT_FLAG_DEFRAG) |
                    PACKET_FANOUT_FLAG_IGNORE_OUTGOING;
    if (!group_there)
        type |= PACKET_FANOUT_FLAG_UNIQUEID;
    const uint32_t asked = type << TYPE_SHIFT | (group_there ? group : 0u);
    const int rc = kernel_setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &asked, sizeof asked);
    return rc == 0 && !group_there && !learn_group(fd) ? -1 : rc;
}

static int ignore_outgoing(int fd) {
    const int on = 1;
    return kernel_setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
}

static int fanout_setsockopt(int fd, int level, int name, const void *value, socklen_t size) {
    uint32_t wanted;
    if (device_queues == 0 || level != SOL_PACKET || name != PACKET_FANOUT || size != sizeof wanted)
        return kernel_setsockopt(fd, level, name, value, size);
    memcpy(&wanted, value, sizeof wanted);
    if (n_made < PORTS_FANOUT_SOCKETS)
        made[n_made++] = fd;
    return device_queues == 1 ? ignore_outgoing(fd) : fanout_join(fd, wanted);
}

// In place of the C library's, for the whole process: DPDK's drivers find it here.
__attribute__((visibility("default"), alias("fanout_setsockopt"))) int
setsockopt(int fd, int level, int name, const void *value, socklen_t size);

bool ports_fanout_in_place(void) {
    int (*const ours)(int, int, int, const void *, socklen_t) = fanout_setsockopt;
    const void *found = dlsym(RTLD_DEFAULT, "setsockopt");
    return memcmp(&found, &ours, sizeof found) == 0;
}

// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>

#include "af_packet/af_packet_impl.h"

// The kernel may be newer than its headers.
#ifndef PACKET_FANOUT_FLAG_IGNORE_OUTGOING
#define PACKET_FANOUT_FLAG_IGNORE_OUTGOING 0x4000
#endif
#define LARGE_BYTES (16 << 20) // of a socket: large frames that wait
#define TYPE_SHIFT  16 // of a group's type and flags, in what the option takes; its number is below

// ---- the interface ----

static bool af_packet_ask(const struct af_packet *a, unsigned long request, struct ifreq *r) {
    *r = (struct ifreq){.ifr_ifindex = (int)a->index};
    return ioctl(a->fd[0], SIOCGIFNAME, r) == 0 && ioctl(a->fd[0], request, r) == 0;
}

unsigned af_packet_index(const struct af_packet *a) {
    return a->index;
}

bool af_packet_link(const struct af_packet *a) {
    struct ifreq r;
    return af_packet_ask(a, SIOCGIFFLAGS, &r) && r.ifr_flags & IFF_UP && r.ifr_flags & IFF_RUNNING;
}

static bool af_packet_ethtool(const struct af_packet *a, void *command) {
    struct ifreq r = {.ifr_ifindex = (int)a->index};
    if (ioctl(a->fd[0], SIOCGIFNAME, &r))
        return false;
    r.ifr_data = command;
    return ioctl(a->fd[0], SIOCETHTOOL, &r) == 0;
}

uint32_t af_packet_speed(const struct af_packet *a) {
    struct ethtool_cmd c = {.cmd = ETHTOOL_GSET};
    const uint32_t speed = af_packet_ethtool(a, &c) ? ethtool_cmd_speed(&c) : 0;
    return speed == (uint32_t)SPEED_UNKNOWN ? 0 : speed;
}

// A card is on a bus, and reads what it sends where it is.
static bool af_packet_is_card(const struct af_packet *a) {
    struct ethtool_drvinfo d = {.cmd = ETHTOOL_GDRVINFO};
    return af_packet_ethtool(a, &d) && d.bus_info[0];
}

// Past a queueing discipline the kernel drops a frame that the interface does not cut itself; in
// one it cuts it.
static bool af_packet_cuts(const struct af_packet *a) {
    struct ethtool_value v = {.cmd = ETHTOOL_GTSO};
    return a->qdisc || (af_packet_ethtool(a, &v) && v.data);
}

static bool af_packet_is_ethernet(const struct af_packet *a) {
    struct ifreq r;
    if (!af_packet_ask(a, SIOCGIFHWADDR, &r))
        return false;
    return r.ifr_hwaddr.sa_family == ARPHRD_ETHER || r.ifr_hwaddr.sa_family == ARPHRD_LOOPBACK;
}

// ---- counts ----

int af_packet_socket(const struct af_packet *a, unsigned queue) {
    return a->fd[queue];
}

uint64_t af_packet_dropped(int socket) {
    struct tpacket_stats now = {0};
    socklen_t size = sizeof now;
    return getsockopt(socket, SOL_PACKET, PACKET_STATISTICS, &now, &size) == 0 ? now.tp_drops : 0;
}

// ---- opening ----

static bool af_packet_set(int fd, int option, int value) {
    return setsockopt(fd, SOL_PACKET, option, &value, sizeof value) == 0;
}

static bool af_packet_make_ring(int fd, int option, const struct af_packet_rings *r,
                                uint32_t frames) {
    const struct tpacket_req q = {.tp_block_size = r->block,
                                  .tp_block_nr = frames / (r->block / r->frame),
                                  .tp_frame_size = r->frame,
                                  .tp_frame_nr = frames};
    return setsockopt(fd, SOL_PACKET, option, &q, sizeof q) == 0;
}

static uint32_t af_packet_sending(const struct af_packet_rings *r) {
    const uint32_t in_block = r->block / r->frame;
    const uint32_t frames = (AF_PACKET_SENDING + in_block - 1) / in_block * in_block;
    return frames < r->frames ? frames : r->frames;
}

// Of large frames that wait to be read, or that somebody still reads: without the right to more,
// what the system allows. Those for which there is no room are cut by the ring.
static void af_packet_set_buffer(int fd, int forced, int otherwise) {
    const int bytes = LARGE_BYTES;
    if (setsockopt(fd, SOL_SOCKET, forced, &bytes, sizeof bytes))
        setsockopt(fd, SOL_SOCKET, otherwise, &bytes, sizeof bytes);
}

// The socket that large frames are sent by. Without a protocol it receives nothing.
static bool af_packet_open_large(struct af_packet *a, const struct af_packet_options *o) {
    const struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = (int)a->index};
    a->joining = malloc(AF_PACKET_LARGE_ROOM);
    if (!a->joining) {
        errno = ENOMEM;
        return false;
    }
    a->fd_large = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (a->fd_large < 0 || !af_packet_set(a->fd_large, PACKET_VNET_HDR, 1) ||
        (!o->qdisc && !af_packet_set(a->fd_large, PACKET_QDISC_BYPASS, 1)))
        return false;
    af_packet_set_buffer(a->fd_large, SO_SNDBUFFORCE, SO_SNDBUF);
    return bind(a->fd_large, (const struct sockaddr *)&to, sizeof to) == 0;
}

// One of what comes to any interface is never in its rings: without a protocol the socket receives
// nothing, and with one it is bound to the interface.
static bool af_packet_open_queue(struct af_packet *a, unsigned q,
                                 const struct af_packet_options *o) {
    const struct sockaddr_ll to = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)a->index};
    const uint32_t sending = q == 0 ? af_packet_sending(&o->rings) : 0;
    const int fd = a->fd[q];
    const size_t rx_bytes = (size_t)o->rings.frame * o->rings.frames,
                 bytes = rx_bytes + (size_t)o->rings.frame * sending;
    if (!af_packet_set(fd, PACKET_VERSION, TPACKET_V2) || !af_packet_set(fd, PACKET_VNET_HDR, 1) ||
        (q == 0 && !o->qdisc && !af_packet_set(fd, PACKET_QDISC_BYPASS, 1)))
        return false;
    // before Linux 4.20 they are left out one by one
    af_packet_set(fd, PACKET_IGNORE_OUTGOING, 1);
    a->large[q].room = malloc(AF_PACKET_LARGE_ROOM);
    if (!a->large[q].room) {
        errno = ENOMEM;
        return false;
    }
    af_packet_set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF);
    if (!af_packet_set(fd, PACKET_COPY_THRESH, 1) || !af_packet_set(fd, PACKET_AUXDATA, 1))
        return false;
    if (!af_packet_make_ring(fd, PACKET_RX_RING, &o->rings, o->rings.frames) ||
        (sending && !af_packet_make_ring(fd, PACKET_TX_RING, &o->rings, sending)))
        return false;
    uint8_t *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return false;
    a->mapped[q] = at;
    a->mapped_bytes[q] = bytes;
    a->rx[q] = (struct af_packet_ring){at, o->rings.frame, o->rings.frames, 0};
    if (sending)
        a->tx = (struct af_packet_ring){at + rx_bytes, o->rings.frame, sending, 0};
    return bind(fd, (const struct sockaddr *)&to, sizeof to) == 0;
}

// A frame goes to the socket that the hash of its flow says, or to another when that one's ring is
// full. The kernel chooses the group's number for the first, which the others are told. It does not
// put fragments together.
static bool af_packet_join_group(const struct af_packet *a, unsigned q) {
    uint32_t group = 0;
    socklen_t size = sizeof group;
    uint32_t type =
        PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_ROLLOVER | PACKET_FANOUT_FLAG_IGNORE_OUTGOING;
    if (q == 0)
        type |= PACKET_FANOUT_FLAG_UNIQUEID;
    else if (getsockopt(a->fd[0], SOL_PACKET, PACKET_FANOUT, &group, &size))
        return false;
    return af_packet_set(a->fd[q], PACKET_FANOUT, (int)(type << TYPE_SHIFT | (group & 0xffff)));
}

static int af_packet_kick(struct af_packet *a) {
    return (int)sendto(a->fd[0], NULL, 0, MSG_DONTWAIT, NULL, 0);
}

static ssize_t af_packet_read(struct af_packet *a, unsigned queue, struct msghdr *m) {
    return recvmsg(a->fd[queue], m, MSG_DONTWAIT | MSG_TRUNC);
}

static ssize_t af_packet_write(struct af_packet *a, const struct msghdr *m) {
    return sendmsg(a->fd_large, m, MSG_DONTWAIT);
}

static bool af_packet_receive_all(const struct af_packet *a) {
    const struct packet_mreq all = {.mr_ifindex = (int)a->index, .mr_type = PACKET_MR_PROMISC};
    return setsockopt(a->fd[0], SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all) == 0;
}

// A frame that came before all sockets were in their group is in each one's ring.
static void af_packet_begin_empty(struct af_packet *a) {
    for (unsigned q = 0; q < a->queues; q++) {
        af_packet_pass_over(a, q);
        af_packet_dropped(a->fd[q]);
    }
}

static void af_packet_why(const struct af_packet_options *o, char *error, size_t size) {
    switch (errno) {
    case EPERM:
    case EACCES:
        snprintf(error, size,
                 "it needs the capability net_raw, which root has, also in a network namespace of "
                 "one's own");
        return;
    case ENODEV:
    case ENXIO:
        snprintf(error, size, "there is not an interface '%s'", o->interface);
        return;
    case ENOMEM:
        snprintf(error, size, "the kernel has no memory for its rings: %u frames of %u bytes",
                 o->rings.frames, o->rings.frame);
        return;
    default:
        snprintf(error, size, "%s", strerror(errno));
    }
}

static bool af_packet_open_all(struct af_packet *a, const struct af_packet_options *o, char *error,
                               size_t size) {
    for (unsigned q = 0; q < a->queues; q++) {
        a->fd[q] = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
        if (a->fd[q] < 0) {
            af_packet_why(o, error, size);
            return false;
        }
    }
    a->index = if_nametoindex(o->interface);
    if (a->index > 0 && !af_packet_is_ethernet(a)) {
        snprintf(error, size, "interface '%s' does not carry Ethernet frames", o->interface);
        return false;
    }
    bool good = a->index > 0 && af_packet_open_large(a, o);
    for (unsigned q = 0; good && q < a->queues; q++)
        good = af_packet_open_queue(a, q, o) && (a->queues == 1 || af_packet_join_group(a, q));
    if (good && o->all)
        good = af_packet_receive_all(a);
    if (!good)
        af_packet_why(o, error, size);
    return good;
}

struct af_packet *af_packet_open(const struct af_packet_options *o, char *error,
                                 size_t error_size) {
    struct af_packet *a = calloc(1, sizeof *a);
    if (!a) {
        snprintf(error, error_size, "not enough memory");
        return NULL;
    }
    a->queues = o->queues ? o->queues : 1;
    a->all = o->all;
    a->kick = af_packet_kick;
    a->read = af_packet_read;
    a->write = af_packet_write;
    a->cuts = af_packet_cuts;
    a->qdisc = o->qdisc;
    a->fd_large = -1;
    for (unsigned q = 0; q < AF_PACKET_QUEUES; q++)
        a->fd[q] = -1;
    if (!af_packet_open_all(a, o, error, error_size)) {
        af_packet_close(a);
        return NULL;
    }
    a->copies = !af_packet_is_card(a);
    a->joins = af_packet_cuts(a);
    if (a->queues > 1)
        af_packet_begin_empty(a);
    return a;
}

void af_packet_close(struct af_packet *a) {
    if (!a)
        return;
    for (unsigned q = 0; q < a->queues; q++) {
        if (a->mapped[q])
            munmap(a->mapped[q], a->mapped_bytes[q]);
        if (a->fd[q] >= 0)
            close(a->fd[q]);
        free(a->large[q].room);
    }
    if (a->fd_large >= 0)
        close(a->fd_large);
    free(a->joining);
    free(a);
}

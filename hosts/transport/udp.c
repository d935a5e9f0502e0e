// SPDX-License-Identifier: Apache-2.0
//
// Kernel UDP sockets: for a process without privileges, by the interface that has the station's
// address. The engines' frames lose their Ethernet, IPv4 and UDP headers here, which the kernel
// makes, and what is received gets headers back, as if it had come by Ethernet.
//
// Two sockets are bound to the station's IP address: one to its own port, and one to SESSION_PORT.
// Neither is connected: answers come from several ports of the switch, and an ICMP error must not
// end a job.
//
// MAC addresses mean nothing to a socket. Received frames have those of the frames sent: the
// station's as the receiver's and its peer's as the sender's.
//
// Checksums of UDP are off (0), as in all frames of hosts/core/udp.h: a switch replaces what they
// cover. The kernel's segmentation and coalescing need them, so frames go one by one, in bursts.
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/address.h"
#include "hosts/core/udp.h"
#include "hosts/transport/transport.h"
#include "session/message.h"

#define SOCKET_BUFFER (4 << 20) // bytes each way, as far as the system allows
#define LOOK_EVERY    32        // receptions without a look at the other socket at most

// Places in a frame.
#define SRC_PORT_AT (SK_UDP_BYTES - 8)
#define DST_PORT_AT (SK_UDP_BYTES - 6)
#define DST_IP_AT   (SK_UDP_BYTES - 12)

enum { UDP_OWN, UDP_SESSION, UDP_SOCKETS };

struct udp_transport {
    struct sk_transport base;
    int fd[UDP_SOCKETS];
    uint16_t port[UDP_SOCKETS];
    struct sk_endpoint self, peer; // 'peer' as of the last frame received: 'headers' are for it
    size_t payload;                // likewise
    bool known;                    // they are set
    uint8_t headers[SK_UDP_BYTES];
    unsigned looks; // receptions since the other socket was looked at
    unsigned first; // of the lent buffers
    uint8_t lent[SK_BURST][SK_MAX_FRAME];
    uint8_t received[SK_BURST][SK_MAX_FRAME];
};

static struct udp_transport *udp_of(struct sk_transport *t) {
    return (struct udp_transport *)t;
}

// ---- sending ---------------------------------------------------------------------------------

static size_t udp_lend(struct sk_transport *t, struct sk_frame *frames, size_t n) {
    struct udp_transport *u = udp_of(t);

    for (size_t i = 0; i < n; i++)
        frames[i] = (struct sk_frame){u->lent[(u->first + i) % SK_BURST], 0};
    return n;
}

static uint16_t udp_port_at(const uint8_t *frame, size_t at) {
    return (uint16_t)(frame[at] << 8 | frame[at + 1]);
}

// Of a frame of the engines: its UDP payload, without what fills short frames up.
static size_t udp_payload(const uint8_t *frame, size_t len) {
    size_t udp = udp_port_at(frame, SK_UDP_BYTES - 4);

    if (len < SK_UDP_BYTES)
        return 0;
    return udp >= 8 && SK_UDP_BYTES + udp - 8 <= len ? udp - 8 : len - SK_UDP_BYTES;
}

static unsigned udp_socket_for(const struct udp_transport *u, const uint8_t *frame) {
    return udp_port_at(frame, SRC_PORT_AT) == u->port[UDP_SESSION] ? UDP_SESSION : UDP_OWN;
}

// Sends 'n' frames of one socket. Returns how many have gone. An error that the kernel remembers of
// an earlier packet is told once, and taken away by that.
static size_t udp_post_run(struct udp_transport *u, unsigned which, unsigned first,
                           const struct sk_frame *frames, size_t n) {
    struct mmsghdr messages[SK_BURST];
    struct sockaddr_in to[SK_BURST];
    struct iovec parts[SK_BURST];
    int sent;

    memset(messages, 0, n * sizeof *messages);
    for (size_t i = 0; i < n; i++) {
        uint8_t *frame = u->lent[(first + i) % SK_BURST];
        to[i] = (struct sockaddr_in){.sin_family = AF_INET};
        memcpy(&to[i].sin_addr, frame + DST_IP_AT, 4);
        memcpy(&to[i].sin_port, frame + DST_PORT_AT, 2);
        parts[i] = (struct iovec){frame + SK_UDP_BYTES, udp_payload(frame, frames[i].len)};
        messages[i].msg_hdr = (struct msghdr){
            .msg_name = &to[i], .msg_namelen = sizeof to[i], .msg_iov = &parts[i], .msg_iovlen = 1};
    }
    sent = sendmmsg(u->fd[which], messages, (unsigned)n, MSG_DONTWAIT);
    if (sent < 0 && errno == ECONNREFUSED)
        sent = sendmmsg(u->fd[which], messages, (unsigned)n, MSG_DONTWAIT);
    return sent > 0 ? (size_t)sent : 0;
}

static size_t udp_post(struct sk_transport *t, const struct sk_frame *frames, size_t n) {
    struct udp_transport *u = udp_of(t);
    size_t done = 0;

    for (size_t run; done < n; done += run) {
        unsigned first = (u->first + (unsigned)done) % SK_BURST;
        const uint8_t *frame = u->lent[first];
        unsigned which = udp_socket_for(u, frame);
        size_t gone;
        memcpy(u->peer.mac, frame, 6);
        memcpy(u->self.mac, frame + 6, 6);
        for (run = 1;
             done + run < n && udp_socket_for(u, u->lent[(first + run) % SK_BURST]) == which;
             run++) {
        }
        gone = udp_post_run(u, which, first, frames + done, run);
        if (gone < run) {
            done += gone;
            break;
        }
    }
    u->first = (u->first + (unsigned)done) % SK_BURST;
    return done;
}

// ---- receiving -------------------------------------------------------------------------------

// Headers for 'payload' bytes from 'from'.
static void udp_put_headers(struct udp_transport *u, uint8_t *frame, unsigned which,
                            const struct sockaddr_in *from, size_t payload) {
    uint32_t ip = ntohl(from->sin_addr.s_addr);
    uint16_t port = ntohs(from->sin_port);

    if (!u->known || ip != u->peer.ip || port != u->peer.port || payload != u->payload ||
        u->self.port != u->port[which]) {
        u->peer.ip = ip;
        u->peer.port = port;
        u->self.port = u->port[which];
        u->payload = payload;
        u->known = true;
        sk_udp_init(u->headers, &u->peer, &u->self, payload);
    }
    memcpy(u->headers, u->self.mac, 6);
    memcpy(u->headers + 6, u->peer.mac, 6);
    memcpy(frame, u->headers, SK_UDP_BYTES);
}

static size_t udp_receive(struct udp_transport *u, unsigned which, struct sk_frame *frames,
                          size_t n) {
    struct mmsghdr messages[SK_BURST];
    struct sockaddr_in from[SK_BURST];
    struct iovec parts[SK_BURST];
    size_t got = 0;
    int received;

    memset(messages, 0, n * sizeof *messages);
    for (size_t i = 0; i < n; i++) {
        parts[i] = (struct iovec){u->received[i] + SK_UDP_BYTES, SK_MAX_FRAME - SK_UDP_BYTES};
        messages[i].msg_hdr = (struct msghdr){.msg_name = &from[i],
                                              .msg_namelen = sizeof from[i],
                                              .msg_iov = &parts[i],
                                              .msg_iovlen = 1};
    }
    received = recvmmsg(u->fd[which], messages, (unsigned)n, MSG_DONTWAIT, NULL);
    for (int i = 0; i < received; i++) {
        if (messages[i].msg_hdr.msg_flags & MSG_TRUNC) {
            u->base.stats.rx_dropped++;
            continue;
        }
        udp_put_headers(u, u->received[i], which, &from[i], messages[i].msg_len);
        frames[got++] =
            (struct sk_frame){u->received[i], SK_UDP_BYTES + (uint32_t)messages[i].msg_len};
    }
    return got;
}

static size_t udp_recv(struct sk_transport *t, struct sk_frame *frames, size_t n) {
    struct udp_transport *u = udp_of(t);
    size_t got = u->looks++ < LOOK_EVERY ? udp_receive(u, UDP_OWN, frames, n) : 0;

    if (got == 0) {
        u->looks = 0;
        got = udp_receive(u, UDP_SESSION, frames, n);
    }
    return got ? got : udp_receive(u, UDP_OWN, frames, n);
}

static void udp_wait(struct sk_transport *t, uint64_t timeout) {
    struct udp_transport *u = udp_of(t);
    struct pollfd fds[UDP_SOCKETS] = {{.fd = u->fd[UDP_OWN], .events = POLLIN},
                                      {.fd = u->fd[UDP_SESSION], .events = POLLIN}};
    struct timespec span = {(time_t)(timeout / 1000000000u), (long)(timeout % 1000000000u)};

    ppoll(fds, UDP_SOCKETS, &span, NULL);
}

// ---- opening and closing ---------------------------------------------------------------------

static void udp_close(struct sk_transport *t) {
    struct udp_transport *u = udp_of(t);

    for (unsigned i = 0; i < UDP_SOCKETS; i++)
        if (u->fd[i] >= 0)
            close(u->fd[i]);
    free(u);
}

static const struct sk_transport_ops udp_ops = {
    .name = "udp",
    .lend = udp_lend,
    .post = udp_post,
    .recv = udp_recv,
    .wait = udp_wait,
    .close = udp_close,
};

// The interface that has this address, or 0: the system's routes choose, as for an address of the
// loopback interface. A host with several links to one network has a link for each lane, and routes
// see one of them.
static unsigned udp_interface(uint32_t ip) {
    struct ifaddrs *all = NULL;
    unsigned found = 0;

    if (getifaddrs(&all) < 0)
        return 0;
    for (const struct ifaddrs *a = all; a && !found; a = a->ifa_next) {
        const struct sockaddr_in *in = (const void *)a->ifa_addr;
        if (in && in->sin_family == AF_INET && ntohl(in->sin_addr.s_addr) == ip &&
            !(a->ifa_flags & IFF_LOOPBACK))
            found = if_nametoindex(a->ifa_name);
    }
    freeifaddrs(all);
    return found;
}

// A socket bound to an address and port, or -1 with errno.
static int udp_bound_socket(uint32_t ip, uint16_t port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(ip)};
    int on = 1, size = SOCKET_BUFFER, whole = IP_PMTUDISC_DO;
    uint32_t interface = htonl(udp_interface(ip));
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_NO_CHECK, &on, sizeof on);
    setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &whole, sizeof whole);
    setsockopt(fd, IPPROTO_IP, IP_UNICAST_IF, &interface, sizeof interface);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    if (bind(fd, (const struct sockaddr *)&address, sizeof address) < 0) {
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

static void udp_say_bind(char *why, size_t why_cap, uint32_t ip, uint16_t port) {
    const char *hint = errno == EADDRINUSE
                           ? ": each worker of a host needs an IP address of its own"
                       : errno == EADDRNOTAVAIL ? ": it is not an address of this host"
                                                : "";

    snprintf(why, why_cap, "udp:%u.%u.%u.%u: UDP port %u cannot be used: %s%s", ip >> 24,
             ip >> 16 & 255, ip >> 8 & 255, ip & 255, port, strerror(errno), hint);
}

static int udp_open(struct sk_transport **t, const struct sk_endpoint *self, char *why,
                    size_t why_cap) {
    struct udp_transport *u = calloc(1, sizeof *u);

    if (!u) {
        snprintf(why, why_cap, "out of memory");
        return SILKEN_ERR_NOMEM;
    }
    u->base.ops = &udp_ops;
    u->self = *self;
    u->port[UDP_OWN] = self->port;
    u->port[UDP_SESSION] = SESSION_PORT;
    u->fd[UDP_OWN] = u->fd[UDP_SESSION] = -1;
    for (unsigned i = 0; i < UDP_SOCKETS; i++) {
        u->fd[i] = udp_bound_socket(self->ip, u->port[i]);
        if (u->fd[i] < 0) {
            udp_say_bind(why, why_cap, self->ip, u->port[i]);
            udp_close(&u->base);
            return SILKEN_ERR_TRANSPORT;
        }
    }
    *t = &u->base;
    return 0;
}

int sk_transport_udp_open(struct sk_transport **t, const char *ip, const struct sk_endpoint *self,
                          char *why, size_t why_cap) {
    struct sk_endpoint station = {.port = 0};

    if (self)
        station = *self;
    if (*ip && !sk_ip_parse(ip, &station.ip)) {
        snprintf(why, why_cap, "udp:%s: expected udp: or udp:IP-ADDRESS", ip);
        return SILKEN_ERR_INVALID;
    }
    if (station.ip == 0 || station.port == 0) {
        snprintf(why, why_cap, "udp:%s: the station's IP address and UDP port are not known", ip);
        return SILKEN_ERR_INVALID;
    }
    return udp_open(t, &station, why, why_cap);
}

// ---- addresses -------------------------------------------------------------------------------

bool sk_udp_local_ip(uint32_t peer, uint32_t *ip) {
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(SESSION_PORT), .sin_addr.s_addr = htonl(peer)};
    struct sockaddr_in from = {.sin_port = 0};
    socklen_t len = sizeof from;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool found = fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof to) == 0 &&
                 getsockname(fd, (struct sockaddr *)&from, &len) == 0;

    if (fd >= 0)
        close(fd);
    *ip = ntohl(from.sin_addr.s_addr);
    return found && *ip != 0;
}

// SPDX-License-Identifier: Apache-2.0
//
// Kernel UDP sockets: for a process without privileges, by the interface that has the station's
// address. The engines' frames lose their Ethernet, IPv4 and UDP headers here, which the kernel
// makes, and what is received gets headers back, as if it had come by Ethernet.
//
// Two sockets are bound to the station's IP address: one to its own port, and one to SESSION_PORT,
// or to another that stands for it.
// Neither is connected: answers come from several ports of the switch, and an ICMP error must not
// end a job.
//
// LANES. Several lanes of a station have one address and ports, and two sockets each, which share
// the ports (SO_REUSEPORT). The kernel gives a packet to one of them, as a card's rules do: the
// socket of a lane's own port is connected to the switch's port for the lane, from which the
// answers come; of those for sessions, a filter picks the lane that a message names. Nobody
// else can have these ports meanwhile. What a switch that was restarted asks a lane does not reach
// it: it comes from another port.
//
// MAC addresses mean nothing to a socket. Received frames have those of the frames sent: the
// station's as the receiver's and its peer's as the sender's.
//
// SEGMENTS. Datagrams of one length to one receiver go to the kernel as one message, and come as
// one where the kernel, a card or a switch has joined them (segments.h): a message costs little
// more than a datagram. The kernel joins and cuts only what has checksums of UDP, so frames have
// them although those of the engines say 0 (hosts/core/udp.h); switches do not look at them. Where
// the kernel or the interface does not cut (an interface without checksums, EIO), the socket
// sends datagrams one by one from then on, in bursts and without checksums: nothing is lost.
// sk_transport_stats says how many went and came joined. Kernels before 6.2 are not asked to: in
// them a packet socket with PACKET_VNET_HDR, as a switch's port may have at the other end of a
// veth pair, drops such a frame, which nobody would be told.
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/filter.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/address.h"
#include "hosts/core/udp.h"
#include "hosts/transport/segments.h"
#include "hosts/transport/transport.h"
#include "session/message.h"

#define SOCKET_BUFFER (4 << 20) // bytes each way, as far as the system allows
#define LOOK_EVERY    32        // receptions without a look at the other socket at most

// Places in a frame, and in a message about sessions (session/message.h).
#define SRC_PORT_AT (SK_UDP_BYTES - 8)
#define DST_PORT_AT (SK_UDP_BYTES - 6)
#define DST_IP_AT   (SK_UDP_BYTES - 12)
#define LANE_AT     32

// For a message and the headers of its first datagram. What comes joined has up to 64 KB; of a
// datagram only the first pages are ever touched. Rooms do not begin at the same place of a page.
#define UDP_ROOM (65536 + 4096 + 192)

enum { UDP_OWN, UDP_SESSION, UDP_SOCKETS };

struct udp_socket {
    int fd;
    uint16_t port;
    bool joins; // what is sent may be several datagrams
};

// Messages that the kernel gave at once; their datagrams are handed up one after the other.
struct udp_received {
    unsigned n, next;
    unsigned which; // socket
    struct sockaddr_in from[SK_BURST];
    struct sk_segments segments[SK_BURST];
    uint8_t room[SK_BURST][UDP_ROOM];
};

struct udp_transport {
    struct sk_transport base;
    struct udp_socket socket[UDP_SOCKETS];
    struct sk_endpoint self, peer; // 'peer' as of the last frame received: 'headers' are for it
    size_t payload;                // likewise
    bool known;                    // they are set
    uint8_t headers[SK_UDP_BYTES];
    unsigned looks; // receptions since the other socket was looked at
    unsigned first; // of the lent buffers
    uint8_t lent[SK_BURST][SK_MAX_FRAME];
    uint8_t cut[SK_BURST][SK_MAX_FRAME]; // frames handed up that were not the first of a message
    struct udp_received received;
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

static unsigned udp_socket_for(const struct udp_transport *u, const uint8_t *frame) {
    return udp_port_at(frame, SRC_PORT_AT) == u->socket[UDP_SESSION].port ? UDP_SESSION : UDP_OWN;
}

// What a burst is to the kernel: messages, each with some frames' payloads.
struct udp_burst {
    struct mmsghdr messages[SK_BURST];
    struct sockaddr_in to[SK_BURST];
    union sk_segments_control control[SK_BURST];
    struct iovec parts[SK_BURST];
    size_t frames[SK_BURST]; // of a message
    unsigned n;
};

// The next message: the first of the frames, from part 'at' on.
static void udp_add_message(struct udp_burst *b, bool joins, const struct sk_frame *frames,
                            size_t n, size_t at) {
    const unsigned i = b->n++;
    struct msghdr *m = &b->messages[i].msg_hdr;

    b->frames[i] = joins ? sk_segments_fit(frames, n) : 1;
    b->to[i] = (struct sockaddr_in){.sin_family = AF_INET};
    memcpy(&b->to[i].sin_addr, frames[0].data + DST_IP_AT, 4);
    memcpy(&b->to[i].sin_port, frames[0].data + DST_PORT_AT, 2);
    for (size_t k = 0; k < b->frames[i]; k++)
        b->parts[at + k] =
            (struct iovec){frames[k].data + SK_UDP_BYTES, sk_segments_payload(&frames[k])};
    *m = (struct msghdr){.msg_name = &b->to[i],
                         .msg_namelen = sizeof b->to[i],
                         .msg_iov = &b->parts[at],
                         .msg_iovlen = b->frames[i]};
    if (b->frames[i] > 1)
        sk_segments_put(m, &b->control[i], (uint16_t)b->parts[at].iov_len);
}

// Returns how many of the frames have gone; if that is not all, with errno.
static size_t udp_post_messages(struct udp_transport *u, const struct udp_socket *s,
                                const struct sk_frame *frames, size_t n, size_t *first) {
    struct udp_burst b;
    size_t made = 0, done = 0;
    int sent;

    b.n = 0;
    for (; made < n; made += b.frames[b.n - 1])
        udp_add_message(&b, s->joins, frames + made, n - made, made);
    *first = b.frames[0];
    sent = sendmmsg(s->fd, b.messages, b.n, MSG_DONTWAIT);
    for (int i = 0; i < sent; i++) {
        done += b.frames[i];
        u->base.stats.tx_joined += b.frames[i] > 1 ? b.frames[i] : 0;
    }
    return done;
}

static void udp_send_plain(struct udp_socket *s) {
    int on = 1;

    setsockopt(s->fd, SOL_SOCKET, SO_NO_CHECK, &on, sizeof on);
    s->joins = false;
}

// Whether the kernel says of a message that datagrams cannot go so.
static bool udp_cannot_join(int error) {
    return error == EIO || error == EINVAL || error == EMSGSIZE || error == EOPNOTSUPP ||
           error == ENOPROTOOPT;
}

// Sends 'n' frames of one socket. Returns how many have gone. An error that the kernel remembers of
// an earlier packet is told once, and taken away by that.
static size_t udp_post_run(struct udp_transport *u, struct udp_socket *s,
                           const struct sk_frame *frames, size_t n) {
    bool told = false;
    size_t done = 0;

    while (done < n) {
        size_t first, gone = udp_post_messages(u, s, frames + done, n - done, &first);
        done += gone;
        if (gone > 0 || (errno == ECONNREFUSED && !told)) // what is left is tried once more
            told = gone == 0;
        else if (first > 1 && udp_cannot_join(errno))
            udp_send_plain(s);
        else
            break;
    }
    return done;
}

// The lent buffers that are sent, in their order.
static void udp_gather(const struct udp_transport *u, const struct sk_frame *frames, size_t n,
                       struct sk_frame *out) {
    for (size_t i = 0; i < n; i++)
        out[i] = (struct sk_frame){(uint8_t *)u->lent[(u->first + i) % SK_BURST], frames[i].len};
}

static size_t udp_post(struct sk_transport *t, const struct sk_frame *frames, size_t n) {
    struct udp_transport *u = udp_of(t);
    struct sk_frame all[SK_BURST];
    size_t done = 0;

    udp_gather(u, frames, n, all);
    for (size_t run, gone; done < n; done += gone) {
        const unsigned which = udp_socket_for(u, all[done].data);
        memcpy(u->peer.mac, all[done].data, 6);
        memcpy(u->self.mac, all[done].data + 6, 6);
        for (run = 1; done + run < n && udp_socket_for(u, all[done + run].data) == which; run++) {
        }
        gone = udp_post_run(u, &u->socket[which], all + done, run);
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
        u->self.port != u->socket[which].port) {
        u->peer.ip = ip;
        u->peer.port = port;
        u->self.port = u->socket[which].port;
        u->payload = payload;
        u->known = true;
        sk_udp_init(u->headers, &u->peer, &u->self, payload);
    }
    memcpy(u->headers, u->self.mac, 6);
    memcpy(u->headers + 6, u->peer.mac, 6);
    memcpy(frame, u->headers, SK_UDP_BYTES);
}

// Takes what the socket has, up to 'n' messages, when all before was handed up.
static void udp_fetch(struct udp_transport *u, unsigned which, size_t n) {
    struct udp_received *r = &u->received;
    struct mmsghdr messages[SK_BURST];
    union sk_segments_control control[SK_BURST];
    struct iovec parts[SK_BURST];
    int got;

    memset(control, 0, sizeof control);
    for (size_t i = 0; i < n; i++) {
        parts[i] = (struct iovec){r->room[i] + SK_UDP_BYTES, UDP_ROOM - SK_UDP_BYTES};
        messages[i] = (struct mmsghdr){.msg_hdr = {.msg_name = &r->from[i],
                                                   .msg_namelen = sizeof r->from[i],
                                                   .msg_iov = &parts[i],
                                                   .msg_iovlen = 1,
                                                   .msg_control = control[i].room,
                                                   .msg_controllen = sizeof control[i].room}};
    }
    got = recvmmsg(u->socket[which].fd, messages, (unsigned)n, MSG_DONTWAIT, NULL);
    r->n = got > 0 ? (unsigned)got : 0;
    r->next = 0;
    r->which = which;
    for (unsigned i = 0; i < r->n; i++)
        if (!sk_segments_received(&r->segments[i], &messages[i].msg_hdr, messages[i].msg_len)) {
            r->segments[i].more = false;
            u->base.stats.rx_dropped++;
        }
}

// Hands up to 'n' datagrams up. The first of a message stays where it is; others are copied, since
// headers are put before them.
static size_t udp_hand_up(struct udp_transport *u, struct sk_frame *frames, size_t n) {
    struct udp_received *r = &u->received;
    size_t got = 0;

    while (r->next < r->n && got < n) {
        struct sk_segments *s = &r->segments[r->next];
        uint8_t *frame = r->room[r->next];
        uint32_t at, bytes;
        if (!sk_segments_next(s, &at, &bytes)) {
            r->next++;
            continue;
        }
        if (bytes > SK_MAX_FRAME - SK_UDP_BYTES) {
            u->base.stats.rx_dropped++;
            continue;
        }
        if (at > 0)
            frame = memcpy(u->cut[got], frame + at, SK_UDP_BYTES + bytes);
        u->base.stats.rx_joined += s->size < s->length;
        udp_put_headers(u, frame, r->which, &r->from[r->next], bytes);
        frames[got++] = (struct sk_frame){frame, SK_UDP_BYTES + bytes};
    }
    return got;
}

static size_t udp_receive(struct udp_transport *u, unsigned which, struct sk_frame *frames,
                          size_t n) {
    udp_fetch(u, which, n);
    return udp_hand_up(u, frames, n);
}

static size_t udp_recv(struct sk_transport *t, struct sk_frame *frames, size_t n) {
    struct udp_transport *u = udp_of(t);
    size_t got = udp_hand_up(u, frames, n); // of what was fetched before

    if (got > 0)
        return got;
    got = u->looks++ < LOOK_EVERY ? udp_receive(u, UDP_OWN, frames, n) : 0;
    if (got == 0) {
        u->looks = 0;
        got = udp_receive(u, UDP_SESSION, frames, n);
    }
    return got ? got : udp_receive(u, UDP_OWN, frames, n);
}

static void udp_wait(struct sk_transport *t, uint64_t timeout) {
    struct udp_transport *u = udp_of(t);
    struct pollfd fds[UDP_SOCKETS] = {{.fd = u->socket[UDP_OWN].fd, .events = POLLIN},
                                      {.fd = u->socket[UDP_SESSION].fd, .events = POLLIN}};
    struct timespec span = {(time_t)(timeout / 1000000000u), (long)(timeout % 1000000000u)};

    if (u->received.next == u->received.n) // else there is something already
        ppoll(fds, UDP_SOCKETS, &span, NULL);
}

// ---- opening and closing ---------------------------------------------------------------------

static void udp_close(struct sk_transport *t) {
    struct udp_transport *u = udp_of(t);

    for (unsigned i = 0; i < UDP_SOCKETS; i++)
        if (u->socket[i].fd >= 0)
            close(u->socket[i].fd);
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

static int udp_fail(int fd) {
    const int saved = errno;

    close(fd);
    errno = saved;
    return -1;
}

// A socket bound to an address and port, or -1 with errno.
static int udp_bound_socket(const struct sk_transport_station *station, uint16_t port) {
    const uint32_t ip = station->self.ip;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(ip)};
    int on = 1, size = SOCKET_BUFFER, whole = IP_PMTUDISC_DO;
    uint32_t interface = htonl(udp_interface(ip));
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &whole, sizeof whole);
    setsockopt(fd, IPPROTO_IP, IP_UNICAST_IF, &interface, sizeof interface);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    // the first lane sees that nobody has the port before it shares it
    if ((station->lane > 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) < 0) ||
        bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
        (station->lanes > 1 && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) < 0))
        return udp_fail(fd);
    return fd;
}

static bool udp_kernel_is_new(void) {
    struct utsname u;
    unsigned major, minor;

    return uname(&u) == 0 && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
           (major > 6 || (major == 6 && minor >= 2));
}

// Datagrams are sent as segments if the kernel can do that, and received so in any case.
static void udp_try_segments(struct udp_socket *s, bool single) {
    int on = 1, later = 0; // each message says their length

    s->joins = !single && udp_kernel_is_new() &&
               setsockopt(s->fd, IPPROTO_UDP, SK_UDP_SEGMENT, &later, sizeof later) == 0;
    if (!s->joins)
        udp_send_plain(s);
    setsockopt(s->fd, IPPROTO_UDP, SK_UDP_GRO, &on, sizeof on);
}

// The sockets of a port, two at least, take packets by the number in this byte of a payload: that
// of the socket in the order in which they were bound. Packets without such a number are anybody's.
static bool udp_pick_by_byte(int fd, unsigned at) {
    struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_B | BPF_ABS, at),
                                 BPF_STMT(BPF_RET | BPF_A, 0)};
    const struct sock_fprog program = {sizeof code / sizeof *code, code};

    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof program) == 0;
}

static bool udp_connect_to(int fd, const struct sk_endpoint *peer) {
    const struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(peer->port), .sin_addr.s_addr = htonl(peer->ip)};

    return connect(fd, (const struct sockaddr *)&to, sizeof to) == 0;
}

static void udp_say_bind(char *why, size_t why_cap, uint32_t ip, uint16_t port) {
    const char *hint = errno == EADDRINUSE
                           ? ": each worker of a host needs an IP address of its own"
                       : errno == EADDRNOTAVAIL ? ": it is not an address of this host"
                                                : "";

    snprintf(why, why_cap, "udp:%u.%u.%u.%u: UDP port %u cannot be used: %s%s", ip >> 24,
             ip >> 16 & 255, ip >> 8 & 255, ip & 255, port, strerror(errno), hint);
}

static uint16_t udp_kernel_port(const struct sk_transport_station *station, unsigned which) {
    const uint16_t session = station->session_port ? station->session_port : SESSION_PORT;

    return which == UDP_SESSION ? session : station->self.port;
}

static bool udp_open_socket(struct udp_transport *u, unsigned which,
                            const struct sk_transport_station *station) {
    struct udp_socket *s = &u->socket[which];

    s->fd = udp_bound_socket(station, udp_kernel_port(station, which));
    if (s->fd < 0)
        return false;
    if (which == UDP_SESSION) {
        udp_send_plain(s);
        return station->lane == 0 || udp_pick_by_byte(s->fd, LANE_AT);
    }
    udp_try_segments(s, station->single);
    return station->lanes < 2 || udp_connect_to(s->fd, &station->peer);
}

static int udp_open(struct sk_transport **t, const struct sk_transport_station *station, char *why,
                    size_t why_cap) {
    struct udp_transport *u = calloc(1, sizeof *u);

    if (!u) {
        snprintf(why, why_cap, "out of memory");
        return SILKEN_ERR_NOMEM;
    }
    u->base.ops = &udp_ops;
    u->self = station->self;
    u->socket[UDP_OWN] = (struct udp_socket){.fd = -1, .port = station->self.port};
    u->socket[UDP_SESSION] = (struct udp_socket){.fd = -1, .port = SESSION_PORT};
    for (unsigned i = 0; i < UDP_SOCKETS; i++)
        if (!udp_open_socket(u, i, station)) {
            udp_say_bind(why, why_cap, station->self.ip, udp_kernel_port(station, i));
            udp_close(&u->base);
            return SILKEN_ERR_TRANSPORT;
        }
    *t = &u->base;
    return 0;
}

int sk_transport_udp_open(struct sk_transport **t, const char *ip,
                          const struct sk_transport_station *given, char *why, size_t why_cap) {
    struct sk_transport_station station = {.lanes = 0};

    if (given)
        station = *given;
    if (*ip && !sk_ip_parse(ip, &station.self.ip)) {
        snprintf(why, why_cap, "udp:%s: expected udp: or udp:IP-ADDRESS", ip);
        return SILKEN_ERR_INVALID;
    }
    if (station.self.ip == 0 || station.self.port == 0) {
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

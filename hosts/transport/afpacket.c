// SPDX-License-Identifier: Apache-2.0
//
// A network interface through a raw packet socket: sendmmsg and recvmmsg on bursts, ppoll to wait.
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hosts/transport/transport.h"

#define SOCKET_BUFFER (4 << 20) // bytes each way, as far as the system allows

struct afpacket {
    struct sk_transport base;
    int fd;
    unsigned first; // of the lent buffers
    uint8_t lent[SK_BURST][SK_MAX_FRAME];
    uint8_t received[SK_BURST][SK_MAX_FRAME];
};

static struct afpacket *afpacket_of(struct sk_transport *t) {
    return (struct afpacket *)t;
}

static size_t afpacket_lend(struct sk_transport *t, struct sk_frame *frames, size_t n) {
    struct afpacket *a = afpacket_of(t);

    for (size_t i = 0; i < n; i++)
        frames[i] = (struct sk_frame){a->lent[(a->first + i) % SK_BURST], 0};
    return n;
}

static size_t afpacket_post(struct sk_transport *t, const struct sk_frame *frames, size_t n) {
    struct afpacket *a = afpacket_of(t);
    struct mmsghdr messages[SK_BURST];
    struct iovec parts[SK_BURST];
    int sent;

    memset(messages, 0, n * sizeof messages[0]);
    for (size_t i = 0; i < n; i++) {
        parts[i] = (struct iovec){frames[i].data, frames[i].len};
        messages[i].msg_hdr.msg_iov = &parts[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    sent = sendmmsg(a->fd, messages, (unsigned)n, MSG_DONTWAIT);
    if (sent <= 0)
        return 0;
    a->first = (a->first + (unsigned)sent) % SK_BURST;
    return (size_t)sent;
}

static size_t afpacket_recv(struct sk_transport *t, struct sk_frame *frames, size_t n) {
    struct afpacket *a = afpacket_of(t);
    struct mmsghdr messages[SK_BURST];
    struct iovec parts[SK_BURST];
    size_t got = 0;
    int received;

    memset(messages, 0, sizeof messages);
    for (size_t i = 0; i < n; i++) {
        parts[i] = (struct iovec){a->received[i], SK_MAX_FRAME};
        messages[i].msg_hdr.msg_iov = &parts[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    received = recvmmsg(a->fd, messages, (unsigned)n, MSG_DONTWAIT, NULL);
    for (int i = 0; i < received; i++)
        if (messages[i].msg_hdr.msg_flags & MSG_TRUNC)
            t->stats.rx_dropped++;
        else
            frames[got++] = (struct sk_frame){a->received[i], messages[i].msg_len};
    return got;
}

static void afpacket_wait(struct sk_transport *t, uint64_t timeout) {
    struct pollfd fd = {.fd = afpacket_of(t)->fd, .events = POLLIN};
    struct timespec span = {(time_t)(timeout / 1000000000u), (long)(timeout % 1000000000u)};

    ppoll(&fd, 1, &span, NULL);
}

static void afpacket_close(struct sk_transport *t) {
    close(afpacket_of(t)->fd);
    free(t);
}

static const struct sk_transport_ops afpacket_ops = {
    .name = "afpacket",
    .lend = afpacket_lend,
    .post = afpacket_post,
    .recv = afpacket_recv,
    .wait = afpacket_wait,
    .close = afpacket_close,
};

// A socket bound to an interface, or -1 with errno.
static int bound_socket(unsigned interface) {
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET,
        .sll_protocol = htons(ETH_P_IP),
        .sll_ifindex = (int)interface,
    };
    int on = 1, size = SOCKET_BUFFER;
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
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

int sk_transport_afpacket_open(struct sk_transport **t, const char *name, char *why,
                               size_t why_cap) {
    unsigned interface = if_nametoindex(name);
    struct afpacket *a;

    if (interface == 0) {
        snprintf(why, why_cap, "%s: there is no network interface with this name", name);
        return SILKEN_ERR_TRANSPORT;
    }
    a = calloc(1, sizeof *a);
    if (!a) {
        snprintf(why, why_cap, "out of memory");
        return SILKEN_ERR_NOMEM;
    }
    a->base.ops = &afpacket_ops;
    a->fd = bound_socket(interface);
    if (a->fd < 0) {
        snprintf(why, why_cap, "%s: packet socket: %s%s", name, strerror(errno),
                 errno == EPERM ? " (CAP_NET_RAW is needed)" : "");
        free(a);
        return SILKEN_ERR_TRANSPORT;
    }
    *t = &a->base;
    return 0;
}

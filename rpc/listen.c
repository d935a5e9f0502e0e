// SPDX-License-Identifier: Apache-2.0
//
// listen: sockets that listen, and who connects to them.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/address.h"
#include "base/memory.h"
#include "rpc/rpc_impl.h"

#define BACKLOG 64
#define UNIX    "unix:"

// A socket file without a listener is what a process leaves that was killed.
static int listen_remove_dead(const struct sockaddr_un *a, struct sk_error *err) {
    struct stat st;
    if (lstat(a->sun_path, &st))
        return 0;
    if (!S_ISSOCK(st.st_mode))
        return sk_fail(err, "%s exists already and is not a socket", a->sun_path);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int rc = connect(fd, (const struct sockaddr *)a, sizeof *a), error = errno;
    if (fd >= 0)
        close(fd);
    if (rc == 0 || error != ECONNREFUSED)
        return sk_fail(err, "socket %s %s", a->sun_path,
                       rc == 0 || error == EAGAIN ? "is in use by another process"
                                                  : strerror(error));
    if (unlink(a->sun_path) && errno != ENOENT)
        return sk_fail(err, "cannot remove %s: %s", a->sun_path, strerror(errno));
    return 0;
}

static int listen_unix(const char *path, struct sk_error *err) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    const size_t n = strlen(path);
    if (n == 0 || n >= sizeof a.sun_path)
        return sk_fail(err, "the path of a socket has 1 to %zu characters, not %zu",
                       sizeof a.sun_path - 1, n);
    memcpy(a.sun_path, path, n + 1);
    if (listen_remove_dead(&a, err))
        return -1;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const mode_t mask = umask(0177); // nobody else, from the first moment
    const int rc = fd < 0 ? -1 : bind(fd, (const struct sockaddr *)&a, sizeof a);
    umask(mask);
    if (rc == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    sk_fail(err, "cannot make socket %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static int listen_tcp(const char *address, struct sk_error *err) {
    struct sockaddr_storage a;
    const int on = 1;
    if (!sk_socket_address(address, &a))
        return sk_fail(err,
                       "'%s' is not an address to listen on: write IPV4:PORT, [IPV6]:PORT or "
                       "unix:PATH",
                       address);
    const socklen_t size =
        a.ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    const int fd = socket(a.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&a, size) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    sk_fail(err, "cannot listen on %s: %s", address, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

int rpc_listen(const char *address, char **path, struct sk_error *err) {
    const size_t n = sizeof UNIX - 1;
    *path = NULL;
    if (!address || strncmp(address, UNIX, n) != 0)
        return listen_tcp(address ? address : "", err);
    const int fd = listen_unix(address + n, err);
    if (fd >= 0)
        *path = sk_copy_text(address + n);
    return fd;
}

uint16_t rpc_listen_port(int fd) {
    struct sockaddr_storage a = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof a;
    if (getsockname(fd, (struct sockaddr *)&a, &size))
        return 0;
    if (a.ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)&a)->sin6_port);
    return a.ss_family == AF_INET ? ntohs(((const struct sockaddr_in *)&a)->sin_port) : 0;
}

static void listen_peer(const struct sockaddr_storage *a, char peer[RPC_PEER]) {
    char ip[INET6_ADDRSTRLEN];
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)a;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)a;
    if (a->ss_family == AF_INET && inet_ntop(AF_INET, &v4->sin_addr, ip, sizeof ip))
        snprintf(peer, RPC_PEER, "%s:%u", ip, ntohs(v4->sin_port));
    else if (a->ss_family == AF_INET6 && inet_ntop(AF_INET6, &v6->sin6_addr, ip, sizeof ip))
        snprintf(peer, RPC_PEER, "[%s]:%u", ip, ntohs(v6->sin6_port));
    else
        snprintf(peer, RPC_PEER, "unix");
}

// A host that is gone without a word is found out by TCP.
static void listen_watch(int fd) {
    const int on = 1, idle = 30, interval = 10, probes = 3;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int rpc_accept(int fd, char peer[RPC_PEER]) {
    struct sockaddr_storage from = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof from;
    const int came = accept4(fd, (struct sockaddr *)&from, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (came < 0)
        return -1;
    listen_peer(&from, peer);
    if (from.ss_family == AF_INET || from.ss_family == AF_INET6)
        listen_watch(came);
    return came;
}

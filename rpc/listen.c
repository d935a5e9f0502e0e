// SPDX-License-Identifier: Apache-2.0
//
// listen: the listening socket, and new connections with the names of their peers.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/address.h"
#include "base/memory.h"
#include "base/socket.h"
#include "rpc/rpc_impl.h"

#define BACKLOG    64
#define UNIX       "unix:"
#define IDLE_S     30 // of silence, before TCP probes the client's host
#define INTERVAL_S 10
#define PROBES     3

static int listen_tcp(const char *address, struct sk_error *err) {
    struct sockaddr_storage a;
    if (!sk_socket_address(address, &a))
        return sk_fail(err,
                       "'%s' is not an address to listen on; use IPV4:PORT, [IPV6]:PORT or "
                       "unix:PATH",
                       address);
    const int fd = sk_listen(&a, BACKLOG);
    return fd < 0 ? sk_fail(err, "cannot listen on %s: %s", address, strerror(errno)) : fd;
}

int rpc_listen(const char *address, struct sk_socket_file *file, struct sk_error *err) {
    static const struct sk_socket_kind kind = {"socket", "process"};
    const size_t n = sizeof UNIX - 1;
    file->path[0] = '\0';
    if (!address || strncmp(address, UNIX, n) != 0)
        return listen_tcp(address ? address : "", err);
    return sk_listen_unix(address + n, &kind, BACKLOG, file, err);
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

int rpc_accept(int fd, char peer[RPC_PEER]) {
    struct sockaddr_storage from = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof from;
    const int came = accept4(fd, (struct sockaddr *)&from, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (came < 0)
        return -1;
    listen_peer(&from, peer);
    if (from.ss_family == AF_INET || from.ss_family == AF_INET6)
        sk_socket_watch(came, IDLE_S, INTERVAL_S, PROBES);
    return came;
}

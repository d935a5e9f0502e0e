// SPDX-License-Identifier: Apache-2.0
//
// socket.h: sockets of streams that listen. All are closed by exec and never block. Any thread
// may call these functions, but see sk_listen_unix().
#ifndef SILKEN_BASE_SOCKET_H
#define SILKEN_BASE_SOCKET_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "base/error.h"

// Listens on an IPv4 or IPv6 address. Returns the caller's descriptor, or -1 with errno.
int sk_listen(const struct sockaddr_storage *address, int backlog);
// The TCP port that a descriptor listens on, in host order; 0 if it has none.
uint16_t sk_listen_port(int fd);

// Whose socket a file is, for messages: "control socket", "switch".
struct sk_socket_kind {
    const char *name, *owner;
};
// The address of a socket's file. 0, or -1 with a sentence if the path is empty or too long.
int sk_unix_address(const char *path, const struct sk_socket_kind *kind, struct sockaddr_un *out,
                    struct sk_error *err);
// Removes the file of a socket that no process has any more: one that was killed leaves it. 0, also
// when there is none, or -1 with a sentence: a process has it, or it is not a socket.
int sk_unix_remove_stale(const struct sockaddr_un *a, const struct sk_socket_kind *kind,
                         struct sk_error *err);
// The file of a socket that listens.
struct sk_socket_file {
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
    dev_t device;
    ino_t inode;
};
// Makes a socket's file of mode 0600 and listens on it, where sk_unix_remove_stale() leaves
// room. Returns a descriptor and the file, both for sk_unlisten_unix(), or -1 with a sentence.
// Changes the process's umask for a moment, so other threads must not make files meanwhile.
int sk_listen_unix(const char *path, const struct sk_socket_kind *kind, int backlog,
                   struct sk_socket_file *file, struct sk_error *err);
// Ends that. The file goes first, unless another one has its name by now.
void sk_unlisten_unix(int fd, const struct sk_socket_file *file);

// Lets TCP find out that a peer's host is gone: after 'idle_s' seconds of silence it sends 'probes'
// every 'interval_s' seconds. Small writes are sent at once.
void sk_socket_watch(int fd, int idle_s, int interval_s, int probes);

#endif

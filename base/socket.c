// SPDX-License-Identifier: Apache-2.0
#include "base/socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Keeps errno. Returns -1.
static int socket_give_up(int fd) {
    const int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return -1;
}

int sk_listen(const struct sockaddr_storage *address, int backlog) {
    const socklen_t size =
        address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    const int on = 1, fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                                  IPPROTO_TCP);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)address, size) == 0 &&
        listen(fd, backlog) == 0)
        return fd;
    return socket_give_up(fd);
}

uint16_t sk_listen_port(int fd) {
    struct sockaddr_storage a = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof a;
    if (getsockname(fd, (struct sockaddr *)&a, &size))
        return 0;
    if (a.ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)&a)->sin6_port);
    return a.ss_family == AF_INET ? ntohs(((const struct sockaddr_in *)&a)->sin_port) : 0;
}

int sk_unix_address(const char *path, const struct sk_socket_kind *kind, struct sockaddr_un *out,
                    struct sk_error *err) {
    const size_t n = strlen(path);
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (n == 0 || n >= sizeof out->sun_path)
        return sk_fail(err, "the path of a %s has 1 to %zu characters, not %zu", kind->name,
                       sizeof out->sun_path - 1, n);
    memcpy(out->sun_path, path, n + 1);
    return 0;
}

int sk_unix_remove_stale(const struct sockaddr_un *a, const struct sk_socket_kind *kind,
                         struct sk_error *err) {
    struct stat st;
    if (lstat(a->sun_path, &st))
        return 0;
    if (!S_ISSOCK(st.st_mode))
        return sk_fail(err, "%s exists already and is not a socket", a->sun_path);
    // of another type, so that a process that listens does not hear of it
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int rc = connect(fd, (const struct sockaddr *)a, sizeof *a), why = errno;
    if (fd >= 0)
        close(fd);
    if (rc == 0 || why == EPROTOTYPE)
        return sk_fail(err, "%s %s is in use by another %s", kind->name, a->sun_path, kind->owner);
    if (why != ECONNREFUSED)
        return sk_fail(err, "%s %s %s", kind->name, a->sun_path, strerror(why));
    if (unlink(a->sun_path) && errno != ENOENT)
        return sk_fail(err, "cannot remove %s: %s", a->sun_path, strerror(errno));
    return 0;
}

int sk_listen_unix(const char *path, const struct sk_socket_kind *kind, int backlog,
                   struct sk_socket_file *file, struct sk_error *err) {
    struct sockaddr_un a;
    struct stat st;
    if (sk_unix_address(path, kind, &a, err) || sk_unix_remove_stale(&a, kind, err))
        return -1;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const mode_t mask = umask(0177); // nobody else, from the first moment
    const int rc = fd < 0 ? -1 : bind(fd, (const struct sockaddr *)&a, sizeof a);
    umask(mask);
    if (rc == 0 && listen(fd, backlog) == 0 && lstat(path, &st) == 0) {
        *file = (struct sk_socket_file){.device = st.st_dev, .inode = st.st_ino};
        memcpy(file->path, a.sun_path, sizeof file->path);
        return fd;
    }
    sk_fail(err, "cannot make %s %s: %s", kind->name, path, strerror(errno));
    return socket_give_up(fd);
}

void sk_unlisten_unix(int fd, const struct sk_socket_file *file) {
    struct stat st;
    if (lstat(file->path, &st) == 0 && st.st_dev == file->device && st.st_ino == file->inode)
        unlink(file->path);
    close(fd);
}

void sk_socket_watch(int fd, int idle_s, int interval_s, int probes) {
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

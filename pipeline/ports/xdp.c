// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ports/xdp.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_FDS 1024

// 0: it is none.
static ino_t inode_of(int fd) {
    int family = 0;
    socklen_t size = sizeof family;
    struct stat st;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) || family != AF_XDP || fstat(fd, &st))
        return 0;
    return st.st_ino;
}

static bool ports_xdp_has(const struct ports_xdp *x, ino_t inode) {
    for (size_t i = 0; x && i < x->n; i++)
        if (x->list[i].inode == inode)
            return true;
    return false;
}

void ports_xdp_find(struct ports_xdp *x, const struct ports_xdp *but) {
    x->n = 0;
    for (int fd = 0; fd < MOST_FDS && x->n < PORTS_XDP_SOCKETS; fd++) {
        const ino_t inode = inode_of(fd);
        if (inode == 0 || ports_xdp_has(but, inode))
            continue;
        x->list[x->n].fd = fd;
        x->list[x->n++].inode = inode;
    }
}

// Its rings: a mapping keeps the socket.
static void unmap(ino_t inode) {
    char line[512], name[64];
    FILE *f = fopen("/proc/self/maps", "re");
    snprintf(name, sizeof name, "socket:[%" PRIuMAX "]\n", (uintmax_t)inode);
    while (f && fgets(line, sizeof line, f)) {
        uintptr_t from, to;
        if (strstr(line, name) && sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &from, &to) == 2)
            munmap((void *)from, to - from);
    }
    if (f)
        fclose(f);
}

void ports_xdp_close(struct ports_xdp *x) {
    for (size_t i = 0; i < x->n; i++) {
        if (inode_of(x->list[i].fd) != x->list[i].inode)
            continue;
        unmap(x->list[i].inode);
        close(x->list[i].fd);
    }
    x->n = 0;
}

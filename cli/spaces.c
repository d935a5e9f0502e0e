// SPDX-License-Identifier: Apache-2.0
#include "cli/spaces.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int here(void) {
    return open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
}

// A new one; -1 with errno.
static int spaces_make_one(const struct spaces *s) {
    if (unshare(CLONE_NEWNET)) {
        return -1;
    }
    const int fd = here();
    if (setns(s->own, CLONE_NEWNET)) {
        abort(); // it was this process's, and is held
    }
    return fd;
}

static void spaces_go(const struct spaces *s, int space) {
    if (s->used && setns(space, CLONE_NEWNET)) {
        abort(); // it was made, and is held
    }
}

void spaces_enter(const struct spaces *s, unsigned number) {
    spaces_go(s, s->space[number]);
}

void spaces_leave(const struct spaces *s) {
    spaces_go(s, s->own);
}

int spaces_join(const struct spaces *s, unsigned one, const char *its, unsigned other,
                const char *others, char *error, size_t error_size) {
    char command[512], self[32] = "";

    // this process by the number that it has in /proc, which may be of another PID namespace
    if (readlink("/proc/self", self, sizeof self - 1) < 0) {
        snprintf(error, error_size, "/proc is not there");
        return -1;
    }
    snprintf(command, sizeof command,
             "ip link add name %s type veth peer name %s netns /proc/%s/fd/%d && "
             "ip link set dev %s up",
             its, others, self, s->space[other], its);
    spaces_enter(s, one);
    bool good = system(command) == 0; // names and numbers of ours
    snprintf(command, sizeof command, "ip link set dev %s up", others);
    spaces_enter(s, other);
    good = good && system(command) == 0;
    spaces_leave(s);
    if (!good) {
        snprintf(error, error_size, "cannot make the links between the namespaces (ip link)");
    }
    return good ? 0 : -1;
}

int spaces_make(struct spaces *s, unsigned count, char *error, size_t error_size) {
    bool good = (s->own = here()) >= 0;

    s->used = true;
    while (good && s->count < count) {
        const int fd = spaces_make_one(s);
        good = fd >= 0;
        if (good) {
            s->space[s->count++] = fd;
        }
    }
    if (!good) {
        snprintf(error, error_size, "cannot make a network namespace: %s%s", strerror(errno),
                 errno == EPERM ? "; it needs root" : "");
    }
    return good ? 0 : -1;
}

void spaces_close(struct spaces *s) {
    if (!s->used) {
        return;
    }
    while (s->count > 0) {
        close(s->space[--s->count]);
    }
    if (s->own >= 0) {
        close(s->own);
    }
    s->used = false;
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/spaces.h"

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
    return setns(s->own, CLONE_NEWNET) ? -1 : fd;
}

void spaces_enter(const struct spaces *s, int space) {
    if (s->used && setns(space, CLONE_NEWNET)) {
        abort(); // it was made, and is held
    }
}

void spaces_leave(const struct spaces *s) {
    spaces_enter(s, s->own);
}

// A veth pair, each end up in its namespace.
static bool spaces_join(const struct spaces *s, int one, const char *a, int other, const char *b) {
    char command[512];

    snprintf(command, sizeof command,
             "ip link add %s type veth peer name %s netns /proc/%d/fd/%d && "
             "ip link set %s up",
             a, b, (int)getpid(), other, a);
    spaces_enter(s, one);
    bool good = system(command) == 0; // names and numbers of ours
    snprintf(command, sizeof command, "ip link set %s up", b);
    spaces_enter(s, other);
    good = good && system(command) == 0;
    spaces_leave(s);
    return good;
}

static bool join_all(const struct spaces *s, const struct fabric *f, const int *station) {
    for (unsigned link = 0; link < fabric_links(f); link++) {
        const struct fabric_address a = fabric_address(f, link);
        const unsigned number = link / f->lanes;
        if (!spaces_join(s, s->rack[a.rack], a.switch_end, station[number], a.station_end)) {
            return false;
        }
    }
    return true;
}

static bool join_racks(const struct spaces *s, unsigned racks) {
    for (unsigned rack = 0; rack + 1 < racks; rack++) {
        char name[16];
        fabric_uplink_end(rack, name);
        if (!spaces_join(s, s->rack[racks - 1], name, s->rack[rack], name)) {
            return false;
        }
    }
    return true;
}

int spaces_make(struct spaces *s, const struct fabric *const *f, unsigned jobs, char *error,
                size_t error_size) {
    bool good = (s->own = here()) >= 0;

    s->used = true;
    for (unsigned rack = 0; good && rack < f[0]->racks; rack++) {
        good = (s->rack[rack] = spaces_make_one(s)) >= 0;
    }
    for (unsigned j = 0; j < jobs; j++) {
        for (unsigned i = 0; good && i < f[j]->workers + f[j]->servers; i++) {
            good = (s->station[j][i] = spaces_make_one(s)) >= 0;
        }
    }
    if (!good) {
        snprintf(error, error_size, "cannot make a network namespace: %s%s", strerror(errno),
                 errno == EPERM ? "; --links veth needs root" : "");
        return -1;
    }
    for (unsigned j = 0; good && j < jobs; j++) {
        good = join_all(s, f[j], s->station[j]);
    }
    if (!good || !join_racks(s, f[0]->racks)) {
        snprintf(error, error_size, "cannot make the links between the namespaces (ip link)");
        return -1;
    }
    return 0;
}

void spaces_close(struct spaces *s) {
    if (!s->used) {
        return;
    }
    for (unsigned i = 0; i < DEMO_MAX_RACKS; i++) {
        if (s->rack[i] > 0) {
            close(s->rack[i]);
        }
    }
    for (unsigned i = 0; i < 2 * SPACES_STATIONS; i++) {
        const int fd = s->station[i / SPACES_STATIONS][i % SPACES_STATIONS];
        if (fd > 0) {
            close(fd);
        }
    }
    close(s->own);
}

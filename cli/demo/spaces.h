// SPDX-License-Identifier: Apache-2.0
//
// spaces: network namespaces for the demo (--links veth): one for each switch, worker and parameter
// server, joined by veth pairs as the fabric's links are by memif. They have no names: the demo
// holds them by descriptors, its processes are started inside of them, and the kernel takes them
// away, links and all, when the last of these has ended, however it ended.
//
// Needs root. One thread.
#ifndef SILKEN_CLI_DEMO_SPACES_H
#define SILKEN_CLI_DEMO_SPACES_H

#include "cli/demo/fabric.h"
#include "cli/demo/options.h"

#define SPACES_STATIONS (DEMO_MAX_WORKERS + DEMO_MAX_SERVERS)
struct spaces {
    bool used;                                                  // else all of this does nothing
    int own, rack[DEMO_MAX_RACKS], station[2][SPACES_STATIONS]; // of each job
};

// Makes those of 'jobs' fabrics and the links between them. Returns 0, or -1 with a sentence in
// 'error'.
int spaces_make(struct spaces *s, const struct fabric *const *f, unsigned jobs, char *error,
                size_t error_size);
// What is started between the two is inside of that namespace.
void spaces_enter(const struct spaces *s, int space);
void spaces_leave(const struct spaces *s);
void spaces_close(struct spaces *s);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// spaces: network namespaces by number, joined by veth pairs: of the demo (--links veth) one for
// each switch, worker and parameter server, of a lab one for each station. They have no names:
// who makes them holds them by descriptors, processes are started inside of them, and the kernel
// takes them away, links and all, when the last of these has ended, however it ended.
//
//     spaces_make(&s, 3, ...); spaces_join(&s, 0, "port1", 1, "link1", ...); ...
//     spaces_enter(&s, 1); (start a process) spaces_leave(&s); ... spaces_close(&s);
//
// Needs root, or to be in a user namespace of one's own. One thread. A struct of zeros is of a demo
// without namespaces: entering, leaving and closing it does nothing.
#ifndef SILKEN_CLI_SPACES_H
#define SILKEN_CLI_SPACES_H

#include <stdbool.h>
#include <stddef.h>

#define SPACES_MAX 512
struct spaces {
    bool used;
    int own;
    unsigned count;
    int space[SPACES_MAX]; // descriptors
};

// Makes 'count' of them, at most SPACES_MAX. Returns 0, or -1 with a sentence in 'error'.
int spaces_make(struct spaces *s, unsigned count, char *error, size_t error_size);
// A veth pair between two of them, both ends up. Interfaces' names are words of ours, at most 15
// characters. Returns 0, or -1 with a sentence in 'error'.
int spaces_join(const struct spaces *s, unsigned one, const char *its, unsigned other,
                const char *others, char *error, size_t error_size);
// What is started between the two is inside of that namespace.
void spaces_enter(const struct spaces *s, unsigned number);
void spaces_leave(const struct spaces *s);
void spaces_close(struct spaces *s);

#endif

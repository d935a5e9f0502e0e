// SPDX-License-Identifier: Apache-2.0
//
// program.h: a P4 program of the tree, compiled and loaded, and entries in its tables, for tests
// that put hosts around it. Failures end the process: nothing can be tested then.
#ifndef SILKEN_HARNESS_NET_PROGRAM_H
#define SILKEN_HARNESS_NET_PROGRAM_H

#include <inttypes.h>
#include <stdio.h>

#include "pipeline/switch/switch.h"

_Noreturn void net_die(const char *what, const char *why);

struct sk_program *net_program(const char *path);

// Another build of it than the fast one.
enum net_build { NET_FAST, NET_CHECKED, NET_SCALAR, NET_BUILDS };
struct sk_program *net_program_built(const char *path, enum net_build build);

// A switch with it, and buffers for small frames.
struct sk_switch *
net_switch(const struct sk_program *program,
           bool (*tx)(void *aux, uint16_t port, const uint8_t *frame, uint32_t length), void *aux);

// Adds an entry; keys and args are "name", "value", ..., NULL.
void net_entry(struct sk_switch *sw, const char *table, const char *const *keys, const char *action,
               const char *const *args);

#define NET_NUMBER(buffer, value)                                                                  \
    (snprintf(buffer, sizeof(buffer), "%" PRIu64, (uint64_t)(value)), buffer)

#endif

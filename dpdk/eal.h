// SPDX-License-Identifier: Apache-2.0
//
// eal: starting DPDK in this process.
//
//     struct eal_arguments *a = eal_arguments();
//     eal_add(a, "--no-huge");
//     eal_add_cores(a, -1);
//     if (!eal_start(a)) ...   // rte_errno says why
//
// One thread calls these, once: DPDK cannot be started twice in a process, and keeps the text of
// its arguments.
//
// The room: code for every process that uses DPDK, a switch or a host:
//
//     eal.c     the arguments of DPDK, and starting it once
//     fanout.c  what the af_packet driver asks of the kernel, corrected
#ifndef SILKEN_DPDK_EAL_H
#define SILKEN_DPDK_EAL_H

#include <stdbool.h>

struct eal_arguments;

// None yet but the program's name. What was added before is forgotten.
struct eal_arguments *eal_arguments(void);
void eal_add(struct eal_arguments *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// One logical core, on 'cpu' or, when that is negative, floating over the processors this process
// may use.
void eal_add_cores(struct eal_arguments *a, int cpu);
// Threads that DPDK starts are not interrupted by SIGINT, SIGTERM and SIGHUP: these are for the
// main thread.
bool eal_start(struct eal_arguments *a);

#endif

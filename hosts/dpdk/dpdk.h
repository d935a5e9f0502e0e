// SPDX-License-Identifier: Apache-2.0
//
// dpdk.h: DPDK ports as transports of host stacks.
//
// The room is apart from hosts/transport so that applications which do not use DPDK need none of
// its libraries. It is linked in one of two ways:
//
//     with a program of this tree, which calls sk_dpdk_link() at its start
//     as libsilken-dpdk.so.0, which libsilken loads when the first device asks for it
//     (hosts/transport/module.c)
//
// Concurrency: one thread of the process at a time.
//
// Files:
//
//     dpdk.c  a port, with one queue each way
//     link.c  the module in this process
#ifndef SILKEN_HOSTS_DPDK_H
#define SILKEN_HOSTS_DPDK_H

#include "hosts/transport/transport.h"

// The DPDK port 'device': a driver's name (with a number where there are several), and its
// arguments. The first call starts DPDK without huge pages, without PCI and without files; if the
// process has started it already, that is used. Errors as those of sk_transport_open().
int sk_transport_dpdk_open(struct sk_transport **t, const char *device, int cpu, char *why,
                           size_t why_cap);

// What the library looks up in libsilken-dpdk.so.0.
#pragma GCC visibility push(default)
extern const struct sk_transport_module silken_dpdk_module;
#pragma GCC visibility pop

// sk_transport_open() finds DPDK's ports in this process from now on.
void sk_dpdk_link(void);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// xdp: sockets that an af_xdp device leaves open. DPDK 22.11.11 counts the users of a device's
// memory down by two when it closes it (eth_dev_close in rte_eth_af_xdp.c), so that the memory and
// the socket that it came by stay as long as the process, and no other device can be opened at the
// same queue of the interface. The code that closes a device therefore closes the remaining socket,
// too; if DPDK has closed it, there is none.
#ifndef SILKEN_PIPELINE_PORTS_XDP_H
#define SILKEN_PIPELINE_PORTS_XDP_H

#include <stddef.h>
#include <sys/types.h>

#define PORTS_XDP_SOCKETS 64u

struct ports_xdp {
    struct {
        int fd;
        ino_t inode;
    } list[PORTS_XDP_SOCKETS];
    size_t n;
};
// The process's sockets of the family AF_XDP, but for those of 'but' (or null).
void ports_xdp_find(struct ports_xdp *x, const struct ports_xdp *but);
// Those of them that are still there: what is mapped of them, and they, are given back. Nobody may
// use them.
void ports_xdp_close(struct ports_xdp *x);

#endif

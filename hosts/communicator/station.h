// SPDX-License-Identifier: Apache-2.0
//
// station.h: the addresses of a SwitchML lane's ends, from what the configuration has of them;
// internal to hosts/.
//
// Devices that send whole frames need all addresses. For udp: the kernel knows the MAC addresses,
// which may be missing then, and the worker's IP address is the device's, or the one by which the
// system would send to the switch.
//
// Concurrency: no state; any thread may call this.
#ifndef SILKEN_HOSTS_COMMUNICATOR_STATION_H
#define SILKEN_HOSTS_COMMUNICATOR_STATION_H

#include <stdbool.h>

#include "hosts/core/endpoint.h"
#include "silken/allreduce.h"

struct sk_station {
    struct sk_endpoint worker, fabric;
};

// Whether the lanes have one address and device between them: then each is answered from a port of
// its own of the switch, the next after that of the lane before it.
static inline bool sk_station_is_shared(const struct silken_config *f) {
    return f->lanes > 1 && !f->lane;
}

// Fills '*s' for lane 'i', which is told 'lane'. Returns 0 or SILKEN_ERR_INVALID, then with a
// sentence in 'why'.
int sk_station_resolve(struct sk_station *s, const struct silken_config *f, uint32_t i,
                       const struct silken_lane *lane, char *why, size_t why_cap);

#endif

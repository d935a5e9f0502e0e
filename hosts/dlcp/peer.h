// SPDX-License-Identifier: Apache-2.0
//
// peer.h: what a host knows of another one, for all flows between them: the round trip, and which
// of the paths there lose.
//
// Switches that spread flows over paths choose by addresses and ports. So a sender turns its UDP
// source port from packet to packet and takes all paths, with switches that know nothing of this
// (DLCP, 3.2.3). Receivers report how much came by each port. A port that loses more than twice as
// much as the others, and more than 5 %, is left for a while, and for longer each time; so is one
// that loses half, where another loses less than half as much.
//
// Concurrency: a peer belongs to one thread at a time.
#ifndef SILKEN_HOSTS_DLCP_PEER_H
#define SILKEN_HOSTS_DLCP_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "hosts/core/rto.h"
#include "hosts/dlcp/packet.h"

struct dlcp_path {
    uint64_t left_until; // 0: in use
    uint32_t times;      // left in a row
    uint32_t sent, lost; // packets since it was judged
};

struct dlcp_peer {
    struct sk_rto rto;
    uint16_t first_port, ports; // UDP source ports to turn; 1: none to turn
    uint16_t turn;              // the next one's number
    uint64_t leave;             // ns for which a path is left the first time
    uint64_t left;              // counter
    struct dlcp_path path[DLCP_PATHS];
};

// Fills '*peer'. 'ports' is from 1 to DLCP_PATHS. Times in ns: the timeout of signals at first, at
// least and at most.
void dlcp_peer_init(struct dlcp_peer *peer, uint16_t first_port, uint16_t ports,
                    uint64_t rto_initial, uint64_t rto_min, uint64_t rto_max);

// The number of the port for the next packet.
uint16_t dlcp_peer_turn(struct dlcp_peer *peer, uint64_t now);

// Of so many packets sent by each port so many came, since the last call: leaves paths, or takes
// them again, once there were enough packets.
void dlcp_peer_judge(struct dlcp_peer *peer, const uint32_t sent[DLCP_PATHS],
                     const uint32_t came[DLCP_PATHS], uint64_t now);

// The smoothed round trip; before the first measurement, and at most, the timeout: a host that had
// no processor for a while does not make the others wait for as long.
static inline uint64_t dlcp_peer_rtt(const struct dlcp_peer *peer) {
    return peer->rto.rtt && peer->rto.rtt < peer->rto.timeout ? peer->rto.rtt : peer->rto.timeout;
}

#endif

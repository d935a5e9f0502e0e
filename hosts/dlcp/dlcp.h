// SPDX-License-Identifier: Apache-2.0
//
// dlcp: a transport for gradients of which a bounded part may be lost (DLCP, Wang et al., 2020; its
// later name is MLT; numbers in parentheses are sections of the paper).
//
// Training with stochastic gradients bears that a part of a gradient is missing. So a tensor is
// sent in packets that are worth something alone, in any order and on any path; each says to
// switches which layer it is of and whether its gradients are large. The receiver says when it has
// enough, and what is lost beyond the bound is sent again. Signals go reliably, in a class of
// their own.
//
// This room has both ends of a flow, all flows of a host, and all-reduce above these, as state
// machines without input, output or clock. hosts/communicator drives them: silken/dlcp.h and
// silken/allreduce.h.
//
// Files:
//
//     packet.h    a packet, and the sizes of things
//     reasons.h   why a packet is refused
//     frame.c     the bytes of a packet
//     tags.c      the class of a layer; what is important (3.2.2)
//     peer.c      the round trip to another host, and the paths that lose (3.2.3)
//     sender.c    the sender of a tensor (3.2.1)
//     receiver.c  its receiver
//     station.c   all flows of a host
//     group.c     all-reduce over servers or a ring
//     sums.h      gradients of several workers added up
//     signal.h    what is repeated until it is acknowledged
//     bits.h      sets of segments
#ifndef SILKEN_HOSTS_DLCP_DLCP_H
#define SILKEN_HOSTS_DLCP_DLCP_H

#include "hosts/dlcp/frame.h"
#include "hosts/dlcp/group.h"
#include "hosts/dlcp/sums.h"

#endif

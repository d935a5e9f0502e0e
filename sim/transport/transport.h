// SPDX-License-Identifier: Apache-2.0
//
// transport: the transports that DLCP is compared with, and what hosts do on top of them, as state
// machines: time comes in as an argument, the next deadline goes out, and what is to be sent is
// asked for. No clock, no socket, no memory of the network.
//
//     tcp.h        a TCP connection's two ends: sender with NewReno, CUBIC or DCTCP, receiver
//     pfabric.h    pFabric's ends: few states, the switch decides
//     levels.h     priorities of packets: PIAS by bytes sent, pFabric by bytes left
//     order.h      ByteScheduler's partition and order of tensors
//     placement.h  which server has which part of a tensor; who sends what to whom in a ring
//     frame.h      segments and acknowledgements on the wire
//     thresholds.h where queues drop gradients (DLCP, appendix B)
//
// Files: tcp.c (sender), tcp_control.c (windows), tcp_receiver.c, pfabric.c, levels.c, order.c,
// placement.c, frame.c, thresholds.c.
//
// Sequence numbers are 64 bits, positions in the stream of bytes; on the wire are their low 32. All
// times are in nanoseconds. Concurrency: each object belongs to one thread. Memory exhaustion ends
// the process.
#ifndef SILKEN_SIM_TRANSPORT_TRANSPORT_H
#define SILKEN_SIM_TRANSPORT_TRANSPORT_H

#include "hosts/core/rto.h"

// A piece of a stream that is to be sent.
struct tr_segment {
    uint64_t sequence; // of its first byte
    uint32_t length;
    bool again; // it was sent before
};

#endif

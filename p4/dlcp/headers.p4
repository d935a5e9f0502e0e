/* SPDX-License-Identifier: Apache-2.0
 *
 * headers.p4: what DLCP looks like on the wire.
 */
#ifndef DLCP_HEADERS_P4
#define DLCP_HEADERS_P4

#include "../common/headers.p4"

const bit<16> UDP_PORT_DLCP = 0xbec2;   // destination; a sender's source port is free, it chooses among paths (3.2.3)

header udp_h {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;
}

enum bit<4> kind_t {
    DATA     = 1,  // elements of a tensor
    START    = 2,  // sender: tensor, size and bound; all others are receiver's or sender's signals, too
    RATE     = 3,  // receiver: what arrived in the last period
    STOP     = 4,  // sender: all is sent
    MISSING  = 5,  // receiver: these ranges again
    FINISH   = 6,  // receiver: enough
    FINISHED = 7,  // sender: it has stopped
    ACK      = 8   // of a signal
}

// pull           the second half: parameters on their way back from a server
// important      ECT(0) in the IPv4 header says the same to switches
// again          the sender repeats these elements
// offset         of the first element in its tensor
// count          elements; of a signal the entries of its body
// contributions  workers whose gradients are in the values
// sequence       of data: number of the packet in its flow; of a signal its number, which its ACK returns
header dlcp_h {
    kind_t  kind;
    bit<1>  pull;
    bit<1>  important;
    bit<1>  again;
    bit<1>  spare;
    bit<8>  job;
    bit<16> tensor;
    bit<32> iteration;
    bit<32> offset;
    bit<16> count;
    bit<16> contributions;
    bit<32> sequence;
}

#endif

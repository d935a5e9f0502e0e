// SPDX-License-Identifier: Apache-2.0
//
// frame.h: the bytes of DLCP's packets. The layouts come from p4/dlcp, through the generated
// dlcp_wire.h.
//
//     ethernet_h 14 | ipv4_h 20 | udp_h 8 | dlcp_h 20 | floats, or pairs of numbers of 32 bits
//
// All in network order. DSCP is 4 c + 3 for data of class c, 31 for signals; ECN is ECT(0) for what
// is important. No switch changes what follows, so there is a UDP checksum. On the headers in front
// see hosts/core/udp.h.
//
// Concurrency: no state; any thread may call anything.
#ifndef SILKEN_HOSTS_DLCP_FRAME_H
#define SILKEN_HOSTS_DLCP_FRAME_H

#include <stddef.h>

#include "hosts/core/endpoint.h"
#include "hosts/dlcp/packet.h"
#include "hosts/dlcp/reasons.h"

// Writes dlcp_packet_bytes(p) bytes to 'frame'. The UDP ports of 'self' and 'peer' are not looked
// at: it is sent from p->port to DLCP_PORT.
size_t dlcp_frame_write(uint8_t *frame, const struct sk_endpoint *self,
                        const struct sk_endpoint *peer, const struct dlcp_packet *p);

// Is it a frame of DLCP's for 'self' (whose port is DLCP_PORT, whatever it says): then '*p' is
// filled in, and '*from' the sender's. p->wire points into the frame. Reads nothing behind 'len'.
enum dlcp_reason dlcp_frame_read(const uint8_t *frame, size_t len, const struct sk_endpoint *self,
                                 struct dlcp_packet *p, struct sk_endpoint *from);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// frame: segments and acknowledgements of the simulated transports on the wire: Ethernet, IPv4, TCP
// with timestamps (RFC 7323), 66 bytes, and so many bytes of data.
//
// The two ports are the number of the flow, so that each flow has its own hash. Data and what it is
// answered by have opposite ports. Payload is zeros: which bytes arrive is what counts. The TCP
// checksum is 0: the network has its own way to damage frames (sim/link.h). The receiver says in
// ECE that the segment was marked, for that one alone.
#ifndef SILKEN_SIM_TRANSPORT_FRAME_H
#define SILKEN_SIM_TRANSPORT_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TR_HEADER_BYTES 66u
#define TR_MTU_PAYLOAD  1448u // of a frame of 1,514 bytes

struct tr_end {
    uint8_t mac[6];
    uint32_t ip;
};
struct tr_frame {
    uint32_t flow;
    bool ack;
    uint64_t sequence; // data: of its first byte; ack: the first missing one, or what arrived
    uint32_t length;   // data: bytes
    bool marked;       // data: congestion experienced; ack: the data was
    uint64_t time;     // data: when it was sent; ack: of the data
    uint8_t tos;       // DSCP and ECN bits
};
// Writes the frame; returns its bytes. 'room' is at least that of a whole one.
size_t tr_frame_write(uint8_t *buf, size_t room, const struct tr_end *from, const struct tr_end *to,
                      const struct tr_frame *f);
// False: it is not one. Of sequence and time the low 32 bits are on the wire; 'now' and 'near'
// complete them: they are within 2^31 of it.
bool tr_frame_read(const uint8_t *frame, size_t length, uint64_t now, struct tr_frame *out);
// The position within 2^31 of 'near' that has these low bits.
static inline uint64_t tr_complete(uint64_t near, uint32_t low) {
    return near + (uint64_t)(int64_t)(int32_t)(low - (uint32_t)near);
}

#endif

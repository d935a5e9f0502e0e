// SPDX-License-Identifier: Apache-2.0
//
// packet.h: a packet of DLCP as sender and receiver mean it; frame.h has its bytes.
//
// A flow is the sending of one tensor from one host to another, in one iteration: from the name
// below and both addresses everybody knows which one a packet is of. A tensor is cut into segments
// of as many floats as a packet takes, so that each packet is worth something without the others
// (DLCP, 3.2.3).
//
// Concurrency: no state.
#ifndef SILKEN_HOSTS_DLCP_PACKET_H
#define SILKEN_HOSTS_DLCP_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#define DLCP_PORT        0xbec2u // UDP, to which all is sent; ports to send from are free
#define DLCP_ELEMENTS    363u    // floats in a packet, at most
#define DLCP_ENTRIES     181u    // pairs of numbers in a signal, at most
#define DLCP_CLASSES     7u      // 0 for the front layers, which are sent first
#define DLCP_DSCP_SIGNAL 31u
#define DLCP_ALL         1000000u // a bound is in millionths of a tensor
#define DLCP_PATHS       16u      // ports that a sender turns, at most

// The values are those of the P4 program's kind_t.
enum dlcp_kind {
    DLCP_DATA = 1,
    DLCP_START = 2,    // from the sender: {elements, bound}, {segment, nonce}, {first port, ports}
    DLCP_RATE = 3,     // from the receiver: {bytes, ns}, {end of sequence, 0}, packets by port
    DLCP_STOP = 4,     // from the sender: all is sent
    DLCP_MISSING = 5,  // from the receiver: {offset, count} of each range that is to come again
    DLCP_FINISH = 6,   // from the receiver: it has enough
    DLCP_FINISHED = 7, // from the sender: it sends no more
    DLCP_ACK = 8       // of the signal of this number
};

struct dlcp_name {
    uint32_t iteration;
    uint16_t tensor;
    uint8_t job;
    bool pull; // the second half: from a server back, or a ring's second round
};

#define DLCP_START_ENTRIES 3u

// Two numbers in the body of a signal.
struct dlcp_entry {
    uint32_t a, b;
};

struct dlcp_packet {
    struct dlcp_name name;
    enum dlcp_kind kind;
    bool important, again;
    uint8_t class;   // of data to be sent: 0 to 6; received ones have it too
    uint16_t port;   // UDP, from which it is sent
    uint32_t offset; // of data: its first element
    uint16_t count;  // of data: elements; of a signal: entries
    uint16_t contributions;
    uint32_t sequence;
    const float *values; // of data to be sent; NULL: zeros
    const uint8_t *wire; // of received data: the elements as they lie in the frame
    struct dlcp_entry entry[DLCP_ENTRIES];
};

static inline bool dlcp_name_is(struct dlcp_name a, struct dlcp_name b) {
    return a.iteration == b.iteration && a.tensor == b.tensor && a.job == b.job && a.pull == b.pull;
}

// Bytes of a packet on the wire, without the Ethernet checksum.
#define DLCP_HEADERS     62u
#define DLCP_FRAME_BYTES (DLCP_HEADERS + DLCP_ELEMENTS * 4)
static inline uint32_t dlcp_packet_bytes(const struct dlcp_packet *p) {
    return DLCP_HEADERS + p->count * (p->kind == DLCP_DATA ? 4u : 8u);
}

// Elements of 'n' that have to come with a bound of so many millionths that may be missing:
// ceil((1 - p) n).
static inline uint32_t dlcp_needed(uint32_t n, uint32_t bound) {
    return n - (uint32_t)((uint64_t)n * bound / DLCP_ALL);
}

static inline uint32_t dlcp_segments(uint32_t elements, uint32_t segment) {
    return elements / segment + (elements % segment != 0);
}

// Elements of segment 'i'.
static inline uint32_t dlcp_segment_count(uint32_t elements, uint32_t segment, uint32_t i) {
    uint32_t left = elements - i * segment;
    return left < segment ? left : segment;
}

#endif

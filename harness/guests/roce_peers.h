// SPDX-License-Identifier: Apache-2.0
//
// roce_peers.h: what both ends of a test of our RoCEv2 endpoint know: how long message m is,
// where it is written, and its bytes. One message is under way at a time, so four places are enough
// for those that come late.
#ifndef SILKEN_HARNESS_GUESTS_ROCE_PEERS_H
#define SILKEN_HARNESS_GUESTS_ROCE_PEERS_H

#include <stdbool.h>
#include <stdint.h>

#define PEER_PACKETS 8u
#define PEER_ROOM    (PEER_PACKETS * 1024u)
#define PEER_MEMORY  (4u * PEER_ROOM)
#define PEER_XOR     0xa5
#define PEER_SHORT   0x40000000u // in a message's number: it has one packet

// Whole words: elements are.
static inline uint32_t peer_length(uint32_t m) {
    return 4 * (1 + (m * 2654435761u >> 8) % ((m & PEER_SHORT ? 1024 : PEER_ROOM) / 4));
}

static inline uint32_t peer_offset(uint32_t m) {
    return m % 4 * PEER_ROOM;
}

static inline uint8_t peer_byte(uint32_t m, uint32_t i) {
    return (uint8_t)(m * 131 + i * 7 + (i >> 8));
}

#endif

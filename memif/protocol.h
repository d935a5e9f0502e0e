// SPDX-License-Identifier: Apache-2.0
//
// protocol: what memif's peers say and share. Only this room includes it, its tests and its fuzz
// target.
//
// Messages of 128 bytes cross a SOCK_SEQPACKET socket, some with a descriptor. All numbers are in
// the machine's byte order; fields lie one after the other without gaps:
//
//     server                             client
//       HELLO  versions, limits     ->
//                                   <-   INIT        version, id, mode, secret
//       ACK                         ->
//                                   <-   ADD_REGION  index, size; the memory's descriptor; for each
//       ACK                         ->
//                                   <-   ADD_RING    direction, place, size; an eventfd; for each
//       ACK                         ->
//                                   <-   CONNECT
//       CONNECTED                   ->
//
// and DISCONNECT from either at any time. A ring is in the client's memory: a head with two
// positions, and descriptors behind it. The client writes the position 'head', the server 'tail'.
// From client to server (S2M) descriptors between tail and head are full; from server to client
// (M2S) they are empty. Positions count on over the ring's end.
//
// Source of the layout and the numbers: memif.h of VPP (extras/libmemif) and of DPDK
// (drivers/net/memif).
#ifndef SILKEN_MEMIF_PROTOCOL_H
#define SILKEN_MEMIF_PROTOCOL_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define MEMIF_MESSAGE 128u
#define MEMIF_VERSION 0x0200u // 2.0
#define MEMIF_NAME    32u     // bytes, with zeros behind a shorter one
#define MEMIF_REASON  96u

enum memif_type {
    MEMIF_NONE,
    MEMIF_ACK,
    MEMIF_HELLO,
    MEMIF_INIT,
    MEMIF_ADD_REGION,
    MEMIF_ADD_RING,
    MEMIF_CONNECT,
    MEMIF_CONNECTED,
    MEMIF_DISCONNECT,
};
// Places of fields in a message; the type is at 0, of two bytes.
enum {
    MEMIF_AT_TYPE = 0,
    // HELLO
    MEMIF_AT_HELLO_NAME = 2,
    MEMIF_AT_HELLO_LEAST = 34,     // 2: version
    MEMIF_AT_HELLO_MOST = 36,      // 2: version
    MEMIF_AT_HELLO_REGION = 38,    // 2: the last index
    MEMIF_AT_HELLO_M2S = 40,       // 2: the last index
    MEMIF_AT_HELLO_S2M = 42,       // 2: the last index
    MEMIF_AT_HELLO_LOG2_RING = 44, // 1: at most
    // INIT
    MEMIF_AT_INIT_VERSION = 2, // 2
    MEMIF_AT_INIT_ID = 4,      // 4
    MEMIF_AT_INIT_MODE = 8,    // 1
    MEMIF_AT_INIT_SECRET = 9,
    MEMIF_AT_INIT_NAME = 33,
    // ADD_REGION
    MEMIF_AT_REGION_INDEX = 2, // 2
    MEMIF_AT_REGION_SIZE = 4,  // 8: bytes
    // ADD_RING
    MEMIF_AT_RING_FLAGS = 2,    // 2
    MEMIF_AT_RING_INDEX = 4,    // 2: among those of its direction
    MEMIF_AT_RING_REGION = 6,   // 2
    MEMIF_AT_RING_OFFSET = 8,   // 4
    MEMIF_AT_RING_LOG2 = 12,    // 1
    MEMIF_AT_RING_PRIVATE = 13, // 2: bytes of metadata
    // CONNECT, CONNECTED
    MEMIF_AT_CONNECT_NAME = 2,
    // DISCONNECT
    MEMIF_AT_DISCONNECT_CODE = 2, // 4
    MEMIF_AT_DISCONNECT_REASON = 6,
};
#define MEMIF_RING_S2M      1u // of a ring's flags: from the client
#define MEMIF_MODE_ETHERNET 0u

#define MEMIF_COOKIE    0x03e31f20u
#define MEMIF_MASK_BELL 1u // of a ring's head: the reader does not sleep
#define MEMIF_CHAINED   1u // of a descriptor's flags: the frame goes on in the next

struct memif_desc {
    uint16_t flags;
    uint16_t region;
    uint32_t length;
    uint32_t offset;
    uint32_t metadata;
};
struct memif_head {
    uint32_t cookie;
    uint16_t flags;
    uint16_t head;
    uint8_t apart1[56];
    uint16_t tail;
    uint8_t apart2[62];
    struct memif_desc desc[];
};
static_assert(sizeof(struct memif_desc) == 16 && sizeof(struct memif_head) == 128 &&
                  offsetof(struct memif_head, head) == 6 && offsetof(struct memif_head, tail) == 64,
              "the layout is the protocol's");

// What we allow a peer.
#define MEMIF_MOST_REGIONS 16u
#define MEMIF_MOST_BYTES   (UINT64_C(1) << 30) // of all regions
#define MEMIF_MOST_LOG2    14u                 // as DPDK has it
#define MEMIF_MOST_CHAIN   160u                // descriptors of a frame
#define MEMIF_MOST_READ    320u                // descriptors that a burst looks at

#endif

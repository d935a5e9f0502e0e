// SPDX-License-Identifier: Apache-2.0
//
// roce.h: the invariant CRC of RoCEv2 packets (InfiniBand Architecture Specification 1.4, volume 1,
// annex 17), which whoever owns a port checks and makes: network cards, our hosts, and the ports of
// a switch whose program asks for it (p4/switchml/README.md, RoCE).
//
//      Ethernet 14 | IPv4 20 | UDP 8, port 4791 | BTH 12 ... | CRC 4
//
// It covers all from IPv4 on but what routers change: type of service, time to live, both
// checksums, and BTH's marks of congestion.
//
// Files:
//     roce.c   the CRC over a frame's bytes (base/crc32.h)
//
// Concurrency: no state; any thread may call anything.
#ifndef SILKEN_WIRE_ROCE_H
#define SILKEN_WIRE_ROCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/crc32.h"

#define ROCE_UDP_PORT  4791
#define ROCE_IPV4_AT   14
#define ROCE_BTH_AT    42
#define ROCE_BTH_BYTES 12
#define ROCE_CRC_BYTES 4

// Whether the 'len' bytes begin a frame to RoCEv2's port over IPv4 without options and fragments.
static inline bool roce_is_to_port(const uint8_t *frame, size_t len) {
    if (len < ROCE_BTH_AT)
        return false;
    const uint32_t type = (get32(frame + 12) ^ 0x08004500u) & 0xffffff00u,
                   fragment_and_protocol = (get32(frame + 20) ^ 17u) & 0x3fff00ffu,
                   port = (uint32_t)get16(frame + 36) ^ ROCE_UDP_PORT;
    return (type | fragment_and_protocol | port) == 0;
}

// Whether a frame is such a one, with BTH, and with the CRC within the 'len' bytes. Such a frame's
// CRC is right, or is made right. The IPv4 packet's last bytes are the CRC; Ethernet's padding may
// follow.
static inline size_t roce_ipv4_bytes(const uint8_t *frame) {
    return get16(frame + ROCE_IPV4_AT + 2);
}
static inline bool roce_is(const uint8_t *frame, size_t len) {
    if (!roce_is_to_port(frame, len))
        return false;
    const size_t bytes = roce_ipv4_bytes(frame);
    return bytes >= 28 + ROCE_BTH_BYTES + ROCE_CRC_BYTES && ROCE_IPV4_AT + bytes <= len;
}
static inline uint8_t *roce_crc_of(const uint8_t *frame) { // where it is
    return (uint8_t *)frame + ROCE_IPV4_AT + roce_ipv4_bytes(frame) - ROCE_CRC_BYTES;
}
bool roce_crc_is_right(const uint8_t *frame);
// Of n such frames, ROCE_CHECKED at most, those whose CRC is wrong: a bit for each.
#define ROCE_CHECKED 4u
unsigned roce_wrong_crcs(const uint8_t *const *frames, unsigned n);
void roce_seal(uint8_t *frame);

// Frames one after the other in the same memory, in which all bytes from 'from' on are the same,
// but for the CRC, and what is before them, and where they begin, may differ: the copies of a
// packet. What those bytes come to is found for the first one.
struct roce_copies {
    const uint8_t *from;
    const uint8_t *ipv4, *end; // what 'tail' is of; end: null: of none yet
    struct sk_crc32_tail tail;
};
static inline void roce_copies_begin(struct roce_copies *c, const uint8_t *from) {
    c->from = from;
    c->end = NULL;
}
void roce_seal_copy(uint8_t *frame, struct roce_copies *c);

#endif

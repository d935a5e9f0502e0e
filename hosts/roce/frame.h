// SPDX-License-Identifier: Apache-2.0
//
// frame.h: packets of RoCEv2 writes over an unreliable connection (InfiniBand Architecture
// Specification 1.4, volume 1, chapter 9 and annexes 16 and 17), as p4/switchml/with_roce.p4 and
// network cards send them:
//
//      Ethernet 14 | IPv4 20 | UDP 8, port 4791 | BTH 12 | RETH 16 | ImmDt 4 | payload | CRC 4
//
// RETH is in the first packet of a message and in an only one; ImmDt in the last and the only one
// of a message with immediate data. Of the invariant CRC: wire/roce.h.
//
// Numbers are in host order. Concurrency: no state; any thread may call anything.
#ifndef SILKEN_HOSTS_ROCE_FRAME_H
#define SILKEN_HOSTS_ROCE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hosts/core/endpoint.h"
#include "wire/roce.h"

#define ROCE_PSN_MASK      0xffffffu
#define ROCE_MAX_PAYLOAD   1024
#define ROCE_HEADERS_BYTES 78 // at most: UDP, BTH, RETH, ImmDt and, after the payload, the CRC
#define ROCE_MAX_FRAME     (ROCE_HEADERS_BYTES + ROCE_MAX_PAYLOAD)

enum roce_opcode {
    ROCE_WRITE_FIRST = 0x26,
    ROCE_WRITE_MIDDLE,
    ROCE_WRITE_LAST,
    ROCE_WRITE_LAST_IMMEDIATE,
    ROCE_WRITE_ONLY,
    ROCE_WRITE_ONLY_IMMEDIATE
};

struct roce_packet {
    enum roce_opcode opcode;
    uint32_t qpn, psn;     // 24 bits each
    uint64_t address;      // with RETH
    uint32_t rkey, length; // with RETH; length: bytes of the message
    uint8_t immediate[4];  // with ImmDt
    const uint8_t *payload;
    uint32_t bytes; // of payload
};

// Why a received packet was ignored: enum, name in statistics, explanation.
#define ROCE_REASONS(X)                                                                            \
    X(FOREIGN, "foreign", "not a write of an unreliable connection by RoCEv2 over IPv4")           \
    X(NOT_FOR_US, "not_for_us", "another station's MAC or IP address")                             \
    X(NOT_FROM_PEER, "not_from_peer", "not sent from the switch's IP address")                     \
    X(BAD_LENGTH, "bad_length", "lengths in the headers disagree with the frame")                  \
    X(BAD_CHECKSUM, "bad_checksum", "the IPv4 checksum is wrong: damaged on the way")              \
    X(BAD_CRC, "bad_crc", "the invariant CRC is wrong: damaged on the way")                        \
    X(UNKNOWN_PAIR, "unknown_pair", "no queue pair has this number")                               \
    X(OLD, "old", "a packet of its queue pair that was there already, or late")                    \
    X(OUT_OF_ORDER, "out_of_order", "packets before it are missing: its message has no end")       \
    X(BAD_WRITE, "bad_write",                                                                      \
      "not within the memory that may be written, or its message's length")                        \
    X(STALE, "stale", "a whole message, but not the one that is waited for")                       \
    X(BAD_EXPONENT, "bad_exponent",                                                                \
      "an exponent below this worker's own: the switch does not give the largest")

enum roce_reason {
    ROCE_ACCEPTED,
#define ROCE_REASON_ENUM(name, key, text) ROCE_##name,
    ROCE_REASONS(ROCE_REASON_ENUM)
#undef ROCE_REASON_ENUM
        ROCE_REASON_COUNT
};

// Short name ("old") and explanation of a reason; "accepted" for ROCE_ACCEPTED.
const char *roce_reason_name(enum roce_reason reason);
const char *roce_reason_text(enum roce_reason reason);

static inline bool roce_begins(enum roce_opcode o) {
    return o == ROCE_WRITE_FIRST || o >= ROCE_WRITE_ONLY;
}
static inline bool roce_ends(enum roce_opcode o) {
    return o >= ROCE_WRITE_LAST;
}
static inline bool roce_has_immediate(enum roce_opcode o) {
    return o == ROCE_WRITE_LAST_IMMEDIATE || o == ROCE_WRITE_ONLY_IMMEDIATE;
}

// Writes the headers of a packet whose payload and CRC (roce_seal) the caller writes: p->payload is
// not looked at. Returns the place of the payload; the frame has '*length' bytes. Room and ports as
// below.
uint8_t *roce_frame_begin(uint8_t *frame, const struct sk_endpoint *from,
                          const struct sk_endpoint *to, const struct roce_packet *p,
                          size_t *length);

// Writes a packet with its CRC to 'frame', which has room for ROCE_MAX_FRAME bytes: a whole number
// of words of payload, ROCE_MAX_PAYLOAD at most. Both UDP ports are ROCE_UDP_PORT. Returns the
// frame's length.
size_t roce_frame_write(uint8_t *frame, const struct sk_endpoint *from,
                        const struct sk_endpoint *to, const struct roce_packet *p);

// Reads the 'len' bytes at 'frame' as a packet from 'peer' to 'self'. Returns ROCE_ACCEPTED and
// fills '*p', whose payload is within the frame; else the reason, up to BAD_CRC, and leaves '*p'
// alone. Ignores what follows the IPv4 packet. Reads only the 'len' bytes.
enum roce_reason roce_frame_read(const uint8_t *frame, size_t len, const struct sk_endpoint *self,
                                 const struct sk_endpoint *peer, struct roce_packet *p);

#endif

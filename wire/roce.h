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

#define ROCE_UDP_PORT  4791
#define ROCE_IPV4_AT   14
#define ROCE_BTH_AT    42
#define ROCE_BTH_BYTES 12
#define ROCE_CRC_BYTES 4

// Whether the 'len' bytes begin a frame to RoCEv2's port over IPv4 without options and fragments.
static inline bool roce_is_to_port(const uint8_t *frame, size_t len) {
    return len >= ROCE_BTH_AT && frame[36] == ROCE_UDP_PORT >> 8 &&
           frame[37] == (ROCE_UDP_PORT & 0xff) && frame[12] == 0x08 && frame[13] == 0x00 &&
           frame[14] == 0x45 && frame[23] == 17 && (frame[20] & 0x3f) == 0 && frame[21] == 0;
}

// Whether a frame is such a one, with BTH, and with the CRC within the 'len' bytes. Such a frame's
// CRC is right, or is made right. The IPv4 packet's last bytes are the CRC; Ethernet's padding may
// follow.
bool roce_is(const uint8_t *frame, size_t len);
uint8_t *roce_crc_of(const uint8_t *frame); // where it is
bool roce_crc_is_right(const uint8_t *frame);
void roce_seal(uint8_t *frame);

#endif

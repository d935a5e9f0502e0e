// SPDX-License-Identifier: Apache-2.0
//
// ethernet: frames of hosts that are numbers, for tests of the ToR on the rig.
//
// Host n has the address 02:00:00:NN:NN:NN. A frame is 60 bytes of an experimental type (64 with a
// tag), with a mark that tells it from others.
#ifndef SILKEN_HARNESS_CONTROL_TOR_ETHERNET_H
#define SILKEN_HARNESS_CONTROL_TOR_ETHERNET_H

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "harness/control/tor/rig.h"

#define ETH_BROADCAST UINT32_MAX
#define ETH_GROUP     (UINT32_MAX - 1) // 01:00:5e:01:02:03
#define ETH_OWN       (UINT32_MAX - 2) // 02:00:00:ff:ff:01: the switch, where a section says so
#define ETH_OWN_TEXT  "02:00:00:ff:ff:01"
#define ETH_NO_TAG    0u

static inline void eth_address(uint8_t out[6], uint32_t host) {
    static const uint8_t broadcast[6] = {255, 255, 255, 255, 255, 255},
                         group[6] = {1, 0, 0x5e, 1, 2, 3}, own[6] = {2, 0, 0, 255, 255, 1};
    const uint8_t other[6] = {2, 0, 0, (uint8_t)(host >> 16), (uint8_t)(host >> 8), (uint8_t)host};
    memcpy(out,
           host == ETH_BROADCAST ? broadcast
           : host == ETH_GROUP   ? group
           : host == ETH_OWN     ? own
                                 : other,
           6);
}

static inline size_t eth_frame(uint8_t out[64], uint32_t to, uint32_t from, unsigned tag,
                               uint8_t mark) {
    size_t n = 12;
    memset(out, mark, 64);
    eth_address(out, to);
    eth_address(out + 6, from);
    if (tag != ETH_NO_TAG) {
        const uint8_t vlan[4] = {0x81, 0, (uint8_t)(tag >> 8), (uint8_t)tag};
        memcpy(out + n, vlan, sizeof vlan);
        n += sizeof vlan;
    }
    out[n] = 0x88;
    out[n + 1] = 0xb5;
    return n + 48;
}

static inline void eth_send(struct rig *r, uint16_t port, uint32_t to, uint32_t from, unsigned tag,
                            uint8_t mark) {
    uint8_t frame[64];
    rig_send(r, port, frame, eth_frame(frame, to, from, tag, mark));
}

// The next frame that left by the port is this one.
#define eth_expect(r, port, to, from, tag, mark)                                                   \
    eth_expect_at(r, port, to, from, tag, mark, __FILE__, __LINE__)
static inline void eth_expect_at(struct rig *r, uint16_t port, uint32_t to, uint32_t from,
                                 unsigned tag, uint8_t mark, const char *file, int line) {
    uint8_t frame[64], got[RIG_FRAME];
    const size_t n = eth_frame(frame, to, from, tag, mark), m = rig_take(r, port, got);
    if (m == 0)
        fail_msg("%s:%d: nothing left by port %u", file, line, port);
    if (m != n || memcmp(got, frame, n) != 0)
        fail_msg("%s:%d: another frame left by port %u", file, line, port);
}

// Nothing else has left, but for what was taken.
#define eth_quiet(r) eth_quiet_at(r, __FILE__, __LINE__)
static inline void eth_quiet_at(struct rig *r, const char *file, int line) {
    for (uint16_t p = 0; p < 64; p++)
        if (rig_count(r, p) > 0)
            fail_msg("%s:%d: %zu frames left by port %u", file, line, rig_count(r, p), p);
}

#endif

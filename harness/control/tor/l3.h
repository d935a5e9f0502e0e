// SPDX-License-Identifier: Apache-2.0
//
// l3: what the tests of neighbours, routes and ICMP share. Two VLANs, each with two ports, and
// hosts:
//
//     A  02:..:0a  10.0.10.10  2001:db8:10::a   VLAN 10, p0
//     B  02:..:0b  10.0.20.11  2001:db8:20::b   VLAN 20, p1      the VLAN's MTU is 1400
//                                               p2: VLAN 10, p3: VLAN 20
//
// The switch is 02:..:01, 10.0.10.1, 10.0.20.1, 2001:db8:10::1, 2001:db8:20::1. Frames are those of
// l3_frames.h.
#ifndef SILKEN_HARNESS_CONTROL_TOR_L3_H
#define SILKEN_HARNESS_CONTROL_TOR_L3_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "harness/control/tor/l3_frames.h"
#include "harness/control/tor/rig.h"

#define L3_PORTS 4u

// The section; 'more' are further members, each with a comma in front.
const char *l3_section(const char *more);
// A rig that has announced its addresses already; nothing is left at its ports.
struct rig *l3_rig(const char *more);
// A and B have asked the switch for its address: it knows both.
void l3_know_a(struct rig *r);
void l3_know_b(struct rig *r);
void l3_know_a6(struct rig *r);
void l3_know_b6(struct rig *r);

// The next frame that left by the port is this one.
#define l3_expect(r, port, hex) l3_expect_at(r, port, hex, __FILE__, __LINE__)
void l3_expect_at(struct rig *r, uint16_t port, const char *hex, const char *file, int line);
// By both ports of VLAN 20: flooded.
#define l3_expect_20(r, hex)                                                                       \
    (l3_expect_at(r, 1, hex, __FILE__, __LINE__), l3_expect_at(r, 3, hex, __FILE__, __LINE__))
#define l3_expect_10(r, hex)                                                                       \
    (l3_expect_at(r, 0, hex, __FILE__, __LINE__), l3_expect_at(r, 2, hex, __FILE__, __LINE__))
// Nothing else left by any port.
#define l3_quiet(r) l3_quiet_at(r, __FILE__, __LINE__)
void l3_quiet_at(struct rig *r, const char *file, int line);

// The neighbour's state; "" when there is none.
const char *l3_state(struct rig *r, const char *address);
// What the tables are to have of the object (wanted.h); "" when it is not there.
const char *l3_wanted(struct rig *r, const char *object);
#define l3_assert_wanted(r, object, as) assert_string_equal(l3_wanted(r, object), as)

#endif

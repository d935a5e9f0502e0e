// SPDX-License-Identifier: Apache-2.0
//
// links_section: a section with links of all kinds, for the tests of links.
#ifndef SILKEN_HARNESS_CONTROL_TOR_LINKS_SECTION_H
#define SILKEN_HARNESS_CONTROL_TOR_LINKS_SECTION_H

#include "control/tor/tor_impl.h"
#include "harness/control/tor/ethernet.h"

enum { A = 0x10, B, C, D, E, F }; // hosts

// p0, p1: VLAN 10. p2: a trunk of both, native 30. p3: VLAN 20. p4: VLAN 30. p5, p6: a LAG in VLAN
// 10.
static const char links_section[] =
    "{\"mac\": \"" ETH_OWN_TEXT "\","
    " \"vlans\": [{\"vid\": 10}, {\"vid\": 20, \"name\": \"green\"}, {\"vid\": 30}],"
    " \"links\": [{\"name\": \"a\", \"port\": \"p0\", \"access\": 10},"
    "             {\"name\": \"b\", \"port\": \"p1\", \"access\": 10},"
    "             {\"name\": \"up\", \"port\": \"p2\", \"trunk\": [10, 20], \"native\": 30},"
    "             {\"name\": \"c\", \"port\": \"p3\", \"access\": 20},"
    "             {\"name\": \"d\", \"port\": \"p4\", \"access\": 30},"
    "             {\"name\": \"lag\", \"ports\": [\"p5\", \"p6\"], \"access\": 10}]}";
enum { LAG_1 = 5, LAG_2 = 6 };

static inline struct tor_link *named(struct rig *r, const char *name) {
    struct tor_link *link = tor_link_by_name(rig_tor(r), name);
    if (!link)
        fail_msg("there is no link '%s'", name);
    return link;
}

// Which of the LAG's two ports the frame left by; it is taken.
static inline uint16_t taken_from_lag(struct rig *r, uint32_t to, uint32_t from, unsigned tag,
                                      uint8_t mark) {
    assert_int_equal(rig_count(r, LAG_1) + rig_count(r, LAG_2), 1);
    const uint16_t port = rig_count(r, LAG_1) ? LAG_1 : LAG_2;
    eth_expect(r, port, to, from, tag, mark);
    return port;
}

#endif

// SPDX-License-Identifier: Apache-2.0
//
// partner: the other end of a LAG: Open vSwitch's LACP with a system of its own, on some ports of
// the rig.
//
//     struct partner *p = partner_new(r, system, (struct partner_options){.active = true});
//     partner_plug(p, 0, 7, 3);         port 0 of the rig is its port 7, with key 3
//     partner_wait(p, 5000);            five seconds pass for both
#ifndef SILKEN_HARNESS_CONTROL_TOR_PARTNER_H
#define SILKEN_HARNESS_CONTROL_TOR_PARTNER_H

#include "harness/control/tor/rig.h"

struct partner_options {
    bool active, fast;
};
struct partner;

struct partner *partner_new(struct rig *r, const uint8_t system[6], struct partner_options options);
void partner_free(struct partner *p); // null allowed
// Again, with another number or key: changed.
void partner_plug(struct partner *p, uint16_t port, uint16_t id, uint16_t key);
void partner_carrier(struct partner *p, uint16_t port, bool up);
// It says and hears nothing by this port any more; its link stays up.
void partner_silence(struct partner *p, uint16_t port, bool silent);
bool partner_carries(const struct partner *p, uint16_t port);
// Frames of LACP that it has had by the port.
size_t partner_heard(const struct partner *p, uint16_t port);
void partner_wait(struct partner *p, uint64_t ms);

#endif

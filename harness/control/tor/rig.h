// SPDX-License-Identifier: Apache-2.0
//
// rig: the ToR in memory, for tests: p4/tor in a switch, its control plane, and time that a test
// lets pass.
//
//     struct rig *r = rig_new(4, "{\"vlans\": [...], ...}");    ports 0 to 3, called p0 to p3
//     rig_send(r, 0, frame, length);            comes in at port 0; all that follows from it
//                                               happens
//     n = rig_take(r, 1, bytes);                the next frame that left by port 1; 0: there is
//                                               none
//     rig_wait(r, 5000);                        five seconds pass
//     rig_free(r);
//
// Time is the rig's own, for Open vSwitch's library too: clock_gettime() is, in a program that is
// linked with this file. It stands still but in rig_wait(). Only one rig at a time.
//
// With RIG_CHECKED in the environment it is the program's checked build, and rig_free() fails the
// test when that has found anything wrong.
//
// Frames between switch and control plane pass as in a daemon. What the control plane cannot take
// back (a rig that fails) fails the test with a sentence.
#ifndef SILKEN_HARNESS_CONTROL_TOR_RIG_H
#define SILKEN_HARNESS_CONTROL_TOR_RIG_H

#include "control/tor/tor.h"

#define RIG_FRAME 9300u

struct rig;

struct rig *rig_new(unsigned n_ports,
                    const char *section); // fails the test when the section is refused
// Another program than p4/tor/tor.p4.
struct rig *rig_new_with(const char *program, unsigned n_ports, const char *section);
// The sentence with which a section is refused; "" when it is not.
const char *rig_refusal(unsigned n_ports, const char *section);
void rig_free(struct rig *r);

void rig_send(struct rig *r, uint16_t port, const void *frame, size_t length);
// The same of hexadecimal text; blanks between bytes do not count.
void rig_send_hex(struct rig *r, uint16_t port, const char *hex);
size_t rig_take(struct rig *r, uint16_t port, uint8_t bytes[RIG_FRAME]); // 0: none
// Frames that left by the port and were not taken; and forgets all of all ports.
size_t rig_count(const struct rig *r, uint16_t port);
void rig_forget(struct rig *r);

void rig_wait(struct rig *r, uint64_t ms); // in steps of a millisecond
uint64_t rig_now(const struct rig *r);     // ns
void rig_link(struct rig *r, uint16_t port, bool up);
// 0, or a negative code and 'err'.
int rig_reload(struct rig *r, const char *section, struct sk_error *err);
json_t *rig_request(struct rig *r, const char *op, const char *members, struct sk_error *err);
// How many events of that name there were ("alarm", "link"...), and the last of them (borrowed) or
// null.
size_t rig_events(const struct rig *r, const char *event);
json_t *rig_event(const struct rig *r, const char *event);
const char *rig_last_alarm(const struct rig *r); // its "why", borrowed; "" without an alarm

// Calls 'fn' whenever tables are about to be written, some dozens of writes at most: what packets
// would do between two of them (rig_pass). Null: no more.
void rig_between_writes(struct rig *r, void (*fn)(void *aux), void *aux);
// A frame passes the switch, and the control plane does nothing yet about what follows from it.
void rig_pass(struct rig *r, uint16_t port, const void *frame, size_t length);

struct tor *rig_tor(struct rig *r);
struct sk_switch *rig_switch(struct rig *r);

#endif

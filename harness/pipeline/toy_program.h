// SPDX-License-Identifier: Apache-2.0
//
// toy_program: a "compiled program" written by hand, for tests of the engine and the control plane
// that must not depend on the compiler. It is linked into the test and found there by
// sk_program_load(NULL, ...).
//
// A frame of ethertype TOY_ETHERTYPE carries, after the Ethernet header, what the ingress shall ask
// the traffic manager for; any other frame is looked up in the table pipe.Ingress.forward by its
// destination address. The objects are there to be named: tables of every match kind, registers of
// one and two words, a counter, a value set. What is wished is returned as a word, where it fits in
// one, for every other packet that is received, and else in 'out'.
#ifndef SILKEN_HARNESS_PIPELINE_TOY_PROGRAM_H
#define SILKEN_HARNESS_PIPELINE_TOY_PROGRAM_H

#include "pipeline/switch/switch.h"

#define TOY_ETHERTYPE 0x9000
#define TOY_GROWTH    320u // bytes that TOY_GROW puts in front

enum toy_flags {
    TOY_UCAST = 1,
    TOY_GROUP_A = 2,
    TOY_GROUP_B = 4,
    TOY_CPU = 8,
    TOY_BYPASS = 0x10,
    TOY_RESUBMIT = 0x20,
    TOY_SHOW_INGRESS = 0x40, // ingress puts the 16 bytes it saw in front of the packet
    TOY_SHOW_EGRESS = 0x80,  // egress puts the 27 bytes it saw in front of the packet
    TOY_EGRESS_DROP = 0x100,
    TOY_GROW = 0x200,
    TOY_PARSER_DROP = 0x400,
    TOY_RESUBMIT_AGAIN = 0x800, // also when it is a resubmitted packet
    TOY_MARK =
        0x1000, // egress inverts the packet's first byte and 64th, which is all that it may change
};

struct toy_wish {
    uint16_t flags;
    uint8_t drop_ctl;
    uint8_t hops; // so many passes through the recirculation port of its pipe first
    uint16_t ucast_port, group_a, group_b, l1_xid, l2_xid, rid;
    uint8_t qid, cos, color;
};
#define TOY_WISH_AT    14u
#define TOY_WISH_BYTES 18u

// Writes a frame of 64 bytes that asks for 'w'.
void toy_frame(uint8_t frame[64], const struct toy_wish *w);

struct sk_program *toy_load(void); // aborts with a message when it cannot
// Of groups of tests whose state is a struct of so many bytes that begins with the program.
int toy_setup(void **state, size_t size);
int toy_teardown(void **state);
// A switch with ports 0 to 63 of each pipe up; aborts with a message when it cannot.
struct sk_switch *toy_switch(const struct sk_program *prog, const struct sk_switch_options *opt);
// Pipes on 'n' cores, by turns.
void toy_spread(struct sk_switch_options *opt, unsigned n);

#endif

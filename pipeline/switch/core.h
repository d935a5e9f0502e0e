// SPDX-License-Identifier: Apache-2.0
//
// core: what one lcore runs of a switch: the pipes that were given to it, with their ports, buffers
// and clock.
//
//     struct sk_core *core = sk_switch_core(sw, 0);
//     sk_core_rx(core, 5, frame, length, now);    // for the ports of its pipes
//     sk_core_run(core, now);                     // tx is called on this thread, for ports of its
//                                                 pipes
//
// Packets for a port of another core's pipe cross through a ring and go on when that core runs
// (cores.h).
//
// Thread-safety: all of this belongs to the core's thread, or to the control plane's while no core
// runs.
#ifndef SILKEN_PIPELINE_SWITCH_CORE_H
#define SILKEN_PIPELINE_SWITCH_CORE_H

#include "pipeline/switch/switch.h"

// ---- packets come ----
// Copies the frame in; false when it was dropped at once (counted by reason).
bool sk_core_rx(struct sk_core *core, uint16_t dev_port, const uint8_t *frame, uint32_t length,
                uint64_t now_ns);
// A frame that its port does not let in, of 'length' bytes, of which 'there' can be looked at:
// counted as received, and dropped for that reason.
void sk_core_rx_refused(struct sk_core *core, uint16_t dev_port, const uint8_t *frame,
                        uint32_t there, uint32_t length, enum sk_drop_reason r, uint64_t now_ns);
// Takes over a packet in one of the buffers of sk_switch_use_buffers, with 'head' and 'len' set and
// at least SK_HEADROOM bytes in front; counted when dropped.
void sk_core_rx_packet(struct sk_core *core, uint16_t dev_port, struct sk_packet *p,
                       uint64_t now_ns);
// The same for 'n' packets that came together, and sk_core_run: what waits inside runs before them.
unsigned sk_core_rx_burst(struct sk_core *core, uint16_t dev_port, struct sk_packet *const *p,
                          unsigned n, uint64_t now_ns);
// Whether each packet is to be passed on by itself, as the option 'single_packets' or the program
// (@silken_single_packets) asks: whoever polls neither asks for packets that are alike, below, nor
// sends several as one frame.
bool sk_core_is_single(const struct sk_core *core);
// Packets of a port that came together as one frame, and differ only in bits that are told:
// whoever has the frame can send it on as it is when sk_core_alike_port() says where to,
// and then tells that it did. All else is as if they had come as a burst, been sent by that port
// and been counted; a port's packets that were sent before must have left. Headers' checksums are
// right in those between if they are in the first.
#define SK_ALIKE_SHOWN 128u
struct sk_alike {
    unsigned packets;
    uint32_t length, last_length; // of each but the last, and of that
    const uint8_t *first, *last;  // SK_ALIKE_SHOWN bytes of these, zeros behind their end
    const uint8_t *differs;       // of as many: ones where those between are not as the first
    struct sk_flow *flow_of[2];   // the switch's own
};
// -1: they are to come in one by one. Nothing has happened to them.
int sk_core_alike_port(struct sk_core *core, uint16_t dev_port, struct sk_alike *a);
void sk_core_alike_sent(struct sk_core *core, uint16_t dev_port, const struct sk_alike *a,
                        uint16_t out, uint64_t now_ns);
// sk_core_rx_burst() for frames with a port and a time each, which never goes back: of each in
// turn, sk_core_rx and sk_core_run. They may stay where they are while that runs, so that
// afterwards their bytes and the SK_LENT_FRONT before each are anything; SK_LENT_BEHIND are read. A
// frame can lie before the next.
#define SK_LENT_FRONT  SK_POOL_START
#define SK_LENT_BEHIND SK_POOL_SLACK
struct sk_lent_frame {
    uint64_t time_ns;
    uint8_t *bytes;
    uint32_t length;
    uint16_t port;
};
void sk_core_rx_lent(struct sk_core *core, const struct sk_lent_frame *frames, unsigned n);

// ---- they run, and leave ----
// Processes what is inside, and what happens by itself until now: everything leaves, but for what
// waits for a port with a speed or goes to another core. 'now_ns' never goes back; a core's clock
// goes on by itself when a packet comes from another core whose clock is ahead. Returns how many
// packets came from other cores, at most some hundreds a call.
unsigned sk_core_run(struct sk_core *core, uint64_t now_ns);
// The next time at which something happens by itself: a port sends a packet that waits, or
// with 'timers' a packet generator fires. UINT64_MAX: never.
uint64_t sk_core_next(const struct sk_core *core, bool timers);
// A packet that a port took in the tx callback, or with its buffer, and could not send after all:
// counted as TX_FULL and no longer as sent, and a recording has a note of it. Its length, its
// serial (0: not known) and the port that it came from are looked at.
void sk_core_tx_lost(struct sk_core *core, uint16_t dev_port, const struct sk_packet *p);
// This core's clock.
uint64_t sk_core_now(const struct sk_core *core);
// The number of the last packet that was received or generated, of which observers are told;
// settable for cores of which each would count for itself.
uint64_t sk_core_serial(const struct sk_core *core);
void sk_core_set_serial(struct sk_core *core, uint64_t serial);
// Tells 'o' about every packet from now on (pipeline/trace.h); null: nobody. Only with one core, or
// about those of a core whose pipe is isolated. The switch does not own it. Programs report only
// when they are checked builds.
void sk_core_observe(struct sk_core *core, struct sk_observer *o);

// ---- isolated pipes ('crossing_ns') ----
// Each core is run for itself, up to a time: it is given its packets and run as if alone, in the
// order of time. Rounds keep them together: all cores run up to a time before any of them begins
// the next round, and none runs to when something could arrive that another one sends in the same
// round. That is so when a round goes from the first thing that happens in any of them
// (sk_core_next, or a packet to be given in) until before 'crossing_ns' later. In a round a core
// may be on any thread; between two rounds the threads must have met. An observer is a core's.
//
// Begins a round, of all cores the same: takes in what others sent in the round before.
void sk_core_round(struct sk_core *core, uint64_t round);
// When what the core sent to others in this round, 'n' packets, arrives at first; UINT64_MAX:
// nothing.
uint64_t sk_core_sent(const struct sk_core *core, uint32_t *n);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// flows: flow records: the results of packets that went straight through, replayed for packets that
// are like them.
//
// Most packets of a switch are like an earlier one of the same flow. If the earlier packet passed
// both gresses, left unchanged by one port and depended on nothing but tables, then a packet with
// the same values in the bits that the program read (stages/notes.h) leaves by the same port and
// increments the same counters. So the program does not run for it: the packet is compared, sent
// and, with the others of its burst, counted. This resembles Open vSwitch's exact-match cache,
// except that the compared bits follow from the program, not from protocols.
//
//     struct sk_flows *flows = sk_flows_new();
//     const uint32_t tag = sk_flow_tag(frame, port);
//     struct sk_flow *f = sk_flows_find(flows, tag, port, frame, length, generation);
//     if (f)            ... it leaves by f->out ...
//         sk_flows_count(flows, f, length);
//     else if (sk_flows_wants(flows, tag, generation))
//         ... it runs with notes, and then ...
//         sk_flows_keep(flows, tag, &flow, &notes, generation) or sk_flows_refuse(flows, tag)
//     sk_flows_flush(flows, now);    // before anything else looks at counters or tables
//
// 'generation' is sk_tables_generation() from before the packet ran: records of another generation
// are invalid. So a change of a table costs each flow one run with notes.
//
// Thread-safety: of one core.
#ifndef SILKEN_PIPELINE_SWITCH_FLOWS_H
#define SILKEN_PIPELINE_SWITCH_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "stages/notes.h"

// The bytes that are compared are whole multiples of 8; 'frame' has SK_NOTED that can be read.
struct sk_flow {
    uint64_t generation; // 0: none
    uint32_t tag;
    uint16_t in, out;           // device ports
    uint16_t length;            // of the packets: so long, or, if SK_NOTED, at least
    uint16_t words;             // of 'mask' and 'bytes': those behind them do not decide
    uint16_t summed_at, summed; // these have a right checksum; 0: none has to
    bool found;                 // another packet was like it
    uint32_t pending;           // packets that are not counted yet
    uint64_t pending_bytes;
    uint64_t mask[SK_NOTED / 8], bytes[SK_NOTED / 8]; // and what they are there
};

struct sk_flows;
struct sk_flows *sk_flows_new(void); // null when memory is short
void sk_flows_free(struct sk_flows *f);

// Where a packet's flow is looked for: of what makes most flows differ, addresses and ports. It
// need not be right.
uint32_t sk_flow_tag(const uint8_t *frame, uint16_t port);
// Whether it is worth looking at so many packets: not always, where none are found.
bool sk_flows_tries(struct sk_flows *f, unsigned n);
struct sk_flow *sk_flows_find(struct sk_flows *f, uint32_t tag, uint16_t port, const uint8_t *frame,
                              uint32_t length, uint64_t generation);
// Whether it is one of this flow, which was found before.
bool sk_flow_has(const struct sk_flow *flow, uint16_t port, const uint8_t *frame, uint32_t length,
                 uint64_t generation);
// A packet of the flow was sent: it counts when they are flushed.
void sk_flows_count(struct sk_flows *f, struct sk_flow *flow, uint32_t length);
// So many packets, of so many bytes together.
void sk_flows_count_many(struct sk_flows *f, struct sk_flow *flow, uint32_t packets,
                         uint64_t bytes);
// Whether some of these bits decide, of a packet's first SK_NOTED bytes.
bool sk_flow_looks_at(const struct sk_flow *flow, const uint8_t *bits);
void sk_flows_flush(struct sk_flows *f, uint64_t now_ns); // 48 bits
uint64_t sk_flows_total(const struct sk_flows *f);        // packets that were counted, ever
// Whether a packet that was not found is to be run with notes: when one like it was not found
// before, since something was changed last. A packet now and then is not worth them: their code is
// in no cache then.
bool sk_flows_wants(struct sk_flows *f, uint32_t tag, uint64_t generation);
// What was noted of a packet that came by 'in' and left by 'out' as it came; 'frame' is what it is.
void sk_flows_keep(struct sk_flows *f, uint32_t tag, uint16_t in, uint16_t out,
                   const uint8_t *frame, const struct sk_notes *n, uint64_t generation);
void sk_flows_refuse(struct sk_flows *f, uint32_t tag); // it is not asked for again for a while

#endif

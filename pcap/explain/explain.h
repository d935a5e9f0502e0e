// SPDX-License-Identifier: Apache-2.0
//
// explain: everything that happens to one packet, kept while it happens and shown afterwards.
//
// An observer of a replay ('only_last': pcap/replay/replay.h) that waits for one packet and then
// keeps the events of that packet and of all its copies. Shown as text for people or as one JSON
// document (docs/manual.md describes it), with what leaves held against what came in, field by
// field. The checked build tells all; the fast one only what the engine does.
//
// Files:
//
//     explain.c  keeping a packet's events
//     layout.c   which headers it came with, and leaves with (layout.c)
//     value.c    values as people write them
//     group.c    repetitions (32 lanes) as one
//     page.c     lines of a given width, with colours
//     text.c     the whole as text; events.c: what programs do
//     json.c     the whole as JSON
//     turn.c     which of a capture's packets it is
#ifndef SILKEN_PCAP_EXPLAIN_EXPLAIN_H
#define SILKEN_PCAP_EXPLAIN_EXPLAIN_H

#include <stdio.h>

#include "pcap/replay/replay.h"

struct explain;

// Waits for the packet that goes in as number 'wanted' (from 1) by 'counts', which is the replay's
// and must outlive this; or, if 'bytes' is not null, for the one that has its bytes there. 'number'
// is what it is called. Never null: aborts when memory is short.
struct explain *explain_new(const struct replay_counts *counts, uint64_t wanted,
                            const uint8_t *bytes, uint64_t number);
void explain_free(struct explain *x); // null allowed
struct sk_observer *explain_observer(struct explain *x);
// Whether the packet came.
bool explain_found(const struct explain *x);

// The turn (from 1) that packet 'number' of a capture has when it is replayed: its number, unless
// packets before it carry neither Ethernet nor IP, or a map says the ports of packets ('map', or
// null: names of a pcapng's interfaces, if they are names of ports: 'mapped') and leaves some out.
// -1 with a sentence.
int explain_turn(const char *path, const char *map, uint64_t number, uint64_t *turn, bool *mapped,
                 struct sk_error *err);
// The same of a capture all of which one port receives.
int explain_turn_of_port(const char *path, uint64_t number, uint64_t *turn, struct sk_error *err);

struct explain_style {
    unsigned width; // of a line, in columns
    bool colour;
};
// Both only when the packet was found, and after the switch is gone; the program must be there.
void explain_text(const struct explain *x, FILE *out, const struct explain_style *style);
// 'program' and 'source' (the capture, or null) are for the document's head.
void explain_json(const struct explain *x, FILE *out, const char *program, const char *source);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// layout: which bytes of a packet are which field, wherever it is on its way.
//
// A deparser writes the headers it emits before what its parser left. So the headers of a packet
// are known at every station: those emitted there, and after them those that were known before and
// lay behind the parser's last byte, from an earlier pass if need be. Copies of a packet take
// turns; which station's bytes a copy goes on with is seen from the bytes themselves: the latest
// one whose headers all are where they should be.
//
// The room: one packet, as fields and as text:
//
//     layout.c    the headers of a packet at every station
//     journeys.c  the same of many packets at once
//     text.c      a packet's bytes from what people have at hand (text.h)
#ifndef SILKEN_PCAP_PACKET_LAYOUT_H
#define SILKEN_PCAP_PACKET_LAYOUT_H

#include "pipeline/trace.h"

// Headers in a packet's bytes, by offset.
#define LAYOUT_HEADERS 64u
struct header_at {
    const char *name;
    const struct sk_header_desc *desc;
    const uint8_t *bytes;
    uint32_t offset;
};
struct layout {
    struct header_at headers[LAYOUT_HEADERS];
    uint32_t n, end; // of the last header
};
// One more; nothing when there are LAYOUT_HEADERS.
void layout_add(struct layout *l, const char *name, const struct sk_header_desc *desc,
                const uint8_t *bytes, uint32_t offset);
// "header.field", malloc'ed; aborts when memory is short.
char *layout_field_name(const struct layout *l, uint32_t h, uint32_t f);

// What is known of one packet and its copies. Not thread-safe for the same one.
struct journey;
struct journey *journey_new(void);     // aborts when memory is short
void journey_clear(struct journey *j); // for another packet
void journey_free(struct journey *j);  // null allowed
// The next event of the packet (checked build); what it points to is copied.
void journey_follow(struct journey *j, const struct sk_event *e);
// The headers of the packet when it is these bytes, into which 'out' points; none when that is not
// known. After the event that told of the bytes was followed.
void journey_find(const struct journey *j, const uint8_t *bytes, uint32_t length,
                  struct layout *out);

// The journeys of many packets at once: the last of them. Not thread-safe for the same ones.
struct journeys;
struct journeys *journeys_new(void);    // aborts when memory is short
void journeys_free(struct journeys *l); // null allowed
// All that is told of all packets.
void journeys_follow(struct journeys *l, const struct sk_packet *p, const struct sk_event *e);
// As journey_find(), of the packet with this serial number.
void journeys_find(const struct journeys *l, uint64_t serial, const uint8_t *bytes, uint32_t length,
                   struct layout *out);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// any_packet.h: packets of DLCP by the bytes of a fuzzer, near enough to good ones to get far.
#ifndef SILKEN_HARNESS_HOSTS_DLCP_ANY_PACKET_H
#define SILKEN_HARNESS_HOSTS_DLCP_ANY_PACKET_H

#include <string.h>

#include "harness/hosts/script_bytes.h"
#include "hosts/dlcp/dlcp.h"

// A number that is 'usual' most times.
static inline uint32_t any_number(struct script *in, uint32_t usual) {
    switch (script_byte(in) % 16) {
    case 0:
        return script_number(in);
    case 1:
        return UINT32_MAX - script_byte(in);
    case 2:
        return usual + script_byte(in);
    case 3:
        return 0;
    default:
        return usual;
    }
}

// For a flow of 'elements' in segments of 'segment'; 'number' is one that signals have.
static inline void any_packet(struct dlcp_packet *p, struct script *in, struct dlcp_name name,
                              uint32_t elements, uint32_t segment, uint32_t nonce) {
    static const uint8_t wire[DLCP_ELEMENTS * 4];
    const uint32_t segments = dlcp_segments(elements, segment), i = script_byte(in) % segments;
    memset(p, 0, sizeof *p);
    p->name = name;
    p->name.iteration = any_number(in, name.iteration);
    p->kind = (enum dlcp_kind)(1 + script_byte(in) % 8);
    p->again = script_byte(in) & 1;
    p->port = (uint16_t)any_number(in, 50000);
    p->contributions = (uint16_t)any_number(in, 1);
    p->sequence = any_number(in, nonce + script_byte(in) % 16);
    if (p->kind == DLCP_DATA) {
        p->offset = any_number(in, i * segment);
        p->count = (uint16_t)(any_number(in, dlcp_segment_count(elements, segment, i)) %
                              (DLCP_ELEMENTS + 1));
        p->wire = wire;
        return;
    }
    p->count = p->kind == DLCP_START     ? 3
               : p->kind == DLCP_RATE    ? 4
               : p->kind == DLCP_MISSING ? 1 + script_byte(in) % 4
                                         : 0;
    p->count = (uint16_t)(any_number(in, p->count) % (DLCP_ENTRIES + 1));
    p->entry[0] = (struct dlcp_entry){elements, 100000};
    p->entry[1] = (struct dlcp_entry){segment, nonce};
    p->entry[2] = (struct dlcp_entry){50000, 1};
    if (p->kind == DLCP_RATE || p->kind == DLCP_MISSING)
        for (unsigned e = 0; e < 5; e++)
            p->entry[e] = (struct dlcp_entry){(i + 2 * e) * segment, segment};
    if (script_byte(in) % 4 == 0) {
        struct dlcp_entry *e = &p->entry[script_byte(in) % 5];
        *e = (struct dlcp_entry){any_number(in, e->a), any_number(in, e->b)};
    }
}

#endif

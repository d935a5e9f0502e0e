// SPDX-License-Identifier: Apache-2.0
//
// journeys: those of the packets that came last, by serial number. One that waits while so many
// others come is forgotten: its fields have no names then.
#include <stdlib.h>

#include "pcap/packet/layout.h"

#define KEPT 4096u // as many as a switch has buffers

struct journeys {
    struct {
        uint64_t serial; // 0: none
        struct journey *journey;
    } kept[KEPT];
};

struct journeys *journeys_new(void) {
    struct journeys *l = calloc(1, sizeof *l);
    if (!l)
        abort();
    return l;
}

void journeys_free(struct journeys *l) {
    for (unsigned i = 0; l && i < KEPT; i++)
        journey_free(l->kept[i].journey);
    free(l);
}

// A serial has the core that received it in its upper byte.
static unsigned journeys_place_of(uint64_t serial) {
    return (unsigned)((serial + (serial >> 56) * (KEPT / SK_PIPES)) % KEPT);
}

void journeys_follow(struct journeys *l, const struct sk_packet *p, const struct sk_event *e) {
    const unsigned i = journeys_place_of(p->serial);
    if (e->kind == SK_EV_RECEIVED) {
        if (l->kept[i].journey)
            journey_clear(l->kept[i].journey);
        else
            l->kept[i].journey = journey_new();
        l->kept[i].serial = p->serial;
    } else if (l->kept[i].serial == p->serial && p->serial) {
        journey_follow(l->kept[i].journey, e);
    }
}

void journeys_find(const struct journeys *l, uint64_t serial, const uint8_t *bytes, uint32_t length,
                   struct layout *out) {
    const unsigned i = journeys_place_of(serial);
    out->n = out->end = 0;
    if (serial && l->kept[i].serial == serial)
        journey_find(l->kept[i].journey, bytes, length, out);
}

// SPDX-License-Identifier: Apache-2.0
//
// checked: what the C text of a checked build is written with. Only that text includes it.
//
// A checked build does what the fast build does, bit for bit, and besides reports to the packet's
// observer what the program should not have done (pipeline/trace.h). It keeps for every variable
// which of its bits are undefined; copies carry that along, uses report it.
#ifndef SILKEN_PIPELINE_CHECKED_H
#define SILKEN_PIPELINE_CHECKED_H

#include "pipeline/trace.h"

#pragma GCC visibility push(default) // compiled programs call these

static inline void sk_trace(const struct sk_packet *p, const struct sk_event *e) {
    p->observer->event(p->observer, p, e);
}

static inline void sk_report(const struct sk_packet *p, int gress, enum sk_violation v,
                             const struct sk_place *at, const char *name, uint64_t number,
                             const struct sk_place *also) {
    if (p->observer)
        sk_trace(p, &(struct sk_event){.kind = SK_EV_VIOLATION,
                                       .gress = (enum sk_event_gress)gress,
                                       .at = at,
                                       .name = name,
                                       .violation = v,
                                       .number = number,
                                       .also = also});
}

// A thing that may happen once in a pass: '*seen' is where it did.
static inline void sk_check_once(const struct sk_packet *p, int gress, enum sk_violation v,
                                 const struct sk_place **seen, const struct sk_place *at,
                                 const char *name) {
    if (*seen)
        sk_report(p, gress, v, at, name, 0, *seen);
    *seen = at;
}

// Which field of 'key' decides about the entry with bits that are undefined (bits set in
// 'undefined'); -1 when whatever they are the same entry is found, or none.
int sk_key_matters(const struct sk_table *t, const uint64_t *key, const uint64_t *undefined);

#pragma GCC visibility pop

#endif

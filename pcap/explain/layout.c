// SPDX-License-Identifier: Apache-2.0
//
// layout: which headers a packet came with, and leaves with (pcap/packet/layout.h).
#include <string.h>

#include "pcap/explain/explain_impl.h"

void explain_arrival(const struct explain *x, struct layout *out) {
    struct layout taken = {0};
    *out = taken;
    for (size_t i = 0; i < x->n && x->told[i].p.passes == 0; i++) {
        const struct sk_event *e = &x->told[i].e;
        if (e->kind == SK_EV_INGRESS || e->kind == SK_EV_EGRESS)
            taken = (struct layout){0};
        if (e->kind == SK_EV_EXTRACT && e->gress == SK_IN_INGRESS && e->offset >= 0)
            layout_add(&taken, e->name, e->header, e->bytes, (uint32_t)e->offset);
        if (taken.end > out->end)
            *out = taken;
    }
}

void explain_departure(const struct explain *x, size_t at, struct layout *out) {
    struct journey *j = journey_new();
    for (size_t i = 0; i <= at; i++)
        journey_follow(j, &x->told[i].e);
    journey_find(j, x->told[at].e.bytes, x->told[at].e.length, out);
    journey_free(j);
}

const struct header_at *explain_same_header(const struct layout *l, const struct header_at *h) {
    const struct header_at *only = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        const struct header_at *o = &l->headers[i];
        if (o->desc->bytes != h->desc->bytes || strcmp(o->desc->type, h->desc->type) != 0)
            continue;
        if (strcmp(o->name, h->name) == 0)
            return o;
        only = o;
        n++;
    }
    return n == 1 ? only : NULL;
}

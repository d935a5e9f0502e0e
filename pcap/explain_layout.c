// SPDX-License-Identifier: Apache-2.0
//
// explain_layout: which bytes of what leaves are which field.
//
// A deparser writes the headers it emits in front of what its parser left. So the headers of a packet are
// known at every station: those emitted there, and behind them those that were known before and lay behind
// the parser's last byte. Copies of a packet take turns; which station's bytes a copy goes on with is seen
// from the bytes themselves: the latest one whose headers all are where they should be.
#include <stdlib.h>
#include <string.h>

#include "pcap/explain_impl.h"

#define MAX_STATIONS 512u // of a packet with 64 passes and copies; later ones replace the last

struct journey {
    struct layout *stations;
    size_t n;
    // of the program that runs
    struct layout base, taken, emitted;
    uint32_t end; // of what the parser took
    bool runs;
};

static void add(struct layout *l, const char *name, const struct sk_header_desc *desc,
                const uint8_t *bytes, uint32_t offset) {
    if (l->n == EXPLAIN_HEADERS)
        return;
    l->headers[l->n++] = (struct header_at){name, desc, bytes, offset};
    if (offset + desc->bytes > l->end)
        l->end = offset + desc->bytes;
}

// The headers of 'l' from byte 'from' on, 'to' bytes into the packet.
static void add_rest(struct layout *out, const struct layout *l, uint32_t from, uint32_t to) {
    for (uint32_t i = 0; i < l->n; i++) {
        const struct header_at *h = &l->headers[i];
        if (h->offset >= from)
            add(out, h->name, h->desc, h->bytes, h->offset - from + to);
    }
}

// Whether the bytes have these headers; those behind the end of a packet that was cut are taken out.
static bool fits(const struct layout *l, const uint8_t *bytes, uint32_t length,
                 struct layout *out) {
    *out = (struct layout){0};
    for (uint32_t i = 0; i < l->n; i++) {
        const struct header_at *h = &l->headers[i];
        if (h->offset + h->desc->bytes > length)
            continue;
        if (memcmp(bytes + h->offset, h->bytes, h->desc->bytes) != 0)
            return false;
        add(out, h->name, h->desc, bytes + h->offset, h->offset);
    }
    return out->n > 0;
}

static void find(const struct journey *j, const uint8_t *bytes, uint32_t length,
                 struct layout *out) {
    for (size_t i = j->n; i-- > 0;)
        if (fits(&j->stations[i], bytes, length, out))
            return;
    *out = (struct layout){0};
}

static struct layout *new_station(struct journey *j) {
    struct layout *l = &j->stations[j->n < MAX_STATIONS ? j->n++ : MAX_STATIONS - 1];
    *l = (struct layout){0};
    return l;
}

// What came into the program, as far as it is known now.
static void note_arrival(struct journey *j) {
    struct layout *l = new_station(j);
    *l = j->taken;
    add_rest(l, &j->base, j->end, j->end);
}

static void note_departure(struct journey *j) {
    if (!j->runs)
        return;
    j->runs = false;
    note_arrival(j);
    struct layout *l = new_station(j);
    *l = j->emitted;
    add_rest(l, &j->base, j->end, j->emitted.end);
}

static void mirrored(struct journey *j, const struct sk_event *e) {
    struct layout behind;
    if (j->runs)
        note_arrival(j);
    if (e->flags > e->length)
        return;
    find(j, e->bytes + e->flags, e->length - e->flags, &behind);
    struct layout *l = new_station(j);
    add_rest(l, &behind, 0, e->flags);
}

static void follow(struct journey *j, const struct sk_event *e) {
    switch (e->kind) {
    case SK_EV_INGRESS:
    case SK_EV_EGRESS:
        note_departure(j);
        find(j, e->bytes, e->length, &j->base);
        j->taken = j->emitted = (struct layout){0};
        j->end = 0;
        j->runs = true;
        break;
    case SK_EV_EXTRACT:
        if (e->offset >= 0)
            add(&j->taken, e->name, e->header, e->bytes, (uint32_t)e->offset);
        break;
    case SK_EV_PARSED:
        j->end = e->offset > 0 ? (uint32_t)e->offset : 0;
        break;
    case SK_EV_EMIT:
        add(&j->emitted, e->name, e->header, e->bytes, j->emitted.end);
        break;
    case SK_EV_MIRRORED:
        if (j->runs && j->emitted.n) // egress: behind the deparser
            note_departure(j);
        mirrored(j, e);
        break;
    case SK_EV_WISHES:
    case SK_EV_SENT:
    case SK_EV_RECIRCULATED:
        note_departure(j);
        break;
    default:
        break;
    }
}

void explain_arrival(const struct explain *x, struct layout *out) {
    struct layout taken = {0};
    *out = taken;
    for (size_t i = 0; i < x->n && x->told[i].p.passes == 0; i++) {
        const struct sk_event *e = &x->told[i].e;
        if (e->kind == SK_EV_INGRESS || e->kind == SK_EV_EGRESS)
            taken = (struct layout){0};
        if (e->kind == SK_EV_EXTRACT && e->gress == SK_IN_INGRESS && e->offset >= 0)
            add(&taken, e->name, e->header, e->bytes, (uint32_t)e->offset);
        if (taken.end > out->end)
            *out = taken;
    }
}

void explain_departure(const struct explain *x, size_t at, struct layout *out) {
    struct journey *j = calloc(1, sizeof *j);
    if (!j || !(j->stations = calloc(MAX_STATIONS, sizeof *j->stations)))
        abort();
    for (size_t i = 0; i <= at; i++)
        follow(j, &x->told[i].e);
    find(j, x->told[at].e.bytes, x->told[at].e.length, out);
    free(j->stations);
    free(j);
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

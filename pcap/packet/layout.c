// SPDX-License-Identifier: Apache-2.0
#include "pcap/packet/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define MAX_STATIONS 512u // of a packet with 64 passes and copies; later ones replace the last
#define CHUNK        2048u

struct station {
    struct header_at *headers;
    uint32_t n;
};

struct chunk {
    struct chunk *next;
    size_t used, room;
    max_align_t bytes[];
};

struct journey {
    struct station *stations;
    size_t n, room;
    struct chunk *chunks; // what stations and headers point to; the first one has room
    // of the program that runs
    struct layout base, taken, emitted;
    uint32_t end; // of what the parser took
    bool runs;
};

void layout_add(struct layout *l, const char *name, const struct sk_header_desc *desc,
                const uint8_t *bytes, uint32_t offset) {
    if (l->n == LAYOUT_HEADERS)
        return;
    l->headers[l->n++] = (struct header_at){name, desc, bytes, offset};
    if (offset + desc->bytes > l->end)
        l->end = offset + desc->bytes;
}

char *layout_field_name(const struct layout *l, uint32_t h, uint32_t f) {
    char *name;
    if (asprintf(&name, "%s.%s", l->headers[h].name, l->headers[h].desc->fields[f].name) < 0)
        abort();
    return name;
}

// ---- memory ----

static void *journey_keep(struct journey *j, const void *bytes, size_t n) {
    const size_t rounded = (n + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
    if (!j->chunks || j->chunks->used + rounded > j->chunks->room) {
        const size_t room = rounded > CHUNK ? rounded : CHUNK;
        struct chunk *c = malloc(sizeof *c + room);
        if (!c)
            abort();
        *c = (struct chunk){.next = j->chunks, .room = room};
        j->chunks = c;
    }
    void *to = (char *)j->chunks->bytes + j->chunks->used;
    j->chunks->used += rounded;
    return memcpy(to, bytes, n);
}

struct journey *journey_new(void) {
    struct journey *j = calloc(1, sizeof *j);
    if (!j)
        abort();
    return j;
}

void journey_clear(struct journey *j) {
    while (j->chunks && j->chunks->next) {
        struct chunk *next = j->chunks->next;
        free(j->chunks);
        j->chunks = next;
    }
    if (j->chunks)
        j->chunks->used = 0;
    j->n = 0;
    j->runs = false;
}

void journey_free(struct journey *j) {
    if (!j)
        return;
    journey_clear(j);
    free(j->chunks);
    free(j->stations);
    free(j);
}

// ---- stations ----

static void add_rest(struct layout *out, const struct layout *l, uint32_t from, uint32_t to) {
    for (uint32_t i = 0; i < l->n; i++) {
        const struct header_at *h = &l->headers[i];
        if (h->offset >= from)
            layout_add(out, h->name, h->desc, h->bytes, h->offset - from + to);
    }
}

// Whether the bytes have these headers; those past the end of a packet that was cut are taken
// out.
static bool journey_fits(const struct station *s, const uint8_t *bytes, uint32_t length,
                         struct layout *out) {
    out->n = out->end = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct header_at *h = &s->headers[i];
        if (h->offset + h->desc->bytes > length)
            continue;
        if (memcmp(bytes + h->offset, h->bytes, h->desc->bytes) != 0)
            return false;
        layout_add(out, h->name, h->desc, h->bytes, h->offset);
    }
    return out->n > 0;
}

// Headers with the bytes that the journey keeps.
static void journey_find_headers(const struct journey *j, const uint8_t *bytes, uint32_t length,
                                 struct layout *out) {
    for (size_t i = j->n; i-- > 0;)
        if (journey_fits(&j->stations[i], bytes, length, out))
            return;
    out->n = out->end = 0;
}

static void new_station(struct journey *j, const struct layout *l) {
    if (j->n == j->room && j->room < MAX_STATIONS) {
        j->room = j->room ? 2 * j->room : 8;
        j->stations = sk_resize(j->stations, j->room, sizeof *j->stations);
    }
    j->stations[j->n < MAX_STATIONS ? j->n++ : MAX_STATIONS - 1] =
        (struct station){journey_keep(j, l->headers, l->n * sizeof l->headers[0]), l->n};
}

// What came into the program, as far as it is known now.
static void note_arrival(struct journey *j) {
    struct layout l = j->taken;
    add_rest(&l, &j->base, j->end, j->end);
    new_station(j, &l);
}

static void note_departure(struct journey *j) {
    if (!j->runs)
        return;
    j->runs = false;
    note_arrival(j);
    struct layout l = j->emitted;
    add_rest(&l, &j->base, j->end, j->emitted.end);
    new_station(j, &l);
}

static void journey_mirrored(struct journey *j, const struct sk_event *e) {
    struct layout behind, l = {.n = 0};
    if (j->runs)
        note_arrival(j);
    if (e->flags > e->length)
        return;
    journey_find_headers(j, e->bytes + e->flags, e->length - e->flags, &behind);
    add_rest(&l, &behind, 0, e->flags);
    new_station(j, &l);
}

static void add_kept(struct journey *j, struct layout *l, const struct sk_event *e,
                     uint32_t offset) {
    layout_add(l, e->name, e->header, journey_keep(j, e->bytes, e->header->bytes), offset);
}

void journey_follow(struct journey *j, const struct sk_event *e) {
    switch (e->kind) {
    case SK_EV_INGRESS:
    case SK_EV_EGRESS:
        note_departure(j);
        journey_find_headers(j, e->bytes, e->length, &j->base);
        j->taken.n = j->taken.end = j->emitted.n = j->emitted.end = 0;
        j->end = 0;
        j->runs = true;
        break;
    case SK_EV_EXTRACT:
        if (e->offset >= 0)
            add_kept(j, &j->taken, e, (uint32_t)e->offset);
        break;
    case SK_EV_PARSED:
        j->end = e->offset > 0 ? (uint32_t)e->offset : 0;
        break;
    case SK_EV_EMIT:
        add_kept(j, &j->emitted, e, j->emitted.end);
        break;
    case SK_EV_MIRRORED:
        if (j->runs && j->emitted.n) // egress: after the deparser
            note_departure(j);
        journey_mirrored(j, e);
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

void journey_find(const struct journey *j, const uint8_t *bytes, uint32_t length,
                  struct layout *out) {
    journey_find_headers(j, bytes, length, out);
    for (uint32_t i = 0; i < out->n; i++)
        out->headers[i].bytes = bytes + out->headers[i].offset;
}

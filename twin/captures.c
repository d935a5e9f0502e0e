// SPDX-License-Identifier: Apache-2.0
//
// captures: captures of the same name, packet by packet in order, through the aligner of replays.
// The packets of each interface and direction are compared for themselves: how those of several
// interfaces lie between each other is a matter of moments, as their times are.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pcap/capture/capture.h"
#include "pcap/replay/align.h"
#include "twin/items.h"

#define CAPTURES_SHOWN 16u // bytes of a packet in a line

struct captures_packet {
    uint64_t number; // in its file
    uint32_t length, wire_length;
    uint8_t bytes[];
};

// The packets of one interface and direction of a file.
struct captures_stream {
    struct capture *file;
    const char *interface; // "": it has no name
    enum capture_direction direction;
};
struct captures {
    struct twin_report *report;
    const char *name;
    struct captures_stream a, b;
    struct sk_error *err;
};

static const char *captures_interface(const struct capture_frame *f) {
    return f->interface && f->interface->name ? f->interface->name : "";
}

// 1 and '*out', 0 at the end, -1 with a sentence.
static int captures_next(struct captures_stream *s, struct captures_packet **out,
                         struct sk_error *err) {
    struct capture_frame f;
    int rc;
    do {
        rc = capture_next(s->file, &f, err);
    } while (rc > 0 &&
             (f.direction != s->direction || strcmp(captures_interface(&f), s->interface) != 0));
    if (rc <= 0)
        return rc;
    struct captures_packet *p = malloc(sizeof *p + f.length);
    if (!p)
        abort();
    p->number = capture_count(s->file);
    p->length = f.length;
    p->wire_length = f.wire_length;
    memcpy(p->bytes, f.bytes, f.length);
    *out = p;
    return 1;
}

// ---- lines ----

static char *captures_bytes(const struct captures_packet *p, uint32_t from) {
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out)
        abort();
    fprintf(out, "packet %" PRIu64 ", %" PRIu32 " bytes", p->number, p->wire_length);
    if (from < p->length)
        fprintf(out, ", from %" PRIu32 " on ", from);
    for (uint32_t i = from; i < p->length && i < from + CAPTURES_SHOWN; i++)
        fprintf(out, "%02x", p->bytes[i]);
    if (fclose(out))
        abort();
    return text;
}

static void captures_tell(struct captures *c, const struct captures_packet *a,
                          const struct captures_packet *b) {
    static const char *const directions[] = {
        [CAPTURE_UNKNOWN] = "", [CAPTURE_INBOUND] = " received", [CAPTURE_OUTBOUND] = " sent"};
    uint32_t same = 0;
    char *key, *x = NULL, *y = NULL;
    while (a && b && same < a->length && same < b->length && a->bytes[same] == b->bytes[same])
        same++;
    x = a ? captures_bytes(a, same) : sk_copy_text("-");
    y = b ? captures_bytes(b, same) : sk_copy_text("-");
    if (asprintf(&key, "%s%s%spacket %" PRIu64, c->a.interface, directions[c->a.direction],
                 *c->a.interface || c->a.direction ? " " : "", (a ? a : b)->number) < 0)
        abort();
    char *table;
    if (asprintf(&table, "capture%s%s", *c->name ? " " : "", c->name) < 0)
        abort();
    twin_report_difference(c->report, table, key, "bytes", x, y);
    free(table);
    free(key);
    free(x);
    free(y);
}

// ---- what the aligner asks and tells ----

static bool captures_equal(void *aux, const void *sent, const void *golden) {
    const struct captures_packet *a = sent, *b = golden;
    (void)aux;
    return a->length == b->length && a->wire_length == b->wire_length &&
           memcmp(a->bytes, b->bytes, a->length) == 0;
}

// Clocks of two switches have nothing to do with each other.
static int captures_time(void *aux, const void *sent, const void *golden) {
    (void)aux, (void)sent, (void)golden;
    return 1;
}

static int captures_golden(void *aux, void **golden) {
    struct captures *c = aux;
    struct captures_packet *p = NULL;
    const int rc = captures_next(&c->b, &p, c->err);
    *golden = p;
    return rc;
}

static void captures_same(void *aux, void *sent, void *golden) {
    struct captures *c = aux;
    twin_report_count(c->report, true);
    free(sent);
    free(golden);
}

static void captures_changed(void *aux, void *sent, void *golden) {
    captures_tell(aux, sent, golden);
    captures_same(aux, sent, golden);
}

static void captures_extra(void *aux, void *sent) {
    captures_tell(aux, sent, NULL);
    captures_same(aux, sent, NULL);
}

static void captures_missing(void *aux, void *golden, const void *then) {
    (void)then;
    captures_tell(aux, NULL, golden);
    captures_same(aux, NULL, golden);
}

// ---- files ----

static int captures_align(struct captures *c) {
    const struct align_owner owner = {.aux = c,
                                      .equal = captures_equal,
                                      .time = captures_time,
                                      .next = captures_golden,
                                      .same = captures_same,
                                      .changed = captures_changed,
                                      .extra = captures_extra,
                                      .missing = captures_missing};
    struct align *align = align_new(&owner);
    struct captures_packet *p;
    int rc = 1;
    while (rc > 0 && (rc = captures_next(&c->a, &p, c->err)) > 0)
        rc = align_sent(align, p) < 0 ? -1 : 1;
    if (rc == 0)
        rc = align_end(align, false);
    // golden packets that nobody waited for
    while (rc == 0 && (rc = captures_next(&c->b, &p, c->err)) > 0) {
        captures_missing(c, p, NULL);
        rc = 0;
    }
    align_free(align);
    return rc < 0 ? -1 : 0;
}

// Adds the interfaces and directions of a file to an array of [name, direction].
static int captures_streams(const char *path, json_t *list, struct sk_error *err) {
    struct capture *file = capture_open(path, err);
    struct capture_frame f;
    int rc = file ? 1 : -1;
    while (rc > 0 && (rc = capture_next(file, &f, err)) > 0) {
        json_t *one = json_pack("[s+, i]", captures_interface(&f), "", (int)f.direction);
        if (!one) // no UTF-8
            rc = sk_fail(err, "%s: the name of an interface is not UTF-8", path);
        bool known = false;
        for (size_t i = 0; i < json_array_size(list); i++)
            known |= json_equal(json_array_get(list, i), one);
        if (one && !known)
            json_array_append(list, one);
        json_decref(one);
    }
    capture_close(file);
    return rc < 0 ? -1 : 0;
}

static int captures_pair(struct twin_report *r, const char *name, const char *a, const char *b,
                         struct sk_error *err) {
    json_t *streams = json_array();
    int rc = captures_streams(a, streams, err) || captures_streams(b, streams, err) ? -1 : 0;
    for (size_t i = 0; rc == 0 && i < json_array_size(streams); i++) {
        const json_t *one = json_array_get(streams, i);
        const char *interface = json_string_value(json_array_get(one, 0));
        const enum capture_direction direction =
            (enum capture_direction)json_integer_value(json_array_get(one, 1));
        struct captures c = {.report = r,
                             .name = name,
                             .a = {capture_open(a, err), interface, direction},
                             .b = {NULL, interface, direction},
                             .err = err};
        c.b.file = c.a.file ? capture_open(b, err) : NULL;
        rc = c.b.file ? captures_align(&c) : -1;
        capture_close(c.a.file);
        capture_close(c.b.file);
    }
    json_decref(streams);
    if (rc == 0)
        twin_report_skip(r, "times of packets", "times", -1);
    return rc;
}

int twin_captures(struct twin_report *r, const struct twin_side *a, const struct twin_side *b,
                  struct sk_error *err) {
    int rc = 0;
    for (size_t i = 0, k = 0; rc == 0 && (i < a->n_captures || k < b->n_captures);) {
        const int by = i == a->n_captures   ? 1
                       : k == b->n_captures ? -1
                                            : strcmp(a->captures[i].name, b->captures[k].name);
        const struct twin_capture *x = by <= 0 ? &a->captures[i++] : NULL,
                                  *y = by >= 0 ? &b->captures[k++] : NULL;
        if (x && y)
            rc = captures_pair(r, x->name, x->path, y->path, err);
        else
            twin_report_difference(r, "capture", (x ? x : y)->name, "file", x ? x->path : "-",
                                   y ? y->path : "-");
    }
    return rc;
}

// SPDX-License-Identifier: Apache-2.0
#include "pipeline/observe/violations.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024u

struct found {
    struct sk_violation_view view;
    uint32_t next; // in its bucket, + 1
};

struct sk_violations {
    struct sk_observer observer; // first: its address is ours
    FILE *out;
    struct found *list;
    uint32_t n, room, buckets[BUCKETS]; // index + 1
    uint64_t count;
};

const char *sk_violation_word(enum sk_violation v) {
    static const char *const words[] = {
#define WORD(name, word, text) word,
        SK_VIOLATIONS(WORD)
#undef WORD
    };
    return v < SK_VIOLATION_COUNT ? words[v] : "?";
}

static const char *violation_sentence(enum sk_violation v) {
    static const char *const texts[] = {
#define TEXT(name, word, text) text,
        SK_VIOLATIONS(TEXT)
#undef TEXT
    };
    return v < SK_VIOLATION_COUNT ? texts[v] : "?";
}

size_t sk_violation_text(char *text, size_t size, const struct sk_event *e) {
    int n = snprintf(text, size, "%s %s", e->name, violation_sentence(e->violation));
    size_t at = n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
    n = 0;
    if (e->violation == SK_VIOLATION_INDEX || e->violation == SK_VIOLATION_STACK)
        n = snprintf(text + at, size - at, ": %" PRIu64, e->number);
    else if (e->violation == SK_VIOLATION_SHORT_PACKET || e->violation == SK_VIOLATION_HEADROOM)
        n = snprintf(text + at, size - at, " by %" PRIu64 " byte%s", e->number,
                     e->number == 1 ? "" : "s");
    else if (e->violation == SK_VIOLATION_EMITTED && e->number > 0)
        n = snprintf(text + at, size - at, ", nor to %" PRIu64 " other field%s of its header",
                     e->number, e->number == 1 ? "" : "s");
    else if (e->also)
        n = snprintf(text + at, size - at, "; the first time was at %s:%u:%u", e->also->file,
                     e->also->line, e->also->column);
    return n < 0 ? at : at + (size_t)n < size ? at + (size_t)n : size - 1;
}

static void violations_print(FILE *out, const struct sk_packet *p, const struct sk_event *e) {
    static const char *const where[] = {"ingress", "egress", "the switch"};
    char text[512];
    sk_violation_text(text, sizeof text, e);
    if (e->at)
        fprintf(out, "%s:%u:%u: ", e->at->file, e->at->line, e->at->column);
    fprintf(out, "checked: %s (packet %" PRIu64 ", pass %u, %s)\n", text, p->serial,
            sk_packet_pass(p), where[e->gress]);
}

static bool violations_same_place(const struct sk_place *a, const struct sk_place *b) {
    return a == b || (a && b && a->line == b->line && a->column == b->column &&
                      strcmp(a->file, b->file) == 0);
}

static uint32_t bucket_of(const struct sk_event *e) {
    uint32_t h = e->violation;
    for (const char *c = e->name; *c; c++)
        h = (h ^ (unsigned char)*c) * 16777619u;
    if (e->at)
        h = (h ^ e->at->line * 64u ^ e->at->column) * 16777619u;
    return (h ^ h >> 16) % BUCKETS;
}

static struct found *violations_find(struct sk_violations *v, const struct sk_event *e,
                                     uint32_t bucket) {
    for (uint32_t i = v->buckets[bucket]; i > 0; i = v->list[i - 1].next) {
        struct found *f = &v->list[i - 1];
        if (f->view.violation == e->violation && strcmp(f->view.name, e->name) == 0 &&
            violations_same_place(f->view.at, e->at))
            return f;
    }
    return NULL;
}

static struct found *violations_add(struct sk_violations *v, const struct sk_packet *p,
                                    const struct sk_event *e, uint32_t bucket) {
    if (v->n == SK_MAX_VIOLATIONS)
        return NULL;
    if (v->n == v->room) {
        uint32_t room = v->room ? 2 * v->room : 16;
        struct found *grown = realloc(v->list, room * sizeof *grown);
        if (!grown)
            return NULL;
        v->list = grown;
        v->room = room;
    }
    struct found *f = &v->list[v->n++];
    *f = (struct found){.view = {.violation = e->violation,
                                 .at = e->at,
                                 .name = e->name,
                                 .first_packet = p->serial},
                        .next = v->buckets[bucket]};
    v->buckets[bucket] = v->n;
    if (v->out)
        violations_print(v->out, p, e);
    return f;
}

static void violations_on_event(struct sk_observer *o, const struct sk_packet *p,
                                const struct sk_event *e) {
    struct sk_violations *v = (struct sk_violations *)o;
    if (e->kind != SK_EV_VIOLATION)
        return;
    v->count++;
    uint32_t bucket = bucket_of(e);
    struct found *f = violations_find(v, e, bucket);
    if (!f)
        f = violations_add(v, p, e, bucket);
    if (f)
        f->view.count++;
}

struct sk_violations *sk_violations_new(FILE *out) {
    struct sk_violations *v = calloc(1, sizeof *v);
    if (!v)
        return NULL;
    v->observer.event = violations_on_event;
    v->out = out;
    return v;
}

void sk_violations_free(struct sk_violations *v) {
    if (!v)
        return;
    free(v->list);
    free(v);
}

struct sk_observer *sk_violations_observer(struct sk_violations *v) {
    return &v->observer;
}

uint64_t sk_violations_count(const struct sk_violations *v) {
    return v->count;
}

void sk_violations_each(const struct sk_violations *v,
                        bool (*fn)(void *aux, const struct sk_violation_view *view), void *aux) {
    for (uint32_t i = 0; i < v->n; i++)
        if (!fn(aux, &v->list[i].view))
            return;
}

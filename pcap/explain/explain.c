// SPDX-License-Identifier: Apache-2.0
#include "pcap/explain/explain.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pcap/explain/explain_impl.h"

struct explain_block {
    struct explain_block *next;
    max_align_t bytes[];
};

static void *explain_alloc_block(struct explain *x, size_t n) {
    struct explain_block *b = malloc(sizeof *b + n);
    if (!b)
        abort();
    b->next = x->blocks;
    x->blocks = b;
    return b->bytes;
}

void *explain_keep(struct explain *x, const void *bytes, size_t n) {
    return n ? memcpy(explain_alloc_block(x, n), bytes, n) : explain_alloc_block(x, 1);
}

char *explain_printf(struct explain *x, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    char *text = explain_vprintf(format, ap);
    va_end(ap);
    char *kept = explain_keep(x, text, strlen(text) + 1);
    free(text);
    return kept;
}

// ---- keeping an event ----

static const struct sk_trace_value *keep_values(struct explain *x, const struct sk_trace_value *v,
                                                uint32_t n) {
    if (n == 0)
        return NULL;
    struct sk_trace_value *kept = explain_keep(x, v, n * sizeof *v);
    for (uint32_t i = 0; i < n; i++) {
        kept[i].name = explain_keep(x, v[i].name, strlen(v[i].name) + 1);
        if (v[i].bytes)
            kept[i].bytes = explain_keep(x, v[i].bytes, (v[i].width + 7) / 8);
    }
    return kept;
}

static void keep_table(struct explain *x, struct sk_event *e) {
    const struct sk_table_desc *t = e->table;
    const struct sk_action_desc *a = t->actions[e->action];
    size_t key = t->key_words * sizeof *e->key;
    if (e->key)
        e->key = explain_keep(x, e->key, key);
    if (e->data)
        e->data = explain_keep(x, e->data, a->data_words * sizeof *e->data);
    if (!e->entry)
        return;
    struct sk_entry *entry = explain_keep(x, e->entry, sizeof *e->entry);
    entry->value = entry->value ? explain_keep(x, entry->value, key) : NULL;
    entry->mask = entry->mask ? explain_keep(x, entry->mask, key) : NULL;
    entry->data = entry->direct = NULL;
    entry->meter = NULL;
    e->entry = entry;
}

static void explain_keep_event(struct explain *x, const struct sk_packet *p,
                               const struct sk_event *e) {
    x->told = sk_grow(x->told, x->n, &x->room, sizeof *x->told);
    struct told *t = &x->told[x->n++];
    *t = (struct told){.e = *e, .p = *p};
    t->p.buf = NULL;
    t->p.observer = NULL;
    t->p.next = NULL;
    t->e.in = keep_values(x, e->in, e->n_in);
    t->e.out = keep_values(x, e->out, e->n_out);
    t->e.result = keep_values(x, e->result, e->n_result);
    if (e->bytes)
        t->e.bytes = explain_keep(x, e->bytes, e->length);
    if (e->kind == SK_EV_TABLE)
        keep_table(x, &t->e);
}

// The packet is the one that was put in last: it is told as received, or as refused before it had a
// buffer. What a packet generator makes at that moment is told of as well, and is another one.
static bool begins(const struct explain *x, const struct sk_packet *p, const struct sk_event *e) {
    const struct replay_packet *last = &x->counts->last;
    const bool now = x->bytes ? last->bytes == x->bytes : x->counts->in == x->wanted;
    if (!now || p->ingress_port != last->port)
        return false;
    if (e->kind == SK_EV_DROPPED)
        return !p->buf;
    return e->kind == SK_EV_RECEIVED && e->length == last->length &&
           memcmp(e->bytes, last->bytes, e->length) == 0;
}

static void explain_on_event(struct sk_observer *o, const struct sk_packet *p,
                             const struct sk_event *e) {
    struct explain *x = (struct explain *)o;
    if (!x->found && begins(x, p, e)) {
        x->found = true;
        x->serial = p->serial;
        x->wire_length = x->counts->last.wire_length;
    }
    if (x->found && p->serial == x->serial && e->kind != SK_EV_DROP_CTL)
        explain_keep_event(x, p, e);
}

struct explain *explain_new(const struct replay_counts *counts, uint64_t wanted,
                            const uint8_t *bytes, uint64_t number) {
    struct explain *x = calloc(1, sizeof *x);
    if (!x)
        abort();
    x->observer = (struct sk_observer){.everything = false, .event = explain_on_event};
    x->counts = counts;
    x->wanted = wanted;
    x->bytes = bytes;
    x->number = number;
    return x;
}

void explain_free(struct explain *x) {
    if (!x)
        return;
    for (struct explain_block *b = x->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(x->told);
    free(x);
}

struct sk_observer *explain_observer(struct explain *x) {
    return &x->observer;
}

bool explain_found(const struct explain *x) {
    return x->found;
}

const struct told *explain_received(const struct explain *x) {
    return x->n && x->told[0].e.kind == SK_EV_RECEIVED ? &x->told[0] : NULL;
}

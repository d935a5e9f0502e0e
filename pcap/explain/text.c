// SPDX-License-Identifier: Apache-2.0
//
// text: a packet's whole way as text: what becomes of it, station by station, and of each copy that
// leaves what is different from what came in.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pcap/explain/explain_impl.h"

#define NS_PER_S    UINT64_C(1000000000)
#define SHOWN_BYTES 32u

static bool explain_text_is_programs(const struct sk_event *e) {
    return e->gress != SK_IN_ENGINE;
}

// ---- what leaves ----

static void explain_text_put_bytes(struct page *p, const uint8_t *bytes, uint32_t n) {
    for (uint32_t i = 0; i < n && i < SHOWN_BYTES; i++)
        page_put(p, INK_NAME, i % 4 ? "~%02x" : "%02x", bytes[i]);
    if (n > SHOWN_BYTES)
        page_put(p, INK_NAME, "~...");
}

static void put_rest(struct page *p, const struct sk_event *was, uint32_t from,
                     const struct sk_event *is, uint32_t to) {
    const uint32_t a = was->length - from, b = is->length - to;
    uint32_t at = 0;
    if (a == b && memcmp(was->bytes + from, is->bytes + to, a) == 0)
        return;
    while (at < a && at < b && was->bytes[from + at] == is->bytes[to + at])
        at++;
    page_line(p, 4);
    page_put(p, INK_PLAIN, "payload: %u byte%s, %u came in; from byte %u on", b, b == 1 ? "" : "s",
             a, to + at);
    if (at < b)
        explain_text_put_bytes(p, is->bytes + to + at, b - at);
    else
        page_put(p, INK_PLAIN, "nothing");
    page_put(p, INK_PLAIN, "in place of");
    if (at < a)
        explain_text_put_bytes(p, was->bytes + from + at, a - at);
    else
        page_put(p, INK_PLAIN, "nothing");
}

static void differences(struct explain *x, struct page *p, size_t at) {
    const struct sk_event *is = &x->told[at].e, *was = &explain_received(x)->e;
    struct layout came, leaves;
    explain_arrival(x, &came);
    explain_departure(x, at, &leaves);
    if (leaves.n == 0)
        came = leaves;
    for (uint32_t i = 0; i < leaves.n; i++) {
        const struct header_at *h = &leaves.headers[i], *o = explain_same_header(&came, h);
        if (o && memcmp(o->bytes, h->bytes, h->desc->bytes) == 0)
            continue;
        page_line(p, 4);
        page_put(p, o ? INK_PLAIN : INK_GOOD, o ? "%s:" : "+ %s:", h->name);
        explain_fields(x, p, h->desc, h->bytes, o ? o->bytes : NULL);
    }
    for (uint32_t i = 0; i < came.n; i++) {
        if (explain_same_header(&leaves, &came.headers[i]))
            continue;
        page_line(p, 4);
        page_put(p, INK_BAD, "- %s:", came.headers[i].name);
        explain_fields(x, p, came.headers[i].desc, came.headers[i].bytes, NULL);
    }
    put_rest(p, was, came.end, is, leaves.end);
}

static void explain_text_sent(struct explain *x, struct page *p, size_t at) {
    const struct sk_event *e = &x->told[at].e;
    const struct told *was = explain_received(x);
    const bool same =
        was && was->e.length == e->length && memcmp(was->e.bytes, e->bytes, e->length) == 0;
    page_line(p, 0);
    page_put(p, INK_GOOD, "leaves at port %u", e->port);
    page_put(p, INK_PLAIN, "~, %u bytes, %s", e->length,
             same ? "unchanged" : "with these differences:");
    if (!same && was)
        differences(x, p, at);
}

// ---- the engine ----

// The last parser state or table of the run before: where it was decided.
static void put_where(struct explain *x, struct page *p, size_t at) {
    const struct sk_event *state = NULL, *table = NULL;
    const bool parser = strcmp(x->told[at].e.text, "parser error") == 0;
    const bool wish = parser || strstr(x->told[at].e.text, "drop_ctl") ||
                      strstr(x->told[at].e.text, "gress") || strstr(x->told[at].e.text, "resubmit");
    for (size_t i = at; wish && i-- > 0;) {
        const struct sk_event *e = &x->told[i].e;
        if (e->kind == SK_EV_INGRESS || e->kind == SK_EV_EGRESS || e->kind == SK_EV_COPY)
            break;
        if (e->kind == SK_EV_STATE && !state)
            state = e;
        if (e->kind == SK_EV_TABLE && !table)
            table = e;
    }
    if (table && !parser) {
        page_put(p, INK_PLAIN, "~; the last table was %s: %s", explain_short_name(table->name),
                 explain_last_name(table->table->actions[table->action]->name));
        page_place(p, table->at);
    } else if (state) {
        page_put(p, INK_PLAIN, "~; in state %s", explain_last_name(state->name));
        page_place(p, state->at);
    }
}

static void explain_text_copy(struct explain *x, struct page *p, size_t at) {
    const struct told *t = &x->told[at];
    page_line(p, 4);
    page_put(p, INK_PLAIN, "to port %u", t->e.port);
    if (t->e.name && strcmp(t->e.name, "unicast") != 0)
        page_put(p, INK_PLAIN, "~, %s", t->e.name);
    if (t->e.n_in)
        page_put(p, INK_PLAIN, "group %" PRIu64, t->e.in[0].low);
    if (t->e.number)
        page_put(p, INK_PLAIN, "~, rid %" PRIu64, t->e.number);
    if (t->e.text)
        page_put(p, INK_PLAIN, "~, bypasses egress");
}

static void manager(struct explain *x, struct page *p, size_t at, bool *open) {
    const struct sk_event *e = &x->told[at].e;
    struct slot *wishes;
    if (!*open || e->kind == SK_EV_MIRRORED) {
        page_line(p, 2);
        page_put(p, INK_HEAD, "traffic manager");
        *open = true;
    }
    switch (e->kind) {
    case SK_EV_WISHES:
        page_line(p, 4);
        page_put(p, INK_PLAIN, "asked for");
        if (explain_slots(x, &x->told[at], SLOTS_IN, &wishes))
            explain_list(p, wishes, e->n_in);
        else
            page_put(p, INK_PLAIN, "nothing");
        break;
    case SK_EV_MIRRORED:
        page_put(p, INK_PLAIN,
                 "~: mirrored in %s, session %" PRIu64 ", %u bytes with a header of %u", e->text,
                 e->number, e->length, e->flags);
        break;
    case SK_EV_COPY:
        explain_text_copy(x, p, at);
        break;
    case SK_EV_RESUBMITTED:
        page_line(p, 4);
        page_put(p, INK_PLAIN, "back to ingress, unchanged");
        break;
    case SK_EV_RECIRCULATED:
        page_line(p, 4);
        page_put(p, INK_PLAIN, "back to ingress through port %u, %u bytes", e->port, e->length);
        break;
    case SK_EV_DROPPED:
        page_line(p, 4);
        page_put(p, INK_BAD, "dropped: %s", e->text);
        if (e->port < SK_PORTS)
            page_put(p, INK_PLAIN, "(port %u)", e->port);
        put_where(x, p, at);
        break;
    default:
        break;
    }
}

static void explain_text_heading(struct page *p, const struct told *t) {
    const struct sk_event *e = &t->e;
    const unsigned pass = sk_packet_pass(&t->p);
    page_line(p, 0);
    page_put(p, INK_HEAD, e->kind == SK_EV_INGRESS ? "ingress" : "egress");
    page_put(p, INK_PLAIN, "~, port %u", e->port);
    if (e->kind == SK_EV_EGRESS && t->p.rid)
        page_put(p, INK_PLAIN, "~, rid %u", t->p.rid);
    if (pass > 1)
        page_put(p, INK_PLAIN, "~, pass %u", pass);
    if (t->p.resubmitted && e->kind == SK_EV_INGRESS)
        page_put(p, INK_PLAIN, "(resubmitted)");
    page_put(p, INK_PLAIN, "~, %u bytes", e->length);
    if (e->kind == SK_EV_EGRESS && t->p.qid)
        page_put(p, INK_PLAIN, "~, queue %u", t->p.qid);
    if (e->kind == SK_EV_EGRESS && t->p.enq_qdepth)
        page_put(p, INK_PLAIN, "~, %u cells ahead", t->p.enq_qdepth);
    const uint64_t waited = e->number - t->p.enq_tstamp;
    if (e->kind == SK_EV_EGRESS && waited && e->number > t->p.enq_tstamp)
        page_put(p, INK_PLAIN, "~, after %" PRIu64 " ns in the queue", waited);
}

// ---- the beginning ----

static void verdict(const struct explain *x, struct page *p) {
    size_t sent = 0, dropped = 0;
    page_line(p, 0);
    for (size_t i = 0; i < x->n; i++) {
        const struct sk_event *e = &x->told[i].e;
        if (e->kind == SK_EV_SENT)
            sent++;
    }
    for (size_t i = 0, n = 0; i < x->n; i++) {
        const struct sk_event *e = &x->told[i].e;
        if (e->kind == SK_EV_SENT)
            page_put(p, INK_GOOD,
                     n++        ? "~, %u"
                     : sent > 1 ? "leaves at ports %u"
                                : "leaves at port %u",
                     e->port);
    }
    for (size_t i = 0; i < x->n; i++) {
        const struct sk_event *e = &x->told[i].e;
        if (e->kind != SK_EV_DROPPED)
            continue;
        page_put(p, INK_BAD, sent || dropped ? "~; a copy is dropped: %s" : "dropped: %s", e->text);
        dropped++;
    }
    if (sent + dropped == 0)
        page_put(p, INK_PLAIN, "does not leave");
}

static void explain_text_beginning(const struct explain *x, struct page *p) {
    const struct told *t = &x->told[0];
    page_line(p, 0);
    page_put(p, INK_HEAD, "packet");
    if (x->number)
        page_put(p, INK_HEAD, "%" PRIu64, x->number);
    if (t->e.kind == SK_EV_RECEIVED)
        page_put(p, INK_PLAIN,
                 "~, received on port %u at %" PRIu64 ".%09" PRIu64 " s, %u bytes:", t->e.port,
                 t->e.number / NS_PER_S, t->e.number % NS_PER_S, t->e.length);
    else
        page_put(p, INK_PLAIN, "~, port %u, %u bytes:", x->counts->last.port,
                 x->counts->last.length);
    if (x->wire_length > x->counts->last.length)
        page_put(p, INK_BAD, "only the beginning of %u: the rest is not in the capture",
                 x->wire_length);
    verdict(x, p);
}

void explain_text(const struct explain *story, FILE *out, const struct explain_style *style) {
    struct explain *x = (struct explain *)story; // what it keeps grows, the events stay
    struct page p = {.out = out, .width = style->width, .colour = style->colour, .empty = true};
    bool open = false;
    struct explain_part part = {"parser", NULL};
    size_t begin = 0;
    explain_shapes(x);
    explain_text_beginning(x, &p);
    for (size_t i = 0, end; i < x->n; i = end) {
        const struct told *t = &x->told[i];
        end = i + 1;
        if (explain_text_is_programs(&t->e)) {
            while (end < x->n && explain_text_is_programs(&x->told[end].e))
                end++;
            explain_run(x, &p, begin, i, end, &part);
            open = false;
        } else if (t->e.kind == SK_EV_INGRESS || t->e.kind == SK_EV_EGRESS) {
            page_end(&p);
            fputc('\n', out);
            explain_text_heading(&p, t);
            open = false;
            part = (struct explain_part){"parser", NULL};
            begin = end;
        } else if (t->e.kind == SK_EV_SENT) {
            page_end(&p);
            fputc('\n', out);
            explain_text_sent(x, &p, i);
            open = false;
        } else if (t->e.kind != SK_EV_RECEIVED) {
            manager(x, &p, i, &open);
            part.shown = NULL; // a mirrored copy is made in the middle of a deparser
        }
    }
    page_end(&p);
}

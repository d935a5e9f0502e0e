// SPDX-License-Identifier: Apache-2.0
//
// events: what a program does with the packet, as text: its parser, its control, its deparser.
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pcap/explain/explain_impl.h"
#include "pipeline/observe/violations.h"

#define PART   2u // columns of a part of a run, of what is in it, of what belongs to that
#define INSIDE 4u
#define BELOW  6u
#define LIST   4u // numbered fields from which on they are one list

// One event, or one of each repetition.
struct seen {
    struct explain *x;
    struct page *page;
    struct group g;
    unsigned indent; // of what stands in every part
};

static const struct told *explain_events_nth(const struct seen *s, size_t i) {
    return &s->x->told[s->g.at + i * s->g.stride];
}
static const struct sk_event *explain_events_first(const struct seen *s) {
    return &explain_events_nth(s, 0)->e;
}

static const char *explain_events_name_of(const struct seen *s) {
    const char *a = explain_events_first(s)->name, *b = explain_events_nth(s, s->g.n - 1)->e.name;
    return explain_brace(s->x, explain_short_name(a ? a : ""), explain_short_name(b ? b : ""));
}

void explain_list(struct page *p, const struct slot *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (*s[i].name)
            page_put(p, INK_PLAIN, "%s", s[i].name);
        page_put(p, INK_NAME, *s[i].name ? "^%s" : "%s", s[i].value);
        if (i + 1 < n)
            page_put(p, INK_PLAIN, "~,");
    }
}

// A name, and the value, or those of all repetitions when they are not all the same.
static void put_slot(const struct seen *s, enum slots which, size_t i, bool named) {
    struct slot *a, *b;
    bool same = true;
    explain_slots(s->x, explain_events_nth(s, 0), which, &a);
    explain_slots(s->x, explain_events_nth(s, s->g.n - 1), which, &b);
    const char *name = explain_brace(s->x, a[i].name, b[i].name);
    for (size_t r = 1; same && r < s->g.n; r++) {
        explain_slots(s->x, explain_events_nth(s, r), which, &b);
        same = strcmp(a[i].value, b[i].value) == 0;
    }
    if (*name && named)
        page_put(s->page, INK_PLAIN, "%s", name);
    page_put(s->page, INK_NAME, !named || *name ? "^%s" : "%s", a[i].value);
    for (size_t r = 1; !same && r < s->g.n; r++) {
        explain_slots(s->x, explain_events_nth(s, r), which, &b);
        page_put(s->page, INK_NAME, "%s", b[i].value);
    }
}

static void put_slots(const struct seen *s, enum slots which, size_t from) {
    struct slot *a;
    size_t n = explain_slots(s->x, explain_events_nth(s, 0), which, &a);
    for (size_t i = from; i < n; i++) {
        put_slot(s, which, i, true);
        if (i + 1 < n)
            page_put(s->page, INK_PLAIN, "~,");
    }
}

// "[3]", or "[3 5 7]" when it is another one each time.
static void put_index(const struct seen *s) {
    uint64_t index = explain_events_first(s)->number;
    bool same = true;
    if (index == SK_NO_INDEX)
        return;
    for (size_t r = 1; r < s->g.n; r++)
        same = same && explain_events_nth(s, r)->e.number == index;
    page_put(s->page, INK_NAME, "~[%" PRIu64, index);
    for (size_t r = 1; !same && r < s->g.n; r++)
        page_put(s->page, INK_NAME, "%" PRIu64, explain_events_nth(s, r)->e.number);
    page_put(s->page, INK_NAME, "~]");
}

// ---- the parser ----

// Numbered fields of one width from 'i' on.
static uint32_t explain_events_numbered(const struct sk_header_desc *d, uint32_t i) {
    const struct sk_trace_field *f = &d->fields[i];
    size_t stem = strcspn(f->name, "0123456789");
    uint32_t n = 1;
    if (stem == 0 || f->name[stem + strspn(f->name + stem, "0123456789")])
        return 1;
    for (; i + n < d->n_fields; n++) {
        const struct sk_trace_field *g = &d->fields[i + n];
        if (g->width != f->width || strncmp(f->name, g->name, stem) != 0 ||
            !isdigit((unsigned char)g->name[stem]) ||
            g->name[stem + strspn(g->name + stem, "0123456789")])
            break;
    }
    return n;
}

static bool explain_events_differs(struct explain *x, const struct sk_header_desc *d,
                                   const uint8_t *bytes, const uint8_t *before, uint32_t i) {
    struct sk_trace_value a = explain_field(d, bytes, i), b = explain_field(d, before, i);
    return strcmp(explain_value(x, &a), explain_value(x, &b)) != 0;
}

static void explain_events_put_field(struct explain *x, struct page *p,
                                     const struct sk_header_desc *d, const uint8_t *bytes,
                                     const uint8_t *before, uint32_t i, bool tied) {
    struct sk_trace_value now = explain_field(d, bytes, i);
    if (before) {
        struct sk_trace_value then = explain_field(d, before, i);
        page_put(p, INK_NAME, tied ? "^%s" : "%s", explain_value(x, &then));
        page_put(p, INK_PLAIN, "^->");
    }
    page_put(p, before ? INK_CHANGED : INK_NAME, before || tied ? "^%s" : "%s",
             explain_value(x, &now));
}

bool explain_fields(struct explain *x, struct page *p, const struct sk_header_desc *d,
                    const uint8_t *bytes, const uint8_t *before) {
    bool any = false;
    for (uint32_t i = 0, n; i < d->n_fields; i += n) {
        n = explain_events_numbered(d, i);
        n = n < LIST ? 1 : n;
        uint32_t shown = 0, last = i;
        for (uint32_t k = i; k < i + n; k++)
            if (before ? explain_events_differs(x, d, bytes, before, k) : !d->fields[k].padding) {
                last = k;
                shown++;
            }
        if (shown == 0)
            continue;
        if (any)
            page_put(p, INK_PLAIN, "~,");
        uint32_t k = i;
        while (before && !explain_events_differs(x, d, bytes, before, k))
            k++;
        const bool all = shown == last - k + 1; // what differs is in one piece
        if (all)
            page_put(p, INK_PLAIN, "%s", explain_brace(x, d->fields[k].name, d->fields[last].name));
        for (bool more = false; k <= last; k++) {
            if (before && !explain_events_differs(x, d, bytes, before, k))
                continue;
            if (before && more)
                page_put(p, INK_PLAIN, "~,");
            if (!all)
                page_put(p, INK_PLAIN, "%s", d->fields[k].name);
            explain_events_put_field(x, p, d, bytes, before, k, !more || !all);
            more = true;
        }
        any = true;
    }
    return any;
}

// What the architecture puts before a packet is mostly zero.
static void intrinsic(const struct seen *s, const struct sk_event *e) {
    bool rest = false, any = false;
    for (uint32_t i = 0; i < e->header->n_fields; i++) {
        struct sk_trace_value v = explain_field(e->header, e->bytes, i);
        if (!v.low && !v.high && !v.bytes) {
            rest = true;
            continue;
        }
        page_put(s->page, INK_PLAIN, any ? "~, %s" : "%s", v.name);
        page_put(s->page, INK_NAME, "^%s", explain_value(s->x, &v));
        any = true;
    }
    if (rest)
        page_put(s->page, INK_PLAIN, any ? "~, the rest 0" : "all 0");
}

static void explain_events_extract(const struct seen *s) {
    const struct sk_event *e = explain_events_first(s);
    page_line(s->page, BELOW);
    page_put(s->page, INK_HEAD, "%s", e->name);
    if (e->offset >= 0)
        page_put(s->page, INK_DIM, "~, bytes %d to %d", e->offset, e->offset + (int)e->length - 1);
    page_put(s->page, INK_PLAIN, "~:");
    if (e->offset < 0)
        intrinsic(s, e);
    else
        explain_fields(s->x, s->page, e->header, e->bytes, NULL);
    page_place(s->page, e->at);
}

static void explain_events_advance(const struct seen *s) {
    const struct sk_event *e = explain_events_first(s);
    page_line(s->page, BELOW);
    page_put(s->page, INK_PLAIN, "skip %u byte%s%s", e->length, e->length == 1 ? "" : "s",
             e->offset < 0 ? " before the packet" : "");
    if (e->offset >= 0)
        page_put(s->page, INK_DIM, "from %d", e->offset);
    page_place(s->page, e->at);
}

static void put_select(const struct seen *s) {
    const struct sk_event *e = explain_events_first(s);
    page_line(s->page, BELOW);
    page_put(s->page, INK_PLAIN, "select");
    for (uint32_t i = 0; i < e->n_in; i++) {
        char text[64];
        const struct sk_trace_value *v = &e->in[i];
        snprintf(text, sizeof text,
                 v->high ? "0x%" PRIx64 "%016" PRIx64 : "0x%.0" PRIx64 "%" PRIx64, v->high, v->low);
        page_put(s->page, INK_PLAIN, i ? "~, %s" : "%s", v->name);
        page_put(s->page, INK_NAME, "^%s", v->bytes ? explain_value(s->x, v) : text);
    }
}

// After a select in its line.
static void transition(const struct seen *s) {
    const struct sk_event *e = explain_events_first(s);
    const bool selected = s->g.at > 0 && s->x->told[s->g.at - 1].e.kind == SK_EV_SELECT;
    const bool bad = strcmp(e->name, "error") == 0 || strcmp(e->name, "reject") == 0;
    const bool is_default =
        e->text && (strcmp(e->text, "default") == 0 || !isxdigit((unsigned char)*e->text));
    if (!selected)
        page_line(s->page, BELOW);
    if (e->text && *e->text)
        page_put(s->page, INK_PLAIN,
                 !selected    ? "%s"
                 : is_default ? "~: %s"
                              : "~: case %s",
                 e->text);
    page_put(s->page, INK_PLAIN, "->");
    page_put(s->page, bad ? INK_BAD : INK_HEAD, "^%s", explain_last_name(e->name));
}

static void explain_events_parsed(const struct seen *s) {
    const struct sk_event *e = explain_events_first(s);
    page_line(s->page, INSIDE);
    page_put(s->page, INK_PLAIN, "ends at byte %d", e->offset);
    for (unsigned i = 0; i < TRACER_PARSER_ERRORS; i++)
        if (e->flags & 1u << i)
            page_put(s->page, INK_BAD, "~, error: %s", tracer_parser_errors[i]);
}

// ---- the control ----

static void explain_events_table(const struct seen *s) {
    const struct sk_event *e = explain_events_first(s);
    struct slot *match;
    page_line(s->page, INSIDE);
    page_put(s->page, INK_PLAIN, "table");
    page_put(s->page, INK_HEAD, "%s", explain_events_name_of(s));
    if (e->table->n_keys) {
        page_put(s->page, INK_PLAIN, "~:");
        put_slots(s, SLOTS_KEY, 0);
    }
    page_place(s->page, e->at);
    page_line(s->page, BELOW);
    if (e->flags & 1) {
        page_put(s->page, INK_GOOD, "hit");
        page_put(s->page, INK_PLAIN, "~, entry %u", e->entry->id);
        size_t n = explain_slots(s->x, explain_events_nth(s, 0), SLOTS_MATCH, &match);
        if (n) {
            for (size_t i = 0; i < n; i++)
                page_put(s->page, INK_PLAIN, i ? "~, %s %s" : "(%s %s", match[i].name,
                         match[i].value);
            page_put(s->page, INK_PLAIN, "~)");
        }
    } else {
        page_put(s->page, INK_PLAIN, e->table->n_keys ? "miss, default" : "default");
    }
    page_put(s->page, INK_PLAIN, "->");
    page_put(
        s->page, INK_HEAD, "%s",
        explain_brace(s->x, explain_last_name(e->table->actions[e->action]->name),
                      explain_last_name(
                          explain_events_nth(s, s->g.n - 1)->e.table->actions[e->action]->name)));
    page_put(s->page, INK_PLAIN, "~(");
    for (size_t i = 0, n = explain_slots(s->x, explain_events_nth(s, 0), SLOTS_ARGUMENT, &match);
         i < n; i++) {
        page_put(s->page, INK_PLAIN, i ? "~, %s" : "~%s", match[i].name);
        put_slot(s, SLOTS_ARGUMENT, i, false);
    }
    page_put(s->page, INK_PLAIN, "~)");
}

static bool cell_changes(const struct seen *s, size_t i) {
    for (size_t r = 0; r < s->g.n; r++) {
        const struct sk_trace_value *a = &explain_events_nth(s, r)->e.in[i],
                                    *b = &explain_events_nth(s, r)->e.out[i];
        if (a->low != b->low || a->high != b->high)
            return true;
    }
    return false;
}

static void put_cell(const struct seen *s, size_t i) {
    const struct sk_event *e = explain_events_first(s);
    struct slot *a, *b;
    if (e->n_in > 1)
        page_put(s->page, INK_PLAIN, "%s", e->in[i].name);
    if (!cell_changes(s, i)) {
        put_slot(s, SLOTS_IN, i, false);
        page_put(s->page, INK_DIM, "^stays");
        return;
    }
    for (size_t r = 0; r < s->g.n; r++) {
        explain_slots(s->x, explain_events_nth(s, r), SLOTS_IN, &a);
        explain_slots(s->x, explain_events_nth(s, r), SLOTS_OUT, &b);
        page_put(s->page, INK_NAME, r ? "%s" : "^%s", a[i].value);
        page_put(s->page, INK_PLAIN, "^->");
        page_put(s->page, INK_CHANGED, "^%s", b[i].value);
        if (r + 1 < s->g.n)
            page_put(s->page, INK_PLAIN, "~,");
    }
}

static void explain_events_reg(const struct seen *s) {
    const struct sk_event *e = explain_events_first(s);
    page_line(s->page, INSIDE);
    page_put(s->page, INK_PLAIN, "register");
    page_put(s->page, INK_HEAD, "%s", explain_events_name_of(s));
    put_index(s);
    page_put(s->page, INK_PLAIN, "%s", explain_last_name(e->text));
    page_put(s->page, INK_PLAIN, "~:");
    for (uint32_t i = 0; i < e->n_in; i++) {
        if (i)
            page_put(s->page, INK_PLAIN, "~;");
        put_cell(s, i);
    }
    if (e->n_result) {
        page_put(s->page, INK_PLAIN, "~; returns");
        put_slots(s, SLOTS_RESULT, 0);
    }
    page_place(s->page, e->at);
}

// An extern's work: what went in, what came out.
static void explain_events_work(const struct seen *s, const char *what) {
    const struct sk_event *e = explain_events_first(s);
    const bool indexed =
        (e->kind == SK_EV_COUNTER || e->kind == SK_EV_METER) && e->number != SK_NO_INDEX;
    page_line(s->page, s->indent);
    if (*what)
        page_put(s->page, INK_PLAIN, "%s", what);
    if (e->name && strcmp(e->name, what) != 0)
        page_put(s->page, INK_HEAD, "%s", explain_events_name_of(s));
    if (indexed)
        put_index(s);
    if (e->text)
        page_put(s->page, INK_PLAIN, "%s", e->text);
    if (e->n_in > indexed) {
        page_put(s->page, INK_PLAIN, "~:");
        put_slots(s, SLOTS_IN, indexed);
    }
    if (e->n_out) {
        page_put(s->page, INK_PLAIN, "->");
        put_slots(s, SLOTS_OUT, 0);
    }
    page_place(s->page, e->at);
}

static void explain_events_condition(const struct seen *s) {
    const struct sk_event *e = explain_events_first(s);
    page_line(s->page, INSIDE);
    page_put(s->page, INK_PLAIN,
             "if %s:", explain_brace(s->x, e->text, explain_events_nth(s, s->g.n - 1)->e.text));
    page_put(s->page, INK_HEAD, e->flags ? "true" : "false");
    page_place(s->page, e->at);
}

static void explain_events_put_switch(const struct seen *s) {
    const struct sk_event *e = explain_events_first(s);
    page_line(s->page, INSIDE);
    page_put(s->page, INK_PLAIN, "switch");
    put_slots(s, SLOTS_IN, 0);
    page_place(s->page, e->at);
}

static void explain_events_violation(const struct seen *s) {
    char a[512], b[512];
    sk_violation_text(a, sizeof a, explain_events_first(s));
    sk_violation_text(b, sizeof b, &explain_events_nth(s, s->g.n - 1)->e);
    page_line(s->page, s->indent);
    page_put(s->page, INK_BAD, "!!! %s", explain_brace(s->x, a, b));
    page_place(s->page, explain_events_first(s)->at);
}

// ---- the deparser ----

// The header as the parser of this run took it, or null.
static const struct sk_event *explain_events_extracted(const struct explain *x, size_t at) {
    const struct sk_event *e = &x->told[at].e;
    for (size_t i = at; i-- > 0;) {
        const struct sk_event *o = &x->told[i].e;
        if (o->kind == SK_EV_INGRESS || o->kind == SK_EV_EGRESS)
            break;
        if (o->kind == SK_EV_EXTRACT && o->header == e->header && strcmp(o->name, e->name) == 0)
            return o;
    }
    return NULL;
}

// Unchanged ones that follow each other are one line.
static void explain_events_emitted(const struct seen *s, bool go_on) {
    const struct sk_event *e = explain_events_first(s);
    const struct sk_event *was = explain_events_extracted(s->x, s->g.at);
    const bool same = was && memcmp(was->bytes, e->bytes, e->length) == 0;
    if (same && go_on) {
        page_put(s->page, INK_PLAIN, "~,");
        page_put(s->page, INK_PLAIN, "%s", e->name);
        return;
    }
    page_line(s->page, INSIDE);
    page_put(s->page, INK_PLAIN, same ? "emit unchanged:" : was ? "emit" : "emit new");
    page_put(s->page, same ? INK_PLAIN : INK_HEAD, "%s", e->name);
    if (same)
        return;
    page_put(s->page, INK_PLAIN, "~:");
    if (!explain_fields(s->x, s->page, e->header, e->bytes, was ? was->bytes : NULL))
        page_put(s->page, INK_PLAIN, was ? "only padding differs" : "no fields");
}

// Headers that the parser took and the deparser did not emit.
static void put_removed(struct explain *x, struct page *p, size_t begin, size_t at, size_t end) {
    bool any = false, emits = false;
    for (size_t i = at; i < end; i++)
        emits |= x->told[i].e.kind == SK_EV_EMIT;
    for (size_t i = begin; emits && i < end; i++) {
        const struct sk_event *e = &x->told[i].e;
        bool there = e->kind != SK_EV_EXTRACT || e->offset < 0;
        for (size_t k = i; !there && k < end; k++)
            there = x->told[k].e.kind == SK_EV_EMIT && strcmp(x->told[k].e.name, e->name) == 0;
        if (there)
            continue;
        if (!any)
            page_line(p, INSIDE);
        page_put(p, INK_PLAIN, any ? "~, %s" : "not emitted: %s", e->name);
        any = true;
    }
}

// ---- a run ----

static void put_event(const struct seen *s, bool emits_go_on) {
    const struct sk_event *e = explain_events_first(s);
    switch (e->kind) {
    case SK_EV_STATE:
        page_line(s->page, INSIDE);
        page_put(s->page, INK_PLAIN, "state");
        page_put(s->page, INK_HEAD, "%s", explain_last_name(e->name));
        page_place(s->page, e->at);
        break;
    case SK_EV_EXTRACT:
        explain_events_extract(s);
        break;
    case SK_EV_ADVANCE:
        explain_events_advance(s);
        break;
    case SK_EV_SELECT:
        put_select(s);
        break;
    case SK_EV_TRANSITION:
        transition(s);
        break;
    case SK_EV_PARSED:
        explain_events_parsed(s);
        break;
    case SK_EV_CONDITION:
        explain_events_condition(s);
        break;
    case SK_EV_SWITCH:
        explain_events_put_switch(s);
        break;
    case SK_EV_TABLE:
        explain_events_table(s);
        break;
    case SK_EV_REGISTER:
        explain_events_reg(s);
        break;
    case SK_EV_COUNTER:
    case SK_EV_METER:
    case SK_EV_HASH:
    case SK_EV_CHECKSUM:
    case SK_EV_RESUBMIT:
        explain_events_work(s, tracer_kind(e->kind));
        break;
    case SK_EV_VALUE:
        explain_events_work(s, "");
        break;
    case SK_EV_EMIT:
        explain_events_emitted(s, emits_go_on);
        break;
    case SK_EV_VIOLATION:
        explain_events_violation(s);
        break;
    default:
        break;
    }
}

static bool is_unchanged(const struct explain *x, size_t at) {
    const struct sk_event *e = &x->told[at].e;
    const struct sk_event *was = e->kind == SK_EV_EMIT ? explain_events_extracted(x, at) : NULL;
    return was && memcmp(was->bytes, e->bytes, e->length) == 0;
}

void explain_run(struct explain *x, struct page *p, size_t begin, size_t at, size_t end,
                 struct explain_part *part) {
    const size_t from = at;
    for (size_t period, n; at < end; at += period * n) {
        const enum sk_event_kind kind = x->told[at].e.kind;
        explain_repeats(x, at, end, &period, &n);
        if (kind == SK_EV_DEPARSE) {
            part->now = "deparser";
            continue;
        }
        if (part->shown != part->now) {
            page_line(p, PART);
            page_put(p, INK_HEAD, "%s", part->now);
            part->shown = part->now;
        }
        const unsigned indent = strcmp(part->now, "parser") == 0 ? BELOW : INSIDE;
        for (size_t i = 0; i < period; i++)
            put_event(&(struct seen){x, p, {at + i, period, n}, indent},
                      at > from && is_unchanged(x, at - 1));
        if (kind == SK_EV_PARSED)
            part->now = "control";
    }
    put_removed(x, p, begin, from, end);
}

// SPDX-License-Identifier: Apache-2.0
//
// json: a packet's whole way as one JSON document. Its events are those of the trace
// (pipeline/observe/tracer_json.c), without what the document says around them.
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "pcap/explain/explain_impl.h"

#define FORM 1 // of the document; another one when members change their meaning

static json_t *explain_json_hexadecimal(const uint8_t *bytes, uint32_t n) {
    static const char digits[] = "0123456789abcdef";
    char *text = malloc(2 * (size_t)n + 1);
    if (!text)
        abort();
    for (uint32_t i = 0; i < n; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    json_t *j = json_stringn(text, 2 * (size_t)n);
    free(text);
    return j;
}

static void explain_json_set(json_t *object, const char *key, json_t *value) {
    if (!value || json_object_set_new(object, key, value) != 0)
        abort();
}
static void explain_json_set_number(json_t *object, const char *key, uint64_t n) {
    explain_json_set(object, key, json_integer((json_int_t)n));
}
static void explain_json_append(json_t *array, json_t *value) {
    if (!value || json_array_append_new(array, value) != 0)
        abort();
}
// Text of the program's: not UTF-8 for certain.
static json_t *explain_json_text(const char *s) {
    json_t *j = json_string(s);
    return j ? j : json_string("?");
}

// The trace's line as an object.
static json_t *explain_json_event(const struct told *t) {
    char *line = NULL;
    size_t n;
    FILE *f = open_memstream(&line, &n);
    if (!f)
        abort();
    struct sk_tracer tracer = {.out = f};
    tracer_json(&tracer, &t->p, &t->e);
    if (fclose(f) != 0)
        abort();
    json_t *j = json_loadb(line, n, 0, NULL);
    free(line);
    if (!j)
        return json_pack("{s:s}", "event", tracer_kind(t->e.kind));
    json_object_del(j, "packet");
    json_object_del(j, "pass");
    json_object_del(j, "in");
    if (t->e.kind == SK_EV_WISHES || t->e.kind == SK_EV_COPY || t->e.kind == SK_EV_DROPPED ||
        t->e.kind == SK_EV_RESUBMITTED) {
        json_object_del(j, "bytes"); // those of a run's end
        json_object_del(j, "length");
    }
    return j;
}

static json_t *explain_json_run(const struct told *t) {
    json_t *j = json_object();
    const bool egress = t->e.kind == SK_EV_EGRESS;
    explain_json_set(j, "in", json_string(egress ? "egress" : "ingress"));
    explain_json_set_number(j, "pass", sk_packet_pass(&t->p));
    explain_json_set_number(j, "port", t->e.port);
    explain_json_set_number(j, "time", t->e.number);
    if (egress) {
        explain_json_set_number(j, "rid", t->p.rid);
        explain_json_set_number(j, "qid", t->p.qid);
        explain_json_set_number(j, "enq_qdepth", t->p.enq_qdepth);
        explain_json_set_number(j, "enq_time", t->p.enq_tstamp);
    } else {
        explain_json_set(j, "resubmitted", json_boolean(t->p.resubmitted));
    }
    explain_json_set_number(j, "length", t->e.length);
    explain_json_set(j, "bytes", explain_json_hexadecimal(t->e.bytes, t->e.length));
    explain_json_set(j, "events", json_array());
    return j;
}

static json_t *way(const struct explain *x) {
    json_t *list = json_array(), *last = NULL;
    for (size_t i = 0; i < x->n; i++) {
        const struct told *t = &x->told[i];
        if (t->e.kind == SK_EV_RECEIVED)
            continue;
        if (t->e.kind == SK_EV_INGRESS || t->e.kind == SK_EV_EGRESS) {
            last = explain_json_run(t);
            explain_json_append(list, last);
        } else if (last) {
            explain_json_append(json_object_get(last, "events"), explain_json_event(t));
        }
    }
    return list;
}

// ---- what leaves ----

static json_t *explain_json_value(struct sk_trace_value v) {
    char *s = NULL;
    size_t n;
    FILE *f = open_memstream(&s, &n);
    if (!f)
        abort();
    tracer_hex(f, &v);
    if (fclose(f) != 0)
        abort();
    json_t *j = json_stringn(s, n);
    free(s);
    return j;
}

static json_t *explain_json_header(const struct header_at *h) {
    json_t *j = json_object(), *fields = json_object();
    explain_json_set(j, "name", explain_json_text(h->name));
    explain_json_set(j, "type", explain_json_text(h->desc->type));
    explain_json_set_number(j, "offset", h->offset);
    explain_json_set_number(j, "length", h->desc->bytes);
    for (uint32_t i = 0; i < h->desc->n_fields; i++)
        explain_json_set(fields, h->desc->fields[i].name,
                         explain_json_value(explain_field(h->desc, h->bytes, i)));
    explain_json_set(j, "fields", fields);
    return j;
}

static void fields_that_differ(json_t *list, const struct header_at *h, const struct header_at *o) {
    for (uint32_t i = 0; i < h->desc->n_fields; i++) {
        json_t *was = explain_json_value(explain_field(o->desc, o->bytes, i));
        json_t *is = explain_json_value(explain_field(h->desc, h->bytes, i));
        if (json_equal(was, is)) {
            json_decref(was);
            json_decref(is);
            continue;
        }
        json_t *j = json_object();
        explain_json_set(j, "change", json_string("field"));
        explain_json_set(j, "field", json_sprintf("%s.%s", h->name, h->desc->fields[i].name));
        explain_json_set(j, "before", was);
        explain_json_set(j, "after", is);
        explain_json_append(list, j);
    }
}

static void header_change(json_t *list, const char *what, const struct header_at *h) {
    json_t *j = json_object();
    explain_json_set(j, "change", json_string(what));
    explain_json_set(j, "header", explain_json_text(h->name));
    explain_json_append(list, j);
}

static json_t *changes(const struct explain *x, const struct sk_event *is, const struct layout *l) {
    const struct sk_event *was = &explain_received(x)->e;
    json_t *list = json_array();
    struct layout came;
    explain_arrival(x, &came);
    if (l->n == 0)
        came = *l;
    for (uint32_t i = 0; i < l->n; i++) {
        const struct header_at *o = explain_same_header(&came, &l->headers[i]);
        if (o)
            fields_that_differ(list, &l->headers[i], o);
        else
            header_change(list, "added", &l->headers[i]);
    }
    for (uint32_t i = 0; i < came.n; i++)
        if (!explain_same_header(l, &came.headers[i]))
            header_change(list, "removed", &came.headers[i]);
    const uint32_t a = was->length - came.end, b = is->length - l->end;
    if (a != b || memcmp(was->bytes + came.end, is->bytes + l->end, a) != 0) {
        json_t *j = json_object();
        explain_json_set(j, "change", json_string("payload"));
        explain_json_set(j, "before", explain_json_hexadecimal(was->bytes + came.end, a));
        explain_json_set(j, "after", explain_json_hexadecimal(is->bytes + l->end, b));
        explain_json_append(list, j);
    }
    return list;
}

static json_t *explain_json_sent(const struct explain *x, size_t at) {
    const struct sk_event *e = &x->told[at].e;
    json_t *j = json_object(), *headers = json_array();
    struct layout l;
    explain_departure(x, at, &l);
    explain_json_set_number(j, "port", e->port);
    explain_json_set_number(j, "length", e->length);
    explain_json_set(j, "bytes", explain_json_hexadecimal(e->bytes, e->length));
    for (uint32_t i = 0; i < l.n; i++)
        explain_json_append(headers, explain_json_header(&l.headers[i]));
    explain_json_set(j, "headers", headers);
    explain_json_set_number(j, "payload_offset", l.end);
    if (explain_received(x))
        explain_json_set(j, "changes", changes(x, e, &l));
    return j;
}

static json_t *dropped(const struct told *t) {
    json_t *j = json_object();
    explain_json_set(j, "reason", json_string(t->e.text));
    if (t->e.port < SK_PORTS)
        explain_json_set_number(j, "port", t->e.port);
    explain_json_set_number(j, "pass", sk_packet_pass(&t->p));
    return j;
}

void explain_json(const struct explain *x, FILE *out, const char *program, const char *source) {
    json_t *doc = json_object(), *packet = json_object(), *sent_list = json_array(),
           *dropped_list = json_array();
    const struct told *r = explain_received(x);
    explain_json_set_number(doc, "form", FORM);
    explain_json_set(doc, "program", explain_json_text(program));
    if (x->number)
        explain_json_set_number(packet, "number", x->number);
    if (source)
        explain_json_set(packet, "source", explain_json_text(source));
    explain_json_set_number(packet, "port", r ? r->e.port : x->counts->last.port);
    if (r) {
        explain_json_set_number(packet, "time", r->e.number);
        explain_json_set(packet, "bytes", explain_json_hexadecimal(r->e.bytes, r->e.length));
    }
    explain_json_set_number(packet, "length", r ? r->e.length : x->counts->last.length);
    if (x->wire_length > x->counts->last.length)
        explain_json_set_number(packet, "wire_length", x->wire_length);
    explain_json_set(doc, "packet", packet);
    explain_json_set(doc, "way", way(x));
    for (size_t i = 0; i < x->n; i++)
        if (x->told[i].e.kind == SK_EV_SENT)
            explain_json_append(sent_list, explain_json_sent(x, i));
        else if (x->told[i].e.kind == SK_EV_DROPPED)
            explain_json_append(dropped_list, dropped(&x->told[i]));
    explain_json_set(doc, "sent", sent_list);
    explain_json_set(doc, "dropped", dropped_list);
    if (json_dumpf(doc, out, JSON_INDENT(2)) == 0)
        fputc('\n', out);
    json_decref(doc);
}

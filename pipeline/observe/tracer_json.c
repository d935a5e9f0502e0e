// SPDX-License-Identifier: Apache-2.0
//
// The trace as JSON lines: the events as they are, nothing joined, nothing left out.
#include <inttypes.h>

#include "pipeline/observe/tracer_events.h"
#include "pipeline/observe/violations.h"

static void tracer_json_string(FILE *out, const char *s) {
    fputc('"', out);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static void text_member(FILE *out, const char *name, const char *text) {
    if (!text)
        return;
    fprintf(out, ",\"%s\":", name);
    tracer_json_string(out, text);
}

static void bytes_member(FILE *out, const struct sk_event *e) {
    if (!e->bytes)
        return;
    fputs(",\"bytes\":\"", out);
    tracer_bytes(out, e->bytes, e->length);
    fputc('"', out);
}

struct object {
    FILE *out;
    uint32_t n;
};

// A member of an object...
static void tracer_json_member(void *aux, const struct sk_trace_value *v) {
    struct object *o = aux;
    fputs(o->n++ ? "," : "", o->out);
    tracer_json_string(o->out, v->name);
    fputs(":\"", o->out);
    tracer_hex(o->out, v);
    fputc('"', o->out);
}

// ... and of a list of [name, value], where names need not differ.
static void tracer_json_pair(void *aux, const struct sk_trace_value *v) {
    struct object *o = aux;
    fprintf(o->out, "%s[", o->n++ ? "," : "");
    tracer_json_string(o->out, v->name);
    fputs(",\"", o->out);
    tracer_hex(o->out, v);
    fputs("\"]", o->out);
}

static void list_member(FILE *out, const char *name, const struct sk_trace_value *v, uint32_t n) {
    struct object o = {out, 0};
    if (n == 0)
        return;
    fprintf(out, ",\"%s\":[", name);
    for (uint32_t i = 0; i < n; i++)
        tracer_json_pair(&o, &v[i]);
    fputc(']', out);
}

static void tracer_json_place(FILE *out, const char *name, const struct sk_place *at) {
    if (!at || !at->line)
        return;
    fprintf(out, ",\"%s\":\"", name);
    for (const char *c = at->file; *c; c++)
        fputs(*c == '"' || *c == '\\' ? "_" : (const char[]){*c, 0}, out);
    fprintf(out, ":%u:%u\"", at->line, at->column);
}

static void tracer_json_header(FILE *out, const struct sk_event *e) {
    struct object o = {out, 0};
    text_member(out, "type", e->header->type);
    fputs(",\"fields\":{", out);
    for (uint32_t i = 0; i < e->header->n_fields; i++) {
        struct sk_trace_value v = tracer_header_field(e, i);
        tracer_json_member(&o, &v);
    }
    fputc('}', out);
}

// What the entry asks of keys that are not exact.
static void matched(FILE *out, const struct sk_event *e) {
    uint32_t word = 0, n = 0;
    for (uint32_t i = 0; i < e->table->n_keys; i++) {
        char text[TRACER_MATCH_BYTES];
        if (e->table->keys[i].match != SK_EXACT) {
            tracer_match(text, e, i, word);
            fputs(n++ ? "," : ",\"matched\":{", out);
            tracer_json_string(out, e->table->keys[i].name);
            fputc(':', out);
            tracer_json_string(out, text);
        }
        word += sk_words(e->table->keys[i].width);
    }
    fputs(n ? "}" : "", out);
}

static void tracer_json_table(FILE *out, const struct sk_event *e) {
    struct object keys = {out, 0}, args = {out, 0};
    fputs(",\"key\":{", out);
    tracer_each_key(e, tracer_json_member, &keys);
    fprintf(out, "},\"hit\":%s", e->flags & 1 ? "true" : "false");
    if (e->flags & 1)
        fprintf(out, ",\"entry\":%u,\"priority\":%" PRId64, e->entry->id, e->entry->priority);
    if (e->flags & 1)
        matched(out, e);
    text_member(out, "action", e->table->actions[e->action]->name);
    fputs(",\"arguments\":{", out);
    tracer_each_argument(e, tracer_json_member, &args);
    fputc('}', out);
}

static void tracer_json_violation(FILE *out, const struct sk_event *e) {
    char text[512];
    sk_violation_text(text, sizeof text, e);
    text_member(out, "violation", sk_violation_word(e->violation));
    text_member(out, "message", text);
    tracer_json_place(out, "also", e->also);
}

static void tracer_json_by_kind(FILE *out, const struct sk_event *e) {
    switch (e->kind) {
    case SK_EV_RECEIVED:
    case SK_EV_INGRESS:
    case SK_EV_EGRESS:
        fprintf(out, ",\"time\":%" PRIu64, e->number);
        break;
    case SK_EV_EXTRACT:
    case SK_EV_EMIT:
        tracer_json_header(out, e);
        break;
    case SK_EV_PARSED:
        fprintf(out, ",\"offset\":%d,\"error\":%u", e->offset, e->flags);
        break;
    case SK_EV_CONDITION:
        fprintf(out, ",\"value\":%s", e->flags ? "true" : "false");
        break;
    case SK_EV_TABLE:
        tracer_json_table(out, e);
        break;
    case SK_EV_REGISTER:
    case SK_EV_COUNTER:
    case SK_EV_METER:
        if (e->number != SK_NO_INDEX)
            fprintf(out, ",\"index\":%" PRIu64, e->number);
        break;
    case SK_EV_MIRRORED:
        fprintf(out, ",\"session\":%" PRIu64 ",\"header_bytes\":%u", e->number, e->flags);
        break;
    case SK_EV_COPY:
        fprintf(out, ",\"rid\":%" PRIu64, e->number);
        break;
    case SK_EV_VIOLATION:
        tracer_json_violation(out, e);
        break;
    default:
        break;
    }
}

void tracer_json(struct sk_tracer *t, const struct sk_packet *p, const struct sk_event *e) {
    static const char *const in[] = {"ingress", "egress", "switch"};
    FILE *out = t->out;
    bool is_register = e->kind == SK_EV_REGISTER;
    fprintf(out, "{\"event\":\"%s\",\"packet\":%" PRIu64 ",\"pass\":%u,\"in\":\"%s\"",
            tracer_kind(e->kind), p->serial, sk_packet_pass(p), in[e->gress]);
    if (e->gress == SK_IN_ENGINE)
        fprintf(out, ",\"port\":%u,\"length\":%u", e->port, e->length);
    text_member(out, "name", e->name);
    text_member(out, "text", e->text);
    tracer_json_by_kind(out, e);
    list_member(out, is_register ? "before" : "inputs", e->in, e->n_in);
    list_member(out, is_register ? "after" : "results", e->out, e->n_out);
    list_member(out, "returns", e->result, e->n_result);
    if (e->kind == SK_EV_EXTRACT || e->kind == SK_EV_ADVANCE)
        fprintf(out, ",\"offset\":%d,\"length\":%u", e->offset, e->length);
    bytes_member(out, e);
    tracer_json_place(out, "at", e->at);
    fputs("}\n", out);
}

// SPDX-License-Identifier: Apache-2.0
//
// The trace for people: a line says one thing, indentation says what it belongs to; each line ends
// with the place in the source it comes from, when it has one.
#include <inttypes.h>
#include <string.h>

#include "pipeline/observe/tracer_events.h"
#include "pipeline/observe/violations.h"

#define SHOWN_BYTES 64u // of a header or a packet; the JSON form has all

// Addresses as such, small fields in decimal (ports, counts), wider ones in hexadecimal.
#define DECIMAL_BITS 10u

static void tracer_text_value(FILE *out, const struct sk_trace_value *v) {
    if (v->is_signed && v->width <= 64)
        fprintf(out, "%" PRId64, (int64_t)(v->low << (64 - v->width)) >> (64 - v->width));
    else if (tracer_is_address(v))
        tracer_address(out, v);
    else if (v->width <= DECIMAL_BITS || (!v->bytes && !v->high && v->low < 10))
        fprintf(out, "%" PRIu64, v->low);
    else
        tracer_hex(out, v);
}

struct list {
    FILE *out;
    const char *between;
    uint32_t n;
};

static void tracer_text_named(void *aux, const struct sk_trace_value *v) {
    struct list *l = aux;
    fputs(l->n++ ? l->between : "", l->out);
    if (*v->name)
        fprintf(l->out, "%s ", v->name);
    tracer_text_value(l->out, v);
}

// A constant speaks for itself.
static bool tracer_text_is_constant(const struct sk_trace_value *v) {
    return *v->name >= '0' && *v->name <= '9' && !strpbrk(v->name, " (");
}

static void tracer_text_plain(void *aux, const struct sk_trace_value *v) {
    struct list *l = aux;
    if (!tracer_text_is_constant(v)) {
        tracer_text_named(l, v);
        return;
    }
    fputs(l->n++ ? l->between : "", l->out);
    tracer_text_value(l->out, v);
}

static void values(FILE *out, const struct sk_trace_value *v, uint32_t n) {
    struct list l = {out, ", ", 0};
    for (uint32_t i = 0; i < n; i++)
        tracer_text_plain(&l, &v[i]);
}

static void some_bytes(FILE *out, const struct sk_event *e) {
    tracer_bytes(out, e->bytes, e->length < SHOWN_BYTES ? e->length : SHOWN_BYTES);
    if (e->length > SHOWN_BYTES)
        fputs("...", out);
}

static void header_fields(FILE *out, const struct sk_event *e) {
    struct list l = {out, ", ", 0};
    for (uint32_t i = 0; i < e->header->n_fields; i++) {
        struct sk_trace_value v = tracer_header_field(e, i);
        if (!e->header->fields[i].padding)
            tracer_text_named(&l, &v);
    }
}

static void tracer_text_where(FILE *out, const struct sk_event *e) {
    const char *slash = e->at ? strrchr(e->at->file, '/') : NULL;
    if (e->at && e->at->line)
        fprintf(out, "   [%s:%u]", slash ? slash + 1 : e->at->file, e->at->line);
    fputc('\n', out);
}

// ---- the parser ----

static void tracer_text_extract(FILE *out, const struct sk_event *e) {
    fprintf(out, "      extract %s: bytes %d to %d, ", e->name, e->offset,
            e->offset + (int)e->length - 1);
    some_bytes(out, e);
    tracer_text_where(out, e);
    fputs("          ", out);
    header_fields(out, e);
    fputc('\n', out);
}

static void tracer_text_advance(FILE *out, const struct sk_event *e) {
    fprintf(out, "      advance: bytes %d to %d, ", e->offset, e->offset + (int)e->length - 1);
    some_bytes(out, e);
    tracer_text_where(out, e);
}

const char *const tracer_parser_errors[TRACER_PARSER_ERRORS] = {
    "no case of a select matches", "the packet is too short", "a parser counter out of its range",
    "too many states"};
_Static_assert(SK_PARSER_NO_MATCH == 1 << 0 && SK_PARSER_PARTIAL_HDR == 1 << 1 &&
                   SK_PARSER_CTR_RANGE == 1 << 2 && SK_PARSER_TIMEOUT == 1 << 3,
               "a text for each bit");

static void tracer_text_parsed(FILE *out, const struct sk_event *e) {
    fprintf(out, "    parser done, at byte %d", e->offset);
    for (unsigned i = 0; i < TRACER_PARSER_ERRORS; i++)
        if (e->flags & 1u << i)
            fprintf(out, ", error: %s", tracer_parser_errors[i]);
    fputc('\n', out);
}

// ---- tables and registers ----

static void tracer_text_table(FILE *out, const struct sk_event *e) {
    struct list keys = {out, ", ", 0}, args = {out, ", ", 0};
    fprintf(out, "    table %s: ", e->name);
    tracer_each_key(e, tracer_text_named, &keys);
    if (keys.n)
        fputs(": ", out);
    if (e->flags & 1) {
        fprintf(out, "hit, entry %u", e->entry->id);
        for (uint32_t i = 0; i < e->table->n_keys; i++)
            if (e->table->keys[i].match == SK_TERNARY || e->table->keys[i].match == SK_RANGE) {
                fprintf(out, " of priority %" PRId64, e->entry->priority);
                break;
            }
    } else {
        fputs(e->table->n_keys ? "miss" : "no key", out);
    }
    fprintf(out, " -> %s(", e->table->actions[e->action]->name);
    tracer_each_argument(e, tracer_text_named, &args);
    fputc(')', out);
    tracer_text_where(out, e);
}

static void tracer_text_cell_word(FILE *out, const struct sk_trace_value *v) {
    if (v->is_signed && v->width <= 64)
        tracer_text_value(out, v);
    else if (v->high)
        tracer_hex(out, v);
    else
        fprintf(out, "%" PRIu64, v->low);
}

static void tracer_text_reg(FILE *out, const struct sk_event *e) {
    fprintf(out, "    register %s", e->name);
    if (e->number != SK_NO_INDEX)
        fprintf(out, "[%" PRIu64 "]", e->number);
    fprintf(out, " %s: ", e->text);
    for (uint32_t i = 0; i < e->n_in; i++) {
        fprintf(out, "%s%s%s", i ? ", " : "", e->n_in > 1 ? e->in[i].name : "",
                e->n_in > 1 ? " " : "");
        tracer_text_cell_word(out, &e->in[i]);
        fputs(" -> ", out);
        tracer_text_cell_word(out, &e->out[i]);
    }
    if (e->n_result) {
        fputs("; returns ", out);
        values(out, e->result, e->n_result);
    }
    tracer_text_where(out, e);
}

// An extern's work: what went in, what came out.
static void tracer_text_work(FILE *out, const char *what, const struct sk_event *e) {
    fprintf(out, "    %s", what);
    if (e->name)
        fprintf(out, " %s", e->name);
    bool indexed = (e->kind == SK_EV_COUNTER || e->kind == SK_EV_METER) && e->number != SK_NO_INDEX;
    if (indexed) // the first input
        fprintf(out, "[%" PRIu64 "]", e->number);
    if (e->text)
        fprintf(out, " %s", e->text);
    if (e->n_in > indexed) {
        fputs(": ", out);
        values(out, e->in + indexed, e->n_in - indexed);
    }
    if (e->n_out) {
        fputs(" -> ", out);
        values(out, e->out, e->n_out);
    }
    tracer_text_where(out, e);
}

static void tracer_text_emitted(FILE *out, const struct sk_event *e) {
    fprintf(out, "    emit %s: ", e->name);
    some_bytes(out, e);
    fputs("\n          ", out);
    header_fields(out, e);
    fputc('\n', out);
}

static void tracer_text_violation(FILE *out, const struct sk_event *e) {
    char text[512];
    sk_violation_text(text, sizeof text, e);
    fprintf(out, "    !!! %s", text);
    tracer_text_where(out, e);
}

// ---- the engine ----

static void tracer_text_begin(FILE *out, const char *gress, const struct sk_packet *p,
                              const struct sk_event *e) {
    fprintf(out, "  %s of packet %" PRIu64 ", pass %u%s, port %u, %u bytes\n", gress, p->serial,
            sk_packet_pass(p), p->resubmitted ? " (resubmitted)" : "", e->port, e->length);
}

void tracer_text(struct sk_tracer *t, const struct sk_packet *p, const struct sk_event *e) {
    FILE *out = t->out;
    switch (e->kind) {
    case SK_EV_RECEIVED:
        fprintf(out,
                "packet %" PRIu64 " received on port %u at %" PRIu64 " ns, %u bytes: ", p->serial,
                e->port, e->number, e->length);
        some_bytes(out, e);
        fputc('\n', out);
        break;
    case SK_EV_INGRESS:
        tracer_text_begin(out, "ingress", p, e);
        break;
    case SK_EV_EGRESS:
        tracer_text_begin(out, "egress", p, e);
        break;
    case SK_EV_STATE:
        fprintf(out, "    state %s", e->name);
        tracer_text_where(out, e);
        break;
    case SK_EV_EXTRACT:
        tracer_text_extract(out, e);
        break;
    case SK_EV_ADVANCE:
        tracer_text_advance(out, e);
        break;
    case SK_EV_SELECT:
        fputs("      select ", out);
        values(out, e->in, e->n_in);
        fputc('\n', out);
        break;
    case SK_EV_TRANSITION:
        fprintf(out, "      %s%s-> %s\n", e->text, *e->text ? " " : "", e->name);
        break;
    case SK_EV_PARSED:
        tracer_text_parsed(out, e);
        break;
    case SK_EV_DEPARSE:
        fputs("    deparser\n", out);
        break;
    case SK_EV_CONDITION:
        fprintf(out, "    if %s: %s", e->text, e->flags ? "true" : "false");
        tracer_text_where(out, e);
        break;
    case SK_EV_SWITCH:
        fputs("    switch ", out);
        values(out, e->in, e->n_in);
        tracer_text_where(out, e);
        break;
    case SK_EV_TABLE:
        tracer_text_table(out, e);
        break;
    case SK_EV_REGISTER:
        tracer_text_reg(out, e);
        break;
    case SK_EV_COUNTER:
    case SK_EV_METER:
    case SK_EV_HASH:
    case SK_EV_CHECKSUM:
    case SK_EV_RESUBMIT:
        tracer_text_work(out, tracer_kind(e->kind), e);
        break;
    case SK_EV_VALUE:
        tracer_text_work(out, "", e);
        break;
    case SK_EV_EMIT:
        tracer_text_emitted(out, e);
        break;
    case SK_EV_VIOLATION:
        tracer_text_violation(out, e);
        break;
    case SK_EV_WISHES:
        fputs("  requests to the traffic manager: ", out);
        values(out, e->in, e->n_in);
        fputs(e->n_in ? "\n" : "nothing\n", out);
        break;
    case SK_EV_MIRRORED:
        fprintf(out,
                "  packet %" PRIu64 " mirrored in %s, session %" PRIu64 ", %u bytes: ", p->serial,
                e->text, e->number, e->length);
        some_bytes(out, e);
        fputc('\n', out);
        break;
    case SK_EV_COPY:
        fprintf(out, "  traffic manager: packet %" PRIu64 " to port %u", p->serial, e->port);
        if (e->n_in)
            fprintf(out, ", group %" PRIu64, e->in[0].low);
        if (e->number || p->rid_first)
            fprintf(out, ", rid %" PRIu64 "%s", e->number, p->rid_first ? " (first)" : "");
        fprintf(out, "%s\n", e->text ? ", bypasses egress" : "");
        break;
    case SK_EV_SENT:
        fprintf(out, "packet %" PRIu64 " sent on port %u, %u bytes: ", p->serial, e->port,
                e->length);
        some_bytes(out, e);
        fputc('\n', out);
        break;
    case SK_EV_DROPPED:
        fprintf(out, "packet %" PRIu64 " dropped at port %u: %s\n", p->serial, e->port, e->text);
        break;
    case SK_EV_RESUBMITTED:
        fprintf(out, "  packet %" PRIu64 " goes back to the ingress of port %u unchanged\n",
                p->serial, e->port);
        break;
    case SK_EV_RECIRCULATED:
        fprintf(out, "  packet %" PRIu64 " recirculates through port %u\n", p->serial, e->port);
        break;
    case SK_EV_DROP_CTL:
    case SK_EV_COUNT:
        break;
    }
}

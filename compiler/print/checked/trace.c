// SPDX-License-Identifier: Apache-2.0
//
// trace: the events of the checked build. See trace.h.
#include "compiler/print/checked/trace.h"

#include <string.h>

#include "compiler/print/checked/checked.h"

// One event, while somebody hears everything; the format is the rest of its initialiser.
static void emit_trace_tell(const struct emit *e, const char *kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void emit_trace_tell(const struct emit *e, const char *kind, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    const char *rest = arena_vprintf(e->a, fmt, ap);
    va_end(ap);
    emit_line(e, "sk_trace(v->packet, &(struct sk_event){.kind = SK_EV_%s, .gress = %s, %s});",
              kind, emit_gress_name(e), rest);
}

static const char *text_or_null(const struct emit *e, const char *text) {
    return text ? emit_string(e, text) : "NULL";
}

// --------------------------------------------------------------------------------------------
// Headers.

static const char *header_desc(const struct emit *e, const struct ir_header *h) {
    return emit_text(e, "%s_header%u", e->p, h->id);
}

const char *emit_field_name(const struct ir_header *h, const struct ir_var *f) {
    size_t n = strlen(h->name);
    return strncmp(f->name, h->name, n) == 0 && f->name[n] == '.' ? f->name + n + 1 : f->name;
}

static void emit_trace_describe(const struct emit *e, const struct ir_header *h) {
    const char *name = header_desc(e, h);
    emit_open(e, "static const struct sk_trace_field %s_fields[] = {", name);
    for (size_t i = 0; i < h->fields.n; i++) {
        const struct ir_var *f = h->fields.v[i];
        emit_line(e, "{%s, %u, %u, %s, %s},", emit_string(e, emit_field_name(h, f)), f->width,
                  f->bit_offset, f->is_signed ? "true" : "false", f->padding ? "true" : "false");
    }
    emit_line(e, "{0},");
    emit_close(e, "};");
    emit_line(e, "static const struct sk_header_desc %s = {%s, %s, %s_fields, %zu, %u};", name,
              emit_string(e, emit_shown_name(e, h->name)),
              emit_string(e, h->type_name ? h->type_name : ""), name, h->fields.n, h->bits / 8);
}

void emit_trace_headers(const struct emit *e) {
    for (size_t i = 0; e->g->traced && i < e->g->headers.n; i++)
        if (e->plan->headers[i].extracted || e->plan->headers[i].emitted)
            emit_trace_describe(e, e->g->headers.v[i]);
}

// --------------------------------------------------------------------------------------------
// Statements.

// The members of a sk_trace_value that have the value. Wide ones need bytes, which are declared.
static const char *emit_trace_value(const struct emit *e, const struct ir_expr *x, size_t number) {
    if (plan_is_wide(x->width)) {
        const unsigned bytes = plan_bytes(x->width);
        const char *name = emit_text(e, "bytes%zu", number);
        emit_line(e, "uint8_t %s[%u] = {0};", name, bytes);
        emit_put_bits(e, name, 8 * bytes - x->width, x);
        return emit_text(e, ".bytes = %s", name);
    }
    const char *value = emit_expr(e, x);
    return x->width <= 64
               ? emit_text(e, ".low = %s", value)
               : emit_text(e, ".low = (uint64_t)%s, .high = (uint64_t)(%s >> 64)", value, value);
}

// Declares an array of 'n' of the event's values, from the 'first' on, and returns the members of
// the sk_event that have it.
static const char *emit_trace_values(const struct emit *e, const struct ir_stmt *s,
                                     const char *name, size_t first, size_t n) {
    const char *list = "";
    if (!n)
        return "";
    for (size_t i = first; i < first + n; i++) {
        const struct ir_event_value *value = &s->event->values.v[i];
        list =
            emit_text(e, "%s{.name = %s, .width = %u, %s%s}, ", list, emit_string(e, value->name),
                      s->args.v[i]->width, emit_trace_value(e, s->args.v[i], i),
                      value->is_signed ? ", .is_signed = true" : "");
    }
    emit_line(e, "const struct sk_trace_value %s[] = {%s};", name, list);
    return emit_text(e, ".%s = %s, .n_%s = %zu, ", name, name, name, n);
}

// Which bytes were taken just now, 'length' of them (C text).
static const char *emit_trace_taken(const struct emit *e, const char *length) {
    return emit_text(
        e,
        ".bytes = p - %s, .length = (uint32_t)(%s), .offset = (int32_t)(sk_parse_consumed("
        "&walk, p)) - (int32_t)(%s) - %u, ",
        length, length, length, plan_prefix_bytes(e->plan));
}

static const char *bytes_of(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_header *h = s->event->header;
    if (h)
        return emit_text(e, ".header = &%s, %s", header_desc(e, h),
                         emit_trace_taken(e, emit_text(e, "%u", h->bits / 8)));
    if (s->event->kind == IR_EVENT_ADVANCE)
        return emit_trace_taken(e, emit_text(e, "(%s / 8)", emit_u64(e, s->e2)));
    return s->e2 ? emit_text(e, ".number = %s, ", emit_u64(e, s->e2)) : "";
}

void emit_trace_event(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_event *x = s->event;
    emit_open(e, "if (v->traced) {");
    emit_place(e, "at", s->at);
    const char *in = emit_trace_values(e, s, "in", 0, x->n_in);
    const char *out = emit_trace_values(e, s, "out", x->n_in, x->n_out);
    const char *result =
        emit_trace_values(e, s, "result", x->n_in + x->n_out, s->args.n - x->n_in - x->n_out);
    emit_trace_tell(e, ir_event_names[x->kind], "%s%s%s%s%s.name = %s, .text = %s, .at = &at", in,
                    out, result, bytes_of(e, s),
                    s->e3 ? emit_text(e, ".flags = (%s) != 0, ", emit_cond(e, s->e3)) : "",
                    text_or_null(e, x->name), text_or_null(e, x->text));
    emit_close(e, "}");
}

// --------------------------------------------------------------------------------------------
// What no statement says.

const char *emit_trace_jump(const struct emit *e, const struct ir_state *st,
                            const struct ir_select_case *c, const char *jump) {
    const int next = c ? c->next : st->next;
    if (!e->g->traced)
        return jump;
    const char *name = next >= 0           ? e->g->states.v[next]->name
                       : next == IR_ACCEPT ? "accept"
                                           : "reject";
    return emit_text(e,
                     "{ if (v->traced) sk_trace(v->packet, &(struct sk_event){.kind = "
                     "SK_EV_TRANSITION, .gress = %s, .name = %s, .text = %s}); %s }",
                     emit_gress_name(e), emit_string(e, name), emit_string(e, c ? c->text : ""),
                     jump);
}

void emit_trace_no_match(const struct emit *e) {
    if (!e->g->traced)
        return;
    emit_open(e, "if (v->traced) {");
    emit_trace_tell(e, "TRANSITION", ".name = \"error\", .text = \"no case matches\"");
    emit_close(e, "}");
}

void emit_trace_parsed(const struct emit *e) {
    if (!e->g->traced)
        return;
    emit_open(e, "if (v->traced) {");
    emit_trace_tell(e, "PARSED", ".offset = (int32_t)consumed - %u, .flags = err",
                    plan_prefix_bytes(e->plan));
    emit_close(e, "}");
}

void emit_trace_table(const struct emit *e, const struct ir_table *t, const char *action) {
    if (!e->g->traced)
        return;
    emit_open(e, "if (v->traced) {");
    emit_place(e, "at", e->at);
    emit_trace_tell(e, "TABLE",
                    ".at = &at, .name = %s, .table = sk_table_desc(%s), .key = %s, .entry = entry, "
                    ".action = %s, .data = data, .flags = (r & SK_APPLY_HIT) != 0",
                    emit_string(e, t->name), emit_table_ref(e, t), t->keys.n ? "key" : "NULL",
                    action);
    emit_close(e, "}");
}

void emit_trace_emitted(const struct emit *e, const struct ir_header *h) {
    if (!e->g->traced)
        return;
    emit_open(e, "if (v->traced) {");
    emit_place(e, "at", h->at);
    emit_trace_tell(e, "EMIT", ".at = &at, .name = %s, .header = &%s, .bytes = t, .length = %u",
                    emit_string(e, emit_shown_name(e, h->name)), header_desc(e, h), h->bits / 8);
    emit_close(e, "}");
}

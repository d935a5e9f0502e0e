// SPDX-License-Identifier: Apache-2.0
//
// interp_trace: the events of an instrumented program (compiler/instrument/instrument.h), as text:
// IR_TRACE, and what no statement says: transitions, where the parser ended, what a table found,
// headers that are written. event.c has the same text of a compiled program's.
#include "harness/interp/interp_impl.h"

void interp_on_event(struct interp *ip, void (*fn)(void *aux, const char *text, struct loc at),
                     void *aux) {
    ip->on_event = fn;
    ip->event_aux = aux;
}

static bool somebody_hears(const struct run *r) {
    return r->g->traced && r->ip->on_event;
}

static void tell_event(struct run *r, const char *text, struct loc at) {
    const char *gress = r->g->kind == IR_INGRESS ? "ingress" : "egress";
    r->ip->on_event(r->ip->event_aux, arena_printf(r->a, "%s %s", gress, text), at);
}

// What the architecture puts before a packet.
static long long prefix_bytes(const struct run *r) {
    const struct ir_program *p = r->ip->program;
    return r->g->kind == IR_INGRESS ? p->ingress_prefix : p->egress_prefix;
}

static const char *hex_bytes(struct run *r, const uint8_t *bytes, uint64_t n) {
    char *text = arena_alloc(r->a, 2 * n + 1);
    text[0] = '\0';
    for (uint64_t i = 0; i < n; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return text;
}

// What the parser took just now, 'n' bytes.
static const char *taken_bytes(struct run *r, uint64_t n) {
    return arena_printf(r->a, " %s at %lld", hex_bytes(r, r->bytes + r->cursor - n, n),
                        (long long)(r->cursor - n) - prefix_bytes(r));
}

// ---- IR_TRACE ----

static const char *event_values(struct run *r, const struct ir_stmt *s, const char *what,
                                size_t first, size_t n) {
    const char *text = "";
    for (size_t i = first; i < first + n; i++) {
        const struct ir_event_value *value = &s->event->values.v[i];
        text = arena_printf(r->a, "%s %s %s:%u%s=%s", text, what, value->name, s->args.v[i]->width,
                            value->is_signed ? "s" : "",
                            big_str(r->a, interp_eval(r, s->args.v[i]), 16));
    }
    return text;
}

static const char *event_number(struct run *r, const struct ir_stmt *s) {
    const struct ir_event *x = s->event;
    const uint64_t number = s->e2 ? interp_index(r, s->e2) : 0;
    if (x->header)
        return taken_bytes(r, x->header->bits / 8);
    if (x->kind == IR_EVENT_ADVANCE)
        return taken_bytes(r, number / 8);
    return number ? arena_printf(r->a, " number %llu", (unsigned long long)number) : "";
}

void interp_trace(struct run *r, const struct ir_stmt *s) {
    const struct ir_event *x = s->event;
    if (!somebody_hears(r))
        return;
    const size_t n_in_out = x->n_in + x->n_out;
    const char *in = event_values(r, s, "in", 0, x->n_in),
               *out = event_values(r, s, "out", x->n_in, x->n_out),
               *result = event_values(r, s, "result", n_in_out, s->args.n - n_in_out);
    tell_event(r,
               arena_printf(r->a, "%s %s, %s%s%s%s%s%s", ir_event_names[x->kind],
                            x->name ? x->name : "-", x->text ? x->text : "-", in, out, result,
                            event_number(r, s), s->e3 && interp_true(r, s->e3) ? " flags 1" : ""),
               s->at.line ? s->at : r->at);
}

// ---- what no statement says ----

void interp_trace_transition(struct run *r, int next, const char *why) {
    if (!somebody_hears(r))
        return;
    const char *name = next >= 0           ? r->g->states.v[next]->name
                       : next == IR_ACCEPT ? "accept"
                                           : "reject";
    tell_event(r,
               arena_printf(r->a, "TRANSITION %s, %s", why ? name : "error",
                            why ? why : "no case matches"),
               (struct loc){0});
}

void interp_trace_parsed(struct run *r, uint64_t consumed) {
    if (!somebody_hears(r))
        return;
    const char *flags = r->parser_err ? arena_printf(r->a, " flags %u", r->parser_err) : "";
    tell_event(
        r,
        arena_printf(r->a, "PARSED -, - at %lld%s", (long long)consumed - prefix_bytes(r), flags),
        (struct loc){0});
}

void interp_trace_table(struct run *r, const struct ir_table *t, const big *keys, bool hit,
                        const struct ir_action *a, unsigned action, const uint64_t *data) {
    const char *text = arena_printf(r->a, "TABLE %s, -", t->name);
    unsigned at = 0;
    if (!somebody_hears(r))
        return;
    for (size_t i = 0; i < t->keys.n; i++)
        text = arena_printf(r->a, "%s key %s", text, big_str(r->a, keys[i], 16));
    text = arena_printf(r->a, "%s action %u", text, action);
    for (size_t i = 0; i < a->params.n; i++) {
        const unsigned width = a->params.v[i].var->width;
        const big value = interp_from_words(r->a, data + at, width);
        text = arena_printf(r->a, "%s data %s", text, big_str(r->a, value, 16));
        at += interp_words(width);
    }
    tell_event(r, hit ? arena_printf(r->a, "%s flags 1", text) : text, t->at);
}

void interp_trace_emitted(struct run *r, const struct ir_header *h, const uint8_t *bytes) {
    if (!somebody_hears(r))
        return;
    tell_event(r,
               arena_printf(r->a, "EMIT %s, - %s", interp_shown(r, h->name),
                            hex_bytes(r, bytes, h->bits / 8)),
               h->at);
}

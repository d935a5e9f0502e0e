// SPDX-License-Identifier: Apache-2.0
#include "harness/interp/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const kinds[] = {
#define KIND_NAME(name, text) #name,
    SK_EVENTS(KIND_NAME)
#undef KIND_NAME
};

static char *hex_of(struct arena *a, const uint8_t *bytes, size_t n) {
    char *text = arena_alloc(a, 2 * n + 1);
    text[0] = '\0';
    for (size_t i = 0; i < n; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return text;
}

// A number of 'n' bytes, at least one, the first most significant; without leading zeros.
static const char *hex_number(struct arena *a, const uint8_t *bytes, size_t n) {
    const char *text = hex_of(a, bytes, n);
    while (text[0] == '0' && text[1])
        text++;
    return arena_printf(a, "0x%s", text);
}

// Words, the first least significant.
static const char *words_number(struct arena *a, const uint64_t *words, unsigned width) {
    const size_t n = (width + 63) / 64;
    uint8_t *bytes = arena_alloc(a, 8 * n + 1);
    for (size_t i = 0; i < 8 * n; i++)
        bytes[8 * n - 1 - i] = (uint8_t)(words[i / 8] >> 8 * (i % 8));
    return hex_number(a, bytes, 8 * n);
}

static const char *value_number(struct arena *a, const struct sk_trace_value *v) {
    return v->bytes ? hex_number(a, v->bytes, (v->width + 7) / 8)
                    : words_number(a, (const uint64_t[]){v->low, v->high}, 128);
}

static const char *add_values(struct arena *a, const char *text, const char *what,
                              const struct sk_trace_value *v, size_t n) {
    for (size_t i = 0; i < n; i++)
        text = arena_printf(a, "%s %s %s:%u%s=%s", text, what, v[i].name, v[i].width,
                            v[i].is_signed ? "s" : "", value_number(a, &v[i]));
    return text;
}

static const char *add_words(struct arena *a, const char *text, const char *what,
                             const struct sk_field_desc *f, size_t n, const uint64_t *words) {
    for (size_t i = 0; i < n; i++) {
        text = arena_printf(a, "%s %s %s", text, what, words_number(a, words, f[i].width));
        words += (f[i].width + 63) / 64;
    }
    return text;
}

static const char *add_table(struct arena *a, const char *text, const struct sk_event *e) {
    const struct sk_table_desc *t = e->table;
    const struct sk_action_desc *action = t->actions[e->action];
    text = add_words(a, text, "key", t->keys, e->key ? t->n_keys : 0, e->key);
    text = arena_printf(a, "%s action %u", text, e->action);
    return add_words(a, text, "data", action->params, action->n_params, e->data);
}

const char *event_text(struct arena *a, const struct sk_event *e) {
    const char *text =
        arena_printf(a, "%s %s %s, %s", e->gress == SK_IN_INGRESS ? "ingress" : "egress",
                     kinds[e->kind], e->name ? e->name : "-", e->text ? e->text : "-");
    text = add_values(a, text, "in", e->in, e->n_in);
    text = add_values(a, text, "out", e->out, e->n_out);
    text = add_values(a, text, "result", e->result, e->n_result);
    if (e->table)
        text = add_table(a, text, e);
    if (e->bytes)
        text = arena_printf(a, "%s %s", text, hex_of(a, e->bytes, e->length));
    if (e->kind == SK_EV_EXTRACT || e->kind == SK_EV_ADVANCE || e->kind == SK_EV_PARSED)
        text = arena_printf(a, "%s at %d", text, e->offset);
    if (e->number)
        text = arena_printf(a, "%s number %" PRIu64, text, e->number);
    return e->flags ? arena_printf(a, "%s flags %u", text, e->flags) : text;
}

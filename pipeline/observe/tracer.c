// SPDX-License-Identifier: Apache-2.0
#include "pipeline/observe/tracer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/observe/tracer_events.h"
#include "stages/bits.h"

const char *tracer_kind(enum sk_event_kind kind) {
    static const char *const names[] = {
#define NAME(name, text) text,
        SK_EVENTS(NAME)
#undef NAME
    };
    return kind < SK_EV_COUNT ? names[kind] : "?";
}

void tracer_bytes(FILE *out, const uint8_t *bytes, uint32_t length) {
    for (uint32_t i = 0; i < length; i++)
        fprintf(out, "%02x", bytes[i]);
}

void tracer_hex(FILE *out, const struct sk_trace_value *v) {
    if (v->bytes) {
        fputs("0x", out);
        tracer_bytes(out, v->bytes, (v->width + 7) / 8);
    } else if (v->high) {
        fprintf(out, "0x%" PRIx64 "%016" PRIx64, v->high, v->low);
    } else {
        fprintf(out, "0x%" PRIx64, v->low);
    }
}

static bool tracer_has(const char *name, const char *const *words) {
    for (; *words; words++)
        if (strcasestr(name, *words))
            return true;
    return false;
}

// P4 does not say what a field holds.
static bool tracer_is_named_address(const char *name) {
    static const char *const words[] = {"addr", "mac", "dst", "src", "dmac", "smac", "ip", NULL};
    static const char *const not_those[] = {"port", "stamp", NULL};
    const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
    return tracer_has(last, words) && !tracer_has(last, not_those);
}

bool tracer_is_address(const struct sk_trace_value *v) {
    return !v->is_signed && (v->width == 48 || v->width == 32) && tracer_is_named_address(v->name);
}

void tracer_address(FILE *out, const struct sk_trace_value *v) {
    const bool mac = v->width == 48;
    for (unsigned shift = v->width; shift > 0; shift -= 8) {
        const unsigned byte = (unsigned)(v->low >> (shift - 8) & 255);
        fprintf(out, mac ? "%02x" : "%u", byte);
        if (shift > 8)
            fputc(mac ? ':' : '.', out);
    }
}

struct sk_trace_value tracer_header_field(const struct sk_event *e, uint32_t i) {
    const struct sk_trace_field *f = &e->header->fields[i];
    struct sk_trace_value v = {.name = f->name, .width = f->width};
    if (f->width > 128) { // aligned to bytes, or nearly so: shown from its first byte
        v.bytes = e->bytes + f->bit_offset / 8;
        return v;
    }
    sk_u128 bits = sk_bits_get128(e->bytes, f->bit_offset, f->width);
    v.low = (uint64_t)bits;
    v.high = (uint64_t)(bits >> 64);
    return v;
}

struct sk_trace_value tracer_word_field(const struct sk_field_desc *f, const uint64_t *words) {
    return (struct sk_trace_value){
        .name = f->name, .width = f->width, .low = words[0], .high = f->width > 64 ? words[1] : 0};
}

// Words in network order, for values that have more than two of them.
static void word_field(const struct sk_field_desc *f, const uint64_t *words, tracer_on_value fn,
                       void *aux) {
    struct sk_trace_value v = tracer_word_field(f, words);
    uint8_t bytes[8 * SK_MAX_KEY_WORDS];
    uint32_t n = (f->width + 7) / 8;
    if (f->width > 128 && n <= sizeof bytes) {
        for (uint32_t i = 0; i < n; i++)
            bytes[n - 1 - i] = (uint8_t)(words[i / 8] >> 8 * (i % 8));
        v.bytes = bytes;
    }
    fn(aux, &v);
}

void tracer_each_key(const struct sk_event *e, tracer_on_value fn, void *aux) {
    uint32_t word = 0;
    for (uint32_t i = 0; e->key && i < e->table->n_keys; i++) {
        word_field(&e->table->keys[i], e->key + word, fn, aux);
        word += sk_words(e->table->keys[i].width);
    }
}

void tracer_each_argument(const struct sk_event *e, tracer_on_value fn, void *aux) {
    const struct sk_action_desc *a = e->table->actions[e->action];
    uint32_t word = 0;
    for (uint32_t i = 0; i < a->n_params; i++) {
        word_field(&a->params[i], e->data + word, fn, aux);
        word += sk_words(a->params[i].width);
    }
}

// Seven words at most; longer values end with "...".
static int words_text(char *out, size_t size, const uint64_t *words, uint32_t width) {
    uint32_t n = sk_words(width), top = n;
    int at = 0;
    while (top > 1 && words[top - 1] == 0)
        top--;
    at += snprintf(out, size, "0x%" PRIx64, words[top - 1]);
    for (uint32_t w = top - 1; w-- > 0 && w + 8 > top;)
        at += snprintf(out + at, size - (size_t)at, "%016" PRIx64, words[w]);
    if (top > 8)
        at += snprintf(out + at, size - (size_t)at, "...");
    return at;
}

static uint32_t tracer_ones(const uint64_t *words, uint32_t width) {
    uint32_t n = 0;
    for (uint32_t w = 0; w < sk_words(width); w++)
        n += (uint32_t)__builtin_popcountll(words[w]);
    return n;
}

void tracer_match(char out[TRACER_MATCH_BYTES], const struct sk_event *e, uint32_t i,
                  uint32_t word) {
    const struct sk_field_desc *f = &e->table->keys[i];
    const size_t half = TRACER_MATCH_BYTES / 2;
    out[0] = '\0';
    if (!e->entry || !e->entry->value || !e->entry->mask)
        return;
    const uint64_t *value = e->entry->value + word, *mask = e->entry->mask + word;
    uint32_t n = tracer_ones(mask, f->width);
    if (f->match == SK_TERNARY && n == 0) {
        strcpy(out, "_");
        return;
    }
    int at = words_text(out, half, value, f->width);
    if (f->match == SK_LPM) {
        snprintf(out + at, TRACER_MATCH_BYTES - (size_t)at, "/%u", n);
    } else if (f->match == SK_RANGE) {
        at += snprintf(out + at, TRACER_MATCH_BYTES - (size_t)at, "..");
        words_text(out + at, half - 8, mask, f->width);
    } else if (f->match == SK_TERNARY && n != f->width) {
        at += snprintf(out + at, TRACER_MATCH_BYTES - (size_t)at, " &&& ");
        words_text(out + at, half - 8, mask, f->width);
    }
}

static void tracer_on_event(struct sk_observer *o, const struct sk_packet *p,
                            const struct sk_event *e) {
    struct sk_tracer *t = (struct sk_tracer *)o;
    if (e->kind == SK_EV_DROP_CTL)
        ; // what comes of it is told by the traffic manager
    else if (t->form == SK_TRACE_JSON)
        tracer_json(t, p, e);
    else
        tracer_text(t, p, e);
    if (t->next)
        t->next->event(t->next, p, e);
}

struct sk_tracer *sk_tracer_new(FILE *out, enum sk_trace_form form, struct sk_observer *next) {
    struct sk_tracer *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    *t = (struct sk_tracer){.observer = {.everything = true, .event = tracer_on_event},
                            .out = out,
                            .form = form,
                            .next = next};
    return t;
}

void sk_tracer_free(struct sk_tracer *t) {
    free(t);
}

struct sk_observer *sk_tracer_observer(struct sk_tracer *t) {
    return &t->observer;
}

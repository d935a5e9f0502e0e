// SPDX-License-Identifier: Apache-2.0
//
// group: a program that does the same in 32 places tells the same 32 times; it is shown once, with
// the 32 values.
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pcap/explain/explain_impl.h"

#define LONGEST_PERIOD 8u
#define FEWEST         3u // repetitions that are worth it

// ---- shapes ----

// A name with '#' in place of its numbers.
static void explain_group_put_masked(FILE *f, const char *name) {
    for (const char *c = name ? name : ""; *c;) {
        fputc(isdigit((unsigned char)*c) ? '#' : *c, f);
        for (bool digit = isdigit((unsigned char)*c); *++c && digit && isdigit((unsigned char)*c);)
            ;
    }
    fputc('|', f);
}

static void put_values(FILE *f, const struct sk_trace_value *v, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        explain_group_put_masked(f, v[i].name);
    fputc('/', f);
}

static bool may_repeat(enum sk_event_kind k) {
    return k == SK_EV_TABLE || k == SK_EV_REGISTER || k == SK_EV_COUNTER || k == SK_EV_METER ||
           k == SK_EV_HASH || k == SK_EV_VALUE || k == SK_EV_CONDITION || k == SK_EV_VIOLATION;
}

static const char *shape(struct explain *x, const struct sk_event *e) {
    char *text = NULL;
    size_t n;
    if (!may_repeat(e->kind))
        return NULL;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        abort();
    fprintf(f, "%d %u:%u %u ", e->kind, e->at ? e->at->line : 0, e->at ? e->at->column : 0,
            e->flags);
    explain_group_put_masked(f, e->name);
    explain_group_put_masked(f, e->text);
    put_values(f, e->in, e->n_in);
    put_values(f, e->out, e->n_out);
    put_values(f, e->result, e->n_result);
    if (e->kind == SK_EV_TABLE) {
        explain_group_put_masked(f, e->table->actions[e->action]->name);
        for (uint32_t i = 0; i < e->table->n_keys; i++)
            explain_group_put_masked(f, e->table->keys[i].name);
    }
    if (e->kind == SK_EV_VIOLATION)
        fprintf(f, "%d", e->violation);
    if (fclose(f) != 0)
        abort();
    const char *kept = explain_keep(x, text, n + 1);
    free(text);
    return kept;
}

void explain_shapes(struct explain *x) {
    for (size_t i = 0; i < x->n; i++)
        x->told[i].shape = shape(x, &x->told[i].e);
}

static bool explain_group_same_shape(const struct explain *x, size_t a, size_t b) {
    const char *s = x->told[a].shape, *t = x->told[b].shape;
    return s && t && strcmp(s, t) == 0;
}

static size_t explain_group_repetitions(const struct explain *x, size_t at, size_t end,
                                        size_t period) {
    size_t n = 1;
    for (; at + (n + 1) * period <= end; n++)
        for (size_t i = 0; i < period; i++)
            if (!explain_group_same_shape(x, at + i, at + n * period + i))
                return n;
    return n;
}

void explain_repeats(const struct explain *x, size_t at, size_t end, size_t *period, size_t *n) {
    for (*period = 1; *period <= LONGEST_PERIOD; ++*period) {
        *n = explain_group_repetitions(x, at, end, *period);
        if (*n >= FEWEST)
            return;
    }
    *period = *n = 1;
}

const char *explain_brace(struct explain *x, const char *first, const char *last) {
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        abort();
    while (*first && *last) {
        if (!isdigit((unsigned char)*first)) {
            fputc(*first++, f);
            last++;
            continue;
        }
        size_t a = strspn(first, "0123456789"), b = strspn(last, "0123456789");
        if (a == b && strncmp(first, last, a) == 0)
            fprintf(f, "%.*s", (int)a, first);
        else
            fprintf(f, "{%.*s..%.*s}", (int)a, first, (int)b, last);
        first += a;
        last += b;
    }
    if (fclose(f) != 0)
        abort();
    const char *kept = explain_keep(x, text, n + 1);
    free(text);
    return kept;
}

// ---- slots ----

struct filling {
    struct explain *x;
    struct slot *slots;
    size_t n;
};

static void explain_group_fill(void *aux, const struct sk_trace_value *v) {
    struct filling *f = aux;
    f->slots[f->n++] = (struct slot){explain_is_constant(v) ? "" : v->name, explain_value(f->x, v)};
}

static void fill_all(struct filling *f, const struct sk_trace_value *v, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        explain_group_fill(f, &v[i]);
}

// "10.0.0.0/8", "2048 &&& 65280", "1..5"; long keys as the trace has them.
static const char *explain_group_match(struct explain *x, const struct sk_event *e, uint32_t i,
                                       uint32_t word) {
    const struct sk_field_desc *f = &e->table->keys[i];
    char text[TRACER_MATCH_BYTES];
    tracer_match(text, e, i, word);
    if (*text == '\0' || strcmp(text, "_") == 0)
        return NULL;
    if (f->width > 64)
        return explain_keep(x, text, strlen(text) + 1);
    const struct sk_trace_value value = tracer_word_field(f, e->entry->value + word),
                                mask = tracer_word_field(f, e->entry->mask + word);
    const char *slash = strchr(text, '/'), *a = explain_value(x, &value),
               *b = explain_value(x, &mask);
    if (slash)
        return explain_printf(x, "%s%s", a, slash);
    return strstr(text, "..")    ? explain_printf(x, "%s..%s", a, b)
           : strstr(text, "&&&") ? explain_printf(x, "%s &&& %s", a, b)
                                 : a;
}

// What the entry asks of the keys that are not exact.
static void fill_match(struct filling *f, const struct sk_event *e) {
    uint32_t word = 0;
    for (uint32_t i = 0; i < e->table->n_keys; i++) {
        if (e->table->keys[i].match != SK_EXACT && e->flags & 1) {
            const char *text = explain_group_match(f->x, e, i, word);
            if (text)
                f->slots[f->n++] = (struct slot){e->table->keys[i].name, text};
        }
        word += sk_words(e->table->keys[i].width);
    }
}

static size_t explain_group_room(const struct sk_event *e, enum slots which) {
    switch (which) {
    case SLOTS_IN:
        return e->n_in;
    case SLOTS_OUT:
        return e->n_out;
    case SLOTS_RESULT:
        return e->n_result;
    case SLOTS_ARGUMENT:
        return e->table->actions[e->action]->n_params;
    default:
        return e->table->n_keys;
    }
}

size_t explain_slots(struct explain *x, const struct told *t, enum slots which, struct slot **out) {
    const struct sk_event *e = &t->e;
    const struct slot none = {"", ""};
    struct filling f = {.x = x};
    size_t n = explain_group_room(e, which);
    f.slots = explain_keep(x, &none, n ? sizeof none : 0);
    if (n > 1) {
        struct slot *many = calloc(n, sizeof *many);
        if (!many)
            abort();
        f.slots = explain_keep(x, many, n * sizeof *many);
        free(many);
    }
    if (which == SLOTS_IN)
        fill_all(&f, e->in, e->n_in);
    else if (which == SLOTS_OUT)
        fill_all(&f, e->out, e->n_out);
    else if (which == SLOTS_RESULT)
        fill_all(&f, e->result, e->n_result);
    else if (which == SLOTS_KEY)
        tracer_each_key(e, explain_group_fill, &f);
    else if (which == SLOTS_ARGUMENT)
        tracer_each_argument(e, explain_group_fill, &f);
    else
        fill_match(&f, e);
    *out = f.slots;
    return f.n;
}

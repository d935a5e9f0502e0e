// SPDX-License-Identifier: Apache-2.0
//
// Fuzzing match tables: the input is a key shape and a program of operations on a table; after each
// of them the table is asked for a key and must agree with itself: what was found matches, and a
// linear search finds nothing better.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stages/table_impl.h"

#define WORDS 6

struct input {
    const uint8_t *p, *end;
};

static uint8_t byte(struct input *in) {
    return in->p < in->end ? *in->p++ : 0;
}

static const struct sk_field_desc param = {.name = "p", .width = 16};
static const struct sk_action_desc act = {"a", &param, 1, 1, false, false, 0};
static const struct sk_action_desc *const actions[] = {&act};

static bool key_matches(const struct sk_table_desc *d, const struct sk_entry *e,
                        const uint64_t *key) {
    for (uint32_t i = 0, w = 0; i < d->n_keys; w += sk_words(d->keys[i].width), i++) {
        uint32_t n = sk_words(d->keys[i].width);
        if (d->keys[i].match != SK_RANGE) {
            for (uint32_t j = w; j < w + n; j++)
                if ((key[j] ^ e->value[j]) & e->mask[j])
                    return false;
            continue;
        }
        sk_u128 k = sk_u128_of(n > 1 ? key[w + 1] : 0, key[w]);
        sk_u128 low = sk_u128_of(n > 1 ? e->value[w + 1] : 0, e->value[w]);
        sk_u128 high = sk_u128_of(n > 1 ? e->mask[w + 1] : 0, e->mask[w]);
        if (k < low || k > high)
            return false;
    }
    return true;
}

static unsigned mask_bits(const struct sk_table_desc *d, const struct sk_entry *e) {
    unsigned n = 0;
    for (uint32_t i = 0; i < d->key_words; i++)
        n += (unsigned)__builtin_popcountll(e->mask[i]);
    return n;
}

struct search {
    const struct sk_table *t;
    const uint64_t *key;
    const struct sk_entry *found;
};

static bool compare(void *aux, const struct sk_entry *e) {
    const struct search *s = aux;
    const struct sk_table_desc *d = sk_table_desc(s->t);
    if (!key_matches(d, e, s->key))
        return true;
    if (!s->found)
        abort();
    if (s->t->kind == SK_KIND_TERNARY) {
        if (e != s->found) // the first in order of precedence
            abort();
        return false;
    }
    if (mask_bits(d, e) > mask_bits(d, s->found))
        abort();
    return true;
}

static void words(struct input *in, uint64_t *w) {
    for (unsigned i = 0; i < WORDS; i++) {
        uint8_t b = byte(in);
        w[i] = b & 0x80 ? ~UINT64_C(0) >> (b & 63) : b & 0x40 ? ~UINT64_C(0) << (b & 63) : b & 7;
    }
}

static void one_operation(struct input *in, struct sk_table *t) {
    uint64_t v[WORDS], m[WORDS], data = byte(in);
    int64_t priority = byte(in) & 3;
    words(in, v);
    words(in, m);
    switch (byte(in) % 8) {
    case 0 ... 2:
        sk_table_add(t, v, byte(in) & 1 ? m : NULL, priority, 0, &data);
        break;
    case 3:
        sk_table_delete(t, v, byte(in) & 1 ? m : NULL, priority);
        break;
    case 4:
        sk_table_modify(t, v, m, priority, 0, &data);
        break;
    case 5:
        sk_table_quiesce(t);
        break;
    case 6:
        sk_table_set_default(t, 0, &data);
        break;
    default:
        if (byte(in) == 0)
            sk_table_clear(t);
    }
    for (uint32_t i = 0, w = 0; i < sk_table_desc(t)->n_keys; i++)
        for (uint32_t j = 0; j < sk_words(t->keys[i].width); j++, w++)
            if (t->keys[i].width - 64 * j < 64)
                v[w] &= sk_mask(t->keys[i].width - 64 * j);
    struct search s = {t, v, sk_table_lookup(t, v)};
    if (s.found && !key_matches(sk_table_desc(t), s.found, v))
        abort();
    sk_table_each(t, compare, &s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct input in = {bytes, bytes + size};
    struct sk_field_desc keys[3];
    struct sk_table_desc d = {.name = "t",
                              .keys = keys,
                              .n_keys = byte(&in) % 3 + 1u,
                              .actions = actions,
                              .n_actions = 1,
                              .size = 64,
                              .default_data = (const uint64_t[]){0}};
    for (uint32_t i = 0; i < d.n_keys; i++) {
        keys[i] = (struct sk_field_desc){
            .name = "k", .width = byte(&in) % 128 + 1u, .match = byte(&in) % 4};
        d.key_words += sk_words(keys[i].width);
    }
    struct sk_table *t = sk_table_new(&d);
    if (!t)
        abort();
    while (in.p < in.end)
        one_operation(&in, t);
    sk_table_free(t);
    return 0;
}

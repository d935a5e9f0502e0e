// SPDX-License-Identifier: Apache-2.0
//
// checked: the rare paths of the checked build. See checked.h.
#include "pipeline/checked.h"

struct search {
    const struct sk_table_desc *desc;
    const uint64_t *key, *undefined;
    bool by_prefix, in_order;
    int best_prefix; // of the entries that match whatever the undefined bits are
    int maybe_field, maybe_prefix;
};

enum match { NO, MAYBE, YES };

static bool less(const uint64_t *a, const uint64_t *b, unsigned words) {
    for (unsigned i = words; i-- > 0;)
        if (a[i] != b[i])
            return a[i] < b[i];
    return false;
}

// A range whose key has undefined bits: from the key with all of them 0 to that with all of them 1.
static enum match range_match(const uint64_t *key, const uint64_t *undefined, const uint64_t *low,
                              const uint64_t *high, unsigned words) {
    uint64_t least[SK_MAX_KEY_WORDS], most[SK_MAX_KEY_WORDS];
    for (unsigned i = 0; i < words; i++) {
        least[i] = key[i] & ~undefined[i];
        most[i] = key[i] | undefined[i];
    }
    if (less(most, low, words) || less(high, least, words))
        return NO;
    return less(least, low, words) || less(high, most, words) ? MAYBE : YES;
}

static enum match masked_match(const uint64_t *key, const uint64_t *undefined,
                               const uint64_t *value, const uint64_t *mask, unsigned words) {
    enum match m = YES;
    for (unsigned i = 0; i < words; i++) {
        if ((key[i] ^ value[i]) & mask[i] & ~undefined[i])
            return NO;
        if (mask[i] & undefined[i])
            m = MAYBE;
    }
    return m;
}

// Whether the entry matches; '*field' is the first one that makes it doubtful.
static enum match entry_match(const struct search *s, const struct sk_entry *e, int *field) {
    enum match all = YES;
    unsigned word = 0;
    for (uint32_t i = 0; i < s->desc->n_keys; i++) {
        unsigned n = sk_words(s->desc->keys[i].width);
        const uint64_t *key = s->key + word, *undefined = s->undefined + word;
        const uint64_t *value = e->value + word, *mask = e->mask + word;
        enum match m = s->desc->keys[i].match == SK_RANGE
                           ? range_match(key, undefined, value, mask, n)
                           : masked_match(key, undefined, value, mask, n);
        if (m == NO)
            return NO;
        if (m == MAYBE && all == YES) {
            all = MAYBE;
            *field = (int)i;
        }
        word += n;
    }
    return all;
}

static int checked_prefix_bits(const struct search *s, const struct sk_entry *e) {
    int bits = 0;
    unsigned word = 0;
    for (uint32_t i = 0; i < s->desc->n_keys; i++) {
        unsigned n = sk_words(s->desc->keys[i].width);
        for (unsigned w = 0; w < n && s->desc->keys[i].match == SK_LPM; w++)
            bits += __builtin_popcountll(e->mask[word + w]);
        word += n;
    }
    return bits;
}

static bool checked_look_at(void *aux, const struct sk_entry *e) {
    struct search *s = aux;
    int field = -1, prefix = s->by_prefix ? checked_prefix_bits(s, e) : 0;
    enum match m = entry_match(s, e, &field);
    if (m == YES) {
        if (prefix > s->best_prefix)
            s->best_prefix = prefix;
        return !s->in_order; // nothing after it counts
    }
    if (m == MAYBE && prefix > s->maybe_prefix) {
        s->maybe_prefix = prefix;
        s->maybe_field = field;
    }
    return true;
}

int sk_key_matters(const struct sk_table *t, const uint64_t *key, const uint64_t *undefined) {
    struct search s = {.desc = sk_table_desc(t),
                       .key = key,
                       .undefined = undefined,
                       .best_prefix = -1,
                       .maybe_field = -1,
                       .maybe_prefix = -1};
    for (uint32_t i = 0; i < s.desc->n_keys; i++) {
        s.by_prefix |= s.desc->keys[i].match == SK_LPM;
        s.in_order |= s.desc->keys[i].match == SK_TERNARY || s.desc->keys[i].match == SK_RANGE;
    }
    s.by_prefix &= !s.in_order;
    sk_table_each(t, checked_look_at, &s);
    return s.by_prefix && s.maybe_prefix < s.best_prefix ? -1 : s.maybe_field;
}

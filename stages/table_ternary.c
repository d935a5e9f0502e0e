// SPDX-License-Identifier: Apache-2.0
//
// table_ternary: the lookup. See table_ternary.h.
#include "stages/table_ternary_impl.h"

static bool table_ternary_at_most(const uint64_t *a, const uint64_t *b, uint32_t words) {
    for (uint32_t i = words; i-- > 0;)
        if (a[i] != b[i])
            return a[i] < b[i];
    return true;
}

static bool range_matches(const struct sk_table *t, const struct sk_entry *e, const uint64_t *key) {
    for (uint32_t i = 0; i < t->desc->n_keys; i++) {
        const struct sk_key_pos *k = &t->keys[i];
        const uint64_t *v = key + k->word;
        if (k->match == SK_RANGE) {
            if (!table_ternary_at_most(e->value + k->word, v, k->words) ||
                !table_ternary_at_most(v, e->mask + k->word, k->words))
                return false;
            continue;
        }
        for (uint32_t w = 0; w < k->words; w++)
            if ((v[w] ^ e->value[k->word + w]) & e->mask[k->word + w])
                return false;
    }
    return true;
}

static bool ternary_matches(const struct sk_entry *e, const uint64_t *key, uint32_t words) {
    const uint64_t *value = sk_entry_key(e), *mask = value + words;
    uint64_t diff = 0;
    for (uint32_t i = 0; i < words; i++)
        diff |= (key[i] ^ value[i]) & mask[i];
    return diff == 0;
}

// The first entry of the chain that matches, or 'best' when that is none or no better.
static struct sk_entry *search_chain(const struct sk_table *t, const struct chain *c,
                                     const uint64_t *key, struct sk_entry *best) {
    for (const struct sk_rank *r = sk_rank_first(&c->entries); r; r = sk_rank_next(r)) {
        if (!table_ternary_better(best, r->priority, r->sequence))
            break;
        struct sk_entry *e = sk_rank_of(r);
        if (!t->has_range || range_matches(t, e, key))
            return e;
    }
    return best;
}

// The best of the group's entries that match, or 'best' when that is none or no better.
static struct sk_entry *search_group(const struct sk_table *t, const struct chains *c,
                                     const struct group *g, const uint64_t *key,
                                     struct sk_entry *best) {
    struct sk_entry *e = sk_load_slot(&g->only);
    if (e) {
        bool matches =
            t->has_range ? range_matches(t, e, key) : ternary_matches(e, key, t->key_words);
        return matches && table_ternary_better(best, e->priority, e->sequence) ? e : best;
    }
    uint64_t value[SK_MAX_KEY_WORDS], hash = g->seed;
    for (uint32_t i = 0; i < g->n; i++) {
        value[i] = key[g->part[i].word] & g->part[i].mask;
        hash = sk_hash_word(t->secret, hash, value[i]);
    }
    const struct chain *found = table_ternary_find_chain(c, g, hash, value);
    return found ? search_chain(t, found, key, best) : best;
}

struct sk_entry *sk_ternary_lookup(const struct sk_table *t, const uint64_t *key) {
    const struct order *o = load_order(t->ternary);
    const struct chains *c = load_chains(t->ternary);
    const struct sk_rank *r = sk_rank_first(&o->recent);
    struct sk_entry *best = NULL;
    for (uint64_t i = 0; i < o->n || r;) {
        const struct place_of_group *p = &o->place[i];
        if (r &&
            (i == o->n || sk_precedence(r->priority, r->sequence, p->priority, p->sequence) < 0)) {
            if (!table_ternary_better(best, r->priority, r->sequence))
                break;
            best = search_group(t, c, sk_rank_of(r), key, best);
            r = sk_rank_next(r);
            continue;
        }
        if (!table_ternary_better(best, p->priority, p->sequence))
            break;
        i++;
        if (((key[p->word] ^ p->value) &
             atomic_load_explicit(&((struct place_of_group *)p)->mask, memory_order_acquire)) == 0)
            best = search_group(t, c, p->group, key, best);
    }
    return best;
}

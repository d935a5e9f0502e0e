// SPDX-License-Identifier: Apache-2.0
//
// table_ternary: see table_ternary.h.
#include "stages/table_ternary.h"

#include <stdlib.h>
#include <string.h>

#include "stages/rank.h"

struct part { // of a mask: a word that is not zero
    uint64_t mask;
    uint32_t word;
};

struct group;
struct place_of_group {
    int64_t priority; // a lower bound of its best entry's
    uint64_t sequence;
    struct group *group;
    // A first look without it: a key that matches one of its entries agrees with 'value' in 'mask'.
    uint64_t value;
    _Atomic(uint64_t) mask; // only ever loses bits
    uint32_t word;
};
struct order { // of the groups
    struct sk_retired retired;
    struct sk_ranking recent; // places taken since the array was made
    uint64_t n;
    struct place_of_group place[];
};

// What only the writer knows of a group.
struct group_state {
    struct sk_ranking entries;
    struct place_of_group at;
    struct place_of_group *in_array; // a copy of it, or null
    struct group *next_in_bucket;    // or next one that has no entries any more
    uint64_t hash;                   // of the mask
    uint64_t n_entries;
};
struct group {
    struct sk_retired retired;
    sk_slot only;  // its entry, when it is the only one
    uint64_t seed; // unlike any other group's
    struct group_state *state;
    uint32_t n;
    struct part part[];
};

struct chain {
    struct sk_retired retired;
    const struct group *group;
    uint64_t hash;
    struct sk_ranking entries;
    uint64_t value[]; // the masked words of the key, one for each part
};
struct chain_slot {
    uint64_t hash; // set before the chain
    _Atomic(struct chain *) chain;
};
typedef _Atomic(uint64_t) atomic_word;
struct chains {
    struct sk_retired retired;
    uint64_t mask;
    // Four bits per slot; of each hash that is there one is set. Most groups have no chain for a key,
    // and this is small enough to stay in a cache.
    atomic_word *present;
    struct chain_slot slot[];
};
#define GONE ((struct chain *)(uintptr_t)1)

struct sk_ternary {
    _Atomic(struct order *) order;
    _Atomic(struct chains *) chains;
    // the writer's
    struct sk_ranking all;
    uint64_t used, n_chains; // slots that are not null; chains
    struct group **bucket;   // by mask
    uint64_t n_buckets, n_groups, seed;
    uint64_t n_changes;  // of the order, since its array was made
    struct group *empty; // groups without entries that it leads to
};

// Where an entry is. Its ranks in all, in its group and in its chain.
struct place {
    struct group *group;
    struct chain *chain;
    struct sk_rank *all, *in_group, *in_chain;
};

static struct order *load_order(const struct sk_ternary *s) {
    return atomic_load_explicit(&((struct sk_ternary *)s)->order, memory_order_acquire);
}
static struct chains *load_chains(const struct sk_ternary *s) {
    return atomic_load_explicit(&((struct sk_ternary *)s)->chains, memory_order_acquire);
}
static struct chain *load_chain(const struct chain_slot *s) {
    return atomic_load_explicit(&((struct chain_slot *)s)->chain, memory_order_acquire);
}

// ---- readers ----

static bool at_most(const uint64_t *a, const uint64_t *b, uint32_t words) {
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
            if (!at_most(e->value + k->word, v, k->words) ||
                !at_most(v, e->mask + k->word, k->words))
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

static uint64_t present_bit(const struct chains *c, uint64_t hash) {
    return hash >> 24 & (4 * (c->mask + 1) - 1);
}

static const struct chain *find_chain(const struct chains *c, const struct group *g, uint64_t hash,
                                      const uint64_t *value) {
    uint64_t bit = present_bit(c, hash);
    if (!(atomic_load_explicit(&c->present[bit / 64], memory_order_acquire) >> bit % 64 & 1))
        return NULL;
    for (uint64_t at = hash;; at++) {
        const struct chain_slot *slot = &c->slot[at & c->mask];
        const struct chain *found = load_chain(slot);
        if (!found)
            return NULL;
        if (found != GONE && slot->hash == hash && found->group == g &&
            sk_key_equal(found->value, value, g->n))
            return found;
    }
}

static bool better(const struct sk_entry *best, int64_t priority, uint64_t sequence) {
    return !best || sk_precedence(priority, sequence, best->priority, best->sequence) < 0;
}

// The first entry of the chain that matches, or 'best' when that is none or no better.
static struct sk_entry *search_chain(const struct sk_table *t, const struct chain *c,
                                     const uint64_t *key, struct sk_entry *best) {
    for (const struct sk_rank *r = sk_rank_first(&c->entries); r; r = sk_rank_next(r)) {
        if (!better(best, r->priority, r->sequence))
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
        return matches && better(best, e->priority, e->sequence) ? e : best;
    }
    uint64_t value[SK_MAX_KEY_WORDS], hash = g->seed;
    for (uint32_t i = 0; i < g->n; i++) {
        value[i] = key[g->part[i].word] & g->part[i].mask;
        hash = sk_hash_mix(hash, value[i]);
    }
    const struct chain *found = find_chain(c, g, hash, value);
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
            if (!better(best, r->priority, r->sequence))
                break;
            best = search_group(t, c, sk_rank_of(r), key, best);
            r = sk_rank_next(r);
            continue;
        }
        if (!better(best, p->priority, p->sequence))
            break;
        i++;
        if (((key[p->word] ^ p->value) &
             atomic_load_explicit(&((struct place_of_group *)p)->mask, memory_order_acquire)) == 0)
            best = search_group(t, c, p->group, key, best);
    }
    return best;
}

// ---- the writer: groups by their mask ----

// The ones above the highest bit in which a range's ends differ.
static void common_mask(const struct sk_key_pos *k, const uint64_t *low, const uint64_t *high,
                        uint64_t *mask) {
    bool below = false;
    for (uint32_t w = k->words; w-- > 0;) {
        uint64_t differ = low[w] ^ high[w];
        mask[w] = below ? 0 : sk_full_word(k->width, w);
        if (differ && !below)
            mask[w] &= ~sk_mask(64 - (unsigned)__builtin_clzll(differ));
        below = below || differ;
    }
}

static void group_mask(const struct sk_table *t, const struct sk_entry *e, uint64_t *mask) {
    for (uint32_t i = 0; i < t->desc->n_keys; i++) {
        const struct sk_key_pos *k = &t->keys[i];
        if (k->match == SK_RANGE)
            common_mask(k, e->value + k->word, e->mask + k->word, mask + k->word);
        else
            memcpy(mask + k->word, e->mask + k->word, k->words * sizeof *mask);
    }
}

static bool has_mask(const struct group *g, const uint64_t *mask, uint32_t words) {
    uint32_t i = 0;
    for (uint32_t w = 0; w < words; w++) {
        if (!mask[w])
            continue;
        if (i == g->n || g->part[i].word != w || g->part[i].mask != mask[w])
            return false;
        i++;
    }
    return i == g->n;
}

static struct group *find_group(const struct sk_table *t, const uint64_t *mask, uint64_t hash) {
    const struct sk_ternary *s = t->ternary;
    struct group *g = s->n_buckets ? s->bucket[hash & (s->n_buckets - 1)] : NULL;
    while (g && !(g->state->hash == hash && has_mask(g, mask, t->key_words)))
        g = g->state->next_in_bucket;
    return g;
}

static bool reserve_group(struct sk_ternary *s) {
    if (s->n_groups < s->n_buckets)
        return true;
    uint64_t n = s->n_buckets ? 2 * s->n_buckets : 16;
    struct group **bucket = calloc(n, sizeof *bucket);
    if (!bucket)
        return false;
    for (uint64_t i = 0; i < s->n_buckets; i++)
        for (struct group *g = s->bucket[i], *next; g; g = next) {
            next = g->state->next_in_bucket;
            g->state->next_in_bucket = bucket[g->state->hash & (n - 1)];
            bucket[g->state->hash & (n - 1)] = g;
        }
    free(s->bucket);
    s->bucket = bucket;
    s->n_buckets = n;
    return true;
}

static void free_group(struct group *g) {
    if (g)
        free(g->state);
    free(g);
}

static struct group *new_group(const struct sk_table *t, const uint64_t *mask, uint64_t hash) {
    uint32_t n = 0;
    for (uint32_t w = 0; w < t->key_words; w++)
        n += mask[w] != 0;
    struct group *g = calloc(1, sizeof *g + n * sizeof *g->part);
    struct group_state *state = calloc(1, sizeof *state);
    if (!g || !state) {
        free(g);
        free(state);
        return NULL;
    }
    state->hash = hash;
    g->state = state;
    g->seed = sk_hash_mix(0, t->ternary->seed++);
    state->at.group = g;
    uint64_t most = 0;
    for (uint32_t w = 0; w < t->key_words; w++) {
        if (mask[w])
            g->part[g->n++] = (struct part){mask[w], w};
        if (__builtin_popcountll(mask[w]) > __builtin_popcountll(most)) {
            most = mask[w];
            state->at.word = w;
        }
    }
    atomic_init(&state->at.mask, most);
    return g;
}

static void add_group(struct sk_ternary *s, struct group *g) {
    struct group **bucket = &s->bucket[g->state->hash & (s->n_buckets - 1)];
    g->state->next_in_bucket = *bucket;
    *bucket = g;
    s->n_groups++;
}

// ---- the writer: the order of the groups ----

static int by_place(const void *a, const void *b) {
    const struct place_of_group *x = a, *y = b;
    return sk_precedence(x->priority, x->sequence, y->priority, y->sequence);
}

// A new array when there were many changes; without memory the old one serves on.
static void change_order(struct sk_table *t) {
    struct sk_ternary *s = t->ternary;
    if (++s->n_changes < 16 + s->n_groups / 8)
        return;
    struct order *o = calloc(1, sizeof *o + s->n_groups * sizeof *o->place), *old = load_order(s);
    if (!o)
        return;
    for (uint64_t i = 0; i < s->n_buckets; i++)
        for (struct group *g = s->bucket[i]; g; g = g->state->next_in_bucket) {
            const struct sk_rank *best = sk_rank_first(&g->state->entries);
            g->state->at.priority = best->priority;
            g->state->at.sequence = best->sequence;
            o->place[o->n++] = g->state->at;
        }
    qsort(o->place, o->n, sizeof *o->place, by_place);
    for (uint64_t i = 0; i < o->n; i++)
        o->place[i].group->state->in_array = &o->place[i];
    atomic_store_explicit(&s->order, o, memory_order_release);
    for (struct sk_rank *r = sk_rank_first(&old->recent), *next; r; r = next) {
        next = sk_rank_next(r);
        sk_retire(t, &r->retired);
    }
    sk_retire(t, &old->retired);
    for (struct group *g; (g = s->empty) != NULL;) {
        s->empty = g->state->next_in_bucket;
        free(g->state);
        sk_retire(t, &g->retired);
    }
    s->n_changes = 0;
}

// Before an entry comes into the group: what it has not in common with the others is not looked at.
static void widen_group(struct group_state *state, const uint64_t *value) {
    uint64_t mask = atomic_load_explicit(&state->at.mask, memory_order_relaxed);
    if (state->n_entries == 0)
        state->at.value = value[state->at.word] & mask;
    mask &= ~(state->at.value ^ value[state->at.word]);
    atomic_store_explicit(&state->at.mask, mask, memory_order_relaxed);
    if (state->in_array)
        atomic_store_explicit(&state->in_array->mask, mask, memory_order_release);
}

// Before an entry that is better than the others comes into the group.
static void move_group(struct sk_table *t, struct group *g, struct sk_rank *to) {
    g->state->at.priority = to->priority;
    g->state->at.sequence = to->sequence;
    sk_rank_insert(&load_order(t->ternary)->recent, to);
}

static void remove_group(struct sk_table *t, struct group *g) {
    struct sk_ternary *s = t->ternary;
    struct group **at = &s->bucket[g->state->hash & (s->n_buckets - 1)];
    while (*at != g)
        at = &(*at)->state->next_in_bucket;
    *at = g->state->next_in_bucket;
    s->n_groups--;
    g->state->next_in_bucket = s->empty;
    s->empty = g;
    change_order(t);
}

// ---- the writer: chains ----

static struct chains *new_chains(uint64_t capacity) {
    struct chains *c = calloc(1, sizeof *c + capacity * sizeof *c->slot + capacity / 2);
    if (!c)
        return NULL;
    c->mask = capacity - 1;
    c->present = (atomic_word *)(c->slot + capacity);
    return c;
}

static void put_chain(struct chains *c, struct chain *chain) {
    uint64_t at = chain->hash, bit = present_bit(c, at);
    while (load_chain(&c->slot[at & c->mask]))
        at++;
    struct chain_slot *slot = &c->slot[at & c->mask];
    slot->hash = chain->hash;
    atomic_store_explicit(&slot->chain, chain, memory_order_release);
    uint64_t bits = atomic_load_explicit(&c->present[bit / 64], memory_order_relaxed);
    atomic_store_explicit(&c->present[bit / 64], bits | UINT64_C(1) << bit % 64,
                          memory_order_release);
}

static bool reserve_chain(struct sk_table *t) {
    struct sk_ternary *s = t->ternary;
    struct chains *old = load_chains(s);
    if ((s->used + 1) * 2 <= old->mask + 1)
        return true;
    uint64_t capacity = 16;
    while (capacity < (s->n_chains + 1) * 4)
        capacity *= 2;
    struct chains *c = new_chains(capacity);
    if (!c)
        return false;
    for (uint64_t i = 0; i <= old->mask; i++) {
        struct chain *chain = load_chain(&old->slot[i]);
        if (chain && chain != GONE)
            put_chain(c, chain);
    }
    s->used = s->n_chains;
    atomic_store_explicit(&s->chains, c, memory_order_release);
    sk_retire(t, &old->retired);
    return true;
}

static struct chain *new_chain(const struct group *g, uint64_t hash, const uint64_t *value) {
    struct chain *c = calloc(1, sizeof *c + g->n * sizeof *value);
    if (!c)
        return NULL;
    c->group = g;
    c->hash = hash;
    if (g->n)
        memcpy(c->value, value, g->n * sizeof *value);
    return c;
}

static void add_chain(struct sk_ternary *s, struct chain *chain) {
    put_chain(load_chains(s), chain);
    s->used++;
    s->n_chains++;
}

static void remove_chain(struct sk_table *t, struct chain *chain) {
    struct chains *c = load_chains(t->ternary);
    uint64_t at = chain->hash;
    while (load_chain(&c->slot[at & c->mask]) != chain)
        at++;
    atomic_store_explicit(&c->slot[at & c->mask].chain, GONE, memory_order_release);
    t->ternary->n_chains--;
    sk_retire(t, &chain->retired);
}

// ---- the writer: entries ----

// All that an entry needs, allocated before anything is changed.
struct plan {
    struct place *place;
    struct sk_rank *in_groups; // the group's new place, when the entry is its best
    bool new_group, new_chain;
};

static void drop_plan(struct plan *p) {
    if (p->place) {
        free(p->place->all);
        free(p->place->in_group);
        free(p->place->in_chain);
        if (p->new_chain)
            free(p->place->chain);
        if (p->new_group)
            free_group(p->place->group);
    }
    free(p->place);
    free(p->in_groups);
}

static bool plan_ranks(struct plan *p, const struct sk_entry *e) {
    struct place *at = p->place;
    void *of = (void *)e;
    at->all = sk_rank_new(e->priority, e->sequence, of);
    at->in_group = sk_rank_new(e->priority, e->sequence, of);
    at->in_chain = sk_rank_new(e->priority, e->sequence, of);
    if (!at->all || !at->in_group || !at->in_chain)
        return false;
    const struct place_of_group *before = &at->group->state->at;
    if (!p->new_group &&
        sk_precedence(before->priority, before->sequence, e->priority, e->sequence) < 0)
        return true;
    p->in_groups = sk_rank_new(e->priority, e->sequence, at->group);
    return p->in_groups != NULL;
}

static bool make_plan(struct sk_table *t, const struct sk_entry *e, struct plan *p) {
    uint64_t mask[SK_MAX_KEY_WORDS], value[SK_MAX_KEY_WORDS];
    struct place *at = p->place = calloc(1, sizeof *p->place);
    if (!at || !reserve_group(t->ternary) || !reserve_chain(t))
        return false;
    group_mask(t, e, mask);
    uint64_t hash = sk_hash_key(mask, t->key_words, 0);
    at->group = find_group(t, mask, hash);
    if (!at->group) {
        p->new_group = true;
        at->group = new_group(t, mask, hash);
        if (!at->group)
            return false;
    }
    const struct group *g = at->group;
    hash = g->seed;
    for (uint32_t i = 0; i < g->n; i++) {
        value[i] = e->value[g->part[i].word] & g->part[i].mask;
        hash = sk_hash_mix(hash, value[i]);
    }
    at->chain = (struct chain *)find_chain(load_chains(t->ternary), g, hash, value);
    if (!at->chain) {
        p->new_chain = true;
        at->chain = new_chain(g, hash, value);
        if (!at->chain)
            return false;
    }
    return plan_ranks(p, e);
}

bool sk_ternary_insert(struct sk_table *t, struct node *n) {
    struct sk_ternary *s = t->ternary;
    struct plan p = {0};
    if (!make_plan(t, &n->e, &p)) {
        drop_plan(&p);
        return false;
    }
    struct place *at = n->place = p.place;
    struct group_state *state = at->group->state;
    if (p.new_group)
        add_group(s, at->group);
    if (p.new_chain)
        add_chain(s, at->chain);
    widen_group(state, n->e.value);
    if (p.in_groups)
        move_group(t, at->group, p.in_groups);
    sk_rank_insert(&s->all, at->all);
    sk_rank_insert(&state->entries, at->in_group);
    sk_rank_insert(&at->chain->entries, at->in_chain);
    sk_slot_set(&at->group->only, ++state->n_entries == 1 ? &n->e : NULL);
    if (p.in_groups)
        change_order(t);
    return true;
}

void sk_ternary_replace(struct sk_table *t, struct node *now) {
    (void)t;
    struct place *at = now->place;
    void *of = &now->e;
    atomic_store_explicit(&at->in_chain->of, of, memory_order_release);
    atomic_store_explicit(&at->in_group->of, of, memory_order_relaxed);
    atomic_store_explicit(&at->all->of, of, memory_order_relaxed);
    if (at->group->state->n_entries == 1)
        sk_slot_set(&at->group->only, &now->e);
}

void sk_ternary_remove(struct sk_table *t, struct node *n) {
    struct place *at = n->place;
    struct group *g = at->group;
    struct group_state *state = g->state;
    sk_rank_remove(&at->chain->entries, at->in_chain);
    sk_rank_remove(&state->entries, at->in_group);
    sk_rank_remove(&t->ternary->all, at->all);
    const struct sk_rank *best = sk_rank_first(&state->entries);
    --state->n_entries;
    sk_slot_set(&g->only, state->n_entries == 1 ? sk_rank_of(best) : NULL);
    if (!sk_rank_first(&at->chain->entries))
        remove_chain(t, at->chain);
    if (!best)
        remove_group(t, g);
    else if (sk_precedence(state->at.priority, state->at.sequence, best->priority, best->sequence) <
             0)
        change_order(t); // its place is in front of its best entry
    sk_retire(t, &at->in_chain->retired);
    free(at->in_group);
    free(at->all);
    free(at);
    n->place = NULL;
}

void sk_ternary_each(const struct sk_table *t, bool (*fn)(void *aux, const struct sk_entry *e),
                     void *aux) {
    for (const struct sk_rank *r = sk_rank_first(&t->ternary->all); r; r = sk_rank_next(r))
        if (!fn(aux, sk_rank_of(r)))
            return;
}

// ---- making and freeing ----

struct sk_ternary *sk_ternary_new(void) {
    struct sk_ternary *s = calloc(1, sizeof *s);
    struct chains *c = new_chains(16);
    struct order *o = calloc(1, sizeof *o);
    if (!s || !c || !o) {
        free(s);
        free(c);
        free(o);
        return NULL;
    }
    atomic_init(&s->chains, c);
    atomic_init(&s->order, o);
    return s;
}

void sk_ternary_free(struct sk_table *t) {
    struct sk_ternary *s = t->ternary;
    if (!s)
        return;
    for (struct node *n = t->writer->first; n; n = n->next)
        if (n->place)
            sk_ternary_remove(t, n);
    s->n_changes = 16;
    change_order(t); // what is empty goes
    free(load_order(s));
    free(load_chains(s));
    free(s->bucket);
    free(s);
    t->ternary = NULL;
}

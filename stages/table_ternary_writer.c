// SPDX-License-Identifier: Apache-2.0
//
// table_ternary_writer: how a ternary table comes to be and changes. See table_ternary.h.
#include <stdlib.h>
#include <string.h>

#include "stages/table_ternary_impl.h"

// ---- groups by their mask ----

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

static bool table_ternary_writer_has_mask(const struct group *g, const uint64_t *mask,
                                          uint32_t words) {
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
    while (g && !(g->state->hash == hash && table_ternary_writer_has_mask(g, mask, t->key_words)))
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

static void table_ternary_writer_free_group(struct group *g) {
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
    g->seed = sk_hash_word(t->secret, t->secret.start, t->ternary->seed++);
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

static void table_ternary_writer_add_group(struct sk_ternary *s, struct group *g) {
    struct group **bucket = &s->bucket[g->state->hash & (s->n_buckets - 1)];
    g->state->next_in_bucket = *bucket;
    *bucket = g;
    s->n_groups++;
}

// ---- the order of the groups ----

static int table_ternary_writer_by_place(const void *a, const void *b) {
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
    qsort(o->place, o->n, sizeof *o->place, table_ternary_writer_by_place);
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

// ---- chains ----

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

// ---- entries ----

// All that an entry needs, allocated before anything is changed.
struct plan {
    struct ternary_place *place;
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
            table_ternary_writer_free_group(p->place->group);
    }
    free(p->place);
    free(p->in_groups);
}

static bool plan_ranks(struct plan *p, const struct sk_entry *e) {
    struct ternary_place *at = p->place;
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
    struct ternary_place *at = p->place = calloc(1, sizeof *p->place);
    if (!at || !reserve_group(t->ternary) || !reserve_chain(t))
        return false;
    group_mask(t, e, mask);
    uint64_t hash = sk_hash_key(t->secret, mask, t->key_words);
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
        hash = sk_hash_word(t->secret, hash, value[i]);
    }
    at->chain = (struct chain *)table_ternary_find_chain(load_chains(t->ternary), g, hash, value);
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
    struct ternary_place *at = n->place = p.place;
    struct group_state *state = at->group->state;
    if (p.new_group)
        table_ternary_writer_add_group(s, at->group);
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
    struct ternary_place *at = now->place;
    void *of = &now->e;
    atomic_store_explicit(&at->in_chain->of, of, memory_order_release);
    atomic_store_explicit(&at->in_group->of, of, memory_order_relaxed);
    atomic_store_explicit(&at->all->of, of, memory_order_relaxed);
    if (at->group->state->n_entries == 1)
        sk_slot_set(&at->group->only, &now->e);
}

void sk_ternary_remove(struct sk_table *t, struct node *n) {
    struct ternary_place *at = n->place;
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
        change_order(t); // its place is before its best entry
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

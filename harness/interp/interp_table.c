// SPDX-License-Identifier: Apache-2.0
//
// interp_table: tables and value sets: lists of entries, looked through from the first to the last.
#include "harness/interp/interp_impl.h"

#include <stdlib.h>
#include <string.h>

static void *allocate(size_t n, size_t size) {
    void *p = calloc(n ? n : 1, size);
    if (!p)
        abort();
    return p;
}

const struct ir_action *interp_action(const struct ir_table *t, unsigned i) {
    return i < t->actions.n ? t->actions.v[i].action : t->default_action;
}

// The number of an action in its table; a default action that is not listed is behind the others.
static unsigned action_number(const struct ir_table *t, const struct ir_action *a) {
    for (unsigned i = 0; i < t->actions.n; i++)
        if (t->actions.v[i].action == a)
            return i;
    return (unsigned)t->actions.n;
}

uint64_t interp_low_mask(unsigned bits) {
    return bits % 64 ? (UINT64_C(1) << bits % 64) - 1 : UINT64_MAX;
}

static unsigned key_words(const struct ir_table *t) {
    unsigned n = 0;
    for (size_t i = 0; i < t->keys.n; i++)
        n += interp_words(t->keys.v[i].expr->width);
    return n;
}

static unsigned data_words(const struct ir_action *a) {
    unsigned n = 0;
    for (size_t i = 0; i < a->params.n; i++)
        n += interp_words(a->params.v[i].var->width);
    return n;
}

static uint64_t *copy_words(const uint64_t *words, unsigned n) {
    uint64_t *copy = allocate(n, sizeof *copy);
    if (words)
        memcpy(copy, words, n * sizeof *copy);
    return copy;
}

// The direct registers' cells of one entry.
static uint64_t *direct_cells(const struct ir_table *t) {
    unsigned n = 0;
    for (size_t i = 0; i < t->direct_registers.n; i++)
        n += t->direct_registers.v[i]->words;
    uint64_t *cells = allocate(n, sizeof *cells);
    n = 0;
    for (size_t i = 0; i < t->direct_registers.n; i++)
        for (unsigned w = 0; w < t->direct_registers.v[i]->words; w++, n++)
            if (t->direct_registers.v[i]->initial[w])
                cells[n] = big_to_u64(t->direct_registers.v[i]->initial[w]);
    return cells;
}

static struct interp_entry *push(struct interp_table *t) {
    if (t->n == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 16;
        t->entries = realloc(t->entries, t->cap * sizeof *t->entries);
        if (!t->entries)
            abort();
    }
    t->entries[t->n] = allocate(1, sizeof **t->entries);
    return t->entries[t->n++];
}

static void put_big(uint64_t *words, unsigned *at, big v, unsigned width) {
    for (unsigned i = 0; i < interp_words(width); i++)
        words[(*at)++] = v ? big_word(v, i) : 0;
}

static void put_ones(uint64_t *words, unsigned *at, unsigned width) {
    unsigned n = interp_words(width);
    for (unsigned i = 0; i < n; i++)
        words[(*at)++] = i + 1 < n ? UINT64_MAX : interp_low_mask(width);
}

static uint64_t *args_in_words(const struct ir_action *a, const big *args, size_t n) {
    uint64_t *data = allocate(data_words(a), sizeof *data);
    unsigned at = 0;
    for (size_t i = 0; i < a->params.n; i++)
        put_big(data, &at, i < n ? args[i] : NULL, a->params.v[i].var->width);
    return data;
}

// An entry that the program has.
static void program_entry(struct interp_table *t, const struct ir_table *ir,
                          const struct ir_entry *from) {
    struct interp_entry *e = push(t);
    unsigned n = key_words(ir), v = 0, m = 0;
    e->value = allocate(n, sizeof *e->value);
    e->mask = allocate(n, sizeof *e->mask);
    for (size_t i = 0; i < ir->keys.n; i++) {
        const struct ir_key_value *k = &from->keys.v[i];
        unsigned width = ir->keys.v[i].expr->width;
        put_big(e->value, &v, k->value, width);
        if (k->high || k->mask)
            put_big(e->mask, &m, k->high ? k->high : k->mask, width);
        else
            put_ones(e->mask, &m, width);
    }
    e->priority = from->priority;
    e->action = action_number(ir, from->action);
    e->data = args_in_words(from->action, from->args.v, from->args.n);
    e->direct = direct_cells(ir);
    e->is_const = from->is_const;
}

void interp_make_table(struct interp_table *t, const struct ir_table *ir) {
    for (size_t i = 0; i < ir->entries.n; i++)
        program_entry(t, ir, ir->entries.v[i]);
    struct interp_entry *e = t->default_entry = allocate(1, sizeof *e);
    e->action = action_number(ir, ir->default_action);
    e->data = args_in_words(ir->default_action, ir->default_args.v, ir->default_args.n);
    e->direct = direct_cells(ir);
}

static void free_entry(struct interp_entry *e) {
    if (!e)
        return;
    free(e->value);
    free(e->mask);
    free(e->data);
    free(e->direct);
    free(e);
}

void interp_free_table(struct interp_table *t) {
    for (size_t i = 0; i < t->n; i++)
        free_entry(t->entries[i]);
    free(t->entries);
    free_entry(t->default_entry);
}

// The words of data behind 'action', and what an entry with it refers to.
static unsigned kind_of(const struct ir_table *t, unsigned action, enum interp_reference *refers) {
    unsigned n = (unsigned)t->actions.n;
    if (action_number(t, t->default_action) == n)
        n++;
    *refers = action < n ? INTERP_OWN : action == n ? INTERP_MEMBER : INTERP_GROUP;
    return action < n ? data_words(interp_action(t, action)) : 1;
}

void interp_add(struct interp *ip, unsigned table, const uint64_t *value, const uint64_t *mask,
                int64_t priority, unsigned action, const uint64_t *data) {
    const struct ir_table *ir = interp_table_ir(ip, table);
    struct interp_entry *e = push(interp_table(ip, table));
    unsigned n = key_words(ir), at = 0;
    e->value = copy_words(value, n);
    e->mask = copy_words(mask, n);
    for (size_t i = 0; !mask && i < ir->keys.n; i++)
        put_ones(e->mask, &at, ir->keys.v[i].expr->width);
    e->priority = priority;
    e->action = action;
    e->data = copy_words(data, kind_of(ir, action, &e->refers));
    e->direct = direct_cells(ir);
}

void interp_set_member(struct interp *ip, unsigned profile, uint64_t id, unsigned action,
                       const uint64_t *data) {
    const struct ir_action *a = interp_profile_ir(ip, profile)->actions.v[action].action;
    struct interp_table *members = interp_profile(ip, profile);
    struct interp_entry *e = NULL;
    for (size_t i = 0; i < members->n && !e; i++)
        if (members->entries[i]->value[0] == id)
            e = members->entries[i];
    if (!e) {
        e = push(members);
        e->value = copy_words(&id, 1);
    }
    free(e->data);
    e->action = action;
    e->data = copy_words(data, data_words(a));
}

void interp_set_default(struct interp *ip, unsigned table, unsigned action, const uint64_t *data) {
    const struct ir_table *ir = interp_table_ir(ip, table);
    struct interp_entry *e = interp_table(ip, table)->default_entry;
    free(e->data);
    e->action = action;
    e->data = copy_words(data, data_words(interp_action(ir, action)));
}

void interp_value_set_add(struct interp *ip, unsigned set, const uint64_t *value,
                          const uint64_t *mask) {
    const struct ir_value_set *ir = interp_value_set_ir(ip, set);
    struct interp_entry *e = push(interp_value_set(ip, set));
    unsigned n = 0, at = 0;
    for (size_t i = 0; i < ir->widths.n; i++)
        n += interp_words(ir->widths.v[i]);
    e->value = copy_words(value, n);
    e->mask = copy_words(mask, n);
    for (size_t i = 0; !mask && i < ir->widths.n; i++)
        put_ones(e->mask, &at, ir->widths.v[i]);
}

// --------------------------------------------------------------------------------------------
// Matching.

static bool key_matches(struct run *r, enum ir_match match, big key, const uint64_t *value,
                        const uint64_t *mask, unsigned width) {
    big v = interp_from_words(r->a, value, width), m = interp_from_words(r->a, mask, width);
    switch (match) {
    case IR_MATCH_EXACT:
        return big_cmp(key, v) == 0;
    case IR_MATCH_TERNARY:
    case IR_MATCH_LPM:
        return big_cmp(big_and(r->a, key, m), big_and(r->a, v, m)) == 0;
    case IR_MATCH_RANGE:
        return big_cmp(v, key) <= 0 && big_cmp(key, m) <= 0;
    default:
        interp_fail("match kind", (int)match, (struct loc){0});
    }
}

// tna-facts 4.13: by a hash of the key, taken as a Hash takes a list of fields.
static big proxy(struct run *r, const struct ir_table *t, const big *keys) {
    big data = big_u64(r->a, 0);
    unsigned bits = 0;
    for (size_t i = 0; i < t->keys.n; i++) {
        unsigned width = t->keys.v[i].expr->width;
        data = big_or(r->a, big_shl(r->a, data, width), keys[i]);
        bits += width;
    }
    return interp_hash_value(r, t->proxy, data, bits);
}

static bool proxies_match(struct run *r, const struct ir_table *t, const struct interp_entry *e,
                          const big *keys) {
    big *own = ARENA_ARRAY(r->a, big, t->keys.n + 1);
    unsigned at = 0;
    for (size_t i = 0; i < t->keys.n; i++) {
        own[i] = interp_from_words(r->a, e->value + at, t->keys.v[i].expr->width);
        at += interp_words(t->keys.v[i].expr->width);
    }
    return big_cmp(proxy(r, t, own), proxy(r, t, keys)) == 0;
}

static bool entry_matches(struct run *r, const struct ir_table *t, const struct interp_entry *e,
                          const struct ir_known_match *known, const big *keys) {
    unsigned at = 0;
    if (t->proxy)
        return proxies_match(r, t, e, keys);
    for (size_t i = 0; i < t->keys.n; i++) {
        unsigned width = t->keys.v[i].expr->width;
        const bool compared = !known || !known->matches[i];
        if (compared &&
            !key_matches(r, t->keys.v[i].match, keys[i], e->value + at, e->mask + at, width))
            return false;
        at += interp_words(width);
    }
    return true;
}

static unsigned prefix_length(struct run *r, const struct ir_table *t,
                              const struct interp_entry *e) {
    unsigned at = 0, bits = 0;
    for (size_t i = 0; i < t->keys.n; i++) {
        unsigned width = t->keys.v[i].expr->width;
        big mask = interp_from_words(r->a, e->mask + at, width);
        for (unsigned b = 0; t->keys.v[i].match == IR_MATCH_LPM && b < width; b++)
            bits += interp_bit(mask, b);
        at += interp_words(width);
    }
    return bits;
}

// tna-facts 4.12: the longest prefix, or the smallest priority number, or there is but one; among
// equals the one that was added first.
bool interp_better(struct run *r, const struct ir_table *t, const struct interp_entry *e,
                   const struct interp_entry *than) {
    bool prioritised = false;
    for (size_t i = 0; i < t->keys.n; i++)
        prioritised |=
            t->keys.v[i].match == IR_MATCH_TERNARY || t->keys.v[i].match == IR_MATCH_RANGE;
    if (prioritised)
        return e->priority < than->priority;
    return prefix_length(r, t, e) > prefix_length(r, t, than);
}

// With 'known' (of a table whose entries are the program's own; or null) only what it leaves to be
// compared is.
static struct interp_entry *find(struct run *r, const struct ir_table *t,
                                 const struct ir_known_match *known, const big *keys) {
    struct interp_table *entries = &r->st->tables[t->id];
    struct interp_entry *best = NULL;
    for (size_t i = 0; t->keys.n && i < entries->n; i++) {
        struct interp_entry *e = entries->entries[i];
        if (known && !known->may_match[i])
            continue;
        if (entry_matches(r, t, e, known, keys) && (!best || interp_better(r, t, e, best)))
            best = e;
    }
    return best;
}

// 'e' is the entry that stands for the packet (its direct registers...), 'data' a's.
static flow run_action(struct run *r, const struct ir_table *t, struct interp_entry *e,
                       const struct ir_action *a, const uint64_t *data) {
    unsigned at = 0;
    for (size_t i = 0; i < a->params.n; i++) {
        const struct ir_var *v = a->params.v[i].var;
        interp_set(r, v, interp_from_words(r->a, data + at, v->width));
        interp_defined(r, v);
        at += interp_words(v->width);
    }
    struct interp_entry *outer = r->entry;
    const struct ir_table *outer_table = r->entry_table;
    r->entry = e;
    r->entry_table = t;
    flow f = interp_block(r, a->body);
    r->entry = outer;
    r->entry_table = outer_table;
    return f;
}

flow interp_apply(struct run *r, const struct ir_stmt *s) {
    const struct ir_table *t = s->table;
    big *keys = ARENA_ARRAY(r->a, big, t->keys.n + 1);
    for (size_t i = 0; i < t->keys.n; i++)
        keys[i] = interp_eval(r, t->keys.v[i].expr);
    if (r->ip->on_apply)
        r->ip->on_apply(r->ip->aux, t, keys);
    interp_doubts(r, t, keys);
    interp_uses_key(r, t, keys);
    struct interp_entry *hit = find(r, t, s->known, keys);
    struct interp_entry *e = hit ? hit : r->st->tables[t->id].default_entry;
    e->hits++;
    if (t->noted)
        interp_note_count(r, &e->hits);
    const struct interp_entry *source = e; // of action and data
    const struct ir_action *a;
    if (e->refers != INTERP_OWN)
        source = interp_member(r, t, e);
    if (!source) // a group without anybody is a miss
        source = e = r->st->tables[t->id].default_entry, hit = NULL;
    a = e->refers == INTERP_OWN ? interp_action(t, e->action)
                                : t->profile->actions.v[source->action].action;
    interp_trace_table(r, t, keys, hit != NULL, a, action_number(t, a), source->data);
    flow f = run_action(r, t, e, a, source->data);
    interp_set_u64(r, s->hit, hit != NULL);
    interp_set_u64(r, s->action_run, action_number(t, a));
    return f;
}

bool interp_in_value_set(struct run *r, const struct ir_value_set *set, const big *keys, size_t n) {
    const struct interp_table *t = &r->st->value_sets[set->id];
    for (size_t i = 0; i < t->n; i++) {
        bool all = true;
        unsigned at = 0;
        for (size_t k = 0; k < n; k++) {
            unsigned width = set->widths.v[k];
            all &= key_matches(r, IR_MATCH_TERNARY, keys[k], t->entries[i]->value + at,
                               t->entries[i]->mask + at, width);
            at += interp_words(width);
        }
        if (all)
            return true;
    }
    return false;
}

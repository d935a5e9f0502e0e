// SPDX-License-Identifier: Apache-2.0
//
// table_filled: a table of an array that was filled as a whole: its values, and no entry.
//
// The values of equal tables, of all switches of the process, are one block, and so is what they
// are for many lanes at once (numbers.h). A lookup puts what it finds into the one entry that the
// table has for its reader; the writer has another one.
// Who lists the table gets an entry for each value, all of which are made then.
#include "stages/table_writer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct filled_values {
    struct filled_values *next;
    unsigned users;
    size_t size; // bytes of 'data'
    struct sk_numbers numbers;
    struct sk_lines *lines; // its own; or null
    unsigned char data[];
};

static pthread_mutex_t filled_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct filled_values *filled_all; // under the mutex, 'users' too

static uint32_t filled_number(const struct sk_numbers *n, size_t key) {
    return n->narrow ? ((const uint16_t *)n->values)[key] : ((const uint32_t *)n->values)[key];
}

// Whether all 'n' numbers are on these lines, whose beginnings they say.
static bool filled_is_on_lines(struct sk_lines *l, const struct sk_numbers *of, size_t n) {
    for (size_t line = 0; line <= l->line_mask; line++) {
        const size_t at = line << l->line_shift;
        l->base[line] = filled_number(of, at);
        l->step[line] = filled_number(of, at + ((size_t)1 << l->along_shift)) - l->base[line];
    }
    for (size_t key = 0; key < n; key++) {
        const size_t line = key >> l->line_shift & l->line_mask;
        const uint32_t along = (uint32_t)(key >> l->along_shift) & l->along_mask;
        if (filled_number(of, key) != l->base[line] + l->step[line] * along)
            return false;
    }
    return true;
}

// Lines are chosen by the upper bits of a key, or by the lower ones. Null: there are none, or no
// memory.
static struct sk_lines *filled_lines(const struct sk_numbers *of, size_t n) {
    if (n < 2 * SK_LINES || (n & (n - 1)))
        return NULL;
    struct sk_lines *l = aligned_alloc(64, sizeof *l);
    if (!l)
        return NULL;
    const uint32_t each = (uint32_t)(n / SK_LINES);
    const uint32_t bits = (uint32_t)__builtin_ctz(each), line_bits = __builtin_ctz(SK_LINES);
    *l = (struct sk_lines){.line_shift = bits, .line_mask = SK_LINES - 1, .along_mask = each - 1};
    if (filled_is_on_lines(l, of, n))
        return l;
    *l = (struct sk_lines){
        .line_mask = SK_LINES - 1, .along_shift = line_bits, .along_mask = each - 1};
    if (filled_is_on_lines(l, of, n))
        return l;
    free(l);
    return NULL;
}

static struct filled_values *filled_values_find(const void *data, size_t size, bool narrow) {
    for (struct filled_values *v = filled_all; v; v = v->next)
        if (v->size == size && v->numbers.narrow == narrow && memcmp(v->data, data, size) == 0)
            return v;
    return NULL;
}

static struct filled_values *filled_values_new(const void *data, size_t size, bool narrow) {
    struct filled_values *v = calloc(1, sizeof *v + size + SK_NUMBERS_BEHIND);
    if (!v)
        return NULL;
    v->size = size;
    v->numbers = (struct sk_numbers){.values = v->data, .narrow = narrow};
    memcpy(v->data, data, size);
    v->lines = filled_lines(&v->numbers, size / (narrow ? 2 : 4));
    v->numbers.lines = v->lines;
    return v;
}

// Those that are equal, or a copy. Null: no memory.
static struct filled_values *filled_values_take(const void *data, size_t size, bool narrow) {
    pthread_mutex_lock(&filled_mutex);
    struct filled_values *v = filled_values_find(data, size, narrow);
    if (!v && (v = filled_values_new(data, size, narrow)) != NULL) {
        v->next = filled_all;
        filled_all = v;
    }
    if (v)
        v->users++;
    pthread_mutex_unlock(&filled_mutex);
    return v;
}

static void filled_values_release(struct filled_values *v) {
    pthread_mutex_lock(&filled_mutex);
    if (--v->users == 0) {
        struct filled_values **at = &filled_all;
        while (*at != v)
            at = &(*at)->next;
        *at = v->next;
        free(v->lines);
        free(v);
    }
    pthread_mutex_unlock(&filled_mutex);
}

bool sk_table_may_be_filled(const struct sk_table_desc *d, uint32_t action) {
    return d->n_keys == 1 && d->keys[0].match == SK_EXACT && d->keys[0].width <= SK_INDEX_BITS &&
           !d->proxy && !d->key_masks && !d->const_entries && !d->has_counter && !d->meter_kind &&
           !d->idle_timeout && d->direct_words == 0 && !d->is_profile && !d->profile &&
           !d->selector && action < d->n_actions && !d->actions[action]->default_only &&
           d->actions[action]->n_params == 1 && d->actions[action]->params[0].width <= 32;
}

static bool filled_fits(const uint32_t *values, size_t n, uint32_t width) {
    uint32_t bits = 0; // of all, since they nearly always fit
    for (size_t i = 0; i < n; i++)
        bits |= values[i];
    return width >= 32 || bits >> width == 0;
}

static void filled_free(struct sk_filled *f) {
    if (!f)
        return;
    if (f->shared)
        filled_values_release(f->shared);
    sk_node_free(f->reader ? table_writer_node_of(f->reader) : NULL);
    sk_node_free(f->writer ? table_writer_node_of(f->writer) : NULL);
    free(f->listed);
    free(f);
}

static struct sk_entry *filled_entry(struct sk_table *t, uint32_t action) {
    static const uint64_t zero[1];
    const uint64_t full[1] = {sk_full_word(t->desc->keys[0].width, 0)};
    struct node *n = sk_node_new(t, zero, full, action, zero);
    return n ? &n->e : NULL;
}

// As 16 bits each where they fit. Null: no memory.
static struct sk_filled *filled_new(struct sk_table *t, uint32_t action, const uint32_t *values,
                                    size_t n) {
    struct sk_filled *f = calloc(1, sizeof *f);
    uint16_t *narrow = malloc(n * sizeof *narrow);
    if (f && narrow) {
        f->n = n;
        f->narrow = t->desc->actions[action]->params[0].width <= 16;
        for (size_t i = 0; i < n; i++)
            narrow[i] = (uint16_t)values[i];
        f->shared =
            filled_values_take(f->narrow ? (const void *)narrow : values,
                               n * (f->narrow ? sizeof *narrow : sizeof *values), f->narrow);
        f->values = f->shared ? f->shared->data : NULL;
        f->reader = filled_entry(t, action);
        f->writer = filled_entry(t, action);
    }
    free(narrow);
    if (f && f->shared && f->reader && f->writer)
        return f;
    filled_free(f);
    return NULL;
}

struct sk_filled *sk_filled_of(const struct sk_table *t) {
    struct sk_slots *s = t->kind == SK_KIND_INDEX ? sk_slots_of(t) : NULL;
    return s ? atomic_load_explicit(&s->filled, memory_order_relaxed) : NULL;
}

bool sk_table_is_filled(const struct sk_table *t) {
    return sk_filled_of(t) != NULL;
}

// While lanes' tables are filled one after the other they differ.
static void filled_tell_lanes(const struct sk_table_writer *w, const struct sk_numbers *numbers) {
    pthread_mutex_lock(&filled_mutex);
    w->lanes.of[w->lane] = numbers;
    const struct sk_numbers *common = numbers;
    for (unsigned i = 0; i < w->lanes.n; i++)
        common = w->lanes.of[i] == common ? common : NULL;
    __atomic_store_n(w->lanes.common, common, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&filled_mutex);
}

// Null: not with all keys. Who has found that none is unfilled reads what is told then or was
// before: that waits for sk_table_quiesce, and is never null.
static void filled_tell(struct sk_table *t, const struct filled_values *all) {
    struct sk_table_writer *const w = t->writer;
    const void *const values = all ? all->data : NULL;
    if (w->lanes.n)
        filled_tell_lanes(w, all ? &all->numbers : NULL);
    if (!w->told)
        return;
    const bool was = atomic_load_explicit(&t->flat, memory_order_relaxed) != NULL;
    if (values)
        __atomic_store_n(w->told, values, __ATOMIC_RELEASE);
    if (was != (values != NULL))
        __atomic_fetch_add(w->unfilled, values ? -1u : 1u, __ATOMIC_RELEASE);
}

void sk_table_tell_filled(struct sk_table *t, const void **values, unsigned *unfilled) {
    t->writer->told = values;
    t->writer->unfilled = unfilled;
    ++*unfilled;
}

void sk_table_tell_lanes(struct sk_table *t, const struct sk_lane_numbers *lanes, unsigned lane) {
    t->writer->lanes = *lanes;
    t->writer->lane = lane;
}

// What readers may still see waits for sk_table_quiesce.
static void filled_replace(struct sk_table *t, struct sk_filled *f) {
    struct sk_filled *old = sk_filled_of(t);
    const bool all = f && f->n == UINT64_C(1) << t->desc->keys[0].width;
    filled_tell(t, all ? f->shared : NULL);
    atomic_store_explicit(&sk_slots_of(t)->filled, f, memory_order_release);
    atomic_store_explicit(&t->flat, all ? f->values : NULL, memory_order_release);
    atomic_store_explicit(&t->filled, f != NULL, memory_order_release);
    t->writer->count = f ? f->n : 0;
    if (old) {
        old->retired.next = t->writer->retired_filled;
        t->writer->retired_filled = &old->retired;
    }
    sk_tables_changed();
}

int sk_table_may_fill(const struct sk_table *t, uint32_t action, const uint32_t *values, size_t n) {
    if (!sk_table_may_be_filled(t->desc, action) || t->of_parser)
        return SK_E_ACTION;
    if (n == 0 || n > UINT64_C(1) << t->desc->keys[0].width)
        return SK_E_KEY;
    if (!filled_fits(values, n, t->desc->actions[action]->params[0].width))
        return SK_E_DATA;
    if (n > t->writer->size)
        return SK_E_FULL;
    if (t->writer->first)
        return SK_E_HAS_ENTRIES;
    return SK_OK;
}

int sk_table_fill(struct sk_table *t, uint32_t action, const uint32_t *values, size_t n) {
    int error = sk_table_may_fill(t, action, values, n);
    if (error)
        return error;
    struct sk_filled *f = filled_new(t, action, values, n);
    if (!f)
        return SK_E_MEMORY;
    filled_replace(t, f);
    return SK_OK;
}

// The key, the value and the mask stand beside the entry.
struct filled_listed {
    struct sk_entry e;
    uint64_t key, data, mask;
};

static void filled_list(struct sk_filled *f) {
    f->listed = calloc(f->n, sizeof *f->listed);
    if (!f->listed) {
        fputs("out of memory for the entries of a table that is listed\n", stderr);
        abort();
    }
    for (uint64_t key = 0; key < f->n; key++) {
        struct filled_listed *l = &f->listed[key];
        l->key = key;
        l->data = sk_filled_value(f, key);
        l->mask = f->writer->mask[0];
        l->e = (struct sk_entry){.value = &l->key,
                                 .mask = &l->mask,
                                 .data = &l->data,
                                 .action = f->writer->action,
                                 .id = (uint32_t)key,
                                 .sequence = key};
    }
}

struct sk_entry *sk_filled_listed(struct sk_filled *f, uint64_t key) {
    if (!f->listed)
        filled_list(f);
    return &f->listed[key].e;
}

struct sk_entry *sk_filled_at(const struct sk_filled *f, uint64_t key) {
    struct sk_entry *e = f->writer;
    e->value[0] = key;
    e->data[0] = sk_filled_value(f, key);
    e->id = (uint32_t)key;
    return e;
}

void sk_filled_clear(struct sk_table *t) {
    if (sk_filled_of(t))
        filled_replace(t, NULL);
}

void sk_filled_quiesce(struct sk_table *t) {
    for (struct sk_retired *r; (r = t->writer->retired_filled) != NULL;) {
        t->writer->retired_filled = r->next;
        filled_free((struct sk_filled *)r);
    }
}

void sk_filled_free(struct sk_table *t) {
    sk_filled_quiesce(t);
    filled_free(sk_filled_of(t));
}

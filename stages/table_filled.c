// SPDX-License-Identifier: Apache-2.0
//
// table_filled: a table of an array that was filled as a whole: its values, and no entry.
//
// The values of equal tables, of all switches of the process, are one block. A lookup puts what it
// finds into the one entry that the table has for its reader; the writer has another one.
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
    unsigned char data[];
};

static pthread_mutex_t filled_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct filled_values *filled_all; // under the mutex, 'users' too

static struct filled_values *filled_values_find(const void *data, size_t size) {
    for (struct filled_values *v = filled_all; v; v = v->next)
        if (v->size == size && memcmp(v->data, data, size) == 0)
            return v;
    return NULL;
}

// Those that are equal, or a copy. Null: no memory.
static struct filled_values *filled_values_take(const void *data, size_t size) {
    pthread_mutex_lock(&filled_mutex);
    struct filled_values *v = filled_values_find(data, size);
    if (!v && (v = malloc(sizeof *v + size)) != NULL) {
        *v = (struct filled_values){.next = filled_all, .size = size};
        memcpy(v->data, data, size);
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
        f->shared = filled_values_take(f->narrow ? (const void *)narrow : values,
                                       n * (f->narrow ? sizeof *narrow : sizeof *values));
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

// Who has found that none is unfilled reads what is told then or was before: that waits for
// sk_table_quiesce, and is never null.
static void filled_tell(struct sk_table *t, const void *values) {
    struct sk_table_writer *const w = t->writer;
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

// What readers may still see waits for sk_table_quiesce.
static void filled_replace(struct sk_table *t, struct sk_filled *f) {
    struct sk_filled *old = sk_filled_of(t);
    const bool all = f && f->n == UINT64_C(1) << t->desc->keys[0].width;
    filled_tell(t, all ? f->values : NULL);
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

// SPDX-License-Identifier: Apache-2.0
//
// tables: what tables hold, and what packets left in their entries.
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "control/tables/attached.h"
#include "control/tables/idle.h"
#include "control/state/state_impl.h"
#include "control/tables/values.h"

// ---- entries in order ---------------------------------------------------------------------------

struct found {
    const struct sk_table_desc *desc;
    const struct sk_entry *entry;
    unsigned pipe;
};

struct list {
    const struct sk_table_desc *desc;
    unsigned pipe;
    bool (*wanted)(const struct sk_table_desc *d, const struct sk_entry *e);
    struct found *items;
    size_t n, room;
};

bool state_takes_priority(const struct sk_table_desc *d) {
    for (uint32_t i = 0; i < d->n_keys; i++)
        if (d->keys[i].match == SK_TERNARY || d->keys[i].match == SK_RANGE)
            return true;
    return false;
}

static int compare_fields(const struct sk_table_desc *d, const uint64_t *a, const uint64_t *b) {
    for (uint32_t i = 0, at = 0; i < d->n_keys; at += sk_words(d->keys[i++].width))
        for (uint32_t k = sk_words(d->keys[i].width); k-- > 0;)
            if (a[at + k] != b[at + k])
                return a[at + k] > b[at + k] ? 1 : -1;
    return 0;
}

static int compare_keys(const struct found *x, const struct found *y) {
    const struct sk_table_desc *d = x->desc;
    if (state_takes_priority(d) && x->entry->priority != y->entry->priority)
        return x->entry->priority > y->entry->priority ? 1 : -1;
    int order = compare_fields(d, x->entry->value, y->entry->value);
    return order ? order : compare_fields(d, x->entry->mask, y->entry->mask);
}

static int by_key(const void *a, const void *b) {
    const struct found *x = a, *y = b;
    int order = compare_keys(x, y);
    return order ? order : (x->pipe > y->pipe) - (x->pipe < y->pipe);
}

static bool state_tables_add(void *aux, const struct sk_entry *e) {
    struct list *l = aux;
    if (!l->wanted(l->desc, e))
        return true;
    l->items = sk_grow(l->items, l->n, &l->room, sizeof *l->items);
    l->items[l->n++] = (struct found){l->desc, e, l->pipe};
    return true;
}

static struct sk_table *state_tables_in(const struct state_walk *w, const struct sk_object *o,
                                        unsigned pipe) {
    struct sk_pipe *state = sk_switch_pipe(w->sw, pipe);
    return o->kind == SK_VALUE_SET ? o->desc->value_set(state, o->index)
                                   : o->desc->table(state, o->index);
}

// ---- pieces of items ----------------------------------------------------------------------------

json_t *state_key(const struct sk_table_desc *d, const uint64_t *value, const uint64_t *mask) {
    json_t *key = json_object();
    for (uint32_t i = 0, word = 0; i < d->n_keys; word += sk_words(d->keys[i++].width)) {
        char text[2800];
        sk_key_format(text, sizeof text, &d->keys[i], value + word, mask + word);
        json_object_set_new(key, d->keys[i].name, json_string(text));
    }
    return key;
}

static void state_tables_add_entry(json_t *item, const struct found *f) {
    json_object_set_new(item, "key", state_key(f->desc, f->entry->value, f->entry->mask));
    if (state_takes_priority(f->desc))
        json_object_set_new(item, "priority", json_integer(f->entry->priority));
}

static void state_tables_add_action(json_t *item, const struct found *f) {
    const struct sk_action_desc *a = f->desc->actions[f->entry->action];
    if (a->refers) {
        json_object_set_new(item, a->refers == SK_REFERS_MEMBER ? "member" : "group",
                            state_number(f->entry->data[0]));
        return;
    }
    json_t *args = json_object();
    for (uint32_t i = 0, word = 0; i < a->n_params; word += sk_words(a->params[i++].width))
        json_object_set_new(args, a->params[i].name,
                            state_value(&a->params[i], f->entry->data + word));
    json_object_set_new(item, "action", json_string(a->name));
    json_object_set_new(item, "args", args);
}

static json_t *table_item(const struct found *f, const char *name) {
    return json_pack("{s:s, s:i}", name ? "name" : "table", name ? name : f->desc->name, "pipe",
                     (int)f->pipe);
}

// ---- what packets left in entries, pipe by pipe -------------------------------------------------

struct activity {
    bool (*has)(const struct sk_table_desc *d); // the table; null: any
    bool (*wanted)(const struct sk_table_desc *d, const struct sk_entry *e);
    // 'def': it is the default entry
    void (*item)(struct state_walk *w, const struct sk_object *o, const struct found *f, bool def);
};

struct slice {
    struct sk_entry_copy entry[SK_SLICE];
    uint64_t *direct; // direct_words of each
};

// Items of list[from] on; the last one of the list is the default entry.
static void activity_slice(struct state_walk *w, const struct sk_object *o,
                           const struct activity *a, struct slice *s, const struct list *l,
                           size_t from) {
    const size_t n = l->n - from < SK_SLICE ? l->n - from : SK_SLICE;
    sk_pauses_begin(w->pauses);
    w->now = sk_switch_now(w->sw);
    for (size_t i = 0; i < n; i++)
        sk_entry_copy(&s->entry[i], l->items[from + i].entry, s->direct + i * l->desc->direct_words,
                      l->desc->direct_words);
    sk_pauses_end(w->pauses);
    for (size_t i = 0; i < n; i++) {
        const struct found f = {l->desc, &s->entry[i].entry, l->pipe};
        if (a->wanted(l->desc, f.entry))
            a->item(w, o, &f, from + i == l->n - 1);
    }
}

static bool any_entry(const struct sk_table_desc *d, const struct sk_entry *e) {
    (void)d;
    (void)e;
    return true;
}

static void activity_in(struct state_walk *w, const struct sk_object *o, unsigned pipe,
                        const struct activity *a) {
    struct sk_table *t = state_tables_in(w, o, pipe);
    struct list l = {.desc = o->desc->tables[o->index], .pipe = pipe, .wanted = any_entry};
    struct slice *s = malloc(sizeof *s);
    uint64_t *direct = calloc(SK_SLICE, (l.desc->direct_words + 1) * sizeof *direct);
    if (!s || !direct)
        abort();
    s->direct = direct;
    sk_table_each(t, state_tables_add, &l);
    if (l.n)
        qsort(l.items, l.n, sizeof *l.items, by_key);
    state_tables_add(&l, sk_table_default(t));
    for (size_t from = 0; from < l.n; from += SK_SLICE)
        activity_slice(w, o, a, s, &l, from);
    free(l.items);
    free(direct);
    free(s);
}

static void each_activity(struct state_walk *w, const struct activity *a) {
    size_t n;
    struct sk_object *tables = state_objects(w->sw, SK_TABLE, &n);
    for (size_t i = 0; i < n; i++) {
        const struct sk_table_desc *d = tables[i].desc->tables[tables[i].index];
        if (d->hidden || (a->has && !a->has(d)))
            continue;
        for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
            if (sk_object_in_pipe(w->sw, &tables[i], pipe))
                activity_in(w, &tables[i], pipe, a);
    }
    free(tables);
}

static void state_tables_place(json_t *item, const struct found *f, bool def) {
    if (def)
        json_object_set_new(item, "default", json_true());
    else
        state_tables_add_entry(item, f);
}

static bool was_hit(const struct sk_table_desc *d, const struct sk_entry *e) {
    (void)d;
    return sk_entry_hits(e) > 0;
}

static void hits_item(struct state_walk *w, const struct sk_object *o, const struct found *f,
                      bool def) {
    (void)o;
    json_t *item = table_item(f, NULL);
    state_tables_place(item, f, def);
    json_object_set_new(item, "hits", state_number(sk_entry_hits(f->entry)));
    if (sk_table_tells_last_hit(f->desc, def))
        json_object_set_new(item, "last_hit", state_number(sk_entry_last_hit(f->entry)));
    state_item(w, STATE_HITS, item);
}

void state_hits(struct state_walk *w) {
    each_activity(w, &(struct activity){.wanted = was_hit, .item = hits_item});
}

static bool has_counter(const struct sk_table_desc *d) {
    return d->has_counter;
}

static bool counted(const struct sk_table_desc *d, const struct sk_entry *e) {
    (void)d;
    return e->packets || e->bytes;
}

static void counter_item(struct state_walk *w, const struct sk_object *o, const struct found *f,
                         bool def) {
    const char *name = f->desc->name;
    for (uint32_t i = 0; i < o->desc->n_counters; i++)
        if (o->desc->counters[i].direct && o->desc->counters[i].table == o->index)
            name = o->desc->counters[i].name;
    json_t *item = table_item(f, name);
    state_tables_place(item, f, def);
    if (f->desc->counter_type != 1)
        json_object_set_new(item, "packets", state_number(f->entry->packets));
    if (f->desc->counter_type != 0)
        json_object_set_new(item, "bytes", state_number(f->entry->bytes));
    state_item(w, STATE_COUNTERS, item);
}

void state_direct_counters(struct state_walk *w) {
    each_activity(w,
                  &(struct activity){.has = has_counter, .wanted = counted, .item = counter_item});
}

static bool has_meter(const struct sk_table_desc *d) {
    return d->meter_kind;
}

static bool metered(const struct sk_table_desc *d, const struct sk_entry *e) {
    (void)d;
    return e->meter && e->meter->configured;
}

static json_t *new_meter_item(const struct sk_object *o, const struct found *f, bool def) {
    const char *name = f->desc->name;
    for (uint32_t i = 0; i < o->desc->n_meters; i++)
        if (o->desc->meters[i].direct && o->desc->meters[i].table == o->index)
            name = o->desc->meters[i].name;
    json_t *item = table_item(f, name);
    state_tables_place(item, f, def);
    return item;
}

static void spec_item(struct state_walk *w, const struct sk_object *o, const struct found *f,
                      bool def) {
    const struct sk_holder holder = sk_holder_of_table(f->desc);
    json_t *item = new_meter_item(o, f, def);
    json_object_set_new(item, "spec", state_meter_spec(&holder, f->entry->meter));
    state_item(w, STATE_METERS, item);
}

void state_direct_meters(struct state_walk *w) {
    each_activity(w, &(struct activity){.has = has_meter, .wanted = metered, .item = spec_item});
}

static bool meter_ran(const struct sk_table_desc *d, const struct sk_entry *e) {
    const struct sk_holder holder = sk_holder_of_table(d);
    return state_meter_ran(&holder, e->meter);
}

static void meter_item(struct state_walk *w, const struct sk_object *o, const struct found *f,
                       bool def) {
    const struct sk_holder holder = sk_holder_of_table(f->desc);
    json_t *item = new_meter_item(o, f, def);
    state_meter(item, &holder, f->entry->meter);
    state_item(w, STATE_METER_STATES, item);
}

void state_direct_meter_states(struct state_walk *w) {
    each_activity(w, &(struct activity){.has = has_meter, .wanted = meter_ran, .item = meter_item});
}

static bool state_tables_ages(const struct sk_table_desc *d) {
    return d->idle_timeout;
}

static bool has_ttl(const struct sk_table_desc *d, const struct sk_entry *e) {
    (void)d;
    return e->idle.ttl_ms > 0;
}

static void ageing_item(struct state_walk *w, const struct sk_object *o, const struct found *f,
                        bool def) {
    const uint64_t now = w->now;
    (void)o;
    json_t *item = table_item(f, NULL);
    state_tables_place(item, f, def);
    json_object_set_new(item, "ttl_ms", state_number(f->entry->idle.ttl_ms));
    json_object_set_new(item, "active", state_number(now - sk_idle_age(f->entry, now)));
    state_item(w, STATE_AGEING, item);
}

void state_ageing(struct state_walk *w) {
    each_activity(
        w, &(struct activity){.has = state_tables_ages, .wanted = has_ttl, .item = ageing_item});
}

// ---- direct registers ---------------------------------------------------------------------------

size_t state_register_length(const char *field) {
    const char *dot = strrchr(field, '.');
    return dot ? (size_t)(dot - field) : strlen(field);
}

uint32_t state_register_words(const struct sk_table_desc *d, uint32_t first) {
    const char *name = d->direct_fields[first].name;
    size_t length = state_register_length(name);
    uint32_t n = 1;
    while (first + n < d->direct_words) {
        const char *next = d->direct_fields[first + n].name;
        if (state_register_length(next) != length || memcmp(next, name, length) != 0)
            break;
        n++;
    }
    return n;
}

static bool has_cells(const struct sk_table_desc *d) {
    return d->direct_words > 0;
}

static uint64_t initial_word(const struct sk_table_desc *d, uint32_t word) {
    return d->direct_initial ? d->direct_initial[word] : 0;
}

static bool has_changed(const struct sk_table_desc *d, const struct sk_entry *e) {
    for (uint32_t i = 0; e->direct && i < d->direct_words; i++)
        if (e->direct[i] != initial_word(d, i))
            return true;
    return false;
}

static void cells_item(struct state_walk *w, const struct sk_object *o, const struct found *f,
                       bool def) {
    const struct sk_table_desc *d = f->desc;
    (void)o;
    for (uint32_t i = 0, n; i < d->direct_words; i += n) {
        const char *names[2] = {NULL};
        bool same = true;
        n = state_register_words(d, i);
        char *name =
            strndup(d->direct_fields[i].name, state_register_length(d->direct_fields[i].name));
        if (!name)
            abort();
        for (uint32_t k = 0; k < n; k++) {
            same &= f->entry->direct[i + k] == initial_word(d, i + k);
            if (k < 2)
                names[k] = d->direct_fields[i + k].name + strlen(name) + 1;
        }
        if (!same) {
            json_t *item = table_item(f, name);
            state_tables_place(item, f, def);
            json_object_set_new(
                item, "value",
                state_words(&d->direct_fields[i], names, n > 2 ? 2 : n, f->entry->direct + i));
            state_item(w, STATE_REGISTERS, item);
        }
        free(name);
    }
}

void state_direct_registers(struct state_walk *w) {
    each_activity(w,
                  &(struct activity){.has = has_cells, .wanted = has_changed, .item = cells_item});
}

// ---- what the control plane wrote: one item for all pipes where they are alike ------------------

static bool state_tables_same_action(const struct found *x, const struct found *y) {
    const struct sk_entry *a = x->entry, *b = y->entry;
    return a->action == b->action &&
           memcmp(a->data, b->data, x->desc->actions[a->action]->data_words * sizeof *a->data) == 0;
}

static unsigned pipes_of(const struct state_walk *w, const struct sk_object *o) {
    unsigned n = 0;
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        n += sk_object_in_pipe(w->sw, o, pipe);
    return n;
}

static bool not_const(const struct sk_table_desc *d, const struct sk_entry *e) {
    (void)d;
    return !e->is_const;
}

typedef json_t *make_item(const struct found *f);

// Entries of one key: an item, or one for each pipe.
static void write_twins(struct state_walk *w, enum state_section s, const struct found *list,
                        size_t n, unsigned pipes, make_item *make) {
    bool alike = n == pipes;
    for (size_t i = 1; alike && i < n; i++)
        alike = state_tables_same_action(&list[0], &list[i]);
    for (size_t i = 0; i < (alike ? 1 : n); i++) {
        json_t *item = make(&list[i]);
        if (!alike)
            json_object_set_new(item, "pipe", json_integer(list[i].pipe));
        state_item(w, s, item);
    }
}

static void object_entries(struct state_walk *w, enum state_section s, const struct sk_object *o,
                           make_item *make) {
    struct list l = {.wanted = not_const};
    for (l.pipe = 0; l.pipe < SK_PIPES; l.pipe++)
        if (sk_object_in_pipe(w->sw, o, l.pipe)) {
            struct sk_table *t = state_tables_in(w, o, l.pipe);
            l.desc = sk_table_desc(t);
            sk_table_each(t, state_tables_add, &l);
        }
    if (l.n)
        qsort(l.items, l.n, sizeof *l.items, by_key);
    for (size_t i = 0, n; i < l.n; i += n) {
        for (n = 1; i + n < l.n && compare_keys(&l.items[i], &l.items[i + n]) == 0; n++)
            ;
        write_twins(w, s, &l.items[i], n, pipes_of(w, o), make);
    }
    free(l.items);
}

static json_t *entry_item(const struct found *f) {
    json_t *item = json_pack("{s:s}", "table", f->desc->name);
    state_tables_add_entry(item, f);
    state_tables_add_action(item, f);
    return item;
}

static json_t *member_item(const struct found *f) {
    json_t *item = json_pack("{s:s}", "profile", f->desc->name);
    json_object_set_new(item, "id", state_number(f->entry->value[0]));
    state_tables_add_action(item, f);
    return item;
}

static void state_tables_tables(struct state_walk *w, enum state_section s, bool profiles,
                                make_item *make) {
    size_t n;
    struct sk_object *list = state_objects(w->sw, SK_TABLE, &n);
    for (size_t i = 0; i < n; i++) {
        const struct sk_table_desc *d = list[i].desc->tables[list[i].index];
        if (!d->hidden && d->is_profile == profiles)
            object_entries(w, s, &list[i], make);
    }
    free(list);
}

void state_entries(struct state_walk *w) {
    state_tables_tables(w, STATE_ENTRIES, false, entry_item);
}

void state_members(struct state_walk *w) {
    state_tables_tables(w, STATE_MEMBERS, true, member_item);
}

static json_t *default_item(const struct found *f) {
    json_t *item = json_pack("{s:s}", "table", f->desc->name);
    state_tables_add_action(item, f);
    return item;
}

static bool is_programs_default(const struct found *f) {
    const struct sk_table_desc *d = f->desc;
    uint32_t words = d->actions[f->entry->action]->data_words;
    return f->entry->action == d->default_action &&
           (words == 0 || (d->default_data && memcmp(f->entry->data, d->default_data,
                                                     words * sizeof *d->default_data) == 0));
}

void state_defaults(struct state_walk *w) {
    size_t n;
    struct sk_object *list = state_objects(w->sw, SK_TABLE, &n);
    for (size_t i = 0; i < n; i++) {
        const struct sk_table_desc *d = list[i].desc->tables[list[i].index];
        struct found all[SK_PIPES];
        size_t k = 0;
        for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
            if (!sk_object_in_pipe(w->sw, &list[i], pipe))
                continue;
            all[k] = (struct found){d, sk_table_default(state_tables_in(w, &list[i], pipe)), pipe};
            k += !is_programs_default(&all[k]);
        }
        if (!d->hidden && !d->is_profile)
            write_twins(w, STATE_DEFAULTS, all, k, pipes_of(w, &list[i]), default_item);
    }
    free(list);
}

static json_t *value_set_item(const struct found *f) {
    json_t *item = json_pack("{s:s}", "name", f->desc->name);
    json_object_set_new(item, "key", state_key(f->desc, f->entry->value, f->entry->mask));
    return item;
}

void state_value_sets(struct state_walk *w) {
    size_t n;
    struct sk_object *list = state_objects(w->sw, SK_VALUE_SET, &n);
    for (size_t i = 0; i < n; i++)
        object_entries(w, STATE_VALUE_SETS, &list[i], value_set_item);
    free(list);
}

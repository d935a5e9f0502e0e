// SPDX-License-Identifier: Apache-2.0
#include "control/tables/carry_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tables/attached.h"
#include "control/tables/values.h"
#include "stages/meter.h"
#include "stages/selector.h"

// ---- from one table's keys and actions to another's ----

// Of each field of 'to' where it is in 'from'.
struct map {
    const struct sk_table_desc *from, *to;
    uint32_t key_at[SK_MAX_KEY_WORDS]; // its first word; NOWHERE: it is new, and matches anything
    char why[200];                     // why no entry is kept; "": some are
};
#define NOWHERE UINT32_MAX

static uint32_t words_before(const struct sk_field_desc *fields, uint32_t index) {
    uint32_t words = 0;
    for (uint32_t i = 0; i < index; i++)
        words += sk_words(fields[i].width);
    return words;
}

static uint32_t carry_tables_index_of(const struct sk_field_desc *fields, uint32_t n,
                                      const char *name) {
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(fields[i].name, name) == 0)
            return i;
    return NOWHERE;
}

static void map_keys(struct map *m, const struct sk_table_desc *from,
                     const struct sk_table_desc *to) {
    *m = (struct map){.from = from, .to = to};
    for (uint32_t i = 0; i < from->n_keys && !*m->why; i++)
        if (carry_tables_index_of(to->keys, to->n_keys, from->keys[i].name) == NOWHERE)
            snprintf(m->why, sizeof m->why, "it has no key field '%.140s'", from->keys[i].name);
    for (uint32_t i = 0; i < to->n_keys && !*m->why; i++) {
        const struct sk_field_desc *f = &to->keys[i];
        const uint32_t at = carry_tables_index_of(from->keys, from->n_keys, f->name);
        const struct sk_field_desc *before = at == NOWHERE ? NULL : &from->keys[at];
        m->key_at[i] = before ? words_before(from->keys, at) : NOWHERE;
        if (!before && f->match == SK_EXACT)
            snprintf(m->why, sizeof m->why, "it has another key field, '%.140s'", f->name);
        else if (before && before->width != f->width)
            snprintf(m->why, sizeof m->why, "its key field '%.140s' has %u bits", f->name,
                     (unsigned)f->width);
        else if (before && before->match != f->match && before->match != SK_EXACT)
            snprintf(m->why, sizeof m->why, "its key field '%.140s' has another match kind",
                     f->name);
    }
}

// An exact key has a mask of ones, and as a range both ends.
static void map_key(const struct map *m, const struct sk_entry *e, uint64_t *value,
                    uint64_t *mask) {
    for (uint32_t i = 0, at = 0; i < m->to->n_keys; at += sk_words(m->to->keys[i++].width)) {
        const struct sk_field_desc *f = &m->to->keys[i];
        const uint32_t from = m->key_at[i], words = sk_words(f->width);
        if (from == NOWHERE) {
            sk_key_any(f, value + at, mask + at);
            continue;
        }
        const uint32_t k = carry_tables_index_of(m->from->keys, m->from->n_keys, f->name);
        const bool range = f->match == SK_RANGE && m->from->keys[k].match == SK_EXACT;
        memcpy(value + at, e->value + from, words * sizeof *value);
        memcpy(mask + at, (range ? e->value : e->mask) + from, words * sizeof *mask);
    }
}

// False with a reason.
static bool map_action(const struct map *m, const struct sk_entry *e, uint32_t *action,
                       uint64_t *data, char *why, size_t size) {
    const struct sk_action_desc *a = m->from->actions[e->action], *b = NULL;
    for (uint32_t i = 0; !b && i < m->to->n_actions; i++) {
        const struct sk_action_desc *x = m->to->actions[i];
        if (x->refers == a->refers && (a->refers || strcmp(x->name, a->name) == 0)) {
            b = x;
            *action = i;
        }
    }
    if (!b) {
        snprintf(why, size, "it has no action '%.140s'", a->refers ? "" : a->name);
        return false;
    }
    for (uint32_t i = 0; i < a->n_params; i++)
        if (carry_tables_index_of(b->params, b->n_params, a->params[i].name) == NOWHERE) {
            snprintf(why, size, "action '%.70s' has no argument '%.70s'", a->name,
                     a->params[i].name);
            return false;
        }
    for (uint32_t i = 0, at = 0; i < b->n_params; at += sk_words(b->params[i++].width)) {
        const uint32_t k = carry_tables_index_of(a->params, a->n_params, b->params[i].name);
        if (k == NOWHERE || a->params[k].width != b->params[i].width) {
            snprintf(why, size,
                     k == NOWHERE ? "action '%.70s' has another argument, '%.70s'"
                                  : "action '%.70s' has another width of its argument '%.70s'",
                     b->name, b->params[i].name);
            return false;
        }
        memcpy(data + at, e->data + words_before(a->params, k),
               sk_words(b->params[i].width) * sizeof *data);
    }
    return true;
}

static struct sk_table *table_of(struct sk_switch *sw, const struct sk_object *o, unsigned pipe) {
    struct sk_pipe *state = sk_switch_pipe(sw, pipe);
    return o->kind == SK_VALUE_SET ? o->desc->value_set(state, o->index)
                                   : o->desc->table(state, o->index);
}

static bool carry_tables_takes_priority(const struct sk_table_desc *d) {
    for (uint32_t i = 0; i < d->n_keys; i++)
        if (d->keys[i].match == SK_TERNARY || d->keys[i].match == SK_RANGE)
            return true;
    return false;
}

// ---- entries ----

struct adding {
    struct map map;
    struct sk_table *to; // null: there is none
    struct carry_count *n;
};

static bool carry_tables_add(void *aux, const struct sk_entry *e) {
    struct adding *a = aux;
    uint64_t value[SK_MAX_KEY_WORDS], mask[SK_MAX_KEY_WORDS], data[SK_MAX_DATA_WORDS] = {0};
    uint32_t action = 0;
    char why[200] = "";
    if (e->is_const)
        return true;
    if (!a->to || *a->map.why) {
        carry_lose(a->n, 1, "%s", a->to ? a->map.why : "there is no such table");
        return true;
    }
    map_key(&a->map, e, value, mask);
    if (!map_action(&a->map, e, &action, data, why, sizeof why)) {
        carry_lose(a->n, 1, "%s", why);
        return true;
    }
    const int64_t priority = carry_tables_takes_priority(a->map.to) ? e->priority : 0;
    int rc = sk_table_add(a->to, value, mask, priority, action, data);
    if (rc == SK_E_EXISTS) // it has been told already, or the program has it
        rc = sk_table_modify(a->to, value, mask, priority, action, data);
    if (rc)
        carry_lose(a->n, 1, "%s", sk_table_strerror(rc));
    else
        a->n->kept++;
    return true;
}

static bool carry_tables_is_programs(const struct sk_table_desc *d, const struct sk_entry *e) {
    const uint32_t words = d->actions[e->action]->data_words;
    return e->action == d->default_action &&
           (words == 0 ||
            (d->default_data && memcmp(e->data, d->default_data, words * sizeof *e->data) == 0));
}

static void carry_tables_set_default(struct adding *a, const struct sk_entry *e) {
    uint64_t data[SK_MAX_DATA_WORDS] = {0};
    uint32_t action = 0;
    char why[200] = "there is no such table";
    if (a->to && map_action(&a->map, e, &action, data, why, sizeof why)) {
        const int rc = sk_table_set_default(a->to, action, data);
        if (rc == 0) {
            a->n->kept++;
            return;
        }
        snprintf(why, sizeof why, "%s", sk_table_strerror(rc));
    }
    carry_lose(a->n, 1, "default action: %s", why);
}

// A table that was filled as a whole is filled so again.
struct filling {
    const struct map *map;
    uint32_t *values, action;
    size_t n;
    char why[200];
};

static bool carry_tables_take_value(void *aux, const struct sk_entry *e) {
    struct filling *f = aux;
    uint64_t data[SK_MAX_DATA_WORDS] = {0};
    if (!map_action(f->map, e, &f->action, data, f->why, sizeof f->why))
        return false;
    f->values[f->n++] = (uint32_t)data[0];
    return true;
}

static void carry_filled(struct adding *a, struct sk_table *from) {
    const size_t n = sk_table_count(from);
    struct filling f = {.map = &a->map, .values = malloc(n * sizeof *f.values)};
    if (!a->to || *a->map.why)
        snprintf(f.why, sizeof f.why, "%s", a->to ? a->map.why : "there is no such table");
    else if (!f.values)
        snprintf(f.why, sizeof f.why, "%s", sk_table_strerror(SK_E_MEMORY));
    else
        sk_table_each(from, carry_tables_take_value, &f);
    int rc = *f.why ? SK_OK : sk_table_fill(a->to, f.action, f.values, f.n);
    if (rc)
        snprintf(f.why, sizeof f.why, "%s", sk_table_strerror(rc));
    free(f.values);
    if (*f.why)
        carry_lose(a->n, n, "%s", f.why);
    else
        a->n->kept += n;
}

static void carry_entries(struct sk_carry *c, const struct carry_pair *p, struct carry_count *n) {
    struct adding a = {.n = n};
    struct sk_table *from = table_of(c->from, &p->from, p->pipe);
    const struct sk_table_desc *d = sk_table_desc(from);
    if (p->there) {
        a.to = table_of(c->to, &p->to, p->pipe);
        map_keys(&a.map, d, sk_table_desc(a.to));
    }
    if (sk_table_is_filled(from))
        carry_filled(&a, from);
    else
        sk_table_each(from, carry_tables_add, &a);
    if (p->from.kind == SK_TABLE && !d->is_profile &&
        !carry_tables_is_programs(d, sk_table_default(from)))
        carry_tables_set_default(&a, sk_table_default(from));
    if (a.to)
        sk_table_quiesce(a.to);
}

static const struct sk_table_desc *desc_of(const struct carry_pair *p) {
    return p->from.desc->tables[p->from.index];
}
static void carry_tables_profiles(struct sk_carry *c, const struct carry_pair *p,
                                  struct carry_count *n) {
    if (desc_of(p)->is_profile && !desc_of(p)->hidden)
        carry_entries(c, p, n);
}
static void carry_tables_tables(struct sk_carry *c, const struct carry_pair *p,
                                struct carry_count *n) {
    if (!desc_of(p)->is_profile && !desc_of(p)->hidden)
        carry_entries(c, p, n);
}

// ---- groups ----

struct grouping {
    struct sk_selector *from, *to;
    struct carry_count *n;
};

// Who is up in the data plane's eyes, too.
static void carry_bits(const struct grouping *g, const struct sk_group *from) {
    const struct sk_group *to = sk_selector_find(g->to, from->id);
    if (!to || !to->index || !from->index)
        return;
    for (uint32_t i = 0; i < from->n; i++)
        sk_selector_set_bit(g->to, to->index[i], sk_selector_bit(g->from, from->index[i]));
}

static void carry_tables_add_group(void *aux, const struct sk_group *group) {
    struct grouping *g = aux;
    int rc = 0;
    if (g->to && sk_selector_find(g->to, group->id))
        rc = sk_selector_modify(g->to, group->id, group->max_size, group->members, group->n);
    else if (g->to)
        rc = sk_selector_add(g->to, group->id, group->max_size, group->members, group->n);
    if (!g->to || rc) {
        carry_lose(g->n, 1, "%s", g->to ? sk_table_strerror(rc) : "there is no such selector");
        return;
    }
    carry_bits(g, group);
    g->n->kept++;
}

static bool carry_tables_each_group(void *aux, const struct sk_group *group) {
    carry_tables_add_group(aux, group);
    return true;
}

static void groups(struct sk_carry *c, const struct carry_pair *p, struct carry_count *n) {
    struct grouping g = {
        .from = p->from.desc->selector(sk_switch_pipe(c->from, p->pipe), p->from.index), .n = n};
    if (p->there)
        g.to = p->to.desc->selector(sk_switch_pipe(c->to, p->pipe), p->to.index);
    sk_selector_each(g.from, carry_tables_each_group, &g);
    if (g.to)
        sk_selector_quiesce(g.to);
}

void sk_carry_tables(struct sk_carry *c) {
    carry_each(c, SK_TABLE, "members", &c->entries, carry_tables_profiles);
    carry_each(c, SK_SELECTOR, "groups", &c->entries, groups);
    carry_each(c, SK_TABLE, "entries", &c->entries, carry_tables_tables);
    carry_each(c, SK_VALUE_SET, "values", &c->entries, carry_entries);
}

// ---- what packets left in entries ----

struct activity {
    struct map map;
    struct sk_table *to;
    uint32_t direct[SK_MAX_DATA_WORDS]; // of each word of 'to' where it is in 'from', or NOWHERE
    struct sk_holder holder;
    bool meters, counts; // of the same kind
};

static void map_direct(struct activity *a) {
    const struct sk_table_desc *from = a->map.from, *to = a->map.to;
    for (uint32_t i = 0; i < to->direct_words && i < SK_MAX_DATA_WORDS; i++) {
        const uint32_t k = carry_tables_index_of(from->direct_fields, from->direct_words,
                                                 to->direct_fields[i].name);
        const bool same =
            k != NOWHERE && from->direct_fields[k].width == to->direct_fields[i].width;
        a->direct[i] = same ? k : NOWHERE;
    }
}

// A specification that somebody wrote since is that of a meter that starts again.
static void carry_meter(const struct activity *a, const struct sk_meter_cell *from,
                        struct sk_meter_cell *to) {
    struct sk_data before, now;
    if (!from || !to || !from->configured)
        return;
    bool same = true;
    if (to->configured) {
        sk_attached_read(&a->holder, NULL, from, 0, &before);
        sk_attached_read(&a->holder, NULL, to, 0, &now);
        same = before.n == now.n;
        for (size_t i = 0; same && i < now.n; i++)
            same = strcmp(before.list[i].value, now.list[i].value) == 0;
    }
    if (same)
        *to = *from;
}

static void carry_entry(const struct activity *a, const struct sk_entry *from,
                        struct sk_entry *to) {
    const uint64_t elsewhere = sk_entry_hits(to) - to->hits;
    to->hits = sk_entry_hits(from) - elsewhere;
    to->last_hit = sk_entry_last_hit(from);
    if (a->counts) {
        to->packets = from->packets;
        to->bytes = from->bytes;
    }
    if (a->map.from->idle_timeout && a->map.to->idle_timeout &&
        (to->idle.ttl_ms == 0 || to->idle.ttl_ms == from->idle.ttl_ms))
        to->idle = from->idle;
    if (a->meters)
        carry_meter(a, from->meter, to->meter);
    for (uint32_t i = 0; from->direct && to->direct && i < a->map.to->direct_words; i++)
        if (i < SK_MAX_DATA_WORDS && a->direct[i] != NOWHERE)
            to->direct[i] = from->direct[a->direct[i]];
}

static bool carry_one(void *aux, const struct sk_entry *e) {
    const struct activity *a = aux;
    uint64_t value[SK_MAX_KEY_WORDS], mask[SK_MAX_KEY_WORDS];
    map_key(&a->map, e, value, mask);
    struct sk_entry *to =
        sk_table_find(a->to, value, mask, carry_tables_takes_priority(a->map.to) ? e->priority : 0);
    if (to && to->is_const == e->is_const)
        carry_entry(a, e, to);
    return true;
}

static void activity(struct sk_carry *c, const struct carry_pair *p, struct carry_count *n) {
    struct activity a;
    (void)n;
    if (!p->there || desc_of(p)->hidden)
        return;
    struct sk_table *from = table_of(c->from, &p->from, p->pipe);
    a.to = table_of(c->to, &p->to, p->pipe);
    map_keys(&a.map, sk_table_desc(from), sk_table_desc(a.to));
    const struct sk_table_desc *x = a.map.from, *y = a.map.to;
    a.holder = sk_holder_of_table(y);
    a.counts = x->has_counter && y->has_counter && x->counter_type == y->counter_type;
    a.meters = x->meter_kind == y->meter_kind && x->meter_bytes == y->meter_bytes;
    map_direct(&a);
    if (!*a.map.why)
        sk_table_each(from, carry_one, &a);
    carry_entry(&a, sk_table_default(from), sk_table_default(a.to));
}

// Those with an index that somebody configured since, as they were.
static void carry_tables_meter_states(struct sk_carry *c, const struct carry_pair *p,
                                      struct carry_count *n) {
    const struct sk_meter_desc *d = &p->from.desc->meters[p->from.index],
                               *other = p->there ? &p->to.desc->meters[p->to.index] : NULL;
    struct activity a = {
        .holder = {.what = d->name, .meter_kind = d->kind, .meter_bytes = d->bytes}};
    (void)n;
    if (d->direct || !other || other->direct || other->kind != d->kind || other->bytes != d->bytes)
        return;
    const struct sk_meter_cell *here =
        p->from.desc->meter(sk_switch_pipe(c->from, p->pipe), p->from.index);
    struct sk_meter_cell *there = p->to.desc->meter(sk_switch_pipe(c->to, p->pipe), p->to.index);
    for (uint64_t i = 0; i < d->size && i < other->size; i++)
        if (there[i].configured)
            carry_meter(&a, &here[i], &there[i]);
}

void sk_carry_activity(struct sk_carry *c) {
    size_t ignored = 0;
    carry_each(c, SK_TABLE, "", &ignored, activity);
    carry_each(c, SK_METER_OBJECT, "", &ignored, carry_tables_meter_states);
}

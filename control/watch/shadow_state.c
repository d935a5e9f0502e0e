// SPDX-License-Identifier: Apache-2.0
#include "control/watch/shadow_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SMALL 64u // cells of a register that is brought over whole

struct pair { // a pipe of both switches
    const struct sk_pipeline_desc *to, *from;
    struct sk_pipe *to_pipe, *from_pipe;
};
static struct pair pair_of(const struct sk_shadow *s, unsigned pipe) {
    return (struct pair){sk_switch_pipeline(s->sw, pipe), sk_switch_pipeline(s->live, pipe),
                         sk_switch_pipe(s->sw, pipe), sk_switch_pipe(s->live, pipe)};
}

static void bring_cell(const struct pair *p, uint32_t reg, uint64_t index) {
    const struct sk_register_desc *d = &p->to->registers[reg];
    for (uint32_t w = 0; index < d->size && w < d->words; w++)
        p->to->register_write(p->to_pipe, reg, index, w,
                              p->from->register_read(p->from_pipe, reg, index, w));
}

static void bring_meter(const struct pair *p, uint32_t meter, uint64_t index) {
    struct sk_meter_cell *to = p->to->meter(p->to_pipe, meter),
                         *from = p->from->meter(p->from_pipe, meter);
    if (to && from && index < p->to->meters[meter].size)
        to[index] = from[index];
}

// ---- tables ----

static uint32_t shadow_state_profile_of(const struct sk_pipeline_desc *d,
                                        const struct sk_table_desc *profile) {
    uint32_t i = 0;
    while (i < d->n_tables && d->tables[i] != profile)
        i++;
    return i;
}

static void copy_entry(struct sk_table *to, const struct sk_table_desc *d,
                       const struct sk_entry *e) {
    if (e->is_const || sk_table_add(to, e->value, e->mask, e->priority, e->action, e->data))
        return; // it is there
    struct sk_entry *own = sk_table_find(to, e->value, e->mask, e->priority);
    if (own && own->meter && e->meter)
        *own->meter = *e->meter;
    if (own && own->direct && e->direct)
        memcpy(own->direct, e->direct, d->direct_words * sizeof *e->direct);
}

static void bring_member(const struct pair *p, uint32_t profile, uint64_t id) {
    struct sk_table *from = p->from->table(p->from_pipe, profile);
    const struct sk_entry *e = sk_table_lookup(from, &id);
    if (e)
        copy_entry(p->to->table(p->to_pipe, profile), p->to->tables[profile], e);
}

static void bring_group(const struct pair *p, const struct sk_table_desc *d, uint32_t profile,
                        uint32_t id) {
    uint32_t i = 0;
    while (i < p->to->n_selectors && p->to->selectors[i] != d->selector)
        i++;
    const struct sk_group *g =
        i < p->to->n_selectors ? sk_selector_find(p->from->selector(p->from_pipe, i), id) : NULL;
    for (uint32_t m = 0; g && m < g->n; m++)
        bring_member(p, profile, g->members[m].member);
    if (g)
        sk_selector_add(p->to->selector(p->to_pipe, i), id, g->max_size, g->members, g->n);
}

// What it names.
static void bring_reference(const struct pair *p, uint32_t table, const struct sk_entry *e) {
    const struct sk_table_desc *d = p->to->tables[table];
    const uint8_t refers = d->actions[e->action]->refers;
    if (!refers)
        return;
    const uint32_t profile = shadow_state_profile_of(p->to, d->profile);
    if (refers == SK_REFERS_MEMBER)
        bring_member(p, profile, e->data[0]);
    else
        bring_group(p, d, profile, (uint32_t)e->data[0]);
}

static void bring_key(const struct pair *p, uint32_t table, const uint64_t *key) {
    struct sk_table *to = p->to->table(p->to_pipe, table),
                    *from = p->from->table(p->from_pipe, table);
    const struct sk_entry *otherwise = sk_table_default(from), *own = sk_table_default(to);
    const struct sk_entry *e = key ? sk_table_lookup(from, key) : NULL;
    if (!p->to->tables[table]->const_default) {
        bring_reference(p, table, otherwise);
        sk_table_set_default(to, otherwise->action, otherwise->data);
        own = sk_table_default(to);
    }
    if (own->direct && otherwise->direct)
        memcpy(own->direct, otherwise->direct,
               p->to->tables[table]->direct_words * sizeof *own->direct);
    if (own->meter && otherwise->meter)
        *own->meter = *otherwise->meter;
    if (e) {
        bring_reference(p, table, e);
        copy_entry(to, p->to->tables[table], e);
    }
}

// Entries, then groups, then members: in the order in which they refer to each other.
static void shadow_state_empty(const struct pair *p) {
    for (uint32_t i = 0; i < p->to->n_tables; i++)
        if (!p->to->tables[i]->is_profile && sk_table_count(p->to->table(p->to_pipe, i)) > 0) {
            sk_table_clear(p->to->table(p->to_pipe, i));
            sk_table_quiesce(p->to->table(p->to_pipe, i));
        }
    for (uint32_t i = 0; i < p->to->n_tables; i++)
        if (p->to->tables[i]->profile && !p->to->tables[i]->const_default)
            sk_table_reset_default(p->to->table(p->to_pipe, i));
    for (uint32_t i = 0; i < p->to->n_selectors; i++) {
        sk_selector_clear(p->to->selector(p->to_pipe, i));
        sk_selector_quiesce(p->to->selector(p->to_pipe, i));
    }
    for (uint32_t i = 0; i < p->to->n_tables; i++)
        if (p->to->tables[i]->is_profile && sk_table_count(p->to->table(p->to_pipe, i)) > 0) {
            sk_table_clear(p->to->table(p->to_pipe, i));
            sk_table_quiesce(p->to->table(p->to_pipe, i));
        }
}

void shadow_bring(struct sk_shadow *s) {
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        const struct pair p = pair_of(s, pipe);
        shadow_state_empty(&p);
    }
    for (size_t i = 0; i < s->n_touches; i++) {
        const struct shadow_touch *t = &s->touches[i];
        const struct pair p = pair_of(s, t->pipe);
        if (t->kind == SHADOW_REGISTER)
            bring_cell(&p, t->object, t->index);
        else if (t->kind == SHADOW_METER)
            bring_meter(&p, t->object, t->index);
        else
            bring_key(&p, t->object, t->key);
    }
}

void shadow_forget(struct sk_shadow *s) {
    for (size_t i = 0; i < s->n_touches; i++)
        free(s->touches[i].key);
    s->n_touches = 0;
}

// ---- what has no name when it is used ----

static bool shadow_state_add_value(void *aux, const struct sk_entry *e) {
    if (!e->is_const)
        sk_table_add(aux, e->value, e->mask, e->priority, e->action, e->data);
    return true;
}

static void bring_pipe(const struct pair *p) {
    for (uint32_t i = 0; i < p->to->n_registers; i++)
        for (uint64_t k = 0; p->to->registers[i].size <= SMALL && k < p->to->registers[i].size; k++)
            bring_cell(p, i, k);
    for (uint32_t i = 0; i < p->to->n_value_sets; i++) {
        struct sk_table *to = p->to->value_set(p->to_pipe, i);
        sk_table_clear(to);
        sk_table_quiesce(to);
        sk_table_each(p->from->value_set(p->from_pipe, i), shadow_state_add_value, to);
    }
    for (uint32_t i = 0; i < p->to->n_tables; i++) {
        struct sk_table *to = p->to->table(p->to_pipe, i);
        if (p->to->tables[i]->key_masks && sk_table_clear(to) == 0)
            sk_table_set_key_mask(to, sk_table_key_mask(p->from->table(p->from_pipe, i)));
    }
    for (uint32_t i = 0; i < p->to->n_hashes; i++)
        *p->to->hash(p->to_pipe, i) = *p->from->hash(p->from_pipe, i);
}

void shadow_bring_all(struct sk_shadow *s) {
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        const struct pair p = pair_of(s, pipe);
        shadow_state_empty(&p);
        bring_pipe(&p);
    }
}

void shadow_return(struct sk_shadow *s) {
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        const struct sk_pipeline_desc *d = sk_switch_pipeline(s->sw, pipe);
        for (uint32_t i = 0; i < d->n_hashes; i++)
            *d->hash(sk_switch_pipe(s->sw, pipe), i) = NULL;
    }
}

bool shadow_differs(const struct sk_shadow *s, char *out, size_t size) {
    for (size_t i = 0; i < s->n_touches; i++) {
        const struct shadow_touch *t = &s->touches[i];
        const struct pair p = pair_of(s, t->pipe);
        if (t->kind != SHADOW_REGISTER || t->index >= p.to->registers[t->object].size)
            continue;
        for (uint32_t w = 0; w < p.to->registers[t->object].words; w++) {
            const uint64_t a = p.to->register_read(p.to_pipe, t->object, t->index, w),
                           b = p.from->register_read(p.from_pipe, t->object, t->index, w);
            if (a == b)
                continue;
            snprintf(out, size, "%s[%" PRIu64 "] of pipe %u is 0x%" PRIx64 ", not 0x%" PRIx64,
                     p.to->registers[t->object].name, t->index, t->pipe, b, a);
            return true;
        }
    }
    return false;
}

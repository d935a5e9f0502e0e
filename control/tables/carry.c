// SPDX-License-Identifier: Apache-2.0
#include "control/tables/carry_impl.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stages/dynhash.h"
#include "stages/meter.h"

// ---- objects ----

static bool find_there(const struct sk_switch *sw, const struct sk_object *like, unsigned pipe,
                       struct sk_object *out) {
    for (size_t i = 0; sk_object_at(sw, like->kind, i, out); i++)
        if (sk_object_in_pipe(sw, out, pipe) &&
            strcmp(sk_object_name(out), sk_object_name(like)) == 0)
            return true;
    return false;
}

void carry_lose(struct carry_count *n, size_t how_many, const char *format, ...) {
    va_list ap;
    if (how_many == 0)
        return;
    if (n->lost == 0) {
        va_start(ap, format);
        vsnprintf(n->why, sizeof n->why, format, ap);
        va_end(ap);
    }
    n->lost += how_many;
}

static void say_lost(struct sk_carry *c, const char *what, const struct sk_object *o,
                     const struct carry_count *n) {
    if (n->lost > 0)
        json_array_append_new(
            c->lost, json_sprintf("%zu %s of %s: %s", n->lost, what, sk_object_name(o), n->why));
}

// Where the object is in the new program, of the pipes that it was in.
struct carry_places {
    struct sk_object to[SK_PIPES];
    bool there[SK_PIPES], stays; // in any of them
};

static void carry_find(const struct sk_carry *c, const struct sk_object *from,
                       struct carry_places *places) {
    *places = (struct carry_places){.stays = false};
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        places->there[pipe] = sk_object_in_pipe(c->from, from, pipe) &&
                              find_there(c->to, from, pipe, &places->to[pipe]);
        places->stays |= places->there[pipe];
    }
}

static bool carry_is_elsewhere(const struct sk_carry *c, const struct sk_object *from) {
    struct sk_object to;
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        if (find_there(c->to, from, pipe, &to))
            return true;
    return false;
}

// Of what stays in one of its pipes nothing is lost where another program runs now.
void carry_each(struct sk_carry *c, enum sk_object_kind kind, const char *what, size_t *total,
                void (*fn)(struct sk_carry *c, const struct carry_pair *p, struct carry_count *n)) {
    struct carry_places places;
    struct carry_pair p;
    for (size_t i = 0; sk_object_at(c->from, kind, i, &p.from); i++) {
        struct carry_count most = {0};
        size_t sum = 0;
        carry_find(c, &p.from, &places);
        for (p.pipe = 0; p.pipe < SK_PIPES; p.pipe++) {
            struct carry_count n = {0};
            p.there = places.there[p.pipe];
            p.to = places.to[p.pipe];
            if (!sk_object_in_pipe(c->from, &p.from, p.pipe) || (!p.there && places.stays))
                continue;
            fn(c, &p, &n);
            sum += n.kept;
            most.kept = n.kept > most.kept ? n.kept : most.kept;
            if (n.lost > most.lost) {
                most.lost = n.lost;
                memcpy(most.why, n.why, sizeof most.why);
            }
        }
        if (most.lost && !places.stays && carry_is_elsewhere(c, &p.from))
            snprintf(most.why, sizeof most.why, "it is in other pipes");
        *total += total == &c->cells ? sum : most.kept;
        say_lost(c, what, &p.from, &most);
    }
}

// ---- registers ----

static bool carry_same_name(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_register(const struct sk_register_desc *a, const struct sk_register_desc *b) {
    return a->width == b->width && a->words == b->words && a->is_signed == b->is_signed &&
           a->wide == b->wide && a->is_param == b->is_param &&
           carry_same_name(a->word_names[0], b->word_names[0]) &&
           carry_same_name(a->word_names[1], b->word_names[1]);
}

// A cell as the program made it is as the new one makes it.
static void carry_registers(struct sk_carry *c, const struct carry_pair *p, struct carry_count *n) {
    const struct sk_pipeline_desc *from = p->from.desc, *to = p->to.desc;
    const struct sk_register_desc *d = &from->registers[p->from.index],
                                  *other = p->there ? &to->registers[p->to.index] : NULL;
    const char *why = !other                     ? "there is no such register"
                      : !same_register(d, other) ? "its cells have another type"
                                                 : NULL;
    struct sk_pipe *here = sk_switch_pipe(c->from, p->pipe),
                   *there = sk_switch_pipe(c->to, p->pipe);
    const uint32_t words = d->words > 1 || d->wide ? 2 : 1;
    size_t beyond = 0, all = 0;
    for (uint64_t i = 0; i < d->size; i++) {
        uint64_t v[2] = {0};
        bool same = true;
        for (uint32_t k = 0; k < words; k++) {
            v[k] = from->register_read(here, p->from.index, i, k);
            same &= v[k] == d->initial[k];
        }
        if (same)
            continue;
        all++;
        beyond += !why && i >= other->size;
        for (uint32_t k = 0; !why && i < other->size && k < words; k++)
            to->register_write(there, p->to.index, i, k, v[k]);
    }
    n->kept = why ? 0 : all - beyond;
    carry_lose(n, why ? all : beyond, "%s", why ? why : "it has fewer cells");
}

// ---- counters and meters ----

static void carry_counters(struct sk_carry *c, const struct carry_pair *p, struct carry_count *n) {
    const struct sk_counter_desc *d = &p->from.desc->counters[p->from.index];
    const struct sk_counter_desc *other = p->there ? &p->to.desc->counters[p->to.index] : NULL;
    if (d->direct)
        return;
    const char *why = !other || other->direct  ? "there is no such counter"
                      : other->type != d->type ? "it counts something else"
                                               : NULL;
    const struct sk_counter_cell *here =
        p->from.desc->counter(sk_switch_pipe(c->from, p->pipe), p->from.index);
    struct sk_counter_cell *there =
        why ? NULL : p->to.desc->counter(sk_switch_pipe(c->to, p->pipe), p->to.index);
    for (uint64_t i = 0; i < d->size; i++) {
        if (here[i].packets == 0 && here[i].bytes == 0)
            continue;
        if (why || i >= other->size) {
            carry_lose(n, 1, "%s", why ? why : "it has fewer cells");
            continue;
        }
        there[i] = here[i];
        n->kept++;
    }
}

// What a controller has said of a packet's bytes; also of direct meters.
static void carry_more(struct sk_carry *c, const struct carry_pair *p) {
    const struct sk_pipeline_desc *from = p->from.desc, *to = p->to.desc;
    int32_t *here = from->meter_more
                        ? from->meter_more(sk_switch_pipe(c->from, p->pipe), p->from.index)
                        : NULL,
            *there = p->there && to->meter_more
                         ? to->meter_more(sk_switch_pipe(c->to, p->pipe), p->to.index)
                         : NULL;
    if (here && there)
        *there = *here;
}

static void carry_meters(struct sk_carry *c, const struct carry_pair *p, struct carry_count *n) {
    const struct sk_meter_desc *d = &p->from.desc->meters[p->from.index];
    const struct sk_meter_desc *other = p->there ? &p->to.desc->meters[p->to.index] : NULL;
    carry_more(c, p);
    if (d->direct)
        return;
    const char *why = !other || other->direct ? "there is no such meter"
                      : other->kind != d->kind || other->bytes != d->bytes ? "it has another type"
                                                                           : NULL;
    const struct sk_meter_cell *here =
        p->from.desc->meter(sk_switch_pipe(c->from, p->pipe), p->from.index);
    struct sk_meter_cell *there =
        why ? NULL : p->to.desc->meter(sk_switch_pipe(c->to, p->pipe), p->to.index);
    for (uint64_t i = 0; i < d->size; i++) {
        if (!here[i].configured)
            continue;
        if (why || i >= other->size) {
            carry_lose(n, 1, "%s", why ? why : "it has fewer cells");
            continue;
        }
        there[i] = here[i];
        n->kept++;
    }
}

// ---- hashes ----

static bool same_fields(const struct sk_hash_desc *a, const struct sk_hash_desc *b) {
    bool same = a->n_fields == b->n_fields && a->bits == b->bits && a->width == b->width;
    for (uint32_t i = 0; same && i < a->n_fields; i++)
        same = carry_same_name(a->fields[i].name, b->fields[i].name) &&
               a->fields[i].width == b->fields[i].width &&
               a->fields[i].constant == b->fields[i].constant &&
               a->fields[i].value == b->fields[i].value;
    return same;
}

static void carry_hashes(struct sk_carry *c, const struct carry_pair *p, struct carry_count *n) {
    const struct sk_hash_desc *d = &p->from.desc->hashes[p->from.index];
    const struct sk_hash_desc *other = p->there ? &p->to.desc->hashes[p->to.index] : NULL;
    const struct sk_dynhash *h =
        *p->from.desc->hash(sk_switch_pipe(c->from, p->pipe), p->from.index);
    if (!h)
        return;
    if (!other || !same_fields(d, other)) {
        carry_lose(n, 1, other ? "it has other fields" : "there is no such hash");
        return;
    }
    struct sk_dynhash **there = p->to.desc->hash(sk_switch_pipe(c->to, p->pipe), p->to.index);
    sk_dynhash_free(*there);
    *there = sk_dynhash_new(other, &h->algorithm, h->slices, h->n_slices);
    if (!*there)
        abort();
    n->kept = 1;
}

static void carry_key_masks(struct sk_carry *c, const struct carry_pair *p, struct carry_count *n) {
    const struct sk_table_desc *d = p->from.desc->tables[p->from.index],
                               *other = p->there ? p->to.desc->tables[p->to.index] : NULL;
    bool same =
        other && other->key_masks && d->n_keys == other->n_keys && d->key_words == other->key_words;
    if (!d->key_masks)
        return;
    for (uint32_t i = 0; same && i < d->n_keys; i++)
        same = carry_same_name(d->keys[i].name, other->keys[i].name) &&
               d->keys[i].width == other->keys[i].width;
    const uint64_t *mask =
        sk_table_key_mask(p->from.desc->table(sk_switch_pipe(c->from, p->pipe), p->from.index));
    struct sk_table *there =
        same ? p->to.desc->table(sk_switch_pipe(c->to, p->pipe), p->to.index) : NULL;
    if (there && memcmp(mask, sk_table_key_mask(there), d->key_words * sizeof *mask) == 0)
        return;
    if (!there || sk_table_set_key_mask(there, mask))
        carry_lose(n, 1, "its key fields differ");
}

void sk_carry_cells(struct sk_carry *c) {
    size_t ignored = 0;
    carry_each(c, SK_HASH, "hash", &c->entries, carry_hashes);
    carry_each(c, SK_TABLE, "key mask", &ignored, carry_key_masks);
    carry_each(c, SK_REGISTER, "cells", &c->cells, carry_registers);
    carry_each(c, SK_COUNTER, "cells", &c->cells, carry_counters);
    carry_each(c, SK_METER_OBJECT, "cells", &c->cells, carry_meters);
}

// SPDX-License-Identifier: Apache-2.0
//
// stage: what a stage holds, and whether a unit fits beside it. Units share crossbar bytes,
// memories and instructions that are the same.
#include <string.h>

#include "compiler/chip/place/place_impl.h"

struct place_stage *place_stage(struct place *p, unsigned s) {
    while (p->stages.n <= s) {
        struct place_stage *now = ARENA_NEW(p->r->arena, struct place_stage);
        VEC_PUSH(p->r->arena, &p->stages, now);
    }
    return p->stages.v[s];
}

static bool has_byte(const memory_byte_vec *v, const struct memory_byte *b) {
    for (size_t i = 0; i < v->n; i++)
        if (v->v[i].of == b->of && v->v[i].at == b->at)
            return true;
    return false;
}

static unsigned new_bytes(const memory_byte_vec *there, const memory_byte_vec *more) {
    unsigned n = 0;
    for (size_t i = 0; i < more->n; i++)
        n += !has_byte(there, &more->v[i]);
    return n;
}

static bool has_object(const struct place_stage *s, const void *object) {
    for (size_t i = 0; i < s->objects.n; i++)
        if (s->objects.v[i] == object)
            return true;
    return false;
}

static bool has_index(const struct place_stage *s, const struct memory_index *x) {
    for (size_t i = 0; i < s->indices.n; i++)
        if (memory_same_index(s->indices.v[i], x))
            return true;
    return false;
}

static bool place_stage_has_action(const struct place_stage *s, unsigned gress,
                                   const struct ir_action *a) {
    for (size_t i = 0; a && i < s->actions[gress].n; i++)
        if (s->actions[gress].v[i] == a)
            return true;
    return false;
}

// The first part of an ALPM table, which finds the partition.
static bool is_first(const struct place_unit *x) {
    return x->u->format->alpm && !x->first_done;
}

// False when no format of it stands in a stage.
static bool demand(const struct place *p, const struct place_stage *s, const struct place_unit *x,
                   uint64_t entries, unsigned need[CHIP_RESOURCES]) {
    const struct memory_format *f = x->u->format;
    if (is_first(x)) {
        memcpy(need, f->first, sizeof f->first);
        need[CHIP_TERNARY_XBAR] = new_bytes(&s->ternary, &f->first_bytes);
        return true;
    }
    bool possible = memory_own(p->r, x->u, entries, need);
    need[CHIP_EXACT_XBAR] = new_bytes(&s->exact, &f->exact);
    need[CHIP_TERNARY_XBAR] = new_bytes(&s->ternary, &f->ternary);
    for (size_t i = 0; i < x->u->actions.n; i++) {
        const struct chip_action *a = &x->u->actions.v[i];
        if ((a->ops.n || a->accesses.n) && place_stage_has_action(s, x->gress, a->action) &&
            need[CHIP_VLIW])
            need[CHIP_VLIW]--;
    }
    for (size_t i = 0; i < f->attached.n; i++)
        if (!has_object(s, f->attached.v[i].object))
            for (unsigned k = 0; k < CHIP_RESOURCES; k++)
                need[k] += f->attached.v[i].used[k];
    for (size_t i = 0; i < f->indices.n; i++)
        if (has_index(s, &f->indices.v[i])) {
            need[CHIP_HASH_DIST] -= f->indices.v[i].dist;
            need[CHIP_HASH_BITS] -= f->indices.v[i].bits;
        }
    return possible;
}

bool place_fits(struct place *p, const struct place_unit *x, unsigned s, uint64_t entries,
                enum chip_resource *lack) {
    const struct place_stage *st = place_stage(p, s);
    unsigned need[CHIP_RESOURCES];
    if (!demand(p, st, x, entries, need)) {
        *lack = CHIP_SRAM;
        return false;
    }
    for (unsigned k = 0; k < CHIP_RESOURCES; k++)
        if (need[k] > 0 && st->used[k] + need[k] > p->r->limits->per_stage[k]) {
            *lack = (enum chip_resource)k;
            return false;
        }
    return true;
}

uint64_t place_share(struct place *p, const struct place_unit *x, unsigned s) {
    enum chip_resource lack;
    uint64_t low = 0, high = x->left; // low fits, high does not
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (place_fits(p, x, s, middle, &lack))
            low = middle;
        else
            high = middle;
    }
    return low;
}

void place_take(struct place *p, struct place_unit *x, unsigned s, uint64_t entries) {
    struct arena *a = p->r->arena;
    struct place_stage *st = place_stage(p, s);
    const struct memory_format *f = x->u->format;
    struct chip_part part = {.stage = s, .entries = is_first(x) ? 0 : entries};
    demand(p, st, x, entries, part.used);
    for (unsigned k = 0; k < CHIP_RESOURCES; k++)
        st->used[k] += part.used[k];
    const memory_byte_vec *exact = &f->exact, *ternary = &f->ternary;
    if (is_first(x))
        exact = NULL, ternary = &f->first_bytes;
    for (size_t i = 0; exact && i < exact->n; i++)
        memory_byte_add(a, &st->exact, exact->v[i]);
    for (size_t i = 0; i < ternary->n; i++)
        memory_byte_add(a, &st->ternary, ternary->v[i]);
    if (!is_first(x)) {
        for (size_t i = 0; i < f->attached.n; i++)
            if (!has_object(st, f->attached.v[i].object))
                VEC_PUSH(a, &st->objects, f->attached.v[i].object);
        for (size_t i = 0; i < f->indices.n; i++)
            VEC_PUSH(a, &st->indices, &f->indices.v[i]);
        for (size_t i = 0; i < x->u->actions.n; i++)
            if (x->u->actions.v[i].action &&
                !place_stage_has_action(st, x->gress, x->u->actions.v[i].action))
                VEC_PUSH(a, &st->actions[x->gress], x->u->actions.v[i].action);
    }
    VEC_PUSH(a, &x->u->parts, part);
    x->last = s;
}

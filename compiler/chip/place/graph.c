// SPDX-License-Identifier: Apache-2.0
//
// graph: the order that units may be placed in. From the dependencies: the longest chain after a
// unit and before it. From the control's tree: on a Tofino 1 a table says who is next and nobody
// passes it, so what hangs below a unit is placed before its neighbours after it are.
#include <stdlib.h>
#include <string.h>

#include "compiler/chip/place/place_impl.h"

static void add_units(struct place *p) {
    struct arena *a = p->r->arena;
    for (unsigned g = 0; g < 2; g++) {
        p->first[g] = (unsigned)p->units.n;
        for (size_t i = 0; i < p->pipe->gress[g].units.n; i++) {
            struct place_unit x = {
                .u = &p->pipe->gress[g].units.v[i], .gress = g, .parent = PLACE_NOBODY};
            uint64_t n;
            if (memory_annotation(x.u->table, "stage", &n) && n < PLACE_MOST_STAGES)
                x.from_stage = (unsigned)n;
            else if (x.u->stmt->stage && x.u->kind != CHIP_GATEWAY) // of the block that it is in
                x.from_stage = x.u->stmt->stage - 1;
            if (memory_annotation(x.u->table, "placement_priority", &n))
                x.priority = (int)n;
            VEC_PUSH(a, &p->units, x);
        }
    }
}

static void add_deps(struct place *p) {
    struct arena *a = p->r->arena;
    for (unsigned g = 0; g < 2; g++)
        for (size_t i = 0; i < p->pipe->gress[g].deps.n; i++) {
            const struct chip_dep *d = &p->pipe->gress[g].deps.v[i];
            unsigned from = p->first[g] + d->from, to = p->first[g] + d->to;
            if (d->from >= d->to)
                continue; // a unit does not wait for itself
            if (d->kind == CHIP_DEP_CONFLICT) {
                VEC_PUSH(a, &p->units.v[to].conflicts, from);
                VEC_PUSH(a, &p->units.v[from].conflicts, to);
                continue;
            }
            struct place_dep before = {.from = from, .distance = chip_dep_distance(d), .dep = d};
            // An ALPM table first only looks its partition up: what its actions wait for is a stage
            // later.
            if (p->units.v[to].u->format->alpm && d->kind != CHIP_DEP_MATCH)
                before.distance = 0;
            struct place_dep behind = before;
            behind.from = to;
            VEC_PUSH(a, &p->units.v[to].before, before);
            VEC_PUSH(a, &p->units.v[from].behind, behind);
        }
}

static bool is_above(const struct place *p, unsigned above, unsigned x) {
    for (unsigned up = p->units.v[x].parent; up != PLACE_NOBODY; up = p->units.v[up].parent)
        if (up == above)
            return true;
    return false;
}

// Once a unit is placed nothing passes what hangs below it: it waits for all that those depend on.
static void wait_for_children(struct place *p) {
    struct arena *a = p->r->arena;
    size_t n = p->units.n;
    VEC(unsigned) *children = arena_alloc(a, sizeof *children * (n + 1));
    unsigned *noted = ARENA_ARRAY(a, unsigned, n + 1); // the last unit + 1 that waits for this one
    for (size_t i = 0; i < n; i++)
        if (p->units.v[i].parent != PLACE_NOBODY)
            VEC_PUSH(a, &children[p->units.v[i].parent], (unsigned)i);
    for (size_t up = n; up-- > 0;) // a child has what its own children wait for
        for (size_t c = 0; c < children[up].n; c++) {
            const struct place_unit *child = &p->units.v[children[up].v[c]];
            for (size_t k = 0; k < child->before.n; k++) {
                unsigned from = child->before.v[k].from;
                if (from >= up || noted[from] == up + 1 || is_above(p, from, (unsigned)up))
                    continue;
                noted[from] = (unsigned)up + 1;
                struct place_dep before = {.from = from}, behind = {.from = (unsigned)up};
                VEC_PUSH(a, &p->units.v[up].before, before);
                VEC_PUSH(a, &p->units.v[from].behind, behind);
            }
        }
}

// A unit that took the condition along before it may stand after what else is under the condition:
// that is then as if beside it.
static void find_parents(struct place *p) {
    for (size_t i = 0; i < p->units.n; i++) {
        struct place_unit *x = &p->units.v[i];
        int up = x->u->parent;
        x->branch = x->u->branch;
        for (size_t left = p->units.n; left > 0 && up >= (int)x->u->id; left--) {
            const struct chip_unit *above = &p->pipe->gress[x->gress].units.v[up];
            up = above->parent;
            x->branch = above->branch;
        }
        x->parent =
            up < 0 || up >= (int)x->u->id ? PLACE_NOBODY : p->first[x->gress] + (unsigned)up;
    }
}

// Stages that a unit's memory takes when it is alone, less one.
static unsigned least_stages(const struct place *p, const struct place_unit *x) {
    uint64_t most = 1;
    if (x->u->may_split)
        for (unsigned k = 0; k < CHIP_RESOURCES; k++)
            if (k == CHIP_SRAM || k == CHIP_TCAM || k == CHIP_MAP_RAM) {
                uint64_t n = memory_divide(x->u->need[k], p->r->limits->per_stage[k]);
                most = n > most ? n : most;
            }
    return (unsigned)(most > PLACE_MOST_STAGES ? PLACE_MOST_STAGES : most) - 1 + x->u->format->alpm;
}

static void measure_chains(struct place *p) {
    for (size_t i = p->units.n; i-- > 0;) {
        struct place_unit *x = &p->units.v[i];
        x->least = least_stages(p, x);
        for (size_t k = 0; k < x->behind.n; k++) {
            unsigned h = p->units.v[x->behind.v[k].from].height + x->behind.v[k].distance;
            x->height = h > x->height ? h : x->height;
        }
        x->height += x->least;
    }
    for (size_t i = 0; i < p->units.n; i++) {
        struct place_unit *x = &p->units.v[i];
        x->earliest = x->from_stage;
        for (size_t k = 0; k < x->before.n; k++) {
            const struct place_unit *b = &p->units.v[x->before.v[k].from];
            unsigned s = b->earliest + b->least + x->before.v[k].distance;
            x->earliest = s > x->earliest ? s : x->earliest;
        }
        x->u->earliest = x->earliest;
    }
}

// Units on the same side of one parent stand one after another.
static void find_groups(struct place *p) {
    struct arena *a = p->r->arena;
    size_t n = p->units.n;
    VEC(unsigned) *members = arena_alloc(a, sizeof *members * (n + 3));
    for (size_t i = 0; i < n; i++) {
        struct place_unit *x = &p->units.v[i];
        size_t slot = x->parent == PLACE_NOBODY ? n + x->gress : x->parent;
        x->group = PLACE_NOBODY;
        for (size_t k = 0; k < members[slot].n; k++) {
            const struct place_unit *y = &p->units.v[members[slot].v[k]];
            if (x->parent == PLACE_NOBODY || y->branch == x->branch)
                x->group = y->group;
        }
        if (x->group != PLACE_NOBODY)
            continue;
        x->group = p->n_groups++; // the first of its side stands for it
        VEC_PUSH(a, &members[slot], (unsigned)i);
    }
    p->busy = ARENA_ARRAY(a, unsigned, p->n_groups + 1);
}

static void find_shared(struct place *p) {
    struct arena *a = p->r->arena;
    for (size_t i = 0; i < p->units.n; i++) {
        const struct memory_format *f = p->units.v[i].u->format;
        for (size_t k = 0; k < f->attached.n; k++) {
            const struct memory_attached *m = &f->attached.v[k];
            if (m->profile || !m->size)
                continue;
            size_t s = 0;
            while (s < p->shared.n && p->shared.v[s].object->object != m->object)
                s++;
            if (s == p->shared.n) {
                struct place_shared one = {.object = m};
                VEC_PUSH(a, &p->shared, one);
            }
            VEC_PUSH(a, &p->shared.v[s].users, (unsigned)i);
            VEC_PUSH(a, &p->units.v[i].shared, (unsigned)s);
            unsigned e = p->units.v[i].earliest;
            if (e > p->shared.v[s].not_before)
                p->shared.v[s].not_before = p->shared.v[s].at_first = e;
        }
    }
}

struct rank {
    int priority;
    unsigned height, least, id;
};

static int more_urgent(const void *pa, const void *pb) {
    const struct rank *a = pa, *b = pb;
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    if (a->height != b->height)
        return a->height > b->height ? -1 : 1;
    if ((a->least > 0) != (b->least > 0)) // what is split leaves nothing beside it
        return a->least > 0 ? 1 : -1;
    return a->id < b->id ? -1 : a->id > b->id;
}

void place_sort_units(struct place *p) {
    struct rank *ranks = ARENA_ARRAY(p->r->arena, struct rank, p->units.n + 1);
    p->order = ARENA_ARRAY(p->r->arena, unsigned, p->units.n + 1);
    for (size_t i = 0; i < p->units.n; i++) {
        const struct place_unit *x = &p->units.v[i];
        ranks[i] = (struct rank){x->priority, x->height + x->boost, x->least, (unsigned)i};
    }
    qsort(ranks, p->units.n, sizeof *ranks, more_urgent);
    for (size_t i = 0; i < p->units.n; i++)
        p->order[i] = ranks[i].id;
}

void place_prepare(struct place *p) {
    add_units(p);
    add_deps(p);
    find_parents(p);
    if (!p->r->limits->long_branches)
        wait_for_children(p);
    measure_chains(p);
    find_groups(p);
    find_shared(p);
    place_sort_units(p);
}

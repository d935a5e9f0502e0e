// SPDX-License-Identifier: Apache-2.0
//
// place: stage after stage is filled with the most urgent unit that may be placed and fits, as the
// chip's compiler does. A unit may be placed when all that it depends on is; urgent is what has the
// longest chain after it. Nothing is taken back, but when a memory's users cannot meet in the stage
// chosen for it, all is placed again with that memory in a later one.
#include "compiler/chip/place/place.h"

#include <string.h>

#include "compiler/chip/place/place_impl.h"

enum { MOST_PASSES = 200, NEAR = 8 };

static bool may_pass(const struct place *p, const struct place_unit *x) {
    return p->loose || p->unordered || p->r->limits->long_branches || p->busy[x->group] == 0;
}

// Waiting for what hangs below a unit is no dependency of its own.
static bool holds(const struct place *p, const struct place_dep *d) {
    return d->dep || !p->unordered;
}

// The stage that dependencies on what is placed allow.
static unsigned allowed_from(const struct place *p, const struct place_unit *x) {
    unsigned s = x->from_stage;
    for (size_t i = 0; i < x->before.n; i++) {
        if (!holds(p, &x->before.v[i]))
            continue;
        unsigned from = p->units.v[x->before.v[i].from].last + x->before.v[i].distance;
        s = from > s ? from : s;
    }
    if (x->first_done || x->left < x->u->entries)
        s = x->last + 1 > s ? x->last + 1 : s;
    for (size_t i = 0; i < x->shared.n; i++)
        if (p->shared.v[x->shared.v[i]].not_before > s)
            s = p->shared.v[x->shared.v[i]].not_before;
    return s;
}

static bool in_conflict(const struct place *p, const struct place_unit *x) {
    for (size_t i = 0; !p->free && i < x->conflicts.n; i++) {
        const struct place_unit *y = &p->units.v[x->conflicts.v[i]];
        if (y->u->parts.n > 0 && y->last == p->stage)
            return true;
    }
    return false;
}

// While a table is being split, on a Tofino 1 only what excludes it is placed in its gress.
static bool beside_split(const struct place *p, const struct place_unit *x, unsigned split) {
    if (split == PLACE_NOBODY || p->loose || p->unordered || p->r->limits->long_branches ||
        &p->units.v[split] == x)
        return true;
    const struct chip_gress *g = &p->pipe->gress[x->gress];
    return g->excludes && g->excludes[(size_t)x->u->id * g->units.n + p->units.v[split].u->id];
}

// A unit's memory that stands in an earlier stage: its other users have to wait for this unit. True
// when the pass has to start again.
static bool missed_stage(struct place *p, const struct place_unit *x, unsigned s) {
    bool missed = false;
    for (size_t i = 0; i < x->shared.n; i++) {
        struct place_shared *m = &p->shared.v[x->shared.v[i]];
        if (m->stage == PLACE_NOBODY || m->stage == s || m->impossible)
            continue;
        m->not_before = s > m->not_before ? s : m->not_before + 1;
        missed = true;
    }
    return missed;
}

static void place_settle(struct place *p, struct place_unit *x) {
    unsigned s = x->last;
    x->done = true;
    p->left--;
    for (size_t i = 0; i < x->behind.n; i++)
        p->units.v[x->behind.v[i].from].waiting -= holds(p, &x->behind.v[i]);
    for (size_t i = 0; i < x->shared.n; i++)
        if (p->shared.v[x->shared.v[i]].stage == PLACE_NOBODY)
            p->shared.v[x->shared.v[i]].stage = s;
    p->busy[x->group] += x->children > 0;
    for (unsigned up = x->parent; up != PLACE_NOBODY; up = p->units.v[up].parent) {
        struct place_unit *above = &p->units.v[up];
        if (--above->children == 0 && above->done)
            p->busy[above->group]--;
    }
}

// Places the unit, or as much of it as there is room for.
static bool try_unit(struct place *p, struct place_unit *x) {
    unsigned s = p->stage;
    bool alpm_first = x->u->format->alpm && !x->first_done;
    bool whole = place_fits(p, x, s, x->left, &x->lack);
    uint64_t n = x->left;
    if (!whole && (alpm_first || !x->u->may_split || (n = place_share(p, x, s)) == 0)) {
        // Alone in a stage it is placed even so: memory.h has said that it is too large.
        if (p->stages.v[s]->used[CHIP_LOGICAL_TABLES] > 0) {
            x->failed = s + 1;
            if (x->lacked_since == PLACE_NOBODY)
                x->lacked_since = s;
            return false;
        }
        n = x->left;
    }
    place_take(p, x, s, n);
    if (alpm_first) {
        x->first_done = true;
        return true;
    }
    x->left -= n;
    if (x->left == 0)
        place_settle(p, x);
    return true;
}

// A memory of the unit's stands in this stage, so that it has to come here, too.
static bool follows(const struct place *p, const struct place_unit *x) {
    for (size_t i = 0; i < x->shared.n; i++)
        if (p->shared.v[x->shared.v[i]].stage == p->stage)
            return true;
    return false;
}

enum step { STEP_PLACED, STEP_NONE, STEP_STUCK, STEP_AGAIN };

// The most urgent unit that this stage can have.
static enum step place_step(struct place *p) {
    unsigned split[2] = {PLACE_NOBODY, PLACE_NOBODY};
    for (size_t i = 0; i < p->units.n; i++)
        if (!p->units.v[i].done && p->units.v[i].left < p->units.v[i].u->entries)
            split[p->units.v[i].gress] = (unsigned)i;
    bool later = false; // a unit may be placed in a later stage
    for (size_t i = 0; i < p->units.n; i++) {
        struct place_unit *x = &p->units.v[p->order[i]];
        if (x->done || x->waiting || !beside_split(p, x, split[x->gress]))
            continue;
        bool pass = may_pass(p, x) || follows(p, x);
        later |= pass;
        if (x->failed == p->stage + 1 || allowed_from(p, x) > p->stage || in_conflict(p, x))
            continue;
        // After a neighbour's subtree; a leaf that was offered the stage fills it.
        if (!pass && (x->offered != p->stage + 1 || x->children || x->u->condition))
            continue;
        if (missed_stage(p, x, p->stage))
            return STEP_AGAIN;
        x->offered = p->stage + 1;
        if (try_unit(p, x))
            return STEP_PLACED;
    }
    return later ? STEP_NONE : STEP_STUCK;
}

static void place_begin_pass(struct place *p) {
    p->stages.n = 0;
    p->stage = 0;
    p->loose = false;
    p->left = (unsigned)p->units.n;
    memset(p->busy, 0, sizeof *p->busy * (p->n_groups + 1));
    for (size_t i = 0; i < p->shared.n; i++)
        p->shared.v[i].stage = PLACE_NOBODY;
    for (size_t i = 0; i < p->units.n; i++)
        p->units.v[i].children = 0;
    for (size_t i = 0; i < p->units.n; i++) {
        struct place_unit *x = &p->units.v[i];
        x->u->parts.n = 0;
        x->waiting = 0;
        for (size_t k = 0; k < x->before.n; k++)
            x->waiting += holds(p, &x->before.v[k]);
        x->done = x->first_done = false;
        x->failed = x->offered = 0;
        x->lacked_since = PLACE_NOBODY;
        x->left = x->u->entries ? x->u->entries : 1;
        x->last = 0;
        for (unsigned up = x->parent; up != PLACE_NOBODY; up = p->units.v[up].parent)
            p->units.v[up].children++;
    }
}

// False when a memory's users did not meet.
static bool run_pass(struct place *p) {
    place_begin_pass(p);
    while (p->left > 0) {
        place_stage(p, p->stage);
        switch (place_step(p)) {
        case STEP_PLACED:
            break;
        case STEP_AGAIN:
            return false;
        case STEP_STUCK:
            p->loose = true;
            break;
        case STEP_NONE:
            if (++p->stage == PLACE_MOST_STAGES) {
                p->given_up = true;
                return true;
            }
        }
    }
    return true;
}

// Users of one memory that depend on one another never meet in a stage: placement goes on without
// that bond, and what waited because of it need not.
static void part_users(struct place *p, bool all) {
    bool parted = all;
    size_t limit = p->units.n + p->r->limits->stages;
    for (size_t i = 0; i < p->shared.n; i++)
        parted |= !p->shared.v[i].impossible && p->shared.v[i].not_before > limit;
    for (size_t i = 0; parted && i < p->shared.n;
         i++) // those that push each other on are told together
        if (all || p->shared.v[i].not_before + NEAR > limit)
            p->shared.v[i].impossible = true;
    for (size_t i = 0; parted && i < p->shared.n; i++)
        p->shared.v[i].not_before = p->shared.v[i].impossible ? 0 : p->shared.v[i].at_first;
}

static void place_publish(struct place *p) {
    struct chip_pipe *pipe = p->pipe;
    for (size_t s = 0; s < p->stages.n; s++)
        VEC_PUSH(p->r->arena, &pipe->stages, p->stages.v[s]->used);
    for (size_t i = 0; i < p->units.n; i++) {
        struct place_unit *x = &p->units.v[i];
        struct chip_gress *g = &pipe->gress[x->gress];
        if (x->u->parts.n == 0) // given up before
            place_take(p, x, PLACE_MOST_STAGES, x->left);
        if (x->last + 1 > g->stages)
            g->stages = x->last + 1;
    }
}

static void place_run(struct place *p) {
    for (size_t i = 0; i < p->shared.n; i++) {
        p->shared.v[i].not_before = p->shared.v[i].at_first;
        p->shared.v[i].impossible = false;
    }
    for (unsigned passes = 1; !run_pass(p); passes++)
        part_users(p, passes % MOST_PASSES == 0);
}

#define PARTED ((size_t)2 * PLACE_MOST_STAGES)

// How bad a placement is: memories whose users do not meet, then stages.
static size_t badness(const struct place *p) {
    size_t parted = 0;
    for (size_t i = 0; i < p->shared.n; i++)
        parted += p->shared.v[i].impossible;
    size_t over = p->stages.n > p->r->limits->stages ? p->stages.n : 0;
    return parted * PARTED + over;
}

enum { FREE = 1, UNORDERED = 2, WAYS = 4, MOST_REPAIRS = 16, MOST_REPAIRED = 512 };

static size_t place_in_way(struct place *p, unsigned way) {
    p->free = way & FREE;
    p->unordered = way & UNORDERED;
    place_run(p);
    return badness(p);
}

// What stands after the chip's last stage, and what it had to wait for, becomes more urgent. False:
// nothing does.
static bool boost_late_units(struct place *p) {
    bool *late = ARENA_ARRAY(p->r->arena, bool, p->units.n + 1), any = false;
    for (size_t i = p->units.n; i-- > 0;) {
        struct place_unit *x = &p->units.v[i];
        if (!late[i] && x->last < p->r->limits->stages)
            continue;
        any = true;
        x->boost++;
        for (size_t k = 0; k < x->before.n; k++) {
            const struct place_dep *d = &x->before.v[k];
            if (holds(p, d) && p->units.v[d->from].last + d->distance >= x->last)
                late[d->from] = true;
        }
    }
    return any;
}

struct best {
    size_t badness;
    unsigned way;
    unsigned *order;
};

static void place_try(struct place *p, struct best *best, unsigned way) {
    size_t bad = place_in_way(p, way);
    if (bad >= best->badness)
        return;
    size_t n = p->units.n;
    best->badness = bad;
    best->way = way;
    best->order = ARENA_ARRAY(p->r->arena, unsigned, n + 1);
    memcpy(best->order, p->order, n * sizeof *p->order);
}

// The same way again and again, each time with other units in front.
static void repair(struct place *p, struct best *best, unsigned way) {
    for (size_t i = 0; i < p->units.n; i++)
        p->units.v[i].boost = 0;
    place_sort_units(p);
    place_try(p, best, way);
    for (unsigned k = 0; best->badness > 0 && k < MOST_REPAIRS && boost_late_units(p); k++) {
        place_sort_units(p);
        place_try(p, best, way);
    }
}

// A few stages too many, and no chain that takes as many.
static bool is_near(const struct place *p, const struct best *best) {
    unsigned limit = p->r->limits->stages;
    if (p->units.n > MOST_REPAIRED || best->badness > limit + limit / 4)
        return false;
    for (size_t i = 0; i < p->units.n; i++)
        if (p->units.v[i].earliest + p->units.v[i].least + 1 > limit)
            return false;
    return true;
}

void chip_place(struct chip_report *r, struct chip_pipe *pipe) {
    struct place p = {.r = r, .pipe = pipe};
    struct best best = {.badness = SIZE_MAX};
    place_prepare(&p);
    // The chip's compiler places anew in other ways when the first one is too long: it lays
    // containers out for the placement that it wants. Units pass each other only where a memory's
    // users would not meet otherwise.
    unsigned ways = UNORDERED;
    for (unsigned way = 0; best.badness > 0 && way < ways; way++) {
        place_try(&p, &best, way);
        if (way + 1 == UNORDERED && best.badness >= PARTED)
            ways = WAYS;
    }
    for (unsigned way = 0; best.badness > 0 && is_near(&p, &best) && way < ways; way++)
        repair(&p, &best, way);
    p.order = best.order;
    place_in_way(&p, best.way);
    place_publish(&p);
    place_explain(&p);
}

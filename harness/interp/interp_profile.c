// SPDX-License-Identifier: Apache-2.0
//
// interp_profile: members of action profiles, groups of action selectors, and which member a packet
// gets (tna-facts 4.9; Silken's choices: stages/selector.h).
#include "harness/interp/interp_impl.h"

#include <stdlib.h>
#include <string.h>

static void *again(void *old, size_t n, size_t size) {
    void *p = realloc(old, n * size + 1);
    if (!p)
        abort();
    return p;
}

// ---- by number ----

const struct ir_action_profile *interp_profile_ir(const struct interp *ip, unsigned i) {
    const struct ir_gress *g = ip->pl->gress;
    return i < g[0].profiles.n ? g[0].profiles.v[i] : g[1].profiles.v[i - g[0].profiles.n];
}

struct interp_table *interp_profile(struct interp *ip, unsigned i) {
    size_t n = ip->pl->gress[0].profiles.n;
    return i < n ? &ip->gress[0].profiles[i] : &ip->gress[1].profiles[i - n];
}

int interp_find_profile(const struct interp *ip, const char *name) {
    const struct ir_gress *g = ip->pl->gress;
    for (unsigned i = 0; i < g[0].profiles.n + g[1].profiles.n; i++)
        if (strcmp(interp_profile_ir(ip, i)->name, name) == 0)
            return (int)i;
    return -1;
}

static struct interp_selector *selector_named(struct interp *ip, const char *name) {
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < ip->pl->gress[k].selectors.n; i++)
            if (strcmp(ip->pl->gress[k].selectors.v[i]->name, name) == 0)
                return &ip->gress[k].selectors[i];
    return NULL;
}

// ---- writing ----

static struct interp_group *group_of(const struct interp_selector *s, uint64_t id) {
    for (size_t i = 0; s && i < s->n; i++)
        if (s->groups[i].id == id)
            return &s->groups[i];
    return NULL;
}

bool interp_has_group(struct interp *ip, const char *selector, uint64_t id) {
    return group_of(selector_named(ip, selector), id) != NULL;
}

void interp_set_group(struct interp *ip, const char *selector, uint64_t id, const uint64_t *members,
                      size_t n) {
    struct interp_selector *s = selector_named(ip, selector);
    struct interp_group *g = group_of(s, id);
    if (!g) {
        s->groups = again(s->groups, s->n + 1, sizeof *s->groups);
        g = &s->groups[s->n++];
        *g = (struct interp_group){.id = id};
    }
    g->places = again(g->places, n, sizeof *g->places);
    g->n = n;
    for (size_t i = 0; i < n; i++)
        g->places[i] = (struct interp_place){members[2 * i], members[2 * i + 1] != 0};
}

void interp_free_selector(struct interp_selector *s) {
    for (size_t i = 0; i < s->n; i++)
        free(s->groups[i].places);
    free(s->groups);
}

// ---- choosing ----

// Other numbers from a hash: the two halves of a product, added without carries.
static uint64_t other(uint64_t hash, uint64_t salt) {
    uint64_t x = salt * UINT64_C(0x9e3779b97f4a7c15) ^ hash ^ UINT64_C(0xa0761d6478bd642f);
    unsigned __int128 product = (unsigned __int128)x * UINT64_C(0xe7037ed1a0b428db);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static size_t places_up(const struct interp_group *g) {
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++)
        n += g->places[i].up;
    return n;
}

// The member at the n-th place that is up.
static uint64_t nth_up(const struct interp_group *g, uint64_t n) {
    for (size_t i = 0;; i++)
        if (g->places[i].up && n-- == 0)
            return g->places[i].member;
}

static uint64_t steady(const struct interp_group *g, uint64_t hash, uint64_t first) {
    const uint64_t tries[] = {first, other(hash, 1), other(hash, 2)};
    for (unsigned i = 0; i < 3; i++)
        if (g->places[tries[i] % g->n].up)
            return g->places[tries[i] % g->n].member;
    size_t best = g->n;
    for (size_t i = 0; i < g->n; i++)
        if (g->places[i].up && (best == g->n || other(hash, 3 + i) >= other(hash, 3 + best)))
            best = i;
    return g->places[best].member;
}

// False: the group has nobody who is up.
static bool choose(const struct interp_group *g, enum ir_selector_mode mode, uint64_t hash,
                   uint64_t *member) {
    size_t up = places_up(g);
    uint64_t first = g->n <= 120 ? hash % 16384 : other(hash, 0);
    if (up == 0)
        return false;
    *member = mode == IR_SELECT_FAIR ? nth_up(g, first % up) : steady(g, hash, first);
    return true;
}

const struct interp_entry *interp_member(struct run *r, const struct ir_table *t,
                                         const struct interp_entry *e) {
    uint64_t id = e->data[0];
    if (e->refers == INTERP_GROUP) {
        const struct interp_group *g = group_of(&r->st->selectors[t->selector->id], id);
        interp_block(r, t->select);
        if (!g || !choose(g, t->selector->mode, interp_u64(r, t->select_hash), &id))
            return NULL;
    }
    const struct interp_table *members = &r->st->profiles[t->profile->id];
    for (size_t i = 0; i < members->n; i++)
        if (members->entries[i]->value[0] == id)
            return members->entries[i];
    interp_fail("reference to a member", (int)id, t->at);
}

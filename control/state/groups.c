// SPDX-License-Identifier: Apache-2.0
//
// groups: the groups of action selectors, and the bits that say who gets packets.
#include <stdlib.h>

#include "base/memory.h"
#include "control/state/state_impl.h"

struct groups {
    const struct sk_group **list;
    size_t n, room;
};

static bool state_groups_add(void *aux, const struct sk_group *g) {
    struct groups *all = aux;
    all->list = sk_grow(all->list, all->n, &all->room, sizeof *all->list);
    all->list[all->n++] = g;
    return true;
}

static int by_id(const void *a, const void *b) {
    const struct sk_group *x = *(const struct sk_group *const *)a,
                          *y = *(const struct sk_group *const *)b;
    return (x->id > y->id) - (x->id < y->id);
}

static struct groups groups_of(const struct sk_selector *s) {
    struct groups all = {0};
    sk_selector_each(s, state_groups_add, &all);
    if (all.n)
        qsort(all.list, all.n, sizeof *all.list, by_id);
    return all;
}

static bool same_group(const struct sk_group *a, const struct sk_group *b) {
    if (!b || a->max_size != b->max_size || a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (a->members[i].member != b->members[i].member || a->members[i].up != b->members[i].up)
            return false;
    return true;
}

static json_t *group_item(const struct sk_object *o, const struct sk_group *g) {
    json_t *members = json_array();
    for (uint32_t i = 0; i < g->n; i++)
        json_array_append_new(members,
                              json_pack("{s:I, s:b}", "member", (json_int_t)g->members[i].member,
                                        "up", g->members[i].up));
    return json_pack("{s:s, s:I, s:I, s:o}", "selector", sk_object_name(o), "id", (json_int_t)g->id,
                     "max_size", (json_int_t)g->max_size, "members", members);
}

static struct sk_selector *state_groups_selector_in(const struct state_walk *w,
                                                    const struct sk_object *o, unsigned pipe) {
    return sk_object_in_pipe(w->sw, o, pipe)
               ? o->desc->selector(sk_switch_pipe(w->sw, pipe), o->index)
               : NULL;
}

// Whether all pipes that have the selector have the group, and alike.
static bool everywhere(const struct state_walk *w, const struct sk_object *o,
                       const struct sk_group *g) {
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        struct sk_selector *s = state_groups_selector_in(w, o, pipe);
        if (s && !same_group(g, sk_selector_find(s, g->id)))
            return false;
    }
    return true;
}

static void state_groups_each(struct state_walk *w,
                              void (*fn)(struct state_walk *w, const struct sk_object *o,
                                         unsigned pipe, const struct sk_group *g)) {
    size_t n;
    struct sk_object *list = state_objects(w->sw, SK_SELECTOR, &n);
    for (size_t i = 0; i < n; i++)
        for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
            struct sk_selector *s = state_groups_selector_in(w, &list[i], pipe);
            struct groups all = s ? groups_of(s) : (struct groups){0};
            for (size_t k = 0; k < all.n; k++)
                fn(w, &list[i], pipe, all.list[k]);
            free(all.list);
        }
    free(list);
}

static void state_groups_write(struct state_walk *w, const struct sk_object *o, unsigned pipe,
                               const struct sk_group *g) {
    bool alike = everywhere(w, o, g);
    for (unsigned i = 0; alike && i < pipe; i++)
        if (sk_object_in_pipe(w->sw, o, i))
            return; // written with the first of them
    json_t *item = group_item(o, g);
    if (!alike)
        json_object_set_new(item, "pipe", json_integer(pipe));
    state_item(w, STATE_GROUPS, item);
}

void state_groups(struct state_walk *w) {
    state_groups_each(w, state_groups_write);
}

static void state_groups_write_bits(struct state_walk *w, const struct sk_object *o, unsigned pipe,
                                    const struct sk_group *g) {
    struct sk_selector *s = state_groups_selector_in(w, o, pipe);
    if (sk_selector_desc(s)->lines == 0)
        return;
    json_t *live = json_array();
    sk_pauses_begin(w->pauses);
    for (uint32_t i = 0; i < g->n; i++)
        json_array_append_new(live, json_boolean(sk_selector_bit(s, g->index[i])));
    sk_pauses_end(w->pauses);
    state_item(w, STATE_SELECTOR_BITS,
               json_pack("{s:s, s:i, s:I, s:o}", "selector", sk_object_name(o), "pipe", (int)pipe,
                         "id", (json_int_t)g->id, "live", live));
}

void state_selector_bits(struct state_walk *w) {
    state_groups_each(w, state_groups_write_bits);
}

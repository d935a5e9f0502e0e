// SPDX-License-Identifier: Apache-2.0
//
// regonce_seen: the accesses on the paths that regonce.c walks. See regonce_impl.h.
#include "compiler/rules/regonce_impl.h"

#define FANOUT (1u << SEEN_BITS)

void seen_init(struct check *c, const struct ir_gress *g) {
    size_t most = g->registers.n > g->counters.n ? g->registers.n : g->counters.n;
    most = most > g->meters.n ? most : g->meters.n;
    most = most > g->profiles.n ? most : g->profiles.n;
    for (c->levels = 1; ((size_t)1 << (c->levels * SEEN_BITS)) < most * ACCESS_KINDS; c->levels++)
        ;
    c->reported = ARENA_ARRAY(c->a, bool, most *ACCESS_KINDS + 1);
}

static unsigned seen_digit(unsigned slot, unsigned level) {
    return slot >> (level * SEEN_BITS) & (FANOUT - 1);
}

const struct access_list *seen_of(const struct check *c, const struct path *p, unsigned slot) {
    const void *at = p->seen;
    for (unsigned level = c->levels; at && level-- > 0;)
        at = ((const struct seen *)at)->below[seen_digit(slot, level)];
    return at;
}

static const struct access_list *access_append(struct check *c, const struct access_list *older,
                                               struct access *x) {
    struct access_list *l = ARENA_NEW(c->a, struct access_list);
    *l = (struct access_list){.access = x, .older = older, .n = older ? older->n + 1 : 1};
    return l;
}

static const void *seen_add(struct check *c, const void *tree, unsigned level, struct access *x) {
    if (level == 0)
        return access_append(c, tree, x);
    struct seen *copy = ARENA_NEW(c->a, struct seen);
    if (tree)
        *copy = *(const struct seen *)tree;
    const unsigned digit = seen_digit(x->slot, level - 1);
    copy->below[digit] = seen_add(c, copy->below[digit], level - 1, x);
    return copy;
}

void see(struct check *c, struct path *p, struct access *x) {
    p->seen = seen_add(c, p->seen, c->levels, x);
}

// The longest end that two lists have in common.
static const struct access_list *common_end(const struct access_list *x,
                                            const struct access_list *y) {
    while (x != y) {
        const size_t n = x ? x->n : 0, m = y ? y->n : 0;
        x = n >= m ? x->older : x;
        y = m >= n ? y->older : y;
    }
    return x;
}

static const struct access_list *unite_lists(struct check *c, const struct access_list *into,
                                             const struct access_list *from) {
    const struct access_list *common = common_end(into, from);
    const unsigned mark = ++c->last_mark;
    for (const struct access_list *l = into; l != common; l = l->older)
        l->access->mark = mark;
    c->met.n = 0;
    for (; from != common; from = from->older)
        if (from->access->mark != mark)
            VEC_PUSH(c->a, &c->met, from->access);
    while (c->met.n > 0)
        into = access_append(c, into, c->met.v[--c->met.n]);
    return into;
}

static const void *unite_seen(struct check *c, const void *into, const void *from, unsigned level) {
    if (into == from || !from)
        return into;
    if (!into)
        return from;
    if (level == 0)
        return unite_lists(c, into, from);
    const struct seen *x = into, *y = from;
    struct seen *copy = NULL; // made when something is different
    for (unsigned i = 0; i < FANOUT; i++) {
        const void *below = unite_seen(c, x->below[i], y->below[i], level - 1);
        if (below == x->below[i])
            continue;
        if (!copy) {
            copy = ARENA_NEW(c->a, struct seen);
            *copy = *x;
        }
        copy->below[i] = below;
    }
    return copy ? copy : into;
}

void merge(struct check *c, struct path *into, const struct path *from) {
    if (from->dead)
        return;
    into->seen = into->dead ? from->seen : unite_seen(c, into->seen, from->seen, c->levels);
    into->dead = false;
}

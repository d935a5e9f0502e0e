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

static struct interp_selector *selector_named(struct interp *ip, const char *name,
                                              const struct ir_selector **ir, uint64_t **memory) {
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < ip->pl->gress[k].selectors.n; i++) {
            *ir = ip->pl->gress[k].selectors.v[i];
            *memory = (*ir)->memory ? ip->gress[k].registers[(*ir)->memory->id] : NULL;
            if (strcmp((*ir)->name, name) == 0)
                return &ip->gress[k].selectors[i];
        }
    return NULL;
}

// ---- memory: one bit for each place (tna-facts 4.9; Silken's rules: stages/selector_bits.h) ----

// Groups are all as large as the selector allows and none is ever deleted here, so the driver's
// allocator goes down from the end of a RAM of 1024 lines, and then to the next RAM; the lines
// behind the last whole RAM come first.
static uint64_t line_of_group(const struct ir_selector *s, uint64_t lines, size_t nth) {
    uint64_t step = 1, total = s->memory->size / 128, end = total;
    while (step < lines)
        step *= 2;
    if (total % 1024 == 0)
        end = 1024;
    uint64_t in_first = end / step;
    if (nth >= in_first || (total % 1024 && total > 1024))
        abort(); // no program of these tests is so large
    return end / step * step - (nth + 1) * step;
}

static bool listed(const uint64_t *members, size_t n, uint64_t who, size_t times) {
    for (size_t i = 0; i < n && times > 0; i++)
        times -= members[2 * i] == who;
    return times == 0;
}

// How often 'who' is in a line.
static size_t in_line(const uint64_t *line, size_t n, uint64_t who) {
    size_t times = 0;
    for (size_t i = 0; i < n; i++)
        times += line[i] == who;
    return times;
}

// The line behind a change: who leaves, smallest first, is replaced by the last; then the new ones.
static void new_line(struct interp_group *g, const uint64_t *members, size_t n) {
    uint64_t *line = again(g->line, g->n + n, sizeof *line);
    size_t used = g->n;
    for (uint64_t who = 0; who < 64; who++)
        while (!listed(members, n, who, in_line(line, used, who)))
            for (size_t i = 0; i < used; i++)
                if (line[i] == who) {
                    line[i] = line[--used];
                    break;
                }
    for (size_t i = 0; i < n; i++)
        while (listed(members, n, members[2 * i], in_line(line, used, members[2 * i]) + 1))
            line[used++] = members[2 * i];
    g->line = line;
}

// The bit of the nth share of a member.
static uint64_t bit_in_line(const struct interp_group *g, size_t n, uint64_t who, size_t nth) {
    for (size_t i = 0; i < n; i++)
        if (g->line[i] == who && nth-- == 0)
            return g->first_line * 128 + i;
    abort();
}

static void write_memory(const struct ir_selector *s, uint64_t *memory, struct interp_group *g,
                         struct interp_place *now, size_t n) {
    uint64_t lines = (s->max_group_size + 119) / 120, each = (s->max_group_size - 1) / lines + 1;
    for (size_t i = 0; i < n; i++) {
        size_t nth = 0;
        for (size_t k = 0; k < i; k++)
            nth += now[k].member == now[i].member;
        now[i].bit = lines == 1 ? bit_in_line(g, n, now[i].member, nth)
                                : (g->first_line + i / (each < 65 ? 65 : each)) * 128 +
                                      i % (each < 65 ? 65 : each);
    }
    for (size_t i = 0; i < g->n; i++) {
        bool kept = false;
        for (size_t k = 0; k < n; k++)
            kept |= now[k].bit == g->places[i].bit;
        if (!kept)
            memory[g->places[i].bit] = 0;
    }
    for (size_t k = 0; k < n; k++) {
        bool same = false;
        for (size_t i = 0; i < g->n; i++)
            same |= g->places[i].bit == now[k].bit && g->places[i].member == now[k].member &&
                    g->places[i].up == now[k].up;
        if (!same)
            memory[now[k].bit] = now[k].up;
    }
}

// ---- writing ----

static struct interp_group *group_of(const struct interp_selector *s, uint64_t id) {
    for (size_t i = 0; s && i < s->n; i++)
        if (s->groups[i].id == id)
            return &s->groups[i];
    return NULL;
}

bool interp_has_group(struct interp *ip, const char *selector, uint64_t id) {
    const struct ir_selector *ir;
    uint64_t *memory;
    return group_of(selector_named(ip, selector, &ir, &memory), id) != NULL;
}

void interp_set_group(struct interp *ip, const char *selector, uint64_t id, const uint64_t *members,
                      size_t n) {
    const struct ir_selector *ir;
    uint64_t *memory;
    struct interp_selector *s = selector_named(ip, selector, &ir, &memory);
    struct interp_group *g = group_of(s, id);
    if (!g) {
        s->groups = again(s->groups, s->n + 1, sizeof *s->groups);
        g = &s->groups[s->n++];
        *g = (struct interp_group){.id = id};
        if (memory)
            g->first_line = line_of_group(ir, (ir->max_group_size + 119) / 120, s->n - 1);
    }
    struct interp_place *now = again(NULL, n, sizeof *now);
    for (size_t i = 0; i < n; i++)
        now[i] = (struct interp_place){members[2 * i], members[2 * i + 1] != 0, 0};
    new_line(g, members, n);
    if (memory)
        write_memory(ir, memory, g, now, n);
    free(g->places);
    g->places = now;
    g->n = n;
}

void interp_free_selector(struct interp_selector *s) {
    for (size_t i = 0; i < s->n; i++) {
        free(s->groups[i].places);
        free(s->groups[i].line);
    }
    free(s->groups);
}

// ---- choosing ----

// Other numbers from a hash: the two halves of a product, added without carries.
static uint64_t other(uint64_t hash, uint64_t salt) {
    uint64_t x = salt * UINT64_C(0x9e3779b97f4a7c15) ^ hash ^ UINT64_C(0xa0761d6478bd642f);
    unsigned __int128 product = (unsigned __int128)x * UINT64_C(0xe7037ed1a0b428db);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

// Who gets packets: by the memory if there is one.
static struct interp_group as_it_is(const struct interp_group *g, const uint64_t *memory) {
    struct interp_group now = *g;
    now.places = again(NULL, g->n, sizeof *now.places);
    for (size_t i = 0; i < g->n; i++) {
        now.places[i] = g->places[i];
        if (memory)
            now.places[i].up = memory[g->places[i].bit];
    }
    return now;
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
        const struct ir_register *memory = t->selector->memory;
        interp_block(r, t->select);
        if (!g)
            return NULL;
        struct interp_group now = as_it_is(g, memory ? r->st->registers[memory->id] : NULL);
        bool any = choose(&now, t->selector->mode, interp_u64(r, t->select_hash), &id);
        free(now.places);
        if (!any)
            return NULL;
    }
    const struct interp_table *members = &r->st->profiles[t->profile->id];
    for (size_t i = 0; i < members->n; i++)
        if (members->entries[i]->value[0] == id)
            return members->entries[i];
    interp_fail("reference to a member", (int)id, t->at);
}

// SPDX-License-Identifier: Apache-2.0
//
// selector: groups of action profile members. What they promise is in selector.h.
//
// The groups are the entries of a table of their own, with the group's id as key and the address of
// its latest version as data: replacing a group is changing that entry, so readers see one version
// or the other. References by entries are counted in the record beside it.
#include "stages/selector.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "stages/selector_bits.h"
#include "stages/table_impl.h"

#define LINE_MEMBERS  120u // members that one line of selector memory holds
#define LINE_HASH     14u  // bits of the hash that choose among them
#define RESILIENT_TRY 3u

// What does not change with the group's versions.
struct group_refs {
    uint32_t entries;
};

struct sk_selector {
    const struct sk_selector_desc *desc;
    struct sk_table *members;
    struct sk_table *groups; // entry data: the group, its references
    struct sk_table_desc table_desc;
    struct sk_group *retired;
    struct sk_selector_bits *bits; // null: no memory
};

static const struct sk_field_desc member_id[] = {{.name = "$ACTION_MEMBER_ID", .width = 32}};
static const struct sk_field_desc group_id[] = {{.name = "$SELECTOR_GROUP_ID", .width = 32}};
const struct sk_action_desc sk_member_reference = {.name = "$ACTION_MEMBER_ID",
                                                   .params = member_id,
                                                   .n_params = 1,
                                                   .data_words = 1,
                                                   .refers = SK_REFERS_MEMBER};
const struct sk_action_desc sk_group_reference = {.name = "$SELECTOR_GROUP_ID",
                                                  .params = group_id,
                                                  .n_params = 1,
                                                  .data_words = 1,
                                                  .refers = SK_REFERS_GROUP};

static const struct sk_field_desc id_key[] = {
    {.name = "$SELECTOR_GROUP_ID", .width = 32, .match = SK_EXACT}};
static const struct sk_field_desc address[] = {{.name = "group", .width = 64},
                                               {.name = "references", .width = 64}};
static const struct sk_action_desc record = {
    .name = "group", .params = address, .n_params = 2, .data_words = 2};
static const struct sk_action_desc *const records[] = {&record};
static const uint64_t no_record[2];

// --------------------------------------------------------------------------------------------
// Groups.

static struct sk_group *group_new(uint32_t id, uint32_t max_size,
                                  const struct sk_group_member *members, uint32_t n) {
    size_t lists = n * (sizeof *members + 3 * sizeof(uint32_t));
    struct sk_group *g = calloc(1, sizeof *g + lists);
    if (!g)
        return NULL;
    g->id = id;
    g->max_size = max_size;
    g->n = n;
    g->members = (struct sk_group_member *)(g + 1);
    g->up = (uint32_t *)(g->members + n);
    g->index = g->up + n;
    g->place = g->index + n;
    for (uint32_t i = 0; i < n; i++) {
        g->members[i] = members[i];
        if (members[i].up)
            g->up[g->n_up++] = members[i].member;
    }
    return g;
}

static struct sk_group *selector_group_of(const struct sk_entry *e) {
    return (struct sk_group *)(uintptr_t)e->data[0];
}

static struct group_refs *refs_of(const struct sk_entry *e) {
    return (struct group_refs *)(uintptr_t)e->data[1];
}

static struct sk_entry *selector_find(const struct sk_selector *s, uint64_t id) {
    return sk_lookup_hash(s->groups, &id, 1);
}

static void release_members(struct sk_selector *s, const struct sk_group *g, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        sk_table_release(s->members, g->members[i].member);
}

// Holds all its members, or none; finds their common action.
static int hold_members(struct sk_selector *s, struct sk_group *g) {
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t action;
        int error = sk_table_hold(s->members, g->members[i].member, &action);
        if (!error && i > 0 && action != g->action) {
            error = SK_E_ACTIONS;
            sk_table_release(s->members, g->members[i].member);
        }
        if (error) {
            release_members(s, g, i);
            return error;
        }
        g->action = action;
    }
    return SK_OK;
}

// A group with its members held and placed.
static int selector_make(struct sk_selector *s, const struct sk_group *old, uint32_t id,
                         uint32_t max_size, const struct sk_group_member *members, uint32_t n,
                         struct sk_group **out) {
    if (max_size > s->desc->max_group_size || n > max_size)
        return SK_E_GROUP_SIZE;
    struct sk_group *g = group_new(id, max_size, members, n);
    int error = g ? hold_members(s, g) : SK_E_MEMORY;
    if (!error && s->bits && !sk_bits_place(s->bits, g, old)) {
        release_members(s, g, g->n);
        error = SK_E_LINES;
    }
    if (error)
        free(g);
    else
        *out = g;
    return error;
}

static void unmake(struct sk_selector *s, struct sk_group *g, const struct sk_group *old) {
    if (s->bits)
        sk_bits_unplace(s->bits, g, old);
    release_members(s, g, g->n);
    free(g);
}

static void selector_write_bits(struct sk_selector *s, const struct sk_group *g,
                                const struct sk_group *old) {
    if (s->bits)
        sk_bits_write(s->bits, g, old);
}

static void retire(struct sk_selector *s, struct sk_group *g) {
    g->next_retired = s->retired;
    s->retired = g;
}

int sk_selector_add(struct sk_selector *s, uint32_t id, uint32_t max_size,
                    const struct sk_group_member *members, uint32_t n) {
    const uint64_t key = id;
    struct sk_group *g;
    if (selector_find(s, id))
        return SK_E_EXISTS;
    struct group_refs *refs = calloc(1, sizeof *refs);
    if (!refs)
        return SK_E_MEMORY;
    int error =
        selector_make(s, NULL, id, max_size ? max_size : s->desc->max_group_size, members, n, &g);
    if (!error) {
        const uint64_t data[2] = {(uintptr_t)g, (uintptr_t)refs};
        error = sk_table_add(s->groups, &key, NULL, 0, 0, data);
        if (error)
            unmake(s, g, NULL);
        else
            selector_write_bits(s, g, NULL);
    }
    if (error)
        free(refs);
    return error;
}

// What entries rely on must stay.
static int still_good(const struct sk_entry *e, const struct sk_group *now) {
    if (refs_of(e)->entries == 0)
        return SK_OK;
    if (now->n_up == 0)
        return SK_E_EMPTY;
    return now->action == selector_group_of(e)->action ? SK_OK : SK_E_ACTIONS;
}

static int next_version(struct sk_selector *s, struct sk_entry *e, uint32_t id, uint32_t max_size,
                        const struct sk_group_member *members, uint32_t n, struct sk_group **out) {
    struct sk_group *old = selector_group_of(e);
    int error = selector_make(s, old, id, max_size ? max_size : old->max_size, members, n, out);
    if (error)
        return error;
    (*out)->has_offset = old->has_offset;
    (*out)->offset = old->offset;
    error = still_good(e, *out);
    if (error)
        unmake(s, *out, old);
    return error;
}

int sk_selector_may_modify(struct sk_selector *s, uint32_t id, uint32_t max_size,
                           const struct sk_group_member *members, uint32_t n) {
    struct sk_entry *e = selector_find(s, id);
    struct sk_group *g;
    int error = e ? next_version(s, e, id, max_size, members, n, &g) : SK_E_NO_GROUP;
    if (!error)
        unmake(s, g, selector_group_of(e));
    return error;
}

int sk_selector_modify(struct sk_selector *s, uint32_t id, uint32_t max_size,
                       const struct sk_group_member *members, uint32_t n) {
    const uint64_t key = id;
    struct sk_entry *e = selector_find(s, id);
    struct sk_group *g;
    if (!e)
        return SK_E_NO_GROUP;
    struct sk_group *old = selector_group_of(e);
    int error = next_version(s, e, id, max_size, members, n, &g);
    if (error)
        return error;
    const uint64_t data[2] = {(uintptr_t)g, (uintptr_t)refs_of(e)};
    error = sk_table_modify(s->groups, &key, NULL, 0, 0, data);
    if (error) {
        unmake(s, g, old);
        return error;
    }
    selector_write_bits(s, g, old);
    release_members(s, old, old->n);
    retire(s, old);
    return SK_OK;
}

int sk_selector_may_delete(const struct sk_selector *s, uint32_t id) {
    const struct sk_entry *e = selector_find(s, id);
    if (!e)
        return SK_E_NO_GROUP;
    return refs_of(e)->entries ? SK_E_IN_USE : SK_OK;
}

int sk_selector_delete(struct sk_selector *s, uint32_t id) {
    const uint64_t key = id;
    int error = sk_selector_may_delete(s, id);
    if (error)
        return error;
    struct sk_entry *e = selector_find(s, id);
    struct sk_group *g = selector_group_of(e);
    struct group_refs *refs = refs_of(e);
    error = sk_table_delete(s->groups, &key, NULL, 0);
    if (error)
        return error;
    free(refs); // readers do not look at it
    selector_write_bits(s, NULL, g);
    release_members(s, g, g->n);
    retire(s, g);
    return SK_OK;
}

static bool entry_is_held(void *aux, const struct sk_entry *e) {
    bool *any = aux;
    *any |= refs_of(e)->entries > 0;
    return !*any;
}

static bool first_id(void *aux, const struct sk_entry *e) {
    *(uint32_t *)aux = selector_group_of(e)->id;
    return false;
}

int sk_selector_may_clear(const struct sk_selector *s) {
    bool in_use = false;
    sk_table_each(s->groups, entry_is_held, &in_use);
    return in_use ? SK_E_IN_USE : SK_OK;
}

int sk_selector_clear(struct sk_selector *s) {
    if (sk_selector_may_clear(s))
        return SK_E_IN_USE;
    while (sk_table_count(s->groups) > 0) {
        uint32_t id;
        sk_table_each(s->groups, first_id, &id);
        sk_selector_delete(s, id);
    }
    return SK_OK;
}

// --------------------------------------------------------------------------------------------
// References by entries.

int sk_selector_may_hold(const struct sk_selector *s, uint32_t id) {
    const struct sk_entry *e = selector_find(s, id);
    if (!e)
        return SK_E_NO_GROUP;
    return selector_group_of(e)->n_up ? SK_OK : SK_E_EMPTY;
}

int sk_selector_hold(struct sk_selector *s, uint32_t id) {
    int error = sk_selector_may_hold(s, id);
    if (!error)
        refs_of(selector_find(s, id))->entries++;
    return error;
}

void sk_selector_release(struct sk_selector *s, uint32_t id) {
    struct sk_entry *e = selector_find(s, id);
    assert(e && refs_of(e)->entries > 0);
    refs_of(e)->entries--;
}

// --------------------------------------------------------------------------------------------
// Choosing.

// Other random numbers from the same hash.
static uint64_t selector_mix(uint64_t hash, uint64_t salt) {
    return sk_hash_mix(salt * UINT64_C(0x9e3779b97f4a7c15), hash);
}

static uint64_t first_number(const struct sk_group *g, uint64_t hash) {
    return g->n <= LINE_MEMBERS ? hash & sk_mask(LINE_HASH) : selector_mix(hash, 0);
}

static bool is_up(const struct sk_selector *s, const struct sk_group *g, uint32_t i) {
    return s->bits ? sk_bit(s->bits, g->index[i]) : g->members[i].up;
}

static uint32_t largest_mix(const struct sk_selector *s, const struct sk_group *g, uint64_t hash) {
    uint32_t best = 0;
    uint64_t largest = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        uint64_t m = selector_mix(hash, RESILIENT_TRY + i);
        if (is_up(s, g, i) && m >= largest) {
            largest = m;
            best = i;
        }
    }
    return g->members[best].member;
}

static uint32_t choose_resilient(const struct sk_selector *s, const struct sk_group *g,
                                 uint64_t hash) {
    for (uint32_t try = 0; try < RESILIENT_TRY; try++) {
        uint64_t number = try == 0 ? first_number(g, hash) : selector_mix(hash, try);
        uint32_t i = (uint32_t)(number % g->n);
        if (is_up(s, g, i))
            return g->members[i].member;
    }
    return largest_mix(s, g, hash);
}

static uint32_t choose_fair(const struct sk_selector *s, const struct sk_group *g, uint32_t n_up,
                            uint64_t hash) {
    uint64_t left = first_number(g, hash) % n_up;
    if (!s->bits)
        return g->up[left];
    for (uint32_t i = 0;; i++)
        if (is_up(s, g, i) && left-- == 0)
            return g->members[i].member;
}

bool sk_selector_choose(const struct sk_selector *s, uint32_t id, uint64_t hash, uint32_t *member) {
    const struct sk_entry *e = selector_find(s, id);
    const struct sk_group *g = e ? selector_group_of(e) : NULL;
    uint32_t n_up = 0;
    for (uint32_t i = 0; g && s->bits && i < g->n; i++)
        n_up += is_up(s, g, i);
    if (g && !s->bits)
        n_up = g->n_up;
    if (n_up == 0)
        return false;
    *member = s->desc->mode == SK_SELECT_FAIR ? choose_fair(s, g, n_up, hash)
                                              : choose_resilient(s, g, hash);
    return true;
}

struct sk_entry *sk_selector_pick(const struct sk_selector *s, uint32_t id, uint64_t hash) {
    uint32_t member;
    return sk_selector_choose(s, id, hash, &member) ? sk_lookup_member(s->members, member) : NULL;
}

// --------------------------------------------------------------------------------------------
// Reading back.

const struct sk_selector_desc *sk_selector_desc(const struct sk_selector *s) {
    return s->desc;
}

void sk_selector_set_offset(struct sk_selector *s, uint32_t id, bool has_offset, uint32_t offset) {
    struct sk_group *g = selector_group_of(selector_find(s, id));
    g->has_offset = has_offset;
    g->offset = offset;
}

const struct sk_group *sk_selector_find(const struct sk_selector *s, uint32_t id) {
    const struct sk_entry *e = selector_find(s, id);
    return e ? selector_group_of(e) : NULL;
}

size_t sk_selector_count(const struct sk_selector *s) {
    return sk_table_count(s->groups);
}

struct each {
    bool (*fn)(void *aux, const struct sk_group *g);
    void *aux;
};

static bool selector_each_group(void *aux, const struct sk_entry *e) {
    struct each *each = aux;
    return each->fn(each->aux, selector_group_of(e));
}

void sk_selector_each(const struct sk_selector *s, bool (*fn)(void *aux, const struct sk_group *g),
                      void *aux) {
    sk_table_each(s->groups, selector_each_group, &(struct each){fn, aux});
}

void sk_selector_quiesce(struct sk_selector *s) {
    sk_table_quiesce(s->groups);
    for (struct sk_group *g; (g = s->retired) != NULL;) {
        s->retired = g->next_retired;
        free(g);
    }
}

// --------------------------------------------------------------------------------------------
// Making and freeing.

struct sk_selector *sk_selector_new(const struct sk_selector_desc *desc, struct sk_table *members) {
    struct sk_selector *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->desc = desc;
    s->members = members;
    s->table_desc = (struct sk_table_desc){
        .name = desc->name,
        .keys = id_key,
        .n_keys = 1,
        .key_words = 1,
        .actions = records,
        .n_actions = 1,
        .default_data = no_record,
        .size = desc->n_groups,
    };
    s->groups = sk_table_new(&s->table_desc);
    if (!s->groups) {
        free(s);
        return NULL;
    }
    return s;
}

bool sk_selector_set_memory(struct sk_selector *s, void *cells, size_t stride) {
    assert(!s->bits && sk_table_count(s->groups) == 0);
    struct sk_selector_bits *b = calloc(1, sizeof *b + s->desc->lines);
    if (!b)
        return false;
    *b = (struct sk_selector_bits){
        .cells = cells, .stride = stride, .n_lines = s->desc->lines, .used = (uint8_t *)(b + 1)};
    s->bits = b;
    return true;
}

bool sk_selector_bit(const struct sk_selector *s, uint32_t index) {
    return sk_bit(s->bits, index);
}

void sk_selector_set_bit(struct sk_selector *s, uint32_t index, bool up) {
    s->bits->cells[index * s->bits->stride] = up;
    sk_tables_changed();
}

static bool selector_free_group(void *aux, const struct sk_entry *e) {
    (void)aux;
    free(refs_of(e));
    free(selector_group_of(e));
    return true;
}

void sk_selector_free(struct sk_selector *s) {
    if (!s)
        return;
    sk_table_each(s->groups, selector_free_group, NULL);
    sk_selector_quiesce(s);
    sk_table_free(s->groups);
    free(s->bits);
    free(s);
}

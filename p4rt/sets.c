// SPDX-License-Identifier: Apache-2.0
//
// Sets of actions in entries (P4Runtime specification, section 9.2.3, "one shot"). A set becomes a
// group with a member for each of its actions, under ids that no client chose: they count against
// the sizes of the selector and of its profile as others do, and are known here by a mark for each
// id, so that clients read sets and not what they became. A selector has either sets or members
// and groups of clients, and a profile whose entries another service deleted gives its ids back
// when somebody needs them.
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "p4rt/p4rt_impl.h"

#define SETS_FIRST UINT32_C(0xc0000000) // of the ids

struct sets_ids {
    bool *used; // room: by id - SETS_FIRST
    uint32_t room, n, next;
};
struct p4rt_sets {
    struct sets_ids groups, members;
    bool swept; // in this pause
};
struct p4rt_set {
    uint32_t n, action; // actions: all have this one, with arguments of their own
    uint64_t **data;
    uint32_t *weights;
    uint32_t *ids; // of the members that they become
    struct p4rt_watch *watches;
    uint32_t total;
    struct sk_group_member *members; // total: the group's
};

struct p4rt_sets *p4rt_sets_new(void) {
    struct p4rt_sets *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    return s;
}

void p4rt_sets_free(struct p4rt_sets *s) {
    if (!s)
        return;
    free(s->groups.used);
    free(s->members.used);
    free(s);
}

// ---- ids ----

static bool sets_has(const struct sets_ids *ids, uint64_t id) {
    return id >= SETS_FIRST && id - SETS_FIRST < ids->room && ids->used[id - SETS_FIRST];
}

static void sets_drop_id(struct sets_ids *ids, uint32_t id) {
    ids->n -= ids->used[id - SETS_FIRST];
    ids->used[id - SETS_FIRST] = false;
}

// A free id, of 'most' at most; 0: all are taken.
static uint32_t sets_take_id(struct sets_ids *ids, uint64_t most) {
    if (most > ids->room) {
        ids->used = sk_resize(ids->used, most, 1);
        memset(ids->used + ids->room, 0, most - ids->room);
        ids->room = (uint32_t)most;
    }
    if (ids->n >= most)
        return 0;
    do
        ids->next = ids->next + 1 < ids->room ? ids->next + 1 : 0;
    while (ids->used[ids->next]);
    ids->used[ids->next] = true;
    ids->n++;
    return SETS_FIRST + ids->next;
}

bool p4rt_sets_have_member(const struct p4rt_profile *profile, uint64_t id) {
    return profile->sets && sets_has(&profile->sets->members, id);
}

bool p4rt_sets_have_group(const struct p4rt_profile *profile, uint64_t id) {
    return profile->sets && sets_has(&profile->sets->groups, id);
}

// ---- resolving ----

static enum rpc_status sets_watch(const struct p4rt *p, const P4__V1__ActionProfileAction *a,
                                  struct p4rt_watch *out, struct sk_error *err) {
    const bool bytes = a->watch_kind_case == P4__V1__ACTION_PROFILE_ACTION__WATCH_KIND_WATCH_PORT;
    const bool number = a->watch_kind_case == P4__V1__ACTION_PROFILE_ACTION__WATCH_KIND_WATCH;
    return p4rt_watch_read(p, bytes ? &a->watch_port : NULL, number ? a->watch : 0, out, err);
}

static enum rpc_status sets_check_action(const struct p4rt_table *t,
                                         const P4__V1__ActionProfileAction *a,
                                         struct sk_error *err) {
    const char *name = t->info->preamble->name;
    if (!a->action)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "table '%s': an action of the set is missing",
                         name);
    if (a->weight <= 0)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "an action's weight is above 0");
    for (size_t i = 0; i < t->info->n_action_refs; i++)
        if (t->info->action_refs[i]->id == a->action->action_id &&
            t->info->action_refs[i]->scope != P4__CONFIG__V1__ACTION_REF__SCOPE__DEFAULT_ONLY)
            return RPC_OK;
    return p4rt_fail(err, RPC_INVALID_ARGUMENT, "table '%s': its entries have no action %u", name,
                     a->action->action_id);
}

static enum rpc_status sets_resolve_one(struct p4rt *p, const struct p4rt_table *t,
                                        const P4__V1__ActionProfileAction *a, struct p4rt_set *s,
                                        struct sk_error *err) {
    struct brt_change one = {0};
    enum rpc_status status = sets_check_action(t, a, err);
    status = status ? status : p4rt_action(p, t->profile->members, a->action, &one, err);
    status = status ? status : sets_watch(p, a, &s->watches[s->n], err);
    if (status)
        return status;
    if (s->n > 0 && one.action != s->action)
        return p4rt_fail(err, RPC_UNIMPLEMENTED,
                         "table '%s': the actions of a set are one action with several arguments",
                         t->info->preamble->name);
    s->action = one.action;
    s->weights[s->n] = (uint32_t)a->weight;
    s->data[s->n++] = one.data;
    return RPC_OK;
}

enum rpc_status p4rt_set_resolve(struct p4rt *p, const struct p4rt_table *t,
                                 const P4__V1__ActionProfileActionSet *asked, struct p4rt_set **out,
                                 struct sk_error *err) {
    const struct p4rt_profile *profile = t->profile;
    const char *name = t->info->preamble->name;
    struct brt_memory *m = brt_scratch_memory(p->b);
    const size_t n = asked->n_action_profile_actions;
    struct brt_change c;
    enum rpc_status status = p4rt_begin(p, profile->groups, P4__V1__UPDATE__TYPE__INSERT, &c, err);
    if (status)
        return status;
    const uint32_t most =
        sk_selector_desc(brt_selector_in(p->b, c.table, c.pipes.list[0]))->max_group_size;
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += asked->action_profile_actions[i]->weight > 0
                     ? (uint64_t)asked->action_profile_actions[i]->weight
                     : 1;
    if (n == 0 || total > most)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                         n ? "table '%s': the weights of a set are together at most %u"
                           : "table '%s': a set has an action, and at most %u",
                         name, most);
    struct p4rt_set *s = *out = brt_take(m, sizeof *s);
    if (!s)
        return p4rt_no_memory(err);
    s->data = brt_take(m, n * sizeof *s->data);
    s->weights = brt_take(m, n * sizeof *s->weights);
    s->ids = brt_take(m, n * sizeof *s->ids);
    s->watches = brt_take(m, n * sizeof *s->watches);
    s->members = brt_take(m, total * sizeof *s->members);
    s->total = (uint32_t)total;
    if (!s->data || !s->weights || !s->ids || !s->watches || !s->members)
        return p4rt_no_memory(err);
    for (size_t i = 0; status == RPC_OK && i < n; i++)
        status = sets_resolve_one(p, t, asked->action_profile_actions[i], s, err);
    return status;
}

uint32_t p4rt_set_size(const struct p4rt_set *s) {
    return s->n;
}

// ---- members and groups: in a pause ----

static enum rpc_status sets_write_member(struct p4rt *p, const struct p4rt_profile *profile,
                                         P4__V1__Update__Type type, uint32_t id,
                                         const struct p4rt_set *s, uint32_t k,
                                         struct sk_error *err) {
    struct brt_change c;
    uint64_t key = id;
    bool existed;
    const enum rpc_status status = p4rt_begin(p, profile->members, type, &c, err);
    if (status)
        return status;
    c.value = &key;
    c.has_key = true;
    if (s) {
        c.has_action = true;
        c.action = s->action;
        c.data = s->data[k];
    }
    return brt_rpc_status(brt_apply(p->b, &c, &existed, err));
}

static enum rpc_status sets_write_group(struct p4rt *p, const struct p4rt_profile *profile,
                                        P4__V1__Update__Type type, uint32_t id,
                                        struct sk_group_member *members, uint32_t n,
                                        struct sk_error *err) {
    struct brt_change c;
    bool existed;
    const enum rpc_status status = p4rt_begin(p, profile->groups, type, &c, err);
    if (status)
        return status;
    c.index = id;
    c.has_key = true;
    c.members = members;
    c.n_members = n;
    c.has_members = members;
    return brt_rpc_status(brt_apply(p->b, &c, &existed, err));
}

// Of the first pipe: sets are the same in all.
static struct sk_selector *sets_selector(struct p4rt *p, const struct p4rt_profile *profile) {
    struct brt_change c;
    struct sk_error err;
    p4rt_begin(p, profile->groups, P4__V1__UPDATE__TYPE__MODIFY, &c, &err);
    return brt_selector_in(p->b, profile->groups, c.pipes.list[0]);
}

static struct sk_table *sets_members(struct p4rt *p, const struct p4rt_profile *profile) {
    struct brt_change c;
    struct sk_error err;
    p4rt_begin(p, profile->members, P4__V1__UPDATE__TYPE__MODIFY, &c, &err);
    return brt_table_in(p->b, profile->members, c.pipes.list[0]);
}

// Nothing names it any more.
static void sets_drop_member(struct p4rt *p, const struct p4rt_profile *profile, uint32_t id) {
    struct sk_error err;
    const enum rpc_status status =
        sets_write_member(p, profile, P4__V1__UPDATE__TYPE__DELETE, id, NULL, 0, &err);
    if (status == RPC_OK || status == RPC_NOT_FOUND)
        sets_drop_id(&profile->sets->members, id);
}

// The members of a group, once for each action of the set, in memory of the scratch. False: short.
struct sets_old {
    struct sk_group_member *members;
    uint32_t *ids;
    uint32_t n_members, n;
};

static bool sets_look(struct p4rt *p, const struct sk_group *g, struct sets_old *out) {
    struct brt_memory *m = brt_scratch_memory(p->b);
    *out = (struct sets_old){.n_members = g->n};
    out->members = brt_take(m, (g->n + 1) * sizeof *out->members);
    out->ids = brt_take(m, (g->n + 1) * sizeof *out->ids);
    if (!out->members || !out->ids)
        return false;
    for (uint32_t i = 0; i < g->n; i++) {
        out->members[i] = g->members[i];
        if (i == 0 || g->members[i].member != g->members[i - 1].member)
            out->ids[out->n++] = g->members[i].member;
    }
    return true;
}

static void sets_drop_group(struct p4rt *p, const struct p4rt_profile *profile, uint32_t id) {
    const struct sk_group *g = sk_selector_find(sets_selector(p, profile), id);
    struct sk_error err;
    struct sets_old old = {0};
    const bool seen = !g || sets_look(p, g, &old); // else its members go when room is needed
    const enum rpc_status status =
        sets_write_group(p, profile, P4__V1__UPDATE__TYPE__DELETE, id, NULL, 0, &err);
    if (status && status != RPC_NOT_FOUND)
        return;
    sets_drop_id(&profile->sets->groups, id);
    p4rt_watch_drop(p, profile, id);
    for (uint32_t i = 0; seen && i < old.n; i++)
        if (p4rt_sets_have_member(profile, old.ids[i]))
            sets_drop_member(p, profile, old.ids[i]);
}

// What no entry needs: another service deleted the entry, or more than that. Once in a pause.
static void sets_sweep(struct p4rt *p, const struct p4rt_profile *profile) {
    struct p4rt_sets *s = profile->sets;
    if (s->swept)
        return;
    s->swept = true;
    for (uint32_t i = 0; s->groups.n && i < s->groups.room; i++)
        if (s->groups.used[i] &&
            sk_selector_may_delete(sets_selector(p, profile), SETS_FIRST + i) != SK_E_IN_USE)
            sets_drop_group(p, profile, SETS_FIRST + i);
    for (uint32_t i = 0; s->members.n && i < s->members.room; i++)
        if (s->members.used[i])
            sets_drop_member(p, profile, SETS_FIRST + i);
}

// ---- either sets, or members and groups ----

static bool sets_others_exist(struct p4rt *p, const struct p4rt_profile *profile) {
    return sk_table_count(sets_members(p, profile)) != profile->sets->members.n ||
           sk_selector_count(sets_selector(p, profile)) != profile->sets->groups.n;
}

static enum rpc_status sets_may_set(struct p4rt *p, const struct p4rt_profile *profile,
                                    struct sk_error *err) {
    if (sets_others_exist(p, profile))
        sets_sweep(p, profile);
    if (!sets_others_exist(p, profile))
        return RPC_OK;
    return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                     "action profile '%s' has members or groups: its tables' entries have no sets "
                     "of actions besides",
                     profile->info->preamble->name);
}

enum rpc_status p4rt_sets_may_name(struct p4rt *p, const struct p4rt_profile *profile,
                                   struct sk_error *err) {
    if (profile->sets && profile->sets->groups.n)
        sets_sweep(p, profile);
    if (!profile->sets || !profile->sets->groups.n)
        return RPC_OK;
    return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                     "action profile '%s': entries have sets of actions, so there are no members "
                     "and groups besides",
                     profile->info->preamble->name);
}

// ---- sets in entries: in a pause ----

// Members for the actions from 'from' on, or none.
static enum rpc_status sets_make_members(struct p4rt *p, const struct p4rt_profile *profile,
                                         struct p4rt_set *s, uint32_t from, struct sk_error *err) {
    struct sets_ids *ids = &profile->sets->members;
    const uint64_t size = profile->members->size;
    enum rpc_status status = RPC_OK;
    uint32_t k = from;
    if (ids->n + (s->n - from) > size)
        sets_sweep(p, profile);
    if (ids->n + (s->n - from) > size)
        return p4rt_fail(err, RPC_RESOURCE_EXHAUSTED,
                         "action profile '%s' is full: it holds %llu actions",
                         profile->info->preamble->name, (unsigned long long)size);
    for (; k < s->n; k++) {
        s->ids[k] = sets_take_id(ids, size);
        status = sets_write_member(p, profile, P4__V1__UPDATE__TYPE__INSERT, s->ids[k], s, k, err);
        if (status == RPC_OK)
            continue;
        sets_drop_id(ids, s->ids[k]);
        break;
    }
    while (status && k-- > from)
        sets_drop_member(p, profile, s->ids[k]);
    return status;
}

static void sets_fill(struct p4rt_set *s) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->n; k++)
        for (uint32_t i = 0; i < s->weights[k]; i++)
            s->members[n++] = (struct sk_group_member){
                .member = s->ids[k], .up = !s->watches[k].wanted || s->watches[k].up};
}

static void sets_watch_all(struct p4rt *p, const struct p4rt_profile *profile,
                           const struct p4rt_set *s, uint32_t group) {
    p4rt_watch_drop(p, profile, group);
    for (uint32_t k = 0; k < s->n; k++)
        p4rt_watch_add(p, profile, group, s->ids[k], &s->watches[k]);
}

static enum rpc_status sets_make(struct p4rt *p, const struct p4rt_profile *profile,
                                 struct p4rt_set *s, uint32_t *group, struct sk_error *err) {
    const uint32_t most = sk_selector_desc(sets_selector(p, profile))->n_groups;
    if (profile->sets->groups.n >= most)
        sets_sweep(p, profile);
    if (profile->sets->groups.n >= most)
        return p4rt_fail(err, RPC_RESOURCE_EXHAUSTED,
                         "action profile '%s' is full: entries have %u sets of actions",
                         profile->info->preamble->name, most);
    enum rpc_status status = sets_make_members(p, profile, s, 0, err);
    if (status)
        return status;
    sets_fill(s);
    *group = sets_take_id(&profile->sets->groups, most);
    status = sets_write_group(p, profile, P4__V1__UPDATE__TYPE__INSERT, *group, s->members,
                              s->total, err);
    if (status == RPC_OK) {
        sets_watch_all(p, profile, s, *group);
        return RPC_OK;
    }
    sets_drop_id(&profile->sets->groups, *group);
    for (uint32_t k = 0; k < s->n; k++)
        sets_drop_member(p, profile, s->ids[k]);
    return status;
}

static enum rpc_status sets_apply_new(struct p4rt *p, const struct p4rt_profile *profile,
                                      struct p4rt_set *s, struct brt_change *c,
                                      struct sk_error *err) {
    uint32_t group = 0;
    bool existed;
    enum rpc_status status = sets_make(p, profile, s, &group, err);
    if (status)
        return status;
    *c->data = group;
    status = brt_rpc_status(brt_apply(p->b, c, &existed, err));
    if (status)
        sets_drop_group(p, profile, group);
    return status;
}

// The entry keeps its group, which gets other members: what there are serve again, so this needs
// no more room than the new set. All must be one action with those before.
static enum rpc_status sets_apply_again(struct p4rt *p, const struct p4rt_profile *profile,
                                        struct p4rt_set *s, uint32_t group,
                                        const struct sets_old *old, struct brt_change *c,
                                        struct sk_error *err) {
    const uint32_t kept = s->n < old->n ? s->n : old->n;
    struct sk_error unheard;
    bool existed;
    memcpy(s->ids, old->ids, kept * sizeof *s->ids);
    enum rpc_status status = sets_make_members(p, profile, s, kept, err);
    if (status)
        return status;
    sets_fill(s);
    status = sets_write_group(p, profile, P4__V1__UPDATE__TYPE__MODIFY, group, s->members, s->total,
                              err);
    *c->data = group;
    if (status == RPC_OK) {
        status = brt_rpc_status(brt_apply(p->b, c, &existed, err));
        if (status)
            sets_write_group(p, profile, P4__V1__UPDATE__TYPE__MODIFY, group, old->members,
                             old->n_members, &unheard);
    }
    for (uint32_t k = kept; status && k < s->n; k++)
        sets_drop_member(p, profile, s->ids[k]);
    for (uint32_t k = 0; status == RPC_OK && k < kept; k++)
        status = sets_write_member(p, profile, P4__V1__UPDATE__TYPE__MODIFY, s->ids[k], s, k, err);
    for (uint32_t k = kept; status == RPC_OK && k < old->n; k++)
        sets_drop_member(p, profile, old->ids[k]);
    if (status == RPC_OK)
        sets_watch_all(p, profile, s, group);
    return status;
}

static enum rpc_status sets_apply_set(struct p4rt *p, const struct p4rt_profile *profile,
                                      struct p4rt_set *s, uint32_t before, struct brt_change *c,
                                      struct sk_error *err) {
    enum rpc_status status = sets_may_set(p, profile, err);
    const struct sk_group *g = before ? sk_selector_find(sets_selector(p, profile), before) : NULL;
    struct sets_old old;
    if (status)
        return status;
    if (g && !sets_look(p, g, &old))
        return p4rt_no_memory(err);
    if (g && g->action == s->action)
        return sets_apply_again(p, profile, s, before, &old, c, err);
    status = sets_apply_new(p, profile, s, c, err);
    if (status == RPC_OK && before)
        sets_drop_group(p, profile, before);
    return status;
}

enum rpc_status p4rt_sets_apply(struct p4rt *p, const struct p4rt_table *t, struct p4rt_set *s,
                                const struct sk_entry *old, struct brt_change *c,
                                struct sk_error *err) {
    const struct p4rt_profile *profile = t->profile;
    const bool names = old && t->table->desc->actions[old->action]->refers == SK_REFERS_GROUP &&
                       p4rt_sets_have_group(profile, old->data[0]);
    const uint32_t before = names ? (uint32_t)old->data[0] : 0;
    enum rpc_status status = RPC_OK;
    bool existed;
    const bool inserts = c->type == BFRT_PROTO__UPDATE__TYPE__INSERT;
    if (c->has_action && inserts && old)
        return p4rt_fail(err, RPC_ALREADY_EXISTS, "table '%s': the entry exists already",
                         t->info->preamble->name);
    if (s && !inserts && !old)
        return p4rt_fail(err, RPC_NOT_FOUND, "table '%s': there is no such entry",
                         t->info->preamble->name);
    if (s)
        return sets_apply_set(p, profile, s, before, c, err);
    if (c->has_action)
        status = p4rt_sets_may_name(p, profile, err);
    status = status ? status : brt_rpc_status(brt_apply(p->b, c, &existed, err));
    if (status == RPC_OK && before)
        sets_drop_group(p, profile, before);
    return status;
}

void p4rt_sets_clear(const struct p4rt_info *info) {
    for (size_t i = 0; i < info->n_profiles; i++) {
        struct p4rt_sets *s = info->profiles[i].sets;
        if (!s)
            continue;
        free(s->groups.used);
        free(s->members.used);
        *s = (struct p4rt_sets){.groups = {.room = 0}};
    }
}

void p4rt_sets_begin(const struct p4rt_info *info) {
    for (size_t i = 0; i < info->n_profiles; i++)
        if (info->profiles[i].sets)
            info->profiles[i].sets->swept = false;
}

void p4rt_sets_keep(struct p4rt_info *now, struct p4rt_info *before) {
    for (size_t i = 0; now && before && i < now->n_profiles; i++)
        for (size_t k = 0; k < before->n_profiles; k++) {
            struct p4rt_profile *to = &now->profiles[i], *from = &before->profiles[k];
            if (!to->sets || !from->sets ||
                strcmp(to->info->preamble->name, from->info->preamble->name) != 0)
                continue;
            p4rt_sets_free(to->sets);
            to->sets = from->sets;
            from->sets = NULL;
        }
}

// ---- messages ----

static bool sets_message_one(struct p4rt *p, const struct p4rt_profile *profile, uint32_t group,
                             uint64_t member, P4__V1__ActionProfileAction *out) {
    const struct p4rt_watch *w = p4rt_watch_find(p, profile, group, (uint32_t)member);
    ProtobufCBinaryData port = {0, NULL};
    int32_t number = 0;
    const struct sk_entry *e = sk_table_find(sets_members(p, profile), &member, NULL, 0);
    p4__v1__action_profile_action__init(out);
    out->weight = 1;
    out->action = e ? p4rt_action_message(p, profile->members, e->action, e->data) : NULL;
    if (w && !p4rt_watch_bytes(p, w, &port, &number))
        return false;
    if (w && w->as_number) {
        out->watch_kind_case = P4__V1__ACTION_PROFILE_ACTION__WATCH_KIND_WATCH;
        out->watch = number;
    } else if (w) {
        out->watch_kind_case = P4__V1__ACTION_PROFILE_ACTION__WATCH_KIND_WATCH_PORT;
        out->watch_port = port;
    }
    return out->action;
}

P4__V1__ActionProfileActionSet *p4rt_set_message(struct p4rt *p, const struct p4rt_profile *profile,
                                                 uint32_t group) {
    const struct sk_group *g = sk_selector_find(sets_selector(p, profile), group);
    struct brt_memory *m = brt_scratch_memory(p->b);
    const size_t most = g ? g->n + 1 : 1;
    P4__V1__ActionProfileActionSet *out = brt_take(m, sizeof *out);
    P4__V1__ActionProfileAction *actions = brt_take(m, most * sizeof *actions);
    if (!out || !actions)
        return NULL;
    p4__v1__action_profile_action_set__init(out);
    out->action_profile_actions = brt_take(m, most * sizeof *out->action_profile_actions);
    if (!out->action_profile_actions)
        return NULL;
    for (uint32_t i = 0; g && i < g->n; i++) {
        const size_t n = out->n_action_profile_actions;
        if (i > 0 && g->members[i].member == g->members[i - 1].member) {
            actions[n - 1].weight++;
            continue;
        }
        if (!sets_message_one(p, profile, group, g->members[i].member, &actions[n]))
            return NULL;
        out->action_profile_actions[out->n_action_profile_actions++] = &actions[n];
    }
    return out;
}

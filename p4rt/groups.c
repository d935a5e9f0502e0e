// SPDX-License-Identifier: Apache-2.0
//
// Members and groups of action profiles (P4Runtime specification, section 9.2). A member of a group
// with a weight is in it that many times.
#include "p4rt/p4rt_impl.h"

static enum rpc_status groups_profile(struct p4rt *p, uint32_t id, const struct p4rt_profile **out,
                                      struct sk_error *err) {
    *out = p4rt_info_profile(p->info, id);
    return *out ? RPC_OK : p4rt_fail(err, RPC_NOT_FOUND, "there is no action profile %u", id);
}

// ---- members ----

enum rpc_status p4rt_member_change(struct p4rt *p, P4__V1__Update__Type type,
                                   const P4__V1__ActionProfileMember *e, struct brt_change *c,
                                   struct sk_error *err) {
    const struct p4rt_profile *profile;
    enum rpc_status status = groups_profile(p, e->action_profile_id, &profile, err);
    status = status ? status : p4rt_begin(p, profile->members, type, c, err);
    if (status)
        return status;
    c->value = brt_take(brt_scratch_memory(p->b), sizeof *c->value);
    if (!c->value)
        return p4rt_no_memory(err);
    *c->value = e->member_id;
    c->has_key = true;
    if (!e->member_id)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "a member's id is not 0");
    if (c->type == BFRT_PROTO__UPDATE__TYPE__DELETE)
        return RPC_OK;
    if (!e->action)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "the member's action is missing");
    return p4rt_action(p, profile->members, e->action, c, err);
}

enum rpc_status p4rt_member_check(struct p4rt *p, const P4__V1__ActionProfileMember *e,
                                  const struct brt_change *c, struct sk_error *err) {
    const struct p4rt_profile *profile = p4rt_info_profile(p->info, e->action_profile_id);
    const struct sk_table *members = brt_table_in(p->b, c->table, c->pipes.list[0]);
    if (c->type == BFRT_PROTO__UPDATE__TYPE__MODIFY &&
        sk_table_may_modify(members, c->value, NULL, 0, c->action, c->data) == SK_E_ACTIONS)
        return p4rt_fail(err, RPC_UNIMPLEMENTED,
                         "member %u is in a group: its action stays, with other arguments",
                         e->member_id);
    return p4rt_sets_may_name(p, profile, err);
}

struct groups_reading {
    struct p4rt *p;
    struct p4rt_answer *answer;
    const struct p4rt_profile *profile;
    uint32_t wanted; // 0: all
    bool good;
};

static bool groups_emit_member(void *aux, const struct sk_entry *e) {
    struct groups_reading *r = aux;
    P4__V1__Entity entity = P4__V1__ENTITY__INIT;
    P4__V1__ActionProfileMember member = P4__V1__ACTION_PROFILE_MEMBER__INIT;
    if ((r->wanted && e->value[0] != r->wanted) || p4rt_sets_have_member(r->profile, e->value[0]))
        return true;
    member.action_profile_id = r->profile->info->preamble->id;
    member.member_id = (uint32_t)e->value[0];
    member.action = p4rt_action_message(r->p, r->profile->members, e->action, e->data);
    entity.entity_case = P4__V1__ENTITY__ENTITY_ACTION_PROFILE_MEMBER;
    entity.action_profile_member = &member;
    r->good = member.action && p4rt_answer_add(r->answer, &entity);
    return r->good;
}

enum rpc_status p4rt_members_read(struct p4rt *p, struct p4rt_answer *answer,
                                  const P4__V1__ActionProfileMember *e, struct sk_error *err) {
    struct groups_reading r = {.p = p, .answer = answer, .wanted = e->member_id, .good = true};
    if (e->action_profile_id && !p4rt_info_profile(p->info, e->action_profile_id))
        return groups_profile(p, e->action_profile_id, &r.profile, err);
    for (size_t i = 0; r.good && i < p->info->n_profiles; i++) {
        struct brt_change c;
        r.profile = &p->info->profiles[i];
        if (e->action_profile_id && r.profile->info->preamble->id != e->action_profile_id)
            continue;
        const enum rpc_status status =
            p4rt_begin(p, r.profile->members, P4__V1__UPDATE__TYPE__MODIFY, &c, err);
        if (status)
            return status;
        sk_table_each(brt_table_in(p->b, c.table, c.pipes.list[0]), groups_emit_member, &r);
    }
    return r.good ? RPC_OK : p4rt_no_memory(err);
}

// ---- groups ----

static enum rpc_status groups_watch(const struct p4rt *p,
                                    const P4__V1__ActionProfileGroup__Member *m,
                                    struct p4rt_watch *out, struct sk_error *err) {
    const bool bytes =
        m->watch_kind_case == P4__V1__ACTION_PROFILE_GROUP__MEMBER__WATCH_KIND_WATCH_PORT;
    const bool number =
        m->watch_kind_case == P4__V1__ACTION_PROFILE_GROUP__MEMBER__WATCH_KIND_WATCH;
    return p4rt_watch_read(p, bytes ? &m->watch_port : NULL, number ? m->watch : 0, out, err);
}

static enum rpc_status groups_fill(struct p4rt *p, const P4__V1__ActionProfileGroup *e,
                                   struct brt_change *c, uint32_t most, struct sk_error *err) {
    uint64_t total = 0;
    for (size_t i = 0; i < e->n_members; i++) {
        const P4__V1__ActionProfileGroup__Member *m = e->members[i];
        struct p4rt_watch watch;
        const enum rpc_status status = groups_watch(p, m, &watch, err);
        if (status)
            return status;
        if (m->weight <= 0)
            return p4rt_fail(err, RPC_INVALID_ARGUMENT, "a member's weight is above 0");
        for (size_t k = 0; k < i; k++)
            if (e->members[k]->member_id == m->member_id)
                return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                                 "group %u names member %u twice: give it a weight", e->group_id,
                                 m->member_id);
        total += (uint64_t)m->weight;
        if (total > most)
            return p4rt_fail(err, RPC_RESOURCE_EXHAUSTED,
                             "group %u: the weights of its members are together at most %u",
                             e->group_id, most);
    }
    c->members = brt_take(brt_scratch_memory(p->b), (total + 1) * sizeof *c->members);
    if (!c->members)
        return p4rt_no_memory(err);
    for (size_t i = 0; i < e->n_members; i++) {
        struct p4rt_watch watch;
        groups_watch(p, e->members[i], &watch, err);
        for (int32_t k = 0; k < e->members[i]->weight; k++)
            c->members[c->n_members++] = (struct sk_group_member){
                .member = e->members[i]->member_id, .up = !watch.wanted || watch.up};
    }
    c->has_members = true;
    return RPC_OK;
}

void p4rt_group_watches(struct p4rt *p, const P4__V1__ActionProfileGroup *e, bool exists) {
    const struct p4rt_profile *profile = p4rt_info_profile(p->info, e->action_profile_id);
    p4rt_watch_drop(p, profile, e->group_id);
    for (size_t i = 0; exists && i < e->n_members; i++) {
        struct p4rt_watch watch;
        struct sk_error err;
        if (groups_watch(p, e->members[i], &watch, &err) == RPC_OK)
            p4rt_watch_add(p, profile, e->group_id, e->members[i]->member_id, &watch);
    }
}

enum rpc_status p4rt_group_change(struct p4rt *p, P4__V1__Update__Type type,
                                  const P4__V1__ActionProfileGroup *e, struct brt_change *c,
                                  struct sk_error *err) {
    const struct p4rt_profile *profile;
    enum rpc_status status = groups_profile(p, e->action_profile_id, &profile, err);
    if (status == RPC_OK && !profile->groups)
        status = p4rt_fail(err, RPC_INVALID_ARGUMENT, "action profile %u has no selector",
                           e->action_profile_id);
    status = status ? status : p4rt_begin(p, profile->groups, type, c, err);
    if (status)
        return status;
    c->index = e->group_id;
    c->has_key = true;
    const uint32_t most =
        sk_selector_desc(brt_selector_in(p->b, c->table, c->pipes.list[0]))->max_group_size;
    if (!e->group_id || e->max_size < 0 || (uint32_t)e->max_size > most)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                         "a group's id is not 0, and its size at most %u", most);
    c->max_size = (uint32_t)e->max_size;
    return c->type == BFRT_PROTO__UPDATE__TYPE__DELETE
               ? RPC_OK
               : groups_fill(p, e, c, e->max_size ? c->max_size : most, err);
}

enum rpc_status p4rt_group_check(struct p4rt *p, const P4__V1__ActionProfileGroup *e,
                                 const struct brt_change *c, struct sk_error *err) {
    const struct p4rt_profile *profile = p4rt_info_profile(p->info, e->action_profile_id);
    const struct sk_selector *s = brt_selector_in(p->b, c->table, c->pipes.list[0]);
    const struct sk_table *members = brt_table_in(p->b, profile->members, c->pipes.list[0]);
    const struct sk_group *g = sk_selector_find(s, e->group_id);
    const uint32_t size = c->max_size ? c->max_size : sk_selector_desc(s)->max_group_size;
    const enum rpc_status status = p4rt_sets_may_name(p, profile, err);
    uint32_t action = 0;
    if (status)
        return status;
    if (c->type == BFRT_PROTO__UPDATE__TYPE__MODIFY && g && g->max_size != size)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "the size of group %u cannot change",
                         e->group_id);
    for (size_t i = 0; c->type != BFRT_PROTO__UPDATE__TYPE__DELETE && i < e->n_members; i++) {
        const uint64_t id = e->members[i]->member_id;
        const struct sk_entry *member = sk_table_find(members, &id, NULL, 0);
        if (!member)
            return p4rt_fail(err, RPC_NOT_FOUND, "group %u names member %u, which does not exist",
                             e->group_id, e->members[i]->member_id);
        if (i > 0 && member->action != action)
            return p4rt_fail(err, RPC_UNIMPLEMENTED,
                             "group %u: its members have one action with several arguments",
                             e->group_id);
        action = member->action;
    }
    return RPC_OK;
}

// Members that stand several times in a row have that weight.
static bool groups_emit(void *aux, const struct sk_group *g) {
    struct groups_reading *r = aux;
    struct brt_memory *m = brt_scratch_memory(r->p->b);
    P4__V1__Entity entity = P4__V1__ENTITY__INIT;
    P4__V1__ActionProfileGroup group = P4__V1__ACTION_PROFILE_GROUP__INIT;
    P4__V1__ActionProfileGroup__Member *members = brt_take(m, (g->n + 1) * sizeof *members);
    if ((r->wanted && g->id != r->wanted) || p4rt_sets_have_group(r->profile, g->id))
        return true;
    group.members = brt_take(m, (g->n + 1) * sizeof *group.members);
    group.action_profile_id = r->profile->info->preamble->id;
    group.group_id = g->id;
    group.max_size = (int32_t)g->max_size;
    for (uint32_t i = 0; members && group.members && i < g->n; i++) {
        if (i > 0 && g->members[i].member == g->members[i - 1].member) {
            group.members[group.n_members - 1]->weight++;
            continue;
        }
        P4__V1__ActionProfileGroup__Member *out = &members[group.n_members];
        p4__v1__action_profile_group__member__init(out);
        out->member_id = g->members[i].member;
        out->weight = 1;
        const struct p4rt_watch *w = p4rt_watch_find(r->p, r->profile, g->id, g->members[i].member);
        if (w)
            out->watch_kind_case =
                w->as_number ? P4__V1__ACTION_PROFILE_GROUP__MEMBER__WATCH_KIND_WATCH
                             : P4__V1__ACTION_PROFILE_GROUP__MEMBER__WATCH_KIND_WATCH_PORT;
        ProtobufCBinaryData port = {0, NULL};
        int32_t number = 0;
        if (w && !p4rt_watch_bytes(r->p, w, &port, &number))
            members = NULL;
        else if (w && w->as_number)
            out->watch = number;
        else if (w)
            out->watch_port = port;
        group.members[group.n_members++] = out;
    }
    entity.entity_case = P4__V1__ENTITY__ENTITY_ACTION_PROFILE_GROUP;
    entity.action_profile_group = &group;
    r->good = members && group.members && p4rt_answer_add(r->answer, &entity);
    return r->good;
}

enum rpc_status p4rt_groups_read(struct p4rt *p, struct p4rt_answer *answer,
                                 const P4__V1__ActionProfileGroup *e, struct sk_error *err) {
    struct groups_reading r = {.p = p, .answer = answer, .wanted = e->group_id, .good = true};
    if (e->action_profile_id && !p4rt_info_profile(p->info, e->action_profile_id))
        return groups_profile(p, e->action_profile_id, &r.profile, err);
    for (size_t i = 0; r.good && i < p->info->n_profiles; i++) {
        struct brt_change c;
        r.profile = &p->info->profiles[i];
        if (!r.profile->groups ||
            (e->action_profile_id && r.profile->info->preamble->id != e->action_profile_id))
            continue;
        const enum rpc_status status =
            p4rt_begin(p, r.profile->groups, P4__V1__UPDATE__TYPE__MODIFY, &c, err);
        if (status)
            return status;
        sk_selector_each(brt_selector_in(p->b, c.table, c.pipes.list[0]), groups_emit, &r);
    }
    return r.good ? RPC_OK : p4rt_no_memory(err);
}

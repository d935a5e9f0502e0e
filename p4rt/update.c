// SPDX-License-Identifier: Apache-2.0
//
// Writes. Updates are resolved a slice at a time and then applied in one pause, in the order in
// which they are listed; each is tried, whatever became of those before.
#include <string.h>

#include "p4rt/p4rt_impl.h"

#define UPDATE_SLICE 64u // updates in a pause

struct update_item {
    const P4__V1__Update *update;
    struct brt_change change;
    const struct p4rt_table *table; // of an entry, or of what hangs on one
    struct p4rt_set *set;           // of an entry's actions; null: it has none
    bool attached_only;             // a direct counter or meter
    bool resets_meter;              // it goes back to what it was without a configuration
    enum rpc_status status;
    struct sk_error err;
};

// ---- resolving ----

static enum rpc_status update_default(const P4__V1__TableEntry *e, const struct update_item *i,
                                      struct sk_error *err) {
    const char *name = i->table->info->preamble->name;
    if (i->update->type != P4__V1__UPDATE__TYPE__MODIFY)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                         "table '%s': the default entry is always there, and is only modified",
                         name);
    if (e->n_match || e->priority)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                         "table '%s': the default entry has no key and no priority", name);
    if (i->table->table->desc->const_default && e->action)
        return p4rt_fail(err, RPC_PERMISSION_DENIED, "table '%s': the default entry is constant",
                         name);
    return RPC_OK;
}

static enum rpc_status update_table(struct p4rt *p, const P4__V1__TableEntry *e,
                                    struct update_item *i, struct sk_error *err) {
    i->table = e ? p4rt_info_table(p->info, e->table_id) : NULL;
    if (!i->table)
        return p4rt_fail(err, RPC_NOT_FOUND, "there is no table %u", e ? e->table_id : 0);
    enum rpc_status status = p4rt_begin(p, i->table->table, i->update->type, &i->change, err);
    i->change.is_default = e->is_default_action;
    if (status == RPC_OK && e->is_default_action)
        return update_default(e, i, err);
    return status ? status : p4rt_entry_key(p, i->table, e, &i->change, err);
}

static enum rpc_status update_entry(struct p4rt *p, const P4__V1__TableEntry *e,
                                    struct update_item *i, struct sk_error *err) {
    const bool deletes = i->update->type == P4__V1__UPDATE__TYPE__DELETE;
    enum rpc_status status = update_table(p, e, i, err);
    if (status || deletes)
        return status;
    if (i->table->table->desc->const_entries && !e->is_default_action &&
        (e->action || i->update->type == P4__V1__UPDATE__TYPE__INSERT))
        return p4rt_fail(err, RPC_PERMISSION_DENIED, "table '%s': its entries are constant",
                         i->table->info->preamble->name);
    i->resets_meter = !e->meter_config && i->update->type == P4__V1__UPDATE__TYPE__MODIFY;
    status = p4rt_entry_change(p, i->table, e, &i->change, err);
    if (status == RPC_OK && !e->action)
        i->attached_only = true;
    if (status == RPC_OK && e->action &&
        e->action->type_case == P4__V1__TABLE_ACTION__TYPE_ACTION_PROFILE_ACTION_SET)
        status = p4rt_set_resolve(p, i->table, e->action->action_profile_action_set, &i->set, err);
    return status;
}

static enum rpc_status update_direct(struct p4rt *p, const P4__V1__TableEntry *e,
                                     const P4__V1__CounterData *counts,
                                     const P4__V1__MeterConfig *meter, struct update_item *i,
                                     struct sk_error *err) {
    if (i->update->type != P4__V1__UPDATE__TYPE__MODIFY)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                         "direct counters and meters come and go with their entry");
    i->attached_only = true;
    const enum rpc_status status = update_table(p, e, i, err);
    if (status)
        return status;
    if (i->update->entity->entity_case == P4__V1__ENTITY__ENTITY_DIRECT_COUNTER_ENTRY)
        return counts ? p4rt_entry_counts(i->table, counts, &i->change, err)
                      : p4rt_fail(err, RPC_INVALID_ARGUMENT, "the counts are missing");
    if (meter)
        return p4rt_entry_meter(i->table, meter, &i->change, err);
    i->resets_meter = true;
    return i->table->table->desc->meter_kind == SK_METER
               ? RPC_OK
               : p4rt_fail(err, RPC_INVALID_ARGUMENT, "table '%s' has no direct meter",
                           i->table->info->preamble->name);
}

static enum rpc_status update_resolve(struct p4rt *p, struct update_item *i, struct sk_error *err) {
    const P4__V1__Entity *e = i->update->entity;
    const P4__V1__Update__Type type = i->update->type;
    if (type != P4__V1__UPDATE__TYPE__INSERT && type != P4__V1__UPDATE__TYPE__MODIFY &&
        type != P4__V1__UPDATE__TYPE__DELETE)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "the update has no type");
    switch (e ? e->entity_case : P4__V1__ENTITY__ENTITY__NOT_SET) {
    case P4__V1__ENTITY__ENTITY_TABLE_ENTRY:
        return update_entry(p, e->table_entry, i, err);
    case P4__V1__ENTITY__ENTITY_DIRECT_COUNTER_ENTRY:
        return update_direct(p, e->direct_counter_entry->table_entry, e->direct_counter_entry->data,
                             NULL, i, err);
    case P4__V1__ENTITY__ENTITY_DIRECT_METER_ENTRY:
        return update_direct(p, e->direct_meter_entry->table_entry, NULL,
                             e->direct_meter_entry->config, i, err);
    case P4__V1__ENTITY__ENTITY_ACTION_PROFILE_MEMBER:
        return p4rt_member_change(p, type, e->action_profile_member, &i->change, err);
    case P4__V1__ENTITY__ENTITY_ACTION_PROFILE_GROUP:
        return p4rt_group_change(p, type, e->action_profile_group, &i->change, err);
    case P4__V1__ENTITY__ENTITY_COUNTER_ENTRY:
        return p4rt_counter_change(p, type, e->counter_entry, &i->change, err);
    case P4__V1__ENTITY__ENTITY_METER_ENTRY:
        i->resets_meter = !e->meter_entry->config;
        return p4rt_meter_change(p, type, e->meter_entry, &i->change, err);
    case P4__V1__ENTITY__ENTITY_REGISTER_ENTRY:
        return p4rt_register_change(p, type, e->register_entry, &i->change, err);
    case P4__V1__ENTITY__ENTITY_PACKET_REPLICATION_ENGINE_ENTRY:
    case P4__V1__ENTITY__ENTITY_DIGEST_ENTRY:
        return RPC_OK;
    case P4__V1__ENTITY__ENTITY_VALUE_SET_ENTRY:
        return p4rt_fail(err, RPC_UNIMPLEMENTED, "value sets are not served");
    case P4__V1__ENTITY__ENTITY_EXTERN_ENTRY:
        return p4rt_fail(err, RPC_UNIMPLEMENTED, "entries of other externs are not served");
    default:
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "the update names nothing to write");
    }
}

// ---- applying: in a pause ----

static enum rpc_status update_status(enum brt_code code) {
    return code == BRT_ENTRY_REFERENCES_EXIST ? RPC_FAILED_PRECONDITION : brt_rpc_status(code);
}

static struct sk_entry *update_find(struct p4rt *p, const struct brt_change *c, unsigned i) {
    struct sk_table *t = brt_table_in(p->b, c->table, c->pipes.list[i]);
    return c->is_default ? sk_table_default(t) : sk_table_find(t, c->value, c->mask, c->priority);
}

static enum rpc_status update_attached(struct p4rt *p, const struct update_item *i,
                                       struct sk_error *err) {
    const struct brt_change *c = &i->change;
    const struct sk_holder holder = sk_holder_of_table(c->table->desc);
    for (unsigned k = 0; k < c->pipes.n; k++) {
        const struct sk_entry *e = update_find(p, c, k);
        if (!e)
            return p4rt_fail(err, RPC_NOT_FOUND, "table '%s': there is no such entry",
                             c->table->name);
        if (c->attached.given && sk_attached_check(&holder, &c->attached, e->meter, err))
            return RPC_INVALID_ARGUMENT;
    }
    for (unsigned k = 0; c->attached.given && k < c->pipes.n; k++)
        sk_attached_apply(&holder, &c->attached, update_find(p, c, k), k == 0,
                          sk_switch_now(brt_switch(p->b)));
    return RPC_OK;
}

static void update_reset_meters(struct p4rt *p, const struct update_item *i) {
    const struct brt_change *c = &i->change;
    for (unsigned k = 0; k < c->pipes.n; k++) {
        if (c->table->kind == BRT_METER) {
            struct sk_pipe *pipe = sk_switch_pipe(brt_switch(p->b), c->pipes.list[k]);
            sk_meter_reset(&c->table->object.desc->meter(pipe, c->table->object.index)[c->index]);
            continue;
        }
        const struct sk_entry *e = update_find(p, c, k);
        if (e && e->meter && c->table->desc->meter_kind == SK_METER)
            sk_meter_reset(e->meter);
    }
}

static enum rpc_status update_note(struct p4rt *p, const struct update_item *i, uint64_t which,
                                   struct sk_error *err) {
    const P4__V1__TableEntry *e = i->update->entity->table_entry;
    const bool stays = i->update->type != P4__V1__UPDATE__TYPE__DELETE;
    if (p4rt_note_set(p, i->change.table->desc, which, stays ? e->controller_metadata : 0,
                      stays ? &e->metadata : NULL))
        return RPC_OK;
    return p4rt_fail(err, RPC_RESOURCE_EXHAUSTED, "the metadata of all entries are too long");
}

// Is an entry of the program to be deleted, or to get another action?
static bool update_is_const(struct p4rt *p, const struct update_item *i) {
    const struct brt_change *c = &i->change;
    const struct sk_entry *e = c->has_key ? update_find(p, c, 0) : NULL;
    return e && (e->is_const || c->table->desc->const_entries) &&
           (c->has_action || c->type == BFRT_PROTO__UPDATE__TYPE__DELETE);
}

static enum rpc_status update_action(struct p4rt *p, struct update_item *i,
                                     const struct sk_entry *old, struct sk_error *err) {
    const struct p4rt_profile *profile = i->table->profile;
    bool existed;
    if (profile && profile->sets && !i->change.is_default)
        return p4rt_sets_apply(p, i->table, i->set, old, &i->change, err);
    return update_status(brt_apply(p->b, &i->change, &existed, err));
}

static enum rpc_status update_apply_entry(struct p4rt *p, struct update_item *i,
                                          struct sk_error *err) {
    struct brt_change *c = &i->change;
    const P4__V1__TableEntry *asked = i->update->entity->table_entry;
    bool existed;
    const struct sk_entry *old = update_find(p, c, 0);
    const uint64_t gone = old ? old->sequence : 0;
    if (update_is_const(p, i))
        return p4rt_fail(err, RPC_PERMISSION_DENIED, "table '%s': the entry is constant",
                         c->table->name);
    enum rpc_status status = RPC_OK;
    if (!i->attached_only)
        status = update_action(p, i, old, err);
    else if (c->is_default && !asked->counter_data && !asked->meter_config) {
        // the default entry without an action is as the program has it
        struct brt_change reset = *c;
        reset.type = BFRT_PROTO__UPDATE__TYPE__DELETE;
        if (c->table->desc->const_default)
            return p4rt_fail(err, RPC_PERMISSION_DENIED,
                             "table '%s': the default entry is constant", c->table->name);
        status = update_status(brt_apply(p->b, &reset, &existed, err));
    } else
        status = update_attached(p, i, err);
    if (status)
        return status;
    if (i->resets_meter)
        update_reset_meters(p, i);
    if (c->type == BFRT_PROTO__UPDATE__TYPE__DELETE)
        return update_note(p, i, gone, err);
    const struct sk_entry *e = update_find(p, c, 0);
    return update_note(p, i, c->is_default || !e ? P4RT_NOTE_DEFAULT : e->sequence, err);
}

static enum rpc_status update_apply(struct p4rt *p, struct update_item *i, struct sk_error *err) {
    const P4__V1__Entity *e = i->update->entity;
    enum rpc_status status = RPC_OK;
    bool existed;
    switch (e->entity_case) {
    case P4__V1__ENTITY__ENTITY_TABLE_ENTRY:
        return update_apply_entry(p, i, err);
    case P4__V1__ENTITY__ENTITY_PACKET_REPLICATION_ENGINE_ENTRY:
        return p4rt_replicate(p, i->update->type, e->packet_replication_engine_entry, err);
    case P4__V1__ENTITY__ENTITY_DIGEST_ENTRY:
        return p4rt_digest_set(p, i->update->type, e->digest_entry, err);
    case P4__V1__ENTITY__ENTITY_ACTION_PROFILE_MEMBER:
        status = p4rt_member_check(p, e->action_profile_member, &i->change, err);
        break;
    case P4__V1__ENTITY__ENTITY_ACTION_PROFILE_GROUP:
        status = p4rt_group_check(p, e->action_profile_group, &i->change, err);
        break;
    default:
        break;
    }
    if (status == RPC_OK && i->attached_only)
        status = update_attached(p, i, err);
    if (status == RPC_OK && i->resets_meter)
        update_reset_meters(p, i);
    else if (status == RPC_OK && !i->attached_only)
        status = update_status(brt_apply(p->b, &i->change, &existed, err));
    if (status == RPC_OK && e->entity_case == P4__V1__ENTITY__ENTITY_ACTION_PROFILE_GROUP)
        p4rt_group_watches(p, e->action_profile_group,
                           i->update->type != P4__V1__UPDATE__TYPE__DELETE);
    return status;
}

// ---- a list of updates ----

struct update_list {
    struct p4rt *p;
    const P4__V1__WriteRequest *request;
    struct brt_result *results;
    size_t n_done;
    bool failed, short_of_memory;
};

static void update_result(struct update_list *l, const struct update_item *i,
                          struct brt_result *r) {
    *r = (struct brt_result){.status = i->status, .canonical = i->status, .message = ""};
    if (i->status == RPC_OK)
        return;
    const size_t n = strlen(i->err.text) + 1;
    char *kept = brt_take(brt_request_memory(l->p->b), n);
    l->failed = true;
    l->short_of_memory = l->short_of_memory || !kept;
    r->message = kept ? memcpy(kept, i->err.text, n) : "";
}

static void update_slice(struct update_list *l, struct update_item *items,
                         struct sk_pauses *pauses) {
    const size_t left = l->request->n_updates - l->n_done;
    const size_t most = left < UPDATE_SLICE ? left : UPDATE_SLICE;
    size_t n = 0, cost = 0; // a set costs as much as its members
    brt_memory_reuse(brt_scratch_memory(l->p->b));
    for (; n < most && cost < UPDATE_SLICE; n++) {
        struct update_item *i = &items[n];
        *i = (struct update_item){.update = l->request->updates[l->n_done + n]};
        i->status = update_resolve(l->p, i, &i->err);
        cost += i->status == RPC_OK && i->set ? 1 + p4rt_set_size(i->set) : 1;
    }
    sk_pauses_begin(pauses);
    p4rt_sets_begin(l->p->info);
    for (size_t k = 0; k < n; k++)
        if (items[k].status == RPC_OK)
            items[k].status = update_apply(l->p, &items[k], &items[k].err);
    sk_pauses_end(pauses);
    for (size_t k = 0; k < n; k++)
        if (items[k].status == RPC_OK)
            brt_tend(l->p->b, &items[k].change);
    for (size_t k = 0; k < n; k++)
        update_result(l, &items[k], &l->results[l->n_done + k]);
    l->n_done += n;
}

static enum rpc_status update_check(const struct p4rt *p, const P4__V1__WriteRequest *r,
                                    struct sk_error *err) {
    const enum rpc_status status = p4rt_may_write(p, r->device_id, r->role, r->election_id, err);
    if (status)
        return status;
    if (!p->info)
        return p4rt_fail(err, RPC_FAILED_PRECONDITION, "the switch runs no program yet");
    if (r->atomicity != P4__V1__WRITE_REQUEST__ATOMICITY__CONTINUE_ON_ERROR)
        return p4rt_fail(err, RPC_UNIMPLEMENTED,
                         "updates are only made one by one (CONTINUE_ON_ERROR)");
    return RPC_OK;
}

static void update_answer(struct update_list *l, const struct brt_call *c) {
    static const char sentence[] = "some updates failed";
    P4__V1__WriteResponse response = P4__V1__WRITE_RESPONSE__INIT;
    size_t length = 0;
    if (!l->failed && !l->short_of_memory) {
        brt_send(c, &response.base);
        p4rt_end(c, RPC_OK, NULL);
        return;
    }
    const uint8_t *details =
        l->short_of_memory
            ? NULL
            : brt_details_of(brt_request_memory(l->p->b), "type.googleapis.com/p4.v1.Error",
                             sentence, l->results, l->n_done, &length);
    if (details)
        c->carrier->end(c->call, RPC_UNKNOWN, sentence, details, length);
    else
        p4rt_end(c, RPC_RESOURCE_EXHAUSTED, "the answer needs too much memory");
}

static void update_request(struct p4rt *p, const struct brt_call *c,
                           const P4__V1__WriteRequest *request) {
    struct update_list l = {.p = p, .request = request};
    struct brt_memory *memory = brt_request_memory(p->b);
    struct sk_error err;
    const enum rpc_status status = update_check(p, request, &err);
    if (status) {
        p4rt_end(c, status, err.text);
        return;
    }
    struct sk_pauses *pauses = brt_pauses(p->b, true);
    struct update_item *items = brt_take(memory, UPDATE_SLICE * sizeof *items);
    l.results = brt_take(memory, (request->n_updates + 1) * sizeof *l.results);
    l.short_of_memory = !items || !l.results;
    while (!l.short_of_memory && l.n_done < request->n_updates)
        update_slice(&l, items, pauses);
    update_answer(&l, c);
}

void p4rt_write(struct p4rt *p, const struct brt_call *c, const uint8_t *bytes, size_t length) {
    struct brt_memory *memory = brt_request_memory(p->b);
    const P4__V1__WriteRequest *request =
        p4__v1__write_request__unpack(&memory->allocator, length, bytes);
    if (!request) {
        p4rt_end_unread(p, c);
        return;
    }
    update_request(p, c, request);
    brt_memory_reuse(memory);
    brt_memory_reuse(brt_scratch_memory(p->b));
}

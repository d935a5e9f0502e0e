// SPDX-License-Identifier: Apache-2.0
//
// Reads. Entities are appended to a message one by one, each made in the scratch; a message is sent
// when it is so long that a client with gRPC's usual limit still takes it.
#include <stdlib.h>
#include <string.h>

#include "control/tables/idle.h"
#include "p4rt/p4rt_impl.h"

#define ANSWER_BYTES ((size_t)1 << 20)

struct p4rt_answer {
    struct p4rt *p;
    const struct brt_call *call;
    struct brt_bytes out;
    struct sk_pauses *pauses;
    bool paused;
};

static void answer_flush(struct p4rt_answer *a) {
    if (a->out.n)
        a->call->carrier->send(a->call->call, a->out.bytes, a->out.n);
    a->out.n = 0;
}

bool p4rt_answer_add(struct p4rt_answer *a, const P4__V1__Entity *e) {
    brt_append(&a->out, 1, &e->base);
    brt_memory_reuse(brt_scratch_memory(a->p->b));
    if (a->out.n >= ANSWER_BYTES)
        answer_flush(a);
    return !a->out.full;
}

void p4rt_answer_pause(struct p4rt_answer *a) {
    if (a->paused)
        sk_pauses_breathe(a->pauses);
    else
        sk_pauses_begin(a->pauses);
    a->paused = true;
}

// ---- entries of tables ----

struct answer_entries {
    struct p4rt_answer *answer;
    const struct p4rt_table *table;
    struct brt_change question;      // its table and pipes
    const P4__V1__TableEntry *asked; // what is wanted besides the key, and what must be so
    int as;                          // an entry, or what hangs on it (P4__V1__Entity__EntityCase)
    enum rpc_status status;
    struct sk_error *err;
};

static bool answer_is_wanted(const struct answer_entries *r, const P4__V1__TableEntry *e) {
    const P4__V1__TableEntry *asked = r->asked;
    const P4__V1__TableAction *a = asked->action;
    if (asked->priority && asked->priority != e->priority)
        return false;
    if (asked->controller_metadata && asked->controller_metadata != e->controller_metadata)
        return false;
    if (a && a->type_case == P4__V1__TABLE_ACTION__TYPE_ACTION &&
        !(e->action && e->action->type_case == P4__V1__TABLE_ACTION__TYPE_ACTION &&
          e->action->action->action_id == a->action->action_id))
        return false;
    return !asked->metadata.len ||
           (asked->metadata.len == e->metadata.len &&
            memcmp(asked->metadata.data, e->metadata.data, e->metadata.len) == 0);
}

static const struct sk_entry *answer_in_pipe(const struct answer_entries *r,
                                             const struct sk_entry *e, bool is_default,
                                             unsigned i) {
    struct sk_table *t = brt_table_in(r->answer->p->b, r->table->table, r->question.pipes.list[i]);
    if (i == 0)
        return e;
    return is_default ? sk_table_default(t) : sk_table_find(t, e->value, e->mask, e->priority);
}

// What packets change, of all pipes.
struct answer_state {
    P4__V1__CounterData counts;
    P4__V1__MeterConfig meter;
    P4__V1__TableEntry__IdleTimeout age;
    bool has_meter;
};

static void answer_state(const struct answer_entries *r, const struct sk_entry *first,
                         bool is_default, struct answer_state *out) {
    const struct sk_table_desc *d = r->table->table->desc;
    const uint64_t now = sk_switch_now(brt_switch(r->answer->p->b));
    p4__v1__counter_data__init(&out->counts);
    p4__v1__table_entry__idle_timeout__init(&out->age);
    out->has_meter =
        d->meter_kind == SK_METER && p4rt_meter_message(first->meter, d->meter_bytes, &out->meter);
    for (unsigned i = 0; i < r->question.pipes.n; i++) {
        const struct sk_entry *e = answer_in_pipe(r, first, is_default, i);
        if (!e)
            continue;
        const int64_t age = (int64_t)sk_idle_age(e, now);
        out->counts.packet_count += (int64_t)e->packets;
        out->counts.byte_count += (int64_t)e->bytes;
        if (i == 0 || age < out->age.elapsed_ns)
            out->age.elapsed_ns = age;
    }
    if (d->counter_type == 0)
        out->counts.byte_count = 0;
    else if (d->counter_type == 1)
        out->counts.packet_count = 0;
}

static bool answer_wrap(struct answer_entries *r, P4__V1__TableEntry *e,
                        struct answer_state *state) {
    P4__V1__Entity entity = P4__V1__ENTITY__INIT;
    P4__V1__DirectCounterEntry counter = P4__V1__DIRECT_COUNTER_ENTRY__INIT;
    P4__V1__DirectMeterEntry meter = P4__V1__DIRECT_METER_ENTRY__INIT;
    entity.entity_case = (P4__V1__Entity__EntityCase)r->as;
    if (r->as == P4__V1__ENTITY__ENTITY_DIRECT_COUNTER_ENTRY) {
        counter.table_entry = e;
        counter.data = &state->counts;
        entity.direct_counter_entry = &counter;
    } else if (r->as == P4__V1__ENTITY__ENTITY_DIRECT_METER_ENTRY) {
        meter.table_entry = e;
        meter.config = state->has_meter ? &state->meter : NULL;
        entity.direct_meter_entry = &meter;
    } else
        entity.table_entry = e;
    return p4rt_answer_add(r->answer, &entity);
}

static bool answer_emit(struct answer_entries *r, const struct sk_entry *e, bool is_default) {
    const struct sk_table_desc *d = r->table->table->desc;
    struct p4rt *p = r->answer->p;
    P4__V1__TableEntry out = P4__V1__TABLE_ENTRY__INIT;
    struct answer_state state = {.has_meter = false};
    struct p4rt_note note;
    const bool whole = r->as == P4__V1__ENTITY__ENTITY_TABLE_ENTRY;
    out.table_id = r->table->info->preamble->id;
    out.is_default_action = is_default;
    bool good = is_default || p4rt_entry_key_message(p, r->table, e, &out);
    p4rt_note_get(p, d, is_default ? P4RT_NOTE_DEFAULT : e->sequence, &note);
    out.controller_metadata = note.number;
    out.metadata = note.bytes;
    good = good && p4rt_entry_action_message(p, r->table, e, &out);
    if (!good) {
        r->status = p4rt_no_memory(r->err);
        return false;
    }
    if (!answer_is_wanted(r, &out)) {
        brt_memory_reuse(brt_scratch_memory(p->b));
        return true;
    }
    if (!whole || r->asked->counter_data || r->asked->meter_config ||
        r->asked->time_since_last_hit) {
        p4rt_answer_pause(r->answer);
        answer_state(r, e, is_default, &state);
    }
    if (whole) {
        out.is_const = is_default ? d->const_default : e->is_const || d->const_entries;
        out.idle_timeout_ns = is_default ? 0 : (int64_t)e->idle.ttl_ms * 1000000;
        if (d->has_counter && r->asked->counter_data)
            out.counter_data = &state.counts;
        if (state.has_meter && r->asked->meter_config)
            out.meter_config = &state.meter;
        if (d->idle_timeout && !is_default && r->asked->time_since_last_hit)
            out.time_since_last_hit = &state.age;
    } else
        out.action = NULL;
    if (!answer_wrap(r, &out, &state))
        r->status = p4rt_no_memory(r->err);
    return r->status == RPC_OK;
}

static bool answer_each(void *aux, const struct sk_entry *e) {
    return answer_emit(aux, e, false);
}

static void answer_table(struct answer_entries *r) {
    struct p4rt *p = r->answer->p;
    r->status = p4rt_begin(p, r->table->table, P4__V1__UPDATE__TYPE__MODIFY, &r->question, r->err);
    if (r->status)
        return;
    struct sk_table *t = brt_table_in(p->b, r->table->table, r->question.pipes.list[0]);
    if (r->asked->is_default_action) {
        answer_emit(r, sk_table_default(t), true);
        return;
    }
    if (p4rt_entry_names_none(r->asked)) {
        sk_table_each(t, answer_each, r);
        return;
    }
    r->status = p4rt_entry_key(p, r->table, r->asked, &r->question, r->err);
    if (r->status)
        return;
    const struct sk_entry *e =
        sk_table_find(t, r->question.value, r->question.mask, r->question.priority);
    if (e)
        answer_emit(r, e, false);
}

static bool answer_has(const struct p4rt_table *t, int as) {
    const struct sk_table_desc *d = t->table->desc;
    return as == P4__V1__ENTITY__ENTITY_DIRECT_COUNTER_ENTRY ? d->has_counter
           : as == P4__V1__ENTITY__ENTITY_DIRECT_METER_ENTRY ? d->meter_kind == SK_METER
                                                             : true;
}

static enum rpc_status answer_entries(struct p4rt_answer *a, const P4__V1__TableEntry *asked,
                                      int as, struct sk_error *err) {
    static const P4__V1__TableEntry all = P4__V1__TABLE_ENTRY__INIT;
    const struct p4rt_info *info = a->p->info;
    struct answer_entries r = {.answer = a, .asked = asked ? asked : &all, .as = as, .err = err};
    if (r.asked->table_id) {
        r.table = p4rt_info_table(info, r.asked->table_id);
        if (!r.table)
            return p4rt_fail(err, RPC_NOT_FOUND, "there is no table %u", r.asked->table_id);
        if (!answer_has(r.table, as))
            return p4rt_fail(err, RPC_INVALID_ARGUMENT, "table '%s' has no direct %s",
                             r.table->info->preamble->name,
                             as == P4__V1__ENTITY__ENTITY_DIRECT_METER_ENTRY ? "meter" : "counter");
        answer_table(&r);
        return r.status;
    }
    if (r.asked->n_match || r.asked->priority || r.asked->action)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                         "a key, a priority or an action needs the id of a table");
    for (size_t i = 0; r.status == RPC_OK && i < info->n_tables; i++) {
        r.table = &info->tables[i];
        if (answer_has(r.table, as))
            answer_table(&r);
    }
    return r.status;
}

// ---- requests ----

static enum rpc_status answer_entity(struct p4rt_answer *a, const P4__V1__Entity *e,
                                     struct sk_error *err) {
    struct p4rt *p = a->p;
    switch (e->entity_case) {
    case P4__V1__ENTITY__ENTITY_TABLE_ENTRY:
        return answer_entries(a, e->table_entry, (int)e->entity_case, err);
    case P4__V1__ENTITY__ENTITY_DIRECT_COUNTER_ENTRY:
        return answer_entries(a, e->direct_counter_entry->table_entry, (int)e->entity_case, err);
    case P4__V1__ENTITY__ENTITY_DIRECT_METER_ENTRY:
        return answer_entries(a, e->direct_meter_entry->table_entry, (int)e->entity_case, err);
    case P4__V1__ENTITY__ENTITY_ACTION_PROFILE_MEMBER:
        return p4rt_members_read(p, a, e->action_profile_member, err);
    case P4__V1__ENTITY__ENTITY_ACTION_PROFILE_GROUP:
        return p4rt_groups_read(p, a, e->action_profile_group, err);
    case P4__V1__ENTITY__ENTITY_COUNTER_ENTRY:
        return p4rt_cells_read(p, a, BRT_COUNTER, e->counter_entry->counter_id,
                               e->counter_entry->index, err);
    case P4__V1__ENTITY__ENTITY_METER_ENTRY:
        return p4rt_cells_read(p, a, BRT_METER, e->meter_entry->meter_id, e->meter_entry->index,
                               err);
    case P4__V1__ENTITY__ENTITY_REGISTER_ENTRY:
        return p4rt_cells_read(p, a, BRT_REGISTER, e->register_entry->register_id,
                               e->register_entry->index, err);
    case P4__V1__ENTITY__ENTITY_PACKET_REPLICATION_ENGINE_ENTRY:
        return p4rt_replicas_read(p, a, e->packet_replication_engine_entry, err);
    case P4__V1__ENTITY__ENTITY_DIGEST_ENTRY:
        return p4rt_digests_read(p, a, e->digest_entry, err);
    case P4__V1__ENTITY__ENTITY_VALUE_SET_ENTRY:
        return p4rt_fail(err, RPC_UNIMPLEMENTED, "value sets are not served");
    case P4__V1__ENTITY__ENTITY_EXTERN_ENTRY:
        return p4rt_fail(err, RPC_UNIMPLEMENTED, "entries of other externs are not served");
    default:
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "the request names nothing to read");
    }
}

static void answer_request(struct p4rt *p, const struct brt_call *c,
                           const P4__V1__ReadRequest *request) {
    struct p4rt_answer a = {.p = p, .call = c, .pauses = brt_pauses(p->b, false)};
    struct sk_error err;
    enum rpc_status status = p4rt_check_device(p, request->device_id, &err);
    if (status == RPC_OK && !p->info)
        status = p4rt_fail(&err, RPC_FAILED_PRECONDITION, "the switch runs no program yet");
    for (size_t i = 0; status == RPC_OK && i < request->n_entities; i++) {
        status = answer_entity(&a, request->entities[i], &err);
        brt_memory_reuse(brt_scratch_memory(p->b));
    }
    if (a.paused)
        sk_pauses_end(a.pauses);
    if (status == RPC_OK)
        answer_flush(&a);
    free(a.out.bytes);
    p4rt_end(c, status, status ? err.text : NULL);
}

void p4rt_read(struct p4rt *p, const struct brt_call *c, const uint8_t *bytes, size_t length) {
    struct brt_memory *memory = brt_request_memory(p->b);
    const P4__V1__ReadRequest *request =
        p4__v1__read_request__unpack(&memory->allocator, length, bytes);
    if (!request) {
        p4rt_end_unread(p, c);
        return;
    }
    answer_request(p, c, request);
    brt_memory_reuse(memory);
}

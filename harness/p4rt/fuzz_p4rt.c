// SPDX-License-Identifier: Apache-2.0
//
// fuzz_p4rt: calls of P4Runtime's clients, without a network: the fuzzer's bytes as messages, or
// messages made of them with ids of the program's objects, so that keys, actions and data meet what
// they are checked against. A call must end exactly once, and what is sent must be a message.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness/brt/fuzz_calls.h"
#include "p4rt/p4rt_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_UPDATES 4u
#define MOST_FIELDS  6u
#define MOST_BYTES   20u

// ---- the switch ----

static bool fuzz_packet_out(void *aux, const uint8_t *frame, uint32_t length) {
    (void)aux;
    return length == 0 || frame[length - 1] < 128;
}

static struct p4rt *fuzz_service(void) {
    static struct p4rt *p;
    struct sk_error err;
    char error[256];
    if (p)
        return p;
    static struct sk_program *program;
    program = fuzz_program();
    struct sk_switch *sw = sk_switch_new(program, &(struct sk_switch_options){.tx = sk_tx_nowhere},
                                         error, sizeof error);
    struct brt *b = brt_new(&(struct brt_host){0});
    char *schema = fuzz_description(false), *p4info = fuzz_description(true);
    const struct brt_description d = {"everything", schema, "control c() {}"};
    if (!sw || brt_run_programs(b, sw, &d, 1, &err))
        abort();
    p = p4rt_new(b, 1, &(struct p4rt_host){.packet_out = fuzz_packet_out});
    if (p4rt_run_program(p, p4info, &err))
        abort();
    free(schema);
    free(p4info);
    return p;
}

// ---- calls ----

static void fuzz_end(void *call, enum rpc_status status, const char *message,
                     const uint8_t *details, size_t length) {
    struct fuzz_call *c = call;
    c->ended++;
    if (status != RPC_OK && (!message || !*message))
        abort();
    if (details && status != RPC_UNKNOWN)
        abort();
    (void)length;
}

static const struct brt_carrier carrier = {
    .send = fuzz_send, .give = fuzz_give, .end = fuzz_end, .metadata = fuzz_metadata};

// ---- messages out of bytes ----

static ProtobufCBinaryData fuzz_bytes(struct fuzz_input *in) {
    ProtobufCBinaryData out = {.len = fuzz_byte(in) % MOST_BYTES};
    out.data = fuzz_take(in, out.len + 1);
    for (size_t i = 0; i < out.len; i++)
        out.data[i] = fuzz_byte(in);
    return out;
}

static int64_t fuzz_number(struct fuzz_input *in) {
    const uint8_t byte = fuzz_byte(in);
    return byte < 200 ? byte % 20 : byte < 220 ? -1 : INT64_MAX >> byte % 60;
}

static P4__V1__FieldMatch *fuzz_match(struct fuzz_input *in, uint32_t id) {
    P4__V1__FieldMatch *m = FUZZ_NEW(in, P4__V1__FieldMatch, P4__V1__FIELD_MATCH__INIT);
    m->field_id = id;
    switch (fuzz_byte(in) % 5) {
    case 0:
        m->field_match_type_case = P4__V1__FIELD_MATCH__FIELD_MATCH_TYPE_EXACT;
        m->exact = FUZZ_NEW(in, P4__V1__FieldMatch__Exact, P4__V1__FIELD_MATCH__EXACT__INIT);
        m->exact->value = fuzz_bytes(in);
        break;
    case 1:
        m->field_match_type_case = P4__V1__FIELD_MATCH__FIELD_MATCH_TYPE_TERNARY;
        m->ternary = FUZZ_NEW(in, P4__V1__FieldMatch__Ternary, P4__V1__FIELD_MATCH__TERNARY__INIT);
        m->ternary->value = m->ternary->mask = fuzz_bytes(in);
        break;
    case 2:
        m->field_match_type_case = P4__V1__FIELD_MATCH__FIELD_MATCH_TYPE_LPM;
        m->lpm = FUZZ_NEW(in, P4__V1__FieldMatch__LPM, P4__V1__FIELD_MATCH__LPM__INIT);
        m->lpm->value = fuzz_bytes(in);
        m->lpm->prefix_len = (int32_t)fuzz_number(in);
        break;
    case 3:
        m->field_match_type_case = P4__V1__FIELD_MATCH__FIELD_MATCH_TYPE_RANGE;
        m->range = FUZZ_NEW(in, P4__V1__FieldMatch__Range, P4__V1__FIELD_MATCH__RANGE__INIT);
        m->range->low = fuzz_bytes(in);
        m->range->high = fuzz_bytes(in);
        break;
    default:
        break;
    }
    return m;
}

static P4__V1__Action *fuzz_action_of(struct fuzz_input *in, const P4__Config__V1__Action *of) {
    P4__V1__Action *a = FUZZ_NEW(in, P4__V1__Action, P4__V1__ACTION__INIT);
    const size_t n = fuzz_byte(in) < 230 ? of->n_params : fuzz_byte(in) % MOST_FIELDS;
    a->action_id = of->preamble->id;
    a->params = fuzz_take(in, (n + 1) * sizeof *a->params);
    while (a->n_params < n) {
        P4__V1__Action__Param *param =
            FUZZ_NEW(in, P4__V1__Action__Param, P4__V1__ACTION__PARAM__INIT);
        param->param_id = (uint32_t)a->n_params + 1;
        param->value = fuzz_bytes(in);
        a->params[a->n_params++] = param;
    }
    return a;
}

static P4__V1__Action *fuzz_action(struct fuzz_input *in) {
    const P4__Config__V1__P4Info *info = fuzz_service()->info->message;
    return fuzz_action_of(in, info->actions[fuzz_byte(in) % info->n_actions]);
}

// Mostly one that entries of the table can have, or a profile's members.
static P4__V1__Action *fuzz_action_in(struct fuzz_input *in, const P4__Config__V1__Table *t) {
    const P4__Config__V1__P4Info *info = fuzz_service()->info->message;
    const uint8_t which = fuzz_byte(in);
    for (size_t i = 0; which < 250 && t->n_action_refs && i < info->n_actions; i++)
        if (info->actions[i]->preamble->id == t->action_refs[which % 2 % t->n_action_refs]->id)
            return fuzz_action_of(in, info->actions[i]);
    return fuzz_action(in);
}

static P4__V1__ActionProfileActionSet *fuzz_set(struct fuzz_input *in,
                                                const P4__Config__V1__Table *t) {
    P4__V1__ActionProfileActionSet *s =
        FUZZ_NEW(in, P4__V1__ActionProfileActionSet, P4__V1__ACTION_PROFILE_ACTION_SET__INIT);
    const size_t n = fuzz_byte(in) % MOST_FIELDS;
    s->action_profile_actions = fuzz_take(in, (n + 1) * sizeof *s->action_profile_actions);
    while (s->n_action_profile_actions < n) {
        P4__V1__ActionProfileAction *a =
            FUZZ_NEW(in, P4__V1__ActionProfileAction, P4__V1__ACTION_PROFILE_ACTION__INIT);
        const uint8_t how = fuzz_byte(in);
        a->action = how < 250 ? fuzz_action_in(in, t) : NULL;
        a->weight = how < 200 ? 1 + how % 3 : (int32_t)fuzz_number(in);
        s->action_profile_actions[s->n_action_profile_actions++] = a;
    }
    return s;
}

static P4__V1__TableAction *fuzz_table_action(struct fuzz_input *in,
                                              const P4__Config__V1__Table *t) {
    P4__V1__TableAction *a = FUZZ_NEW(in, P4__V1__TableAction, P4__V1__TABLE_ACTION__INIT);
    const uint8_t kind = fuzz_byte(in);
    if (kind < 100) {
        a->type_case = P4__V1__TABLE_ACTION__TYPE_ACTION;
        a->action = fuzz_action(in);
    } else if (kind < 140) {
        a->type_case = P4__V1__TABLE_ACTION__TYPE_ACTION_PROFILE_MEMBER_ID;
        a->action_profile_member_id = (uint32_t)fuzz_number(in);
    } else if (kind < 180) {
        a->type_case = P4__V1__TABLE_ACTION__TYPE_ACTION_PROFILE_GROUP_ID;
        a->action_profile_group_id = (uint32_t)fuzz_number(in);
    } else if (kind < 252) {
        a->type_case = P4__V1__TABLE_ACTION__TYPE_ACTION_PROFILE_ACTION_SET;
        a->action_profile_action_set = fuzz_set(in, t);
    }
    return a;
}

static P4__V1__CounterData *fuzz_counts(struct fuzz_input *in) {
    P4__V1__CounterData *d = FUZZ_NEW(in, P4__V1__CounterData, P4__V1__COUNTER_DATA__INIT);
    d->packet_count = fuzz_number(in);
    d->byte_count = fuzz_number(in);
    return d;
}

static P4__V1__MeterConfig *fuzz_meter(struct fuzz_input *in) {
    P4__V1__MeterConfig *m = FUZZ_NEW(in, P4__V1__MeterConfig, P4__V1__METER_CONFIG__INIT);
    m->cir = fuzz_number(in);
    m->pir = fuzz_number(in);
    m->cburst = fuzz_number(in);
    m->pburst = fuzz_number(in);
    return m;
}

static P4__V1__TableEntry *fuzz_entry(struct fuzz_input *in) {
    const struct p4rt_info *info = fuzz_service()->info;
    P4__V1__TableEntry *e = FUZZ_NEW(in, P4__V1__TableEntry, P4__V1__TABLE_ENTRY__INIT);
    const P4__Config__V1__Table *t = info->tables[fuzz_byte(in) % info->n_tables].info;
    const uint8_t parts = fuzz_byte(in), more = fuzz_byte(in);
    e->table_id = parts == 255 ? 0 : t->preamble->id;
    e->match = fuzz_take(in, (t->n_match_fields + 2) * sizeof *e->match);
    for (uint32_t i = 0; parts & 1 && i < t->n_match_fields; i++)
        if (fuzz_byte(in) < 200)
            e->match[e->n_match++] = fuzz_match(in, i + 1);
    if (parts & 2)
        e->match[e->n_match++] = fuzz_match(in, fuzz_byte(in) % MOST_FIELDS);
    if (parts & 4)
        e->action = fuzz_table_action(in, t);
    e->priority = parts & 8 ? (int32_t)fuzz_number(in) : 0;
    e->is_default_action = parts % 16 == 15;
    if (more & 1)
        e->counter_data = fuzz_counts(in);
    if (more & 2)
        e->meter_config = fuzz_meter(in);
    if (more & 4)
        e->metadata = fuzz_bytes(in);
    if (more & 8)
        e->idle_timeout_ns = fuzz_number(in);
    if (more & 16)
        e->time_since_last_hit =
            FUZZ_NEW(in, P4__V1__TableEntry__IdleTimeout, P4__V1__TABLE_ENTRY__IDLE_TIMEOUT__INIT);
    return e;
}

static P4__V1__Index *fuzz_index(struct fuzz_input *in) {
    P4__V1__Index *i = FUZZ_NEW(in, P4__V1__Index, P4__V1__INDEX__INIT);
    i->index = fuzz_number(in);
    return fuzz_byte(in) < 240 ? i : NULL;
}

static uint32_t fuzz_profile(struct fuzz_input *in) {
    const P4__Config__V1__P4Info *info = fuzz_service()->info->message;
    const uint8_t i = fuzz_byte(in);
    return i > 250 ? 0 : info->action_profiles[i % info->n_action_profiles]->preamble->id;
}

static void fuzz_group(struct fuzz_input *in, P4__V1__Entity *out) {
    P4__V1__ActionProfileGroup *g =
        FUZZ_NEW(in, P4__V1__ActionProfileGroup, P4__V1__ACTION_PROFILE_GROUP__INIT);
    const size_t n = fuzz_byte(in) % MOST_FIELDS;
    g->action_profile_id = fuzz_profile(in);
    g->group_id = (uint32_t)fuzz_number(in);
    g->max_size = (int32_t)fuzz_number(in);
    g->members = fuzz_take(in, (n + 1) * sizeof *g->members);
    while (g->n_members < n) {
        P4__V1__ActionProfileGroup__Member *m = FUZZ_NEW(
            in, P4__V1__ActionProfileGroup__Member, P4__V1__ACTION_PROFILE_GROUP__MEMBER__INIT);
        m->member_id = (uint32_t)fuzz_number(in);
        m->weight = (int32_t)fuzz_number(in);
        g->members[g->n_members++] = m;
    }
    out->entity_case = P4__V1__ENTITY__ENTITY_ACTION_PROFILE_GROUP;
    out->action_profile_group = g;
}

static void fuzz_member(struct fuzz_input *in, P4__V1__Entity *out) {
    P4__V1__ActionProfileMember *m =
        FUZZ_NEW(in, P4__V1__ActionProfileMember, P4__V1__ACTION_PROFILE_MEMBER__INIT);
    m->action_profile_id = fuzz_profile(in);
    m->member_id = (uint32_t)fuzz_number(in);
    m->action = fuzz_byte(in) < 230 ? fuzz_action(in) : NULL;
    out->entity_case = P4__V1__ENTITY__ENTITY_ACTION_PROFILE_MEMBER;
    out->action_profile_member = m;
}

static void fuzz_register(struct fuzz_input *in, P4__V1__RegisterEntry *r) {
    P4__V1__P4Data *list = fuzz_take(in, 3 * sizeof *list);
    for (int i = 0; i < 3; i++) {
        p4__v1__p4_data__init(&list[i]);
        list[i].data_case = P4__V1__P4_DATA__DATA_BITSTRING;
        list[i].bitstring = fuzz_bytes(in);
    }
    r->data = list;
    if (fuzz_byte(in) & 1) {
        list->data_case = P4__V1__P4_DATA__DATA_TUPLE;
        list->tuple = FUZZ_NEW(in, P4__V1__P4StructLike, P4__V1__P4_STRUCT_LIKE__INIT);
        list->tuple->members = fuzz_take(in, 2 * sizeof *list->tuple->members);
        list->tuple->members[0] = &list[1];
        list->tuple->members[1] = &list[2];
        list->tuple->n_members = 2;
    }
}

static void fuzz_cell(struct fuzz_input *in, P4__V1__Entity *out) {
    const struct p4rt_info *info = fuzz_service()->info;
    const struct p4rt_array *a = &info->arrays[fuzz_byte(in) % info->n_arrays];
    if (a->table->kind == BRT_COUNTER) {
        out->entity_case = P4__V1__ENTITY__ENTITY_COUNTER_ENTRY;
        out->counter_entry = FUZZ_NEW(in, P4__V1__CounterEntry, P4__V1__COUNTER_ENTRY__INIT);
        out->counter_entry->counter_id = a->id;
        out->counter_entry->index = fuzz_index(in);
        out->counter_entry->data = fuzz_counts(in);
    } else if (a->table->kind == BRT_METER) {
        out->entity_case = P4__V1__ENTITY__ENTITY_METER_ENTRY;
        out->meter_entry = FUZZ_NEW(in, P4__V1__MeterEntry, P4__V1__METER_ENTRY__INIT);
        out->meter_entry->meter_id = a->id;
        out->meter_entry->index = fuzz_index(in);
        out->meter_entry->config = fuzz_byte(in) & 1 ? fuzz_meter(in) : NULL;
    } else {
        out->entity_case = P4__V1__ENTITY__ENTITY_REGISTER_ENTRY;
        out->register_entry = FUZZ_NEW(in, P4__V1__RegisterEntry, P4__V1__REGISTER_ENTRY__INIT);
        out->register_entry->register_id = a->id;
        out->register_entry->index = fuzz_index(in);
        fuzz_register(in, out->register_entry);
    }
}

static P4__V1__Replica **fuzz_replicas(struct fuzz_input *in, size_t *n) {
    P4__V1__Replica **list = fuzz_take(in, MOST_FIELDS * sizeof *list);
    *n = fuzz_byte(in) % MOST_FIELDS;
    for (size_t i = 0; i < *n; i++) {
        list[i] = FUZZ_NEW(in, P4__V1__Replica, P4__V1__REPLICA__INIT);
        list[i]->port_kind_case = P4__V1__REPLICA__PORT_KIND_EGRESS_PORT;
        list[i]->egress_port = fuzz_byte(in);
        list[i]->instance = fuzz_byte(in) % 4;
    }
    return list;
}

static void fuzz_copies(struct fuzz_input *in, P4__V1__Entity *out) {
    P4__V1__PacketReplicationEngineEntry *e = FUZZ_NEW(
        in, P4__V1__PacketReplicationEngineEntry, P4__V1__PACKET_REPLICATION_ENGINE_ENTRY__INIT);
    out->entity_case = P4__V1__ENTITY__ENTITY_PACKET_REPLICATION_ENGINE_ENTRY;
    out->packet_replication_engine_entry = e;
    if (fuzz_byte(in) & 1) {
        P4__V1__MulticastGroupEntry *g =
            FUZZ_NEW(in, P4__V1__MulticastGroupEntry, P4__V1__MULTICAST_GROUP_ENTRY__INIT);
        e->type_case = P4__V1__PACKET_REPLICATION_ENGINE_ENTRY__TYPE_MULTICAST_GROUP_ENTRY;
        e->multicast_group_entry = g;
        g->multicast_group_id = (uint32_t)fuzz_number(in);
        g->replicas = fuzz_replicas(in, &g->n_replicas);
    } else {
        P4__V1__CloneSessionEntry *s =
            FUZZ_NEW(in, P4__V1__CloneSessionEntry, P4__V1__CLONE_SESSION_ENTRY__INIT);
        e->type_case = P4__V1__PACKET_REPLICATION_ENGINE_ENTRY__TYPE_CLONE_SESSION_ENTRY;
        e->clone_session_entry = s;
        s->session_id = (uint32_t)fuzz_number(in);
        s->class_of_service = fuzz_byte(in) % 9;
        s->replicas = fuzz_replicas(in, &s->n_replicas);
    }
}

static P4__V1__Entity *fuzz_entity(struct fuzz_input *in) {
    P4__V1__Entity *e = FUZZ_NEW(in, P4__V1__Entity, P4__V1__ENTITY__INIT);
    const uint8_t kind = fuzz_byte(in);
    if (kind < 120) {
        e->entity_case = P4__V1__ENTITY__ENTITY_TABLE_ENTRY;
        e->table_entry = fuzz_entry(in);
    } else if (kind < 140) {
        e->entity_case = P4__V1__ENTITY__ENTITY_DIRECT_COUNTER_ENTRY;
        e->direct_counter_entry =
            FUZZ_NEW(in, P4__V1__DirectCounterEntry, P4__V1__DIRECT_COUNTER_ENTRY__INIT);
        e->direct_counter_entry->table_entry = fuzz_byte(in) < 240 ? fuzz_entry(in) : NULL;
        e->direct_counter_entry->data = fuzz_counts(in);
    } else if (kind < 160) {
        e->entity_case = P4__V1__ENTITY__ENTITY_DIRECT_METER_ENTRY;
        e->direct_meter_entry =
            FUZZ_NEW(in, P4__V1__DirectMeterEntry, P4__V1__DIRECT_METER_ENTRY__INIT);
        e->direct_meter_entry->table_entry = fuzz_byte(in) < 240 ? fuzz_entry(in) : NULL;
        e->direct_meter_entry->config = fuzz_byte(in) & 1 ? fuzz_meter(in) : NULL;
    } else if (kind < 180)
        fuzz_member(in, e);
    else if (kind < 200)
        fuzz_group(in, e);
    else if (kind < 225)
        fuzz_cell(in, e);
    else if (kind < 250)
        fuzz_copies(in, e);
    return e;
}

// ---- one call after the other ----

static void fuzz_write(struct fuzz_input *in, struct brt_bytes *out) {
    for (size_t n = 1 + fuzz_byte(in) % MOST_UPDATES; n > 0; n--) {
        P4__V1__Update update = P4__V1__UPDATE__INIT;
        update.type = (P4__V1__Update__Type)(fuzz_byte(in) % 4);
        update.entity = fuzz_entity(in);
        brt_append(out, 4, &update.base);
    }
}

static void fuzz_read(struct fuzz_input *in, struct brt_bytes *out) {
    for (size_t n = 1 + fuzz_byte(in) % MOST_UPDATES; n > 0; n--)
        brt_append(out, 2, &fuzz_entity(in)->base);
}

static const struct {
    p4rt_call_fn *call;
    void (*make)(struct fuzz_input *in, struct brt_bytes *out); // null: the bytes themselves
    const ProtobufCMessageDescriptor *answer;
    bool stream;
} calls[] = {
    {p4rt_write, fuzz_write, &p4__v1__write_response__descriptor, false},
    {p4rt_read, fuzz_read, &p4__v1__read_response__descriptor, false},
    {p4rt_write, NULL, &p4__v1__write_response__descriptor, false},
    {p4rt_read, NULL, &p4__v1__read_response__descriptor, false},
    {p4rt_set_config, NULL, &p4__v1__set_forwarding_pipeline_config_response__descriptor, false},
    {p4rt_get_config, NULL, &p4__v1__get_forwarding_pipeline_config_response__descriptor, false},
    {p4rt_capabilities, NULL, &p4__v1__capabilities_response__descriptor, false},
    {p4rt_stream_message, NULL, &p4__v1__stream_message_response__descriptor, true},
};

// The primary client, for the length of an input: the largest election id of the default role.
#define MOST     "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
#define ELECTION "\x08\x01\x1a\x16\x08" MOST "\x10" MOST
static const uint8_t arbitration[] = "\x0a\x1a" ELECTION, of_write[] = ELECTION,
                     of_read[] = "\x08\x01";

static void fuzz_one(struct fuzz_input *in, struct p4rt *p) {
    const size_t i = fuzz_byte(in) % (sizeof calls / sizeof *calls);
    struct fuzz_call call = {.answer = calls[i].answer};
    struct brt_bytes made = {0};
    const uint8_t *bytes = in->at;
    size_t length = fuzz_byte(in);
    if (calls[i].make) {
        calls[i].make(in, &made);
        made.bytes = realloc(made.bytes, made.n + sizeof of_write);
        if (!made.bytes)
            abort();
        const bool writes = calls[i].call == p4rt_write;
        const size_t n = writes ? sizeof of_write - 1 : sizeof of_read - 1;
        memcpy(made.bytes + made.n, writes ? of_write : of_read, n);
        bytes = made.bytes;
        length = made.n + n;
    } else {
        bytes = in->at;
        length = length < (size_t)(in->end - in->at) ? length : (size_t)(in->end - in->at);
        in->at += length;
    }
    calls[i].call(p, &(struct brt_call){&carrier, &call}, bytes, length);
    if (call.ended != 1 && !(calls[i].stream && call.ended == 0))
        abort();
    p4rt_stream_over(p, &call);
    free(made.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct p4rt *p = fuzz_service();
    struct fuzz_input in = {.at = data, .end = data + size};
    struct fuzz_call primary = {.answer = &p4__v1__stream_message_response__descriptor};
    brt_memory_init(&in.memory, (size_t)64 << 20);
    p4rt_stream_message(p, &(struct brt_call){&carrier, &primary}, arbitration,
                        sizeof arbitration - 1);
    while (in.at < in.end)
        fuzz_one(&in, p);
    p4rt_stream_over(p, &primary);
    brt_memory_free(&in.memory);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
//
// What clients are told without asking. A client that does not take what it is sent gets no more
// until there is room again; what it misses is counted.
#include <string.h>

#include "brt/brt_impl.h"
#include "brt/fixed/fixed.h"

static void notify_send(struct brt *b, struct brt_client *c, const ProtobufCMessage *message) {
    if (c->full) {
        b->lost++;
        return;
    }
    c->full = !brt_send(&c->stream, message);
}

void brt_stream_room(struct brt *b, const void *call) {
    for (size_t i = 0; i < BRT_CLIENTS; i++)
        if (b->clients[i].used && b->clients[i].stream.call == call)
            b->clients[i].full = false;
}

uint64_t brt_lost(const struct brt *b) {
    return b->lost;
}

// ---- warm starts ----

void brt_tell_start(struct brt *b, BfrtProto__SetForwardingPipelineConfigResponseType what) {
    BfrtProto__StreamMessageResponse response = BFRT_PROTO__STREAM_MESSAGE_RESPONSE__INIT;
    BfrtProto__SetForwardingPipelineConfigResponse told =
        BFRT_PROTO__SET_FORWARDING_PIPELINE_CONFIG_RESPONSE__INIT;
    told.set_forwarding_pipeline_config_response_type = what;
    response.update_case =
        BFRT_PROTO__STREAM_MESSAGE_RESPONSE__UPDATE_SET_FORWARDING_PIPELINE_CONFIG_RESPONSE;
    response.set_forwarding_pipeline_config_response = &told;
    for (size_t i = 0; i < BRT_CLIENTS; i++)
        if (b->clients[i].used)
            notify_send(b, &b->clients[i], &response.base);
}

// ---- ports ----

#define NOTIFY_PORTS_NS UINT64_C(50000000) // between two looks

static void notify_port(struct brt *b, uint16_t port, bool up) {
    BfrtProto__StreamMessageResponse response = BFRT_PROTO__STREAM_MESSAGE_RESPONSE__INIT;
    BfrtProto__PortStatusChgNotification told = BFRT_PROTO__PORT_STATUS_CHG_NOTIFICATION__INIT;
    BfrtProto__TableEntry entry = BFRT_PROTO__TABLE_ENTRY__INIT;
    BfrtProto__TableKey key = BFRT_PROTO__TABLE_KEY__INIT;
    BfrtProto__KeyField field = BFRT_PROTO__KEY_FIELD__INIT, *fields = &field;
    BfrtProto__KeyField__Exact exact = BFRT_PROTO__KEY_FIELD__EXACT__INIT;
    uint8_t number[4] = {0, 0, (uint8_t)(port >> 8), (uint8_t)port};
    exact.value = (ProtobufCBinaryData){.data = number, .len = sizeof number};
    field.field_id = 1; // $DEV_PORT
    field.match_type_case = BFRT_PROTO__KEY_FIELD__MATCH_TYPE_EXACT;
    field.exact = &exact;
    key.n_fields = 1;
    key.fields = &fields;
    entry.table_id = FIXED_PORT_ID;
    entry.value_case = BFRT_PROTO__TABLE_ENTRY__VALUE_KEY;
    entry.key = &key;
    told.table_entry = &entry;
    told.port_up = up;
    response.update_case =
        BFRT_PROTO__STREAM_MESSAGE_RESPONSE__UPDATE_PORT_STATUS_CHANGE_NOTIFICATION;
    response.port_status_change_notification = &told;
    for (size_t i = 0; i < BRT_CLIENTS; i++)
        if (b->clients[i].used && b->clients[i].ports)
            notify_send(b, &b->clients[i], &response.base);
}

void brt_notify_ports(struct brt *b, uint64_t now_ns) {
    if (!b->tells_ports || now_ns < b->ports_due)
        return;
    b->ports_due = now_ns + NOTIFY_PORTS_NS;
    for (unsigned port = 0; port < SK_PORTS; port++) {
        const uint64_t bit = UINT64_C(1) << port % 64;
        const bool up = fixed_port_is_up(b, (uint16_t)port);
        if (up == ((b->ports_up[port / 64] & bit) != 0))
            continue;
        b->ports_up[port / 64] ^= bit;
        notify_port(b, (uint16_t)port, up);
    }
}

// ---- digests ----

static bool notify_wants_digests(const struct brt_client *c) {
    return c->used && c->bound && c->learn;
}

// Until a warm start ends, digests and idle entries are the old program's.
bool brt_wants_digests(const struct brt *b) {
    for (size_t i = 0; i < BRT_CLIENTS && !brt_has_begun(b); i++)
        if (notify_wants_digests(&b->clients[i]))
            return true;
    return false;
}

static BfrtProto__TableData *notify_digest_data(struct brt_memory *m, const struct brt_learn *l,
                                                const struct sk_digest *d) {
    BfrtProto__TableData *data = brt_take(m, sizeof *data);
    BfrtProto__DataField *fields = brt_take(m, (l->n + 1) * sizeof *fields);
    BfrtProto__DataField **list = brt_take(m, (l->n + 1) * sizeof *list);
    if (!data || !fields || !list)
        return NULL;
    bfrt_proto__table_data__init(data);
    data->fields = list;
    for (size_t i = 0; i < l->n; i++) {
        uint64_t words[SK_DIGEST_BYTES] = {0};
        bfrt_proto__data_field__init(&fields[i]);
        fields[i].field_id = l->fields[i].id;
        fields[i].value_case = BFRT_PROTO__DATA_FIELD__VALUE_STREAM;
        sk_digest_field(d, (uint32_t)i, words);
        if (!brt_stream(m, words, l->fields[i].width, &fields[i].stream))
            return NULL;
        list[data->n_fields++] = &fields[i];
    }
    return data;
}

// A list of one pipe and one kind.
static void notify_digest_list(struct brt *b, size_t program, const struct brt_learn *l,
                               const struct sk_digest *d, size_t n) {
    BfrtProto__StreamMessageResponse response = BFRT_PROTO__STREAM_MESSAGE_RESPONSE__INIT;
    BfrtProto__DigestList list = BFRT_PROTO__DIGEST_LIST__INIT;
    BfrtProto__TargetDevice target = BFRT_PROTO__TARGET_DEVICE__INIT;
    list.data = brt_take(&b->scratch, n * sizeof *list.data);
    while (list.data && list.n_data < n &&
           (list.data[list.n_data] = notify_digest_data(&b->scratch, l, &d[list.n_data])))
        list.n_data++;
    target.pipe_id = d->pipe;
    target.direction = target.prsr_id = 0xff;
    list.digest_id = l->id;
    list.target = &target;
    response.update_case = BFRT_PROTO__STREAM_MESSAGE_RESPONSE__UPDATE_DIGEST;
    response.digest = &list;
    for (size_t i = 0; i < BRT_CLIENTS && list.n_data; i++)
        if (notify_wants_digests(&b->clients[i]) && b->clients[i].program == program)
            notify_send(b, &b->clients[i], &response.base);
    brt_memory_reuse(&b->scratch);
}

void brt_digests(struct brt *b, const struct sk_digest *digests, size_t n) {
    for (size_t i = 0, more; b->now.n && !brt_has_begun(b) && i < n; i += more) {
        const struct sk_digest *d = &digests[i];
        const size_t program = brt_program_of_pipe(b, d->pipe);
        const struct brt_learn *l =
            brt_schema_learn(b->now.programs[program].schema, d->desc->name);
        for (more = 1; i + more < n && d[more].desc == d->desc && d[more].pipe == d->pipe;)
            more++;
        if (l && l->n == d->desc->n_fields)
            notify_digest_list(b, program, l, d, more);
    }
}

// ---- idle entries ----

bool brt_wants_idle(const struct brt *b) {
    for (size_t i = 0; i < b->now.n && !brt_has_begun(b); i++)
        if (brt_schema_notifies(b->now.programs[i].schema))
            return true;
    return false;
}

// A program's table, and what clients have set on it. Null when no program has the table.
static const struct brt_table *notify_table(const struct brt *b, const struct sk_table_desc *desc,
                                            const struct brt_table_state **state) {
    for (size_t i = 0; i < b->now.n; i++) {
        struct brt_schema *schema = b->now.programs[i].schema;
        const struct brt_table *t = brt_schema_of(schema, desc);
        if (!t)
            continue;
        *state = brt_schema_state(schema, t);
        return t;
    }
    return NULL;
}

bool brt_is_asymmetric(const struct brt *b, const struct sk_table_desc *table) {
    const struct brt_table_state *state;
    return notify_table(b, table, &state) && state->scope == BRT_SCOPE_SINGLE;
}

void brt_idle(struct brt *b, const struct sk_idle_event *event) {
    const struct brt_table_state *set;
    const struct brt_table *t = brt_has_begun(b) ? NULL : notify_table(b, event->table, &set);
    struct brt_client *c =
        t && set->idle.notifies && set->idle.enabled ? brt_client(b, set->idle.client) : NULL;
    if (!c || (event->idle ? !c->idle : !c->active))
        return;
    BfrtProto__StreamMessageResponse response = BFRT_PROTO__STREAM_MESSAGE_RESPONSE__INIT;
    BfrtProto__IdleTimeoutNotification told = BFRT_PROTO__IDLE_TIMEOUT_NOTIFICATION__INIT;
    BfrtProto__TableEntry entry = BFRT_PROTO__TABLE_ENTRY__INIT;
    BfrtProto__TargetDevice target = BFRT_PROTO__TARGET_DEVICE__INIT;
    const struct sk_entry *e = event->entry;
    target.pipe_id = brt_is_asymmetric(b, event->table) ? event->pipe : BRT_ALL_PIPES;
    target.direction = target.prsr_id = 0xff;
    entry.table_id = t->id;
    told.target = &target;
    told.table_entry = &entry;
    told.type = event->idle
                    ? BFRT_PROTO__IDLE_TIMEOUT_NOTIFICATION__NOTIFICATION_TYPE__ENTRY_IDLE
                    : BFRT_PROTO__IDLE_TIMEOUT_NOTIFICATION__NOTIFICATION_TYPE__ENTRY_ACTIVE;
    response.update_case = BFRT_PROTO__STREAM_MESSAGE_RESPONSE__UPDATE_IDLE_TIMEOUT_NOTIFICATION;
    response.idle_timeout_notification = &told;
    if (brt_entry_key_message(&b->scratch, t, e->value, e->mask, e->priority, &entry))
        notify_send(b, c, &response.base);
    else
        b->lost++;
    brt_memory_reuse(&b->scratch);
}

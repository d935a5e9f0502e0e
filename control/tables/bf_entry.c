// SPDX-License-Identifier: Apache-2.0
#include "control/tables/bf_entry.h"

#include <string.h>

#include "control/tables/attached.h"
#include "control/tables/direct.h"
#include "control/tables/entry.h"
#include "control/tables/names.h"
#include "control/tables/port_metadata.h"

static const char port_metadata[] = "$PORT_METADATA";

// Cells are found by an index of this name.
static const struct {
    const char *index;
    enum sk_bf_kind kind;
} indices[] = {
    {"$ACTION_MEMBER_ID", SK_BF_MEMBER}, {"$SELECTOR_GROUP_ID", SK_BF_GROUP},
    {"$REGISTER_INDEX", SK_BF_REGISTER}, {"$COUNTER_INDEX", SK_BF_COUNTER},
    {"$METER_INDEX", SK_BF_METER},       {"$LPF_INDEX", SK_BF_METER},
    {"$WRED_INDEX", SK_BF_METER},
};
#define N_INDICES (sizeof indices / sizeof *indices)

static bool bf_entry_has(const struct sk_at *at, const char *key) {
    return json_object_get(at->value, key) != NULL;
}

enum sk_bf_kind sk_bf_kind(const struct sk_at *at) {
    struct sk_at key = sk_at_member(at, "key");
    const char *table = json_string_value(json_object_get(at->value, "table"));
    for (size_t i = 0; i < N_INDICES; i++)
        if (bf_entry_has(&key, indices[i].index))
            return indices[i].kind;
    if (table && sk_name_matches(table, port_metadata))
        return SK_BF_PORT_METADATA;
    bool acts = bf_entry_has(at, "action") || bf_entry_has(at, "member") ||
                bf_entry_has(at, "group") || bf_entry_has(at, "args");
    if (!acts && bf_entry_has(at, "data") && !bf_entry_has(at, "key"))
        return SK_BF_PARAM;
    return !acts && bf_entry_has(at, "key") && !bf_entry_has(at, "data") ? SK_BF_VALUE_SET
                                                                         : SK_BF_ENTRY;
}

// ---- reading ------------------------------------------------------------------------------------

// The one member of the key, whatever its name.
static uint64_t only_index(const struct sk_at *key, uint64_t most) {
    if (json_object_size(key->value) != 1) {
        sk_at_fail(key, "it must have only the index");
        return 0;
    }
    struct sk_at index =
        sk_at_member(key, json_object_iter_key(json_object_iter((json_t *)key->value)));
    return sk_at_number(&index, true, most);
}

static void bf_entry_read_cell(const struct sk_at *at, struct sk_bf_entry *out) {
    static const char *const keys[] = {"table", "pipe", "key", "data", NULL};
    const bool port = out->kind == SK_BF_PORT_METADATA;
    struct sk_at key = sk_at_member(at, "key"), data = sk_at_member(at, "data"),
                 pipe = sk_at_member(at, "pipe");
    sk_at_keys(at, keys);
    if (!data.value)
        sk_at_fail(&data, "it is missing");
    if (pipe.value && (port || out->kind == SK_BF_COUNTER))
        sk_at_fail(&pipe, "it is written in all pipes");
    out->data = sk_at_values(&data, &out->n_data);
    if (out->kind != SK_BF_PARAM)
        out->index = only_index(&key, port ? SK_PORTS - 1 : INT64_MAX);
    if (port && !at->doc->failed && !sk_port_exists((unsigned)out->index))
        sk_at_fail(&key, "%llu is not a device port", (unsigned long long)out->index);
}

static void bf_entry_read_group(const struct sk_at *at, struct sk_bf_entry *out) {
    static const char *const keys[] = {"table", "pipe", "key", "data", NULL};
    static const char *const names[] = {"$ACTION_MEMBER_ID", "$ACTION_MEMBER_STATUS",
                                        "$MAX_GROUP_SIZE", NULL};
    struct sk_at key = sk_at_member(at, "key"), data = sk_at_member(at, "data");
    sk_at_keys(at, keys);
    sk_at_keys(&data, names);
    struct sk_at members = sk_at_member(&data, names[0]), status = sk_at_member(&data, names[1]),
                 size = sk_at_member(&data, names[2]);
    size_t n = sk_at_length(&members);
    if (status.value && sk_at_length(&status) != n)
        sk_at_fail(&status, "it must have one for each member");
    struct sk_group_member *list = sk_json_keep(at->doc, n * sizeof *list);
    for (size_t i = 0; i < n && !at->doc->failed; i++) {
        struct sk_at member = sk_at_item(&members, i), up = sk_at_item(&status, i);
        if (up.value && !json_is_boolean(up.value))
            sk_at_fail(&up, "it must be true or false");
        list[i] = (struct sk_group_member){(uint32_t)sk_at_number(&member, true, UINT32_MAX),
                                           !up.value || json_is_true(up.value)};
    }
    out->group =
        (struct sk_group_spec){.selector = out->entry.table,
                               .id = (uint32_t)only_index(&key, UINT32_MAX),
                               .max_size = (uint32_t)sk_at_number(&size, false, UINT32_MAX),
                               .members = list,
                               .n = (uint32_t)n,
                               .pipe = out->entry.pipe};
}

static void bf_entry_read_value_set(const struct sk_at *at, struct sk_bf_entry *out) {
    static const char *const keys[] = {"table", "key", NULL};
    struct sk_at key = sk_at_member(at, "key");
    sk_at_keys(at, keys);
    out->entry.keys = sk_at_values(&key, &out->entry.n_keys);
}

void sk_bf_read(const struct sk_at *at, struct sk_bf_entry *out) {
    struct sk_at table = sk_at_member(at, "table");
    *out = (struct sk_bf_entry){.kind = sk_bf_kind(at)};
    if (out->kind == SK_BF_ENTRY || out->kind == SK_BF_MEMBER) {
        sk_at_entry(at, SK_AT_KEY | SK_AT_ACTION, &out->entry);
        return;
    }
    out->entry.table = sk_at_string(&table, true);
    out->entry.pipe = sk_at_pipe(at);
    if (out->kind == SK_BF_GROUP)
        bf_entry_read_group(at, out);
    else if (out->kind == SK_BF_VALUE_SET)
        bf_entry_read_value_set(at, out);
    else
        bf_entry_read_cell(at, out);
}

// ---- applying -----------------------------------------------------------------------------------

// Whether it is the field of one of the table's direct registers, and not an argument.
static const struct sk_field_desc *direct_field(const struct sk_table_desc *d, const char *name) {
    for (uint32_t i = 0; strchr(name, '.') && i < d->direct_words; i++)
        if (sk_name_matches(d->direct_fields[i].name, name))
            return &d->direct_fields[i];
    return NULL;
}

static int write_direct(struct sk_switch *sw, const struct sk_entry_spec *e,
                        const struct sk_table_desc *d, const struct sk_named_value *value,
                        struct sk_error *err) {
    const struct sk_field_desc *f = direct_field(d, value->name);
    const struct sk_direct direct = {
        .table = d->name, .word = (uint32_t)(f - d->direct_fields), .field = f};
    int rc = e->n_keys ? sk_control_direct_write(sw, e, &direct, value->value, err)
                       : sk_fail(err, "its entry must be named by a key");
    if (rc)
        sk_error_prefix(err, "'%s'", f->name);
    return rc;
}

// The entry without what belongs into direct registers, then that.
static int bf_entry_write(struct sk_switch *sw, const struct sk_entry_spec *e,
                          int (*write)(struct sk_switch *, const struct sk_entry_spec *,
                                       struct sk_error *),
                          struct sk_error *err) {
    struct sk_object o;
    struct sk_named_value args[SK_MAX_DATA_WORDS];
    struct sk_entry_spec plain = *e;
    if (e->n_args > SK_MAX_DATA_WORDS || sk_find_object(sw, SK_TABLE, e->table, &o, NULL))
        return write(sw, e, err);
    const struct sk_table_desc *d = o.desc->tables[o.index];
    plain.args = args;
    plain.n_args = 0;
    for (size_t i = 0; i < e->n_args; i++)
        if (!direct_field(d, e->args[i].name))
            args[plain.n_args++] = e->args[i];
    int rc = write(sw, &plain, err);
    for (size_t i = 0; rc == 0 && i < e->n_args; i++)
        if (direct_field(d, e->args[i].name))
            rc = write_direct(sw, e, d, &e->args[i], err);
    return rc;
}

static int write_register(struct sk_switch *sw, const struct sk_bf_entry *e, struct sk_error *err) {
    int rc = e->n_data ? 0 : sk_fail(err, "register '%s': no field is given", e->entry.table);
    for (size_t i = 0; rc == 0 && i < e->n_data; i++)
        rc = sk_control_register_write(sw, e->entry.table, e->index, e->data[i].name,
                                       e->data[i].value, e->entry.pipe, err);
    return rc;
}

static int write_param(struct sk_switch *sw, const struct sk_bf_entry *e, struct sk_error *err) {
    struct sk_object o;
    int rc = sk_find_object(sw, SK_REGISTER, e->entry.table, &o, err);
    if (rc)
        return rc;
    if (!o.desc->registers[o.index].is_param)
        return sk_fail(err,
                       "'%s' is not a RegisterParam; a cell of a register has a $REGISTER_INDEX",
                       sk_object_name(&o));
    if (e->n_data != 1 || strcmp(e->data[0].name, "value") != 0)
        return sk_fail(err, "register '%s': its data is \"value\"", sk_object_name(&o));
    return sk_control_register_write(sw, e->entry.table, 0, NULL, e->data[0].value, e->entry.pipe,
                                     err);
}

static int write_counter(struct sk_switch *sw, const struct sk_bf_entry *e, struct sk_error *err) {
    const struct sk_holder holder = {.what = "a counter", .counter = true, .counter_type = 2};
    struct sk_attached counts = {0};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < e->n_data; i++)
        rc = sk_attached_parse(&holder, e->data[i].name, e->data[i].value, &counts, err);
    return rc ? rc
              : sk_control_counter_write(sw, e->entry.table, e->index,
                                         &(struct sk_counter_cell){counts.packets, counts.bytes},
                                         err);
}

static int add_to_value_set(struct sk_switch *sw, const struct sk_bf_entry *e,
                            struct sk_error *err) {
    struct sk_object o;
    if (sk_find_object(sw, SK_VALUE_SET, e->entry.table, &o, err) &&
        sk_find_object(sw, SK_TABLE, e->entry.table, &o, NULL) == 0)
        return sk_fail(err, "table '%s': an action is missing", sk_object_name(&o));
    return sk_control_value_set_add(sw, e->entry.table, e->entry.keys, e->entry.n_keys, err);
}

static int write_port_metadata(struct sk_switch *sw, const struct sk_bf_entry *e,
                               struct sk_error *err) {
    if (e->n_data == 1 && strcmp(e->data[0].name, "$DEFAULT_FIELD") == 0)
        return sk_control_port_metadata_raw(sw, (uint16_t)e->index, e->data[0].value, err);
    return sk_control_port_metadata(sw, (uint16_t)e->index, e->data, e->n_data, err);
}

int sk_bf_apply(struct sk_switch *sw, const struct sk_bf_entry *e, struct sk_error *err) {
    switch (e->kind) {
    case SK_BF_MEMBER:
    case SK_BF_ENTRY:
        return bf_entry_write(sw, &e->entry, sk_control_entry_add, err);
    case SK_BF_GROUP:
        return sk_control_group_add(sw, &e->group, err);
    case SK_BF_REGISTER:
        return write_register(sw, e, err);
    case SK_BF_PARAM:
        return write_param(sw, e, err);
    case SK_BF_COUNTER:
        return write_counter(sw, e, err);
    case SK_BF_METER:
        return sk_control_meter_write(sw, NULL, e->entry.table, e->index, e->data, e->n_data,
                                      e->entry.pipe, err);
    case SK_BF_VALUE_SET:
        return add_to_value_set(sw, e, err);
    default:
        return write_port_metadata(sw, e, err);
    }
}

static bool entry_is_there(struct sk_switch *sw, const struct sk_entry_spec *e) {
    struct sk_found found;
    return sk_control_entry_find(sw, e, &found, NULL) == 0;
}

bool sk_bf_is_there(struct sk_switch *sw, const struct sk_bf_entry *e) {
    if (e->kind == SK_BF_GROUP)
        return sk_control_group_exists(sw, e->group.selector, e->group.id, e->group.pipe);
    return (e->kind == SK_BF_MEMBER || e->kind == SK_BF_ENTRY) && entry_is_there(sw, &e->entry);
}

int sk_bf_set(struct sk_switch *sw, const struct sk_bf_entry *e, struct sk_error *err) {
    switch (e->kind) {
    case SK_BF_MEMBER:
    case SK_BF_ENTRY:
        return bf_entry_write(
            sw, &e->entry,
            entry_is_there(sw, &e->entry) ? sk_control_entry_modify : sk_control_entry_add, err);
    case SK_BF_GROUP:
        return sk_control_group_exists(sw, e->group.selector, e->group.id, e->group.pipe)
                   ? sk_control_group_modify(sw, &e->group, err)
                   : sk_control_group_add(sw, &e->group, err);
    case SK_BF_VALUE_SET:
        sk_control_value_set_delete(sw, e->entry.table, e->entry.keys, e->entry.n_keys, NULL);
        return sk_bf_apply(sw, e, err);
    default:
        return sk_bf_apply(sw, e, err);
    }
}

int sk_bf_remove(struct sk_switch *sw, const struct sk_bf_entry *e, struct sk_error *err) {
    static const uint8_t nothing[SK_RESUBMIT_BYTES];
    switch (e->kind) {
    case SK_BF_MEMBER:
    case SK_BF_ENTRY:
        return entry_is_there(sw, &e->entry) ? sk_control_entry_delete(sw, &e->entry, err) : 1;
    case SK_BF_GROUP:
        return sk_control_group_exists(sw, e->group.selector, e->group.id, e->group.pipe)
                   ? sk_control_group_delete(sw, e->group.selector, e->group.id, e->group.pipe, err)
                   : 1;
    case SK_BF_METER:
        return sk_control_meter_reset(sw, NULL, e->entry.table, e->index, e->entry.pipe, err);
    case SK_BF_VALUE_SET:
        sk_control_value_set_delete(sw, e->entry.table, e->entry.keys, e->entry.n_keys, NULL);
        return 0;
    case SK_BF_PORT_METADATA:
        sk_switch_port_metadata(sw, (uint16_t)e->index, nothing, sizeof nothing);
        return 0;
    default:
        return 0;
    }
}

// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "control/tables/attached.h"
#include "control/schema/schema_impl.h"

static bool schema_tables_takes_priority(const struct sk_table_desc *d) {
    for (uint32_t i = 0; i < d->n_keys; i++)
        if (d->keys[i].match == SK_TERNARY || d->keys[i].match == SK_RANGE)
            return true;
    return false;
}

static bool must_have_key(const struct sk_table_desc *d) {
    for (uint32_t i = 0; i < d->n_keys; i++)
        if (d->keys[i].match == SK_EXACT)
            return true;
    return false;
}

// ---- arguments ----------------------------------------------------------------------------------

static void put_attached(void *properties, const char *name, const char *brief) {
    (void)brief; // only with a '$' in arguments
    json_object_set_new(properties, name, schema_text("{'$ref': '#/$defs/value'}"));
}

// What data of an entry may have besides arguments.
static void add_entry_data(json_t *properties, const struct sk_table_desc *d) {
    const struct sk_holder holder = sk_holder_of_table(d);
    sk_attached_each(&holder, put_attached, properties);
    for (uint32_t i = 0; i < d->direct_words; i++) {
        json_t *value = schema_value(&d->direct_fields[i]);
        for (const char *name = d->direct_fields[i].name; strchr(name, '.');
             name = strchr(name, '.') + 1)
            json_object_set(properties, name, value);
        json_decref(value);
    }
}

static json_t *arguments(const struct sk_table_desc *d, const struct sk_action_desc *a,
                         bool entry) {
    json_t *properties = json_object(), *all = json_array();
    if (entry)
        add_entry_data(properties, d);
    for (uint32_t i = 0; i < a->n_params; i++) {
        json_t *names = schema_field_names(a->params, a->n_params, i),
               *value = schema_value(&a->params[i]);
        schema_put(properties, names, value);
        json_array_append_new(all, schema_required(names));
        json_decref(names);
        json_decref(value);
    }
    return schema_object(properties, all);
}

// Where the action is this one: its arguments.
static json_t *action_rule(const struct sk_table_desc *d, uint32_t i, bool entry, bool data) {
    const struct sk_action_desc *a = d->actions[i];
    json_t *args = arguments(d, a, entry), *properties = json_pack("{s:O}", "args", args);
    if (data)
        json_object_set(properties, "data", args);
    json_t *then = json_pack("{s:o}", "properties", properties);
    if (a->n_params)
        json_object_set_new(then, "anyOf",
                            schema_text(data ? "[{'required': ['args']}, {'required': ['data']}]"
                                             : "[{'required': ['args']}]"));
    json_decref(args);
    return schema_when("action", schema_action_names(d, i), then);
}

static bool allowed(const struct sk_action_desc *a, bool entry) {
    return !a->refers && !(entry ? a->default_only : a->table_only);
}

// "action" is one of those that may stand here, with its arguments.
static void add_actions(json_t *then, const struct sk_table_desc *d, bool entry, bool data) {
    json_t *names = json_array();
    for (uint32_t i = 0; i < d->n_actions; i++) {
        if (!allowed(d->actions[i], entry))
            continue;
        json_t *spelled = schema_action_names(d, i);
        json_array_extend(names, spelled);
        json_decref(spelled);
        schema_add(then, action_rule(d, i, entry, data));
    }
    json_object_set_new(json_object_get(then, "properties"), "action",
                        json_pack("{s:o}", "enum", names));
}

// ---- entries ------------------------------------------------------------------------------------

// An entry names a member or a group.
static void add_references(json_t *then, const struct sk_table_desc *d) {
    json_t *properties = json_object_get(then, "properties"), *data = json_object();
    add_entry_data(data, d);
    json_object_set_new(data, "$ACTION_MEMBER_ID", schema_text("{'$ref': '#/$defs/value'}"));
    if (d->selector)
        json_object_set_new(data, "$SELECTOR_GROUP_ID", schema_text("{'$ref': '#/$defs/value'}"));
    else
        json_object_set_new(properties, "group", json_false());
    json_object_set_new(properties, "action", json_false());
    json_object_set_new(properties, "data",
                        json_pack("{s:b, s:o}", "additionalProperties", 0, "properties", data));
    json_object_set_new(
        then, "anyOf",
        schema_text("[{'required': ['member']}, {'required': ['group']}, {'required': ['data']}]"));
}

static json_t *entry_of(const struct sk_table_desc *d) {
    if (d->const_entries || d->n_keys == 0)
        return json_false();
    json_t *properties = json_object(), *then = json_pack("{s:o}", "properties", properties);
    json_object_set_new(properties, "key",
                        schema_keys(d->keys, d->n_keys, schema_tables_takes_priority(d)));
    if (!schema_tables_takes_priority(d))
        json_object_set_new(properties, "priority", json_false());
    if (d->profile) {
        add_references(then, d);
    } else {
        json_object_set_new(properties, "member", json_false());
        json_object_set_new(properties, "group", json_false());
        add_actions(then, d, true, true);
        json_object_set_new(then, "required", schema_text("['action']"));
    }
    if (must_have_key(d)) {
        json_t *must = json_object_get(then, "required");
        if (must)
            json_array_append_new(must, json_string("key"));
        else
            json_object_set_new(then, "required", schema_text("['key']"));
    }
    return then;
}

static json_t *default_of(const struct sk_table_desc *d) {
    if (d->const_default)
        return json_false();
    json_t *then = json_pack("{s:{}}", "properties");
    add_actions(then, d, false, true);
    return then;
}

static json_t *schema_tables_member_of(const struct sk_table_desc *d) {
    json_t *properties = json_pack("{s:o}", "id", schema_key(&d->keys[0]));
    json_t *then = json_pack("{s:o}", "properties", properties);
    add_actions(then, d, true, false);
    return then;
}

// Only where its key has no index of something else.
static json_t *entry_rule(json_t *names, json_t *then) {
    json_t *rule = schema_when("table", names, then);
    json_object_set_new(json_object_get(json_object_get(rule, "if"), "properties"), "key",
                        schema_text("{'not': {'$ref': '#/$defs/cell_key'}}"));
    return rule;
}

static json_t *masks_of(const struct sk_table_desc *d) {
    json_t *properties = json_object();
    for (uint32_t i = 0; i < d->n_keys; i++) {
        const struct sk_field_desc plain = {.width = d->keys[i].width};
        json_t *names = schema_field_names(d->keys, d->n_keys, i), *value = schema_value(&plain);
        schema_put(properties, names, value);
        json_decref(names);
        json_decref(value);
    }
    return json_pack("{s:{s:{s:b, s:o}}}", "properties", "masks", "additionalProperties", 0,
                     "properties", properties);
}

static void limit_to(json_t *defs, const char *def, const char *member, json_t *names) {
    schema_add(json_object_get(defs, def),
               json_pack("{s:{s:{s:o}}}", "properties", member, "enum", names));
}

// A table that may be filled as a whole: by these actions, with values of so many digits.
static void add_filled(json_t *defs, json_t *filled, const json_t *names,
                       const struct sk_table_desc *d) {
    for (uint32_t i = 0; i < d->n_actions; i++) {
        char pattern[32];
        if (!sk_table_may_be_filled(d, i))
            continue;
        snprintf(pattern, sizeof pattern, "^([0-9a-fA-F]{%u})+$",
                 (d->actions[i]->params[0].width + 3) / 4);
        json_t *then =
            schema_when("action", schema_action_names(d, i),
                        json_pack("{s:{s:{s:s}}}", "properties", "values", "pattern", pattern));
        schema_add(json_object_get(defs, "filled"),
                   schema_when("table", json_copy((json_t *)names), then));
        if (i == 0 || !sk_table_may_be_filled(d, i - 1))
            json_array_extend(filled, (json_t *)names);
    }
}

void schema_add_tables(json_t *defs, const struct sk_switch *sw) {
    json_t *tables = json_array(), *profiles = json_array(), *masked = json_array(),
           *filled = json_array();
    json_t *entry = json_object_get(defs, "entry");
    struct sk_object o;
    json_object_set_new(
        defs, "cell_key",
        schema_text("{'anyOf': [{'required': ['$REGISTER_INDEX']}, {'required': "
                    "['$COUNTER_INDEX']}, {'required': ['$METER_INDEX']}, {'required': "
                    "['$LPF_INDEX']}, {'required': ['$WRED_INDEX']}, {'required': "
                    "['$SELECTOR_GROUP_ID']}]}"));
    for (size_t i = 0; sk_object_at(sw, SK_TABLE, i, &o); i++) {
        const struct sk_table_desc *d = o.desc->tables[o.index];
        json_t *names = schema_object_names(sw, &o);
        schema_add(entry, entry_rule(json_copy(names), entry_of(d)));
        if (d->is_profile) {
            json_array_extend(profiles, names);
            schema_add(json_object_get(defs, "member"),
                       schema_when("profile", json_copy(names), schema_tables_member_of(d)));
        } else {
            json_array_extend(tables, names);
            schema_add(json_object_get(defs, "default"),
                       schema_when("table", json_copy(names), default_of(d)));
        }
        add_filled(defs, filled, names, d);
        if (d->key_masks) {
            json_array_extend(masked, names);
            schema_add(json_object_get(defs, "key_mask"),
                       schema_when("table", json_copy(names), masks_of(d)));
        }
        json_decref(names);
    }
    limit_to(defs, "default", "table", tables);
    limit_to(defs, "member", "profile", profiles);
    limit_to(defs, "key_mask", "table", masked);
    limit_to(defs, "filled", "table", filled);
}

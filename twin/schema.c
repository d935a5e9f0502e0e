// SPDX-License-Identifier: Apache-2.0
#include "twin/schema.h"

#include <string.h>

#include "base/json.h"

const char *twin_schema_name(const json_t *object) {
    return sk_json_text(object, "name");
}

uint32_t twin_schema_id(const json_t *object) {
    return (uint32_t)sk_json_number(object, "id");
}

const json_t *twin_schema_table(const json_t *schema, const char *name) {
    for (size_t i = 0; i < json_array_size(schema); i++)
        if (strcmp(twin_schema_name(json_array_get(schema, i)), name) == 0)
            return json_array_get(schema, i);
    return NULL;
}

const char *twin_schema_type(const json_t *field) {
    return json_object_get(field, "container")
               ? "container"
               : sk_json_text(json_object_get(field, "type"), "type");
}

// The one of a list that has the name, or with a null name the id.
static const json_t *schema_find(const json_t *list, uint32_t id, const char *name) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        if (name ? strcmp(twin_schema_name(one), name) == 0 : twin_schema_id(one) == id)
            return one;
    }
    return NULL;
}

const json_t *twin_schema_key(const json_t *table, uint32_t id) {
    return schema_find(json_object_get(table, "key"), id, NULL);
}

const json_t *twin_schema_action(const json_t *table, uint32_t id) {
    return schema_find(json_object_get(table, "action_specs"), id, NULL);
}

const json_t *twin_schema_action_named(const json_t *table, const char *name) {
    return schema_find(json_object_get(table, "action_specs"), 0, name);
}

// An item of a table's data has a field, or one of several; one of an action is the field.
static const json_t *schema_item(const json_t *item, uint32_t id, const char *name,
                                 bool *read_only) {
    const json_t *one = json_object_get(item, "singleton"),
                 *several = json_object_get(item, "oneof");
    const json_t *field = one ? one : several ? NULL : item;
    *read_only = sk_json_is(item, "read_only");
    if (several)
        return schema_find(several, id, name);
    return (name ? strcmp(twin_schema_name(field), name) == 0 : twin_schema_id(field) == id) ? field
                                                                                             : NULL;
}

// An action's own fields come before those of all entries.
static const json_t *schema_data(const json_t *table, const json_t *action, uint32_t id,
                                 const char *name, bool *read_only) {
    const json_t *lists[] = {json_object_get(action, "data"), json_object_get(table, "data")};
    for (size_t l = 0; l < 2; l++)
        for (size_t i = 0; i < json_array_size(lists[l]); i++) {
            const json_t *field = schema_item(json_array_get(lists[l], i), id, name, read_only);
            if (field)
                return field;
        }
    *read_only = false;
    return NULL;
}

const json_t *twin_schema_data(const json_t *table, const json_t *action, uint32_t id) {
    bool read_only;
    return schema_data(table, action, id, NULL, &read_only);
}

const json_t *twin_schema_data_named(const json_t *table, const json_t *action, const char *name) {
    bool read_only;
    return schema_data(table, action, 0, name, &read_only);
}

bool twin_schema_read_only(const json_t *table, const json_t *action, const char *name) {
    bool read_only;
    return schema_data(table, action, 0, name, &read_only) && read_only;
}

bool twin_schema_is_register(const json_t *field) {
    const json_t *list = json_object_get(field, "annotations");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(sk_json_text(json_array_get(list, i), "value"), "register_data") == 0)
            return true;
    return false;
}

bool twin_schema_has(const json_t *table, const char *list, const char *word) {
    const json_t *words = json_object_get(table, list);
    for (size_t i = 0; i < json_array_size(words); i++) {
        const char *one = json_string_value(json_array_get(words, i));
        if (one && strcmp(one, word) == 0)
            return true;
    }
    return false;
}

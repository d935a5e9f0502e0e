// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <stdlib.h>

#include "brt/fixed/fixed.h"

static json_t *text_annotations(const struct fixed_field *f) {
    json_t *list = json_array();
    if (f->port_class)
        json_array_append_new(
            list, json_pack("{s:s, s:s}", "name", "$bfrt_port_type_class", "value", f->port_class));
    return list;
}

static json_t *text_type(const struct fixed_field *f) {
    static const char *const names[] = {
        [FIXED_UINT] = "uint",     [FIXED_INT] = "int",     [FIXED_BOOL] = "bool",
        [FIXED_STRING] = "string", [FIXED_FLOAT] = "float", [FIXED_BYTES] = "bytes"};
    const bool sized = f->type == FIXED_UINT || f->type == FIXED_INT;
    json_t *type = json_pack("{s:o}", "type",
                             sized ? json_sprintf("%s%u", names[f->type], (unsigned)f->width)
                                   : json_string(f->is_enum ? "enum" : names[f->type]));
    if (f->type == FIXED_BYTES)
        json_object_set_new(type, "width", json_integer(f->width));
    for (size_t i = 0; f->choices && f->choices[i]; i++) {
        if (i == 0)
            json_object_set_new(type, "choices", json_array());
        json_array_append_new(json_object_get(type, "choices"), json_string(f->choices[i]));
    }
    return type;
}

static json_t *text_key(const struct fixed_field *f) {
    return json_pack("{s:I, s:s, s:b, s:o, s:b, s:s, s:o}", "id", (json_int_t)f->id, "name",
                     f->name, "repeated", 0, "annotations", text_annotations(f), "mandatory",
                     f->mandatory, "match_type", "Exact", "type", text_type(f));
}

static json_t *text_datum(const struct fixed_field *f) {
    return json_pack("{s:b, s:b, s:{s:I, s:s, s:b, s:o, s:o}}", "mandatory", f->mandatory,
                     "read_only", f->read_only, "singleton", "id", (json_int_t)f->id, "name",
                     f->name, "repeated", f->repeated, "annotations", text_annotations(f), "type",
                     text_type(f));
}

// What a table that chooses has for one of its actions stands there as it is.
static json_t *text_own_datum(const struct fixed_field *f) {
    return json_pack("{s:I, s:s, s:b, s:b, s:o, s:o}", "id", (json_int_t)f->id, "name", f->name,
                     "repeated", f->repeated, "mandatory", f->mandatory, "annotations",
                     text_annotations(f), "type", text_type(f));
}

static json_t *text_actions(const struct fixed_table *t) {
    json_t *list = json_array();
    for (size_t i = 0; i < t->n_actions; i++) {
        const struct fixed_action *a = &t->actions[i];
        json_t *data = json_array();
        for (size_t k = 0; k < a->n; k++)
            json_array_append_new(data, text_datum(&a->fields[k]));
        for (size_t k = 0; k < t->n_data; k++)
            if (t->data[k].actions >> a->id & 1)
                json_array_append_new(data, t->nested ? text_datum(&t->data[k])
                                                      : text_own_datum(&t->data[k]));
        json_array_append_new(list, json_pack("{s:I, s:s, s:o}", "id", (json_int_t)a->id, "name",
                                              a->name, "data", data));
    }
    return list;
}

static json_t *text_table(const struct fixed_table *t) {
    json_t *keys = json_array(), *data = json_array(), *attributes = json_array();
    for (size_t i = 0; i < t->n_keys; i++)
        json_array_append_new(keys, text_key(&t->keys[i]));
    for (size_t i = 0; i < t->n_data; i++)
        if (!t->data[i].actions)
            json_array_append_new(data, text_datum(&t->data[i]));
    if (t->attribute)
        json_array_append_new(attributes, json_string(t->attribute));
    json_t *o =
        json_pack("{s:s, s:I, s:s, s:I, s:o, s:o, s:[], s:o}", "name", t->name, "id",
                  (json_int_t)t->id, "table_type", t->type, "size", (json_int_t)t->size, "key",
                  keys, "data", data, "supported_operations", "attributes", attributes);
    if (t->n_actions)
        json_object_set_new(o, "action_specs", text_actions(t));
    return o;
}

char *fixed_text(const struct brt *b) {
    json_t *tables = json_array();
    for (unsigned family = 0; family < FIXED_FAMILIES; family++) {
        size_t n;
        const struct fixed_table *list = fixed_family(b, family, &n);
        for (size_t i = 0; i < n; i++)
            json_array_append_new(tables, text_table(&list[i]));
    }
    json_t *all =
        json_pack("{s:s, s:o, s:[]}", "schema_version", "1.0.0", "tables", tables, "learn_filters");
    char *text = json_dumps(all, JSON_COMPACT);
    json_decref(all);
    if (!text)
        abort();
    return text;
}

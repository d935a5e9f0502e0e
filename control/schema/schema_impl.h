// SPDX-License-Identifier: Apache-2.0
//
// schema_impl: what the files of the schema share. schema.h lists the files.
//
// A schema of a program is the general one with "allOf" added to its "$defs": conditions like
// "where the table is one of these names, the key is like this".
#ifndef SILKEN_CONTROL_SCHEMA_SCHEMA_IMPL_H
#define SILKEN_CONTROL_SCHEMA_SCHEMA_IMPL_H

#include "control/tables/names.h"
#include "control/schema/schema.h"

json_t *schema_text(const char *text); // JSON with ' for "

// ---- names.c
// Arrays of the spellings that sk_find_object() and sk_find_field() take for this one.
json_t *schema_object_names(const struct sk_switch *sw, const struct sk_object *o);
json_t *schema_field_names(const struct sk_field_desc *fields, uint32_t n, uint32_t i);
json_t *schema_action_names(const struct sk_table_desc *d, uint32_t i);
json_t *schema_names(const struct sk_name_list *names, size_t i);
// What a field's value, or its key, can be.
json_t *schema_value(const struct sk_field_desc *f);
json_t *schema_key(const struct sk_field_desc *f);
// {"type": "object"} with these keys.
json_t *schema_keys(const struct sk_field_desc *fields, uint32_t n, bool priority);
// An object of these properties and no others, for which all that is in the array holds; takes
// both.
json_t *schema_object(json_t *properties, json_t *all);
// properties[name] = value for each of the names; takes neither reference.
void schema_put(json_t *properties, const json_t *names, json_t *value);
// One of the names must be there; takes no reference.
json_t *schema_required(const json_t *names);
// {"if": {"properties": {member: {"enum": names}}, "required": [member]}, "then": then}; takes
// both.
json_t *schema_when(const char *member, json_t *names, json_t *then);
// Appends to def["allOf"]; takes the reference of 'schema'.
void schema_add(json_t *def, json_t *schema);

void schema_add_tables(json_t *defs, const struct sk_switch *sw);
void schema_add_tor(json_t *schema); // "tor" and its parts
void schema_add_objects(json_t *defs, const struct sk_switch *sw);

#endif

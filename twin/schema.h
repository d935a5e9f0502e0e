// SPDX-License-Identifier: Apache-2.0
//
// schema: tables and fields by the ids of messages, from the JSON that a server sends; and entries
// of replies as JSON.
#ifndef SILKEN_TWIN_SCHEMA_H
#define SILKEN_TWIN_SCHEMA_H

#include "brt/bfruntime.pb-c.h"
#include "twin/twin.h"

// All of these point into the schema; null or "" when there is no such thing.
const json_t *twin_schema_table(const json_t *schema, const char *name);
uint32_t twin_schema_id(const json_t *object);
const char *twin_schema_name(const json_t *object);
const char *twin_schema_type(const json_t *field); // "bytes", "uint32", "bool"...; "container"
const json_t *twin_schema_key(const json_t *table, uint32_t id);
const json_t *twin_schema_action(const json_t *table, uint32_t id);
const json_t *twin_schema_action_named(const json_t *table, const char *name);
const json_t *twin_schema_data(const json_t *table, const json_t *action, uint32_t id);
const json_t *twin_schema_data_named(const json_t *table, const json_t *action, const char *name);
bool twin_schema_is_register(const json_t *field); // it has a value for each pipe
bool twin_schema_read_only(const json_t *table, const json_t *action, const char *name);
bool twin_schema_has(const json_t *table, const char *list, const char *word);

// ---- decode.c
// An entry of a reply, as twin.h has it; its table is known. A number that does not fit 63 bits is
// a text of its digits after TWIN_BIG. Null with a sentence: the message has what the schema has
// not.
#define TWIN_BIG "\001"
json_t *twin_decode(const json_t *table, const BfrtProto__TableEntry *e, struct sk_error *err);
// A value as JSON and Python write it; of lists and objects all of JSON's.
void twin_decode_print(const json_t *value, FILE *out);
// A text in quotes, as both write it.
void twin_decode_quote(const char *text, FILE *out);

#endif

// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "twin/schema.h"

#define DECODE_BYTES 512u // of a number, at most

// ---- numbers ----

// Big-endian bytes as decimal digits, after TWIN_BIG.
static json_t *decode_big(const uint8_t *bytes, size_t n) {
    uint8_t left[DECODE_BYTES];
    char text[DECODE_BYTES * 3 + 2];
    size_t at = sizeof text - 1;
    bool any = true;
    memcpy(left, bytes, n);
    text[at] = 0;
    while (any) {
        unsigned carry = 0;
        any = false;
        for (size_t i = 0; i < n; i++) {
            const unsigned part = carry << 8 | left[i];
            left[i] = (uint8_t)(part / 10);
            carry = part % 10;
            any |= left[i] != 0;
        }
        text[--at] = (char)('0' + carry);
    }
    text[--at] = TWIN_BIG[0];
    return json_string(text + at);
}

// Null: it is too long.
static json_t *decode_number(const ProtobufCBinaryData *d, const char *type) {
    const uint8_t *bytes = d->data;
    size_t n = d->len;
    uint64_t value = 0;
    const bool is_signed = strncmp(type, "int", 3) == 0 && n > 0 && n <= 8 && bytes[0] & 0x80;
    while (n > 0 && *bytes == 0 && !is_signed) {
        bytes++;
        n--;
    }
    if (n > DECODE_BYTES)
        return NULL;
    for (size_t i = 0; i < n && n <= 8; i++)
        value = value << 8 | bytes[i];
    if (is_signed && n < 8)
        value |= UINT64_MAX << 8 * n;
    return n > 8 || (value >> 63 && !is_signed) ? decode_big(bytes, n)
                                                : json_integer((json_int_t)value);
}

static json_t *decode_value(const ProtobufCBinaryData *d, const json_t *field) {
    const char *type = twin_schema_type(field);
    return strcmp(type, "string") == 0 ? json_stringn((const char *)d->data, d->len)
                                       : decode_number(d, type);
}

// ---- keys ----

static json_t *decode_key_field(const BfrtProto__KeyField *k, const json_t *field) {
    json_t *one = NULL, *two = NULL;
    switch (k->match_type_case) {
    case BFRT_PROTO__KEY_FIELD__MATCH_TYPE_EXACT:
        return decode_value(&k->exact->value, field);
    case BFRT_PROTO__KEY_FIELD__MATCH_TYPE_TERNARY:
        one = decode_value(&k->ternary->value, field);
        two = decode_value(&k->ternary->mask, field);
        break;
    case BFRT_PROTO__KEY_FIELD__MATCH_TYPE_LPM:
        one = decode_value(&k->lpm->value, field);
        two = json_integer(k->lpm->prefix_len);
        break;
    case BFRT_PROTO__KEY_FIELD__MATCH_TYPE_RANGE:
        one = decode_value(&k->range->low, field);
        two = decode_value(&k->range->high, field);
        break;
    case BFRT_PROTO__KEY_FIELD__MATCH_TYPE_OPTIONAL:
        one = decode_value(&k->optional->value, field);
        two = json_boolean(k->optional->is_valid);
        break;
    default:
        return NULL;
    }
    return json_pack("[o, o]", one, two);
}

static int decode_key(const json_t *table, const BfrtProto__TableKey *key, json_t *out,
                      struct sk_error *err) {
    for (size_t i = 0; i < key->n_fields; i++) {
        const BfrtProto__KeyField *k = key->fields[i];
        const json_t *field = twin_schema_key(table, k->field_id);
        json_t *value = field ? decode_key_field(k, field) : NULL;
        if (!value)
            return sk_fail(err, "table '%s': the key's field %" PRIu32 " is not to be understood",
                           twin_schema_name(table), k->field_id);
        json_object_set_new(out, twin_schema_name(field), value);
    }
    return 0;
}

// ---- data ----

static json_t *decode_data_field(const BfrtProto__DataField *d, const json_t *field);

static const json_t *decode_member(const json_t *container, uint32_t id) {
    const json_t *list = json_object_get(container, "container");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_object_get(json_array_get(list, i), "singleton");
        if (one && twin_schema_id(one) == id)
            return one;
    }
    return NULL;
}

// One level: what a container holds is no container (a deeper one is not understood).
static json_t *decode_containers(const ProtobufCBinaryData *bytes, const json_t *field) {
    BfrtProto__ContainerArray *array =
        bfrt_proto__container_array__unpack(NULL, bytes->len, bytes->data);
    json_t *list = array ? json_array() : NULL;
    for (size_t i = 0; list && i < array->n_container; i++) {
        json_t *one = json_object();
        for (size_t k = 0; one && k < array->container[i]->n_val; k++) {
            const BfrtProto__DataField *d = array->container[i]->val[k];
            const json_t *member = decode_member(field, d->field_id);
            json_t *value =
                member && d->value_case != BFRT_PROTO__DATA_FIELD__VALUE_CONTAINER_ARR_VAL
                    ? decode_data_field(d, member)
                    : NULL;
            if (value) {
                json_object_set_new(one, twin_schema_name(member), value);
            } else {
                json_decref(one);
                one = NULL;
            }
        }
        if (one) {
            json_array_append_new(list, one);
        } else {
            json_decref(list);
            list = NULL;
        }
    }
    if (array)
        bfrt_proto__container_array__free_unpacked(array, NULL);
    return list;
}

static json_t *decode_list(const BfrtProto__DataField *d) {
    json_t *list = json_array();
    if (d->value_case == BFRT_PROTO__DATA_FIELD__VALUE_INT_ARR_VAL)
        for (size_t i = 0; i < d->int_arr_val->n_val; i++)
            json_array_append_new(list, json_integer(d->int_arr_val->val[i]));
    else if (d->value_case == BFRT_PROTO__DATA_FIELD__VALUE_BOOL_ARR_VAL)
        for (size_t i = 0; i < d->bool_arr_val->n_val; i++)
            json_array_append_new(list, json_boolean(d->bool_arr_val->val[i]));
    else
        for (size_t i = 0; i < d->str_arr_val->n_val; i++)
            json_array_append_new(list, json_string(d->str_arr_val->val[i]));
    return list;
}

static json_t *decode_data_field(const BfrtProto__DataField *d, const json_t *field) {
    switch (d->value_case) {
    case BFRT_PROTO__DATA_FIELD__VALUE_STREAM:
        return decode_value(&d->stream, field);
    case BFRT_PROTO__DATA_FIELD__VALUE_FLOAT_VAL:
        return json_real((double)d->float_val);
    case BFRT_PROTO__DATA_FIELD__VALUE_STR_VAL:
        return json_string(d->str_val);
    case BFRT_PROTO__DATA_FIELD__VALUE_BOOL_VAL:
        return json_boolean(d->bool_val);
    case BFRT_PROTO__DATA_FIELD__VALUE_INT_ARR_VAL:
    case BFRT_PROTO__DATA_FIELD__VALUE_BOOL_ARR_VAL:
    case BFRT_PROTO__DATA_FIELD__VALUE_STR_ARR_VAL:
        return decode_list(d);
    case BFRT_PROTO__DATA_FIELD__VALUE_CONTAINER_ARR_VAL:
        return decode_containers(&d->container_arr_val, field);
    default: // a field without a value
        return json_null();
    }
}

static int decode_data(const json_t *table, const json_t *action, const BfrtProto__TableData *data,
                       json_t *out, struct sk_error *err) {
    for (size_t i = 0; i < data->n_fields; i++) {
        const BfrtProto__DataField *d = data->fields[i];
        const json_t *field = twin_schema_data(table, action, d->field_id);
        json_t *value = field ? decode_data_field(d, field) : NULL;
        if (!value)
            return sk_fail(err, "table '%s': the data's field %" PRIu32 " is not to be understood",
                           twin_schema_name(table), d->field_id);
        const char *name = twin_schema_name(field);
        if (!twin_schema_is_register(field)) {
            json_object_set_new(out, name, value);
            continue;
        }
        if (!json_object_get(out, name))
            json_object_set_new(out, name, json_array());
        json_array_append_new(json_object_get(out, name), value);
    }
    return 0;
}

json_t *twin_decode(const json_t *table, const BfrtProto__TableEntry *e, struct sk_error *err) {
    const uint32_t id = e->data ? e->data->action_id : 0;
    const json_t *action = id ? twin_schema_action(table, id) : NULL;
    json_t *key = json_object(), *data = json_object();
    int rc = 0;
    if (id && !action)
        rc = sk_fail(err, "table '%s': there is no action %" PRIu32, twin_schema_name(table), id);
    if (rc == 0 && e->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_KEY)
        rc = decode_key(table, e->key, key, err);
    if (rc == 0 && e->data)
        rc = decode_data(table, action, e->data, data, err);
    json_t *entry = json_pack(
        "{s:s, s:o, s:o, s:o}", "table_name", twin_schema_name(table), "action",
        action ? json_string(twin_schema_name(action)) : json_null(), "key", key, "data", data);
    if (rc == 0 && e->is_default_entry)
        json_object_set_new(entry, "default", json_true());
    if (rc == 0)
        return entry;
    json_decref(entry);
    return NULL;
}

// ---- text ----

void twin_decode_quote(const char *text, FILE *out) {
    json_t *string = json_string(text);
    if (string)
        json_dumpf(string, out, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    json_decref(string);
}

static void decode_print_members(const json_t *value, FILE *out) {
    const char *name;
    json_t *member;
    const char *between = "";
    fputc('{', out);
    json_object_foreach((json_t *)value, name, member) {
        fputs(between, out);
        twin_decode_quote(name, out);
        fputs(": ", out);
        twin_decode_print(member, out);
        between = ", ";
    }
    fputc('}', out);
}

void twin_decode_print(const json_t *value, FILE *out) {
    const char *text = json_string_value(value);
    if (json_is_object(value)) {
        decode_print_members(value, out);
    } else if (json_is_array(value)) {
        fputc('[', out);
        for (size_t i = 0; i < json_array_size(value); i++) {
            fputs(i ? ", " : "", out);
            twin_decode_print(json_array_get(value, i), out);
        }
        fputc(']', out);
    } else if (text && text[0] == TWIN_BIG[0]) {
        fputs(text + 1, out);
    } else {
        json_dumpf(value, out, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    }
}

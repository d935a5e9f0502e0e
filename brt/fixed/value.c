// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "brt/fixed/fixed.h"

uint32_t *fixed_list(struct brt_memory *m, struct fixed_value *v, size_t n) {
    v->given = true;
    v->n = n;
    v->list = brt_take(m, (n + 1) * sizeof *v->list);
    return v->list;
}

static const struct fixed_field *fixed_value_find(const struct fixed_field *fields, size_t n,
                                                  uint32_t id) {
    for (size_t i = 0; i < n; i++)
        if (fields[i].id == id)
            return &fields[i];
    return NULL;
}

static enum brt_code fixed_value_bytes(const ProtobufCBinaryData *bytes,
                                       const struct fixed_field *f, uint64_t *out,
                                       struct sk_error *err) {
    const struct brt_field as = {.id = f->id, .name = f->name, .width = f->width};
    return brt_words(bytes, &as, out, err);
}

// Of at most 128 bits.
static enum brt_code fixed_value_wide(const ProtobufCBinaryData *bytes, const struct fixed_field *f,
                                      struct fixed_value *out, struct sk_error *err) {
    uint64_t words[2] = {0};
    const enum brt_code code = fixed_value_bytes(bytes, f, words, err);
    out->number = words[0];
    out->high = words[1];
    return code;
}

// ---- from messages ----

static enum brt_code fixed_value_key_choice(const ProtobufCBinaryData *text,
                                            const struct fixed_field *f, uint64_t *out,
                                            struct sk_error *err) {
    for (*out = 0; f->choices[*out]; ++*out)
        if (strlen(f->choices[*out]) == text->len &&
            memcmp(f->choices[*out], text->data, text->len) == 0)
            return BRT_OK;
    return brt_fail(err, BRT_INVALID_ARG, "key field '%s' cannot be '%.*s'", f->name,
                    text->len < 40 ? (int)text->len : 40, (const char *)text->data);
}

static enum brt_code fixed_value_key(const BfrtProto__KeyField *k, const struct fixed_field *f,
                                     size_t place, struct fixed_entry *out, struct sk_error *err) {
    if (k->match_type_case != BFRT_PROTO__KEY_FIELD__MATCH_TYPE_EXACT)
        return brt_fail(err, BRT_INVALID_ARG, "key field '%s' is exact", f->name);
    if (f->type == FIXED_UINT)
        return fixed_value_bytes(&k->exact->value, f, &out->key[place], err);
    const ProtobufCBinaryData *text = &k->exact->value;
    if (f->type == FIXED_STRING && f->choices)
        return fixed_value_key_choice(text, f, &out->key[place], err);
    if (text->len == 0 || text->len >= sizeof out->key_text ||
        memchr(text->data, '\0', text->len) != NULL)
        return brt_fail(err, BRT_INVALID_ARG, "key field '%s' takes a text of 1 to %zu characters",
                        f->name, sizeof out->key_text - 1);
    memcpy(out->key_text, text->data, text->len);
    return BRT_OK;
}

enum brt_code fixed_key(const struct fixed_table *t, const BfrtProto__TableKey *key,
                        struct fixed_entry *out, struct sk_error *err) {
    bool given[FIXED_KEYS] = {false};
    for (size_t i = 0; i < key->n_fields; i++) {
        const struct fixed_field *f =
            fixed_value_find(t->keys, t->n_keys, key->fields[i]->field_id);
        if (!f)
            return brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no key field with id %u",
                            key->fields[i]->field_id);
        const size_t place = (size_t)(f - t->keys);
        if (given[place])
            return brt_fail(err, BRT_INVALID_ARG, "key field '%s' is given twice", f->name);
        given[place] = true;
        const enum brt_code code = fixed_value_key(key->fields[i], f, place, out, err);
        if (code)
            return code;
    }
    for (size_t i = 0; i < t->n_keys; i++)
        if (!given[i])
            return brt_fail(err, BRT_INVALID_ARG, "key field '%s' is missing", t->keys[i].name);
    return BRT_OK;
}

static enum brt_code fixed_value_choice(const char *text, const struct fixed_field *f,
                                        struct fixed_value *out, struct sk_error *err) {
    out->text = text;
    if (!f->choices)
        return BRT_OK;
    for (uint64_t i = 0; f->choices[i]; i++)
        if (strcmp(f->choices[i], text) == 0) {
            out->number = i;
            return BRT_OK;
        }
    return brt_fail(err, BRT_INVALID_ARG, "field '%s' cannot be '%.40s'", f->name, text);
}

static enum brt_code fixed_value_wrong_type(const struct fixed_field *f, const char *takes,
                                            struct sk_error *err) {
    return brt_fail(err, BRT_INVALID_ARG, "field '%s' takes %s", f->name, takes);
}

// A list of bytes comes as one string of them.
static enum brt_code fixed_value_string_of_bytes(struct brt_memory *m,
                                                 const BfrtProto__DataField *d,
                                                 struct fixed_value *out, struct sk_error *err) {
    if (!fixed_list(m, out, d->stream.len))
        return brt_fail(err, BRT_NO_SYS_RESOURCES, "the entry needs too much memory");
    for (size_t i = 0; i < d->stream.len; i++)
        out->list[i] = d->stream.data[i];
    return BRT_OK;
}

static enum brt_code fixed_value_list(struct brt_memory *m, const BfrtProto__DataField *d,
                                      const struct fixed_field *f, struct fixed_value *out,
                                      struct sk_error *err) {
    if (f->type == FIXED_BYTES && d->value_case == BFRT_PROTO__DATA_FIELD__VALUE_STREAM)
        return fixed_value_string_of_bytes(m, d, out, err);
    const bool flags = f->type == FIXED_BOOL;
    if (flags ? d->value_case != BFRT_PROTO__DATA_FIELD__VALUE_BOOL_ARR_VAL
              : d->value_case != BFRT_PROTO__DATA_FIELD__VALUE_INT_ARR_VAL)
        return fixed_value_wrong_type(f, flags ? "a list of true and false" : "a list of numbers",
                                      err);
    const size_t n = flags ? d->bool_arr_val->n_val : d->int_arr_val->n_val;
    if (!fixed_list(m, out, n))
        return brt_fail(err, BRT_NO_SYS_RESOURCES, "the entry needs too much memory");
    for (size_t i = 0; i < n; i++) {
        out->list[i] = flags ? d->bool_arr_val->val[i] != 0 : d->int_arr_val->val[i];
        if (f->width < 32 && !flags && out->list[i] >> f->width)
            return brt_fail(err, BRT_INVALID_ARG, "field '%s' has %u bits, %u does not fit",
                            f->name, f->width, out->list[i]);
    }
    return BRT_OK;
}

static enum brt_code fixed_value_datum(struct brt_memory *m, const BfrtProto__DataField *d,
                                       const struct fixed_field *f, struct fixed_value *out,
                                       struct sk_error *err) {
    if (out->given)
        return brt_fail(err, BRT_INVALID_ARG, "field '%s' is given twice", f->name);
    if (f->read_only)
        return brt_fail(err, BRT_NOT_SUPPORTED, "field '%s' cannot be set", f->name);
    if (f->repeated)
        return fixed_value_list(m, d, f, out, err);
    out->given = true;
    switch (f->type) {
    case FIXED_UINT:
    case FIXED_INT:
        return d->value_case == BFRT_PROTO__DATA_FIELD__VALUE_STREAM
                   ? fixed_value_bytes(&d->stream, f, &out->number, err)
                   : fixed_value_wrong_type(f, "bytes", err);
    case FIXED_BOOL:
        out->number = d->bool_val != 0;
        return d->value_case == BFRT_PROTO__DATA_FIELD__VALUE_BOOL_VAL
                   ? BRT_OK
                   : fixed_value_wrong_type(f, "true or false", err);
    case FIXED_STRING:
        return d->value_case == BFRT_PROTO__DATA_FIELD__VALUE_STR_VAL
                   ? fixed_value_choice(d->str_val, f, out, err)
                   : fixed_value_wrong_type(f, "a text", err);
    case FIXED_BYTES:
        return d->value_case == BFRT_PROTO__DATA_FIELD__VALUE_STREAM
                   ? fixed_value_wide(&d->stream, f, out, err)
                   : fixed_value_wrong_type(f, "bytes", err);
    case FIXED_FLOAT:
        break;
    }
    out->number = 0;
    return d->value_case == BFRT_PROTO__DATA_FIELD__VALUE_FLOAT_VAL
               ? BRT_OK
               : fixed_value_wrong_type(f, "a float", err);
}

static enum brt_code fixed_value_action(const struct fixed_table *t, uint32_t id,
                                        struct sk_error *err) {
    for (size_t i = 0; i < t->n_actions; i++)
        if (t->actions[i].id == id)
            return t->actions[i].served ? BRT_OK
                                        : brt_fail(err, BRT_NOT_SUPPORTED,
                                                   "table '%s': action '%s' is not supported",
                                                   t->name, t->actions[i].name);
    return id || (t->n_actions && !t->chooses)
               ? brt_fail(err, BRT_OBJECT_NOT_FOUND, "table '%s' has no action with id %u", t->name,
                          id)
               : BRT_OK;
}

static bool fixed_value_belongs(const struct fixed_field *f, uint32_t action) {
    return !f->actions || f->actions >> action & 1;
}

enum brt_code fixed_data(struct brt_memory *m, const struct fixed_table *t,
                         const BfrtProto__TableData *data, struct fixed_entry *out,
                         struct sk_error *err) {
    enum brt_code code = fixed_value_action(t, data->action_id, err);
    out->action = t->chooses ? data->action_id : 0;
    for (size_t i = 0; code == BRT_OK && i < data->n_fields; i++) {
        const struct fixed_field *f =
            fixed_value_find(t->data, t->n_data, data->fields[i]->field_id);
        code = f && fixed_value_belongs(f, out->action)
                   ? fixed_value_datum(m, data->fields[i], f, &out->data[f - t->data], err)
                   : brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no data field with id %u%s",
                              data->fields[i]->field_id, f ? " without its action" : "");
    }
    return code;
}

// ---- to messages ----

static bool fixed_value_key_message(struct brt_memory *m, const struct fixed_table *t,
                                    const struct fixed_entry *e, BfrtProto__TableEntry *out) {
    BfrtProto__TableKey *key = brt_take(m, sizeof *key);
    BfrtProto__KeyField *fields = brt_take(m, FIXED_KEYS * sizeof *fields);
    BfrtProto__KeyField__Exact *parts = brt_take(m, FIXED_KEYS * sizeof *parts);
    BfrtProto__KeyField **list = brt_take(m, FIXED_KEYS * sizeof *list);
    if (!key || !fields || !parts || !list)
        return false;
    bfrt_proto__table_key__init(key);
    key->fields = list;
    for (size_t i = 0; i < t->n_keys; i++) {
        bfrt_proto__key_field__init(&fields[i]);
        bfrt_proto__key_field__exact__init(&parts[i]);
        fields[i].field_id = t->keys[i].id;
        fields[i].match_type_case = BFRT_PROTO__KEY_FIELD__MATCH_TYPE_EXACT;
        fields[i].exact = &parts[i];
        list[key->n_fields++] = &fields[i];
        if (t->keys[i].type == FIXED_STRING) {
            const char *text = t->keys[i].choices ? t->keys[i].choices[e->key[i]] : e->key_text;
            parts[i].value.data = (uint8_t *)text;
            parts[i].value.len = strlen(text);
        } else if (!brt_stream(m, &e->key[i], t->keys[i].width, &parts[i].value))
            return false;
    }
    out->value_case = BFRT_PROTO__TABLE_ENTRY__VALUE_KEY;
    out->key = key;
    return true;
}

static bool fixed_value_list_message(struct brt_memory *m, const struct fixed_field *f,
                                     const struct fixed_value *v, BfrtProto__DataField *out) {
    if (f->type == FIXED_BOOL) {
        BfrtProto__DataField__BoolArray *list = brt_take(m, sizeof *list);
        protobuf_c_boolean *val = brt_take(m, (v->n + 1) * sizeof *val);
        if (!list || !val)
            return false;
        bfrt_proto__data_field__bool_array__init(list);
        for (size_t i = 0; i < v->n; i++)
            val[i] = v->list[i] != 0;
        list->val = val;
        list->n_val = v->n;
        out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_BOOL_ARR_VAL;
        out->bool_arr_val = list;
        return true;
    }
    BfrtProto__DataField__IntArray *list = brt_take(m, sizeof *list);
    if (!list)
        return false;
    bfrt_proto__data_field__int_array__init(list);
    list->val = v->list;
    list->n_val = v->n;
    out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_INT_ARR_VAL;
    out->int_arr_val = list;
    return true;
}

static bool fixed_value_message(struct brt_memory *m, const struct fixed_field *f,
                                const struct fixed_value *v, BfrtProto__DataField *out) {
    bfrt_proto__data_field__init(out);
    out->field_id = f->id;
    if (f->repeated)
        return fixed_value_list_message(m, f, v, out);
    switch (f->type) {
    case FIXED_UINT:
    case FIXED_INT:
        out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_STREAM;
        return brt_stream(m, &v->number, f->width, &out->stream);
    case FIXED_BOOL:
        out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_BOOL_VAL;
        out->bool_val = v->number != 0;
        return true;
    case FIXED_STRING:
        out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_STR_VAL;
        out->str_val = (char *)(f->choices ? f->choices[v->number] : v->text ? v->text : "");
        return true;
    case FIXED_BYTES:
        out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_STREAM;
        return brt_stream(m, (const uint64_t[]){v->number, v->high}, f->width, &out->stream);
    case FIXED_FLOAT: // neither
        break;
    }
    out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_FLOAT_VAL;
    out->float_val = 0;
    return true;
}

bool fixed_message(struct brt_memory *m, const struct fixed_table *t, const struct fixed_entry *e,
                   const BfrtProto__TableData *wanted, bool key_only, BfrtProto__TableEntry *out) {
    bfrt_proto__table_entry__init(out);
    out->table_id = t->id;
    out->is_default_entry = t->n_keys == 0;
    if (t->n_keys && !fixed_value_key_message(m, t, e, out))
        return false;
    if (key_only)
        return true;
    BfrtProto__TableData *data = brt_take(m, sizeof *data);
    BfrtProto__DataField *fields = brt_take(m, (t->n_data + 1) * sizeof *fields);
    BfrtProto__DataField **list = brt_take(m, (t->n_data + 1) * sizeof *list);
    if (!data || !fields || !list)
        return false;
    bfrt_proto__table_data__init(data);
    data->fields = list;
    for (size_t i = 0; i < t->n_actions; i++)
        if (t->actions[i].served && (!t->chooses || t->actions[i].id == e->action))
            data->action_id = t->actions[i].id;
    for (size_t i = 0; i < t->n_data; i++) {
        if (!e->data[i].given || !brt_is_wanted(wanted, t->data[i].id) ||
            !fixed_value_belongs(&t->data[i], e->action))
            continue;
        BfrtProto__DataField *f = &fields[data->n_fields];
        if (!fixed_value_message(m, &t->data[i], &e->data[i], f))
            return false;
        list[data->n_fields++] = f;
    }
    out->data = data;
    return true;
}

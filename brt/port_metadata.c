// SPDX-License-Identifier: Apache-2.0
//
// What the chip puts before the packets of a port (tna-facts 3.1), as the parser's $PORT_METADATA
// table: the fields one after the other, the first in the most significant bits, or one field of
// all bits. A port has an entry from the INSERT on, or when its bytes are not all zero.
#include <string.h>

#include "brt/brt_impl.h"
#include "control/tables/port_metadata.h"

static bool port_metadata_is_there(const struct brt *b, uint64_t port) {
    static const uint8_t zeros[SK_RESUBMIT_BYTES];
    return b->now.has_metadata[port / 64] >> (port % 64) & 1 ||
           memcmp(sk_switch_port_metadata_of(b->now.sw, (uint16_t)port), zeros, sizeof zeros) != 0;
}

static bool port_metadata_is_port(const struct brt *b, const struct brt_table *t, uint64_t port) {
    return port < SK_PORTS && sk_port_exists((unsigned)port) &&
           sk_switch_pipeline(b->now.sw, sk_port_pipe((unsigned)port)) == t->object.desc;
}

static enum brt_code port_metadata_key(struct brt *b, const BfrtProto__TableKey *key,
                                       struct brt_change *c, struct sk_error *err) {
    const enum brt_code code = brt_index_key(key, c, err);
    if (code)
        return code;
    return port_metadata_is_port(b, c->table, c->index)
               ? BRT_OK
               : brt_fail(err, BRT_INVALID_ARG, "table '%s' has no port %llu", c->table->name,
                          (unsigned long long)c->index);
}

// ---- fields ----

static uint32_t port_metadata_place(const struct brt_table *t, const struct brt_field *f) {
    uint32_t at = 0;
    for (const struct brt_field *before = t->data; before < f; before++)
        at += before->width;
    return at;
}

static bool port_metadata_fits(const struct brt_table *t, const struct brt_field *f) {
    return f->type == BRT_STREAM && f->width > 0 && f->width <= 128 &&
           port_metadata_place(t, f) + f->width <= 8 * SK_RESUBMIT_BYTES;
}

static enum brt_code port_metadata_datum(const BfrtProto__DataField *d, struct brt_change *c,
                                         struct sk_error *err) {
    const struct brt_field *f = brt_find(c->table->data, c->table->n_data, d->field_id);
    uint64_t words[2] = {0};
    if (!f)
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no data field with id %u",
                        d->field_id);
    if (d->value_case != BFRT_PROTO__DATA_FIELD__VALUE_STREAM || !port_metadata_fits(c->table, f))
        return brt_fail(err, BRT_INVALID_ARG, "field '%s' takes bytes", f->name);
    const enum brt_code code = brt_words(&d->stream, f, words, err);
    if (code == BRT_OK) {
        sk_port_metadata_put(c->metadata, port_metadata_place(c->table, f), f->width, words);
        const uint64_t ones[2] = {UINT64_MAX, UINT64_MAX};
        sk_port_metadata_put(c->metadata_given, port_metadata_place(c->table, f), f->width, ones);
    }
    return code;
}

// ---- updates ----

enum brt_code brt_port_metadata_change(struct brt *b, const BfrtProto__TableEntry *e,
                                       struct brt_change *c, struct sk_error *err) {
    const BfrtProto__TableData *data = e->data;
    enum brt_code code = BRT_OK;
    if (c->is_default)
        return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s' has no default entry", c->table->name);
    c->has_key = e->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_KEY;
    if (c->has_key)
        code = port_metadata_key(b, e->key, c, err);
    if (code || c->type == BFRT_PROTO__UPDATE__TYPE__DELETE)
        return code;
    if (c->type != BFRT_PROTO__UPDATE__TYPE__INSERT &&
        c->type != BFRT_PROTO__UPDATE__TYPE__MODIFY &&
        c->type != BFRT_PROTO__UPDATE__TYPE__INSERT_OR_MODIFY)
        return brt_fail(err, c->type ? BRT_NOT_SUPPORTED : BRT_INVALID_ARG,
                        "table '%s' does not take updates of this type", c->table->name);
    if (!c->has_key)
        return brt_fail(err, BRT_INVALID_ARG, "the key is missing");
    if (data && data->action_id)
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no action with id %u",
                        data->action_id);
    for (size_t i = 0; data && code == BRT_OK && i < data->n_fields; i++)
        code = port_metadata_datum(data->fields[i], c, err);
    return code;
}

static void port_metadata_set(struct brt *b, uint64_t port, const uint8_t *bytes, bool there) {
    const uint64_t bit = UINT64_C(1) << (port % 64);
    sk_switch_port_metadata(b->now.sw, (uint16_t)port, bytes, SK_RESUBMIT_BYTES);
    b->now.has_metadata[port / 64] =
        there ? b->now.has_metadata[port / 64] | bit : b->now.has_metadata[port / 64] & ~bit;
}

static enum brt_code port_metadata_delete(struct brt *b, const struct brt_change *c,
                                          struct sk_error *err) {
    static const uint8_t zeros[SK_RESUBMIT_BYTES];
    if (c->has_key && !port_metadata_is_there(b, c->index))
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "table '%s': there is no such entry",
                        c->table->name);
    for (uint64_t port = 0; port < SK_PORTS; port++)
        if (port_metadata_is_port(b, c->table, port) && (!c->has_key || port == c->index))
            port_metadata_set(b, port, zeros, false);
    return BRT_OK;
}

enum brt_code brt_port_metadata_apply(struct brt *b, const struct brt_change *c, bool *existed,
                                      struct sk_error *err) {
    uint8_t bytes[SK_RESUBMIT_BYTES] = {0};
    if (c->type == BFRT_PROTO__UPDATE__TYPE__DELETE)
        return port_metadata_delete(b, c, err);
    const bool there = port_metadata_is_there(b, c->index);
    if (there && c->type == BFRT_PROTO__UPDATE__TYPE__INSERT)
        return brt_fail(err, BRT_ALREADY_EXISTS, "table '%s': the entry exists already",
                        c->table->name);
    if (!there && c->type == BFRT_PROTO__UPDATE__TYPE__MODIFY)
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "table '%s': there is no such entry",
                        c->table->name);
    *existed = there;
    if (there)
        memcpy(bytes, sk_switch_port_metadata_of(b->now.sw, (uint16_t)c->index), sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)((bytes[i] & ~c->metadata_given[i]) | c->metadata[i]);
    port_metadata_set(b, c->index, bytes, true);
    return BRT_OK;
}

// ---- taking back ----

struct brt_port_metadata_saved {
    bool there[SK_PORTS];
    uint8_t bytes[SK_PORTS][SK_RESUBMIT_BYTES];
};

struct brt_port_metadata_saved *brt_port_metadata_save(struct brt *b) {
    struct brt_port_metadata_saved *saved = brt_take(&b->request, sizeof *saved);
    for (uint16_t port = 0; saved && port < SK_PORTS; port++)
        if (sk_port_exists(port)) {
            saved->there[port] = b->now.has_metadata[port / 64] >> (port % 64) & 1;
            memcpy(saved->bytes[port], sk_switch_port_metadata_of(b->now.sw, port),
                   SK_RESUBMIT_BYTES);
        }
    return saved;
}

void brt_port_metadata_put_back(struct brt *b, const struct brt_port_metadata_saved *saved) {
    for (uint16_t port = 0; port < SK_PORTS; port++)
        if (sk_port_exists(port))
            port_metadata_set(b, port, saved->bytes[port], saved->there[port]);
}

// ---- reads ----

bool brt_port_metadata_message(struct brt *b, const struct brt_table *t, uint64_t port,
                               const BfrtProto__TableData *wanted, BfrtProto__TableEntry *out) {
    BfrtProto__TableData *data = brt_take(&b->scratch, sizeof *data);
    BfrtProto__DataField *fields = brt_take(&b->scratch, (t->n_data + 1) * sizeof *fields);
    BfrtProto__DataField **list = brt_take(&b->scratch, (t->n_data + 1) * sizeof *list);
    if (!data || !fields || !list)
        return false;
    bfrt_proto__table_data__init(data);
    data->fields = list;
    for (size_t i = 0; i < t->n_data; i++) {
        const struct brt_field *f = &t->data[i];
        uint64_t words[2];
        if (!brt_is_wanted(wanted, f->id) || !port_metadata_fits(t, f))
            continue;
        BfrtProto__DataField *d = &fields[data->n_fields];
        bfrt_proto__data_field__init(d);
        d->field_id = f->id;
        d->value_case = BFRT_PROTO__DATA_FIELD__VALUE_STREAM;
        sk_port_metadata_take(sk_switch_port_metadata_of(b->now.sw, (uint16_t)port),
                              port_metadata_place(t, f), f->width, words);
        if (!brt_stream(&b->scratch, words, f->width, &d->stream))
            return false;
        list[data->n_fields++] = d;
    }
    out->table_id = t->id;
    out->data = data;
    return brt_index_key_message(&b->scratch, t, port, out);
}

uint64_t brt_port_metadata_next(const struct brt *b, const struct brt_table *t, uint64_t port) {
    while (port < SK_PORTS &&
           !(port_metadata_is_port(b, t, port) && port_metadata_is_there(b, port)))
        port++;
    return port;
}

enum brt_code brt_port_metadata_key(struct brt *b, const BfrtProto__TableKey *key,
                                    struct brt_change *c, struct sk_error *err) {
    const enum brt_code code = port_metadata_key(b, key, c, err);
    if (code)
        return code;
    return port_metadata_is_there(b, c->index)
               ? BRT_OK
               : brt_fail(err, BRT_OBJECT_NOT_FOUND, "table '%s': there is no such entry",
                          c->table->name);
}

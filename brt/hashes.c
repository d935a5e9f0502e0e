// SPDX-License-Identifier: Apache-2.0
//
// The three tables of a hash that can be changed: the fields that it is made of ("configure"), its
// algorithm, and what it gives for values of its fields ("compute").
//
// Of "configure", each field has slices with an order. Slices are hashed in that order; two of one
// order may change places; order 0 leaves a slice out, and so is a field that is not given.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brt/brt_impl.h"
#include "stages/dynhash.h"

#define HASHES_MAX_SLICES (8u * SK_HASH_MAX_BYTES)

bool brt_has_hash(const struct brt_table *t) {
    return t->kind == BRT_HASH_FIELDS || t->kind == BRT_HASH_ALGORITHM ||
           t->kind == BRT_HASH_COMPUTE;
}

static const struct sk_hash_desc *hashes_desc(const struct brt_table *t) {
    return &t->object.desc->hashes[t->object.index];
}

static struct sk_dynhash **hashes_in(const struct brt *b, const struct brt_table *t,
                                     unsigned pipe) {
    return t->object.desc->hash(sk_switch_pipe(b->now.sw, pipe), t->object.index);
}

static enum brt_code hashes_no_memory(struct sk_error *err) {
    return brt_fail(err, BRT_NO_SYS_RESOURCES, "the entry needs too much memory");
}

// ---- fields out of a message ----

struct hashes_part {
    struct sk_hash_slice slice;
    uint64_t order;
};

// Where a slice that is not given begins and ends: with its field.
static enum brt_code hashes_slice(const BfrtProto__ContainerArray__Container *from,
                                  const struct brt_field *f, uint32_t width,
                                  struct hashes_part *out, struct sk_error *err) {
    uint64_t start = 0, length = width;
    bool has_order = false;
    for (size_t i = 0; i < from->n_val; i++) {
        const struct brt_field *m = brt_find(f->members, f->n_members, from->val[i]->field_id);
        uint64_t number;
        if (!m)
            return brt_fail(err, BRT_OBJECT_NOT_FOUND, "field '%s' has no member with id %u",
                            f->name, from->val[i]->field_id);
        if (from->val[i]->value_case == BFRT_PROTO__DATA_FIELD__VALUE__NOT_SET)
            continue; // named by clients in place of leaving it out
        const enum brt_code code = brt_number(from->val[i], m, &number, err);
        if (code)
            return code;
        if (strcmp(m->name, "start_bit") == 0)
            start = number;
        else if (strcmp(m->name, "length") == 0)
            length = number;
        else {
            out->order = number;
            has_order = true;
        }
    }
    if (!has_order)
        return brt_fail(err, BRT_INVALID_ARG, "field '%s': a slice has no order", f->name);
    if (start >= width || length == 0)
        return brt_fail(err, BRT_INVALID_ARG,
                        "field '%s' has bits %u to 0: this is not a slice of it", f->name,
                        width - 1);
    out->slice.field = f->index;
    out->slice.start = (uint32_t)start;
    out->slice.length = (uint32_t)(length < width - start ? length : width - start);
    return BRT_OK;
}

struct hashes_parts {
    struct hashes_part *list;
    size_t n;
};

static enum brt_code hashes_field(struct brt *b, const BfrtProto__DataField *d,
                                  const struct brt_change *c, struct hashes_parts *parts,
                                  struct sk_error *err) {
    const struct brt_field *f = brt_find(c->table->data, c->table->n_data, d->field_id);
    enum brt_code code = BRT_OK;
    if (!f)
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no data field with id %u",
                        d->field_id);
    if (d->value_case != BFRT_PROTO__DATA_FIELD__VALUE_CONTAINER_ARR_VAL)
        return brt_fail(err, BRT_INVALID_ARG, "field '%s' takes a list of containers", f->name);
    const BfrtProto__ContainerArray *all = bfrt_proto__container_array__unpack(
        &b->scratch.allocator, d->container_arr_val.len, d->container_arr_val.data);
    if (!all)
        return b->scratch.refused
                   ? hashes_no_memory(err)
                   : brt_fail(err, BRT_INVALID_ARG, "field '%s' cannot be read", f->name);
    for (size_t i = 0; code == BRT_OK && i < all->n_container; i++) {
        struct hashes_part part = {.order = 0};
        code = hashes_slice(all->container[i], f, hashes_desc(c->table)->fields[f->index].width,
                            &part, err);
        if (code || !part.order)
            continue;
        if (parts->n == HASHES_MAX_SLICES)
            return brt_fail(err, BRT_INVALID_ARG, "a hash has %u bits at most", HASHES_MAX_SLICES);
        parts->list[parts->n++] = part;
    }
    return code;
}

static int hashes_by_place(const void *a, const void *b) {
    const struct sk_hash_slice *x = &((const struct hashes_part *)a)->slice,
                               *y = &((const struct hashes_part *)b)->slice;
    if (x->field != y->field)
        return x->field < y->field ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

static int hashes_by_order(const void *a, const void *b) {
    const struct hashes_part *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return hashes_by_place(a, b);
}

static enum brt_code hashes_check_overlap(const struct brt_table *t, struct hashes_parts *parts,
                                          struct sk_error *err) {
    qsort(parts->list, parts->n, sizeof *parts->list, hashes_by_place);
    for (size_t i = 1; i < parts->n; i++) {
        const struct sk_hash_slice *a = &parts->list[i - 1].slice, *s = &parts->list[i].slice;
        if (a->field == s->field && s->start < a->start + a->length)
            return brt_fail(err, BRT_INVALID_ARG, "field '%s': its slices overlap",
                            hashes_desc(t)->fields[s->field].name);
    }
    return BRT_OK;
}

static enum brt_code hashes_order(struct brt *b, struct hashes_parts *parts, struct brt_change *c,
                                  struct sk_error *err) {
    c->slices = brt_take(&b->scratch, (parts->n + 1) * sizeof *c->slices);
    if (!c->slices)
        return hashes_no_memory(err);
    qsort(parts->list, parts->n, sizeof *parts->list, hashes_by_order);
    for (size_t i = 0; i < parts->n; i++) {
        c->slices[i] = parts->list[i].slice;
        if (i == 0 || parts->list[i].order != parts->list[i - 1].order)
            continue;
        if (c->slices[i - 1].twin)
            return brt_fail(err, BRT_INVALID_ARG,
                            "more than two slices have order %" PRIu64 ": two may change places",
                            parts->list[i].order);
        c->slices[i].twin = (uint32_t)i;
        c->slices[i - 1].twin = (uint32_t)i + 1;
    }
    c->n_slices = parts->n;
    return BRT_OK;
}

static enum brt_code hashes_fields(struct brt *b, const BfrtProto__TableData *data,
                                   struct brt_change *c, struct sk_error *err) {
    struct hashes_parts parts = {.list =
                                     brt_take(&b->scratch, HASHES_MAX_SLICES * sizeof *parts.list)};
    enum brt_code code = parts.list ? BRT_OK : hashes_no_memory(err);
    for (size_t i = 0; code == BRT_OK && data && i < data->n_fields; i++)
        code = hashes_field(b, data->fields[i], c, &parts, err);
    if (code == BRT_OK)
        code = hashes_check_overlap(c->table, &parts, err);
    return code ? code : hashes_order(b, &parts, c, err);
}

// ---- the algorithm out of a message ----

static enum brt_code hashes_value(struct brt *b, const BfrtProto__DataField *d,
                                  const struct brt_field *f, struct brt_change *c,
                                  struct sk_error *err) {
    char text[64];
    enum brt_code code = BRT_OK;
    if (f->type != BRT_BOOL)
        code = brt_text(d, f, text, sizeof text, err);
    else if (d->value_case == BFRT_PROTO__DATA_FIELD__VALUE_BOOL_VAL)
        snprintf(text, sizeof text, "%s", d->bool_val ? "true" : "false");
    else
        code = brt_fail(err, BRT_INVALID_ARG, "field '%s' takes a bool", f->name);
    if (code)
        return code;
    char *kept = brt_take(&b->scratch, strlen(text) + 1);
    if (!kept)
        return hashes_no_memory(err);
    strcpy(kept, text);
    c->values[c->n_values++] = (struct sk_named_value){.name = f->name, .value = kept};
    return BRT_OK;
}

static enum brt_code hashes_algorithm(struct brt *b, const BfrtProto__TableData *data,
                                      struct brt_change *c, struct sk_error *err) {
    const uint32_t action = data ? data->action_id : 0;
    const struct brt_action *a = action ? brt_table_action(c->table, action) : NULL;
    const size_t n = data ? data->n_fields : 0;
    enum brt_code code = BRT_OK;
    if (action && !a)
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no action with id %u", action);
    if (n == 0)
        return brt_fail(err, BRT_INVALID_ARG, "table '%s': the data are missing", c->table->name);
    c->values = brt_take(&b->scratch, n * sizeof *c->values);
    if (!c->values)
        return hashes_no_memory(err);
    for (size_t i = 0; code == BRT_OK && i < n; i++) {
        const uint32_t id = data->fields[i]->field_id;
        const struct brt_field *f = a ? brt_find(a->fields, a->n, id) : NULL;
        f = f ? f : brt_find(c->table->data, c->table->n_data, id);
        code = f ? hashes_value(b, data->fields[i], f, c, err)
                 : brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no data field with id %u", id);
    }
    return code;
}

enum brt_code brt_hash_change(struct brt *b, const BfrtProto__TableEntry *e, struct brt_change *c,
                              struct sk_error *err) {
    const bool has_key = e->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_KEY && e->key->n_fields;
    if (c->table->kind == BRT_HASH_COMPUTE)
        return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s' is only read", c->table->name);
    if (has_key)
        return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s' has a default entry only",
                        c->table->name);
    if (c->type == BFRT_PROTO__UPDATE__TYPE__DELETE)
        return BRT_OK;
    if (c->type == BFRT_PROTO__UPDATE__TYPE__UNSPECIFIED)
        return brt_fail(err, BRT_INVALID_ARG, "the update has no type");
    if (c->type != BFRT_PROTO__UPDATE__TYPE__MODIFY || !c->is_default)
        return brt_fail(err, BRT_NOT_SUPPORTED,
                        "table '%s' has a default entry only, which is set by MODIFY and reset by "
                        "DELETE",
                        c->table->name);
    return c->table->kind == BRT_HASH_FIELDS ? hashes_fields(b, e->data, c, err)
                                             : hashes_algorithm(b, e->data, c, err);
}

// ---- in a pause ----

static int hashes_pipe(const struct brt_change *c) {
    return c->pipes.n == 1 ? (int)c->pipes.list[0] : -1;
}

enum brt_code brt_hash_apply(struct brt *b, const struct brt_change *c, struct sk_error *err) {
    const char *name = hashes_desc(c->table)->name;
    const int pipe = hashes_pipe(c);
    int rc;
    if (c->table->kind == BRT_HASH_FIELDS)
        rc = sk_control_hash_slices(b->now.sw, name, c->slices, c->n_slices, pipe, err);
    else if (c->n_values == 0)
        rc = sk_control_hash_algorithm_reset(b->now.sw, name, pipe, err);
    else
        rc = sk_control_hash_algorithm(b->now.sw, name, c->values, c->n_values, pipe, err);
    return rc ? BRT_INVALID_ARG : BRT_OK;
}

// ---- the other way ----

struct hashes_out {
    struct brt *b;
    const struct brt_table *table;
    const struct sk_dynhash *changed; // null: as the program has it
    const BfrtProto__TableData *wanted;
    BfrtProto__TableData *data;
    bool good; // memory was enough
};

static BfrtProto__DataField *hashes_next(struct hashes_out *o, const struct brt_field *f) {
    BfrtProto__DataField *out = brt_take(&o->b->scratch, sizeof *out);
    if (!out) {
        o->good = false;
        return NULL;
    }
    bfrt_proto__data_field__init(out);
    out->field_id = f->id;
    o->data->fields[o->data->n_fields++] = out;
    return out;
}

static void hashes_put_number(struct hashes_out *o, const struct brt_field *f, uint64_t number) {
    BfrtProto__DataField *out = hashes_next(o, f);
    if (!out)
        return;
    out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_STREAM;
    o->good = o->good && brt_stream(&o->b->scratch, &number, f->width, &out->stream);
}

static void hashes_put_bool(struct hashes_out *o, const struct brt_field *f, bool value) {
    BfrtProto__DataField *out = hashes_next(o, f);
    if (!out)
        return;
    out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_BOOL_VAL;
    out->bool_val = value;
}

// A slice with its order, as a container.
static BfrtProto__ContainerArray__Container *hashes_container(struct hashes_out *o,
                                                              const struct brt_field *f,
                                                              const struct sk_hash_slice *s,
                                                              uint64_t order) {
    BfrtProto__ContainerArray__Container *out = brt_take(&o->b->scratch, sizeof *out);
    BfrtProto__DataField *fields = brt_take(&o->b->scratch, f->n_members * sizeof *fields);
    BfrtProto__DataField **list = brt_take(&o->b->scratch, (f->n_members + 1) * sizeof *list);
    if (!out || !fields || !list) {
        o->good = false;
        return NULL;
    }
    bfrt_proto__container_array__container__init(out);
    out->val = list;
    for (size_t i = 0; i < f->n_members; i++) {
        const struct brt_field *m = &f->members[i];
        const uint64_t number = strcmp(m->name, "start_bit") == 0 ? s->start
                                : strcmp(m->name, "length") == 0  ? s->length
                                                                  : order;
        bfrt_proto__data_field__init(&fields[i]);
        fields[i].field_id = m->id;
        fields[i].value_case = BFRT_PROTO__DATA_FIELD__VALUE_STREAM;
        o->good = o->good && brt_stream(&o->b->scratch, &number, m->width, &fields[i].stream);
        list[out->n_val++] = &fields[i];
    }
    return out;
}

static void hashes_put_containers(struct hashes_out *o, const struct brt_field *f,
                                  BfrtProto__ContainerArray *all) {
    BfrtProto__DataField *out = hashes_next(o, f);
    if (!out)
        return;
    out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_CONTAINER_ARR_VAL;
    out->container_arr_val.len = bfrt_proto__container_array__get_packed_size(all);
    out->container_arr_val.data = brt_take(&o->b->scratch, out->container_arr_val.len + 1);
    o->good = o->good && out->container_arr_val.data;
    if (o->good)
        bfrt_proto__container_array__pack(all, out->container_arr_val.data);
}

// Orders are counted from 1, the same for two that may change places.
static uint64_t hashes_order_of(const struct sk_dynhash *h, uint32_t slice) {
    uint64_t order = 0;
    for (uint32_t i = 0; i <= slice; i++)
        order += !h->slices[i].twin || h->slices[i].twin > i;
    const uint32_t twin = h->slices[slice].twin;
    return twin && twin <= slice ? hashes_order_of(h, twin - 1) : order;
}

static void hashes_put_field(struct hashes_out *o, const struct brt_field *f) {
    const struct sk_dynhash *h = o->changed && o->changed->n_slices ? o->changed : NULL;
    const struct sk_hash_slice whole = {.field = f->index,
                                        .length = hashes_desc(o->table)->fields[f->index].width};
    BfrtProto__ContainerArray all = BFRT_PROTO__CONTAINER_ARRAY__INIT;
    all.container = brt_take(&o->b->scratch, ((h ? h->n_slices : 0) + 1) * sizeof *all.container);
    o->good = o->good && all.container;
    for (uint32_t i = 0; o->good && h && i < h->n_slices; i++)
        if (h->slices[i].field == f->index)
            all.container[all.n_container++] =
                hashes_container(o, f, &h->slices[i], hashes_order_of(h, i));
    if (o->good && all.n_container == 0) // left out, or as the program has it
        all.container[all.n_container++] =
            hashes_container(o, f, &whole, h ? 0 : (uint64_t)f->index + 1);
    if (o->good)
        hashes_put_containers(o, f, &all);
}

static const struct sk_hash_algorithm *hashes_algorithm_now(const struct hashes_out *o) {
    return o->changed ? &o->changed->algorithm : &hashes_desc(o->table)->algorithm;
}

static void hashes_put_parameter(struct hashes_out *o, const struct brt_field *f) {
    const struct sk_hash_algorithm *a = hashes_algorithm_now(o);
    const struct {
        const char *name;
        uint64_t value;
    } values[] = {
        {"rotate", a->rotate},
        {"seed", 0},
        {"msb", 0},
        {"extend", a->extended},
        {"reverse", a->reversed},
        {"polynomial", a->coeff},
        {"init", a->init},
        {"final_xor", a->xor_out},
        {"hash_bit_width", a->width},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (strcmp(f->name, values[i].name) != 0)
            continue;
        if (f->type == BRT_BOOL)
            hashes_put_bool(o, f, values[i].value);
        else
            hashes_put_number(o, f, values[i].value);
        return;
    }
    const char *name = sk_hash_algorithm_name(a);
    BfrtProto__DataField *out = name ? hashes_next(o, f) : NULL;
    if (out)
        o->good = brt_field_of_text(&o->b->scratch, f, name, out) && o->good;
}

static void hashes_put_algorithm(struct hashes_out *o) {
    const bool named = sk_hash_algorithm_name(hashes_algorithm_now(o));
    const struct brt_action *a = NULL;
    for (size_t i = 0; i < o->table->n_actions; i++)
        if (strcmp(o->table->actions[i].name, named ? "pre_defined" : "user_defined") == 0)
            a = &o->table->actions[i];
    o->data->action_id = a ? a->id : 0;
    for (size_t i = 0; o->good && a && i < a->n; i++)
        if (brt_is_wanted(o->wanted, a->fields[i].id))
            hashes_put_parameter(o, &a->fields[i]);
    for (size_t i = 0; o->good && i < o->table->n_data; i++)
        if (brt_is_wanted(o->wanted, o->table->data[i].id))
            hashes_put_parameter(o, &o->table->data[i]);
}

// ---- what a hash gives ----

static enum brt_code hashes_key_value(struct brt *b, const BfrtProto__KeyField *k,
                                      const struct brt_field *f, struct brt_change *c,
                                      struct sk_error *err) {
    uint64_t words[SK_HASH_MAX_BYTES / 8 + 1];
    if (k->match_type_case != BFRT_PROTO__KEY_FIELD__MATCH_TYPE_EXACT)
        return brt_fail(err, BRT_INVALID_ARG, "key field '%s' is exact", f->name);
    const enum brt_code code = brt_words(&k->exact->value, f, words, err);
    if (code)
        return code;
    const size_t n = k->exact->value.len;
    char *text = brt_take(&b->scratch, 2 * n + 3);
    if (!text)
        return hashes_no_memory(err);
    strcpy(text, "0x");
    for (size_t i = 0; i < n; i++)
        snprintf(text + 2 + 2 * i, 3, "%02x", k->exact->value.data[i]);
    c->values[c->n_values++] = (struct sk_named_value){.name = f->name, .value = text};
    return BRT_OK;
}

static enum brt_code hashes_compute(struct hashes_out *o, const BfrtProto__TableKey *key, int pipe,
                                    struct sk_error *err) {
    struct brt_change c = {.table = o->table};
    uint64_t result[2];
    enum brt_code code = BRT_OK;
    c.values = brt_take(&o->b->scratch, (key->n_fields + 1) * sizeof *c.values);
    if (!c.values)
        return hashes_no_memory(err);
    for (size_t i = 0; code == BRT_OK && i < key->n_fields; i++) {
        const struct brt_field *f =
            brt_find(o->table->keys, o->table->n_keys, key->fields[i]->field_id);
        code = f ? hashes_key_value(o->b, key->fields[i], f, &c, err)
                 : brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no key field with id %u",
                            key->fields[i]->field_id);
    }
    if (code)
        return code;
    if (sk_control_hash_compute(o->b->now.sw, hashes_desc(o->table)->name, c.values, c.n_values,
                                pipe, result, err))
        return BRT_INVALID_ARG;
    // as the chip's driver: what the program does not read is not computed
    const sk_u128 used = sk_mask128(hashes_desc(o->table)->used);
    result[0] &= (uint64_t)used;
    result[1] &= (uint64_t)(used >> 64);
    BfrtProto__DataField *out = hashes_next(o, &o->table->data[0]);
    if (!out)
        return hashes_no_memory(err);
    out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_STREAM;
    o->good = brt_stream(&o->b->scratch, result, o->table->data[0].width, &out->stream);
    return BRT_OK;
}

enum brt_code brt_hash_message(struct brt *b, const struct brt_change *question,
                               const BfrtProto__TableEntry *asked, BfrtProto__TableEntry *out,
                               struct sk_error *err) {
    const struct brt_table *t = question->table;
    const bool computes = t->kind == BRT_HASH_COMPUTE,
               has_key =
                   asked->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_KEY && asked->key->n_fields;
    size_t most = t->n_data + 1;
    for (size_t i = 0; i < t->n_actions; i++)
        most += t->actions[i].n;
    struct hashes_out o = {.b = b,
                           .table = t,
                           .changed = *hashes_in(b, t, question->pipes.list[0]),
                           .wanted = asked->data,
                           .good = true};
    if (computes != has_key)
        return brt_fail(err, BRT_NOT_SUPPORTED,
                        computes ? "table '%s' is read with a key"
                                 : "table '%s' has a default entry only",
                        t->name);
    o.data = brt_take(&b->scratch, sizeof *o.data);
    if (!o.data)
        return hashes_no_memory(err);
    bfrt_proto__table_data__init(o.data);
    o.data->fields = brt_take(&b->scratch, most * sizeof *o.data->fields);
    if (!o.data->fields)
        return hashes_no_memory(err);
    out->table_id = t->id;
    out->data = o.data;
    out->is_default_entry = !computes;
    if (computes) {
        const enum brt_code code = hashes_compute(&o, asked->key, question->pipes.list[0], err);
        if (code)
            return code;
        out->value_case = BFRT_PROTO__TABLE_ENTRY__VALUE_KEY;
        out->key = asked->key;
    } else if (t->kind == BRT_HASH_ALGORITHM)
        hashes_put_algorithm(&o);
    else
        for (size_t i = 0; o.good && i < t->n_data; i++)
            if (brt_is_wanted(asked->data, t->data[i].id))
                hashes_put_field(&o, &t->data[i]);
    return o.good ? BRT_OK : hashes_no_memory(err);
}

// ---- taking back ----

struct brt_hash_saved {
    bool changed;
    struct sk_hash_algorithm algorithm;
    struct sk_hash_slice *slices;
    uint32_t n_slices;
};

struct brt_hash_saved *brt_hash_save(struct brt *b, const struct brt_table *t, unsigned pipe) {
    const struct sk_dynhash *h = *hashes_in(b, t, pipe);
    struct brt_hash_saved *s = brt_take(&b->request, sizeof *s);
    if (!s || !h)
        return s;
    s->changed = true;
    s->algorithm = h->algorithm;
    s->n_slices = h->n_slices;
    s->slices = brt_take(&b->request, (h->n_slices + 1) * sizeof *s->slices);
    if (!s->slices)
        return NULL;
    if (h->n_slices)
        memcpy(s->slices, h->slices, h->n_slices * sizeof *s->slices);
    return s;
}

void brt_hash_put_back(struct brt *b, const struct brt_table *t, unsigned pipe,
                       const struct brt_hash_saved *saved) {
    struct sk_dynhash **place = hashes_in(b, t, pipe);
    struct sk_dynhash *h = saved->changed ? sk_dynhash_new(hashes_desc(t), &saved->algorithm,
                                                           saved->slices, saved->n_slices)
                                          : NULL;
    if (saved->changed && !h)
        abort(); // out of memory
    sk_dynhash_free(*place);
    *place = h;
}

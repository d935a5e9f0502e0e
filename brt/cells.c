// SPDX-License-Identifier: Apache-2.0
//
// Cells of indirect counters, meters, filters and registers by their index, and the parameters of
// register actions, which have one cell and no key.
#include <string.h>

#include "brt/brt_impl.h"

bool brt_has_cells(const struct brt_table *t) {
    return t->kind == BRT_COUNTER || t->kind == BRT_METER || t->kind == BRT_REGISTER ||
           t->kind == BRT_PARAM;
}

static const struct sk_register_desc *cells_register(const struct brt_table *t) {
    return &t->object.desc->registers[t->object.index];
}

static uint32_t cells_words(const struct brt_table *t) {
    const struct sk_register_desc *d = cells_register(t);
    return d->wide ? 2 : d->words;
}

static struct sk_holder cells_holder(const struct brt_table *t) {
    const struct sk_meter_desc *d = &t->object.desc->meters[t->object.index];
    return (struct sk_holder){.what = t->name, .meter_kind = d->kind, .meter_bytes = d->bytes};
}

static struct sk_counter_cell *cells_counter(struct brt *b, const struct brt_table *t,
                                             unsigned pipe) {
    return t->object.desc->counter(sk_switch_pipe(b->now.sw, pipe), t->object.index);
}

static struct sk_meter_cell *cells_meter(struct brt *b, const struct brt_table *t, unsigned pipe) {
    return t->object.desc->meter(sk_switch_pipe(b->now.sw, pipe), t->object.index);
}

// ---- updates out of messages ----

enum brt_code brt_cell_check(const struct brt_table *t, uint64_t index, struct sk_error *err) {
    if (index < t->size)
        return BRT_OK;
    return brt_fail(err, BRT_INVALID_ARG, "table '%s' has %llu cells; there is no index %llu",
                    t->name, (unsigned long long)t->size, (unsigned long long)index);
}

enum brt_code brt_index_key(const BfrtProto__TableKey *key, struct brt_change *c,
                            struct sk_error *err) {
    const struct brt_table *t = c->table;
    if (t->n_keys == 0)
        return brt_fail(err, BRT_INVALID_ARG, "table '%s' has no key", t->name);
    if (key->n_fields != 1)
        return brt_fail(err, BRT_INVALID_ARG, "the key of table '%s' is its field '%s'", t->name,
                        t->keys[0].name);
    const BfrtProto__KeyField *k = key->fields[0];
    if (k->field_id != t->keys[0].id)
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no key field with id %u", k->field_id);
    if (k->match_type_case != BFRT_PROTO__KEY_FIELD__MATCH_TYPE_EXACT)
        return brt_fail(err, BRT_INVALID_ARG, "key field '%s' is exact", t->keys[0].name);
    c->has_key = true;
    return brt_words(&k->exact->value, &t->keys[0], &c->index, err);
}

enum brt_code brt_cell_key(const BfrtProto__TableKey *key, struct brt_change *c,
                           struct sk_error *err) {
    const enum brt_code code = brt_index_key(key, c, err);
    return code ? code : brt_cell_check(c->table, c->index, err);
}

static enum brt_code cells_counts(const BfrtProto__DataField *d, const struct brt_field *f,
                                  struct brt_change *c, struct sk_error *err) {
    const bool packets = strcmp(f->name, "$COUNTER_SPEC_PKTS") == 0;
    return brt_number(d, f, packets ? &c->counts.packets : &c->counts.bytes, err);
}

static enum brt_code cells_spec(const BfrtProto__DataField *d, const struct brt_field *f,
                                struct brt_change *c, struct sk_error *err) {
    const struct sk_holder holder = cells_holder(c->table);
    char text[64];
    const enum brt_code code = brt_text(d, f, text, sizeof text, err);
    if (code)
        return code;
    return sk_attached_parse(&holder, f->name, text, &c->attached, err) ? BRT_INVALID_ARG : BRT_OK;
}

static enum brt_code cells_datum(const BfrtProto__DataField *d, struct brt_change *c, bool *given,
                                 struct sk_error *err) {
    const struct brt_field *f = brt_find(c->table->data, c->table->n_data, d->field_id);
    if (!f)
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no data field with id %u",
                        d->field_id);
    if (given[f - c->table->data])
        return brt_fail(err, BRT_INVALID_ARG, "field '%s' is given twice", f->name);
    given[f - c->table->data] = true;
    if (c->table->kind == BRT_COUNTER)
        return cells_counts(d, f, c, err);
    if (c->table->kind == BRT_METER)
        return cells_spec(d, f, c, err);
    if (d->value_case != BFRT_PROTO__DATA_FIELD__VALUE_STREAM)
        return brt_fail(err, BRT_INVALID_ARG, "field '%s' takes bytes", f->name);
    return brt_words(&d->stream, f, c->data + f->index, err);
}

// Counts that are left out are zero, as the description says; a meter keeps what it has.
static enum brt_code cells_data(struct brt *b, const BfrtProto__TableData *data,
                                struct brt_change *c, struct sk_error *err) {
    const struct brt_table *t = c->table;
    enum brt_code code = BRT_OK;
    c->data = brt_take(&b->scratch, (2 * t->n_data + 2) * sizeof *c->data);
    bool *given = brt_take(&b->scratch, t->n_data + 1);
    if (!c->data || !given)
        return brt_fail(err, BRT_NO_SYS_RESOURCES, "the entry needs too much memory");
    if (!data || !data->n_fields)
        return brt_fail(err, BRT_INVALID_ARG, "table '%s': the data are missing", t->name);
    for (size_t i = 0; code == BRT_OK && i < data->n_fields; i++)
        code = cells_datum(data->fields[i], c, given, err);
    for (size_t i = 0; code == BRT_OK && i < t->n_data; i++)
        if (!given[i] && t->data[i].meaning == BRT_CELL)
            code = brt_fail(err, BRT_INVALID_ARG, "field '%s' is missing", t->data[i].name);
    return code;
}

static enum brt_code cells_check_type(const struct brt_change *c, bool has_key,
                                      struct sk_error *err) {
    const bool sets = c->type == BFRT_PROTO__UPDATE__TYPE__MODIFY ||
                      (c->type == BFRT_PROTO__UPDATE__TYPE__INSERT && !c->is_default),
               resets = c->type == BFRT_PROTO__UPDATE__TYPE__DELETE && !has_key,
               param = c->table->kind == BRT_PARAM;
    if (c->type == BFRT_PROTO__UPDATE__TYPE__UNSPECIFIED)
        return brt_fail(err, BRT_INVALID_ARG, "the update has no type");
    if (param && !c->is_default)
        return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s' has a default entry only",
                        c->table->name);
    if (!param && c->is_default)
        return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s' has no default entry", c->table->name);
    if (!sets && !resets)
        return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s': its cells can be set, or all reset",
                        c->table->name);
    if (sets && !param && !has_key)
        return brt_fail(err, BRT_INVALID_ARG, "the key is missing");
    return BRT_OK;
}

enum brt_code brt_cell_change(struct brt *b, const BfrtProto__TableEntry *e, struct brt_change *c,
                              struct sk_error *err) {
    const bool has_key = e->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_KEY && !c->is_default;
    enum brt_code code = cells_check_type(c, has_key, err);
    if (code == BRT_OK && has_key)
        code = brt_cell_key(e->key, c, err);
    if (code == BRT_OK && c->type != BFRT_PROTO__UPDATE__TYPE__DELETE)
        code = cells_data(b, e->data, c, err);
    return code;
}

// ---- in a pause ----

static enum brt_code cells_check_meter(struct brt *b, const struct brt_change *c,
                                       struct sk_error *err) {
    const struct sk_holder holder = cells_holder(c->table);
    for (unsigned i = 0; i < c->pipes.n; i++)
        if (sk_attached_check(&holder, &c->attached,
                              &cells_meter(b, c->table, c->pipes.list[i])[c->index], err)) {
            sk_error_prefix(err, "table '%s'", c->table->name);
            return BRT_INVALID_ARG;
        }
    return BRT_OK;
}

static void cells_set_register(struct sk_pipe *pipe, const struct brt_table *t, uint64_t index,
                               const uint64_t *words) {
    for (uint32_t w = 0; w < cells_words(t); w++)
        t->object.desc->register_write(pipe, t->object.index, index, w, words[w]);
}

static void cells_set(struct brt *b, const struct brt_change *c, unsigned i) {
    const struct brt_table *t = c->table;
    const unsigned pipe = c->pipes.list[i];
    if (t->kind == BRT_COUNTER) // what is read is the sum
        cells_counter(b, t, pipe)[c->index] = i == 0 ? c->counts : (struct sk_counter_cell){0};
    else if (t->kind == BRT_METER) {
        const struct sk_holder holder = cells_holder(t);
        sk_attached_meter(&holder, &c->attached, &cells_meter(b, t, pipe)[c->index]);
    } else
        cells_set_register(sk_switch_pipe(b->now.sw, pipe), t, c->index, c->data);
    if (brt_has_copy(t))
        brt_copy_cell(b, t, pipe, c->index);
}

// As at the start of the program.
static void cells_reset(struct brt *b, const struct brt_table *t, unsigned pipe, uint64_t index) {
    if (t->kind == BRT_COUNTER)
        cells_counter(b, t, pipe)[index] = (struct sk_counter_cell){0};
    else if (t->kind == BRT_METER)
        sk_meter_reset(&cells_meter(b, t, pipe)[index]);
    else
        cells_set_register(sk_switch_pipe(b->now.sw, pipe), t, index, cells_register(t)->initial);
    if (brt_has_copy(t))
        brt_copy_cell(b, t, pipe, index);
}

enum brt_code brt_cell_copies(struct brt *b, const struct brt_change *c, struct sk_error *err) {
    for (unsigned i = 0; brt_has_copy(c->table) && i < c->pipes.n; i++)
        if (!brt_copy_make(b, c->table, c->pipes.list[i]))
            return brt_fail(err, BRT_NO_SYS_RESOURCES, "table '%s': a copy needs too much memory",
                            c->table->name);
    return BRT_OK;
}

enum brt_code brt_cell_apply(struct brt *b, const struct brt_change *c, struct sk_error *err) {
    const bool resets = c->type == BFRT_PROTO__UPDATE__TYPE__DELETE;
    if (!resets && c->table->kind == BRT_METER) {
        const enum brt_code code = cells_check_meter(b, c, err);
        if (code)
            return code;
    }
    const enum brt_code code = resets ? BRT_OK : brt_cell_copies(b, c, err);
    if (code)
        return code;
    for (unsigned i = 0; i < c->pipes.n; i++) {
        if (!resets)
            cells_set(b, c, i);
        for (uint64_t index = 0; resets && index < c->table->size; index++) {
            if (index % SK_SLICE == SK_SLICE - 1)
                sk_pauses_breathe(&b->pauses);
            cells_reset(b, c->table, c->pipes.list[i], index);
        }
    }
    return BRT_OK;
}

// ---- copies ----

size_t brt_cell_bytes(const struct brt_table *t) {
    return t->kind == BRT_COUNTER ? sizeof(struct sk_counter_cell)
           : t->kind == BRT_METER ? sizeof(struct sk_meter_cell)
                                  : 2 * sizeof(uint64_t);
}

void brt_cells_copy(struct brt *b, const struct brt_table *t, unsigned pipe, uint64_t from,
                    uint64_t to, void *cells) {
    const size_t bytes = (size_t)(to - from) * brt_cell_bytes(t);
    uint64_t *words = cells;
    if (t->kind == BRT_COUNTER)
        memcpy(cells, cells_counter(b, t, pipe) + from, bytes);
    else if (t->kind == BRT_METER)
        memcpy(cells, cells_meter(b, t, pipe) + from, bytes);
    else
        for (uint64_t i = from; i < to; i++)
            for (uint32_t w = 0; w < cells_words(t); w++)
                words[2 * (i - from) + w] = t->object.desc->register_read(
                    sk_switch_pipe(b->now.sw, pipe), t->object.index, i, w);
}

void brt_cells_put(struct brt *b, const struct brt_table *t, unsigned pipe, uint64_t from,
                   uint64_t to, const void *cells) {
    const size_t bytes = (size_t)(to - from) * brt_cell_bytes(t);
    const uint64_t *words = cells;
    if (t->kind == BRT_COUNTER)
        memcpy(cells_counter(b, t, pipe) + from, cells, bytes);
    else if (t->kind == BRT_METER)
        memcpy(cells_meter(b, t, pipe) + from, cells, bytes);
    else
        for (uint64_t i = from; i < to; i++)
            cells_set_register(sk_switch_pipe(b->now.sw, pipe), t, i, words + 2 * (i - from));
}

// ---- messages out of cells ----

struct cells_out {
    struct brt *b;
    const struct brt_change *question;
    BfrtProto__TableData *data;
    BfrtProto__DataField *fields; // room for all
    bool good;                    // memory was enough
};

static BfrtProto__DataField *cells_next(struct cells_out *o, const struct brt_field *f) {
    BfrtProto__DataField *out = &o->fields[o->data->n_fields];
    bfrt_proto__data_field__init(out);
    out->field_id = f->id;
    o->data->fields[o->data->n_fields++] = out;
    return out;
}

static void cells_put(struct cells_out *o, const struct brt_field *f, const uint64_t *words) {
    BfrtProto__DataField *out = cells_next(o, f);
    out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_STREAM;
    o->good = o->good && brt_stream(&o->b->scratch, words, f->width, &out->stream);
}

static void cells_read_counter(struct cells_out *o, const struct brt_field *f) {
    const bool packets = strcmp(f->name, "$COUNTER_SPEC_PKTS") == 0;
    const uint64_t index = o->question->index;
    uint64_t sum = 0, cell[2];
    for (unsigned i = 0; i < o->question->pipes.n; i++) {
        brt_copy_get(o->b, o->question->table, o->question->pipes.list[i], index, index + 1, cell);
        sum += cell[packets ? 0 : 1];
    }
    cells_put(o, f, &sum);
}

// What a filter that is not configured reads as, on the chip; null: not one of its fields.
const char *brt_unconfigured(const struct brt_field *f) {
    static const struct {
        const char *name, *text;
    } all[] = {{"$LPF_SPEC_TYPE", "SAMPLE"},
               {"$LPF_SPEC_GAIN_TIME_CONSTANT_NS", "0"},
               {"$LPF_SPEC_DECAY_TIME_CONSTANT_NS", "0"},
               {"$LPF_SPEC_OUT_SCALE_DOWN_FACTOR", "0"},
               {"$WRED_SPEC_TIME_CONSTANT_NS", "0"},
               {"$WRED_SPEC_MIN_THRESH_CELLS", "4278190080"},
               {"$WRED_SPEC_MAX_THRESH_CELLS", "4278190080"},
               {"$WRED_SPEC_MAX_PROBABILITY", "0"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(f->name, all[i].name) == 0)
            return all[i].text;
    return NULL;
}

static void cells_read_meter(struct cells_out *o, const struct brt_field *f) {
    const struct brt_table *t = o->question->table;
    const struct sk_holder holder = cells_holder(t);
    struct sk_data data;
    sk_attached_read(&holder, NULL,
                     &cells_meter(o->b, t, o->question->pipes.list[0])[o->question->index], 0,
                     &data);
    const char *text = sk_data_find(&data, f->name);
    text = text ? text : brt_unconfigured(f);
    if (text)
        o->good = brt_field_of_text(&o->b->scratch, f, text, cells_next(o, f)) && o->good;
    else if (f->has_default)
        cells_put(o, f, &f->dflt);
}

// The value of each pipe, one after the other.
static void cells_read_register(struct cells_out *o, const struct brt_field *f) {
    const struct brt_table *t = o->question->table;
    const uint64_t index = o->question->index;
    // a parameter is one value, that of the first pipe, and is only changed by controllers
    const unsigned n = t->kind == BRT_PARAM ? 1 : o->question->pipes.n;
    for (unsigned i = 0; i < n; i++) {
        const unsigned pipe = o->question->pipes.list[i];
        uint64_t cell[2] = {0}, words[2] = {0};
        if (brt_has_copy(t))
            brt_copy_get(o->b, t, pipe, index, index + 1, cell);
        else
            brt_cells_copy(o->b, t, pipe, index, index + 1, cell);
        memcpy(words, cell + f->index, sk_words(f->width) * sizeof *words);
        if (f->width % 64)
            words[f->width / 64] &= (UINT64_C(1) << f->width % 64) - 1;
        cells_put(o, f, words);
    }
}

bool brt_index_key_message(struct brt_memory *m, const struct brt_table *t, uint64_t index,
                           BfrtProto__TableEntry *out) {
    struct {
        BfrtProto__TableKey key;
        BfrtProto__KeyField field, *list[1];
        BfrtProto__KeyField__Exact exact;
    } *part = brt_take(m, sizeof *part);
    if (!part)
        return false;
    bfrt_proto__table_key__init(&part->key);
    bfrt_proto__key_field__init(&part->field);
    bfrt_proto__key_field__exact__init(&part->exact);
    part->field.field_id = t->keys[0].id;
    part->field.match_type_case = BFRT_PROTO__KEY_FIELD__MATCH_TYPE_EXACT;
    part->field.exact = &part->exact;
    part->list[0] = &part->field;
    part->key.fields = part->list;
    part->key.n_fields = 1;
    out->value_case = BFRT_PROTO__TABLE_ENTRY__VALUE_KEY;
    out->key = &part->key;
    return brt_stream(m, &index, t->keys[0].width, &part->exact.value);
}

bool brt_cell_message(struct brt *b, const struct brt_change *question,
                      const BfrtProto__TableData *wanted, BfrtProto__TableEntry *out) {
    const struct brt_table *t = question->table;
    const size_t most = t->n_data * SK_PIPES + 1;
    struct cells_out o = {.b = b, .question = question};
    o.data = brt_take(&b->scratch, sizeof *o.data);
    o.fields = brt_take(&b->scratch, most * sizeof *o.fields);
    BfrtProto__DataField **list = brt_take(&b->scratch, most * sizeof *list);
    if (!o.data || !o.fields || !list)
        return false;
    bfrt_proto__table_data__init(o.data);
    o.data->fields = list;
    o.good = true;
    for (size_t i = 0; i < t->n_data; i++) {
        if (!brt_is_wanted(wanted, t->data[i].id))
            continue;
        if (t->kind == BRT_COUNTER)
            cells_read_counter(&o, &t->data[i]);
        else if (t->kind == BRT_METER)
            cells_read_meter(&o, &t->data[i]);
        else
            cells_read_register(&o, &t->data[i]);
    }
    out->table_id = t->id;
    out->data = o.data;
    out->is_default_entry = t->n_keys == 0;
    return o.good &&
           (t->n_keys == 0 || brt_index_key_message(&b->scratch, t, question->index, out));
}

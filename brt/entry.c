// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "brt/brt_impl.h"

struct sk_table *brt_table_in(const struct brt *b, const struct brt_table *t, unsigned pipe) {
    struct sk_pipe *state = sk_switch_pipe(b->now.sw, pipe);
    return t->kind == BRT_VALUE_SET ? t->object.desc->value_set(state, t->object.index)
                                    : t->object.desc->table(state, t->object.index);
}

static const struct sk_field_desc *brt_entry_keys(const struct brt_table *t, uint32_t *n) {
    if (t->kind == BRT_VALUE_SET) {
        const struct sk_value_set_desc *d = &t->object.desc->value_sets[t->object.index];
        *n = d->n_keys;
        return d->keys;
    }
    *n = t->desc->n_keys;
    return t->desc->keys;
}

uint32_t brt_key_words(const struct brt_table *t) {
    uint32_t n, words = 0;
    const struct sk_field_desc *descs = brt_entry_keys(t, &n);
    for (uint32_t i = 0; i < n; i++)
        words += sk_words(descs[i].width);
    return words;
}

static enum brt_code entry_no_memory(struct sk_error *err) {
    return brt_fail(err, BRT_NO_SYS_RESOURCES, "the entry needs too much memory");
}

// ---- keys ----

static void entry_ones(uint64_t *words, uint32_t width, uint32_t prefix) {
    for (uint32_t bit = width - prefix; bit < width; bit++)
        words[bit / 64] |= UINT64_C(1) << (bit % 64);
}

// What a key field that is not given matches: everything, unless it is exact.
static bool entry_any(const struct sk_field_desc *d, uint64_t *value, uint64_t *mask) {
    (void)value;
    if (d->match == SK_RANGE)
        entry_ones(mask, d->width, d->width);
    return d->match != SK_EXACT;
}

static enum brt_code entry_wrong_match(const struct brt_field *f, const struct sk_field_desc *d,
                                       struct sk_error *err) {
    static const char *const kinds[] = {"exact", "ternary", "lpm", "range"};
    return brt_fail(err, BRT_INVALID_ARG, "key field '%s' is %s", f->name, kinds[d->match]);
}

static enum brt_code entry_lpm(const BfrtProto__KeyField__LPM *k, const struct brt_field *f,
                               uint64_t *value, uint64_t *mask, struct sk_error *err) {
    if (k->prefix_len < 0 || (uint32_t)k->prefix_len > f->width)
        return brt_fail(err, BRT_INVALID_ARG, "the prefix length of key field '%s' is 0 to %u",
                        f->name, f->width);
    entry_ones(mask, f->width, (uint32_t)k->prefix_len);
    return brt_words(&k->value, f, value, err);
}

static enum brt_code entry_key_field(const BfrtProto__KeyField *k, const struct brt_field *f,
                                     const struct sk_field_desc *d, uint64_t *value, uint64_t *mask,
                                     struct sk_error *err) {
    enum brt_code code;
    if (k->match_type_case == BFRT_PROTO__KEY_FIELD__MATCH_TYPE_EXACT && d->match == SK_EXACT) {
        entry_ones(mask, d->width, d->width);
        return brt_words(&k->exact->value, f, value, err);
    }
    if (k->match_type_case == BFRT_PROTO__KEY_FIELD__MATCH_TYPE_RANGE && d->match == SK_RANGE) {
        code = brt_words(&k->range->low, f, value, err);
        return code ? code : brt_words(&k->range->high, f, mask, err);
    }
    if (k->match_type_case == BFRT_PROTO__KEY_FIELD__MATCH_TYPE_TERNARY && d->match == SK_TERNARY) {
        code = brt_words(&k->ternary->value, f, value, err);
        code = code ? code : brt_words(&k->ternary->mask, f, mask, err);
    } else if (k->match_type_case == BFRT_PROTO__KEY_FIELD__MATCH_TYPE_LPM && d->match == SK_LPM)
        code = entry_lpm(k->lpm, f, value, mask, err);
    else
        return entry_wrong_match(f, d, err);
    for (uint32_t i = 0; i < sk_words(d->width); i++)
        value[i] &= mask[i]; // bits outside of the mask do not matter
    return code;
}

static enum brt_code brt_entry_priority(const BfrtProto__KeyField *k, const struct brt_field *f,
                                        struct brt_change *c, struct sk_error *err) {
    uint64_t priority;
    if (k->match_type_case != BFRT_PROTO__KEY_FIELD__MATCH_TYPE_EXACT)
        return brt_fail(err, BRT_INVALID_ARG, "key field '%s' is exact", f->name);
    const enum brt_code code = brt_words(&k->exact->value, f, &priority, err);
    c->priority = (int64_t)priority;
    return code;
}

static enum brt_code entry_one_key(const BfrtProto__KeyField *k, struct brt_change *c, bool *given,
                                   struct sk_error *err) {
    uint32_t n;
    const struct sk_field_desc *descs = brt_entry_keys(c->table, &n);
    const struct brt_field *f = brt_find(c->table->keys, c->table->n_keys, k->field_id);
    if (!f)
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no key field with id %u", k->field_id);
    if (given[f - c->table->keys])
        return brt_fail(err, BRT_INVALID_ARG, "key field '%s' is given twice", f->name);
    given[f - c->table->keys] = true;
    if (f->meaning == BRT_PRIORITY)
        return brt_entry_priority(k, f, c, err);
    return entry_key_field(k, f, &descs[f->index], c->value + f->word, c->mask + f->word, err);
}

enum brt_code brt_entry_key(struct brt *b, const BfrtProto__TableKey *key, struct brt_change *c,
                            struct sk_error *err) {
    uint32_t n;
    const struct sk_field_desc *descs = brt_entry_keys(c->table, &n);
    const uint32_t words = brt_key_words(c->table);
    c->value = brt_take(&b->scratch, (words + 1) * sizeof *c->value);
    c->mask = brt_take(&b->scratch, (words + 1) * sizeof *c->mask);
    bool *given = brt_take(&b->scratch, c->table->n_keys + 1);
    if (!c->value || !c->mask || !given)
        return entry_no_memory(err);
    enum brt_code code = BRT_OK;
    for (size_t i = 0; code == BRT_OK && i < key->n_fields; i++)
        code = entry_one_key(key->fields[i], c, given, err);
    for (size_t i = 0; code == BRT_OK && i < c->table->n_keys; i++) {
        const struct brt_field *f = &c->table->keys[i];
        if (!given[i] && f->meaning == BRT_KEY &&
            !entry_any(&descs[f->index], c->value + f->word, c->mask + f->word))
            code = brt_fail(err, BRT_INVALID_ARG, "key field '%s' is missing", f->name);
    }
    c->has_key = true;
    return code;
}

// ---- data ----

static enum brt_code entry_argument(const BfrtProto__DataField *d, const struct brt_field *f,
                                    struct brt_change *c, struct sk_error *err) {
    if (d->value_case != BFRT_PROTO__DATA_FIELD__VALUE_STREAM)
        return brt_fail(err, BRT_INVALID_ARG, "field '%s' takes bytes", f->name);
    return brt_words(&d->stream, f, c->data + f->word, err);
}

// The entry names a member or a group, in place of an action.
static enum brt_code entry_reference(const BfrtProto__DataField *d, const struct brt_field *f,
                                     struct brt_change *c, struct sk_error *err) {
    const uint8_t refers = f->meaning == BRT_MEMBER ? SK_REFERS_MEMBER : SK_REFERS_GROUP;
    if (c->has_action)
        return brt_fail(err, BRT_INVALID_ARG, "an entry has a member or a group");
    for (uint32_t i = 0; i < c->table->desc->n_actions; i++)
        if (c->table->desc->actions[i]->refers == refers) {
            c->action = i;
            c->has_action = true;
            return brt_number(d, f, c->data, err);
        }
    return brt_fail(err, BRT_NOT_SUPPORTED, "field '%s' cannot be set here", f->name);
}

static enum brt_code entry_attached(const BfrtProto__DataField *d, const struct brt_field *f,
                                    struct brt_change *c, struct sk_error *err) {
    const struct sk_holder holder = sk_holder_of_table(c->table->desc);
    char text[64];
    const enum brt_code code = brt_text(d, f, text, sizeof text, err);
    if (code)
        return code;
    return sk_attached_parse(&holder, f->name, text, &c->attached, err) ? BRT_INVALID_ARG : BRT_OK;
}

static enum brt_code entry_cell(const BfrtProto__DataField *d, const struct brt_field *f,
                                struct brt_change *c, struct sk_error *err) {
    if (f->width > 64)
        return brt_fail(err, BRT_NOT_IMPLEMENTED, "field '%s': registers of 128 bits in entries",
                        f->name);
    const enum brt_code code = brt_number(d, f, &c->direct[f->index], err);
    c->has_direct[f->index] = code == BRT_OK;
    return code;
}

static enum brt_code entry_one_datum(const BfrtProto__DataField *d, const struct brt_action *a,
                                     struct brt_change *c, bool *given, struct sk_error *err) {
    const struct brt_field *f = a ? brt_find(a->fields, a->n, d->field_id) : NULL;
    if (f) {
        given[f->index] = true;
        return entry_argument(d, f, c, err);
    }
    f = brt_find(c->table->data, c->table->n_data, d->field_id);
    if (!f)
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no data field with id %u",
                        d->field_id);
    switch (f->meaning) {
    case BRT_MEMBER:
    case BRT_GROUP:
        return entry_reference(d, f, c, err);
    case BRT_ATTACHED:
        return entry_attached(d, f, c, err);
    case BRT_CELL:
        return entry_cell(d, f, c, err);
    default:
        return brt_fail(err, BRT_NOT_SUPPORTED, "field '%s' cannot be set", f->name);
    }
}

static enum brt_code brt_entry_action(uint32_t id, struct brt_change *c,
                                      const struct brt_action **a, struct sk_error *err) {
    *a = id ? brt_table_action(c->table, id) : NULL;
    if (id && !*a)
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no action with id %u", id);
    if (*a) {
        c->action = (*a)->index;
        c->has_action = true;
    }
    return BRT_OK;
}

// A change of counts or meters may name the action that the entry has, without its arguments.
static bool entry_keeps_arguments(const struct brt_change *c, const struct brt_action *a,
                                  const BfrtProto__TableData *data, const bool *given) {
    if (c->type != BFRT_PROTO__UPDATE__TYPE__MODIFY || !a || a->n == 0 || data->n_fields == 0)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (given[i])
            return false;
    return true;
}

enum brt_code brt_entry_data(struct brt *b, const BfrtProto__TableData *data, struct brt_change *c,
                             struct sk_error *err) {
    const struct brt_action *a = NULL;
    const uint32_t cells = c->table->desc ? c->table->desc->direct_words : 0;
    enum brt_code code = brt_entry_action(data->action_id, c, &a, err);
    if (code)
        return code;
    const size_t words = a ? c->table->desc->actions[a->index]->data_words : 1;
    c->data = brt_take(&b->scratch, (words + 1) * sizeof *c->data);
    c->direct = brt_take(&b->scratch, (cells + 1) * sizeof *c->direct);
    c->has_direct = brt_take(&b->scratch, cells + 1);
    bool *given = brt_take(&b->scratch, (a ? a->n : 0) + 1);
    if (!c->data || !c->direct || !c->has_direct || !given)
        return entry_no_memory(err);
    for (size_t i = 0; code == BRT_OK && i < data->n_fields; i++)
        code = entry_one_datum(data->fields[i], a, c, given, err);
    if (code == BRT_OK && entry_keeps_arguments(c, a, data, given)) {
        c->has_action = false;
        c->same_action = true;
        return BRT_OK;
    }
    // arguments of a new entry, or of the default one, are 0 unless it gives them, as on the chip
    const bool modifies = c->type == BFRT_PROTO__UPDATE__TYPE__MODIFY && !c->is_default;
    for (size_t i = 0; code == BRT_OK && modifies && a && i < a->n; i++)
        if (!given[i])
            code = brt_fail(err, BRT_INVALID_ARG, "argument '%s' of action '%s' is missing",
                            a->fields[i].name, a->name);
    return code;
}

// ---- the other way ----

// A key field as a message, with its part in one piece of memory.
struct entry_key_part {
    BfrtProto__KeyField field;
    union {
        BfrtProto__KeyField__Exact exact;
        BfrtProto__KeyField__Ternary ternary;
        BfrtProto__KeyField__LPM lpm;
        BfrtProto__KeyField__Range range;
    } part;
};

static uint32_t entry_prefix(const uint64_t *mask, uint32_t width) {
    uint32_t n = 0;
    while (n < width && mask[(width - 1 - n) / 64] >> ((width - 1 - n) % 64) & 1)
        n++;
    return n;
}

static bool entry_exact(struct brt_memory *m, const struct brt_field *f, const uint64_t *words,
                        struct entry_key_part *out) {
    bfrt_proto__key_field__exact__init(&out->part.exact);
    out->field.match_type_case = BFRT_PROTO__KEY_FIELD__MATCH_TYPE_EXACT;
    out->field.exact = &out->part.exact;
    return brt_stream(m, words, f->width, &out->part.exact.value);
}

static bool entry_key_part(struct brt_memory *m, const struct brt_field *f, enum sk_match match,
                           const uint64_t *value, const uint64_t *mask,
                           struct entry_key_part *out) {
    switch (match) {
    case SK_TERNARY:
        bfrt_proto__key_field__ternary__init(&out->part.ternary);
        out->field.match_type_case = BFRT_PROTO__KEY_FIELD__MATCH_TYPE_TERNARY;
        out->field.ternary = &out->part.ternary;
        return brt_stream(m, value, f->width, &out->part.ternary.value) &&
               brt_stream(m, mask, f->width, &out->part.ternary.mask);
    case SK_LPM:
        bfrt_proto__key_field__lpm__init(&out->part.lpm);
        out->field.match_type_case = BFRT_PROTO__KEY_FIELD__MATCH_TYPE_LPM;
        out->field.lpm = &out->part.lpm;
        out->part.lpm.prefix_len = (int32_t)entry_prefix(mask, f->width);
        return brt_stream(m, value, f->width, &out->part.lpm.value);
    case SK_RANGE:
        bfrt_proto__key_field__range__init(&out->part.range);
        out->field.match_type_case = BFRT_PROTO__KEY_FIELD__MATCH_TYPE_RANGE;
        out->field.range = &out->part.range;
        return brt_stream(m, value, f->width, &out->part.range.low) &&
               brt_stream(m, mask, f->width, &out->part.range.high);
    case SK_EXACT:
        break;
    }
    return entry_exact(m, f, value, out);
}

bool brt_entry_key_message(struct brt_memory *m, const struct brt_table *t, const uint64_t *value,
                           const uint64_t *mask, int64_t priority, BfrtProto__TableEntry *out) {
    uint32_t n;
    const struct sk_field_desc *descs = brt_entry_keys(t, &n);
    BfrtProto__TableKey *key = brt_take(m, sizeof *key);
    struct entry_key_part *parts = brt_take(m, (t->n_keys + 1) * sizeof *parts);
    BfrtProto__KeyField **list = brt_take(m, (t->n_keys + 1) * sizeof *list);
    if (!key || !parts || !list)
        return false;
    bfrt_proto__table_key__init(key);
    key->fields = list;
    bool good = true;
    for (size_t i = 0; good && i < t->n_keys; i++) {
        const struct brt_field *f = &t->keys[i];
        const uint64_t number = (uint64_t)priority;
        bfrt_proto__key_field__init(&parts[i].field);
        parts[i].field.field_id = f->id;
        list[key->n_fields++] = &parts[i].field;
        good = f->meaning == BRT_PRIORITY
                   ? entry_exact(m, f, &number, &parts[i])
                   : entry_key_part(m, f, descs[f->index].match, value + f->word, mask + f->word,
                                    &parts[i]);
    }
    out->value_case = BFRT_PROTO__TABLE_ENTRY__VALUE_KEY;
    out->key = key;
    return good;
}
